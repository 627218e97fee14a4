"""One recoding, fitted on one half of a table, and what both halves say of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.counts.counts import Counts, Grouping, Partitions, row_keys
from anonymizer.information.entropy import mutual_information, mutual_information_miller_madow
from anonymizer.privacy import TOLERANCE, Mask
from anonymizer.recoding import Problem, Run
from anonymizer.recoding.generalization import Generalization, all_hidden, suppressed_of
from anonymizer.release.information import ceiling
from anonymizer.release.results import Result
from anonymizer.utility.comparison.sweep import SweepPoint


@dataclass(frozen=True)
class Half(Result):
    """The information in the records of one half, recoded, in bits.

    Where some are suppressed and left out it is that of the records that would be released.
    Records that the recoding has no class for, ``uncovered``, are evaluated as one class together.
    """

    derived = ("loss",)

    records: int
    classes: int  # that they fall in
    original: float  # I(X;W) of the raw quasi-identifiers
    ceiling: float  # the most that any recoding can keep under the policy
    retained: float  # I(X~;W) of the recoded ones: the plug-in estimate
    miller_madow: float  # the same, corrected for what small classes pretend
    uncovered: int
    satisfied: bool  # every model for every class

    @property
    def loss(self) -> float:
        """1 - retained / original; 0 where there was nothing to lose."""
        return 1 - self.retained / self.original if self.original > TOLERANCE else 0.0


@dataclass(frozen=True)
class Fit(Result):
    """A recoding that was fitted on one half."""

    recoding: str
    parameters: SweepPoint  # the swept ones of the policy
    proven: bool  # whether no other recoding of its kind is better on the fitted half
    fitted: Half  # what it was chosen by
    held_out: Half  # the half that had no say in it


def fit_of(
    recoding: Generalization,
    parameters: SweepPoint,
    problem: Problem,
    second: Counts,
    about: Sequence[str],
    seed: int,
    run: Run,
) -> Fit:
    """Choose a recoding on the half that a problem is about, and evaluate it on both.

    Information ``about`` several attributes is summed.
    """
    chosen, search = recoding.choose(problem, seed, run)
    halves = [replace(problem, counts=counts) for counts in (problem.counts, second)]
    evaluated = [_evaluated(half, chosen, about) for half in halves]
    return Fit(recoding.name, parameters, search.proven, *evaluated)


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


def _evaluated(problem: Problem, recoding: Partitions | Grouping, about: Sequence[str]) -> Half:
    """What the records of a problem tell under a recoding, as they would be released."""
    recoded, uncovered = held_out(recoding, problem.counts)
    raw, classes, satisfied = _suppressed(problem, recoded, recoding)
    return Half(
        records=problem.counts.records,
        classes=classes.occupied,
        original=sum(mutual_information(raw.joint[name]) for name in about),
        ceiling=ceiling(raw, problem.models, about),
        retained=sum(mutual_information(classes.joint[name]) for name in about),
        miller_madow=sum(mutual_information_miller_madow(classes.joint[name]) for name in about),
        uncovered=uncovered,
        satisfied=satisfied,
    )


def _suppressed(
    problem: Problem, recoded: Counts, recoding: Partitions | Grouping
) -> tuple[Counts, Counts, bool]:
    """What would be released, raw and recoded, and whether it satisfies the policy.

    Where records may be suppressed, those of classes that break it are, within the budget.
    """
    raw = problem.counts
    if isinstance(recoding, Grouping) or not problem.suppresses:
        return raw, recoded, problem.feasible(recoded)
    hidden = all_hidden(recoded, recoding)
    found = suppressed_of(recoded, problem.models, problem.suppression, hidden)
    if found is None:
        return raw, recoded, False
    if not found.removed:
        return raw, recoded.merge(found.marks), True
    gone = _falls_in(raw, recoding, recoded.select(found.marks))
    rest = raw.select(~gone)  # as if it were the table
    alone = rest.names, rest.cells, rest.sizes, rest.joint, rest.values, rest.targets
    return Counts.of(*alone, rest.population), recoded.select(~found.marks), True


def _falls_in(raw: Counts, recoding: Partitions, classes: Counts) -> Mask:
    """Which raw combinations of values fall in some classes, shape (combinations,)."""
    columns = zip(raw.names, raw.cells.T, strict=True)
    cells = np.column_stack([recoding[name].representatives[codes] for name, codes in columns])
    keys = row_keys(np.concatenate([classes.cells, cells]))
    return np.isin(keys[len(classes) :], keys[: len(classes)])
