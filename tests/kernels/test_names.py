"""Machine code that is kept on disk is linked by the names of functions: no two may share one."""

import pkgutil
from collections import defaultdict
from importlib import import_module

from numba.core.dispatcher import Dispatcher

from anonymizer import kernels


def test_no_two_compiled_functions_have_the_same_name():
    """Or a process that loads one from disk and compiles the other may call the wrong one."""
    named = defaultdict(set)
    for each in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        for found in vars(import_module(each.name)).values():
            if isinstance(found, Dispatcher):
                function = found.py_func
                named[function.__module__, function.__qualname__].add(found)
    assert len(named) > 50
    assert {name for name, functions in named.items() if len(functions) > 1} == set()
