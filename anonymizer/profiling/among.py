"""What a column of numbers has besides: ranges, codes for no answer, texts, units; how dates look.

Numbers of records by text go in; what is no number comes out, and what a study may call missing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import combinations, islice

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, NUMBERS
from anonymizer.hierarchy.calendar import SPANS, Clock, Named, iso_of, unit_at
from anonymizer.hierarchy.label import BREAKS, CodeForm
from anonymizer.kernels.arrays import Floats
from anonymizer.profiling.hints import BIRTH, DATES, hint_of, words_of
from anonymizer.tables import engine
from anonymizer.tables.values import measure_in, number_of, number_text, range_in

CODE = re.compile(r"(?=.*\d)[\w-]{3,20}")
"""A code: letters and digits."""

SPELLINGS = frozenset("? NA N/A n/a na NaN nan NULL null #N/A . -".split())  # noqa: SIM905
"""Texts that stand for a missing value, and for nothing else; ``None`` may be an answer."""

NOBODY = frozenset(("", "none", "unknown", "no", *(each.casefold() for each in SPELLINGS)))
"""What stands in place of a key where there is none."""

POSTCODE = re.compile(r"(?=.*\d)[A-Za-z0-9]{1,6}([ -]?[A-Za-z0-9]{1,5})?")
"""A postcode of some country, of two parts at the most."""

LOST = 2
"""Zeros that codes lose in front at the most: 601 of 00601."""

LEAST_DIGITS = 4
"""Digits of codes of another name: 07 and 7 may be numbers."""

PLUS = 4
"""Digits that American codes may have besides."""

LARGELY = 0.9
"""Share of the records with a number, or a range of numbers, from which on a column is numbers."""

FEW_TEXTS = 3
MOST_ODD = 0.05
"""Distinct other texts, or their share of the distinct values: more of them are no slips."""

ENOUGH_OF_TEXT = 5
"""Records from which on a text is told of: fewer may be one person's."""

ROUND = 5
"""Numbers that are a multiple of it are nobody's own: 65+, 90+."""

APART = 0.5
"""Part of the span of all other numbers by which codes for no answer stand apart at the least."""

NO_ANSWER = frozenset(
    [
        *(digit * length for digit in "789" for length in (2, 3, 4, 5, 6)),
        *(f"{'9' * length}{digit}" for digit in "678" for length in (1, 2, 3, 4, 5)),
        *(f"-{digit}" for digit in "789"),
        *(f"-{digit * length}" for digit in "789" for length in (2, 3, 4)),
    ]
)
"""Numbers that surveys write where there is no answer, such as 77, 998, 99999 and -9."""

ABSENT = frozenset(
    [
        *("-", "--", "unknown", "unk", "missing", "none", "nil", "refused"),
        *("not known", "not stated", "not available", "not applicable", "not answered", "n.a."),
        *("no answer", "don't know", "dont know", "dk", "suppressed", "redacted", "withheld"),
        *("0000-00-00", "0000-00-00 00:00:00", "00.00.0000", "00/00/0000", "00000000"),
        *("unbekannt", "keine angabe", "k.a.", "inconnu", "desconocido", "sconosciuto"),
    ]
)
"""Texts that say of a number that it is not there, and nothing of anybody."""


LISTED = ";|, "
"""Marks that part several answers in one text."""

SURE = ";|\t\n"
"""Marks that stand in no answer; a comma is one of them, unless a blank or numbers are around it.

Other marks stand in many: of heart attack, HIV/AIDS.
"""

MOST_LISTS = 500
"""Values beyond which none are looked at for answers."""


