"""Branch and bound: exact when it finishes, and a certificate whenever it is cut short."""

import json
import sys
import tracemalloc
from dataclasses import replace
from math import inf

import joblib
import numpy as np
import pandas as pd
import pytest
from cases import Case, random_case
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from lengths import at_length
from plain import NUMPY
from strategies import problem_of

from anonymizer import (
    Anonymizer,
    AnonymizerError,
    EntropyLDiversity,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    TCloseness,
)
from anonymizer.errors import Ended
from anonymizer.kernels import NATIVE
from anonymizer.objectives import MutualInformation, objective_of
from anonymizer.recoding import Found, Problem, Run, Suppression, solve
from anonymizer.recoding.full_domain import branch_and_bound as boxes
from anonymizer.recoding.full_domain.branch_and_bound import branch_and_bound

seeds = st.integers(0, 2**32 - 1)
AT_ONCE = Run(time_limit=1e-9)
KERNELS = [NUMPY, NATIVE]
"""The compiled one is loaded from now on, as in a worker of all tests: where it is loaded midway,
scores of one test differ in their last digits."""


def interrupting(after: int, error: type[BaseException] = KeyboardInterrupt) -> Run:
    """A run that is interrupted when it tells of its progress for so manyeth a time."""
    calls = iter(range(after))

    def watch(*_: object) -> None:
        if next(calls, None) is None:
            raise error

    return Run(watch=watch)


def assert_certified(case: Case, found: Found) -> None:
    """Feasible, and no feasible node is above the bound."""
    scores = case.brute.scores
    assert found.score == pytest.approx(scores[found.node], abs=1e-9)
    assert found.bound >= max(scores.values()) - 1e-9
    assert found.bound >= found.score
    if found.proven:
        assert (found.node, found.bound) == (case.brute.best, found.score)


def test_a_score_may_be_larger_than_the_number_of_classes():
    """Weights are those of a user: of two classes a hundred times a bit."""
    table = pd.DataFrame({"a": [*"xxyy"] * 4, "w": [*"ppqq"] * 4})
    problem = problem_of(table, {"a": Hierarchy.suppression()}, [KAnonymity(2)])
    objective = MutualInformation(weights={"w": 100})
    found = branch_and_bound(replace(problem, objective=objective))
    assert (found.node, found.score) == ((0,), pytest.approx(100))


@settings(max_examples=at_length(12, 25))
@given(seeds)
def test_it_finds_what_counting_every_node_does(seed):
    problem = random_case(np.random.default_rng(seed), attributes=4).problem()
    found, expected = branch_and_bound(problem), solve(problem, "exhaustive")
    if expected is None:
        assert found is None
        return
    assert (found.node, found.proven, found.bound) == (expected.node, True, found.score)
    assert found.score == pytest.approx(expected.score, abs=1e-12)
    assert (found.strategy, found.nodes) == ("branch-and-bound", problem.lattice.size)
    assert (found.feasible, found.minimal) == (None, None)


@settings(max_examples=at_length(20, 40))
@given(seeds, st.booleans())
@example(909, True)
@example(973, True)
@example(1025, True)
def test_where_all_nodes_tie_most_classes_decide(seed, plain):
    # What is removed is no class, so that a node above one with removed records may have more.
    rng, share = np.random.default_rng(seed), (0.3, 0.6)[seed % 2]
    case = random_case(rng, records=40, share=share, plain=plain)
    case = case.asking("loss", weights=dict.fromkeys(case.hierarchies, 0))
    problem = replace(case, brute=replace(case.brute, remove=True)).problem()
    found, expected = branch_and_bound(problem), solve(problem, "exhaustive")
    assert (found and found.node) == (expected and expected.node)


@given(seeds)
def test_out_of_time_it_has_a_feasible_node_and_a_bound(seed):
    case = random_case(np.random.default_rng(seed))
    if case.problem().lattice.heights not in case.brute.outcomes:
        with pytest.raises(InputError, match="ended before a node that satisfies the policy was"):
            branch_and_bound(case.problem(), AT_ONCE)
        return
    found = branch_and_bound(case.problem(), AT_ONCE)
    assert_certified(case, found)
    assert found.checked <= 1


@settings(max_examples=at_length(15, 30))
@given(seeds, st.integers(0, 12))
def test_interrupted_it_has_a_feasible_node_and_a_bound(seed, after):
    case = random_case(np.random.default_rng(seed))
    try:
        found = branch_and_bound(case.problem(), interrupting(after))
    except KeyboardInterrupt:
        assert case.problem().lattice.heights not in case.brute.outcomes
        return
    if found is not None:
        assert_certified(case, found)


