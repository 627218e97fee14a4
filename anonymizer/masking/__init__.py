"""Releases drawn at random: channels that a policy lets through, and tables drawn from them."""

from anonymizer.masking.alone import masked_from, require_alone
from anonymizer.masking.options import Masking, masking_of
from anonymizer.masking.plan import DISTORTION, MaskedPlan, mask
from anonymizer.masking.told import Disclosed, Masked, MaskedPart

__all__ = [
    "DISTORTION",
    "Disclosed",
    "Masked",
    "MaskedPart",
    "MaskedPlan",
    "Masking",
    "mask",
    "masked_from",
    "masking_of",
    "require_alone",
]
