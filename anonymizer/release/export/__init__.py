"""The recoding of a release in the words of other tools: SQL, mapping files, hierarchies of ARX.

What goes in: a release, its manifest and its table, and where these do not suffice a study or a
table of values. What comes out: files, whole or not at all.
"""

from anonymizer.release.export.arx import arx_files
from anonymizer.release.export.directory import write_files
from anonymizer.release.export.mapping import mapping_files
from anonymizer.release.export.source import source_of
from anonymizer.release.export.sql import select_of, sql_of

__all__ = ["arx_files", "mapping_files", "select_of", "source_of", "sql_of", "write_files"]
