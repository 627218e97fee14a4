"""The minimality attack: what a known policy and algorithm reveal in addition to the release.

Wong, Fu, Wang, Pei, "Minimality attack in privacy preserving data publishing" (VLDB 2007). A search
that keeps as much as a policy allows generalizes because it has to: every finer release would have
broken the policy. Where that depends on sensitive values, it discloses something about them.

Given the release, the worlds of different classes are independent. A finer release breaks the
policy if it does in some class. So a class matters by its pattern alone: which finer releases
break the policy within it. With M the event that all of them break it,

    p(w | c, M) = sum_s E[n_cw; s] p(M | s) / (n_c p(M)),

where s runs over the patterns of the class of cell c. Classes of few worlds are enumerated, the
others are estimated from draws.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from operator import gt
from typing import Any

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.persons import joint_of, of_column
from anonymizer.errors import InputError, is_whole
from anonymizer.hierarchy import Taxonomy
from anonymizer.information.matrices import largest, too_large
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.kernels.terms import xlogx
from anonymizer.privacy import PrivacyModel, acceptable, holds
from anonymizer.recoding import Problem
from anonymizer.recoding.lattice import Node
from anonymizer.release.results import Result
from anonymizer.risk.worlds import (
    BATCHES,
    ClassWorlds,
    Setting,
    classes_at,
    conjunction,
    parts_of,
    specializations,
)

RAISED = 0.01
"""A record is counted as raised where its largest posterior rises by more than this."""

SURE = 5.0
"""A belief differs if it does by this many standard errors: there are thousands of beliefs."""

WITHIN = 3.0
"""Standard errors within which a belief may be beyond a model."""

ROUNDING = 1e-9
"""The rounding error of exact beliefs, and of a probability of 1."""

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

    @property
    def moved(self) -> Mask:
        """The cells whose beliefs differ from the shares of their classes, shape (cells,)."""
        differs = np.abs(self.belief - self.share) > SURE * self.error + ROUNDING
        return np.asarray(differs.any(axis=1))

    @property
    def shown(self) -> Floats:
        """The beliefs where they differ from the shares, and these elsewhere."""
        return np.where(self.moved[:, None], self.belief, self.share)

    @property
    def raised(self) -> Mask:
        """The cells whose largest posterior rises, shape (cells,)."""
        rise = self.shown.max(axis=1) - self.share.max(axis=1)
        return np.asarray(rise > RAISED + SURE * self.error.max(axis=1))

    def broken(self, setting: Setting) -> Mask:
        """The cells whose beliefs, as the distribution of a class, break a model; (cells,)."""
        return self.moved & _breaks(setting, self.shown)

    def undecided(self, setting: Setting) -> Mask:
        """The cells that may be beyond a model: their estimates break it within their error.

        Of beliefs that differ from the shares, those as well that hold it, but not surely.
        """
        estimated = (self.error > 0).any(axis=1)
        breaks, moved = _breaks(setting, self.belief), self.moved
        unsure = moved & ~breaks & self._may_break(setting)
        return np.asarray(estimated & (unsure | (~moved & breaks)))

    def _may_break(self, setting: Setting) -> Mask:
        """The cells whose beliefs break a model with one value a few errors more or less likely."""
        marks = np.zeros(len(self.belief), bool)
        for value, error in enumerate(self.error.T):
            own = self.belief[:, value]
            for change in (WITHIN * error, -WITHIN * error):
                likely = np.where(own < 1, np.clip(own + change, 0, 1), own)
                others = (1 - likely) / np.maximum(1 - own, ROUNDING)
                belief = self.belief * others[:, None]
                belief[:, value] = likely
                marks |= _breaks(setting, belief)
        return marks

    def gain(self, setting: Setting, largest_share: float) -> dict[str, Any]:
        """Return the fields of ``Minimality`` about beliefs, given the largest released share."""
        shown = self.shown
        raised, broken = self.raised, self.broken(setting)
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
        """True where beliefs about single records can be reported."""
        return bool((self.probability > 0).all()) and (not self.draws or self.accepted >= ENOUGH)

    @property
    def below(self) -> float:
        """The upper end of p(M) at 95 % confidence."""
        return at_most(self.accepted, self.draws)

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


def at_most(accepted: int, draws: int) -> float:
    """Return the upper end of a probability at 95 % confidence, the Chernoff bound.

    The largest p with D(accepted / draws || p) <= ln 20 / draws.
    """
    share = accepted / draws
    low, high = share, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        beyond = _nats(share, middle) > log(20) / draws
        low, high = (low, middle) if beyond else (middle, high)
    return high


def _nats(share: float, p: float) -> float:
    heads = share * log(share / p) if share else 0.0
    return heads + ((1 - share) * log((1 - share) / (1 - p)) if share < 1 else 0.0)


def _errors(belief: Floats, accepted: int) -> Floats:
    """Return standard errors by the jackknife over batches of draws; 0 of exact beliefs.

    At least 1 / accepted: what never happened in that many draws may be that likely.
    """
    without = belief[1:]
    if not len(without):
        return np.zeros_like(belief[0])
    squares = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.maximum(np.sqrt(squares * (BATCHES - 1) / BATCHES), 1 / accepted))


def _most(estimates: Floats, errors: Floats, otherwise: float) -> tuple[float, float]:
    """Return the largest of some estimates and its standard error, if above ``otherwise``.

    The estimate of the highest lower end: the highest of thousands of estimates is mostly error.
    """
    least = (estimates - SURE * errors).ravel()
    best = int(least.argmax())
    if least[best] <= otherwise:
        return otherwise, 0.0
    return float(estimates.ravel()[best]), float(errors.ravel()[best])


def _breaks(setting: Setting, belief: Floats) -> Mask:
    """Mark the beliefs that break a model, as if classes were distributed so; shape (cells,)."""
    joint = np.rint(belief * FINE).astype(np.int64)
    classes = replace(setting.counts.about(setting.attribute), joint=joint)
    marks = np.zeros(len(belief), bool)
    for model in setting.models:
        marks |= ~holds(model, classes)
    return marks


def _divergence(belief: Floats, share: Floats) -> Floats:
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    bits = xlogx(belief).sum(axis=1) - (belief * logs).sum(axis=1)
    return np.asarray(np.maximum(bits, 0.0))


BOUNDED = "bounded"
"""The method where a proof bounds what a choice tells, and the policy holds for that."""

DRAWS = 10_000
"""The default number of worlds drawn."""

MOST_EVENTS = 6
"""The largest number of finer releases of uncertain verdict: the work grows with its power of 2."""


FINER = "direct specializations"
"""What is attacked without searching again: the recodings next below a node of levels."""


@dataclass(frozen=True)
class Minimality(Result):
    """The gain of an attacker from knowing that no finer release satisfied the policy.

    He knows the quasi-identifiers of every record, the release, the hierarchies, the policy and
    that the search was exact. Worlds are the ways to deal the sensitive values of each class to its
    records, all equally likely; minimality, M, excludes those in which a direct specialization
    satisfies the policy. Other nodes of the lattice, which would have scored less, are not used, so
    that an optimum may reveal more than this. What is not known is None.

    The ``method`` is ``"exact"``; ``"sampled"``: estimated from draws; ``"unknown"``: M is too rare
    among the draws, or too costly, to report anything about single records; ``"not applicable"``:
    the release is not known to be minimal; ``"bounded"``: the choice was by counts with noise, and
    the policy holds for all that it may tell.

    ``probability`` is p(M), the share of all worlds that is left; -log2 of it is the information of
    M about the table as a whole, in bits. ``probability_below`` is the upper end of it at 95 %
    confidence, where draws allow no more than that. ``records_raised`` are those whose largest
    posterior exceeds the largest share of their class by more than 0.01, ``records_breached`` those
    whose beliefs, taken as the distribution of their class, break a model.

    Of sampled beliefs only those count that differ by more than five standard errors, so that more
    draws may show more. The largest is the one with the highest lower end.
    """

    method: str
    reason: str = ""  # why it is unknown or not applicable, or what estimates leave open
    reveals: bool | None = None  # whether M excludes any world
    specializations: int = 0  # direct ones, of other classes
    certain: int = 0  # those among them that break the policy in every world
    probability: float | None = None
    probability_below: float | None = None
    largest_share: float | None = None  # p(w | class)
    largest_posterior: float | None = None  # p(w | record, release, M)
    standard_error: float | None = None  # of the largest posterior; 0 where it is exact
    factor: float | None = None  # the largest by which M makes a value likelier, or 1
    surprise: float | None = None  # the largest D(beliefs || class's shares) of a record, in bits
    records_raised: int | None = None
    records_breached: int | None = None
    draws: int = 0  # worlds drawn; 0 where none had to be
    accepted: int = 0  # those among them in which M holds; of walks, those that these moved on to
    attacked: str = FINER  # the recodings that are known not to have been preferred
    worlds: int = 0  # that were listed
    searches: int = 0  # that were run again
    effective_draws: float | None = None  # independent draws that walks are worth
    unsimulated: str = ""  # why no more than that is attacked

    @property
    def examined(self) -> bool:
        """True where it is known what M reveals about single records."""
        return self.method in ("exact", "sampled", BOUNDED)

    @property
    def why(self) -> str:
        """The reason without the method."""
        return self.reason.removeprefix(f"{self.method}: ")

    @classmethod
    def not_applicable(cls, reason: str) -> "Minimality":
        """The result where the release is not known to be minimal."""
        return cls("not applicable", f"not applicable: {reason}")


TOGETHER = "together, and beliefs about several attributes at once are not worked out"
"""Why a policy about several attributes is not examined."""


def minimality(
    counts: Counts,
    taxonomies: Mapping[str, Taxonomy],
    node: Node,
    models: Sequence[PrivacyModel],
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> Minimality:
    """Attack a node by the knowledge that it is the best one that satisfies a policy.

    ``counts`` are of the raw quasi-identifiers. Their sensitive values serve to make the release
    and to verify that it is minimal; the attacker does not know them. The ``node`` was found by an
    exact search for an objective that never rises under generalization, without suppression;
    ``models`` are all that it had to satisfy, with the bounds of the search. Where worlds are too
    many to enumerate ``draws`` of them are drawn, rounded up to a multiple of ``BATCHES``.

    Raises InputError when the number of draws is not positive, or the node not in the lattice.
    """
    problem = Problem(counts, taxonomies, models)
    _require_valid(problem, node, draws)
    occupied = counts.select(counts.sizes > 0)
    finer = specializations(occupied, taxonomies, node)
    for names in joint_of(model.attribute for model in models):
        return Minimality("unknown", f"its policy is about {of_column(names)} {TOGETHER}")
    if doubt := _doubt(problem, node, finer):
        return Minimality.not_applicable(doubt)
    if any(map(too_large, occupied.joint.values())):
        return Minimality("unknown", "there are too many sensitive values to weigh their worlds")
    settings = _settings(occupied, classes_at(occupied, taxonomies, node), models)
    fixed = [model for model in models if not model.sensitive]
    uncertain = [
        class_of
        for lower, class_of in finer.items()
        if acceptable(problem.at(lower), fixed).all()
        and not any(setting.always_breaks(class_of) for setting in settings)
    ]
    released = problem.at(node)
    about = [setting.attribute for setting in settings] or released.sensitive
    classes = [released.about(name) for name in about]
    shares = [largest(each.joint) / np.maximum(each.sizes, 1) for each in classes]
    share = max((float(each.max()) for each in shares), default=None)
    known = Minimality(  # if every finer release breaks the policy in every world
        "exact",
        reveals=False,
        specializations=len(finer),
        certain=len(finer) - len(uncertain),
        probability=1.0,
        largest_share=share,
        largest_posterior=share,
        standard_error=0.0,
        factor=1.0,
        surprise=0.0,
        records_raised=0,
        records_breached=0,
    )
    if not uncertain:
        return known
    if reason := _too_much(models, settings, len(uncertain)):
        return _unknown(known, reason)
    rounded = -(-draws // BATCHES) * BATCHES
    evidence = MinimalityEvidence.of(settings[0], uncertain, rounded, rng)
    return _learnt(known, settings[0], evidence)


def _require_valid(problem: Problem, node: Node, draws: int) -> None:
    """Require a positive number of draws, and a node of the lattice."""
    if not is_whole(draws, least=1):
        raise InputError(f"draws = {draws!r} must be a whole number of at least 1")
    heights = problem.lattice.heights
    whole = all(is_whole(level, least=0) for level in node)
    if not whole or len(node) != len(heights) or any(map(gt, node, heights)):
        raise InputError(
            f"levels {list(node)} are no node of the lattice, whose highest are {list(heights)}; "
            "take those of the release's manifest"
        )


def _doubt(problem: Problem, node: Node, finer: Iterable[Node]) -> str | None:
    """Explain why a node is not the best one under a policy; None if no reason is known."""
    if not problem.feasible(problem.at(node)):
        return "the levels released do not satisfy the policy, so that it is not the one searched"
    if any(problem.feasible(problem.at(lower)) for lower in finer):
        return "a direct specialization satisfies the policy too: the search required more than it"
    return None


def _settings(counts: Counts, class_of: Codes, models: Sequence[PrivacyModel]) -> list[Setting]:
    """The setting of each attribute that the policy is about."""
    return [
        Setting.of(counts, attribute, class_of, [m for m in own if m.per_class])
        for attribute in counts.sensitive
        if (own := [m for m in models if m.sensitive and m.attribute in (None, attribute)])
    ]


def _too_much(
    models: Sequence[PrivacyModel], settings: Sequence[Setting], events: int
) -> str | None:
    """Explain why the attack cannot be worked out; None where it can."""
    whole = [model.name for model in models if model.sensitive and not model.per_class]
    if whole:
        return f"{whole[0]} is about all classes together, so that their worlds do not factor"
    if len(settings) > 1:
        return (
            f"the policy is about {len(settings)} sensitive attributes, and which of their values "
            "go together is not counted"
        )
    if events > MOST_EVENTS:
        return f"{events} finer releases are of uncertain verdict, more than {MOST_EVENTS}"
    return None


def _unknown(
    known: Minimality, reason: str, evidence: MinimalityEvidence | None = None
) -> Minimality:
    """Return the result where nothing can be reported about single records."""
    return Minimality(
        "unknown",
        reason,
        reveals=True if evidence and evidence.accepted < evidence.draws else None,
        specializations=known.specializations,
        certain=known.certain,
        probability_below=evidence.below if evidence else None,
        largest_share=known.largest_share,
        draws=evidence.draws if evidence else 0,
        accepted=evidence.accepted if evidence else 0,
    )


def _learnt(known: Minimality, setting: Setting, evidence: MinimalityEvidence) -> Minimality:
    """Return the result of the evidence."""
    if not evidence.enough:
        return _unknown(
            known,
            f"all finer releases break the policy in {evidence.accepted} of {evidence.draws} "
            f"worlds drawn, and fewer than {ENOUGH} say nothing of a single record",
            evidence,
        )
    probability = min(float(evidence.probability[0]), 1.0)
    excludes = probability < 1 - ROUNDING
    sampled = evidence.draws > 0
    return replace(
        known,
        method="sampled" if sampled else "exact",
        reveals=True if excludes else (None if sampled else False),
        probability=probability,
        draws=evidence.draws,
        accepted=evidence.accepted,
        **evidence.beliefs().gain(setting, float(known.largest_share or 0)),
    )
