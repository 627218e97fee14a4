"""Every block of code in README and docs is carried out, in the order of its page."""

import pytest
from pages import PAGES, ROOT, Session, blocks

LANGUAGES = {"python", "toml", "console", "text"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    session = Session(tmp_path, capsys)
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block.place}: {block.language!r}"
        session.carry_out(block)
