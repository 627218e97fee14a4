"""Generalization hierarchies, written by a data steward and applied to the values of a table."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import ClassVar, Literal, Self
from unicodedata import normalize

import numpy as np

from anonymizer.errors import AnonymizerError, InputError, is_number, is_whole, shown
from anonymizer.feedback.document import Display, Displayed, Table, in_a_line
from anonymizer.feedback.words import plural
from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import ANY, Limits, Partition, Taxonomy
from anonymizer.hierarchy.scale import NUMBERS, Interval, Scale
from anonymizer.tables.spelling import plainness
from anonymizer.tables.values import Step, is_missing, number_of, text_of, without_sign

LevelLabel = str | Interval
Side = Literal["left", "right"]

MOST_VALUES = 8
"""Values of a hierarchy that a notebook shows."""

MOST_REPEATED = 5
"""Numbers of a list that a message repeats."""

MAKERS: dict[str, Callable[..., "Hierarchy"]] = {}
"""Makers of each kind, by the key of its rule: kinds are subclasses, so they stand above this.

``reading`` enters them, and importing anything of the room loads it.
"""


class NO_KEY:  # noqa: N801 (a constant: the key of no value)
    """The key of a value that a hierarchy cannot take."""


@dataclass(frozen=True, repr=False)
class Hierarchy(Displayed, ABC):
    """Generalization of the values of one attribute, written before any table is seen.

    Make one with :meth:`of` (a table of keys, as in a study), :meth:`read` (an ARX-style CSV file
    or a TOML rule), :meth:`from_rows`, :meth:`ranges`, :meth:`prefixes`, :meth:`suffixes`,
    :meth:`redact`, :meth:`keep`, :meth:`calendar`, :meth:`order` or :meth:`suppression`.
    Level 0 is the raw value, the highest level a single group. ``source`` is the file, for
    messages, and ``limits`` are the levels and ranges that a release may use.

    A hierarchy that is :meth:`grounded` makes one value of all that are alike at some level.
    """

    _kind: ClassVar[str] = "groups"
    """Name of the kind in a word or two."""

    source: str = field(default="its hierarchy", kw_only=True)
    limits: Limits = field(default=Limits(), kw_only=True)

    def __repr__(self) -> str:
        listed = len([*self.listed])
        return in_a_line(self, self._kind, self._levels, f"{listed:,} values" if listed else "")

    def display(self) -> Display:
        """Some values, and their labels at each level."""
        listed = [*self.listed]
        # Evenly spread: every so many of the listed ones, or values made up for a rule.
        values = listed[:: -(-len(listed) // MOST_VALUES)] if listed else self._examples()
        some = f"{min(MOST_VALUES, len(listed)):,} of {len(listed):,} values"
        columns = ["value", *(f"level {level}" for level in range(1, self.height + 1))]
        rows: list[list[object]] = []
        for value in values:
            with suppress(AnonymizerError):  # the hierarchy has no place for it
                rows.append([value, *self.labels(value)])
        title = f"Hierarchy: {self._kind}, {self._levels}"
        return Display(title, [Table(some if listed else "Example values", columns, rows)])

    @property
    def _levels(self) -> str:
        return f"{plural(self.height, 'level')} above the values"

    def _examples(self) -> list[object]:
        """Return values that show what the levels of a rule do."""
        return ["any value"]

    @staticmethod
    def of(given: object, directory: Path = Path(), attribute: str = "") -> "Hierarchy":
        """Make a hierarchy of what is given for one.

        That is the hierarchy itself, ``"suppress"``, a path, or a mapping of the keys that a study
        has: one rule, its options, and limits. Relative paths start at ``directory``; messages show
        the right form for the ``attribute``.

        >>> Hierarchy.of({"widths": [5, 10], "max-level": 2}).labels(37)[0]
        Interval(low=Decimal('35'), high=Decimal('40'))
        """
        if isinstance(given, Hierarchy):
            return given
        if isinstance(given, Mapping):
            return MAKERS["keys"](given, directory)
        if given == "suppress":
            return Hierarchy.suppression()
        if isinstance(given, str | Path) and str(given).strip():
            return Hierarchy.read(directory / given)
        raise InputError(right_form(given, attribute))

    @staticmethod
    def read(path: str | Path) -> "Hierarchy":
        """Read a hierarchy file: ``.toml`` holds a rule, anything else a table (CSV).

        InputError when it cannot be read or is no hierarchy; the message names the place.
        """
        return MAKERS["file"](Path(path))

    @staticmethod
    def from_rows(rows: Iterable[Sequence[object]]) -> "Hierarchy":
        """Build from rows ``value, label at level 1, label at level 2, ...``, finest first.

        A last column of more than one group gets ``*`` above it.
        """
        return MAKERS["rows"]([[text_of(field) for field in row] for row in rows])

    @staticmethod
    def ranges(
        widths: Sequence[float] = (),
        *,
        cuts: Sequence[Sequence[float]] = (),
        origin: float = 0,
        bottom: float | None = None,
        top: float | None = None,
        exact: bool = False,
        unit: str | None = None,
        decimal: str = ".",
    ) -> "Hierarchy":
        """Half-open ranges of numbers, one level per width (or list of cut points), then ``*``.

        Numbers below ``bottom`` are one group at every level, and numbers from ``top`` on are
        another one; single values are not released then, unless ``exact`` has whole ones of
        ``widths`` as level 1. ``unit`` is what stands next to each number; only ranges are released
        then, with the unit. ``decimal`` is the decimal mark of numbers that have one.

        >>> [str(label) for label in Hierarchy.ranges(widths=[25, 50]).labels(25)]
        ['[25, 50)', '[0, 50)', '*']
        >>> [str(label) for label in Hierarchy.ranges(widths=[5, 20], top=90).labels(97)]
        ['[90, inf)', '[90, inf)', '*']
        >>> [str(label) for label in Hierarchy.ranges(widths=[5], top=90, exact=True).labels(89)]
        ['89', '[85, 90)', '*']
        >>> [str(label) for label in Hierarchy.ranges(widths=[10], unit="cm").labels("165 cm")]
        ['[160 cm, 170 cm)', '*']
        """
        return MAKERS["ranges"](widths, cuts, origin, bottom, top, exact, unit, decimal)

    @staticmethod
    def prefixes(
        lengths: Sequence[int],
        *,
        mask: str = "*",
        length: int | None = None,
        pad: str | None = None,
        replace: Mapping[str, Sequence[str]] | None = None,
    ) -> "Hierarchy":
        """Keep the first characters of a code and mask the rest, one level per length, then ``*``.

        With a ``length`` all masked labels have that length: longer codes are cut, shorter ones get
        ``pad`` in front. ``replace`` has the prefixes that are taken for another one. Level 1 is of
        whole codes of the length then, and the codes as they are written are not released.

        >>> Hierarchy.prefixes([4, 2]).labels("47906")
        ('4790*', '47***', '*')
        >>> Hierarchy.prefixes([3], length=5, pad="0").labels("2139-4307")
        ('02139', '021**', '*')
        >>> Hierarchy.prefixes([3], replace={"000": ["036", "059"]}).labels("03601")
        ('000**', '*')
        """
        return MAKERS["prefixes"](tuple(lengths), mask, length, pad, replace)

    @staticmethod
    def suffixes(lengths: Sequence[int], *, mask: str = "*") -> "Hierarchy":
        """Keep the last characters of a code and mask the others, one level per length.

        >>> Hierarchy.suffixes([4, 2], mask="#").labels("47906")
        ('#7906', '###06', '*')
        """
        return MAKERS["mask"](tuple(lengths), "right", mask=mask)

    @staticmethod
    def redact(lengths: Sequence[int], *, side: Side = "right", mask: str = "*") -> "Hierarchy":
        """Mask ``lengths`` characters at one side of a code, whatever its length, one level each.

        >>> Hierarchy.redact([2, 4]).labels("479061")
        ('4790**', '47****', '*')
        """
        if side not in ("left", "right"):
            raise InputError(f'side = {shown(side)} must be "left" or "right"')
        kept: Side = "left" if side == "right" else "right"
        return MAKERS["mask"](tuple(lengths), kept, masks=True, mask=mask)

    @staticmethod
    def keep(*levels: Sequence[object], other: str = "other", missing: str = "own") -> "Hierarchy":
        """Keep the values of each level, and call all others ``other``.

        Each list is part of the one before. Values that are in none need not be known. A missing
        value is a group of its own, or with ``missing="other"`` one of the others.

        >>> Hierarchy.keep(["France", "Spain"], ["France"]).labels("Spain")
        ('Spain', 'other', '*')
        >>> Hierarchy.keep(["France", "Spain"], ["France"]).labels("Andorra")
        ('other', 'other', '*')
        """
        return MAKERS["keep"](levels, other, missing)

    @staticmethod
    def calendar(
        units: Sequence[str],
        *,
        zone: str | None = None,
        format: str | None = None,
        bottom: object = None,
        top: object = None,
    ) -> "Hierarchy":
        """Units of the calendar that dates and times lie in, one level per unit, then ``*``.

        Units are second, minute, hour, day, week, month, quarter, half-year, year, 5 years, decade
        and century. Instants are dates in a time ``zone``, UTC where none is given. ``format`` is
        that of texts that are no ISO dates. ``bottom`` is the last day, month or year of a group
        of all that is not later, ``top`` the first one of a group of all that is not earlier;
        single dates are not released then.

        >>> [str(label) for label in Hierarchy.calendar(["month", "year"]).labels("2024-03-05")]
        ['2024-03', '2024', '*']
        >>> [str(label) for label in Hierarchy.calendar(["year"], bottom=1936).labels("1931-05-07")]
        ['(-inf, 1937-01-01)', '*']
        """
        return MAKERS["calendar"](tuple(units), zone, format, bottom, top)

    @staticmethod
    def order(
        values: Iterable[object],
        *,
        widths: Sequence[int] = (),
        cuts: Sequence[Iterable[object]] = (),
    ) -> "Hierarchy":
        """Categories from one end to the other, one level per width (or list of cuts), then ``*``.

        A width is how many consecutive values a group has, a cut the value that a group begins at.

        >>> [str(label) for label in Hierarchy.order(["S", "M", "L"], widths=[2]).labels("M")]
        ['S - M', '*']
        """
        return MAKERS["order"](values, widths, cuts)

    @staticmethod
    def suppression() -> "Hierarchy":
        """Keep every value (level 0) or none of them (level 1)."""
        return MAKERS["suppress"]()

    def limited(
        self,
        *,
        min_level: int = 0,
        max_level: int | None = None,
        grid: int | Sequence[object] | None = None,
    ) -> Self:
        """Return the hierarchy with levels ``min_level`` to ``max_level`` open to a release.

        ``grid`` is of ranges: how many cut points they may have, or the cut points themselves.

        >>> Hierarchy.ranges(widths=[5, 10]).limited(max_level=2).limits.max_level
        2
        """
        listed = isinstance(grid, Iterable) and not isinstance(grid, str)
        points = tuple(map(self.cut_point, grid)) if listed else grid  # type: ignore[arg-type]
        limits = Limits(min_level, max_level, points)  # type: ignore[arg-type]
        limits = limits.upon(self.limits.ground)
        limits.require_height(self.height)
        if limits.grid is not None and not self.ordered:
            raise InputError(
                "grid is for ranges of numbers, which this hierarchy has none of; leave it out"
            )
        return replace(self, limits=limits)

    def grounded(self, ground: object) -> "Hierarchy":
        """Return the hierarchy over coarser values: a table is counted at the level of ``ground``.

        That is a unit of a calendar, a width of ranges, a length of masked codes, a list of cut
        points where ranges have such, or ``{"quantiles": 256}``, cut points that follow from the
        table, or else the number of a level. Where the rule does not have
        that level yet it becomes level 1. Nothing finer can be released, and far fewer combinations
        of values are counted.

        Raises InputError when there is no such level, or a coarser one would divide its groups.

        >>> birth = Hierarchy.calendar(["year"]).grounded("month")
        >>> [str(label) for label in birth.labels("2024-03-05")]
        ['2024-03', '2024', '*']
        """
        hierarchy, level = self.with_ground(ground)
        return replace(hierarchy, limits=hierarchy.limits.upon(level))

    def with_ground(self, ground: object) -> "tuple[Hierarchy, int]":
        """Return the hierarchy with a level for a ground, and which level that is."""
        if not is_whole(ground, least=1) or ground >= self.height:  # type: ignore[operator]
            if self.height == 1:
                raise InputError(
                    "this hierarchy has no level that values could be counted at; leave ground out"
                )
            raise InputError(
                f"ground = {shown(ground)} must be a level of this hierarchy below the highest "
                f"one, {self.height}, such as ground = 1"
            )
        return self, int(ground)  # type: ignore[call-overload]

    @property
    def ground(self) -> object:
        """Ground that values are counted at, as :meth:`grounded` takes it; None: as they are."""
        level = self.limits.ground
        return None if level is None else self.ground_at(level)

    def ground_at(self, level: int) -> object:
        """Return a level in the form of a ground."""
        return level

    def settled(self, values: Iterable[object], sizes: Iterable[int]) -> "Hierarchy":
        """Return the hierarchy with the ground that the values of a table determine, if they do.

        ``sizes`` are the records of each of the ``values``.
        """
        return self

    def cell(self, key: Hashable) -> Hashable:
        """Return the key that stands for all alike at the ground; the key itself without one."""
        known = self.limits.ground is not None and key is not None and self.covers(key)
        return self.cell_of(key) if known else key

    @property
    def step(self) -> Step | None:
        """Unit or width that values are rounded down by at the ground; None where it has none."""
        return None

    def counted_as(self, value: object) -> Hashable:
        """Return the key that a value is counted by."""
        return self.cell(self.key(value))

    def cell_of(self, key: Hashable) -> Hashable:
        """Return the key of the cell of a covered value, given a ground."""
        return str(self._at_ground(key))

    def ground_of(self, value: object) -> str | None:
        """Return the text of a value's cell; its own where the hierarchy does not cover it."""
        key = self.key(value)
        if key is None:
            return None
        return str(self._at_ground(key)) if self.covers(key) else text_of(value)

    def _at_ground(self, key: Hashable) -> LevelLabel:
        assert self.limits.ground is not None
        return self.label_at(self.limits.ground, key)

    def cut_point(self, given: object) -> Decimal:
        """Locate a cut point of a grid on the number line."""
        number = number_of(given) if isinstance(given, Real | Decimal) else None
        if number is None or isinstance(given, bool):
            raise InputError(f"cut points of grid must be numbers, not {shown(given)}")
        return number

    def describe(self) -> dict[str, object]:
        """Return the hierarchy as JSON has it: its part of a study's fingerprint."""
        ground = {} if self.ground is None else {"ground": self.ground}
        return {**self.rule(), **self.limits.describe(), **ground}

    @property
    @abstractmethod
    def height(self) -> int:
        """The highest level, where all values are one group."""

    @abstractmethod
    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        """Return the label of the values of a key at a level from 1 to height - 1."""

    @abstractmethod
    def rule(self) -> dict[str, object]:
        """Return the rule as JSON has it; limits are apart from it."""

    @property
    def follows_table(self) -> bool:
        """Whether its ground is up to the values of a table."""
        return False

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers that were meant as such, so that ranges may be refined."""
        return False

    @property
    def scale(self) -> Scale:
        """The scale that ordered values lie on."""
        return NUMBERS

    @property
    def top(self) -> LevelLabel:
        """The label of the single group at the highest level."""
        return ANY

    @property
    def listed(self) -> Iterable[Hashable]:
        """The values the steward listed: all that are covered, or some of them."""
        return ()

    def key(self, value: object) -> Hashable:
        """Identify a raw value: by its text, blanks around it stripped.

        None for a missing value, ``NO_KEY`` for one that is not of the kind that generalizes.
        """
        return None if is_missing(value) else text_of(value)

    def labels(self, value: object) -> tuple[LevelLabel | None, ...]:
        """Return the labels of a value at levels 1, 2, ..., height.

        A missing one stays missing, None, until it joins the others at the top.
        """
        return self.labels_of(self.key(value))

    def labels_of(self, key: Hashable) -> tuple[LevelLabel | None, ...]:
        """Return the labels of the values of a key, as :meth:`labels`."""
        below = range(1, self.height)
        return (*(None if key is None else self.label_at(level, key) for level in below), self.top)

    def partitions(self, keys: Sequence[Hashable]) -> tuple[Partition, ...]:
        """Return levels 1, 2, ..., height of some keys, a missing one being the last."""
        rows = [self.labels_of(key) for key in keys]
        return tuple(Partition.of([row[level] for row in rows]) for level in range(self.height))

    def covers(self, key: Hashable) -> bool:
        """Tell whether there are labels for a value."""
        return key is not NO_KEY

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> InputError:
        """Return the error about values that are not covered, with the records of each."""
        remedy = f"add them to {self.source}, clean the column, or declare them as missing values"
        if self._in_other_forms(strangers):
            remedy = f"accents in {self.source} are encoded otherwise (NFC, NFD): write both alike"
        return InputError(
            f"column {attribute!r} holds {named(strangers)} that {self.source} lacks",
            remedy,
        )

    def _in_other_forms(self, strangers: Iterable[str]) -> bool:
        """Whether any text is covered in another Unicode form: no eye tells them apart."""
        forms = (normalize(form, each) for form in ("NFC", "NFD") for each in strangers)
        return any(self.covers(self.key(each)) for each in forms)

    def _require_one_form(self, attribute: str, records: Mapping[str, int]) -> None:
        """Require that no text that is not listed is another one but for the form of its accents.

        ``records`` are those of the texts of a column that are no plain ASCII.
        """
        listed = {str(each) for each in self.listed if not str(each).isascii()}
        forms = {normalize("NFC", each): each for each in listed}
        others = {text: size for text, size in records.items() if text not in listed}
        twice = {
            text: size
            for text, size in others.items()
            if forms.setdefault(normalize("NFC", text), text) != text
        }
        if twice:
            raise InputError(
                f"column {attribute!r} holds {named(twice)} that {self.source}, or another record, "
                "writes with accents in another form (NFC, NFD), so that no eye tells them apart; "
                "write them alike"
            )

    def over(
        self, attribute: str, values: Iterable[object], sizes: Iterable[int] | None = None
    ) -> Taxonomy:
        """Apply the hierarchy to the distinct raw values of a column, a missing one among them.

        InputError when some are not in it; the message names the file, and values that five records
        or more have: ``sizes`` are the records of each, as far as known.
        """
        values = list(values)
        raw = self._by_key(attribute, values, [1] * len(values) if sizes is None else sizes)
        keys, numbers = self.ranked(dict.fromkeys([*self.listed, *raw]))
        levels = (
            # One group per key: 1 and True are equal to Python, not to a reader of the release.
            Partition(np.arange(len(keys)), tuple(raw.get(key, key) for key in keys)),
            *self.partitions(keys),
        )
        listed = frozenset(self.listed)
        return Taxonomy(
            attribute,
            dict(zip(keys, range(len(keys)), strict=True)),
            levels,
            self.key if self.limits.ground is None else self.counted_as,
            numbers,
            ordered=self.ordered and numbers is not None,
            listed=np.fromiter((key in listed for key in keys), bool, len(keys)),
            scale=self.scale,
            limits=self.limits,
            hierarchy=self,
        )

    def _by_key(
        self, attribute: str, values: Iterable[object], sizes: Iterable[int]
    ) -> dict[Hashable, object]:
        """Map keys to raw values; of equal ones the one of the plainest text, 3 and not 3.0."""
        raw: dict[Hashable, object] = {}
        strangers: Counter[str] = Counter()
        accented: Counter[str] = Counter()
        of_size = zip(values, sizes, strict=True)
        # The first spelling of a key stays: a column of 3 and 3.0 is released as 3.
        for value, size in sorted(of_size, key=lambda pair: plainness(str(pair[0]))):
            key = self.key(value)
            if key is not None and not self.covers(key):
                strangers[text_of(value)] += int(size)
                continue
            if isinstance(key, str) and not key.isascii():
                accented[key] += int(size)
            key = self.cell(key)
            raw.setdefault(key, None if key is None else self.written(value, key))
        if strangers:
            raise self.refusal(attribute, dict(sorted(strangers.items())))
        if accented:
            self._require_one_form(attribute, dict(sorted(accented.items())))
        return raw

    def ranked(
        self, keys: Collection[Hashable]
    ) -> tuple[list[Hashable], tuple[Decimal | None, ...] | None]:
        """Sort keys, a missing one last, and place them where all are numbers."""
        pairs = [(number_of(key), key) for key in keys if key is not None]  # each read but once
        texts = sorted(str(key) for number, key in pairs if number is None)
        by_size = sorted((number, str(key), key) for number, key in pairs if number is not None)
        missing = [None] * (None in keys)
        ordered = [*(key for _, _, key in by_size), *texts, *missing]
        return ordered, None if texts else (*(number for number, _, _ in by_size), *missing)

    def written(self, value: object, key: Hashable) -> object:
        """Return the released value of level 0: itself, or the label of its cell."""
        return without_sign(value) if self.limits.ground is None else self._at_ground(key)


def kind_of(hierarchy: Hierarchy) -> str:
    """Name the kind of a hierarchy in a word or two."""
    return hierarchy._kind


def right_form(given: object, attribute: str) -> str:
    """The message about what is no hierarchy: how it is written instead."""
    begin = f"write {attribute} = " if attribute else "write "
    items = given if isinstance(given, list | tuple) else [given]
    if given is True:
        return f"a hierarchy is no true or false; {begin}{{ suppress = true }}"
    if given and all(map(is_number, items)):
        numbers = ", ".join(shown(each) for each in items[:MOST_REPEATED])
        more = ", ..." if len(items) > MOST_REPEATED else ""
        return f"a hierarchy needs the name of a rule; {begin}{{ widths = [{numbers}{more}] }}"
    what = "an empty text" if given == "" else f"a {type(given).__name__}"
    return (
        f"a hierarchy is a table of a rule, a path or 'suppress', not {what}; {begin}"
        "{ widths = [5, 10] }, for numbers, or { suppress = true }"
    )
