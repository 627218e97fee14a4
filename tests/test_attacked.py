"""The attacker who knows the method against `audit`, briefly: see ``attacked``."""

from collections import Counter

import pandas as pd
import pytest
from attacked import NUMBERS, Tally, attacked, written
from simulated import Attacker, breaks, deals, permutations

SEVEN = pd.DataFrame(
    {"age": [1] * 3 + [2] * 4, "disease": ["HIV"] * 3 + ["flu", "cold", "flu", "asthma"]}
)


def hiding(table: pd.DataFrame) -> pd.DataFrame:
    """A black box: ages are released unless those of an age all have one disease."""
    apart = (table.groupby("age")["disease"].nunique() > 1).all()
    return table if apart else table.assign(age="*")


def test_an_attacker_by_hand():
    """Three of seven have HIV, and that all of them are of age 1 is one of 35 ways to deal."""
    found = Attacker(SEVEN, ["disease"], hiding).attack()
    assert found.share == 1 / 35
    assert found.records[0] == {("HIV",): 1.0}
    assert found.records[3] == {("flu",): 0.5, ("cold",): 0.25, ("asthma",): 0.25}
    # The ways in which records are alike stand for as many as there are.
    ways = [*deals([((1,), 3), ((2,), 4)], Counter(SEVEN["disease"]))]
    assert len(ways) == 11
    dealt = (permutations(way[(1,)]) * permutations(way[(2,)]) for way in ways)
    assert sum(dealt) == permutations(Counter(SEVEN["disease"]))


def test_draws_say_what_listing_says():
    spread = SEVEN.assign(disease=["a", "b", "a", "a", "b", "b", "a"])
    attacker = Attacker(spread, ["disease"], lambda table: table.assign(age="*"))
    exact, drawn = attacker.attack(), attacker.attack(most=0, draws=400)
    assert (exact.share, drawn.kept) == (1.0, 400)
    for own, right, error in zip(drawn.records, exact.records, drawn.errors or [], strict=True):
        assert all(abs(own[value] - p) < 4 * error[value] for value, p in right.items())


def test_what_breaks_a_policy_by_hand():
    everybody, even = Counter(a=2, b=2), {"a": 0.5, "b": 0.5}
    assert not breaks({"distinct": 2, "entropy": 2, "distance": 0}, even, everybody)
    assert breaks({"distinct": 3}, even, everybody)
    assert breaks({"entropy": 2.1}, even, everybody)
    assert breaks({"distance": 0.2}, {"a": 0.75, "b": 0.25}, everybody)
    assert not breaks({"distance": 0.25}, {"a": 0.75, "b": 0.25}, everybody)


@pytest.mark.parametrize("kind", NUMBERS)
def test_audit_knows_what_the_attacker_knows(kind):
    found = Tally()
    for seed in (1, 5):
        found.add(attacked(kind, seed, 7, 30, False))
    assert found.wrong == []
    assert found.tables + found.left_out + found.refused == 2
    assert f"| {kind} | {found.tables} |" in written({kind: found})
