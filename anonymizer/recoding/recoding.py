"""The protocol of recodings: the task that each is given, and the plan that it answers with."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from math import inf
from typing import Any, ClassVar, Protocol

import numpy as np

from anonymizer.counts.columns import encoded
from anonymizer.counts.counting import Counted
from anonymizer.counts.counts import Counts, Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, name_of
from anonymizer.hierarchy import Taxonomy, forgetting
from anonymizer.kernels.arrays import Mask
from anonymizer.objectives import MutualInformation, Objective, ObjectiveName
from anonymizer.privacy import DifferentialPrivacy, PrivacyModel
from anonymizer.recoding.apply import levels_of, require_unnumbered
from anonymizer.recoding.lattice import Node, Trace
from anonymizer.recoding.problem import Found, Frontier, Problem, Run
from anonymizer.tables import engine
from anonymizer.tables.engine import T, Tally
from anonymizer.tables.values import text_of, texts_of

MOST_SCORED = 32
"""Minimal nodes that are scored although no level is chosen: as quick as a cut or two."""


@dataclass(frozen=True)
class Trial:
    """A recoding that was fitted on a half of the records, and evaluated on the other half.

    Parameters
    ----------
    recoding
        Its name.
    taken
        Whether it was then fitted on all records.
    holds
        Whether the policy holds on the half held out; None where it could not be fitted.
    measure, kept
        What it was judged by, and what that comes to on the half held out, in its own unit.
    classes, records_broken
        Classes that the records held out fall in, and records of those that break the policy.
    reason
        Why it could not be fitted; empty where it was.
    score
        The measure, larger being better.
    """

    recoding: str
    taken: bool = False
    holds: bool | None = None
    measure: str | None = None
    kept: float | None = None
    classes: int | None = None
    records_broken: int | None = None
    reason: str = ""
    score: float | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, object]:
        """The trial as a manifest has it."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.repr}


@dataclass(frozen=True)
class SearchResult:
    """The search that found a recoding, its result and what it proves.

    Parameters
    ----------
    strategy, objective
        What searched, and what for.
    value, gap
        The objective of the table searched, in its own unit, None where it may not be reported; how
        much better any other node can be, at the most, None where that is not known.
    nodes, checked
        Nodes of the lattice, and how many of them (or of those of fewer attributes) were counted.
    feasible, minimal
        Nodes that satisfy the policy, and those of them without a direct specialization that does;
        None where the search did not need to know.
    refinements
        How many times attributes were cut.
    proven, bound
        Whether no other recoding of the kind searched is better; what none can be better than, in
        the objective's unit: the value where that is proven.
        With a least gain per class, value and bound are as far apart as with its cost taken off.
        None where it is not known.
    grids
        The attributes whose ranges begin at some cut points alone, those of a grid, and how many
        these are: whatever is said of all recodings is then about those over the grid.
    because
        Why the objective is the one where none was given; empty where one was.
    tried
        The recodings that were tried on a half of the records before one was chosen, if several.
    trace, searched
        What was learned about single nodes, None where the search was not about levels; whether
        there was a search, False where levels were given.
    explained, caution
        What a search that is not over the lattice did, in words, and what to beware of in what it
        found; empty for one over the lattice.

    Trace and words are not part of a manifest.
    """

    strategy: str
    objective: str
    value: float | None = None
    gap: float | None = None
    nodes: int = 0
    checked: int = 0
    feasible: int | None = None
    minimal: tuple[Node, ...] | None = None
    refinements: int = 0
    proven: bool = False
    bound: float | None = None
    grids: Mapping[str, int] = field(default_factory=dict)
    because: str = ""
    tried: tuple[Trial, ...] = ()
    trace: Trace | None = field(default=None, compare=False, repr=False)
    searched: bool = field(default=True, compare=False, repr=False)
    explained: str = field(default="", compare=False, repr=False)
    caution: str = field(default="", compare=False, repr=False)

    @classmethod
    def of(
        cls,
        problem: Problem,
        strategy: str,
        score: float,
        best: float = inf,
        over: Found | Frontier | None = None,
        **found: Any,
    ) -> "SearchResult":
        """Return the result of a search that maximised a problem's objective, in its unit.

        ``score`` was reached, ``best`` is what no other recoding can score more than, infinite
        where that is not known, and ``over`` what was found over the lattice of levels, where that
        was searched; ``found`` are other fields.
        """
        quantity = partial(problem.objective.quantity, records=problem.counts.records)
        value, bound = quantity(score), quantity(best) if best < inf else None
        gap = None if bound is None else abs(bound - value)
        if over is not None:
            # What the caller knows better than the search over the lattice takes the place of it.
            shared = ("nodes", "checked", "feasible", "minimal")
            found = {name: getattr(over, name) for name in shared} | found
            found["trace"] = _traced(problem, over)
        return cls(strategy, problem.objective.name, value, gap=gap, bound=bound, **found)

    def below(self, best: "SearchResult", least: int) -> "SearchResult":
        """Return the result as that of classes of ``least`` records; ``best``: that of any."""
        known = best.bound is not None and self.value is not None
        gap = abs(best.bound - self.value) if known else None  # type: ignore[operator]
        caution = (
            "The best recoding breaks the policy for who takes the persons of a class for equally "
            f"likely. This is one of classes of at least {least:,} records; there may be a better "
            "one that holds."
        )
        said = " ".join(filter(None, [self.caution, caution]))
        return replace(self, proven=False, bound=best.bound, gap=gap, caution=said)

    def to_dict(self) -> dict[str, object]:
        """The result as a manifest has it: nodes are lists of levels."""
        minimal = None if self.minimal is None else [list(node) for node in self.minimal]
        names = [each.name for each in fields(self) if each.compare]
        tried = [trial.to_dict() for trial in self.tried]
        own = {name: getattr(self, name) for name in names if name != "grids" or self.grids}
        return {**own, "minimal": minimal, "tried": tried}


