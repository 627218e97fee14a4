"""Bounds on the classes of a recoding, and on the time of a search, against brute force."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from cutting import all_cuts
from hypothesis import given, settings
from hypothesis import strategies as st
from intervals import all_ranges
from lengths import at_length
from strategies import drawn_problems, paired_problems, problem_of, problems

from anonymizer import (
    Anonymizer,
    EntropyLDiversity,
    Hierarchy,
    InputError,
    KAnonymity,
    PolicyUnreachableError,
)
from anonymizer.objectives import MutualInformation, Objective
from anonymizer.recoding import Bounds, Refiner, Run, automatic, refine_jointly, solve
from anonymizer.recoding.partitions import joint
from anonymizer.recoding.partitions.families import PricedObjective
from anonymizer.recoding.partitions.joint import refine_within, within_bounds
from anonymizer.release.request import RECODINGS

information = MutualInformation()


def outcomes(problem, partitions, objective=information):
    """The objective and the classes of every feasible combination of partitions."""
    recoded = (
        problem.counts.recode(dict(zip(problem.counts.names, chosen, strict=True)))
        for chosen in product(*partitions)
    )
    return [(objective(counts), len(counts)) for counts in recoded if problem.feasible(counts)]


def cuts_and_ranges(problem):
    """Every partition of each attribute: ranges of x and y, cuts of the others."""
    return [
        all_ranges(taxonomy) if name in "xy" else all_cuts(taxonomy)
        for name, taxonomy in problem.taxonomies.items()
    ]


def within(problem, ranged, run=Run(), **bounds):  # noqa: B008 (frozen)
    refiner = Refiner(information, cuts=True)
    stated = Bounds(**bounds)
    confined = within_bounds(problem, stated)
    return refine_within(confined, ranged, refiner, stated, automatic, run)


@settings(max_examples=at_length(6, 10))
@given(drawn_problems(numbers=True), st.sampled_from([0, 0.01, 0.05, 0.2]))
def test_a_least_gain_equals_brute_force(drawn, gain):
    _, problem = drawn
    found = within(problem, ["x"], min_gain=gain)
    every = outcomes(problem, cuts_and_ranges(problem))
    best = max(value - gain * classes for value, classes in every)
    assert found.proven
    assert found.value == found.bound == pytest.approx(best, abs=1e-9)
    assert found.value == pytest.approx(
        information(found.counts) - gain * len(found.counts), abs=1e-12
    )


@settings(max_examples=at_length(12, 20))
@given(paired_problems(), st.integers(1, 6), st.sampled_from([0, 0.02]))
def test_so_many_classes_at_most(drawn, most, gain):
    """Never beyond the bound, and the optimum where that is said; the bound never below it."""
    _, problem = drawn
    found = within(problem, ["x", "y"], max_classes=most, min_gain=gain)
    every = outcomes(problem, cuts_and_ranges(problem))
    best = max(value - gain * classes for value, classes in every if classes <= most)
    assert len(found.counts) <= most
    assert problem.feasible(problem.counts.recode(found.recoding))
    assert found.value <= best + 1e-9
    assert found.bound >= best - 1e-9
    if found.proven:
        assert found.value == pytest.approx(best, abs=1e-9)


@settings(max_examples=at_length(7, 12))
@given(drawn_problems(numbers=True), st.integers(1, 9))
def test_so_many_records_at_least(drawn, least):
    _, problem = drawn
    confined = within_bounds(problem, Bounds(min_records=least))
    if not confined.feasible(problem.counts.project(())):
        return
    found = within(problem, ["x"], min_records=least)
    every = outcomes(confined, cuts_and_ranges(problem))
    assert found.value == pytest.approx(max(value for value, _ in every), abs=1e-9)
    assert found.counts.sizes.min() >= least


@settings(max_examples=at_length(20, 40))
@given(problems(2), st.integers(1, 6), st.integers(1, 5))
def test_levels_within_bounds_equal_brute_force(problem, most, least):
    bounds = Bounds(max_classes=most, min_records=least)
    confined = within_bounds(problem, bounds, few=True)
    counts = [problem.at(node) for node in problem.lattice]
    fitting = [
        information(each)
        for each in counts
        if problem.feasible(each) and len(each) <= most and each.sizes.min() >= least
    ]
    found = solve(confined)
    assert (found is None) == (not fitting)
    if found:
        assert found.score == pytest.approx(max(fitting), abs=1e-9)


class Evenness(Objective):
    """-sum_g p(g)^2 (1 - p(g)): may rise when classes merge, and fall."""

    name = "evenness"
    falls = False

    def score(self, candidate):
        raise NotImplementedError

    def per_class(self, counts):
        p = counts.sizes / counts.records
        return -(p**2) * (1 - p)


@settings(max_examples=at_length(6, 10))
@given(drawn_problems(numbers=True))
def test_an_objective_that_may_rise_equals_brute_force(drawn):
    _, problem = drawn
    found = refine_jointly(problem, ["x"], Refiner(Evenness(), cuts=True))
    best = max(value for value, _ in outcomes(problem, cuts_and_ranges(problem), Evenness()))
    assert found.proven
    assert found.value == pytest.approx(best, abs=1e-9)


def ladder():
    """x = 1, ..., 8 with w pure in each: the more ranges the better, by less and less."""
    table = pd.DataFrame({"x": np.repeat(range(8), 4), "w": list("uuuuvvvvwwwwssss") * 2})
    return problem_of(table, {"x": Hierarchy.ranges(widths=[100])}, [KAnonymity(1)])


def test_hand_worked_gains():
    # Eight ranges keep 2 bits; to join two neighbours of different values costs 1/4 bit.
    problem = ladder()
    assert within(problem, ["x"]).value == pytest.approx(2)
    assert len(within(problem, ["x"], min_gain=0.24).counts) == 8
    assert len(within(problem, ["x"], min_gain=0.26).counts) < 8
    assert len(within(problem, ["x"], min_gain=2).counts) == 1


def test_a_number_of_classes_that_no_price_leads_to_is_not_proven():
    # 1 bit in two classes, 2 bits in four, 1.5 in three: no price makes three the best of them.
    table = pd.DataFrame({"x": list("abcd") * 2, "w": list("uvws") * 2})
    rows = [["a", "1", "*"], ["b", "1", "*"], ["c", "2", "*"], ["d", "2", "*"]]
    problem = problem_of(table, {"x": Hierarchy.from_rows(rows)}, [KAnonymity(1)])
    found = within(problem, [], max_classes=2)
    assert (len(found.counts), found.value, found.proven) == (2, pytest.approx(1), True)
    three = within(problem, [], max_classes=3)
    assert (len(three.counts), three.value, three.proven) == (2, pytest.approx(1), False)
    assert three.bound == pytest.approx(1.5)
    flat = problem_of(table, {"x": Hierarchy.suppression()}, [KAnonymity(1)])
    whole = within(flat, [], max_classes=3)
    assert (len(whole.counts), whole.value, whole.proven) == (1, 0, False)
    assert whole.bound == pytest.approx(4 / 3)  # on the line from (1, 0) to (4, 2)


def test_the_price_is_per_class_with_records():
    counts = ladder().counts
    priced = PricedObjective(information, 0.1)
    assert priced(counts) == pytest.approx(2 - 0.8)
    assert (priced.name, priced.falls) == ("mutual-information", False)


@settings(max_examples=at_length(6, 12))
@given(drawn_problems(numbers=True))
def test_when_time_is_up_the_best_found_is_feasible_and_bounded(drawn):
    _, problem = drawn
    best = within(problem, ["x"])
    hurried = within(problem, ["x"], run=Run(time_limit=1e-9))
    assert problem.feasible(hurried.counts)
    assert hurried.value <= best.value + 1e-9 <= hurried.bound + 2e-9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint, "MOST_COMBINATIONS", 0)
        climbed = within(problem, ["x"], run=Run(time_limit=1e-9), max_classes=3)
    assert problem.feasible(climbed.counts)
    assert len(climbed.counts) <= 3
    assert not climbed.proven or climbed.value >= best.value - 1e-9


PEOPLE = pd.DataFrame(
    {
        "age": np.tile(range(20, 60), 5),
        "job": np.repeat(["nurse", "vet", "smith", "mason", "cook"], 40),
        "w": np.resize(list("uvvwuuwv"), 200),
    }
)
JOBS = [
    ["nurse", "health", "*"],
    ["vet", "health", "*"],
    ["smith", "craft", "*"],
    ["mason", "craft", "*"],
    ["cook", "kitchen", "*"],
]


def estimator(recoding="full-domain", **options):
    hierarchies = {"age": Hierarchy.ranges(widths=[10]), "job": Hierarchy.from_rows(JOBS)}
    models = [KAnonymity(3), EntropyLDiversity(1.5)]
    return Anonymizer(hierarchies, "w", models, RECODINGS[recoding](**options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_classes": 0}, "max-classes = 0 must be a whole number of at least 1"),
        ({"max_classes": True}, "max-classes = True"),
        ({"min_records": 1.5}, "min-records = 1.5 must be a whole number of at least 1"),
        ({"recoding": "cut", "min_gain": -0.1}, "min-gain = -0.1 must be a number of at least 0"),
        ({"recoding": "cut", "min_gain": "1"}, "min-gain = 1 must be a number"),
        ({"recoding": "cut", "min_gain": float("inf")}, "min-gain = inf must be a number"),
        ({"recoding": "cut", "min_gain": float("nan")}, "min-gain = nan must be a number"),
        (
            {"max_classes": 3, "suppression": 0.1},
            "max-classes cannot be combined with suppression",
        ),
    ],
)
def test_bounds_that_cannot_be(options, message):
    with pytest.raises(InputError, match=message):
        estimator(**options).fit(PEOPLE)


@pytest.mark.parametrize("recoding", ["full-domain", "variable-range", "cut"])
def test_bounds_out_of_reach_are_named(recoding):
    with pytest.raises(PolicyUnreachableError, match="with max-classes = 2, min-records = 201;"):
        estimator(recoding=recoding, min_records=201, max_classes=2).fit(PEOPLE)


@pytest.mark.parametrize("recoding", ["full-domain", "variable-range", "cut"])
@pytest.mark.parametrize("most", [1, 4, 1000])
def test_releases_within_bounds(recoding, most):
    anonymizer = estimator(recoding=recoding, max_classes=most, min_records=20)
    released = anonymizer.fit_transform(PEOPLE)
    sizes = released.groupby(["age", "job"]).size()
    assert len(sizes) == anonymizer.release_.classes <= most
    assert sizes.min() >= 20
    search = anonymizer.search_.to_dict()
    assert search["value"] == pytest.approx(anonymizer.release_.information.retained)
    assert search["bound"] == pytest.approx(search["value"] + search["gap"])
    assert (search["gap"] == 0) >= search["proven"]
    # The policy stays what it is: one class of 3 records may be transformed alone.
    assert len(anonymizer.transform(PEOPLE.head(3))) == 3


def test_what_is_reported_is_the_objective_without_the_price():
    anonymizer = estimator(recoding="cut", min_gain=0.02).fit(PEOPLE)
    search = anonymizer.search_
    assert search.value == pytest.approx(anonymizer.release_.information.retained)
    assert (search.proven, search.gap, search.bound) == (True, 0, search.value)
    free = estimator(recoding="cut").fit(PEOPLE)
    assert anonymizer.release_.classes < free.release_.classes
    assert search.value <= free.search_.value + 1e-9
