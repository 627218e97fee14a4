"""Releases read back, and the people of the original tables in their classes."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonymizer.counts.columns import by_text, one_list
from anonymizer.counts.counting import classes_of
from anonymizer.counts.counts import Counts
from anonymizer.counts.multidimensional import CLASS
from anonymizer.counts.pairs import tabulated
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY
from anonymizer.information.matrices import CountMatrix, is_sparse
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.privacy import (
    Population,
    PrivacyModel,
    about_each,
    population_of,
    require_of_one,
)
from anonymizer.privacy.query_loss import together
from anonymizer.profiling.hints import unit_of
from anonymizer.release.column_warnings import names_but
from anonymizer.release.files import MANIFEST, home_of, sound
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.placement import (
    class_numbers,
    place,
    require_no_numbers,
    require_whole_classes,
)
from anonymizer.release.person_warnings import Keyed, repeated_warnings
from anonymizer.release.place import Place
from anonymizer.release.relations import records_in
from anonymizer.release.study import Study
from anonymizer.release.warnings import ReleaseWarning
from anonymizer.tables import engine
from anonymizer.tables.files import Format, GivenFormat, cleaned, describe_file, release_format
from anonymizer.tables.files.format import MissingValues, missing_values_of
from anonymizer.tables.population import WEIGHTS, Margins
from anonymizer.tables.spelling import alike_keys, one_text_each
from anonymizer.tables.spreadsheet import rearmed, rearmed_text
from anonymizer.tables.values import is_missing, text_of

ONE_BY_ONE = "an audit looks at records one by one"
"""Why tables are held in memory."""


@dataclass(frozen=True, eq=False)
class PublishedRelease:
    """A release as it is on disk."""

    path: Path  # as given
    manifest: Manifest
    schema: Schema
    missing_values: MissingValues  # of the original
    models: Sequence[PrivacyModel]  # each about one attribute
    table: pd.DataFrame
    study: Study | None = None  # the source of policy and roles, if not the manifest

    @property
    def raw(self) -> tuple[str, ...]:
        """The quasi-identifiers that were recoded, which an original has to have."""
        return tuple(self.manifest.recoding)

    @property
    def left_out(self) -> Sequence[str]:
        """The identifiers, which an original may have."""
        return self.manifest.file[1].identifiers

    @property
    def person(self) -> tuple[str, ...]:
        """The columns of the original that tell whose each record is; none where they do not say.

        The policy is about persons where there are any.
        """
        return tuple(self.manifest.person)

    @property
    def household(self) -> tuple[str, ...]:
        """The columns of the original that tell which records are of one household."""
        return tuple(self.manifest.household)

    @property
    def random(self) -> bool:
        """True where released values were drawn at random."""
        return bool(self.manifest.masking)

    @property
    def in_order(self) -> bool:
        """True where the records are in the order of the original."""
        return self.manifest.file[0].order != "random"

    @property
    def population(self) -> engine.Table | None:
        """The raw quasi-identifiers of the population that models are about, if any is."""
        people = population_of(self.models)
        raw = replace(self.schema, quasi_identifiers=self.raw)
        # Nobody is placed by weights, or by margins.
        if people is None or people is WEIGHTS or isinstance(people, Margins):
            return None
        found: engine.Table = raw.admit_population(people.table)
        return found

    def shown(self, names: Iterable[str]) -> list[str]:
        """Return the columns, of some, that the released table shows unchanged."""
        columns = {*map(str, self.table.columns)} - {*self.raw}
        return [name for name in names if name in columns]

    def everybody(self, people: Population, known: Sequence[str] = ()) -> pd.DataFrame:
        """The raw quasi-identifiers of everybody in a population, in their order, and some more.

        Nobody is dropped, even with missing values, as several releases place the same people.
        """
        raw = replace(self.schema, quasi_identifiers=(*self.raw, *known), missing="category")
        table = engine.rows_of(raw.admit_population(people.table))
        form = Format(False, missing_values=self.missing_values)
        return table.apply(cleaned, form=form)


def read_release(path: Path, study: Study | None = None) -> PublishedRelease:
    """Read the release in a directory, or the one that a released table belongs to.

    ``study``: gives the policy and the roles of the columns instead of the manifest.
    """
    if not path.exists() and not (path.parent / MANIFEST).exists():
        raise InputError(f"there is no {path}; name a directory that run wrote, with {MANIFEST}")
    directory = home_of(path)
    manifest = Manifest.read(directory / MANIFEST)
    require_whole_classes(manifest.method, "an audit")
    require_no_numbers(manifest.person_numbers, "an audit")
    manifest = manifest.completed(None if study is None else study.hierarchies)
    with sound(directory / MANIFEST):
        table, columns = manifest.table_at(path), manifest.file[1]
        form = release_format(table, columns.separator)
        if study is None:
            schema, missing = manifest.roles, missing_values_of(columns.missing_values)
            models = manifest.policy
        else:
            schema, missing = study.published, study.given.missing_values
            if set(study.schema.quasi_identifiers) != set(manifest.recoding):
                raise InputError(
                    f"{study.path} is not the study of the release: it has other quasi-identifiers"
                )
            models = study.privacy
        models = about_each(models, schema.sensitive)
        if not models:
            raise InputError(f"{directory / MANIFEST} has no policy that could hold")
        if study is not None:
            _require_same_policy(study, models, manifest)
    with Place(table, form).opened(schema.columns) as stored:
        frame = records_in(stored, schema.columns, form, ONE_BY_ONE)
    if manifest.spreadsheet is not None and manifest.spreadsheet.safe:  # texts of the original
        frame, manifest = rearmed(frame), manifest.with_texts(rearmed_text)
    return PublishedRelease(path, manifest, schema, missing, models, frame, study)


def require_compatible(releases: Sequence[PublishedRelease], *, of_one: bool) -> None:
    """Require releases that can be audited together.

    They are different ones, none has a sensitive attribute that another one has recoded, and of
    several none is random: people are found in all of them by their values.

    An attacker who knows such an attribute finds people by it in the release that shows it as
    sensitive, and the policy of that release about it is void. ``of_one``: the releases were made
    of one original; tables made of several may be equal by chance.
    """
    for release in releases:
        if release.random and (len(releases) > 1 or release.population is not None):
            raise InputError(
                f"{release.path} has values that were drawn at random, by which nobody is found in "
                "another table; audit it by itself, under a policy without a population"
            )
    seen: dict[object, Path] = {}
    for release in releases:
        if len(releases) > 1:
            require_of_one(release.models, "an audit of several releases", "name each by itself")
        place = home_of(release.path)
        mark = release.manifest.file[0].sha256 if of_one else place.resolve()
        first = seen.setdefault(mark, release.path)
        if first is not release.path:
            raise InputError(f"{first} and {release.path} are the same release; name it once")
    for hiding, knowing in product(releases, releases):
        for name in hiding.schema.sensitive:
            if name in knowing.raw:
                raise InputError(
                    f"column {name!r} is sensitive in {hiding.path}, but a quasi-identifier, "
                    f"known of people, in {knowing.path}: whoever knows it finds them in both; "
                    "these cannot be released together"
                )


def _require_same_policy(study: Study, models: Sequence[PrivacyModel], manifest: Manifest) -> None:
    """Require the policy of the manifest: studies may be in another order than their releases."""
    own = ((model.name, model.attribute, model.parameters) for model in models)
    made = ((each.model, each.attribute, each.parameters) for each in manifest.privacy)
    dumps = partial(json.dumps, sort_keys=True)
    if sorted(map(dumps, own)) != sorted(map(dumps, made)):
        raise InputError(
            f"{study.path} is not the study of the release: its policy is not that of "
            f"{MANIFEST}; name the studies in the order of the releases"
        )


@dataclass(frozen=True, eq=False)
class PlacedPeople:
    """The people of an original table in the classes of a release that was made of it."""

    release: PublishedRelease
    original: pd.DataFrame
    counts: Counts  # of the classes of the release
    class_of: Codes  # of each person, -1 where the release has no such class
    values: Mapping[str, Codes]  # of each person by attribute, -1 where the release has none such
    person: tuple[str, ...] = ()  # columns of the original by which persons have several records
    household: tuple[str, ...] = ()  # and those that tell who lives together

    @property
    def admitted(self) -> Mask:
        """The records of the original that the release was made of, shape (records,)."""
        return _admitted(self.original, self.release)

    @cached_property
    def people(self) -> Ints:
        """The people of each class, shape (classes,)."""
        known = self.class_of[self.class_of >= 0]
        return np.bincount(known, minlength=len(self.counts)).astype(np.int64)

    def there(self, attribute: str) -> Codes | None:
        """The value of each person, -1 where it is missing and that counts as nothing, or unknown.

        None where the original does not have the attribute.
        """
        own = self.values.get(attribute)
        if own is None or attribute not in self.counts.gaps:
            return own
        return np.where(own < len(self.counts.values[attribute]) - 1, own, -1)

    def joint(self, attribute: str) -> CountMatrix:
        """The people of each class by value, shape (classes, values)."""
        shape = self.counts.joint[attribute].shape
        return cross_counts(self.class_of, self.values[attribute], shape)

    @property
    def beyond(self) -> int:
        """The people in classes of the release that hold more of them than records."""
        return int((self.people - self.counts.sizes).sum())

    @property
    def exact(self) -> bool:
        """True where every class has as many people as records: these are in the release then."""
        return not self.beyond

    def known_columns(self, tables: "Sequence[PlacedPeople]") -> list[str]:
        """The columns that the release shows unchanged although others have them recoded.

        There are none where it is not known who is in the release.
        """
        if not self.exact:
            return []
        known = dict.fromkeys(name for other in tables for name in other.release.raw)
        roles = self.release.schema.columns
        return [name for name in self.release.shown(known) if name not in roles]

    def split_by(self, known: Sequence[str], class_of: Codes, people: pd.DataFrame) -> Codes:
        """Split the classes of some people by known columns, as those of the release's own."""
        if not known:
            return class_of
        labels = [np.concatenate([self.class_of, class_of])]
        for name in known:
            both = pd.concat([self.original[name], people[name]], ignore_index=True)
            labels.append(by_text(both)[0])
        return np.where(class_of >= 0, together(*labels)[len(self.class_of) :], -1)


