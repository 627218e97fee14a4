"""Columns rounded down by DuckDB: whether that is right of every value is for others to check."""

import pyarrow as pa

from anonymizer.tables.relations.embedded.connection import literal
from anonymizer.tables.steps import Step

UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade")
"""Those that DuckDB has."""


def rounded_down(place: str, kind: pa.DataType, type_: str, step: Step) -> str | None:
    """A column of a type rounded down by a step; None where DuckDB has no expression for that.

    ``type_``: what DuckDB calls the type. Where the result does not fit into it, it is missing.
    """
    if step.unit:
        if step.unit not in UNITS or not _is_date(kind):
            return None
        return f"TRY(CAST(date_trunc({literal(step.unit)}, {place}) AS {type_}))"
    if not _is_number(kind):
        return None
    steps = f"floor(({place} - {step.origin}) / {step.width})"
    return f"TRY(CAST({steps} * {step.width} + {step.origin} AS {type_}))"


def _is_date(kind: pa.DataType) -> bool:
    """Whether values are dates without a zone."""
    return pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None)


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))
