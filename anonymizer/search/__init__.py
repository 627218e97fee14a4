"""Exact searches: over the levels of all attributes, and over the ranges of an ordered one."""

from anonymizer.search.exact import (
    SEARCHES,
    Frontier,
    Problem,
    Search,
    best_node,
    exhaustive,
    incognito,
)
from anonymizer.search.joint import (
    REFINEMENTS,
    Cutting,
    Refined,
    Refiner,
    cut_exactly,
    cut_heuristically,
    refine_jointly,
    refine_one,
)
from anonymizer.search.ranges import heuristic_ranges, level_ranges, optimal_ranges
from anonymizer.search.segments import RangeOptions, Segments

__all__ = [
    "REFINEMENTS",
    "SEARCHES",
    "Cutting",
    "Frontier",
    "Problem",
    "RangeOptions",
    "Refined",
    "Refiner",
    "Search",
    "Segments",
    "best_node",
    "cut_exactly",
    "cut_heuristically",
    "exhaustive",
    "heuristic_ranges",
    "incognito",
    "level_ranges",
    "optimal_ranges",
    "refine_jointly",
    "refine_one",
]
