"""What commands share: options, arguments, and how a result is shown."""

import logging
from collections.abc import Callable, Iterable, Sequence
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from anonymizer.errors import printable
from anonymizer.feedback.document import Block
from anonymizer.feedback.words import names_listed
from anonymizer.report.printing import print_json, print_report, printing

if TYPE_CHECKING:
    from anonymizer.risk.file import Subject

LOG = logging.getLogger(__name__)

Command = TypeVar("Command", bound=Callable[..., object])


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
        from anonymizer.hierarchy import showing_values

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
    """Names of columns, repeated or with commas; None where there are none."""
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
    "--table", "database_table", metavar="NAME", help="The table of a database, if it has several."
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


def subject_of(
    table: Path,
    study: Path | None,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    missing: Any,
    require: Sequence[str] = (),
    database_table: str | None = None,
    **form: Any,
) -> "Subject":
    """What a command measures: a table with roles of a study, of its manifest, or by name."""
    from anonymizer.release.description import required_model
    from anonymizer.release.manifest import is_release
    from anonymizer.release.study import Study
    from anonymizer.risk.file import Subject, table_in

    by_name = quasi_identifiers or sensitive or missing or database_table or any(form.values())
    if study is not None:
        if by_name or require:
            raise click.UsageError("--study gives roles, policy and format; leave out the others")
        return Subject.of_study(Study(study), table)
    models = [required_model(each) for each in require]
    if quasi_identifiers is None:
        if by_name or not is_release(table_in(table)):
            raise click.UsageError(
                "name the columns that others may know, as in --quasi-identifiers age,sex "
                "--sensitive diagnosis; or give a study, or a release"
            )
        return Subject.of_release(table).under(models)
    how = {name: value or None for name, value in form.items()} | {"table": database_table}
    return Subject.of_names(
        table, quasi_identifiers, sensitive or (), models, missing or "gap", **how
    )
