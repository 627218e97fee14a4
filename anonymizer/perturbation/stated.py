"""Numbers that a caller states: slopes, limits, correlations, laws; each checked at the border."""

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError
from anonymizer.perturbation.source import Floats

__all__ = ["law_of", "number_of", "only_one", "sample_of", "vector_of"]


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
    number = float(stated)
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
    if not (total > 0 and np.isfinite(total)):
        raise InputError(f"{what} sums to 0 or beyond any number; it must hold p(x) or counts")
    return np.asarray(law / total)


def vector_of(what: str, stated: ArrayLike) -> Floats:
    """A list of finite numbers, not empty, shape (n,).

    Raises
    ------
    InputError
        When it is none.
    """
    vector = _array_of(what, stated)
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
    sample = _array_of(what, stated)
    if sample.ndim == 1:
        sample = sample[:, None]
    if sample.ndim != 2 or not sample.shape[1]:
        raise InputError(f"{what} must be columns of numbers, not an array of {sample.shape}")
    if len(sample) < records:
        raise InputError(f"{what} holds {len(sample)} records; at least {records} are needed")
    return sample


def _array_of(what: str, stated: ArrayLike) -> Floats:
    try:
        array = np.asarray(stated)
    except ValueError:
        raise InputError(f"{what} must hold numbers, as many in every row") from None
    if array.dtype.kind not in "iuf":
        raise InputError(f"{what} must hold numbers, not {array.dtype}")
    array = array.astype(float)
    if not np.isfinite(array).all():
        raise InputError(f"{what} holds values that are no finite numbers")
    return array
