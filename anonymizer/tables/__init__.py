"""Tables: how they are held, counted, read and written.

``engine`` says what can be done with a table, ``pandas`` does it; ``files`` reads and writes CSV
and Parquet; ``values`` and ``spelling`` decide what makes two raw values one. In go tables and
files, out come codes, tallies and tables. Imports kernels.
"""
