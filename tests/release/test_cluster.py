"""Tables that Spark or Dask reads, counts, recodes and writes are released as by DuckDB."""

import sys

import pandas as pd
import pytest
from engines import spark_session
from pages import ROOT, blocks

from anonymizer.errors import InputError
from anonymizer.release.apply import Means, publish_applied
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.tables.files import Format
from anonymizer.tables.relations.frames import opened_on

# Dask 2026.8 reads Parquet by an option that pandas 3.1 will not have for ever.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

PARQUET = Format(parquet=True)

STUDY = """
[data]
path = "people"
missing = "category"
{means}
[quasi-identifiers]
age = {{ widths = [10, 50] }}
job = "suppress"
[sensitive]
attributes = "disease"
[[privacy]]
model = "k-anonymity"
k = 3
[recoding]
method = "full-domain"
suppression = 0.2
[output]
{output}
"""
MEANS = ['engine = "dask"', 'engine = "spark"\nmaster = "local[2]"']


def people():
    """Two dozen people, one of them much older; jobs are texts of which some are missing."""
    return pd.DataFrame(
        {
            "age": [20 + 7 * (n % 6) for n in range(23)] + [95],
            "job": [("nurse", None, "Bäcker", "nurse")[n % 4] for n in range(24)],
            "disease": [("flu", "cold")[n % 3 == 0] for n in range(24)],
            "visits": [2**53 + n for n in range(24)],
        }
    )


def laid(directory, means, output="", table=None):
    """A study of people in two files of a folder."""
    directory.mkdir(exist_ok=True)
    folder = directory / "people"
    folder.mkdir()
    table = people() if table is None else table
    table[:10].to_parquet(folder / "a.parquet", index=False)
    table[10:].to_parquet(folder / "b.parquet", index=False)
    path = directory / "study.toml"
    path.write_text(STUDY.format(means=means, output=output), encoding="utf-8")
    return Study(path)


def records(path):
    table = pd.read_parquet(path)
    plain = table.astype(object).where(table.notna(), None)
    return [*table.columns], sorted(repr(tuple(row)) for row in plain.itertuples(index=False))


@pytest.mark.parametrize("means", MEANS)
def test_a_cluster_releases_what_the_embedded_engine_releases(tmp_path, means):
    if "spark" in means:
        spark_session()  # the one that there is is used
    here = laid(tmp_path / "here", "")
    there = laid(tmp_path / "there", means, "parts = 2")
    expected, _ = publish(here, tmp_path / "here" / "out")
    found, manifest = publish(there, tmp_path / "there" / "out")
    assert found.suppressed > 0  # records are left out
    assert (found.recoding, found.suppressed) == (expected.recoding, expected.suppressed)
    released = tmp_path / "there" / "out" / "released.parquet"
    assert [part.name for part in sorted(released.iterdir())] == [
        "part-0.parquet",
        "part-1.parquet",
    ]
    assert [part.file for part in manifest.table.parts] == ["part-0.parquet", "part-1.parquet"]
    assert records(released) == records(tmp_path / "here" / "out" / "released.parquet")
    visits = [pd.read_parquet(part)["visits"].tolist() for part in sorted(released.iterdir())]
    assert manifest.table.order == "random"
    assert all(part != sorted(part) for part in visits)
    assert min(map(max, visits)) > max(map(min, visits))  # neither file has the first ones alone
    assert sorted(path.name for path in released.parent.iterdir()) == [
        "release.json",
        "released.parquet",
    ]


def test_the_page_on_clusters_does_what_it_says(tmp_path):
    session = spark_session()
    people().assign(age=lambda table: table["age"] % 50).to_parquet(tmp_path / "people")
    (example,) = [
        each.text
        for each in blocks(ROOT / "docs" / "how-to" / "cluster.md")
        if "getOrCreate" in each.text
    ]
    for name in ("people", "released"):  # Java has a working directory of its own
        example = example.replace(f'"{name}"', repr(str(tmp_path / name)))
    exec(example)
    released = session.read.parquet(str(tmp_path / "released"))
    assert dict(released.dtypes) == {
        "age": "string",
        "job": "string",
        "disease": "string",
        "visits": "bigint",
    }
    assert min(row["count"] for row in released.groupBy("age", "job").count().collect()) >= 5


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_an_index_of_pandas_is_a_column_where_it_has_a_name(tmp_path, engine):
    if engine == "spark":
        spark_session()
    for place, table in enumerate([people().set_index("disease"), people()[::-1]]):
        table.to_parquet(tmp_path / f"{place}.parquet")
        with opened_on(engine, tmp_path / f"{place}.parquet", PARQUET, None) as found:
            assert sorted(found.columns) == sorted(people().columns)
            assert found.records == 24


def test_a_release_is_applied_by_the_engine_of_the_study(tmp_path):
    study = laid(tmp_path, 'engine = "dask"')
    publish(study, tmp_path / "out")
    publish_applied(tmp_path / "out", tmp_path / "people", tmp_path / "again", study=study)
    assert records(tmp_path / "again" / "released.parquet") == records(
        tmp_path / "out" / "released.parquet"
    )
    assert verify_release(tmp_path / "again" / "released.parquet", study).verdicts
    with pytest.raises(InputError, match=r"--order is for the embedded engine, not for engine = "):
        publish_applied(
            tmp_path / "out",
            tmp_path / "people",
            tmp_path / "kept",
            means=Means(order="kept"),
            study=study,
        )


@pytest.mark.parametrize(
    ("means", "output", "message"),
    [
        ('master = "local[2]"', "", "master is the address of a cluster; add engine"),
        ('engine = "dask"\nmemory = "1 GB"', "", "memory is for the embedded engine, not for"),
        ('engine = "spark"\ntable = "people"', "", "table is for the embedded engine, not for"),
        ('engine = "flink"', "", "engine must be 'duckdb', 'spark' or 'dask'"),
        ('engine = "dask"', 'order = "kept"', 'records of engine = "dask" have no order; leave'),
        ('engine = "dask"', 'file = "released.csv"', 'Dask writes Parquet alone; set file = "rel'),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(tmp_path, means, output, message):
    with pytest.raises(InputError, match=message.replace("[", r"\[")):
        publish(laid(tmp_path, means, output), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("java", "message"),
    [
        ("/usr/bin/java", r"could not be started with master local\[2\] \(OSError\); start it"),
        (None, "Spark needs Java, which is not found; install Java 17 or later, or set JAVA_HOME"),
    ],
)
def test_why_spark_does_not_start_is_said(tmp_path, monkeypatch, java, message):
    from pyspark.sql import SparkSession

    def failing(builder):
        raise OSError

    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", failing)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr("shutil.which", lambda name: java)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match=message):
        publish(laid(tmp_path, 'engine = "spark"\nmaster = "local[2]"'), tmp_path / "out")


def test_csv_is_read_by_the_embedded_engine_alone(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    study = laid(tmp_path, 'engine = "dask"')
    text = study.path.read_text("utf-8").replace('"people"', '"people.csv"')
    study.path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r'people.csv is not Parquet.* engine = "dask" reads'):
        publish(Study(study.path), tmp_path / "out")


def test_a_library_that_is_not_installed_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "anonymizer.tables.relations.libraries.dask", None)
    with pytest.raises(InputError, match=r"needs dask.*pip install '\.\[dask\]'"):
        publish(laid(tmp_path, 'engine = "dask"'), tmp_path / "out")
