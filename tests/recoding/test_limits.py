"""The lowest and the highest level that a release may use, in every recoding."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from strategies import problem_of, problems

from anonymizer import (
    Anonymizer,
    Cut,
    Fixed,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    PolicyUnreachableError,
    VariableRange,
)
from anonymizer.hierarchy import Interval, Partition
from anonymizer.hierarchy.partition import Limits
from anonymizer.objectives import MutualInformation
from anonymizer.recoding import STRATEGIES, Problem, Refiner, Suppression, refine_jointly, solve
from anonymizer.recoding.full_domain.branch_and_bound import branch_and_bound
from anonymizer.recoding.lattice import Lattice

AGES = [21, 22, 26, 27, 31, 33, 36, 38, 41, 44, 46, 47]
PEOPLE = pd.DataFrame({"age": AGES, "sex": ["f", "m"] * 6, "w": ["a", "a", "b", "b"] * 3})
AGE = Hierarchy.ranges(widths=[5, 10, 50])


def fitted(recoding, age=AGE, sex="suppress", k=2):
    information = {"recoding": recoding, "objective": "mutual-information"}
    return Anonymizer({"age": age, "sex": sex}, "w", [KAnonymity(k)], **information)


def labels(fit, name="age"):
    return [str(label) for label in fit.recoding_[name].labels]


def test_a_lattice_of_some_levels():
    lattice = Lattice(("a", "b"), (2, 3), (1, 1))
    assert lattice.bottom == (1, 1)
    assert lattice.size == 6
    assert list(lattice) == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    assert lattice.below((1, 2)) == [(1, 1)]
    assert lattice.above((2, 2)) == [(2, 3)]
    assert lattice.up_set([(2, 2)]) == [(2, 2), (2, 3)]
    assert lattice.graph().number_of_edges() == 7


def test_full_domain_by_hand():
    """Single years are pairwise different; fives hold two people of either value each."""
    free = fitted("full-domain").fit(PEOPLE)
    assert free.search_.nodes == 10
    fives = free.release_.levels["age"]
    coarser = fitted("full-domain", AGE.limited(min_level=2)).fit(PEOPLE)
    assert (fives, coarser.release_.levels["age"]) == (1, 2)
    assert coarser.search_.nodes == 6
    finer = fitted("full-domain", AGE.limited(max_level=1)).fit(PEOPLE)
    assert finer.release_.levels == {"age": 1, "sex": 1}
    assert finer.lattice_.graph["heights"] == (1, 1)


def test_a_policy_out_of_reach_names_the_attribute():
    with pytest.raises(PolicyUnreachableError, match="with max-level = 1 of 'age'; relax one"):
        fitted("full-domain", AGE.limited(max_level=1), k=3).fit(PEOPLE)
    sex = Hierarchy.suppression().limited(max_level=0)
    both = "with max-level = 1 of 'age' and max-level = 0 of 'sex'; relax one"
    with pytest.raises(PolicyUnreachableError, match=both):
        fitted("full-domain", AGE.limited(max_level=1), sex, k=7).fit(PEOPLE)
    for recoding in ("variable-range", "cut"):
        with pytest.raises(PolicyUnreachableError, match="with max-level = 1 of 'age'"):
            fitted(recoding, AGE.limited(max_level=1), k=3).fit(PEOPLE)


def test_suppressed_records_are_stars_all_the_same():
    table = pd.concat([PEOPLE, pd.DataFrame({"age": [70], "sex": ["f"], "w": ["a"]})])
    limited = AGE.limited(min_level=1, max_level=1)
    found = fitted(FullDomain(suppression=0.2), limited)
    released = found.fit_transform(table)
    assert found.release_.levels == {"age": 1, "sex": 1}
    assert found.release_.suppressed == 1
    assert "[70, 75)" not in set(map(str, released["age"]))


def test_ranges_stay_within_the_highest_level_and_whole_groups_of_the_lowest():
    found = fitted("variable-range", AGE.limited(max_level=2), k=1).fit(PEOPLE)
    cuts = {label.low for label in found.recoding_["age"].labels}
    assert {None, 30, 40} <= cuts
    found = fitted("variable-range", AGE.limited(min_level=1, max_level=2)).fit(PEOPLE)
    assert labels(found) == [
        "(-inf, 25)", "[25, 30)", "[30, 35)", "[35, 40)", "[40, 45)", "[45, inf)",
    ]  # fmt: skip


def test_groups_that_are_no_ranges_are_refused():
    rows = [[n, "even" if n % 2 == 0 else "odd"] for n in range(1, 7)]
    numbers = replace(Hierarchy.from_rows(rows), limits=Limits(max_level=1))
    table = pd.DataFrame({"x": range(1, 7), "w": list("aabbab")})
    asked = Anonymizer({"x": numbers}, "w", [KAnonymity(1)], recoding=VariableRange(refine=["x"]))
    with pytest.raises(InputError, match="groups of level 1 of 'x' are no ranges"):
        asked.fit(table)


def test_levels_given_have_to_be_among_those_allowed():
    asked = fitted(Fixed({"age": 0, "sex": 1}), AGE.limited(min_level=1))
    with pytest.raises(InputError, match="age = 0 must be from min-level = 1 to max-level = 4"):
        asked.fit(PEOPLE)


@pytest.mark.parametrize("recoding", ["boxes", "merged-cells"])
def test_boxes_refuse_a_highest_level_and_keep_to_a_lowest_one(recoding):
    with pytest.raises(InputError, match="cannot keep to the max-level of 'age'"):
        fitted(recoding, AGE.limited(max_level=2)).fit(PEOPLE)
    found = fitted(recoding, AGE.limited(min_level=2), k=1).fit(PEOPLE)
    ends = {
        end
        for label in found.release_.manifest.recoding["age"]
        if label.is_range
        for end in (label.low, label.high)
    }
    assert ends <= {None, 30, 40, 50}


def test_codes_are_not_finer_than_the_lowest_level_in_boxes():
    codes = [f"{n:03d}" for n in range(100, 160, 3)]
    table = pd.DataFrame({"zip": codes * 4, "w": list("abab") * 20})
    hierarchy = Hierarchy.prefixes([2, 1]).limited(min_level=1)
    found = Anonymizer({"zip": hierarchy}, "w", [KAnonymity(1)], recoding="boxes")
    released = found.fit_transform(table)
    assert not set(released["zip"]) & set(codes)
    assert all(len(each) == 3 or each.startswith("{") for each in released["zip"])


@pytest.mark.parametrize("recoding", ["pram", "noise"])
def test_drawn_values_refuse_levels(recoding):
    table = pd.DataFrame({"age": AGES, "w": PEOPLE["w"]})
    asked = Anonymizer({"age": AGE.limited(max_level=2)}, "w", [KAnonymity(1)], recoding=recoding)
    with pytest.raises(InputError, match="cannot keep to the max-level of 'age'"):
        asked.fit(table)


def test_groups_of_any_kind_refuse_levels():
    sex = Hierarchy.suppression().limited(min_level=1)
    with pytest.raises(InputError, match="cannot group 'sex' in any way and keep to"):
        fitted(Cut(group=["sex"]), AGE, sex).fit(PEOPLE)


# Brute force


@st.composite
def limited_problems(draw) -> Problem:
    """Problems of which every attribute has a lowest and a highest level."""
    problem = draw(problems(draw(st.integers(1, 3))))
    taxonomies = {}
    for name, taxonomy in problem.taxonomies.items():
        low = draw(st.integers(0, taxonomy.height))
        high = draw(st.integers(low, taxonomy.height))
        taxonomies[name] = replace(taxonomy, limits=Limits(low, high))
    return replace(problem, taxonomies=taxonomies)


def best_by_hand(problem: Problem):
    """The score of the best node allowed, by trying all; None where none satisfies the policy."""
    ranges = [
        range(taxonomy.limits.min_level, taxonomy.limits.max_level + 1)
        for taxonomy in problem.taxonomies.values()
    ]
    scores = {node: problem.score(node) for node in product(*ranges)}
    return max((score for score in scores.values() if score is not None), default=None)


@settings(max_examples=at_length(12, 25))
@given(limited_problems())
def test_every_strategy_finds_the_best_of_the_levels_allowed(problem):
    expected = best_by_hand(problem)
    for strategy in STRATEGIES:
        found = solve(problem, strategy)
        assert (found is None) == (expected is None), strategy
        if found:
            assert found.score == pytest.approx(expected)
            assert found.proven
            assert found.nodes == problem.lattice.size
            assert found.node in set(problem.lattice)


@settings(max_examples=at_length(12, 25))
@given(limited_problems(), st.sampled_from([0.1, 0.3, 0.6]))
def test_with_suppression_too(problem, share):
    problem = replace(problem, suppression=Suppression(share))
    expected = best_by_hand(problem)
    for found in (solve(problem), branch_and_bound(problem)):
        assert (found is None) == (expected is None)
        if found:
            assert found.score == pytest.approx(expected)
            assert found.node in set(problem.lattice)


def partitions_between(values, fine, coarse):
    """Every partition of an order into runs that are unions of fine groups, within coarse ones."""
    for cuts in product((False, True), repeat=len(values) - 1):
        groups = np.cumsum([0, *cuts])
        pairs = range(1, len(values))
        whole = all(cuts[i - 1] <= (fine[i] != fine[i - 1]) for i in pairs)
        within = all(cuts[i - 1] >= (coarse[i] != coarse[i - 1]) for i in pairs)
        if whole and within:
            yield groups


@settings(max_examples=at_length(12, 25))
@given(st.data())
def test_ranges_are_the_best_between_two_levels(data):
    """Brute force over all ranges of one attribute."""
    size = data.draw(st.integers(4, 25))
    xs = data.draw(st.lists(st.integers(-3, 6), min_size=size, max_size=size))
    ws = data.draw(st.lists(st.sampled_from("ab"), min_size=size, max_size=size))
    low = data.draw(st.integers(0, 2))
    high = data.draw(st.integers(low, 3))
    hierarchy = Hierarchy.ranges(widths=[2, 4]).limited(min_level=low, max_level=high)
    table = pd.DataFrame({"x": xs, "w": ws})
    problem = problem_of(table, {"x": hierarchy}, [KAnonymity(data.draw(st.integers(1, 4)))])
    taxonomy = problem.taxonomies["x"]
    values = sorted(set(xs))
    codes = taxonomy.encode(values)
    fine, coarse = (taxonomy.levels[level].groups[codes] for level in (low, high))
    expected = []
    for groups in partitions_between(values, fine, coarse):
        found = np.empty(len(values), np.intp)
        found[codes] = groups
        counts = problem.counts.recode({"x": Partition(found, tuple(range(groups[-1] + 1)))})
        if problem.feasible(counts):
            expected.append(MutualInformation()(counts))
    refined = refine_jointly(problem, ["x"], Refiner(MutualInformation()))
    if not expected:
        assert refined.value == -np.inf
        return
    assert refined.value == pytest.approx(max(expected))
    assert refined.proven
    for label in refined.recoding["x"].labels:
        ends = [] if not isinstance(label, Interval) else [label.low, label.high]
        assert low == 0 or all(end is None or end % (2 * low) == 0 for end in ends)