def cross_counts(class_of: Codes, values: Codes, shape: tuple[int, int]) -> CountMatrix:
    """Count people by class and value, in a given shape; -1 for either leaves one out."""
    known = (class_of >= 0) & (values >= 0)
    return tabulated(class_of[known], values[known], np.ones(int(known.sum()), np.int64), shape)


class OriginalTable(NamedTuple):
    """The place of an original table: its path, and its ``table`` if that is a database."""

    path: Path
    table: str | None = None

    def place(self, form: Format, study: Study | None) -> Place:
        """Return the place, to be read by the means of a study if there is one."""
        place = Place(self.path, form) if study is None else study.place_of(self.path, form)
        return place if self.table is None else place._replace(table=self.table)


def read_original(
    given: OriginalTable, release: PublishedRelease, extra: Sequence[str] = (), *, complete: bool
) -> pd.DataFrame:
    """Read the columns of an original table that matter to a release, and some more.

    ``complete``: the sensitive attributes are required.
    """
    study = release.study
    how = GivenFormat(missing_values=release.missing_values) if study is None else study.given
    try:
        return _read_original(given, release, how, extra, complete=complete)
    except InputError as error:
        if error.section != "data" or study is not None:
            raise
        option = ", or name it with --table" if error.key == "table" else ""
        raise InputError(str(error), f"give the study that says so with --study{option}") from None


