"""What a plan remembers of the tables it was fitted to: values one by one and counts, no record."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from anonymizer.counts.columns import encoded
from anonymizer.counts.counts import Counts, Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.hierarchy import Taxonomy, forgetting
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.recoding.apply import levels_of
from anonymizer.tables import engine

Seen = Mapping[str, Mask]
"""Which values of each quasi-identifier some record has, shape (values,) each."""


@dataclass(frozen=True, eq=False)
class People:
    """A population as counts: how many people have each combination of value codes.

    Parameters
    ----------
    cells
        The combinations, shape (combinations, quasi-identifiers).
    sizes
        Their people, shape (combinations,).
    """

    cells: Codes = field(repr=False)
    sizes: Ints = field(repr=False)

    @classmethod
    def of(cls, tally: engine.Tally, taxonomies: Mapping[str, Taxonomy]) -> "People":
        """The people of a tally, by what taxonomies call their values."""
        columns = [encoded(tally.combinations[name], taxonomies[name]) for name in taxonomies]
        return cls(np.column_stack(columns).astype(np.intp), tally.sizes)

    def tally(self, taxonomies: Mapping[str, Taxonomy]) -> engine.Tally:
        """The same as values, as far as taxonomies still know them."""
        columns = {}
        for (name, taxonomy), codes in zip(taxonomies.items(), self.cells.T, strict=True):
            raw = taxonomy.levels[0]
            values = np.empty(len(raw), dtype=object)
            values[:] = raw.labels
            columns[name] = pd.Series(values[raw.groups[codes]], dtype=object)
        return engine.Tally(pd.DataFrame(columns), self.sizes)

    def table(self, taxonomies: Mapping[str, Taxonomy]) -> pd.DataFrame:
        """A record per person."""
        combinations, sizes = self.tally(taxonomies)
        return combinations.loc[np.repeat(np.arange(len(sizes)), sizes)].reset_index(drop=True)


def seen_in(table: pd.DataFrame, taxonomies: Mapping[str, Taxonomy], records: Mask | slice) -> Seen:
    """Which values of each quasi-identifier some records of a table have."""
    codes = {name: encoded(table[name], each)[records] for name, each in taxonomies.items()}
    return _seen(codes, taxonomies)


def seen_of(counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> Seen:
    """The same of counts of value codes, which have far fewer rows than their table."""
    cells = counts.cells[counts.sizes > 0]
    return _seen(dict(zip(counts.names, cells.T, strict=True)), taxonomies)


def _seen(codes: Mapping[str, Codes], taxonomies: Mapping[str, Taxonomy]) -> Seen:
    return {
        name: np.isin(np.arange(len(taxonomies[name].codes)), some) for name, some in codes.items()
    }


def forgotten(taxonomies: Mapping[str, Taxonomy], seen: Seen) -> dict[str, Taxonomy]:
    """Taxonomies that know no value which was not seen, and which no hierarchy lists."""
    return {name: forgetting(taxonomy, seen[name]) for name, taxonomy in taxonomies.items()}


def moved(
    recoding: Partitions | Regions, old: Mapping[str, Taxonomy], new: Mapping[str, Taxonomy]
) -> Partitions | Regions:
    """A recoding by the levels of other taxonomies, where its partitions are levels."""
    if isinstance(recoding, Regions):
        return recoding
    levels = levels_of(recoding, old)
    return {**recoding, **{name: new[name].levels[level] for name, level in levels.items()}}
