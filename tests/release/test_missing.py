"""``*`` is everything and a missing value is missing, in every release and in all that reads it."""

import csv
import json
import re
from collections import Counter
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import KINDS, kinds_with, records_of
from lengths import at_length, in_pairs
from releases import manifest_in, rewritten

from anonymizer import Anonymizer, Hierarchy, InputError, KAnonymity, verify_release
from anonymizer.hierarchy.partition import MARKED, members_of
from anonymizer.release.apply import publish_applied
from anonymizer.release.export import mapping_files, source_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.placement import place
from anonymizer.release.proof import require_present
from anonymizer.release.publish import publish
from anonymizer.release.sql import sql_of
from anonymizer.release.study import Study
from anonymizer.report.page.evidence import evidence_of
from anonymizer.risk.audit import audit_files

RULES = {
    "kept": '{ keep = [["A", "B", "C", "(missing)"], ["A"]], other = "other"LIMIT }',
    "listed": '{ file = "ward.csv"LIMIT }',
    "masked": "{ prefixes = [1]LIMIT }",
    "all or none": "{ suppress = trueLIMIT }",
}
METHODS = {
    "boxes": 'method = "boxes"',
    "heuristic boxes": 'method = "boxes"\nrefinement = "heuristic"',
    "merged cells": 'method = "merged-cells"',
    "ranges": 'method = "variable-range"',
    "cut": 'method = "cut"',
    "full-domain": 'method = "full-domain"',
    "suppressed": 'method = "full-domain"\nsuppression = 0.3\nsuppress = "any"',
    "fixed": 'method = "fixed"\nlevels = { day = 1, ward = 1 }\nsuppression = 0.6',
}
FEW = ("Dd", "E", "null")
WORDS = ["A", "B", "C", "(missing)", "missing", "null", "Dd", "E", ""]
"""Wards, an empty one missing; some read like the words for a missing value."""


def people(seed: int) -> pd.DataFrame:
    """Days, a few of them missing and written as pandas writes numbers with gaps, and wards."""
    rng = np.random.default_rng(seed)
    day = [str(float(each)) for each in rng.integers(0, 30, 160)]
    ward = rng.choice(WORDS, 160, p=[0.3, 0.2, 0.15, 0.05, 0.04, 0.04, 0.04, 0.03, 0.15])
    frame = pd.DataFrame({"who": [f"p{i}" for i in range(160)], "day": day, "ward": ward})
    frame["result"] = rng.choice(["pos", "neg"], 160)
    frame.loc[rng.random(160) < 0.15, "day"] = ""
    return frame


def study_of(directory, table, rule, method, missing, limit=""):
    """A study of a table, which lies next to it."""
    table.to_csv(directory / "people.csv", index=False)
    wards = [word for word in WORDS if word]
    rows = [f"{ward};{'few' if ward in FEW else ward};*" for ward in wards]
    (directory / "ward.csv").write_text("\n".join(rows) + "\n")
    (directory / "study.toml").write_text(
        f'[data]\npath = "people.csv"\nmissing = "{missing}"\n'
        f"[quasi-identifiers]\nday = {{ widths = [5, 10] }}\n"
        f"ward = {rule.replace('LIMIT', limit)}\n"
        '[sensitive]\nattributes = ["result"]\n[identifiers]\nattributes = []\n'
        f'[[privacy]]\nmodel = "k-anonymity"\nk = 4\n[recoding]\n{method}\n'
    )
    return Study(directory / "study.toml")


def read(path):
    with path.open(newline="") as file:
        return [*csv.DictReader(file)]


def holds(name: str, label: str, value: str) -> bool:
    """Whether a label is true of a value, by what it says to somebody who reads the file."""
    if label in ("*", value):
        return True
    parts = members_of(MARKED.sub("", label)) or [label]
    if "" in (label, value):
        return value == "" and None in parts
    if name == "day" and label[0] in "[(":
        low, high = label[1:-1].split(", ")
        return float(low) <= float(value) < float(high)
    if name == "day":
        return float(label) == float(value)
    names = {value, value[:1] + "*" * (len(value) - 1), "few" if value in FEW else "other"}
    return any(text is not None and MARKED.sub("", text) in names | {"other"} for text in parts)


def counted(rows) -> Counter:
    return Counter(tuple(row.values()) for row in rows)


