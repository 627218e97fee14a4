"""How a table is counted and its columns are rewritten, one module per dataframe library."""
