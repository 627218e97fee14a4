r"""Guarantees as convex conditions, the program of least distortion under them, and its bound.

What privacy models require of a released symbol are convex conditions on its column of p(w, y).
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

No channel goes below a bound that follows from any multipliers by arithmetic of our own: weak
duality. Let u be feasible, V_y = P'u_y. Every condition is sublinear, so it is the largest of the
linear functions below it:

    G(V) = sum_w V_w ln(V_w / (p_w M)) >= sum_w V_w ln(r_w / p_w)      for every distribution r
    sum_S weight_S |V(S) - mass_S M| >= sum_S g_S (V(S) - mass_S M)    for every |g_S| <= weight_S

(the first is D(V/M || r) >= 0). Add multiples, of either sign for equations and of at least 0 for
inequalities, of what is at most 0 to <d, u>. With S(x,y) = d(x,y) + (P C_y)(x) + alpha_y +
beta drift_y + (most - least)(x,y) and C_y the sum of the coefficients in V_y,

    <d, u> >= <S, u> - alpha'p + epsilon's part >= sum_x p(x) min_y S(x,y) - alpha'p + ...

since u >= 0 has row sums p. It holds for all multipliers, whoever found them: nothing of the solver
has to be trusted. epsilon's part: rows u - p e^(eps/2) b_y <= 0 and p e^(-eps/2) b_y - u <= 0 leave
b_y (e^(-eps/2) <p, least_y> - e^(eps/2) <p, most_y>) behind, at least min(0, .) e^(eps/2), because
b_y <= e^(eps/2).

Floating point: every S is lowered by a bound on its own rounding error before the minimum is taken
(n terms of relative error u have a sum of relative error (n + 2) u to first order; Higham 2002,
section 3.1), and the sums over x once more.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.source import JointLaw, Sensitive, expected, whole
from anonymizer.channels.validation import (
    LOGARITHMS,
    number_of,
    numbers_of,
    require_flag,
    require_room,
)
from anonymizer.errors import InputError, PolicyUnreachableError, shown
from anonymizer.information.entropy import divergence, entropy
from anonymizer.kernels import Sums
from anonymizer.kernels.arrays import Codes, Floats, Mask
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
    require_of_one,
    require_persons,
)
from anonymizer.privacy.shares import ShareModel

BIT = LOGARITHMS["bits"]


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
            if isinstance(name, str)
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
        """Return whether every symbol that a channel q(y|x) releases, (n, k), holds every model."""
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
    """Return whether a model is a convex condition on a released symbol."""
    plain = not isinstance(model, EntropyLDiversity) or model.monotone
    return isinstance(model, CONVEX) and plain


def require_convex(models: Sequence[PrivacyModel]) -> None:
    """Refuse models that are no convex condition on a released symbol; list the convex ones."""
    require_persons(models, known=False)
    require_of_one(models, "a random recoding")
    for model in models:
        if not is_convex(model):
            estimated = isinstance(model, EntropyLDiversity)
            how = f" with estimator {model.estimator!r}" if estimated else ""  # type: ignore[attr-defined]
            raise InputError(
                f"{model.name}{how} has no convex form, so that no random recoding can be proven "
                "best under it; these have: t-closeness, entropy-l-diversity (plug-in), "
                "k-anonymity, alpha-k-anonymity, basic-beta-likeness, enhanced-beta-likeness, "
                "delta-disclosure, pointwise-maximal-leakage, bayesian-gain, value-gain, "
                "mean-information"
            )


def _transport(sums: Sums, sensitive: Sensitive, limit: float) -> Transport:
    """The runs over the values that occur; those that do not still have their known mass."""
    inside = np.zeros((len(sums.ends), len(sensitive.known)))
    for row, (begin, end) in enumerate(zip(sums.begins, sums.ends, strict=True)):
        inside[row, sums.order[begin:end]] = 1.0
    rows = inside[:, sensitive.source.columns] - sums.masses[:, None]
    return Transport(rows, np.asarray(sums.weights, float), limit)


EXACT = 1e-12
"""How far margins, and the mean in units of the largest deviation, may be off: rounding."""

ROUNDING = 2.0**-52
LEAST = 1e-280
"""The least probability of a law r: so small that it never matters, and a number still."""

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
    ``drift``, (y - E[X]) / the largest of them, shape (k,): its mean is 0, E[Y] = E[X].
    """

    p: Floats
    distortion: Floats
    demands: tuple[Demand, ...]
    invariant: bool = False
    epsilon: float | None = None
    drift: Floats | None = None

    @property
    def scale(self) -> float:
        """The mean distortion of a released symbol drawn evenly; 1 where nothing distorts."""
        return float(self.p @ self.distortion.mean(axis=1)) or 1.0

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
class Prices:
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

    weights: tuple[Prices, ...]
    margins: Floats
    mean: float
    most: Floats
    least: Floats


def program_of(source: JointLaw, costs: Floats, extras: Extras) -> tuple[Program, Codes]:
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
    epsilon = extras.epsilon
    if epsilon is not None:
        epsilon = number_of("epsilon", epsilon, least=0, most=LARGEST_EPSILON)
    drift = None if extras.unbiased is None else _drift(extras.unbiased, source, columns)
    if drift is not None and extras.invariant and abs(float(drift @ source.p)) > EXACT:
        raise PolicyUnreachableError(
            "invariant keeps the margin, and with these values of Y another mean than that of X; "
            "give Y the values of X, or leave out unbiased"
        )
    distortion = np.ascontiguousarray(costs[:, columns])
    return Program(source.p, distortion, (), bool(extras.invariant), epsilon, drift), columns