def _traced(problem: Problem, found: Found | Frontier) -> Trace:
    """The trace of a search, scores in the objective's own unit, and what follows from it."""
    objective, trace, scores = problem.objective, found.trace, found.trace.scores
    if isinstance(found, Frontier) and len(found.minimal) <= MOST_SCORED:
        evaluator, sets = problem.evaluator, problem.evaluator.sets()
        score = evaluator.objective.score
        scores = {node: score(evaluator.plain(node, sets.at(node))) for node in found.minimal}
    # Merging classes preserves monotone models; under suppression it may break any of them.
    monotone = all(model.monotone for model in problem.models) and not problem.counts_persons
    upward = monotone and not problem.suppresses
    listed = found.feasible == len(scores)
    records = problem.counts.records
    return replace(
        trace,
        scores={node: objective.quantity(score, records) for node, score in scores.items()},
        upward=upward,
        complete=found.minimal is not None and (upward or listed),
        # An estimate of information is another quantity, and a weighted sum is not in bits.
        informs=type(objective) is MutualInformation
        and all(weight == 1 for weight in objective.of(problem.counts.sensitive).values()),
    )


@dataclass(frozen=True, eq=False)
class Task:
    """The table, policy and objective that a recoding is chosen for.

    ``counted`` is the table, counted once: roles, admitted records, values and how they generalize;
    ``models`` the policy; ``seed`` for what is chosen at random, such as the starts of a local
    search. ``odds``: by how much the choice may change what its reader believes, None for any: see
    ``anonymizer.recoding.rehearsal``.
    """

    counted: Counted
    models: Sequence[PrivacyModel]
    objective: Objective
    seed: int
    run: Run
    odds: float | None = None


