"""Texts are counted by their characters, whatever an engine holds for equal."""

import csv
from collections import Counter

import duckdb
import pyarrow as pa
import pytest
from engines import spark_session

from anonymizer import Anonymizer, FullDomain, KAnonymity
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.tables.relations.frames import relation_of

K = 5
TEXTS = ["smith"] * 30 + ["SMITH"] + ["smíth"] * 2 + ["doe"] * 27
"""A name that three records spell in ways that some collation takes for one."""
ILL = [["flu", "FLU", "cold"][place % 3] for place in range(len(TEXTS))]


def policy(**options):
    return Anonymizer(
        {"q": "suppress", "r": "suppress"},
        "d",
        [KAnonymity(K)],
        recoding=FullDomain(suppression=0.1),
        missing="category",
        **options,
    )


def table_in(connection, collation=""):
    """A table of these texts; what an engine says of it is not looked at."""
    connection.execute(f"CREATE TABLE t (q VARCHAR {collation}, r INTEGER, d VARCHAR {collation})")
    even = [place % 2 for place in range(len(TEXTS))]
    connection.register("rows", pa.table([TEXTS, even, ILL], ["q", "r", "d"]))
    connection.execute("INSERT INTO t FROM rows").fetchall()
    return connection.table("t")


def classes(rows):
    """The sizes of the classes, as a reader who compares characters counts them."""
    return Counter((str(q), str(r)) for q, r, _ in rows)


def require_anonymous(rows):
    found = classes(rows)
    assert sum(found.values()) >= 0.9 * len(TEXTS)
    assert min(found.values()) >= K
    assert "SMITH" not in {q for q, _ in found}


def icu(connection):
    """Whether the extension that knows languages is there; nothing is downloaded for a test."""
    try:
        return bool(connection.execute("LOAD icu"))
    except duckdb.Error:
        return False


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT", "de.NOCASE"])
@pytest.mark.parametrize("session", [False, True])
def test_a_collation_of_duckdb_merges_no_texts(collation, session):
    connection = duckdb.connect()
    if collation.startswith("de") and not icu(connection):
        pytest.skip("the extension icu is not installed")
    if session:
        connection.execute(f"SET default_collation = '{collation}'")
    table = table_in(connection, "" if session else f"COLLATE {quoted(collation)}")
    merged = connection.execute("SELECT q FROM t GROUP BY q").fetchall()
    assert len(merged) < len({*TEXTS})  # what the library must not believe
    assert sorted(relation_of(table).tally(["q"]).sizes) == [1, 2, 27, 30]
    estimator = policy()
    require_anonymous(estimator.fit_transform(table).fetchall())
    assert estimator.release_.privacy[0].worst >= K
    require_anonymous(estimator.transform(table).fetchall())


def quoted(collation):
    return ".".join(f'"{part}"' for part in collation.split("."))


@pytest.mark.slow
def test_a_collation_of_spark_merges_no_texts():
    """Of one table, a column of each collation: that of its own, and the released records."""
    merging = {"q": "UTF8_LCASE", "r": "UNICODE_CI_AI", "s": "UTF8_BINARY_RTRIM"}
    trimmed = [text.replace("SMITH", "smith ") for text in TEXTS]
    plain = spark_session().createDataFrame(pa.table([TEXTS, TEXTS, trimmed, ILL], [*"qrsd"]))
    collated = (f"{name} COLLATE {collation} AS {name}" for name, collation in merging.items())
    table = plain.selectExpr(*collated, "d")
    (merged,) = table.selectExpr(*(f"count(DISTINCT {name})" for name in merging)).collect()
    assert max(merged) < len({*TEXTS})  # what the library must not believe
    for name in merging:
        assert sorted(relation_of(table).tally([name]).sizes) == [1, 2, 27, 30]
    estimator = policy().set_params(quasi_identifiers=dict.fromkeys(merging, "suppress"))
    released = Counter(tuple(row)[:3] for row in estimator.fit_transform(table).collect())
    assert min(released.values()) >= K
    assert not {"SMITH", "smith "} & {text for label in released for text in label}


@pytest.mark.parametrize("output", ["released.csv", "released.parquet"])
def test_a_collation_of_a_database_on_disk_merges_no_texts(tmp_path, output):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        table_in(connection, "COLLATE NOCASE")
    text = STUDY.format(path=tmp_path / "t.duckdb", output=output)
    publish(Study.parsed(text, tmp_path / "study.toml"), tmp_path / "out")
    released = tmp_path / "out" / output
    if output.endswith(".csv"):
        rows = [*csv.reader(released.read_text(encoding="utf-8").splitlines())][1:]
    else:
        rows = duckdb.read_parquet(str(released)).fetchall()
    require_anonymous(rows)


STUDY = """
[data]
path = "{path}"

[quasi-identifiers]
q = "suppress"
r = "suppress"

[sensitive]
attributes = ["d"]

[[privacy]]
model = "k-anonymity"
k = 5

[recoding]
method = "full-domain"
suppression = 0.1

[output]
file = "{output}"
"""
