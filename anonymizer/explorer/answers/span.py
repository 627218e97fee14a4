"""The numbers that a parameter goes through on a page."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """The numbers that a slider goes through, all of them multiples of a ``step``."""

    low: float
    high: float
    step: float
