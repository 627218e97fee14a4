"""What a table satisfies as it is: the largest k and l, the smallest t, beta and delta."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from anonymizer.counts.columns import reads_as_written
from anonymizer.counts.counting import recount
from anonymizer.counts.counts import Classes, Counts
from anonymizer.counts.persons import PERSON, joint_of
from anonymizer.counts.schema import Missing, Schema
from anonymizer.errors import column_names
from anonymizer.feedback.document import in_a_line
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.privacy import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    PrivacyModel,
    TCloseness,
    Verdict,
    holds,
    is_ordered,
    judged_classes,
    measures_of,
    models_of,
    over_persons,
    population_of,
)
from anonymizer.privacy.population import journalist, marketer, prosecutor, sample_uniqueness
from anonymizer.release.column_warnings import spelling_warnings
from anonymizer.release.frames import table_of
from anonymizer.release.manifest.parts import ReportedWarning
from anonymizer.release.proof import judged
from anonymizer.release.request import listed_items, require_equal_sets
from anonymizer.release.results import PolicyResult
from anonymizer.release.warnings import ReleaseWarning, class_warnings, telling_warnings
from anonymizer.risk.file import Subject
from anonymizer.risk.measured import MeasuredTable
from anonymizer.risk.persons import PersonRisk
from anonymizer.risk.profile import Inference
from anonymizer.risk.sample import weight_of
from anonymizer.tables import engine

MEASURES: Mapping[str, PrivacyModel] = {
    "distinct_l": DistinctLDiversity(1),
    "entropy_l": EntropyLDiversity(1),
    "t_kl": TCloseness(0, "kl"),
    "t_equal": TCloseness(0, "equal"),
    "t_ordered": TCloseness(0, "ordered"),
    "basic_beta": BasicBetaLikeness(1),
    "enhanced_beta": EnhancedBetaLikeness(1),
    "delta_disclosure": DeltaDisclosure(1),
    "alpha": AlphaKAnonymity(1, 1),
}
"""What is measured about every sensitive attribute. The parameters of these models do not matter:
the worst class under each model is the strictest parameter that the table satisfies."""


@dataclass(frozen=True, repr=False)
class Check(PolicyResult):
    """The strictest parameters that a table satisfies as it is, and verdicts of a policy.

    Parameters
    ----------
    records, classes
        Records, and combinations of values of the quasi-identifiers.
    k
        Persons of the smallest class; its records where every record is of a person of its own.
    sensitive
        For each sensitive attribute the strictest parameters that every class satisfies, in the
        worst way of counting where persons have several records:
        ``distinct_l``, ``entropy_l`` (2^H, plug-in), ``t_kl`` (bits), ``t_equal``, ``t_ordered``
        (where its values are numbers, or a model of the policy gives their order),
        ``basic_beta``, ``enhanced_beta``, ``delta_disclosure`` (bits) and ``alpha``; infinite where
        no parameter holds.
    risk
        Of re-identification: ``prosecutor_highest`` and ``prosecutor_average``; with a population,
        or weights, also ``journalist_highest``, ``journalist_average`` and ``marketer``; and
        ``sample_uniqueness``, the share of records alone in their class. Of persons who have
        several records ``prosecutor_highest`` is the largest share that one of them has of a class.
    privacy
        The verdict of every model of the policy.
    violating_records
        For each of them the records in classes that break it.
    unexamined
        Models of the policy that are about persons, where the table does not show whose its records
        are: nobody knows by it whether they hold.
    warnings
        Weaknesses of the table, whether the policy holds or not. Of a release also those that its
        manifest reports of the raw table.
    quasi_identifiers
        The columns whose combinations of values are the classes.
    persons
        The persons of the table; None where every record is of a person of its own.
    fewest_people
        By the sampling weights: the people whom the records of a class stand for, in whole people
        of the class that has fewest; None without weights.
    """

    derived = (*PolicyResult.derived, "k_of", "largest_share")

    records: int
    classes: int
    k: int
    sensitive: Mapping[str, Mapping[str, float]]
    risk: Mapping[str, float]
    privacy: Sequence[Verdict]
    warnings: Sequence[ReleaseWarning | ReportedWarning] = ()
    quasi_identifiers: Sequence[str] = ()
    violating_records: Sequence[int] = ()
    unexamined: Sequence[PrivacyModel] = ()
    persons: int | None = None
    fewest_people: int | None = None

    def __repr__(self) -> str:
        policy = "policy holds" if self.satisfied else "policy does not hold"
        if self.unexamined and not self.broken:
            policy = "policy not examined"
        about = policy if self.privacy or self.unexamined else "no policy"
        return in_a_line(self, f"{self.records:,} records", f"{self.classes:,} classes", about)

    @property
    def satisfied(self) -> bool:
        """Whether every model of the policy was examined, and is satisfied."""
        return not (self.broken or self.unexamined)

    @property
    def k_of(self) -> str:
        """What k counts."""
        return "records" if self.persons is None else "persons"

    @property
    def largest_share(self) -> float | None:
        """The largest share of a class that is one person's; None where persons have one record."""
        return None if self.persons is None else self.risk["prosecutor_highest"]

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON has it; an infinite figure is null."""
        sensitive = {
            name: {measure: value if isfinite(value) else None for measure, value in found.items()}
            for name, found in self.sensitive.items()
        }
        found = {**super().to_dict(), "sensitive": sensitive}
        records = found.pop("violating_records")
        for verdict, number in zip(found["privacy"], records, strict=True):
            verdict["violating_records"] = number
        return {**found, "unexamined": [model.name for model in self.unexamined]}


def check(
    table: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    privacy: Sequence[PrivacyModel] = (),
    missing: Missing = "error",
    person: str | Sequence[str] = (),
    weight: str | None = None,
    household: str | Sequence[str] = (),
    items: Mapping[str, str] | None = None,
) -> Check:
    """Measure what a table satisfies as it is, and test a policy on it.

    Nothing is recoded. A population that models are about has to be recoded as the table is.

    Parameters
    ----------
    table
        A DataFrame of pandas or Polars, say, as ``Anonymizer.fit`` takes it.
    quasi_identifiers
        Columns whose combinations of values are the classes.
    sensitive
        Columns whose values a policy protects.
    privacy
        The policy, if any.
    missing
        The treatment of records that miss a value: ``"error"``, ``"drop"``, ``"gap"`` or
        ``"category"``.
    person
        The column, or the columns, that tell whose each record is where persons have several. The
        figures and the policy are about persons then.
    weight
        The column that has the sampling weight of each record: how many people it stands for.
        Models with ``population="weights"`` are about these people.
    household
        The column, or the columns, that tell which records are of people who live together, for
        models of households.
    items
        Sensitive columns whose cells list several items, with what stands between two of them, such
        as ``{"conditions": ";"}``: figures and policy are about each item, too.

    Returns
    -------
    Check
        Parameters that the table satisfies, risks, and the verdict of each model.

    Raises
    ------
    InputError
        When a column is unknown or misses values, a weight is no number above 0, the table has no
        records, or a model cannot be tested on it.

    Examples
    --------
    >>> import pandas as pd
    >>> check(pd.DataFrame({"age": [20, 20, 30, 30, 30]}), "age").k
    2
    """
    names = column_names("quasi_identifiers", quasi_identifiers)
    persons, homes = column_names("person", person), column_names("household", household)
    schema = Schema(
        names,
        column_names("sensitive", sensitive),
        missing=missing,
        person=persons,
        weight=weight_of(weight),
        household=homes,
        items=listed_items(items),
        joint=joint_of(each.attribute for each in models_of(privacy)),
    )
    models = over_persons(models_of(privacy), persons, homes)
    require_equal_sets(models, schema)
    people = population_of(models)
    measured = MeasuredTable.of(table_of(table), schema, respell=False)
    population = schema.people_of(people, measured.table)
    return check_measured(measured, schema, models, population)


def check_measured(
    measured: MeasuredTable,
    schema: Schema,
    models: Sequence[PrivacyModel],
    population: engine.Table | None = None,
    identifiers: Sequence[str] = (),
    unexamined: Sequence[PrivacyModel] = (),
) -> Check:
    """Check a table that was admitted, and a population recoded as it is.

    ``identifiers`` are columns that a release of the table leaves out; of them only warnings about
    persons who have several records speak. ``unexamined``: models that the table cannot be held
    against.
    """
    table = measured.table
    weighed = schema.people_weighed(table)
    population = weighed if population is None else population
    counts = recount(table, schema, population)
    alike = all(reads_as_written(table[name]) for name in schema.sensitive)
    views = [counts] if alike else [counts, recount(table, schema, population, keys=list)]
    sizes = counts.sizes[counts.sizes > 0]
    persons = PersonRisk(Inference.of(counts.joint[PERSON]), ()) if schema.person else None
    verdicts = judged(table, counts, schema, models, population)
    policy = (*models, *unexamined)
    withheld = replace(schema, releases_weight=False).withheld  # a raw table has raw weights
    known = {*schema.quasi_identifiers, *schema.sensitive, *withheld, *identifiers}
    others = [column for column in measured.columns if column not in known]
    return Check(
        records=counts.records,
        classes=len(sizes),
        k=int(sizes.min()) if persons is None else persons.k,
        sensitive={
            name: _measured([view.judged(name).occupied for view in views], policy)
            for name in counts.sensitive
        },
        risk=_risks(counts, persons),
        privacy=verdicts,
        warnings=(
            *class_warnings(counts, policy, len(others), schema.items),
            *telling_warnings(table, schema),
            *spelling_warnings(table, schema.sensitive),
            *measured.of_persons(schema, policy, identifiers),
            *measured.warnings(others),
        ),
        quasi_identifiers=schema.quasi_identifiers,
        violating_records=[max(_breaking(view, each) for view in views) for each in verdicts],
        unexamined=unexamined,
        persons=None if persons is None else persons.persons,
        fewest_people=None if weighed is None else int(weighed.sizes.min()),
    )


def _breaking(counts: Counts, verdict: Verdict) -> int:
    """The records in classes that break a model, as one reader of the table counts them."""
    if verdict.satisfied:
        return 0
    model = verdict.model
    broken = ~holds(model, judged_classes(model, counts, verdict.attribute))
    return int(counts.sizes[broken].sum())


def _measured(views: Sequence[Classes], models: Sequence[PrivacyModel]) -> dict[str, float]:
    """Return the strictest parameters that every class satisfies, to every reader of the table."""
    measures = {**MEASURES, "t_ordered": _order(views[0], models)}
    found = {
        measure: model.worst(np.concatenate([measures_of(model, each) for each in views]))
        for measure, model in measures.items()
        if model is not None
    }
    return {**found, "distinct_l": int(found["distinct_l"])}


def _order(classes: Classes, models: Sequence[PrivacyModel]) -> PrivacyModel | None:
    """Return the ordered distance of an attribute: the policy's, or that of numbers."""
    for model in models:
        about = getattr(model, "attribute", None) in (None, classes.attribute)
        if isinstance(model, TCloseness) and model.distance == "ordered" and about:
            return model
    return MEASURES["t_ordered"] if is_ordered(classes) else None


