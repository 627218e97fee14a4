"""The recoding of a release as tables that a person reads in a spreadsheet."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from io import StringIO
from typing import NamedTuple

from anonymizer.hierarchy.rules.dates import iso_of
from anonymizer.release.export.source import ExportedRelease
from anonymizer.release.manifest.groups import Group
from anonymizer.release.manifest.parts import LabelText
from anonymizer.tables.files import disarmed_text
from anonymizer.tables.values import number_text

CLASSES = "classes.csv"
COLUMNS = "columns.csv"
"""Which file is about which column: the sign of an export that is whole."""


class MappingRow(NamedTuple):
    """A line of a mapping file: which values have a label.

    ``rule`` is ``value`` (that value), ``range`` (from ``begin``, included, to ``end``, not
    included; an empty one is open), ``mask`` (texts as long as ``value`` that differ from it only
    in the characters ``begin`` to ``end``, the first being 1), ``all others`` (all values but
    those of the lines ``except``), ``everything`` or ``missing``.
    """

    rule: str
    value: LabelText
    begin: str
    end: str
    label: LabelText


HEADER = ("rule", "value", "from", "to", "label")


def mapping_files(source: ExportedRelease) -> dict[str, str]:
    """The contents of the files of an export, by name, the sign last.

    One for each quasi-identifier; ``classes.csv`` has the combinations of labels that the release
    has, and ``columns.csv`` the column that each file is about. Cells that a spreadsheet would run
    have an apostrophe before them.
    """
    files = file_names(source.names)
    contents = {
        file: _text([HEADER, *(row for each in _placed(source, name) for row in each)])
        for name, file in files.items()
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


def _placed(source: ExportedRelease, name: str) -> Iterator[list[MappingRow]]:
    groups = source.groups(name)
    alone = len(groups) == 1 and source.manifest.levels.get(name) != 0
    for group in groups:
        yield rows_of_group(group, group.label, everything=alone and not source.manifest.regions)


def rows_of_group(group: Group, label: LabelText, *, everything: bool = False) -> list[MappingRow]:
    """The lines of a group, as ``release/manifest/placement.py`` places values.

    ``everything``: it has missing values, too, whichever it lists.
    """
    own = group.own
    if group.is_range:
        low, high = group.interval.low, group.interval.high
        return [MappingRow("range", "", _end(group, low), _end(group, high), label)]
    if group.excluded is not None:
        lacking = [MappingRow("except", value, "", "", label) for value in group.excluded]
        return [MappingRow("all others", "", "", "", label), *lacking]
    if group.masked is not None:
        begin, end = group.masked
        return [MappingRow("mask", own, str(begin + 1), str(end), label)]
    if group.members and group.values is None:
        return [row for each in group.members for row in rows_of_group(each, label)]
    if group.values is not None or own is None or group.level == 0:
        return _listed(group, label, everything)
    if group.is_star:
        return [MappingRow("everything", "", "", "", label)]
    return [MappingRow("value", own, "", "", label)]


def _listed(group: Group, label: LabelText, everything: bool) -> list[MappingRow]:
    own = group.own
    values = [own] if group.level == 0 else group.values or []
    missing = group.has_missing or everything
    rows = [MappingRow("value", value, "", "", label) for value in values if value is not None]
    return [*rows, MappingRow("missing", "", "", "", label)] if missing else rows


def _end(group: Group, place: Decimal | None) -> str:
    if place is None:
        return ""
    return iso_of(place) if group.calendar else number_text(place)


def _text(rows: Iterable[Sequence[LabelText]]) -> str:
    file = StringIO()
    csv.writer(file, lineterminator="\n").writerows(
        ["" if cell is None else disarmed_text(cell) for cell in row] for row in rows
    )
    return file.getvalue()
