"""Commands that author studies and hierarchies: how they are called.

What carries them out is loaded when one runs.
"""

from collections.abc import Sequence
from typing import Any

import click

from anonymizer.cli.options import (
    PATH,
    DirectoryType,
    carried_out,
    database_option,
    format_options,
    jobs_option,
    names_option,
    plot_option,
    redraw_option,
    show_values_option,
    study_argument,
    table_argument,
)

MINUTE = 60.0
"""What the command spends: enough but for sensitive attributes of thousands of values."""


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer init people.csv\n"
    "  anonymizer init people.csv -o study --sensitive diagnosis --k 10\n"
    "  anonymizer init people.csv --preset safe-harbor --census zcta.csv\n"
    "  anonymizer init adult.data --columns age,workclass,weight,education"
)
@table_argument
@click.option(
    "--output",
    "-o",
    type=DirectoryType(),
    help="Where the study goes; by default a directory named after the table.",
)
@click.option("--force", is_flag=True, help="Replace the study and hierarchies that lie there.")
@click.option("--yes", "-y", is_flag=True, help="Ask nothing, and take what is proposed.")
@names_option("--sensitive", "What nobody shall learn of anybody")
@names_option("--quasi-identifiers", "What others may know")
@click.option(
    "--max-quasi-identifiers",
    type=click.IntRange(min=1),
    help="Quasi-identifiers at the most; others whose names say nothing are released as they are.",
)
@names_option("--identifiers", "What the release leaves out")
@names_option("--insensitive", "What is released as it is; Q* is all that begins with Q")
@names_option("--person", "What tells whose each record is where people have several; - is none")
@click.option(
    "--preset",
    type=click.Choice(["safe-harbor", "ema", "health-canada", "cms", "statistics-office"]),
    multiple=True,
    help="The Safe Harbor rule of HIPAA, or a bound on classes that a guidance names; `anonymizer "
    "models --presets` lists these. Repeatable.",
)
@click.option(
    "--census",
    type=PATH,
    help="With safe-harbor, a CSV file of zip codes and the people who live there; without it "
    "zip codes are left out.",
)
@database_option
@format_options
@click.option(
    "--k",
    type=click.IntRange(min=2),
    help="Records, or persons, of a class at least; by default 2 to 10, by how many there are.",
)
@click.option("--details", is_flag=True, help="Show the figures of each column, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the profile as JSON.")
@carried_out("anonymizer.cli.init")
def init() -> None:
    """Propose a study for a raw TABLE: roles, hierarchies and a first policy, with reasons.

    Writes study.toml and, where they are long, hierarchies next to it: files to edit, which run as
    they stand. At a terminal it asks for what a program cannot know; elsewhere it takes what it
    proposes.
    """


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer advise study.toml\n"
    "  anonymizer advise study.toml --model entropy-l-diversity --plot frontier.svg"
)
@study_argument
@click.option(
    "--model",
    type=click.Choice(["t-closeness", "entropy-l-diversity"]),
    help="What is swept; by default the study's own model, else t-closeness (kl).",
)
@click.option(
    "--time-limit",
    type=float,
    default=MINUTE,
    show_default=True,
    help="Seconds after which what is known is shown.",
)
@plot_option
@redraw_option
@jobs_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the advice as JSON.")
@carried_out("anonymizer.cli.advise")
def advise() -> None:
    """Say what the policy of a STUDY costs and protects, and what to change.

    The table is counted once. Shown are how many sensitive values can be guessed, the frontier of
    t or l against what is kept with a suggested point, and, where the policy is out of reach or the
    result drastic, what stands in the way and what each change would buy. Nothing is released.

    Exits with 1 when the policy cannot be satisfied.
    """


hierarchy_argument = click.argument("hierarchy", type=PATH)
table_option = click.option("--table", "-t", type=PATH, help="A table with values.")
column_option = click.option("--column", "-c", help="Its column; by default the file's name.")
output_option = click.option("--output", "-o", type=PATH, help="The file to be written.")
force_option = click.option("--force", is_flag=True, help="Replace the file that lies there.")
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
@carried_out("anonymizer.cli.hierarchies")
def show_hierarchy() -> None:
    """Draw the tree of HIERARCHY: a file, or a study and one ATTRIBUTE of it.

    With a table each group has its records, and a group or a value of fewer than five is not
    named. A rule such as widths has no values of its own, and needs one; that of a study is its
    own.
    """


