"""Trees that divide a grid into boxes: every branching cuts one axis in two."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.counts.counts import Codes
from anonymizer.privacy import Mask
from anonymizer.recoding.boxes.grid import Blocks

__all__ = ["Box", "Branching", "Tree", "Twig"]

Box = tuple[Blocks, ...]
"""A shape for every axis."""


@dataclass(frozen=True)
class Branching:
    """One axis cut in two.

    Parameters
    ----------
    axis
        Which axis.
    left
        The blocks of it that go to the first part; the others go to the second.
    parts
        The places of both parts among the nodes.
    """

    axis: int
    left: Blocks
    parts: tuple[int, int]


Twig = Branching | Box


@dataclass(frozen=True)
class Tree:
    """Nodes, the root first: branchings, and the boxes at their ends."""

    nodes: Sequence[Twig]

    @cached_property
    def boxes(self) -> list[Box]:
        """The boxes, in the order of their nodes."""
        return [node for node in self.nodes if not isinstance(node, Branching)]

    def box_of(self, blocks: Codes) -> Codes:
        """The place of the box among ``boxes`` that holds each row of blocks, shape (rows,).

        ``blocks`` (rows, axes) has a block for every axis, of those that there are.
        """
        number = np.cumsum([not isinstance(node, Branching) for node in self.nodes]) - 1
        found = np.empty(len(blocks), np.intp)
        heap = [(0, np.arange(len(blocks)))]
        while heap:
            place, rows = heap.pop()
            node = self.nodes[place]
            if not isinstance(node, Branching):
                found[rows] = number[place]
                continue
            left = _inside(blocks[rows, node.axis], node.left)
            heap += [(node.parts[0], rows[left]), (node.parts[1], rows[~left])]
        return found


def _inside(blocks: Codes, some: Blocks) -> Mask:
    """Which blocks are some of them, shape (blocks,)."""
    if isinstance(some, range):
        return np.asarray((blocks >= some.start) & (blocks < some.stop))
    inside = np.zeros(max(int(blocks.max(initial=0)), some[-1]) + 1, bool)
    inside[list(some)] = True
    return np.asarray(inside[blocks])
