"""The recoding of a release for other tools: its classes, mapping files, hierarchies of ARX."""

import csv
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from io import StringIO
from pathlib import Path

import pandas as pd

from anonymizer.counts.multidimensional import CLASS
from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY
from anonymizer.hierarchy.authoring import csv_text
from anonymizer.hierarchy.label import Label, PlacedColumn
from anonymizer.release.files import MANIFEST, home_of, sound
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import LabelText
from anonymizer.release.manifest.placement import grouped, require_no_numbers, require_whole_classes
from anonymizer.release.output import reserved
from anonymizer.release.place import Place
from anonymizer.release.relations import counted_in
from anonymizer.release.study import Study
from anonymizer.release.verification.stored import StoredTable, released_at
from anonymizer.release.verification.verification import require_followable
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import describe_file
from anonymizer.tables.files.format import missing_texts
from anonymizer.tables.spreadsheet import disarmed_text
from anonymizer.tables.values import is_missing, number_of, rank, text_of

Labels = tuple[str | None, ...]


@dataclass(frozen=True)
class ExportedRelease:
    """A release to export: its manifest, the columns of its table, and its classes' labels.

    ``typed`` are the columns that are no texts in the table, ``sizes`` the records of
    each class, the suppressed ones included.
    """

    manifest: Manifest
    columns: tuple[str, ...]
    classes: tuple[Labels, ...]
    typed: tuple[str, ...]
    sizes: Mapping[Labels, int]

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers that were recoded."""
        return tuple(self.manifest.recoding)

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that a class has one label of: also the number of a merged cell."""
        return labelled(self.manifest)


def labelled(manifest: Manifest) -> tuple[str, ...]:
    """The columns that a class has one label of; merged cells have a column of their numbers."""
    numbered = CLASS in manifest.file[1].quasi_identifiers and CLASS not in manifest.recoding
    return (*manifest.recoding, CLASS) if numbered else tuple(manifest.recoding)


def source_of(path: Path, study: Path | None = None) -> ExportedRelease:
    """Read the release in a directory, or the one that a released table belongs to.

    ``study``: its study, which lists the values that are too many for a manifest.

    Raises PolicyBrokenError when it does not hold, InputError when it is none or cannot be carried
    out by other tools.
    """
    directory = home_of(path)
    if not path.exists() and not (directory / MANIFEST).exists():
        raise InputError(f"there is no {path}; name the directory of a release, or its table")
    manifest = Manifest.read(directory / MANIFEST)
    known = None if study is None else Study(study)
    private = any(verdict.model == "differential-privacy" for verdict in manifest.privacy)
    if manifest.masking or private:
        raise InputError(
            "the release was drawn at random, which other tools cannot repeat; release the next "
            "table with anonymizer run"
        )
    if manifest.shift is not None:
        raise InputError(
            f"the release has shifted dates ({', '.join(manifest.shift.columns)}), by a secret "
            "number of days for each person, which other tools cannot repeat; release the next "
            "table with anonymizer apply"
        )
    if manifest.released_weight is not None:
        raise InputError(
            f"the release has in column {manifest.weight!r} the mean of each class, which other "
            "tools do not make of another table; release it with anonymizer apply"
        )
    require_whole_classes(manifest.method, "an export")
    require_no_numbers(manifest.person_numbers, "an export")
    require_followable(path, known)
    manifest = manifest.completed(None if known is None else known.hierarchies)
    if manifest.spreadsheet is not None and manifest.spreadsheet.safe:
        raise InputError(
            "the release has cells disarmed for spreadsheets (csv-safe), which an export cannot "
            "repeat; run the study without csv-safe"
        )
    with sound(directory / MANIFEST), released_at(manifest.table_at(path), manifest) as stored:
        sizes = _sizes(stored.tally(labelled(manifest)))
        return ExportedRelease(
            manifest,
            columns=tuple(stored.columns),
            # the suppressed records are no class
            classes=tuple(
                row for row in sizes if manifest.suppressed_class != "kept" or {*row} != {ANY}
            ),
            typed=_typed(stored),
            sizes=sizes,
        )


def _typed(stored: StoredTable) -> tuple[str, ...]:
    """The columns that are no texts in a released table; all of a CSV file are."""
    if stored.relation is None or not stored.form.parquet:
        return ()
    record = stored.relation.sample(stored.columns, 1)
    return tuple(
        str(name)
        for name, kind in record.dtypes.items()
        if pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_datetime64_any_dtype(kind)
    )


def _sizes(tally: Tally) -> dict[Labels, int]:
    """The records of each combination of labels."""
    found = Counter[Labels]()
    rows = tally.combinations.itertuples(index=False, name=None)
    for row, size in zip(rows, tally.sizes, strict=True):
        found[tuple(None if is_missing(value) else str(value) for value in row)] += int(size)
    return found


def same_label(one: str | None, other: str | None) -> bool:
    """Whether two labels are one, however a number is spelled: 39 and 39.0."""
    if one is None or other is None:
        return one is other
    return one == other or text_of(one) == text_of(other)


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
    contents = {}
    for name, file in files.items():
        labels = source.manifest.labels(name)
        lines = [(*line, text) for text, label in labels for line in label.lines()]
        contents[file] = _text([HEADER, *lines])
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


def _text(rows: Iterable[Sequence[LabelText]]) -> str:
    file = StringIO()
    csv.writer(file, lineterminator="\n").writerows(
        ["" if cell is None else disarmed_text(cell) for cell in row] for row in rows
    )
    return file.getvalue()


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
    columns = {} if values is None else _placed(source, values)
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


def _placed(source: ExportedRelease, path: Path) -> dict[str, PlacedColumn]:
    """The distinct values of the quasi-identifiers of a table."""
    form = describe_file(path, expected=source.names)
    with Place(path, form).opened(source.names) as stored:
        columns = {name: counted_in(stored, [name], form)[1][name] for name in source.names}
    declared = source.manifest.file[1].missing_values
    return {
        name: PlacedColumn.of_values(
            [
                value
                for value in engine.distinct(columns[name])[1]
                if not is_missing(value) and value not in ("", *missing_texts(declared, name))
            ]
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


def write_files(
    directory: Path, files: Mapping[str, str], *, force: bool = False, private: bool = False
) -> None:
    """Write files into a directory that holds nothing else, the sign of all of them last.

    ``private``: the directory is for its owner alone, as files with values of a table are.

    Raises InputError when it has other files, or some of these and not ``force``.
    """
    writers: dict[str, Callable[[Path], None]] = {
        name: partial(_fill, text=text) for name, text in files.items()
    }
    with reserved(directory, tuple(files), "mapping") as output:
        if output.path.is_dir():
            lock = output.site.lock.name
            others = {path.name for path in output.path.iterdir()} - {*files, lock}
            if others:
                raise InputError(
                    f"{directory} holds other files; name a directory of its own for the export"
                )
        if private:
            output.path.mkdir(parents=True, exist_ok=True)
            output.path.chmod(stat.S_IRWXU)
        output.write(writers, force=force)


def _fill(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")
