"""Coordinate ascent: attributes cut in turn, from many starts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic

from anonymizer.counts.counts import Partitions
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.partitions.refine import Refined, Refiner
from anonymizer.recoding.problem.parallel import in_parallel
from anonymizer.recoding.problem.problem import Problem, Run, Search


def refine_by_ascent(
    problem: Problem, attributes: Sequence[str], refiner: Refiner, search: Search, run: Run
) -> Refined:
    """Ascend from every attribute cut alone and from every node of the frontier.

    The best of the local optima. Each start is an ascent of its own, and attributes take their
    turns by name, so that neither the jobs nor the order of the attributes matter. A node may have
    partitions that confined attributes cannot have: these are cut first. Once time is up the rest
    of the starts are taken as they are. Ties: more classes, then the earlier start.
    """
    deadline = run.deadline()
    families = refiner.families(problem, attributes)
    names = sorted(families)
    hidden = {name: problem.taxonomies[name].levels[-1] for name in problem.counts.names}

    def cut(recoding: Partitions, name: str) -> Refined:
        others = {other: p for other, p in recoding.items() if other != name}
        return refiner(problem, families[name], others)

    starts = [cut(hidden, name) for name in names]
    searched = search(problem, run)
    nodes = [
        refiner.refined(
            problem.counts, level_recoding(problem.taxonomies, problem.counts.names, node)
        )
        for node in searched.minimal
    ]
    confined = [name for name in names if families[name].confined]
    tasks = [*((start, ()) for start in starts), *((node, confined) for node in nodes)]
    climbed = in_parallel(partial(_climbed, cut, names, deadline), tasks, run.n_jobs)
    best = Refined.among([each for each in climbed if each is not None])
    return replace(best, checked=best.checked + searched.checked)


def _climbed(
    cut: Callable[[Partitions, str], Refined],
    names: Sequence[str],
    deadline: float,
    start: Refined,
    confined: Sequence[str],
) -> Refined | None:
    """Cut every attribute in turn, the others held, until none gains; the confined ones first."""
    if confined and monotonic() > deadline:
        return None
    best, cuts, gained = start, start.refinements + len(confined), True
    for name in confined:  # whether that gains or not
        best = cut(best.recoding, name)
    while gained:
        gained = False
        for name in names:
            if monotonic() > deadline:
                break
            refined = cut(best.recoding, name)
            cuts += 1
            if refined.value > best.value + TOLERANCE:
                best, gained = refined, True
    return replace(best, refinements=cuts, checked=start.checked)
