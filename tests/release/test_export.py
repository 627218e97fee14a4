"""What is exported gives the very same release: SQL in DuckDB, mapping files, ARX hierarchies."""

import csv
import json
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from io import StringIO
from pathlib import Path

import duckdb
import pandas as pd
import pytest
import sqlglot
from engines import spark_session
from hypothesis import example, given
from hypothesis import strategies as st
from postgres import Server, served
from releases import KEPT, Kind, manifest_in, release_of, rewritten, searched
from sqlglot import exp

from anonymizer import Hierarchy, InputError, verify_release
from anonymizer.cli import main
from anonymizer.hierarchy.label import literal
from anonymizer.hierarchy.label import name as quoted
from anonymizer.hierarchy.partition import digest_of_values
from anonymizer.release.apply import ApplyOptions, publish_applied
from anonymizer.release.dialects import DIALECTS, STANDARD, Dialect, Translated
from anonymizer.release.export import source_of
from anonymizer.release.publish import publish
from anonymizer.release.sql import select_of, sql_of
from anonymizer.release.study import Study
from anonymizer.risk.audit import audit_files

SAME = (
    "suppressed and kept",
    "suppressed and removed",
    "kept values",
    "masked codes",
    "codes of one length",
    "boxes",
    "missing as a category, cut",
    "missing and dropped",
)
HOSTILE = {
    'a"; DROP TABLE people; --': ["39", "39.0", "-0", "0", "0.5", "38.75", "1e1", "-0.0"],
    "anonymizer text 0": ["o'brien", "x\ny", "-- é", "日本;", "o'brien", "日本;", "-- é", "x\ny"],
}


@pytest.fixture
def command(capsys):
    """Run a command; its exit code and what it prints."""

    def run(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            main([*map(str, arguments)])
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out + err

    return run


def rows(table: pd.DataFrame) -> Counter:
    """The rows of a table as texts, without an order."""
    return Counter(
        tuple("" if pd.isna(value) else str(value) for value in row)
        for row in table.itertuples(index=False, name=None)
    )


def read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def raw_of(release: Path) -> pd.DataFrame:
    return read(next(release.parent.glob("people.*")))


def run(release: Path, raw: pd.DataFrame, dialect: Dialect = STANDARD) -> tuple[pd.DataFrame, list]:
    """The table that the SQL of a release makes of a raw one, and what its recount finds."""
    connection = duckdb.connect(config={"threads": 1})
    connection.register("people", raw)
    text = sql_of(source_of(release), "people", "released", dialect)
    made, *recount = text.rsplit(";\n\n", 1)
    connection.execute(made)
    broken = connection.execute(recount[0]).fetchall()
    return connection.execute("SELECT * FROM released").df(), broken


def require_same(release: Path, dialect: Dialect = STANDARD) -> None:
    found, broken = run(release, raw_of(release), dialect)
    released = read(next(release.glob("released.*")))
    assert list(found.columns) == list(released.columns)
    assert rows(found) == rows(released)
    assert not broken


@pytest.mark.parametrize("name", SAME)
def test_the_very_same_release(published, name: str) -> None:
    require_same(published(name))


@pytest.mark.parametrize("method", ["full-domain", "boxes", "variable-range"])
@pytest.mark.parametrize("exact", ["", ", exact = true"], ids=["ranges", "exact"])
def test_open_ranges_are_recoded_by_sql_and_placed_by_an_audit(
    tmp_path: Path, method: str, exact: str
) -> None:
    ages = [*map(str, range(1, 90)), "90+", "> 89", "90+", "93", "<1", "0", "<1", "<1"] * 3
    rows = [f"{age},{1925 + 3 * i % 70}-06-01,{'abc'[i % 3]}" for i, age in enumerate(ages)]
    (tmp_path / "people.csv").write_text("\n".join(["age,born,d", *rows, ""]))
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "people.csv"\n[quasi-identifiers]\n'
        f"age = {{ widths = [5, 20], top = 90, bottom = 1{exact} }}\n"
        'born = { calendar = ["year", "decade"], bottom = 1936 }\n'
        '[sensitive]\nattributes = ["d"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 3\n'
        f'[recoding]\nmethod = "{method}"\n'
    )
    release = tmp_path / "out"
    publish(Study(tmp_path / "study.toml"), release)
    require_same(release)
    assert verify_release(release).satisfied
    assert audit_files([release], [tmp_path / "people.csv"]).holds


