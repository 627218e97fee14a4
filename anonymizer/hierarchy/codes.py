"""Hierarchies of codes of which some characters are masked: zip codes, telephone numbers.

In go codes and how many characters a level keeps or masks, out come labels that say where.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import Self

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.hierarchy.hierarchy import Hierarchy, LevelLabel, Side
from anonymizer.hierarchy.label import MASKS, CodeForm, CodeLabel, Meaning
from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import ANY, MOST_LISTED, Limits, Partition

LONGEST_CODE = 1000
"""Characters of a code that may be kept: no code of anybody is longer."""


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
