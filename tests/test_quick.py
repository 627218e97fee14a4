"""``make quick`` chooses the tests of a room, and hand-worked ones of the rooms above it."""

import pytest
import quick


def test_the_tests_of_a_model_by_hand():
    """Its room is tested as a whole; a study above it by the one test that was worked by hand."""
    found = quick.selected(["anonymizer/privacy/diversity.py"])
    room = {f"tests/privacy/{path.name}" for path in (quick.ROOT / "tests/privacy").glob("test_*")}
    assert {*room, "tests/test_architecture.py", "tests/test_examples.py"} <= {*found}
    assert "tests/release/test_study.py::test_a_study_by_hand" in found
    above = {each.split("/")[1] for each in found if "::" in each}
    assert not above & {"tables", "hierarchy", "counts", "privacy"}


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("docs/models.md", {"tests/docs/test_docs.py"}),
        ("README.md", {"tests/docs/test_docs.py"}),
        ("benchmarks/house.py", {"tests/benchmarks/test_house.py"}),
        ("tests/cli/test_cli.py", {"tests/cli/test_cli.py", "tests/cli/test_init.py"}),
        ("tests/checker.py", {"tests/recoding/test_cuts.py"}),
        ("Makefile", set()),
    ],
)
def test_what_a_file_leads_to(file, tests):
    assert tests <= {*quick.selected([file])}


def test_what_is_gone_is_not_asked_for():
    assert quick.selected(["tests/nowhere/test_gone.py"]) == sorted(quick.ALWAYS)


def test_the_nearest_tests_come_first():
    """A test that imports what changed comes before one that imports who uses it."""
    file = "anonymizer/tables/engine.py"
    distance = quick.distances([file])
    assert distance[file] == 0
    found = [each for each in quick.selected([file]) if each in distance]
    near = [distance[each] for each in found]
    assert near == sorted(near)
    assert near[0] == 1 < near[-1]