def hostile(directory: Path) -> Path:
    """A release whose names and values are SQL, numbers of several spellings, blanks, gaps."""
    names = [*HOSTILE]
    table = pd.DataFrame(HOSTILE).loc[lambda t: t.index.repeat(6)].reset_index(drop=True)
    table["class"] = [["  flu", "cold'", "?"][i % 3] for i in table.index]
    table["anonymizer column 0"] = [f"{{{{ {i % 4} }}}}" for i in table.index]
    table.to_csv(directory / "people.csv", index=False)
    one, two = (json.dumps(name, ensure_ascii=False) for name in names)
    (directory / "study.toml").write_text(
        '[data]\npath = "people.csv"\nmissing = "category"\nmissing-values = ["?"]\n'
        f"[quasi-identifiers]\n{one} = {{ widths = [20, 40] }}\n"
        f'{two} = {{ keep = [["o\'brien", "日本;"]], other = "a\'; -- rest" }}\n'
        '[sensitive]\nattributes = ["class"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
        f'[recoding]\nmethod = "fixed"\nlevels = {{ {one} = 1, {two} = 1 }}\n',
        encoding="utf-8",
    )
    publish(Study(directory / "study.toml"), directory / "out")
    return directory / "out"


def test_hostile_names_and_values_run(tmp_path: Path) -> None:
    release = hostile(tmp_path)
    assert set(read(release / "released.csv").iloc[:, 1]) == {"o'brien", "日本;", "a'; -- rest"}
    require_same(release)


def small(directory: Path, table: dict, quasi: str, recoding: str) -> Path:
    """A release of a small table whose classes have four records or more."""
    pd.DataFrame(table).to_csv(directory / "people.csv", index=False)
    (directory / "study.toml").write_text(
        f'[data]\npath = "people.csv"\n[quasi-identifiers]\n{quasi}\n[sensitive]\n'
        'attributes = ["ill"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 4\n' + recoding
    )
    publish(Study(directory / "study.toml"), directory / "out")
    return directory / "out"


@pytest.mark.parametrize("zone", ["", "Z", "+00", "-0000", "+00:00"])
def test_dates_run(tmp_path: Path, zone: str) -> None:
    days = [
        "2024-01-03",
        "2024-01-30",
        "2024-02-01 23:59",
        "2025-02-28",
        "2025-02-01",
        "2024-02-02",
    ]
    days[2] += zone
    table = {"born": days * 4, "ill": ["a", "b", "c"] * 8}
    fixed = '[recoding]\nmethod = "fixed"\nlevels = { born = 1 }\n'
    release = small(tmp_path, table, 'born = { calendar = ["month", "year"] }', fixed)
    assert set(read(release / "released.csv")["born"]) == {"2024-01", "2024-02", "2025-02"}
    require_same(release)


MERGED = '[search]\nseed = 3\ntime-limit = 0.2\n[recoding]\nmethod = "merged-cells"\n'


@pytest.fixture
def unverified(monkeypatch) -> None:
    """Manifests that were tampered with come as far as what writes files: a second defence."""
    monkeypatch.setattr("anonymizer.release.export.require_followable", lambda *_: None)


@pytest.mark.parametrize("level", [0, 1])
def test_large_numbers_run(tmp_path: Path, level: int) -> None:
    """Floats from 10^16 on, of which a study lists one as it is written."""
    table = pd.DataFrame({"size": [3.0, 1e16, 2.5e18, 1e37] * 4, "class": ["a", "b"] * 8})
    table.to_parquet(tmp_path / "people.parquet")
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "people.parquet"\nmissing = "drop"\n'
        '[quasi-identifiers]\nsize = { keep = [["1e+16"]] }\n[sensitive]\nattributes = ["class"]\n'
        '[identifiers]\nattributes = []\n[[privacy]]\nmodel = "k-anonymity"\nk = 4\n'
        f'[recoding]\nmethod = "fixed"\nlevels = {{ size = {level} }}\n'
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    assert verify_release(tmp_path / "out", Study(tmp_path / "study.toml")).satisfied
    assert audit_files([tmp_path / "out"], [tmp_path / "people.parquet"]).satisfied
    require_same(tmp_path / "out")
    shown = {str(value) for value in read(tmp_path / "out" / "released.parquet")["size"]}
    assert shown == [{"3.0", "1e+16", "2.5e+18", "1e+37"}, {"10000000000000000", "other"}][level]


