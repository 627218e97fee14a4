"""The kinds of hierarchies, one file each: how a value of each kind becomes coarser.

A rule is a :class:`~anonymizer.hierarchy.Hierarchy` with its levels and labels. In goes what a
steward writes, checked; out come labels of values. Imports the hierarchy, partitions and scales.
"""
