"""The recoding of a release as tables that a person reads in a spreadsheet."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO

from anonymizer.hierarchy.label import Label
from anonymizer.release.export.source import ExportedRelease
from anonymizer.release.manifest.parts import LabelText
from anonymizer.tables.spreadsheet import disarmed_text

CLASSES = "classes.csv"
COLUMNS = "columns.csv"
"""Which file is about which column: the sign of an export that is whole."""


HEADER = ("rule", "value", "from", "to", "label")


def mapping_files(source: ExportedRelease) -> dict[str, str]:
    """The contents of the files of an export, by name, the sign last.

    One for each quasi-identifier; ``classes.csv`` has the combinations of labels that the release
    has, and ``columns.csv`` the column that each file is about. Cells that a spreadsheet would run
    have an apostrophe before them.
    """
    files = file_names(source.names)
    contents = {
        file: _text([HEADER, *_lines(source.manifest.labels(name))]) for name, file in files.items()
    }
    contents[CLASSES] = _text([source.released, *source.classes])
    contents[COLUMNS] = columns_text(files)
    return contents


def columns_text(files: Mapping[str, str]) -> str:
    """The table of which file is about which column."""
    return _text([("file", "column"), *((file, name) for name, file in files.items())])


def file_names(names: Sequence[str]) -> dict[str, str]:
    """The file of each column: its name where every system can have such a file.

    >>> file_names(["age", "a/b", "Age"])
    {'age': 'age.csv', 'a/b': 'column-2.csv', 'Age': 'column-3.csv'}
    """
    files: dict[str, str] = {}
    taken = {CLASSES, COLUMNS}
    for number, name in enumerate(names, 1):
        plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
        file = f"{name}.csv"
        sound = plain and len(name) <= 100 and not name.startswith(("-", "column-"))
        free = file.casefold() not in taken and name.casefold() not in RESERVED
        files[name] = file if sound and free else f"column-{number}.csv"
        taken.add(files[name].casefold())
    return files


RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in "123456789"),
}
"""Names that Windows keeps for devices."""


def _lines(labels: Iterable[tuple[LabelText, Label]]) -> Iterator[tuple[LabelText, ...]]:
    for text, label in labels:
        yield from ((*line, text) for line in label.lines())


def _text(rows: Iterable[Sequence[LabelText]]) -> str:
    file = StringIO()
    csv.writer(file, lineterminator="\n").writerows(
        ["" if cell is None else disarmed_text(cell) for cell in row] for row in rows
    )
    return file.getvalue()
