"""What ``release.json`` looks like: checked where it is read, so that its readers can trust it.

Parts that are not there are another matter: releases of older versions have fewer of them.
"""

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

__all__ = ["damage"]

SHOWN = 60
"""Letters that are repeated of where the damage is."""

Count = Annotated[StrictInt, Field(ge=0, lt=2**62)]
Number = StrictInt | StrictFloat
Label = StrictStr | None
FileName = Annotated[
    StrictStr, Field(pattern=r"^[^/\\\x00]*[^/\\\x00.][^/\\\x00]*$", max_length=255)
]
Digest = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]


class Part(BaseModel):
    """A part of a manifest; what this version does not read is let through."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Group(Part):
    """A group of a recoding: what a label stands for."""

    label: Label
    group: Label = None
    level: Count | None = None
    values: list[Label] = []
    low: Number | None = Field(None, alias="from")
    high: Number | None = Field(None, alias="to")
    listed: Count = 0
    sha256: Digest | None = None

    @model_validator(mode="after")
    def _whole(self) -> "Group":
        """A range has both ends, in order, and a list that is left out its digest."""
        ends = {"low", "high"} & self.model_fields_set
        ordered = self.low is None or self.high is None or self.low < self.high
        if len(ends) == 1 or not ordered or (self.sha256 is None) != (not self.listed):
            raise ValueError
        return self


class Verdict(Part):
    """A model of the policy and how the release does under it."""

    model: StrictStr
    attribute: Label = None
    parameters: dict[StrictStr, Any]
    worst: Number | None = None
    violating_classes: Count = 0
    satisfied: StrictBool = True


class Columns(Part):
    """The roles of the columns and how the table is read."""

    quasi_identifiers: list[StrictStr] = []
    sensitive: list[StrictStr] = []
    identifiers: list[StrictStr] = []
    targets: list[StrictStr] = []
    missing: Literal["error", "drop", "category"] = "error"
    missing_values: list[StrictStr] = []
    separator: Annotated[StrictStr, Field(min_length=1, max_length=1)] | None = None


class Table(Part):
    """The file that the manifest is about; it lies beside it."""

    file: FileName
    sha256: Digest


class Search(Part):
    """How the recoding was found."""

    strategy: Label = None
    objective: Label = None
    value: Number | None = None
    gap: Number | None = None
    bound: Number | None = None
    nodes: Count = 0
    checked: Count = 0
    feasible: Count | None = None
    minimal: list[list[Count]] | None = None
    refinements: Count = 0
    proven: StrictBool = False


class Spreadsheet(Part):
    """Which cells a spreadsheet would run, and whether they were disarmed."""

    safe: StrictBool
    cells: dict[StrictStr, Count] = {}


class Shape(Part):
    """A manifest."""

    records: Count | None = None
    released: Count = 0
    dropped: Count | None = None
    suppressed: Count | None = None
    suppressed_class: Literal["none", "kept", "removed"] = "none"
    classes: Count = 0
    other_columns: list[StrictStr] = []
    levels: dict[StrictStr, Count] = {}
    recoding: dict[StrictStr, list[Group]] = {}
    regions: list[dict[StrictStr, Label]] = []
    privacy: list[Verdict] = []
    search: Search | None = None
    columns: Columns | None = None
    table: Table | None = None
    masking: dict[StrictStr, Any] | None = None
    spreadsheet: Spreadsheet | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Shape":
        """Levels are of what was recoded, and every class has labels that are described."""
        labels = {name: {each.label for each in groups} for name, groups in self.recoding.items()}
        known = all(
            {*labels} == {*region} and all(region[name] in labels[name] for name in labels)
            for region in self.regions
        )
        if not known or not {*self.levels} <= {*labels}:
            raise ValueError
        return self


def damage(content: object) -> str | None:
    """Where a manifest is damaged, in few letters and without a value; None where it is sound."""
    try:
        Shape.model_validate(content)
    except ValidationError as error:
        loc = error.errors(include_url=False, include_input=False, include_context=False)[0]["loc"]
        place = ".".join(map(str, loc)).encode("unicode_escape").decode()
        return place[:SHOWN] or "its parts contradict each other"
    return None
