"""Boxes: the exact tree is the best of all, the others are sound, and none breaks the policy."""

from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from math import inf
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from strategies import ordered_problems, paired_problems, problem_of, problems

from anonymizer import Anonymizer, AverageReidentificationRisk, Boxes, Hierarchy, KAnonymity
from anonymizer.counts.counts import Classes
from anonymizer.errors import InputError
from anonymizer.kernels import Bound
from anonymizer.objectives import Discernibility, MutualInformation
from anonymizer.privacy import acceptable
from anonymizer.recoding import Bounds, Problem, RangeOptions
from anonymizer.recoding.boxes import BoxSearchResult
from anonymizer.recoding.boxes import best_boxes as best_boxes_of
from anonymizer.recoding.boxes import search as boxes_search
from anonymizer.recoding.problem import Run


class Brute:
    """The best guillotine tree, by trying all: numbers in runs, other values in any sets."""

    def __init__(self, problem: Problem, cost: float = 0.0) -> None:
        self.problem, self.cost = problem, cost
        self.counts = problem.counts
        taxonomies = [problem.taxonomies[name] for name in self.counts.names]
        self.numbers = [each.numbers if each.ordered else None for each in taxonomies]
        self.best = cache(self._best)

    def most(self, classes: int = 10**9) -> float:
        """The most that a tree of at most so many classes is worth."""
        whole = tuple(tuple(np.unique(column).tolist()) for column in self.counts.cells.T)
        return max(value for number, value in self.best(whole).items() if number <= classes)

    def cuts(self, place: int, values: tuple) -> list[tuple[tuple, tuple]]:
        numbers = self.numbers[place]
        if numbers is None:
            return [
                (part, tuple(v for v in values if v not in part))
                for size in range(1, len(values))
                for part in combinations(values, size)
                if values[0] in part
            ]
        missing = tuple(v for v in values if numbers[v] is None)
        run = tuple(sorted((v for v in values if numbers[v] is not None), key=numbers.__getitem__))
        if missing:
            return [(run, missing)] if run else []
        return [(run[:i], run[i:]) for i in range(1, len(run))]

    def own(self, box: tuple) -> tuple[int, float]:
        cells = self.counts.cells.T
        inside = np.all([np.isin(c, values) for c, values in zip(cells, box, strict=True)], axis=0)
        if not inside.any():
            return 0, 0.0
        whole = self.counts.select(inside).grouped(np.zeros(inside.sum(), np.intp))
        if not acceptable(whole, self.problem.models).all():
            return 1, -inf
        return 1, float(self.problem.objective.per_class(whole).sum()) - self.cost

    def _best(self, box: tuple) -> dict[int, float]:
        """By the number of classes."""
        found = dict([self.own(box)])
        for place, values in enumerate(box):
            for halves in self.cuts(place, values):
                parts = [self.best((*box[:place], half, *box[place + 1 :])) for half in halves]
                for (a, one), (b, other) in product(parts[0].items(), parts[1].items()):
                    found[a + b] = max(found.get(a + b, -inf), one + other)
        return found


def best_boxes(problem: Problem, *confined: object, **options: object) -> BoxSearchResult | None:
    ranges = [name for name, taxonomy in problem.taxonomies.items() if taxonomy.ordered]
    return best_boxes_of(problem, ranges, *confined, **options)


def table_of(ages: list, sexes: list, diagnoses: list) -> pd.DataFrame:
    return pd.DataFrame({"age": ages, "sex": sexes, "w": diagnoses})


HIERARCHIES = {"age": Hierarchy.ranges(widths=[10]), "sex": Hierarchy.suppression()}


def test_boxes_are_fine_where_they_can_be_and_coarse_where_they_must():
    """Ages of men tell one diagnosis from the other; four women make one class together."""
    ages, sexes = [20] * 4 + [30] * 4 + [20, 20, 30, 30], ["m"] * 8 + ["f"] * 4
    problem = problem_of(table_of(ages, sexes, list("aaaabbbbabab")), HIERARCHIES, [KAnonymity(4)])
    found = best_boxes(problem)
    assert sorted(map(tuple, (box.values() for box in found.regions.listed()))) == [
        ("(-inf, 25)", "m"),
        ("*", "f"),
        ("[25, inf)", "m"),
    ]
    assert problem.objective(found.counts) == pytest.approx(8 / 12)
    assert found.lead == 0


