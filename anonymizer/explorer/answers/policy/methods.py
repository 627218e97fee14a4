"""Recodings and objectives on a page: a sentence for each, and the options that stay."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from anonymizer.explorer.answers.span import Span
from anonymizer.objectives import AUTOMATIC
from anonymizer.release.request import RECODINGS

METHODS: Mapping[str, str] = {
    "full-domain": "One level of its hierarchy for each attribute: the best combination of levels.",
    "variable-range": "Ordered attributes, such as ages, get ranges of their own that keep most; "
    "the others get levels.",
    "cut": "As variable-range, and the others may keep some values finer than others.",
    "boxes": "Every class has a range, or a set of values, of each attribute: its own.",
    "merged-cells": "Classes are merged from cells in any way; a new column numbers them. "
    "Keeps most, reads worst.",
    "best": "Tries levels, ranges, cuts and boxes on one half of the records, and takes what keeps "
    "most on the other half.",
    "fixed": "The levels that were chosen, and no others.",
}
"""Recodings that are chosen on the page, in a sentence each."""

ELSEWHERE: Mapping[str, str] = {
    "safepub": "Records drawn at random, at levels chosen without looking at the table: the way of "
    "differential privacy.",
    "pram": "Values are exchanged at random, with known probabilities.",
    "noise": "Random noise is added to values.",
    "bottleneck": "Values are drawn from a channel that gives little away.",
}
"""Recodings that are set in the study file: they are random, or rest on choices made blindly."""

GOALS: Mapping[str, str] = {
    AUTOMATIC: "What suits policy and recoding: information, where a model is about a sensitive "
    "attribute.",
    "mutual-information": "Keep most information about the sensitive attributes or targets.",
    "miller-madow": "The same, corrected for what small classes show by chance.",
    "above-shuffled": "The same, less what the classes would show of values dealt out at random.",
    "non-uniform-entropy": "Keep most bits that tell a value from the others of its group.",
    "loss": "Leave least of each attribute's domain open.",
    "discernibility": "Keep classes small: the sum of their squared sizes.",
    "average-class-size": "Keep classes small on average.",
    "itpr": "Keep the risk of the class that comes off worst for its size low.",
    "precision": "Climb least of the hierarchies.",
}
"""Objectives in a sentence each."""

TRIGGERS: Mapping[str, str] = {
    "small": "Classes that are too small, up to this share of all records. Larger ones have to "
    "satisfy every condition.",
    "any": "Classes that break any condition, up to this share of all records. Which large ones "
    "are missing tells what they would have shown.",
}
"""Which classes may be suppressed, in a sentence or two each."""


def trigger_of(content: Mapping[str, Any]) -> str:
    """Which classes a study lets be suppressed."""
    return str(content.get("recoding", {}).get("suppress", "small"))


def methods_for(method: str) -> Mapping[str, str]:
    """The recodings to choose from where one is chosen: fixed levels where there are some."""
    known = {name: words for name, words in METHODS.items() if name in (method, *CHOSEN)}
    return known if method in known else {**known, method: ELSEWHERE.get(method, "")}


CHOSEN = tuple(name for name in METHODS if name != "fixed")
"""Recodings that can be chosen at any time: they have a default for every option."""


def options_for(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of another recoding that a recoding has, too."""
    known = {each.name.replace("_", "-") for each in fields(RECODINGS[method])}  # type: ignore[arg-type]
    return {name: value for name, value in options.items() if name in known}


def suppression_span(share: float) -> Span:
    """The shares of the records that a slider goes through."""
    return Span(0, 0.2 if share <= 0.2 else 1, 0.005)


def goal_of(content: Mapping[str, Any]) -> str:
    """The objective of a study; that which suits where none is named."""
    return str(content.get("objective", {}).get("name", AUTOMATIC))
