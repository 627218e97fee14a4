"""DuckDB within this process: bounded in memory, never loading what is not there, in our words.

Databases are used again: to start one takes 20 ms, to empty it less than two.
"""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType

from anonymizer.errors import InputError
from anonymizer.tables.files.opening import PATTERN

Watch = Callable[[str, int, int | None], None]
"""Called with what is done, how much of it, and of how much."""

OFTEN = 0.1
"""Seconds between two looks at the progress of a query."""

LARGE = 1 << 24
"""Bytes of a table from which on it is worth compressing."""

MEMORY = re.compile(r"[0-9]+(\.[0-9]+)? ?([KMGT]i?)?B", re.IGNORECASE)

SPILLED = "spilled"

NUMBERS = count()
"""Numbers of tables, never used twice: a query of a table that is gone finds no other one."""

PIECE = 1 << 17
"""Records that are read at a time."""

PASSING = "2GiB"
"""Memory for records on their way from one file to another."""

FULL = ("No space left", "Disk quota", "File too large", "max_temp_directory_size")
"""What DuckDB says where nothing more can be written."""

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

MOST_WAITING = 2
"""Databases that wait: a run has one for the table and one for what it releases."""


class MisreadError(InputError):
    """What was read is not what it should be; another reader may say more."""


class OutsideError(InputError):
    """A view of a database reads what is not in it."""


