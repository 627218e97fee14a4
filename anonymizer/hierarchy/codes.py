"""Hierarchies of codes of which some characters are masked: zip codes, telephone numbers.

In go codes and how many characters a level keeps or masks, out come labels that say where.

HIPAA's Safe Harbor lets three digits of a zip code stand where more than 20,000 people live, by the
publicly available data of the Bureau of the Census that are current, and wants 000 in the place of
all others: 45 CFR 164.514(b)(2)(i)(B).
"""

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from io import StringIO
from itertools import pairwise, product
from pathlib import Path
from string import digits
from typing import Self

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.hierarchy.hierarchy import Hierarchy, LevelLabel, Side
from anonymizer.hierarchy.label import MASKS, CodeForm, CodeLabel, Meaning
from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import ANY, MOST_LISTED, Limits, Partition
from anonymizer.tables.reading import HIERARCHY, read_whole, separator_of

LONGEST_CODE = 1000
"""Characters of a code that may be kept: no code of anybody is longer."""


FEWEST = 20_000
"""People of whom more have to live where three digits are shown."""

ZIP3 = 3
"""Digits of a zip code that may be shown."""

NOWHERE = "000"
"""What stands in the place of three digits where too few people live."""

PLACE = re.compile(r"(?:.*\D)?(\d{3}|\d{5})")
PEOPLE = re.compile(r"\d[\d,]*")

SUCH_REPLACED = 'replace = { "000" = ["036", "059"] }'


