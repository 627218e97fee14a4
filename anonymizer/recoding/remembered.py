"""What a plan remembers of the tables it was fitted to: values one by one and counts, no record."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from anonymizer.counts.columns import encoded
from anonymizer.counts.counts import Counts
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.tables import engine

Seen = Mapping[str, Mask]
"""Which values of each quasi-identifier some record has, shape (values,) each."""


@dataclass(frozen=True, eq=False)
class People:
    """A population as counts: how many people have each combination of value codes.

    ``cells`` (combinations, quasi-identifiers) and the ``sizes`` (combinations,) of each.
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


def seen_in(table: pd.DataFrame | Counts, taxonomies: Mapping[str, Taxonomy]) -> Seen:
    """Which values a table has of each quasi-identifier, or its counts, which have fewer rows."""
    if isinstance(table, Counts):
        columns = dict(zip(table.names, table.cells[table.sizes > 0].T, strict=True))
    else:
        columns = {name: encoded(table[name], taxonomies[name]) for name in taxonomies}
    return {
        name: np.isin(np.arange(len(taxonomies[name].codes)), codes)
        for name, codes in columns.items()
    }
