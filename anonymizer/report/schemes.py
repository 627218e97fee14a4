"""Figures of a recoding, and schemes side by side, as text."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from anonymizer.feedback.words import plural
from anonymizer.release.information import lost
from anonymizer.report.console import console, share_of, table_of
from anonymizer.utility.figures import HIDDEN, Attribute, Failure, Figures
from anonymizer.utility.schemes import SchemeComparison

MOST_CLASSES = 40
"""Classes that a table lists; JSON has all."""

MOST_FAILING = 8
"""Classes that are named of those that break a model."""


def print_figures(found: Figures, picture: Path | None = None) -> None:
    """Print what a recoding keeps about each attribute, and what each class tells.

    ``picture``: where the same was drawn.
    """
    out = console()
    gone = f", {found.suppressed:,} suppressed" if found.suppressed else ""
    out.print(
        f"{found.name} ({found.recoding}): {found.records:,} records{gone} in "
        f"{plural(len(found.classes), 'class')}. {_verdict(found)}"
    )
    out.print(_information(found.attributes))
    for about in found.attributes:
        out.print(_classes(found, about))
    if len(found.classes) > MOST_CLASSES:
        out.print(f"{len(found.classes) - MOST_CLASSES:,} classes more; --json lists all.")
    for line in failure_lines(found):
        out.print(line)
    _print_picture(picture)


def _verdict(found: Figures) -> str:
    if found.satisfied:
        return "The policy holds."
    return f"The policy does NOT hold: {', '.join(found.failing)}. Nothing can be released so."


def _information(attributes: Sequence[Attribute]) -> object:
    """A row for each attribute."""
    rows = [
        [
            each.attribute,
            each.uncertainty,
            each.original,
            each.ceiling,
            each.retained,
            share_of(each.loss),
        ]
        for each in attributes
    ]
    columns = ["about W", "H(W)", "original, I(X;W)", "ceiling", "retained, I(X~;W)", "loss"]
    return table_of("Information, in bits", columns, rows, "s .4f .4f .4f .4f s")


def _classes(found: Figures, about: Attribute) -> object:
    """A row for each of the classes, in their order; of many the most telling ones.

    Where classes break the policy, a column says which.
    """
    places = range(len(found.classes))
    if len(found.classes) > MOST_CLASSES:
        telling = sorted(places, key=lambda place: -about.i1[place])[:MOST_CLASSES]
        places = sorted(telling)  # type: ignore[assignment]
    rows = [
        [
            found.classes[place] or HIDDEN,
            about.i1[place],
            about.i2[place],
            *(["FAILS" if about.failing[place] else ""] if any(about.failing) else []),
        ]
        for place in places
    ]
    title = f"What each class tells about {about.attribute}, in bits"
    one = "".join(f", {limit.name}" for limit in about.i1_limits[:1])
    two = "".join(f", {limit.name} ({limit.bits:.4f})" for limit in about.i2_limits[:1])
    columns = ["class", f"I1{one}", f"I2{two}", *(["policy"] if any(about.failing) else [])]
    return table_of(title, columns, rows, "s .4f")


def failure_lines(found: Figures) -> Iterator[str]:
    """For each model that is broken: the classes, and by how much."""
    for _, alike in groupby(
        found.failures, key=lambda each: (each.model, each.required, each.attribute)
    ):
        failures = list(alike)
        first = failures[0]
        about = f" about {first.attribute}" if first.attribute else ""
        yield f"{found.name} fails {first.model} {first.required}{about}: {_listed(failures)}."


def _listed(failures: Sequence[Failure]) -> str:
    """The worst classes by name, and how many more there are."""
    named = [each for each in failures if each.group]
    hidden = [each for each in failures if not each.group]
    parts = [f"{each.group} has {_value(each)}" for each in named[:MOST_FAILING]]
    if len(named) > MOST_FAILING:
        parts.append(f"{len(named) - MOST_FAILING:,} classes more")
    if hidden:
        worst = "" if hidden[0].value is None else f", the worst with {_value(hidden[0])}"
        parts.append(f"{plural(len(hidden), 'class')} of {HIDDEN}{worst}")
    return "; ".join(parts)


def _value(failure: Failure) -> str:
    return "infinite" if failure.value is None else f"{failure.value:.4g}"


def print_schemes(found: SchemeComparison, picture: Path | None = None) -> None:
    """Print a row for each scheme, the best marked, and the classes that break the policy.

    ``picture``: where the same was drawn.
    """
    out = console()
    out.print(
        f"Each scheme carried out on all {found.records:,} records. Information about "
        f"{', '.join(found.about)}, in bits."
    )
    if found.schemes:
        title = "* keeps most of those that satisfy the policy"
        if not found.best:
            title = "No scheme satisfies the policy"
        columns = ["scheme", "recoding", "classes", "original", "ceiling", "retained", "loss"]
        rows = [_scheme(each, each.name in found.best) for each in found.schemes]
        forms = "s s , .4f .4f .4f s s"
        out.print(table_of(title, [*columns, "policy"], rows, forms))
    for each in found.schemes:
        for line in failure_lines(each):
            out.print(line)
    for failed in found.unreachable:
        out.print(f"{failed.name} ({failed.recoding}) finds nothing: {failed.reason}.")
    _print_picture(picture if found.schemes else None)


def _scheme(found: Figures, best: bool) -> list[object]:
    original = sum(each.original for each in found.attributes)
    return [
        found.name + (" *" if best else ""),
        found.recoding,
        len(found.classes),
        original,
        sum(each.ceiling for each in found.attributes),
        found.retained,
        share_of(lost(found.retained, original)),
        "holds" if found.satisfied else f"FAILS: {_broken(found)}",
    ]


def _broken(found: Figures) -> str:
    """How many classes break each model."""
    broken = [verdict for verdict in found.privacy if not verdict.satisfied]
    return ", ".join(f"{each.violating:,} on {each.model.name}" for each in broken)


def _print_picture(picture: Path | None) -> None:
    if picture:
        console().print(f"The picture is in {picture}.")
