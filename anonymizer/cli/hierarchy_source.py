"""What the commands about hierarchies are given: a file or a study, and a column of a table."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.options import PATH

if TYPE_CHECKING:
    from anonymizer.hierarchy import Hierarchy
    from anonymizer.tables.files import Format

hierarchy_argument = click.argument("hierarchy", type=PATH)
table_option = click.option("--table", "-t", type=PATH, help="A table with values.")
column_option = click.option("--column", "-c", help="Its column; by default the file's name.")

OTHERS = "(any other value)"
"""What stands for the values that a rule does not list."""


@dataclass(frozen=True)
class HierarchySource:
    """A hierarchy, and the column whose values it is for: ``table`` None where there is none."""

    hierarchy: "Hierarchy"
    name: str
    path: Path
    table: Path | None
    form: "Format | None"

    @classmethod
    def of(
        cls, path: Path, attribute: str | None, table: Path | None, column: str | None
    ) -> "HierarchySource":
        """A file, or an attribute of a study; the column is named like it by default."""
        from anonymizer.hierarchy import Hierarchy
        from anonymizer.tables.files import describe_file

        if _is_study(path):
            return cls._in_study(path, attribute or column, table, column)
        found = Hierarchy.read(path)
        form = None if table is None else describe_file(table)
        return cls(found, column or attribute or path.stem, path, table, form)

    @classmethod
    def _in_study(
        cls, path: Path, attribute: str | None, table: Path | None, column: str | None
    ) -> "HierarchySource":
        from anonymizer.errors import did_you_mean
        from anonymizer.release.study import Study

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
    from anonymizer.tables.reading import STUDY, parsed_toml, read_whole

    if path.suffix.lower() != ".toml":
        return False
    try:
        return "quasi-identifiers" in parsed_toml(read_whole(path, STUDY))
    except ValueError:  # whoever reads it says why
        return False


def counted_values(table: Path, form: "Format", column: str) -> tuple[list[object], list[int]]:
    """The distinct values of a column, and the records of each, counted where it lies."""
    from anonymizer.release.place import Place
    from anonymizer.release.relations import counted_in
    from anonymizer.tables import engine

    with Place(table, form).opened([column]) as stored:
        tally = counted_in(stored, [column], form)[1]
    codes, values = engine.distinct(tally[column])
    return list(values), engine.sized(tally, codes, len(values)).tolist()
