"""Generalization hierarchies: how the values of one attribute become coarser, level by level.

A data steward writes a :class:`Hierarchy`, in a file or in Python. With the values of a table it
becomes a :class:`Taxonomy`: nested partitions of those values, finest first. A :class:`Partition`
is the common currency: a level, the ranges of A1*, a cut through several levels, a grouping. In go
rules and distinct values, out come taxonomies and labels. Imports tables and kernels.
"""

from anonymizer.hierarchy.cuts import cut_of, grouping_of, set_labels, spelled
from anonymizer.hierarchy.forgetting import forgetting
from anonymizer.hierarchy.hierarchy import Hierarchy
from anonymizer.hierarchy.naming import showing_values
from anonymizer.hierarchy.partition import ANY, Interval, Partition, Taxonomy

__all__ = [
    "ANY",
    "Hierarchy",
    "Interval",
    "Partition",
    "Taxonomy",
    "cut_of",
    "forgetting",
    "grouping_of",
    "set_labels",
    "showing_values",
    "spelled",
]
