"""The harness of the documentation notices what is wrong on a page."""

import pytest
from pages import ROOT, Block, Session, blocks, require_shown

from anonymizer import InputError


@pytest.fixture
def session(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    return Session(tmp_path, capsys)


def block(language: str, text: str) -> Block:
    return Block(ROOT / "README.md", 7, language, text)


def test_an_output_that_is_not_printed_is_found():
    with pytest.raises(AssertionError, match=r"p:1 shows 'Released 3'"):
        require_shown("...\nReleased 3\n", "Released 4\n", "p:1")


def test_frames_and_blanks_do_not_matter():
    require_shown("a  1\n...\nb\n", "┃ a ┃ 1  ┃\nx\n│ b │ c │\n", "p:1")


def test_a_command_that_fails_has_to_show_its_exit_code(session):
    failing = "$ anonymizer verify nowhere\n"
    with pytest.raises(AssertionError, match=r"README.md:7: anonymizer verify nowhere"):
        session.carry_out(block("console", failing))
    session.carry_out(block("console", failing + "$ echo $?\n2\n"))
    with pytest.raises(AssertionError, match=r"README.md:7"):
        session.carry_out(block("console", failing + "$ echo $?\n1\n"))


def test_other_programs_are_not_run(session):
    with pytest.raises(AssertionError, match="rm -r release"):
        session.carry_out(block("console", "$ rm -r release\n"))


def test_a_fragment_is_read_as_a_study(session):
    session.carry_out(block("toml", '[objective]\nname = "loss"\n'))
    with pytest.raises(InputError, match="unknown key 'nam'"):
        session.carry_out(block("toml", '[objective]\nnam = "loss"\n'))


def test_a_named_file_has_to_be_complete(session):
    with pytest.raises(InputError, match=r"section \[data\] is missing"):
        session.carry_out(block("toml", '# some.toml\n[objective]\nname = "loss"\n'))


def test_a_rule_is_read_as_a_hierarchy(session):
    session.carry_out(block("toml", "widths = [5, 10]\n"))
    with pytest.raises(InputError, match="level 2 is not nested"):
        session.carry_out(block("toml", "widths = [5, 12]\n"))


def test_python_says_where_it_fails(session):
    with pytest.raises(ZeroDivisionError) as found:
        session.carry_out(block("python", "x = 1\nx / 0\n"))
    assert found.traceback[-1].lineno + 1 == 9


def test_blocks_know_their_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# T\n\n```python\nx = 1\n```\n\n```{toctree}\na\n```\n\n```toml\na = 1\n```\n")
    assert [(each.line, each.language) for each in blocks(page)] == [(3, "python"), (11, "toml")]
