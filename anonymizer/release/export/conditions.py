"""Which values a group of a recoding stands for, as conditions of standard SQL.

The rules are those of ``release/manifest/placement.py``, which places records in memory.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from anonymizer.errors import InputError
from anonymizer.hierarchy.rules.dates import iso_of
from anonymizer.release.export.quoting import listed, literal
from anonymizer.release.manifest.groups import Group
from anonymizer.tables.values import INSTANT, number_text, text_of

EVERYTHING = "1 = 1"
"""The condition of ``*``, which has what no other group of its column has."""


@dataclass(frozen=True)
class ColumnSql:
    """The SQL of a column: its values as texts, NULL where missing, as numbers and as dates."""

    text: str
    number: str
    moment: str

    @property
    def missing(self) -> str:
        """The condition of a missing value."""
        return f"{self.text} IS NULL"


def condition(group: Group, keys: ColumnSql, *, everything: bool = False) -> str:
    """The condition that a value is in a group.

    ``everything``: it has missing values, too, whichever it lists.
    """
    own = group.own
    if group.is_range:
        return _between(group, keys)
    if group.excluded is not None:
        some = f" AND {keys.text} NOT IN {listed(group.excluded)}" if group.excluded else ""
        return f"{keys.text} IS NOT NULL{some}"
    if group.masked is not None:
        begin, end = group.masked
        return _masked(str(own), begin, end, keys)
    if group.members and group.values is None:
        return _any(condition(each, keys) for each in group.members)
    if group.values is not None or own is None or group.level == 0:
        return _listed(group, keys, everything)
    if group.is_star:
        return EVERYTHING
    return f"{keys.text} = {literal(own)}"


def _listed(group: Group, keys: ColumnSql, everything: bool) -> str:
    """The values that a group lists; a missing one where it stands for that, too."""
    own = group.own
    values = [own] if group.level == 0 else group.values or []
    texts = [text_of(value) for value in values if value is not None]
    parts = [keys.missing] if group.has_missing or everything else []
    if texts and group.clock is not None:
        ends = [_moment_of(group, text) for text in texts]
        parts.append(f"{keys.moment} IN ({', '.join(ends)})")
    elif texts:
        if any(INSTANT.fullmatch(text) for text in texts):
            raise _zoned()
        parts.append(f"{keys.text} IN {listed(texts)}")
    return _any(parts) if parts else "1 = 0"


def _between(group: Group, keys: ColumnSql) -> str:
    """A half-open range of numbers or dates; an end that is None is open."""
    scale, interval = (keys.moment if group.calendar else keys.number), group.interval
    ends = [
        f"{scale} {sign} {_moment(place) if group.calendar else number_text(place)}"
        for sign, place in ((">=", interval.low), ("<", interval.high))
        if place is not None
    ]
    if group.calendar:
        _require_plain(group)
    return " AND ".join(ends or [f"{scale} IS NOT NULL"])


def _moment(place: Decimal) -> str:
    text = iso_of(place)
    return f"TIMESTAMP '{text if ' ' in text else text + ' 00:00:00'}'"


def _moment_of(group: Group, text: str) -> str:
    _require_plain(group)
    clock = group.clock
    moment = clock.moment(text) if clock else None
    if moment is None or "+" in moment.text:
        raise _zoned()
    return _moment(moment.place)


def _require_plain(group: Group) -> None:
    """Require dates as ISO 8601 has them: SQL has no standard function that reads others."""
    if group.calendar and (group.calendar.format or group.calendar.zone):
        raise _zoned()


def _zoned() -> InputError:
    return InputError(
        "the recoding reads dates in a time zone or a format of their own, which standard SQL "
        "cannot; recode with anonymizer apply"
    )


def _masked(label: str, begin: int, end: int, keys: ColumnSql) -> str:
    """Codes of the length of a label that differ from it only where it is masked."""
    text, stem, tail = keys.text, label[:begin], label[end:]
    parts = [f"CHARACTER_LENGTH({text}) = {len(label)}"]
    if stem:
        parts.append(f"SUBSTRING({text} FROM 1 FOR {begin}) = {literal(stem)}")
    if tail:
        parts.append(f"SUBSTRING({text} FROM {end + 1}) = {literal(tail)}")
    return " AND ".join(parts)


def _any(parts: Iterable[str]) -> str:
    found = list(parts)
    return found[0] if len(found) == 1 else "(" + " OR ".join(f"({each})" for each in found) + ")"
