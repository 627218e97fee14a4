"""The minimality attack: hand-worked, against all permutations, and by draws against all worlds."""

import json
from collections import Counter
from itertools import chain, permutations, product
from math import comb, isclose, log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from strategies import nested_rows, problem_of, tables

from anonymizer import Anonymizer, Fixed, FullDomain, Hierarchy, InputError
from anonymizer.objectives import OBJECTIVES
from anonymizer.privacy import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    MeanInformation,
    PrivacyModel,
    TCloseness,
)
from anonymizer.recoding import Problem, solve
from anonymizer.recoding.lattice import Node
from anonymizer.release.manifest import Manifest
from anonymizer.risk.audit import obstacle
from anonymizer.risk.minimality import Minimality, MinimalityEvidence, minimality
from anonymizer.risk.worlds import (
    Pattern,
    Setting,
    classes_at,
    conjunction,
    drawn,
    enumerated,
    specializations,
)

SUPPRESS = Hierarchy.suppression()
UNUSED = np.random.default_rng(0)


def table_of(rows: dict[str, str]) -> pd.DataFrame:
    """A table of one quasi-identifier a, from the sensitive values of each of its values."""
    pairs = [(value, w) for value, each in rows.items() for w in each]
    return pd.DataFrame(pairs, columns=["a", "w"])


def attacked(
    table: pd.DataFrame, models: list[PrivacyModel], node: Node, draws: int = 2000, seed: int = 0
) -> Minimality:
    """Attack a release of quasi-identifiers that are suppressed or not."""
    names = [name for name in table.columns if name != "w"]
    problem = problem_of(table, dict.fromkeys(names, SUPPRESS), models)
    rng = np.random.default_rng(seed)
    return minimality(problem.counts, problem.taxonomies, node, models, rng, draws)


def test_the_example_of_wong_and_others():
    """Two of q1 and four of q2, two of the six with HIV, at most half of whom may have it.

    q2 could not have broken that, whoever has it; so q1 did, both have it: one world of 15.
    """
    table = table_of({"1": "hh", "2": "nnnn"})
    limit = BasicBetaLikeness(0.5)  # of HIV, a third of all, at most half; of none, all
    found = attacked(table, [limit], (1,))
    assert (found.method, found.reveals) == ("exact", True)
    assert (found.specializations, found.certain) == (1, 0)
    assert found.probability == pytest.approx(1 / 15)
    assert found.largest_share == pytest.approx(4 / 6)
    assert found.largest_posterior == pytest.approx(1.0)
    assert found.factor == pytest.approx(3.0)
    assert found.surprise == pytest.approx(log2(3))
    assert found.records_raised == 6
    assert found.records_breached == 2  # believing of q2 that they have none breaks nothing
    assert (found.draws, found.accepted, found.standard_error) == (0, 0, 0.0)


def test_entropy_diversity_worked_by_hand():
    """Two of a and four of b share xxxyyy; l = 1.5 asks of a both values, of b one each at least.

    a has two alike with 2 C(3,2) / C(6,2) = 2/5, when b has 1 and 3 of them, H = 0.811 >= log 1.5.
    """
    found = attacked(table_of({"1": "xx", "2": "xyyy"}), [EntropyLDiversity(1.5)], (1,))
    assert found.probability == pytest.approx(2 / 5)
    assert found.largest_posterior == pytest.approx(0.5)  # whether both are x or y is open
    assert (found.reveals, found.records_raised, found.records_breached) == (True, 0, 0)
    assert found.factor == pytest.approx(1.0)


def test_a_class_that_is_small_breaks_the_policy_in_every_world():
    found = attacked(table_of({"1": "x", "2": "xyyy"}), [DistinctLDiversity(2)], (1,))
    assert (found.method, found.reveals, found.certain) == ("exact", False, 1)
    assert (found.probability, found.largest_posterior) == (1.0, found.largest_share)


@settings(max_examples=at_length(20, 40))
@given(st.data())
def test_class_sizes_alone_reveal_nothing(data):
    table = data.draw(tables(2, records=30))
    hierarchies = {
        name: Hierarchy.from_rows(data.draw(nested_rows(sorted(set(table[name]))))) for name in "ab"
    }
    models = [KAnonymity(data.draw(st.integers(1, len(table))))]
    problem = problem_of(table, hierarchies, models)
    node = solve(problem).node
    found = minimality(problem.counts, problem.taxonomies, node, models, UNUSED)
    assert found.method == "exact"
    assert not found.reveals
    assert found.certain == found.specializations
    assert found.largest_posterior == found.largest_share
    assert (found.probability, found.factor, found.surprise) == (1.0, 1.0, 0.0)


