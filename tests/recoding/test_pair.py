"""A1* over two attributes against brute force over all pairs of interval partitions."""

from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intervals import all_ranges, best_of
from lengths import at_length
from strategies import paired_problems, problem_of

from anonymizer import EntropyLDiversity, Hierarchy, KAnonymity, TCloseness
from anonymizer.hierarchy import Interval
from anonymizer.objectives import MutualInformation, Objective
from anonymizer.recoding import RangeOptions, Refiner, Run, cut_heuristically, refine_jointly
from anonymizer.recoding.full_domain.frontier import exhaustive
from anonymizer.recoding.partitions import joint, refine
from anonymizer.recoding.partitions.families import Chain
from anonymizer.recoding.partitions.joint import refine_exactly
from anonymizer.recoding.partitions.refine import Tiles, best_pair

information = MutualInformation()
OPTIONS = [
    {},
    {"max_ranges": 1},
    {"max_ranges": 2},
    {"max_ranges": 3},
    {"min_width": 2},
    {"min_width": 4},
    {"grid": 2},
    {"grid": 3, "max_ranges": 2},
]


class Evenness(Objective):
    """1 - c sum_g p(g)^2: falls when classes merge, and is of either sign."""

    name = "evenness"

    def __init__(self, factor):
        self.factor = factor

    def score(self, candidate):
        raise NotImplementedError

    def per_class(self, counts):
        p = counts.sizes / counts.records
        return p - self.factor * p**2


def brute_force(problem, objective, max_ranges=None, min_width=None, grid=None):
    """The best objective over all ranges of x and y and levels of a, and its most classes."""
    x, y, a = problem.taxonomies.values()
    ranges = [all_ranges(each, most=max_ranges, width=min_width, grid=grid) for each in (x, y)]
    return best_of(problem, [*ranges, a.levels], objective)


@settings(max_examples=at_length(25, 50))
@given(paired_problems(), st.sampled_from(OPTIONS), st.sampled_from(["xy", "yx"]))
def test_the_pair_equals_brute_force(drawn, confined, order):
    _, problem = drawn
    refined = refine_jointly(problem, list(order), Refiner(information, RangeOptions(**confined)))
    value, classes = brute_force(problem, information, **confined)
    assert refined.proven
    assert refined.value == pytest.approx(value, abs=1e-9)
    assert len(refined.counts) == classes
    assert problem.feasible(refined.counts)
    assert len(problem.counts.recode(refined.recoding)) == classes


@settings(max_examples=at_length(20, 40))
@given(paired_problems(), st.sampled_from(OPTIONS), st.sampled_from([0.5, 2, 50]))
def test_gains_may_have_any_sign(drawn, confined, factor):
    _, problem = drawn
    objective = Evenness(factor)
    refiner = Refiner(objective, RangeOptions(**confined))
    refined = refine_exactly(problem, ["x", "y"], refiner)
    value, classes = brute_force(problem, objective, **confined)
    assert refined.value == pytest.approx(value, abs=1e-9)
    assert len(refined.counts) == classes


@settings(max_examples=at_length(60, 120))
@given(
    st.tuples(st.integers(1, 5), st.integers(1, 6)),
    st.sampled_from([None, 1, 2, 3]),
    st.sampled_from([0, 0.2, 0.6]),
    st.integers(0, 2**32 - 1),
)
def test_the_walk_equals_enumeration(blocks, most, refused, seed):
    rng = np.random.default_rng(seed)
    chains = [whole_chain(v, most) for v in blocks]
    scores = rng.normal(size=[len(chain) + 1 for chain in chains])
    scores[rng.random(scores.shape) < refused] = -np.inf
    cuts = [list(cut_points(v, most)) for v in blocks]
    drawn = Tiles(*chains, scores, per_class=1e-12)
    values = {
        (path(r, blocks[0]), path(c, blocks[1])): value(drawn, r, c) for r, c in product(*cuts)
    }
    found = best_pair(drawn)
    if max(values.values()) == -np.inf:
        assert found is None
        return
    assert found.proven
    assert values[found.rows, found.columns] == pytest.approx(max(values.values()))
    assert best_pair(drawn, floor=max(values.values()) - 1) == found


