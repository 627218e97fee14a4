"""Tables in files, folders and databases, by DuckDB, are what the readers in memory give."""

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymizer.errors import InputError
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import describe_file, write_table
from anonymizer.tables.files.format import Format
from anonymizer.tables.relations.embedded import connection
from anonymizer.tables.relations.embedded.files import opened
from anonymizer.tables.relations.relation import Moves
from tests.whole import read_table

CSV, PARQUET = Format(False), Format(True)

VALUES = {
    "x": pa.array([0.0, -0.0, None, float("nan"), 1.5, 1e22]),
    "X": pa.array([1, 2**53 + 1, 2**63 - 1, None, 1, 1]),
    "u": pa.array([2**64 - 1, 0, 1, 1, 1, None], pa.uint64()),
    "s": pa.array(["é", "e\u0301", "", None, "a\nb", 'q"']),
    "d": pa.array(["a", "b", "a", None, "a", "b"]).dictionary_encode(),
    "n": pa.array([True, False, None, True, True, True]),
    "day": pa.array([date(2020, 1, 1)] * 4 + [None, date(1, 1, 1)]),
    "ms": pa.array([1, 2, 3, None, 5, 6], pa.timestamp("ms")),
    "tz": pa.array([1, 2, 3, None, 5, 6], pa.timestamp("us", "Europe/Vienna")),
    "dur": pa.array([1, 2, 3, None, 5, 6], pa.duration("us")),
    "dec": pa.array([Decimal("1.50"), None] * 3, pa.decimal128(10, 2)),
    "bin": pa.array([b"a", b"\xff", None, b"", b"a", b"a"]),
}


def written(frame: pd.DataFrame) -> list[list[str]]:
    return [[repr(value) for value in row] for row in frame.astype(object).to_numpy()]


def found(path: Path, form: Format, **options: str) -> pd.DataFrame:
    with opened(path, form, **options) as table:
        return table.frame(table.columns)


def test_parquet_has_every_value_of_its_exact_type(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table(VALUES), path)
    frame = read_table(path, PARQUET)
    with opened(path, PARQUET) as table:
        assert written(table.frame(table.columns)) == written(frame)
        for name in frame.columns:
            tally = table.tally([name])
            values = frame[name].astype(object).where(frame[name].notna().to_numpy(), None)
            # 0.0 and -0.0, or NaN and null, are two values of the table in memory alone.
            plain = [0.0 if value == 0 and name == "x" else value for value in values]
            alike = {repr(None if value != value else value) for value in plain}
            assert len(tally.sizes) == len(alike)
            assert tally.sizes.sum() == 6
        table.write(tmp_path / "b.parquet", PARQUET)
        table.write(tmp_path / "b.csv", CSV)
    again = parquet.read_table(tmp_path / "b.parquet")
    assert again.schema == pa.table(VALUES).schema
    assert written(read_table(tmp_path / "b.parquet", PARQUET)) == written(frame)
    write_table(frame, tmp_path / "c.csv", CSV)
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "c.csv").read_bytes()


USUAL = ["a", "1", "", "é", " x", "x ", '"x,y"', '"p""q"', '"l\nm"', '"l\r\nm"', '""', '" s "']
ODD = ["#1", "NULL", "\x01", "\x00", "\\", "'", ' "a"', '"a" ', 'a"b', '"a"b', '"', "\r", "\u2028"]
FIELDS = st.sampled_from([*USUAL, *ODD])
ENDS = st.sampled_from(["\n"] * 12 + ["\r\n", "\r", "\n\n", ",\n", " \n"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    width = draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(FIELDS, min_size=width, max_size=width), max_size=4))
    usual = draw(ENDS)
    lines = [["a", "b", draw(st.sampled_from(["c", ""]))][:width], *rows]
    text = "".join(",".join(line) + (draw(ENDS) if line[0] == "é" else usual) for line in lines)
    mark, cut = draw(st.sampled_from(["", "", "\ufeff"])), draw(st.sampled_from([0, 0, 1]))
    return (mark + text[: len(text) - cut]).encode() + draw(st.sampled_from([b"", b"", b"\xff"]))


def outcome(path: Path, read: object) -> object:
    try:
        frame = read(path, CSV)  # type: ignore[operator]
    except InputError as error:
        return str(error)
    return list(frame.columns), written(frame)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=files())
