"""The manifest of a release, ``release.json``: its parts, and the only reader and writer of it."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
from pydantic import Field, StrictStr, ValidationError, model_validator

from anonymizer.counts.multidimensional import CLASS
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, shown
from anonymizer.feedback.display import in_a_line
from anonymizer.hierarchy import Hierarchy, Partition, Taxonomy
from anonymizer.privacy import PrivacyModel
from anonymizer.release.manifest.figures import (
    ReportedInformation,
    ReportedObjective,
    ReportedQueryLoss,
    ReportedSearch,
    ReportedVerdict,
    ReportedWarning,
)
from anonymizer.release.manifest.groups import Group, filled, partition_of
from anonymizer.release.manifest.parts import (
    Count,
    LabelText,
    ManifestPart,
    ReleasedFile,
    ReportedCells,
    ReportedInput,
    ReportedRoles,
    ReportedSeeds,
    ReportedStudy,
    Versions,
)
from anonymizer.release.release import MANIFEST
from anonymizer.tables import engine
from anonymizer.tables.reading import MANIFEST_SIZE, open_regular, parsed_json, read_whole

if TYPE_CHECKING:
    from anonymizer.channels.channel import Channel

SHOWN = 60
"""Characters of the place of damage that a message repeats."""

FORMAT = 1
"""The version of the form of a manifest; a change that older readers would misread raises it."""

MALFORMED = (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError)
"""What fails on values of the right types that make no sense together."""


class Manifest(ManifestPart):
    """All that is reported of a release: a ``Release``, and the file that it was written to.

    ``columns``, ``objective`` and ``table`` are None where it was not written to one.
    """

    format: Literal[1] = Field(description="The version of this form of a manifest.")
    records: Count | None = Field(
        description="Records of the table that was given; null where differentially private."
    )
    released: Count = Field(description="Records of the released table.")
    dropped: Count | None = Field(description="Records left out because they miss a value.")
    suppressed: Count | None = Field(
        description="Records whose quasi-identifiers were suppressed to satisfy the policy."
    )
    suppressed_class: Literal["none", "kept", "removed"] = Field(
        description="What became of them: none (there are none), kept (a class of their own, `*` "
        "in every quasi-identifier), removed."
    )
    classes: Count = Field(description="Equivalence classes of the released table.")
    query_loss: ReportedQueryLoss = Field(description="What a release costs as an answer, in bits.")
    other_columns: list[StrictStr] = Field(
        description="Columns released as they were; the policy does not cover who knows them."
    )
    information: ReportedInformation | None = Field(
        description="What is kept about the sensitive attributes, in bits; null without any, or "
        "where the release is differentially private."
    )
    targets: dict[StrictStr, ReportedInformation] = Field(
        description="What is kept about each target, in bits."
    )
    levels: dict[StrictStr, Count] = Field(
        description="The level of each quasi-identifier that is released at one; 0: as it was."
    )
    recoding: dict[StrictStr, list[Group]] = Field(
        description="The groups of each quasi-identifier."
    )
    regions: list[dict[StrictStr, LabelText]] = Field(
        default_factory=list,
        description="The labels of each class, where classes have groups of their own.",
    )
    masking: dict[StrictStr, Any] | None = Field(
        None, description="How values were drawn at random, where they were."
    )
    spreadsheet: ReportedCells | None = Field(
        None, description="Which cells a spreadsheet would run, where there are any."
    )
    privacy: list[ReportedVerdict] = Field(
        description="The policy: every model about every attribute, recounted on the release."
    )
    warnings: list[ReportedWarning] = Field(description="What the release is weak in.")
    search: ReportedSearch = Field(description="How the recoding was found.")
    seeds: ReportedSeeds = Field(description="The seeds of what was chosen at random.")
    study: ReportedStudy = Field(
        default_factory=ReportedStudy, description="What was requested, as a digest."
    )
    versions: Versions = Field(
        default_factory=Versions, description="The versions of what made the release."
    )
    columns: ReportedRoles | None = Field(
        None, description="The roles of the columns; null where it is about no file."
    )
    objective: ReportedObjective | None = Field(
        None, description="What the objective weighs; null where it is about no file."
    )
    table: ReleasedFile | None = Field(None, description="The file that it is about.")
    input: ReportedInput | None = Field(
        None, description="The table that it was made of, where a private key was given."
    )

    @model_validator(mode="after")
    def _consistent(self) -> "Manifest":
        """Require levels of what was recoded, and labels of every class that are described."""
        labels = {name: {each.label for each in groups} for name, groups in self.recoding.items()}
        known = all(
            {*labels} == {*region} and all(region[name] in labels[name] for name in labels)
            for region in self.regions
        )
        if not known or not {*self.levels} <= {*labels}:
            raise ValueError
        return self

    def __repr__(self) -> str:
        holds = all(verdict.satisfied for verdict in self.privacy)
        policy = "policy holds" if holds else "policy does not hold"
        file = "" if self.table is None else f"of {self.table.file}"
        return in_a_line(
            self, file, f"{self.released:,} records", f"{self.classes:,} classes", policy
        )

    __str__ = __repr__

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        """The manifest in a file.

        Raises InputError when there is no such file, it is too large or damaged.
        """
        return cls.of_text(manifest_text(path), str(path))

    @classmethod
    def of_text(cls, text: str, source: str = MANIFEST) -> "Manifest":
        """The manifest that a text holds; InputError when it is damaged."""
        try:
            content = parsed_json(text)
        except ValueError:
            raise InputError(f"{source} is damaged: it is no JSON text") from None
        return cls.parse(content, source)

    @classmethod
    def parse(cls, content: object, source: str = MANIFEST) -> "Manifest":
        """The manifest that JSON holds; ``source`` is what a message calls it.

        Raises InputError when it is none, or of a later format. The message has the place of the
        damage, and no value.
        """
        if isinstance(content, dict):
            _require_format(content, source)
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            errors = error.errors(include_url=False, include_input=False, include_context=False)
        damage = f"{source} is damaged: it is no manifest of a release"
        if not isinstance(content, dict):
            raise InputError(damage)
        place = ".".join(map(str, errors[0]["loc"])).encode("unicode_escape").decode()
        raise InputError(f"{damage} ({place[:SHOWN] or 'its parts contradict each other'})")

    @property
    def text(self) -> str:
        """What the file holds, as :meth:`read` reads it."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def write(self, path: Path) -> None:
        """Write it to a file."""
        path.write_text(self.text, encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """What the file holds: every field that is given, as JSON has it."""
        return self.model_dump(by_alias=True, exclude_unset=True)

    def recoding_over(self, taxonomies: Mapping[str, Taxonomy]) -> dict[str, Partition]:
        """The partition of each quasi-identifier, over the values of a table or a population.

        Raises InputError when the manifest does not fit the taxonomies, or has no such partitions.
        """
        self.require_unmasked()
        if self.regions:
            raise InputError(
                f"{MANIFEST} describes classes with groups of their own, boxes or merged cells; "
                "this needs one partition of every quasi-identifier"
            )
        try:
            if {*self.recoding} != {*taxonomies}:
                raise ValueError("other quasi-identifiers")
            return {
                name: taxonomy.levels[self.levels[name]]
                if name in self.levels
                else partition_of(taxonomy, self.recoding[name])
                for name, taxonomy in taxonomies.items()
            }
        except MALFORMED:
            raise InputError(
                f"{MANIFEST} does not describe a release of this study; is it of another one, or "
                "was the study changed since?"
            ) from None

    def require_unmasked(self) -> None:
        """Require that released values are generalized, not drawn.

        Raises InputError when some were drawn at random.
        """
        if self.masking:
            raise InputError(
                f"{MANIFEST} describes values that were drawn at random; this is about generalized "
                "ones, which hold of every record"
            )

    def completed(self, hierarchies: Mapping[str, Hierarchy] | None) -> "Manifest":
        """The manifest with the values that were too many for it, from the hierarchies.

        Raises InputError when some were left out and there are no hierarchies, or others than
        those of the release.
        """
        short = [name for name, groups in self.recoding.items() if any(g.listed for g in groups)]
        if not short:
            return self
        if hierarchies is None or not {*short} <= {*hierarchies}:
            raise InputError(
                f"{MANIFEST} leaves out the values of column {short[0]!r}, which are too many; "
                "name the study of the release with --study"
            )
        full = {
            name: filled(name, self.recoding[name], hierarchies[name], self.levels.get(name))
            for name in short
        }
        return self.model_copy(update={"recoding": {**self.recoding, **full}})

    @property
    def policy(self) -> tuple[PrivacyModel, ...]:
        """The privacy models of the release, each about one attribute.

        Raises InputError when one cannot be made without the study.
        """
        return tuple(verdict.privacy_model for verdict in self.privacy)

    @property
    def roles(self) -> Schema:
        """The roles of the columns of the released table.

        Raises InputError or ValueError when they are not given, or not those that were recoded.
        """
        columns = self.file[1]
        if {*columns.quasi_identifiers} - {CLASS} != {*self.recoding} - {CLASS}:
            raise ValueError("a quasi-identifier without a recoding")
        names, sensitive = tuple(columns.quasi_identifiers), tuple(columns.sensitive)
        return Schema(names, sensitive, missing=columns.missing, targets=tuple(columns.targets))

    @property
    def file(self) -> tuple[ReleasedFile, ReportedRoles]:
        """The file that it is about, and how that is read.

        Raises InputError when it was not written to one.
        """
        if self.table is None or self.columns is None:
            raise InputError(
                f"{MANIFEST} is damaged: it does not say which table it is about, or how that is "
                "read"
            )
        return self.table, self.columns

    def table_at(self, release: Path) -> Path:
        """The released table that a path, its own or that of its directory, leads to.

        Raises InputError when it is another one, cannot be read or was changed since.
        """
        about = self.file[0]
        if release.is_dir():
            release /= about.file
        elif release.name != about.file:
            raise InputError(f"{release} is not the table that the {MANIFEST} next to it is about")
        try:
            found = digest_of_file(release)
        except FileNotFoundError:
            raise InputError(f"there is no {release}, which its {MANIFEST} is about") from None
        except OSError as error:
            raise InputError(f"cannot read {release}: {error.strerror}") from None
        if found != about.sha256:
            raise InputError(
                f"{release} is not what {MANIFEST} is about: it was changed after it was released"
            )
        return release

    @property
    def channels(self) -> "dict[tuple[str, ...], Channel]":
        """The channels that values were drawn from, by the attributes that each masked together.

        Raises InputError when nothing was masked, the channels are withheld or damaged.
        """
        from anonymizer.channels.serialization import channels_of  # its solvers take long to load

        return channels_of(self.masking)

    def with_texts(self, change: Callable[[LabelText], LabelText]) -> "Manifest":
        """The manifest with other labels, and channels with other texts on either side.

        ``change``: ``disarmed_text`` gives that of the table with disarmed cells, ``rearmed_text``
        that of the table before.
        """
        changed: dict[str, object] = {
            "recoding": {
                name: [group.relabelled(change(group.label)) for group in groups]
                for name, groups in self.recoding.items()
            }
        }
        if self.regions:
            changed["regions"] = [
                {name: change(label) for name, label in region.items()} for region in self.regions
            ]
        if self.masking and "channels" in self.masking:
            channels = [dict(channel) for channel in self.masking["channels"]]
            for channel in channels:
                for side in {"values", "labels"} & {*channel}:
                    channel[side] = [[*map(change, each)] for each in channel[side]]
            changed["masking"] = {**self.masking, "channels": channels}
        return self.model_copy(update=changed)


def manifest_text(path: Path) -> str:
    """What a ``release.json`` holds.

    Raises InputError when there is no such file, or it is too large or no text.
    """
    absent = f"there is no {path}: the manifest has to be next to the released table"
    return read_whole(path, MANIFEST_SIZE, absent=absent)


def _require_format(content: Mapping[str, object], source: str) -> None:
    """Require the form of a manifest that this version reads, before anything else is looked at."""
    given = content.get("format")
    if given is None:
        raise InputError(
            f"{source} is damaged: it has no format = {FORMAT}; manifests before the first format "
            "have none: make the release again"
        )
    if isinstance(given, bool) or not isinstance(given, int):
        raise InputError(f"{source} is damaged: it is no manifest of a release (format)")
    if given > FORMAT:
        raise InputError(
            f"{source} was written by a later version (format {shown(given)}, this version reads "
            f"{FORMAT}): update anonymizer"
        )


def shape_of(table: pd.DataFrame, schema: Schema) -> dict[str, Any]:
    """All columns of a released table, and the records without a value in each with a role."""
    missing = engine.missing_values(table, schema.columns)
    return {
        "columns": [str(name) for name in table.columns],
        "missing": {name: missing.get(name, 0) for name in schema.columns},
    }


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """Report a manifest whose parts make no sense together as damaged."""
    try:
        yield
    except InputError:
        raise
    except MALFORMED:
        raise InputError(f"{path} is damaged: it is no manifest of a release") from None


def is_release(path: Path) -> bool:
    """Whether the manifest next to a table says that it is about it."""
    manifest = path.parent / MANIFEST
    table = Manifest.read(manifest).table if manifest.exists() else None
    return table is not None and table.file == path.name


def digest_of_file(path: Path) -> str:
    """The SHA-256 of a regular file; OSError when it cannot be read."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
