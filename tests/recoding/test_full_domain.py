"""Every exact search against brute force."""

from dataclasses import replace
from itertools import product

import joblib
import pandas as pd
import pytest
from cases import EvenClasses
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from strategies import problem_of, problems, tables

from anonymizer import Hierarchy, InputError, KAnonymity
from anonymizer.objectives import MutualInformation
from anonymizer.recoding import SEARCHES, STRATEGIES, Refiner, Run, automatic, refine_jointly, solve
from anonymizer.recoding.full_domain.frontier import exhaustive, incognito
from anonymizer.recoding.lattice import Lattice

information = MutualInformation()


def test_the_lattice_of_two_attributes():
    lattice = Lattice(("a", "b"), (1, 2))
    assert lattice.size == 6
    assert lattice.above((0, 1)) == [(1, 1), (0, 2)]
    assert lattice.below((1, 2)) == [(0, 2), (1, 1)]
    assert lattice.graph().number_of_edges() == 7
    assert lattice.up_set([(0, 1)]) == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert lattice.minimal([(0, 1), (0, 2), (1, 1), (1, 2)]) == [(0, 1)]


def test_the_up_set_of_no_attributes_is_its_only_node():
    assert Lattice((), ()).up_set([()]) == [()]
    assert Lattice((), ()).up_set([]) == []


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_an_up_set_is_what_lies_above(heights, data):
    lattice = Lattice(tuple("abc"[: len(heights)]), tuple(heights))
    nodes = data.draw(st.lists(st.sampled_from(list(lattice)), max_size=3))
    above = [n for n in lattice if any(all(map(int.__ge__, n, low)) for low in nodes)]
    assert lattice.up_set(nodes) == above
    assert lattice.up_set(lattice.minimal(above)) == above


@settings(max_examples=at_length(30, 60))
@given(st.integers(1, 3).flatmap(lambda attributes: problems(attributes)))
def test_incognito_equals_exhaustive_and_brute_force(problem):
    lattice = problem.lattice
    feasible = [node for node in lattice if problem.feasible(problem.at(node))]
    expected = exhaustive(problem)
    assert expected.minimal == tuple(lattice.minimal(feasible))
    assert expected.feasible == len(feasible)
    assert expected.checked == expected.nodes == lattice.size
    found = incognito(problem)
    assert (found.minimal, found.feasible, found.nodes) == (
        expected.minimal,
        expected.feasible,
        expected.nodes,
    )


@given(problems(2))
def test_every_node_has_its_status(problem):
    expected = [problem.feasible(problem.at(node)) for node in problem.lattice]
    for search in SEARCHES.values():
        found = search(problem, Run())
        assert [found.is_feasible(node) for node in problem.lattice] == expected


@given(problems(3))
@pytest.mark.parametrize("sparse", [1, 10**9])
def test_large_lattices_are_searched_top_down_until_too_much_is_feasible(sparse, problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonymizer.recoding.full_domain.frontier.SMALL", 0)
        patch.setattr("anonymizer.recoding.full_domain.frontier.SPARSE", sparse)
        found = automatic(problem)
    expected = exhaustive(problem)
    assert (found.minimal, found.feasible) == (expected.minimal, expected.feasible)
    assert found.strategy == ("top-down" if sparse == 1 else "bisection")


@given(problems(2))
def test_models_that_are_not_monotone_are_not_pruned_by(problem):
    problem = replace(problem, models=[EvenClasses()])
    feasible = [node for node in problem.lattice if problem.feasible(problem.at(node))]
    found = exhaustive(problem)
    assert found.feasible == len(feasible)
    for search in ("exhaustive", "automatic", "branch-and-bound") if feasible else ():
        best = solve(problem, search)
        assert best.score == pytest.approx(information(problem.at(best.node)))
        assert best.score == pytest.approx(max(information(problem.at(node)) for node in feasible))
    for search in ("bisection", "top-down", "incognito"):
        with pytest.raises(InputError, match="even-classes is not preserved; full-domain"):
            solve(problem, search)
    with pytest.raises(InputError, match="variable-range recoding prunes"):
        refine_jointly(problem, ["a"], Refiner(information))


@given(problems(3))
def test_the_best_node_of_the_frontier_is_the_best_of_all(problem):
    feasible = [node for node in problem.lattice if problem.feasible(problem.at(node))]
    counts = {node: problem.at(node) for node in feasible}
    top = max(information(counted) for counted in counts.values())
    tied = [node for node in feasible if information(counts[node]) >= top - 1e-9]
    expected = min(tied, key=lambda node: (-len(counts[node]), node))
    for search in STRATEGIES:
        assert solve(problem, search).node == expected


@settings(max_examples=at_length(4, 10))
@given(problems(3))
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_the_number_of_jobs_does_not_matter(search, problem):
    with joblib.parallel_config(backend="threading"):
        assert search(problem, Run(n_jobs=2)) == search(problem)


@given(tables(2), st.permutations(["a", "b"]))
def test_the_order_of_attributes_does_not_matter(table, order):
    models = [KAnonymity(min(3, len(table)))]
    straight = incognito(problem_of(table, dict.fromkeys("ab", Hierarchy.suppression()), models))
    turned = incognito(problem_of(table, dict.fromkeys(order, Hierarchy.suppression()), models))
    place = [order.index(name) for name in "ab"]
    assert sorted(tuple(node[i] for i in place) for node in turned.minimal) == list(
        straight.minimal
    )


def test_incognito_checks_fewer_nodes(adult):
    rows = {"age": Hierarchy.ranges(widths=[5, 10, 50]), "sex": Hierarchy.suppression()}
    table = adult[["age", "sex", "race"]].rename(columns={"race": "w"})
    problem = problem_of(table, rows, [KAnonymity(50)])
    found, everything = incognito(problem), exhaustive(problem)
    assert found.minimal == everything.minimal
    assert found.checked < everything.checked


def test_a_lattice_too_large_is_refused():
    rows = [[str(i), *(str(i // 2**level) for level in range(1, 10))] for i in range(512)]
    names = "abcdefg"
    frame = pd.DataFrame({**{name: ["0", "1"] for name in names}, "w": ["0", "1"]})
    problem = problem_of(frame, dict.fromkeys(names, Hierarchy.from_rows(rows)), [KAnonymity(1)])
    for search in (incognito, exhaustive):
        with pytest.raises(InputError, match=r"10,000,000 nodes, more than the 1,000,000"):
            search(problem)


def test_all_nodes_are_enumerated():
    assert list(Lattice(("a", "b"), (1, 1))) == list(product((0, 1), repeat=2))
