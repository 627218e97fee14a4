"""The example of section 5: W and X jointly normal, on grids, and the descent described there."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from anonymizer.channels import (
    GaussianModel,
    OptimalChannel,
    gaussian_channel,
    gaussian_rate,
    privacy_distortion,
    squared,
)
from anonymizer.channels.validation import single_threaded
from anonymizer.kernels.arrays import Floats

LEAST = 1e-300
"""A share that counts as 0, whose logarithm is a number."""
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
    """Samples of X, and of W, on [-reach, reach]: the density there, made to sum to 1."""

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

    def optimum(self, share: float) -> OptimalChannel:
        """The certified optimum at lambda of d."""
        return privacy_distortion(self.joint, squared(self.x), slope=slope_of(share), unit="nats")

    def rule(self, share: float) -> Floats:
        """The optimal noise of the normal law, on the grid."""
        return gaussian_channel(self.x, self.x, 0.0, 1.0, share)

    def start(self, share: float) -> Floats:
        """X itself for a share 1 - d, its mean for d: the channel of MIUB."""
        middle = np.arange(self.samples) == self.samples // 2
        return np.asarray((1 - share) * np.eye(self.samples) + share * middle)

    def performance(self, channel: Floats, share: float) -> Performance:
        """Return the performance of a channel, at lambda of d."""
        distortion = float(self.p @ (channel * squared(self.x)).sum(axis=1))
        risk = self.risk(channel)
        return Performance(distortion, risk, distortion + slope_of(share) * risk)

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

    def steps(self, shares: Sequence[float], recipe: "Recipe") -> Iterator[Floats]:
        """The channels after every step of a descent from those of MIUB, at lambda of each d.

        Shape (shares, n, n), overwritten by the next step. Each row of the gradient less its mean,
        times 1e-4, and what the recipe makes of rows that are no law any more.
        """
        channel = np.array([self.start(share) for share in shares])
        slopes = np.array([slope_of(share) for share in shares])[:, None, None]
        weights = self.p[:, None] if recipe.weighted else np.ones((self.samples, 1))
        direct, known = weights * squared(self.x), weights * self.joint / self.p[:, None]
        backwards = np.ascontiguousarray(self.joint.T)
        while True:
            law = np.maximum(backwards @ channel, LEAST)
            margins = np.log(law.sum(axis=-2, keepdims=True))
            # ln p(y|w) = ln p(w, y) - ln p(w), which the mean of a row takes out again.
            gradient = known @ np.log(law, out=law)
            gradient -= weights * margins
            gradient *= slopes
            gradient += direct
            channel -= STEP * (gradient - gradient.mean(axis=-1, keepdims=True))
            recipe.project(channel)
            yield channel

    def descents(
        self, shares: Sequence[float], steps: int = STEPS, recipe: "Recipe | None" = None
    ) -> list[Floats]:
        """Return the channels that n steps reach, by the recipe as it is described by default."""
        channels = self.descended(shares, [steps], recipe or DESCRIBED)[0]
        return list(channels)

    def descended(
        self, shares: Sequence[float], marks: Sequence[int], recipe: "Recipe"
    ) -> list[Floats]:
        """The channels after each of some numbers of steps, which rise; one array for each."""
        if max(marks) == 0:
            return [np.array([self.start(share) for share in shares])]
        with single_threaded():
            walk = enumerate(islice(self.steps(shares, recipe), max(marks)), 1)
            return [channels.copy() for step, channels in walk if step in marks]

    def settled(self, shares: Sequence[float], steps: int, recipe: "Recipe") -> list[Floats]:
        """Return the means of the channels of the last sixteenth of n steps."""
        last = -(-steps // 16)
        with single_threaded():
            walk = islice(self.steps(shares, recipe), steps - last, steps)
            total = np.zeros((len(shares), self.samples, self.samples))
            for channels in walk:
                total += channels
        return list(total / last)


@dataclass(frozen=True)
class Recipe:
    """A recipe of descent: steps weighted by p(x) or not, and the way rows become laws again."""

    weighted: bool
    project: Callable[[Floats], None]


def clipped(channel: Floats) -> None:
    """Set negative entries to 0, and divide rows by their sums, in place."""
    np.maximum(channel, 0, out=channel)
    channel /= channel.sum(axis=-1, keepdims=True)


def onto_laws(channel: Floats) -> None:
    """The nearest law to each row, in place: less a number that leaves 1 of what is positive."""
    falling = -np.sort(-channel, axis=-1)
    excess = np.cumsum(falling, axis=-1) - 1
    places = np.arange(1, channel.shape[-1] + 1)
    last = (falling * places > excess).sum(axis=-1, keepdims=True)
    channel -= np.take_along_axis(excess, last - 1, -1) / last
    np.maximum(channel, 0, out=channel)


DESCRIBED = Recipe(weighted=True, project=clipped)
"""As the text describes it, word by word."""
PROJECTED = Recipe(weighted=False, project=onto_laws)
"""A second reading: each p(.|x) descends for itself, and is projected exactly."""


def closed(share: float) -> Performance:
    """Eq. 5 at d, and its cost."""
    risk = float(gaussian_rate(share, 1.0, RHO, "nats")[0])
    return Performance(share, risk, share + slope_of(share) * risk)
