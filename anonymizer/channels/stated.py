"""Numbers that a caller states: slopes, limits, correlations, laws; each checked at the border."""

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.source import Floats, numbers_of
from anonymizer.errors import InputError, shown

__all__ = [
    "law_of",
    "number_of",
    "only_one",
    "require_flag",
    "require_generator",
    "sample_of",
    "vector_of",
]


def number_of(
    what: str,
    stated: object,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
) -> float:
    """A finite number within bounds: at least ``least``, more than ``above``, at most ``most``.

    Raises
    ------
    InputError
        When it is none; True and False are no numbers.
    """
    if not isinstance(stated, Real) or isinstance(stated, bool | np.bool_):
        raise InputError(f"{what} must be a number, not {type(stated).__name__}")
    try:
        number = float(stated)
    except OverflowError:
        raise InputError(f"{what} must be finite; it is {shown(stated)}") from None
    bounds = [
        (least is not None and not number >= least, f"at least {least}"),
        (above is not None and not number > above, f"more than {above}"),
        (most is not None and not number <= most, f"at most {most}"),
        (not np.isfinite(number), "finite"),
    ]
    broken = [text for outside, text in bounds if outside]
    if broken:
        raise InputError(f"{what} = {number:g} must be {' and '.join(broken)}")
    return number


def only_one(**stated: object) -> str:
    """The name of the one that is not None.

    Raises
    ------
    InputError
        When there are none, or several.
    """
    given = [name for name, value in stated.items() if value is not None]
    if len(given) != 1:
        found = f", not {' and '.join(given)}" if given else ""
        raise InputError(f"state exactly one of {', '.join(stated)}{found}")
    return given[0]


def law_of(what: str, stated: ArrayLike) -> Floats:
    """A distribution, shape (n,), from probabilities or counts, which are divided by their sum.

    Raises
    ------
    InputError
        When it is no list of finite numbers of at least 0 with a positive sum.
    """
    law = vector_of(what, stated)
    if law.min() < 0:
        raise InputError(f"{what} holds negative numbers; all must be at least 0")
    total = law.sum()
    if not total > 0:
        raise InputError(f"{what} sums to 0; it must hold p(x) or counts")
    return np.asarray(law / total)


def vector_of(what: str, stated: ArrayLike) -> Floats:
    """A list of finite numbers, not empty, shape (n,).

    Raises
    ------
    InputError
        When it is none.
    """
    vector = numbers_of(what, stated)
    if vector.ndim != 1 or not vector.size:
        raise InputError(f"{what} must be a list of numbers, not an array of {vector.shape}")
    return vector


def sample_of(what: str, stated: ArrayLike, records: int = 2) -> Floats:
    """Columns of finite numbers, shape (records, columns); a list of numbers is one column.

    Raises
    ------
    InputError
        When it is none, or of fewer records than are needed.
    """
    sample = numbers_of(what, stated)
    if sample.ndim == 1:
        sample = sample[:, None]
    if sample.ndim != 2 or not sample.shape[1]:
        raise InputError(f"{what} must be columns of numbers, not an array of {sample.shape}")
    if len(sample) < records:
        raise InputError(f"{what} holds {len(sample)} records; at least {records} are needed")
    return sample


def require_generator(rng: object) -> None:
    """Require a source of random numbers: whoever masks decides whether that can be repeated.

    Raises
    ------
    InputError
        When it is another one than NumPy's.
    """
    if not isinstance(rng, np.random.Generator):
        raise InputError("rng must be a generator of NumPy; numpy.random.default_rng() makes one")


def require_flag(what: str, stated: object) -> None:
    """Require True or False.

    Raises
    ------
    InputError
        When it is neither.
    """
    if not isinstance(stated, bool | np.bool_):
        raise InputError(f"{what} must be True or False, not {shown(stated)}")
