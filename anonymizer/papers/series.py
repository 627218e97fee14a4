"""Figures as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Column", "Series"]


@dataclass(frozen=True)
class Column:
    """One quantity along a figure.

    Parameters
    ----------
    name, label
        What JSON calls it, and people do.
    values
        Shape (points,).
    unit
        ``"bits"``, ``"records"``; empty for what has none.
    """

    name: str
    label: str
    values: Sequence[float]
    unit: str = ""


@dataclass(frozen=True)
class Series:
    """A panel of a figure: what was varied, and what was measured.

    Parameters
    ----------
    parameters, measures
        Columns of the same number of points.
    axis
        The parameter that the measures are drawn against.
    by
        The parameter that tells one curve from the next, if there are several.
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
