"""The problem that a search solves, how it may run, and what it answers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from numbers import Real
from operator import le
from time import monotonic

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError, shown
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels import Kernel, choose
from anonymizer.objectives import MutualInformation, Objective
from anonymizer.privacy import TOLERANCE, PrivacyModel, acceptable, require_possible
from anonymizer.recoding.lattice import Lattice, Node, Trace, level_recoding
from anonymizer.recoding.problem.evaluator import Evaluator
from anonymizer.recoding.problem.suppression import Suppression

LONGEST = 1e9
"""Seconds: some thirty years."""

INSTANT = 1e-9
"""Seconds."""

Watch = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it, and of how much in all where that is known."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A table's counts, how they can be recoded, what a recoding must satisfy and maximise.

    Parameters
    ----------
    counts
        Counts of the raw quasi-identifiers.
    taxonomies
        The nested partitions of each quasi-identifier, in the order of ``counts.names``.
    models
        The policy.
    objective
        What is maximised.
    suppression
        How many records may be suppressed.
    kernel
        What merges, checks and sums; None: chosen by size. No result depends on it.
    """

    counts: Counts
    taxonomies: Mapping[str, Taxonomy]
    models: Sequence[PrivacyModel]
    objective: Objective = field(default_factory=MutualInformation)
    suppression: Suppression = field(default_factory=Suppression)
    kernel: Kernel | None = None

    @property
    def lattice(self) -> Lattice:
        """The levels of the quasi-identifiers that are counted."""
        return Lattice.of({name: self.taxonomies[name] for name in self.counts.names})

    @cached_property
    def evaluator(self) -> Evaluator:
        """The problem, encoded; with the kernel requested, or one chosen by the rows to roll up."""
        # Half the classes on average at each node. A few hundred nodes decide a lattice of any
        # size, with suppression where the bounds are good; where they are not, the kernel that is
        # chosen finds out what it spends.
        rows = min(self.lattice.size, 200) * len(self.counts) / 2
        return Evaluator.of(
            self.counts,
            self.taxonomies,
            self.models,
            self.objective,
            self.suppression,
            self.kernel or choose(rows),
        )

    @property
    def suppresses(self) -> bool:
        """True where any record may be suppressed at all."""
        return self.suppression.most(self.counts.records) > 0

    def require_possible(self) -> None:
        """Refuse a policy that no recoding can satisfy.

        When records may be left out the distribution of the rest is not known beforehand, nor what
        part of a population they are, so that only models of class sizes can be refused at once.

        Raises
        ------
        InputError, PolicyUnreachableError
            Naming the model.
        """
        sure = [model for model in self.models if not (model.sensitive or model.judges_empty)]
        require_possible(self.counts, sure if self.suppresses else self.models)

    def relaxed(self, models: Sequence[PrivacyModel]) -> "Problem":
        """Return the problem under other models, encoded once for both; without suppression."""
        return self.under(models, Suppression())

    def under(
        self, models: Sequence[PrivacyModel], suppression: Suppression | None = None
    ) -> "Problem":
        """Return the problem under other models and, where given, another budget; encoded once."""
        other = replace(self, models=models, suppression=suppression or self.suppression)
        evaluator = self.evaluator
        policy = replace(evaluator.policy, models=models)
        # Where cached_property looks first: nothing of the encoding depends on models.
        other.__dict__["evaluator"] = replace(
            evaluator, policy=policy, suppression=other.suppression
        )
        return other

    def project(self, names: tuple[str, ...]) -> "Problem":
        """Return the problem of some quasi-identifiers, the others being suppressed."""
        return replace(self, counts=self.counts.project(names))

    def at(self, node: Node, source: Counts | None = None) -> Counts:
        """Roll up the counts at a node from those at any node below (or from the raw ones)."""
        source = self.counts if source is None else source
        # Partitions are nested, so that counts of any node below lead to the same.
        return source.recode(level_recoding(self.taxonomies, source.names, node))

    def score(self, node: Node) -> float | None:
        """Score a node as it would be released; None where it does not satisfy the policy.

        Whatever the objective is about, and with what is suppressed within the budget.
        """
        evaluator = self.evaluator
        feasible = evaluator.candidate(node, evaluator.sets().at(node)) is not None
        return evaluator.value(node) if feasible else None

    def feasible(self, counts: Counts) -> bool:
        """Return whether every class satisfies every model."""
        return bool(acceptable(counts, self.models).all())


