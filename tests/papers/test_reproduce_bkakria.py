"""Bkakria et al. (2021): every printed cell and every series, against independent values."""

import json
from collections import Counter
from itertools import product
from math import log2
from pathlib import Path

import literature
import numpy as np
import pytest
from papers.computed import sections_of

from anonymizer.papers import plots
from anonymizer.papers.bkakria2021 import definitions, schemes, times
from anonymizer.papers.bkakria2021.cases import AGES, DISEASES, ZIPS
from anonymizer.papers.bkakria2021.figures import EXAMPLE
from anonymizer.papers.bkakria2021.pair import FIRST, SECOND
from anonymizer.papers.bkakria2021.schemes import furthest
from anonymizer.papers.row import AS_PUBLISHED, DIFFERS, IMPOSSIBLE, TRUNCATED, PublishedSection
from anonymizer.risk import Inference

EXPECTED = json.loads((Path(__file__).parents[1] / "expected" / "risk_metrics.json").read_text())
FIGURES = EXPECTED["figures"]
WITHIN = 5e-7

NAMES = {
    "Age 1": "itpr_t4_reid_age1",
    "Age 2": "itpr_t4_reid_age2",
    "Age 3": "itpr_t4_reid_age3",
    "Age 4": "itpr_t4_reid_age4",
    "Age 5": "itpr_t4_reid_age5",
    "Age 5, Disease 1": "itpr_t4_inf_age5_disease1",
    "Age 5, Disease 2": "itpr_t4_inf_age5_disease2",
    "Age 5, Disease 3": "itpr_t4_inf_age5_disease3",
    "Age 2, Zip Code 1": "itpr_t5_row6_age2_zip1",
    "Age 2, Zip Code 2": "itpr_t5_row7_age2_zip2",
}
CASES = {case["id"]: case for case in EXPECTED["cases"]}
MEASURED = {
    "itpr": "ITPR",
    "discrimination_rate": "DR",
    "mutual_information": "MI",
    "conditional_privacy": "CP",
    "entropy_l_diversity_risk": "ELD",
    "weighted_information_leakage": "MIL_weighted",
    "maximum_information_leakage": "MIL",
    "uncertainty": "H_X",
}
SERIES = {
    "Figure 1": "fig1",
    "Figure 2 (a small class)": "fig2a",
    "Figure 2 (equal steps)": "fig2b",
    "Figure 3": "fig3",
    "Figure 4 (two groups)": "fig4a",
    "Figure 4 (ten groups)": "fig4b",
}


@pytest.fixture(scope="module")
def sections():
    return {section.title: section for section in sections_of("bkakria2021")}


@pytest.fixture(scope="module")
def rows(sections):
    return {row.quantity: row for section in sections.values() for row in section.rows}


def of(sections, title):
    return {row.quantity: row for row in sections[title].rows}


# Tables 1 and 2


def test_the_tables_are_those_of_the_reference():
    given = EXPECTED["datasets"]
    for people, name in ((FIRST, "itpr_table1"), (SECOND, "itpr_table2")):
        assert list(people.zips) == given[name]["zip"]
        assert list(people.ages) == given[name]["age"]
        assert list(people.diseases) == given[name]["disease"]
    eight = given["itpr_table3_6"]
    assert [list(AGES[n]) for n in AGES] == [eight[f"age{n}"] for n in AGES]
    assert [list(ZIPS[n]) for n in ZIPS] == [eight[f"zip{n}"] for n in ZIPS]
    together = [[d.replace(" ", "") for d in DISEASES[n]] for n in DISEASES]
    assert together == [eight[f"disease{n}"] for n in DISEASES]


