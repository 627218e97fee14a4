"""The papers on random recodings: what is as published, what is not, and the pictures."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from anonymizer import papers
from anonymizer.channels import privacy_distortion, squared
from anonymizer.papers import plots
from anonymizer.papers.command import PAPERS
from anonymizer.papers.rebollo2008.figures import figure_6, figure_7
from anonymizer.papers.rebollo2008.grid import SHARES, Grid, closed, slope_of
from anonymizer.papers.rebollo2008.theory import statements
from anonymizer.papers.row import AS_PUBLISHED, DIFFERS


@pytest.fixture(scope="module")
def rebollo():
    return [statements(), figure_6(steps=600), figure_7(steps=200)]


def rows_of(sections):
    return {row.quantity: row for section in sections for row in section.rows}


def test_the_command_knows_all_papers():
    room = Path(papers.__file__).parent
    modules = {path.stem for path in room.iterdir() if re.search(r"\d{4}$", path.stem)}
    assert list(PAPERS) == sorted(modules)
    for name in modules:
        assert str(int(name[-4:])) in import_module(f"anonymizer.papers.{name}").TITLE


# Rebollo-Monedero et al. (2008)


def test_the_multipliers_are_those_printed(rebollo):
    rows = rows_of(rebollo)
    for share, printed in zip(SHARES, ("0.72", "1.22", "1.72"), strict=True):
        row = rows[f"lambda of d = {share}"]
        assert (row.published, row.status) == (printed, AS_PUBLISHED)
        assert row.value == pytest.approx(2 * (1 / 0.95**2 - 1 + share))


def test_what_of_rebollo_cannot_be_reproduced(rebollo):
    failed = {q for q, row in rows_of(rebollo).items() if row.status.startswith(DIFFERS)}
    assert failed == {
        "QGLB (3) for any real-valued W and X",
        "steepest descent, lambda = 0.72",
        "steepest descent, lambda = 1.22",
        "steepest descent, lambda = 1.72",
        "p(x^|x) >= 0 at the optimum",
        "C of the channel found",
    }
    assert rows_of(rebollo)["128,000 iterations"].status == ""


def test_figure_6(rebollo):
    curve = rows_of(rebollo)["Figure 6: curves"].series
    d, best, bound, above = (np.array(c.values) for c in curve.columns)
    assert rows_of(rebollo)["Figure 6: curves"].computed == "16 of 16 points certified"
    assert (np.diff(d) > 0).all()
    assert (np.diff(best) < 0).all()
    assert (best < bound).all()
    assert (bound - best < 0.02).all()  # the law of the grid is narrower
    assert (bound < above).all()
    points = rows_of(rebollo)["Figure 6: points"].series
    assert (np.array(points["descent"].values) > np.array(points["optimum"].values)).all()


@pytest.mark.parametrize(
    ("share", "cost"), [(0.25, 0.6456098), (0.5, 0.8501277), (0.75, 0.9489262)]
)
def test_the_optima_are_the_known_ones(share, cost):
    grid = Grid(31)
    best = grid.optimum(share)
    assert best.cost == pytest.approx(cost, abs=1e-6)
    assert best.certified
    rule = grid.performance(grid.rule(share), share)
    assert cost - 1e-6 <= rule.cost < cost + 1e-3
    assert closed(share).cost > cost


def test_the_descent_descends_as_the_baseline_does():
    # The start of the baseline is d = 1/2; from there both are the same steps.
    grid = Grid(11)
    slope = slope_of(0.5)
    costs = [grid.performance(grid.descents([0.5], n)[0], 0.5).cost for n in (0, 300, 3000)]
    assert costs == sorted(costs, reverse=True)
    found = privacy_distortion(grid.joint, squared(grid.x), slope=slope, unit="nats")
    assert found.lower_bound < costs[-1]
    long = grid.performance(grid.descents([0.5])[0], 0.5).cost
    baseline = privacy_distortion(
        grid.joint, squared(grid.x), slope=slope, unit="nats", method="steepest-descent"
    )
    assert long == pytest.approx(baseline.cost, rel=0.01)


def test_figure_7(rebollo):
    series = rows_of(rebollo)["Figure 7"].series
    x = np.array(series["x"].values)
    assert len(series) == 5 * 51
    for name in ("initial", "optimal", "certified", "found"):
        values = np.array(series[name].values)
        assert [values[x == at].sum() for at in dict.fromkeys(x)] == pytest.approx([1] * 5)
    mean = lambda name: (  # noqa: E731
        (np.array(series["released"].values) * np.array(series[name].values))[x == 2.04].sum()
    )
    assert mean("initial") == pytest.approx(1.02)
    assert mean("optimal") == pytest.approx(1.02, abs=1e-3)
    assert float(rows_of(rebollo)["C, certified"].value) == pytest.approx(0.848227, abs=1e-6)


# Pictures


def test_the_same_paper_is_the_same_picture(tmp_path, rebollo):
    for copy in "ab":
        plots.draw(rebollo, tmp_path / f"{copy}.svg")
    first, second = ((tmp_path / f"{copy}.svg").read_text() for copy in "ab")
    assert first == second
    assert "<!-- x = 0.96 -->" in first
