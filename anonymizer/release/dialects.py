"""SQL as databases read it: the standard, which DuckDB and PostgreSQL run, that of SQLite, others.

The others are translated from the standard by sqlglot, which is an extra. What it leaves as it is,
or translates into what means something else there, is changed in its tree: patterns match whole
texts, texts are compared letter by letter, blanks alone are trimmed, numbers keep their digits.

SQLite has no SIMILAR TO, no decimals and no dates. A number of more digits than a double keeps, and
an instant that it would round, are in no class there rather than in one that may be wrong.
"""

# SQL is what this makes; names and texts are quoted by hierarchy/label.py

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from anonymizer.errors import InputError, installing
from anonymizer.hierarchy.calendar import iso_of
from anonymizer.hierarchy.label import ColumnSql, literal, name
from anonymizer.tables.values import number_text

WHOLE = "-?(0|[1-9][0-9]*)[.]0+"
LARGE = "-?[1-9]([.][0-9]{1,16})?e[+](1[6-9]|2[0-9]|3[0-7])"
"""A whole number of up to 38 digits, as a float is written."""
NUMBER = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
OPEN = (
    ("[0-9]+ ?[+]", "[0-9]*+", 1, 1, ""),
    (">= ?[0-9]+", ">=*", 3, 0, ""),
    ("> ?[0-9]+", ">[^=]*", 2, 0, " + 1"),
    ("<= ?[0-9]+", "<=*", 3, 0, ""),
    ("< ?[0-9]+", "<[^=]*", 2, 0, " - 1"),
)
"""Open ranges as patterns of SQL and of SQLite, and their number: > 89 begins at 90.

It begins at a character, leaves some out at the end, and something is added to it.
"""
TIME = "[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
DATE = f"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}({TIME})?"
UTC = {"Z": 1, "[+-]00": 3, "[+-]0000": 5, "[+-]00:00": 6}
"""How an instant in UTC ends, and the characters of that: it is a date on its clock without."""

DIGITS = 15
"""Digits of a number that a double keeps: two such numbers are never the same double."""

MIDNIGHT = "00:00:00.000000"

MOMENT = "-".join(("[0-9]" * 4, "[0-9]" * 2, "[0-9]" * 2)) + (
    " [0-2][0-9]:[0-5][0-9]:[0-5][0-9]." + "[0-9]" * 6
)
"""A date with its time, as a pattern of SQLite."""


@dataclass(frozen=True)
class Dialect:
    """The standard.

    ``called``: the name of the database in messages; ``longest``: bytes of a name, None without a
    bound; ``numbers``: a sentence about which numbers are read; ``tried``: whether releases were
    made there, and compared.
    """

    called: str = "SQL"
    longest: int | None = None
    numbers: str = "Numbers are exact up to 18 digits after the point."
    tried: bool = True

    column: ClassVar[type[ColumnSql]] = ColumnSql
    made_once: ClassVar[str] = "AS"
    """What a step of a query is made by, of which many places of the next one read a column."""

    def require_names(self, names: Sequence[str]) -> None:
        """Refuse names that the database would cut."""
        for each in names:
            if self.longest is not None and len(each.encode()) > self.longest:
                raise InputError(
                    f"column {each!r:.80} has a name of more than {self.longest} bytes, which "
                    f"{self.called} cuts; rename it in the table, and release it again"
                )

    def spoken(self, statement: str) -> str:
        """A statement of the standard, as the database reads it."""
        return statement

    def exact(self, column: str) -> list[str]:
        """Conditions that the text of a value is exact."""
        return []

    def key(self, text: str) -> str:
        """One text for equal numbers: 39 for 39.0, 0 for -0, all digits of 1e+16."""
        whole = f"SUBSTRING({text} FROM 1 FOR POSITION('.' IN {text}) - 1)"
        digits = f"CAST(CAST({text} AS DECIMAL(38, 0)) AS VARCHAR)"
        return (
            f"CASE WHEN {text} = '-0' OR {text} SIMILAR TO '-0[.]0+' THEN '0' "
            f"WHEN {text} SIMILAR TO '{WHOLE}' THEN {whole} "
            f"WHEN {text} SIMILAR TO '{LARGE}' THEN {digits} ELSE {text} END"
        )

    def number(self, key: str) -> str:
        """The number that a text is, NULL where it is none."""
        return f"CASE WHEN {key} SIMILAR TO '{NUMBER}' THEN CAST({key} AS DECIMAL(38, 18)) END"

    def end(self, key: str) -> str:
        """The number where an open range of whole numbers begins or ends, such as 90+."""
        return f"CASE {' '.join(self.end_in(key, *each) for each in OPEN)} END"

    def end_in(self, key: str, similar: str, glob: str, first: int, cut: int, more: str) -> str:
        """The same of texts of one form of ``OPEN``: a case of it."""
        size = f"CHARACTER_LENGTH({key}) - {first - 1 + cut}"
        digits = f"TRIM(SUBSTRING({key} FROM {first} FOR {size}))"
        return f"WHEN {key} SIMILAR TO '{similar}' THEN CAST({digits} AS DECIMAL(38, 18)){more}"

    def date(self, key: str) -> str:
        """The date that a text is; databases differ in what they make of an offset from UTC."""
        instants = " ".join(
            f"WHEN {key} SIMILAR TO '{DATE.removesuffix('?')}{end}' THEN "
            f"CAST(SUBSTRING({key} FROM 1 FOR CHARACTER_LENGTH({key}) - {length}) AS TIMESTAMP)"
            for end, length in UTC.items()
        )
        return f"CASE WHEN {key} SIMILAR TO '{DATE}' THEN CAST({key} AS TIMESTAMP) {instants} END"


