"""The recodings, by the names that studies and estimators have for them."""

from collections.abc import Mapping
from typing import Literal

from anonymizer.errors import InputError, require_one_of
from anonymizer.masking import Bottleneck, Noise, Pram
from anonymizer.recoding.classes import Boxes, MergedCells
from anonymizer.recoding.levels import Fixed, FullDomain
from anonymizer.recoding.ranges import Cut, VariableRange
from anonymizer.recoding.recoding import Recoding
from anonymizer.recoding.safepub import SafePub

RecodingName = Literal[
    "full-domain",
    "variable-range",
    "cut",
    "boxes",
    "merged-cells",
    "fixed",
    "safepub",
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
        Pram,
        Noise,
        Bottleneck,
    )
}
"""What a study file calls each recoding; the first is the default."""


def recoding_of(given: object) -> Recoding:
    """A recoding, or that of a name with its defaults.

    Raises InputError when it is neither, or one that has no defaults.
    """
    if isinstance(given, Recoding):
        return given
    require_one_of("recoding", given, RECODINGS)
    kind = RECODINGS[str(given)]
    try:
        return kind()
    except TypeError:
        raise InputError(
            f"recoding = {given!r} needs levels; give {kind.__name__}(levels={{...}})"
        ) from None
