"""The command that measures what an attacker learns from a table."""

from pathlib import Path

import click

from anonymizer.cli.options import study_option, table_argument
from anonymizer.report.printing import print_json, printing

__all__ = ["risk"]


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer risk table.csv --study study.toml --by attribute\n"
    "  anonymizer risk table.csv --study study.toml --by record --output risks.csv"
)
@table_argument
@study_option
@click.option(
    "--by",
    type=click.Choice(["record", "class", "attribute"]),
    help="The risk of each; that of records goes to a file only.",
)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Details: .csv or .parquet.")
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
    study: Path,
    by: str | None,
    output: Path | None,
    force: bool,
    size: int,
    as_json: bool,
) -> None:
    """Measure what an attacker who knows the quasi-identifiers learns from a TABLE as it stands.

    Nothing is recoded: TABLE may be a release or not. Metrics are of re-identification and of
    every sensitive attribute of the study. Columns without a role are warned of where they
    identify.
    """
    from anonymizer.release.study import Study
    from anonymizer.report.progress import progress
    from anonymizer.report.risk import print_risk
    from anonymizer.risk.file import assess_file, classes_named, details_at, records_numbered

    if by == "record" and output is None:
        raise click.UsageError("--by record writes to a file only: name it with --output")
    if output is not None and by not in ("record", "class"):
        raise click.UsageError("--output is for --by record or --by class")
    asked = Study(study)
    write = output and details_at(output, [table, asked.data_path], force=force)
    with progress() as watch:
        found = assess_file(asked, table, size if by == "attribute" else None, watch)
        if write:
            watch("writing the details", 0, None)
            detailed = records_numbered if by == "record" else classes_named
            write(detailed(found.assessment))
    with printing("the risk was measured"):
        if as_json:
            content = found.to_dict()
            if by == "class":
                classes = found.assessment.by_class().reset_index()
                content["by_class"] = classes.to_dict("records")
            print_json(content)
        else:
            print_risk(found, output, classes=by == "class")
