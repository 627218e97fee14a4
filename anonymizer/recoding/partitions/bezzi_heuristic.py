"""The heuristic of Bezzi (2010, section 4): boundaries of a level moved until its classes hold.

It is here for comparison: the exact optimum comes from dynamic programming (``interval_dp``). A
range may be used when every class inside it (one for each combination of the other attributes)
satisfies every model. That is *not* monotone in its length: a union of an acceptable and an
unacceptable range may be either. So all v (v + 1) / 2 ranges are judged beforehand.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from anonymizer.recoding.partitions.intervals import Ranges
from anonymizer.recoding.partitions.segments import Segments

TIE = 1e-12
"""Bits by which a move has to help."""

Merit = Callable[[Sequence[int]], tuple[int, float]]
"""Minus the classes of a partition that break a model, then its objective: larger is better."""


def heuristic_ranges(segments: Segments, ranges: Ranges) -> list[int] | None:
    """The blocks that ranges begin at, from those of level 1 on; None when not even one holds.

    Moves one boundary at a time to where fewest classes break a model and, among those, the
    objective is highest, until no move helps; a partition that still breaks loses the boundary
    whose removal helps most. Ends in a local optimum.
    """

    def merit(cuts: Sequence[int]) -> tuple[int, float]:
        path = list(ranges.path(cuts))
        return -int(segments.violations[path].sum()), float(segments.gains[path].sum())

    moved = level_ranges(ranges, 1)
    while True:
        moved = _settled(merit, ranges.blocks, moved)
        if merit(moved)[0] == 0 and segments.ungrouped is not None:
            return moved
        if len(moved) == 1:
            return None
        moved = max(([*moved[:i], *moved[i + 1 :]] for i in range(1, len(moved))), key=merit)


def level_ranges(ranges: Ranges, level: int) -> list[int]:
    """The cuts that come nearest to a level of the taxonomy: wherever its group changes."""
    numbers = ranges.taxonomy.numbers or ()
    known = sorted((number, code) for code, number in enumerate(numbers) if number is not None)
    groups = ranges.taxonomy.levels[level].groups[[code for _, code in known]]
    place = [bisect_left(known, (start, -1)) for start in ranges.points]
    return [0, *(i for i in range(1, ranges.blocks) if groups[place[i]] != groups[place[i] - 1])]


def _settled(merit: Merit, blocks: int, cuts: list[int]) -> list[int]:
    """Move boundaries one by one while that helps."""
    improved = True
    while improved:
        improved = False
        for i in range(1, len(cuts)):
            end = cuts[i + 1] if i + 1 < len(cuts) else blocks
            options = [[*cuts[:i], cut, *cuts[i + 1 :]] for cut in range(cuts[i - 1] + 1, end)]
            better = max(options, key=merit)
            broken, value = merit(cuts)
            if merit(better) > (broken, value + TIE):
                cuts, improved = better, True
    return cuts
