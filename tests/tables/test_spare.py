"""Databases of DuckDB that are used again: empty, with the settings of new ones, or not at all."""

import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from anonymizer.errors import InputError
from anonymizer.tables.relations.embedded import connection as spare
from anonymizer.tables.relations.embedded.connection import PIECE, connected, literal

TABLE = pa.table({"a": [1, 2, 3]})
CONTENT = """
SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views()
WHERE NOT internal UNION ALL SELECT function_name FROM duckdb_functions() WHERE NOT internal
"""


@pytest.fixture(autouse=True)
def _none_waits():
    waiting, spare._waiting[:] = [*spare._waiting], []
    yield
    spare._close_all()
    spare._waiting[:] = waiting


def state(connection):
    """What a database holds, and its settings but for the directory for what does not fit."""
    query = "SELECT name, value FROM duckdb_settings() WHERE name <> 'temp_directory' ORDER BY 1"
    settings = connection.arrow(query).to_pylist()
    return connection.arrow(CONTENT).to_pylist(), settings


def test_a_database_used_again_is_empty_and_set_as_a_new_one():
    with connected(None, None) as connection:
        new, first = state(connection), connection.database
        name = connection.keep(TABLE)
        found = connection.function(lambda hashes: pa.array([1] * len(hashes)), pa.int64())
        assert connection.number(f"SELECT sum({found}(CAST(a AS UBIGINT))) FROM {name}") == 3
        connection.distrust_statistics()
        with connection.passing(PIECE + 1):
            pass
    with connected(None, None) as again:
        assert again.database is first
        assert state(again) == new
        (spilled,) = again.arrow("SELECT current_setting('temp_directory')")[0].to_pylist()
        assert Path(spilled).parent == again.scratch
        with pytest.raises(InputError, match="cannot read the table"):
            again.arrow(f"FROM {name}")
    with pytest.raises(RuntimeError, match="shutdown"):
        connection.arrow("SELECT 1")


def test_a_file_that_is_written_anew_is_read_anew(tmp_path):
    path, sums = tmp_path / "t.parquet", []
    for value in (1, 2):
        pa.parquet.write_table(pa.table({"a": [value] * 5}), path)
        os.utime(path, (1, 1))  # neither time nor size says that it is another one
        with connected(None, None) as connection:
            sums.append(connection.number(f"SELECT sum(a) FROM read_parquet({literal(str(path))})"))
    assert sums == [5, 10]


def broken():
    with pytest.raises(InputError, match="no good"), connected(None, None):
        raise InputError("no good")


def limited():
    with connected(None, "1GB"):
        pass


def attached():
    with connected(None, None) as connection:
        connection.room_for(1 << 24)


def nested():
    with connected(None, None), connected(None, None), connected(None, None) as third:
        assert len({id(each) for each in (third.database, *spare._waiting)}) == 1


@pytest.mark.parametrize(("use", "left"), [(broken, 0), (limited, 0), (attached, 0), (nested, 2)])
def test_what_waits_afterwards(use, left):
    use()
    assert len(spare._waiting) == left


def test_a_process_that_is_forked_inherits_none():
    with connected(None, None):
        pass
    child = os.fork()
    if not child:
        with connected(None, None) as connection:
            os._exit(connection.number("SELECT 7"))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_one_that_broke_while_it_waited_is_replaced():
    broken = duckdb.connect()
    broken.close()
    spare._waiting.append(broken)
    with connected(None, None) as connection:
        assert connection.number("SELECT 7") == 7


def test_another_thread_may_take_the_last_one(monkeypatch):
    class TakenMeanwhile(list):
        def __len__(self):
            return 1

    monkeypatch.setattr(spare, "_waiting", TakenMeanwhile())
    with connected(None, None) as connection:
        assert connection.number("SELECT 7") == 7
