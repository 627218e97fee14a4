"""What a recoding finds on counts under a policy: how much it keeps, hides and discloses."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anonymizer.advice.disclosure import Disclosure, disclosure_of
from anonymizer.advice.space import Space
from anonymizer.counts.multidimensional import Regions
from anonymizer.hierarchy import ANY
from anonymizer.information.chance import expected
from anonymizer.information.matrices import CountMatrix
from anonymizer.objectives import MutualInformation
from anonymizer.recoding.evaluation import Evaluation
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.lattice import Node

STARS = 1 / 3
"""Share of the quasi-identifiers from which on hiding them is drastic, if two or more are."""

LOST = 0.75
"""Share of the information from which on losing it is drastic."""

NOISE = 0.05
"""Share of the information above which what is not chance is worth measuring a loss by."""


@dataclass(frozen=True)
class FoundRelease:
    """A result: the level of each quasi-identifier at the best node, and what is released.

    ``hidden`` are the quasi-identifiers of which it says nothing; ``original`` and ``retained`` are
    I(X;W) and I(X~;W) in bits, None without an attribute to be about. ``lost`` is the share of it
    that is lost, chance taken off on both sides, where the objective is information; None where it
    is another one, or nothing but chance was there.
    """

    recoding: str
    hidden: tuple[str, ...]
    classes: int
    released: int
    suppressed: int
    value: float | None
    original: float | None
    retained: float | None
    lost: float | None
    disclosures: tuple[Disclosure, ...]
    levels: Mapping[str, int]


def found_by_levels(space: Space, node: Node, recoding: str) -> FoundRelease:
    """What a node of the lattice releases."""
    candidate = space.candidate(node)
    return _found(
        space,
        space.evaluation(candidate),
        recoding=recoding,
        hidden=space.starred(node),
        value=space.quantity(space.problem.evaluator.objective.score(candidate)),
        levels=dict(zip(space.names, node, strict=True)),
    )


def found_by(recoding: Generalization, space: Space, seed: int, node: Node) -> FoundRelease:
    """What a recoding beyond levels releases; ``node``: the best of levels.

    TimeUpError when the time is up before it is known.
    """
    problem = space.problem
    policy = [model for model in problem.models if not model.name.startswith(CONFINED)]
    chosen, search = recoding.choose(problem.under(policy), seed, space.run)
    return _found(
        space,
        Evaluation.of(problem, chosen),
        recoding=recoding.name,
        hidden=_hidden(chosen, space),
        value=search.value,
        levels=dict(zip(space.names, node, strict=True)),
    )


def is_drastic(hidden: int, of: int) -> bool:
    """Whether so many hidden quasi-identifiers are drastic."""
    return hidden >= 2 and hidden >= STARS * of


CONFINED = "min-records", "max-classes"
"""What the recoding itself adds to the policy."""


def _hidden(chosen: object, space: Space) -> tuple[str, ...]:
    """The quasi-identifiers of several values that are one group, or ``*`` in every class."""
    names = [n for n in space.names if len(space.problem.taxonomies[n].levels[0]) > 1]
    if isinstance(chosen, Regions):
        shown = chosen.listed()
        return tuple(n for n in names if all(labels.get(n) == ANY for labels in shown))
    assert isinstance(chosen, Mapping)
    return tuple(name for name in names if len(chosen[name]) == 1)


def _found(space: Space, evaluation: Evaluation, **known: object) -> FoundRelease:
    """The result with what the classes keep and disclose."""
    classes, about = evaluation.classes, evaluation.about
    original, retained = evaluation.original(about), evaluation.retained(about)
    informs = isinstance(space.problem.objective, MutualInformation)
    return FoundRelease(
        classes=classes.occupied,
        released=int(classes.sizes.sum()),
        suppressed=evaluation.suppressed,
        original=original if about else None,
        retained=retained if about else None,
        lost=_lost(evaluation, original, retained) if informs and about else None,
        disclosures=tuple(disclosure_of(classes.about(name)) for name in classes.sensitive),
        **known,  # type: ignore[arg-type]
    )


def _lost(evaluation: Evaluation, original: float, retained: float) -> float | None:
    """The share of the information that is lost, chance taken off."""
    before, after = (
        sum(chance_of(counts.joint[name]) for name in evaluation.about)
        for counts in (evaluation.raw, evaluation.classes)
    )
    return lost_of(original, before, retained - after)


def lost_of(original: float, chance: float, kept: float) -> float | None:
    """1 - kept / (original - chance), ``kept`` being above chance; None where all is chance.

    Never above 1: classes that tell less than chance would have lost all of it.
    """
    there = original - chance
    return min(1.0, 1 - kept / there) if there > NOISE * original else None


def mostly_lost(original: float, chance: float, kept: float) -> bool:
    """Whether so much of the information is lost that a result is drastic."""
    lost = lost_of(original, chance, kept)
    return lost is not None and lost > LOST


def chance_of(joint: CountMatrix) -> float:
    """The bits that classes of these sizes tell on average of values dealt out at random."""
    sizes = joint.sum(axis=1).astype(np.int64)
    return float(expected(joint.sum(axis=0).tolist())(sizes).sum())
