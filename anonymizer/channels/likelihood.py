"""Released counts, and the shares of true values that they are likeliest under, with a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.channel import Channel, require_channel
from anonymizer.channels.rates import positive_margin
from anonymizer.channels.validation import DISTINCT, number_of, require_room, whole_of
from anonymizer.errors import InputError, require_one_of
from anonymizer.kernels.arrays import Floats

METHODS = ("automatic", "expectation-maximisation")

MOST_VALUES = 1000
"""Beyond, Newton's method is not begun: a step takes as many operations as the cube of these."""

MOST_WORK = 1e11
"""Operations of a step for all columns together, likewise."""

ROUNDING = 8 * float(np.finfo(float).eps)
"""What every term of a sum adds to the relative error of a derivative, generously."""


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Shares of true values, and their distance from the likeliest ones.

    Parameters
    ----------
    shares
        p(x), or p(x, z), shape (n, m); adds up to 1, none negative.
    log_likelihood
        sum_y T(y) ln p(y), in nats.
    gap
        Proven: no other shares have a log-likelihood that is more than this above.
    converged, iterations
        Whether the gap is within the tolerance; steps of expectation-maximisation that it took.
    """

    shares: Floats
    log_likelihood: float
    gap: float
    converged: bool
    iterations: int


def maximum_likelihood(
    channel: Channel,
    counts: ArrayLike,
    other: Channel | None = None,
    *,
    method: str = "automatic",
    tolerance: float = 1e-4,
    most_iterations: int = 20_000,
) -> Likelihood:
    """The p(x, z) of largest L(p) = sum T(y, v) ln sum_xz p(x, z) q(y|x) q(v|z).

    By expectation-maximisation, p(x) <- p(x) g(x) with g(x) = sum_y T(y)/N q(y|x) / p(y), which
    never lowers L (Dempster, Laird and Rubin, 1977), extrapolated where that raises L further
    (SQUAREM; Varadhan and Roland, 2008); begun where Newton's method ended, as long as the problem
    is not too large for that, since it takes thousands of steps from far away. For every p*

        L(p*) - L(p) = N sum_y T(y)/N ln(p*(y) / p(y)) <= N ln sum_x p*(x) g(x) <= N ln max g

    by Jensen's inequality: that is the gap; 0 exactly where the Kuhn-Tucker conditions g <= 1 hold.

    Parameters
    ----------
    channel, other
        q(y|x) and q(v|z) of the attributes that rows and columns are about; None for columns that
        were released as they are.
    counts
        T, how many records were released with each label: shape (k,), or (k, m) for a table.
    method
        ``"automatic"``, or ``"expectation-maximisation"`` from uniform shares on.
    tolerance
        The gap that is small enough, in nats: a likelihood ratio of e^tolerance. What rounding may
        hide is small enough, too.
    most_iterations
        Of expectation-maximisation, where to give up: what is found is returned, and said not to
        have converged.

    Returns
    -------
    Likelihood
        The shares, shape (n,) or (n, m), their log-likelihood and its gap in nats.

    Raises
    ------
    InputError
        When the counts do not fit the channels, or hold a label that is never released.
    """
    require_one_of("method", method, METHODS)
    number_of("tolerance", tolerance, above=0)
    whole_of("most_iterations", most_iterations, 1)
    table = counts_of(counts, channel, other)
    law = _Law(channel.matrix, table, None if other is None else other.matrix)
    shares = law.near() if method == "automatic" else law.uniform()
    ratios = law.ratios(shares)
    gap, best, iterations = law.gap(ratios), shares, 0
    enough = max(tolerance, 2 * law.hidden)
    # The likelihood never falls, but its gap may rise on the way: the shares of the least are kept.
    while gap > enough and iterations < most_iterations:
        shares = law.extrapolated(shares, shares * ratios)
        ratios, iterations = law.ratios(shares), iterations + 1
        if law.gap(ratios) < gap:
            gap, best = law.gap(ratios), shares
    return Likelihood(best, law.log_likelihood(best), gap, gap <= enough, iterations)


@dataclass(frozen=True, eq=False)
class _Law:
    """Released counts, and their expectation under shares of true values."""

    left: Floats
    counts: Floats
    right: Floats | None

    @property
    def shape(self) -> tuple[int, int]:
        """The values of both attributes."""
        columns = self.counts.shape[1] if self.right is None else len(self.right)
        return len(self.left), columns

    @property
    def hidden(self) -> float:
        """Generous bound on the part of a gap that rounding may hide."""
        terms = sum(self.left.shape) + (0 if self.right is None else sum(self.right.shape))
        return float(ROUNDING * terms * self.counts.sum())

    def uniform(self) -> Floats:
        return np.full(self.shape, 1 / np.prod(self.shape))

    def near(self) -> Floats:
        """Approach by Newton's method, column by column where they were released as they are."""
        values, columns = self.shape
        size = values if self.right is None else values * columns
        if size > MOST_VALUES or (self.right is None and columns * values**3 > MOST_WORK):
            return self.uniform()
        if self.right is not None:
            product = np.asarray(np.kron(self.left, self.right), np.float64)
            return _nearest(product, self.counts.ravel()).reshape(self.shape)
        shares = np.zeros(self.shape)
        for place in np.flatnonzero(self.counts.any(axis=0)):
            column = self.counts[:, place]
            shares[:, place] = _nearest(self.left, column) * column.sum()
        return np.asarray(shares / shares.sum())

    def log_likelihood(self, shares: Floats) -> float:
        released = between(self.left, shares, self.right)
        some = self.counts > 0
        return float((self.counts[some] * np.log(released[some])).sum())

    def ratios(self, shares: Floats) -> Floats:
        """g(x, z), of which the mean under the shares is 1."""
        released = between(self.left, shares, self.right)
        some = self.counts > 0
        ratio = np.divide(self.counts, released, out=np.zeros_like(released), where=some)
        back = None if self.right is None else self.right.T
        return between(self.left.T, ratio / self.counts.sum(), back)

    def gap(self, ratios: Floats) -> float:
        """N ln max g, with what rounding may hide."""
        return float(self.counts.sum()) * max(float(np.log(ratios.max())), 0.0) + self.hidden

    def extrapolated(self, shares: Floats, once: Floats) -> Floats:
        """Two steps, and as far again in their direction as that raises the likelihood."""
        twice = once * self.ratios(once)
        step, turn = once - shares, (twice - once) - (once - shares)
        length = np.sqrt((step**2).sum() / max((turn**2).sum(), np.finfo(float).tiny))
        far = shares + 2 * length * step + length**2 * turn
        far = np.where((far > 0) & np.isfinite(far), far, twice)
        far /= far.sum()
        far *= self.ratios(far)  # a step from there on, which raises the likelihood in any case
        return far if self.log_likelihood(far) >= self.log_likelihood(twice) else twice


