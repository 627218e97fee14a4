"""Tables recoded: values replaced by the labels of their groups."""

from collections.abc import Hashable, Iterable, Mapping

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Partitions
from anonymizer.counts.multidimensional import CLASS, Regions
from anonymizer.counts.schema import Schema, classes_of
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY, Interval, Meaning, Partition, Taxonomy
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.tables import engine
from anonymizer.tables.engine import T
from anonymizer.tables.values import texts_apart


class UnknownValuesError(InputError):
    """A table holds values, or combinations of them, that a recoding was not made for."""


def levels_of(recoding: Partitions | Regions, taxonomies: Mapping[str, Taxonomy]) -> dict[str, int]:
    """Return the level of each partition that is one."""
    partitions = {} if isinstance(recoding, Regions) else recoding
    # By identity: whoever chooses a level takes the partition from the taxonomy.
    return {
        name: level
        for name, partition in partitions.items()
        for level, candidate in enumerate(taxonomies[name].levels)
        if candidate is partition
    }


def relabelled(table: T, recoding: Partitions | Regions, taxonomies: Mapping[str, Taxonomy]) -> T:
    """Replace the values of quasi-identifiers by the labels of their groups.

    InputError where it holds values, or combinations of them, that the recoding does not cover, or
    a column of the name that the recoding adds.
    """
    if isinstance(recoding, Regions):
        return _regrouped(table, recoding, taxonomies)
    columns = {name: _recoded(table, name, taxonomies[name], p) for name, p in recoding.items()}
    return engine.replaced(table, columns)


def _regrouped(table: T, regions: Regions, taxonomies: Mapping[str, Taxonomy]) -> T:
    """Replace the quasi-identifiers of each record by the labels of its class."""
    if regions.numbered:
        require_unnumbered(table.columns)
    encoded = [_places(table, name, taxonomies[name]) for name in regions.names]
    class_of = regions.class_of(np.column_stack([places[codes] for codes, places in encoded]))
    if (class_of < 0).any():
        uncovered = engine.records_in(table, class_of < 0)
        raise UnknownValuesError(
            f"{plural(uncovered, 'record')} of the table combine values in a way "
            "that no class of the recoding covers; fit on a table that has them"
        )
    columns = {
        name: engine.relabel(table[name], class_of, list(map(_published, regions.labels[name])))
        for name in regions.names
    }
    if regions.numbered:
        columns[CLASS] = pd.Series(class_of + 1, index=table.index, name=CLASS)
    return engine.replaced(table, columns)


def matched(released: engine.Table, people: T, schema: Schema) -> T:
    """Fit a recoded population to a release: people whom no class stands for become ``*``.

    Only where the release has such a class: suppressed records are those of people like them.
    """
    if not engine.all_equal(released, schema.quasi_identifiers, ANY).any():
        return people
    # The people are counted after the released records, and may be in classes of their own.
    counts, class_of = classes_of(released, schema, people, complete=False)
    unknown = counts.sizes[class_of[len(released.index) :]] == 0
    return engine.replaced(
        people, {name: overwritten(people[name], unknown) for name in schema.quasi_identifiers}
    )


def overwritten(column: pd.Series, records: Mask) -> pd.Series:
    """Write ``*`` into some records of a column; all others become texts, of one kind with it."""
    codes, values = engine.distinct(column)
    texts = texts_apart(values)
    # The code of ``*`` comes after those of all texts.
    return engine.relabel(column, np.where(records, len(texts), codes), [*texts, ANY])


def require_unnumbered(columns: Iterable[object]) -> None:
    """Refuse a table with a column of the name of the one that numbers the classes."""
    if CLASS in columns:
        raise InputError(
            f"the table has a column {CLASS!r}, which is the name of the column that numbers the "
            "classes of this recoding; rename it or list it among the identifiers"
        )


def _places(table: engine.Table, name: str, taxonomy: Taxonomy) -> tuple[Codes, Codes]:
    """Number each row's value among the distinct ones, with the code of each of these."""
    codes, values = engine.distinct(table[name])
    places = taxonomy.encode(values)
    strange = places < 0
    if strange.any():
        raise UnknownValuesError(
            f"column {name!r} holds {plural(int(strange.sum()), 'value')}, in "
            f"{plural(engine.records_in(table, strange[codes]), 'record')}, that the recoding "
            "does not cover"
        )
    return codes, places


def _recoded(table: engine.Table, name: str, taxonomy: Taxonomy, partition: Partition) -> pd.Series:
    """Replace the values of a column by the labels of their groups.

    A column released at level 0 stays as it is, unless values that are written differently but
    are the same (39 and 39.0) have to become one.
    """
    codes, places = _places(table, name, taxonomy)
    column: pd.Series = table[name]
    if partition is taxonomy.levels[0] and len(np.unique(places)) == len(places):
        return column
    labels = [_published(label) for label in partition.labels]
    recoded = engine.relabel(column, partition.groups[places][codes], labels)
    return recoded.infer_objects() if partition is taxonomy.levels[0] else recoded


def _published(label: Hashable) -> Hashable:
    return str(label) if isinstance(label, Interval | Meaning) else label
