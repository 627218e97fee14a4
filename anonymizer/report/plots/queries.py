"""A picture of the losses by queries: from the smallest to the largest, and the average."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anonymizer.report.plots.style import COLORS, LOOK, Style, save, short
from anonymizer.risk.queries import QueriesLoss, Question


def draw(found: QueriesLoss, path: Path) -> None:
    """Draw a line for each query, the first on top, and one for all together if they are several.

    Grey from the smallest to the largest loss, blue one standard deviation around the average.
    """
    several = len(found.questions) > 1
    questions = [*found.questions, *([found.jointly] if several else [])]
    with mpl.rc_context({**LOOK, "axes.grid.axis": "x", "text.parse_math": False}):
        figure = Figure(figsize=(6.4, 1.6 + 0.5 * len(questions)), layout="constrained")
        axes = figure.subplots()
        for place, question in enumerate(questions):
            _line(axes, place, question)
        axes.axvline(found.uncertainty, color=COLORS[1], linestyle="--", label="all there is")
        axes.set_yticks(range(len(questions)), [short(question.text) for question in questions])
        axes.set_ylim(len(questions) - 0.5, -0.5)
        axes.set_xlabel("loss of privacy (bits)")
        figure.legend(loc="outside upper center", ncols=4, fontsize="small")
        save(figure, path)


def _line(axes: Axes, place: int, question: Question) -> None:
    """One query; the first has the names of the legend."""
    loss, names = question.loss, ("smallest to largest", "one standard deviation", "average")
    near = max(loss.average - loss.standard_deviation, loss.minimum)
    far = min(loss.average + loss.standard_deviation, loss.maximum)
    whole, close, mean = (None, None, None) if place else names
    wide: Style = {"color": COLORS[0], "linewidth": 6, "alpha": 0.4, "solid_capstyle": "butt"}
    axes.plot([loss.minimum, loss.maximum], [place] * 2, marker="|", color="grey", label=whole)
    axes.plot([near, far], [place] * 2, label=close, **wide)
    axes.plot([loss.average], [place], "o", color=COLORS[0], label=mean)