def in_duckdb(release, raw) -> Counter:
    """The table that the SQL of a release makes of a raw one, none of whose recounts differ."""
    connection = duckdb.connect(config={"threads": 1})
    connection.register("people", raw)
    made, *recount = sql_of(source_of(release), "people", "released").rsplit(";\n\n", 1)
    connection.execute(made)
    assert connection.execute(recount[0]).fetchall() == []
    found = connection.execute("SELECT * FROM released").fetchall()
    return Counter(tuple("" if value is None else str(value) for value in row) for row in found)


def limit_of(method, rule, limit):
    """None where the level is given, or there is one alone."""
    return "" if method == "fixed" or rule == "all or none" else limit


CASES = [
    (method, rule, missing, limit_of(method, rule, limit))
    for method, rule, missing, limit in in_pairs(
        [*METHODS], [*RULES], ["category", "drop"], ["", ", min-level = 1"]
    )
]


@pytest.mark.parametrize(
    ("method", "rule", "missing", "limit"),
    [
        pytest.param(*each, marks=() if place % 3 == 0 else pytest.mark.slow)
        for place, each in enumerate([*dict.fromkeys(CASES)][:: at_length(2, 1)])
    ],
)
def test_run_apply_audit_and_sql_give_one_release(tmp_path, method, rule, missing, limit):
    raw = people(len(rule + method + missing + limit))
    study = study_of(tmp_path, raw, RULES[rule], METHODS[method], missing, limit)
    publish(study, tmp_path / "out")
    released = read(tmp_path / "out" / "released.csv")
    by_name = {row["who"]: row for row in raw.to_dict("records")}
    for row in released:
        own = by_name[row["who"]]
        assert all(holds(name, row[name], own[name]) for name in ("day", "ward")), (row, own)
    assert verify_release(tmp_path / "out", study).satisfied
    assert audit_files([tmp_path / "out"], [tmp_path / "people.csv"]).satisfied
    if method == "merged cells":  # whose classes overlap: the order of the records decides
        return
    publish_applied(tmp_path / "out", tmp_path / "people.csv", tmp_path / "again")
    assert counted(read(tmp_path / "again" / "released.csv")) == counted(released)
    assert in_duckdb(tmp_path / "out", raw) == counted(released)


def drafted(directory, missing="category"):
    """A release as ``init`` drafts it: boxes of a ward that is never finer than its level 1."""
    raw = pd.DataFrame({"who": [f"p{i}" for i in range(24)], "day": ["1.0"] * 8 + ["7.0"] * 16})
    raw["ward"] = ["A"] * 4 + [""] * 4 + ["A", "B", "C", "E", ""] * 3 + [""]
    raw["result"] = ["pos", "neg"] * 12
    rule = RULES["kept"].replace("(missing)", "D")
    study = study_of(directory, raw, rule, METHODS["boxes"], missing, ", min-level = 1")
    publish(study, directory / "out")


def test_what_init_drafts_of_a_column_with_gaps_by_hand(tmp_path):
    drafted(tmp_path)
    shown = Counter(row["ward"] for row in read(tmp_path / "out" / "released.csv"))
    assert shown[""] == 8
    manifest = manifest_in(tmp_path / "out")
    labels = {group["label"]: group for group in manifest["recoding"]["ward"]}
    assert None in labels
    assert not any("grouped" in str(label) for label in labels)
    assert labels[None]["members"] == [{"label": None, "level": 1}]
    (ward,) = (each for each in evidence_of(tmp_path / "out").attributes if each.name == "ward")
    assert ward.hidden == shown["*"]
    (file,) = (text for name, text in mapping_files(source_of(tmp_path / "out")).items()
               if name == "ward.csv")  # fmt: skip
    assert "missing,,,,\n" in file.replace("\r", "")


@pytest.mark.parametrize("value", ["missing", "(missing)", "null", "NA", "None", "nan"])
def test_a_value_that_reads_like_missing_is_not_a_missing_one(value):
    frame = pd.DataFrame({"ward": [value] * 5 + [None] * 5 + ["x"] * 5, "w": list("abcde") * 3})
    rule = Hierarchy.keep([value], other="rest").limited(min_level=1)
    for method in ("boxes", "full-domain", "cut"):
        found = Anonymizer(
            {"ward": rule}, "w", [KAnonymity(5)], recoding=method, missing="category"
        )
        released = found.fit_transform(frame)["ward"]
        assert released[:5].tolist() == [value] * 5
        assert released[5:10].isna().all()
        assert released[10:].tolist() == ["rest"] * 5
        manifest = Manifest.parse(json.loads(json.dumps(found.release_.to_dict())))
        labels, known = place(frame[["ward"]], manifest)
        assert known.all()
        assert labels["ward"].isna().tolist() == released.isna().tolist()


