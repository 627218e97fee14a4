"""The papers whose figures are computed anew."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anonymizer.papers import bezzi2010, bkakria2021, domingo2009, longpre2017, rebollo2008
from anonymizer.papers.row import Section

__all__ = ["PAPERS", "Paper"]


@dataclass(frozen=True)
class Paper:
    """A paper whose figures are computed anew.

    Parameters
    ----------
    title
        What it is, and the unit of its figures.
    sections
        Computes them.
    drawn
        Whether some of its rows are series, so that a picture can be drawn.
    picture
        The module that draws it.
    """

    title: str
    sections: Callable[[], Sequence[Section]]
    drawn: bool = False
    picture: str = "anonymizer.papers.plots.figures"


PAPERS = {
    "bezzi2010": Paper(bezzi2010.TITLE, bezzi2010.sections),
    "bkakria2021": Paper(bkakria2021.TITLE, bkakria2021.sections, drawn=True),
    "domingo2009": Paper(
        domingo2009.TITLE,
        domingo2009.sections,
        drawn=True,
        picture="anonymizer.papers.plots.curves",
    ),
    "longpre2017": Paper(longpre2017.TITLE, longpre2017.sections),
    "rebollo2008": Paper(
        rebollo2008.TITLE,
        rebollo2008.sections,
        drawn=True,
        picture="anonymizer.papers.plots.curves",
    ),
}
"""What each of the papers gives, by author and year."""