@settings(deadline=None, max_examples=15)
@given(drawn=st.one_of(ordered_problems(), paired_problems()), gain=st.sampled_from([0, 0.01, 0.1]))
def test_the_exact_tree_is_the_best_of_all(drawn, gain):
    problem = drawn[1]
    found = best_boxes(problem, bounds=Bounds(min_gain=gain))
    expected = Brute(problem, gain).most()
    if found is None:
        assert expected == -inf
        return
    assert acceptable(found.counts, problem.models).all()
    value = problem.objective(found.counts) - gain * len(found.counts)
    assert value == pytest.approx(expected, abs=1e-9)


@settings(deadline=None, max_examples=10)
@given(problem=problems(3), most=st.integers(1, 6))
def test_a_bound_on_classes_is_met_and_the_lead_is_one(problem, most):
    found = best_boxes(problem, bounds=Bounds(most))
    expected = Brute(problem).most(most)
    if found is None:
        assert expected == -inf
        return
    assert len(found.counts) <= most
    value = problem.objective(found.counts)
    assert value <= expected + 1e-9
    assert value + found.lead >= expected - 1e-9


@settings(deadline=None, max_examples=at_length(20, 40))
@given(drawn=st.one_of(ordered_problems(), paired_problems()), seed=st.integers(0, 99))
def test_no_tree_breaks_the_policy_and_wider_searches_are_no_worse(drawn, seed):
    problem = drawn[1]
    exact, greedy = best_boxes(problem), best_boxes(problem, exact=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxes_search.CountedGrid, "of", lambda *arguments: None)
        beam = best_boxes(problem)
    assert (exact is None) == (greedy is None) == (beam is None)
    if exact is None:
        return
    values = [problem.objective(found.counts) for found in (greedy, beam, exact)]
    assert values[0] <= values[1] + 1e-9 <= values[2] + 2e-9
    for found in (greedy, beam, exact):
        assert acceptable(found.counts, problem.models).all()
        assert len(found.counts) == len(found.regions) == len(set(map(str, found.regions.listed())))


@settings(deadline=None, max_examples=at_length(15, 30))
@given(drawn=ordered_problems(), most=st.integers(1, 4))
def test_a_pruned_tree_keeps_to_the_bound(drawn, most):
    problem = drawn[1]
    found = best_boxes(problem, bounds=Bounds(most), exact=False)
    if found is not None:
        assert len(found.counts) <= most
        assert acceptable(found.counts, problem.models).all()


@settings(deadline=None, max_examples=at_length(15, 30))
@given(drawn=ordered_problems(), width=st.sampled_from([2, 3]), exact=st.booleans())
def test_ranges_are_as_wide_as_asked(drawn, width, exact):
    problem = drawn[1]
    found = best_boxes(problem, RangeOptions(min_width=width), exact=exact)
    if found is None:
        return
    for shape in found.regions.shapes["x"]:
        if not isinstance(shape, tuple) and shape.low is not None and shape.high is not None:
            assert shape.high - shape.low >= width


@pytest.mark.parametrize("ages", [range(40), "abcdefghijklmnopqrstuvwxyz"])
def test_without_a_sensitive_attribute_any_number_of_values_is_cut(ages):
    # More cuts along one axis than there are sets of few values, and no shares to sort by.
    table = pd.DataFrame({"age": [*ages] * 2})
    hierarchy = Hierarchy.ranges([5]) if isinstance(ages, range) else Hierarchy.suppression()
    asked = Anonymizer(
        {"age": hierarchy},
        privacy=[KAnonymity(4)],
        objective="average-class-size",
        recoding=Boxes(refinement="heuristic"),
    )
    assert set(asked.fit_transform(table).groupby("age").size()) == {4}