@pytest.mark.parametrize("table", [1, 2])
def test_a_release_and_what_is_said_of_it(sections, table):
    found = of(sections, f"Table {table}b")
    inference = CASES[f"itpr_table{table}_inference"]["expected"]
    records = CASES[f"itpr_table{table}_reid"]["expected"]
    for quantity, name in {
        "k": "k",
        "distinct l": "l_distinct",
        "entropy l": "l_entropy",
        "t": "MIL_kl",
        "probability of inference": "max_posterior",
        "ELD": "ELD",
        "ITPR": "ITPR",
        "DR": "DR",
        "MI": "MI",
        "CP": "CP",
    }.items():
        assert found[quantity].value == pytest.approx(inference[name], abs=WITHIN)
    assert inference["t_equal_distance_emd"] == 0
    for name in ("ITPR", "DR", "MI", "CP", "ELD"):
        value = found[f"{name}, re-identification"].value
        assert value == pytest.approx(records[name], abs=WITHIN)
    printed = [row.status for row in found.values() if row.published]
    assert printed == [AS_PUBLISHED] * 5
    assert found[f"Table {table}b from Table {table}a"].computed.endswith("records in 3 groups")


def test_what_tells_the_two_releases_apart(sections):
    said = {row.quantity: row.remark for row in sections["Tables 1b and 2b distinguished"].rows}
    assert {name for name, text in said.items() if text == "tells that 2b risks more"} == {
        "entropy l",
        "probability of inference",
        "ELD",
    }
    assert {name for name, text in said.items() if text == "says the opposite"} == {"k"}
    assert {name for name, text in said.items() if text == "does not tell them apart"} == {
        "distinct l",
        "t",
        "ITPR",
        "DR",
        "MI",
        "CP",
    }


# Tables 3 to 6


def test_the_cases_are_as_described_but_for_two_of_disease(sections):
    found = of(sections, "Tables 3 and 6: eight patients")
    assert {name for name, row in found.items() if row.status.startswith(DIFFERS)} == {
        "Disease 2",
        "Disease 3",
    }
    assert found["Disease 3"].computed == "5 + 1 + 1 + 1"


@pytest.mark.parametrize("name", list(NAMES)[:8])
@pytest.mark.parametrize("metric", ["DR", "MI", "CP", "MIL", "ELD"])
def test_a_cell_of_table_4(rows, name, metric):
    row = rows[f"{metric}, {name}"]
    expected, printed = (CASES[NAMES[name]][part] for part in ("expected", "published"))
    reference = printed[metric]
    assert row.published == reference["printed"]
    kinds = {"match": AS_PUBLISHED, "match_truncated": TRUNCATED, "MISMATCH": DIFFERS}
    assert row.status.startswith(kinds[reference["status"]])
    if reference["status"] == "MISMATCH":
        assert row.value == pytest.approx(expected["MIL"], abs=WITHIN)
        assert f"Eq. 8 gives {expected['MIL']:.6f}" in row.status
        assert f"H(X|y) gives {expected['MIL_weighted']:.6f}" in row.status
    else:
        assert row.value == pytest.approx(expected[reference["compared_with"]], abs=WITHIN)
    own = {"MIL": "MIL", "ELD": "ELD_as_printed"}.get(metric)
    if own and reference["status"] == "match":
        said = f"which gives {expected[own]:.6f}" in row.status
        assert said == (abs(expected[own] - row.value) > WITHIN)


def test_how_many_cells_of_table_4_agree(sections):
    cells = [row for part in PARTS for row in sections[f"Table 4: {part}"].rows]
    counted = Counter(row.status.partition(":")[0].partition(",")[0] for row in cells)
    assert counted == {AS_PUBLISHED: 36, TRUNCATED: 2, DIFFERS: 2}
    read = [row.quantity for row in cells if "though not by" in row.status]
    assert [name for name in read if name.startswith("MIL")] == [
        "MIL, Age 4",
        "MIL, Age 5",
        "MIL, Age 5, Disease 1",
    ]
    assert len(read) == 3 + 4


PARTS = ("re-identification", "inference")


