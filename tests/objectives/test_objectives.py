"""What a search maximises: by hand, against plain definitions on records, and the laws."""

from dataclasses import replace
from math import log2
from operator import le

import numpy as np
import pandas as pd
import pytest
from cases import ASKED, Case, random_case
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from oracle import Brute, Chain
from plain import NUMPY

from anonymizer import Anonymizer, FullDomain, Hierarchy, InputError, KAnonymity, Loss
from anonymizer.kernels import NATIVE
from anonymizer.objectives import OBJECTIVES, MutualInformation, Objective, objective_of
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import KMap
from anonymizer.recoding import Suppression, solve

seeds = st.integers(0, 2**32 - 1)
# x, y generalize to g and z to h: 4 records and 1.
ROWS = [["x", "g"], ["y", "g"], ["z", "h"]]
GROUPS = {"x": ("x", "g", "*"), "y": ("y", "g", "*"), "z": ("z", "h", "*")}


def small(name: str, **asked: object) -> Case:
    rows = [{"a": a, "w": w} for a, w in zip("xxxyz", "00101", strict=True)]
    brute = Brute(rows, {"a": Chain(GROUPS)}, ["w"], [KAnonymity(1)], name, **asked)
    return Case(brute, {"a": Hierarchy.from_rows(ROWS)})


def value(case: Case, node: tuple[int, ...]) -> float:
    """The quantity that an objective is named after, of a node as it would be released."""
    evaluator = case.problem().evaluator
    candidate = evaluator.candidate(node, evaluator.sets().at(node))
    return evaluator.objective.quantity(evaluator.objective.score(candidate), len(case.brute.rows))


H = {(3, 2): 0.970951, (3, 1): 0.811278}
"""Entropies of these counts, in bits."""


@pytest.mark.parametrize(
    ("name", "raw", "grouped", "hidden"),
    [
        ("mutual-information", H[3, 2] - 0.6 * (log2(3) - 2 / 3), H[3, 2] - 0.8 * H[3, 1], 0),
        ("non-uniform-entropy", 0, (3 * log2(4 / 3) + 2) / 5, (3 * log2(5 / 3) + 2 * log2(5)) / 5),
        ("loss", 0, 4 / 5 * 1 / 2, 1),
        ("discernibility", 9 + 1 + 1, 16 + 1, 25),
        ("average-class-size", 5 / 3, 5 / 2, 5),
        ("precision", 1, 1 / 2, 0),
        # y and z leave nothing open; nor does z; one class
        ("itpr", 1, 1, 0),
    ],
)
def test_by_hand(name, raw, grouped, hidden):
    case = small(name)
    found = [value(case, (level,)) for level in range(3)]
    assert found == [pytest.approx(x, abs=1e-6) for x in (raw, grouped, hidden)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mutual-information", 0),  # of the 4 records released, a single class
        ("non-uniform-entropy", (3 * log2(4 / 3) + 2 + log2(5)) / 5),
        ("loss", (4 * 1 / 2 + 1) / 5),
        ("discernibility", 16 + 1 * 5),
        ("average-class-size", 5 / 2),
        ("precision", 1 - (4 * 1 / 2 + 1) / 5),
    ],
)
def test_records_left_out_count_as_fully_generalized(name, expected):
    case = small(name, share=0.2)
    case = replace(case, brute=replace(case.brute, models=[KAnonymity(2)]))
    assert value(case, (1,)) == pytest.approx(expected, abs=1e-9)


def test_one_suppressed_class_keeps_what_its_records_tell_together():
    # x and y are suppressed together: {0, 0, 0, 1} against z.
    case = small("mutual-information", share=0.8)
    rows = [*case.brute.rows] + [{"a": "z", "w": "1"}] * 3
    case = replace(case, brute=replace(case.brute, rows=rows, models=[KAnonymity(4)]))
    known = entropy_of(3, 5) - 0.5 * H[3, 1]
    assert value(case, (0,)) == pytest.approx(known, abs=1e-6)


