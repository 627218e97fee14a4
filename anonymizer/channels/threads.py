"""One thread for linear algebra: batches of small matrices are slower on several."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache

__all__ = ["single_threaded"]


@contextmanager
def single_threaded() -> Iterator[None]:
    """Let BLAS use one thread inside of this, and what it used before afterwards.

    Measured in benchmarks/results/channels.md.
    """
    limited = _controller()
    with limited():
        yield


@cache
def _controller() -> Callable[[], AbstractContextManager[object]]:
    """Look for the libraries once: it takes longer than many a problem."""
    import scipy.linalg  # noqa: F401 (its BLAS must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController()
    return lambda: found.limit(limits=1, user_api="blas")
