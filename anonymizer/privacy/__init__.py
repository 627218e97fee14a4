"""Privacy models, and ``MODELS``: what a study file calls each of them."""

from anonymizer.privacy.base import (
    TOLERANCE,
    Mask,
    PrivacyModel,
    Verdict,
    about_each,
    acceptable,
    asked,
    holds,
    models_of,
    require_class_by_class,
    require_monotone,
    require_possible,
    verdicts,
)
from anonymizer.privacy.catalogue import COLUMNS, catalogue, markdown
from anonymizer.privacy.closeness import TCloseness, is_ordered
from anonymizer.privacy.diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
)
from anonymizer.privacy.mean import MeanInformation
from anonymizer.privacy.people import DeltaPresence, KMap, population_of, without_people
from anonymizer.privacy.risk import AverageReidentificationRisk, HighestReidentificationRisk
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
    "COLUMNS",
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
    "asked",
    "catalogue",
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
