"""A page as HTML, Markdown or PDF, by templates; jinja2 and WeasyPrint are imported here alone."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from anonymizer.errors import InputError, installing
from anonymizer.feedback.document import ReportPage

MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&])")
"""What Markdown, and HTML within it, may read otherwise than as it stands."""

BROKEN = re.compile(r"\s+")


@dataclass(frozen=True)
class Form:
    """A form of a page: the suffix of its file, the packages that it needs, what makes it.

    ``theme`` is that of its pictures; None where it has none.
    """

    suffix: str
    packages: Mapping[str, str]
    theme: str | None
    render: Callable[[ReportPage], bytes]


def require_renderer(form: str) -> Callable[[ReportPage], bytes]:
    """What makes a page of a form.

    Raises InputError when a package that it needs is not installed.
    """
    for package, extra in FORMS[form].packages.items():
        if find_spec(package) is None:
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
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("anonymizer.report.page"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["plain"] = plain
    return environment.get_template(template).render(page=page)


def _refused(url: str, *_: Any, **__: Any) -> Any:
    """Whatever a page would load from elsewhere: it needs nothing."""
    raise ValueError(f"a report loads nothing, and not {url}")


FORMS: Mapping[str, Form] = {
    "html": Form(".html", {}, "auto", as_html),
    "markdown": Form(".md", {}, None, as_markdown),
    "pdf": Form(".pdf", {"weasyprint": "pdf"}, "light", as_pdf),
}
"""The forms of a page by their names."""
