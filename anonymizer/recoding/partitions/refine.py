"""How attributes are cut and what comes of it."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from typing import Any

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.errors import InputError
from anonymizer.objectives import Objective
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.partitions.families import Family, Judge, Path, PricedObjective, Segments
from anonymizer.recoding.partitions.groups import Cuts, Ranges, Subsets, TaxonomyLevels
from anonymizer.recoding.problem import Problem, RangeOptions

TIE = 1e-12
"""Bits by which a move of the heuristic has to help."""

Cutting = Callable[[Segments, Ranges], Path | None]
"""Chooses among the ranges of an ordered attribute, each judged."""


def cut_exactly(segments: Segments, ranges: Ranges) -> Path | None:
    """Choose the best ranges, by dynamic programming."""
    return segments.best()


def cut_heuristically(segments: Segments, ranges: Ranges) -> Path | None:
    """Choose ranges by the heuristic of Bezzi (2010, section 4), from the first level on.

    Moves one boundary at a time to where fewest classes break a model and, among those, the
    objective is highest, until no move helps; a partition that still breaks loses the boundary
    whose removal helps most. Ends in a local optimum, None where not even one range holds: here for
    comparison. It knows no bound on the number or the width of the ranges: either is refused.

    A range may be used when every class inside it (one for each combination of the other
    attributes) satisfies every model. That is *not* monotone in its length: a union of an
    acceptable and an unacceptable range may be either. So all v (v + 1) / 2 are judged beforehand.
    """
    confined = ranges.options.max_ranges, ranges.options.min_width
    if confined != (None, None) or ranges.taxonomy.bounded:
        raise InputError("the heuristic refinement can be confined by a grid alone; use 'exact'")
    if not ranges.blocks:
        return None

    def merit(cuts: Sequence[int]) -> tuple[int, float]:  # minus the classes that break a model
        path = list(ranges.path(cuts))
        return -int(segments.violations[path].sum()), float(segments.gains[path].sum())

    moved = level_ranges(ranges, 1)
    while True:
        moved = _settled(merit, ranges.blocks, moved)
        if merit(moved)[0] == 0 and segments.ungrouped is not None:
            return ranges.path(moved)
        if len(moved) == 1:
            return None
        moved = max(([*moved[:i], *moved[i + 1 :]] for i in range(1, len(moved))), key=merit)


def level_ranges(ranges: Ranges, level: int) -> list[int]:
    """The cuts that come nearest to a level of the taxonomy: wherever its group changes."""
    numbers = ranges.taxonomy.numbers or ()
    known = sorted((number, code) for code, number in enumerate(numbers) if number is not None)
    groups = ranges.taxonomy.levels[level].groups[[code for _, code in known]]
    place = [bisect_left(known, (start, -1)) for start in ranges.points]
    return [0, *(i for i in range(1, ranges.blocks) if groups[place[i]] != groups[place[i] - 1])]


def _settled(merit: Callable[[Sequence[int]], Any], blocks: int, cuts: list[int]) -> list[int]:
    """Move boundaries one by one while that helps."""
    improved = True
    while improved:
        improved = False
        for i in range(1, len(cuts)):
            end = cuts[i + 1] if i + 1 < len(cuts) else blocks
            options = [[*cuts[:i], cut, *cuts[i + 1 :]] for cut in range(cuts[i - 1] + 1, end)]
            better = max(options, key=merit)
            broken, value = merit(cuts)
            if merit(better) > (broken, value + TIE):
                cuts, improved = better, True
    return cuts


REFINEMENTS: Mapping[str, Cutting] = {"exact": cut_exactly, "heuristic": cut_heuristically}
"""What a study file calls each way to cut; the first is the default."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """A recoding found at a price on each of its classes.

    ``value`` is the objective less that price. No other recoding of its kind has a value above
    ``bound``, which is infinite where it is not known, or above ``value`` where that is ``proven``.
    ``refinements``: how many times an attribute, or two, were cut, or a tree was searched for.
    """

    value: float
    classes: int
    bound: float = inf
    refinements: int = 1
    proven: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Refined(Solution):
    """A recoding found by cutting: a partition of every quasi-identifier, in their order.

    ``counts`` are what it leaves, and ``checked`` how many nodes of a lattice were checked for it.
    """

    recoding: Partitions
    counts: Counts
    checked: int = 0

    def or_better(self, other: "Refined") -> "Refined":
        """The one of the higher value; among ties the one of more classes, then this one."""
        if abs(self.value - other.value) <= TOLERANCE:
            return other if other.classes > self.classes else self
        return other if other.value > self.value else self

    @classmethod
    def among(cls, found: Sequence["Refined"]) -> "Refined":
        """The best of some local optima, with the work that went into all; not proven."""
        best = reduce(cls.or_better, found)
        return replace(
            best,
            bound=max(best.value, min(each.bound for each in found)),
            refinements=sum(each.refinements for each in found),
            checked=sum(each.checked for each in found),
            proven=False,
        )


@dataclass(frozen=True, eq=False)
class Refiner:
    """The objective, the partitions that each attribute may have, and the way to cut ranges.

    ``options`` are what ranges are confined to, and ``cutting`` is how they are chosen. With
    ``cuts``, attributes that get no ranges are cut through their taxonomies, not recoded to a
    level. The values of the attributes in ``group`` are put together in any way. Each class has a
    ``cost``, in the objective's unit.
    """

    objective: Objective
    options: RangeOptions = RangeOptions()  # noqa: RUF009 (frozen)
    cutting: Cutting = cut_exactly
    cuts: bool = False
    group: Sequence[str] = ()
    cost: float = 0.0

    @property
    def name(self) -> str:
        """The name of the recoding in messages."""
        return "cut recoding" if self.cuts else "variable-range recoding"

    @property
    def exact(self) -> bool:
        """True where ranges are cut at their best."""
        return self.cutting is cut_exactly

    @property
    def scoring(self) -> Objective:
        """The objective less what the classes cost."""
        return PricedObjective(self.objective, self.cost) if self.cost else self.objective

    def families(self, problem: Problem, ranged: Sequence[str]) -> dict[str, Family]:
        """The partitions that each attribute may have; some get ranges."""
        found: dict[str, Family] = {}
        counts = problem.counts
        for name, codes in zip(counts.names, counts.cells.T, strict=True):
            taxonomy = problem.taxonomies[name]
            if name in ranged and name not in self.group:
                found[name] = Ranges.of(name, taxonomy, codes, self.options, counts.sizes)
            else:
                kind = Subsets if name in self.group else Cuts if self.cuts else TaxonomyLevels
                found[name] = kind.of(name, taxonomy, codes)
        return found

    def best(self, counts: Counts, others: Partitions, segments: Segments) -> Refined:
        """Find the best partition of an attribute, raw in the counts; ties: the one that is cut."""
        family = segments.family
        path = self.cutting(segments, family) if isinstance(family, Ranges) else segments.best()
        cuts = family.suppression if path is None else (family.partition(path),)
        found = [
            self.refined(counts, {**others, family.attribute: partition})
            for partition in (*cuts, *family.without_path)
        ]
        if not found:
            return self.none(counts, {**others, family.attribute: family.taxonomy.levels[-1]})
        return reduce(Refined.or_better, found)

    def none(self, counts: Counts, recoding: Partitions) -> Refined:
        """Return a stand-in worth -inf, where limits allow no recoding."""
        return replace(self.refined(counts, recoding), value=-inf)

    def segments(self, problem: Problem, counts: Counts, family: Family) -> Segments:
        """All groups of an attribute that is raw in the counts."""
        return Segments.of(Judge(problem.models, self.scoring), counts, family)

    def refined(self, counts: Counts, recoding: Partitions) -> Refined:
        """Apply a recoding to counts."""
        merged = counts.recode(recoding)
        return Refined(
            recoding={name: recoding[name] for name in counts.names},
            value=self.scoring(merged),
            classes=len(merged),
            counts=merged,
            proven=self.exact,
        )

    def most(self, counts: Counts, others: Partitions) -> float:
        """Return a bound on all partitions of the remaining attributes next to ``others``.

        They keep no more than the raw attributes do, and leave at least the classes of the others.
        An objective that does not fall when classes merge bounds nothing.
        """
        if not self.objective.falls:
            return inf
        counts = counts.recode(others)
        return self.objective(counts) - self.cost * len(counts.project(tuple(others)))