@given(seeds)
def test_the_longer_it_runs_the_closer_are_score_and_bound(seed):
    problem = random_case(np.random.default_rng(seed), share=0.3, records=30).problem()
    assume(problem.evaluator.candidate(top := problem.lattice.heights, _at(problem, top)))
    score, bound = -inf, inf
    for after in range(30):
        found = branch_and_bound(problem, interrupting(after))
        assert score <= found.score <= found.bound <= bound
        score, bound = found.score, found.bound
        if found.proven:
            return


def _at(problem: Problem, node: tuple[int, ...]):
    return problem.evaluator.sets().at(node)


def interrupted(
    problem: Problem, at: int, function: str | None = None
) -> tuple[Found | None, bool]:
    """What is found when an interrupt comes before so manyeth a line, and whether it came.

    Signals come between any two instructions, not only when progress is told.
    """
    left = iter(range(at))

    def trace(frame, event, _):
        code = frame.f_code
        if code.co_filename != boxes.__file__ or function not in (None, code.co_name):
            return None
        if event == "line" and next(left, None) is None:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = branch_and_bound(problem)
    except KeyboardInterrupt:
        found = None
    finally:
        came = sys.gettrace() is None
        sys.settrace(before)
    return found, came


@given(seeds, st.integers(1, 400))
def test_an_interrupt_may_come_at_any_line(seed, at):
    case = random_case(np.random.default_rng(seed), attributes=2)
    found, _ = interrupted(case.problem(), at)
    if found is not None:
        assert_certified(case, found)


@pytest.mark.parametrize(("seed", "share"), [(39, 0.3), (84, 0.3), (26, 0.1)])
def test_an_interrupt_loses_no_box(seed, share):
    case = random_case(np.random.default_rng(seed), share=share, exempt=False, plain=True)
    best, came, worse, at = max(case.brute.scores.values()), True, 0, 0
    while came:
        found, came = interrupted(case.problem(), at, "steps")
        if found is not None:
            assert_certified(case, found)
            worse += found.score < best
        at += at_length(3, 1)
    # The best node is found late: a box that was lost would be missed.
    assert worse > at_length(3, 10)


def test_a_release_made_when_time_was_up_can_be_written_down():
    anonymizer = Anonymizer({"a": "suppress"}, "w", [KAnonymity(2)], time_limit=1e-9)
    release = anonymizer.fit(pd.DataFrame({"a": list("xxy"), "w": list("010")})).release_
    written = json.dumps(release.steward_manifest.to_dict(), allow_nan=False)
    assert json.loads(written)["search"]["gap"] >= 0


def test_that_time_was_up_does_not_put_a_policy_out_of_reach():
    # Only without y, which leaves as many 0 as 1, is there a release; the top has too many 0.
    table = pd.DataFrame({"a": list("xxxxyyyy"), "w": list("00110000")})
    anonymizer = Anonymizer(
        {"a": "suppress"},
        "w",
        [EntropyLDiversity(2)],
        recoding=FullDomain(suppression=0.5, suppress="any"),
    )
    assert anonymizer.fit(table).release_.levels == {"a": 0}
    with pytest.raises(AnonymizerError, match="time"):
        anonymizer.set_params(time_limit=1e-9).fit(table)


@pytest.mark.parametrize("after", [0, 3])
def test_a_request_to_end_is_no_request_for_the_best_so_far(after):
    problem = large(attributes=4)
    assert branch_and_bound(problem, interrupting(after)).node
    with pytest.raises(Ended):
        branch_and_bound(problem, interrupting(after, Ended))


def test_an_interrupt_before_a_feasible_node_was_found_ends_the_search():
    problem = replace(large(attributes=3), models=[EntropyLDiversity(4)])
    with pytest.raises(KeyboardInterrupt):
        branch_and_bound(problem, interrupting(0))


