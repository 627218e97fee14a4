"""The manifest of a release, ``release.json``: its parts, and the only reader and writer of it."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, StrictStr, ValidationError, model_validator

from anonymizer.counts.persons import joint_of
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, shown
from anonymizer.feedback.document import in_a_line
from anonymizer.hierarchy import ANY, Hierarchy, Partition, Taxonomy
from anonymizer.hierarchy.label import Label
from anonymizer.masking import Shift
from anonymizer.privacy import DeltaPresence, DifferentialPrivacy, PrivacyModel
from anonymizer.release.files import MALFORMED, MANIFEST, digests_of, home_of, manifest_bytes
from anonymizer.release.manifest.groups import Group, filled, partition_of
from anonymizer.release.manifest.parts import (
    AppliedRelease,
    Count,
    Digest,
    LabelText,
    ManifestPart,
    ReleasedFile,
    ReportedCells,
    ReportedInformation,
    ReportedInput,
    ReportedObjective,
    ReportedQueryLoss,
    ReportedRoles,
    ReportedSearch,
    ReportedSeeds,
    ReportedShift,
    ReportedStudy,
    ReportedUnseen,
    ReportedVerdict,
    ReportedWarning,
    Series,
    Versions,
    lacking,
    public_masking,
    public_rule,
    steward_file,
    stewards,
    without_stewards,
)
from anonymizer.release.warnings import OF_STEWARD
from anonymizer.tables.reading import parsed_json, text_in

if TYPE_CHECKING:
    from anonymizer.channels.channel import Channel


FORMAT = 2
"""The version of the form of a manifest; a change that older readers would misread raises it.

