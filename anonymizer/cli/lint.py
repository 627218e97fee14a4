"""What a table has that a rule wants removed."""

from pathlib import Path
from typing import Any

import click

from anonymizer.cli.options import show
from anonymizer.cli.risk import UNEXAMINED
from anonymizer.feedback.progress import progress
from anonymizer.hierarchy.codes import people_by_zip3
from anonymizer.profiling.safe_harbor import safe_harbor as examined
from anonymizer.release.manifest import is_release
from anonymizer.release.place import read_raw
from anonymizer.report.safe_harbor import safe_harbor_report
from anonymizer.risk.file import Subject


def lint(
    table: Path,
    safe_harbor: bool,
    census: Path | None,
    database_table: str | None,
    columns: tuple[str, ...] | None,
    as_json: bool,
    **form: Any,
) -> int:
    """Carry out ``lint``."""
    if not safe_harbor:
        raise click.UsageError("say which rule the table is held against: --safe-harbor")
    people = None if census is None else people_by_zip3(census)
    with progress() as watch:
        watch(f"reading {table.name}", 0, None)
        path = Subject.of_release(table).path if is_release(table) else table
        with read_raw(path, database_table, columns, form) as (raw, _):
            watch("looking for identifiers", 0, None)
            found = examined(raw, people)
    show("the table was examined", as_json, found, safe_harbor_report)
    if found.findings:
        return 1
    return UNEXAMINED if found.unexamined else 0
