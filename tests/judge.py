"""Whether a table satisfies a policy, as the literature words it: plain Python on counted classes.

Of the package it takes the parameters of models alone, and the estimates of uniqueness that are
fitted by iterations. A comparison forgives 1e-9, of bits where the quantity is an entropy; a strict
one forgives nothing.

A model of the tests says itself what holds, in plain Python: ``holds`` of the size of a class,
``tells_little`` of its values and those of the table, or ``holds_of`` of the sizes of all classes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count as counting
from itertools import product
from math import log2

import literature
import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.privacy import (
    AlphaKAnonymity,
    AverageReidentificationRisk,
    BasicBetaLikeness,
    BayesianGain,
    CompositionKAnonymity,
    DeltaDisclosure,
    DeltaPresence,
    DifferentialPrivacy,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    EventModel,
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
    PopulationUniqueness,
    RecursiveLDiversity,
    ReidentificationItpr,
    TCloseness,
    ValueGain,
)

FORGIVEN = 1e-9

Label = tuple[object, ...]
Tree = Mapping[object, tuple[object, ...]]
"""The labels of every sensitive value, the value itself first."""

WHOLE = (
    HouseholdCompositionKAnonymity,
    HouseholdRisk,
    CompositionKAnonymity,
    KmAnonymity,
    MeanInformation,
    Itpr,
    ReidentificationItpr,
    AverageReidentificationRisk,
    PopulationUniqueness,
)
"""Models of the table as a whole."""


def about_table(model: object) -> bool:
    """Whether a model is about the table as a whole."""
    return isinstance(model, WHOLE) or hasattr(model, "holds_of")


def fewest(model: object) -> int:
    """The records without which no class can have what a model asks of its values."""
    if isinstance(model, AlphaKAnonymity):
        return model.k
    if isinstance(model, DistinctLDiversity | RecursiveLDiversity):
        return model.l
    if isinstance(model, EntropyLDiversity):
        return next(n for n in counting(1) if log2(n) >= log2(model.l) - FORGIVEN)
    return 0


@dataclass(frozen=True)
class Class:
    """The records of one label, the people of a population that they may be, and whose they are.

    Where persons are known, a record counts among the values as the share that it is of all that
    its person has in the table; ``once`` of all that they have in the class, ``each`` as one.
    ``own`` are the values of each person.
    ``homes`` are the records by household.
    """

    size: int = 0
    people: int = 0
    values: Mapping[str, Counter] = field(default_factory=dict)
    persons: Counter = field(default_factory=Counter)
    once: Mapping[str, Counter] = field(default_factory=dict)
    each: Mapping[str, Counter] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, Counter]] = field(default_factory=dict)

    def asked(self, name: str, value: object) -> Counter:
        """The values, where who has this one has no other, and all persons count once."""
        found = Counter()
        for person, values in self.own[name].items():
            for each, records in values.items():
                if value in values:
                    found[value] += Fraction(each == value)
                else:
                    found[each] += Fraction(records, self.persons[person])
        return +found

    def has(self, name: str, value: object) -> Fraction:
        """The share of the persons with any value who have this one."""
        own = self.own[name].values()
        return Fraction(sum(value in values for values in own), len(own) or 1)

    def mixed(self, name: str, value: object) -> bool:
        """Whether somebody has a value and others, too."""
        own = self.own[name].items()
        return any(
            value in values and values[value] < self.persons[person] for person, values in own
        )

    homes: Counter = field(default_factory=Counter)


@dataclass(frozen=True)
class Counted:
    """A table by classes, those among them that only a population has people of.

    ``known``: the records by value that classes are held against, where they are others than these.
    """

    classes: Mapping[Label, Class]
    sensitive: Sequence[str]
    tree: Tree = field(default_factory=dict)
    known: Mapping[str, Counter] | None = None

    @classmethod
    def of(
        cls,
        labels: Sequence[Label | None],
        rows: Sequence[Mapping[str, object]],
        sensitive: Sequence[str],
        people: Iterable[Label] = (),
        tree: Tree | None = None,
        gap: bool = False,
        person: str = "",
        household: str = "",
    ) -> "Counted":
        """Count records by label; those without one are not in the table.

        ``gap``: a missing value of a sensitive attribute that has others counts as nothing.
        ``person``: the column that tells whose each record is; ``household``: that of households.
        """
        many = Counter(row[person] for row in rows) if person else Counter()
        blank = {name for name in sensitive if gap and any(row[name] is not None for row in rows)}
        members: dict[Label, list[Mapping[str, object]]] = {}
        for label, row in zip(labels, rows, strict=True):
            if label is not None:
                members.setdefault(label, []).append(row)
        crowd = Counter(people)
        classes = {}
        for label in [*members, *(other for other in crowd if other not in members)]:
            inside = members.get(label, [])
            persons = Counter(row[person] for row in inside) if person else Counter()
            ways = [{name: Counter() for name in sensitive} for _ in range(3)]
            own: dict[str, dict[str, Counter]] = {name: {} for name in sensitive}
            for row, name in product(inside, sensitive):
                if row[name] is None and name in blank:
                    continue
                counts = [Fraction(1, n[row[person]]) for n in (many, persons)] if person else [1]
                for values, count in zip(ways, [*counts, 1], strict=False):
                    values[name][row[name]] += count
                own[name].setdefault(row.get(person, ""), Counter())[row[name]] += 1
            values, once, each = ways if person else (ways[0], {}, {})
            homes = Counter(row[household] for row in inside) if household else Counter()
            ways = values, persons, once, each, own, homes
            classes[label] = Class(len(inside), crowd[label], *ways)
        return cls(classes, sensitive, tree or {})

    @cached_property
    def alone(self) -> "Counted | None":
        """The table to who takes all of its records for equally likely; None: it is this one."""
        if not any(group.persons for group in self.occupied):
            return None
        classes = {label: replace(g, values=g.each) for label, g in self.classes.items()}
        return replace(self, classes={k: replace(g, persons=Counter()) for k, g in classes.items()})

    def alike(self, models: Iterable[object]) -> bool:
        """Whether models hold to who takes the persons of each class for equally likely."""
        if self.alone is None:
            return True
        classes = {label: replace(g, values=g.once) for label, g in self.classes.items()}
        table = replace(
            self,
            classes={label: replace(g, persons=Counter()) for label, g in classes.items()},
            known=self.margins,
        )
        about = [model for model in models if model.sensitive]
        return not table.broken(about) and table.allowed(about)

    def asked_of(self, models: Iterable[object]) -> bool:
        """Whether models hold to who asks of a value whether persons have it in any record.

        Where a model compares with the table this tells something of the classes alone in which the
        value is of a larger share of persons.
        """
        if self.alone is None:
            return True
        whole = Class(own={name: self._owned(name) for name in self.sensitive})
        for name in self.sensitive:
            about = [m for m in models if m.sensitive and name in self.asked(m)]
            about = [replace(model, attribute=name) for model in about]
            for value in {value for values in whole.own[name].values() for value in values}:
                if not all(self._withstands(model, name, value, whole) for model in about):
                    return False
        return True

    def _withstands(self, model: object, name: str, value: object, whole: Class) -> bool:
        """Whether a model holds to who asks of one value."""
        if about_table(model) or model.absolute:
            classes = {
                label: replace(group, values={name: group.asked(name, value)}, persons=Counter())
                for label, group in self.classes.items()
                if group.size
            }
            table = Counted(classes, [name], self.tree)
            if about_table(model):
                return table.bounded(model)
            return all(table.satisfies(model, group) for group in table.occupied)
        known = literature.shifted(self.margins[name], value, whole.has(name, value))
        table = Counted({}, [name], self.tree, {name: known})
        for group in self.occupied:
            share = group.has(name, value)
            if share > whole.has(name, value) and group.mixed(name, value):
                counts = literature.shifted(self.margins[name], value, share)
                if not table.satisfies(model, replace(group, values={name: counts})):
                    return False
        return True

    def _owned(self, name: str) -> dict[str, Counter]:
        """The values of each person in the whole table."""
        found: dict[str, Counter] = {}
        for group in self.occupied:
            for person, values in group.own[name].items():
                found.setdefault(person, Counter()).update(values)
        return found

    @cached_property
    def occupied(self) -> list[Class]:
        """The classes that have records."""
        return [group for group in self.classes.values() if group.size]

    @cached_property
    def persons(self) -> list[Counter]:
        """The records of each class that has any by person."""
        return [group.persons for group in self.occupied]

    @property
    def homes(self) -> list[Counter]:
        """The same by household."""
        return [group.homes for group in self.occupied]

    @cached_property
    def margins(self) -> Mapping[str, Counter]:
        """The records by value, of each sensitive attribute."""
        return self.known or {
            name: literature.added(group.values[name] for group in self.occupied)
            for name in self.sensitive
        }

    @cached_property
    def keys(self) -> Mapping[str, frozenset]:
        """The same as sets, which hash once."""
        return {name: _key(margin) for name, margin in self.margins.items()}

    def broken(self, models: Iterable[object]) -> set[Label]:
        """The classes that break a model of single classes."""
        single = [model for model in models if not about_table(model)]
        found = {
            label
            for label, group in self.classes.items()
            if not all(self.satisfies(model, group) for model in single)
        }
        about = [model for model in single if model.sensitive]
        return found if self.alone is None else found | self.alone.broken(about)

    def by_size(self, models: Iterable[object]) -> set[Label]:
        """The classes that break what quasi-identifiers alone decide: sizes, and people."""
        sized = self.broken(model for model in models if not model.sensitive)
        needed = max((fewest(model) for model in models), default=0)
        return sized | {label for label, group in self.classes.items() if 0 < group.size < needed}

    def allowed(self, models: Iterable[object]) -> bool:
        """Whether the table as a whole satisfies the models that are about it."""
        whole = [model for model in models if about_table(model)]
        about = [model for model in whole if model.sensitive]
        fine = all(map(self.bounded, whole))
        return fine and (self.alone is None or self.alone.allowed(about))

    def valued(self, name: str) -> list[Counter]:
        """The values of an attribute in each class that has any."""
        return [group.values[name] for group in self.occupied if group.values[name]]

    def asked(self, model: object) -> Sequence[str]:
        """The sensitive attributes that a model is about."""
        return self.sensitive if model.attribute is None else [model.attribute]

    def satisfies(self, model: object, group: Class) -> bool:
        """Whether a class satisfies a model; one without records can break presence alone."""
        match model:
            case DeltaPresence(lower, upper):
                known = literature.presence(0, Counter({0: group.size}), Counter({0: group.people}))
                return lower - FORGIVEN <= known <= upper + FORGIVEN
            case _ if not group.size:
                return True
            case PersonKAnonymity(k) | HouseholdKAnonymity(k):
                return len(group.homes if model.of_households else group.persons) >= k
            case LargestShare(share):
                return Fraction(max(group.persons.values()), group.size) <= share + FORGIVEN
            case KAnonymity() | DifferentialPrivacy():
                return group.size >= model.k
            case KMap(k):
                return literature.k_map(0, Counter({0: group.people})) >= k
            case HighestReidentificationRisk(risk):
                taken_for = group.size if model.population is None else group.people
                return literature.highest_risk([taken_for]) <= risk + FORGIVEN
            case IndividualRisk(risk):
                # Where persons have several records, they are who stands for others.
                found = literature.individual_risk(len(group.persons) or group.size, group.people)
                return found <= risk + FORGIVEN
            case _ if not model.sensitive:
                return model.holds(group.size)
        known = _hashable(model)
        fine = _discloses_little if known else _discloses_little.__wrapped__
        tree = () if known else tuple(self.tree.items())
        return all(
            group.values[name] and fine(model, _key(group.values[name]), self.keys[name], tree)
            for name in self.asked(model)
        )

    def hides(self, model: object) -> bool:
        """Whether the table satisfies a model of persons, or of households, as a whole."""
        if isinstance(model, KmAnonymity):
            return literature.fewest_left(self.persons, model.m) >= model.k
        if isinstance(model, HouseholdRisk):
            return literature.household_risk(self.homes) <= Fraction(repr(model.risk))
        return (
            literature.fewest_alike(self.homes if model.of_households else self.persons) >= model.k
        )

    def bounded(self, model: object) -> bool:
        """Whether the table satisfies a model of whole tables."""
        if isinstance(model, MeanInformation):
            return all(
                literature.mean_information(self.valued(name)) <= model.bits + FORGIVEN
                for name in self.asked(model)
            )
        if isinstance(model, Itpr):
            return all(
                literature.itpr(self.valued(name)) <= model.risk + FORGIVEN
                for name in self.asked(model)
            )
        if isinstance(model, EventModel | HouseholdRisk):
            return self.hides(model)
        sizes = [group.size for group in self.occupied]
        if hasattr(model, "holds_of"):
            return model.holds_of(sizes)
        if isinstance(model, PopulationUniqueness):
            return uniqueness(model, sizes) <= model.uniqueness + FORGIVEN
        if isinstance(model, ReidentificationItpr):
            return literature.reidentification_itpr(sizes) <= model.risk + FORGIVEN
        records = sum(sizes)
        if model.population is None:
            risk = literature.average_risk([group.size for group in self.occupied])
        else:
            risk = sum(Fraction(group.size, group.people) for group in self.occupied) / records
        return risk <= model.risk + FORGIVEN


def _hashable(model: object) -> bool:
    return not (isinstance(model, TCloseness) and model.hierarchy is not None)


def _key(counts: Counter) -> frozenset:
    return frozenset(counts.items())


def _believed(group: Counter, table: Counter, odds: float) -> Iterable[Counter]:
    """What may be believed of a class: a part of its shares, and some value of the table else.

    The part is rounded down to thousandths, as the library does.
    """
    kept = Fraction(int(1000 / odds), 1000)
    for value in table:
        believed = Counter({other: kept * count for other, count in group.items()})
        believed[value] += (1 - kept) * group.total()
        yield believed


@lru_cache(maxsize=100_000)
def _discloses_little(model: object, group: frozenset, table: frozenset, tree: tuple) -> bool:
    """Whether a class, as counts of one attribute's values, satisfies a model about it."""
    counts, margin = Counter(dict(group)), Counter(dict(table))
    if getattr(model, "odds", None) is not None:
        plain = replace(model, odds=None)  # type: ignore[type-var]
        every = [counts, *_believed(counts, margin, model.odds)]
        return all(_discloses_little(plain, _key(each), table, tree) for each in every)
    if hasattr(model, "tells_little"):
        return model.tells_little(counts, margin)
    if isinstance(model, EntropyLDiversity):
        effective = max(literature.entropy_l(counts, model.estimator), 1)
        return log2(effective) >= log2(model.l) - FORGIVEN
    if isinstance(model, DistinctLDiversity):
        return literature.distinct(counts) >= model.l
    if isinstance(model, RecursiveLDiversity):
        return literature.recursive_c(counts, model.l) < model.c
    if isinstance(model, EnhancedBetaLikeness):
        return literature.satisfies_enhanced(counts, margin, model.beta + FORGIVEN)
    if isinstance(model, AlphaKAnonymity) and counts.total() < model.k > 1:
        return False
    return quantity(model, counts, margin, dict(tree)) <= model.threshold + FORGIVEN