def answers_in(texts: Sequence[str]) -> tuple[str, list[frozenset[str]]] | None:
    """Return what parts the answers that texts list, and those of each; None where none are lists.

    They are where several have more than one word, each of which is a text by itself. Where
    several marks part them, the first is that of most texts, and no blank.

    >>> mark, lists = answers_in(["flu", "gout", "flu gout", "gout flu"])
    >>> mark, [sorted(each) for each in lists]
    (' ', [['flu'], ['gout'], ['flu', 'gout'], ['flu', 'gout']])
    >>> mark, lists = answers_in(["flu", "gout", "flu;gout", "gout,flu"])
    >>> mark, [sorted(each) for each in lists]
    (';', [['flu'], ['gout'], ['flu', 'gout'], ['flu', 'gout']])
    >>> answers_in(["full time", "part time", "none"]), answers_in(["1", "2", "1,2", "2,1"])
    (None, None)
    """
    times = {mark: sum(mark in text for text in texts) for mark in LISTED}
    there = sorted(filter(times.get, LISTED), key=lambda mark: (mark == " ", -times[mark]))
    decimals = all(text.replace(",", "").isdecimal() for text in texts if text)
    if decimals or len(texts) > MOST_LISTS:
        return None
    for number in range(len(there), 0, -1):
        for marks in combinations(there, number):
            found = [_parted(text, marks) for text in texts]
            alone = frozenset().union(*(each for each in found if len(each) == 1))
            lists = [each for each in found if len(each) > 1]
            if len(lists) > 1 and all(each <= alone for each in lists):
                return marks[0], found
    return None


def _parted(text: str, marks: Iterable[str]) -> frozenset[str]:
    """Return the different words between some marks, without blanks around them."""
    parts = re.split(f"[{re.escape(''.join(marks))}]", text.casefold())
    return frozenset(filter(None, map(str.strip, parts)))


def marks_within(items: Iterable[str]) -> dict[str, set[str]]:
    """Return the marks by which single items seem to be several, with these items.

    A comma with a blank needs a part that another item has, too. So do marks that stand in many
    words, of all parts, and as items by themselves.

    >>> marks_within(["hiv,tb", "flu"]), marks_within(["heart attack", "pain, chronic", "1,5"])
    ({',': {'hiv,tb'}}, {})
    >>> marks_within(["hiv/tb", "hiv", "tb", "hiv, flu"])
    {',': {'hiv, flu'}, '/': {'hiv/tb'}}
    """
    words = {item: item.casefold() for item in items}
    found = dict[str, set[str]]()
    for mark in (*SURE, *", /+&"):
        parts = {item: _parted(word, mark) for item, word in words.items()}
        times = Counter(part for own in parts.values() for part in own)
        for item, own in parts.items():
            if mark not in item or not own or (len(own) == 1 and mark in " /+&"):
                continue
            decimal = item.replace(",", "").isdecimal()
            apart = mark in SURE or (mark == "," and not decimal and ", " not in item)
            shared = mark == "," and not decimal and any(times[part] > 1 for part in own)
            if apart or shared or own <= {*words.values()}:
                found.setdefault(mark, set()).add(item)
    return found


def separators_said(marks: Iterable[str], mark: str) -> str:
    """Name the separators within items, and the one between them.

    >>> separators_said({",": {"hiv,tb"}, "|": {"flu|gout"}}, ";")
    '"," and "|" within items that ";" parts'
    """
    return f"{' and '.join(map(json.dumps, marks))} within items that {json.dumps(mark)} parts"


def code_form(texts: Sequence[str], named: bool) -> CodeForm | None:
    """Return the form that makes codes of several lengths ones of one length; None where none does.

    ``named``: the name of the column says that they are postcodes. Otherwise zeros in front of some
    digits have to show that others lost theirs.

    >>> code_form(["02139", "2139"], named=False), code_form(["02139", "02139-4307"], named=True)
    (CodeForm(length=5, pad='0'), CodeForm(length=5, pad=None))
    """
    lengths = {len(text) for text in texts}
    if len(lengths) < 2:
        return None
    heads = {text.replace(BREAKS[0], BREAKS[1]).partition(BREAKS[1])[0] for text in texts}
    if not all(head.isascii() and head.isdigit() for head in heads):
        known = named and all(map(POSTCODE.fullmatch, texts))
        return CodeForm(max(lengths)) if known else None
    sizes = sorted({len(head) for head in heads})
    least, most = sizes[0], sizes[-1]
    zeros = {len(head) for head in heads if head.startswith("0")}
    shown = named or (zeros and most >= LEAST_DIGITS)
    if zeros <= {most} and shown and 0 < most - least <= LOST:
        return CodeForm(most, "0")
    return CodeForm(least) if named and sizes in ([least], [least, least + PLUS]) else None


