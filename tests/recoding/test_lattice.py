"""The lattice as a graph: what it says of each node, against brute force."""

import pickle
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from cases import RISING, EvenClasses, random_case
from forked import carried_out
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from plain import NUMPY
from strategies import problem_of, problems

import anonymizer
from anonymizer import (
    Anonymizer,
    DifferentialPrivacy,
    Fixed,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    NotFittedError,
    PolicyUnreachableError,
    SafePub,
)
from anonymizer.objectives import MutualInformation
from anonymizer.recoding import SEARCHES, Run, Suppression
from anonymizer.recoding.hasse import lattice_graph, spine
from anonymizer.recoding.lattice import MOST_TRACED, Lattice
from anonymizer.recoding.nodes import FrequencySets
from anonymizer.recoding.problem import Frontier

information = MutualInformation()

# Two binary attributes. Where a is kept, (2, y) is alone in its class; where b alone is kept, the
# classes are (f, f) and (c, c), which tell the one bit there is about w.
FOUR = pd.DataFrame({"a": list("1112"), "b": list("xxyy"), "w": list("ffcc")})
SUPPRESS = {"a": Hierarchy.suppression(), "b": Hierarchy.suppression()}


def estimator(**parameters):
    base = {"quasi_identifiers": SUPPRESS, "sensitive": "w", "privacy": [KAnonymity(2)]}
    return Anonymizer(**{**base, "objective": "mutual-information", **parameters})


def graph_of(problem, search="automatic"):
    """The lattice of a problem, and the result of the search."""
    recoding, found = FullDomain(search=search).choose(problem, 0, Run())
    return lattice_graph(found, recoding, problem.taxonomies), found


def column(graph, attribute):
    return {node: known[attribute] for node, known in graph.nodes(data=True)}


