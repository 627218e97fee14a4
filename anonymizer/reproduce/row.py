"""One line of a comparison with a paper."""

from dataclasses import asdict, dataclass

__all__ = ["Row"]


@dataclass(frozen=True)
class Row:
    """A quantity, what it comes to here, what the paper says, and what to make of it.

    ``value`` is the bare number behind the text, in the unit that ``quantity`` states.
    """

    quantity: str
    computed: str
    published: str = ""
    remark: str = ""
    value: float | None = None

    @classmethod
    def number(
        cls, quantity: str, value: float, published: str = "", remark: str = "", form: str = ".6f"
    ) -> "Row":
        """A row of one number."""
        return cls(quantity, format(value, form), published, remark, float(value))

    def to_dict(self) -> dict[str, object]:
        """The row as JSON has it."""
        return asdict(self)
