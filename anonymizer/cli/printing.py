"""What commands share: where a table and its study lie, and how results are printed."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from anonymizer.errors import InputError

__all__ = [
    "DirectoryType",
    "print_json",
    "printing",
    "show_values_option",
    "study_option",
    "table_argument",
]


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


table_argument = click.argument("table", type=click.Path(path_type=Path))
study_option = click.option(
    "--study", "-s", type=click.Path(path_type=Path), required=True, help="The study file."
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


@contextmanager
def printing(done: str) -> Iterator[None]:
    """Print what was done; a reader that went away is no error, a full disk one of printing."""
    try:
        yield
        if sys.stdout:  # None where standard output was closed before the start
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"{done}, but cannot be reported: {error.strerror}") from None


def print_json(content: object) -> None:
    """Print what JSON can hold, texts as they are."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False))
