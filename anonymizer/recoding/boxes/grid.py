"""The grid that boxes and merged cells lie on, and the trees that divide it into boxes.

A grid has an axis of blocks for each quasi-identifier. A number is divided into blocks by its
possible cut points, and boxes have runs of them; any other attribute has a block for each value
that occurs, and boxes have any sets of them where they are few, runs of siblings in the hierarchy
where they are many. Of codes in their thousands blocks stand in the order of the hierarchy, and
boxes have some groups of it, siblings most of all. Every branching of a tree cuts one axis in two.
"""

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anonymizer.counts.multidimensional import HierarchyNodes, Regions, Shape, labels_of
from anonymizer.errors import InputError
from anonymizer.hierarchy import Interval, Taxonomy
from anonymizer.kernels import Columns
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.kernels.single import Criteria, values
from anonymizer.recoding.partitions.groups import Cuts, Ranges
from anonymizer.recoding.problem import Problem, RangeOptions

MOST_SET = 5
"""Values of which boxes may have any set: 31 sets; a value more doubles them."""

MOST_LISTED = 100
"""Values of an attribute without ranges beyond have labels of groups, not lists of themselves; a
group of more groups, or values, is not divided, as labels would list most of them."""

Blocks = tuple[int, ...] | range
"""Some blocks of an axis, in order."""


