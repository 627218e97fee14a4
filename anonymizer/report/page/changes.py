"""What was changed: each attribute before and after, records that are gone, sizes of classes."""

from collections.abc import Iterator, Mapping, Sequence
from math import exp
from typing import Any

import numpy as np

from anonymizer.feedback.words import count, listed, number, people, plural, share
from anonymizer.hierarchy import shown_label
from anonymizer.release.files import MANIFEST
from anonymizer.release.manifest.groups import Group, kind_of
from anonymizer.report.page.document import Block, Heading, Paragraph, ReportSection, ReportTable
from anonymizer.report.page.evidence import Evidence, ReleasedAttribute
from anonymizer.report.page.pictures import Pictures

EXAMPLES = 6
"""Labels that are shown of an attribute."""

QUANTILES = (0, 0.25, 0.5, 0.75, 1)
"""Places in the order of classes whose sizes are shown."""


def changes_section(evidence: Evidence, pictures: Pictures) -> ReportSection:
    """Attributes, records, classes."""
    blocks: list[Block] = [
        *map(Paragraph, followed_by(evidence)),
        ReportTable(
            "Each quasi-identifier as it is released",
            ("Attribute", "How it was changed", "Labels", "Examples", "Records at *"),
            [_row(evidence, each) for each in evidence.attributes],
            numeric=(2, 4),
        ),
        Paragraph(
            "The label * hides a value altogether. [a, b) is from a up to, and not with, b; -inf "
            "and inf are open ends."
        ),
    ]
    for each in evidence.attributes:
        blocks += pictures.attribute(each.name)
    blocks += _drawn(evidence.manifest.masking)
    blocks += [Heading("Records"), *map(Paragraph, records_of(evidence))]
    blocks += _classes(evidence, pictures)
    return ReportSection("changes", "What was changed", blocks)


def _row(evidence: Evidence, attribute: ReleasedAttribute) -> tuple[str, ...]:
    """An attribute in five cells."""
    groups = evidence.manifest.recoding[attribute.name]
    return (
        attribute.name,
        _how(evidence, attribute.name, groups),
        count(attribute.labels),
        _examples(groups),
        share(attribute.hidden / evidence.released),
    )


def _how(evidence: Evidence, name: str, groups: Sequence[Group]) -> str:
    """What was done to an attribute."""
    manifest = evidence.manifest
    if manifest.masking and name in manifest.masking["attributes"]:
        return "drawn at random"
    if name in manifest.levels:
        return _at_level(manifest.levels[name], groups)
    if manifest.regions:
        return "groups of its own in every class"
    return {
        "cut": "groups of different levels of its hierarchy",
        "ranges": "ranges of its own",
        "groups": "groups of values of its own",
    }[kind_of(groups)]


def _at_level(level: int, groups: Sequence[Group]) -> str:
    """The level of an attribute that is released at one."""
    if level == 0:
        return "as it was"
    if [group.label for group in groups] == ["*"]:
        return "suppressed: every record has *"
    return f"level {level} of its hierarchy"


def _examples(groups: Sequence[Group]) -> str:
    """Some labels, evenly spread over the groups."""
    if not groups:
        return "-"
    places = np.unique(np.linspace(0, len(groups) - 1, min(EXAMPLES, len(groups))).astype(int))
    shown = [shown_label(groups[place].label) for place in places]
    return "; ".join(shown) + ("; ..." if len(groups) > len(places) else "")


