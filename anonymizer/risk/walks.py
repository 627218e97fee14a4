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
from time import monotonic

import numpy as np

from anonymizer.feedback.progress import Watch, ignore
from anonymizer.feedback.words import plural
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.risk.minimality import ENOUGH
from anonymizer.risk.simulation import Dealing, LateError, Simulation

SIMULATING = "simulating the search"

CHAINS = 4
"""Walks that are held against each other."""

BLOCKS = 100
"""Blocks of a walk, of which the first quarter does not count."""

BATCHES = 25
"""Parts of the rest, whole blocks each, that standard errors are estimated from."""

FRESH = 0.25
"""Share of the steps that deal all classes anew; as many deal one class anew."""

AGREE = 1.1
"""The largest R-hat (Gelman, Rubin 1992) of walks that are taken to agree."""

MOST_NUMBERS = 1 << 23
"""Numbers that are held of all walks."""

SLOW = 4
"""Searches from which on their pace is known."""

TINY = 1e-12
"""Variances below are rounding errors."""


@dataclass(eq=False)
class Walk:
    """A Markov chain among the worlds in S, which are all as likely in the long run.

    Each record is told apart, so that every way to deal is one state. A step proposes to swap the
    values of two records of a class, to deal a class anew, or to deal all anew; which of these is
    drawn from nothing but the classes, and the way back is as likely. So it is Metropolis's rule to
    take the step where S holds, and to stay otherwise. Dealing all anew leads anywhere, so that no
    world in S is out of reach.
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
        else:
            other = int(self.rng.integers(start, end))
            values[[one, other]] = values[[other, one]]
        return values, False


@dataclass(eq=False)
class Walks:
    """Worlds of several walks: their sums in each block, and sums of squares.

    Shapes are (walks, blocks, cells, kinds). ``length``: steps of a block; ``blocks``: those that
    were walked; ``fresh``: how often S held of all dealt anew; ``moves``: steps that were taken.
    """

    sums: Floats
    squares: Floats
    length: int
    blocks: int = 0
    fresh: Counter[bool] = field(default_factory=Counter)
    moves: int = 0

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
        found = cls(np.zeros(shape), np.zeros(shape), max(-(-draws // (CHAINS * BLOCKS)), 1))
        walks = [Walk(dealing, each, dealing.values, dealing.world) for each in rng.spawn(CHAINS)]
        start = monotonic()
        try:
            while found.blocks < BLOCKS and monotonic() - start < simulated.seconds:
                watch(SIMULATING, found.blocks, BLOCKS)
                found.walk(walks, simulated)
        except LateError:
            pass  # what was walked before counts
        found.moves = sum(each.moves for each in walks)
        return found

    def walk(self, walks: Sequence[Walk], simulated: Simulation) -> None:
        """Walk a block; LateError when time is up, or searches are too slow to say anything."""
        for _ in range(self.length):
            for number, walk in enumerate(walks):
                if (held := walk.step(simulated)) is not None:
                    self.fresh[held] += 1
                self.sums[number, self.blocks] += walk.world
                self.squares[number, self.blocks] += walk.world**2
            pace = simulated.spent / max(simulated.searches, 1)
            if simulated.searches >= SLOW and pace * ENOUGH > simulated.seconds:
                raise LateError
        self.blocks += 1

    @property
    def draws(self) -> int:
        """The worlds that were walked through, of all walks."""
        return int(self.blocks * self.length * CHAINS)

    def _batched(self, sums: Floats) -> Floats:
        """Return means of the batches, shape (walks, batches, cells, kinds)."""
        first = self.blocks // 4
        each = (self.blocks - first) // BATCHES
        some = sums[:, first : first + each * BATCHES]
        shape = CHAINS, BATCHES, each, *sums.shape[2:]
        return np.asarray(some.reshape(shape).mean(axis=2) / self.length)

    @property
    def means(self) -> Floats:
        """Mean worlds of the batches, shape (walks, batches, cells, kinds)."""
        return self._batched(self.sums)

    @property
    def within(self) -> Floats:
        """Mean variance of a count within a walk, shape (cells, kinds)."""
        squares = self._batched(self.squares).mean(axis=1)
        return np.asarray((squares - self.means.mean(axis=1) ** 2).mean(axis=0))

    @property
    def effective(self) -> float:
        """The independent draws that the walks are worth.

        The least of any count, by batch means: a mean of independent draws has the variance of a
        draw over their number. Never more than the steps that were taken. All dealt anew where S
        holds are independent draws, even where it is the same world again.
        """
        means = self.means
        every = means.reshape(-1, *means.shape[2:])
        variance = self.within + means.mean(axis=1).var(axis=0)
        error = every.var(axis=0, ddof=1) / len(every)
        moving = variance > TINY
        worth = variance[moving] / np.maximum(error[moving], TINY)
        return float(max(min(worth.min(initial=self.moves), self.moves), self.fresh[True]))

    @property
    def disagreement(self) -> float:
        """The largest R-hat of a count, of walks that are split into halves."""
        means, half = self.means, BATCHES // 2
        halves = np.stack([means[:, :half].mean(axis=1), means[:, -half:].mean(axis=1)])
        between = halves.reshape(-1, *means.shape[2:]).var(axis=0, ddof=1)
        within = self.within
        moving = within > TINY
        ratio = between[moving] / within[moving]
        return float(np.sqrt(1 + ratio.max(initial=0.0)))

    @property
    def doubt(self) -> str:
        """Why the walks say nothing about single records; empty where they do."""
        if self.blocks - self.blocks // 4 < BATCHES:
            return "its search is too slow to be run again often enough"
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


def too_many(dealing: Dealing) -> bool:
    """Return whether worlds have too many counts for walks to be held in memory."""
    return 2 * CHAINS * BLOCKS * dealing.world.size > MOST_NUMBERS
