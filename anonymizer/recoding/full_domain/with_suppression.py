"""The best node when classes may be suppressed.

Then feasible nodes are no up-closed set: merging a class that is fine with one that is suppressed
may break both, so that nothing follows from entropy l-diversity or t-closeness at one node for
another. Two things remain true of all generalizations of a node, and the search stands on them
alone:

- Records in classes that break a strongly monotone model (k-anonymity) become fewer: where these
  alone exceed the budget, no specialization is feasible either ("hopeless"). Where they do not,
  they are lost at every specialization as well, each at the cost of ``Objective.toll``.
- Without suppression no generalization scores more: the node's classes bound the scores of it and
  of all above it (``Objective.bound``).

A node is bounded from both sides: by the least bound of the nodes below it, less the toll of the
most records that are lost at any node above it. First the boundary of the hopeless nodes is found
by bisection, ignoring nodes whose bound has fallen below the best score so far. Then the others are
scored in falling order of their bound, until no bound reaches the best score.
"""

from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import Ended
from anonymizer.kernels import FrequencySet
from anonymizer.kernels.driver import Strategy
from anonymizer.objectives import Tabulated
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.full_domain.frontier import (
    FEASIBLE,
    INFEASIBLE,
    OUT,
    UNDECIDED,
    Board,
    bisected,
    require_searchable,
)
from anonymizer.recoding.lattice import MOST_TRACED, Node, Trace
from anonymizer.recoding.nodes import Answer, Evaluator, FrequencySets, NodeLook, drives
from anonymizer.recoding.problem import (
    ALONE,
    Found,
    Problem,
    Run,
    Scored,
    in_parallel,
    jobs_for_nodes,
    placed_elsewhere,
    winner,
)

UNSCORED = -inf
"""The score of a feasible node whose bound rules it out."""

MOST_AT_ONCE = 32
"""Nodes scored together, at the most: what can be shared between jobs, whatever their number."""


def best_suppressed(problem: Problem, run: Run = ALONE) -> Found | None:
    """Find the best feasible node within the budget, until interrupted; None where none is.

    Raises
    ------
    InputError
        When the lattice is too large for an array with an entry per node.
    KeyboardInterrupt
        When interrupted before a feasible node was found.
    """
    require_searchable(problem.lattice)
    search = SuppressionSearch(problem.evaluator, Board(problem.lattice))
    try:
        search.run(run)
    except Ended:
        raise
    except KeyboardInterrupt:
        if not search.scored:
            raise
    if not search.scored:
        return None
    score, _, node = winner(search.scored)
    left = search.left()
    bound = max(score, float(search.bounds()[left].max(initial=-inf)))
    size = problem.lattice.size
    proven, trace = not left.any(), search.trace(node)
    return Found("bisection", node, score, bound, proven, size, search.checked, trace=trace)


