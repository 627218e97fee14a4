"""Values of records in messages: how many there are, and by name only what many records share.

To mend a hierarchy one has to know which values it does not have. A value of fewer than five
records may be one person's, and messages end up in logs and tickets: it is named on request alone.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from anonymizer.feedback.words import plural
from anonymizer.tables.values import is_missing

ENOUGH = 5
"""Records that have to share a value for a message to name it."""

SHOWN = 3
"""How many values a message names at the most."""

SWITCH = "--show-values (in Python, showing_values())"
"""What names all values."""

_all_shown: ContextVar[bool] = ContextVar("all_shown", default=False)


@contextmanager
def showing_values() -> Iterator[None]:
    """Let messages name values of quasi-identifiers that few records have, too.

    For the owner of a table who mends its hierarchies: errors that are raised inside may quote
    what identifies a person, and are not to be logged.

    >>> with showing_values():
    ...     named({"Preschool": 1})
    "1 value, in 1 record ('Preschool')"
    """
    before = _all_shown.set(True)
    try:
        yield
    finally:
        _all_shown.reset(before)


def may_be_named(records: int) -> bool:
    """Tell whether a message may name a value of this number of records."""
    return records >= ENOUGH or _all_shown.get()


def named(sizes: Mapping[str, int]) -> str:
    """Count some values and their records, and name those that enough records have.

    ``sizes`` are the records that have each value.

    >>> named({"a": 5, "b": 7})
    "2 values, in 12 records ('a', 'b')"
    """
    open_ones = [repr(value) for value, records in sizes.items() if may_be_named(records)]
    shown = ", ".join(open_ones[:SHOWN]) + (", ..." if len(open_ones) > SHOWN else "")
    switch = f"{SWITCH} names what fewer than {ENOUGH} records have"
    hint = switch if len(open_ones) < len(sizes) else ""
    found = f"{plural(len(sizes), 'value')}, in {plural(sum(sizes.values()), 'record')}"
    return f"{found} ({'; '.join(filter(None, [shown, hint]))})"


def as_missing(sizes: Mapping[str, int]) -> str:
    """How values become missing ones, those of an earlier release among them.

    >>> as_missing({"unknown": 5}), as_missing({"*": 5})
    ('declare them as missing values', 'empty the cells that have *, as an earlier release has it')
    """
    if {*sizes} == {"*"}:  # which no missing-values can have: in a release it is everything
        return "empty the cells that have *, as an earlier release has it"
    return "declare them as missing values" + (", and empty the cells of *" if "*" in sizes else "")


MISSING = "(missing)"
"""A missing value as reports and pages show it; a table has it as an empty cell."""


def shown_label(label: object) -> str:
    """A label as reports and pages show it; the text that a missing one goes by is in quotes.

    >>> shown_label(None), shown_label("(missing)"), shown_label("*")
    ('(missing)', '"(missing)"', '*')
    """
    if is_missing(label):
        return MISSING
    return f'"{label}"' if str(label) == MISSING else str(label)
