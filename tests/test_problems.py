"""Random problems against brute force, briefly, and whether a mistake would be noticed.

``python -m tests.problems`` tries many.
"""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from lengths import at_length
from plain import NUMPY
from problems import complaints, interrupts
from problems.__main__ import problems as command
from problems.complaints import Refused
from problems.drawing import AGAINST, HOMES, KNOWN, OBJECTIVES_ASKED, PERSONS, drawn
from problems.interrupts import Stopped
from problems.shrinking import smallest
from problems.trying import about, tried, wrong
from problems.ways import WAYS, Way, by_kernel

from anonymizer.objectives import MutualInformation
from anonymizer.privacy import MODELS
from anonymizer.recoding import Found
from anonymizer.recoding.full_domain import branch_and_bound, frontier, solve, with_suppression
from anonymizer.recoding.nodes import Evaluator

OWN = {"at-least", "likeliest-share", "largest-lift", "few-classes", "odd-classes", "even-classes"}


@pytest.mark.parametrize("start", range(0, at_length(75, 150), 25))
def test_random_problems_are_solved_as_brute_force_does(start):
    assert wrong_in(range(start, start + 25)) == {}


@pytest.mark.parametrize("start", range(0, at_length(25, 75), 25))
def test_random_problems_of_persons_are_solved_as_brute_force_does(start):
    assert wrong_in(range(PERSONS + start, PERSONS + start + 25)) == {}


@pytest.mark.parametrize("start", range(0, at_length(25, 75), 25))
def test_random_problems_of_several_known_records_are_solved_as_brute_force_does(start):
    assert wrong_in(range(KNOWN + start, KNOWN + start + 25)) == {}


@pytest.mark.parametrize("start", [0])
def test_problems_of_households_are_solved_as_by_brute_force(start):
    assert wrong_in(range(HOMES + start, HOMES + start + at_length(20, 500))) == {}


@pytest.mark.parametrize("start", [0])
def test_problems_of_rehearsals_are_solved_as_by_brute_force(start):
    assert wrong_in(range(AGAINST + start, AGAINST + start + at_length(10, 300))) == {}


def test_a_trace_says_which_nodes_break_the_policy_of_persons_alone():
    """What adds up over classes would hold at the lowest node of this problem."""
    case = drawn(PERSONS + 40)
    found = branch_and_bound.branch_and_bound(case.problem(NUMPY))
    feasible = {*case.brute.outcomes}
    assert (found.node, found.trace.scores.keys()) == ((1,), feasible)
    assert found.trace.infeasible == {*case.brute.nodes} - feasible == {(0,)}


def wrong_in(numbers):
    """What is wrong with the answers to problems, by their numbers."""
    found = {number: tried(number).complaints for number in numbers}
    return {number: complaints for number, complaints in found.items() if complaints}


# What the problems are about


def test_problems_of_rehearsals_have_models_for_odds():
    models = [each for n in range(20) for each in drawn(AGAINST + n).brute.models]
    assert any(model.sensitive and model.odds for model in models)


def test_every_model_objective_and_kind_of_problem_is_tried():
    cases = [drawn(number) for number in range(1000, 1200)]
    of_persons = [drawn(PERSONS + number) for number in range(30)]
    of_persons += [drawn(KNOWN + number) for number in range(5)]
    of_persons += [drawn(HOMES + number) for number in range(9)]
    known = {model.name for case in (*cases, *of_persons) for model in case.brute.models}
    assert {*MODELS, *OWN} == known
    asked = {(case.brute.objective, case.brute.aggregate) for case in cases}
    assert asked == {*OBJECTIVES_ASKED}
    seen: Counter = sum((about(case) for case in cases[:60]), Counter())
    for kind in ("suppression", "no suppression", "feasible", "infeasible", "ties"):
        assert seen[kind] > 5


def test_a_number_always_means_the_same_problem():
    one, other = drawn(7).brute, drawn(7).brute
    assert (one.rows, one.chains, one.limits) == (other.rows, other.chains, other.limits)
    assert [model.name for model in one.models] == [model.name for model in other.models]


# Whether a mistake would be noticed


def noticed(*kinds: str, ways=WAYS, first: int = 0) -> bool:
    """Whether problems show all that is to go wrong: the first ones that do, of a hundred."""
    left = set(kinds)
    for number in range(first, first + 100):
        left -= {each.kind for each in tried(number, ways).complaints}
        if not left:
            break
    return not left


def worst(scored):
    """The winner of ties, the wrong way round."""
    scored = list(scored)
    top = max(score for score, _, _ in scored)
    return max((entry for entry in scored if entry[0] >= top - 1e-9), key=lambda entry: entry[2])


def of_kernel(**loops):
    """A way whose kernel has other loops."""
    return {"wrong": Way(partial(by_kernel, kernel=replace(NUMPY, **loops)))}


