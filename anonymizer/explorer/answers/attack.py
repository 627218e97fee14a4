"""What an attacker learns who knows some quasi-identifiers of a person: of tables side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anonymizer.advice.space import disclosure_of, guessed_by
from anonymizer.counts.counts import Classes, Counts
from anonymizer.feedback.words import count, number, share
from anonymizer.risk.attacks import guesses, linkage

NOTHING = "-"
"""What stands for a figure that there is none of."""


@dataclass(frozen=True)
class Guessing:
    """What is inferred of one sensitive attribute.

    ``surest``: the largest share of a value in a class. ``certain``: records in classes of one
    value. ``nearly``: records whose value is guessed with 80 % or more. ``right``: the share of
    records guessed right by naming the most common value of each class; ``blind``: of the table.
    """

    surest: float
    certain: int
    nearly: int
    right: float
    blind: float


@dataclass(frozen=True)
class Exposure:
    """What a table exposes to an attacker.

    ``classes``: groups of records that the attacker cannot tell apart. ``highest`` and ``average``
    are probabilities to be re-identified, ``alone`` the records that are found for sure.
    """

    records: int
    classes: int
    highest: float
    average: float
    alone: int
    guessing: Guessing | None


@dataclass(frozen=True)
class ExposureMeasure:
    """A figure of an exposure: its name, what it means, and how it is written.

    ``short``: its name in a chart. ``portion``: the same as a share of 1, to be drawn.
    """

    name: str
    short: str
    meaning: str
    text: Callable[[Exposure], str]
    portion: Callable[[Exposure], float]


def exposure_of(
    counts: Counts, known: Sequence[str] | None, attribute: str | None, in_table: bool = True
) -> Exposure:
    """What counts expose to an attacker who knows some quasi-identifiers of everybody; None: all.

    The attacker recognizes the released values that those known became: records that are
    suppressed are a class of their own. ``in_table``: whether the attacker knows that the person
    is in the table; else anybody of the population may be meant, where the counts have one. Where
    rows are joined, values are guessed by all rows of a person.
    """
    seen = seen_by(counts, known)
    some = seen.sizes > 0
    sizes = seen.sizes[some]
    people = None if in_table or seen.population is None else seen.population[some]
    found = linkage(sizes, people)
    success = found.prosecutor if people is None or found.journalist is None else found.journalist
    return Exposure(
        records=int(sizes.sum()),
        classes=len(sizes),
        highest=success.highest,
        average=success.average,
        alone=success.certain,
        guessing=None if attribute is None else _guessing(guessed_by(seen, attribute)),
    )


def seen_by(counts: Counts, known: Sequence[str] | None) -> Counts:
    """The classes that differ in some quasi-identifiers; None: by all of them.

    Whoever knows all of them tells apart the classes that only a number tells apart, too.
    """
    if known is None:
        return counts
    return counts.project(tuple(name for name in counts.names if name in known))


def _guessing(classes: Classes) -> Guessing:
    disclosed = disclosure_of(classes)
    if not disclosed.records:  # everybody's value is missing, and counts as nothing
        return Guessing(0.0, 0, 0, 0.0, 0.0)
    guessed = guesses(classes.known.joint)
    return Guessing(
        surest=disclosed.worst,
        certain=disclosed.sure,
        nearly=disclosed.guessed,
        right=guessed.accuracy,
        blind=guessed.baseline,
    )


def _records(number_of: int, exposure: Exposure) -> str:
    return f"{count(number_of)} ({share(number_of / exposure.records)})"


GUESSING: tuple[ExposureMeasure, ...] = (
    ExposureMeasure(
        "Surest guess",
        "Surest guess",
        "The person whose value is easiest to guess: how sure the guess is.",
        lambda each: share(_of(each).surest),
        lambda each: _of(each).surest,
    ),
    ExposureMeasure(
        "Value certain",
        "Value certain",
        "Records whose class has one value only: whoever finds the class knows it.",
        lambda each: _records(_of(each).certain, each),
        lambda each: _of(each).certain / each.records,
    ),
    ExposureMeasure(
        "Value guessed with 80% or more",
        "Guessed with 80%",
        "Records whose value is that of at least 80% of their class.",
        lambda each: _records(_of(each).nearly, each),
        lambda each: _of(each).nearly / each.records,
    ),
    ExposureMeasure(
        "Guessed right on average",
        "Right on average",
        "Naming the most common value of each person's class is right this often.",
        lambda each: share(_of(each).right),
        lambda each: _of(each).right,
    ),
    ExposureMeasure(
        "Guessed right without classes",
        "Right without classes",
        "Naming the most common value of the whole table is right this often, released or not.",
        lambda each: share(_of(each).blind),
        lambda each: _of(each).blind,
    ),
)
"""What is inferred of a sensitive attribute."""

LINKAGE: tuple[ExposureMeasure, ...] = (
    ExposureMeasure(
        "Highest re-identification risk",
        "Easiest to find",
        "The person who is easiest to find: the probability that the record picked is theirs.",
        lambda each: share(each.highest),
        lambda each: each.highest,
    ),
    ExposureMeasure(
        "Average re-identification risk",
        "Found on average",
        "The same on average over all records.",
        lambda each: share(each.average),
        lambda each: each.average,
    ),
    ExposureMeasure(
        "Records found for sure",
        "Found for sure",
        "Records that nobody else's values fit: whose they are is certain.",
        lambda each: _records(each.alone, each),
        lambda each: each.alone / each.records,
    ),
)
"""Who is found."""


def measures_for(attribute: str | None) -> tuple[ExposureMeasure, ...]:
    """The figures to show, with or without a sensitive attribute."""
    return LINKAGE if attribute is None else (*GUESSING, *LINKAGE)


def _of(exposure: Exposure) -> Guessing:
    assert exposure.guessing is not None
    return exposure.guessing


@dataclass(frozen=True)
class Telling:
    """What one attribute tells: of an attacker who knows it alone, and all of the others.

    Shares of records guessed right on average; without a sensitive attribute those found.
    """

    name: str
    alone: float
    others: float


def tellings_of(counts: Counts, names: Sequence[str], attribute: str | None) -> list[Telling]:
    """What each quasi-identifier tells; those that tell most by themselves come first."""

    def accuracy(known: Sequence[str]) -> float:
        found = exposure_of(counts, None if len(known) == len(names) else known, attribute)
        return found.average if found.guessing is None else found.guessing.right

    every = [
        Telling(name, accuracy([name]), accuracy([other for other in names if other != name]))
        for name in names
    ]
    return sorted(every, key=lambda each: (-each.alone, each.others))


def classes_in_words(exposure: Exposure) -> str:
    """How many groups there are, and their average size."""
    average = number(exposure.records / exposure.classes)
    return f"{count(exposure.classes)} of {average} records on average"