class Randomization(Protocol):
    """Report of a manifest on values that were drawn at random."""

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON has it."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """A table carried out by a plan: what is released of it, and what became of its records.

    ``suppressed`` (rows,) marks the admitted rows that are suppressed, and ``removed`` says
    whether these are left out of the released table. ``hidden`` are the quasi-identifiers that are
    not released as they are. ``randomization`` is for values drawn at random, None without.
    ``disclosed`` records are suppressed for their sensitive values alone.
    """

    released: engine.Table = field(repr=False)
    suppressed: Mask = field(repr=False)
    removed: bool
    hidden: Sequence[str]
    randomization: Randomization | None = None
    disclosed: int = 0

    @property
    def fate(self) -> str:
        """The fate of suppressed records: ``"none"``, ``"kept"`` as a class, ``"removed"``."""
        if not self.suppressed.any():
            return "none"
        return "removed" if self.removed else "kept"

    def suppressed_of(self, admitted: engine.Table) -> int:
        """Count the admitted records that are suppressed."""
        return engine.records_in(admitted, self.suppressed)

    def left(self, admitted: T) -> T:
        """Return the admitted records that the released table has, in its order."""
        return self._unsuppressed(admitted) if self.fate == "removed" else admitted

    @property
    def shown(self) -> engine.Table:
        """The released records that are not suppressed."""
        return self._unsuppressed(self.released) if self.fate == "kept" else self.released

    def _unsuppressed(self, records: T) -> T:
        return engine.records_of(records, ~self.suppressed)


@dataclass(frozen=True, eq=False)
class RecodingPlan(ABC):
    """A fitted recoding: applies to tables, describes itself, remembers no record.

    ``taxonomies`` are the values that are known, ``recoding`` their groups, ``search`` how these
    were found. ``seen`` are the values that are remembered when the plan is pickled; all for None.
    """

    schema: Schema
    models: Sequence[PrivacyModel]
    taxonomies: Mapping[str, Taxonomy] = field(repr=False)
    recoding: Partitions | Regions = field(repr=False)
    search: SearchResult
    seen: Mapping[str, Mask] | None = field(default=None, repr=False, kw_only=True)

    private: ClassVar[bool] = False  # nothing may be reported but what the released table shows
    random: ClassVar[bool] = False  # released values are drawn, and need not hold of their records

    def __getstate__(self) -> dict[str, object]:
        # A pickled plan must not disclose a value that only records have which are not released.
        return dict(vars(self.forgetting))

    @property
    def forgetting(self) -> "RecodingPlan":
        """The plan without values that only records have which were not released.

        Those of a population that no record of the table shared are gone, too.
        """
        if self.seen is None:
            return self
        known = {name: forgetting(each, self.seen[name]) for name, each in self.taxonomies.items()}
        recoding = self.recoding
        if not isinstance(recoding, Regions):  # partitions that are levels, by those that are left
            levels = {name: known[name].levels[level] for name, level in self.levels.items()}
            recoding = {**recoding, **levels}
        return replace(self, taxonomies=known, recoding=recoding, seen=None)

    @abstractmethod
    def carry_out(self, admitted: engine.Table) -> Outcome:
        """Recode the admitted records of a table; nothing is verified.

        InputError when it holds values, or combinations of them, that the plan has never seen;
        PolicyBrokenError or PolicyUnreachableError when nothing that satisfies the policy is left.
        """

    def dealt_by(self) -> int | None:
        """Return the seed that deals drawn values among records that are alike.

        None where nobody may know it, or nothing is drawn.
        """
        return None

    def require_room(self, columns: Iterable[object]) -> None:
        """Refuse a table with a column that is in the way of what is released of it."""
        if isinstance(self.recoding, Regions) and self.recoding.numbered:
            require_unnumbered(columns)

    @abstractmethod
    def recoder(
        self, raw: Counts, released: Counts, outcome: Outcome, rng: np.random.Generator
    ) -> Callable[[Counts], Counts]:
        """Return the recoding as a function of counts with the raw ones' combinations.

        Such are those with sensitive values dealt out anew.
        ``raw`` and ``released`` count the admitted records that are released, before and after;
        ``rng`` is for plans that draw.
        """

    @property
    def published(self) -> Schema:
        """The schema of the recoded table: a column that numbers its classes may be added."""
        return self.schema

    def people(self, released: engine.Table) -> Tally | None:
        """Return the population recoded as a released table was; None where there is none."""
        return None

    def weighed(self, admitted: engine.Table) -> "RecodingPlan":
        """Return the plan for other records, where it matters how many people they stand for."""
        return self

    def count(self, admitted: engine.Table) -> Counts:
        """Count admitted records as they are."""
        tally = engine.tally(admitted, self.schema.columns)
        return self.schema.counts(tally, self.taxonomies, self.everybody)

    @property
    def everybody(self) -> Tally | None:
        """The population that models are about, counted; None where there is none."""
        return None

    @property
    def partitions(self) -> Partitions:
        """The recoding of a plan that has one partition per quasi-identifier; else TypeError."""
        if isinstance(self.recoding, Regions):
            raise TypeError("classes have groups of their own")
        return self.recoding

    @property
    def generalized(self) -> Sequence[str]:
        """The quasi-identifiers that are not released at level 0."""
        if isinstance(self.recoding, Regions):
            return self.schema.quasi_identifiers
        return [
            name
            for name, partition in self.recoding.items()
            if len(partition) < len(self.taxonomies[name].levels[0])
        ]

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier that is released at one."""
        return levels_of(self.recoding, self.taxonomies)

    def describe(self, shown: engine.Table) -> dict[str, list[dict[str, object]]]:
        """Describe the groups of each quasi-identifier, as far as released records show them."""
        if isinstance(self.recoding, Regions):
            return self.recoding.described(self.taxonomies)
        found, rows = {}, engine.rows_of(shown)
        for name, partition in self.recoding.items():
            values = engine.distinct(rows[name])[1]
            written = dict(zip(texts_of(values), values, strict=True))
            found[name] = self.taxonomies[name].describe(partition, written)
            if partition is self.taxonomies[name].levels[0]:  # 1.0 is 1 next to suppressed records
                for group in found[name]:
                    label = group["label"]
                    if label is not None:  # no text, though Python writes it as one: None
                        group["label"] = str(written.get(text_of(label), label))
        return found

    @property
    def regions(self) -> Sequence[Mapping[str, str | None]]:
        """The labels of each class, where classes have groups of their own."""
        return self.recoding.listed() if isinstance(self.recoding, Regions) else []


