"""Recodings that give each attribute a partition of its own: ranges, cuts and groupings (A1*)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal

from anonymizer.counts.counts import Partitions
from anonymizer.errors import InputError, column_names, did_you_mean, function_of, name_of
from anonymizer.hierarchy import Taxonomy
from anonymizer.privacy import require_class_by_class, require_monotone
from anonymizer.recoding.full_domain.solve import SEARCHES
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.partitions.groups import Ranges
from anonymizer.recoding.partitions.joint import refine_within, within_bounds
from anonymizer.recoding.partitions.refine import REFINEMENTS, Cutting, Refiner
from anonymizer.recoding.problem import Problem, RangeOptions, Run, Search
from anonymizer.recoding.recoding import SearchResult

Refinement = Literal["exact", "heuristic"]
FrontierSearch = Literal["automatic", "bisection", "top-down", "incognito", "exhaustive"]


@dataclass(frozen=True)
class VariableRange(Generalization):
    """Ordered attributes get ranges of their own, the best over all levels of the others (A1*).

    Parameters
    ----------
    refine
        The attributes that get ranges; all ordered ones when left out.
    group
        Attributes of few values that are grouped in any way.
    max_ranges, min_width, grid
        Largest number of ranges; least width of one; number that they begin at multiples of.
    max_classes, min_records, min_gain
        Largest number of classes; fewest records of a class; least gain in the objective (bits) by
        each further class.
    refinement
        ``"exact"``, or ``"heuristic"``, which moves the boundaries of level 1 (Bezzi 2010); or a
        function like them.
    search
        How the feasible nodes of the lattice are found, which all give the same: see
        :class:`FullDomain`.
    """

    name: ClassVar[str] = "variable-range"
    cuts: ClassVar[bool] = False
    over_levels: ClassVar[bool] = True

    refine: Sequence[str] | None = None
    group: Sequence[str] = ()
    max_ranges: int | None = None
    min_width: float | None = None
    grid: float | None = None
    max_classes: int | None = None
    min_records: int | None = None
    min_gain: float = 0.0
    refinement: Refinement | Cutting = "exact"
    search: FrontierSearch | Search = "automatic"

    def __post_init__(self) -> None:
        super().__post_init__()
        refine = None if self.refine is None else column_names("refine", self.refine)
        for name in refine or ():
            if name in column_names("group", self.group):
                raise InputError(f"{name!r} gets ranges or groups: name it in refine or in group")
        if refine == () and not self.cuts:
            raise InputError(
                "refine is empty: name the attributes that get ranges, or leave it out"
            )
        # Names that nothing is known by are refused when the options are made.
        _ = self._cutting, self._search

    @property
    def _cutting(self) -> Cutting:
        return function_of("refinement", self.refinement, REFINEMENTS)

    @property
    def _search(self) -> Search:
        return function_of("search", self.search, SEARCHES)

    def solve(self, problem: Problem, seed: int, run: Run) -> tuple[Partitions, SearchResult]:
        """Find the best partitions of all attributes, ranges for some of them."""
        group = quasi_identifiers("group", self.group, problem.taxonomies)
        refine = self._attributes(problem.taxonomies)
        refiner = Refiner(problem.objective, self.ranges, self._cutting, self.cuts, group)
        require_class_by_class(problem.models, refiner.name)
        require_monotone(problem.models, refiner.name)
        # For its refusals alone, before a search: what cuts prepares nothing.
        problem.objective.prepared(problem.counts, problem.taxonomies)
        confined = within_bounds(problem, self.bounds)
        nodes = self._search(confined, run)
        if not nodes.minimal:
            raise self.unreachable(problem, "no node of the lattice satisfies")
        refined = refine_within(confined, refine, refiner, self.bounds, self._search, run)
        if refined.value == -inf:
            raise self.unreachable(problem, f"no {refiner.name} satisfies")
        # A search that somebody brought may have left feasible nodes out.
        known = refined.bound < inf and self._search in SEARCHES.values()
        score = problem.objective(refined.counts)
        return refined.recoding, SearchResult.of(
            confined,
            nodes.strategy or name_of(self.search),
            score,
            score + (refined.bound - refined.value) if known else inf,
            nodes,
            checked=nodes.checked + refined.checked,
            refinements=refined.refinements,
            proven=known and refined.proven,
            grids=grids_of(problem, [name for name in refine if name not in group], self.ranges),
        )

    def _attributes(self, taxonomies: Mapping[str, Taxonomy]) -> tuple[str, ...]:
        """Return the attributes that get ranges."""
        chosen = attributes_to_refine(self.refine, taxonomies)
        if not chosen and not self.cuts:
            raise InputError(
                f"{self.name} recoding needs an ordered attribute: one with a hierarchy of "
                "numbers, ranges, a calendar or an order; none of the quasi-identifiers has one"
            )
        return chosen


@dataclass(frozen=True)
class Cut(VariableRange):
    """Variable ranges, and all other attributes cut through their taxonomies at several depths.

    Parameters are those of :class:`VariableRange`.
    """

    name: ClassVar[str] = "cut"
    cuts: ClassVar[bool] = True


def grids_of(problem: Problem, attributes: Sequence[str], options: RangeOptions) -> dict[str, int]:
    """Count the cut points of each attribute whose ranges begin at those of a grid."""
    counts, found = problem.counts, {}
    for name in attributes:
        codes = counts.cells[:, counts.names.index(name)]
        ranges = Ranges.of(name, problem.taxonomies[name], codes, options, counts.sizes)
        if ranges.grid is not None:
            found[name] = ranges.grid
    return found


def attributes_to_refine(
    refine: Sequence[str] | None, taxonomies: Mapping[str, Taxonomy]
) -> tuple[str, ...]:
    """Return the named attributes, which are quasi-identifiers; all ordered ones without names."""
    if refine is None:
        return tuple(name for name, taxonomy in taxonomies.items() if taxonomy.ordered)
    return quasi_identifiers("refine", refine, taxonomies)


def quasi_identifiers(
    option: str, names: Sequence[str], taxonomies: Mapping[str, Taxonomy]
) -> tuple[str, ...]:
    """Return the quasi-identifiers that an option names, each once."""
    named = column_names(option, names)
    for name in named:
        if name not in taxonomies:
            hint = did_you_mean(str(name), taxonomies)
            raise InputError(f"{option} names {name!r}, which is no quasi-identifier{hint}")
    return tuple(dict.fromkeys(named))
