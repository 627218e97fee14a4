"""Columns of a file without a header line that get their names: the study is proposed anew."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError
from anonymizer.explorer.session.hierarchies import DIGITS, kept_text
from anonymizer.explorer.session.session import Session
from anonymizer.explorer.session.text import merged
from anonymizer.recoding import Watch
from anonymizer.release.document import parsed_study
from anonymizer.release.drafting import DraftOptions
from anonymizer.release.place import read_raw
from anonymizer.release.study import Draft, Study, draft

UNNAMED = "column-{}"
"""What a column without a name is called, by its place."""


def unnamed_in(content: dict[str, Any]) -> list[str]:
    """The columns of a study's table where none has a name of its own.

    >>> unnamed_in({"data": {"columns": ["column-1", "column-2"]}})
    ['column-1', 'column-2']
    >>> unnamed_in({"data": {"columns": ["age", "column-2"]}})
    []
    """
    names = content["data"].get("columns") or []
    places = [UNNAMED.format(place) for place in range(1, len(names) + 1)]
    return [*names] if [*names] == places else []


def redrafted(session: Session, study: Study, names: Sequence[str], watch: Watch) -> str:
    """The text of a first study, as ``init`` proposes it, of a table with named columns.

    Hierarchies that are too long for a line are kept in the folder of the session.

    Raises InputError when the names cannot be those of the table.
    """
    content = session.content
    _require_names(names, len(content["data"]["columns"]))
    watch("reading the table", 0, None)
    form = {name: value for name, value in vars(study.given).items() if name != "columns"}
    with read_raw(study.data_path, study.document.data.table, names, form) as (raw, _):
        watch("profiling the columns", 0, None)
        data = {key: value for key, value in content["data"].items() if key != "missing"}
        found = draft(raw, DraftOptions(), {**data, "columns": [*names]})
        return _text_of(session, found)


def _require_names(names: Sequence[str], needed: int) -> None:
    if not all(each.strip() for each in names):
        raise InputError("a column has no name yet; name every one")
    twice = sorted({each for each in names if names.count(each) > 1})
    if twice:
        raise InputError(f"two columns are called {twice[0]!r}; give each a name of its own")
    if len(names) != needed:
        raise InputError(f"the table has {needed} columns, and {len(names)} names are given")


def _text_of(session: Session, found: Draft) -> str:
    """The text of a draft, with paths to where its hierarchies are kept."""
    content = parsed_study(found.text, session.path)
    for name, place in found.places.items():
        content["quasi-identifiers"][name] = _kept(session, place, found.files[place])
    return merged(found.text, content)


def _kept(session: Session, place: str, text: str) -> str:
    digest = sha256(text.encode()).hexdigest()[:DIGITS]
    return kept_text(session, f"{Path(place).stem}-{digest}.toml", text)
