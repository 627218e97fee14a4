"""The problem that a search solves, its limits, how it may run, and what it answers.

A run may share independent tasks between jobs: threads, or where joblib's caller places them. That
may be other processes, on other machines: a task is a function of its module, gets all it needs,
and returns what it finds. What it is given is its own, and nothing that it changes there is seen by
others. The loops of the kernels release the interpreter's lock, what drives them does not: a task
is worth a job where it spends its time in compiled code, or in large arrays.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from math import inf
from numbers import Real
from operator import le
from time import monotonic
from typing import TypeVar, cast

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.errors import InputError, is_whole, shown
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels import NATIVE, Kernel
from anonymizer.objectives import MutualInformation, Objective
from anonymizer.privacy import TOLERANCE, PrivacyModel, acceptable, require_possible
from anonymizer.recoding.lattice import Lattice, Node, Trace, level_recoding
from anonymizer.recoding.nodes import Evaluator
from anonymizer.recoding.policy import Suppression
from anonymizer.tables.values import number_of


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
        What merges, checks and sums. No result depends on it.
    """

    counts: Counts
    taxonomies: Mapping[str, Taxonomy]
    models: Sequence[PrivacyModel]
    objective: Objective = field(default_factory=MutualInformation)
    suppression: Suppression = field(default_factory=Suppression)
    kernel: Kernel = NATIVE

    @property
    def lattice(self) -> Lattice:
        """The levels of the quasi-identifiers that are counted."""
        return Lattice.of({name: self.taxonomies[name] for name in self.counts.names})

    @cached_property
    def evaluator(self) -> Evaluator:
        """The problem, encoded."""
        return Evaluator.of(
            self.counts,
            self.taxonomies,
            self.models,
            self.objective,
            self.suppression,
            self.kernel,
        )

    @property
    def suppresses(self) -> bool:
        """True where any record may be suppressed at all."""
        return self.suppression.most(self.counts.records) > 0

    @property
    def counts_persons(self) -> bool:
        """True where a model has to hold of what does not add up, too: of persons by class."""
        about = any(model.sensitive for model in self.models)
        return bool(self.counts.of_persons) and about and not self.suppression.exempt

    @property
    def additive(self) -> "Problem":
        """The problem as far as its counts add up where classes merge: what searches rest on."""
        if not self.counts.of_persons:
            return self
        other = replace(self, counts=self.counts.additive)
        if "evaluator" in self.__dict__:  # which has nothing but what adds up
            other.__dict__["evaluator"] = self.evaluator
        return other

    def require_possible(self) -> None:
        """Refuse a policy that no recoding can satisfy.

        When records may be left out the distribution of the rest is not known beforehand, nor what
        part of a population they are, or who has few records left: only models of class sizes can
        be refused at once.

        Raises
        ------
        InputError, PolicyUnreachableError
            Naming the model.
        """
        sure = [
            model
            for model in self.models
            if not (model.sensitive or model.judges_empty)
            and (model.strongly_monotone or model.unit_of is None)
        ]
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

    def levels(self, node: Node) -> Partitions:
        """Return the levels of a node as a recoding."""
        return level_recoding(self.taxonomies, self.counts.names, node)

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


LONGEST = 1e9
"""Seconds: some thirty years."""


INSTANT = 1e-9
"""Seconds."""


PATIENCE = 60.0
"""Seconds that somebody waits for a search who gives no time limit."""


@dataclass(frozen=True)
class Waiting:
    """A watch of somebody who takes the best so far after some seconds."""

    watch: Watch = ignore
    seconds: float = PATIENCE

    def __call__(self, doing: str, done: int, of: int | None) -> None:
        """Pass the progress on."""
        self.watch(doing, done, of)


class TimeUp(KeyboardInterrupt):
    """Interrupts a search that nobody waits for any longer."""


