"""Before a table is counted where it lies: values become coarser, and cells are few enough.

A hierarchy with a ground makes one value of all that are alike at some level. In a table that is
counted where it lies one of these values takes the place of the others, so that the engine counts
no more combinations than there are cells.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pandas as pd

from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.tables import engine
from anonymizer.tables.engine import T
from anonymizer.tables.files import Format, cleaned
from anonymizer.tables.reading import Cap
from anonymizer.tables.relations.relation import Relation
from anonymizer.tables.values import text_of

COMBINATIONS = Cap("ANONYMIZER_MAX_COMBINATIONS", 10_000_000)
"""Distinct combinations of values that are held in memory: some 300 bytes each."""

OFF = 1.1
"""How far an estimate of their number may be off."""

NAMED = 3
"""Columns that a message names."""


def settled(hierarchies: Mapping[str, Hierarchy], table: engine.Table) -> Mapping[str, Hierarchy]:
    """Settle the grounds that follow from the values of a table."""
    found = dict(hierarchies)
    for name, hierarchy in hierarchies.items():
        if hierarchy.limits.ground is not None and name in table.columns:
            codes, values = engine.distinct(table[name])
            sizes = engine.sized(table, codes, len(values))
            found[name] = hierarchy.settled(values, sizes.tolist())
    return found


def grounded(
    relation: Relation, hierarchies: Mapping[str, Hierarchy], form: Format | None = None
) -> tuple[Relation, Mapping[str, Hierarchy]]:
    """Put one value in place of all that are alike at the ground of their column.

    It is one of these values, or the least of its range, of the type that the column has: nothing
    is read of it but what is true of all. Values that a hierarchy does not cover stay as they are.
    With it come the hierarchies, ``settled`` where their grounds follow from the table. ``form``:
    how the table lies in a file, as in ``cleaned``.
    """
    found = dict(hierarchies)
    names = [name for name, each in hierarchies.items() if each.limits.ground is not None]
    for name in names:
        relation = rounded(relation, name, hierarchies[name])
    counted = [relation.tally([name]) for name in names]  # before anything is joined to it
    for name, raw in zip(names, counted, strict=True):
        column = raw[name] if form is None else cleaned(raw[name], form)
        found[name] = hierarchies[name].settled(list(column), raw.sizes.tolist())
        relation = _grounded(relation, raw, found[name], list(column))
    return relation, found


def rounded(relation: Relation, name: str, hierarchy: Hierarchy) -> Relation:
    """Round a column down by its engine, where all values stay in their cells.

    Cells are ranges: what lies between two values of one is in it, however the engine computes.
    """
    found = None if hierarchy.step is None else relation.rounded(name, hierarchy.step)
    if found is None:
        return relation
    columns = (found.values[each] for each in ("rounded", "least", "largest"))
    alike = all(
        _cell(hierarchy, rounded) == _cell(hierarchy, least) == _cell(hierarchy, largest)
        for rounded, least, largest in zip(*columns, strict=True)
    )
    return found.relation if alike else relation


def _grounded(
    relation: Relation, raw: engine.Tally, hierarchy: Hierarchy, values: Sequence[object]
) -> Relation:
    stand_ins = _stand_ins(hierarchy, values)
    if stand_ins == [*range(len(stand_ins))]:
        return relation
    from anonymizer.tables.relations.relation import merging  # loads pyarrow

    return relation.recoded(merging(raw, stand_ins, relation.columns))


def at_ground(table: T, hierarchies: Mapping[str, Hierarchy]) -> T:
    """Put labels of their ground in place of values of a table, or its tally, that have one.

    So two tables are one that differ in nothing that was counted.
    """
    columns = {}
    for name, hierarchy in hierarchies.items():
        if hierarchy.limits.ground is not None:
            codes, values = engine.distinct(table[name])
            columns[name] = engine.relabel(
                table[name], codes, [hierarchy.ground_of(value) for value in values]
            )
    return engine.replaced(table, columns)


def _stand_ins(hierarchy: Hierarchy, values: Sequence[object]) -> list[int]:
    """Return the place of the value that stands for each: the smallest of those alike."""
    cells = [_cell(hierarchy, value) for value in values]
    try:
        order = sorted(range(len(values)), key=lambda place: _place(values[place]))
    except TypeError:  # values of several kinds
        order = sorted(range(len(values)), key=lambda place: str(values[place]))
    first: dict[Hashable, int] = {}
    for place in order:
        first.setdefault(cells[place], place)
    return [first[cell] for cell in cells]


def _cell(hierarchy: Hierarchy, value: object) -> Hashable:
    """Return a key that values which are alike share; one that is not covered shares none."""
    key = hierarchy.key(value)
    if key is None:
        return None
    if hierarchy.covers(key):
        return hierarchy.cell_of(key)
    return NoCell, type(value), text_of(value)


class NoCell:
    """Stand-in for the cell of values that a hierarchy does not cover."""


def _place(value: Any) -> tuple[bool, Any]:
    missing = value is None or value is pd.NA or value != value
    return (False, 0) if missing else (True, value)


def require_countable(
    relation: Relation,
    columns: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    what: str = "the columns with a role",
) -> None:
    """Refuse a table of more distinct combinations of values than memory holds.

    ``columns``: those that are counted, ``hierarchies`` those of some of them; ``what``: what a
    message calls the columns. They are estimated
    only where there are so many records; InputError names the columns of most values, and how they
    are counted coarser.
    """
    most = COMBINATIONS.value
    if relation.records <= most:
        return
    found = relation.estimate(columns)
    # An estimate must not refuse what may fit.
    if found <= OFF * most:
        return
    values = {name: relation.estimate([name]) for name in columns}
    largest = sorted(columns, key=lambda name: -values[name])[:NAMED]
    about = ", ".join(f"{name!r} about {values[name]:,}" for name in largest)
    raise InputError(
        f"{what} have about {found:,} distinct combinations of values, more than "
        f"the {most:,} that are counted (of values, {about}); {_way_out(largest, hierarchies)}, or "
        f"set {COMBINATIONS.variable} in the environment where memory allows more"
    )


def require_held(relation: Relation, because: str) -> None:
    """Refuse a table of more records than memory holds one by one; ``because``: why they are."""
    most, records = COMBINATIONS.value, relation.records
    if records > most:
        raise InputError(
            f"{because}, and the table has {records:,}, more than the {most:,} that are held in "
            f"memory; set {COMBINATIONS.variable} in the environment where memory allows more"
        )


def _way_out(largest: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> str:
    """Return advice on how to count the first of some columns coarser."""
    for name in largest:
        if name in hierarchies:
            example = _example(hierarchies[name])
            if example is not None:
                return f"count one of them coarser, such as {name} with ground = {example}"
    return "round these, or give them no role"


def _example(hierarchy: Hierarchy) -> str | None:
    """Return a ground that is coarser than the one there is."""
    level = (hierarchy.limits.ground or 0) + 1
    if level >= hierarchy.height:
        return None
    given = hierarchy.ground_at(level)
    if isinstance(given, Sequence) and not isinstance(given, str):
        return f"[{', '.join(map(str, given))}]"
    return f'"{given}"' if isinstance(given, str) and not _is_number(given) else str(given)


def _is_number(text: str) -> bool:
    try:
        Decimal(text)
    except ArithmeticError:
        return False
    return True
