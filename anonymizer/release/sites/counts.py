"""The counts of a table's parts: made at a site, added and released by a steward, and followed.

A steward adds the files of counts of all sites, and chooses and proves a recoding on their sum.
By that release a part is recoded as the steward did it: a value is placed by the groups of the
manifest and, with the study, by its hierarchies. A record is released when its class stands in the
released counts; the classes that do not were suppressed on the union, which no part can see by
itself. Texts are those of the released counts, so that parts which write a value in different ways
agree.
"""

import json
import secrets
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from anonymizer.counts.counting import classes_of
from anonymizer.counts.schema import taxonomies_of
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.feedback.logs import logged
from anonymizer.hierarchy import Hierarchy
from anonymizer.kernels.arrays import Mask
from anonymizer.masking.options import RandomRecoding
from anonymizer.recoding import Waiting, Watch, ignore
from anonymizer.recoding.apply import overwritten, relabelled
from anonymizer.recoding.policy import WHOLE_PERSONS
from anonymizer.recoding.recoding import Task
from anonymizer.release.applied import AppliedPlan, key_of, plan_for
from anonymizer.release.applied_release import AppliedRelease
from anonymizer.release.files import COUNTS, digest_of_file, shape_of
from anonymizer.release.fitting import proven
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import ReleasedFile
from anonymizer.release.output import require_place, write_file
from anonymizer.release.plan import Plan, ProvenTable
from anonymizer.release.proof import prove, same_classes
from anonymizer.release.pseudonyms import PseudonymKey
from anonymizer.release.publisher import Expectation, publisher
from anonymizer.release.relations import CountedTable
from anonymizer.release.release import Release
from anonymizer.release.signing import PrivateKey
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.tables.counts_file import (
    added,
    as_text,
    as_texts,
    compared,
    read_counts,
    write_counts,
)
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format
from anonymizer.tables.files.format import MissingValues
from anonymizer.tables.relations.relation import Relation
from anonymizer.tables.spelling import read_keys
from anonymizer.tables.values import plain_text

FORMAT, WITH_PERSONS = 1, 2
"""The version of the form of a file of counts; of one that has pseudonyms of persons."""

NOTICE = (
    "SENSITIVE: these are the counts of raw records, as sensitive as the table that they count. "
    "Keep them from everybody but the steward who adds them up."
)
"""What a file of counts says of itself."""

OF_PERSONS = (
    "PSEUDONYMS: all records of a person stand under one pseudonym here, at every site. It is a "
    "raw table without names: who knows some records of somebody finds the others."
)
"""What one with persons says, too."""

OF_RELEASE = "The counts of a released table, which are as public as that is."


@dataclass(frozen=True, eq=False)
class PartCounts:
    """The counts of a part of a table.

    Parameters
    ----------
    tally
        How many records have each combination of values of the columns with a role, as texts.
    columns
        All columns of the table but its identifiers, in their order.
    roles
        The roles of the columns, and what counts as a missing value: those of the study.
    part
        A number drawn for this file, hexadecimal: without it nobody can tell by the digest of a
        file which counts it has. None of the counts of a released table.
    person_key
        Which key the pseudonyms of persons were made with; None where there are none.
    digest
        The SHA-256 of the file.
    """

    tally: Tally = field(repr=False)
    columns: tuple[str, ...]
    roles: Mapping[str, Any] = field(repr=False)
    part: str | None = field(default=None, repr=False)
    digest: str = ""
    person_key: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, path: Path) -> "PartCounts":
        """The counts in a file; InputError when it holds none, or is damaged."""
        tally, about = read_counts(path)
        if about.get("format") not in (FORMAT, WITH_PERSONS):
            raise InputError(
                f"{path} was written by a later version of anonymizer, or damaged: update "
                "anonymizer, or count the part again"
            )
        columns, roles, part = (about.get(key) for key in ("columns", "roles", "part"))
        key = about.get("person-key")
        if not (
            isinstance(columns, list)
            and {*tally.columns} <= {*columns}
            and isinstance(roles, dict)
            and isinstance(part, str | None)
            and isinstance(key, str | None)
            and (key is not None) == (part is not None and bool(roles.get("person")))
        ):
            raise InputError(f"{path} was damaged: count the part again")
        return cls(tally, tuple(columns), roles, part, digest_of_file(path), key)

    def write(self, path: Path) -> None:
        """Write them to a file."""
        notice, persons = OF_RELEASE if self.part is None else NOTICE, self.person_key is not None
        about = {
            "format": WITH_PERSONS if persons else FORMAT,
            "notice": f"{notice} {OF_PERSONS}" if persons else notice,
            "part": self.part,
            "columns": self.columns,
            "roles": self.roles,
            **({"person-key": self.person_key} if persons else {}),
        }
        write_counts(path, self.tally, about)

    @property
    def records(self) -> int:
        """How many records were counted."""
        return engine.records(self.tally)


