"""The command that gives the recoding of a release to other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonymizer.cli.options import PATH
from anonymizer.report.printing import printing

if TYPE_CHECKING:
    from anonymizer.release.export import ExportedRelease


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer export release --sql -o release.sql\n"
    "  anonymizer export release --sql --select\n"
    "  anonymizer export release --csv -o mapping\n"
    "  anonymizer export release --arx --values table.csv -o hierarchies"
)
@click.argument("release", type=PATH)
@click.option(
    "--sql",
    "forms",
    flag_value="sql",
    multiple=True,
    help="Standard SQL: CASE and a join, one file.",
)
@click.option(
    "--csv", "forms", flag_value="csv", multiple=True, help="Mapping files to read, in a directory."
)
@click.option(
    "--arx", "forms", flag_value="arx", multiple=True, help="Hierarchies of ARX, in a directory."
)
@click.option(
    *("--output", "-o"), type=PATH, help="The file or directory written; --sql without it prints."
)
@click.option("--select", is_flag=True, help="With --sql: the query alone, for a view or dbt.")
@click.option("--table", help="With --sql: the raw table's name.  [default: people]")
@click.option("--into", help="With --sql: the released table's name.  [default: released]")
@click.option("--values", type=PATH, help="With --arx: a table whose values are listed.")
@click.option(
    *("--study", "-s"),
    type=PATH,
    help="The study of the release; needed where its values are too many for the manifest.",
)
@click.option("--force", is_flag=True, help="Replace the files that are there.")
def export(
    release: Path,
    forms: tuple[str, ...],
    output: Path | None,
    select: bool,
    table: str | None,
    into: str | None,
    values: Path | None,
    study: Path | None,
    force: bool,
) -> None:
    """Write the recoding of a RELEASE for other tools: SQL, mapping files or hierarchies of ARX.

    The SQL makes the very same release in a database. Needs the directory of the release alone.
    Recodings that draw at random are refused.
    """
    from anonymizer.release.export import arx_files, mapping_files, source_of, write_files

    form = _form(forms)
    _require_fitting(form, select, table, into, values)
    if output is None and form != "sql":
        raise click.UsageError(f"--{form} writes a directory: name it, as in --output {form}")
    source = source_of(release, study)
    if form == "sql":
        text = _sql(source, select, table or "people", into)
        if output is None:
            with printing("the query was made"):
                click.echo(text.encode(), nl=False)  # UTF-8, whatever a terminal can show
            return
        _write_sql(output, text, force)
    elif output:
        files = mapping_files(source) if form == "csv" else arx_files(source, values)
        write_files(output, files, force=force, private=values is not None)
    with printing(f"{output} was written"):
        click.echo(f"Written: {output}")
    if values is not None:
        click.echo(f"{output} lists values of {values}: it is as confidential", err=True)


def _form(forms: tuple[str, ...]) -> str:
    if len({*forms}) != 1:
        raise click.UsageError("name one form of the export: --sql, --csv or --arx")
    return forms[0]


def _require_fitting(
    form: str, select: bool, table: str | None, into: str | None, values: Path | None
) -> None:
    """Require options that the form has."""
    given = {"--select": select, "--table": table, "--into": into}
    strange = [option for option, value in given.items() if value and form != "sql"]
    strange += ["--values"] if values is not None and form != "arx" else []
    if strange:
        own = "arx" if strange[0] == "--values" else "sql"
        raise click.UsageError(f"{strange[0]} goes with --{own}, not with --{form}")
    if select and into:
        raise click.UsageError("--select writes a query, which makes no table: leave out --into")


def _sql(source: "ExportedRelease", select: bool, table: str, into: str | None) -> str:
    from anonymizer.release.sql import select_of, sql_of

    if select:
        return select_of(source, table) + "\n"
    return sql_of(source, table, into or "released")


def _write_sql(output: Path, text: str, force: bool) -> None:
    from anonymizer.release.output import require_place, write_file

    require_place(output, "cannot write", force=force)
    write_file(output, lambda place: _fill(place, text), force=force)


def _fill(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")
