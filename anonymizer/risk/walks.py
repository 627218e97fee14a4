"""Walks through the worlds in which a search releases the same, where these are too many to list.

With S the event that a world is released as the table was, the worlds in S are equally likely. A
walk begins at the table itself, which is in S, and goes from world to world by steps that are as
likely as the way back; where S does not hold it stays. So its worlds in the long run are draws from
S that depend on each other (Metropolis et al. 1953).

What a walk says is estimated from batch means, and held against that of other walks. All begin at
the same world, so that walks that agree may all have missed worlds that no small step leads to:
some steps deal all values anew, and such a step leads anywhere.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from time import monotonic

import numpy as np

from anonymizer.feedback.progress import Watch, ignore
from anonymizer.feedback.words import plural
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.risk.minimality import ENOUGH
from anonymizer.risk.simulation import Dealing, LateError, Simulation

SLOW_SEARCH = "its search is too slow to be run again often enough"

SIMULATING = "simulating the search"

CHAINS = 4
"""Walks that are held against each other."""

BLOCKS = 100
"""Blocks of a walk at the most, an even number. Their first quarter does not count."""

BATCHES = 25
"""Parts of the rest, whole blocks each, that standard errors are estimated from."""

FRESH = 0.25
"""Share of the steps that deal all classes anew; as many deal one class anew."""

SWAPS = (1, 2, 4, 8, 16)
"""Swaps of a step: many where S nearly always holds, few where it nearly never does."""

AGREE = 1.1
"""The largest R-hat (Gelman, Rubin 1992) of walks that are taken to agree."""

MOST_NUMBERS = 1 << 24
"""Numbers that are held of all walks, 8 bytes each."""

SLOW = 4
"""Searches from which on their pace is known."""

LOOK = 10
"""Blocks after which it is looked whether walking on makes sense."""

TINY = 1e-12
"""Variances below are rounding errors."""


@dataclass(eq=False)
class Walk:
    """A Markov chain among the worlds in S, which are all as likely in the long run.

    Each record is told apart, so that every way to deal is one state. A step proposes to swap the
    values of some pairs of records of a class, to deal a class anew, or to deal all anew. Which of
    these is drawn from nothing but the classes, and the way back, the same swaps in reverse, is as
    likely. So it is Metropolis's rule to take the step where S holds, and to stay otherwise.
    Dealing all anew leads anywhere, so that no world in S is out of reach.
    """

    dealing: Dealing
    rng: np.random.Generator
    values: Codes
    world: Ints
    moves: int = 0

    def step(self, simulated: Simulation) -> bool | None:
        """Take a step, or stay; of all dealt anew, return whether S held."""
        values, fresh = self._proposed()
        world = self.dealing.dealt(values)
        moved = not np.array_equal(world, self.world)
        holds = not moved or simulated.accepts(world)
        if holds:
            self.values, self.world = values, world
            self.moves += moved
        return holds if fresh else None

    def _proposed(self) -> tuple[Codes, bool]:
        """Return the values of all records as proposed, and whether all were dealt anew."""
        values, way, ends = self.values.copy(), self.rng.random(), self.dealing.ends
        if way < FRESH:
            for start, end in zip([0, *ends[:-1]], ends, strict=True):
                values[start:end] = self.rng.permutation(values[start:end])
            return values, True
        one = int(self.rng.integers(ends[-1]))
        number = int(np.searchsorted(ends, one, side="right"))
        start, end = int(ends[number - 1]) if number else 0, int(ends[number])
        if way < 2 * FRESH:
            values[start:end] = self.rng.permutation(values[start:end])
            return values, False
        for _ in range(int(self.rng.choice(SWAPS))):
            pair = self.rng.integers(start, end, 2)
            values[pair] = values[pair[::-1]]
        return values, False


@dataclass(eq=False)
class Walks:
    """Worlds of several walks: their sums in each block, and squares of all walks together.

    Shapes are (walks, blocks, cells, kinds) and (blocks, cells, kinds). ``length``: steps of a
    block; ``blocks``: those that were walked; ``free``: the counts that can vary; ``fresh``: how
    often S held of all dealt anew; ``moves``: steps that were taken; ``late``: whether time ended
    them.
    """

    free: Mask
    sums: Floats
    squares: Floats
    length: int = 1
    blocks: int = 0
    fresh: Counter[bool] = field(default_factory=Counter)
    moves: int = 0
    late: bool = False

    @classmethod
    def of(
        cls,
        simulated: Simulation,
        dealing: Dealing,
        rng: np.random.Generator,
        draws: int,
        watch: Watch = ignore,
    ) -> "Walks":
        """Walk through about so many worlds, as far as the time of the searches allows."""
        shape = CHAINS, BLOCKS, *dealing.world.shape
        found = cls(dealing.free, np.zeros(shape), np.zeros(shape[1:]))
        walks = [Walk(dealing, each, dealing.values, dealing.world) for each in rng.spawn(CHAINS)]
        start = monotonic()
        try:
            while found.draws < draws:
                watch(SIMULATING, found.draws, draws)
                if found.blocks == BLOCKS:
                    found.halve()
                found.walk(walks, simulated)
                spent = (monotonic() - start) / simulated.seconds
                passed = max(found.draws / draws, spent)
                found.late = spent > found.draws / draws
                if passed >= 1 or (found.blocks % LOOK == 0 and found.hopeless(passed)):
                    break
        except LateError:
            found.late = True  # what was walked before counts
        return found

    def halve(self) -> None:
        """Make one block of each two: blocks double in length where walks are long."""
        half = BLOCKS // 2
        for each in self.sums, self.squares[None]:
            each[:, :half] = each[:, 0::2] + each[:, 1::2]
            each[:, half:] = 0
        self.length, self.blocks = 2 * self.length, half

    def hopeless(self, passed: float) -> bool:
        """Return whether ENOUGH is out of reach, from what a share of the walks has brought.

        Counts that did not vary yet get fewer by the same factor in the same time, as those of
        cells that no step has come to.
        """
        if at_best(self.fresh[True]) / passed >= ENOUGH:
            return False
        sums, squares = self.sums.sum(axis=(0, 1)), self.squares.sum(axis=0)
        draws = self.draws
        still = (squares / draws - (sums / draws) ** 2)[self.free] <= TINY
        left = still.sum() * still.mean() ** (1 / passed - 1)
        return bool(left >= 1) or at_best(self.moves) / passed < ENOUGH

    def walk(self, walks: Sequence[Walk], simulated: Simulation) -> None:
        """Walk a block; LateError when time is up, or searches are too slow to say anything."""
        for _ in range(self.length):
            for number, walk in enumerate(walks):
                if (held := walk.step(simulated)) is not None:
                    self.fresh[held] += 1
                self.sums[number, self.blocks] += walk.world
                self.squares[self.blocks] += walk.world**2
            if simulated.searches >= SLOW and simulated.pace * ENOUGH > simulated.seconds:
                raise LateError
        self.blocks += 1
        self.moves = sum(each.moves for each in walks)

    @property
    def draws(self) -> int:
        """The worlds that were walked through, of all walks."""
        return int(self.blocks * self.length * CHAINS)

    @property
    def kept(self) -> slice:
        """The blocks that count: the last three quarters, cut into batches of as many each."""
        first = self.blocks // 4
        return slice(first, first + (self.blocks - first) // BATCHES * BATCHES)

    @cached_property
    def means(self) -> Floats:
        """Mean worlds of the batches, shape (walks, batches, cells, kinds)."""
        some = self.sums[:, self.kept]
        shape = CHAINS, BATCHES, -1, *some.shape[2:]
        return np.asarray(some.reshape(shape).mean(axis=2) / self.length)

    @cached_property
    def within(self) -> Floats:
        """Mean variance of a count within a walk, shape (cells, kinds)."""
        squares = self.squares[self.kept].mean(axis=0) / (self.length * CHAINS)
        return np.asarray(squares - (self.means.mean(axis=1) ** 2).mean(axis=0))

    @cached_property
    def effective(self) -> float:
        """The independent draws that the walks are worth.

        The least of any count that can vary, and 0 of one that never did: a mean of independent
        draws has the variance of a draw over their number. Never more than the steps that were
        taken. All dealt anew where S holds are independent draws, be it the same world again.
        """
        variance = self.within + self.means.mean(axis=1).var(axis=0)
        worth = variance[self.free] / np.maximum(squared_errors(self.means)[self.free], TINY)
        return float(max(min(worth.min(), self.moves), self.fresh[True]))

    @cached_property
    def disagreement(self) -> float:
        """The largest R-hat of a count, of walks that are split into halves."""
        means, half = self.means, BATCHES // 2
        halves = np.stack([means[:, :half].mean(axis=1), means[:, -half:].mean(axis=1)])
        between = halves.reshape(-1, *means.shape[2:]).var(axis=0, ddof=1)
        within = self.within
        moving = within > TINY
        ratio = between[moving] / within[moving]
        return float(np.sqrt(1 + ratio.max(initial=0.0)))

    @cached_property
    def doubt(self) -> str:
        """Why the walks say nothing about single records; empty where they do."""
        if self.blocks - self.blocks // 4 < BATCHES:
            few = f"{plural(self.draws, 'world')} that were drawn are too few to say anything"
            return SLOW_SEARCH if self.late else few
        if self.effective < ENOUGH:
            return (
                f"{plural(self.draws, 'world')} that were drawn say as much of a single record as "
                f"{self.effective:.0f} independent ones, and fewer than {ENOUGH} say nothing"
            )
        if self.disagreement > AGREE:
            return (
                f"{CHAINS} walks through the worlds do not agree (R-hat {self.disagreement:.2f}, "
                f"above {AGREE})"
            )
        return ""


def at_best(number: int) -> float:
    """Return how many there would have been at the most of what chance has brought so often.

    Twice the standard deviation of a Poisson variable more, and some more of few.
    """
    return number + 2 * sqrt(number + 1) + 3


def squared_errors(means: Floats) -> Floats:
    """Return the squared standard errors of counts from batch means, shape (cells, kinds).

    ``means`` (walks, batches, cells, kinds). The larger of those by batches and by as many as five
    of these together, which differ where a batch depends on the one before.
    """
    walks, batches, *shape = means.shape
    longer = means.reshape(walks, batches // 5, 5, *shape).mean(axis=2)
    found = [each.reshape(-1, *shape) for each in (means, longer)]
    return np.asarray(np.max([each.var(axis=0, ddof=1) / len(each) for each in found], axis=0))


def too_many(dealing: Dealing) -> bool:
    """Return whether worlds have too many counts for walks to be held in memory."""
    return (CHAINS + 1) * BLOCKS * dealing.world.size > MOST_NUMBERS
