"""A picture of the losses by queries: from the smallest to the largest, and the average."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from anonymizer.report.plots.style import COLORS, LOOK, save, short
from anonymizer.risk.queries import QueriesLoss


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
            loss = question.loss
            near = max(loss.average - loss.standard_deviation, loss.minimum)
            far = min(loss.average + loss.standard_deviation, loss.maximum)
            first = {} if place else {"range": "from smallest to largest", "near": "average ± sd"}
            axes.plot(
                [loss.minimum, loss.maximum],
                [place] * 2,
                marker="|",
                color="grey",
                label=first.get("range"),
            )
            axes.plot([near, far], [place] * 2, color=COLORS[0], linewidth=5, alpha=0.4)
            axes.plot([loss.average], [place], "o", color=COLORS[0], label=first.get("near"))
        axes.axvline(found.uncertainty, color=COLORS[1], linestyle="--", label="all there is")
        axes.set_yticks(range(len(questions)), [short(question.text) for question in questions])
        axes.set_ylim(len(questions) - 0.5, -0.5)
        axes.set_xlabel("loss of privacy (bits)")
        figure.legend(loc="outside upper center", ncols=3, fontsize="small")
        save(figure, path)
