"""PRAM, post-randomization of categories, with a matrix that is given, drawn or invariant."""

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from anonymizer.channels.channel import Channel, drawn, require_channel
from anonymizer.channels.validation import (
    matrix_of,
    number_of,
    require_flag,
    require_generator,
    vector_of,
)
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes
from anonymizer.tables import engine
from anonymizer.tables.values import is_missing, rank


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
    """Alpha Q Q* + (1 - alpha) 1, by which p is left alone; q*(x|y) = p(x) q(y|x) / p(y).

    Whoever draws y by Q and then x by Bayes' rule draws x by p, whatever Q: p Q Q* = p (two-stage
    PRAM; Gouweleeuw et al., 1998). Values are drawn for values, whatever the labels of Q.

    Parameters
    ----------
    channel, margin
        Q, and p(x) or counts, exactly one number for every value of the channel; all above 0.
    alpha
        How much is randomized at all: above 0, up to 1.
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
    lacking = sum(value not in rows for value in values)
    if lacking:
        raise InputError(f"matrix has no rows for {lacking} of {len(values)} values of the column")
    return Channel(given.matrix[[rows[value] for value in values]], values, given.labels)


def _released(column: pd.Series, codes: Codes, labels: tuple[Hashable, ...]) -> pd.Series:
    """The labels drawn, of the type of the column where they are values of it."""
    released = engine.relabel(column, codes, labels)
    kind = column.dtype
    known = kind.categories if isinstance(kind, pd.CategoricalDtype) else column
    return released.astype(kind) if set(labels) <= set(known) else released.infer_objects()
