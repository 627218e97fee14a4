"""One thread for linear algebra: batches of small matrices are slower on several."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def single_threaded() -> AbstractContextManager[Any]:
    """Let BLAS use one thread inside of this (measured in benchmarks/results/channels.md)."""
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@cache  # looking for the libraries takes longer than many a problem
def _controller() -> Any:
    import scipy.linalg  # noqa: F401 (its BLAS must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
