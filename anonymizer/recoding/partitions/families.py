"""Which groups of an attribute's values its partitions are made of, whatever kind they are."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from anonymizer.counts.counts import Codes, Counts, Floats
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.privacy import Mask
from anonymizer.recoding.partitions.interval_dp import Chain
from anonymizer.recoding.problem.class_scores import Judge, Judged

__all__ = ["Family", "Intervals", "Path"]

Path = tuple[int, ...]
"""The groups that make a partition."""


@dataclass(frozen=True, eq=False)
class Family(ABC):
    """The groups that one attribute's values may form, and which of them make a partition.

    Parameters
    ----------
    attribute, taxonomy
        The attribute.
    """

    attribute: str
    taxonomy: Taxonomy

    @abstractmethod
    def judged(self, judge: Judge, counts: Counts) -> Judged:
        """Judge every group of an attribute that is raw in the counts, the others as released."""

    @abstractmethod
    def best(self, allowed: Mask, worth: Floats) -> Path | None:
        """The partition into allowed groups whose worth adds up to most; None where none is."""

    @abstractmethod
    def paths(self, allowed: Mask) -> Iterator[Path]:
        """Every partition into allowed groups."""

    @abstractmethod
    def partition(self, path: Path) -> Partition:
        """The partition of all values of the taxonomy that some groups make."""

    def apart(self, judge: Judge, counts: Counts) -> float | None:
        """What classes add that no group holds; None where they are unacceptable."""
        return 0.0

    @property
    def confined(self) -> bool:
        """Whether levels of the taxonomy may not be among its partitions."""
        return False

    @property
    def beside(self) -> tuple[Partition, ...]:
        """Partitions that no path makes: suppression, where no group holds all values."""
        return ()


@dataclass(frozen=True, eq=False)
class Intervals(Family):
    """Groups that are intervals of an order of the values.

    Parameters
    ----------
    starts, ends
        Group k holds the blocks of values starts[k], ..., ends[k] - 1; shape (groups,) each,
        ordered by start, then by end.
    blocks
        How many blocks there are.
    most
        At most so many groups make a partition; None where any number may.
    """

    starts: Codes
    ends: Codes
    blocks: int
    most: int | None

    @abstractmethod
    def blocks_of(self, codes: Codes) -> Codes:
        """The block of each value code, -1 for one that no group holds, shape (codes,)."""

    def chain(self, allowed: Mask) -> Chain:
        """The allowed groups that lead from the first block to the last."""
        return Chain.of(self.starts, self.ends, self.blocks, allowed, self.most)

    def best(self, allowed: Mask, worth: Floats) -> Path | None:
        """By dynamic programming over the blocks. Ties: the earliest cuts, from the first on."""
        chain = self.chain(allowed)
        path = chain.best(worth[chain.groups])
        return None if path is None else chain.given(path)

    def paths(self, allowed: Mask) -> Iterator[Path]:
        """The earliest cuts first."""
        chain = self.chain(allowed)
        return map(chain.given, chain.paths())
