"""The risk of persons who have several records: whose a record of each class may be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymizer.counts.linked import compositions
from anonymizer.counts.pairs import row_keys, tabulated
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.privacy import PersonKAnonymity, PrivacyModel
from anonymizer.privacy.events import MOST_EVENTS, alike, least_left
from anonymizer.release.results import Result, as_json
from anonymizer.risk.profile import Inference


def cells_of(class_of: Codes, person_of: Codes, records: Ints | None) -> Codes:
    """Number the cells that rows are in: of a class, and of persons of one composition (rows,).

    Whoever sees which rows are of one person, and knows all of somebody, guesses by these.
    ``records``: of each row, one where None.
    """
    shape = int(class_of.max()) + 1, int(person_of.max()) + 1
    ones = np.ones(len(class_of), np.int64)
    held = tabulated(class_of, person_of, ones if records is None else records, shape)
    pairs = np.stack([class_of, compositions(held)[person_of]], axis=1)
    return np.unique(row_keys(pairs), return_inverse=True)[1]


ALONE = 2
"""Fewer persons left than this are the person alone."""


@dataclass(frozen=True)
class KnownRecords(Result):
    """What is left to who knows the classes of some records of a person, whichever tell most."""

    known: int | None  # records; None: all
    fewest: int  # persons left of the person who is hidden worst
    share_alone: float  # the share of persons of whom nobody else is left
    share_below_k: float | None  # and of whom fewer than the k of the policy are


@dataclass(frozen=True, eq=False)
class PersonRisk:
    """The risk of the persons of a table, of whom each may have several records, in its classes.

    ``about`` has the records of each class by person. ``left`` has for m = 1, 2 ... how many
    persons are left to who knows m records of each person, shape (persons,): see ``least_left``;
    ``same`` to who knows all of them: see ``alike``. ``wanted`` is the k of a policy, None where
    none has one.
    """

    about: Inference
    left: Sequence[Ints]
    same: Ints | None = None
    wanted: int | None = None

    @classmethod
    def of(cls, about: Inference, models: Sequence[PrivacyModel] = ()) -> "PersonRisk":
        """Measure persons under a policy; every person has a record."""
        class_of = np.repeat(np.arange(len(about.sizes)), about.occurring)
        ks = [model.k for model in models if isinstance(model, PersonKAnonymity)]
        shape = len(about.sizes), len(about.margin)
        held = tabulated(class_of, about.values, about.counts, shape)
        left = least_left(about.values, class_of, about.counts)
        return cls(about, left, alike(held), max(ks, default=None))

    @property
    def persons(self) -> int:
        """The persons of the table."""
        return len(self.about.margin)

    @property
    def k(self) -> int:
        """The persons of the smallest class."""
        return int(self.about.occurring.min())

    @property
    def largest_share(self) -> float:
        """The largest share that one person has of the records of a class.

        Who takes a record of the class for that person's is right with this probability.
        """
        return float(self.about.posterior.max())

    @property
    def average(self) -> float:
        """The mean probability with which a record is found that is that of a given person.

        Over all persons and all classes in which each has records: classes / sum_g persons of g.
        """
        return len(self.about.sizes) / len(self.about.counts)

    @property
    def alone(self) -> int:
        """The persons who have a class to themselves."""
        return len(np.unique(self.about.values[self.about.starts[self.about.homogeneous]]))

    @property
    def unexamined(self) -> int | None:
        """The first m for which persons have too many choices of m records; None where none has."""
        return len(self.left) + 1 if len(self.left) < MOST_EVENTS else None

    @property
    def events(self) -> tuple[KnownRecords, ...]:
        """What is left to who knows m records of a person, for each m."""
        return tuple(self._known(known, left) for known, left in enumerate(self.left, 1))

    @property
    def composition(self) -> KnownRecords | None:
        """What is left to who knows all records of a person; None where that was not measured."""
        return None if self.same is None else self._known(None, self.same)

    def _known(self, known: int | None, left: Ints) -> KnownRecords:
        below = None if self.wanted is None else float((left < self.wanted).mean())
        return KnownRecords(known, int(left.min()), float((left < ALONE).mean()), below)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        names = ("persons", "k", "largest_share", "average", "alone", "events", "composition")
        return {name: as_json(getattr(self, name)) for name in names}
