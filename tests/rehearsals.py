"""An attacker of recodings chosen in rehearsals, who knows the program and its noise.

He does not know which noise was drawn. So he rehearses himself: he runs the library as a black box
on one world, and notes the recoding of each run and the noisy counts that it followed from. A run
is as good for another world, weighed by how much likelier that world makes the noisy counts: noise
z has a probability proportional to exp(-|z| / scale). That gives P(recoding | world) up to a factor
that is the same for all worlds, and from it what each record may have.

That a recoding follows from noisy counts and quasi-identifiers alone is what the proof rests on.
``shares_of`` needs nothing of it: it counts what the black box releases of a world.

``python -m tests.rehearsals`` attacks tables of 12 records, and some of which noise leaves more.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent))  # as pytest finds what tests share

import numpy as np
import pandas as pd
from attacked import BOUNDS, KINDS, MODELS
from simulated import (
    Attacker,
    Cell,
    Label,
    Posterior,
    World,
    breaks,
    permutations,
    random_table,
    ways_of,
    worlds_of,
)

from anonymizer import (
    Anonymizer,
    DistinctLDiversity,
    KAnonymity,
    PolicyBrokenError,
    PolicyUnreachableError,
)
from anonymizer.recoding import rehearsal

SEARCHED = {"ranges": 400, "boxes": 200, "cuts": 200, "levels": 200}
"""Tables of each kind at full length."""

MOST = 300
"""Worlds that are listed; of more some are drawn."""

ODDS = 1.25
TWO = [KAnonymity(2), DistinctLDiversity(2)]

Place = tuple[int, int, tuple[int, ...], object]
"""An attribute, a table of counts, a group of it, and a value."""


@dataclass(frozen=True)
class Rehearsal:
    """A run: what each cell is released as, None where it is refused, and what it followed from.

    ``groups`` are those of each cell in each table of counts, ``noisy`` the numbers.
    """

    labels: dict[Cell, Label] | None
    groups: list[Mapping[Cell, tuple[int, ...]]]
    noisy: Mapping[Place, int]
    scale: int

    def counted(self, world: World) -> Counter[Place]:
        """The same numbers of a world, without noise."""
        found: Counter[Place] = Counter()
        for cell, values in world.items():
            for value, number in values.items():
                for attribute, own in enumerate(value):
                    for table, groups in enumerate(self.groups):
                        found[attribute, table, groups[cell], own] += number
        return found

    def distance(self, counted: Counter[Place]) -> int:
        """How much noise takes some numbers to these."""
        return sum(abs(number - counted[place]) for place, number in self.noisy.items())


def rehearse(attacker: Attacker, world: World, make: Callable[[], Anonymizer]) -> Rehearsal:
    """Release a world, and note what its recoding followed from."""
    groups: list[Mapping[Cell, tuple[int, ...]]] = []
    noisy: dict[Place, int] = {}
    scale, attribute, known = 1, -1, {}
    choose, count = rehearsal.chosen_groups, rehearsal.noisy_counts
    texts = {tuple(map(str, cell)): cell for cell in world}

    def chosen(problem: Any, *given: Any) -> Any:
        nonlocal scale, attribute
        tables, noise = choose(problem, *given)
        counts, scale, attribute = problem.counts, noise.scale, attribute + 1
        columns = [
            np.array(problem.taxonomies[name].levels[0].labels, object)[codes]
            for name, codes in zip(counts.names, counts.cells.T, strict=True)
        ]
        rows = [texts[tuple(map(str, row))] for row in zip(*columns, strict=True)]
        known["values"] = counts.values[counts.sensitive[attribute]]
        groups[:] = [
            dict(zip(rows, map(tuple, table.group.tolist()), strict=True)) for table in tables[1:]
        ]
        return tables, noise

    def counted(*given: Any) -> Any:
        found = count(*given)
        for table, numbers in enumerate(found[1:]):
            for (*group, value), number in np.ndenumerate(numbers):
                noisy[attribute, table, tuple(group), known["values"][value]] = int(number)
        return found

    with (
        patch.object(rehearsal, "chosen_groups", chosen),
        patch.object(rehearsal, "noisy_counts", counted),
    ):
        labels = released(attacker, world, make)
    return Rehearsal(labels, groups, noisy, scale)


def released(
    attacker: Attacker, world: World, make: Callable[[], Anonymizer]
) -> dict[Cell, Label] | None:
    """What each cell is released as; None where a run is refused."""
    try:
        return Attacker(attacker.table, attacker.about, make().fit_transform).labels(world)
    except (PolicyBrokenError, PolicyUnreachableError):
        return None


def shares_of(
    attacker: Attacker,
    world: World,
    make: Callable[[], Anonymizer],
    ours: Mapping[Cell, Label],
    runs: int,
) -> float:
    """How often a world is released as ours, of so many runs: nothing of the program is used."""
    return sum(released(attacker, world, make) == ours for _ in range(runs)) / runs


def likelihoods(runs: Sequence[Rehearsal], own: World, worlds: Sequence[World]) -> np.ndarray:
    """How much likelier each world makes each run than ``own``, in which they were made.

    Shape (worlds, runs).
    """
    counted = [runs[0].counted(world) for world in (own, *worlds)]  # groups are those of all runs
    away = np.array([[run.distance(each) for run in runs] for each in counted])
    return np.exp((away[0] - away[1:]) / runs[0].scale)


def posteriors(worlds: Sequence[World], likely: np.ndarray, place: int) -> dict[Cell, Posterior]:
    """What records of each cell may have of an attribute; ``likely``: of the runs of the recoding.

    Of records that are told apart: each world stands for as many as its values have permutations.
    """
    found: dict[Cell, Counter] = {cell: Counter() for cell in worlds[0]}
    weights = [
        float(likely[number].mean())
        * float(np.prod([permutations(values) for values in world.values()]))
        for number, world in enumerate(worlds)
    ]
    for world, weight in zip(worlds, weights, strict=True):
        for cell, values in world.items():
            for value, number in values.items():
                found[cell][value[place]] += weight * number / values.total()
    return {
        cell: {value: p / sum(weights) for value, p in own.items()} for cell, own in found.items()
    }


def attacker_of(table: pd.DataFrame, about: Sequence[str]) -> tuple[Attacker, World]:
    """Who attacks a table, and the world that it is."""
    found = Attacker(table, about, lambda _: None)
    return found, found.world(found.cells, found.values)


def some_of(attacker: Attacker, labels: Mapping[Cell, Label], rng: Random) -> Iterator[World]:
    """All worlds of a release; of very many some that are drawn."""
    ways = ways_of(attacker.classes(labels))
    if prod(map(len, ways)) <= MOST:
        yield from worlds_of(ways)
        return
    for _ in range(MOST // 10):
        yield {cell: values for own in ways for cell, values in rng.choice(own).items()}


def rehearsing(
    table: pd.DataFrame, kind: str, policy: list, objective: str, odds: float = ODDS
) -> Callable[[], Anonymizer]:
    """What releases tables of such columns by rehearsals."""
    known = {"a": {"widths": [2]}, "b": "suppress"}
    return lambda: Anonymizer(
        {name: rule for name, rule in known.items() if name in table.columns},
        [name for name in table.columns if name not in known],
        policy,
        recoding=KINDS[kind],
        objective=objective,
        against="method",
        odds=odds,
    )


def ending(kind: str, seed: int) -> str:
    """Whether a random table of 12 records is ``refused``, ``released``, or tells too much.

    Noise is more than 12 records: all are one group, and all worlds have the same counts. So each
    is released so as often as any other, and what may be believed are the shares of classes. The
    policy has to hold of these, and of what beliefs of its odds add to them: ``beyond``. Worlds
    that are not as likely as others are ``told apart``.
    """
    rng = np.random.default_rng(seed)
    table = random_table(rng, 12)
    about = [name for name in "wv" if name in table.columns]
    place, objectives = int(rng.integers(3)), ("discernibility", "mutual-information")
    make = rehearsing(table, kind, [KAnonymity(2), MODELS[place]], str(rng.choice(objectives)))
    attacker, own = attacker_of(table, about)
    run = rehearse(attacker, own, make)
    if run.labels is None:
        return "refused"
    worlds = [*some_of(attacker, run.labels, Random(seed))]
    if not (likelihoods([run], own, worlds) == 1).all():
        return "told apart"
    for number, name in enumerate(about):
        everybody = Counter(table[name])
        for records in attacker.classes(run.labels):
            values = Counter(value[number] for _, value in records)
            share = {value: n / values.total() for value, n in values.items()}
            believed = [{v: p / ODDS for v, p in share.items()} for _ in share]
            for each, value in zip(believed, share, strict=True):
                each[value] += 1 - 1 / ODDS
            if any(breaks(BOUNDS[place], each, everybody) for each in (share, *believed)):
                return "beyond"
    return "released"


def of_two_values(seed: int) -> pd.DataFrame:
    """Records enough for groups that noise does not drown, if odds are large."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.integers(1, 5, 24), "w": rng.choice([*"ij"], 24)})


