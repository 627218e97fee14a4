"""A session: a study file, and what was decided since it was opened."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError
from anonymizer.explorer.session.history import History
from anonymizer.explorer.session.text import merged
from anonymizer.release.document import parse_document, parsed_study
from anonymizer.release.study import Study
from anonymizer.release.system import BusyError, NoPlaceError, locked
from anonymizer.tables.reading import STUDY, read_whole

Change = Callable[[dict[str, Any]], dict[str, Any]]
"""What makes the content of a study of another one; it may change what it is given."""

LOG = "log.jsonl"

CANNOT = "cannot keep the session in"


class Session:
    """A study that is explored: its text now, the steps that led there, and who listens to them.

    ``path`` is that of the study file, which is not written until it is saved. ``folder`` has the
    log, and the files of hierarchies that were changed. ``home``: where studies and releases are
    written, next to the study file by default.

    Raises InputError when study or log cannot be used.
    """

    def __init__(self, path: Path, home: Path | None = None) -> None:
        self.path = path
        self.home = path.parent if home is None else home
        self.folder = folder_of(path)
        text = read_whole(path, STUDY, "study file ", f"there is no study file {path}")
        parse_document(text, path)
        self.history = History.opened(text, self.folder / LOG)
        self._require_study()
        self._listeners: list[Callable[[], None]] = []

    def _require_study(self) -> None:
        """Refuse a log whose last step is no study for this version."""
        try:
            parse_document(self.text, self.path)
        except InputError as error:
            raise InputError(
                f"the session cannot go on where it was: {error}; move {self.folder} away to "
                "begin anew"
            ) from None

    @property
    def text(self) -> str:
        """The study as TOML."""
        return self.history.current.text

    @property
    def content(self) -> dict[str, Any]:
        """The study as sections, keys and values; a copy."""
        return self.content_of(self.text)

    def content_of(self, text: str) -> dict[str, Any]:
        """The same of a text."""
        return parsed_study(text, self.path)

    @property
    def version(self) -> tuple[int, str]:
        """What changes with every step."""
        return self.history.place, self.text

    @property
    def saved(self) -> bool:
        """Whether the study file has the study as it is now."""
        return self.history.saved == self.text

    @cached_property
    def name(self) -> str:
        """What the session is called."""
        return self.path.name if self.path.name != "study.toml" else self.path.parent.name

    def after(self, change: Change) -> str:
        """The text of the study after a change.

        Raises InputError when that would be no study.
        """
        return self.text_of(change(self.content))

    def text_of(self, content: dict[str, Any]) -> str:
        """The text of a study with other content than that of now.

        Raises InputError when that would be no study.
        """
        text = merged(self.text, content)
        parse_document(text, self.path)
        return text

    def study(self, text: str | None = None) -> Study:
        """The study of a text, that of now by default."""
        return Study.parsed(self.text if text is None else text, self.path)

    def take(self, words: str, change: Change) -> None:
        """Take a step; one that changes nothing is none.

        Raises InputError when the result would be no study; nothing is changed then.
        """
        text = self.after(change)
        if text != self.text:
            self.history.take(words, text)
            self._tell()

    def replace(self, words: str, text: str) -> None:
        """Take a step to another text, comments and all.

        Raises InputError when it is no study; nothing is changed then.
        """
        parse_document(text, self.path)
        if text != self.text:
            self.history.take(words, text)
            self._tell()

    def undo(self) -> None:
        """Take the last step back."""
        self.history.undo()
        self._tell()

    def redo(self) -> None:
        """Take the step again that was undone last."""
        self.history.redo()
        self._tell()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a function after every step; gives what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell(self) -> None:
        for listener in [*self._listeners]:
            listener()


def folder_of(path: Path) -> Path:
    """Where the session of a study file keeps what it needs."""
    return path.with_name(f"{path.stem}.session")


@contextmanager
def opened(path: Path, home: Path | None = None) -> Iterator[Session]:
    """A session that nobody else has open; ``home`` as ``Session`` has it.

    Raises InputError when another process has it open, or study or log cannot be used.
    """
    folder = folder_of(path)
    try:
        with locked(folder, folder, CANNOT):
            yield Session(path, home)
    except BusyError:
        raise InputError(
            f"{path} is being explored already",
            "use the page that is open, or end that command with Ctrl-C",
        ) from None
    except NoPlaceError as error:
        raise error.mended("copy the study to a directory of your own") from None
