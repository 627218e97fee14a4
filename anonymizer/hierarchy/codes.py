"""Hierarchies of codes of which some characters are masked: zip codes, telephone numbers.

In go codes and how many characters a level keeps or masks, out come labels that say where.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.hierarchy.hierarchy import Hierarchy, LevelLabel, Side
from anonymizer.hierarchy.label import CodeLabel, Meaning
from anonymizer.hierarchy.partition import ANY, Partition

LONGEST_CODE = 1000
"""Characters of a code that may be kept: no code of anybody is longer."""

MASKS = "*#?~xX\u2022\u2588"
"""What may stand for a masked character: nothing that makes a number, a formula or a gap of it."""


@dataclass(frozen=True, repr=False)
class MaskHierarchy(Hierarchy):
    """Codes of which some characters are masked: zip codes, telephone numbers.

    ``lengths`` are of each level, the finest first: how many characters are kept at the ``side``
    that is kept, falling, or how many are masked at the other side, rising (``masks``). A code that
    is shorter is kept, or masked, as a whole. ``mask`` stands for each masked character, so that
    the length of a code is kept.
    """

    lengths: tuple[int, ...]
    side: Side = "left"
    masks: bool = False
    mask: str = "*"

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
        return ["123456789ABCDEFGHIJK"[: max(self.lengths) + 2]]

    @property
    def _kind(self) -> str:  # type: ignore[override]
        return "redact" if self.masks else {"left": "prefixes", "right": "suffixes"}[self.side]

    @property
    def height(self) -> int:
        return len(self.lengths) + 1

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        return self._label(level, key, _masked)

    def partitions(self, keys: Sequence[Hashable]) -> tuple[Partition, ...]:
        masked = cache(_masked)  # of all codes that are masked alike the label is made once
        levels = (
            [None if key is None else self._label(level, key, masked) for key in keys]
            for level in range(1, self.height)
        )
        return (*map(Partition.of, levels), Partition.of([self.top] * len(keys)))

    def _label(
        self, level: int, key: Hashable, masked: Callable[[str, int, int], LevelLabel]
    ) -> LevelLabel:
        code, length = str(key), self.lengths[level - 1]
        kept = max(len(code) - length, 0) if self.masks else min(length, len(code))
        hidden = len(code) - kept
        if not hidden:
            return code
        if self.side == "left":
            return masked(code[:kept] + self.mask * hidden, kept, len(code))
        return masked(self.mask * hidden + code[hidden:], 0, hidden)

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
        return {self._kind: list(self.lengths), **side, **mask}


def _masked(text: str, begin: int, end: int) -> Meaning:
    return Meaning(text, CodeLabel(text, begin, end))
