"""One line of a comparison with a paper, its figures, and the sections that lines form."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anonymizer.papers.agreement import AS_PUBLISHED, NOT_REPRODUCED, agreement


@dataclass(frozen=True)
class Column:
    """One quantity along a figure, shape (points,).

    JSON calls it ``name``, people ``label``; ``unit`` is "bits", "records" or empty.
    """

    name: str
    label: str
    values: Sequence[float]
    unit: str = ""

    @property
    def heading(self) -> str:
        """The label with the unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Series:
    """A panel of a figure: parameters that were varied, and measures, of the same points.

    ``axis`` names the parameter that measures are drawn against, ``by`` the one that distinguishes
    curves, if there are several.
    """

    parameters: Sequence[Column]
    measures: Sequence[Column]
    axis: str
    by: str = ""

    @property
    def columns(self) -> list[Column]:
        """All of it, parameters first."""
        return [*self.parameters, *self.measures]

    def __len__(self) -> int:
        return len(self.parameters[0].values)

    def __getitem__(self, name: str) -> Column:
        """A column by its name."""
        return next(column for column in self.columns if column.name == name)

    def to_dict(self) -> dict[str, list[float]]:
        """The columns by name, as JSON has them."""
        return {column.name: list(column.values) for column in self.columns}


@dataclass(frozen=True)
class Row:
    """A quantity, its computed and its published value as texts, and whether the two agree.

    ``published`` is empty where the paper says nothing; ``value`` is the number behind
    ``computed``; ``status`` is one of the words of ``agreement``, and why not; ``series`` is the
    panel of a figure, where that was computed.
    """

    quantity: str
    computed: str
    published: str = ""
    remark: str = ""
    value: float | None = None
    status: str = ""
    series: Series | None = None

    @classmethod
    def number(
        cls,
        quantity: str,
        value: float,
        published: str = "",
        remark: str = "",
        form: str = ".6f",
        *,
        why: str = "",
    ) -> "Row":
        """A row of one number; ``why``: the reason to give if it is not the published one."""
        status = agreement(value, published, why)
        return cls(quantity, format(value, form), published, remark, float(value), status)

    @classmethod
    def claim(
        cls,
        quantity: str,
        holds: bool,
        computed: str,
        published: str,
        remark: str = "",
        *,
        why: str = "",
    ) -> "Row":
        """A sentence of a paper, and whether it holds; ``why``: the reason to give if not."""
        failed = f"{NOT_REPRODUCED}: {why}" if why else NOT_REPRODUCED
        return cls(quantity, computed, published, remark, status=AS_PUBLISHED if holds else failed)

    def to_dict(self) -> dict[str, object]:
        """The row as JSON has it."""
        return {**vars(self), "series": self.series and self.series.to_dict()}


@dataclass(frozen=True)
class Section:
    """The rows of one table, figure or example of a paper, and a note on all of them."""

    title: str
    rows: Sequence[Row]
    note: str = ""


def flattened(sections: Iterable[Section]) -> list[dict[str, object]]:
    """The rows of all sections, one after the other, as JSON has them."""
    return [
        {"section": section.title, **row.to_dict()} for section in sections for row in section.rows
    ]
