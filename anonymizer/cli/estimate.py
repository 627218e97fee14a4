"""The command that estimates what a release was before it was masked."""

from pathlib import Path

import click

from anonymizer.report.printing import print_json, printing

__all__ = ["estimate"]


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer estimate release --of age\n"
    "  anonymizer estimate release --of age --with diagnosis --method maximum-likelihood"
)
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--of", required=True, metavar="ATTRIBUTE", help="One that was masked.")
@click.option("--with", "by", metavar="ATTRIBUTE", help="Another one, for the table of both.")
@click.option(
    "--method",
    type=click.Choice(["unbiased", "maximum-likelihood", "invariant"]),
    default="unbiased",
    show_default=True,
    help="The last takes what was released for the estimate, of a channel that leaves it alone.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the estimates as JSON.")
def estimate(release: Path, of: str, by: str | None, method: str, as_json: bool) -> None:
    """Estimate the counts of an attribute before it was masked, with standard errors.

    RELEASE is a directory that run wrote, whose release.json describes the channels that some
    attributes were masked by.
    """
    from anonymizer.report.estimates import print_estimates
    from anonymizer.utility.estimate import estimate_file

    found = estimate_file(release, of, by, method)
    with printing("the release was estimated"):
        if as_json:
            print_json(found.to_dict())
        else:
            print_estimates(found)