def labels_at(table: pd.DataFrame, hierarchies: dict[str, Hierarchy], node: Node) -> list[tuple]:
    """What each record is released as."""
    chains = [
        [(value, *map(str, hierarchies[name].labels(value)))[level] for value in table[name]]
        for name, level in zip(hierarchies, node, strict=True)
    ]
    return list(zip(*chains, strict=True))


def grouped(labels: list[tuple], values: tuple) -> list[list]:
    classes: dict[tuple, list] = {}
    for label, value in zip(labels, values, strict=True):
        classes.setdefault(label, []).append(value)
    return list(classes.values())


def shares_satisfy(model: PrivacyModel, shares: list[float]) -> bool:
    if isinstance(model, DistinctLDiversity):
        return sum(share > 0 for share in shares) >= model.l
    if isinstance(model, EntropyLDiversity):
        return -sum(share * log2(share) for share in shares if share) >= log2(model.l) - 1e-9
    return max(shares) <= model.alpha + 1e-9


def satisfies(models: list[PrivacyModel], values: list) -> bool:
    shares = [count / len(values) for count in Counter(values).values()]
    return all(
        len(values) >= model.k if isinstance(model, KAnonymity) else shares_satisfy(model, shares)
        for model in models
    )


def worlds_of(labels: list[tuple], values: tuple) -> list[tuple]:
    """Every way to deal the values of each class to its records; as many permutations make each."""
    places: dict[tuple, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label, []).append(place)
    found = []
    for dealt in product(*(set(permutations([values[i] for i in own])) for own in places.values())):
        order = dict(zip(chain(*places.values()), chain(*dealt), strict=True))
        found.append(tuple(order[i] for i in range(len(values))))
    return found


def expected(table, hierarchies, node, models):
    """The attack by brute force: probability, largest posterior, factor, surprise, records."""
    values = tuple(table["w"])
    released = labels_at(table, hierarchies, node)
    lower = [labels_at(table, hierarchies, each) for each in finer_of(node)]
    lower = [labels for labels in lower if len(set(labels)) > len(set(released))]
    everything = worlds_of(released, values)
    left = [
        world
        for world in everything
        if not any(all(satisfies(models, c) for c in grouped(labels, world)) for labels in lower)
    ]
    factor, surprise, largest, raised, breached = 1.0, 0.0, 0.0, 0, 0
    for place in range(len(values)):
        own = [v for v, label in zip(values, released, strict=True) if label == released[place]]
        before = {w: own.count(w) / len(own) for w in set(own)}
        after = {w: sum(world[place] == w for world in left) / len(left) for w in before}
        factor = max(factor, *(after[w] / before[w] for w in before))
        bits = sum(after[w] * log2(after[w] / before[w]) for w in before if after[w])
        surprise, largest = max(surprise, bits), max(largest, *after.values())
        raised += max(after.values()) > max(before.values()) + 0.01
        moved = any(not isclose(after[w], before[w], abs_tol=1e-9) for w in before)
        sensitive = [model for model in models if model.sensitive]
        breached += moved and not all(shares_satisfy(m, list(after.values())) for m in sensitive)
    return len(left) / len(everything), largest, factor, surprise, raised, breached


def finer_of(node: Node) -> list[Node]:
    """All strictly finer nodes along one attribute."""
    return [
        (*node[:axis], level, *node[axis + 1 :])
        for axis, height in enumerate(node)
        for level in range(height)
    ]


