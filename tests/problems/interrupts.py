"""Searches that are interrupted or run out of time: what they answer has to be true."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np
from cases import Case

from anonymizer.kernels import Kernel
from anonymizer.recoding import Found, Problem, Run

from .complaints import Complaint, Refused, Ways, answered, certified
from .ways import WAYS

LOOPS = ("roll_up", "broken", "uncertainty")
"""The loops of a kernel in the midst of which a search is interrupted."""

LIMITS = (1e-9, 1e-4, 1e-3, 1e-2)
"""Time limits in seconds."""

ENDED = "the search ended before a node that satisfies the policy was found"


@dataclass
class Interrupt:
    """Interrupts once, after so many calls."""

    left: int

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left == -1:
            raise KeyboardInterrupt

    def before(self, loop: Callable[..., Any]) -> Callable[..., Any]:
        """The loop of a kernel, interrupted before it begins."""

        @wraps(loop)
        def interrupted(*arguments: Any) -> Any:
            self()
            return loop(*arguments)

        return interrupted

    def within(self, kernel: Kernel) -> Kernel:
        """The kernel, interrupted."""
        return replace(kernel, **{name: self.before(getattr(kernel, name)) for name in LOOPS})


def complaints(case: Case, number: int, ways: Ways = WAYS) -> list[Complaint]:
    """All that is wrong with what an interrupted search of a problem answers, in every way."""
    rng = np.random.default_rng([number, 2])
    problem = case.problem()
    how = (_watched, _in_a_loop, _out_of_time)[rng.integers(3)]
    strategy, moment = str(rng.choice(case.strategies)), int(rng.integers(0, rng.choice([4, 60])))
    found = []
    for name, way in ways.items():
        for kind, words in how(case, way(problem), strategy, moment):
            told = f"{strategy}, {name}, {how.__name__[1:]} at {moment}: {words}"
            found.append(Complaint(f"interrupted {kind}", told))
    return found


def _watched(case: Case, problem: Problem, strategy: str, moment: int) -> list[Complaint]:
    """Interrupted when it reports its progress."""
    return _held(case, problem, strategy, Run(watch=Interrupt(moment)))


def _in_a_loop(case: Case, problem: Problem, strategy: str, moment: int) -> list[Complaint]:
    """Interrupted while it counts nodes."""
    kernel = problem.kernel
    if kernel is None:
        return _watched(case, problem, strategy, moment)
    other = replace(problem, kernel=Interrupt(10 * moment).within(kernel))
    return _held(case, other, strategy, Run())


def _out_of_time(case: Case, problem: Problem, strategy: str, moment: int) -> list[Complaint]:
    """Ended by a time limit."""
    ends = "automatic" if strategy != "branch-and-bound" else strategy
    return _held(case, problem, ends, Run(time_limit=LIMITS[moment % len(LIMITS)]))


def _held(case: Case, problem: Problem, strategy: str, run: Run) -> list[Complaint]:
    """What is wrong with an answer; none need be given."""
    try:
        answer = answered(problem, strategy, run)
    except KeyboardInterrupt:
        return []
    if isinstance(answer, Found):
        return [*certified(case, answer)] if case.brute.best else [_mistaken(answer)]
    if isinstance(answer, Refused):
        expected = run.time_limit is not None and answer.because.startswith(ENDED)
        return [] if expected else [Complaint("refused", answer.because)]
    return [] if case.brute.best is None else [Complaint("missed", f"not {case.brute.best}")]


def _mistaken(answer: Found) -> Complaint:
    return Complaint("infeasible", f"{answer.node}, where no node satisfies the policy")
