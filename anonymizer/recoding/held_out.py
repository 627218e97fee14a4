"""What a recoding makes of records that had no say in it, and whether its policy holds there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from anonymizer.counts.counts import Counts, Grouping, Partitions, row_keys
from anonymizer.kernels.arrays import Ints, Mask
from anonymizer.privacy import acceptable
from anonymizer.recoding.generalization import Generalization, all_hidden, suppressed_of
from anonymizer.recoding.problem.problem import Problem

MOST_NEEDED = 0.5
"""Share of the records of a half beyond which no suppression, and no class size, is suggested."""

DIGITS = 1000
"""Shares of records to be suppressed are rounded up to 1 / 1000."""


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The records of a problem under a recoding, as they would be released.

    ``raw`` are the records released, as they were, ``classes`` the same recoded. Records that the
    recoding has no class for, ``uncovered``, are one class together. ``broken`` (classes,) marks
    those that break the policy.
    """

    problem: Problem
    recoding: Partitions | Grouping
    raw: Counts
    classes: Counts
    uncovered: int
    broken: Mask

    @classmethod
    def of(cls, problem: Problem, recoding: Partitions | Grouping) -> "Evaluated":
        """Recode the records of a problem, and suppress within the budget what breaks the policy.

        Where records would have to be suppressed beyond it, none is.
        """
        recoded, uncovered = held_out(recoding, problem.counts)
        raw, classes = _suppressed(problem, recoded, recoding)
        broken = ~acceptable(classes, problem.models)
        return cls(problem, recoding, raw, classes, uncovered, broken)

    @property
    def satisfied(self) -> bool:
        """Whether every class satisfies every model."""
        return not self.broken.any()

    @property
    def records_broken(self) -> int:
        """The records of classes that break the policy."""
        return int(self.classes.sizes[self.broken].sum())

    @cached_property
    def suppression_needed(self) -> float | None:
        """The share of the records whose suppression would mend it; None where there is none.

        Rounded up. Only for partitions, next to whose classes records can be suppressed.
        """
        if isinstance(self.recoding, Grouping):
            return None
        recoded = self.problem.counts.recode(self.recoding)
        budget = replace(self.problem.suppression, share=MOST_NEEDED)
        hidden = all_hidden(recoded, self.recoding)
        found = suppressed_of(recoded, self.problem.models, budget, hidden)
        return None if found is None else ceil(found.records / recoded.records * DIGITS) / DIGITS

    def min_records_needed(self, fitted: "Evaluated") -> int | None:
        """More records than any class has in the ``fitted`` half that breaks the policy here.

        None where a class without records there does, or one of most of them.
        """
        sizes = _sizes_in(fitted, self)[self.broken]
        if not len(sizes) or not sizes.all():
            return None
        least = int(sizes.max()) + 1
        return least if least <= MOST_NEEDED * fitted.problem.counts.records else None


def needs(recoding: Generalization, fitted: Evaluated, other: Evaluated) -> Mapping[str, float]:
    """By option of a recoding the value that would have kept the policy on records held out.

    Each alone, of the recoding as it was fitted; options that it lacks are left out.
    """
    if other.satisfied:
        return {}
    found: dict[str, float | None] = {}
    if hasattr(recoding, "min_records") and not recoding.budget.share:
        found["min_records"] = other.min_records_needed(fitted)
    if hasattr(recoding, "suppression") and not recoding.bounds.requested:
        found["suppression"] = other.suppression_needed
    return {name: value for name, value in found.items() if value is not None}


def held_out(recoding: Partitions | Grouping, counts: Counts) -> tuple[Counts, int]:
    """The classes of records that had no say in a recoding, and how many it does not cover.

    Those that it does not cover are one class together, which costs what they tell but keeps them
    in every figure. Partitions cover all: the values of both halves are known to them.
    """
    if not isinstance(recoding, Grouping):
        return counts.recode(recoding), 0
    class_of = recoding.class_of(counts.cells)
    unknown = class_of < 0
    together = np.where(unknown, class_of.max(initial=0) + 1, class_of)
    return counts.grouped(together), int(counts.sizes[unknown].sum())


def _suppressed(
    problem: Problem, recoded: Counts, recoding: Partitions | Grouping
) -> tuple[Counts, Counts]:
    """What would be released, raw and recoded: classes that break the policy being suppressed."""
    raw = problem.counts
    if isinstance(recoding, Grouping) or not problem.suppresses:
        return raw, recoded
    hidden = all_hidden(recoded, recoding)
    found = suppressed_of(recoded, problem.models, problem.suppression, hidden)
    if found is None:
        return raw, recoded
    if not found.removed:
        return raw, recoded.merge(found.marks)
    gone = _falls_in(raw, recoding, recoded.select(found.marks))
    kept = recoded.select(~found.marks)
    return _as_a_table(raw.select(~gone)), _as_a_table(kept)


def _as_a_table(rest: Counts) -> Counts:
    """Some classes as if they were the table."""
    alone = rest.names, rest.cells, rest.sizes, rest.joint, rest.values, rest.targets
    return Counts.of(*alone, rest.population, rest.gaps)


def _falls_in(raw: Counts, recoding: Partitions, classes: Counts) -> Mask:
    """Which raw combinations of values fall in some classes, shape (combinations,)."""
    columns = zip(raw.names, raw.cells.T, strict=True)
    cells = np.column_stack([recoding[name].representatives[codes] for name, codes in columns])
    keys = row_keys(np.concatenate([classes.cells, cells]))
    return np.isin(keys[len(classes) :], keys[: len(classes)])


def _sizes_in(fitted: Evaluated, other: Evaluated) -> Ints:
    """How many records each class of one half has in the other, shape (classes of the one,)."""
    known, classes, recoding = fitted.classes, other.classes, other.recoding
    if isinstance(recoding, Grouping):
        keys = recoding.class_of(np.concatenate([known.cells, classes.cells]))
    else:
        keys = row_keys(np.concatenate([known.cells, classes.cells]))
    sizes = np.zeros(int(keys.max(initial=0)) + 2, np.int64)  # one more, for those not covered
    here = keys[: len(known)]
    sizes[here] = known.sizes
    return np.asarray(sizes[keys[len(known) :]])


def evaluated(
    problem: Problem, second: Counts, recoding: Partitions | Grouping
) -> tuple[Evaluated, Evaluated]:
    """A recoding on the half that a problem is about, and on the other one."""
    first = Evaluated.of(problem, recoding)
    return first, Evaluated.of(replace(problem, counts=second), recoding)
