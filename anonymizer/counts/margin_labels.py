"""Margins that have labels of a level: a census table by age groups, where raw ages are not known.

A label is placed by any value that has it at that level: whom the margin counts under it are put
there. Whoever asks for classes of whole groups of that level finds all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.tables import engine
from anonymizer.tables.population import CountedMargin
from anonymizer.tables.values import is_missing, text_of

FIRST_NUMBER = re.compile(r"-?\d+(\.\d+)?")

SMALLEST = ("{}", "{}-01", "{}-01-01")
"""What makes a date of a label that is one, of a month and of a year."""


def placed(margin: CountedMargin, hierarchies: Mapping[str, Hierarchy | None]) -> CountedMargin:
    """Put values in place of labels in all columns of a margin; errors as ``at_level``."""
    columns, levels = dict[str, pd.Series](), dict[str, int]()
    for name in map(str, margin.table.columns):
        hierarchy = hierarchies.get(name)
        if hierarchy is None:
            continue
        column, level = at_level(name, margin.table[name], hierarchy)
        if level:
            columns[name], levels[name] = column, level
    return margin._replace(table=engine.replaced(margin.table, columns), levels=levels)


def at_level(name: str, column: pd.Series, hierarchy: Hierarchy) -> tuple[pd.Series, int]:
    """Put a value in place of each label of a margin, and say of which level the labels are.

    It is 0 where the margin has raw values, which stay. Values that a hierarchy lists are raw ones,
    whatever else they may be.

    InputError where only some are labels of a level, and the others are no raw values.
    """
    codes, labels = engine.distinct(column)
    level, values = _level_of(name, labels, hierarchy)
    return (column, 0) if level == 0 else (engine.relabel(column, codes, values), level)


def values_of(margins: Sequence[CountedMargin]) -> dict[str, pd.Series]:
    """Return the values of each column that any of some admitted margins has."""
    names = dict.fromkeys(name for each in margins for name in each.table.columns)
    return {
        name: pd.concat(
            [each.table[name].astype(object) for each in margins if name in each.table.columns],
            ignore_index=True,
        ).drop_duplicates(ignore_index=True)
        for name in names
    }


def _level_of(
    name: str, labels: Sequence[object], hierarchy: Hierarchy
) -> tuple[int, Sequence[object]]:
    known = [hierarchy.key(label) for label in labels if not is_missing(label)]
    listed = {*hierarchy.listed}
    if {*known} <= listed:
        return 0, labels
    raw, most, of_level = all(map(hierarchy.covers, known)), 0, 0
    first = next(label for label in labels if not is_missing(label))
    for level in range(1, hierarchy.height):
        of_listed = {str(hierarchy.label_at(level, key)): key for key in listed}
        if raw and _value_of(first, level, hierarchy, of_listed) is None:
            continue  # of thousands of raw values one is enough to know
        found = [_value_of(label, level, hierarchy, of_listed) for label in labels]
        number = sum(value is not None for value in found)
        if number and number == len(known):
            return level, found
        most, of_level = max((most, of_level), (number, level))
    if most and not raw:
        raise InputError(
            f"column {name!r} has {most} labels of level {of_level} of its hierarchy, and "
            f"{len(known) - most} others; give it labels of one level, or raw values"
        )
    return 0, labels


def _value_of(
    label: object, level: int, hierarchy: Hierarchy, of_listed: dict[str, object]
) -> object:
    """Return a value that has a label at a level; None where none is found, or it is missing."""
    if is_missing(label):
        return None
    text = text_of(label)
    if text in of_listed:
        return of_listed[text]
    for value in _guesses(text):
        key = hierarchy.key(value)
        if hierarchy.covers(key) and text_of(str(hierarchy.label_at(level, key))) == text:
            return value
    return None


def _guesses(text: str) -> Iterator[str]:
    """Yield values that may have a label: of a range its end, of a month its first day."""
    if number := FIRST_NUMBER.search(text):
        yield number[0]
    yield from (form.format(text) for form in SMALLEST)
