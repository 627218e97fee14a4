"""What the report of a release says of each quasi-identifier: its level, or what its groups are."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest

from anonymizer import Anonymizer, Boxes, Cut, Fixed, Hierarchy, KAnonymity, Pram, VariableRange
from anonymizer.recoding.levels import Levels
from anonymizer.recoding.problem import Found, Problem, Run
from anonymizer.report.printing import print_report
from anonymizer.report.release import release_report

JOBS = Hierarchy.from_rows(
    [["nurse", "health"], ["vet", "health"], ["smith", "craft"], ["mason", "craft"]]
)
EACH = "mason nurse smith vet"  # a hierarchy lists what no record has as well
AGES = Hierarchy.ranges(widths=[10, 20])


def rows(job: str, age: int | None, flu: int, cold: int) -> list[tuple]:
    return [(job, age, "flu")] * flu + [(job, age, "cold")] * cold


@pytest.fixture
def row(capsys):
    """What the report of a recoded table says of an attribute: its cells."""

    def printed(name: str, table: list[tuple], hierarchies: dict, recoding) -> list[str]:
        frame = pd.DataFrame(table, columns=["job", "age", "ill"])[[*hierarchies, "ill"]]
        anonymizer = Anonymizer(
            hierarchies, "ill", [KAnonymity(4)], recoding=recoding, missing="category"
        )
        print_report(release_report(anonymizer.fit(frame).release_, Path("out")))
        lines = [
            re.split(r"\s*[│┃|]\s*", line.strip(" │┃|"))
            for line in capsys.readouterr().out.splitlines()
        ]
        (cells,) = [cells for cells in lines if cells[0] == name and len(cells) == 3]
        return cells

    return printed


HEALTH = [*rows("nurse", 20, 6, 0), *rows("vet", 20, 0, 6)]
CRAFT = [*rows("smith", 20, 2, 0), *rows("mason", 20, 0, 2)]


def test_a_cut_goes_through_values_and_groups(row):
    """Six nurses and six vets can stand for themselves, two smiths and two masons cannot."""
    cells = row("job", HEALTH + CRAFT, {"job": JOBS}, Cut())
    assert cells[:2] == ["job", "cut"]
    assert set(cells[2].split()) == {"nurse", "vet", "craft"}


def test_a_cut_at_one_level_is_that_level(row):
    assert row("job", HEALTH, {"job": JOBS}, Cut()) == ["job", "0", EACH]


def test_a_cut_through_levels_of_ranges_is_a_cut(row):
    """Ages of 20 and 30 have four records each; those of 41 and 52 have them together only."""
    table = [*rows("x", 20, 4, 0), *rows("x", 30, 0, 4), *rows("x", 41, 2, 0), *rows("x", 52, 0, 2)]
    assert row("age", table, {"age": AGES}, Cut(refine=()))[1] == "cut"


def test_ranges_of_its_own_are_ranges(row):
    table = [*rows("x", 20, 4, 0), *rows("x", 31, 0, 2), *rows("x", 37, 0, 2)]
    for recoding in (VariableRange(), Cut()):
        cells = row("age", table, {"age": AGES}, recoding)
        assert cells[:2] == ["age", "ranges"]


def test_ranges_next_to_missing_values_are_ranges(row):
    table = [
        *rows("x", 20, 4, 0),
        *rows("x", 31, 0, 2),
        *rows("x", 37, 0, 2),
        *rows("x", None, 4, 4),
    ]
    cells = row("age", table, {"age": AGES}, VariableRange())
    assert cells[:2] == ["age", "ranges"]
    assert "(missing)" in cells[2].split()


def test_values_in_groups_of_any_kind_are_groups(row):
    """A nurse and a smith are ill alike, which no level says."""
    table = [
        *rows("nurse", 20, 2, 0),
        *rows("smith", 20, 2, 0),
        *rows("vet", 20, 0, 2),
        *rows("mason", 20, 0, 2),
    ]
    cells = row("job", table, {"job": JOBS, "age": AGES}, VariableRange(group=("job",)))
    assert cells[:2] == ["job", "groups"]


@pytest.mark.parametrize("name", ["job", "age"])
def test_groups_of_their_own_are_by_class(row, name):
    table = [*HEALTH, *CRAFT, *rows("nurse", 31, 0, 4), *rows("vet", 52, 4, 0)]
    assert row(name, table, {"job": JOBS, "age": AGES}, Boxes())[1] == "by class"


def test_levels_are_numbers_and_groups_are_listed_up_to_eight(row):
    table = [each for age in range(20, 31) for each in rows("nurse", age, 2, 2)]
    hierarchies = {"job": JOBS, "age": AGES}
    levels = Fixed({"job": 1, "age": 0})
    assert row("job", table, hierarchies, levels) == ["job", "1", "craft health"]
    ages = "20 21 22 23 24 25 26 27 ... (11 in all)"
    assert row("age", table, hierarchies, levels) == ["age", "0", ages]
    assert row("age", table[:32], hierarchies, levels)[2] == "20 21 22 23 24 25 26 27"


def test_what_is_drawn_has_no_groups(row):
    table = [*HEALTH, *CRAFT]
    recoding = Pram(attributes=("age",), levels={"job": 1}, seed=1)
    hierarchies = {"job": JOBS, "age": AGES}
    assert row("age", table, hierarchies, recoding) == ["age", "0", "drawn"]
    assert row("job", table, hierarchies, recoding)[:2] == ["job", "1"]


@dataclass(frozen=True)
class Top(Levels):
    """The top of the lattice, with no word on how good it is."""

    name: ClassVar[str] = "top"

    def find(self, problem: Problem, seed: int, run: Run) -> Found | None:
        node = problem.lattice.heights
        score = problem.score(node)
        return None if score is None else Found("top", node, score, nodes=6, checked=1)


def test_what_is_found_without_a_bound_is_not_said_to_be_unfinished(capsys):
    frame = pd.DataFrame(HEALTH + CRAFT, columns=["job", "age", "ill"])
    anonymizer = Anonymizer({"job": JOBS, "age": AGES}, "ill", [KAnonymity(4)], recoding=Top())
    print_report(release_report(anonymizer.fit(frame).release_, Path("out")))
    said = capsys.readouterr().out
    assert "Searched 6 nodes (top, 1 checked).\nThis is the best node found, not proven" in said
    assert anonymizer.search_.gap is None
    assert anonymizer.lattice_.graph["best"] == (2, 3)
    assert anonymizer.lattice_.nodes[2, 3]["feasible"]


@pytest.mark.parametrize("objective", ["mutual-information", "loss", "precision", "discernibility"])
def test_a_node_has_a_score_by_any_objective(objective):
    frame = pd.DataFrame(HEALTH + CRAFT, columns=["job", "age", "ill"])
    same = {"quasi_identifiers": {"job": JOBS, "age": AGES}, "sensitive": "ill"}
    top, given = (
        Anonymizer(**same, privacy=[KAnonymity(4)], recoding=recoding, objective=objective)
        .fit(frame)
        .search_
        for recoding in (Top(), Fixed({"job": 2, "age": 3}))
    )
    assert top.value == given.value