def test_csv_is_read_or_refused_as_by_the_strict_reader(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    assert outcome(path, found) == outcome(path, read_table)
    assert counted(path, once=True) == counted(path, once=False)


def counted(path: Path, once: bool) -> object:
    """The records of each combination of all values; None where the file is refused."""
    try:
        with opened(path, CSV, once=once) as table:
            tally = table.tally(table.columns)
    except InputError:
        return None
    return list(tally.columns), written(tally.combinations), tally.sizes.tolist()


@pytest.mark.parametrize("large", [1 << 24, 0])
def test_ends_of_lines_within_fields_are_read_whatever_is_read_in_parallel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    monkeypatch.setattr(connection, "LARGE", large)
    path = tmp_path / "a.csv"
    frame = pd.DataFrame({"a": [str(n) for n in range(30_000)], "b": "x,1\n2,y\n" * 40})
    frame.to_csv(path, index=False)
    assert found(path, CSV).equals(read_table(path, CSV))


def test_a_file_that_is_counted_once_is_no_table_of_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "x,1\ny,2\nx,1\n" * 1000, encoding="utf-8")
    with opened(path, CSV, once=True) as table:
        held = table.connection.number("SELECT count(*) FROM duckdb_tables()")
        assert (held, table.tally(["a"]).sizes.tolist()) == (0, [2000, 1000])
        path.write_text("a,b\n" + "x,1\ny,2\nx,1\n" * 999 + "x,1\ny,2\nz,1\n", encoding="utf-8")
        with pytest.raises(InputError, match="it was changed while it was read"):
            table.tally(["a"])


def test_csv_is_found_in_compressed_files_and_other_encodings(tmp_path: Path) -> None:
    text = "sep=;\r\nname;size\r\né;1,5\r\nb;2,25\r\n"
    (tmp_path / "a.csv").write_bytes(text.encode("utf-16"))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("a.csv", "a.csv.gz"):
        path = tmp_path / name
        assert found(path, describe_file(path)).to_numpy().tolist() == [["é", "1.5"], ["b", "2.25"]]


def moves_of(table: object, rng: np.random.Generator) -> Moves:
    """A third of each combination gets one value, half of it another, the rest is left out."""
    tally = table.tally(["a", "b"])  # type: ignore[attr-defined]
    rows = len(tally.sizes)
    of = rng.permutation(np.repeat(np.arange(rows), 2))
    records = np.where(rng.random(2 * rows) < 0.5, tally.sizes[of] // 3, tally.sizes[of] // 2)
    released = pd.DataFrame({"a": [f"move {number}" for number in range(2 * rows)]})
    return Moves(tally, released, of, records, ("id", "a"))


def test_values_are_drawn_for_as_many_records_as_there_are_to_be(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("xyz"), 900), "b": rng.choice(["1", None], 900)})
    frame["id"] = [str(number) for number in range(900)]
    frame.to_csv(tmp_path / "a.csv", index=False)
    with opened(tmp_path / "a.csv", CSV) as table:
        moves = moves_of(table, rng)
        recoded = table.recoded(moves)
        drawn, again = (recoded.frame(recoded.columns) for _ in range(2))
    assert drawn.equals(again)
    counted = drawn["a"].value_counts().reindex(moves.released["a"], fill_value=0)
    assert counted.to_list() == moves.records.tolist()
    places = drawn["id"].astype(int)
    assert places.is_monotonic_increasing
    raw = moves.raw.combinations.iloc[moves.of[drawn["a"].str.removeprefix("move ").astype(int)]]
    assert raw["a"].astype(str).to_list() == frame["a"].iloc[places].to_list()


