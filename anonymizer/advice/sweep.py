"""The frontier of t or l against what is kept: one count of the table, one search per threshold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, floor, log10

import numpy as np

from anonymizer.advice.changes import with_threshold
from anonymizer.advice.space import Disclosure, Space, disclosure_in
from anonymizer.counts.counts import Classes, Counts
from anonymizer.errors import PolicyUnreachableError
from anonymizer.information.entropy import mutual_information
from anonymizer.privacy import (
    TOLERANCE,
    EntropyLDiversity,
    PrivacyModel,
    TCloseness,
    about_each,
    judged_classes,
    measures_of,
)
from anonymizer.recoding.apply import Evaluation
from anonymizer.recoding.classes import Boxes
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.ranges import VariableRange
from anonymizer.release.results import Result
from anonymizer.release.warnings import NEARLY

POINTS = 20
"""Thresholds of a sweep at the most."""

STEPS = 1.0, 2.0, 2.5, 5.0, 10.0
"""Steps that people count by, up to a power of ten: of l, which lies between two bounds."""

SERIES = 8.0, 6.0, 5.0, 4.0, 3.0, 2.5, 2.0, 1.5, 1.2, 1.0
"""Round numbers of a decade: of t, of which half as much means about as much wherever it starts."""

MOST_CELLS, MOST_NODES = 20_000, 1_000
"""Raw classes, and nodes of the lattice, up to which ranges are searched at every threshold.

