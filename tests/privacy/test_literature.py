"""The plain definitions themselves: by hand, as published, and closed forms against the optimum."""

from collections import Counter
from math import e, exp, inf, isinf, log, log2

import literature
import pytest
from hypothesis import given
from hypothesis import strategies as st
from literature import EULER

SALARIES = [3, 4, 5, 6, 7, 8, 9, 10, 11]
"""In thousands, of the nine records of Li et al. (2007)."""

DISEASES = {
    "gastric ulcer": ("stomach", "digestive"),
    "gastritis": ("stomach", "digestive"),
    "stomach cancer": ("stomach", "digestive"),
    "colitis": ("colon", "digestive"),
    "flu": ("infection", "respiratory"),
    "pneumonia": ("infection", "respiratory"),
    "bronchitis": ("infection", "respiratory"),
    "pulmonary embolism": ("vascular", "respiratory"),
}
CHAINS = {disease: (disease, *labels, "*") for disease, labels in DISEASES.items()}
NINE = Counter(
    {"gastric ulcer": 1, "gastritis": 2, "stomach cancer": 2, "flu": 1, "pneumonia": 1}
    | {"bronchitis": 2}
)


def words(text: str) -> Counter:
    return Counter(text)


@pytest.mark.parametrize(
    ("group", "l", "bits"),
    [("aaaa", 1, 0), ("aabb", 2, 1), ("abcd", 4, 2), ("aabc", 3, 1.5), ("aaab", 2, 0.811278)],
)
def test_values_of_a_class(group, l, bits):  # noqa: E741
    assert literature.distinct(words(group)) == l
    assert literature.entropy(words(group)) == pytest.approx(bits, abs=1e-6)
    assert literature.entropy_l(words(group)) == pytest.approx(2**bits, abs=1e-6)


def test_values_that_do_not_occur_count_for_nothing():
    group, table = Counter(a=3, b=1, c=0), Counter(a=3, b=5, c=0)
    assert literature.distinct(group) == 2
    assert literature.recursive_c(group, 2) == 3
    assert literature.delta_disclosure(group, table) == pytest.approx(log2(5 / 2))
    for estimator in literature.ENTROPIES:
        only = literature.entropy_l(Counter(a=3, b=1), estimator)
        assert literature.entropy_l(group, estimator) == only


def test_entropy_as_miller_madow_estimate_it():
    # 3 of 4 and 1 of 4: one value more than one, of 4 records.
    bits = 0.8112781 + 1 / (8 * log(2))
    assert literature.entropy_miller_madow(words("aaab")) == pytest.approx(bits, abs=1e-6)
    assert literature.entropy_l(words("aaab"), "miller-madow") == pytest.approx(2**bits, abs=1e-6)
    assert literature.entropy_l(words("ab"), "miller-madow") == 2  # 1 + 1 / (4 ln 2) bits: capped


def test_entropy_as_grassberger_estimates_it():
    g1 = -EULER - log(2)
    g2 = 2 + g1
    g4 = g2 + 2 / 3
    # Four records: ln 4 less the mean over records of G(how many share their value).
    for group, mean in [
        ("aaab", (3 * g2 + g1) / 4),
        ("aabb", g2),
        ("aabc", (2 * g2 + 2 * g1) / 4),
        ("aaaa", g4),
    ]:
        bits = (log(4) - mean) / log(2)
        assert literature.entropy_grassberger(words(group)) == pytest.approx(bits)
        effective = min(exp(log(4) - mean), len(set(group)))
        assert literature.entropy_l(words(group), "grassberger") == pytest.approx(effective)
    assert literature.entropy_l(words("abcd"), "grassberger") == 4  # capped
    # Pure classes come out a little below 1 where they are of even size.
    assert literature.entropy_l(words("aa"), "grassberger") == pytest.approx(2 * exp(-g2))
    assert 2 * exp(-g2) == pytest.approx(0.964168, abs=1e-6)
    assert literature.entropy_l(words("a"), "grassberger") == 1


def test_estimates_come_near_the_truth_for_large_classes():
    group = Counter(a=60_000, b=30_000, c=10_000)
    for estimator in literature.ENTROPIES:
        assert literature.ENTROPIES[estimator](group) == pytest.approx(1.295462, abs=1e-4)


@pytest.mark.parametrize(
    ("group", "l", "c"),
    [
        ("aaab", 1, 3 / 4),
        ("aaab", 2, 3),
        ("aaab", 3, inf),
        ("aaabbc", 2, 1),
        ("aaabbc", 3, 3),
        ("ab", 2, 1),
    ],
)
def test_recursive_diversity(group, l, c):  # noqa: E741
    assert literature.recursive_c(words(group), l) == c


