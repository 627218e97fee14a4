"""A policy laid out over frequency sets: which classes break it, whatever the models."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.candidates import Layout
from anonymizer.counts import Classes, Ints
from anonymizer.errors import InputError
from anonymizer.kernels import Columns, Kernel, Marks, Rules
from anonymizer.privacy import PrivacyModel

__all__ = ["Judgement", "Policy"]


@dataclass(frozen=True, eq=False)
class Policy:
    """Models held against frequency sets.

    Bounds that kernels know are checked by them; any other model measures the classes itself,
    which is slower but neither less exact nor less general.
    """

    models: Sequence[PrivacyModel]
    layout: Layout
    kernel: Kernel

    def against(self, margins: Ints) -> "Judgement":
        """Ready to judge classes of a table of these margins, shape (columns,)."""
        known, others = [], []
        for model in self.models:
            bound = model.bound()
            for attribute in self._asked(model):
                start, stop = self.layout.place(attribute)
                if bound is None:
                    others.append((model, start, stop))
                else:
                    known.append((bound, start, stop))
        return Judgement(self.models, Rules.of(known, margins), others, margins, self.kernel)

    def _asked(self, model: PrivacyModel) -> Sequence[str | None]:
        if model.sensitive and not self.layout.places:
            raise InputError(f"{model.name} is about a sensitive attribute; name at least one")
        return list(self.layout.places) if model.sensitive else [None]


@dataclass(frozen=True, eq=False)
class Judgement:
    """Judges classes of one table: the policy with that table's margins filled in."""

    models: Sequence[PrivacyModel]
    rules: Rules
    others: Sequence[tuple[PrivacyModel, int, int]]
    margins: Ints
    kernel: Kernel

    def broken(self, counts: Columns, most: int = 0) -> tuple[int, Marks]:
        """Records in classes that break a model, and which classes those are.

        Beyond ``most`` such records it stops: the number is then too small and the marks
        incomplete.
        """
        records, marks = self.kernel.broken(counts, self.rules, most)
        if records > most or not self.others:
            return records, marks
        for model, start, stop in self.others:
            classes = Classes(counts[:, start:stop].astype(np.int64), self.margins[start:stop])
            marks |= ~model.accepts(model.measure(classes))
        return int(counts[marks, -1].sum()), marks

    def holds(self, counts: Columns) -> bool:
        """Whether every class satisfies every model."""
        return self.broken(counts)[0] == 0
