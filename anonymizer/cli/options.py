"""What commands share: options, arguments, errors of usage, and how a result is shown."""

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from importlib import import_module
from operator import methodcaller
from pathlib import Path
from typing import Any, TypeVar

import click

from anonymizer.errors import printable
from anonymizer.feedback.document import Block
from anonymizer.feedback.words import names_listed
from anonymizer.report.printing import print_json, print_report, printing

UNEXAMINED = 3
"""The exit code where all that was examined is well, and not everything was."""

LOG = logging.getLogger(__name__)

Command = TypeVar("Command", bound=Callable[..., object])


def carried_out(home: str) -> Callable[[Callable[[], None]], Callable[..., Any]]:
    """Let the function of its name in a module carry a command out.

    The module is loaded when the command runs: help and errors of usage need none of what takes
    half a second to load, pandas and pydantic among it.
    """

    def declared(command: Callable[[], None]) -> Callable[..., Any]:
        @wraps(command)
        def carry_out(**given: Any) -> Any:
            return getattr(import_module(home), command.__name__)(**given)

        return carry_out

    return declared


class DirectoryType(click.ParamType):  # type: ignore[type-arg]  # not so in older releases
    """A directory; an empty text, a variable that is not set, is not the current one."""

    name = "path"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        """The path of a directory."""
        if not str(value).strip():
            self.fail("it names no directory; . is the current one", param, ctx)
        return Path(str(value))


PATH = click.Path(path_type=Path)
table_argument = click.argument("table", type=PATH)
study_argument = click.argument("study", type=PATH)
study_option = click.option("--study", "-s", type=PATH, required=True, help="The study file.")
plot_option = click.option("--plot", type=PATH, help="A picture: .png, .svg or .pdf (matplotlib).")
redraw_option = click.option(
    "--force", is_flag=True, help="Replace the picture that already lies there."
)
jobs_option = click.option(
    "--jobs", "n_jobs", type=int, help="Nodes checked at once, as joblib counts them."
)


