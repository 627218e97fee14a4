"""The risk of a table as it is: on the whole, by class, by record, and of each attribute.

No column is read or looked through more often than the figures need.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.counts.persons import Persons
from anonymizer.counts.schema import Missing, Schema
from anonymizer.errors import InputError, column_names
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.privacy import PrivacyModel
from anonymizer.privacy.query_loss import QueryLoss, loss_of_sizes
from anonymizer.release.frames import table_of
from anonymizer.risk import refinement
from anonymizer.risk.measured import MeasuredTable
from anonymizer.risk.persons import PersonRisk, cells_of
from anonymizer.risk.profile import Inference, Profile, Reidentification
from anonymizer.risk.refinement import (
    Columnar,
    Ordered,
    Refinement,
    refined_by,
    refinements,
    rows_in,
)
from anonymizer.risk.sample import SampleColumns, SampleRisk, sample_risk
from anonymizer.risk.special_uniques import SpecialUniques
from anonymizer.tables import engine
from anonymizer.tables.numbering import Digits, crossed

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
    is in the table, ``inference`` that of each sensitive attribute. Where ``persons`` have several
    records re-identification is about the person whose a record is, and each person counts once for
    inference. ``sample`` is the risk by sampling weights and of households, ``special`` that of
    records which few of their values set apart. ``joined`` is inference by an attacker who knows
    all records of a person, where a release shows which are of one.
    """

    table: Columnar  # admitted
    schema: Schema
    classes: Refinement
    reidentification: Reidentification | Inference
    inference: Mapping[str, Inference]
    persons: PersonRisk | None = None
    sample: SampleRisk | None = None
    special: SpecialUniques | None = None
    joined: Mapping[str, Inference] = field(default_factory=dict)

    @property
    def query_loss(self) -> QueryLoss:
        """The loss of the query "which class?" about a record."""
        return loss_of_sizes(self.reidentification.sizes)

    def to_dict(self) -> dict[str, object]:
        """Return the assessment as JSON has it."""
        sizes, records = self.reidentification.sizes, self.reidentification.records
        persons = self.persons
        return {
            "records": records,
            "classes": len(sizes),
            "persons": None if persons is None else persons.to_dict(),
            "sample": None if self.sample is None else self.sample.to_dict(),
            "special_uniques": None if self.special is None else self.special.to_dict(),
            "reidentification": {
                **self.reidentification.measures.to_dict(),
                "average": len(sizes) / records if persons is None else persons.average,
                "alone": int((sizes == 1).sum()) if persons is None else persons.alone,
            },
            "inference": {
                name: {
                    **about.measures.to_dict(),
                    "records": records,  # those of the measures are parts where persons count once
                    "guessed": about.guessed,
                    "guessed_without": about.guessed_without,
                    **self._of_joined(name),
                }
                for name, about in self.inference.items()
            },
            "query_loss": self.query_loss.to_dict(),
        }

    def _of_joined(self, name: str) -> dict[str, object]:
        """What is guessed of an attribute by all rows of a person, where these are joined."""
        about = self.joined.get(name)
        if about is None:
            return {}
        found = {"guessed": about.guessed, "max_posterior": float(about.posterior.max())}
        return {"all_records_known": found}

    def by_class(self) -> pd.DataFrame:
        """One row per class, numbered from 1; the values of the class are left out.

        Columns: ``records``; of re-identification ``posterior`` (max p(x|y)), ``i1``, ``i2``,
        ``i3``, ``i4`` and ``uncertainty`` H(X|y) in bits, and ``itpr``, the class's term of ITPR;
        of each sensitive attribute the same, such as ``i1(diagnosis)``. Also ``persons``, where
        some have several records, and ``suda`` and ``dis_suda``, the score and the risk of special
        uniques, where these were looked for.
        """
        columns: dict[str, np.ndarray] = {"records": self.reidentification.sizes}
        if self.persons is not None:
            columns["persons"] = self.persons.about.occurring
        for suffix, profile in self._profiles():
            columns |= {what + suffix: getattr(profile, which) for what, which in TERMS.items()}
        columns |= self._of_special()
        return pd.DataFrame(columns, pd.RangeIndex(1, len(self.classes.sizes) + 1, name="class"))

    def by_record(self) -> pd.DataFrame:
        """One row per record, in the order of the table and with its index.

        Of a table that was counted, one for each combination of values of the columns with a role.

        Columns: ``class`` and ``records``, the class's number and size; of re-identification
        ``posterior`` = 1 / n, of persons the largest share that one has of the class, ``i1``,
        ``i2`` (bits) and ``itpr``; and of each sensitive attribute,
        say diagnosis, ``posterior(diagnosis)``, the probability of the value that the record has,
        ``max_posterior(diagnosis)``, that of the likeliest value, ``i1(diagnosis)``,
        ``i2(diagnosis)`` and ``itpr(diagnosis)``; ``suda`` and ``dis_suda`` as by class. Who reads
        it learns what an attacker would, sensitive values included.
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
        columns |= {name: figures[class_of] for name, figures in self._of_special().items()}
        return pd.DataFrame(columns, getattr(self.table, "index", None))

    def _of_special(self) -> dict[str, np.ndarray]:
        """The scores and risks of special uniques of each class, where these were looked for."""
        special = self.special
        return {} if special is None else {"suda": special.scores, "dis_suda": special.risks}

    def _profiles(self) -> list[tuple[str, Profile]]:
        inferred = [(f"({name})", about) for name, about in self.inference.items()]
        return [("", self.reidentification), *inferred]


def assess(
    table: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    missing: Missing = "error",
    person: str | Sequence[str] = (),
    weight: str | None = None,
    household: str | Sequence[str] = (),
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
    person
        The column, or the columns, that tell whose each record is where persons have several. The
        figures are about persons then.
    weight
        The column that has the sampling weight of each record: how many people it stands for.
    household
        The column, or the columns, that tell whose household each record is of.

    Returns
    -------
    Assessment
        Re-identification and inference, by class and by record.

    Raises
    ------
    InputError
        When a column is unknown or misses values, a weight is no number above 0, or the table has
        no records.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, 20, 30], "disease": ["flu", "cold", "flu"]})
    >>> assess(table, "age", "disease").by_class()["records"].tolist()
    [2, 1]
    """
    names = column_names("quasi_identifiers", quasi_identifiers)
    persons = column_names("person", person)
    schema = Schema(names, column_names("sensitive", sensitive), missing=missing, person=persons)
    columns = SampleColumns.of(weight, household)
    columns.require_apart(schema)
    measured = MeasuredTable.of(table_of(table), schema, respell=True)
    found = assess_columns(measured.table, schema)
    return replace(found, sample=sample_risk(measured, schema, columns, found.classes))