def _declared(given: MissingValues) -> Iterator[str]:
    """Yield the texts that count as missing, next to their column where they are of one."""
    if not isinstance(given, Mapping):
        yield from given
        return
    yield from (f"{text} in {name}" for name, texts in given.items() for text in texts)


def roles_of(study: Study) -> dict[str, Any]:
    """What has to be the same wherever parts of one table are counted."""
    schema = study.schema
    return {
        "quasi-identifiers": sorted(schema.quasi_identifiers),
        "sensitive": sorted(schema.sensitive),
        "targets": sorted(schema.targets),
        "identifiers": sorted(schema.identifiers),
        "grounds": sorted(
            f"{name} = {json.dumps(hierarchy.ground, default=str)}".replace('"', "")
            for name, hierarchy in study.hierarchies.items()
            if hierarchy.ground is not None
        ),
        "missing": schema.missing,
        "missing-values": sorted(_declared(study.given.missing_values)),
        # Counts without persons are as they were before sites could count any.
        **({"person": sorted(schema.person)} if schema.person else {}),
    }


def require_roles(path: Path, found: Mapping[str, Any], study: Study) -> None:
    """Require that counts are those of the roles of a study; the message names what differs."""
    roles = roles_of(study)
    for key in (*roles, *(key for key in found if key not in roles)):
        own, other = roles.get(key, []), found.get(key, [])
        if own != other:
            raise InputError(
                f"{path} was counted by another study: its {key} are {_listed(other)}, "
                f"those of {study.path} are {_listed(own)}; count the part again by this study"
            )


def _listed(given: object) -> str:
    if isinstance(given, Sequence) and not isinstance(given, str):
        return ", ".join(map(repr, given)) or "none"
    return repr(given)


IN_ONE_PLACE = {
    "household": "counts of parts would carry the keys of households from site to site; leave it "
    "out, and list the column among the identifiers",
    "weight": "counts of parts have no sums of sampling weights; leave it out, and list the column "
    "among the identifiers",
    "items": "sites would write the same set of items in several ways; leave it out",
}  # keys of [data] that parts refuse, and why


def require_countable(study: Study) -> None:
    """Refuse what cannot be done with parts, before anything is read.

    InputError where sites could not recode as the steward does: values are drawn at random, or
    classes differ by the number that they have.
    """
    recoding, instead = study.recoding, "choose full-domain, variable-range, cut, boxes or fixed"
    place = f"{study.path}: [recoding] method = {recoding.name!r}"
    if recoding.private or isinstance(recoding, RandomRecoding):
        raise InputError(f"{place} draws at random, which parts cannot do alike; {instead}")
    if recoding.numbered:
        raise InputError(
            f"{place} makes classes whose labels overlap, so that a site cannot tell which one a "
            f"record is in; {instead}"
        )
    for name, hierarchy in study.hierarchies.items():
        if hierarchy.follows_table:
            raise InputError(
                f"{study.path}: the quantiles of {name!r} follow from the records, which lie at "
                "several sites; give its ground as cut points, such as ground = [10, 20, 30]"
            )
    if recoding.described.get(WHOLE_PERSONS):
        raise InputError(
            f"{study.path}: [recoding] suppress-persons is for a table that lies in one place: a "
            "site cannot tell by the released classes which persons were left out; leave it out, "
            "and records of small classes are suppressed"
        )
    if study.schema.person_numbers:
        raise InputError(
            f"{study.path}: [output] person is for a table that lies in one place: the persons of "
            "the released counts are not those of a part, so that no site could give its rows "
            "the same numbers; leave it out where parts are counted"
        )
    for key, because in IN_ONE_PLACE.items():
        if getattr(study.schema, key):
            elsewhere = f"[data] {key} is for a table that lies in one place"
            raise InputError(f"{study.path}: {elsewhere}: {because}")
    if (given := study.document.output).csv_safe or given.verifiers:
        key = "csv-safe" if given.csv_safe else "verifiers"
        words = "is for tables that are released as one; leave it out where parts are counted"
        raise InputError(f"{study.path}: [output] {key} {words}")


