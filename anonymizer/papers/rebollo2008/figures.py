"""Figures 6 and 7 of section 5, what is said of them, and channels that see W.

Section 3.2 leaves channels p(x^|w,x) aside for simplicity: they bound all recodings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from anonymizer.channels import (
    OptimalChannel,
    gaussian_rate,
    mutual_information_bound,
    privacy_distortion,
    privacy_distortion_curve,
    seeing,
    squared,
)
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.rebollo2008.grid import (
    DESCRIBED,
    PROJECTED,
    RHO,
    SHARES,
    STEPS,
    Grid,
    Performance,
    slope_of,
)
from anonymizer.papers.row import (
    AS_PUBLISHED,
    Column,
    PlottedSeries,
    PublishedSection,
    Reading,
    Row,
    read,
)

NEAR = 0.01
"""A cost within 1 % is reasonably optimal."""
CLOSE, CLOSE_RISK = 0.04, 0.02
"""Very close to Eq. 5, for the eye on Figure 6: a cost within 4 % of the certified optimum, and a
risk within 0.02 nats, a fiftieth of the axis, of Eq. 5 at the same distortion."""
LONGER = 4
"""So many times as long, the descent is said to have almost the optimal shape."""
SPEED = 16
"""Iterations per second of the paper."""
NEARER = 3
"""So many times nearer to it, at the least."""
SHOWN = (-2.04, -0.96, 0.0, 0.96, 2.04)
"""The x whose rows of Figure 7 are printed, all samples of its grid."""
MASS = 1e-6
CURVES = "Figure 6: curves"
POINTS = 16


def figure_6(steps: int = STEPS) -> PublishedSection:
    """Distortion and risk of what is found for three multipliers, and the bounds."""
    grid = Grid(31)
    began = perf_counter()
    found = dict(zip(SHARES, grid.descents(SHARES, steps), strict=True))
    speed = len(SHARES) * steps / (perf_counter() - began)
    descents = {share: grid.performance(channel, share) for share, channel in found.items()}
    others = grid.settled(SHARES, steps, PROJECTED)
    settled = {
        share: grid.performance(channel, share)
        for share, channel in zip(SHARES, others, strict=True)
    }
    optima = {share: grid.optimum(share) for share in SHARES}
    rows = [
        _curve(grid),
        _points(grid, "as described", descents),
        _points(grid, "second reading", settled),
        *(_close(optima[share], share, descents[share], settled[share]) for share in SHARES),
        *_optima(grid, optima),
        Row(
            "iterations per second",
            f"{speed:,.0f}, faster",
            "about 16",
            "Matlab R2007b then, 2.4 GHz",
            status=AS_PUBLISHED if speed > SPEED else "differs: slower here",
            varies=True,
        ),
    ]
    note = (
        f"rho = 0.95, 31 samples of [-3, 3] of X and W, {steps:,} iterations by 1e-4 from MIUB's "
        "channel at d; the paper does not say which of MIUB's channels it starts from. As "
        "described, steps are weighted by p(x), and rows clipped at 0 and divided by their sums. "
        "The second reading takes the gradient of each p(.|x) by itself, and the nearest law to "
        "each row; it oscillates, so that the last sixteenth of the channels is averaged."
    )
    return PublishedSection(
        "Section 5 and Figure 6: three multipliers",
        rows,
        note,
        "Figure 6",
        "anonymizer.channels.privacy_distortion",
    )


def _curve(grid: Grid) -> Row:
    """R(D) of the grid, certified, and the bounds at the same distortion."""
    found = privacy_distortion_curve(grid.joint, squared(grid.x), points=POINTS, unit="nats")
    found.sort(key=lambda point: point.distortion)
    d = np.array([point.distortion for point in found])
    measures = _rates(d.tolist(), [point.leakage for point in found])
    series = PlottedSeries(
        [Column("distortion", "D", d.tolist())], measures, axis="distortion", what="R"
    )
    certified = sum(point.certified for point in found)
    return Row(
        CURVES,
        f"{certified} of {len(found)} points certified",
        remark="rho = 0.95, sigma_X = 1; the grid is a narrower law, below QGLB",
        series=series,
    )


def _rates(d: Sequence[float], optima: Sequence[float]) -> list[Column]:
    """R on the grid, and the bounds of the normal law, at some distortions."""
    known = float(gaussian_rate(0, 1.0, RHO, "nats")[0])
    above = mutual_information_bound(d, information=known, variance=1)
    return [
        Column("optimum", "optimum on the grid", optima, "nats"),
        Column("qglb", "QGLB = Eq. 5", gaussian_rate(d, 1.0, RHO, "nats").tolist(), "nats"),
        Column("miub", "MIUB", above.tolist(), "nats"),
    ]


def _points(grid: Grid, reading: str, descents: Mapping[float, Performance]) -> Row:
    """Show the ends of descents, and the certified risk of the same distortion."""
    d = [descents[share].distortion for share in SHARES]
    best = [
        privacy_distortion(
            grid.joint, squared(grid.x), distortion_limit=limit, unit="nats", tolerance=1e-4
        ).leakage
        for limit in d
    ]
    slopes = Column("slope", "lambda", [slope_of(share) for share in SHARES])
    risks = [descents[share].risk for share in SHARES]
    measures = [*_rates(d, best), Column("descent", f"descent, {reading}", risks, "nats")]
    return Row(
        f"Figure 6: points, {reading}",
        "3 multipliers",
        remark="where the descents end, and R there",
        series=PlottedSeries(
            [Column("distortion", "D", d), slopes],
            measures,
            axis="distortion",
            over=CURVES,
            varies=True,
        ),
        varies=True,
    )


def _close(best: OptimalChannel, share: float, *found: Performance) -> Row:
    names = ("steps as described", "unweighted steps, projected exactly")
    readings = [_reading(name, best, each) for name, each in zip(names, found, strict=True)]
    row = read(f"descent, lambda = {slope_of(share):.2f}", "very close to Eq. 5", readings)
    return replace(row, varies=True, place="Section 5")


def _reading(name: str, best: OptimalChannel, found: Performance) -> Reading:
    """Describe the end of a descent, and whether that is very close."""
    excess = found.cost / best.cost - 1
    rate = float(gaussian_rate(found.distortion, 1.0, RHO, "nats")[0])
    shown = (
        f"C {excess:.1%} above the certified optimum, R = {found.risk:.3f} at D = "
        f"{found.distortion:.3f}, where Eq. 5 is {rate:.3f}"
    )
    near = excess <= CLOSE and abs(found.risk - rate) <= CLOSE_RISK
    return Reading(name, shown, AS_PUBLISHED if near else "", found.cost)


def _optima(grid: Grid, optima: Mapping[float, OptimalChannel]) -> list[Row]:
    """Describe the shapes of the certified optima."""
    rows = []
    for share, best in optima.items():
        rule = grid.performance(grid.rule(share), share)
        released = int((grid.p @ best.channel > MASS).sum())
        rows.append(
            Row(
                f"certified optimum, lambda = {slope_of(share):.2f}",
                f"C = {best.cost:.7f}, D = {best.distortion:.6f}, R = {best.leakage:.6f}",
                remark=f"gap {best.gap:.0e}; {released} of 31 symbols released; the rule of Fig. 5 "
                f"on this grid: C = {rule.cost:.6f}",
            )
        )
    zeros = min(float((best.channel < MASS).mean()) for best in optima.values())
    inactive = Row.claim(
        "p(x^|x) >= 0 at the optimum",
        zeros == 0,
        f"at least {zeros:.0%} of the chances are 0",
        "inactive but for precision",
        why="true of the normal law; on a truncated grid the optimum is sparse",
    )
    return [*rows, inactive]


def figure_7(steps: int = STEPS) -> PublishedSection:
    """Initial, optimal and found channels for lambda = 1.22 on 51 samples."""
    grid, share = Grid(51), 0.5
    best = grid.optimum(share)
    found, longer = (
        each[0] for each in grid.descended([share], [steps, LONGER * steps], DESCRIBED)
    )
    channels = {
        "initial": grid.start(share),
        "optimal": grid.rule(share),
        "certified": best.channel,
        "found": found,
        "longer": longer,
    }
    # Total variation between rows, averaged over x: how near a shape is to the rule's.
    away = {
        name: float(grid.p @ np.abs(channel - channels["optimal"]).sum(axis=1)) / 2
        for name, channel in channels.items()
    }
    costs = {name: grid.performance(channel, share) for name, channel in channels.items()}
    rows = [
        Row(
            "Figure 7",
            f"{len(SHOWN)} rows of p(x^|x)",
            remark="lambda = 1.22, 51 samples: initial, optimal (Fig. 5), certified, found, and "
            f"after {LONGER} times as long",
            series=_rows_of(grid, channels),
            varies=True,
        ),
        *(
            Row(
                f"C, {name}",
                f"{point.cost:.6f}",
                remark=f"D = {point.distortion:.6f}, R = {point.risk:.6f}",
                value=point.cost,
                varies=name in ("found", "longer"),
            )
            for name, point in costs.items()
        ),
        *_shapes(away, {name: point.cost / best.cost - 1 for name, point in costs.items()}, steps),
    ]
    note = f"{steps:,} iterations as described, and {LONGER * steps:,}."
    where = "anonymizer.channels.gaussian_channel"
    return PublishedSection("Figure 7: the channels", rows, note, "Figure 7", where)


def _shapes(away: Mapping[str, float], excess: Mapping[str, float], steps: int) -> list[Row]:
    """Check the text on the channels found, by the distances of their shapes and costs."""
    shapes = {name: f"{value:.3f}" for name, value in away.items()}
    rows = [
        Row.claim(
            "shape of the channel found",
            away["found"] < away["initial"],
            f"total variation from the optimal one {shapes['found']}, initially "
            f"{shapes['initial']}",
            "roughly resembles the optimal",
            "nearer than where it began, and no more than that",
        ),
        Row.claim(
            "C of the channel found",
            excess["found"] <= NEAR,
            f"{excess['found']:.1%} above the optimum",
            "reasonably optimal",
            why="not within 1 % of the certified optimum",
        ),
        Row.claim(
            f"{LONGER} times as many iterations",
            away["longer"] * NEARER <= away["found"],
            f"{LONGER * steps:,}: total variation {shapes['longer']}, C {excess['longer']:.1%} "
            "above the optimum",
            "almost identical to the optimal shape",
            f"{NEARER} times nearer or more: broadly right",
            why=f"not {NEARER} times nearer",
        ),
    ]
    return [replace(row, varies=True) for row in rows]


def _rows_of(grid: Grid, channels: Mapping[str, Floats]) -> PlottedSeries:
    """p(x^|x) along x^, for some x."""
    at = [int(np.abs(grid.x - x).argmin()) for x in SHOWN]
    parameters = [
        Column("released", "x^", np.tile(grid.x, len(at)).tolist()),
        Column("x", "x", np.repeat(grid.x[at], grid.samples).round(9).tolist()),
    ]
    measures = [
        Column(name, f"p(x^|x), {name}", channel[at].ravel().tolist())
        for name, channel in channels.items()
    ]
    return PlottedSeries(parameters, measures, axis="released", by="x", varies=True)


SAMPLES = 15
"""Samples whose pairs are certified in a tenth of a second; those of 31 take 2 seconds."""


def channels_that_see() -> PublishedSection:
    """The least C of channels of both kinds, certified, at the three multipliers."""
    grid = Grid(SAMPLES)
    found = [(share, grid.optimum(share), _seen(grid, share)) for share in SHARES]
    rows = [_row(*each) for each in found]
    rows.append(_closed())
    note = (
        f"rho = 0.95, {SAMPLES} samples of [-3, 3]; nats. No recoding of X leaks less at the same "
        "distortion: its channel is one of these. They are for measuring, and no release is made "
        "by one."
    )
    where = "anonymizer.channels.seeing"
    return PublishedSection("Section 3.2: channels that see W", rows, note, "Section 3.2", where)


def _seen(grid: Grid, share: float) -> OptimalChannel:
    slope = slope_of(share)
    return privacy_distortion(
        *seeing(grid.joint, squared(grid.x)), slope=slope, unit="nats", tolerance=1e-6
    )


def _row(share: float, alone: OptimalChannel, seen: OptimalChannel) -> Row:
    """Both optima, and the closed form where the second one is."""
    rate = float(gaussian_rate(seen.distortion, 1.0, RHO, "nats", sees_sensitive=True)[0])
    proven = "certified" if seen.certified else f"at most {seen.gap:.0e} above the least"
    return Row(
        f"p(x^|w,x) next to p(x^|x), lambda = {slope_of(share):.2f}",
        f"C = {seen.cost:.6f}, {proven}: {alone.cost - seen.cost:.6f} below {alone.cost:.6f}",
        remark=f"D = {seen.distortion:.6f}, R = {seen.leakage:.6f}, where the normal law has "
        f"{rate:.6f}",
        value=seen.cost,
    )


def _closed() -> Row:
    """Both closed forms along D."""
    d = [n / 40 for n in range(41)]
    alone = gaussian_rate(d, 1.0, RHO, "nats").tolist()
    seen = gaussian_rate(d, 1.0, RHO, "nats", sees_sensitive=True).tolist()
    series = PlottedSeries(
        [Column("distortion", "D", d)],
        [
            Column("alone", "p(x^|x), Eq. 5", alone, "nats"),
            Column("seen", "p(x^|w,x)", seen, "nats"),
        ],
        axis="distortion",
        what="R",
    )
    return Row(
        "R(D) of the normal law, with W seen",
        "-ln cos(asin rho - asin sqrt d), 0 from d = rho^2 on",
        remark="rho = 0.95; proof in the theory of channels",
        series=series,
        where="anonymizer.channels.gaussian_rate",
    )