@pytest.mark.parametrize(
    ("salaries", "distance"),
    [([3, 4, 5], 0.375), ([6, 8, 11], 1 / 6), ([7, 7, 7], 5 / 18), (SALARIES, 0)],
)
def test_salaries_as_published(salaries, distance):
    """0.375 and 0.167 as in Li et al.; at 7 alone 20 ranks are travelled by 9 records."""
    group, table = Counter(salaries), Counter(SALARIES)
    assert literature.ordered(group, table, SALARIES) == pytest.approx(distance, abs=1e-12)
    assert literature.ordered_transport(group, table, SALARIES) == pytest.approx(distance)


def test_an_order_may_have_more_values_than_the_table():
    group, table = Counter({1: 1}), Counter({1: 1, 3: 1})
    assert literature.ordered(group, table, [1, 3]) == 0.5
    assert literature.ordered(group, table, [1, 2, 3]) == 0.5
    assert literature.ordered(group, table, [0, 1, 2, 3]) == pytest.approx(1 / 3)
    assert literature.ordered(Counter({1: 2}), Counter({1: 3}), [1]) == 0


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("flu", "flu", 0),
        ("flu", "bronchitis", 1 / 3),
        ("flu", "pulmonary embolism", 2 / 3),
        ("flu", "stomach cancer", 1),
    ],
)
def test_distances_between_diseases_as_published(one, other, distance):
    """Turning one disease into another: the distances of Li et al. themselves."""
    group, table = Counter([one]), Counter([one, other])  # half of the table is there already
    assert literature.hierarchical(group, table, CHAINS) == pytest.approx(distance / 2)
    assert literature.hierarchical_transport(group, table, CHAINS) == pytest.approx(distance / 2)


@pytest.mark.parametrize(
    ("diseases", "distance"),
    [
        # In ninths, stomach +2 -2 +1, infections -1 -2 +2: 2 each at 1/3, the 1 left over at 1.
        (["gastric ulcer", "stomach cancer", "pneumonia"], (2 / 3 + 2 / 3 + 1) / 9),
        # Stomach -1 +1 -2, infections +2 -1 +1.
        (["gastritis", "flu", "bronchitis"], (1 / 3 + 1 / 3 + 2) / 9),
        # Stomach -1 +1 +1, infections -1 -1 +1.
        (["gastritis", "bronchitis", "stomach cancer"], (1 / 3 + 1 / 3 + 1) / 9),
        # Stomach -1 -2 -2, infections -1 -1 +7: 2 at 1/3, 5 at 1.
        (["bronchitis", "bronchitis", "bronchitis"], (2 / 3 + 5) / 9),
    ],
)
def test_diseases_by_hand(diseases, distance):
    group = Counter(diseases)
    assert literature.hierarchical(group, NINE, CHAINS) == pytest.approx(distance, abs=1e-12)
    assert literature.hierarchical_transport(group, NINE, CHAINS) == pytest.approx(distance)


def test_a_hierarchy_without_levels_is_a_single_value():
    group = Counter(a=2)
    assert literature.hierarchical(group, Counter(a=3), {"a": ("a",)}) == 0
    assert literature.hierarchical_transport(group, Counter(a=3), {"a": ("a",)}) == 0


def test_closeness_likeness_and_disclosure_by_hand():
    # q = 3/4, 1/4, 0 against p = 1/2, 3/8, 1/8.
    group, table = words("aaab"), words("aaaabbbc")
    assert literature.equal(group, table) == 1 / 4
    assert literature.equal_transport(group, table) == pytest.approx(1 / 4)
    assert literature.ordered(group, table, "abc") == (1 / 4 + 1 / 8) / 2
    bits = 3 / 4 * log2(3 / 2) + 1 / 4 * log2(2 / 3)
    assert literature.divergence(group, table) == pytest.approx(bits)
    assert literature.alpha(group) == 3 / 4
    assert literature.basic_beta(group, table) == 1 / 2
    assert literature.enhanced_beta(group, table) == 1 / 2  # below -ln 1/2 = 0.69
    assert literature.delta_disclosure(group, table) == inf
    assert literature.bayesian_gain(group, table) == literature.value_gain(group, table) == 1 / 4


def test_disclosure_counts_what_becomes_rarer_as_well():
    # q = 1/4, 3/4 against p = 1/2, 1/2.
    assert literature.delta_disclosure(words("abbb"), words("aabb")) == 1
    assert literature.delta_disclosure(words("ab"), words("aabb")) == 0


