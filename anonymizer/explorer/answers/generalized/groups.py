"""Groups of a listed hierarchy edited: each function takes rows of labels, and gives others.

A row is a value, and its label at levels 1, 2, ...; all have one label at the last level. What is
given stays as it is. InputError when the result would be no hierarchy; the message says why.
"""

from collections.abc import Collection, Sequence

from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, Hierarchy

Row = tuple[str, ...]
Rows = Sequence[Row]


def renamed(rows: Rows, level: int, label: str, name: str) -> list[Row]:
    """A group of a level under another name.

    >>> renamed([("1", "a", "*"), ("2", "a", "*")], 1, "a", "few")
    [('1', 'few', '*'), ('2', 'few', '*')]
    """
    _require_below_top(rows, level)
    name = _named(rows, level, name, label)
    return _checked([_with(row, level, name) if row[level] == label else row for row in rows])


def moved(rows: Rows, level: int, label: str, into: str) -> list[Row]:
    """A value (level 0) or a group of a level in another group of the level above.

    >>> moved([("1", "a", "*"), ("2", "a", "*"), ("3", "b", "*")], 0, "2", "b")
    [('1', 'a', '*'), ('2', 'b', '*'), ('3', 'b', '*')]
    """
    above = next((row[level + 1 :] for row in rows if row[level + 1] == into), None)
    if above is None:
        raise InputError(f"level {level + 1} has no such group")
    return _checked([row[: level + 1] + above if row[level] == label else row for row in rows])


def with_group(rows: Rows, level: int, name: str, members: Collection[str]) -> list[Row]:
    """One group more at a level, of groups of the level below, or of values.

    It lies where the first of its members lay.

    >>> rows = [("1", "1", "*"), ("2", "2", "*"), ("3", "3", "*")]
    >>> with_group(rows, 1, "low", ["1", "2"])
    [('1', 'low', '*'), ('2', 'low', '*'), ('3', '3', '*')]
    """
    _require_below_top(rows, level)
    inside = [row for row in rows if row[level - 1] in members]
    if not inside:
        raise InputError("a group needs members; choose some")
    left = {row[level] for row in rows if row[level - 1] not in members}
    name = name.strip()
    if name in left:
        raise InputError(f"level {level} has a group of that name; choose another one")
    above = (_plain(name), *inside[0][level + 1 :])
    return _checked([row[:level] + above if row[level - 1] in members else row for row in rows])


def without_group(rows: Rows, level: int, label: str) -> list[Row]:
    """A group taken apart: its members stand alone at its level.

    >>> without_group([("1", "low", "*"), ("2", "low", "*"), ("3", "3", "*")], 1, "low")
    [('1', '1', '*'), ('2', '2', '*'), ('3', '3', '*')]
    """
    _require_below_top(rows, level)
    taken = {row[level] for row in rows} - {label}
    members = {row[level - 1] for row in rows if row[level] == label}
    if taken & members:
        raise InputError(
            f"a member of this group has the name of another group of level {level}; rename that "
            "one first"
        )
    return _checked(
        [_with(row, level, row[level - 1]) if row[level] == label else row for row in rows]
    )


def with_level(rows: Rows, level: int) -> list[Row]:
    """One level more above a level, at first of the same groups.

    >>> with_level([("1", "*"), ("2", "*")], 0)
    [('1', '1', '*'), ('2', '2', '*')]
    """
    if not 0 <= level < len(rows[0]) - 1:
        raise InputError("a level can be added above any level but the highest one")
    return _checked([row[: level + 1] + row[level:] for row in rows])


def without_level(rows: Rows, level: int) -> list[Row]:
    """One level less; the values and the highest level stay.

    >>> without_level([("1", "a", "*"), ("2", "b", "*")], 1)
    [('1', '*'), ('2', '*')]
    """
    _require_below_top(rows, level)
    return _checked([row[:level] + row[level + 1 :] for row in rows])


def with_values(rows: Rows, values: Sequence[str]) -> list[Row]:
    """More values, each alone up to the highest level.

    >>> with_values([("1", "a", "*")], ["2"])
    [('1', 'a', '*'), ('2', '2', '*')]
    """
    known = {row[0] for row in rows}
    levels, top = len(rows[0]) - 1, rows[0][-1]
    more = [(*[value] * levels, top) for value in values if value not in known]
    return _checked([*rows, *more])


def _checked(rows: list[Row]) -> list[Row]:
    Hierarchy.from_rows(rows)
    return rows


def _with(row: Row, level: int, label: str) -> Row:
    return (*row[:level], label, *row[level + 1 :])


def _require_below_top(rows: Rows, level: int) -> None:
    if not 1 <= level < len(rows[0]) - 1:
        raise InputError(
            "the values, and the highest level, of which all values are one group, stay as they "
            "are; choose a level between them"
        )


def _named(rows: Rows, level: int, name: str, before: str) -> str:
    """The name of a group that no other group of its level has."""
    name = _plain(name.strip())
    if name != before and any(row[level] == name for row in rows):
        raise InputError(
            f"level {level} has a group of that name; move this one's members into it instead"
        )
    return name


def _plain(name: str) -> str:
    if not name or name == ANY:
        raise InputError(f"a group needs a name, and {ANY!r} stands for all values; type another")
    return name
