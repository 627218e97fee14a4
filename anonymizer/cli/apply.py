"""The command that recodes another table as a release was."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from anonymizer.cli.options import (
    PATH,
    DirectoryType,
    database_option,
    show_values_option,
    strict_option,
    warn,
)
from anonymizer.cli.signing import sign_options, signer_of
from anonymizer.release.system import never_lost
from anonymizer.report.printing import print_json, print_report, printing

if TYPE_CHECKING:
    from anonymizer.release.manifest.parts import Order
    from anonymizer.release.request import Unseen


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer apply january february.csv --output february\n"
    "  anonymizer apply january february.csv -o february --unseen suppress --suppression 0.02\n"
    "  anonymizer apply january 'february/*.parquet' -o february --parts 8 --memory 4GB\n"
    "  anonymizer apply january census.duckdb --table february -o february\n"
    "  anonymizer apply release north.csv --counts north.counts -s study.toml -o north"
)
@click.argument("release", type=PATH)
@click.argument("table", type=PATH)
@click.option("--output", "-o", type=DirectoryType(), required=True, help="Where the release goes.")
@click.option(
    *("--study", "-s"),
    type=PATH,
    help="The study of the release: its hierarchies place values that the manifest does not list.",
)
@click.option(
    "--unseen",
    type=click.Choice(["error", "any", "suppress"]),
    default="error",
    show_default=True,
    help="Values that the recoding does not cover: refuse, release as *, suppress their records.",
)
@click.option(
    "--suppression", type=float, help="Share of the records that may go; that of the release."
)
@click.option(
    "--counts",
    type=PATH,
    help="The counts of the TABLE, one of the parts that the release was made of: it is recoded as "
    "a part, whose policy is about all parts together. Needs the study.",
)
@click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out.")
@database_option
@click.option("--memory", metavar="SIZE", help="That is used at most, such as 4GB.")
@click.option(
    "--file",
    type=click.Choice(["released.csv", "released.parquet"]),
    help="The released table, in the format of its ending; by default that of the TABLE.",
)
@click.option(
    "--parts",
    type=click.IntRange(1, 10_000),
    metavar="NUMBER",
    help="Spread the released table over so many Parquet files, in a folder.",
)
@click.option(
    "--order",
    type=click.Choice(["random", "kept"]),
    default="random",
    show_default=True,
    help="That of the released records: a random one, or that of the TABLE.",
)
@click.option(
    *("--key", "signed_by"), type=PATH, help="The key of who released it: it must have signed it."
)
@sign_options
@strict_option
@click.option("--force", is_flag=True, help="Replace the release that already lies there.")
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print release.json instead of a report.")
def apply(
    release: Path,
    table: Path,
    output: Path,
    study: Path | None,
    unseen: str,
    suppression: float | None,
    counts: Path | None,
    drop: tuple[str, ...],
    database_table: str | None,
    memory: str | None,
    file: str | None,
    parts: int | None,
    order: str,
    signed_by: Path | None,
    strict: bool,
    force: bool,
    as_json: bool,
    **signing: Any,
) -> None:
    """Recode a TABLE as a RELEASE was, recount it under the same policy, and write the result.

    RELEASE is a directory, its released table or its release.json. TABLE is a file, several files,
    as a folder or a pattern in quotes has them, or a database. Values that were not there
    before are placed by the rules of the hierarchies and by the groups that the release lists.
    """
    from anonymizer.cli.sites import apply_part
    from anonymizer.feedback.progress import progress
    from anonymizer.release.apply import ApplyOptions, Means, publish_applied
    from anonymizer.release.study import Study
    from anonymizer.report.release import release_report

    known = None if study is None else Study(study)
    if counts is not None:
        others = {"--unseen": unseen != "error", "--suppression": suppression is not None}
        others |= {"--drop": bool(drop), "--sign": any(signing.values()), "--strict": strict}
        of_file = {"table": database_table, "memory": memory, "file": file, "parts": parts}
        others |= {f"--{name}": value is not None for name, value in of_file.items()}
        others |= {"--order": order != "random"}
        apply_part(release, table, counts, output, known, others, force, signed_by, as_json)
        return
    signer = signer_of(**signing)
    wishes = ApplyOptions(cast("Unseen", unseen), suppression, drop)
    with progress() as shown, never_lost(shown) as watch:
        proof, manifest = publish_applied(
            release,
            table,
            output,
            wishes,
            means=Means(database_table, memory, file, parts, cast("Order", order)),
            study=known,
            force=force,
            watch=watch,
            key=signer,
            signed_by=signed_by,
            strict=strict,
        )
    with printing(f"the release is in {output}"):
        warn(proof.warnings)
        if as_json:
            print_json(manifest.public.to_dict())
        else:
            print_report(release_report(proof, output))
