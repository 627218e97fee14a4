"""Cuts of an attribute: what both sides tell, and the best cuts that keep those that are held."""

from decimal import Decimal
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from explorer.conftest import small_study

from anonymizer import Hierarchy
from anonymizer.explorer.answers.counted import Counter
from anonymizer.explorer.answers.outcome import outcome_of
from anonymizer.explorer.answers.ranges.axis import CutAxis, CutKeys, cuts_of, histogram_of
from anonymizer.explorer.answers.ranges.cuts import inside_of, limits_of, ranges_of
from anonymizer.explorer.answers.ranges.standing import (
    cuts_now,
    found_said,
    rule_of,
    standing_in,
    standing_of,
    why_not,
)
from anonymizer.explorer.session.session import Session
from anonymizer.explorer.views.cuts import Cutting
from anonymizer.recoding.levels import Fixed
from anonymizer.utility.figures import figures_of

MORE = """
[[privacy]]
model = "t-closeness"
distance = "kl"
t = 0.9

[[privacy]]
model = "entropy-l-diversity"
l = 1.5
"""


class Exploring:
    """A session of a study whose outcomes are computed."""

    def __init__(self, path):
        self.session, self.counter = Session(path), Counter()

    @property
    def outcome(self):
        return outcome_of(self.counter.counted(self.session.study()))

    def taxonomy(self, name="age"):
        return self.outcome.task.counted.taxonomies[name]

    def axis(self, name="age"):
        return CutAxis.of(self.outcome.raw, self.taxonomy(name))

    def cuts(self, name="age"):
        return cuts_now(self.session.study(), self.outcome, name)

    def cutting(self, name="age"):
        standing = standing_in(self.session.study(), name) or standing_of(self.outcome, name)
        return Cutting(self.taxonomy(name), standing)


@pytest.fixture
def exploring(study):
    return Exploring(study)


def decimals(*numbers):
    return tuple(map(Decimal, map(str, numbers)))


def test_the_ranges_of_a_hand_worked_example(exploring):
    """Of 5 flu, 4 colds and 3 asthmas, below 31 has 2, 1 and 1."""
    axis, models = exploring.axis(), exploring.outcome.task.models
    below, above = ranges_of(axis, decimals(31), "diagnosis", models)
    assert (below.ends, below.records) == ((None, Decimal(31)), 4)
    assert (above.ends, above.records) == ((Decimal(31), None), 8)
    prior, share = np.array([4, 5, 3]) / 12, np.array([1, 2, 1]) / 4
    assert below.informations.surprise == pytest.approx((share * np.log2(share / prior)).sum())
    entropies = [-(p * np.log2(p)).sum() for p in (prior, share)]
    assert below.informations.specific == pytest.approx(entropies[0] - entropies[1])
    assert below.broken == above.broken == ()


def test_a_range_that_breaks_the_policy_says_by_how_much(exploring):
    axis, models = exploring.axis(), exploring.outcome.task.models
    first, _ = ranges_of(axis, decimals(23), "diagnosis", models)
    assert first.broken == ("k-anonymity: 2, at least 3 records",)


def test_a_range_without_records_is_there_all_the_same(exploring):
    axis, models = exploring.axis(), exploring.outcome.task.models
    empty = ranges_of(axis, decimals(25, 30), "diagnosis", models)[1]
    assert (empty.records, empty.informations) == (0, None)


def test_limits_are_those_of_figures_2_to_4(tmp_path):
    path = small_study(tmp_path)
    path.write_text(path.read_text().replace("\n[recoding]", f"{MORE}\n[recoding]"))
    outcome = Exploring(path).outcome
    margin = outcome.raw.margins["diagnosis"]
    limits = limits_of(outcome.task.models, "diagnosis", outcome.raw)
    shares = margin / margin.sum()
    assert limits.surprise == 0.9
    assert limits.specific == pytest.approx(-(shares * np.log2(shares)).sum() - np.log2(1.5))


def test_ranges_and_limits_are_those_of_the_figures_of_the_library(tmp_path):
    path = small_study(tmp_path, k=1)
    path.write_text(path.read_text().replace("\n[recoding]", f"{MORE}\n[recoding]"))
    exploring = Exploring(path)
    task, cuts = exploring.outcome.task, decimals(30, 40)
    figures = figures_of("ages", Fixed({"age": 1, "city": 1}), task).attributes[0]
    ranges = ranges_of(exploring.axis(), cuts, "diagnosis", task.models)
    assert [each.informations.surprise for each in ranges] == pytest.approx(list(figures.i1))
    assert [each.informations.specific for each in ranges] == pytest.approx(list(figures.i2))
    assert [bool(each.broken) for each in ranges] == [*figures.failing]


def test_a_table_without_a_sensitive_attribute_is_counted_all_the_same(exploring):
    axis, models = exploring.axis(), exploring.outcome.task.models
    found = histogram_of(axis, None, ranks=False, labels=True)
    assert found.counts.tolist() == [[1]] * 12
    assert ranges_of(axis, decimals(31), None, models)[0].informations is None