@dataclass(frozen=True)
class Among:
    """What a column of numbers, or of dates, has besides, by its text, with the records of each.

    ``numbers``: records with a number, or a date. ``ranges``: texts such as 90+, or dates without a
    day. ``codes``: numbers that stand apart as those for no answer do. ``others``: all other texts.
    ``unit``: what stands next to each number; ``decimal``: the decimal mark of such numbers, and
    whether the other one may be it, ``ambiguous``. ``clock``: how dates are written; ``ground``:
    the least unit that holds each of those without a day.
    """

    numbers: int
    ranges: Mapping[str, int] = field(default_factory=dict)
    codes: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)
    kind: str = "number"
    unit: str = ""
    decimal: str = "."
    ambiguous: bool = False
    clock: Clock | None = None
    ground: str = ""

    @property
    def absent(self) -> tuple[str, ...]:
        """The texts that a study may declare as missing: no others, which may be one person's."""
        # A release calls everything *, so that no file can mean nothing by it.
        known = [t for t, n in self.others.items() if t != ANY and _may_be_shown(t, n)]
        return (*self.codes, *known)

    @property
    def ends(self) -> dict[str, Decimal]:
        """Where the open ranges begin, as ``top``, and end, as ``bottom``: round numbers.

        Others are none that fewer than five records have: a rule shows them to whoever reads it.
        """
        tops, bottoms = list[Decimal](), list[Decimal]()
        for text, records in self.ranges.items():
            low, high = range_in(text) or (None, None)
            end = low if high is None else high if low is None else None
            if end is not None and (records >= ENOUGH_OF_TEXT or end == 1 or not end % ROUND):
                (tops if high is None else bottoms).append(end)
        found = {"bottom": max(bottoms, default=None), "top": min(tops, default=None)}
        return {name: end for name, end in found.items() if end is not None}


def _may_be_shown(text: str, records: int) -> bool:
    return records >= ENOUGH_OF_TEXT or text.casefold() in ABSENT


def shown_texts(found: Mapping[str, int]) -> str:
    """Name some texts that enough records have, the most frequent first; nothing where none has.

    >>> shown_texts({"90+": 40, "> 89": 7, "97+": 1})
    " ('90+', '> 89')"
    """
    most = sorted(found, key=lambda text: (-found[text], text))[:3]
    known = [repr(text) for text in most if _may_be_shown(text, found[text])]
    return f" ({', '.join(known)})" if known else ""


def texts_among(records: Mapping[str, int]) -> Among | None:
    """Return what is no number where most records have one; None where they have not.

    Codes are none: numbers that begin with a zero, or texts of letters and digits among them.
    """
    numbers, ranges, others = 0, dict[str, int](), dict[str, int]()
    for text, size in records.items():
        if number_of(text) is None:
            (others if range_in(text) is None else ranges)[text] = size
            continue
        if text.startswith("0") and text[1:2].isdigit():
            return None
        numbers += size
    if not _are_slips(others, records) or any(CODE.fullmatch(text) for text in others):
        return None
    here = sum(records.values())
    if 2 * numbers < here or numbers + sum(ranges.values()) < LARGELY * here:
        return None
    return Among(numbers, ranges, others=others)


def _are_slips(others: Mapping[str, int], records: Mapping[str, int]) -> bool:
    """Return whether so few of the different values are other texts that they decide of no kind."""
    return len(others) <= max(FEW_TEXTS, MOST_ODD * len(records))


