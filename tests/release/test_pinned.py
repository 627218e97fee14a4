"""Pinned columns: what was added to a table, or was empty, is refused by its name, not released."""

import csv
import re
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from engines import EACH, KINDS
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer import Anonymizer, Hierarchy, InputError, KAnonymity
from anonymizer.cli import main
from anonymizer.release.sites import count_part
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.tables.relations.frames import relation_of

MONTH = [{"age": 20 + n // 10, "sex": "fm"[n % 2], "ill": "uv"[n % 3 == 0]} for n in range(80)]
"""Eight ages of ten records."""


def month(path, **more):
    """A month's table with further columns, each a function of the number of the record."""
    rows = [
        row | {name: of(n) for name, of in {"cited": lambda n: "", **more}.items()}
        for n, row in enumerate(MONTH)
    ]
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [*rows[0]])
        table.writeheader()
        table.writerows(rows)


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


@pytest.fixture
def drafted(tmp_path, monkeypatch, capsys):
    """The study of a table with a constant column and an empty one."""
    monkeypatch.chdir(tmp_path)
    month(Path("stops.csv"), year=lambda n: 2026)
    assert call(capsys, "init", "stops.csv", "-o", "study", "--sensitive", "ill")[0] == 0
    return tmp_path / "study" / "study.toml"


def test_init_pins_the_columns_and_leaves_out_what_is_empty(drafted, capsys):
    text = drafted.read_text()
    assert 'columns = "pinned"' in text
    assert '[insensitive]\nattributes = ["year"]' in text
    assert Study(drafted).schema.identifiers == ("cited",)
    assert call(capsys, "run", drafted, "-o", "out")[0] == 0
    with Path("out/released.csv").open() as file:
        assert next(csv.reader(file)) == ["age", "sex", "ill", "year"]
    assert call(capsys, "verify", "out", "--study", drafted)[0] == 0


def test_a_column_that_was_added_stops_the_monthly_job(drafted, capsys):
    assert call(capsys, "run", drafted, "-o", "out")[0] == 0
    before = {path.name: path.read_bytes() for path in (drafted.parent.parent / "out").iterdir()}
    month(Path("stops.csv"), year=lambda n: 2026, phone=lambda n: f"555-{n}")
    code, out, err = call(capsys, "run", drafted, "-o", "out", "--force")
    assert (code, out) == (2, "")
    assert re.search(r"no role: 'phone'; .* nobody decided .* identifiers .* as insensitive", err)
    assert "555-" not in err
    after = {path.name: path.read_bytes() for path in (drafted.parent.parent / "out").iterdir()}
    assert before == after


def test_what_was_empty_is_not_released_when_it_tells(drafted, capsys):
    month(Path("stops.csv"), year=lambda n: 2026, cited=lambda n: ["YES", "NO"][n % 5 == 0])
    assert call(capsys, "run", drafted, "-o", "out")[0] == 0
    with Path("out/released.csv").open() as file:
        assert next(csv.reader(file)) == ["age", "sex", "ill", "year"]


@pytest.mark.parametrize(
    ("old", "new", "released"),
    [('["year"]', '["year", "phone"]', True), ('["cited"]', '["cited", "phone"]', False)],
)
def test_either_remedy_of_the_message_mends_it(drafted, capsys, old, new, released):
    month(Path("stops.csv"), year=lambda n: 2026, phone=lambda n: n % 3)
    assert old in drafted.read_text()
    drafted.write_text(drafted.read_text().replace(old, new))
    assert call(capsys, "run", drafted, "-o", "out")[0] == 0
    with Path("out/released.csv").open() as file:
        assert ("phone" in next(csv.reader(file))) == released


def test_a_column_that_is_gone_is_refused_too(drafted, capsys):
    month(Path("stops.csv"))
    code, _, err = call(capsys, "run", drafted, "-o", "out")
    assert code == 2
    assert "no column 'year'" in err


def test_verify_by_a_pinned_study_sees_what_was_released_beyond_it(drafted, capsys):
    pinned = drafted.read_text()
    month(Path("stops.csv"), year=lambda n: 2026, phone=lambda n: n % 3)
    drafted.write_text(re.sub(r"(?m)^columns = .*$|\[insensitive\]\n.*", "", pinned))
    assert call(capsys, "run", drafted, "-o", "out")[0] == 0
    assert call(capsys, "verify", "out", "--study", drafted)[0] == 0
    drafted.write_text(pinned)
    found = verify_release("out", drafted)
    words = "table.columns: the study pins its columns, and has none named 'phone'"
    assert words in [str(each) for each in found.differences]
    assert call(capsys, "verify", "out", "--study", drafted)[0] == 1
    (drafted.parent.parent / "out" / "release.json").unlink()
    with pytest.raises(InputError, match="have no role: 'phone'"):
        verify_release("out/released.csv", drafted)


def test_a_part_of_a_site_with_another_column_is_not_counted(drafted):
    month(Path("north.csv"), year=lambda n: 2026, phone=lambda n: n)
    drafted.write_text(
        re.sub(r"(?s)\[recoding\].*", '[recoding]\nmethod = "full-domain"\n', drafted.read_text())
    )
    with pytest.raises(InputError, match="have no role: 'phone'"):
        count_part(Study(drafted), drafted.parent.parent / "north.csv", drafted.parent / "n.counts")


def test_a_table_without_a_header_line_is_pinned_by_its_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [f"{20 + n // 10},{'fm'[n % 2]},{'uv'[n % 3 == 0]}" for n in range(80)]
    (tmp_path / "stops.csv").write_text("\n".join(lines) + "\n")
    named = "--columns", "age,sex,ill", "--sensitive", "ill"
    assert call(capsys, "init", "stops.csv", "-o", "study", *named)[0] == 0
    assert "pinned" not in (tmp_path / "study" / "study.toml").read_text()
    assert call(capsys, "run", "study/study.toml", "-o", "out")[0] == 0
    (tmp_path / "stops.csv").write_text("".join(f"{line},555\n" for line in lines))
    assert call(capsys, "run", "study/study.toml", "-o", "out", "--force")[0] == 2


def anonymizer(**more):
    quasi = {"age": Hierarchy.ranges(widths=[2, 4, 8]), "sex": "suppress"}
    return Anonymizer(quasi, "ill", [KAnonymity(5)], objective="loss", **more)


@pytest.mark.parametrize("kind", EACH)
def test_every_engine_refuses_what_is_not_listed(kind):
    table = KINDS[kind](pa.Table.from_pylist([{**row, "note": "x", "phone": "y"} for row in MONTH]))
    with pytest.raises(InputError, match="no role: 'phone'"):
        anonymizer(insensitive=["note"]).fit_transform(table)
    released = anonymizer(insensitive=["note", "phone"]).fit_transform(table)
    assert [*relation_of(released).columns] == ["age", "sex", "ill", "note", "phone"]


def test_transform_and_apply_refuse_it_as_fit_does():
    table = pd.DataFrame(MONTH)
    fitted = anonymizer(insensitive=()).fit(table)
    assert [*fitted.transform(table).columns] == ["age", "sex", "ill"]
    for carry_out in (fitted.transform, fitted.plan_.apply):
        with pytest.raises(InputError, match="no role: 'phone'"):
            carry_out(table.assign(phone="y"))
        with pytest.raises(InputError, match="no role: 'phone'"):
            carry_out(pl.from_pandas(table.assign(phone="y")))


def test_a_column_has_one_role():
    with pytest.raises(InputError, match=r"give it one \(it is sensitive and insensitive\)"):
        anonymizer(insensitive=["ill"]).fit(pd.DataFrame(MONTH))


@given(
    there=st.lists(st.sampled_from("abcdef"), unique=True),
    listed=st.none() | st.lists(st.sampled_from("abcdef"), unique=True),
)
@settings(max_examples=at_length(20, 40))
def test_nothing_is_released_that_is_not_listed(there, listed):
    """Released are all columns where none is listed, else those that are, or nothing."""
    table = pd.DataFrame(MONTH).assign(**dict.fromkeys(there, 0))
    estimator = anonymizer(insensitive=listed)
    if listed is None or {*listed} == {*there}:
        assert [*estimator.fit_transform(table).columns] == ["age", "sex", "ill", *there]
        return
    with pytest.raises(InputError, match=r"have no role|has no column"):
        estimator.fit_transform(table)


def test_the_fingerprint_of_what_was_requested_has_the_pins():
    open_, none, one = anonymizer(), anonymizer(insensitive=()), anonymizer(insensitive=["note"])
    assert len({each.fingerprint for each in (open_, none, one)}) == 3
