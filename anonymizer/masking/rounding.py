"""How many records of each kind get each released symbol, so that the draw stays near its channel.

Drawing every record by itself would do, but the counts of a symbol would be off by the square root
of what is expected. Here every record still gets each symbol with exactly the channel's chance,
while the number of records with a symbol is off by less than one: dependent rounding of a bipartite
graph (Gandhi, Khuller, Parthasarathy, Srinivasan, "Dependent rounding and its applications to
approximation algorithms", J. ACM 53, 2006), of which systematic rounding is the case of one row.
"""

from itertools import pairwise

import numpy as np

from anonymizer.kernels.arrays import Floats, Ints

ONE = 1 << 36
"""Chances are whole multiples of 1 / ONE (1.5e-11), so that sums of them are exact.

A hundred million records of one kind stay within 63 bits.
"""

MOST_EDGES = 2_000
"""Entries to round beyond are rounded row by row: a walk through so many takes too long."""

Graph = list[dict[int, int]]
"""What is left to round of every entry, by its row and by its column, in units of 1 / ONE."""


def rounded(records: Ints, channel: Floats, rng: np.random.Generator) -> Ints:
    """Whole numbers of records by symbol, whose expectation is records * channel.

    Every entry is the expectation rounded up or down, every row sums to its records, and every
    column to its expectation rounded up or down (beyond ``MOST_EDGES`` entries columns may be off
    by more). Of records by true value, shape (n,), and q(y|x), shape (n, k); returns records by
    true value and symbol, shape (n, k).
    """
    whole, rest = _parts(records, channel)
    if np.count_nonzero(rest) > MOST_EDGES:
        return whole + _systematic(rest, rng)
    graph = _graph(rest)
    rows = len(rest)
    for start in range(rows):
        while graph[start]:
            walk = _walk(graph, start)
            for row, column in _shifted(graph, walk, rng):
                whole[min(row, column), max(row, column) - rows] += 1
    return whole


def _parts(records: Ints, channel: Floats) -> tuple[Ints, Ints]:
    """The whole part of every expectation and the rest in units of 1 / ONE, shape (n, k) each.

    Rows of the rest sum to whole records exactly: what rounding to units took or gave is made good
    at the likeliest symbol, which has room for it.
    """
    units = np.rint(channel * ONE).astype(np.int64)
    likeliest = channel.argmax(axis=1)
    units[np.arange(len(units)), likeliest] += ONE - units.sum(axis=1)
    return np.divmod(units * records[:, None], ONE)


def _systematic(rest: Ints, rng: np.random.Generator) -> Ints:
    """Each row rounded by itself, one uniform number deciding all of its entries."""
    ends = np.cumsum(rest, axis=1)
    begins = ends - rest
    offset = rng.integers(0, ONE, size=(len(rest), 1))
    return np.asarray((ends + offset) // ONE - (begins + offset) // ONE)


def _graph(rest: Ints) -> Graph:
    """Rows, then columns, each with the entries that are left to round."""
    rows, columns = rest.shape
    graph: Graph = [{} for _ in range(rows + columns)]
    for row, column in zip(*(places.tolist() for places in np.nonzero(rest)), strict=True):
        value = int(rest[row, column])
        graph[row][rows + column] = value
        graph[rows + column][row] = value
    return graph


def _walk(graph: Graph, start: int) -> list[int]:
    """A cycle, or a path between two ends that cannot be prolonged: a list of nodes.

    Of a path both ends have a single entry left to round. A row never ends one: what is left of it
    sums to whole records, which no single rest does.
    """
    walk = _prolonged(graph, start)
    return walk if walk[0] == walk[-1] else _prolonged(graph, walk[-1])


def _prolonged(graph: Graph, start: int) -> list[int]:
    """Go on from a node until one comes again (then the cycle) or none is left (then the path)."""
    path, place, last = [start], {start: 0}, -1
    while True:
        here = path[-1]
        ahead = next((node for node in graph[here] if node != last), None)
        if ahead is None:
            return path
        if ahead in place:
            return [*path[place[ahead] :], ahead]
        place[ahead] = len(path)
        path.append(ahead)
        last = here


def _shifted(graph: Graph, walk: list[int], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Move rests along a walk, up and down by turns, until one of them is 0 or a whole record.

    Up by ``up`` with the chance down / (up + down), otherwise down by ``down``: nothing is expected
    to change. Returns the entries that became a whole record; those and the ones that became 0
    leave the graph.
    """
    entries = list(pairwise(walk))
    rests = [graph[here][there] for here, there in entries]
    rising, falling = rests[0::2], rests[1::2]
    up = min([ONE - rest for rest in rising] + falling)
    down = min(rising + [ONE - rest for rest in falling])
    step = up if rng.integers(0, up + down) < down else -down
    full = []
    for place, (here, there) in enumerate(entries):
        rest = rests[place] + (-step if place % 2 else step)
        if 0 < rest < ONE:
            graph[here][there] = graph[there][here] = rest
            continue
        del graph[here][there], graph[there][here]
        if rest:
            full.append((here, there))
    return full
