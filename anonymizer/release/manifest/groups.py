"""The groups of a recoding as a manifest has them, and the partitions that they describe."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Literal

import numpy as np
from pydantic import (
    Field,
    StrictInt,
    StrictStr,
    model_validator,
)

from anonymizer.errors import InputError
from anonymizer.hierarchy import (
    ANY,
    NUMBERS,
    Hierarchy,
    Interval,
    MeasuredNumbers,
    Partition,
    Scale,
    Taxonomy,
    cut_of,
    grouping_of,
)
from anonymizer.hierarchy.calendar import Clock, Dates
from anonymizer.hierarchy.label import (
    BoxLabel,
    CodeForm,
    CodeLabel,
    Label,
    ListLabel,
    OthersLabel,
    RangeLabel,
    StarLabel,
    TextLabel,
)
from anonymizer.hierarchy.order import Ranks
from anonymizer.hierarchy.partition import MARKED, digest_of_values
from anonymizer.release.files import MANIFEST
from anonymizer.release.manifest.parts import Count, Digest, LabelText, ManifestPart, Number
from anonymizer.tables.values import number_of

ISO_DATES = Dates()
"""The scale of the dates of a manifest, which are on the calendar's own clock."""


class GroupCalendar(ManifestPart):
    """That a group is of dates: the time zone of instants, and the format that texts have."""

    zone: LabelText = Field(None, description="The time zone of instants.")
    format: LabelText = Field(None, description="The format of texts, as strptime has it.")


class GroupCode(ManifestPart):
    """That a group is of codes that have one length first, or of other beginnings, too."""

    length: Count | None = Field(None, description="The characters that codes are brought to.")
    pad: StrictStr | None = Field(
        None,
        description="What shorter codes get in front; what follows a hyphen or a blank is cut.",
    )
    also: list[StrictStr] = Field([], description="Beginnings of codes that are among them, too.")
    without: list[StrictStr] = Field([], description="Beginnings of codes that are not.")

    def label(self, text: str, begin: int, end: int) -> CodeLabel:
        """What a text stands for of which some characters are masked."""
        form = CodeForm(self.length, self.pad)
        return CodeLabel(text, begin, end, form, tuple(self.also), tuple(self.without))


