"""Boxes: classes that are a range or a set of values of every attribute, each class its own.

In goes a problem and which attributes get ranges; out come boxes that satisfy the policy. They come
of cutting one attribute in two, again and again (guillotine cuts): exactly, by dynamic programming
over all boxes of the ``grid``; by ``beam`` search where these are too many; or greedily. The room
may import ``recoding.problem`` and ``recoding.partitions``.
"""

from anonymizer.recoding.boxes.search import EXPLAINED, BoxSearchResult, best_boxes

__all__ = ["EXPLAINED", "BoxSearchResult", "best_boxes"]
