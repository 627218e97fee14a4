"""One drawn attribute: its values, what may be released for them, and what that costs."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np

from anonymizer.channels import absolute, hamming, squared
from anonymizer.errors import InputError
from anonymizer.hierarchy import Interval, Partition, Taxonomy
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.masking.contingency import key_of
from anonymizer.tables.values import counted, number_of

LEAST = 1e-50
"""How far apart numbers are at least and, inversely, at most: so that powers of them are floats."""

OF_NUMBERS = {"squared": squared, "absolute": absolute}
"""The distortions that are distances of numbers."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """An attribute at the level that it was recoded to, and the kind of its distortion."""

    name: str
    taxonomy: Taxonomy
    partition: Partition
    kind: str

    @classmethod
    def of(
        cls,
        name: str,
        taxonomy: Taxonomy,
        partition: Partition,
        requested: str | None,
        noisy: bool = False,
    ) -> "Attribute":
        """An attribute with the distortion that was requested, or the one that suits its values.

        ``noisy``: numbers are meant as such whatever their hierarchy, since noise is added to them.
        """
        raw = partition is taxonomy.levels[0]
        numbers = raw and taxonomy.numbers is not None and None not in taxonomy.numbers
        measurable = numbers and _measurable(taxonomy.numbers or ())
        suits = "squared" if measurable and (taxonomy.ordered or noisy) else "hamming"
        kind = requested or suits
        if kind in OF_NUMBERS and not numbers:
            raise InputError(
                f"random recoding: distortion {kind!r} of {name!r} is for columns of numbers at "
                "level 0, without missing values; choose 'hamming' or 'hierarchy'"
            )
        if kind in OF_NUMBERS and not measurable:
            raise InputError(
                f"random recoding: the numbers of {name!r} are too large, too small or too near to "
                "each other for distances to tell them apart; choose distortion 'hamming' or "
                "'hierarchy'"
            )
        return cls(name, taxonomy, partition, kind)

    @property
    def numeric(self) -> bool:
        """Whether what it costs is a distance of numbers."""
        return self.kind in OF_NUMBERS

    def distances(self, values: Sequence[Hashable], symbols: Sequence[Hashable]) -> Floats:
        """What each symbol costs for each value, shape (values, symbols)."""
        if self.kind == "hamming":
            return hamming(key_of(values), key_of(symbols))
        if self.kind == "hierarchy":
            return self._levels_apart(self._codes(values), self._codes(symbols))
        return OF_NUMBERS[self.kind](self.numbers(values), self.numbers(symbols))

    def numbers(self, values: Sequence[Hashable]) -> Floats:
        """Values as numbers, shape (values,)."""
        found = [number_of(value) for value in values]
        strange = sum(number is None or abs(number) > 1 / LEAST for number in found)
        self._require_none(strange, "are no numbers of a sensible size")
        return np.array(found, float)

    def _codes(self, labels: Sequence[Hashable]) -> Codes:
        """A value code for each label of the level."""
        found = [self._first.get(text, -1) for text in key_of(labels)]
        self._require_none(found.count(-1), "are not among the values of its hierarchy")
        return np.array(found, np.intp)

    def _require_none(self, strange: int, fault: str) -> None:
        if strange:
            raise InputError(
                f"random recoding: {counted(strange, 'symbol')} of the alphabet of {self.name!r} "
                f"{fault}, which its distortion is about"
            )

    def _levels_apart(self, left: Codes, right: Codes) -> Floats:
        """Levels, from the attribute's own, at which two values are in different groups."""
        apart = np.zeros((len(left), len(right)))
        for level in self.taxonomy.levels:
            apart += level.groups[left][:, None] != level.groups[right][None]
        below = [level is self.partition for level in self.taxonomy.levels].index(True)
        # Values of different groups are apart at every level below the attribute's own as well.
        return np.where(apart > 0, apart - below, 0)

    @cached_property
    def _first(self) -> Mapping[str | None, int]:
        """The first value code of each label."""
        if self.partition is self.taxonomy.levels[0]:
            return {text: code for code, text in enumerate(self.taxonomy.texts)}
        labels = [
            str(label) if isinstance(label, Interval) else label for label in self.partition.labels
        ]
        return dict(zip(key_of(labels), self.partition.first.tolist(), strict=True))


def _measurable(numbers: Sequence[Decimal | None]) -> bool:
    """Whether squared distances of numbers are what they should be, but for a thousandth.

    Floats have 53 bits: numbers of more digits, such as those of accounts, would seem the same, and
    to release one for the other would seem to cost nothing.
    """
    exact = sorted({number for number in numbers if number is not None})
    if len(exact) < 2:
        return True
    found = np.array([float(number) for number in exact])
    if not LEAST < found[-1] - found[0] < 1 / LEAST:
        return False
    if all(Decimal(near) == number for near, number in zip(found.tolist(), exact, strict=True)):
        return True
    return bool(np.diff(found).min() > 1000 * np.spacing(np.abs(found).max()))


def plain(number: float) -> int | float:
    """A number as it is released: whole ones without a point."""
    return int(number) if number == int(number) else float(number)