def test_a_value_that_reads_like_everything_is_marked_next_to_it():
    """A raw ``*`` in a box of its own."""
    frame = pd.DataFrame({"a": ["*"] * 5 + ["x"] * 5 + ["y", "z", "*", "x", "y"]})
    frame["b"] = ["p"] * 10 + ["q"] * 5
    frame["w"] = [*"abc"] * 5
    found = Anonymizer(
        {"a": "suppress", "b": "suppress"}, "w", [KAnonymity(5)], recoding="boxes",
        objective="discernibility",
    )  # fmt: skip
    released = found.fit_transform(frame)
    assert released["a"].tolist() == ["* (level 0)"] * 5 + ["{x, y, z}"] * 5 + ["*"] * 5
    manifest = found.release_.manifest
    assert {"label": "* (level 0)", "values": ["*"]} in manifest.to_dict()["recoding"]["a"]
    labels, known = place(frame[["a", "b"]], manifest)
    assert known.all()
    assert labels["a"].tolist() == released["a"].tolist()


def with_gaps() -> pd.DataFrame:
    return people(3).replace("", None)[["day", "ward", "result"]]


def estimator(method: str) -> Anonymizer:
    rules = {
        "day": Hierarchy.ranges(widths=[5, 10]),
        "ward": Hierarchy.keep(["A", "B", "C"], ["A"]).limited(min_level=1),
    }
    return Anonymizer(rules, "result", [KAnonymity(4)], recoding=method, missing="category")


@cache
def of_pandas(method: str) -> pd.DataFrame:
    """The release of pandas."""
    return estimator(method).fit_transform(with_gaps())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "method"), kinds_with(["boxes", "full-domain", "cut", "variable-range"])
)
def test_every_engine_has_a_missing_value_as_pandas_does(kind, method):
    expected = of_pandas(method)
    assert expected["ward"].isna().any() or expected["day"].isna().any()
    table = pa.Table.from_pandas(with_gaps(), preserve_index=False)
    found = estimator(method).fit_transform(KINDS[kind](table))
    assert records_of(found) == records_of(expected)


# Manifests of before


def test_a_manifest_of_before_is_refused_where_star_may_be_a_missing_value(tmp_path):
    drafted(tmp_path)
    manifest = manifest_in(tmp_path / "out") | {"format": 1}
    old = {None: "*", "*": "* (grouped)"}
    for group in manifest["recoding"]["ward"]:
        group["label"] = old.get(group["label"], group["label"])
        for each in group.get("members", ()):
            each["label"] = "*" if each["label"] is None else each["label"]
    for region in manifest["regions"]:
        region["ward"] = old.get(region["ward"], region["ward"])
    rewritten(tmp_path / "out", manifest)
    with pytest.raises(InputError, match=r"earlier version \(format 1\), in which '\*' of column"):
        verify_release(tmp_path / "out")


def test_a_manifest_of_before_is_read_where_no_value_can_be_missing(tmp_path):
    drafted(tmp_path, "drop")
    rewritten(tmp_path / "out", manifest_in(tmp_path / "out") | {"format": 1})
    assert verify_release(tmp_path / "out").satisfied


# 1.0 is 1


