"""The recodings, by the names that studies and estimators have for them."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Literal

from anonymizer.errors import InputError, require_one_of
from anonymizer.masking import Bottleneck, Noise, Pram
from anonymizer.recoding.best import Best
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
    "best",
    "safepub",
    "pram",
    "noise",
    "bottleneck",
]
"""The names of the recodings of the table, for type checkers."""

RECODINGS: Mapping[str, type[Recoding]] = {
    kind.name: kind
    for kind in (
        FullDomain,
        VariableRange,
        Cut,
        Boxes,
        MergedCells,
        Fixed,
        Best,
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
    if isinstance(given, type) and issubclass(given, Recoding):
        raise InputError(f"recoding = {given.__name__} is a class; give {_call(given)}")
    require_one_of("recoding", given, RECODINGS)
    kind = RECODINGS[str(given)]
    if needed := _needed(kind):
        raise InputError(f"recoding = {given!r} needs {' and '.join(needed)}; give {_call(kind)}")
    return kind()


def _needed(kind: type[Recoding]) -> list[str]:
    """The options that have no default."""
    return [
        each.name
        for each in fields(kind)  # type: ignore[arg-type]
        if each.default is MISSING and each.default_factory is MISSING
    ]


def _call(kind: type[Recoding]) -> str:
    """How one is made, with the options that it needs."""
    return f"{kind.__name__}({', '.join(f'{name}=...' for name in _needed(kind))})"
