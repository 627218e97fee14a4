"""A directory of exported files, which appears whole or not at all."""

import stat
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.release.output import reserved


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
