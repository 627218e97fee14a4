"""``python -m tests.frozen``: see the package."""

import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat

import click

from .digests import (
    NOT_HERE,
    PARTS,
    Digests,
    differences,
    digested,
    names_of,
    other_versions,
    record,
    recorded,
    text_of,
)

ENVIRONMENT = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",  # these round logarithms otherwise
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "COLUMNS": "100",
}
"""What processes have to know before they load a library."""

AT_ONCE = 5
"""Names that a process takes at once."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--record", "recording", is_flag=True, help="Write the digests anew.")
@click.option("--show", metavar="NAME", help="Print the text of this name alone.")
@click.option("--only", type=click.Choice(PARTS), multiple=True, help="This part; repeatable.")
@click.option("--jobs", type=int, default=2, show_default=True, help="Processes.")
def frozen(recording: bool, show: str | None, only: tuple[str, ...], jobs: int) -> None:
    """Compare texts with the digests that are recorded; exit with 1 if any differs."""
    os.environ.update(ENVIRONMENT)
    if show is not None:
        part = next((each for each in only or PARTS if show in names_of(each)), None)
        if part is None:
            raise click.UsageError(f"there is no text of the name {show!r}")
        click.echo(text_of(part, show) or NOT_HERE, nl=False)
        return
    differing = False
    for part in only or PARTS:
        found, seconds = _made(part, jobs)
        click.echo(f"{part}: {len(found):,} texts, {seconds:,.0f} s of a processor")
        if recording:
            record(part, found)
            continue
        absent = [*found.values()].count(NOT_HERE)
        if absent:
            click.echo(f"  {absent} not compared: something that they need is not installed")
        for line in differences(recorded(part), found):
            click.echo(f"  {line}")
            differing = True
    if differing and (others := other_versions()):
        click.echo(f"recorded with {others}")
    click.echo("recorded" if recording else "different" if differing else "equal")
    sys.exit(1 if differing else 0)


def _made(part: str, jobs: int) -> tuple[Digests, float]:
    """The digests of all texts of a part, and for how many seconds processors worked."""
    names = names_of(part)
    # Started anew, not forked: the threads of DuckDB do not live on in a forked process.
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        found = [*pool.map(digested, repeat(part), names, chunksize=AT_ONCE)]
    digests = {name: digest for name, (digest, _) in zip(names, found, strict=True)}
    return digests, sum(seconds for _, seconds in found)


if __name__ == "__main__":
    frozen()
