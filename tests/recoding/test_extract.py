"""The searches on the Adult extract with ARX's hierarchies: optima and counts as published.

Nodes are levels in the order of the attributes of each problem.
"""

from dataclasses import replace

import pandas as pd
import pytest
from plain import NUMPY

from anonymizer import EntropyLDiversity, Hierarchy, KAnonymity, TCloseness
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.kernels import NATIVE
from anonymizer.objectives import OBJECTIVES
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding import Problem, Suppression, solve
from anonymizer.recoding.full_domain.frontier import exhaustive
from anonymizer.tables import engine

FOUR = ["sex", "age", "race", "education"]
MARITAL, OCCUPATION = "marital-status", "occupation"
ABOUT_OCCUPATION = [
    *("sex", "age", "race", MARITAL, "education", "native-country", "workclass", "salary-class")
]
ABOUT_MARITAL = [*FOUR, "native-country", "workclass", OCCUPATION, "salary-class"]
NINE = [
    *("sex", "age", "race", MARITAL, "education", "native-country", "workclass", OCCUPATION),
    "salary-class",
]


def diverse(least: float) -> list[PrivacyModel]:
    """k = 5 and an entropy l-diversity."""
    return [KAnonymity(5), EntropyLDiversity(least)]


@pytest.fixture(scope="module")
def problem(extract):
    table = pd.read_csv(extract / "adult.csv", sep=";")

    def make(
        names: list[str], sensitive: str | None, models: list[PrivacyModel], **options: object
    ) -> Problem:
        hierarchies = {
            name: Hierarchy.read(extract / f"adult_hierarchy_{name}.csv") for name in names
        }
        schema = Schema(tuple(names), () if sensitive is None else (sensitive,))
        tally = engine.tally(table, schema.columns)
        taxonomies = taxonomies_of(tally, hierarchies)
        return Problem(schema.counts(tally, taxonomies), taxonomies, models, **options)

    return make


@pytest.mark.parametrize("kernel", [NUMPY, NATIVE], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize(
    ("names", "sensitive", "models", "node", "value", "feasible", "minimal"),
    [
        (FOUR, MARITAL, [TCloseness(0.55, "kl"), EntropyLDiversity(2.7)], "0413", 0.16656, 5, 3),
        (ABOUT_OCCUPATION, OCCUPATION, diverse(2), "04111221", 0.41814, 56, 16),
        (ABOUT_OCCUPATION, OCCUPATION, diverse(3), "04112221", 0.36180, 45, 16),
        (ABOUT_MARITAL, MARITAL, diverse(2), "04112211", 0.19370, 23, 7),
        (ABOUT_MARITAL, MARITAL, diverse(2.7), "04132221", 0.16656, 12, 5),
        (ABOUT_MARITAL, MARITAL, diverse(3), "14122211", 0.03185, 6, 3),
    ],
)
def test_optimum_and_frontier(
    problem, kernel, names, sensitive, models, node, value, feasible, minimal
):
    for strategy in ("automatic", "top-down"):
        found = solve(replace(problem(names, sensitive, models), kernel=kernel), strategy)
        assert "".join(map(str, found.node)) == node
        assert found.score == pytest.approx(value, abs=5e-6)
        assert (found.feasible, len(found.minimal), found.proven) == (feasible, minimal, True)


@pytest.mark.parametrize(
    ("objective", "value"),
    [("discernibility", 33_627_534), ("average-class-size", 628.375)],
)
def test_nine_attributes_of_sizes_alone(problem, objective, value):
    found = solve(problem(NINE, None, [KAnonymity(5)], objective=OBJECTIVES[objective]()))
    assert (found.nodes, found.feasible, len(found.minimal)) == (12_960, 87, 27)
    stated = OBJECTIVES[objective]().quantity(found.score, 30_162)
    assert stated == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("names", "sensitive", "least", "node", "value", "suppressed"),
    [
        (ABOUT_OCCUPATION, OCCUPATION, 2, "03121200", 0.66637, 582),
        (ABOUT_OCCUPATION, OCCUPATION, 3, "03122200", 0.60273, 465),
        (ABOUT_MARITAL, MARITAL, 2, "04022201", 0.24613, 409),
    ],
)
def test_suppressed_records_that_need_not_satisfy_the_models(
    problem, names, sensitive, least, node, value, suppressed
):
    budget = Suppression(0.02, suppress="any", exempt=True)
    exempt = problem(names, sensitive, diverse(least), suppression=budget)
    found = solve(exempt)
    assert "".join(map(str, found.node)) == node
    assert found.score == pytest.approx(value, abs=5e-6)
    evaluator = exempt.evaluator
    candidate = evaluator.candidate(found.node, evaluator.sets().at(found.node))
    assert candidate.records_suppressed == suppressed


def test_every_node_of_nine_attributes_under_suppression(problem):
    """2 861 feasible nodes, 787 of them minimal; ARX's optimum for the average class size."""
    sizes = problem(
        NINE,
        None,
        [KAnonymity(5)],
        objective=OBJECTIVES["average-class-size"](),
        suppression=Suppression(0.02),
        kernel=NATIVE,
    )
    found = solve(sizes, "exhaustive")
    assert (found.feasible, len(found.minimal)) == (2_861, 787)
    assert sizes.objective.quantity(found.score, 30_162) == pytest.approx(47.35007849, abs=1e-8)
    assert solve(sizes).node == found.node == (1, 0, 1, 2, 3, 2, 2, 0, 1)


def test_every_node_has_the_status_that_counting_it_gives(problem):
    four = problem(FOUR, MARITAL, [TCloseness(0.55, "kl"), EntropyLDiversity(2.7)])
    found = exhaustive(four)
    assert sum(found.is_feasible(node) for node in four.lattice) == found.feasible == 5
