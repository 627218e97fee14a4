"""How many distinct combinations of values a table has, about, in little memory.

By the sketch that an engine has for it, or by some of the records where it has none.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from anonymizer.tables import engine
from anonymizer.tables.files.parquet import exact_frame

SAMPLE = 200_000
"""Records that are looked at where there is no sketch."""


def estimated(table: Any, columns: Sequence[str]) -> int:
    """About how many combinations of values some columns have, of a table as narwhals has it."""
    native = table.to_native()
    sketch = SKETCHES.get(type(native).__module__.split(".")[0])
    if sketch is not None:
        return int(sketch(native, columns))
    records = len(table)
    chosen = np.random.default_rng(0).permutation(records)[:SAMPLE]
    sample = exact_frame(table.select(*columns)[np.sort(chosen).tolist(), :].to_arrow())
    return distinct_of_sample(sample, columns, records)


def distinct_of_sample(sample: pd.DataFrame, columns: Sequence[str], records: int) -> int:
    """About how many combinations of values all records have, by those of a random sample.

    sqrt(N / n) f_1 + f_2 + f_3 + ..., where f_i are the combinations that i of n records have, of N
    in all. No estimate by a sample has a smaller error in the worst case than this one, a factor
    of sqrt(N / n) (Charikar et al., 2000).

    >>> distinct_of_sample(pd.DataFrame({"a": [1, 1, 2, 2]}), ["a"], 400)
    2
    >>> distinct_of_sample(pd.DataFrame({"a": [1, 2, 3, 4]}), ["a"], 400)
    40
    """
    sizes = engine.tally(sample, columns).sizes
    alone = int((sizes == 1).sum())
    scale = np.sqrt(max(records, len(sample)) / max(len(sample), 1))
    return int(min(round(scale * alone) + len(sizes) - alone, records))


def in_duckdb(native: Any, columns: Sequence[str]) -> int:
    """Of a relation of DuckDB: HyperLogLog, off by a few per cent."""
    names = _listed(columns, '"')
    return int(native.aggregate(f"approx_count_distinct(hash({names}))").fetchall()[0][0])


def _polars(native: Any, columns: Sequence[str]) -> int:
    library = nw.from_native(native).implementation.to_native_namespace()
    hashed = library.struct(*columns).hash()
    return int(native.lazy().select(hashed.approx_n_unique()).collect().item())


def _spark(native: Any, columns: Sequence[str]) -> int:
    names = _listed(columns, "`")
    return int(native.selectExpr(f"approx_count_distinct(xxhash64({names}))").first()[0])


def _dask(native: Any, columns: Sequence[str]) -> int:
    return int(native[list(columns)].nunique_approx().compute())


def _listed(columns: Sequence[str], quote: str) -> str:
    """Names of columns in SQL."""
    return ", ".join(quote + name.replace(quote, 2 * quote) + quote for name in columns)


SKETCHES: Mapping[str, Callable[[Any, Sequence[str]], int]] = {
    "duckdb": in_duckdb,
    "_duckdb": in_duckdb,
    "polars": _polars,
    "pyspark": _spark,
    "dask": _dask,
}
"""By the library of a table."""
