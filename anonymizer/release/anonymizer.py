"""Anonymizer: schema, policy, recoding and objective, as a scikit-learn style estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pandas as pd

from anonymizer.counts.persons import PerPerson
from anonymizer.counts.schema import Missing
from anonymizer.errors import AnonymizerError, InputError, require_columns, require_one_of
from anonymizer.feedback.document import Display, Displayed, Table, in_a_line
from anonymizer.feedback.progress import Watch, ignore, watched
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.hierarchy import kind_of as kind_of_hierarchy
from anonymizer.masking import Shift
from anonymizer.objectives import Objective, ObjectiveName
from anonymizer.privacy import PrivacyModel, without_people
from anonymizer.recoding.hasse import lattice_graph
from anonymizer.recoding.recoding import Recoding, Task
from anonymizer.release.estimator import Conventions, learned, require_rows, scored, verified
from anonymizer.release.files import RELEASED
from anonymizer.release.fitting import fitted, planned
from anonymizer.release.frames import rows_of, table_of, with_target, without_index
from anonymizer.release.manifest.parts import Order
from anonymizer.release.place import held_as_file, written_as
from anonymizer.release.plan import ProvenTable, RecodedTable
from anonymizer.release.pseudonyms import PseudonymKey
from anonymizer.release.publisher import Expectation, FileOptions, publisher
from anonymizer.release.relations import CountedTable
from anonymizer.release.release import Release
from anonymizer.release.request import Against, RecodingName, ReleasedWeight, Request, Unseen
from anonymizer.tables.engine import T
from anonymizer.tables.relations.relation import Original, Relation

if TYPE_CHECKING:
    from anonymizer.recoding.lattice import LatticeGraph
    from anonymizer.tables.relations.frames import Frame


@dataclass(eq=False, repr=False)
class Anonymizer(Displayed, Request, Conventions):
    """Find the recoding of the quasi-identifiers that keeps most information under a policy.

    The policy holds for every equivalence class of the released table, which is recounted and
    verified from scratch before it is handed out. Follows scikit-learn's conventions without
    needing scikit-learn: parameters are only stored, learned attributes end in ``_``.

    Parameters
    ----------
    quasi_identifiers
        How each generalizes: a :class:`Hierarchy`, the path of a hierarchy file, or ``"suppress"``.
    sensitive
        The sensitive attribute, or several; may be left out where no model and no objective is
        about one.
    privacy
        The privacy models that every class must satisfy.
    recoding
        How the quasi-identifiers are recoded: a :class:`FullDomain`, :class:`VariableRange`,
        :class:`Cut`, :class:`Boxes`, :class:`MergedCells`, :class:`Fixed`, :class:`SafePub`,
        :class:`Pram`, :class:`Noise` or :class:`Bottleneck` with its options; or the name of one.
    objective
        What is maximised: an :class:`Objective` with its options, such as the target that
        information is kept about; or the name of one. ``"automatic"``, the default, is
        ``"mutual-information"`` where a model of the policy is about a sensitive attribute. Else it
        is ``"loss"``, or ``"discernibility"`` of a recoding whose groups are not those of levels.
    identifiers
        Columns that are left out of the release.
    person
        The column, or the columns, that tell whose each record is where persons have several. They
        are left out of the release, and the policy is about persons: see ``docs/persons.md``.
    per_person
        What somebody with several sensitive values counts: ``"share"``, the default, a share of
        each; ``"each"``: each of them in full, too, as for who asks whether a person has a value in
        any of their records.
    person_numbers
        Whether the release has a number for each person, random and new in each, so that the rows
        of a person can be joined. The policy is about these rows together then. The column is
        called as that of persons, or ``"person"`` where these are several. By a
        :class:`PseudonymKey` it has pseudonyms in their place, the same in all releases by one key.
    weight
        The column of the sampling weights of a survey: how many people each record stands for. It
        is left out of the release; models with ``population="weights"`` are about these people.
    released_weight
        What a release has of the weight: nothing by ``"leave-out"``, or by ``"class"`` the mean of
        each class, whose totals are those of the table.
    household
        The column, or the columns that together, tell which records are of people who live
        together. They are left out of the release; models of households count by them, and all
        others count records as they do without them.
    shift
        Columns of dates in which all dates of a person are moved by one secret number of days: a
        :class:`Shift`, such as ``Shift(["admission", "discharge"], days=180)``.
    insensitive
        Columns that are released as they are. With None, the default, these are all columns without
        a role; where they are listed, a table that has any further column is refused by its name.
    missing
        For quasi-identifiers and sensitive attributes: ``"error"``, ``"drop"`` the records,
        ``"gap"`` or ``"category"``. The last two keep them: a missing value of a quasi-identifier
        generalizes to ``*``; of a sensitive attribute a gap counts as nothing, a category as one
        more value.
    against
        Readers whom the release has to be safe from. ``"method"``: they know the quasi-identifiers
        of everybody, the policy and how recodings are chosen. Then the choice tells next to nothing
        of sensitive values, and the policy holds for what they may believe: see ``docs/risk.md``.
    odds
        With ``against``: how many times as likely the choice may make one value against another;
        1.25 by default. Smaller ones leave less of the policy to it, larger ones a better choice.
    items
        Sensitive attributes whose cells list several items, with what stands between two of them,
        such as ``{"conditions": " "}``. The policy then holds for each item, too, whatever else is
        listed; the release writes each set of items in one way.
    time_limit
        Seconds after which the best recoding found so far is taken; ``search_.gap`` says how much
        better another could be. So does an interrupt while the search lasts.
    seed
        For the shuffled baseline, and for searches that start at random.
    n_jobs
        How much is done at once, as joblib has it.
    progress
        Called with what is being done, how much of it is done, and of how much (or None). When left
        out, a bar shows itself at a prompt or in a notebook once a fit takes longer than a second;
        False for none.
    verify
        Whether ``transform`` and ``fit_transform`` give verified releases, or raise. Without it
        they give every row of a table, in its order and with its index, for a model to learn from
        or to score: no release, as ``attrs["anonymizer"]`` of the DataFrame says. ``fit`` and
        ``fit_transform`` prove the release of the fitted table all the same.
    unseen
        What ``transform`` does with values that the recoding cannot place: ``"error"``, ``"any"``
        (``*`` in that attribute of the record), or ``"suppress"`` the record.

    Attributes
    ----------
    plan_ : Plan
        What was fitted: recoding and policy; carries out releases.
    release_ : Release
        The proof of the table that was fitted or transformed last.
    recoding_, taxonomies_ : mappings of attribute to Partition and Taxonomy
    search_ : SearchResult
        How the recoding was found; the minimal feasible nodes of the lattice among it.
    lattice_ : networkx.DiGraph
        The lattice of levels that was searched: its nodes are tuples of levels, with what is known
        of each (``feasible``, ``minimal``, ``checked``, ``information``, ``value``, ``best``).
    columns_ : list of str
        The columns of the released table.
    feature_names_in_ : array of str
        The columns of the table that was fitted.
    n_features_in_ : int
        How many these are.

    Raises
    ------
    InputError
        When table, hierarchies and parameters do not fit together.
    PolicyUnreachableError
        When no recoding satisfies the policy.
    """

    quasi_identifiers: Mapping[str, Hierarchy | str | Path | Mapping[str, Any]]
    sensitive: str | Sequence[str] = ()
    privacy: Sequence[PrivacyModel] = ()
    recoding: RecodingName | Recoding = "full-domain"
    objective: ObjectiveName | Literal["automatic"] | Objective = "automatic"
    identifiers: Sequence[str] = ()
    missing: Missing = "error"
    seed: int = 0
    time_limit: float | None = None
    n_jobs: int | None = None
    progress: Watch | Literal[False] | None = None
    verify: bool = True
    unseen: Unseen = "error"
    insensitive: Sequence[str] | None = None
    person: str | Sequence[str] = ()
    weight: str | None = None
    per_person: PerPerson = "share"
    household: str | Sequence[str] = ()
    shift: Shift | Mapping[str, Any] | None = None
    released_weight: ReleasedWeight = "leave-out"
    person_numbers: bool | PseudonymKey = False
    against: Against | None = None
    odds: float | None = None
    items: Mapping[str, str] | None = None

    def __repr__(self) -> str:
        given = self.quasi_identifiers
        return in_a_line(
            self,
            plural(len(given) if hasattr(given, "__len__") else 0, "quasi-identifier"),
            _policy(self.privacy),
            _name(self.recoding),
            "fitted" if hasattr(self, "plan_") else "not fitted",
        )

    def display(self) -> Display:
        """What is requested; once fitted, the release of the last table."""
        about = [
            f"Policy: {_policy(self.privacy) or 'none'}.",
            f"Sensitive: {', '.join(map(str, _listed(self.sensitive))) or 'none'}. "
            f"Recoding: {_name(self.recoding)}. Objective: {_name(self.objective)}.",
        ]
        if hasattr(self, "plan_"):
            shown = self.release_.display()
            return Display(f"Anonymizer, fitted. {shown.title}", [*about, *shown.blocks])
        heads = ["attribute", "hierarchy", "levels"]
        requested = Table("Quasi-identifiers", heads, self._hierarchies_shown())
        return Display("Anonymizer, not fitted", [*about, requested])

    def _hierarchies_shown(self) -> list[list[object]]:
        """The hierarchies; a parameter that is none is said to be that."""
        try:
            found = self.hierarchies
        except (AnonymizerError, AttributeError, TypeError) as error:
            return [["", f"not usable: {type(error).__name__}", None]]
        return [[name, kind_of_hierarchy(each), each.height] for name, each in found.items()]

    def __getstate__(self) -> dict[str, object]:
        """What is pickled: once fitted, no record and nobody of a population."""
        state = dict(vars(self))
        if "plan_" in state:
            plan = self.plan_.forgetting
            state |= {"plan_": plan, "recoding_": plan.recoding, "taxonomies_": plan.taxonomies}
            state["privacy"] = without_people(self.privacy)
        return state

    @watched
    def fit(self, X: Any, y: object = None) -> Anonymizer:
        """Choose the recoding for a table, and prove it on that table.

        ``y`` may hold sensitive attributes and targets that X lacks: a Series or a DataFrame by
        their names, or values without a name where one is missing. Else it is not looked at.
        """
        self._learned(table_of(X), y)
        return self

    def transform(self, X: Any) -> Any:
        """Recode a table, recount it, and hand it out only if every class satisfies the policy.

        Recoding and policy are those that were fitted. Columns and records keep their order, other
        columns are kept, identifiers and the index are left out.

        With ``verify=False`` nothing is recounted, and no class suppressed: every row is given, in
        its order, with the columns that were fitted. Their order in X does not matter, columns that
        were not fitted are left out, and sensitive attributes, targets and identifiers may be
        absent. Quasi-identifiers are texts.

        Raises
        ------
        PolicyBrokenError
            When a class of this table breaks the policy.
        InputError
            When it lacks a column, or holds values that the recoding cannot place.
        """
        self._require_fitted()
        given = table_of(X)
        plan, known = self.plan_, list(self.feature_names_in_)
        if not self.verify:
            rows = scored(plan, rows_of(given), known, self.columns_, self.unseen)
            return self._output(rows, given)
        released, self.release_ = verified(plan, given, known, self.unseen)
        return self._output(released, given)

    def publish(
        self,
        X: Any,
        directory: str | Path,
        *,
        file: str = RELEASED[1],
        order: Order = "random",
        force: bool = False,
        strict: bool = False,
    ) -> Release:
        """Write the release of the table that was fitted into a directory.

        What lies there then is what ``anonymizer run`` writes: ``verify_release`` and all commands
        read it. It appears whole or not at all, once it is proven as read back.

        Parameters
        ----------
        X
            The table that was fitted, with the columns of ``y``.
        directory
            Where the release goes.
        file
            ``"released.parquet"``, ``"released.csv"``, or one with ``.dta``, ``.sav`` or ``.xlsx``:
            the format is that of the ending.
        order
            That of the records: ``"random"``, or ``"kept"`` for that of the table.
        force
            Whether a release of ours that lies there is replaced.
        strict
            Whether a release that has warnings is refused.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        PolicyBrokenError
            When a class of the table, as it is read back, breaks the policy.
        InputError
            When the table is another one or its release was drawn at random, or the directory
            cannot be written.
        """
        self._require_fitted()
        require_one_of("file", file, RELEASED)
        require_one_of("order", order, ("random", "kept"))
        plan, objective = self.plan_, self.chosen_objective
        if plan.random or plan.fitted.private or plan.shift is not None:
            raise InputError(
                "the release was drawn at random, and a second draw would tell more than one; "
                "release the table with `anonymizer run`"
            )
        expectation = Expectation(
            plan.fitted.published.without_persons,
            plan.fitted.models,
            {
                "weights": getattr(objective, "weights", {}),
                "targets": getattr(objective, "targets", {}),
                "aggregate": getattr(objective, "aggregate", None),
            },
        )
        table = table_of(X)
        require_columns(table.columns, plan.schema.columns)
        with held_as_file(table) as place:
            options = FileOptions(written_as(place.form, file), False, None, order)
            with publisher(
                Path(directory), place.path, force=force, key=None, strict=strict
            ) as publication:
                release, _ = publication.release(
                    place, plan.schema.columns, self._fitted_again, expectation, options, ignore
                )
        return release

    def _fitted_again(self, raw: Relation) -> RecodedTable:
        """The table that was fitted, recoded where it lies; InputError of another one."""
        recoded = self.plan_.recoded(raw)
        if _figures(recoded.release) != self.fitted_:
            raise InputError(
                "the table is another one than was fitted, whose search the release would report; "
                "fit on it, or publish that one and recode this one by `anonymizer apply`"
            )
        return recoded

    @watched
    def fit_transform(self, X: Any, y: object = None) -> Any:
        """Choose the recoding for a table and give the released one, without the columns of ``y``.

        X is a DataFrame of pandas, Polars (also lazy), Dask or Spark, a table of Arrow or a
        relation of DuckDB. It is counted and recoded where it lies, and what is given is of the
        same kind, with all records of those that keep an order in it. The index of pandas is left
        out: that of a release is 0, 1, 2 ...

        With ``verify=False`` it has every row of X: those that were suppressed, removed or dropped
        are ``*`` in every quasi-identifier. The plan is remembered only when the release that it
        makes is proven.
        """
        given = table_of(X)
        released = self._learned(given, y)
        if isinstance(released, pd.DataFrame):
            return self._output(released[self.columns_], given)
        return self._output(released.handed_out(self.columns_), given)

    def _learned(self, given: pd.DataFrame | Frame, y: object) -> pd.DataFrame | RecodedTable:
        """The release of a table that was fitted, not computed yet where it lies elsewhere."""
        rows = given if self.verify else rows_of(given)
        table: Any = with_target(rows, y, self.schema)  # type: ignore[type-var]
        released = self._released(table)
        self.columns_ = [
            name for name in self.columns_ if name not in {*table.columns} - {*given.columns}
        ]
        self.feature_names_in_ = np.array(given.columns, dtype=object)
        return released

    def _released(self, table: pd.DataFrame | Frame) -> pd.DataFrame | RecodedTable:
        if not isinstance(table, pd.DataFrame):
            recoded = fitted(self, table)
            self._remember(recoded)
            return recoded
        shift = self.chosen_shift
        if self.verify:
            moved = table if shift is None else shift.moved(table, self.schema.person)
            return without_index(self._fitted(moved))
        require_rows(self.chosen_recoding, shift)
        rows = table.reset_index(drop=True)
        return learned(self._fitted(rows), rows, self.schema).set_axis(table.index)

    def _fitted(self, table: pd.DataFrame) -> pd.DataFrame:
        self.schema.require_pinned(table.columns)
        return self.fit_counted(table, self.task(table))

    def fit_counted(self, X: T, task: Task, relation: Original | None = None) -> T:
        """The release of a table that was counted already: ``task(X)``.

        ``relation``: the table as it lies, where X is its tally.
        """
        raw = CountedTable(X, self.hierarchies, relation)
        proven = planned(self, raw.columns, task).proven(raw)
        self._remember(proven)
        return cast(T, proven.records)

    def _remember(self, proven: ProvenTable) -> None:
        self.plan_, self.release_ = proven.plan, proven.release
        self.fitted_ = _figures(proven.release)
        plan = proven.plan.fitted
        self.recoding_, self.taxonomies_, self.search_ = plan.recoding, plan.taxonomies, plan.search
        self.columns_ = proven.columns
        self.feature_names_in_ = np.array(proven.raw.columns, dtype=object)

    @property
    def lattice_(self) -> LatticeGraph:
        """The lattice that was searched, drawn anew each time: see ``lattice_graph``.

        Raises NotFittedError before ``fit``, InputError when the recoding searches no levels.
        """
        self._require_fitted()
        return lattice_graph(self.search_, self.recoding_, self.taxonomies_)


def _figures(release: Release) -> tuple[object, ...]:
    """Figures by which the release of another table is known, whatever the order of its classes."""
    worst = [(each.model.name, each.attribute, round(each.worst, 9)) for each in release.privacy]
    loss = release.query_loss
    return release.released, release.classes, round(loss.average, 9), round(loss.maximum, 9), *worst


def _policy(models: object) -> str:
    """A policy in few words: each model with what it accepts."""
    return " and ".join(
        f"{model.name} {model.range}" if isinstance(model, PrivacyModel) else type(model).__name__
        for model in _listed(models)
    )


def _name(given: object) -> str:
    """A recoding or objective by its name."""
    return given if isinstance(given, str) else str(getattr(given, "name", type(given).__name__))


def _listed(given: object) -> Sequence[object]:
    """A parameter that should be a list, as one; parameters are checked when they are used."""
    return given if isinstance(given, list | tuple) else [given]
