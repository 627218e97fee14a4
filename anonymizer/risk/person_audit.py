"""Persons and households in the classes of a release: found by the original table.

A release does not show whose its records are, nor who lives together. The original does, of those
who are in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anonymizer.counts.counting import recount
from anonymizer.counts.persons import MEMBER, Persons
from anonymizer.counts.schema import Schema
from anonymizer.information.matrices import occurring
from anonymizer.privacy import PrivacyModel, Verdict
from anonymizer.privacy.households import alike_households, taken
from anonymizer.release.column_warnings import names_but
from anonymizer.release.manifest.placement import overlapping
from anonymizer.release.proof import judged
from anonymizer.release.results import Result
from anonymizer.risk.persons import PersonRisk
from anonymizer.risk.placement import PlacedPeople
from anonymizer.risk.profile import Inference
from anonymizer.tables import engine


@dataclass(frozen=True, eq=False)
class PersonAudit:
    """What a release discloses of persons who have several records.

    ``risk`` is of those who are in its classes; ``certain`` are, by sensitive attribute, the
    persons with a record in a class of one value; ``privacy`` are the verdicts of models of
    persons.
    """

    risk: PersonRisk
    certain: Mapping[str, int]
    privacy: Sequence[Verdict]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON has them; verdicts are those of the release."""
        return {**self.risk.to_dict(), "known_for_sure": {**self.certain}}


def obstacle_to_keys(table: PlacedPeople, keys: Sequence[str]) -> str | None:
    """Explain why it is not known which persons, or households, each class has by their ``keys``.

    None where it is.
    """
    release = table.release
    lacking = [name for name in keys if name not in table.original.columns]
    several = bool(release.manifest.regions) and not release.in_order
    reasons = {
        f"the original does not have {', '.join(map(repr, lacking))}, which tells them apart": (
            bool(lacking)
        ),
        "values were drawn at random": release.random,
        "classes overlap, and records are in random order": (
            several and bool(overlapping(table.original, release.manifest).any())
        ),
        "the original holds more records of its classes than the release": not table.exact,
        "the original lacks a sensitive attribute": (
            set(table.values) != set(release.schema.sensitive)
        ),
    }
    return next((reason for reason, true in reasons.items() if true), None)


def person_audit(table: PlacedPeople, models: Sequence[PrivacyModel]) -> PersonAudit:
    """Measure the persons in the classes of a release, and judge models of persons on them."""
    counts = table.counts
    roles, mark = table.release.schema, next(names_but(table.original.columns))
    schema = Schema(
        (mark,),
        roles.sensitive,
        missing=roles.missing,
        person=table.person,
        per_person=table.release.manifest.per_person or "share",
        joint=roles.joint,
    )
    columns = table.original[[*schema.sensitive, *schema.person]]
    admitted = schema.admit(columns.assign(**{mark: table.class_of})[table.admitted])
    everybody = Persons.of(admitted, schema.person)
    inside = admitted[admitted[mark] >= 0]
    class_of = inside[mark].to_numpy()
    person_of, _ = engine.grouped(inside, schema.person)
    one = {name: occurring(counts.about(name).known.joint) == 1 for name in schema.sensitive}
    recounted = recount(inside, schema, persons=everybody)
    return PersonAudit(
        PersonRisk.of(Inference.tallied(class_of, person_of), models),
        {name: len(np.unique(person_of[alike[class_of]])) for name, alike in one.items()},
        judged(inside, recounted, schema, models, persons=everybody),
    )


@dataclass(frozen=True)
class HouseholdAudit(Result):
    """What a release discloses of households that have records in its classes.

    One is alone where no other one has as many members in each class. ``highest`` is the chance of
    the one whose records are found most easily: that any of them is. ``privacy`` are the verdicts
    of models of households.
    """

    households: int
    alone: int
    fewest: int  # households that are alike, of the one that is hidden worst
    highest: float
    privacy: Sequence[Verdict] = field(default=(), repr=False)


def household_audit(table: PlacedPeople, models: Sequence[PrivacyModel]) -> HouseholdAudit:
    """Measure the households in the classes of a release, and judge models of households on them.

    All members count whom the release has, also those of whom others were left out.
    """
    mark = next(names_but(table.original.columns))
    missing = table.release.schema.missing
    schema = Schema((mark,), (), missing=missing, person=table.person, household=table.household)
    rows = table.original[[*schema.keys]].assign(**{mark: table.class_of})
    admitted = schema.admit(rows[table.admitted])
    inside = admitted[admitted[mark] >= 0]
    counts = recount(inside, schema)
    members = counts.judged(None, MEMBER)
    same = alike_households(members)
    return HouseholdAudit(
        len(same),
        int((same == 1).sum()),
        int(same.min()),
        max(float(each.chances.max()) for each in taken(members)),
        judged(inside, counts, schema, models),
    )
