"""Exact searches: over the levels of all attributes, and over the ranges of ordered ones."""

from anonymizer.search.boxes import branch_and_bound
from anonymizer.search.exhaustive import exhaustive, survey
from anonymizer.search.frontier import automatic, bisection, top_down
from anonymizer.search.incognito import incognito
from anonymizer.search.joint import refine_jointly, refine_one, refine_two
from anonymizer.search.optimum import best_suppressed
from anonymizer.search.problem import Found, Frontier, Problem, Run, Search, Watch, as_done, ignore
from anonymizer.search.ranges import heuristic_ranges, level_ranges, optimal_ranges
from anonymizer.search.refiner import (
    REFINEMENTS,
    Cutting,
    Refined,
    Refiner,
    cut_exactly,
    cut_heuristically,
)
from anonymizer.search.segments import RangeOptions, Segments
from anonymizer.search.strategies import SEARCHES, STRATEGIES, solve
from anonymizer.search.suppression import Suppression

__all__ = [
    "REFINEMENTS",
    "SEARCHES",
    "STRATEGIES",
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
    "optimal_ranges",
    "refine_jointly",
    "refine_one",
    "refine_two",
    "solve",
    "survey",
    "top_down",
]
