"""Recodings: how quasi-identifiers are generalized, searched for exactly, and applied to tables.

What goes in: a `Task`, that is a table counted once, a policy, an objective. What comes out: a
`RecodingPlan` and the `Outcome` of carrying it out; nothing is verified here. `recoding.py` has the
protocol; `levels.py`, `ranges.py`, `classes.py` and `safepub.py` the recodings with their options;
`problem.py`, `nodes.py` and `policy.py` what every search shares, `full_domain/`, `partitions/`,
`boxes/` and `merged_cells.py` the searches; `apply.py` what a recoding makes of tables and counts.
May import privacy, objectives, counts, hierarchy, tables, information, kernels.
"""

from anonymizer.feedback.progress import Watch, ignore
from anonymizer.recoding.full_domain.frontier import automatic
from anonymizer.recoding.full_domain.solve import SEARCHES, STRATEGIES, solve
from anonymizer.recoding.partitions.joint import refine_jointly
from anonymizer.recoding.partitions.refine import Refined, Refiner, cut_heuristically
from anonymizer.recoding.policy import Suppression
from anonymizer.recoding.problem import (
    Bounds,
    Found,
    Frontier,
    Problem,
    RangeOptions,
    Run,
    Waiting,
    as_done,
)

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
    "Waiting",
    "Watch",
    "as_done",
    "automatic",
    "cut_heuristically",
    "ignore",
    "refine_jointly",
    "solve",
]
