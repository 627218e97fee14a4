r"""What privacy models require of a released symbol, as convex conditions on its column of p(w, y).

V_w = p(w, y) for one symbol y, M = sum_w V_w = p(y), p_w the margin of W. Every model here reads
f(V) <= 0 for a convex f that is homogeneous of degree 1 (f(cV) = c f(V)), a sublinear one, so

    f(V + V') <= f(V) + f(V'):

merging two released symbols that satisfy it gives one that does. Hence some channel satisfies the
policy exactly if releasing one and the same symbol for everybody does, whatever prior is known:
merge all symbols of the channel. With independence of Y from X that also decides policies with
``invariant`` (release a fresh draw of X), ``epsilon`` (rows alike) and ``unbiased`` (any
distribution of symbols with the mean of X).

Four forms are enough:

- G(V) + tilt'V <= 0 with G(V) = sum_w V_w ln(V_w / (p_w M)), the exponential cones:
  t-closeness (kl) D(V/M || q) <= t has tilt_w = ln(p_w / q_w) - t, q being what is known;
  entropy l-diversity H(V/M) >= ln l has tilt_w = ln p_w + ln l;
  k-anonymity of records H(record|y) >= ln k, the n_x records of a value being alike: with W = X
  itself it reads D(p(x|y) || p(x)) <= ln(N/k), so tilt_w = ln(k/N) (Bezzi 2010, Eq. 5).
- sum_y of the same <= 0: mean information, sum_y M_y D(V_y/M_y || q) <= bits.
- c'V <= 0: bounds on shares, V_w <= upper_w M and V_w >= lower_w M.
- sum_S weight_S |V(S) - mass_S M| <= t M: earth mover's distances on lines and trees.

Nats throughout.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.channels.source import Sensitive, whole
from anonymizer.channels.validation import UNITS
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.information.entropy import divergence, entropy
from anonymizer.kernels import Sums
from anonymizer.kernels.arrays import Floats, Mask
from anonymizer.privacy import (
    TOLERANCE,
    AlphaKAnonymity,
    EntropyLDiversity,
    KAnonymity,
    MeanInformation,
    PrivacyModel,
    TCloseness,
    attributes_of,
    models_of,
)
from anonymizer.privacy.shares import ShareModel

BIT = UNITS["bits"]


@dataclass(frozen=True, eq=False)
class Transport:
    """An earth mover's distance: weights'|rows V| <= limit * M; rows of shape (runs, m)."""

    rows: Floats
    weights: Floats
    limit: float

    def inside(self, hair: float, margin: Floats) -> "Transport":
        """Tighten the limit by a part of the way to what the margin itself has."""
        moved = float(self.weights @ np.abs(self.rows @ margin))
        return replace(self, limit=self.limit - hair * max(self.limit - moved, 0.0))


@dataclass(frozen=True, eq=False)
class Demand:
    """Requirement about one attribute W that every released symbol has to satisfy.

    ``conditional`` is p(w|x), shape (n, m), ``margin`` p(w) > 0. ``tilts`` are rows
    G(V) + tilt'V <= 0, ``linear`` rows c'V <= 0, ``total`` the row sum_y G(V) + total'V <= 0 or
    None, ``transports`` the earth mover's distances.
    """

    conditional: Floats
    margin: Floats
    tilts: Floats
    total: Floats | None
    linear: Floats
    transports: tuple[Transport, ...] = ()

    @property
    def entropic(self) -> bool:
        """Whether the requirement takes exponential cones."""
        return len(self.tilts) > 0 or self.total is not None

    def inside(self, hair: float) -> "Demand":
        """Tighten a little: f(V) <= hair f(p) M for f(V) <= 0, p the margin.

        What mixing any channel that holds the demand with one that ignores X at weight ``hair``
        holds. f(p) <= 0 where the demand can be held at all.
        """
        p = self.margin
        total = self.total
        if total is not None:
            total = total - hair * min(float(total @ p), 0.0)
        return replace(
            self,
            tilts=self.tilts - hair * np.minimum(self.tilts @ p, 0.0)[:, None],
            total=total,
            linear=self.linear - hair * np.minimum(self.linear @ p, 0.0)[:, None],
            transports=tuple(one.inside(hair, p) for one in self.transports),
        )

    def added(self, model: PrivacyModel, sensitive: Sensitive, slack: float) -> "Demand":
        """Add the requirement of a model."""
        known = np.log(self.margin) - np.log(sensitive.prior)
        if isinstance(model, TCloseness):
            if model.distance == "kl":
                return self._tilted(known - (model.t + slack) * BIT)
            sensitive.require_named("t-closeness", model.distance)
            runs = [each.sums for each in model.bounds(sensitive.table) if each.sums is not None]
            added = tuple(_transport(sums, sensitive, model.t + slack) for sums in runs)
            return replace(self, transports=(*self.transports, *added))
        if isinstance(model, EntropyLDiversity):
            return self._tilted(np.log(self.margin) + np.log(model.l) - slack * BIT)
        if isinstance(model, ShareModel):
            return self._shares(model, sensitive, slack)
        total = known - (model.threshold + slack) * BIT
        return replace(self, total=total if self.total is None else np.maximum(total, self.total))

    def _shares(self, model: ShareModel, sensitive: Sensitive, slack: float) -> "Demand":
        """Shares as the model tolerates them; half a tolerance inside where no slack is wanted."""
        inside = 0.0 if slack else TOLERANCE / 2
        columns = sensitive.source.columns
        least, most = (side[columns] for side in model.shares(sensitive.known))
        every = np.eye(len(columns))
        above = (every - (most * (1 - inside))[:, None])[most < 1]
        below = ((least * (1 + inside))[:, None] - every)[least > 0]
        rows = np.vstack([above, below])
        return replace(self, linear=np.vstack([self.linear, rows]))

    def _tilted(self, tilt: Floats) -> "Demand":
        return replace(self, tilts=np.vstack([self.tilts, tilt]))


@dataclass(frozen=True, eq=False)
class ChannelPolicy:
    """Models, each with the sensitive attributes that it has to answer for.

    ``pairs`` has every model with every attribute that it is about; p(x) has shape (n,). Every
    symbol leaves as many of the ``records`` in question as k equally likely ones. Whether a channel
    holds it is decided by the models' own measures: nothing of a solver is trusted.
    """

    pairs: tuple[tuple[PrivacyModel, Sensitive], ...]
    p: Floats
    k: int
    records: float

    @classmethod
    def of(
        cls, models: Sequence[PrivacyModel], sensitive: Sequence[Sensitive], records: float | None
    ) -> "ChannelPolicy":
        """Bring models and attributes together; k-anonymity needs the number of records."""
        require_convex(models_of(models))
        k = max((m.k for m in models if isinstance(m, KAnonymity | AlphaKAnonymity)), default=1)
        if k > 1 and records is None:
            raise InputError(
                f"k = {k} is about records: give joint as counts, or records, how many there are"
            )
        named = {one.attribute: one for one in sensitive}
        pairs = [
            (model, named[name])
            for model in models
            if not isinstance(model, KAnonymity)
            for name in attributes_of(model, tuple(named))
            if name is not None
        ]
        return cls(tuple(pairs), sensitive[0].source.p, k, records or 1.0)

    def demands(self, tolerated: bool) -> tuple[Demand, ...]:
        """Return conditions of a program: the exact limits, or all that the checks let pass.

        The program is solved at the exact limits; the bound that no channel falls below is made
        with the tolerated ones, so that it holds of every channel that passes the models' own
        check. Demands about the records come last.
        """
        slack = TOLERANCE if tolerated else 0.0
        found: dict[int, Demand] = {}
        for model, sensitive in self.pairs:
            source = sensitive.source
            none = np.zeros((0, len(source.prior)))
            empty = Demand(source.conditional, source.prior, none, None, none)
            known = found.get(id(sensitive), empty)
            found[id(sensitive)] = known.added(model, sensitive, slack)
        if self.k > 1:  # a demand about X itself
            n, limit = len(self.p), np.log(self.records / self.k) + slack * BIT
            tilt = np.full((1, n), -limit)
            found[0] = Demand(np.eye(n), self.p, tilt, None, np.zeros((0, n)))
        return tuple(d for d in found.values() if d.entropic or len(d.linear) or d.transports)

    def accepts(self, channel: Floats) -> bool:
        """Tell whether every symbol that a channel q(y|x) releases, (n, k), holds every model."""
        return not self._broken(channel)

    def each(self, channel: Floats) -> Mask:
        """Mark symbols that hold every model about symbols one by one, shape (k,).

        Those that are never released do.
        """
        every = np.ones(channel.shape[1], bool)
        released = (self.p[:, None] * channel).sum(axis=0) > 0
        for _, held in self._checked(channel, [pair for pair in self.pairs if pair[0].per_class]):
            every[released] &= held
        return every

    def require_reachable(self) -> None:
        """Refuse a policy that not even one symbol for everybody holds: then no channel does."""
        broken = self._broken(np.ones((len(self.p), 1)))
        if broken:
            raise PolicyUnreachableError(
                f"the policy is out of reach: {broken} fails even where one symbol is released "
                "for everybody; relax it"
            )

    def _broken(self, channel: Floats) -> str:
        """The first model that a channel breaks, in words; nothing where it holds them all."""
        checked = self._checked(channel, self.pairs)
        return next((words for words, held in checked if not held.all()), "")

    def _checked(
        self, channel: Floats, pairs: Iterable[tuple[PrivacyModel, Sensitive]]
    ) -> Iterator[tuple[str, Mask]]:
        """Yield each requirement in words, with the released symbols that hold it."""
        joint = self.p[:, None] * channel
        mass = joint.sum(axis=0)
        laws, mass = joint[:, mass > 0] / mass[mass > 0], mass[mass > 0]
        for model, sensitive in pairs:
            classes = sensitive.classes(sensitive.source.conditional.T @ laws)
            if model.per_class:
                values = model.measure(classes)
            else:  # a bound on the mean information
                bits = divergence(classes.joint, classes.margin) @ (mass / mass.sum())
                values = np.array([bits])
            words = f"{model.name} about {sensitive.attribute!r} ({model.range})"
            yield words, np.asarray(model.accepts(values))
        if self.k > 1:  # H(record|y) = H(X|y) + sum_x p(x|y) log n_x >= log k
            each = entropy(whole(laws.T)) + np.log2(self.records * self.p) @ laws
            yield f"k = {self.k} of {self.records:g} records", each >= np.log2(self.k) - TOLERANCE


CONVEX = (TCloseness, EntropyLDiversity, KAnonymity, ShareModel, MeanInformation)


def is_convex(model: PrivacyModel) -> bool:
    """Tell whether a model is a convex condition on a released symbol."""
    plain = not isinstance(model, EntropyLDiversity) or model.monotone
    return isinstance(model, CONVEX) and plain


def require_convex(models: Sequence[PrivacyModel]) -> None:
    """Refuse models that are no convex condition on a released symbol; list the convex ones."""
    for model in models:
        if not is_convex(model):
            estimated = isinstance(model, EntropyLDiversity)
            how = f" with estimator {model.estimator!r}" if estimated else ""  # type: ignore[attr-defined]
            raise InputError(
                f"{model.name}{how} has no convex form, so that no random recoding can be proven "
                "best under it; these have: t-closeness, entropy-l-diversity (plug-in), "
                "k-anonymity, alpha-k-anonymity, basic-beta-likeness, enhanced-beta-likeness, "
                "delta-disclosure, bayesian-gain, value-gain, mean-information"
            )


def _transport(sums: Sums, sensitive: Sensitive, limit: float) -> Transport:
    """The runs over the values that occur; those that do not still have their known mass."""
    inside = np.zeros((len(sums.ends), len(sensitive.known)))
    for row, (begin, end) in enumerate(zip(sums.begins, sums.ends, strict=True)):
        inside[row, sums.order[begin:end]] = 1.0
    rows = inside[:, sensitive.source.columns] - sums.masses[:, None]
    return Transport(rows, np.asarray(sums.weights, float), limit)
