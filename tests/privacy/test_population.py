"""Populations whose uniqueness is known, sampled; formulas against enumeration and fractions."""

import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import hyp2f1

from anonymizer import InputError
from anonymizer.privacy.population import (
    ESTIMATORS,
    Risk,
    estimated_risk,
    failure_probability,
    household,
    individual,
    journalist,
    marketer,
    population_uniqueness,
    prosecutor,
    sample_uniqueness,
    sampling_rate,
    smallest_class,
)
from anonymizer.privacy.population.frequencies import frequencies
from anonymizer.privacy.population.uniqueness import (
    EVEN,
    Pitman,
    SlideNegativeBinomial,
    harmonic,
    log_gamma_ratio,
)

tables = st.lists(st.integers(1, 12), min_size=1, max_size=30)
fractions = st.floats(0.01, 1)
estimators = st.sampled_from(ESTIMATORS)


def restaurant(theta, alpha, records, rng):
    """Class sizes of a population drawn from Pitman's formula, alpha >= 0, record by record."""
    seat, opened, sizes = np.empty(records, int), [], []
    for record, (new, old) in enumerate(rng.random((records, 2))):
        if new * (theta + record) < theta + alpha * len(sizes):
            seat[record] = len(sizes)
            opened.append(record)
            sizes.append(1)
            continue
        # A record drawn at random leads to its class with n_j; drawn again, the opener of a class
        # is refused with probability alpha, which leaves n_j - alpha.
        while True:
            earlier = int(old * record)
            if opened[seat[earlier]] != earlier or rng.random() >= alpha:
                break
            old = rng.random()
        seat[record] = seat[earlier]
        sizes[seat[record]] += 1
    return np.array(sizes)


POPULATIONS = {
    "dirichlet process": lambda rng: restaurant(1000, 0.0, 30_000, rng),
    "pitman, light": lambda rng: restaurant(50, 0.4, 30_000, rng),
    "pitman, heavy": lambda rng: restaurant(20, 0.7, 30_000, rng),
    "poisson-gamma": lambda rng: rng.poisson(rng.gamma(0.3, 10, 40_000)),
    "uniform": lambda rng: rng.poisson(np.full(40_000, 3)),
    "slide negative binomial": lambda rng: 1 + rng.negative_binomial(0.5, 0.1, 20_000),
    "slide geometric": lambda rng: 1 + rng.negative_binomial(1.0, 0.2, 20_000),
    "zipf": lambda rng: np.minimum(rng.zipf(1.7, 30_000), 5_000),
    "poisson-lognormal": lambda rng: rng.poisson(rng.lognormal(0.5, 1.5, 40_000)),
}
PITMAN = ("dirichlet process", "pitman, light", "pitman, heavy", "poisson-gamma", "uniform")
SNB = ("slide negative binomial", "slide geometric")


@pytest.fixture(scope="module")
def populations():
    return {
        name: draw(np.random.default_rng(20_240 + seed))
        for seed, (name, draw) in enumerate(POPULATIONS.items())
    }


def errors(population, fraction, estimator, draws=5):
    """Relative errors of the estimated number of population uniques, one per sample."""
    known = (population == 1).sum()
    rng = np.random.default_rng(7)
    found = []
    for _ in range(draws):
        sample = rng.binomial(population, fraction)
        estimate = population_uniqueness(sample, fraction, estimator)
        found.append(np.nan if estimate is None else estimate.uniques / known - 1)
    return np.array(found)


# Uniqueness: known populations

# Largest error of the median of five samples, by fraction; single samples stray further.
WITHIN = {0.1: 0.45, 0.2: 0.2, 0.5: 0.1, 0.8: 0.06}


@pytest.mark.parametrize("name", PITMAN)
@pytest.mark.parametrize("fraction", WITHIN)
def test_pitman_recovers_populations_of_its_family(populations, name, fraction):
    assert abs(np.median(errors(populations[name], fraction, "pitman"))) < WITHIN[fraction]


@pytest.mark.parametrize("name", SNB)
@pytest.mark.parametrize("fraction", WITHIN)
def test_snb_recovers_populations_of_its_model(populations, name, fraction):
    assert abs(np.median(errors(populations[name], fraction, "snb"))) < WITHIN[fraction]


