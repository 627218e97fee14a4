"""What stands where a release is to be written, and must not be replaced or read again."""

import os
from fnmatch import fnmatchcase
from glob import glob, has_magic
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.release.files import FILES, MANIFEST, RELEASED, SIGNATURE
from anonymizer.release.manifest.manifest import Manifest
from anonymizer.release.manifest.parts import steward_file


def require_free(directory: Path, source: Path, force: bool) -> None:
    """Refuse a directory that holds a release, unless forced; never replace the table itself.

    ``source``: the table, which may be a folder or a pattern of file names: a release among its
    files would be a part of the table when that is read the next time.
    """
    _require_apart(directory, source)
    there = [name for name in reversed(FILES) if os.path.lexists(directory / name)]
    for name in there:
        if same_file(directory / name, source):
            raise InputError(f"{directory / name} is the table itself; choose another directory")
    if there and not force:
        raise InputError(f"{directory} already holds a release, {there[0]}; --force replaces it")
    _require_free_companion(directory, force)
    ours = _release_in(directory) if there else ()
    for name in (name for name in there if name not in ours):
        raise InputError(
            f"{directory / name} is no part of a release of ours, which alone --force "
            "replaces; move it or choose another directory"
        )


def _require_free_companion(directory: Path, force: bool) -> None:
    """The same of the steward's file next to it."""
    place = steward_file(directory)
    if not os.path.lexists(place):
        return
    if not force:
        raise InputError(
            f"{place} is there already, the figures of a release in {directory}; --force replaces "
            "it"
        )
    if Manifest.read(place).release is None:
        raise InputError(
            f"{place} is no steward's file of ours, which alone --force replaces; move it or "
            "choose another directory"
        )


def same_file(path: Path, source: Path) -> bool:
    """Whether both paths lead to the same existing file."""
    try:
        return path.samefile(source)
    except (OSError, ValueError):  # reading the table will say why
        return False


def _require_apart(directory: Path, source: Path) -> None:
    """Refuse a directory whose release would be among the files of a table."""
    above = [directory, *directory.absolute().parents]
    try:
        within = source.is_dir() and any(same_file(each, source) for each in above)
        found = within or _is_found(directory, source)
    except (OSError, ValueError):  # reading the table will say why
        return
    if found:
        raise InputError(
            f"a release in {directory} would be among the files of the table, {source}; choose "
            "another directory"
        )


def _is_found(directory: Path, source: Path) -> bool:
    """Whether a pattern of file names would find a release in a directory."""
    if not has_magic(str(source)) or os.path.lexists(source):
        return False
    folders = map(Path, glob(str(source.parent), recursive=True))  # noqa: PTH207 - of any root
    here = any(same_file(directory, each) for each in folders)
    return here and any(fnmatchcase(name, source.name) for name in RELEASED)


def _release_in(directory: Path) -> tuple[str, ...]:
    """The files of the release that lies there; none if what lies there is no release of ours."""
    try:
        manifest = Manifest.read(directory / MANIFEST)
    except InputError:
        return ()
    ours = manifest.table if manifest.versions.anonymizer else None
    if ours is None:
        return ()
    return (MANIFEST, SIGNATURE, ours.file, *(each.file for each in ours.verifiers))


def is_release(path: Path) -> bool:
    """Whether the manifest next to a table says that it is about it."""
    manifest = path.parent / MANIFEST
    table = Manifest.read(manifest).table if manifest.exists() else None
    return table is not None and table.file == path.name
