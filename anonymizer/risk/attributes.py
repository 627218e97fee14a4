"""Metrics of large tables: of every attribute by itself, and ITPR of several combined.

No column is read or looked through more often than the figures need.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.errors import InputError
from anonymizer.risk import refinement
from anonymizer.risk.profile import Inference, Reidentification
from anonymizer.risk.refinement import Columnar, Ordered, Refinement, refinements, rows_in
from anonymizer.tables import engine
from anonymizer.tables.numbering import Digits, crossed

GROWTH = 1.1
"""Classes are searched for a homogeneous one only when they are this many times as many as at the
last search, which costs as much as splitting them. What is missed is counted in the end."""


@dataclass(frozen=True, eq=False)
class AttributeRisk:
    """The risk of one attribute by itself."""

    name: str  # the attribute Y
    reidentification: Reidentification  # X is the record itself
    inference: Inference | None = None  # X is a sensitive attribute, if there is one

    @property
    def itpr(self) -> float:
        """ITPR of the sensitive attribute, or of re-identification if there is none."""
        return (self.reidentification if self.inference is None else self.inference).itpr


def attribute_risks(
    table: Columnar, names: Iterable[str], sensitive: str | None = None
) -> Iterator[AttributeRisk]:
    """Measure each attribute by itself; a column is read when its result is requested.

    Parameters
    ----------
    table
        A DataFrame, or a file that is read a column at a time.
    names
        The attributes.
    sensitive
        What inference is about; it is read once. None measures re-identification alone.

    Returns
    -------
    Iterator of AttributeRisk
        One for each attribute, in the order of the names.
    """
    about = _sensitive_digits(table, sensitive)
    for name in names:
        yield AttributeRisk(name, *_profiles(Refinement.whole(table), table[name], about))


def itpr(table: Columnar, quasi_identifiers: Sequence[str], sensitive: str | None = None) -> float:
    """ITPR = max over classes y of 1 - T p(y) H(X|y) / H(X), of combined quasi-identifiers.

    A homogeneous class, H(X|y) = 0 < H(X), makes it 1, and further columns cannot change that:
    they are not read. The quasi-identifiers define the T classes. X is the ``sensitive``
    attribute, for inference. Without it X is the record itself, for re-identification:
    H(X) = log2 N, H(X|y) = log2 n_y, so that no identifier is needed.

    Source: Bkakria, Cuppens-Boulahia, Cuppens and Tasidou (2021), Eq. 10.

    Parameters
    ----------
    table
        A DataFrame, or a file that is read a column at a time.
    quasi_identifiers, sensitive
        Names of columns.

    Returns
    -------
    float
        In [0, 1]; 0 where X is constant or there is one class.

    Raises
    ------
    InputError
        When the table has no records.

    Examples
    --------
    >>> import pandas as pd
    >>> itpr(pd.DataFrame({"age": [20, 20, 30, 30], "sex": list("fmmm")}), ["age"])
    0.5
    """
    if not rows_in(table):
        raise InputError("no records: there is no risk to measure")
    if len(quasi_identifiers) == 1:
        return next(attribute_risks(table, quasi_identifiers, sensitive)).itpr
    about = _sensitive_digits(table, sensitive)
    whole = Refinement.whole(table)
    if whole.sizes[0] == 1 or (about is not None and about[1] == 1):
        return 0.0
    classes: Refinement | Ordered = whole
    searched = 0
    for classes in refinements(table, quasi_identifiers):
        grown = classes.classes > GROWTH * searched
        if classes.is_homogeneous(about if grown else None):
            return 1.0
        searched = classes.classes if grown else searched
    if about is None:
        return Reidentification(classes.sizes).itpr
    return Inference.tallied(classes.class_of, about[0], whole.weights).itpr


def _sensitive_digits(table: Columnar, name: str | None) -> Digits | None:
    if name is None:
        return None
    codes, values = by_text(table[name])
    return codes.astype(np.min_scalar_type(-len(values))), len(values)


def _profiles(
    whole: Refinement, column: pd.Series, about: Digits | None
) -> tuple[Reidentification, Inference | None]:
    """Counted in a table of class by value where that is small, else by a sort of the records."""
    digits, records = engine.numbered(column), len(column)
    many = digits[1] * (1 if about is None else about[1]) > refinement.DENSE * records
    if many or whole.weights is not None:
        classes = whole.split(digits)
        inference = (
            None
            if about is None
            else Inference.tallied(classes.class_of, about[0], classes.weights)
        )
        return Reidentification(classes.sizes), inference
    if about is None:
        sizes = crossed([digits], records)
        return Reidentification(sizes[sizes > 0]), None
    inference = Inference.of(crossed([digits, about], records))
    return Reidentification(inference.sizes), inference
