"""``python -m tests.fuzz``: see the package."""

import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from .exercise import Outcome
from .mutations import PARSERS
from .summary import Summary
from .workers import outcomes, tried

STUDIES_EACH = 10
"""Studies for each mutation of every parser, so that 100 000 go with 10 000."""


def names_of(
    seed: int, studies: int | None, mutations: int | None, parsers: tuple[str, ...]
) -> Iterator[str]:
    """The cases in the order in which they are tried; without end where no number is given."""
    for step in itertools.count():
        before = step * STUDIES_EACH
        some = range(before, before + STUDIES_EACH)
        named = [f"study:{seed + i}" for i in some if studies is None or i < studies]
        if mutations is None or step < mutations:
            named += [f"{parser}:{seed + step}" for parser in parsers]
        if not named:
            return
        yield from named


def until(names: Iterator[str], end: float) -> Iterator[str]:
    """As many of these as there is time for."""
    return itertools.takewhile(lambda _: time.monotonic() < end, names)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--minutes", type=float, help="How long; without end when nothing else bounds it.")
@click.option("--studies", type=int, help="How many studies at most.")
@click.option("--mutations", type=int, help="How many changed files of each parser at most.")
@click.option("--parsers", multiple=True, type=click.Choice([*PARSERS]), help="Only these.")
@click.option("--seed", type=int, default=0, show_default=True, help="Number of the first case.")
@click.option("--jobs", type=int, default=2, show_default=True, help="Processes.")
@click.option("--one", metavar="NAME", help="This case alone, such as study:4711.")
@click.option("--keep", type=click.Path(path_type=Path), help="Where files of failing cases go.")
def fuzz(
    minutes: float | None,
    studies: int | None,
    mutations: int | None,
    parsers: tuple[str, ...],
    seed: int,
    jobs: int,
    one: str | None,
    keep: Path | None,
) -> None:
    """Throw random studies and mutated inputs at the library; exit with 1 if anything fails."""
    summary = Summary()
    if one is not None:
        found: Iterator[Outcome] = iter([tried(one, keep)])
    else:
        names = names_of(seed, studies, mutations, parsers or tuple(PARSERS))
        end = time.monotonic() + minutes * 60 if minutes is not None else float("inf")
        found = outcomes(until(names, end), jobs, keep)
    try:
        for outcome in found:
            summary.add(outcome)
    except KeyboardInterrupt:
        click.echo("interrupted; so far:")
    click.echo(str(summary))
    sys.exit(1 if summary.failures else 0)


if __name__ == "__main__":
    fuzz()
