"""A plan: a fitted recoding and the policy it answers for, carried out on tables and proven."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.schema import Schema
from anonymizer.hierarchy import Taxonomy
from anonymizer.privacy.query_loss import loss_of_sizes
from anonymizer.recoding.recoding import Outcome, RecodingPlan
from anonymizer.recoding.result import SearchResult
from anonymizer.release.information import Information, chances
from anonymizer.release.proof import prove
from anonymizer.release.release import Release, release_warnings
from anonymizer.release.warnings.class_warnings import class_warnings


@dataclass(frozen=True, eq=False)
class Plan:
    """All that is needed to release a table, and nothing that could change meanwhile.

    Parameters
    ----------
    fitted
        The recoding that was chosen, with roles, policy and known values.
    seed
        For the shuffled baseline.
    study
        Fingerprint of everything that was requested.
    """

    fitted: RecodingPlan
    seed: int
    study: str

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
    def search(self) -> SearchResult:
        """How the recoding was found."""
        return self.fitted.search

    def people(self, released: pd.DataFrame) -> pd.DataFrame | None:
        """The population recoded as a table was that was released; None where there is none."""
        return self.fitted.people(released)

    def release(self, table: pd.DataFrame) -> tuple[pd.DataFrame, Release]:
        """Recode a table, recount and verify it, and only then hand it out with its proof.

        Raises
        ------
        PolicyBrokenError
            When a class of the recoded table breaks the policy.
        InputError
            When the table lacks what it needs or holds values that are not known.
        """
        admitted = self.schema.admit(table)
        return self.proven(table, admitted, self.fitted.carry_out(admitted))

    def proven(
        self,
        table: pd.DataFrame,
        admitted: pd.DataFrame,
        outcome: Outcome,
        raw: Counts | None = None,
    ) -> tuple[pd.DataFrame, Release]:
        """Recount a recoded table, hold the policy against it, and hand it out with its proof.

        Parameters
        ----------
        table, admitted
            The table that was given, and the records of it that are admitted.
        outcome
            What the recoding made of these.
        raw
            Their counts, where these are known already.

        Raises
        ------
        PolicyBrokenError
            When a class breaks the policy.
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
        covered = (*fitted.published.quasi_identifiers, *fitted.published.sensitive)
        about = fitted.models, self.schema.identifiers, outcome.hidden
        return {
            "records": len(table),
            "dropped": len(table) - len(admitted),
            "suppressed": int(outcome.suppressed.sum()),
            "suppressed_class": outcome.fate,
            "other_columns": tuple(str(c) for c in released.columns if c not in covered),
            "warnings": release_warnings(table, left, released, raw, counts, *about),
            **self._informations(raw, counts, outcome),
        }

    def _informations(self, raw: Counts, released: Counts, outcome: Outcome) -> dict[str, object]:
        """What is kept and lost about the sensitive attributes, and about each target."""
        rng = np.random.default_rng(self.seed)
        recode = self.fitted.recoder(raw, released, outcome, rng)
        chance = chances(raw, recode, rng)

        def about(*attributes: str) -> Information:
            return Information.of(raw, released, self.fitted.models, chance, attributes)

        schema = self.schema
        return {
            "information": about(*schema.sensitive) if schema.sensitive else None,
            "targets": {name: about(name) for name in schema.targets},
        }
