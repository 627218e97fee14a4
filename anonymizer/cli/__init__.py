"""The command line: studies, tables and releases in; files, reports or JSON out.

``authoring``, ``releasing`` and ``checking`` say how commands are called. The other modules carry
them out: they read the arguments, call one function of the rooms below, and show its result. They
may import every room but explorer and papers, and are imported when a command runs, so that help
stays quick.

Exit codes: 0 all is well, 1 the policy is out of reach or does not hold, or there is a warning and
--strict, 2 unusable input, 3 not all could be examined, 130 interrupted.
"""

import gc
import io
import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

import click

from anonymizer.cli.options import explained
from anonymizer.errors import AnonymizerError, InputError, did_you_mean, printable
from anonymizer.feedback.words import listed
from anonymizer.release.output import standing
from anonymizer.release.system import ends_as_interrupts, settled
from anonymizer.version import __version__

__all__ = ["DEBUG", "main", "program"]

DEBUG = "ANONYMIZER_DEBUG"
INTERRUPTED = 130
LATE = Lock()

GROUPS = {
    "Author": {
        "init": ("cli.authoring", "Propose a study for a raw TABLE, with reasons."),
        "explore": ("explorer.command", "Open a STUDY, or a raw TABLE, as a page to decide on."),
        "hierarchy": ("cli.authoring", "Draw, check, build and convert hierarchies."),
        "lattice": ("cli.authoring", "Show which levels of a STUDY satisfy its policy."),
        "advise": ("cli.authoring", "Say what a policy costs and protects, and what to change."),
    },
    "Release": {
        "run": ("cli.releasing", "Anonymize the table of a STUDY and write the release."),
        "apply": ("cli.releasing", "Recode another TABLE as a RELEASE was, and release it."),
        "verify": ("cli.releasing", "Hold a RELEASE against its manifest."),
        "report": ("cli.releasing", "Write a RELEASE as a page for people to read."),
        "export": ("cli.releasing", "Write the recoding of a RELEASE as SQL or for other tools."),
        "sign": ("cli.releasing", "Sign a RELEASE that stands."),
        "keys": ("cli.releasing", "Make a pair of keys for signatures."),
        "count": ("cli.releasing", "Count a PART of a table that may not leave its site."),
    },
    "Check": {
        "check": ("cli.checking", "Measure which policy a TABLE satisfies as it stands."),
        "lint": ("cli.checking", "Find what is doubtful in a STUDY, or identifies in a TABLE."),
        "risk": ("cli.checking", "Measure what an attacker learns from a TABLE as it stands."),
        "query-loss": ("cli.checking", "Measure the privacy that answers to queries cost."),
        "audit": ("cli.checking", "Attack RELEASEs with their original table."),
        "quality": ("cli.checking", "Measure what a RELEASE still says of its original table."),
        "certify": ("cli.checking", "Prove that no levels keep more than those of a STUDY."),
        "compare": ("cli.checking", "Compare what several recodings of a table keep."),
        "figures": (
            "cli.checking",
            "Draw what one recoding keeps, and what each class discloses.",
        ),
        "estimate": ("cli.checking", "Estimate the counts of an attribute before it was masked."),
    },
    "More": {
        "models": ("cli.checking", "Print every privacy model."),
        "demo": ("cli.releasing", "Anonymize the bundled census of invented people."),
        "reproduce": ("papers.command", "Compute the figures of a PAPER anew."),
    },
}
"""The module of each command and its line of the help, by what commands are for.

Explorer and papers stand apart, and are reached by these two names alone: nothing else here needs
them, and an installation can be without either.
"""