@contextmanager
def part_at(
    study: Study, path: Path, space: Path, watch: Watch
) -> Iterator[tuple[Relation, Format]]:
    """A part where it lies, as a study has it, and its format.

    ``space``: a directory for what does not fit into memory.
    """
    form = study.format_of(path)
    place = study.place_of(path, form, watch)._replace(space=space)
    with place.opened(study.schema.columns) as raw:
        yield raw, form


def counts_of(
    study: Study, table: Relation, form: Format, key: PseudonymKey | None = None
) -> PartCounts:
    """Count a part as a study has it, where it lies; at the grounds of its columns.

    ``key``: what makes pseudonyms of persons, where the study has any.

    InputError where the part could not be released by itself: a column is lacking, values are
    missing under ``missing = "error"``, or a hierarchy does not cover them.
    """
    with logged("counting", __name__) as counted:
        schema = study.schema
        schema.require_shape(table.columns, table.records)
        schema.require_pinned(table.columns)
        tally = CountedTable.of(table, schema.columns, study.hierarchies, form).tally
        taxonomies_of(schema.admit(tally), study.hierarchies)
        columns = tuple(name for name in table.columns if name not in schema.identifiers)
        hidden = as_texts(tally if key is None else key.hidden(tally, schema.person))
        check = None if key is None else key.check
        part = secrets.token_hex(16)
        counted({"combinations": len(hidden.sizes)})
    return PartCounts(hidden, columns, roles_of(study), part, person_key=check)


def key_of_persons(study: Study, path: Path | None) -> PseudonymKey | None:
    """Return the key in a file, where a study has persons, and None where it has none.

    Raises InputError when there is one and not the other, or the key cannot be read.
    """
    person = study.schema.person
    if person and path is None:
        raise InputError(
            f"{study.path}: [data] person needs a key that all sites have, and the steward has "
            "not: without it a person at two sites would count as two; give it with --person-key "
            "(`openssl rand -hex 32` makes one), or leave person out and count one record of each "
            "person"
        )
    if path is not None and not person:
        raise InputError(
            f"{study.path}: --person-key hides whose records are counted, and no column tells "
            "that; name it as person below [data], or leave out --person-key"
        )
    return None if path is None else PseudonymKey.read(path)


def count_part(
    study: Study,
    table: Path,
    path: Path,
    *,
    force: bool = False,
    watch: Watch = ignore,
    person_key: Path | None = None,
) -> PartCounts:
    """Count a part of a table and write its counts to a file that its owner alone can read.

    ``person_key``: the file of the key that all sites have, where the study has persons: they are
    counted by pseudonyms made with it.

    Raises InputError when the study cannot be carried out on parts, the part not be read or counted
    by it, the key not be read, or the file not be written.
    """
    require_countable(study)
    key = key_of_persons(study, person_key)
    require_place(path, "cannot count to", force=force)
    made: list[PartCounts] = []

    def write(path: Path) -> None:
        watch("reading the table", 0, None)
        # What does not fit into memory is as sensitive: it goes where a killed run is cleared.
        with part_at(study, table, path.parent.parent, watch) as (raw, form):
            watch("counting the table", 0, None)
            made.append(counts_of(study, raw, form, key))
        made[0].write(path)

    write_file(path, write, force=force, private=True)
    return made[0]


def read_parts(study: Study, paths: Sequence[Path]) -> list[PartCounts]:
    """The counts of different parts of one table, by one study.

    InputError when a file is no counts of a part, was counted by other roles, has other columns, or
    is there twice.
    """
    found: list[PartCounts] = []
    for path in paths:
        counts = PartCounts.read(path)
        if counts.part is None:
            raise InputError(
                f"{path} is the counts of a release, not of a part; give the files that "
                "`anonymizer count` wrote"
            )
        require_roles(path, counts.roles, study)
        study.schema.require_pinned(counts.columns)
        for other, known in zip(paths, found, strict=False):
            _require_other(path, counts, other, known)
        found.append(counts)
    return found


def _require_other(path: Path, counts: PartCounts, other: Path, known: PartCounts) -> None:
    if {*counts.columns} != {*known.columns}:
        names = sorted({*counts.columns} ^ {*known.columns})
        raise InputError(
            f"{path} and {other} count tables of different columns ({_listed(names)} in one "
            "alone); every part needs the same columns"
        )
    if counts.person_key != known.person_key:
        raise InputError(
            f"{path} and {other} hide persons by different keys, so that somebody in both would "
            "count as two; count the parts again with one --person-key"
        )
    if counts.part == known.part or counts.digest == known.digest:
        raise InputError(f"{path} and {other} are the counts of one part; give each part once")
    if _same(counts.tally, known.tally):
        raise InputError(
            f"{path} and {other} hold the same counts, as of one table that was counted twice; "
            "give each part once, or count both tables together if they are two"
        )


