"""The command that computes a paper's figures anew."""

from pathlib import Path

import click

from anonymizer.report.printing import print_json, printing

__all__ = ["reproduce"]

NAMES = ("bezzi2010", "bkakria2021", "domingo2009", "longpre2017", "rebollo2008")
"""The papers; asking for their names must not load them."""


@click.command()
@click.argument("paper", type=click.Choice(NAMES))
@click.option(
    "--plot", type=click.Path(path_type=Path), help="A picture: .png, .svg or .pdf (matplotlib)."
)
@click.option("--force", is_flag=True, help="Replace the picture that already lies there.")
@click.option("--json", "as_json", is_flag=True, help="Print rows and series as JSON.")
def reproduce(paper: str, plot: Path | None, force: bool, as_json: bool) -> None:
    """Compute a PAPER's tables and figures anew and print them beside what was published.

    Every figure says whether it is as published, and why not where it cannot be reproduced.
    """
    from anonymizer.papers.catalogue import PAPERS
    from anonymizer.papers.report import print_reproduction
    from anonymizer.papers.row import flattened
    from anonymizer.report.picture import picture_at

    asked = PAPERS[paper]
    if plot and not asked.drawn:
        drawn = ", ".join(name for name, other in PAPERS.items() if other.drawn)
        raise click.UsageError(f"{paper} has no figures to draw; leave out --plot (drawn: {drawn})")
    draw = plot and picture_at(plot, asked.picture, force=force)
    sections = asked.sections()
    if draw:
        draw(sections)
    with printing("the experiment was computed"):
        if as_json:
            print_json(flattened(sections))
        else:
            print_reproduction(asked.title, sections, plot)
