"""The parts of a manifest, checked where one is read or written."""

from dataclasses import fields
from typing import Annotated, Any, Literal

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
from anonymizer.errors import InputError
from anonymizer.privacy import MODELS, PrivacyModel
from anonymizer.release.release import MANIFEST

Count = Annotated[StrictInt, Field(ge=0, lt=2**62)]
Number = StrictInt | StrictFloat
LabelText = StrictStr | None
Digest = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[
    StrictStr, Field(pattern=r"^[^/\\\x00]*[^/\\\x00.][^/\\\x00]*$", max_length=255)
]
"""A file next to the manifest, not one elsewhere."""


class ManifestPart(BaseModel):
    """A part of a manifest; fields that this version does not know are kept as they are."""

    model_config = ConfigDict(
        extra="allow", frozen=True, hide_input_in_errors=True, protected_namespaces=()
    )


class ReportedVerdict(ManifestPart):
    """A model of the policy, and how the release does under it."""

    model: StrictStr
    attribute: LabelText
    parameters: dict[StrictStr, Any]
    worst: Number | None = None
    violating_classes: Count = 0
    satisfied: StrictBool = True

    @property
    def privacy_model(self) -> PrivacyModel:
        """The model with its parameters.

        Raises InputError when this version does not know it, or the manifest has only the digest of
        a population or a hierarchy of sensitive values.
        """
        kind = MODELS.get(self.model)
        if kind is None:
            raise InputError(f"{MANIFEST} names a privacy model that this version does not know")
        for name in ("population", "hierarchy"):
            if name in self.parameters:
                raise InputError(
                    f"{MANIFEST} has only the digest of the {name} of {kind.name}; name the study "
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
    """A recoding that was tried on a half of the records: the fields of a ``Trial``."""

    recoding: StrictStr
    taken: StrictBool
    holds: StrictBool | None = None
    measure: LabelText = None
    kept: Number | None = None
    classes: Count | None = None
    records_broken: Count | None = None
    reason: StrictStr = ""


class ReportedSearch(ManifestPart):
    """How the recoding was found: the fields of a ``SearchResult``."""

    strategy: LabelText = None
    objective: LabelText = None
    value: Number | None = None
    gap: Number | None = None
    nodes: Count = 0
    checked: Count = 0
    feasible: Count | None = None
    minimal: list[list[Count]] | None = None
    refinements: Count | None = None
    grids: dict[StrictStr, Count] = Field(default_factory=dict)
    proven: StrictBool = False
    bound: Number | None = None
    because: StrictStr = ""
    tried: list[ReportedTrial] = Field(default_factory=list)


class ReportedCells(ManifestPart):
    """Which cells a spreadsheet would run, and whether they were disarmed."""

    safe: StrictBool
    cells: dict[StrictStr, Count] = Field(default_factory=dict)


class ReportedUnseen(ManifestPart):
    """Values that a recoding could not place, and the records that had them: none of them by name.

    ``treated``: ``"any"``, as ``*``, or ``"suppress"``.
    """

    values: Count
    records: Count
    treated: Literal["any", "suppress"]


class AppliedRelease(ManifestPart):
    """The manifest whose recoding was applied."""

    sha256: Digest


class ReportedRoles(ManifestPart):
    """The roles of the columns, and how the table is read."""

    quasi_identifiers: list[StrictStr]
    sensitive: list[StrictStr]
    targets: list[StrictStr]
    identifiers: list[StrictStr]
    missing: Missing
    missing_values: list[StrictStr]
    separator: Annotated[StrictStr, Field(min_length=1, max_length=1)] | None


class ReleasedFile(ManifestPart):
    """The file that the manifest is about, which is next to it.

    ``columns`` are all columns, ``missing`` the records without a value in each one with a role.
    """

    file: FileName
    sha256: Digest
    columns: Any = None
    missing: Any = None
