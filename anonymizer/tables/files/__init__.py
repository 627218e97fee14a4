"""Table files, CSV and Parquet: read whole or refused, and written so that they read back alike.

In go paths and formats, out come tables of Arrow, or ``ParquetColumns`` that are read one at a
time.
"""

from anonymizer.tables.files.delimited import write_table as write_table
from anonymizer.tables.files.format import Format as Format
from anonymizer.tables.files.format import GivenFormat as GivenFormat
from anonymizer.tables.files.format import cleaned as cleaned
from anonymizer.tables.files.parquet import ParquetColumns as ParquetColumns
from anonymizer.tables.files.sniffing import describe_file as describe_file
from anonymizer.tables.files.sniffing import release_format as release_format
