"""All shapes that boxes may have along an axis, and how each divides into two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, prod

import numpy as np

from anonymizer.axes import MOST_SET, Axis, Blocks
from anonymizer.counts import Codes
from anonymizer.kernels.guillotine import Shapes

__all__ = ["Menu", "boxes_of", "laid_out"]

Split = tuple[Blocks, Blocks]


@dataclass(frozen=True, eq=False)
class Menu:
    """The shapes of one axis, the parts of each before it.

    Parameters
    ----------
    axis
        The axis.
    runs
        Of so many blocks all runs are among them, and come first: by length, then by start.
    others
        The other shapes, by their number of blocks.
    """

    axis: Axis
    runs: int
    others: tuple[Blocks, ...]

    @classmethod
    def of(cls, axis: Axis) -> "Menu":
        """What boxes may have of an axis."""
        if axis.ordered:
            apart = [(axis.numbers,), axis.whole] if axis.missing else []
            return cls(axis, axis.numbers, tuple(dict.fromkeys(apart)))
        if axis.blocks <= MOST_SET:
            sets = [combinations(axis.whole, size) for size in range(1, axis.blocks + 1)]
            return cls(axis, 0, tuple(shape for some in sets for shape in some))
        some: set[Blocks] = {(block,) for block in axis.whole}
        for branches in axis.siblings:
            some.update(_joined(branches))
        return cls(axis, 0, tuple(sorted(some, key=lambda shape: (len(shape), shape))))

    def __len__(self) -> int:
        return comb(self.runs + 1, 2) + len(self.others)

    @cached_property
    def shapes(self) -> list[Blocks]:
        """All shapes, in the order of their numbers."""
        runs = [
            tuple(range(start, start + length))
            for length in range(1, self.runs + 1)
            for start in range(self.runs - length + 1)
        ]
        return [*runs, *self.others]

    @cached_property
    def number(self) -> dict[Blocks, int]:
        """The number of each shape."""
        return {shape: number for number, shape in enumerate(self.shapes)}

    def splits(self, shape: Blocks) -> Iterator[Split]:
        """The ways to divide a shape into two."""
        if self.axis.ordered and shape[-1] >= self.axis.numbers:
            cuts = [self.axis.numbers - shape[0]] if len(shape) > 1 else []
            yield from ((shape[:cut], shape[cut:]) for cut in cuts if cut)
        elif self.axis.ordered:
            yield from ((shape[:cut], shape[cut:]) for cut in range(1, len(shape)))
        elif self.axis.blocks <= MOST_SET:
            for size in range(len(shape) - 1):
                for some in combinations(shape[1:], size):
                    rest = tuple(block for block in shape[1:] if block not in some)
                    yield (shape[0], *some), rest
        else:
            yield from (
                (shape[:cut], shape[cut:])
                for cut in range(1, len(shape))
                if shape[:cut] in self.number and shape[cut:] in self.number
            )

    def pairs(self, shape: Blocks) -> list[tuple[int, int]]:
        """The same by number."""
        return [(self.number[one], self.number[other]) for one, other in self.splits(shape)]


def _joined(branches: Sequence[Blocks]) -> Iterator[Blocks]:
    """All runs of branches, each as one shape."""
    for begin in range(len(branches)):
        joined: Blocks = ()
        for branch in branches[begin:]:
            joined += branch
            yield joined


def boxes_of(menus: Sequence[Menu]) -> int:
    """How many boxes there are."""
    return prod(len(menu) for menu in menus)


def laid_out(menus: Sequence[Menu]) -> Shapes:
    """The shapes of all axes as arrays."""
    pairs = [menu.pairs(shape) for menu in menus for shape in menu.shapes]
    numbers = np.array([len(menu) for menu in menus], np.int64)
    split = np.array([pair for some in pairs for pair in some], np.int64).reshape(-1, 2)
    summed = [some[0] if some else (0, 0) for some in pairs]
    return Shapes(
        numbers=numbers,
        blocks=np.array([menu.axis.blocks for menu in menus], np.int64),
        base=_before(numbers),
        block=np.array([s[0] if len(s) == 1 else -1 for menu in menus for s in menu.shapes]),
        allowed=np.array([menu.axis.allows(shape) for menu in menus for shape in menu.shapes]),
        first=np.append(_before(np.array([len(some) for some in pairs])), len(split)),
        left=split[:, 0].copy(),
        right=split[:, 1].copy(),
        summed=np.array(summed, np.int64).reshape(-1, 2),
        runs=np.array([menu.runs for menu in menus], np.int64),
    )


def _before(numbers: Codes) -> Codes:
    """The sum of what stands before each number."""
    return (np.cumsum(numbers) - numbers).astype(np.int64)
