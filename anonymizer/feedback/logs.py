"""Log records of what is done: a phase, counts and seconds at INFO; never a value of a table.

Loggers are those of modules, under ``anonymizer``.
"""

import logging
from collections.abc import Callable, Mapping
from functools import wraps
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def logged(
    doing: str, counts: Callable[[Any], Mapping[str, int | None]]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Log a function as a phase: what it counts of its result, and its seconds.

    At DEBUG also that it begins. Where it fails the kind of the error is logged, and not its text.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        log = logging.getLogger(function.__module__)

        @wraps(function)
        def phase(*args: P.args, **kwargs: P.kwargs) -> R:
            if not log.isEnabledFor(logging.INFO):
                return function(*args, **kwargs)
            log.debug("%s begins", doing)
            start = perf_counter()
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                seconds = perf_counter() - start
                log.info("%s: %s after %.3f s", doing, type(error).__name__, seconds)
                raise
            log.info("%s: %s in %.3f s", doing, _said(counts(result)), perf_counter() - start)
            return result

        return phase

    return decorate


def _said(counts: Mapping[str, int | None]) -> str:
    return ", ".join(f"{n:,} {what}" for what, n in counts.items() if n is not None) or "done"
