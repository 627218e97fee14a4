"""What init shows: a line for each column, cut between words, or a table of figures."""

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


def lines(table: pd.DataFrame, width: int = 200) -> list[str]:
    return [str(line) for line in profile_report(profile(table), width=width)]


def test_a_line_for_each_column_by_hand():
    assert lines(people())[:4] == [
        "200 records, 3 columns",
        "age        quasi-identifier  by its name it is an age, which others may know",
        "sex        quasi-identifier  by its name it is a sex or gender, which others may know",
        "diagnosis  sensitive         by its name it is a health condition",
    ]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_line_is_longer_than_the_terminal_and_no_word_is_broken(width):
    found = profile(people(3, "question number {} of the second interview"))
    whole = {column.name: str(column.why).split() for column in found.columns}
    for line in [*profile_report(found, width=width)][1:7]:
        name = next(each for each in whole if str(line).startswith(each))
        shown = str(line)[len(name) :].split()
        assert len(str(line)) <= max(width, len(name) + 24)
        assert {*shown} <= {*whole[name], "...", "quasi-identifier", "left", "out", "sensitive"}


def test_questions_of_a_wide_table_are_one_line_and_one_decision():
    table = people(120)
    assert len(lines(table)) == 6
    assert lines(table)[3].startswith("Q000 to Q119 (120)  left out          one of 120 columns")
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
