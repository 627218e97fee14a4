"""The parts of a manifest, checked where one is read or written, and which of them are public.

A figure of the raw table is a release of it: I(X;W) of 10 people to 16 digits, with a register of
their quasi-identifiers, tells the diagnosis of each. So ``release.json`` has what follows from the
released table and what was requested, and the rest is in the file that ``steward_file`` names.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
)

from anonymizer.counts.multidimensional import CLASS
from anonymizer.counts.persons import of_column
from anonymizer.counts.schema import Missing
from anonymizer.errors import InputError
from anonymizer.privacy import MODELS, PrivacyModel
from anonymizer.release.files import MANIFEST, STEWARD
from anonymizer.release.warnings import uncounted
from anonymizer.tables.population import WEIGHTS


def in_order(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names that stand in order, each once; ValueError of others."""
    if [*names] != sorted({*names}):
        raise ValueError("names must stand in order, each once")
    return names


Count = Annotated[StrictInt, Field(ge=0, lt=2**62)]
Number = StrictInt | StrictFloat
LabelText = StrictStr | None
Together = Annotated[tuple[StrictStr, ...], Field(min_length=2), AfterValidator(in_order)]
"""Attributes that are one together, each once and in order."""

Digest = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[
    StrictStr, Field(pattern=r"^[^/\\\x00]*[^/\\\x00.][^/\\\x00]*$", max_length=255)
]
"""A file next to the manifest, not one elsewhere."""

Order = Literal["random", "kept"]
"""The order of released records: a random one, or that of the table."""

LONGEST = 200
"""Characters of the name of a series, or of a period."""

OF_MASKING = ("scale", "margin", "preserved")
OF_CHANNELS = ("expected_distortion", "realised_distortion", "least_distortion", "expected")
"""What is the steward's of the description of a random recoding, and of each of its channels."""

Part = TypeVar("Part", bound=BaseModel)

MARK = "steward"
"""What marks a field, in the JSON Schema as well."""


def stewards(description: str, default: object = None) -> Any:
    """A field that is its steward's alone: ``release.json`` has none."""
    said = f"{description} In the steward's file alone."
    return Field(default, description=said, json_schema_extra={MARK: True})


