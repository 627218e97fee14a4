"""Checks of what a caller gives: numbers, arrays, laws, units, memory; and one thread for BLAS."""

from contextlib import AbstractContextManager
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from anonymizer.errors import InputError, is_number, is_whole, shown
from anonymizer.kernels.arrays import Floats

LOGARITHMS = {"bits": float(np.log(2)), "nats": 1.0}
"""What one of each unit of information is in nats, the unit of every computation."""

LARGEST = 1e100
"""Numbers beyond are refused: their squares might add up to more than any number."""

DISTINCT = 2.0**53
"""Whole numbers beyond are not all distinct."""

MOST_BYTES = 4 << 30
"""What the arrays of one problem may take: more is refused before it is allocated."""


def nats_per(unit: str) -> float:
    """One of a unit of information, in nats."""
    if not isinstance(unit, str) or unit not in LOGARITHMS:
        raise InputError(f"unit = {shown(unit)} is none of {', '.join(LOGARITHMS)}")
    return LOGARITHMS[unit]


def number_of(
    what: str,
    given: object,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float = np.inf,
) -> float:
    """A finite number within bounds; True and False are no numbers."""
    bound = least if above is None else above
    if not is_number(given, -np.inf if bound is None else bound, most, above=above is not None):
        bounds = {"of at least": least, "above": above, "at most": None if most == np.inf else most}
        reach = " and ".join(f"{text} {end:g}" for text, end in bounds.items() if end is not None)
        raise InputError(f"{what} = {shown(given)} must be a finite number {reach}".rstrip())
    return float(given)  # type: ignore[arg-type]


def whole_of(what: str, given: object, least: int, most: int | None = None) -> int:
    """A whole number within bounds."""
    if not is_whole(given, least) or (most is not None and given > most):  # type: ignore[operator]
        reach = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"{what} = {shown(given)} must be a whole number {reach}")
    return int(given)  # type: ignore[call-overload, no-any-return]


def only_one(**given: object) -> tuple[str, object]:
    """The name and the value of the one that is not None."""
    named = {name: value for name, value in given.items() if value is not None}
    if len(named) != 1:
        found = f", not {' and '.join(named)}" if named else ""
        raise InputError(f"give exactly one of {', '.join(given)}{found}")
    return next(iter(named.items()))


def numbers_of(
    what: str, given: ArrayLike, form: str = "hold numbers", kinds: str = "iuf"
) -> Floats:
    """Finite numbers in an array of any shape.

    ``form`` is what a message says that they must do, ``kinds`` the types of NumPy to hold them.
    Texts and truth values are no numbers, though NumPy would read them as some; masked entries are
    missing. Whole numbers of any size and fractions are numbers.
    """
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must {form}, as many in every row") from None
    listed = array.dtype.kind == "O" and all(
        isinstance(one, Real) and not isinstance(one, bool | np.bool_) for one in array.flat
    )
    if array.dtype.kind not in kinds and not listed:
        raise InputError(f"{what} must {form}, not {array.dtype}")
    try:
        with np.errstate(over="ignore"):
            numbers = array.astype(float)
    except OverflowError:
        numbers = np.full(1, np.inf)
    if np.ma.is_masked(given) or not np.isfinite(numbers).all():
        raise InputError(f"{what} holds values that are no finite numbers")
    if np.abs(numbers).max(initial=0.0) > LARGEST:
        raise InputError(f"{what} holds numbers above {LARGEST:g}; give them in a larger unit")
    return numbers


def matrix_of(what: str, given: ArrayLike) -> Floats:
    """A matrix of finite numbers of at least 0, neither side empty."""
    matrix = numbers_of(what, given, "be a matrix of numbers")
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(f"{what} must be a matrix with rows and columns, not {matrix.shape}")
    return _not_negative(what, matrix)


def vector_of(what: str, given: ArrayLike) -> Floats:
    """A list of finite numbers, not empty, shape (n,)."""
    vector = numbers_of(what, given)
    if vector.ndim != 1 or not vector.size:
        raise InputError(f"{what} must be a list of numbers, not an array of {vector.shape}")
    return vector


