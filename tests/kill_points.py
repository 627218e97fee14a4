"""Runs that are struck at every step of writing a release, and runs that race for one directory.

Each step that touches the disk is struck once by each signal: by a shim around the functions of
``os`` (quick), or by strace at every system call. Whatever happens, the directory holds the earlier
release or the new one, whole; what a run says when it ends is true of it; and the next run works
and clears what was left. ``python -m tests.kill_points`` does all of it on two file systems.
"""

import argparse
import errno
import fcntl
import gc
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from anonymizer import cli
from anonymizer.release import system
from anonymizer.release.output import reserved
from anonymizer.release.system import settled

NAMES = ("released.csv", "released.parquet", "release.json.sig", "release.json")
NEXT_TO = ".steward.json"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CHANGES = ["mkdir", "rmdir", "unlink", "rename", "replace", "link"]
LOOKS = [
    "open",
    "close",
    "chmod",
    "fsync",
    "stat",
    "lstat",
    "fstat",
    "scandir",
    "listdir",
    "listxattr",
]


@click.command("write")
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("text")
@click.option("--force", is_flag=True)
@click.option("--sign", is_flag=True)
def write(out: Path, text: str, force: bool, sign: bool) -> None:
    """Write a release of a table that is one line: what ``run`` does, without a search."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    manifest = json.dumps({"table": {"file": NAMES[0], "sha256": digest}})
    contents = {NAMES[0]: text, **({NAMES[2]: signature(manifest)} if sign else {})}
    writers = {
        name: partial(Path.write_text, data=content)
        for name, content in (*contents.items(), (NAMES[-1], manifest))
    }
    with reserved(out, NAMES, next_to=NEXT_TO) as output:
        figures = partial(Path.write_text, data=text)
        output.write(writers, force=force, next_to=figures)


def signature(manifest: str) -> str:
    """What stands for the signature of a manifest: it is of no other one."""
    return hashlib.sha256(manifest.encode()).hexdigest()


cli.HOMES["write"] = __name__


@dataclass(frozen=True)
class Case:
    """What lies there before, and what the system can do."""

    before: str = ""
    files: bool = False
    empty: bool = False
    able: str = "exchange"
    signed: str = ""

    @property
    def whole(self) -> bool:
        """Whether one step does it, so that nobody ever sees anything between."""
        return not self.files and (self.able == "exchange" or not self.before)

    def lay(self, place: Path) -> Path:
        out = place / "out"
        if self.before:
            assert unstruck(out, self.before, *self.signing(self.before)) == (0, "")
        if self.files or self.empty:
            out.mkdir(exist_ok=True)
        if self.files:
            (out / "notes.txt").write_text("mine")
        return out

    def signing(self, text: str) -> list[str]:
        """The option of a run that signs its release."""
        return ["--sign"] * (text in self.signed.split())

    def options(self) -> list[str]:
        """Those of the run that is struck."""
        return ["--force"] * bool(self.before) + self.signing("new")

    def limit(self) -> None:
        """Take from the system what it cannot do in this case."""
        real = system._renameat2

        def less(source: Path, target: Path, flags: int) -> None:
            if self.able == "nothing" or flags == system.EXCHANGE:
                raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
            real(source, target, flags)

        if self.able != "exchange":
            system._renameat2 = less


CASES = {
    "first release": Case(),
    "first release, into an empty directory": Case(empty=True),
    "first release, among other files": Case(files=True),
    "replacement": Case("old"),
    "replacement, among other files": Case("old", files=True),
    "replacement, no exchange": Case("old", able="rename"),
    "replacement, no renameat2": Case("old", able="nothing"),
    "replacement, among other files, no renameat2": Case("old", files=True, able="nothing"),
    "signed by a signed one, among other files": Case("old", files=True, signed="old new"),
    "signed by one that is not, among other files": Case("old", files=True, signed="old"),
    "signed, in place of one that is not": Case("old", able="nothing", signed="new"),
}


def call(out: Path, text: str, *options: str) -> None:
    cli.main(["write", str(out), text, *options])


def state(out: Path) -> str:
    """The text of the release that lies there, "" for none, "half" without its sign."""
    table, sign = out / NAMES[0], out / NAMES[-1]
    if not sign.exists():
        return "half" if table.exists() else ""
    text = table.read_text() if table.exists() else "no table"
    digest = json.loads(sign.read_text())["table"]["sha256"]
    signed = out / NAMES[2]
    if signed.exists() and signed.read_text() != signature(sign.read_text()):
        return f"the signature of another one: {text}"
    return text if hashlib.sha256(text.encode()).hexdigest() == digest else f"mixed: {text}"


def figures(out: Path) -> str:
    """The text of the release that the file next to it is of, "" for none."""
    place = out.with_name(out.name + NEXT_TO)
    return place.read_text() if place.exists() else ""


def left(place: Path) -> list[str]:
    """What is neither the release nor the user's."""
    own = {"out", f"out{NEXT_TO}", "notes.txt", *NAMES}
    return sorted(path.name for path in place.rglob("*") if path.name not in own)


