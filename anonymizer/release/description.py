"""What a study file describes, as objects: roles, policy, recoding, objective, and its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pandas as pd

from anonymizer.counts.multidimensional import CLASS
from anonymizer.counts.persons import joint_of
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, did_you_mean, shown, suggestion
from anonymizer.feedback.document import in_a_line
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.reading import whole_name
from anonymizer.masking import Shift
from anonymizer.objectives import AUTOMATIC, Loss, MutualInformation, Objective, objective_of
from anonymizer.privacy import (
    MODELS,
    Population,
    PrivacyModel,
    attribute_of,
    for_odds,
    over_persons,
)
from anonymizer.recoding.recoding import Recoding
from anonymizer.release.document import (
    EMBEDDED,
    PINNED,
    PSEUDONYM,
    STRATEGY,
    StudyDocument,
    read_document,
)
from anonymizer.release.manifest.parts import Order
from anonymizer.release.place import Place, written_as
from anonymizer.release.pseudonyms import PseudonymKey
from anonymizer.release.relations import CountedTable, records_in
from anonymizer.release.request import RECODINGS, odds_against
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, GivenFormat, describe_file, release_format
from anonymizer.tables.files.format import EVERY, MissingValues
from anonymizer.tables.files.opening import is_converted
from anonymizer.tables.population import WEIGHTS, Margins, people_counted
from anonymizer.tables.relations.relation import Relation

ONE_BY_ONE = "records are compared one by one"
"""Why a table is held in memory."""


class Description:
    """What a study describes, each part made once it is needed; paths are relative to its file."""

    populations: dict[PopulationPlace | tuple[PopulationPlace, ...], Population]
    """Each by its place, that of margins by theirs, counted once."""

    def __init__(self, path: str | Path | StudyDocument) -> None:
        if not isinstance(path, StudyDocument):
            path = StudyDocument(Path(path), read_document(Path(path)))
        self.path, self.document = path
        self.populations = {}

    def __repr__(self) -> str:
        names = len(self.document.quasi_identifiers)
        models = [str(given.get("model")) for given in self.document.privacy]
        return in_a_line(self, str(self.path), f"{names} quasi-identifiers", " and ".join(models))

    @cached_property
    def privacy(self) -> tuple[PrivacyModel, ...]:
        """The models of the policy."""
        if not self.document.privacy:
            raise InputError(f"{self.path}: [[privacy]] must list at least one model")
        models = tuple(self._model(given) for given in self.document.privacy)
        if self.document.data.weight is None and any(model.by_weights for model in models):
            raise InputError(
                f'{self.path}: [[privacy]] population = "{WEIGHTS.name}" is the people whom the '
                "records of a sample stand for: add the column of sampling weights to [data], such "
                f'as weight = "sampling_weight"; a file of that name is "./{WEIGHTS.name}"'
            )
        search = self.document.search
        try:
            models = for_odds(models, odds_against(search.against, search.odds))
        except InputError as error:
            raise InputError(f"{self.path}: [search] {error}") from None
        try:
            data, numbers = self.document.data, self.document.output.person is not None
            return over_persons(models, data.person, data.household, numbers)
        except InputError as error:
            raise InputError(f"{self.path}: [[privacy]] {error}") from None

    def _model(self, section: Mapping[str, Any]) -> PrivacyModel:
        """Build a privacy model from its table, checking names before values."""
        place = f"{self.path}: [[privacy]]"
        if MODEL not in section:
            raise InputError(
                f'{place} lacks model, such as model = "k-anonymity"; known are {", ".join(MODELS)}'
            )
        kind = kind_of_model(section[MODEL], place)
        given = {key: value for key, value in section.items() if key != MODEL}
        mend = "add a line {key} = ... below its model"
        require_parameters(f"{place} {kind.name}", kind, given, mend)
        try:
            return kind(**self._resolved(given))
        except InputError as error:
            raise InputError(f"{place} {error}") from None

    def _resolved(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters of a model, those that are paths being what lies there."""
        resolved = dict(given)
        if "hierarchy" in given:
            resolved["hierarchy"] = Hierarchy.of(given["hierarchy"], self.path.parent)
        if "population" in given:
            resolved["population"] = population_of(self, given["population"])
        return resolved

    @cached_property
    def schema(self) -> Schema:
        """The role of every column."""
        document = self.document
        data = document.data
        withheld = (*data.person, *data.household, data.weight)
        return Schema(
            tuple(document.quasi_identifiers),
            document.sensitive.attributes,
            tuple(n for n in document.identifiers.attributes if n not in withheld),
            data.missing,
            tuple(self.targets),
            self._insensitive,
            data.person,
            data.weight,
            data.per_person,
            data.household,
            document.output.weight == "class",
            document.output.person is not None,
            tuple(sorted(data.items.items())),
            # Not by the models: populations need not be read for that.
            joint_of(
                attribute_of(given["attribute"], f"{self.path}: [[privacy]]")
                for given in document.privacy
                if isinstance(given.get("attribute"), list)
            ),
        )

    @property
    def person_key(self) -> PseudonymKey | None:
        """The key of the pseudonyms of persons, where a release has them; not read yet."""
        given = self.document.output.person
        if not isinstance(given, Mapping):
            return None
        return PseudonymKey(self.path.parent / given[PSEUDONYM])

    @cached_property
    def shift(self) -> Shift | None:
        """How dates of persons are moved, where they are."""
        given = self.document.data.shift
        if given is None:
            return None
        try:
            return Shift.of(given, self.schema)
        except InputError as error:
            raise InputError(f"{self.path}: [data] {error}") from None

    @property
    def _insensitive(self) -> tuple[str, ...] | None:
        """The columns that are released as they are, where columns are pinned."""
        listed = self.document.insensitive.attributes
        if self.document.data.columns == PINNED:
            return listed
        if listed:
            raise InputError(
                f'{self.path}: [insensitive] is for pinned columns; add columns = "{PINNED}" to '
                "[data], or leave the section out: columns without a role are released as they are"
            )
        return None

    @property
    def published(self) -> Schema:
        """The roles of the columns of a release: one more distinguishes merged classes."""
        schema = self.schema.without_persons
        self.recoding.require_room(schema.columns)
        return schema.with_quasi_identifier(CLASS) if self.recoding.numbered else schema

    @cached_property
    def targets(self) -> dict[str, float]:
        """What mutual information is to be kept about, if not the sensitive attributes."""
        given = self.document.objective
        if given.target is not None and given.targets:
            raise InputError(f"{self.path}: [objective] has target and targets; choose one")
        return dict(given.targets) if given.target is None else {given.target: 1.0}

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """How each quasi-identifier generalizes."""
        given = self.document.quasi_identifiers
        return {name: self._hierarchy(name, what) for name, what in given.items()}

    def _hierarchy(self, name: str, given: object) -> Hierarchy:
        """The hierarchy of a quasi-identifier: of a file, or of the table in its line."""
        try:
            return Hierarchy.of(given, self.path.parent, name)
        except InputError as error:
            if isinstance(given, str) and given.strip():
                raise  # the file says where
            whole = whole_name(name, given)
            said = error if whole == name else f"a name that has a point is quoted: {whole!r} = ..."
            raise InputError(f"{self.path}: [quasi-identifiers] {name}: {said}") from None

    @cached_property
    def recoding(self) -> Recoding:
        """How the quasi-identifiers are recoded."""
        section, strategy = self.document.recoding, self.document.search.strategy
        kind = RECODINGS[section.method]
        options = {name: getattr(section, name) for name in section.model_fields_set - {"method"}}
        if strategy != "automatic":
            self._require_strategy(kind)
            options[STRATEGY] = strategy
        try:
            return kind(**options)
        except InputError as error:
            raise InputError(f"{self.path}: [recoding] {error}") from None

    def _require_strategy(self, kind: type[Recoding]) -> None:
        """Refuse a strategy for a recoding that does not search the lattice."""
        known = [
            name
            for name, other in RECODINGS.items()
            if STRATEGY in [each.name for each in fields(other)]  # type: ignore[arg-type]
        ]
        if kind.name not in known:
            raise InputError(
                f"{self.path}: [search] strategy is for method = {', '.join(known)}, which search "
                f"the lattice of levels; {kind.name} does not: leave it out"
            )

    @cached_property
    def objective(self) -> Objective:
        """What is maximised."""
        given = self.document.objective
        name = given.name or self._objective_name
        try:
            if name == AUTOMATIC:
                name = self.recoding.default_objective(self.privacy)[0]
            return objective_of(name, given.weights, self.targets, given.aggregate)
        except InputError as error:
            raise InputError(f"{self.path}: [objective] {error}") from None

    @property
    def _objective_name(self) -> str:
        """The objective where no name is given: what its options are for, else any that suits."""
        given = self.document.objective
        if self.targets or {*given.weights} & {*self.document.sensitive.attributes}:
            return MutualInformation.name
        return AUTOMATIC if given.aggregate is None else Loss.name

    @property
    def objective_left_open(self) -> bool:
        """Whether the study says nothing of the objective."""
        given = self.document.objective
        options = given.weights or self.targets or given.aggregate
        return given.name in (None, AUTOMATIC) and not options

    def disarms(self, form: Format) -> bool:
        """Whether a release of that format has no cells that a spreadsheet would run."""
        return self.document.output.csv_safe and not form.parquet

    @cached_property
    def output_format(self) -> Format:
        """The format of the released table: that of the study's own, if it gives no other one.

        InputError when it shall be spread over files that are no Parquet.
        """
        output = self.document.output
        form = written_as(self.data_format, output.file)
        if output.parts is not None and (form.program or not form.parquet):
            raise InputError(
                f'{self.path}: [output] parts is for Parquet; add file = "released.parquet", or '
                "leave it out"
            )
        if "sql" in output.verifiers and form.suffix != ".csv":
            raise InputError(
                f'{self.path}: [output] verifiers = ["sql"] reads CSV; add file = "released.csv", '
                "or leave it out"
            )
        return form

    @property
    def order(self) -> Order:
        """The order of the released records; InputError where that of the table cannot be kept."""
        given, engine = self.document.output.order, self.document.data.engine
        if given == "kept" and engine != EMBEDDED:
            raise InputError(
                f'{self.path}: [output] order = "kept" is for the embedded engine: records of '
                f'engine = "{engine}" have no order; leave one of them out'
            )
        if given == "kept" and self.recoding.private:
            raise InputError(
                f'{self.path}: [output] order = "kept" would disclose which records were drawn; '
                "leave it out"
            )
        return given

    @property
    def objective_options(self) -> dict[str, object]:
        """What the objective weighs: its value can be computed again from the released table."""
        given = self.document.objective
        return {
            "weights": dict(given.weights),
            "targets": self.targets,
            "aggregate": given.aggregate,
        }

    @property
    def data_path(self) -> Path:
        """Where the table lies."""
        return self.path.parent / self.document.data.path

    @cached_property
    def given(self) -> GivenFormat:
        """What ``[data]`` says of how tables are written."""
        data = self.document.data
        try:
            given = {each.name: getattr(data, each.name) for each in fields(GivenFormat)}
            pinned = {"columns": None} if data.columns == PINNED else {}
            self._require_counted(data.missing_values)
            return GivenFormat(**given | pinned)
        except InputError as error:
            raise InputError(f"{self.path}: [data] {error}") from None

    def _require_counted(self, given: MissingValues) -> None:
        """Require that columns have a role whose missing values are named."""
        names = [*given] if isinstance(given, Mapping) else []
        for name in names:
            known = [EVERY, *self.schema.columns]
            if name not in known:
                raise InputError(
                    f"missing-values names {name!r}, which is no quasi-identifier and not sensitive"
                    f"{did_you_mean(name, known)}"
                )

    def format_of(self, path: Path, columns: Sequence[str] | None = None) -> Format:
        """The format of a raw table; what ``[data]`` does not give is found by itself.

        ``columns``: that the table has for sure; those of the schema by default.
        """
        return describe_file(path, self.given, self.schema.columns if columns is None else columns)

    @cached_property
    def data_format(self) -> Format:
        """The format of the study's own table."""
        return self.format_of(self.data_path)

    @property
    def found(self) -> dict[str, object]:
        """How the study's table is written where that is unusual and the study does not say it."""
        return self.data_format.found(self.given)

    def released_format_of(self, path: Path) -> Format:
        """The format of a released table, which is written as releases are."""
        data = self.document.data
        return release_format(path, data.separator, self.given.missing_values)

    def place(self, space: Path | None = None, watch: Watch = ignore) -> Place:
        """Where the study's table lies, and how it is read; InputError where keys do not fit.

        ``space``: a directory for what does not fit into memory.
        """
        return self._place(self.data_path, self.data_format, watch)._replace(space=space)

    def place_of(self, path: Path, form: Format, watch: Watch = ignore) -> Place:
        """Where another table lies, which is read by the means of the study's own."""
        own, database = self._place(path, form, watch), is_converted(path)
        if own.engine != EMBEDDED and (database or not form.parquet):
            return Place(path, form, watch=watch)  # no cluster reads it
        return own if database else own._replace(table=None)

    def _place(self, path: Path, form: Format, watch: Watch) -> Place:
        given = self.document.data
        if given.engine == EMBEDDED and given.master is not None:
            raise InputError(
                f'{self.path}: [data] master is the address of a cluster; add engine = "spark" or '
                '"dask", or leave it out'
            )
        for key in ("memory", "table"):
            if given.engine != EMBEDDED and getattr(given, key) is not None:
                raise InputError(
                    f"{self.path}: [data] {key} is for the embedded engine, not for "
                    f'engine = "{given.engine}"; leave one of them out'
                )
        means = (None, given.memory, watch, given.engine, given.master)
        return Place(path, form, given.table, *means)

    @contextmanager
    def opened(self, watch: Watch = ignore) -> Iterator[Relation]:
        """The study's table where it lies, with the columns of its schema."""
        watch("reading the table", 0, None)
        with self.place(watch=watch).opened(self.schema.columns) as table:
            yield table

    def read(
        self, path: Path | None = None, form: Format | None = None, schema: Schema | None = None
    ) -> pd.DataFrame:
        """The records of the study's table, or of another one of its kind, one by one.

        They have the columns of a schema. InputError where they are more than memory holds.
        """
        names = (schema or self.schema).columns
        place = self.place() if path is None else self.place_of(path, form or self.format_of(path))
        with place.in_order.opened(names) as table:
            return records_in(table, names, place.form, ONE_BY_ONE)