def entropy_of(*counts: int) -> float:
    total = sum(counts)
    return -sum(count / total * log2(count / total) for count in counts)


def test_the_loss_of_numbers_is_the_share_of_their_range():
    frame = pd.DataFrame({"a": [1, 2, 5, 9]})
    anonymizer = Anonymizer(
        {"a": Hierarchy.ranges(widths=[4])}, privacy=[KAnonymity(1)], objective="loss"
    )
    assert anonymizer.fit(frame).search_.value == 0
    anonymizer.set_params(privacy=[KAnonymity(2)], recoding__suppression=0.5)
    assert anonymizer.fit(frame).search_.value == pytest.approx((2 * 1 / 8 + 2) / 4)


def test_listed_values_count_in_a_loss_whether_they_occur_or_not():
    rows = [*ROWS, ["u", "g"], ["v", "h"]]
    frame = pd.DataFrame({"a": list("xxzz")})
    anonymizer = Anonymizer(
        {"a": Hierarchy.from_rows(rows)}, privacy=[KAnonymity(2)], objective="loss"
    )
    assert anonymizer.fit(frame).search_.value == 0
    frame = pd.DataFrame({"a": list("xyzz")})
    assert anonymizer.fit(frame).search_.value == pytest.approx((2 * 2 + 2 * 1) / 4 / 4)


def test_a_suppressed_value_costs_the_same_beside_one_that_only_a_population_has():
    # y is suppressed, of 4 records the only one: 2 bits. Nobody in the table has x, its neighbour.
    models = [KAnonymity(2), KMap(1, pd.DataFrame({"a": list("xyzzz")}))]
    anonymizer = Anonymizer(
        {"a": Hierarchy.from_rows(ROWS)}, privacy=models, recoding=FullDomain(suppression=0.3)
    )
    anonymizer.set_params(objective="non-uniform-entropy")
    assert anonymizer.fit(pd.DataFrame({"a": list("yzzz")})).search_.value == 2 / 4


@settings(max_examples=at_length(15, 30))
@given(seeds)
@pytest.mark.parametrize("kernel", [NUMPY, NATIVE], ids=lambda kernel: kernel.name)
def test_scores_are_those_of_the_records_released(kernel, seed):
    case = random_case(np.random.default_rng(seed))
    evaluator, brute = case.problem(kernel).evaluator, case.brute
    sets = evaluator.sets()
    for node in brute.nodes:
        candidate = evaluator.candidate(node, sets.at(node))
        assert (candidate is None) == (node not in brute.outcomes)
        if candidate is not None:
            score = evaluator.objective.score(candidate)
            assert score == pytest.approx(brute.scores[node], abs=1e-9)
            assert candidate.released_classes == brute.outcomes[node].classes


@settings(max_examples=10)
@given(seed=seeds)
@pytest.mark.parametrize(("name", "aggregate"), ASKED)
def test_no_objective_rises_under_generalization_or_suppression(name, aggregate, seed):
    case = random_case(np.random.default_rng(seed), attributes=2)
    if name == "mutual-information" and not (case.brute.sensitive or case.brute.targets):
        return
    weights = case.brute.weights if name == case.brute.objective else {}
    problem = case.asking(name, aggregate, weights).problem()
    lattice, evaluator, sets = problem.lattice, problem.evaluator, problem.evaluator.sets()
    plain = {node: evaluator.plain(node, sets.at(node).copy()) for node in lattice}
    scores = {node: evaluator.objective.score(candidate) for node, candidate in plain.items()}
    bounds = {node: evaluator.bound(candidate) for node, candidate in plain.items()}
    for node in lattice:
        for above in lattice.above(node):
            assert scores[above] <= scores[node] + 1e-9
            assert bounds[above] <= bounds[node] + 1e-9
    lost = {node: evaluator.lost(candidate.classes) for node, candidate in plain.items()}
    tolls = {node: evaluator.objective.toll(node, evaluator.budget) for node in lattice}
    for node in lattice:
        released = evaluator.candidate(node, plain[node].classes)
        if released is None:
            continue
        score = evaluator.objective.score(released)
        above = [other for other in lattice if all(map(le, node, other))]
        below = [other for other in lattice if all(map(le, other, node))]
        assert all(tolls[other] <= tolls[node] + 1e-9 for other in above)
        assert max(lost[other] for other in above) == lost[node] <= evaluator.most
        ceiling = min(bounds[other] for other in below)
        assert score <= ceiling - lost[node] * tolls[node] + 1e-9


