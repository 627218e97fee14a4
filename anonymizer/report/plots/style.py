"""How all pictures look, and how they are written: to a file, or as ``<svg>`` into a page."""

import hashlib
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

Style = dict[str, Any]
Theme = Literal["auto", "light", "dark"]

LOOK: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.xmargin": 0.08,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "font.size": 10.0,
    "svg.hashsalt": "anonymizer",  # the same subject gives the same file
}
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Distinguished by colour-blind people too (Okabe, Ito 2008)."""

LIGHT = {
    "ink": "#1b1b1b",
    "paper": "#fefefe",
    "main": "#0072b2",
    "pale": "#b5d3e7",
    "bad": "#c44e00",
    "good": "#00805d",
    "rule": "#767677",
}
DARK = {
    "ink": "#ececec",
    "paper": "#16181b",
    "main": "#56b4e9",
    "pale": "#28516c",
    "bad": "#ff9147",
    "good": "#2fc79b",
    "rule": "#9a9a9b",
}
"""The colours of pictures of a release; text and marks stand out 4.5 : 1 or more from paper."""
PALETTES: dict[str, dict[str, str]] = {"auto": LIGHT, "light": LIGHT, "dark": DARK}

WIDTH = 6.4
"""Inches across of a picture: its text is readable on a phone, where that is shrunk to half."""

LONGEST = 28
"""Characters of a name or label that a picture shows."""


class Picture(Figure):
    """A figure that says what it shows to people who do not see it.

    ``title``: its name in a few words. ``description``: what it shows, figures among them.
    ``theme``: ``"auto"`` follows the page that it is on, ``"light"`` and ``"dark"`` have colours of
    their own.
    """

    title: str
    description: str
    theme: Theme

    @property
    def palette(self) -> dict[str, str]:
        """The colours by their roles."""
        return PALETTES[self.theme]


@contextmanager
def drawing(theme: Theme) -> Iterator[dict[str, str]]:
    """Draw in the colours of a theme for as long as this lasts; gives them by their roles."""
    palette = PALETTES[theme]
    look = {
        **LOOK,
        "text.color": palette["ink"],
        "axes.edgecolor": palette["rule"],
        "axes.labelcolor": palette["ink"],
        "axes.facecolor": "none",
        "figure.facecolor": palette["paper"],
        "xtick.color": palette["ink"],
        "ytick.color": palette["ink"],
        "grid.color": palette["rule"],
        "hatch.linewidth": 0.8,
        "svg.fonttype": "none",  # texts stay texts: they are found, and every script has a font
        "text.parse_math": False,  # labels of tables may hold dollars
    }
    with mpl.rc_context(look):
        yield palette


def picture(theme: Theme, height: float, title: str) -> tuple[Picture, Axes]:
    """An empty picture of some inches in height, and its only axes."""
    figure, ((axes,),) = panels(theme, 1, 1, height, title)
    return figure, axes


def panels(
    theme: Theme, rows: int, columns: int, height: float, title: str, width: float = WIDTH
) -> tuple[Picture, list[list[Axes]]]:
    """An empty picture, and its axes by rows, which are so many inches high."""
    figure = Picture(figsize=(width, height * rows), layout="constrained")
    figure.title, figure.description, figure.theme = title, title, theme
    return figure, figure.subplots(rows, columns, squeeze=False).tolist()


def short(text: object, longest: int = LONGEST) -> str:
    """A name or label as a picture shows it: in one line, not too long, nothing unprintable."""
    line = "".join(each if each.isprintable() else " " for each in str(text)).strip()
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def counted_axis(axis: Axis) -> None:
    """Numbers of an axis with commas for thousands, on a logarithmic one at powers of 10 alone."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
    axis.set_minor_formatter(NullFormatter())


def save(figure: Figure, path: Path) -> None:
    """Write a picture in the format of its suffix, without a date."""
    kind = path.suffix[1:].lower()
    with warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes: no reason to draw nothing.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        figure.savefig(path, format=kind, dpi=150, metadata=UNDATED[kind])


HEAD = re.compile(r"^.*?<svg[^>]*?viewBox=\"([^\"]*)\"[^>]*>", re.DOTALL)
METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
OWN_STYLE = re.compile(r"<style type=\"text/css\">\*\{(.*?)\}</style>", re.DOTALL)
NAMED = re.compile(r"(\bid=\"|url\(#|href=\"#)")
UNUSED = re.compile(r" id=\"[^\"]*_\d+\"")
PATH = re.compile(r"(?<= d=\")[^\"]*")
FINE = re.compile(r"(\.\d\d)\d+")
"""Digits beyond a hundredth of a point: half of a picture, and nobody sees them."""
FONT = re.compile(r"font(-family)?: ([^;\"]*?)'DejaVu Sans'[^;\"]*")
PICTURE_CLASS = "anonymizer-picture"
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
    if theme == "auto":  # colours by their roles
        for role, color in LIGHT.items():
            body = body.replace(color, "currentColor" if role == "ink" else f"var(--p-{role})")
    width, height = found[1].split()[2:]
    body = OWN_STYLE.sub(lambda style: _style(own, style[1], width, theme), body)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'class="{PICTURE_CLASS}" id="p{own}" viewBox="{found[1]}" width="{width}pt" '
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