@dataclass(frozen=True, repr=False)
class MaskHierarchy(Hierarchy):
    """Codes of which some characters are masked: zip codes, telephone numbers.

    ``lengths`` are of each level, the finest first: how many characters are kept at the ``side``
    that is kept, falling, or how many are masked at the other side, rising (``masks``). A code that
    is shorter is kept, or masked, as a whole. ``mask`` stands for each masked character, so that
    the length of a code is kept, unless a ``form`` gives all of them one. A code that begins as one
    of ``replaced`` is taken for one with another beginning, of which nothing else is known.
    """

    lengths: tuple[int, ...]
    side: Side = "left"
    masks: bool = False
    mask: str = "*"
    form: CodeForm = field(default=CodeForm())
    replaced: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def of_prefixes(
        cls,
        lengths: Sequence[int],
        mask: str = "*",
        length: object = None,
        pad: object = None,
        replace: object = None,
    ) -> Self:
        """Take over lengths of prefixes, that of codes, and which prefixes are replaced.

        With a length, or replaced ones, level 1 is the ground: level 0 would show the codes.
        """
        kept, form = tuple(lengths), _form_of(length, pad)
        cls(kept, mask=mask)
        if form.length is not None and kept[0] > form.length:
            raise InputError(
                f"length = {form.length} is less than the {kept[0]} characters that prefixes keep; "
                f"give length = {kept[0]} or more"
            )
        if form.length is not None and kept[0] < form.length:
            kept = (form.length, *kept)
        pairs = () if replace is None else _replaced(replace, form)
        closed = form.length is not None or pairs
        limits = Limits().upon(1 if closed else None)
        return cls(kept, mask=mask, form=form, replaced=pairs, limits=limits)

    def __post_init__(self) -> None:
        name = self._kind
        whole = all(type(length) is int and length >= 1 for length in self.lengths)
        steps = pairwise(self.lengths[::-1] if self.masks else self.lengths)
        if not self.lengths or not whole or not all(fine > coarse for fine, coarse in steps):
            order, such = ("rising", "[1, 2]") if self.masks else ("falling", "[4, 3]")
            raise InputError(
                f"{name} must be {order} whole lengths of at least 1, such as {name} = {such}"
            )
        if max(self.lengths) > LONGEST_CODE:
            raise InputError(f"{name} must be lengths of at most {LONGEST_CODE:,}")
        if not isinstance(self.mask, str) or len(self.mask) != 1 or self.mask not in MASKS:
            raise InputError(f"mask = {shown(self.mask)} must be one of {' '.join(MASKS)}")

    def _examples(self) -> list[object]:
        return ["123456789ABCDEFGHIJK"[: self.form.length or max(self.lengths) + 2]]

    @property
    def _kind(self) -> str:  # type: ignore[override]
        return "redact" if self.masks else {"left": "prefixes", "right": "suffixes"}[self.side]

    @property
    def height(self) -> int:
        return len(self.lengths) + 1

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        return self._label(level, key, self._masked)

    def partitions(self, keys: Sequence[Hashable]) -> tuple[Partition, ...]:
        masked = cache(self._masked)  # of all codes that are masked alike the label is made once
        levels = (
            [None if key is None else self._label(level, key, masked) for key in keys]
            for level in range(1, self.height)
        )
        return (*map(Partition.of, levels), Partition.of([self.top] * len(keys)))

    def _label(
        self, level: int, key: Hashable, masked: Callable[[str, int, int], LevelLabel]
    ) -> LevelLabel:
        code, length = self.form.read(str(key)) or "", self.lengths[level - 1]
        size = self.form.length or len(code)
        if (target := self._target(code)) is not None:
            kept = min(length, len(target))
            return masked(target[:kept] + self.mask * (size - kept), kept, size)
        kept = max(len(code) - length, 0) if self.masks else min(length, len(code))
        hidden = size - kept
        # A shorter code is itself; one of the length kept is the beginning of longer ones.
        if kept < length if self.form.length else not hidden:
            return code
        if self.side == "left":
            return masked(code[:kept] + self.mask * hidden, kept, size)
        return masked(self.mask * hidden + code[hidden:], 0, hidden)

    def _target(self, code: str) -> str | None:
        """Return what the beginning of a code is replaced by; None for another code."""
        found = (target for target, stems in self.replaced if code.startswith((target, *stems)))
        return next(found, None)

    def _masked(self, text: str, begin: int, end: int) -> Meaning:
        """Return a label with what it stands for, replaced codes among them."""
        stem = text[:begin]
        pairs = [(target, own) for target, stems in self.replaced for own in stems]
        also = [own for target, own in pairs if target.startswith(stem) > own.startswith(stem)]
        less = [own for target, own in pairs if target.startswith(stem) < own.startswith(stem)]
        return Meaning(text, CodeLabel(text, begin, end, self.form, tuple(also), tuple(less)))

    def covers(self, key: Hashable) -> bool:
        return super().covers(key) and self.form.read(str(key)) is not None

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> InputError:
        length, pad = self.form.length, f'pad = "{self.form.pad}"'
        return InputError(
            f"column {attribute!r} holds {named(strangers)} that are no codes of at most {length} "
            f"digits before a hyphen or a blank, as length = {length}, {pad} needs",
            f"clean the column, declare them as missing values, or leave {pad} out",
        )

    def with_ground(self, ground: object) -> tuple[Hierarchy, int]:
        """Add a level of masked codes of the length of the ground."""
        finest = self.lengths[0]
        if not is_whole(ground, least=1):
            raise InputError(
                f"ground = {shown(ground)} must be a length, such as ground = {finest}"
            )
        length = int(ground)  # type: ignore[call-overload]
        if length == finest:
            return self, 1
        if length < finest == self.form.length:  # whole codes, which the ground is to hide
            coarser = replace(self, lengths=self.lengths[1:] or (length,))
            return coarser.with_ground(ground)
        if (length > finest) if self.masks else (length < finest):
            raise InputError(
                f"ground = {length}: {self._kind} of length {finest} would divide its codes; give "
                f"ground = {finest}, or leave that length out"
            )
        return replace(self, lengths=(length, *self.lengths)), 1

    def ground_at(self, level: int) -> object:
        return self.lengths[level - 1]

    def rule(self) -> dict[str, object]:
        side = {"side": "left" if self.side == "right" else "right"} if self.masks else {}
        mask = {} if self.mask == ANY else {"mask": self.mask}
        pairs = {target: [*stems] for target, stems in self.replaced}
        replaced = {"replace": pairs} if pairs else {}
        return {self._kind: list(self.lengths), **side, **mask, **self.form.entry(), **replaced}


