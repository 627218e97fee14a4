"""The example of section 5: W and X jointly normal, on grids, and the descent described there."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.channels import (
    GaussianModel,
    OptimalChannel,
    gaussian_channel,
    gaussian_rate,
    privacy_distortion,
    squared,
)
from anonymizer.channels.threads import single_threaded
from anonymizer.kernels.arrays import Floats

RHO = 0.95
SHARES = (0.25, 0.5, 0.75)
"""d, for which the paper chooses its three multipliers."""
STEP = 1e-4
STEPS = 32_000


def slope_of(share: float) -> float:
    """Lambda of d, in nats, as the mechanism of a normal law has it: -dD/dR at d."""
    found = GaussianModel.of_scalar(0, 1, RHO).mechanism(distortion_limit=share, unit="nats")
    return float(found.slope or 0.0)


@dataclass(frozen=True)
class Performance:
    """Distortion and risk of a channel, and D + lambda R."""

    distortion: float
    risk: float
    cost: float


@dataclass(frozen=True)
class Grid:
    """So many samples of X, and of W, on [-reach, reach]: the density there, made to sum to 1."""

    samples: int
    reach: float = 3.0

    @cached_property
    def x(self) -> Floats:
        """The samples, shape (n,)."""
        return np.linspace(-self.reach, self.reach, self.samples)

    @cached_property
    def joint(self) -> Floats:
        """p(x, w), shape (n, n)."""
        x, w = np.meshgrid(self.x, self.x, indexing="ij")
        density = np.exp(-(x**2 - 2 * RHO * x * w + w**2) / (2 * (1 - RHO**2)))
        return np.asarray(density / density.sum())

    @cached_property
    def p(self) -> Floats:
        """p(x)."""
        return np.asarray(self.joint.sum(axis=1))

    @cached_property
    def optima(self) -> dict[float, OptimalChannel]:
        """The certified optimum of each of the three multipliers."""
        return {share: self.optimum(slope_of(share)) for share in SHARES}

    def optimum(self, slope: float) -> OptimalChannel:
        """The certified optimum of a multiplier."""
        return privacy_distortion(self.joint, squared(self.x), slope=slope, unit="nats")

    def rule(self, share: float) -> Floats:
        """The optimal noise of the normal law, on the grid."""
        return gaussian_channel(self.x, self.x, 0.0, 1.0, share)

    def start(self, share: float) -> Floats:
        """X itself for a share 1 - d, its mean for d: the channel of MIUB."""
        middle = np.arange(self.samples) == self.samples // 2
        return np.asarray((1 - share) * np.eye(self.samples) + share * middle)

    def performance(self, channel: Floats, slope: float) -> Performance:
        """What a channel comes to."""
        distortion = float(self.p @ (channel * squared(self.x)).sum(axis=1))
        risk = self.risk(channel)
        return Performance(distortion, risk, distortion + slope * risk)

    def risk(self, channel: Floats) -> float:
        """I(W;Y) in nats."""
        law = self.joint.T @ channel
        apart = np.outer(law.sum(axis=1), law.sum(axis=0))
        some = law > 0
        return float((law[some] * np.log(law[some] / apart[some])).sum())

    def gradient(self, channel: Floats) -> Floats:
        """Derivative of R by p(y|x), as printed: p(x) (sum_w p(w|x) ln p(y|w) - ln p(y)).

        Shape (..., n, n).
        """
        law = np.maximum(self.joint.T @ channel, 1e-300)
        logs = np.log(law / self.joint.sum(axis=0)[:, None])
        margin = np.log(law.sum(axis=-2, keepdims=True))
        return np.asarray(self.joint @ logs - self.p[:, None] * margin)

    def descents(self, shares: Sequence[float], steps: int = STEPS) -> list[Floats]:
        """The channels that the paper's descent comes to, from those of MIUB, at lambda of each d.

        Each row of the gradient less its mean, times 1e-4; what is negative is set to 0, and rows
        are divided by their sums.
        """
        channel = np.array([self.start(share) for share in shares])
        slopes = np.array([slope_of(share) for share in shares])[:, None, None]
        direct = self.p[:, None] * squared(self.x)
        with single_threaded():
            for _ in range(steps):
                gradient = direct + slopes * self.gradient(channel)
                channel -= STEP * (gradient - gradient.mean(axis=-1, keepdims=True))
                np.maximum(channel, 0, out=channel)
                channel /= channel.sum(axis=-1, keepdims=True)
        return list(channel)


def closed(share: float) -> Performance:
    """Eq. 5 at d, and its cost."""
    risk = float(gaussian_rate(share, 1.0, RHO, "nats")[0])
    return Performance(share, risk, share + slope_of(share) * risk)