@pytest.mark.parametrize("name", POPULATIONS)
def test_zayatz_overestimates_and_more_so_at_small_fractions(populations, name):
    tiny, small, large = (errors(populations[name], f, "zayatz") for f in (0.02, 0.1, 0.8))
    assert (tiny > 0.2).all()
    assert np.median(tiny) > np.median(small)
    assert abs(np.median(large)) < 0.2


def test_zayatz_is_ten_times_too_high_at_a_tenth_of_a_uniform_population(populations):
    assert (errors(populations["uniform"], 0.1, "zayatz") > 9).all()


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("name", ["zipf", "poisson-lognormal"])
def test_pitman_overestimates_other_heavy_tails(populations, name, fraction):
    assert (errors(populations[name], fraction, "pitman") > 0.05).all()


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.8])
def test_pitman_underestimates_slide_negative_binomials(populations, fraction):
    assert (errors(populations["slide negative binomial"], fraction, "pitman") < 0).all()


@pytest.mark.parametrize("name", ["pitman, heavy", "zipf", "poisson-lognormal"])
def test_snb_overestimates_heavier_tails_at_small_fractions(populations, name):
    assert (errors(populations[name], 0.1, "snb") > 0.1).all()


@pytest.mark.parametrize("name", POPULATIONS)
def test_dankar_is_as_good_as_the_worse_of_what_it_chooses_from(populations, name):
    known = (populations[name] == 1).sum()
    for fraction, choices in ((0.1, ["pitman"]), (0.11, ["snb", "zayatz"])):
        sample = np.random.default_rng(3).binomial(populations[name], fraction)
        chosen = population_uniqueness(sample, fraction)
        found = [population_uniqueness(sample, fraction, each) for each in choices]
        assert chosen in found
        assert chosen.uniques == min(each.uniques for each in found if each is not None)
        assert chosen.share == pytest.approx(chosen.uniques * fraction / sample.sum())
        assert 0 < chosen.uniques < known * 20


# Uniqueness: by hand, edges, laws


def test_by_hand():
    assert sample_uniqueness([1, 1, 2]) == 0.5
    # f_1 = 2 of n = 8; the two of size 3 leave one record with odds 3 (1/4) to the unique's 1
    answer = population_uniqueness([1, 1, 3, 3], 0.5, "zayatz")
    assert answer.uniques == pytest.approx(2 * 2 / (2 + 2 * 0.75) / 0.5)
    assert answer.share == pytest.approx(answer.uniques / 16)
    assert answer.sample_share == answer.share


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_nothing_to_estimate(estimator):
    for sizes in ([], [0, 0], [2, 3], [10]):
        for fraction in (0.01, 0.5, 1):
            assert population_uniqueness(sizes, fraction, estimator) == ("exact", 0, 0, 0)
    assert population_uniqueness([1, 1, 2, 0], 1, estimator) == ("exact", 2, 0.5, 0.5)


def test_sample_uniques_only():
    for sizes in ([1], [1] * 10):
        answer = population_uniqueness(sizes, 0.1, "zayatz")
        assert answer == pytest.approx(("zayatz", 10 * len(sizes), 1, 1))
        assert population_uniqueness(sizes, 0.1, "pitman") is None
        assert population_uniqueness(sizes, 0.1, "snb") is None
        assert population_uniqueness(sizes, 0.1) == answer
        assert population_uniqueness(sizes, 0.5).estimator == "zayatz"


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("fraction", [1e-12, 1e-6, 0.1, 0.999999, 1 - 1e-16])
def test_odd_tables(estimator, fraction):
    for sizes in ([1, 2], [1] * 1000 + [2], [1, 10**9], [1] * 5 + [10**12], [1] + [2] * 500):
        answer = population_uniqueness(sizes, fraction, estimator)
        if answer is not None:
            assert 0 <= answer.share <= 1
            assert math.isfinite(answer.uniques)


def test_snb_has_no_answer_where_sizes_vary_less_than_it_can():
    assert population_uniqueness([1, 2, 2, 2, 2, 2, 2], 0.9, "snb") is None
    assert population_uniqueness([1, 2, 2, 2, 2, 2, 2], 0.9).estimator == "zayatz"


