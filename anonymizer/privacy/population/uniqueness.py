"""Uniqueness in the population, estimated from a sample's class sizes and sampling fraction.

A record is unique when no other shares its class. The sample shows which of its own records are;
of these only some are unique in the population of N = n / fraction records as well. Every
estimator takes each record of the population to be drawn with the same probability.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from anonymizer.errors import require_number, require_one_of
from anonymizer.privacy.population import pitman, snb
from anonymizer.privacy.population.frequencies import LEAST_FRACTION, Frequencies, frequencies

ESTIMATORS = ("dankar", "zayatz", "pitman", "snb")
WHAT = "population-uniqueness"
# Up to this fraction Dankar et al. trust Pitman's model.
SMALL_FRACTION = 0.1


class Uniqueness(NamedTuple):
    """An estimate, and the ``estimator`` that made it: "exact" where there was nothing to estimate.

    ``uniques`` is the expected number S_1 of population uniques, within [0, f_1 + N - n]: each is
    one of the f_1 sample uniques or of the N - n records not drawn. ``share`` is S_1 / N.
    ``sample_share`` is the expected share of the sample's records that are unique in the
    population: fraction S_1 / n = S_1 / N, as each of the S_1 is drawn with probability
    ``fraction``; but at most f_1 / n, for only sample uniques can be population uniques.
    """

    estimator: str
    uniques: float
    share: float
    sample_share: float


def sample_uniqueness(sizes: ArrayLike) -> float:
    """f_1 / n, the share of records that are the only ones of their class; 0 without records.

    ``sizes`` (classes,) are the records of each class. Merging two classes never raises it: the
    merged class has two records at least, and no other changes.

    >>> sample_uniqueness([1, 1, 2])
    0.5
    """
    sample = frequencies(sizes, "sample-uniqueness")
    return sample.of_size(1) / sample.records if sample.records else 0.0


def population_uniqueness(
    sizes: ArrayLike, fraction: float, estimator: str = "dankar"
) -> Uniqueness | None:
    """Population uniques expected from the sample, or None where the estimator has no answer.

    Parameters
    ----------
    sizes
        (classes,) records of each class of the sample; classes without records do not count.
    fraction
        Share of the population's records in the sample, in [1e-12, 1].
    estimator
        One of ``ESTIMATORS``. "dankar" and "zayatz" always answer; "pitman" and "snb" do not where
        the sample does not determine their model, see their modules.

    Notes
    -----
    With fraction 1 the sample is the population and its uniques are counted. Without sample
    uniques the answer is 0: no record of the sample can be a population unique, and none is
    taken to be outside it. Both are "exact".

    None of the estimates is monotone: merging two classes can raise each of them, so that none
    licenses pruning. Examples of each are in the tests.

    Dankar's rule (Dankar, El Emam, Neisa and Roffey, "Estimating the re-identification risk of
    clinical data sets", BMC Medical Informatics and Decision Making 12:66, 2012; as ARX has it):
    up to a fraction of 0.1 Pitman, or Zayatz where Pitman has no answer; above 0.1 the smaller of
    SNB and Zayatz, or Zayatz where SNB has none.

    InputError where the estimator is unknown, ``fraction`` is not in [1e-12, 1], or the sizes are
    not whole numbers of at least 0.

    >>> population_uniqueness([1, 1, 2, 2, 2], 0.5, "zayatz")
    Uniqueness(estimator='zayatz', uniques=1.6, share=0.1, sample_share=0.1)
    """
    require_one_of(f"{WHAT}: estimator", estimator, ESTIMATORS)
    require_number(WHAT, "fraction", fraction, LEAST_FRACTION, 1)
    share = float(fraction)
    sample = frequencies(sizes, WHAT)
    if share == 1 or not sample.of_size(1):
        return _answer("exact", sample.of_size(1), sample, share)
    if estimator == "dankar":
        return _dankar(sample, share)
    return _estimate(estimator, sample, share)


def _dankar(sample: Frequencies, fraction: float) -> Uniqueness:
    """Dankar's rule, see ``population_uniqueness``; a tie of the two goes to SNB."""
    fallback = _answer("zayatz", _zayatz(sample, fraction), sample, fraction)
    if fraction <= SMALL_FRACTION:
        return _estimate("pitman", sample, fraction) or fallback
    other = _estimate("snb", sample, fraction) or fallback
    return fallback if fallback.uniques < other.uniques else other


def _estimate(estimator: str, sample: Frequencies, fraction: float) -> Uniqueness | None:
    """Estimate by one of the three models, or None."""
    expected: float | None
    if estimator == "zayatz":
        expected = _zayatz(sample, fraction)
    elif estimator == "pitman":
        superpopulation = pitman.fit(sample)
        size = sample.records / fraction
        expected = superpopulation and pitman.uniques(superpopulation, size)
    else:
        classes = snb.fit(sample, fraction)
        expected = classes and snb.uniques(classes)
    return None if expected is None else _answer(estimator, expected, sample, fraction)


def _zayatz(sample: Frequencies, fraction: float) -> float:
    """f_1 P(F = 1 | f = 1) / fraction, with P by Bayes' rule and the sample's sizes as prior.

    P(F = 1 | f = 1) = f_1 / sum_j f_j j (1 - fraction)^(j-1): a population class of j records
    leaves one in the sample with probability j fraction (1 - fraction)^(j-1), and the share of
    population classes of size j is taken to be the sample's f_j / u (Zayatz, "Estimation of the
    number of unique population elements using a sample", 1991). Binomial, the limit of her
    hypergeometric for large N: the fraction is a probability here, not a count of records.

    As sampled classes are smaller than those they come from, the prior has too many small ones: it
    overestimates, the more the smaller the fraction, and tends to S_1 = f_1 / fraction as all
    classes of the sample become unique.
    """
    one = sample.of_size(1)
    drawn = sample.sizes * (1 - fraction) ** (sample.sizes - 1)
    return float(one * one / (sample.classes * drawn).sum() / fraction)


def _answer(estimator: str, expected: float, sample: Frequencies, fraction: float) -> Uniqueness:
    """Clip the expectation to what is possible, and give it in shares."""
    if not sample.records:
        return Uniqueness(estimator, 0.0, 0.0, 0.0)
    one, population = sample.of_size(1), sample.records / fraction
    uniques = float(min(max(expected, 0.0), one + population - sample.records))
    share = min(uniques / population, 1.0)
    return Uniqueness(estimator, uniques, share, min(share, one / sample.records))