def test_greedy_ranges_hold_no_missing_values():
    # The box of the men is divided along age although only women's ages are missing.
    table = pd.DataFrame(
        {
            "age": [20, 20, 30, 30, 20, 20, 30, 30, None, None],
            "sex": list("mmmmffffff"),
            "w": list("aabbcccccc"),
        }
    )
    asked = Anonymizer(
        {"age": Hierarchy.ranges([10]), "sex": Hierarchy.suppression()},
        "w",
        [KAnonymity(2)],
        missing="category",
        recoding=Boxes(refinement="heuristic"),
    )
    released = asked.fit_transform(table)
    assert released["age"].tolist()[:4] == ["(-inf, 25)"] * 2 + ["[25, inf)"] * 2
    some = table.iloc[:4].assign(age=[20, 20, None, None])
    with pytest.raises(InputError, match="2 records of the table combine values in a way that"):
        asked.transform(some)


def test_of_many_values_any_set_is_tried_beside_runs_of_siblings():
    """Vowels tell one diagnosis from the other, and no run of the six letters does."""
    letters = list("abcdef") * 10
    table = pd.DataFrame({"q": letters, "w": ["xy"[q in "ae"] for q in letters]})
    problem = problem_of(table, {"q": Hierarchy.suppression()}, [KAnonymity(20)])
    found = best_boxes(problem)
    assert {box["q"] for box in found.regions.listed()} == {"{a, e}", "{b, c, d, f}"}
    assert problem.objective(found.counts) == pytest.approx(0.918296, abs=1e-6)
    assert (found.strategy, found.lead) == ("beam", np.inf)


def test_other_objectives_are_sums_over_classes_too():
    table = table_of([20, 20, 30, 30, 40, 40], ["m", "f"] * 3, list("abcabc"))
    for objective in (Discernibility(), MutualInformation()):
        problem = problem_of(table, HIERARCHIES, [KAnonymity(2)])
        problem = Problem(problem.counts, problem.taxonomies, problem.models, objective)
        found = best_boxes(problem)
        assert objective(found.counts) == pytest.approx(Brute(problem).most())


def test_nothing_where_not_even_one_box_is_acceptable():
    problem = problem_of(table_of([20, 30], ["m", "f"], ["a", "b"]), HIERARCHIES, [KAnonymity(3)])
    assert best_boxes(problem) is None
    assert best_boxes(problem, exact=False) is None


def test_an_interrupt_ends_the_following_of_cuts(monkeypatch):
    table = table_of([20, 30, 40, 50] * 6, ["m", "f"] * 12, list("abcdefghijkl") * 2)
    problem = problem_of(table, HIERARCHIES, [KAnonymity(2)])
    monkeypatch.setattr(boxes_search.CountedGrid, "of", lambda *arguments: None)
    calls = []

    def watch(doing: str, done: int, of: int | None) -> None:
        calls.append(doing)
        if len(calls) == 1:
            raise KeyboardInterrupt

    found = best_boxes(problem, run=Run(watch=watch))
    assert len(calls) > 1
    assert acceptable(found.counts, problem.models).all()


def test_a_time_limit_takes_the_beam():
    table = table_of([20, 30, 40, 50] * 6, ["m", "f"] * 12, list("abcdefghijkl") * 2)
    problem = problem_of(table, HIERARCHIES, [KAnonymity(2)])
    assert best_boxes(problem, run=Run(time_limit=1e-9)).strategy == "beam"
    assert best_boxes(problem, run=Run(time_limit=60)).strategy == "dynamic programming"


@dataclass(frozen=True)
class Pairs(KAnonymity):
    """A user's own model, which no kernel knows."""

    name: ClassVar[str] = "pairs"

    def bounds(self, table: Classes) -> list[Bound]:
        return []


def test_models_that_compiled_code_cannot_check_are_refused():
    problem = problem_of(table_of([20, 30], ["m", "f"], ["a", "b"]), HIERARCHIES, [Pairs(2)])
    with pytest.raises(InputError, match="boxes recoding checks classes by bounds, and pairs"):
        best_boxes(problem)


def test_models_of_the_whole_table_are_refused():
    models = [AverageReidentificationRisk(0.9)]
    problem = problem_of(table_of([20, 30], ["m", "f"], ["a", "b"]), HIERARCHIES, models)
    with pytest.raises(InputError, match="about the table as a whole; choose full-domain"):
        best_boxes(problem)
