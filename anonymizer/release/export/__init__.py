"""The recoding of a release in the words of other tools: standard SQL.

What goes in: a release, its manifest and its table, nothing else. What comes out: the text of a
file that a database runs.
"""

from anonymizer.release.export.source import source_of
from anonymizer.release.export.sql import sql_of

__all__ = ["source_of", "sql_of"]
