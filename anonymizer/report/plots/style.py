"""How all pictures look, and how they are written."""

import warnings
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

Style = dict[str, Any]

LOOK: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
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


def save(figure: Figure, path: Path) -> None:
    """Write a picture in the format of its suffix, without a date."""
    kind = path.suffix[1:].lower()
    with warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes: no reason to draw nothing.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        figure.savefig(path, format=kind, dpi=150, metadata=UNDATED[kind])
