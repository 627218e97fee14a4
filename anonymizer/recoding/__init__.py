"""Recodings: how quasi-identifiers are generalized, searched for exactly, and applied to tables.

What goes in: a `Task`, that is a table counted once, a policy, an objective. What comes out: a
`RecodingPlan` and the `Outcome` of carrying it out; nothing is verified here. `recoding.py` has the
protocol; `levels.py`, `ranges.py`, `classes.py` and `safepub.py` the recodings with their options;
`problem/` what every search shares, `full_domain/`, `partitions/`, `boxes/` and `merged_cells.py`
the searches; `evaluation.py` what a recoding releases of counts, held against a policy. May import
privacy, objectives, counts, hierarchy, tables, information, kernels.
"""

from anonymizer.recoding.full_domain.frontier import automatic
from anonymizer.recoding.full_domain.solve import SEARCHES, STRATEGIES, solve
from anonymizer.recoding.partitions.joint import refine_jointly
from anonymizer.recoding.partitions.refine import Refined, Refiner, cut_heuristically
from anonymizer.recoding.problem.options import Bounds, RangeOptions
from anonymizer.recoding.problem.parallel import as_done
from anonymizer.recoding.problem.problem import Found, Frontier, Problem, Run, Watch, ignore
from anonymizer.recoding.problem.suppression import Suppression

__all__ = [
    "SEARCHES",
    "STRATEGIES",
    "Bounds",
    "Found",
    "Frontier",
    "Problem",
    "RangeOptions",
    "Refined",
    "Refiner",
    "Run",
    "Suppression",
    "Watch",
    "as_done",
    "automatic",
    "cut_heuristically",
    "ignore",
    "refine_jointly",
    "solve",
]
