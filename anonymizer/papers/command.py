"""The command that computes a paper's figures anew."""

from importlib import import_module
from pathlib import Path

import click

from anonymizer.report.printing import print_json, printing

PAPERS = {
    "bezzi2010": False,
    "bkakria2021": True,
    "domingo2009": True,
    "longpre2017": False,
    "rebollo2008": True,
}
"""By paper, a module of this room, whether it has figures to draw.

Papers are imported by name: the list of their names must not load them.
"""


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer reproduce bezzi2010\n"
    "  anonymizer reproduce bkakria2021 --plot figures.svg"
)
@click.argument("paper", type=click.Choice([*PAPERS]))
@click.option(
    "--plot", type=click.Path(path_type=Path), help="A picture: .png, .svg or .pdf (matplotlib)."
)
@click.option("--force", is_flag=True, help="Replace the picture that already lies there.")
@click.option("--json", "as_json", is_flag=True, help="Print rows and series as JSON.")
def reproduce(paper: str, plot: Path | None, force: bool, as_json: bool) -> None:
    """Compute a PAPER's tables and figures anew and compare them with what was published.

    Every figure says whether it is as published, and why not where it cannot be reproduced.
    """
    from anonymizer.papers.report import flattened, print_reproduction
    from anonymizer.report.printing import picture_at

    if plot and not PAPERS[paper]:
        drawn = ", ".join(name for name, has_figures in PAPERS.items() if has_figures)
        raise click.UsageError(f"{paper} has no figures to draw; leave out --plot (drawn: {drawn})")
    draw = plot and picture_at(plot, "anonymizer.papers.plots", force=force)
    module = import_module(f"anonymizer.papers.{paper}")
    sections = module.sections()
    if draw:
        draw(sections)
    with printing("the experiment was computed"):
        if as_json:
            print_json(flattened(sections))
        else:
            print_reproduction(module.TITLE, sections, plot)