def _show_values(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    """Let messages name every value for as long as the command runs."""
    if given:
        from anonymizer.hierarchy import showing_values  # loads pandas

        context.with_resource(showing_values())


show_values_option = click.option(
    "--show-values",
    is_flag=True,
    expose_value=False,
    callback=_show_values,
    help="Let messages name values of quasi-identifiers that fewer than five records have.",
)


strict_option = click.option(
    "--strict", is_flag=True, help="Exit with 1 where there is a warning; release nothing then."
)


def warn(warnings: Sequence[object]) -> None:
    """Log warnings, which the command line writes to standard error."""
    for warning in warnings:
        LOG.warning("%s", printable(str(warning)))


def show(
    done: str,
    as_json: bool,
    found: Any,
    report: Callable[[Any], Iterable[Block]],
    picture: Path | None = None,
    content: Callable[[Any], object] = methodcaller("to_dict"),
) -> None:
    """Print a result as text, or as JSON its ``content``.

    ``done``: what holds even where printing fails; ``picture``: where the result was drawn.
    """
    with printing(done):
        if as_json:
            print_json(content(found))
        else:
            drawn = [f"The picture is in {picture}."] if picture else []
            print_report([*report(found), *drawn])


def _names(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...] | None:
    return tuple(name for each in given for name in names_listed(each)) or None


def names_option(name: str, words: str) -> Callable[[Command], Command]:
    """An option that names columns."""
    words = f'{words}; repeat it, or separate names by commas (one with a comma in "").'
    return click.option(name, multiple=True, callback=_names, metavar="NAME", help=words)


def format_options(command: Command) -> Command:
    """The options that say how a CSV file is written, where that is not found by itself."""
    options = (
        names_option("--columns", "The columns of a CSV file without a header line, all of them"),
        click.option(
            "--separator", help="Of a CSV file; found by itself by default, as are the next."
        ),
        click.option("--encoding", help="Of a CSV file, such as latin-1."),
        click.option("--quote", help="Of a CSV file: what stands around a field."),
        click.option("--decimal", help="Of a CSV file: the decimal mark of its numbers."),
        click.option("--thousands", help="Of a CSV file: the mark between thousands."),
        click.option(
            "--layout",
            metavar="PLACES",
            help="Of a file of fixed width: the first and last character of each column, such as "
            "age=1-3,sex=4.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def several_option(name: str, words: str) -> Callable[[Command], Command]:
    """An option with several paths, as a shell makes of ``--counts *.counts``.

    What goes on after the first are arguments to the parser; they are refused without the option.
    """

    def taken(
        context: click.Context, parameter: click.Parameter, given: tuple[Path, ...]
    ) -> tuple[Path, ...]:
        more: tuple[Path, ...] = context.params.pop(f"more_{name}", ())
        if more and not given:
            context.fail(f"Got unexpected extra argument ({more[0]})")
        return (*given, *more)

    def added(command: Command) -> Command:
        option = click.option(
            f"--{name}", type=PATH, multiple=True, callback=taken, help=words, metavar="PATH..."
        )
        more = click.argument(
            f"more_{name}", type=PATH, nargs=-1, is_eager=True, metavar="", required=False
        )
        return more(option(command))

    return added


database_option = click.option(
    *("--table", "database_table"),
    metavar="NAME",
    help="The table of a database or the sheet of a workbook, if it has several.",
)


weight_option = click.option(
    "--weight",
    metavar="NAME",
    help="The sampling weight of each record of a sample: how many people it stands for.",
)


def subject_options(command: Command) -> Command:
    """The options that say which columns of a table have which role, and how it is written."""
    options = (
        click.option(
            *("--study", "-s"),
            type=PATH,
            help="The study file: roles and policy. A release has its own in release.json.",
        ),
        names_option("--quasi-identifiers", "Without a study: what others may know"),
        names_option("--sensitive", "Without a study: what nobody shall learn of anybody"),
        names_option(
            "--person",
            "Without a study: what tells whose each record is, where persons have several",
        ),
        click.option(
            "--missing",
            type=click.Choice(["gap", "category", "drop", "error"]),
            help="Records without a value: kept, nothing to models where it is sensitive (the "
            "default), or kept as a value of its own, left out, refused.",
        ),
        click.option(
            "--missing-values",
            multiple=True,
            metavar="TEXT",
            help="A text that stands for a missing value; repeatable. By default ?, NA and the "
            "like where they occur.",
        ),
        database_option,
        format_options,
    )
    for option in reversed(options):
        command = option(command)
    return command


ARGUMENTS = {
    "hierarchy": "a file, or a study and one of its attributes",
    "name": "what the two files of the keys are called",
    "part": "the table of one site",
    "release": "a directory that run wrote, or its release.json",
    "study": "the file that names the original table, the roles of its columns and the policy",
    "table": "a file, a folder or a database with the records",
}
"""What is missing where its help does not say it: arguments have none."""


def explained(error: click.UsageError) -> str:
    """The message of an error; where click made it, with a purpose and an example."""
    message, context = error.format_message(), error.ctx
    if context is None or error.cmd is None:  # raised by a command, in sentences of its own
        return message
    if isinstance(error, click.MissingParameter):
        return message.rstrip(".") + _purpose(error.param) + _example(context, error.param)
    if isinstance(error, click.NoSuchOption) and error.option_name in ("-v", "-vv", "--verbose"):
        example = "anonymizer --verbose run study.toml --output release"
        return f"{message} It goes before the command: {example}"
    if type(error) is click.UsageError:
        pieces = " ".join(filter(None, context.command.collect_usage_pieces(context)))
        return f"{message}; usage: {context.command_path} {pieces}{_example(context)}"
    return message


def _purpose(parameter: click.Parameter | None) -> str:
    """What a parameter is for, after a colon."""
    name, said = getattr(parameter, "name", ""), getattr(parameter, "help", None) or ""
    words = ARGUMENTS.get(name) or said[:1].lower() + said[1:].rstrip(".")
    return words and f": {words}"


def _example(context: click.Context, parameter: click.Parameter | None = None) -> str:
    """An example of a command's help, one with a parameter if there is one."""
    helps = [each.command.epilog or "" for each in (context, context.parent) if each]
    found = re.findall(rf"{re.escape(context.command_path)} .*", "\n".join(helps))
    options = set(parameter.opts if parameter else ())
    found.sort(key=lambda example: not options & {*example.split()})
    return f"; for example, {found[0]}" if found else ""
