"""Commands to look things up: the privacy models."""

import click

from anonymizer.report.printing import printing

__all__ = ["models"]


@click.command(epilog="\b\nExample:\n  anonymizer models")
def models() -> None:
    """Print every privacy model, as a Markdown table: what a study calls it and what it bounds."""
    from anonymizer.privacy import MODELS, markdown

    with printing("the models were listed"):
        click.echo(markdown(MODELS.values()))