def deep_problem(height, records=40):
    """Three attributes of codes that lose a bit a level."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2**height, (records, 3)).astype(str)
    table = pd.DataFrame(codes, columns=list("abc")).assign(w=rng.integers(0, 3, records))
    hierarchies = {
        name: Hierarchy.from_rows(
            [[v, *(f"{level}:{int(v) >> level}" for level in range(1, height)), "*"]
             for v in sorted(set(table[name]))]
        )
        for name in "abc"
    }  # fmt: skip
    return problem_of(table.astype(str), hierarchies, [KAnonymity(4)])


# By hand


def test_two_attributes_of_two_levels():
    graph = estimator().fit(FOUR).lattice_
    assert dict(graph.nodes(data=True)) == {
        (0, 0): {
            "feasible": False, "minimal": False, "checked": True,
            "value": None, "information": None, "best": False,
        },
        (0, 1): {
            "feasible": False, "minimal": False, "checked": True,
            "value": None, "information": None, "best": False,
        },
        (1, 0): {
            "feasible": True, "minimal": True, "checked": True,
            "value": 1.0, "information": 1.0, "best": True,
        },
        (1, 1): {
            "feasible": True, "minimal": False, "checked": False,
            "value": None, "information": None, "best": False,
        },
    }  # fmt: skip
    assert set(graph.edges) == {
        ((0, 0), (0, 1)),
        ((0, 0), (1, 0)),
        ((0, 1), (1, 1)),
        ((1, 0), (1, 1)),
    }
    assert graph.graph == {
        "quasi_identifiers": ("a", "b"),
        "floors": (0, 0),
        "heights": (1, 1),
        "objective": "mutual-information",
        "strategy": "bisection",
        "proven": True,
        "nodes": 4,
        "checked": 3,
        "feasible": 2,
        "best": (1, 0),
        "complete": True,
    }


def test_an_exhaustive_search_knows_what_every_feasible_node_keeps():
    graph = estimator(recoding=FullDomain(search="exhaustive")).fit(FOUR).lattice_
    assert set(column(graph, "checked").values()) == {True}
    bits = {(0, 0): None, (0, 1): None, (1, 0): 1.0, (1, 1): 0.0}
    assert column(graph, "information") == bits


def test_another_objective_has_a_value_and_bits_that_are_not_known():
    known = estimator(objective="discernibility").fit(FOUR).lattice_.nodes[1, 0]
    assert (known["value"], known["information"]) == (8.0, None)


def test_bits_that_are_weighted_are_no_bits():
    known = estimator(objective=MutualInformation(weights={"w": 2})).fit(FOUR).lattice_.nodes[1, 0]
    assert (known["value"], known["information"]) == (2.0, None)
    known = estimator(objective=MutualInformation(weights={"w": 1})).fit(FOUR).lattice_.nodes[1, 0]
    assert known["information"] == 1.0


def test_given_levels_say_nothing_of_what_lies_below():
    graph = estimator(recoding=Fixed({"a": 1, "b": 0})).fit(FOUR).lattice_
    assert column(graph, "feasible") == {(0, 0): None, (0, 1): None, (1, 0): True, (1, 1): True}
    assert column(graph, "minimal") == {(0, 0): None, (0, 1): None, (1, 0): None, (1, 1): False}
    assert column(graph, "best") == {(0, 0): False, (0, 1): False, (1, 0): True, (1, 1): False}
    assert column(graph, "checked") == column(graph, "best")
    assert graph.nodes[1, 0]["information"] == 1.0


def test_what_suppression_leaves_open_stays_open():
    """One record of four may go: at (0, 1) that of a = 2 goes, at (0, 0) two would have to."""
    graph = estimator(recoding=FullDomain(suppression=0.25)).fit(FOUR).lattice_
    assert graph.graph["feasible"] is None
    assert graph.graph["best"] == (1, 0)
    assert column(graph, "feasible") == {(0, 0): False, (0, 1): True, (1, 0): True, (1, 1): None}
    assert column(graph, "minimal") == {(0, 0): False, (0, 1): True, (1, 0): True, (1, 1): None}
    left = estimator(recoding=FullDomain(0.25, search="exhaustive")).fit(FOUR).lattice_
    assert column(left, "feasible") == {(0, 0): False, (0, 1): True, (1, 0): True, (1, 1): True}
    bits = {(0, 0): None, (0, 1): 0.0, (1, 0): 1.0, (1, 1): 0.0}
    assert column(left, "information") == pytest.approx(bits, abs=1e-12)


@pytest.mark.parametrize("recoding", ["variable-range", "cut"])
def test_recodings_between_levels_have_the_lattice_they_began_with(recoding):
    table = FOUR.assign(a=[1, 1, 8, 9])
    hierarchies = {"a": Hierarchy.ranges(widths=[2]), "b": Hierarchy.suppression()}
    graph = estimator(quasi_identifiers=hierarchies, recoding=recoding).fit(table).lattice_
    assert graph.graph["best"] is None
    assert not any(column(graph, "best").values())
    # Ranges of width 2 from 0: 1 is in [0, 2), 8 and 9 are in [8, 10).
    feasible = {node for node, holds in column(graph, "feasible").items() if holds}
    assert feasible == {(1, 0), (1, 1), (2, 0), (2, 1)}
    assert [node for node, least in column(graph, "minimal").items() if least] == [(1, 0)]
    assert graph.nodes[1, 0]["information"] == 1.0


def test_a_search_of_ones_own_tells_what_it_tells():
    def top(problem, run):
        heights = problem.lattice.heights
        return Frontier((heights,), problem.lattice.size, 1, 1)

    graph = estimator(recoding=FullDomain(search=top)).fit(FOUR).lattice_
    assert graph.graph["best"] == (1, 1)
    assert column(graph, "checked") == {(0, 0): None, (0, 1): None, (1, 0): None, (1, 1): True}


# Laws


@settings(max_examples=at_length(8, 15))
@given(st.integers(1, 3).flatmap(problems))
@pytest.mark.parametrize("search", SEARCHES)
def test_every_status_is_that_of_the_node_itself(search, problem):
    graph, _ = graph_of(problem, search)
    counts = {node: problem.at(node) for node in problem.lattice}
    feasible = {node: problem.feasible(counted) for node, counted in counts.items()}
    assert column(graph, "feasible") == feasible
    minimal = problem.lattice.minimal(node for node, holds in feasible.items() if holds)
    assert [node for node, least in column(graph, "minimal").items() if least] == minimal
    assert sum(column(graph, "best").values()) == 1
    for node, bits in column(graph, "information").items():
        assert bits is None or bits == pytest.approx(information(counts[node]), abs=1e-9)
        assert (bits is not None) or node not in minimal
    assert graph.graph["feasible"] == sum(feasible.values())
    assert nx.utils.graphs_equal(nx.DiGraph(graph.edges), nx.DiGraph(problem.lattice.graph().edges))


@pytest.mark.parametrize("seed", range(at_length(30, 60)))
def test_no_search_says_what_brute_force_denies(seed):
    """Any models, objectives and suppression, among them models that are not monotone."""
    case = random_case(np.random.default_rng(seed), records=30)
    brute, problem = case.brute, case.problem()
    minimal = set(brute.minimal())
    for search in case.strategies if brute.best else ():
        graph, _ = graph_of(problem, search)
        assert graph.graph["best"] == brute.best
        assert set(graph) == set(brute.nodes)
        for node, known in graph.nodes(data=True):
            assert known["feasible"] in (None, node in brute.outcomes)
            assert known["minimal"] in (None, node in minimal)
            if known["value"] is not None:
                score = brute.scores[node]
                if brute.objective in RISING:
                    continue
                expected = problem.objective.quantity(score, len(brute.rows))
                assert known["value"] == pytest.approx(expected, abs=1e-9)
        if search == "exhaustive":
            assert None not in column(graph, "feasible").values()
            assert all(column(graph, "checked").values())


@settings(max_examples=15)
@given(problems(2), st.sampled_from([0.0, 0.1, 0.4]))
@pytest.mark.parametrize("search", ["bisection", "top-down", "branch-and-bound", "automatic"])
def test_what_is_called_checked_was_counted(search, problem, share):
    if share and search == "top-down":
        return
    problem = replace(problem, suppression=Suppression(share), kernel=NUMPY)
    seen, at = set(), FrequencySets.at

    def watched(sets, node):
        seen.add(node)
        return at(sets, node)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FrequencySets, "at", watched)
        graph, _ = graph_of(problem, search)
    assert column(graph, "checked") == {node: node in seen for node in problem.lattice}


@settings(max_examples=at_length(20, 40))
@given(problems(2))
def test_models_that_are_not_monotone_are_no_up_set(problem):
    problem = replace(problem, models=[EvenClasses()])
    feasible = {node: problem.feasible(problem.at(node)) for node in problem.lattice}
    for search in ("automatic", "exhaustive", "branch-and-bound"):
        try:
            graph, _ = graph_of(problem, search)
        except PolicyUnreachableError:
            assert not any(feasible.values())
            continue
        known = column(graph, "feasible")
        if search == "branch-and-bound":
            assert all(known[node] in (None, feasible[node]) for node in feasible)
        else:
            assert known == feasible


def test_one_feasible_node_below_an_infeasible_one():
    """Even classes: of sizes 2, 4 and 3, 3, the finer is feasible and the coarser is not."""
    table = pd.DataFrame({"a": list("xxyyyy") + list("zz"), "w": list("ababab") + list("ab")})
    rows = [["x", "u", "*"], ["y", "v", "*"], ["z", "v", "*"]]
    problem = problem_of(table.iloc[:-1], {"a": Hierarchy.from_rows(rows)}, [EvenClasses()])
    with pytest.raises(PolicyUnreachableError):
        graph_of(problem)
    problem = problem_of(table, {"a": Hierarchy.from_rows(rows)}, [EvenClasses()])
    graph, _ = graph_of(replace(problem, models=[EvenClasses(), NotOfSix()]))
    assert column(graph, "feasible") == {(0,): True, (1,): False, (2,): True}


class NotOfSix(EvenClasses):
    """No class of six records."""

    def holds(self, size):
        return size != 6


# Sizes


def test_the_largest_lattice_that_is_shown_whole():
    whole, _ = graph_of(deep_problem(7))
    assert len(whole) == 8**3 == MOST_TRACED
    assert whole.graph["complete"]
    assert None not in column(whole, "feasible").values()


@pytest.mark.parametrize("search", [*SEARCHES, "branch-and-bound"])
def test_of_a_larger_one_the_frontier_the_optimum_and_paths(search):
    problem = deep_problem(8)
    graph, found = graph_of(problem, search)
    of_all = graph.graph
    assert (of_all["nodes"], of_all["complete"]) == (9**3, False)
    assert len(graph) < 9**3
    minimal = found.minimal or ()
    assert bool(minimal) == (search != "branch-and-bound")
    for node in (*minimal, of_all["best"]):
        assert nx.has_path(graph, (0, 0, 0), node)
        assert nx.has_path(graph, node, (8, 8, 8))
        assert graph.nodes[node]["checked"]
        assert graph.nodes[node]["information"] == pytest.approx(information(problem.at(node)))
    for node, known in graph.nodes(data=True):
        feasible = problem.feasible(problem.at(node))
        assert known["feasible"] in ((feasible,) if minimal else (None, feasible))
        assert known["minimal"] in ((node in minimal,) if minimal else (None, False, True))


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_a_larger_one_under_suppression_guesses_nothing(share):
    problem = replace(deep_problem(8), suppression=Suppression(share))
    graph, _ = graph_of(problem)
    best = graph.graph["best"]
    assert [node for node, known in column(graph, "feasible").items() if known] == [best]
    assert {known for node, known in column(graph, "feasible").items() if node != best} == {None}
    assert len(graph) == sum((8, 8, 8)) + 1  # one path through the best node


def test_the_path_of_the_optimum_leads_through_the_frontier():
    lattice = Lattice(("a", "b"), (3, 3))
    kept = spine(lattice, [(0, 2)], (3, 3))
    assert kept == {(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (3, 2), (3, 3)}
    assert spine(lattice, [], None) == {(0, 0), (3, 3)}
    assert spine(lattice, [(2, 0)], (0, 1)) >= {(0, 1), (1, 0), (2, 0), (0, 0), (3, 3)}


# As an attribute of the estimator


def test_a_lattice_of_what_was_pickled_is_the_same():
    fitted = estimator(recoding=FullDomain(suppression=0.25)).fit(FOUR)
    again = pickle.loads(pickle.dumps(fitted))
    assert nx.utils.graphs_equal(again.lattice_, fitted.lattice_)
    assert nx.utils.graphs_equal(pickle.loads(pickle.dumps(fitted.lattice_)), fitted.lattice_)
    before = fitted.lattice_
    fitted.transform(pd.concat([FOUR, FOUR]))
    assert nx.utils.graphs_equal(fitted.lattice_, before)


def test_a_changed_graph_changes_nothing():
    fitted = estimator().fit(FOUR)
    fitted.lattice_.clear()
    assert len(fitted.lattice_) == 4


@pytest.mark.parametrize(
    "parameters",
    [
        {"recoding": "boxes"},
        {"recoding": "merged-cells"},
        {"recoding": "pram"},
        {
            "recoding": SafePub({"a": 1, "b": 1}),
            "privacy": [DifferentialPrivacy(3.0, 0.1)],
            "sensitive": (),
            "identifiers": ["w"],
        },
    ],
)
def test_recodings_without_a_lattice(parameters):
    table = pd.concat([FOUR] * 50, ignore_index=True)
    fitted = estimator(**parameters).fit(table)
    with pytest.raises(InputError, match=r"no lattice; choose .* such as full-domain"):
        _ = fitted.lattice_


def test_before_fit_there_is_none():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = estimator().lattice_
    assert not hasattr(estimator(), "lattice_")


def test_a_manifest_has_no_trace():
    fitted = estimator().fit(FOUR)
    assert "trace" not in fitted.search_.to_dict()
    assert "trace" not in fitted.release_.to_dict()["search"]


def test_the_lattice_is_public():
    graph = anonymizer.Lattice(("a", "b"), (1, 1)).graph()
    assert sorted(graph.edges) == sorted(estimator().fit(FOUR).lattice_.edges)


def test_networkx_is_loaded_when_the_graph_is_drawn():
    code = """
import sys
import pandas as pd
from anonymizer import Anonymizer, KAnonymity
table = pd.DataFrame({"a": list("1112"), "w": list("ffcc")})
fitted = Anonymizer({"a": "suppress"}, "w", [KAnonymity(2)]).fit(table)
assert "networkx" not in sys.modules
assert len(fitted.lattice_) == 2 and "networkx" in sys.modules
"""
    assert carried_out("-c", code) == (0, "", "")
