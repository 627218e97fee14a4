"""Households in the classes of a release: found by the original table.

A release does not show which of its records are of people who live together. The original does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from anonymizer.counts.persons import HOUSEHOLD
from anonymizer.counts.schema import Schema, recount
from anonymizer.privacy import PrivacyModel, Verdict
from anonymizer.privacy.events import alike
from anonymizer.privacy.households import by_size, chances_of
from anonymizer.release.column_warnings import names_but
from anonymizer.release.proof import judged
from anonymizer.release.results import Result
from anonymizer.risk.placement import PlacedPeople


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
    schema = Schema((mark,), (), missing=table.release.schema.missing, household=table.household)
    rows = table.original[[*table.household]].assign(**{mark: table.class_of})
    admitted = schema.admit(rows[table.admitted])
    inside = admitted[admitted[mark] >= 0]
    counts = recount(inside, schema)
    same = alike(counts.joint[HOUSEHOLD])
    return HouseholdAudit(
        len(same),
        int((same == 1).sum()),
        int(same.min()),
        float(chances_of(*by_size(counts.about(HOUSEHOLD))).max()),
        judged(inside, counts, schema, models),
    )
