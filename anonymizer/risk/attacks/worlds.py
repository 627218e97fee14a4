"""Worlds: the ways to distribute the sensitive values of a class over the cells it was made of.

A world is a contingency table of cells by values with known margins. As records are exchangeable,
a table has the probability prod_c n_c! prod_w n_w! / (n! prod_cw n_cw!), which is the multivariate
hypergeometric distribution cell by cell.
"""

import numpy as np

from anonymizer.kernels.arrays import Codes, Floats, Ints


def enumerated(sizes: Ints, margin: Ints, most: int) -> tuple[Ints, Floats] | None:
    """All tables of given margins and their probabilities; None if they are more than ``most``.

    The margins are the records of each cell and of each value, shapes (cells,) and (values,). The
    tables have shape (tables, cells, values), their probabilities (tables,).

    >>> tables, probabilities = enumerated(np.array([1, 2]), np.array([2, 1]), 10)
    >>> tables[:, 0].tolist(), probabilities.round(3).tolist()
    ([[0, 1], [1, 0]], [0.333, 0.667])
    """
    tables, left = np.zeros((1, 0, len(margin)), np.int64), np.asarray(margin, np.int64)[None]
    for size in sizes:
        found = _rows(left, int(size), most)
        if found is None:
            return None
        parents, rows = found
        tables = np.concatenate([tables[parents], rows[:, None]], axis=1)
        left = left[parents] - rows
    log_factorials = np.log(np.maximum(np.arange(margin.max(initial=0) + 1), 1)).cumsum()
    logs = -log_factorials[tables].sum(axis=(1, 2))
    probabilities = np.exp(logs - logs.max())
    return tables, probabilities / probabilities.sum()


def drawn(sizes: Ints, margin: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Tables of given margins at random, shape (draws, cells, values).

    Cells are halved again and again: the share of the first half in each value in turn is
    hypergeometric. So log2(cells) times values calls draw everything.
    """
    levels = [np.asarray(sizes, np.int64)]
    while len(levels[-1]) > 1:
        levels[-1] = np.pad(levels[-1], (0, len(levels[-1]) % 2))
        levels.append(levels[-1][0::2] + levels[-1][1::2])
    tables = np.broadcast_to(np.asarray(margin, np.int64), (draws, 1, len(margin)))
    for parts in reversed(levels[:-1]):
        whole = tables[:, : len(parts) // 2]  # without what the level above was padded with
        first = _first_halves(whole, parts[0::2], rng)
        tables = np.stack([first, whole - first], axis=2).reshape(draws, len(parts), len(margin))
    return tables[:, : len(sizes)]


def _rows(left: Ints, size: int, most: int) -> tuple[Codes, Ints] | None:
    """Every way to take a cell of ``size`` records out of each rest, shape (rests, values).

    Every choice can be completed, so that their number never falls: beyond ``most`` it gives up.
    Returns the rest that each is taken from, (ways,), and what is taken, (ways, values).
    """
    parents, rows = np.arange(len(left)), np.zeros((len(left), 0), np.int64)
    need = np.full(len(left), size)
    for value in range(left.shape[1]):
        rest = left[parents, value + 1 :].sum(axis=1)
        low = np.maximum(need - rest, 0)
        ways = np.minimum(left[parents, value], need) - low + 1
        if ways.sum() > most:
            return None
        at = np.repeat(np.arange(len(ways)), ways)
        count = low[at] + np.arange(len(at)) - np.repeat(ways.cumsum() - ways, ways)
        parents, need = parents[at], need[at] - count
        rows = np.column_stack([rows[at], count])
    return parents, rows


def _first_halves(whole: Ints, sizes: Ints, rng: np.random.Generator) -> Ints:
    """The values in the first half of each cell, shape (draws, cells, values)."""
    first = np.empty_like(whole)
    need = np.broadcast_to(sizes, whole.shape[:2]).copy()
    rest = whole.sum(axis=2)
    for value in range(whole.shape[2] - 1):
        rest -= whole[:, :, value]
        first[:, :, value] = rng.hypergeometric(whole[:, :, value], rest, need)
        need -= first[:, :, value]
    first[:, :, -1] = need
    return first
