"""A policy laid out over frequency sets: which classes break it, whatever the models."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anonymizer.kernels import OF_POPULATION, OF_TABLE, Bound, Histograms, Kernel, Kind, Rules
from anonymizer.kernels.arrays import Columns, Ints, Mask
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import PrivacyModel, attributes_of, holds

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
            for attribute in attributes_of(model, self.layout.sensitive):
                table = self.layout.classes(attribute, nothing, margins)
                bounds = model.bounds(table.known)
                if table.gap:  # of the whole table's kernels read all records
                    bounds = tuple(
                        replace(bound, known=True) for bound in bounds if bound.kind not in OF_TABLE
                    )
                start, stop = self.layout.place(attribute)
                for bound in bounds:
                    # Without the column of gaps, and one before for the records of a population.
                    end, before = stop - bound.known, bound.kind in OF_POPULATION
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
        return all(self._within(Histograms.of(counts), *laid) for laid in self.together) and all(
            holds(model, self.policy.layout.classes(attribute, counts, self.margins)).all()
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
