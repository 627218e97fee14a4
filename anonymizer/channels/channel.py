"""Channels p(released | true): checked, drawn from, proven, and as manifests have them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.validation import matrix_of, nats_per, require_room
from anonymizer.errors import InputError, is_number, is_whole, shown
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.tables.values import is_missing, text_of

STOCHASTIC = 1e-9
"""How far the sum of a row may be from 1: rounding, and no more."""


@dataclass(frozen=True, eq=False)
class Channel:
    """A random recoding of one attribute, or of several together; a Partition is a 0/1 channel.

    Parameters
    ----------
    matrix
        q(y|x), shape (n, k): the chance of every released symbol given every true value.
    values, labels
        The true values, one per row, and what is released, one per column.
    """

    matrix: Floats
    values: tuple[Hashable, ...]
    labels: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", require_stochastic(self.matrix))
        for name in ("values", "labels"):
            given = getattr(self, name)
            if not isinstance(given, tuple | list):
                raise InputError(f"{name} of a channel must be a tuple, not {shown(given)}")
            object.__setattr__(self, name, tuple(given))
        if self.matrix.shape != (len(self.values), len(self.labels)):
            raise InputError(
                f"channel has shape {self.matrix.shape}, but there are {len(self.values)} values "
                f"and {len(self.labels)} labels"
            )

    @cached_property
    def epsilon(self) -> float:
        """Local differential privacy, in nats: max over y, x, x' of ln q(y|x) / q(y|x').

        Infinite where a released symbol rules a value out. Symbols that are never released do not
        count.
        """
        return epsilon_of(self.matrix)

    @property
    def rank(self) -> int:
        """Numerical rank; below the number of values, margins of X have no unbiased estimate."""
        return int(np.linalg.matrix_rank(self.matrix))


@dataclass(frozen=True, eq=False)
class TradeoffPoint:
    """A channel q(y|x), shape (n, k), with its distortion, its leakage in nats and its slope.

    The slope is that per nat for which it is the best, where it was found by one.
    """

    channel: Floats
    distortion: float
    leakage: float
    slope: float | None = None


@dataclass(frozen=True, eq=False)
class Solved:
    """A point, a lower bound of what it minimises, the steps and the method."""

    point: TradeoffPoint
    bound: float
    steps: int = 0
    method: str | None = None


@dataclass(frozen=True, eq=False)
class OptimalChannel:
    """A channel q(y|x), what it costs and what no channel can go below.

    Parameters
    ----------
    channel
        q(y|x), shape (n, k): every row a distribution. Rows of values of probability 0 are there.
    distortion, leakage
        E d(X, Y), and I(W;Y) in ``unit``.
    slope
        What one unit of leakage is worth in distortion: the one given, or the one found for a
        limit; None where no price was found or none is part of the problem.
    minimised
        ``"cost"``, ``"leakage"`` or ``"distortion"``: what the bound is about.
    lower_bound
        Proven: no channel that solves the same problem has less of what is minimised.
    certified
        Whether the gap is within the tolerance. False is no failure of the channel, which holds
        what it says: only its optimality is not proven.
    unit, method, iterations
        ``"bits"`` or ``"nats"``, what found the channel, and the steps it took.
    """

    channel: Floats
    distortion: float
    leakage: float
    slope: float | None
    minimised: str
    lower_bound: float
    certified: bool
    unit: str
    method: str
    iterations: int

    @classmethod
    def of(
        cls, found: Solved, minimised: str, unit: str, tolerance: float, rounding: float = 0.0
    ) -> OptimalChannel:
        """From nats; certified to a relative tolerance and what rounding may add."""
        nats, point, slope = nats_per(unit), found.point, found.point.slope
        measured = {"leakage": point.leakage, "distortion": point.distortion}
        value = measured.get(minimised, point.distortion + (slope or 0.0) * point.leakage)
        return cls(
            channel=point.channel,
            distortion=point.distortion,
            leakage=point.leakage / nats,
            slope=None if slope is None else slope * nats,
            minimised=minimised,
            # Rounding may put a bound above the value that it bounds.
            lower_bound=min(found.bound, value) / (nats if minimised == "leakage" else 1.0),
            certified=bool(value - found.bound <= tolerance * value + rounding),
            unit=unit,
            method=str(found.method),
            iterations=found.steps,
        )

    @property
    def cost(self) -> float:
        """Distortion + slope * leakage; the distortion alone where there is no slope."""
        return self.distortion + (self.slope or 0.0) * self.leakage

    @property
    def value(self) -> float:
        """Minimised quantity."""
        return float(getattr(self, self.minimised))

    @property
    def gap(self) -> float:
        """Bound on how much better any other channel can be; never negative."""
        return max(0.0, self.value - self.lower_bound)


def epsilon_of(matrix: Floats) -> float:
    """Max over y, x, x' of ln q(y|x) / q(y|x'), of the symbols that are released."""
    released = matrix[:, matrix.max(axis=0) > 0]
    least, most = released.min(axis=0), released.max(axis=0)
    return float(np.log(most / least).max()) if (least > 0).all() else float("inf")


def drawn(matrix: Floats, codes: Codes, rng: np.random.Generator) -> Codes:
    """A column for every record, drawn by the row of its code, shape (records,)."""
    labels = np.empty(len(codes), np.intp)
    for code in np.unique(codes):
        some = np.flatnonzero(codes == code)
        found = np.searchsorted(matrix[code].cumsum(), rng.random(len(some)), side="right")
        # Sums may miss 1 by rounding.
        labels[some] = np.minimum(found, np.flatnonzero(matrix[code])[-1])
    return labels


def require_channel(what: str, given: object) -> None:
    """Require a Channel, which knows what its rows and columns stand for; a matrix does not."""
    if not isinstance(given, Channel):
        raise InputError(f"{what} must be a Channel(matrix, values, labels), not {shown(given)}")


def require_stochastic(matrix: ArrayLike) -> Floats:
    """Check a matrix of distributions by row and make its sums 1 within rounding.

    So a channel that was written down reads back as it was. A message numbers rows from 0.
    """
    found = matrix_of("channel", matrix)
    sums = found.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > STOCHASTIC)
    if len(off):
        raise InputError(
            f"channel is not stochastic: row {off[0]} sums to {sums[off[0]]:.9g}; every row must "
            "sum to 1"
        )
    rounding = max(found.shape[1], 4) * np.finfo(float).eps
    return np.asarray(found / np.where(np.abs(sums - 1) > rounding, sums, 1.0)[:, None])


Texts = tuple[str | None, ...]
"""One text per attribute, None for a missing value."""


def described(channel: Channel, attributes: Sequence[str]) -> dict[str, object]:
    """Describe a channel for a manifest: JSON holds it, and :func:`channels_of` reads it back.

    Values and labels are lists of texts, one per attribute; null is a missing value. Rows are
    sparse: ``labels`` are the places of those that are released at all. Chances are written with as
    many digits as tell them apart from any other. ``epsilon`` is of local differential privacy, in
    nats, null where it is infinite.

    Raises
    ------
    InputError
        When values are not of so many attributes, or two of them are written alike.
    """
    require_channel("channel", channel)
    if not isinstance(attributes, Sequence) or not all(isinstance(n, str) for n in attributes):
        raise InputError("attributes must be a list of names of columns")
    values = _written("values", channel.values, attributes)
    labels = _written("labels", channel.labels, attributes)
    rows = [
        {"labels": np.flatnonzero(row).tolist(), "chances": row[row > 0].tolist()}
        for row in channel.matrix
    ]
    return {
        "attributes": list(attributes),
        "values": [list(texts) for texts in values],
        "labels": [list(texts) for texts in labels],
        "rows": rows,
        "epsilon": channel.epsilon if np.isfinite(channel.epsilon) else None,
        "rank": channel.rank,
    }


def channels_of(masking: Mapping[str, Any] | None) -> dict[tuple[str, ...], Channel]:
    """The channels that the ``masking`` of a manifest describes, by the attributes of each.

    Values and labels of a channel are tuples of texts, one per attribute.

    Raises
    ------
    InputError
        When nothing was masked, the channels are withheld, or their description is damaged.
    """
    if masking is None:
        raise InputError("release.json describes no random recoding: the records are as they were")
    if not isinstance(masking, Mapping):
        raise InputError(f"masking must be what release.json describes, not {shown(masking)}")
    if masking.get("withheld") is True:
        raise InputError(
            "release.json withholds the channels of this release: nothing can be estimated without "
            "them; contact who released it"
        )
    if "channels" not in masking:
        raise InputError(
            "release.json describes no channels of its masking: there is nothing to invert; noise "
            "on real numbers has none"
        )
    listed = masking["channels"]
    if not isinstance(listed, list) or not listed:
        raise InputError("release.json is damaged: its masking lists no channels")
    found: dict[tuple[str, ...], Channel] = {}
    for number, each in enumerate(listed):
        attributes, channel = _channel(each, f"release.json is damaged: channel {number} of its")
        if twice := {name for known in found for name in known} & {*attributes}:
            raise InputError(
                f"release.json is damaged: its masking has two channels of {min(twice)!r}"
            )
        found[attributes] = channel
    return found


def texts_of(value: Hashable, attributes: Sequence[str]) -> Texts:
    """The text of a value of some attributes, one for each; a value of one may stand for itself."""
    parts = value if isinstance(value, tuple) else (value,)
    if len(parts) != len(attributes):
        raise InputError(
            f"a channel has values of {len(parts)} attributes, but is said to be of "
            f"{len(attributes)}: {', '.join(attributes)}"
        )
    return tuple(None if is_missing(part) else text_of(part) for part in parts)


def _written(what: str, values: Iterable[Hashable], attributes: Sequence[str]) -> tuple[Texts, ...]:
    texts = tuple(texts_of(value, attributes) for value in values)
    if len(set(texts)) < len(texts):
        raise InputError(
            f"two {what} of the channel of {', '.join(attributes)} are written alike: what was "
            "released could not be distinguished"
        )
    return texts


def _channel(given: Any, damage: str) -> tuple[tuple[str, ...], Channel]:
    """Read one channel; whatever is wrong with it is one InputError."""
    try:
        attributes = tuple(given["attributes"])
        if not attributes or not all(isinstance(name, str) for name in attributes):
            raise ValueError
        values, labels = (_read(given[side], attributes) for side in ("values", "labels"))
        rows = [(row["labels"], row["chances"]) for row in given["rows"]]
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"{damage} masking lacks attributes, values, labels or rows, or they are no lists of "
            "texts"
        ) from None
    if len(rows) != len(values):
        raise InputError(f"{damage} masking has {len(rows)} rows for {len(values)} values")
    if any(len({*names}) < len(names) for names in (attributes, values, labels)):
        raise InputError(f"{damage} masking names an attribute, a value or a label twice")
    require_room(f"the channel of {', '.join(attributes)}", (len(values), len(labels)))
    matrix = np.zeros((len(values), len(labels)))
    for place, (where, chances) in enumerate(rows):
        if not _sound(where, chances, len(labels)):
            raise InputError(
                f"{damage} masking has no chances from 0 to 1 of known labels in row {place}"
            )
        matrix[place, where] = chances
    try:
        return attributes, Channel(matrix, values, labels)
    except InputError as error:
        raise InputError(f"{damage} masking: {error}") from None


def _read(given: Any, attributes: Sequence[str]) -> tuple[Texts, ...]:
    """Lists of texts, one per attribute."""
    if not isinstance(given, list) or not given:
        raise ValueError
    for texts in given:
        sound = isinstance(texts, list) and len(texts) == len(attributes)
        if not sound or not all(text is None or isinstance(text, str) for text in texts):
            raise ValueError
    return tuple(tuple(texts) for texts in given)


def _sound(where: Any, chances: Any, labels: int) -> bool:
    """Return whether these are places of labels, each once, and as many chances."""
    if not isinstance(where, list) or not isinstance(chances, list) or len(where) != len(chances):
        return False
    places = all(is_whole(place, least=0) and place < labels for place in where)
    numbers = all(is_number(chance, 0, 1) for chance in chances)
    return places and len({*where}) == len(where) and numbers
