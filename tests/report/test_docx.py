"""A page as DOCX: what python-docx reads of it again."""

import re
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import pytest

from anonymizer.feedback.document import (
    Drawing,
    Heading,
    Note,
    Points,
    ReportPage,
    ReportSection,
    Table,
    TermList,
    TypedCommands,
)
from anonymizer.report.page import report_of
from anonymizer.report.page.docx import as_docx

docx = pytest.importorskip("docx")

HOSTILE = "<w:t>&\"]]> \x00\x1b[31m\u202e | ' {{ x }}"
"""Markup, control characters and an end of a section, none of which a name may bring in."""

SHOWN = "<w:t>&\"]]>   [31m  | ' {{ x }}"

BLOCKS = (
    HOSTILE,
    Note("a note"),
    Heading("A part"),
    Points(["one", "two"]),
    TermList([("name", HOSTILE)]),
    TypedCommands(["anonymizer verify out"]),
    Table("A table", ("Name", "Value"), [(HOSTILE, 1), ("b", "2 %")]),
    Drawing("<svg/>", "not shown"),
)


def texts_of(content: bytes) -> list[str]:
    """The texts of a DOCX file in their order, those of tables by cells."""
    found = []
    for part in docx.Document(BytesIO(content)).iter_inner_content():
        if hasattr(part, "rows"):
            found += [cell.text for row in part.rows for cell in row.cells]
        else:
            found.append(part.text)
    return found


def test_every_block_is_read_again_and_no_text_is_markup():
    page = ReportPage(
        HOSTILE, "about", "holds", ["lead"], [ReportSection("a", "Section", BLOCKS)], "end"
    )
    content = as_docx(page)
    table = ["A table", "Name", "Value", SHOWN, "1", "b", "2 %"]
    parts = ["a note", "A part", "one", "two", f"name: {SHOWN}", "anonymizer verify out", *table]
    texts = [SHOWN, "about", "holds", "lead", "Section", SHOWN, *parts, "end"]
    assert texts_of(content) == texts
    document = docx.Document(BytesIO(content))
    assert document.core_properties.title == SHOWN
    assert abs(datetime.now(UTC) - document.core_properties.created) < timedelta(hours=1)
    styles = [each.style.name for each in document.paragraphs if each.text in ("Section", "A part")]
    assert styles == ["Heading 1", "Heading 2"]


def words_of(text: str) -> str:
    """A text without what Markdown marks up."""
    return " ".join(re.findall(r"[^\W_]+", text))


def test_a_release_has_the_same_texts_as_in_markdown(published):
    release: Path = published("best")
    markdown = words_of(report_of(release, form="markdown").decode())
    texts = [*map(words_of, texts_of(report_of(release, form="docx")))]
    assert [each for each in texts if each not in markdown] == []
    assert len(" ".join(texts)) > 0.9 * len(markdown)