@st.composite
def released(draw: st.DrawFn):
    """A small table of two values per quasi-identifier, or three, and the best node of a policy.

    Under bounds that the classes of such tables are near to, and that a finer class may break or
    not.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records, values = draw(st.integers(5, 8)), draw(st.integers(2, 3))
    table = pd.DataFrame(
        {
            "a": rng.choice([*"112"], records),
            "b": rng.choice([*"11112"], records) if draw(st.booleans()) else "1",
            "w": rng.choice([*"xyz"[:values]], records),
        }
    )
    hierarchies = {
        name: Hierarchy.from_rows(draw(nested_rows(sorted(set(table[name]))))) for name in "ab"
    }
    p = table["w"].value_counts(normalize=True)
    bits = float(-(p * np.log2(p)).sum())
    near = draw(st.floats(0.5, 1))
    kinds = [
        DistinctLDiversity(len(p)),
        EntropyLDiversity(2 ** (near * bits)),
        AlphaKAnonymity(1 - near * (1 - float(p.max())), 1),
    ]
    models = [KAnonymity(draw(st.integers(1, 2))), draw(st.sampled_from(kinds))]
    problem = problem_of(table, hierarchies, models)
    return table, hierarchies, problem, solve(problem).node


@settings(max_examples=at_length(20, 40))
@given(released())
def test_exact_as_by_all_permutations(case):
    table, hierarchies, problem, node = case
    found = minimality(problem.counts, problem.taxonomies, node, problem.models, UNUSED)
    probability, largest, factor, surprise, raised, breached = expected(
        table, hierarchies, node, problem.models
    )
    assert found.method == "exact"
    assert found.probability == pytest.approx(probability)
    assert found.reveals == (probability < 1)
    assert found.largest_posterior == pytest.approx(largest)
    assert found.factor == pytest.approx(factor)
    assert found.surprise == pytest.approx(surprise, abs=1e-9)
    assert (found.records_raised, found.records_breached) == (raised, breached)


def evidence_of(problem: Problem, node: Node, draws: int = 10_000) -> MinimalityEvidence:
    """Whatever the policy says of every finer release, certain or not."""
    counts = problem.counts
    models = [model for model in problem.models if model.sensitive]
    setting = Setting.of(counts, "w", classes_at(counts, problem.taxonomies, node), models)
    finer = list(specializations(counts, problem.taxonomies, node).values())
    return MinimalityEvidence.of(setting, finer, draws, np.random.default_rng(7))


SKEWED = table_of({"1": "xxyy", "2": "xyyyyz", "3": "xyyzz"})
CROSSED = pd.DataFrame(
    {
        "a": [*"111222333111222333"],
        "b": [*"112212121212121211"],
        "w": [*"xxyzyxyzzxyyxxyzxy"],
    }
)


@pytest.mark.parametrize(
    ("table", "models"),
    [
        (SKEWED, [EntropyLDiversity(2)]),
        (SKEWED, [TCloseness(0.3, "equal")]),
        (CROSSED, [EntropyLDiversity(2)]),
        (CROSSED, [DistinctLDiversity(3)]),
    ],
)
def test_draws_agree_with_all_worlds(monkeypatch, table, models):
    names = [name for name in table.columns if name != "w"]
    problem = problem_of(table, dict.fromkeys(names, SUPPRESS), models)
    node = (1,) * len(names)
    monkeypatch.setattr("anonymizer.risk.worlds.MOST_TABLES", 20_000)
    exact = evidence_of(problem, node)
    monkeypatch.setattr("anonymizer.risk.worlds.MOST_TABLES", 0)
    sampled = evidence_of(problem, node)
    assert exact.draws == 0 < sampled.draws
    p, seen = exact.probability[0], sampled.accepted / sampled.draws
    assert 0 < p < 1
    deviation = np.sqrt(p * (1 - p) / sampled.draws)
    assert seen == pytest.approx(p, abs=5 * deviation)
    assert sampled.probability[0] == pytest.approx(p, abs=5 * deviation)
    truth, estimate = exact.beliefs(), sampled.beliefs()
    assert np.abs(truth.belief - truth.share).max() > 0.005
    assert (np.abs(truth.belief - estimate.belief) <= 5 * estimate.error).all()
    assert (estimate.error < 0.05).all()
    assert (truth.records == estimate.records).all()


def test_a_sampled_attack_says_so(monkeypatch):
    exact = attacked(SKEWED, [EntropyLDiversity(2.1)], (1,))
    monkeypatch.setattr("anonymizer.risk.worlds.MOST_TABLES", 0)
    sampled = attacked(SKEWED, [EntropyLDiversity(2.1)], (1,), draws=19_999)
    assert (exact.method, sampled.method) == ("exact", "sampled")
    assert sampled.draws == 20_000
    assert 100 <= sampled.accepted < sampled.draws
    assert sampled.reveals
    off = 5 * max(sampled.standard_error, 1 / sampled.accepted)
    assert sampled.largest_posterior == pytest.approx(exact.largest_posterior, abs=off)
    assert sampled.factor <= exact.factor * 1.1


def test_the_same_seed_gives_the_same_result(monkeypatch):
    monkeypatch.setattr("anonymizer.risk.worlds.MOST_TABLES", 0)
    first, again, other = (
        attacked(SKEWED, [EntropyLDiversity(2.1)], (1,), seed=seed) for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize(("most", "draws"), [(100, 0), (0, 2000)])
def test_classes_beyond_doubt_are_not_looked_at(monkeypatch, most, draws):
    """Each of 400 classes of two x and two y is split into alike pairs in a third of its worlds."""
    monkeypatch.setattr("anonymizer.risk.worlds.MOST_TABLES", most)
    rows = [[f"{n}-{half}", f"{n}", "*"] for n in range(400) for half in (1, 2)]
    table = table_of({row[0]: "xx" if row[0].endswith("1") else "yy" for row in rows})
    problem = problem_of(table, {"a": Hierarchy.from_rows(rows)}, [EntropyLDiversity(1.5)])
    found = evidence_of(problem, (1,), 2000)
    assert found.draws == draws
    assert len(found.parts) == pytest.approx(69, abs=9 if draws else 0)  # (2 / 3)^69 < 1e-12
    assert found.probability[0] == pytest.approx(1)
    assert found.beliefs().belief == pytest.approx(0.5, abs=1e-9)


def test_what_is_too_rare_among_the_draws_is_unknown():
    """30 of each value, drawn apart completely: of C(60, 30) worlds two."""
    table = table_of({"1": "x" * 30, "2": "y" * 30})
    found = attacked(table, [EntropyLDiversity(1.01)], (1,))
    assert found.method == "exact"  # one table per number of x
    assert found.probability == pytest.approx(2 / comb(60, 30))
    many = table_of({"1": "vwxyz" * 40, "2": "vwxyzabc" * 40, "3": "v" * 40})
    lost = attacked(many, [DistinctLDiversity(2)], (1,), draws=400)
    assert (lost.method, lost.reveals, lost.accepted, lost.draws) == ("unknown", True, 0, 400)
    assert lost.reason.startswith("all finer releases break the policy in 0 of 400 worlds drawn")
    assert lost.probability_below == pytest.approx(1 - 20 ** (-1 / 400))
    assert lost.probability is None
    assert lost.largest_posterior is None
    assert lost.records_raised is None
    assert lost.largest_share == pytest.approx((40 + 40 + 40) / (200 + 320 + 40))


def test_the_bound_on_a_rare_probability_covers_it():
    some = MinimalityEvidence([], np.array([0.02]), [], 1000, 20)
    share, high = 0.02, some.below
    nats = share * np.log(share / high) + (1 - share) * np.log((1 - share) / (1 - high))
    assert high > share
    assert nats == pytest.approx(np.log(20) / 1000)
    assert MinimalityEvidence([], np.array([1.0]), [], 1000, 1000).below == 1.0


def test_levels_that_group_the_same_are_skipped():
    """Level 1 merges a value that nobody has: the release below is level 0."""
    hierarchy = Hierarchy.from_rows([["1", "1", "*"], ["2", "2", "*"], ["3", "2", "*"]])
    models = [EntropyLDiversity(1.5)]
    problem = problem_of(table_of({"1": "xx", "2": "xyyy"}), {"a": hierarchy}, models)
    finer = specializations(problem.counts, problem.taxonomies, (2,))
    assert list(finer) == [(1,)]
    assert specializations(problem.counts, problem.taxonomies, (1,)) == {}
    below = Hierarchy.from_rows([["1", "a", "a"], ["2", "b", "b"], ["3", "b", "b"]])
    three = table_of({"1": "xy", "2": "xx", "3": "yy"})
    problem = problem_of(three, {"a": below}, models)
    assert list(specializations(problem.counts, problem.taxonomies, (2,))) == [(0,)]


def test_releases_that_are_not_minimal_are_not_applicable():
    table = table_of({"1": "xy", "2": "xy"})
    found = attacked(table, [DistinctLDiversity(2)], (1,))
    assert found == Minimality.not_applicable(
        "a direct specialization satisfies the policy too: the search required more than it"
    )
    broken = attacked(table, [DistinctLDiversity(3)], (1,))
    assert broken.reason == (
        "not applicable: the levels released do not satisfy the policy, so that it is not the one "
        "searched"
    )
    assert (broken.method, broken.reveals, broken.probability) == ("not applicable", None, None)


def test_what_cannot_be_worked_out_is_unknown():
    table = table_of({"1": "xx", "2": "xyyy"})
    mean = attacked(table, [MeanInformation(0.1)], (1,))
    assert (mean.method, mean.reveals) == ("unknown", None)
    assert mean.reason.startswith("mean-information is about all classes together")
    seven = table.assign(**dict.fromkeys("bcdefg", table["a"]))
    many = attacked(seven, [EntropyLDiversity(1.5)], (1,) * 7)
    assert many.reason == "7 finer releases are of uncertain verdict, more than 6"
    assert (many.method, many.specializations, many.certain) == ("unknown", 7, 0)
    six = attacked(seven.drop(columns="g"), [EntropyLDiversity(1.5)], (1,) * 6)
    assert six.probability == pytest.approx(2 / 5)


def two_sensitive(models: list[PrivacyModel], first: str) -> Minimality:
    table = pd.DataFrame({"a": [*"112222"], "v": [*first], "w": [*"xxxyyy"]})
    anonymizer = Anonymizer(quasi_identifiers={"a": SUPPRESS}, sensitive=["v", "w"], privacy=models)
    counted = anonymizer.task(table).counted
    return minimality(counted.counts, counted.taxonomies, (1,), models, UNUSED)


def test_several_sensitive_attributes():
    """One that no model is about is left out; one that settles everything leaves no doubt."""
    only = two_sensitive([EntropyLDiversity(1.5, attribute="w")], "xxyyyy")
    assert (only.method, only.probability) == ("exact", pytest.approx(2 / 5))
    both = two_sensitive([EntropyLDiversity(1.5)], "xyxyxy")
    assert both.method == "unknown"
    assert both.reason.startswith("the policy is about 2 sensitive attributes")
    settled = two_sensitive(
        [DistinctLDiversity(3, attribute="v"), DistinctLDiversity(2, attribute="w")], "xyzxyz"
    )
    assert (settled.method, settled.reveals, settled.certain) == ("exact", False, 1)


def manifest_of(**options) -> Manifest:
    table = table_of({"1": "xx", "2": "xyyy"})
    asked = {"privacy": [EntropyLDiversity(1.5)], **options}
    anonymizer = Anonymizer(quasi_identifiers={"a": SUPPRESS}, sensitive="w", **asked).fit(table)
    return anonymizer.release_.steward_manifest


def changed(manifest: Manifest, **search: object) -> Manifest:
    return manifest.model_copy(update={"search": manifest.search.model_copy(update=search)})


def test_obstacles():
    assert obstacle(manifest_of(), ["a"]) is None
    assert "levels were given" in obstacle(manifest_of(recoding=Fixed({"a": 1})), ["a"])
    suppressing = manifest_of(recoding=FullDomain(suppression=0.5, suppress="any"))
    assert "records may be suppressed" in obstacle(suppressing, ["a"])
    assert "records may be suppressed" in obstacle(manifest_of(), ["a"], suppression=0.1)
    assert "may rise" in obstacle(manifest_of(objective="miller-madow"), ["a"])
    assert "not every quasi-identifier" in obstacle(manifest_of(), ["a", "b"])
    assert "did not prove" in obstacle(changed(manifest_of(), proven=False), ["a"])
    regional = manifest_of().model_copy(update={"regions": [{"a": "*"}]})
    assert "groups of its own" in obstacle(regional, ["a"])


def test_every_objective_is_told_apart():
    rising = {name for name, kind in OBJECTIVES.items() if not kind.falls}
    for name in OBJECTIVES:
        manifest = changed(manifest_of(), objective=name)
        assert (obstacle(manifest, ["a"]) is not None) == (name in rising)


@pytest.mark.parametrize(
    ("node", "draws", "message"),
    [
        ((2,), 100, r"levels \[2\] are no node of the lattice, whose highest are \[1\]"),
        ((1, 0), 100, r"levels \[1, 0\] are no node"),
        ((1,), 0, r"draws = 0 must be a whole number of at least 1"),
    ],
)
def test_errors(node, draws, message):
    with pytest.raises(InputError, match=message):
        attacked(table_of({"1": "xx", "2": "xyyy"}), [EntropyLDiversity(1.5)], node, draws)


WORDS = ("method", "reason", "attacked", "unsimulated")


def test_a_result_holds_numbers_only():
    found = attacked(table_of({"1": "hh", "2": "nnnn"}), [BasicBetaLikeness(0.5)], (1,)).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["method"] == "exact"
    numbers = {key: value for key, value in found.items() if key not in WORDS}
    assert all(value is None or isinstance(value, bool | int | float) for value in numbers.values())


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 3), st.integers(0, 2**32)
)
def test_worlds_are_all_permutations(sizes, values, seed):
    rng = np.random.default_rng(seed)
    records = rng.integers(0, values, sum(sizes))[:7]
    sizes = [size for size in np.diff([0, *np.minimum(np.cumsum(sizes), 7)]).tolist() if size]
    margin = np.bincount(records, minlength=values)
    cells = np.repeat(np.arange(len(sizes)), sizes)
    times: Counter = Counter()
    for order in permutations(records.tolist()):
        table = np.zeros((len(sizes), values), int)
        np.add.at(table, (cells, list(order)), 1)
        times[table.tobytes()] += 1
    found, probabilities = enumerated(np.array(sizes), margin, 10_000)
    known = {table.tobytes(): p for table, p in zip(found, probabilities, strict=True)}
    assert len(known) == len(found) == len(times)
    for table, time in times.items():
        assert known[table] == pytest.approx(time / times.total())
    assert enumerated(np.array(sizes), margin, len(found)) is not None
    assert enumerated(np.array(sizes), margin, len(found) - 1) is None


def test_draws_are_multivariate_hypergeometric():
    sizes, margin = np.array([3, 1, 2, 2, 4]), np.array([5, 4, 3])
    tables_drawn = drawn(sizes, margin, 20_000, np.random.default_rng(3))
    assert (tables_drawn.sum(axis=2) == sizes).all()
    assert (tables_drawn.sum(axis=1) == margin).all()
    assert (tables_drawn >= 0).all()
    every, probabilities = enumerated(sizes, margin, 20_000)
    times = Counter(table.tobytes() for table in tables_drawn)
    assert set(times) <= {table.tobytes() for table in every}
    likely = probabilities > 20 / 20_000
    seen = np.array([times[table.tobytes()] for table in every[likely]])
    mean = 20_000 * probabilities[likely]
    assert (np.abs(seen - mean) < 5 * np.sqrt(mean)).all()
    assert likely.sum() > 50


@given(st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**32))
def test_conjunctions_as_by_all_combinations(events, classes, seed):
    rng = np.random.default_rng(seed)
    patterns = []
    for _ in range(classes):
        bits = rng.permutation(1 << events)[: rng.integers(1, (1 << events) + 1)]
        patterns.append(Pattern(bits, rng.dirichlet(np.ones(len(bits)), size=2)))
    probability, given_patterns = conjunction(patterns, events)
    whole, of = np.zeros(2), [np.zeros_like(pattern.weights) for pattern in patterns]
    for choice in product(*(range(len(pattern.bits)) for pattern in patterns)):
        own = [pattern.bits[place] for pattern, place in zip(patterns, choice, strict=True)]
        if np.bitwise_or.reduce(own) == (1 << events) - 1:
            likely = [p.weights[:, place] for p, place in zip(patterns, choice, strict=True)]
            whole += np.prod(likely, axis=0)
            for number, place in enumerate(choice):
                others = likely[:number] + likely[number + 1 :]
                of[number][:, place] += np.prod(others, axis=0) if others else 1
    np.testing.assert_allclose(probability, whole, atol=1e-12)
    for found, worked_out in zip(given_patterns, of, strict=True):
        np.testing.assert_allclose(found, worked_out, atol=1e-12)


def test_real_adult_by_draws(adult):
    """Sex alone is released; that a finer release fails narrows down who has which status."""
    names = ["age", "sex", "race", "education"]
    hierarchies = dict.fromkeys(names, SUPPRESS) | {"age": Hierarchy.ranges(widths=[25, 50])}
    models = [TCloseness(0.55, "kl"), EntropyLDiversity(2.7)]
    anonymizer = Anonymizer(
        quasi_identifiers=hierarchies, sensitive="marital-status", privacy=models
    )
    counted = anonymizer.task(adult).counted
    found = minimality(
        counted.counts, counted.taxonomies, (3, 0, 1, 1), models, np.random.default_rng(0), 2000
    )
    assert (found.method, found.reveals, found.specializations) == ("sampled", True, 3)
    assert 100 <= found.accepted < 400
    assert found.probability == pytest.approx(0.107, abs=0.04)
    assert found.largest_posterior < 0.7
