"""Studies that are saved: the file whole or not at all, with hierarchies that lie next to it."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError
from anonymizer.explorer.session.session import Session
from anonymizer.explorer.session.text import merged
from anonymizer.hierarchy.authoring import rule_text
from anonymizer.hierarchy.reading import FILES
from anonymizer.release.document import parse_document
from anonymizer.release.output import write_file
from anonymizer.release.place import HIERARCHIES, relative
from anonymizer.tables.reading import HIERARCHY, STUDY, parsed_toml, read_whole

LONGEST = 60
"""Letters of a column's name that the name of its file has."""

MOST_BYTES = 200
"""Of a file's name: file systems have 255, some of which are for files that are half written."""

ENDING = ".toml"
"""What the name of a study, and of a rule, ends in."""


@dataclass(frozen=True)
class Saved:
    """What was written: the study, and the hierarchies that were copied for it."""

    study: Path
    hierarchies: list[Path] = field(default_factory=list)


def save_study(session: Session, name: str, replace: bool = False) -> Saved:
    """Write the study as it is now into a file in the home of the session.

    Hierarchies that lie in the folder of the session are copied next to it, which is a step. A
    file that is there is replaced where it is the session's own and as it was read, or by
    ``replace``.

    Raises InputError when it cannot be written, or was changed elsewhere.
    """
    target = _named(session, name)
    own = _same(target, session.path)
    _require_unchanged(session, target, own, replace)
    shelf = Shelf(session, target.parent)
    text = merged(session.text, shelf.moved(session.content))
    parse_document(text, target)
    if own:  # before the file is there: if no step can be kept, nothing was changed
        session.take("hierarchies copied next to the study", shelf.moved)
    write_file(target.resolve(), partial(_write, text.encode()), force=True)
    if own:
        _noted(session, text, target)
    return Saved(target, shelf.written)


def save_hierarchies(session: Session) -> list[Path]:
    """Write each hierarchy as a file of its own; the study stays as it is.

    A file of the same name and another content is left alone: the new one has a number.
    """
    shelf = Shelf(session, session.home)
    return [
        shelf.shelved(name, rule) for name, rule in session.content["quasi-identifiers"].items()
    ]


class Shelf:
    """The directory of hierarchies next to a study, which files of a session are copied into."""

    def __init__(self, session: Session, directory: Path) -> None:
        self.session, self.directory = session, directory
        self.written: list[Path] = []

    def moved(self, content: dict[str, Any]) -> dict[str, Any]:
        """The content of the study with paths that are right in the directory."""
        elsewhere = self.directory.resolve() != self.session.path.parent.resolve()
        if elsewhere:
            content["data"]["path"] = self._anywhere(content["data"]["path"])
        person = content.get("output", {}).get("person")
        if elsewhere and isinstance(person, dict):  # the file of the key of pseudonyms
            content["output"]["person"] = {way: self._anywhere(at) for way, at in person.items()}
        for name, rule in content["quasi-identifiers"].items():
            content["quasi-identifiers"][name] = self._ruled(rule, elsewhere)
        for model in content["privacy"]:
            for key in ("hierarchy", "population"):
                if key in model:
                    model[key] = self._ruled(model[key], elsewhere)
        return content

    def shelved(self, name: str, rule: Any) -> Path:
        """A hierarchy of a study as a file here; the one that there is where it is the same."""
        if isinstance(rule, str) and rule != "suppress":
            return self._copied(self.session.path.parent / rule)
        table: dict[str, Any] = {"suppress": True} if rule == "suppress" else dict(rule)
        for key in {*FILES} & {*table}:
            table[key] = self._copied(self.session.path.parent / table[key]).name
        return self._put(f"{_plain(name)}{ENDING}", rule_text(table).encode())

    def _ruled(self, rule: object, elsewhere: bool) -> object:
        if isinstance(rule, str) and rule != "suppress":
            return self._placed(rule, elsewhere)
        if isinstance(rule, dict):
            given = {key: rule[key] for key in (*FILES, "path") if isinstance(rule.get(key), str)}
            moved: dict[str, object] = {
                key: self._placed(each, elsewhere) for key, each in given.items()
            }
            if isinstance(margins := rule.get("margins"), list):  # of a population
                moved["margins"] = [self._ruled(each, elsewhere) for each in margins]
            return {**rule, **moved}
        return rule

    def _placed(self, given: str, elsewhere: bool) -> str:
        """A path as a study in the directory has it."""
        path = self.session.path.parent / given
        if path.is_relative_to(self.session.folder):
            return f"{HIERARCHIES}/{self._copied(path).name}"
        return self._anywhere(given) if elsewhere else given

    def _anywhere(self, given: str) -> str:
        return relative(self.session.path.parent / given, self.directory)

    def _copied(self, path: Path) -> Path:
        text = read_whole(path, HIERARCHY, "hierarchy ")
        rule = parsed_toml(text) if path.suffix.lower() == ENDING else {}
        for key in {*FILES} & {*rule}:
            inner = self._copied(path.parent / str(rule[key]))
            text = merged(text, {**rule, key: inner.name})
        return self._put(path.name, text.encode())

    def _put(self, name: str, content: bytes) -> Path:
        """Write a file of that name, or of the next one that is free or has the same content."""
        for number in range(1, 10_000):
            path = self.directory / HIERARCHIES / _numbered(name, number)
            if not path.exists():
                write_file(path, partial(_write, content))
                self.written.append(path)
                return path
            if path.is_file() and path.read_bytes() == content:
                return path
        raise InputError(f"{self.directory / HIERARCHIES} has too many files called {name}")


def _noted(session: Session, text: str, target: Path) -> None:
    """Note what the file has now; InputError where it was written, and that cannot be noted."""
    try:
        session.history.save(text)
    except InputError as error:
        raise InputError(
            f"{target} was written, but the log cannot say so ({error}); tick Replace to save again"
        ) from None


def _named(session: Session, name: str) -> Path:
    """The file of a name in the home of a session; InputError where it is none of a study."""
    given = name.strip()
    plain = given.isprintable() and len(given.encode()) <= MOST_BYTES
    if not given or Path(given).name != given or given in (".", "..") or not plain:
        raise InputError("give the name of a file in the directory of the study, such as mine.toml")
    return session.home / (given if given.endswith(ENDING) else given + ENDING)


def _require_unchanged(session: Session, target: Path, own: bool, replace: bool) -> None:
    """Refuse to replace what somebody else wrote."""
    if replace or not target.exists():
        return
    if not own:
        raise InputError(f"{target} is there already; tick Replace, or give another name")
    if read_whole(target, STUDY, "study file ") != session.history.saved:
        raise InputError(
            f"{target} was changed elsewhere since it was read here; tick Replace to write over "
            "it, or give another name"
        )


def _same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve()


def _plain(name: str) -> str:
    """The name of a column as one of a file."""
    plain = "".join(c if c.isalnum() and c.isascii() else "-" for c in name).strip("-")
    return plain[:LONGEST] or "column"


def _numbered(name: str, number: int) -> str:
    path = Path(name)
    return name if number == 1 else f"{path.stem}-{number}{path.suffix}"


def _write(content: bytes, path: Path) -> None:
    path.write_bytes(content)
