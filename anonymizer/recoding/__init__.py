"""Recodings: how quasi-identifiers are generalized, searched for exactly, and applied to tables.

What goes in: a `Task`, that is a table counted once, a policy, an objective. What comes out: a
`RecodingPlan` and the `Outcome` of carrying it out; nothing is verified here. `recoding.py` has the
protocol; `levels.py`, `ranges.py`, `classes.py` and `safepub.py` the recodings with their options;
`problem/` what every search shares, `full_domain/`, `partitions/`, `boxes/` and `merged_cells/` the
searches. May import privacy, objectives, counts, hierarchy, tables, information, kernels.
"""

from anonymizer.recoding.full_domain.branch_and_bound import branch_and_bound
from anonymizer.recoding.full_domain.exhaustive import exhaustive, survey
from anonymizer.recoding.full_domain.frontier import automatic, bisection, top_down
from anonymizer.recoding.full_domain.incognito import incognito
from anonymizer.recoding.full_domain.solve import SEARCHES, STRATEGIES, solve
from anonymizer.recoding.full_domain.with_suppression import best_suppressed
from anonymizer.recoding.partitions.bezzi_heuristic import heuristic_ranges, level_ranges
from anonymizer.recoding.partitions.bounded import (
    refine_within,
    with_few_classes,
    with_large_classes,
)
from anonymizer.recoding.partitions.joint import refine_exactly, refine_jointly
from anonymizer.recoding.partitions.refine import (
    REFINEMENTS,
    Cutting,
    Refined,
    Refiner,
    cut_exactly,
    cut_heuristically,
)
from anonymizer.recoding.partitions.segments import Segments
from anonymizer.recoding.problem.options import Bounds, RangeOptions
from anonymizer.recoding.problem.parallel import as_done
from anonymizer.recoding.problem.problem import (
    Found,
    Frontier,
    Problem,
    Run,
    Search,
    Watch,
    ignore,
)
from anonymizer.recoding.problem.suppression import Suppression

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
