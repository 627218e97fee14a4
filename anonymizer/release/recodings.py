"""The recodings, by the names that studies and estimators have for them."""

from collections.abc import Mapping
from typing import Literal

from anonymizer.errors import InputError, did_you_mean, shown
from anonymizer.masking import Bottleneck, Noise, Pram
from anonymizer.recoding.classes import Boxes, MergedCells
from anonymizer.recoding.levels import Fixed, FullDomain
from anonymizer.recoding.ranges import Cut, VariableRange
from anonymizer.recoding.recoding import Recoding
from anonymizer.recoding.safepub import SafePub
from anonymizer.recoding.specialization import Specialization

RecodingName = Literal[
    "full-domain",
    "variable-range",
    "cut",
    "boxes",
    "merged-cells",
    "fixed",
    "safepub",
    "specialization",
    "pram",
    "noise",
    "bottleneck",
]

RECODINGS: Mapping[str, type[Recoding]] = {
    kind.name: kind
    for kind in (
        FullDomain,
        VariableRange,
        Cut,
        Boxes,
        MergedCells,
        Fixed,
        SafePub,
        Specialization,
        Pram,
        Noise,
        Bottleneck,
    )
}
"""What a study file calls each recoding; the first is the default."""


def recoding_of(given: object) -> Recoding:
    """A recoding, or that of a name with its defaults.

    Raises
    ------
    InputError
        When it is neither, or one that has no defaults.
    """
    if isinstance(given, Recoding):
        return given
    if not isinstance(given, str) or given not in RECODINGS:
        close = did_you_mean(given, RECODINGS) if isinstance(given, str) else ""
        hint = close or f"; known are {', '.join(RECODINGS)}"
        raise InputError(f"recoding = {shown(given)} is unknown{hint}")
    kind = RECODINGS[given]
    try:
        return kind()
    except TypeError:
        raise InputError(
            f"recoding = {given!r} needs levels; give {kind.__name__}(levels={{...}})"
        ) from None
