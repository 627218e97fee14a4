"""Machine code is compiled once for all processes of a run, and kept where each of them finds it.

Numba looks for it next to the sources whenever a function is called with arrays of a new kind. Two
workers that look at the same time would both compile, for up to half a minute. Here the second one
waits for the first, and then finds what that has kept. ``python tests/machine_code.py`` has the
tests compile that come to every kind of arrays, before any other does.
"""

import fcntl
import subprocess
import sys
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

COMPILING = (
    (
        "advice/test_advice.py::test_advice_is_the_same_of_listed_values",
        "kernels/test_sparse.py",
        "kernels/test_worth.py",
        "kernels/test_kernels.py::test_a_roll_up_is_a_group_by",
        "recoding/test_grids.py::test_thousands_of_decimals_are_refined",
        "recoding/test_sparse_search.py",
        "release/test_sites.py::test_counts_of_billions_take_memory_by_combination",
    ),
    (
        "advice/test_advice.py::test_the_recoding_of_the_study_makes_the_result",
        "recoding/test_best.py::test_what_cannot_be_fitted_is_passed_over",
        "recoding/test_best.py::test_it_is_what_a_comparison_calls_best",
        "recoding/test_boxes.py::test_it_finds_what_counting_every_node_does",
    ),
)
"""Tests that call every function that is compiled, with every kind of arrays: for two processes."""


def compile_once() -> None:
    """Have numba compile a function for some arrays in one process at a time."""
    compiled = Dispatcher.compile

    def once(self: Any, signature: Any) -> Any:
        if isinstance(self._cache, NullCache):
            return compiled(self, signature)
        place = Path(self._cache.cache_path)
        place.mkdir(parents=True, exist_ok=True)
        with (place / f"{self.py_func.__qualname__}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
            return compiled(self, signature)

    Dispatcher.compile = once


if __name__ == "__main__":
    here = Path(__file__).parent
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    processes = [
        subprocess.Popen([*command, *(str(here / each) for each in tests)]) for tests in COMPILING
    ]
    sys.exit(max(process.wait() for process in processes))