def _risks(counts: Counts, persons: PersonRisk | None) -> dict[str, float]:
    """The risks of re-identification: see ``Check``."""
    sizes = counts.sizes[counts.sizes > 0]
    if persons is None:
        known = prosecutor(sizes)
        found = sample_uniqueness(sizes), known.highest, known.average
    else:
        sizes = persons.about.occurring
        found = persons.alone / persons.persons, persons.largest_share, persons.average
    names = "sample_uniqueness", "prosecutor_highest", "prosecutor_average"
    risks = dict(zip(names, found, strict=True))
    if counts.population is not None:
        people = counts.population[counts.sizes > 0]
        guessed = journalist(sizes, people)
        risks["journalist_highest"] = guessed.highest
        risks["journalist_average"] = guessed.average
        risks["marketer"] = marketer(sizes, people)
    return risks


def check_file(subject: Subject, watch: Watch = ignore) -> Check:
    """Measure what a table file satisfies as it is, and test the policy that goes with it.

    The table is counted where it lies. A population that models are about is recoded where the
    table is a release, with a manifest in its directory, and taken as it is otherwise.
    """
    models, unexamined = subject.examined
    with subject.measured(watch, respell=False) as measured:
        watch("measuring the table", 0, None)
        people = subject.population(measured.table)
        found = check_measured(
            measured, subject.schema, models, people, subject.identifiers, unexamined
        )
        return replace(found, warnings=subject.warned(found.warnings))
