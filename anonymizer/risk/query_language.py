"""The language of queries: conditions on columns, read by a grammar and never executed as code.

    condition := column (= | != | < | <= | > | >=) value
               | column [not] in (value, ...)
               | column [not] between value and value
               | column is [not] missing
    query     := condition | not query | query and query | query or query | (query)

A value is a number, or a text in quotes; a column is a name, in double quotes or backquotes where
it has blanks. Words of the language may be in capitals. The logic is that of three values: what is
compared with a missing value is unknown.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NoReturn

from anonymizer.errors import LONGEST, InputError
from anonymizer.tables.values import MOST_DIGITS, number_of

Kind = Literal["number", "text", "name", "sign", "end"]
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "between", "missing"]

TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.-]))"
    r"|(?P<single>'(?:[^']|'')*')|(?P<double>\"(?:[^\"]|\"\")*\")|(?P<back>`[^`]+`)"
    r"|(?P<name>[^\W\d](?:[\w.]|-(?=\w))*)"
    r"|(?P<sign><=|>=|<>|!=|==|[=<>(),]))"
)
WORDS = {"and", "or", "not", "in", "between", "is", "missing"}
SIGNS: dict[str, Operator] = {
    "=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
}  # fmt: skip
DEEPEST = 50
"""Parentheses and ``not`` within each other: a reader's patience, and Python's."""
AROUND = 60
"""Letters on either side of a position that a message has of a long query."""
SLIPS = {
    r"\d{4}-\d\d?-\d\d?": "a day stands in quotes, as '2020-12-31'",
    "[\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb]": "quotes are ' or \"",
    r"['\"`]": "a quote is not closed",
    r"&": "conditions are joined by and",
    r"\|": "conditions are joined by or",
    r"!": "a condition is denied by not",
}
"""What people write in place of what the language has."""

Value = Decimal | str
"""A number, or a text."""


@dataclass(frozen=True)
class Condition:
    """A column compared with values; ``place``: the position of its name in the query, from 1."""

    column: str
    operator: Operator
    values: tuple[Value, ...]
    place: int


@dataclass(frozen=True)
class Both:
    """Queries joined by ``and``, or by ``or``."""

    word: Literal["and", "or"]
    parts: "tuple[Query, ...]"


@dataclass(frozen=True)
class Not:
    """A query denied."""

    part: "Query"


Query = Condition | Both | Not


@dataclass(frozen=True)
class Token:
    """A piece of a query; ``written``: as it stands there; ``place`` from 1."""

    kind: Kind
    written: str
    place: int
    text: str = ""  # without quotes

    def says(self, *words: str) -> bool:
        """Return whether it is a word of the language or a sign, of these."""
        return self.kind in ("name", "sign") and self.written.lower() in words


def parse(query: str) -> Query:
    """Read a query.

    InputError names what was expected, and at which position, from 1.

    >>> parse("age > 40 and sex = 'Female'").parts[0].column
    'age'
    """
    if not isinstance(query, str) or not query.strip():
        raise InputError("a query is empty: write a condition, such as age > 40")
    return _Reader(query).whole()


def conditions(query: Query) -> Iterator[Condition]:
    """The conditions in a query, from left to right."""
    if isinstance(query, Condition):
        yield query
    elif isinstance(query, Not):
        yield from conditions(query.part)
    else:
        for part in query.parts:
            yield from conditions(part)


def _tokens(query: str) -> Iterator[Token]:
    at = 0
    while query[at:].strip():
        found = TOKEN.match(query, at)
        start = len(query) - len(query[at:].lstrip())
        if found is None:
            _refuse(
                query, start + 1, f"cannot read {query[start : start + 10]!r}{_slip(query, start)}"
            )
        at, kind = found.end(), str(found.lastgroup)
        written = found.group(kind)
        quoted = kind in ("single", "double", "back")
        text = written[1:-1].replace(written[0] * 2, written[0]) if quoted else written
        kinds: dict[str, Kind] = {"number": "number", "name": "name", "sign": "sign"}
        yield Token(kinds.get(kind, "text"), written, start + 1, text)
    yield Token("end", "the end", len(query) + 1)


def _slip(query: str, start: int) -> str:
    found = [hint for form, hint in SLIPS.items() if re.compile(form).match(query, start)]
    return f"; {found[0]}" if found else ""


def placed(query: str, place: int) -> str:
    """Name a position of a query, from 1; a long query is shown around it.

    >>> placed("age > ", 7)
    "query 'age > ', position 7"
    """
    near = query
    if len(query) > LONGEST:
        start, end = max(place - 1 - AROUND, 0), place - 1 + AROUND
        near = "…" * (start > 0) + query[start:end] + "…" * (end < len(query))
    return f"query {near!r}, position {place}"


def _refuse(query: str, place: int, why: str) -> NoReturn:
    raise InputError(f"{placed(query, place)}: {why}")


def _brief(text: str) -> str:
    return text if len(text) <= AROUND else f"{text[:AROUND]}…"


class _Reader:
    """Reads by recursive descent; ``or`` binds least, then ``and``, then ``not``."""

    def __init__(self, query: str) -> None:
        self.query = query
        self.tokens = list(_tokens(query))
        self.at = self.depth = 0

    def whole(self) -> Query:
        found = self.joined()
        if self.next.kind != "end":
            self.expected("and, or, or the end")
        return found

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def expected(self, what: str) -> NoReturn:
        hint = self.decimal_comma()
        _refuse(
            self.query, self.next.place, f"expected {what}, not {_brief(self.next.written)}{hint}"
        )

    def decimal_comma(self) -> str:
        """A hint where what is unexpected is the comma of a number."""
        around = self.tokens[max(self.at - 1, 0) : self.at + 2]
        written = "".join(token.written for token in around)
        number = [token.kind for token in around] == ["number", "sign", "number"]
        if number and self.next.says(",") and self.query.startswith(written, around[0].place - 1):
            return f"; a number is written with a point: {written.replace(',', '.')}"
        return ""

    def sign(self, *signs: str) -> Token:
        return self.take() if self.next.says(*signs) else self.expected(" or ".join(signs))

    def joined(self) -> Query:
        return self.several("or", lambda: self.several("and", self.denied))

    def several(self, word: Literal["and", "or"], one: Callable[[], Query]) -> Query:
        parts = [one()]
        while self.next.says(word):
            self.take()
            parts.append(one())
        return parts[0] if len(parts) == 1 else Both(word, tuple(parts))

    def denied(self) -> Query:
        if not self.next.says("not", "("):
            return self.condition()
        self.depth += 1
        if self.depth > DEEPEST:
            _refuse(self.query, self.next.place, f"nested deeper than {DEEPEST}; write it flatter")
        if self.take().says("not"):
            found: Query = Not(self.denied())
        else:
            found = self.joined()
            self.sign(")")
        self.depth -= 1
        return found

    def condition(self) -> Query:
        if self.next.kind not in ("name", "text") or self.next.says(*WORDS):
            self.expected("the name of a column")
        name = self.take()
        if self.next.says("is"):
            self.take()
            return self.unless(lambda: self.missing(name))
        if self.next.says(*SIGNS):
            operator = SIGNS[self.take().written]
            return Condition(name.text, operator, (self.value(),), name.place)
        return self.unless(lambda: self.listed(name))

    def unless(self, read: Callable[[], Condition]) -> Query:
        """A condition that a ``not`` may stand in."""
        if not self.next.says("not"):
            return read()
        self.take()
        return Not(read())

    def missing(self, name: Token) -> Condition:
        self.sign("missing")
        return Condition(name.text, "missing", (), name.place)

    def listed(self, name: Token) -> Condition:
        if not self.next.says("in", "between"):
            blanks = self.next.kind == "name" and name.kind == "name"
            hint = "; a name with blanks stands in double quotes" if blanks else ""
            self.expected(f"a comparison (= != < <= > >= in between is){hint}")
        if self.take().says("between"):
            low = self.value()
            self.sign("and")
            return Condition(name.text, "between", (low, self.value()), name.place)
        self.sign("(")
        values = [self.value()]
        while self.sign(",", ")").written == ",":
            values.append(self.value())
        return Condition(name.text, "in", tuple(values), name.place)

    def value(self) -> Value:
        if self.next.kind == "number":
            return self.number()
        if self.next.kind == "text" and not self.next.written.startswith("`"):
            return self.take().text
        hint = f" ('{_brief(self.next.written)}')" if self.next.kind == "name" else ""
        return self.expected(f"a number, or a text in quotes{hint}")

    def number(self) -> Decimal:
        token = self.take()
        number = number_of(token.written)
        if number is None:
            _refuse(
                self.query,
                token.place,
                f"a number has at most {MOST_DIGITS} digits before or after the point; a longer "
                "one is compared as a text, in quotes",
            )
        return number
