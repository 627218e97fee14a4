"""What classes disclose of a sensitive attribute to whoever knows in which class a person is."""

from dataclasses import dataclass

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.information.matrices import largest
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
        Records released, but for those whose missing value counts as nothing.
    sure
        Records in classes of a single value: it is known of each of them.
    guessed
        Records whose value makes up ``NEARLY`` (80 %) or more of their class, those of ``sure``
        among them: guessing it is right for each of them.
    worst
        The largest share of a value in a class: nobody's value is guessed with a larger
        probability.
    prior
        The largest share of a value among these records: what is guessed without a class.
    """

    attribute: str
    records: int
    sure: int
    guessed: int
    worst: float
    prior: float


def disclosure_of(classes: Classes) -> Disclosure:
    """What classes disclose of their sensitive attribute.

    A class in which nobody has a value discloses nothing, nor does one without a record, which
    only a population has.
    """
    assert classes.attribute is not None
    joint, sizes = classes.known.joint, classes.known.sizes
    joint, sizes = joint[sizes > 0], sizes[sizes > 0]
    if not len(sizes):
        return Disclosure(classes.attribute, 0, 0, 0, 0.0, 0.0)
    most = largest(joint)
    nearly = most >= NEARLY * sizes - TOLERANCE
    return Disclosure(
        classes.attribute,
        records=int(sizes.sum()),
        sure=int(sizes[most == sizes].sum()),
        guessed=int(most[nearly].sum()),
        worst=float((most / sizes).max()),
        prior=float(np.max(joint.sum(axis=0)) / sizes.sum()),
    )