def interrupted(watch: Watch, deadline: float) -> Watch:
    """Return a watch that interrupts a search after a time on the monotonic clock."""

    def watching(doing: str, done: int, of: int | None) -> None:
        if monotonic() > deadline:
            raise TimeUp
        watch(doing, done, of)

    return watching


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
    ends
        When somebody has waited long enough, on the monotonic clock: as a time limit, but how is
        searched does not depend on it.
    """

    n_jobs: int | None = None
    time_limit: float | None = None
    watch: Watch = ignore
    ends: float = inf

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
        return self.ends if self.time_limit is None else monotonic() + self.time_limit

    def until(self, deadline: float) -> "Run":
        """Return the run with the time left until then for a limit, an instant at the least."""
        if self.time_limit is None:
            return replace(self, ends=deadline)
        return replace(self, time_limit=max(deadline - monotonic(), INSTANT))

    @property
    def begun(self) -> "Run":
        """The run from now on, for whoever waits for it."""
        if self.time_limit is None and isinstance(self.watch, Waiting):
            return replace(self, ends=monotonic() + self.watch.seconds)
        return self

    @property
    def late(self) -> bool:
        """True where whoever waits for it has waited long enough."""
        return monotonic() > self.ends

    def shared(self, parts: int) -> "Run":
        """Return the run with a part of the time that whoever waits for it has left."""
        now = monotonic()
        return self if self.ends == inf else replace(self, ends=now + (self.ends - now) / parts)


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

    def alone(self, lattice: Lattice) -> "Found":
        """Return the node without what is said of others: a search may not know which hold."""
        scored = [(self.trace.scores.get(self.node, self.score), 0, self.node)]
        trace = Trace.of(lattice, scored, [self.node], self.trace.counted, self.trace.infeasible)
        return replace(self, feasible=None, minimal=None, trace=trace)


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


SHOWN = 20
"""Characters of a number that a message shows at the most."""


@dataclass(frozen=True)
class RangeOptions:
    """Limits of the ranges of a refined attribute.

    Parameters
    ----------
    max_ranges
        Largest number of ranges.
    min_width
        Least width of a range; between whole numbers, 86 to 90 spans 5. It is in days for dates,
        and in values for ordered categories.
    grid
        Number that ranges begin at multiples of.
    """

    max_ranges: int | None = None
    min_width: float | None = None
    grid: float | None = None

    def __post_init__(self) -> None:
        _require_whole("max-ranges", self.max_ranges)
        for name, value in (("min-width", self.min_width), ("grid", self.grid)):
            given = isinstance(value, Real | Decimal) and not isinstance(value, bool)
            number = number_of(value) if given else None
            if value is not None and (number is None or number <= 0):
                raise InputError(f"{name} = {str(value)[:SHOWN]} must be a number above 0")


@dataclass(frozen=True)
class Bounds:
    """Limits of the classes of a recoding, whatever kind it is of.

    Parameters
    ----------
    max_classes
        Largest number of classes.
    min_records
        Fewest records of a class. The search alone keeps to it: the policy, and what is verified,
        stay what they are.
    min_gain
        Least gain in the objective by each further class, in its unit (bits).
    """

    max_classes: int | None = None
    min_records: int | None = None
    min_gain: float = 0.0

    def __post_init__(self) -> None:
        _require_whole("max-classes", self.max_classes)
        _require_whole("min-records", self.min_records)
        gain = self.min_gain
        number = isinstance(gain, Real) and not isinstance(gain, bool)
        if not number or not 0 <= gain < inf:
            raise InputError(f"min-gain = {str(gain)[:SHOWN]} must be a number of at least 0")

    @property
    def requested(self) -> dict[str, object]:
        """The limits that confine anything, by the name that a study has for them."""
        known = {
            "max-classes": self.max_classes,
            "min-records": self.min_records,
            "min-gain": self.min_gain or None,
        }
        return {name: value for name, value in known.items() if value is not None}

    @property
    def suffix(self) -> str:
        """The limits in words, to be added to a message."""
        listed = ", ".join(f"{name} = {value}" for name, value in self.requested.items())
        return f" with {listed}" if listed else ""


def _require_whole(name: str, value: object) -> None:
    if value is not None and not is_whole(value, least=1):
        shown = repr(value)[:SHOWN]
        raise InputError(f"{name} = {shown} must be a whole number of at least 1")


T = TypeVar("T")


WORTH_JOBS = 50_000
"""Classes of a table from which on its nodes are shared between jobs.

What drives the kernels takes some 0.1 ms a node and holds the interpreter's lock, compiled code
8 ns a class: of fewer classes two jobs wait for each other's Python more than they gain. An
estimate from these two speeds: benchmarks/bench_jobs.py measures it on an idle machine.
"""


def jobs_at_once(n_jobs: int | None) -> int:
    """The number of jobs that run at once, as joblib counts them.

    Joblib takes 30 ms to load. One job needs nothing of it, and without it in the process nobody
    can have called ``parallel_config``.
    """
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1
    import joblib

    return int(joblib.effective_n_jobs(n_jobs))


def jobs_for_nodes(n_jobs: int | None, classes: int) -> int:
    """Return the number of jobs to share nodes between, by the classes; 1 where none pays."""
    return jobs_at_once(n_jobs) if classes >= WORTH_JOBS else 1


def placed_elsewhere(jobs: int) -> bool:
    """Return whether joblib's caller chose a place for the jobs other than threads of here."""
    if jobs == 1:
        return False
    from joblib import parallel

    backend, _ = parallel.get_active_backend(prefer="threads")
    return type(backend) is not parallel.ThreadingBackend


def in_parallel(
    function: Callable[..., T], tasks: Sequence[tuple[object, ...]], n_jobs: int | None
) -> list[T]:
    """Return the results of independent tasks; where they run is up to joblib and its caller."""
    return list(as_done(function, tasks, n_jobs))


def as_done(
    function: Callable[..., T], tasks: Sequence[tuple[object, ...]], n_jobs: int | None
) -> Iterator[T]:
    """Yield the results of independent tasks in order, each as soon as it is there."""
    if len(tasks) < 2 or jobs_at_once(n_jobs) == 1:
        return (function(*task) for task in tasks)
    import joblib

    backend, _ = joblib.parallel.get_active_backend(prefer="threads")
    # Results in order, as they come, where the place of the jobs can hand them over one by one.
    way = "generator" if backend.supports_return_generator else "list"
    jobs = (joblib.delayed(function)(*task) for task in tasks)
    found = joblib.Parallel(n_jobs=n_jobs, prefer="threads", return_as=way)(jobs)
    return cast(Iterator[T], iter(found))
