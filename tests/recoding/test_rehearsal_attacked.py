"""Recodings chosen in rehearsals, and somebody who knows the program: see ``rehearsals``."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from lengths import at_length
from rehearsals import (
    SEARCHED,
    TWO,
    attacker_of,
    ending,
    farthest,
    likelihoods,
    of_two_values,
    rehearse,
    rehearsing,
    shares_of,
)
from simulated import ways_of, worlds_of

from anonymizer.recoding import rehearsal


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance that is the same each time."""
    monkeypatch.setattr(rehearsal, "randbelow", Random(3).randrange)
    fixed, seeds = np.random.default_rng, iter(range(10**6))
    monkeypatch.setattr(rehearsal.np.random, "default_rng", lambda *_: fixed(next(seeds)))


@pytest.mark.parametrize("kind", SEARCHED)
def test_nobody_of_few_records_is_beyond_the_policy(kind):
    seeds = range(1, at_length(3, SEARCHED[kind]) + 1)
    ended = Counter(ending(kind, seed) for seed in seeds)
    assert {*ended} <= {"released", "refused"}
    assert ended["released"] > ended["refused"]


@pytest.mark.parametrize("kind", SEARCHED)
@pytest.mark.parametrize("odds", [3.0, 20.0])
def test_no_value_is_likelier_than_odds_allow(kind, odds):
    """Where the choice depends on sensitive values, by what its noise leaves of their counts.

    What may be believed is estimated from few runs. That odds bound it has no error, since the
    bound is one of each outcome of the noise: it holds of whatever runs there are.
    """
    runs = at_length(10, 40)
    most = max(farthest(kind, odds, seed, runs) for seed in range(1, at_length(1, 15) + 1))
    assert 1 < most <= odds


def test_noise_is_all_that_a_choice_knows_of_sensitive_values():
    """How often the black box makes a choice in another world is what the noise says it is.

    The other world exchanges the values of two records, which is what the proof is about.
    Within five standard errors: those of the runs that are counted, and of those that are weighed.
    """
    number = at_length(50, 2_000)
    table = of_two_values(2)
    make = rehearsing(table, "ranges", TWO, "discernibility", 20.0)
    attacker, own = attacker_of(table, ["w"])
    runs = [rehearse(attacker, own, make) for _ in range(number)]
    most = Counter(tuple(run.labels.items()) for run in runs if run.labels).most_common(1)
    ours = dict(most[0][0])
    worlds = [*worlds_of(ways_of(attacker.classes(ours)))]
    base = runs[0].counted(own)
    other = next(world for world in worlds if (runs[0].counted(world) - base).total() == 2)
    likely = likelihoods(runs, own, [other])[0]
    assert abs(likely.mean() - 1) < 5 * likely.std() / number**0.5  # of all choices together
    weighed = likely * [run.labels == ours for run in runs]
    expected, error = weighed.mean(), weighed.std() / number**0.5
    share = shares_of(attacker, other, make, ours, number)
    deviation = (expected * (1 - expected) / number) ** 0.5
    assert abs(share - expected) < 5 * (error**2 + deviation**2) ** 0.5
