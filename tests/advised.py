"""Random studies that are out of reach or drastic, and their advice held against brute force.

Every change that the advice lists is made to the study, and every node of its lattice is then
released on records, in plain Python (``oracle``), which knows nothing of the search. What is said
of a change has to be what comes out, and what is said to free most has to do so among all changes
of attributes that there are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd
from judge import Counted
from oracle import Brute, Chain, Node, Outcome

from anonymizer import (
    AlphaKAnonymity,
    Anonymizer,
    BasicBetaLikeness,
    DistinctLDiversity,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    KAnonymity,
    RecursiveLDiversity,
    TCloseness,
)
from anonymizer.advice import Advice, Change, advise
from anonymizer.objectives import objective_of
from anonymizer.privacy import PrivacyModel

NEAR = 1e-9
MOST = 3
OBJECTIVES = ("mutual-information", "loss", "discernibility", "precision", "non-uniform-entropy")


@dataclass(frozen=True)
class Limited(Brute):
    """Brute force over levels up to a highest one of each attribute."""

    highest: Node = ()

    @cached_property
    def nodes(self) -> list[Node]:
        return list(product(*(range(level + 1) for level in self.highest)))


@dataclass(frozen=True)
class Study:
    """A random study, as the package takes it and as brute force does."""

    brute: Limited
    levels: Node | None

    @property
    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.brute.rows)

    @property
    def anonymizer(self) -> Anonymizer:
        brute = self.brute
        budget = {"suppression": brute.share, "remove": brute.remove}
        levels = self.levels and dict(zip(brute.chains, self.levels, strict=True))
        return Anonymizer(
            quasi_identifiers={
                name: Hierarchy.from_rows(chain.labels.values()).limited(max_level=level)
                for (name, chain), level in zip(brute.chains.items(), brute.highest, strict=True)
            },
            sensitive=list(brute.sensitive),
            privacy=brute.models,
            recoding=Fixed(levels, **budget) if levels else FullDomain(**budget),
            objective=objective_of(brute.objective, brute.weights),
        )

    def without(self, name: str) -> Node | None:
        """The best node of the other attributes."""
        brute, place = _without(self.brute, name), list(self.brute.chains).index(name)
        levels = None if self.levels is None else _others(self.levels, place)
        return replace(self, brute=brute, levels=levels).best(brute)

    def best(self, brute: Brute, low: Node | None = None) -> Node | None:
        """The best node of some brute force from some levels upward; one where they are given."""
        if self.levels is not None:
            node = tuple(map(max, self.levels, low or self.levels))
            return None if brute.released(node) is None else node
        found = {
            node: score
            for node, score in brute.scores.items()
            if all(a <= b for a, b in zip(low or node, node, strict=True))
        }
        top = max(found.values(), default=0.0)
        tied = [node for node, score in found.items() if score >= top - NEAR]
        return min(tied, key=lambda n: (-brute.outcomes[n].classes, n), default=None)


def random_study(rng: np.random.Generator) -> Study:
    """A study of three to five attributes, of which some tell of the sensitive one."""
    names = "abcde"[: rng.choice([3, 4, 5], p=[0.4, 0.5, 0.1])]
    size = int(rng.integers(30, 80))
    columns, chains = {}, {}
    for name in names:
        values = int(rng.integers(2, 5))
        columns[name] = [f"{name}{i}" for i in rng.choice(values, size, p=_skewed(rng, values))]
        chains[name] = _chain(rng, sorted(set(columns[name])))
    own = rng.choice(3, size, p=_skewed(rng, 3))
    by = rng.choice([*names[:3], "w"], size)
    columns["w"] = [f"w{columns[by[i]][i][1] if by[i] != 'w' else own[i]}" for i in range(size)]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    objective = str(rng.choice(OBJECTIVES))
    weighed = objective in ("loss", "precision", "non-uniform-entropy") and rng.random() < 0.3
    given = rng.random() < 0.35
    heights = [chain.height for chain in chains.values()]
    lower = [0 if given else int(rng.random() < 0.15) for _ in heights]
    brute = Limited(
        rows=rows,
        chains=chains,
        sensitive=["w"],
        models=_policy(rng, size),
        objective=objective,
        weights={names[0]: 2.5, names[1]: 0.5} if weighed else {},
        share=float(rng.choice([0, 0, 0, 0.02, 0.1])),
        highest=tuple(height - less for height, less in zip(heights, lower, strict=True)),
    )
    return Study(brute, tuple(int(rng.integers(0, h + 1)) for h in heights) if given else None)


def _skewed(rng: np.random.Generator, values: int) -> np.ndarray:
    return rng.dirichlet(np.full(values, 1.5))


def _chain(rng: np.random.Generator, values: list[str]) -> Chain:
    """Values, sometimes groups of them, and ``*``."""
    groups = rng.random() < 0.6
    middle = {value: (f"{value[0]}-{i // 2}",) if groups else () for i, value in enumerate(values)}
    return Chain({value: (value, *middle[value], "*") for value in values})


def _policy(rng: np.random.Generator, size: int) -> list[PrivacyModel]:
    """One to three models, some that nothing satisfies."""
    k = int(rng.integers(2, max(3, size // 5)))
    known: list[Callable[[], PrivacyModel]] = [
        lambda: EntropyLDiversity(round(float(rng.uniform(1.2, 3)), 2)),
        lambda: TCloseness(round(float(rng.uniform(0.02, 0.5)), 2), distance="kl"),
        lambda: TCloseness(round(float(rng.uniform(0.02, 0.4)), 2), distance="equal"),
        lambda: DistinctLDiversity(int(rng.integers(2, 5))),
        lambda: AlphaKAnonymity(round(float(rng.uniform(0.3, 0.9)), 2), 3),
        lambda: BasicBetaLikeness(round(float(rng.uniform(0.1, 2)), 2)),
        lambda: RecursiveLDiversity(round(float(rng.uniform(0.3, 3)), 2), 2),
    ]
    chosen = rng.choice(len(known), int(rng.choice(3, p=[0.5, 0.3, 0.2])), replace=False)
    return [KAnonymity(k), *(known[i]() for i in chosen)]


def studies(first: int = 0) -> Iterator[tuple[int, Study, Advice]]:
    """Seeds from one upwards whose study is out of reach, or drastic, with its advice."""
    seed = first
    while True:
        study = random_study(np.random.default_rng(seed))
        advice = advise(study.anonymizer, study.frame, sweep=False)
        if advice.drastic or not advice.reachable:
            yield seed, study, advice
        seed += 1


def hold(study: Study, advice: Advice) -> int:
    """Hold all that the advice says against brute force; the number of changes that were made."""
    node = study.best(study.brute)
    assert advice.complete
    assert advice.reachable == (node is not None)
    if node is None:
        _hold_obstacles(study, advice)
        for change in advice.changes:
            _hold_way_out(study, change)
        return len(advice.changes)
    assert tuple(advice.levels.values()) == node
    listed = {(c.attribute, c.level): c for c in advice.changes if c.attribute is not None}
    freed = dict(_freed(study, node))
    assert listed.keys() == freed.keys()
    for key, (found, free) in freed.items():
        change = listed[key]
        assert tuple(change.levels.values()) == found, key
        assert abs((change.free or 0.0) - free) < NEAR, key
    _hold_most(advice, {key: free for key, (_, free) in freed.items()})
    others = [change for change in advice.changes if change.attribute is None]
    for change in others:
        _hold_freed(study, node, change)
    return len(advice.changes)


def _freed(
    study: Study, node: Node
) -> Iterator[tuple[tuple[str, int | None], tuple[Node | None, float]]]:
    """For every attribute left out or coarsened: the best node then, and what the others gain."""
    brute, names = study.brute, list(study.brute.chains)
    for place, name in enumerate(names):
        rest = _without(brute, name)
        now = _levels_alone(rest, _others(node, place))
        found = study.best(rest)
        yield (name, None), (found, _levels_alone(rest, found) - now)
        # At a level that says nothing an attribute is as if it were left out.
        labels = {row[brute.highest[place]] for row in brute.chains[name].labels.values()}
        hides = len(labels) == 1 and (labels == {"*"} or not brute.most)
        for level in range(node[place] + 1, brute.highest[place] + (not hides)):
            low = tuple(level if i == place else 0 for i in range(len(names)))
            found = study.best(brute, low)
            free = 0.0 if found is None else _levels_alone(rest, _others(found, place)) - now
            yield (name, level), (found or (), free)


def _without(brute: Limited, name: str) -> Limited:
    chains = {each: chain for each, chain in brute.chains.items() if each != name}
    weights = {each: weight for each, weight in brute.weights.items() if each != name}
    highest = _others(brute.highest, list(brute.chains).index(name))
    return replace(brute, chains=chains, weights=weights, highest=highest)


def _others(node: Node, place: int) -> Node:
    return (*node[:place], *node[place + 1 :])


def _levels_alone(brute: Brute, node: Node | None) -> float:
    """What levels score with nothing suppressed, whether the policy holds or not."""
    assert node is not None
    return brute.score(Outcome(node, list(brute.recoded(node)), frozenset(), removed=False))


def _hold_most(advice: Advice, freed: dict[tuple[str, int | None], float]) -> None:
    """The attributes named free most, in falling order, each by the change that frees most."""
    most: dict[str, float] = {}
    for (name, _), free in freed.items():
        most[name] = max(free, most.get(name, 0.0))
    expected = sorted((free for free in most.values() if free > NEAR), reverse=True)[:MOST]
    assert np.allclose([change.free for change in advice.most], expected, atol=2 * NEAR)
    for change in advice.most:
        assert abs(most[change.attribute] - change.free) < 2 * NEAR
        assert abs(freed[change.attribute, change.level] - change.free) < NEAR


def _changed(study: Study, change: Change) -> Brute:
    """Brute force under a change of the policy, or of the budget."""
    brute = study.brute
    if change.suppression is not None:
        return replace(brute, share=change.suppression)
    models = list(brute.models)
    for setting in change.settings:
        (place,) = (
            i
            for i, model in enumerate(models)
            if model.name == setting.model and getattr(model, setting.parameter) == setting.before
        )
        models[place] = replace(models[place], **{setting.parameter: setting.after})
    return replace(brute, models=models)


def _hold_freed(study: Study, node: Node, change: Change) -> None:
    """A policy relaxed, or records suppressed: the best node, and how much more it scores."""
    brute = _changed(study, change)
    found = study.best(brute)
    assert tuple(change.levels.values()) == found
    free = brute.scores[found] - study.brute.scores[node]
    assert abs(change.free - free) < NEAR
    assert change.suppressed == len(brute.outcomes[found].suppressed)


def _hold_way_out(study: Study, change: Change) -> None:
    """The policy is satisfied then, by the levels given; less of the change is not enough."""
    names = list(study.brute.chains)
    assert change.reachable
    if change.kind == "remove":
        assert tuple(change.levels.values()) == study.without(change.attribute)
        return
    if change.kind == "allow":
        place = names.index(change.attribute)
        for level, reachable in ((change.level - 1, False), (change.level, True)):
            highest = (*study.brute.highest[:place], level, *study.brute.highest[place + 1 :])
            found = study.best(replace(study.brute, highest=highest))
            assert (found is not None) == reachable
        assert tuple(change.levels.values()) == found
        return
    if change.kind == "coarsen":
        low = [0] * len(names)
        low[names.index(change.attribute)] = change.level
        assert tuple(change.levels.values()) == study.best(study.brute, tuple(low))
        low[names.index(change.attribute)] -= 1
        assert study.best(study.brute, tuple(low)) is None
        return
    found = study.best(_changed(study, change))
    assert found is not None
    assert tuple(change.levels.values()) == found
    if study.brute.share == 0 and len(change.settings) == 1:
        (setting,) = change.settings
        stricter = replace(change, settings=(replace(setting, after=_stricter(setting)),))
        assert study.best(_changed(study, stricter)) is None


def _stricter(setting: object) -> float:
    """The threshold one step of its digits nearer to the one it was."""
    if isinstance(setting.before, int):
        return setting.after + (1 if setting.before > setting.after else -1)
    step = 10.0 ** (np.floor(np.log10(abs(setting.after))) - 2)
    towards = step if setting.before > setting.after else -step
    return float(np.clip(setting.after + 1.001 * towards, *sorted((setting.after, setting.before))))


def _hold_obstacles(study: Study, advice: Advice) -> None:
    """The records of classes that break each model, at the levels given or the most general."""
    brute = study.brute
    top = study.levels or brute.highest
    labels = brute.recoded(top)
    found = {}
    for model in brute.models:
        table = Counted.of(labels, brute.rows, brute.sensitive, [], {})
        broken = table.broken([model])
        if broken:
            records = sum(label in broken for label in labels)
            found[model.name, getattr(model, "distance", None)] = records, len(broken)
    said = [(each.records, each.classes) for each in advice.obstacles]
    assert sorted(said) == sorted(found.values())
