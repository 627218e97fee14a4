"""Commands that write hierarchies: built from rules or columns, converted to tables and back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from anonymizer.cli.hierarchy_source import (
    HierarchySource,
    column_option,
    counted_values,
    hierarchy_argument,
    table_option,
)
from anonymizer.cli.options import PATH
from anonymizer.report.printing import printing

output_option = click.option("--output", "-o", type=PATH, help="The file to be written.")
force_option = click.option("--force", is_flag=True, help="Replace the file that lies there.")


def _numbers(context: click.Context, parameter: click.Parameter, given: str | None) -> Any:
    """Numbers of an option, separated by commas."""
    from anonymizer.tables.values import number_of

    numbers = [number_of(part) for part in given.split(",")] if given is not None else None
    if numbers is not None and None in numbers:
        raise click.BadParameter("it must be numbers, such as 5,10", context, parameter)
    whole = [int(each) if each == int(each) else each for each in numbers or () if each is not None]
    return None if numbers is None else whole


def _texts(context: click.Context, parameter: click.Parameter, given: str | None) -> Any:
    return None if given is None else [part.strip() for part in given.split(",")]


def _levels(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> Any:
    return [_numbers(context, parameter, level) for level in given] or None


@click.command(name="build", short_help="Write a rule, as a file or a line of a study.")
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
def build(
    table: Path | None,
    column: str | None,
    output: Path | None,
    force: bool,
    equal: bool,
    **given: Any,
) -> None:
    """Write a rule: ranges, masked codes, a calendar, an order, or the most frequent values.

    --ranges and --keep read a column of a table: the first cut it at round numbers, the second
    keeps its most frequent values, none that fewer than five records have. Without --output the
    rule is printed as a line of a study.
    """
    from anonymizer.hierarchy.authoring import inline_text, rule_text
    from anonymizer.hierarchy.reading import hierarchy_of

    rule = {name: value for name, value in given.items() if value is not None}
    rule |= {"origin": rule["origin"][0]} if "origin" in rule else {}
    from_table = [name for name in ("ranges", "keep") if name in rule]
    if from_table:
        rule = _from_table(rule, from_table[0], table, column, equal=equal)
    elif table is not None or equal:
        raise click.UsageError("--table and --equal are for --ranges and --keep")
    if not rule:
        raise click.UsageError("name a rule, such as --widths 5,10; --help lists them")
    hierarchy_of(rule)  # refuses what cannot be, in the words of rules
    if output is None:
        with printing("the rule was built"):
            click.echo(inline_text(rule))
        return
    if output.suffix.lower() != ".toml":
        raise click.UsageError(
            f"a rule is a .toml file, not {output.name}; hierarchy convert makes a table of it"
        )
    _write(output, rule_text(rule), force=force)


def _from_table(
    rule: dict[str, Any], name: str, table: Path | None, column: str | None, *, equal: bool
) -> dict[str, Any]:
    """The rule that is made of the values of a column."""
    from anonymizer.hierarchy.building import cuts_of, priority, widths_of

    if table is None or column is None:
        raise click.UsageError(f"--{name} needs the values of a table: --table t.csv --column age")
    others = {*rule} - {name, *(["other"] if name == "keep" else [])}
    if others:
        raise click.UsageError(f"--{name} and --{min(others)} are two rules; leave one")
    sizes = _sizes(table, column)
    if name == "keep":
        return priority(sizes, rule["keep"], rule.get("other", "other"))
    make = widths_of if equal else cuts_of
    return make(sizes, rule["ranges"])


@click.command(name="convert", short_help="Write a HIERARCHY as a rule, or as a table.")
@hierarchy_argument
@table_option
@column_option
@click.option("--output", "-o", type=PATH, required=True, help="A .toml rule, or a .csv table.")
@force_option
def convert(
    hierarchy: Path, table: Path | None, column: str | None, output: Path, force: bool
) -> None:
    """Write a HIERARCHY in another form: a rule as a table that ARX reads, or a table as a rule.

    A table lists every value. Those of a rule come from a column of a table, rare ones too: such a
    file must not be published.
    """
    from anonymizer.errors import InputError
    from anonymizer.feedback.words import plural
    from anonymizer.hierarchy.authoring import csv_text, rows_of, rule_of, rule_text
    from anonymizer.hierarchy.reading import hierarchy_of

    found = HierarchySource.of(hierarchy, column, table, column)
    listed = [str(value) for value in found.hierarchy.listed] if found.complete else []
    suffix = output.suffix.lower()
    if suffix not in (".csv", ".toml"):
        raise click.UsageError(f"write a .toml rule or a .csv table, not {output.name}")
    if suffix == ".toml" and not listed:
        raise click.UsageError(f"{hierarchy} is a rule already; name a .csv table")
    values = _texts_of(found) if table is not None else listed
    if not values:
        raise click.UsageError(
            f"{hierarchy} lists no values, which a table needs: --table t.csv --column age"
        )
    if table is not None:
        _require_elsewhere(output, table)
    rows = rows_of(found.hierarchy, values)
    if suffix == ".csv":
        _write(output, csv_text(rows), force=force)
        if table is not None:
            number = plural(len(values), "value")
            click.echo(f"{output} lists {number} of the table: it is as confidential", err=True)
        return
    rule = rule_of(rows)
    if rule is None:
        raise InputError(
            f"{hierarchy} makes groups that no rule makes of its values; keep it as a table"
        )
    _write(output, rule_text(rule), force=force)
    if rows_of(hierarchy_of(rule), values) != rows:
        click.echo("its ranges go by other labels now, such as [0, 10)", err=True)


def _require_elsewhere(output: Path, table: Path) -> None:
    """Refuse a list of a table's values in place of the table, or in the directory of a release."""
    from anonymizer.errors import InputError
    from anonymizer.release.files import MANIFEST
    from anonymizer.release.manifest.standing import same_file

    if same_file(output, table):
        raise InputError(f"{output} is the table itself; choose another file")
    if (output.parent / MANIFEST).exists():
        raise InputError(
            f"{output} would lie in the directory of a release, and lists what that hides; write "
            "elsewhere"
        )


def _texts_of(source: HierarchySource) -> list[str]:
    """The values of a column as texts, each once, a missing one left out."""
    from anonymizer.tables.values import rank, texts_of

    values, _ = source.values() or ([], [])
    taxonomy = source.hierarchy.over(source.name, values)  # refuses what it does not cover
    known = {text for text in texts_of(values) if text is not None}
    return sorted(known & {*taxonomy.texts}, key=rank)


def _write(path: Path, text: str, *, force: bool) -> None:
    """Write a file whole, or not at all, for its owner alone: it may list rare values."""
    from anonymizer.release.output import require_place, write_file

    require_place(path, "cannot write", force=force)
    write_file(path, lambda place: _fill(place, text), force=force, private=True)
    click.echo(f"{path} was written")


def _fill(place: Path, text: str) -> None:
    place.write_text(text, encoding="utf-8", newline="")


def _sizes(table: Path, column: str) -> dict[str, int]:
    """The records of each value of a column, by its text; missing ones are none."""
    from collections import Counter

    from anonymizer.tables.files import describe_file
    from anonymizer.tables.values import is_missing, text_of

    sizes: Counter[str] = Counter()
    for value, size in zip(*counted_values(table, describe_file(table), column), strict=True):
        if not is_missing(value):
            sizes[text_of(value)] += size
    return sizes
