"""A whole page about a release."""

from pathlib import Path

from anonymizer.errors import InputError, require_one_of
from anonymizer.feedback.document import ReportPage, TermList
from anonymizer.feedback.words import plural
from anonymizer.recoding import Watch, ignore
from anonymizer.release.study import Study
from anonymizer.report.page.changes import changes_section, found_section, kept_section
from anonymizer.report.page.evidence import Evidence, evidence_of
from anonymizer.report.page.pictures import Pictures
from anonymizer.report.page.policy import (
    facts,
    glossary_section,
    policy_section,
    risk_section,
    verdict,
    verify_section,
    warnings_section,
)
from anonymizer.report.page.rendering import FORMS, require_renderer
from anonymizer.utility.comparison import Comparison, compare_study


def report_of(
    release_path: str | Path,
    study: Study | str | Path | None = None,
    form: str = "html",
    *,
    key: str | Path | None = None,
    steward: bool = False,
    watch: Watch = ignore,
) -> bytes:
    """A report of a release as one self-contained page, for whoever decides on or receives it.

    The release is verified first, and everything on the page is in its manifest or was recounted
    from its table. No record is shown, nor a figure of the original table but for its steward.

    Parameters
    ----------
    release_path
        The directory of the release, or the table in it.
    study
        The study of the release, or its path. With it conditions about a population are counted
        again; and for the ``steward`` the recodings that could have been taken are compared, for
        which the original table is read.
    form
        ``"html"``, ``"markdown"`` or ``"pdf"``; texts are in UTF-8.
    key
        The public key of who released it, a PEM file: the release must be signed by it, and the
        page says that this was checked.
    steward
        Whether the page has the figures of the original table, which are in the file next to the
        release: then it is for its steward alone.
    watch
        Is called with the progress.

    Raises
    ------
    InputError
        When the release or the study cannot be read, or WeasyPrint is not installed for a PDF.
        Without matplotlib the page has no pictures.
    PolicyBrokenError
        When the release does not hold, or is not signed by the key.
    """
    require_one_of("form", form, tuple(FORMS))
    render = require_renderer(form)
    watch("verifying the release", 0, None)
    evidence = evidence_of(release_path, study, key=key, steward=steward, watch=watch)
    compared = evidence.study if steward else None
    comparison = None if compared is None else _comparison(compared, watch)
    watch("writing the report", 0, None)
    pictures = Pictures.of(evidence, FORMS[form].theme)
    return render(page_of(evidence, pictures, comparison))


def page_of(
    evidence: Evidence, pictures: Pictures, comparison: Comparison | str | None = None
) -> ReportPage:
    """The parts of a report, in their order."""
    about = evidence.manifest.file[0]
    sections = [
        warnings_section(evidence),
        policy_section(evidence),
        changes_section(evidence, pictures),
        kept_section(evidence, pictures),
        risk_section(evidence),
        found_section(evidence, pictures, comparison),
        verify_section(evidence),
        glossary_section(),
    ]
    return ReportPage(
        title=f"Release report: {evidence.folder.resolve().name}",
        subtitle=f"{about.file}: {plural(evidence.released, 'record')}, "
        f"{plural(len(about.columns), 'column')}",
        verdict=verdict(evidence),
        lead=[TermList([*facts(evidence)])],
        sections=sections,
        footer=_footer(comparison),
    )


def _footer(comparison: Comparison | str | None) -> str:
    """Where the numbers of a page are from."""
    others = " but those of other recodings" if isinstance(comparison, Comparison) else ""
    return (
        f"Every number here{others} is in the manifest of the release or was counted again from "
        "the released table."
    )


def _comparison(study: Study, watch: Watch) -> Comparison | str:
    """The recodings of a study compared, or why they cannot be."""
    try:
        return compare_study(study, watch=watch)
    except InputError as error:
        return str(error)
