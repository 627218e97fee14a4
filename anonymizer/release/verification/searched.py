"""What a manifest reports of its search, held against the released table."""

from collections.abc import Iterator, Mapping
from math import isclose
from typing import Any

from anonymizer.masking import DISTORTION
from anonymizer.objectives import OBJECTIVES, AverageClassSize, Discernibility, MutualInformation
from anonymizer.release.verification.check import (
    CONSISTENT,
    UNCHECKED,
    Check,
    at,
    compared,
    required,
)
from anonymizer.release.verification.facts import Facts
from anonymizer.release.verification.fields import UNIT

__all__ = ["search"]

NEAR = 1e-6
"""How far a proven value may be from its bound, relative to it: searches forgive rounding."""


def search(facts: Facts) -> Iterator[Check]:
    """The value of the objective, how far it may be from the best, and what is claimed of that."""
    told = facts.manifest["search"]
    yield from _objective(facts, told["objective"])
    if facts.private:
        for name in ("value", "gap", "bound"):
            yield compared(f"search.{name}", told[name], None, CONSISTENT)
    elif facts.manifest.get("masking"):
        yield from _distortion(facts.manifest["masking"]["channels"], told)
    else:
        yield _value(facts, told)
        gap = None if told["bound"] is None else abs(told["bound"] - told["value"])
        yield compared("search.gap", told["gap"], gap, CONSISTENT)
    yield _proven(told)


def _objective(facts: Facts, name: str) -> Iterator[Check]:
    known = [DISTORTION] if facts.manifest.get("masking") else list(OBJECTIVES)
    yield required("search.objective", name in known, "", f"needs one of {', '.join(known)}")
    options = at(facts.manifest, "objective")
    there = isinstance(options, Mapping) and {"weights", "targets"} <= options.keys()
    yield required("objective", there, "", "needs its weights and targets")
    agrees = there and {*options["targets"]} == {*facts.schema.targets}
    yield required("objective.targets", agrees, "", "has other targets")


def _value(facts: Facts, told: Mapping[str, Any]) -> Check:
    found = _recomputed(facts, told["objective"])
    if found is None:
        return Check("search.value", UNCHECKED, None, reason=UNIT)
    return compared("search.value", told["value"], found)


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
    if kind is AverageClassSize:
        return everybody / (counts.occupied + (facts.removed > 0))
    if kind is Discernibility:
        hidden = int(facts.hidden.sum()) if facts.manifest["suppressed_class"] == "kept" else 0
        squares = int(counts.sizes @ counts.sizes) - hidden**2
        return float(squares + (hidden + facts.removed) * everybody)
    return None


def _distortion(channels: list[Mapping[str, Any]], told: Mapping[str, Any]) -> Iterator[Check]:
    """What channels distort adds up; so does what none can fall below, where that is known."""
    value = sum(channel["expected_distortion"] for channel in channels)
    least = [channel["least_distortion"] for channel in channels]
    bound = None if None in least else sum(least)
    yield compared("search.value", told["value"], value, CONSISTENT)
    yield compared("search.bound", told["bound"], bound, CONSISTENT)
    gap = None if bound is None else max(value - bound, 0.0)
    yield compared("search.gap", told["gap"], gap, CONSISTENT)


def _proven(told: Mapping[str, Any]) -> Check:
    value, bound = told["value"], told["bound"]
    reached = (
        value is not None
        and bound is not None
        and isclose(value, bound, rel_tol=NEAR, abs_tol=NEAR)
    )
    proven = told["proven"]
    agrees = isinstance(proven, bool) and (not proven or reached)
    return required("search.proven", agrees, repr(proven), "leaves room for a better one")
