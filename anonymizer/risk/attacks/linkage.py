"""Linkage: whose record is this? By the quasi-identifiers that an attacker knows of people."""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.privacy.population import journalist, marketer, prosecutor

__all__ = ["Linkage", "Success", "linkage"]


@dataclass(frozen=True)
class Success:
    """What an attacker succeeds in who takes one of the records that fit, each as likely.

    Parameters
    ----------
    highest
        The largest probability with which a record is re-identified.
    average
        The mean of it over the records of the release.
    expected
        The records that are re-identified on average.
    certain
        Those that only one person fits: re-identified for sure.
    """

    highest: float
    average: float
    expected: float
    certain: int


@dataclass(frozen=True)
class Linkage:
    """Linkage with the original quasi-identifiers.

    Parameters
    ----------
    prosecutor
        Of an attacker who knows that the target is in the release.
    journalist
        Of one who does not, and takes anybody of the original table; None where that holds nobody
        beside the people of the release.
    marketer
        The share of the records matched rightly by one who matches them all.
    """

    prosecutor: Success
    journalist: Success | None
    marketer: float

    def to_dict(self) -> dict[str, object]:
        """The attack as JSON has it."""
        return asdict(self)


def linkage(sizes: ArrayLike, population: ArrayLike | None = None) -> Linkage:
    """Success of prosecutor, journalist and marketer: sum_g n_g / n_g, sum_g n_g / P_g.

    Parameters
    ----------
    sizes
        Records n_g of each class, shape (classes,).
    population
        People P_g >= n_g whom a record of each class may be of, shape (classes,).

    Raises
    ------
    InputError
        When they are no counts, or there are fewer people than records in a class.

    >>> linkage([1, 3], [2, 4]).journalist
    Success(highest=0.5, average=0.3125, expected=1.25, certain=0)
    """
    records = np.asarray(sizes)
    people = records if population is None else np.asarray(population)
    known, guessed = prosecutor(records), journalist(records, people)
    found = Success(
        guessed.highest,
        guessed.average,
        guessed.average * float(records.sum()),
        _certain(records, people),
    )
    return Linkage(
        Success(known.highest, known.average, float((records > 0).sum()), _certain(records, 1)),
        found if (people > records)[records > 0].any() else None,
        marketer(records, people),
    )


def _certain(records: np.ndarray, people: ArrayLike) -> int:
    """Records alone in their class, and in the class of the population."""
    return int(((records == 1) & (np.broadcast_to(people, records.shape) == 1)).sum())