def _read_original(
    given: OriginalTable,
    release: PublishedRelease,
    how: GivenFormat,
    extra: Sequence[str],
    *,
    complete: bool,
) -> pd.DataFrame:
    form = describe_file(given.path, how, release.raw)
    place = given.place(form, release.study)
    needed = release.schema.sensitive if complete else ()
    with place.in_order.opened((*release.raw, *needed, *extra)) as table:
        sensitive = [name for name in release.schema.counted if name in table.columns]
        keys = [name for name in table.columns if name in release.left_out or unit_of(name)]
        columns = list(dict.fromkeys([*release.raw, *sensitive, *extra, *keys]))
        stored = table.named({name: name for name in columns})
        found = records_in(stored, columns, form, ONE_BY_ONE)
    lists = {name: mark for name, mark in release.schema.items if name in found.columns}
    return engine.replaced(found, {name: one_list(found[name], lists[name]) for name in lists})


def placed(
    release: PublishedRelease,
    original: pd.DataFrame,
    name: Path,
    *,
    alone: bool,
    person: Sequence[str] = (),
    household: Sequence[str] = (),
) -> PlacedPeople:
    """Place the people of an original table in the classes of a release.

    ``person``: the columns by which they have several records; ``household``: by which they live
    together.
    ``alone``: whether no other release is linked with it, so that of people who are alike it does
    not matter who is in which class.
    Every record of the release has to be that of somebody; otherwise this is not its original.
    """
    counts, class_of = classes_in(release, original, alone=alone)
    values = {
        attribute: _codes(original[attribute], counts.values[attribute])
        for attribute in release.schema.sensitive
        if attribute in original.columns
    }
    keys = tuple(person), tuple(household)
    found = PlacedPeople(release, original, counts, class_of, values, *keys)
    lacking = int(np.maximum(counts.sizes - found.people, 0).sum())
    what = "by their quasi-identifiers"
    for attribute in () if lacking else values:
        gap = counts.joint[attribute] - found.joint(attribute)
        short = np.maximum(gap.data if is_sparse(gap) else gap, 0)
        if short.any():
            lacking, what = int(short.sum()), f"by quasi-identifiers and {attribute!r}"
    if lacking:
        raise InputError(
            f"{name} cannot be what {release.path} was made of: "
            f"{plural(lacking, 'record')} of the release are of nobody in it, {what}; name the "
            "table that was released, values and missing ones written as they were"
        )
    return found


