"""Recodings whose classes have groups of their own: boxes and merged cells."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar, Literal

from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import InputError, PolicyUnreachableError, require_one_of
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.generalization import Generalization, unreachable
from anonymizer.recoding.partitions.bounded import with_large_classes
from anonymizer.recoding.problem.options import Bounds, RangeOptions
from anonymizer.recoding.problem.priced import Priced
from anonymizer.recoding.problem.problem import Problem, Run
from anonymizer.recoding.ranges import attributes_to_refine
from anonymizer.recoding.result import SearchResult

__all__ = ["Boxes", "MergedCells"]

CHANCE = "Some of what merged cells keep may be chance: `anonymizer compare` tells what lasts."


@dataclass(frozen=True)
class Multidimensional(Generalization):
    """Classes of their own: every one may group the values of an attribute in its own way.

    Parameters
    ----------
    refine
        The attributes that get ranges; all ordered ones when left out.
    min_width, grid
        Ranges at least so wide; beginning at multiples of this.
    max_classes, min_records, min_gain
        At most so many classes; each of at least so many records; every class more adding at least
        so much to the objective (bits).
    """

    refine: Sequence[str] | None = None
    min_width: float | None = None
    grid: float | None = None
    max_classes: int | None = None
    min_records: int | None = None
    min_gain: float = 0.0

    def __post_init__(self) -> None:
        _ = self._options, self._bounds

    @property
    def _options(self) -> RangeOptions:
        return RangeOptions(None, self.min_width, self.grid)

    @property
    def _bounds(self) -> Bounds:
        return Bounds(self.max_classes, self.min_records, self.min_gain)

    def choose(self, problem: Problem, seed: int, run: Run) -> tuple[Regions, SearchResult]:
        """The best classes.

        Raises
        ------
        PolicyUnreachableError
            When not even everything in one class satisfies the policy.
        InputError
            When an objective of levels alone is to be maximised, or numba cannot be loaded, which
            compiles the search.
        """
        refine = attributes_to_refine(self.refine, problem.taxonomies)
        problem.objective.worth(Layout.of(problem.counts))  # refuses one of levels alone
        confined = with_large_classes(problem, self._bounds)
        try:
            return self._best(problem, confined, refine, seed, run)
        except ImportError:
            raise InputError(
                f"recoding = {self.name!r} needs numba, which cannot be loaded here; reinstall it, "
                "or choose another recoding"
            ) from None

    @abstractmethod
    def _best(
        self, problem: Problem, confined: Problem, refine: Sequence[str], seed: int, run: Run
    ) -> tuple[Regions, SearchResult]:
        """The best classes of a problem that is confined to large ones."""

    def _unreachable(self, problem: Problem) -> PolicyUnreachableError:
        return unreachable(problem, self._bounds, "not even all records as one class satisfy")


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
        from anonymizer.recoding.boxes import best_boxes  # compiled

        exact = self.refinement == "exact"
        found = best_boxes(confined, refine, self._options, self._bounds, exact=exact, run=run)
        if found is None:
            raise self._unreachable(problem)
        score = problem.objective(found.counts)
        result = _result_of(problem, found.strategy, score, score + found.lead, found.trees)
        return found.regions, replace(result, explained=found.explained)


@dataclass(frozen=True)
class MergedCells(Multidimensional):
    """Cells of the grid are merged into classes in any way; a column tells the classes apart.

    Parameters are those of all multidimensional recodings: refine, min_width, grid, max_classes,
    min_records, min_gain. The released table has a column ``class``, since labels may overlap.
    """

    name: ClassVar[str] = "merged-cells"
    numbered: ClassVar[bool] = True

    def _best(
        self, problem: Problem, confined: Problem, refine: Sequence[str], seed: int, run: Run
    ) -> tuple[Regions, SearchResult]:
        from anonymizer.recoding.merged_cells import MergeOptions, merge_cells  # compiled
        from anonymizer.recoding.merged_cells.initial import InitialCells

        deadline = run.deadline()
        if self.min_gain:
            atoms = InitialCells.boxes(problem, refine, self._options, self.min_gain, run)
            confined = replace(confined, objective=Priced(problem.objective, self.min_gain))
        else:
            atoms = InitialCells.cells(problem, refine, self._options)
        run = run.until(deadline)
        try:
            options = MergeOptions(self.max_classes)
            found = merge_cells(atoms.problem(confined), options, seed, run)
        except PolicyUnreachableError:
            raise self._unreachable(problem) from None
        regions = atoms.regions(problem, found.labels)
        score = problem.objective(problem.counts.recode(regions))
        result = _result_of(problem, "merging", score, inf, found.starts)
        done = "Cells were merged and moved between classes"
        return regions, replace(result, explained=done, caution=CHANCE)


def _result_of(
    problem: Problem, strategy: str, score: float, most: float, tries: int
) -> SearchResult:
    """How classes were found; ``most``: what no others can score more than."""

    def quantity(score: float) -> float:
        return problem.objective.stated(score, problem.counts.records)

    known = most < inf
    return SearchResult(
        strategy=strategy,
        objective=problem.objective.name,
        value=quantity(score),
        gap=abs(quantity(most) - quantity(score)) if known else None,
        nodes=0,
        checked=tries,
        feasible=None,
        minimal=None,
        refinements=0,
        proven=known and most <= score + TOLERANCE,
        bound=quantity(most) if known else None,
    )
