"""Channels in manifests: written down so that they read back as they were, and read back."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from anonymizer.channels.channel import Channel, require_channel
from anonymizer.channels.validation import require_room
from anonymizer.errors import InputError, is_number, is_whole, shown
from anonymizer.tables.values import is_missing, text_of

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
    """Tell whether these are places of labels, each once, and as many chances."""
    if not isinstance(where, list) or not isinstance(chances, list) or len(where) != len(chances):
        return False
    places = all(is_whole(place, least=0) and place < labels for place in where)
    numbers = all(is_number(chance, 0, 1) for chance in chances)
    return places and len({*where}) == len(where) and numbers