def uniqueness(model: PopulationUniqueness, sizes: Sequence[int]) -> float:
    """The estimated share of the population that is unique; infinite without an answer."""
    if 1 not in sizes or model.fraction == 1 or model.estimator == "zayatz":
        return literature.zayatz(sizes, model.fraction)
    return float(model.measure(Classes(np.array([sizes]).T, np.array([sum(sizes)])))[0])


def quantity(model: object, group: Counter, table: Counter, tree: Tree) -> float:
    """What a model bounds from above, of one class and one attribute."""
    match model:
        case TCloseness():
            return _distance(model, group, table, tree)
        case AlphaKAnonymity():
            return literature.alpha(group)
    measures = {
        BasicBetaLikeness: literature.basic_beta,
        EnhancedBetaLikeness: literature.basic_beta,
        DeltaDisclosure: literature.delta_disclosure,
        PointwiseMaximalLeakage: literature.pointwise_maximal_leakage,
        BayesianGain: literature.bayesian_gain,
        ValueGain: literature.value_gain,
    }
    return measures[type(model)](group, table)


def _distance(model: TCloseness, group: Counter, table: Counter, tree: Tree) -> float:
    match model.distance, model.order:
        case "kl", _:
            return literature.divergence(group, table)
        case "equal", _:
            return literature.equal(group, table)
        case "hierarchical", _:
            return literature.hierarchical(group, table, tree)
        case _, None:
            numbers = sorted(as_numbers(table))
            return literature.ordered(as_numbers(group), as_numbers(table), numbers)
    texts = (Counter({str(v): n for v, n in some.items()}) for some in (group, table))
    return literature.ordered(*texts, model.order)


def as_numbers(counts: Counter) -> Counter:
    """Counts by the number that each value is, or writes out, of those that occur."""
    found: Counter = Counter()
    for value, count in counts.items():
        if count:
            found[Fraction(str(value))] += count
    return found
