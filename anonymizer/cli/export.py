"""Releases handed on: as SQL or for other tools, as a page, and with a certificate."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from anonymizer.errors import InputError, installing
from anonymizer.feedback.progress import progress
from anonymizer.feedback.words import listed
from anonymizer.release.certificate import CERTIFICATE, certified, claimed
from anonymizer.release.dialects import DIALECTS
from anonymizer.release.export import arx_files, mapping_files, source_of, write_files
from anonymizer.release.files import MANIFEST
from anonymizer.release.output import require_place, write_file
from anonymizer.release.sql import select_of, sql_of
from anonymizer.release.study import Study
from anonymizer.report.printing import printing

STANDARD_OUTPUT = Path("-")


def export(
    release: Path,
    forms: tuple[str, ...],
    output: Path | None,
    select: bool,
    table: str | None,
    into: str | None,
    dialect: str | None,
    values: Path | None,
    study: Path | None,
    force: bool,
) -> None:
    """Carry out ``export``."""
    if len({*forms}) != 1:
        raise click.UsageError("name one form of the export: --sql, --csv or --arx")
    form = forms[0]
    _require_fitting(
        form,
        {"--select": select, "--table": table, "--into": into, "--dialect": dialect},
        values,
    )
    if output is None and form != "sql":
        raise click.UsageError(f"--{form} writes a directory: name it, as in --output {form}")
    source = source_of(release, study)
    if form == "sql":
        spoken = DIALECTS[dialect or "standard"]
        if select:
            text = select_of(source, table or "people", spoken) + "\n"
        else:
            text = sql_of(source, table or "people", into or "released", spoken)
        if not spoken.tried:
            click.echo(f"This was never run in {spoken.called}: compare its table.", err=True)
        if output is None:
            with printing("the query was made"):
                click.echo(text.encode(), nl=False)  # UTF-8, whatever a terminal can show
            return
        require_place(output, "cannot write", force=force)
        write_file(output, partial(_write, text.encode()), force=force)
    elif output:
        files = mapping_files(source) if form == "csv" else arx_files(source, values)
        write_files(output, files, force=force, private=values is not None)
    with printing(f"{output} was written"):
        click.echo(f"Written: {output}")
    if values is not None:
        click.echo(f"{output} lists values of {values}: it is as confidential", err=True)


def _require_fitting(form: str, given: Mapping[str, object], values: Path | None) -> None:
    """Require options that the form has; those ``given`` are of SQL."""
    strange = [option for option, value in given.items() if value and form != "sql"]
    strange += ["--values"] if values is not None and form != "arx" else []
    if strange:
        own = "arx" if strange[0] == "--values" else "sql"
        raise click.UsageError(f"{strange[0]} goes with --{own}, not with --{form}")
    if given["--select"] and given["--into"]:
        raise click.UsageError("--select writes a query, which makes no table: leave out --into")


def report(
    release: Path,
    forms: tuple[str, ...],
    template: str | None,
    output: Path | None,
    study: Path | None,
    key: Path | None,
    steward: bool,
    force: bool,
) -> None:
    """Carry out ``report``; the form is the one given, else that of the suffix of the output."""
    from anonymizer.report.page import FORMS, pictures_drawn, report_of  # loads utility

    if len({*forms}) > 1:
        raise click.UsageError(
            f"a report has one form: give one of {listed(f'--{form}' for form in FORMS)}"
        )
    suffixes = {form.suffix: name for name, form in FORMS.items()}
    suffix = output.suffix.lower() if output else ""
    form = forms[0] if forms else suffixes.get(suffix, "html")
    place = output or _next_to(release, FORMS[form].suffix, template, steward)
    if place != STANDARD_OUTPUT:
        require_place(place, "cannot write to", force=force)
    with progress() as watch:
        page = report_of(
            release, study, form, key=key, steward=steward, template=template, watch=watch
        )
    if FORMS[form].theme and template is None and not pictures_drawn():
        click.echo(f"The report has no pictures: {installing('plots')}", err=True)
    if place == STANDARD_OUTPUT:
        with printing("the report was made"):
            click.echo(page, nl=False)
        return
    write_file(place, partial(_write, page), force=force, private=steward)
    with printing(f"the report is in {place}"):
        click.echo(f"The report is in {place}.")


def certify(
    study: Path, output: Path | None, check: Path | None, n_jobs: int | None, force: bool
) -> int:
    """Carry out ``certify``."""
    if (output is None) == (check is None):
        raise click.UsageError("give --output to write a certificate, or --check to examine one")
    known = None if check is None else _read(check)
    if output is not None:
        _require_apart(output, force)
    with progress() as watch:
        claim, task = claimed(Study(study), n_jobs, watch)
        files = {} if output is None else certified(claim, task, watch)
    if output is None:
        doubt = claim.doubt(known)
        with printing("the certificate was examined"):
            click.echo(f"NOT PROVEN: {doubt}" if doubt else _proven(known))
            click.echo("Examined is certificate.json alone, no other file next to it.")
        return 1 if doubt else 0
    write_files(output, files, force=force, private=True)
    with printing(f"the certificate is in {output}"):
        click.echo(f"{_proven(json.loads(files[CERTIFICATE]))}\nWritten: {output}")
    click.echo(f"{output} has records of {Study(study).data_path}: it is as confidential", err=True)
    return 0


def _require_apart(output: Path, force: bool) -> None:
    """Require a place for a certificate that is in no release, and has none to be replaced."""
    if (output / CERTIFICATE).exists() and not force:
        raise InputError(f"{output} has a certificate already; --force replaces it")
    inside = [each for each in (output, *output.resolve().parents) if (each / MANIFEST).exists()]
    if inside:
        raise InputError(
            f"{inside[0]} is a release, and a certificate has records of the raw table; choose a "
            "directory outside of it"
        )


PROVEN = (
    "Proven: of the levels that the study allows none that satisfy the policy score higher than "
    "{}. A run of the study that ends early may release others."
)


def _proven(certificate: Any) -> str:
    """What a certificate proves."""
    levels = zip(certificate["attributes"], certificate["optimum"], strict=True)
    return PROVEN.format(", ".join(f"{name} {level}" for name, level in levels))


def _read(path: Path) -> object:
    """What a certificate says; InputError where there is none."""
    file = path / CERTIFICATE if path.is_dir() else path
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        raise InputError(
            f"{file} is no certificate; name the directory that `anonymizer certify` wrote"
        ) from None


def _write(content: bytes, path: Path) -> None:
    path.write_bytes(content)


def _next_to(release: Path, suffix: str, template: str | None, steward: bool) -> Path:
    """The default place of a report: next to the directory of the release."""
    folder = release if release.is_dir() else release.parent
    name = folder.resolve().name + ("" if template is None else f"-{template}")
    report = "" if template is not None else "-report"
    return folder.parent / (f"{name}.steward{suffix}" if steward else f"{name}{report}{suffix}")
