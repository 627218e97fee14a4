"""Random problems of every kind, each as the package takes it and as brute force does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import policies
import pytest
from oracle import HIDDEN, Brute, Chain

from anonymizer import Anonymizer, EntropyLDiversity, FullDomain, Hierarchy, KAnonymity, TCloseness
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.kernels import NATIVE, Kernel
from anonymizer.objectives import OBJECTIVES, MutualInformation, Objective, objective_of
from anonymizer.privacy import MODELS, IndividualRisk, PrivacyModel
from anonymizer.recoding import STRATEGIES, Problem, Suppression, solve
from anonymizer.tables import engine

RISING = tuple(name for name, kind in OBJECTIVES.items() if not kind.falls)
"""The objectives that may rise under generalization."""

ESTIMATES = tuple(name for name in RISING if issubclass(OBJECTIVES[name], MutualInformation))
"""Those of them that estimate information."""

ASKED = (
    *((name, None) for name in OBJECTIVES if name not in RISING),
    ("loss", "geometric-mean"),
)
"""Every other one, and the aggregate it is asked for with."""

BOUNDED = {
    kind
    for kind in MODELS.values()
    if kind.kind is not None or kind.bounds is not PrivacyModel.bounds
}
"""The models that kernels check. Any other measures the classes itself, as ``EvenClasses`` does."""

SHARES = (0.0, 0.02, 0.1, 0.3, 0.6)


@dataclass(frozen=True)
class EvenClasses(PrivacyModel):
    """Classes of an even number of records, or of at least 9: not monotone, unknown to kernels."""

    name: ClassVar[str] = "even-classes"
    monotone: ClassVar[bool] = False
    sensitive: ClassVar[bool] = False

    @property
    def threshold(self):
        return 0.0

    def holds(self, size: int) -> bool:
        return size % 2 == 0 or size >= 9

    def measure(self, classes):
        return np.array([not self.holds(size) for size in classes.sizes.tolist()], float)

    def accepts(self, values):
        return values == 0


@dataclass(frozen=True)
class Case:
    """A random problem."""

    brute: Brute
    hierarchies: dict[str, Hierarchy]

    @property
    def suppression(self) -> Suppression:
        brute = self.brute
        return Suppression(brute.share, brute.remove, brute.suppress, brute.exempt)

    @property
    def missing(self) -> str:
        return "gap" if self.brute.gap else "category"

    @property
    def columns(self) -> list[str]:
        return list(
            dict.fromkeys(
                [
                    *self.hierarchies,
                    *self.brute.sensitive,
                    *self.brute.targets,
                    *self.person,
                    *self.household,
                ]
            )
        )

    @property
    def person(self) -> tuple[str, ...]:
        return (self.brute.person,) if self.brute.person else ()

    @property
    def household(self) -> tuple[str, ...]:
        return (self.brute.household,) if self.brute.household else ()

    @property
    def frame(self) -> pd.DataFrame:
        frame = frame_of(self.brute.rows, self.columns)
        return frame.assign(**{name: _respelled(frame[name]) for name in self.brute.sensitive})

    def problem(self, kernel: Kernel = NATIVE) -> Problem:
        """The problem; its nodes counted by a kernel of our choice."""
        brute, names = self.brute, tuple(self.hierarchies)
        targets = tuple(brute.targets)
        schema = Schema(
            names,
            tuple(brute.sensitive),
            missing=self.missing,
            targets=targets,
            person=self.person,
            per_person=brute.per_person,
            household=self.household,
            person_numbers=brute.numbers,
        )
        tally = engine.tally(self.frame, schema.columns)
        people = engine.tally(frame_of(brute.people, names), names) if brute.people else None
        taxonomies = taxonomies_of(tally, self.hierarchies, people)
        counts = schema.counts(tally, taxonomies, people)
        budget = self.suppression
        return Problem(counts, taxonomies, brute.models, self.objective, budget, kernel)

    @property
    def objective(self) -> Objective:
        brute = self.brute
        return objective_of(brute.objective, brute.weights, brute.targets, brute.aggregate)

    def estimator(self, search: str = "automatic", **parameters: object) -> Anonymizer:
        brute = self.brute
        budget = {"suppression": brute.share, "remove": brute.remove} if brute.share else {}
        budget["suppress"] = brute.suppress
        return Anonymizer(
            quasi_identifiers=self.hierarchies,
            sensitive=brute.sensitive,
            privacy=brute.models,
            missing=self.missing,
            recoding=FullDomain(search=search, **budget),
            objective=self.objective,
            **parameters,
        )

    @property
    def strategies(self) -> tuple[str, ...]:
        """Those that can answer."""
        if self.brute.objective in RISING:
            return ("automatic", "exhaustive", "branch-and-bound")
        if self.brute.most:
            return ("automatic", "bisection", "exhaustive", "branch-and-bound")
        if all(model.monotone for model in self.brute.models):
            return STRATEGIES
        return ("automatic", "exhaustive", "branch-and-bound")

    def asking(
        self,
        objective: str,
        aggregate: str | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> "Case":
        """The same with another objective; targets are of information alone."""
        informing = objective in ("mutual-information", *ESTIMATES)
        targets = self.brute.targets if informing else {}
        asked = {"objective": objective, "aggregate": aggregate, "weights": weights or {}}
        return replace(self, brute=replace(self.brute, targets=targets, **asked))

    def turned(self, order: Sequence[str], rows: Sequence[int]) -> "Case":
        """The same with columns and records in another order."""
        brute = replace(
            self.brute,
            rows=[self.brute.rows[i] for i in rows],
            chains={name: self.brute.chains[name] for name in order},
        )
        return replace(
            self, brute=brute, hierarchies={name: self.hierarchies[name] for name in order}
        )


def assert_solved(case: Case, kernel: Kernel) -> None:
    """Hold what every strategy finds against brute force."""
    brute, problem = case.brute, case.problem(kernel)
    for strategy in case.strategies:
        found = solve(problem, strategy)
        if brute.best is None:
            assert found is None
            continue
        assert (strategy, found.node) == (strategy, brute.best)
        assert found.score == pytest.approx(brute.scores[brute.best], abs=1e-9)
        assert (found.proven, found.bound, found.nodes) == (True, found.score, len(brute.nodes))
        if found.minimal is not None:
            assert found.feasible == len(brute.outcomes)
            assert list(found.minimal) == brute.minimal()


def frame_of(rows: Sequence[Mapping[str, object]], columns: Iterable[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {name: pd.Series([row[name] for row in rows], dtype=object) for name in columns}
    )


def _respelled(column: pd.Series) -> pd.Series:
    """The column with decimals that occur again written in another way: 7.5 as 7.50.

    Once as it is: lists of values have the plainest spelling.
    """
    seen: set[object] = set()
    found = []
    for value in column:
        again = value in seen and str(value).endswith(".5")
        found.append(f"{value}0" if again else value)
        seen.add(value)
    return pd.Series(found, dtype=object)


def random_case(
    rng: np.random.Generator,
    attributes: int = 3,
    records: int = 60,
    share: float | None = None,
    exempt: bool = True,
    plain: bool = False,
) -> Case:
    """Any kind of problem.

    ``plain``: k-anonymity, entropy l-diversity and t-closeness in bits alone, without population
    and targets. ``exempt``: problems, too, that no table alone poses: a class that need not satisfy
    any model, and people who are known by sampling weights.
    """
    names = "abcd"[: attributes - rng.choice(attributes, p=falling(attributes))]
    sensitive = ["v", "w"][: rng.choice(3, p=[0.1, 0.6, 0.3])]
    size = 1 + int(records * rng.random() ** 0.5)
    spreads = {name: spread_of(rng, size) for name in names}
    columns = {name: spread.column for name, spread in spreads.items()}
    for name in sensitive:
        skew = rng.dirichlet(np.full(rng.integers(1, 5), 0.7))
        columns[name] = gaps(rng, [f"w{i}" for i in rng.choice(len(skew), size, p=skew)], 0.3)
    share = float(rng.choice(SHARES, p=[0.2, 0.1, 0.2, 0.25, 0.25])) if share is None else share
    asked = [each for each in ASKED if sensitive or "mutual" not in each[0]]
    objective, aggregate = asked[rng.integers(len(asked))]
    weighed = {"sensitive attribute": sensitive, "quasi-identifier": names, None: ()}
    weights = {
        name: float(rng.choice([0, 0.5, 1, 2, 3.7]))
        for name in weighed[OBJECTIVES[objective].weighs]
        if rng.random() < 0.5
    }
    brute = Brute(
        rows=rows_of(columns),
        chains={name: spread.chain() for name, spread in spreads.items()},
        sensitive=sensitive,
        models=_models(rng, [columns[name] for name in sensitive], share),
        objective=objective,
        weights=weights,
        aggregate=aggregate,
        share=share,
        remove=bool(rng.random() < 0.3),
        exempt=exempt and bool(rng.random() < 0.15),
    )
    if not plain:
        brute = of_every_kind(rng, brute, columns, spreads)
    if not exempt and any(isinstance(model, IndividualRisk) for model in brute.models):
        others = [model for model in brute.models if model.people is None]
        brute = replace(brute, models=others or [KAnonymity(2)], people=[])
    brute = replace(brute, suppress=str(rng.choice(["small", "any"])), gap=size % 2 == 0)
    return Case(brute, {name: spread.hierarchy for name, spread in spreads.items()})


def rows_of(columns: Mapping[str, Sequence[object]]) -> list[dict[str, object]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def of_every_kind(
    rng: np.random.Generator, brute: Brute, columns: dict[str, list], spreads: dict[str, "Spread"]
) -> Brute:
    """The same problem, now and then about numbers, targets and a population, and any models."""
    columns = {**columns}
    for name in brute.sensitive:
        columns[name] = _renamed(rng, columns[name])
    targets = {}
    if rng.random() < (0.4 if brute.objective == "mutual-information" else 0.05):
        targets, columns["u"] = _targets(rng, brute.sensitive, len(brute.rows))
        brute = replace(brute, objective="mutual-information", weights={}, aggregate=None)
    people = _people(rng, columns, spreads) if rng.random() < 0.3 else []
    chains = {
        name: spread.chain(person[name] for person in people) for name, spread in spreads.items()
    }
    tree = policies.tree_of(rng, [columns[name] for name in brute.sensitive])
    brute = replace(
        brute, rows=rows_of(columns), chains=chains, targets=targets, people=people, tree=tree
    )
    unknown = [EvenClasses()] if rng.random() < 0.1 else []
    return replace(brute, models=[*policies.models(rng, brute), *unknown])


def _renamed(rng: np.random.Generator, column: list) -> list:
    """The values as they are, as numbers, or as texts of numbers; two names may be one number."""
    kind = rng.choice(["texts", "numbers", "numerals"], p=[0.4, 0.2, 0.4])
    if kind == "texts":
        return column
    values = sorted(set(column) - {None})
    most = max(len(values), 4)
    numbers = rng.choice(3 * most, most, replace=False).tolist()
    names = dict(zip(values, numbers, strict=False))
    if kind == "numerals":
        names = {value: str(number) for value, number in names.items()}
        if rng.random() < 0.2:
            names |= dict.fromkeys(values[1:3], f"{numbers[0]}.5")
    return [names.get(value) for value in column]


def _targets(
    rng: np.random.Generator, sensitive: Sequence[str], size: int
) -> tuple[dict[str, float], list]:
    """Targets with their weights, and the values of one that is not sensitive."""
    column = gaps(rng, [f"u{i}" for i in rng.integers(0, rng.integers(1, 4), size)], 0.2)
    known = ["u", *sensitive]
    names = rng.permutation(known)[: rng.integers(1, len(known) + 1)].tolist()
    return {name: float(rng.choice([0, 0.5, 1, 3.7])) for name in names}, column


def _people(
    rng: np.random.Generator, columns: dict[str, list], spreads: dict[str, "Spread"]
) -> list[dict[str, object]]:
    """Everybody in the table and others, most of them like somebody in it."""
    rows = rows_of({name: columns[name] for name in spreads})
    others = int(len(rows) * rng.choice([0, 0.3, 1, 3]))
    strange = rng.random() * rng.choice([0, 0.3, 1])
    for _ in range(others):
        person = dict(rows[rng.integers(len(rows))])
        for name, spread in spreads.items():
            if rng.random() < strange:
                person[name] = spread.known[rng.integers(len(spread.known))]
        rows.append(person)
    return [rows[i] for i in rng.permutation(len(rows))]


def falling(length: int) -> np.ndarray:
    """Probabilities that halve from one to the next."""
    weights = 0.5 ** np.arange(length)
    return weights / weights.sum()


def gaps(rng: np.random.Generator, column: list, often: float) -> list:
    """The column, with missing values now and then."""
    if rng.random() >= often:
        return column
    missing = rng.random(len(column)) < rng.choice([0.1, 0.4])
    return [None if gap else value for value, gap in zip(column, missing, strict=True)]


@dataclass(frozen=True)
class Spread:
    """A quasi-identifier: the values of the records, and how any value generalizes.

    ``known`` are all values, ``listed`` those that count wherever they occur.
    """

    column: list
    labels: dict[object, tuple[object, ...]]
    known: list
    listed: list
    numbers: bool
    hierarchy: Hierarchy

    def chain(self, others: Iterable[object] = ()) -> Chain:
        """The labels of the values that count, those of others too."""
        counted = {*self.column, *self.listed, *others}
        labels = {value: row for value, row in self.labels.items() if value in counted}
        return Chain(labels, self.numbers)


def spread_of(rng: np.random.Generator, size: int) -> Spread:
    hides = False
    kind = rng.choice(["rows", "rows", "rows", "ranges", "suppress"])
    if kind == "ranges":
        known = sorted(rng.choice(30, rng.integers(1, 6), replace=False).tolist())
        width = int(rng.integers(2, 9))
        widths = [width, 2 * width][: rng.integers(1, 3)]
        labels = {
            v: (v, *(f"[{v // w * w}, {v // w * w + w})" for w in widths), HIDDEN) for v in known
        }
        hierarchy, listed = Hierarchy.ranges(widths=widths), []
    elif kind == "suppress":
        known = [f"s{i}" for i in range(rng.integers(1, 4))]
        labels, hierarchy, listed = {v: (v, HIDDEN) for v in known}, Hierarchy.suppression(), []
    else:
        known = [f"x{i}" for i in range(rng.integers(1, 6))]
        if rng.random() < 0.1:
            known[0] = HIDDEN
        hides = rng.random() < 0.3  # a group below the top that looks suppressed
        rows = _nested(rng, known, HIDDEN if hides else "0")
        hierarchy, listed = Hierarchy.from_rows(rows), known
        one = len({row[-1] for row in rows}) == 1 and len(rows[0]) > 1
        labels = {row[0]: tuple(row if one else [*row, HIDDEN]) for row in rows}
    column = [known[i] for i in rng.integers(0, rng.integers(1, len(known) + 1), size)]
    column = gaps(rng, column, 0 if hides else 0.25)
    top = next(iter(labels.values()))[-1]
    labels = {**labels, None: (*[None] * hierarchy.height, top)}
    known = [*known, None] if None in column else known
    return Spread(column, labels, known, listed, kind == "ranges", hierarchy)


def _nested(rng: np.random.Generator, values: list[str], first: str) -> list[list[str]]:
    """Rows of a hierarchy: every level merges groups of the one before."""
    rows = [[value] for value in values]
    for level in range(1, rng.integers(1, 5)):
        groups = sorted({row[-1] for row in rows})
        names = [first, *(f"{level}-{number}" for number in range(1, len(groups)))]
        merged = {group: names[rng.integers(0, len(groups))] for group in groups}
        rows = [[*row, merged[row[-1]]] for row in rows]
    return rows


def _models(rng: np.random.Generator, columns: list[list], share: float) -> list[PrivacyModel]:
    """A policy, as a rule one that some recoding satisfies."""
    models: list[PrivacyModel] = []
    if rng.random() < 0.7 or not columns:
        models.append(KAnonymity(int(rng.integers(1, 7))))
    if columns and rng.random() < 0.35:
        models.append(TCloseness(float(rng.choice([0, 0.1, 0.3, 0.6, 1.5])), distance="kl"))
    if columns and rng.random() < 0.35:
        most = min(_diversity(column) for column in columns)
        models.append(EntropyLDiversity(1 + float(rng.choice([0, 0.2, 0.5, 1])) * (most - 1)))
    if rng.random() < 0.15 or not models:
        models.append(EvenClasses())
    return models


def _diversity(column: list) -> float:
    shares = pd.Series(column).value_counts(normalize=True, dropna=False).to_numpy()
    return float(2 ** -(shares * np.log2(shares)).sum())