def test_a_release_next_to_suppressed_records_is_that_of_its_table(tmp_path):
    """A column of whole numbers with gaps, as pandas writes it, and a class that is suppressed."""
    raw = pd.DataFrame({"who": [f"p{i}" for i in range(18)]})
    raw["south"] = ["1.0"] * 6 + ["0.0"] * 6 + [""] * 2 + ["1.0"] * 2 + ["0.0"] * 2
    raw["age"] = ["30"] * 14 + ["70"] * 4
    raw["w"] = ["a", "b"] * 9
    raw.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "people.csv"\nmissing = "category"\n[quasi-identifiers]\n'
        'south = "suppress"\nage = { widths = [10] }\n[sensitive]\nattributes = ["w"]\n'
        '[identifiers]\nattributes = []\n[[privacy]]\nmodel = "k-anonymity"\nk = 4\n[recoding]\n'
        'method = "fixed"\nlevels = { south = 0, age = 1 }\nsuppression = 0.4\n'
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    released = read(tmp_path / "out" / "released.csv")
    assert Counter(row["south"] for row in released) == {"1": 6, "0": 6, "*": 6}
    shown = [group["label"] for group in manifest_in(tmp_path / "out")["recoding"]["south"]]
    assert {*shown} == {"0", "1"}  # as the file has them
    assert audit_files([tmp_path / "out"], [tmp_path / "people.csv"]).satisfied
    publish_applied(tmp_path / "out", tmp_path / "people.csv", tmp_path / "again")
    assert counted(read(tmp_path / "again" / "released.csv")) == counted(released)
    assert in_duckdb(tmp_path / "out", raw) == counted(released)


@pytest.mark.parametrize(("census", "sample"), [("1.0", "1"), ("1", "1.0"), ("1.00", "1")])
def test_a_census_may_spell_numbers_in_another_way(tmp_path, census, sample):
    pd.DataFrame({"size": [census] * 30 + ["2"] * 30}).to_csv(tmp_path / "all.csv", index=False)
    raw = pd.DataFrame({"size": [sample] * 3 + ["2"] * 3, "w": ["a", "b"] * 3})
    raw.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "people.csv"\n[quasi-identifiers]\nsize = "suppress"\n'
        '[sensitive]\nattributes = ["w"]\n[identifiers]\nattributes = []\n'
        '[[privacy]]\nmodel = "k-map"\nk = 20\npopulation = "all.csv"\n'
        '[recoding]\nmethod = "fixed"\nlevels = { size = 0 }\n'
    )
    study = Study(tmp_path / "study.toml")
    publish(study, tmp_path / "out")
    assert verify_release(tmp_path / "out", study).satisfied
    assert evidence_of(tmp_path / "out", study).manifest.privacy[0].worst == 30


def test_missing_values_that_no_released_record_has_are_placed_without_the_study(tmp_path):
    ward, result = "AAAAABBBBBCCCCC", "pn"
    rows = [(each, result[place % 2]) for place, each in enumerate(ward * 2)] + [("", "p")] * 2
    pd.DataFrame(rows, columns=["ward", "result"]).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "people.csv"\nmissing = "gap"\n[quasi-identifiers]\n'
        'ward = { keep = [["A", "B", "C"], ["A"]], other = "other" }\n'
        '[sensitive]\nattributes = ["result"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
        '[recoding]\nmethod = "full-domain"\nsuppression = 0.1\nremove = true\n'
    )
    publish(Study(tmp_path / "study.toml"), tmp_path / "out")
    assert manifest_in(tmp_path / "out")["suppressed"] == 2
    publish_applied(tmp_path / "out", tmp_path / "people.csv", tmp_path / "again")
    first, again = (pd.read_csv(tmp_path / each / "released.csv") for each in ("out", "again"))
    assert Counter(first.itertuples(index=False)) == Counter(again.itertuples(index=False))


CLASHING = """
[data]
path = "people.csv"
missing = "{missing}"
missing-values = ["other"]
[quasi-identifiers]
ward = {{ keep = [["A"]], other = "other" }}
[sensitive]
attributes = ["result"]
[[privacy]]
model = "k-anonymity"
k = 2
[recoding]
method = "{method}"
"""


def clashing(directory, missing, method):
    """A study and two tables: of the second a label is shown that reads as missing."""
    path = directory / "study.toml"
    path.write_text(CLASHING.format(missing=missing, method=method))
    for wards, shown in (("AABBCC", False), ("AABBC", True)):  # where C is alone it goes with B
        rows = [(ward, "pn"[place % 2]) for place, ward in enumerate(wards)]
        pd.DataFrame(rows, columns=["ward", "result"]).to_csv(directory / "people.csv", index=False)
        yield path, shown


CLASH = "column 'ward' would show 'other', which missing-values takes for a missing value"