def started(work: Callable[[], None], error: Path, gate: int | None = None) -> int:
    """Do something in a child that ends as the command line does; gives its process id.

    It begins once something is written to the gate.
    """
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        if gate is not None:
            os.read(gate, 1)
        settled()  # as program does
        descriptor = os.open(error, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, 2)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        work()
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.stderr.flush()
        os._exit(code)


def ended(work: Callable[[], None]) -> tuple[int, str]:
    """The exit code of a child, negative for a signal, and what it said."""
    with tempfile.NamedTemporaryFile("r") as error:
        _, status = os.waitpid(started(work, Path(error.name)), 0)
        return os.waitstatus_to_exitcode(status), error.read().strip()


def unstruck(out: Path, text: str, *options: str) -> tuple[int, str]:
    """A run to its end: its exit code and what it said."""
    with redirect_stderr(io.StringIO()) as error:
        try:
            call(out, text, *options)
        except SystemExit as stop:
            return int(stop.code or 0), error.getvalue().strip()
    raise AssertionError("the command line always exits")


def struck(
    case: Case, out: Path, number: int, step: int, reached: Path, steps_of: Sequence[str]
) -> None:
    """Write a release and be struck before a step of it."""
    steps = iter(range(10**6))

    def before(function: Callable[..., object]) -> Callable[..., object]:
        def stepping(*arguments: object, **options: object) -> object:
            if next(steps) == step:
                reached.touch()
                os.kill(os.getpid(), number)
            return function(*arguments, **options)

        return stepping

    case.limit()
    for name in steps_of:
        setattr(os, name, before(getattr(os, name)))
    fcntl.flock = before(fcntl.flock)  # type: ignore[assignment]
    system._renameat2 = before(system._renameat2)  # type: ignore[assignment]
    call(out, "new", *case.options())


def misled(case: Case, out: Path, found: str) -> Iterator[str]:
    """What is wrong with the signature of the release that was found."""
    if (found in case.signed.split()) != (out / NAMES[2]).exists() and found != "half":
        yield f"there is {found!r}, and its signature is lost, or that of another one left"


def apart(out: Path, found: str) -> Iterator[str]:
    """What is wrong with the file next to the release that was found."""
    if figures(out) != found:
        yield f"there is {found!r}, and next to it {figures(out)!r}"


def judged(case: Case, place: Path, code: int, said: str) -> Iterator[str]:
    """What is wrong after a run was struck, then after the next runs."""
    out = place / "out"
    found = state(out)
    if code == -signal.SIGKILL:
        if found not in {case.before, "new", *([] if case.whole else ["half", ""])}:
            yield f"killed, and there is {found!r}"
    else:
        says = "new" if code == 0 or "the release is in" in said else case.before
        if code not in (0, 130) or (code == 130 and "nothing was written" not in said) != (
            "the release is in" in said
        ):
            yield f"exit code {code}, {said!r}"
        if found != says:
            yield f"exit code {code}, {said!r}, but there is {found!r}"
        if left(place):
            yield f"exit code {code}, but {left(place)} are left"
        yield from apart(out, found)
    yield from misled(case, out, found)
    code, said = unstruck(out, "next")
    found = state(out)
    if (code == 0) != (found == "next") or found not in {case.before or "next", "new"}:
        yield f"next run: exit code {code}, {said!r}, and there is {found!r}"
    if found != "next" and "already holds a release" not in said:
        yield f"next run: {said!r}"
    yield from apart(out, found)
    code, said = unstruck(out, "last", "--force")
    if (code, state(out), figures(out), left(place)) != (0, "last", "last", []):
        yield f"last run: exit code {code}, {said!r}, there is {state(out)!r}, {left(place)}"
    if case.files and (out / "notes.txt").read_text() != "mine":
        yield "notes.txt is lost"


def shimmed(
    root: Path, name: str, number: int, steps_of: Sequence[str], tally: Counter[str]
) -> Iterator[str]:
    """Strike a run before each of its steps, until it has no more."""
    case, step, more = CASES[name], 0, True
    while more:
        with tempfile.TemporaryDirectory(dir=root) as where:
            place, reached = Path(where, "place"), Path(where, "reached")
            place.mkdir()
            out = case.lay(place)
            code, said = ended(lambda: struck(case, out, number, step, reached, steps_of))  # noqa: B023
            more = reached.exists()
            for wrong in judged(case, place, code, said):
                yield f"{name}, {signal.Signals(number).name} before step {step}: {wrong}"
        tally[f"{signal.Signals(number).name} at steps"] += more
        step += 1


