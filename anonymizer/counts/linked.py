"""Records that a release shows to be of one person: what a number for each person tells.

The composition of a person is how many of their records are in each class. Whoever knows all
records of somebody knows it, and finds the persons who have the same one. So a policy has to hold
of two more ways to put records together than classes:

- cells: the records of a class that are of persons of one composition. Whoever knows which row of
  a person is meant guesses its value by these.
- compositions: all records of such persons. Whoever asks of a value in any of their rows guesses by
  these.

Where classes merge, persons who had one composition have one, so that a cell or a composition of
the coarser table is a union of some of the finer one: what holds of the parts, and of their
unions, holds of it, and searches prune by it as by classes. A class is a union of its cells. The
persons of a cell have equally many records in it, and in the table, so that all ways of counting
give the same shares there; a union of cells counts them in any of these ways. So a model of shares
that merging preserves holds of classes and compositions where it holds of cells. All are measured
all the same: other models may be given, and whether somebody has a value in any row is a question
to a composition alone.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from anonymizer.counts.pairs import by_pairs, csr_of, row_keys
from anonymizer.counts.persons import PersonValues
from anonymizer.information.matrices import CountMatrix
from anonymizer.kernels.arrays import Codes


class JoinedRecords(NamedTuple):
    """Sets of records, and the classes that each has records in.

    ``values`` are the records of each set, by person and value. Of each pair of a set and a class
    ``row`` and ``class_of`` are the places, shape (pairs,).
    """

    values: PersonValues
    row: Codes
    class_of: Codes


def compositions(joint: CountMatrix) -> Codes:
    """Number the persons alike who have equally many records in each class, shape (persons,).

    -1 of who has no record. ``joint`` (classes, persons). Exact: no person is taken for another, as
    by a hash.

    Examples
    --------
    The first two have a record in each class, and the third two in the second.

    >>> compositions(np.array([[1, 1, 0, 0], [1, 1, 2, 0]])).tolist()
    [1, 1, 0, -1]
    """
    held = by_pairs(joint).T.tocsr()  # to transpose puts the classes of a person in order
    # A class and the records in it are one number, so that a person is a row of numbers.
    pairs = row_keys(np.stack([held.data, held.indices], axis=1))
    classes_of = np.diff(held.indptr)
    found = np.full(len(classes_of), -1, np.intp)
    known = 0
    # Only who have equally many classes can be alike; by their number there are few groups.
    for number in np.unique(classes_of[classes_of > 0]).tolist():
        persons = np.flatnonzero(classes_of == number)
        rows = held.indptr[persons][:, None] + np.arange(number)
        kind = np.unique(row_keys(pairs[rows]), return_inverse=True)[1]
        found[persons] = known + kind
        known += int(kind.max()) + 1
    return found


def sets_in(values: PersonValues) -> tuple[JoinedRecords, JoinedRecords]:
    """Put the records of classes together by cell, and by composition."""
    held = by_pairs(values.joint)
    class_of = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    persons = int(values.person_of.max(initial=-1)) + 1
    by_person = csr_of(
        class_of, values.person_of[held.indices], held.data, (held.shape[0], persons)
    )
    composition = compositions(by_person)[values.person_of[held.indices]]
    keys = row_keys(np.stack([class_of, composition], axis=1))
    _, first, cell = np.unique(keys, return_index=True, return_inverse=True)

    def put(row_of: Codes, rows: int) -> PersonValues:
        shape = rows, held.shape[1]
        return replace(values, joint=csr_of(row_of, held.indices, held.data, shape))

    cells = put(cell, len(first)), np.arange(len(first)), class_of[first]
    whole = put(composition, int(composition.max(initial=-1)) + 1), composition[first]
    return JoinedRecords(*cells), JoinedRecords(*whole, class_of[first])
