"""Generalization hierarchies: how the values of one attribute become coarser, level by level.

A :class:`Hierarchy` is what a steward states (a file, a rule). Held against the values of a
table it becomes a :class:`Taxonomy`: nested partitions of those values, finest first. A
:class:`Partition` is the common currency: a level, the ranges of A1*, a hand-made grouping.
"""

from anonymizer.hierarchy.kinds import Hierarchy, Prefixes, Ranges, Suppression, Table
from anonymizer.hierarchy.partition import Interval, Partition, Taxonomy

__all__ = [
    "Hierarchy",
    "Interval",
    "Partition",
    "Prefixes",
    "Ranges",
    "Suppression",
    "Table",
    "Taxonomy",
]
