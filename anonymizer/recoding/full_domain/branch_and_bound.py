"""Branch and bound over boxes of nodes: for lattices too large to finish, and for limited time.

A box [low, high] holds the nodes between two. Two facts prune, whatever the size of the lattice:

- No node of a box scores more than its lowest one without suppression (``Objective.bound``), less
  what its highest one falls short of such a bound (``Objective.shortfall``), less the toll of the
  records that are lost at the highest one (``Objective.toll``).
- Where the highest node is hopeless, so are all. Levels of an attribute that are hopeless with
  the highest levels of all others are therefore cut off, which lowers the bound.

Boxes are taken in falling order of their bound, so that the highest bound left, less the best
score, is a certificate at any time: no feasible node is better than that. The best score begins
with a descent from the top, one level at a time. Memory grows with the boxes that are open, not
with the nodes of the lattice.

Where counts do not add up when classes merge (see ``solve``), a node is held against them when its
score is not below the best: no other can win.

An objective that may rise has a bound of its own, which falls and is cheaper than its score: a
node is scored only where its bound is not below the best score. One that is left out cannot win or
tie, since its score is not above its bound.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from operator import le
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.errors import Ended, InputError
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.apply import accepts
from anonymizer.recoding.lattice import MOST_TRACED, Lattice, Node, Trace
from anonymizer.recoding.nodes import Evaluator, FrequencySets, NodeLook, drives
from anonymizer.recoding.problem import ALONE, Found, Problem, Run, Scored, winner

if TYPE_CHECKING:
    from anonymizer.recoding.full_domain.driven import DrivenSearch

MOST_BOXES = 500_000
"""Open boxes at which the search stops as it does when time is up (some 300 MB)."""

MOST_REMEMBERED = 100_000
"""Nodes whose hope is remembered."""

Box = tuple[float, Node, Node]
"""Minus the bound, the lowest and the highest node: a heap yields the highest bound first."""


def branch_and_bound(problem: Problem, run: Run = ALONE, low: Node | None = None) -> Found | None:
    """Find the best feasible node, until all is searched, time is up, or it is interrupted.

    None where no node is feasible. ``low``: only this node and those above it are searched.

    Raises
    ------
    InputError
        When time was up before a feasible node was found.
    KeyboardInterrupt
        When interrupted before a feasible node was found.
    """
    prunes = not problem.suppresses and all(model.monotone for model in problem.models)
    lattice = problem.lattice
    bottom = lattice.bottom if low is None else low
    tree = Tree(problem.evaluator, lattice, prunes, bottom, problem)
    deadline = run.deadline()
    try:
        for _ in tree.steps():
            run.watch("bounding the best node", tree.checked, None)
            if monotonic() > deadline or len(tree.boxes) > MOST_BOXES:
                break
    except Ended:
        raise
    except KeyboardInterrupt:
        if not tree.scored:
            raise
    if not tree.scored and not tree.finished:
        raise InputError(
            "the search ended before a node that satisfies the policy was found; "
            "raise the time-limit, or relax the policy"
        )
    return tree.found()


@dataclass(eq=False)
class Tree:
    """The open boxes of a lattice and the best nodes so far.

    Parameters
    ----------
    evaluator, lattice
        What is searched.
    full
        Whether all models prune (they are monotone, and nothing is suppressed) and not only the
        strongly monotone ones.
    bottom
        The lowest node that is searched.
    problem
        What a node has to satisfy beyond what adds up; None: nothing.
    boxes
        The open boxes, as a heap.
    scored
        The best feasible nodes found.
    checked
        How many nodes were counted.
    """

    evaluator: Evaluator
    lattice: Lattice
    full: bool
    bottom: Node
    problem: Problem | None = None
    boxes: list[Box] = field(default_factory=list)
    scored: list[Scored] = field(default_factory=list)
    checked: int = 0
    _best: float = -inf
    _halved: list[Box] = field(default_factory=list)
    _sets: FrequencySets = field(init=False)
    _driven: "DrivenSearch | None" = None
    _hope: dict[Node, bool] = field(default_factory=dict)
    _shortfall: dict[Node, float] = field(default_factory=dict)
    _looked: dict[Node, Scored | None] = field(default_factory=dict)
    _seen: dict[Node, tuple[float, float | None, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._sets = self.evaluator.sets()
        if drives(self.evaluator, self.lattice):
            from anonymizer.recoding.full_domain.driven import DrivenSearch

            nothing = np.zeros(0, np.int8)
            self._driven = DrivenSearch.of(self.evaluator, self.lattice, nothing)

    def found(self) -> Found | None:
        """The best node so far, and what bounds all others."""
        if not self.scored:
            return None
        score, _, node = winner(self.scored)
        bounds = [-box[0] for box in (*self.boxes[:1], *self._halved)]
        size, bound = self.lattice.size, max([score, *bounds])
        search = "branch-and-bound", node, score, bound, self.finished, size, self.checked
        hopeless = {node for node, hopeful in self._hope.items() if not hopeful}
        broken = {node for node, entry in self._looked.items() if entry is None}
        scored = [*filter(None, self._looked.values()), *self.scored]
        counted = self._hope.keys() | self._looked.keys()
        trace = Trace.of(self.lattice, scored, [node], counted, hopeless | broken)
        return Found(*search, trace=trace)

    @property
    def finished(self) -> bool:
        """True when no box is open, nor one whose halves have not all taken its place."""
        return not self.boxes and not self._halved

    def steps(self) -> Iterator[None]:
        """Search; ``found`` is a valid answer at any moment, also in the midst of a step."""
        bottom, top = self.bottom, self.lattice.heights
        self.boxes = [(-self.evaluator.bound_of_all, bottom, top)]
        self._look(top)
        yield
        yield from self._descend(top)
        self.boxes = self._box(bottom, top)
        # Every node that may win is scored, or in an open box. A box that may only tie is opened,
        # too: of equal scores more classes win.
        while self.boxes and -self.boxes[0][0] >= self._best - TOLERANCE:
            yield
            _, low, high = box = self.boxes[0]
            parts = self._split(low, high)
            # Interrupted between the pops and pushes below, the bound of the box still counts.
            self._halved = [box]
            heapq.heappop(self.boxes)
            for part in parts:
                heapq.heappush(self.boxes, part)
            self._halved = []
        self.boxes = []

    def _descend(self, node: Node) -> Iterator[None]:
        """Go down to the best feasible direct specialization as long as there is one."""
        while True:
            below = [each for each in self.lattice.below(node) if all(map(le, self.bottom, each))]
            found = [(self._look(lower)[1], lower) for lower in below]
            yield
            feasible = [(score, lower) for score, lower in found if score is not None]
            if not feasible:
                return
            # Of equal scores any will do: it only begins the search.
            node = max(feasible)[1]

    def _split(self, low: Node, high: Node) -> list[Box]:
        """Halve a box where it is relatively longest."""
        heights = self.lattice.heights
        # By share of the height, as levels of a low hierarchy change more each.
        axis = max(range(len(low)), key=lambda i: (high[i] - low[i]) / max(heights[i], 1))
        middle = (low[axis] + high[axis]) // 2
        lower_high = (*high[:axis], middle, *high[axis + 1 :])
        upper_low = (*low[:axis], middle + 1, *low[axis + 1 :])
        return [*self._box(low, lower_high), *self._box(upper_low, high)]

    def _box(self, low: Node, high: Node) -> list[Box]:
        """The box without its hopeless levels, if anything in it may still win or tie.

        Where nothing is suppressed at the lowest node and it reaches its bound, no other node of
        the box has a higher score or as many classes with the same: it is settled.
        """
        if not self._hopeful(high):
            return []
        low = tuple(self._least_hopeful(axis, low[axis], high) for axis in range(len(low)))
        bound, score, clean = self._look(low)
        bound -= self._shortfall.get(high, 0.0)
        settled = low == high or (clean and score is not None and score >= bound)
        return [] if settled or bound < self._best - TOLERANCE else [(-bound, low, high)]

    def _least_hopeful(self, axis: int, least: int, high: Node) -> int:
        """The least level of an attribute that is hopeful with the highest ones of the others."""
        most = high[axis]
        while least < most:
            middle = (least + most) // 2
            if self._hopeful((*high[:axis], middle, *high[axis + 1 :])):
                most = middle
            else:
                least = middle + 1
        return least

    def _hopeful(self, node: Node) -> bool:
        """Return whether the models that prune leave a chance to a node and to any below."""
        if node not in self._hope:
            if len(self._hope) >= MOST_REMEMBERED:
                self._hope.clear()
                self._shortfall.clear()
            self.checked += 1
            hopeful, lost, self._shortfall[node] = self._prospects(node)
            self._hope[node] = hopeful
            # Records lost here are lost at all nodes below: none of these can reach its bound.
            if lost and hopeful:
                toll = self.evaluator.objective.toll(node, self.evaluator.budget)
                self._shortfall[node] += lost * toll
        return self._hope[node]

    def _prospects(self, node: Node) -> tuple[bool, int, float]:
        """Return whether a node is hopeful, the records lost at it, and its own shortfall."""
        evaluator = self.evaluator
        if self._driven is not None:  # of objectives that fall, which have no shortfall
            looked = self._driven.looked(node)
            return (looked.score is not None if self.full else looked.hopeful), looked.lost, 0.0
        classes = self._sets.at(node)
        shortfall = evaluator.shortfall(node, classes)
        if self.full:
            return evaluator.holds(classes), 0, shortfall
        lost = evaluator.lost(classes)
        return lost <= evaluator.most, lost, shortfall

    def _look(self, node: Node) -> tuple[float, float | None, bool]:
        """Bound a node and all above it, score it if feasible, and note that nothing is suppressed.

        Remembered, since a half of a box has the lowest node that the box had.
        """
        if node not in self._seen:
            if len(self._seen) >= MOST_REMEMBERED:
                self._seen.clear()  # it costs counting again, and no result
            self._seen[node] = self._counted(node)
        return self._seen[node]

    def _counted(self, node: Node) -> tuple[float, float | None, bool]:
        """Look at a node that is not remembered: see ``_look``."""
        self.checked += 1
        if self._driven is not None:
            looked = self._driven.looked(node)
        else:
            looked = NodeLook.of(self.evaluator, node, self._sets.at(node), self._best)
        if looked.score is None:
            if not looked.classes:
                self._note(node, None)
            return looked.bound, None, True
        if self.problem is not None and self.problem.counts_persons:
            if looked.score < self._best - TOLERANCE:  # whether or not it may be released
                return looked.bound, looked.score, not looked.suppresses
            if not accepts(self.problem, self.problem.levels(node)):
                self._note(node, None)
                return looked.bound, None, True
        entry = looked.score, looked.classes, node
        self._note(node, entry)
        self._best = max(self._best, looked.score)
        if looked.score >= self._best - TOLERANCE and entry not in self.scored:
            self.scored = [e for e in (*self.scored, entry) if e[0] >= self._best - TOLERANCE]
        return looked.bound, looked.score, not looked.suppresses

    def _note(self, node: Node, entry: Scored | None) -> None:
        if self.lattice.size <= MOST_TRACED:
            self._looked[node] = entry
