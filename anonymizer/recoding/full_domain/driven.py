"""Searches that the compiled driver runs: a problem as arrays, and what is to be asked of Python.

What a search finds and counts is what the searches in Python find and count.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod
from typing import Any

import numpy as np

from anonymizer.kernels import FrequencySet, driver
from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.kernels.driver import Driver, Finding, Reason, State, Stock, Strategy
from anonymizer.kernels.frequency import grassberger_table, logs_table
from anonymizer.objectives import (
    AverageClassSize,
    Discernibility,
    Loss,
    MutualInformation,
    Objective,
    Tabulated,
)
from anonymizer.recoding import nodes
from anonymizer.recoding.lattice import Lattice, Node
from anonymizer.recoding.nodes import Answer, Evaluator, NodeLook
from anonymizer.recoding.problem import Run, Scored

LOT = 1_000_000
"""Rows rolled up until Python may look in: some 5 ms."""

Ask = Callable[[Node, FrequencySet], Answer]


@dataclass(frozen=True, eq=False)
class DrivenSearch:
    """A search of one lattice by the compiled driver, and what is known so far.

    Parameters
    ----------
    evaluator, lattice
        What is searched.
    nodes, sets, terms, board
        The same as arrays.
    """

    evaluator: Evaluator
    lattice: Lattice
    nodes: driver.NodePlaces
    sets: driver.Sets
    terms: driver.Terms
    board: driver.NodeBoard

    @classmethod
    def of(
        cls,
        evaluator: Evaluator,
        lattice: Lattice,
        status: "np.ndarray[Any, np.dtype[np.int8]]",
        bounds: tuple[Floats, Ints, Floats, Mask] | None = None,
    ) -> "DrivenSearch":
        """Lay a problem out; what becomes known of nodes is entered in the arrays given."""
        room, nothing = lattice.room, np.zeros(0)
        none = nothing, np.zeros(0, np.int64), nothing, np.zeros(0, bool)
        ceilings, lost, tolls, done = bounds or none
        known = bounds is not None and isinstance(evaluator.objective, Tabulated)
        own = driver.NodeBoard(
            status.reshape(-1),
            ceilings.reshape(-1),
            lost.reshape(-1),
            tolls.reshape(-1),
            done.reshape(-1),
            np.empty(room + sum(lattice.heights) + 1, np.int64),
            np.empty((room, 4)),
            np.zeros(len(State), np.int64),
            np.array([-np.inf, known]),
        )
        # No chain is open, and a descent has one node to begin with.
        own.state[State.HIGH], own.state[State.LENGTH] = -1, 1
        own.chain[0] = room - 1  # where a descent begins
        columns = len(evaluator.layout.margins)
        sets = driver.stocked(evaluator.base, room, columns, nodes.MOST_BYTES, nodes.FEW)
        return cls(
            evaluator,
            lattice,
            nodes_of(evaluator, lattice),
            sets,
            terms_of(evaluator, lattice),
            own,
        )

    @cached_property
    def _driver(self) -> Driver:
        return Driver(self.nodes, self.sets, self.terms, self.board)

    def searched(self, strategy: Strategy, run: Run, doing: str, ask: Ask, most: int = 0) -> None:
        """Search to the end, showing progress; it may be interrupted between lots of nodes."""
        # The driver returns for what it cannot judge, and in between, so that interrupts are heard.
        state, verdict, reason = self.board.state, self._driver.verdict, Reason.PAUSE
        while reason != Reason.DONE:
            run.watch(doing, int(state[State.FIRST]), self.board.status.size)
            reason = self._driver.advance(strategy, most, LOT)
            if reason == Reason.ASK:
                node = self.node(int(state[State.ASKED]) - 1)
                assessed, bound, score = ask(node, self._last)
                candidate = assessed.candidate
                verdict[Finding.HOPEFUL], verdict[Finding.LOST] = assessed.hopeful, assessed.lost
                verdict[Finding.BOUND], verdict[Finding.FEASIBLE] = bound, candidate is not None
                if candidate is not None:
                    verdict[Finding.SCORE] = score
                    verdict[Finding.CLASSES] = candidate.released_classes

    @property
    def _last(self) -> FrequencySet:
        """The classes that were rolled up last."""
        return driver.classes_of(self.sets, int(self.sets.marks[Stock.LAST]))

    def looked(self, node: Node) -> NodeLook:
        """Look at a single node; nothing is entered."""
        place, verdict = int(np.ravel_multi_index(node, self.lattice.shape)), self._driver.verdict
        if self._driver.advance(Strategy.LOOK, place) == Reason.ASK:
            return NodeLook.of(self.evaluator, node, self._last)
        objective = self.evaluator.objective
        bound = float(verdict[Finding.BOUND])
        if isinstance(objective, Tabulated):
            bound = objective.of_levels(node)
        return NodeLook(
            verdict[Finding.HOPEFUL] > 0,
            int(verdict[Finding.LOST]),
            bound,
            float(verdict[Finding.SCORE]) if verdict[Finding.FEASIBLE] else None,
            int(verdict[Finding.CLASSES]),
            verdict[Finding.GONE] > 0,
        )

    @property
    def checked(self) -> int:
        """The number of nodes that were counted."""
        return int(self.board.state[State.COUNTED])

    @property
    def cut_short(self) -> bool:
        """True where a descent ended before all of its nodes were counted."""
        return bool(self.board.state[State.AT] < self.board.state[State.LENGTH])

    @property
    def counted(self) -> list[Node]:
        """The nodes counted, in order."""
        places = self.board.log[: self.checked, 0].astype(np.int64)
        levels = np.unravel_index(places, self.lattice.shape)
        return [tuple(node) for node in np.transpose(levels).tolist()]

    @property
    def scored(self) -> list[Scored]:
        """The feasible nodes that were counted, with their scores."""
        found = zip(self.board.log[: self.checked].tolist(), self.counted, strict=True)
        return [(score, int(classes), node) for (_, fits, score, classes), node in found if fits]

    @property
    def best(self) -> float:
        """The best score so far."""
        return float(self.board.best[0])

    def node(self, place: int) -> Node:
        """The node of a place."""
        return tuple(int(level) for level in np.unravel_index(place, self.lattice.shape))


def nodes_of(evaluator: Evaluator, lattice: Lattice) -> driver.NodePlaces:
    """The lattice as arrays."""
    shape, heights = lattice.shape, np.array(lattice.heights, np.int64)
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    # An attribute of one level needs no bits: there may be too many of them for a word.
    bits = [height.bit_length() for height in lattice.heights]
    # Each level has a guard bit above it, which stays set when a lower level is subtracted: one
    # subtraction of words compares two nodes in all attributes.
    shifts = np.cumsum([0, *(width + (width > 0) for width in bits)])[:-1]
    guards = sum(
        1 << int(shift + width) for shift, width in zip(shifts, bits, strict=True) if width
    )
    levels = np.arange(max(shape))
    shares = np.minimum(levels / np.maximum(heights, 1)[:, None], 1.0)
    shares[levels >= heights[:, None]] = 1.0
    return driver.NodePlaces(
        np.stack([np.array(lattice.bottom), heights, strides], axis=1).astype(np.int64),
        shifts.astype(np.uint64),
        np.array([guards], np.uint64),
        evaluator.encoding.masks,
        np.array(evaluator.encoding.telling, np.int64),
        shares,
        np.zeros((2, len(heights)), np.int64),
    )


def terms_of(evaluator: Evaluator, lattice: Lattice) -> driver.Terms:
    """The policy and the objective as arrays."""
    hidden = np.zeros((len(lattice.heights), max(lattice.shape)), bool)
    for own, some in zip(hidden, evaluator.some_hidden, strict=True):
        own[: len(some)] = some[: len(own)]
    layout, objective = evaluator.layout, evaluator.objective
    columns = len(layout.margins)
    weights = objective.of(layout.sensitive) if isinstance(objective, MutualInformation) else {}
    return driver.Terms(
        _facts(evaluator),
        evaluator.bound_policy.rules.laid,
        evaluator.outright.rules.laid,
        evaluator.bound_policy.sized.rules.laid,
        hidden,
        logs_table(),
        grassberger_table(),
        np.empty(columns + 1, np.int64),
        np.zeros((1, columns), evaluator.base.counts.dtype),
        np.zeros(len(evaluator.base), bool),
        np.zeros(len(evaluator.base), bool),
        np.array([layout.place(name) for name in weights], np.int64).reshape(-1, 2),
        np.array(list(weights.values()), float),
        layout.margins,
        *_costs(objective, lattice),
    )


def _facts(evaluator: Evaluator) -> Ints:
    """The numbers of a policy and an objective: see ``driver.Term``."""
    goals = {
        Tabulated: driver.Goal.LEVELS,
        Discernibility: driver.Goal.SQUARES,
        AverageClassSize: driver.Goal.CLASSES,
        MutualInformation: driver.Goal.INFORMATION,
    }
    objective, suppression = evaluator.objective, evaluator.suppression
    plain = objective.objective if isinstance(objective, Tabulated) else None
    return np.array(
        [
            goals[type(objective)],
            ceil(evaluator.bound_policy.rules.least),
            evaluator.most,
            evaluator.layout.records,
            evaluator.policy.lasts,
            suppression.remove,
            suppression.exempt,
            all(model.absolute for model in evaluator.policy.models),
            isinstance(plain, Loss) and plain.aggregate == "geometric-mean",
            evaluator.budget.least,
            ceil(evaluator.outright.rules.least),
            # The records from which on a class may not be suppressed, unless it breaks a bound that
            # is no size; 0 where any class may.
            max(1, ceil(evaluator.bound_policy.sized.rules.least))
            if suppression.suppress == "small"
            else 0,
        ],
        np.int64,
    )


def _costs(objective: Objective, lattice: Lattice) -> tuple[Any, ...]:
    """Costs of values at each level as arrays, for objectives that are about levels."""
    axes, most = len(lattice.heights), max(lattice.shape)
    totals, begins = np.zeros((axes, most)), np.zeros((axes, most), np.int64)
    if not isinstance(objective, Tabulated):
        return totals, np.zeros(0), np.zeros(0), begins, np.zeros((0, axes), np.intp)
    begin, extra = 0, []
    for axis, height in enumerate(lattice.heights):
        for level in range(height + 1):
            costs = objective.extra[axis][level]
            totals[axis, level], begins[axis, level] = objective.totals[axis][level], begin
            begin += len(costs)
            extra.append(costs)
    every = np.concatenate(extra).astype(float)
    cells = np.ascontiguousarray(objective.cells, np.intp)
    return totals, np.array(objective.weights, float), every, begins, cells
