"""A paper that reviewers require of a release: a template filled in, as blocks of a document."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from anonymizer.feedback.document import Block, Note, ReportPage, ReportSection, TermList
from anonymizer.feedback.words import count, plural
from anonymizer.report.page.evidence import Evidence
from anonymizer.report.page.policy import verdict

Answer = Callable[[Evidence], Iterable[Block]]
"""What a release answers of a field."""


@dataclass(frozen=True)
class PaperField:
    """A field of a paper: its title, where its source requires it, what of it a release answers.

    ``written``: what its steward has to write; empty where nothing is left.
    """

    title: str
    source: str
    written: str = ""
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True)
class PaperTemplate:
    """A paper: its title, the document that requires it, and its fields in their order."""

    title: str
    source: str
    fields: tuple[PaperField, ...]


TO_WRITE = "To be written by the steward: "


def paper_of(evidence: Evidence, template: PaperTemplate) -> ReportPage:
    """A template filled in for a release."""
    about = evidence.manifest.file[0]
    fields = template.fields
    left = sum(bool(each.written) for each in fields)
    return ReportPage(
        title=f"{template.title}: {evidence.folder.resolve().name}",
        subtitle=f"{about.file}: {plural(evidence.released, 'record')}, "
        f"{plural(len(about.columns), 'column')}",
        verdict=verdict(evidence),
        lead=[
            TermList(
                [
                    ("For", STEWARD if evidence.steward else EVERYBODY),
                    ("Source", template.source),
                    ("Left to write", f"{count(left)} of {plural(len(fields), 'field')}"),
                ]
            )
        ],
        sections=[_section(place, each, evidence) for place, each in enumerate(fields, 1)],
        footer="Every number here is in the manifest of the release, was counted again from the "
        "released table"
        + (" or measured on the original table" if evidence.original is not None else "")
        + ", or is that of a requirement. Whether the requirements are met is judged by whoever "
        "signs this paper.",
    )


EVERYBODY = (
    "everybody who may have the release: this paper has no figure that its folder does not have"
)
STEWARD = (
    "the steward of the release alone: this paper has figures of the original table, and whoever "
    "hands it on hands these on"
)


def _section(place: int, field: PaperField, evidence: Evidence) -> ReportSection:
    return ReportSection(f"field-{place}", f"{place}. {field.title}", [*_blocks(field, evidence)])


def _blocks(field: PaperField, evidence: Evidence) -> Iterator[Block]:
    """Where a field is required, what answers it, and what is left."""
    yield f"Required by: {field.source}."
    for answer in field.answers:
        yield from answer(evidence)
    if field.written:
        yield Note(f"{TO_WRITE}{field.written}.")
