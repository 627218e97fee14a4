"""Whether every label that stands in a released table is one that its manifest describes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from anonymizer.counts.multidimensional import CLASS
from anonymizer.release.verification.check import Check, Facts, required
from anonymizer.tables import engine
from anonymizer.tables.values import counted, is_missing, number_of, number_text, text_of

MARKED = re.compile(r"( \((level \d+|grouped)\))+$")
"""What tells labels apart that read alike."""

RawGroup = Mapping[str, Any]
"""A group of a recoding as JSON has it."""

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?")
"""Numbers as columns of numbers are written; codes such as 0047 are none."""


def labels(facts: Facts) -> Iterator[Check]:
    """Each quasi-identifier's labels; ``*`` of suppressed records counts as described."""
    exempt = facts.hidden & (facts.manifest["suppressed_class"] == "kept")
    for name in facts.recoded:
        if name in facts.masked:
            continue
        known = {plain_text(group["label"]) for group in facts.manifest["recoding"][name]}
        codes, texts = texts_in(facts, name)
        strange = np.array([text not in known for text in texts])
        records = strange[codes] & ~exempt
        number = len(np.unique(codes[records]))
        words = f"has {counted(number, 'other label')}, in {counted(int(records.sum()), 'record')}"
        field, described = f"recoding.{name}.labels", counted(len(known), "label")
        yield required(field, not records.any(), described, words, "recomputed")


def texts_in(facts: Facts, name: str) -> tuple[np.ndarray, list[str | None]]:
    """The distinct values of a column as texts, None for a missing one, and which each record has.

    Records that read alike may have different codes.
    """
    codes, values = engine.distinct(facts.table[name])
    return codes, [plain_text(value) for value in values]


def ranges(facts: Facts) -> Iterator[Check]:
    """The ends of ranges are those that their labels read, and no two groups overlap."""
    levels = facts.manifest["levels"]
    possible = all(isinstance(level, int) and level >= 0 for level in levels.values())
    fits = possible and {*levels} <= {*facts.recoded}
    yield required("levels", fits, "", "has other quasi-identifiers or levels")
    for name, groups in facts.manifest["recoding"].items():
        field = f"recoding.{name}"
        wrong = sum(not _reads(group) for group in groups if "from" in group or "to" in group)
        words = f"has other ends in {counted(wrong, 'label')}"
        yield required(f"{field}.ranges", not wrong, "", words)
        safe = bool(facts.manifest.get("spreadsheet", {}).get("safe"))
        other = sum(not _names_its_group(group, safe) for group in groups)
        words = f"names {counted(other, 'label')} in another way"
        yield required(f"{field}.group", not other, "", words)
        texts = [group["label"] for group in groups]
        twice = len(texts) - len(set(texts))
        torn = 0 if facts.manifest.get("regions") else _overlaps(groups)
        words = f"repeats {twice} labels and has {torn} overlapping ranges"
        yield required(f"{field}.groups", not twice + torn, counted(len(texts), "group"), words)


def _names_its_group(group: RawGroup, safe: bool) -> bool:
    """Whether a label is that of its group, with a mark of its level or an apostrophe at the most.

    ``safe``: labels that a spreadsheet would run have an apostrophe before them.
    """
    own, label = group.get("group", group["label"]), group["label"]
    if own == label:
        return True
    if own is None or label is None:
        return False
    stem = MARKED.sub("", label)
    return own in (stem, stem.removeprefix("'")) if safe else own == stem


def _reads(group: RawGroup) -> bool:
    """Whether a label is the half-open range of its group: ``[20, 40)``, ``(-inf, 5)``."""
    label = str(group.get("group", group["label"]))
    low, comma, high = label[1:-1].partition(", ")
    if not comma or label[0] not in "[(" or label[-1] != ")":
        return False
    return all(_end(text, given) for text, given in ((low, group["from"]), (high, group["to"])))


def _end(text: str, given: int | float | None) -> bool:
    if given is None or text.endswith("inf"):
        return given is None and text.endswith("inf")
    number = int(text) if text.lstrip("-").isdigit() else float(text)
    return bool(number == given)


def _overlaps(groups: Sequence[RawGroup]) -> int:
    """How many ranges begin before the one before them ends, or end before they begin."""
    given = [(group["from"], group["to"]) for group in groups if "from" in group]
    ends: list[tuple[float, float]] = sorted(
        (-inf if low is None else low, inf if high is None else high) for low, high in given
    )
    empty = sum(low >= high for low, high in ends)
    return empty + sum(first[1] > second[0] for first, second in pairwise(ends))


def regions(facts: Facts) -> Iterator[Check]:
    """Where classes have groups of their own, each record's labels are those of one of them.

    Of merged cells they are those of the class whose number the record has.
    """
    listed = facts.manifest.get("regions")
    names = facts.recoded
    if not listed:
        none = CLASS not in facts.schema.names[len(names) :]
        yield required("regions", none, "", "needs some")
        return
    known = [tuple(plain_text(region[name]) for name in names) for region in listed]
    described = [
        {plain_text(g["label"]) for g in facts.manifest["recoding"][name]} for name in names
    ]
    used = [set(column) for column in zip(*known, strict=True)]
    yield required("regions.labels", used == described, "", "describes other labels")
    classes = facts.counts.occupied
    agrees = len(known) == classes
    yield required("regions", agrees, f"{len(known)} classes", f"has {classes}")
    wrong = _outside(facts, known)
    combinations = counted(len(known), "combination") + " of labels"
    words = f"has others in {counted(wrong, 'record')}"
    yield required("regions.records", not wrong, combinations, words, "recomputed")


def _outside(facts: Facts, known: Sequence[tuple[str | None, ...]]) -> int:
    """The records whose combination of labels is none of those that are listed."""
    names, allowed = facts.recoded, {*known}
    if CLASS in facts.schema.names[len(names) :]:
        names = (*names, CLASS)
        allowed = {(*labels, str(place)) for place, labels in enumerate(known, 1)}
    group, first = engine.grouped(facts.table, names)
    rows = zip(*(facts.table[name].iloc[first] for name in names), strict=True)
    strange = np.array([tuple(map(plain_text, row)) not in allowed for row in rows])
    return int(np.sum(strange[group]))


def plain_text(value: object) -> str | None:
    """What a value or a label reads as, however a number is written: 1.50, 1e+22."""
    if is_missing(value):
        return None
    text = text_of(value)
    number = number_of(text) if NUMBER.fullmatch(text) else None
    return text if number is None else number_text(number)
