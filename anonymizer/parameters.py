"""Checks of what a caller states: names, choices and numbers, each with a message that mends."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeVar

from anonymizer.errors import InputError, did_you_mean, shown

__all__ = [
    "column_names",
    "digest_of",
    "function_of",
    "is_whole",
    "jobs_of",
    "name_of",
    "require_one_of",
    "whole_seed",
]

T = TypeVar("T")


def column_names(what: str, stated: object) -> tuple[str, ...]:
    """Names of columns: one, or a list of them."""
    if isinstance(stated, str):
        return (stated,)
    if isinstance(stated, Sequence):
        return tuple(stated)
    raise InputError(f"{what} must name a column or a list of columns, not {shown(stated)}")


def function_of(what: str, stated: str | T, known: Mapping[str, T]) -> T:
    """The function that a name stands for, or the function itself."""
    if callable(stated):
        return stated
    require_one_of(what, stated, known)
    return known[str(stated)]


def name_of(stated: str | Callable[..., object]) -> str:
    """What a function goes by in a manifest."""
    return stated if isinstance(stated, str) else getattr(stated, "__name__", repr(stated))


def require_one_of(what: str, stated: object, known: Mapping[str, Any] | Sequence[str]) -> None:
    """Require that what is stated is one of the names that are known."""
    if not isinstance(stated, str) or stated not in known:
        close = did_you_mean(stated, known) if isinstance(stated, str) else ""
        hint = close or f"; known are {', '.join(known)}"
        raise InputError(f"{what} = {shown(stated)} is unknown{hint}")


def digest_of(asked: Mapping[str, object]) -> str:
    """SHA-256 of what was asked for, whatever the order it was stated in."""
    text = json.dumps(asked, sort_keys=True, default=str)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def is_whole(value: object, least: int | None = None) -> bool:
    """Whether a value is a whole number, of at least so much."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and (least is None or int(value) >= least)  # type: ignore[call-overload]


def whole_seed(seed: int) -> int:
    """A seed: a whole number of at least 0."""
    if not is_whole(seed, least=0):
        raise InputError(f"seed = {shown(seed)} must be a whole number of at least 0")
    return int(seed)


def jobs_of(jobs: int | None) -> int | None:
    """How much is done at once, as joblib has it."""
    if jobs is not None and (not is_whole(jobs) or jobs == 0):
        raise InputError(f"n_jobs = {shown(jobs)} must be a whole number but 0; -1 takes all cores")
    return jobs
