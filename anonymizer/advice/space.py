"""What a recoding finds on counts: nodes that satisfy a policy, and what they keep and disclose.

A change of one attribute confines the lattice: its level is at least so high. Branch and bound
begins there, whatever the policy, suppression and size of the lattice, and its answer is proven.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import numpy as np

from anonymizer.counts.counts import Classes, Counts
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.persons import of_items
from anonymizer.hierarchy import ANY
from anonymizer.information.chance import expected
from anonymizer.information.matrices import CountMatrix, largest
from anonymizer.objectives import MutualInformation, Objective
from anonymizer.objectives.attributes import AttributeWise
from anonymizer.objectives.candidate import Candidate
from anonymizer.privacy import TOLERANCE, AverageReidentificationRisk, KAnonymity, PrivacyModel
from anonymizer.recoding.apply import Evaluation, accepts
from anonymizer.recoding.full_domain.branch_and_bound import branch_and_bound
from anonymizer.recoding.full_domain.frontier import MOST_NODES
from anonymizer.recoding.full_domain.solve import solve
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.lattice import Node, level_recoding
from anonymizer.recoding.policy import Suppression
from anonymizer.recoding.problem import Bounds, Problem, Run, Scored
from anonymizer.release.results import Result
from anonymizer.release.warnings import NEARLY


class TimeUpError(Exception):
    """The time for advice is up; what was computed until then stands."""


def within_time(run: Run) -> Run:
    """Return a run whose searches end by ``TimeUpError`` once its time is up.

    A search with a time limit would return what it has found so far, which is no proven answer.
    """
    deadline, watch = run.deadline(), run.watch

    def watching(doing: str, done: int, of: int | None) -> None:
        if monotonic() > deadline:
            raise TimeUpError
        watch(doing, done, of)

    return replace(run, time_limit=None, watch=watching)


@dataclass(frozen=True, eq=False)
class Space:
    """The lattice of a problem under its policy.

    Parameters
    ----------
    problem
        Counts, policy, objective and the budget of suppression.
    run
        How it may be searched.
    fixed
        The levels that are prescribed, where they are: no other node is looked at, but those of
        higher levels that are requested.
    numbered
        Whether a release has a number for each person.
    """

    problem: Problem
    run: Run
    fixed: Node | None = None
    numbered: bool = False
    _others: dict[str, "Space"] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.problem.counts.names

    @property
    def heights(self) -> Node:
        """The highest level of each quasi-identifier."""
        return self.problem.lattice.heights

    @property
    def highest(self) -> Node:
        """The most general node that may be released: the levels given, or the top."""
        return self.heights if self.fixed is None else self.fixed

    def under(self, models: Sequence[PrivacyModel], budget: Suppression | None = None) -> "Space":
        """Return the lattice under another policy, encoded once for both."""
        return replace(self, problem=self.problem.under(models, budget), _others={})

    def without(self, name: str) -> "Space":
        """Return the lattice of the other quasi-identifiers; kept, as it has to be encoded."""
        if name not in self._others:
            self._others[name] = self._without(name)
        return self._others[name]

    def _without(self, name: str) -> "Space":
        rest = tuple(each for each in self.names if each != name)
        objective = objective_of_rest(self.problem.objective, name)
        problem = replace(self.problem.project(rest), objective=objective)
        fixed = None if self.fixed is None else self.others(self.fixed, name)
        return replace(self, problem=problem, fixed=fixed, _others={})

    def best(self, low: Node | None = None) -> Scored | None:
        """Find the best feasible node from some levels upward; None where there is none.

        Ties, within ``TOLERANCE``: more classes, then the lexicographically smallest.

        Raises TimeUpError when the time is up, or the search had to end before it was finished.
        """
        if self.fixed is not None:
            return self.scored(tuple(map(max, self.fixed, low or self.fixed)))
        if self.confines and (low is not None or not self._bisected):
            found = branch_and_bound(self.problem, self.run, low)
        else:
            found = solve(self.problem, "automatic", self.run)
        if found is not None and not found.proven:
            raise TimeUpError
        return None if found is None else self.scored(found.node)

    @property
    def _bisected(self) -> bool:
        # The best node of all is found by bisection: quicker under suppression.
        return self.problem.suppresses and self.problem.lattice.room <= MOST_NODES

    @property
    def confines(self) -> bool:
        """Whether the best node from any levels upward is found, and not only that of all."""
        return self.problem.objective.falls

    def quantity(self, score: float) -> float:
        """Return a score in the unit of the objective."""
        return self.problem.objective.quantity(score, self.problem.counts.records)

    def rest(self, node: Node, name: str) -> float:
        """Score the levels of the other quasi-identifiers, nothing suppressed."""
        if self.problem.objective.levels_only or not self.hides(name):
            return self.without(name).plain(self.others(node, name))
        return self.plain(self.raised(node, name, self.height(name)))

    def others(self, node: Node, name: str) -> Node:
        """Return the levels of the other quasi-identifiers."""
        return tuple(at for each, at in zip(self.names, node, strict=True) if each != name)

    def from_level(self, name: str, level: int) -> Node:
        """Return the lowest node with a quasi-identifier at a level."""
        return self.raised(self.problem.lattice.bottom, name, level)

    def allowing(self, name: str, level: int) -> "Space":
        """Return the lattice with another highest level of a quasi-identifier."""
        known = self.problem.taxonomies
        limits = replace(known[name].limits, max_level=level)
        taxonomies = {**known, name: replace(known[name], limits=limits)}
        problem = replace(self.problem, taxonomies=taxonomies)
        return replace(self, problem=problem, fixed=None, _others={})

    def height(self, name: str) -> int:
        """Return the highest level of a quasi-identifier."""
        return self.heights[self.names.index(name)]

    def level(self, node: Node, name: str) -> int:
        """Return the level of a quasi-identifier at a node."""
        return node[self.names.index(name)]

    def raised(self, node: Node, name: str, level: int) -> Node:
        """Return the node with one quasi-identifier at another level."""
        place = self.names.index(name)
        return (*node[:place], level, *node[place + 1 :])

    def hides(self, name: str) -> bool:
        """Whether the highest level of a quasi-identifier hides it as leaving it out would.

        It is one group, and labelled like a suppressed record where any may be suppressed.
        """
        highest = self.problem.taxonomies[name].levels[self.height(name)]
        return len(highest) == 1 and (bool(highest.hidden.all()) or not self.problem.suppresses)

    def starred(self, node: Node) -> tuple[str, ...]:
        """Return the quasi-identifiers of several values of which a node says nothing."""
        levels = zip(self.names, node, strict=True)
        partitions = [(name, self.problem.taxonomies[name].levels, at) for name, at in levels]
        return tuple(n for n, each, at in partitions if len(each[at]) == 1 < len(each[0]))

    def plain(self, node: Node) -> float:
        """Score a node with nothing suppressed, feasible or not."""
        evaluator = self.problem.evaluator
        return evaluator.objective.score(evaluator.plain(node, evaluator.sets().at(node)))

    def shown(self, node: Node, classes: Counts) -> Counts:
        """Return the classes of a node as a release shows them: with rows that are of one person.

        ``classes``: as they would be released. Where rows are joined nothing is suppressed but
        whole persons, on whom there is no advice: they are those of the node.
        """
        return self.at(node) if joins(self.problem.counts) else classes

    def candidate(self, node: Node) -> Candidate:
        """Return a feasible node as it would be released."""
        evaluator = self.problem.evaluator
        found = evaluator.candidate(node, evaluator.sets().at(node))
        if found is None:
            raise ValueError("the node is not feasible")
        return found

    def evaluation(self, candidate: Candidate) -> Evaluation:
        """Evaluate a feasible node as it would be released, against the whole table.

        Classes are in the order of the candidate, without the codes of their values.
        """
        released, counts = candidate.released, self.problem.counts.additive
        layout = candidate.layout
        people = None if counts.population is None else released.counts[:, -2].astype(np.int64)
        classes = replace(
            counts,
            names=(),
            cells=np.zeros((len(released), 0), np.intp),
            sizes=released.sizes.astype(np.int64),
            joint={
                name: layout.classes(name, released, layout.margins, sparse=True).joint
                for name in counts.joint
            },
            population=people,
        )
        recoding = level_recoding(self.problem.taxonomies, self.names, candidate.node)
        suppressed = candidate.records_suppressed
        return Evaluation(self.problem, recoding, counts, classes, suppressed)

    def at(self, node: Node) -> Counts:
        """Return the counts at a node, with nothing suppressed."""
        return self.problem.at(node)

    def scored(self, node: Node) -> Scored | None:
        """Score a node as it would be released, and count its classes; None if not feasible."""
        evaluator = self.problem.evaluator
        candidate = evaluator.candidate(node, evaluator.sets().at(node))
        if candidate is None or not accepts(self.problem, self.problem.levels(node)):
            return None
        return evaluator.objective.score(candidate), candidate.released_classes, node


def objective_of_rest(objective: Objective, name: str) -> Objective:
    """Return the objective of the other quasi-identifiers: without the weight of one of them."""
    if not isinstance(objective, AttributeWise):
        return objective
    weights = {each: weight for each, weight in objective.weights.items() if each != name}
    return replace(objective, weights=weights)


@dataclass(frozen=True)
class MinRecords(KAnonymity):
    """The option ``min-records``, which the search keeps to as if it were a model."""

    name = "min-records"


@dataclass(frozen=True)
class MaxClasses(AverageReidentificationRisk):
    """The option ``max-classes``: the number of classes over that of records is their risk."""

    name = "max-classes"


def confined(
    models: Sequence[PrivacyModel], bounds: Bounds, records: int
) -> tuple[PrivacyModel, ...]:
    """Add the bounds of recodings to a policy, by their names in a study."""
    found = list(models)
    if bounds.min_records is not None:
        found.append(MinRecords(int(bounds.min_records)))
    if bounds.max_classes is not None and bounds.max_classes < records:
        found.append(MaxClasses((int(bounds.max_classes) + 0.5) / records))
    return tuple(found)


def objective_for(objective: Objective) -> Objective:
    """Return the objective, or plain information where it may rise under generalization.

    Then all nodes of a lattice would have to be scored for each change.
    """
    if objective.falls or not isinstance(objective, MutualInformation):
        return objective
    return MutualInformation(target=objective.target, weights=objective.weights)


STARS = 1 / 3
"""Share of the quasi-identifiers from which on hiding them is drastic, if two or more are."""

LOST = 0.75
"""Share of the information from which on losing it is drastic."""

NOISE = 0.05
"""Share of the information above which what is not chance is worth measuring a loss by."""


@dataclass(frozen=True)
class Disclosure(Result):
    """Numbers of records whose sensitive value is known, or guessed, from their class.

    Parameters
    ----------
    attribute
        The sensitive attribute.
    records
        Records released, but for those whose missing value counts as nothing.
    sure
        Records in classes of a single value: it is known of each of them.
    guessed
        Records whose value makes up ``NEARLY`` (80 %) or more of their class, those of ``sure``
        among them: guessing it is right for each of them.
    worst
        The largest share of a value in a class: nobody's value is guessed with a larger
        probability.
    prior
        The largest share of a value among these records: what is guessed without a class.
    joined
        Whether a release shows which rows are of one person: then a class is that of the persons
        who have equally many rows in each, by which who knows all of them guesses.
    """

    attribute: str
    records: int
    sure: int
    guessed: int
    worst: float
    prior: float
    joined: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The numbers as JSON has them; ``joined`` where rows are."""
        found = super().to_dict()
        return found if self.joined else {n: each for n, each in found.items() if n != "joined"}


