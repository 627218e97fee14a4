"""Searches that the compiled driver runs: a problem as arrays, and what is to be asked of Python.

What a search finds and counts is what the searches in Python find and count.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.kernels import FrequencySet, Rules
from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.kernels.frequency import grassberger_table, logs_table
from anonymizer.objectives import (
    AverageClassSize,
    Discernibility,
    Loss,
    MutualInformation,
    Objective,
    Tabulated,
)
from anonymizer.recoding.lattice import Lattice, Node
from anonymizer.recoding.problem.evaluator import Assessed, Evaluator
from anonymizer.recoding.problem.frequency import MOST_BYTES
from anonymizer.recoding.problem.problem import Run, Scored

if TYPE_CHECKING:
    from anonymizer.kernels.driver import board as boards
    from anonymizer.kernels.driver import judging, store

MOST_ROOM = 1_000_000
"""Nodes of the largest lattice that is driven: it takes some entries for each."""

Answer = tuple[Assessed, float, float]
"""What there is to know of a node, what bounds it, and its score if it is feasible."""

Ask = Callable[[Node, FrequencySet], Answer]


def drives(evaluator: Evaluator, lattice: Lattice) -> bool:
    """Whether the compiled driver can search a lattice.

    It knows the bounds of classes that kernels know, no population, and the objectives that have a
    ``Goal``; Python answers for all others.
    """
    policies = evaluator.bound_policy, evaluator.outright
    return (
        evaluator.kernel.drives
        and lattice.room <= MOST_ROOM
        and not evaluator.layout.population
        and not any(policy.measured or policy.judges_all for policy in policies)
        and type(evaluator.objective)
        in (Tabulated, Discernibility, AverageClassSize, MutualInformation)
    )


@dataclass(frozen=True, eq=False)
class Driven:
    """A search of one lattice by the compiled driver, and what is known so far.

    Parameters
    ----------
    evaluator, lattice
        What is searched.
    nodes, sets, policy, objective, board
        The same as arrays.
    """

    evaluator: Evaluator
    lattice: Lattice
    nodes: "store.Lattice"
    sets: "store.Store"
    policy: "judging.Policy"
    objective: "judging.Objective"
    board: "boards.Board"

    @classmethod
    def of(
        cls,
        evaluator: Evaluator,
        lattice: Lattice,
        status: "np.ndarray[Any, np.dtype[np.int8]]",
        bounds: tuple[Floats, Ints, Floats, Mask] | None = None,
    ) -> "Driven":
        """Lay a problem out; what becomes known of nodes is entered in the arrays given."""
        from anonymizer.kernels.driver import board, store

        objective = evaluator.objective
        ceilings, lost, tolls, done = bounds or (np.zeros(0), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, bool))
        room = lattice.room
        known = isinstance(objective, Tabulated) and bounds is not None
        own = board.Board(
            status.reshape(-1),
            ceilings.reshape(-1),
            lost.reshape(-1),
            tolls.reshape(-1),
            done.reshape(-1),
            np.empty(room + sum(lattice.heights) + 33, np.int64),
            np.empty(room, np.int32),
            np.empty(room, bool),
            np.empty(room),
            np.empty(room, np.int64),
            np.zeros(10, np.int64),
            np.array([-np.inf, known]),
        )
        own.state[board.HIGH] = -1
        own.chain[0] = room - 1  # where a descent begins
        columns = len(evaluator.layout.margins)
        return cls(
            evaluator,
            lattice,
            nodes_of(evaluator, lattice),
            store.stocked(evaluator.base, room, columns, MOST_BYTES),
            policy_of(evaluator, lattice),
            objective_of(evaluator, lattice),
            own,
        )

    def searched(self, search: int, run: Run, doing: str, ask: Ask, most: int = 0) -> None:
        """Search to the end, showing progress; it may be interrupted between lots of nodes."""
        from anonymizer.kernels.driver import board, searching, store

        verdict, state, code = np.zeros(7), self.board.state, board.PAUSE
        while code != board.DONE:
            run.watch(doing, int(state[board.FIRST]), self.board.status.size)
            code = searching.advance(
                self.nodes, self.sets, self.policy, self.objective, self.board, search, most, verdict
            )
            if code == board.ASK:
                node = self.node(int(state[board.ASKED]) - 1)
                last = int(self.sets.marks[store.LAST])
                _enter(verdict, *ask(node, store.classes_of(self.sets, last)))

    @property
    def checked(self) -> int:
        """How many nodes were counted."""
        from anonymizer.kernels.driver import board

        return int(self.board.state[board.COUNTED])

    @property
    def cut_short(self) -> bool:
        """Whether a descent ended before all of its nodes were counted."""
        from anonymizer.kernels.driver import board

        return bool(self.board.state[board.AT] < self.board.state[board.LENGTH])

    @property
    def counted(self) -> list[Node]:
        """The nodes counted, in order."""
        places = self.board.counted[: self.checked]
        levels = np.unravel_index(places, self.lattice.shape)
        return [tuple(node) for node in np.transpose(levels).tolist()]

    @property
    def scored(self) -> list[Scored]:
        """The feasible nodes that were counted, with their scores."""
        number = self.checked
        feasible = self.board.feasible[:number].tolist()
        scores, classes = self.board.scores[:number].tolist(), self.board.classes[:number].tolist()
        entries = zip(feasible, scores, classes, self.counted, strict=True)
        return [(score, groups, node) for fits, score, groups, node in entries if fits]

    @property
    def best(self) -> float:
        """The best score so far."""
        from anonymizer.kernels.driver import board

        return float(self.board.best[board.BEST])

    def node(self, place: int) -> Node:
        """The node of a place."""
        return tuple(int(level) for level in np.unravel_index(place, self.lattice.shape))


def _enter(verdict: Floats, assessed: Assessed, bound: float, score: float) -> None:
    """Tell the driver what it asked."""
    from anonymizer.kernels.driver import judging

    candidate = assessed.candidate
    verdict[judging.HOPEFUL], verdict[judging.LOST] = assessed.hopeful, assessed.lost
    verdict[judging.BOUND], verdict[judging.FEASIBLE] = bound, candidate is not None
    if candidate is not None:
        verdict[judging.SCORE], verdict[judging.CLASSES] = score, candidate.released_classes


def nodes_of(evaluator: Evaluator, lattice: Lattice) -> "store.Lattice":
    """The lattice as arrays."""
    from anonymizer.kernels.driver import store

    heights = np.array(lattice.heights, np.int64)
    shape = lattice.shape
    strides = np.array([int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))], np.int64)
    bits = [height.bit_length() for height in lattice.heights]
    shifts = np.cumsum([0, *(width + 1 for width in bits)])[:-1]
    guards = sum(1 << int(shift + width) for shift, width in zip(shifts, bits, strict=True))
    levels = np.arange(max(shape))
    shares = np.minimum(levels / np.maximum(heights, 1)[:, None], 1.0)
    shares[levels >= heights[:, None]] = 1.0
    return store.Lattice(
        np.array(lattice.bottom, np.int64),
        heights,
        strides,
        shifts.astype(np.uint64),
        np.uint64(guards),
        evaluator.encoding.masks,
        np.array(evaluator.encoding.telling, np.int64),
        shares,
    )


def policy_of(evaluator: Evaluator, lattice: Lattice) -> "judging.Policy":
    """The policy as arrays."""
    from anonymizer.kernels.driver import judging

    rules: Rules = evaluator.bound_policy.rules
    lasting: Rules = evaluator.outright.rules
    hidden = np.zeros((len(lattice.heights), max(lattice.shape)), bool)
    for own, some in zip(hidden, evaluator.some_hidden, strict=True):
        own[: len(some)] = some[: len(own)]
    columns = len(evaluator.layout.margins)
    return judging.Policy(
        rules.least,
        rules.laid,
        lasting.least,
        lasting.laid,
        evaluator.policy.lasts,
        evaluator.most,
        evaluator.layout.records,
        evaluator.suppression.remove,
        evaluator.suppression.exempt,
        all(model.absolute for model in evaluator.policy.models),
        hidden,
        logs_table(),
        grassberger_table(),
        np.empty(columns + 1, np.int64),
        np.zeros((1, columns), evaluator.base.counts.dtype),
        np.zeros(len(evaluator.base), bool),
    )


def objective_of(evaluator: Evaluator, lattice: Lattice) -> "judging.Objective":
    """The objective as arrays."""
    from anonymizer.kernels.driver import judging

    objective, layout = evaluator.objective, evaluator.layout
    weights = objective.of(layout.sensitive) if isinstance(objective, MutualInformation) else {}
    spans = np.array([layout.place(name) for name in weights], np.int64).reshape(-1, 2)
    return judging.Objective(
        _goal(objective),
        evaluator.budget.least,
        spans,
        np.array(list(weights.values()), float),
        layout.margins,
        *_costs(objective, lattice),
    )


def _goal(objective: Objective) -> int:
    from anonymizer.kernels.driver.judging import Goal

    goals = {
        Tabulated: Goal.LEVELS,
        Discernibility: Goal.SQUARES,
        AverageClassSize: Goal.CLASSES,
        MutualInformation: Goal.INFORMATION,
    }
    return int(goals[type(objective)])


def _costs(objective: Objective, lattice: Lattice) -> tuple[Any, ...]:
    """What values cost at each level, of objectives that are about levels."""
    axes, most = len(lattice.heights), max(lattice.shape)
    totals, begins = np.zeros((axes, most)), np.zeros((axes, most), np.int64)
    if not isinstance(objective, Tabulated):
        nothing = np.zeros(0), np.zeros(0), begins, np.zeros((0, axes), np.intp), False
        return totals, *nothing
    begin, extra = 0, list(_extra(objective, lattice))
    for axis, level, costs in extra:
        totals[axis, level], begins[axis, level] = objective.totals[axis][level], begin
        begin += len(costs)
    plain = objective.objective
    geometric = isinstance(plain, Loss) and plain.aggregate == "geometric-mean"
    every = np.concatenate([costs for _, _, costs in extra]).astype(float)
    cells = np.ascontiguousarray(objective.cells, np.intp)
    return totals, np.array(objective.weights, float), every, begins, cells, geometric


def _extra(objective: Tabulated, lattice: Lattice) -> Iterator[tuple[int, int, Floats]]:
    """What suppressing a value costs, by attribute and level."""
    for axis, height in enumerate(lattice.heights):
        for level in range(height + 1):
            yield axis, level, objective.extra[axis][level]
