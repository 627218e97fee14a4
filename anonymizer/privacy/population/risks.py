"""Re-identification risks of the prosecutor, the journalist and the marketer, from class sizes.

El Emam, Guide to the De-Identification of Personal Health Information (2013):
the prosecutor knows that a person is in the table; the journalist does not, and has to find the
person in the population the table was drawn from; the marketer wants as many records as
possible and does not mind errors. All risks are probabilities, or expected shares of records,
in [0, 1]. A table without records has no risk: every measure is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, log

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError, require_number
from anonymizer.kernels.arrays import Floats
from anonymizer.privacy.population.frequencies import LEAST_FRACTION, class_sizes

# Relative error below 1e-15: 1 / 2^60 for large shares, 1 / binomial(119, 60) for large sizes.
TERMS = 60


@dataclass(frozen=True)
class Risk:
    """Risk of a table: the ``highest`` probability with which a record is re-identified.

    ``average`` is the expected share of records that are, ``at_risk`` the share of those whose
    probability lies above the threshold.
    """

    highest: float
    average: float
    at_risk: float


def prosecutor(sizes: ArrayLike, threshold: float = 1.0) -> Risk:
    """Probability 1 / n_g per record: highest max_g 1 / n_g, average G / N.

    N records in all, G classes with records. No merge of two classes raises any of the three.

    Parameters
    ----------
    sizes
        n_g, the records of each equivalence class, shape (classes,).
    threshold
        Records with a probability above are at risk; none is above the default of 1.

    Returns
    -------
    Risk
        Probabilities and shares from 0 to 1; 0 without records.

    Raises
    ------
    InputError
        When sizes are no whole numbers of at least 0, or the threshold is no probability.

    Examples
    --------
    >>> prosecutor([1, 3, 4], threshold=0.3)
    Risk(highest=1.0, average=0.375, at_risk=0.5)
    """
    records = class_sizes(sizes, "prosecutor")
    return _risk("prosecutor", records, 1 / records, threshold)


def journalist(sizes: ArrayLike, population: ArrayLike, threshold: float = 1.0) -> Risk:
    """Probability 1 / P_g per record: highest max_g 1 / P_g, average sum_g (n_g / P_g) / N.

    El Emam gives the average as the larger of this and G / sum_g P_g, the success rate of an
    intruder who starts from the population's records instead of the table's; that second share is
    not of the table's records and is left out.

    Parameters
    ----------
    sizes, threshold
        As for :func:`prosecutor`.
    population
        P_g >= n_g, the population's records in each class of the table, shape (classes,); classes
        without records in the table do not count.

    Returns
    -------
    Risk
        Probabilities and shares from 0 to 1; 0 without records.

    Raises
    ------
    InputError
        When the shapes differ, or the population has fewer records of a class than the table.

    Examples
    --------
    >>> journalist([1, 3], [2, 4], threshold=0.25)
    Risk(highest=0.5, average=0.3125, at_risk=0.25)
    """
    records = class_sizes(sizes, "journalist", keep_empty=True)
    total = class_sizes(population, "journalist", keep_empty=True)
    if records.shape != total.shape:
        raise InputError(f"journalist: {len(records)} classes, but {len(total)} population sizes")
    if (total < records).any():
        short = int((total < records).sum())
        raise InputError(
            f"journalist: {short} classes have fewer records in the population than here"
        )
    occupied = records > 0
    return _risk("journalist", records[occupied], 1 / total[occupied], threshold)


def marketer(sizes: ArrayLike, population: ArrayLike) -> float:
    """Expected share of the table's records matched rightly: sum_g (n_g / P_g) / N.

    The average of :func:`journalist`, with its arguments and errors; with the table as its own
    population it is the prosecutor's average.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> marketer([1, 3], [2, 4])
    0.3125
    """
    return journalist(sizes, population).average


def estimated_risk(sizes: ArrayLike, fraction: float, threshold: float = 1.0) -> Risk:
    """Journalist's and marketer's risk without a population: E[1 / P_g | n_g] in place of 1 / P_g.

    Given n_g sampled records, P_g is taken as negative binomial: the number of trials until the
    n_g-th success of probability ``fraction``. Then

        E[1 / P_g] = fraction / n_g * 2F1(1, 1; n_g + 1; 1 - fraction),

    between fraction / n_g and 1 / n_g (Benedetti and Franconi, 1998; Franconi and Polettini,
    2004; the individual risk of mu-Argus). It looks at each class by itself: a class unique in the
    sample gets the same risk whether the table holds one such class or thousands. Where most
    sample uniques are population uniques it is far too low: less than half at a fraction of 0.1
    in the tests' heavy tail.

    Parameters
    ----------
    sizes, threshold
        As for :func:`prosecutor`.
    fraction
        The records of the table over those of the population.

    Returns
    -------
    Risk
        Probabilities and shares from 0 to 1; 0 without records.

    Raises
    ------
    InputError
        When the fraction is not in [1e-12, 1], and as :func:`prosecutor`.

    Examples
    --------
    >>> estimated_risk([2, 2], 1.0).average
    0.5
    """
    records = class_sizes(sizes, "estimated-risk")
    require_number("estimated-risk", "fraction", fraction, LEAST_FRACTION, 1)
    kinds, place = np.unique(records, return_inverse=True)
    odds = np.minimum(_mean_inverse(kinds, float(fraction)), 1 / kinds)
    return _risk("estimated-risk", records, odds[place], threshold)


def _mean_inverse(sizes: Floats, share: float) -> Floats:
    """Share / f 2F1(1, 1; f + 1; 1 - share), one value per size f.

    The terms of the series fall by (1 - share) i / (f + i) at least; for small f and share they
    do so slowly, and r_1 = share / (1 - share) log(1 / share), r_{f+1} = share / (1 - share)
    (1 / f - r_f) shrinks errors instead. scipy's hyp2f1 is not a number for some large f.
    """
    term = share / sizes
    series = term.copy()
    for i in range(1, TERMS):
        term = term * i * (1 - share) / (sizes + i)
        series += term
    if share >= 1 / 2:
        return series
    odds = share / (1 - share)
    table = [-odds * log(share)]
    for size in range(1, TERMS):
        table.append(odds * (1 / size - table[-1]))
    place = np.minimum(sizes, TERMS).astype(int) - 1
    return np.where(sizes < TERMS, np.array(table)[place], series)


def _risk(owner: str, records: Floats, odds: Floats, threshold: float) -> Risk:
    """Three measures of each record's probability, one value per class."""
    require_number(owner, "threshold", threshold, 0, 1)
    if not len(records):
        return Risk(0.0, 0.0, 0.0)
    count = records.sum()
    exposed = records[odds > threshold].sum()
    # Exact, so that the order of the classes does not show. A mean of probabilities is at most 1;
    # only the rounding of the products can say otherwise.
    average = min(fsum((records * odds).tolist()) / float(count), 1.0)
    return Risk(float(odds.max()), average, float(exposed / count))