@pytest.mark.usefixtures("unverified")
def test_merged_cells_run(tmp_path: Path) -> None:
    jobs = ["nurse", "vet", "smith", "mason"]
    table = {"age": [20, 21, 40, 41] * 3, "job": jobs * 3, "ill": ["a", "b", "c"] * 4}
    release = small(tmp_path, table, 'age = { widths = [10] }\njob = "suppress"', MERGED)
    assert len(manifest_in(release)["regions"]) == 2
    require_same(release)
    manifest = manifest_in(release)
    manifest["regions"][1] = manifest["regions"][0]
    rewritten(release, manifest)
    with pytest.raises(InputError, match="only the order of the records decides"):
        sql_of(source_of(release), "people", "released")


def test_what_is_drawn_is_refused(published) -> None:
    with pytest.raises(InputError, match="drawn at random"):
        source_of(published("differential privacy"))


def test_several_spellings_of_a_value_are_refused(published) -> None:
    with pytest.raises(InputError, match="'disease' of the raw table spells values in several"):
        select_of(source_of(published("values spelled in several ways")), "people")


def test_values_that_are_written_otherwise_do_not_pass_in_silence(published) -> None:
    release = published("kept values")
    raw = raw_of(release)
    nurses = (raw.job == "nurse").sum()
    raw.loc[raw.index[raw.job == "nurse"][0], "job"] = "nurse\t"
    found = {row[1]: row[-1] for row in run(release, raw)[1]}
    assert found == {
        "nurse": nurses - 1,
        "all others": (~raw.job.isin(["nurse", "vet", "smith"])).sum(),
    }
    assert [row[-1] for row in run(release, raw_of(release)[1:])[1]][-1] == len(raw) - 1


@pytest.mark.usefixtures("unverified")
def test_a_manifest_writes_no_sql(tmp_path: Path) -> None:
    release = hostile(tmp_path)
    manifest = manifest_in(release)
    manifest["privacy"][0]["parameters"]["k"] = "2; DROP TABLE people"
    rewritten(release, manifest)
    with pytest.raises(InputError, match="k-anonymity has no k"):
        sql_of(source_of(release), "people", "released")


def test_no_release_is_a_sentence(command, tmp_path: Path) -> None:
    code, shown = command("export", tmp_path / "none", "--sql", "-o", tmp_path / "a.sql")
    assert (code, f"there is no {tmp_path / 'none'}; name the directory" in shown) == (2, True)


def test_names_are_quoted(published) -> None:
    text = sql_of(source_of(published("kept values")), 'a"; DROP TABLE b; --', "released")
    assert '"a""; DROP TABLE b; --" AS t' in text


def test_names_that_differ_by_case_alone_are_refused(tmp_path: Path) -> None:
    table = {"age": [20, 40] * 8, "Age": [1] * 16, "ill": ["a", "b"] * 8}
    release = small(tmp_path, table, "age = { widths = [10] }", "")
    with pytest.raises(InputError, match="'age' and 'Age' differ by case alone, and many databas"):
        sql_of(source_of(release), "people", "released")


def in_sqlite(release: Path, raw: pd.DataFrame) -> tuple[pd.DataFrame, list]:
    """As ``run``, in SQLite."""
    database = sqlite3.connect(":memory:")
    raw.to_sql("people", database, index=False)
    text = sql_of(source_of(release), "people", "released", DIALECTS["sqlite"])
    made, recount = text.rsplit(";\n\n", 1)
    database.executescript(made)
    broken = database.execute(recount).fetchall()
    return pd.read_sql("SELECT * FROM released", database), broken


def in_postgres(server: Server, release: Path, raw: pd.DataFrame) -> tuple[pd.DataFrame, list]:
    """As ``run``, in PostgreSQL; the raw table has texts."""
    columns = ", ".join(f"{quoted(each)} TEXT" for each in raw.columns)
    data = raw.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    text = sql_of(source_of(release), "people", "released", DIALECTS["postgresql"])
    made, recount = text.rsplit(";\n\n", 1)
    (server.directory / "people.csv").write_text(data)
    shown = server.psql(
        f"DROP TABLE IF EXISTS people, released;\nCREATE TABLE people ({columns});\n"
        f"\\copy people FROM '{server.directory / 'people.csv'}' (FORMAT csv, HEADER)\n"
        f"{made};\nTABLE released;\n\\echo ---\n{recount}\n"
    )
    table, broken = shown.split("---\n")
    found = pd.read_csv(StringIO(table), dtype=str, keep_default_na=False)
    return found, broken.splitlines()[1:]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as found:
        yield found


