"""What a search maximises, and what a study file calls it."""

from collections.abc import Mapping

from anonymizer.errors import InputError, did_you_mean
from anonymizer.objectives.attributes import Loss, NonUniformEntropy, Precision, Tabulated
from anonymizer.objectives.base import Objective, Weights
from anonymizer.objectives.classes import AverageClassSize, Discernibility, MutualInformation

__all__ = [
    "OBJECTIVES",
    "AverageClassSize",
    "Discernibility",
    "Loss",
    "MutualInformation",
    "NonUniformEntropy",
    "Objective",
    "Precision",
    "Tabulated",
    "objective_of",
]

OBJECTIVES: Mapping[str, type[Objective]] = {
    kind.name: kind
    for kind in (
        MutualInformation,
        NonUniformEntropy,
        Loss,
        Discernibility,
        AverageClassSize,
        Precision,
    )
}
"""What a study file calls each objective; the first is the default."""


def objective_of(
    name: str, weights: Weights | None = None, targets: Weights | None = None
) -> Objective:
    """The objective of a name and weights, or targets.

    Raises
    ------
    InputError
        When there is no such objective, it has no weights or targets, or a weight is no number of
        at least 0.
    """
    if name not in OBJECTIVES:
        hint = did_you_mean(str(name), OBJECTIVES) or f"; known are {', '.join(OBJECTIVES)}"
        raise InputError(f"objective {name!r} is unknown{hint}")
    kind = OBJECTIVES[name]
    if targets:
        if kind is not MutualInformation:
            raise InputError(f"targets are for the objective {MutualInformation.name}, not {name}")
        return MutualInformation(weights or {}, targets)
    if not weights:
        return kind()
    if kind.weighs is None:
        raise InputError(f"the objective {name} is about whole classes and has no weights")
    return kind(weights=weights)  # type: ignore[call-arg]
