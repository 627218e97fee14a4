"""Releases in which the dates of each person were moved by a secret number of days."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import KINDS, kinds_with

from anonymizer import (
    Anonymizer,
    Hierarchy,
    InputError,
    KAnonymity,
    Shift,
    measure_quality,
)
from anonymizer.cli import main
from anonymizer.release.apply import publish_applied
from anonymizer.release.export import source_of
from anonymizer.release.plan import Plan
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.tables.relations.frames import relation_of
from anonymizer.utility import measure_file

AGES = {"age": Hierarchy.ranges(widths=[20, 60])}
DATES = ["in", "out"]

STUDY = """
[data]
path = "stays.csv"
person = "who"
missing-values = ["?"]
shift = { columns = ["in", "out"], days = 30 }

[quasi-identifiers]
age = { widths = [20, 60] }

[[privacy]]
model = "k-anonymity"
k = 3
"""


def stays(seed: int = 4) -> pd.DataFrame:
    """Sixty stays of some fifteen persons; where each stands in the table is a column of its own.

    The second stay has not ended.
    """
    rng = np.random.default_rng(seed)
    begin = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, 60), "D")
    table = pd.DataFrame(
        {
            "who": [f"p{each}" for each in rng.integers(0, 15, 60)],
            "age": rng.integers(20, 80, 60),
            "in": begin + pd.to_timedelta(rng.integers(0, 86_400, 60), "s"),
            "out": begin + pd.to_timedelta(rng.integers(1, 30, 60), "D"),
            "place": range(60),
        }
    )
    table.loc[1, "out"] = pd.NaT
    return table


def written(table: pd.DataFrame) -> pd.DataFrame:
    """The same with dates as texts, a missing one as ``?``."""
    begin = table["in"].dt.strftime("%Y-%m-%d %H:%M:%S")
    return table.assign(**{"in": begin, "out": table["out"].dt.strftime("%Y-%m-%d").fillna("?")})


def days_of(raw: pd.DataFrame, released: pd.DataFrame) -> pd.Series:
    """By how many days each person's dates were moved; each by one number, or it fails."""
    released = released.sort_values("place").reset_index(drop=True)
    shown = [pd.to_datetime(released[name], errors="coerce") for name in DATES]
    # Spark has instants, of a session whose zone is UTC.
    gaps = [each.dt.tz_localize(None) - raw[each.name] for each in shown]
    gap = pd.concat([pd.DataFrame({"who": raw["who"], "gap": each}) for each in gaps]).dropna()
    assert len(gap) == 119
    assert (gap.groupby("who")["gap"].nunique() == 1).all()
    found = gap.groupby("who")["gap"].first()
    assert (found == pd.to_timedelta(found.dt.days, "D")).all()
    return found.dt.days


def estimator(**options) -> Anonymizer:
    return Anonymizer(
        AGES, privacy=[KAnonymity(3)], person="who", shift=Shift(DATES, 30), **options
    )


def test_dates_of_a_person_are_moved_together_and_anew_each_time():
    raw, anonymizer = stays(), estimator()
    released = anonymizer.fit_transform(raw)
    first = days_of(raw, released)
    assert first.abs().max() <= 30
    assert first.nunique() > 5
    assert released.dtypes[DATES].tolist() == raw.dtypes[DATES].tolist()
    assert (released["out"] - released["in"]).equals(raw["out"] - raw["in"])
    assert not days_of(raw, anonymizer.transform(raw)).equals(first)
    assert list(released.columns) == ["age", "in", "out", "place"]
    plain = Anonymizer(AGES, privacy=[KAnonymity(3)], person="who").fit_transform(raw)
    assert released[["age", "place"]].equals(plain[["age", "place"]])
    assert anonymizer.release_.manifest.to_dict()["shift"] == {"columns": DATES, "days": 30}


@pytest.mark.parametrize(("kind", "texts"), kinds_with([True, False]))
def test_tables_of_every_kind_are_moved_alike(kind, texts):
    raw = stays()
    table = pa.Table.from_pandas(raw, preserve_index=False)
    if texts:
        table = pa.Table.from_pandas(written(raw).replace("?", None), preserve_index=False)
    released = relation_of(estimator().fit_transform(KINDS[kind](table)))
    found = pa.Table.from_pandas(released.frame(DATES), preserve_index=False).schema
    for name in DATES:
        is_of = pa.types.is_string if texts else pa.types.is_timestamp
        assert is_of(found.field(name).type) or pa.types.is_large_string(found.field(name).type)
    assert days_of(raw, released.frame(released.columns)).abs().max() <= 30


