"""Figures of a manifest, computed again from the released table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from math import inf
from typing import Any

from anonymizer.information.entropy import entropy
from anonymizer.objectives import MillerMadow, MutualInformation
from anonymizer.privacy.query_loss import loss_of_sizes
from anonymizer.release.information import Information
from anonymizer.release.manifest import shape_of
from anonymizer.release.verification.check import (
    ABSENT,
    CONSISTENT,
    RECOMPUTED,
    TOLERANCE,
    UNCHECKED,
    Check,
    at,
    compared,
    required,
    same,
)
from anonymizer.release.verification.facts import Facts
from anonymizer.release.warnings.class_warnings import class_warnings
from anonymizer.release.warnings.column_warnings import column_warnings
from anonymizer.release.warnings.warnings import WARNINGS
from anonymizer.tables.values import counted

__all__ = ["informations", "missing", "policy", "sizes", "warnings"]

OF_RAW = ("column-gives-away", "telling-order", "spellings-alike")
"""Warnings that need the raw table."""

WEAK = "weak-policy"
"""It counts models as the study states them; a manifest has one for each attribute."""


def sizes(facts: Facts) -> Iterator[Check]:
    """Records, classes, and what follows from their sizes."""
    manifest, counts = facts.manifest, facts.counts
    yield compared("released", at(manifest, "released"), len(facts.table))
    yield compared("classes", at(manifest, "classes"), counts.occupied)
    yield from _each(manifest, "query_loss", loss_of_sizes(counts.sizes).to_dict())
    yield from _nothing_raw(manifest) if facts.private else _records(facts)


def _nothing_raw(manifest: Mapping[str, Any]) -> Iterator[Check]:
    """A differentially private release says nothing of the table it was drawn from."""
    for field in ("records", "dropped", "suppressed"):
        yield compared(field, at(manifest, field), None, CONSISTENT)
    yield compared("suppressed_class", at(manifest, "suppressed_class"), "removed", CONSISTENT)


def _records(facts: Facts) -> Iterator[Check]:
    manifest = facts.manifest
    dropped, suppressed = manifest["dropped"], manifest["suppressed"]
    total = len(facts.table) + dropped + facts.removed
    yield compared("records", at(manifest, "records"), total, CONSISTENT)
    possible = dropped == 0 or (dropped > 0 and facts.schema.missing == "drop")
    words = "none, as its missing values are not dropped"
    yield required("dropped", possible, f"{dropped}", words)
    fate = manifest["suppressed_class"]
    if fate == "kept":
        yield compared("suppressed", suppressed, int(facts.hidden.sum()))
    known = (fate == "none") == (suppressed == 0) and fate in ("none", "kept", "removed")
    words = f"{suppressed} suppressed records"
    yield required("suppressed_class", known and suppressed >= 0, repr(fate), words)


def missing(facts: Facts) -> Iterator[Check]:
    """The records that miss a value of each column, and whether any may."""
    found = shape_of(facts.table, facts.schema)["missing"]
    assert isinstance(found, dict)
    yield from _each(facts.manifest, "table", {"missing": found})
    some = sum(found.values())
    yield required(
        "columns.missing",
        facts.schema.missing == "category" or not some,
        f"{facts.schema.missing!r}, with which none is missing",
        f"misses {counted(some, 'value')}",
    )


def policy(facts: Facts) -> Iterator[Check]:
    """Every verdict on the recounted table."""
    pairs = zip(facts.manifest["privacy"], facts.verdicts, strict=True)
    for place, (told, verdict) in enumerate(pairs):
        if verdict is not None:
            for name, found in verdict.to_dict().items():
                yield compared(f"privacy.{place}.{name}", at(told, name), found)


def informations(facts: Facts) -> Iterator[Check]:
    """What is told about the sensitive attributes together, and about each target."""
    told = at(facts.manifest, "information")
    if facts.schema.sensitive and isinstance(told, Mapping):
        yield from _information(facts, told, "information", facts.schema.sensitive)
    else:
        yield compared("information", told, {} if facts.schema.sensitive else None)
    targets = at(facts.manifest, "targets")
    named = list(targets) if isinstance(targets, Mapping) else [ABSENT]
    agrees = {*named} == {*facts.schema.targets}
    yield required("targets", agrees, "", "has other targets")
    for name in facts.schema.targets:
        if name in named:
            yield from _information(facts, targets[name], f"targets.{name}", [name])


def warnings(facts: Facts) -> Iterator[Check]:
    """The warnings that the table alone gives."""
    listed = at(facts.manifest, "warnings")
    known = (*facts.schema.names, *facts.schema.sensitive)
    others = [name for name in facts.table.columns if name not in known]
    models = [model for model in facts.models if model is not None]
    given = class_warnings(facts.counts, models, 0 if facts.private else len(others))
    given += () if facts.private else column_warnings(facts.table, others)
    told = [*filter(_is_sound, listed)] if isinstance(listed, list) else []
    agrees = listed is not ABSENT and len(told) == len(listed)
    agrees &= (WEAK in _codes(told)) == (WEAK in {each.code for each in given})
    found = [each.to_dict() for each in given if each.code not in (*OF_RAW, WEAK)]
    shown = [each for each in told if each["code"] not in (*OF_RAW, WEAK)]
    words = f"gives {len(found)}, or says something else"
    agrees &= same(shown, found)
    yield required("warnings", agrees, counted(len(shown), "warning"), words, RECOMPUTED)
    reason = f"{', '.join(OF_RAW)} would need the raw table"
    yield Check("warnings of the raw table", UNCHECKED, None, reason=reason)


def _codes(warnings: Sequence[Mapping[str, Any]]) -> set[str]:
    return {each["code"] for each in warnings}


def _is_sound(told: Any) -> bool:
    """Whether a warning of a manifest says what one of its code can say."""
    if not isinstance(told, Mapping) or told.get("code") not in WARNINGS:
        return False
    count, of = told.get("count"), told.get("of")
    if type(count) is not int or type(of) is not int or not 0 < count <= of:
        return False
    begins, _, _ = WARNINGS[told["code"]].text.partition("{")
    message = told.get("message")
    return isinstance(message, str) and (message.startswith(begins))


def _information(
    facts: Facts, told: Mapping[str, Any], field: str, about: Sequence[str]
) -> Iterator[Check]:
    targets = dict.fromkeys(about, 1.0)
    retained = MutualInformation(target=targets)(facts.counts)
    estimate = MillerMadow(target=targets)(facts.counts)
    yield compared(f"{field}.retained", at(told, "retained"), retained)
    yield compared(f"{field}.miller_madow", at(told, "miller_madow"), estimate)
    stated = Information(**{each.name: told[each.name] for each in fields(Information)})
    for name in ("gap", "loss", "loss_above_shuffled"):
        yield compared(f"{field}.{name}", at(told, name), getattr(stated, name), CONSISTENT)
    yield from _within(field, "ceiling", stated.ceiling, *_ceilings(facts, stated, about))
    most = sum(float(entropy(facts.counts.margins[name])) for name in about)
    # A random recoding may tell more than the table did, by chance.
    least = 0.0 if facts.masked else retained
    yield from _within(field, "original", stated.original, least, most)
    yield from _within(field, "shuffled", stated.shuffled, 0.0, most)
    above = stated.retained_above_shuffled
    yield from _within(field, "retained_above_shuffled", above, retained - most, retained)
    if not facts.masked:
        yield from _within(field, "ceiling", stated.ceiling, retained, most)


def _ceilings(facts: Facts, stated: Information, about: Sequence[str]) -> tuple[float, float]:
    """The least and the most that the ceiling can be: exact for a single attribute.

    Of several, sum_a min(I_a, b_a) is known by sum_a I_a and the bounds b_a alone.
    """
    bounds = [_bound(facts, name) for name in about]
    if len(about) == 1 or min(bounds) == inf:
        exact = max(min(stated.original, *bounds), 0.0)
        return exact, exact
    return min(stated.original, *(max(b, 0.0) for b in bounds)), min(stated.original, sum(bounds))


def _bound(facts: Facts, attribute: str) -> float:
    """The most bits that any class may tell about an attribute under the policy."""
    margin = facts.counts.margins[attribute]
    bounds = [
        model.ceiling(margin)
        for model in facts.models
        if model is not None and model.sensitive and model.attribute == attribute
    ]
    return min(bounds, default=inf)


def _within(field: str, name: str, told: float, least: float, most: float) -> Iterator[Check]:
    slack = TOLERANCE * max(1.0, abs(least), abs(most))
    agrees = least - slack <= told <= most + slack
    found = f"{least:.10g}" if least == most else f"{least:.10g} to {most:.10g}"
    yield required(f"{field}.{name}", agrees, f"{told!r}", f"allows {found}")


def _each(manifest: Mapping[str, Any], field: str, found: Mapping[str, object]) -> Iterator[Check]:
    """Every figure of a part of a manifest, and that it holds no others."""
    told = at(manifest, *field.split("."))
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _each(manifest, f"{field}.{name}", value)
        else:
            yield compared(f"{field}.{name}", at(told, name), value)
