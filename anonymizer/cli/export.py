"""The command that gives the recoding of a release to other tools."""

from pathlib import Path

import click

from anonymizer.cli.options import PATH
from anonymizer.report.printing import printing


@click.command(epilog="\b\nExample:\n  anonymizer export release --sql -o release.sql")
@click.argument("release", type=PATH)
@click.option("--sql", is_flag=True, required=True, help="Standard SQL: CASE and a join.")
@click.option("--output", "-o", type=PATH, required=True, help="The file that is written.")
@click.option("--table", default="people", show_default=True, help="The raw table's name.")
@click.option("--into", default="released", show_default=True, help="The released table's name.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
def export(release: Path, sql: bool, output: Path, table: str, into: str, force: bool) -> None:
    """Write the recoding of a RELEASE as SQL that makes the very same release in a database.

    Needs the directory of the release alone. Recodings that draw at random are refused.
    """
    from anonymizer.release.export import source_of, sql_of
    from anonymizer.release.output.atomic import require_place, write_file

    require_place(output, "cannot write", force=force)
    text = sql_of(source_of(release), table, into)
    write_file(output, lambda place: _fill(place, text), force=force)
    with printing(f"{output} was written"):
        click.echo(f"Written: {output}")


def _fill(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
