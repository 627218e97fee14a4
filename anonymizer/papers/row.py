"""One line of a comparison with a paper, and the sections that lines form."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anonymizer.papers.agreement import agreement
from anonymizer.papers.series import Series

__all__ = ["Row", "Section", "flattened"]


@dataclass(frozen=True)
class Row:
    """A quantity, what it comes to here, what the paper says, and what to make of it.

    Parameters
    ----------
    quantity, computed, published, remark
        Texts; ``published`` is empty where the paper says nothing.
    value
        The bare number behind ``computed``, in the unit that ``quantity`` states.
    status
        Whether the two agree: one of the words of ``agreement``, and why not where they do not.
    series
        A panel of a figure, where that is what was computed.
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

    def to_dict(self) -> dict[str, object]:
        """The row as JSON has it."""
        return {
            "quantity": self.quantity,
            "computed": self.computed,
            "published": self.published,
            "remark": self.remark,
            "value": self.value,
            "status": self.status,
            "series": self.series and self.series.to_dict(),
        }


@dataclass(frozen=True)
class Section:
    """The rows of one table, figure or example of a paper, and what holds for all of them."""

    title: str
    rows: Sequence[Row]
    note: str = ""


def flattened(sections: Iterable[Section]) -> list[dict[str, object]]:
    """The rows of all sections, one after the other, as JSON has them."""
    return [
        {"section": section.title, **row.to_dict()} for section in sections for row in section.rows
    ]