def test_equal_classes_end_at_the_least_alpha():
    model = Pitman.fit(frequencies([1, 2, 2, 2, 2], "table"))
    assert model.alpha == EVEN
    classes = -model.theta / model.alpha
    # Uniform over m classes: E[S_1] = N (1 - 1/m)^(N-1)
    assert model.uniques(18) == pytest.approx(18 * (1 - 1 / classes) ** 17, rel=1e-2)


@given(tables, fractions, estimators, st.randoms(use_true_random=False))
def test_laws_of_every_estimator(sizes, fraction, estimator, random):
    answer = population_uniqueness(sizes, fraction, estimator)
    if answer is None:
        assert estimator in ("pitman", "snb")
        return
    records, one = sum(sizes), sizes.count(1)
    assert 0 <= answer.uniques <= one + records / fraction - records + 1e-9
    assert 0 <= answer.sample_share <= answer.share <= 1
    assert answer.sample_share <= sample_uniqueness(sizes)
    random.shuffle(sizes)
    assert population_uniqueness(sizes, fraction, estimator) == answer
    assert population_uniqueness([*sizes, 0], fraction, estimator) == answer


@given(tables, fractions)
def test_zayatz_lies_between_the_sample_uniques_that_are_sure_and_all_of_them(sizes, fraction):
    one, distinct = sizes.count(1), len(sizes)
    uniques = population_uniqueness(sizes, fraction, "zayatz").uniques
    assert uniques <= one / fraction * (1 + 1e-12)
    assert uniques * fraction >= one * one / sum(sizes) * (1 - 1e-12)
    assert distinct >= one


@given(tables, st.data())
def test_merging_never_raises_sample_uniqueness(sizes, data):
    assume(len(sizes) > 1)
    merged = merge(sizes, *data.draw(st.permutations(range(len(sizes))))[:2])
    assert sample_uniqueness(merged) <= sample_uniqueness(sizes)
    assert population_uniqueness(merged, 1).uniques <= population_uniqueness(sizes, 1).uniques


def merge(sizes, first, second):
    rest = [size for place, size in enumerate(sizes) if place not in (first, second)]
    return [*rest, sizes[first] + sizes[second]]


# Tables, found by enumeration, in which merging two classes raises the estimate.
RISES = [
    ("zayatz", 0.5, [1, 2, 2], [1, 4], 2 / 3, 4 / 3),
    ("zayatz", 0.1, [1, 1, 2, 2], [1, 1, 4], 7.142857, 8.136697),
    ("pitman", 0.1, [1, 1, 2, 2], [1, 1, 4], 0.000426, 0.677235),
    ("pitman", 0.1, [1, 1, 1, 1, 2], [1, 1, 1, 3], 0.553351, 2.715026),
    ("pitman", 0.5, [1, 1, 2, 3], [1, 1, 5], 0.556481, 1.519393),
    ("snb", 0.5, [1, 1, 1, 1, 2, 2, 3], [1, 1, 1, 1, 2, 5], 3.001772, 5.611180),
    ("snb", 0.1, [1, 1, 1, 1, 2, 2, 3], [1, 1, 1, 2, 3, 3], 0.024642, 9.279650),
    ("dankar", 0.1, [1, 1, 2, 2], [1, 1, 4], 0.000426, 0.677235),
    ("dankar", 0.5, [1, 2, 2], [1, 4], 2 / 3, 4 / 3),
    ("dankar", 0.5, [1, 2, 3], [1, 5], 0.202835, 1.523810),
]


@pytest.mark.parametrize(("estimator", "fraction", "table", "merged", "before", "after"), RISES)
def test_no_estimate_is_monotone(estimator, fraction, table, merged, before, after):
    assert sum(table) == sum(merged)
    assert len(table) == len(merged) + 1
    first = population_uniqueness(table, fraction, estimator)
    second = population_uniqueness(merged, fraction, estimator)
    assert first.uniques == pytest.approx(before, abs=1e-5)
    assert second.uniques == pytest.approx(after, abs=1e-5)
    assert first.share < second.share
    assert first.sample_share < second.sample_share