def test_classes_within_ranges_are_those_of_pandas(exploring, study):
    exploring.session.take("cuts", lambda c: exploring.cutting().at(c, decimals(31, 41)))
    exploring.session.take("k", lambda c: {**c, "privacy": [{"model": "k-anonymity", "k": 1}]})
    exploring.session.take("city", lambda c: levels(c, {"age": 1, "city": 0}))
    found = inside_of(
        exploring.outcome, exploring.taxonomy(), exploring.axis(), decimals(31, 41), "diagnosis"
    )
    table = pd.read_csv(study.parent / "people.csv")
    prior = table.diagnosis.value_counts(normalize=True)
    ranges = np.searchsorted([31, 41], table.age, side="right")
    informations = table.groupby([ranges, "city"]).diagnosis.value_counts(normalize=True)
    terms = informations * np.log2(
        informations / informations.index.get_level_values("diagnosis").map(prior)
    )
    worst = terms.groupby(level=[0, 1]).sum().groupby(level=0).max()
    assert [each.worst.surprise for each in found] == pytest.approx(worst.tolist())
    assert [each.classes for each in found] == [2, 2, 2]


def levels(content, given):
    content["recoding"]["levels"] = given
    return content


def test_a_moved_cut_is_released_exactly_and_the_others_stay(exploring):
    assert exploring.outcome.holds
    before = exploring.outcome.plan.levels
    exploring.session.take("cuts", lambda c: exploring.cutting().at(c, decimals(30.5, 41)))
    content = exploring.session.content
    assert content["quasi-identifiers"]["age"] == {"cuts": [30.5, 41]}
    assert content["recoding"] == {
        "method": "fixed",
        "levels": {"age": 1, "city": before["city"]},
    }
    assert exploring.cuts() == decimals(30.5, 41)
    exploring.session.take("none", lambda c: exploring.cutting().at(c, ()))
    assert exploring.cuts() == ()
    assert exploring.outcome.plan.levels["age"] == exploring.taxonomy().height


def test_ranges_that_were_found_become_hierarchies(tmp_path):
    path = small_study(tmp_path)
    text = path.read_text().replace('city = "suppress"', 'city = { order = ["Oslo", "Rome"] }')
    path.write_text(text.replace("full-domain", "variable-range"))
    exploring = Exploring(path)
    found = exploring.outcome
    assert found.holds
    exploring.session.take("cuts", lambda c: exploring.cutting().at(c, exploring.cuts()))
    assert exploring.outcome.information == pytest.approx(found.information)
    assert exploring.session.content["recoding"]["method"] == "fixed"


@pytest.mark.parametrize("held", [(31,), (24, 42), (30,)])
def test_the_best_cuts_are_those_of_brute_force_and_keep_the_held_ones(tmp_path, held):
    path = small_study(tmp_path)
    exploring = Exploring(path)
    held = decimals(*held)
    exploring.session.take("cuts", lambda c: exploring.cutting().at(c, held))
    exploring.session.take("best", lambda c: exploring.cutting().best(c, held, others=False))
    outcome = exploring.outcome
    table = pd.read_csv(path.parent / "people.csv")
    best = brute_force(table, [float(each) for each in held], k=3)
    assert outcome.holds
    assert outcome.plan.search.proven
    assert {*held} <= {*exploring.cuts()}
    assert outcome.information[1] == pytest.approx(best)
    assert found_said(outcome, exploring.session.study(), "age").startswith("Proven")


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ("discernibility", "is better by the study's objective, discernibility."),
        ("mutual-information", "keeps more information."),
    ],
)
def test_what_is_proven_is_said_of_the_objective_that_the_study_has(exploring, objective, said):
    exploring.session.take("aim", lambda c: {**c, "objective": {"name": objective}})
    found = found_said(exploring.outcome, exploring.session.study(), "age")
    assert found == f"Proven: within what the study allows, no other recoding {said}"


