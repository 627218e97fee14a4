"""A real server of PostgreSQL for the tests, started where Debian's package is installed."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PLACES = [*Path("/usr/lib/postgresql").glob("*/bin")]


@dataclass(frozen=True)
class Server:
    """A server that listens to a socket in a directory."""

    directory: Path

    @property
    def address(self) -> str:
        """Its address as a URL."""
        return f"postgresql://postgres@/postgres?host={self.directory}"

    def psql(self, script: str) -> str:
        """What a script of SQL prints, tables as CSV."""
        options = ["-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-h", str(self.directory)]
        done = subprocess.run(
            ["psql", *options, "-U", "postgres", "postgres"],
            input=script,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def served() -> Iterator[Server]:
    """A server as long as it is needed; the test is skipped where there is none."""
    if not PLACES or not shutil.which("psql"):
        pytest.skip("PostgreSQL is not installed")
    directory = Path(tempfile.mkdtemp(prefix="postgres-"))
    who = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    before = who if os.getuid() == 0 else []  # it runs as anybody but root
    if before:
        shutil.chown(directory, "postgres", "postgres")

    def called(program: str, *arguments: str) -> None:
        command = [*before, str(PLACES[-1] / program), "-D", str(directory / "data"), *arguments]
        with (directory / "log").open("a") as log:
            subprocess.run(command, check=True, stdout=log, stderr=log, cwd=directory)

    try:
        called("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        called("pg_ctl", "-w", "-o", f"-k {directory} -c listen_addresses= -F", "start")
        try:
            yield Server(directory)
        finally:
            called("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