class Recoding(ABC):
    """A way to recode quasi-identifiers: a frozen dataclass of the options of one method.

    ``name`` is what a study file calls the method. ``searches``: whether an objective is maximised,
    for which a time limit can make sense. ``private``: whether it is what differential privacy
    needs. ``numbered``: whether the released table has a column that numbers its classes.
    ``over_levels``: whether it searches the lattice of levels, which can be drawn then.
    ``fallback_objective``: what is maximised where nothing says what information is to be about;
    that of a recoding which maximises nothing stands for none.
    """

    name: ClassVar[str]
    searches: ClassVar[bool] = True
    private: ClassVar[bool] = False
    numbered: ClassVar[bool] = False
    over_levels: ClassVar[bool] = False
    fallback_objective: ClassVar[ObjectiveName] = "mutual-information"

    @abstractmethod
    def fit(self, task: Task) -> tuple[RecodingPlan, Outcome]:
        """Choose the recoding of a table under a policy, and carry it out.

        Parameters
        ----------
        task
            The table, counted once, the policy, the objective and how to run.

        Returns
        -------
        RecodingPlan, Outcome
            The fitted recoding, and the table carried out by it; nothing is verified.

        Raises
        ------
        InputError
            When table, policy and options do not fit together.
        PolicyUnreachableError
            When no recoding of this kind satisfies the policy.
        """

    def require_suitable(
        self, models: Sequence[PrivacyModel], objective: Objective, run: Run
    ) -> None:
        """Refuse what this recoding cannot answer for, before a table is looked at.

        Raises
        ------
        InputError
            When a model needs another recoding, or a time limit is given where nothing is searched.
        """
        private = [model for model in models if isinstance(model, DifferentialPrivacy)]
        if private and not self.private:
            raise InputError(
                f"{private[0].name} needs levels that were chosen without looking at the table; "
                "choose recoding = SafePub(levels) (in a study, method = 'safepub')"
            )
        if not self.searches and run.time_limit is not None:
            raise InputError(f"recoding {self.name!r} searches nothing; leave out the time limit")

    def default_objective(self, models: Sequence[PrivacyModel]) -> tuple[ObjectiveName, str]:
        """Return the objective where none is given, and no target, and why it is the one."""
        if self.fallback_objective == "mutual-information":
            return self.fallback_objective, ""
        if any(model.sensitive for model in models):
            return "mutual-information", "a model of the policy is about a sensitive attribute"
        why = "no model of the policy is about a sensitive attribute, and there is no target"
        if self.fallback_objective == "discernibility":
            why += f"; loss, which would be next, is not made for recoding {self.name!r}"
        return self.fallback_objective, why

    def require_room(self, columns: Iterable[object]) -> None:
        """Refuse a table with a column that is in the way of one that the recoding adds."""
        if self.numbered:
            require_unnumbered(columns)

    @property
    def described(self) -> dict[str, object]:
        """The method and its options: part of a study's fingerprint."""
        options = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        named = {key: name_of(v) if callable(v) else v for key, v in options.items()}
        return {"method": self.name, **named}


def seen_in(table: engine.Table | Counts, taxonomies: Mapping[str, Taxonomy]) -> dict[str, Mask]:
    """Mark the values that a table, or its counts, has of each quasi-identifier."""
    if isinstance(table, Counts):
        columns = dict(zip(table.names, table.cells[table.sizes > 0].T, strict=True))
    else:
        columns = {name: encoded(table[name], taxonomies[name]) for name in taxonomies}
    return {
        name: np.isin(np.arange(len(taxonomies[name].codes)), codes)
        for name, codes in columns.items()
    }
