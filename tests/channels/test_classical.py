"""The classical masking methods: by hand, by law, and against plain Python."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer import InputError
from anonymizer.channels import Channel, estimate_margin
from anonymizer.channels.classical import (
    additive_noise,
    correlated_noise,
    invariant_channel,
    microaggregation,
    pram,
    random_channel,
    random_rounding,
    rank_swapping,
    rounding,
    top_bottom_coding,
)

seeds = st.integers(0, 2**32 - 1)


def rng(seed=0):
    return np.random.default_rng(seed)


def table(records, columns=2, seed=0):
    numbers = rng(seed).normal(size=(records, columns)) @ np.triu(np.ones((columns, columns)))
    return pd.DataFrame(numbers, columns=list("abcdef"[:columns]))


# PRAM


def test_an_invariant_matrix_by_hand():
    """p = (2/3, 1/3): p Q = (2/3, 1/3), and Bayes' rule gives Q* = ((3/4, 1/4), (1/2, 1/2))."""
    channel = Channel(np.array([[0.75, 0.25], [0.5, 0.5]]), ("a", "b"), ("u", "v"))
    found = invariant_channel(channel, [20, 10])
    assert (found.values, found.labels) == (("a", "b"), ("a", "b"))
    assert found.matrix == pytest.approx(channel.matrix @ channel.matrix)
    half = invariant_channel(channel, [20, 10], alpha=0.5)
    assert half.matrix == pytest.approx((found.matrix + np.eye(2)) / 2)


@given(seeds, st.integers(1, 8), st.integers(1, 8), st.sampled_from([1.0, 0.5, 0.01]))
@settings(max_examples=at_length(30, 60))
def test_invariant_channels_leave_the_margin_alone(seed, n, k, alpha):
    draw = rng(seed)
    law = draw.dirichlet(np.full(k, 0.3), n)
    channel = Channel(law / law.sum(axis=1, keepdims=True), tuple(range(n)), tuple(range(k)))
    margin = draw.integers(1, 10_000, n)
    found = invariant_channel(channel, margin, alpha=alpha)
    assert margin @ found.matrix == pytest.approx(margin, rel=1e-12)
    assert found.matrix.diagonal().min() >= 1 - alpha


@given(seeds, st.integers(1, 9))
@settings(max_examples=at_length(15, 30))
def test_matrices_that_are_drawn(seed, number):
    found = random_channel(tuple(range(number)), rng(seed), least_diagonal=0.6).matrix
    assert found.diagonal().min() >= 0.6
    for place, row in enumerate(found):
        assert np.ptp(np.delete(row, place)) == 0 if number > 1 else row == 1


def test_pram_draws_by_its_channel_and_says_which():
    column = pd.Series(["x", "y", "z"], name="job").repeat([6000, 3000, 1000])
    found = pram(column, [[0.7, 0.2, 0.1], [0, 1, 0], [0.5, 0, 0.5]], rng(1), invariant=False)
    counts = pd.crosstab(column.to_numpy(), found.released.to_numpy())
    expected = np.array([[4200, 1200, 600], [0, 3000, 0], [500, 0, 500]])
    assert counts.to_numpy() == pytest.approx(expected, abs=4 * 40)
    assert (counts.to_numpy() == 0).tolist() == (expected == 0).tolist()
    assert found.released.index.equals(column.index)
    assert found.released.dtype == column.dtype
    assert found.released.name == "job"
    released = found.released.value_counts()[list(found.channel.labels)].to_numpy()
    estimate = estimate_margin(found.channel, released)
    assert (np.abs(estimate.shares - [0.6, 0.3, 0.1]) < 3.5 * estimate.standard_errors).all()


