"""A table of MySQL, read once, and addresses that it cannot have."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from mysql import Server, served

from anonymizer import verify_release
from anonymizer.errors import InputError
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.tables.files import describe_file
from anonymizer.tables.files.format import Format
from anonymizer.tables.relations.embedded.files import opened

PEOPLE = """CREATE DATABASE census;
USE census;
SET time_zone = '+05:00', sql_mode = '';
CREATE TABLE people AS SELECT
  20 + seq * 7 % 20 AS age, IF(seq % 2, 'm', IF(seq % 4, 'f', 'F')) AS sex,
  ELT(1 + seq % 3, 'flu', 'cold', 'mumps') AS ill, seq / 4 AS cost FROM seq_0_to_59;
ALTER TABLE people ADD kids TINYINT(1) DEFAULT 2,
  ADD seen TIMESTAMP DEFAULT '2020-01-01 00:00:00';
CREATE TABLE zero AS SELECT CAST('1949-08-00' AS DATE) AS born;
"""

STUDY = """[data]
path = "{path}"
table = "people"
[quasi-identifiers]
age = {{ widths = [10, 20] }}
sex = {{ suppress = true, max-level = 0 }}
[sensitive]
attributes = ["ill"]
[[privacy]]
model = "k-anonymity"
k = 3
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    query = "SELECT installed FROM duckdb_extensions() WHERE extension_name = 'mysql_scanner'"
    if duckdb.connect().execute(query).fetchone() != (True,):
        pytest.skip("DuckDB's extension mysql is not installed")
    with served() as found:
        found.run(PEOPLE)
        yield found


def test_a_table_of_mysql_is_released_as_it_is_stored(server: Server, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.format(path=server.address))
    study = Study(tmp_path / "study.toml")
    publish(study, tmp_path / "out")
    assert verify_release(tmp_path / "out", study).satisfied
    released = pd.read_parquet(tmp_path / "out" / "released.parquet")
    # MySQL itself compares f and F as one text, and calls 2 in TINYINT(1) a truth value.
    assert released["sex"].value_counts().to_dict() == {"m": 30, "f": 15, "F": 15}
    assert {*released["kids"]} == {2}
    assert {*released["seen"].astype(str)} == {"2019-12-31 19:00:00"}
    assert sorted(released["cost"].astype(float)) == [n / 4 for n in range(60)]


def test_tables_of_mysql_are_named_and_an_address_never_shown(
    server: Server, tmp_path: Path
) -> None:
    text = STUDY.format(path=server.address)
    for old, new, message in (
        ('table = "people"', "", "the database has several tables: 'people', 'zero'"),
        ('"people"', '"zero"', "has a value that DuckDB cannot read, such as a date without a day"),
        ("root@", "nobody@", "cannot read the database: MySQL does not open it; correct the addr"),
    ):
        (tmp_path / "study.toml").write_text(text.replace(old, new))
        with pytest.raises(InputError, match=message) as error:
            publish(Study(tmp_path / "study.toml"), tmp_path / "out")
        assert str(server.directory) not in str(error.value)


def opened_at(address: str) -> None:
    with opened(Path(address), Format(parquet=False)):
        pass


@pytest.mark.parametrize(
    "address",
    [
        "mysql://me@host",
        "mysql://me@host:33x/census",
        "mariadb://me@host/census?charset=utf8",
        "mysql://me@host/census?socket",
        "mysql://me%20host=other@host/census",
        "mysql://me@host/cen'sus",
    ],
)
def test_an_address_that_is_none_of_mysql_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="an address in MySQL is mysql://user@host/database"):
        opened_at(address)


@pytest.mark.parametrize("address", ["mysql://me:secret@host/a", "mariadb://host/a?passwd=secret"])
def test_a_password_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="leave it out, and set MYSQL_PWD in the env") as error:
        describe_file(Path(address))
    assert "secret" not in str(error.value)


def test_without_the_extension_the_message_says_what_to_install(monkeypatch) -> None:
    number = "anonymizer.tables.relations.embedded.connection.Connection.number"
    monkeypatch.setattr(number, lambda self, query: 0)
    with pytest.raises(InputError, match="install it once by INSTALL mysql in DuckDB, or export"):
        opened_at("mysql://me@host/census")
