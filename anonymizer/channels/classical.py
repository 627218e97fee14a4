"""The masking methods that sdcMicro and mu-Argus made customary, on columns of a DataFrame.

Their parameters are chosen by hand, and none but microaggregation promises anything about every
record: what an attacker learns from the result has to be measured. Recodings that are searched for
under a policy are elsewhere in this package, and so are random recodings with guarantees.

Columns of numbers: extreme values cut off, rounding, noise, and swaps between near ranks.
Microaggregation: records in groups of at least k, each released as the mean of its group. PRAM,
post-randomization of categories, with a matrix that is given, drawn or invariant.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from anonymizer.channels.channel import Channel, drawn, require_channel
from anonymizer.channels.ranges import cheapest
from anonymizer.channels.validation import (
    DISTINCT,
    LARGEST,
    columns_of,
    matrix_of,
    number_of,
    require_flag,
    require_generator,
    vector_of,
    whole_of,
)
from anonymizer.errors import InputError, require_one_of
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.tables import engine
from anonymizer.tables.values import is_missing, rank


def top_bottom_coding(
    column: pd.Series,
    *,
    bottom: float | None = None,
    top: float | None = None,
    replacement: str = "limit",
) -> pd.Series:
    """min(max(x, bottom), top); or the mean of what lies beyond, which keeps the total.

    Hides how extreme the extremes are, not whose they are (Hundepool et al., 2012):
    there is no guarantee, least of all where a mean is that of few.

    Parameters
    ----------
    column
        Numbers, none missing.
    bottom, top, replacement
        Values below or above are replaced by ``"limit"`` or ``"mean"``; one may be left out.

    Returns
    -------
    Series
        The coded numbers, on the old index.

    Raises
    ------
    InputError
        When there is neither limit, they are in the wrong order, or the column holds no numbers.
    """
    require_one_of("replacement", replacement, ("limit", "mean"))
    if bottom is None and top is None:
        raise InputError("neither bottom nor top is given: nothing would be coded")
    low = -np.inf if bottom is None else number_of("bottom", bottom, most=LARGEST)
    high = np.inf if top is None else number_of("top", top, most=LARGEST)
    if low >= high:
        raise InputError(f"bottom = {bottom!r} must be below top = {top!r}")
    numbers = _column(column)
    if replacement == "limit":
        return _like(column, np.clip(numbers, low, high))
    coded = numbers.copy()
    for beyond in (numbers < low, numbers > high):
        coded[beyond] = numbers[beyond].mean() if beyond.any() else 0.0
    return _like(column, coded)


def rounding(column: pd.Series, base: float) -> pd.Series:
    """Round to the nearest multiple of ``base``; halfway between two to the even one.

    Wrong by base / 2 at the most. There is no guarantee.

    Parameters
    ----------
    column, base
        Numbers, none missing; and a number above 0, in their unit.

    Returns
    -------
    Series
        Multiples of the base, whole numbers as such.

    Raises
    ------
    InputError
        When the column holds no numbers, or the base is not above 0 or too small for them.
    """
    base, multiples = _multiples(column, base)
    return _like(column, base * np.rint(multiples))


def random_rounding(
    column: pd.Series, base: float, rng: np.random.Generator, *, controlled: bool = True
) -> pd.Series:
    """Round at random to a neighbouring multiple of ``base``, with mean x.

    Unbiased (Nargundkar and Saveland, 1972). Controlled, the sum of any first records is rounded to
    a neighbouring multiple, too, that of all among them (Cox, 1987): numbers are rounded up where
    the sum of the remainders so far, begun at random, passes a multiple. Multiples stay what they
    are. There is no guarantee.

    Result and errors are those of :func:`rounding`.

    Parameters
    ----------
    column, base
        Numbers, none missing; and a number above 0, in their unit.
    controlled
        Whether sums are controlled; otherwise numbers are rounded independently of each other.
    """
    require_generator(rng)
    require_flag("controlled", controlled)
    base, multiples = _multiples(column, base)
    below = np.floor(multiples)
    rest = multiples - below
    if controlled:
        passed = np.floor(np.concatenate([[0.0], rest.cumsum()]) + rng.random())
        up = np.diff(passed)
    else:
        up = rng.random(len(rest)) < rest
    return _like(column, base * (below + up))


def _multiples(column: pd.Series, base: float) -> tuple[float, Floats]:
    """The base b, and x / b, shape (records,)."""
    base = number_of("base", base, above=0, most=LARGEST)
    with np.errstate(over="ignore"):
        multiples = _column(column) / base
    if np.abs(multiples).max() > DISTINCT:
        raise InputError(
            f"base = {base:g} is too small compared with the numbers: none would be rounded"
        )
    return base, multiples


def _column(column: pd.Series) -> Floats:
    if not isinstance(column, pd.Series):
        raise InputError(f"a column of numbers is needed, not {type(column).__name__}")
    name = "of this name" if column.name is None else column.name
    return np.asarray(columns_of(column.to_frame(name))[:, 0])


def _like(column: pd.Series, numbers: Floats) -> pd.Series:
    """Keep whole numbers whole, and of the old type as long as that holds them."""
    masked = pd.Series(numbers, index=column.index, name=column.name)
    if not pd.api.types.is_integer_dtype(column) or (numbers != np.rint(numbers)).any():
        return masked
    fits = column.min() <= numbers.min() and numbers.max() <= column.max()
    return masked.astype(column.dtype if fits else "int64")


def additive_noise(frame: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """X + e with independent e_j ~ N(0, share Var X_j) for every column j.

    Means are kept in expectation, covariances too; variances grow by the factor 1 + share, so that
    correlations shrink by it (Brand, 2002). There is no guarantee: who knows a value nearly finds
    its record, and the extreme ones stand out as before.

    Parameters
    ----------
    frame
        Columns of numbers, none missing.
    share
        The variance of the noise as a share of that of the column. Noise of p percent of the
        standard deviation, sdcMicro's ``noise = p``, is ``share = (p / 100)**2``.

    Returns
    -------
    DataFrame
        The columns with noise, on the old index.

    Raises
    ------
    InputError
        When columns hold no numbers, or the share is not a number above 0.
    """
    numbers, share = _checked(frame, share, rng)
    spread = np.sqrt(share * _covariance(numbers).diagonal())
    masked = numbers + rng.standard_normal(numbers.shape) * spread
    return pd.DataFrame(masked, index=frame.index, columns=frame.columns)


def correlated_noise(
    frame: pd.DataFrame, share: float, rng: np.random.Generator, *, corrected: bool = False
) -> pd.DataFrame:
    """X + e with e ~ N(0, share S), S the covariance of the columns; or shrunk back to S.

    Means and correlations are kept in expectation, covariances grow by the factor 1 + share. With
    ``corrected``, m + (X + e - m) / sqrt(1 + share), m the means: means and covariances are kept in
    expectation (Kim, 1986; Sullivan, 1989). Neither gives a guarantee about any record.

    Result and errors are those of :func:`additive_noise`.

    Parameters
    ----------
    frame
        Columns of numbers, none missing.
    share
        The covariance of the noise as a share of that of the columns; sdcMicro's ``noise = p`` of
        correlated noise is ``share = p / 100``.
    corrected
        Whether covariances are restored.
    """
    require_flag("corrected", corrected)
    numbers, share = _checked(frame, share, rng)
    # By eigenvectors: a column that is a sum of others has no Cholesky factor.
    values, vectors = np.linalg.eigh(share * _covariance(numbers))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    masked = numbers + rng.standard_normal(numbers.shape) @ root.T
    if corrected:
        mean = numbers.mean(axis=0)
        masked = mean + (masked - mean) / np.sqrt(1 + share)
    return pd.DataFrame(masked, index=frame.index, columns=frame.columns)


def rank_swapping(frame: pd.DataFrame, percent: float, rng: np.random.Generator) -> pd.DataFrame:
    """Swap each value with one whose rank is at most percent / 100 * N away, column by column.

    In the order of ranks every value that was not swapped yet changes places with another such,
    drawn from those up to floor(percent N / 100) ranks above it (Moore, 1996). Margins are kept
    exactly; what columns say of each other is blurred. There is no guarantee: a value is released,
    if of another record, and one of rare size betrays its neighbours in rank.

    Parameters
    ----------
    frame
        Columns of numbers, none missing. Equal numbers are ranked at random.
    percent
        Of the records: above 0, up to 100.

    Returns
    -------
    DataFrame
        The columns swapped, on the old index.

    Raises
    ------
    InputError
        When columns hold no numbers, or so few percent are less than one record.
    """
    require_generator(rng)
    numbers = columns_of(frame)
    percent = number_of("percent", percent, above=0, most=100)
    window = int(len(numbers) * percent / 100)
    if not window:
        raise InputError(
            f"percent = {percent:g} of {len(numbers):,} records is less than one: nothing would be "
            f"swapped; take at least {100 / len(numbers):.3g}"
        )
    masked = {}
    for place, name in enumerate(frame.columns):
        shuffled = rng.permutation(len(numbers))
        order = shuffled[np.argsort(numbers[shuffled, place], kind="stable")]
        taken = np.empty(len(order), np.intp)
        taken[order] = order[_partners(len(order), window, rng)]
        masked[name] = frame[name].array.take(taken)
    return pd.DataFrame(masked, index=frame.index)


def _checked(frame: pd.DataFrame, share: float, rng: np.random.Generator) -> tuple[Floats, float]:
    require_generator(rng)
    return columns_of(frame), number_of("share", share, above=0, most=LARGEST)


def _covariance(numbers: Floats) -> Floats:
    """S with denominator N - 1, shape (columns, columns); 0 for a single record."""
    centred = numbers - numbers.mean(axis=0)
    return np.asarray(centred.T @ centred / max(len(numbers) - 1, 1))


def _partners(ranks: int, window: int, rng: np.random.Generator) -> Codes:
    """The rank that each rank is swapped with; its own where none is left; shape (ranks,)."""
    partner = np.arange(ranks)
    free = np.ones(ranks, bool)
    for own, chance in enumerate(rng.random(ranks)):
        if free[own]:
            above = np.flatnonzero(free[own + 1 : own + 1 + window])
            if len(above):
                other = own + 1 + above[int(chance * len(above))]
                partner[own], partner[other] = other, own
                free[other] = False
    return partner


METHODS = ("mdav", "optimal")


class Microaggregated(NamedTuple):
    """The means of each record's group, on the old index, and its number, shape (records,).

    The numbers are not to be released.
    """

    released: pd.DataFrame
    groups: Codes


def microaggregation(frame: pd.DataFrame, k: int, *, method: str = "mdav") -> Microaggregated:
    """Replace each record by the mean of its group of k to 2k - 1 similar ones.

    What is guaranteed: every combination of values of these columns that is released is that of at
    least k records, k-anonymity where they are all that an attacker knows. Nothing is said of what
    the records of a group have in common otherwise.

    Parameters
    ----------
    frame
        Columns of numbers, none missing. Distances are of columns divided by their standard
        deviation.
    k
        Records in a group at the least: from 2 on, at most all.
    method
        ``"mdav"``, maximum distance to average vector: time and again the k records nearest to the
        one farthest from the mean, and those nearest to the one farthest from that, until less than
        3k are left (Domingo-Ferrer and Mateo-Sanz, 2002; Domingo-Ferrer and Torra, 2005);
        O(N^2 / k). ``"optimal"``, of one column: the groups with the least sum of squares, by
        dynamic programming (Hansen and Mukherjee, 2003); O(N k).

    Returns
    -------
    Microaggregated
        The means of each record's group, and the number of the group.

    Raises
    ------
    InputError
        When columns hold no numbers, there are less than k records, or several columns for
        ``"optimal"``.
    """
    require_one_of("method", method, METHODS)
    numbers = columns_of(frame)
    if whole_of("k", k, 2) > len(numbers):
        raise InputError(f"k = {k} is more than there are records, {len(numbers)}")
    if method == "optimal" and numbers.shape[1] != 1:
        raise InputError(
            f"method = 'optimal' is for one column, not {numbers.shape[1]}; take 'mdav'"
        )
    points = _standardized(numbers)
    groups = _mdav(points, k) if method == "mdav" else _optimal(points[:, 0], k)
    sizes = np.bincount(groups)
    middle = numbers.mean(axis=0)  # sums of large numbers would be rounded
    means = [
        middle[place] + np.bincount(groups, column - middle[place]) / sizes
        for place, column in enumerate(numbers.T)
    ]
    released = pd.DataFrame(
        np.column_stack(means)[groups], index=frame.index, columns=frame.columns
    )
    return Microaggregated(released, groups)


def _standardized(numbers: Floats) -> Floats:
    """Columns of mean 0 and standard deviation 1; of 0 where a column is constant."""
    centred = numbers - numbers.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def _mdav(points: Floats, k: int) -> Codes:
    """The group of each point, shape (points,)."""
    groups = np.empty(len(points), np.intp)
    columns = np.ascontiguousarray(points.T)  # so that each is read in the order it lies in
    left, number = np.arange(len(points)), 0
    # Two groups of k leave in each round, and k to 3k - 1 records are left for one group, or two.
    while len(left) >= 3 * k:
        from_far = _from_farthest(columns)
        near = _nearest(from_far, k)
        from_far[near] = -1  # in no second group
        from_second = _distances(columns, columns[:, from_far.argmax()])
        from_second[near] = np.inf
        also_near = _nearest(from_second, k)
        groups[left[near]], groups[left[also_near]] = number, number + 1
        number += 2
        kept = np.ones(len(left), bool)
        kept[near] = kept[also_near] = False
        left, columns = left[kept], columns.take(np.flatnonzero(kept), axis=1)
    groups[left] = number
    if len(left) >= 2 * k:
        groups[left[_nearest(_from_farthest(columns), k)]] = number + 1
    return groups


def _from_farthest(columns: Floats) -> Floats:
    """Squared distances from the point farthest from the mean of all, shape (points,)."""
    return _distances(columns, columns[:, _distances(columns, columns.mean(axis=1)).argmax()])


def _distances(columns: Floats, seed: Floats) -> Floats:
    """Squared, shape (points,)."""
    total = np.zeros(columns.shape[1])
    for column, middle in zip(columns, seed, strict=True):
        away = column - middle
        away *= away
        total += away
    return total


def _nearest(distances: Floats, k: int) -> Codes:
    """Find the k nearest, the first ones at equal distance, shape (k,)."""
    farthest = np.partition(distances, k - 1)[k - 1]
    nearer = np.flatnonzero(distances < farthest)
    ties = np.flatnonzero(distances == farthest)
    return np.concatenate([nearer, ties[: k - len(nearer)]])


def _optimal(points: Floats, k: int) -> Codes:
    """The group of each point on a line, shape (points,).

    A best partition has groups of neighbours, of k to 2k - 1 each: a larger one could be split.
    """
    order = np.argsort(points, kind="stable")
    ordered = points[order]
    sums = np.concatenate([[0.0], ordered.cumsum()])
    squares = np.concatenate([[0.0], (ordered**2).cumsum()])

    def within(end: int) -> tuple[int, Floats]:
        begin = np.arange(max(0, end - 2 * k + 1), end - k + 1)
        around = squares[end] - squares[begin] - (sums[end] - sums[begin]) ** 2 / (end - begin)
        return max(0, end - 2 * k + 1), np.maximum(around, 0.0)

    return np.asarray(cheapest(len(points), within)[np.argsort(order)])


class Randomized(NamedTuple):
    """A column, drawn on the old index, and the channel it was drawn by, which an analyst needs."""

    released: pd.Series
    channel: Channel


def pram(
    column: pd.Series,
    matrix: Channel | pd.DataFrame | ArrayLike | None,
    rng: np.random.Generator,
    *,
    invariant: bool = True,
    least_diagonal: float = 0.8,
    alpha: float | None = None,
) -> Randomized:
    """Draw each value anew by q(.|x), independently (Gouweleeuw, Kooiman et al., 1998).

    There is no guarantee beyond the channel's ``epsilon`` of local differential privacy, and where
    it says infinity, none at all: use ``anonymizer.channels`` for channels that have one.

    Parameters
    ----------
    column
        Categories, none missing.
    matrix
        q(y|x): a channel, a DataFrame with the values as index and the labels as columns, or a
        square matrix in the order of the categories, or else of the sorted values. None draws one,
        see :func:`random_channel`.
    invariant
        Whether the matrix is made to leave the column's margin alone, see
        :func:`invariant_channel`. A matrix is taken as it is with False.
    least_diagonal, alpha
        Of a matrix that is drawn, sdcMicro's ``pd``; of an invariant one, by default 1, but 0.5 for
        a matrix that is drawn, as in sdcMicro.

    Returns
    -------
    Randomized
        The column drawn, and the channel it was drawn by.

    Raises
    ------
    InputError
        When values are missing, or the matrix is no channel of the values of the column.
    """
    require_generator(rng)
    require_flag("invariant", invariant)
    values, codes = _categories(column)
    if matrix is None:
        chosen = random_channel(values, rng, least_diagonal=least_diagonal)
    else:
        chosen = _channel_of(matrix, values)
    if invariant:
        share = (0.5 if matrix is None else 1.0) if alpha is None else alpha
        chosen = invariant_channel(chosen, np.bincount(codes, minlength=len(values)), alpha=share)
    labels = drawn(chosen.matrix, codes, rng)
    return Randomized(_released(column, labels, chosen.labels), chosen)


def random_channel(
    values: tuple[Hashable, ...], rng: np.random.Generator, *, least_diagonal: float = 0.8
) -> Channel:
    """Values kept with a chance uniform on [least_diagonal, 1], changed evenly into the others.

    The matrix that sdcMicro draws (Templ, Kowarik and Meindl, 2015).
    """
    require_generator(rng)
    least = number_of("least_diagonal", least_diagonal, above=0, most=1)
    if not isinstance(values, tuple | list) or not values:
        raise InputError("there are no values to be randomized; give a list of them")
    values = tuple(values)
    number = len(values)
    kept = rng.uniform(least, 1, number) if number > 1 else np.ones(1)
    matrix = np.repeat(((1 - kept) / max(number - 1, 1))[:, None], number, axis=1)
    np.fill_diagonal(matrix, kept)
    return Channel(matrix, values, values)


def invariant_channel(channel: Channel, margin: ArrayLike, *, alpha: float = 1.0) -> Channel:
    """Make a channel invariant: alpha Q Q* + (1 - alpha) 1 keeps p; q*(x|y) = p(x) q(y|x) / p(y).

    Whoever draws y by Q and then x by Bayes' rule draws x by p, whatever Q: p Q Q* = p (two-stage
    PRAM; Gouweleeuw et al., 1998). Values are drawn for values, whatever the labels of Q.

    Parameters
    ----------
    channel, margin
        Q, and p(x) or counts, exactly one number for every value of the channel; all above 0.
    alpha
        How much is randomized at all: above 0, up to 1.

    Returns
    -------
    Channel
        From values to values, shape (n, n), that leaves p(x) as it is.

    Raises
    ------
    InputError
        When the margin does not fit the channel, or alpha is out of range.
    """
    require_channel("channel", channel)
    share = number_of("alpha", alpha, above=0, most=1)
    p = vector_of("margin", margin)
    if p.shape != (len(channel.values),):
        raise InputError(
            f"margin must hold one number for each of {len(channel.values)} values of the channel"
        )
    if not (p > 0).all():
        raise InputError("margin must hold numbers above 0; leave out values that do not occur")
    joint = p[:, None] / p.sum() * channel.matrix
    released = joint.sum(axis=0)
    back = np.divide(joint.T, released[:, None], out=np.zeros_like(joint.T), where=joint.T > 0)
    both = share * (channel.matrix @ back) + (1 - share) * np.eye(len(p))
    return Channel(both, channel.values, channel.values)


def _categories(column: pd.Series) -> tuple[tuple[Hashable, ...], Codes]:
    """The values in order, and which of them each record has, shape (records,)."""
    if not isinstance(column, pd.Series) or not len(column):
        raise InputError("a column with records is needed to be randomized")
    codes, found = engine.distinct(column)
    if any(is_missing(value) for value in found):
        raise InputError(
            f"column {column.name!r} misses {int(column.isna().sum()):,} values; drop these "
            "records, or give them a category"
        )
    order = list(range(len(found)))
    if not isinstance(column.dtype, pd.CategoricalDtype):
        order.sort(key=lambda code: rank(found[code]))
    return tuple(found[code] for code in order), np.argsort(order)[codes]


def _channel_of(given: Channel | pd.DataFrame | ArrayLike, values: tuple[Hashable, ...]) -> Channel:
    """The rows of a matrix for the values of a column, in their order."""
    if isinstance(given, pd.DataFrame):
        given = Channel(given.to_numpy(), tuple(given.index), tuple(given.columns))
    if not isinstance(given, Channel):
        given = matrix_of("matrix", given)
        shape = given.shape
        if shape != (len(values), len(values)):
            raise InputError(
                f"matrix has shape {shape}, but the column {len(values)} values; a DataFrame with "
                "values and labels as its index and columns may have any"
            )
        return Channel(given, values, values)
    rows = {value: row for row, value in enumerate(given.values)}
    without = sum(value not in rows for value in values)
    if without:
        raise InputError(f"matrix has no rows for {without} of {len(values)} values of the column")
    return Channel(given.matrix[[rows[value] for value in values]], values, given.labels)


def _released(column: pd.Series, codes: Codes, labels: tuple[Hashable, ...]) -> pd.Series:
    """The labels drawn, of the type of the column where they are values of it."""
    released = engine.relabel(column, codes, labels)
    kind = column.dtype
    known = kind.categories if isinstance(kind, pd.CategoricalDtype) else column
    return released.astype(kind) if set(labels) <= set(known) else released.infer_objects()
