"""The command that opens the explorer."""

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from anonymizer.errors import InputError, installing
from anonymizer.feedback.words import names_listed

PATH = click.Path(path_type=Path)

STUDY = "study.toml"
"""What the study in a directory is called, as init writes it."""

ELSEWHERE = "NICEGUI_REDIS_URL"
"""The environment variable that lets the framework keep something at another place."""

MISSING = f"the explorer needs more packages; {installing('explore')} installs them"


def _listed(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Names of columns, repeated or with commas; None where there are none."""
    return tuple(name for each in given for name in names_listed(each)) or None


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer explore study.toml\n"
    "  anonymizer explore people.csv\n"
    "  anonymizer explore adult.data --columns age,workclass,weight,education\n"
    "  anonymizer explore --demo"
)
@click.argument("study", type=PATH, required=False)
@click.option("--demo", is_flag=True, help="Explore the bundled census of invented people.")
@click.option(
    "--columns",
    multiple=True,
    callback=_listed,
    metavar="NAME",
    help="The columns of a CSV file without a header line, all of them; repeat it, or separate "
    'names by commas (one with a comma in ""). They can be named on the page as well.',
)
@click.option(
    "--aggregate-only", is_flag=True, help="Show figures alone: no label of a class or a value."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="By default any that is free."
)
@click.option("--browser/--no-browser", default=True, help="Whether the page is opened by itself.")
def explore(
    study: Path | None,
    demo: bool,
    columns: tuple[str, ...] | None,
    aggregate_only: bool,
    port: int,
    browser: bool,
) -> None:
    """Open a STUDY, or a raw table, as a page on which roles and policy are decided.

    The page is on this machine alone, and its link has a token. Nothing is sent anywhere. Every
    step is kept next to the study, in STUDY.session, and the same command goes on from there. The
    study file itself is written when it is saved on the page, and no earlier.

    A table, such as people.csv, gets a study first, as init proposes it.
    """
    if demo == (study is not None):
        raise click.UsageError("Name a study or a table, or give --demo; one of the two.")
    _require_installed()
    os.environ.pop(ELSEWHERE, None)
    from anonymizer.explorer.page.explorer import Explorer
    from anonymizer.explorer.page.server import serve
    from anonymizer.explorer.session.session import opened

    def ready(link: str) -> None:
        click.echo(f"The explorer is at {link}")
        click.echo("Ctrl-C ends it; the same command goes on from where you were.")
        if browser:
            webbrowser.open(door.write(link))

    home = Path.cwd() if demo else None
    with _study(study, columns) as path, opened(path, home) as session:
        explorer, door = Explorer(session, aggregate_only), Door(session.folder)
        try:
            serve(explorer, port, ready)
        finally:
            door.remove()
            idle = explorer.close()
        saved = session.saved
    click.echo(_farewell(path, demo, saved))
    if not idle:
        _leave()


@dataclass(frozen=True)
class Door:
    """A page that leads to the link, in a file that its owner alone can read.

    A browser gets what it opens on its command line, which all users of a machine can see; with
    the link itself there, they could open the page as well.
    """

    folder: Path

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / "open.html"

    def write(self, link: str) -> str:
        """Write the page; give its address."""
        self.remove()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(DOOR.format(link=link))
        return self.path.resolve().as_uri()

    def remove(self) -> None:
        """Remove it."""
        self.path.unlink(missing_ok=True)


DOOR = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Explorer</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={link}">
<p>Opening <a href="{link}">the explorer</a>.</p></html>
"""


def _farewell(path: Path, demo: bool, saved: bool) -> str:
    """What becomes of what was decided."""
    if demo:
        return "The demonstration has ended."
    more = "" if saved else f" {path.name} has the study as it was saved last."
    return f"The explorer has ended. Every step is kept: the same command goes on from here.{more}"


def _leave() -> None:
    """End the process though a thread is at work: what it writes appears whole or not at all."""
    sys.stdout.flush()
    os._exit(0)


def _require_installed() -> None:
    from importlib.util import find_spec

    if not all(find_spec(name) for name in ("nicegui", "tomlkit")):
        raise InputError(MISSING)


@contextmanager
def _study(given: Path | None, columns: tuple[str, ...] | None) -> Iterator[Path]:
    """The study to open: the one given, that of a table, or the demonstration."""
    is_table = given is not None and given.suffix != ".toml" and not (given / STUDY).is_file()
    if columns is not None and not is_table:
        raise click.UsageError("--columns names the columns of a table; a study has names already.")
    if given is None:
        with TemporaryDirectory(prefix="anonymizer-demo-") as directory:
            yield _demo_in(Path(directory))
    elif (given / STUDY).is_file():
        yield given / STUDY
    elif given.suffix == ".toml":
        yield given
    else:
        yield _drafted(given, columns)


def _demo_in(directory: Path) -> Path:
    """The study of the demonstration in a directory of its own, which ends with it."""
    from anonymizer.tables.datasets import shipped

    text = shipped("data", "demo.toml").read_text(encoding="utf-8")
    census, hierarchies = shipped("data", "census.csv.gz"), shipped("hierarchies", "adult")
    text = text.replace('"census.csv.gz"', f'"{census.as_posix()}"')
    text = text.replace('"../hierarchies/adult/', f'"{hierarchies.as_posix()}/')
    path = directory / "demo.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _drafted(table: Path, columns: tuple[str, ...] | None) -> Path:
    """The study of a table: the one that lies there already, or a new one as init proposes it."""
    from anonymizer.feedback.progress import progress
    from anonymizer.release.drafting import DraftOptions
    from anonymizer.release.place import directory_for, read_raw, relative, written
    from anonymizer.release.study import draft

    directory = directory_for(table)
    path = directory / STUDY
    if path.exists():
        if columns is not None:
            raise InputError(
                f"{path} is there already, with names of its columns; leave out --columns to go on "
                "with it, or move it away"
            )
        click.echo(f"Going on with {path}.")
        return path
    with progress() as watch:
        watch(f"reading {table.name}", 0, None)
        with read_raw(table, None, columns, {}) as (raw, form):
            found = draft(
                raw, DraftOptions(), {"path": relative(table, directory), **written(form)}
            )
    found.write(directory)
    click.echo(f"A first study is in {path}.")
    return path
