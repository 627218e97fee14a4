"""What a manifest reports of its search, held against the released table."""

from collections.abc import Iterator, Mapping
from math import isclose
from typing import Any

from anonymizer.masking import DISTORTION
from anonymizer.objectives import (
    OBJECTIVES,
    AverageClassSize,
    Discernibility,
    MutualInformation,
    Objective,
)
from anonymizer.release.verification.check import (
    CONSISTENT,
    UNCHECKED,
    Check,
    at,
    compared,
    compared_all,
    required,
)
from anonymizer.release.verification.facts import Facts
from anonymizer.release.verification.fields import UNIT

NEAR = 1e-6
"""How far a proven value may be from its bound, relative to it: searches forgive rounding."""


def search(facts: Facts) -> Iterator[Check]:
    """The value of the objective, how far it may be from the best, and what is claimed of that."""
    reported = facts.manifest["search"]
    yield from _objective(facts, reported["objective"])
    if facts.private:
        nothing = dict.fromkeys(("value", "gap", "bound"))
        yield from compared_all("search", reported, nothing, CONSISTENT)
    elif facts.manifest.get("masking"):
        yield from _distortion(facts.manifest["masking"]["channels"], reported)
    else:
        found = _recomputed(facts, reported["objective"])
        if found is None:
            yield Check("search.value", UNCHECKED, None, reason=UNIT)
        else:
            yield compared("search.value", reported["value"], found)
        gap = None if reported["bound"] is None else abs(reported["bound"] - reported["value"])
        yield compared("search.gap", reported["gap"], gap, CONSISTENT)
    yield _proven(reported)


def _objective(facts: Facts, name: str) -> Iterator[Check]:
    known = [DISTORTION] if facts.manifest.get("masking") else list(OBJECTIVES)
    yield required("search.objective", name in known, "", f"needs one of {', '.join(known)}")
    options = at(facts.manifest, "objective")
    there = isinstance(options, Mapping) and {"weights", "targets"} <= options.keys()
    yield required("objective", there, "", "needs its weights and targets")
    agrees = there and {*options["targets"]} == {*facts.schema.targets}
    yield required("objective.targets", agrees, "", "has other targets")


def _recomputed(facts: Facts, name: str) -> float | None:
    """The objective of the released table; None where more than that is needed."""
    kind, counts = OBJECTIVES.get(name), facts.counts
    options = facts.manifest.get("objective", {})
    everybody = len(facts.table) + facts.removed
    if kind is None:
        return None
    if issubclass(kind, MutualInformation):
        weights, targets = options.get("weights", {}), options.get("targets", {})
        return kind(weights=weights, target=targets)(counts)
    summed = kind.weighs is None and kind.per_class is not Objective.per_class
    if summed and facts.manifest["suppressed_class"] == "none" and not facts.removed:
        return kind().quantity(kind()(counts), everybody)
    if kind is AverageClassSize:
        return everybody / (counts.occupied + (facts.removed > 0))
    if kind is Discernibility:
        hidden = int(facts.hidden.sum()) if facts.manifest["suppressed_class"] == "kept" else 0
        squares = int(counts.sizes @ counts.sizes) - hidden**2
        return float(squares + (hidden + facts.removed) * everybody)
    return None


def _distortion(channels: list[Mapping[str, Any]], reported: Mapping[str, Any]) -> Iterator[Check]:
    """What channels distort adds up; so does what none can fall below, where that is known."""
    value = sum(channel["expected_distortion"] for channel in channels)
    least = [channel["least_distortion"] for channel in channels]
    bound = None if None in least else sum(least)
    gap = None if bound is None else max(value - bound, 0.0)
    found = {"value": value, "bound": bound, "gap": gap}
    yield from compared_all("search", reported, found, CONSISTENT)


def _proven(reported: Mapping[str, Any]) -> Check:
    value, bound = reported["value"], reported["bound"]
    known = value is not None and bound is not None
    reached = known and isclose(value, bound, rel_tol=NEAR, abs_tol=NEAR)
    proven = reported["proven"]
    agrees = isinstance(proven, bool) and (not proven or reached)
    return required("search.proven", agrees, repr(proven), "leaves room for a better one")
