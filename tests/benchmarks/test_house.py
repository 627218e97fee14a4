"""The measures of the structure, on made-up packages whose figures can be counted by hand."""

import ast
import re
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner
from house import HERE, main
from structure.clones import clones
from structure.graph import House, late_imports, module_circles
from structure.graph import figures as graph_figures
from structure.moves import Call, climbs, traced, way
from structure.moves import figures as move_figures
from structure.names import class_names, private_share, type_aliases, word_count
from structure.names import figures as name_figures
from structure.refusals import figures as refusal_figures
from structure.refusals import read_messages, refusals
from structure.signatures import public_signatures
from structure.size import body_lines, nearest_rank
from structure.size import figures as size_figures
from structure.sources import Library
from test_architecture import LEAST, MOST


def checkout(root: Path, files: dict[str, str]) -> Library:
    """Write a package and read it."""
    for name, text in {"__init__.py": "", **files}.items():
        path = root / "anonymizer" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return Library.read(root)


def values(figures) -> dict[str, str]:
    return {figure.label: figure.value for figure in figures}


def body(text: str) -> int:
    return body_lines(ast.parse(dedent(text).strip()).body[0])


def test_a_directory_without_the_package_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no anonymizer"):
        Library.read(tmp_path)


# Size


def test_lines_folders_and_comments(tmp_path):
    library = checkout(
        tmp_path,
        {
            "errors.py": '''
                """One line."""

                LIMIT = 3  # because four are too many
                """What a constant is."""
                # alone
                TEXT = """
                    # no comment, but code
                """
            ''',
            "room/__init__.py": "",
            "room/one.py": "import os  # noqa: F401\n",
            "room/deep/__init__.py": "def f(): return 1\n",
        },
    )
    (tmp_path / "README.md").write_text("# Title\n", encoding="utf-8")
    found = values(size_figures(library))
    assert found["files"] == "5"
    assert found["lines"] == "10"
    assert (
        found["lines without blanks, comments, docstrings"] == "6"
    )  # LIMIT, 3 lines of TEXT, 2 others
    assert found["lines with a comment (pragmas left out)"] == "20.00 %"
    assert found["packages at the top"] == "1"
    assert found["modules at the top (`__init__` and `__main__` with them)"] == "2"
    assert found["folders"] == "3"
    assert found["most files in one folder"] == "2 (`.`)"
    assert found["bytes of README.md"] == "8"


def test_body_lengths():
    assert body("def f(): return 1") == 1
    assert body('def f():\n    """Docstring alone."""') == 0
    assert body('def f():\n    """Doc."""\n    a = 1\n\n    # why\n    return a') == 4
    assert body("def f():\n    @g\n    def h():\n        pass\n    return h") == 4
    assert body("def f(\n    a,\n    b,\n):\n    return (\n        a\n    )") == 3


def test_nearest_rank():
    assert nearest_rank(list(range(1, 11)), 0.9) == 9
    assert nearest_rank([5, 1], 0.9) == 5
    assert nearest_rank([7], 0.5) == 7


def test_shares_of_long_bodies(tmp_path):
    long = "def long():\n" + "    x = 1\n" * 31
    limit = "def limit():\n" + "    x = 1\n" * 30
    library = checkout(tmp_path, {"a.py": long + limit + "def short(): return 1\n" * 2})
    found = values(size_figures(library))
    assert found["functions"] == "4"
    assert found["lines of a body, median"] == "15.5"
    assert found["lines of a body, most"] == "31"
    assert found["bodies beyond 30 lines"] == "25.00 %"


# Rooms