def traced(case: Case, out: Path, *options: str) -> tuple[int, str]:
    """Write a release under strace."""

    def work() -> None:
        case.limit()
        call(out, "new", *case.options())

    gate, opening = os.pipe()
    with tempfile.NamedTemporaryFile("r") as error:
        child = started(work, Path(error.name), gate)
        tracer = subprocess.Popen(
            ["strace", "-qq", "-p", str(child), *options], stderr=subprocess.DEVNULL
        )
        status = Path(f"/proc/{child}/status")
        while "TracerPid:\t0" in status.read_text() and tracer.poll() is None:
            time.sleep(0.001)
        os.write(opening, b"x")
        _, code = os.waitpid(child, 0)
        tracer.wait()
        os.close(gate)
        os.close(opening)
        return os.waitstatus_to_exitcode(code), error.read().strip()


def system_calls(root: Path, case: Case) -> list[tuple[str, int]]:
    """Every system call of a run from its lock to its end, each with its number of its name."""
    with tempfile.TemporaryDirectory(dir=root) as where:
        log, place = Path(where, "log"), Path(where, "place")
        place.mkdir()
        out = case.lay(place)
        traced(case, out, "-o", str(log))
        lines = log.read_text().splitlines()
    counts: Counter[str] = Counter()
    calls, locked = [], False
    for line in lines:
        found = re.match(r"(\w+)\(", line)
        if found:
            counts[found[1]] += 1
            locked = locked or "anonymizer-lock" in line
            if locked and found[1] not in ("exit_group", "rt_sigreturn"):
                calls.append((found[1], counts[found[1]]))
    return calls


def injected(root: Path, name: str, number: int, tally: Counter[str]) -> Iterator[str]:
    """Strike a run at each of its system calls."""
    case, sent = CASES[name], signal.Signals(number).name
    for called, when in system_calls(root, case):
        with tempfile.TemporaryDirectory(dir=root) as where:
            place = Path(where, "place")
            place.mkdir()
            out = case.lay(place)
            inject = f"inject={called}:signal={sent}:when={when}"
            code, said = traced(case, out, "-o", "/dev/null", "-e", inject)
            for wrong in judged(case, place, code, said):
                yield f"{name}, {sent} at {called} {when}: {wrong}"
            tally[f"{sent} at system calls"] += 1


def raced(root: Path, before: str, tally: Counter[str]) -> Iterator[str]:
    """Two runs at once, with --force where a release is there before."""
    with tempfile.TemporaryDirectory(dir=root) as where:
        place = Path(where, "place")
        place.mkdir()
        out = Case(before).lay(place)
        gate, opening = os.pipe()
        errors = {text: Path(where, text) for text in ("one", "two")}
        options = ["--force"] * bool(before)
        children = {
            started(lambda: call(out, text, *options), errors[text], gate): text  # noqa: B023
            for text in errors
        }
        os.write(opening, b"xx")
        codes = {}
        for _ in children:
            child, status = os.wait()
            codes[children[child]] = os.waitstatus_to_exitcode(status)
        os.close(gate)
        os.close(opening)
        won = [text for text, code in codes.items() if code == 0]
        said = {text: path.read_text().strip() for text, path in errors.items()}
        tally["races, both in turn" if len(won) == 2 else "races, one refused"] += 1
        yield from apart(out, state(out))
        if state(out) not in won or left(place) or (not before and len(won) != 1):
            yield f"race: {codes}, {said}, there is {state(out)!r}, {left(place)}"
        refusal = "another run is writing" if before else "another run is|already holds a release"
        for text in codes.keys() - won:
            if codes[text] != 2 or not re.search(refusal, said[text]):
                yield f"race: {codes}, {said}"


def wrongs(root: Path, races: int, strace: bool, quick: bool, tally: Counter[str]) -> Iterator[str]:
    """Everything that is wrong on a file system."""
    for place, name in enumerate(CASES):
        # The two that ask are handled alike, whatever lies there: the quick form takes one of them
        # in each second case.
        asking = [SIGNALS[1 + place // 2 % 2]] * (place % 2 == 0) if quick else SIGNALS[1:]
        for number in (SIGNALS[0], *asking):
            yield from shimmed(root, name, number, CHANGES + LOOKS * (not quick), tally)
            if strace:
                yield from injected(root, name, number, tally)
    for before in ("", "old"):
        for _ in range(races):
            yield from raced(root, before, tally)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="*", default=[tempfile.gettempdir(), "/dev/shm"])
    parser.add_argument("--races", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="what changes names, no strace")
    given = parser.parse_args()
    strace = not given.quick and shutil.which("strace") is not None
    gc.disable()  # children would copy what it touches
    bad = 0
    for place in given.places:
        tally: Counter[str] = Counter()
        for wrong in wrongs(Path(place), given.races, strace, given.quick, tally):
            bad += 1
            sys.stdout.write(f"{place}: {wrong}\n")
        sys.stdout.write(f"{place}: {dict(tally)}\n")
    sys.stdout.write(f"{bad} wrong\n")
    sys.exit(min(bad, 1))


if __name__ == "__main__":
    main()
