"""Privacy models, and ``MODELS``: the name of each in a study file.

A model gets classes (counts by sensitive value) and gives a quantity for each, and which of them
are acceptable. To add one, write a class and add it to ``MODELS``; study files, the catalogue,
reports and the laws in the tests find it there. Imports counts, hierarchies, information and
kernels.
"""

from anonymizer.kernels.arrays import Mask
from anonymizer.privacy.base import (
    TOLERANCE,
    PrivacyModel,
    Verdict,
    about_each,
    acceptable,
    attributes_of,
    holds,
    models_of,
    require_class_by_class,
    require_monotone,
    require_possible,
    verdicts,
)
from anonymizer.privacy.catalogue import markdown
from anonymizer.privacy.closeness import MeanInformation, TCloseness, is_ordered
from anonymizer.privacy.diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
)
from anonymizer.privacy.population_models import (
    AverageReidentificationRisk,
    DeltaPresence,
    HighestReidentificationRisk,
    KMap,
    population_of,
    without_people,
)
from anonymizer.privacy.sampled import DifferentialPrivacy, PopulationUniqueness
from anonymizer.privacy.shares import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    BayesianGain,
    DeltaDisclosure,
    EnhancedBetaLikeness,
    ValueGain,
)
from anonymizer.privacy.size import KAnonymity
from anonymizer.tables.population import Population

__all__ = [
    "MODELS",
    "TOLERANCE",
    "AlphaKAnonymity",
    "AverageReidentificationRisk",
    "BasicBetaLikeness",
    "BayesianGain",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "HighestReidentificationRisk",
    "KAnonymity",
    "KMap",
    "Mask",
    "MeanInformation",
    "Population",
    "PopulationUniqueness",
    "PrivacyModel",
    "RecursiveLDiversity",
    "TCloseness",
    "ValueGain",
    "Verdict",
    "about_each",
    "acceptable",
    "attributes_of",
    "holds",
    "is_ordered",
    "markdown",
    "models_of",
    "population_of",
    "require_class_by_class",
    "require_monotone",
    "require_possible",
    "verdicts",
    "without_people",
]

MODELS: dict[str, type[PrivacyModel]] = {
    model.name: model
    for model in (
        KAnonymity,
        DistinctLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
        TCloseness,
        AlphaKAnonymity,
        BasicBetaLikeness,
        EnhancedBetaLikeness,
        DeltaDisclosure,
        BayesianGain,
        ValueGain,
        MeanInformation,
        KMap,
        DeltaPresence,
        AverageReidentificationRisk,
        HighestReidentificationRisk,
        PopulationUniqueness,
        DifferentialPrivacy,
    )
}
