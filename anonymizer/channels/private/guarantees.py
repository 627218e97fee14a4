"""Random recodings of which every released symbol is as private as a released class has to be."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.private.constraints import Extras, program_of
from anonymizer.channels.private.dual import proof
from anonymizer.channels.private.program import Program
from anonymizer.channels.private.repair import blind, repaired
from anonymizer.channels.private.verification import Policy
from anonymizer.channels.result import OptimalChannel
from anonymizer.channels.sensitive import Sensitive
from anonymizer.channels.source import Floats, Source, matrix_of, nats_per, require_distortion
from anonymizer.errors import InputError, require_number
from anonymizer.privacy import PrivacyModel, models_of

__all__ = ["Extras", "least_distortion", "private_channel"]

TELLING_EPSILON = 20.0
"""Beyond, a program is solved without epsilon, and what that leaves open is mended: releasing each
symbol to everybody with chances of e^-20 costs next to nothing, and asking for them in a program
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
    joint
        p(x, w), or the records of each, shape (n, m).
    distortion
        d(x, y), shape (n, k), at least 0: what it costs to release y for x.
    privacy
        Models: t-closeness, entropy l-diversity, k-anonymity, those that bound shares, mean
        information. A released symbol is a class. k-anonymity asks H(record|y) >= log k: whoever
        sees y is as uncertain whose record it is as among k equally likely ones.
    invariant, epsilon, unbiased
        See :class:`Extras`; epsilon in nats, whatever the unit.
    records
        N, for models about k; the sum of ``joint`` where that holds whole numbers.
    prior
        p(w) as an adversary knows it, shape (m,); that of ``joint`` when left out.
    values
        What the columns of ``joint`` stand for, for distances between values of W.
    tolerance
        What part of the distortion the gap may be for the answer to count as certified.
    unit
        Of the leakage I(W;Y) that is stated, ``"bits"`` or ``"nats"``.

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
        records = _counted(matrix_of("joint", joint))
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
    """The same about several sensitive attributes at once, all beside the same X.

    A model that names none of them is about each. The leakage stated is that about the first.

    Raises
    ------
    InputError, PolicyUnreachableError
        As :func:`private_channel`, and when the attributes are not about the same X.
    """
    require_number("private channel", "tolerance", tolerance, least=0, most=1, above=True)
    if records is not None:
        require_number("private channel", "records", records, least=1)
    nats = nats_per(unit)
    _require_sensitive(sensitive)
    extras = Extras() if extras is None else extras
    for other in sensitive[1:]:
        other.require_same(sensitive[0])
    source = sensitive[0].source
    costs = require_distortion(distortion, source)
    policy = Policy.of(privacy, sensitive, records)
    program, columns = program_of(source, costs, extras)
    tolerated = replace(program, demands=policy.demands(tolerated=True))
    tolerated.require_room()
    policy.require_reachable()
    exact = replace(program, demands=policy.demands(tolerated=False))
    best = _best(exact, tolerated, policy, tolerance)
    channel = np.zeros((len(source.p), costs.shape[1]))
    channel[:, columns] = best.channel
    value = source.expected(channel, costs)
    return OptimalChannel(
        channel=_everywhere(channel, matrix_of("distortion", distortion), source, extras),
        distortion=value,
        leakage=source.leakage(channel) / nats,
        slope=None,
        minimised="distortion",
        lower_bound=min(best.bound, value),
        certified=value - best.bound <= tolerance * value,
        unit=unit,
        method="clarabel",
        iterations=best.iterations,
    )


def _require_sensitive(stated: object) -> None:
    sound = isinstance(stated, Sequence) and all(isinstance(one, Sensitive) for one in stated)
    if not sound or not stated:
        raise InputError("sensitive must be a list of Sensitive.of(joint), one at least")


@dataclass(frozen=True, eq=False)
class _Answer:
    """A verified channel and what is proven about it."""

    channel: Floats
    value: float
    bound: float
    iterations: int


def _best(exact: Program, tolerated: Program, policy: Policy, tolerance: float) -> _Answer:
    """Solve a hair inside the limits, and closer to them where that was too far inside.

    A hair h costs up to h times what ignoring X costs, as a mixture with a channel that does is
    among the channels that are left.
    """
    most = float(np.einsum("x,xy,xy->", exact.p, blind(exact), exact.distortion))
    found = _answer(exact, tolerated, policy, tolerance, hair=tolerance / 10)
    loss = tolerance * found.value
    if found.value - found.bound <= loss or tolerance / 10 * most <= loss / 4:
        return found
    closer = _answer(exact, tolerated, policy, tolerance, hair=tolerance / 1000)
    better = min((found, closer), key=lambda one: one.value)
    bound = max(found.bound, closer.bound)
    return replace(better, bound=bound, iterations=found.iterations + closer.iterations)


def _answer(
    exact: Program, tolerated: Program, policy: Policy, tolerance: float, hair: float
) -> _Answer:
    from anonymizer.channels.private.conic import solve

    solved = _inside(exact, hair)
    found = solve(solved, accuracy=min(1e-8, tolerance * 1e-4))
    relaxed = tolerated if solved.epsilon is not None else replace(tolerated, epsilon=None)
    proven = proof(relaxed, found.multipliers)
    good = proven.bound / (1 - 0.9 * tolerance)  # certified, with room for rounding
    channel = repaired(exact, found.joint, proven.costs, policy, good)
    value = float(np.einsum("x,xy,xy->", exact.p, channel, exact.distortion))
    return _Answer(channel, value, proven.bound, found.iterations)


def _inside(program: Program, hair: float) -> Program:
    epsilon = program.epsilon
    if epsilon is not None:
        epsilon = epsilon * (1 - hair) if epsilon <= TELLING_EPSILON else None
    demands = tuple(demand.inside(hair) for demand in program.demands)
    return replace(program, demands=demands, epsilon=epsilon)


def _counted(joint: Floats) -> float | None:
    """The records, where a joint law is given as counts."""
    whole = bool((joint == np.rint(joint)).all())
    return float(joint.sum()) if whole and joint.sum() > 1 else None


def _everywhere(channel: Floats, distortion: Floats, source: Source, extras: Extras) -> Floats:
    """Rows for values that never occur, too: the nearest symbol that is released.

    With epsilon the mean of all rows, which differs from none of them by more.
    """
    full = np.zeros((source.shape[0], channel.shape[1]))
    full[source.rows] = channel
    absent = np.setdiff1d(np.arange(source.shape[0]), source.rows)
    if extras.epsilon is not None:
        full[absent] = source.p @ channel
        return full
    released = channel.max(axis=0) > 0
    nearest = np.where(released[None], distortion[absent], np.inf).argmin(axis=1)
    full[absent, nearest] = 1.0
    return full