def joins(counts: Counts) -> bool:
    """Whether a release shows which rows are of one person."""
    return any(each.numbered for each in counts.of_persons.values())


def guessed_by(counts: Counts, attribute: str) -> Classes:
    """Return the classes by which an attribute is guessed: cells, where rows are joined.

    In a cell each way of counting persons has the same shares: the records stand for all.
    """
    if not joins(counts):
        return counts.about(attribute)
    return counts.judged(attribute).linked[0].sets.others[0]


def disclosure_in(counts: Counts, attribute: str) -> Disclosure:
    """Count what classes disclose of an attribute, or cells, where rows of a person are joined.

    Of lists of items that is the worst of what they disclose of the lists, and of each item.
    """
    found = replace(disclosure_of(guessed_by(counts, attribute)), joined=joins(counts))
    for way in of_items(attribute, counts.joint):
        item = disclosure_of(counts.about(way))
        names = ("sure", "guessed", "worst", "prior")
        worst = {name: max(getattr(found, name), getattr(item, name)) for name in names}
        found = replace(found, **worst)
    return found


def disclosure_of(classes: Classes) -> Disclosure:
    """Count what classes disclose of their sensitive attribute.

    A class in which nobody has a value discloses nothing, nor does one without a record, which
    only a population has.
    """
    assert classes.attribute is not None
    joint, sizes = classes.known.joint, classes.known.sizes
    joint, sizes = joint[sizes > 0], sizes[sizes > 0]
    if not len(sizes):
        return Disclosure(classes.attribute, 0, 0, 0, 0.0, 0.0)
    most = largest(joint)
    nearly = most >= NEARLY * sizes - TOLERANCE
    return Disclosure(
        classes.attribute,
        records=int(sizes.sum()),
        sure=int(sizes[most == sizes].sum()),
        guessed=int(most[nearly].sum()),
        worst=float((most / sizes).max()),
        prior=float(np.max(joint.sum(axis=0)) / sizes.sum()),
    )


