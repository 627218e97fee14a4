"""Households: models of who is found where any record of a household gives away the others.

Households are told apart by a column that no release has. Records count as they do without it:
these models stand next to those of records, and change none of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, nextafter
from typing import Any

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.counts.pairs import by_pairs, tabulated
from anonymizer.information.matrices import occurring
from anonymizer.kernels import Bound, Kind
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.privacy.base import PositiveShare, PrivacyModel, Whole, Wording, reads_sparse
from anonymizer.privacy.events import CompositionKAnonymity
from anonymizer.privacy.sizes import KAnonymity, SizeModel

NEAR = 1e-9
"""How near to the bound, relative to it, a float is decided by fractions: 10^4 times its error."""


@dataclass(frozen=True)
class HouseholdKAnonymity(SizeModel):
    """Every class has records of at least k distinct households.

    Whoever knows the quasi-identifiers of one member of a household does not know which of k it is.
    Strongly monotone: a class has the households of each class that it was merged from.
    """

    name = "household-k-anonymity"
    condition = "distinct households of g >= k"
    unit = "households"
    source = "Samarati 2001, of households"
    beyond = "exceeds the {best:.0f} households of the table"
    of_households = True
    wording = Wording(
        "The released values of {shared} of every person are those of people of at least "
        "{k:number} households.",
        "The smallest class has people of {worst:number} households.",
        "Who knows more members: Somebody who knows several members of a household may find the "
        "class of each, and few households may have people in all of these.",
    )
    start = {"k": 3}

    k: Whole

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        return occurring(classes.joint).astype(float)

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """At least k households; which have at least k records, which is quicker to see."""
        return (Bound(Kind.SIZE, self.limit), Bound(Kind.DISTINCT, self.limit))


@dataclass(frozen=True)
class HouseholdCompositionKAnonymity(CompositionKAnonymity):
    """Who knows all members of a household is left with at least k households of the same ones.

    He knows how many members are in each class, and that there are no others. Left are the
    households that have exactly as many in each. Composition-k-anonymity of households, and
    monotone for the same reason. Each class has people of k households then, which is implied.
    """

    name = "household-composition-k-anonymity"
    condition = "households with exactly as many records in each class as a household has >= k"
    unit = "households"
    source = "Nergiz, Clifton, Nergiz 2009, of households"
    beyond = (
        "exceeds the {best:.0f} households that are left even where all records are in one class: "
        "no more have that many members; choose a smaller k, or leave out the records of "
        "households of a size that few have"
    )
    of_persons = False
    of_households = True
    wording = Wording(
        "Whoever knows the released values of {shared} of all members of a household is left with "
        "at least {k:number} households of exactly such members.",
        "Of the household that is hidden worst {worst:number} are left.",
        "What such households have in common: Where all that are left have the same value of "
        "another column, whoever knows the members of one knows it.",
    )
    start = {"k": 3}

    def implied(self) -> tuple[PrivacyModel, ...]:
        """The households of each class."""
        return (HouseholdKAnonymity(self.k),)


@dataclass(frozen=True)
class HouseholdRisk(PrivacyModel):
    """The chance that any record of a household is found: 1 - prod_g (1 - 1/n_g)^n_gh <= risk.

    Somebody who knows the quasi-identifiers of all members takes a record of the class of each for
    theirs, and where one is right the household is found. n_gh are the records of household h in
    class g. Who is suppressed is not found, and has no factor. Benedetti and Franconi (1998), of
    the table itself in place of a population; so computed by sdcMicro.

    Monotone: a class has as many records as each that it was merged from, or more, so that no
    factor falls, and their product does not; one that is left out was at most 1. Not strongly
    monotone: other classes may break it by themselves. It implies n_g >= 1 / risk.

    Exact: near the bound products are compared as fractions, the bound being the decimal number
    that was given.
    """

    name = "household-risk"
    condition = "1 - prod_g (1 - 1/n_g)^n_gh <= risk, n_gh the records of household h in g"
    unit = "probability"
    source = "Benedetti, Franconi 1998"
    bounded_by = "risk"
    beyond = (
        "is below {best:.6f}, the chance that the household with most members is found even where "
        "all records are in one class; choose a larger risk, or leave out members"
    )
    absolute = True
    sensitive = False
    per_class = False
    of_households = True
    wording = Wording(
        "Whoever knows {shared} of all members of a household finds the record of any of them with "
        "a probability of at most {risk:share}.",
        "The household that is easiest to find is found with a probability of {worst:share}.",
        "Which records belong together: Whoever knows that may know a household by its members; "
        "the risk takes each record by itself.",
    )
    start = {"risk": 0.2}

    risk: PositiveShare

    @property
    def limit(self) -> float:
        """The threshold: nothing is forgiven, as measures near it are exact."""
        return self.threshold

    @property
    def exact(self) -> Fraction:
        """The risk as the decimal number that was given: 0.3 is 3/10."""
        return Fraction(repr(float(self.risk)))

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        """The chance of the household that is found most easily, shape (1,).

        Above ``risk`` if and only if the exact chance is.
        """
        sizes, held = by_size(classes)
        chances = chances_of(sizes, held)
        highest = float(chances.max(initial=0.0))
        if abs(highest - self.risk) > NEAR * self.risk:
            return np.array([highest])
        near = held[:, np.flatnonzero(chances >= self.risk * (1 - NEAR))]
        broken = any(found > self.exact for found in exactly(sizes, near))
        # A float may lie on the other side of the bound than the chance itself.
        above = max(highest, nextafter(self.risk, inf))
        return np.array([above if broken else min(highest, self.risk)])

    def implied(self) -> tuple[PrivacyModel, ...]:
        """The records of each class: one that is found alone is of a household."""
        return (KAnonymity(ceil(1 / self.exact)),)


def by_size(classes: Classes) -> tuple[Ints, Any]:
    """Return the sizes of classes, and the records of each household by these, sparse.

    Shapes (sizes,) and (sizes, households): which class of a size a record is in does not matter.
    """
    held = by_pairs(classes.joint).tocoo()
    sizes, kind = np.unique(classes.sizes, return_inverse=True)
    shape = len(sizes), held.shape[1]
    return sizes, by_pairs(tabulated(kind[held.row], held.col, held.data, shape)).tocsc()


def chances_of(sizes: Ints, held: Any) -> Floats:
    """Return the chance that any record of each household is found, shape (households,).

    ``held`` (sizes, households) are its records in classes of each size.
    """
    alone = sizes == 1
    # Of one record the chance is 1, whose logarithm is none; a class of a population may have none.
    missed = np.where(sizes < 2, 0.0, np.log1p(-1 / np.maximum(sizes, 2)))
    found = -np.expm1(held.T @ missed)
    return np.asarray(np.where(held.T @ alone.astype(float) > 0, 1.0, found))


def exactly(sizes: Ints, held: Any) -> Sequence[Fraction]:
    """Return the same as fractions, of each combination of records that some households have."""
    kinds = {
        (*zip(own.indices.tolist(), own.data.tolist(), strict=True),)
        for own in (held[:, [place]] for place in range(held.shape[1]))
    }
    return [_exact(sizes, records) for records in kinds]


def _exact(sizes: Ints, records: Sequence[tuple[int, int]]) -> Fraction:
    missed = Fraction(1)
    for place, number in records:
        size = int(sizes[place])
        missed *= Fraction(size - 1, size) ** number
    return 1 - missed