@pytest.mark.parametrize("missing", ["error", "drop", "gap", "category"])
@pytest.mark.parametrize("method", ["full-domain", "best", "boxes"])
def test_a_label_that_reads_as_missing_is_refused_where_it_is_shown(tmp_path, missing, method):
    for path, shown in clashing(tmp_path, missing, method):
        if shown:
            with pytest.raises(InputError, match=re.escape(CLASH)):
                publish(Study(path), tmp_path / "again")
            assert not (tmp_path / "again").exists()
        else:
            publish(Study(path), tmp_path / "out")
            assert verify_release(tmp_path / "out", Study(path)).satisfied


def test_a_number_that_reads_as_missing_is_refused():
    with pytest.raises(InputError, match=re.escape("column 'a' would show '39.0', which")):
        require_present(pd.DataFrame({"a": ["39.0"]}), ["a"], ["39.0"])


def numbered(directory):
    """A study of merged cells that no label tells apart: a column of the release numbers them."""
    path = directory / "study.toml"
    named = CLASHING.format(missing="category", method="merged-cells").replace('"other"', '"1"', 1)
    path.write_text(named.replace('{ keep = [["A"]], other = "other" }', '"ward.csv"'))
    (directory / "ward.csv").write_text("A;x;*\nB;y;*\nC;x;*\nD;y;*\n")
    rows = [(ward, "pn"[ward in "AB"]) for ward in "AAABBBCCCDDD"]
    pd.DataFrame(rows, columns=["ward", "result"]).to_csv(directory / "people.csv", index=False)
    return path


NUMBERED = "column 'class' would show '1', which missing-values takes for a missing value"


def test_the_number_of_a_class_that_reads_as_missing_is_refused(tmp_path):
    with pytest.raises(InputError, match=re.escape(NUMBERED)):
        publish(Study(numbered(tmp_path)), tmp_path / "out")


BY_COLUMN = """
[data]
path = "people.{ending}"
missing = "gap"
missing-values = {given}
[quasi-identifiers]
age = {{ cuts = [[40]] }}
kids = {{ cuts = [[2]] }}
[sensitive]
attributes = ["result"]
[[privacy]]
model = "k-anonymity"
k = 2
"""


def coded(directory, ending="csv", given='{ kids = [77, "99"], "*" = ["?"] }'):
    """A study of people of whom 99 is an age, and no number of children."""
    kids = [0, 1, 1, 3, 4, 2, 99, 77, 99, 77]
    ages = [20, 20, 30, 50, 99, 99, 20, 30, 99, 99]
    people = pd.DataFrame({"age": ages, "kids": kids, "result": ["p", "n"] * 5})
    getattr(people, {"csv": "to_csv", "parquet": "to_parquet"}[ending])(
        directory / f"people.{ending}", index=False
    )
    path = directory / "study.toml"
    path.write_text(BY_COLUMN.format(ending=ending, given=given))
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_missing_in_one_column_is_a_value_of_another(tmp_path, ending):
    path = coded(tmp_path, ending)
    publish(Study(path), tmp_path / "out")
    found = read_table(next((tmp_path / "out").glob("released.*")))
    assert Counter(zip(found["age"], found["kids"].fillna("-"), strict=True)) == {
        ("(-inf, 40)", "(-inf, 2)"): 3,
        ("[40, inf)", "[2, inf)"): 3,
        ("(-inf, 40)", "-"): 2,
        ("[40, inf)", "-"): 2,
    }
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert manifest["columns"]["missing_values"] == {"kids": ["77", "99"], "*": ["?"]}
    assert verify_release(tmp_path / "out").satisfied
    assert verify_release(tmp_path / "out", Study(path)).satisfied
    publish_applied(tmp_path / "out", tmp_path / f"people.{ending}", tmp_path / "again")
    again = read_table(next((tmp_path / "again").glob("released.*")))
    assert Counter(again["kids"].fillna("-")) == Counter(found["kids"].fillna("-"))


def read_table(path):
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{ kid = [77] }", "missing-values names 'kid', which .* did you mean 'kids'"),
        ("{ kids = [[77]] }", r"missing-values must be a list of texts, or such a list by column"),
        ("[true]", r"missing-values must be a list of texts, or such a list by column"),
    ],
)
def test_missing_values_by_column_that_cannot_be(tmp_path, given, message):
    with pytest.raises(InputError, match=message):
        publish(Study(coded(tmp_path, given=given)), tmp_path / "out")


