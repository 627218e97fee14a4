"""Log records of what is done: a phase, counts and seconds at INFO; never a value of a table.

Loggers are those of modules, under ``anonymizer``.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

Counts = Mapping[str, int | None]


@contextmanager
def logged(doing: str, module: str) -> Iterator[Callable[[Counts], None]]:
    """Log a phase of a module: what it counts, which it hands over, and its seconds.

    At DEBUG also that it begins. Where it fails the kind of the error is logged, and not its text.
    """
    log, start = logging.getLogger(module), perf_counter()
    counted: dict[str, int | None] = {}
    log.debug("%s begins", doing)
    try:
        yield counted.update
    except BaseException as error:
        log.info("%s: %s after %.3f s", doing, type(error).__name__, perf_counter() - start)
        raise
    found = ", ".join(f"{n:,} {what}" for what, n in counted.items() if n is not None)
    log.info("%s: %s in %.3f s", doing, found or "done", perf_counter() - start)
