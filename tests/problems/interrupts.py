"""Searches that are interrupted or run out of time: what they answer has to be true."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import numpy as np
from cases import Case

from anonymizer.kernels import Kernel
from anonymizer.recoding import Found, Problem, Run, full_domain
from anonymizer.recoding.full_domain import branch_and_bound

from .complaints import Answer, Complaint, Refused, Ways, answered, certified
from .ways import Solve, Way

LOOPS = ("roll_up", "broken", "uncertainty")
"""The loops of a kernel in the midst of which a search is interrupted."""

LIMITS = (1e-9, 1e-4, 1e-3, 1e-2)
"""Time limits in seconds."""

SEARCHES = str(Path(full_domain.__file__).parent)
"""Where the code of searches lies."""

ENDED = "the search ended before a node that satisfies the policy was found"

How = Callable[[Solve, Problem, str, int], Answer]
"""Solves a problem with a strategy, and ends it at a moment; the larger, the later."""


@dataclass
class Interrupt:
    """Interrupts once, after so many calls, or lines of the searches."""

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

    @contextmanager
    def between_lines(self) -> Iterator[None]:
        """Between any two lines of a search."""
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, event: str, argument: object) -> Callable | None:
        return self._at_line if frame.f_code.co_filename.startswith(SEARCHES) else None

    def _at_line(self, frame: FrameType, event: str, argument: object) -> Callable:
        if event == "line":
            self()
        return self._at_line


def complaints(case: Case, problem: Problem, number: int, ways: Ways) -> list[Complaint]:
    """All that is wrong with what an interrupted search of a problem answers, in every way."""
    rng = np.random.default_rng([number, 2])
    how = HOW[rng.integers(len(HOW))]
    strategy, moment = str(rng.choice(case.strategies)), int(rng.integers(0, rng.choice([4, 60])))
    found = []
    for name, way in ways.items():
        answer = ended(way, way.prepared(problem), how, strategy, moment)
        for kind, words in _wrong(case, answer):
            told = f"{strategy}, {name}, {how.__name__} at {moment}: {words}"
            found.append(Complaint(f"interrupted {kind}", told))
    return found


class Stopped:
    """In place of an answer: the search was interrupted and had none."""


def ended(way: Way, problem: Problem, how: How, strategy: str, moment: int) -> Answer | Stopped:
    """What a search answers that ends early."""
    try:
        return how(way.solve, problem, strategy, moment)
    except KeyboardInterrupt:
        return Stopped()


def watched(solve: Solve, problem: Problem, strategy: str, moment: int) -> Answer:
    """Interrupted when it reports its progress."""
    return answered(problem, strategy, solve, Run(watch=Interrupt(moment)))


def in_a_loop(solve: Solve, problem: Problem, strategy: str, moment: int) -> Answer:
    """Interrupted while it counts nodes."""
    if problem.kernel is None:
        return watched(solve, problem, strategy, moment)
    kernel = Interrupt(10 * moment).within(problem.kernel)
    return answered(replace(problem, kernel=kernel), strategy, solve)


def anywhere(solve: Solve, problem: Problem, strategy: str, moment: int) -> Answer:
    """Interrupted between any two lines of a search."""
    with Interrupt(20 * moment + problem.counts.records % 20).between_lines():
        return answered(problem, strategy, solve)


def out_of_time(solve: Solve, problem: Problem, strategy: str, moment: int) -> Answer:
    """Ended by a time limit, which takes branch and bound."""
    ends = strategy if strategy == "branch-and-bound" else "automatic"
    return answered(problem, ends, solve, Run(time_limit=LIMITS[moment % len(LIMITS)]))


def out_of_room(solve: Solve, problem: Problem, strategy: str, moment: int) -> Answer:
    """Ended by the number of boxes that branch and bound holds."""
    with patch.object(branch_and_bound, "MOST_BOXES", moment):
        return answered(problem, "branch-and-bound", solve)


HOW: tuple[How, ...] = (watched, in_a_loop, anywhere, out_of_time, out_of_room)
"""The ways to end a search early."""


def _wrong(case: Case, answer: Answer | Stopped) -> list[Complaint]:
    """What is wrong with an answer; none need be given."""
    best = case.brute.best
    match answer:
        case Stopped():
            return []
        case Refused(because):
            return [] if because.startswith(ENDED) else [Complaint("refused", because)]
        case None:
            return [] if best is None else [Complaint("missed", f"not {best}")]
        case Found(node=node) if best is None:
            return [Complaint("infeasible", f"{node}, where no node satisfies the policy")]
        case _:
            return [*certified(case, answer)]