@given(seeds)
def test_a_sum_over_classes_is_the_score_without_suppression(seed):
    case = random_case(np.random.default_rng(seed), share=0.0)
    problem = case.problem()
    evaluator, sets = problem.evaluator, problem.evaluator.sets()
    for node in list(problem.lattice)[::3]:
        if type(evaluator.objective).per_class is Objective.per_class:
            with pytest.raises(InputError, match=r"which ranges .*; choose another one, or full"):
                evaluator.objective(problem.at(node))
        else:
            score = evaluator.objective.score(evaluator.plain(node, sets.at(node)))
            assert evaluator.objective(problem.at(node)) == pytest.approx(score, abs=1e-9)


@settings(max_examples=20)
@given(seeds)
def test_what_depends_on_levels_alone_is_tabulated(seed):
    rng = np.random.default_rng(seed)
    case = random_case(rng, share=0.0)
    tabulated = [each for each in ASKED if each[0] in ("non-uniform-entropy", "loss", "precision")]
    case = case.asking(*tabulated[rng.integers(len(tabulated))])
    problem = case.problem()
    table = problem.evaluator.objective.of_all_levels()
    assert table.shape == tuple(height + 1 for height in problem.lattice.heights)
    for node in case.brute.outcomes:
        assert table[node] == pytest.approx(case.brute.scores[node], abs=1e-9)


def crossed(**asked: object) -> Anonymizer:
    """One of a and b has to go."""
    hierarchies = {"a": Hierarchy.suppression(), "b": Hierarchy.suppression()}
    return Anonymizer(hierarchies, privacy=[KAnonymity(2)], **asked)


CROSSED = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "v": list("0011"), "w": list("0101")})


@pytest.mark.parametrize("name", ["non-uniform-entropy", "loss", "precision"])
def test_weights_decide_what_is_kept(name):
    def levels(weights: dict | None) -> dict:
        return crossed(objective=objective_of(name, weights)).fit(CROSSED).release_.levels

    assert levels(None) == levels({}) == {"a": 0, "b": 1}  # a tie: the lexicographically first
    assert levels({"b": 2}) == levels({"a": 0}) == levels({"a": 0.9}) == {"a": 1, "b": 0}
    assert levels({"a": 3, "b": 2.9}) == {"a": 0, "b": 1}


def test_weights_of_sensitive_attributes():
    def levels(weights: dict | None) -> dict:
        asked = crossed(sensitive=["v", "w"], objective=objective_of("mutual-information", weights))
        return asked.fit(CROSSED).release_.levels

    assert levels(None) == levels({"v": 1.1}) == {"a": 0, "b": 1}
    assert levels({"w": 1.1}) == levels({"v": 0}) == {"a": 1, "b": 0}


@pytest.mark.parametrize(("name", "kept", "unweighted"), [("loss", 0.4, 0), ("precision", 0.6, 1)])
def test_weights_are_shares_of_their_sum(name, kept, unweighted):
    anonymizer = crossed(objective=objective_of(name, {"a": 6, "b": 4}))
    assert anonymizer.fit(CROSSED).search_.value == pytest.approx(kept)
    anonymizer.set_params(objective__weights={"a": 0, "b": 0})
    assert anonymizer.fit(CROSSED).search_.value == unweighted