def test_enhanced_likeness_that_no_beta_gives():
    # A gain of 1 where -ln 1/2 = 0.69 is allowed, whatever beta is.
    assert literature.basic_beta(words("a"), words("ab")) == 1
    assert isinf(literature.enhanced_beta(words("a"), words("ab")))
    # At p = 1/6 the gain may be up to ln 6 = 1.79: 1 is fine, 2 is not.
    table = Counter(a=1, b=5)
    assert literature.enhanced_beta(Counter(a=1, b=2), table) == pytest.approx(1)
    assert isinf(literature.enhanced_beta(Counter(a=1, b=1), table))
    assert literature.satisfies_enhanced(Counter(a=1, b=2), table, 1)
    assert not literature.satisfies_enhanced(Counter(a=1, b=2), table, 0.99)


def test_gains_differ_where_another_value_becomes_the_likeliest():
    # q = 2/5, 3/5 against p = 4/5, 1/5: the best guess is worse, b is likelier.
    group, table = Counter(a=2, b=3), Counter(a=8, b=2)
    assert literature.bayesian_gain(group, table) == pytest.approx(-1 / 5)
    assert literature.value_gain(group, table) == pytest.approx(2 / 5)


def test_whole_tables():
    assert literature.mean_information([words("aa"), words("bb")]) == 1
    assert literature.mean_information([words("ab"), words("abab")]) == 0
    known = 0.970951 - 0.8 * 0.811278  # {a: 3, b: 1} and {b: 1}
    assert literature.mean_information([words("aaab"), words("b")]) == pytest.approx(known, 1e-5)
    assert literature.average_risk([1, 2, 5]) == 3 / 8
    assert literature.highest_risk([4, 2, 5]) == 1 / 2


def test_classes_of_a_population():
    sample, population = Counter(x=2, y=1), Counter(x=8, y=1, z=3)
    assert [literature.k_map(label, population) for label in "xy"] == [8, 1]
    found = [literature.presence(label, sample, population) for label in "xyz"]
    assert found == [1 / 4, 1, 0]


counts = st.tuples(st.integers(0, 9), st.integers(0, 9))


def _some_inside(drawn: list[tuple[int, int]]) -> bool:
    return any(inside for inside, _ in drawn)


@st.composite
def classes(draw: st.DrawFn, values: int = 7) -> tuple[Counter, Counter]:
    """A class, not empty, and a table that it is part of."""
    drawn = draw(st.lists(counts, min_size=1, max_size=values).filter(_some_inside))
    group = Counter({i: inside for i, (inside, _) in enumerate(drawn) if inside})
    table = Counter({i: sum(both) for i, both in enumerate(drawn) if sum(both)})
    return group, table


@st.composite
def trees(draw: st.DrawFn, values: int = 7) -> dict[int, tuple]:
    """Nested levels over all values, the last one group."""
    chains = {value: (value,) for value in range(values)}
    for level in range(draw(st.integers(0, 3))):
        groups = sorted({labels[-1] for labels in chains.values()}, key=str)
        merged = {group: f"{level}-{draw(st.integers(0, 3))}" for group in groups}
        chains = {value: (*labels, merged[labels[-1]]) for value, labels in chains.items()}
    return {value: (*labels, "*") for value, labels in chains.items()}


@given(classes(), st.permutations(range(7)))
def test_closed_forms_are_the_least_work(both, order):
    group, table = both
    found = literature.equal_transport(group, table)
    assert literature.equal(group, table) == pytest.approx(found, abs=1e-9)
    found = literature.ordered_transport(group, table, order)
    assert literature.ordered(group, table, order) == pytest.approx(found, abs=1e-9)


@given(classes(), trees())
def test_the_closed_form_in_a_tree_is_the_least_work(both, chains):
    group, table = both
    found = literature.hierarchical_transport(group, table, chains)
    assert literature.hierarchical(group, table, chains) == pytest.approx(found, abs=1e-9)


@given(classes())
def test_trees_and_orders_of_one_level_are_the_equal_distance(both):
    group, table = both
    flat = {value: (value, "*") for value in table}
    assert literature.hierarchical(group, table, flat) == literature.equal(group, table)
    if len(table) == 2:
        assert literature.ordered(group, table, list(table)) == literature.equal(group, table)


@given(classes())
def test_what_follows_from_the_definitions(both):
    group, table = both
    bits = literature.divergence(group, table)
    l = literature.entropy_l(group)  # noqa: E741
    assert 1 - 1e-12 <= l <= literature.distinct(group) + 1e-9
    assert 1 / literature.alpha(group) <= l + 1e-9
    assert -1e-12 <= bits <= literature.delta_disclosure(group, table) + 1e-12
    assert bits <= log2(1 + literature.basic_beta(group, table)) + 1e-12
    assert literature.equal(group, table) ** 2 <= bits / (2 * log2(e)) + 1e-12  # Pinsker
    assert literature.bayesian_gain(group, table) <= literature.value_gain(group, table)
    assert 0 <= literature.value_gain(group, table) <= literature.equal(group, table)
    assert literature.basic_beta(group, table) <= literature.enhanced_beta(group, table)
