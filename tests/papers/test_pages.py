"""The pages of the papers: that they are what is computed, and name what there is."""

from importlib import import_module
from pathlib import Path

import pytest
from pages import PAPERS as ALL
from pages import Session
from papers.computed import sections_of
from papers.pages import stale

from anonymizer.papers.command import PAPERS
from anonymizer.papers.report import page
from anonymizer.papers.row import Column, PlottedSeries, PublishedSection, Row

PAGES = Path(__file__).parents[2] / "docs" / "papers"


@pytest.fixture(params=PAPERS)
def paper(request):
    if request.param == "bezzi2010":
        request.getfixturevalue("adult")
    return request.param


def test_a_page_is_what_is_computed(paper):
    title = import_module(f"anonymizer.papers.{paper}").TITLE
    written = (PAGES / f"{paper}.md").read_text(encoding="utf-8")
    assert stale(written, page(paper, title, sections_of(paper), f"{paper}.svg")) == []
    assert (PAGES / f"{paper}.svg").exists()


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Session(tmp_path, capsys).read(page)


def test_nothing_is_left_out(paper):
    rows = [row for section in sections_of(paper) for row in section.rows]
    assert [row.quantity for row in rows if "not computed" in f"{row.computed} {row.status}"] == []
    assert [row.quantity for row in rows if not (row.place and row.where)] == []
    assert [row.quantity for row in rows if row.published and not row.status] == []


def test_every_place_in_the_library_is_there(paper):
    for name in {row.where for section in sections_of(paper) for row in section.rows if row.where}:
        assert found(name), name


def found(name):
    """Whether a dotted name can be had: a module, and attributes of it."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            here = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            here = getattr(here, part)
        return parts[0] == "anonymizer"
    return False


def test_a_page_by_hand():
    series = PlottedSeries(
        [Column("n", "records", [10, 20], "records")],
        [Column("s", "seconds", [0.1, 0.2])],
        "n",
        varies=True,
    )
    rows = [
        Row("A1* | x", "1.0", "1", status="as published", place="Eq. 1", where="a.b"),
        Row("time", "2 points", series=series, varies=True, place="Figure 6"),
    ]  # fmt: skip
    assert page("longpre2017", "A paper", [PublishedSection("Both", rows, "A note.")], "p.svg") == (
        "# A paper\n\nComputed by `anonymizer reproduce longpre2017`. Of 1 published figures and "
        "statements 1 are as published (0 by another reading or in a table that is assumed or "
        "fitted), 0 truncated, 0 differ and 0 cannot be. †"
        "\n\n† of the machine that made this page: by its clock, or by rounding that "
        "many steps enlarge.\n\n## Both\n\n"
        "| in the paper | what | published | computed | verdict | in the library |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| Eq. 1 | A1\\* \\| x | 1 | 1.0 | as published | `a.b` |\n"
        "| Figure 6 | time |  | 2 points † |  |  |\n\nA note.\n\n### time; 2 points\n\n"
        "| records (records) | seconds |\n| --- | --- |\n| 10 † | 0.100000 |\n"
        "| 20 † | 0.200000 |\n\n## Pictures\n\n![The figures, drawn from the numbers above](p.svg)"
        "\n"
    )


@pytest.mark.parametrize(
    ("written", "computed", "lines"),
    [
        ("| x | 0.123456 |", "| x | 0.123470 |", 0),
        ("| x | 0.123456 |", "| x | 0.125456 |", 1),
        ("| x | 5e-13 |", "| x | 4e-12 |", 0),
        ("| x | 1,234 |", "| x | 1,334 |", 1),
        ("| x | 1 † |", "| x | 2 † |", 0),
        ("| x | as published |", "| x | truncated |", 1),
        ("| x |", "| x |\n| y |", 1),
    ],
)
def test_what_makes_a_page_stale(written, computed, lines):
    assert len(stale(written, computed)) == lines


def test_a_bar_in_a_heading_makes_no_column():
    along, measure = Column("d", "D", [0.5]), Column("r", "p(y|x)", [0.25], "bits")
    row = Row("R", "1 point", series=PlottedSeries([along], [measure], "d"))
    written = page("longpre2017", "A paper", [PublishedSection("Both", [row])])
    assert "| D | p(y\\|x) (bits) |\n| --- | --- |\n" in written
