"""Spellings: which texts a reader of a released file may take for one value.

A file holds texts. Some readers keep them (Python's csv), others guess types: to pandas, PyArrow
and DuckDB ``1``, ``1.0`` and ``01`` may be one number, ``true`` and ``TRUE`` one truth value, and
``NA`` and an empty field one missing value. To people ``HIV``, ``hiv`` and ``HIV.`` are one, too,
however their letters are coded. Diversity that only spellings make is none, so sensitive values are
counted by the coarsest of these views.
"""

import re
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from html import unescape
from math import isinf

MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"}
    | {"<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)
"""Texts that pandas or PyArrow read as a missing value."""
NAN = re.compile(r"[+-]?nan(\(.*\))?", re.I | re.S)
"""Read by all of them as a number that is none."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.I | re.ASCII)
DIGITS = {16: re.compile(r"0x[0-9a-f]{1,99}", re.I), 2: re.compile(r"0b[01]{1,99}", re.I)}
"""Whole numbers by their base, as PyArrow and DuckDB know them."""

TIME = r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d+))?)?"
ZONE = r"(Z|[+-]\d\d(?::?\d\d)?)?"
TIMES = re.compile(TIME, re.ASCII)
INSTANTS = re.compile(rf"(\d{{4}})-(\d{{1,2}})-(\d{{1,2}})(?:[T ]{TIME} ?{ZONE})?", re.ASCII)
DATES = re.compile(rf"(\d{{1,4}})[-/. ](\d{{1,2}})[-/. ](\d{{1,4}})(?:[T ]{TIME})?", re.ASCII)
"""Dates in the orders of days, months and years that DuckDB guesses."""

LENIENT_TIME = r"0*(\d{1,2}):0*(\d{0,2})(?::0*(\d{0,2})(?:\.(\d*))?)?"
LENIENT_TIMES = re.compile(LENIENT_TIME, re.ASCII)
YEAR_FIRST = re.compile(
    r"0*(\d+)[-/. \\]0*(\d{1,2})[-/. \\]0*(\d{1,2})"
    rf"(?:(?:T| ) ?(?:{LENIENT_TIME}|0*(\d{{1,2}})) ?{ZONE})?",
    re.ASCII,
)
"""Dates as DuckDB and PyArrow read them: other separators, any number of zeros, gaps."""

AS_ISO = [
    (re.compile(r"EPOCH"), "1970-1-1"),
    (re.compile(r"(?<=\.\d{6})\d+", re.ASCII), ""),
    (re.compile(r" ?UTC$"), "Z"),
]
"""What they read as ISO 8601 has it: more digits, and words."""
HALVES = re.compile(r"(\d{1,2})((?::\d{1,2})+(?:\.\d+)?) ?([AP])M$", re.ASCII)
"""Hours of half a day."""

TRUTHS = {"true": 1, "false": 0}
LETTERS = {"t": 1, "f": 0, "y": 1, "n": 0, "yes": 1, "no": 0}
"""Truth values to DuckDB, where all values of a column are some."""

UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that nobody sees: Unicode's default ignorable ones, marks of direction, fillers."""
CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
"""Characters that control terminals."""

LIKE = str.maketrans(
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03f9\u037f"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425"
    "\u0405\u0406\u0408\u04ae\u04c0\u050c\u051a\u051c\u0474\u0555\u054f\u054d"
    "\u13a0\u13a1\u13a2\u13aa\u13ab\u13ac\u13b3\u13b7\u13bb\u13c0\u13c3\u13d9\u13da\u13de\u13df\u13e2"
    "\u13e6\u13f4\u13d2\u13bd"
    "\ua4d0\ua4d1\ua4d3\ua4d4\ua4d6\ua4d7\ua4d9\ua4da\ua4dc\ua4dd\ua4df\ua4e0\ua4e1\ua4e2\ua4e3\ua4e6"
    "\ua4e7\ua4ea\ua4eb\ua4ec\ua4ee\ua4f0\ua4f2\ua4f3\ua4f4"
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\ua7ae\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18"
    "\u01a6\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22",
    "ABEZHIKMNOPTYXCJABEKMHOPCTYXSIJYIGQWVOSU"
    "DRTAJEWMHGZVSLCPKBRYBPDTGKJCZFMNLSRVHWXYAEIOUABCDEFGHIJKLMNOPRSTUVWYZ",
)
"""Letters that look like Latin capitals: of Greek, Cyrillic, Armenian, Cherokee, Lisu; small ones.

Of Unicode's confusables (Technical Standard 39).
"""
MARKS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02b9\u02bb\u02bc\u02bd\u02c8\u00b4`", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | dict.fromkeys("\u2044\u2215", "/")
    | {"_": " "}
)
"""Dashes, quotation marks and strokes as ASCII has them; an underscore stands for a blank."""
ACCENTS = re.compile("[\u0300-\u0333\u0339-\u036f]")
WORD = re.compile(r"[^\W\d_]+")

LONGEST = 400
"""Characters beyond which a number is not compared by its exact value, only as readers round it."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CYCLE = 146_097 * 86_400
"""Seconds of 400 years."""


def read_keys(texts: Sequence[str | None]) -> list[Hashable]:
    """A key for each text of a column, equal where some reader may take two texts for one value.

    Numbers go by the floating-point number nearest to them, truth values by 1 and 0, instants by
    their time in UTC, all forms of missing values by None, and any other text in normal form C
    without outer blanks and zero-width characters. ``None`` is a missing value.

    >>> read_keys(["1", "1.0", "01", "True", "0x1"])
    [('number', 1.0), ('number', 1.0), ('number', 1.0), ('number', 1.0), ('number', 1.0)]
    >>> read_keys(["NA", None, "x ", "10:00", "10:00:00.0"])
    [None, None, ('text', 'x'), ('time', 10, 0, 0, ''), ('time', 10, 0, 0, '')]
    """
    return _with_letters([_key(text, _rounded, lenient=True) for text in texts])


def _with_letters(keys: list[Hashable]) -> list[Hashable]:
    """The keys of a column with letters and words that stand for truth values as these."""
    letters = [_letter(key) for key in keys]
    if all(key is None or letter is not None for key, letter in zip(keys, letters, strict=True)):
        return [None if key is None else letter for key, letter in zip(keys, letters, strict=True)]
    return keys


def alike_keys(texts: Sequence[str | None]) -> list[Hashable]:
    """A key for each text of a column, equal where a reader or the eye may take two for one value.

    As :func:`read_keys`, but other texts go by their letters: in compatibility form (NFKC), without
    accents, in capitals, with single blanks, digits, dashes and quotation marks as ASCII has them,
    without quotation marks around them and stops after them. A word all of whose letters look like
    Latin ones is taken for Latin.

    >>> alike_keys(["HIV", "hiv ", "'HIV.'", "R&amp;D", "post_natal  care"])[2:]
    [('text', 'HIV'), ('text', 'R&D'), ('text', 'POST NATAL CARE')]
    """
    return _with_letters(list(map(_alike, texts)))


def _alike(text: str | None) -> Hashable:
    """The key of one text; that of the same with plain characters, unless it is no text anyway."""
    key = _key(text, _rounded, lenient=True)
    if not (isinstance(key, tuple) and key[0] == "text"):
        return key
    plain = _plain(key[1])
    again = key if plain == key[1] else _key(plain, _rounded, lenient=True)
    if not (isinstance(again, tuple) and again[0] == "text"):
        return again
    # A word all of whose letters look like some of the Latin script is one in its capitals.
    return (
        "text",
        WORD.sub(
            lambda word: like if (like := word[0].translate(LIKE)).isascii() else word[0],
            again[1].casefold().upper(),
        ),
    )


def _plain(text: str) -> str:
    """A text in compatibility form, with digits, dashes, quotation marks and blanks of ASCII."""
    text = unescape(text) if "&" in text else text
    if not text.isascii():
        apart = unicodedata.normalize("NFKD", text.translate(MARKS))
        joined = unicodedata.normalize("NFC", ACCENTS.sub("", apart))
        text = "".join(str(unicodedata.decimal(each, each)) for each in joined)
    text = " ".join(text.translate(MARKS).split())
    return text.strip("\"'").rstrip(".,;: ").strip("\"' ")


def written_keys(texts: Sequence[str | None]) -> list[Hashable]:
    """A key for each text of a column, equal where two texts certainly write one value.

    As :func:`read_keys`, but what readers round or guess stays apart: numbers go by their exact
    value, truth values are no numbers, and dates that are not ISO 8601 go by their text.

    >>> len(set(written_keys(["9007199254740993", "9007199254740992"])))
    2
    """
    return [_key(text, _exact, lenient=False) for text in texts]


SpellingKeys = Callable[[Sequence[str | None]], Sequence[Hashable]]
"""What makes two texts of a column one value to a reader."""


def one_text_each(texts: Sequence[str | None], keys: SpellingKeys = written_keys) -> list[int]:
    """For each text of a column the place of the spelling that stands for its value.

    Of the spellings of one value (those of one key) it is a missing value, the shortest text,
    or the first by letter, so that it does not depend on the order of records.

    >>> one_text_each(["01", "1.0", "x", "1"]), one_text_each(["-0.0", "0.0"])
    ([3, 3, 2, 3], [1, 1])
    """
    found = keys(texts)
    best: dict[Hashable, int] = {}
    for place in sorted(range(len(texts)), key=lambda place: plainness(texts[place])):
        best.setdefault(found[place], place)
    return [best[key] for key in found]


def plainness(text: str | None) -> tuple[bool, int, str]:
    """What sorts spellings: a missing value, then the shortest text, then the first by letter."""
    return (text is not None, len(text or ""), text or "")


def _key(text: str | None, number: Callable[[str], Hashable], *, lenient: bool) -> Hashable:
    """The key of a text; ``number`` gives that of a number."""
    if text is None:
        return None
    plain = unicodedata.normalize("NFC", UNSEEN.sub("", text)).strip()
    if lenient:
        plain = _unquoted(CONTROLS.sub("", plain).strip())
    if plain in MISSING or NAN.fullmatch(plain):
        return None
    written = _decimal(plain.replace("_", "")) if lenient else plain
    if NUMBER.fullmatch(written):
        return ("number", number(written))
    truth = TRUTHS.get(plain.casefold())
    if truth is not None:
        return ("number", number(str(truth))) if lenient else ("truth", truth)
    return _moment(_as_iso(plain) if lenient else plain, lenient=lenient) or ("text", plain)


def _unquoted(text: str) -> str:
    """A text as DuckDB has it where it takes ``'`` for what quotes fields."""
    quoted = len(text) > 1 and text[0] == text[-1] == "'"
    return text[1:-1].replace("''", "'").strip() if quoted else text


def _decimal(text: str) -> str:
    """A whole number of another base as a plain one."""
    for base, digits in DIGITS.items():
        if digits.fullmatch(text):
            return str(int(text, base))
    return text


def _as_iso(text: str) -> str:
    """A date or a time as ISO 8601 has it, where readers take it for one."""
    text = " ".join(text.upper().split())
    for pattern, replacement in AS_ISO:
        text = pattern.sub(replacement, text)
    return HALVES.sub(lambda half: f"{int(half[1]) % 12 + 12 * (half[3] == 'P')}{half[2]}", text)


def _rounded(text: str) -> Hashable:
    number = float(text)
    return abs(number) if isinf(number) else number  # DuckDB may read either as the last of dates


def _exact(text: str) -> Hashable:
    if len(text) > LONGEST:
        return text
    number = Decimal(text)
    return number if number.is_finite() else float(text)


def _letter(key: Hashable) -> Hashable:
    """The truth value that DuckDB reads, of a text that is nothing else; None for any other."""
    if not isinstance(key, tuple):
        return None
    if key[0] == "number":
        return key if key[1] in (0.0, 1.0) else None
    truth = LETTERS.get(key[1].casefold()) if key[0] == "text" else None
    return None if truth is None else ("number", float(truth))


def _moment(text: str, *, lenient: bool) -> Hashable:
    """The key of a date, a time or an instant; None for any other text."""
    time = (LENIENT_TIMES if lenient else TIMES).fullmatch(text)
    if time:
        return ("time", *_clock(time.groups()))
    found = (YEAR_FIRST if lenient else INSTANTS).fullmatch(text)
    if found:
        *date, hour, minute, second, fraction, zone = _without_bare_hour(found.groups())
        return _instant(date, _clock((hour, minute, second, fraction)), zone)
    date_ = DATES.fullmatch(text) if lenient else None
    return ("date", *map(int, date_.groups()[:3]), *_clock(date_.groups()[3:])) if date_ else None


def _without_bare_hour(parts: Sequence[str | None]) -> Sequence[str | None]:
    """The parts of an instant; an hour without minutes is one of a time with 0 of them."""
    if len(parts) < 9:
        return parts
    *rest, bare, zone = parts
    return (*rest[:3], rest[3] or bare, *rest[4:], zone)


def _clock(parts: Sequence[str | None]) -> tuple[int, int, int, str]:
    """Hours, minutes and seconds, and the digits of a second that are not 0."""
    hour, minute, second = (int(part or 0) for part in parts[:3])
    return hour, minute, second, (parts[3] or "").rstrip("0")


def _instant(
    date: Sequence[str | None], clock: tuple[int, int, int, str], zone: str | None
) -> Hashable:
    """The seconds of an instant since 1970 in UTC, which it is in where no zone is given."""
    year, month, day = (int(part or 0) for part in date)
    hours, minutes, seconds, digits = clock
    # The calendar repeats itself every 400 years: dates beyond those that Python knows are moved.
    cycles, year = divmod(year, 400)
    try:
        begin = datetime(2000 + year, month, day, tzinfo=_zone(zone))
        moment = begin + timedelta(hours=hours, minutes=minutes, seconds=seconds)
    except (ValueError, OverflowError):
        return None
    since = int((moment - EPOCH).total_seconds()) + (cycles - 5) * CYCLE
    return ("instant", since, digits)


def _zone(text: str | None) -> timezone:
    """The time zone of ``Z``, ``+01``, ``+0130`` or ``+01:30``."""
    if text in (None, "", "Z"):
        return UTC
    sign, digits = text[0], text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if sign == "-" else offset)
