"""What an attacker believes of each record's value, knowing that all finer releases broke a policy.

Given the release, the worlds of different classes are independent. A finer release breaks the
policy where it does in some class, so that a class takes part in what is known by its pattern
alone: which finer releases break the policy within it. With M that all do,

    p(w | c, M) = sum_s E[n_cw; s] p(M | s) / (n_c p(M)),

s being the patterns of the class that cell c lies in: classes of few worlds are summed up
exactly, the others estimated from draws, each class from all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from anonymizer.counts.counts import Codes, Floats, Ints
from anonymizer.kernels.terms import xlogx
from anonymizer.privacy import Mask, holds
from anonymizer.risk.attacks.conjunction import conjunction
from anonymizer.risk.attacks.parts import BATCHES, Part, parts_of
from anonymizer.risk.attacks.specializations import Setting

__all__ = ["ENOUGH", "Beliefs", "Evidence"]

RAISED = 0.01
"""By more than this a record's largest posterior has to rise for the record to be counted."""

SURE = 5.0
"""Standard errors that a belief has to differ by: there are thousands of them."""

ROUNDING = 1e-9
"""What exact beliefs may differ by for nothing."""

FINE = 1 << 40
"""Records that a belief is written as, for models to measure."""

NEGLIGIBLE = 1e-12
"""What a belief may be off for classes that are not looked at."""

ENOUGH = 100
"""Draws in which all finer releases break the policy: with fewer nothing is said of anybody."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Beliefs about the records in cells of classes that have any part in what is known.

    Parameters
    ----------
    belief, error
        p(w | c, M) and its standard error, 0 where it is exact; shape (cells, values).
    share
        p(w | released class), shape (cells, values).
    records
        Records of each cell, shape (cells,).
    """

    belief: Floats
    error: Floats
    share: Floats
    records: Ints

    def gain(self, setting: Setting, largest_share: float) -> "Gain":
        """What these beliefs are beyond the release, whose largest share is known."""
        differs = np.abs(self.belief - self.share) > SURE * self.error + ROUNDING
        moved: Mask = np.asarray(differs.any(axis=1))
        shown = np.where(moved[:, None], self.belief, self.share)
        rise = shown.max(axis=1) - self.share.max(axis=1)
        raised = rise > RAISED + SURE * self.error.max(axis=1)
        broken = moved & _breaks(setting, shown)
        known = self.share > 0
        shares = self.share[known]
        posterior, error = _most(self.belief, self.error, largest_share)
        return Gain(
            posterior,
            error,
            _most(self.belief[known] / shares, self.error[known] / shares, 1.0)[0],
            float(_divergence(shown, self.share).max()),
            int(self.records[raised].sum()),
            int(self.records[broken].sum()),
        )


@dataclass(frozen=True)
class Gain:
    """What an attacker's beliefs are beyond the release: see ``Minimality``."""

    largest_posterior: float
    standard_error: float
    factor: float
    surprise: float
    records_raised: int
    records_breached: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """That every finer release breaks the policy, M, and how much each class has to do with it.

    Parameters
    ----------
    parts
        The classes that have any part in it.
    probability
        p(M) in each estimate, shape (estimates,).
    given
        For each class p(M | s) of its patterns, shape (estimates, patterns).
    draws, accepted
        Worlds drawn, and how many of them M holds in; 0 where all were enumerated.
    """

    parts: Sequence[Part]
    probability: Floats
    given: Sequence[Floats]
    draws: int
    accepted: int

    @classmethod
    def of(
        cls, setting: Setting, finer: Sequence[Codes], draws: int, rng: np.random.Generator
    ) -> "Evidence":
        """Look at the worlds of every class, or draw them.

        Parameters
        ----------
        setting
            What is known.
        finer
            The class that each finer release puts each raw cell in, shape (cells,) each.
        draws
            Worlds that are drawn, a multiple of ``BATCHES``, where there are too many to look at.
        """
        parts, without = [], np.ones(len(finer))
        for part in parts_of(setting, finer, draws, rng):
            parts.append(part)
            without *= part.without(len(finer))
            if without.sum() < NEGLIGIBLE:
                break  # whatever the other classes hold, M is as good as certain
        sampled = any(part.drawn is not None for part in parts)
        parts = [part for part in parts if part.pattern.bits.any()]
        estimates = 1 + BATCHES if sampled else 1
        if not parts:
            return cls([], np.zeros(estimates), [], draws, 0)
        patterns = [part.repeated(estimates) for part in parts]
        probability, given = conjunction(patterns, len(finer))
        if not sampled:
            return cls(parts, probability, given, 0, 0)
        found = [part.drawn_again(draws, rng) for part in parts]
        broken = np.bitwise_or.reduce(found) == (1 << len(finer)) - 1
        return cls(parts, probability, given, draws, int(broken.sum()))

    @property
    def enough(self) -> bool:
        """Whether anything can be said of a single record."""
        return bool((self.probability > 0).all()) and (not self.draws or self.accepted >= ENOUGH)

    @property
    def below(self) -> float:
        """What p(M) is below, with 95 % confidence: the Chernoff bound of the draws accepted.

        The largest p of which D(accepted / draws || p) <= ln 20 / draws.
        """
        share = self.accepted / self.draws
        low, high = share, 1.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            if _nats(share, middle) > log(20) / self.draws:
                high = middle
            else:
                low = middle
        return high

    def beliefs(self) -> Beliefs:
        """What is believed of the records of each cell; only where there is enough to say it."""
        every = [
            part.belief(given, self.probability)
            for part, given in zip(self.parts, self.given, strict=True)
        ]
        belief = np.concatenate(every, axis=1)
        return Beliefs(
            belief[0],
            _errors(belief, self.accepted),
            np.concatenate([part.share for part in self.parts]),
            np.concatenate([part.sizes for part in self.parts]),
        )


def _nats(share: float, p: float) -> float:
    """D(share || p) of two coins, for 0 <= share <= p < 1."""
    heads = share * log(share / p) if share else 0.0
    return heads + ((1 - share) * log((1 - share) / (1 - p)) if share < 1 else 0.0)


def _errors(belief: Floats, accepted: int) -> Floats:
    """Standard errors by leaving out each batch of draws; of exact beliefs 0.

    At least 1 / accepted: what never happened in so many draws may be that likely.
    """
    without = belief[1:]
    if not len(without):
        return np.zeros_like(belief[0])
    squares = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.maximum(np.sqrt(squares * (BATCHES - 1) / BATCHES), 1 / accepted))


def _most(estimates: Floats, errors: Floats, otherwise: float) -> tuple[float, float]:
    """The largest of some estimates and its standard error, where it surely is above something.

    That of the highest lower end: the highest of thousands of estimates is mostly error.
    """
    least = (estimates - SURE * errors).ravel()
    best = int(least.argmax())
    if least[best] <= otherwise:
        return otherwise, 0.0
    return float(estimates.ravel()[best]), float(errors.ravel()[best])


def _breaks(setting: Setting, belief: Floats) -> Mask:
    """Which beliefs break a model, as if classes were distributed so; shape (cells,)."""
    joint = np.rint(belief * FINE).astype(np.int64)
    classes = replace(setting.counts.about(setting.attribute), joint=joint)
    marks = np.zeros(len(belief), bool)
    for model in setting.models:
        marks |= ~holds(model, classes)
    return marks


def _divergence(belief: Floats, share: Floats) -> Floats:
    """D(belief || share) of each cell, in bits."""
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    bits = xlogx(belief).sum(axis=1) - (belief * logs).sum(axis=1)
    return np.asarray(np.maximum(bits, 0.0))
