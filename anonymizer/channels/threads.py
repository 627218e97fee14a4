"""One thread for linear algebra: batches of small matrices are slower on several."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def single_threaded() -> AbstractContextManager[object]:
    """Let BLAS use one thread inside of this, and what it used before afterwards.

    Measured in benchmarks/results/channels.md.
    """
    limited: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> Any:
    """Look for the libraries once: it takes longer than many a problem."""
    import scipy.linalg  # noqa: F401 (its BLAS must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
