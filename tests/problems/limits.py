"""Numbers from which on searches go about it otherwise, so small that small problems reach them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np

from anonymizer.recoding import nodes
from anonymizer.recoding.full_domain import (
    branch_and_bound,
    driven,
    frontier,
    solve,
    with_suppression,
)

OFTEN = 0.3
"""How often each is changed."""

LIMITS = (
    (branch_and_bound, "MOST_REMEMBERED", 3),
    (driven, "LOT", 1),
    (nodes, "FEW", 0),
    (nodes, "MOST_BYTES", 1),
    (nodes, "MOST_KEPT", 1),
    (frontier, "SCAN", 2),
    (frontier, "SMALL", 4),
    (frontier, "SPARSE", 2),
    (solve, "WORTH_PRUNING", 1.0),
    (with_suppression, "MOST_AT_ONCE", 2),
)
"""Where each stands, its name, and its value in some problems."""


@contextmanager
def small_limits(number: int) -> Iterator[None]:
    """Some of them small, by the number of a problem."""
    rng = np.random.default_rng([number, 3])
    with ExitStack() as changed:
        for place, name, value in LIMITS:
            if rng.random() < OFTEN:
                changed.enter_context(patch.object(place, name, value))
        yield