def _nearest(matrix: Floats, counts: Floats) -> Floats:
    """The likeliest p(x), nearly, of q(y|x): a margin is a mixture of components, shape (n,)."""
    some = counts > 0
    return positive_margin(counts[some] / counts.sum(), matrix[:, some].T, 0.0).weights


def between(left: Floats, table: Floats, right: Floats | None) -> Floats:
    """Left' table right, shape (a, b); a right of None stands for the identity."""
    found = left.T @ table
    return np.asarray(found if right is None else found @ right)


def counts_of(given: ArrayLike, channel: Channel, other: Channel | None = None) -> Floats:
    """Check released counts against the channels, shape (k, m); m = 1 for those of a margin."""
    require_channel("channel", channel)
    if other is not None:
        require_channel("other", other)
    try:
        array = np.asarray(given)
    except ValueError:  # rows of several lengths
        array = np.zeros(0)
    if array.dtype.kind not in "iuf" or array.ndim not in (1, 2) or not array.size:
        raise InputError("counts must be a list or a matrix of numbers of records")
    table = np.array(array, float).reshape(len(array), -1)
    whole = np.isfinite(table).all() and not (table != np.rint(table)).any()
    if np.ma.is_masked(given) or not whole or (table < 0).any():
        raise InputError("counts must be numbers of records: whole, at least 0, no shares of them")
    if not (table.max() < DISTINCT and 0 < table.sum() < DISTINCT):
        raise InputError("counts must add up to a number of records above 0 (and below 2^53)")
    _require_released("rows", channel, table.sum(axis=1))
    if other is not None:
        _require_released("columns", other, table.sum(axis=0))
    columns = table.shape[1] if other is None else len(other.values)
    require_room("the estimate", *[(max(channel.matrix.shape), max(len(table), columns))] * 4)
    return table


def _require_released(what: str, channel: Channel, counts: Floats) -> None:
    """Require one count for every label, and none of a label that is never released."""
    if len(counts) != len(channel.labels):
        raise InputError(
            f"counts have {len(counts)} {what}, but the channel {len(channel.labels)} labels; give "
            "one for every label, 0 where no record has it"
        )
    wrong = (counts > 0) & (channel.matrix.max(axis=0) == 0)
    if wrong.any():
        raise InputError(
            f"{int(counts[wrong].sum())} records have labels that the channel never releases: the "
            "counts are not of this channel"
        )
