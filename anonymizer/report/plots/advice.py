"""Pictures of the frontier of t or l: what is kept, and how well values can be guessed."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, PercentFormatter

from anonymizer.advice import Advice, Sweep
from anonymizer.report.plots.style import COLORS, LOOK, counted_axis, save

KEPT, GUESSED = COLORS[0], COLORS[1]


def draw(advice: Advice, path: Path) -> None:
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