def law_of(what: str, given: ArrayLike) -> Floats:
    """A distribution, shape (n,), from probabilities or counts, which are divided by their sum."""
    law = _not_negative(what, vector_of(what, given))
    if not law.sum() > 0:
        raise InputError(f"{what} sums to 0; it must hold p(x) or counts")
    return np.asarray(law / law.sum())


def sample_of(what: str, given: ArrayLike, records: int = 2) -> Floats:
    """Check records, shape (records, columns), for a least number; a list is one column."""
    sample = numbers_of(what, given)
    if sample.ndim == 1:
        sample = sample[:, None]
    if sample.ndim != 2 or not sample.shape[1]:
        raise InputError(f"{what} must be columns of numbers, not an array of {sample.shape}")
    if len(sample) < records:
        raise InputError(f"{what} holds {len(sample)} records; at least {records} are needed")
    return sample


def columns_of(frame: pd.DataFrame) -> Floats:
    """The finite numbers of a DataFrame, shape (records, columns)."""
    if not isinstance(frame, pd.DataFrame):
        hint = "; take column.to_frame()" if isinstance(frame, pd.Series) else ""
        raise InputError(f"a DataFrame of numbers is needed, not {type(frame).__name__}{hint}")
    if not len(frame) or not len(frame.columns):
        raise InputError("there are no records, or no columns, to be masked")
    if not frame.columns.is_unique:
        raise InputError("two columns have the same name; rename one of them")
    return np.column_stack([_column(frame[name]) for name in frame.columns])


def _column(column: pd.Series) -> Floats:
    name, kind = column.name, pd.api.types
    if missing := int(column.isna().sum()):
        raise InputError(
            f"column {name!r} misses {missing:,} values; drop these records, or fill them in"
        )
    if not kind.is_numeric_dtype(column) or kind.is_bool_dtype(column):
        raise InputError(f"column {name!r} holds no numbers; leave it out, or convert it")
    if kind.is_complex_dtype(column) or not np.isfinite(column.to_numpy(float)).all():
        raise InputError(f"column {name!r} holds values that are no finite numbers")
    numbers = np.asarray(column.to_numpy(float))
    largest = DISTINCT if kind.is_integer_dtype(column) else LARGEST
    if np.abs(numbers).max() > largest:
        raise InputError(
            f"column {name!r} holds numbers beyond {largest:.3g}, too large to be reckoned with; "
            "subtract what they have in common, or divide them"
        )
    return numbers


def require_room(what: str, *arrays: tuple[int, ...]) -> None:
    """Refuse a problem whose arrays, of these shapes, would not fit, before any is made."""
    wanted = 8 * sum(int(np.prod([float(side) for side in shape])) for shape in arrays)
    if wanted > MOST_BYTES:
        raise InputError(
            f"{what} would take {wanted / 2**30:.1f} GiB, beyond {MOST_BYTES / 2**30:.0f}; "
            "take fewer values, by generalizing first, say, or a smaller alphabet"
        )


def require_generator(rng: object) -> None:
    """Require NumPy's generator: the caller decides whether a masking can be repeated."""
    if not isinstance(rng, np.random.Generator):
        raise InputError("rng must be a generator of NumPy; numpy.random.default_rng() makes one")


def require_flag(what: str, given: object) -> None:
    """Require True or False."""
    if not isinstance(given, bool | np.bool_):
        raise InputError(f"{what} must be True or False, not {shown(given)}")


def _not_negative(what: str, numbers: Floats) -> Floats:
    if numbers.min() < 0:
        raise InputError(f"{what} holds negative numbers; all must be at least 0")
    return numbers


def single_threaded() -> AbstractContextManager[Any]:
    """Let BLAS use one thread inside of this: batches of small matrices are slower on several.

    Measured in benchmarks/results/channels.md.
    """
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@cache  # looking for the libraries takes longer than many a problem
def _controller() -> Any:
    import scipy.linalg  # noqa: F401 (its BLAS must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
