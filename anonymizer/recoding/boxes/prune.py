"""Trees made smaller: pairs of boxes joined again where that loses least."""

import heapq

import numpy as np

from anonymizer.kernels import Columns
from anonymizer.kernels.arrays import Codes
from anonymizer.kernels.single import Criteria, values
from anonymizer.recoding.boxes.cuts import Box, Branching, Tree

__all__ = ["pruned"]


def pruned(tree: Tree, blocks: Codes, rows: Columns, criteria: Criteria, most: int) -> Tree:
    """Join boxes of one branching until at most so many have records.

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
        boxes[place] = _joined(boxes[one], boxes[other], branchings[place].axis)
        if place in parent:
            offer(parent[place])
    return Tree([boxes.get(place, node) for place, node in enumerate(tree.nodes)])


def _joined(one: Box, other: Box, axis: int) -> Box:
    """The box that two boxes make up which differ along one axis."""
    return (*one[:axis], tuple(sorted([*one[axis], *other[axis]])), *one[axis + 1 :])
