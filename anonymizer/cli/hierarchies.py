"""Hierarchies drawn, checked, built and converted."""

from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from anonymizer.cli.options import show
from anonymizer.errors import InputError, did_you_mean
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.authoring import (
    check_hierarchy,
    csv_text,
    inline_text,
    records_of,
    rows_of,
    rule_of,
    rule_text,
)
from anonymizer.hierarchy.building import cuts_of, priority, widths_of
from anonymizer.hierarchy.reading import hierarchy_of
from anonymizer.release.files import MANIFEST
from anonymizer.release.output import require_place, write_file
from anonymizer.report.hierarchy import hierarchy_report, levels_report, tree_report
from anonymizer.report.printing import print_report, printing
from anonymizer.tables import engine
from anonymizer.tables.files import Format, describe_file
from anonymizer.tables.reading import STUDY, parsed_toml, read_whole
from anonymizer.tables.values import is_missing, rank, text_of, texts_of

OTHERS = "(any other value)"
"""What stands for the values that a rule does not list."""


@dataclass(frozen=True)
class HierarchySource:
    """A hierarchy, and the column whose values it is for: ``table`` None where there is none."""

    hierarchy: Hierarchy
    name: str
    path: Path
    table: Path | None
    form: Format | None

    @classmethod
    def of(
        cls, path: Path, attribute: str | None, table: Path | None, column: str | None
    ) -> "HierarchySource":
        """A file, or an attribute of a study; the column is named like it by default."""
        if _is_study(path):
            return cls._in_study(path, attribute or column, table, column)
        found = Hierarchy.read(path)
        form = None if table is None else describe_file(table)
        return cls(found, column or attribute or path.stem, path, table, form)

    @classmethod
    def _in_study(
        cls, path: Path, attribute: str | None, table: Path | None, column: str | None
    ) -> "HierarchySource":
        from anonymizer.release.study import Study  # loads pydantic

        study = Study(path)
        known = study.hierarchies
        if attribute not in known:
            near = did_you_mean(attribute or "", known) or f"; it has {', '.join(known)}"
            raise click.UsageError(f"{path} is a study: name one of its quasi-identifiers{near}")
        place = study.data_path if table is None else table
        form = study.format_of(place)
        return cls(known[attribute], column or attribute, path, place, form)

    def values(self) -> tuple[list[object], list[int]] | None:
        """The distinct values of the column and the records of each; None without a table."""
        if self.table is None or self.form is None:
            return None
        return counted_values(self.table, self.form, self.name)

    @property
    def complete(self) -> bool:
        """Whether the hierarchy lists every value that it covers."""
        return bool(self.hierarchy.listed) and "keep" not in self.hierarchy.rule()

    def examples(self) -> list[object]:
        """A value for each group of a hierarchy that does not list its values."""
        rule = self.hierarchy.rule()
        if "keep" in rule:
            return [OTHERS]
        cuts: Any = rule.get("cuts")
        if cuts and not self.complete:
            return [float(cuts[0][0]) - 1, *map(float, cuts[0])]
        if not self.complete:
            raise click.UsageError(
                f"{self.path} is a rule without values of its own; name some: --table t.csv "
                "--column age"
            )
        return []


def _is_study(path: Path) -> bool:
    """Whether a file is a study, as far as its sections tell."""
    if path.suffix.lower() != ".toml":
        return False
    try:
        return "quasi-identifiers" in parsed_toml(read_whole(path, STUDY))
    except ValueError:  # whoever reads it says why
        return False


def counted_values(table: Path, form: Format, column: str) -> tuple[list[object], list[int]]:
    """The distinct values of a column, and the records of each, counted where it lies."""
    from anonymizer.release.place import Place
    from anonymizer.release.relations import counted_in

    with Place(table, form).opened([column]) as stored:
        tally = counted_in(stored, [column], form)[1]
    codes, values = engine.distinct(tally[column])
    return list(values), engine.sized(tally, codes, len(values)).tolist()


def show_hierarchy(
    hierarchy: Path,
    attribute: str | None,
    table: Path | None,
    column: str | None,
    levels: bool,
    everything: bool,
) -> None:
    """Carry out ``hierarchy show``."""
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


def check(hierarchy: Path, table: Path, column: str | None, as_json: bool) -> int:
    """Carry out ``hierarchy check``."""
    found = HierarchySource.of(hierarchy, column, table, column)
    values, sizes = found.values() or ((), ())
    result = check_hierarchy(found.hierarchy, found.name, values, sizes)
    report = partial(hierarchy_report, source=str(hierarchy))
    show("the hierarchy was checked", as_json, result, report)
    return 0 if result.complete else 1


def build(
    table: Path | None,
    column: str | None,
    output: Path | None,
    force: bool,
    equal: bool,
    **given: Any,
) -> None:
    """Carry out ``hierarchy build``."""
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


def convert(
    hierarchy: Path, table: Path | None, column: str | None, output: Path, force: bool
) -> None:
    """Carry out ``hierarchy convert``."""
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
    from anonymizer.release.manifest.standing import same_file  # loads pydantic

    if same_file(output, table):
        raise InputError(f"{output} is the table itself; choose another file")
    if (output.parent / MANIFEST).exists():
        raise InputError(
            f"{output} would lie in the directory of a release, and lists what that hides; write "
            "elsewhere"
        )


def _texts_of(source: HierarchySource) -> list[str]:
    """The values of a column as texts, each once, a missing one left out."""
    values, _ = source.values() or ([], [])
    taxonomy = source.hierarchy.over(source.name, values)  # refuses what it does not cover
    known = {text for text in texts_of(values) if text is not None}
    return sorted(known & {*taxonomy.texts}, key=rank)


def _write(path: Path, text: str, *, force: bool) -> None:
    """Write a file whole, or not at all, for its owner alone: it may list rare values."""

    def fill(place: Path) -> None:
        place.write_text(text, encoding="utf-8", newline="")

    require_place(path, "cannot write", force=force)
    write_file(path, fill, force=force, private=True)
    click.echo(f"{path} was written")


def _sizes(table: Path, column: str) -> dict[str, int]:
    """The records of each value of a column, by its text; missing ones are none."""
    sizes: Counter[str] = Counter()
    for value, size in zip(*counted_values(table, describe_file(table), column), strict=True):
        if not is_missing(value):
            sizes[text_of(value)] += size
    return sizes