def _same(one: Tally, other: Tally) -> bool:
    if len(one.sizes) != len(other.sizes) or engine.records(one) != engine.records(other):
        return False
    sizes = compared([one, other])[1]
    return bool((sizes[0] == sizes[1]).all())


Keys = Callable[[Sequence[str | None]], list[Hashable]]
"""A key for each value, equal where two are one."""

Fate = Literal["none", "kept", "removed"]
"""What becomes of suppressed records, as a manifest has it."""


class RecodedRows(NamedTuple):
    """A part as it is released, rows numbered as they were given, and how many were suppressed."""

    released: Tally
    suppressed: int


@dataclass(frozen=True, eq=False)
class SitePlan:
    """What a site needs of a release: its plan, and the counts of the released union as texts."""

    plan: Plan
    whole: Tally = field(repr=False)
    fate: Fate

    def part(self, table: Tally) -> RecodedRows:
        """The counts of a part as it is released; nobody sees whose a record is.

        Raises PolicyBrokenError where some class of it is not in the release, and none was
        suppressed.
        """
        admitted = self.plan.admitted(table)
        own, _ = plan_for(self.plan.source, admitted, "suppress")
        strange = own.strange(admitted)
        recoded = self._spelled(_recoded(own, admitted, strange))
        recoded = engine.without_columns(recoded, self.plan.schema.withheld)
        hidden = strange | self._unknown(recoded, strange)
        suppressed = int(recoded.sizes[hidden].sum())
        if suppressed and self.fate == "none":
            raise PolicyBrokenError(
                "nothing was written: the part has classes that the release does not have, though "
                "that suppressed none; it was changed after it was counted, or the release was"
            )
        if self.fate == "removed":
            return RecodedRows(engine.records_of(recoded, ~hidden), suppressed)
        names = self.plan.schema.quasi_identifiers
        stars = {name: overwritten(recoded[name], hidden) for name in names}
        return RecodedRows(engine.replaced(recoded, stars) if suppressed else recoded, suppressed)

    def _unknown(self, recoded: Tally, strange: Mask) -> Mask:
        """Which rows are in classes that the release does not have, shape (rows,)."""
        schema = self.plan.schema.without_persons
        counts, class_of = classes_of(self.whole, schema, recoded, complete=False)
        unknown = counts.sizes[class_of[len(self.whole.index) :]] == 0
        return np.asarray(unknown & ~strange)

    def _spelled(self, recoded: Tally) -> Tally:
        """The texts of the release in place of those that mean the same."""
        texts = as_texts(recoded)
        schema, reaches = self.plan.schema, self.plan.source.reaches
        columns = {}
        for name in schema.quasi_identifiers:
            if reaches[name].level == 0:  # other labels are those of the release already
                keys = _raw_keys(reaches[name].hierarchy)
                columns[name] = self._as_released(name, texts, keys)
        for name in schema.sensitive:
            columns[name] = self._as_released(name, texts, read_keys)
        return engine.replaced(texts, columns)

    def _as_released(self, name: str, texts: Tally, keys: Keys) -> "pd.Series":
        """A column with the released text of every value whose key is that of a released one."""
        labels = engine.distinct(self.whole[name])[1]
        codes, values = engine.distinct(texts[name])
        known = {*labels}
        found = keys([*map(as_text, labels), *map(as_text, values)])
        released = dict(zip(found[: len(labels)], labels, strict=True))
        own = [
            value if value in known else released.get(key, value)
            for value, key in zip(values, found[len(labels) :], strict=True)
        ]
        return engine.relabel(texts[name], codes, own)


def _raw_keys(hierarchy: Hierarchy | None) -> Keys:
    """What makes two raw values of a quasi-identifier one."""
    key = plain_text if hierarchy is None else partial(key_of, hierarchy)
    return lambda values: [*map(key, values)]


def _recoded(own: AppliedPlan, admitted: Tally, strange: Mask) -> Tally:
    """The rows under the labels of their groups; those that nothing covers are ``*``."""
    left = engine.records_of(admitted, ~strange)
    recoded = relabelled(left, own.recoding, own.taxonomies)
    if not strange.any():
        return recoded
    names = own.schema.quasi_identifiers
    others = engine.records_of(admitted, strange)
    stars = engine.replaced(
        others, {n: overwritten(others[n], np.ones(len(others.index), bool)) for n in names}
    )
    tables = [as_texts(table) for table in (recoded, stars)]
    rows = pd.concat([table.combinations.astype(object) for table in tables])
    sizes = np.concatenate([table.sizes for table in tables])
    order = np.argsort(np.concatenate([np.flatnonzero(~strange), np.flatnonzero(strange)]))
    return Tally(rows.iloc[order], sizes[order])


