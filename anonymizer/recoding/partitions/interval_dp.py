"""Intervals of an order that lead from its begin to its end: the partitions they make."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask

NEVER = np.iinfo(np.int64).max // 2


@dataclass(frozen=True, eq=False)
class Chain:
    """The intervals of an order that occur in some allowed partition.

    Interval k holds the blocks starts[k], ..., ends[k] - 1; shape (intervals,) each, ordered by
    start, then by end. Blocks that no interval separates count as one: ``begins`` (blocks + 1,) has
    the given block at which each begins, and where the last one ends. ``groups`` (intervals,) says
    which of the given intervals each one is. At most ``most`` intervals make a partition; None
    where any number may.
    """

    groups: Codes
    starts: Codes
    ends: Codes
    begins: Codes
    most: int | None

    @classmethod
    def of(
        cls, starts: Codes, ends: Codes, blocks: int, allowed: Mask, most: int | None = None
    ) -> "Chain":
        """Keep of the allowed intervals [start, end) those that lead from 0 to ``blocks``.

        They come ordered by start, then by end.
        """
        kept = np.flatnonzero(allowed)
        left = _left(starts[kept], ends[kept], blocks)
        mirrored = kept[np.argsort(-ends[kept], kind="stable")]
        before = _left(blocks - ends[mirrored], blocks - starts[mirrored], blocks)[::-1]
        kept = kept[(before[starts[kept]] < NEVER) & (left[ends[kept]] < NEVER)]
        begins = np.unique([starts[kept], ends[kept]]) if len(kept) else np.array([0, blocks])
        first, last = (np.searchsorted(begins, each[kept]) for each in (starts, ends))
        bounded = most is not None and most < len(begins) - 1
        return cls(kept, first, last, begins, most if bounded else None)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self.begins) - 1

    def places(self, blocks: Codes) -> Codes:
        """The block that holds each block that was given; -1, of none, stays."""
        return np.searchsorted(self.begins, blocks, side="right") - 1

    @property
    def with_missing(self) -> tuple[Codes, Codes]:
        """Starts and ends with the missing values as one more interval, of a block at the end."""
        return np.append(self.starts, self.blocks), np.append(self.ends, self.blocks + 1)

    @cached_property
    def beginning(self) -> list[slice]:
        """The intervals that begin at each block, none at the end; length (blocks + 1)."""
        return _beginning_at(self.starts, self.blocks)

    def suffixes(self, values: Floats) -> Floats:
        """The best sum over the intervals of a partition of the blocks from i on, for every i.

        ``values`` (intervals, n) are n valuations of the intervals, -inf where one must not be
        used; the result has shape (most + 1, blocks + 1, n) and by its first axis at most so many
        intervals. Where any number may make a partition, that axis has the length 1.
        """
        return np.stack(list(self._rounds(values)))

    def total(self, values: Floats) -> Floats:
        """The best sum over the intervals of a partition, shape (n,)."""
        return np.asarray(deque(self._rounds(values), maxlen=1).pop()[0])

    def left(self, used: int) -> int:
        """Where ``suffixes`` has what the intervals reach that are left when so many are used."""
        return 0 if self.most is None else self.most - used

    def best(self, values: Floats) -> list[int] | None:
        """The intervals of the best partition under one valuation; None where there is none.

        ``values`` (intervals,). Ties: the earliest cuts, from the first on.
        """
        suffixes = self.suffixes(values[:, None])[:, :, 0]
        if suffixes[-1, 0] == -np.inf:
            return None
        path: list[int] = []
        block = 0
        while block < self.blocks:
            own = self.beginning[block]
            sums = values[own] + suffixes[self.left(len(path) + 1), self.ends[own]]
            path.append(own.start + int(sums.argmax()))
            block = int(self.ends[path[-1]])
        return path

    def paths(self) -> Iterator[tuple[int, ...]]:
        """The intervals of every partition, the earliest cuts first."""
        left = _left(self.starts, self.ends, self.blocks)
        most = self.blocks if self.most is None else self.most
        path: list[int] = []
        choices = [iter(self.after(path))] if left[0] <= most else []
        while choices:
            last = next(choices[-1], None)
            if last is None:
                choices.pop()
                path = path[:-1]
            elif self.ends[last] == self.blocks:
                yield (*path, last)
            elif len(path) + 1 + left[self.ends[last]] <= most:
                path.append(last)
                choices.append(iter(self.after(path)))

    def after(self, path: Sequence[int]) -> range:
        """The intervals that may follow others."""
        own = self.beginning[int(self.ends[path[-1]]) if path else 0]
        return range(own.start, own.stop)

    def as_far(self, path: Sequence[int]) -> tuple[int, ...]:
        """Some intervals and all after them up to where several may follow."""
        longer = list(path)
        while len(after := self.after(longer)) == 1:
            longer.append(after[0])
        return tuple(longer)

    def _rounds(self, values: Floats) -> Iterator[Floats]:
        """The best sums of at most 0, 1, ..., most; of any number, shape (blocks + 1, n)."""
        none = np.full((self.blocks + 1, values.shape[1]), -np.inf)
        none[self.blocks] = 0.0
        if self.most is None:
            yield self._prefixed(values, none, rest=none)
            return
        yield (best := none)
        for _ in range(self.most):
            best = self._prefixed(values, none.copy(), rest=best)
            yield best

    def _prefixed(self, values: Floats, best: Floats, rest: Floats) -> Floats:
        """Put the best interval before the rest, from the last block on; fills ``best``.

        Bellman's recursion: best(i) = max over intervals [i, j) of value(i, j) + rest(j).
        """
        for block, own in reversed(list(enumerate(self.beginning))):
            if own.start < own.stop:
                best[block] = (values[own] + rest[self.ends[own]]).max(axis=0)
        return best

    def given(self, path: Sequence[int]) -> tuple[int, ...]:
        """Which of the given intervals those of a partition are."""
        return tuple(self.groups[list(path)].tolist())


def _beginning_at(starts: Codes, blocks: int) -> list[slice]:
    """Where the intervals of rising starts begin at each block, none at the end: (blocks + 1)."""
    places = np.searchsorted(starts, np.arange(blocks + 2))
    return [slice(low, high) for low, high in pairwise(places.tolist())]


def _left(starts: Codes, ends: Codes, blocks: int) -> Ints:
    """The fewest intervals that lead from each block to the end, shape (blocks + 1,)."""
    left = np.full(blocks + 1, NEVER, np.int64)
    left[blocks] = 0
    for block, own in reversed(list(enumerate(_beginning_at(starts, blocks)))):
        if own.start < own.stop:
            left[block] = min(NEVER, int(left[ends[own]].min()) + 1)
    return left
