"""A policy over classes: which of them break it, and which of these are suppressed.

Classes that break a model are suppressed within a budget: their quasi-identifiers become ``*``, so
that they form one class. That class has to satisfy every model like any other; where it does not,
its records are left out of the release instead. Leaving records out moves the distribution p(w) of
the released table, which is what an outside checker measures every class against; classes that
break a model against the new distribution are left out too, until none does. The people of a class
that is left out stay in the population, and models that are about people without a record judge
them.

Whoever knows the quasi-identifiers of all sees which classes are missing. A missing class that is
large enough can only have broken a model for its sensitive values, which discloses them (Wong et
al. 2007). So only what quasi-identifiers decide suppresses, unless a study requests ``"any"``: a
class that breaks the policy for its values alone, the suppressed ones together included, makes the
recoding one that may not be released.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, cached_property
from numbers import Real
from typing import Literal, get_args

import numpy as np

from anonymizer.counts.persons import counted_as
from anonymizer.errors import InputError, require_one_of, shown
from anonymizer.kernels import OF_POPULATION, OF_TABLE, Bound, Histograms, Kernel, Kind, Rules
from anonymizer.kernels.arrays import Columns, Ints, Mask
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import PrivacyModel, attributes_of, holds, takes_sparse

Subject = tuple[PrivacyModel, str | None]
"""A model, and the sensitive attribute it is about; None: class sizes."""


@dataclass(frozen=True, eq=False)
class Policy:
    """Models held against frequency sets.

    Bounds that kernels know are checked by them; any other model measures the classes itself,
    which is slower but neither less exact nor less general.
    """

    models: Sequence[PrivacyModel]
    layout: Layout
    kernel: Kernel

    def against(self, margins: Ints) -> "BoundPolicy":
        """Make ready to judge classes of a table of these margins, shape (columns,)."""
        # Bounds that do not depend on the table are laid out once.
        if all(model.absolute for model in self.models):
            return replace(self._anyway, margins=margins)
        return self._laid(margins)

    @cached_property
    def _anyway(self) -> "BoundPolicy":
        return self._laid(self.layout.margins)

    def _laid(self, margins: Ints) -> "BoundPolicy":
        known: list[tuple[Bound, int, int]] = []
        together: list[tuple[Bound, int, int]] = []
        measured: list[Subject] = []
        whole: list[Subject] = []
        nothing = np.zeros((0, len(margins)), np.int64)
        for model in self.models:
            ways = [
                (about, attribute)
                for about in attributes_of(model, self.layout.sensitive)
                for attribute in self.layout.judged(about, model.unit_of)
            ]
            for about, attribute in ways:
                table = self.layout.classes(attribute, nothing, margins)
                # Kernels know no beliefs: a model with odds measures classes itself.
                bounds = model.bounds(table.known) if model.odds is None else ()
                # Of the whole table's kernels read all records; where persons count once these are
                # others than are judged.
                other = attribute != (counted_as(about) if isinstance(about, tuple) else about)
                if table.gap or (other and model.unit_of is None):
                    bounds = tuple(
                        replace(bound, known=True) for bound in bounds if bound.kind not in OF_TABLE
                    )
                start, stop = self.layout.place(attribute)
                for bound in bounds:
                    # Without the column of gaps, and one before for the records of a population.
                    end, before = stop - table.gap, bound.kind in OF_POPULATION
                    laid = (bound, start - before, end - before)
                    (together if bound.kind in OF_TABLE else known).append(laid)
                # Models without bounds measure classes themselves, one by one or all together.
                if not bounds:
                    (measured if model.per_class else whole).append((model, attribute))
        rules = Rules.of(known, len(margins))
        return BoundPolicy(self, rules, together, measured, whole, margins)

    def lasting(self) -> "Policy":
        """Return the strongly monotone part of the models."""
        return replace(self, models=[part for model in self.models for part in model.lasting()])

    def sized(self) -> "Policy":
        """Return the part that quasi-identifiers alone decide, the records of l values included."""
        # A model about sensitive values may have a part that sizes decide: l values need l records.
        parts = [part for model in self.models for part in (model, *model.lasting())]
        return replace(self, models=[part for part in parts if not part.sensitive])

    @property
    def lasts(self) -> bool:
        """True where all of it is strongly monotone."""
        return all(model.strongly_monotone for model in self.models)


@dataclass(frozen=True, eq=False)
class BoundPolicy:
    """Judges classes of one table: the policy with that table's margins filled in.

    Parameters
    ----------
    policy
        The policy.
    rules
        What kernels check of every class.
    together
        Bounds on all classes together, with the columns each is about.
    measured
        Models that measure the classes themselves.
    whole
        Models that measure the table as a whole.
    margins
        Records of the table by column.
    """

    policy: Policy
    rules: Rules
    together: Sequence[tuple[Bound, int, int]]
    measured: Sequence[Subject]
    whole: Sequence[Subject]
    margins: Ints

    @property
    def models(self) -> Sequence[PrivacyModel]:
        """The models."""
        return self.policy.models

    @property
    def judges_all(self) -> bool:
        """True where any model is about the classes together."""
        return bool(self.together or self.whole)

    def broken(self, counts: Columns | Histograms, most: int = 0) -> tuple[int, Mask]:
        """Count the records in classes that break a model, and mark those classes.

        Beyond ``most`` such records it stops: the number is then too small and the marks
        incomplete. Models of the table as a whole, which no class breaks, are left to ``allows``.
        """
        records, marks = self.policy.kernel.broken(counts, self.rules, most)
        if records > most or not self.measured:
            return records, marks
        for model, attribute in self.measured:
            blocks = self.policy.layout.some_classes(attribute, counts, self.margins)
            kept = [holds(model, classes) for classes in blocks]
            marks |= ~np.concatenate(kept) if kept else marks
        return int(Histograms.of(counts).sizes[marks].sum(dtype=np.int64)), marks

    @cached_property
    def sized(self) -> "BoundPolicy":
        """The part that quasi-identifiers alone decide, for the same table."""
        return self.policy.sized().against(self.margins)

    def large(self, broken: Histograms) -> int:
        """Count the records in classes that break the policy, but no part of ``sized``."""
        marks = self.sized.broken(broken, int(self.margins[-1]))[1]
        return int(broken.sizes[~marks].sum(dtype=np.int64))

    def allows(self, counts: Columns | Histograms) -> bool:
        """Return whether the classes together satisfy the models of the table as a whole."""
        classes = self.policy.layout.classes
        return all(self._within(Histograms.of(counts), *laid) for laid in self.together) and all(
            holds(model, classes(attribute, counts, self.margins, takes_sparse(model))).all()
            for model, attribute in self.whole
        )

    def holds(self, counts: Columns | Histograms) -> bool:
        """Return whether every class satisfies every model, and all of them together do."""
        records, marks = self.broken(counts)
        # Only where a class without records may be marked do the marks say more than the records.
        if records or ((self.rules.presence or self.measured) and marks.any()):
            return False
        return self.allows(counts)

    def _within(self, counts: Histograms, bound: Bound, start: int, stop: int) -> bool:
        """Return whether the classes together stay within a bound."""
        if bound.kind == Kind.RISK:
            value = float(np.count_nonzero(counts.sizes))
        elif bound.kind == Kind.POPULATION_RISK:
            value = float((counts.sizes / counts.counts[:, -2]).sum())  # no class is without people
        else:
            uncertainty = self.policy.kernel.uncertainty
            value = uncertainty(self.margins[None], start, stop) - uncertainty(counts, start, stop)
        return value <= bound.limit * int(self.margins[-1])


WHOLE_PERSONS = "suppress_persons"
"""The option that leaves out whole persons, as a recoding and a manifest have it."""

Trigger = Literal["small", "any"]
"""What suppresses a class: that it is too small, or that it breaks any model."""


@dataclass(frozen=True)
class Suppression:
    """The budget of records that may be suppressed, and what becomes of them.

    Parameters
    ----------
    share
        At most this share of the records, in [0, 1).
    remove
        Leave suppressed records out in any case.
    suppress
        ``"small"``: only classes that break what quasi-identifiers alone decide, such as
        k-anonymity, or that are too small for l values. ``"any"``: all that break a model, so that
        who is missing discloses values.
    exempt
        Keep them as a class that need not satisfy any model. Such a release breaks its policy:
        for comparison with tools that do so, never for a release.
    persons
        Leave out whole persons, of whom ``share`` is one: see ``whole_persons``.
    """

    share: float = 0.0
    remove: bool = False
    suppress: Trigger = "small"
    exempt: bool = False
    persons: bool = False

    def __post_init__(self) -> None:
        number = isinstance(self.share, Real) and not isinstance(self.share, bool)
        if not number or not 0 <= self.share < 1:
            raise InputError(
                f"suppression = {self.share!r} must be a share of the records: "
                "a number of at least 0 and below 1"
            )
        for name, given in (("remove", self.remove), ("suppress-persons", self.persons)):
            if not isinstance(given, bool):
                raise InputError(f"{name} = {shown(given)} must be true or false")
        require_one_of("suppress", self.suppress, get_args(Trigger))
        if self.persons and self.suppress != "small":
            raise InputError(
                "suppress-persons leaves out whom quasi-identifiers decide; with suppress = "
                f"{self.suppress!r} who is missing would tell values of all of their records: "
                'choose suppress = "small"'
            )

    def require_of_records(self) -> None:
        """Refuse whole persons where records are suppressed class by class."""
        if self.persons:
            raise InputError(
                "suppress-persons is for run, apply and verify: what compares recodings or looks "
                "for others counts records; leave suppress-persons out for these"
            )

    def most(self, records: int) -> int:
        """Return the most records that may go: the share as written, not as a float rounds it."""
        return _share_of(float(self.share), records)


@cache
def _share_of(share: float, records: int) -> int:
    # As a decimal: 0.29 of 100 records as floats are 28.999999999999996.
    return int(Decimal(str(share)) * records)


@dataclass(frozen=True, eq=False)
class Suppressed:
    """The classes of a node that are suppressed.

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
    disclosed
        Records that are suppressed for their sensitive values alone, which can be inferred.
    """

    marks: Mask
    records: int
    removed: bool
    margins: Ints
    disclosed: int = 0


def suppress(
    counts: Columns | Histograms,
    policy: Policy,
    bound_policy: BoundPolicy,
    suppression: Suppression,
    hidden: Mask | None = None,
    broken: tuple[int, Mask] | None = None,
    forced: Mask | None = None,
) -> Suppressed | None:
    """Suppress the classes that break the policy.

    None where they are more than the budget, or one of them may not be suppressed.

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
    forced
        Classes among these that are suppressed whether or not they break it, by what
        quasi-identifiers alone decide.
    """
    suppression.require_of_records()
    of, margins = Histograms.of(counts), bound_policy.margins
    most = suppression.most(int(margins[-1]))
    records, marks = broken or bound_policy.broken(of, most)
    if records > most:
        return None
    if not marks.any():  # class by class it holds; of the whole table it may not
        return Suppressed(marks, 0, False, margins) if bound_policy.allows(of) else None
    small = suppression.suppress == "small"
    disclosed = bound_policy.large(of.select(marks if forced is None else marks & ~forced))
    if disclosed and small:
        return None
    if not suppression.remove:
        # Suppressed records join the class of ``*`` that there may be already.
        whole = marks if hidden is None else marks | hidden
        if policy.layout.population:
            whole = whole | (of.sizes == 0)  # people whom no class stands for
        together = of.select(whole).summed(len(margins))
        # The class of ``*``, which goes with them, counts as well.
        fits = 0 < int(together[-1]) <= most
        if fits and (suppression.exempt or _fit(of, whole, together, bound_policy)):
            return Suppressed(whole, int(together[-1]), False, margins, disclosed)
        # Large enough, and breaking the policy all the same: for its values, which are disclosed to
        # whoever sees what is suppressed.
        if fits and _fit(of, whole, together, bound_policy.sized):
            if small:
                return None
            disclosed = int(together[-1])
    found = _removed(of, policy, margins, marks, most, small)
    return None if found is None else replace(found, disclosed=disclosed + found.disclosed)


def _fit(of: Histograms, marks: Mask, together: Ints, bound_policy: BoundPolicy) -> bool:
    """Return whether some classes as one, and with the others, satisfy every model."""
    if bound_policy.broken(together[None])[1].any():
        return False
    if not bound_policy.judges_all:
        return True
    return bound_policy.allows(of.select(~marks).plus(together))


def _removed(
    of: Histograms, policy: Policy, margins: Ints, marks: Mask, most: int, small: bool
) -> Suppressed | None:
    """Leave marked classes out, and those that break the policy once these are gone.

    People like those left out are still in the population: classes without records.
    """
    marks, disclosed = marks.copy(), 0
    # Every round marks a class more, so that it ends. What is left out stays out, even where the
    # rest would now do with it: to put it back would move the distribution once more.
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
            return Suppressed(marks, int(gone[-1]), True, left, disclosed) if allowed else None
        disclosed += bound_policy.large(rest.select(new))
        if disclosed and small:
            return None
        # Against the margins of the rest these break the policy only now.
        marks[places[new]] = True
