"""Tables counted at a ground: released as those whose lowest level it is, and true of everybody."""

import re
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from anonymizer import (
    Anonymizer,
    Boxes,
    Cut,
    DifferentialPrivacy,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    MergedCells,
    Plan,
    Pram,
    SafePub,
    Study,
    VariableRange,
    verify_release,
)
from anonymizer.hierarchy.calendar import Clock, span_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.publish import publish
from anonymizer.release.signing import PrivateKey, make_keys

GROUNDED = {
    "birth": {"calendar": ["year", "decade"], "ground": "month"},
    "income": {"widths": [5000, 20000], "ground": 1000},
    "zip": {"prefixes": [2, 1], "ground": 3},
}
FINEST = {
    "birth": {"calendar": ["month", "year", "decade"], "min-level": 1},
    "income": {"widths": [1000, 5000, 20000], "min-level": 1},
    "zip": {"prefixes": [3, 2, 1], "min-level": 1},
}
"""The same levels, over all values as they are."""

RECODINGS = {
    "full-domain": FullDomain(suppression=0.05),
    "cut": Cut(),
    "income": VariableRange(refine=["income"]),
    "birth": VariableRange(refine=["birth"]),
    "boxes": Boxes(),
    "merged-cells": MergedCells(),
}


def table_of(records=150, seed=0):
    rng = np.random.default_rng(seed)
    days = pd.to_datetime("1950-01-01") + pd.to_timedelta(rng.integers(0, 15000, records), "D")
    return pd.DataFrame(
        {
            "birth": days.date.astype(str),
            "income": rng.integers(1, 60_000, records),
            "zip": rng.integers(40_000, 42_999, records).astype(str),
            "disease": rng.choice(list("xyz"), records),
        }
    )


def fitted(hierarchies, recoding, table):
    anonymizer = Anonymizer(
        quasi_identifiers=hierarchies,
        sensitive="disease",
        privacy=[KAnonymity(5)],
        recoding=recoding,
        objective="discernibility",  # not how many values a level has
    )
    released = anonymizer.fit_counted(table, anonymizer.task(table))  # with the index of the table
    return anonymizer, released[anonymizer.columns_]


def place_of(name, value):
    return Clock().moment(value).place if name == "birth" else Decimal(str(value))


def ends_of(name, label):
    """The ends of what a label says; None where that is open."""
    if name == "birth" and span_of(label):
        return span_of(label)[:2]
    found = re.fullmatch(r"[\[(](.+), (.+)\)", label)
    return [None if "inf" in end else place_of(name, end) for end in found.groups()]


def is_true(name, value, label):
    """Whether a label says nothing that is wrong about a value."""
    if label == "*":
        return True
    if label.startswith("{"):
        return any(is_true(name, value, each) for each in label[1:-1].split(", "))
    if name == "zip":
        return len(label) == 5 and value.startswith(label.rstrip("*"))
    low, high = ends_of(name, label)
    place = place_of(name, value)
    return (low is None or low <= place) and (high is None or place < high)


@pytest.mark.parametrize("name", RECODINGS)
def test_a_ground_releases_what_a_lowest_level_does_and_every_label_is_true(name):
    table = table_of(60)
    anonymizer, released = fitted(GROUNDED, RECODINGS[name], table)
    assert released.equals(fitted(FINEST, RECODINGS[name], table)[1])
    for column in GROUNDED:
        values = zip(table[column][released.index], released[column], strict=True)
        assert all(is_true(column, value, str(label)) for value, label in values)
    # cells, not values, are what was counted
    months = table["birth"].str[:7].nunique()
    assert len(anonymizer.taxonomies_["birth"].codes) == months < table["birth"].nunique()
    again = table.assign(birth=table["birth"].str[:8] + "01")  # days that nobody was born on
    assert anonymizer.plan_.apply(again).equals(released.reset_index(drop=True))


def test_ranges_end_where_cells_of_the_ground_do():
    ages = pd.DataFrame({"age": [21, 22, 37, 38] * 5, "disease": ["x", "y", "x", "x"] * 5})
    hierarchy = Hierarchy.ranges(widths=[20]).grounded(10)
    anonymizer, released = fitted({"age": hierarchy}, VariableRange(refine=["age"]), ages)
    assert set(released["age"]) == {"(-inf, 30)", "[30, inf)"}
    assert anonymizer.search_.proven


def test_cells_beyond_the_cut_points_of_a_ground_are_open():
    hierarchy = Hierarchy.ranges(cuts=[[20_000]]).grounded([10_000, 20_000])
    _, released = fitted({"income": hierarchy}, VariableRange(refine=["income"]), table_of())
    assert {*released["income"]} == {"(-inf, 10000)", "[10000, 20000)", "[20000, inf)"}


def test_random_recodings_refuse_a_ground():
    with pytest.raises(InputError, match="cannot keep to the ground of 'birth'"):
        Anonymizer(GROUNDED, "disease", [KAnonymity(5)], Pram()).fit(table_of())


def test_values_that_are_not_covered_are_refused_as_without_a_ground():
    table = table_of().astype({"income": object})
    table.loc[:7, "income"] = "much"
    for given in (GROUNDED, FINEST):
        with pytest.raises(InputError, match="column 'income' holds 1 value, in 8 records"):
            fitted(given, FullDomain(), table)


STUDY = """
[data]
path = "people.csv"

[quasi-identifiers]
birth = { calendar = ["year", "decade"], ground = "month" }
income = { widths = [5000, 20000], ground = 1000 }
zip = { prefixes = [2, 1], ground = 3 }

[sensitive]
attributes = ["disease"]

[[privacy]]
model = "k-anonymity"
k = 5
"""


