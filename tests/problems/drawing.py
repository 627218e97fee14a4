"""Random problems: small, of every kind, and many of them with ties."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf, prod

import numpy as np
from cases import (
    ASKED,
    ESTIMATES,
    RISING,
    Case,
    EvenClasses,
    Spread,
    gaps,
    of_every_kind,
    rows_of,
    spread_of,
)
from judge import uniqueness
from oracle import Brute
from policies import (
    Place,
    models,
    models_of_households,
    models_of_known_records,
    models_of_numbered,
)

from anonymizer.objectives import OBJECTIVES
from anonymizer.privacy import DifferentialPrivacy, PopulationUniqueness, PrivacyModel
from anonymizer.privacy.population.uniqueness import ESTIMATORS

from .own import AtLeast, FewClasses, LargestLift, LikeliestShare, OddClasses

QUASI_IDENTIFIERS, SENSITIVE = "abcde", ("v", "w", "y")

SHARES = (0.0, 0.005, 0.02, 0.05, 0.1, 0.3, 0.6)

WIDE = 0.02
"""How often an attribute has hundreds of values: such problems take a second."""

WORK = 10_000
"""Records times nodes, at the most."""

OBJECTIVES_ASKED = (*ASKED, *((name, None) for name in RISING))

Make = Callable[[Place], PrivacyModel]
Policy = Callable[[np.random.Generator, Brute], list[PrivacyModel]]
Limits = Mapping[str, tuple[int, int]]


PERSONS = 1_000_000
"""From this number on problems are those of the numbers from 0 on, their records those of persons
who have several."""


KNOWN = 2_000_000
"""From this number on they are those again, under policies of persons of whom records are known."""


HOMES = 3_000_000
"""From this number on they are those again, of people who live together: policies of households."""


NUMBERED = 4_000_000
"""From this number on they are those again, of persons whom the release numbers: no suppression."""


AGAINST = 5_000_000
"""From this number on they are those again as rehearsals search them: values dealt out anew, and
models for readers with some odds."""


def drawn(number: int) -> Case:
    """The random problem of a number."""
    if number >= PERSONS:
        rng = np.random.default_rng(number)
        if number >= AGAINST:
            return _rehearsed(rng, drawn(number - AGAINST))
        if number >= NUMBERED:
            case = _of_persons(rng, drawn(number - NUMBERED), models_of_numbered)
            plain = {"share": 0.0, "remove": False, "exempt": False}
            return replace(case, brute=replace(case.brute, **plain, numbers=True))
        if number >= HOMES:
            return _of_households(rng, drawn(number - HOMES))
        if number >= KNOWN:
            return _of_persons(rng, drawn(number - KNOWN), models_of_known_records)
        return _of_persons(rng, drawn(number - PERSONS))
    rng = np.random.default_rng(number)
    wide = rng.random() < WIDE
    records = _records(rng, wide)
    spreads = _spreads(rng, records)
    most = 8 if wide else int(rng.choice([4, 16, 48, 150, 400], p=[0.1, 0.25, 0.3, 0.25, 0.1]))
    limits = _limits(rng, spreads, most)
    nodes = prod(high - low + 1 for low, high in limits.values())
    records = records if wide else max(1, min(records, WORK // nodes))
    spreads = {name: replace(each, column=each.column[:records]) for name, each in spreads.items()}
    columns = {name: each.column for name, each in spreads.items()}
    sensitive = SENSITIVE[: rng.choice(4, p=[0.1, 0.5, 0.3, 0.1])]
    for place, name in enumerate(sensitive):
        columns[name] = _values(rng, records, wide and not place)
    brute = Brute(
        rows=rows_of(columns),
        chains={name: spread.chain() for name, spread in spreads.items()},
        sensitive=sensitive,
        models=[],
        objective="mutual-information" if sensitive else "loss",
        share=float(rng.choice(SHARES, p=[0.3, 0.1, 0.1, 0.1, 0.15, 0.15, 0.1])),
        remove=bool(rng.random() < 0.3),
        exempt=bool(rng.random() < 0.15),
        limits=limits,
    )
    brute = of_every_kind(rng, brute, columns, spreads)
    brute = replace(brute, models=_models(rng, brute))
    brute = replace(brute, suppress=str(rng.choice(["small", "any"])))
    hierarchies = {
        name: each.hierarchy.limited(min_level=limits[name][0], max_level=limits[name][1])
        for name, each in spreads.items()
    }
    return _asking(rng, Case(brute, hierarchies))


def _of_persons(rng: np.random.Generator, case: Case, policy: Policy = models) -> Case:
    """The problem with persons: as many as records, or fewer, some of them with many."""
    rows = case.brute.rows
    persons = max(1, int(len(rows) * rng.choice([0.1, 0.3, 0.6, 1])))
    often = rng.dirichlet(np.full(persons, rng.choice([0.5, 5, 50])))
    numbers = rng.choice(persons, len(rows), p=often).tolist()
    if rng.random() < 0.1:
        numbers = [*range(len(rows))]
    rows = [{**row, "person": f"p{n}"} for row, n in zip(rows, numbers, strict=True)]
    per_person = str(rng.choice(["share", "each"]))
    brute = replace(case.brute, rows=rows, person="person", per_person=per_person)
    return replace(case, brute=replace(brute, models=policy(rng, brute)))


def _of_households(rng: np.random.Generator, case: Case) -> Case:
    """The problem with households: of up to four members each, or of any number."""
    rows, few = case.brute.rows, rng.random() < 0.7
    many = rng.integers(1, 5 if few else len(rows) + 1, len(rows))
    numbers = rng.permutation(np.repeat(np.arange(len(rows)), many)[: len(rows)]).tolist()
    if rng.random() < 0.5:  # in the order of the records, which are alike
        numbers = sorted(numbers)
    rows = [{**row, "home": f"h{n}"} for row, n in zip(rows, numbers, strict=True)]
    brute = replace(case.brute, rows=rows, household="home")
    return replace(case, brute=replace(brute, models=models_of_households(rng, brute)))


def _rehearsed(rng: np.random.Generator, case: Case) -> Case:
    """The problem without suppression, of two tables with the same quasi-identifiers."""
    brute, odds = case.brute, float(rng.choice([1.1, 1.25, 2, 10]))
    copies = {name: [f"{name} (1)", f"{name} (2)"] for name in brute.sensitive}
    columns = {name: [row[name] for row in brute.rows] for name in brute.sensitive}
    dealt = {
        copy: [columns[name][place] for place in rng.permutation(len(brute.rows))]
        for name, own in copies.items()
        for copy in own
    }
    rows = [
        {**row, **{name: values[place] for name, values in dealt.items()}}
        for place, row in enumerate(brute.rows)
    ]
    policy = [about for model in brute.models for about in _for_odds(model, copies, odds)]
    weights = {name: weight for name, weight in brute.weights.items() if name not in copies}
    plain = {"share": 0.0, "remove": False, "exempt": False, "sensitive": (*dealt,)}
    brute = replace(brute, rows=rows, models=policy, weights=weights, **plain)
    return replace(case, brute=brute)


def _for_odds(
    model: PrivacyModel, copies: Mapping[str, Sequence[str]], odds: float
) -> Sequence[PrivacyModel]:
    """A model about each copy of its attribute, for readers with some odds where it can."""
    if not model.sensitive:
        return [model]
    names = [*copies] if model.attribute is None else [model.attribute]
    own = model.per_class and model.monotone
    known = {"odds": odds} if own else {}
    return [replace(model, attribute=copy, **known) for name in names for copy in copies[name]]


def _records(rng: np.random.Generator, wide: bool) -> int:
    """From 1 to 400; in tables of many values enough to have them all."""
    if wide:
        return int(rng.integers(600, 2200))
    return int(rng.integers(1, rng.choice([8, 40, 120, 400], p=[0.2, 0.3, 0.35, 0.15]) + 1))


def _spreads(rng: np.random.Generator, records: int) -> dict[str, Spread]:
    """One to five quasi-identifiers, one of them now and then a copy of another."""
    number = rng.choice([1, 2, 3, 4, 5], p=[0.15, 0.25, 0.3, 0.2, 0.1])
    spreads = {name: spread_of(rng, records) for name in QUASI_IDENTIFIERS[:number]}
    if number > 1 and rng.random() < 0.15:
        one, other = rng.choice([*spreads], 2, replace=False)
        spreads[str(one)] = spreads[str(other)]
    return spreads


def _limits(rng: np.random.Generator, spreads: Mapping[str, Spread], most: int) -> Limits:
    """The lowest and the highest level of each attribute, so that nodes are not too many."""
    limits = {name: [0, each.hierarchy.height] for name, each in spreads.items()}
    for limit in limits.values():
        if rng.random() < 0.1:
            limit[:] = sorted(rng.integers(0, limit[1] + 1, 2).tolist())
    while prod(high - low + 1 for low, high in limits.values()) > most:
        limit = limits[rng.choice([name for name, (low, high) in limits.items() if low < high])]
        if rng.random() < 0.5:
            limit[0] += 1
        else:
            limit[1] -= 1
    return {name: (low, high) for name, (low, high) in limits.items()}


def _values(rng: np.random.Generator, records: int, wide: bool) -> list:
    """A sensitive attribute: a few values or dozens, skewed; of a wide one hundreds."""
    if wide:
        return [f"w{i}" for i in rng.integers(0, rng.integers(500, 2001), records)]
    most = int(rng.choice([5, 60, 300], p=[0.7, 0.2, 0.1]))
    values = int(rng.integers(most // 2, most + 1))
    skew = rng.dirichlet(np.full(values, rng.choice([0.2, 0.7, 5])))
    return gaps(rng, [f"w{i}" for i in rng.choice(values, records, p=skew)], 0.1)


def _models(rng: np.random.Generator, brute: Brute) -> list[PrivacyModel]:
    """The policy, now and then with a model of samples, or one that a user wrote, or that alone."""
    if rng.random() < 0.75:
        return [*brute.models]
    known = [maker for maker in OTHERS if brute.sensitive or maker not in OF_VALUES]
    made = known[rng.integers(len(known))](Place(rng, brute))
    return [made] if rng.random() < 0.4 else [*brute.models, made]


def _at_least(place: Place) -> PrivacyModel:
    return AtLeast(max(1, round(place.sized(lambda group: group.size, least=True))))


def _large(place: Place) -> PrivacyModel:
    share = place.reached(lambda group, name: max(group.values[name].values()) / group.size)
    return LikeliestShare(min(1.0, share), attribute=place.attribute)


def _lifted(place: Place) -> PrivacyModel:
    margins = place.table.margins

    def lift(group, name):
        table = margins[name]
        shares = (count / table[value] for value, count in group.values[name].items())
        return max(shares) * table.total() / group.size

    return LargestLift(place.reached(lift), attribute=place.attribute)


def _few(place: Place, kind: type[FewClasses]) -> PrivacyModel:
    return kind(max(1, round(place.picked([len(place.table.occupied)]))))


def _unique(place: Place) -> PrivacyModel:
    rng = place.rng
    fraction, estimator = float(rng.choice([0.05, 0.3, 1])), str(rng.choice(ESTIMATORS))
    model = PopulationUniqueness(1.0, fraction, estimator)
    share = uniqueness(model, [group.size for group in place.table.occupied])
    return replace(model, uniqueness=min(1.0, place.picked([share])) if share < inf else 0.2)


def _private(place: Place) -> PrivacyModel:
    return DifferentialPrivacy(float(place.rng.choice([1.0, 1.5, 2])), 0.2)


def _even(place: Place) -> PrivacyModel:
    return EvenClasses()


OF_VALUES: tuple[Make, ...] = (_large, _lifted)
OTHERS: tuple[Make, ...] = (
    *OF_VALUES,
    _at_least,
    partial(_few, kind=FewClasses),
    partial(_few, kind=OddClasses),
    _unique,
    _private,
    _even,
)


def _asking(rng: np.random.Generator, case: Case) -> Case:
    """The problem with any objective that it can be asked for."""
    brute = case.brute
    informing = ("mutual-information", *ESTIMATES)
    if brute.targets:
        return case.asking(str(rng.choice(informing)))
    known = [
        each for each in OBJECTIVES_ASKED if brute.sensitive or each[0] not in (*informing, "itpr")
    ]
    objective, aggregate = known[rng.integers(len(known))]
    weighed = {"sensitive attribute": brute.sensitive, "quasi-identifier": [*brute.chains]}
    weights = {
        name: float(rng.choice([0, 0.5, 1, 2, 3.7]))
        for name in weighed.get(OBJECTIVES[objective].weighs or "", [])
        if rng.random() < 0.5
    }
    return case.asking(objective, aggregate, weights)
