"""Parts of a table whose records may not leave their sites: counted, added, recoded, verified."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.options import PATH, show_values_option, study_option
from anonymizer.report.printing import print_json, printing

if TYPE_CHECKING:
    from anonymizer.release.manifest import Manifest
    from anonymizer.release.release import Release
    from anonymizer.release.study import Study
    from anonymizer.release.verification.verification import Verification


@click.command(
    epilog="\b\nExample:\n  anonymizer count north.csv --study study.toml --output north.counts"
)
@click.argument("part", type=PATH)
@study_option
@click.option("--output", "-o", type=PATH, required=True, help="The file that gets the counts.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@show_values_option
def count(part: Path, study: Path, output: Path, force: bool) -> None:
    """Count a PART of a table, as a study has it, for a steward who adds up the counts of all.

    The file has the combinations of values of the columns with a role and the number of records of
    each, nothing else. It is as sensitive as the table; its owner alone can read it.
    """
    from anonymizer.feedback.progress import progress
    from anonymizer.feedback.words import plural
    from anonymizer.release.sites import count_part
    from anonymizer.release.study import Study

    with progress() as watch:
        found = count_part(Study(study), part, output, force=force, watch=watch)
    with printing(f"{output} was written"):
        combinations = plural(len(found.tally.sizes), "combination")
        click.echo(
            f"{output}: {plural(found.records, 'record')} in {combinations} of values.\n"
            "These counts are as sensitive as the table: give them to the steward alone."
        )


def publishing(counts: Sequence[Path]) -> "Callable[..., tuple[Release, Manifest]]":
    """What releases the table of a study: that of some counts, or the one that it names."""
    from anonymizer.release.publish import publish
    from anonymizer.release.sites import publish_counts

    if not counts:
        return publish

    def of_counts(study: "Study", directory: Path, **options: object) -> "tuple[Release, Manifest]":
        return publish_counts(study, counts, directory, **options)  # type: ignore[arg-type]

    return of_counts


def verifying(parts: Sequence[Path]) -> "Callable[..., Verification]":
    """What verifies a release: alone, or with some parts of it."""
    from anonymizer.release.sites import verify_parts
    from anonymizer.release.sites.parts import require_release
    from anonymizer.release.verification.verification import verify_release

    def alone(release: Path, study: Path | None, **options: Any) -> "Verification":
        require_release(release)
        return verify_release(release, study, **options)

    def with_parts(release: Path, study: Path | None, **options: Any) -> "Verification":
        return verify_parts(release, parts, study, **options)

    return with_parts if parts else alone


def apply_part(
    release: Path,
    table: Path,
    counts: Path,
    output: Path,
    study: "Study | None",
    others: Mapping[str, bool],
    force: bool,
    signed_by: Path | None,
    as_json: bool,
) -> None:
    """Recode a part by the release of its counts; ``others``: which other options were given."""
    from anonymizer.feedback.progress import progress
    from anonymizer.release.sites import publish_part

    given = [name for name, is_given in others.items() if is_given]
    if given:
        raise click.UsageError(f"{given[0]} is not for a part, which is recoded as the steward did")
    if study is None:
        raise click.UsageError("--counts needs the study that the part was counted by: --study")
    with progress() as watch:
        found = publish_part(
            release,
            table,
            counts,
            output,
            study=study,
            force=force,
            watch=watch,
            signed_by=signed_by,
        )
    with printing(f"the part is in {output}"):
        if as_json:
            print_json(found.model_dump(exclude_unset=True))
        else:
            click.echo(
                f"The part is in {output}. It is no release: the policy is about all parts "
                "together.\n`anonymizer verify RELEASE --parts` proves it on all of them."
            )
