"""Random policies of every model for the tables of brute force, many of them exactly at a bound.

A threshold is as a rule what some class comes to at some node: that class is acceptable, and the
least that is worse is not (under recursive diversity, which is strict, the class is not either).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite, log2

import literature
import numpy as np
from judge import Class, Counted, quantity
from oracle import Brute

from anonymizer import Hierarchy
from anonymizer.privacy import (
    AlphaKAnonymity,
    AverageReidentificationRisk,
    BasicBetaLikeness,
    BayesianGain,
    CompositionKAnonymity,
    DeltaDisclosure,
    DeltaPresence,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    HighestReidentificationRisk,
    HouseholdCompositionKAnonymity,
    HouseholdKAnonymity,
    HouseholdRisk,
    IndividualRisk,
    Itpr,
    KAnonymity,
    KmAnonymity,
    KMap,
    LargestShare,
    MeanInformation,
    PersonKAnonymity,
    PointwiseMaximalLeakage,
    PrivacyModel,
    RecursiveLDiversity,
    ReidentificationItpr,
    TCloseness,
    ValueGain,
)

Tree = dict[object, tuple[object, ...]]
Make = Callable[["Place"], PrivacyModel]


def tree_of(rng: np.random.Generator, columns: Sequence[Sequence[object]]) -> Tree:
    """Labels of the sensitive values of all columns; a missing value joins the others at the top.

    The number 3 and its text are the same value.
    """
    values = {value for column in columns for value in column} - {None}
    rows = {str(value): (str(value),) for value in sorted(values, key=str)}
    height = rng.integers(0, 3)
    for level in range(height):
        groups = sorted({row[-1] for row in rows.values()})
        above = {group: f"{level}-{rng.integers(0, 3)}" for group in groups}
        rows = {text: (*row, above[row[-1]]) for text, row in rows.items()}
    tree: Tree = {value: (value, *rows[str(value)][1:], "*") for value in values}
    return {**tree, None: (None, *["*"] * (height + 1))}


class Place:
    """A problem at a random node, or at what is left of it, where thresholds are read off."""

    def __init__(self, rng: np.random.Generator, brute: Brute):
        node = brute.nodes[rng.integers(len(brute.nodes))]
        labels, crowd = brute.recoded(node), brute.crowd(node)
        gone = labels[rng.integers(len(labels))] if rng.random() < 0.2 else ()
        left = [None if label == gone else label for label in labels]
        self.rng, self.brute = rng, brute
        self.table: Counted = brute.counted(left if any(left) else labels, crowd)
        some = len(brute.sensitive) > 0 and rng.random() < 0.4
        self.attribute = str(rng.choice(brute.sensitive)) if some else None
        self.asked = [self.attribute] if some else brute.sensitive
        self.people = brute.population if rng.random() < 0.7 else None

    def reached(self, measure: Callable[[Class, str], float], least: bool = False) -> float:
        """What the worst class, or any, comes to."""
        found = [measure(group, name) for group in self.table.occupied for name in self.asked]
        return self.picked(found, least)

    def sized(self, measure: Callable[[Class], float], least: bool = False) -> float:
        """The same of what does not depend on sensitive values."""
        return self.picked([measure(group) for group in self.table.occupied], least)

    def picked(self, found: list[float], least: bool = False) -> float:
        """The worst of some quantities, or any; now and then a little more or less."""
        worst = self.rng.random() < 0.6
        value = (min if least else max)(found) if worst else found[self.rng.integers(len(found))]
        factor = self.rng.choice([1, 0.8, 1.2, 1 - 1e-6, 1 + 1e-6], p=[0.6, 0.1, 0.1, 0.1, 0.1])
        return float(value) * float(factor)

    def bounded(self, model: PrivacyModel) -> float:
        """What some class comes to of what a model bounds from above."""
        table, tree = self.table, self.brute.tree
        found = self.reached(
            lambda g, name: quantity(model, g.values[name], table.margins[name], tree)
        )
        return found if isfinite(found) else 2.5


def models(rng: np.random.Generator, brute: Brute) -> list[PrivacyModel]:
    """A policy of one to three models."""
    makers: list[Make] = [*(OF_PERSONS if brute.person else OF_SIZES)]
    if brute.sensitive:
        makers += OF_VALUES
        makers += OF_VALUES
    if brute.people:
        makers += OF_PEOPLE
    if brute.person:
        makers = [_of_persons(make) for make in makers]
    number = rng.choice([1, 2, 3], p=[0.4, 0.4, 0.2])
    made = [makers[rng.integers(len(makers))](Place(rng, brute)) for _ in range(number)]
    if brute.people and not any(model.people for model in made):
        made.append(OF_PEOPLE[rng.integers(len(OF_PEOPLE))](Place(rng, brute)))
    return made


def models_of_known_records(rng: np.random.Generator, brute: Brute) -> list[PrivacyModel]:
    """A policy against who knows several records of a person, and now and then who knows one."""
    makers = [*OF_PERSONS, *(map(_of_persons, OF_VALUES) if brute.sensitive else [])]
    others = [makers[rng.integers(len(makers))] for _ in range(rng.integers(3))]
    known = [(_known,), (_composed,), (_known, _composed)][rng.choice(3, p=[0.45, 0.45, 0.1])]
    return [make(Place(rng, brute)) for make in (*known, *others)]


def models_of_numbered(rng: np.random.Generator, brute: Brute) -> list[PrivacyModel]:
    """A policy of persons who have numbers: of values, and of compositions."""
    makers = [*OF_PERSONS, *(map(_of_persons, OF_VALUES) if brute.sensitive else [])]
    others = [makers[rng.integers(len(makers))] for _ in range(1 + rng.integers(2))]
    known = [_composed] if rng.random() < 0.5 or not brute.sensitive else []
    return [make(Place(rng, brute)) for make in (*known, *others)]


def _anonymous(place: Place) -> PrivacyModel:
    k = round(place.sized(lambda group: group.size, least=True))
    return KAnonymity(min(max(k, 1), 8))


def _persons(place: Place) -> PrivacyModel:
    return PersonKAnonymity(
        max(1, round(place.sized(lambda group: len(group.persons), least=True)))
    )


def _one_person(place: Place) -> PrivacyModel:
    share = place.sized(lambda group: max(group.persons.values()) / group.size)
    return LargestShare(min(1.0, share))


def _known(place: Place) -> PrivacyModel:
    m = int(place.rng.choice([2, 2, 3]))
    return KmAnonymity(
        max(1, round(place.picked([literature.fewest_left(place.table.persons, m)]))), m
    )


def _composed(place: Place) -> PrivacyModel:
    return CompositionKAnonymity(
        max(1, round(place.picked([literature.fewest_alike(place.table.persons)])))
    )


def models_of_households(rng: np.random.Generator, brute: Brute) -> list[PrivacyModel]:
    """A policy about households, and now and then about records."""
    makers = [*OF_SIZES, *(OF_VALUES if brute.sensitive else [])]
    own = [_homes, _composed_homes, _found]
    chosen = rng.permutation(len(own))[: rng.choice([1, 2], p=[0.8, 0.2])]
    others = [makers[rng.integers(len(makers))] for _ in range(rng.integers(3))]
    return [make(Place(rng, brute)) for make in (*(own[place] for place in chosen), *others)]


def _homes(place: Place) -> PrivacyModel:
    k = place.sized(lambda group: len(group.homes), least=True)
    return HouseholdKAnonymity(max(1, round(k)))


def _composed_homes(place: Place) -> PrivacyModel:
    k = place.picked([literature.fewest_alike(place.table.homes)])
    return HouseholdCompositionKAnonymity(max(1, round(k)))


def _found(place: Place) -> PrivacyModel:
    risk = literature.household_risk(place.table.homes)
    return HouseholdRisk(min(1.0, place.picked([float(risk)])))


def _of_persons(make: Make) -> Make:
    """What makes the same model without what it counts of records."""

    def made(place: Place) -> PrivacyModel:
        model = make(place)
        if isinstance(model, EntropyLDiversity):
            return replace(model, estimator="plug-in")
        return replace(model, k=1) if isinstance(model, AlphaKAnonymity) else model

    return made


def _distinct(place: Place) -> PrivacyModel:
    l = place.reached(lambda group, name: literature.distinct(group.values[name]), least=True)  # noqa: E741
    return DistinctLDiversity(max(1, round(l)), attribute=place.attribute)


def _entropy(place: Place) -> PrivacyModel:
    estimator = str(place.rng.choice([*literature.ENTROPIES]))
    l = place.reached(  # noqa: E741
        lambda group, name: literature.entropy_l(group.values[name], estimator), least=True
    )
    return EntropyLDiversity(max(1.0, l), estimator, attribute=place.attribute)


def _recursive(place: Place) -> PrivacyModel:
    l = int(place.rng.integers(1, 4))  # noqa: E741
    c = place.reached(lambda group, name: literature.recursive_c(group.values[name], l))
    return RecursiveLDiversity(c if isfinite(c) else 3.0, l, attribute=place.attribute)


def _close(place: Place) -> PrivacyModel:
    rng, attribute = place.rng, place.attribute
    columns = [[row[name] for row in place.brute.rows] for name in place.asked]
    missing = any(None in column for column in columns)
    natural = not missing and all(str(v)[0].isdigit() for column in columns for v in column)
    known = ["kl", "equal", "hierarchical"]
    known += [] if missing else ["stated"]
    known += ["ordered", "ordered"] if natural else []
    chosen = str(rng.choice(known))
    if chosen == "stated":
        texts = sorted({str(value) for column in columns for value in column})
        others = ["x", "y", "z"][: rng.integers(1, 4)]  # that no record has
        order = tuple(rng.permutation([*texts, *others]).tolist())
        model = TCloseness(0, "ordered", order=order, attribute=attribute)
    elif chosen == "hierarchical":
        rows = [[str(v), *row[1:]] for v, row in place.brute.tree.items() if v is not None]
        hierarchy = Hierarchy.from_rows(rows or [["x", "*"]])
        model = TCloseness(0, "hierarchical", hierarchy=hierarchy, attribute=attribute)
    else:
        model = TCloseness(0, chosen, attribute=attribute)
    return replace(model, t=max(0.0, place.bounded(model)))


def _alpha(place: Place) -> PrivacyModel:
    model = AlphaKAnonymity(1.0, int(place.rng.integers(1, 5)), attribute=place.attribute)
    return replace(model, alpha=min(1.0, place.bounded(model)))


def _likely(place: Place) -> PrivacyModel:
    number = place.rng.random()
    kind = BasicBetaLikeness if number < 0.5 else EnhancedBetaLikeness
    model = kind(1.0, attribute=place.attribute)
    beta = place.bounded(model) or 0.5
    if number < 0.25:  # the same condition in bits, so that optima stay
        return PointwiseMaximalLeakage(log2(1 + beta), attribute=place.attribute)
    return replace(model, beta=beta)


def _disclosing(place: Place) -> PrivacyModel:
    model = DeltaDisclosure(1.0, attribute=place.attribute)
    return replace(model, delta=place.bounded(model) or 0.5)


def _gaining(place: Place) -> PrivacyModel:
    kind = BayesianGain if place.rng.random() < 0.5 else ValueGain
    model = kind(0.0, attribute=place.attribute)
    return replace(model, gain=min(1.0, max(0.0, place.bounded(model))))


def _informing(place: Place) -> PrivacyModel:
    groups = [[group.values[name] for group in place.table.occupied] for name in place.asked]
    bits = place.picked([literature.mean_information(each) for each in groups])
    return MeanInformation(max(0.0, bits), attribute=place.attribute)


def _telling(place: Place) -> PrivacyModel:
    groups = [[group.values[name] for group in place.table.occupied] for name in place.asked]
    risk = place.picked([literature.itpr(each) for each in groups])
    return Itpr(min(1.0, max(0.0, risk)), attribute=place.attribute)


def _small(place: Place) -> PrivacyModel:
    risk = literature.reidentification_itpr(group.size for group in place.table.occupied)
    return ReidentificationItpr(min(1.0, max(0.0, place.picked([risk]))))


def _risky(place: Place) -> PrivacyModel:
    people = place.people
    if place.rng.random() < 0.5:
        risk = place.sized(lambda group: 1 / (group.size if people is None else group.people))
        return HighestReidentificationRisk(min(1.0, risk), people)
    groups = place.table.occupied
    records = sum(group.size for group in groups)
    risk = sum(group.size / (group.size if people is None else group.people) for group in groups)
    return AverageReidentificationRisk(min(1.0, place.picked([risk / records])), people)


def _mapped(place: Place) -> PrivacyModel:
    if place.people is None:  # what a class comes to in the population are sums of weights
        risk = place.sized(lambda group: literature.individual_risk(group.size, group.people))
        return IndividualRisk(min(1.0, risk))
    people = max(1, round(place.sized(lambda group: group.people, least=True)))
    return KMap(people, place.brute.population)


def _present(place: Place) -> PrivacyModel:
    shares = sorted(
        [0.0, *(place.sized(lambda group: group.size / group.people) for _ in range(2))]
    )
    lower, upper = list(pairwise(shares))[place.rng.integers(2)]
    return DeltaPresence(min(1.0, lower), min(1.0, upper) or 0.5, place.brute.population)


OF_SIZES: list[Make] = [_anonymous, _anonymous, _risky, _small]
OF_PERSONS: list[Make] = [_persons, _persons, _one_person, _one_person, _anonymous]
OF_VALUES: list[Make] = [
    _distinct,
    _entropy,
    _recursive,
    _close,
    _close,
    _alpha,
    _likely,
    _disclosing,
    _gaining,
    _informing,
    _telling,
]
OF_PEOPLE: list[Make] = [_mapped, _present, _present, _risky]
