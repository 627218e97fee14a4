"""A plan: a fitted recoding and the policy it answers for, carried out on tables and proven."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.schema import Schema
from anonymizer.feedback.display import in_a_line
from anonymizer.feedback.logs import logged
from anonymizer.hierarchy import Taxonomy
from anonymizer.privacy.query_loss import loss_of_sizes
from anonymizer.recoding.recoding import Outcome, RecodingPlan
from anonymizer.release.information import Information, chances
from anonymizer.release.proof import prove
from anonymizer.release.release import Release, Seeds
from anonymizer.release.warnings.class_warnings import class_warnings
from anonymizer.release.warnings.column_warnings import (
    Hidden,
    column_warnings,
    order_warnings,
    spelling_warnings,
)


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """All that is needed to release a table, and nothing that could change meanwhile.

    ``fitted``: the recoding that was chosen, with roles, policy and known values. ``seed``: for the
    shuffled baseline. ``study``: fingerprint of everything that was requested.
    """

    fitted: RecodingPlan
    seed: int
    study: str

    def __repr__(self) -> str:
        names = ", ".join(self.schema.quasi_identifiers)
        return in_a_line(self, f"recoding of {names}")

    @property
    def forgetting(self) -> "Plan":
        """The plan as it is pickled: without values that only records have, none released."""
        return replace(self, fitted=self.fitted.forgetting)

    @property
    def schema(self) -> Schema:
        """The roles of the columns."""
        return self.fitted.schema

    @property
    def taxonomies(self) -> Mapping[str, Taxonomy]:
        """The values of each quasi-identifier that are known, and how they generalize."""
        return self.fitted.taxonomies

    @property
    def recoding(self) -> Partitions | Regions:
        """The groups of these values."""
        return self.fitted.recoding

    @property
    def random(self) -> bool:
        """Whether released values are drawn at random."""
        return self.fitted.random

    @property
    def seeds(self) -> Seeds:
        """What is reported of the seeds: never that of what was drawn."""
        if self.fitted.private:
            return Seeds(None, "withheld")
        return Seeds(self.seed, "withheld" if self.random else "none")

    def release(self, table: pd.DataFrame) -> tuple[pd.DataFrame, Release]:
        """Recode a table, recount and verify it, and only then hand it out with its proof.

        Raises PolicyBrokenError when a class of the recoded table breaks the policy. Raises
        InputError when the table lacks what it needs or holds values that are not known.
        """
        admitted = self.schema.admit(table)
        return self.proven(table, admitted, self.fitted.carry_out(admitted))

    @logged("verification", lambda done: {"records": len(done[0]), "classes": done[1].classes})
    def proven(
        self,
        table: pd.DataFrame,
        admitted: pd.DataFrame,
        outcome: Outcome,
        raw: Counts | None = None,
    ) -> tuple[pd.DataFrame, Release]:
        """Recount a recoded table, hold the policy against it, and hand it out with its proof.

        ``outcome``: what the recoding made of the ``admitted`` records of a ``table``. ``raw``:
        their counts, where these are known already.

        Raises PolicyBrokenError when a class breaks the policy.
        """
        fitted, released = self.fitted, outcome.released
        people = fitted.people(released)
        counts, verdicts = prove(released, fitted.published, fitted.models, people)
        reported = (
            {"warnings": class_warnings(counts, fitted.models)}
            if fitted.private
            else self._compared(table, admitted, outcome, raw, counts)
        )
        return released, Release(
            released=len(released),
            classes=counts.occupied,
            query_loss=loss_of_sizes(counts.sizes),
            levels=fitted.levels,
            recoding=fitted.describe(outcome.shown),
            regions=fitted.regions,
            privacy=verdicts,
            search=fitted.search,
            seeds=self.seeds,
            study=self.study,
            masking=outcome.randomization,
            **reported,
        )

    def _compared(
        self,
        table: pd.DataFrame,
        admitted: pd.DataFrame,
        outcome: Outcome,
        raw: Counts | None,
        counts: Counts,
    ) -> dict[str, object]:
        """What is reported of a release by comparing it with the table it was made of."""
        fitted, released, left = self.fitted, outcome.released, outcome.left(admitted)
        if raw is None or outcome.fate == "removed":
            raw = fitted.count(left)
        others = [c for c in released.columns if c not in (*counts.names, *counts.sensitive)]
        hidden = [Hidden(name, left[name], released[name], raw) for name in outcome.hidden]
        return {
            "records": len(table),
            "dropped": len(table) - len(admitted),
            "suppressed": int(outcome.suppressed.sum()),
            "suppressed_class": outcome.fate,
            "other_columns": [*map(str, others)],
            "warnings": (
                *class_warnings(counts, fitted.models, len(others)),
                *spelling_warnings(table, counts.sensitive),
                *column_warnings(released, others, hidden),
                *order_warnings(left, [*fitted.schema.identifiers, *outcome.hidden]),
            ),
            **self._informations(raw, counts, outcome),
        }

    def _informations(self, raw: Counts, released: Counts, outcome: Outcome) -> dict[str, object]:
        """What is kept and lost about the sensitive attributes, and about each target."""
        rng = np.random.default_rng(self.seed)
        recode = self.fitted.recoder(raw, released, outcome, rng)
        chance = chances(raw, recode, rng)

        def about(*attributes: str) -> Information:
            return Information.of(raw, released, self.fitted.models, chance, attributes)

        sensitive = self.fitted.schema.sensitive
        return {
            "information": about(*sensitive) if sensitive else None,
            "targets": {name: about(name) for name in self.fitted.schema.targets},
        }