def test_pram_as_sdcmicro_has_it():
    column = pd.Series(pd.Categorical(["b", "a", "c"] * 400, categories=["c", "b", "a", "none"]))
    found = pram(column, None, rng(2))
    assert found.channel.values == ("c", "b", "a")
    assert np.full(3, 400) @ found.channel.matrix == pytest.approx(np.full(3, 400))
    assert found.channel.matrix.diagonal().min() > 0.8
    assert found.released.dtype == column.dtype
    assert 0 < (found.released != column).sum() < 0.2 * 1200
    again = pram(column, None, rng(2))
    assert again.released.equals(found.released)
    estimate = estimate_margin(
        found.channel, found.released.value_counts()[list("cba")].to_numpy(), method="invariant"
    )
    assert estimate.shares == pytest.approx([1 / 3] * 3, abs=0.05)


def test_pram_with_a_named_matrix():
    matrix = pd.DataFrame([[0, 1, 0], [1, 0, 0], [0, 0, 1]], list("bax"), ["B", "A", "X"])
    found = pram(pd.Series(["a", "b", "a"]), matrix, rng(), invariant=False)
    assert found.released.tolist() == ["B", "A", "B"]
    numbers = pram(pd.Series([10, 9, 9]), np.eye(2), rng())
    assert numbers.channel.values == (9, 10)
    assert numbers.released.tolist() == [10, 9, 9]
    assert pram(pd.Series(["a"]), None, rng()).released.tolist() == ["a"]


# Noise


def test_noise_has_the_size_that_it_should():
    frame = table(120_000)
    drawn = rng(3)
    noise = (additive_noise(frame, 0.25, drawn) - frame).to_numpy()
    variances = frame.var().to_numpy()
    assert noise.var(axis=0) == pytest.approx(0.25 * variances, rel=0.03)
    assert np.corrcoef(noise.T)[0, 1] == pytest.approx(0, abs=0.02)
    assert noise.mean(axis=0) == pytest.approx([0, 0], abs=0.01)
    correlated = correlated_noise(frame, 0.25, drawn) - frame
    assert correlated.cov().to_numpy() == pytest.approx(0.25 * frame.cov().to_numpy(), rel=0.05)


def test_corrected_noise_keeps_mean_and_covariance():
    frame = 1000 + table(270_000, 3)
    drawn = rng(4)
    masked = correlated_noise(frame, 0.5, drawn, corrected=True)
    assert masked.cov().to_numpy() == pytest.approx(frame.cov().to_numpy(), rel=0.03)
    assert masked.mean().to_numpy() == pytest.approx(frame.mean().to_numpy(), abs=0.01)
    larger = correlated_noise(frame, 0.5, drawn).cov().to_numpy()
    assert larger == pytest.approx(1.5 * frame.cov().to_numpy(), rel=0.05)


def test_columns_that_say_the_same_still_do():
    frame = table(50).assign(c=lambda t: t.a + t.b, d=7)
    masked = correlated_noise(frame, 0.1, rng(5))
    assert (masked.a + masked.b - masked.c).std() < 1e-6
    assert (masked.d == 7).all()
    assert additive_noise(frame, 0.1, rng(5)).d.tolist() == [7.0] * 50


# Rank swapping


