"""A1*: the best partition of one ordered attribute into ranges, the other attributes held fixed.

Bezzi (2010, section 4) moves the boundaries of a level by a heuristic. Here the optimum is found
exactly: the objective is a sum over classes, hence over ranges, and a range may be used when every
class inside it (one for each combination of the other attributes) satisfies every model. So the
best partition of the first j values ends in an allowed range [i, j) after a best partition of the
first i: dynamic programming over interval endpoints.

Allowed ranges are *not* monotone in their length: a union of an acceptable and an unacceptable
range may be either. Every one of the v (v + 1) / 2 ranges is therefore judged.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from anonymizer.counts import Codes, Floats, Ints
from anonymizer.search.segments import Segments

__all__ = ["heuristic_ranges", "level_ranges", "optimal_ranges"]

TIE = 1e-12
"""Bits within which two partial partitions tie; v of them stay far below TOLERANCE."""


def optimal_ranges(segments: Segments, max_ranges: int | None = None) -> list[int] | None:
    """The cuts of the best allowed partition; None where there is none.

    ``best[r, j]`` is the best value of the first j blocks in at most r ranges. Ties, within
    ``TIE``: more classes, then the earliest cuts.
    """
    v = len(segments)
    if segments.apart is None:
        return None
    value = np.where(segments.allowed, segments.gains, -np.inf)
    rounds = v if max_ranges is None else min(max_ranges, v)
    bounded = rounds < v
    tables = rounds if bounded else 1
    best = np.full((tables + 1, v + 1), -np.inf)
    classes = np.zeros((tables + 1, v + 1), np.int64)
    back = np.zeros((tables + 1, v + 1), np.intp)
    best[:, 0] = 0.0
    for r in range(1, tables + 1):
        before = r - 1 if bounded else r
        for j in range(1, v + 1):
            scores = best[before, :j] + value[:j, j]
            together = classes[before, :j] + segments.classes[:j, j]
            back[r, j] = _winner(scores, together)
            best[r, j], classes[r, j] = scores[back[r, j]], together[back[r, j]]
    return _traced(best, back, bounded)


def heuristic_ranges(segments: Segments, cuts: Sequence[int]) -> list[int] | None:
    """The heuristic of Bezzi (2010): move the boundaries of a level until its classes hold.

    Moves one boundary at a time to where fewest classes break a model and, among those, the
    objective is highest, until no move helps; a partition that still breaks loses the boundary
    whose removal helps most. Ends in a local optimum, or None when not even one range holds.
    """
    moved = list(cuts)
    while True:
        moved = _settled(segments, moved)
        if not segments.broken(moved) and segments.apart is not None:
            return moved
        if len(moved) == 1:
            return None
        fewer = [[*moved[:i], *moved[i + 1 :]] for i in range(1, len(moved))]
        moved = min(fewer, key=lambda option: (segments.broken(option), -segments.value(option)))


def level_ranges(segments: Segments, level: int) -> list[int]:
    """The cuts that come nearest to a level of the taxonomy: wherever its group changes."""
    numbers = segments.taxonomy.numbers or ()
    known = [(number, code) for code, number in enumerate(numbers) if number is not None]
    ordered = [code for _, code in sorted(known)]
    groups = segments.taxonomy.levels[level].groups[ordered]
    place = [bisect_left(sorted(known), (start, -1)) for start in segments.starts]
    return [0, *(i for i in range(1, len(segments)) if groups[place[i]] != groups[place[i] - 1])]


def _settled(segments: Segments, cuts: list[int]) -> list[int]:
    """Move boundaries one by one while that helps."""

    def merit(option: Sequence[int]) -> tuple[int, float]:
        return -segments.broken(option), segments.value(option)

    improved = True
    while improved:
        improved = False
        for i in range(1, len(cuts)):
            end = cuts[i + 1] if i + 1 < len(cuts) else len(segments)
            options = [[*cuts[:i], cut, *cuts[i + 1 :]] for cut in range(cuts[i - 1] + 1, end)]
            better = max(options, key=merit)
            broken, value = merit(cuts)
            if merit(better) > (broken, value + TIE):
                cuts, improved = better, True
    return cuts


def _winner(scores: Floats, classes: Ints) -> int:
    """The first of the highest scores, among ties the one of most classes."""
    top = scores.max()
    if top == -np.inf:
        return 0
    tied = np.flatnonzero(scores >= top - TIE)
    return int(tied[classes[tied].argmax()])


def _traced(best: Floats, back: Codes, bounded: bool) -> list[int] | None:
    """Follow the cuts back from the end; with a bound, from the fewest ranges that reach it."""
    r, j = len(best) - 1, best.shape[1] - 1
    if best[r, j] == -np.inf:
        return None
    cuts = []
    while j:
        j, r = int(back[r, j]), r - 1 if bounded else r
        cuts.append(j)
    return cuts[::-1]
