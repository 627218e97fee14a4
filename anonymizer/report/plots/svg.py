"""A figure as a piece of a page: one self-contained ``<svg>`` that follows the page's theme."""

import hashlib
import io
import re
import warnings
from html import escape

from matplotlib.figure import Figure

from anonymizer.report.plots.style import DARK, LIGHT, UNDATED, Picture, drawing

HEAD = re.compile(r"^.*?<svg[^>]*?viewBox=\"([^\"]*)\"[^>]*>", re.DOTALL)
METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
OWN_STYLE = re.compile(r"<style type=\"text/css\">\*\{(.*?)\}</style>", re.DOTALL)
NAMED = re.compile(r"(\bid=\"|url\(#|href=\"#)")
UNUSED = re.compile(r" id=\"[^\"]*_\d+\"")
PATH = re.compile(r"(?<= d=\")[^\"]*")
FINE = re.compile(r"(\.\d\d)\d+")
"""Digits beyond a hundredth of a point: half of a picture, and nobody sees them."""
FONT = re.compile(r"font(-family)?: ([^;\"]*?)'DejaVu Sans'[^;\"]*")
CLASS = "anonymizer-picture"
FONTS = "'DejaVu Sans', Verdana, system-ui, sans-serif"
"""DejaVu Sans is what texts are measured in; few fonts are wider."""


def svg_of(figure: Figure) -> str:
    """The figure as ``<svg>``: no reference leaves it, and its ids are those of no other picture.

    A figure that is drawn anew gives the same text. It has ``role="img"``, ``<title>`` and
    ``<desc>``. Where its theme is ``"auto"``, its ink is ``currentColor``, and other colours are
    the CSS variables ``--picture-main``, ``-pale``, ``-bad``, ``-good``, ``-rule`` and ``-paper``
    of a page. Without these they follow the reader's ``prefers-color-scheme``, and are light in
    print. A figure of theme ``"light"`` or ``"dark"`` has colours alone, for renderers that know no
    variables.
    """
    title = getattr(figure, "title", "Picture")
    description = getattr(figure, "description", title)
    theme = figure.theme if isinstance(figure, Picture) else "light"
    text = METADATA.sub("", UNUSED.sub("", _written(figure)))
    found = HEAD.match(text)
    if found is None:
        raise AssertionError("matplotlib writes SVG in a form that is not known")
    body = FONT.sub(lambda font: f"font{font[1] or ''}: {font[2]}{FONTS}", text[found.end() :])
    body = PATH.sub(lambda path: FINE.sub(r"\1", path[0]), body)
    own = hashlib.sha256((title + description + body).encode()).hexdigest()[:10]
    body = NAMED.sub(lambda name: f"{name[0]}p{own}-", body)
    body = _themed(body) if theme == "auto" else body
    width, height = found[1].split()[2:]
    body = OWN_STYLE.sub(lambda style: _style(own, style[1], width, theme), body)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'class="{CLASS}" id="p{own}" viewBox="{found[1]}" width="{width}pt" '
        f'height="{height}pt" role="img" '
        f'aria-labelledby="p{own}-title p{own}-desc">'
        f'<title id="p{own}-title">{escape(title)}</title>'
        f'<desc id="p{own}-desc">{escape(description)}</desc>'
    )
    return head + body.strip() + "\n"


def _written(figure: Figure) -> str:
    """What matplotlib writes, on no background of its own."""
    target = io.StringIO()
    theme = figure.theme if isinstance(figure, Picture) else "light"
    with drawing(theme), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        face = figure.get_facecolor() if theme == "dark" else "none"
        figure.savefig(target, format="svg", metadata=UNDATED["svg"], facecolor=face)
    return target.getvalue()


def _style(own: str, lines: str, width: str, theme: str) -> str:
    """The rules of a picture, within it alone: as wide as there is room, up to its own width."""
    rules = [f"#p{own}{{width:100%;max-width:{width}pt;height:auto}}", f"#p{own} *{{{lines}}}"]
    if theme == "auto":
        rules += [
            f"#p{own}{{{_variables(LIGHT)}}}",
            f"@media screen and (prefers-color-scheme:dark){{#p{own}{{{_variables(DARK)}}}}}",
            f"svg#p{own}:root{{color-scheme:light dark}}",
        ]
    return f"<style>{''.join(rules)}</style>"


def _variables(palette: dict[str, str]) -> str:
    """The colour of each role: that of the page, or else our own."""
    roles = {role: color for role, color in palette.items() if role != "ink"}
    return ";".join(f"--p-{role}:var(--picture-{role},{color})" for role, color in roles.items())


def _themed(body: str) -> str:
    """Colours by their roles instead of as they are."""
    for role, color in LIGHT.items():
        body = body.replace(color, "currentColor" if role == "ink" else f"var(--p-{role})")
    return body