TABLES = ("population", "hierarchy")
"""Parameters that are files: only a study says where they lie."""

MODEL = "model"
"""The key of a section of a policy that names the model."""


def kind_of_model(name: object, place: str) -> type[PrivacyModel]:
    """The privacy model of a name; ``place`` is where a message says that it stands.

    Raises InputError when there is none.
    """
    if not isinstance(name, str) or name not in MODELS:
        raise InputError(f"{place} model = {name!r:.200} is unknown{suggestion(name, MODELS)}")
    return MODELS[name]


def require_parameters(
    place: str, kind: type[PrivacyModel], given: Mapping[str, Any], mend: str
) -> None:
    """Require the parameters of a model, and no others; ``mend`` says how to add a ``{key}``."""
    parameters = sorted(fields(kind), key=lambda field: bool(field.kw_only))  # type: ignore[arg-type]
    known = {field.name: field for field in parameters}
    for key in given:
        if key not in known:
            hint = suggestion(key, known, "it has")
            raise InputError(f"{place} has no parameter {shown(key)}{hint}")
    for key, field in known.items():
        # A default does not spare some: thresholds under different distances differ.
        if key not in given and (field.default is MISSING or key in kind.required):
            raise InputError(f"{place} lacks {key!r}; {mend.format(key=key)}")


