"""Events: who is left of the persons of a table to an attacker who knows some records of one.

El Emam et al. (2012) call the records of a person, such as visits, events, and ask what an attacker
learns who knows m of them. Here he knows the classes of m records of a person, whichever are the
worst ones: left are the persons who have as many records in each of these classes.
"""

import numpy as np
import pandas as pd

from anonymizer.kernels.arrays import Codes, Ints

MOST_EVENTS = 3
"""Up to so many events are looked at."""

MOST_CHOICES = 1 << 24
"""Bound on the choices of events of all persons together: at most some 2 GB and 10 seconds."""


def least_left(
    person_of: Codes, class_of: Codes, records: Ints | None = None, most: int = MOST_EVENTS
) -> list[Ints]:
    """Count the persons who are left to who knows m records of one, for m = 1, 2 ... ``most``.

    Every choice of m records of a person gives some classes; the least number over all choices is
    counted, the person among them. Of a person with fewer records all are known.

    Parameters
    ----------
    person_of, class_of
        The person and the class of each row, numbered from 0 without a gap, shape (rows,).
    records
        The records that each row stands for, one where there are none, shape (rows,).
    most
        The largest m.

    Returns
    -------
    list of arrays
        For m = 1, 2 ... the persons left of each person, shape (persons,). It ends before the first
        m for which there are more than ``MOST_CHOICES``.

    Examples
    --------
    Person 0 has records in classes 0 and 1, person 1 in 0 and 2, person 2 in 1 and twice in 2.

    >>> [left.tolist() for left in least_left([0, 0, 1, 1, 2, 2, 2], [0, 1, 0, 2, 1, 2, 2])]
    [[2, 2, 2], [1, 1, 1], [1, 1, 1]]
    """
    classes = int(np.max(class_of)) + 1
    keys = np.multiply(person_of, classes, dtype=np.int64) + class_of
    keys, row_of = np.unique(keys, return_inverse=True)
    held = np.bincount(row_of, records)
    person, kind = np.divmod(keys, classes)
    stop = np.searchsorted(person, person, side="right")
    # A choice is a multiset of classes in rising order, made of one of an event less. Of each are
    # known its number, the last cell of person and class in it, and how many are of that cell.
    choice, last, times = kind, np.arange(len(keys)), np.ones(len(keys), np.intp)
    left = np.full(int(person[-1]) + 1, len(keys))
    found: list[Ints] = []
    for events in range(1, most + 1):
        if events > 1:
            first = last + (times >= held[last])
            longer = stop[last] - first
            if longer.sum() > MOST_CHOICES:
                return found
            shorter = np.repeat(np.arange(len(last)), longer)
            cell = np.arange(len(shorter)) - (np.cumsum(longer) - longer - first)[shorter]
            times = np.where(cell == last[shorter], times[shorter] + 1, 1)
            choice, last = choice[shorter] * classes + kind[cell], cell
        choice = pd.factorize(choice)[0]
        sharing = np.bincount(choice)[choice]  # a person makes each choice once
        np.minimum.at(left, person[last], sharing)
        found.append(left.copy())
        # What no other person shares is shared by nobody with one more event, either.
        choice, last, times = (of[sharing > 1] for of in (choice, last, times))
    return found