def _drift(unbiased: object, source: JointLaw, columns: Codes) -> Floats:
    """What ``unbiased`` means for the symbols; some distribution of them must have the mean."""
    form = "be two lists of numbers: values of x, and of y"
    if not isinstance(unbiased, tuple | list) or len(unbiased) != 2:
        raise InputError(f"unbiased must {form}")
    x, y = (numbers_of("unbiased", side, form) for side in unbiased)
    sizes = (source.shape[0], len(columns))
    if x.shape != sizes[:1] or y.ndim != 1 or len(y) <= int(columns.max()):
        raise InputError(f"unbiased must have the {sizes[0]} values of x, and all values of y")
    away = y[columns] - source.p @ x[source.rows]
    drift = np.asarray(away / max(float(np.abs(away).max()), 1e-300))
    if drift.min() > EXACT or drift.max() < -EXACT:
        raise PolicyUnreachableError(
            "the mean of X lies outside the values of Y; add some on its other side"
        )
    return drift


def proof(program: Program, multipliers: Multipliers) -> tuple[float, Floats]:
    """The lower bound that multipliers prove, and the S(x,y), shape (n, k), of the row minima."""
    costs, size = program.distortion.copy(), program.distortion.copy()
    parts, constant, weight = _signed(program, multipliers)
    for part in parts:
        costs += part
        size += np.abs(part)
    for demand, weights in zip(program.demands, multipliers.weights, strict=True):
        for part in _coefficients(demand, weights):
            costs += demand.conditional @ part
            size += demand.conditional @ np.abs(part)
    terms = 8 + 4 * max((demand.conditional.shape[1] for demand in program.demands), default=0)
    rows = (costs - terms * ROUNDING * size).min(axis=1)
    value = float(program.p @ rows + constant)
    error = 2 * (len(rows) + 8) * ROUNDING * float(program.p @ np.abs(rows) + weight)
    # Without any condition E d(X, Y) is at least E min_y d(X, y).
    least = float(program.p @ program.distortion.min(axis=1))
    free = least * (1 - 2 * (len(program.p) + 2) * ROUNDING)
    return max(value - error, free), costs


def _signed(program: Program, multipliers: Multipliers) -> tuple[list[Floats], float, float]:
    """What margins, mean and epsilon add to S; and to the bound whatever the channel, with size."""
    parts: list[Floats] = []
    value = weight = 0.0
    if program.invariant:
        parts.append(multipliers.margins[None, :])
        value -= float(multipliers.margins @ program.p)
        weight += float(np.abs(multipliers.margins) @ program.p)
    if program.drift is not None and np.isfinite(multipliers.mean):
        parts.append(multipliers.mean * program.drift[None, :])
    if program.epsilon is not None:
        reach = np.exp(program.epsilon / 2)
        most, least = np.maximum(multipliers.most, 0.0), np.maximum(multipliers.least, 0.0)
        paid, owed = (program.p @ least) / reach, reach * (program.p @ most)
        most = most * np.minimum(1.0, paid / np.maximum(owed, LEAST))  # so that b_y costs nothing
        owed = reach * (program.p @ most)
        parts += [most, -least]
        value += float(np.minimum(0.0, paid - owed).sum() * reach)
        weight += float((paid + owed).sum() * reach)
    return parts, value, weight


def _coefficients(demand: Demand, weights: Prices) -> list[Floats]:
    """The coefficients in V_y that the multipliers of a demand make, parts of shape (m, k)."""
    shape = (demand.conditional.shape[1], weights.linear.shape[1])
    parts = []
    if demand.entropic:
        rows, total = np.maximum(weights.rows, 0.0), max(weights.total, 0.0)
        law = np.log(_distributions(weights.laws)) - np.log(demand.margin)[:, None]
        parts += [(rows.sum(axis=0) + total) * law, demand.tilts.T @ rows]
        if demand.total is not None:
            parts.append(np.repeat(total * demand.total[:, None], shape[1], axis=1))
    parts.append(demand.linear.T @ np.maximum(weights.linear, 0.0))
    for transport, (price, pull) in zip(demand.transports, weights.transports, strict=True):
        price = np.maximum(price, 0.0)
        within = transport.weights[:, None] * price
        parts.append(transport.rows.T @ np.clip(pull, -within, within))
        parts.append(np.broadcast_to(-transport.limit * price, shape))
    return parts


def _distributions(laws: Floats) -> Floats:
    """Positive columns that sum to at most 1: what is left out of them only lowers the bound."""
    positive = np.maximum(np.nan_to_num(laws, nan=0.0, posinf=0.0), 0.0)
    sums = positive.sum(axis=0)
    even = np.full_like(positive, 1 / len(positive))
    scaled = np.where(sums > 0, positive / np.where(sums > 0, sums, 1.0), even)
    inside = 1 - 2 * (len(positive) + 2) * ROUNDING
    return np.maximum(scaled * inside, LEAST)