def farthest(kind: str, odds: float, seed: int, number: int) -> float:
    """How much likelier than its share a value is against the other, at the most, in some runs."""
    most, table = 1.0, of_two_values(seed)
    make = rehearsing(table, kind, TWO, "discernibility", odds)
    attacker, own = attacker_of(table, ["w"])
    runs = [rehearse(attacker, own, make) for _ in range(number)]
    for labels in {tuple(run.labels.items()) for run in runs if run.labels}:
        chosen = [run for run in runs if run.labels == dict(labels)]
        classes = attacker.classes(dict(labels))
        worlds = [*worlds_of(ways_of(classes))]
        believed = posteriors(worlds, likelihoods(chosen, own, worlds), 0)
        for records in classes:
            shares = Counter(value for _, (value,) in records)
            for cell, _ in records:
                ratio = believed[cell]["i"] / believed[cell]["j"] * shares["j"] / shares["i"]
                most = max(most, ratio, 1 / ratio)
    return most


RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "rehearsals.md"
HEAD = """\
# Recodings chosen in rehearsals, against somebody who knows the program

Made by `python -m tests.rehearsals`; `tests/rehearsals.py` says what the attacker does.

Tables of 12 records with `against = "method"` and odds of 1.25, k = 2, and one of entropy l = 1.6,
distinct l = 2 and t = .35. Noise is more than 12 records: all worlds are as likely to be released
so, without any error. Beyond is who has a value likelier than the policy allows, also for beliefs
that go as far as the odds.

"""
MORE = """
Tables of 24 records, distinct l = 2, and larger odds, so that the choice depends on sensitive
values: 15 of each recoding, 40 runs each. How many times as likely a value is against the other, at
the most, compared with their shares. That it stays below the odds holds of each outcome of the
noise; how far below depends on the runs.

"""


