"""The channels that a release is tried with, from the least distorting to the safest."""

from collections.abc import Iterator, Sequence
from math import ceil, sqrt

from anonymizer.errors import InputError
from anonymizer.masking.candidate import Candidate
from anonymizer.masking.options import RandomRecoding
from anonymizer.masking.part import Part
from anonymizer.privacy import PrivacyModel, require_class_by_class

__all__ = ["ladder_of", "least_records", "require_suitable"]


def ladder_of(
    parts: Sequence[Part],
    names: Sequence[str],
    recoding: RandomRecoding,
    models: Sequence[PrivacyModel],
    records: int,
) -> Iterator[Sequence[Candidate]]:
    """Candidates for every part at a time, in the order they are to be tried.

    ``names``: all quasi-identifiers.

    Raises
    ------
    InputError
        When the recoding does not suit the table or the policy.
    """
    least = least_records(models, records, recoding.min_records)
    if recoding.independent:
        _require_all_masked(parts, names)
    one = recoding.shared(len(parts))
    return zip(*(one.candidates(part, models, least) for part in parts), strict=False)


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
            "pram: epsilon is promised of all quasi-identifiers or of none; those that are kept as "
            "they are disclose everything; draw all of them"
        )


def require_suitable(models: Sequence[PrivacyModel]) -> None:
    """Refuse models that a drawn table cannot answer for."""
    for model in models:
        if model.people is not None:
            require_class_by_class([model], "a random recoding")
