"""What kernels take a class to be worth: what it adds, up to what no recoding moves."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from plain import NUMPY
from strategies import problems

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.kernels.merging import agglomerate
from anonymizer.kernels.single import Criteria, values
from anonymizer.objectives import OBJECTIVES as KNOWN
from anonymizer.objectives import (
    AboveShuffled,
    Loss,
    MillerMadow,
    MutualInformation,
    Objective,
)
from anonymizer.objectives.candidate import Layout, columns_of
from anonymizer.recoding.policy import Policy

OBJECTIVES = (
    MutualInformation(),
    MutualInformation(weights={"w": 2.5}),
    MillerMadow(),
    MillerMadow(weights={"w": 2.5}),
    AboveShuffled(),
    AboveShuffled(weights={"w": 2.5}),
    *(
        kind()
        for kind in KNOWN.values()
        if not issubclass(kind, MutualInformation) and kind.worth is not Objective.worth
    ),
)


def worths(objective: Objective, counts: Counts, models=()) -> np.ndarray:
    layout = Layout.of(counts)
    rules = Policy(models, layout, NUMPY).against(layout.margins).rules
    return values(columns_of(counts), Criteria.of(rules, objective.worth(layout)))


def test_a_class_is_worth_minus_its_uncertainty():
    joint = {"w": np.array([[2, 2], [4, 0]])}
    counts = Counts.of(("a",), np.array([[0], [1]]), np.array([4, 4]), joint)
    assert worths(MutualInformation(), counts) == pytest.approx([-4 / 8, 0])


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(problem=problems(), data=st.data())
def test_worths_differ_from_the_objective_by_what_no_recoding_moves(objective, problem, data):
    raw = problem.counts
    merge = data.draw(st.lists(st.booleans(), min_size=len(raw), max_size=len(raw)))
    merged = raw.merge(np.array(merge))
    moved = worths(objective, merged).sum() - worths(objective, raw).sum()
    assert moved == pytest.approx(objective(merged) - objective(raw), abs=1e-9)


@given(problem=problems())
def test_a_class_that_breaks_a_model_is_worth_nothing_at_all(problem):
    found = worths(MutualInformation(), problem.counts, problem.models)
    layout = Layout.of(problem.counts)
    bound_policy = Policy(problem.models, layout, NUMPY).against(layout.margins)
    marks = bound_policy.broken(columns_of(problem.counts), problem.counts.records)[1]
    assert np.array_equal(found == -np.inf, marks)


def test_what_depends_on_levels_has_no_worth():
    counts = Counts.of(("a",), np.array([[0]]), np.array([1]), {})
    with pytest.raises(InputError, match="loss is not made for recodings beyond levels"):
        Loss().worth(Layout.of(counts))


@settings(max_examples=at_length(10, 100))
@given(problem=problems())
def test_a_class_is_beyond_its_bounds_where_it_breaks_one(problem):
    layout = Layout.of(problem.counts)
    rules = Policy(problem.models, layout, NUMPY).against(layout.margins).rules
    counts = columns_of(problem.counts).astype(np.int64)
    required = Criteria.of(replace(rules, least=0.0), MutualInformation().worth(layout))
    broken = NUMPY.broken(counts, replace(rules, least=0.0), layout.records)[1]
    for row, breaks in zip(counts, broken, strict=True):
        # A class that is beyond no bound is merged with none.
        twins, into = np.stack([row, row, row]), np.arange(2)
        agglomerate(twins, into, required, np.zeros(1, np.uint64), 0.0)
        assert (into[1] != 1 or into[0] != 0) == breaks
