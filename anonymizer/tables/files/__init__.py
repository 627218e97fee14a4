"""Table files, CSV and Parquet: read whole or refused, and written so that they read back alike.

In go paths and formats, out come DataFrames, or ``ParquetColumns`` that are read one at a time.
"""

from anonymizer.tables.files.columnar import ParquetColumns
from anonymizer.tables.files.files import (
    Format,
    cleaned,
    columns_in,
    format_of,
    read_table,
    write_table,
)
from anonymizer.tables.files.spreadsheet import (
    disarmed,
    disarmed_text,
    formulas,
    rearmed,
    rearmed_text,
    with_safe_names,
)

__all__ = [
    "Format",
    "ParquetColumns",
    "cleaned",
    "columns_in",
    "disarmed",
    "disarmed_text",
    "format_of",
    "formulas",
    "read_table",
    "rearmed",
    "rearmed_text",
    "with_safe_names",
    "write_table",
]