Those of format 1 had figures of the raw table in ``release.json``, and ``*`` for a missing value as
well, which is null now; they are read.
"""


class Reported(ManifestPart):
    """All that is reported of a release."""

    format: Literal[1, 2] = Field(description="The version of this form of a manifest.")
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
        "in every quasi-identifier), removed. Under delta-presence it is never none: that nobody "
        "is left out would tell who is in the table."
    )
    classes: Count = Field(description="Equivalence classes of the released table.")
    query_loss: ReportedQueryLoss = Field(description="What a release costs as an answer, in bits.")
    other_columns: list[StrictStr] = Field(
        description="Columns released as they were, or with shifted dates; the policy does not "
        "cover who knows them."
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
    respelled: list[LabelText] = Field(
        default_factory=list,
        description="Columns of which the raw table spells values in several ways, the release in "
        "one: whoever recodes it by other means has to know.",
    )
    person: list[StrictStr] = Field(
        default_factory=list,
        description="The identifiers that tell whose each record is, where the policy is about "
        "persons who have several.",
    )
    per_person: Literal["each"] | None = Field(
        None,
        description="each: what persons with several sensitive values count each of in full, too.",
    )
    weight: LabelText = Field(
        None, description="The identifier that tells how many people each record stands for."
    )
    released_weight: Literal["class"] | None = Field(
        None,
        description="class: the column of weights is in the release, as the mean of each class.",
    )
    household: list[StrictStr] = Field(
        default_factory=list,
        description="The identifiers that tell which records are of people who live together.",
    )
    items: dict[StrictStr, StrictStr] = Field(
        default_factory=dict,
        description="What stands between items that cells of sensitive attributes list.",
    )
    shift: ReportedShift | None = Field(
        None,
        description="Columns in which all dates of a person were moved by one secret number of "
        "days, where there are any.",
    )
    person_numbers: LabelText = Field(
        None, description="The released column that has a number for each person, if there is one."
    )
    person_key: LabelText = Field(
        None, description="A keyed hash of the key that made them, if they are pseudonyms."
    )
    warnings: list[ReportedWarning] = Field(description="What the release is weak in.")
    hierarchies: dict[StrictStr, dict[StrictStr, Any]] = Field(
        default_factory=dict,
        description="The rules of hierarchies that list no values, as in a study, by attribute.",
    )
    method: dict[StrictStr, Any] = Field(
        default_factory=dict, description="The recoding and its options, as in a study."
    )
    settled: list[StrictStr] = Field(
        default_factory=list,
        description="Those of them whose ground follows from the raw table, as quantiles do: "
        "release.json has of its cut points those at which released ranges end.",
    )
    unseen: ReportedUnseen | None = stewards(
        "Values that the recoding did not cover, where it was applied to others."
    )
    applies: AppliedRelease | None = Field(
        None, description="The release whose recoding was applied, where it is not its own."
    )
    search: ReportedSearch = Field(description="How the recoding was found.")
    seeds: ReportedSeeds = Field(description="The seeds of what was chosen at random.")
    study: ReportedStudy = Field(ReportedStudy(), description="What was requested, as a digest.")
    versions: Versions = Field(Versions(), description="The versions of what made the release.")
    columns: ReportedRoles | None = Field(
        None, description="The roles of the columns; null where it is about no file."
    )
    objective: ReportedObjective | None = Field(
        None, description="What the objective weighs; null where it is about no file."
    )
    table: ReleasedFile | None = Field(None, description="The file that it is about.")
    counts: list[Digest] | None = Field(
        None,
        description="The SHA-256 of the files of counts that were added, where the table lies in "
        "parts elsewhere and the file that this is about has its counts.",
    )
    series: Series | None = Field(
        None, description="Which release of a series it is, where the signature says so."
    )
    release: Digest | None = stewards("The SHA-256 of the release.json that it belongs to.")
    input: ReportedInput | None = Field(
        None, description="The table that it was made of, where a private key was given."
    )


OF_PRESENCE = ("records", "dropped", "suppressed")
"""Counts of records that were left out, null where it is promised that nobody knows who is in."""

SHOWN = 60
"""Characters of the place of damage that a message repeats."""


class Manifest(Reported):
    """All that is reported of a release: a ``Release``, and the file that it was written to.

    ``columns``, ``objective`` and ``table`` are None where it was not written to one.
    """

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
        return cls.of_bytes(manifest_bytes(path), path)

    @classmethod
    def of_bytes(cls, content: bytes, path: Path) -> "Manifest":
        """The manifest that the content of a file holds; InputError when it is damaged."""
        text = text_in(content, path)
        try:
            parts = parsed_json(text)
        except ValueError:
            raise InputError(f"{path} is damaged: it is no JSON text") from None
        return cls.parse(parts, str(path))

    @classmethod
    def parse(cls, content: object, source: str = MANIFEST) -> "Manifest":
        """The manifest that JSON holds; ``source`` is what a message calls it.

        Raises InputError when it is none, or of a later format. The message has the place of the
        damage, and no value.
        """
        if isinstance(content, dict):
            _require_format(content, source)
        try:
            found = cls.model_validate(content)
            found._require_one_star(source)
            return found
        except ValidationError as error:
            errors = error.errors(include_url=False, include_input=False, include_context=False)
        damage = f"{source} is damaged: it is no manifest of a release"
        if not isinstance(content, dict):
            raise InputError(damage)
        place = ".".join(map(str, errors[0]["loc"])).encode("unicode_escape").decode()
        raise InputError(f"{damage} ({place[:SHOWN] or 'its parts contradict each other'})")

    def _require_one_star(self, source: str) -> None:
        """Refuse a column where ``*`` may be everything or a missing value, as it was at first."""
        gaps = self.columns is None or self.columns.missing == "category"
        for name, groups in self.recoding.items() if gaps and self.format == 1 else ():
            parts = (part for group in groups for part in (group, *(group.members or ())))
            star = self.levels.get(name) != 0 and any(part.own == ANY for part in parts)
            if star and len(groups) > 1:
                raise InputError(
                    f"{source} was written by an earlier version (format 1), in which '*' of "
                    f"column {name!r} may be everything or a missing value: make the release again"
                )

    @property
    def text(self) -> str:
        """What the file holds, as :meth:`read` reads it."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @property
    def public(self) -> "Manifest":
        """The manifest as ``release.json`` has it: without what is its steward's alone."""
        hidden = (
            *OF_STEWARD,
            *(["suppression-tells"] if self.hides_presence else []),
            *(["repeated-identifier"] if self.private else []),
        )
        changed: dict[str, Any] = {
            "warnings": [each.public for each in self.warnings if each.code not in hidden]
        }
        if respelled := self.spelled_alike:
            changed["respelled"] = respelled
        # Whose the records of a class are, and for how many they stand, the raw table alone shows.
        changed["privacy"] = [
            each.model_copy(update={"worst": None}) if each.hidden(self.hides_persons) else each
            for each in self.privacy
        ]
        if self.hides_presence:
            changed |= dict.fromkeys(OF_PRESENCE)
            if self.suppressed_class == "none":  # would tell that everybody there is in the table
                changed["suppressed_class"] = "removed"
        if self.masking:
            changed["masking"] = public_masking(self.masking)
        if self.settled:
            rules = {name: self._public_rule(name) for name in self.settled}
            changed["hierarchies"] = {**self.hierarchies, **rules}
        return without_stewards(self.model_copy(update=changed))

    @property
    def withheld(self) -> tuple[str, ...]:
        """The identifiers that the policy needs of a raw table."""
        weight = () if self.weight is None else (self.weight,)
        return (*self.person, *self.household, *weight)

    @property
    def chosen_shift(self) -> Shift | None:
        """How the dates of persons were moved, and are in other tables."""
        found = self.shift
        return None if found is None else Shift(found.columns, found.days, found.format)

    @property
    def hides_persons(self) -> bool:
        """Whether the policy is about persons, and the release does not number them."""
        return bool(self.person) and self.person_numbers is None

    @property
    def hides_policy(self) -> bool:
        """Whether a model of the policy is about what the released table does not show."""
        return self.hides_persons or any(each.by_withheld for each in self.privacy)

    @property
    def spelled_alike(self) -> list[LabelText]:
        """The columns of which the raw table spells values in several ways."""
        warned = [each.column for each in self.warnings if each.code == "spellings-alike"]
        return [*dict.fromkeys([*self.respelled, *warned])]

    @property
    def hides_presence(self) -> bool:
        """Whether it promises that nobody knows who is in the table.

        Of a population of which three people have the values of a class that is missing, three
        records that were suppressed are all of them.
        """
        return any(each.model == DeltaPresence.name for each in self.privacy)

    @property
    def private(self) -> bool:
        """Whether it is of a differentially private release: nothing may depend on the raw table.

        Not even that people have several records of it, without a figure.
        """
        return any(each.model == DifferentialPrivacy.name for each in self.privacy)

    def _public_rule(self, name: str) -> dict[str, Any]:
        """The rule of an attribute that follows from the raw table, as the released labels show."""
        ranges = [group.interval for group in self.recoding[name] if group.is_range]
        ends = {end for each in ranges for end in (each.low, each.high) if end is not None}
        return public_rule(self.hierarchies[name], ends)

    @property
    def of_raw(self) -> list[str]:
        """The fields that are its steward's alone, and are given here; none where records are not.

        Those of format 1 have them where everybody reads them.
        """
        return [] if self.records is None else [*lacking(self.to_dict(), self.public.to_dict())]

    @property
    def whole(self) -> bool:
        """Whether it has the figures of the raw table, as its steward's file does."""
        return self.release is not None or self.format == 1

    @classmethod
    def of_steward(cls, release: Path) -> "Manifest | None":
        """The manifest of the release in a directory, with the figures of its raw table.

        They are in the file next to the directory; None where there is none that can be read.
        Manifests of format 1 have them in ``release.json``.

        Raises InputError when the file is damaged, or belongs to another release.
        """
        place = steward_file(release)
        content = manifest_bytes(release / MANIFEST)
        known = cls.of_bytes(content, release / MANIFEST)
        if not os.access(place, os.R_OK):
            return known if known.whole else None
        found = cls.read(place)
        if found.release != sha256(content).hexdigest() or found.public.text != known.text:
            raise InputError(
                f"{place} belongs to another release than the {MANIFEST} in {release}: it was made "
                "for one that was there before, or changed; move it away, or put back what it "
                "belongs to"
            )
        return found

    def of_release(self, manifest: bytes) -> "Manifest":
        """The manifest as its steward's file has it, next to a ``release.json`` of a content."""
        return self.model_copy(update={"release": sha256(manifest).hexdigest()})

    def write(self, path: Path) -> None:
        """Write it to a file."""
        path.write_text(self.text, encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """What the file holds: every field that is given, as JSON has it."""
        return self.model_dump(by_alias=True, exclude_unset=True)

    def recoding_over(
        self, taxonomies: Mapping[str, Taxonomy], *, some: bool = False
    ) -> dict[str, Partition]:
        """The partition of each quasi-identifier, over the values of a table or a population.

        ``some``: there may be others. Raises InputError when the manifest does not fit the
        taxonomies, or has no such partitions.
        """
        self.require_unmasked()
        if self.regions:
            raise InputError(
                f"{MANIFEST} describes classes with groups of their own, boxes or merged cells; "
                "this needs one partition of every quasi-identifier"
            )
        try:
            left = {*self.recoding} - {*taxonomies}
            if {*taxonomies} - {*self.recoding} or (left and not some):
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

    def labels(self, name: str) -> list[tuple[LabelText, Label]]:
        """The labels of a quasi-identifier, with what each stands for.

        That of a column that has no other has missing values, too, whichever it lists; not where it
        is a raw value, or classes have groups of their own.
        """
        groups, raw = self.recoding[name], self.levels.get(name) == 0
        alone = len(groups) == 1 and not raw and not self.regions
        return [(group.label, group.stands_for(raw=raw, alone=alone)) for group in groups]

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
        columns.numbered(self.recoding)  # or raises
        names, sensitive = tuple(columns.quasi_identifiers), tuple(columns.sensitive)
        roles, items = (columns.missing, tuple(columns.targets)), tuple(sorted(self.items.items()))
        joint = joint_of(each.attribute for each in self.privacy)
        found = Schema(names, sensitive, (), *roles, items=items, joint=joint)
        if self.person_numbers is None:
            return found
        counted = self.per_person or "share"
        person = (self.person_numbers,)
        return replace(found, person=person, per_person=counted, person_numbers=True)

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
        if release == home_of(release):
            release /= about.file
        elif release.name != about.file:
            raise InputError(f"{release} is not the table that the {MANIFEST} next to it is about")
        try:
            found = digests_of(release)[0]
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
        from anonymizer.channels.channel import channels_of  # loads the solvers

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


def _require_format(content: Mapping[str, object], source: str) -> None:
    """Require the form of a manifest that this version reads, before anything else is looked at."""
    given = content.get("format")
    if given is None:
        raise InputError(
            f"{source} is damaged: it has no format; manifests before the first format have none: "
            "make the release again"
        )
    if isinstance(given, bool) or not isinstance(given, int):
        raise InputError(f"{source} is damaged: it is no manifest of a release (format)")
    if given > FORMAT:
        raise InputError(
            f"{source} was written by a later version (format {shown(given)}, this version reads "
            f"{FORMAT}): update anonymizer"
        )
