"""Tables: how they are held, counted, read and written.

``engine`` has what can be done with a table in memory, ``columns`` with one of its columns;
``relations`` are tables that lie elsewhere; ``files`` reads and writes CSV and Parquet; ``values``
and ``spelling`` decide what makes two raw values one. In go tables and files, out come codes,
tallies and tables. Imports kernels.
"""
