"""The fields of a manifest, each with its type and what it says."""

from typing import Any, Literal

from pydantic import Field, StrictStr

from anonymizer.release.manifest.figures import (
    ReportedInformation,
    ReportedObjective,
    ReportedQueryLoss,
    ReportedSearch,
    ReportedVerdict,
    ReportedWarning,
)
from anonymizer.release.manifest.groups import Group
from anonymizer.release.manifest.parts import (
    AppliedRelease,
    Count,
    Digest,
    LabelText,
    ManifestPart,
    ReleasedFile,
    ReportedCells,
    ReportedInput,
    ReportedRoles,
    ReportedSeeds,
    ReportedStudy,
    ReportedUnseen,
    Series,
    Versions,
)
from anonymizer.release.manifest.steward import stewards

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
    respelled: list[LabelText] = Field(
        default_factory=list,
        description="Columns of which the raw table spells values in several ways, the release in "
        "one: whoever recodes it by other means has to know.",
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
