"""Grids of cut points: ranges of decimals, and of many distinct values."""

import json
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from fuzz.exercise import command
from hypothesis import given
from hypothesis import strategies as st
from lengths import at_length
from releases import rewritten
from strategies import problem_of

from anonymizer import Anonymizer, EntropyLDiversity, Hierarchy, KAnonymity, VariableRange
from anonymizer.hierarchy import Interval
from anonymizer.hierarchy.scale import round_number
from anonymizer.objectives import MutualInformation
from anonymizer.recoding import Problem, RangeOptions, Refiner, refine_jointly
from anonymizer.recoding.boxes.grid import axes_of
from anonymizer.recoding.partitions.groups import Ranges
from anonymizer.recoding.partitions.points import FEW, GRID, MOST_CUTS
from anonymizer.release.manifest.parts import steward_file

REFINED = ["variable-range", "cut", "boxes", "merged-cells"]


def problem(xs, hierarchy, k=1, ws=None) -> Problem:
    table = pd.DataFrame(
        {"x": list(xs), "w": ws or ["a", "b"] * (len(xs) // 2) + ["a"] * (len(xs) % 2)}
    )
    return problem_of(table, {"x": hierarchy}, [KAnonymity(k)])


def ranges(xs, hierarchy=None, **options) -> Ranges:
    given = problem(xs, hierarchy or Hierarchy.ranges(widths=[10]))
    counts = given.counts
    codes = counts.cells[:, 0]
    return Ranges.of("x", given.taxonomies["x"], codes, RangeOptions(**options), counts.sizes)


def points(*args, **options) -> list[float]:
    return [float(point) for point in ranges(*args, **options).points]


@pytest.mark.parametrize(
    ("low", "high", "near", "expected"),
    [
        ("12.31", "12.84", "12.6", "12.5"),
        ("9.7", "10.2", "9.9", "10"),
        ("-0.3", "0.4", "0.3", "0"),
        ("10", "11", "10.4", "11"),
        ("1234", "1240", "1238", "1240"),
        ("-1E+300", "1E+300", "5E+299", "0"),
        ("0.12345", "0.12346", "0.123457", "0.12346"),
    ],
)
def test_round_numbers_by_hand(low, high, near, expected):
    assert round_number(Decimal(low), Decimal(high), Decimal(near)) == Decimal(expected)


def test_a_round_number_that_is_avoided_gives_way_to_the_next():
    taken = {Decimal(10), Decimal("10.5")}
    assert round_number(Decimal(9), Decimal(11), Decimal(10), taken.__contains__) == 11
    taken |= {Decimal(11), Decimal("9.5")}
    assert round_number(Decimal(9), Decimal(11), Decimal(10), taken.__contains__) == Decimal("9.8")


def test_a_given_number_of_cut_points_are_quantiles_moved_to_round_numbers():
    xs = [n / 100 for n in range(3, 10_003, 7)]  # 0.03 to 100, evenly
    found = points(xs, Hierarchy.ranges(widths=[10]).limited(grid=3))
    assert found == [0.03, 20.0, 50.0, 80.0]
    assert ranges(xs, Hierarchy.ranges(widths=[10]).limited(grid=3)).grid == 3


def test_cut_points_that_are_listed():
    listed = Hierarchy.ranges(widths=[10]).limited(grid=[10, 20.5, 21, 40])
    assert points([1, 5, 12, 22, 30], listed) == [1, 10, 21]
    assert points([50, 60], listed) == [50]


def test_few_cut_points_of_many_values_are_used_and_no_value_that_few_have():
    rng = np.random.default_rng(5)
    xs = [round(float(x), 2) for x in rng.normal(0, 10, 3000)]
    found = ranges(xs)
    assert found.grid == GRID == len(found.points) - 1
    records = pd.Series(xs).value_counts()
    assert all(records.get(float(point), FEW) >= FEW for point in found.points[1:])
    sizes = np.diff(np.searchsorted(np.sort(xs), [float(p) for p in found.points]))
    assert sizes.min() > 0.4 * len(xs) / (GRID + 1)
    assert sizes.max() < 1.7 * len(xs) / (GRID + 1)


def test_all_values_up_to_the_bound_are_cut_points_as_before():
    assert ranges(range(MOST_CUTS)).grid is None
    assert ranges(range(MOST_CUTS + 1)).grid == GRID


@given(st.data())
def test_a_grid_of_all_values_is_the_same_as_none(data):
    size = data.draw(st.integers(3, 20))
    xs = data.draw(st.lists(st.integers(-5, 12), min_size=size, max_size=size))
    ws = data.draw(st.lists(st.sampled_from("ab"), min_size=size, max_size=size))
    plain, k = Hierarchy.ranges(widths=[3, 6]), data.draw(st.integers(1, 3))
    found = []
    for hierarchy in (plain, plain.limited(grid=sorted(set(xs))), plain.limited(grid=40)):
        refined = refine_jointly(problem(xs, hierarchy, k, ws), ["x"], Refiner(MutualInformation()))
        found.append((refined.recoding["x"].groups.tolist(), refined.value))  # labels may differ
        assert refined.proven
    assert found[0] == found[1] == found[2]


def test_levels_and_grids_go_together():
    """Every border of the highest level is a cut point, whatever the grid."""
    xs = [n / 10 for n in range(1, 3000, 2)]
    hierarchy = Hierarchy.ranges(widths=[5, 50]).limited(max_level=2, grid=10)
    found = points(xs, hierarchy)
    assert {50.0, 100.0, 150.0, 200.0, 250.0} < set(found)
    assert len(found) <= 11
    coarse = Hierarchy.ranges(widths=[5, 50]).limited(min_level=1, grid=10)
    assert all(point % 5 == 0 for point in points(xs, coarse)[1:])
    # No value lies at 0 exactly: the border is 0 all the same.
    assert 0.0 in points([-7.5, -2.25, 0.125, 3], Hierarchy.ranges(widths=[5]).limited(min_level=1))


def test_steps_that_are_too_fine_are_thinned():
    found = ranges([n / 4 for n in range(8000)], grid=0.5)
    assert found.grid == GRID
    assert all(point % Decimal("0.5") == 0 for point in found.points)


def table_of(size, seed=0):
    rng = np.random.default_rng(seed)
    x = np.round(rng.lognormal(8, 1, size), 2)
    w = np.where(rng.random(size) < 0.2 + 0.6 * (x > np.median(x)), "hi", "lo")
    return pd.DataFrame({"x": x, "sex": rng.choice(["f", "m"], size), "w": w})


@pytest.mark.parametrize("recoding", REFINED)
def test_thousands_of_decimals_are_refined(recoding):
    table = table_of(1100)
    hierarchy = Hierarchy.ranges(widths=[1000, 10_000]).limited(grid=5)
    asked = Anonymizer(
        {"x": hierarchy, "sex": "suppress"}, "w", [KAnonymity(20)], recoding=recoding
    )
    released = asked.fit_transform(table)
    assert released.groupby(["x", "sex"], observed=True).size().min() >= 20
    assert asked.search_.grids == {"x": 5}
    assert asked.release_.steward_manifest.search.grids == {"x": 5}
    assert asked.search_.value > 0.1


@pytest.mark.slow
def test_very_many_distinct_values():
    size = at_length(20_000, 100_000)
    table = table_of(size)
    assert table["x"].nunique() > 0.6 * size
    asked = Anonymizer(
        {"x": Hierarchy.ranges(widths=[1000])}, "w", [KAnonymity(50)], recoding="variable-range"
    ).fit(table)
    assert asked.search_.proven
    assert asked.search_.grids == {"x": GRID}
    labels = [label for label in asked.recoding_["x"].labels if isinstance(label, Interval)]
    assert len(labels) > 0.9 * GRID
    # Round numbers: hardly any has more than three digits that say something.
    digits = [len(label.low.normalize().as_tuple().digits) for label in labels[1:]]
    assert np.mean(digits) < 3.2


def test_missing_values_negative_huge_and_close_ones():
    xs = [None, float("nan"), -1e300, -2.5, -2.5, 0.1, 0.3, 2**53 + 1, 2**53 + 2, 1e300] * 3
    table = pd.DataFrame({"x": pd.Series(xs, dtype=object), "w": list("abcab" * 6)})
    asked = Anonymizer(
        {"x": Hierarchy.ranges(widths=[1])}, "w", [KAnonymity(3)], recoding="variable-range",
        missing="category",
    )  # fmt: skip
    released = asked.fit_transform(table)
    assert released.loc[[0, 1], "x"].isna().all()
    assert released["x"].astype(str).value_counts().min() >= 3
    lows = [label.low for label in asked.recoding_["x"].labels if isinstance(label, Interval)]
    assert Decimal(2**53 + 2) in lows


def test_values_that_are_one_as_floats_stay_together():
    """A manifest could not tell where one range ends and the other begins."""
    close = ["0.1", "0.10000000000000000001", "0.2"]
    found = ranges([Decimal(text) for text in close])
    assert found.points == (Decimal("0.1"), Decimal("0.15"))
    apart = ranges([Decimal("0.1"), Decimal("0.20000000000000000001")])
    assert apart.points == (Decimal("0.1"), Decimal("0.2"))


def test_codes_of_one_group_of_many_stay_together_in_boxes():
    codes = [f"{n:04d}" for n in range(150)] + ["9001", "9002", "9003"]
    rows = [[code, "other" if code < "9" else "named"] for code in codes]
    table = pd.DataFrame({"x": codes * 2, "w": ["a", "b"] * len(codes)})
    given = problem_of(table, {"x": Hierarchy.from_rows(rows)}, [KAnonymity(1)])
    (axis,) = axes_of(given, (), RangeOptions())
    assert axis.blocks == 4
    nodes = axis.covered(range(4))
    assert nodes.label(axis.taxonomy) == "*"
    assert axis.covered(range(1)).label(axis.taxonomy) == "other"
    assert axis.covered(range(1, 3)).label(axis.taxonomy) == "{9001, 9002}"
    assert axis.cover(np.array([1, 3]), (0, 0)).label(axis.taxonomy) == "{9001, 9003}"
    assert axis.cover(np.array([0, 3]), (0, 0)).label(axis.taxonomy) == "{other, 9003}"


def zips(size, seed=1):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 20_000, size)
    w = np.where(rng.random(size) < 0.15 + 0.7 * (codes // 100 % 2), "hi", "lo")
    return pd.DataFrame({"zip": [f"{code:05d}" for code in codes], "w": w})


@pytest.mark.parametrize("recoding", ["boxes", "merged-cells"])
def test_thousands_of_codes_by_their_prefixes(recoding, tmp_path):
    table = zips(1500 if recoding == "boxes" else 60)
    asked = Anonymizer(
        {"zip": Hierarchy.prefixes([4, 3, 2, 1])}, "w", [KAnonymity(5), EntropyLDiversity(1.2)],
        recoding=recoding,
    )  # fmt: skip
    released = asked.fit_transform(table)
    assert released["zip"].nunique() > 10 or recoding == "merged-cells"
    for code, label in zip(table["zip"], released["zip"], strict=True):
        parts = label.strip("{}").split(", ")
        assert any(code.startswith(part.rstrip("*")) for part in parts)
        assert len(parts) <= 100
    columns = ["zip"] if recoding == "boxes" else ["class"]
    assert released.groupby(columns).size().min() >= 5
    assert asked.transform(table).equals(released)


def test_boxes_of_codes_are_those_of_a_plain_tree():
    """With three levels of two each, the best sibling runs are found by hand."""
    table = pd.DataFrame({"zip": [f"{n:03b}" * 34 for n in range(8)] * 12})
    assert math.log2(table["zip"].nunique()) == 3
    table["w"] = np.where(table["zip"].str[0] == "1", "a", "b")
    hierarchy = Hierarchy.prefixes([2, 1]).limited(min_level=1)
    information = {"recoding": "boxes", "objective": "mutual-information"}
    asked = Anonymizer({"zip": hierarchy}, "w", [KAnonymity(40)], **information)
    released = asked.fit_transform(table)
    stars = "*" * 101
    assert set(released["zip"]) == {"0" + stars, "1" + stars}
    assert asked.search_.value == pytest.approx(1)


def test_the_bound_is_over_the_grid():
    table = table_of(2000)
    asked = Anonymizer(
        {"x": Hierarchy.ranges(widths=[100]).limited(grid=5)}, "w", [KAnonymity(2)],
        recoding=VariableRange(max_ranges=3), objective="mutual-information",
    ).fit(table)  # fmt: skip
    assert asked.search_.proven
    finer = Anonymizer(
        {"x": Hierarchy.ranges(widths=[100]).limited(grid=50)}, "w", [KAnonymity(2)],
        recoding=VariableRange(max_ranges=3), objective="mutual-information",
    ).fit(table)  # fmt: skip
    assert finer.search_.value > asked.search_.bound


STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
zip = { prefixes = [4, 3, 2, 1] }
x = { widths = [1, 10], grid = 6, min-level = 1 }
[sensitive]
attributes = ["w"]
[[privacy]]
model = "k-anonymity"
k = 10
[recoding]
method = "boxes"
"""


def test_a_release_of_codes_and_grids_verifies_from_its_folder(tmp_path):
    """With the study, too; a box that is said to be of another group is noticed by it."""
    table = zips(600)
    table["x"] = [n / 7 for n in range(len(table))]
    table.to_csv(tmp_path / "people.csv", index=False)
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(STUDY, encoding="utf-8")
    code, told, error = command("run", study, "--output", out)
    assert (code, error) == (0, "")
    assert "Ranges of x begin at the cut points of a grid, 6 points" in told
    assert command("verify", out)[0] == 0
    assert command("verify", out, "--study", study)[0] == 0
    manifest = json.loads(steward_file(out).read_text(encoding="utf-8"))
    assert manifest["search"]["grids"] == {"x": 6}
    groups = [group for group in manifest["recoding"]["zip"] if group["label"] != "*"]
    assert all(group["members"] for group in groups)
    groups[0]["members"][0]["label"] = "99***"
    rewritten(out, manifest)
    assert command("verify", out, "--study", study)[0] == 1
