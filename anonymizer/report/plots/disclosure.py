"""Pictures of what is disclosed: the frontier of t or l, and the losses by queries."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, PercentFormatter

from anonymizer.advice import Advice, Sweep
from anonymizer.report.plots.style import COLORS, LOOK, Style, counted_axis, save, short
from anonymizer.risk.queries import QueriesLoss, Question

KEPT, GUESSED = COLORS[0], COLORS[1]


def draw_frontier(advice: Advice, path: Path) -> None:
    """Draw a panel per sensitive attribute: both shares against the threshold."""
    with mpl.rc_context({**LOOK, "text.parse_math": False}):
        panels = max(len(advice.sweeps), 1)
        figure = Figure(figsize=(5.6 * panels, 4.4), layout="constrained")
        for axes, sweep in zip(
            figure.subplots(1, panels, squeeze=False)[0], advice.sweeps, strict=False
        ):
            _draw_sweep(axes, sweep)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        if handles:
            figure.legend(handles, labels, loc="outside lower center", ncols=3)
        save(figure, path)


def _draw_sweep(axes: Axes, sweep: Sweep) -> None:
    """What is kept and the best guess, against the threshold; the suggested one is marked."""
    points = {each.threshold: each for each in sweep.points if each.threshold is not None}
    thresholds, kept = list(points), [each.kept for each in points.values()]
    guesses = [each.disclosure.worst for each in points.values()]
    axes.plot(thresholds, kept, "o-", color=KEPT, label="information kept")
    axes.plot(thresholds, guesses, "s-", color=GUESSED, label="best guess")
    if sweep.suggestion is not None and sweep.suggestion.threshold is not None:
        axes.axvline(
            sweep.suggestion.threshold, color="grey", linestyle="--", label="suggested", zorder=1
        )
    if not sweep.model.startswith("entropy") and points:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        counted_axis(axes.xaxis)
    axes.set_ylim(0, 1.02)
    distance = f" ({sweep.distance})" if sweep.distance else ""
    axes.set_xlabel(f"{sweep.parameter} of {sweep.model}{distance}")
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_title(sweep.attribute)


def draw_losses(found: QueriesLoss, path: Path) -> None:
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