@dataclass(frozen=True)
class Silence:
    """A watch that ignores the progress; as a default it reads well in ``help()``."""

    def __call__(self, doing: str, done: int, of: int | None) -> None:
        """Ignore the progress."""

    def __repr__(self) -> str:
        return "<ignore>"


ignore = Silence()


@dataclass(frozen=True)
class Run:
    """Jobs, time limit and progress of a search; only the time limit touches the result.

    Parameters
    ----------
    n_jobs
        How much is done at once, as joblib has it.
    time_limit
        Seconds after which the best found so far is returned.
    watch
        Called with the progress.
    """

    n_jobs: int | None = None
    time_limit: float | None = None
    watch: Watch = ignore

    def __post_init__(self) -> None:
        limit = self.time_limit
        number = isinstance(limit, Real) and not isinstance(limit, bool)
        if limit is not None and not (number and 0 < limit <= LONGEST):
            raise InputError(
                f"time-limit = {shown(limit)} must be a number of seconds above 0, and at most "
                f"{LONGEST:.0e}"
            )

    def deadline(self) -> float:
        """Return the time on the monotonic clock at which a run that starts now has to end."""
        return inf if self.time_limit is None else monotonic() + self.time_limit

    def until(self, deadline: float) -> "Run":
        """Return the run with the time left until then for a limit, an instant at the least."""
        left = None if deadline == inf else max(deadline - monotonic(), INSTANT)
        return replace(self, time_limit=left)


ALONE = Run()
"""One job, no limit, nobody watching."""


@dataclass(frozen=True)
class Frontier:
    """The feasible nodes of a lattice.

    Parameters
    ----------
    minimal
        The feasible nodes without a feasible specialization, lexicographically.
    nodes
        Nodes of the lattice.
    feasible
        Feasible nodes among them.
    checked
        How many nodes were counted and held against the models, those of the lattices of fewer
        attributes included.
    strategy
        How they were found, where that is a matter of size.
    listed
        All feasible nodes, where they are not just those above the minimal ones (of models that
        are not monotone).
    trace
        Which nodes were counted.
    """

    minimal: tuple[Node, ...]
    nodes: int
    feasible: int
    checked: int
    strategy: str = ""
    listed: frozenset[Node] | None = field(default=None, compare=False, repr=False)
    trace: Trace = field(default_factory=Trace, compare=False, repr=False)

    def is_feasible(self, node: Node) -> bool:
        """Return whether a node satisfies the policy."""
        if self.listed is not None:
            return node in self.listed
        return any(all(map(le, low, node)) for low in self.minimal)


Search = Callable[[Problem, Run], Frontier]


@dataclass(frozen=True)
class Found:
    """The best feasible node that a search found.

    Parameters
    ----------
    strategy
        What searched.
    node, score
        The node, and what the objective scores it.
    bound
        What no feasible node can score more than; infinite where that is not known.
    proven
        Whether the node is the best of all, ties included.
    nodes, checked
        Nodes of the lattice, and how many were counted.
    feasible, minimal
        Feasible nodes, and those of them without a feasible direct specialization; None where the
        search did not need to know.
    trace
        What was learned about single nodes.
    """

    strategy: str
    node: Node
    score: float
    bound: float = inf
    proven: bool = False
    nodes: int = 0
    checked: int = 0
    feasible: int | None = None
    minimal: tuple[Node, ...] | None = None
    trace: Trace = field(default_factory=Trace, compare=False, repr=False)


Scored = tuple[float, int, Node]
"""The score, the released classes, and the node."""


def winner(scored: Iterable[Scored]) -> Scored:
    """Return the best of some nodes.

    Ties, within ``TOLERANCE`` of the highest score: more classes, then the lexicographically
    smallest, so that no order of the search decides.

    >>> winner([(1.0, 3, (0, 1)), (1.0, 4, (1, 0)), (0.5, 9, (0, 0))])
    (1.0, 4, (1, 0))
    """
    scored = list(scored)
    top = max(score for score, _, _ in scored)
    tied = [entry for entry in scored if entry[0] >= top - TOLERANCE]
    return min(tied, key=lambda entry: (-entry[1], entry[2]))
