"""Anonymizer: schema, policy and search, bundled as a scikit-learn style estimator."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from anonymizer.counts import Counts, Recoding
from anonymizer.engines import pandas as engine
from anonymizer.errors import InputError, NotFittedError, PolicyUnreachableError, did_you_mean
from anonymizer.hierarchy import Hierarchy, Interval, Partition, Taxonomy
from anonymizer.lattice import level_recoding
from anonymizer.objectives import MutualInformation, Objective
from anonymizer.privacy import PrivacyModel, require_possible
from anonymizer.release import Information, Release, SearchResult, prove
from anonymizer.schema import Schema, taxonomies_of
from anonymizer.search import (
    REFINEMENTS,
    SEARCHES,
    Cutting,
    Frontier,
    Problem,
    RangeOptions,
    Refined,
    Refiner,
    Search,
    best_node,
    refine_jointly,
)

__all__ = ["RECODINGS", "Anonymizer"]

T = TypeVar("T")

RECODINGS = ("full-domain", "variable-range")
"""One level per attribute, or ranges of their own for ordered attributes."""


@dataclass(eq=False)
class Anonymizer:
    """Find the recoding of the quasi-identifiers that keeps most information under a policy.

    The policy holds for every equivalence class of the released table, which is recounted and
    verified from scratch before it is handed out. Follows scikit-learn's conventions without
    needing scikit-learn: parameters are only stored, learned attributes end in ``_``.

    Parameters
    ----------
    quasi_identifiers
        How each generalizes: a :class:`Hierarchy`, the path of a hierarchy file, or ``"suppress"``.
    sensitive
        The sensitive attribute, or several.
    privacy
        The privacy models that every class must satisfy.
    recoding
        ``"full-domain"``: the best node of the lattice of levels. ``"variable-range"``: ordered
        attributes get ranges of their own, the best over all levels of the others (A1*).
    identifiers
        Columns that are left out of the release.
    missing
        For quasi-identifiers and sensitive attributes: ``"error"``, ``"drop"`` the records, or
        ``"category"``, a value of its own that generalizes to ``*``.
    refine
        The attributes that get ranges; all ordered ones when left out.
    max_ranges, min_width, grid
        At most so many ranges; each at least so wide; beginning at multiples of this.
    search
        ``"incognito"`` or ``"exhaustive"``, both exact; or a function like them.
    refinement
        ``"exact"``, or ``"heuristic"``, which moves the boundaries of level 1 (to compare); or a
        function like them.
    seed
        For the shuffled baseline alone.
    n_jobs
        How many nodes are checked at once, as joblib has it.

    Attributes
    ----------
    recoding_ : mapping of attribute to Partition
    release_ : Release
        The proof of the table that was fitted or transformed last.
    search_ : SearchResult
        How the recoding was found; the minimal feasible nodes of the lattice among it.
    hierarchies_, taxonomies_ : mappings of attribute to Hierarchy and Taxonomy

    Raises
    ------
    InputError
        When table, hierarchies and parameters do not fit together.
    PolicyUnreachableError
        When no recoding satisfies the policy.
    """

    quasi_identifiers: Mapping[str, Hierarchy | str | Path]
    sensitive: str | Sequence[str]
    privacy: Sequence[PrivacyModel]
    recoding: str = "full-domain"
    identifiers: Sequence[str] = ()
    missing: str = "error"
    refine: Sequence[str] | None = None
    max_ranges: int | None = None
    min_width: float | None = None
    grid: float | None = None
    search: str | Search = "incognito"
    refinement: str | Cutting = "exact"
    seed: int = 0
    n_jobs: int | None = None

    def fit(self, X: pd.DataFrame, y: object = None) -> "Anonymizer":
        """Choose the recoding for a table, and prove it on that table."""
        self._learn_and_release(X)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Recode a table, recount it, and hand it out only if every class satisfies the policy.

        Columns keep their order, other columns and the index are kept, identifiers are left out.

        Raises
        ------
        PolicyBrokenError
            When a class of this table breaks the policy.
        InputError
            When it holds values that the recoding has never seen.
        """
        if not hasattr(self, "recoding_"):
            raise NotFittedError(
                "this Anonymizer is not fitted yet; call fit or fit_transform first"
            )
        return self._released(_require_frame(X), self._schema())

    def fit_transform(self, X: pd.DataFrame, y: object = None) -> pd.DataFrame:
        """Choose the recoding for a table and give the released table."""
        return self._learn_and_release(X)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The constructor arguments."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def set_params(self, **params: object) -> "Anonymizer":
        """Change constructor arguments."""
        known = [field.name for field in fields(self)]
        for name, value in params.items():
            if name not in known:
                raise InputError(
                    f"Anonymizer has no parameter {name!r}" + did_you_mean(name, known)
                )
            setattr(self, name, value)
        return self

    def _learn_and_release(self, table: pd.DataFrame) -> pd.DataFrame:
        schema, hierarchies = self._schema(), self._hierarchies()
        kept = schema.admit(_require_frame(table))
        tally = engine.tally(kept, schema.columns)
        taxonomies = taxonomies_of(tally, hierarchies)
        counts = schema.counts(tally, taxonomies)
        problem = Problem(counts, taxonomies, tuple(self.privacy))
        require_possible(counts, problem.models)
        recoding, frontier, refined = self._search(problem)
        self.hierarchies_, self.taxonomies_, self.recoding_ = hierarchies, taxonomies, recoding
        self.search_ = self._search_result(frontier, refined)
        return self._released(table, schema, kept, counts)

    def _search(self, problem: Problem) -> tuple[Recoding, Frontier, Refined | None]:
        search = _choice("search", self.search, SEARCHES)
        options = RangeOptions(self.max_ranges, self.min_width, self.grid)
        refined_attributes = self._refined_attributes(problem.taxonomies)
        if self.n_jobs == 0:
            raise InputError("n_jobs = 0: the number of jobs cannot be 0; -1 takes all processors")
        frontier = search(problem, self.n_jobs)
        if not frontier.minimal:
            names = ", ".join(model.name for model in problem.models)
            raise PolicyUnreachableError(
                f"no node of the lattice satisfies all of {names}; relax one"
            )
        if not refined_attributes:
            node = best_node(problem, frontier.minimal, self._objective)
            return level_recoding(problem.taxonomies, problem.counts.names, node), frontier, None
        cutting = _choice("refinement", self.refinement, REFINEMENTS)
        refiner = Refiner(self._objective, options, cutting)
        refined = refine_jointly(problem, refined_attributes, refiner, search, self.n_jobs)
        return refined.recoding, frontier, refined

    @property
    def _objective(self) -> Objective:
        return MutualInformation()

    def _refined_attributes(self, taxonomies: Mapping[str, Taxonomy]) -> list[str]:
        """The attributes that get ranges; none under full-domain recoding."""
        _choice("recoding", self.recoding, dict.fromkeys(RECODINGS))
        for name in self.refine or ():
            if name not in taxonomies:
                hint = did_you_mean(name, taxonomies)
                raise InputError(f"refine names {name!r}, which is no quasi-identifier{hint}")
        if self.recoding == "full-domain":
            return []
        if self.refine is None:
            chosen = [name for name, taxonomy in taxonomies.items() if taxonomy.ordered]
        else:
            chosen = list(self.refine)
        if self.refine is not None and not chosen:
            raise InputError(
                "refine is empty: name the attributes that get ranges, or leave it out"
            )
        if not chosen:
            raise InputError(
                "variable-range recoding needs an ordered attribute: one with a hierarchy of "
                "numbers or ranges; none of the quasi-identifiers has one"
            )
        return chosen

    def _search_result(self, frontier: Frontier, refined: Refined | None) -> SearchResult:
        return SearchResult(
            strategy=_name(self.search),
            nodes=frontier.nodes,
            checked=frontier.checked,
            feasible=frontier.feasible,
            minimal=frontier.minimal,
            refinements=refined.refinements if refined else 0,
            proven=refined.proven if refined else True,
        )

    def _released(
        self,
        table: pd.DataFrame,
        schema: Schema,
        kept: pd.DataFrame | None = None,
        raw: Counts | None = None,
    ) -> pd.DataFrame:
        """Recode, recount, verify; only then remember the proof and hand the table out."""
        kept = schema.admit(table) if kept is None else kept
        released = self._recoded(kept, schema)
        counts, verdicts = prove(released, schema, tuple(self.privacy))
        if raw is None:
            raw = schema.counts(engine.tally(kept, schema.columns), self.taxonomies_)
        self.release_ = Release(
            records=len(table),
            released=len(released),
            dropped=len(table) - len(kept),
            suppressed=0,
            classes=len(counts),
            other_columns=tuple(c for c in released.columns if c not in schema.columns),
            information=Information.of(
                raw, counts, self.recoding_, self.privacy, np.random.default_rng(self.seed)
            ),
            levels=_levels(self.recoding_, self.taxonomies_),
            recoding={
                name: self.taxonomies_[name].describe(partition)
                for name, partition in self.recoding_.items()
            },
            privacy=verdicts,
            search=self.search_,
            study=self._fingerprint(schema),
        )
        return released

    def _recoded(self, table: pd.DataFrame, schema: Schema) -> pd.DataFrame:
        columns = {
            name: _recoded(table[name], self.taxonomies_[name], self.recoding_[name])
            for name in schema.names
        }
        return table.assign(**columns).drop(columns=list(schema.identifiers))

    def _schema(self) -> Schema:
        """The roles of the columns."""
        if not isinstance(self.quasi_identifiers, Mapping):
            raise InputError("quasi_identifiers must map each column to its hierarchy")
        models = list(self.privacy)
        if not models or not all(isinstance(model, PrivacyModel) for model in models):
            raise InputError("privacy must list at least one model, such as KAnonymity(5)")
        sensitive = (self.sensitive,) if isinstance(self.sensitive, str) else tuple(self.sensitive)
        names = tuple(self.quasi_identifiers)
        return Schema(names, sensitive, tuple(self.identifiers), self.missing)

    def _hierarchies(self) -> dict[str, Hierarchy]:
        """Strings made into hierarchies."""
        return {name: Hierarchy.of(stated) for name, stated in self.quasi_identifiers.items()}

    def _fingerprint(self, schema: Schema) -> str:
        """SHA-256 of all that was asked for, hierarchies by content."""
        asked = {
            **self.get_params(),
            "quasi_identifiers": {
                name: hierarchy.describe() for name, hierarchy in self.hierarchies_.items()
            },
            "sensitive": schema.sensitive,
            "identifiers": schema.identifiers,
            "search": _name(self.search),
            "refinement": _name(self.refinement),
            "privacy": [[model.name, model.parameters] for model in self.privacy],
            "refine": None if self.refine is None else list(self.refine),
        }
        del asked["n_jobs"]  # results do not depend on it
        text = json.dumps(asked, sort_keys=True, default=str)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _require_frame(table: object) -> pd.DataFrame:
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"expected a pandas DataFrame, got {type(table).__name__}")
    return table


