"""The sections of each paper, computed once in a process: what tests read need not be made anew."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import islice, repeat
from unittest import mock

from lengths import at_length

from anonymizer.kernels.arrays import Floats
from anonymizer.papers.rebollo2008.grid import Grid, Recipe
from anonymizer.papers.row import PublishedSection

WALKED = at_length(600, 10**9)
"""Steps of a descent after which it stands: the rows that tell where it ends are marked as varying,
and are held against the figures of all steps at full length alone."""


@cache
def sections_of(paper: str) -> Sequence[PublishedSection]:
    """All of a paper, by its name at the command line."""
    steps = Grid.steps

    def walked(grid: Grid, shares: Sequence[float], recipe: Recipe) -> Iterator[Floats]:
        for channels in islice(steps(grid, shares, recipe), WALKED):
            yield channels
        yield from repeat(channels)

    with mock.patch.object(Grid, "steps", walked):
        sections: Sequence[PublishedSection] = import_module(
            f"anonymizer.papers.{paper}"
        ).sections()
    return sections