@dataclass(frozen=True)
class FoundRelease:
    """A result: the level of each quasi-identifier at the best node, and what is released.

    ``hidden`` are the quasi-identifiers of which it says nothing; ``original`` and ``retained`` are
    I(X;W) and I(X~;W) in bits, None without an attribute to be about. ``lost`` is the share of it
    that is lost, chance taken off on both sides, where the objective is information; None where it
    is another one, or nothing but chance was there.
    """

    recoding: str
    hidden: tuple[str, ...]
    classes: int
    released: int
    suppressed: int
    value: float | None
    original: float | None
    retained: float | None
    lost: float | None
    disclosures: tuple[Disclosure, ...]
    levels: Mapping[str, int]


def found_by_levels(space: Space, node: Node, recoding: str) -> FoundRelease:
    """Evaluate a node of the lattice."""
    candidate = space.candidate(node)
    evaluation = space.evaluation(candidate)
    return _found(
        space,
        evaluation,
        shown=space.shown(node, evaluation.classes),
        recoding=recoding,
        hidden=space.starred(node),
        value=space.quantity(space.problem.evaluator.objective.score(candidate)),
        levels=dict(zip(space.names, node, strict=True)),
    )


def found_by(recoding: Generalization, space: Space, seed: int, node: Node) -> FoundRelease:
    """Choose a recoding beyond levels and evaluate it; ``node``: the best of levels.

    TimeUpError when the time is up before it is known.
    """
    problem = space.problem
    policy = [model for model in problem.models if not model.name.startswith(CONFINED)]
    chosen, search = recoding.choose(problem.under(policy), seed, space.run)
    evaluation = Evaluation.of(problem, chosen)
    return _found(
        space,
        evaluation,
        shown=evaluation.classes,
        recoding=recoding.name,
        hidden=_hidden(chosen, space),
        value=search.value,
        levels=dict(zip(space.names, node, strict=True)),
    )


