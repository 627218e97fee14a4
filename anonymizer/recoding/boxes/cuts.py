"""Trees that divide a grid into boxes: every branching cuts one axis in two."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anonymizer.kernels import Columns
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.kernels.single import Criteria, values
from anonymizer.recoding.boxes.grid import Blocks

Box = tuple[Blocks, ...]
"""A shape for every axis."""


class Branching(NamedTuple):
    """An axis cut in two: the blocks that go to the first part, and the places of both parts."""

    axis: int
    left: Blocks
    parts: tuple[int, int]


Node = Branching | Box


def divide(nodes: list[Node], place: int, axis: int, left: Blocks) -> tuple[int, int]:
    """Put a branching into a place; the places of its parts, which are appended."""
    parts = (len(nodes), len(nodes) + 1)
    nodes[place] = Branching(axis, left, parts)
    nodes += [(), ()]
    return parts


@dataclass(frozen=True)
class BoxTree:
    """Nodes, the root first: branchings, and the boxes at their ends.

    Parts stand after what they are parts of. Nodes that no branching leads to do no harm.
    """

    nodes: Sequence[Node]

    @cached_property
    def places(self) -> list[int]:
        """The places of the boxes among the nodes."""
        return [place for place, node in enumerate(self.nodes) if not isinstance(node, Branching)]

    def box_of(self, blocks: Codes) -> Codes:
        """The box, by its number among ``places``, that holds each row of blocks, shape (rows,).

        ``blocks`` (rows, axes) has a block for every axis, of those that there are.
        """
        found = np.empty(len(blocks), np.intp)
        heap = [(0, np.arange(len(blocks)))]
        while heap:
            place, rows = heap.pop()
            node = self.nodes[place]
            if isinstance(node, Branching):
                left = _inside(blocks[rows, node.axis], node.left)
                heap += [(node.parts[0], rows[left]), (node.parts[1], rows[~left])]
            else:
                found[rows] = place
        return np.searchsorted(self.places, found)

    def sums(self, blocks: Codes, rows: Columns) -> Columns:
        """The histogram of every box, shape (boxes, columns), of rows given by their blocks."""
        sums = np.zeros((len(self.places), rows.shape[1]), rows.dtype)
        np.add.at(sums, self.box_of(blocks), rows)
        return sums


def _inside(blocks: Codes, some: Blocks) -> Mask:
    """Which blocks are some of them, shape (blocks,)."""
    if isinstance(some, range):
        return np.asarray((blocks >= some.start) & (blocks < some.stop))
    return np.isin(blocks, some)


def pruned(tree: BoxTree, blocks: Codes, rows: Columns, criteria: Criteria, most: int) -> BoxTree:
    """Join the two boxes of a branching, where that loses least, until so many have records.

    What two acceptable boxes join to is acceptable under policies whose models are monotone.
    """
    branchings = {p: node for p, node in enumerate(tree.nodes) if isinstance(node, Branching)}
    boxes = {p: node for p, node in enumerate(tree.nodes) if not isinstance(node, Branching)}
    parent = {part: place for place, node in branchings.items() for part in node.parts}
    sums = np.zeros((len(tree.nodes), rows.shape[1]), rows.dtype)
    sums[tree.places] = tree.sums(blocks, rows)
    for place, node in reversed(branchings.items()):  # parts stand after what they are parts of
        sums[place] = sums[list(node.parts)].sum(axis=0)
    worths = values(sums, criteria)
    heap: list[tuple[float, int]] = []

    def offer(place: int) -> None:
        """Remember what joining both parts of a branching loses, where neither is divided."""
        parts = list(branchings[place].parts)
        if all(part in boxes for part in parts):
            heapq.heappush(heap, (float(worths[parts].sum() - worths[place]), place))

    for place in branchings:
        offer(place)
    occupied = int((sums[tree.places, -1] > 0).sum())
    while occupied > most:
        place = heapq.heappop(heap)[1]
        one, other = branchings[place].parts
        occupied -= int((sums[[one, other], -1] > 0).all())
        axis, joined = branchings[place].axis, list(boxes[one])  # they differ along it alone
        joined[axis] = tuple(sorted([*boxes[one][axis], *boxes[other][axis]]))
        boxes[place] = tuple(joined)
        if place in parent:
            offer(parent[place])
    return BoxTree([boxes.get(place, node) for place, node in enumerate(tree.nodes)])