class SqliteColumn(ColumnSql):
    """A column in SQLite: numbers are doubles, dates are texts of one length."""

    @property
    def length(self) -> str:
        """The number of its characters."""
        return f"LENGTH({self.text})"

    def part(self, begin: int, size: int | None = None) -> str:
        """Some of its characters, the first being 1."""
        return f"SUBSTR({self.text}, {begin}{'' if size is None else f', {size}'})"

    @staticmethod
    def number_at(place: Decimal) -> str:
        """A number; InputError where a double does not keep it."""
        text = number_text(place)
        if len(text.strip("-").replace(".", "")) > DIGITS:
            raise InputError(
                f"a range of the release ends at a number of more than {DIGITS} digits, which "
                "SQLite rounds; use another database, or recode with anonymizer apply"
            )
        return text

    @staticmethod
    def moment_at(place: Decimal) -> str:
        """A date with its time."""
        day, _, time = iso_of(place).partition(" ")
        return literal(f"{day} {time}{MIDNIGHT[len(time) :]}")


class Sqlite(Dialect):
    """SQLite, from 3.39 on."""

    column: ClassVar[type[ColumnSql]] = SqliteColumn
    made_once: ClassVar[str] = "AS MATERIALIZED"  # it writes what a column is in each of them

    def exact(self, column: str) -> list[str]:
        """Doubles are written with 15 digits, and large ones otherwise than anywhere else."""
        place = f"t.{name(column)}"
        small = f"ABS({place}) >= 0.0001 AND ABS({place}) < 1e15"
        same = f"CAST(CAST({place} AS TEXT) AS REAL) = {place}"
        large = f"TRIM(CAST({place} AS TEXT)) NOT GLOB '*[0-9]e+[0-9][0-9]'"
        return [
            f"({place} IS NULL OR (TYPEOF({place}) <> 'real' AND {large}) OR {place} = 0 "
            f"OR (TYPEOF({place}) = 'real' AND {small} AND {same}))"
        ]

    def key(self, text: str) -> str:
        """One text for equal numbers: 39 for 39.0, 0 for -0."""
        point = f"INSTR({text}, '.')"
        bare = f"CASE WHEN {text} GLOB '-*' THEN SUBSTR({text}, 2) ELSE {text} END"
        digits = f"SUBSTR({bare}, 1, INSTR({bare}, '.') - 1)"
        whole = (
            f"{point} > 1 AND LENGTH({text}) > {point} "
            f"AND SUBSTR({text}, {point} + 1) NOT GLOB '*[^0]*' AND {digits} <> '' "
            f"AND {digits} NOT GLOB '*[^0-9]*' AND ({digits} = '0' OR {digits} NOT GLOB '0*')"
        )
        return (
            f"CASE WHEN {text} = '-0' OR ({whole} AND {digits} = '0') THEN '0' "
            f"WHEN {whole} THEN SUBSTR({text}, 1, {point} - 1) ELSE {text} END"
        )

    def number(self, key: str) -> str:
        """The number that a text without an exponent is."""
        bare = f"CASE WHEN {key} GLOB '[+-]*' THEN SUBSTR({key}, 2) ELSE {key} END"
        digits = f"LENGTH(REPLACE({bare}, '.', ''))"
        return (
            f"CASE WHEN {bare} NOT GLOB '*[^0-9.]*' AND {digits} BETWEEN 1 AND {DIGITS} "
            f"AND LENGTH({bare}) - {digits} < 2 THEN CAST({key} AS NUMERIC) END"
        )

    def end_in(self, key: str, similar: str, glob: str, first: int, cut: int, more: str) -> str:
        """The same of texts of one form of ``OPEN``: a case of it."""
        digits = f"TRIM(SUBSTR({key}, {first}, LENGTH({key}) - {first - 1 + cut}))"
        few = f"LENGTH({digits}) BETWEEN 1 AND {DIGITS}"
        whole = f"{key} GLOB '{glob}' AND {digits} NOT GLOB '*[^0-9]*' AND {few}"
        return f"WHEN {whole} THEN CAST({digits} AS NUMERIC){more}"

    def date(self, key: str) -> str:
        """The date that a text is, with its time."""
        zones = " ".join(
            f"WHEN {key} GLOB '*:*{end}' AND LENGTH({key}) >= {16 + length} "
            f"THEN SUBSTR({key}, 1, LENGTH({key}) - {length})"
            for end, length in reversed(UTC.items())
        )
        clock = f"CASE {zones} ELSE {key} END"
        time = f"SUBSTR({clock}, 12)"
        day = f"SUBSTR({key}, 1, 10)"
        moment = f"{day} || ' ' || {time} || SUBSTR('{MIDNIGHT}', LENGTH({time}) + 1)"
        return (
            f"CASE WHEN SUBSTR({key}, 11, 1) IN ('', 'T', ' ') "
            f"AND LENGTH({clock}) IN (10, 16, 19, 21, 22, 23, 24, 25, 26) "
            f"AND {moment} GLOB '{MOMENT}' AND SUBSTR({moment}, 12, 2) < '24' "
            f"AND DATE({day}, '+0 days') = {day} THEN {moment} END"
        )


