"""Recodings chosen without the sensitive values: what is counted, the noise, what follows."""

from collections import Counter
from math import exp
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import Hierarchy, InputError, KAnonymity, MutualInformation, TCloseness
from anonymizer.counts.counting import Counted
from anonymizer.counts.schema import Schema
from anonymizer.privacy import for_odds
from anonymizer.recoding import Problem, rehearsal
from anonymizer.recoding.rehearsal import (
    DiscreteLaplace,
    Groups,
    chosen_groups,
    groups_of,
    rehearsed,
)

AGES = Hierarchy.ranges(widths=[5, 20])
KNOWN = {"age": AGES, "sex": Hierarchy.of("suppress", attribute="sex")}


class Quiet(DiscreteLaplace):
    """No noise."""

    def draw(self) -> int:
        return 0


def problem_of(table: pd.DataFrame, sensitive: str = "w") -> Problem:
    known = {name: KNOWN[name] for name in table.columns if name != sensitive}
    counted = Counted.of(table, Schema(tuple(known), (sensitive,)), known, None)
    models = for_odds([KAnonymity(2), TCloseness(0.5, "equal")], 1.25)
    return Problem(counted.counts, counted.taxonomies, models, MutualInformation())


def people(records: int, seed: int, values: str = "abc") -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, records)
    return pd.DataFrame(
        {"age": age, "sex": rng.choice(["f", "m"], records), "w": rng.choice([*values], records)}
    )


@pytest.fixture
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance that is the same each time."""
    monkeypatch.setattr(rehearsal, "randbelow", Random(5).randrange)


@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("scale", [1, 3, 20])
def test_noise_has_the_law_that_the_proof_rests_on(scale):
    draws = 20_000
    found = Counter(DiscreteLaplace(scale).draw() for _ in range(draws))
    whole = (1 + exp(-1 / scale)) / (1 - exp(-1 / scale))  # the sum of exp(-|z| / scale)
    for z in range(-2 * scale, 2 * scale + 1):
        expected = draws * exp(-abs(z) / scale) / whole
        assert abs(found[z] - expected) < 5 * expected**0.5 + 1


@given(st.integers(0, 99), st.integers(2, 60), st.data())
def test_to_exchange_the_values_of_two_records_changes_each_table_by_four(seed, records, data):
    """So that noise of the scale 4 t m / ln(odds) makes an outcome odds times as likely at most."""
    table = people(records, seed)
    first, second = (data.draw(st.integers(0, records - 1)) for _ in range(2))
    other = table.copy()
    other.loc[[first, second], "w"] = table.loc[[second, first], "w"].to_numpy()
    problems = [problem_of(each) for each in (table, other)]
    odds = data.draw(st.sampled_from([1.25, 1e6, 1e30]))  # large ones have pairs counted
    (tables, noise), (same, _) = (chosen_groups(each, 3, odds, Quiet) for each in problems)
    assert all((own.group == its.group).all() for own, its in zip(tables, same, strict=True))
    before, after = (
        [groups.counted(each.counts.joint["w"]) for groups in tables] for each in problems
    )
    changes = [int(np.abs(a - b).sum()) for a, b in zip(before, after, strict=True)]
    assert changes[0] == 0  # that of everybody
    assert max(changes) <= 4
    assert sum(changes) / noise.scale <= np.log(odds) + 1e-9


def test_nothing_but_the_noisy_counts_says_anything_of_sensitive_values(monkeypatch):
    """Tables that differ in every sensitive value have the same rehearsals by the same counts."""
    fixed = np.random.default_rng

    def shown(table: pd.DataFrame) -> list[np.ndarray]:
        problem = problem_of(table)
        monkeypatch.setattr(rehearsal.np.random, "default_rng", lambda: fixed(1))
        made = rehearsed(problem, 1.25, by_bounds=False, noise=Quiet)
        assert made.counts.sensitive == tuple(f"w ({place})" for place in range(1, 11))
        assert [model.name for model in made.models] == ["k-anonymity", "t-closeness"]
        return list(made.counts.joint.values())

    table = people(300, 1)
    other = table.assign(w=table["w"].map({"a": "b", "b": "c", "c": "a"}))
    noisy = [np.array([100, 100, 100]), *([np.full((1, 3), 100)] * 2)]
    counted = rehearsal.noisy_counts
    sizes = {}

    def same(joint: np.ndarray, tables: list[Groups], noise: DiscreteLaplace) -> list[np.ndarray]:
        sizes["tables"] = [each.shape for each in counted(joint, tables, noise)]
        return [np.resize(noisy[0], shape) for shape in sizes["tables"]]

    monkeypatch.setattr(rehearsal, "noisy_counts", same)
    first, second = shown(table), shown(other)
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert all(each.sum(axis=1).tolist() == first[0].sum(axis=1).tolist() for each in first)


def test_without_noise_invented_tables_are_like_the_true_one():
    """What two quasi-identifiers do together is among what is counted."""
    table = people(20_000, 3)
    old, woman = table["age"] > 40, table["sex"] == "f"
    table["w"] = np.where(old & woman, "a", np.where(old ^ woman, "b", "c"))
    problem = problem_of(table)
    made = rehearsed(problem, 1e30, by_bounds=False, noise=Quiet).counts
    true = problem.counts.joint["w"]
    for joint in made.joint.values():
        assert np.abs(joint - true).sum() / 2 < 0.15 * 20_000


def test_groups_have_records_enough_and_follow_the_order_of_values():
    counts = problem_of(people(1_000, 4)).counts
    taxonomy = problem_of(people(1_000, 4)).taxonomies["age"]
    codes, sizes = counts.cells[:, 0], counts.sizes
    groups = groups_of(taxonomy, codes, sizes, 100.0)
    records = np.bincount(groups, sizes)
    assert 8 <= len(records) <= 10
    assert records[:-1].min() >= 50
    ages = np.array([int(value) for value in taxonomy.levels[0].labels])[codes]
    assert all(
        ages[groups == g].max() < ages[groups == g + 1].min() for g in range(len(records) - 1)
    )
    assert not groups_of(taxonomy, codes, sizes, 2_000.0).any()


def test_too_many_values_are_refused(monkeypatch):
    monkeypatch.setattr(rehearsal, "too_large", lambda joint: True)
    with pytest.raises(InputError, match="there are too many of both; coarsen"):
        rehearsed(problem_of(people(50, 1)), 1.25, by_bounds=False)
