"""Whether what the attacker who knows the method believes is right as often as he believes it."""

import numpy as np
from attacked import Simulated
from lengths import at_length

from anonymizer import PolicyUnreachableError

BINS = 10
BY_CHANCE = 1e-6
"""How likely the test may fail though all beliefs are right."""

SEARCHED = ("ranges", "levels", "boxes", "cuts", "any")


def guesses(worlds: int) -> list[tuple[float, bool, float]]:
    """A belief of each of some random worlds, whether it is right, and the share of the class.

    Values are drawn independently, so that given the release all ways to deal them are as likely
    before it is thought of how it was chosen. A record and one of the values that it may have are
    drawn by what the release shows: the belief is then the probability that the record has it. One
    of each world, so that guesses do not depend on each other.
    """
    found, seed = [], 0
    while len(found) < worlds:
        seed += 1
        rng = np.random.default_rng([seed, 7])
        try:
            table = Simulated(SEARCHED[seed % len(SEARCHED)], seed)
        except PolicyUnreachableError:
            continue
        if table.whole is None:
            continue
        beliefs = table.beliefs()
        record = int(rng.integers(len(beliefs)))
        truth = [*table.table[table.about].itertuples(index=False, name=None)]
        labels = class_labels(table)
        alike = [truth[other] for other, label in enumerate(labels) if label == labels[record]]
        values = sorted({*alike})
        value = values[int(rng.integers(len(values)))]
        share = alike.count(value) / len(alike)
        found.append((beliefs[record].get(value, 0.0), truth[record] == value, share))
    return found


def class_labels(table: Simulated) -> list[object]:
    """What each record is released as."""
    labels = dict(zip(np.flatnonzero(table.world.any(axis=1)).tolist(), table.whole, strict=True))
    return [labels[cell] for cell in table.cell_of.tolist()]


def least_tail(chances: list[float], right: int) -> float:
    """How likely it is that so few, or so many, of independent guesses are right.

    By the exact law of their sum, each right with a chance of its own.
    """
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return float(min(law[: right + 1].sum(), law[right:].sum()))


def in_bins(guessed: list[tuple[float, bool]]) -> list[float]:
    """The least tail of each bin of beliefs that has any."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for chance, right in guessed:
        bins.setdefault(min(int(chance * BINS), BINS - 1), []).append((min(chance, 1.0), right))
    return [least_tail([p for p, _ in own], sum(r for _, r in own)) for own in bins.values()]


def test_beliefs_are_right_as_often_as_they_say():
    """Each bin of beliefs has as many that are right as chance explains.

    Where a belief is 0 or 1 it is never wrong.
    """
    guessed = guesses(at_length(20, 1_000))
    for belief, right, _ in guessed:
        assert 1e-9 < belief < 1 - 1e-9 or right == (belief > 0.5)
    tails = in_bins([(belief, right) for belief, right, _ in guessed])
    assert min(tails) > BY_CHANCE / (2 * BINS)
    assert max(belief for belief, _, _ in guessed) > 1 - 1e-9  # who is known for sure is tried
    assert any(abs(belief - share) > 0.1 for belief, _, share in guessed)


def test_a_wrong_belief_would_be_noticed():
    rng = np.random.default_rng(5)
    chances = rng.random(1_000)
    right = rng.random(1_000) < chances
    assert min(in_bins([*zip(chances, right.tolist(), strict=True)])) > BY_CHANCE / (2 * BINS)
    bolder = np.clip(chances + 0.5 * (chances - 0.5), 0, 1)
    assert min(in_bins([*zip(bolder, right.tolist(), strict=True)])) < BY_CHANCE / (2 * BINS)