def test_records_are_recoded_in_their_order_by_all_their_values(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table(VALUES), path)
    with opened(path, PARQUET) as table:
        tally = table.tally(["x", "s", "X"])
        missing = tally["s"].isna().to_numpy() | tally["x"].isna().to_numpy()
        kept = np.flatnonzero(~missing)
        labels = tally["s"].iloc[kept].astype(object).map(lambda text: f"<{text}>")
        moves = Moves(tally, labels.to_frame(), kept, tally.sizes[kept], ("X", "s", "x"))
        recoded = table.recoded(moves)
        assert recoded.frame(recoded.columns)["s"].to_list() == [
            "<é>",
            "<e\u0301>",
            "<a\nb>",
            '<q">',
        ]
        assert [repr(each) for each in recoded.frame(["x"])["x"][:2]] == ["0.0", "0.0"]
        recoded.write(tmp_path / "parts", PARQUET, 3)
    parts = sorted((tmp_path / "parts").iterdir())
    assert [part.name for part in parts] == [f"part-{number}.parquet" for number in range(3)]
    assert [len(parquet.read_table(part)) for part in parts] == [1, 1, 2]


TYPED = {
    "HUGEINT": "1",
    "UUID": "00000000-0000-0000-0000-000000000001",
    "BIT": "0101",
    "TIMETZ": "10:00:00+02",
    "INTERVAL": "1 month 2 days",
    "ENUM('z', 'a')": "a",
    "UNION(a VARCHAR)": "1",
    "TIMESTAMP_NS": "2020-01-01 00:00:00.123456789",
    "TIME_NS": "10:00:00.123456789",
    "DATE": "0044-03-15 (BC)",
}
"""Types of DuckDB that Python, Arrow or Parquet do not have as they are, and a value of each."""


def in_database(path: Path, **columns: str) -> Path:
    """A database with a table of two records: expressions, and missing values."""
    shown = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    missing = ", ".join("NULL" for _ in columns)
    with duckdb.connect(str(path)) as database:
        database.execute(f"CREATE TABLE t AS SELECT {shown} UNION ALL SELECT {missing}").fetchall()
    return path


def test_values_of_any_type_are_found_again(tmp_path: Path) -> None:
    values = {f"c{n}": f"'{each}'::{kind}" for n, (kind, each) in enumerate(TYPED.items())}
    with opened(in_database(tmp_path / "a.duckdb", **values), PARQUET) as table:
        for name in values:
            raw = table.tally([name])
            labels = pd.DataFrame({name: ["value" if each else "-" for each in raw[name].notna()]})
            moves = Moves(raw, labels, np.arange(2), raw.sizes, (name,))
            assert table.recoded(moves).frame([name])[name].to_list() == ["value", "-"]


def test_types_that_cannot_be_held_are_refused_by_the_name_of_the_column(tmp_path: Path) -> None:
    large = in_database(tmp_path / "large.duckdb", big="170141183460469231731687303715884105727")
    with pytest.raises(InputError, match="'big' has whole numbers of more than 38 digits"):
        found(large, PARQUET)
    with opened(in_database(tmp_path / "list.duckdb", several="[1]"), PARQUET) as table:
        assert len(table.frame(["several"])) == 2
        with pytest.raises(InputError, match="'several' holds values that cannot be told apart"):
            table.tally(["several"])
    column = pa.array([Decimal("1.5")], pa.decimal256(50, 2))
    parquet.write_table(pa.table({"long": column}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="'long' has decimals of more than 38 digits"):
        found(tmp_path / "a.parquet", PARQUET)


LONG = 400_000
"""Records of a table that DuckDB reads in several threads."""


def laid(kind: str, path: Path) -> pd.DataFrame:
    """Lay a long table of some kind; its records."""
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "id": np.arange(LONG),
            "age": rng.integers(0, 90, LONG),
            "sex": pa.array(rng.choice(["f", "m", None], LONG)),
            "share": rng.choice([0.0, -0.0, np.nan, 1.5], LONG),
        }
    )
    if kind == "database":
        with duckdb.connect(str(path)) as database:
            database.register("given", table)
            database.execute("CREATE TABLE t AS FROM given").fetchall()
        return table.to_pandas()
    path.mkdir()
    ends = [0, 9, 150_000, 150_001, LONG] if kind == "folder" else [0, LONG]
    for number, (begin, end) in enumerate(pairwise(ends)):
        # Small groups: DuckDB trusts the bounds that are known of each.
        part = path / f"{number}.parquet"
        parquet.write_table(table[begin:end], part, row_group_size=50_000)
    return table.to_pandas()


