"""The few loops that take the time: count keys, merge classes, check them, sum their bits.

Arrays in, arrays out, nothing of tables or hierarchies. Written twice with one interface, in NumPy
and compiled; which one works is chosen by the size of the work, and never changes a result.
Imports no other room.
"""

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from time import thread_time
from types import ModuleType
from typing import Any

from anonymizer.kernels import plain
from anonymizer.kernels.arrays import Columns, Ints, Mask, Places
from anonymizer.kernels.frequency import FrequencySet, Histograms, Words
from anonymizer.kernels.rules import OF_POPULATION, OF_TABLE, Bound, Kind, Rules, Sums, Worth

__all__ = [
    "NUMPY",
    "OF_POPULATION",
    "OF_TABLE",
    "Bound",
    "Columns",
    "FrequencySet",
    "Histograms",
    "Kernel",
    "Kind",
    "Ordering",
    "Rules",
    "Sums",
    "Words",
    "Worth",
    "choose",
    "compiled_kernel",
    "ordering",
]


WORTH_LOADING = 2.5e7
"""Rows to roll up from which on the compiled kernel is loaded at once.

NumPy needs 28 to 43 ns for each, compiled code 8, and loading takes 0.4 s, on a busy machine 0.8:
benchmarks/results/search/kernels.md.
"""

LOADING = 0.5
"""Seconds in NumPy's kernels, in one process, after which the compiled ones are loaded.

What they take to load: whoever waits until as much was spent without them spends at most twice what
is spent by who knows beforehand how much there is to do (as one who rents skis before buying them).
"""


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
        Whether it drives whole searches: see ``kernels.driver``; None: where that pays.
    """

    name: str
    distinct: Callable[[Iterable[Ints]], tuple[Ints, Ints]]
    roll_up: Callable[[FrequencySet, Words], FrequencySet]
    broken: Callable[[Columns | Histograms, Rules, int], tuple[int, Mask]]
    uncertainty: Callable[[Columns | Histograms, int, int], float]
    drives: bool | None = False


@dataclass(frozen=True)
class Ordering:
    """Refinement of classes, the records in the order of these: compiled, or not at all.

    Parameters
    ----------
    split
        Split every class by one more code, and forget those of one record; how many are left.
    uniform
        Whether all records of some class have the same code.
    """

    split: Callable[..., int]
    uniform: Callable[[Places, Places, Places], bool]


NUMPY = Kernel("numpy", plain.distinct, plain.roll_up, plain.broken, plain.uncertainty)


@dataclass
class Account:
    """Seconds that this process has spent in NumPy's kernels where compiled ones would do."""

    spent: float = 0.0


_account = Account()


def _by_account(name: str, *arguments: Any) -> Any:
    """A loop of the kernel that pays: NumPy's until loading the compiled one would have paid."""
    if _account.spent > LOADING or "anonymizer.kernels.compiled" in sys.modules:
        return getattr(compiled_kernel(), name)(*arguments)
    start = thread_time()
    found = getattr(NUMPY, name)(*arguments)
    _account.spent += thread_time() - start
    return found


PAYING = Kernel(
    "automatic",
    partial(_by_account, "distinct"),
    partial(_by_account, "roll_up"),
    partial(_by_account, "broken"),
    partial(_by_account, "uncertainty"),
)
"""NumPy until as much time was spent in it as loading compiled code takes; in mid-search, too."""


def choose(rows: float) -> Kernel:
    """Return the kernel that is through ``rows`` first, the time to load it included."""
    loaded = "anonymizer.kernels.compiled" in sys.modules
    return _automatic() if loaded or rows > WORTH_LOADING else PAYING


@cache
def _automatic() -> Kernel:
    """The compiled kernel, which drives searches where that pays."""
    kernel = compiled_kernel()
    return replace(kernel, drives=None) if kernel.drives else kernel


@cache
def compiled_kernel() -> Kernel:
    """The compiled kernel; the one in NumPy where numba cannot be loaded."""
    try:
        compiled, checks = _loaded("compiled", "checks")
    except ImportError:
        return NUMPY
    return Kernel(
        "compiled",
        compiled.distinct,
        compiled.roll_up,
        checks.broken,
        checks.uncertainty,
        drives=True,
    )


def ordering(rows: float) -> Ordering | None:
    """Return the compiled refinement where loading it pays for the records to look at."""
    loaded = "anonymizer.kernels.splitting" in sys.modules
    return _compiled_ordering() if loaded or rows > WORTH_LOADING else None


@cache
def _compiled_ordering() -> Ordering | None:
    """None where numba cannot be loaded."""
    try:
        (splitting,) = _loaded("splitting")
    except ImportError:
        return None
    return Ordering(splitting.split, splitting.uniform)


def _loaded(*names: str) -> list[ModuleType]:
    """Import modules of this room in a thread of their own, which no interrupt reaches.

    An interrupt while numba is imported would leave half of it, and whoever goes on with the best
    that was found by then would fail. It is raised once the modules are there.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(
            lambda: [import_module(f"{__name__}.{name}") for name in names]
        ).result()