def dates_among(records: Mapping[str, int], clock: Clock) -> Among | None:
    """Return what is no date where most records have one that a clock reads; else None.

    Dates without a day are ranges, and texts that say that there is none decide nothing.
    """
    dates, units, others = 0, dict[str, Named](), dict[str, int]()
    for text, size in records.items():
        if clock.moment(text) is not None:
            dates += size
        elif (unit := clock.partial(text)) is not None:
            units[text] = unit
        else:
            others[text] = size
    ranges = {text: records[text] for text in units}
    months = sum(records[text] for text, unit in units.items() if MONTH.fullmatch(unit[2]))
    if not _are_slips(others, records) or not dates + months:
        return None
    here = sum(size for text, size in records.items() if text.casefold() not in ABSENT)
    apart = sum(ranges.values())
    if dates + apart < LARGELY * here or (months < apart and 2 * (dates + months) < here):
        return None
    ground = next(unit for unit in SPANS if all(_holds(unit, own) for own in units.values()))
    return Among(dates, ranges, others=others, kind="date", clock=clock, ground=ground)


def _holds(unit: str, own: Named) -> bool:
    """Return whether a unit of the calendar holds all of a month, a quarter or a year."""
    end = unit_at(unit, own[0])[1]
    return end is None or (own[1] is not None and own[1] <= end)


MONTH = re.compile(r"(1[6-9]|20)\d\d-.+")
"""A month, a quarter or a half of some year: years alone may be any number."""


def may_have_codes(numbers: Floats) -> bool:
    """Return whether any number may be a code for no answer: what ``codes_apart`` looks for."""
    known = np.isin(numbers, [*map(float, NO_ANSWER)])
    codes, rest = numbers[known], numbers[~known]
    if not len(codes) or not len(rest):
        return False
    beyond = codes.max() - rest.max() > APART * np.ptp(rest)
    return bool(beyond or (codes.min() < 0 <= rest.min()))


def codes_apart(records: Mapping[str, int], texts: Container[str]) -> dict[str, int]:
    """Return the numbers that mean no answer: at an end, and far from all others.

    ``texts``: those that are no numbers.

    >>> codes_apart({"0": 40, "3": 20, "77": 4, "99": 3}, ())
    {'77': 4, '99': 3}
    """
    numbers = {text: float(text) for text in records if text not in texts}
    rest = [number for text, number in numbers.items() if text not in NO_ANSWER]
    if len(rest) < 2:
        return {}
    low, high = min(rest), max(rest)
    gap = max(APART * (high - low), 1)
    found = {
        text: records[text]
        for text, number in sorted(numbers.items(), key=lambda each: each[1])
        if text in NO_ANSWER and (number - high > gap or (low >= 0 > number and low - number > 1))
    }
    return found if sum(found.values()) >= ENOUGH_OF_TEXT else {}


MEASURE = re.compile(
    r"(?P<currency>[$\u20ac\u00a3\u00a5\u20b9]|usd|eur|gbp|chf)?\s*[-+\u2212(]?\s*"
    r"\d[\d.,'\u2019\s]*\)?\s*"
    r"(?P<unit>%|[$\u20ac\u00a3\u00a5\u20b9]|usd|eur|gbp|chf|cm|mm|m|km|in|ft|kg|g|mg|lbs?|years?|yrs?|"
    r"jahre|months?|days?|h|hours?|min|mmhg|mg/dl|mmol/l|bpm|\u00b0[cf])?"
)
"""A number as people write it who measure or count money: $1,200, 165 cm, 12 %, (549)."""


BLANKS = re.compile(r"-?[1-9]\d{0,2}([\u00a0\u2009\u202f]\d{3})+")
"""A whole number whose thousands are set apart by blanks that are no ordinary ones."""


def notation_of(texts: Sequence[str]) -> str | None:
    """Say how numbers are written that no rule reads: their unit, or their signs; None for others.

    >>> notation_of(["165 cm", "170 cm"]), notation_of(["(549)", "20"]), notation_of(["A4", "A3"])
    ("'cm'", 'brackets or a long minus sign', None)
    """
    found = [MEASURE.fullmatch(text.casefold()) for text in texts]
    known = [each for each in found if each is not None]
    if not texts or len(known) < LARGELY * len(found):
        return None
    units = Counter(unit for each in known for unit in each.groups() if unit)
    if not units:
        if any(sign in text for text in texts for sign in "(\u2212"):
            return "brackets or a long minus sign"
        return "blanks between thousands" if any(map(BLANKS.fullmatch, texts)) else None
    unit, times = units.most_common(1)[0]
    return repr(unit) if times >= LARGELY * len(known) else None