@pytest.mark.parametrize("name", SAME)
def test_the_very_same_release_in_sqlite(published, name: str) -> None:
    release = published(name)
    found, broken = in_sqlite(release, raw_of(release))
    assert (rows(found), broken) == (rows(read(next(release.glob("released.*")))), [])


@pytest.mark.parametrize("name", SAME)
def test_the_very_same_release_in_postgresql(published, server: Server, name: str) -> None:
    release = published(name)
    raw = raw_of(release)
    if (release.parent / "people.csv").exists():
        found, broken = in_postgres(server, release, raw)
        assert (rows(found), broken) == (rows(read(release / "released.csv")), [])


def test_hostile_names_and_values_run_in_sqlite_and_postgresql(
    tmp_path: Path, server: Server
) -> None:
    release = hostile(tmp_path)
    raw, released = raw_of(release), rows(read(release / "released.csv"))
    assert rows(in_postgres(server, release, raw)[0]) == released
    found, broken = in_sqlite(release, raw)
    # An exponent is in no class of SQLite, and the last query says so.
    assert rows(found) < released
    assert (len(found), broken[-1][-1]) == (len(raw) - 6, len(raw) - 6)


TRANSLATED = {name: each for name, each in DIALECTS.items() if isinstance(each, Translated)}


@pytest.mark.parametrize("name", SAME)
def test_what_is_translated_means_the_same(published, name: str) -> None:
    """What is changed for every dialect, written for DuckDB, and run there."""
    require_same(published(name), Translated("DuckDB", to="duckdb"))


def test_hostile_names_and_values_mean_the_same_translated(tmp_path: Path) -> None:
    require_same(hostile(tmp_path), Translated("DuckDB", to="duckdb"))


def in_spark(release: Path) -> tuple[pd.DataFrame, list]:
    """As ``run``, in Spark; the raw table has texts."""
    text = sql_of(source_of(release), "people", "released", DIALECTS["spark"])
    made, recount = text.rsplit(";\n\n", 1)
    session, raw = spark_session(), raw_of(release)
    texts = [f"`{each.replace('`', '``')}` STRING" for each in raw.columns]
    session.createDataFrame(raw.to_numpy().tolist(), ", ".join(texts)).createTempView("people")
    try:
        made = re.sub("^.*CREATE TABLE `released` AS", "", made, flags=re.DOTALL)
        session.sql(made).createOrReplaceTempView("released")
        broken = session.sql(recount.rstrip().rstrip(";")).collect()
        found = session.table("released")
        return pd.DataFrame(found.collect(), columns=found.columns), broken
    finally:
        session.catalog.dropTempView("people")


@pytest.mark.long  # what is changed for every dialect runs in DuckDB, above
@pytest.mark.parametrize("name", [*SAME, "hostile"])
def test_the_very_same_release_in_spark(published, tmp_path: Path, name: str) -> None:
    release = hostile(tmp_path) if name == "hostile" else published(name)
    if (release.parent / "people.csv").exists():
        found, broken = in_spark(release)
        assert (rows(found), broken) == (rows(read(release / "released.csv")), [])


@pytest.mark.parametrize(
    ("name", "text"),
    [("spark", "G ${env:HOME}"), ("sqlserver", "$(USER)"), ("sqlserver", "a\\\nb")],
)
def test_what_a_database_would_replace_in_a_text_is_refused(name: str, text: str) -> None:
    with pytest.raises(InputError, match=r"which .* replaces; rename it, choose another --dialect"):
        DIALECTS[name].spoken(f"SELECT {literal(text)} AS a")