@pytest.mark.parametrize(
    ("sizes", "fraction", "estimator", "message"),
    [
        (
            [1],
            0,
            "dankar",
            "population-uniqueness: fraction = 0 must be a number of at l",
        ),
        ([1], 1.5, "dankar", "fraction = 1.5 must be a number of at least 1e-12 and at most 1"),
        ([1], math.nan, "dankar", "fraction = nan must be"),
        ([1], "0.5", "dankar", "fraction = '0.5' must be"),
        ([1], True, "dankar", "fraction = True must be"),
        ([1], 0.5, "zayats", "estimator = 'zayats' is unknown; did you mean 'zayatz'"),
        ([1.5], 0.5, "dankar", "class sizes must be whole numbers, not float64"),
        ([[1]], 0.5, "dankar", "class sizes must have one axis, not 2"),
        ([1, -1], 0.5, "dankar", "1 class sizes are below 0"),
    ],
)
def test_uniqueness_refuses(sizes, fraction, estimator, message):
    with pytest.raises(InputError, match=message):
        population_uniqueness(sizes, fraction, estimator)


# Pitman's formula against enumeration and against its own likelihood


def partitions(records, largest=None):
    if records == 0:
        yield ()
        return
    for size in range(min(records, largest or records), 0, -1):
        for rest in partitions(records - size, size):
            yield (size, *rest)


def log_likelihood(sizes, theta, alpha):
    new = sum(math.log(theta + i * alpha) for i in range(1, len(sizes)))
    drawn = sum(math.log(theta + i) for i in range(1, sum(sizes)))
    return new - drawn + sum(math.log(i - alpha) for size in sizes for i in range(1, size))


@pytest.mark.parametrize(("theta", "alpha"), [(1.3, 0.4), (5.0, 0.0), (-0.2, 0.6), (24.0, -2.0)])
def test_uniques_of_pitman_by_enumeration(theta, alpha):
    records, total, expected = 9, 0.0, 0.0
    for sizes in partitions(records):
        same = math.prod(map(math.factorial, [*sizes, *Counter(sizes).values()]))
        chance = math.factorial(records) / same * math.exp(log_likelihood(sizes, theta, alpha))
        total += chance
        expected += chance * sizes.count(1)
    assert total == pytest.approx(1)
    assert Pitman(theta, alpha).uniques(records) == pytest.approx(expected)


@given(tables)
def test_no_other_parameters_of_pitman_are_likelier(sizes):
    model = Pitman.fit(frequencies(sizes, "table"))
    if not 1 < len(sizes) < sum(sizes):
        assert model is None
        return
    best = log_likelihood(sizes, *model)
    for alpha in (-100.0, -5.0, -1.0, -0.1, 0.0, 0.2, 0.5, 0.8, 0.99):
        for beyond in (0.01, 0.1, 1.0, 5.0, 30.0, 200.0, 5000.0):
            theta = max(-alpha, -alpha * (len(sizes) - 1)) + beyond
            # At the least alpha the maximum lies a little beyond it.
            assert log_likelihood(sizes, theta, alpha) <= best + 1e-6 + abs(model.alpha) * 1e-7


@given(st.floats(1e-3, 1e6), st.integers(1, 2000))
def test_harmonic_sums(start, count):
    direct = math.fsum(1 / (start + i) for i in range(count))
    assert float(harmonic(start, count)) == pytest.approx(direct, rel=1e-11)


@pytest.mark.parametrize("x", [1.5, 99.0, 101.0, 20_000.0, 1e9])
def test_gamma_ratio(x):
    for whole in (1, 50, 10_001):
        if x > whole:
            exact = -math.fsum(math.log(x - i) for i in range(1, whole + 1))
            assert log_gamma_ratio(x, -whole) == pytest.approx(exact, rel=1e-12)
    for part in (-0.999, -0.5, -0.001):
        two = log_gamma_ratio(x, part) + log_gamma_ratio(x + part, -1 - part)
        assert two == pytest.approx(-math.log(x - 1), rel=1e-12)


# SNB against sums over its distribution


