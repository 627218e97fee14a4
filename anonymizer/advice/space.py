"""The nodes that satisfy a policy: the best of them from any levels upward.

A change of one attribute confines the lattice: its level is at least so high. Branch and bound
begins there, whatever the policy, suppression and size of the lattice, and its answer is proven.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.pairs import tabulated
from anonymizer.information.matrices import CountMatrix
from anonymizer.kernels.frequency import Histograms
from anonymizer.objectives import MutualInformation, Objective
from anonymizer.objectives.attributes import AttributeWise
from anonymizer.objectives.candidate import Candidate
from anonymizer.privacy import AverageReidentificationRisk, KAnonymity, PrivacyModel
from anonymizer.recoding.apply import Evaluation
from anonymizer.recoding.full_domain.branch_and_bound import branch_and_bound
from anonymizer.recoding.full_domain.frontier import MOST_NODES
from anonymizer.recoding.full_domain.solve import solve
from anonymizer.recoding.lattice import Node, level_recoding
from anonymizer.recoding.policy import Suppression
from anonymizer.recoding.problem import Bounds, Problem, Run, Scored


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
    """

    problem: Problem
    run: Run
    fixed: Node | None = None
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
        return Space(self.problem.under(models, budget), self.run, self.fixed)

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
        return Space(problem, self.run, fixed)

    def best(self, low: Node | None = None) -> Scored | None:
        """Find the best feasible node from some levels upward; None where there is none.

        Ties, within ``TOLERANCE``: more classes, then the lexicographically smallest.

        Raises TimeUpError when the time is up, or the search had to end before it was finished.
        """
        if self.fixed is not None:
            return self.scored(_join(self.fixed, low or self.fixed))
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
        return Space(replace(self.problem, taxonomies=taxonomies), self.run)

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
        released, counts = candidate.released, self.problem.counts
        people = None if counts.population is None else released.counts[:, -2].astype(np.int64)
        classes = replace(
            counts,
            names=(),
            cells=np.zeros((len(released), 0), np.intp),
            sizes=released.sizes.astype(np.int64),
            joint={name: self._joint(name, released) for name in counts.joint},
            population=people,
        )
        recoding = level_recoding(self.problem.taxonomies, self.names, candidate.node)
        suppressed = candidate.records_suppressed
        return Evaluation(self.problem, recoding, counts, classes, suppressed)

    def _joint(self, attribute: str, classes: Histograms) -> CountMatrix:
        """Count the records by class and value of an attribute, shape (classes, values)."""
        start, stop = self.problem.evaluator.layout.place(attribute)
        if not classes.sparse:
            return classes.about(start, stop).astype(np.int64)
        some = (classes.places >= start) & (classes.places < stop)
        values = classes.places[some].astype(np.intp) - start
        shape = len(classes), stop - start
        return tabulated(classes.rows[some], values, classes.numbers[some], shape)

    def at(self, node: Node) -> Counts:
        """Return the counts at a node, with nothing suppressed."""
        return self.problem.at(node)

    def scored(self, node: Node) -> Scored | None:
        """Score a node as it would be released, and count its classes; None if not feasible."""
        evaluator = self.problem.evaluator
        candidate = evaluator.candidate(node, evaluator.sets().at(node))
        if candidate is None:
            return None
        return evaluator.objective.score(candidate), candidate.released_classes, node


def objective_of_rest(objective: Objective, name: str) -> Objective:
    """Return the objective of the other quasi-identifiers: without the weight of one of them."""
    if not isinstance(objective, AttributeWise):
        return objective
    weights = {each: weight for each, weight in objective.weights.items() if each != name}
    return replace(objective, weights=weights)


def _join(one: Node, other: Node) -> Node:
    return tuple(map(max, one, other))


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
