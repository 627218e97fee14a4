"""Top-down greedy specialization: levels are lowered one at a time, the most gainful first."""

from dataclasses import dataclass
from typing import ClassVar

from anonymizer.counts.counts import Partitions
from anonymizer.errors import PolicyUnreachableError, require_number
from anonymizer.privacy import acceptable
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.problem.problem import Problem, Run
from anonymizer.recoding.result import SearchResult


@dataclass(frozen=True)
class Specialization(Generalization):
    """Top-down greedy specialization (Fung, Wang, Yu 2005), with one level per attribute.

    Every attribute starts at its top level. Each step lowers by one the level that gains most of
    the objective, among those after which the policy still holds.

    Parameters
    ----------
    most_steps
        At most so many steps; None for as many as the policy allows.
    """

    name: ClassVar[str] = "specialization"

    most_steps: int | None = None

    def __post_init__(self) -> None:
        if self.most_steps is not None:
            require_number(self.name, "most_steps", self.most_steps, 0, float("inf"))

    def choose(self, problem: Problem, seed: int, run: Run) -> tuple[Partitions, SearchResult]:
        """Lower the level that gains most, while the policy holds."""
        node = tuple(problem.taxonomies[name].height for name in problem.counts.names)
        best = _score(problem, node)
        if best is None:
            raise PolicyUnreachableError("not even the top of all hierarchies satisfies the policy")
        checked, steps = 1, 0
        while self.most_steps is None or steps < self.most_steps:
            below = _below(node)
            scored = [(s, v) for v in below if (s := _score(problem, v)) is not None]
            checked += len(below)
            if not scored:
                break
            best, node = max(scored)
            steps += 1
        recoding = level_recoding(problem.taxonomies, problem.counts.names, node)
        return recoding, SearchResult.of(problem, self.name, best, nodes=checked, checked=checked)


def _below(node: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The nodes with one level lowered by one."""
    return [(*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level > 0]


def _score(problem: Problem, node: tuple[int, ...]) -> float | None:
    """The objective at a node; None where the policy does not hold."""
    counts = problem.counts.recode(level_recoding(problem.taxonomies, problem.counts.names, node))
    return problem.objective(counts) if acceptable(counts, problem.models).all() else None
