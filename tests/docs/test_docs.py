"""Every block of code in README and docs is carried out, in the order of its page.

Pages of papers are carried out by the tests of these: they compute published figures anew.
"""

import pytest
from pages import PAGES, PAPERS, ROOT, Session


@pytest.mark.parametrize(
    "page", sorted({*PAGES} - {*PAPERS}), ids=lambda page: str(page.relative_to(ROOT))
)
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Session(tmp_path, capsys).read(page)
