"""Release microdata safely and lose as little information as possible doing it.

Names are imported when they are first used, so that ``import anonymizer`` stays quick.

>>> import pandas as pd
>>> from anonymizer import Anonymizer, Hierarchy, KAnonymity
>>> people = pd.DataFrame(
...     {
...         "age": [23, 27, 35, 38, 41, 46, 52, 59],
...         "sex": ["f", "m", "f", "m", "f", "m", "f", "m"],
...         "diagnosis": ["flu", "flu", "flu", "cold", "cold", "cold", "flu", "cold"],
...     }
... )
>>> anonymizer = Anonymizer(
...     quasi_identifiers={"age": Hierarchy.ranges(widths=[20]), "sex": Hierarchy.suppression()},
...     sensitive="diagnosis",
...     privacy=[KAnonymity(2)],
... )
>>> anonymizer.fit_transform(people).head(3)
        age sex diagnosis
0  [20, 40)   f       flu
1  [20, 40)   m       flu
2  [20, 40)   f       flu
>>> anonymizer.release_.classes
4
"""

from importlib import import_module
from typing import TYPE_CHECKING

from anonymizer.version import __version__

if TYPE_CHECKING:
    from anonymizer.errors import (
        AnonymizerError,
        InputError,
        NotFittedError,
        PolicyBrokenError,
        PolicyUnreachableError,
    )
    from anonymizer.hierarchy import Hierarchy, showing_values
    from anonymizer.masking import Bottleneck, Noise, Pram
    from anonymizer.objectives import (
        AboveShuffled,
        AverageClassSize,
        Discernibility,
        Loss,
        MillerMadow,
        MutualInformation,
        NonUniformEntropy,
        Objective,
        Precision,
    )
    from anonymizer.privacy import (
        AlphaKAnonymity,
        AverageReidentificationRisk,
        BasicBetaLikeness,
        BayesianGain,
        DeltaDisclosure,
        DeltaPresence,
        DifferentialPrivacy,
        DistinctLDiversity,
        EnhancedBetaLikeness,
        EntropyLDiversity,
        HighestReidentificationRisk,
        KAnonymity,
        KMap,
        MeanInformation,
        Population,
        PopulationUniqueness,
        PrivacyModel,
        RecursiveLDiversity,
        TCloseness,
        ValueGain,
    )
    from anonymizer.recoding.classes import Boxes, MergedCells
    from anonymizer.recoding.lattice import Lattice
    from anonymizer.recoding.levels import Fixed, FullDomain
    from anonymizer.recoding.ranges import Cut, VariableRange
    from anonymizer.recoding.recoding import Recoding
    from anonymizer.recoding.safepub import SafePub
    from anonymizer.release.anonymizer import Anonymizer
    from anonymizer.release.release import Release
    from anonymizer.release.study import Study
    from anonymizer.release.verification import Verification, verify_release
    from anonymizer.risk.check import Check, check
    from anonymizer.tables.datasets import load_adult, load_census
    from anonymizer.utility import Quality, measure_quality
    from anonymizer.utility.comparison import Comparison, compare

HOMES = {
    "errors": (
        "AnonymizerError",
        "InputError",
        "NotFittedError",
        "PolicyBrokenError",
        "PolicyUnreachableError",
    ),
    "hierarchy": (
        "Hierarchy",
        "showing_values",
    ),
    "masking": (
        "Bottleneck",
        "Noise",
        "Pram",
    ),
    "objectives": (
        "AboveShuffled",
        "AverageClassSize",
        "Discernibility",
        "Loss",
        "MillerMadow",
        "MutualInformation",
        "NonUniformEntropy",
        "Objective",
        "Precision",
    ),
    "privacy": (
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
        "MeanInformation",
        "Population",
        "PopulationUniqueness",
        "PrivacyModel",
        "RecursiveLDiversity",
        "TCloseness",
        "ValueGain",
    ),
    "recoding.classes": (
        "Boxes",
        "MergedCells",
    ),
    "recoding.lattice": ("Lattice",),
    "recoding.levels": (
        "Fixed",
        "FullDomain",
    ),
    "recoding.ranges": (
        "Cut",
        "VariableRange",
    ),
    "recoding.recoding": ("Recoding",),
    "recoding.safepub": ("SafePub",),
    "release.anonymizer": ("Anonymizer",),
    "release.release": ("Release",),
    "release.study": ("Study",),
    "release.verification": (
        "Verification",
        "verify_release",
    ),
    "risk.check": (
        "Check",
        "check",
    ),
    "tables.datasets": (
        "load_adult",
        "load_census",
    ),
    "utility": (
        "Quality",
        "measure_quality",
    ),
    "utility.comparison": (
        "Comparison",
        "compare",
    ),
}
HOME = {name: home for home, names in HOMES.items() for name in names}

__all__ = [
    "AboveShuffled",
    "AlphaKAnonymity",
    "Anonymizer",
    "AnonymizerError",
    "AverageClassSize",
    "AverageReidentificationRisk",
    "BasicBetaLikeness",
    "BayesianGain",
    "Bottleneck",
    "Boxes",
    "Check",
    "Comparison",
    "Cut",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "Discernibility",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "Fixed",
    "FullDomain",
    "Hierarchy",
    "HighestReidentificationRisk",
    "InputError",
    "KAnonymity",
    "KMap",
    "Lattice",
    "Loss",
    "MeanInformation",
    "MergedCells",
    "MillerMadow",
    "MutualInformation",
    "Noise",
    "NonUniformEntropy",
    "NotFittedError",
    "Objective",
    "PolicyBrokenError",
    "PolicyUnreachableError",
    "Population",
    "PopulationUniqueness",
    "Pram",
    "Precision",
    "PrivacyModel",
    "Quality",
    "Recoding",
    "RecursiveLDiversity",
    "Release",
    "SafePub",
    "Study",
    "TCloseness",
    "ValueGain",
    "VariableRange",
    "Verification",
    "__version__",
    "check",
    "compare",
    "load_adult",
    "load_census",
    "measure_quality",
    "showing_values",
    "verify_release",
]


def __getattr__(name: str) -> object:
    """Import a public name from the module it lives in."""
    if name not in HOME:
        raise AttributeError(f"module 'anonymizer' has no attribute {name!r}")
    value = getattr(import_module(f"anonymizer.{HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