def _drawn(masking: Mapping[str, Any] | None) -> Iterator[Block]:
    """What drawing values at random changed, and how much a single one gives away."""
    if not masking:
        return
    yield Heading("Values drawn at random")
    yield Paragraph(
        f"Values of {listed(masking['attributes'])} were replaced by values drawn at random "
        f"({masking['method']}). A released one need not be true of its record."
    )
    for channel in masking["channels"]:
        kinds = {masking["distortion"].get(name) for name in channel["attributes"]} - {None}
        distortion = f"The distortion of {listed(channel['attributes'])} ({listed(sorted(kinds))})"
        yield Paragraph(
            f"{distortion} is {number(channel['realised_distortion'])} on average, where "
            f"{number(channel['expected_distortion'])} was expected."
            if "realised_distortion" in channel
            else f"{distortion} is known to its steward alone."
        )
    epsilon = masking["epsilon"]
    yield Paragraph(
        "Some released values rule original ones out."
        if epsilon is None
        else f"No value is more than {number(exp(epsilon))} times likelier to be released for one "
        "original value than for another (local differential privacy)."
    )
    if masking["withheld"]:
        yield Paragraph("The probabilities are withheld, so that nobody can correct for them.")
    else:
        yield Paragraph(
            "The probabilities are in the manifest, so that analysts can correct counts for them "
            "with anonymizer estimate."
        )


def followed_by(evidence: Evidence) -> Iterator[str]:
    """Where the recoding is that of another release: of which, and what it did not cover."""
    manifest = evidence.manifest
    if manifest.applies is not None:
        yield (
            "The recoding is that of another release: it was not chosen for this table. The "
            f"{MANIFEST} of that release has the SHA-256 {manifest.applies.sha256}."
        )
    if manifest.unseen is not None:
        treated = {
            "any": "the label * replaced these values",
            "suppress": "these records were suppressed",
        }[manifest.unseen.treated]
        covered = (
            f"values that the recoding does not cover, {count(manifest.unseen.values)} different "
            "ones in all"
            if manifest.unseen.values
            else "a combination of values that the recoding does not cover"
        )
        yield f"{plural(manifest.unseen.records, 'record')} had {covered}; {treated}."


def records_of(evidence: Evidence) -> Iterator[str]:
    """What became of the records of the original."""
    manifest = evidence.manifest
    if manifest.records is None and not evidence.private:
        yield (
            f"{count(evidence.released)} records are released. How many there were, and how many "
            "were left out, is known to its steward alone: with the population it would tell who "
            "is in the table."
        )
        return
    if manifest.records is None:
        yield (
            f"{count(evidence.released)} records are released. They were drawn at random; how many "
            "there were, and how many were left out, is not reported, as the guarantee requires."
        )
        return
    yield (
        f"The original has {plural(manifest.records, 'record')}; {count(evidence.released)} are "
        "released."
    )
    if manifest.dropped:
        yield f"{plural(manifest.dropped, 'record')} with a missing value were left out."
    if manifest.suppressed:
        fate = {
            "kept": "are released as one class, with * in every quasi-identifier",
            "removed": "were left out",
        }[manifest.suppressed_class]
        part = share(manifest.suppressed / manifest.records)
        yield (
            f"{plural(manifest.suppressed, 'record')} ({part}) were suppressed to save the policy "
            f"for the others; they {fate}. People with unusual values are suppressed first, so "
            "that figures about them are the least reliable."
        )
    if not manifest.dropped and not manifest.suppressed:
        yield "None was left out or suppressed."


def _classes(evidence: Evidence, pictures: Pictures) -> Iterator[Block]:
    """How large classes are."""
    sizes = evidence.sizes
    number_of = plural(len(sizes), "class")
    yield Heading("Classes")
    smallest, largest = (evidence.said(people(sizes[place])) for place in (0, -1))
    yield Paragraph(
        f"The table has {number_of}. The smallest has {smallest}, the largest "
        f"{largest}, the average {number(evidence.average_size)}."
    )
    chosen = np.quantile(sizes, QUANTILES, method="lower")
    names = ("Smallest", "Lower quarter", "Middle", "Upper quarter", "Largest")
    yield ReportTable(
        "Sizes of classes, in records",
        ("Class", "Records"),
        [*zip(names, map(count, chosen), strict=True)],
        numeric=(1,),
    )
    yield from pictures.sizes()