A search then takes 0.1 s; of 27,000 classes and 110,000 nodes it took 8 s, levels 0.1 s. Boxes that
are not refined take 0.3 s for 4,000 classes.
"""

SWEPT: Mapping[str, PrivacyModel] = {
    TCloseness.name: TCloseness(0.0, distance="kl"),
    EntropyLDiversity.name: EntropyLDiversity(1.0),
}
"""The models that are swept, by name; the first where a study has none of them."""


@dataclass(frozen=True)
class ThresholdPoint(Result):
    """Information and disclosure of the best recoding under one threshold.

    Parameters
    ----------
    threshold
        Of the swept model; None for the policy without it.
    classes, smallest
        Equivalence classes, and records of the smallest.
    retained
        I(X~;W) about the swept attribute, in bits.
    kept
        The same as a share of what the policy without the model keeps; 1 where that is nothing.
    value
        The study's objective, in its unit.
    disclosure
        What the classes disclose.
    """

    threshold: float | None
    classes: int
    smallest: int
    retained: float
    kept: float
    value: float
    disclosure: Disclosure


@dataclass(frozen=True)
class Sweep(Result):
    """The frontier of one model about one sensitive attribute.

    Parameters
    ----------
    attribute
        The sensitive attribute.
    model, parameter, distance
        What is swept: ``t-closeness`` by its ``t`` (and the distance), or ``entropy-l-diversity``
        by its ``l``.
    recoding
        How the table was recoded for it.
    original
        I(X;W) of the raw quasi-identifiers, in bits.
    points
        From the policy without the model to the strictest threshold.
    suggested
        The place of the suggested point; None where no threshold makes guesses less likely.
    held
        The models that stay as they are.
    not_swept
        Those of them that are about the attribute, too.
    complete
        False where the time was up before all points were known.
    """

    attribute: str
    model: str
    parameter: str
    distance: str | None
    recoding: str
    original: float
    points: tuple[ThresholdPoint, ...]
    suggested: int | None
    held: tuple[str, ...]
    not_swept: tuple[str, ...]
    complete: bool

    derived = ("meaning",)

    @property
    def suggestion(self) -> ThresholdPoint | None:
        """The suggested point."""
        return None if self.suggested is None else self.points[self.suggested]

    @property
    def setting(self) -> str:
        """The suggested threshold as a study has it; empty where there is none."""
        point = self.suggestion
        if point is None:
            return ""
        distance = f'distance = "{self.distance}", ' if self.distance else ""
        return f"{distance}{self.parameter} = {point.threshold:g}"

    @property
    def meaning(self) -> str:
        """The meaning of the suggested point, in one sentence."""
        point = self.suggestion
        if point is None:
            return f"no {self.parameter} of {self.model} makes {self.attribute} harder to guess"
        share = point.retained / self.original if self.original > TOLERANCE else 1.0
        return (
            f"{self.model} with {self.setting}: nobody's {self.attribute} can be guessed with "
            f"a probability above {_up(point.disclosure.worst):.2f} "
            f"({_up(self.points[0].disclosure.worst):.2f} without it); {point.kept:.0%} of the "
            f"information that the rest of the policy leaves is kept ({share:.0%} of the table's)"
        )


@dataclass(frozen=True, eq=False)
class Sweeper:
    """Search of one model's thresholds about one attribute, the other models being held.

    ``space`` is the whole lattice. ``recoding`` is that of the study where it is searched quickly,
    None: levels. ``known`` are the points that were searched for.
    """

    space: Space
    attribute: str
    swept: PrivacyModel
    held: Sequence[PrivacyModel]
    recoding: Generalization | None
    seed: int
    known: dict[float | None, ThresholdPoint | None] = field(default_factory=dict, repr=False)

    def points(self) -> Iterator[ThresholdPoint]:
        """Search the loosest point, then one per threshold that can be satisfied, ever stricter."""
        first = self.at(None)
        if first is None:
            return
        yield first
        for threshold in self._thresholds():
            point = self.at(threshold)
            if point is None:
                return
            yield point
            if point.retained <= TOLERANCE:  # stricter ones keep nothing either
                return

    def at(self, threshold: float | None) -> ThresholdPoint | None:
        """Return the point of a threshold, None where it cannot be satisfied; searched for once.

        A sweep that was interrupted thus goes on where it was.
        """
        if threshold not in self.known:
            loosest = None if threshold is None else self.at(None)
            most = None if loosest is None else loosest.retained
            self.known[threshold] = self._point(threshold, most)
        return self.known[threshold]

    def _thresholds(self) -> list[float]:
        """Return round numbers between what holds without the model and what no recoding satisfies.

        A class in which everybody misses the value holds under no threshold.
        """
        found = measures_of(self.swept, self._classes[None])
        found = found[np.isfinite(found)]
        if not len(found):
            return []
        loosest = self.swept.worst(found)
        if not self.swept.at_least:
            return round_series(loosest)
        whole = self.space.problem.counts.project(())
        classes = judged_classes(self.swept, whole, self.attribute).occupied
        return round_steps(loosest, float(measures_of(self.swept, classes)[0]))

    @cached_property
    def _classes(self) -> dict[float | None, Classes]:
        """The classes at each threshold, as the swept model judges them."""
        return {}

    def _point(self, threshold: float | None, most: float | None) -> ThresholdPoint | None:
        """Search the best recoding under a threshold; None where there is none."""
        swept = [] if threshold is None else [with_threshold(self.swept, threshold)]
        self.space.run.watch(f"sweeping {self.swept.name}", len(self._classes), None)
        found = self._best([*self.held, *swept])
        if found is None:
            return None
        evaluation, value, shown = found
        classes = evaluation.classes
        judged = judged_classes(self.swept, shown, self.attribute)
        self._classes[threshold] = replace(judged, population=None)
        retained = evaluation.retained([self.attribute])
        most = retained if most is None else most
        return ThresholdPoint(
            threshold,
            len(classes),
            int(classes.sizes.min()),
            retained,
            min(retained / most, 1.0) if most > TOLERANCE else 1.0,
            value,
            disclosure_in(shown, self.attribute),
        )

    def _best(self, models: Sequence[PrivacyModel]) -> tuple[Evaluation, float, Counts] | None:
        """Search the best recoding under a policy, and evaluate it with the study's objective.

        The counts are those that a release shows: with which rows are of one person, where it does.
        """
        space = self.space.under(models)
        if self.recoding is not None:
            return self._best_recoding(self.recoding, space)
        entry = space.best()
        if entry is None:
            return None
        found = space.evaluation(space.candidate(entry[2]))
        there = found.classes.select(found.classes.sizes > 0)
        shown = space.shown(entry[2], there)
        return replace(found, classes=there), space.quantity(entry[0]), shown

    def _best_recoding(
        self, recoding: Generalization, space: Space
    ) -> tuple[Evaluation, float, Counts] | None:
        try:
            chosen, search = recoding.choose(space.problem, self.seed, space.run)
        except PolicyUnreachableError:
            return None
        found = Evaluation.of(space.problem, chosen)
        return found, search.value or 0.0, found.classes


def sweeper_of(
    space: Space,
    attribute: str,
    name: str | None,
    recoding: Generalization,
    seed: int,
) -> Sweeper:
    """Sweep the model named about an attribute, else the study's own, else t-closeness."""
    models = about_each(space.problem.models, space.problem.counts.sensitive)
    swept, held = swept_of(models, attribute, name)
    own_recoding = recoding if is_quick(recoding, space) else None
    return Sweeper(space, attribute, swept, held, own_recoding, seed)


