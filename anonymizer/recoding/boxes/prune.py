"""Trees made smaller: pairs of boxes joined again where that loses least."""

import heapq

import numpy as np

from anonymizer.counts.counts import Codes, Floats
from anonymizer.kernels import Columns
from anonymizer.kernels.single import Criteria, values
from anonymizer.recoding.boxes.tree import Box, Branching, Tree, Twig

__all__ = ["pruned"]


def pruned(tree: Tree, blocks: Codes, rows: Columns, asked: Criteria, most: int) -> Tree:
    """Join boxes of one branching until at most so many have records.

    What two acceptable boxes join to is acceptable under policies whose models are monotone.
    """
    sums = _sums(tree, blocks, rows)
    worths = values(sums, asked)
    parent = {
        part: place
        for place, node in enumerate(tree.nodes)
        if isinstance(node, Branching)
        for part in node.parts
    }
    nodes = dict(enumerate(tree.nodes))
    boxes = [place for place, node in nodes.items() if not isinstance(node, Branching)]
    occupied = int((sums[boxes, -1] > 0).sum())
    heap = [entry for place in parent.values() if (entry := _loss(nodes, worths, place))]
    heapq.heapify(heap)
    while occupied > most:
        place = heapq.heappop(heap)[1]
        node = nodes[place]
        if not isinstance(node, Branching):
            continue
        occupied -= int((sums[list(node.parts), -1] > 0).all())
        nodes[place] = _joined(nodes, node)
        above = parent.get(place)
        entry = None if above is None else _loss(nodes, worths, above)
        if entry:
            heapq.heappush(heap, entry)
    return _renumbered(nodes)


def _sums(tree: Tree, blocks: Codes, rows: Columns) -> Columns:
    """The histogram of every node, shape (nodes, columns)."""
    places = [p for p, node in enumerate(tree.nodes) if not isinstance(node, Branching)]
    sums = np.zeros((len(tree.nodes), rows.shape[1]), rows.dtype)
    np.add.at(sums, np.array(places)[tree.box_of(blocks)], rows)
    for place in range(len(tree.nodes) - 1, -1, -1):  # parts stand after what they are parts of
        node = tree.nodes[place]
        if isinstance(node, Branching):
            sums[place] = sums[list(node.parts)].sum(axis=0)
    return sums


def _loss(nodes: dict[int, Twig], worths: Floats, place: int) -> tuple[float, int] | None:
    """What joining both parts of a branching loses; None where one is itself divided."""
    node = nodes[place]
    if not isinstance(node, Branching):
        return None
    if any(isinstance(nodes[part], Branching) for part in node.parts):
        return None
    return float(worths[list(node.parts)].sum() - worths[place]), place


def _joined(nodes: dict[int, Twig], node: Branching) -> Box:
    """The box that both parts of a branching make up."""
    one, other = (nodes[part] for part in node.parts)
    assert not isinstance(one, Branching)
    assert not isinstance(other, Branching)
    both = tuple(sorted([*one[node.axis], *other[node.axis]]))
    return (*one[: node.axis], both, *one[node.axis + 1 :])


def _renumbered(nodes: dict[int, Twig]) -> Tree:
    """The nodes that are still reached from the root."""
    kept: list[Twig] = [()]
    heap = [(0, 0)]
    while heap:
        old, new = heap.pop()
        node = nodes[old]
        if isinstance(node, Branching):
            ends = (len(kept), len(kept) + 1)
            kept += [(), ()]
            heap += zip(node.parts, ends, strict=True)
            node = Branching(node.axis, node.left, ends)
        kept[new] = node
    return Tree(kept)
