"""What is requested of an estimator, as objects: roles, policy, recoding, objective, task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from anonymizer.counts.counting import Counted
from anonymizer.counts.persons import PerPerson, joint_of
from anonymizer.counts.roles import INSTEAD_OF_NOISE, is_noise
from anonymizer.counts.schema import Missing, Schema
from anonymizer.errors import (
    InputError,
    column_names,
    digest_of,
    jobs_of,
    require_one_of,
    shown,
    whole_seed,
)
from anonymizer.feedback.logs import logged
from anonymizer.feedback.progress import Watch, followed, ignore
from anonymizer.hierarchy import Hierarchy
from anonymizer.masking import Bottleneck, Noise, Pram, RandomRecoding, Shift
from anonymizer.objectives import AUTOMATIC, Objective, ObjectiveName, objective_of
from anonymizer.privacy import (
    DifferentialPrivacy,
    PrivacyModel,
    attributes_of,
    for_odds,
    models_of,
    over_persons,
    population_of,
)
from anonymizer.privacy.beliefs import require_odds
from anonymizer.recoding.best import Best
from anonymizer.recoding.classes import Boxes, MergedCells
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.levels import Fixed, FullDomain
from anonymizer.recoding.problem import Run
from anonymizer.recoding.ranges import Cut, VariableRange
from anonymizer.recoding.recoding import Recoding, Task
from anonymizer.recoding.safepub import SafePub
from anonymizer.release.pseudonyms import PseudonymKey
from anonymizer.tables import engine

RecodingName = Literal[
    "full-domain",
    "variable-range",
    "cut",
    "boxes",
    "merged-cells",
    "fixed",
    "best",
    "safepub",
    "pram",
    "noise",
    "bottleneck",
]
"""The names of the recodings of the table, for type checkers."""

RECODINGS: Mapping[str, type[Recoding]] = {
    kind.name: kind
    for kind in (
        FullDomain,
        VariableRange,
        Cut,
        Boxes,
        MergedCells,
        Fixed,
        Best,
        SafePub,
        Pram,
        Noise,
        Bottleneck,
    )
}
"""What a study file calls each recoding; the first is the default."""


KNOWN_METHODS = tuple(
    name
    for name, kind in RECODINGS.items()
    if issubclass(kind, Generalization) and kind is not Fixed
)
"""Recodings that can be chosen so that the choice tells who knows the method next to nothing."""


def recoding_of(given: object) -> Recoding:
    """A recoding, or that of a name with its defaults.

    Raises InputError when it is neither, or one that has no defaults.
    """
    if isinstance(given, Recoding):
        return given
    if isinstance(given, type) and issubclass(given, Recoding):
        raise InputError(f"recoding = {given.__name__} is a class; give {_call(given)}")
    require_one_of("recoding", given, RECODINGS)
    kind = RECODINGS[str(given)]
    if needed := _needed(kind):
        raise InputError(f"recoding = {given!r} needs {' and '.join(needed)}; give {_call(kind)}")
    return kind()


def _needed(kind: type[Recoding]) -> list[str]:
    """The options that have no default."""
    return [
        each.name
        for each in fields(kind)  # type: ignore[arg-type]
        if each.default is MISSING and each.default_factory is MISSING
    ]


def _call(kind: type[Recoding]) -> str:
    """How one is made, with the options that it needs."""
    return f"{kind.__name__}({', '.join(f'{name}=...' for name in _needed(kind))})"


Unseen = Literal["error", "any", "suppress"]
"""What is done with values that a recoding does not cover."""

UNSEEN: tuple[Unseen, ...] = get_args(Unseen)

Against = Literal["method"]
"""Readers whom a release is to be safe from: they know the method by which it was made."""

AGAINST: tuple[Against, ...] = get_args(Against)

ODDS = 1.25
"""How many times as likely the choice may make a value against another to such readers."""

ReleasedWeight = Literal["leave-out", "class"]
"""What a release has of sampling weights: nothing, or the mean of each class."""

RELEASED_WEIGHTS: tuple[ReleasedWeight, ...] = get_args(ReleasedWeight)

NO_RELEASE = "not a release: not verified"
"""What ``attrs["anonymizer"]`` says of rows that were recoded for a model that scores them."""


def odds_against(against: Against | None, odds: float | None) -> float | None:
    """The odds that the choice of a recoding is limited by; None where it is not.

    InputError where they are no odds, or nobody says against whom.
    """
    if against is None:
        if odds is not None:
            raise InputError(
                'odds limit what the choice of the recoding tells: give against = "method" with '
                "them, or leave them out"
            )
        return None
    require_one_of("against", against, AGAINST)
    chosen = ODDS if odds is None else odds
    require_odds(f'against = "{against}"', chosen)
    return float(chosen)


def require_unrehearsed(against: Against | None, what: str) -> None:
    """Refuse to show what sensitive values make of other recodings: whoever sees it may choose."""
    if against is not None:
        raise InputError(
            f'against = "method" has the recoding chosen without the sensitive values, and {what} '
            "by them what other recodings come to: who follows that tells readers something; leave "
            "against out, and let the figures decide nothing"
        )


def require_unshifted(shift: Shift | None) -> None:
    """Refuse dates that are moved: a model that learns from them learns what chance did."""
    if shift is not None:
        raise InputError(
            "verify = False gives rows that a model scores, each by itself, and shift moves the "
            "dates of all records of a person; leave out shift and its columns"
        )


def require_unweighed(schema: Schema) -> None:
    """Refuse weights of classes where rows are given one by one: a row has none of its own."""
    if schema.releases_weight:
        raise InputError(
            "released weights are the means of the classes of a whole table, and verify = False "
            "gives rows one by one; leave released_weight out"
        )


def listed_items(items: object) -> tuple[tuple[str, str], ...]:
    """Return the attributes whose cells list items, and what stands between, in order."""
    if items is None:
        return ()
    if not isinstance(items, Mapping):
        raise InputError(
            "items must map sensitive attributes to the text between two items, such as "
            f'items={{"conditions": ";"}}, not {shown(items)}'
        )
    return tuple(sorted(items.items()))


def require_equal_sets(models: Sequence[PrivacyModel], schema: Schema) -> None:
    """Refuse models that know values by their order, where these are sets of items."""
    for model in models:
        distance = getattr(model, "distance", None)
        about = {*attributes_of(model, schema.sensitive)} & {*dict(schema.items)}
        if about and distance in ("ordered", "hierarchical"):
            raise InputError(
                f"{model.name} with distance = {distance!r} is about single values, and cells "
                f'of {min(map(str, about))!r} list several items; choose distance = "equal" '
                'or "kl", or leave items out'
            )


class Request:
    """The parameters of an estimator as objects; each raises InputError where one is unusable."""

    quasi_identifiers: Mapping[str, Hierarchy | str | Path | Mapping[str, Any]]
    sensitive: str | Sequence[str]
    privacy: Sequence[PrivacyModel]
    recoding: RecodingName | Recoding
    objective: ObjectiveName | Literal["automatic"] | Objective
    identifiers: Sequence[str]
    missing: Missing
    insensitive: Sequence[str] | None
    person: str | Sequence[str]
    weight: str | None
    per_person: PerPerson
    household: str | Sequence[str]
    shift: Shift | Mapping[str, Any] | None
    released_weight: ReleasedWeight
    person_numbers: bool | PseudonymKey
    items: Mapping[str, str] | None
    against: Against | None
    odds: float | None
    seed: int
    time_limit: float | None
    n_jobs: int | None
    progress: Watch | Literal[False] | None
    verify: bool
    unseen: Unseen

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that is requested, as a manifest has it, hierarchies by content."""
        schema, objective = self.schema, self.chosen_objective
        pinned, shift = schema.insensitive, self.chosen_shift
        numbers = True if self.person_key is None else "pseudonym"
        described = [[name, each.describe()] for name, each in self.hierarchies.items()]
        return digest_of(
            {
                "quasi_identifiers": described,
                "sensitive": schema.sensitive,
                "identifiers": schema.identifiers,
                "missing": schema.missing,
                "privacy": [[each.name, each.attribute, each.parameters] for each in self.models],
                "recoding": self.chosen_recoding.described,
                "objective": [objective.name, _options(objective)],
                "seed": self.seed,
                "time_limit": self.time_limit,
                **({} if pinned is None else {"insensitive": sorted(pinned)}),
                **({"person": schema.person} if schema.person else {}),
                **({} if schema.weight is None else {"weight": schema.weight}),
                **({} if schema.per_person == "share" else {"per_person": schema.per_person}),
                **({"household": schema.household} if schema.household else {}),
                **({"released_weight": "class"} if schema.releases_weight else {}),
                **({} if shift is None else {"shift": shift.to_dict()}),
                **({"items": dict(schema.items)} if schema.items else {}),
                # Of a key neither the place nor a hash: a study is the same with another one.
                **({"person_numbers": numbers} if schema.person_numbers else {}),
                **self.knowing,
            }
        )

    @property
    def chosen_odds(self) -> float | None:
        """By how much the choice of the recoding may change what readers believe; None: any."""
        return odds_against(self.against, self.odds)

    @property
    def knowing(self) -> dict[str, object]:
        """What is reported of readers whom the release is safe from; empty where it is not said."""
        odds = self.chosen_odds
        return {} if odds is None else {"against": self.against, "odds": odds}

    @property
    def person_key(self) -> PseudonymKey | None:
        """What makes the pseudonyms of persons, where a release has them."""
        given = self.person_numbers
        return given if isinstance(given, PseudonymKey) else None

    @property
    def _numbers(self) -> bool:
        """Whether a release has something for each person, random or by a key."""
        given = self.person_numbers
        return True if isinstance(given, PseudonymKey) else given

    @property
    def chosen_shift(self) -> Shift | None:
        """How dates are moved, where they are."""
        if self.shift is None:
            return None
        return Shift.of(self.shift, self.schema)

    @property
    def chosen_recoding(self) -> Recoding:
        """The recoding, by its defaults where it is named."""
        return recoding_of(self.recoding)

    @property
    def chosen_objective(self) -> Objective:
        """The objective, by its defaults where it is named, or not even that."""
        return self.objective_for(self.chosen_recoding)[0]

    def objective_for(self, recoding: Recoding) -> tuple[Objective, str]:
        """The objective of a recoding, and why it is the one where none was given."""
        if self.objective == AUTOMATIC:
            name, because = recoding.default_objective(self.models)
            return objective_of(name), because
        if isinstance(self.objective, str):
            return objective_of(self.objective), ""
        if not isinstance(self.objective, Objective):
            raise InputError("objective must be the name of one, or an Objective")
        return self.objective, ""

    @property
    def schema(self) -> Schema:
        """The roles of the columns."""
        if not isinstance(self.quasi_identifiers, Mapping):
            raise InputError("quasi_identifiers must map each column to its hierarchy")
        named = self.objective if isinstance(self.objective, Objective) else None
        pinned, person = self.insensitive, column_names("person", self.person)
        household = column_names("household", self.household)
        identifiers = column_names("identifiers", self.identifiers)
        if is_noise(self.released_weight):
            raise InputError(f"released_weight {INSTEAD_OF_NOISE}")
        require_one_of("released_weight", self.released_weight, RELEASED_WEIGHTS)
        if self.weight is not None and not isinstance(self.weight, str):
            raise InputError(f"weight must name a column, not {shown(self.weight)}")
        return Schema(
            tuple(self.quasi_identifiers),
            column_names("sensitive", self.sensitive),
            tuple(name for name in identifiers if name not in (*person, *household, self.weight)),
            self.missing,
            tuple(getattr(named, "targets", ())),  # one that is given by its name has none
            None if pinned is None else column_names("insensitive", pinned),
            person,
            self.weight,
            self.per_person,
            household,
            self.released_weight == RELEASED_WEIGHTS[1],
            self._numbers,
            listed_items(self.items),
            joint_of(each.attribute for each in models_of(self.privacy)),
        )

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """The policy."""
        models = models_of(self.privacy)
        if not models:
            raise InputError("privacy must list at least one model, such as [KAnonymity(5)]")
        person, household = (
            column_names("person", self.person),
            column_names("household", self.household),
        )
        known = for_odds(models, self.chosen_odds)
        return over_persons(known, person, household, self._numbers is True)

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """How each quasi-identifier generalizes: strings made into hierarchies."""
        given = self.quasi_identifiers
        return {name: Hierarchy.of(each, attribute=name) for name, each in given.items()}

    def task(self, table: engine.Table, hierarchies: Mapping[str, Hierarchy] | None = None) -> Task:
        """What the recoding is chosen for: a table, counted once, and all that is requested.

        ``hierarchies``: those of the table, where grounds that follow from it are known already.

        Raises InputError when table and parameters do not fit together.
        """

        def count(models: Sequence[PrivacyModel]) -> Counted:
            known = self.hierarchies if hierarchies is None else hierarchies
            return Counted.of(table, self.schema, known, population_of(models))

        with logged("counting", __name__) as counted:
            task = self._task(count)
            counted(_counts_of(task))
        return task

    def task_of(self, counted: Counted) -> Task:
        """The same of a table whose records are admitted and encoded already.

        By the schema, the hierarchies and the population of this estimator. Raises InputError when
        parameters do not fit together.
        """
        return self._task(lambda _: counted)

    def _task(self, count: Callable[[Sequence[PrivacyModel]], Counted]) -> Task:
        """The task for a table that is counted only if the parameters fit together."""
        require_one_of("unseen", self.unseen, UNSEEN)
        if not isinstance(self.verify, bool):
            raise InputError(f"verify = {shown(self.verify)} must be true or false")
        recoding, models = self.chosen_recoding, self.models
        objective, run = self.objective_for(recoding)[0], self.run()
        recoding.require_suitable(models, objective, run)
        if self.schema.keys and isinstance(recoding, RandomRecoding):
            unit = "person" if self.schema.person else "household"
            raise InputError(
                f"recoding {recoding.name!r} draws the values of each record by itself, and all "
                f"records of a {unit} together show more of them; choose one that generalizes, or "
                f"leave out {unit}"
            )
        if self.schema.items:
            self._require_sets(recoding, models)
        if self.schema.releases_weight:
            self._require_classes(recoding)
        if self.schema.person_numbers:
            self._require_numbering(recoding)
        if any(isinstance(model, DifferentialPrivacy) for model in models):
            self._require_single_records()
            self._require_given_grounds()
        odds = self.chosen_odds
        if odds is not None:
            self._require_rehearsals(recoding, objective)
        return Task(count(models), models, objective, whole_seed(self.seed), run, odds)

    def _require_rehearsals(self, recoding: Recoding, objective: Objective) -> None:
        """Refuse what is not shown to be safe from who knows the method."""
        given = 'against = "method"'
        if not isinstance(recoding, Generalization) or isinstance(recoding, Fixed):
            raise InputError(
                f"{given} is for recodings that are searched for by one search: "
                f"{', '.join(KNOWN_METHODS)}; {recoding.name} is none of these"
            )
        if self.schema.items:
            raise InputError(
                f"{given} deals single values, and items are counted by each of them; leave one of "
                "the two out"
            )
        if self.schema.keys:
            raise InputError(
                f"{given} deals the values of a class to its records one by one, and persons or "
                "households have several; leave it out, or person and household"
            )
        if getattr(objective, "targets", None) or getattr(objective, "weights", None):
            raise InputError(
                f"{given} invents the sensitive values that an objective sees; leave out its "
                "targets and weights"
            )
        if recoding.budget.share:
            raise InputError(
                f"{given} is for releases of all records: which values there are, and how often, "
                "is known without noise, and suppressed records may have some of their own; leave "
                "out suppression"
            )
        if self.missing == "drop":
            raise InputError(
                f'{given} is for releases of all records: missing = "drop" would leave out those '
                'without a sensitive value; choose "gap" or "category"'
            )

    def _require_sets(self, recoding: Recoding, models: Sequence[PrivacyModel]) -> None:
        """Refuse items where records are drawn, or where a model knows values by their order."""
        if recoding.private or isinstance(recoding, RandomRecoding):
            raise InputError(
                f"items are for recodings that generalize, and {recoding.name} draws at random; "
                "choose another recoding, or leave items out"
            )
        require_equal_sets(models, self.schema)

    def _require_classes(self, recoding: Recoding) -> None:
        """Refuse released weights where records are drawn, or rows are given one by one."""
        if recoding.private or isinstance(recoding, RandomRecoding) or not self.verify:
            raise InputError(
                "released weights are the means of classes, of a recoding that generalizes and of "
                "a whole table; leave the weight out, choose such a recoding, or leave out "
                "verify = False"
            )

    def _require_numbering(self, recoding: Recoding) -> None:
        """Refuse numbers of persons where records do not stay together, or are no release."""
        if not isinstance(recoding, FullDomain | Fixed):
            raise InputError(
                f"numbers of persons are for full-domain and fixed, not for {recoding.name}: the "
                "policy is about all records of a person together; choose one of these, or leave "
                "the numbers out (person below [output] in a study)"
            )
        if recoding.suppression and not recoding.suppress_persons:
            raise InputError(
                "suppression leaves out some records of a person, whose number then shows the "
                "others; suppress whole persons, by suppress-persons = true, or leave out "
                "suppression or the numbers (person below [output] in a study)"
            )
        if not self.verify:
            raise InputError(
                "verify = False gives rows for a model, and no number of a person; leave out "
                "person_numbers"
            )
        if self.person_key is not None:
            self.person_key.require()

    def _require_single_records(self) -> None:
        """Refuse households where a single record is protected."""
        if self.schema.household:
            raise InputError(
                "differential-privacy protects a single record, and the records of a household "
                "show more together; leave out household, and list its column among the identifiers"
            )

    def _require_given_grounds(self) -> None:
        """Refuse a ground that follows from the records where nothing else may."""
        for name, hierarchy in self.hierarchies.items():
            if hierarchy.follows_table:
                raise InputError(
                    f"quantiles of {name!r} follow from the records, and no noise protects "
                    "them; give its ground as cut points, such as ground = [10, 20, 30]"
                )

    def run(self) -> Run:
        """How a search may run."""
        given = self.progress
        if given is not None and given is not False and not callable(given):
            raise InputError(f"progress = {given!r} must be a function, or False for none")
        watch = followed() if given is None else given
        return Run(jobs_of(self.n_jobs), self.time_limit, watch or ignore)


def _options(objective: Objective) -> dict[str, object]:
    if not is_dataclass(objective):
        return {}
    return {each.name: getattr(objective, each.name) for each in fields(objective)}


def _counts_of(task: Task) -> dict[str, int | None]:
    """What is logged of a counted table: nothing where not even the records may be reported."""
    private = any(isinstance(model, DifferentialPrivacy) for model in task.models)
    return {} if private else {"records": task.counted.counts.records}
