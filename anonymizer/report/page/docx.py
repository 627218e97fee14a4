"""A page as a DOCX file, which word processors open: for papers that people go on writing."""

from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

from anonymizer.feedback.document import Block, ReportPage, Table, plain_text

if TYPE_CHECKING:
    from docx.document import Document


def as_docx(page: ReportPage) -> bytes:
    """The text of a page as a DOCX file with styles, headings and tables; without pictures."""
    from docx import Document  # optional, and 100 ms

    document = Document()
    about = document.core_properties
    about.title, about.author, about.comments = plain_text(page.title), "anonymizer", ""
    about.created = about.modified = datetime.now(UTC)
    document.add_heading(plain_text(page.title), 0)
    document.add_paragraph(plain_text(page.subtitle), "Subtitle")
    document.add_paragraph(plain_text(page.verdict), "Intense Quote")
    for block in page.lead:
        _write(document, block)
    for section in page.sections:
        document.add_heading(plain_text(section.title), 1)
        for block in section.blocks:
            _write(document, block)
    document.add_paragraph(plain_text(page.footer))
    content = BytesIO()
    document.save(content)
    return content.getvalue()


def _write(document: "Document", block: Block) -> None:
    """Add a block; a picture is left out."""
    if isinstance(block, str):
        document.add_paragraph(plain_text(block))
    elif block.kind in WRITERS:
        WRITERS[block.kind](document, block)


def _write_points(document: "Document", points: Any) -> None:
    for item in points.items:
        document.add_paragraph(plain_text(item), "List Bullet")


def _write_terms(document: "Document", terms: Any) -> None:
    for name, value in terms.items:
        paragraph = document.add_paragraph()
        paragraph.add_run(f"{plain_text(name)}: ").bold = True
        paragraph.add_run(plain_text(value))


def _write_commands(document: "Document", commands: Any) -> None:
    for line in commands.lines:
        document.add_paragraph().add_run(plain_text(line)).font.name = "Courier New"


def _write_table(document: "Document", table: Table) -> None:
    document.add_paragraph(plain_text(table.title), "Caption")
    grid = document.add_table(1 + len(table.rows), len(table.columns), "Table Grid")
    for row, values in zip(grid.rows, (table.columns, *table.rows), strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = plain_text(str(value))
    for cell in grid.rows[0].cells:
        for run in cell.paragraphs[0].runs:
            run.bold = True


WRITERS: dict[str, Callable[["Document", Any], object]] = {
    "note": lambda document, note: document.add_paragraph(plain_text(note.text), "Quote"),
    "heading": lambda document, heading: document.add_heading(plain_text(heading.text), 2),
    "points": _write_points,
    "terms": _write_terms,
    "commands": _write_commands,
    "table": _write_table,
}
"""What adds each kind of block."""
