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
    """What the records of each row of a counted table get, one after another.

    ``row`` and ``move`` of each run (runs,), the rank in its row of its first record, and how many
    records it has. Those that are left out come last in a row, with ``NONE``.
    """

    row: Codes
    move: Codes
    first: Ints
    sizes: Ints


def runs_of(moves: Moves) -> Runs:
    """What the records of each row get, in the order of rows."""
    counted = moves.raw.sizes
    given = np.bincount(moves.of, moves.records, minlength=len(counted)).astype(np.int64)
    row = np.concatenate([moves.of, np.arange(len(counted))])
    move = np.concatenate([np.arange(len(moves.of)), np.full(len(counted), NONE)])
    sizes = np.concatenate([moves.records, counted - given])
    order = np.argsort(row, kind="stable")
    order = order[sizes[order] > 0]
    row, sizes = row[order], sizes[order]
    before = np.cumsum(counted) - counted
    return Runs(row, move[order], np.cumsum(sizes) - sizes - before[row], sizes)


def dealt(rows: Codes, runs: Runs, rng: np.random.Generator) -> Codes:
    """The move of each record, ``NONE`` where it gets none, shape (records,).

    ``rows``: the row of each record, shape (records,); all records of these rows are among them, or
    InputError is raised.
    """
    present = np.bincount(rows, minlength=runs.row.max(initial=-1) + 1)
    here = present[runs.row] > 0
    move, row, sizes = runs.move[here], runs.row[here], runs.sizes[here]
    if not np.array_equal(np.bincount(row, sizes, minlength=len(present)), present):
        raise InputError(CHANGED)
    chance = rng.permutation(len(rows))
    found = np.empty(len(rows), np.int64)
    found[chance[np.argsort(rows[chance], kind="stable")]] = np.repeat(move, sizes)
    return found
