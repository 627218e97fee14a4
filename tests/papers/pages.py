"""How a page of the documentation is held against what is computed."""

import re
from collections.abc import Iterator
from math import isclose

from anonymizer.papers.report import VARIES

NUMBER = re.compile(r"(?<![A-Za-z_])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
NEAR = 1e-3
"""Relatively: optima stop where their certificates hold, and machines round differently."""
NOISE = 1e-4


def stale(written: str, computed: str) -> list[tuple[str, str]]:
    """Lines, written and computed, that differ by more than rounding, machine to machine."""
    pairs = zip(_lines(written), _lines(computed), strict=False)
    found = [(a, b) for a, b in pairs if not _same(a, b)]
    one, other = len([*_lines(written)]), len([*_lines(computed)])
    return found if one == other else [*found, (f"{one} lines", f"{other} lines")]


def _lines(page: str) -> Iterator[str]:
    return (line for line in page.splitlines() if VARIES not in line)


def _same(a: str, b: str) -> bool:
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
    return all(isclose(_number(x), _number(y), rel_tol=NEAR, abs_tol=NOISE) for x, y in pairs)


def _number(text: str) -> float:
    return float(text.replace(",", "").rstrip("."))