def test_which_formula_gives_how_many_cells(sections):
    found = of(sections, "Table 4: what gives the cells of MIL and ELD")
    assert {name: row.value for name, row in found.items()} == {
        "MIL: Eq. 8": 3,
        "MIL: H(X) - min p(y) H(X|y)": 6,
        "MIL: max p(y) H(X|y)": 2,
        "MIL: H(Y)": 4,
        "MIL: max log p(x|y) / p(x)": 5,
        "ELD: pELD as printed": 4,
        "ELD: pELD, max for min": 8,
        "ELD: pELD of p(x, y)": 2,
    }
    assert "Age 1 0.771105" in found["ELD: pELD of p(x, y)"].remark
    for name in list(NAMES)[:8]:
        expected = CASES[NAMES[name]]["expected"]
        for formula, key in (("p(y) H(X|y)", "weighted_H"), ("log p(x|y) / p(x)", None)):
            text = found[f"MIL: max {formula}"].remark
            value = expected["max_weighted_H" if key else "max_pointwise_MI"]
            parts = dict(part.rsplit(" ", 1) for part in text.split("; "))
            assert float(parts.get(name, value)) == pytest.approx(value, abs=WITHIN)


def test_the_text_contradicts_table_4_about_mil(sections):
    rows = sections["Table 4: what the text says of it"].rows[:3]
    agree = [(row.quantity.split()[0], row.status == AS_PUBLISHED) for row in rows]
    assert agree == [("DR", True), ("MI", True), ("MIL", False)]


@pytest.mark.parametrize("name", NAMES)
def test_a_row_of_table_5(rows, name):
    row, case = rows[f"ITPR, {name}"], CASES[NAMES[name]]
    assert row.value == pytest.approx(case["expected"]["ITPR"], abs=WITHIN)
    assert row.published == case["published"]["ITPR(Table5)"]["printed"]
    assert row.status.startswith(AS_PUBLISHED)


def test_the_seventh_row_of_table_5_is_of_the_second_case(rows):
    row = rows["ITPR, Age 2, Zip Code 2"]
    assert row.status.endswith("though not by Case 1 of Zip Code, which gives 0.603759")


def test_the_range_of_equation_9(rows):
    assert rows["least of Eq. 9, 2 classes"].status == AS_PUBLISHED
    assert rows["least of Eq. 9, 3 classes"].status == TRUNCATED


# Figures


@pytest.mark.parametrize("figure", SERIES)
def test_a_series(rows, figure):
    series, points = rows[figure].series, FIGURES[SERIES[figure]]["series"]
    assert len(series) == len(points)
    (varied,) = {name for name in points[0] if name in ("epsilon", "lambda", "h")}
    assert list(series.parameters[0].values) == [point[varied] for point in points]
    for name, reference in MEASURED.items():
        expected = [point[reference] for point in points]
        assert list(series[name].values) == pytest.approx(expected, abs=WITHIN)


@pytest.mark.parametrize(
    "scheme",
    [
        schemes.FIGURE_1,
        schemes.FIGURE_2A,
        schemes.FIGURE_2B,
        schemes.FIGURE_3,
        schemes.FIGURE_4A,
        schemes.FIGURE_4B,
    ],
    ids=lambda scheme: scheme.name,
)
def test_theta_along_a_series(scheme):
    points = FIGURES[SERIES[scheme.name]]["series"]
    profiles = scheme.profiles(scheme.points)
    assert [furthest(profile) for profile in profiles] == pytest.approx(
        [point["theta_abs"] for point in points], abs=WITHIN
    )
    assert [profile.i2.max() for profile in profiles] == pytest.approx(
        [point["theta_signed"] for point in points], abs=WITHIN
    )
    row = scheme.row()
    assert row.series.axis == ("theta" if scheme.varied else scheme.parameter)
    assert (row.status == schemes.EXACT) == FIGURES[SERIES[scheme.name]]["exact"]


def test_tables_of_figure_5_are_those_of_the_reference():
    for point in FIGURES["fig5"]["series"]:
        profile = schemes.plane(point["epsilon"], 19 * point["d"])
        assert profile.i2.max() == pytest.approx(point["theta_signed"], abs=WITHIN)
        assert profile.itpr == pytest.approx(point["ITPR"], abs=WITHIN)


