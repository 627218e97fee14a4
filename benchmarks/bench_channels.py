"""The privacy-distortion function: how long a certified answer takes, beside the published method.

    python benchmarks/bench_channels.py [--quick]

Real Adult is left out unless ANONYMIZER_DATA names a directory with adult/adult.data. Writes
benchmarks/results/channels.md; with --quick one round without the largest grid, and nothing is
written.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pandas as pd
from measure import table

from anonymizer import InputError, load_adult
from anonymizer.channels import (
    OptimalChannel,
    privacy_distortion,
    privacy_distortion_curve,
    squared,
)
from anonymizer.channels.tradeoff import tradeoff

RESULTS = Path(__file__).parent / "results" / "channels.md"
QUICK = "--quick" in sys.argv
ROUNDS = 1 if QUICK else 5
RHO = 0.95
SHARES = (0.25, 0.5, 0.75)
TARGETS = {31: 0.1, 61: 0.6, 101: 3.0}
METHODS = {
    "interior-point": 1e-6,
    "accelerated": 1e-5,
    "blahut-arimoto": 1e-5,
    "steepest-descent": 1e-5,
}
KNOWN = {0.25: 0.6456098, 0.5: 0.8501277, 0.75: 0.9489262}
INTRODUCTION = f"""# Optimal channels

Made by `python benchmarks/bench_channels.py` on {os.cpu_count()} cores, with ANONYMIZER_DATA set.
Seconds are medians of {ROUNDS} rounds in which all lines of a table take turns, of the whole call,
checks of the input and the certificate included; information in nats, gaps relative to what is
minimised. A gap is proven: no channel is better by more.

