"""The searches of a lattice in machine code: which node next, its classes, its verdict.

What a search does between two roll-ups takes about as long in Python as the roll-ups themselves.
Here all of it runs without the interpreter and its lock. Python is asked only for verdicts that
need it (``ASK``), and between lots of nodes (``PAUSE``), when it may interrupt and show progress.
The searches in ``recoding.full_domain`` that are written in Python are the readable definition:
nodes are looked at in the same order, and known by the same rules. Imports the kernels alone.
"""

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

BISECTION, DESCENT, SUPPRESSED, LOOK = range(4)
"""The searches; the last one looks at a single node."""

WORTH_COMPILING = 10.0
"""Seconds of searches driven from Python, in one process, after which the driver is compiled.

About what that takes, once for an installation: whoever waits until as much was spent without it
spends at most twice what is spent by who knows beforehand how much there is to search.
"""


@dataclass
class DriverAccount:
    """Seconds that this process has spent in searches that the driver could have done."""

    spent: float = 0.0


account = DriverAccount()


def pays(listed: bool) -> bool:
    """Tell whether the driver is at hand, or compiling it pays; ``listed``: of sparse classes."""
    advance = advance_of(listed)
    return bool(advance.signatures) or account.spent > WORTH_COMPILING or _on_disk(advance)


def advance_of(listed: bool) -> Any:
    """The loop of all searches, of dense or of sparse classes: see ``searching``."""
    searching = import_module("anonymizer.kernels.driver.searching")
    return searching.advance_listed if listed else searching.advance


def _on_disk(advance: Any) -> bool:
    """Tell whether another process of this Python kept the machine code of a loop as it is now."""
    kept, source = advance.stats.cache_path, Path(advance.py_func.__code__.co_filename)
    python = "py{}{}".format(*sys.version_info[:2])
    name = f"searching.{advance.py_func.__qualname__}-*.{python}*.nbi"
    return kept is not None and any(
        index.stat().st_mtime >= source.stat().st_mtime for index in Path(kept).glob(name)
    )
