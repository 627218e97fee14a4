"""Linkage of records to people by the quasi-identifiers that an attacker knows of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.privacy.population import journalist, marketer, prosecutor
from anonymizer.release.results import Result


@dataclass(frozen=True)
class Success(Result):
    """The success of an attacker who takes one of the records that fit, all equally likely."""

    highest: float  # the largest probability with which a record is re-identified
    average: float  # the mean probability over the records of the release
    expected: float  # the expected number of records that are re-identified
    certain: int  # records that only one person fits: re-identified with certainty


@dataclass(frozen=True)
class Linkage(Result):
    """Linkage with the original quasi-identifiers.

    The prosecutor knows that the target is in the release. The journalist does not, and the target
    may be anybody of the original table; None where nobody else is in that table.
    """

    prosecutor: Success
    journalist: Success | None
    marketer: float  # the share of records that an attacker who matches all matches rightly


def linkage(sizes: ArrayLike, population: ArrayLike | None = None) -> Linkage:
    """Success of prosecutor, journalist and marketer: sum_g n_g / n_g, sum_g n_g / P_g.

    ``sizes`` are the records n_g of each class, ``population`` the people P_g >= n_g to whom they
    may belong, shape (classes,) each.

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
