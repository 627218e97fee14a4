"""How the compiled kernels are compiled: lazily, without the interpreter's lock, kept on disk."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def in_machine_code(function: Function) -> Function:
    """Compile lazily; without a place to keep the result it is compiled anew in every process."""
    try:
        compiled: Any = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        compiled = numba.njit(nogil=True)(function)
    return cast(Function, compiled)


def within_machine_code(function: Function) -> Function:
    """The same of a function that compiled ones of its file call: kept on disk as part of them."""
    return cast(Function, numba.njit(nogil=True)(function))


def inside_machine_code(function: Function) -> Function:
    """The same of one that does little before it calls another: put in place of each call of it."""
    return cast(Function, numba.njit(nogil=True, forceinline=True)(function))