HOMES = {name: f"anonymizer.{home}" for of in GROUPS.values() for name, (home, _) in of.items()}
SUMMARIES = {name: summary for of in GROUPS.values() for name, (_, summary) in of.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Every error becomes one line on standard error and the exit code it stands for. An error that
    nobody foresaw says where it came from but not what it says, since its text may quote the data;
    ``ANONYMIZER_DEBUG`` in the environment lets it through with its traceback.
    """
    _write_anything(sys.stdout, sys.stderr)
    with standing() as outputs:
        code = _carry_out(arguments, outputs)
    sys.exit(code)


def program() -> None:
    """Run the command line as a process: a signal after its outcome does not change it."""
    # Imports make half a million objects that stay. Looking for circles among them takes a tenth of
    # a short run, and a fifth when the process ends, which frees them all in any case.
    gc.set_threshold(500_000)
    # Plugins of pydantic would be searched for in all that is installed, and see what is checked.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if "pandas" not in sys.modules:
        sys.modules["pandas"] = LateModule("pandas")
    settled()
    try:
        main()
    finally:
        gc.freeze()


class LateModule(ModuleType):
    """A library that is loaded when something of it is used first.

    A study with a mistake needs no pandas, which takes a fifth of a second.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = find_spec(name)

    def __getattr__(self, name: str) -> Any:
        with LATE:  # not while it is loaded: who uses it then waits for that
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        vars(self).update(vars(import_module(self.__name__)))
        return super().__getattribute__(name)


def _carry_out(arguments: Sequence[str] | None, outputs: Sequence[str]) -> int:
    """Give the exit code; where it ends early, say which outputs stand."""
    try:
        with ends_as_interrupts():
            return commands.main(arguments, prog_name="anonymizer", standalone_mode=False) or 0
    except AnonymizerError as error:
        code = _complain(str(error), error.exit_code)
        _note(getattr(error, "__notes__", ()))
        return code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        return error.exit_code
    except click.UsageError as error:
        return _complain(explained(error), error.exit_code)
    except click.ClickException as error:
        return _complain(error.format_message(), error.exit_code)
    except SystemExit:  # so click ends where the reader of a help went away
        return 0
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted", INTERRUPTED, outputs)
    except MemoryError:
        return _complain("out of memory", 2, outputs)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        hint = f"; {DEBUG}=1 shows it; please report it"
        return _complain(f"internal error, {_place(error)}", 2, outputs, hint)


class Commands(click.Group):
    """Commands that are imported when they are run or listed, and from wherever they live."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands that are installed, in the order of their help."""
        return [name for name in HOMES if not _absent(name)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that arguments begin with; for a name that is none, one near it."""
        if args[0] not in HOMES and not args[0].startswith("-"):
            raise click.UsageError(f"No such command {args[0]!r}{_nearby(args[0])}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of a name; None where there is none."""
        if cmd_name not in HOMES:
            return None
        if absent := _absent(cmd_name):
            raise InputError(f"{cmd_name} is not installed here: there is no package {absent}")
        found: click.Command = getattr(import_module(HOMES[cmd_name]), cmd_name.replace("-", "_"))
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what they are for; none is imported."""
        there = self.list_commands(ctx)
        width = max(map(len, there))
        for heading, of in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(f"{name:{width}}", SUMMARIES[name]) for name in of if name in there]
                )


def _nearby(name: str) -> str:
    """A command that is called nearly so, or those that do what a word says."""
    word = re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE)
    doing = [each for each, summary in SUMMARIES.items() if word.search(summary)]
    others = f"; did you mean {listed(doing, 'or')}?" if doing else "; --help lists the commands"
    return did_you_mean(name, HOMES) or others


def _absent(command: str) -> str:
    """The package of a command that is not installed; empty where it is."""
    package = HOMES[command].rpartition(".")[0]
    return "" if find_spec(package) else package


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nExamples:\n"
    "  anonymizer demo --output demo-release\n"
    "  anonymizer --verbose run study.toml --output release",
)
@click.version_option(__version__, prog_name="anonymizer")
@click.option(
    *("--verbose", "-v"), count=True, help="Log each phase to standard error; -vv also details."
)
@click.pass_context
def commands(context: click.Context, verbose: int) -> None:
    """Release microdata safely and lose as little information as possible doing it."""
    levels = (logging.WARNING, logging.INFO, logging.DEBUG)
    context.with_resource(_logging(levels[min(verbose, 2)]))


@contextmanager
def _logging(level: int) -> Iterator[None]:
    """Send the log to standard error while a command runs; warnings alone are bare lines."""
    log, handler = logging.getLogger("anonymizer"), logging.StreamHandler()
    handler.setLevel(level)
    before = log.level
    log.addHandler(handler)
    if level < logging.WARNING:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.setLevel(level)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def _write_anything(*streams: object) -> None:
    """Let streams spell out what their encoding cannot write, as in a path, instead of failing."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(message: str, code: int, outputs: Sequence[str] | None = None, hint: str = "") -> int:
    if outputs is not None:
        message += "; " + ("; ".join(outputs) or "nothing was written") + hint
    line = printable(" ".join(message.split()))
    with suppress(OSError):  # the exit code tells where standard error cannot
        click.echo(f"anonymizer: {line}", err=True)
    return code


def _note(lines: Sequence[str]) -> None:
    """What goes with an error: what stands in the way, and the ways out."""
    with suppress(OSError):
        for line in lines:
            click.echo(printable(line), err=True)


def _place(error: BaseException) -> str:
    """The kind of an error and the line of ours nearest to it; its text where it has no data."""
    trace, place = error.__traceback__, ""
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.is_relative_to(Path(__file__).parents[1]):
            place = f" at {path.relative_to(Path(__file__).parents[1])}:{trace.tb_lineno}"
        trace = trace.tb_next
    says = f": {error}" if isinstance(error, ImportError) else ""
    return type(error).__name__ + place + says