ALL_OTHERS = """
[data]
path = "people.csv"
missing = "gap"
[quasi-identifiers]
race = {{ keep = [["White"]], other = "all others", min-level = 1{missing} }}
sex = "suppress"
[sensitive]
attributes = ["result"]
[[privacy]]
model = "k-anonymity"
k = 8
[recoding]
method = "{method}"
"""


def gaps(directory, method, missing=', missing = "other"'):
    """A table of 60 of whom few are not White, and one has no race at all."""
    race = ["White"] * 44 + ["Black", "Asian"] * 7 + ["", "Pacific"]
    people = {"race": race, "sex": ["f", "m"] * 30, "result": ["p", "n", "p"] * 20}
    pd.DataFrame(people).to_csv(directory / "people.csv", index=False)
    path = directory / "study.toml"
    path.write_text(ALL_OTHERS.format(method=method, missing=missing))
    return path


@pytest.mark.parametrize("method", ["full-domain", "boxes", "cut"])
def test_a_gap_may_be_one_of_all_others(tmp_path, method):
    path = gaps(tmp_path, method)
    publish(Study(path), tmp_path / "out")
    found = pd.read_csv(tmp_path / "out" / "released.csv", keep_default_na=False)
    assert Counter(zip(found["race"], found["sex"], strict=True)) == {
        ("White", "f"): 22,
        ("White", "m"): 22,
        ("all others", "f"): 8,
        ("all others", "m"): 8,
    }
    assert verify_release(tmp_path / "out").satisfied
    assert verify_release(tmp_path / "out", Study(path)).satisfied
    assert audit_files([tmp_path / "out"], [tmp_path / "people.csv"]).holds
    publish_applied(tmp_path / "out", tmp_path / "people.csv", tmp_path / "again")
    again = pd.read_csv(tmp_path / "again" / "released.csv", keep_default_na=False)
    assert Counter(again["race"]) == Counter(found["race"])
    connection = duckdb.connect(config={"threads": 1})
    connection.register("people", pd.read_csv(tmp_path / "people.csv"))
    made, recount = sql_of(source_of(tmp_path / "out"), "people", "released").rsplit(";\n\n", 1)
    connection.execute(made)
    assert connection.execute(recount).fetchall() == []
    shown = connection.execute("SELECT race FROM released").df()["race"]
    assert Counter(shown) == Counter(found["race"])


def test_a_gap_of_its_own_hides_all(tmp_path):
    publish(Study(gaps(tmp_path, "full-domain", "")), tmp_path / "out")
    assert {*pd.read_csv(tmp_path / "out" / "released.csv")["race"]} == {"*"}


def test_a_gap_that_a_manifest_moves_is_noticed(tmp_path):
    publish(Study(gaps(tmp_path, "full-domain")), tmp_path / "out")
    manifest = manifest_in(tmp_path / "out")
    group = next(each for each in manifest["recoding"]["race"] if each["label"] == "all others")
    assert group.pop("missing") is True
    rewritten(tmp_path / "out", manifest)
    assert not verify_release(tmp_path / "out", Study(tmp_path / "study.toml")).satisfied


def test_the_place_of_a_gap_is_one_of_two():
    with pytest.raises(InputError, match='must be "own", a group of its own, or "other"'):
        Hierarchy.of({"keep": [["White"]], "missing": "none"})


def test_the_policy_of_a_study_is_counted_as_that_study_takes_gaps(tmp_path, published_from):
    """A missing value is a second one of its class as a category, and none as a gap."""
    table = pd.DataFrame({"age": [1] * 4 + [2] * 4, "w": ["flu", None] * 2 + ["flu", "cold"] * 2})
    text = (
        '[data]\npath = "raw.csv"\nmissing = "category"\n[quasi-identifiers]\nage = "suppress"\n'
        '[sensitive]\nattributes = ["w"]\n[[privacy]]\nmodel = "distinct-l-diversity"\nl = 2\n'
        '[recoding]\nmethod = "fixed"\nlevels = { age = 0 }\n'
    )
    out, _ = published_from(table, text)
    (tmp_path / "study.toml").write_text(text.replace('"category"', '"gap"'))
    (verdict,) = verify_release(out, Study(tmp_path / "study.toml")).verdicts
    assert (verdict.satisfied, verdict.worst) == (False, 1)
