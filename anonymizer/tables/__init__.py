"""Table files, CSV and Parquet: read whole or refused, and written so that they read back alike."""

from anonymizer.tables.columnar import ParquetColumns, open_columns
from anonymizer.tables.files import cleaned, columns_in, read_table, write_table
from anonymizer.tables.format import Format, format_of

__all__ = [
    "Format",
    "ParquetColumns",
    "cleaned",
    "columns_in",
    "format_of",
    "open_columns",
    "read_table",
    "write_table",
]