class Group(ManifestPart):
    """What a label of a released column represents.

    A range has both ends, None where it is open; those of dates, which have a ``calendar``, are
    texts; numbers may have a ``unit``. ``values`` are the values of the group; where these are too
    many, ``listed`` is their number and ``sha256`` their digest. The group of all others has
    ``excluded``, the values that it lacks, and ``missing`` where it has missing ones, too; a masked
    code says where the characters begin and end that are ``masked``, and ``code`` how codes are
    read. A group of a cut has its ``level``. ``group`` is the label in the hierarchy, where the
    table has another one.
    ``members`` are the groups of the hierarchy that a box has, each with its ``level``.
    """

    label: LabelText = Field(description="As it stands in the table; null: a missing value.")
    low: Number | StrictStr | None = Field(
        None, alias="from", description="Where a range begins; null: open. Dates are texts."
    )
    high: Number | StrictStr | None = Field(
        None, alias="to", description="Where it ends, not included; null: open."
    )
    calendar: GroupCalendar | None = Field(
        None, description="That its values are dates, and how these are read."
    )
    unit: LabelText = Field(None, description="The unit that its numbers are written with.")
    decimal: Literal[","] | None = Field(
        None, description="The decimal mark of these; null: a point."
    )
    values: list[LabelText] | None = Field(None, description="The values that it stands for.")
    listed: Annotated[StrictInt, Field(gt=0, lt=2**62)] | None = Field(
        None, description="How many values it stands for, where these are too many to be listed."
    )
    sha256: Digest | None = Field(None, description="The SHA-256 of these values.")
    excluded: list[StrictStr] | None = Field(
        None, alias="except", description="The values that the group of all others lacks."
    )
    missing: Literal[True] | None = Field(
        None, description="That the group of all others has missing values, too."
    )
    masked: Annotated[list[Count], Field(min_length=2, max_length=2)] | None = Field(
        None, description="Where the characters of a code begin and end that are masked."
    )
    code: GroupCode | None = Field(
        None, description="How codes are read that it stands for, where not as they are."
    )
    level: Count | None = Field(None, description="Its level in the hierarchy, in a cut.")
    group: LabelText = Field(
        None, description="The label in the hierarchy, where the table has another one."
    )
    members: list["Group"] | None = Field(
        None, description="The groups of the hierarchy that it joins."
    )

    @model_validator(mode="after")
    def _complete(self) -> "Group":
        """Require both ends of a range, in order, and a digest for a list that is left out.

        Of a masked code also that what is masked lies within its label.
        """
        ends = {"low", "high"} & self.model_fields_set
        if len(ends) == 1 or (self.sha256 is None) != (self.listed is None):
            raise ValueError
        for member in self.members or ():  # null is no label of a hierarchy, and never written
            if "group" in member.model_fields_set and member.group is None:
                raise ValueError
        try:
            low, high = self.interval.low, self.interval.high
        except InputError:  # no such time zone, or no such format
            raise ValueError from None
        if low is not None and high is not None and low >= high:
            raise ValueError
        if self.missing and self.excluded is None:
            raise ValueError
        own = len(self.own or "")
        if self.masked and not self.masked[0] < self.masked[1] <= own:
            raise ValueError
        if self.code and self.code.length not in (None, own):
            raise ValueError
        return self

    @property
    def is_range(self) -> bool:
        """Whether it is a range of numbers or dates."""
        return "low" in self.model_fields_set

    @property
    def is_star(self) -> bool:
        """Whether it is ``*``, which stands for every value, and no value or code that reads so."""
        return self.label == ANY and self.level != 0 and self.masked is None

    @property
    def own(self) -> LabelText:
        """The label in the hierarchy."""
        return self.label if self.group is None else self.group

    @property
    def unmarked(self) -> LabelText:
        """The label in the hierarchy, without a mark that tells it apart from others."""
        return self.label and MARKED.sub("", self.label) if self.group is None else self.group

    @property
    def interval(self) -> Interval:
        """The range of numbers or dates, exactly."""
        ends = (self.own or "")[1:-1].split(", ") if self.calendar is None else []
        texts = ends if len(ends) == 2 else (None, None)
        low, high = map(self._place, (self.low, self.high), texts)
        return Interval(low, high, self.scale)

    @property
    def scale(self) -> Scale:
        """The scale that its values lie on."""
        clock = self.clock
        if self.unit:
            return MeasuredNumbers(self.unit, self.decimal or ".")
        return NUMBERS if clock is None else Dates(clock)

    @property
    def clock(self) -> Clock | None:
        """How dates are read; None where values are none."""
        if self.calendar is None:
            return None
        return Clock(self.calendar.zone, self.calendar.format)

    def _place(self, end: float | str | None, text: str | None) -> Decimal | None:
        """Where an end lies; ValueError where it is none of the scale.

        ``text``: what the label has there, all digits of a number that JSON may round.
        """
        if end is None:
            return None
        written = None if text is None else number_of(text)
        if written is not None and float(written) == end:
            return written
        if isinstance(end, str) != (self.calendar is not None):
            raise ValueError("an end of another scale")
        place = ISO_DATES.place(end) if self.calendar else Decimal(str(end))
        if place is None:
            raise ValueError("an end that is no date")
        return place

    def stands_for(self, *, raw: bool = False, alone: bool = False) -> Label:
        """What the label stands for; the only place that tells the kinds of groups apart.

        ``raw``: it is a raw value, even where it reads ``*``. ``alone``: its column has no other
        group, so that it has missing values, too, whichever it lists.
        """
        members = self.members or ()
        nodes = [(each.level, each.own) for each in (members or [self]) if each.level is not None]
        level, star = (0, False) if raw else (self.level, self.is_star)
        return replace(self._label(level, star, alone), nodes=tuple(nodes))

    def _label(self, level: int | None, star: bool, alone: bool) -> Label:
        own, members = self.own, self.members or ()
        if self.is_range:
            return RangeLabel(self.interval, self.clock)
        if self.excluded is not None:
            return OthersLabel(tuple(self.excluded), bool(self.missing))
        if self.masked is not None or self.code is not None:
            begin, end = self.masked or (len(str(own)),) * 2
            make = CodeLabel if self.code is None else self.code.label
            return make(str(own), begin, end)
        if members and self.values is None:
            return BoxLabel(tuple(each.stands_for() for each in members))
        if self.values is None and own is not None and level != 0:
            return StarLabel() if star else TextLabel(own)
        values = (own,) if self.values is None or level == 0 else tuple(self.values)
        texts = [own, *(self.values or ()), *(each.own for each in members)]
        missing = star or alone or None in texts
        return ListLabel(values, missing, self.clock, is_rest=star and not members)

    def relabelled(self, label: LabelText) -> "Group":
        """The group with another label; the hierarchy knows it by its own."""
        other = {"label": label, "group": self.own}
        return self if label == self.label else self.model_copy(update=other)


