"""The command that attacks releases, one or several of the same people."""

from pathlib import Path

import click

from anonymizer.cli.options import show_values_option
from anonymizer.report.printing import print_json, printing

__all__ = ["audit"]


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer audit release --against people.csv --study study.toml\n"
    "  anonymizer audit release-2024 release-2025 --against people.csv\n"
    "  anonymizer audit a b --against 2024.csv --against 2025.csv --identifier patient"
)
@click.argument("release", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--against",
    "-a",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="The original table; or that of each release, in their order.",
)
@click.option("--identifier", help="The column that tells in several originals who is who.")
@click.option(
    "--study",
    "-s",
    type=click.Path(path_type=Path),
    multiple=True,
    help="The study of all releases, or of each in their order; by default what release.json says.",
)
@click.option(
    "--similarity",
    multiple=True,
    metavar="ATTRIBUTE=HIERARCHY",
    help="A hierarchy of a sensitive attribute, whose groups are alike; repeatable.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Worlds that the minimality attack draws at the most.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of these draws."
)
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the audit as JSON.")
def audit(
    release: tuple[Path, ...],
    against: tuple[Path, ...],
    identifier: str | None,
    study: tuple[Path, ...],
    similarity: tuple[str, ...],
    draws: int,
    seed: int,
    as_json: bool,
) -> int:
    """Attack RELEASEs, directories that run wrote, with the original table they were made of.

    Linkage, homogeneity, skewness, similarity, Bayes-optimal inference and, with the study,
    minimality on each. Of several releases also what their combination discloses about the people
    in them. Exits with 1 when the policy does not hold in a release or in the combination, or
    cannot be proven to.
    """
    from anonymizer.hierarchy import Hierarchy
    from anonymizer.release.study import Study
    from anonymizer.report.audit import print_audit
    from anonymizer.report.progress import progress
    from anonymizer.risk.audit import audit_files

    alike = dict(_named(stated) for stated in similarity)
    with progress() as watch:
        found = audit_files(
            release,
            against,
            identifier=identifier,
            studies=[Study(path) for path in study],
            hierarchies={name: Hierarchy.of(path) for name, path in alike.items()},
            draws=draws,
            seed=seed,
            watch=watch,
        )
    with printing("the releases were audited"):
        if as_json:
            print_json(found.to_dict())
        else:
            print_audit(found)
    return 0 if found.satisfied else 1


def _named(stated: str) -> tuple[str, str]:
    name, equals, path = stated.partition("=")
    if not (name and equals and path):
        raise click.UsageError(f"--similarity {stated!r} is not ATTRIBUTE=HIERARCHY")
    return name, path
