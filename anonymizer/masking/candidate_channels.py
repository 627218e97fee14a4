"""The channels that a release is tried with, from the least distorting to the safest."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, sqrt

from anonymizer.errors import InputError
from anonymizer.masking.bottleneck import bottleneck
from anonymizer.masking.candidate import Candidate
from anonymizer.masking.noise import noise
from anonymizer.masking.options import Masking
from anonymizer.masking.part import Part
from anonymizer.masking.pram import pram
from anonymizer.privacy import PrivacyModel, require_class_by_class

__all__ = ["ladder_of", "least_records", "require_suitable"]


def ladder_of(
    parts: Sequence[Part],
    names: Sequence[str],
    masking: Masking,
    models: Sequence[PrivacyModel],
    records: int,
) -> Iterator[Sequence[Candidate]]:
    """Candidates for every part at a time, in the order they are to be tried.

    ``names``: all quasi-identifiers.

    Raises
    ------
    InputError
        When the masking does not suit the table or the policy.
    """
    least = least_records(models, records, masking.min_records)
    if masking.epsilon is not None:
        _require_all_masked(parts, names)
        # What is told of a record's attributes one by one adds up (sequential composition).
        masking = replace(masking, epsilon=masking.epsilon / len(parts))
    by_method = {
        "pram": lambda part: pram(part, masking, models, least),
        "noise": lambda part: noise(part, masking.grid or {}, least),
        "bottleneck": lambda part: bottleneck(part, masking.rate, models, least),
    }
    return zip(*map(by_method[masking.method], parts), strict=False)


def least_records(models: Sequence[PrivacyModel], records: int, stated: int | None = None) -> int:
    """Records that every symbol is expected for at least.

    What the policy asks of class sizes, and enough that a record more or less hardly matters: a
    quarter of the square root of all, or the square root of what is stated on top of that.
    """
    enough = ceil(sqrt(records) / 4) if stated is None else stated + ceil(sqrt(stated))
    return max([enough, 1, *(int(getattr(model, "k", 1)) for model in models)])


def _require_all_masked(parts: Sequence[Part], names: Sequence[str]) -> None:
    """Refuse to promise epsilon beside attributes that are released as they are."""
    masked = {name for part in parts for name in part.names}
    if masked != {*names} or not all(len(part.blocks) == 1 for part in parts):
        raise InputError(
            "masking: epsilon is promised of all quasi-identifiers or of none; those that are kept "
            "as they are tell everything; mask all of them"
        )


def require_suitable(models: Sequence[PrivacyModel]) -> None:
    """Refuse models that a drawn table cannot answer for."""
    for model in models:
        if model.people is not None:
            require_class_by_class([model], "a masking")