@dataclass(frozen=True)
class Translated(Dialect):
    """A dialect that sqlglot translates the standard into; ``to`` is what it calls it.

    ``text`` is the type of any text there, and ``collation`` compares texts letter by letter where
    nothing else does. ``replaced``: what the database, or its shell, replaces within texts.
    """

    to: str = ""
    replaced: tuple[str, ...] = ()
    text: str = "TEXT"
    collation: str = ""

    def spoken(self, statement: str) -> str:
        """The translation, which sqlglot reads again as one of its dialect.

        Raises InputError where sqlglot is not installed, there is no translation, or a text would
        not be read as it stands.
        """
        for sign in self.replaced:
            if sign in statement:
                raise InputError(
                    f"a label, a value or a name has {sign!r}, which {self.called} replaces; "
                    "rename it, choose another --dialect, or recode with anonymizer apply"
                )
        try:
            import sqlglot
        except ImportError:
            raise InputError(
                f"--dialect for {self.called} needs sqlglot: {installing('sql')}"
            ) from None
        try:
            tree = sqlglot.parse_one(statement, read="duckdb").transform(self._changed)
            how = {"pretty": True, "identify": True, "comments": False}
            raising = sqlglot.ErrorLevel.RAISE
            found: str = tree.sql(dialect=self.to, unsupported_level=raising, **how)
            sqlglot.parse_one(found, read=self.to)
        except (sqlglot.errors.SqlglotError, RecursionError):
            raise InputError(
                f"the recoding has no translation into SQL of {self.called}; choose another "
                "--dialect, or recode with anonymizer apply"
            ) from None
        return found

    def _changed(self, node: Any) -> Any:
        """A node of sqlglot's tree as the database has to read it."""
        from sqlglot import exp

        if isinstance(node, exp.SimilarTo):  # Snowflake matches whole texts in any case
            end = "$" if self.to == "snowflake" else r"\z"  # $ is also before a last line break
            pattern = exp.Literal.string(f"^({node.expression.name}){end}")
            return exp.RegexpLike(this=node.this, expression=pattern)
        if isinstance(node, exp.CTE) and node.args["alias"].columns:  # which BigQuery does not name
            columns = node.args["alias"].args.pop("columns")
            alias = exp.TableAlias(this=exp.to_identifier("v"), columns=columns)
            for rows in node.find_all(exp.Values):
                rows.set("alias", alias)
        if isinstance(node, exp.Cast) and node.to.is_type("text", "varchar"):
            cast = exp.cast(node.this, exp.DataType.build(self.text, dialect=self.to))
            return (
                exp.Collate(this=cast, expression=exp.var(self.collation))
                if self.collation
                else cast
            )
        if isinstance(node, exp.DataType) and node.is_type("decimal") and self.to == "bigquery":
            return exp.DataType.build("BIGNUMERIC", dialect=self.to)
        if isinstance(node, exp.Trim) and self.to == "bigquery":
            return exp.Trim(this=node.this, expression=exp.Literal.string(" "))
        if isinstance(node, exp.Literal) and node.is_string and self.to == "tsql":
            return exp.National(this=node.name)
        return node


STANDARD = Dialect()

DIALECTS: dict[str, Dialect] = {
    "standard": STANDARD,
    "duckdb": Dialect("DuckDB"),
    "postgresql": Dialect("PostgreSQL", 63),
    "sqlite": Sqlite(
        "SQLite", None, f"Numbers of more than {DIGITS} digits, or with an exponent, are in none."
    ),
    "mysql": Translated("MySQL", 64, tried=False, to="mysql", collation="utf8mb4_0900_bin"),
    "snowflake": Translated("Snowflake", 255, tried=False, to="snowflake"),
    "bigquery": Translated("BigQuery", 300, tried=False, to="bigquery", text="STRING"),
    "sqlserver": Translated(
        "SQL Server",
        128,
        tried=False,
        to="tsql",
        text="NVARCHAR(MAX)",
        collation="Latin1_General_100_BIN2",
        replaced=("$(", "\\\n", "\\\r"),
    ),
    "spark": Translated("Spark", to="spark", text="STRING", replaced=("${",)),
}
"""The dialects by their names."""
