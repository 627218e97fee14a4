"""ITPR of several attributes together, for tables too large to look at more than is needed."""

from collections.abc import Sequence

from anonymizer.errors import InputError
from anonymizer.risk.alone import alone, sensitive_digits
from anonymizer.risk.ordering import Ordered
from anonymizer.risk.profile import Inference, Reidentification
from anonymizer.risk.refinement import Columns, Refinement, refinements

__all__ = ["itpr"]

GROWTH = 1.1
"""Classes are looked through for one of a single value when they are so many times as many as
they were then: it costs as much as to split them. What is not seen is counted in the end."""


def itpr(table: Columns, quasi_identifiers: Sequence[str], sensitive: str | None = None) -> float:
    """ITPR = max over classes y of 1 - T p(y) H(X|y) / H(X), of combined quasi-identifiers.

    A class that leaves no doubt, H(X|y) = 0 < H(X), makes it 1, and so it stays however classes
    are split: columns beyond are not read then.

    Parameters
    ----------
    table
        A DataFrame, or a file that is read a column at a time.
    quasi_identifiers
        The columns that tell the T classes apart.
    sensitive
        X, for inference. Without it X is the record itself, for re-identification: H(X) = log2 N,
        H(X|y) = log2 n_y, so that no identifier is needed.

    Returns
    -------
    ITPR in [0, 1]; 0 where X is constant or there is one class.

    Source: Bkakria, Cuppens-Boulahia, Cuppens and Tasidou (2021), Eq. 10.

    Raises
    ------
    InputError
        When the table has no records.

    >>> import pandas as pd
    >>> itpr(pd.DataFrame({"age": [20, 20, 30, 30], "sex": list("fmmm")}), ["age"])
    0.5
    """
    if not len(table):
        raise InputError("no records: there is no risk to measure")
    if len(quasi_identifiers) == 1:
        return next(alone(table, quasi_identifiers, sensitive)).itpr
    about = None if sensitive is None else sensitive_digits(table, sensitive)
    if len(table) == 1 or (about is not None and about[1] == 1):
        return 0.0
    classes: Refinement | Ordered = Refinement.trivial(len(table))
    looked_at = 0
    for classes in refinements(table, quasi_identifiers):
        grown = classes.classes > GROWTH * looked_at
        if classes.is_homogeneous(about if grown else None):
            return 1.0
        looked_at = classes.classes if grown else looked_at
    if about is None:
        return Reidentification(classes.sizes).itpr
    return Inference.tallied(classes.class_of, about[0]).itpr
