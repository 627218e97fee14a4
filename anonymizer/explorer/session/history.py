"""The steps of an exploration, which can be undone and redone, and the log that keeps them."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError
from anonymizer.release.system import reason_of

UNNAMED = "a step"
"""What a step is called that has no words."""


@dataclass(frozen=True)
class DoneStep:
    """What was done, in words, and the text of the study after it."""

    words: str
    text: str


@dataclass
class History:
    """Steps that were taken, the first being the study as it was opened; those undone follow.

    ``place`` is the number of the current step. ``saved`` is the text that the study file has.
    """

    steps: list[DoneStep]
    saved: str
    place: int = 0
    log: Path | None = field(default=None, repr=False)

    @property
    def current(self) -> DoneStep:
        """The step that was taken last."""
        return self.steps[self.place]

    @property
    def undoes(self) -> str:
        """What undoing takes back, in words; empty where there is nothing."""
        return self.current.words or UNNAMED if self.place else ""

    @property
    def redoes(self) -> str:
        """What redoing does again, in words; empty where there is nothing."""
        following = self.steps[self.place + 1 : self.place + 2]
        return following[0].words or UNNAMED if following else ""

    def take(self, words: str, text: str) -> None:
        """Take a step; steps that were undone are forgotten."""
        self._apply({"did": "take", "words": words, "study": text})

    def undo(self) -> None:
        """Go back one step, if there is one."""
        if self.undoes:
            self._apply({"did": "undo"})

    def redo(self) -> None:
        """Take the step again that was undone last, if there is one."""
        if self.redoes:
            self._apply({"did": "redo"})

    def save(self, text: str) -> None:
        """Take note that the study file has a text now."""
        self._apply({"did": "save", "study": text})

    def unname(self) -> None:
        """Forget the words of the steps so far, which may have values of the table."""
        self.steps = [DoneStep("", each.text) for each in self.steps]

    def _apply(self, line: dict[str, Any]) -> None:
        if self.log is not None:
            _append(self.log, line)
        self._replay(line)

    def _replay(self, line: dict[str, Any]) -> None:
        match line["did"]:
            case "undo" if self.undoes:
                self.place -= 1
            case "redo" if self.redoes:
                self.place += 1
            case "save":
                self.saved = _text(line["study"])
            case "take":
                del self.steps[self.place + 1 :]
                self.steps.append(DoneStep(_text(line["words"]), _text(line["study"])))
                self.place += 1
            case _:
                raise KeyError("did")

    @classmethod
    def opened(cls, text: str, log: Path) -> "History":
        """The history that a log keeps, a new one where there is no log.

        ``text`` is that of the study file. If it is not what the log knows of it, the file was
        changed elsewhere, which is a step like any other.

        Raises InputError when the log cannot be read or written.
        """
        try:
            lines = [*_lines(log)]
            if not lines:
                lines = [{"did": "open", "study": text}]
                _append(log, lines[0])
            first = _text(lines[0]["study"])
            history = cls([DoneStep("open", first)], first, log=log)
            for line in lines[1:]:
                history._replay(line)
        except (OSError, KeyError, TypeError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else "it is no log of steps"
            raise InputError(
                f"the log of the session, {log}, cannot be used: {reason}; move {log.parent} away "
                "to begin anew"
            ) from None
        if history.saved != text:
            history.take("the study file was changed elsewhere", text)
            history.save(text)
        return history


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    """The lines of a log; one that was cut short by a crash is none."""
    if not log.exists():
        return
    for line in log.read_bytes().split(b"\n"):
        with suppress(ValueError, RecursionError):
            yield json.loads(line)


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError
    return given


def _append(log: Path, line: dict[str, Any]) -> None:
    """Write one line at the end of a log that nobody else may read, on a line of its own.

    Raises InputError when it cannot be written.
    """
    try:
        _write(log, line)
    except OSError as error:
        raise InputError(
            f"no step can be kept in {log}: {reason_of(error)}; nothing was changed. Make room "
            "there, or copy the study to a directory of your own"
        ) from None


def _write(log: Path, line: dict[str, Any]) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        begin = b""
        if size:
            file.seek(-1, os.SEEK_END)
            begin = b"" if file.read(1) == b"\n" else b"\n"
        file.write(begin + json.dumps(line).encode() + b"\n")
