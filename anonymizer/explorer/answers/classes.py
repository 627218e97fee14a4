"""What released classes are called: the label of each quasi-identifier, as the release has them."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.counts.columns import in_order, stacked
from anonymizer.counts.counts import Counts
from anonymizer.counts.multidimensional import CLASS, Regions
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.feedback.words import count, plural
from anonymizer.hierarchy import ANY, shown_label
from anonymizer.kernels.arrays import Codes
from anonymizer.recoding.generalization import GeneralizationPlan
from anonymizer.tables import engine


@dataclass(frozen=True)
class NamedClass:
    """One class: its number from 1 on, of so many, its records, and its labels by attribute.

    No labels are known of a class whose values were drawn at random.
    """

    number: int
    of: int
    records: int
    labels: Mapping[str, str]

    def text(self, shows_labels: bool = True) -> str:
        """The class in words; without its labels by its number alone."""
        size = plural(self.records, "record")
        if not shows_labels or not self.labels:
            return f"class {count(self.number)} of {count(self.of)}, {size}"
        if all(label == ANY for label in self.labels.values()):
            return f"the class in which everything is {ANY}, {size}"
        named = ", ".join(f"{name} {label}" for name, label in self.labels.items())
        return f"{named} ({size})"


def named_class(outcome: StudyOutcome, place: int) -> NamedClass:
    """The class in a place of the counts, which the outcome must have."""
    counts = outcome.counts
    assert counts is not None
    labels = _labels_of(outcome, counts, place)
    return NamedClass(place + 1, len(counts), int(counts.sizes[place]), labels)


def goes_by_codes(outcome: StudyOutcome) -> bool:
    """Whether the cells of the classes are codes of raw values, and not of labels."""
    plan = outcome.plan
    return isinstance(plan, GeneralizationPlan) and plan.population is None


def by_labels(outcome: StudyOutcome) -> Counts | None:
    """The classes by codes of their labels: those of one code look alike in an attribute.

    They are as many as before: a number may tell classes apart whose labels are alike. None where
    there are no classes.
    """
    counts, plan = outcome.counts, outcome.plan
    if counts is None or plan is None or not isinstance(plan.recoding, Regions):
        return counts
    if not goes_by_codes(outcome):
        return counts
    regions = plan.recoding
    class_of = regions.class_of(counts.cells)
    columns = [_numbered(regions.labels[name])[class_of] for name in counts.names]
    return replace(counts, cells=np.column_stack(columns).astype(np.intp))


def _numbered(labels: Iterable[Hashable]) -> Codes:
    """A number for each label, the same for labels that read alike."""
    texts = [shown_label(label) for label in labels]
    return np.unique(np.array(texts), return_inverse=True)[1]


def _labels_of(outcome: StudyOutcome, counts: Counts, place: int) -> Mapping[str, str]:
    plan = outcome.plan
    assert plan is not None
    if not goes_by_codes(outcome):
        return _found_labels(outcome, counts, place)
    if place == outcome.merged:
        return dict.fromkeys(counts.names, ANY)
    cell = counts.cells[place]
    if isinstance(plan.recoding, Regions):
        return _region_labels(plan.recoding, int(plan.recoding.class_of(cell[None, :])[0]))
    partitions = plan.partitions
    return {
        name: shown_label(partitions[name].labels[int(partitions[name].groups[code])])
        for name, code in zip(counts.names, cell, strict=True)
    }


def _region_labels(regions: Regions, number: int) -> Mapping[str, str]:
    """The labels of a class of its own, with its number where a column has it."""
    found = {name: shown_label(regions.labels[name][number]) for name in regions.names}
    return {**found, CLASS: str(number + 1)} if regions.numbered else found


def _found_labels(outcome: StudyOutcome, counts: Counts, place: int) -> Mapping[str, str]:
    """The labels of a class that was counted in the released table; none of drawn values."""
    plan, released = outcome.plan, outcome.released
    assert plan is not None
    assert released is not None
    if plan.random:
        return {}
    people = plan.people(released)
    shown = engine.tally(released, counts.names).combinations
    if people is not None:
        shown = stacked(shown, people, counts.names)
    there = np.ones(len(shown.index), bool)
    for column, code in zip(counts.names, counts.cells[place], strict=True):
        codes = in_order(shown[column]) if people is None else engine.distinct(shown[column])[0]
        there &= codes == code
    row = np.flatnonzero(there)[:1]
    return {name: shown_label(shown[name].iloc[each]) for name in counts.names for each in row}
