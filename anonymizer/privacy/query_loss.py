"""Query loss: the loss of privacy by an answer, its mean, standard deviation and extremes.

Longpré, Kreinovich and Dumrongpokaphan, "Entropy as a measure of average loss of privacy" (2017).
The answer to a query is the set of a partition {E_1, ..., E_m} of the alternatives that the truth
is in. A release is such a query about each record: its classes are the E_j.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from anonymizer.errors import InputError
from anonymizer.information.entropy import entropy
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.kernels.terms import xlogx
from anonymizer.privacy.population.frequencies import numbers_of_records

Labels: TypeAlias = "Sequence[Hashable] | NDArray[np.generic] | pd.Series"


@dataclass(frozen=True)
class QueryLoss:
    """The loss of privacy S_0 - S_j of the person a query is about, in bits.

    ``uncertainty`` is S_0, the entropy of the alternatives before the answer (Eq. 1), ``average``
    the sum of p(E_j) (S_0 - S_j) = -sum p(E_j) log2 p(E_j) (Eq. 4 and 15), ``standard_deviation``
    that over the answers (Eq. 16). The average hides the ``maximum``. The ``minimum`` may be
    negative where alternatives differ in weight: such an answer makes the truth less certain.
    """

    uncertainty: float
    average: float
    standard_deviation: float
    maximum: float
    minimum: float

    def to_dict(self) -> dict[str, float]:
        """The loss as JSON has it."""
        return asdict(self)


def query_loss(
    partition: Labels, weights: ArrayLike | None = None, about: Labels | None = None
) -> QueryLoss:
    """The loss of a query whose answer is the label of the true alternative.

    Parameters
    ----------
    partition
        The answer for each alternative, shape (alternatives,); of several queries ``together``.
    weights
        The probability of each alternative up to a factor, shape (alternatives,); equal by default.
        Alternatives of weight 0 are ignored.
    about
        What is uncertain of each alternative, shape (alternatives,): by default which it is. Where
        this is another value, such as a diagnosis, the answer need not be a function of it. The
        average is then the mutual information of the two, and several answers together may cost
        more than the sum (Eq. 5 is of functions).

    Returns
    -------
    QueryLoss
        The average loss over answers and the largest one, in bits.

    Raises
    ------
    InputError
        When the shapes differ, a weight is negative or not finite, or none is left.

    Examples
    --------
    >>> query_loss(["low", "low", "high", "high"]).average
    1.0
    >>> query_loss(["low", "low", "high", "high"], about=["ill", "well", "ill", "well"]).average
    0.0
    """
    return _loss(*_uncertainties(partition, weights, about), function=about is None)


def losses_by_answer(
    partition: Labels, weights: ArrayLike | None = None, about: Labels | None = None
) -> tuple[Floats, Floats]:
    """Probability and loss of each answer of :func:`query_loss`, each of shape (answers,).

    Returns
    -------
    probabilities, losses
        In the order in which answers appear, those of weight 0 left out; losses in bits.

    Raises
    ------
    InputError
        As :func:`query_loss`.

    Examples
    --------
    >>> [each.tolist() for each in losses_by_answer(["low", "high", "high", "high"])][0]
    [0.25, 0.75]
    """
    uncertainty, chance, left = _uncertainties(partition, weights, about)
    return chance / chance.sum(), uncertainty - left


def _uncertainties(
    partition: Labels, weights: ArrayLike | None, about: Labels | None
) -> tuple[float, Floats, Floats]:
    """S_0, and the weight of each answer and the uncertainty S_j that it leaves."""
    answer = _answers(partition)
    weight: Floats = _weights(weights, len(answer))
    of = np.arange(len(answer)) if about is None else _answers(about)
    if len(of) != len(answer):
        raise InputError(f"{len(answer)} alternatives, but {len(of)} values that they are about")
    answer, of, weight = answer[weight > 0], of[weight > 0], weight[weight > 0]
    if not len(answer):
        raise InputError("no alternatives: there is no privacy to lose")
    answer, of = pd.factorize(answer)[0], pd.factorize(of)[0]
    # Weights are divided by the largest of their answer, so that nothing over- or underflows.
    most = np.zeros(int(answer.max()) + 1)
    np.maximum.at(most, answer, weight)
    inside = weight / most[answer]
    total = np.bincount(answer, inside)
    in_answer, each = _summed(answer, of, inside)
    left = np.log2(total) - np.bincount(in_answer, xlogx(each)) / total
    uncertainty = float(entropy(np.bincount(of, weight / weight.max())))
    return uncertainty, total * (most / most.max()), left


def _summed(answer: Codes, of: Codes, weight: Floats) -> tuple[Codes, Floats]:
    number = int(of.max()) + 1
    pairs, pair = np.unique(answer * number + of, return_inverse=True)
    summed: Floats = np.bincount(pair, weight)  # type: ignore[assignment]
    return pairs // number, summed


def loss_of_sizes(sizes: ArrayLike) -> QueryLoss:
    """The loss of a query from the number of equally likely alternatives of each answer.

    A table's classes: S_0 = log2 N, S_j = log2 n_j. ``sizes`` (answers,); empty ones are ignored.
    InputError when they are no such numbers, or all 0.

    >>> loss_of_sizes([2, 2]).average
    1.0
    """
    records = numbers_of_records(sizes, 1)
    records = records[records > 0]
    return _loss(float(np.log2(records.sum())), records.astype(float), np.log2(records))


def together(*partitions: Labels) -> Codes:
    """The answers of several queries as one: their common refinement, shape (alternatives,).

    Its average loss is at most the sum of theirs (Longpré et al. 2017, Eq. 5), and at least the
    largest of them; the maximum loss has no such bound.

    Raises
    ------
    InputError
        When there are no queries, or they are not about the same number of alternatives.

    Examples
    --------
    >>> together("aabb", "abab").tolist()
    [0, 1, 2, 3]
    """
    answers = [_answers(partition) for partition in partitions]
    if not answers:
        raise InputError("no queries: name at least one partition")
    if len({len(answer) for answer in answers}) > 1:
        raise InputError(
            "the queries are about different numbers of alternatives: "
            + ", ".join(str(len(answer)) for answer in answers)
        )
    joined = answers[0]
    for answer in answers[1:]:
        joined = pd.factorize(joined * (int(answer.max(initial=0)) + 1) + answer)[0]
    return joined


def _answers(partition: Labels) -> Codes:
    """Number the answers; a missing label is an answer of its own."""
    try:
        if isinstance(partition, Mapping) or not isinstance(partition, Iterable):
            raise TypeError
        labels = pd.Series(list(partition) if isinstance(partition, str) else partition)
        return pd.factorize(labels, use_na_sentinel=False)[0]
    except (TypeError, ValueError):
        raise InputError("a query needs one label for each alternative, not lists") from None


def _weights(weights: ArrayLike | None, alternatives: int) -> Floats:
    if weights is None:
        return np.ones(alternatives)
    try:
        weight = np.asarray(weights, float)
    except (TypeError, ValueError):
        raise InputError("weights of alternatives must be numbers") from None
    if weight.shape != (alternatives,):
        raise InputError(f"{alternatives} alternatives, but weights of shape {weight.shape}")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise InputError("weights of alternatives must be finite and not negative")
    return weight


def _loss(uncertainty: float, chance: Floats, left: Floats, *, function: bool = True) -> QueryLoss:
    """The loss from S_0, the weight of each answer, and the uncertainty S_j that it leaves.

    ``function``: whether the truth settles the answer, so that the average is its entropy.
    """
    losses = uncertainty - left
    if len(chance) == 1:  # a trivial query: its sums may differ from 0 in their last bits
        losses = np.zeros(1)
    share = chance / chance.sum()
    mean = (share * losses).sum()
    return QueryLoss(
        uncertainty=uncertainty,
        average=float(entropy(chance)) if function else max(0.0, float(mean)),
        standard_deviation=float(np.sqrt((share * (losses - mean) ** 2).sum())),
        maximum=float(losses.max()),
        minimum=float(losses.min()),
    )
