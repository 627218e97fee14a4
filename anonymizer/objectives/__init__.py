"""What a search maximizes, and ``OBJECTIVES``: the name of each in a study file.

An objective gives a candidate (a node of the lattice with its classes, suppressed or not) or counts
a score, larger being better. To add one, write a class and add it to ``OBJECTIVES``; study files,
reports and the laws in the tests find it there. Imports counts, hierarchies, information and
kernels.
"""

from collections.abc import Sequence
from inspect import signature
from typing import Literal

from anonymizer.errors import InputError, Kinds, suggestion
from anonymizer.objectives.attributes import Loss, NonUniformEntropy, Precision, Tabulated
from anonymizer.objectives.base import Objective, Weights
from anonymizer.objectives.classes import (
    AboveShuffled,
    AverageClassSize,
    Discernibility,
    LeastItpr,
    MillerMadow,
    MutualInformation,
)

__all__ = [
    "AUTOMATIC",
    "OBJECTIVES",
    "AboveShuffled",
    "AverageClassSize",
    "Discernibility",
    "LeastItpr",
    "Loss",
    "MillerMadow",
    "MutualInformation",
    "NonUniformEntropy",
    "Objective",
    "ObjectiveName",
    "Precision",
    "Tabulated",
    "objective_of",
]

ObjectiveName = Literal[
    "mutual-information",
    "miller-madow",
    "above-shuffled",
    "non-uniform-entropy",
    "loss",
    "discernibility",
    "average-class-size",
    "itpr",
    "precision",
]

OBJECTIVES: Kinds[Objective] = Kinds(
    "anonymizer.objectives",
    Objective,
    {
        kind.name: kind
        for kind in (
            MutualInformation,
            MillerMadow,
            AboveShuffled,
            NonUniformEntropy,
            Loss,
            Discernibility,
            AverageClassSize,
            LeastItpr,
            Precision,
        )
    },
)
"""Each objective by its name in a study file; those of installed packages are entry points."""

AUTOMATIC = "automatic"
"""The name that stands for the one that suits policy and recoding."""


def objective_of(
    name: str,
    weights: Weights | None = None,
    targets: str | Sequence[str] | Weights | None = None,
    aggregate: str | None = None,
) -> Objective:
    """Return the objective of a name, with its options.

    ``weights`` are by attribute, 1 for those left out; ``targets`` are attributes that mutual
    information, or an estimate of it, is about, with their weights; ``aggregate`` is of the losses
    of the attributes. InputError when there is no such objective, it has no such option, a weight
    is no number of at least 0, or the aggregate is unknown.
    """
    if name not in OBJECTIVES:
        raise InputError(f"objective {name!r} is unknown{suggestion(name, OBJECTIVES)}")
    options = {"weights": weights, "target": targets, "aggregate": aggregate}
    given = {option: value for option, value in options.items() if value not in (None, {})}
    for option in given:
        if option not in signature(OBJECTIVES[name]).parameters:
            having = [n for n, kind in OBJECTIVES.items() if option in signature(kind).parameters]
            about = "is about whole classes and " if OBJECTIVES[name].weighs is None else ""
            raise InputError(
                f"the objective {name} {about}has no {option}; only {', '.join(having)}"
            )
    return OBJECTIVES[name](**given)
