"""Coordinate ascent: ordered attributes cut in turn, from many starts."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from anonymizer.privacy import TOLERANCE
from anonymizer.search.problem import Problem, in_parallel
from anonymizer.search.refiner import Refined, Refiner
from anonymizer.search.segments import RangeOptions

__all__ = ["ascend"]


def ascend(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    starts: Sequence[Refined],
    n_jobs: int | None = None,
) -> Refined:
    """Cut the attributes in turn from each start, and keep the best of the local optima.

    Each start is an ascent of its own, and attributes take their turns by name, so that neither
    the jobs nor the order of the attributes matter. Ties: more classes, then the earlier start.
    """
    climb = partial(_ascended, problem, sorted(attributes), refiner)
    return Refined.among(in_parallel(climb, [(start,) for start in starts], n_jobs))


def _ascended(
    problem: Problem, attributes: Sequence[str], refiner: Refiner, start: Refined
) -> Refined:
    """Cut every attribute in turn with the others held, until none gains.

    Where ranges are confined, the levels of the start may not be, so that in the first round
    every attribute is cut whether that gains or not.
    """
    best, cut = start, start.refinements
    gained, forced = True, refiner.options != RangeOptions()
    while gained:
        gained = False
        for attribute in attributes:
            held = {name: p for name, p in best.recoding.items() if name != attribute}
            refined = refiner(problem, attribute, held)
            cut += 1
            if forced or refined.value > best.value + TOLERANCE:
                best, gained = refined, True
        forced = False
    return replace(best, refinements=cut, checked=start.checked)
