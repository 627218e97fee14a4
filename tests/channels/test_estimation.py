"""What an analyst estimates from a release: by hand, by expectation, by simulation."""

import hashlib
import json
import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from releases import manifest_of

from anonymizer import InputError
from anonymizer.channels import (
    Channel,
    channels_of,
    estimate_margin,
    estimate_mean,
    estimate_table,
    maximum_likelihood,
)
from anonymizer.channels.channel import described
from anonymizer.hierarchy import Partition
from anonymizer.utility.estimate import estimate_file


def channel(rows):
    matrix = np.array(rows, float)
    return Channel(matrix, tuple("abcdefgh"[: len(matrix)]), tuple("ABCDEFGH"[: matrix.shape[1]]))


WARNER = channel([[0.75, 0.25], [0.25, 0.75]])
"""Randomized response (Warner, 1965): the truth with probability 3/4."""

THREE = channel([[0.7, 0.2, 0.1], [0.15, 0.7, 0.15], [0.1, 0.2, 0.7]])
WIDE = channel([[0.6, 0.2, 0.2, 0.0], [0.1, 0.5, 0.1, 0.3], [0.0, 0.1, 0.3, 0.6]])
BLURRED = channel([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
"""Rank 2: the middle value looks like a mixture of the others. The mean of (0, 1, 2) is estimable:
b = (0, 2); the margin is not."""


def drawn(chosen, counts, rng, times):
    """Released counts of independent draws, shape (times, k)."""
    return sum(rng.multinomial(n, row, times) for n, row in zip(counts, chosen.matrix, strict=True))


# The unbiased estimate


def test_randomized_response_by_hand():
    found = estimate_margin(WARNER, [60, 40])
    assert found.values == ("a", "b")
    assert found.shares == pytest.approx([0.7, 0.3])  # (0.60 - 0.25) / 0.5
    # Given the records: 3/4 1/4 / (N (1/2)^2).
    assert found.covariance == pytest.approx(0.0075 * np.array([[1, -1], [-1, 1]]))
    assert found.standard_errors == pytest.approx(np.sqrt([0.0075, 0.0075]))
    assert found.counts == pytest.approx([70, 30])
    assert (found.records, found.negative, found.identified, found.upper) == (100, 0, True, False)


def test_negative_estimates_are_left_as_they_are():
    found = estimate_margin(WARNER, [90, 10])
    assert found.shares == pytest.approx([1.3, -0.3])
    assert found.negative == 1


def test_what_was_not_masked_is_known():
    found = estimate_margin(channel(np.eye(3)), [5, 0, 7])
    assert found.shares == pytest.approx([5 / 12, 0, 7 / 12])
    assert found.standard_errors.tolist() == [0, 0, 0]
    assert found.negative == 0


def test_a_table_with_an_attribute_released_as_it_is_by_hand():
    found = estimate_table(WARNER, [[60, 25], [40, 75]], columns=["u", "v"])
    assert (found.values, found.others) == (("a", "b"), ("u", "v"))
    assert found.counts == pytest.approx(np.array([[70, 0], [30, 100]]))
    # Of 100 records with u or with v: the variance of 0.0075 above, for 100 of 200 records.
    assert found.standard_errors == pytest.approx(np.full((2, 2), np.sqrt(0.0075) / 2))


def test_a_table_of_two_masked_attributes_by_hand():
    """Pairs as values of the product channel, and by themselves."""
    counts = np.array([[50, 30], [20, 40]])
    found = estimate_table(WARNER, counts, WARNER)
    pairs = Channel(np.kron(WARNER.matrix, WARNER.matrix), tuple(range(4)), tuple(range(4)))
    same = estimate_margin(pairs, counts.ravel())
    assert found.shares.ravel() == pytest.approx(same.shares)
    assert found.standard_errors.ravel() == pytest.approx(same.standard_errors)
    inverse = np.array([[1.5, -0.5], [-0.5, 1.5]])
    assert found.counts == pytest.approx(inverse @ counts @ inverse)


@st.composite
def tenths(draw):
    """A channel in tenths and counts in tens: expected releases are whole numbers of records."""
    n = draw(st.integers(2, 5))
    k = draw(st.integers(n, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.multinomial(10, rng.dirichlet(np.ones(k), n)) / 10
    counts = 10 * np.array(draw(st.lists(st.integers(0, 30), min_size=n, max_size=n)))
    counts[0] += 10
    return channel(rows), counts


@given(tenths())
@settings(max_examples=at_length(30, 60))
def test_what_is_expected_is_estimated_as_the_truth(case):
    chosen, counts = case
    expected = np.rint(counts @ chosen.matrix).astype(int)
    if np.linalg.svd(chosen.matrix)[1].min() < 1e-6:
        with pytest.raises(InputError, match=r"^the channel, of rank \d for \d values, does not"):
            estimate_margin(chosen, expected)
        return
    found = estimate_margin(chosen, expected)
    assert found.shares == pytest.approx(counts / counts.sum(), abs=1e-6)
    assert found.shares.sum() == pytest.approx(1)
    assert np.linalg.eigvalsh(found.covariance).min() > -1e-12
    assert found.covariance.sum(axis=0) == pytest.approx(np.zeros(len(counts)), abs=1e-9)


def test_labels_that_are_alike_change_nothing():
    one = estimate_margin(THREE, [300, 500, 200])
    halved = channel(THREE.matrix @ [[0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    two = estimate_margin(halved, [120, 180, 500, 200])
    assert two.shares == pytest.approx(one.shares)
    assert two.covariance == pytest.approx(one.covariance)


@pytest.mark.parametrize("chosen", [THREE, WIDE], ids=["square", "more labels"])
def test_unbiased_and_as_sure_as_it_says(chosen):
    rng = np.random.default_rng(20)
    true = np.array([700, 900, 400])
    found = [estimate_margin(chosen, each) for each in drawn(chosen, true, rng, 2000)]
    shares = np.array([each.shares for each in found])
    errors = np.array([each.standard_errors for each in found])
    spread = np.cov(shares.T)
    assert shares.mean(axis=0) == pytest.approx(true / 2000, abs=4 * np.sqrt(spread.max() / 2000))
    reported = np.mean([each.covariance for each in found], axis=0)
    assert reported == pytest.approx(spread, abs=0.08 * spread.max())
    covered = (np.abs(shares - true / 2000) < 1.96 * errors).mean(axis=0)
    assert covered == pytest.approx([0.95] * 3, abs=0.02)


@pytest.mark.parametrize("other", [None, WARNER], ids=["as it is", "masked"])
def test_tables_are_unbiased_and_as_sure_as_they_say(other):
    rng = np.random.default_rng(21)
    true = np.array([[500, 100], [300, 600], [50, 450]])
    columns = np.eye(2) if other is None else other.matrix
    table = np.einsum("xz,xy,zv->yvxz", true, THREE.matrix, columns)
    releases = np.zeros((1500, 3, 2), int)
    for x, z in np.ndindex(true.shape):
        law = (table[:, :, x, z] / true[x, z]).ravel()
        releases += rng.multinomial(true[x, z], law / law.sum(), 1500).reshape(-1, 3, 2)
    found = [estimate_table(THREE, each, other) for each in releases]
    shares = np.array([each.shares for each in found])
    errors = np.array([each.standard_errors for each in found])
    assert shares.mean(axis=0) == pytest.approx(true / 2000, abs=3e-3)
    assert errors.mean(axis=0) == pytest.approx(shares.std(axis=0), rel=0.08)
    covered = (np.abs(shares - true / 2000) < 1.96 * errors).mean()
    assert covered == pytest.approx(0.95, abs=0.015)


def test_sums_of_values_are_estimated_as_sums():
    groups = Partition.of(["a or c", "b", "a or c"])
    whole, sums = (estimate_margin(WIDE, [400, 200, 250, 350], groups=g) for g in (None, groups))
    summing = np.array([[1, 0, 1], [0, 1, 0]])
    assert sums.values == ("a or c", "b")
    assert sums.shares == pytest.approx(summing @ whole.shares)
    assert sums.covariance == pytest.approx(summing @ whole.covariance @ summing.T)


# What a channel of lower rank still tells


def test_a_mean_may_be_estimable_where_the_margin_is_not():
    with pytest.raises(InputError, match=r"rank 2 for 3 values.*maximum-likelihood.*invariant"):
        estimate_margin(BLURRED, [60, 40])
    found = estimate_mean(BLURRED, [0, 1, 2], [60, 40])
    assert found.value == pytest.approx(0.8)
    assert found.upper
    assert found.standard_error == pytest.approx(np.sqrt((0.4 * 4 - 0.64) / 100))
    with pytest.raises(InputError, match=r"rank 2 for 3 values.*values that f differs for"):
        estimate_mean(BLURRED, [0, 1, 1], [60, 40])


def test_the_upper_bound_of_a_mean_is_one():
    rng = np.random.default_rng(22)
    found = [
        estimate_mean(BLURRED, [0, 1, 2], each) for each in drawn(BLURRED, [9, 80, 30], rng, 800)
    ]
    values = np.array([each.value for each in found])
    assert values.mean() == pytest.approx((80 + 60) / 119, abs=0.02)
    assert values.std() < np.mean([each.standard_error for each in found])


def test_shares_and_means_of_a_whole_margin():
    counts = [300, 500, 200]
    margin = estimate_margin(THREE, counts)
    share = estimate_mean(THREE, [False, True, False], counts)
    assert share.value == pytest.approx(margin.shares[1])
    assert share.standard_error == pytest.approx(margin.standard_errors[1])
    far = estimate_mean(THREE, [1e9, 1e9 + 1, 1e9 + 2], counts)
    near = estimate_mean(THREE, [0, 1, 2], counts)
    assert far.value - 1e9 == pytest.approx(near.value)
    assert far.standard_error == pytest.approx(near.standard_error)
    assert estimate_mean(BLURRED, [5, 5, 5], [3, 4]).value == 5


def test_sums_may_be_estimable_where_single_values_are_not():
    """Two values that are masked alike, and a third one that is not."""
    alike = channel([[0.8, 0.2], [0.8, 0.2], [0.2, 0.8]])
    groups = Partition.of(["ab", "ab", "c"])
    found = estimate_margin(alike, [50, 50], groups=groups)
    assert found.shares == pytest.approx([0.5, 0.5])
    assert not found.identified
    assert found.upper
    # At the most 0.5 (4/3)^2 + 0.5 (1/3)^2 - 0.25, and in truth 0.16 / 0.36, for each record.
    assert found.standard_errors == pytest.approx(np.sqrt([0.25 / 0.36 / 100] * 2))
    assert found.covariance.sum() == pytest.approx(0)


# Systematic draws


def systematic(count, row, rng):
    ends = np.concatenate([[0], np.cumsum(count * row)])
    ends[-1] = count
    return np.diff(np.floor(ends + rng.random())).astype(int)


def test_systematic_draws_of_many_records_vary_less():
    rng = np.random.default_rng(23)
    true = np.array([731, 523, 246])
    rows = list(zip(true, WIDE.matrix, strict=True))
    released = [sum(systematic(n, row, rng) for n, row in rows) for _ in range(400)]
    found = [estimate_margin(WIDE, each) for each in released]
    shares = np.array([each.shares for each in found])
    reported = np.mean([each.standard_errors for each in found], axis=0)
    assert (shares.std(axis=0) < 0.1 * reported).all()
    assert shares.mean(axis=0) == pytest.approx(true / 1500, abs=1e-3)


@given(st.integers(1, 30), st.floats(0, 1))
def test_the_count_of_a_label_never_varies_more_when_drawn_systematically(n, q):
    rest = n * q % 1
    assert rest * (1 - rest) <= n * q * (1 - q) + 1e-9


def test_few_records_drawn_systematically_can_make_a_sum_vary_more():
    rng = np.random.default_rng(24)
    signs = np.array([1, -1, 1, -1])
    sums = np.array([systematic(2, np.full(4, 0.25), rng) @ signs for _ in range(2000)])
    assert sums.var() == pytest.approx(4, abs=0.1)
    independent = rng.multinomial(2, np.full(4, 0.25), 2000) @ signs
    assert independent.var() == pytest.approx(2, abs=0.2)


# Invariant channels


def test_the_margin_that_an_invariant_channel_released_is_the_estimate():
    true = np.array([600, 300, 100])
    share = true / 1000
    kept = 0.6 * np.eye(3) + 0.4 * share[None]
    chosen = Channel(kept, tuple("abc"), tuple("abc"))
    assert share @ kept == pytest.approx(share)
    rng = np.random.default_rng(25)
    found = [
        estimate_margin(chosen, each, method="invariant") for each in drawn(chosen, true, rng, 1500)
    ]
    shares = np.array([each.shares for each in found])
    assert shares.mean(axis=0) == pytest.approx(share, abs=2e-3)
    assert np.mean([e.covariance for e in found], axis=0) == pytest.approx(
        np.cov(shares.T), rel=0.15
    )
    inverted = estimate_margin(chosen, [600, 300, 100])
    assert (found[0].standard_errors < inverted.standard_errors).all()


def test_a_channel_that_is_not_invariant_is_found_out():
    square = Channel(THREE.matrix, tuple("abc"), tuple("bca"))
    with pytest.raises(InputError, match="not invariant for this release"):
        estimate_margin(square, [9000, 500, 500], method="invariant")
    with pytest.raises(InputError, match="same labels as values"):
        estimate_margin(WARNER, [60, 40], method="invariant")


def test_labels_in_another_order_than_values():
    kept = np.array([[0.8, 0.2], [0.4, 0.6]])  # leaves (2/3, 1/3)
    one = Channel(kept, ("a", "b"), ("a", "b"))
    two = Channel(kept[:, ::-1], ("a", "b"), ("b", "a"))
    first = estimate_margin(one, [200, 100], method="invariant")
    second = estimate_margin(two, [100, 200], method="invariant")
    assert first.shares.tolist() == second.shares.tolist() == [200 / 300, 100 / 300]
    assert first.covariance == pytest.approx(second.covariance)


# Maximum likelihood


def test_maximum_likelihood_at_the_border_by_hand():
    found = maximum_likelihood(WARNER, [90, 10])
    assert found.converged
    assert found.shares[:, 0] == pytest.approx([1, 0], abs=1e-4)
    best = 90 * np.log(0.75) + 10 * np.log(0.25)
    assert best - found.gap <= found.log_likelihood <= best


def test_inside_it_is_the_unbiased_estimate():
    counts = [400, 200, 250]
    found = estimate_margin(THREE, counts, method="maximum-likelihood")
    assert found.shares == pytest.approx(estimate_margin(THREE, counts).shares, abs=1e-3)
    assert found.likelihood.converged
    assert found.standard_errors is None
    assert found.covariance is None
    table = [[50, 35], [35, 60]]
    found = estimate_table(WARNER, table, WARNER, method="maximum-likelihood")
    assert found.shares == pytest.approx(estimate_table(WARNER, table, WARNER).shares, abs=1e-3)


EM = "expectation-maximisation"


@given(tenths(), st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from(["automatic", EM]))
@settings(max_examples=at_length(40, 80))
def test_no_other_shares_are_likelier_than_the_gap_says(case, seed, most, method):
    chosen, true = case
    rng = np.random.default_rng(seed)
    counts = drawn(chosen, true, rng, 1)[0]
    found = maximum_likelihood(chosen, counts, method=method, tolerance=1e-6, most_iterations=most)
    assert found.shares.sum() == pytest.approx(1)
    assert found.shares.min() >= 0
    assert found.converged == (found.gap <= 1e-6)
    assert found.converged or method == EM
    some = counts > 0
    near = rng.dirichlet(np.ones(len(true)), 300)
    near = np.concatenate([near, 0.9 * found.shares.T + 0.1 * near, [true / true.sum()]])
    with np.errstate(divide="ignore"):
        others = np.log((near @ chosen.matrix)[:, some]) @ counts[some]
    assert others.max() <= found.log_likelihood + found.gap


def test_more_steps_never_make_it_less_likely():
    counts = [500, 30, 170, 300]
    steps = [
        maximum_likelihood(WIDE, counts, method=EM, tolerance=1e-12, most_iterations=most)
        for most in (1, 2, 3, 5)
    ]
    likely = [each.log_likelihood for each in steps]
    assert likely == sorted(likely)
    assert steps[-1].gap < steps[0].gap
    assert [each.iterations for each in steps] == [1, 2, 3, 5]
    assert not steps[0].converged


def test_both_ways_find_the_same_maximum():
    """A blur of 4 years over 72 ages, of rank 51 to rounding: what steps alone do not solve."""
    ages = np.arange(72)
    blur = np.exp(-(((ages[:, None] - ages) / 4) ** 2) / 2)
    chosen = Channel(blur / blur.sum(axis=1, keepdims=True), tuple(ages), tuple(ages))
    rng = np.random.default_rng(26)
    counts = drawn(chosen, rng.multinomial(30_000, rng.dirichlet(np.ones(72))), rng, 1)[0]
    newton = maximum_likelihood(chosen, counts)
    steps = maximum_likelihood(chosen, counts, method=EM, most_iterations=300)
    assert newton.converged
    assert newton.gap < 1e-6
    assert not steps.converged
    assert abs(newton.log_likelihood - steps.log_likelihood) <= steps.gap
    table = np.column_stack([counts, counts[::-1], 0 * counts])
    both = maximum_likelihood(chosen, table)
    assert both.converged
    assert both.shares[:, 0] == pytest.approx(newton.shares[:, 0] / 2, abs=1e-4)
    assert both.shares[:, 2].tolist() == [0] * 72


def test_tables_of_two_masked_attributes_both_ways():
    counts = np.array([[50, 3, 20], [8, 40, 2], [1, 1, 60], [30, 30, 30]])
    newton = maximum_likelihood(WIDE, counts, THREE)
    steps = maximum_likelihood(WIDE, counts, THREE, method=EM)
    assert newton.converged
    assert steps.converged
    assert newton.log_likelihood == pytest.approx(steps.log_likelihood, abs=2e-4)
    assert newton.shares == pytest.approx(steps.shares, abs=0.01)


def test_one_of_many_maxima_is_called_that():
    found = estimate_margin(BLURRED, [60, 40], method="maximum-likelihood")
    assert not found.identified
    assert found.likelihood.converged
    assert found.shares @ BLURRED.matrix == pytest.approx([0.6, 0.4], abs=1e-3)


# What is refused


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ([60], "counts have 1 rows, but the channel 2 labels"),
        ([0.6, 0.4], "whole, at least 0, no shares"),
        ([-1, 4], "whole, at least 0"),
        ([np.nan, 4], "whole, at least 0"),
        (["60", "40"], "list or a matrix of numbers"),
        ([True, False], "list or a matrix of numbers"),
        ([0, 0], "add up to a number of records above 0"),
        ([[60], [40]], "counts of a margin must be a list"),
        ([], "counts"),
        (7, "list or a matrix"),
    ],
)
def test_counts_that_are_none(counts, why):
    with pytest.raises(InputError, match=why):
        estimate_margin(WARNER, counts)


def test_other_input_that_is_refused():
    never = channel([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    with pytest.raises(InputError, match="3 records have labels that the channel never releases"):
        estimate_margin(never, [4, 4, 3])
    assert estimate_margin(never, [4, 6, 0]).records == 10
    with pytest.raises(InputError, match=r"method = 'em' is unknown; known are unbiased"):
        estimate_margin(WARNER, [1, 2], method="em")
    with pytest.raises(InputError, match=r"method = 'invariant' is unknown"):
        estimate_table(WARNER, [[1, 2], [3, 4]], method="invariant")
    with pytest.raises(InputError, match="must be a matrix; estimate_margin"):
        estimate_table(WARNER, [1, 2])
    with pytest.raises(InputError, match="counts have 3 columns, but the channel 2 labels"):
        estimate_table(WARNER, [[1, 2, 3], [3, 4, 5]], WARNER)
    with pytest.raises(InputError, match="columns has 3 names, but counts 2 columns"):
        estimate_table(WARNER, [[1, 2], [3, 4]], columns="uvw")
    with pytest.raises(InputError, match="groups are of 3 values, but the channel has 2"):
        estimate_margin(WARNER, [1, 2], groups=Partition.of("aab"))
    with pytest.raises(InputError, match="other_groups is about values of another channel"):
        estimate_table(WARNER, [[1, 2], [3, 4]], other_groups=Partition.of("ab"))
    with pytest.raises(InputError, match="f must hold one number for each of 2 values"):
        estimate_mean(WARNER, [1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="f holds values that are no finite numbers"):
        estimate_mean(WARNER, [1, np.inf], [1, 2])
    for wrong in (0, -1, np.nan, "1"):
        with pytest.raises(InputError, match="tolerance"):
            maximum_likelihood(WARNER, [1, 2], tolerance=wrong)
    with pytest.raises(InputError, match="method = 'newton' is unknown"):
        maximum_likelihood(WARNER, [1, 2], method="newton")
    with pytest.raises(InputError, match="most_iterations"):
        maximum_likelihood(WARNER, [1, 2], most_iterations=0)


# Channels in manifests


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 30))
@settings(max_examples=at_length(30, 60))
def test_channels_read_back_to_the_last_bit(seed, n, k):
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.full(k, rng.choice([0.02, 0.3, 2])), n)
    one = Channel(law / law.sum(axis=1, keepdims=True), tuple(range(n)), tuple(range(k)))
    two = Channel(np.array([[0.25, 0.75]]), ((None, "x"),), (("[1, 2)", "x"), ("*", None)))
    text = json.dumps({"channels": [described(one, ["a"]), described(two, "bc")]})
    found = channels_of(json.loads(text))
    assert list(found) == [("a",), ("b", "c")]
    assert np.array_equal(found["a",].matrix, one.matrix)
    assert found["a",].values == tuple((str(x),) for x in range(n))
    assert found["b", "c"].values == ((None, "x"),)
    assert found["b", "c"].labels == (("[1, 2)", "x"), ("*", None))


def test_a_channel_by_hand():
    assert described(BLURRED, ["grade"]) == {
        "attributes": ["grade"],
        "values": [["a"], ["b"], ["c"]],
        "labels": [["A"], ["B"]],
        "rows": [
            {"labels": [0], "chances": [1.0]},
            {"labels": [0, 1], "chances": [0.5, 0.5]},
            {"labels": [1], "chances": [1.0]},
        ],
        "epsilon": None,
        "rank": 2,
    }
    assert described(WARNER, ["grade"])["epsilon"] == pytest.approx(np.log(3))
    with pytest.raises(InputError, match="values of 1 attributes, but is said to be of 2: a, b"):
        described(WARNER, ["a", "b"])
    with pytest.raises(InputError, match="two values of the channel of a are written alike"):
        described(Channel(WARNER.matrix, ("1", 1.0), ("1", "2")), ["a"])


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda m: m.update(withheld=True), "withholds the channels"),
        (lambda m: m.update(channels=[]), "lists no channels"),
        (lambda m: m.pop("channels"), "describes no channels of its masking"),
        (lambda m: m["channels"].append(7), "channel 1 of its masking lacks attributes"),
        (lambda m: m["channels"].append(m["channels"][0]), "two channels of"),
        (lambda m: m["channels"][0].pop("values"), "channel 0 of its masking lacks"),
        (lambda m: m["channels"][0]["rows"].pop(), "1 rows for 2 values"),
        (lambda m: m["channels"][0]["labels"].pop(), "no chances from 0 to 1 of known"),
        (lambda m: m["channels"][0].update(values=[["a"], ["a"]]), "twice"),
        (lambda m: m["channels"][0].update(values=[["a"], [7]]), "lists of texts"),
        (lambda m: m["channels"][0].update(attributes=[]), "lacks attributes"),
        (
            lambda m: m["channels"][0]["rows"][1].update(chances=[0.5, 0.25]),
            "row 1 sums to 0.75",
        ),
        (
            lambda m: m["channels"][0]["rows"][1].update(chances=[-0.5, 1.5]),
            "no chances from 0 to 1 of known labels in row 1",
        ),
        (
            lambda m: m["channels"][0]["rows"][1].update(chances=[0.5, float("nan")]),
            "no chances from 0 to 1",
        ),
        (
            lambda m: m["channels"][0]["rows"][0].update(labels=[0, 0]),
            "no chances from 0 to 1",
        ),
    ],
)
def test_damaged_channels(spoil, why):
    masking = {"channels": [described(WARNER, ["grade"])]}
    spoil(masking)
    with pytest.raises(InputError, match=why) as caught:
        channels_of(masking)
    assert "\n" not in str(caught.value)


def test_what_is_no_masking():
    with pytest.raises(InputError, match="no random recoding"):
        channels_of(None)
    with pytest.raises(InputError, match=r"masking must be what .* describes, not list"):
        channels_of([1])


# The command, on a release made by hand


PAIRS = Channel(
    np.kron([[0.8, 0.2], [0.4, 0.6]], [[0.75, 0.25], [0.25, 0.75]]),
    (("1", "f"), ("1", "m"), ("2", "f"), ("2", "m")),
    (("1", "f"), ("1", "m"), ("2", "f"), ("2", "m")),
)


def lay(directory, masking=None, text=None):
    """Sixty times a released as A, forty times as B; grade and sex masked together; W as it was."""
    rows = [("A", "1", "f", "w")] * 30 + [("A", "2", "m", "v")] * 30
    rows += [("B", "1", "m", "w")] * 25 + [("B", "2.0", "f", "")] * 15
    text = text or "letter,grade,sex,w\n" + "".join(",".join(row) + "\n" for row in rows)
    (directory / "released.csv").write_text(text)
    channels = [described(WARNER, ["letter"]), described(PAIRS, ["grade", "sex"])]
    columns = dict.fromkeys(
        ("quasi_identifiers", "sensitive", "targets", "identifiers", "missing_values"), ()
    )
    manifest = manifest_of(
        masking=masking or {"method": "pram", "withheld": False, "channels": channels},
        table={"file": "released.csv", "sha256": hashlib.sha256(text.encode()).hexdigest()},
        columns={**columns, "missing": "error", "separator": ","},
    )
    manifest.write(directory / "release.json")
    return directory


@pytest.fixture
def run(run):
    return partial(run, "estimate")


def test_a_margin_from_a_file(run, tmp_path):
    code, out, err = run(lay(tmp_path), "--of", "letter")
    assert (code, err) == (0, "")
    assert "letter: 100 records before they were masked (unbiased)" in out
    assert "70.0" in out
    assert "0.086603" in out
    code, out, _ = run(tmp_path / "released.csv", "--of", "letter", "--json")
    found = json.loads(out)
    assert found["records"] == 100
    assert found["mean"] is None
    assert found["standard_errors"] == "independent draws"
    first = found["estimates"][0]
    assert (first["value"], round(first["count"]), round(first["share"], 9)) == ("a", 70, 0.7)


def test_one_attribute_of_a_joint_channel(tmp_path):
    """Summed over the other one: as if it had been masked by itself."""
    found = estimate_file(lay(tmp_path), "grade")
    alone = estimate_margin(channel([[0.8, 0.2], [0.4, 0.6]]), [55, 45])
    assert found.estimate.values == ("1", "2")
    assert found.estimate.shares == pytest.approx(alone.shares)
    assert found.mean.value == pytest.approx(1 + alone.shares[1])
    both = estimate_file(tmp_path, "sex", "grade").estimate
    assert (both.values, both.others) == (("f", "m"), ("1", "2"))
    inverse = np.linalg.inv(PAIRS.matrix)
    expected = (np.array([30, 25, 15, 30]) @ inverse / 100).reshape(2, 2).T
    assert both.shares == pytest.approx(expected)
    assert both.shares.sum(axis=0) == pytest.approx(alone.shares)


def test_tables_from_files(run, tmp_path):
    found = estimate_file(lay(tmp_path), "letter", "w").estimate
    assert found.others == ("v", "w", None)
    expected = estimate_table(WARNER, [[30, 30, 0], [0, 25, 15]])
    assert found.shares == pytest.approx(expected.shares)
    assert found.standard_errors == pytest.approx(expected.standard_errors)
    two = estimate_file(tmp_path, "letter", "sex").estimate
    expected = estimate_table(
        WARNER, [[30, 0, 0, 30], [0, 25, 15, 0]], PAIRS, other_groups=Partition.of("fmfm")
    )
    assert two.shares == pytest.approx(expected.shares)
    assert two.standard_errors == pytest.approx(expected.standard_errors)
    code, out, _ = run(tmp_path, "--of", "letter", "--with", "w")
    assert code == 0
    assert "(missing)" in out
    assert "2 of 6 estimates are negative" in out
    code, out, _ = run(tmp_path, "--of", "letter", "--with", "w", "--method", "maximum-likelihood")
    assert code == 0
    assert "of the largest possible." in out


def test_a_margin_of_a_blurred_release(run, tmp_path):
    masked = Channel(BLURRED.matrix, (1, 2, 3), ("A", "B"))
    lay(tmp_path, {"channels": [described(masked, ["letter"])]})
    code, _, err = run(tmp_path, "--of", "letter")
    assert code == 2
    assert "of rank 2 for 3 values" in err
    code, out, _ = run(tmp_path, "--of", "letter", "--method", "maximum-likelihood")
    assert code == 0
    assert "one of many tables" in out
    assert "Mean of letter: 1.8 +- 0.098 at the most." in out
    code, out, _ = run(tmp_path, "--of", "letter", "--method", "maximum-likelihood", "--json")
    assert json.loads(out)["converged"] is True


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--of", "w"], "column 'w' was not masked at random"),
        (["--of", "lettr"], "lacks|no column|'lettr'"),
        (["--of", "letter", "--with", "letter"], "is of 'letter' already"),
        (["--of", "letter", "--with", "w", "--method", "invariant"], "leaves margins alone"),
        (["--of", "letter", "--method", "invariant"], "same labels as values"),
        (["--of", "letter", "--method", "em"], "'em' is not one of"),
    ],
)
def test_what_the_command_refuses(run, tmp_path, arguments, why):
    code, out, err = run(lay(tmp_path), *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert re.search(why, err)


def test_an_invariant_release(run, tmp_path):
    """By (3/4, 1/4; 3/8, 5/8) a margin of (0.6, 0.4) stays; B stands for 10 and A for 20."""
    kept = Channel(np.array([[0.75, 0.25], [0.375, 0.625]]), ("A", "B"), ("A", "B"))
    lay(tmp_path, {"channels": [described(kept, ["letter"])]})
    code, out, _ = run(tmp_path, "--of", "letter", "--method", "invariant", "--json")
    assert code == 0
    assert [row["count"] for row in json.loads(out)["estimates"]] == pytest.approx([60, 40])
    text = (tmp_path / "released.csv").read_text().replace("A,", "20,").replace("B,", "10,")
    numbers = Channel(kept.matrix, (20, 10), (20, 10))
    lay(tmp_path, {"channels": [described(numbers, ["letter"])]}, text)
    found = estimate_file(tmp_path, "letter", method="invariant")
    assert found.mean.value == pytest.approx(16)
    variance = 0.6 * 0.75 * 0.25 + 0.4 * 0.375 * 0.625
    assert found.mean.standard_error == pytest.approx(10 * np.sqrt(variance / 100))
    assert found.estimate.standard_errors == pytest.approx([np.sqrt(variance / 100)] * 2)


def test_releases_that_are_not_whole(run, tmp_path):
    _, _, err = run(tmp_path / "nowhere", "--of", "letter")
    assert "there is no" in err
    lay(tmp_path, {"withheld": True})
    _, _, err = run(tmp_path, "--of", "letter")
    assert "withholds the channels" in err
    lay(tmp_path, {"channels": [described(THREE, ["letter"])]})
    assert estimate_file(tmp_path, "letter").estimate.records == 100
    only = Channel(np.eye(1), ("a",), ("A",))
    lay(tmp_path, {"channels": [described(only, ["letter"])]})
    _, _, err = run(tmp_path, "--of", "letter")
    assert "40 records of" in err
    assert "does not list as labels" in err
    lay(tmp_path)
    (tmp_path / "released.csv").write_text("letter\nA\n")
    _, _, err = run(tmp_path, "--of", "letter")
    assert "changed after it was released" in err
    manifest = json.loads((tmp_path / "release.json").read_text())
    (tmp_path / "release.json").write_text(json.dumps({**manifest, "table": None}))
    _, _, err = run(tmp_path, "--of", "letter")
    assert "does not say which table" in err
    manifest["columns"]["separator"] = 1
    (tmp_path / "release.json").write_text(json.dumps(manifest))
    _, _, err = run(tmp_path, "--of", "letter")
    assert "it is no manifest of a release (columns.separator)" in err
