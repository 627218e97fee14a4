"""One recoding, fitted on one half of a table, and what both halves say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anonymizer.counts.counts import Counts
from anonymizer.information.entropy import mutual_information_miller_madow
from anonymizer.recoding import Problem, Run
from anonymizer.recoding.evaluation import Evaluation
from anonymizer.recoding.generalization import Generalization
from anonymizer.release.information import ceiling, lost
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
    broken: int  # classes that break a model
    records_broken: int  # records of these
    failing: tuple[str, ...] = ()  # models that these break

    @property
    def loss(self) -> float | None:
        """1 - retained / original; None, not determined, where there was nothing to lose."""
        return lost(self.retained, self.original)


@dataclass(frozen=True)
class Fit(Result):
    """A recoding that was fitted on one half."""

    recoding: str
    parameters: SweepPoint  # the swept ones of the policy
    objective: str  # what was maximised
    proven: bool  # whether no other recoding of its kind is better on the fitted half
    fitted: Half  # what it was chosen by
    held_out: Half  # the half that had no say in it
    needs: Mapping[str, float]  # options that would have kept the policy there: see ``needs``


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
    first = Evaluation.of(problem, chosen)
    other = first.on(second)
    return Fit(
        recoding.name,
        parameters,
        problem.objective.name,
        search.proven,
        _half(first, about),
        _half(other, about),
        needs(recoding, first, other),
    )


def _half(half: Evaluation, about: Sequence[str]) -> Half:
    """What the records of a half tell under a recoding, as they would be released."""
    joint, failing = half.classes.joint, () if half.satisfied else half.verdicts
    return Half(
        records=half.problem.counts.records,
        classes=half.classes.occupied,
        original=half.original(about),
        ceiling=ceiling(half.raw, half.problem.models, about),
        retained=half.retained(about),
        miller_madow=sum(mutual_information_miller_madow(joint[name]) for name in about),
        uncovered=half.uncovered,
        satisfied=half.satisfied,
        broken=int(half.broken.sum()),
        records_broken=half.records_broken,
        failing=tuple(dict.fromkeys(each.model.name for each in failing if not each.satisfied)),
    )


def needs(recoding: Generalization, fitted: Evaluation, other: Evaluation) -> Mapping[str, float]:
    """By option of a recoding the value that would have kept the policy on records held out.

    Each alone, of the recoding as it was fitted, and only options that it has.
    """
    if other.satisfied:
        return {}
    found: dict[str, float | None] = {}
    if hasattr(recoding, "min_records") and not recoding.budget.share:
        found["min_records"] = other.min_records_needed(fitted)
    if hasattr(recoding, "suppression") and not recoding.bounds.requested:
        found["suppression"] = other.suppression_needed
    return {name: value for name, value in found.items() if value is not None}
