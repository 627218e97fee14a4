"""What classes disclose of a sensitive attribute to whoever knows in which class a person is."""

from dataclasses import dataclass

import numpy as np

from anonymizer.information.matrices import CountMatrix, largest
from anonymizer.privacy import TOLERANCE
from anonymizer.release.results import Result
from anonymizer.release.warnings.warnings import NEARLY


@dataclass(frozen=True)
class Disclosure(Result):
    """How many records' sensitive value is known, or guessed, from their class.

    Parameters
    ----------
    attribute
        The sensitive attribute.
    records
        Records released.
    sure
        Records in classes of a single value: it is known of each of them.
    guessed
        Records whose value makes up ``NEARLY`` (80 %) or more of their class, those of ``sure``
        among them: guessing it is right for each of them.
    worst
        The largest share of a value in a class: nobody's value is guessed with a larger
        probability.
    prior
        The largest share of a value in the released table: what is guessed without a class.
    """

    attribute: str
    records: int
    sure: int
    guessed: int
    worst: float
    prior: float


def disclosure_of(attribute: str, joint: CountMatrix) -> Disclosure:
    """What classes disclose; ``joint``: records by class and value, shape (classes, values).

    Classes without a record, of which only a population has some, disclose nothing.
    """
    sizes = joint.sum(axis=1)
    joint, sizes = joint[sizes > 0], sizes[sizes > 0]
    most = largest(joint)
    nearly = most >= NEARLY * sizes - TOLERANCE
    return Disclosure(
        attribute,
        records=int(sizes.sum()),
        sure=int(sizes[most == sizes].sum()),
        guessed=int(most[nearly].sum()),
        worst=float((most / sizes).max()),
        prior=float(np.max(joint.sum(axis=0)) / sizes.sum()),
    )
