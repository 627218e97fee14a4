"""The counts of one site's part of a table, in a file that a steward adds to those of others."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anonymizer.counts.schema import taxonomies_of
from anonymizer.errors import InputError
from anonymizer.feedback.logs import logged
from anonymizer.masking.options import RandomRecoding
from anonymizer.recoding import Watch, ignore
from anonymizer.release.manifest import digest_of_file
from anonymizer.release.output import require_place, write_file
from anonymizer.release.relations import CountedTable
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.tables.counts_file import as_texts, compared, read_counts, write_counts
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format
from anonymizer.tables.relations.relation import Relation

FORMAT = 1
"""The version of the form of a file of counts."""

NOTICE = (
    "SENSITIVE: these are the counts of raw records, as sensitive as the table that they count. "
    "Keep them from everybody but the steward who adds them up."
)
"""What a file of counts says of itself."""

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
    digest
        The SHA-256 of the file.
    """

    tally: Tally = field(repr=False)
    columns: tuple[str, ...]
    roles: Mapping[str, Any] = field(repr=False)
    part: str | None = field(default=None, repr=False)
    digest: str = ""

    @classmethod
    def read(cls, path: Path) -> "PartCounts":
        """The counts in a file; InputError when it holds none, or is damaged."""
        tally, about = read_counts(path)
        if about.get("format") != FORMAT:
            raise InputError(
                f"{path} was written by a later version of anonymizer, or damaged: update "
                "anonymizer, or count the part again"
            )
        columns, roles, part = (about.get(key) for key in ("columns", "roles", "part"))
        if not (
            isinstance(columns, list)
            and {*tally.columns} <= {*columns}
            and isinstance(roles, dict)
            and isinstance(part, str | None)
        ):
            raise InputError(f"{path} was damaged: count the part again")
        return cls(tally, tuple(columns), roles, part, digest_of_file(path))

    def write(self, path: Path) -> None:
        """Write them to a file."""
        about = {
            "format": FORMAT,
            "notice": OF_RELEASE if self.part is None else NOTICE,
            "part": self.part,
            "columns": self.columns,
            "roles": self.roles,
        }
        write_counts(path, self.tally, about)

    @property
    def records(self) -> int:
        """How many records were counted."""
        return engine.records(self.tally)


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
        "missing-values": sorted(study.document.data.missing_values),
    }


def require_roles(path: Path, found: Mapping[str, Any], study: Study) -> None:
    """Require that counts are those of the roles of a study; the message names what differs."""
    for key, own in roles_of(study).items():
        if found.get(key) != own:
            raise InputError(
                f"{path} was counted by another study: its {key} are {_listed(found.get(key))}, "
                f"those of {study.path} are {_listed(own)}; count the part again by this study"
            )


def _listed(given: object) -> str:
    if isinstance(given, Sequence) and not isinstance(given, str):
        return ", ".join(map(repr, given)) or "none"
    return repr(given)


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
    if study.document.output.csv_safe:
        raise InputError(
            f"{study.path}: [output] csv-safe is for tables that are released as one; leave it "
            "out where parts are counted"
        )


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


@logged("counting", lambda counted: {"combinations": len(counted.tally.sizes)})
def counts_of(study: Study, table: Relation, form: Format) -> PartCounts:
    """Count a part as a study has it, where it lies; at the grounds of its columns.

    InputError where the part could not be released by itself: a column is lacking, values are
    missing under ``missing = "error"``, or a hierarchy does not cover them.
    """
    schema = study.schema
    schema.require_shape(table.columns, table.records)
    schema.require_pinned(table.columns)
    tally = CountedTable.of(table, schema.columns, study.hierarchies, form).tally
    taxonomies_of(schema.admit(tally), study.hierarchies)
    columns = tuple(name for name in table.columns if name not in schema.identifiers)
    return PartCounts(as_texts(tally), columns, roles_of(study), secrets.token_hex(16))


def count_part(
    study: Study, table: Path, path: Path, *, force: bool = False, watch: Watch = ignore
) -> PartCounts:
    """Count a part of a table and write its counts to a file that its owner alone can read.

    Raises InputError when the study cannot be carried out on parts, the part not be read or counted
    by it, or the file not be written.
    """
    require_countable(study)
    require_place(path, "cannot count to", force=force)
    made: list[PartCounts] = []

    def write(path: Path) -> None:
        watch("reading the table", 0, None)
        # What does not fit into memory is as sensitive: it goes where a killed run is cleared.
        with part_at(study, table, path.parent.parent, watch) as (raw, form):
            watch("counting the table", 0, None)
            made.append(counts_of(study, raw, form))
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
    if counts.part == known.part or counts.digest == known.digest:
        raise InputError(f"{path} and {other} are the counts of one part; give each part once")
    if _same(counts.tally, known.tally):
        raise InputError(
            f"{path} and {other} hold the same counts, as of one table that was counted twice; "
            "give each part once, or count both tables together if they are two"
        )


def _same(one: Tally, other: Tally) -> bool:
    """Whether two tallies that were read from files are the same."""
    if len(one.sizes) != len(other.sizes) or engine.records(one) != engine.records(other):
        return False
    sizes = compared([one, other])[1]
    return bool((sizes[0] == sizes[1]).all())
