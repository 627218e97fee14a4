"""What a solver found, with the bound that says how much better any other answer can be."""

from dataclasses import dataclass

from anonymizer.channels.source import Floats

__all__ = ["OptimalChannel"]


@dataclass(frozen=True, eq=False)
class OptimalChannel:
    """A channel q(y|x), what it costs and what no channel can go below.

    Parameters
    ----------
    channel
        q(y|x), shape (n, k): every row a distribution. Rows of values of probability 0 are there.
    distortion
        E d(X, Y).
    leakage
        I(W;Y), in ``unit``.
    slope
        What one unit of leakage is worth in distortion: the one given, or the one found for a
        limit; None where no price was found or none is part of the problem.
    minimised
        ``"cost"``, ``"leakage"`` or ``"distortion"``: what the bound is about.
    lower_bound
        Proven: no channel that answers the same question has less of what is minimised.
    certified
        Whether the gap is within the tolerance asked for. False is no failure of the channel, which
        holds what it says: only its optimality is not proven.
    unit
        ``"bits"`` or ``"nats"``.
    method
        What found it.
    iterations
        Steps it took.
    """

    channel: Floats
    distortion: float
    leakage: float
    slope: float | None
    minimised: str
    lower_bound: float
    certified: bool
    unit: str
    method: str
    iterations: int

    @property
    def cost(self) -> float:
        """Distortion + slope * leakage; the distortion alone where there is no slope."""
        return self.distortion + (self.slope or 0.0) * self.leakage

    @property
    def value(self) -> float:
        """What is minimised."""
        return float(getattr(self, self.minimised))

    @property
    def gap(self) -> float:
        """How much better any other channel can be at the most; never negative."""
        return max(0.0, self.value - self.lower_bound)
