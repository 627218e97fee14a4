"""Classes split in machine code: the records in the order of their classes, class by class.

Refinement as Paige and Tarjan (1987, "Three partition refinement algorithms") split blocks: a
class costs its records, and a class of one record, which nothing splits, is looked at no more.
"""

import numpy as np

from anonymizer.kernels.arrays import Places
from anonymizer.kernels.machine import in_machine_code, within_machine_code

MIX = np.uint64(0x9E3779B97F4A7C15)


@within_machine_code
def _agree(order: Places, begin: int, size: int, codes: Places) -> bool:
    """Tell whether all records of a class have one code: most do, once there are many classes."""
    first, place = codes[order[begin]], 1
    while place < size and codes[order[begin + place]] == first:
        place += 1
    return place == size


@in_machine_code
def split(  # noqa: C901 (one loop over classes, the commonest case first)
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
    write, classes = 0, 0
    into[0] = 0
    for number in range(len(starts) - 1):
        begin, size = starts[number], starts[number + 1] - starts[number]
        if _agree(order, begin, size, codes):
            for place in range(size):
                order[write + place] = order[begin + place]
            write += size
            classes += 1
            into[classes] = write
            continue
        if size == 2:
            continue
        bits = 2
        while (1 << bits) < 2 * size and (1 << bits) < len(counts):
            bits += 1
        shift, last = np.uint64(64 - bits), (1 << bits) - 1
        kinds = 0
        for place in range(size):
            record = order[begin + place]
            code = codes[record]
            slot = np.int64((np.uint64(code) * MIX) >> shift)
            while counts[slot] != 0 and keys[slot] != code:
                slot = (slot + 1) & last
            if counts[slot] == 0:
                keys[slot] = code
                room[2, kinds] = slot
                kinds += 1
            counts[slot] += 1
            room[0, place], room[1, place] = record, slot
        # From here on what counts the records of a code says where the next of them goes. One that
        # is alone goes where another, which came later, overwrites it.
        for kind in range(kinds):
            records = counts[room[2, kind]]
            counts[room[2, kind]] = write
            if records > 1:
                write += records
                classes += 1
                into[classes] = write
        for place in range(size):
            slot = room[1, place]
            order[counts[slot]] = room[0, place]
            counts[slot] += 1
        for kind in range(kinds):
            counts[room[2, kind]] = 0
    return classes


@in_machine_code
def uniform(order: Places, starts: Places, codes: Places) -> bool:
    """Tell whether all records of some class have the same code; classes as ``split`` has them."""
    for number in range(len(starts) - 1):
        begin, size = starts[number], starts[number + 1] - starts[number]
        if _agree(order, begin, size, codes):
            return True
    return False
