"""What an export is made from: the manifest of a release, and the classes of its table."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from anonymizer.counts.multidimensional import CLASS
from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY
from anonymizer.release.files import MANIFEST
from anonymizer.release.manifest import Manifest, home_of, sound
from anonymizer.release.study import Study
from anonymizer.release.verification.soundness import require_followable
from anonymizer.release.verification.stored import StoredTable, released_at
from anonymizer.tables.engine import Tally
from anonymizer.tables.values import is_missing, text_of

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
            classes=_classes(sizes, manifest),
            typed=_typed(stored),
            sizes=sizes,
        )


def _typed(stored: StoredTable) -> tuple[str, ...]:
    """The columns that are no texts in a released table; all of a CSV file are."""
    if stored.relation is None or not stored.form.parquet:
        return ()
    record = stored.relation.sample(stored.columns, 1)
    return tuple(str(name) for name in record if _is_typed(record[name]))


def _is_typed(column: pd.Series) -> bool:
    """Whether the values of a column are no texts: numbers, dates."""
    kind = column.dtype
    return pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_datetime64_any_dtype(kind)


def _sizes(tally: Tally) -> dict[Labels, int]:
    """The records of each combination of labels."""
    found = Counter[Labels]()
    rows = tally.combinations.itertuples(index=False, name=None)
    for row, size in zip(rows, tally.sizes, strict=True):
        found[tuple(None if is_missing(value) else str(value) for value in row)] += int(size)
    return found


def _classes(sizes: Iterable[Labels], manifest: Manifest) -> tuple[Labels, ...]:
    """The classes without that of suppressed records."""
    suppressed = manifest.suppressed_class == "kept"
    return tuple(row for row in sizes if not (suppressed and {*row} == {ANY}))


def same_label(one: str | None, other: str | None) -> bool:
    """Whether two labels are one, however a number is spelled: 39 and 39.0."""
    if one is None or other is None:
        return one is other
    return one == other or text_of(one) == text_of(other)
