"""Lattices, what releases are good for, and their counts corrected."""

from pathlib import Path
from typing import Any

import click

from anonymizer.cli.options import show
from anonymizer.errors import InputError
from anonymizer.feedback.progress import progress
from anonymizer.recoding.hasse import lattice_graph, require_lattice
from anonymizer.release.fitting import fitted
from anonymizer.release.study import Scheme, Study
from anonymizer.release.system import never_lost
from anonymizer.report.hierarchy import lattice_dict, lattice_report
from anonymizer.report.printing import picture_at
from anonymizer.report.utility import (
    comparison_report,
    estimates_report,
    figures_report,
    quality_report,
    schemes_report,
)
from anonymizer.utility import measure_file
from anonymizer.utility.comparison import compare_study, sweep_of
from anonymizer.utility.schemes import compare_schemes_study, figures_study

COMPARISON = "anonymizer.report.plots.comparison.draw_comparison"
FIGURES = "anonymizer.report.plots.comparison.draw_figures"
LATTICE = "anonymizer.report.plots.lattice.draw_lattice"


def quality(
    table: Path,
    study: Path,
    target: tuple[str, ...],
    no_classifiers: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Carry out ``quality``."""
    if target and no_classifiers:
        raise click.UsageError("--target is about classifiers: leave out --no-classifiers")
    with progress() as watch:
        targets = () if no_classifiers else target or None
        found = measure_file(Study(study), table, targets=targets, watch=watch, **options)
    show("the release was measured", as_json, found, quality_report)


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
    """Carry out ``compare``."""
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


def _study_before(path: Path) -> Study:
    """The study of a comparison; one without a table is a scheme that was named first."""
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


def figures(
    study: Path,
    scheme: Path | None,
    output: Path | None,
    force: bool,
    n_jobs: int | None,
    as_json: bool,
) -> int:
    """Carry out ``figures``."""
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


def estimate(release: Path, of: str, by: str | None, method: str, as_json: bool) -> None:
    """Carry out ``estimate``."""
    from anonymizer.utility.estimate import estimate_file  # loads channels

    found = estimate_file(release, of, by, method)
    show("the release was estimated", as_json, found, estimates_report)


def lattice(study: Path, plot: Path | None, force: bool, n_jobs: int | None, as_json: bool) -> None:
    """Carry out ``lattice``."""
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