class Connection:
    """A database of DuckDB in memory, and files that must stay as they are while it reads them.

    ``scratch``: a directory for what does not fit into memory. ``watch`` gets the progress.
    ``reusable``: whether its database may be used again; none that others were attached to.
    """

    def __init__(self, scratch: Path, memory: str | None, watch: Watch | None) -> None:
        self.scratch, self.watch = scratch, watch
        self._names, self._functions = list[str](), list[str]()
        self._files, self._disabled = dict[Path, tuple[int, ...]](), STREAMED
        self._attached, self._limited = False, memory is not None
        self.reusable = not self._limited
        self._distrusted, self._confined = "", False
        if memory and not MEMORY.fullmatch(memory.strip()):
            raise InputError(f'memory = {memory!r} must be bytes with their unit, such as "4GB"')
        self.database = taken(scratch / SPILLED, memory)
        self._thread = ThreadPoolExecutor(1)

    def close(self, usable: bool = False) -> None:
        """Give back memory and files; ``usable``: nothing went wrong with the database."""
        self._thread.shutdown()
        if usable and self.reusable:
            tables = [name for name in self._names if name not in self._functions]
            given_back(self.database, tables, self._functions, self.scratch / SPILLED)
        else:
            self.database.close()

    def free_name(self) -> str:
        """A name that no table has."""
        self._names.append(f"t{next(NUMBERS)}")
        return self._names[-1]

    def room_for(self, size: int) -> str:
        """The name of a table that will be made of so many bytes: a large one goes to a file.

        There it is compressed, so that it takes less memory and half the time to be counted.
        """
        if size < LARGE:
            return self.free_name()
        if not self._attached:
            place = literal(str(self.scratch / "tables.duckdb"))
            self.database.execute(f"ATTACH {place} AS tables")
            self._attached, self.reusable = True, False
        return f"tables.{self.free_name()}"

    def confine(self) -> None:
        """Keep queries from every file but those of ``scratch``, and what is attached, for good.

        A view of a database may read any other, such as by ``read_text``. Nothing that DuckDB is
        given can undo it, so that settings need not be locked: some are still changed here.
        """
        place = literal(str(self.scratch))
        self.database.execute(f"SET allowed_directories = [{place}]")
        self.database.execute("SET enable_external_access = false")
        self._confined, self.reusable = True, False

    @contextmanager
    def writable(self, path: Path) -> Iterator[Path]:
        """Where DuckDB may write what is to lie at a path afterwards."""
        if not self._confined:
            yield path
            return
        held = self.scratch / path.name
        yield held
        shutil.move(held, path)

    def reads(self, path: Path) -> None:
        """Take note of a file that is read more than once."""
        self._files[path] = _state(path)

    def distrust_statistics(self) -> None:
        """Read values where files say what bounds they have: NaN is outside of them.

        DuckDB takes them for true, so that nothing of a column with bounds would be NaN.
        """
        self._distrusted = "statistics_propagation"

    def keep(self, table: pa.Table, kinds: Mapping[str, str] | None = None) -> str:
        """Hold a table; the name that it gets. ``kinds``: types of columns."""
        name = self.room_for(table.nbytes)
        with self.given(table, kinds) as given:
            self.run(f"CREATE TABLE {name} AS {given}")
        return name

    @contextmanager
    def given(self, table: pa.Table, kinds: Mapping[str, str] | None = None) -> Iterator[str]:
        """A query of a small table, as long as it is there; ``kinds`` as in :meth:`keep`."""
        columns = ", ".join(
            f"CAST({quoted(each)} AS {kinds[each]}) AS {quoted(each)}"
            if kinds and each in kinds
            else quoted(each)
            for each in table.column_names
        )
        self.database.register("given", table)
        try:
            yield f"SELECT {columns} FROM given"
        finally:
            self.database.unregister("given")

    def function(self, found: Callable[[pa.ChunkedArray], pa.Array], kind: pa.DataType) -> str:
        """The name of a function of hashes, which queries ask for some records at a time."""
        name = self.free_name()
        with self.given(pa.table({"v": pa.array([], kind)})) as empty:
            (returned,) = self.arrow(f"DESCRIBE {empty}").column(1).to_pylist()
        # What has effects is not computed twice, where it is filtered by and where it is shown.
        self.database.create_function(
            name,
            found,
            ["UBIGINT"],
            returned,
            type=PythonUDFType.ARROW,
            null_handling=FunctionNullHandling.SPECIAL,  # what is found may be missing
            side_effects=True,
        )
        self._functions.append(name)
        return name

    def run(self, query: str, doing: str = "", records: int | None = None) -> None:
        """Carry out a statement; errors as :meth:`arrow`."""
        self._followed(lambda: self.database.execute(query), doing, records)

    @contextmanager
    def passing(self, records: int) -> Iterator[None]:
        """Hold little while so many records only pass through; no less than somebody allowed.

        Records that wait to be written in their order take all the memory that they may.
        """
        if self._limited or records <= PIECE:
            yield
            return
        with suppress(duckdb.Error):  # more is held already
            self.database.execute(f"SET memory_limit = '{PASSING}'")
        try:
            yield
        finally:
            self.database.execute("RESET memory_limit")

    def arrow(
        self, query: str, doing: str = "", records: int | None = None, disabled: str = STREAMED
    ) -> pa.Table:
        """What a query gives, in memory; ``disabled`` optimizers do not plan it.

        InputError when a file cannot be read, is not what it was, or does not fit into memory;
        OSError when the disk is full.
        """

        def found() -> pa.Table:
            return self.database.sql(query).to_arrow_table()

        return self._followed(found, doing, records, disabled)

    def counted(self, query: str, doing: str, records: int | None = None) -> pa.Table:
        """As :meth:`arrow`, of a query whose order does not matter: it may be planned freely.

        Only then DuckDB estimates what its parts give, and reports its progress by that.
        """
        return self.arrow(query, doing, records, disabled="")

    def _disable(self, optimizers: str) -> None:
        chosen = ",".join(filter(None, (optimizers, self._distrusted)))
        if chosen != self._disabled:
            self.database.execute(f"SET disabled_optimizers = '{chosen}'")
            self._disabled = chosen

    def batches(self, query: str, rows: int = PIECE) -> Iterator[pa.RecordBatch]:
        """What a query gives, a piece at a time."""
        with self._unchanged():
            self._disable(STREAMED)
            yield from self.database.sql(query).to_arrow_reader(rows)

    def number(self, query: str) -> int:
        """The single number that a query gives; 0 for none."""
        return int(self.arrow(query)[0][0].as_py() or 0)

    def _followed(
        self, work: Callable[[], Any], doing: str, records: int | None, disabled: str = STREAMED
    ) -> Any:
        """Carry out a query, telling who watches how far it is; ``disabled`` as of ``arrow``."""
        # In a thread of its own: interrupts reach the main one at once, and no function of a query.
        with self._unchanged():
            self._disable(disabled)
            running = self._thread.submit(work)
            try:
                return self._watched(running, self.watch if doing else None, doing, records)
            finally:
                wait([running])

    def _watched(
        self, running: "Future[Any]", watch: Watch | None, doing: str, records: int | None
    ) -> Any:
        share = 0.0
        try:
            while True:
                try:
                    return running.result(None if watch is None else OFTEN)
                except TimeoutError:
                    if running.done() or watch is None:
                        raise
                    # Between two pieces of work, and at the end, it is not known: -1.
                    share = max(self.database.query_progress() / 100, share)
                    watch(doing, int(share * (records or 100)), records or 100)
        except BaseException:
            if not running.done():
                self.database.interrupt()
            raise

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        """Require that files are what they were before and after; errors in our own words."""
        self._require_same()
        try:
            with worded("the table"):
                yield
        finally:
            self._require_same()

    def _require_same(self) -> None:
        for path, before in self._files.items():
            if _state(path) != before:
                raise InputError(
                    f"cannot read {path}: it was changed while it was read; leave it as it is "
                    "until the end"
                )


