"""Policies about persons counted in plain Python, record by record: the oracle of what is released.

Knows a table as rows of labels, a sensitive value and a person; nothing of counts or kernels.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import floor, log2
from typing import NamedTuple


class Record(NamedTuple):
    """A released record: its labels, its sensitive value, whose it is, and how many these have.

    ``records``: of the person, in the table before any was left out; a record counts 1 / records.
    """

    labels: tuple[Hashable, ...]
    value: Hashable
    person: Hashable
    records: int

    @property
    def weight(self) -> Fraction:
        return Fraction(1, self.records)


def records_of(
    labels: Sequence[Sequence[Hashable]], values: Sequence[Hashable], persons: Sequence[Hashable]
) -> list[Record]:
    """The records of a whole table, a row of labels each."""
    many = Counter(persons)
    rows = zip(labels, values, persons, strict=True)
    return [Record(tuple(row), value, person, many[person]) for row, value, person in rows]


def classes_of(records: Sequence[Record]) -> list[list[Record]]:
    found: dict[tuple[Hashable, ...], list[Record]] = defaultdict(list)
    for record in records:
        found[record.labels].append(record)
    return list(found.values())


def shares(records: Sequence[Record]) -> dict[Hashable, Fraction]:
    """The share of each sensitive value, each record of a person with n weighing 1/n."""
    found: dict[Hashable, Fraction] = defaultdict(Fraction)
    for (value, n), alike in Counter((each.value, each.records) for each in records).items():
        found[value] += Fraction(alike, n)
    total = sum(found.values())
    return {value: weight / total for value, weight in found.items()}


def persons(group: Sequence[Record], table: Sequence[Record]) -> float:
    return len({record.person for record in group})


def largest_share(group: Sequence[Record], table: Sequence[Record]) -> float:
    return max(Counter(record.person for record in group).values()) / len(group)


def fewest_left(records: Sequence[Record], known: int) -> int:
    """The fewest persons left to who knows the labels of so many records of somebody.

    Every choice of records of every person is tried; of a person with fewer all are known. Left is
    everybody who has as many records with each of these labels.
    """
    own: dict[Hashable, list[tuple[Hashable, ...]]] = defaultdict(list)
    for record in records:
        own[record.person].append(record.labels)
    held = {person: Counter(labels) for person, labels in own.items()}
    return min(
        sum(Counter(chosen) <= other for other in held.values())
        for labels in own.values()
        for chosen in combinations(labels, min(known, len(labels)))
    )


def stay(
    records: Sequence[Record], k: int, share: float, least: int = 1, numbers: bool = False
) -> set[Hashable]:
    """The persons of the largest set of whom every class has enough when they are alone in it.

    At least k persons and ``least`` records, and of nobody more than a share; ``numbers``: so of
    every set of linked records, too. Of few persons every set is tried; of many they go one by one,
    the last of them first.
    """

    def wrong(kept: set[Hashable]) -> list[Hashable]:
        found = []
        left = [record for record in records if record.person in kept]
        for group in [*classes_of(left), *(linked(left) if numbers else ())]:
            own = Counter(record.person for record in group)
            small = len(own) < k or len(group) < least
            found += [person for person, n in own.items() if small or n / len(group) > share + 1e-9]
        return found

    everybody = sorted({record.person for record in records}, key=str)
    if len(everybody) <= FEW:
        sets = (
            set(some) for n in range(len(everybody), 0, -1) for some in combinations(everybody, n)
        )
        return next((some for some in sets if not wrong(some)), set())
    kept = {*everybody}
    while broken := wrong(kept):
        kept.remove(max(broken, key=str))
    return kept


FEW = 8
"""Persons of whom every set is tried."""


def fewest_alike(records: Sequence[Record]) -> int:
    """The fewest persons left to who knows the labels of all records of somebody."""
    own: dict[Hashable, Counter] = defaultdict(Counter)
    for record in records:
        own[record.person][record.labels] += 1
    return min(sum(held == other for other in own.values()) for held in own.values())


def linked(records: Sequence[Record]) -> list[list[Record]]:
    """The sets of records that a reader sees who is shown which are of one person.

    All records of the persons who have as many with each labels, and those of them with some.
    """
    own: dict[Hashable, Counter] = defaultdict(Counter)
    for record in records:
        own[record.person][record.labels] += 1
    found: dict[object, list[Record]] = defaultdict(list)
    for record in records:
        composition = frozenset(own[record.person].items())
        found[composition].append(record)
        found[composition, record.labels].append(record)
    return list(found.values())


# Persons who have weights


def people(group: Sequence[Record], weight_of: Mapping[Hashable, object]) -> int:
    """The people whom the persons of a class stand for, each once and for themselves at least."""
    own = {record.person: Fraction(str(weight_of[record.person])) for record in group}
    return floor(sum(max(weight, Fraction(1)) for weight in own.values()))


# Households of persons who have several records


def households(group: Sequence[Record], home_of: Mapping[Hashable, Hashable]) -> int:
    return len({home_of[record.person] for record in group})


def household_risk(records: Sequence[Record], home_of: Mapping[Hashable, Hashable]) -> Fraction:
    """The chance that any member of the household is found that is found most easily.

    Of each class a person is taken for each member who is in it, or a record: the worse of both.
    """
    chances = []
    for by_record in (False, True):
        missed: dict[Hashable, Fraction] = defaultdict(lambda: Fraction(1))
        for group in classes_of(records):
            own = Counter(record.person for record in group)
            for person, n in own.items():
                part = Fraction(n, len(group)) if by_record else Fraction(1, len(own))
                missed[home_of[person]] *= 1 - part
        chances.append(1 - min(missed.values()))
    return max(chances)


def fewest_households(records: Sequence[Record], home_of: Mapping[Hashable, Hashable]) -> int:
    """The fewest households left to who knows the labels of all records of all members of one."""
    own: dict[Hashable, Counter] = defaultdict(Counter)
    for record in records:
        own[record.person][record.labels] += 1
    members: dict[Hashable, Counter] = defaultdict(Counter)
    for person, held in own.items():
        members[home_of[person]][frozenset(held.items())] += 1
    return min(sum(those == other for other in members.values()) for those in members.values())


def effective(group: Sequence[Record], table: Sequence[Record]) -> float:
    """2^H of the sensitive values."""
    return 2.0 ** -sum(float(p) * log2(p) for p in shares(group).values())


def distinct(group: Sequence[Record], table: Sequence[Record]) -> float:
    return len({record.value for record in group})


def likeliest(group: Sequence[Record], table: Sequence[Record]) -> float:
    return float(max(shares(group).values()))


def distance(group: Sequence[Record], table: Sequence[Record]) -> float:
    """Total variation of the sensitive values of a class and of the table."""
    own, whole = shares(group), shares(table)
    return float(sum(abs(own.get(value, 0) - whole[value]) for value in whole) / 2)


def gain(group: Sequence[Record], table: Sequence[Record]) -> float:
    own, whole = shares(group), shares(table)
    return float(max((own.get(value, 0) - p) / p for value, p in whole.items()))


Measure = Callable[[Sequence[Record], Sequence[Record]], float]


def once_each(group: Sequence[Record]) -> list[Record]:
    """A class as who takes its persons for equally likely counts it: each of them once."""
    many = Counter(record.person for record in group)
    return [record._replace(records=many[record.person]) for record in group]


def singly(records: Sequence[Record]) -> list[Record]:
    """Records as who takes all of them for equally likely counts them."""
    return [record._replace(records=1) for record in records]


def asked(records: Sequence[Record], value: Hashable) -> list[Record]:
    """Records to who asks of one value who has it: those have nothing else; all count once."""
    has = {record.person for record in records if record.value == value}
    kept = [each for each in records if each.person not in has or each.value == value]
    return once_each(kept)


def has(records: Sequence[Record], value: Hashable) -> Fraction:
    """The share of persons who have a value in any record."""
    having = {record.person for record in records if record.value == value}
    return Fraction(len(having), len({record.person for record in records}))


def mixed(group: Sequence[Record]) -> set[Hashable]:
    """The values that somebody of a class has together with others."""
    own: dict[Hashable, set[Hashable]] = defaultdict(set)
    for record in group:
        own[record.person].add(record.value)
    return {value for values in own.values() if len(values) > 1 for value in values}


RELATIVE: Mapping[Measure, Callable[[Fraction, Fraction], float]] = {
    distance: lambda share, known: float(share - known),
    gain: lambda share, known: float((share - known) / known),
}
"""What compares with the table, by the share of one value in a class and in the table."""


def of_class(
    measure: Measure,
    group: Sequence[Record],
    records: Sequence[Record],
    at_least: bool,
    each: bool = False,
) -> float:
    """The measure of a class, in the worst of three ways of counting.

    Every record counts 1; or 1 / n of a person with n records; or 1 / n of one with n in the class.
    ``each``: and as who asks of a value counts, whichever it is.
    """
    ways = [(group, records), (once_each(group), records), (singly(group), singly(records))]
    found = [measure(*way) for way in ways]
    for value in mixed(group) if each else ():
        share, known = has(group, value), has(records, value)
        if measure in RELATIVE:  # what a larger share alone changes
            found += [RELATIVE[measure](share, known)] if share > known else []
        else:
            found.append(measure(asked(group, value), records))
    return (min if at_least else max)(found)


def worst(
    measure: Measure,
    records: Sequence[Record],
    at_least: bool,
    each: bool = False,
    numbers: bool = False,
) -> float:
    """The measure of the class that comes off worst; ``numbers``: or the set of linked records."""
    sets = [*classes_of(records), *(linked(records) if numbers else ())]
    found = (of_class(measure, group, records, at_least, each) for group in sets)
    return (min if at_least else max)(found)