@dataclass(eq=False)
class SuppressionSearch:
    """A search of one lattice.

    Parameters
    ----------
    evaluator
        What judges nodes.
    board
        Hopeless nodes are "infeasible" on it, hopeful ones "feasible".
    ceilings
        What bounds the score of every node by what is known of those below it.
    lost
        Records lost at every node, at the least, by what is known of those above it.
    tolls
        What each of them takes off the node's ceiling, or off every node's.
    done
        The nodes that need not be scored, again.
    scored
        The feasible nodes that were.
    checked
        How many nodes were counted.
    """

    evaluator: Evaluator
    board: Board
    ceilings: NDArray[np.float64] = field(init=False)
    lost: NDArray[np.int64] = field(init=False)
    tolls: NDArray[np.float64] = field(init=False)
    done: NDArray[np.bool_] = field(init=False)
    scored: list[Scored] = field(default_factory=list)
    checked: int = 0
    _best: float = -inf

    def __post_init__(self) -> None:
        shape, evaluator = self.board.status.shape, self.evaluator
        self.done = np.zeros(shape, bool)
        self.lost = np.zeros(shape, np.int64)
        if isinstance(evaluator.objective, Tabulated):
            allowed = tuple(map(slice, shape))
            self.ceilings = evaluator.objective.of_all_levels()[allowed].copy()
            self.tolls = evaluator.objective.tolls()[allowed].copy()
        else:
            self.ceilings = np.full(shape, evaluator.bound_of_all)
            top = self.board.lattice.heights
            self.tolls = np.full(shape, evaluator.objective.toll(top, evaluator.budget))

    def bounds(self, where: Any = ...) -> NDArray[np.float64]:
        """Bounds of the scores of every node, or of some."""
        return np.asarray(self.ceilings[where] - self.tolls[where] * self.lost[where])

    def left(self) -> NDArray[np.bool_]:
        """Mark the nodes that may still win or tie, an axis per attribute."""
        status = self.board.status
        # Nodes that are out cannot win or tie, or may not be used; hopeless ones are not feasible.
        left = (status == UNDECIDED) | ((status == FEASIBLE) & ~self.done)
        return np.asarray(left & (self.bounds() >= self._best - TOLERANCE))

    def trace(self, best: Node) -> Trace:
        """Trace the search: hopeless nodes are infeasible, and scored ones counted."""
        lattice = self.board.lattice
        counted: list[Node] = []
        infeasible: set[Node] = set()
        if lattice.size <= MOST_TRACED:
            counted = nodes_where(self.done)
            feasible = {node for _, _, node in self.scored}
            infeasible = {*nodes_where(self.board.status == INFEASIBLE), *counted} - feasible
        scored = [entry for entry in self.scored if entry[0] > UNSCORED]
        return Trace.of(lattice, scored, [best], counted, infeasible)

    def run(self, run: Run) -> None:
        """Search, with the compiled driver where it can, and nodes are not scored elsewhere."""
        jobs = jobs_for_nodes(run.n_jobs, len(self.evaluator.base))
        if drives(self.evaluator, self.board.lattice) and not placed_elsewhere(jobs):
            self._drive(run)
        else:
            self.find_hopeful(run)
            self.score_hopeful(run)

    def _drive(self, run: Run) -> None:
        """Search with the compiled driver; what is known at an interrupt is kept."""
        from anonymizer.recoding.full_domain.driven import DrivenSearch

        bounds = self.ceilings, self.lost, self.tolls, self.done
        driven = DrivenSearch.of(self.evaluator, self.board.lattice, self.board.status, bounds)
        try:
            driven.searched(
                Strategy.SUPPRESSED, run, "searching the lattice", self._answer, MOST_AT_ONCE
            )
        finally:
            self.scored, self.checked, self._best = driven.scored, driven.checked, driven.best

    def _answer(self, node: Node, classes: FrequencySet) -> Answer:
        assessed = self.evaluator.assess(node, classes)
        candidate = assessed.candidate
        score = UNSCORED if candidate is None else self.evaluator.objective.score(candidate)
        return assessed, self.evaluator.bound(assessed.plain), score

    def find_hopeful(self, run: Run) -> None:
        """Decide which nodes are hopeless; score the hopeful ones that come by.

        Where all bounds are known beforehand and there is a score to beat, the nodes above a chain
        have been ruled out by their bounds: its own highest node is most likely hopeless, and then
        all of the chain is, so that one is looked at before bisecting.
        """
        board, sets = self.board, self.evaluator.sets()
        known = isinstance(self.evaluator.objective, Tabulated)
        while (chain := board.chain()) is not None:
            run.watch("searching the lattice", board.decided, board.status.size)
            if known and self.scored:
                self._look(sets, chain[-1])
            for node in bisected(board, chain):
                self._look(sets, node)

    def score_hopeful(self, run: Run) -> None:
        """Score what is left in falling order of the bounds, in batches of 1, 2, 4, ..."""
        jobs = jobs_for_nodes(run.n_jobs, len(self.evaluator.base))
        # Frequency sets are not shared between threads, so each job has a part of their memory.
        workers = [self.evaluator.sets(1 / jobs) for _ in range(jobs)]
        size = 1
        while len(batch := self._most_promising(size)):
            run.watch("scoring nodes", self.checked, None)
            parts = [
                (self.evaluator, sets, batch[i::jobs], self._best) for i, sets in enumerate(workers)
            ]
            for i, looks in enumerate(in_parallel(_all_looked, parts, jobs)):
                for node, look in zip(batch[i::jobs], looks, strict=True):
                    self._enter(node, look)
            # Few at first: the best scores rule the others out, which need not be counted then.
            size = min(2 * size, MOST_AT_ONCE)

    def _look(self, sets: FrequencySets, node: Node) -> None:
        look = NodeLook.of(self.evaluator, node, sets.at(node), self._best)
        self.board.decide(node, look.hopeful)
        self._enter(node, look)

    def _enter(self, node: Node, look: NodeLook) -> None:
        """Note what was found at a node, and what follows for all above and below.

        Done comes last: interrupted before, the node is left to be scored, and its bound counts.
        """
        self.checked += 1
        above = tuple(slice(level, None) for level in node)
        below = tuple(slice(0, level + 1) for level in node)
        score = UNSCORED if look.score is None else look.score
        better = score > self._best
        # Before the best score rises: interrupted between, that would rule out what beats the rest.
        if look.classes:
            self.scored.append((score, look.classes, node))
        self._best = max(self._best, score)
        np.minimum(self.ceilings[above], look.bound, out=self.ceilings[above])
        np.maximum(self.lost[below], look.lost, out=self.lost[below])
        # A better score may rule any node out; otherwise those alone whose bounds have changed.
        for where in [...] if better else [above, below]:
            status = self.board.status[where]
            status[(self.bounds(where) < self._best - TOLERANCE) & (status == UNDECIDED)] = OUT
        self.done[node] = True

    def _most_promising(self, most: int) -> list[Node]:
        """The hopeful nodes of the highest bounds that can still win or tie."""
        left = self.left()
        places = np.flatnonzero(left)
        if len(places) > most:
            # Stable, so that ties come in lexicographic order whatever the jobs.
            falling = np.argsort(-self.bounds().reshape(-1)[places], kind="stable")
            places = places[falling[:most]]
        found = np.unravel_index(places, left.shape)
        return [tuple(map(int, node)) for node in zip(*found, strict=True)]


def nodes_where(marks: NDArray[np.bool_]) -> list[Node]:
    """The marked nodes, lexicographically."""
    return [tuple(map(int, node)) for node in np.argwhere(marks)]


def _all_looked(
    evaluator: Evaluator, sets: FrequencySets, nodes: list[Node], best: float
) -> list[NodeLook]:
    return [NodeLook.of(evaluator, node, sets.at(node), best) for node in nodes]
