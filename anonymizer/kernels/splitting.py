"""Classes split by one more code: the records in the order of their classes, class by class.

Refinement as Paige and Tarjan (1987, "Three partition refinement algorithms") split blocks: a
class costs its records, and a class of one record, which nothing splits, is looked at no more.
"""

from anonymizer.kernels.arrays import Places
from anonymizer.kernels.native import call


def split(
    order: Places,
    starts: Places,
    codes: Places,
    counts: Places,
    keys: Places,
    room: Places,
    into: Places,
) -> int:
    """Split every class by one more code, and forget those of one record; how many are left.

    Class g is ``order[starts[g] : starts[g + 1]]``, of two records or more. The order is
    overwritten with the new one, which never reaches beyond what was read; records of a class keep
    theirs. The new starts stand in ``into``.

    Parameters
    ----------
    codes
        The code of each record, from 0 on.
    counts, keys
        Zeros, and as much room: a power of two, twice as many as a class has codes. They are the
        hash table of each class in turn, no larger than that class needs.
    room
        Room for what is known of the records of the largest class, shape (3, records).
    into
        Room for every other record, and one more.
    """
    return int(call("split_classes", order, starts, codes, counts, keys, room, into))


def uniform(order: Places, starts: Places, codes: Places) -> bool:
    """Tell whether all records of some class have the same code; classes as ``split`` has them."""
    return call("any_uniform_class", order, starts, codes) > 0
