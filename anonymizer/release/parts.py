"""The parts of a manifest: what each field holds, checked where one is read or written."""

from dataclasses import fields
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from anonymizer.errors import InputError
from anonymizer.hierarchy import Interval
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


class Group(ManifestPart):
    """What a label of a released column represents.

    A range has both ends, None where it is open. ``values`` are the values of the group; where
    these are too many, ``listed`` is their number and ``sha256`` their digest. A group of a cut has
    its ``level``. ``group`` is the label in the hierarchy, where the table has another one.
    """

    label: LabelText
    low: Number | None = Field(None, alias="from")
    high: Number | None = Field(None, alias="to")
    values: list[LabelText] | None = None
    listed: Annotated[StrictInt, Field(gt=0, lt=2**62)] | None = None
    sha256: Digest | None = None
    level: Count | None = None
    group: LabelText = None

    @model_validator(mode="after")
    def _complete(self) -> "Group":
        """Require both ends of a range, in order, and a digest for a list that is left out."""
        ends = {"low", "high"} & self.model_fields_set
        ordered = self.low is None or self.high is None or self.low < self.high
        if len(ends) == 1 or not ordered or (self.sha256 is None) != (self.listed is None):
            raise ValueError
        return self

    @property
    def is_range(self) -> bool:
        """Whether it is a range of numbers."""
        return "low" in self.model_fields_set

    @property
    def own(self) -> LabelText:
        """The label in the hierarchy."""
        return self.label if self.group is None else self.group

    @property
    def interval(self) -> Interval:
        """The range of numbers, exactly."""
        low, high = (None if end is None else Decimal(str(end)) for end in (self.low, self.high))
        return Interval(low, high)

    def relabelled(self, label: LabelText) -> "Group":
        """The group with another label; the hierarchy knows it by its own."""
        other = {"label": label, "group": self.own}
        return self if label == self.label else self.model_copy(update=other)


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
    proven: StrictBool = False
    bound: Number | None = None


class ReportedCells(ManifestPart):
    """Which cells a spreadsheet would run, and whether they were disarmed."""

    safe: StrictBool
    cells: dict[StrictStr, Count] = Field(default_factory=dict)


class ReportedRoles(ManifestPart):
    """The roles of the columns, and how the table is read."""

    quasi_identifiers: list[StrictStr]
    sensitive: list[StrictStr]
    targets: list[StrictStr]
    identifiers: list[StrictStr]
    missing: Literal["error", "drop", "category"]
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
