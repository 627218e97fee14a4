"""Table files, CSV and Parquet: read whole or refused, and written so that they read back alike.

In go paths and formats, out come tables of Arrow, or ``ParquetColumns`` that are read one at a
time.
"""

from anonymizer.tables.files.columnar import ParquetColumns as ParquetColumns
from anonymizer.tables.files.files import cleaned as cleaned
from anonymizer.tables.files.files import columns_in as columns_in
from anonymizer.tables.files.files import write_table as write_table
from anonymizer.tables.files.format import Format as Format
from anonymizer.tables.files.format import GivenFormat as GivenFormat
from anonymizer.tables.files.sniffing import describe_file as describe_file
from anonymizer.tables.files.sniffing import release_format as release_format
from anonymizer.tables.files.spreadsheet import disarmed as disarmed
from anonymizer.tables.files.spreadsheet import disarmed_text as disarmed_text
from anonymizer.tables.files.spreadsheet import formulas as formulas
from anonymizer.tables.files.spreadsheet import rearmed as rearmed
from anonymizer.tables.files.spreadsheet import rearmed_text as rearmed_text
