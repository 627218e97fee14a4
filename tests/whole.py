"""Tables read whole, as pandas has them: CSV by the strict reader, all else by DuckDB."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from anonymizer.tables import engine
from anonymizer.tables.files import Format, cleaned
from anonymizer.tables.files.delimited import csv_table
from anonymizer.tables.files.opening import is_spread, readable
from anonymizer.tables.relations.embedded.files import opened


def read_table(path: Path, form: Format, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a whole table; ``columns`` must be there and are cleaned."""
    frame = _read(path, form, columns)
    return engine.replaced(frame, {name: cleaned(frame[name], form) for name in columns})


def _read(path: Path, form: Format, columns: Sequence[str]) -> pd.DataFrame:
    if form.parquet or is_spread(path):
        with opened(path, form, columns=columns) as table:
            return table.frame(table.columns)
    with readable(path, form.encoding):
        frame: pd.DataFrame = csv_table(path, form, columns).to_pandas()
        return frame
