"""Recodings whose classes have groups of their own: boxes and merged cells."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import InputError, PolicyUnreachableError, require_one_of
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.partitions.families import PricedObjective
from anonymizer.recoding.partitions.joint import within_bounds
from anonymizer.recoding.problem import Problem, Run
from anonymizer.recoding.ranges import attributes_to_refine, grids_of
from anonymizer.recoding.recoding import SearchResult

MOST_RECORDS = 2**28
"""Records up to which what a class is worth by its size is in memory, 8 bytes each."""

ONE_CLASS = "not even all records as one class satisfy"
CHANCE = "Some of what merged cells keep may be chance: `anonymizer compare` tells what lasts."


@dataclass(frozen=True)
class Multidimensional(Generalization):
    """Classes of their own: every one may group the values of an attribute in its own way.

    Parameters
    ----------
    refine
        The attributes that get ranges; all ordered ones when left out.
    min_width, grid
        Least width of a range; number that ranges begin at multiples of.
    max_classes, min_records, min_gain
        Largest number of classes; fewest records of a class; least gain in the objective (bits) by
        each further class.
    """

    by_bounds: ClassVar[bool] = True

    refine: Sequence[str] | None = None
    min_width: float | None = None
    grid: float | None = None
    max_classes: int | None = None
    min_records: int | None = None
    min_gain: float = 0.0

    def solve(self, problem: Problem, seed: int, run: Run) -> tuple[Regions, SearchResult]:
        """Find the best classes."""
        refine = attributes_to_refine(self.refine, problem.taxonomies)
        if problem.counts.records > MOST_RECORDS:
            raise InputError(
                f"recoding = {self.name!r} holds a number for each size that a class may have, and "
                f"takes up to {MOST_RECORDS:,} records; choose full-domain or variable-range"
            )
        problem.objective.worth(Layout.of(problem.counts))  # refuses one of levels alone
        confined = within_bounds(problem, self.bounds)
        return self._best(problem, confined, refine, seed, run)

    @abstractmethod
    def _best(
        self, problem: Problem, confined: Problem, refine: Sequence[str], seed: int, run: Run
    ) -> tuple[Regions, SearchResult]:
        """The best classes of a problem that is confined to large ones."""


@dataclass(frozen=True)
class Boxes(Multidimensional):
    """Every class is a range, or a set of values, of each attribute: its own.

    Parameters
    ----------
    refine, min_width, grid, max_classes, min_records, min_gain
        As of all multidimensional recodings.
    refinement
        ``"exact"`` where the grid is small enough to judge every box, or ``"heuristic"``.
    """

    name: ClassVar[str] = "boxes"

    refinement: Literal["exact", "heuristic"] = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("refinement", self.refinement, ("exact", "heuristic"))

    def _best(
        self, problem: Problem, confined: Problem, refine: Sequence[str], seed: int, run: Run
    ) -> tuple[Regions, SearchResult]:
        from anonymizer.recoding.boxes import EXPLAINED, best_boxes

        exact = self.refinement == "exact"
        found = best_boxes(confined, refine, self.ranges, self.bounds, exact=exact, run=run)
        if found is None:
            raise self.unreachable(problem, ONE_CLASS)
        score = problem.objective(found.counts)
        return found.regions, SearchResult.of(
            problem,
            found.strategy,
            score,
            score + found.lead,
            checked=found.trees,
            proven=found.lead <= TOLERANCE,
            explained=EXPLAINED[found.strategy],
            grids=grids_of(problem, refine, self.ranges),
        )


@dataclass(frozen=True)
class MergedCells(Multidimensional):
    """Cells of the grid are merged into classes in any way; a column numbers the classes.

    Parameters are those of all multidimensional recodings: refine, min_width, grid, max_classes,
    min_records, min_gain. The released table has a column ``class``, since labels may overlap.
    """

    name: ClassVar[str] = "merged-cells"
    numbered: ClassVar[bool] = True

    def _best(
        self, problem: Problem, confined: Problem, refine: Sequence[str], seed: int, run: Run
    ) -> tuple[Regions, SearchResult]:
        from anonymizer.recoding.merged_cells import InitialCells, merge_cells

        # Boxes and what merges them share the time limit.
        deadline = run.deadline()
        # Cells that gain nothing by themselves are merged in boxes: see ``merged_cells``.
        if self.min_gain:
            atoms = InitialCells.boxes(problem, refine, self.ranges, self.min_gain, run)
            confined = replace(
                confined, objective=PricedObjective(problem.objective, self.min_gain)
            )
        else:
            atoms = InitialCells.cells(problem, refine, self.ranges)
        cells, run = atoms.problem(confined), run.until(deadline)
        try:
            found = merge_cells(cells, self.max_classes, seed, run)
        except PolicyUnreachableError:
            raise self.unreachable(problem, ONE_CLASS) from None
        regions = atoms.regions(problem, found.labels)
        score = problem.objective(problem.counts.recode(regions))
        return regions, SearchResult.of(
            problem,
            "merging",
            score,
            checked=found.starts,
            explained="Cells were merged and moved between classes",
            caution=CHANCE,
            grids=grids_of(problem, refine, self.ranges),
        )