def repeated_in(found: PlacedPeople) -> Iterator[ReleaseWarning]:
    """Warn of people who have several records in the classes of a release.

    Not by the columns of which the audit knows that they do.
    """
    release, inside = found.release, found.class_of >= 0
    table = found.original[inside]
    keys = (*found.person, *found.household)
    known = (*release.raw, *release.schema.sensitive, *keys)
    left_out = [name for name in release.left_out if name not in keys]
    others = [name for name in table.columns if name not in (*known, *left_out)]
    mark = next(names_but(table.columns))

    def classed() -> pd.DataFrame:
        return table.assign(**{mark: found.class_of[inside]})

    keyed = Keyed(table, release.raw, left_out, others, [mark], classed, found.person)
    return repeated_warnings(keyed, release.models)


def classes_in(
    release: PublishedRelease, people: pd.DataFrame, *, alone: bool = False
) -> tuple[Counts, Codes]:
    """Recount the classes of a release, with the class of each person, -1 for none.

    Where suppressed records were kept, people outside all classes are in the class of these. Where
    values were drawn, a person is in the class of a record that was drawn for them.
    """
    schema = replace(release.schema, targets=(), identifiers=())
    table, admitted = release.table, _admitted(people, release)
    if release.random:
        return _in_drawn(release, schema, people[admitted], admitted)
    with sound(release.path / MANIFEST):
        labels, known = place(people, release.manifest, _numbers(release, people, admitted, alone))
    counts, class_of = classes_of(
        table, schema, labels[list(schema.quasi_identifiers)], complete=False
    )
    mine, theirs = class_of[: len(table)], class_of[len(table) :]
    occupied = counts.sizes > 0
    number = np.where(occupied, np.cumsum(occupied) - 1, -1)
    found = np.where(known, number[theirs], -1)
    if release.manifest.suppressed_class == "kept":
        hidden = engine.all_equal(table, schema.quasi_identifiers, ANY)
        if hidden.any():
            found[found < 0] = number[mine[hidden][0]]
    found[~admitted] = -1
    return replace(counts.select(occupied), population=None), found


def _in_drawn(
    release: PublishedRelease, schema: Schema, people: pd.DataFrame, admitted: Mask
) -> tuple[Counts, Codes]:
    """The classes of a release of drawn values, and who was drawn into each.

    This is the attacker that the policy of such a release is about: one who finds a person by what
    was drawn for them. What the channel says of true values is for the estimates. In random order
    nobody else knows that; a person is in the place of a record with their sensitive values then,
    and every figure that follows is that of the true places: records by class and value.
    """
    table = release.table
    if len(people) != len(table):
        raise InputError(
            f"the release has {plural(len(table), 'record')}, and the original {len(people):,}; "
            "name the table that was released, its order included"
        )
    counts, class_of = classes_of(table, schema)
    if not release.in_order:
        own, others = _by_values(people, table, schema.sensitive)
        place = np.empty(len(table), np.intp)
        place[np.argsort(own, kind="stable")] = np.argsort(others, kind="stable")
        class_of = class_of[place]
    found = np.full(len(admitted), -1, np.intp)
    found[admitted] = class_of
    return counts, found


def _by_values(
    people: pd.DataFrame, table: pd.DataFrame, sensitive: Sequence[str]
) -> tuple[Codes, Codes]:
    """Numbers of the sensitive values of people and records, as far as both are known."""
    keys = np.zeros(len(people) + len(table), np.intp)
    for name in sensitive:
        if name in people.columns:
            codes, values = by_text(pd.concat([people[name], table[name]], ignore_index=True))
            read = one_text_each([text_as_read(value) for value in values], alike_keys)
            keys = together(keys, np.asarray(read)[codes])
    return keys[: len(people)], keys[len(people) :]


def _admitted(people: pd.DataFrame, release: PublishedRelease) -> Mask:
    if release.schema.keeps_missing:
        return np.ones(len(people), bool)
    counted = (*release.schema.columns, *release.person, *release.household)
    columns = [name for name in counted if name in people.columns]
    return people[columns].notna().all(axis=1).to_numpy(bool)


