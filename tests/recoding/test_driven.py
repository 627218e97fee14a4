"""Searches that the compiled driver runs, or must leave to Python, at the edge of what it knows."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from plain import NUMPY

from anonymizer import EntropyLDiversity, Hierarchy, KAnonymity, PersonKAnonymity
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.kernels import NATIVE
from anonymizer.objectives import AverageClassSize, Discernibility, Loss, Objective, Precision
from anonymizer.recoding import Problem, Suppression, nodes, solve
from anonymizer.recoding.full_domain.frontier import bisection, top_down
from anonymizer.tables import engine

ROWS = [[str(value), f"{value // 2}-", "*"] for value in range(6)]
KERNELS = {"numpy": NUMPY, "driver": NATIVE}


@dataclass(frozen=True)
class Steep(Precision):
    """Heights to the fourth power, on a scale that nobody but itself knows."""

    name: ClassVar[str] = "steep"

    def scaled(self, mean):
        return mean**4 / 10


@dataclass(frozen=True)
class Rooted(Loss):
    """The root of the mean squared loss."""

    name: ClassVar[str] = "rooted"

    def scaled(self, mean):
        return mean**2

    def unscaled(self, weighted):
        return np.sqrt(weighted)


@dataclass(frozen=True)
class Share(Discernibility):
    """Discernibility as a share of what one class costs."""

    name: ClassVar[str] = "share"

    def score(self, candidate):
        return super().score(candidate) / candidate.layout.records**2


@dataclass(frozen=True)
class Mean(AverageClassSize):
    """Minus the mean size of a class."""

    name: ClassVar[str] = "mean"

    def score(self, candidate):
        return -candidate.layout.records / super().score(candidate)


def problem_of(table, hierarchies, **asked) -> Problem:
    schema = Schema(tuple(hierarchies), ("w",))
    tally = engine.tally(table, schema.columns)
    taxonomies = taxonomies_of(tally, hierarchies)
    return Problem(schema.counts(tally, taxonomies), taxonomies, **asked)


def some_problem(seed: int, **asked) -> Problem:
    """Three quasi-identifiers of three levels each; classes of 3."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({name: rng.integers(0, 6, 200).astype(str) for name in "abc"})
    table["w"] = rng.integers(0, 5, 200).astype(str)
    hierarchies = dict.fromkeys("abc", Hierarchy.from_rows(ROWS))
    return problem_of(table, hierarchies, **({"models": [KAnonymity(3)]} | asked))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("objective", [Steep(), Rooted(), Share(), Mean()])
def test_what_bounds_an_objective_bounds_no_other_that_is_made_of_it(
    objective: Objective, kernel: str
):
    for seed in range(3):
        for share in (0.1, 0.3):
            problem = some_problem(
                seed, objective=objective, suppression=Suppression(share), kernel=KERNELS[kernel]
            )
            best, found = solve(problem, "exhaustive"), solve(problem)
            assert best is not None
            assert found is not None
            assert (found.node, found.score) == (best.node, best.score)


def test_a_scale_of_its_own_is_left_to_python():
    asked = {"suppression": Suppression(0.1), "kernel": KERNELS["driver"]}
    known, own = some_problem(0, objective=Loss(), **asked), some_problem(0, **asked)
    own = replace(own, objective=Steep())
    assert KERNELS["driver"].drives == nodes.drives(known.evaluator, known.lattice)
    assert not nodes.drives(own.evaluator, own.lattice)


@pytest.mark.parametrize("search", [bisection, top_down])
def test_a_frontier_is_of_what_holds_without_suppression(search):
    for remove in (False, True):
        budget = Suppression(0.3, remove=remove)
        asked = {"objective": Discernibility(), "kernel": KERNELS["driver"]}
        with_budget = some_problem(0, suppression=budget, **asked)
        assert search(with_budget).minimal == search(some_problem(0, **asked)).minimal


@pytest.mark.parametrize("budget", [Suppression(), Suppression(0.1)])
def test_attributes_of_one_level_take_no_room(budget):
    names = [f"c{place}" for place in range(62)]
    rng = np.random.default_rng(0)
    table = pd.DataFrame(dict.fromkeys(names, ["x"] * 100))
    table["a"] = rng.integers(0, 6, 100).astype(str)
    table["w"] = rng.integers(0, 3, 100).astype(str)
    one = Hierarchy.from_rows([["x", "*"]]).limited(min_level=0, max_level=0)
    hierarchies = dict.fromkeys(names, one) | {"a": Hierarchy.from_rows(ROWS)}
    problem = problem_of(
        table, hierarchies, models=[KAnonymity(20)], objective=Discernibility(), suppression=budget
    )
    assert [*problem.lattice.heights] == [0] * 62 + [2]
    numpy, driver = (solve(replace(problem, kernel=kernel)) for kernel in KERNELS.values())
    assert numpy is not None
    assert driver is not None
    assert driver.node == numpy.node == (*[0] * 62, 1)


def test_large_bases_are_left_to_python(monkeypatch):
    problem = some_problem(0, objective=Discernibility(), kernel=KERNELS["driver"])
    assert nodes.drives(problem.evaluator, problem.lattice) == KERNELS["driver"].drives
    monkeypatch.setattr(nodes, "MOST_BASE", problem.evaluator.base.nbytes - 1)
    assert not nodes.drives(problem.evaluator, problem.lattice)


@pytest.mark.parametrize("kernel", KERNELS)
def test_more_effective_values_than_any_table_has_are_out_of_reach(kernel):
    problem = some_problem(
        0,
        models=[EntropyLDiversity(1e18)],
        objective=Discernibility(),
        suppression=Suppression(0.1),
        kernel=KERNELS[kernel],
    )
    assert solve(problem) is None


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("remove", [False, True])
def test_a_class_of_many_records_of_few_persons_is_suppressed(kernel, remove):
    """Of 20 records 6 of one person, whom only suppression hides from 2-anonymity of persons."""
    table = pd.DataFrame({"a": list("x" * 6 + "y" * 14), "w": "1"})
    table["who"] = [*["one"] * 6, *map(str, range(12)), "0", "1"]
    schema = Schema(("a",), ("w",), person=("who",))
    tally = engine.tally(table, schema.columns)
    taxonomies = taxonomies_of(tally, {"a": Hierarchy.suppression()})
    counts, models = schema.counts(tally, taxonomies), [PersonKAnonymity(2)]
    known = {"objective": Discernibility(), "kernel": KERNELS[kernel]}
    budget = Suppression(0.3, remove=remove)
    found = solve(Problem(counts, taxonomies, models, suppression=budget, **known))
    # Kept, the one person would still be a class of its own: its records are left out.
    assert (found.node, found.score) == ((0,), -(14**2 + 6 * 20))
    assert solve(Problem(counts, taxonomies, models, **known)).node == (1,)
