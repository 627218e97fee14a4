"""Counted columns as numbers: what engines give of a GROUP BY, and what they join to a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.kernels.arrays import Codes
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.parquet import exact_frame
from anonymizer.tables.relations.relation import Moves

MOST_KEYS = 2**62
"""Bound on the numbers that combinations are packed into."""


def tally_of(counted: pa.Table, columns: Sequence[str], records: str) -> Tally:
    """The tally that a table of combinations and their records is."""
    found = {name: categorical(counted[name].combine_chunks()) for name in columns}
    sizes = counted[records].to_numpy().astype(np.int64)
    return Tally(pd.DataFrame(found), sizes)


def categorical(column: pa.Array) -> pd.Categorical:
    """The values of a column as categories of their exact type."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values = exact_frame(pa.table({"": column.dictionary}))[""]
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Categorical.from_codes(codes, pd.Index(values))


@dataclass(frozen=True, eq=False)
class Keys:
    """How records are told by numbers of their values."""

    values: Mapping[str, pa.Array]
    weights: Sequence[Mapping[int, int]]
    codes: Codes
    moves: Moves

    def table(self, key: Callable[[int], str], names: Mapping[str, str]) -> pa.Table:
        """The released values of each combination, by its numbers."""
        rows = self.codes[self.moves.of]
        keys = {
            key(number): sum(rows[:, place] * weight for place, weight in weights.items())
            for number, weights in enumerate(self.weights)
        }
        released = {names[name]: pa.array(column) for name, column in self.moves.released.items()}
        return pa.table({**{name: pa.array(each) for name, each in keys.items()}, **released})


def keys_of(moves: Moves) -> Keys:
    """The numbers of the values of the counted columns, and of their combinations."""
    rows = moves.raw.combinations
    values, codes = {}, []
    for name, column in rows.items():
        kinds = column.cat.categories
        values[str(name)] = pa.array(kinds.array)
        codes.append(np.where(column.cat.codes < 0, len(kinds), column.cat.codes).astype(np.int64))
    weights: list[dict[int, int]] = [{}]
    bound = 1
    for place, kinds in enumerate(values.values()):
        if bound * (len(kinds) + 1) > MOST_KEYS:
            weights.append({})
            bound = 1
        weights[-1][place] = bound
        bound *= len(kinds) + 1
    return Keys(values, weights, np.column_stack(codes), moves)
