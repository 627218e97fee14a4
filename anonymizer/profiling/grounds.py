"""Proposed grounds: what many values are counted at, so that combinations are not too many."""

from decimal import Decimal
from typing import Any

import numpy as np

from anonymizer.hierarchy.rules.ranges import MOST_GROUND
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.numbers import Ladder

MANY = 1_000_000
"""Combinations of the quasi-identifiers, beyond which columns of many values get grounds."""

FINER = (10, 5, 2)
"""How much narrower a cell may be than the ranges of level 1."""


def grounded_ladder(column: ProfiledColumn, ladder: Ladder, combinations: int) -> Ladder:
    """The hierarchy of a column of many values, counted at a ground.

    That is level 1, or equal parts of its ranges as long as the cells are few. ``combinations``:
    those of the quasi-identifiers.
    """
    if combinations <= MANY or len(column.values) <= MOST_GROUND:
        return ladder
    ground = _ground(column, ladder.rule)
    if ground is None:
        return ladder
    why = f"{ladder.why}; {len(column.values):,} values are too many to be counted one by one"
    return Ladder({**ladder.rule, "ground": ground}, why)


def _ground(column: ProfiledColumn, rule: dict[str, Any]) -> object:
    if "widths" in rule and column.numbers is not None and "order" not in rule:
        return _step(column, rule["widths"][0])
    finest = next(
        (rule[name][0] for name in ("calendar", "prefixes", "cuts") if name in rule), None
    )
    return None if "order" in rule else finest


def _step(column: ProfiledColumn, width: float) -> float:
    """The width of the narrowest cells that are few enough."""
    assert column.numbers is not None
    span = float(np.ptp(column.numbers))
    for finer in FINER:
        step = Decimal(str(width)) / finer
        whole = step == step.to_integral_value()
        if span / float(step) <= MOST_GROUND and (whole or not column.whole):
            return int(step) if whole else float(step)
    return width
