"""The command that computes a paper's figures anew."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click

from anonymizer.papers.row import PublishedSection
from anonymizer.report.printing import picture_at, print_json, print_report, printing

PAPERS = ("bezzi2010", "bkakria2021", "domingo2009", "longpre2017", "rebollo2008")
"""The papers, modules of this room.

They are imported by name: the list of their names must not load them.
"""


@click.command(
    epilog="\b\nExamples:\n"
    "  anonymizer reproduce bezzi2010\n"
    "  anonymizer reproduce bkakria2021 --plot figures.svg\n"
    "  anonymizer reproduce longpre2017 --markdown"
)
@click.argument("paper", type=click.Choice(PAPERS))
@click.option(
    "--plot", type=click.Path(path_type=Path), help="A picture: .png, .svg or .pdf (matplotlib)."
)
@click.option("--force", is_flag=True, help="Replace the picture that already lies there.")
@click.option("--json", "as_json", is_flag=True, help="Print rows and series as JSON.")
@click.option("--markdown", is_flag=True, help="Print a page that shows the picture, if drawn.")
def reproduce(paper: str, plot: Path | None, force: bool, as_json: bool, markdown: bool) -> None:
    """Compute a PAPER's tables and figures anew and compare them with what was published.

    Every figure says whether it is as published, and why not where it is not.
    """
    from anonymizer.feedback.progress import progress

    if as_json and markdown:
        raise click.UsageError("--json and --markdown print two different things: give one of them")
    draw = plot and picture_at(plot, "anonymizer.papers.plots.draw", force=force)
    module = import_module(f"anonymizer.papers.{paper}")
    with progress() as watch:
        watch(f"computing {paper} anew", 0, None)
        sections = module.sections()
    if draw:
        draw(sections)
    with printing("the experiment was computed"):
        _print(module, sections, plot, "json" if as_json else "markdown" if markdown else "")


def _print(
    module: ModuleType, sections: Sequence[PublishedSection], plot: Path | None, form: str
) -> None:
    from anonymizer.papers.report import flattened, page, reproduction_report

    if form == "json":
        print_json(flattened(sections))
    elif form == "markdown":
        paper = module.__name__.rpartition(".")[2]
        sys.stdout.write(page(paper, module.TITLE, sections, plot.name if plot else ""))
    else:
        print_report(reproduction_report(module.TITLE, sections, plot))