def test_a_text_that_ends_what_a_template_takes_as_it_stands_is_refused(tmp_path: Path) -> None:
    table = {"q": ["{% endraw %}{{ x }}", "b"] * 5, "ill": ["x", "y"] * 5}
    fixed = '[recoding]\nmethod = "fixed"\nlevels = { q = 0 }\n'
    source = source_of(small(tmp_path, table, 'q = "suppress"', fixed))
    with pytest.raises(InputError, match="'endraw', which ends"):
        select_of(source, "people")
    assert "endraw" in sql_of(source, "people", "released")


def test_names_and_values_are_the_same_in_each_dialect(tmp_path: Path) -> None:
    """Read again by sqlglot, a statement has the texts and the names that the standard has."""
    source = source_of(hostile(tmp_path))

    def read_again(text: str, dialect: str) -> tuple[set[str], set[str]]:
        tree = sqlglot.parse_one(text, read=dialect)
        texts = [each for each in tree.find_all(exp.Literal) if each.is_string]
        texts += tree.find_all(exp.National)
        return {each.name for each in texts}, {each.name for each in tree.find_all(exp.Column)}

    others, known = read_again(select_of(source, "people"), "duckdb")
    others -= {each for each in others if "[" in each}  # patterns
    assert {"o'brien", "日本;", "a'; -- rest"} <= others
    assert {*HOSTILE} <= known
    for spoken in TRANSLATED.values():
        texts, names = read_again(select_of(source, "people", spoken), spoken.to)
        assert others <= texts
        assert known <= names


@pytest.mark.parametrize("name", TRANSLATED)
def test_an_export_says_whether_it_was_ever_run(published, command, name: str) -> None:
    code, shown = command("export", published("kept values"), "--sql", "--dialect", name)
    assert code == 0
    assert ("never run in" in shown) == (not TRANSLATED[name].tried) == (name != "spark")
    assert "SIMILAR TO" not in shown


def test_texts_are_compared_letter_by_letter_where_a_database_does_not(published) -> None:
    source = source_of(published("kept values"))
    for name, collation in (("mysql", "utf8mb4_0900_bin"), ("sqlserver", "_BIN2")):
        text = select_of(source, "people", DIALECTS[name])
        assert re.search(rf"CAST\(.+ AS (CHAR|NVARCHAR\(MAX\))\) COLLATE \w*{collation}", text)
        assert not re.search(r"AS (CHAR|NVARCHAR\(MAX\))\)(?! COLLATE)", text)


def test_sqlglot_is_an_extra(published, monkeypatch) -> None:
    source = source_of(published("kept values"))
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(InputError, match="--dialect for MySQL needs sqlglot: in a checkout"):
        select_of(source, "people", DIALECTS["mysql"])
    assert select_of(source, "people")


@pytest.mark.parametrize("zone", ["", "Z", "+00", "-0000", "+00:00"])
def test_dates_run_in_sqlite_and_postgresql(tmp_path: Path, server: Server, zone: str) -> None:
    days = ["2024-01-03", "2024-01-30", "2024-02-01T23:59:59.5", "2025-02-28", "2025-02-01"]
    days[2] += zone
    table = {"born": days * 4, "ill": ["a", "b", "c", "d", "e"] * 4}
    fixed = '[recoding]\nmethod = "fixed"\nlevels = { born = 1 }\n'
    release = small(tmp_path, table, 'born = { calendar = ["month", "year"] }', fixed)
    raw, released = raw_of(release), rows(read(release / "released.csv"))
    for found, broken in (in_sqlite(release, raw), in_postgres(server, release, raw)):
        assert (rows(found), broken) == (released, [])


NUMBER = st.from_regex(
    r"[+-]?([0-9]{1,18}[.]?[0-9]{0,4}|[.][0-9]{1,17})(e[+-]?[0-9]{1,2})?", fullmatch=True
)


@given(NUMBER, st.decimals(-(10**9), 10**9, places=4))
@example("0.30000000000000001", Decimal("0.3"))
@example("9007199254740993", Decimal("9007199254740"))
def test_sqlite_compares_numbers_exactly_or_not_at_all(text: str, bound: Decimal) -> None:
    dialect = DIALECTS["sqlite"]
    key = dialect.key(literal(text))
    place = f"({dialect.number(f'({key})')})"
    database = sqlite3.connect(":memory:")
    at = dialect.column.number_at(bound)
    below, known = database.execute(f"SELECT {place} < {at}, {place} IS NOT NULL").fetchone()
    database.close()
    if known:
        assert bool(below) == (Decimal(text) < bound)
    else:
        assert "e" in text or len(re.sub("[^0-9]", "", text)) > 15 or text.endswith("0")


