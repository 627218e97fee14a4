"""Sweeps: a policy under several values of its parameters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal, InvalidOperation
from itertools import product
from math import prod
from numbers import Real

from anonymizer.errors import InputError, suggestion
from anonymizer.privacy import PrivacyModel

SweepPoint = Mapping[str, float]
"""The value of each parameter that is swept."""
Sweep = Mapping[str, Sequence[float]]
"""The values of each of them."""

MOST_FITS = 200
"""Fits beyond are refused before the first one begins."""


def sweep_of(texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """The values that texts such as ``t=0.3:0.9:0.1`` stand for: from, to and step, ends included.

    Counted in decimals, so that these are seven values, 0.3 and 0.9 among them.

    >>> sweep_of(["t=0.3:0.5:0.1", "k=2:10:4"])
    {'t': (0.3, 0.4, 0.5), 'k': (2, 6, 10)}

    Raises InputError when a text is none such, or a parameter is named twice.
    """
    sweep: dict[str, tuple[float, ...]] = {}
    for text in texts:
        name, equals, reach = text.partition("=")
        name = name.strip()
        if not name or not equals:
            raise _malformed(text)
        if name in sweep:
            raise InputError(f"sweep names {name!r} twice; state it once")
        sweep[name] = tuple(_values(text, reach))
    return sweep


def points(sweep: Sweep, times: int) -> list[dict[str, float]]:
    """Every combination of the values of a sweep, the last parameter running fastest.

    Raises InputError when there is none, or so many that fitting each ``times`` would take too
    long.
    """
    for name, values in sweep.items():
        if not isinstance(values, Sequence) or isinstance(values, str) or not values:
            raise InputError(f"sweep: {name!r} needs a list of values")
    fits = prod(len(values) for values in sweep.values()) * times
    if fits > MOST_FITS:
        raise InputError(
            f"the sweep asks for {fits:,} fits, and at most {MOST_FITS} are made; take larger "
            "steps, or name fewer recodings"
        )
    return [dict(zip(sweep, values, strict=True)) for values in product(*sweep.values())]


def policy_at(models: Sequence[PrivacyModel], point: SweepPoint) -> tuple[PrivacyModel, ...]:
    """The policy with some parameters changed, each in every model that has it.

    Raises InputError when no model has a parameter, or a model refuses a value.
    """
    known = {name for model in models for name in _numbers(model)}
    for name in point:
        if name not in known:
            hint = suggestion(name, sorted(known))
            raise InputError(f"sweep: no model of the policy has a parameter {name!r}{hint}")
    try:
        return tuple(
            replace(model, **{name: point[name] for name in _numbers(model) if name in point})  # type: ignore[type-var]
            for model in models
        )
    except InputError as error:
        raise InputError(f"sweep: {error}") from None


def _numbers(model: PrivacyModel) -> Iterator[str]:
    """The parameters of a model that are numbers."""
    for field in fields(model):  # type: ignore[arg-type]
        value = getattr(model, field.name)
        if isinstance(value, Real) and not isinstance(value, bool):
            yield field.name


def _values(text: str, reach: str) -> Iterator[float]:
    """The numbers from one to another by steps."""
    try:
        low, high, step = (Decimal(part.strip()) for part in reach.split(":"))
    except (ValueError, InvalidOperation):
        raise _malformed(text) from None
    if not (low.is_finite() and high.is_finite() and step.is_finite()):
        raise _malformed(text)
    if step <= 0 or high < low:
        raise InputError(f"sweep {text!r} must go up: from low to high by a step above 0")
    if high - low > MOST_FITS * step:
        raise InputError(f"sweep {text!r} has more than {MOST_FITS} values; take larger steps")
    for place in range(int((high - low) / step) + 1):
        number = low + place * step
        yield int(number) if number == int(number) else float(number)


def _malformed(text: str) -> InputError:
    return InputError(f"sweep {text!r} must be NAME=from:to:step, such as t=0.3:0.9:0.1")
