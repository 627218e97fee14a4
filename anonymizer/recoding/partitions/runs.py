"""Ranges judged by the pairs of a class and a sensitive value that occur, where values are many.

In the order of the combinations of the other attributes, then of the blocks of values, the classes
that a range merges are neighbours. So the pairs of a range are some slices of those of all classes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.pairs import by_pairs, merged_runs
from anonymizer.information.matrices import CountMatrix, occurring
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.recoding.problem.class_scores import Judge, Judged

PAIRS_AT_ONCE = 4_000_000
"""Pairs merged together: bounds what the judging takes to some hundred megabytes."""

COUNTS_PER_PAIR = 8
"""Counts of arrays per pair from which on pairs are quicker; a pair is sorted, a count is not."""


@dataclass(frozen=True, eq=False)
class BlockRuns:
    """Classes in the order of combination and block, and the ranges over the blocks.

    ``counts`` are the classes, ``edges`` (combinations, blocks + 1) where each block of each
    combination begins among them. Range k holds the blocks ``starts[k]``, ..., ``ends[k] - 1``;
    ``pairs`` (ranges,) are its pairs over all sensitive attributes, before values that several of
    its classes have are counted as one.
    """

    counts: Counts
    edges: Codes
    starts: Codes
    ends: Codes
    pairs: Ints

    @classmethod
    def of(
        cls, counts: Counts, at: tuple[Codes, Codes], shape: tuple[int, int], ends: Codes
    ) -> "BlockRuns":
        """Sort classes by their combination and block ``at``, (classes,) each; ``shape`` of these.

        ``ends`` (2, ranges) are the first block of each range, and that after its last one.
        """
        combination, block = at
        order = np.lexsort((block, combination))
        counts = counts.select(order)
        combinations, blocks = shape
        places = np.arange(combinations)[:, None] * blocks + np.arange(blocks + 1)
        edges = np.searchsorted((combination * blocks + block)[order], places)
        of_class = sum((occurring(joint) for joint in counts.joint.values()), np.int64(0))
        before = np.append(0, np.cumsum(np.bincount(block[order], of_class, blocks)))
        pairs = np.asarray(before[ends[1]] - before[ends[0]], np.int64)
        return cls(counts, edges, ends[0], ends[1], pairs)

    @property
    def quicker(self) -> bool:
        """Whether pairs are quicker than arrays of all ranges, combinations and values."""
        values = sum(joint.shape[1] for joint in self.counts.joint.values())
        cells = len(self.starts) * len(self.edges) * values
        return bool(cells > COUNTS_PER_PAIR * int(self.pairs.sum()))

    def judged(self, judge: Judge) -> Judged:
        """Judge the ranges, some of them at a time."""
        joint = {name: by_pairs(each) for name, each in self.counts.joint.items()}
        before = np.append(0, np.cumsum(self.counts.sizes))
        return Judged.joined([self._judged(judge, joint, before, lot) for lot in self._lots()])

    def _judged(
        self, judge: Judge, joint: dict[str, CountMatrix], before: Ints, lot: slice
    ) -> Judged:
        lows, highs = self.edges[:, self.starts[lot]].T, self.edges[:, self.ends[lot]].T
        group, combination = np.nonzero(highs > lows)
        low, high = lows[group, combination], highs[group, combination]
        classes = replace(
            self.counts,
            names=(),
            cells=np.empty((len(group), 0), np.intp),
            sizes=before[high] - before[low],
            joint={name: merged_runs(each, low, high) for name, each in joint.items()},
        )
        return judge.grouped(classes, group, len(lows))

    def _lots(self) -> Iterator[slice]:
        """Consecutive ranges of about ``PAIRS_AT_ONCE`` pairs together, at least one each."""
        upto = np.cumsum(self.pairs)
        most = int(upto[-1]) if len(upto) else 0
        cuts = np.searchsorted(upto, np.arange(0, most, PAIRS_AT_ONCE), side="right")
        bounds = np.unique([0, *cuts.tolist(), len(upto)])
        return (slice(low, high) for low, high in pairwise(bounds.tolist()))