def written(ended: Mapping[str, Counter[str]], most: Mapping[tuple[str, float], float]) -> str:
    """What came of the tables, as a page."""
    kinds = ("released", "refused", "told apart", "beyond")
    rows: list[Sequence[object]] = [("recoding", "tables", *kinds), ["---"] * 6]
    for name, own in ended.items():
        rows.append([name, own.total(), *(own[kind] for kind in kinds)])
    odds = sorted({each for _, each in most})
    more: list[Sequence[object]] = [("recoding", *(f"odds {each}" for each in odds))]
    more.append(["---"] * (len(odds) + 1))
    more += [[name, *(f"{most[name, each]:.2f}" for each in odds)] for name in ended]
    parts = ["".join(f"| {' | '.join(map(str, row))} |\n" for row in each) for each in (rows, more)]
    return HEAD + parts[0] + MORE + parts[1]


def main() -> None:
    """Attack tables of each kind at full length, and write what was learnt."""
    ended = {
        kind: Counter(ending(kind, seed) for seed in range(1, number + 1))
        for kind, number in SEARCHED.items()
    }
    most = {
        (kind, odds): max(farthest(kind, odds, seed, 40) for seed in range(1, 16))
        for odds in (3.0, 20.0)
        for kind in SEARCHED
    }
    RESULTS.write_text(written(ended, most), encoding="utf-8")
    wrong = sum(own["beyond"] + own["told apart"] for own in ended.values())
    wrong += sum(ratio > odds for (_, odds), ratio in most.items())
    sys.stdout.write(f"{wrong} wrong\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