@dataclass(frozen=True, eq=False)
class Axis:
    """One quasi-identifier of a grid.

    ``block`` (values,) is the block of each value code, -1 for one that does not occur. ``starts``
    are where the blocks of an ordered attribute begin, None for any other; ``missing``, whether
    another block after them holds missing values, which no range does. ``wide`` says which runs of
    numbers are wide enough to be released, by first block and end, shape (blocks + 1, blocks + 1).
    ``tree`` (levels, blocks) has the first block of the group that each block is in, from the
    finest level up: with it boxes have groups of the hierarchy, in the order of which blocks stand.
    ``least`` (blocks,) is the first of these levels at which a group is all of a block.
    """

    taxonomy: Taxonomy
    block: Codes
    starts: tuple[Decimal, ...] | None = None
    missing: bool = False
    wide: Mask | None = None
    tree: Codes | None = None
    least: Codes | None = None

    @cached_property
    def blocks(self) -> int:
        """The number of blocks."""
        return int(self.block.max(initial=-1)) + 1

    @property
    def ordered(self) -> bool:
        """True where boxes have ranges of the attribute."""
        return self.starts is not None

    @property
    def runs(self) -> int:
        """The number of blocks that boxes have runs of; 0 where boxes have sets."""
        return self.blocks if self.tree is not None else self.numbers if self.ordered else 0

    @cached_property
    def numbers(self) -> int:
        """The number of blocks that hold numbers, for an ordered attribute."""
        return self.blocks - self.missing

    @property
    def whole(self) -> range:
        """All blocks."""
        return range(self.blocks)

    def allows(self, shape: Blocks) -> bool:
        """Return whether a class may have a shape."""
        if self.wide is None or len(shape) == self.blocks or shape[0] >= self.numbers:
            return True
        return bool(self.wide[shape[0], shape[-1] + 1])

    def covered(self, shape: Sequence[int]) -> Shape:
        """Return what a shape covers: a range, the codes of values, or groups of the hierarchy."""
        if self.tree is not None:
            return HierarchyNodes(
                tuple(self._node(*each) for each in self._runs_of(shape[0], shape[-1] + 1))
            )
        if len(shape) == self.blocks:  # also where no number is missing: "*", not (-inf, inf)
            return tuple(range(len(self.block)))
        if self.starts is None or shape[0] >= self.numbers:
            return tuple(np.flatnonzero(np.isin(self.block, shape)).tolist())
        ends = (*self.starts, None)
        low = self.starts[shape[0]] if shape[0] else None
        return Interval(low, ends[shape[-1] + 1], self.taxonomy.scale)

    def outermost(self, records: Ints, least: int) -> tuple[int, int]:
        """The first and the last block of numbers whose start may be an end of a range.

        Classes overlap, so that a range may end where nobody's begins: its end would be a value of
        the few, or of the one, beyond it. ``records`` (blocks,) are those of each block, ``least``
        how many have to lie beyond an end, as they do beyond the ends of ranges that divide a line.
        """
        before = np.append(0, np.cumsum(records[: self.numbers]))
        enough = np.flatnonzero((before >= least) & (before[-1] - before >= least))
        # Where no end may be shown, none is: every range is open on both sides.
        return (int(enough[0]), int(enough[-1])) if len(enough) else (self.numbers, 0)

    def cover(self, blocks: Codes, outermost: tuple[int, int]) -> Shape:
        """The least that covers some blocks: a range of numbers, or the values themselves.

        ``outermost``: the first and last block whose start may be an end; ranges beyond are open.
        """
        some = np.unique(blocks)
        if self.tree is not None:
            # The finest group that holds each part.
            parts = ((self._common(part), int(part[0]), 0) for part in self._parted(some))
            return HierarchyNodes(tuple(self._node(*each) for each in parts))
        if not self.ordered or some[0] >= self.numbers:
            return self.covered(some.tolist())
        if some[-1] >= self.numbers:  # missing values are in no range
            return self.covered(self.whole)
        begin, end = int(some[0]), int(some[-1]) + 1
        first, last = outermost
        return self.covered(
            range(begin if begin >= first else 0, end if end <= last else self.numbers)
        )

    @cached_property
    def binned(self) -> "Axis":
        """The axis with blocks of numbers joined until each is wide enough by itself."""
        if self.wide is None or not self.starts:
            return self
        cuts = [0]
        while (reach := np.flatnonzero(self.wide[cuts[-1]])).size and reach[0] < self.numbers:
            cuts.append(int(reach[0]))
        # What is left at the end may be too narrow: it joins the block before.
        if len(cuts) > 1 and not self.wide[cuts[-1], self.numbers]:
            cuts.pop()
        bins = np.searchsorted(cuts, np.arange(self.blocks), side="right") - 1
        bins[self.numbers :] = len(cuts)
        block = np.where(self.block < 0, -1, bins[self.block])
        return replace(self, block=block, starts=tuple(self.starts[cut] for cut in cuts), wide=None)

    def standing(self, shape: Blocks) -> Iterable[int]:
        """Some blocks of a shape whose least cover is that of all of them."""
        if self.tree is None:
            return shape
        return [
            int(block)
            for row, low, high in self._runs_of(shape[0], shape[-1] + 1)
            for block in np.unique(self.tree[max(row - 1, 0), low:high])
        ]

    def _runs_of(self, low: int, high: int) -> Iterator[tuple[int, int, int]]:
        """The fewest groups that make up a run: the finest level of each, its blocks, and end."""
        assert self.tree is not None
        assert self.least is not None
        # Of the groups that begin here and end within the run the longest, at its finest level.
        while low < high:
            fits = (self.tree[:, low] == low) & (self._ends[:, low] <= high)
            fits[: self.least[low]] = False
            end = int(self._ends[fits, low].max())
            yield int(np.argmax(fits & (self._ends[:, low] == end))), low, end
            low = end

    @cached_property
    def _ends(self) -> Codes:
        """The end of the group that each block is in, shape (levels, blocks)."""
        assert self.tree is not None
        ends = np.empty_like(self.tree)
        for own, starts in zip(ends, self.tree, strict=True):
            begins = np.unique(starts)
            own[:] = np.append(begins[1:], self.blocks)[np.searchsorted(begins, starts)]
        return ends

    def _node(self, row: int, low: int, end: int) -> tuple[int, int]:
        level = self.taxonomy.finest + row
        return level, int(self.taxonomy.levels[level].groups[self._codes[low]])

    @cached_property
    def _codes(self) -> Codes:
        codes = np.full(self.blocks, -1, np.intp)
        there = np.flatnonzero(self.block >= 0)
        codes[self.block[there]] = there
        return codes

    def _common(self, blocks: Codes) -> int:
        assert self.tree is not None
        assert self.least is not None
        alike = self.tree[:, blocks[0]] == self.tree[:, blocks[-1]]
        return max(int(np.argmax(alike)), int(self.least[blocks[0]]))

    def _parted(self, blocks: Codes) -> list[Codes]:
        """Some blocks by the subgroups that they are in of the finest group that holds all.

        All together where they are in many, which a label had better not list.
        """
        assert self.tree is not None
        row = self._common(blocks)
        if not row:
            return [blocks]
        parts = np.split(blocks, np.flatnonzero(np.diff(self.tree[row - 1, blocks])) + 1)
        return parts if len(parts) <= MOST_SET else [blocks]

    @cached_property
    def siblings(self) -> list[list[tuple[int, ...]]]:
        """The blocks of each branch, for every branching of the hierarchy, the topmost first."""
        values = np.full(self.blocks, -1, np.intp)
        values[self.block[self.block >= 0]] = np.flatnonzero(self.block >= 0)
        found, level = [], [np.arange(self.blocks)]
        for partition in reversed(self.taxonomy.levels[:-1]):
            groups = partition.groups[values]  # depth-first, so that a group is a run of blocks
            branches = [np.split(node, np.flatnonzero(np.diff(groups[node])) + 1) for node in level]
            found += [[tuple(b.tolist()) for b in some] for some in branches if len(some) > 1]
            level = [branch for some in branches for branch in some]
        return found


def blocks_of(axes: Sequence[Axis], cells: Codes) -> Codes:
    """The block on every axis of each row of value codes, -1 for none, shape (rows, axes)."""
    columns = zip(axes, cells.T, strict=True)
    return np.column_stack([axis.block[codes] for axis, codes in columns])


def regions_of(
    names: tuple[str, ...],
    axes: Sequence[Axis],
    assign: Callable[[Codes], Codes],
    shapes: Sequence[Sequence[Shape]],
    *,
    numbered: bool,
) -> Regions:
    """Classes on a grid, given the class of value codes and what each covers of every axis."""
    shapes_by_name = dict(zip(names, shapes, strict=True))
    labels = {
        name: labels_of(axis.taxonomy, shapes_by_name[name], ranges=axis.ordered)
        for name, axis in zip(names, axes, strict=True)
    }
    return Regions(names, assign, shapes_by_name, labels, numbered)


