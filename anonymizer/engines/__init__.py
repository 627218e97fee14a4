"""How a table is counted and recoded: the only rooms that know a dataframe library."""
