"""Codes of several lengths, and prefixes that are replaced, from the study to SQL and apply."""

import random
import sqlite3
from collections import Counter
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from anonymizer import InputError, verify_release
from anonymizer.release.apply import publish_applied
from anonymizer.release.dialects import DIALECTS
from anonymizer.release.export import mapping_files, source_of
from anonymizer.release.publish import publish
from anonymizer.release.sql import sql_of
from anonymizer.release.study import Study
from anonymizer.risk.audit import audit_files
from tests.releases import manifest_in

RULES = {
    "padded": '{ prefixes = [3, 2], length = 5, pad = "0" }',
    "cut": "{ prefixes = [3, 2], length = 5 }",
    "replaced": '{ prefixes = [3, 2, 1], replace = { "000" = ["036", "059"] } }',
    "both": '{ prefixes = [3, 2], length = 5, pad = "0", replace = { "000" = ["036", "059"] } }',
    "ground": '{ prefixes = [3, 2], length = 5, pad = "0", ground = 4 }',
    "census": '{ census = "zcta.csv" }',
}
CASES = [
    *(("both", method) for method in ("full-domain", "cut", "variable-range", "merged-cells")),
    *((rule, "boxes") for rule in RULES if rule != "census"),
    ("census", "full-domain"),
    ("replaced", "cut"),
]
CODES = ["02139", "02138", "02142", "21301", "03601", "03602", "05912", "00012", "03101", "10001"]


def written(code: str, rng: random.Random, rule: str) -> str:
    """A code as tables have it: without zeros in front, or with four digits more."""
    more = f"{code}-{rng.randrange(10_000):04}" if rng.random() < 0.3 else code
    padded = "pad" in rule or "census" in rule
    return more.lstrip("0") if rng.random() < 0.4 and padded else more


def study(directory: Path, rule: str, method: str, levels: str = "") -> Study:
    rng = random.Random(1)
    found = [written(rng.choice(CODES), rng, rule) for _ in range(200)]
    zips = ["" if rng.random() < 0.03 else code for code in found]
    rows = [f"{code},{rng.choice((20, 40))},{rng.choice('abc')}" for code in zips]
    (directory / "people.csv").write_text("\n".join(["zip,age,d", *rows, ""]))
    (directory / "zcta.csv").write_text("zip,people\n02139,20001\n21301,99999\n03601,300\n")
    (directory / "study.toml").write_text(
        f'[data]\npath = "people.csv"\nmissing = "category"\n[quasi-identifiers]\nzip = {rule}\n'
        'age = { widths = [10, 50] }\n[sensitive]\nattributes = ["d"]\n[[privacy]]\n'
        f'model = "k-anonymity"\nk = {1 if levels else 4}\n[search]\nseed = 1\n'
        + ("" if levels else "time-limit = 1\n")
        + f'[recoding]\nmethod = "{method}"\n'
        + (f"levels = {{ {levels} }}\n" if levels else "")
    )
    return Study(directory / "study.toml")


def rows_of(table: pd.DataFrame) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row)) for row in table.fillna("").to_numpy())


def read(directory: Path) -> pd.DataFrame:
    return pd.read_csv(directory / "released.csv", dtype=str, keep_default_na=False)


def by_sql(release: Path, raw: pd.DataFrame, dialect: str) -> pd.DataFrame:
    """The table that the SQL of a release makes, of which the recount finds nothing wrong."""
    source = source_of(release)
    text, recount = sql_of(source, "people", "released", DIALECTS[dialect]).rsplit(";\n\n", 1)
    if dialect == "duckdb":
        database = duckdb.connect(config={"threads": 1})
        database.register("people", raw)
        database.execute(text)
        assert not database.execute(recount).fetchall()
        return database.execute("SELECT * FROM released").df()
    lite = sqlite3.connect(":memory:")
    raw.to_sql("people", lite, index=False)
    thousands: list[None] = []
    lite.set_progress_handler(lambda: thousands.append(None), 1000)
    lite.executescript(text)
    lite.set_progress_handler(None, 0)
    assert len(thousands) <= 2 * len(raw)  # steps of a record: each column is made once
    assert not lite.execute(recount).fetchall()
    return pd.read_sql("SELECT * FROM released", lite)


def released_alike(made: Study, directory: Path, method: str) -> pd.DataFrame:
    """What a study releases, which verifies, and is the same by apply and by SQL."""
    release, again, table = directory / "out", directory / "two", directory / "people.csv"
    publish(made, release)
    assert verify_release(release).satisfied
    assert verify_release(release, made).satisfied
    assert audit_files([release], [table]).holds
    released = read(release)
    if method == "merged-cells":  # the order of records decides between cells that overlap
        return released
    publish_applied(release, table, again)
    assert rows_of(read(again)) == rows_of(released)
    for dialect in ("duckdb", "sqlite"):
        assert rows_of(by_sql(release, pd.read_csv(table, dtype=str), dialect)) == rows_of(released)
    return released


@pytest.mark.parametrize(("rule", "method"), CASES)
def test_a_release_of_codes_verifies_applies_and_is_made_by_sql(tmp_path, rule, method):
    released = released_alike(study(tmp_path, RULES[rule], method), tmp_path, method)
    assert not any("-" in label for label in released["zip"])  # how somebody wrote a code


def test_a_release_shows_no_place_of_few_people(tmp_path):
    released = released_alike(
        study(tmp_path, RULES["census"], "fixed", "zip = 1, age = 1"), tmp_path, ""
    )
    assert {*released["zip"]} == {"021**", "213**", "000**", ""}


def test_codes_that_no_table_had_have_a_place(tmp_path):
    publish(study(tmp_path, RULES["both"], "fixed", "zip = 2, age = 1"), tmp_path / "out")
    new = ["2199", "03699-1234", "5900", "21399", "02199"]
    rows = [f"{code},20,{each}" for code in new for each in "ab"]
    (tmp_path / "next.csv").write_text("\n".join(["zip,age,d", *rows, ""]))
    publish_applied(tmp_path / "out", tmp_path / "next.csv", tmp_path / "next")
    shown = Counter(read(tmp_path / "next")["zip"])
    assert shown == {"021**": 4, "000**": 4, "213**": 2}
    groups = manifest_in(tmp_path / "next")["recoding"]["zip"]
    assert {"label": "021**", "masked": [3, 5], "code": {"length": 5, "pad": "0"}} in groups


def test_other_tools_read_which_codes_have_a_label(tmp_path):
    publish(study(tmp_path, RULES["both"], "fixed", "zip = 3, age = 2"), tmp_path / "out")
    lines = mapping_files(source_of(tmp_path / "out"))["zip.csv"].splitlines()
    assert {"code,00,0,5,00***", "code,036,0,5,00***", "code,059,0,5,00***"} < {*lines}
    assert {"code,03,0,5,03***", "not code,036,0,5,03***"} < {*lines}


def test_codes_that_have_no_place_are_refused_by_name(tmp_path):
    made = study(tmp_path, RULES["padded"], "full-domain")
    table = tmp_path / "people.csv"
    table.write_text(table.read_text() + "21394307,20,a\n" * 5)
    with pytest.raises(InputError) as error:
        publish(made, tmp_path / "out")
    said = (
        "column 'zip' holds 1 value, in 5 records ('21394307') that are no codes of at most 5 "
        'digits before a hyphen or a blank, as length = 5, pad = "0" needs; clean the column'
    )
    assert str(error.value).startswith(said)
    assert 'leave pad = "0" out' in str(error.value)