@pytest.mark.parametrize("fraction", [0.15, 0.6])
def test_snb_expects_what_the_sample_has(populations, fraction):
    from scipy.stats import binom, nbinom

    drawn = np.random.default_rng(11).binomial(populations["slide geometric"], fraction)
    sample = frequencies(drawn, "table")
    model = SlideNegativeBinomial.fit(sample, fraction)
    size = np.arange(1, 2000)
    classes = model.classes * nbinom.pmf(size - 1, model.alpha, model.beta)
    assert classes.sum() == pytest.approx(model.classes)
    assert classes[0] == pytest.approx(model.uniques())
    assert classes @ (1 - binom.pmf(0, size, fraction)) == pytest.approx(sample.distinct)
    assert classes @ binom.pmf(1, size, fraction) == pytest.approx(sample.of_size(1))
    assert classes @ binom.pmf(2, size, fraction) == pytest.approx(sample.of_size(2))


# Sampling and differential privacy


def tails(k, beta, epsilon):
    """The definition for the first n: P(Binomial(n, beta) > gamma n), in exact fractions."""
    beta = Fraction(beta)
    gamma = 1 - (1 - beta) * Fraction(math.exp(-epsilon))
    first = max(math.ceil(k / gamma - 1), 1)
    for n in range(first, 3 * first + 20):
        upto = range(math.floor(gamma * n) + 1)
        yield float(1 - sum(math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in upto))


PARAMETERS = [(1, 0.1, 0.2), (2, 0.5, 1.0), (5, 0.3, 0.5), (3, 0.01, 0.02), (10, 0.25, 2.0)]


@pytest.mark.parametrize(("k", "beta", "epsilon"), PARAMETERS)
def test_failure_probability_is_the_maximum_of_the_definition(k, beta, epsilon):
    exact = max(tails(k, beta, epsilon))
    assert exact <= failure_probability(k, beta, epsilon) <= exact * (1 + 2e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"), [(2, 1e-5, 113), (1, 1e-6, 74), (0.1, 1e-6, 60)]
)
def test_smallest_class_against_the_binomial_distribution(epsilon, delta, k):
    from scipy.stats import binom

    beta = sampling_rate(epsilon)
    gamma = 1 - (1 - beta) * math.exp(-epsilon)

    def definition(k):
        n = np.arange(math.ceil(k / gamma - 1), 50 * k)
        return binom.sf(np.floor(gamma * n), n, beta).max()

    assert smallest_class(epsilon, delta) == k
    assert definition(k) <= delta < definition(k - 1)
    assert (
        failure_probability(k, beta, epsilon) <= delta < failure_probability(k - 1, beta, epsilon)
    )


@pytest.mark.parametrize(("k", "beta", "epsilon"), PARAMETERS)
def test_what_is_released_of_neighbouring_tables_differs_by_no_more(k, beta, epsilon):
    """Of a class with n or n - 1 records: P(S) <= e^epsilon P'(S) + delta both ways."""
    from scipy.stats import binom

    delta = failure_probability(k, beta, epsilon)
    for n in range(1, 150):
        more, less = (binom.pmf(np.arange(n + 1), size, beta) for size in (n, n - 1))
        more, less = (np.append(p[k:], p[:k].sum()) for p in (more, less))  # below k: nothing
        for one, other in ((more, less), (less, more)):
            assert np.maximum(one - math.exp(epsilon) * other, 0).sum() <= delta + 1e-12


@given(st.floats(0.05, 3), st.floats(0.05, 1), st.integers(1, 60))
def test_delta_falls_with_k_and_epsilon(epsilon, share, k):
    beta = sampling_rate(epsilon) * share
    delta = failure_probability(k, beta, epsilon)
    assert 0 < delta <= 1
    assert failure_probability(k + 1, beta, epsilon) <= delta
    assert failure_probability(k, beta, epsilon + 0.1) <= delta * (1 + 1e-12)
    assert smallest_class(epsilon, delta, beta) <= k


@given(st.floats(1e-9, 700))
def test_the_sampling_rate_is_the_largest_that_reaches_epsilon(epsilon):
    from decimal import Decimal, localcontext

    beta = sampling_rate(epsilon)
    with localcontext() as context:
        context.prec = 400
        bound = 1 - (-Decimal(epsilon)).exp()
        assert Decimal(beta) <= bound
        assert Decimal(float(np.nextafter(beta, 2))) > bound


