"""Suppression: the classes that break a policy, set aside within a budget.

Classes that break a model are suppressed: their quasi-identifiers become ``*``, so that they form
one class. That class has to satisfy every model like any other; where it does not, its records
are left out of the release instead. Leaving records out moves the distribution p(w) of the
released table, which is what an outside checker measures every class against; classes that break
a model against the new distribution are left out too, until none does. The people of a class that
is left out stay in the population, and models that are about people without a record judge them.
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from numbers import Real

import numpy as np

from anonymizer.errors import InputError
from anonymizer.kernels import Histograms
from anonymizer.kernels.arrays import Columns, Ints, Mask
from anonymizer.recoding.problem.policy import BoundPolicy, Policy


@dataclass(frozen=True)
class Suppression:
    """How many records may be suppressed, and what becomes of them.

    Parameters
    ----------
    share
        At most this share of the records, in [0, 1).
    remove
        Leave suppressed records out in any case.
    exempt
        Keep them as a class that need not satisfy any model. Such a release breaks its policy:
        for comparison with tools that do so, never for a release.
    """

    share: float = 0.0
    remove: bool = False
    exempt: bool = False

    def __post_init__(self) -> None:
        number = isinstance(self.share, Real) and not isinstance(self.share, bool)
        if not number or not 0 <= self.share < 1:
            raise InputError(
                f"suppression = {self.share!r} must be a share of the records: "
                "a number of at least 0 and below 1"
            )
        if not isinstance(self.remove, bool):
            raise InputError(f"remove = {self.remove!r} must be true or false")

    def most(self, records: int) -> int:
        """The records that may go: the share as it is written, not as a float rounds it."""
        return _share_of(float(self.share), records)


@cache
def _share_of(share: float, records: int) -> int:
    return int(Decimal(str(share)) * records)


@dataclass(frozen=True, eq=False)
class Suppressed:
    """What is suppressed of a node's classes.

    Parameters
    ----------
    marks
        The classes, shape (classes,).
    records
        Their records.
    removed
        Whether those are left out.
    margins
        Records of the table released by column, shape (columns,).
    """

    marks: Mask
    records: int
    removed: bool
    margins: Ints


def suppress(
    counts: Columns | Histograms,
    policy: Policy,
    bound_policy: BoundPolicy,
    suppression: Suppression,
    hidden: Mask | None = None,
    broken: tuple[int, Mask] | None = None,
) -> Suppressed | None:
    """Suppress the classes that break the policy; None where they are more than the budget.

    Parameters
    ----------
    counts
        The classes, as columns (classes, columns) or histograms.
    policy, bound_policy
        The policy, and the same with the margins of the whole table filled in.
    suppression
        The budget.
    hidden
        The class, if any, whose quasi-identifiers are all ``*`` already: kept with suppressed
        ones it would merge with them, so it goes with them. So do the people of whom the table has
        no record: a suppressed record may be that of any of them.
    broken
        What breaks the policy against those margins, where that is known already.
    """
    of, margins = Histograms.of(counts), bound_policy.margins
    most = suppression.most(int(margins[-1]))
    records, marks = broken or bound_policy.broken(of, most)
    if records > most:
        return None
    if not marks.any():
        return Suppressed(marks, 0, False, margins) if bound_policy.allows(of) else None
    if not suppression.remove:
        whole = marks if hidden is None else marks | hidden
        if policy.layout.population:
            whole = whole | (of.sizes == 0)  # people whom no class stands for
        together = of.select(whole).summed(len(margins))
        fits = 0 < int(together[-1]) <= most
        if fits and (suppression.exempt or _fit(of, whole, together, bound_policy)):
            return Suppressed(whole, int(together[-1]), False, margins)
    return _removed(of, policy, margins, marks, most)


def _fit(of: Histograms, marks: Mask, together: Ints, bound_policy: BoundPolicy) -> bool:
    """Whether some classes as one, and with the others, satisfy every model."""
    if bound_policy.broken(together[None])[1].any():
        return False
    if not bound_policy.judges_all:
        return True
    return bound_policy.allows(of.select(~marks).plus(together))


def _removed(
    of: Histograms, policy: Policy, margins: Ints, marks: Mask, most: int
) -> Suppressed | None:
    """Leave marked classes out, and those that break the policy once these are gone.

    People like those left out are still in the population: classes without records.
    """
    marks = marks.copy()
    while True:
        gone = of.select(marks).summed(len(margins))
        left = margins - gone
        if not left[-1]:
            return None
        places = np.flatnonzero(~marks)
        rest = of.select(places)
        bound_policy = policy.against(left)
        broken, new = bound_policy.broken(rest, most - int(gone[-1]))
        if int(gone[-1]) + broken > most:
            return None
        if not new.any():
            people = of.select(marks).without_records() if policy.layout.population else None
            absent = people is not None and bound_policy.broken(people)[1].any()
            allowed = not absent and bound_policy.allows(rest)
            return Suppressed(marks, int(gone[-1]), True, left) if allowed else None
        marks[places[new]] = True
