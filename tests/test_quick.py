"""``make quick`` chooses the tests of a room, and hand-worked ones of the rooms above it."""

import pytest
import quick


def test_the_tests_of_a_model_by_hand():
    """Its room is tested as a whole; a study above it by the one test that was worked by hand."""
    found = quick.selected(["anonymizer/privacy/diversity.py"])
    assert {"tests/privacy", "tests/test_architecture.py", "tests/test_examples.py"} <= {*found}
    assert "tests/release/test_study.py::test_a_study_by_hand" in found
    above = {each.split("/")[1] for each in found if "::" in each}
    assert not above & {"tables", "hierarchy", "counts", "privacy"}


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("docs/models.md", {"tests/docs"}),
        ("README.md", {"tests/docs"}),
        ("benchmarks/house.py", {"tests/benchmarks"}),
        ("tests/cli/test_cli.py", {"tests/cli", "tests/cli/test_cli.py"}),
        ("tests/checker.py", {"tests/recoding/test_cuts.py"}),
        ("Makefile", set()),
    ],
)
def test_what_a_file_leads_to(file, tests):
    assert tests <= {*quick.selected([file])}


def test_what_is_gone_is_not_asked_for():
    assert quick.selected(["tests/nowhere/test_gone.py"]) == sorted(quick.ALWAYS)
