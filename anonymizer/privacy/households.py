"""Households: models of who is found where any record of a household gives away the others.

Households are told apart by a column that no release has. Records count as they do without it:
these models stand next to those of records, and change none of them.

Where persons have several records, the members of a household are persons, and classes are those by
person: ``Classes.households`` has those of the persons then.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, nextafter
from typing import Any, NamedTuple

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.counts.linked import compositions
from anonymizer.counts.pairs import by_pairs, tabulated
from anonymizer.information.matrices import occurring
from anonymizer.kernels import Bound, Kind
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.privacy.base import PositiveShare, PrivacyModel, Whole, Wording, reads_sparse
from anonymizer.privacy.events import CompositionKAnonymity, alike
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

    Of members who have several records he knows all records of each. Left are the households that
    have as many members of each composition. Persons who are alike stay so where classes merge, and
    so do such households. To count the members of each class, whoever they are, would not do:
    one member in two classes and two members of one class each would be alike, until these merge.
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
    of_members = True
    wording = Wording(
        "Whoever knows the released values of {shared} of all members of a household is left with "
        "at least {k:number} households of exactly such members.",
        "Of the household that is hidden worst {worst:number} are left.",
        "What such households have in common: Where all that are left have the same value of "
        "another column, whoever knows the members of one knows it.",
    )
    start = {"k": 3}

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        """The fewest households that have the same members, shape (1,)."""
        same = alike_households(classes)
        return np.array([float(same[same > 0].min() if same.any() else 0)])

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

    Of members who have several records there is a factor for each member and class that he has
    records in, and the worse of two ways counts: who takes a person of the class is right by one of
    its persons, and who takes a record by the member's share of its records. Monotone: two factors
    of a member become one, whose chance is no larger than the larger of them, as a class has no
    fewer persons, and a share of a merged class lies between those of its parts.

    Exact: near the bound products are compared as fractions, the bound being the decimal number
    that was given.
    """

    name = "household-risk"
    condition = "1 - prod_g (1 - 1/n_g)^n_gh <= risk, n_gh the records of household h in g"
    unit = "probability"
    source = "Benedetti, Franconi 1998"
    bounded_by = "risk"
    largest = 1
    beyond = (
        "is below {best:.6f}, the chance that the household with most members is found even where "
        "all records are in one class; choose a larger risk, or leave out members"
    )
    absolute = True
    sensitive = False
    per_class = False
    of_households = True
    of_members = True
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
        return np.array([max(map(self._highest, taken(classes)))])

    def _highest(self, found: "TakenRecords | TakenMembers") -> float:
        chances = found.chances
        highest = float(chances.max(initial=0.0))
        if abs(highest - self.risk) > NEAR * self.risk:
            return highest
        near = np.flatnonzero(chances >= self.risk * (1 - NEAR))
        broken = any(each > self.exact for each in found.exactly(near))
        # A float may lie on the other side of the bound than the chance itself.
        return max(highest, nextafter(self.risk, inf)) if broken else min(highest, self.risk)

    def implied(self) -> tuple[PrivacyModel, ...]:
        """The records of each class: one that is found alone is of a household."""
        return (KAnonymity(ceil(1 / self.exact)),)


class TakenRecords(NamedTuple):
    """Records that are taken for those of members, each of a class by its size.

    ``sizes`` (sizes,) are those of classes, and ``held`` (sizes, households), sparse, the records
    of each household by these: which class of a size a record is in does not matter.
    """

    sizes: Ints
    held: Any

    @classmethod
    def of(cls, classes: Classes) -> "TakenRecords":
        """Count the records of each household by size of class."""
        held = by_pairs(classes.joint).tocoo()
        sizes, kind = np.unique(classes.sizes, return_inverse=True)
        shape = len(sizes), held.shape[1]
        return cls(sizes, by_pairs(tabulated(kind[held.row], held.col, held.data, shape)).tocsc())

    @property
    def chances(self) -> Floats:
        """The chance that any record of each household is found, shape (households,)."""
        alone = self.sizes == 1
        # Of one record the chance is 1, whose logarithm is none; a class of a population has none.
        missed = np.where(self.sizes < 2, 0.0, np.log1p(-1 / np.maximum(self.sizes, 2)))
        found = -np.expm1(self.held.T @ missed)
        return np.asarray(np.where(self.held.T @ alone.astype(float) > 0, 1.0, found))

    def exactly(self, some: Codes) -> list[Fraction]:
        """The same as fractions, of each combination of records that some households have."""
        columns = (self.held[:, [place]] for place in some)
        kinds = {(*zip(own.indices.tolist(), own.data.tolist(), strict=True),) for own in columns}
        return [_exact(self.sizes, kind) for kind in kinds]


def _exact(sizes: Ints, records: Iterable[tuple[int, int]]) -> Fraction:
    missed = Fraction(1)
    for place, number in records:
        size = int(sizes[place])
        missed *= Fraction(size - 1, size) ** number
    return 1 - missed


class TakenMembers(NamedTuple):
    """Members who have several records, each taken for one with a chance in each of their classes.

    The chance is ``part`` in ``whole``, and ``household`` whose, each of shape (pairs,).
    """

    household: Codes
    part: Ints
    whole: Ints

    @property
    def chances(self) -> Floats:
        """The chance that any member of each household is found, shape (households,)."""
        sure = self.part == self.whole
        missed = np.log1p(-np.where(sure, 0.0, self.part / self.whole))
        found = -np.expm1(np.bincount(self.household, missed))
        return np.where(np.bincount(self.household, sure) > 0, 1.0, found)

    def exactly(self, some: Codes) -> list[Fraction]:
        """The same as fractions, of some households."""
        pairs = [np.flatnonzero(self.household == place) for place in some]
        found = []
        for own in pairs:
            missed = Fraction(1)
            for part, whole in zip(self.part[own].tolist(), self.whole[own].tolist(), strict=True):
                missed *= 1 - Fraction(part, whole)
            found.append(1 - missed)
        return found


def taken(classes: Classes) -> tuple[TakenRecords | TakenMembers, ...]:
    """Return what is taken for members of households, in each way that they may be counted."""
    if classes.households is None:
        return (TakenRecords.of(classes),)
    held = by_pairs(classes.joint).tocsr()
    class_of = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    home = classes.households[held.indices]
    persons = np.bincount(class_of, minlength=len(classes))[class_of]
    by_record = TakenMembers(home, held.data, classes.sizes[class_of])
    return TakenMembers(home, np.ones(len(home), np.int64), persons), by_record


def alike_households(classes: Classes) -> Ints:
    """Count the households that have the same members as each, shape (households,).

    The household among them; 0 of one without records.
    """
    home = classes.households
    if home is None:
        return alike(classes.joint)
    composition = compositions(classes.joint)
    there = composition >= 0
    shape = int(composition.max(initial=-1)) + 1, int(home.max(initial=-1)) + 1
    ones = np.ones(int(there.sum()), np.int64)
    return alike(tabulated(composition[there], home[there], ones, shape))