def brute_force(table, held, k):
    """The most information over all sets of further cuts, and both levels of the city."""
    ages = sorted({*table.age} - {table.age.min()})
    values, cities = (table[name].factorize()[0] for name in ("diagnosis", "city"))
    found = []
    for size in range(len(table) // k):  # each of these ranges has somebody, and needs k
        for more in combinations(ages, size):
            ranges = np.searchsorted(sorted({*held, *more}), table.age, side="right")
            for classes in (ranges, ranges * 2 + cities):
                joint = np.zeros((classes.max() + 1, 3))
                np.add.at(joint, (classes, values), 1)
                joint = joint[joint.any(axis=1)]
                if joint.sum(axis=1).min() >= k:
                    found.append(information(joint / len(table)))
    return max(found)


def information(joint):
    product = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    return float((joint[joint > 0] * np.log2(joint[joint > 0] / product[joint > 0])).sum())


def test_others_can_be_held_too(exploring):
    exploring.session.take("k", lambda c: {**c, "privacy": [{"model": "k-anonymity", "k": 1}]})
    exploring.session.take("cuts", lambda c: exploring.cutting().at(c, decimals(31)))
    exploring.session.take("city", lambda c: levels(c, {"age": 1, "city": 1}))
    level = 1
    exploring.session.take("best", lambda c: exploring.cutting().best(c, decimals(31), True))
    city = exploring.session.content["quasi-identifiers"]["city"]
    assert city == {"suppress": True, "min-level": level, "max-level": level}
    assert exploring.outcome.plan.levels["city"] == level
    exploring.session.take("all", lambda c: exploring.cutting().best(c, (), False))
    assert "max-level" not in exploring.session.content["quasi-identifiers"]["age"]


def test_held_cuts_that_break_the_policy_are_shown_with_what_to_do(exploring):
    exploring.session.take("best", lambda c: exploring.cutting().best(c, decimals(22), False))
    outcome = exploring.outcome
    assert outcome.unreachable
    assert exploring.cuts() == decimals(22)
    assert "cuts that are held" in found_said(outcome, exploring.session.study(), "age")


def test_a_histogram_counts_each_value_or_bins_of_many(exploring):
    found = histogram_of(exploring.axis(), "diagnosis", ranks=False, labels=True)
    assert (found.low, found.high) == (21, 45)
    assert found.series == ("flu", "cold", "asthma")
    assert found.counts[:3].tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    hidden = histogram_of(exploring.axis(), "diagnosis", ranks=True, labels=False)
    assert hidden.series == ("value 1", "value 2", "value 3")
    assert (hidden.low, hidden.high) == (0, 12)


def test_keys_are_exact_or_ranks(exploring):
    axis = exploring.axis()
    assert CutKeys(axis, ranks=False).keys(decimals(30.5, 41)) == ["30.5", "41"]
    ranks = CutKeys(axis, ranks=True)
    assert ranks.keys(decimals(10, 30.5, 41, 99)) == ["4", "8"]
    assert ranks.number("4") == 30  # between 24 and 31


def test_many_values_are_binned_and_their_cuts_stay_exact(tmp_path):
    rows = [f"{1000 + 7 * n}.25,Rome,{'flu' if n % 3 else 'cold'}" for n in range(500)]
    path = small_study(tmp_path)
    (tmp_path / "people.csv").write_text("\n".join(["age,city,diagnosis", *rows, ""]))
    axis = Exploring(path).axis()
    found = histogram_of(axis, "diagnosis", ranks=False, labels=True)
    assert len(found.counts) <= 120
    assert found.counts.sum() == 500
    assert len({*np.diff(found.ends).round(9).ravel()}) == 1
    assert axis.cut_points[0] == 1005  # between 1000.25 and 1007.25
    assert len(axis.cut_points) == 499
    assert not {*axis.cut_points} & {*axis.numbers}
    assert len(axis.quantiles(4)) == 3
    assert not {*axis.quantiles(1000)} & {*axis.numbers}


def test_cuts_of_listed_groups_lie_between_values():
    taxonomy = Hierarchy.from_rows([["2", "few"], ["11", "few"], ["19", "many"]]).over(
        "x", ["2", "11", "19"]
    )
    assert cuts_of(taxonomy.levels[1], taxonomy) == (15,)
    assert cuts_of(taxonomy.levels[0], taxonomy) == (10, 15)


def test_an_order_is_cut_by_its_values_and_dates_are_not(tmp_path):
    path = small_study(tmp_path)
    path.write_text(
        path.read_text().replace('city = "suppress"', 'city = { order = ["Oslo", "Rome"] }')
    )
    exploring = Exploring(path)
    exploring.session.take("cuts", lambda c: exploring.cutting("city").at(c, decimals(1)))
    rule = exploring.session.content["quasi-identifiers"]["city"]
    assert rule == {"order": ["Oslo", "Rome"], "cuts": ["Rome"]}
    assert exploring.cuts("city") == decimals(1)
    text = path.read_text().replace("{ widths = [10, 20] }", '{ calendar = ["month"] }')
    path.write_text(text)
    people = tmp_path / "people.csv"
    lines = people.read_text().splitlines()
    people.write_text(
        "\n".join([lines[0], *(f"2024-01-{line}" for line in lines[1:] if line[0] in "12")])
    )
    (path.parent / "study.session").rename(tmp_path / "old.session")
    dates = Exploring(path)
    assert "dates" in why_not(dates.taxonomy())
    assert cuts_of(dates.taxonomy().levels[1], dates.taxonomy()) == ()


def test_ends_of_a_rule_stay_when_its_cuts_are_moved():
    given = {"cuts": [[20, 40], [40]], "top": 90, "bottom": 1}
    taxonomy = Hierarchy.of(given).over("age", [0, 15, 33, 60, "90+"])
    rule, _ = rule_of(taxonomy, [Decimal(30)], given)
    assert (rule["top"], rule["bottom"]) == (90, 1)
    assert str(Hierarchy.of(rule).labels("> 89")[0]) == "[90, inf)"
