"""From the columns of a table to count matrices: what a schema's counts are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.counts.pairs import as_array, row_keys, tabulated
from anonymizer.counts.persons import (
    HOUSEHOLD,
    PERSON,
    Attribute,
    PerPerson,
    Persons,
    PersonValues,
    by_item,
    by_persons,
    counted_as,
)
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Taxonomy
from anonymizer.information.matrices import CountMatrix, occurring
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.tables import engine
from anonymizer.tables.spelling import SpellingKeys, alike_keys, one_text_each, written_keys
from anonymizer.tables.values import is_missing, texts_apart, texts_of, without_sign


def encoded(column: pd.Series, taxonomy: Taxonomy) -> Codes:
    """Return the code of each value of a column, shape (rows,)."""
    codes, values = engine.distinct(column)
    return taxonomy.encode(values)[codes]


def cells_of(
    tally: engine.Tally, taxonomies: Mapping[str, Taxonomy], names: Sequence[str]
) -> Codes:
    """Return the codes of a tally's values in some columns, shape (rows, names)."""
    columns = [encoded(tally.combinations[name], taxonomies[name]) for name in names]
    return np.column_stack(columns).astype(np.intp)


def distinct_cells(cells: Codes) -> tuple[Codes, Codes]:
    """Return the distinct cells of some rows, and the place of each row's among them, (rows,).

    Rows that differ by sensitive values alone are one cell before histograms are made: of many
    values there are far more such rows than cells.
    """
    _, first, cell_of = np.unique(row_keys(cells), return_index=True, return_inverse=True)
    return cells[first], cell_of


Numbering: TypeAlias = "Callable[[pd.Series], tuple[Codes, Sequence[object]]]"
"""What numbers the distinct values of a column: the code of each row's, and the values."""

Histograms = tuple[dict[str, CountMatrix], dict[str, tuple[object, ...]]]
"""Count matrices by name, shape (classes, values), and what the columns of each count."""


def histograms(
    table: engine.Table,
    names: Iterable[Attribute],
    class_of: Codes,
    classes: int,
    number: Numbering,
) -> Histograms:
    """Count records by class and value of each of some columns, and list the values.

    Of several together each combination that occurs is a value, under the name ``counted_as``.
    ``class_of``: of each row, shape (rows,). ``number``: which of its values are one.
    """
    joint, values, sizes = {}, {}, engine.sizes_of(table)
    for each in names:
        codes, kinds = _numbered(each, table.__getitem__, number)
        name = counted_as(each)
        values[name] = tuple(kinds)
        joint[name] = counted_by(codes, len(kinds), class_of, classes, sizes)
    return joint, values


def _numbered(
    name: Attribute, column: Callable[[str], pd.Series], number: Numbering
) -> tuple[Codes, Sequence[object]]:
    """Number the values of a column, or the combinations that occur in several."""
    if isinstance(name, str):
        return number(column(name))
    columns = [number(column(each)) for each in name]
    rows, codes = distinct_cells(np.column_stack([codes for codes, _ in columns]))
    kinds = [kinds for _, kinds in columns]
    return codes, [
        tuple(own[code] for own, code in zip(kinds, row, strict=True)) for row in rows.tolist()
    ]


def of_persons(
    table: engine.Table,
    names: Iterable[Attribute],
    class_of: Codes,
    classes: int,
    persons: Persons,
    among: Persons | None,
    number: Numbering,
    per_person: PerPerson,
    numbered: bool = False,
) -> tuple[Histograms, dict[str, PersonValues]]:
    """Count records by class and person, and persons by class and value of each of some columns.

    In parts of a person: see ``Persons``. ``among``: of the table that this one is a part of;
    ``numbered``: the release shows which records are of one person. The records by person and
    value, which say what a person counts in each class, come last.
    """
    parts, sizes = persons.parts_in_rows(among), engine.sizes_of(table)
    joint, values, pairs = {}, {}, {}
    for about in names:
        codes, kinds = _numbered(about, table.__getitem__, number)
        name = counted_as(about)
        values[by_persons(name)] = tuple(kinds)
        joint[by_persons(name)] = counted_by(codes, len(kinds), class_of, classes, parts)
        if len(persons) == persons.records.sum():  # a record each, which counts 1 in any way
            continue
        pair, pair_of = np.unique(
            persons.person_of.astype(np.int64) * len(kinds) + codes, return_inverse=True
        )
        of_pairs = counted_by(pair_of, len(pair), class_of, classes, sizes)
        person_of, value_of = np.divmod(pair, len(kinds))
        records = np.asarray(of_pairs.sum(axis=0), np.int64)
        each = per_person == "each"
        values_of = of_pairs, person_of, value_of, len(kinds), records
        pairs[name] = PersonValues(*values_of, each, numbered=numbered)
    joint[PERSON] = counted_by(persons.person_of, len(persons), class_of, classes, sizes)
    return (joint, {**values, PERSON: ()}), pairs


