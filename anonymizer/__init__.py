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

import logging
from importlib import import_module
from typing import TYPE_CHECKING

from anonymizer.version import __version__ as __version__

if TYPE_CHECKING:  # the same as HOMES, for type checkers
    # isort: off
    from anonymizer.advice import Advice as Advice, advise as advise
    from anonymizer.errors import (
        AnonymizerError as AnonymizerError,
        InputError as InputError,
        NotFittedError as NotFittedError,
        PolicyBrokenError as PolicyBrokenError,
        PolicyUnreachableError as PolicyUnreachableError,
    )
    from anonymizer.hierarchy import Hierarchy as Hierarchy, showing_values as showing_values
    from anonymizer.masking import (
        Bottleneck as Bottleneck,
        Noise as Noise,
        Pram as Pram,
        Shift as Shift,
    )
    from anonymizer.objectives import (
        AboveShuffled as AboveShuffled,
        AverageClassSize as AverageClassSize,
        Discernibility as Discernibility,
        LeastItpr as LeastItpr,
        Loss as Loss,
        MillerMadow as MillerMadow,
        MutualInformation as MutualInformation,
        NonUniformEntropy as NonUniformEntropy,
        Objective as Objective,
        Precision as Precision,
    )
    from anonymizer.privacy import (
        AlphaKAnonymity as AlphaKAnonymity,
        AverageReidentificationRisk as AverageReidentificationRisk,
        BasicBetaLikeness as BasicBetaLikeness,
        BayesianGain as BayesianGain,
        CompositionKAnonymity as CompositionKAnonymity,
        DeltaDisclosure as DeltaDisclosure,
        DeltaPresence as DeltaPresence,
        DifferentialPrivacy as DifferentialPrivacy,
        DistinctLDiversity as DistinctLDiversity,
        EnhancedBetaLikeness as EnhancedBetaLikeness,
        EntropyLDiversity as EntropyLDiversity,
        HighestReidentificationRisk as HighestReidentificationRisk,
        HouseholdCompositionKAnonymity as HouseholdCompositionKAnonymity,
        HouseholdKAnonymity as HouseholdKAnonymity,
        HouseholdRisk as HouseholdRisk,
        IndividualRisk as IndividualRisk,
        Itpr as Itpr,
        KAnonymity as KAnonymity,
        KMap as KMap,
        KmAnonymity as KmAnonymity,
        LargestShare as LargestShare,
        Margins as Margins,
        MeanInformation as MeanInformation,
        PersonKAnonymity as PersonKAnonymity,
        PointwiseMaximalLeakage as PointwiseMaximalLeakage,
        Population as Population,
        PopulationUniqueness as PopulationUniqueness,
        PrivacyModel as PrivacyModel,
        RecursiveLDiversity as RecursiveLDiversity,
        ReidentificationItpr as ReidentificationItpr,
        TCloseness as TCloseness,
        ValueGain as ValueGain,
    )
    from anonymizer.profiling import (
        ColumnProfile as ColumnProfile,
        TableProfile as TableProfile,
        profile as profile,
    )
    from anonymizer.recoding.best import Best as Best
    from anonymizer.recoding.classes import Boxes as Boxes, MergedCells as MergedCells
    from anonymizer.recoding.lattice import Lattice as Lattice
    from anonymizer.recoding.levels import Fixed as Fixed, FullDomain as FullDomain
    from anonymizer.recoding.ranges import Cut as Cut, VariableRange as VariableRange
    from anonymizer.recoding.recoding import Recoding as Recoding
    from anonymizer.recoding.safepub import SafePub as SafePub
    from anonymizer.release.anonymizer import Anonymizer as Anonymizer
    from anonymizer.release.plan import Plan as Plan
    from anonymizer.release.pseudonyms import PseudonymKey as PseudonymKey
    from anonymizer.release.release import Release as Release
    from anonymizer.release.study import Study as Study
    from anonymizer.release.verification.verification import (
        Verification as Verification,
        verify_release as verify_release,
    )
    from anonymizer.risk.check import Check as Check, check as check
    from anonymizer.tables.datasets import load_adult as load_adult, load_census as load_census
    from anonymizer.utility import Quality as Quality, measure_quality as measure_quality
    from anonymizer.utility.comparison import Comparison as Comparison, compare as compare
    from anonymizer.utility.figures import Figures as Figures
    from anonymizer.utility.schemes import (
        SchemeComparison as SchemeComparison,
        compare_schemes as compare_schemes,
        figures as figures,
    )

# Records of the log go where a program that uses the package sends them, and else nowhere.
logging.getLogger(__name__).addHandler(logging.NullHandler())

HOMES = {
    "advice": "Advice advise",
    "errors": "AnonymizerError InputError NotFittedError PolicyBrokenError PolicyUnreachableError",
    "hierarchy": "Hierarchy showing_values",
    "masking": "Bottleneck Noise Pram Shift",
    "objectives": (
        "AboveShuffled AverageClassSize Discernibility LeastItpr Loss MillerMadow "
        "MutualInformation NonUniformEntropy Objective Precision"
    ),
    "privacy": (
        "AlphaKAnonymity AverageReidentificationRisk BasicBetaLikeness BayesianGain "
        "CompositionKAnonymity DeltaDisclosure DeltaPresence DifferentialPrivacy "
        "DistinctLDiversity EnhancedBetaLikeness EntropyLDiversity "
        "HighestReidentificationRisk HouseholdCompositionKAnonymity HouseholdKAnonymity "
        "HouseholdRisk IndividualRisk Itpr "
        "KAnonymity KMap KmAnonymity LargestShare Margins MeanInformation PersonKAnonymity "
        "PointwiseMaximalLeakage Population PopulationUniqueness PrivacyModel "
        "RecursiveLDiversity ReidentificationItpr TCloseness ValueGain"
    ),
    "profiling": "ColumnProfile TableProfile profile",
    "recoding.best": "Best",
    "recoding.classes": "Boxes MergedCells",
    "recoding.lattice": "Lattice",
    "recoding.levels": "Fixed FullDomain",
    "recoding.ranges": "Cut VariableRange",
    "recoding.recoding": "Recoding",
    "recoding.safepub": "SafePub",
    "release.anonymizer": "Anonymizer",
    "release.plan": "Plan",
    "release.pseudonyms": "PseudonymKey",
    "release.release": "Release",
    "release.study": "Study",
    "release.verification.verification": "Verification verify_release",
    "risk.check": "Check check",
    "tables.datasets": "load_adult load_census",
    "utility": "Quality measure_quality",
    "utility.comparison": "Comparison compare",
    "utility.figures": "Figures",
    "utility.schemes": "SchemeComparison compare_schemes figures",
}
"""The public names by the module that each is imported from."""

HOME = {name: home for home, names in HOMES.items() for name in names.split()}

__all__ = sorted([*HOME, "__version__"])


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