@hierarchy.command(name="check", short_help="Check whether a HIERARCHY fits a TABLE.")
@hierarchy_argument
@click.argument("table", type=PATH)
@column_option
@show_values_option
@json_option
@carried_out("anonymizer.cli.hierarchies")
def check() -> None:
    """Check what of a TABLE a HIERARCHY lacks, and what its levels gain.

    HIERARCHY is a file, or a study of which --column names the attribute. Exits with 1 when values
    lack.
    """


def _numbers(context: click.Context, parameter: click.Parameter, given: str | None) -> Any:
    """Numbers of an option, separated by commas."""
    from anonymizer.tables.values import number_of  # loads pandas

    numbers = [number_of(part) for part in given.split(",")] if given is not None else None
    if numbers is not None and None in numbers:
        raise click.BadParameter("it must be numbers, such as 5,10", context, parameter)
    whole = [int(each) if each == int(each) else each for each in numbers or () if each is not None]
    return None if numbers is None else whole


def _texts(context: click.Context, parameter: click.Parameter, given: str | None) -> Any:
    return None if given is None else [part.strip() for part in given.split(",")]


def _levels(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> Any:
    return [_numbers(context, parameter, level) for level in given] or None


@hierarchy.command(name="build", short_help="Write a rule, as a file or a line of a study.")
@click.option("--widths", callback=_numbers, help="Widths of ranges, such as 5,10.")
@click.option("--origin", callback=_numbers, help="Where ranges of a width begin.")
@click.option(
    "--cuts", multiple=True, callback=_levels, help="Cut points; repeated for each level."
)
@click.option("--ranges", callback=_numbers, help="Ranges per level, from a table, such as 8,4,2.")
@click.option("--equal", is_flag=True, help="Ranges of equal widths, not of equally many records.")
@click.option("--prefixes", callback=_numbers, help="First characters that are kept, such as 4,3.")
@click.option("--suffixes", callback=_numbers, help="Last characters that are kept.")
@click.option("--redact", callback=_numbers, help="Characters that are masked, such as 1,2.")
@click.option("--side", help="Where --redact masks: left or right.")
@click.option("--mask", help="What stands for a masked character.")
@click.option("--calendar", callback=_texts, help="Units of dates, such as month,year.")
@click.option("--order", callback=_texts, help="Categories from one end to the other.")
@click.option("--keep", callback=_numbers, help="Most frequent values kept, from a table: 20,5.")
@click.option("--other", help="What --keep calls all others.")
@table_option
@column_option
@output_option
@force_option
@carried_out("anonymizer.cli.hierarchies")
def build() -> None:
    """Write a rule: ranges, masked codes, a calendar, an order, or the most frequent values.

    --ranges and --keep read a column of a table: the first cut it at round numbers, the second
    keeps its most frequent values, none that fewer than five records have. Without --output the
    rule is printed as a line of a study.
    """


@hierarchy.command(name="convert", short_help="Write a HIERARCHY as a rule, or as a table.")
@hierarchy_argument
@table_option
@column_option
@click.option("--output", "-o", type=PATH, required=True, help="A .toml rule, or a .csv table.")
@force_option
@carried_out("anonymizer.cli.hierarchies")
def convert() -> None:
    """Write a HIERARCHY in another form: a rule as a table that ARX reads, or a table as a rule.

    A table lists every value. Those of a rule come from a column of a table, rare ones too: such a
    file must not be published.
    """


@click.command(epilog="Example: anonymizer lattice study.toml --plot lattice.svg")
@study_argument
@plot_option
@redraw_option
@jobs_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the lattice as JSON.")
@carried_out("anonymizer.cli.utility")
def lattice() -> None:
    """Show the lattice of levels of a STUDY: which nodes satisfy the policy, and which is best.

    The study's table is searched, and nothing is released. Listed are the frontier, the feasible
    nodes without a feasible specialization, and the optimum. Beyond 512 nodes JSON and picture
    have these and paths between them, the bottom and the top.
    """
