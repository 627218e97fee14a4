"""The command that writes a release as a page that people read."""

import sys
from functools import partial
from pathlib import Path

import click

from anonymizer.cli.options import PATH, show_values_option
from anonymizer.errors import installing
from anonymizer.report.printing import printing

STANDARD_OUTPUT = Path("-")


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer report release\n"
    "  anonymizer report release --steward --study study.toml --output report.pdf\n"
    "  anonymizer report release --markdown --output -\n"
    "  anonymizer report release --key steward.public.pem"
)
@click.argument("release", type=PATH)
@click.option("--html", "forms", flag_value="html", multiple=True, help="A web page, the default.")
@click.option("--markdown", "forms", flag_value="markdown", multiple=True, help="Without pictures.")
@click.option("--pdf", "forms", flag_value="pdf", multiple=True, help="On sheets of A4.")
@click.option(
    *("--output", "-o"),
    type=PATH,
    help="Where the page goes, - for standard output; by default RELEASE-report.html, or .md or "
    ".pdf, next to the release, with --steward RELEASE.steward.html. A suffix .html, .md or .pdf "
    "chooses the form.",
)
@click.option(
    *("--study", "-s"),
    type=PATH,
    help="The study of the release: with --steward compares the recodings that could have been "
    "taken, for which its table is read.",
)
@click.option(
    "--key",
    type=PATH,
    help="The public key of who released it, a PEM file: it must have signed the release.",
)
@click.option(
    "--steward",
    is_flag=True,
    help="With the figures of the original table, from RELEASE.steward.json next to the release: "
    "for its steward alone.",
)
@click.option("--force", is_flag=True, help="Replace the page that already lies there.")
@show_values_option
def report(
    release: Path,
    forms: tuple[str, ...],
    output: Path | None,
    study: Path | None,
    key: Path | None,
    steward: bool,
    force: bool,
) -> None:
    """Write a RELEASE, a directory that run wrote, as one page for people to read.

    What was released under which policy, in sentences; what the policy does not protect from; what
    was changed, what is kept, the risk, and how to verify all that. The release is verified first,
    and everything on the page is in it: no record is shown, and no figure of the original table
    but with --steward. The page needs no network.

    Exits with 1 when the release does not hold, or is not signed by the --key.
    """
    from anonymizer.feedback.progress import progress
    from anonymizer.release.output import require_place, write_file
    from anonymizer.report.page import FORMS, pictures_drawn, report_of

    form = _form(forms, output)
    place = output or _next_to(release, FORMS[form].suffix, steward)
    if place != STANDARD_OUTPUT:
        require_place(place, "cannot write to", force=force)
    with progress() as watch:
        page = report_of(release, study, form, key=key, steward=steward, watch=watch)
    if FORMS[form].theme and not pictures_drawn():
        click.echo(f"The report has no pictures: {installing('plots')}", err=True)
    if place == STANDARD_OUTPUT:
        with printing("the report was made"):
            sys.stdout.buffer.write(page)
        return
    write_file(place, partial(_write, page), force=force, private=steward)
    with printing(f"the report is in {place}"):
        click.echo(f"The report is in {place}.")


def _write(page: bytes, path: Path) -> None:
    path.write_bytes(page)


def _form(given: tuple[str, ...], output: Path | None) -> str:
    """The form that is requested, else that of the suffix of the output, else HTML."""
    from anonymizer.report.page import FORMS

    if len({*given}) > 1:
        raise click.UsageError("a report has one form: give one of --html, --markdown and --pdf")
    suffixes = {form.suffix: name for name, form in FORMS.items()}
    return given[0] if given else suffixes.get(output.suffix.lower() if output else "", "html")


def _next_to(release: Path, suffix: str, steward: bool) -> Path:
    """The default place of a report: next to the directory of the release."""
    folder = release if release.is_dir() else release.parent
    name = folder.resolve().name
    return folder.parent / (f"{name}.steward{suffix}" if steward else f"{name}-report{suffix}")