@pytest.fixture
def published(tmp_path):
    """The study, laid next to its table, and the directory of its release."""
    written(stays()).to_csv(tmp_path / "stays.csv", index=False)
    (tmp_path / "s.toml").write_text(STUDY)
    publish(Study(tmp_path / "s.toml"), tmp_path / "r")
    return tmp_path / "s.toml", tmp_path / "r"


def said(capsys, code: int, *arguments) -> str:
    """What a command says, in one line, whose exit code is ``code``."""
    with pytest.raises(SystemExit) as left:
        main([*map(str, arguments)])
    assert left.value.code == code
    return " ".join(capsys.readouterr().out.split())


def released_in(directory) -> pd.DataFrame:
    return pd.read_csv(directory / "released.csv", dtype={"age": str})


def test_a_file_keeps_its_notation_and_what_is_missing(published):
    released = released_in(published[1])
    assert days_of(stays(), released).nunique() > 5
    assert released["in"].str.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d").all()
    assert released.set_index("place")["out"][1] == "?"
    assert published[1].joinpath("release.json").read_text().count("30") >= 1


def test_parquet_has_the_types_of_the_table(tmp_path):
    stays().to_parquet(tmp_path / "stays.parquet")
    text = STUDY.replace("stays.csv", "stays.parquet").replace('missing-values = ["?"]', "")
    (tmp_path / "s.toml").write_text(text)
    publish(Study(tmp_path / "s.toml"), tmp_path / "r")
    released = pd.read_parquet(tmp_path / "r" / "released.parquet")
    assert days_of(stays(), released).nunique() > 5
    assert all(kind.kind == "M" for kind in released.dtypes[DATES])


def test_verification_compares_no_date_and_says_so(published, capsys):
    study, directory = published
    original = study.parent / "stays.csv"
    for code, given in ((3, []), (0, ["--original", str(original)])):
        assert (
            "Not checked: dates that were shifted: how far the dates of each person were moved is "
            "kept nowhere; they are not compared."
        ) in said(capsys, code, "verify", directory, *given)
    assert verify_release(directory, study, original=original).satisfied


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"days": 60}, "shift"),
        ({"columns": ["in"]}, "shift"),
        ({"columns": ["in", "out", "place"]}, "shift.place"),
        ({"columns": ["in", "age"]}, "shift.age"),
        (None, "shift"),
    ],
)
def test_another_shift_is_noticed(published, changed, field):
    study, directory = published
    place = directory / "release.json"
    manifest = json.loads(place.read_text())
    manifest["shift"] = changed and manifest["shift"] | changed
    place.write_text(json.dumps(manifest))
    found = verify_release(directory, study, steward=False)
    assert field in {check.field for check in found.differences}


def test_a_release_is_followed_with_days_drawn_anew(published, tmp_path):
    study, directory = published
    publish_applied(directory, study.parent / "stays.csv", tmp_path / "next")
    before, after = (days_of(stays(), released_in(each)) for each in (directory, tmp_path / "next"))
    assert not before.equals(after)
    assert json.loads((tmp_path / "next" / "release.json").read_text())["shift"]["days"] == 30
    released = Plan.from_manifest(directory).apply(written(stays()).replace("?", None))
    assert not days_of(stays(), released).equals(before)


def test_what_cannot_move_dates_refuses_them(published):
    _, directory = published
    with pytest.raises(InputError, match=r"has shifted dates \(in, out\), by a secret number"):
        source_of(directory)
    fitted = estimator().fit(stays())
    for rows in (
        lambda: fitted.set_params(verify=False).transform(stays()),
        lambda: estimator(verify=False).fit_transform(stays()),
    ):
        with pytest.raises(InputError, match="verify = False gives rows that a model scores"):
            rows()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("person", "household"), "[data] shift moves the dates of one person together"),
        (('"out"]', '"age"]'), "[data] shift: column 'age' is a quasi-identifier, and the policy"),
        (("days = 30", "days = 0"), "[data] shift: days = 0 must be a whole number of at least 1"),
        ((", days = 30", ""), "[data] shift must have columns and days, such as Shift"),
        (("days", "day"), "[data] shift must have columns and days, such as Shift"),
        (('"out"]', '"home"]'), "the table has no column 'home'"),
        (('"out"]', '"place"]'), "shift: column 'place' has 60 records whose value is no date"),
    ],
)
def test_a_study_says_what_is_wrong_with_it(published, changed, message):
    study, directory = published
    study.write_text(STUDY.replace(*changed))
    with pytest.raises(InputError) as error:
        publish(Study(study), directory.parent / "other")
    assert message in str(error.value)