def of_households(
    table: engine.Table,
    class_of: Codes,
    classes: int,
    households: Persons,
    persons: Persons | None,
) -> Histograms:
    """Count records by class and household, and say whose household each of ``persons`` is of."""
    codes, sizes = households.person_of, engine.sizes_of(table)
    joint = {HOUSEHOLD: counted_by(codes, len(households), class_of, classes, sizes)}
    if persons is None:
        return joint, {HOUSEHOLD: ()}
    household_of = np.zeros(len(persons), np.intp)
    household_of[persons.person_of] = codes
    return joint, {HOUSEHOLD: (), PERSON: tuple(household_of.tolist())}


def counted_by(
    codes: Codes, values: int, class_of: Codes, classes: int, sizes: Ints | None
) -> CountMatrix:
    """Count rows by class and value, each of some size, or of 1: shape (classes, values)."""
    if as_array(classes, values):
        # Sums of whole numbers below 2^53 are exact as floats.
        found = np.bincount(class_of * values + codes, sizes, minlength=classes * values)
        return found.astype(np.int64, copy=False).reshape(classes, values)
    sizes = np.ones(len(codes), np.int64) if sizes is None else sizes
    return tabulated(class_of, codes, sizes, (classes, values))


def by_text(column: pd.Series, keys: SpellingKeys = list) -> tuple[Codes, tuple[object, ...]]:
    """Number the distinct values of a column in the order of their texts: codes and values.

    So neither sums of logarithms nor draws of records depend on the order of the records. A missing
    value comes after a text that looks like it. Values of one key are one value; the default is
    that of Python's csv, which keeps texts apart.
    """
    codes, values = as_read(column, keys)
    places = list(map(_place, values))
    order = sorted(range(len(values)), key=places.__getitem__)
    if order == list(range(len(values))):
        return codes, tuple(values)
    return np.argsort(order)[codes], tuple(values[place] for place in order)


def in_order(column: pd.Series) -> Codes:
    """Number the distinct values of a column in the order of their texts, none of them merged.

    So neither sums nor draws depend on the order in which an engine gives what it counted.
    """
    codes, values = engine.distinct(column)
    places = [(is_missing(value), *_place(value), type(value).__name__) for value in values]
    return np.argsort(sorted(range(len(values)), key=places.__getitem__))[codes]


def _place(value: object) -> tuple[str, bool, str]:
    # Engines have None, NaN or NaT for what is missing, and some have no -0.0.
    if is_missing(value):
        return "None", True, ""
    return str(without_sign(value)), False, str(value)


def one_spelling(column: pd.Series) -> pd.Series:
    """Keep one spelling for each value of a column, of those in which it occurs.

    What no spelling but one has stays as it is written.
    """
    codes, values = engine.distinct(column)
    places = one_text_each(_texts(values))
    return column if places == list(range(len(values))) else engine.merged(column, codes, places)


def item_sets(
    values: Sequence[object], mark: str, keys: SpellingKeys = written_keys
) -> list[tuple[str, ...] | None]:
    """Return the items that each cell lists, each once and in order; None of a missing cell.

    ``mark`` stands between them. Items of one key are one item.

    >>> item_sets(["tb;hiv", "hiv; tb;hiv", "flu", None], ";")
    [('hiv', 'tb'), ('hiv', 'tb'), ('flu',), None]
    """
    listed = [None if text is None else _items(text, mark) for text in texts_of(values)]
    known = sorted({item for each in listed for item in each or ()})
    stands = dict(zip(known, one_text_each(known, keys), strict=True))
    return [
        None if each is None else tuple(sorted({known[stands[item]] for item in each}))
        for each in listed
    ]


def _items(text: str, mark: str) -> list[str]:
    """Return the items of a cell; one of nothing but marks is an item by itself."""
    return [item for part in text.split(mark) if (item := part.strip())] or [text]


def one_list(column: pd.Series, mark: str) -> pd.Series:
    """Write each set of items of a column in one way: in order, each item once.

    A cell that is written so stays what it is.
    """
    codes, values = engine.distinct(column)
    written = _lists(values, item_sets(values, mark), mark)
    if all(value is text for value, text in zip(values, written, strict=True)):
        return column
    return engine.relabel(column, codes, written)


def _lists(
    values: Sequence[object], sets: Sequence[tuple[str, ...] | None], mark: str
) -> list[object]:
    """Write sets of items; a cell that is missing, or written so, stays what it is."""
    return [
        value if own is None or str(value) == mark.join(own) else mark.join(own)
        for value, own in zip(values, sets, strict=True)
    ]


MOST_ITEM_VALUES = 2**15
"""Columns of all counts of an attribute by its items: 60 items in 500 different sets."""


def ways_of_items(name: str, kinds: Sequence[object], mark: str) -> dict[str, list[object]]:
    """Return what each value of an attribute counts as: by sets of items, and by each item.

    Under the names of counts. Of the way of an item, it is what all values are that list it; an
    item of one set alone has none. InputError where there are too many.
    """
    sets, alike = item_sets(kinds, mark), item_sets(kinds, mark, alike_keys)
    several = Counter(item for _, each in {*zip(sets, alike, strict=True)} for item in each or ())
    items = sorted(item for item, number in several.items() if number > 1)
    if len(items) * len({*sets}) > MOST_ITEM_VALUES:
        raise InputError(
            f"column {name!r} lists {len(items):,} items in {len({*sets}):,} different sets, too "
            "many to judge each item by itself; put rare items into groups first, or leave items "
            "out"
        )
    ways = {name: _lists(kinds, sets, mark)}
    merged = _lists(kinds, alike, mark)
    for item in items:
        ways[by_item(name, item)] = [
            item if each and item in each else text
            for each, text in zip(alike, merged, strict=True)
        ]
    return ways