@pytest.mark.parametrize(("kind", "listed"), [("file", 1000), ("folder", 1), ("database", 1000)])
def test_long_tables_keep_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, listed: int
) -> None:
    monkeypatch.setattr("anonymizer.tables.relations.embedded.moving.LISTED", listed)
    path = tmp_path / ("table.duckdb" if kind == "database" else "table")
    frame = laid(kind, path)
    with opened(path, PARQUET, scratch=tmp_path) as table:
        raw = table.tally(["age", "sex", "share"])
        assert len(raw.index) == 90 * 3 * 3
        assert raw["share"].cat.categories.to_list() == [0.0, 1.5]  # NaN is missing
        kept = np.flatnonzero((raw["age"] != 7).to_numpy())
        decades = (raw["age"].astype(int) // 10 * 10).iloc[kept]
        sexes = raw["sex"].astype(object).fillna("unknown").iloc[kept]
        released = pd.DataFrame({"age": decades, "sex": sexes.where(decades > 20, "*")})
        moves = Moves(raw, released, kept, raw.sizes[kept], ("id", "age", "sex", "share"))
        table.recoded(moves).write(tmp_path / "out.parquet", PARQUET)
    found = pd.read_parquet(tmp_path / "out.parquet")
    left = frame[frame["age"] != 7].reset_index(drop=True)
    assert found["id"].equals(left["id"])
    assert found["age"].equals(left["age"] // 10 * 10)
    assert (
        found["sex"].to_list()
        == left["sex"].fillna("unknown").where(left["age"] >= 30, "*").to_list()
    )
    assert found["share"].equals(left["share"])


def test_records_that_were_not_counted_never_get_through(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\nx\ny\n")
    with opened(path, CSV) as table:
        raw = table.tally(["a"])
        counted = Tally(raw.combinations.iloc[:1], raw.sizes[:1])
        released = pd.DataFrame({"a": ["*"]})
        moves = Moves(counted, released, np.zeros(1, int), counted.sizes, ("a",))
        assert table.recoded(moves).frame(["a"])["a"].to_list() == ["*"]


NAMES = ["n", "count", "rowid", '"', "a b", "filename", "file_row_number", "c0", "h", "t", "*"]


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_columns_may_have_any_name(tmp_path: Path, kind: str) -> None:
    # Names in a database of DuckDB are equal whatever their case.
    names = [*NAMES, "anonymizer records", *(["N", "Age", "age"] if kind != "duckdb" else [])]
    path = tmp_path / f"a.{kind}"
    columns = [pa.array([f"{name}1", f"{name}2"]) for name in names]
    table = pa.Table.from_arrays(columns, names=names)
    if kind == "duckdb":
        with duckdb.connect(str(path)) as database:
            database.register("given", table)
            database.execute("CREATE TABLE t AS FROM given").fetchall()
    elif kind == "csv":
        write_table(table.to_pandas(), path, CSV)
    else:
        parquet.write_table(table, path)
    with opened(path, describe_file(path)) as stored:
        raw = stored.tally(names)
        released = raw.combinations.map(lambda text: f"<{text}>")
        moves = Moves(raw, released, np.arange(2), raw.sizes, tuple(reversed(names)))
        for form in (CSV, PARQUET):
            out = tmp_path / f"out{form.suffix}"
            stored.recoded(moves).write(out, form)
            found = read_table(out, form)
            assert list(found.columns) == names[::-1]
            assert found.iloc[1].to_list() == [f"<{name}2>" for name in reversed(names)]


def test_folders_and_patterns_are_one_table(tmp_path: Path) -> None:
    for number, year in enumerate(("2020", "__HIVE_DEFAULT_PARTITION__")):
        folder = tmp_path / "p" / f"year={year}" / "kind=a%20b"
        folder.mkdir(parents=True)
        parquet.write_table(pa.table({"n": [number]}), folder / "part.parquet")
    for path in (tmp_path / "p", tmp_path / "p" / "*" / "*" / "*.parquet"):
        frame = found(path, describe_file(path))
        assert list(frame.columns) == ["n", "kind", "year"]
        assert frame["kind"].to_list() == ["a b", "a b"]
        assert frame["year"].fillna("?").to_list() == ["2020", "?"]
    one = tmp_path / "k=5" / "p" / "year=2020"
    one.mkdir(parents=True)
    parquet.write_table(pa.table({"n": [1]}), one / "part.parquet")
    for path, columns in {
        one.parent: ["n", "year"],
        one: ["n"],
        one / "part.parquet": ["n"],
    }.items():
        assert list(found(path, describe_file(path)).columns) == columns
    (tmp_path / "c").mkdir()
    for number in range(2):
        (tmp_path / "c" / f"{number}.csv").write_text(f"a,b\n{number},x\n")
    assert found(tmp_path / "c", CSV)["a"].to_list() == ["0", "1"]
    (tmp_path / "c" / "2.csv").write_text("a,c\n1,2\n")
    with pytest.raises(InputError, match=r"2\.csv: its columns are not those of 0\.csv"):
        found(tmp_path / "c" / "*.csv", CSV)
    with pytest.raises(InputError, match=r"no file has a name such as .*\*\.tsv; correct the patt"):
        describe_file(tmp_path / "c" / "*.tsv")
    parquet.write_table(pa.table({"a": ["1"]}), tmp_path / "c" / "3.parquet")
    with pytest.raises(InputError, match=r"c: 3\.parquet is Parquet and 0\.csv is not; remove one"):
        describe_file(tmp_path / "c")


def test_names_of_folders_that_a_table_lies_in_are_no_columns(tmp_path: Path) -> None:
    for year in (1, 2):
        folder = tmp_path / "c0=DE" / "p" / f"year={year}"
        folder.mkdir(parents=True)
        parquet.write_table(pa.table({"n": [year]}), folder / "part.parquet")
    (tmp_path / "c0=DE" / "a.csv").write_text("a,b\n1,2\n")
    home = tmp_path / "c0=DE"
    for path, names in {
        home / "p": ["n", "year"],
        home / "p" / "*" / "*.parquet": ["n", "year"],
        home / "p" / "year=1": ["n"],
        home / "p" / "year=1" / "*.parquet": ["n"],
        home / "p" / "year=1" / "part.parquet": ["n"],
        home / "a.csv": ["a", "b"],
    }.items():
        frame = found(path, describe_file(path))
        assert list(frame.columns) == names
        assert frame.iloc[0].map(str).to_list() == ["1", *map(str, frame.iloc[0, 1:])]


def test_a_name_that_reads_as_a_pattern_is_that_of_its_file(tmp_path: Path) -> None:
    for name in ("a[1]", "a1", "b*", "b2", "c?[[]", "c3"):
        parquet.write_table(pa.table({"n": [name]}), tmp_path / f"{name}.parquet")
        (tmp_path / f"{name}.csv").write_text(f"n,m\n{name},\n")
        for path in (tmp_path / f"{name}.parquet", tmp_path / f"{name}.csv"):
            assert found(path, describe_file(path))["n"].to_list() == [name]
    parquet.write_table(pa.table({"n": [1]}), tmp_path / "d\\[1].parquet")
    with pytest.raises(InputError, match=r"a backslash and one of \* \? \[; rename it"):
        found(tmp_path / "d\\[1].parquet", PARQUET)


def test_tables_of_databases(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        database.execute("CREATE TABLE people AS SELECT 1::HUGEINT AS a, 'é' AS b")
        database.execute("CREATE VIEW more AS SELECT 2 AS a")
    held = sqlite3.connect(tmp_path / "b.db")
    held.execute("CREATE TABLE people (a, b, c)")
    held.executemany("INSERT INTO people VALUES (?, ?, ?)", [(1, 1.5, "x"), (None, 2, 3)])
    held.commit()
    held.close()
    path = tmp_path / "a.duckdb"
    assert found(path, describe_file(path), table="people").to_numpy().tolist() == [
        [Decimal(1), "é"]
    ]
    frame = found(tmp_path / "b.db", describe_file(tmp_path / "b.db"))
    assert frame.astype(object).map(str).to_numpy().tolist() == [
        ["1", "1.5", "x"],
        ["<NA>", "2.0", "3"],
    ]
    with pytest.raises(InputError, match="has several tables: 'more', 'people'; set table in"):
        found(path, PARQUET)
    with pytest.raises(InputError, match="no table 'peple', only 'more', 'people'; did you mean"):
        found(path, PARQUET, table="peple")
    with pytest.raises(InputError, match="is read by DuckDB's extension postgres, which is not"):
        found(Path("postgresql://me:secret@host/census"), PARQUET, table="people")
    (tmp_path / "c.duckdb").write_text("none")
    with pytest.raises(InputError, match="it is no database that can be opened"):
        found(tmp_path / "c.duckdb", PARQUET)


def test_what_is_no_database_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "d.duckdb").mkdir()
    (tmp_path / "e.sqlite").write_bytes(b"SQLite format 3\0 and no more")
    for name, message in {
        "nope.duckdb": r"there is no database .*nope\.duckdb; correct its path",
        "nope.sqlite": r"there is no database .*nope\.sqlite; correct its path",
        "d.duckdb": r"cannot read .*d\.duckdb: Is a directory; give a file",
        "e.sqlite": r"cannot read .*e\.sqlite: it is damaged, cut short, or locked",
    }.items():
        with pytest.raises(InputError, match=message):
            found(tmp_path / name, PARQUET, table="people")


def test_a_locked_database_is_refused_and_one_with_a_log_is_read_with_it(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.duckdb", tmp_path / "b.duckdb"
    program = f"""
import duckdb
database = duckdb.connect({str(path)!r})
database.execute("CREATE TABLE people AS SELECT 1 AS a")
print("open", flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(InputError, match=r"a\.duckdb: another program has it open; close it"):
            found(path, PARQUET)
        shutil.copy(path, copy)  # as it lies there when that program is killed
        shutil.copy(f"{path}.wal", f"{copy}.wal")
        other.communicate("\n")
    before = copy.read_bytes()
    assert found(copy, PARQUET).to_numpy().tolist() == [[1]]
    assert copy.read_bytes() == before


def test_folders_that_name_a_column_of_the_files_are_refused(tmp_path: Path) -> None:
    for year in (2020, 2021):
        folder = tmp_path / f"year={year}" / "X=1"
        folder.mkdir(parents=True)
        parquet.write_table(pa.table({"X": ["1"]}), folder / "a.parquet")
    with pytest.raises(InputError, match="its folders name column 'X', which the file has, too"):
        found(tmp_path, PARQUET)


def test_who_watches_learns_how_far_a_query_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "OFTEN", 0.005)
    records, heard = 3_000_000, list[tuple[str, int, int | None]]()
    numbers = pa.table({"a": pa.array(np.random.default_rng(1).permutation(records))})
    parquet.write_table(numbers, tmp_path / "a.parquet", row_group_size=100_000)

    def watch(doing: str, done: int, of: int | None) -> None:
        heard.append((doing, done, of))

    with opened(tmp_path / "a.parquet", PARQUET, watch=watch) as stored:
        assert stored.multiplicities(["a"])[0].tolist() == [1]
    assert {doing for doing, _, _ in heard} == {"counting the table"}
    shares = [done for _, done, _ in heard]
    assert shares == sorted(shares)
    assert len({*shares}) > 3
    assert shares[-1] <= 100


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table(VALUES), path)
    with opened(path, PARQUET) as table:
        assert table.tally(["X"]).sizes.sum() == engine.records(table.tally(["s"])) == 6
        os.utime(path, ns=(0, 0))
        with pytest.raises(InputError, match="it was changed while it was read"):
            table.tally(["X"])


def test_memory_is_bounded_and_left_behind_is_nothing(tmp_path: Path) -> None:
    parquet.write_table(pa.table(VALUES), tmp_path / "a.parquet")
    with opened(tmp_path / "a.parquet", PARQUET, scratch=tmp_path, memory="1GB") as table:
        limit = table.connection.database.sql("SELECT current_setting('memory_limit')").fetchall()
        assert limit == [("953.6 MiB",)]
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
    with pytest.raises(InputError, match='must be bytes with their unit, such as "4GB"'):
        found(tmp_path / "a.parquet", PARQUET, memory="much")


def test_a_full_disk_is_named_wherever_it_is_met(tmp_path: Path) -> None:
    parquet.write_table(pa.table(VALUES), tmp_path / "a.parquet")
    with (
        pytest.raises(InputError, match=f"no space left on the disk of {tmp_path}; make room"),
        opened(tmp_path / "a.parquet", PARQUET, scratch=tmp_path),
        connection.worded("the table"),
    ):
        raise duckdb.IOException("Could not write file: No space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
