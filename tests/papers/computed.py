"""The sections of each paper, computed once in a process: what tests read need not be made anew."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from anonymizer.papers.row import Section


@cache
def sections_of(paper: str) -> Sequence[Section]:
    """All of a paper, by its name at the command line."""
    sections: Sequence[Section] = import_module(f"anonymizer.papers.{paper}").sections()
    return sections
