"""Taxonomies without values that no released record has, for what is kept after a fit.

Such a value must not leave the table; its code stays, so that codes keep their meaning.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.hierarchy.partition import ANY, Partition, Taxonomy
from anonymizer.kernels.arrays import Mask


@dataclass(frozen=True)
class Forgotten:
    """In place of a value: nothing but its code, so that no two are taken for one."""

    code: int

    def __str__(self) -> str:
        return f"\0{self.code}"  # no value of a table reads so


@dataclass(frozen=True)
class KeyOf:
    """The key of a value; a forgotten one is its own."""

    key: Callable[[object], Hashable]

    def __call__(self, value: object) -> Hashable:
        """What identifies a value."""
        return value if isinstance(value, Forgotten) else self.key(value)


def forgetting(taxonomy: Taxonomy, seen: Mask) -> Taxonomy:
    """The taxonomy without the values that are neither seen nor listed by the hierarchy.

    ``seen`` are the values that may be kept, shape (values,). Labels that stand for no other values
    are forgotten too: a masked code, or a range.
    """
    if seen.all():
        return taxonomy
    kept = seen | taxonomy.listed | np.array([key is None for key in taxonomy.codes], bool)
    keys = [
        key if keep else Forgotten(code)
        for (key, code), keep in zip(taxonomy.codes.items(), kept, strict=True)
    ]
    raw, *coarser = taxonomy.levels
    written = [
        raw.labels[group] if own else keys[code]  # as the hierarchy writes it, not the record
        for code, (group, own) in enumerate(zip(raw.groups, seen, strict=True))
    ]
    numbers = taxonomy.numbers and tuple(
        number if keep else None for number, keep in zip(taxonomy.numbers, kept, strict=True)
    )
    return replace(
        taxonomy,
        codes={key: code for code, key in enumerate(keys)},
        levels=(
            replace(raw, labels=tuple(written[code] for code in raw.first)),
            *(_partition(partition, kept) for partition in coarser),
        ),
        key=KeyOf(taxonomy.key),
        numbers=numbers,
    )


def _partition(partition: Partition, kept: Mask) -> Partition:
    """The partition without labels that stand for no value that is kept."""
    shown = np.bincount(partition.groups, kept) > 0
    labels = tuple(
        label if there or str(label) == ANY else Forgotten(-1 - group)
        for group, (label, there) in enumerate(zip(partition.labels, shown, strict=True))
    )
    return replace(partition, labels=labels)