def is_drastic(hidden: int, of: int) -> bool:
    """Whether a third of the quasi-identifiers, and two or more, are hidden."""
    return hidden >= 2 and hidden >= STARS * of


CONFINED = "min-records", "max-classes"
"""What the recoding itself adds to the policy."""


def _hidden(chosen: object, space: Space) -> tuple[str, ...]:
    """Find the quasi-identifiers of several values that are one group, or ``*`` in every class."""
    names = [n for n in space.names if len(space.problem.taxonomies[n].levels[0]) > 1]
    if isinstance(chosen, Regions):
        shown = chosen.listed()
        return tuple(n for n in names if all(labels.get(n) == ANY for labels in shown))
    assert isinstance(chosen, Mapping)
    return tuple(name for name in names if len(chosen[name]) == 1)


def _found(space: Space, evaluation: Evaluation, shown: Counts, **known: object) -> FoundRelease:
    """Return the result with what the classes keep, and what they disclose as they are shown."""
    classes, about = evaluation.classes, evaluation.about
    original, retained = evaluation.original(about), evaluation.retained(about)
    informs = isinstance(space.problem.objective, MutualInformation)
    return FoundRelease(
        classes=classes.occupied,
        released=int(classes.sizes.sum()),
        suppressed=evaluation.suppressed,
        original=original if about else None,
        retained=retained if about else None,
        lost=_lost(evaluation, original, retained) if informs and about else None,
        disclosures=tuple(disclosure_in(shown, name) for name in shown.sensitive),
        **known,  # type: ignore[arg-type]
    )


def _lost(evaluation: Evaluation, original: float, retained: float) -> float | None:
    """Compute the share of the information that is lost, chance taken off."""
    before, after = (
        sum(chance_of(counts.joint[name]) for name in evaluation.about)
        for counts in (evaluation.raw, evaluation.classes)
    )
    return lost_of(original, before, retained - after)


def lost_of(original: float, chance: float, kept: float) -> float | None:
    """Return 1 - kept / (original - chance), ``kept`` being above chance; None where all is chance.

    Never above 1: classes that tell less than chance would have lost all of it.
    """
    there = original - chance
    return min(1.0, 1 - kept / there) if there > NOISE * original else None


def mostly_lost(original: float, chance: float, kept: float) -> bool:
    """Whether more than ``LOST`` of the information is lost, chance taken off."""
    lost = lost_of(original, chance, kept)
    return lost is not None and lost > LOST


def chance_of(joint: CountMatrix) -> float:
    """Return the bits that classes of these sizes tell on average of values dealt out at random."""
    sizes = joint.sum(axis=1).astype(np.int64)
    return float(expected(joint.sum(axis=0).tolist())(sizes).sum())
