"""What the explorer shows of a study, by counts alone, held against the release as it was read."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isclose
from pathlib import Path

from anonymizer.errors import AnonymizerError
from anonymizer.explorer.answers.attack import Exposure, exposure_of
from anonymizer.explorer.answers.classes import by_labels, named_class
from anonymizer.explorer.answers.counted import Counter as Counting
from anonymizer.explorer.answers.outcome import StudyOutcome, about_of, outcome_of
from anonymizer.hierarchy import MISSING
from anonymizer.release.study import Study
from anonymizer.tables.values import text_of

from .recount import FORGIVEN

__all__ = ["shown", "shown_alike"]

Texts = Mapping[str, Sequence[str | None]]
Failure = tuple[str, str]

NEARLY = 0.8
"""The share of a class from which on its value counts as guessed."""


def shown(study: Path) -> StudyOutcome:
    """What the explorer finds of a study; a study that cannot be read is refused as well."""
    try:
        return outcome_of(Counting().counted(Study(study)))
    except AnonymizerError as error:
        return StudyOutcome(refusal=str(error))


def shown_alike(found: StudyOutcome, manifest: Path, texts: Texts) -> Iterator[Failure]:
    """What it shows otherwise than a release has it: kind and detail."""
    released = json.loads(manifest.read_text(encoding="utf-8"))
    if not found.holds:
        yield "explorer refuses", found.refusal
        return
    yield from _compared("explorer", dict(_figures(found)), dict(_manifested(released)))
    columns, counts = released["columns"], by_labels(found)
    everything = columns["quasi_identifiers"]
    for attribute in (None, *columns["sensitive"]):
        if attribute and len({*texts[attribute]}) != len(counts.margins[attribute]):
            continue  # several texts are one value, of which the counts know one text
        for known in (None, *([name] for name in counts.names)):
            names = everything if known is None else known
            expected = _exposed(texts, names, attribute, gap=columns["missing"] == "gap")
            seen = _seen(exposure_of(counts, known, attribute))
            kind = f"attack on {attribute} with {known}"
            yield from _compared(kind, seen, {name: expected[name] for name in seen})
    yield from _named(found, Counter(_labels(texts, everything)))


def _seen(exposure: Exposure) -> dict[str, float]:
    """The figures of an exposure; those of guesses where it is about an attribute."""
    found = asdict(exposure)
    return found | (found.pop("guessing") or {})


def _figures(found: StudyOutcome) -> Iterator[tuple[str, float]]:
    yield "classes", found.classes
    yield "suppressed", found.suppressed
    if found.information is not None:
        yield "original", found.information[0]
        yield "retained", found.information[1]
    for number, verdict in enumerate(found.verdicts):
        yield f"worst of {number}", verdict.worst


def _manifested(released: Mapping) -> Iterator[tuple[str, float]]:
    yield "classes", released["classes"]
    yield "suppressed", released["suppressed"]
    about = [released["information"], *released["targets"].values()]
    if len(about) == 1 and about[0]:
        yield "original", about[0]["original"]
        yield "retained", about[0]["retained"]
    for number, verdict in enumerate(released["privacy"]):
        yield f"worst of {number}", verdict["worst"]


def _compared(kind: str, seen: Mapping, expected: Mapping) -> Iterator[Failure]:
    for name in seen.keys() & expected.keys():
        if not isclose(seen[name], expected[name], rel_tol=FORGIVEN, abs_tol=FORGIVEN):
            yield f"{kind}: {name}", f"{seen[name]} instead of {expected[name]}"


def _labels(texts: Texts, names: Sequence[str]) -> list[tuple]:
    return list(zip(*(texts[name] for name in names), strict=True))


def _exposed(
    texts: Texts, known: Sequence[str], attribute: str | None, *, gap: bool
) -> dict[str, float]:
    """What an attacker learns who knows some labels, counted record by record.

    ``gap``: a missing sensitive value is nothing that is known or guessed.
    """
    labels = _labels(texts, known)
    values = texts[attribute] if attribute else [None] * len(labels)
    classes: dict[tuple, Counter] = {}
    for label, value in zip(labels, values, strict=True):
        classes.setdefault(label, Counter())[value] += 1
    sizes = [of.total() for of in classes.values()]
    if attribute and gap:
        values = [value for value in values if value is not None and value.strip()]
        classes = {
            label: Counter({value: n for value, n in of.items() if value and value.strip()})
            for label, of in classes.items()
        }
    there = [of for of in classes.values() if of]
    pairs = [(of.total(), max(of.values())) for of in there]
    return {
        "records": len(labels),
        "classes": len(sizes),
        "alone": sizes.count(1),
        "highest": 1 / min(sizes),
        "average": len(sizes) / len(labels),
        "surest": max((m / size for size, m in pairs), default=0.0),
        "certain": sum(size for size, m in pairs if m == size),
        "nearly": sum(m for size, m in pairs if m / size >= NEARLY - FORGIVEN),
        "right": sum(m for _, m in pairs) / max(len(values), 1),
        "blind": max(Counter(values).values(), default=0) / max(len(values), 1),
    }


def _named(found: StudyOutcome, classes: Counter) -> Iterator[Failure]:
    """Classes that are named as the worst, and are not in the release."""
    there = {_known(size, of) for of, size in classes.items()}
    for model in found.plan.models:
        for attribute in about_of(model, found.counts.sensitive):
            place = found.worst_class(model, attribute)
            if place is None:
                continue
            named = named_class(found, place)
            if named.labels and _known(named.records, named.labels.values()) not in there:
                yield f"worst class of {model.name}", named.text()


def _known(size: int, labels: Iterable[str | None]) -> tuple:
    """A class by its size and labels, a number by its value."""
    return (size, *sorted(text_of(each or MISSING) for each in labels))
