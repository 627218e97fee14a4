"""Which records get which of the values that were drawn for them: left to chance, counts exact."""

import secrets
from typing import NamedTuple

import numpy as np

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.tables.relations.relation import Moves

NONE = -1
"""The move of a record that is left out."""

CHANGED = "the table changed while it was released; release a copy of it that does not change"
"""Why records are not those that were counted."""


def seed_of() -> int:
    """What chance goes by: nobody who knows the table can know it."""
    return secrets.randbits(62)


class Runs(NamedTuple):
    """The records of each row of a counted table, in random order, and what they get in turn.

    ``row`` and ``move`` of each run (runs,), the rank of its first record, and how many it has. Those
    that are left out come last in a row, with ``NONE``.
    """

    row: Codes
    move: Codes
    first: Ints
    sizes: Ints


def runs_of(moves: Moves) -> Runs:
    """What the records of each row get."""
    counted = moves.raw.sizes
    given = np.bincount(moves.of, moves.records, minlength=len(counted)).astype(np.int64)
    row = np.concatenate([moves.of, np.arange(len(counted))])
    move = np.concatenate([np.arange(len(moves.of)), np.full(len(counted), NONE)])
    sizes = np.concatenate([moves.records, counted - given])
    order = np.argsort(row, kind="stable")
    row, move, sizes = row[order], move[order], sizes[order]
    before = np.cumsum(counted) - counted
    return Runs(row, move, np.cumsum(sizes) - sizes - before[row], sizes)


def dealt(rows: Codes, moves: Moves, seed: int) -> Codes:
    """The move of each record, ``NONE`` where it gets none, shape (records,).

    ``rows``: of which row of the counted table each record is. Raises InputError where they are not
    as many of each as were counted.
    """
    counted = moves.raw.sizes
    if not np.array_equal(np.bincount(rows, minlength=len(counted)), counted):
        raise InputError(CHANGED)
    runs = runs_of(moves)
    chance = np.random.default_rng(seed).permutation(len(rows))
    found = np.empty(len(rows), np.int64)
    found[chance[np.argsort(rows[chance], kind="stable")]] = np.repeat(runs.move, runs.sizes)
    return found
