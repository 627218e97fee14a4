"""Ends of ranges in random releases: none is a value of fewer than five records that need not be.

``python -m tests.borders --number 10000`` makes random studies: whole numbers, decimals, dates,
times, instants and orders of categories; crowded or far apart, some missing; every recoding that
makes ranges. The ends are read from the texts of the released table, and judged in plain Python by
the values of the raw one. An end that is a value of fewer than five records is avoidable where the
gap before that value holds another number, date or category. Each study is carried out again with
ranges that begin at values, as they once did: records have to fall into the same classes, and the
score has to be the same, but for a least width, which is one of the labels. Numbers that fail can
be tried again by ``--one``.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from random import Random
from unittest import mock

import click
import pandas as pd

from anonymizer import Anonymizer, Hierarchy, KAnonymity
from anonymizer.errors import AnonymizerError
from anonymizer.hierarchy.calendar import Dates
from anonymizer.hierarchy.order import Ranks
from anonymizer.hierarchy.scale import Scale
from anonymizer.recoding.classes import Boxes, MergedCells
from anonymizer.recoding.ranges import Cut, VariableRange

FEW = 5
"""Records that have to share a value for an end to be there."""

RECODINGS = {
    "variable-range": VariableRange,
    "cut": Cut,
    "boxes": Boxes,
    "merged-cells": MergedCells,
}
EACH = 10
"""Studies that a process takes at once."""

NAMES = [f"c{place:02}" for place in range(30)]


@dataclass(frozen=True)
class Kind:
    """A kind of column: how its values are drawn, generalize, and read as places in plain Python.

    ``step`` is the least distance between values of the kind; ``named``: labels name the values at
    both ends of a range, not where it ends.
    """

    name: str
    draw: Callable[[Random, int], list]
    hierarchy: Callable[[], Hierarchy]
    place: Callable[[str], Fraction]
    step: Callable[[Sequence[Fraction]], Fraction]
    named: bool = False


def whole(values: Sequence[Fraction]) -> Fraction:
    return Fraction(all(value.denominator == 1 for value in values))


def moment(text: str) -> Fraction:
    """Seconds since 1970 on the clock of the text, those of an instant in UTC."""
    found = datetime.fromisoformat(text).replace(tzinfo=None)
    return Fraction((found - datetime(1970, 1, 1)) // timedelta(microseconds=1), 1_000_000)


def day_or_second(values: Sequence[Fraction]) -> Fraction:
    return Fraction(86_400 if all(value % 86_400 == 0 for value in values) else 1)


def spread(rng: Random, size: int, most: int) -> list[int]:
    """Whole numbers: crowded, even, or with a long tail, and some of them far away."""
    shape = rng.choice(["crowded", "even", "tail"])
    draws = {
        "crowded": lambda: rng.randrange(max(most // 20, 3)),
        "even": lambda: rng.randrange(most),
        "tail": lambda: int(most * rng.random() ** 4),
    }
    found = [draws[shape]() for _ in range(size)]
    return [value + 50 * most if rng.random() < 0.03 else value for value in found]


def numbers(rng: Random, size: int) -> list:
    sign = rng.choice([1, -1])
    return [sign * value for value in spread(rng, size, rng.choice([12, 100, 5000, 10**6]))]


def decimals(rng: Random, size: int) -> list:
    digits = rng.choice([1, 2, 4])
    return [value / 10**digits for value in spread(rng, size, rng.choice([30, 500, 90_000]))]


def dates(rng: Random, size: int) -> list:
    first = date(rng.choice([1940, 1999, 2023]), rng.randint(1, 12), rng.randint(1, 28))
    days = spread(rng, size, rng.choice([20, 400, 1500]))
    firsts = rng.random() < 0.3  # registers put the first of a month where the day is unknown
    found = [first + timedelta(days=min(each, 60_000)) for each in days]
    return [str(day.replace(day=1) if firsts and rng.random() < 0.5 else day) for day in found]


def times(rng: Random, size: int) -> list:
    first = datetime(2023, rng.randint(1, 12), 1, rng.randrange(24))
    unit = rng.choice([3600, 60, 1])
    found = spread(rng, size, rng.choice([40, 3000]))
    return [str(first + timedelta(seconds=unit * each)) for each in found]


def instants(rng: Random, size: int) -> list:
    """Days of another time zone, as programs write them: 1960-01-01 is 1959-12-31T23:00:00Z."""
    return [f"{date.fromisoformat(day) - timedelta(days=1)}T23:00:00Z" for day in dates(rng, size)]


def categories(rng: Random, size: int) -> list:
    return [NAMES[value % len(NAMES)] for value in spread(rng, size, len(NAMES))]


KINDS = [
    Kind("whole", numbers, lambda: Hierarchy.ranges(widths=[10, 100]), Fraction, whole),
    Kind("decimal", decimals, lambda: Hierarchy.ranges(widths=[1, 10]), Fraction, whole),
    Kind("date", dates, lambda: Hierarchy.calendar(["month", "year"]), moment, day_or_second),
    Kind("day", dates, lambda: Hierarchy.calendar(["day", "year"]), moment, day_or_second),
    Kind("time", times, lambda: Hierarchy.calendar(["hour", "day"]), moment, day_or_second),
    Kind("instant", instants, lambda: Hierarchy.calendar(["day", "year"]), moment, day_or_second),
    Kind(
        "order", categories, lambda: Hierarchy.order(NAMES),
        lambda text: Fraction(NAMES.index(text)), lambda values: Fraction(1), named=True,
    ),
]  # fmt: skip


@dataclass(frozen=True)
class Study:
    """A random study: its table, its kinds by column, and what it is carried out with."""

    table: pd.DataFrame
    kinds: dict[str, Kind]
    hierarchies: dict[str, Hierarchy]
    recoding: str
    options: dict[str, object]
    k: int

    @classmethod
    def of(cls, number: int) -> "Study":
        """The study of a number."""
        rng = Random(number)
        recoding = rng.choice([*RECODINGS])
        size = rng.randint(8, 40 if recoding in ("boxes", "merged-cells") else 90)
        kinds = {name: rng.choice(KINDS) for name in ("x", "y")[: rng.randint(1, 2)]}
        columns = {name: kind.draw(rng, size) for name, kind in kinds.items()}
        if rng.random() < 0.2:
            columns["x"] = [None if rng.random() < 0.1 else each for each in columns["x"]]
        table = pd.DataFrame(
            {name: pd.Series(each, dtype=object) for name, each in columns.items()}
        )
        table["w"] = [rng.choice("abc") for _ in range(size)]
        hierarchies = {name: kind.hierarchy() for name, kind in kinds.items()}
        if rng.random() < 0.2:
            hierarchies["x"] = hierarchies["x"].limited(grid=rng.randint(2, 8))
        options: dict[str, object] = {}
        if rng.random() < 0.15:
            options["min_width"] = rng.choice([2, 5, 30])
        elif rng.random() < 0.2 and recoding in ("variable-range", "cut"):
            options["max_ranges"] = rng.randint(2, 5)
        return cls(table, kinds, hierarchies, recoding, options, rng.randint(1, 5))

    def released(self) -> tuple[pd.DataFrame, float] | None:
        """The released table as texts, and its score; None where the policy is out of reach."""
        anonymizer = Anonymizer(
            self.hierarchies, "w", [KAnonymity(self.k)], missing="category", seed=1,
            recoding=RECODINGS[self.recoding](**self.options), objective="mutual-information",
        )  # fmt: skip
        try:
            released = anonymizer.fit_transform(self.table)
        except AnonymizerError:
            return None
        return released.astype(object).map(str), anonymizer.search_.value

    def without(self, row: int) -> "Study":
        """The study without a record."""
        return replace(self, table=self.table.drop(index=row).reset_index(drop=True))


@contextmanager
def at_values() -> Iterator[None]:
    """Ranges begin at the upper one of two values, as long as this lasts."""
    with ExitStack() as stack:
        for scale in (Scale, Dates, Ranks):
            stack.enter_context(
                mock.patch.object(scale, "border", lambda own, low, high, step: high)
            )
        yield


def ends_of(label: str, kind: Kind) -> Iterator[str]:
    """The ends that a label shows: of a range [a, b) both, of categories the first and the last."""
    if kind.named:
        yield from label.split(" - ") if " - " in label else ()
    elif found := re.fullmatch(r"[\[(](.+), (.+)\)", label):
        yield from ({*found.groups()} - {"-inf", "inf"})


def avoidable(study: Study, released: pd.DataFrame) -> list[str]:
    """The ends of ranges that are values of few records and could be others, in words."""
    found = []
    for name, kind in study.kinds.items():
        present = [kind.place(str(each)) for each in study.table[name] if each is not None]
        records, values = Counter(present), sorted(set(present))
        for label in {*released[name]}:
            for end in ends_of(label, kind):
                place = kind.place(end)
                if 0 < records[place] < FEW and _others(label, end, place, kind, values):
                    found.append(f"{name} ({kind.name}): {end} of {label}")
    return found


def _others(label: str, end: str, place: Fraction, kind: Kind, values: list[Fraction]) -> bool:
    """Whether the gap that an end lies in holds others; of categories, two that nobody has."""
    own = values.index(place)
    if kind.named:
        last = label.endswith(f" - {end}")
        near = own + 1 if last else own - 1
        return 0 <= near < len(values) and abs(values[near] - place) > 2
    return own == 0 or place - values[own - 1] > kind.step(values)


def complaints(number: int) -> list[str]:
    """What is wrong with the study of a number: avoidable ends, other classes, another score."""
    study = Study.of(number)
    found = study.released()
    if "min_width" not in study.options:
        with at_values():
            before = study.released()
        if (found is None) != (before is None):
            return [f"{number}: out of reach before or after alone"]
        if found and before and abs(found[1] - before[1]) > 1e-9:
            return [f"{number}: score {found[1]} instead of {before[1]}"]
        if found and before and _classes(found[0]) != _classes(before[0]):
            return [f"{number}: other classes"]
    return [] if found is None else [f"{number}: {each}" for each in avoidable(study, found[0])]


def _classes(released: pd.DataFrame) -> list[int]:
    """The class of each record, by number in order of appearance."""
    rows = [*released.drop(columns="w").itertuples(index=False, name=None)]
    number = {row: place for place, row in enumerate(dict.fromkeys(rows))}
    return [number[row] for row in rows]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--number", type=int, default=1000, show_default=True, help="How many studies.")
@click.option("--seed", type=int, default=1, show_default=True, help="Number of the first study.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes.")
@click.option("--one", type=int, help="This study alone.")
def borders(number: int, seed: int, jobs: int, one: int | None) -> None:
    """Release random studies; exit with 1 if an end of a range is a value that it need not be."""
    since, failed = time.monotonic(), 0
    chosen = range(seed, seed + number) if one is None else range(one, one + 1)
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(complaints, chosen, chunksize=EACH):
            failed += bool(found)
            for text in found:
                click.echo(text)
    click.echo(f"{len(chosen):,} studies in {time.monotonic() - since:,.0f} s")
    click.echo(f"{failed:,} failed" if failed else "nothing failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    borders()
