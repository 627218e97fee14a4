"""Linkage of records to people by the quasi-identifiers that an attacker knows of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.privacy.population import journalist, marketer, prosecutor
from anonymizer.release.results import Result


@dataclass(frozen=True)
class Success(Result):
    """The success of an attacker who takes one of the records that fit, all equally likely.

    Parameters
    ----------
    highest
        The largest probability with which a record is re-identified.
    average
        The mean probability over the records of the release.
    expected
        The expected number of records that are re-identified.
    certain
        The number of records that only one person fits: re-identified with certainty.
    """

    highest: float
    average: float
    expected: float
    certain: int


@dataclass(frozen=True)
class Linkage(Result):
    """Linkage with the original quasi-identifiers.

    Parameters
    ----------
    prosecutor
        The attacker knows that the target is in the release.
    journalist
        The attacker does not, and the target may be anybody of the original table; None where
        nobody else is in that table.
    marketer
        The share of the records that an attacker who matches all of them matches rightly.
    """

    prosecutor: Success
    journalist: Success | None
    marketer: float


def linkage(sizes: ArrayLike, population: ArrayLike | None = None) -> Linkage:
    """Success of prosecutor, journalist and marketer: sum_g n_g / n_g, sum_g n_g / P_g.

    Parameters
    ----------
    sizes
        Records n_g of each class, shape (classes,).
    population
        People P_g >= n_g to whom a record of each class may belong, shape (classes,).

    Raises
    ------
    InputError
        When they are no counts, or there are fewer people than records in a class.

    >>> linkage([1, 3], [2, 4]).journalist
    Success(highest=0.5, average=0.3125, expected=1.25, certain=0)
    """
    records = np.asarray(sizes)
    people = records if population is None else np.asarray(population)
    known, guessed, alone = prosecutor(records), journalist(records, people), records == 1
    inside = Success(known.highest, known.average, float((records > 0).sum()), int(alone.sum()))
    expected, certain = guessed.average * float(records.sum()), int((alone & (people == 1)).sum())
    anybody = Success(guessed.highest, guessed.average, expected, certain)
    larger = bool((people > records)[records > 0].any())
    return Linkage(inside, anybody if larger else None, marketer(records, people))
