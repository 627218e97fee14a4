"""Coordinate ascent: attributes cut in turn, from many starts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic

from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.partitions.families import Family
from anonymizer.recoding.partitions.refine import Refined, Refiner
from anonymizer.recoding.problem.parallel import in_parallel
from anonymizer.recoding.problem.problem import Problem, Run

__all__ = ["ascend"]


def ascend(
    problem: Problem,
    families: Mapping[str, Family],
    refiner: Refiner,
    starts: Sequence[Refined],
    nodes: Sequence[Refined],
    run: Run,
    deadline: float,
) -> Refined:
    """Cut the attributes in turn from each start, and keep the best of the local optima.

    Each start is an ascent of its own, and attributes take their turns by name, so that neither
    the jobs nor the order of the attributes matter. ``nodes`` are starts too, of which partitions
    may not be ones that the attributes can have. Once time is up the rest of the starts are taken
    as they are. Ties: more classes, then the earlier start.
    """
    climb = partial(_ascended, problem, families, refiner, deadline)
    confined = [name for name, family in families.items() if family.confined]
    tasks = [*((start, ()) for start in starts), *((node, confined) for node in nodes)]
    return Refined.among(
        [each for each in in_parallel(climb, tasks, run.n_jobs) if each is not None]
    )


def _ascended(
    problem: Problem,
    families: Mapping[str, Family],
    refiner: Refiner,
    deadline: float,
    start: Refined,
    confined: Sequence[str],
) -> Refined | None:
    """Cut every attribute in turn with the others held, until none gains.

    Those that are confined are cut first, whether that gains or not.
    """
    if confined and monotonic() > deadline:
        return None
    best, cut = start, start.refinements + len(confined)
    for name in sorted(confined):
        best = _cut_again(problem, families[name], refiner, best)
    gained = True
    while gained:
        gained = False
        for name in sorted(families):
            if monotonic() > deadline:
                break
            refined = _cut_again(problem, families[name], refiner, best)
            cut += 1
            if refined.value > best.value + TOLERANCE:
                best, gained = refined, True
    return replace(best, refinements=cut, checked=start.checked)


def _cut_again(problem: Problem, family: Family, refiner: Refiner, best: Refined) -> Refined:
    """Cut one attribute of a recoding, the others held."""
    held = {name: p for name, p in best.recoding.items() if name != family.attribute}
    return refiner(problem, family, held)
