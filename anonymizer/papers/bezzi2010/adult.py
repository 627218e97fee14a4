"""The Adult experiment of Bezzi (2010), section 4: A1, A2 and A1* on age, sex, race, education.

Quasi-identifiers age, sex, race and education, sensitive attribute marital-status, t = 0.55 bits,
l = 2.7. Age generalizes to ranges of 25 years (A1), of 50 (A2) and to everything (A3); the others
are kept or suppressed. Every figure is computed from the table and compared with the published one,
as are Table 4, left, and the entropy of salary: what UCI Adult has.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.hierarchy import Hierarchy, Interval, Partition
from anonymizer.information.entropy import entropy, mutual_information
from anonymizer.objectives import MutualInformation
from anonymizer.papers.row import AS_PUBLISHED, PublishedSection, Row
from anonymizer.privacy import EntropyLDiversity, TCloseness, require_possible, verdicts
from anonymizer.recoding import (
    Problem,
    RangeOptions,
    Refined,
    Refiner,
    cut_heuristically,
    refine_jointly,
    solve,
)
from anonymizer.recoding.lattice import Node
from anonymizer.tables import engine
from anonymizer.tables.datasets import adult_hierarchy

SENSITIVE = "marital-status"
T = TCloseness(0.55, distance="kl")
L = EntropyLDiversity(2.7)
INFORMATION = MutualInformation()
"""I(X~;W) in bits."""
SUPPRESSED = 1
FAILS = "fails"


@dataclass(frozen=True, eq=False)
class Experiment:
    """The lattice of 32 nodes over a table with Adult's columns."""

    problem: Problem

    @classmethod
    def on(cls, table: pd.DataFrame) -> "Experiment":
        """Count a table."""
        age = Hierarchy.read(adult_hierarchy("age-bezzi2010"))
        others = dict.fromkeys(("sex", "race", "education"), Hierarchy.suppression())
        hierarchies = {"age": age, **others}
        schema = Schema(tuple(hierarchies), (SENSITIVE,))
        tally = engine.tally(schema.admit(table), schema.columns)
        taxonomies = taxonomies_of(tally, hierarchies)
        counts = schema.counts(tally, taxonomies)
        require_possible(counts, [T, L])
        return cls(Problem(counts, taxonomies, [T, L]))

    def age_alone(self, level: int) -> Counts:
        """The counts with age at a level and everything else suppressed."""
        return self.problem.at((level, SUPPRESSED, SUPPRESSED, SUPPRESSED))

    def ages(self, level: int) -> Partition:
        """The ranges of age of a level."""
        return self.problem.taxonomies["age"].levels[level]

    @cached_property
    def told_by_age(self) -> float:
        """I(age;W) in bits, age not recoded: the most that a recoding of age alone retains."""
        return mutual_information(self.problem.counts.project(("age",)).joint[SENSITIVE])

    def loss(self, counts: Counts) -> float:
        """1 - I(X~;W) / I(X;W)."""
        return 1 - INFORMATION(counts) / INFORMATION(self.problem.counts)

    @property
    def best(self) -> Node:
        """The best feasible node."""
        found = solve(self.problem)
        return found.node if found else self.problem.lattice.heights

    def star(self, most: int | None = None) -> Refined:
        """Find A1*, exact, with at most n ranges, or any number of them."""
        options = RangeOptions(max_ranges=most) if most else RangeOptions()
        return refine_jointly(self.problem, ["age"], Refiner(INFORMATION, options))

    @cached_property
    def beyond(self) -> str:
        """Reason why 0.34 bits, a loss of 55 %, cannot be those of ranges that satisfy t and l."""
        return (
            f"under t and l ranges of age keep {INFORMATION(self.star().counts):.6f} at most; "
            f"0.34 is I(age;W) = {self.told_by_age:.6f}"
        )

    def ladder(self) -> list[Row]:
        """Information that each recoding keeps: A2, A1, the best node, A1* heuristic and exact."""
        heuristic = Refiner(INFORMATION, cutting=cut_heuristically)
        moved, four, star = (
            refine_jointly(self.problem, ["age"], heuristic),
            self.star(4),
            self.star(),
        )
        best = self.best
        return [
            *self._rung("A2, age in ranges of 50 years", self.age_alone(2), "0.09", "88 %"),
            *self._rung("A1, age in ranges of 25 years", self.age_alone(1), FAILS),
            *self._rung(f"best node, {self.name_of(best)}", self.problem.at(best)),
            *self._rung(f"A1* by heuristic, {_ranges(moved)}", moved.counts, "0.34", "55 %"),
            *self._rung(f"A1*, exact, at most 4: {_ranges(four)}", four.counts),
            *self._rung(f"A1*, exact, {_ranges(star)}", star.counts),
        ]

    def _rung(
        self, name: str, counts: Counts, published: str = "", published_loss: str = ""
    ) -> list[Row]:
        broken = [verdict for verdict in verdicts(counts, [T, L]) if not verdict.satisfied]
        failing = ", ".join(f"{v.violating} on {v.model.name}" for v in broken)
        holds = f"{FAILS}: {failing}" if broken else "t and l hold"
        kept = Row.number(
            f"I(X~;W), {name}", INFORMATION(counts), published, holds, cannot=self.beyond
        )
        if published == FAILS and broken:
            kept = replace(kept, status=AS_PUBLISHED)
        return [
            kept,
            Row.number(
                "    loss", self.loss(counts), published_loss, form=".2%", cannot=self.beyond
            ),
        ]

    def name_of(self, node: Node) -> str:
        """Name what a node keeps, as the paper writes it: {sex}, {A2}."""
        age = [f"A{node[0]}"] if node[0] < self.problem.lattice.heights[0] else []
        names = zip(self.problem.counts.names[1:], node[1:], strict=True)
        return "{" + ", ".join([*age, *(name for name, level in names if not level)]) + "}"