def _form_of(length: object, pad: object) -> CodeForm:
    """Return the form of codes of a length; InputError where there is none such."""
    if length is None and pad is None:
        return CodeForm()
    if not is_whole(length, least=1) or int(length) > LONGEST_CODE:  # type: ignore[call-overload]
        if length is None:
            raise InputError('pad needs the length of codes, such as length = 5, pad = "0"')
        raise InputError(
            f"length = {shown(length)} must be how many characters codes have, such as length = 5"
        )
    if pad is not None and not (isinstance(pad, str) and len(pad) == 1 and pad.isalnum()):
        raise InputError(f'pad = {shown(pad)} must be one letter or digit, such as pad = "0"')
    return CodeForm(int(length), pad)  # type: ignore[call-overload]


def _replaced(given: object, form: CodeForm) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the prefixes that are replaced; InputError where nobody knows by what."""
    known = given if isinstance(given, Mapping) else {}
    if not known or not all(isinstance(stems, list | tuple) for stems in known.values()):
        raise InputError(f"replace must list the prefixes of each new one, such as {SUCH_REPLACED}")
    pairs = tuple((target, tuple(dict.fromkeys(stems))) for target, stems in known.items())
    stems = [stem for target, own in pairs for stem in (target, *own)]
    if not all(isinstance(stem, str) and stem for stem in stems):
        raise InputError(
            "replace must have prefixes in quotes, so that zeros in front count, such as "
            f"{SUCH_REPLACED}"
        )
    if len({*map(len, stems)}) > 1 or len(stems[0]) > (form.length or LONGEST_CODE):
        raise InputError(
            "replace must have prefixes of one length, and of no more characters than codes, such "
            f"as {SUCH_REPLACED}"
        )
    if len({*stems}) < len(stems):
        twice = next(stem for place, stem in enumerate(stems) if stem in stems[:place])
        raise InputError(f"replace has the prefix {shown(twice)} in two places; leave one of them")
    if len(stems) > MOST_LISTED:
        raise InputError(f"replace may list at most {MOST_LISTED:,} prefixes")
    return pairs


def people_by_zip3(path: Path) -> dict[str, int]:
    """Read how many people live where zip codes have the same first three digits, by these.

    ``path``: a CSV file whose lines have a zip code of five digits, a ZCTA such as
    ``8600000US02139``, or three digits, and, in the last column, people. Lines before the first one
    with both are headers.

    InputError where a line after it has something else, or a place is there twice.
    """
    text = read_whole(path, HIERARCHY, "census ")
    lines = [line for line in text.splitlines() if line.strip()]
    rows = csv.reader(StringIO(text, newline=""), delimiter=separator_of(lines, ",;\t|"))
    found, seen = defaultdict[str, int](int), set[str]()
    for number, row in enumerate(rows, 1):
        fields = [field.strip() for field in row]
        if not any(fields):
            continue
        code, people = PLACE.fullmatch(fields[0]), PEOPLE.fullmatch(fields[-1])
        if len(fields) < 2 or code is None or people is None:
            if not seen:
                continue
            raise InputError(
                f"{path}: line {number} has no zip code in its first column, or no number of "
                "people in its last one, such as 02139,36434"
            )
        if code[1] in seen:
            raise InputError(f"{path}: line {number} has a zip code for the second time")
        seen.add(code[1])
        found[code[1][:ZIP3]] += int(people[0].replace(",", ""))
    if len({*map(len, seen)}) != 1:
        raise InputError(
            f"{path} must have lines with a zip code, all of five digits or all of three, and the "
            "people who live there, such as 02139,36434"
        )
    return dict(found)


def populous(people: Mapping[str, int]) -> Hierarchy:
    """Return zip codes by three digits where more than 20,000 people live, others as 000.

    ``people``: as ``people_by_zip3``. Where nobody knows how many live, they are too few.

    >>> shown = populous({"021": 1_200_000, "036": 9_000})
    >>> shown.labels("2139-4307"), shown.labels("03601"), shown.labels("99501")
    (('021**', '*'), ('000**', '*'), ('000**', '*'))
    """
    every = map("".join, product(digits, repeat=ZIP3))
    few = [zip3 for zip3 in every if people.get(zip3, 0) <= FEWEST and zip3 != NOWHERE]
    if len(few) == 10**ZIP3 - 1:
        raise InputError(
            f"census: nowhere do more than {FEWEST:,} people live; is it the right file?"
        )
    found = MaskHierarchy.of_prefixes([ZIP3], length=5, pad="0", replace={NOWHERE: few})
    return found.grounded(ZIP3)
