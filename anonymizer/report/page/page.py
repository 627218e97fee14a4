"""A whole page about a release, as HTML, Markdown, PDF or DOCX."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError, installing, require_one_of
from anonymizer.feedback.document import ReportPage, TermList
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.feedback.words import plural
from anonymizer.release.study import Study
from anonymizer.report.page.changes import changes_section, found_section, kept_section
from anonymizer.report.page.docx import as_docx
from anonymizer.report.page.evidence import Evidence, Pictures, evidence_of, with_original
from anonymizer.report.page.paper import paper_of
from anonymizer.report.page.papers import TEMPLATES
from anonymizer.report.page.policy import (
    facts,
    glossary_section,
    policy_section,
    verdict,
    verify_section,
    warnings_section,
)
from anonymizer.report.page.risks import risk_section
from anonymizer.utility.comparison import Comparison, compare_study


def report_of(
    release_path: str | Path,
    study: Study | str | Path | None = None,
    form: str = "html",
    *,
    key: str | Path | None = None,
    steward: bool = False,
    template: str | None = None,
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
        ``"html"``, ``"markdown"``, ``"pdf"`` or ``"docx"``; texts are in UTF-8.
    key
        The public key of who released it, a PEM file: the release must be signed by it, and the
        page says that this was checked.
    steward
        Whether the page has the figures of the original table, which are in the file next to the
        release: then it is for its steward alone.
    template
        The paper that it is, for reviewers who require one: ``"ema"``, ``"health-canada"``,
        ``"hipaa-expert"``, ``"wp216"``, ``"iso-27559"`` or ``"dpia"``. With a study it has the risk
        of the original table and attacks for the ``steward``, for which that is read.
    watch
        Is called with the progress.

    Raises
    ------
    InputError
        When the release or the study cannot be read, or WeasyPrint is not installed for a PDF, or
        python-docx for a DOCX. Without matplotlib the page has no pictures.
    PolicyBrokenError
        When the release does not hold, or is not signed by the key.
    """
    require_one_of("form", form, tuple(FORMS))
    if template is not None:
        require_one_of("template", template, tuple(TEMPLATES))
    render = require_renderer(form)
    watch("verifying the release", 0, None)
    evidence = evidence_of(release_path, study, key=key, steward=steward, watch=watch)
    if template is not None:
        filled = paper_of(with_original(evidence, watch), TEMPLATES[template])
        watch("writing the report", 0, None)
        return render(filled)
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


MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&])")
"""What Markdown, and HTML within it, may read otherwise than as it stands."""

BROKEN = re.compile(r"\s+")


@dataclass(frozen=True)
class Form:
    """A form of a page: the suffix of its file, the packages that it needs, what makes it.

    ``packages``: by what is imported, the name in a package index and the extra that installs it.
    ``theme`` is that of its pictures; None where it has none.
    """

    suffix: str
    packages: Mapping[str, tuple[str, str]]
    theme: str | None
    render: Callable[[ReportPage], bytes]


def require_renderer(form: str) -> Callable[[ReportPage], bytes]:
    """What makes a page of a form.

    Raises InputError when a package that it needs is not installed.
    """
    for module, (package, extra) in FORMS[form].packages.items():
        if find_spec(module) is None:
            raise InputError(
                f"a report as {form} needs {package}, which is not installed: {installing(extra)}"
            )
    return FORMS[form].render


def as_html(page: ReportPage) -> bytes:
    """One HTML file that needs no other, no script and no network."""
    return _filled("page.html", page).encode()


def as_markdown(page: ReportPage) -> bytes:
    """The same text in Markdown, as GitHub has its tables; without pictures."""
    lines = re.sub(r" +\n", "\n", _filled("page.md", page))
    text = re.sub(r"\n{3,}", "\n\n", lines)
    return (text.strip() + "\n").encode()


def as_pdf(page: ReportPage) -> bytes:
    """The HTML page on sheets of A4 with their numbers.

    Raises InputError when the system lacks Pango, which WeasyPrint sets text with.
    """
    try:
        from weasyprint import HTML
    except OSError:
        raise InputError(
            "a report as pdf needs Pango, which this system lacks: install it (on Debian, the "
            "package libpangoft2-1.0-0), or print the report as html from a browser"
        ) from None

    document = HTML(string=_filled("page.html", page), url_fetcher=_refused)
    pdf: bytes = document.write_pdf(pdf_variant="pdf/ua-1")  # tagged, for screen readers
    return pdf


def plain(text: str) -> str:
    r"""A text in one line of Markdown that reads as it stands.

    >>> plain("[34, 35) *")
    '\\[34, 35) \\*'
    """
    return MARKDOWN.sub(r"\\\1", BROKEN.sub(" ", text))


def _filled(template: str, page: ReportPage) -> str:
    """A template filled in; HTML has every text escaped."""
    return str(_environment().get_template(template).render(page=page))


@cache
def _environment() -> Any:
    """What reads the templates: a page takes 30 ms less than with one of its own."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("anonymizer.report.page"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["plain"] = plain
    return environment


def _refused(url: str, *_: Any, **__: Any) -> Any:
    """Whatever a page would load from elsewhere: it needs nothing."""
    raise ValueError(f"a report loads nothing, and not {url}")


FORMS: Mapping[str, Form] = {
    "html": Form(".html", {}, "auto", as_html),
    "markdown": Form(".md", {}, None, as_markdown),
    "pdf": Form(".pdf", {"weasyprint": ("weasyprint", "pdf")}, "light", as_pdf),
    "docx": Form(".docx", {"docx": ("python-docx", "docx")}, None, as_docx),
}
"""The forms of a page by their names."""
