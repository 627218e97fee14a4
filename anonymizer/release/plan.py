"""A plan: the recoding that was chosen and the policy it answers for, carried out on tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts, Recoding
from anonymizer.counts.multidimensional import CLASS, Regions
from anonymizer.counts.schema import Schema, classes_of
from anonymizer.errors import PolicyBrokenError
from anonymizer.hierarchy import ANY, Taxonomy
from anonymizer.kernels import NUMPY
from anonymizer.objectives.candidate import Layout, columns_of
from anonymizer.privacy import Mask, PrivacyModel
from anonymizer.privacy.query_loss import loss_of_sizes
from anonymizer.recoding import Suppression
from anonymizer.recoding.apply import described, levels_of, matched, overwritten, relabelled
from anonymizer.recoding.problem.policy import Policy
from anonymizer.recoding.problem.suppression import Suppressed, suppress
from anonymizer.recoding.result import SearchResult
from anonymizer.release.information import Information, Informations, chances
from anonymizer.release.release import Release, generalized, prove, release_warnings
from anonymizer.release.remembered import People, Seen, forgotten, moved, seen_in, seen_of
from anonymizer.tables import pandas as engine

__all__ = ["Plan", "all_hidden", "suppressed_of"]


@dataclass(frozen=True, eq=False)
class Plan:
    """All that is needed to release a table, and nothing that could change meanwhile.

    Parameters
    ----------
    schema, models
        The roles of the columns and the policy.
    taxonomies, recoding
        The values that are known, and their groups.
    suppression
        How many records may be suppressed.
    search
        How the recoding was found.
    seed
        For the shuffled baseline.
    study
        Fingerprint of everything that was asked for.
    population
        The quasi-identifiers of the population that models are about, counted.
    seen
        The values that are remembered when the plan is pickled; all when left out.
    """

    schema: Schema
    models: Sequence[PrivacyModel]
    taxonomies: Mapping[str, Taxonomy] = field(repr=False)
    recoding: Recoding | Regions = field(repr=False)
    suppression: Suppression
    search: SearchResult
    seed: int
    study: str
    population: People | None = field(default=None, repr=False)
    seen: Seen | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return dict(vars(self.forgetting))

    @property
    def forgetting(self) -> "Plan":
        """The plan without values that only records have which were suppressed or left out.

        Those of a population that no record of the table shared are gone, too.
        """
        if self.seen is None:
            return self
        known, recoding = forgotten(self.taxonomies, self.seen), self.recoding
        if not isinstance(recoding, Regions):
            recoding = moved(recoding, self.taxonomies, known)
        return replace(self, taxonomies=known, recoding=recoding, seen=None)

    def fitted(
        self, table: pd.DataFrame, kept: pd.DataFrame, raw: Counts
    ) -> "tuple[Plan, pd.DataFrame, Release]":
        """Release the table that the plan was made for, and remember which values it released.

        Parameters and errors are those of ``release``.
        """
        released, suppressed = self._suppressed(self._recoded(kept))
        release = self._proven(table, kept, raw, released, suppressed)
        some = suppressed.records.any()
        seen = (
            seen_in(engine.records_of(kept, ~suppressed.records), self.taxonomies)
            if some
            else seen_of(raw, self.taxonomies)
        )
        return replace(self, seen=seen), released, release

    def release(
        self, table: pd.DataFrame, kept: pd.DataFrame | None = None, raw: Counts | None = None
    ) -> tuple[pd.DataFrame, Release]:
        """Recode a table, recount and verify it, and only then hand it out with its proof.

        Parameters
        ----------
        table
            The table.
        kept, raw
            The records of it that are admitted, and their counts, where these are known already.

        Raises
        ------
        PolicyBrokenError
            When a class of the recoded table breaks the policy.
        InputError
            When the table lacks what it needs or holds values that are not known.
        """
        kept = self.schema.admit(table) if kept is None else kept
        released, suppressed = self._suppressed(self._recoded(kept))
        return released, self._proven(table, kept, raw, released, suppressed)

    def _proven(
        self,
        table: pd.DataFrame,
        kept: pd.DataFrame,
        raw: Counts | None,
        released: pd.DataFrame,
        suppressed: "SuppressedRecords",
    ) -> Release:
        """Recount a recoded table and hold the policy against it."""
        published = self.published
        counts, verdicts = prove(released, published, self.models, self.people(released))
        left = engine.records_of(kept, ~suppressed.records) if suppressed.removed else kept
        if raw is None or suppressed.removed:
            raw = self._raw(left)
        some = suppressed.fate == "kept"
        shown = engine.records_of(released, ~suppressed.records) if some else released
        covered = (*published.names, *published.sensitive)
        about = self.models, self.schema.identifiers, self._hidden(suppressed.fate == "kept")
        return Release(
            records=len(table),
            released=len(released),
            dropped=len(table) - len(kept),
            suppressed=int(suppressed.records.sum()),
            suppressed_class=suppressed.fate,
            classes=counts.occupied,
            query_loss=loss_of_sizes(counts.sizes),
            other_columns=tuple(str(c) for c in released.columns if c not in covered),
            **self._informations(raw, counts, suppressed.fate == "kept"),
            levels=levels_of(self.recoding, self.taxonomies),
            recoding=described(self.recoding, self.taxonomies, shown),
            regions=self.recoding.listed() if isinstance(self.recoding, Regions) else [],
            privacy=verdicts,
            search=self.search,
            study=self.study,
            warnings=release_warnings(table, left, released, raw, counts, *about),
        )

    @property
    def published(self) -> Schema:
        """The schema of the released table: what tells its classes apart may be a column more."""
        numbered = isinstance(self.recoding, Regions) and self.recoding.numbered
        return self.schema.beside(CLASS) if numbered else self.schema

    def people(self, released: pd.DataFrame) -> pd.DataFrame | None:
        """The population recoded as a table was that was released; None where there is none.

        People whom no released class stands for may be anybody whose values were suppressed: they
        are ``*`` where there is such a class.
        """
        people = self._people()
        return None if people is None else matched(released, people, self.schema)

    def _people(self) -> pd.DataFrame | None:
        """The population recoded, a record per person."""
        if self.population is None:
            return None
        table = self.population.table(self.taxonomies)
        return relabelled(table, self.recoding, self.taxonomies)

    def _recoded(self, table: pd.DataFrame) -> pd.DataFrame:
        left = table.drop(columns=list(self.schema.identifiers))
        return engine.without_traces(relabelled(left, self.recoding, self.taxonomies))

    def _suppressed(self, recoded: pd.DataFrame) -> tuple[pd.DataFrame, "SuppressedRecords"]:
        """Suppress the classes of a recoded table that break the policy, within the budget."""
        if not self.suppression.most(len(recoded)):
            return recoded, SuppressedRecords(np.zeros(len(recoded), bool), False)
        people = self._people()
        counts, everybody = classes_of(recoded, self.schema, people)
        class_of = everybody[: len(recoded)]
        tables = [recoded] if people is None else [recoded, people]
        hidden = [engine.all_equal(table, self.schema.names, ANY) for table in tables]
        of_classes = np.zeros(len(counts), bool)
        of_classes[everybody[np.concatenate(hidden)]] = True
        found = suppressed_of(counts, self.models, self.suppression, of_classes)
        if found is None:
            raise PolicyBrokenError(
                f"nothing was released: more than {self.suppression.share:.3g} of the records "
                "would have to be suppressed for the policy to hold under this recoding"
            )
        suppressed = SuppressedRecords(found.marks[class_of], found.removed)
        if found.removed:
            return engine.without_traces(recoded[~suppressed.records]), suppressed
        if not found.records:
            return recoded, suppressed
        columns = {
            name: overwritten(recoded[name], suppressed.records) for name in self.schema.names
        }
        return engine.replaced(recoded, columns), suppressed

    def _raw(self, table: pd.DataFrame) -> Counts:
        tally = engine.tally(table, self.schema.columns)
        population = self.population
        people = None if population is None else population.tally(self.taxonomies)
        return self.schema.counts(tally, self.taxonomies, people)

    def _hidden(self, suppressed: bool) -> Sequence[str]:
        """The quasi-identifiers that are not released as they are, if for some records only."""
        if suppressed or isinstance(self.recoding, Regions):
            return self.schema.names
        return generalized(self.recoding, self.taxonomies)

    def _informations(self, raw: Counts, released: Counts, merges: bool) -> Informations:
        """What is kept and lost; ``merges``: suppressed classes were kept as one."""
        recode = self._recode(raw, merges)
        chance = chances(raw, recode, np.random.default_rng(self.seed))

        def about(*attributes: str) -> Information:
            return Information.of(raw, released, self.models, chance, attributes)

        return {
            "information": about(*self.schema.sensitive) if self.schema.sensitive else None,
            "targets": {name: about(name) for name in self.schema.targets},
        }

    def _recode(self, raw: Counts, merges: bool) -> Callable[[Counts], Counts]:
        """What is done to counts of the same combinations as the raw ones.

        ``merges``: suppressed classes are kept as one.
        """
        if isinstance(self.recoding, Regions):
            class_of = self.recoding.class_of(raw.cells)  # once for all that is shuffled
            return lambda counts: counts.grouped(class_of)
        recoding, together = self.recoding, None
        if merges:
            recoded = raw.recode(recoding)
            hidden = all_hidden(recoded, recoding)
            together = suppressed_of(recoded, self.models, self.suppression, hidden)
        if together is None:
            return lambda counts: counts.recode(recoding)
        marks = together.marks
        return lambda counts: counts.recode(recoding).merge(marks)


@dataclass(frozen=True, eq=False)
class SuppressedRecords:
    """Which records are suppressed, shape (records,), and whether they are left out."""

    records: Mask
    removed: bool

    @property
    def fate(self) -> str:
        """What became of them, as a manifest says it."""
        if not self.records.any():
            return "none"
        return "removed" if self.removed else "kept"


def suppressed_of(
    counts: Counts, models: Sequence[PrivacyModel], suppression: Suppression, hidden: Mask
) -> Suppressed | None:
    """What is suppressed of a recoded table's classes; None where the budget does not do.

    ``hidden``: the class, if any, that is ``*`` in every quasi-identifier already.
    """
    layout = Layout.of(counts)
    policy = Policy(models, layout, NUMPY)
    return suppress(columns_of(counts), policy, policy.against(layout.margins), suppression, hidden)


def all_hidden(recoded: Counts, recoding: Recoding | Regions) -> Mask:
    """The class labelled ``*`` in every quasi-identifier, shape (classes,).

    None where classes are regions, beside which nothing is suppressed.
    """
    if isinstance(recoding, Regions):
        return np.zeros(len(recoded), bool)
    hidden = np.ones(len(recoded), bool)
    for name, codes in zip(recoded.names, recoded.cells.T, strict=True):
        hidden &= recoding[name].hidden[codes]
    return hidden
