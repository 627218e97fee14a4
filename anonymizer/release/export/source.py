"""What an export is made from: the manifest of a release, and the classes of its table."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from anonymizer.counts.multidimensional import CLASS
from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY
from anonymizer.release.manifest import Manifest, sound
from anonymizer.release.manifest.groups import Group
from anonymizer.release.release import MANIFEST
from anonymizer.tables.files import read_table, release_format
from anonymizer.tables.values import is_missing, text_of

Labels = tuple[str | None, ...]


@dataclass(frozen=True)
class Source:
    """A release to export: its manifest, the columns of its table, and its classes' labels."""

    manifest: Manifest
    columns: tuple[str, ...]
    classes: tuple[Labels, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers that were recoded."""
        return tuple(name for name in self.manifest.recoding if name != CLASS)

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that a class has one label of: also the number of a merged cell."""
        numbered = (CLASS,) if CLASS in self.columns else ()
        return (*self.names, *numbered)

    def groups(self, name: str) -> list[Group]:
        """The groups of a column; raw values at level 0 are values, even ``*``."""
        groups = self.manifest.recoding[name]
        if self.manifest.levels.get(name) != 0:
            return groups
        return [group.model_copy(update={"level": 0}) for group in groups]


def source_of(path: Path) -> Source:
    """Read the release in a directory, or the one that a released table belongs to.

    Raises InputError when it is none, was changed, or cannot be carried out by other tools.
    """
    directory = path if path.is_dir() else path.parent
    manifest = Manifest.read(directory / MANIFEST)
    private = any(verdict.model == "differential-privacy" for verdict in manifest.privacy)
    if manifest.masking or private:
        raise InputError(
            "the release was drawn at random, which other tools cannot repeat; release the next "
            "table with anonymizer run"
        )
    manifest = manifest.completed(None)
    if manifest.spreadsheet is not None and manifest.spreadsheet.safe:
        raise InputError(
            "the release has cells disarmed for spreadsheets (csv-safe), which an export cannot "
            "repeat; run the study without csv-safe"
        )
    with sound(directory / MANIFEST):
        table, columns = manifest.table_at(path), manifest.file[1]
        frame = read_table(
            table, release_format(table, columns.separator), columns.quasi_identifiers
        )
        names = [name for name in manifest.recoding if name != CLASS]
        labels = [*names, *([CLASS] if CLASS in frame else [])]
        return Source(manifest, tuple(map(str, frame.columns)), _classes(frame[labels], manifest))


def _classes(labels: pd.DataFrame, manifest: Manifest) -> tuple[Labels, ...]:
    """The distinct labels in the order of the table, without those of suppressed records."""
    rows = dict.fromkeys(
        tuple(None if is_missing(value) else str(value) for value in row)
        for row in labels.itertuples(index=False, name=None)
    )
    hidden = (ANY,) * labels.shape[1]
    suppressed = manifest.suppressed_class == "kept"
    return tuple(row for row in rows if not (suppressed and row == hidden))


def same_label(one: str | None, other: str | None) -> bool:
    """Whether two labels are one, however a number is spelled: 39 and 39.0."""
    if one is None or other is None:
        return one is other
    return one == other or text_of(one) == text_of(other)
