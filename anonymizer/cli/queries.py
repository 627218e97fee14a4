"""The command that measures what queries about the people of a table cost their privacy."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from anonymizer.cli.options import (
    database_option,
    format_options,
    names_listed,
    names_option,
    plot_option,
    show,
    table_argument,
)


@click.command(
    name="query-loss",
    epilog="\b\nExamples:\n"
    '  anonymizer query-loss table.csv --query "age > 40" --group-by sex\n'
    "  anonymizer query-loss table.csv --query \"age between 30 and 39 and sex = 'Male'\"\n"
    "  anonymizer query-loss table.csv --group-by age,sex --about diagnosis --plot losses.svg",
)
@table_argument
@click.option(
    *("--query", "-q", "queries"),
    multiple=True,
    metavar="CONDITION",
    help="A question about a person, such as \"age > 40 and sex = 'Female'\"; repeatable. "
    "Columns are compared by = != < <= > >=, in (...), between ... and ..., is missing; conditions "
    "are joined by and, or, not and parentheses; texts stand in quotes.",
)
@click.option(
    "--group-by",
    multiple=True,
    metavar="NAME",
    help="A column whose value is the answer, or several with commas (their combination is); "
    "repeatable: each is a query of its own.",
)
@names_option("--about", "What is uncertain about a person; by default which record is theirs")
@click.option(
    "--missing",
    type=click.Choice(["category", "drop", "error"]),
    default="category",
    show_default=True,
    help="Records without a value: the answer unknown, left out, refused.",
)
@click.option(
    "--missing-values",
    multiple=True,
    metavar="TEXT",
    help="A text that stands for a missing value; repeatable. By default ?, NA and the like.",
)
@database_option
@format_options
@plot_option
@click.option("--force", is_flag=True, help="Replace the picture that already lies there.")
@click.option("--json", "as_json", is_flag=True, help="Print the losses as JSON.")
def query_loss(
    table: Path,
    queries: tuple[str, ...],
    group_by: tuple[str, ...],
    about: tuple[str, ...] | None,
    missing: Any,
    database_table: str | None,
    plot: Path | None,
    force: bool,
    as_json: bool,
    **form: Any,
) -> None:
    """Measure the privacy that answers to queries about a person of a TABLE cost, in bits.

    Each query is measured, and all of them together: the average loss, its standard deviation, the
    largest and the smallest loss, and how many records those answers leave. Which records, or which
    values, is not shown. Nothing is written but the picture.
    """
    from anonymizer.report.printing import picture_at
    from anonymizer.report.progress import progress
    from anonymizer.report.queries import print_queries
    from anonymizer.risk.queries import query_losses_of

    if not queries and not group_by:
        raise click.UsageError('name a query: --query "age > 40", or --group-by sex')
    draw = plot and picture_at(plot, "anonymizer.report.plots.queries", force=force)
    groups = [tuple(names_listed(each)) for each in group_by]
    how = {name: value or None for name, value in form.items()} | {"table": database_table}
    with progress() as watch:
        found = query_losses_of(table, queries, groups, about or (), missing, watch, **how)
    if draw:
        draw(found)
    show("the losses were measured", as_json, found, partial(print_queries, picture=plot))
