"""What commands share: options, arguments, and how a result is shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from anonymizer.report.printing import print_json, printing


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


def show(done: str, as_json: bool, found: Any, text: Callable[[Any], None]) -> None:
    """Print a result as JSON or as text; ``done``: what holds even where printing fails."""
    with printing(done):
        if as_json:
            print_json(found.to_dict())
        else:
            text(found)
