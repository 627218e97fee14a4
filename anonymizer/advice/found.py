"""What a recoding finds on counts under a policy: how much it keeps, hides and discloses."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anonymizer.advice.space import Space
from anonymizer.counts.counts import Classes
from anonymizer.counts.multidimensional import Regions
from anonymizer.hierarchy import ANY
from anonymizer.information.chance import expected
from anonymizer.information.matrices import CountMatrix, largest
from anonymizer.objectives import MutualInformation
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.apply import Evaluation
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.lattice import Node
from anonymizer.release.results import Result
from anonymizer.release.warnings import NEARLY

STARS = 1 / 3
"""Share of the quasi-identifiers from which on hiding them is drastic, if two or more are."""

LOST = 0.75
"""Share of the information from which on losing it is drastic."""

NOISE = 0.05
"""Share of the information above which what is not chance is worth measuring a loss by."""


@dataclass(frozen=True)
class Disclosure(Result):
    """Numbers of records whose sensitive value is known, or guessed, from their class.

    Parameters
    ----------
    attribute
        The sensitive attribute.
    records
        Records released, but for those whose missing value counts as nothing.
    sure
        Records in classes of a single value: it is known of each of them.
    guessed
        Records whose value makes up ``NEARLY`` (80 %) or more of their class, those of ``sure``
        among them: guessing it is right for each of them.
    worst
        The largest share of a value in a class: nobody's value is guessed with a larger
        probability.
    prior
        The largest share of a value among these records: what is guessed without a class.
    """

    attribute: str
    records: int
    sure: int
    guessed: int
    worst: float
    prior: float


def disclosure_of(classes: Classes) -> Disclosure:
    """Count what classes disclose of their sensitive attribute.

    A class in which nobody has a value discloses nothing, nor does one without a record, which
    only a population has.
    """
    assert classes.attribute is not None
    joint, sizes = classes.known.joint, classes.known.sizes
    joint, sizes = joint[sizes > 0], sizes[sizes > 0]
    if not len(sizes):
        return Disclosure(classes.attribute, 0, 0, 0, 0.0, 0.0)
    most = largest(joint)
    nearly = most >= NEARLY * sizes - TOLERANCE
    return Disclosure(
        classes.attribute,
        records=int(sizes.sum()),
        sure=int(sizes[most == sizes].sum()),
        guessed=int(most[nearly].sum()),
        worst=float((most / sizes).max()),
        prior=float(np.max(joint.sum(axis=0)) / sizes.sum()),
    )


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
    """Evaluate a node of the lattice."""
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
    """Choose a recoding beyond levels and evaluate it; ``node``: the best of levels.

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
    """Whether a third of the quasi-identifiers, and two or more, are hidden."""
    return hidden >= 2 and hidden >= STARS * of


CONFINED = "min-records", "max-classes"
"""What the recoding itself adds to the policy."""


def _hidden(chosen: object, space: Space) -> tuple[str, ...]:
    """Find the quasi-identifiers of several values that are one group, or ``*`` in every class."""
    names = [n for n in space.names if len(space.problem.taxonomies[n].levels[0]) > 1]
    if isinstance(chosen, Regions):
        shown = chosen.listed()
        return tuple(n for n in names if all(labels.get(n) == ANY for labels in shown))
    assert isinstance(chosen, Mapping)
    return tuple(name for name in names if len(chosen[name]) == 1)


def _found(space: Space, evaluation: Evaluation, **known: object) -> FoundRelease:
    """Return the result with what the classes keep and disclose."""
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
    """Compute the share of the information that is lost, chance taken off."""
    before, after = (
        sum(chance_of(counts.joint[name]) for name in evaluation.about)
        for counts in (evaluation.raw, evaluation.classes)
    )
    return lost_of(original, before, retained - after)


def lost_of(original: float, chance: float, kept: float) -> float | None:
    """Return 1 - kept / (original - chance), ``kept`` being above chance; None where all is chance.

    Never above 1: classes that tell less than chance would have lost all of it.
    """
    there = original - chance
    return min(1.0, 1 - kept / there) if there > NOISE * original else None


def mostly_lost(original: float, chance: float, kept: float) -> bool:
    """Whether more than ``LOST`` of the information is lost, chance taken off."""
    lost = lost_of(original, chance, kept)
    return lost is not None and lost > LOST


def chance_of(joint: CountMatrix) -> float:
    """Return the bits that classes of these sizes tell on average of values dealt out at random."""
    sizes = joint.sum(axis=1).astype(np.int64)
    return float(expected(joint.sum(axis=0).tolist())(sizes).sum())