@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)), st.sampled_from([*"ZT "]))
def test_sqlite_reads_moments_as_python_does(moment: datetime, sign: str) -> None:
    text = moment.isoformat(" " if sign == " " else "T") + ("Z" if sign == "Z" else "")
    database = sqlite3.connect(":memory:")
    (found,) = database.execute(f"SELECT {DIALECTS['sqlite'].date(literal(text))}").fetchone()
    (odd,) = database.execute(
        f"SELECT {DIALECTS['sqlite'].date(literal('2023-02-29' + text[10:]))}"
    ).fetchone()
    database.close()
    assert datetime.fromisoformat(found) == moment
    assert odd is None


def test_what_sqlite_rounds_is_in_no_class(tmp_path: Path) -> None:
    table = {"size": ["1", "2", "12", "13"] * 4, "ill": ["a", "b"] * 8}
    release = small(tmp_path, table, "size = { widths = [10] }", "")
    raw = raw_of(release)
    for odd in ("1.00000000000000001", "1e0", "0x1", "1.2.3", ".", "-", "1e+16", "--1", "+ 1"):
        raw.loc[0, "size"] = odd
        found, broken = in_sqlite(release, raw)
        assert len(found) == 15
        assert broken[-1] == (None, 15)
    typed = raw.assign(size=[0.1 + 0.2, *[12.0] * 15])
    found, broken = in_sqlite(release, typed)
    assert len(found) == 15
    (tmp_path / "large").mkdir()
    table["size"] = ["1", "1234567890123459"] * 8
    rule = "size = { cuts = [[1234567890123456]] }"
    fixed = '[recoding]\nmethod = "fixed"\nlevels = { size = 1 }\n'
    large = small(tmp_path / "large", table, rule, fixed)
    with pytest.raises(InputError, match="ends at a number of more than 15 digits, which SQLite"):
        sql_of(source_of(large), "people", "released", DIALECTS["sqlite"])


def test_a_new_record_of_boxes_is_where_apply_puts_it_or_nowhere(published, tmp_path) -> None:
    """Two boxes may cover what the table had not: the first of them is that of apply."""
    release = published("boxes")
    raw = raw_of(release)
    new = raw.drop_duplicates("job")[["job"]].merge(raw.drop_duplicates("age")[["age"]], "cross")
    new = new.assign(name="Nemo", disease="flu", income="low", note="n")[list(raw.columns)]
    table = pd.concat([raw, *[new] * 9], ignore_index=True)
    table.to_csv(tmp_path / "more.csv", index=False)
    wishes = ApplyOptions(unseen="suppress", suppression=0.9)
    publish_applied(release, tmp_path / "more.csv", tmp_path / "more", wishes)
    applied = read(tmp_path / "more" / "released.csv")
    placed = rows(applied[(applied[["age", "job"]] != "*").any(axis=1)])
    for found, broken in (run(release, table), in_sqlite(release, table)):
        assert rows(found[(found[["age", "job"]] != "*").any(axis=1)]) == placed
        assert broken[-1][-1] == len(found) > len(raw)


def test_long_names_are_refused_where_a_database_cuts_them(tmp_path: Path) -> None:
    name = "n" * 64
    release = small(tmp_path, {name: [1, 2] * 8, "ill": ["a"] * 16}, f'{name} = "suppress"', "")
    with pytest.raises(InputError, match="has a name of more than 63 bytes, which PostgreSQL"):
        sql_of(source_of(release), "people", "released", DIALECTS["postgresql"])


def test_the_query_alone_makes_a_view(published, command, tmp_path: Path) -> None:
    release, file = published("kept values"), tmp_path / "q.sql"
    assert command("export", release, "--sql", "--select", "-o", file)[0] == 0
    connection = duckdb.connect(config={"threads": 1})
    connection.register("people", raw_of(release))
    connection.execute(f"CREATE VIEW v AS {file.read_text()}")
    assert rows(connection.execute("FROM v").df()) == rows(read(release / "released.csv"))
    assert command("export", release, "--sql", "--select") == (0, file.read_text())


