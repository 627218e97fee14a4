"""Programs for tests of which a process is the point: signals, terminals, several at once.

To import the command line takes a process a second. Here one imports it, and all others are forked
from that one: ``python -m anonymizer`` as it is, up to how the interpreter ends.
"""

import atexit
import fcntl
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import termios
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TextIO


@dataclass
class Program:
    """A process that runs; what is said of its end comes through a socket."""

    pid: int
    told: TextIO

    def wait(self) -> int:
        """Its exit code, once it has ended; below zero if by a signal."""
        with self.told:
            return int(self.told.readline())


def unwarned(errors: str) -> str:
    """Standard error without the warnings of a release, which have tests of their own."""
    lines = errors.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("WARNING ("))


def start(*arguments: object, out: int, err: int, terminal: bool = False) -> Program:
    """Start the command line here, with files for output and errors; from a terminal it reads, too.

    After ``-c`` the argument is code, as that of an interpreter.
    """
    ours, theirs = socket.socketpair()
    request = json.dumps([str(Path.cwd()), terminal, *map(str, arguments)])
    with theirs, Path(os.devnull).open() as nothing:
        files = [out if terminal else nothing.fileno(), out, err, theirs.fileno()]
        socket.send_fds(server(), [request.encode()], files)
    with ours:
        told = ours.makefile()
    return Program(int(told.readline()), told)


def carried_out(*arguments: object) -> tuple[int, str, str]:
    """What a program did to its end: exit code, output, errors."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        code = start(*arguments, out=out.fileno(), err=err.fileno()).wait()
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


@cache
def server() -> socket.socket:
    """The way to the process from which programs are forked, which ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, __file__, str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()])

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def serve(requests: socket.socket) -> None:
    """Fork a program for each request; return in the program alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who watch programs
    while True:
        text, files, *_ = socket.recv_fds(requests, 1 << 16, 4)
        if not text:
            os._exit(0)
        if not os.fork():
            requests.close()
            if watched(socket.socket(fileno=files.pop())):
                return become(files, *json.loads(text))
        for file in files:
            os.close(file)


def watched(told: socket.socket) -> bool:
    """Fork a program, and tell its number and how it ended; true in the program alone."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    program = os.fork()
    if not program:
        told.close()
        return True
    with suppress(OSError):  # who started it may be gone
        told.sendall(b"%d\n" % program)
        told.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(program, 0)[1]))
    os._exit(0)


def become(files: Sequence[int], directory: str, terminal: bool, *arguments: str) -> None:
    """Be the program: with its streams, directory and arguments, as an interpreter finds them."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream, file in enumerate(files):
        os.dup2(file, stream)
        os.close(file)
    if terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    os.chdir(directory)
    if arguments[0] == "-c":
        exec(arguments[1], {})
    else:
        sys.argv = ["anonymizer", *arguments]
        runpy.run_module("anonymizer", run_name="__main__")


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])
    for module in ("anonymizer.cli.releases", "anonymizer.release.publish", "pandas"):
        import_module(module)
    serve(socket.socket(fileno=int(sys.argv[1])))
