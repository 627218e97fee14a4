"""The figures of other tools on the pages of migration are those that were measured."""

import re

from pages import ROOT

PAGES = sorted((ROOT / "docs" / "migration").glob("*.md"))
RESULTS = ROOT / "benchmarks" / "results" / "peers.md"


def test_every_figure_of_a_tool_was_measured():
    measured = set(RESULTS.read_text(encoding="utf-8").splitlines())
    found = [
        line
        for page in PAGES
        for table in re.findall(
            r"<!-- peers -->\n(.*?)<!-- end of peers -->", page.read_text("utf-8"), re.DOTALL
        )
        for line in table.splitlines()
        if line.startswith("|")
    ]
    assert len(found) > 30
    assert [line for line in found if line not in measured] == []
