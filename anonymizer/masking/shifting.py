"""Dates of one person, moved together: by a secret number of days, so that intervals remain.

For columns that a release has and its policy is not about. Each person gets one offset, drawn from
-days to days with equal chances by the source of the system, and kept nowhere. What a person's
dates tell together, such as a length of stay, is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import nan
from secrets import randbelow
from typing import Any, cast

import numpy as np
import pandas as pd

from anonymizer.counts.columns import one_of_each_text
from anonymizer.counts.linked import compositions
from anonymizer.counts.pairs import csr_of, row_keys
from anonymizer.counts.persons import Persons
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, column_names, require_columns, require_whole, shown
from anonymizer.feedback.words import plural
from anonymizer.hierarchy.calendar import DAY, ISO, Clock, pattern_of
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.tables import engine
from anonymizer.tables.engine import T
from anonymizer.tables.values import is_missing

MOST_DAYS = 36_525
"""A century: the farthest that dates are moved."""

REQUIRED = {"columns", "days"}
"""The options that have no default."""

PARTS = {"Y": 4, "m": 2, "d": 2}
"""The parts of a text that a day is written by, and their digits."""


@dataclass(frozen=True)
class Shift:
    """Dates of one person, moved together by a secret number of days.

    Each person gets an offset of their own, -days to days with equal chances, for all of their
    dates in the columns. Times of day stay. Whoever knows one true date of a person knows all.

    Parameters
    ----------
    columns
        The columns of dates: released ones that the policy is not about.
    days
        The farthest that a date is moved.
    format
        How texts write dates that are not as ISO 8601 has them, such as ``%d.%m.%Y``.
    """

    columns: str | Sequence[str]
    days: int
    format: str | None = None

    def __post_init__(self) -> None:
        names = column_names("shift: columns", self.columns)
        object.__setattr__(self, "columns", names)
        if not names or not all(isinstance(name, str) for name in names):
            raise InputError('shift: name a column of dates, such as columns = ["admission"]')
        require_whole("shift", "days", self.days)
        if self.days > MOST_DAYS:
            raise InputError(f"shift: days must be at most {MOST_DAYS:,}, a century")
        if self.format is not None:
            parts = pattern_of(self.format).groupindex
            if not {*PARTS} <= {*parts}:
                raise InputError(
                    "format must have %Y, %m and %d, as dates are written again, not "
                    f"{shown(self.format)}"
                )

    @classmethod
    def of(cls, given: object, schema: Schema) -> Shift:
        """Return a shift, or that of a mapping, which fits the roles; InputError of all else."""
        options = {*given} if isinstance(given, Mapping) else set()
        if not isinstance(given, cls) and not REQUIRED <= options <= {*cls.__annotations__}:
            raise InputError(
                'shift must have columns and days, such as Shift(["admission", "discharge"], '
                'days=180) or shift = { columns = ["admission"], days = 180 }, not '
                f"{shown(given)}"
            )
        found = given if isinstance(given, cls) else cls(**given)  # type: ignore[arg-type]
        found.require_fitting(schema)
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return cast("tuple[str, ...]", self.columns)

    def to_dict(self) -> dict[str, object]:
        """What was requested, as a manifest has it."""
        form = {} if self.format is None else {"format": self.format}
        return {"columns": [*self.names], "days": self.days, **form}

    def require_fitting(self, schema: Schema) -> None:
        """Require persons, and columns that the policy is not about."""
        if not schema.person:
            raise InputError(
                "shift moves the dates of one person together, and no column tells whose each "
                'record is; name it as person, such as person = "patient_id" (below [data] in a '
                "study)"
            )
        roles = {
            "a quasi-identifier": schema.quasi_identifiers,
            "sensitive": schema.sensitive,
            "a target": schema.targets,
            "left out of the release": schema.left_out,
        }
        for name in self.names:
            for role, names in roles.items():
                if name in names:
                    raise InputError(f"shift: column {name!r} is {role}{_way_out(role, name)}")

    def moved(self, table: T, person: Sequence[str]) -> T:
        """Move the dates of each person of a table.

        InputError where a column is not there, holds what is no date, or dates at the end of the
        calendar.
        """
        require_columns(table.columns, [*person, *self.names])
        known = _persons(table, person)
        spread = 2 * self.days + 1
        drawn = np.array([randbelow(spread) for _ in range(len(known))], np.int64)
        days_of = drawn[known.person_of]
        columns = {name: self._column(table, name, days_of) for name in self.names}
        return engine.replaced(table, columns)

    def alone(self, table: engine.Table, person: Sequence[str]) -> tuple[int, int]:
        """Count the persons whose dates are as far apart as those of nobody else, and all persons.

        By the days from the first date of a person to each other one, column by column: moving
        them together changes none of these. One date alone is apart from none.
        """
        known = _persons(table, person)
        days_of = np.array([self._days(table[name]) for name in self.names])
        column_of, row = np.nonzero(~np.isnan(days_of))
        days, person_of = days_of[column_of, row].astype(np.int64), known.person_of[row]
        first = np.full(len(known), np.iinfo(np.int64).max)
        np.minimum.at(first, person_of, days)
        dates = np.stack([person_of, column_of, days - first[person_of]], axis=1)
        rows = np.unique(row_keys(dates), return_index=True)[1]  # a date counts once
        date_of = np.unique(row_keys(dates[:, 1:]), return_inverse=True)[1]
        shape = int(date_of.max(initial=-1)) + 1, len(known)
        held = csr_of(date_of[rows], person_of[rows], np.ones(len(rows), np.int64), shape)
        kinds = compositions(held)
        alike = np.bincount(kinds + 1)[kinds + 1]
        several = np.bincount(person_of[rows], minlength=len(known)) > 1
        return int((several & (alike == 1)).sum()), len(known)

    def _days(self, column: pd.Series) -> list[float]:
        """The day of each value, from any first one; NaN of what is none (rows,)."""
        clock, (codes, values) = Clock(format=self.format), engine.distinct(column)
        moments = map(clock.moment, values)
        days = [nan if each is None else float(each.place // DAY) for each in moments]
        return [days[code] for code in codes.tolist()]

    def _column(self, table: engine.Table, name: str, days_of: Ints) -> pd.Series:
        """A column with each date moved; ``days_of``: of each row, from 0 for -days (rows,)."""
        column, spread = table[name], 2 * self.days + 1
        codes, values = engine.distinct(column)
        dates = self._dates(table, name, codes, values)
        pairs, pair_of = np.unique(codes * spread + days_of, return_inverse=True)
        code_of, days = np.divmod(pairs, spread)
        kind = engine.kind_of(column)
        if kind.kind == "M":  # pandas adds to times of one type all at once, a hundred times faster
            before = pd.Series(values, dtype=kind).array.take(code_of)
            gaps = pd.Series((days - self.days).astype("m8[D]").astype("m8[s]"))
            return engine.of_its_kind(column, pair_of, pd.Series(before) + gaps)
        moved = [
            values[code] if dates[code] is None else dates[code](gap)
            for code, gap in zip(code_of.tolist(), (days - self.days).tolist(), strict=True)
        ]
        return engine.of_its_kind(column, pair_of, moved)

    def _dates(
        self, table: engine.Table, name: str, codes: Codes, values: Sequence[object]
    ) -> list[Any]:
        """What moves each value of a column by some days; None for a missing one."""
        read = _reader(self.format, [value for value in values if isinstance(value, str)])
        found = [None if is_missing(value) else read(value) for value in values]
        present = np.array([not is_missing(value) for value in values], bool)
        unread = np.array([each is None for each in found], bool) & present
        if unread.any():
            hint = "" if self.format else ', or give their format, such as format = "%d.%m.%Y"'
            raise InputError(
                f"shift: column {name!r} has {_records(table, unread[codes])} whose value is no "
                f"date; write dates as ISO 8601 has them, such as 2024-03-31{hint}, and leave out "
                "what is none"
            )
        beyond = np.array([each is not None and self._is_beyond(each) for each in found], bool)
        if beyond.any():
            raise InputError(
                f"shift: column {name!r} has {_records(table, beyond[codes])} whose date cannot be "
                f"moved by {plural(self.days, 'day')} within the calendar of its type; declare "
                "dates that stand for none, such as 9999-12-31, as missing"
            )
        return found

    def _is_beyond(self, move: Callable[[int], object]) -> bool:
        """Whether a date may be moved out of the calendar: whatever is drawn, and not by chance."""
        try:
            move(-self.days)
            move(self.days)
        except (OverflowError, ValueError):
            return True
        return False


def _persons(table: engine.Table, person: Sequence[str]) -> Persons:
    """Return the persons of a table that nobody admitted: told apart by texts."""
    keys = {name: one_of_each_text(engine.stripped(table[name])) for name in person}
    return Persons.of(engine.replaced(table, keys), person)


def _way_out(role: str, name: str) -> str:
    if role.startswith("left"):
        return "; leave it out of shift"
    return (
        ", and the policy and its figures are about the values that it has; leave it out of shift, "
        "or give it no role"
    )


def _records(table: engine.Table, rows: Mask) -> str:
    return plural(engine.records_in(table, rows), "record")


def _reader(form: str | None, texts: Sequence[str]) -> Callable[[object], Any]:
    """What makes of a value a function that moves it by days; None where it is no date."""
    pattern, clock = None if form is None else pattern_of(form), Clock(format=form)
    read = [pattern.fullmatch(text) for text in texts] if pattern else []
    wide = not any(found and 1 in (len(found["m"]), len(found["d"])) for found in read)

    def reader(value: object) -> Any:
        if isinstance(value, date):
            return lambda days: _later(value, timedelta(days))
        if not isinstance(value, str) or clock.moment(value) is None:
            return None
        own = pattern.fullmatch(value) if pattern else None
        found = own or cast("re.Match[str]", ISO.fullmatch(value))
        return _text_mover(found, wide or own is None)

    return reader


def _later(value: date, gap: timedelta) -> date:
    """A date, or a time, some days later; an instant by as many times 24 hours."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return (value.astimezone(UTC) + gap).astimezone(value.tzinfo)
    return value + gap


def _text_mover(found: re.Match[str], wide: bool) -> Callable[[int], str]:
    """What writes a text with its day moved, and all else as it is; ``wide``: by two digits."""
    day = date(int(found["Y"]), int(found["m"]), int(found["d"]))

    def move(days: int) -> str:
        later, text = day + timedelta(days), found.string
        numbers = {"Y": later.year, "m": later.month, "d": later.day}
        for part in sorted(numbers, key=found.start, reverse=True):
            digits = PARTS[part] if wide or part == "Y" else 1
            text = f"{text[: found.start(part)]}{numbers[part]:0{digits}}{text[found.end(part) :]}"
        return text

    return move
