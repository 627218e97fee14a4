"""Channels of least distortion under guarantees: by hand, by brute force, and on Adult."""

import os
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer import Hierarchy
from anonymizer.channels import (
    OptimalChannel,
    absolute,
    best_ranges,
    hamming,
    private_channel,
    squared,
)
from anonymizer.channels.private import least_distortion
from anonymizer.channels.program import Multipliers, Program, proof
from anonymizer.channels.source import Sensitive
from anonymizer.counts.counts import Classes
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.privacy import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    BayesianGain,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    KAnonymity,
    MeanInformation,
    PersonKAnonymity,
    PrivacyModel,
    RecursiveLDiversity,
    TCloseness,
    ValueGain,
)
from anonymizer.tables.datasets import DATA_DIRECTORY, load_adult

PAPER = [TCloseness(0.55, distance="kl"), EntropyLDiversity(2.7)]
SMALL = np.array([[8, 1, 1], [4, 3, 3], [2, 2, 6]])
"""Records of three values of X by three of W."""


def posteriors(joint: np.ndarray, channel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p(y) and p(w|y), shapes (k,) and (k, m), of the symbols that are released; plain sums."""
    law = channel.T @ (joint / joint.sum())
    mass = law.sum(axis=1)
    return mass[mass > 0], law[mass > 0] / mass[mass > 0, None]


def bits(r: np.ndarray, p: np.ndarray) -> np.ndarray:
    """D(r || p) of each row, in bits."""
    safe = np.where(r > 0, r, 1.0)
    return (r * np.log2(safe / p)).sum(axis=1)


def uncertain(joint: np.ndarray, channel: np.ndarray) -> float:
    """The least 2^H(record|y) of a released symbol, record by record."""
    n_x = joint.sum(axis=1)
    of_x = channel * n_x[:, None]
    of_x = of_x[:, of_x.sum(axis=0) > 0]
    each = (of_x / of_x.sum(axis=0)) / n_x[:, None]  # p(record|y): n_x alike
    logs = np.log2(np.where(each > 0, each, 1.0))
    return 2 ** (-(n_x[:, None] * each * logs).sum(axis=0)).min()


def distance(model: TCloseness, r: np.ndarray, p: np.ndarray) -> np.ndarray:
    if model.distance == "kl":
        return bits(r, p)
    if model.distance == "equal":
        return np.abs(r - p).sum(axis=1) / 2
    return np.abs(np.cumsum(r - p, axis=1)).sum(axis=1) / (len(p) - 1)  # ordered


EXCESS = {
    TCloseness: lambda model, r, p: distance(model, r, p) - model.t,
    EntropyLDiversity: lambda model, r, p: np.log2(model.l) + bits(r, np.ones(len(p))),
    BasicBetaLikeness: lambda model, r, p: (r - p) / p - model.beta,
    EnhancedBetaLikeness: lambda model, r, p: (r - p) / p - np.minimum(model.beta, -np.log(p)),
    DeltaDisclosure: lambda model, r, p: np.abs(np.log2(np.maximum(r, 1e-300) / p)) - model.delta,
    ValueGain: lambda model, r, p: r - p - model.gain,
    BayesianGain: lambda model, r, p: r.max(axis=1) - p.max() - model.gain,
    AlphaKAnonymity: lambda model, r, p: r - model.alpha,
}
"""By how much each released symbol breaks a model, from the formulas of the papers."""


def plainly(model: PrivacyModel, joint: np.ndarray, channel: np.ndarray, slack: float) -> bool:
    """Whether a channel holds a model, by nothing but those formulas."""
    p = joint.sum(axis=0) / joint.sum()
    mass, r = posteriors(joint, channel)
    if isinstance(model, MeanInformation):
        return mass @ bits(r, p) <= model.bits + slack
    k = getattr(model, "k", 1)
    if k > 1 and np.log2(uncertain(joint, channel)) < np.log2(k) - slack:
        return False
    return isinstance(model, KAnonymity) or EXCESS[type(model)](model, r, p).max() <= slack


POLICIES = [
    [TCloseness(0.1, distance="kl")],
    [TCloseness(0.15, distance="equal")],
    [TCloseness(0.12, distance="ordered")],
    [EntropyLDiversity(2.75)],
    [BasicBetaLikeness(0.4)],
    [EnhancedBetaLikeness(0.3)],
    [DeltaDisclosure(0.6)],
    [BayesianGain(0.1)],
    [ValueGain(0.1)],
    [AlphaKAnonymity(0.55, 14)],
    [KAnonymity(22)],
    [MeanInformation(0.05)],
    [TCloseness(0.15, distance="kl"), EntropyLDiversity(2.6), KAnonymity(12)],
]


def named(policy: list[PrivacyModel]) -> str:
    return "+".join(f"{model.name}-{getattr(model, 'distance', '')}" for model in policy)


def grid(n: int, k: int, steps: int) -> np.ndarray:
    """All channels whose chances are multiples of 1 / steps, shape (channels, n, k)."""
    rows = [row for row in product(range(steps + 1), repeat=k) if sum(row) == steps]
    return np.array(list(product(rows, repeat=n))) / steps


GRID = grid(3, 2, 20)


@pytest.mark.parametrize("policy", POLICIES, ids=named)
def test_no_channel_on_a_fine_grid_is_better(policy):
    d = squared([1.0, 2.0, 3.0], [1.3, 2.6])
    found = private_channel(SMALL, d, policy, values=(1, 2, 3))
    assert all(plainly(model, SMALL, found.channel, 1e-8) for model in policy)
    p = SMALL.sum(axis=1) / SMALL.sum()
    costs = np.einsum("x,gxy,xy->g", p, GRID, d)
    cheaper = GRID[costs < found.lower_bound - 1e-9]
    assert len(cheaper) > 10
    assert not any(all(plainly(m, SMALL, one, 1e-9) for m in policy) for one in cheaper)
    near = GRID[(costs >= found.lower_bound) & (costs <= 1.25 * found.distortion)]
    assert any(all(plainly(m, SMALL, one, 1e-9) for m in policy) for one in near)
    assert found.distortion == pytest.approx(np.einsum("x,xy,xy->", p, found.channel, d))
    assert found.certified
    assert found.gap <= 1e-5 * found.distortion


def test_two_values_by_hand():
    # X = W, even; q(y != x) = e makes shares of 1 - e, gaining 1/2 - e <= 0.2: e = 0.3.
    found = private_channel([[0.5, 0], [0, 0.5]], hamming("ab"), [ValueGain(0.2)])
    np.testing.assert_allclose(found.channel, [[0.7, 0.3], [0.3, 0.7]], atol=1e-5)
    assert found.distortion == pytest.approx(0.3, rel=1e-5)
    assert found.lower_bound <= 0.3
    assert found.leakage == pytest.approx(1 - 0.8812909, abs=1e-5)  # 1 - h(0.3) bits
    assert (found.minimised, found.slope, found.unit) == ("distortion", None, "bits")


def test_randomised_response_is_what_epsilon_asks_of_two_values():
    # Warner (1965): e / (1 - e) = exp(-epsilon).
    found = private_channel([[1, 0], [0, 1]], hamming("ab"), [], epsilon=np.log(3))
    np.testing.assert_allclose(found.channel, [[0.75, 0.25], [0.25, 0.75]], atol=1e-5)
    assert np.log(found.channel.max(axis=0) / found.channel.min(axis=0)).max() <= np.log(3) + 1e-12
    assert found.certified


@pytest.mark.parametrize(
    ("most", "least", "bound"),
    [
        ([[0.5, 0], [0, 0.5]], [[0, 0.5], [0.5, 0]], 0.5),  # every S is 1/2
        ([[0.5, 0], [0, 0.3]], [[0, 0.5], [0.5, 0]], 0.4),  # S of the second row 1/2 and 0.3
        ([[1, 0], [0, 1]], [[0, 0.5], [0.5, 0]], 0.5),  # more than least pays for: halved
        ([[0.5, 0], [0, 0.5]], [[0, -0.5], [-0.5, 0]], 0),  # of the wrong sign: none
    ],
)
def test_what_multipliers_prove_by_hand(most, least, bound):
    """Of two even values, epsilon = 0: S = d + most - least, and the mean of its row minima."""
    program = Program(np.full(2, 0.5), 1 - np.eye(2), (), epsilon=0.0)
    given = Multipliers((), np.zeros(2), 0.0, np.array(most), np.array(least))
    found, _ = proof(program, given)
    assert bound - 1e-12 <= found <= bound


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0, 30.0])
def test_epsilon_holds_with_models(epsilon):
    d = squared([1.0, 2.0, 3.0])
    found = private_channel(SMALL, d, [EntropyLDiversity(2.6)], epsilon=epsilon)
    assert plainly(EntropyLDiversity(2.6), SMALL, found.channel, 1e-9)
    released = found.channel[:, found.channel.max(axis=0) > 0]
    assert np.log(released.max(axis=0) / released.min(axis=0)).max() <= epsilon + 1e-12
    assert found.certified


def test_invariant_keeps_the_margin_and_unbiased_the_mean():
    d = squared([1.0, 2.0, 3.0])
    policy = [EntropyLDiversity(2.75)]
    p = SMALL.sum(axis=1) / SMALL.sum()
    free = private_channel(SMALL, d, policy)
    invariant = private_channel(SMALL, d, policy, invariant=True)
    np.testing.assert_allclose(p @ invariant.channel, p, atol=1e-11)
    y = [1.0, 1.7, 2.6]
    biased = private_channel(SMALL, squared([1.0, 2.0, 3.0], y), policy)
    unbiased = private_channel(
        SMALL, squared([1.0, 2.0, 3.0], y), policy, unbiased=([1.0, 2.0, 3.0], y)
    )
    assert abs(p @ unbiased.channel @ y - p @ [1.0, 2.0, 3.0]) < 1e-11
    assert unbiased.certified
    assert invariant.certified
    assert free.distortion < invariant.distortion
    assert biased.lower_bound <= unbiased.distortion


def test_symbols_of_no_use_are_never_released():
    found = private_channel(SMALL, squared([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 50.0]), PAPER[:1])
    assert (found.channel[:, 3] == 0).all()


def test_values_that_never_occur_get_the_nearest_symbol_that_is_released():
    joint = np.vstack([SMALL, [0, 0, 0]])
    found = private_channel(joint, squared([1.0, 2.0, 3.0, 9.0]), PAPER[:1])
    assert found.channel[3].tolist() == [0, 0, 1, 0]


def test_hierarchical_distance_of_two_levels_is_the_equal_one():
    values = ("a", "b", "c")
    tree = Hierarchy.from_rows([[value, "*"] for value in values])
    d = absolute([1.0, 2.0, 3.0])
    equal, tall = (
        private_channel(SMALL, d, [model], values=values)
        for model in (
            TCloseness(0.1, distance="equal"),
            TCloseness(0.1, distance="hierarchical", hierarchy=tree),
        )
    )
    assert equal.distortion == pytest.approx(tall.distortion, rel=1e-5)


def test_a_known_prior_is_what_symbols_are_measured_against():
    prior = np.array([0.4, 0.3, 0.3])
    found = private_channel(SMALL, squared([1.0, 2.0, 3.0]), [TCloseness(0.15, "kl")], prior=prior)
    _, r = posteriors(SMALL, found.channel)
    assert bits(r, prior).max() == pytest.approx(0.15, abs=1e-5)
    assert bits(r, SMALL.sum(axis=0) / 30).max() != pytest.approx(0.15, abs=1e-2)
    with pytest.raises(PolicyUnreachableError, match=r"t-closeness about 'W' .*for everybody"):
        private_channel(
            SMALL, squared([1.0, 2.0, 3.0]), [TCloseness(0.05, "kl")], prior=[0.1, 0.1, 0.8]
        )


def test_several_sensitive_attributes_at_once():
    other = np.array([[5, 5], [1, 9], [6, 4]])
    sensitive = [Sensitive.of(SMALL, attribute="a"), Sensitive.of(other, attribute="b")]
    d = squared([1.0, 2.0, 3.0])
    model = TCloseness(0.1, distance="kl")
    both = least_distortion(sensitive, d, [model])
    assert plainly(model, SMALL, both.channel, 1e-9)
    assert plainly(model, other, both.channel, 1e-9)
    alone = [private_channel(joint, d, [model]) for joint in (SMALL, other)]
    assert both.distortion > max(one.distortion for one in alone)
    about_b = least_distortion(sensitive, d, [TCloseness(0.1, distance="kl", attribute="b")])
    assert about_b.distortion == pytest.approx(alone[1].distortion, rel=1e-4)
    uneven = Sensitive.of(other * [[1], [2], [3]], attribute="b")
    with pytest.raises(InputError, match=r"b and a are not about the same X: .* different sums"):
        least_distortion([sensitive[0], uneven], d, [model])


def test_k_of_records_is_the_entropy_of_whose_record_it_is():
    # Two values of 4 records each: to be as uncertain as among 8, nothing of X may leak.
    joint = np.array([[4, 0], [0, 4]])
    assert private_channel(joint, hamming("ab"), [KAnonymity(4)]).distortion == 0
    found = private_channel(joint, hamming("ab"), [KAnonymity(8)])
    assert found.distortion == pytest.approx(0.5, abs=1e-4)
    same = private_channel(joint / 8, hamming("ab"), [KAnonymity(6)], records=8)
    counted = private_channel(joint, hamming("ab"), [KAnonymity(6)])
    assert same.distortion == pytest.approx(counted.distortion, rel=1e-4)
    # H(record|y) = 2 + h(e) = log2 6 bits.
    e = counted.distortion
    assert 2 - e * np.log2(e) - (1 - e) * np.log2(1 - e) == pytest.approx(np.log2(6), abs=1e-4)


laws = st.integers(0, 2**32 - 1)


@settings(max_examples=12, deadline=None)
@given(
    laws, st.sampled_from([TCloseness(0.2, "kl"), EntropyLDiversity(1.3), BasicBetaLikeness(0.7)])
)
def test_answers_hold_by_measure_and_no_better_channel_does(seed, model):
    rng = np.random.default_rng(seed)
    n, m, k = rng.integers(2, 6, 3)
    joint = rng.integers(0, 30, (n, m)) * (rng.random((n, m)) < 0.7)
    joint[:, :2] += 1
    margin = joint.sum(axis=0)
    if not model.accepts(model.measure(Classes(margin[None], margin))).all():
        return
    d = rng.random((n, k))
    found = private_channel(joint, d, [model])
    _, r = posteriors(joint, found.channel)
    scaled = np.rint(r * 2**45).astype(np.int64)
    assert model.accepts(model.measure(Classes(scaled, margin))).all()
    assert found.lower_bound <= found.distortion
    p = joint.sum(axis=1) / joint.sum()
    for _ in range(40):  # merged partitions, and mixtures of such with releasing one symbol
        groups = rng.integers(0, k, n)
        channel = np.eye(k)[groups]
        part = rng.choice([0.0, 0.3, 0.8])
        channel = (1 - part) * channel + part * rng.dirichlet(np.full(k, 0.3))
        if plainly(model, joint, channel, 0.0):
            assert found.lower_bound <= np.einsum("x,xy,xy->", p, channel, d) + 1e-12


@settings(max_examples=8, deadline=None)
@given(laws, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_units_of_distortion_do_not_matter(seed, scale, skew):
    rng = np.random.default_rng(seed)
    joint = rng.random((4, 3)) * np.array([1, 1, 1, skew])[:, None]
    d = rng.random((4, 4))
    found = private_channel(joint, d, [TCloseness(0.05, "kl")])
    scaled = private_channel(joint, scale * d, [TCloseness(0.05, "kl")])
    assert found.lower_bound * scale <= scaled.distortion * (1 + 1e-12)
    assert scaled.lower_bound <= scale * found.distortion * (1 + 1e-12)
    if found.certified and scaled.certified:
        assert scaled.distortion == pytest.approx(scale * found.distortion, rel=3e-5)


# Four values of X with posteriors on a line through the margin: 0 and 1, 2 and 3 balance.
LINE = np.array([[6, 4], [4, 6], [8, 2], [2, 8]])


@pytest.mark.parametrize(
    "model", [ValueGain(0.0), BayesianGain(0.0), TCloseness(0.0, "kl"), MeanInformation(0.0)]
)
def test_a_prior_at_the_limit_leaves_what_tells_nothing(model):
    # Only p(w|y) = p(w): symbols mix values that balance, (0, 1) and (2, 3), at half a step each.
    d = squared([0.0, 1.0, 10.0, 11.0], [0.5, 10.5])
    found = private_channel(LINE, d, [model])
    assert plainly(model, LINE, found.channel, 1e-9)
    assert found.distortion == pytest.approx(0.25, rel=1e-4)
    assert found.lower_bound <= 0.25


def test_a_share_that_the_table_itself_is_at():
    # The first value of W has its share whatever X is; the others may tell what they like.
    joint = np.array([[5, 4, 1], [5, 1, 4], [2, 1, 1]])
    found = private_channel(joint, squared([1.0, 2.0, 3.0]), [AlphaKAnonymity(0.5, 1)])
    assert found.distortion == pytest.approx(0, abs=1e-9)
    records = np.array([[7, 2, 1], [3, 3, 4], [5, 3, 2]])
    held = private_channel(records, squared([1.0, 2.0, 3.0]), [AlphaKAnonymity(0.5, 1)])
    assert plainly(AlphaKAnonymity(0.5, 1), records, held.channel, 2e-9)
    # 1 and 2 have to balance, as 0.7 and 0.3 around 0.5 do; 3 need not be touched.
    assert held.distortion == pytest.approx(1 / 3, rel=1e-5)
    assert held.certified


def test_nothing_asked_is_nothing_done():
    found = private_channel(SMALL, hamming("abc"), [])
    assert found.distortion == 0
    np.testing.assert_array_equal(found.channel, np.eye(3))
    assert found.certified


def test_one_value_and_one_symbol():
    found = private_channel([[3, 5]], [[2.0]], PAPER[:1])
    assert found.distortion == pytest.approx(2.0)
    assert found.certified


D = squared([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ({"privacy": [DistinctLDiversity(2)]}, "distinct-l-diversity has no convex form.*these"),
        ({"privacy": [RecursiveLDiversity(2, 2)]}, "recursive-l-diversity has no convex form"),
        ({"privacy": [PersonKAnonymity(2)]}, "person-k-anonymity counts persons, and no column"),
        (
            {"privacy": [EntropyLDiversity(2, "grassberger")]},
            "entropy-l-diversity with estimator 'grassberger' has no convex form",
        ),
        ({"privacy": TCloseness(0.5, "kl")}, "privacy must be a list of models"),
        ({"distortion": D[:2]}, "distortion has 2 rows and joint 3"),
        ({"distortion": -D}, "distortion holds negative numbers"),
        ({"distortion": np.where(D > 0, D, np.nan)}, "distortion holds values that are no finite"),
        ({"joint": [["a", "b"]]}, "joint must be a matrix of numbers"),
        ({"joint": np.zeros((3, 3))}, "joint sums to 0"),
        ({"epsilon": -1.0}, "epsilon = -1.0 must be a finite number of at least 0 and at most 50"),
        ({"epsilon": True}, "epsilon = True must be a finite number"),
        ({"tolerance": 0.0}, "tolerance = 0.0 must be a finite number above 0"),
        ({"unit": "hartleys"}, "unit = 'hartleys' is none of bits, nats"),
        ({"distortion": D[:, :2], "invariant": True}, "2 columns for 3 values"),
        ({"unbiased": ([1, 2], [1, 2, 3])}, "unbiased must have the 3 values of x"),
        ({"unbiased": (["a"], 3)}, "unbiased must be two lists of numbers"),
        (
            {"unbiased": ([1, 2, np.inf], [1, 2, 3])},
            "unbiased holds values that are no",
        ),
        ({"prior": [0.5, 0.5]}, "prior must have one number for each of the 3 columns"),
        ({"prior": [0.5, 0.5, 0]}, "prior is 0 for a value of W that joint has"),
        ({"prior": [1, -1, 1]}, "prior must hold numbers of at least 0"),
        ({"privacy": [TCloseness(0.1, "ordered")]}, "is about the values of W; name them"),
        ({"values": ("a",)}, "W has 1 values and joint 3 columns"),
        (
            {"joint": SMALL / 30, "privacy": [KAnonymity(2)]},
            "k = 2 is about records: give joint as",
        ),
        ({"records": 0}, "records = 0 must be a finite number of at least 1"),
        (
            {"privacy": [TCloseness(1, "kl", attribute="a"), TCloseness(1, "kl", attribute="b")]},
            "privacy is about 2 sensitive attributes, and joint about one",
        ),
    ],
)
def test_what_cannot_be_requested(requested, message):
    with pytest.raises(InputError, match=message) as refused:
        private_channel(**({"joint": SMALL, "distortion": D, "privacy": PAPER[:1]} | requested))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ({"privacy": [EntropyLDiversity(2.999)]}, "entropy-l-diversity about 'W' .>= 2.999."),
        ({"privacy": [KAnonymity(31)]}, "k = 31 of 30 records fails even where one symbol"),
        ({"privacy": [AlphaKAnonymity(0.3, 1)]}, "alpha-k-anonymity about 'W'"),
        ({"unbiased": ([1, 2, 3], [5, 6, 7])}, "mean of X lies outside the values of Y"),
        (
            {"unbiased": ([1e-20, 2e-20, 3e-20], [5e-20, 6e-20, 7e-20])},
            "mean of X lies outside the values of Y",
        ),
        (
            {"unbiased": ([1, 2, 3], [1, 2, 4]), "invariant": True},
            "invariant keeps the margin, and with these values of Y another mean",
        ),
    ],
)
def test_what_no_channel_holds(requested, message):
    with pytest.raises(PolicyUnreachableError, match=message):
        private_channel(**({"joint": SMALL, "distortion": D, "privacy": []} | requested))


def test_too_large_a_problem_is_refused_before_it_is_made():
    with pytest.raises(InputError, match="an alphabet of 3100 symbols for 3000 values would take"):
        private_channel(
            np.ones((3000, 2)), np.broadcast_to(0.0, (3000, 3100)), [TCloseness(0.5, "kl")]
        )


def adult() -> tuple[np.ndarray, np.ndarray]:
    """Records of Adult by age and marital status, and the ages."""
    import pandas as pd

    table = load_adult().dropna()
    counts = pd.crosstab(table["age"], table["marital-status"])
    return counts.to_numpy(), counts.index.to_numpy(float)


@pytest.mark.skipif(DATA_DIRECTORY not in os.environ, reason="needs UCI Adult")
class TestAdult:
    """Age and marital status, t = 0.55 bits, l = 2.7; figures derived independently."""

    @staticmethod
    def best(policy: list[PrivacyModel], **requested: object) -> OptimalChannel:
        counts, ages = adult()
        found = private_channel(counts, squared(ages, np.arange(17, 91)), policy, **requested)
        assert all(plainly(model, counts, found.channel, 2e-9) for model in policy)
        assert found.certified
        assert found.gap < 1e-4
        return found

    def test_both_models(self):
        found = self.best(PAPER)
        assert found.distortion == pytest.approx(9.8807, abs=1e-4)
        assert found.leakage == pytest.approx(0.2471, abs=1e-4)

    def test_either_model(self):
        assert self.best(PAPER[:1]).distortion == pytest.approx(4.376, abs=5e-4)
        assert self.best(PAPER[1:]).distortion == pytest.approx(8.674, abs=5e-4)

    def test_as_uncertain_as_among_a_hundred_records(self):
        found = self.best([*PAPER, KAnonymity(100)])
        assert found.distortion == pytest.approx(9.8853, abs=2e-4)

    def test_best_ranges(self):
        counts, ages = adult()
        found = best_ranges(counts, ages, privacy=PAPER)
        assert found.distortion == pytest.approx(12.3755, abs=1e-4)
        assert len(found.centroids) == 27
