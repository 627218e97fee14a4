"""Which columns are proposed a ground, and which."""

import numpy as np
import pandas as pd
import pytest

from anonymizer import Hierarchy
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.ladders import MANY, grounded_ladder, ladder_of

RNG = np.random.default_rng(0)
DAYS = pd.date_range("1990-01-01", periods=1500).date.astype(str)

MANY_VALUES = [
    (DAYS, {"calendar": ["month", "quarter", "year"], "ground": "month"}),
    (np.arange(0, 60_000, 12), {"widths": [5000, 10000, 20000], "ground": 500}),
    (np.arange(0, 600, 0.12), {"widths": [50, 100, 200], "ground": 5}),
    (
        [f"{code:04}" for code in range(0, 9999, 5)],
        {"prefixes": [3, 2, 1], "min-level": 1, "ground": 3},
    ),
]


def proposed(values, combinations=MANY + 1):
    column = ProfiledColumn.of(pd.Series(values, name="column"))
    return grounded_ladder(column, ladder_of(column, 5), combinations)


@pytest.mark.parametrize(("values", "rule"), MANY_VALUES)
def test_columns_of_many_values_are_counted_at_a_ground_where_combinations_are_too_many(
    values, rule
):
    ladder = proposed(values)
    assert ladder.rule == rule
    assert f"{len(values):,} values are too many to be counted one by one" in ladder.why
    assert Hierarchy.of(ladder.rule).ground is not None
    assert "ground" not in proposed(values, MANY).rule
    assert "ground" not in proposed(values[:1000]).rule


def test_cut_points_are_a_ground():
    rule = proposed(RNG.lognormal(10, 1, 5000).round(2)).rule
    assert rule["ground"] == rule["cuts"][0]


def test_what_is_kept_or_suppressed_has_no_ground():
    assert "ground" not in proposed([f"word {each}" for each in range(1100)] * 2).rule
