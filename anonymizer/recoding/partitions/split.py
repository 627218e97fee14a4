"""Which two attributes are cut together, and every recoding of the others next to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anonymizer.counts.counts import Partitions
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.partitions.cuts import Levels
from anonymizer.recoding.partitions.families import Family, Intervals
from anonymizer.recoding.partitions.intervals import Ranges
from anonymizer.recoding.partitions.refine import Refiner
from anonymizer.recoding.partitions.segments import Segments
from anonymizer.recoding.problem.problem import Problem, Run, Search

MOST_COMBINATIONS = 1_000
"""Recodings of the other attributes beyond are not all looked at, levels alone apart."""


@dataclass(frozen=True, eq=False)
class Split:
    """The attributes that are cut together, two at the most, and all recodings of the others.

    These ``others`` are feasible with the first suppressed; ``checked`` nodes of their lattice were
    checked.
    """

    together: tuple[Intervals, ...]
    others: Sequence[Partitions]
    checked: int


def split(
    problem: Problem, families: Mapping[str, Family], refiner: Refiner, search: Search, run: Run
) -> Split | None:
    """Take the two attributes of most partitions apart; None where the rest has too many.

    A recoding of some attributes is looked at only if it is feasible with the others suppressed:
    models are monotone.
    """
    free = {name: family for name, family in families.items() if not isinstance(family, Levels)}
    judged = {
        name: refiner.segments(problem, problem.counts.project((name,)), family)
        for name, family in free.items()
    }
    together = _together(free, judged, refiner)
    if together is None:
        return None
    names = [family.attribute for family in together]
    listed = {name: each for name, each in sorted(judged.items()) if name not in names}
    combined = _combined(problem, listed)
    if combined is None:
        return None
    at_levels = tuple(name for name in families if name not in free)
    if not at_levels:
        return Split(together, combined, 0)
    projected = problem.project(at_levels)
    found = search(projected, run)
    nodes = projected.lattice.up_set(found.minimal)
    levels = [level_recoding(problem.taxonomies, at_levels, node) for node in nodes]
    if not listed:
        return Split(together, levels, found.checked)
    if len(levels) * len(combined) > MOST_COMBINATIONS:
        return None
    both = [{**level, **recoding} for level in levels for recoding in combined]
    return Split(together, _feasible(problem, both), found.checked)


def _together(
    free: Mapping[str, Family], judged: Mapping[str, Segments], refiner: Refiner
) -> tuple[Intervals, ...] | None:
    """The attributes of most partitions, two at the most, one alone where it is not cut exactly."""
    if not refiner.exact:
        ranged = tuple(family for family in free.values() if isinstance(family, Ranges))
        return ranged if len(ranged) == 1 else None
    ranked = sorted(
        (family for family in free.values() if isinstance(family, Intervals)),
        key=lambda family: (
            -judged[family.attribute].count(MOST_COMBINATIONS),
            -len(family.starts),
            family.attribute,
        ),
    )
    return tuple(ranked[:2])


def _combined(problem: Problem, listed: Mapping[str, Segments]) -> list[Partitions] | None:
    """The feasible combinations of all partitions of some attributes; None when too many."""
    found: list[Partitions] = [{}]
    for name, segments in listed.items():
        if len(found) * segments.count(MOST_COMBINATIONS) > MOST_COMBINATIONS:
            return None
        partitions = list(segments.partitions())
        found = _feasible(problem, [{**each, name: own} for each in found for own in partitions])
    return found


def _feasible(problem: Problem, recodings: Sequence[Partitions]) -> list[Partitions]:
    """Those that are feasible with all other attributes suppressed."""
    names = tuple(recodings[0]) if recodings else ()
    counts = problem.counts.project(names)
    return [each for each in recodings if problem.feasible(counts.recode(each))]
