"""What a manifest reports of values that were drawn at random, held against the released table."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.masking import DISTORTIONS, RandomRecoding
from anonymizer.release.recodings import RECODINGS
from anonymizer.release.verification.check import (
    CONSISTENT,
    UNCHECKED,
    Check,
    at,
    compared,
    required,
)
from anonymizer.release.verification.facts import Facts
from anonymizer.release.verification.labels import texts_in
from anonymizer.tables import pandas as engine
from anonymizer.tables.values import counted

if TYPE_CHECKING:
    from anonymizer.channels import Channel

__all__ = ["masking"]

METHODS = [name for name, kind in RECODINGS.items() if issubclass(kind, RandomRecoding)]

WITHHELD = "the channels of the masking are withheld"


def masking(facts: Facts) -> Iterator[Check]:
    """What the drawn table discloses, the channels, and that it shows nothing they cannot."""
    told = facts.manifest.get("masking")
    if not told:
        return
    yield from _realised(facts, told)
    yield from _names(facts, told)
    stated = [channel["epsilon"] for channel in told["channels"]]
    total = None if None in stated else sum(stated)
    yield compared("masking.epsilon", at(told, "epsilon"), total, CONSISTENT)
    listed = all("rows" in channel for channel in told["channels"])
    yield compared("masking.withheld", told["withheld"], not listed, CONSISTENT)
    if listed:
        yield from _channels(facts, told)
    else:
        yield Check("masking.channels", UNCHECKED, None, reason=WITHHELD)


def _realised(facts: Facts, told: Mapping[str, Any]) -> Iterator[Check]:
    from anonymizer.masking.disclosure import disclosed  # its solvers take a while to load

    yield compared("masking.realised", sorted(told["realised"]), sorted(facts.schema.sensitive))
    for name in facts.schema.sensitive:
        for measure, bits in asdict(disclosed(facts.counts.joint[name])).items():
            said = at(told, "realised", name, measure)
            yield compared(f"masking.realised.{name}.{measure}", said, bits)


def _names(facts: Facts, told: Mapping[str, Any]) -> Iterator[Check]:
    """Attributes are named alike wherever they are."""
    names = sorted(facts.masked)
    yield required(
        "masking.attributes",
        bool(names) and {*names} <= {*facts.recoded},
        "",
        "has other quasi-identifiers",
    )
    for part in ("distortion", "scale"):
        yield compared(f"masking.{part}", sorted(told[part]), names, CONSISTENT)
    known = told["method"] in METHODS and {*told["distortion"].values()} <= {*DISTORTIONS}
    yield required("masking.method", known, "", "knows no such method or distortion")
    for each in told["channels"]:
        alone = [name for name in each["attributes"] if name in names]
        if len(alone) == 1:  # what is not added to anything is not scaled
            (name,) = alone
            yield compared(f"masking.scale.{name}", told["scale"][name], 1.0, CONSISTENT)
    within = [name for each in told["channels"] for name in each["attributes"]]
    covered = {*names} <= {*within} <= {*facts.recoded} and len({*within}) == len(within)
    yield required("masking.channels", covered, "", "has other attributes")
    kept = told["preserved"]
    if kept:
        allowed = {*names, *facts.schema.sensitive}
        agrees = {*kept["columns"]} <= allowed
        yield required("masking.preserved.columns", agrees, "", "has no such numbers")


def _channels(facts: Facts, told: Mapping[str, Any]) -> Iterator[Check]:
    from anonymizer.channels import channels_of

    found = channels_of(told)
    for place, (attributes, channel) in enumerate(found.items()):
        field, said = f"masking.channels.{place}", told["channels"][place]
        epsilon = None if channel.epsilon == inf else channel.epsilon
        yield compared(f"{field}.epsilon", said["epsilon"], epsilon, CONSISTENT)
        yield compared(f"{field}.rank", said["rank"], channel.rank, CONSISTENT)
        wrong = _undrawn(facts, attributes, channel)
        words = f"has others in {counted(wrong, 'record')}"
        drawn = counted(len(channel.labels), "symbol")
        yield required(f"{field}.labels", not wrong, drawn, words, how="recomputed")


def _undrawn(facts: Facts, attributes: tuple[str, ...], channel: "Channel") -> int:
    """The records whose symbols the channel never releases."""
    released = channel.matrix.max(axis=0) > 0
    possible = {label for label, some in zip(channel.labels, released, strict=True) if some}
    group, first = engine.grouped(facts.table, attributes)
    columns = [texts_in(facts, name) for name in attributes]
    rows = zip(*([texts[code] for code in codes[first]] for codes, texts in columns), strict=True)
    strange = np.array([row not in possible for row in rows])
    return int(strange[group].sum())
