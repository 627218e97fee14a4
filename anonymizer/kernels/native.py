"""Calls of the kernels in machine code, which are compiled when the package is built.

The sources stand in ``native/``: C++ without anything of Python's, so that one library serves every
version of it. A kernel reads its arguments one after the other. While it works, it holds no lock of
the interpreter's.
"""

from ctypes import CDLL, c_char_p, c_double
from functools import cache
from math import inf, isnan
from pathlib import Path
from struct import pack
from typing import Any

import numpy as np

LIBRARY = Path(__file__).parent / "native" / "kernels.so"

WHOLE, REAL = 0, 1
"""Kinds of arguments that are no arrays."""

MOST_AXES = 3

END = pack("5q", -1, 0, 0, 0, 0)
"""What a kernel finds that reads more arguments than there are."""


class Packed:
    """Arguments that are laid out once, for many calls; another process lays them out anew.

    Holds the arrays: their addresses are what is laid out.
    """

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.bytes = _laid_out(arguments)

    def __reduce__(self) -> "tuple[type[Packed], tuple[Any, ...]]":
        return Packed, self.arguments


def call(name: str, *arguments: Any) -> float:
    """Call a kernel with numbers, contiguous arrays, and tuples of these.

    TypeError where one is of another kind than the kernel reads; MemoryError where there is none.
    """
    found: float = _kernel(name)(_laid_out(arguments) + END)
    if isnan(found):
        raise TypeError(f"{name} was called with arguments of another kind than it reads")
    if found == inf:
        raise MemoryError
    return found


def _laid_out(arguments: tuple[Any, ...]) -> bytes:
    parts, left = [], [*reversed(arguments)]
    while left:
        each = left.pop()
        if isinstance(each, tuple):
            left += reversed(each)
        elif isinstance(each, np.ndarray):
            if not (each.flags.c_contiguous and each.dtype.isnative):
                raise TypeError("kernels take contiguous arrays in the byte order of the machine")
            kind = ord(each.dtype.kind) << 8 | each.itemsize
            shape = (*each.shape, 1, 1, 1)[:MOST_AXES]
            parts.append(pack("5q", kind, each.ctypes.data, *shape))
        elif isinstance(each, Packed):
            parts.append(each.bytes)
        elif isinstance(each, float):
            parts.append(pack("qd3q", REAL, each, 0, 0, 0))
        else:
            parts.append(pack("5q", WHOLE, int(each), 0, 0, 0))
    return b"".join(parts)


@cache
def _kernel(name: str) -> Any:
    kernel = getattr(_library(), name)
    kernel.argtypes, kernel.restype = [c_char_p], c_double
    return kernel


@cache
def _library() -> CDLL:
    try:
        return CDLL(str(LIBRARY))
    except OSError as error:
        raise ImportError(
            f"the kernels of anonymizer cannot be loaded ({error}); install the package again, or "
            "run `make kernels` in its source tree"
        ) from error