def whole_chain(v, most):
    """All intervals of v blocks."""
    starts, ends = np.nonzero(np.triu(np.ones((v + 1, v + 1), bool), 1))
    return Chain.of(starts, ends, v, np.ones(len(starts), bool), most)


def path(cuts, v):
    """The intervals of v blocks that begin at some cuts."""
    ranges = list(combinations(range(v + 1), 2))
    return tuple(ranges.index(ends) for ends in pairwise([*cuts, v]))


def cut_points(v, most):
    """Every way to cut v blocks into ranges, by the blocks they begin at."""
    for size in range(min(v, most or v)):
        yield from ([0, *cuts] for cuts in combinations(range(1, v), size))


def value(drawn, *cuts):
    """The sum of the tiles that two partitions make, those of missing values included."""
    places = []
    for chain, starts in zip((drawn.rows, drawn.columns), cuts, strict=True):
        ranges = list(zip(chain.starts, chain.ends, strict=True))
        places.append([ranges.index(ends) for ends in pairwise([*starts, chain.blocks])] + [-1])
    return drawn.scores[np.ix_(*places)].sum()


def quadrants(least=4):
    """16 cells of one record; w says whether exactly one of x and y is in its upper half."""
    cells = list(product(range(1, 5), repeat=2))
    table = pd.DataFrame(cells, columns=["x", "y"])
    table["w"] = np.where((table["x"] > 2) ^ (table["y"] > 2), "u", "v")
    hierarchies = {"x": Hierarchy.ranges(widths=[100]), "y": Hierarchy.ranges(widths=[100])}
    return problem_of(table, hierarchies, [KAnonymity(least)])


def test_hand_worked_cuts():
    # Neither attribute tells anything alone; four quadrants of four records each tell all.
    problem = quadrants()
    refined = refine_jointly(problem, ["x", "y"], Refiner(information))
    for name in "xy":
        labels = [str(label) for label in refined.recoding[name].labels]
        assert labels == ["(-inf, 3)", "[3, inf)"]
    assert refined.value == pytest.approx(1)
    assert refined.proven
    for name in "xy":
        assert refine_jointly(problem, [name], Refiner(information)).value == 0


def test_missing_values_of_both_stay_apart():
    cells = [(x, y, w) for x in (1, 2, None) for y in (1, 2, None) for w in "uv"]
    table = pd.DataFrame(cells, columns=["x", "y", "w"])
    hierarchies = {"x": Hierarchy.ranges(widths=[5]), "y": Hierarchy.ranges(widths=[5])}
    problem = problem_of(table, hierarchies, [KAnonymity(4)])
    refined = refine_jointly(problem, ["x", "y"], Refiner(information))
    # 18 records; the 2 without x and y are a class of their own unless one is suppressed.
    assert len(refined.counts) == 3
    assert sum(partition.labels == ("*",) for partition in refined.recoding.values()) == 1


@pytest.mark.parametrize("cap", ["MOST_PREFIXES", "MOST_CLASSES"])
@settings(max_examples=at_length(10, 20))
@given(drawn=paired_problems(), confined=st.sampled_from(OPTIONS))
def test_beyond_a_cap_nothing_is_proven_but_all_holds(cap, drawn, confined):
    _, problem = drawn
    refiner = Refiner(information, RangeOptions(**confined))
    best = refine_exactly(problem, ["x", "y"], refiner)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refine, cap, 0)
        alone = refine_exactly(problem, ["x", "y"], refiner)
        found = refine_jointly(problem, ["x", "y"], refiner)
    assert problem.feasible(found.counts)
    assert found.proven <= alone.proven
    assert found.value >= alone.value - 1e-9
    if confined:  # levels, which join missing values to others, are no start then
        assert found.value <= best.value + 1e-9
    for name in "xy":
        ranges = [label for label in found.recoding[name].labels if isinstance(label, Interval)]
        assert len(ranges) <= confined.get("max_ranges", 5)


def test_what_a_cap_leaves_is_said():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refine, "MOST_PREFIXES", 0)
        found = refine_jointly(quadrants(6), ["x", "y"], Refiner(information))
        tight = refine_jointly(quadrants(), ["x", "y"], Refiner(information))
    assert not found.proven
    assert found.bound == pytest.approx(1)  # what the raw attributes keep
    assert tight.proven  # as much as they do


