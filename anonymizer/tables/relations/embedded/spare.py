"""Databases of DuckDB that are used again: to start one takes 20 ms, to empty it less than two."""

import os
from pathlib import Path
from typing import Any

import duckdb

STREAMED = "join_order,build_side_probe_side"

SETTINGS = (
    # What reads the network, or installs what is not there, is never wanted.
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    # Nor what a view names that happens to be the name of a variable of ours.
    "SET python_enable_replacements = false",
    # The left table of a join is the one that is streamed, not the lists that it is joined to.
    f"SET disabled_optimizers = '{STREAMED}'",
    "SET TimeZone = 'UTC'",
    "SET enable_progress_bar = true",
    "SET enable_progress_bar_print = false",
)

EMPTIED = (
    f"SET disabled_optimizers = '{STREAMED}'",
    # What was read of files is forgotten; another table may lie there the next time.
    "SET enable_external_file_cache = false",
    "RESET enable_external_file_cache",
)

MOST = 2
"""Databases that wait: a run has one for the table and one for what it releases."""

_waiting: list[duckdb.DuckDBPyConnection] = []


def _next() -> duckdb.DuckDBPyConnection | None:
    """One that waits; None where there is none, or another thread was faster."""
    try:
        return _waiting.pop()
    except IndexError:
        return None


def _close_all() -> None:
    while database := _next():
        database.close()


# Its threads do not live on in a process that was forked, where not even closing it works.
if hasattr(os, "register_at_fork"):  # where processes are forked at all
    os.register_at_fork(before=_close_all)


def taken(spilled: Path, memory: str | None) -> duckdb.DuckDBPyConnection:
    """An empty database in memory; ``spilled``: a directory for what does not fit into ``memory``.

    One that waits, unless memory is limited.
    """
    while memory is None and (waiting := _next()):
        try:
            waiting.execute(f"SET temp_directory = '{_doubled(spilled)}'")
        except duckdb.Error:  # it is not to be used any more
            waiting.close()
        else:
            return waiting
    config: dict[str, Any] = {"temp_directory": str(spilled)}
    if memory is not None:
        config["memory_limit"] = memory
    database = duckdb.connect(":memory:", config=config)
    for setting in SETTINGS:
        database.execute(setting)
    return database


def given_back(database: duckdb.DuckDBPyConnection, functions: list[str], spilled: Path) -> None:
    """Empty a database that nothing went wrong with, and have it wait; ``functions`` of its own.

    It has no more than tables and functions. It is closed where it cannot be emptied, spilled
    anything, or enough others wait.
    """
    if len(_waiting) < MOST and not spilled.exists():
        try:
            _empty(database, functions)
        except duckdb.Error:
            pass
        else:
            _waiting.append(database)
            return
    database.close()


def _empty(database: duckdb.DuckDBPyConnection, functions: list[str]) -> None:
    for name in functions:
        database.remove_function(name)
    tables = database.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal")
    for (name,) in tables.fetchall():
        database.execute(f'DROP TABLE "{name}"')
    for setting in EMPTIED:
        database.execute(setting)


def _doubled(path: Path) -> str:
    return str(path).replace("'", "''")
