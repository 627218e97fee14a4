"""Files of hierarchies that were changed: one for each state, so that undoing finds the old one."""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.explorer.session.session import Session
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.authoring import csv_text, rule_text
from anonymizer.release.output import require_place, write_file

Rows = Sequence[Sequence[str]]

HIERARCHIES = "hierarchies"
"""Where next to the study hierarchies are saved."""

DIGITS = 10
"""Of a digest, in the name of a file."""


def kept_rows(session: Session, name: str, rows: Rows) -> str:
    """Keep a table of labels in the session's folder; its path, relative to the study file."""
    text = _text(rows)
    digest = sha256(text.encode()).hexdigest()[:DIGITS]
    path = session.folder / f"{_plain(name)}-{digest}.csv"
    if not path.exists():
        _write(path, text, replace=True, private=True)
    return _relative(session, path, rows)


def kept_text(session: Session, file: str, text: str) -> str:
    """Keep the text of a hierarchy file in the session's folder; its path, as above."""
    path = session.folder / file
    if not path.exists():
        _write(path, text, replace=True, private=True)
    return _relative(session, path)


def saved_rows(session: Session, name: str, rows: Rows, *, replace: bool) -> str:
    """Save a table of labels next to the study; its path, relative to the study file.

    Raises InputError when there is such a file, and it is not to be replaced.
    """
    path = session.path.parent / HIERARCHIES / f"{_plain(name)}.csv"
    _write(path, _text(rows), replace=replace)
    return _relative(session, path, rows)


def saved_rule(session: Session, name: str, rule: Mapping[str, object], *, replace: bool) -> str:
    """Save a rule next to the study; its path, relative to the study file. Raises as the above."""
    path = session.path.parent / HIERARCHIES / f"{_plain(name)}.toml"
    _write(path, rule_text(rule), replace=replace)
    return _relative(session, path)


def _relative(session: Session, path: Path, rows: Rows | None = None) -> str:
    if rows is not None:
        _require_alike(path, rows)
    return Path(os.path.relpath(path, session.path.parent)).as_posix()


def _text(rows: Rows) -> str:
    """A table of labels with a header: without one a first row may be taken for it."""
    levels = [f"level {level}" for level in range(1, len(rows[0]))]
    return csv_text([("value", *levels), *rows])


def _require_alike(path: Path, rows: Rows) -> None:
    """Require that a file reads as what was written."""
    found = Hierarchy.read(path)
    if found.rule() != Hierarchy.from_rows(rows).rule():
        raise InputError(f"{path} does not read as it was written; use plainer names of groups")


def _write(path: Path, text: str, *, replace: bool, private: bool = False) -> None:
    if path.exists() and not replace:
        raise InputError(f"{path} is there already; tick Replace to write it anew")
    require_place(path, "cannot write", force=replace)

    def fill(place: Path) -> None:
        place.write_text(text, encoding="utf-8", newline="")

    write_file(path, fill, force=replace, private=private)


def _plain(name: str) -> str:
    """A file name for an attribute."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name)
    return plain[:60].strip("-") or "attribute"