def test_the_surface_of_figure_5(rows):
    """Every point made anew from what the row says of its table, in plain Python."""
    series = rows["Figure 5"].series
    assert (series.form, series.by, series.axis) == ("surface", "epsilon", "theta")
    assert [*dict.fromkeys(series["epsilon"].values)] == [*range(0, 1189, 108)]
    names = ("epsilon", "moved", "theta", "itpr")
    known = zip(*(series[name].values for name in names), strict=True)
    for point, (epsilon, moved, theta, itpr) in enumerate(known):
        groups = [split(1000 + (2 * g - 9) * epsilon // 18, 20) for g in range(10)]
        assert sum(map(sum, groups)) == 10_000
        groups[0] = [
            groups[0][0] + moved,
            *(n - less for n, less in zip(groups[0][1:], split(moved, 19), strict=True)),
        ]
        counted = [Counter(dict(enumerate(group))) for group in groups]
        whole = bits(sum(counted, Counter()).values())
        assert theta == pytest.approx(whole - min(map(bits, groups)), abs=WITHIN)
        assert theta == pytest.approx(0.1 * (point % 10), abs=0.01)
        assert itpr == pytest.approx(literature.itpr(counted), abs=WITHIN)
    for name in ("ITPR over θ, at each ε", "ITPR over ε, at each θ", "ITPR, largest step"):
        assert rows[name].status.startswith(AS_PUBLISHED)
    assert rows["ε, largest"].status.startswith(DIFFERS)
    assert rows["θ, largest"].status.startswith(AS_PUBLISHED)


def split(records, parts):
    return [records // parts + (part < records % parts) for part in range(parts)]


def bits(counts):
    total = sum(counts)
    return -sum(n / total * log2(n / total) for n in counts if n)


def test_a_surface_is_drawn_of_the_numbers(rows, monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(plots, "save", lambda figure, path: drawn.append(figure))
    plots.draw([PublishedSection("Figure 5", [rows["Figure 5"]])], tmp_path / "x.png")
    place = drawn[0].subfigs[0]
    space, above = place.axes[:2]
    shown = rows["Figure 5"].series
    assert above.collections[0].get_array().ravel().tolist() == [*shown["itpr"].values]
    corners = above.collections[0].get_coordinates()[:, :, 0].ravel().tolist()
    assert corners == [*shown["epsilon"].values]
    assert (space.get_zlabel(), above.get_ylabel()) == ("ITPR", "θ (bits)")
    assert len(space.collections[0].get_facecolor()) == 11 * 9


def test_times_are_of_this_clock_and_of_what_is_counted_right(rows):
    for name, along in (("Figure 6", times.RECORDS), ("Figure 7", times.ATTRIBUTES)):
        series = rows[name].series
        assert series.varies
        assert tuple(series.parameters[0].values) == along
        assert all(seconds > 0 for column in series.measures for seconds in column.values)
    assert rows["time over quasi-identifiers"].varies
    table = times.people(2000)
    by_age = table.groupby("Age")["Disease"].apply(Counter)
    groups = [Counter(dict(each)) for _, each in by_age.groupby(level=0)]
    groups = [Counter({v: n for (_, v), n in each.items() if n == n}) for each in groups]
    measured = times.LONG["ITPR"](table)
    assert measured == pytest.approx(literature.itpr(groups), abs=WITHIN)
    assert times.scan(table, 2) == table.to_numpy().sum()
    kinds = times.alike()
    assert times.of_first(kinds, 128) < 1 == times.of_first(times.independent(), 128)
    assert kinds.iloc[:, :128].drop_duplicates().shape[0] == times.TYPES


# Definitions


def test_every_equation_has_a_row_that_holds(sections):
    titles = ("Section 3.2", "Section 3.3", "Section 4", "Proposition 1", "Section 5")
    found = [row for title in sections for row in sections[title].rows if title.startswith(titles)]
    places = {row.place for row in found}
    assert {f"Eq. {n}" for n in range(1, 16)} - places == {"Eq. 10"}
    assert {"Definition 1, Eq. 10", "Definition 2", "Proposition 1"} <= places
    failing = [row.place for row in found if row.published and row.status != AS_PUBLISHED]
    assert failing == ["Eq. 11"]
    merged = [row.value for row in found if row.quantity.startswith("ITPR, classes of")]
    assert (
        merged == [0.5, 0.75] == [literature.reidentification_itpr(s) for s in ([4] * 4, [4, 12])]
    )


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        ("H(X), Disease 2", 2 / 8 * 2 + 6 / 8 * 3),
        ("H(X|Y) / H(X), Age 5, Disease 2", (1.5 + 2) / 2 / 2.75),
        ("CP of Age 5 and Disease 2", 1 - 2**-1),
        ("MIL of Age 5 and Disease 2", 2.75 - 1.5),
        ("largest l, Age 5, Disease 2", 2**1.5),
        ("Eq. 9, Age 4", 1 - 2 / 8 / 3),
        ("ITPR of Age 4", 1 - 2 * 2 / 8 / 3),
        ("ITPR, Age 2 and Zip Code 2", 1 - 3 * 2 / 8 / 3),
    ],
)
def test_equations_by_hand(rows, quantity, value):
    assert float(rows[quantity].computed) == pytest.approx(value, abs=WITHIN)


def test_proposition_1_of_the_same_tables_in_plain_python(rows):
    found = []
    for joint in definitions.random_tables():
        groups = [Counter(dict(enumerate(row))) for row in joint.tolist() if any(row)]
        found.append(literature.itpr(groups))
    assert -WITHIN <= min(found) <= max(found) <= 1
    assert rows["simple ITPR"].computed == "0.000000 to 1.000000"


def test_a_row_of_two_ways_may_fail():
    row = definitions.holds("x", "Eq. 1", "", 0.5, "says")
    assert row.status == "differs: the two differ by 0.5"


@pytest.mark.parametrize("ages", [[1, 1, 1, 1, 1], [0, 0, 0, 0, 1], None])
def test_schemes_of_figure_3_are_of_ten_thousand_records(ages):
    for excess in (0, 50, 1000, 2000):
        profile = schemes.five_ages(excess * np.array(ages)) if ages else schemes.graded(excess)
        assert (profile.records, len(profile.sizes)) == (10_000, 5)
        per_age = np.split(profile.counts, profile.starts[1:])
        most = [counts.max() - (counts.min() if len(counts) == 10 else 0) for counts in per_age]
        assert max(most) == excess  # Eq. 14


def test_other_schemes_are_of_ten_thousand_records_and_differ_by_epsilon():
    for scheme, step, end in (
        (schemes.FIGURE_1, 2, 9998),
        (schemes.FIGURE_2A, 10, 1110),
        (schemes.FIGURE_2B, 18, 1998),
    ):
        for epsilon in range(0, end + 1, step):
            sizes = scheme.profile(epsilon).sizes
            assert (sizes.sum(), sizes.max() - sizes.min()) == (10_000, epsilon)  # Eq. 13
        assert scheme.profile(end).sizes.min() == 1
    for epsilon in schemes.EPSILONS:
        profile = schemes.plane(epsilon, 40)
        assert (profile.records, len(profile.sizes)) == (10_000, 10)
        assert profile.sizes.max() - profile.sizes.min() == epsilon


def test_quotes_of_figure_1_hold(sections):
    found = of(sections, "Figure 1: re-identification, two classes")
    assert found["ITPR, ε = 0"].status == TRUNCATED
    assert found["DR, largest"].computed == "0.075257"
    leakage = found["MIL, least and largest"]
    assert leakage.computed == "7.143856 to 13.287712"
    assert leakage.status.endswith("not by Eq. 8, which gives 1.000000 to 13.287712")
    exact = [row.status for row in found.values() if row.published and row.series is None]
    assert not any(status.startswith(DIFFERS) for status in exact)


def test_what_is_assumed_is_said_wherever_it_agrees(sections):
    for title, section in sections.items():
        for row in section.rows:
            agrees = row.status.startswith((AS_PUBLISHED, TRUNCATED))
            if agrees and title.startswith(("Figure 2", "Figure 3", "Figure 4", "Figure 5")):
                assert row.status.endswith(
                    ("in a table that is assumed", "in a table fitted to it")
                )


def test_figure_3_and_the_schemes_it_rules_out(sections):
    found = of(sections, "Figure 3: inference, by how much one disease is ahead")
    for metric in ("ITPR", "DR", "MI", "CP", "ELD"):
        assert found[f"{metric} over λ"].computed.startswith("rises")
    assert found["MIL over λ"].computed == "falls, 2.657542 to 2.083856"
    alike = found["were every age skewed alike"].computed
    assert alike == "ITPR is constant; DR is constant; MI is constant; CP is constant"
    assert found["were one age skewed"].computed == "MIL as tabulated rises"


def test_the_example_of_the_text(sections):
    found = of(sections, "The example of section 5: HIV in a group of 100")
    for reference in EXPECTED["paper_hiv_example"]["rows"]:
        ill = reference["hiv_in_group"]
        measures = schemes.example(ill).measures
        assert ill in EXAMPLE
        assert found[f"ITPR, {ill} of 100"].value == pytest.approx(reference["ITPR"], abs=WITHIN)
        surprise = found[f"I1 of the group, {ill} of 100"].value
        assert surprise == pytest.approx(reference["I1_group"], abs=WITHIN)
        assert measures.discrimination_rate == pytest.approx(reference["DR"], abs=WITHIN)
        assert measures.mutual_information == pytest.approx(reference["MI"], abs=WITHIN)
        assert measures.entropy_l_diversity_risk == pytest.approx(reference["ELD"], abs=WITHIN)
        assert schemes.example(ill).itpr_terms.argmax() == 0
    assert found["ITPR over HIV in the group"].status.startswith(DIFFERS)
    assert found["DR over HIV in the group"].status == AS_PUBLISHED


def test_quotes_of_figure_4_need_two_groups(sections):
    found = of(sections, "Figure 4: inference, a group that differs from the table")
    quoted = {name: row for name, row in found.items() if "θ = 0" in name and "groups" in name}
    assert len(quoted) == 12
    failing = {name for name, r in quoted.items() if r.status.startswith(DIFFERS)}
    assert failing == {"MIL as tabulated, ten groups, θ = 0.4"}
    reference = FIGURES["fig4a"]["quoted_checks"][0]["computed_at_h128"]
    assert found["θ, two groups"].value == pytest.approx(reference["theta_abs"], abs=WITHIN)
    for name, key in (("MI", "MI"), ("CP", "CP")):
        value = found[f"{name}, two groups, θ = 0.4"].value
        assert value == pytest.approx(reference[key], abs=WITHIN)
    leakage = [found[f"MIL as tabulated, two groups, θ = {t}"].value for t in ("0", "0.4")]
    assert leakage == pytest.approx(reference["MIL_weighted"], abs=WITHIN)
    assert found["ITPR over θ, two groups"].computed == "falls, 0.800000 to 0.271051"
    assert found["ITPR over θ, ten groups"].computed == "rises, 0.000000 to 0.466469"
    for name in ("MIL by Eq. 15, θ = 0.4", "MIL by Eq. 15, θ = 0", "H(X) of a share of 0.001 %"):
        assert found[name].status.startswith(IMPOSSIBLE)


def test_no_table_has_a_leakage_below_half_of_theta():
    rng = np.random.default_rng(0)
    close = np.inf
    for classes, values in product((2, 3, 5), (2, 3)):
        for _ in range(100):
            joint = rng.geometric(rng.choice([0.02, 0.2, 0.6]), (classes, values)) - 1
            joint[:, 0] += 1
            found = Inference.of(joint).measures
            half = found.maximum_information_leakage / 2
            assert found.weighted_information_leakage >= half - 1e-12
            close = min(close, found.weighted_information_leakage - half)
    assert close < 0.05  # the bound is near


# Table 7


def test_marks_derived_and_printed(sections):
    found = {
        row.quantity: (row.computed, row.published, row.status.startswith(AS_PUBLISHED))
        for row in sections["Table 7: what each metric assesses"].rows
    }
    assert found == {
        "DR, re-identification": ("X", "X", True),
        "DR, inference": ("X", "(✓)", False),
        "MI, re-identification": ("X", "X", True),
        "MI, inference": ("X", "(✓)", False),
        "CP, re-identification": ("X", "X", True),
        "CP, inference": ("X", "(✓)", False),
        "MIL, re-identification": ("(✓)", "(✓)", True),
        "MIL, inference": ("X", "X", True),
        "ELD, re-identification": ("✓", "(✓)", False),
        "ELD, inference": ("X", "X", True),
        "ITPR, re-identification": ("✓", "✓", True),
        "ITPR, inference": ("X", "✓", False),
        "metrics that assess both risks": ("none", "ITPR only", False),
    }


def test_why_marks_differ(rows):
    order = "does not order the diseases"
    assert rows["DR, inference"].status == f"{DIFFERS}: {order}"
    assert "its largest value is always 1" in rows["ELD, re-identification"].status
    assert rows["ITPR, inference"].remark == (
        "does not rise with θ in Figure 4 (two groups), the example"
    )
    assert rows["MIL, inference"].status.endswith("not by Eq. 8, which gives (✓)")


def test_what_cannot_be_reproduced_says_why(sections):
    for section in sections.values():
        for row in section.rows:
            if row.status.startswith(DIFFERS):
                assert len(row.status) > len(DIFFERS) + 10


def test_what_the_text_says_of_each_metric_in_table_4(rows, sections):
    """Orders by hand, of the reference's printed cells."""
    said = {row.quantity: row.status for row in sections["Table 4: what the text says of it"].rows}
    cell = {
        (name, metric): float(CASES[NAMES[name]]["published"][metric]["printed"].replace(",", "."))
        for name in list(NAMES)[:8]
        for metric in ("DR", "MI", "CP", "MIL", "ELD")
    }
    for metric in ("DR", "MI", "CP", "MIL", "ELD"):
        first, second, third, fourth, fifth = (cell[f"Age {n}", metric] for n in range(1, 6))
        ages = first == third > fourth > fifth > second
        ills = [cell[f"Age 5, Disease {n}", metric] for n in (1, 2, 3)]
        fails = said[f"{metric} of Diseases 1 to 3"] == AS_PUBLISHED
        assert fails != (ills[0] < ills[1] < ills[2])
        if metric in ("DR", "MI", "MIL"):
            assert (said[f"{metric} of Ages 1, 3, 4, 5, 2"] == AS_PUBLISHED) != ages
            assert said[f"{metric} of Ages 1 to 5"] == AS_PUBLISHED
    assert {name for name, status in said.items() if status.startswith(DIFFERS)} == {
        "MIL of Age 3, Age 5, as printed",
        "MIL of Ages 1, 3, 4, 5, 2",
        "CP of Age 1",
        "ELD of Diseases 1 to 3",
    }
    assert [rows[f"largest of Eq. 9, {n} classes"].value for n in (2, 3)] == [1, 1]
    peld = rows["pELD of Age 3: 2^min_q sum p(q,x) log p(q,x)"]
    assert peld.value == pytest.approx(2 ** -bits([1] * 7))
    assert peld.status.startswith(DIFFERS)
    for name in ("MI of independent X and Y", "ITPR, its values", "ELD, its values"):
        assert rows[name].status == AS_PUBLISHED
    assert rows["share of the group with HIV, 5 of 100"].value == 5 / 100
    assert rows["k, l and t of Tables 1b and 2b"].status == AS_PUBLISHED
    assert rows["probability of inference in Tables 1b and 2b"].computed == "0.333333, 0.600000"
    told = sections["Table 5: what the text says of it"].rows
    assert [row.status for row in told] == [AS_PUBLISHED] * 3
