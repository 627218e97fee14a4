"""Relations of DuckDB, computed in their own connection."""

import re
from collections.abc import Mapping, Sequence
from secrets import randbits, token_hex
from typing import Any, Self

import narwhals as nw
import pyarrow as pa

from anonymizer.tables.relations.embedded.connection import literal, quoted, without_enums
from anonymizer.tables.relations.frames import AS_TEXTS, Frame, viewed
from anonymizer.tables.relations.relation import Moves, runs_of

RECORDS = "anonymizer_records_"
"""What a relation is called in a query; no column that is not of this module is called so."""

COUNTED = re.compile(
    r"boolean|u?(tiny|small|big|huge)int|u?integer|bignum|float|double|decimal|varchar|enum|blob|"
    r"bit|uuid|date|interval|null|time(stamp)?(_m?n?s| with time zone)?"
)
"""Types of DuckDB whose equal values are alike, or have texts of their own."""


class DuckFrame(Frame):
    """A relation of DuckDB; as any table of a database, it has no order that is promised.

    >>> import duckdb
    >>> from anonymizer import Anonymizer, KAnonymity
    >>> policy = Anonymizer({"age": {"widths": [10, 50]}}, privacy=[KAnonymity(2)])
    >>> table = duckdb.sql("SELECT 30 + n * 5 AS age, n::UTINYINT AS visits FROM range(4) t(n)")
    >>> released = policy.fit_transform(table)
    >>> type(released).__name__, released.types
    ('DuckDBPyRelation', [VARCHAR, UTINYINT])
    >>> released.aggregate("age, count(*)").order("age").fetchall()
    [('[30, 40)', 2), ('[40, 50)', 2)]
    """

    called = "DuckDB"
    as_texts = (*AS_TEXTS, nw.Duration)  # an INTERVAL has months, days and microseconds
    by_bytes = True

    def type_of(self, name: str) -> Any:
        """As ``Frame.type_of``."""
        return dict(zip(self.native.columns, self.native.types, strict=True))[name]

    def tells_apart(self, kind: Any) -> bool:
        """As ``Frame.tells_apart``."""
        return COUNTED.fullmatch(kind.id) is not None

    def sketched(self, table: Any, columns: Sequence[str]) -> int:
        """As ``Frame.sketched``."""
        names = ", ".join(map(quoted, columns))
        found = table.to_native().aggregate(f"approx_count_distinct(hash({names}))")
        return int(found.fetchall()[0][0])

    def in_bytes(self, table: Any, texts: Sequence[str]) -> Any:
        """As ``Frame.in_bytes``: neither a column's collation nor that of the session is theirs."""
        bytes_of = ", ".join(f"encode({quoted(name)}) AS {quoted(name)}" for name in texts)
        return viewed(table.to_native().project(f"* REPLACE ({bytes_of})"))

    def computed(self) -> Self:
        """As ``Frame.computed``: in a temporary table of the connection."""
        kinds = dict(zip(self.native.columns, self.native.types, strict=True))
        texts = {name: without_enums(kind) for name, kind in kinds.items() if "ENUM(" in str(kind)}
        name = f"anonymizer_{token_hex(8)}"
        create = f"CREATE TEMP TABLE {name} AS SELECT {_as_types(texts)} FROM {RECORDS}"
        with self.worded():
            self.native.query(RECORDS, create)
            held = self.native.query(RECORDS, f"FROM temp.{name}")
            enums = {
                each: _found(held, each, kind) for each, kind in kinds.items() if kind.id == "enum"
            }
            return type(self)(viewed(held.project(_as_types(enums))))

    def as_native(self, small: pa.Table) -> Any:
        """As ``Frame.as_native``: DuckDB finds Arrow tables by the names of variables.

        Tables of the database come first, so that these have names that none has.
        """
        anonymizer_small_ = small  # noqa: F841
        return viewed(self.native.query(RECORDS, "SELECT * FROM anonymizer_small_"))

    def dealt(self, table: Any, moves: Moves, row: str, move: str) -> Any:
        """As ``Frame.dealt``: whenever the table is computed, records alike get the same."""
        runs = runs_of(moves)
        anonymizer_runs_ = pa.table({row: runs.row, "first": runs.first, move: runs.move})  # noqa: F841
        query = f"""
            SELECT ranked.* EXCLUDE "{row} rank", runs."{move}"
            FROM (
                SELECT *, row_number() OVER (
                    PARTITION BY "{row}" ORDER BY {_chance(moves.seed)}
                ) - 1 AS "{row} rank"
                FROM {RECORDS}
            ) ranked
            ASOF JOIN anonymizer_runs_ runs
            ON ranked."{row}" = runs."{row}" AND ranked."{row} rank" >= runs.first
        """
        return viewed(table.to_native().query(RECORDS, query))

    def shuffled(self) -> Self:
        """As ``Relation.shuffled``."""
        query = f"SELECT * FROM {RECORDS} ORDER BY {_chance(randbits(128))}"
        return type(self)(viewed(self.native.query(RECORDS, query)))


def _as_types(kinds: Mapping[str, str]) -> str:
    """All columns in SQL, some of them as another type."""
    cast = (f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}" for name, kind in kinds.items())
    return f"* REPLACE ({', '.join(cast)})" if kinds else "*"


def _found(held: Any, name: str, kind: Any) -> str:
    """The ENUM of those values of a type that occur in a column."""
    found = {text for (text,) in held.project(quoted(name)).distinct().fetchall()}
    values = [literal(each) for each in dict(kind.children)["values"] if each in found]
    return f"ENUM({', '.join(values)})" if values else "VARCHAR"


def _chance(seed: int) -> str:
    """An order of records that nobody knows who does not know the seed."""
    return f"sha256('{seed} ' || {RECORDS}::VARCHAR)"
