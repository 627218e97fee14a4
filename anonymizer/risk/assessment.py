"""The risk of a table as it is: on the whole, class by class and record by record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.counts.schema import Missing, Schema
from anonymizer.errors import column_names
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.privacy.query_loss import QueryLoss, loss_of_sizes
from anonymizer.release.frames import table_of
from anonymizer.risk.measured import MeasuredTable
from anonymizer.risk.profile import Inference, Profile, Reidentification
from anonymizer.risk.refinement import Columnar, Refinement, refined_by

TERMS = {
    "posterior": "posterior",
    "uncertainty": "uncertainties",
    "itpr": "itpr_terms",
    **{name: name for name in ("i1", "i2", "i3", "i4")},
}
"""Columns of a table of classes, and the properties of a profile that they hold."""


@dataclass(frozen=True, eq=False)
class Assessment:
    """The risk of a table from an attacker who knows the quasi-identifiers.

    ``reidentification`` is the risk that a record is found by an attacker who knows that its person
    is in the table, ``inference`` that of each sensitive attribute.
    """

    table: Columnar  # admitted
    schema: Schema
    classes: Refinement
    reidentification: Reidentification
    inference: Mapping[str, Inference]

    @property
    def query_loss(self) -> QueryLoss:
        """The loss of the query "which class?" about a record."""
        return loss_of_sizes(self.reidentification.sizes)

    def to_dict(self) -> dict[str, object]:
        """Return the assessment as JSON has it."""
        sizes = self.reidentification.sizes
        return {
            "records": self.reidentification.records,
            "classes": len(sizes),
            "reidentification": {
                **self.reidentification.measures.to_dict(),
                "average": len(sizes) / self.reidentification.records,
                "alone": int((sizes == 1).sum()),
            },
            "inference": {
                name: {
                    **about.measures.to_dict(),
                    "guessed": about.guessed,
                    "guessed_without": about.guessed_without,
                }
                for name, about in self.inference.items()
            },
            "query_loss": self.query_loss.to_dict(),
        }

    def by_class(self) -> pd.DataFrame:
        """One row per class, numbered from 1; the values of the class are left out.

        Columns: ``records``; of re-identification ``posterior`` (max p(x|y)), ``i1``, ``i2``,
        ``i3``, ``i4`` and ``uncertainty`` H(X|y) in bits, and ``itpr``, the class's term of ITPR;
        of each sensitive attribute the same, such as ``i1(diagnosis)``.
        """
        columns: dict[str, np.ndarray] = {"records": self.reidentification.sizes}
        for suffix, profile in self._profiles():
            columns |= {what + suffix: getattr(profile, which) for what, which in TERMS.items()}
        return pd.DataFrame(columns, pd.RangeIndex(1, len(self.classes.sizes) + 1, name="class"))

    def by_record(self) -> pd.DataFrame:
        """One row per record, in the order of the table and with its index.

        Of a table that was counted, one for each combination of values of the columns with a role.

        Columns: ``class`` and ``records``, the class's number and size; of re-identification
        ``posterior`` = 1 / n, ``i1``, ``i2`` (bits) and ``itpr``; and of each sensitive attribute,
        say diagnosis, ``posterior(diagnosis)``, the probability of the value that the record has,
        ``max_posterior(diagnosis)``, that of the likeliest value, ``i1(diagnosis)``,
        ``i2(diagnosis)`` and ``itpr(diagnosis)``. Who reads it learns what an attacker would,
        sensitive values included.
        """
        class_of, sizes = self.classes.class_of, self.reidentification.sizes
        columns: dict[str, np.ndarray] = {
            "class": class_of + 1,
            "records": sizes[class_of],
            "posterior": self.reidentification.posterior[class_of],
        }
        for suffix, profile in self._profiles():
            if isinstance(profile, Inference):
                values = by_text(self.table[suffix[1:-1]])[0]
                columns["posterior" + suffix] = _posterior_of(profile, class_of, values)
                columns["max_posterior" + suffix] = profile.posterior[class_of]
            for what in ("i1", "i2", "itpr"):
                columns[what + suffix] = getattr(profile, TERMS[what])[class_of]
        return pd.DataFrame(columns, getattr(self.table, "index", None))

    def _profiles(self) -> list[tuple[str, Profile]]:
        inferred = [(f"({name})", about) for name, about in self.inference.items()]
        return [("", self.reidentification), *inferred]


def assess(
    table: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    missing: Missing = "error",
) -> Assessment:
    """Measure the risk of a table as it is: nothing is recoded.

    Parameters
    ----------
    table
        A DataFrame of pandas or Polars, say, as ``Anonymizer.fit`` takes it.
    quasi_identifiers
        Columns whose combinations of values are the classes.
    sensitive
        Columns that inference is about.
    missing
        The treatment of records that miss a value: ``"error"``, ``"drop"``, ``"gap"`` or
        ``"category"``.

    Returns
    -------
    Assessment
        Re-identification and inference, by class and by record.

    Raises
    ------
    InputError
        When a column is unknown or misses values, or the table has no records.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, 20, 30], "disease": ["flu", "cold", "flu"]})
    >>> assess(table, "age", "disease").by_class()["records"].tolist()
    [2, 1]
    """
    names = column_names("quasi_identifiers", quasi_identifiers)
    schema = Schema(names, column_names("sensitive", sensitive), missing=missing)
    return assess_columns(MeasuredTable.of(table_of(table), schema, respell=True).table, schema)


def assess_columns(table: Columnar, schema: Schema, watch: Watch = ignore) -> Assessment:
    """Measure the risk of a table that was admitted, reading a column at a time."""
    watch("grouping the records", 0, None)
    classes = refined_by(table, schema.quasi_identifiers)
    inference = {}
    for place, name in enumerate(schema.sensitive):
        watch("counting sensitive values", place, len(schema.sensitive))
        inference[name] = classes.inference(table[name])
    return Assessment(table, schema, classes, classes.reidentification(), inference)


def _posterior_of(about: Inference, class_of: Codes, values: Codes) -> Floats:
    number = len(about.margin)
    rows = np.repeat(np.arange(len(about.sizes)), np.diff([*about.starts, len(about.counts)]))
    cell = np.searchsorted(rows * number + about.values, class_of * number + values)
    return np.asarray(about.counts[cell] / about.sizes[class_of], float)