def _ranges(refined: Refined) -> str:
    labels = [str(label) for label in refined.recoding["age"].labels if isinstance(label, Interval)]
    return f"{len(labels)} ranges" if len(labels) > 6 else " ".join(labels)


COUNTS = {
    "age": "74",
    "sex": "2",
    "race": "5",
    "education": "16",
    "occupation": "14",
    "marital-status": "7",
    "salary-class": "2",
}
"""The printed numbers of values."""
SPAN = "74 is what ages from 17 to 90 would be; not every one of them occurs"


def attributes(table: pd.DataFrame) -> PublishedSection:
    """The number of values of each attribute, and H(salary), of all records and complete ones."""
    readings = {"records without a missing value": table.dropna(), "all records": table}
    counted = [_values(name, published, readings) for name, published in COUNTS.items()]
    salary = [
        Row.number(
            f"H(salary), {name}",
            float(entropy(_counts(of, "salary-class"))),
            "0.80",
            place="Section 4",
            where="anonymizer.information.entropy.entropy",
        )
        for name, of in readings.items()
    ]
    rows = [
        Row.number("records, all", len(table), "32561", form="d", place="Section 4"),
        Row.number("attributes", len(table.columns), "15", form="d", place="Section 4"),
        *counted,
    ]
    title = "Table 4, left, and the entropy of salary: the attributes of UCI Adult"
    return PublishedSection(
        title, [*rows, *salary], place="Table 4", where="anonymizer.tables.datasets.load_adult"
    )


def _values(name: str, published: str, readings: dict[str, pd.DataFrame]) -> Row:
    complete, every = (of[name].nunique() for of in readings.values())
    return Row.number(
        f"values of {name}",
        complete,
        published,
        "" if every == complete else f"{every} in all records",
        "d",
        cannot=f"there are {complete}, and {every} in all records; {SPAN}",
    )


def _counts(table: pd.DataFrame, name: str) -> list[int]:
    return table[name].value_counts().tolist()