class ManifestPart(BaseModel):
    """A part of a manifest; fields that this version does not know are kept as they are."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
        defer_build=True,  # 30 models take 60 ms, and a command that fails early uses none
    )


class ReportedCells(ManifestPart):
    """Which cells a spreadsheet would run, and whether they were disarmed."""

    safe: StrictBool = Field(description="Whether an apostrophe was written before them.")
    cells: dict[StrictStr, Count] = Field(
        default_factory=dict, description="How many each column has, its name among them."
    )


class ReportedShift(ManifestPart):
    """Columns in which all dates of a person were moved by one secret number of days."""

    columns: list[StrictStr] = Field(description="The columns.")
    days: Count = Field(description="The farthest that a date was moved, to either side.")
    format: LabelText = Field(
        None, description="How texts write dates, where not as ISO 8601 has them."
    )


class ReportedUnseen(ManifestPart):
    """Values that a recoding could not place, and the records that had them; none by name."""

    values: Count = Field(description="How many different values were not covered.")
    records: Count = Field(description="How many records had one.")
    treated: Literal["any", "suppress"] = Field(
        description="any: released as `*`; suppress: their records were suppressed."
    )


class AppliedRelease(ManifestPart):
    """The manifest whose recoding was applied."""

    sha256: Digest = Field(description="The SHA-256 of its release.json.")


MissingByColumn = Annotated[dict[StrictStr, list[StrictStr]], Field(min_length=1)]
"""Texts that count as missing, by column."""


class ReportedRoles(ManifestPart):
    """The roles of the columns, and how the table is read."""

    quasi_identifiers: list[StrictStr] = Field(
        description="Columns that an attacker may know, generalized; `class` numbers merged cells."
    )
    sensitive: list[StrictStr] = Field(description="Columns that the policy protects.")
    targets: list[StrictStr] = Field(description="Columns that information is kept about.")
    identifiers: list[StrictStr] = Field(description="Columns that were left out.")
    missing: Missing = Field(
        description="What became of records without a value: error (there are none), drop (left "
        "out), gap (of a sensitive attribute it counts as nothing), "
        "category (missing is a value of its own)."
    )
    missing_values: list[StrictStr] | MissingByColumn = Field(
        description="Texts that count as missing; by column, `*` being all, where columns differ."
    )
    separator: Annotated[StrictStr, Field(min_length=1, max_length=1)] | None = Field(
        description="The character between the fields of a CSV file; null: Parquet."
    )

    def numbered(self, recoded: Collection[str]) -> bool:
        """Whether a column that numbers classes comes after those that were recoded.

        ValueError where they are not the quasi-identifiers otherwise.
        """
        others = {*self.quasi_identifiers} - {*recoded}
        if not {*recoded} <= {*self.quasi_identifiers} or not others <= {CLASS}:
            raise ValueError("a quasi-identifier without a recoding")
        return bool(others)


class ReleasedPart(ManifestPart):
    """One of the files of a table that is a folder of files."""

    file: FileName = Field(description="Its name in the folder.")
    sha256: Digest = Field(description="The SHA-256 of its bytes, in hexadecimal digits.")


class ReleasedFile(ManifestPart):
    """The file that the manifest is about, which is next to it; or the folder of files."""

    file: FileName = Field(description="Its name.")
    sha256: Digest = Field(
        description="The SHA-256 of its bytes, in hexadecimal digits; of a folder, that of the "
        "lines that sha256sum prints of its parts, in their order, each ending in a line feed."
    )
    parts: list[ReleasedPart] | None = Field(
        default=None, description="The files of a folder, in the order of their records."
    )
    order: Order | None = Field(
        default=None,
        description="That of the records: random, by a seed that was kept nowhere; kept, that of "
        "the raw table. Counts have none.",
    )
    columns: list[StrictStr] = Field(
        default_factory=list, description="All of its columns, in their order."
    )
    verifiers: list[ReleasedPart] = Field(
        default_factory=list,
        description="Files next to it that examine the release without this package, if any.",
    )
    missing: dict[StrictStr, Count] = Field(
        default_factory=dict,
        description="Released records without a value, of each column with a role.",
    )


class ReportedSeeds(ManifestPart):
    """The seeds of what was chosen at random."""

    search: Count | None = Field(
        description="The seed of the shuffled baseline and of searches that start at random; null "
        "where the release is differentially private."
    )
    drawing: Literal["none", "withheld"] = Field(
        description="withheld: values or records were drawn at random, and the seed of that, if "
        "there was one, is no part of a manifest, as whoever has it could draw them again. none: "
        "nothing was drawn."
    )


class ReportedStudy(ManifestPart):
    """What was requested."""

    fingerprint: StrictStr = Field(
        default="",
        description="The SHA-256 of all that was requested, hierarchies by their content.",
    )


class ReportedInput(ManifestPart):
    """The table that the release was made of."""

    fingerprint: Annotated[StrictStr, Field(pattern="^hmac-sha256:[0-9a-f]{64}$")] = Field(
        description="The HMAC-SHA256 of the counts of the columns with a role, under a key that "
        "follows from the private key of who released the table."
    )


class Series(ManifestPart):
    """Which release of a series of releases it is."""

    name: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST)] = Field(
        description="The name of the series."
    )
    period: StrictStr | None = Field(
        description="The period that the release is of, as who released it calls it."
    )
    number: Annotated[StrictInt, Field(ge=1, lt=2**62)] = Field(
        description="The serial number of the release in its series; 1: the first."
    )
    after: Digest | None = Field(
        description="The SHA-256 of the release.json of the release before; null: the first."
    )


class Versions(ManifestPart):
    """The versions of what made the release."""

    anonymizer: StrictStr = Field(default="", description="The version of this package.")
    python: StrictStr = Field(default="", description="The version of Python.")
    numpy: StrictStr = Field(default="", description="The version of NumPy.")
    pandas: StrictStr = Field(default="", description="The version of pandas.")


class ReportedQueryLoss(ManifestPart):
    """What the answer to "in which class?" costs the owner of a record, in bits."""

    uncertainty: Number = Field(description="Bits needed to tell a record before the answer.")
    average: Number = Field(description="Bits that the answer gives, the mean over the records.")
    standard_deviation: Number = Field(description="The standard deviation of these, in bits.")
    maximum: Number = Field(description="Bits of the answer that gives most.")
    minimum: Number = Field(description="Bits of the answer that gives least.")


class ReportedInformation(ManifestPart):
    """Mutual information of quasi-identifiers and attributes, in bits, summed over these."""

    original: Number | None = stewards("I(X;W) of the raw quasi-identifiers, in bits.")
    retained: Number = Field(description="I(X~;W) of the released ones, in bits.")
    ceiling: Number | None = stewards(
        "The most that any recoding under the policy can keep, in bits: "
        "min(I(X;W), t, H(W) - log2 l) of each attribute, summed."
    )
    shuffled: Number | None = stewards(
        "I(X;W) in bits with the values of W dealt out at random, the mean of 10."
    )
    shuffled_deviation: Number | None = stewards("The standard deviation of these 10, in bits.")
    retained_above_shuffled: Number | None = stewards(
        "`retained` less what the released classes show by chance, in bits."
    )
    miller_madow: Number = Field(description="`retained`, corrected for small classes, in bits.")
    gap: Number | None = stewards("`ceiling` - `retained`, in bits.")
    loss: Number | None = stewards(
        "1 - `retained` / `original`; null where there was nothing to lose."
    )
    loss_above_shuffled: Number | None = stewards(
        "The same with chance taken off on both sides; null where not determined."
    )


class ReportedVerdict(ManifestPart):
    """A model of the policy, and how the release does under it."""

    model: StrictStr = Field(description="The name of the privacy model, as in a study.")
    attribute: StrictStr | Together | None = Field(
        description="The sensitive attribute that it is about, or a list of those that it is about "
        "together; null: the sizes of classes."
    )
    parameters: dict[StrictStr, Any] = Field(
        description="Its parameters as in a study; t is in bits where the distance is kl."
    )
    worst: Number | None = Field(
        None,
        description="The measure of the class that comes off worst, in the unit of the model; null "
        "where it is infinite, or is of persons, households or sampling weights, which the "
        "released table does not show.",
    )
    violating_classes: Count = Field(0, description="Classes that break the model.")
    satisfied: StrictBool = Field(True, description="Whether no class breaks it.")

    @property
    def about(self) -> str | None:
        """The attribute that it is about, or several, in words; None: class sizes."""
        return None if self.attribute is None else of_column(self.attribute)

    @property
    def of_persons(self) -> bool:
        """Whether persons decide, where some have several records; not those of a population."""
        kind = MODELS.get(self.model)
        return kind is None or kind.of_persons or kind.sensitive

    @property
    def by_weights(self) -> bool:
        """Whether it is about the people whom the sampling weights of the raw table tell."""
        return bool(self.parameters.get("population") == WEIGHTS.name)

    @property
    def by_withheld(self) -> bool:
        """Whether it is about weights or households, by columns that no released table has."""
        kind = MODELS.get(self.model)
        return self.by_weights or (kind is not None and kind.of_households)

    def hidden(self, persons: bool) -> bool:
        """Whether the released table does not show it; ``persons``: some have several records."""
        return self.by_withheld or (persons and self.of_persons)

    @property
    def privacy_model(self) -> PrivacyModel:
        """The model with its parameters.

        Raises InputError when this version does not know it, or the manifest has only the name of a
        population, or the digest of a hierarchy of sensitive values.
        """
        kind = MODELS.get(self.model)
        if kind is None:
            raise InputError(f"{MANIFEST} names a privacy model that this version does not know")
        for name, shown in (("population", "name"), ("hierarchy", "digest")):
            if name in self.parameters and not self.by_weights:
                raise InputError(
                    f"{MANIFEST} has only the {shown} of the {name} of {kind.name}; name the study "
                    "of the release with --study"
                )
        known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
        given = {name: value for name, value in self.parameters.items() if name in known}
        if kind.sensitive:
            given["attribute"] = self.attribute
        try:
            return kind(**given)
        except TypeError:
            raise InputError(f"{MANIFEST} lacks parameters of {kind.name}") from None


class ReportedTrial(ManifestPart):
    """A recoding that was tried on a half of the records, and measured on the other half."""

    recoding: StrictStr = Field(description="The name of the recoding.")
    taken: StrictBool = Field(description="Whether it was then chosen for the whole table.")
    holds: StrictBool | None = Field(
        None, description="Whether the policy holds on the other half; null where not fitted."
    )
    measure: LabelText = Field(None, description="The objective that it was judged by.")
    kept: Number | None = Field(None, description="What that comes to, in the objective's unit.")
    classes: Count | None = Field(None, description="Classes that the other half falls in.")
    records_broken: Count | None = Field(
        None, description="Records of the other half in classes that break the policy."
    )
    reason: StrictStr = Field("", description="Why it could not be fitted; empty where it was.")


class ReportedSearch(ManifestPart):
    """How the recoding was found."""

    strategy: LabelText = Field(None, description="What searched.")
    objective: LabelText = Field(None, description="The name of the objective.")
    value: Number | None = stewards(
        "The objective of the release, in its unit (bits for information)."
    )
    gap: Number | None = stewards(
        "How much better another recoding can be, at the most, in that unit."
    )
    nodes: Annotated[StrictInt, Field(ge=0)] | None = stewards("Nodes of the lattice of levels.")
    checked: Count | None = stewards("Nodes that were counted.")
    feasible: Count | None = stewards(
        "Nodes that satisfy the policy; null where the search need not know."
    )
    minimal: list[list[Count]] | None = stewards(
        "Those of them without a feasible direct specialization, by their levels."
    )
    refinements: Count | None = stewards("How many times attributes were cut.")
    grids: dict[StrictStr, Count] = stewards(
        "Attributes whose ranges begin at some cut points alone.", {}
    )
    proven: StrictBool = Field(False, description="Whether no other recoding searched is better.")
    bound: Number | None = stewards("What none can be better than, in the objective's unit.")
    because: StrictStr = Field("", description="Why this objective, where none was given.")
    tried: list[ReportedTrial] = stewards("The recodings tried on halves of the records.", [])


class ReportedWarning(ManifestPart):
    """Something that the release is weak in although its policy holds."""

    code: StrictStr = Field(description="The lasting code of its kind.")
    column: LabelText = Field(description="The column that it is about; null: the whole table.")
    count: Count = Field(description="How many of `of`: classes, records, values or columns.")
    of: Count = Field(description="How many there are.")
    message: StrictStr = Field(description="What is the matter and how to mend it, a sentence.")

    def __str__(self) -> str:
        return f"WARNING ({self.code}): {self.message}."

    @property
    def public(self) -> "ReportedWarning":
        """The warning as ``release.json`` has it: some without the figures of the raw table."""
        message = uncounted(self.code, self.column)
        if message is None:
            return self
        return self.model_copy(update={"count": 0, "of": 0, "message": message})

    def to_dict(self) -> dict[str, object]:
        """The warning as JSON has it."""
        return {name: getattr(self, name) for name in type(self).model_fields}


class ReportedObjective(ManifestPart):
    """What the objective weighs."""

    weights: dict[StrictStr, Number] = Field(
        default_factory=dict, description="The weight of each attribute, where not 1."
    )
    targets: dict[StrictStr, Number] = Field(
        default_factory=dict, description="The targets of mutual information, with their weights."
    )
    aggregate: LabelText = Field(None, description="How losses of attributes are put together.")


def steward_file(release: Path) -> Path:
    """The steward's file of the release in a directory, which is next to it."""
    place = release.resolve()
    return place.with_name(place.name + STEWARD) if place.name else place / STEWARD


