"""Files and databases, read, counted, recoded and written by DuckDB, embedded in the process."""