def publish_counts(
    study: Study,
    counts: Sequence[Path],
    directory: Path,
    *,
    force: bool = False,
    n_jobs: int | None = None,
    watch: Watch = ignore,
    on_counted: Callable[[Task], object] | None = None,
    key: PrivateKey | None = None,
    strict: bool = False,
) -> tuple[Release, Manifest]:
    """Anonymize the table whose parts were counted, and write its counts and its manifest.

    The parts are recoded here as every site will recode its own, by the manifest; their sum has to
    be what is released. It is verified in memory and as read back. The directory is as one of
    :func:`publish`, with ``released.counts`` in place of the table.

    Raises InputError when the study cannot be carried out on the counts, they do not belong
    together, or the directory cannot be written; PolicyUnreachableError or PolicyBrokenError when
    the policy cannot be met.
    """
    require_countable(study)
    with publisher(directory, counts[0], force=force, key=key, strict=strict) as publication:
        watch("reading the counts", 0, None)
        parts = read_parts(study, counts)
        anonymizer = study.anonymizer(n_jobs, Waiting(watch))
        raw = CountedTable(added([part.tally for part in parts]), anonymizer.hierarchies)
        found = proven(anonymizer, raw, on_counted)
        watch("writing and verifying the release", 0, None)
        return publication.finish(ReleasedCounts(study, parts, found))


class ReleasedCounts:
    """The counts of a proven table whose records lie in parts, as they are written."""

    name, folder = COUNTS, False

    def __init__(self, study: Study, parts: Sequence[PartCounts], found: ProvenTable) -> None:
        self.study, self.parts, self.found = study, parts, found
        withheld = study.schema.withheld
        columns = tuple(name for name in parts[0].columns if name not in withheld)
        self.counts = PartCounts(as_texts(found.tally), columns, parts[0].roles)
        others = [name for name in columns if name not in found.raw.columns]
        others += found.release.other_columns
        self.release = replace(
            found.release, other_columns=[name for name in columns if name in others]
        )

    def write(self, path: Path) -> Release:
        """Write them and prove them once more as read back."""
        self.counts.write(path)
        written, schema = PartCounts.read(path).tally, self.study.published
        if self.study.schema.person:  # who is in the classes, no file of a release shows
            if not same_classes(written, self.found.tally, schema):
                raise PolicyBrokenError(
                    "nothing was released: read back from its file the counts have other classes "
                    "than were proven; write each value of the parts in one way"
                )
        else:
            prove(written, schema, self.study.privacy, self.found.people)
        return self.release

    def manifest(self, release: Release, path: Path, key: PrivateKey | None) -> Manifest:
        """Describe them, with the columns of the parts, once sites can recode by them."""
        study, counts = self.study, self.counts
        expectation = Expectation(study.published, study.privacy, study.objective_options)
        form = Format(True, missing_values=study.given.missing_values)
        missing = shape_of(counts.tally, study.published)["missing"]
        about = {
            **expectation.reported(self.found, form, key),
            "counts": sorted(part.digest for part in self.parts),
            "table": ReleasedFile(
                file=path.name,
                sha256=digest_of_file(path),
                columns=[*counts.columns],
                missing=missing,
            ),
        }
        manifest = release.steward_manifest.model_copy(update=about)
        _require_followable(study, manifest.public, counts.tally, self.parts)
        return manifest


def _require_followable(
    study: Study, manifest: Manifest, released: Tally, parts: Sequence[PartCounts]
) -> None:
    """Recode every part as its site will, and require that their sum is what is released."""
    following = following_of(manifest, study, released)
    sites = [following.part(part.tally).released for part in parts]
    sizes = compared([released, *sites])[1]
    if (sizes[0] != sizes[1:].sum(axis=0)).any():
        raise InputError(
            f"{study.path}: sites could not recode their parts as this recoding does, from what a "
            "manifest may say of it; choose another [recoding] method"
        )


def following_of(manifest: Manifest, study: Study | None, released: Tally) -> SitePlan:
    """How parts are recoded by a manifest and the released counts."""
    followed = AppliedRelease.of(manifest, study)
    plan = Plan(followed.source.plan, 0, manifest.study.fingerprint, manifest.method, followed)
    return SitePlan(plan, released, manifest.suppressed_class)
