"""Commands that draw and check hierarchies; ``hierarchy_files`` has those that write them."""

from functools import partial
from pathlib import Path

import click

from anonymizer.cli.hierarchy_files import build, convert
from anonymizer.cli.hierarchy_source import (
    HierarchySource,
    column_option,
    hierarchy_argument,
    table_option,
)
from anonymizer.cli.options import PATH, show, show_values_option
from anonymizer.report.printing import print_report, printing

json_option = click.option("--json", "as_json", is_flag=True, help="Print the check as JSON.")


@click.group(
    epilog="\b\nExamples:\n"
    "  anonymizer hierarchy show education.csv\n"
    "  anonymizer hierarchy show study.toml age --levels\n"
    "  anonymizer hierarchy check education.csv table.csv\n"
    "  anonymizer hierarchy build --ranges 8,4,2 --table table.csv --column age -o age.toml\n"
    "  anonymizer hierarchy convert age.toml --table table.csv -o age.csv"
)
def hierarchy() -> None:
    """Draw, check, build and convert generalization hierarchies."""


@hierarchy.command(name="show", short_help="Draw the tree of a HIERARCHY.")
@hierarchy_argument
@click.argument("attribute", required=False)
@table_option
@column_option
@click.option("--levels", is_flag=True, help="List the groups of each level instead of the tree.")
@click.option("--all", "everything", is_flag=True, help="Draw every group of a large tree.")
@show_values_option
def show_hierarchy(
    hierarchy: Path,
    attribute: str | None,
    table: Path | None,
    column: str | None,
    levels: bool,
    everything: bool,
) -> None:
    """Draw the tree of HIERARCHY: a file, or a study and one ATTRIBUTE of it.

    With a table each group has its records, and a group or a value of fewer than five is not
    named. A rule such as widths has no values of its own, and needs one; that of a study is its
    own.
    """
    from anonymizer.hierarchy.authoring import check_hierarchy, records_of
    from anonymizer.report.hierarchy import levels_report, tree_report

    found = HierarchySource.of(hierarchy, attribute, table, column)
    values, sizes = found.values() or (None, None)
    if values is None or sizes is None:
        taxonomy = found.hierarchy.over(found.name, found.examples())
        uses, records = None, None
    else:
        taxonomy = found.hierarchy.over(found.name, values, sizes)
        records = records_of(taxonomy, values, sizes)
        uses = check_hierarchy(found.hierarchy, found.name, values, sizes).levels
    with printing("the hierarchy was read"):
        if levels:
            print_report(levels_report(found.hierarchy, taxonomy, uses))
        else:
            listed = records is not None or bool(found.hierarchy.listed)
            print_report(
                tree_report(
                    found.hierarchy, taxonomy, records, everything=everything, values=listed
                )
            )


@hierarchy.command(name="check", short_help="Check whether a HIERARCHY fits a TABLE.")
@hierarchy_argument
@click.argument("table", type=PATH)
@column_option
@show_values_option
@json_option
def check(hierarchy: Path, table: Path, column: str | None, as_json: bool) -> int:
    """Check what of a TABLE a HIERARCHY lacks, and what its levels gain.

    HIERARCHY is a file, or a study of which --column names the attribute. Exits with 1 when values
    lack.
    """
    from anonymizer.hierarchy.authoring import check_hierarchy
    from anonymizer.report.hierarchy import hierarchy_report

    found = HierarchySource.of(hierarchy, column, table, column)
    values, sizes = found.values() or ((), ())
    result = check_hierarchy(found.hierarchy, found.name, values, sizes)
    report = partial(hierarchy_report, source=str(hierarchy))
    show("the hierarchy was checked", as_json, result, report)
    return 0 if result.complete else 1


hierarchy.add_command(build)
hierarchy.add_command(convert)
