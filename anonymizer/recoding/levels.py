"""Recodings to one level per quasi-identifier: the best node of the lattice, or a given one."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from anonymizer.counts.counts import Partitions
from anonymizer.errors import (
    InputError,
    PolicyBrokenError,
    PolicyUnreachableError,
    did_you_mean,
    is_whole,
    name_of,
    require_one_of,
)
from anonymizer.hierarchy import Taxonomy
from anonymizer.objectives import ObjectiveName
from anonymizer.recoding.apply import accepts
from anonymizer.recoding.full_domain.solve import STRATEGIES, solve
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.lattice import Lattice, Node, Trace, level_recoding
from anonymizer.recoding.partitions.joint import within_bounds
from anonymizer.recoding.policy import WHOLE_PERSONS, Suppression, Trigger
from anonymizer.recoding.problem import Found, Problem, Run, Search
from anonymizer.recoding.recoding import Outcome, RecodingPlan, SearchResult, Task, seen_in
from anonymizer.recoding.whole_persons import PersonProblem, best_node
from anonymizer.tables import engine

Strategy = Literal[
    "automatic", "bisection", "top-down", "incognito", "exhaustive", "branch-and-bound"
]


class Levels(Generalization):
    """One level per quasi-identifier: a recoding that only has to find a node of the lattice."""

    over_levels: ClassVar[bool] = True
    fallback_objective: ClassVar[ObjectiveName] = "loss"
    reach: ClassVar[str] = "no node of the lattice satisfies"
    """What the error says of the policy where there is no node."""

    @abstractmethod
    def find(self, problem: Problem, seed: int, run: Run) -> Found | None:
        """Find the node that solves a problem; None where none does.

        Raises
        ------
        InputError
            When options and problem do not fit together.
        """

    @property
    def described(self) -> dict[str, object]:
        """The method and its options; releases do not say that no whole persons are suppressed."""
        found = super().described
        return {key: given for key, given in found.items() if key != WHOLE_PERSONS or given}

    def fit(self, task: Task) -> tuple[RecodingPlan, Outcome]:
        """Choose the levels of a table under a policy, and carry them out."""
        if not self.budget.persons:
            return super().fit(task)
        plan = self.planned(task, *self.of_persons(task))
        outcome = plan.carry_out(task.counted.kept)
        left = engine.records_of(task.counted.kept, ~outcome.suppressed)
        return replace(plan, seen=seen_in(left, plan.taxonomies)), outcome

    def of_persons(self, task: Task) -> tuple[Partitions, SearchResult]:
        """Return the partitions of the best node where whole persons are suppressed."""
        counted, share = task.counted, self.budget.share
        persons = PersonProblem.of(counted, task.models, task.objective, self.budget)
        problem = Problem(
            counted.counts, counted.taxonomies, task.models, task.objective, self.budget
        )
        found = best_node(persons, self.nodes(problem), task.run)
        if found is None:
            names = ", ".join(model.name for model in task.models)
            raise PolicyUnreachableError(
                f"{self.reach} all of {names} while at most {share:.3g} of the persons are "
                "suppressed; relax one"
            )
        return self._of_node(problem, found)

    def nodes(self, problem: Problem) -> Lattice | Sequence[Node]:
        """Return the nodes to choose from where whole persons are suppressed."""
        raise InputError(f"suppress-persons is for full-domain and fixed, not for {self.name}")

    def choose(self, problem: Problem, seed: int, run: Run) -> tuple[Partitions, SearchResult]:
        """Return the partitions of the node that is found, by whatever counts there are."""
        return self.solve(problem, seed, run)

    def solve(self, problem: Problem, seed: int, run: Run) -> tuple[Partitions, SearchResult]:
        """Return the partitions of the node that is found."""
        found = self.find(problem, seed, run)
        if found is None:
            raise self.unreachable(problem, self.reach)
        return self._of_node(problem, found)

    def _of_node(self, problem: Problem, found: Found) -> tuple[Partitions, SearchResult]:
        """Return the partitions of a node that was found, and how it was."""
        recoding = level_recoding(problem.taxonomies, problem.counts.names, found.node)
        return recoding, SearchResult.of(
            problem,
            found.strategy,
            found.score,
            found.bound,
            found,
            proven=found.proven,
            searched=self.searches,
        )


@dataclass(frozen=True)
class FullDomain(Levels):
    """One level per quasi-identifier: the best node of the lattice that satisfies the policy.

    Parameters
    ----------
    suppression
        Classes that are too small are suppressed (``*``) while at most this share of the records
        goes. Where the class they form is too small itself, they are left out.
    remove
        Leave suppressed records out in any case.
    suppress
        ``"small"``: only what quasi-identifiers alone decide suppresses a class. ``"any"``: every
        model does, so that whoever knows the quasi-identifiers infers values of those missing.
    suppress_persons
        Leave out all records of a person, or none: ``suppression`` is a share of the persons then.
        Every node is looked at.
    search
        ``"automatic"``: exact, and quick. ``"bisection"``, ``"top-down"``, ``"incognito"`` and
        ``"exhaustive"`` find the same; ``"branch-and-bound"`` may be cut short by a time limit. Or
        a function that finds a :class:`Frontier`.
    max_classes, min_records
        Largest number of classes; fewest records of a class.
    """

    name: ClassVar[str] = "full-domain"

    suppression: float = 0.0
    remove: bool = False
    suppress: Trigger = "small"
    suppress_persons: bool = False
    search: Strategy | Search = "automatic"
    max_classes: int | None = None
    min_records: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.search):
            require_one_of("search", self.search, STRATEGIES)
        if self.bounds.requested and self.suppression:
            raise InputError(
                f"{' and '.join(self.bounds.requested)} cannot be combined with suppression, "
                "which follows the policy alone; leave either out, or require k-anonymity"
            )

    def nodes(self, problem: Problem) -> Lattice:
        """Return all nodes, of which none is left out."""
        if self.search not in ("automatic", "exhaustive"):
            raise InputError(
                f"suppress-persons looks at every node, and search = {name_of(self.search)!r} does "
                "not; leave the strategy out"
            )
        return problem.lattice

    def find(self, problem: Problem, seed: int, run: Run) -> Found | None:
        """Find the best node of the lattice."""
        confined = within_bounds(problem, self.bounds, few=True)
        return solve(confined, self.search, run)


@dataclass(frozen=True)
class Fixed(Levels):
    """The given levels, or the refusal that they do not satisfy the policy.

    Parameters
    ----------
    levels
        The level of every quasi-identifier, 0 being the values themselves.
    suppression, remove, suppress, suppress_persons
        As of :class:`FullDomain`.
    """

    name: ClassVar[str] = "fixed"
    searches: ClassVar[bool] = False
    reach: ClassVar[str] = "the levels given do not satisfy"

    levels: Mapping[str, int]
    suppression: float = 0.0
    remove: bool = False
    suppress: Trigger = "small"
    suppress_persons: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.levels, Mapping):
            raise InputError("levels must map every quasi-identifier to a level")

    def nodes(self, problem: Problem) -> Sequence[Node]:
        """Return the node of the levels."""
        return [node_of(self.levels, problem.taxonomies)]

    def find(self, problem: Problem, seed: int, run: Run) -> Found | None:
        """Return the node of the levels."""
        node = node_of(self.levels, problem.taxonomies)
        score = problem.score(node)
        levels = level_recoding(problem.taxonomies, problem.counts.names, node)
        if score is None or not accepts(problem, levels):
            return None
        trace = Trace.of(problem.lattice, [(score, 0, node)], [node], [node])
        return Found("fixed", node, score, score, True, 1, 1, trace=trace)

    def unproven(self, task: Task) -> tuple[RecodingPlan, Outcome]:
        """Carry out the levels whether or not they satisfy the policy, to be measured.

        Where more records would have to be suppressed than the budget has, none is.
        """
        taxonomies = task.counted.taxonomies
        recoding = level_recoding(taxonomies, tuple(taxonomies), node_of(self.levels, taxonomies))
        search = SearchResult(self.name, task.objective.name, searched=False)
        plan = self.planned(task, recoding, search)
        try:
            return plan, plan.carry_out(task.counted.kept)
        except PolicyBrokenError:
            plan = replace(plan, suppression=Suppression())
            return plan, plan.carry_out(task.counted.kept)


def node_of(levels: Mapping[str, int], taxonomies: Mapping[str, Taxonomy]) -> Node:
    """Return the lattice node for a mapping of attribute to level."""
    for name in levels:
        if name not in taxonomies:
            hint = did_you_mean(str(name), taxonomies)
            raise InputError(f"levels names {name!r}, which is no quasi-identifier{hint}")
    for name, taxonomy in taxonomies.items():
        if name not in levels:
            raise InputError(f"levels lacks {name!r}; give a level from 0 to {taxonomy.height}")
        if not is_whole(levels[name], least=0) or levels[name] > taxonomy.height:
            raise InputError(
                f"levels: {name} = {levels[name]!r} must be a whole number from 0 to "
                f"{taxonomy.height}, the height of its hierarchy"
            )
        if not taxonomy.finest <= levels[name] <= taxonomy.coarsest:
            raise InputError(
                f"levels: {name} = {levels[name]!r} must be from min-level = {taxonomy.finest} to "
                f"max-level = {taxonomy.coarsest} of {name!r}; change either"
            )
    return tuple(int(levels[name]) for name in taxonomies)