def test_extreme_parameters():
    assert failure_probability(10**6, 0.5, 1.0) == np.finfo(float).tiny
    assert smallest_class(1.0, 0.999) == 1
    assert smallest_class(1e-12, 1e-6) == smallest_class(1e-9, 1e-6) == 60
    assert smallest_class(40.0, 1e-6, beta=0.5) == 20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sampling_rate(-1), "differential-privacy: epsilon = -1 must be a number above 0"),
        (lambda: sampling_rate(math.inf), "epsilon = inf must be a number above 0"),
        (lambda: sampling_rate(math.nan), "epsilon = nan must be a number above 0"),
        (lambda: sampling_rate("1"), "epsilon = '1' must be a number above 0"),
        (lambda: sampling_rate(1e-70), "epsilon = 1e-70 is so small that no record may be drawn"),
        (lambda: smallest_class(1, 0), "delta = 0 must be a number of at least"),
        (lambda: smallest_class(1, 1), "delta = 1 must be"),
        (lambda: smallest_class(1, 0.1, beta=0), "beta = 0 must be a number above 0 and below 1"),
        (lambda: smallest_class(1, 0.1, beta=1), "beta = 1 must be"),
        (lambda: smallest_class(0.1, 0.1, beta=0.5), "cannot be reached with beta = 0.5; beta may"),
        (lambda: smallest_class(30, 1e-6), "needs classes of more than 1000000 records"),
        (lambda: failure_probability(0, 0.1, 1), "k = 0 must be a whole number of at least 1"),
        (lambda: failure_probability(2.5, 0.1, 1), "k = 2.5 must be a whole number"),
        (lambda: failure_probability(2, 0.1, -2), "epsilon = -2 must be a number above 0"),
    ],
)
def test_sampling_refuses(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_importing_the_package_loads_no_scipy():
    code = "import anonymizer.privacy.population, sys; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# Risks


def test_risks_by_hand():
    assert prosecutor([1, 3, 4, 0], threshold=0.3) == Risk(1.0, 3 / 8, 4 / 8)
    assert journalist([1, 3, 0], [2, 4, 1], threshold=0.25) == Risk(1 / 2, 5 / 16, 1 / 4)
    assert marketer([1, 3, 0], [2, 4, 1]) == 5 / 16
    assert prosecutor([]) == journalist([0], [3]) == estimated_risk([], 0.5) == Risk(0, 0, 0)
    assert marketer([], []) == 0
    # E[1 / F | f = 1] = fraction / (1 - fraction) log(1 / fraction)
    assert estimated_risk([1], 0.5).highest == pytest.approx(math.log(2))
    assert estimated_risk([1], 0.1).highest == pytest.approx(math.log(10) / 9)


@pytest.mark.parametrize("fraction", [0.05, 0.4, 0.9])
@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_estimated_risk_is_the_mean_over_the_negative_binomial(size, fraction):
    from scipy.stats import nbinom

    missed = np.arange(60_000)
    mean = nbinom.pmf(missed, size, fraction) @ (1 / (size + missed))
    assert estimated_risk([size], fraction).average == pytest.approx(mean)


def test_estimated_risk_is_too_low_for_a_heavy_tail_and_good_for_a_light_one(populations):
    found = {}
    for name in ("pitman, heavy", "slide geometric"):
        population = populations[name]
        sample = np.random.default_rng(1).binomial(population, 0.1)
        found[name] = estimated_risk(sample, 0.1).average / marketer(sample, population)
    assert found["pitman, heavy"] < 0.5
    assert 0.75 < found["slide geometric"] < 1


def test_estimated_risk_of_huge_classes():
    sizes = [10**6, 5_000, 60, 59, 1]
    for fraction in (1e-6, 0.02, 0.499, 0.5, 0.999, 1):
        for size in sizes:
            risk = estimated_risk([size], fraction).highest
            assert fraction / size <= risk <= 1 / size


@given(tables, st.lists(st.integers(0, 50), min_size=30, max_size=30), fractions, fractions)
def test_laws_of_risks(sizes, missed, threshold, fraction):
    population = [size + more for size, more in zip(sizes, missed, strict=False)]
    known, linked = prosecutor(sizes, threshold), journalist(sizes, population, threshold)
    guessed = estimated_risk(sizes, fraction, threshold)
    for risk in (known, linked, guessed):
        assert 0 < risk.average <= risk.highest * (1 + 1e-12)
        assert risk.highest <= 1
        assert 0 <= risk.at_risk <= 1
    for lower in (linked, guessed):
        assert lower.highest <= known.highest
        assert lower.average <= known.average * (1 + 1e-12)
        assert lower.at_risk <= known.at_risk
    assert marketer(sizes, population) == linked.average
    assert journalist(sizes, sizes, threshold) == known
    assert prosecutor(sizes[::-1], threshold).average == pytest.approx(known.average)


@given(tables, st.data(), fractions)
def test_merging_never_raises_risks(sizes, data, threshold):
    assume(len(sizes) > 1)
    merged = merge(sizes, *data.draw(st.permutations(range(len(sizes))))[:2])
    before, after = prosecutor(sizes, threshold), prosecutor(merged, threshold)
    assert after.highest <= before.highest
    assert after.average <= before.average
    assert after.at_risk <= before.at_risk


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: prosecutor([1], 1.5),
            "prosecutor: threshold = 1.5 must be a number of at l",
        ),
        (lambda: prosecutor([1], math.nan), "threshold = nan must be"),
        (lambda: prosecutor([1], "x"), "threshold = 'x' must be"),
        (lambda: journalist([1], [1, 2]), "journalist: 1 classes, but 2 population sizes"),
        (lambda: marketer([3, 3], [2, 3]), "journalist: 1 classes have fewer records in the popul"),
        (
            lambda: estimated_risk([1], 0),
            "estimated-risk: fraction = 0 must be a number of at least",
        ),
        (lambda: prosecutor([-1]), "prosecutor: 1 class sizes are below 0"),
    ],
)
def test_risks_refuse(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("size", "people", "risk"),
    [  # of the test data of sdcMicro 5.8.1, as it computes them
        (107, 10700, 9.433072351665e-05),
        (102, 10200, 9.90000990001e-05),
        (46, 4600, 0.0002221728504777),
        (1, 100, 0.04651687056554),
    ],
)
def test_individual_risks_are_those_of_sdcmicro(size, people, risk):
    assert individual([size], [people])[0] == pytest.approx(risk, rel=1e-9)