def without_stewards(part: Part) -> Part:
    """A part of a manifest, and all parts of it, without the fields that are the steward's.

    Nor has it any that this version does not know.
    """
    known = type(part).model_fields
    hidden = {
        name
        for name, field in known.items()
        if isinstance(extra := field.json_schema_extra, Mapping) and extra.get(MARK)
    }
    shown = {name: _without(getattr(part, name)) for name in known.keys() - hidden}
    given = part.model_fields_set - hidden
    dropped = {name: known[name].get_default() for name in hidden}
    copy = part.model_copy(update={**shown, **dropped})
    copy.model_fields_set.clear()
    copy.model_fields_set.update(given & known.keys())
    if copy.__pydantic_extra__:
        copy.__pydantic_extra__.clear()
    return copy


def _without(value: Any) -> Any:
    """The same of what a field holds."""
    if isinstance(value, BaseModel):
        return without_stewards(value)
    if isinstance(value, Mapping):
        return {name: _without(each) for name, each in value.items()}
    return [*map(_without, value)] if isinstance(value, list) else value


def lacking(content: Any, other: Any, place: str = "") -> Iterator[str]:
    """The places of JSON that hold something another one does not; a list as one of its length."""
    if isinstance(content, Mapping) and isinstance(other, Mapping):
        for name, part in content.items():
            yield from lacking(part, other.get(name), f"{place}.{name}".removeprefix("."))
    elif isinstance(content, list) and isinstance(other, list) and len(content) == len(other):
        for part, its in zip(content, other, strict=True):
            yield from lacking(part, its, place)
    elif content not in (None, [], {}) and content != other:
        yield place


def public_masking(masking: Mapping[str, Any]) -> dict[str, Any]:
    """How values were drawn, without what a draw, or the raw table, made of it."""
    shown = {name: each for name, each in masking.items() if name not in OF_MASKING}
    if "channels" in masking:
        shown["channels"] = [
            {name: each for name, each in channel.items() if name not in OF_CHANNELS}
            for channel in masking["channels"]
        ]
    return shown


def public_rule(rule: Mapping[str, Any], ends: Collection[Decimal]) -> dict[str, Any]:
    """The rule of ranges whose ground follows from the raw table, with the released ends alone.

    Of its cut points level 1, the ground, keeps those of level 2 and those that some released range
    ends at: what was released lies at the same levels of either rule.
    """
    ground, *coarser = rule["cuts"]
    known = {*coarser[0]} if coarser else set()
    kept = [point for point in ground if point in known or Decimal(point) in ends]
    return {**rule, "cuts": [kept, *coarser], "ground": kept}
