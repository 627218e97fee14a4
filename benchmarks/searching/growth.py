"""How the time of the search grows, beside what no search can be faster than."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import workloads
from measure import milliseconds, problem_of, table
from workloads import Workload

from anonymizer import Hierarchy, KAnonymity
from anonymizer.objectives import Discernibility
from anonymizer.recoding import Problem
from searching.machine import bandwidth, bytes_read, calibration, group_by
from searching.pictures import Curve, draw
from searching.processes import ask
from searching.ways import Way, agreed, compared, in_turns, searches

__all__ = ["growth", "measure"]

LIMIT = 70
"""Seconds for an axis."""
LONGEST = 4.0
"""Seconds of a search after which a way is not measured further along an axis."""
SHORTEST = 0.001
"""Seconds of a search from which on its distance from a limit is looked at."""
RESULTS = Path(__file__).parents[1] / "results" / "search"


@dataclass(frozen=True)
class Axis:
    """What grows while the rest of a workload stays.

    Parameters
    ----------
    name, label
        What it is called in files and in text; the label of the picture.
    sizes
        How much of it there is, rising.
    workload
        The workload of a size.
    about
        What stays.
    """

    name: str
    label: str
    sizes: Sequence[int]
    workload: Callable[[int], Workload]
    about: str


def _suppressed() -> Workload:
    return workloads.nine_attributes()[1]


def _of_attributes(number: int) -> Workload:
    """The first attributes of the twelve."""
    twelve = workloads.twelve_attributes()[0]
    first = dict([*twelve.hierarchies.items()][:number])
    return replace(twelve, hierarchies=first, suppression=0.02)


def _of_hierarchies(number: int) -> Workload:
    """Twelve attributes, so many of which keep the levels between values and ``*``."""
    twelve = workloads.twelve_attributes()[0]
    taller = [name for name, each in twelve.hierarchies.items() if each.height > 1]
    flat = dict.fromkeys(taller[number:], Hierarchy.suppression())
    return replace(twelve, hierarchies={**twelve.hierarchies, **flat}, suppression=0.02)


AXES = (
    Axis(
        "records",
        "records",
        (3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000),
        lambda records: workloads.scaled(records)[1],
        "nine attributes, k = 5, 2 % suppression; tables drawn from Adult",
    ),
    Axis(
        "attributes",
        "quasi-identifiers",
        (2, 3, 4, 5, 6, 7, 8, 9, 10, 12),
        _of_attributes,
        "30,162 records of UCI Adult, k = 5, 2 % suppression",
    ),
    Axis(
        "nodes",
        "nodes of the lattice",
        (0, 2, 4, 6, 9),
        _of_hierarchies,
        "30,162 records of UCI Adult, twelve attributes, of which 0 to 9 keep the levels between "
        "value and `*`; k = 5, 2 % suppression",
    ),
    Axis(
        "values",
        "sensitive values",
        (2, 10, 100, 1_000, 10_000),
        lambda values: workloads.many_values(30_000, values, 1.5),
        "30,000 records drawn from Adult, eight attributes, 4,320 nodes, W of skewed values tied "
        "to age; entropy l = 1.5, 4 % suppression",
    ),
    Axis(
        "k",
        "k",
        (2, 5, 10, 20, 50, 100, 200, 500, 1_000),
        lambda k: replace(_suppressed(), models=(KAnonymity(k),)),
        "30,162 records of Adult's extract, nine attributes, 2 % suppression",
    ),
)

Point = dict[str, Any]


def measure(name: str) -> Iterator[Point]:
    """The points of an axis, until no way is fast enough any more."""
    axis = next(axis for axis in AXES if axis.name == name)
    left = compared()
    for size in axis.sizes:
        if not left:
            return
        point = _point(axis.workload(size), left)
        yield {**point, "x": point["nodes"] if axis.name == "nodes" else size}
        left = {each: way for each, way in left.items() if point["search"][each] <= LONGEST}


def _point(workload: Workload, chosen: Mapping[str, Way]) -> Point:
    problem = problem_of(workload, Discernibility())
    times, found = in_turns(searches(problem, chosen))
    best = agreed(found)
    return {
        "cells": len(problem.counts),
        "pairs": _pairs(problem),
        "nodes": problem.lattice.size,
        "checked": best.checked if best else 0,
        "read": bytes_read(problem) if len(chosen) == len(compared()) else None,
        "search": times,
        "group": group_by(workload.table, [*workload.names, *workload.sensitive]),
    }


def _pairs(problem: Problem) -> int:
    """Distinct pairs of a cell and a sensitive value; the cells where nothing is sensitive."""
    joint = problem.counts.joint
    return sum(len(each.nonzero()[0]) for each in joint.values()) or len(problem.counts)


def growth() -> Iterator[str]:
    """How the search grows, beside its limits."""
    old, new = compared()
    speed = bandwidth()
    yield f"Search only, warm, discernibility. Old: {old}; new: {new}; they take turns. Limits: one"
    yield "GROUP BY over the cells (and sensitive values) of the same table in DuckDB, in memory,"
    yield "with one thread and with its default; and the bytes of all classes that the roll-ups of"
    yield "the search read (in Python over compiled kernels), at the speed of this machine's"
    yield f"memory (below). A way that took more than {LONGEST:g} s is not measured further along"
    yield f"an axis; an axis has {LIMIT} s. *Times*: the new way over a limit."
    yield "Classes that fit into a cache may be read faster than memory."
    yield ""
    yield from calibration(speed)
    measured: dict[str, list[Point]] = {}
    for axis in AXES:
        report = ask("growth", axis.name, seconds=LIMIT)
        measured[axis.name] = report.lines
        yield from _section(axis, report.lines, report.ended, speed)
    yield ""
    yield "## What stands furthest from its limit"
    yield ""
    yield from _furthest(measured, speed)


def _section(axis: Axis, points: Sequence[Point], ended: str, speed: float) -> Iterator[str]:
    """A picture and a table."""
    yield from ["", f"## Against {axis.label}", "", f"{axis.about[0].upper()}{axis.about[1:]}."]
    if ended:
        yield f"Ended early: {ended}."
    if not points:
        return
    new = list(compared())[-1]
    picture = f"growth-{axis.name}.svg"
    draw(axis.label, _curves(points, speed), RESULTS / picture)
    yield f"Between the last half of the points the new way grows with the power {_power(points)}."
    yield from ["", f"![Seconds of the search against {axis.label}]({picture})", ""]
    header = [axis.label, "cells", "pairs", "nodes", "checked", "MB read"]
    header += [*(f"{name}, ms" for name in compared()), "DuckDB, 1 thread, ms", "all threads, ms"]
    header += ["bytes at memory speed, ms", "times DuckDB", "times bytes"]
    yield from table(header, [_cells(point, new, speed) for point in points])


def _cells(point: Point, new: str, speed: float) -> list[object]:
    times, limit = point["search"], _at_speed(point, speed)
    one, every = (point["group"][f"DuckDB, {name}"] for name in ("1 thread", "all threads"))
    reached = times.get(new)
    return [
        *(f"{point[name]:,}" for name in ("x", "cells", "pairs", "nodes", "checked")),
        f"{point['read'] / 1e6:,.1f}" if limit else "",
        *(milliseconds(times.get(name)) for name in compared()),
        *map(milliseconds, (one, every, limit)),
        f"{reached / one:.1f}" if reached else "",
        f"{reached / limit:.1f}" if reached and limit else "",
    ]


def _at_speed(point: Point, speed: float) -> float | None:
    """Seconds to read the bytes that the search reads; None where they were not counted."""
    return None if point["read"] is None else point["read"] / speed


def _curves(points: Sequence[Point], speed: float) -> list[Curve]:
    """The searches first, then the limits."""

    def curve(name: str, style: str, height: Callable[[Point], float | None]) -> Curve:
        heights = [(point["x"], height(point)) for point in points]
        return Curve(name, style, [(x, y) for x, y in heights if y is not None])

    old, new = compared()
    return [
        curve(new, "new", lambda point: point["search"].get(new)),
        curve(old, "old", lambda point: point["search"].get(old)),
        curve("bytes read at\nmemory speed", "bytes", lambda point: _at_speed(point, speed)),
        curve("DuckDB, 1 thread", "one", lambda point: point["group"]["DuckDB, 1 thread"]),
        curve("DuckDB, all threads", "every", lambda point: point["group"]["DuckDB, all threads"]),
    ]


def _power(points: Sequence[Point]) -> str:
    """The slope of the new way, log-log, over the last half of its points."""
    new = list(compared())[-1]
    timed = [(point["x"], point["search"][new]) for point in points if new in point["search"]]
    last = timed[len(timed) // 2 :]
    if len(last) < 2:
        return "(too few points)"
    sizes, times = np.log(last).T
    return f"{np.polyfit(sizes, times, 1)[0]:.2f}"


def _furthest(measured: Mapping[str, Sequence[Point]], speed: float) -> Iterator[str]:
    """Of each axis the point that is furthest from a limit; the furthest of all first."""
    new = list(compared())[-1]
    limits: Mapping[str, Callable[[Point], float | None]] = {
        "the bytes it reads at memory speed": lambda point: _at_speed(point, speed),
        "one GROUP BY of DuckDB (1 thread)": lambda point: point["group"]["DuckDB, 1 thread"],
    }
    yield f"Of the searches that take {1000 * SHORTEST:g} ms or more; shorter ones are calls."
    yield ""
    for limit, of in limits.items():
        largest = []
        for axis in AXES:
            timed = [
                (point["search"].get(new, 0.0), of(point), point) for point in measured[axis.name]
            ]
            ratios = [(s / least, p["x"]) for s, least, p in timed if least and s >= SHORTEST]
            largest += [(*max(ratios), axis.label)] if ratios else []
        ranked = sorted(largest, reverse=True)
        listed = "; ".join(f"{ratio:,.0f} times at {label} = {x:,}" for ratio, x, label in ranked)
        yield f"- From {limit}: {listed}."
