"""A real server of MySQL for the tests, MariaDB's, started where Debian's package is installed."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Server:
    """A server that listens to a socket in a directory."""

    directory: Path

    @property
    def address(self) -> str:
        """Its address as a URL."""
        return f"mysql://root@localhost/census?socket={self.directory / 'socket'}"

    def run(self, script: str) -> None:
        """Carry out a script of SQL."""
        options = ["--no-defaults", "-u", "root", "-S", str(self.directory / "socket")]
        subprocess.run(["mariadb", *options], input=script, text=True, check=True)


@contextmanager
def served() -> Iterator[Server]:
    """A server as long as it is needed; the test is skipped where there is none."""
    program = shutil.which("mariadbd", path="/usr/sbin:/usr/bin")
    if program is None or not shutil.which("mariadb-install-db"):
        pytest.skip("MariaDB is not installed")
    directory = Path(tempfile.mkdtemp(prefix="mariadb-"))
    before = []
    if os.getuid() == 0:  # it runs as anybody but root
        before = ["setpriv", "--reuid=mysql", "--regid=mysql", "--clear-groups"]
        shutil.chown(directory, "mysql", "mysql")
    data = f"--datadir={directory / 'data'}"
    try:
        with (directory / "log").open("w") as log:
            setup = ["mariadb-install-db", "--no-defaults", data, "--skip-test-db"]
            setup += ["--auth-root-authentication-method=normal"]
            subprocess.run([*before, *setup], check=True, stdout=log, stderr=log)
            options = [f"--socket={directory / 'socket'}", "--skip-networking"]
            options += [f"--pid-file={directory / 'pid'}"]
            command = [*before, program, "--no-defaults", data, *options]
            with subprocess.Popen(command, stdout=log, stderr=log) as running:
                try:
                    _wait(directory / "socket")
                    yield Server(directory)
                finally:
                    running.kill()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _wait(socket: Path) -> None:
    for _ in range(200):
        if socket.exists():
            return
        time.sleep(0.1)
    raise TimeoutError("MariaDB does not listen to its socket")
