"""The best boxes for a problem: exactly where the grid is small enough, by beam search beyond."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from anonymizer.candidates import Layout, columns_of
from anonymizer.counts import Codes, Counts
from anonymizer.errors import InputError
from anonymizer.guillotine.axes import Axis, axes_of
from anonymizer.guillotine.beam import WIDEST, grow
from anonymizer.guillotine.exact import Grid
from anonymizer.guillotine.prune import pruned
from anonymizer.guillotine.shapes import Menu, boxes_of
from anonymizer.guillotine.tree import Tree
from anonymizer.kernels import NUMPY, Columns
from anonymizer.kernels.single import Criteria, criteria, values
from anonymizer.privacy import TOLERANCE, require_class_by_class, require_monotone
from anonymizer.regions import Regions, labels_of
from anonymizer.search import Problem, RangeOptions
from anonymizer.search.policy import Policy
from anonymizer.search.problem import ALONE, Run

__all__ = ["Boxed", "best_boxes"]

ANYTHING = RangeOptions()
"""Ranges of any kind."""

QUICK = 1e7
"""Boxes of a grid that are looked at in a second, at least."""


@dataclass(frozen=True, eq=False)
class Boxed:
    """What a search for boxes found.

    Parameters
    ----------
    regions
        The boxes that have records, as classes.
    counts
        What they leave.
    strategy
        How they were found.
    lead
        How much more any other tree of boxes can be worth; infinite where that is not known.
    trees
        How many trees were looked for.
    """

    regions: Regions
    counts: Counts
    strategy: str
    lead: float
    trees: int


def best_boxes(
    problem: Problem,
    options: RangeOptions = ANYTHING,
    *,
    max_classes: int | None = None,
    min_gain: float = 0.0,
    exact: bool = True,
    run: Run = ALONE,
) -> Boxed | None:
    """The boxes that keep most of the objective; None where not even a single one is acceptable.

    Parameters
    ----------
    options
        What ranges of numbers are confined to.
    max_classes, min_gain
        At most so many boxes; each more adds at least so much to the objective.
    exact
        The best tree of all where the grid is small enough, a good one by beam search beyond;
        False for the greedy tree, to compare.

    Raises
    ------
    InputError
        When models or objective are not made for classes that are looked at one by one.
    """
    axes = axes_of(problem.counts, problem.taxonomies, options)
    cells = problem.counts.cells.T
    blocks = np.column_stack([axis.block[codes] for axis, codes in zip(axes, cells, strict=True)])
    rows = columns_of(problem.counts)
    asked = asked_of(problem, "boxes")
    asked = asked._replace(worth=asked.worth.costing(min_gain))
    grid = Grid.of(axes, blocks, rows) if exact and _in_time(axes, run) else None
    if grid is None:
        found = _grown(axes, blocks, rows, asked, max_classes, WIDEST if exact else 1, run)
    else:
        found = Hull(grid, blocks, rows, asked, run).best(max_classes)
    if found is None:
        return None
    regions = _regions(problem, axes, found.tree, blocks)
    return Boxed(
        regions,
        problem.counts.recode(regions),
        found.strategy,
        found.lead,
        found.trees,
    )


def asked_of(problem: Problem, what: str) -> Criteria:
    """What classes must satisfy and what they are worth, for compiled searches.

    Raises
    ------
    InputError
        When a model or the objective is not made for them.
    """
    require_class_by_class(problem.models, what)
    require_monotone(problem.models, what)
    objective = problem.objective.prepared(problem.counts, problem.taxonomies)
    layout = Layout.of(problem.counts)
    judgement = Policy(problem.models, layout, NUMPY).against(layout.margins)
    for model, _ in judgement.measured:
        raise InputError(
            f"{model.name} states no bounds that compiled code can check, which {what} need; "
            'choose recoding = "full-domain" or "variable-range"'
        )
    return criteria(judgement.rules, objective.worth(layout))


class Grown(NamedTuple):
    """A tree, how it was found, and what ``Boxed`` says beside."""

    tree: Tree
    strategy: str
    lead: float
    trees: int


def _in_time(axes: Sequence[Axis], run: Run) -> bool:
    """Whether the boxes of a grid can be looked at within the time limit."""
    boxes = boxes_of([Menu.of(axis) for axis in axes])
    return run.time_limit is None or boxes < QUICK * run.time_limit


def _grown(
    axes: Sequence[Axis],
    blocks: Codes,
    rows: Columns,
    asked: Criteria,
    most: int | None,
    width: int,
    run: Run,
) -> Grown | None:
    """A good tree, not proven to be the best."""
    if values(rows.sum(axis=0, keepdims=True), asked)[0] == -inf:
        return None
    tree = grow(axes, blocks, rows, asked, width, run)[1]
    if most is not None:
        tree = pruned(tree, blocks, rows, asked, most)
    return Grown(tree, "greedy" if width == 1 else "beam", inf, 1)


class Point(NamedTuple):
    """A tree, how many of its boxes have records, and what they are worth."""

    classes: int
    worth: float
    tree: Tree


@dataclass(frozen=True, eq=False)
class Hull:
    """Best trees of a grid under a cost for every class, which bounds their number.

    A tree that is best when every class costs c is the best of all that have no more classes than
    it has. So the best trees of at most so many classes lie on the upper hull of worth against
    classes, and between two neighbours on it the line through both bounds what is possible
    (Lagrangian relaxation).
    """

    grid: Grid
    blocks: Codes
    rows: Columns
    asked: Criteria
    run: Run

    def best(self, most: int | None) -> Grown | None:
        """The best tree found of at most so many classes; None where there is no tree at all."""
        first = self._at(0.0)
        if first is None or most is None or first.classes <= most:
            return first and Grown(first.tree, "dynamic programming", 0.0, 1)
        above, below, trees = first, self._single(), 1
        while True:
            cost = (above.worth - below.worth) / (above.classes - below.classes)
            point = self._at(cost)
            trees += 1
            line = below.worth - cost * below.classes
            if point is None or point.worth - cost * point.classes <= line + TOLERANCE:
                if point and below.classes < point.classes <= most:
                    below = point
                lead = cost * (most - below.classes)
                return Grown(below.tree, "dynamic programming", lead, trees)
            above, below = (above, point) if point.classes <= most else (point, below)

    def _at(self, cost: float) -> Point | None:
        """The best tree when every class costs so much more."""
        asked = self.asked._replace(worth=self.asked.worth.costing(cost))
        found = self.grid.best(asked, self.run)
        if found is None:
            return None
        worth, tree = found
        classes = len(np.unique(tree.box_of(self.blocks)))
        return Point(classes, worth + cost * classes, tree)

    def _single(self) -> Point:
        """Everything in one box."""
        worth = float(values(self.rows.sum(axis=0, keepdims=True), self.asked)[0])
        return Point(1, worth, self.grid.undivided)


@dataclass(frozen=True, eq=False)
class BoxMap:
    """Boxes as a map: what lies in none that has records is not covered.

    Parameters
    ----------
    axes, tree
        The boxes.
    number
        The class of each box of the tree, -1 for one without records.
    """

    axes: Sequence[Axis]
    tree: Tree
    number: Codes

    def __call__(self, cells: Codes) -> Codes:
        """The class of each row of value codes, shape (rows,)."""
        columns = zip(self.axes, cells.T, strict=True)
        blocks = np.column_stack([axis.block[codes] for axis, codes in columns])
        known = (blocks >= 0).all(axis=1)
        found = np.full(len(cells), -1, np.intp)
        found[known] = self.number[self.tree.box_of(blocks[known])]
        return found


def _regions(problem: Problem, axes: Sequence[Axis], tree: Tree, blocks: Codes) -> Regions:
    """The boxes that have records, in the order of the tree, as classes."""
    boxes = tree.boxes
    occupied = np.unique(tree.box_of(blocks))
    number = np.full(len(boxes), -1, np.intp)
    number[occupied] = np.arange(len(occupied))
    names = problem.counts.names
    shapes = {
        name: [axis.covered(boxes[box][place]) for box in occupied]
        for place, (name, axis) in enumerate(zip(names, axes, strict=True))
    }
    labels = {name: labels_of(problem.taxonomies[name], shapes[name]) for name in names}
    return Regions(names, BoxMap(axes, tree, number), shapes, labels, numbered=False)
