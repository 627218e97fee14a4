"""Merged cells: classes that are any sets of combinations of values, by information bottleneck.

In go a problem, options and a seed; out comes a labelling of its cells by classes that satisfy the
policy. ``merge`` says what is merged, cells or boxes of them, and runs the searches, each step of
which is in ``grouping``. The room may import ``recoding.problem`` and ``recoding.boxes``.
"""

from anonymizer.recoding.merged_cells.merge import InitialCells, Merged, merge_cells

__all__ = ["InitialCells", "Merged", "merge_cells"]
