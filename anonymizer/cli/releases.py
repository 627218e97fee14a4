"""Commands that release a table, hold a policy against one, and list the policies there are."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.options import (
    PATH,
    DirectoryType,
    jobs_option,
    several_option,
    show,
    show_values_option,
    strict_option,
    study_argument,
    subject_of,
    subject_options,
    table_argument,
    warn,
)
from anonymizer.cli.signing import sign_options, signer_of
from anonymizer.errors import PolicyUnreachableError
from anonymizer.release.system import never_lost
from anonymizer.report.printing import print_json, print_report, printing

if TYPE_CHECKING:
    from anonymizer.recoding.recoding import Task


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer run study.toml --output release\n"
    "  anonymizer run study.toml --output release --sign steward.private.pem --as claims\n"
    "  anonymizer run study.toml --counts north.counts south.counts --output release"
)
@study_argument
@several_option("counts", "Counts of parts, in place of a table: files of `anonymizer count`.")
@click.option("--output", "-o", type=DirectoryType(), required=True, help="Where the release goes.")
@click.option("--force", is_flag=True, help="Replace the release that already lies there.")
@jobs_option
@sign_options
@strict_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print release.json instead of a report.")
def run(
    study: Path,
    counts: tuple[Path, ...],
    output: Path,
    force: bool,
    n_jobs: int | None,
    strict: bool,
    as_json: bool,
    **signing: Any,
) -> None:
    """Anonymize the table of a STUDY file (TOML) and write the release.

    Interrupting a search that takes long (Ctrl-C) ends it with the best recoding found so far, and
    says how much better another could be. Where the policy is out of reach, what stands in the way
    and the ways out go to standard error; where the result is drastic, what to change is printed.

    With --counts no table is read: the sum of the counts of its parts is anonymized, and the
    release has the counts of the released table. Each site recodes its part by it with
    `anonymizer apply --counts`.
    """
    from anonymizer.cli.advise import explain, weak_points
    from anonymizer.cli.sites import publishing
    from anonymizer.feedback.progress import progress
    from anonymizer.release.study import Study
    from anonymizer.report.release import found_report, release_report

    described = Study(study)
    signer = signer_of(**signing)
    counted: list[Task] = []
    with progress() as shown, never_lost(shown) as watch:
        try:
            release, manifest = publishing(counts)(
                described,
                output,
                force=force,
                n_jobs=n_jobs,
                watch=watch,
                on_counted=counted.append,
                key=signer,
                strict=strict,
            )
        except PolicyUnreachableError as error:
            if counted:
                explain(error, described, counted[0])
            raise
        weak = [] if as_json else weak_points(described, release, counted[0])
    with printing(f"the release is in {output}"):
        warn(release.warnings)
        if as_json:
            print_json(manifest.public.to_dict())
        else:
            read = () if counts else found_report(described.data_path, described.found)
            print_report([*read, *release_report(release, output, weak)])


def _print_schema(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    """Print the JSON Schema of manifests, and end."""
    if given:
        from anonymizer.release.manifest.schema import SHIPPED

        with printing("the schema was printed"):
            click.echo(SHIPPED.read_text(encoding="utf-8"), nl=False)
        context.exit()


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer verify release\n"
    "  anonymizer verify release --key steward.public.pem --of claims --period 2026-11\n"
    "  anonymizer verify release/released.csv --study study.toml\n"
    "  anonymizer verify release --key steward.private.pem --original table.csv\n"
    "  anonymizer verify release --parts north-release south-release"
)
@click.argument("release", type=PATH)
@several_option("parts", "All parts that a release of counts is of: directories of `apply`.")
@click.option(
    "--key", type=PATH, help="The key of who released it, a PEM file: it must have signed it."
)
@click.option("--of", "name", metavar="NAME", help="The series that it must be signed as one of.")
@click.option("--period", metavar="TEXT", help="The period that it must be signed as one of.")
@click.option("--after", type=PATH, metavar="RELEASE", help="The release that it must come after.")
@click.option(
    "--original",
    type=PATH,
    help="The table that it was made of, to be compared; needs the private key.",
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of release.json and exit.",
)
@click.option(
    *("--study", "-s"),
    type=PATH,
    help="The study of the release; needed where the manifest only has digests, or there is none.",
)
@strict_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print differences, checks and verdicts.")
def verify(
    release: Path,
    parts: tuple[Path, ...],
    study: Path | None,
    key: Path | None,
    original: Path | None,
    strict: bool,
    as_json: bool,
    **signed_as: Any,
) -> int:
    """Hold a RELEASE, a released table or its directory, against its manifest.

    The table is recounted from scratch: checksum, columns, labels, counts and every figure of the
    manifest that the table alone can show. A table without a manifest is recounted under the policy
    of the study. With --parts the parts of a release of counts are counted again, too: their sum
    must be what was released.

    Exits with 0 when everything agrees and every model holds for every class, with 1 when not, or
    where --strict finds a warning in the manifest.
    """
    from anonymizer.cli.signing import expected
    from anonymizer.cli.sites import verifying
    from anonymizer.feedback.progress import progress
    from anonymizer.report.release import verification_report

    with progress() as watch:
        found = verifying(parts)(
            release, study, key=key, original=original, series=expected(**signed_as), watch=watch
        )
    warn(found.warnings)
    show("the release was verified", as_json, found, verification_report)
    return 0 if found.satisfied and not (strict and found.warnings) else 1


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer check table.csv --quasi-identifiers age,sex --sensitive diagnosis\n"
    "  anonymizer check table.csv --quasi-identifiers age,sex --require k-anonymity=5\n"
    "  anonymizer check table.csv --study study.toml --json\n"
    "  anonymizer check release"
)
@table_argument
@subject_options
@click.option(
    "--require",
    multiple=True,
    metavar="MODEL=BOUND",
    help="A privacy model that has to hold, with ,NAME=VALUE for its other parameters; "
    "repeatable. `anonymizer models` lists them.",
)
@strict_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the check as JSON.")
def check(table: Path, strict: bool, as_json: bool, **options: Any) -> int:
    """Measure what a TABLE satisfies as it stands: largest k and l, smallest t, beta, delta.

    Nothing is recoded. Columns are named, or a study says which is what; of a release, which is a
    directory or the table in it, release.json does. Exits with 0 when the policy holds for every
    class, with 1 when not, or where --strict finds a warning. Column names alone are no policy:
    --require is one.
    """
    from anonymizer.feedback.progress import progress
    from anonymizer.report.risk import check_report
    from anonymizer.risk.check import check_file

    with progress() as watch:
        found = check_file(subject_of(table, **options), watch)
    warn(found.warnings)
    show("the table was checked", as_json, found, check_report)
    return 0 if found.satisfied and not (strict and found.warnings) else 1


@click.command(epilog="\b\nExample:\n  anonymizer demo --output demo-release")
@click.option(
    "--output",
    "-o",
    type=DirectoryType(),
    default="demo-release",
    show_default=True,
    help="Where the release goes.",
)
@click.option("--force", is_flag=True, help="Replace the release that already lies there.")
def demo(output: Path, force: bool) -> None:
    """Anonymize the bundled census of invented people."""
    from anonymizer.feedback.progress import progress
    from anonymizer.release.fitting import fitted
    from anonymizer.release.publish import publish
    from anonymizer.release.study import Study
    from anonymizer.report.release import ladder_report, release_report
    from anonymizer.tables.datasets import shipped

    with progress() as watch:
        study = Study(shipped("data", "demo.toml"))
        release, _ = publish(study, output, force=force, watch=watch)
        with study.opened() as table:
            estimator = study.anonymizer().set_params(recoding="full-domain")
            levels = fitted(estimator, table, study.data_format).release
    with printing(f"the release is in {output}"):
        warn(release.warnings)
        ladder = ladder_report({"best levels": levels, "ranges of their own (A1*)": release})
        print_report([*ladder, *release_report(release, output)])


@click.command(epilog="\b\nExample:\n  anonymizer models")
def models() -> None:
    """Print every privacy model, as a Markdown table: what a study calls it and what it bounds."""
    from anonymizer.privacy import MODELS, markdown

    with printing("the models were listed"):
        click.echo(markdown(MODELS.values()))
