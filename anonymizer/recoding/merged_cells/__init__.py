"""Merged cells: classes that are any sets of quasi-identifier tuples, by information bottleneck."""

from anonymizer.recoding.merged_cells.merge import Merged, MergeOptions, merge_cells

__all__ = ["MergeOptions", "Merged", "merge_cells"]
