"""Numbers of persons in a release: which rows are of one person, and nothing of who that is."""

from secrets import SystemRandom

from anonymizer.counts.persons import Persons
from anonymizer.counts.schema import Schema
from anonymizer.tables import engine
from anonymizer.tables.engine import T


def numbered(released: T, recoded: engine.Table, schema: Schema) -> T:
    """Add the numbers of persons to a released table, where its roles say so.

    They are 1, 2 ... in random order, by the source of the operating system: neither the order of
    the raw table nor another release tells whose a number is. ``recoded``: the same records with
    the columns that tell persons apart.
    """
    if schema.number is None:
        return released
    persons = Persons.of(recoded, schema.person)
    numbers = list(range(1, len(persons) + 1))
    SystemRandom().shuffle(numbers)
    column = engine.relabel(recoded[schema.person[0]], persons.person_of, numbers)
    return engine.replaced(released, {schema.number: column.rename(schema.number)})
