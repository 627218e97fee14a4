"""The models as a table: the name of each in a study, what it bounds, and who defined it."""

from collections.abc import Iterable
from dataclasses import MISSING, Field, fields

from anonymizer.privacy.base import PrivacyModel

COLUMNS = ("in a study", "class", "what holds", "unit", "monotone", "strong", "source")


def markdown(models: Iterable[type[PrivacyModel]]) -> str:
    """Return the table in Markdown."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(_row, models)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(model: type[PrivacyModel]) -> tuple[str, ...]:
    own = [field for field in fields(model) if field.name != "attribute"]  # type: ignore[arg-type]
    return (
        f"`{model.name}`: {', '.join(_parameter(field, model) for field in own)}",
        f"`{model.__name__}`",
        model.condition,
        model.unit,
        # A property where the parameters decide; then the text says what they have to be.
        "yes" if model.monotone is True else model.monotone_if or "no",
        "yes" if model.strongly_monotone else "no",
        model.source,
    )


def _parameter(field: "Field[object]", model: type[PrivacyModel]) -> str:
    """A parameter, in brackets if it may be left out."""
    needed = field.default is MISSING or field.name in model.stated
    return f"`{field.name}`" if needed else f"[`{field.name}`]"
