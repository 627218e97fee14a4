"""Dates and ordered categories from a file to a release, and back from what the release says."""

import csv
import json
import shutil
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intervals import all_ranges
from strategies import problem_of

from anonymizer import Anonymizer, Fixed, Hierarchy, KAnonymity, verify_release
from anonymizer.cli import main
from anonymizer.errors import InputError
from anonymizer.objectives import MutualInformation
from anonymizer.recoding import Run
from anonymizer.recoding.ranges import VariableRange
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.placement import place
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.check import FIELDS, leaves, treatment_of

SIZES = ["XS", "S", "M", "L", "XL", "XXL"]
PARIS = ZoneInfo("Europe/Paris")

STUDY = """
[data]
path = "people.{suffix}"
missing = "category"
[quasi-identifiers]
birth = {{ calendar = ["month", "year", "decade"]{birth} }}
seen = {{ calendar = ["day", "month"], zone = "Europe/Paris" }}
size = {{ order = ["XS", "S", "M", "L", "XL", "XXL"], widths = [2, 4] }}
[sensitive]
attributes = ["disease"]
[[privacy]]
model = "k-anonymity"
k = 4
[recoding]
"""

RECODINGS = {
    "full-domain": "",
    "suppressed": "suppression = 0.3",
    "fixed": 'method = "fixed"\nlevels = { birth = 2, seen = 2, size = 3 }\nsuppression = 0.3',
    "variable-range": 'method = "variable-range"',
    "heuristic": 'method = "variable-range"\nrefinement = "heuristic"\nrefine = ["birth"]',
    "narrow": 'method = "variable-range"\nmin-width = 400\nrefine = ["birth"]',
    "cut": 'method = "cut"\nrefine = ["birth"]',
    "cut through levels": 'method = "cut"\nrefine = []',
    "boxes": 'method = "boxes"\nmax-classes = 5\n[search]\ntime-limit = 0.3',
    "merged-cells": 'method = "merged-cells"\n[search]\ntime-limit = 0.3\nseed = 1',
}


def people(records=60):
    """Birth dates, some missing; instants with offsets; sizes; diseases that go with all three."""
    rng = np.random.default_rng(7)
    rows = []
    for number in range(records):
        birth = date(1968, 1, 1) + timedelta(days=int(rng.integers(0, 1400)))
        seen = datetime(2023, 3, 20, tzinfo=UTC) + timedelta(minutes=int(rng.integers(0, 30_000)))
        size = SIZES[int(rng.integers(0, 5))]  # nobody has the last
        ill = (birth.year + seen.day // 15 + len(size)) % 3
        rows.append((None if rng.random() < 0.05 else birth, seen, size, f"d{ill}", str(number)))
    return pd.DataFrame(rows, columns=["birth", "seen", "size", "disease", "number"], dtype=object)


def csv_of(table, directory, form="%Y-%m-%d"):
    written = table.assign(
        birth=[day.strftime(form) if day else "" for day in table["birth"]],
        seen=[moment.astimezone(PARIS).isoformat() for moment in table["seen"]],
    )
    written.to_csv(directory / "people.csv", index=False)


def parquet_of(table, directory):
    kinds = {"birth": pa.date32(), "seen": pa.timestamp("us", "Europe/Paris")}
    columns = {name: pa.array(column, kinds.get(name)) for name, column in table.items()}
    pyarrow.parquet.write_table(pa.table(columns), directory / "people.parquet")


def released(directory, recoding, suffix="csv", form=None, table=None):
    """The release of a study, which verifies from its directory alone and with the study."""
    table = people() if table is None else table
    csv_of(table, directory, form or "%Y-%m-%d") if suffix == "csv" else parquet_of(
        table, directory
    )
    birth = f', format = "{form}"' if form else ""
    study = directory / "study.toml"
    study.write_text(STUDY.format(suffix=suffix, birth=birth) + RECODINGS[recoding])
    publish(Study(study), directory / "out")
    for given_study in (None, study):
        found = verify_release(directory / "out", given_study)
        assert found.differences == ()
        assert found.satisfied
    return directory / "out"


def columns_of(release):
    path = next(release.glob("released.*"))
    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path).to_pydict()
        return {name: [text or "" for text in column] for name, column in table.items()}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def day_of(text, end):
    if text in ("(-inf", "inf"):
        return end
    return datetime.fromisoformat(text.strip("[)"))


def holds(label, moment):
    """Whether a label of dates stands for a moment of the calendar: read by hand."""
    if label in ("*", "") or label is None:
        return label == "*" or moment is None
    if moment is None:
        return False
    if ", " in label:
        low, high = label[:-1].split(", ")
        return day_of(low, datetime.min) <= moment < day_of(high, datetime.max)
    if label.endswith("s"):
        return label[:3] == f"{moment:%Y}"[:3]
    return f"{moment:%Y-%m-%d %H:%M:%S}".startswith(label)


