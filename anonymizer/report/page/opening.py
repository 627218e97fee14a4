"""The beginning of a page: what was released, whether it holds, and what to beware of."""

from collections.abc import Iterator, Sequence

from anonymizer.feedback.words import count, listed, plural
from anonymizer.release.manifest.figures import ReportedWarning
from anonymizer.report.page.document import Paragraph, Points, ReportSection
from anonymizer.report.page.evidence import Evidence

STRONGEST = (
    "constant-sensitive",
    "suppression-tells",
    "repeated-identifier",
    "identifying-values",
    "nearly-unique-column",
    "unique-together",
    "nearly-unique-sensitive",
    "sensitive-tells-sensitive",
    "column-gives-away",
    "weak-policy",
    "homogeneous-classes",
    "no-sensitive-attribute",
    "missing-as-value",
    "similar-numbers",
    "telling-order",
    "missing-sensitive",
    "spellings-alike",
)
"""Warnings in the order of what they cost people: who is found, what is known, what may be."""


def verdict(evidence: Evidence) -> str:
    """That the policy holds, and how that is known."""
    conditions = len(evidence.manifest.privacy)
    were = "was" if conditions == 1 else "were"
    about = "" if evidence.of_people else " It is about records, of which some people have several."
    return (
        f"The policy holds: {plural(conditions, 'condition')} {were} counted again in the "
        f"released table for this report, over {_all(len(evidence.sizes))}."
        f"{about}"
    )


def _all(classes: int) -> str:
    return "its only class" if classes == 1 else f"all of its {count(classes)} classes"


def facts(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """What was released, in a few lines."""
    manifest = evidence.manifest
    about, roles = manifest.file
    yield "Released file", about.file
    yield "Date of its manifest", evidence.date
    of = f" of {count(manifest.records)}" if manifest.records is not None else ""
    yield "Records", f"{count(evidence.released)}{of}"
    yield "Columns", f"{count(len(about.columns))}: {listed(about.columns)}"
    yield "Known to others (quasi-identifiers)", listed(evidence.quasi_identifiers)
    if roles.sensitive:
        yield "To be protected (sensitive)", listed(roles.sensitive)
    if roles.targets:
        yield "Information kept about (targets)", listed(roles.targets)
    if manifest.other_columns:
        yield "Released as they were", listed(manifest.other_columns)
    if roles.identifiers:
        yield "Left out (identifiers)", listed(roles.identifiers)
    yield "Made by", f"anonymizer {manifest.versions.anonymizer}".strip()


def warnings_section(evidence: Evidence) -> ReportSection:
    """The warnings of the release, the strongest first."""
    given = [*map(_as_sentence, _ordered(evidence.manifest.warnings)), *_cells(evidence)]
    if not given:
        none = "The release has no warnings. What its policy does not cover is listed below."
        return ReportSection("warnings", "Warnings", [Paragraph(none)])
    return ReportSection("warnings", "Warnings", [Points(given, "warning")])


def _ordered(warnings: Sequence[ReportedWarning]) -> list[ReportedWarning]:
    """By kind, and of each kind the one first that concerns the largest share."""

    def rank(each: ReportedWarning) -> tuple[int, float]:
        return STRONGEST.index(each.code), -each.count / max(each.of, 1)

    return sorted(warnings, key=rank)


def _as_sentence(warning: ReportedWarning) -> str:
    message = warning.message
    return f"{message[:1].upper()}{message[1:]}."


def _cells(evidence: Evidence) -> Iterator[str]:
    """Cells that a spreadsheet would run."""
    cells = evidence.manifest.spreadsheet
    if cells is not None and not cells.safe:
        yield (
            f"A spreadsheet would run cells of {listed(cells.cells)} as formulas; read the file "
            "as text there, or release it anew with csv-safe = true."
        )