def _numbers(
    release: PublishedRelease, people: pd.DataFrame, admitted: Mask, alone: bool
) -> Codes | None:
    """The class number of each record, if a release has numbers and as many records.

    In random order it is one that makes every class what it is, which is enough for ``alone``.
    """
    numbered = CLASS in release.schema.quasi_identifiers and CLASS not in release.raw
    if not numbered or admitted.sum() != len(release.table):
        return None
    if not (release.in_order or alone):
        return None
    shown = np.asarray(release.table[CLASS].astype(int), np.intp) - 1
    found: Codes | None = shown
    if not release.in_order:
        own, others = _by_values(people[admitted], release.table, release.schema.sensitive)
        found = class_numbers(people[admitted], own, release.manifest, shown, others)
    if found is None:
        return None
    numbers = np.full(len(admitted), -1, np.intp)
    numbers[admitted] = found
    return numbers


def _codes(column: pd.Series, values: Sequence[object]) -> Codes:
    """The place of each value among those of a release that read alike, -1 for none."""
    codes, own = by_text(column)
    keys = alike_keys([text_as_read(value) for value in (*values, *own)])
    places = dict(zip(keys, range(len(values)), strict=False))
    found: Codes = np.array([places.get(key, -1) for key in keys[len(values) :]], np.intp)[codes]
    return found


def text_as_read(value: object) -> str | None:
    """Return a value as a reader of the table sees it; None for a missing one."""
    return None if is_missing(value) else str(value).strip()


@dataclass(frozen=True, eq=False)
class AllPeople:
    """Everybody whom several releases may be about.

    Classes are split by columns that the release shows unchanged and another one has recoded.
    """

    classes: Codes  # of each person in each release, -1 for none, shape (people, releases)
    values: Mapping[str, Codes]  # each one's place in kinds; -1 where no release shows it
    kinds: Mapping[str, Sequence[str | None]]  # as texts, by attribute; None for a missing value


def identified(originals: Sequence[pd.DataFrame], identifier: str) -> list[Codes]:
    """Number the person of each record of several tables alike, shape (records,) each.

    7 and 7.0, as a column of numbers with missing ones has it, are one.
    """
    numbers: dict[str, int] = {}
    found = []
    for number, original in enumerate(originals, 1):
        codes, values = by_text(original[identifier])
        texts = [None if is_missing(value) else text_of(value) for value in values]
        known = [text for text in texts if text is not None]
        if len(set(known)) < len(codes):
            raise InputError(
                f"column {identifier!r} of original {number} does not distinguish its records: "
                "every one needs an identifier of its own"
            )
        own = [numbers.setdefault(text, len(numbers)) for text in known]
        found.append(np.array(own, np.intp)[codes])
    return found


def everybody(tables: Sequence[PlacedPeople], persons: Sequence[Codes]) -> AllPeople:
    """Join the people of several original tables; ``persons``: who they are, (records,) each."""
    number = 1 + max(int(of.max(initial=-1)) for of in persons)
    classes = np.full((number, len(tables)), -1, np.intp)
    for column, (table, of) in enumerate(zip(tables, persons, strict=True)):
        known = table.known_columns(tables)
        classes[of, column] = table.split_by(known, table.class_of, table.original)
    kinds, values = {}, {}
    for name in dict.fromkeys(name for table in tables for name in table.values):
        kinds[name], values[name] = _values(name, tables, persons, number)
    return AllPeople(classes, values, kinds)


def _values(
    name: str, tables: Sequence[PlacedPeople], persons: Sequence[Codes], number: int
) -> tuple[list[str | None], Codes]:
    """The values of an attribute that releases show, as texts, and each person's, or -1."""
    shown = []
    for table, of in zip(tables, persons, strict=True):
        if table.release.shown([name]):
            inside = table.class_of >= 0  # a release tells nothing about who is not in it
            codes, values = by_text(table.original[name][inside])
            shown.append((of[inside], codes, [text_as_read(value) for value in values]))
    texts = list(dict.fromkeys(text for *_, own in shown for text in own))
    stands = [texts[place] for place in one_text_each(texts, alike_keys)]
    kind_of = dict(zip(texts, stands, strict=True))
    kinds = sorted(set(stands), key=lambda text: (text is None, text or ""))
    places = {kind: place for place, kind in enumerate(kinds)}
    found = np.full(number, -1, np.intp)
    for of, codes, own in shown:
        mine = np.array([places[kind_of[text]] for text in own], np.intp)[codes]
        differ = (found[of] >= 0) & (found[of] != mine)
        if differ.any():
            raise InputError(
                f"the originals differ in {name!r} of {plural(int(differ.sum()), 'record')}; "
                "an intersection is about values that stay"
            )
        found[of] = mine
    return kinds, found
