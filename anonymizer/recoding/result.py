"""How a recoding was found."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from math import inf
from typing import Any

from anonymizer.objectives import MutualInformation
from anonymizer.recoding.lattice import Node, Trace
from anonymizer.recoding.problem.problem import Found, Frontier, Problem

MOST_SCORED = 32
"""Minimal nodes that are scored although no level is chosen: as quick as a cut or two."""


@dataclass(frozen=True)
class Trial:
    """A recoding that was fitted on a half of the records, and evaluated on the other half.

    Parameters
    ----------
    recoding
        Its name.
    taken
        Whether it was then fitted on all records.
    holds
        Whether the policy holds on the half held out; None where it could not be fitted.
    measure, kept
        What it was judged by, and what that comes to on the half held out, in its own unit.
    classes, records_broken
        Classes that the records held out fall in, and records of those that break the policy.
    reason
        Why it could not be fitted; empty where it was.
    score
        The measure, larger being better.
    """

    recoding: str
    taken: bool = False
    holds: bool | None = None
    measure: str | None = None
    kept: float | None = None
    classes: int | None = None
    records_broken: int | None = None
    reason: str = ""
    score: float | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, object]:
        """The trial as a manifest has it."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.repr}


@dataclass(frozen=True)
class SearchResult:
    """The search that found a recoding, its result and what it proves.

    Parameters
    ----------
    strategy, objective
        What searched, and what for.
    value, gap
        The objective of the table searched, in its own unit, None where it may not be reported; how
        much better any other node can be, at the most, None where that is not known.
    nodes, checked
        Nodes of the lattice, and how many of them (or of those of fewer attributes) were counted.
    feasible, minimal
        Nodes that satisfy the policy, and those of them without a direct specialization that does;
        None where the search did not need to know.
    refinements
        How many times attributes were cut.
    proven, bound
        Whether no other recoding of the kind searched is better; what none can be better than, in
        the objective's unit: the value where that is proven.
        With a least gain per class, value and bound are as far apart as with its cost taken off.
        None where it is not known.
    grids
        The attributes whose ranges begin at some cut points alone, those of a grid, and how many
        these are: whatever is said of all recodings is then about those over the grid.
    because
        Why the objective is the one where none was given; empty where one was.
    tried
        The recodings that were tried on a half of the records before one was chosen, if several.
    trace, searched
        What was learned about single nodes, None where the search was not about levels; whether
        there was a search, False where levels were given.
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
    grids: Mapping[str, int] = field(default_factory=dict)
    because: str = ""
    tried: tuple[Trial, ...] = ()
    trace: Trace | None = field(default=None, compare=False, repr=False)
    searched: bool = field(default=True, compare=False, repr=False)
    explained: str = field(default="", compare=False, repr=False)
    caution: str = field(default="", compare=False, repr=False)

    @classmethod
    def of(
        cls,
        problem: Problem,
        strategy: str,
        score: float,
        best: float = inf,
        over: Found | Frontier | None = None,
        **found: Any,
    ) -> "SearchResult":
        """Return the result of a search that maximised a problem's objective, in its unit.

        ``score`` was reached, ``best`` is what no other recoding can score more than, infinite
        where that is not known, and ``over`` what was found over the lattice of levels, where that
        was searched; ``found`` are other fields.
        """
        quantity = partial(problem.objective.quantity, records=problem.counts.records)
        value, bound = quantity(score), quantity(best) if best < inf else None
        gap = None if bound is None else abs(bound - value)
        if over is not None:
            # What the caller knows better than the search over the lattice takes the place of it.
            shared = ("nodes", "checked", "feasible", "minimal")
            found = {name: getattr(over, name) for name in shared} | found
            found["trace"] = _traced(problem, over)
        return cls(strategy, problem.objective.name, value, gap=gap, bound=bound, **found)

    def to_dict(self) -> dict[str, object]:
        """The result as a manifest has it: nodes are lists of levels."""
        minimal = None if self.minimal is None else [list(node) for node in self.minimal]
        names = [each.name for each in fields(self) if each.compare]
        tried = [trial.to_dict() for trial in self.tried]
        own = {name: getattr(self, name) for name in names if name != "grids" or self.grids}
        return {**own, "minimal": minimal, "tried": tried}


def _traced(problem: Problem, found: Found | Frontier) -> Trace:
    """The trace of a search, scores in the objective's own unit, and what follows from it."""
    objective, trace, scores = problem.objective, found.trace, found.trace.scores
    if isinstance(found, Frontier) and len(found.minimal) <= MOST_SCORED:
        evaluator, sets = problem.evaluator, problem.evaluator.sets()
        score = evaluator.objective.score
        scores = {node: score(evaluator.plain(node, sets.at(node))) for node in found.minimal}
    # Merging classes preserves monotone models; under suppression it may break any of them.
    upward = not problem.suppresses and all(model.monotone for model in problem.models)
    listed = found.feasible == len(scores)
    records = problem.counts.records
    return replace(
        trace,
        scores={node: objective.quantity(score, records) for node, score in scores.items()},
        upward=upward,
        complete=found.minimal is not None and (upward or listed),
        # An estimate of information is another quantity, and a weighted sum is not in bits.
        informs=type(objective) is MutualInformation
        and all(weight == 1 for weight in objective.of(problem.counts.sensitive).values()),
    )
