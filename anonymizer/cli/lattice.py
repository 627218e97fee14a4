"""The command that shows the lattice of a study."""

from pathlib import Path

import click

from anonymizer.cli.options import plot_option, show_values_option
from anonymizer.release.output.interrupts import never_lost
from anonymizer.report.printing import print_json, printing

DRAWING = "anonymizer.report.plots.lattice"


@click.command(epilog="Example: anonymizer lattice study.toml --plot lattice.svg")
@click.argument("study", type=click.Path(path_type=Path))
@plot_option
@click.option("--force", is_flag=True, help="Replace the picture that already lies there.")
@click.option("--jobs", type=int, help="Nodes checked at once, as joblib counts them.")
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print the lattice as JSON.")
def lattice(study: Path, plot: Path | None, force: bool, jobs: int | None, as_json: bool) -> None:
    """Show the lattice of levels of a STUDY: which nodes satisfy the policy, and which is best.

    The study's table is searched, and nothing is released. Listed are the frontier, the feasible
    nodes without a feasible specialization, and the optimum. Beyond 512 nodes JSON and picture
    have these and paths between them, the bottom and the top.
    """
    from anonymizer.recoding.hasse import require_lattice
    from anonymizer.release.study import Study
    from anonymizer.report.lattice import lattice_dict, print_lattice
    from anonymizer.report.picture import picture_at
    from anonymizer.report.progress import progress

    draw = plot and picture_at(plot, DRAWING, force=force)
    described = Study(study)
    with progress() as shown, never_lost(shown) as watch:
        estimator = described.anonymizer(jobs, watch)
        require_lattice(described.recoding)
        watch("reading the table", 0, None)
        graph = estimator.fit(described.read()).lattice_
    if draw:
        draw(graph)
    with printing("the lattice was searched"):
        if as_json:
            print_json(lattice_dict(graph))
        else:
            print_lattice(graph, plot)
