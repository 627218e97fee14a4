"""Exact searches: over levels, over ranges of ordered attributes, cuts and groupings."""

from anonymizer.search.bounded import refine_within, with_few_classes, with_large_classes
from anonymizer.search.boxes import branch_and_bound
from anonymizer.search.exhaustive import exhaustive, survey
from anonymizer.search.frontier import automatic, bisection, top_down
from anonymizer.search.incognito import incognito
from anonymizer.search.joint import refine_exactly, refine_jointly
from anonymizer.search.optimum import best_suppressed
from anonymizer.search.options import Bounds, RangeOptions
from anonymizer.search.problem import Found, Frontier, Problem, Run, Search, Watch, as_done, ignore
from anonymizer.search.ranges import heuristic_ranges, level_ranges
from anonymizer.search.refiner import (
    REFINEMENTS,
    Cutting,
    Refined,
    Refiner,
    cut_exactly,
    cut_heuristically,
)
from anonymizer.search.segments import Segments
from anonymizer.search.strategies import SEARCHES, STRATEGIES, solve
from anonymizer.search.suppression import Suppression

__all__ = [
    "REFINEMENTS",
    "SEARCHES",
    "STRATEGIES",
    "Bounds",
    "Cutting",
    "Found",
    "Frontier",
    "Problem",
    "RangeOptions",
    "Refined",
    "Refiner",
    "Run",
    "Search",
    "Segments",
    "Suppression",
    "Watch",
    "as_done",
    "automatic",
    "best_suppressed",
    "bisection",
    "branch_and_bound",
    "cut_exactly",
    "cut_heuristically",
    "exhaustive",
    "heuristic_ranges",
    "ignore",
    "incognito",
    "level_ranges",
    "refine_exactly",
    "refine_jointly",
    "refine_within",
    "solve",
    "survey",
    "top_down",
    "with_few_classes",
    "with_large_classes",
]
