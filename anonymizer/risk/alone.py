"""The risk of each attribute alone: one look at each column, whatever the others are."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.risk import refinement
from anonymizer.risk.profile import Inference, Reidentification
from anonymizer.risk.refinement import Columns, Refinement
from anonymizer.tables import pandas as engine
from anonymizer.tables.pandas import Digits

__all__ = ["Alone", "alone", "sensitive_digits"]


@dataclass(frozen=True, eq=False)
class Alone:
    """What one attribute tells by itself.

    Parameters
    ----------
    name
        The attribute Y.
    reidentification
        X is the record itself.
    inference
        X is a sensitive attribute, where there is one.
    """

    name: str
    reidentification: Reidentification
    inference: Inference | None = None

    @property
    def itpr(self) -> float:
        """ITPR of the sensitive attribute, or of re-identification where there is none."""
        return (self.reidentification if self.inference is None else self.inference).itpr


def alone(table: Columns, names: Iterable[str], sensitive: str | None = None) -> Iterator[Alone]:
    """The risk of each of some attributes alone, read and counted when it is asked for.

    Parameters
    ----------
    table
        A DataFrame, or a file that is read a column at a time.
    names
        The attributes.
    sensitive
        The attribute that inference is about; it is read once.
    """
    about = None if sensitive is None else sensitive_digits(table, sensitive)
    for name in names:
        yield _told(table[name], name, about)


def sensitive_digits(table: Columns, name: str) -> Digits:
    """The values of a sensitive attribute as small codes, those that read alike being one."""
    codes, values = by_text(table[name])
    return codes.astype(np.min_scalar_type(-len(values))), len(values)


def _told(column: pd.Series, name: str, about: Digits | None) -> Alone:
    """Counted by class and value where these are few, else by a sort of the records."""
    digits, records = engine.numbered(column), len(column)
    if digits[1] * (1 if about is None else about[1]) > refinement.DENSE * records:
        classes = Refinement.trivial(records).split(digits)
        told = None if about is None else Inference.tallied(classes.class_of, about[0])
        return Alone(name, Reidentification(classes.sizes), told)
    if about is None:
        sizes = engine.crossed([digits], records)
        return Alone(name, Reidentification(sizes[sizes > 0]))
    told = Inference.of(engine.crossed([digits, about], records))
    return Alone(name, Reidentification(told.sizes), told)
