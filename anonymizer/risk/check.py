"""What a table satisfies as it stands: the largest k and l, the smallest t, beta and delta."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np
import pandas as pd

from anonymizer.counts.columns import reads_as_written
from anonymizer.counts.counts import Classes, Counts
from anonymizer.counts.schema import Schema, recount
from anonymizer.errors import column_names
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
    is_ordered,
    models_of,
    population_of,
)
from anonymizer.privacy.population import journalist, marketer, prosecutor, sample_uniqueness
from anonymizer.release.manifest import is_release
from anonymizer.release.publish import schema_at
from anonymizer.release.release import judged
from anonymizer.release.study import Study
from anonymizer.release.verification import recoded_people
from anonymizer.release.warnings.class_warnings import class_warnings
from anonymizer.release.warnings.column_warnings import column_warnings, spelling_warnings
from anonymizer.release.warnings.warnings import ReleaseWarning

__all__ = ["Check", "check", "check_file", "check_table"]

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
"""What is measured about every sensitive attribute, by models whose own parameters do not matter:
the worst class under each is the strictest parameter that the table satisfies."""


@dataclass(frozen=True)
class Check:
    """What a table satisfies as it stands.

    Parameters
    ----------
    records, classes
        Records, and combinations of values of the quasi-identifiers.
    k
        Records of the smallest class.
    sensitive
        For each sensitive attribute the strictest parameters that every class satisfies:
        ``distinct_l``, ``entropy_l`` (2^H, plug-in), ``t_kl`` (bits), ``t_equal``, ``t_ordered``
        (where its values are numbers, or a model of the policy states their order),
        ``basic_beta``, ``enhanced_beta``, ``delta_disclosure`` (bits) and ``alpha``; infinite where
        none does.
    risk
        Of being re-identified: ``prosecutor_highest`` and ``prosecutor_average``; with a population
        also ``journalist_highest``, ``journalist_average`` and ``marketer``; and
        ``sample_uniqueness``, the share of records alone in their class.
    privacy
        Every model of the policy held against the table.
    warnings
        What the table is weak in, whether the policy holds or not.
    """

    records: int
    classes: int
    k: int
    sensitive: Mapping[str, Mapping[str, float]]
    risk: Mapping[str, float]
    privacy: Sequence[Verdict]
    warnings: Sequence[ReleaseWarning] = ()

    @property
    def satisfied(self) -> bool:
        """Whether every class satisfies every model of the policy."""
        return all(verdict.satisfied for verdict in self.privacy)

    def to_dict(self) -> dict[str, object]:
        """The check as JSON has it; what is infinite is null."""
        return {
            "records": self.records,
            "classes": self.classes,
            "k": self.k,
            "sensitive": {
                name: {measure: _plain(measure, value) for measure, value in found.items()}
                for name, found in self.sensitive.items()
            },
            "risk": dict(self.risk),
            "privacy": [verdict.to_dict() for verdict in self.privacy],
            "satisfied": self.satisfied,
            "warnings": [warning.to_dict() for warning in self.warnings],
        }


def check(
    table: pd.DataFrame,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    privacy: Sequence[PrivacyModel] = (),
    missing: str = "error",
) -> Check:
    """Measure what a table satisfies as it stands, and hold a policy against it.

    Nothing is recoded: classes are the combinations of values of the quasi-identifiers that stand
    in the table. A population that models are about has to stand as the table does.

    Parameters
    ----------
    table
        The table.
    quasi_identifiers, sensitive
        Columns.
    privacy
        The policy, if there is one.
    missing
        What to do with records that miss a value: ``"error"``, ``"drop"`` or ``"category"``.

    Raises
    ------
    InputError
        When a column is unknown or misses values, the table has no records, or a model cannot be
        held against it.
    """
    names = tuple(column_names("quasi_identifiers", quasi_identifiers))
    schema = Schema(names, column_names("sensitive", sensitive), missing=missing)
    models = models_of(privacy)
    people = population_of(models)
    population = None if people is None else schema.admit_population(people.table)
    return check_table(schema.admit(table, respell=False), schema, models, population)


def check_table(
    table: pd.DataFrame,
    schema: Schema,
    models: Sequence[PrivacyModel],
    population: pd.DataFrame | None = None,
    identifiers: Iterable[str] = (),
) -> Check:
    """The same of a table that was admitted, and a population recoded as it is.

    Of ``identifiers``, columns that a release of the table leaves out, nothing is said.
    """
    counts = recount(table, schema, population)
    alike = all(reads_as_written(table[name]) for name in schema.sensitive)
    views = [counts] if alike else [counts, recount(table, schema, population, keys=list)]
    sizes = counts.sizes[counts.sizes > 0]
    known = {*schema.names, *schema.sensitive, *identifiers}
    others = [column for column in table.columns if column not in known]
    return Check(
        records=counts.records,
        classes=len(sizes),
        k=int(sizes.min()),
        sensitive={
            name: _measured([view.about(name).occupied for view in views], models)
            for name in counts.sensitive
        },
        risk=_risks(counts),
        privacy=judged(table, counts, schema, models, population),
        warnings=(
            *class_warnings(counts, models, len(others)),
            *spelling_warnings(table, schema.sensitive),
            *column_warnings(table, others),
        ),
    )


def _measured(views: Sequence[Classes], models: Sequence[PrivacyModel]) -> dict[str, float]:
    """The strictest parameters that every class satisfies, to every reader of the table."""
    found = {}
    for measure, model in MEASURES.items():
        if measure == "t_ordered":
            stated = _order(views[0], models)
            if stated is None:
                continue
            model = stated
        found[measure] = model.worst(np.concatenate([model.measure(each) for each in views]))
    return found


def _order(classes: Classes, models: Sequence[PrivacyModel]) -> PrivacyModel | None:
    """The ordered distance about an attribute: as the policy states it, or of numbers."""
    for model in models:
        about = getattr(model, "attribute", None) in (None, classes.attribute)
        if isinstance(model, TCloseness) and model.distance == "ordered" and about:
            return model
    return MEASURES["t_ordered"] if is_ordered(classes) else None


def _risks(counts: Counts) -> dict[str, float]:
    mine = counts.sizes > 0
    sizes = counts.sizes[mine]
    known = prosecutor(sizes)
    risks = {
        "sample_uniqueness": sample_uniqueness(sizes),
        "prosecutor_highest": known.highest,
        "prosecutor_average": known.average,
    }
    if counts.population is None:
        return risks
    people = counts.population[mine]
    guessed = journalist(sizes, people)
    return {
        **risks,
        "journalist_highest": guessed.highest,
        "journalist_average": guessed.average,
        "marketer": marketer(sizes, people),
    }


def _plain(measure: str, value: float) -> float | int | None:
    if not isfinite(value):
        return None
    return int(value) if measure == "distinct_l" else value


def check_file(study: Study, path: Path) -> Check:
    """Measure what a table of a study satisfies as it stands, and hold the policy against it.

    A population that models are about is recoded where the table is a release, with its manifest
    beside it, and taken as it stands otherwise.

    Raises
    ------
    InputError
        When the table cannot be read, lacks a column or misses values.
    """
    schema = schema_at(study, path)
    table = schema.admit(study.read(path, schema=schema), respell=False)
    people = population_of(study.privacy)
    if people is None:
        population = None
    elif is_release(path):
        population = recoded_people(study, path, table, people.table)
    else:
        population = schema.admit_population(people.table)
    identifiers = study.schema.identifiers
    return check_table(table, schema, study.privacy, population, identifiers)
