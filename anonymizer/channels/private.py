"""Channels of least distortion of which every released symbol satisfies the privacy models.

A solver's answer is approximate, and is repaired into a channel that holds every condition.
Entries go that the prices say are none (complementarity: u (S - nu) = 0), phantom symbols go, and
rows are made to sum to 1. What is still broken is mended by mixing with a channel that ignores X:
(1 - e) q(y|x) + e b_y. Posteriors move towards the prior, so every sublinear condition that the
prior holds with room to spare is held for some e; at e = 1 nothing about X is released at all.
First b has the symbols that break a model, each as much as it needs, which is in proportion to its
own small mass; then what makes margins, the mean, or an average exact. All that counts is the
verification, which is the models' own.

Conditions that the prior only just holds are equations, and met as such. Where f(p) = 0, p the
margin of W, every symbol is at its limit: the sum over y of f(V_y) <= 0 is at least f(p) = 0, so
all are 0. Of t = 0 that leaves V_y = p M_y; of a bound on a share that the table itself is at,
c'V_y = 0. No mixing with the prior mends what is off there, or nearly there; moving u(x,y) onto the
equations does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.channel import OptimalChannel, Solved, TradeoffPoint, epsilon_of
from anonymizer.channels.program import (
    EXACT,
    ChannelPolicy,
    Demand,
    Extras,
    Program,
    program_of,
    proof,
)
from anonymizer.channels.source import JointLaw, Sensitive, expected, require_distortion
from anonymizer.channels.validation import matrix_of, nats_per, number_of
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.kernels.arrays import Floats
from anonymizer.privacy import PrivacyModel, models_of

TELLING_EPSILON = 20.0
"""Beyond, a program is solved without epsilon, and what that leaves open is mended: releasing each
symbol to everybody with chances of e^-20 costs next to nothing, and requiring them in a program
costs its accuracy (measured: at 50 Clarabel stops a fifth above the optimum)."""


def private_channel(
    joint: ArrayLike,
    distortion: ArrayLike,
    privacy: Sequence[PrivacyModel],
    invariant: bool = False,
    epsilon: float | None = None,
    *,
    unbiased: tuple[ArrayLike, ArrayLike] | None = None,
    records: float | None = None,
    prior: ArrayLike | None = None,
    values: Sequence[object] = (),
    tolerance: float = 1e-5,
    unit: str = "bits",
) -> OptimalChannel:
    """The channel of least E d(X, Y) of which every released symbol satisfies every model.

    A convex program, solved by an interior-point method; the answer is verified symbol by symbol
    with the models' own measures, and no channel that passes them distorts less than
    ``lower_bound``, which rests on no solver. Symbols of no use are never released: their columns
    are 0.

    Parameters
    ----------
    joint, distortion
        p(x, w), or the records of each, shape (n, m); d(x, y) of at least 0, shape (n, k).
    privacy
        Models: t-closeness, entropy l-diversity, k-anonymity, those that bound shares, mean
        information. A released symbol is a class. k-anonymity requires H(record|y) >= log k:
        whoever sees y is as uncertain whose record it is as among k equally likely ones.
    invariant, epsilon, unbiased
        See :class:`Extras`; epsilon in nats, whatever the unit.
    records
        N, for models about k; the sum of ``joint`` where that holds whole numbers.
    prior
        p(w) as an adversary knows it, shape (m,); that of ``joint`` when left out.
    values
        What the columns of ``joint`` stand for, for distances between values of W.
    tolerance, unit
        What part of the distortion the gap of a certified answer may be; ``"bits"`` or ``"nats"``,
        of the leakage I(W;Y).

    Returns
    -------
    OptimalChannel
        q(y|x), shape (n, k), its distortion and leakage in ``unit``, and a certified lower bound.

    Raises
    ------
    InputError
        When something is no distribution, no distance, or no model with a convex form.
    PolicyUnreachableError
        When no channel holds the policy: one symbol for everybody would.

    Notes
    -----
    Per symbol what Rebollo-Monedero et al. (2010) bound on average; t-closeness and l-diversity as
    Bezzi (2010) has them; local differential privacy after Duchi, Jordan, Wainwright (2013).
    """
    names = {m.attribute for m in models_of(privacy) if getattr(m, "attribute", None) is not None}
    if len(names) > 1:
        raise InputError(
            f"privacy is about {len(names)} sensitive attributes, and joint about one: "
            "solve them together from one law each"
        )
    sensitive = Sensitive.of(joint, prior, values, str(next(iter(names), "W")))
    if records is None:
        counts = matrix_of("joint", joint)
        whole = bool((counts == np.rint(counts)).all()) and counts.sum() > 1
        records = float(counts.sum()) if whole else None
    extras = Extras(invariant, epsilon, unbiased)
    return least_distortion(
        [sensitive], distortion, privacy, extras, records, tolerance=tolerance, unit=unit
    )


def least_distortion(
    sensitive: Sequence[Sensitive],
    distortion: ArrayLike,
    privacy: Sequence[PrivacyModel],
    extras: Extras | None = None,
    records: float | None = None,
    *,
    tolerance: float = 1e-5,
    unit: str = "bits",
) -> OptimalChannel:
    """Least distortion under models of several sensitive attributes at once, all next to one X.

    A model that names none of them is about each. The leakage is that about the first. Errors are
    those of :func:`private_channel`.
    """
    number_of("tolerance", tolerance, above=0, most=1)
    if records is not None:
        number_of("records", records, least=1)
    nats_per(unit)
    listed = isinstance(sensitive, Sequence) and all(isinstance(s, Sensitive) for s in sensitive)
    if not listed or not sensitive:
        raise InputError("sensitive must be a list of Sensitive.of(joint), one at least")
    extras = Extras() if extras is None else extras
    for other in sensitive[1:]:
        other.require_same(sensitive[0])
    source = sensitive[0].source
    given = require_distortion(distortion, "joint", source.shape[0])
    costs = np.ascontiguousarray(given[source.rows])
    policy = ChannelPolicy.of(privacy, sensitive, records)
    program, columns = program_of(source, costs, extras)
    tolerated = replace(program, demands=policy.demands(tolerated=True))
    tolerated.require_room()
    policy.require_reachable()
    exact = replace(program, demands=policy.demands(tolerated=False))
    channel = np.zeros((len(source.p), costs.shape[1]))
    channel[:, columns], bound, steps = _best(exact, tolerated, policy, tolerance)
    full, leakage = _everywhere(channel, given, source, extras), source.leakage(channel)
    point = TradeoffPoint(full, expected(source.p, channel, costs), leakage)
    found = Solved(point, bound, steps, "clarabel")
    return OptimalChannel.of(found, "distortion", unit, tolerance)


_Answer = tuple[Floats, float, int]
"""A verified channel, the lower bound that is proven, and the steps of the solver."""


def _best(exact: Program, tolerated: Program, policy: ChannelPolicy, tolerance: float) -> _Answer:
    """Solve a hair inside the limits, and closer to them where that was too far inside.

    A hair h costs up to h times what ignoring X costs, as a mixture with a channel that does is
    among the channels that are left.
    """
    most = exact.expected(blind(exact))
    channel, bound, steps = _answer(exact, tolerated, policy, tolerance, hair=tolerance / 10)
    value = exact.expected(channel)
    # At 2.5 times the value the hair costs at most a quarter of the tolerance: it is not to blame.
    if value - bound <= tolerance * value or most <= 2.5 * value:
        return channel, bound, steps
    closer, other, more = _answer(exact, tolerated, policy, tolerance, hair=tolerance / 1000)
    return min(channel, closer, key=exact.expected), max(bound, other), steps + more


def _answer(
    exact: Program, tolerated: Program, policy: ChannelPolicy, tolerance: float, hair: float
) -> _Answer:
    from anonymizer.channels.conic import solve  # loads clarabel

    epsilon = exact.epsilon
    if epsilon is not None:
        epsilon = epsilon * (1 - hair) if epsilon <= TELLING_EPSILON else None
    demands = tuple(demand.inside(hair) for demand in exact.demands)
    solved = replace(exact, demands=demands, epsilon=epsilon)
    joint, multipliers, steps = solve(solved, accuracy=min(1e-8, tolerance * 1e-4))
    relaxed = tolerated if solved.epsilon is not None else replace(tolerated, epsilon=None)
    bound, costs = proof(relaxed, multipliers)
    good = bound / (1 - 0.9 * tolerance)  # certified, with room for rounding
    return repaired(exact, joint, costs, policy, good), bound, steps


def _everywhere(channel: Floats, distortion: Floats, source: JointLaw, extras: Extras) -> Floats:
    """Rows for values that never occur, too: the nearest symbol that is released.

    With epsilon the mean of all rows, which differs from none of them by more.
    """
    full = np.zeros((source.shape[0], channel.shape[1]))
    if extras.epsilon is None:
        nearest = np.where(channel.max(axis=0) > 0, distortion, np.inf).argmin(axis=1)
        full[np.arange(len(full)), nearest] = 1.0
    else:
        full[:] = source.p @ channel
    full[source.rows] = channel
    return full


PHANTOMS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
"""Masses below which a symbol is taken for an artefact of the solver; the best is kept."""

TINY = 1e-10
"""Chances below which an entry is taken for a zero where zeros are allowed."""

MIXTURES = (0.0, *np.geomspace(1e-13, 1e-2, 45), 0.03, 0.1, 0.3, 1.0)
ROUNDS = 2000

TOPPINGS = np.geomspace(1e-13, 1e3, 97)
"""What part of its mass a symbol may need of everybody."""

CLOSE = 1e-3
"""What a condition may have left at the prior, in its own unit, to be met as an equation: a
channel that meets it so is one candidate among others."""

MOST_EQUATIONS = 2500
"""Beyond, the dense system would take longer than the program itself."""

PROJECTIONS = 6


def repaired(
    program: Program, joint: Floats, costs: Floats, policy: ChannelPolicy, good: float
) -> Floats:
    """The least distorting channel that a policy accepts, near u(x,y), shape (n, k).

    ``costs`` are the S(x, y) of the same answer. Of channels that distort at most ``good`` it is
    the one of the fewest entries. Callers have made sure that a channel that ignores X passes.
    """
    sound = list(_mended(program, joint, costs, policy))
    if _holds(program, ignoring := blind(program), policy):
        sound.append(ignoring)
    if not sound:
        raise PolicyUnreachableError(
            "no channel could be verified to hold the policy, not even one that ignores the value; "
            "relax it"
        )
    least = min(program.expected(one) for one in sound)
    enough = [one for one in sound if program.expected(one) <= max(least, good)]
    return min(enough, key=lambda channel: int((channel > 0).sum()))


def blind(program: Program) -> Floats:
    """The channel of least distortion among those that ignore X, shape (n, k).

    A fresh draw of X where margins are to be kept; else one symbol, or with a mean to be met the
    best two around it: a linear program with two equations has a solution of two entries.
    """
    costs, drift = program.p @ program.distortion, program.drift
    shares = np.zeros(len(costs))
    if program.invariant:
        return np.tile(program.p, (len(program.p), 1))
    if drift is None:
        shares[np.argmin(costs)] = 1.0
        return np.tile(shares, (len(program.p), 1))
    low, high = np.flatnonzero(drift <= 0), np.flatnonzero(drift >= 0)
    width = drift[high][None] - drift[low][:, None]
    part = np.divide(-drift[low][:, None], width, out=np.zeros_like(width), where=width > 0)
    mixed = (1 - part) * costs[low][:, None] + part * costs[high][None]
    left, right = np.unravel_index(int(np.argmin(mixed)), mixed.shape)
    shares[low[left]] += 1 - part[left, right]
    shares[high[right]] += part[left, right]
    return np.tile(shares, (len(program.p), 1))


def _met(program: Program, margin: Floats) -> bool:
    if program.invariant and np.abs(margin - program.p).max() > EXACT:
        return False
    return program.drift is None or abs(float(program.drift @ margin)) <= EXACT


def _mixed(program: Program, channel: Floats, e: float) -> Floats | None:
    """(1 - e) q + e b with a b that makes margin and mean as required; None where there is none."""
    margin = program.p @ channel
    if e == 0.0:
        return channel if _met(program, margin) else None
    b, drift = margin, program.drift
    if program.invariant:  # (1 - e) margin + e b is p
        b = (program.p - (1 - e) * margin) / e
        b = b / b.sum()
    elif drift is not None:
        # The mean of b has to be -off: one symbol more, on the other side, brings it there.
        mean = float(drift @ margin)
        off = (1 - e) * mean / e
        released = np.where(margin > 0, drift, 0.0)
        other = int(np.argmin(released) if off > 0 else np.argmax(released))
        part = (-off - mean) / (float(drift[other]) - mean) if off else 0.0
        b = (1 - part) * margin
        b[other] += part
        if not 0 <= part <= 1:
            return None
    return np.asarray((1 - e) * channel + e * b[None]) if b.min() >= 0 else None


def _mended(
    program: Program, joint: Floats, costs: Floats, policy: ChannelPolicy
) -> Iterator[Floats]:
    """For every idea of what is no more than an artefact, the least mixed channel that passes."""
    reduced = (costs - costs.min(axis=1)[:, None]) / program.scale
    joint = np.maximum(joint, 0.0)
    for sparse in (True, False):
        wanted = np.where(joint >= reduced * program.p[:, None], joint, 0.0) if sparse else joint
        seen = -1
        for least in (0.0,) if program.invariant else PHANTOMS:
            cleaned = _cleaned(program, wanted, least)
            if cleaned is None or (kept := int((cleaned > 0).sum())) == seen:
                continue
            seen = kept
            for near in _near(program, cleaned):
                topped = _topped(program, near, policy)
                for e in MIXTURES:
                    mixed = _mixed(program, topped, e)
                    if mixed is not None and _holds(program, mixed, policy):
                        yield mixed
                        break


def _near(program: Program, channel: Floats) -> Iterator[Floats]:
    """A channel, and what it becomes where conditions have to be met as equations."""
    yield channel
    joint = _projected(program, program.p[:, None] * channel)
    if joint is not None and (joint.sum(axis=1) > 0).all():
        yield np.asarray(joint / joint.sum(axis=1)[:, None])


def _cleaned(program: Program, joint: Floats, least: float) -> Floats | None:
    """Rows that sum to 1, without phantom symbols; None where a row has nothing left."""
    joint = np.where(joint.sum(axis=0) >= least, joint, 0.0)
    joint = np.where(joint >= TINY * program.p[:, None], joint, 0.0)
    if not (joint.sum(axis=1) > 0).all():
        return None
    channel = joint / joint.sum(axis=1)[:, None]
    return _fitted(program.p, channel) if program.invariant else channel


def _topped(program: Program, channel: Floats, policy: ChannelPolicy) -> Floats:
    """Release every symbol that breaks a model to everybody, too, as much as it needs."""
    if program.invariant:  # margins leave no room
        return channel
    reach = np.inf if program.epsilon is None else np.exp(program.epsilon)
    mass = program.p @ channel
    more, broken = np.zeros(len(mass)), np.arange(len(mass))
    for part in (0.0, *TOPPINGS):
        more[broken] = part * mass[broken]
        topped = channel[:, broken] + more[broken]  # columns need not sum to anything
        with np.errstate(invalid="ignore"):  # infinity times 0: without epsilon nothing breaks it
            fine = policy.each(topped) & ~(topped.max(axis=0) > reach * topped.min(axis=0))
        broken = broken[~fine]
        if not len(broken):
            break
    return np.asarray((channel + more) / (1 + more.sum()))


def _fitted(p: Floats, channel: Floats) -> Floats:
    """Rows scaled to 1 and the margin of Y to p in turn (Sinkhorn 1967), as far as that comes."""
    joint = p[:, None] * channel
    for _ in range(ROUNDS):
        margin = joint.sum(axis=0)
        if np.abs(margin - p).max() <= EXACT / 10 or not (margin > 0).all():
            break
        joint *= p / margin
        joint *= (p / joint.sum(axis=1))[:, None]
    return np.asarray(joint / joint.sum(axis=1)[:, None])


def _holds(program: Program, channel: Floats, policy: ChannelPolicy) -> bool:
    """Return whether rows are distributions, margins, mean, epsilon and models as required."""
    rows = channel.min() >= 0 and np.abs(channel.sum(axis=1) - 1).max() <= EXACT
    if not rows or not _met(program, program.p @ channel):
        return False
    private = program.epsilon is None or epsilon_of(channel) <= program.epsilon + EXACT
    return private and policy.accepts(channel)


def _projected(program: Program, joint: Floats) -> Floats | None:
    """The u(x,y) near a given one that meets the equations, shape (n, k); None without any.

    min sum (v - u)^2 / u over v with the row sums p and E P' v_y = 0 for all y: corrections are in
    proportion to what there is, so that zeros stay zeros. Entries that turn negative are left out
    in the next round.
    """
    parts = [(demand, _equations(demand)) for demand in program.demands]
    tests = [demand.conditional @ rows.T for demand, rows in parts if len(rows)]
    n, k = joint.shape
    if not tests or n + k * sum(test.shape[1] for test in tests) > MOST_EQUATIONS:
        return None
    test = np.hstack(tests)
    for _ in range(PROJECTIONS):
        joint = joint + _correction(program.p, joint, test)
        if joint.min() >= 0:
            break
        joint = np.maximum(joint, 0.0)
    return joint


def _equations(demand: Demand) -> Floats:
    """Rows E with E V_y = 0, shape (rows, m); all of them hold of the margin itself."""
    p = demand.margin
    found = [demand.linear[demand.linear @ p > -CLOSE]]
    found += [
        one.rows
        for one in demand.transports
        if one.limit - one.weights @ np.abs(one.rows @ p) < CLOSE
    ]
    rows = demand.tilts if demand.total is None else np.vstack([demand.tilts, demand.total])
    if len(rows) and (rows @ p).max() > -CLOSE:
        found.append(np.eye(len(p)))
    tests = np.vstack(found)
    return np.asarray(tests - (tests @ p)[:, None])


def _correction(p: Floats, joint: Floats, test: Floats) -> Floats:
    """U A' (A U A')^+ (b - A u) of the equations A v = b, U the diagonal of u, shape (n, k)."""
    n, k = joint.shape
    rows = test.shape[1]
    system = np.zeros((n + k * rows, n + k * rows))
    system[:n, :n] = np.diag(joint.sum(axis=1))
    cross = (joint[:, :, None] * test[:, None, :]).reshape(n, -1)
    system[:n, n:], system[n:, :n] = cross, cross.T
    for y in range(k):
        here = slice(n + y * rows, n + (y + 1) * rows)
        system[here, here] = (test * joint[:, y, None]).T @ test
    off = np.concatenate([p - joint.sum(axis=1), -(test.T @ joint).T.ravel()])
    scale = 1 / np.sqrt(np.maximum(np.diag(system), 1e-300))
    prices = scale * np.linalg.lstsq(scale[:, None] * system * scale, scale * off, rcond=1e-12)[0]
    return np.asarray(joint * (prices[:n, None] + test @ prices[n:].reshape(k, rows).T))