HIDDEN = Group.model_validate({"label": ANY})
"""The group of values that are shown as ``*`` and as nothing else."""

MISSING = Group.model_validate({"label": None})
"""The group of missing values."""


def kind_of(groups: Sequence[Group]) -> str:
    """What the groups of a column are: those of a cut, ranges, or groups of values."""
    if any(group.level is not None for group in groups):
        return "cut"
    return "ranges" if any(group.is_range for group in groups) else "groups"


def partition_of(taxonomy: Taxonomy, groups: Sequence[Group]) -> Partition:
    """The partition of known values that groups describe: a cut, ranges, or groups of values.

    Raises ValueError or LookupError when the groups do not fit the taxonomy.
    """
    kind = kind_of(groups)
    if kind == "cut":
        return _cut(taxonomy, groups)
    if kind == "ranges":
        return _ranges(taxonomy, [group.interval for group in groups if group.is_range])
    if isinstance(taxonomy.scale, Ranks):
        found = [taxonomy.scale.range_of(group.values) for group in groups if group.values]
        return _ranges(taxonomy, [range_ for range_ in found if range_ is not None])
    places = {text: code for code, text in enumerate(taxonomy.texts)}
    values = [[places[text] for text in group.values or ()] for group in groups]
    return grouping_of(taxonomy, [np.array(each) for each in values])


def _cut(taxonomy: Taxonomy, groups: Sequence[Group]) -> Partition:
    """The cut through the groups; values in none of them, which no record has, stay single."""
    nodes, covered = [], np.zeros(len(taxonomy.codes), bool)
    for group in groups:
        if group.level is None:
            raise ValueError("a group of a cut without a level")
        codes = taxonomy.nodes[group.level, group.own]
        covered[codes] = True
        nodes.append((group.level, int(taxonomy.levels[group.level].groups[codes[0]])))
    single = taxonomy.levels[0].groups[~covered & taxonomy.many]
    return cut_of(taxonomy, [*nodes, *((0, int(place)) for place in single)])


def _ranges(taxonomy: Taxonomy, ranges: Sequence[Interval]) -> Partition:
    """Each value in its range, and a missing one in none of them."""
    if taxonomy.numbers is None:
        raise ValueError("no places on a scale")
    return Partition.of(
        [None if number is None else _holding(number, ranges) for number in taxonomy.numbers]
    )


def _holding(number: Decimal, ranges: Sequence[Interval]) -> Interval:
    for each in ranges:
        if each.holds(number):
            return each
    raise ValueError("a number in no range")


def filled(
    name: str, groups: Sequence[Group], hierarchy: Hierarchy, level: int | None
) -> list[Group]:
    """The groups of a column with the values that a manifest leaves out, from its hierarchy.

    ``level``: the level of the column, where it is released at one.

    Raises InputError when the hierarchy lists other values than that of the release.
    """
    taxonomy, full = hierarchy.over(name, []), []
    for group in groups:
        if group.listed is None:
            full.append(group)
            continue
        own = level if group.level is None else group.level
        nodes = [(each.level, each.own) for each in group.members or ()] or [(own, group.own)]
        inside = np.unique([code for node in nodes for code in taxonomy.nodes.get(node, ())])
        texts = (taxonomy.texts[code] for code in inside.astype(np.intp))
        values = [text for text in texts if text is not None]
        if digest_of_values(values) != group.sha256:
            raise InputError(
                f"{MANIFEST} is about another hierarchy of column {name!r} than the study: it "
                "lists other values"
            )
        full.append(group.model_copy(update={"values": values}))
    return full