The problem is that of Rebollo-Monedero, Forne and Domingo-Ferrer (2008), section 5: W and X
standard Gaussians of correlation {RHO} on a grid of n points from -3 to 3, squared distortion,
slopes 2 (1 / rho^2 - 1 + d) for d = 0.25, 0.5, 0.75 (about 0.72, 1.22, 1.72); and age in Adult
(72 values), released as an age, for marital status (7 values).
"""
Work = Callable[[], OptimalChannel]


def gaussian(points: int, reach: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """The joint density on a grid, and squared distortion."""
    x = np.linspace(-reach, reach, points)
    across, along = np.meshgrid(x, x, indexing="ij")
    power = (across**2 - 2 * RHO * across * along + along**2) / (2 * (1 - RHO**2))
    return np.exp(-power), squared(x)


def slope_of(share: float) -> float:
    """The slope at which a share of the variance is the best distortion, in theory."""
    return 2 * (1 / RHO**2 - 1 + share)


def solver(
    problem: tuple[np.ndarray, np.ndarray], slope: float, tolerance: float = 1e-6, **options: str
) -> Work:
    """The call that is timed."""

    def work() -> OptimalChannel:
        return privacy_distortion(
            *problem, slope=slope, tolerance=tolerance, unit="nats", **options
        )

    return work


def timed(work: dict[tuple, Work], rounds: int = ROUNDS) -> dict[tuple, tuple[float, object]]:
    """Median seconds of each, after a round that warms up, and its last answer."""
    taken: dict[tuple, list[float]] = {name: [] for name in work}
    found: dict[tuple, object] = {}
    for turn in range(rounds + (rounds > 1)):
        for name, function in work.items():
            start = perf_counter()
            found[name] = function()
            if turn or rounds == 1:
                taken[name].append(perf_counter() - start)
    return {name: (median(taken[name]), found[name]) for name in work}


def row(name: Sequence[object], seconds: float, found: OptimalChannel, most: object) -> list:
    """A line of the first tables."""
    gap = f"{found.gap / found.value:.1e}"
    proven = "yes" if found.certified else "**no**"
    figures = [f"{found.value:.7f}", gap, proven, found.iterations]
    print(*name, f"{seconds:.3f} s", *figures, flush=True)
    return [*name, f"{seconds:.3f}", most, *figures]


HEADER = ["problem", "slope", "seconds", "at most", "least cost", "gap", "certified", "steps"]


def interior() -> Iterator[str]:
    """The method of the library on grids and on Adult."""
    grids = {
        (f"grid of {points}", f"{slope_of(share):.3f}"): (points, share)
        for points in TARGETS
        for share in SHARES
    }
    work = {
        name: solver(gaussian(points), slope_of(share)) for name, (points, share) in grids.items()
    }
    rows = [row(name, *measured, TARGETS[grids[name][0]]) for name, measured in timed(work).items()]
    if not QUICK:
        name = ("grid of 301, to 1e-4", f"{slope_of(0.5):.3f}")
        largest = timed({name: solver(gaussian(301), slope_of(0.5), 1e-4)}, 1)
        rows.append(row(name, *largest[name], 15))
    yield from ["## Certified to a relative 1e-6", "", *table(HEADER, rows), ""]


def adult() -> Iterator[str]:
    """Age for marital status: single slopes, limits and a curve."""
    try:
        people = load_adult().dropna()
    except InputError as error:
        print(error)
        return
    counts = pd.crosstab(people["age"], people["marital-status"])
    problem = counts.to_numpy(), squared(counts.index)
    work = {("Adult", f"{slope:g}"): solver(problem, slope) for slope in (10, 100, 500, 1500)}
    rows = [row(name, *measured, 0.1) for name, measured in timed(work).items()]
    yield from ["## Adult, to a relative 1e-6", "", *table(HEADER, rows), ""]
    limits: dict[tuple, Work] = {
        (f"{what} = {limit:g}",): lambda what=what, limit=limit: privacy_distortion(
            *problem, **{what: limit}
        )
        for what, limit in [
            ("distortion_limit", 1),
            ("distortion_limit", 12.376),
            ("distortion_limit", 72.66),
            ("leakage_limit", 0),
            ("leakage_limit", 0.1),
            ("leakage_limit", 0.3),
        ]
    }
    lines = []
    for name, (seconds, found) in timed(limits, 1 if QUICK else 3).items():
        gap = "0" if found.value == 0 else f"{found.gap / found.value:.1e}"
        figures = [f"{found.distortion:.6f}", f"{found.leakage:.6f}", gap, found.certified]
        lines.append([f"`{name[0]}`", f"{seconds:.2f}", *figures])
        print(*lines[-1], flush=True)
    header = ["limit (bits)", "seconds", "distortion", "leakage, bits", "gap", "certified"]
    yield from [*table(header, lines), ""]
    curve = timed({(): lambda: privacy_distortion_curve(*problem)}, 1 if QUICK else 3)
    seconds, points = curve[()]
    proven = sum(point.certified for point in points)
    said = f"A curve of {len(points)} points: {seconds:.2f} s (at most 2), {proven} certified."
    print(said, flush=True)
    yield from [said, ""]


def methods() -> Iterator[str]:
    """All methods on the published grid, in one run."""
    work = {
        (f"{slope_of(share):.3f}", method): solver(
            gaussian(31),
            slope_of(share),
            1e-6 if method == "interior-point" else 1e-5,
            method=method,
        )
        for share in SHARES
        for method in ("interior-point", "accelerated", "blahut-arimoto", "steepest-descent")
    }
    rows = []
    best = {f"{slope_of(share):.3f}": cost for share, cost in KNOWN.items()}
    for (slope, method), (seconds, found) in timed(work, 1).items():
        excess = found.value - best[slope]
        gap = f"{found.gap / found.value:.1e}"
        certified = "yes" if found.certified else "no"
        rows.append([slope, method, f"{seconds:.3f}", f"{excess:.1e}", gap, certified])
        rows[-1].append(found.iterations)
        print(*rows[-1], flush=True)
    header = ["slope", "method", "seconds", "above the least cost", "gap", "certified", "steps"]
    yield from [
        "## The published method beside these, on 31 points",
        "",
        "Steepest descent as published: 32 000 steps of 1e-4 from the channel of MIUB. Methods",
        "of first order are asked for 1e-5 and may take 20 000 steps, the interior point for 1e-6.",
        "The least cost is known to 5e-8.",
        "",
        *table(header, rows),
        "",
    ]


def closed_form() -> Iterator[str]:
    """How far a wide grid is from the closed form."""
    rows = []
    for share in SHARES:
        found = solver(gaussian(51, 5.0), slope_of(share), 1e-8)()
        closed = -0.5 * np.log(1 - (1 - found.distortion) * RHO**2)
        error = f"{abs(found.leakage - closed):.1e}"
        rows.append([f"{slope_of(share):.3f}", f"{found.distortion:.6f}"])
        rows[-1] += [f"{found.leakage:.6f}", f"{closed:.6f}", error]
        print(*rows[-1], flush=True)
    header = ["slope", "distortion", "leakage", "closed form", "apart"]
    yield from [
        "## Against the closed form of Gaussians: 51 points from -5 to 5",
        "",
        *table(header, rows),
        "",
    ]


def threads() -> Iterator[str]:
    """The same calls with one thread of BLAS, as the library has it, and with its default."""
    single = tradeoff.single_threaded
    rows = []
    for points in (31, 61, 101):
        call = solver(gaussian(points), slope_of(0.5))

        def defaults(call: Work = call) -> OptimalChannel:
            tradeoff.single_threaded = nullcontext
            try:
                return call()
            finally:
                tradeoff.single_threaded = single

        measured = timed({("one",): call, ("default",): defaults})
        one, default = measured["one",][0], measured["default",][0]
        rows.append([points, f"{one:.3f}", f"{default:.3f}", f"{default / one:.1f}"])
        print(*rows[-1], flush=True)
    header = ["points", "one thread, s", "default threads, s", "ratio"]
    yield from ["## One thread of BLAS or its default", "", *table(header, rows), ""]


def main() -> None:
    """Run everything and write the results."""
    before = os.getloadavg()[0]
    lines = [line for part in (interior, adult, methods, closed_form, threads) for line in part()]
    load = f"Load average of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after."
    print(load)
    if not QUICK:
        RESULTS.write_text("\n".join([INTRODUCTION, *lines, load, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
