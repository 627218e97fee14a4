"""A column as a profile sees it: its distinct values, how many records have each, and its kind.

How well columns distinguish records is a function of the sizes of the classes of equal values:
Motwani and Xu, "Efficient algorithms for masking and finding quasi-identifiers" (2007).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, partial
from itertools import chain
from numbers import Number
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY
from anonymizer.hierarchy.calendar import DAY, Clock, partial_unit
from anonymizer.hierarchy.label import CodeForm
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.privacy.population.frequencies import numbers_of_records
from anonymizer.profiling.among import (
    CODE,
    DAYS,
    LARGELY,
    Among,
    clock_of,
    clocks_of,
    clocks_of_numbers,
    code_form,
    codes_apart,
    dates_among,
    is_dated,
    may_have_codes,
    measured_among,
    measures_in,
    plain_date,
    plain_measure,
    plain_number,
    texts_among,
    unit_among,
)
from anonymizer.profiling.hints import (
    CODES,
    DATES,
    KEY_OF_HOUSEHOLDS,
    LIVING_TOGETHER,
    Hint,
    hint_of,
    words_of,
)
from anonymizer.profiling.identifying import IdentifyingValues, identifying, makes_identifier
from anonymizer.tables import engine
from anonymizer.tables.values import number_of, text_of

MOST_SQUARED = 2**31
"""Records up to which pairs are counted in 64 bits."""

IDENTIFYING = 0.9
"""Distinction from which on nearly every record has a value of its own."""

SINGLED_OUT = 0.01
"""Share of records that an attribute may leave alone with the quasi-identifiers: a convention."""


def distinction(sizes: ArrayLike, times: Ints | None = None) -> float:
    """T / N: the share of records that stay when each class keeps a single one.

    The columns are a key of the records that stay (Motwani and Xu 2007: an alpha-distinct
    quasi-identifier is a key once a share of 1 - alpha is removed). Fewer records may be alone in
    their class: see ``share_alone``.

    Parameters
    ----------
    sizes
        Records of each class, shape (classes,); empty classes are ignored.
    times
        The number of classes of each size, shape (classes,); None: each is one class.

    Returns
    -------
    float
        In (0, 1].

    Examples
    --------
    >>> distinction([2, 2, 1])
    0.6
    >>> distinction([2, 1], np.array([2, 1]))
    0.6
    """
    records, classes = _records(sizes, times)
    return int(classes.sum()) / int((records * classes).sum())


def separation(sizes: ArrayLike, times: Ints | None = None) -> float:
    """1 - sum n_y (n_y - 1) / (N (N - 1)): the share of pairs of records that differ.

    Pairs are counted as whole numbers and divided once, so that up to 1e8 records 1.0 means every
    pair. It is near 1 for almost any column, as two random records seldom agree.

    Parameters
    ----------
    sizes, times
        As of ``distinction``.

    Returns
    -------
    float
        In [0, 1]; 1 for a single record.

    Examples
    --------
    >>> separation([2, 2, 1])
    0.8
    """
    records, classes = _records(sizes, times)
    total = int((records * classes).sum())
    if total == 1:
        return 1.0
    inside = int((records * (records - 1) * classes).sum())
    return (total * (total - 1) - inside) / (total * (total - 1))


def share_alone(sizes: ArrayLike, times: Ints | None = None) -> float:
    """Records that are alone in their class, by records, in [0, 1]; at most ``distinction``.

    ``sizes`` (classes,); empty classes are ignored.

    >>> share_alone([2, 2, 1])
    0.2
    """
    records, classes = _records(sizes, times)
    return int(classes[records == 1].sum()) / int((records * classes).sum())


def _records(sizes: ArrayLike, times: Ints | None) -> tuple[np.ndarray, np.ndarray]:
    """Return sizes of non-empty classes, as numbers whose squares are exact, and their number.

    Each is one class where there are no ``times``.
    """
    records = numbers_of_records(sizes, 1)
    classes = (np.ones_like(records) if times is None else times)[records > 0]
    records = records[records > 0]
    if int((records * classes).sum()) < MOST_SQUARED:
        return records, classes
    return records.astype(object), classes.astype(object)


Kind = Literal[
    "whole number",
    "decimal number",
    "date",
    "datetime",
    "ordered category",
    "category",
    "code",
    "boolean",
    "text",
    "identifier",
    "empty",
]

PLACES: Mapping[Kind, str] = {
    "whole number": "number",
    "decimal number": "number",
    "date": "date",
    "datetime": "date",
}
"""Kinds whose values have a place on a scale, which no text has, and what messages call them."""

BOOLEANS = frozenset(
    frozenset(pair.split())
    for pair in ("true false", "yes no", "y n", "t f", "ja nein", "oui non", "si no", "sí no")
)

MICROSECONDS = 1e6
"""In a second."""

FEW = 20
"""Records, or values, from which on shares of them mean something."""

LOOKED_AT = 200
"""Texts by which those are passed over that are no numbers, dates or codes."""

LONG = 40
"""Letters from which on a text on average is prose."""

MANY = 0.5
"""Distinct texts per record from which on they are no categories."""

SPREAD = 3.0
"""Times its distinct values that the span of a key of whole numbers has, at the most."""


@dataclass(frozen=True, eq=False)
class ProfiledColumn:
    """The distinct values of a column, ``codes`` of them, and ``sizes`` (values,).

    The values that are present come first, those that are most frequent first; a missing one is the
    last. ``codes`` are those of all records, or of some of a table that lies elsewhere.
    """

    name: str
    codes: Codes = field(repr=False)
    values: tuple[object, ...] = field(repr=False)  # of those that are present
    sizes: Ints = field(repr=False)  # records of each value, shape (values,)
    missing: int
    order: tuple[str, ...] = field(default=(), repr=False)  # of an ordered category
    among: Among | None = field(default=None, repr=False)

    @classmethod
    def of(cls, column: "pd.Series") -> "ProfiledColumn | None":
        """Rank a column's values by frequency; None where they cannot be distinguished (lists)."""
        try:
            codes, values = engine.distinct(column)
        except InputError:
            return None
        sizes = np.bincount(codes, minlength=len(values)).astype(np.int64)
        return cls._ranked(column, codes, values, sizes)

    @classmethod
    def counted(cls, rows: "pd.Series", sizes: Ints, row_of: Codes) -> "ProfiledColumn":
        """Rank a column of which rows were counted, with sizes; ``row_of``: of some records."""
        codes, values = engine.distinct(rows)
        records = np.bincount(codes, sizes, minlength=len(values)).astype(np.int64)
        return cls._ranked(rows, codes[row_of], values, records)

    @classmethod
    def _ranked(
        cls, column: "pd.Series", codes: Codes, values: Sequence[object], sizes: Ints
    ) -> "ProfiledColumn":
        held = np.empty(len(values), object)
        held[:] = values
        absent = np.asarray(pd.isna(held), bool)
        # Missing last, then by falling size, then by first occurrence.
        ranked = np.lexsort([np.arange(len(values)), -sizes, absent])
        place = np.empty(len(ranked), np.intp)
        place[ranked] = np.arange(len(ranked))
        there = ranked[~absent[ranked]]
        missing = int(sizes[absent].sum())
        kept = tuple(values[each] for each in there.tolist())
        return cls(str(column.name), place[codes], kept, sizes[there], missing, _order(column))

    @property
    def records(self) -> int:
        """The records of the table."""
        return int(self.sizes.sum()) + self.missing

    @property
    def all_sizes(self) -> Ints:
        """The records of each value, those that miss one being the last, if any do."""
        return np.append(self.sizes, self.missing) if self.missing else self.sizes

    @cached_property
    def hint(self) -> Hint | None:
        """The suggestion of the name and the values.

        That of a date does not count for numbers that are none, and a household that is numbered is
        a key.
        """
        found = hint_of(self.name)
        if found and found.about == LIVING_TOGETHER and _numbers_households(self):
            return KEY_OF_HOUSEHOLDS
        if found and found.about in DATES and self.numbers is not None and self.moments is None:
            return None
        return found

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The values as they are written, without outer blanks."""
        return tuple(map(text_of, self.values))

    @property
    def by_text(self) -> Mapping[str, int]:
        """The records of each value, by its text."""
        return dict(zip(self.texts, self.sizes.tolist(), strict=True))

    @cached_property
    def some_texts(self) -> tuple[str, ...]:
        """The texts of the most frequent values: by these most kinds are passed over."""
        return tuple(map(text_of, self.values[:LOOKED_AT]))

    @cached_property
    def identifying(self) -> IdentifyingValues | None:
        """The kind of identifying values that it has, such as e-mail addresses; None of none."""
        return identifying(text_of(each) for each in self.values if not isinstance(each, Number))

    @cached_property
    def numbers(self) -> Floats | None:
        """The values as numbers, shape (values,); None where any is none, or there are none."""
        values = self.values
        if not values or any(isinstance(value, bool | np.bool_) for value in values[:LOOKED_AT]):
            return None
        # A few first: most columns of texts are passed over by these.
        if isinstance(values[0], date) or _all_numbers(values[:LOOKED_AT]) is None:
            return None
        return _all_numbers(values)

    @property
    def clock(self) -> Clock | None:
        """The format of dates that all values have; None where any is none."""
        return None if self._dates is None else self._dates[0]

    @property
    def moments(self) -> Floats | None:
        """The values as seconds since 1970, shape (values,); None where any is no date."""
        return None if self._dates is None else self._dates[1]

    @cached_property
    def _dates(self) -> tuple[Clock, Floats] | None:
        clock = clock_of(self.name, self.some_texts, self.numbers) if self.values else None
        if clock is None or (moments := _moments(self, clock)) is None:
            return None
        return (self.among and self.among.clock) or clock, moments

    @cached_property
    def whole(self) -> bool:
        """True where all values are whole numbers."""
        numbers = self.numbers
        return numbers is not None and bool((numbers == np.floor(numbers)).all())

    @property
    def postal(self) -> bool:
        """True where the name is that of codes of places."""
        return self.hint is not None and self.hint.about in CODES

    @cached_property
    def form(self) -> CodeForm | None:
        """The form of codes of several lengths that have one length in it; None of others."""
        return code_form(self.texts, self.postal) if self.postal or self.whole else None

    @cached_property
    def distinction(self) -> float:
        """Distinct values per record that has one."""
        return distinction(self.sizes) if len(self.sizes) else 0.0

    @cached_property
    def kind(self) -> Kind:
        """The kind of the values."""
        return _kind(self)


def as_numbers(column: ProfiledColumn) -> ProfiledColumn:
    """Return a column of mostly numbers, or dates, as one of these; any other column as it is.

    A range lies where it begins or ends; texts, and codes for no answer, count as missing.
    ``among`` of the column says what they are. So does ``*``, as an earlier release has it, which
    decides of no kind.
    """
    stars = column.by_text.get(ANY, 0) if len(column.values) > 1 and not column.order else 0
    if not stars:
        return _as_numbers(column)
    bare = _respelled(column, Among(0, others={ANY: stars}), str)
    found = _as_numbers(replace(bare, among=None))
    there = bare.records - bare.missing
    among = found.among or Among(there, kind=PLACES.get(found.kind, "value"))
    return replace(found, among=replace(among, others={**among.others, ANY: stars}))


def _as_numbers(column: ProfiledColumn) -> ProfiledColumn:
    known = column.order or makes_identifier(column.identifying) or (column.postal and column.form)
    if known or column.records < FEW:
        return column
    if any(isinstance(value, bool | np.bool_) for value in column.values[:LOOKED_AT]):
        return column
    # Most columns are passed over by what costs little: their most frequent texts, their numbers.
    if column.numbers is None:
        few = column.some_texts
        if unit_among(measures_in(few)) and (units := measured_among(column.by_text)):
            return _respelled(column, units, partial(plain_measure, known=units))
        if 2 * sum(number_of(text) is not None for text in few) < len(few):
            return _as_dates(column)
        found = texts_among(column.by_text)
    else:
        here = column.records - column.missing
        found = Among(here) if may_have_codes(column.numbers) else None
    if found is None:
        return _as_dates(column)
    if column.kind != "code":
        texts = {*found.ranges, *found.others}
        found = replace(found, codes=codes_apart(column.by_text, texts))
    if not (found.ranges or found.others or found.codes):
        return column
    return _respelled(column, found, plain_number)


def _as_dates(column: ProfiledColumn) -> ProfiledColumn:
    """Return a column of mostly dates as one of dates; any other column as it is."""
    if column.moments is not None:
        return column
    if column.numbers is None:
        texts = [text for text in column.some_texts if partial_unit(text) is None]
        clocks = chain(clocks_of(texts or ["1970-01-01"], LARGELY / 2), [Clock(None, "%Y/%m")])
    else:
        dated = [Clock()] if is_dated(column.name) else []
        clocks = chain(clocks_of_numbers(column.name, column.numbers), dated)
    found = next(filter(None, (dates_among(column.by_text, clock) for clock in clocks)), None)
    if found is None or found.clock is None or not (found.ranges or found.others):
        return column
    return _respelled(column, found, partial(plain_date, clock=found.clock))


def _respelled(column: ProfiledColumn, found: Among, plain: Callable[[str], str]) -> ProfiledColumn:
    """Return a column with plain values, and nothing in place of what is none."""
    absent = {*found.codes, *found.others}
    rows = [None if text in absent else plain(text) for text in column.texts]
    series = pd.Series(rows + [None] * bool(column.missing), dtype=object, name=column.name)
    return replace(ProfiledColumn.counted(series, column.all_sizes, column.codes), among=found)


def _order(column: "pd.Series") -> tuple[str, ...]:
    if isinstance(kind := column.dtype, pd.CategoricalDtype) and kind.ordered:
        return tuple(map(text_of, kind.categories))
    return ()


def _all_numbers(values: tuple[object, ...]) -> Floats | None:
    """Return all values as finite numbers, or None; one pass of compiled code."""
    series = pd.Series(list(values), dtype=object)
    try:
        numbers = pd.to_numeric(series, errors="coerce").to_numpy(float)
    except (TypeError, ValueError, OverflowError):
        return None
    return np.asarray(numbers, float) if np.isfinite(numbers).all() else None


def _kind(column: ProfiledColumn) -> Kind:
    """Return the first kind that all values are of."""
    if not column.values:
        return "empty"
    if column.order:
        return "ordered category"
    # From the surest sign to the weakest: what a value is for certain goes before its looks.
    if makes_identifier(column.identifying):
        return "identifier"
    if _boolean(column):
        return "boolean"
    if column.moments is not None:
        return "date" if not (column.moments % DAY).any() else "datetime"
    return _kind_of_texts(column) if column.numbers is None else _kind_of_numbers(column)


def _unique(column: ProfiledColumn) -> bool:
    return column.records >= FEW and column.distinction >= IDENTIFYING


def _kind_of_numbers(column: ProfiledColumn) -> Kind:
    if _code_of_digits(column):
        return "code"
    if column.whole and _unique(column) and _key(column):
        return "identifier"
    return "whole number" if column.whole else "decimal number"


def _kind_of_texts(column: ProfiledColumn) -> Kind:
    if column.postal and column.form is not None:
        return "code"
    if _codes(column) and (not _unique(column) or column.postal):
        return "code"
    if _unique(column):
        return "text" if any(" " in text for text in column.some_texts) else "identifier"
    prose = np.mean([len(text) for text in column.some_texts]) > LONG
    different = column.distinction > MANY and column.records >= FEW
    return "text" if prose or different else "category"


def _boolean(column: ProfiledColumn) -> bool:
    """Return whether the values are two truths, or one of them."""
    if len(column.values) > 2:
        return False
    if all(isinstance(value, bool | np.bool_) for value in column.values):
        return True
    texts = {text.casefold() for text in column.texts}
    return any(texts <= pair for pair in BOOLEANS) or (
        column.numbers is not None and set(column.numbers.tolist()) == {0.0, 1.0}
    )


def _moments(column: ProfiledColumn, clock: Clock) -> Floats | None:
    """Return the values as seconds since 1970, all at once: one by one each takes 5 us."""
    how = clock.format or "ISO8601"
    if how not in ("ISO8601", *DAYS):
        moments = [clock.moment(text) for text in column.texts]
        places = [float(moment.place) for moment in moments if moment is not None]
        return np.array(places) if len(places) == len(moments) else None
    stamps = all(isinstance(value, pd.Timestamp) for value in column.values[:LOOKED_AT])
    texts = pd.Series(column.values if stamps else column.texts, dtype=object)
    try:
        found = pd.to_datetime(texts, format=how, errors="coerce", utc=True)
    except (ValueError, OverflowError):
        return None
    if found.isna().any():
        return None
    return found.dt.tz_localize(None).to_numpy("datetime64[us]").astype(np.int64) / MICROSECONDS


def _code_of_digits(column: ProfiledColumn) -> bool:
    """Return whether numbers are codes: by the name, or as some that begin with 0 show."""
    if column.postal:
        return column.whole and len(column.values) > 1
    if column.form is not None:
        return True
    if not column.whole or len(set(map(len, column.some_texts))) > 1:
        return False
    lengths = set(map(len, column.texts))
    zeros = any(text.startswith("0") for text in column.texts)
    return zeros and len(lengths) == 1 and min(lengths) > 1


def _key(column: ProfiledColumn) -> bool:
    """Return whether whole numbers that differ count the records: 1, 2, 3, or are named so."""
    assert column.numbers is not None
    if column.hint is not None:
        return column.hint.role == "identifier"
    span = float(np.ptp(column.numbers)) + 1
    return span <= SPREAD * len(column.numbers)


def _numbers_households(column: ProfiledColumn) -> bool:
    """Return whether a column named after households alone has codes or numbers of many."""
    if len(column.values) <= FEW or {*words_of(column.name)} - {"household", "family"}:
        return False
    return column.whole or all(map(CODE.fullmatch, column.texts))


def _codes(column: ProfiledColumn) -> bool:
    if len(column.values) <= FEW or len(set(map(len, column.some_texts))) > 1:
        return False
    texts = column.texts
    return len(set(map(len, texts))) == 1 and all(CODE.fullmatch(text) for text in texts)