@given(size=st.sampled_from([1, 2]), rate=st.floats(0.001, 0.999))
def test_individual_risk_is_the_mean_of_one_over_the_people(size, rate):
    """E(1/F) of a negative binomial F: a hypergeometric function, closed for f of 1 and 2."""
    exact = rate**size / size * hyp2f1(size, size, size + 1, 1 - rate)
    assert individual([size], [size / rate])[0] == pytest.approx(exact, rel=1e-6)


@given(sizes=st.lists(st.integers(1, 50), min_size=1, max_size=8), weight=st.floats(0.2, 1.0))
def test_where_everybody_is_in_the_table_individual_risk_is_one_over_the_class(sizes, weight):
    found = individual(sizes, np.array(sizes) * weight)
    assert found == pytest.approx(1 / np.array(sizes))


def test_a_household_is_found_with_any_of_its_members():
    risks, home = [0.5, 0.2, 0.1, 1.0, 0.3], ["a", "b", "a", "c", "c"]
    expected = [1 - 0.5 * 0.9, 0.2, 1 - 0.5 * 0.9, 1.0, 1.0]
    assert household(risks, home) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sizes", "people", "message"),
    [
        ([1, 2], [3.0], "individual risk: 2 classes, but 1 sums"),
        ([1], [0.0], "sums of sampling weights must be numbers above 0"),
        ([1], [float("nan")], "sums of sampling weights must be numbers above 0"),
    ],
)
def test_weights_that_are_none_are_refused(sizes, people, message):
    with pytest.raises(InputError, match=message):
        individual(sizes, people)
