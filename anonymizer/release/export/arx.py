"""The recoding of a release as hierarchies that ARX reads: value;label;*, one file a column."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY
from anonymizer.hierarchy.authoring import csv_text
from anonymizer.hierarchy.label import Label, PlacedColumn
from anonymizer.release.description.place import Place
from anonymizer.release.export.mapping import COLUMNS, columns_text, file_names
from anonymizer.release.export.source import ExportedRelease
from anonymizer.release.manifest.placement import grouped
from anonymizer.release.relations import counted_in
from anonymizer.tables import engine
from anonymizer.tables.files import describe_file
from anonymizer.tables.values import is_missing, number_of, rank, text_of

MOST = 10_000
"""Whole numbers of a column that are listed: a file that ARX still shows."""

HEADERS = {"value", "values", "level0"}
"""Values that a reader may take for a header in the first line."""


def arx_files(source: ExportedRelease, values: Path | None = None) -> dict[str, str]:
    """The contents of the files of an export, by name, ``columns.csv`` last.

    Level 1 has the labels of the release. The values are those that the manifest lists, and whole
    numbers of ranges with two ends; or, where ``values`` is a table, those of its columns: a value
    that the release does not show is ``*`` in level 1, too.

    Raises InputError when classes have groups of their own, or the values are not known.
    """
    if source.manifest.regions:
        raise InputError(
            "the classes of the release have groups of their own, which hierarchies cannot "
            "express; export with --csv, or with --sql"
        )
    files = file_names(source.names)
    columns = {} if values is None else _columns(source, values)
    contents = {}
    for name, file in files.items():
        pairs = _of_table(source, name, columns[name]) if columns else _of_manifest(source, name)
        words = HEADERS | {_word(Path(file).stem)}
        order = sorted(pairs, key=lambda value: (_word(value) in words, rank(value)))
        contents[file] = csv_text([(value, pairs[value], ANY) for value in order])
    return contents | {COLUMNS: columns_text(files)}


def _word(text: str) -> str:
    """A text as readers compare it with what headers say."""
    return text.casefold().replace(" ", "").replace("-", "")


def _columns(source: ExportedRelease, path: Path) -> dict[str, PlacedColumn]:
    """The distinct values of the quasi-identifiers of a table."""
    form = describe_file(path, expected=source.names)
    with Place(path, form).opened(source.names) as stored:
        columns = {name: counted_in(stored, [name], form)[1][name] for name in source.names}
    hidden = {"", *source.manifest.file[1].missing_values}
    return {
        name: PlacedColumn.of_values(
            [v for v in engine.distinct(columns[name])[1] if not is_missing(v) and v not in hidden]
        )
        for name in source.names
    }


def _of_table(source: ExportedRelease, name: str, column: PlacedColumn) -> dict[str, str]:
    labels = source.manifest.labels(name)
    numbers = grouped(name, column, labels)
    return {
        str(text): ANY if number < 0 else str(labels[number][0])
        for text, number in zip(column.texts, numbers, strict=True)
    }


def _of_manifest(source: ExportedRelease, name: str) -> dict[str, str]:
    """The label of each value that the manifest says; missing values have no line."""
    labels = source.manifest.labels(name)
    return {value: str(text) for text, label in labels for value in _values(name, label)}


def _values(name: str, label: Label) -> Iterator[str]:
    for rule, value, begin, end in label.lines():
        if rule == "value":
            yield text_of(value)
        elif rule == "range":
            yield from _whole(name, number_of(begin), number_of(end))
        elif rule != "missing":
            raise _unlisted(name)


def _whole(name: str, low: Decimal | None, high: Decimal | None) -> Iterator[str]:
    """The whole numbers of a range; ends that are open, or dates, are none."""
    if low is None or high is None or high - low > MOST:
        raise _unlisted(name)
    begin, end = (int(each.to_integral_value("ROUND_CEILING")) for each in (low, high))
    yield from map(str, range(begin, end))


def _unlisted(name: str) -> InputError:
    return InputError(
        f"the manifest does not list the values of column {name!r} (open ranges, ranges of more "
        f"than {MOST:,} numbers, dates, masks, all others): take those of a table with "
        "--values TABLE"
    )
