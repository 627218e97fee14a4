"""The policy and the objective that advice is searched by."""

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.objectives import MutualInformation, Objective
from anonymizer.privacy import AverageReidentificationRisk, KAnonymity, PrivacyModel
from anonymizer.recoding.problem.options import Bounds


@dataclass(frozen=True)
class MinRecords(KAnonymity):
    """The option ``min-records``, which the search keeps to as if it were a model."""

    name = "min-records"


@dataclass(frozen=True)
class MaxClasses(AverageReidentificationRisk):
    """The option ``max-classes``: the number of classes over that of records is their risk."""

    name = "max-classes"


def confined(
    models: Sequence[PrivacyModel], bounds: Bounds, records: int
) -> tuple[PrivacyModel, ...]:
    """The policy with the bounds that recodings are confined to, by their names in a study."""
    found = list(models)
    if bounds.min_records is not None:
        found.append(MinRecords(int(bounds.min_records)))
    if bounds.max_classes is not None and bounds.max_classes < records:
        found.append(MaxClasses((int(bounds.max_classes) + 0.5) / records))
    return tuple(found)


def objective_for(objective: Objective) -> Objective:
    """The objective, or plain information about the same where it may rise under generalization.

    Then all nodes of a lattice would have to be scored for each change.
    """
    if objective.falls or not isinstance(objective, MutualInformation):
        return objective
    return MutualInformation(target=objective.target, weights=objective.weights)
