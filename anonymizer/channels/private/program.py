"""The convex program of least distortion under guarantees, and what its solver hands back."""

from dataclasses import dataclass

import numpy as np

from anonymizer.channels.private.requirements import Demand
from anonymizer.channels.source import expected
from anonymizer.channels.validation import require_room
from anonymizer.kernels.arrays import Floats

__all__ = ["Multipliers", "Program", "Weights"]


@dataclass(frozen=True, eq=False)
class Program:
    """min <d, u> over u(x,y) = p(x) q(y|x) >= 0, sum_y u = p, and what is asked of it.

    Parameters
    ----------
    p, distortion
        p(x), shape (n,), positive; d(x, y), shape (n, k).
    demands
        On every released symbol.
    invariant
        sum_x u(x, y) = p(y); X and Y have the same values.
    epsilon
        q(y|x) <= e^epsilon q(y|x') for all x, x', y; None without that.
    moments
        Values of x and of y: E[Y] = E[X]; None without that.
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

    @property
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

        Raises
        ------
        InputError
            Saying how much it would take.
        """
        n, k = self.distortion.shape
        parts = sum(int((demand.conditional > 0).sum()) for demand in self.demands)
        require_room(f"an alphabet of {k} symbols for {n} values", (60, k, n), (35, k, parts))


@dataclass(frozen=True, eq=False)
class Weights:
    """The multipliers of one demand; shapes end in (k,), one for every symbol.

    Parameters
    ----------
    rows
        Of the rows with a tilt, shape (rows, k).
    total
        Of the row over all symbols.
    laws
        p(w|y) as the exponential cones price it, shape (m, k): distributions.
    linear
        Shape (rows, k).
    transports
        Of each distance: its multiplier, shape (k,), and what the runs are weighted by, signs and
        all, shape (runs, k).
    """

    rows: Floats
    total: float
    laws: Floats
    linear: Floats
    transports: tuple[tuple[Floats, Floats], ...]


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Prices of all rows, in units of distortion, as a solver found them: signs not yet checked.

    Parameters
    ----------
    weights
        Of the demands.
    margins
        Of sum_x u(x,y) = p(y), shape (k,); 0 where that is not asked.
    mean
        Of E[Y] = E[X], scaled as ``Program.drift``.
    most, least
        Of u <= p e^(epsilon/2) b_y and u >= p e^(-epsilon/2) b_y, shape (n, k); None without.
    """

    weights: tuple[Weights, ...]
    margins: Floats
    mean: float
    most: Floats | None = None
    least: Floats | None = None