def test_a_release_says_its_grounds_and_is_verified_and_applied_by_them(tmp_path):
    table_of().to_csv(tmp_path / "people.csv", index=False)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    publish(Study(path), tmp_path / "release")
    report = verify_release(tmp_path / "release", study=path)
    assert not report.differences
    alone = Plan.from_manifest(tmp_path / "release")
    grounds = {name: each.ground for name, each in alone.hierarchies.items()}
    assert grounds == {"birth": "month", "income": "1000", "zip": 3}
    assert grounds == {name: each.ground for name, each in Study(path).hierarchies.items()}
    other = table_of(seed=1)
    by_study = Plan.from_manifest(tmp_path / "release", study=path)
    assert alone.apply(other).equals(by_study.apply(other))
    path.write_text(STUDY.replace('"month"', '"quarter"'))
    assert verify_release(tmp_path / "release", study=path).differences


def test_dates_of_every_kind_are_counted_by_month():
    texts = ["2020-02-03", "2020-02-28", "2020-03-01", "2020-03-31"] * 5
    for birth in (texts, pd.to_datetime(texts), [date.fromisoformat(each) for each in texts]):
        table = pd.DataFrame({"birth": birth, "disease": ["x", "y"] * 10})
        given = {"birth": {"calendar": ["year"], "ground": "month"}}
        released = fitted(given, "full-domain", table)[1]
        assert released["birth"].tolist() == [text[:7] for text in texts]


QUANTILES = {"cuts": [[20_000, 40_000], [40_000]], "ground": {"quantiles": 8}}


def test_quantiles_are_round_and_keep_the_cut_points_of_level_1():
    hierarchy = Hierarchy.of(QUANTILES)
    found = hierarchy.settled([*range(0, 60_000, 100)], [1] * 600)
    # ninths before multiples of 2,000, the roundest within an eighth of a cell, as one has each
    assert found.cuts[0] == (5950, 13950, 20000, 25950, 33950, 40000, 45950, 53950)
    shared = hierarchy.settled([*range(0, 60_000, 100)], [5] * 600)
    assert shared.cuts[0] == (6000, 14000, 20000, 26000, 34000, 40000, 46000, 54000)
    assert found.cuts[1:] == ((20_000, 40_000), (40_000,))
    # too few records for any cell: those of level 1 alone
    assert hierarchy.settled([1, 2, None], [5, 5, 5]).cuts[0] == (20_000, 40_000)
    assert hierarchy.settled([7], [500]).cuts[0] == (20_000, 40_000)


def test_quantiles_follow_from_the_table_and_stay_those_of_its_release(tmp_path):
    table = table_of(400)
    table.to_csv(tmp_path / "people.csv", index=False)
    path = tmp_path / "study.toml"
    written = "{ cuts = [[20000, 40000], [40000]], ground = { quantiles = 8 } }"
    path.write_text(STUDY.replace("{ widths = [5000, 20000], ground = 1000 }", written))
    publish(Study(path), tmp_path / "release")
    assert not verify_release(tmp_path / "release", study=path).differences
    plan = Plan.from_manifest(tmp_path / "release", study=path)
    values, sizes = np.unique(table["income"], return_counts=True)
    own = Study(path).hierarchies["income"].settled(values.tolist(), sizes.tolist())
    assert len(own.cuts[0]) > 6
    known = Manifest.of_steward(tmp_path / "release").hierarchies["income"]["ground"]
    assert [*map(Decimal, known)] == [*own.cuts[0]]
    ground, *coarser = plan.hierarchies["income"].cuts  # of the ground the released ends alone
    assert {*own.cuts[1]} <= {*ground} < {*own.cuts[0]}
    assert coarser == [*own.cuts[1:]]
    other = table_of(400, seed=1)
    alone = Plan.from_manifest(tmp_path / "release")
    assert plan.apply(other, unseen="suppress").equals(alone.apply(other, unseen="suppress"))
    fewer = path.read_text().replace("quantiles = 8", "quantiles = 3")
    path.write_text(fewer)
    differing = {
        each.field for each in verify_release(tmp_path / "release", study=path).differences
    }
    assert {"hierarchies", "study.fingerprint"} <= differing


def test_quantiles_that_cannot_be_counted_at():
    for given in ({"quantiles": 0}, {"quantiles": 1023}, {"quantiles": 4, "of": 1}, {}):
        with pytest.raises(InputError, match=r"must say how many quantiles .* up to 1,022"):
            Hierarchy.of({**QUANTILES, "ground": given})
    with pytest.raises(InputError, match="must be a width above 0"):
        Hierarchy.of({"widths": [5], "ground": {"quantiles": 4}})
    private = [DifferentialPrivacy(epsilon=1, delta=1e-3)]
    given = {"income": QUANTILES}
    with pytest.raises(InputError, match="follow from the records, and no noise protects them"):
        Anonymizer(given, privacy=private, recoding=SafePub(levels={"income": 1})).fit(table_of())


def test_a_signed_release_knows_its_original_by_what_was_counted(tmp_path):
    mine = tmp_path / "mine.pem"
    make_keys(mine, tmp_path / "mine.pub")
    table = table_of()
    table.to_csv(tmp_path / "people.csv", index=False)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    publish(Study(path), tmp_path / "release", key=PrivateKey.read(mine))
    same = table.assign(birth=table["birth"].str[:8] + "09")
    other = table.assign(birth=table["birth"].str[:5] + "12-09")
    for original, agrees in ((table, True), (same, True), (other, False)):
        original.to_csv(tmp_path / "original.csv", index=False)
        for study in (None, path):
            given = {"key": mine, "original": tmp_path / "original.csv"}
            found = verify_release(tmp_path / "release", study=study, **given)
            assert all(check.field != "input.fingerprint" for check in found.differences) == agrees
