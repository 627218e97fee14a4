"""Commands that measure what releases are good for, and correct what is counted in them."""

from functools import partial
from pathlib import Path

import click

from anonymizer.cli.options import (
    plot_option,
    show,
    show_values_option,
    study_option,
    table_argument,
)
from anonymizer.release.output.interrupts import never_lost


@click.command(
    epilog="\b\nExample:\n"
    "  anonymizer quality release/released.csv --study study.toml --target diagnosis"
)
@table_argument
@study_option
@click.option(
    "--target",
    multiple=True,
    help="A column that classifiers predict; repeatable. By default what the study is about.",
)
@click.option("--no-classifiers", is_flag=True, help="Leave out what takes longest.")
@click.option(
    "--representative",
    type=click.Choice(["midpoint", "mean"]),
    default="midpoint",
    show_default=True,
    help="What number a range stands for.",
)
@click.option("--folds", type=int, default=5, show_default=True, help="Of the cross-validation.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the cross-validation.")
@click.option("--jobs", type=int, help="Trees grown at once, as joblib counts them.")
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the measures as JSON.")
def quality(
    table: Path,
    study: Path,
    target: tuple[str, ...],
    no_classifiers: bool,
    representative: str,
    folds: int,
    seed: int,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Measure how much a released TABLE still says of the table of its STUDY.

    Both tables and the release.json next to the released one are read; TABLE has to be the
    recoding that it describes. Classifiers need scikit-learn, and are left out without it unless
    targets are named.
    """
    from anonymizer.release.study import Study
    from anonymizer.report.progress import progress
    from anonymizer.report.quality import print_quality
    from anonymizer.utility import measure_file

    if target and no_classifiers:
        raise click.UsageError("--target is about classifiers: leave out --no-classifiers")
    with progress() as watch:
        found = measure_file(
            Study(study),
            table,
            targets=() if no_classifiers else target or None,
            folds=folds,
            seed=seed,
            representative=representative,
            n_jobs=jobs,
            watch=watch,
        )
    show("the release was measured", as_json, found, print_quality)


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer compare study.toml\n"
    "  anonymizer compare study.toml --sweep t=0.3:0.9:0.1 --plot frontier.svg --jobs 2"
)
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--recoding", multiple=True, help="One to compare; repeatable. By default all.")
@click.option(
    "--sweep",
    multiple=True,
    metavar="NAME=from:to:step",
    help="Values that a parameter of the privacy models takes; repeatable: all combinations.",
)
@click.option("--seed", type=int, help="Of the random halves; by default the study's.")
@click.option("--jobs", type=int, help="Recodings fitted at once, as joblib counts them.")
@plot_option
@click.option("--force", is_flag=True, help="Replace the picture that already lies there.")
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare(
    study: Path,
    recoding: tuple[str, ...],
    sweep: tuple[str, ...],
    seed: int | None,
    jobs: int | None,
    plot: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Compare recodings of the table of a STUDY: what each keeps on records it did not see.

    Each is fitted to a random half of the records and evaluated on the other half. Nothing is
    released. Exits with 1 when no recoding satisfies the policy on its half.
    """
    from anonymizer.release.study import Study
    from anonymizer.report.comparison import print_comparison
    from anonymizer.report.picture import picture_at
    from anonymizer.report.progress import progress
    from anonymizer.utility.comparison import compare_study, sweep_of

    draw = plot and picture_at(plot, force=force)
    swept = sweep_of(sweep)
    with progress() as shown, never_lost(shown) as watch:
        found = compare_study(
            Study(study),
            recodings=recoding or None,
            sweep=swept,
            seed=seed,
            n_jobs=jobs,
            watch=watch,
        )
    if draw and found.fits:
        draw(found)
    show("the recodings were compared", as_json, found, partial(print_comparison, picture=plot))
    return 0 if found.fits else 1


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
    show("the release was estimated", as_json, found, print_estimates)
