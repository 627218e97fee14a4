"""Top-down greedy specialization against a path worked by hand."""

import pandas as pd
import pytest

from anonymizer import Anonymizer, Hierarchy, InputError, KAnonymity
from anonymizer.recoding.specialization import Specialization

PEOPLE = pd.DataFrame(
    {
        "age": [1, 1, 2, 2, 3, 3, 4, 4],
        "sex": ["f", "m"] * 4,
        "w": ["a", "a", "a", "a", "b", "b", "b", "b"],
    }
)


def fitted(recoding: object, k: int = 2, objective: str = "mutual-information") -> Anonymizer:
    """Ages go from 1 to * by [1, 3) and [3, 5); sex tells nothing of w, age all."""
    ages = Hierarchy.from_rows(
        [["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"], ["4", "high", "*"]]
    )
    anonymizer = Anonymizer(
        {"age": ages, "sex": "suppress"},
        sensitive="w",
        privacy=[KAnonymity(k)],
        recoding=recoding,
        objective=objective,
    )
    return anonymizer.fit(PEOPLE)


@pytest.mark.parametrize(
    ("steps", "levels", "checked"),
    [(0, (2, 1), 1), (1, (1, 1), 3), (2, (1, 0), 5), (None, (1, 0), 6)],
)
def test_the_level_that_gains_most_is_lowered_first(steps, levels, checked):
    """(2, 1) has 0 bits; (1, 1) has 1 and (2, 0) has 0. Then (0, 1) and (1, 0) tie at 1 bit."""
    found = fitted(Specialization(most_steps=steps))
    assert tuple(found.release_.levels.values()) == levels
    assert found.search_.checked == checked
    assert not found.search_.proven


def test_steps_are_a_number():
    with pytest.raises(InputError, match="most_steps = -1 must be a number of at least 0"):
        Specialization(most_steps=-1)