def unit_among(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the unit that stands next to each of some numbers, and their decimal mark.

    None where any has another unit, or notation. It is a point where both may be.

    >>> unit_among(["165 cm", "170cm"]), unit_among(["165 cm", "170"]), unit_among(["$1,200", "$9"])
    (('cm', '.'), None, ('$', '.'))
    >>> unit_among(["12,5 %", "7 %"]), unit_among(["1.234 EUR", "1.234,50 EUR"])
    (('%', ','), ('EUR', ','))
    """
    found = MEASURE.fullmatch(texts[0].casefold()) if texts else None
    spans = [found.span(name) for name in ("currency", "unit") if found[name]] if found else []
    if not spans:
        return None
    unit = texts[0][slice(*spans[0])]  # in the letters of the table
    for decimal in ".,":
        if all(measure_in(text, unit, decimal) is not None for text in texts):
            return unit, decimal
    return None


def measures_in(texts: Iterable[str]) -> list[str]:
    """Return the texts that are numbers as people write them, with a unit or without."""
    return [text for text in texts if MEASURE.fullmatch(text.casefold())]


def measured_among(records: Mapping[str, int]) -> Among | None:
    """Return what a column of mostly numbers with a unit has besides; None of any other."""
    texts = measures_in(records)
    others = {text: size for text, size in records.items() if text not in {*texts}}
    found, here = unit_among(texts), sum(records.values())
    numbers = here - sum(others.values())
    if found is None or not _are_slips(others, records) or numbers < LARGELY * here:
        return None
    unit, decimal = found
    return Among(
        numbers,
        others=others,
        unit=unit,
        decimal=decimal,
        ambiguous=is_ambiguous(texts, unit),
    )


def is_ambiguous(texts: Sequence[str], unit: str) -> bool:
    """Return whether numbers with a unit are others where the other mark is the decimal one.

    >>> is_ambiguous(["1,234 kg", "900 kg"], "kg"), is_ambiguous(["1,234.5 kg", "1,200 kg"], "kg")
    (True, False)
    """
    ways = [[measure_in(text, unit, decimal) for text in texts] for decimal in ".,"]
    return ways[0] != ways[1] and None not in (*ways[0], *ways[1])


def plain_number(text: str) -> str:
    """Return a number as it is, and a range by where it begins or ends."""
    place = None if number_of(text) is not None else NUMBERS.place(text)
    return text if place is None else number_text(place)


def plain_measure(text: str, known: Among) -> str:
    """Return the number next to the unit of a column."""
    number = measure_in(text, known.unit, known.decimal)
    return text if number is None else number_text(number)


def plain_date(text: str, clock: Clock) -> str:
    """Return a date as ISO 8601 has it, and one without a day by its first one."""
    unit = clock.partial(text)
    if unit is not None:
        return iso_of(unit[0])
    return text if clock.format is None else str(clock.moment(text))


FIRST = date.today().year - 99
"""First of the hundred years that years of two digits are taken for: people are no older."""

DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y.%m.%d")
SHORT = tuple(
    f"{day}%y{{{FIRST}}}"
    for day in ("%d.%m.", "%d/%m/", "%m/%d/", "%d-%m-", "%d-%b-", "%d%b", "%d %b ")
)
NAMED = ("%d-%b-%Y", "%d%b%Y", "%d %b %Y", "%d. %b %Y", "%b %d, %Y", "%b %d %Y")
ASIAN = ("%Y\u5e74%m\u6708%d\u65e5",)
FORMATS = (
    None,
    *DAYS,
    *(f"{day} {time}" for time in ("%H:%M", "%H:%M:%S") for day in DAYS),
    *NAMED,
    *ASIAN,
    *SHORT,
)
"""How dates are written, None being ISO 8601; of those that fit all values the first."""

MONTHLY = "%Y%m"

SERIAL_NUMBERS = (
    ("%Y%m%d", 1e7, 1e8),
    ("excel", 3e3, 8e4),
    ("epoch", 1e8, 5e9),
    ("epoch-ms", 1e11, 5e12),
    (MONTHLY, 1.6e5, 2.1e5),
    ("%d%m%Y", 1e6, 3.2e7),
    ("%m%d%Y", 1e6, 1.3e7),
    (f"%y{{{FIRST}}}%m%d", 1e4, 1e6),
)
"""Dates that are numbers, and the sizes of most of these; a name has to say that they are dates."""

EPOCH_OF_EXCEL = 25_569
"""The first of 1970."""

DATE_LIKE = re.compile(r"(?=.*\d)(?!\d{1,7}$).{6,40}")
"""Texts that may be dates: no short number."""

DATE_WORDS = frozenset(("date", "datum", "fecha", "dt", "timestamp"))
"""Words of the names of dates, beyond those of hints."""


def clock_of(name: str, texts: Sequence[str], numbers: Floats | None) -> Clock | None:
    """Return the clock that reads all of some texts as dates; None where none does.

    ``numbers``: the values of the column of this name, where all are numbers.
    """
    if numbers is None:
        return next(clocks_of(texts), None)
    clocks = clocks_of_numbers(name, numbers)
    # 200105 is a month of 2001, though it may be a day of 2020, too.
    if any(clock.format == MONTHLY and all(map(clock.partial, texts)) for clock in clocks):
        return None
    return next((clock for clock in clocks if all(map(clock.moment, texts))), None)


def clocks_of(texts: Sequence[str], share: float = 1.0) -> Iterator[Clock]:
    """Yield the formats in which at least a share of some texts write dates."""
    if not texts or not (share < 1 or DATE_LIKE.fullmatch(texts[0])):
        return
    wrong = (1 - share) * len(texts)
    for clock in map(partial(Clock, None), FORMATS):
        # Of days and months that fit both ways the first form is taken: see ``FORMATS``.
        misses = (t for t in texts if not DATE_LIKE.fullmatch(t) or clock.moment(t) is None)
        if sum(1 for _ in islice(misses, int(wrong) + 1)) <= wrong:
            yield clock


def is_dated(name: str) -> bool:
    """Return whether the name of a column says that it has dates."""
    hint, words = hint_of(name), words_of(name)
    return bool(hint and hint.about in {*DATES, BIRTH}) or not DATE_WORDS.isdisjoint(words)


def clocks_of_numbers(name: str, numbers: Floats) -> list[Clock]:
    """Return the clocks by which most numbers may be dates, where a name says that they are.

    Excel has parts of days, and no day before its first. Births alone are taken to lie before 1970:
    other numbers of days as small may count from there.
    """
    if not is_dated(name):
        return []
    sizes, hint = np.abs(numbers), hint_of(name)
    middle, born = np.median(sizes), hint is not None and hint.about == BIRTH
    forms = [form for form, low, high in SERIAL_NUMBERS if low <= middle < high > sizes.max()]
    if numbers.min() < 0 or (middle < EPOCH_OF_EXCEL and not born):
        forms = [form for form in forms if form != "excel"]
    whole = bool((numbers == np.floor(numbers)).all())
    return [Clock(None, form) for form in forms if whole or form == "excel"]


def columns_of_texts(table: pd.DataFrame) -> list[str]:
    """Return the columns that may hold texts whose values can be distinguished."""
    found = []
    for name in table.columns:
        column = table[name]
        if not (pd.api.types.is_string_dtype(column) or column.dtype in (object, "category")):
            continue
        try:
            engine.distinct(column)
        except InputError:  # lists, say
            continue
        found.append(name)
    return found


def spellings_of_missing(table: pd.DataFrame) -> tuple[str, ...]:
    """Return the spellings of missing values that occur in any column, sorted."""
    found: set[str] = set()
    for name in columns_of_texts(table):
        values = engine.distinct(table[name])[1]
        found |= SPELLINGS & {value.strip() for value in values if isinstance(value, str)}
    return tuple(sorted(found))
