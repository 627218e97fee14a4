"""The command line: studies, tables and releases in; files, reports or JSON out.

Commands read their arguments, call one function of the rooms below, and show its result. May import
every room but explorer and papers, and only when a command runs, so that help stays quick.

Exit codes: 0 all is well, 1 the policy is out of reach or does not hold, or there is a warning and
--strict, 2 unusable input, 3 an audit could not run every attack, 130 interrupted.
"""

import io
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click

from anonymizer.errors import AnonymizerError, InputError, did_you_mean, printable
from anonymizer.release.output.atomic import standing
from anonymizer.release.output.interrupts import ends_as_interrupts, settled
from anonymizer.version import __version__

__all__ = ["DEBUG", "main", "program"]

DEBUG = "ANONYMIZER_DEBUG"
INTERRUPTED = 130

HOMES = {
    "init": "anonymizer.cli.init",
    "run": "anonymizer.cli.releases",
    "count": "anonymizer.cli.sites",
    "apply": "anonymizer.cli.apply",
    "verify": "anonymizer.cli.releases",
    "export": "anonymizer.cli.export",
    "report": "anonymizer.cli.report",
    "sign": "anonymizer.cli.signing",
    "keys": "anonymizer.cli.signing",
    "check": "anonymizer.cli.releases",
    "risk": "anonymizer.cli.risk",
    "query-loss": "anonymizer.cli.risk",
    "audit": "anonymizer.cli.risk",
    "models": "anonymizer.cli.releases",
    "quality": "anonymizer.cli.measuring",
    "compare": "anonymizer.cli.measuring",
    "figures": "anonymizer.cli.measuring",
    "advise": "anonymizer.cli.advise",
    "lattice": "anonymizer.cli.measuring",
    "estimate": "anonymizer.cli.measuring",
    "hierarchy": "anonymizer.cli.hierarchies",
    "explore": "anonymizer.explorer.command",
    "demo": "anonymizer.cli.releases",
    "reproduce": "anonymizer.papers.command",
}
"""The module of each command, in the order of the help.

Explorer and papers stand apart, and are reached by these two names alone: nothing else here needs
them, and an installation can be without either.
"""


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
    settled()
    main()


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
    except click.ClickException as error:
        return _complain(error.format_message() + _elsewhere(error), error.exit_code)
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
            raise click.UsageError(f"No such command {args[0]!r}{did_you_mean(args[0], HOMES)}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of a name; None where there is none."""
        if cmd_name not in HOMES:
            return None
        if absent := _absent(cmd_name):
            raise InputError(f"{cmd_name} is not installed here: there is no package {absent}")
        found: click.Command = getattr(import_module(HOMES[cmd_name]), cmd_name.replace("-", "_"))
        return found


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
    """Let streams spell out what their encoding lacks (in a path, say) instead of failing."""
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


def _elsewhere(error: click.ClickException) -> str:
    """Where an option goes that is none of a command, or what a study is needed for."""
    if isinstance(error, click.MissingParameter) and error.param and error.param.name == "study":
        return (
            " It is the file that names the original table, the roles of its columns and the policy"
        )
    if getattr(error, "option_name", None) not in ("-v", "-vv", "--verbose"):
        return ""
    return " It goes before the command: anonymizer --verbose run study.toml --output release"


def _note(lines: Sequence[str]) -> None:
    """What goes with an error: what stands in the way, and the ways out."""
    with suppress(OSError):
        for line in lines:
            click.echo(printable(line), err=True)


def _place(error: BaseException) -> str:
    """The kind of an error and the line of ours nearest to it; not its text."""
    trace, place = error.__traceback__, ""
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.is_relative_to(Path(__file__).parents[1]):
            place = f" at {path.relative_to(Path(__file__).parents[1])}:{trace.tb_lineno}"
        trace = trace.tb_next
    return type(error).__name__ + place
