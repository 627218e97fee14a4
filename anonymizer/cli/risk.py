"""What a study or table has that it should not, what attackers learn, and attacks on releases."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from anonymizer.cli.options import UNEXAMINED, show, warn
from anonymizer.feedback.progress import progress
from anonymizer.feedback.words import names_listed
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.codes import people_by_zip3
from anonymizer.profiling.safe_harbor import safe_harbor as examined
from anonymizer.release.description import required_model
from anonymizer.release.document import study_text
from anonymizer.release.manifest import is_release
from anonymizer.release.place import read_raw
from anonymizer.release.study import Study
from anonymizer.report.printing import picture_at, print_json, print_report, printing
from anonymizer.report.profile import lint_report, safe_harbor_report
from anonymizer.report.risk import audit_report, check_report, queries_report, risk_report
from anonymizer.report.sarif import sarif_at
from anonymizer.risk.audit import audit_files
from anonymizer.risk.check import check_file
from anonymizer.risk.drift import lint_file
from anonymizer.risk.file import Subject, assess_file, details_at, table_in
from anonymizer.risk.lint import Lint
from anonymizer.risk.queries import query_losses_of
from anonymizer.risk.sample import SampleColumns
from anonymizer.risk.special_uniques import FRACTION, special_uniques

LOSSES = "anonymizer.report.plots.disclosure.draw_losses"

SIZE = 2
"""Attributes of a subset, at most, unless somebody says it."""


def check(table: Path, strict: bool, weight: str | None, as_json: bool, **options: Any) -> int:
    """Carry out ``check``."""
    with progress() as watch:
        found = check_file(subject_of(table, weight=weight, **options), watch)
    warn(found.warnings)
    show("the table was checked", as_json, found, check_report)
    if found.broken or (strict and found.warnings):
        return 1
    return UNEXAMINED if found.unexamined else 0


def lint(
    subject: Path,
    table: Path | None,
    safe_harbor: bool,
    release: Path | None,
    ignore: tuple[str, ...],
    sarif: Path | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Carry out ``lint``."""
    write = None if sarif is None else sarif_at(sarif, force=force)
    if safe_harbor:
        if table is not None or release is not None or ignore:
            raise click.UsageError(
                "--safe-harbor examines one TABLE or RELEASE, and no study; leave out what is for "
                "studies"
            )
        return _lint_table(subject, write, as_json, **options)
    if any(options.values()):
        raise click.UsageError(
            "a study says how its table is written; --census and options of tables go with "
            "--safe-harbor"
        )
    with progress() as watch:
        found = lint_file(subject, table, release, study_text(subject), watch).without(ignore)
    if write:
        write(found)
    if found.error:
        raise found.error
    show("the study was examined", as_json, found, lint_report)
    return _code(found)


def _lint_table(
    table: Path,
    write: Callable[[Lint], None] | None,
    as_json: bool,
    *,
    census: Path | None,
    database_table: str | None,
    columns: tuple[str, ...] | None,
    **form: Any,
) -> int:
    """Hold a table against Safe Harbor."""
    people = None if census is None else people_by_zip3(census)
    with progress() as watch:
        watch(f"reading {table.name}", 0, None)
        path = Subject.of_release(table).path if is_release(table) else table
        with read_raw(path, database_table, columns, form) as (raw, _):
            watch("looking for identifiers", 0, None)
            held = examined(raw, people)
    found = Lint.of_safe_harbor(path, held)
    if write:
        write(found)
    show("the table was examined", as_json, held, safe_harbor_report)
    return _code(found)


def _code(found: Lint) -> int:
    return 1 if found.broken else UNEXAMINED if found.unexamined else 0


def risk(
    table: Path,
    by: str | None,
    output: Path | None,
    force: bool,
    size: int | None,
    weight: str | None,
    household: tuple[str, ...] | None,
    suda: bool,
    fraction: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Carry out ``risk``."""
    if fraction is not None and not suda:
        raise click.UsageError("--fraction is for --suda")
    if suda and weight is not None and fraction is None:
        raise click.UsageError(
            "--suda with --weight needs --fraction: records divided by the sum of their weights"
        )
    if by == "record" and output is None:
        raise click.UsageError("--by record writes to a file only: name it with --output")
    if output is not None and by not in ("record", "class"):
        raise click.UsageError("--output is for --by record or --by class")
    subject = subject_of(table, **options)
    write = output and details_at(output, [subject.path, *subject.originals], force=force)
    with progress() as watch:
        sizes = (size or SIZE) if by == "attribute" else None
        details: Any = by if write else None
        sampled = SampleColumns.of(weight, household or ())
        special = partial(special_uniques, size=size, fraction=fraction or FRACTION, watch=watch)
        found = assess_file(subject, sizes, watch, details, sampled, special if suda else None)
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


def audit(
    release: tuple[Path, ...],
    against: tuple[Path, ...],
    study: tuple[Path, ...],
    similarity: tuple[str, ...],
    person: tuple[str, ...] | None,
    household: tuple[str, ...] | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Carry out ``audit``."""
    alike = _pairs("--similarity", similarity, "ATTRIBUTE=HIERARCHY")
    with progress() as watch:
        found = audit_files(
            release,
            against,
            studies=[Study(path) for path in study],
            hierarchies={name: Hierarchy.of(path) for name, path in alike.items()},
            person=person or (),
            household=household or (),
            watch=watch,
            **options,
        )
    for each in found.releases:
        warn(each.warnings)
    show("the releases were audited", as_json, found, audit_report)
    if found.broken:
        return 1
    return UNEXAMINED if found.unexamined or found.repeated or found.hidden else 0


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
    """Carry out ``query-loss``."""
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


def _pairs(option: str, given: Sequence[str], form: str) -> dict[str, str]:
    """What an option that is repeatable gives for each column."""
    for each in given:
        if not all(each.partition("=")):
            raise click.UsageError(f"{option} {each!r} is not {form}")
    pairs = [each.split("=", 1) for each in given]
    if len({name for name, _ in pairs}) < len(pairs):
        raise click.UsageError(f"{option} names a column twice; give it once")
    return dict(pairs)


def subject_of(
    table: Path,
    study: Path | None,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    person: Sequence[str] | None,
    missing: Any,
    require: Sequence[str] = (),
    weight: str | None = None,
    items: Sequence[str] = (),
    database_table: str | None = None,
    **form: Any,
) -> Subject:
    """What a command measures: a table with roles of a study, of its manifest, or by name."""
    named = quasi_identifiers or sensitive or person or weight
    by_name = named or missing or items or database_table or any(form.values())
    if study is not None:
        if by_name or require:
            raise click.UsageError("--study gives roles, policy and format; leave out the others")
        return Subject.of_study(Study(study), table)
    models = [required_model(each) for each in require]
    if quasi_identifiers is None:
        if by_name or not is_release(table_in(table)):
            raise click.UsageError(
                "name the columns that others may know, as in --quasi-identifiers age,sex "
                "--sensitive diagnosis; or give a study, or a release"
            )
        return Subject.of_release(table).under(models)
    how = {name: value or None for name, value in form.items()} | {"table": database_table}
    return Subject.of_names(
        table,
        quasi_identifiers,
        sensitive or (),
        models,
        missing or "gap",
        person=person or (),
        weight=weight,
        items=_pairs("--items", items, "NAME=TEXT, such as conditions=;"),
        **how,
    )
