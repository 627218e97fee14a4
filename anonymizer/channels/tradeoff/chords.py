"""Where to put the points of a curve: at the slopes of its longest chords."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from anonymizer.channels.tradeoff.limits import Point, Solved

__all__ = ["spread"]


def spread(
    near: Point, far: Point, solve: Callable[[float, float], Solved], points: int, tolerance: float
) -> list[Solved]:
    """So many points of the lower convex boundary, by growing slope.

    The chord between two neighbours has a slope; the point of that slope is the furthest below it.
    The next chord is the one that spans the largest rectangle. Where all that is left is straight,
    the slopes are spread evenly over two decades around that of all.
    """
    found: list[Solved] = []
    whole = _spans(near, far)
    chain = [near, far]
    straight: set[int] = set()
    while len(found) < points:
        areas = [
            0.0 if id(left) in straight else float(np.prod(_spans(left, right)))
            for left, right in pairwise(chain)
        ]
        place = int(np.argmax(areas))
        if not areas[place] > 1e-9 * float(np.prod(whole)):
            break
        left, right = chain[place], chain[place + 1]
        distortion, leakage = _spans(left, right)
        solved = solve(distortion / leakage, tolerance)
        found.append(solved)
        inside = left.distortion < solved.point.distortion < right.distortion
        bent = _below(left, right, solved.point) > tolerance
        if inside and bent:
            chain.insert(place + 1, solved.point)
        else:
            straight.add(id(left))
    found += [solve(slope, tolerance) for slope in _even(whole, points - len(found))]
    return sorted(found, key=lambda solved: solved.point.slope or 0.0)


def _spans(left: Point, right: Point) -> tuple[float, float]:
    """How much more distortion, and less leakage, the second of two points has."""
    return (
        max(right.distortion - left.distortion, 0.0),
        max(left.leakage - right.leakage, 0.0),
    )


def _below(left: Point, right: Point, point: Point) -> float:
    """How far a point is below the chord of two, of the cost at its slope."""
    distortion, leakage = _spans(left, right)
    slope = distortion / leakage
    chord = left.distortion + slope * left.leakage
    return 1 - (point.distortion + slope * point.leakage) / chord


def _even(whole: tuple[float, float], points: int) -> list[float]:
    """Slopes over two decades around that of the whole curve, or around 1 where it is a point."""
    distortion, leakage = whole
    middle = distortion / leakage if distortion > 0 and leakage > 0 else 1.0
    return [float(slope) for slope in middle * np.geomspace(0.1, 10, points)]