def labelled(value: str, mapping: pd.DataFrame) -> str | None:
    """The label of a value by the lines of a mapping file, as a person reads them."""
    others = {*mapping.loc[mapping.rule == "except", "value"]}
    for line in mapping.itertuples(index=False):
        rule, text, begin, end, label = line
        if rule == "mask":
            stem, tail = text[: int(begin) - 1], text[int(end) :]
            hit = len(text) == len(value) and value.startswith(stem) and value.endswith(tail)
        elif rule == "range":
            hit = float(begin or "-inf") <= float(value) < float(end or "inf")
        else:
            hit = {
                "value": value == text,
                "everything": True,
                "missing": value == "",
                "all others": value != "" and value not in others,
                "except": False,
            }[rule]
        if hit:
            return label
    return None


@pytest.mark.parametrize(
    "name", ["suppressed and kept", "kept values", "masked codes", "missing as a category, cut"]
)
def test_mapping_files_say_which_label_a_value_has(published, command, tmp_path, name: str) -> None:
    release = published(name)
    assert command("export", release, "--csv", "-o", tmp_path / "map")[0] == 0
    raw, released = raw_of(release), read(release / "released.csv")
    maps = {name: read(tmp_path / "map" / f"{name}.csv") for name in ("age", "job")}
    values = raw[[*maps]].drop_duplicates()
    labels = [
        tuple(labelled(value, maps[name]) or "?" for name, value in zip(maps, row, strict=True))
        for row in values.itertuples(index=False, name=None)
    ]
    classes = rows(read(tmp_path / "map" / "classes.csv"))
    of = dict(zip(values.itertuples(index=False, name=None), labels, strict=True))
    all_of = [of[row] for row in raw[[*maps]].itertuples(index=False, name=None)]
    known = [row if row in classes else ("*", "*") for row in all_of]
    assert Counter(known) == rows(released[["age", "job"]])


def test_a_release_that_does_not_hold_is_not_exported(command, tmp_path) -> None:
    release = hostile(tmp_path)
    rewritten(release, {**manifest_in(release), "classes": 7})
    code, shown = command("export", release, "--sql", "-o", tmp_path / "a.sql")
    assert (code, (tmp_path / "a.sql").exists()) == (1, False)
    assert "does not hold (1 difference), so that its recoding is not carried elsewhere" in shown


@pytest.mark.usefixtures("unverified")
def test_mapping_files_are_disarmed_and_have_names_that_systems_take(command, tmp_path) -> None:
    release = hostile(tmp_path)
    manifest = manifest_in(release)
    manifest["recoding"]["anonymizer text 0"][0] |= {"label": "=1+2", "group": "o'brien"}
    rewritten(release, manifest)
    assert command("export", release, "--csv", "-o", tmp_path / "map")[0] == 0
    names = sorted(path.name for path in (tmp_path / "map").iterdir())
    assert names == ["classes.csv", "column-1.csv", "column-2.csv", "columns.csv"]
    assert "'=1+2" in {*read(tmp_path / "map" / "column-2.csv")["label"]}
    assert [*read(tmp_path / "map" / "columns.csv")["column"]] == [*HOSTILE]


RANGES = Kind(searched("cut"), jobs=KEPT, policy='[[privacy]]\nmodel = "k-anonymity"\nk = 4\n')


@pytest.mark.parametrize("name", ["ranges", "suppressed and kept", "masked codes"])
def test_hierarchies_of_arx_make_the_same_release(published, command, tmp_path, name: str) -> None:
    release = release_of(RANGES, tmp_path / name) if name == "ranges" else published(name)
    raw = release.parent / "people.csv"
    code, shown = command("export", release, "--arx", "--values", raw, "-o", tmp_path / "arx")
    assert (code, "as confidential" in shown) == (0, True)
    assert (tmp_path / "arx").stat().st_mode & 0o077 == 0
    text = (release.parent / "study.toml").read_text()
    begin, end = text.index("[quasi-identifiers]"), text.index("[sensitive]")
    last = min(text.index(each) for each in ("[search]", "[recoding]") if each in text)
    budget = "\n".join(line for line in text.splitlines() if line.startswith("suppress"))
    (tmp_path / "people.csv").write_bytes(raw.read_bytes())
    (tmp_path / "study.toml").write_text(
        text[:begin]
        + '[quasi-identifiers]\nage = "arx/age.csv"\njob = "arx/job.csv"\n'
        + text[end:last]
        + f'[recoding]\nmethod = "fixed"\nlevels = {{age = 1, job = 1}}\n{budget}\n'
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "again")
    again, released = (read(each / "released.csv") for each in (tmp_path / "again", release))
    assert [*again.columns] == [*released.columns]
    assert sorted(again.to_numpy().tolist()) == sorted(released.to_numpy().tolist())


