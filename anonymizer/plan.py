"""A plan: the recoding that was chosen and the policy it answers for, carried out on tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonymizer.counts import Counts, Recoding
from anonymizer.engines import pandas as engine
from anonymizer.errors import InputError
from anonymizer.hierarchy import Interval, Partition, Taxonomy
from anonymizer.hierarchy.values import counted
from anonymizer.privacy import PrivacyModel
from anonymizer.release import Information, Release, SearchResult, prove
from anonymizer.schema import Schema

__all__ = ["Plan"]


@dataclass(frozen=True, eq=False)
class Plan:
    """All that is needed to release a table, and nothing that could change meanwhile.

    Parameters
    ----------
    schema, models
        The roles of the columns and the policy.
    taxonomies, recoding
        The values that are known, and their groups.
    search
        How the recoding was found.
    seed
        For the shuffled baseline.
    study
        Fingerprint of everything that was asked for.
    """

    schema: Schema
    models: Sequence[PrivacyModel]
    taxonomies: Mapping[str, Taxonomy]
    recoding: Recoding
    search: SearchResult
    seed: int
    study: str

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
        released = self._recoded(kept)
        counts, verdicts = prove(released, self.schema, self.models)
        if raw is None:
            raw = self.schema.counts(engine.tally(kept, self.schema.columns), self.taxonomies)
        rng = np.random.default_rng(self.seed)
        return released, Release(
            records=len(table),
            released=len(released),
            dropped=len(table) - len(kept),
            suppressed=0,
            classes=len(counts),
            other_columns=tuple(str(c) for c in released.columns if c not in self.schema.columns),
            information=Information.of(raw, counts, self.recoding, self.models, rng),
            levels=self._levels(),
            recoding={
                name: self.taxonomies[name].describe(partition)
                for name, partition in self.recoding.items()
            },
            privacy=verdicts,
            search=self.search,
            study=self.study,
        )

    def _recoded(self, table: pd.DataFrame) -> pd.DataFrame:
        columns = {
            name: _recoded(table[name], self.taxonomies[name], partition)
            for name, partition in self.recoding.items()
        }
        left = table.drop(columns=list(self.schema.identifiers))
        return engine.without_traces(engine.replaced(left, columns))

    def _levels(self) -> dict[str, int]:
        """The level that each partition is, where it is one."""
        return {
            name: level
            for name, partition in self.recoding.items()
            for level, candidate in enumerate(self.taxonomies[name].levels)
            if candidate is partition
        }


def _recoded(column: pd.Series, taxonomy: Taxonomy, partition: Partition) -> pd.Series:
    """Replace values by the labels of their groups.

    A column released at level 0 stays as it is, unless values that are written differently but
    are the same (39 and 39.0) have to become one.
    """
    codes, values = engine.distinct(column)
    places = taxonomy.encode(values)
    strange = places < 0
    if strange.any():
        raise InputError(
            f"column {column.name!r} holds {counted(int(strange.sum()), 'value')}, in "
            f"{counted(int(strange[codes].sum()), 'record')}, that the recoding has never seen; "
            "fit on a table that has them, or use a hierarchy file that lists them"
        )
    if partition is taxonomy.levels[0] and len(np.unique(places)) == len(places):
        return column
    labels = [str(label) if isinstance(label, Interval) else label for label in partition.labels]
    return engine.relabel(column, partition.groups[places][codes], labels)
