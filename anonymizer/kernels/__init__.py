"""The few loops that take the time: count keys, merge classes, check them, sum their bits.

Arrays in, arrays out, nothing of tables or hierarchies. They are written in C++ (``native/``) and
compiled when the package is built; what is right is defined by plain NumPy and Python in the tests.
Imports no other room.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from anonymizer.kernels import checks, counting
from anonymizer.kernels.arrays import Columns, Ints, Mask
from anonymizer.kernels.frequency import FrequencySet, Histograms, Words
from anonymizer.kernels.rules import OF_POPULATION, OF_TABLE, Bound, Kind, Rules, Sums, Worth

__all__ = [
    "NATIVE",
    "OF_POPULATION",
    "OF_TABLE",
    "Bound",
    "Columns",
    "FrequencySet",
    "Histograms",
    "Kernel",
    "Kind",
    "Rules",
    "Sums",
    "Words",
    "Worth",
]


@dataclass(frozen=True)
class Kernel:
    """One way to write the loops.

    Parameters
    ----------
    name
        What it is written in.
    distinct
        The distinct keys of some blocks of them, and how often each occurs, in any order.
    roll_up
        Merge the classes that a mask no longer tells apart; valid until the thread's next roll-up.
    broken
        Records in classes that break a bound, and which classes; stops beyond the most.
    uncertainty
        Sum of n_g H(W|g) over classes, in bits, W standing in the columns [start, stop).
    drives
        Whether it drives whole searches: see ``kernels.driver``.
    """

    name: str
    distinct: Callable[[Iterable[Ints]], tuple[Ints, Ints]]
    roll_up: Callable[[FrequencySet, Words], FrequencySet]
    broken: Callable[[Columns | Histograms, Rules, int], tuple[int, Mask]]
    uncertainty: Callable[[Columns | Histograms, int, int], float]
    drives: bool = False


NATIVE = Kernel(
    "native", counting.distinct, counting.roll_up, checks.broken, checks.uncertainty, drives=True
)
"""The loops in machine code."""
