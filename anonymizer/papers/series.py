"""What a figure shows, as numbers: columns of parameters and measures of the same points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Form = Literal["lines", "bars", "surface"]


@dataclass(frozen=True)
class Column:
    """One quantity along a figure, shape (points,).

    JSON calls it ``name``, people ``label``; ``unit`` is "bits", "records" or empty. ``values`` are
    texts where they name the bars of a chart.
    """

    name: str
    label: str
    values: Sequence[float] | Sequence[str]
    unit: str = ""

    @property
    def heading(self) -> str:
        """The label with the unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class PlottedSeries:
    """A panel of a figure: parameters that were varied, and measures, of the same points.

    ``axis`` names the parameter that measures are drawn against, ``by`` the one that distinguishes
    curves, if there are several. ``form`` is what it is drawn as. ``limits`` are what measures must
    not exceed, by their names, drawn as lines. ``over`` is the quantity of another row, into whose
    panel this one is drawn, as points. ``varies``: as of a row. ``what`` is what the measures are,
    the name of the axis of lines.
    """

    parameters: Sequence[Column]
    measures: Sequence[Column]
    axis: str
    by: str = ""
    form: Form = "lines"
    limits: Mapping[str, float] = field(default_factory=dict)
    over: str = ""
    varies: bool = False
    what: str = "metric"

    @property
    def columns(self) -> list[Column]:
        """All of it, parameters first."""
        return [*self.parameters, *self.measures]

    def __len__(self) -> int:
        return len(self.parameters[0].values)

    def __getitem__(self, name: str) -> Column:
        """A column by its name."""
        return next(column for column in self.columns if column.name == name)

    def to_dict(self) -> dict[str, list[float | str]]:
        """The columns by name, as JSON has them."""
        return {column.name: list(column.values) for column in self.columns}
