"""Table files, CSV and Parquet: read whole or refused, and written so that they read back alike."""

from anonymizer.tables.files.columnar import ParquetColumns
from anonymizer.tables.files.files import cleaned, columns_in, read_table, write_table
from anonymizer.tables.files.format import Format, format_of
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