def test_hierarchies_of_arx_enumerate_whole_numbers(command, tmp_path: Path) -> None:
    release = release_of(
        Kind('[recoding]\nmethod = "fixed"\nlevels = {age = 3, job = 2}\n'), tmp_path
    )
    assert command("export", release, "--arx", "-o", tmp_path / "arx")[0] == 0
    lines = (tmp_path / "arx" / "age.csv").read_text().splitlines()
    assert lines == [f"{age};[{age // 20 * 20}, {age // 20 * 20 + 20});*" for age in range(20, 60)]


def test_no_value_of_a_hierarchy_is_taken_for_a_header(command, tmp_path: Path) -> None:
    values = ["J ob", "nurse", "vet;s", "Values"]
    table = {"job": values * 4, "ill": ["a", "b"] * 8}
    fixed = '[recoding]\nmethod = "fixed"\nlevels = { job = 1 }\n'
    keep = 'job = { keep = [["nurse"]], other = "=others" }'
    release = small(tmp_path, table, keep, fixed)
    raw = tmp_path / "people.csv"
    assert command("export", release, "--arx", "--values", raw, "-o", tmp_path / "arx")[0] == 0
    read_back = Hierarchy.read(tmp_path / "arx" / "job.csv")
    assert {*map(str, read_back.listed)} == {*values}
    assert {*(str(read_back.labels(value)[0]) for value in values)} == {"nurse", "=others"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "name one form of the export: --sql, --csv or --arx"),
        (["--sql", "--csv"], "name one form of the export: --sql, --csv or --arx"),
        (["--csv", "--select"], "--select goes with --sql, not with --csv"),
        (["--sql", "--values", "t.csv"], "--values goes with --arx, not with --sql"),
        (["--sql", "--select", "--into", "x"], "leave out --into"),
        (["--arx"], "does not list the values of column 'age'"),
    ],
)
def test_mistakes_are_sentences(published, command, tmp_path, options, message) -> None:
    code, shown = command("export", published("kept values"), *options, "-o", tmp_path / "out")
    assert code == 2
    assert message in shown
    assert not (tmp_path / "out").exists()


def test_a_directory_is_named(published, command) -> None:
    code, shown = command("export", published("kept values"), "--csv")
    assert (code, "--csv writes a directory: name it, as in --output csv" in shown) == (2, True)


def test_classes_with_groups_of_their_own_have_no_hierarchies(published, command, tmp_path) -> None:
    code, shown = command("export", published("boxes"), "--arx", "-o", tmp_path / "out")
    assert (code, "groups of their own" in shown) == (2, True)


def test_a_directory_is_replaced_whole_and_by_force_alone(published, command, tmp_path) -> None:
    again = ["export", published("kept values"), "--csv", "-o", tmp_path / "map"]
    assert command(*again)[0] == 0
    code, shown = command(*again)
    assert (code, "--force replaces it" in shown) == (2, True)
    assert command(*again, "--force")[0] == 0
    (tmp_path / "map" / "mine.txt").write_text("")
    code, shown = command(*again, "--force")
    assert (code, "holds other files" in shown) == (2, True)


def test_values_that_are_too_many_come_from_the_study(tmp_path: Path) -> None:
    release = release_of(
        Kind(
            '[recoding]\nmethod = "fixed"\nlevels = {age = 4, job = 1}\n',
            policy='[[privacy]]\nmodel = "k-anonymity"\nk = 4\n',
        ),
        tmp_path,
    )
    manifest, full = manifest_in(release), sql_of(source_of(release), "people", "released")
    for group in manifest["recoding"]["job"]:
        values = group.pop("values")
        group |= {"listed": len(values), "sha256": digest_of_values(values)}
    rewritten(release, manifest)
    with pytest.raises(InputError, match="name the study of the release with --study"):
        source_of(release)
    found = sql_of(source_of(release, tmp_path / "study.toml"), "people", "released")
    assert sorted(found) == sorted(full)
