"""What an attacker believes of each record's value, knowing that all finer releases broke a policy.

Given the release, the worlds of different classes are independent. A finer release breaks the
policy if it does in some class. So a class matters by its pattern alone: which finer releases
break the policy within it. With M the event that all of them break it,

    p(w | c, M) = sum_s E[n_cw; s] p(M | s) / (n_c p(M)),

where s runs over the patterns of the class of cell c. Classes of few worlds are enumerated, the
others are estimated from draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.kernels.terms import xlogx
from anonymizer.privacy import holds
from anonymizer.risk.attacks.parts import BATCHES, ClassWorlds, conjunction, parts_of
from anonymizer.risk.attacks.specializations import Setting

RAISED = 0.01
"""A record is counted as raised where its largest posterior rises by more than this."""

SURE = 5.0
"""A belief differs if it does by this many standard errors: there are thousands of beliefs."""

ROUNDING = 1e-9
"""The rounding error of exact beliefs."""

FINE = 1 << 40
"""Records that a belief is rounded to, for models to measure."""

NEGLIGIBLE = 1e-12
"""The error of a belief that classes left out may cause."""

ENOUGH = 100
"""The least number of draws with M from which beliefs about single records are reported."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Beliefs about the records of cells in classes where some finer release may break the policy.

    All but ``records`` have shape (cells, values).
    """

    belief: Floats  # p(w | c, M)
    error: Floats  # its standard error, 0 where it is exact
    share: Floats  # p(w | released class)
    records: Ints  # of each cell

    def gain(self, setting: Setting, largest_share: float) -> dict[str, Any]:
        """The fields of ``Minimality`` about beliefs, given the largest share of the release."""
        differs = np.abs(self.belief - self.share) > SURE * self.error + ROUNDING
        moved: Mask = np.asarray(differs.any(axis=1))
        shown = np.where(moved[:, None], self.belief, self.share)
        rise = shown.max(axis=1) - self.share.max(axis=1)
        raised = rise > RAISED + SURE * self.error.max(axis=1)
        broken = moved & _breaks(setting, shown)
        known = self.share > 0
        shares = self.share[known]
        posterior, error = _most(self.belief, self.error, largest_share)
        factor, _ = _most(self.belief[known] / shares, self.error[known] / shares, 1.0)
        return {
            "largest_posterior": posterior,
            "standard_error": error,
            "factor": factor,
            "surprise": float(_divergence(shown, self.share).max()),
            "records_raised": int(self.records[raised].sum()),
            "records_breached": int(self.records[broken].sum()),
        }


@dataclass(frozen=True, eq=False)
class MinimalityEvidence:
    """The event M that every finer release breaks the policy, given the pattern of each class."""

    parts: Sequence[ClassWorlds]  # the classes where some finer release may break the policy
    probability: Floats  # p(M), shape (estimates,)
    given: Sequence[Floats]  # p(M | s) for the patterns of each class, shape (estimates, patterns)
    draws: int  # worlds drawn, 0 where all were enumerated
    accepted: int  # those of them in which M holds

    @classmethod
    def of(
        cls, setting: Setting, finer: Sequence[Codes], draws: int, rng: np.random.Generator
    ) -> "MinimalityEvidence":
        """Enumerate the worlds of every class, or draw them.

        ``finer``: the class of each raw cell in each finer release, shape (cells,) each. ``draws``:
        a multiple of ``BATCHES``.
        """
        parts, without = [], np.ones(len(finer))
        for part in parts_of(setting, finer, draws, rng):
            parts.append(part)
            without *= part.without(len(finer))
            if without.sum() < NEGLIGIBLE:
                break  # whatever the other classes are, M is as good as certain
        sampled = any(part.drawn is not None for part in parts)
        parts = [part for part in parts if part.pattern.bits.any()]
        estimates = 1 + BATCHES if sampled else 1
        if not parts:
            return cls([], np.zeros(estimates), [], draws, 0)
        patterns = [part.repeated(estimates) for part in parts]
        probability, given = conjunction(patterns, len(finer))
        if not sampled:
            return cls(parts, probability, given, 0, 0)
        found = [
            rng.choice(part.pattern.bits, draws, p=part.pattern.weights[0])
            if part.drawn is None  # enumerated ones are drawn by their probabilities
            else part.drawn
            for part in parts
        ]
        broken = np.bitwise_or.reduce(found) == (1 << len(finer)) - 1
        return cls(parts, probability, given, draws, int(broken.sum()))

    @property
    def enough(self) -> bool:
        """Whether beliefs about single records can be reported."""
        return bool((self.probability > 0).all()) and (not self.draws or self.accepted >= ENOUGH)

    @property
    def below(self) -> float:
        """The upper end of p(M) at 95 % confidence: the Chernoff bound of the draws accepted.

        The largest p with D(accepted / draws || p) <= ln 20 / draws.
        """
        share = self.accepted / self.draws
        low, high = share, 1.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            beyond = _nats(share, middle) > log(20) / self.draws
            low, high = (low, middle) if beyond else (middle, high)
        return high

    def beliefs(self) -> Beliefs:
        """The beliefs about the records of each cell; only where there is ``enough`` evidence."""
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
    """Standard errors by the jackknife over batches of draws; 0 of exact beliefs.

    At least 1 / accepted: what never happened in that many draws may be that likely.
    """
    without = belief[1:]
    if not len(without):
        return np.zeros_like(belief[0])
    squares = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.maximum(np.sqrt(squares * (BATCHES - 1) / BATCHES), 1 / accepted))


def _most(estimates: Floats, errors: Floats, otherwise: float) -> tuple[float, float]:
    """The largest of some estimates and its standard error, if surely above ``otherwise``.

    The estimate of the highest lower end: the highest of thousands of estimates is mostly error.
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
