"""Records dealt out to classes that overlap, by what the classes hold."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from anonymizer.kernels.arrays import Codes, Mask


def dealt_out(
    members: Sequence[Mask], cells: Codes, own: Codes, numbers: Codes, others: Codes
) -> Codes | None:
    """A class for each record, so that all classes have the records that they hold.

    Of several ways it is one: a maximum flow from records that are alike to classes. None where
    there is no way.

    Parameters
    ----------
    members
        The values that each class covers, shape (classes, values) by attribute.
    cells
        The value codes of each record, shape (records, attributes).
    numbers
        The class of each record that classes hold, in any order, shape (records,).
    own, others
        What records have otherwise, and those that classes hold; shape (records,) each.
    """
    from scipy.sparse import csr_array  # slow to load
    from scipy.sparse.csgraph import maximum_flow

    rows, row_of, sizes = _counted(np.column_stack([cells, own]))
    places, _, records = _counted(np.column_stack([numbers, others]))
    alike = defaultdict(list)
    for row, key in enumerate(rows[:, -1].tolist()):
        alike[key].append(row)
    edges = [
        (1 + row, 1 + len(rows) + place, sizes[row])
        for place, (number, key) in enumerate(places.tolist())
        for row in alike[key]
        if all(each[number, code] for each, code in zip(members, rows[row], strict=False))
    ]
    last = len(rows) + len(places) + 1
    edges += [(0, 1 + row, size) for row, size in enumerate(sizes)]
    edges += [(1 + len(rows) + place, last, size) for place, size in enumerate(records)]
    begin, end, most = np.array(edges, np.int32).T
    graph = csr_array((most, (begin, end)), shape=(last + 1, last + 1))
    found = maximum_flow(graph, 0, last)
    if found.flow_value != len(own) or len(own) != len(numbers):
        return None
    flow = found.flow[1 : len(rows) + 1, len(rows) + 1 : last].tocoo()
    given = flow.data > 0
    order = np.argsort(flow.row[given], kind="stable")
    dealt = np.repeat(places[flow.col[given][order], 0], flow.data[given][order])
    class_of = np.empty(len(own), np.intp)
    class_of[np.argsort(row_of, kind="stable")] = dealt
    return class_of


def _counted(rows: Codes) -> tuple[Codes, Codes, Codes]:
    """The distinct rows, which each one is, and how many are, shapes (n, d), (rows,) and (n,)."""
    found, place, sizes = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return found, place.ravel(), sizes
