"""Differentially private releases: a random sample at levels that were chosen without the table.

What is told of such a release is what the released table itself tells: every other figure (how many
records there were, how many were left out, what the raw table says) would have to be paid for in
epsilon too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Recoding
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.privacy import DifferentialPrivacy, KAnonymity, PrivacyModel
from anonymizer.privacy.query_loss import loss_of_sizes
from anonymizer.recoding import Suppression
from anonymizer.recoding.apply import described, levels_of, relabelled
from anonymizer.recoding.result import SearchResult
from anonymizer.release.release import Release, prove
from anonymizer.release.remembered import Seen, forgotten, moved, seen_in
from anonymizer.release.warnings.class_warnings import class_warnings
from anonymizer.tables import pandas as engine
from anonymizer.tables.values import key_text

__all__ = ["SampledPlan", "differential_privacy", "written_alike"]


def differential_privacy(
    models: Sequence[PrivacyModel], schema: Schema, recoding: str, suppression: Suppression
) -> DifferentialPrivacy | None:
    """The model of a policy that is about how the table is made; None where there is none.

    Raises
    ------
    InputError
        When something is asked beside it that its guarantee does not cover.
    """
    found = [model for model in models if isinstance(model, DifferentialPrivacy)]
    if not found:
        return None
    others = [m for m in models if not isinstance(m, DifferentialPrivacy | KAnonymity)]
    for wrong in _objections(others, len(found), schema, recoding):
        raise InputError(f"{DifferentialPrivacy.name}: {wrong}")
    if suppression.share:
        raise InputError(
            f"{DifferentialPrivacy.name}: small classes are left out, however many records that "
            "takes; leave out suppression"
        )
    return found[0]


def written_alike(taxonomies: Mapping[str, Taxonomy]) -> dict[str, Taxonomy]:
    """Taxonomies whose level 0 has one way of writing each value.

    The way of the table, ``39.0`` beside a gap, say, would tell of records that were not drawn.
    """
    return {
        name: replace(taxonomy, levels=(_rewritten(taxonomy), *taxonomy.levels[1:]))
        for name, taxonomy in taxonomies.items()
    }


def _rewritten(taxonomy: Taxonomy) -> Partition:
    raw = taxonomy.levels[0]
    return Partition(raw.groups, tuple(taxonomy.texts[code] for code in raw.first))


def _objections(
    others: Sequence[PrivacyModel], times: int, schema: Schema, recoding: str
) -> Iterator[str]:
    if times > 1:
        yield "state it once"
    if others:
        yield (
            f"its guarantee does not cover what {others[0].name} would leave out; only "
            "k-anonymity can stand beside it"
        )
    if recoding != "fixed":
        yield (
            "levels have to be chosen without looking at the table; state recoding = 'fixed' and "
            "the levels"
        )
    if schema.counted:
        yield (
            f"column {schema.counted[0]!r} would be released as it is; make it a quasi-identifier "
            "(at level 0, say), or an identifier"
        )


@dataclass(frozen=True, eq=False)
class SampledPlan:
    """All that is needed to release a differentially private sample of a table.

    Every release draws anew, from a source of randomness that nobody knows; what several releases
    of one table tell adds up.

    Parameters
    ----------
    schema, models
        The roles of the columns and the policy.
    private
        The model among them that says how to sample.
    taxonomies, recoding
        The values that are known, and their groups.
    objective
        What the levels are said to be for.
    study
        Fingerprint of everything that was asked for.
    seen
        The values that are remembered when the plan is pickled; all when left out.
    """

    schema: Schema
    models: Sequence[PrivacyModel]
    private: DifferentialPrivacy
    taxonomies: Mapping[str, Taxonomy] = field(repr=False)
    recoding: Recoding = field(repr=False)
    objective: str
    study: str
    seen: Seen | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return dict(vars(self.forgetting))

    @property
    def forgetting(self) -> "SampledPlan":
        """The plan without values that only records have which were not released."""
        if self.seen is None:
            return self
        known = forgotten(self.taxonomies, self.seen)
        recoding = moved(self.recoding, self.taxonomies, known)
        return replace(self, taxonomies=known, recoding=recoding, seen=None)

    def fitted(
        self, table: pd.DataFrame, kept: pd.DataFrame
    ) -> "tuple[SampledPlan, pd.DataFrame, Release]":
        """Release the table that the plan was made for, and remember which values it released.

        Parameters and errors are those of ``release``.
        """
        self._require_covered(kept)
        raw, released = self._sampled(kept[list(self.schema.names)])
        plan = replace(self, seen=seen_in(raw, self.taxonomies))
        return plan, released, self._proven(released)

    def release(
        self, table: pd.DataFrame, kept: pd.DataFrame | None = None
    ) -> tuple[pd.DataFrame, Release]:
        """Draw a sample, recode it, leave small classes out, verify the rest and hand it out.

        In random order and without an index: both would tell who was drawn.

        Raises
        ------
        InputError
            When the table has a column that would be released as it is, lacks what it needs or
            holds values that are not known.
        PolicyUnreachableError
            When no class is large enough.
        """
        kept = self.schema.admit(table) if kept is None else kept
        self._require_covered(kept)
        released = self._sampled(kept[list(self.schema.names)])[1]
        return released, self._proven(released)

    def _proven(self, released: pd.DataFrame) -> Release:
        """Recount a drawn table and hold the policy against it."""
        counts, verdicts = prove(released, self.schema, self.models)
        return Release(
            records=None,
            released=len(released),
            dropped=None,
            suppressed=None,
            suppressed_class="removed",
            classes=len(counts),
            query_loss=loss_of_sizes(counts.sizes),
            other_columns=(),
            information=None,
            targets={},
            levels=levels_of(self.recoding, self.taxonomies),
            recoding=described(self.recoding, self.taxonomies, released),
            regions=(),
            privacy=verdicts,
            search=self.search,
            study=self.study,
            # From the counts of the released table alone: that a raw column is sorted, say, or
            # determines another, would tell of records that were not drawn and cost epsilon.
            warnings=class_warnings(counts, self.models),
        )

    @property
    def search(self) -> SearchResult:
        """How the levels were found: they were not searched for."""
        return SearchResult("fixed", self.objective, None, None, 1, 0, None, None, 0, False)

    def people(self, released: pd.DataFrame) -> None:
        """No model that can stand beside is about a population."""

    def _sampled(self, table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The records that are drawn and left, and what is released of them."""
        rng = np.random.default_rng()  # from the system's entropy: a seed could be guessed
        drawn = table[rng.random(len(table)) < self.private.beta]
        recoded = relabelled(self._alike(drawn), self.recoding, self.taxonomies)
        class_of, _ = engine.grouped(recoded, self.schema.names)
        large = np.bincount(class_of) >= self._least
        kept = large[class_of] if len(recoded) else np.zeros(0, bool)
        left = recoded[kept]
        if not len(left):
            raise PolicyUnreachableError(
                f"nothing was released: no class of the sample has k = {self._least} records; "
                "choose coarser levels, or a larger epsilon or delta"
            )
        order = rng.permutation(len(left))
        return drawn[kept], engine.without_traces(left.iloc[order].reset_index(drop=True))

    def _alike(self, table: pd.DataFrame) -> pd.DataFrame:
        """The table with every value as the taxonomies write it; those unknown as they are."""
        columns = {}
        for name, taxonomy in self.taxonomies.items():
            codes, values = engine.distinct(table[name])
            keys = [taxonomy.key(value) for value in values]
            texts = [
                key_text(key) if key in taxonomy.codes else value
                for key, value in zip(keys, values, strict=True)
            ]
            columns[name] = engine.relabel(table[name], codes, texts)
        return engine.replaced(table, columns)

    @property
    def _least(self) -> int:
        """The records that every class must have."""
        others = [model.k for model in self.models if isinstance(model, KAnonymity)]
        return max([self.private.k, *others])

    def _require_covered(self, table: pd.DataFrame) -> None:
        known = (*self.schema.names, *self.schema.identifiers)
        for column in table.columns:
            if column not in known:
                raise InputError(
                    f"{self.private.name}: column {str(column)!r} would be released as it is; "
                    "make it a quasi-identifier (at level 0, say), or an identifier"
                )
