"""All shapes that boxes may have along an axis, and how each divides into two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, prod

import numpy as np

from anonymizer.counts.counts import Codes
from anonymizer.kernels.guillotine import Shapes
from anonymizer.recoding.boxes.grid import MOST_SET, Axis, Blocks

__all__ = ["Menu", "boxes_of", "laid_out"]

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Menu:
    """The shapes of one axis, numbered so that the parts of each stand before it.

    Parameters
    ----------
    axis
        The axis.
    runs
        Of so many blocks all runs are among them, and come first: by length, then by start.
    others
        The other shapes, by their number of blocks; the last is the whole axis, if there are any.
    """

    axis: Axis
    runs: int
    others: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, axis: Axis) -> "Menu":
        """What boxes may have of an axis."""
        if axis.ordered:
            apart = [(axis.numbers,), tuple(axis.whole)] if axis.missing else []
            return cls(axis, axis.numbers, tuple(dict.fromkeys(apart)))
        if axis.blocks <= MOST_SET:
            sets = [combinations(axis.whole, size) for size in range(1, axis.blocks + 1)]
            return cls(axis, 0, tuple(shape for some in sets for shape in some))
        siblings = {(block,) for block in axis.whole} | {
            joined for branches in axis.siblings for joined in _joined(branches)
        }
        return cls(axis, 0, tuple(sorted(siblings, key=lambda shape: (len(shape), shape))))

    def __len__(self) -> int:
        return self.first_other + len(self.others)

    @cached_property
    def first_other(self) -> int:
        """How many shapes are runs."""
        return comb(self.runs + 1, 2)

    def run(self, start: int, length: int) -> int:
        """The number of a run."""
        return (length - 1) * (2 * self.runs - length + 2) // 2 + start

    def shape(self, number: int) -> Blocks:
        """The blocks of a shape."""
        if number >= self.first_other:
            return self.others[number - self.first_other]
        length = int(np.searchsorted(self._lengths, number, side="right"))
        start = number - int(self._lengths[length - 1])
        return range(start, start + length)

    def pairs(self, number: int) -> Iterator[Pair]:
        """The ways to divide a shape into two, by number."""
        shape = self.shape(number)
        if isinstance(shape, range):
            for cut in range(1, len(shape)):
                yield self.run(shape.start, cut), self.run(shape.start + cut, len(shape) - cut)
        elif self.axis.ordered:
            if len(shape) > 1:  # missing values beside all numbers
                yield self.run(0, self.runs), self.first_other
        elif self.axis.blocks <= MOST_SET:
            for size in range(len(shape) - 1):
                for some in combinations(shape[1:], size):
                    rest = tuple(block for block in shape[1:] if block not in some)
                    yield self._number[shape[0], *some], self._number[rest]
        else:
            for cut in range(1, len(shape)):
                parts = shape[:cut], shape[cut:]
                if parts[0] in self._number and parts[1] in self._number:
                    yield self._number[parts[0]], self._number[parts[1]]

    def summed(self, number: int) -> Pair:
        """Two shapes that make up one of several blocks, allowed or not; none of a single one."""
        return next(self.pairs(number), (0, 0))

    @cached_property
    def allowed(self) -> list[bool]:
        """Whether a class may have each shape."""
        return [self.axis.allows(self.shape(number)) for number in range(len(self))]

    @cached_property
    def _lengths(self) -> Codes:
        """Where the runs of each length begin."""
        return np.array([self.run(0, length) for length in range(1, self.runs + 2)], np.intp)

    @cached_property
    def _number(self) -> dict[tuple[int, ...], int]:
        """The numbers of the shapes that are no runs."""
        return {shape: self.first_other + place for place, shape in enumerate(self.others)}


def _joined(branches: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """All runs of branches, each as one shape."""
    for begin in range(len(branches)):
        joined: tuple[int, ...] = ()
        for branch in branches[begin:]:
            joined += branch
            yield joined


def boxes_of(menus: Sequence[Menu]) -> int:
    """How many boxes there are."""
    return prod(len(menu) for menu in menus)


def laid_out(menus: Sequence[Menu]) -> Shapes:
    """The shapes of all axes as arrays.

    Runs of the last axis are divided without a list of their parts, which would be long.
    """
    each = [(menu, number) for menu in menus for number in range(len(menu))]
    pairs = [
        list(menu.pairs(number)) if menu is not menus[-1] or number >= menu.first_other else []
        for menu, number in each
    ]
    shapes = [menu.shape(number) for menu, number in each]
    numbers = np.array([len(menu) for menu in menus], np.int64)
    split = np.array([pair for some in pairs for pair in some], np.int64).reshape(-1, 2)
    return Shapes(
        numbers=numbers,
        blocks=np.array([menu.axis.blocks for menu in menus], np.int64),
        base=_before(numbers),
        block=np.array([shape[0] if len(shape) == 1 else -1 for shape in shapes]),
        allowed=np.array([allowed for menu in menus for allowed in menu.allowed]),
        first=np.append(_before(np.array([len(some) for some in pairs])), len(split)),
        left=split[:, 0].copy(),
        right=split[:, 1].copy(),
        summed=np.array([menu.summed(number) for menu, number in each], np.int64),
        runs=np.array([menu.runs for menu in menus], np.int64),
    )


def _before(numbers: Codes) -> Codes:
    """The sum of what stands before each number."""
    return (np.cumsum(numbers) - numbers).astype(np.int64)