def test_a_geometric_mean_of_losses_by_hand():
    # Two pairs are told apart by a: of a nothing is lost, of b all.
    anonymizer = crossed(objective=Loss(aggregate="geometric-mean"))
    assert anonymizer.fit(CROSSED).search_.value == pytest.approx(2**0.5 - 1)
    anonymizer.set_params(objective__weights={"a": 3})
    assert anonymizer.fit(CROSSED).search_.value == pytest.approx(2**0.25 - 1)
    anonymizer.set_params(objective__weights={"a": 0, "b": 0})
    assert anonymizer.fit(CROSSED).search_.value == 0
    anonymizer.set_params(objective__weights={}, objective__aggregate="arithmetic-mean")
    assert anonymizer.fit(CROSSED).search_.value == 1 / 2


@pytest.mark.parametrize(
    ("aggregate", "levels", "loss"),
    [
        ("arithmetic-mean", {"a": 1, "b": 1}, 3 / 7),
        ("geometric-mean", {"a": 0, "b": 2}, 2**0.5 - 1),
    ],
)
def test_a_geometric_mean_prefers_to_lose_all_of_one_attribute(aggregate, levels, loss):
    # Either all of b goes, or of a and b what tells four of eight values apart: 3/7 = 0.43 each.
    rows = [[str(value), str(value // 4)] for value in range(8)]
    frame = pd.DataFrame([(a, b) for a, _ in rows for b, _ in rows], columns=["a", "b"])
    anonymizer = Anonymizer(
        dict.fromkeys("ab", Hierarchy.from_rows(rows)),
        privacy=[KAnonymity(8)],
        objective=Loss(aggregate=aggregate),
    ).fit(frame)
    assert anonymizer.release_.levels == levels
    assert anonymizer.search_.value == pytest.approx(loss)


def test_aggregates():
    with pytest.raises(InputError, match="aggregate = 'geometric' is unknown; did you mean 'geo"):
        objective_of("loss", aggregate="geometric")
    with pytest.raises(InputError, match="precision has no aggregate; only loss"):
        objective_of("precision", aggregate="geometric-mean")


@pytest.mark.parametrize("weight", [-1, -1e-9, float("nan"), float("inf"), "2", None, True])
@pytest.mark.parametrize("name", ["loss", "mutual-information"])
def test_weights_are_numbers_of_at_least_0(name, weight):
    with pytest.raises(InputError, match="weight of 'a' must be a number of at least 0"):
        objective_of(name, {"a": weight})


@pytest.mark.parametrize("name", ["discernibility", "average-class-size"])
def test_objectives_without_weights(name):
    with pytest.raises(InputError, match=f"{name} is about whole classes and has no weights"):
        objective_of(name, {"a": 1})
    assert objective_of(name, {}) == objective_of(name) == OBJECTIVES[name]()


def test_weights_of_what_is_not_there():
    with pytest.raises(InputError, match="weighs 'c', which is no quasi-identifier"):
        crossed(objective=Loss(weights={"c": 1})).fit(CROSSED)
    with pytest.raises(InputError, match="weighs 'a', which is no sensitive attribute"):
        crossed(sensitive="w", objective=MutualInformation(weights={"a": 1})).fit(CROSSED)
    with pytest.raises(InputError, match="'vv', which is no sensitive attribute; did you mean 'v'"):
        crossed(sensitive=["v", "w"], objective=MutualInformation(weights={"vv": 1})).fit(CROSSED)


def test_weights_of_what_is_not_there_where_ranges_are_cut():
    anonymizer = Anonymizer(
        {"a": Hierarchy.ranges(widths=[2])},
        "w",
        [KAnonymity(1)],
        recoding="variable-range",
        objective="mutual-information",
    )
    anonymizer.set_params(recoding__search="incognito", objective__weights={"x": 2})
    with pytest.raises(InputError, match="weighs 'x', which is no sensitive attribute"):
        anonymizer.fit(pd.DataFrame({"a": [1, 2, 3], "w": ["0", "1", "0"]}))


@pytest.mark.parametrize("weights", [[1, 2], "a", 3])
def test_weights_are_stated_by_attribute(weights):
    with pytest.raises(InputError, match="weights"):
        objective_of("loss", weights)


@pytest.mark.parametrize("weight", [10**400, 1e308, 1_000_001])
def test_weights_that_would_drown_the_others(weight):
    with pytest.raises(InputError, match="at least 0 and at most 1,000,000"):
        objective_of("loss", {"a": weight})


def test_an_objective_that_may_rise_is_searched_exhaustively_or_not_at_all():
    class MostLevels(Objective):
        """The sum of levels."""

        name = "most-levels"
        falls = False

        def score(self, candidate):
            return float(sum(candidate.node))

    for share in (0.0, 0.5):
        problem = replace(
            small("loss").problem(),
            objective=MostLevels(),
            models=[KAnonymity(1)],
            suppression=Suppression(share),
        )
        for strategy in ("automatic", "exhaustive"):
            assert solve(problem, strategy).node == problem.lattice.heights
        for strategy in ("bisection", "branch-and-bound", "incognito", "top-down"):
            with pytest.raises(InputError, match=r"most-levels may rise .* only search = 'exhau"):
                solve(problem, strategy)


def test_weights_of_an_objective_of_ones_own_are_numbers_of_at_least_0():
    with pytest.raises(InputError, match="weight of 'w' must be a number of at least 0"):
        crossed(sensitive="w", objective=MutualInformation(weights={"w": -1.0})).fit(CROSSED)


def test_the_loss_of_numbers_beyond_what_floats_tell_apart():
    frame = pd.DataFrame({"a": [2**60, 2**60 + 1, 2**60 + 2, 2**60 + 4] * 2})
    anonymizer = Anonymizer(
        {"a": Hierarchy.ranges(widths=[2])}, privacy=[KAnonymity(8)], objective="loss"
    )
    assert anonymizer.fit(frame).search_.value == 1


def test_information_needs_something_to_be_about():
    with pytest.raises(InputError, match="mutual-information is about a sensitive attribute; name"):
        crossed(objective="mutual-information").fit(CROSSED)


def test_unknown_objectives():
    with pytest.raises(InputError, match="objective 'los' is unknown; did you mean 'loss'"):
        objective_of("los")
    with pytest.raises(InputError, match="objective 'beauty' is unknown; known are mutual-inf"):
        objective_of("beauty")
    for stated in (MutualInformation, 3, None):
        with pytest.raises(InputError, match="objective must be the name of one"):
            crossed(objective=stated).fit(CROSSED)


def test_an_objective_of_ones_own_brings_its_own_weights():
    objective = MutualInformation(weights={"w": 2.0})
    assert crossed(sensitive=["v", "w"], objective=objective).fit(CROSSED).search_.value == 2


def test_attribute_wise_objectives_take_a_table():
    problem = random_case(np.random.default_rng(0)).problem()
    node = problem.lattice.heights
    candidate = problem.evaluator.plain(node, problem.evaluator.sets().at(node))
    with pytest.raises(TypeError, match="prepare the objective for a table first"):
        objective_of("loss").score(candidate)


def test_an_objective_of_ones_own_is_searched_for():
    class FewestLevels(Objective):
        """Minus the sum of levels."""

        name = "fewest-levels"

        def score(self, candidate):
            return -float(sum(candidate.node))

    case = small("loss")
    models = [KAnonymity(5)]
    problem = replace(case.problem(), objective=FewestLevels(), models=models)
    assert solve(problem).node == (2,)
    assert solve(replace(problem, models=[KAnonymity(1)])).score == 0


def test_an_objective_that_is_no_sum_over_classes_says_what_it_lacks():
    class Bare(Objective):
        """The number of classes, of candidates alone."""

        name = "bare"

        def score(self, candidate):
            return float(candidate.groups)

    problem = small("loss").problem()
    with pytest.raises(InputError, match=r"bare gives no per_class\(\), which ranges need"):
        Bare().per_class(problem.counts)
    with pytest.raises(InputError, match=r"ranges, for which it would have to give worth\(\)"):
        Bare().worth(Layout.of(problem.counts))
