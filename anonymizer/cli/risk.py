"""Commands that measure what an attacker learns from a table, and that attack releases."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from anonymizer.cli.options import (
    PATH,
    database_option,
    format_options,
    names_option,
    plot_option,
    redraw_option,
    show,
    show_values_option,
    subject_of,
    subject_options,
    table_argument,
    warn,
)
from anonymizer.feedback.words import names_listed
from anonymizer.report.printing import print_json, print_report, printing

LOSSES = "anonymizer.report.plots.disclosure.draw_losses"


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer risk table.csv --quasi-identifiers age,sex --sensitive diagnosis\n"
    "  anonymizer risk table.csv --study study.toml --by attribute\n"
    "  anonymizer risk table.csv --study study.toml --by record --output risks.csv"
)
@table_argument
@subject_options
@click.option(
    "--by",
    type=click.Choice(["record", "class", "attribute"]),
    help="The risk of each; that of records goes to a file only.",
)
@click.option("--output", "-o", type=PATH, help="Details: .csv or .parquet.")
@click.option("--force", is_flag=True, help="Replace the file that already lies there.")
@click.option(
    "--size",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Of the subsets of attributes, at most.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the measures as JSON.")
def risk(
    table: Path,
    by: str | None,
    output: Path | None,
    force: bool,
    size: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure what an attacker who knows the quasi-identifiers learns from a TABLE as it stands.

    Nothing is recoded: TABLE may be a release or not. Metrics are of re-identification and of
    every sensitive attribute. Columns are named, or a study says which is what; of a release, a
    directory or the table in it, release.json does. Columns without a role are warned of where they
    identify.
    """
    from anonymizer.feedback.progress import progress
    from anonymizer.report.risk import risk_report
    from anonymizer.risk.file import assess_file, details_at

    if by == "record" and output is None:
        raise click.UsageError("--by record writes to a file only: name it with --output")
    if output is not None and by not in ("record", "class"):
        raise click.UsageError("--output is for --by record or --by class")
    subject = subject_of(table, **options)
    write = output and details_at(output, [subject.path, *subject.originals], force=force)
    with progress() as watch:
        sizes = size if by == "attribute" else None
        details: Any = by if write else None
        found = assess_file(subject, sizes, watch, details)
        if write and found.details is not None:
            write(found.details)
    classes = by == "class"
    warn(found.warnings)
    with printing("the risk was measured"):
        if as_json:
            listed = found.assessment.by_class().reset_index() if classes else None
            by_class = {} if listed is None else {"by_class": listed.to_dict("records")}
            print_json(found.to_dict() | by_class)
        else:
            print_report(risk_report(found, output, classes=classes))


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer audit release --against people.csv --study study.toml\n"
    "  anonymizer audit release-2024 release-2025 --against people.csv\n"
    "  anonymizer audit a b --against 2024.csv --against 2025.csv --identifier patient"
)
@click.argument("release", type=PATH, nargs=-1, required=True)
@click.option(
    "--against",
    "-a",
    type=PATH,
    multiple=True,
    required=True,
    help="The original table; or that of each release, in their order.",
)
@click.option("--table", metavar="NAME", help="That of originals in a database, if it has several.")
@click.option("--identifier", help="The column that says in several originals who is who.")
@click.option(
    "--study",
    "-s",
    type=PATH,
    multiple=True,
    help="The study of all releases, or of each in their order; by default what release.json says.",
)
@click.option(
    "--similarity",
    multiple=True,
    metavar="ATTRIBUTE=HIERARCHY",
    help="A hierarchy of a sensitive attribute, whose groups are alike; repeatable.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Worlds that the minimality attack draws at the most.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of these draws."
)
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the audit as JSON.")
def audit(
    release: tuple[Path, ...],
    against: tuple[Path, ...],
    study: tuple[Path, ...],
    similarity: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Attack RELEASEs, directories that run wrote, with the original table they were made of.

    Linkage, homogeneity, skewness, similarity, Bayes-optimal inference and, with the study,
    minimality on each. Of several releases also what their combination discloses about the people
    in them. Exits with 1 when the policy does not hold in a release or in the combination, cannot
    be proven to, or an attacker learns more than it allows; with 3 when it holds, and an attack
    could not be run.
    """
    from anonymizer.feedback.progress import progress
    from anonymizer.hierarchy import Hierarchy
    from anonymizer.release.study import Study
    from anonymizer.report.risk import audit_report
    from anonymizer.risk.audit import audit_files

    for given in similarity:
        if not all(given.partition("=")):
            raise click.UsageError(f"--similarity {given!r} is not ATTRIBUTE=HIERARCHY")
    alike = dict(given.split("=", 1) for given in similarity)
    with progress() as watch:
        found = audit_files(
            release,
            against,
            studies=[Study(path) for path in study],
            hierarchies={name: Hierarchy.of(path) for name, path in alike.items()},
            watch=watch,
            **options,
        )
    for each in found.releases:
        warn(each.warnings)
    show("the releases were audited", as_json, found, audit_report)
    if not found.satisfied:
        return 1
    return UNEXAMINED if found.unexamined or found.repeated else 0


UNEXAMINED = 3
"""The exit code where all that was examined is well, and not everything was."""


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
@redraw_option
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
    from anonymizer.feedback.progress import progress
    from anonymizer.report.printing import picture_at
    from anonymizer.report.risk import queries_report
    from anonymizer.risk.queries import query_losses_of

    if not queries and not group_by:
        raise click.UsageError('name a query: --query "age > 40", or --group-by sex')
    draw = plot and picture_at(plot, LOSSES, force=force)
    groups = [tuple(names_listed(each)) for each in group_by]
    how = {name: value or None for name, value in form.items()} | {"table": database_table}
    with progress() as watch:
        found = query_losses_of(table, queries, groups, about or (), missing, watch, **how)
    if draw:
        draw(found)
    show("the losses were measured", as_json, found, partial(queries_report, picture=plot))
