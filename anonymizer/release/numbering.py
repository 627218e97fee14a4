"""Numbers of persons in a release: which rows are of one person, and nothing of who that is."""

from __future__ import annotations

from secrets import SystemRandom

import pandas as pd

from anonymizer.counts.persons import Persons
from anonymizer.counts.schema import Schema
from anonymizer.release.pseudonyms import OF_RELEASED, PseudonymKey
from anonymizer.tables import engine
from anonymizer.tables.engine import T


def numbered(
    released: T, recoded: engine.Table, schema: Schema, key: PseudonymKey | None = None
) -> T:
    """Add the numbers of persons to a released table, where its roles say so.

    ``recoded``: the same records with the columns that tell persons apart. By a ``key`` persons
    have the pseudonyms that it makes, which are the same in other releases.
    """
    if schema.number is None:
        return released
    if key is None:
        column = _drawn(recoded, schema)
    else:
        column = key.column(recoded, schema.person, OF_RELEASED)
    return engine.replaced(released, {schema.number: column.rename(schema.number)})


def _drawn(recoded: engine.Table, schema: Schema) -> pd.Series:
    """Number persons 1, 2 ... in random order, by the source of the operating system.

    Neither the order of the raw table nor another release tells whose a number is.
    """
    persons = Persons.of(recoded, schema.person)
    numbers = list(range(1, len(persons) + 1))
    SystemRandom().shuffle(numbers)
    return engine.relabel(recoded[schema.person[0]], persons.person_of, numbers)
