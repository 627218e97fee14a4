"""Tables on a terminal: no number and no name is broken, however narrow it is."""

import re
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from anonymizer.feedback.document import Table
from anonymizer.report import console
from anonymizer.report.console import Pipe, show


def shown(table: Table, width: int) -> str:
    file = StringIO()
    with pytest.MonkeyPatch.context() as patch:
        pipe = Pipe(file=file, highlight=False, markup=False, width=width)
        patch.setattr(console, "console", lambda: pipe)
        show([table])
    assert pipe.width == width
    return file.getvalue()


def cells(out: str) -> set[str]:
    return {each.strip() for line in out.splitlines() for each in re.split("[│┃]", line)}


WHY = "by its name it is an age, which others may know"


def test_numbers_and_names_stay_whole_and_reasons_are_wrapped() -> None:
    rows = [["age", 1234567.5, 0.1375, "quasi-identifier", WHY]] * 2
    table = Table("t", ["column", "objective, bits", "share", "role", "why"], rows, "s , .4f s")
    out = shown(table, 60)
    assert {"age", "1,234,567.5", "0.1375", "quasi-identifier"} <= cells(out)
    assert max(map(cell_len, out.splitlines())) <= 80
    assert shown(table, 120).count("\n") == 7  # what fits is a line each


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=12))
def test_any_numbers_stay_whole(numbers: list[float]) -> None:
    table = Table("t", [f"c{n}" for n in range(len(numbers))], [numbers], "g")
    assert {format(each, "g") for each in numbers} <= cells(shown(table, 20))
