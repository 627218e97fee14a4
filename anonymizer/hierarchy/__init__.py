"""Generalization hierarchies: how the values of one attribute become coarser, level by level.

A :class:`Hierarchy` is what a steward states (a file, a rule). Held against the values of a
table it becomes a :class:`Taxonomy`: nested partitions of those values, finest first. A
:class:`Partition` is the common currency: a level, the ranges of A1*, a hand-made grouping.
"""

from anonymizer.hierarchy.base import Hierarchy
from anonymizer.hierarchy.codes import Prefixes, Suppression
from anonymizer.hierarchy.partition import ANY, Interval, Partition, Taxonomy
from anonymizer.hierarchy.ranges import Ranges
from anonymizer.hierarchy.table import Table

__all__ = [
    "ANY",
    "Hierarchy",
    "Interval",
    "Partition",
    "Prefixes",
    "Ranges",
    "Suppression",
    "Table",
    "Taxonomy",
]