def assess_columns(
    table: Columnar,
    schema: Schema,
    watch: Watch = ignore,
    models: Sequence[PrivacyModel] = (),
) -> Assessment:
    """Measure the risk of a table that was admitted, reading a column at a time.

    ``models``: the policy, whose k the persons are held against who are left to an attacker.
    """
    watch("grouping the records", 0, None)
    classes = refined_by(table, schema.quasi_identifiers)
    persons = _persons(table, schema) if schema.person else None
    parts = None if persons is None else persons.parts_in_rows()
    inference = {}
    for place, name in enumerate(schema.sensitive):
        watch("counting sensitive values", place, len(schema.sensitive))
        inference[name] = classes.inference(table[name], parts)
    if persons is None:
        return Assessment(table, schema, classes, classes.reidentification(), inference)
    watch("looking at choices of events", 0, None)
    about = Inference.tallied(classes.class_of, persons.person_of, classes.weights)
    risk, joined = PersonRisk.of(about, models), _joined(table, schema, classes, persons)
    return Assessment(table, schema, classes, about, inference, risk, joined=joined)


def _joined(
    table: Columnar, schema: Schema, classes: Refinement, persons: Persons
) -> dict[str, Inference]:
    """Measure inference of each attribute by all rows of a person, where these are joined."""
    if not schema.person_numbers:
        return {}
    cell_of = cells_of(classes.class_of, persons.person_of, classes.weights)
    return {
        name: Inference.tallied(cell_of, by_text(table[name])[0], classes.weights)
        for name in schema.sensitive
    }


def _persons(table: Columnar, schema: Schema) -> Persons:
    """Return the persons of a table that need not be in memory."""
    people = refined_by(table, schema.person)
    return Persons(schema.person, cast(engine.Table, table), people.class_of, people.sizes)


def _posterior_of(about: Inference, class_of: Codes, values: Codes) -> Floats:
    number = len(about.margin)
    rows = np.repeat(np.arange(len(about.sizes)), about.occurring)
    cell = np.searchsorted(rows * number + about.values, class_of * number + values)
    return np.asarray(about.counts[cell] / about.sizes[class_of], float)


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
