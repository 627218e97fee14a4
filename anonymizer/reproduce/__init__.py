"""Published experiments, computed anew beside what the papers say."""

from collections.abc import Callable, Sequence

from anonymizer.reproduce.bezzi2010 import reproduce as bezzi2010
from anonymizer.reproduce.row import Row

__all__ = ["EXPERIMENTS", "Row"]

EXPERIMENTS: dict[str, Callable[[], tuple[str, Sequence[Row]]]] = {"bezzi2010": bezzi2010}
"""What each experiment gives: a title and its rows."""