CHAIN = {
    "errors.py": "",
    "counts/__init__.py": "from anonymizer.errors import InputError",
    "search/__init__.py": "",
    "search/node.py": "def f():\n    import anonymizer.counts",
    "search/edge.py": "from anonymizer.search.node import f",
    "report.py": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from anonymizer.search import Search
        from anonymizer.errors import InputError
    """,
    "__main__.py": "from anonymizer.report import show",
}


def test_floors_of_a_chain(tmp_path):
    house = House(checkout(tmp_path, CHAIN))
    assert house.floors == {"errors": 1, "counts": 2, "search": 3, "report": 4}
    assert set(house.graph.edges) == {
        ("counts", "errors"),
        ("search", "counts"),
        ("report", "search"),
        ("report", "errors"),
    }
    assert house.circles == []


def test_a_circle_shares_a_floor(tmp_path):
    library = checkout(
        tmp_path,
        {
            "low.py": "",
            "left.py": "from anonymizer import low, right",
            "right.py": "from anonymizer.left import x",
            "top.py": "from anonymizer.right import y",
        },
    )
    house = House(library)
    assert house.circles == [["left", "right"]]
    assert house.floors == {"low": 1, "left": 2, "right": 2, "top": 3}
    assert values(graph_figures(library))["circles of rooms"] == "1"


def test_imports_by_name_by_the_facade_and_relative_ones_count(tmp_path):
    library = checkout(
        tmp_path,
        {
            "__init__.py": "from anonymizer.privacy import KAnonymity",
            "privacy.py": "",
            "plots/__init__.py": "",
            "plots/curves.py": "",
            "report/__init__.py": "from importlib import import_module\n"
            "def f(s): return import_module(f'anonymizer.plots.{s}')",
            "report/text.py": "from ..privacy import KAnonymity\nfrom . import f",
            "study.py": "from anonymizer import KAnonymity",
        },
    )
    assert set(House(library).graph.edges) == {
        ("report", "plots"),
        ("report", "privacy"),
        ("study", "privacy"),
    }


def test_modules_that_need_each_other_when_they_run(tmp_path):
    library = checkout(
        tmp_path,
        {
            "room/__init__.py": "",
            "room/one.py": "def f():\n    from anonymizer.room import two\n    import os",
            "room/two.py": "from anonymizer.room.one import f",
            "room/typed.py": """
                from typing import TYPE_CHECKING
                if TYPE_CHECKING:
                    from anonymizer.room.shown import g
            """,
            "room/shown.py": "import anonymizer.room.typed",
        },
    )
    assert module_circles(library) == [["anonymizer.room.one", "anonymizer.room.two"]]
    assert late_imports(library) == ["room/one.py:2"]


def test_the_floors_of_the_architecture_test(tmp_path):
    library = checkout(tmp_path, CHAIN)
    label = "floors that the architecture test gives"
    assert values(graph_figures(library))[label] == "-"
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    test = tmp_path / "tests" / "deep" / "test_architecture.py"
    test.write_text("FLOORS = [{'errors'}, {'counts'}]\nFLOOR = {}\n", encoding="utf-8")
    assert values(graph_figures(library))[label] == "2"


# Signatures


def test_parameters_are_counted_as_callers_see_them(tmp_path):
    library = checkout(
        tmp_path,
        {
            "__init__.py": """
                from anonymizer.room import Child
                __all__ = ["Child", "deep"]
                def deep(a, /, b, *rest, c, **more): ...
                def hidden(a, b, c, d, e, f, g): ...
            """,
            "room/__init__.py": """
                from anonymizer.room.inner import Child, Plain as Simple, Settings
                __all__ = ["Child", "Settings", "Simple"]
            """,
            "room/inner.py": """
                from dataclasses import KW_ONLY, dataclass, field
                from typing import ClassVar
                from pydantic import BaseModel

                @dataclass
                class Parent:
                    name: ClassVar[str] = "parent"
                    a: int
                    b: int = 0
                    made: int = field(init=False)

                @dataclass(frozen=True)
                class Child(Parent):
                    _: KW_ONLY
                    b: int = 1
                    c: int = 2

                    @classmethod
                    def read(cls, path, encoding): ...

                    @staticmethod
                    def check(value): ...

                    def _private(self, a, b, c, d): ...

                class Plain:
                    def __init__(self, x, y, *, z): ...

                class Section(BaseModel):
                    both: int

                class Settings(Section):
                    own: int
            """,
        },
    )
    written, made = public_signatures(library)
    assert written == {
        "anonymizer.deep": 5,
        "anonymizer.room.inner.Child.read": 2,
        "anonymizer.room.inner.Child.check": 1,
        "anonymizer.room.inner.Plain": 3,
    }
    assert made == {"anonymizer.room.inner.Child": 3, "anonymizer.room.inner.Settings": 2}


# Clones

ORIGINAL = """
    def mean(values, weights):
        '''The mean.'''
        total = 0
        for value, weight in zip(values, weights):
            if weight > 0.5:
                total += value * weight
        return total / len(values)
"""
RENAMED = """
    import os

    def average(numbers: list, shares: list) -> float:
        # another comment, other names, no docstring
        result = 1
        for number, share in zip(numbers, shares):

            if share > 3:
                result += number * share
        return result / len(numbers)
"""
SWAPPED = RENAMED.replace("len(numbers)", "len(shares)")
OTHER = RENAMED.replace("share > 3", "share >= 3")


def test_a_renamed_copy_is_a_clone(tmp_path):
    library = checkout(tmp_path, {"a.py": ORIGINAL, "b.py": RENAMED})
    [(one, other)] = clones(library)
    assert (str(one), str(other)) == ("a.py:1-7", "b.py:3-10")
    assert (one.lines, other.lines) == (6, 6)


@pytest.mark.parametrize("near", [SWAPPED, OTHER], ids=["another name", "another comparison"])
def test_a_near_miss_is_none(tmp_path, near):
    assert clones(checkout(tmp_path, {"a.py": ORIGINAL, "b.py": near})) == []


def test_a_place_has_at_least_so_many_lines(tmp_path):
    library = checkout(tmp_path, {"a.py": ORIGINAL, "b.py": RENAMED})
    assert clones(library, least=7) == []


def test_a_run_of_statements_within_longer_functions_is_a_clone(tmp_path):
    shared = [f"    {n} = call(first, '{n}')" for n in "abcdef"]
    one = ["def one(first):", *shared, "    return a"]
    two = ["def two(second, first):", "    yield second", *shared]
    library = checkout(tmp_path, {"a.py": "\n".join([*one, "", *two])})
    [(first, second)] = clones(library)
    assert (str(first), str(second)) == ("a.py:2-7", "a.py:12-17")


def test_three_copies_are_three_pairs(tmp_path):
    files = {"a.py": ORIGINAL, "b.py": RENAMED, "c.py": ORIGINAL}
    assert len(clones(checkout(tmp_path, files))) == 3


def test_repetition_within_one_run_is_no_clone_of_itself(tmp_path):
    lines = "\n".join(["def f(x):", *["    x = g(x, 1)"] * 8])
    assert clones(checkout(tmp_path, {"a.py": lines})) == []


# Names and words


def test_repeated_names(tmp_path):
    library = checkout(
        tmp_path,
        {
            "a.py": "Floats = NDArray[float]\nclass Cell: ...\nLIMIT = x\nCount = 3\n",
            "b/c.py": "Floats: TypeAlias = 'NDArray'\nclass Cell: ...\nclass Other: ...\n",
        },
    )
    assert class_names(library) == {"Cell": ["a.py:2", "b/c.py:2"], "Other": ["b/c.py:3"]}
    assert type_aliases(library) == {"Floats": ["a.py:1"]}
    union = checkout(tmp_path, {"b/c.py": "Floats: TypeAlias = int | None\n"})
    assert type_aliases(union) == {"Floats": ["a.py:1", "b/c.py:1"]}


def test_words_stand_alone_or_in_names(tmp_path):
    text = "# Asked once\nwas_asked = 'asked'\nbasked = unasked = 1\n"
    assert word_count(checkout(tmp_path, {"a.py": text}), "asked") == 3


def test_private_functions(tmp_path):
    text = (
        "def f():\n    def _g(): ...\nclass C:\n    def __len__(self): ...\n    def _h(self): ..."
    )
    assert private_share(checkout(tmp_path, {"a.py": text})) == (2, 4)


# Refusals


def test_refusals_are_raises_of_own_errors(tmp_path):
    library = checkout(
        tmp_path,
        {
            "errors.py": """
                class AnonymizerError(Exception): ...
                class InputError(AnonymizerError, ValueError): ...
                class DeepError(InputError): ...
            """,
            "a.py": """
                from anonymizer import errors
                def f(x):
                    raise InputError(f"grid is for {x!r}, "
                                     "not for full-domain recoding")
                def g():
                    raise errors.DeepError("the table has no records")
                def h():
                    raise _unreachable("leave it out")
                def i():
                    raise ValueError("is for nobody")
                def j():
                    raise
                def _unreachable(text) -> errors.InputError: ...
            """,
        },
    )
    assert refusals(library) == [
        ("a.py:3", "grid is for {}, not for full-domain recoding"),
        ("a.py:6", "the table has no records"),
        ("a.py:8", "leave it out"),
    ]
    assert values(refusal_figures(library)) == {
        "refusals (`raise` of an own error)": "3",
        "refusals of combinations": "2 in 1 modules",
        "messages used to decide": "0",
    }


def test_messages_that_decide(tmp_path):
    library = checkout(
        tmp_path,
        {
            "a.py": """
                try: f()
                except OSError as error:
                    if "no such" in str(error): g()
                    h(error.args[0].removeprefix("a"), re.search("b", str(error)))
                    if error.errno == 2: raise Failure(str(error)) from error
                    log(str(error), name.replace("a", "b"))
            """
        },
    )
    assert read_messages(library) == ["a.py:3", "a.py:4", "a.py:4"]


# The way of a table

RUN = {
    "engine.py": """
        def count(frame): return len(frame)
        def rows(frame):
            for row in range(len(frame)): yield row
    """,
    "counting.py": """
        from anonymizer.engine import count, rows
        def tally(*frames, **more):
            return _own(frames[0]), list(rows(frames[0]))
        def _own(frame): return count(frame)
    """,
    "table.py": """
        class Table:
            __slots__ = ("frame",)
            def __init__(self, frame): self.frame = frame
            def size(self): return 4
    """,
    "cli.py": """
        import sys
        from pathlib import Path
        import duckdb
        import pandas as pd
        from anonymizer.counting import tally
        from anonymizer.table import Table
        def main():
            frame = pd.read_csv(Path(sys.argv[2]).parent / "people.csv")
            tally(frame)
            Table(frame).size()
            duckdb.sql("SELECT 1")
            with duckdb.connect() as connection: connection.execute("SELECT 2")
            output = Path(sys.argv[4])
            output.mkdir()
            write(frame, output)
        def write(frame, output): frame.to_csv(output / "released.csv")
    """,
    "__main__.py": "from anonymizer.cli import main\nmain()\n",
}
CALLS = [
    Call(0, "cli", "counting", "anonymizer.counting.tally", "argument"),
    Call(0, "counting", "counting", "anonymizer.counting._own", "argument"),
    Call(0, "counting", "engine", "anonymizer.engine.count", "argument"),
    Call(0, "counting", "engine", "anonymizer.engine.rows", "argument"),
    Call(0, "cli", "table", "anonymizer.table.Table.__init__", "argument"),
    Call(0, "cli", "table", "anonymizer.table.Table.size", "held"),
    Call(0, "cli", "cli", "anonymizer.cli.write", "argument"),
]


def test_the_calls_with_a_table(tmp_path):
    library = checkout(tmp_path, RUN)
    run = traced(tmp_path)
    assert run.calls == CALLS
    assert sum(call.enters for call in CALLS) == 5
    assert way(CALLS) == [("counting", "engine"), ("engine", "table"), ("table", "cli")]
    floors = House(library).floors
    assert floors == {"engine": 1, "counting": 2, "table": 1, "cli": 3}
    assert climbs(way(CALLS), floors) == [("table", "cli")]
    # main, tally, _own, count, rows, Table's two, write; main > tally > _own > count
    assert (run.functions, run.files, run.depth) == (8, 4, 4)
    assert (run.opens, run.statements) == (1, 2)


def test_threads_have_ways_of_their_own():
    rooms = [(0, "a"), (1, "b"), (0, "a"), (1, "c"), (0, "c")]
    calls = [Call(thread, None, room, "f", "argument") for thread, room in rooms]
    assert way(calls) == [("b", "c"), ("a", "c")]
    assert not any(call.enters for call in calls)


def test_a_run_that_fails_is_reported(tmp_path):
    checkout(tmp_path, {**RUN, "__main__.py": "raise SystemExit('no such study')"})
    with pytest.raises(RuntimeError, match="no such study"):
        traced(tmp_path)


def test_two_checkouts_side_by_side(tmp_path):
    checkout(tmp_path / "old", {**RUN, "more.py": "import anonymizer.cli\ndef f(): return 1\n"})
    checkout(tmp_path / "new", RUN)
    output = tmp_path / "house.md"
    options = [str(tmp_path / "new"), "--against", str(tmp_path / "old"), "--write", str(output)]
    done = CliRunner().invoke(main, [*options, "--list"], catch_exceptions=False)
    assert done.exit_code == 0
    written = output.read_text(encoding="utf-8")
    assert "| | before | after |" in written
    assert "| rooms | 5 | 4 |" in written
    assert "| floors (longest chain of imports) | 4 | 3 |" in written
    assert "| calls into another room with the table | 5 | 5 |" in written
    assert "    more -> cli" in done.output
    assert str(tmp_path) not in written


@pytest.mark.slow
def test_the_library_keeps_the_bounds_of_the_architecture():
    library = Library.read(HERE)
    parts = (size_figures, graph_figures, name_figures, refusal_figures, move_figures)
    said = {label: value for part in parts for label, value in values(part(library)).items()}
    numbers = {label: re.match(r"[\d,.]+", said[label])[0] for label in (*MOST, *LEAST)}
    found = {label: float(number.replace(",", "")) for label, number in numbers.items()}
    assert {label: found[label] for label, most in MOST.items() if found[label] > most} == {}
    assert {label: found[label] for label, least in LEAST.items() if found[label] < least} == {}
