"""Top-down greedy specialization: levels are lowered one at a time, the most gainful first."""

from dataclasses import dataclass
from typing import ClassVar

from anonymizer.errors import require_whole
from anonymizer.recoding.levels import Levels
from anonymizer.recoding.problem.problem import Found, Problem, Run


@dataclass(frozen=True)
class Specialization(Levels):
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
        super().__post_init__()
        if self.most_steps is not None:
            require_whole(self.name, "most_steps", self.most_steps)

    def find(self, problem: Problem, seed: int, run: Run) -> Found | None:
        """Lower the level that gains most, while the policy holds."""
        lattice, node = problem.lattice, problem.lattice.heights
        score = problem.score(node)
        if score is None:
            return None
        checked = 1
        for _ in range(lattice.size)[: self.most_steps]:
            below = lattice.below(node)
            scored = [(s, v) for v in below if (s := problem.score(v)) is not None]
            checked += len(below)
            if not scored:
                break
            score, node = max(scored)
        return Found(self.name, node, score, nodes=lattice.size, checked=checked)