def lenient(counts, rules, most=0):
    """No class breaks anything."""
    return 0, np.zeros(len(counts), bool)


def test_a_class_that_breaks_the_policy_is_noticed():
    assert noticed("node judged", "infeasible", ways=of_kernel(broken=lenient))


def test_a_score_that_is_a_little_wrong_is_noticed():
    def uncertainty(counts, start, stop):
        return NUMPY.uncertainty(counts, start, stop) * (1 + 1e-6)

    assert noticed("node scored", "trace", ways=of_kernel(uncertainty=uncertainty))


def test_the_wrong_one_of_ties_is_noticed(monkeypatch):
    for module in (branch_and_bound, frontier, solve, with_suppression):
        monkeypatch.setattr(module, "winner", worst)
    assert noticed("node")


def test_a_bound_that_is_too_low_is_noticed(monkeypatch):
    bound = Evaluator.bound
    monkeypatch.setattr(Evaluator, "bound", lambda self, plain: bound(self, plain) - 0.1)
    assert noticed("node", "proof", "interrupted bound")


def test_a_proof_that_an_interrupted_search_does_not_have_is_noticed(monkeypatch):
    def none_left(search):
        return np.zeros(search.board.status.shape, bool)

    monkeypatch.setattr(with_suppression.SuppressionSearch, "left", none_left)
    assert noticed("interrupted bound", first=74)  # shown by few problems


def test_ways_that_count_other_nodes_are_noticed():
    case = next(c for c in map(drawn, range(100)) if c.brute.objective == "loss")
    one, other = (Found("x", (0,), 0.0, checked=checked) for checked in (3, 4))
    assert [*complaints.of_ways(case, "x", {"a": one, "b": one})] == []
    found = complaints.of_ways(case, "x", {"a": one, "b": other})
    assert [each.kind for each in found] == ["checked"]
    found = complaints.of_ways(case, "x", {"a": one, "b": Refused("not for this")})
    assert [each.kind for each in found] == ["checked"]


def test_a_strategy_that_should_refuse_is_noticed(monkeypatch):
    monkeypatch.setattr(solve, "_found", lambda problem, search, run: None)
    assert noticed("not refused", "missed")


def test_an_error_that_nobody_foresaw_is_noticed(monkeypatch):
    monkeypatch.setattr(MutualInformation, "prepared", lambda *_: {}["nothing"])
    assert noticed("error KeyError: 'nothing'")


# Interrupts


@pytest.mark.parametrize("how", interrupts.HOW, ids=lambda how: how.__name__)
def test_searches_that_end_early_answer_with_and_without_a_proof(how):
    answers = [
        interrupts.ended(WAYS["numpy"], case.problem(NUMPY), how, strategy, moment)
        for case in map(drawn, range(200, 212))
        for strategy in ("automatic", "branch-and-bound")
        for moment in (0, 3, 20)
    ]
    found = [answer for answer in answers if isinstance(answer, Found)]
    nothing = [answer for answer in answers if isinstance(answer, Stopped | Refused)]
    assert {answer.proven for answer in found} == {True, False}
    assert nothing


# Smaller problems


def test_a_problem_is_made_as_small_as_it_still_fails():
    case = next(c for c in map(drawn, range(100)) if len(c.brute.rows) > 40 and c.brute.share)
    least = smallest(case, lambda other: len(other.brute.rows) >= 3)
    assert (len(least.brute.rows), len(least.brute.chains), len(least.brute.models)) == (3, 1, 1)
    assert least.brute.share == 0


@pytest.mark.parametrize("number", [6, 12, 15])
def test_smaller_problems_are_still_right(number):
    """What hierarchies forget with the records, brute force forgets too."""
    case = drawn(number)
    records = len(case.brute.rows) // 2

    def sensible(other):
        return (
            len(other.brute.rows) >= records and other.problem().evaluator.bound_policy is not None
        )

    least = smallest(case, sensible)
    assert len(least.brute.rows) == records
    assert wrong(least, number) == []


# What is printed


def test_a_failure_is_written_down_with_the_command_that_repeats_it(monkeypatch, capsys):
    monkeypatch.setattr(solve, "_found", lambda problem, search, run: None)
    number = next(number for number in range(40) if tried(number).complaints)
    with pytest.raises(SystemExit) as end:
        command(["--one", str(number)])
    told = capsys.readouterr().out
    assert end.value.code == 1
    assert f"python -m tests.problems --one {number}" in told
    assert "1 failed" in told


def test_nothing_fails_in_some_problems_on_two_processes(capsys):
    with pytest.raises(SystemExit) as end:
        command(["--number", "4", "--seed", "500", "--jobs", "2"])
    assert end.value.code == 0
    assert "nothing failed" in capsys.readouterr().out
