"""Boxes: classes that are a range or a set of values of every attribute, each class its own.

They come of cutting one attribute in two, again and again (guillotine cuts). Exactly, by dynamic
programming over all boxes of the grid; by beam search where these are too many; or greedily.
"""

from anonymizer.recoding.boxes.search import Boxed, best_boxes

__all__ = ["Boxed", "best_boxes"]