def test_reports_say_what_was_moved_and_what_it_leaves(published, capsys):
    study, directory = published
    run = said(capsys, 0, "run", study, "--output", directory, "--force")
    assert "an attacker knows them: place" in run
    assert (
        "All dates of a person in in and out were moved by one secret number of days, up to 30 days"
        " to either side: how far apart they are is as it was."
    ) in run
    page = said(capsys, 0, "report", directory, "--markdown", "--output", "-")
    assert "Dates moved by person" in page
    assert "Whoever knows one true date of a person" in page


def test_no_warning_is_about_dates_that_were_moved(published):
    """Most values of ``out`` are of one record each, however they are moved."""
    study, directory = published
    days = pd.to_datetime("2024-03-01") + pd.to_timedelta(100 * np.arange(60), "D")
    table = stays().assign(out=days)
    table = pd.concat([table, table[:9]], ignore_index=True).assign(place=range(69))
    table.loc[20, "out"] = pd.NaT
    written(table).to_csv(study.parent / "stays.csv", index=False)
    publish(Study(study), directory, force=True)
    warned = {(each.code, each.column) for each in estimator().fit(table).release_.warnings}
    found = verify_release(directory, study, original=study.parent / "stays.csv")
    assert ("nearly-unique-column", "place") in warned
    assert not {column for _, column in warned} & {*DATES}
    assert not {each.column for each in found.warnings} & {*DATES}


def test_a_shift_is_part_of_what_is_requested():
    other = estimator().set_params(shift__days=31)
    assert other.fingerprint != estimator().fingerprint
    given = estimator().set_params(shift={"columns": DATES, "days": 30})
    assert given.fingerprint == estimator().fingerprint
    assert given.set_params(shift=None).fingerprint != estimator().fingerprint


def test_quality_leaves_out_columns_that_were_moved(published):
    study, directory = published
    found = measure_file(Study(study), directory, targets=())
    raw, anonymizer = stays(), estimator()
    same = measure_quality(raw, anonymizer.fit_transform(raw), anonymizer.plan_, targets=())
    columns = {name for each in found.tables for name in each.columns}
    assert columns == {name for each in same.tables for name in each.columns} == {"age", "place"}
    assert found.measures["granularity"].value == same.measures["granularity"].value


def twice() -> pd.DataFrame:
    """Twelve persons of two stays: two of them come again after a week, the others after others."""
    begin = pd.Timestamp("2024-01-01")
    rows = [
        (f"p{who}", 20 + who % 2, begin + pd.Timedelta(days=at))
        for who in range(12)
        for at in (who * 3, who * 3 + max(who, 1) + 6)
    ]
    return pd.DataFrame(rows, columns=["who", "age", "in"])


@pytest.mark.parametrize("kind", ["arrow", "duckdb"])
def test_numbers_of_persons_and_moved_dates_together_are_warned_of(kind):
    """Who comes again after 7 days is p0 or p1; 8 to 17 days are one person's each."""
    raw = KINDS[kind](pa.Table.from_pandas(twice()))
    asked = {"privacy": [KAnonymity(2)], "person": "who", "shift": Shift("in", 20)}
    numbered = Anonymizer(AGES, **asked, person_numbers=True).fit(raw)
    told = [each for each in numbered.release_.warnings if each.code == "dates-find-persons"]
    assert [(each.column, each.count, each.of) for each in told] == [("in", 10, 12)]
    assert "10 of 12 persons have dates as far apart as nobody else" in told[0].message
    public = numbered.release_.manifest.warnings
    assert "dates-find-persons" not in {each.code for each in public}
    plain = Anonymizer(AGES, **asked).fit(raw).release_
    assert "dates-find-persons" not in {each.code for each in plain.warnings}


def test_dates_that_are_apart_alike_are_not_warned_of():
    raw = twice()
    raw["in"] = [pd.Timestamp("2024-01-01") + pd.Timedelta(days=9 * (row % 2)) for row in raw.index]
    asked = {"privacy": [KAnonymity(2)], "person": "who", "shift": Shift("in", 20)}
    found = Anonymizer(AGES, **asked, person_numbers=True).fit(raw).release_
    assert "dates-find-persons" not in {each.code for each in found.warnings}


def test_the_steward_is_told_of_dates_that_find_persons_and_readers_are_not(tmp_path, capsys):
    twice().to_csv(tmp_path / "stays.csv", index=False)
    text = STUDY.replace('"in", "out"', '"in"') + '[output]\nperson = "number"\n'
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(SystemExit) as end:
        main(["run", str(tmp_path / "study.toml"), "--output", str(tmp_path / "out")])
    assert not end.value.code
    assert "(dates-find-persons): 10 of 12 persons have dates as far" in capsys.readouterr().err
    assert '"dates-find-persons"' not in (tmp_path / "out" / "release.json").read_text()
    assert '"dates-find-persons"' in (tmp_path / "out.steward.json").read_text()
    assert verify_release(tmp_path / "out").satisfied
