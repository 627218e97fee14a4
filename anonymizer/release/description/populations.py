"""Populations that models of a study name: other tables, counted where they lie."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from anonymizer.errors import InputError
from anonymizer.privacy import Population
from anonymizer.release.relations import CountedTable
from anonymizer.tables.engine import Tally

if TYPE_CHECKING:
    from anonymizer.release.description.description import Description


def population_of(study: "Description", given: object) -> Population:
    """The table of a population, counted once for a study; InputError where it is no table."""
    path, table = _place_of(given)
    if (path, table) not in study.populations:
        names = tuple(study.document.quasi_identifiers)
        counting = partial(_everybody, study, path, table)
        study.populations[path, table] = Population(counting(names), path, counting)
    return study.populations[path, table]


def _everybody(study: "Description", given: str, table: str | None, names: Sequence[str]) -> Tally:
    """The people of a population, counted where it lies."""
    path = study.path.parent / given
    form = study.format_of(path, names)
    place = study.place_of(path, form)
    place = place if table is None else place._replace(table=table)
    with _named(given), place.opened(names) as stored:
        return CountedTable.of(stored, names, {}, form).tally


def _place_of(given: object) -> tuple[str, str | None]:
    """The path of a population, and its table if that is a database."""
    if isinstance(given, str):
        return given, None
    if isinstance(given, dict) and {*given} == {"path", "table"}:
        path, table = given["path"], given["table"]
        if isinstance(path, str) and isinstance(table, str):
            return path, table
    raise InputError(
        f"population = {given!r:.200} must be the path of a table, or of a database and the name "
        'of its table, such as { path = "census.duckdb", table = "people" }'
    )


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Say where the table of a database is named that a population lies in."""
    try:
        yield
    except InputError as error:
        if error.key != "table":
            raise
        remedy = f'write population = {{ path = "{path}", table = ... }}, with one of them'
        raise error.mended(remedy) from None
