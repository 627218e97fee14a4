"""What a manifest reports of values that were drawn at random, held against the released table."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.masking import DISTORTIONS, RandomRecoding
from anonymizer.release.recodings import RECODINGS
from anonymizer.release.verification.check import Check, Facts, at, compared, compared_all, required
from anonymizer.release.verification.labels import texts_in
from anonymizer.tables import engine
from anonymizer.tables.values import counted

if TYPE_CHECKING:
    from anonymizer.channels import Channel

METHODS = [name for name, kind in RECODINGS.items() if issubclass(kind, RandomRecoding)]

WITHHELD = "the channels of the masking are withheld"


def masking(facts: Facts) -> Iterator[Check]:
    """What the drawn table discloses, the channels, and that it shows nothing they cannot."""
    reported = facts.manifest.get("masking")
    if not reported:
        return
    yield from _realised(facts, reported)
    yield from _names(facts, reported)
    epsilons = [channel["epsilon"] for channel in reported["channels"]]
    listed = all("rows" in channel for channel in reported["channels"])
    found = {"epsilon": None if None in epsilons else sum(epsilons), "withheld": not listed}
    yield from compared_all("masking", reported, found, "consistent")
    if listed:
        yield from _channels(facts, reported)
    else:
        yield Check("masking.channels", "unchecked", None, reason=WITHHELD)


def _realised(facts: Facts, reported: Mapping[str, Any]) -> Iterator[Check]:
    from anonymizer.masking.disclosure import disclosed  # its solvers take a while to load

    yield compared("masking.realised", sorted(reported["realised"]), sorted(facts.schema.sensitive))
    for name in facts.schema.sensitive:
        found = asdict(disclosed(facts.counts.joint[name]))
        yield from compared_all(f"masking.realised.{name}", at(reported, "realised", name), found)


def _names(facts: Facts, reported: Mapping[str, Any]) -> Iterator[Check]:
    """Attributes are named alike wherever they are."""
    names = sorted(facts.masked)
    agrees = bool(names) and {*names} <= {*facts.recoded}
    yield required("masking.attributes", agrees, "", "has other quasi-identifiers")
    for part in ("distortion", "scale"):
        yield compared(f"masking.{part}", sorted(reported[part]), names, "consistent")
    known = reported["method"] in METHODS and {*reported["distortion"].values()} <= {*DISTORTIONS}
    yield required("masking.method", known, "", "knows no such method or distortion")
    for each in reported["channels"]:
        alone = [name for name in each["attributes"] if name in names]
        if len(alone) == 1:  # what is not added to anything is not scaled
            (name,) = alone
            yield compared(f"masking.scale.{name}", reported["scale"][name], 1.0, "consistent")
    within = [name for each in reported["channels"] for name in each["attributes"]]
    covered = {*names} <= {*within} <= {*facts.recoded} and len({*within}) == len(within)
    yield required("masking.channels", covered, "", "has other attributes")
    kept = reported["preserved"]
    if kept:
        allowed = {*names, *facts.schema.sensitive}
        agrees = {*kept["columns"]} <= allowed
        yield required("masking.preserved.columns", agrees, "", "has no such numbers")


def _channels(facts: Facts, reported: Mapping[str, Any]) -> Iterator[Check]:
    from anonymizer.channels import channels_of

    found = channels_of(reported)
    for place, (attributes, channel) in enumerate(found.items()):
        field = f"masking.channels.{place}"
        epsilon = None if channel.epsilon == inf else channel.epsilon
        sizes = {"epsilon": epsilon, "rank": channel.rank}
        yield from compared_all(field, reported["channels"][place], sizes, "consistent")
        wrong = _undrawn(facts, attributes, channel)
        words = f"has others in {counted(wrong, 'record')}"
        drawn = counted(len(channel.labels), "symbol")
        yield required(f"{field}.labels", not wrong, drawn, words, "recomputed")


def _undrawn(facts: Facts, attributes: tuple[str, ...], channel: "Channel") -> int:
    """The records whose symbols the channel never releases."""
    released = channel.matrix.max(axis=0) > 0
    possible = {label for label, some in zip(channel.labels, released, strict=True) if some}
    group, first = engine.grouped(facts.table, attributes)
    columns = [texts_in(facts, name) for name in attributes]
    rows = zip(*([texts[code] for code in codes[first]] for codes, texts in columns), strict=True)
    strange = np.array([row not in possible for row in rows])
    return int(strange[group].sum())
