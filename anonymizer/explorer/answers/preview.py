"""What a release would look like: before and after, by counts alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.feedback.words import bits, count, plural, share
from anonymizer.hierarchy import shown_label
from anonymizer.information.matrices import largest
from anonymizer.kernels.arrays import Ints
from anonymizer.profiling.profile import TableProfile
from anonymizer.release.column_warnings import unique_warnings
from anonymizer.release.person_warnings import profile_warnings
from anonymizer.release.warnings import class_warnings, telling_warnings
from anonymizer.tables import engine
from anonymizer.tables.relations.relation import Relation

TOP = 10
"""Values of a column that are listed, those of most records."""

SUPPRESSED = "*"
"""The label that hides a value altogether."""

NOTHING = "-"
"""What stands for a figure that there is none of."""

Listed = Sequence[tuple[str, int]]
"""Values or labels with their records, those of most records first."""


@dataclass(frozen=True)
class AttributeChange:
    """A quasi-identifier before and after.

    ``before`` and ``after`` are the values and the labels that occur, with their records; ``level``
    is that of its hierarchy, None where it is not released at one. ``hidden`` are the records that
    have no label. ``drawn``: whether values were drawn at random.
    """

    name: str
    before: Listed
    after: Listed
    level: int | None = None
    drawn: bool = False

    @property
    def hidden(self) -> int:
        """The records that have no label."""
        return dict(self.after).get(SUPPRESSED, 0)

    @property
    def how(self) -> str:
        """What was done, in words."""
        if self.drawn:
            return "drawn at random"
        if self.level == 0:
            return "as it is"
        if len(self.after) == 1 and self.hidden:
            return "suppressed"
        return "groups of its own" if self.level is None else f"level {self.level}"


def changes_of(outcome: StudyOutcome) -> list[AttributeChange]:
    """Each quasi-identifier of the study before and after; none where there is no recoding.

    It takes as long as the table has distinct records: ask for it in a thread.
    """
    task, plan, released = outcome.task, outcome.plan, outcome.released
    if task is None or plan is None or released is None:
        return []
    tally = task.counted.tally
    return [
        AttributeChange(
            name,
            listed(tally, name),
            listed(released, name),
            plan.levels.get(name),
            name in _drawn(outcome),
        )
        for name in task.counted.schema.quasi_identifiers
    ]


def _drawn(outcome: StudyOutcome) -> Sequence[object]:
    """The attributes whose values were drawn at random."""
    masking = None if outcome.carried is None else outcome.carried.randomization
    found = {} if masking is None else masking.to_dict()
    return tuple(found.get("attributes", ()))  # type: ignore[arg-type]


def listed(table: engine.Table, name: str) -> Listed:
    """The values of a column with their records, those of most records first."""
    codes, values = engine.distinct(table[name])
    sizes = engine.sized(table, codes, len(values))
    order = np.argsort(-sizes, kind="stable")
    return [(shown_label(values[place]), int(sizes[place])) for place in order if sizes[place]]


@dataclass(frozen=True)
class SizesBar:
    """Classes of a range of sizes: how many records they have, before and after."""

    least: int
    most: int
    before: int
    after: int

    @property
    def words(self) -> str:
        """The sizes of its classes.

        >>> SizesBar(1, 1, 0, 0).words, SizesBar(5, 8, 0, 0).words
        ('1', '5 to 8')
        """
        return count(self.least) if self.least == self.most else f"{self.least:,} to {self.most:,}"


def bars_of(before: Ints, after: Ints) -> list[SizesBar]:
    """Records by the size of their class, in ranges that double: 1, 2, 3 to 4, 5 to 8, and so on.

    >>> [(bar.words, bar.after) for bar in bars_of(np.array([1]), np.array([2, 3, 4]))]
    [('1', 0), ('2', 2), ('3 to 4', 7)]
    """
    largest_one = int(max(before.max(initial=0), after.max(initial=0)))
    ends = [0, *(1 << power for power in range(max(largest_one - 1, 0).bit_length() + 1))]
    return [
        SizesBar(low + 1, high, _within(before, low, high), _within(after, low, high))
        for low, high in pairwise(ends)
    ]


def _within(sizes: Ints, low: int, high: int) -> int:
    return int(sizes[(sizes > low) & (sizes <= high)].sum())


@dataclass(frozen=True)
class Figure:
    """A figure of the table before and after."""

    name: str
    before: str
    after: str


def sizes_of(counts: Counts | None) -> Ints:
    """The records of each class that has any."""
    return np.zeros(0, np.int64) if counts is None else counts.sizes[counts.sizes > 0]


def figures_of(outcome: StudyOutcome) -> list[Figure]:
    """Records, classes, risks and information before and after; none without a recoding."""
    raw, counts = outcome.raw, outcome.counts
    if raw is None or counts is None:
        return []
    before, after = _figures(raw), _figures(counts)
    found = outcome.information
    if found is not None:
        before["Information about what is protected, or kept"] = bits(found[0])
        after["Information about what is protected, or kept"] = bits(found[1])
    return [Figure(name, before[name], after[name]) for name in before]


def _figures(counts: Counts) -> dict[str, str]:
    sizes = sizes_of(counts)
    records = int(sizes.sum())
    found = {
        "Records": count(records),
        "Classes (records that look alike)": count(len(sizes)),
        "Smallest class": plural(int(sizes.min(initial=records)), "record"),
        "Records alone in their class": count(int((sizes == 1).sum())),
    }
    for name in counts.sensitive:
        found[f"Surest guess of {name}"] = share(_surest(counts, name))
    return found


def _surest(counts: Counts, name: str) -> float:
    """The largest share of a value in a class."""
    occupied = counts.sizes > 0
    return float((largest(counts.joint[name])[occupied] / counts.sizes[occupied]).max(initial=0))


def sentence(message: str) -> str:
    """A message that begins and ends as a sentence.

    >>> sentence("leave the column out")
    'Leave the column out.'
    """
    return f"{message[:1].upper()}{message[1:]}."


def warnings_of(outcome: StudyOutcome) -> list[str]:
    """What the release is weak in as far as its classes tell, in the words of the reports.

    It takes as long as the table has distinct records: ask for it in a thread.
    """
    if outcome.plan is None or outcome.counts is None or not outcome.holds:
        return []
    plan, released = outcome.plan, outcome.released
    found = [*class_warnings(outcome.counts, plan.models, items=plan.published.items)]
    if released is not None:
        found += telling_warnings(released, plan.published)
    return [sentence(each.message) for each in found]


def unique_of(table: Relation, outcome: StudyOutcome) -> list[str]:
    """What to beware of in columns that are released as they are, alone and in pairs.

    Of all records of the raw table: those that are suppressed, or dropped, are among them.
    """
    others = others_of([*map(str, table.columns)], outcome) if outcome.holds else []
    return [sentence(each.message) for each in unique_warnings(table, others)]


def repeated_of(found: TableProfile, person: Sequence[str] = ()) -> list[str]:
    """What to beware of where people have several records of a raw table.

    ``person``: the columns that tell them apart in the study.
    """
    known = [name for name in person if name in found.counted]
    return [sentence(each.message) for each in profile_warnings(found, known)]


def others_of(columns: Sequence[str], outcome: StudyOutcome) -> list[str]:
    """Columns of the table that are released as they are."""
    if outcome.task is None:
        return []
    schema = outcome.task.counted.schema
    known = {*schema.quasi_identifiers, *schema.sensitive, *schema.left_out}
    return [name for name in columns if name not in known]


def anonymous(change: AttributeChange) -> AttributeChange:
    """The same without a value or a label: their number and their records alone."""
    before, after = _numbered("value", change.before), _numbered("label", change.after)
    return replace(change, before=before, after=after)


def _numbered(kind: str, given: Listed) -> Listed:
    return [(f"{kind} {place}", records) for place, (_, records) in enumerate(given, 1)]
