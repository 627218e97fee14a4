"""How the compiled kernels are compiled: lazily, without the interpreter's lock, kept on disk."""

import logging
from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeVar, cast

import numba

LOG = logging.getLogger(__name__)

Function = TypeVar("Function", bound=Callable[..., Any])

_uncounted: Callable[..., Any] = partial(cast(Any, numba.njit), _nrt=False)
"""Without numba's runtime, which counts who holds an array, and makes new ones."""


def in_machine_code(function: Function) -> Function:
    """Compile lazily; without a place to keep the result it is compiled anew in every process."""
    return _kept(numba.njit, function)


def within_machine_code(function: Function) -> Function:
    """Compile a function that compiled ones of its file call: kept on disk as part of them."""
    return cast(Function, numba.njit(nogil=True)(function))


def inside_machine_code(function: Function) -> Function:
    """Compile a function that does little before it calls another: inlined at each call."""
    return cast(Function, numba.njit(nogil=True, forceinline=True)(function))


def on_borrowed(function: Function) -> Function:
    """Compile lazily what only reads and writes the arrays it is given, and makes none.

    Python holds these until the call returns, so that nothing has to count who uses them. Counting
    took more than half of the time where small functions pass tuples of arrays on, and makes jobs
    that share arrays wait for each other.
    """
    return _kept(_uncounted, function)


def within_borrowed(function: Function) -> Function:
    """Compile a function that functions ``on_borrowed`` of its file call."""
    return cast(Function, _uncounted(nogil=True)(function))


def _kept(compiler: Callable[..., Any], function: Function) -> Function:
    try:
        compiled: Any = compiler(nogil=True, cache=True)(function)
    except RuntimeError:
        _warn_once()
        compiled = compiler(nogil=True)(function)
    return cast(Function, compiled)


@cache
def _warn_once() -> None:
    """Say why a run takes longer than it needs to: a container has no place of its own, say."""
    LOG.warning(
        "machine code is compiled anew, which takes some seconds: neither the package nor the home "
        "can be written; set NUMBA_CACHE_DIR to a directory that can"
    )