def of_sets(
    table: engine.Table,
    name: str,
    mark: str,
    class_of: Codes,
    classes: int,
    number: Numbering,
) -> Histograms:
    """Count records by class and set of items, and by class and each item of several sets.

    Of the counts ``by_item`` of x, x is one value, that of all records that list it; the others
    have their sets. An item of one set alone is no other value than that set. Items that somebody
    may take for one are one item there.
    """
    codes, kinds = number(table[name])
    ways = ways_of_items(name, kinds, mark)
    joint, values, sizes = {}, {}, engine.sizes_of(table)
    for way, texts in ways.items():
        order = sorted({*texts}, key=lambda text: (is_missing(text), str(text)))
        place = {text: place for place, text in enumerate(order)}
        of_kind = np.array([place[text] for text in texts], np.intp)
        values[way] = tuple(order)
        joint[way] = counted_by(of_kind[codes], len(order), class_of, classes, sizes)
    return joint, values


def one_of_each_text(column: pd.Series) -> pd.Series:
    """Keep one value of a column for each text: 1 and 1.0, or " 1", are the key of one person."""
    codes, values = engine.distinct(column)
    first: dict[str | None, int] = {}
    places = [first.setdefault(text, place) for place, text in enumerate(texts_of(values))]
    return column if len(first) == len(values) else engine.merged(column, codes, places)


def reads_as_written(column: pd.Series, keys: SpellingKeys = alike_keys) -> bool:
    """Return whether every reader tells apart all values that have texts of their own."""
    texts = set(_texts(engine.distinct(column)[1]))
    return len(set(keys(list(texts)))) == len(texts)


def as_read(column: pd.Series, keys: SpellingKeys = alike_keys) -> tuple[Codes, Sequence[object]]:
    """Number the distinct values of a column; of those of one key the plainest text stands."""
    codes, values = engine.distinct(column)
    stands = one_text_each(_texts(values), keys)
    kept = sorted(set(stands))
    if len(kept) == len(stands):
        return codes, values
    merged = np.searchsorted(kept, stands).astype(np.intp)
    return merged[codes], [values[place] for place in kept]


def _texts(values: Sequence[object]) -> list[str | None]:
    return [None if is_missing(value) else str(value).strip() for value in values]


def stacked(table: engine.Table, population: engine.Table, names: Sequence[str]) -> pd.DataFrame:
    """Put the quasi-identifiers of a population below those of a table's rows, as texts.

    One may hold numbers where the other, read from a file, holds texts, or write 1.0 for 1; what
    one of them writes in two ways stays two values.
    """
    columns = {}
    for name in names:
        found = [engine.distinct(column) for column in (table[name], population[name])]
        parts = []
        for (codes, values), (_, others) in zip(found, found[::-1], strict=True):
            texts = texts_apart(values, others)
            parts.append(np.array([*texts, None], object)[:-1][codes])
        columns[name] = np.concatenate(parts)
    return pd.DataFrame(columns)


def require_everybody(counts: Counts) -> None:
    """Require that the population holds every record of the table."""
    if counts.population is None:
        return
    persons = counts.joint.get(PERSON)
    here = counts.sizes if persons is None else occurring(persons)
    lacking = counts.population < here
    if lacking.any():
        number = int((here - counts.population)[lacking].sum())
        what = "records" if persons is None else "persons"
        raise InputError(
            f"the population lacks {number:,} {what} of the table, in {int(lacking.sum()):,} of "
            f"its {counts.occupied:,} combinations of quasi-identifiers; it must hold everybody "
            "who is in the table, by a line each, or by a column of numbers that count names"
        )


def require_one_household(
    table: engine.Table, person: Sequence[str], household: Sequence[str]
) -> None:
    """Require that all records of a person are of one household."""
    _, first = engine.grouped(table, [*person, *household])
    person_of = engine.grouped(table, person)[0][first]
    several = int((np.bincount(person_of) > 1).sum())
    if several:
        listed = " and ".join(map(repr, household))
        raise InputError(
            f"{listed} must tell one household of each person, and tells several of "
            f"{plural(several, 'person')} by {' and '.join(map(repr, person))}; give all records "
            "of a person the same one, or leave out household"
        )


def missing_last(values: Sequence[object]) -> Codes | None:
    """Return the order in which a missing value comes last; None where none or every one is.

    Where all records miss an attribute, that is its value. A text that some reader takes for
    missing is a value to whoever reads the text: ``None`` may be an answer.
    """
    missing = [is_missing(value) for value in values]
    if not any(missing) or all(missing):
        return None
    # Stable: values keep the order of their texts.
    return np.argsort(missing, kind="stable")