def axes_of(problem: Problem, ranges: Collection[str], options: RangeOptions) -> list[Axis]:
    """The axes of a problem's quasi-identifiers, in their order; some of them get ranges.

    Refuses an attribute of too many cut points, or of too many values that are no ranges.
    """
    counts, found = problem.counts, []
    for name, codes in zip(counts.names, counts.cells.T, strict=True):
        taxonomy = problem.taxonomies[name]
        if taxonomy.bounded:
            raise InputError(
                f"boxes and merged cells cannot keep to the max-level of {name!r}; leave it out, "
                'or choose recoding = "cut", "variable-range" or "full-domain"'
            )
        if name in ranges:
            found.append(_of_numbers(taxonomy, codes, options, counts.sizes))
        else:
            found.append(_of_values(taxonomy, codes))
    return found


def _of_numbers(taxonomy: Taxonomy, codes: Codes, options: RangeOptions, sizes: Ints) -> Axis:
    """Numbers between possible cut points, missing values after them."""
    ranges = Ranges.of(taxonomy.attribute, taxonomy, codes, options, sizes)
    block = ranges.blocks_of(np.arange(len(taxonomy.codes)))
    # Missing values have the block after all numbers.
    block[block < 0] = ranges.blocks if ranges.gaps else -1
    wide = np.zeros((ranges.blocks + 1, ranges.blocks + 1), bool)
    wide[ranges.starts, ranges.ends] = True
    confined = options.min_width is not None
    return Axis(taxonomy, block, ranges.points, ranges.gaps, wide if confined else None)


def _of_values(taxonomy: Taxonomy, codes: Codes) -> Axis:
    """The values that occur, depth-first along the hierarchy, or groups of its lowest level."""
    order = Cuts.of(taxonomy.attribute, taxonomy, codes).order
    block = np.full(len(taxonomy.codes), -1, np.intp)
    if len(order) <= MOST_LISTED and not taxonomy.finest:
        block[order] = np.arange(len(order))
        return Axis(taxonomy, block)
    groups = [level.groups[order] for level in taxonomy.levels[taxonomy.finest :]]
    starts = _joined([_starts(row) for row in groups])
    begins = np.unique(starts[0])
    # Groups that would have to list too much have been joined into one.
    if len(begins) == 1 < len(order):
        raise InputError(
            f"the hierarchy of {taxonomy.attribute!r} divides a group into {len(order):,} values "
            "or groups at once, too many to be listed in the labels of boxes and classes (the most "
            f"is {MOST_LISTED}); give it levels between, such as prefixes = [4, 3, 2, 1], or "
            'choose recoding = "cut"'
        )
    block[order] = np.searchsorted(begins, starts[0])
    tree = np.stack([np.searchsorted(begins, row[begins]) for row in starts])
    sizes = np.diff(begins, append=len(order))
    wholes = [np.bincount(_starts(row), minlength=len(order))[begins] >= sizes for row in groups]
    return Axis(taxonomy, block, tree=tree, least=np.argmax(wholes, axis=0))


def _starts(groups: Codes) -> Codes:
    return np.maximum.accumulate(np.where(np.diff(groups, prepend=-1), np.arange(len(groups)), 0))


def _joined(starts: list[Codes]) -> list[Codes]:
    """Merge groups, or values, that are too many within one of the next level."""
    for row in reversed(range(1, len(starts))):
        within = np.bincount(starts[row][np.unique(starts[row - 1])], minlength=len(starts[row]))
        crowded = within[starts[row]] > MOST_LISTED
        starts[:row] = [np.where(crowded, starts[row], fine) for fine in starts[:row]]
    return starts


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
        columns = np.ascontiguousarray(blocks.T)
        # A place for every block: looked up in a tenth of the time in which a set is made.
        last = max((node.left[-1] for node in self.nodes if isinstance(node, Branching)), default=0)
        inside = np.zeros(max(last, int(blocks.max(initial=0))) + 1, bool)
        heap = [(0, np.arange(len(blocks)))]
        while heap:
            place, rows = heap.pop()
            node = self.nodes[place]
            if isinstance(node, Branching):
                some = np.array(node.left)
                inside[some] = True
                left = inside[columns[node.axis][rows]]
                inside[some] = False
                heap += [(node.parts[0], rows[left]), (node.parts[1], rows[~left])]
            else:
                found[rows] = place
        return np.searchsorted(self.places, found)

    def sums(self, blocks: Codes, rows: Columns) -> Columns:
        """The histogram of every box, shape (boxes, columns), of rows given by their blocks."""
        sums = np.zeros((len(self.places), rows.shape[1]), rows.dtype)
        np.add.at(sums, self.box_of(blocks), rows)
        return sums


def pruned(tree: BoxTree, blocks: Codes, rows: Columns, criteria: Criteria, most: int) -> BoxTree:
    """Join the two boxes of a branching, where that loses least, until at most n have records.

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
    # What joining loses changes for no branching but the parents of what was joined, which are only
    # offered then: no entry of the heap grows old.
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