@contextmanager
def connected(
    scratch: Path | None, memory: str | None, watch: Watch | None = None
) -> Iterator[Connection]:
    """A connection, and a directory for what does not fit into memory, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=".anonymizer-", dir=scratch) as directory:
        connection, usable = Connection(Path(directory).absolute(), memory, watch), False
        try:
            yield connection
            usable = True
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise InputError(
                f"no space left on the disk of {Path(directory).parent}; make room there and run "
                "again"
            ) from None
        finally:
            connection.close(usable)


@contextmanager
def worded(what: object) -> Iterator[None]:
    """Say in our own words why a query failed: the engine's messages quote the data."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        if any(each in str(error) for each in FULL):
            raise OSError(errno.ENOSPC, "no space left on the disk") from None
        raise InputError(
            f"{what} does not fit into memory",
            'give more of it by memory in [data], such as memory = "8GB", or count fewer different '
            "values",
            section="data",
            key="memory",
        ) from None
    except duckdb.IOException as error:
        if any(each in str(error) for each in FULL):
            raise OSError(errno.ENOSPC, "no space left on the disk") from None
        raise InputError(f"cannot read {what}: it is damaged, or no longer there") from None
    except duckdb.PermissionException:
        raise OutsideError(
            f"{what} reads what is outside of its database, such as a file; make a table of it "
            "there, by CREATE TABLE ... AS"
        ) from None
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.ParserException:  # all SQL is written here, but for the names of columns
        raise InputError(
            f"cannot read {what}: a column of it has no name; name it in the table, or list it, as "
            "'', among the identifiers, which are left out"
        ) from None
    except duckdb.Error:
        raise MisreadError(
            f"cannot read {what}: it is damaged, cut short, or not what its name says"
        ) from None


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def without_enums(kind: Any) -> str:
    """A type in SQL, with texts in place of an ENUM, which lists values that no record may have."""
    if kind.id == "enum":
        return "VARCHAR"
    if kind.id in ("list", "array"):
        size = dict(kind.children[1:]).get("size", "")
        return f"{without_enums(kind.children[0][1])}[{size}]"
    if kind.id == "map":
        return f"MAP({', '.join(without_enums(each) for _, each in kind.children)})"
    if kind.id in ("struct", "union"):
        fields = (f"{quoted(name)} {without_enums(each)}" for name, each in kind.children)
        return f"{kind.id}({', '.join(fields)})"
    return str(kind)


def named_file(path: Path) -> str:
    """The name of a file as DuckDB reads it, which takes names for patterns.

    Refuses a name that would stand for other files, too.
    """
    name = str(path)
    if PATTERN.search(name) is None:
        return literal(name)
    if "\\" in name:
        raise InputError(f"cannot read {path}: it has a backslash and one of * ? [; rename it")
    return literal(PATTERN.sub(r"[\g<0>]", name))


def _state(path: Path) -> tuple[int, ...]:
    """What changes when a file is written to, or is another one; none where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev)


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
            waiting.execute(f"SET temp_directory = {literal(str(spilled))}")
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


def given_back(
    database: duckdb.DuckDBPyConnection, tables: list[str], functions: list[str], spilled: Path
) -> None:
    """Empty a database that nothing went wrong with, and have it wait.

    It has no more than ``tables`` and ``functions``. It is closed where it cannot be emptied, has
    spilled anything, or enough others wait.
    """
    if len(_waiting) < MOST_WAITING and not spilled.exists():
        try:
            _empty(database, tables, functions)
        except duckdb.Error:
            pass
        else:
            _waiting.append(database)
            return
    database.close()


def _empty(database: duckdb.DuckDBPyConnection, tables: list[str], functions: list[str]) -> None:
    for name in functions:
        database.remove_function(name)
    database.execute("; ".join([*(f"DROP TABLE IF EXISTS {name}" for name in tables), *EMPTIED]))
