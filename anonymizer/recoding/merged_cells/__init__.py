"""Merged cells: classes that are any sets of combinations of values, by information bottleneck.

In go a problem, options and a seed; out comes a labelling of its cells by classes that satisfy the
policy. ``initial`` says what is merged: cells, or boxes of them; ``merge`` runs the searches, each
step of which is in ``grouping``. The room may import ``recoding.problem`` and ``recoding.boxes``.
"""

from anonymizer.recoding.merged_cells.merge import Merged, merge_cells

__all__ = ["Merged", "merge_cells"]