def _name(chosen: str | Callable[..., object]) -> str:
    return chosen if isinstance(chosen, str) else getattr(chosen, "__name__", repr(chosen))


def _choice(what: str, name: str | T, known: Mapping[str, T]) -> T:
    """The object that a name stands for, or the object itself."""
    if callable(name):
        return name
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(str(name), known) or f"; known are {', '.join(known)}"
        raise InputError(f"{what} = {name!r} is unknown{hint}")
    return known[name]


def _levels(recoding: Recoding, taxonomies: Mapping[str, Taxonomy]) -> dict[str, int]:
    """The level that each partition is, where it is one."""
    return {
        name: level
        for name, partition in recoding.items()
        for level, candidate in enumerate(taxonomies[name].levels)
        if candidate is partition
    }


def _recoded(column: pd.Series, taxonomy: Taxonomy, partition: Partition) -> pd.Series:
    """Replace values by the labels of their groups.

    A column released at level 0 stays as it is, unless values that are written differently but
    are the same (39 and 39.0) have to become one.
    """
    codes, values = engine.distinct(column)
    places = taxonomy.encode(values)
    strange = places < 0
    if strange.any():
        raise InputError(
            f"column {column.name!r} holds {int(strange.sum())} values, in "
            f"{int(strange[codes].sum())} records, that the recoding has never seen; fit on a "
            "table that has them, or list them in a hierarchy file"
        )
    if partition is taxonomy.levels[0] and len(np.unique(places)) == len(places):
        return column
    labels = [str(label) if isinstance(label, Interval) else label for label in partition.labels]
    return engine.relabel(column, partition.groups[places][codes], labels)
