"""Equivalence classes refined one column at a time."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.columns import by_text
from anonymizer.engines import pandas as engine
from anonymizer.risk.profile import Inference, Reidentification

__all__ = ["Columns", "Refinement", "refined_by"]

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Columns(Protocol):
    """A table that gives its columns one at a time: a DataFrame, or a file that is not all read."""

    def __len__(self) -> int:
        """The number of records."""

    def __getitem__(self, name: str, /) -> pd.Series:
        """A column."""


@dataclass(frozen=True, eq=False)
class Refinement:
    """The records of a table in their classes.

    Parameters
    ----------
    class_of
        The class of each record, shape (records,), numbered 0, 1, ... without a gap.
    classes
        How many classes there are.
    """

    class_of: Codes
    classes: int

    @classmethod
    def trivial(cls, records: int) -> "Refinement":
        """All records in one class."""
        return cls(np.zeros(records, np.intp), min(records, 1))

    def by(self, column: pd.Series) -> "Refinement":
        """The classes, each split by the values of one more column; a missing one is a value."""
        codes, values = engine.distinct(column)
        class_of, kinds = pd.factorize(self.class_of * max(len(values), 1) + codes)
        return Refinement(class_of, len(kinds))

    @cached_property
    def sizes(self) -> Ints:
        """Records of each class, shape (classes,)."""
        return np.bincount(self.class_of, minlength=self.classes).astype(np.int64)

    def reidentification(self) -> Reidentification:
        """What the classes tell about who a record is of."""
        return Reidentification.of(self.sizes)

    def inference(self, column: pd.Series) -> Inference:
        """What they tell about a sensitive attribute."""
        return Inference.tallied(self.class_of, by_text(column)[0])


def refined_by(table: Columns, names: Iterable[str]) -> Refinement:
    """The classes of a table: records that agree in all of some columns."""
    classes = Refinement.trivial(len(table))
    for name in names:
        classes = classes.by(table[name])
    return classes