@settings(max_examples=15)
@given(paired_problems(), st.integers(0, 99))
def test_the_order_of_records_does_not_matter(drawn, seed):
    table, problem = drawn
    hierarchies = {
        "x": Hierarchy.ranges(widths=[3]),
        "y": Hierarchy.ranges(widths=[2]),
        "a": Hierarchy.suppression(),
    }
    first, second = (
        refine_exactly(
            problem_of(rows, hierarchies, list(problem.models)),
            ["x", "y"],
            Refiner(information),
        )
        for rows in (table, table.sample(frac=1, random_state=seed))
    )
    assert first.value == second.value
    for name in "xy":
        assert first.recoding[name].labels == second.recoding[name].labels


def three(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({name: rng.integers(0, 6, 90) for name in "xyz"})
    table["w"] = (table["x"] // 2 + table["y"] * rng.integers(0, 2, 90)) % 3
    widths = {"x": [2], "y": [3], "z": [2, 4]}
    hierarchies = {name: Hierarchy.ranges(widths=widths[name]) for name in "xyz"}
    return problem_of(table, hierarchies, [KAnonymity(3), EntropyLDiversity(1.5)])


@pytest.fixture
def ascending(monkeypatch):
    """As if every two attributes left too many recodings of the others."""
    monkeypatch.setattr(joint, "MOST_COMBINATIONS", 0)


@pytest.mark.parametrize("confined", [{}, {"max_ranges": 2}, {"min_width": 2}])
@pytest.mark.parametrize("seed", range(at_length(2, 4)))
@pytest.mark.usefixtures("ascending")
def test_three_attributes_ascend_from_every_node_of_the_frontier(confined, seed):
    problem = three(seed)
    options = RangeOptions(**confined)
    found = refine_jointly(problem, list("xyz"), Refiner(information, options))
    assert problem.feasible(found.counts)
    assert not found.proven
    turned = refine_jointly(problem, list("zyx"), Refiner(information, options))
    assert turned.value == pytest.approx(found.value, abs=1e-9)
    nodes = exhaustive(problem).minimal
    for name in "xyz":
        assert len(found.recoding[name]) <= (options.max_ranges or 6)
    if not confined:
        assert found.value >= max(information(problem.at(node)) for node in nodes) - 1e-9


@pytest.mark.usefixtures("ascending")
@pytest.mark.parametrize("cutting", [{}, {"cutting": cut_heuristically}], ids=["exact", "moved"])
def test_the_number_of_jobs_does_not_matter(cutting):
    problem = three(7)
    refiner = Refiner(information, **cutting)
    one, two = (
        refine_jointly(problem, list("xyz"), refiner, run=Run(n_jobs=jobs)) for jobs in (1, 2)
    )
    assert one.value == two.value
    assert (one.refinements, one.checked) == (two.refinements, two.checked)
    for name in "xyz":
        assert one.recoding[name].labels == two.recoding[name].labels


def test_the_heuristic_proves_nothing():
    problem = quadrants()
    refiner = Refiner(information, cutting=cut_heuristically)
    found = refine_jointly(problem, ["x", "y"], refiner)
    assert problem.feasible(found.counts)
    assert not found.proven


def test_age_by_education_of_adult(adult):
    hierarchies = {
        "age": Hierarchy.ranges(widths=[25, 50]),
        "education-num": Hierarchy.ranges(widths=[4]),
        "sex": Hierarchy.suppression(),
        "race": Hierarchy.suppression(),
    }
    table = adult.rename(columns={"marital-status": "w"})
    models = [TCloseness(0.55, distance="kl"), EntropyLDiversity(2.7)]
    problem = problem_of(table, hierarchies, models)
    refined = refine_jointly(problem, ["age", "education-num"], Refiner(information))
    starts = {
        name: [int(label.low) for label in refined.recoding[name].labels if label.low is not None]
        for name in ("age", "education-num")
    }
    assert refined.value == pytest.approx(0.24158, abs=5e-6)
    assert refined.proven
    assert sorted(starts["age"]) == [35, 36, 37, 38, 40, 41, 43, 45, 46, 47, 49, 51, 54, 56]
    assert sorted(starts["education-num"]) == [5, 7]
    assert refined.recoding["sex"].labels == refined.recoding["race"].labels == ("*",)
    assert problem.feasible(refined.counts)
