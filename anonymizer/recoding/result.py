"""How a recoding was found."""

from dataclasses import dataclass, field, fields
from math import inf
from typing import Any

from anonymizer.recoding.lattice import Node
from anonymizer.recoding.problem.problem import Problem
from anonymizer.recoding.trace import Trace


@dataclass(frozen=True)
class SearchResult:
    """How the recoding was found.

    Parameters
    ----------
    strategy, objective
        What searched, and what for.
    value
        The objective of the table searched, in its own unit; None where it may not be reported.
    gap
        How much better any other node can be, at the most, in the same unit; None where that is
        not known.
    nodes, checked
        Nodes of the lattice, and how many of them (or of those of fewer attributes) were counted.
    feasible, minimal
        Nodes that satisfy the policy, and those of them without a direct specialization that does;
        None where the search did not need to know.
    refinements
        How many times attributes were cut.
    proven
        Whether no other recoding of the kind searched is better.
    bound
        What no other can be better than, in the objective's unit: the value where that is proven.
        With a least gain per class, value and bound are as far apart as with its cost taken off.
        None where it is not known.
    trace
        What was learned about single nodes; None where the search was not about levels.
    searched
        Whether there was a search; False where levels were given.
    explained, caution
        What a search that is not over the lattice did, in words, and what to beware of in what it
        found; empty for one over the lattice.

    Trace and words are not part of a manifest.
    """

    strategy: str
    objective: str
    value: float | None = None
    gap: float | None = None
    nodes: int = 0
    checked: int = 0
    feasible: int | None = None
    minimal: tuple[Node, ...] | None = None
    refinements: int = 0
    proven: bool = False
    bound: float | None = None
    trace: Trace | None = field(default=None, compare=False, repr=False)
    searched: bool = field(default=True, compare=False, repr=False)
    explained: str = field(default="", compare=False, repr=False)
    caution: str = field(default="", compare=False, repr=False)

    @classmethod
    def of(
        cls, problem: Problem, strategy: str, score: float, best: float = inf, **found: Any
    ) -> "SearchResult":
        """The result of a search that maximised a problem's objective, in the objective's unit.

        Parameters
        ----------
        problem
            The problem that was solved.
        strategy
            What searched.
        score
            What was reached.
        best
            What no other recoding can score more than; infinite where that is not known.
        **found
            The other fields.
        """

        def quantity(score: float) -> float:
            return problem.objective.stated(score, problem.counts.records)

        value, bound = quantity(score), quantity(best) if best < inf else None
        gap = None if bound is None else abs(bound - value)
        return cls(strategy, problem.objective.name, value, gap=gap, bound=bound, **found)

    def to_dict(self) -> dict[str, object]:
        """The result as a manifest has it: nodes are lists of levels."""
        minimal = None if self.minimal is None else [list(node) for node in self.minimal]
        names = [each.name for each in fields(self) if each.compare]
        return {**{name: getattr(self, name) for name in names}, "minimal": minimal}