def size_holds(label, size):
    if " - " not in label:
        return label in ("*", size)
    low, high = label.split(" - ")
    return SIZES.index(low) <= SIZES.index(size) <= SIZES.index(high)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A release of a recoding, made once."""
    known = {}

    def made(recoding, suffix="csv", form=None):
        if (recoding, suffix, form) not in known:
            directory = tmp_path_factory.mktemp("dates")
            known[recoding, suffix, form] = released(directory, recoding, suffix, form)
        return known[recoding, suffix, form]

    return made


HELD = [*((name, "csv") for name in RECODINGS), ("cut", "parquet")]


@pytest.mark.parametrize(("recoding", "suffix"), HELD)
def test_every_label_holds_its_record_and_every_release_verifies(release, recoding, suffix):
    table = people()
    found = columns_of(release(recoding, suffix))
    left = table.iloc[[int(number) for number in found["number"]]]
    assert len(left) > 50
    for number, row in enumerate(left.itertuples()):
        born = (
            None if row.birth is None else datetime(row.birth.year, row.birth.month, row.birth.day)
        )
        assert holds(text_in(found["birth"][number]), born)
        assert size_holds(found["size"][number], row.size)
        seen = found["seen"][number]
        clock = row.seen.astimezone(PARIS).replace(tzinfo=None)
        assert holds(text_in(seen), clock) or _is_moment(seen, row.seen)


def text_in(label):
    return label if label is None else str(label)


def _is_moment(label, moment):
    return datetime.fromisoformat(str(label)) == moment


PLACED = [*((name, None) for name in RECODINGS if name != "merged-cells"), ("narrow", "%d.%m.%Y")]


@pytest.mark.parametrize(("recoding", "form"), PLACED)
def test_a_manifest_alone_places_every_record_of_the_original(release, recoding, form):
    path = release(recoding, "csv", form)
    original = pd.read_csv(path.parent / "people.csv", dtype=str)
    labels, known = place(original, Manifest.read(path / "release.json"))
    found = pd.read_csv(path / "released.csv", dtype=str, keep_default_na=False)
    original, labels = (each.loc[found["number"].astype(int)] for each in (original, labels))
    suppressed = (found[["birth", "seen", "size"]] == "*").all(axis=1).to_numpy()
    assert known[found["number"].astype(int)][~suppressed].all()
    for name in ("birth", "seen", "size"):
        shown = labels[name].fillna("").to_numpy() == found[name].to_numpy()
        assert (shown | suppressed).all()
    for leaf in leaves(json.loads((path / "release.json").read_text())):
        assert treatment_of(leaf)[0] in FIELDS, leaf


def test_csv_and_parquet_are_released_alike(release):
    one, other = (columns_of(release("cut", form)) for form in ("csv", "parquet"))
    assert [*one] == [*other]
    rows = [sorted(zip(*each.values(), strict=True)) for each in (one, other)]
    assert rows[0] == rows[1]


# What a manifest may not say


def changed(release, directory, change):
    """What verification finds once a manifest was changed."""
    shutil.copytree(release.parent, directory / "copy")
    path = directory / "copy" / "out" / "release.json"
    manifest = json.loads(path.read_text())
    change(manifest["recoding"])
    path.write_text(json.dumps(manifest))
    studies = [None, directory / "copy" / "study.toml"]
    found = [verify_release(path.parent, study).differences for study in studies]
    return [{check.field for check in checks} for checks in found]


@pytest.mark.parametrize(
    ("recoding", "change", "field"),
    [
        ("fixed", {"from": "1968-02-01"}, "recoding.birth.ranges"),
        ("fixed", {"to": "1970-01-01"}, "recoding.birth.ranges"),
        ("narrow", {"to": "1969-02-02"}, "recoding.birth.ranges"),
        ("narrow", {"to": "1969-02-01 00:00:00"}, "recoding.birth.ranges"),
    ],
)
def test_ends_that_are_not_those_of_the_label_are_found(release, tmp_path, recoding, change, field):
    found = changed(release(recoding), tmp_path, lambda groups: groups["birth"][0].update(change))
    assert field in found[0]


@pytest.mark.parametrize(
    "change",
    [
        {"from": 3},
        {"from": "x"},
        {"from": "1999-01-01"},
        {"calendar": {"zone": "Nowhere"}},
        {"calendar": {"format": "%y"}},
        {"calendar": None},
        {"to": None, "from": "1.1.1968"},
    ],
)
def test_a_manifest_of_no_dates_is_damaged(release, tmp_path, change):
    with pytest.raises(InputError, match=r"release.json is damaged"):
        changed(release("fixed"), tmp_path, lambda groups: groups["birth"][0].update(change))


def test_another_calendar_than_that_of_the_study_is_found(release, tmp_path):
    zone = {"calendar": {"zone": "UTC"}}
    found = changed(release("fixed"), tmp_path, lambda groups: groups["seen"][0].update(zone))
    assert "levels.seen" in found[1] & found[0]  # the rule of the manifest has none, either


# Ranges


def test_no_end_of_a_range_is_anybodys_date(tmp_path):
    table = people()
    table["birth"] = [
        day and (day if day.day > 1 else day + timedelta(days=3)) for day in table["birth"]
    ]
    release = released(tmp_path, "heuristic", table=table)
    labels = {label for label in columns_of(release)["birth"] if ", " in label}
    ends = {end for label in labels for end in label[1:-1].split(", ")} - {"-inf", "inf"}
    assert ends
    assert all(end.endswith("-01") for end in ends)


def test_min_width_is_in_days(release):
    manifest = json.loads((release("narrow") / "release.json").read_text())
    inner = [
        datetime.fromisoformat(group["to"]) - datetime.fromisoformat(group["from"])
        for group in manifest["recoding"]["birth"]
        if group.get("from") and group.get("to")
    ]
    assert all(width >= timedelta(days=400) for width in inner)


@pytest.mark.slow
@settings(max_examples=5)
@given(st.lists(st.integers(0, 11), min_size=2, max_size=8), st.integers(1, 3), st.data())
def test_ranges_of_dates_orders_and_numbers_are_cut_alike(numbers, k, data):
    """The best ranges of months, of an order and of numbers are the same, and so is brute force."""
    k = min(k, len(numbers))
    ill = data.draw(st.lists(st.sampled_from("ab"), min_size=len(numbers), max_size=len(numbers)))
    held = {
        "number": (numbers, Hierarchy.ranges(widths=[100])),
        "date": (
            [date(2020, 1 + n, 1 + (7 * n) % 28) for n in numbers],
            Hierarchy.calendar(["month"]),
        ),
        "order": ([f"v{n}" for n in numbers], Hierarchy.order([f"v{n}" for n in range(12)])),
    }
    found = {}
    for kind, (values, hierarchy) in held.items():
        table = pd.DataFrame({"a": values, "w": ill})
        problem = problem_of(table, {"a": hierarchy}, [KAnonymity(k)])
        recoding, result = VariableRange().choose(problem, 0, Run())
        found[kind] = round(result.value, 9), len(recoding["a"])
        if kind != "number":
            continue
        objective = MutualInformation()
        objective.prepared(problem.counts, problem.taxonomies)
        scores = []
        for partition in all_ranges(problem.taxonomies["a"]):
            merged = problem.counts.recode({"a": partition})
            if merged.sizes.min() >= k:
                scores.append(objective(merged))
        assert result.value == pytest.approx(max(scores), abs=1e-9)
    assert found["number"] == found["date"] == found["order"]


def test_ranges_of_an_order_begin_and_end_with_it():
    table = pd.DataFrame({"size": ["S"] * 4 + ["L"] * 4, "ill": ["a"] * 4 + ["b"] * 4})
    anonymizer = Anonymizer(
        {"size": {"order": SIZES}}, "ill", [KAnonymity(4)], recoding="variable-range"
    )
    found = anonymizer.fit_transform(table)["size"]
    assert [*found] == ["XS - M"] * 4 + ["L - XXL"] * 4
    assert anonymizer.release_.to_dict()["recoding"]["size"] == [
        {"label": "XS - M", "values": ["XS", "S", "M"]},
        {"label": "L - XXL", "values": ["L", "XL", "XXL"]},
    ]


# By the command line


def test_a_column_of_other_dates_is_refused_with_the_way_out(tmp_path, capsys):
    csv_of(people(), tmp_path, "%d.%m.%Y")
    study = tmp_path / "study.toml"
    study.write_text(STUDY.format(suffix="csv", birth=""))
    with pytest.raises(SystemExit):
        main(["run", str(study), "-o", str(tmp_path / "out")])
    error = capsys.readouterr().err
    assert "where a calendar needs dates such as 2024-03-05" in error
    assert 'format = "%d.%m.%Y"' in error
    assert len(error.strip().splitlines()) == 1


def test_the_levels_of_dates_partition_the_table_alike_however_it_is_held():
    table = people()
    naive = [moment.astimezone(PARIS) for moment in table["seen"]]
    held = {
        "objects": table["seen"],
        "texts": pd.Series([moment.isoformat() for moment in naive]),
        "zoned": pd.Series(pd.to_datetime(table["seen"], utc=True).dt.tz_convert("Asia/Tokyo")),
        "arrow": pd.Series(pd.array(list(table["seen"]), pd.ArrowDtype(pa.timestamp("us", "UTC")))),
    }
    found = {}
    for name, column in held.items():
        anonymizer = Anonymizer(
            {"seen": {"calendar": ["day", "month"], "zone": "Europe/Paris"}},
            privacy=[KAnonymity(2)],
            recoding=Fixed(levels={"seen": 1}),
            objective="discernibility",
        )
        frame = pd.DataFrame({"seen": [*column[:30], *column[:30]]})
        found[name] = [*anonymizer.fit_transform(frame)["seen"]]
    assert found["texts"] == [moment.date().isoformat() for moment in naive[:30]] * 2
    for one, other in pairwise(found):
        assert found[one] == found[other]
