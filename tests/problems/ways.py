"""The ways to solve a problem: all have to answer alike."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from anonymizer.kernels import NUMPY, Kernel, compiled_kernel
from anonymizer.recoding import Problem

Way = Callable[[Problem], Problem]
"""Makes of a problem one that is solved in this way."""


def _by(kernel: Kernel) -> Way:
    """Nodes are counted by a kernel."""
    return lambda problem: replace(problem, kernel=kernel)


WAYS: Mapping[str, Way] = {kernel.name: _by(kernel) for kernel in (NUMPY, compiled_kernel())}
"""Each way by its name."""
