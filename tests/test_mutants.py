"""Mutants of a toy module: two that a test kills, one that none does, and how they are named."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import mutants
import pytest

ROOT = Path(mutants.__file__).parents[1]
TOY = """
def smaller(one, other):
    return one < other


def larger(one, other):
    return one > other


def marked(function):
    function.marked = True
    return function


@marked
def nothing():
    pass
"""
TESTS = """
from toy import larger, nothing, smaller


def test_smaller():
    assert smaller(1, 2)
    assert not smaller(2, 2)


def test_larger():
    assert larger(2, 1)


def test_marked():
    assert nothing.marked
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    tmp_path.joinpath("toy.py").write_text(TOY)
    tmp_path.joinpath("test_toy.py").write_text(TESTS)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def carried_out(toy: Path) -> subprocess.CompletedProcess[str]:
    """The program, of the toy module alone."""
    program = dedent(
        f"""
        import sys
        from tests import mutants
        sys.path.insert(0, {str(toy)!r})
        mutants.MODULES = {{"toy": [{str(toy / "test_toy.py")!r}]}}
        sys.exit(mutants.main(["--output", {str(toy / "page.md")!r}]))
        """
    )
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)


def test_planted_errors_are_found_but_the_one_at_a_border_that_no_test_tries(toy):
    """Only `>=` for `>` is left: nobody compares equals. A decorator runs at import alone."""
    done = carried_out(toy)
    assert (done.returncode, done.stderr) == (1, "")
    assert "toy:smaller:comparison:0: " in done.stdout
    lines = (toy / "page.md").read_text().splitlines()
    assert "| `toy` | 3 | 3 | 2 | 0 | 1 |" in lines
    assert (
        lines[-1]
        == "| `toy:larger:comparison:0` | toy.py:7 | `one > other` is `one >= other` | LOOK |"
    )
    assert toy.joinpath("toy.py").read_text() == TOY


def test_mutants_keep_their_names_when_functions_move(toy):
    names = [str(each) for each in mutants.Source("toy").mutants()]
    assert names == ["toy:smaller:comparison:0", "toy:larger:comparison:0", "toy:marked:constant:0"]
    first, *others = TOY.strip().split("\n\n\n")
    toy.joinpath("toy.py").write_text("\n\n\n".join(["import os", *others, first]))
    moved = mutants.Source("toy")
    assert {str(each) for each in moved.mutants()} == {*names}
    assert [str(each) for each in mutants.chosen(moved, 3, 1)] == [
        str(each) for each in mutants.chosen(mutants.Source("toy"), 3, 1)
    ]


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("a <= b < c", ["`a <= b < c` is `a < b < c`", "`a <= b < c` is `a <= b <= c`"]),
        ("a + b", ["`a + b` is `a - b`"]),
        ("a and not b", ["`a and (not b)` is `a or not b`", "`not b` is `b`"]),
        ("max(a, 2)", ["`max` is `min`", "`2` is `3`"]),
        ("f(a, b, True)", ["`f(a, b, True)` is `f(b, a, True)`", "`True` is `False`"]),
        ("[x for x in a if x]", ["`for x in a if x` is `for x in a`"]),
        ("a if b else c", ["`b` is `not b`"]),
        ("zip(a, b, strict=True)", ["`zip(a, b, strict=True)` is `zip(b, a, strict=True)`"]),
        ("f'{a:.3f}'", []),
    ],
)
def test_the_errors_of_an_expression(toy, code, changes):
    toy.joinpath("toy.py").write_text(f"def f(a: 'x < y', b, c):\n    'Text.'\n    return {code}\n")
    assert [each.change for each in mutants.Source("toy").mutants()] == changes


def test_a_statement_is_dropped(toy):
    toy.joinpath("toy.py").write_text("def f(a):\n    a.sort()\n    raise ValueError(a)\n")
    found = [each.change for each in mutants.Source("toy").mutants()]
    assert found == ["without `a.sort()`", "without `raise ValueError(a)`"]


def test_a_page_keeps_what_was_not_tried_again(toy, monkeypatch):
    """Of the same number and seed alone."""
    monkeypatch.setattr(mutants, "MODULES", {"one": [], "toy": []})
    times, more = mutants.PATIENCE
    rows = ["| `one` | 9 | 8 | 6 | 1 | 1 |", "| `one:f:not:0` | one.py:1 | `not a` is `a` | LOOK |"]
    before = mutants.HEAD.format(options="", times=times, more=more) + "\n".join(rows)
    tried = [*mutants.Source("toy").mutants()]
    killers = {str(mutant): "test_toy.py::test" for mutant in tried}
    found = {"toy": mutants.Result(3, tried, killers)}
    lines = mutants.page(found, {}, before, "").splitlines()
    assert {*rows, "| `toy` | 3 | 3 | 3 | 0 | 0 |", "| all |  | 11 | 9 | 1 | 1 |"} <= {*lines}
    assert "one" not in mutants.page(found, {}, before, " --seed 2").partition("survived |")[2]


def test_tests_that_fail_as_they_are_try_no_mutant(toy):
    """What fails anyway kills nothing."""
    toy.joinpath("test_toy.py").write_text(TESTS.replace("larger(2, 1)", "larger(1, 2)"))
    done = carried_out(toy)
    assert done.returncode == 1
    assert "without any mutant: " in done.stdout
    assert "assert larger(1, 2)" in done.stdout
    assert done.stderr == "mutants cannot be tried: the reason is above\n"
    assert not toy.joinpath("page.md").exists()
