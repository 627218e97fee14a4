"""The models as a table: what a study calls each, what it bounds, and who defined it."""

from collections.abc import Iterable
from dataclasses import MISSING, Field, fields

from anonymizer.privacy.base import PrivacyModel

__all__ = ["COLUMNS", "catalogue", "markdown"]

COLUMNS = ("in a study", "class", "what holds", "unit", "monotone", "strong", "source")


def catalogue(models: Iterable[type[PrivacyModel]]) -> list[tuple[str, ...]]:
    """A row for each model, as ``COLUMNS`` has them, in Markdown."""
    return [
        (
            f"`{model.name}`: {', '.join(_parameters(model))}",
            f"`{model.__name__}`",
            model.condition,
            model.unit,
            _monotone(model),
            "yes" if model.strongly_monotone else "no",
            model.source,
        )
        for model in models
    ]


def markdown(models: Iterable[type[PrivacyModel]]) -> str:
    """The table as a README has it."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *catalogue(models)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _parameters(model: type[PrivacyModel]) -> list[str]:
    """The parameters in their order, those in brackets that may be left out."""
    stated = [field for field in fields(model) if field.name != "attribute"]  # type: ignore[arg-type]
    return [_parameter(field, model) for field in stated]


def _parameter(field: "Field[object]", model: type[PrivacyModel]) -> str:
    needed = field.default is MISSING or field.name in model.stated
    return f"`{field.name}`" if needed else f"[`{field.name}`]"


def _monotone(model: type[PrivacyModel]) -> str:
    """Of a model whose parameters decide, what they have to be."""
    return "yes" if model.monotone is True else model.monotone_if or "no"
