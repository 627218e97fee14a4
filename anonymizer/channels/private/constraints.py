"""What may be asked of a channel besides privacy models, and the program that it makes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonymizer.channels.private.program import Program
from anonymizer.channels.private.repair import EXACT
from anonymizer.channels.source import Floats, Source, numbers_of
from anonymizer.channels.stated import require_flag
from anonymizer.errors import InputError, PolicyUnreachableError, require_number, shown

__all__ = ["Extras", "program_of"]

Codes = NDArray[np.intp]

LARGEST_EPSILON = 50.0
"""Beyond, chances of e^-50 would count: no computation and no sample tells them from none."""


@dataclass(frozen=True)
class Extras:
    """What may be asked of a channel besides its models.

    Parameters
    ----------
    invariant
        The margin of what is released is that of X: p(y) = p(x). X and Y have the same values.
    epsilon
        Local differential privacy: q(y|x) <= e^epsilon q(y|x') for all x, x' and y, in nats
        as is customary.
    unbiased
        The values of x and those of y, numbers: E[Y] = E[X].
    """

    invariant: bool = False
    epsilon: float | None = None
    unbiased: tuple[ArrayLike, ArrayLike] | None = None


def program_of(source: Source, costs: Floats, extras: Extras) -> tuple[Program, Codes]:
    """The program without its demands, and which columns of the distortion it is about."""
    if not isinstance(extras, Extras):
        raise InputError(f"extras must be Extras(...), not {shown(extras)}")
    require_flag("invariant", extras.invariant)
    columns: Codes = np.arange(costs.shape[1])
    if extras.invariant:
        if costs.shape[1] != source.shape[0]:
            raise InputError(
                f"invariant releases the values of X themselves, and distortion has "
                f"{costs.shape[1]} columns for {source.shape[0]} values; give one for each"
            )
        columns = source.rows
    if extras.epsilon is not None:
        require_number("private channel", "epsilon", extras.epsilon, 0, LARGEST_EPSILON)
    moments = None if extras.unbiased is None else _moments(extras.unbiased, source, columns)
    program = Program(
        source.p,
        np.ascontiguousarray(costs[:, columns]),
        (),
        bool(extras.invariant),
        None if extras.epsilon is None else float(extras.epsilon),
        moments,
    )
    _require_mean(program)
    return program, columns


def _moments(unbiased: object, source: Source, columns: Codes) -> tuple[Floats, Floats]:
    """Values of x and y, of those that occur."""
    form = "be two lists of numbers: values of x, and of y"
    if not isinstance(unbiased, tuple | list) or len(unbiased) != 2:
        raise InputError(f"unbiased must {form}")
    x, y = (numbers_of("unbiased", side, form) for side in unbiased)
    sizes = (source.shape[0], len(columns))
    if x.shape != sizes[:1] or y.ndim != 1 or len(y) <= int(columns.max()):
        raise InputError(f"unbiased must have the {sizes[0]} values of x, and all values of y")
    return x[source.rows], y[columns]


def _require_mean(program: Program) -> None:
    """Refuse a mean that no distribution of the symbols has, or not that one which is kept."""
    drift = program.drift
    if drift is None:
        return
    if drift.min() > EXACT or drift.max() < -EXACT:
        raise PolicyUnreachableError(
            "the mean of X lies outside the values of Y; add some on its other side"
        )
    if program.invariant and abs(float(drift @ program.p)) > EXACT:
        raise PolicyUnreachableError(
            "invariant keeps the margin, and with these values of Y another mean than that of X; "
            "give Y the values of X, or leave out unbiased"
        )
