"""The command in a fork of a process that has loaded all it needs: a start takes no seconds."""

import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.explorer.loaded"])  # found from the root of the project

PATIENCE = 20.0
"""Seconds that a page may be silent, instead of 3: a busy machine stops a browser for longer."""


class Forked:
    """The command ``anonymizer explore`` with some arguments; used as a ``subprocess.Popen`` is.

    ``patience``: seconds after which a page that says nothing counts as closed, and is loaded anew
    if it is not. ``first``: code that the process carries out before.
    """

    def __init__(
        self,
        arguments: list[str],
        cwd: Path | None,
        patience: float = PATIENCE,
        first: str = "",
    ) -> None:
        reader, writer = FORKS.Pipe(duplex=False)
        given = writer, arguments, cwd, patience, first
        self._process = FORKS.Process(target=_explore, args=given, daemon=True)
        self._process.start()
        writer.close()
        self.stdout: IO[str] = os.fdopen(os.dup(reader.fileno()), encoding="utf-8")
        self.pid = self._process.pid

    def kill(self) -> None:
        """End it if it goes on: by asking it, so that it leaves nothing, and then without."""
        self._process.terminate()
        self._process.join(30)
        self._process.kill()

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait until it has ended; give its exit code."""
        self._process.join(timeout)
        return self._process.exitcode


def _explore(
    writer: Connection, arguments: list[str], cwd: Path | None, patience: float, first: str
) -> None:
    exec(first, {})
    multiprocessing.current_process().name = "MainProcess"  # as that of a user is called
    if cwd is not None:
        os.chdir(cwd)
    for stream in (1, 2):
        os.dup2(writer.fileno(), stream)
    writer.close()
    sys.stdout = sys.stderr = os.fdopen(1, "w", encoding="utf-8")
    from anonymizer.cli import main
    from anonymizer.explorer.page import server

    server.RECONNECT = patience
    main(["explore", "--no-browser", *arguments])
