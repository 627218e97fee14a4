"""A table of PostgreSQL, counted where it lies, and addresses that are not read."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from postgres import Server, served

from anonymizer import verify_release
from anonymizer.errors import InputError
from anonymizer.release.dialects import DIALECTS
from anonymizer.release.export import source_of
from anonymizer.release.publish import publish
from anonymizer.release.sql import sql_of
from anonymizer.release.study import Study
from anonymizer.tables.files import describe_file

PEOPLE = """CREATE TABLE people AS SELECT
  20 + i * 7 % 20 AS age, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex,
  CASE i % 3 WHEN 0 THEN 'flu' WHEN 1 THEN 'cold' ELSE 'mumps' END AS ill,
  DATE '1949-08-01' + i AS seen, (i / 3.0)::numeric(9, 3) AS cost
FROM generate_series(0, 59) AS g(i);
CREATE TABLE other AS SELECT 1 AS a;
"""

STUDY = """[data]
path = "{path}"
table = "people"
[quasi-identifiers]
age = {{ widths = [10, 20] }}
sex = "suppress"
[sensitive]
attributes = ["ill"]
[identifiers]
attributes = ["seen"]
[[privacy]]
model = "k-anonymity"
k = 3
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as found:
        found.psql(PEOPLE)
        yield found


@pytest.fixture
def extension() -> None:
    query = "SELECT installed FROM duckdb_extensions() WHERE extension_name = 'postgres_scanner'"
    if duckdb.connect().execute(query).fetchone() != (True,):
        pytest.skip("DuckDB's extension postgres is not installed")


@pytest.mark.usefixtures("extension")
def test_postgresql_in_and_postgresql_out(server: Server, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.format(path=server.address))
    study = Study(tmp_path / "study.toml")
    publish(study, tmp_path / "out")
    assert verify_release(tmp_path / "out", study).satisfied
    released = pd.read_parquet(tmp_path / "out" / "released.parquet")
    assert list(released) == ["age", "sex", "ill", "cost"]
    assert len(released) == 60
    text = sql_of(source_of(tmp_path / "out"), "people", "released", DIALECTS["postgresql"])
    made, recount = text.rsplit(";\n\n", 1)
    assert server.psql(f"{made};\n{recount}").splitlines()[1:] == []
    shown = server.psql("SELECT age, sex, ill, cost FROM released ORDER BY 1, 2, 3, 4")
    order = released.astype(str).sort_values(["age", "sex", "ill"]).to_numpy().tolist()
    rows = [line.rsplit(",", 3) for line in shown.splitlines()[1:]]
    assert sorted([row[0].strip('"'), *row[1:]] for row in rows) == sorted(order)


@pytest.mark.usefixtures("extension")
def test_a_table_is_named_and_an_address_never_shown(server: Server, tmp_path: Path) -> None:
    text = STUDY.format(path=server.address)
    (tmp_path / "study.toml").write_text(text.replace('table = "people"', ""))
    with pytest.raises(InputError, match="the database has several tables: 'other', 'people'"):
        publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    (tmp_path / "study.toml").write_text(text.replace("@/postgres", "@/nowhere"))
    with pytest.raises(InputError, match="cannot read the database: PostgreSQL does not") as error:
        publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    assert str(server.directory) not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "https://me:secret@host/people.csv",
        "s3://secret/people.parquet",
        "mssql://me:secret@host/census",
        "gs://secret/people.xlsx",
        "S3://secret/census.duckdb",
    ],
)
def test_an_address_elsewhere_is_refused_by_its_name(tmp_path: Path, address: str) -> None:
    scheme = address.partition(":")[0]
    for path in (Path(address), tmp_path / address):
        with pytest.raises(InputError, match=f"^{scheme}:// is an address elsewhere") as error:
            describe_file(path)
        assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "address",
    ["postgresql://me:secret@host/census", "postgres://host/census?user=me&password=secret"],
)
def test_an_address_with_a_password_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="has a password; leave it out, and set PGPASSW") as error:
        describe_file(Path(address))
    assert "secret" not in str(error.value)
