"""What ranges between cut points tell of a sensitive attribute, against t and l (Bezzi 2010)."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import inf, isfinite

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.persons import Attribute, by_persons
from anonymizer.errors import AnonymizerError
from anonymizer.explorer.answers.outcome import StudyOutcome, about_of
from anonymizer.explorer.answers.ranges.axis import CutAxis
from anonymizer.feedback.words import number, plural
from anonymizer.hierarchy import Taxonomy
from anonymizer.information.entropy import specific_information, surprise
from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.privacy import (
    PrivacyModel,
    TCloseness,
    acceptable,
    judged_classes,
    measures_of,
)
from anonymizer.privacy.diversity import EntropyLDiversity
from anonymizer.recoding import Watch, ignore

Ends = tuple[Decimal | None, Decimal | None]


@dataclass(frozen=True)
class Informations:
    """The informations of a class about a sensitive attribute: I1 and I2, in bits (Bezzi 2010)."""

    surprise: float
    specific: float


@dataclass(frozen=True)
class CutRange:
    """One range of an attribute, as if it were a class of its own.

    ``ends`` are the cuts it lies between, None for missing values; ``informations`` are None of a
    range without records; ``broken`` says which models it breaks, and by how much.
    """

    ends: Ends | None
    records: int
    informations: Informations | None = None
    broken: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassLimits:
    """The most that a class may tell: I1 at most t, I2 at most H(W) - log2 l; None: no limit."""

    surprise: float | None = None
    specific: float | None = None


def limits_of(models: Iterable[PrivacyModel], sensitive: str, counts: Counts) -> ClassLimits:
    """The limits of a policy about an attribute of a table; none where it counts persons."""
    t, ceiling, margin = inf, inf, counts.margins[sensitive]
    for model in () if by_persons(sensitive) in counts.joint else models:
        if sensitive not in about_of(model, [sensitive]):
            continue
        if isinstance(model, TCloseness) and model.distance == "kl":
            t = min(t, model.threshold)
        elif isinstance(model, EntropyLDiversity):
            ceiling = min(ceiling, model.ceiling(margin))
    return ClassLimits(t if isfinite(t) else None, ceiling if isfinite(ceiling) else None)


def ranges_of(
    axis: CutAxis, cuts: Sequence[Decimal], sensitive: str | None, models: Iterable[PrivacyModel]
) -> list[CutRange]:
    """The ranges between cuts, and the missing values after them, where there are any."""
    counts = axis.ranges(cuts)
    informations = _informations_of(counts, sensitive)
    broken = _broken(counts, sensitive, models)
    places = {int(range_): row for row, range_ in enumerate(counts.cells[:, 0])}
    ends: list[Ends | None] = [*pairwise([None, *cuts, None])]
    if len(cuts) + 1 in places:
        ends.append(None)
    return [
        CutRange(each, int(counts.sizes[row]), informations[row], broken[row])
        if (row := places.get(place)) is not None
        else CutRange(each, 0)
        for place, each in enumerate(ends)
    ]


def _informations_of(counts: Counts, sensitive: str | None) -> list[Informations | None]:
    if sensitive is None:
        return [None] * len(counts)
    first, second = _bits(counts, sensitive)
    return [Informations(*each) for each in zip(first.tolist(), second.tolist(), strict=True)]


def _bits(counts: Counts, sensitive: str) -> tuple[Floats, Floats]:
    """I1 and I2 of each class."""
    joint, margin = counts.joint[sensitive], counts.margins[sensitive]
    return surprise(joint, margin), specific_information(joint, margin)


def _broken(
    counts: Counts, sensitive: str | None, models: Iterable[PrivacyModel]
) -> list[tuple[str, ...]]:
    """Which models each class breaks, those about the attribute or about sizes, in words."""
    found: list[list[str]] = [[] for _ in range(len(counts))]
    for model in models:
        for about in about_of(model, [] if sensitive is None else [sensitive]):
            for row, words in _breaking(model, counts, about).items():
                found[row].append(words)
    return [tuple(each) for each in found]


def _breaking(model: PrivacyModel, counts: Counts, about: Attribute | None) -> Mapping[int, str]:
    """The classes that break a model, each with what it comes to."""
    try:
        values = measures_of(model, judged_classes(model, counts, about))
    except AnonymizerError:  # it cannot be measured here, which the outcome says
        return {}
    if not model.per_class or len(values) != len(counts):
        return {}
    rows = np.flatnonzero(~model.accepts(values)).tolist()
    return {row: _words(model, float(values[row])) for row in rows}


def _words(model: PrivacyModel, value: float) -> str:
    bound = "at least" if model.at_least else "at most"
    limit = f"{bound} {number(model.threshold)}"
    unit = "bits" if isinstance(model, TCloseness) and model.distance == "kl" else model.unit
    unit = "" if "(" in unit else unit  # what else it may be of other parameters
    shown = number(value) if isfinite(value) else "infinite"
    return f"{model.name}: {shown}, {limit} {unit}".rstrip()


@dataclass(frozen=True)
class Inside:
    """The classes of the whole recoding within one range, the worst of them in each measure.

    ``breaking``: how many of its ``classes`` break the policy.
    """

    classes: int
    worst: Informations
    breaking: int


def inside_of(
    outcome: StudyOutcome,
    taxonomy: Taxonomy,
    axis: CutAxis,
    cuts: Sequence[Decimal],
    sensitive: str,
    watch: Watch = ignore,
) -> list[Inside | None]:
    """What the classes of an outcome come to within each range; None of one without classes.

    Suppressed records are in no range. Classes of a recoding that has no ranges of the attribute
    are in none either: nothing is given then.
    """
    if outcome.raw is None or outcome.plan is None:
        return []
    try:
        partitions = outcome.plan.partitions
    except TypeError:  # classes with groups of their own
        return []
    watch("merging classes", 0, None)
    counts = outcome.raw.recode(partitions)
    counts = counts.select(counts.sizes > 0)
    fine = acceptable(counts, outcome.plan.models)
    if outcome.suppressed:
        counts, fine = counts.select(fine), fine[fine]
    first, second = _bits(counts, sensitive)
    ranges = _range_of(taxonomy, axis, cuts, counts.cells[:, counts.names.index(axis.attribute)])
    return [
        _inside(ranges == place, first, second, fine)
        for place in range(len(cuts) + 1 + bool((ranges > len(cuts)).any()))
    ]


def _range_of(taxonomy: Taxonomy, axis: CutAxis, cuts: Sequence[Decimal], codes: Codes) -> Codes:
    """The range of each class by the code that it goes by; one more than any for missing values."""
    if not cuts:
        return np.zeros(len(codes), np.intp)
    assert taxonomy.numbers is not None
    places = [taxonomy.numbers[code] for code in codes.tolist()]
    found = [len(cuts) + 1 if each is None else bisect_right(cuts, each) for each in places]
    return np.array(found, np.intp)


def _inside(mine: Mask, first: Floats, second: Floats, fine: Mask) -> Inside | None:
    if not mine.any():
        return None
    worst = Informations(float(first[mine].max()), float(second[mine].max()))
    return Inside(int(mine.sum()), worst, int((~fine[mine]).sum()))


def verdict_on(range_: CutRange, inside: Inside | None) -> str:
    """What a range breaks, in words, and what the classes in it do."""
    alone = "; ".join(range_.broken) or "none"
    if inside is None or not inside.breaking or inside.classes == 1:
        return alone
    breaking = plural(inside.breaking, "class")
    return f"by itself: {alone}; with the other attributes: {breaking} of {inside.classes:,}"