def large(attributes: int, **asked: object) -> Problem:
    """Attributes of 6 levels each, correlated so that much is worth keeping."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 32, 400)
    columns = {
        f"a{i}": [f"{value:02}" for value in hidden ^ rng.integers(0, 32, 400) >> i % 5 + 1]
        for i in range(attributes)
    }
    rows = [[f"{v:02}", *(f"{v >> level}" for level in range(1, 6))] for v in range(32)]
    frame = pd.DataFrame({**columns, "w": (hidden >> 3).astype(str)})
    hierarchies = dict.fromkeys(columns, Hierarchy.from_rows(rows))
    models = [KAnonymity(10), TCloseness(1.5, "kl")]
    return replace(problem_of(frame, hierarchies, models), **asked)


@pytest.mark.parametrize("share", [0.0, 0.05])
@pytest.mark.parametrize("objective", ["mutual-information", "loss"])
def test_beyond_a_thousand_million_nodes(objective, share):
    problem = large(12, objective=objective_of(objective), suppression=Suppression(share))
    assert problem.lattice.size > 10**9
    with pytest.raises(InputError, match="more than the 1,000,000 that this search can hold"):
        solve(problem, "exhaustive")
    tracemalloc.start()
    try:
        found = solve(problem, run=Run(time_limit=0.5))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * 2**20
    assert found.strategy == "branch-and-bound"
    assert found.score <= found.bound
    candidate = problem.evaluator.candidate(found.node, _at(problem, found.node))
    # Whether NumPy or machine code counts depends on time spent; their last digits may differ.
    score = problem.evaluator.objective.score(candidate)
    assert score == pytest.approx(found.score, rel=1e-14)
    if share == 0:
        assert problem.feasible(problem.at(found.node))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_few_nodes_are_remembered_and_that_decides_nothing(monkeypatch, kernel):
    problem = large(3, kernel=kernel)
    expected = branch_and_bound(problem)
    monkeypatch.setattr(boxes, "MOST_REMEMBERED", 5)
    tree = boxes.Tree(problem.evaluator, problem.lattice, True, problem.lattice.bottom)
    for _ in tree.steps():
        assert max(map(len, (tree._seen, tree._hope, tree._shortfall))) <= 5
    found = tree.found()
    assert (found.node, found.bound, found.proven) == (expected.node, expected.bound, True)
    assert tree.checked > expected.checked


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_trace_has_nodes_that_did_not_win(kernel):
    """The top is looked at first, and the nodes below it that the descent chose from."""
    problem = large(3, kernel=kernel)
    found, every = branch_and_bound(problem), solve(problem, "exhaustive")
    below = problem.lattice.below(problem.lattice.heights)
    known = found.trace.scores.keys() | found.trace.infeasible
    assert {problem.lattice.heights, found.node, *below} <= known <= found.trace.counted
    assert len(known) > 5
    for node, score in found.trace.scores.items():
        assert score == pytest.approx(every.trace.scores[node], abs=1e-12)
    assert not found.trace.infeasible & every.trace.scores.keys()


def test_too_many_open_boxes_end_the_search(monkeypatch):
    monkeypatch.setattr(boxes, "MOST_BOXES", 5)
    problem = large(4, suppression=Suppression(0.05))
    found, best = branch_and_bound(problem), solve(problem, "exhaustive")
    assert not found.proven
    assert found.score - 1e-9 <= best.score <= found.bound + 1e-9


def test_what_is_remembered_is_bounded(monkeypatch):
    problem = large(3, suppression=Suppression(0.05))
    expected = branch_and_bound(problem)
    monkeypatch.setattr(boxes, "MOST_REMEMBERED", 1)
    found = branch_and_bound(problem)
    assert found == replace(expected, checked=found.checked)
    assert found.checked > expected.checked


def test_it_counts_fewer_nodes():
    problem = large(4, suppression=Suppression(0.05), objective=objective_of("loss"))
    found = branch_and_bound(problem)
    assert found.proven
    assert found.checked < found.nodes / 2
    assert found.node == solve(problem, "exhaustive").node


def test_a_time_limit_takes_branch_and_bound_or_nothing():
    problem = large(2)
    assert solve(problem, run=Run(time_limit=60)).strategy == "branch-and-bound"
    for strategy in ("bisection", "exhaustive", "incognito", "top-down"):
        with pytest.raises(InputError, match=f"strategy '{strategy}' cannot end early"):
            solve(problem, strategy, Run(time_limit=60))


@pytest.mark.parametrize("limit", [0, -1, float("nan"), inf, "1", True])
def test_a_time_limit_is_a_number_of_seconds(limit):
    with pytest.raises(InputError, match="must be a number of seconds above 0"):
        Run(time_limit=limit)


@settings(max_examples=at_length(5, 10))
@given(seeds)
def test_the_number_of_jobs_does_not_matter(seed):
    case = random_case(np.random.default_rng(seed))
    for strategy in case.strategies:
        assert solve(case.problem(), strategy, Run(n_jobs=2)) == solve(case.problem(), strategy)


@pytest.mark.long  # jobs that share nothing: test_jobs.py
@pytest.mark.parametrize("strategy", ["automatic", "exhaustive"])
def test_jobs_may_be_processes(strategy, monkeypatch):
    monkeypatch.setattr("anonymizer.recoding.problem.WORTH_JOBS", 1)
    problem = large(3, suppression=Suppression(0.1))
    alone = solve(problem, strategy)
    with joblib.parallel_config(backend="loky"):
        assert solve(problem, strategy, Run(n_jobs=2)) == alone
    assert solve(problem, strategy, Run(n_jobs=2)) == alone
