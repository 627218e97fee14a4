"""Self-consistent equations of the information bottleneck, and ways to start them; all in nats.

    q(t|x) = p(t) exp(-beta D(p(w|x) || p(w|t))) / Z(x),    p(w|t) = sum_x p(x) q(t|x) p(w|x) / p(t)

alternate to a minimum of I(T;X) - beta I(T;W) that is a local one (Tishby, Pereira, Bialek, 1999).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import xlogy

from anonymizer.channels.source import JointLaw
from anonymizer.kernels.arrays import Codes, Floats

FARTHEST = 1e6
"""Steps that a leap is at most worth: beyond, what it extrapolates is rounding."""

STEPS = 1500
STILL = 1e-12
"""Two steps that gain less than this, nats, relative to the value, are the last."""
RARE = 1e-13
"""Symbols rarer than this are dropped."""
ALIKE = 1e-6
"""Symbols whose p(w|t) differ by no more are tried as one."""
FACTOR = 1.25
"""How far beta falls from one start to the next, while annealing."""


@dataclass(frozen=True, eq=False)
class Soft:
    """A channel q(t|x) of the values that occur, shape (n, k), and what it comes to."""

    channel: Floats
    margin: Floats
    posterior: Floats
    rate: float
    relevance: float
    beta: float
    iterations: int = 0

    def value(self, beta: float) -> float:
        """Rate - beta relevance: what is minimised."""
        return self.rate - beta * self.relevance


@dataclass(frozen=True, eq=False)
class Compressor:
    """A source; how many symbols there may be, and random starts besides the annealed one."""

    source: JointLaw
    symbols: int
    restarts: int = 0
    rng: np.random.Generator | None = None

    @cached_property
    def own(self) -> Floats:
        """sum_w p(w|x) ln p(w|x), shape (n,)."""
        return np.asarray(xlogy(self.source.conditional, self.source.conditional).sum(axis=1))

    @property
    def critical(self) -> float:
        """The beta above which telling nothing is no local optimum: 1 / rho^2.

        rho is the maximal correlation of X and W: the second singular value of
        p(x,w) / sqrt(p(x) p(w)). Infinite where they are independent.
        """
        scaled = self.source.joint / np.sqrt(np.outer(self.source.p, self.source.prior))
        values = np.linalg.svd(scaled, compute_uv=False)
        second = float(values[1]) if len(values) > 1 else 0.0
        return 1 / second**2 if second > 1e-12 else float("inf")

    def nothing(self) -> Soft:
        """One symbol for everybody: the best there is for beta <= 1, by data processing."""
        return self.soft(np.ones((len(self.source.p), 1)), 0.0)

    def sufficient(self) -> Soft:
        """Values of equal p(w|x) as one symbol: loses nothing, with the least rate of all that do.

        With fewer symbols allowed, the merges that lose least in turn (Slonim and Tishby, 1999).
        """
        _, groups = np.unique(self.source.conditional.round(12), axis=0, return_inverse=True)
        groups = groups.reshape(-1)
        if groups.max() >= self.symbols:
            groups = self._agglomerated(groups)
        return self.soft(np.eye(int(groups.max()) + 1)[groups], float("inf"))

    def soft(self, channel: Floats, beta: float, iterations: int = 0) -> Soft:
        """What a channel comes to; symbols that are next to never released are dropped."""
        channel = self._kept(channel)
        margin = self.source.p @ channel
        if len(margin) == 1:  # one symbol tells nothing, not even what rounding makes of it
            return Soft(channel, margin, self.source.prior[None], 0.0, 0.0, beta, iterations)
        posterior = (self.source.p[:, None] * channel / margin).T @ self.source.conditional
        rate = float(self.source.p @ xlogy(channel, channel / margin).sum(axis=1))
        found = float(margin @ xlogy(posterior, posterior / self.source.prior).sum(axis=1))
        relevance = min(max(0.0, found), self.source.information)
        return Soft(channel, margin, posterior, max(0.0, rate), relevance, beta, iterations)

    def path(self, betas: Sequence[float] | Floats) -> Iterator[Soft]:
        """The solutions of decreasing betas, each started from the last: reverse annealing.

        Telling nothing is taken where it is the better answer.
        """
        at = self.sufficient()
        for beta in betas:
            at = self.descend(at, float(beta))
            yield at

    def anneal(self, beta: float) -> Soft:
        """The best found for one beta: by annealing from above, and from random starts."""
        found = [self.nothing()]
        if beta > 1:
            start = max(1e4, 10 * beta)
            stops = int(np.ceil(np.log(start / beta) / np.log(FACTOR))) + 1
            *_, annealed = self.path(np.geomspace(start, beta, stops))
            found.append(annealed)
            even, n = np.ones(min(self.symbols, len(self.source.p))), len(self.source.p)
            if self.rng:
                starts = [self.rng.dirichlet(even, n) for _ in range(self.restarts)]
                found += [self.run(start, beta) for start in starts]
        best = min(found, key=lambda soft: soft.value(beta))
        return replace(best, beta=beta, iterations=sum(soft.iterations for soft in found))

    def descend(self, start: Soft, beta: float) -> Soft:
        """The solution that a start of higher beta leads to, or nothing where that is better."""
        found = self.run(start.channel, beta)
        if found.value(beta) < 0:
            return found
        return replace(self.nothing(), beta=beta, iterations=found.iterations)

    def run(self, channel: Floats, beta: float) -> Soft:
        """Alternate both equations until that gains no more, two steps and a leap at a time.

        The leap extrapolates both steps (Varadhan and Roland, 2008), and is taken back where it
        does not gain: the value falls from start to end. No symbol is ever added.
        """
        q, last, step = self._kept(channel), np.inf, 0
        while step < STEPS:
            first, _ = self._step(q, beta)
            second, value = self._step(first, beta)
            step += 2
            if last - value <= STILL * max(1.0, abs(value)):
                break
            one, two = first - q, second - 2 * first + q
            length = float(np.linalg.norm(one)) / max(float(np.linalg.norm(two)), 1e-300)
            q, last = second, value
            if 1 < length < FARTHEST:
                leapt = np.maximum(first - one + 2 * length * one + length**2 * two, 0)
                leapt, reached = self._step(leapt / leapt.sum(axis=1, keepdims=True), beta)
                step += 1
                if reached <= value:
                    q, last = leapt, reached
            if (self.source.p @ q <= RARE).any():
                q = self._kept(q)
        return self._merged(self.soft(second, beta, step))

    def _step(self, q: Floats, beta: float) -> tuple[Floats, float]:
        """Both equations once: the next channel, and the value of that before it, or less.

        The value, -E ln Z - beta I(X;W), is what the free energy of p(t) and p(w|t) comes to when
        the channel is the best for them; it falls from step to step.
        """
        margin = np.maximum(self.source.p @ q, 1e-300)
        posterior = (self.source.p[:, None] * q / margin).T @ self.source.conditional
        logs = np.log(np.maximum(posterior, 1e-300))
        exponent = (self.source.conditional @ logs.T - self.own[:, None]) * beta + np.log(margin)
        peak = exponent.max(axis=1, keepdims=True)
        found = np.exp(exponent - peak)
        sums = found.sum(axis=1, keepdims=True)
        energy = -float(self.source.p @ (np.log(sums) + peak)[:, 0])
        return found / sums, energy - beta * self.source.information

    def _kept(self, channel: Floats) -> Floats:
        """Without symbols that are next to never released."""
        kept = channel[:, self.source.p @ channel > RARE]
        return np.asarray(kept / kept.sum(axis=1, keepdims=True))

    def shared(self, low: Soft, high: Soft, share: float, *, by_rate: bool) -> Soft:
        """One channel for a share of the records, another for the rest, the symbol says which.

        Rate and relevance are then those of both by their shares. Where that takes more symbols
        than there may be, or gains nothing, the end that keeps the limit.
        """
        kept = low if by_rate else high
        together = low.channel.shape[1] + high.channel.shape[1]
        near = abs(high.rate - low.rate) <= 1e-9 * high.rate
        if near or together > self.symbols:
            return kept
        channel = np.hstack([(1 - share) * low.channel, share * high.channel])
        return self.soft(channel, high.beta, low.iterations + high.iterations)

    def _merged(self, at: Soft) -> Soft:
        """Symbols that say the same of W as one: less rate for the same relevance."""
        order = np.lexsort(at.posterior.T)
        apart = np.abs(np.diff(at.posterior[order], axis=0)).max(axis=1, initial=0) > ALIKE
        groups = np.empty(len(order), int)
        groups[order] = np.concatenate([[0], np.cumsum(apart)])
        if groups.max() + 1 == len(groups):
            return at
        merged = self.soft(at.channel @ np.eye(int(groups.max()) + 1)[groups], at.beta)
        better = merged.value(at.beta) <= at.value(at.beta)
        return replace(merged, iterations=at.iterations) if better else at

    def _agglomerated(self, groups: Codes) -> Codes:
        """Groups merged two by two, those that lose least of I(T;W) first, until few enough."""
        joint = np.zeros((int(groups.max()) + 1, len(self.source.prior)))
        np.add.at(joint, groups, self.source.p[:, None] * self.source.conditional)
        lost = np.array([_merging(joint, row) for row in range(len(joint))])
        np.fill_diagonal(lost, np.inf)
        alive = np.ones(len(joint), bool)
        while alive.sum() > self.symbols:
            one, other = np.unravel_index(int(lost.argmin()), lost.shape)
            joint[one] += joint[other]
            alive[other] = False
            groups = np.where(groups == other, one, groups)
            lost[one] = np.where(alive, _merging(joint, int(one)), np.inf)
            lost[:, one] = lost[one]
            lost[one, one] = np.inf
            lost[other], lost[:, other] = np.inf, np.inf
        return np.unique(groups, return_inverse=True)[1].reshape(-1)


def _merging(joint: Floats, row: int) -> Floats:
    """What I(T;W) loses by merging a symbol with each other one, shape (k,), nats."""

    def kept(counts: Floats) -> Floats:
        sums = np.maximum(counts.sum(axis=-1, keepdims=True), 1e-300)
        return np.asarray(xlogy(counts, counts / sums).sum(axis=-1))

    return np.asarray(kept(joint) + kept(joint[row]) - kept(joint + joint[row]))
