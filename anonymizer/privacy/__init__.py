"""Privacy models, and ``MODELS``: the name of each in a study file.

A model gets classes (counts by sensitive value) and gives a quantity for each, and which of them
are acceptable: in go counts and a population, out come verdicts. To add one, write a class and add
it to ``MODELS``; study files, the catalogue, reports and the laws in the tests find it there. May
import ``counts``, ``hierarchy``, ``information``, ``tables`` and ``kernels``.
"""

from collections.abc import Iterable
from dataclasses import MISSING, fields

from anonymizer.errors import Kinds
from anonymizer.privacy.base import ABOUT as ABOUT
from anonymizer.privacy.base import TOLERANCE as TOLERANCE
from anonymizer.privacy.base import PrivacyModel as PrivacyModel
from anonymizer.privacy.base import Wording as Wording
from anonymizer.privacy.base import about_each as about_each
from anonymizer.privacy.base import attribute_of as attribute_of
from anonymizer.privacy.base import attributes_of as attributes_of
from anonymizer.privacy.base import for_odds as for_odds
from anonymizer.privacy.base import models_of as models_of
from anonymizer.privacy.base import require_class_by_class as require_class_by_class
from anonymizer.privacy.base import require_monotone as require_monotone
from anonymizer.privacy.base import require_of_one as require_of_one
from anonymizer.privacy.base import require_persons as require_persons
from anonymizer.privacy.closeness import MeanInformation as MeanInformation
from anonymizer.privacy.closeness import TCloseness as TCloseness
from anonymizer.privacy.closeness import is_ordered as is_ordered
from anonymizer.privacy.diversity import DistinctLDiversity as DistinctLDiversity
from anonymizer.privacy.diversity import EntropyLDiversity as EntropyLDiversity
from anonymizer.privacy.diversity import RecursiveLDiversity as RecursiveLDiversity
from anonymizer.privacy.events import CompositionKAnonymity as CompositionKAnonymity
from anonymizer.privacy.events import EventModel as EventModel
from anonymizer.privacy.events import KmAnonymity as KmAnonymity
from anonymizer.privacy.events import records_known as records_known
from anonymizer.privacy.households import (
    HouseholdCompositionKAnonymity as HouseholdCompositionKAnonymity,
)
from anonymizer.privacy.households import HouseholdKAnonymity as HouseholdKAnonymity
from anonymizer.privacy.households import HouseholdRisk as HouseholdRisk
from anonymizer.privacy.itpr import Itpr as Itpr
from anonymizer.privacy.itpr import ReidentificationItpr as ReidentificationItpr
from anonymizer.privacy.judging import Verdict as Verdict
from anonymizer.privacy.judging import acceptable as acceptable
from anonymizer.privacy.judging import holds as holds
from anonymizer.privacy.judging import judged_classes as judged_classes
from anonymizer.privacy.judging import require_possible as require_possible
from anonymizer.privacy.judging import verdicts as verdicts
from anonymizer.privacy.measuring import measures_of as measures_of
from anonymizer.privacy.measuring import takes_sparse as takes_sparse
from anonymizer.privacy.sampled import DifferentialPrivacy as DifferentialPrivacy
from anonymizer.privacy.sampled import IndividualRisk as IndividualRisk
from anonymizer.privacy.sampled import PopulationUniqueness as PopulationUniqueness
from anonymizer.privacy.shares import AlphaKAnonymity as AlphaKAnonymity
from anonymizer.privacy.shares import BasicBetaLikeness as BasicBetaLikeness
from anonymizer.privacy.shares import BayesianGain as BayesianGain
from anonymizer.privacy.shares import DeltaDisclosure as DeltaDisclosure
from anonymizer.privacy.shares import EnhancedBetaLikeness as EnhancedBetaLikeness
from anonymizer.privacy.shares import PointwiseMaximalLeakage as PointwiseMaximalLeakage
from anonymizer.privacy.shares import ValueGain as ValueGain
from anonymizer.privacy.sizes import AverageReidentificationRisk as AverageReidentificationRisk
from anonymizer.privacy.sizes import DeltaPresence as DeltaPresence
from anonymizer.privacy.sizes import HighestReidentificationRisk as HighestReidentificationRisk
from anonymizer.privacy.sizes import KAnonymity as KAnonymity
from anonymizer.privacy.sizes import KMap as KMap
from anonymizer.privacy.sizes import LargestShare as LargestShare
from anonymizer.privacy.sizes import PersonKAnonymity as PersonKAnonymity
from anonymizer.privacy.sizes import over_persons as over_persons
from anonymizer.privacy.sizes import population_of as population_of
from anonymizer.privacy.sizes import without_people as without_people
from anonymizer.tables.population import Margins as Margins
from anonymizer.tables.population import Population as Population

MODELS: Kinds[PrivacyModel] = Kinds(
    "anonymizer.models",
    PrivacyModel,
    {
        model.name: model
        for model in (
            KAnonymity,
            PersonKAnonymity,
            LargestShare,
            KmAnonymity,
            CompositionKAnonymity,
            HouseholdKAnonymity,
            HouseholdCompositionKAnonymity,
            HouseholdRisk,
            DistinctLDiversity,
            EntropyLDiversity,
            RecursiveLDiversity,
            TCloseness,
            AlphaKAnonymity,
            BasicBetaLikeness,
            EnhancedBetaLikeness,
            DeltaDisclosure,
            PointwiseMaximalLeakage,
            BayesianGain,
            ValueGain,
            MeanInformation,
            Itpr,
            KMap,
            DeltaPresence,
            AverageReidentificationRisk,
            HighestReidentificationRisk,
            ReidentificationItpr,
            IndividualRisk,
            PopulationUniqueness,
            DifferentialPrivacy,
        )
    },
)
"""Each model by its name in a study; those of installed packages are entry points."""

COLUMNS = ("in a study", "class", "what holds", "unit", "monotone", "strong", "source")


def markdown(models: Iterable[type[PrivacyModel]]) -> str:
    """Return the table in Markdown."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(_row, models)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(model: type[PrivacyModel]) -> tuple[str, ...]:
    """Parameters that may be left out stand in brackets."""
    own = {each.name: each.default is MISSING for each in fields(model) if each.name not in ABOUT}  # type: ignore[arg-type]
    names = [f"`{n}`" if must or n in model.required else f"[`{n}`]" for n, must in own.items()]
    return (
        f"`{model.name}`: {', '.join(names)}",
        f"`{model.__name__}`",
        model.condition,
        model.unit,
        # A property where the parameters decide; then the text says what they have to be.
        "yes" if model.monotone is True else model.monotone_if or "no",
        "yes" if model.strongly_monotone else "no",
        model.source,
    )
