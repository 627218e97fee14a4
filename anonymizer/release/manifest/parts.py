"""The parts of a manifest, checked where one is read or written."""

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
)

from anonymizer.counts.schema import Missing

Count = Annotated[StrictInt, Field(ge=0, lt=2**62)]
Number = StrictInt | StrictFloat
LabelText = StrictStr | None
Digest = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[
    StrictStr, Field(pattern=r"^[^/\\\x00]*[^/\\\x00.][^/\\\x00]*$", max_length=255)
]
"""A file next to the manifest, not one elsewhere."""


Order = Literal["random", "kept"]
"""The order of released records: a random one, or that of the table."""


class ManifestPart(BaseModel):
    """A part of a manifest; fields that this version does not know are kept as they are."""

    model_config = ConfigDict(
        extra="allow", frozen=True, hide_input_in_errors=True, protected_namespaces=()
    )


class ReportedCells(ManifestPart):
    """Which cells a spreadsheet would run, and whether they were disarmed."""

    safe: StrictBool = Field(description="Whether an apostrophe was written before them.")
    cells: dict[StrictStr, Count] = Field(
        default_factory=dict, description="How many each column has, its name among them."
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
    missing_values: list[StrictStr] = Field(description="Texts that count as missing.")
    separator: Annotated[StrictStr, Field(min_length=1, max_length=1)] | None = Field(
        description="The character between the fields of a CSV file; null: Parquet."
    )


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


LONGEST = 200
"""Characters of the name of a series, or of a period."""


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
