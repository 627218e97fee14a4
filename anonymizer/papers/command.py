"""The command that computes a paper's figures anew."""

from importlib import import_module
from pathlib import Path

import click

from anonymizer.report.printing import print_json, printing

PICTURES = {
    "bezzi2010": "",
    "bkakria2021": "anonymizer.papers.plots.figures",
    "domingo2009": "anonymizer.papers.plots.curves",
    "longpre2017": "",
    "rebollo2008": "anonymizer.papers.plots.curves",
}
"""By paper, a module of this room, the module that draws its figures; empty where it has none.

Papers are imported by name: the list of their names must not load them.
"""


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer reproduce bezzi2010\n"
    "  anonymizer reproduce bkakria2021 --plot figures.svg"
)
@click.argument("paper", type=click.Choice([*PICTURES]))
@click.option(
    "--plot", type=click.Path(path_type=Path), help="A picture: .png, .svg or .pdf (matplotlib)."
)
@click.option("--force", is_flag=True, help="Replace the picture that already lies there.")
@click.option("--json", "as_json", is_flag=True, help="Print rows and series as JSON.")
def reproduce(paper: str, plot: Path | None, force: bool, as_json: bool) -> None:
    """Compute a PAPER's tables and figures anew and compare them with what was published.

    Every figure says whether it is as published, and why not where it cannot be reproduced.
    """
    from anonymizer.papers.report import print_reproduction
    from anonymizer.papers.row import flattened
    from anonymizer.report.picture import picture_at

    if plot and not PICTURES[paper]:
        drawn = ", ".join(name for name, picture in PICTURES.items() if picture)
        raise click.UsageError(f"{paper} has no figures to draw; leave out --plot (drawn: {drawn})")
    draw = plot and picture_at(plot, PICTURES[paper], force=force)
    module = import_module(f"anonymizer.papers.{paper}")
    sections = module.sections()
    if draw:
        draw(sections)
    with printing("the experiment was computed"):
        if as_json:
            print_json(flattened(sections))
        else:
            print_reproduction(module.TITLE, sections, plot)
