"""The ways to solve a problem: all have to answer alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from plain import NUMPY
from scipy.sparse import csr_array

from anonymizer.kernels import NATIVE, Kernel
from anonymizer.recoding import Found, Problem, Run, solve

Solve = Callable[[Problem, str, Run], Found | None]


@dataclass(frozen=True)
class Way:
    """How a problem is prepared, and what solves it by the name of a strategy."""

    prepared: Callable[[Problem], Problem]
    solve: Solve = solve


def by_kernel(problem: Problem, kernel: Kernel) -> Problem:
    """The problem, its nodes counted by a kernel."""
    return replace(problem, kernel=kernel)


def by_pairs(problem: Problem) -> Problem:
    """The problem, its classes as pairs of class and value, searched by the compiled driver."""
    joint = {name: csr_array(each) for name, each in problem.counts.joint.items()}
    return replace(by_kernel(problem, NATIVE), counts=replace(problem.counts, joint=joint))


UNDRIVEN = replace(NATIVE, drives=False)
"""The compiled kernels, driven from Python."""

WAYS: Mapping[str, Way] = {
    "numpy": Way(partial(by_kernel, kernel=NUMPY)),
    "compiled": Way(partial(by_kernel, kernel=UNDRIVEN)),
    "driver": Way(partial(by_kernel, kernel=NATIVE)),
    "sparse": Way(by_pairs),
}
"""Each way by its name."""
