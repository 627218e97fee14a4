"""How all pictures look, and how they are written."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
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
