"""The convex program of least distortion under guarantees, and what its solver hands back."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.private.requirements import Demand
from anonymizer.channels.source import Source, expected
from anonymizer.channels.validation import number_of, numbers_of, require_flag, require_room
from anonymizer.errors import InputError, PolicyUnreachableError, shown
from anonymizer.kernels.arrays import Codes, Floats

EXACT = 1e-12
"""How far margins, and the mean in units of the largest deviation, may be off: rounding."""

LARGEST_EPSILON = 50.0
"""Beyond, chances of e^-50 would count: no computation and no sample tells them from none."""


@dataclass(frozen=True)
class Extras:
    """What may be required of a channel besides its models.

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


@dataclass(frozen=True, eq=False)
class Program:
    """min <d, u> over u(x,y) = p(x) q(y|x) >= 0, sum_y u = p, and further conditions.

    p(x) has shape (n,), d(x, y) shape (n, k). ``demands`` hold of every released symbol;
    ``invariant``: sum_x u(x, y) = p(y); ``epsilon``: q(y|x) <= e^epsilon q(y|x') for all x, x', y;
    ``moments``, the values of x and of y: E[Y] = E[X].
    """

    p: Floats
    distortion: Floats
    demands: tuple[Demand, ...]
    invariant: bool = False
    epsilon: float | None = None
    moments: tuple[Floats, Floats] | None = None

    @property
    def scale(self) -> float:
        """The mean distortion of a released symbol drawn evenly; 1 where nothing distorts."""
        return float(self.p @ self.distortion.mean(axis=1)) or 1.0

    @cached_property
    def drift(self) -> Floats | None:
        """(y - E[X]) / the largest of them, shape (k,), the mean of which has to be 0."""
        if self.moments is None:
            return None
        away = self.moments[1] - self.p @ self.moments[0]
        return np.asarray(away / max(float(np.abs(away).max()), 1e-300))

    def expected(self, channel: Floats) -> float:
        """E d(X, Y) of a channel."""
        return expected(self.p, channel, self.distortion)

    def require_room(self) -> None:
        """Refuse what would not fit in memory.

        Measured: some 60 numbers for every u(x, y), and 35 for every V_w that it is part of.
        """
        n, k = self.distortion.shape
        parts = sum(int((demand.conditional > 0).sum()) for demand in self.demands)
        require_room(f"an alphabet of {k} symbols for {n} values", (60, k, n), (35, k, parts))


@dataclass(frozen=True, eq=False)
class Weights:
    """The multipliers of one demand; shapes end in (k,), one for every symbol.

    ``rows`` are of the rows with a tilt, ``total`` of the row over all symbols; ``laws`` are p(w|y)
    as the exponential cones price it, shape (m, k). ``transports`` have for each distance its
    multiplier, shape (k,), and the signed weights of its runs, shape (runs, k).
    """

    rows: Floats
    total: float
    laws: Floats
    linear: Floats
    transports: tuple[tuple[Floats, Floats], ...]


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Prices of all rows, in units of distortion, as a solver found them: signs not yet checked.

    ``margins`` are of sum_x u(x,y) = p(y), shape (k,), ``mean`` of E[Y] = E[X], scaled as
    ``Program.drift``; ``most`` and ``least`` of u <= p e^(epsilon/2) b_y and
    u >= p e^(-epsilon/2) b_y, shape (n, k). Those of absent conditions are 0.
    """

    weights: tuple[Weights, ...]
    margins: Floats
    mean: float
    most: Floats
    least: Floats


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
        number_of("epsilon", extras.epsilon, least=0, most=LARGEST_EPSILON)
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
