"""Privacy models, and ``MODELS``: what a study file calls each of them."""

from anonymizer.privacy.base import (
    TOLERANCE,
    Mask,
    PrivacyModel,
    Verdict,
    acceptable,
    require_monotone,
    require_possible,
    verdicts,
)
from anonymizer.privacy.information import EntropyLDiversity, TCloseness
from anonymizer.privacy.size import KAnonymity

__all__ = [
    "MODELS",
    "TOLERANCE",
    "EntropyLDiversity",
    "KAnonymity",
    "Mask",
    "PrivacyModel",
    "TCloseness",
    "Verdict",
    "acceptable",
    "require_monotone",
    "require_possible",
    "verdicts",
]

MODELS: dict[str, type[PrivacyModel]] = {
    model.name: model for model in (KAnonymity, EntropyLDiversity, TCloseness)
}
