"""Tables where they lie: counted, recoded and written by the library or engine that holds them.

In goes a table of Polars, Arrow, DuckDB, Dask or Spark, a file, a folder of files or a database;
out come its ``Tally``, a table of the same kind with other values, or files. Nothing here loads a
whole table into memory that was not there before.
"""
