"""Commands to look things up: the privacy models, and published experiments."""

import click

from anonymizer.cli.printing import print_json, printing

__all__ = ["models", "reproduce"]


@click.command()
def models() -> None:
    """Print every privacy model, as a Markdown table: what a study calls it and what it bounds."""
    from anonymizer.privacy import MODELS, markdown

    with printing("the models were listed"):
        click.echo(markdown(MODELS.values()))


@click.command()
@click.argument("paper", type=click.Choice(["bezzi2010"]))
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def reproduce(paper: str, as_json: bool) -> None:
    """Compute a PAPER's experiment anew and print it beside what was published."""
    from anonymizer.report import print_rows
    from anonymizer.reproduce import EXPERIMENTS

    title, rows = EXPERIMENTS[paper]()
    with printing("the experiment was computed"):
        if as_json:
            print_json([row.to_dict() for row in rows])
        else:
            print_rows(title, rows)
