"""The protocol of recodings: the task that each is given, and the plan that it answers with."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Protocol

import numpy as np

from anonymizer.counts.columns import encoded
from anonymizer.counts.counting import Counted
from anonymizer.counts.counts import Counts, Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, name_of
from anonymizer.hierarchy import Taxonomy, forgetting
from anonymizer.kernels.arrays import Mask
from anonymizer.objectives import Objective, ObjectiveName
from anonymizer.privacy import DifferentialPrivacy, PrivacyModel
from anonymizer.recoding.apply import levels_of, require_unnumbered
from anonymizer.recoding.problem.problem import Run
from anonymizer.recoding.result import SearchResult
from anonymizer.tables import engine
from anonymizer.tables.engine import T, Tally
from anonymizer.tables.values import text_of, texts_of


@dataclass(frozen=True, eq=False)
class Task:
    """The table, policy and objective that a recoding is chosen for.

    ``counted`` is the table, counted once: roles, admitted records, values and how they generalize;
    ``models`` the policy; ``seed`` for what is chosen at random, such as the starts of a local
    search.
    """

    counted: Counted
    models: Sequence[PrivacyModel]
    objective: Objective
    seed: int
    run: Run


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
        """The schema of the released table: a column that numbers its classes may be added."""
        return self.schema

    def people(self, released: engine.Table) -> Tally | None:
        """Return the population recoded as a released table was; None where there is none."""
        return None

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
        found = {}
        for name, partition in self.recoding.items():
            values = engine.distinct(shown[name])[1]
            written = dict(zip(texts_of(values), values, strict=True))
            found[name] = self.taxonomies[name].describe(partition, written)
            if partition is self.taxonomies[name].levels[0]:  # 1.0 is 1 next to suppressed records
                for group in found[name]:
                    shown_as = written.get(text_of(group["label"]))
                    group["label"] = group["label"] if shown_as is None else str(shown_as)
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
