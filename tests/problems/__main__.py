"""``python -m tests.problems``: see the package."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

import click

from .trying import Tried, explained, tried

EACH = 20
"""Problems that a process takes at once."""

EXAMPLES = 3
"""Problems of a kind of failure that are shown."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--number", type=int, default=1000, show_default=True, help="How many problems.")
@click.option("--seed", type=int, default=1, show_default=True, help="Number of the first problem.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes.")
@click.option("--one", type=int, help="This problem alone.")
def problems(number: int, seed: int, jobs: int, one: int | None) -> None:
    """Solve random problems in every way; exit with 1 if anything is not as brute force has it."""
    since, seen, failed = time.monotonic(), Counter(), []
    numbers = range(seed, seed + number) if one is None else range(one, one + 1)
    with _mapped(jobs) as mapped:
        for found in mapped(numbers):
            seen.update(found.about)
            if found.complaints:
                failed.append(found)
                click.echo(f"problem {found.number}: {found.complaints[0].kind}")
    seconds = time.monotonic() - since
    click.echo(f"{len(numbers):,} problems in {seconds:,.0f} s")
    click.echo(", ".join(f"{name} {count:,}" for name, count in sorted(seen.items())))
    for text in _shown(failed):
        click.echo(text)
    click.echo(f"{len(failed):,} failed" if failed else "nothing failed")
    sys.exit(1 if failed else 0)


@contextmanager
def _mapped(jobs: int) -> Iterator:
    """What tries problems, on so many processes."""
    if jobs == 1:
        yield lambda numbers: map(tried, numbers)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield lambda numbers: pool.map(tried, numbers, chunksize=EACH)


def _shown(failed: list[Tried]) -> Iterator[str]:
    """The smallest problems of each kind of failure."""
    kinds: dict[str, list[Tried]] = {}
    for found in failed:
        kinds.setdefault(found.complaints[0].kind, []).append(found)
    for kind, those in kinds.items():
        yield f"{len(those):,} x {kind}: {' '.join(str(each.number) for each in those[:20])}"
        for each in those[:EXAMPLES]:
            yield explained(each)


if __name__ == "__main__":
    problems()