def individual(sizes: ArrayLike, people: ArrayLike) -> Floats:
    """Risk that a record of a sample is re-identified, by the sampling weights: E(1 / F_g | f_g).

    Of f records of a class that stand for F people, sampled with p = f / F, the frequency of the
    class in the population is taken for negative binomial. In closed form, with q = 1 - p:
    p log(1 / p) / q of one record, p / q - (p / q)^2 log(1 / p) of two, and of more p / (f - q),
    which is near. Benedetti and Franconi (1998); so computed by sdcMicro.

    Parameters
    ----------
    sizes
        f_g, the records of each class, shape (classes,), 1 or more.
    people
        F_g, the sum of their sampling weights, shape (classes,). Where it is less than f_g all its
        people are taken to be in the table.

    Returns
    -------
    array of float
        Probabilities, shape (classes,). Summed over records: the expected re-identifications.

    Raises
    ------
    InputError
        When the shapes differ, or a sum of weights is no number above 0.

    Examples
    --------
    >>> individual([1, 2, 107], [100, 200, 10700]).round(6).tolist()
    [0.046517, 0.009631, 9.4e-05]
    """
    records = class_sizes(sizes, "individual risk")
    total = np.asarray(people, float)
    if records.shape != total.shape:
        raise InputError(f"individual risk: {len(records)} classes, but {len(total)} sums")
    if not (np.isfinite(total) & (total > 0)).all():
        raise InputError("individual risk: sums of sampling weights must be numbers above 0")
    p = np.minimum(records / total, 1.0)
    sampled = p < 1
    # At p = 1, where the forms of one and two records have a limit, all are 1 / f.
    odds = np.divide(p, 1 - p, out=np.zeros_like(p), where=sampled)
    alone = odds * -np.log(p)
    found = np.select([records == 1, records == 2], [alone, odds - odds * alone], 0.0)
    return np.asarray(np.where(sampled & (records <= 2), found, p / (records - (1 - p))))


def household(risks: ArrayLike, household_of: ArrayLike) -> Floats:
    """Risk that any member of a household is re-identified: 1 - prod (1 - r), of each record.

    Whoever finds one of them has found the others. ``risks`` are those of records, shape
    (records,), ``household_of`` the household of each, of any values that tell them apart.

    >>> household([0.5, 0.5, 0.1], ["a", "a", "b"]).round(6).tolist()
    [0.75, 0.75, 0.1]
    """
    own = np.asarray(risks, float)
    _, home = np.unique(np.asarray(household_of), return_inverse=True)
    with np.errstate(divide="ignore"):  # a member who is found for sure
        alone = np.bincount(home, np.log1p(-own))
    return np.asarray(-np.expm1(alone))[home]
