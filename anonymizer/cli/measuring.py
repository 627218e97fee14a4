"""Commands that show lattices, measure what releases are good for, and correct their counts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.options import (
    PATH,
    jobs_option,
    plot_option,
    redraw_option,
    several_option,
    show,
    show_values_option,
    study_argument,
    study_option,
    table_argument,
)
from anonymizer.errors import InputError
from anonymizer.release.system import never_lost

if TYPE_CHECKING:
    from anonymizer.release.study import Study

COMPARISON = "anonymizer.report.plots.comparison.draw_comparison"
FIGURES = "anonymizer.report.plots.comparison.draw_figures"
LATTICE = "anonymizer.report.plots.lattice.draw_lattice"


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer quality release --study study.toml\n"
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
@click.option("--jobs", "n_jobs", type=int, help="Trees grown at once, as joblib counts them.")
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the measures as JSON.")
def quality(
    table: Path,
    study: Path,
    target: tuple[str, ...],
    no_classifiers: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure how much a released TABLE still says of the table of its STUDY.

    TABLE is a release of any kind: its directory, or the table in it. Both tables and release.json
    are read; TABLE has to be the recoding that it describes. Classifiers need scikit-learn, and are
    left out without it unless targets are named.
    """
    from anonymizer.feedback.progress import progress
    from anonymizer.release.study import Study
    from anonymizer.report.utility import quality_report
    from anonymizer.utility import measure_file

    if target and no_classifiers:
        raise click.UsageError("--target is about classifiers: leave out --no-classifiers")
    with progress() as watch:
        targets = () if no_classifiers else target or None
        found = measure_file(Study(study), table, targets=targets, watch=watch, **options)
    show("the release was measured", as_json, found, quality_report)


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer compare study.toml\n"
    "  anonymizer compare study.toml --sweep t=0.3:0.9:0.1 --plot frontier.svg --jobs 2\n"
    "  anonymizer compare study.toml --schemes a1.toml a2.toml --plot schemes.svg"
)
@study_argument
@several_option(
    "schemes",
    "Files with a recoding and hierarchies of their own, which are carried out on all records.",
)
@click.option("--recoding", multiple=True, help="One to compare; repeatable. By default all.")
@click.option(
    "--sweep",
    multiple=True,
    metavar="NAME=from:to:step",
    help="Values that a parameter of the privacy models takes; repeatable: all combinations.",
)
@click.option("--seed", type=int, help="Of the random halves; by default the study's.")
@click.option("--jobs", "n_jobs", type=int, help="Recodings fitted at once, as joblib counts them.")
@plot_option
@redraw_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare(
    study: Path,
    schemes: tuple[Path, ...],
    recoding: tuple[str, ...],
    sweep: tuple[str, ...],
    seed: int | None,
    n_jobs: int | None,
    plot: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Compare recodings of the table of a STUDY: what each keeps on records it did not see.

    Each is fitted to a random half of the records and evaluated on the other half. Nothing is
    released. Exits with 1 when no recoding satisfies the policy on its half.

    With --schemes the recodings of these files are carried out on all records instead. One that
    breaks the policy is shown with the classes that do. Exits with 1 when none satisfies it.
    """
    from anonymizer.feedback.progress import progress
    from anonymizer.release.study import Study
    from anonymizer.report.printing import picture_at
    from anonymizer.report.utility import comparison_report
    from anonymizer.utility.comparison import compare_study, sweep_of

    if schemes:
        _refuse_halves(recoding=recoding, sweep=sweep, seed=seed)
        return _compare_schemes(study, schemes, n_jobs, plot, force, as_json)
    draw = plot and picture_at(plot, COMPARISON, force=force)
    options: dict[str, Any] = {"recodings": recoding or None, "sweep": sweep_of(sweep)}
    with progress() as shown, never_lost(shown) as watch:
        found = compare_study(Study(study), seed=seed, n_jobs=n_jobs, watch=watch, **options)
    if draw and found.fits:
        draw(found)
    show(
        "the recodings were compared",
        as_json,
        found,
        comparison_report,
        plot if found.fits else None,
    )
    return 0 if found.fits else 1


def _refuse_halves(**options: object) -> None:
    """Refuse options of a comparison on halves."""
    for name, given in options.items():
        if given not in ((), None):
            raise click.UsageError(
                f"--{name} is for recodings fitted to a half of the records, and schemes are "
                "carried out on all: leave out one of the two"
            )


def _compare_schemes(
    study: Path,
    schemes: tuple[Path, ...],
    n_jobs: int | None,
    plot: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    from anonymizer.feedback.progress import progress
    from anonymizer.report.printing import picture_at
    from anonymizer.report.utility import schemes_report
    from anonymizer.utility.schemes import compare_schemes_study

    draw = plot and picture_at(plot, FIGURES, force=force)
    described = _study_before(study)
    with progress() as shown, never_lost(shown) as watch:
        found = compare_schemes_study(described, schemes, n_jobs=n_jobs, watch=watch)
    if draw and found.schemes:
        draw(found)
    show(
        "the schemes were compared", as_json, found, schemes_report, plot if found.schemes else None
    )
    return 0 if found.best else 1


def _study_before(path: Path) -> "Study":
    """The study of a comparison; one without a table is a scheme that was named first."""
    from anonymizer.release.study import Study

    try:
        return Study(path)
    except InputError as error:
        if error.section != "data" or error.key is not None:
            raise
        raise InputError(
            str(error),
            "if it is a scheme, name the study before --schemes: anonymizer compare STUDY "
            f"--schemes {path}",
        ) from None


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer figures study.toml\n"
    "  anonymizer figures study.toml --scheme a1.toml --output a1.png"
)
@study_argument
@click.option("--scheme", type=PATH, help="A file with another recoding for the study's table.")
@click.option(
    *("--output", "-o"),
    type=PATH,
    help="A picture: .png, .svg or .pdf (matplotlib); by default STUDY-figures.svg, next to the "
    "study or the scheme. With --json none, unless it is given.",
)
@redraw_option
@jobs_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def figures(
    study: Path,
    scheme: Path | None,
    output: Path | None,
    force: bool,
    n_jobs: int | None,
    as_json: bool,
) -> int:
    """Draw what the recoding of a STUDY keeps, and what each class gives away.

    The recoding is searched for as run does, and nothing is released. Left are the bits in the
    original, those retained and lost, and what the policy allows; right are I1 and I2 of each
    class, against t and H(W) - log2 l. Fixed levels are drawn whether or not they satisfy the
    policy, with the classes that break it.

    Exits with 1 when the policy does not hold.
    """
    from anonymizer.feedback.progress import progress
    from anonymizer.release.study import Scheme, Study
    from anonymizer.report.printing import picture_at
    from anonymizer.report.utility import figures_report
    from anonymizer.utility.schemes import figures_study

    chosen = Scheme(scheme, Study(study)) if scheme else Study(study)
    if output is None and not as_json:
        output = chosen.path.with_name(f"{chosen.path.stem}-figures.svg")
    draw = output and picture_at(output, FIGURES, force=force)
    with progress() as shown, never_lost(shown) as watch:
        found = figures_study(chosen, n_jobs=n_jobs, watch=watch)
    if draw:
        draw(found)
    show("the figures were computed", as_json, found, figures_report, output)
    return 0 if found.satisfied else 1


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer estimate release --of age\n"
    "  anonymizer estimate release --of age --with diagnosis --method maximum-likelihood"
)
@click.argument("release", type=PATH)
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
    from anonymizer.report.utility import estimates_report
    from anonymizer.utility.estimate import estimate_file

    found = estimate_file(release, of, by, method)
    show("the release was estimated", as_json, found, estimates_report)


@click.command(epilog="Example: anonymizer lattice study.toml --plot lattice.svg")
@study_argument
@plot_option
@redraw_option
@jobs_option
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the lattice as JSON.")
def lattice(study: Path, plot: Path | None, force: bool, n_jobs: int | None, as_json: bool) -> None:
    """Show the lattice of levels of a STUDY: which nodes satisfy the policy, and which is best.

    The study's table is searched, and nothing is released. Listed are the frontier, the feasible
    nodes without a feasible specialization, and the optimum. Beyond 512 nodes JSON and picture
    have these and paths between them, the bottom and the top.
    """
    from anonymizer.feedback.progress import progress
    from anonymizer.recoding.hasse import lattice_graph, require_lattice
    from anonymizer.release.fitting import fitted
    from anonymizer.release.study import Study
    from anonymizer.report.hierarchy import lattice_dict, lattice_report
    from anonymizer.report.printing import picture_at

    draw = plot and picture_at(plot, LATTICE, force=force)
    described = Study(study)
    with progress() as shown, never_lost(shown) as watch:
        estimator = described.anonymizer(n_jobs, watch)
        require_lattice(described.recoding)
        with described.opened(watch) as table:
            plan = fitted(estimator, table, described.data_format).plan.fitted
        graph = lattice_graph(plan.search, plan.recoding, plan.taxonomies)
    if draw:
        draw(graph)
    show("the lattice was searched", as_json, graph, lattice_report, plot, lattice_dict)
