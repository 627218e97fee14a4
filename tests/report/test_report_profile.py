"""What init shows: a row for each column or group of like ones, or all of their figures."""

import numpy as np
import pandas as pd
import pytest

from anonymizer.feedback.document import Table
from anonymizer.profiling import profile
from anonymizer.report.profile import profile_report

RNG = np.random.default_rng(3)


def people(questions: int = 0, name: str = "Q{:03d}") -> pd.DataFrame:
    columns = {"age": RNG.integers(18, 80, 200), "sex": RNG.choice(["f", "m"], 200)}
    answers = {name.format(place): RNG.integers(1, 6, 200) for place in range(questions)}
    return pd.DataFrame({**columns, **answers, "diagnosis": RNG.choice([*"abcd"], 200)})


def rows(table: pd.DataFrame) -> list[list[object]]:
    return next(each.rows for each in profile_report(profile(table)) if isinstance(each, Table))


def test_a_row_for_each_column_by_hand():
    assert rows(people()) == [
        ["age", "quasi-identifier", "by its name it is an age, which others may know"],
        ["sex", "quasi-identifier", "by its name it is a sex or gender, which others may know"],
        ["diagnosis", "sensitive", "by its name it is a health condition"],
    ]


def test_questions_of_a_wide_table_are_one_row_and_one_decision():
    table = people(120)
    assert len(rows(table)) == 4
    assert rows(table)[2][:2] == ["Q000 to Q119 (120)", "left out"]
    found = profile(table)
    assert found.of_role("quasi-identifier") == ("age", "sex")
    assert "--insensitive 'Q*'" in found["Q007"].why
    shown = profile(table, insensitive=["Q*"])
    assert len(shown.of_role("insensitive")) == 120


@pytest.mark.parametrize(("questions", "group"), [(19, False), (20, True)])
def test_a_few_like_columns_are_no_group(questions, group):
    assert ("alike by name" in profile(people(questions))["Q003"].why) == group


def test_what_a_name_says_is_in_no_group():
    table = people(30, "age{}")
    assert "alike by name" not in profile(table)["age3"].why


def test_figures_are_shown_on_request():
    table = next(each for each in profile_report(profile(people()), details=True))
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["age", "sex", "diagnosis"]
