"""The heuristic of Bezzi (2010, section 4): boundaries of a level moved until its classes hold.

To compare: the optimum is found exactly, by dynamic programming. The objective is a sum over
classes, hence over ranges, and a range may be used when every class inside it (one for each
combination of the other attributes) satisfies every model. So the best partition of the first j
values ends in an allowed range [i, j) after a best partition of the first i.

Allowed ranges are *not* monotone in their length: a union of an acceptable and an unacceptable
range may be either. Every one of the v (v + 1) / 2 ranges is therefore judged.
"""

from bisect import bisect_left
from collections.abc import Sequence

from anonymizer.recoding.partitions.intervals import Line
from anonymizer.recoding.partitions.segments import Segments

__all__ = ["heuristic_ranges", "level_ranges"]

TIE = 1e-12
"""Bits by which a move has to help."""


def heuristic_ranges(segments: Segments, line: Line) -> list[int] | None:
    """The blocks that ranges begin at, from those of level 1 on; None when not even one holds.

    Moves one boundary at a time to where fewest classes break a model and, among those, the
    objective is highest, until no move helps; a partition that still breaks loses the boundary
    whose removal helps most. Ends in a local optimum.
    """
    moved = level_ranges(line, 1)
    while True:
        moved = _settled(segments, line, moved)
        if not _broken(segments, line, moved) and segments.apart is not None:
            return moved
        if len(moved) == 1:
            return None
        fewer = [[*moved[:i], *moved[i + 1 :]] for i in range(1, len(moved))]
        moved = max(fewer, key=lambda option: _merit(segments, line, option))


def level_ranges(line: Line, level: int) -> list[int]:
    """The cuts that come nearest to a level of the taxonomy: wherever its group changes."""
    numbers = line.taxonomy.numbers or ()
    known = sorted((number, code) for code, number in enumerate(numbers) if number is not None)
    ordered = [code for _, code in known]
    groups = line.taxonomy.levels[level].groups[ordered]
    place = [bisect_left(known, (start, -1)) for start in line.points]
    return [0, *(i for i in range(1, line.blocks) if groups[place[i]] != groups[place[i] - 1])]


def _settled(segments: Segments, line: Line, cuts: list[int]) -> list[int]:
    """Move boundaries one by one while that helps."""
    improved = True
    while improved:
        improved = False
        for i in range(1, len(cuts)):
            end = cuts[i + 1] if i + 1 < len(cuts) else line.blocks
            options = [[*cuts[:i], cut, *cuts[i + 1 :]] for cut in range(cuts[i - 1] + 1, end)]
            better = max(options, key=lambda option: _merit(segments, line, option))
            broken, value = _merit(segments, line, cuts)
            if _merit(segments, line, better) > (broken, value + TIE):
                cuts, improved = better, True
    return cuts


def _merit(segments: Segments, line: Line, cuts: Sequence[int]) -> tuple[int, float]:
    """Better are fewer classes that break a model, then the objective."""
    return -_broken(segments, line, cuts), float(segments.gains[list(line.path(cuts))].sum())


def _broken(segments: Segments, line: Line, cuts: Sequence[int]) -> int:
    """How many classes of a partition break a model."""
    return int(segments.violations[list(line.path(cuts))].sum())