def required_model(text: str) -> PrivacyModel:
    """The model that a text requires: ``k-anonymity=5``, ``t-closeness=0.2,distance=kl``.

    The first number is the bound that the model is about (its ``bounded_by``), other parameters
    follow by name.

    Raises InputError when it is no such text, or the model cannot be made of it.
    """
    place = f"--require {text!r:.200}:"
    first, *more = text.split(",")
    name, bound = _pair(first)
    kind = kind_of_model(name, place)
    given = {} if bound is None else {kind.bounded_by: _value(bound)}
    for part in more:
        key, value = _pair(part)
        if value is None:
            raise InputError(f"{place} {key!r:.200} has no value; write {key:.200}=...")
        given[key] = _value(value)
    for key in TABLES:
        weighed = key == "population" and given.get(key) == WEIGHTS.name
        if key in given and not weighed:
            raise InputError(f"{place} {key} is a file, which only a study names; give --study")
    require_parameters(f"{place} {kind.name}", kind, given, "add ,{key}=...")
    try:
        return kind(**given)
    except InputError as error:
        raise InputError(f"{place} {error}") from None


def _pair(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    return name.strip(), value.strip() if equals else None


def _value(text: str) -> int | float | str:
    """A whole number, a number, or else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@dataclass(frozen=True)
class PopulationPlace:
    """Where a population lies: its ``path``, the ``table`` of a database, the column of counts.

    ``count``: how many people each row is, None where it is one.
    """

    path: str
    table: str | None = None
    count: str | None = None

    @property
    def counts(self) -> list[str]:
        """The column of counts, where there is one."""
        return [] if self.count is None else [self.count]

    @classmethod
    def of(cls, given: object) -> PopulationPlace:
        """The place that a study names."""
        keys: Any = {"path": given} if isinstance(given, str) else given
        known = isinstance(keys, dict) and {"path"} <= {*keys} <= {"path", "table", "count"}
        if known and all(isinstance(value, str) for value in keys.values()):
            return cls(**keys)
        raise InputError(
            f"population = {given!r:.200} must be the path of a table, which may lie in a database "
            "or hold how many people each row is, such as "
            '{ path = "census.duckdb", table = "people" } or '
            '{ path = "census.csv", count = "people" }, or "weights", or margins, a list of such '
            'tables of counts: { margins = [{ path = "ages.csv", count = "people" }] }'
        )


def population_of(study: Description, given: object) -> Population:
    """The table of a population, counted once for a study; InputError where it is no table.

    Where it is given by ``"weights"``, the people whom the records stand for.
    """
    if given == WEIGHTS.name:
        return WEIGHTS
    if isinstance(given, dict) and {*given} == {"margins"} and isinstance(given["margins"], list):
        return _margins_of(study, tuple(map(PopulationPlace.of, given["margins"])))
    place = PopulationPlace.of(given)
    if place not in study.populations:
        names = tuple(study.document.quasi_identifiers)
        counting = partial(_everybody, study, place)
        study.populations[place] = Population(counting(names), place.path, counting)
    return study.populations[place]


def _margins_of(study: Description, places: tuple[PopulationPlace, ...]) -> Population:
    """The margins of a population, counted once for a study."""
    if places not in study.populations:
        names = tuple(study.document.quasi_identifiers)
        tables = [_margin(study, place, names) for place in places]
        study.populations[places] = Margins(tables, [place.path for place in places])
    return study.populations[places]


def _everybody(study: Description, where: PopulationPlace, names: Sequence[str]) -> Tally:
    """The people of a population, counted where it lies."""
    form, place = _stored(study, where, [*names, *where.counts])
    with _named(where.path), place.opened([*names, *where.counts]) as stored:
        return _people(stored, where, names, form)


def _margin(study: Description, where: PopulationPlace, names: Sequence[str]) -> Tally:
    """The people of a margin by those of some columns that it has."""
    form, place = _stored(study, where, where.counts)
    with _named(where.path), place.opened(where.counts) as stored:
        there = [name for name in names if name in stored.columns]
        return _people(stored, where, there or [*stored.columns][:1], form)


def _stored(
    study: Description, where: PopulationPlace, columns: Sequence[str]
) -> tuple[Format, Place]:
    path = study.path.parent / where.path
    form = study.format_of(path, columns)
    place = study.place_of(path, form)
    return form, place if where.table is None else place._replace(table=where.table)


def _people(stored: Relation, where: PopulationPlace, names: Sequence[str], form: Format) -> Tally:
    tally = CountedTable.of(stored, [*dict.fromkeys([*names, *where.counts])], {}, form).tally
    return tally if where.count is None else people_counted(tally, where.count, where.path)


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Say where the table of a database is named that a population lies in."""
    try:
        yield
    except InputError as error:
        if error.key != "table":
            raise
        remedy = f'write population = {{ path = "{path}", table = ... }}, with one of them'
        raise error.mended(remedy) from None