def swept_of(
    models: Sequence[PrivacyModel], attribute: str, name: str | None
) -> tuple[PrivacyModel, list[PrivacyModel]]:
    """Divide a policy into the model that is swept about an attribute and those held.

    ``models`` are about one attribute each; ``name`` as of ``sweeper_of``.
    """
    known = [SWEPT[name].name] if name else list(SWEPT)
    about = [model for model in models if model.attribute == attribute]
    own = [model for each in known for model in about if model.name == each and model.monotone]
    swept = own[0] if own else replace(SWEPT[known[0]], attribute=attribute)  # type: ignore[type-var]
    return swept, [model for model in models if model is not swept]


def is_quick(recoding: Generalization, space: Space) -> bool:
    """Whether a recoding beyond levels can be searched for at every threshold."""
    if len(space.problem.counts) > MOST_CELLS:
        return False
    if isinstance(recoding, Boxes):
        return recoding.refinement == "heuristic"
    return isinstance(recoding, VariableRange) and space.problem.lattice.size <= MOST_NODES


def sweep_of(sweeper: Sweeper, points: tuple[ThresholdPoint, ...], complete: bool) -> Sweep:
    """Return the sweep of some points."""
    about = [each for each in sweeper.held if each.attribute == sweeper.attribute]
    counts = sweeper.space.problem.counts
    return Sweep(
        attribute=sweeper.attribute,
        model=sweeper.swept.name,
        parameter=sweeper.swept.bounded_by,
        distance=getattr(sweeper.swept, "distance", None),
        recoding=sweeper.recoding.name if sweeper.recoding else "full-domain",
        original=mutual_information(counts.joint[sweeper.attribute]),
        points=points,
        suggested=suggested_of(points),
        held=tuple(_described(model) for model in sweeper.held),
        not_swept=tuple(_described(model) for model in about),
        complete=complete,
    )


def suggested_of(points: Sequence[ThresholdPoint]) -> int | None:
    """Find the knee: the largest product of what is kept and of how much safer it is.

    Kept is the share of the information that the policy without the model keeps. Safer is how much
    less likely the best guess is than without the model, as a share of what could be gained: down
    to guessing without any class. To double the one at the price of half of the other is no gain.
    Both ends of the frontier have a product of 0. Of equals the looser one is suggested. Points at
    which somebody's value can still be guessed with 80 % are passed over where there are others.

    None where no point keeps anything and is safer.
    """
    worth = {place: point.kept * _safer(points, point) for place, point in enumerate(points)}
    some = [place for place in worth if worth[place] > TOLERANCE]
    fine = [place for place in some if points[place].disclosure.worst < NEARLY]
    return max(fine or some, key=lambda place: worth[place], default=None)


def _safer(points: Sequence[ThresholdPoint], point: ThresholdPoint) -> float:
    first = points[0].disclosure
    most = first.worst - first.prior
    return (first.worst - point.disclosure.worst) / most if most > TOLERANCE else 0.0


def round_steps(low: float, high: float) -> list[float]:
    """Return round numbers strictly between two, fewer than ``POINTS``, ascending.

    >>> round_steps(0.0, 0.05)[:3], len(round_steps(0.0, 0.05))
    ([0.0025, 0.005, 0.0075], 19)
    >>> round_steps(1.0, 1.0)
    []
    """
    if high - low <= TOLERANCE:
        return []
    least = (high - low) / POINTS
    power = 10.0 ** floor(log10(least))
    step = next(each * power for each in STEPS if each * power >= least - TOLERANCE)
    first, last = floor(low / step) + 1, ceil(high / step) - 1
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]


def round_series(below: float) -> list[float]:
    """Return round numbers below one, fewer than ``POINTS``, descending.

    >>> round_series(0.31)[:8]
    [0.3, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06]
    """
    if below <= TOLERANCE:
        return []
    power = floor(log10(below))
    numbers = [float(f"{each}e{power - step}") for step in range(3) for each in SERIES]
    return [each for each in numbers if each < below][: POINTS - 1]


def _described(model: PrivacyModel) -> str:
    about = f" about {model.about}" if model.about else ""
    given = f" ({model.bounded_by} = {model.threshold:g})" if model.bounded_by else ""
    return f"{model.name}{given}{about}"


def _up(share: float) -> float:
    return min(ceil(share * 100 - TOLERANCE) / 100, 1.0)