@given(seeds, st.integers(2, 60), st.integers(1, 100))
@settings(max_examples=at_length(30, 60))
def test_ranks_move_no_further_than_they_may(seed, records, percent):
    frame = pd.DataFrame({"a": rng(seed).permutation(records), "b": np.arange(records) // 3})
    window = records * percent // 100
    if not window:
        with pytest.raises(InputError, match=rf"percent = {percent} of {records} records is less"):
            rank_swapping(frame, percent, rng(seed))
        return
    masked = rank_swapping(frame, percent, rng(seed))
    assert (masked.a - frame.a).abs().max() <= window
    for name in frame.columns:
        assert sorted(masked[name]) == sorted(frame[name])
        assert masked[name].dtype == frame[name].dtype
    # Swapped means swapped: whoever has my value, I have theirs.
    assert (masked.a.to_numpy()[np.argsort(frame.a)][masked.a] == frame.a).all()


def test_rank_swapping_by_hand():
    """A window of one rank pairs neighbours: there is nothing to be drawn."""
    frame = pd.DataFrame({"a": [30, 10, 40, 20, 50]}, index=list("vwxyz"))
    assert rank_swapping(frame, 20, rng()).a.to_dict() == {
        "w": 20, "y": 10, "v": 40, "x": 30, "z": 50,
    }  # fmt: skip


def test_partners_are_drawn_evenly():
    frame = pd.DataFrame({"a": np.arange(10)})
    drawn = rng(6)
    first = [int(rank_swapping(frame, 40, drawn).a[0]) for _ in range(600)]
    assert np.bincount(first, minlength=10)[1:5] == pytest.approx([150] * 4, abs=42)
    assert set(first) == {1, 2, 3, 4}


# Microaggregation


def mdav(points, k):
    """MDAV in plain Python: groups as sets of records, in no order."""

    def away(seed):
        return lambda i: sum((x - y) ** 2 for x, y in zip(points[i], seed, strict=True))

    def far(seed, left):
        return max(left, key=away(seed))

    def mean(left):
        return [sum(points[i][c] for i in left) / len(left) for c in range(len(points[0]))]

    def close(seed, left):
        return set(sorted(left, key=away(seed))[:k])

    left, groups = list(range(len(points))), []
    while len(left) >= 3 * k:
        r = far(mean(left), left)
        s = far(points[r], left)
        for seed in (r, s):
            groups.append(close(points[seed], left))
            left = [i for i in left if i not in groups[-1]]
    if len(left) >= 2 * k:
        groups.append(close(points[far(mean(left), left)], left))
        left = [i for i in left if i not in groups[-1]]
    return [*groups, set(left)]


def sets_of(groups):
    return {frozenset(np.flatnonzero(groups == g).tolist()) for g in np.unique(groups)}


@given(seeds, st.integers(2, 40), st.integers(2, 6), st.integers(1, 3))
@settings(max_examples=at_length(40, 80))
def test_mdav_is_what_plain_python_does(seed, records, k, columns):
    frame = table(records, columns, seed)
    if k > records:
        with pytest.raises(InputError, match=f"k = {k} is more than there are records, {records}"):
            microaggregation(frame, k)
        return
    found = microaggregation(frame, k)
    points = ((frame - frame.mean()) / frame.std(ddof=0)).to_numpy().tolist()
    assert sets_of(found.groups) == {frozenset(group) for group in mdav(points, k)}


@given(seeds, st.integers(2, 60), st.integers(2, 7), st.sampled_from(["mdav", "optimal"]))
@settings(max_examples=at_length(40, 80))
def test_groups_have_k_to_twice_k_records_even_of_equal_ones(seed, records, k, method):
    columns = 2 if method == "mdav" else 1
    frame = pd.DataFrame(rng(seed).integers(0, 3, (records, columns)), columns=list("ab")[:columns])
    k = min(k, records)
    found = microaggregation(frame, k, method=method)
    sizes = np.bincount(found.groups)
    assert k <= sizes.min()
    assert sizes.max() <= 2 * k - 1
    assert found.released.groupby(list(frame.columns)).size().min() >= k
    assert found.released.mean().to_numpy() == pytest.approx(frame.mean().to_numpy())
    assert found.released.to_numpy() == pytest.approx(
        frame.groupby(found.groups).transform("mean").to_numpy()
    )


def cheapest(numbers, k):
    """The least sum of squares of any cut of sorted numbers into runs of at least k."""
    ordered, best = np.sort(numbers), np.inf
    for parts in range(1, len(ordered) // k + 1):
        for cuts in combinations(range(k, len(ordered) - k + 1), parts - 1):
            runs = np.split(ordered, cuts)
            if min(map(len, runs)) >= k:
                best = min(best, sum(((run - run.mean()) ** 2).sum() for run in runs))
    return best


@given(seeds, st.integers(2, 12), st.integers(2, 4))
@settings(max_examples=at_length(30, 60))
def test_the_best_groups_on_a_line_are_the_best(seed, records, k):
    k = min(k, records)
    frame = pd.DataFrame({"a": rng(seed).exponential(size=records) * 1e5 + 1e6})
    found = microaggregation(frame, k, method="optimal")
    lost = ((frame - found.released) ** 2).to_numpy().sum()
    assert lost == pytest.approx(cheapest(frame.a.to_numpy(), k))
    assert lost <= ((frame - microaggregation(frame, k).released) ** 2).to_numpy().sum() * (
        1 + 1e-9
    )


def test_microaggregation_by_hand():
    frame = pd.DataFrame({"a": [1, 2, 3, 10, 11, 30, 31]}, index=list("tuvwxyz"))
    found = microaggregation(frame, 2, method="optimal").released
    assert found.a.to_dict() == dict(zip("tuvwxyz", [2, 2, 2, 10.5, 10.5, 30.5, 30.5], strict=True))


# Coding and rounding


def test_top_and_bottom_coding_by_hand():
    column = pd.Series([1, 5, 9, 20, 40], name="income", index=list("abcde"))
    assert top_bottom_coding(column, top=10).tolist() == [1, 5, 9, 10, 10]
    assert top_bottom_coding(column, bottom=5, top=20).tolist() == [5, 5, 9, 20, 20]
    kept = top_bottom_coding(column, top=10, replacement="mean")
    assert kept.tolist() == [1, 5, 9, 30, 30]
    assert kept.sum() == column.sum()
    assert top_bottom_coding(column, bottom=0, replacement="mean").tolist() == column.tolist()
    assert top_bottom_coding(column, top=9.5).tolist() == [1, 5, 9, 9.5, 9.5]
    assert top_bottom_coding(column, top=10).dtype == column.dtype


def test_rounding_by_hand():
    assert rounding(pd.Series([1, 2, 3, 7, 8, -4]), 5).tolist() == [0, 0, 5, 5, 10, -5]
    assert rounding(pd.Series([5, 15, 25]), 10).tolist() == [0, 20, 20]
    assert rounding(pd.Series([250], dtype="uint8"), 100).tolist() == [200]
    assert rounding(pd.Series([251, 0], dtype="uint8"), 100).tolist() == [300, 0]
    assert rounding(pd.Series([0.3, 0.26]), 0.1).tolist() == pytest.approx([0.3, 0.3])


@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=40),
    st.integers(1, 50),
    seeds,
    st.booleans(),
)
@settings(max_examples=at_length(40, 80))
def test_random_rounding_goes_to_a_neighbour(numbers, base, seed, controlled):
    column = pd.Series(numbers)
    found = random_rounding(column, base, rng(seed), controlled=controlled)
    assert (found % base == 0).all()
    assert ((found - column).abs() < base).all()
    if controlled:
        assert ((found - column).cumsum().abs() < base + 1e-6).all()


@pytest.mark.parametrize("controlled", [True, False])
def test_random_rounding_is_unbiased(controlled):
    column = pd.Series([1, 4, 5, 7, 13])
    drawn = rng(7)
    found = [random_rounding(column, 5, drawn, controlled=controlled) for _ in range(600)]
    assert np.mean(found, axis=0) == pytest.approx(column.to_numpy(), abs=0.3)


# What is refused


@pytest.mark.parametrize(
    ("masked", "why"),
    [
        (lambda f: additive_noise(f.assign(a=["x"] * 4), 0.1, rng()), "'a' holds no numbers"),
        (lambda f: additive_noise(f.assign(a=[1, None, 2, 3]), 0.1, rng()), "'a' misses 1 values"),
        (lambda f: additive_noise(f.assign(a=[1, np.inf, 2, 3]), 0.1, rng()), "no finite numbers"),
        (
            lambda f: additive_noise(f.assign(a=[True] * 4), 0.1, rng()),
            "'a' holds no numbers",
        ),
        (lambda f: additive_noise(f, 0, rng()), "share = 0 must be a finite number above 0"),
        (lambda f: additive_noise(f, np.nan, rng()), "share = nan must be a finite number above 0"),
        (lambda f: correlated_noise(f, "1", rng()), "share = '1' must be a finite number above 0"),
        (lambda f: additive_noise(f, 0.1, 7), "rng must be a generator of NumPy"),
        (lambda f: additive_noise(f.head(0), 0.1, rng()), "no records, or no columns"),
        (
            lambda f: additive_noise([1, 2], 0.1, rng()),
            "of numbers is needed, not list",
        ),
        (lambda f: additive_noise(f[["a", "a"]], 0.1, rng()), "two columns have the same name"),
        (
            lambda f: rank_swapping(f, 101, rng()),
            "percent = 101 must be a finite number above 0",
        ),
        (lambda f: rank_swapping(f, 20, rng()), "take at least 25"),
        (lambda f: microaggregation(f, 5), "k = 5 is more than there are records, 4"),
        (lambda f: microaggregation(f, 1), "k = 1 must be a whole number of at least 2"),
        (lambda f: microaggregation(f, 2.5), "k = 2.5 must be a whole number"),
        (lambda f: microaggregation(f, 2, method="best"), "method = 'best' is unknown"),
        (lambda f: microaggregation(f, 2, method="optimal"), "for one column, not 2"),
        (lambda f: top_bottom_coding(f.a), "neither bottom nor top is given"),
        (lambda f: top_bottom_coding(f.a, bottom=3, top=3), "bottom = 3 must be below top = 3"),
        (lambda f: top_bottom_coding(f.a, top=3, replacement="x"), "replacement = 'x' is unknown"),
        (lambda f: top_bottom_coding(f, top=3), "a column of numbers is needed, not DataFrame"),
        (lambda f: rounding(f.a, 0), "base = 0 must be a finite number above 0"),
        (lambda f: rounding(f.a, 1e-300), "too small compared with the numbers"),
        (lambda f: random_rounding(f.a, -5, rng()), "base = -5 must be a finite number above 0"),
        (lambda f: pram(pd.Series(["a", None]), None, rng()), "misses 1 values"),
        (
            lambda f: pram(pd.Series(["a", "b"]), np.eye(3), rng()),
            r"shape \(3, 3\), but the column 2",
        ),
        (lambda f: pram(pd.Series(["a", "b"]), [[1, 0], [1, 1]], rng()), "row 1 sums to 2"),
        (
            lambda f: pram(pd.Series(["a", "b"]), pd.DataFrame([[1.0]], ["a"], ["a"]), rng()),
            "no rows for 1 of 2 values",
        ),
        (lambda f: pram(pd.Series([], dtype=str), None, rng()), "a column with records"),
        (lambda f: pram(pd.Series(["a"]), None, rng(), alpha=2), "alpha = 2 must be"),
        (
            lambda f: pram(pd.Series(["a"]), None, rng(), least_diagonal=0),
            "least_diagonal = 0 must be a finite number above 0 and at most 1",
        ),
        (
            lambda f: invariant_channel(Channel(np.eye(2), (1, 2), (1, 2)), [1, 0]),
            "margin must hold numbers above 0",
        ),
        (
            lambda f: invariant_channel(Channel(np.eye(2), (1, 2), (1, 2)), [1]),
            "one number for each of 2 values",
        ),
        (lambda f: random_channel((), rng()), "no values to be randomized"),
        (lambda f: rounding(f.a * 1e200, 5), "column 'a' holds numbers beyond 1e"),
        (lambda f: rounding(f.a.astype(int) * 10**17, 5), r"holds numbers beyond 9.01e\+15"),
    ],
)
def test_what_is_refused(masked, why):
    with pytest.raises(InputError, match=why) as caught:
        masked(pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [4.0, 3, 2, 2]}))
    assert "\n" not in str(caught.value)
