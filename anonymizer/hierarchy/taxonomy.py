"""A hierarchy applied to the values of a column: which of them are one, and what is not covered."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable

import numpy as np

from anonymizer.hierarchy.hierarchy import Hierarchy
from anonymizer.hierarchy.partition import Partition, Taxonomy
from anonymizer.tables.spelling import plainness
from anonymizer.tables.values import text_of


def taxonomy_of(
    hierarchy: Hierarchy, attribute: str, values: Collection[object], sizes: Iterable[int]
) -> Taxonomy:
    """The groups of distinct raw values at each level; see ``Hierarchy.over``."""
    raw = _by_key(hierarchy, attribute, values, sizes)
    keys, numbers = hierarchy.ranked(dict.fromkeys([*hierarchy.listed, *raw]))
    levels = (
        # One group per key: 1 and True are equal to Python, not to whoever reads the release.
        Partition(np.arange(len(keys)), tuple(raw.get(key, key) for key in keys)),
        *hierarchy.partitions(keys),
    )
    listed = frozenset(hierarchy.listed)
    return Taxonomy(
        attribute,
        dict(zip(keys, range(len(keys)), strict=True)),
        levels,
        hierarchy.key if hierarchy.limits.ground is None else hierarchy.counted_as,
        numbers,
        ordered=hierarchy.ordered and numbers is not None,
        listed=np.fromiter((key in listed for key in keys), bool, len(keys)),
        scale=hierarchy.scale,
        limits=hierarchy.limits,
        hierarchy=hierarchy,
    )


def _by_key(
    hierarchy: Hierarchy, attribute: str, values: Iterable[object], sizes: Iterable[int]
) -> dict[Hashable, object]:
    """The raw values by key; of equal ones that of the plainest text, 3 and not 3.0."""
    raw: dict[Hashable, object] = {}
    strangers: Counter[str] = Counter()
    of_size = zip(values, sizes, strict=True)
    for value, size in sorted(of_size, key=lambda pair: plainness(str(pair[0]))):
        key = hierarchy.key(value)
        if key is not None and not hierarchy.covers(key):
            strangers[text_of(value)] += int(size)
            continue
        key = hierarchy.cell(key)
        raw.setdefault(key, None if key is None else hierarchy.written(value, key))
    if strangers:
        raise hierarchy.refusal(attribute, dict(sorted(strangers.items())))
    return raw
