"""The nodes of one problem, judged: are they feasible, and how do they score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels import NUMPY, FrequencySet, Kernel
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.objectives import Objective, Tabulated
from anonymizer.objectives.candidate import Budget, Candidate, Layout
from anonymizer.privacy import TOLERANCE, PrivacyModel
from anonymizer.recoding.lattice import Node
from anonymizer.recoding.problem.frequency import Encoding, FrequencySets
from anonymizer.recoding.problem.policy import BoundPolicy, Policy
from anonymizer.recoding.problem.suppression import Suppression, suppress


class NodeAssessment(NamedTuple):
    """The judgement of a node.

    Attributes
    ----------
    hopeful
        Whether what has to be suppressed stays within the budget.
    lost
        Records that have to be suppressed, at this node and at every one below, at the least.
    plain
        The node with nothing suppressed.
    candidate
        The node as it would be released; None when it is not feasible.
    """

    hopeful: bool
    lost: int
    plain: Candidate
    candidate: Candidate | None


@dataclass(frozen=True, eq=False)
class Evaluator:
    """The encoded counts of a problem with its policy, budget and objective.

    Parameters
    ----------
    encoding, base
        The keys, and the frequency set of the bottom of the lattice.
    cells
        The value codes of each raw class, shape (classes, names).
    hidden
        For each quasi-identifier, level and value code whether the label is ``*``.
    policy
        The models.
    objective
        What is maximised, prepared for these counts.
    suppression
        The budget.
    """

    encoding: Encoding
    base: FrequencySet
    cells: Codes
    hidden: Sequence[Sequence[Mask]]
    policy: Policy
    objective: Objective
    suppression: Suppression

    @classmethod
    def of(
        cls,
        counts: Counts,
        taxonomies: Mapping[str, Taxonomy],
        models: Sequence[PrivacyModel],
        objective: Objective,
        suppression: Suppression,
        kernel: Kernel,
    ) -> "Evaluator":
        """Encode counts and lay a policy over them."""
        encoding, base = Encoding.of(counts, taxonomies)
        hidden = [[level.hidden for level in taxonomies[name].levels] for name in counts.names]
        return cls(
            encoding,
            base,
            counts.cells,
            hidden,
            Policy(models, Layout.of(counts), kernel),
            objective.prepared(counts, taxonomies),
            suppression,
        )

    @property
    def kernel(self) -> Kernel:
        """The kernel that merges, checks and sums."""
        return self.policy.kernel

    @property
    def layout(self) -> Layout:
        """The attributes that the columns of frequency sets are about."""
        return self.policy.layout

    @cached_property
    def bound_policy(self) -> BoundPolicy:
        """The policy against the margins of the whole table."""
        return self.policy.against(self.layout.margins)

    @cached_property
    def outright(self) -> BoundPolicy:
        """The strongly monotone part alone: classes that break it are never saved by merging.

        The records in such classes can only become fewer under generalization, whatever else is
        suppressed with them.
        """
        return self.policy.lasting().against(self.layout.margins)

    @cached_property
    def most(self) -> int:
        """The records that may be suppressed."""
        return self.suppression.most(self.layout.records)

    @cached_property
    def budget(self) -> Budget:
        """The numbers of records that bounds are about."""
        outright = self.outright
        by_size = not len(outright.rules) and not outright.measured
        least = max(1, int(np.ceil(outright.rules.least)))
        return Budget(self.layout.records, self.most, least, by_size)

    def sets(self, share: float = 1.0) -> FrequencySets:
        """Frequency sets of this problem, for one thread and that share of the memory."""
        return FrequencySets(self.encoding, self.base, self.kernel, share)

    def value(self, node: Node) -> float:
        """Score a feasible node to the last bit, however it was found.

        The last bits of sums depend on their order, and that on what classes were rolled up from
        and by which kernel. Here classes stand in the order of their keys, and NumPy sums.
        """
        if not self.most and isinstance(self.objective, Tabulated):
            return self.objective.of_levels(node)
        # From the base, so that sums have one order whatever else was counted.
        classes = self.kernel.roll_up(self.base, self.encoding.mask(node)).in_order()
        canonical = replace(self, policy=replace(self.policy, kernel=NUMPY))
        plain = canonical.plain(node, classes)
        released = canonical.released(plain) if self.most else plain
        return self.objective.score(released or plain)

    def holds(self, classes: FrequencySet) -> bool:
        """Return whether every class satisfies every model, without suppression."""
        return self.bound_policy.holds(classes.histograms)

    def lost(self, classes: FrequencySet) -> int:
        """Count the records that have to be suppressed, here and at every node below.

        Those in classes that break a strongly monotone model; too few where above the budget.
        """
        return self.outright.broken(classes.histograms, self.most)[0]

    def assess(self, node: Node, classes: FrequencySet) -> NodeAssessment:
        """Judge a node by its classes."""
        plain = self.plain(node, classes)
        lost, marks = self.outright.broken(classes.histograms, self.most)
        if lost > self.most:
            return NodeAssessment(False, lost, plain, None)
        # Where all of the policy is strongly monotone, what breaks it outright is all that breaks
        # it.
        released = self.released(plain, (lost, marks) if self.policy.lasts else None)
        return NodeAssessment(True, lost, plain, released)

    def candidate(self, node: Node, classes: FrequencySet) -> Candidate | None:
        """Return the node as it would be released; None when it is not feasible."""
        return self.released(self.plain(node, classes))

    def plain(self, node: Node, classes: FrequencySet) -> Candidate:
        """Return the node with nothing suppressed, feasible or not: what bounds it."""
        return Candidate(node, classes, None, False, self.layout.margins, self.layout, self.kernel)

    def bound(self, plain: Candidate) -> float:
        """Return the most that the node, or any above it, can score within the budget."""
        return self.objective.bound(plain, self.budget)

    def ruled_out(self, candidate: Candidate, bound: float, best: float) -> bool:
        """Return whether a node cannot win or tie, by its bound or by a cheaper cap on its score.

        Of objectives that fall none is left out: their score is no more work than its bound.
        """
        objective, least = self.objective, best - TOLERANCE
        return not objective.falls and (bound < least or objective.cap(candidate) < least)

    def shortfall(self, node: Node, classes: FrequencySet) -> float:
        """Return what every node below falls short of its bound by, at the least."""
        # Suppressed records change what chance is measured against.
        if self.most or self.objective.falls:
            return 0.0
        return self.objective.shortfall(self.plain(node, classes))

    @cached_property
    def bound_of_all(self) -> float:
        """The most that any node can score within the budget: what bounds the bottom."""
        return self.bound(self.plain((0,) * len(self.encoding.heights), self.base))

    def released(
        self, plain: Candidate, broken: tuple[int, Mask] | None = None
    ) -> Candidate | None:
        """Return a node as it would be released; None when it is not feasible.

        ``broken``: what breaks the policy without suppression, where that is known already.
        """
        classes = plain.classes
        hidden = self._all_hidden(plain.node, classes)
        found = suppress(
            classes.histograms, self.policy, self.bound_policy, self.suppression, hidden, broken
        )
        if found is None or not found.records:
            return None if found is None else plain
        return replace(plain, suppressed=found.marks, removed=found.removed, margins=found.margins)

    @cached_property
    def some_hidden(self) -> Sequence[Sequence[bool]]:
        """True where any value's label is ``*``, for each quasi-identifier and level."""
        return [[bool(marks.any()) for marks in levels] for levels in self.hidden]

    def _all_hidden(self, node: Node, classes: FrequencySet) -> Mask | None:
        """The class whose label is ``*`` in every quasi-identifier, where there may be one."""
        hide = [some[level] for some, level in zip(self.some_hidden, node, strict=True)]
        # A class hidden in all attributes needs a hidden group in each of them.
        if not self.most or not all(hide):
            return None
        levels = [marks[level] for marks, level in zip(self.hidden, node, strict=True)]
        cells = self.cells[classes.members]
        each = [marks[codes] for marks, codes in zip(levels, cells.T, strict=True)]
        return np.asarray(np.all(each, axis=0))
