"""Merged cells: always acceptable, never worse than a start, as a rule the best there is."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from cases import EvenClasses, random_case
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lengths import at_length
from plain import NUMPY
from strategies import problems

from anonymizer.counts.counts import Counts
from anonymizer.errors import Ended, InputError, PolicyUnreachableError
from anonymizer.objectives import AverageClassSize, Discernibility, Loss, MutualInformation
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import (
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    MeanInformation,
    acceptable,
)
from anonymizer.recoding import Problem, Run, merged_cells, solve
from anonymizer.recoding.merged_cells import merge_cells
from anonymizer.recoding.policy import Policy

seeds = st.integers(0, 2**32 - 1)
QUICK = {"searches": 1, "work": 1}
OBJECTIVES = (MutualInformation(), Discernibility(), AverageClassSize())


def problem_of(joint: Sequence[Sequence[int]], models, objective=None) -> Problem:
    matrix = np.array(joint)
    cells = np.arange(len(matrix))[:, None]
    counts = Counts.of(("a",), cells, matrix.sum(axis=1), {"w": matrix})
    return Problem(counts, {}, models, objective or MutualInformation())


def merged(problem: Problem, labels: np.ndarray) -> Counts:
    cells = np.asarray(labels)[:, None]
    raw = problem.counts
    counts = Counts.of(("class",), cells, raw.sizes, raw.joint, raw.values, raw.targets)
    return replace(counts, margins=raw.margins, gaps=raw.gaps)


def partitions(cells: int) -> Iterator[tuple[int, ...]]:
    """Every partition of so many cells, as labels."""
    found = [(0,)]
    for _ in range(cells - 1):
        found = [(*labels, new) for labels in found for new in range(max(labels) + 2)]
    return iter(found)


def best_of_all(problem: Problem, most: int | None = None) -> float:
    values = []
    for labels in partitions(len(problem.counts)):
        if most is None or max(labels) < most:
            counts = merged(problem, np.array(labels))
            if acceptable(counts, problem.models).all():
                values.append(problem.objective(counts))
    return max(values)


def require_fine(problem: Problem, labels: np.ndarray, value: float) -> None:
    counts = merged(problem, labels)
    layout = Layout.of(problem.counts)
    assert labels.shape == (len(problem.counts),)
    assert sorted(set(labels.tolist())) == list(range(len(counts)))
    assert list(dict.fromkeys(labels.tolist())) == list(range(len(counts)))
    assert acceptable(counts, problem.models).all()
    bound_policy = Policy(problem.models, layout, NUMPY).against(layout.margins)
    columns = np.concatenate([*counts.joint.values(), counts.sizes[:, None]], axis=1)
    assert bound_policy.holds(columns)
    assert value == pytest.approx(problem.objective(counts), abs=1e-9)


def test_opposites_are_merged():
    problem = problem_of([[4, 0], [0, 4], [4, 0], [0, 4]], [EntropyLDiversity(2)])
    found = merge_cells(problem)
    assert found.value == pytest.approx(0)
    problem = problem_of([[4, 0], [0, 4], [2, 1], [1, 2]], [DistinctLDiversity(2)])
    found = merge_cells(problem)
    assert found.labels.tolist() == [0, 1, 0, 1]
    # Both classes have 6 records of one value and 1 of the other: 1 - h(1 / 7).
    assert found.value == pytest.approx(1 - 0.5916727785823275)


def test_classes_too_small_are_merged_with_their_like():
    problem = problem_of([[3, 0], [0, 3], [3, 0], [0, 3]], [KAnonymity(5)])
    found = merge_cells(problem)
    assert found.labels.tolist() == [0, 1, 0, 1]
    assert found.value == pytest.approx(1)


def test_at_most_so_many_classes():
    problem = problem_of([[9, 0], [8, 1], [1, 8], [0, 9]], [KAnonymity(1)])
    assert merge_cells(problem).labels.tolist() == [0, 1, 2, 3]
    found = merge_cells(problem, 2)
    assert found.labels.tolist() == [0, 0, 1, 1]
    assert merge_cells(problem, 1).labels.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(problem=problems(), seed=seeds, most=st.none() | st.integers(1, 4))
@settings(max_examples=10)
def test_every_class_is_acceptable(objective, problem, seed, most):
    problem = replace(problem, objective=objective)
    found = merge_cells(problem, most, seed, **QUICK)
    require_fine(problem, found.labels, found.value)
    assert most is None or found.labels.max() < most


@given(seed=seeds)
@example(63)  # of 18 records with a value, and others without one
@example(88)
@settings(max_examples=10)
def test_every_class_satisfies_any_models(seed):
    rng = np.random.default_rng(seed)
    case = random_case(rng, attributes=2, records=40, share=0.0)
    fitting = [m for m in case.brute.models if m.monotone and m.per_class and m.people is None]
    fitting = [m for m in fitting if not isinstance(m, EvenClasses)]
    case = replace(case, brute=replace(case.brute, people=[]))
    problem = replace(case.problem(), models=fitting, objective=Discernibility())
    try:
        found = merge_cells(problem, None, seed, **QUICK)
    except PolicyUnreachableError:
        whole = problem.counts.project(())
        assert not acceptable(whole, fitting).all()
        return
    require_fine(problem, found.labels, found.value)
    label_of = dict(zip(map(tuple, problem.counts.cells.tolist()), found.labels, strict=True))
    assert len(label_of) == len(found.labels)


@given(problem=problems(), seed=seeds)
@settings(max_examples=10)
def test_no_start_is_made_worse(problem, seed):
    node = solve(problem).node
    levels = [problem.taxonomies[name].levels[at] for name, at in zip("ab", node, strict=True)]
    columns = zip(levels, problem.counts.cells.T, strict=True)
    groups = np.stack([level.representatives[column] for level, column in columns], axis=1)
    start = np.unique(groups, axis=0, return_inverse=True)[1].ravel()
    found = merge_cells(problem, None, seed, searches=0, work=1, starts=[start])
    require_fine(problem, found.labels, found.value)
    assert found.value >= problem.objective(merged(problem, start)) - 1e-9


@given(problem=problems(), seed=seeds)
@settings(max_examples=6)
def test_neither_jobs_nor_more_searches_make_it_worse(problem, seed):
    one = merge_cells(problem, None, seed, **QUICK)
    two = merge_cells(problem, None, seed, searches=2, work=1)
    again = merge_cells(problem, None, seed, Run(n_jobs=2), searches=2, work=1)
    assert two.value >= one.value - 1e-9
    assert np.array_equal(two.labels, again.labels)
    assert two.value == again.value


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_as_a_rule_it_is_the_best_of_all_partitions(objective):
    rng = np.random.default_rng(5)
    met = 0
    for seed in range(tried := at_length(6, 10)):
        joint = rng.integers(0, 6, (rng.integers(2, 7), rng.integers(2, 4)))
        joint[:, 0] += joint.sum(axis=1) == 0
        p = joint.sum(axis=0) / joint.sum()
        diverse = 2 ** -(p[p > 0] * np.log2(p[p > 0])).sum()
        models = [KAnonymity(int(rng.integers(1, 6))), EntropyLDiversity(1 + 0.6 * (diverse - 1))]
        problem = problem_of(joint, models, objective)
        best, found = best_of_all(problem), merge_cells(problem, None, seed).value
        assert found <= best + 1e-9
        met += found >= best - 1e-9
    assert met >= 0.7 * tried


@pytest.mark.parametrize("most", [1, 2, 3])
@given(seed=seeds)
@settings(max_examples=10)
def test_never_above_the_best_of_so_many_classes(most, seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(1 + rng.integers(0, 6, (5, 3)), [KAnonymity(4)])
    found = merge_cells(problem, most, seed, **QUICK)
    assert found.value <= best_of_all(problem, most) + 1e-9


def crowded(seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    return problem_of(1 + rng.poisson(0.4, (600, 3)), [EntropyLDiversity(2.5)])


def test_a_time_limit_gives_the_best_so_far():
    found = merge_cells(crowded(), run=Run(time_limit=1e-9))
    assert not found.labels.any()
    assert found.regroupings == 0


def test_an_interrupt_gives_the_best_so_far(monkeypatch):
    monkeypatch.setattr(merged_cells, "PATIENCE", 400)
    told = []

    def watch(doing: str, done: int, of: int | None) -> None:
        told.append((doing, done, of))
        if done:
            raise KeyboardInterrupt

    problem = crowded()
    found = merge_cells(problem, run=Run(watch=watch))
    require_fine(problem, found.labels, found.value)
    assert found.labels.any()
    assert told[0] == ("merging cells", 0, told[1][2])


def test_an_end_asks_for_no_result():
    def watch(doing: str, done: int, of: int | None) -> None:
        raise Ended

    with pytest.raises(Ended):
        merge_cells(crowded(), run=Run(watch=watch))


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (
            [EvenClasses()],
            "merged-cells recoding prunes by what merging classes preserves, and even-",
        ),
        (
            [MeanInformation(1)],
            "merged-cells recoding judges every class by its own records, and mean-",
        ),
    ],
)
def test_models_that_are_refused(models, message):
    with pytest.raises(InputError, match=message):
        merge_cells(problem_of([[1, 1]], models))


def test_a_model_without_bounds_is_refused(monkeypatch):
    monkeypatch.setattr(EvenClasses, "monotone", True)
    with pytest.raises(InputError, match=r"and even-classes states none; give it bounds\(\)"):
        merge_cells(problem_of([[1, 1]], [EvenClasses()]))


def test_what_not_even_one_class_satisfies():
    with pytest.raises(PolicyUnreachableError, match="not even all cells as one class satisfy"):
        merge_cells(problem_of([[1, 1]], [KAnonymity(3)]))


@given(problem=problems())
@settings(max_examples=1)
def test_an_objective_of_levels_is_refused(problem):
    with pytest.raises(InputError, match="loss is not made for recodings beyond levels"):
        merge_cells(replace(problem, objective=Loss()))


@pytest.mark.parametrize("start", [[0], [0, 1], [0, 0, 0]])
def test_starts_are_acceptable_labellings(start):
    problem = problem_of([[1, 1], [1, 1]], [KAnonymity(3)])
    with pytest.raises(InputError, match="a start must label every cell, by classes that satisfy"):
        merge_cells(problem, starts=[np.array(start)])
