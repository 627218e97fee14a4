"""Random recodings of which every released symbol is as private as a released class has to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.channel import OptimalChannel, Solved, TradeoffPoint
from anonymizer.channels.private.program import Extras, Program, program_of, proof
from anonymizer.channels.private.repair import blind, repaired
from anonymizer.channels.private.requirements import ChannelPolicy
from anonymizer.channels.source import JointLaw, Sensitive, expected, require_distortion
from anonymizer.channels.validation import matrix_of, nats_per, number_of
from anonymizer.errors import InputError
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
    if value - bound <= tolerance * value or most <= 2.5 * value:
        return channel, bound, steps
    closer, other, more = _answer(exact, tolerated, policy, tolerance, hair=tolerance / 1000)
    return min(channel, closer, key=exact.expected), max(bound, other), steps + more


def _answer(
    exact: Program, tolerated: Program, policy: ChannelPolicy, tolerance: float, hair: float
) -> _Answer:
    from anonymizer.channels.private.conic import solve

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
