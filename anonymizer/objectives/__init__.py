"""What a search maximises, and what a study file calls it."""

from collections.abc import Mapping

from anonymizer.errors import InputError, did_you_mean
from anonymizer.objectives.attributes import Loss, NonUniformEntropy, Precision, Tabulated
from anonymizer.objectives.base import Objective, Weights
from anonymizer.objectives.classes import AverageClassSize, Discernibility, MutualInformation
from anonymizer.objectives.estimates import AboveShuffled, MillerMadow

__all__ = [
    "OBJECTIVES",
    "AboveShuffled",
    "AverageClassSize",
    "Discernibility",
    "Loss",
    "MillerMadow",
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
        MillerMadow,
        AboveShuffled,
        NonUniformEntropy,
        Loss,
        Discernibility,
        AverageClassSize,
        Precision,
    )
}
"""What a study file calls each objective; the first is the default."""

_INFORMING = [name for name, kind in OBJECTIVES.items() if issubclass(kind, MutualInformation)]


def objective_of(
    name: str,
    weights: Weights | None = None,
    targets: Weights | None = None,
    aggregate: str | None = None,
) -> Objective:
    """The objective of a name with its options.

    Parameters
    ----------
    weights
        By attribute; 1 for those left out.
    targets
        Attributes that mutual information, or an estimate of it, is about, with their weights.
    aggregate
        Of the losses of the attributes.

    Raises
    ------
    InputError
        When there is no such objective, it has no such option, a weight is no number of at least 0,
        or the aggregate is unknown.
    """
    if name not in OBJECTIVES:
        hint = did_you_mean(str(name), OBJECTIVES) or f"; known are {', '.join(OBJECTIVES)}"
        raise InputError(f"objective {name!r} is unknown{hint}")
    kind = OBJECTIVES[name]
    options: dict[str, object] = {}
    if weights:
        if kind.weighs is None:
            raise InputError(f"the objective {name} is about whole classes and has no weights")
        options["weights"] = weights
    if targets:
        if not issubclass(kind, MutualInformation):
            raise InputError(f"the objective {name} has no target; only {', '.join(_INFORMING)}")
        options["targets"] = targets
    if aggregate is not None:
        if not issubclass(kind, Loss):
            raise InputError(f"the objective {name} has no aggregate; only {Loss.name} has one")
        options["aggregate"] = aggregate
    return kind(**options)
