"""Values of one column in place of others, in a table where it lies."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.tables.engine import Tally
from anonymizer.tables.relations.relation import Moves


def merging(raw: Tally, places: Sequence[int], columns: Sequence[str]) -> Moves:
    """The moves by which some values of a column take the place of others.

    ``raw``: the values of the column, counted. ``places`` (values,): the row of the value that each
    becomes. ``columns``: those of the table, which stay. The column keeps its exact type.
    """
    (name,) = raw.columns
    column = _of_their_type(raw[name].iloc[list(places)])
    return Moves(
        raw,
        pd.DataFrame({name: column.set_axis(raw.index)}),
        np.arange(len(raw.index)),
        raw.sizes,
        tuple(columns),
    )


def _of_their_type(column: pd.Series) -> pd.Series:
    """A column of categories as one of the type that these have."""
    values = pa.array(column)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return pd.Series(values, dtype=pd.ArrowDtype(values.type))
