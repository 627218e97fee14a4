"""Anonymizer: schema, policy and search, bundled as a scikit-learn style estimator."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from anonymizer.counts.counting import Counted
from anonymizer.counts.counts import Counts, Recoding
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.schema import Schema
from anonymizer.errors import (
    InputError,
    NotFittedError,
    column_names,
    function_of,
    jobs_of,
    whole_seed,
)
from anonymizer.hierarchy import Hierarchy, Taxonomy
from anonymizer.masking import Masking, masked_from, masking_of, require_alone
from anonymizer.objectives import Objective
from anonymizer.privacy import PrivacyModel, models_of, population_of, without_people
from anonymizer.recoding import (
    REFINEMENTS,
    Bounds,
    Cutting,
    Problem,
    RangeOptions,
    Refiner,
    Run,
    Search,
    Suppression,
    Watch,
    ignore,
)
from anonymizer.recoding.apply import require_unnumbered
from anonymizer.recoding.hasse import lattice_graph
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.result import SearchResult
from anonymizer.recoding.strategies import (
    CUTTING,
    REGIONAL,
    attributes_to_group,
    attributes_to_refine,
    best_cuts,
    best_levels,
    given_levels,
    node_of,
    regional_search,
)
from anonymizer.release.fingerprint import asked_objective, fingerprint
from anonymizer.release.plan import Plan
from anonymizer.release.release import Release
from anonymizer.release.remembered import People
from anonymizer.release.sampled import SampledPlan, differential_privacy, written_alike
from anonymizer.release.sklearn_api import Conventions

if TYPE_CHECKING:
    from anonymizer.recoding.lattice import LatticeGraph
    from anonymizer.release.masked import MaskedPlan

__all__ = ["Anonymizer"]


@dataclass(eq=False)
class Anonymizer(Conventions):
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
        ``"full-domain"``: the best node of the lattice of levels. ``"variable-range"``: ordered
        attributes get ranges of their own, the best over all levels of the others (A1*).
        ``"cut"``: the others are cut through their taxonomies, at different depths. ``"boxes"``:
        every class is a range or a set of values of each attribute, its own. ``"classes"``: cells
        are merged in any way, and a column ``class`` is added that tells the classes apart.
        ``"fixed"``: the levels that are given.
    levels
        Of every quasi-identifier, for ``"fixed"`` recoding.
    identifiers
        Columns that are left out of the release.
    missing
        For quasi-identifiers and sensitive attributes: ``"error"``, ``"drop"`` the records, or
        ``"category"``, a value of its own that generalizes to ``*``.
    refine
        The attributes that get ranges; all ordered ones when left out.
    group
        Attributes of few values that are grouped in any way, under either of these.
    max_ranges, min_width, grid
        At most so many ranges; each at least so wide; beginning at multiples of this.
    max_classes, min_records, min_gain
        At most so many classes; each of at least so many records; every class more adding at least
        so much to the objective (bits), which full-domain recoding cannot promise.
    search
        ``"automatic"``: exact, and quick. ``"bisection"``, ``"top-down"``, ``"incognito"`` and
        ``"exhaustive"`` give the same; ``"branch-and-bound"`` may be cut short. Or a function that
        finds a :class:`Frontier`.
    refinement
        ``"exact"``, or ``"heuristic"``, which moves the boundaries of level 1 (to compare); or a
        function like them.
    masking
        Values drawn at random instead of a search: ``"pram"``, ``"noise"``, ``"bottleneck"``, or
        a :class:`Masking`. They are masked from level 0, or from ``levels``.
    objective
        What is kept most of: ``"mutual-information"`` or an estimate of it, ``"miller-madow"`` or
        ``"above-shuffled"``; ``"non-uniform-entropy"``, ``"loss"``, ``"discernibility"``,
        ``"average-class-size"``, ``"precision"``; or an ``Objective``.
    weights
        By attribute, 1 for those left out: of the quasi-identifiers, or of the sensitive attributes
        where mutual information is the objective.
    target
        What mutual information is kept about instead of the sensitive attributes, which stay under
        the policy: a column, several, or a mapping of columns to weights. A target may be
        sensitive too.
    aggregate
        Of the losses of the attributes: ``"arithmetic-mean"`` (the default), or
        ``"geometric-mean"`` as ARX has it.
    suppression
        Full-domain recoding alone: classes that break a model are suppressed (``*``) while at most
        this share of the records goes. Where the class they form breaks a model itself, they are
        left out.
    remove
        Leave suppressed records out in any case.
    time_limit
        Seconds after which the best node found so far is taken; ``search_.gap`` says how much
        better another could be. So does an interrupt while the search lasts.
    seed
        For the shuffled baseline alone.
    n_jobs
        How much is done at once, as joblib has it.
    progress
        Called with what is being done, how much of it is done, and of how much (or None).

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

    Raises
    ------
    InputError
        When table, hierarchies and parameters do not fit together.
    PolicyUnreachableError
        When no recoding satisfies the policy.
    """

    quasi_identifiers: Mapping[str, Hierarchy | str | Path]
    sensitive: str | Sequence[str] = ()
    privacy: Sequence[PrivacyModel] = ()
    recoding: str = "full-domain"
    levels: Mapping[str, int] | None = None
    identifiers: Sequence[str] = ()
    missing: str = "error"
    refine: Sequence[str] | None = None
    group: Sequence[str] = ()
    max_ranges: int | None = None
    min_width: float | None = None
    grid: float | None = None
    max_classes: int | None = None
    min_records: int | None = None
    min_gain: float = 0.0
    search: str | Search = "automatic"
    refinement: str | Cutting = "exact"
    masking: str | Masking | None = None
    objective: str | Objective = "mutual-information"
    weights: Mapping[str, float] | None = None
    target: str | Sequence[str] | Mapping[str, float] | None = None
    aggregate: str | None = None
    suppression: float = 0.0
    remove: bool = False
    time_limit: float | None = None
    seed: int = 0
    n_jobs: int | None = None
    progress: Watch | None = None

    def __getstate__(self) -> dict[str, object]:
        """What is pickled: once fitted, no record and nobody of a population."""
        state = dict(vars(self))
        if "plan_" in state:
            plan = self.plan_.forgetting
            state |= {"plan_": plan, "recoding_": plan.recoding, "taxonomies_": plan.taxonomies}
            state["privacy"] = without_people(self.privacy)
        return state

    def fit(self, X: pd.DataFrame, y: object = None) -> "Anonymizer":
        """Choose the recoding for a table, and prove it on that table."""
        self._learn_and_release(X)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Recode a table, recount it, and hand it out only if every class satisfies the policy.

        Recoding and policy are those that were fitted. Columns keep their order, other columns and
        the index are kept, identifiers are left out.

        Raises
        ------
        PolicyBrokenError
            When a class of this table breaks the policy.
        InputError
            When it holds values that the recoding has never seen.
        """
        if not hasattr(self, "plan_"):
            raise NotFittedError(
                "this Anonymizer is not fitted yet; call fit or fit_transform first"
            )
        released, self.release_ = self.plan_.release(X)
        return released

    def fit_transform(self, X: pd.DataFrame, y: object = None) -> pd.DataFrame:
        """Choose the recoding for a table and give the released table."""
        return self._learn_and_release(X)

    @property
    def lattice_(self) -> "LatticeGraph":
        """The lattice that was searched, drawn anew each time: see ``lattice_graph``.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        InputError
            When the recoding does not search over levels.
        """
        if not hasattr(self, "search_"):
            raise NotFittedError("this Anonymizer is not fitted yet; call fit first")
        return lattice_graph(self.search_, self.recoding_, self.taxonomies_)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that is asked for, as a manifest has it."""
        return self._fingerprint(self._schema(), self._hierarchies(), self._models())

    def _learn_and_release(self, table: pd.DataFrame) -> pd.DataFrame:
        """Learn a plan and carry it out; remembered only when the release it makes is proven."""
        schema, hierarchies, models = self._schema(), self._hierarchies(), self._models()
        study = self._fingerprint(schema, hierarchies, models)
        suppression = Suppression(self.suppression, self.remove)
        private = differential_privacy(models, schema, self.recoding, suppression)
        masking = masking_of(self.masking)
        if masking is not None:
            require_alone(self.get_params(), models)
        counted = self.counted(table)
        self.require_room(counted.kept.columns)
        if masking is not None:
            from anonymizer.release.masked import mask  # its solvers take a while to load

            base = masked_from(self.levels, counted.taxonomies)
            how = masking, whole_seed(self.seed), study
            return self._remember(*mask(table, counted, base, models, *how))
        if private is not None:
            taxonomies = written_alike(counted.taxonomies)
            given = level_recoding(taxonomies, schema.names, node_of(self.levels, taxonomies))
            name = self._objective().name
            sampled = SampledPlan(schema, models, private, taxonomies, given, name, study)
            return self._remember(*sampled.fitted(table, counted.kept))
        problem = self.problem(counted.counts, counted.taxonomies)
        recoding, search = self.choose(problem)
        seed, tally = whole_seed(self.seed), counted.people
        people = None if tally is None else People.of(tally, counted.taxonomies)
        asked = schema, without_people(models), counted.taxonomies
        plan = Plan(*asked, recoding, suppression, search, seed, study, people)
        return self._remember(*plan.fitted(table, counted.kept, problem.counts))

    def counted(self, table: pd.DataFrame) -> Counted:
        """A table as the search sees it: counted once."""
        people = population_of(self._models())
        return Counted.of(table, self._schema(), self._hierarchies(), people)

    def require_room(self, columns: Iterable[object]) -> None:
        """Require that no column of a table is in the way of one that the recoding adds."""
        if self.recoding == "classes":
            require_unnumbered(set(columns) - set(self._schema().identifiers))

    def problem(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> Problem:
        """What is asked of some counts; refused where no recoding can answer it."""
        suppression = Suppression(self.suppression, self.remove)
        problem = Problem(counts, taxonomies, self._models(), self._objective(), suppression)
        problem.require_possible()
        return problem

    def _remember(
        self, plan: "Plan | SampledPlan | MaskedPlan", released: pd.DataFrame, release: Release
    ) -> pd.DataFrame:
        self.plan_, self.release_ = plan, release
        self.recoding_, self.taxonomies_ = plan.recoding, plan.taxonomies
        self.search_ = plan.search
        self.columns_ = list(released.columns)
        return released

    def choose(self, problem: Problem) -> tuple[Recoding | Regions, SearchResult]:
        """The recoding that answers a problem, and how it was found."""
        attributes = attributes_to_refine(self.recoding, self.refine, problem.taxonomies)
        group = attributes_to_group(self.recoding, self.group, self.refine, problem.taxonomies)
        cutting = function_of("refinement", self.refinement, REFINEMENTS)
        options = RangeOptions(self.max_ranges, self.min_width, self.grid)
        bounds = Bounds(self.max_classes, self.min_records, self.min_gain)
        run = self.run()
        if (self.recoding == "fixed") != (self.levels is not None):
            raise InputError("levels are for recoding = 'fixed', and it needs them")
        if self.recoding == "fixed":
            return given_levels(problem, self.levels, bounds)
        if self.recoding in REGIONAL:
            best_regions = regional_search(self.recoding)
            asked = self.search, self.refinement, whole_seed(self.seed), run
            return best_regions(self.recoding, problem, attributes, options, bounds, *asked)
        if self.recoding not in CUTTING:
            return best_levels(problem, self.search, run, bounds)
        refiner = Refiner(problem.objective, options, cutting, self.recoding == "cut", group)
        return best_cuts(problem, attributes, refiner, self.search, run, bounds)

    def run(self) -> Run:
        """How a search may run."""
        if self.progress is not None and not callable(self.progress):
            raise InputError(f"progress = {self.progress!r} must be a function")
        return Run(jobs_of(self.n_jobs), self.time_limit, self.progress or ignore)

    def _objective(self) -> Objective:
        """The objective, weighted."""
        return asked_objective(self.objective, self.weights, self.target, self.aggregate)

    def _schema(self) -> Schema:
        """The roles of the columns."""
        if not isinstance(self.quasi_identifiers, Mapping):
            raise InputError("quasi_identifiers must map each column to its hierarchy")
        return Schema(
            tuple(self.quasi_identifiers),
            column_names("sensitive", self.sensitive),
            column_names("identifiers", self.identifiers),
            self.missing,
            tuple(getattr(self._objective(), "targets", ())),
        )

    def _hierarchies(self) -> dict[str, Hierarchy]:
        """Strings made into hierarchies."""
        return {name: Hierarchy.of(stated) for name, stated in self.quasi_identifiers.items()}

    def _models(self) -> tuple[PrivacyModel, ...]:
        """The policy."""
        models = models_of(self.privacy)
        if not models:
            raise InputError("privacy must list at least one model, such as [KAnonymity(5)]")
        return models

    def _fingerprint(
        self,
        schema: Schema,
        hierarchies: Mapping[str, Hierarchy],
        models: Sequence[PrivacyModel],
    ) -> str:
        """SHA-256 of all that was asked for."""
        return fingerprint(self.get_params(), schema, hierarchies, models)
