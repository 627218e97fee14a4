"""A1* against brute force over all interval partitions."""

from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from intervals import all_ranges, best_of
from lengths import at_length
from strategies import ordered_problems, problem_of

from anonymizer import Anonymizer, EntropyLDiversity, Hierarchy, InputError, KAnonymity
from anonymizer.hierarchy import shown_label
from anonymizer.objectives import MutualInformation
from anonymizer.privacy import (
    AlphaKAnonymity,
    AverageReidentificationRisk,
    BasicBetaLikeness,
    BayesianGain,
    DeltaDisclosure,
    DeltaPresence,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    HighestReidentificationRisk,
    KMap,
    MeanInformation,
    RecursiveLDiversity,
    TCloseness,
    ValueGain,
)
from anonymizer.recoding import RangeOptions, Refiner, cut_heuristically, refine_jointly
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.partitions.families import Judge, Segments
from anonymizer.recoding.partitions.groups import Ranges
from anonymizer.recoding.partitions.refine import level_ranges

information = MutualInformation()
PEOPLE = pd.DataFrame({"x": [1, 2, 3]})


def brute_force(problem, **confined):
    """The best objective over all ranges of x and all levels of a."""
    x, a = problem.taxonomies.values()
    return best_of(problem, [all_ranges(x, **confined), a.levels], information)[0]


@settings(max_examples=at_length(20, 40))
@given(ordered_problems(), st.sampled_from([None, 1, 2, 3]))
def test_the_joint_search_equals_brute_force(drawn, most):
    _, problem = drawn
    refined = refine_jointly(problem, ["x"], Refiner(information, RangeOptions(most)))
    value = brute_force(problem, most=most)
    assert refined.proven
    assert refined.value == pytest.approx(value, abs=1e-9)
    assert problem.feasible(refined.counts)


@settings(max_examples=at_length(3, 10))
@given(ordered_problems())
@pytest.mark.parametrize(
    "model",
    [
        DistinctLDiversity(2),
        RecursiveLDiversity(3, 2),
        TCloseness(0.3, "equal"),
        TCloseness(0.2, "ordered"),
        AlphaKAnonymity(0.8, 3),
        BasicBetaLikeness(0.5),
        EnhancedBetaLikeness(0.5, attribute="w"),
        DeltaDisclosure(0.8),
        BayesianGain(0.1),
        ValueGain(0.1, attribute="w"),
        HighestReidentificationRisk(0.25),
    ],
    ids=repr,
)
def test_ranges_under_any_model_of_single_classes(model, drawn):
    problem = replace(drawn[1], models=[model])
    assume(problem.feasible(problem.counts.project(())))
    refined = refine_jointly(problem, ["x"], Refiner(information))
    assert problem.feasible(refined.counts)
    assert refined.value == pytest.approx(brute_force(problem), abs=1e-9)


@pytest.mark.parametrize(
    ("model", "about"),
    [
        (MeanInformation(1), "mean-information is about the table as a whole"),
        (AverageReidentificationRisk(1), "average-reidentification-risk is about the table"),
        (KMap(1, PEOPLE), "k-map is about a population"),
        (DeltaPresence(0, 1, PEOPLE), "delta-presence is about a population"),
        (HighestReidentificationRisk(1, PEOPLE), "highest-reidentification-risk is about a popul"),
    ],
)
def test_models_of_more_than_a_class_are_refused(model, about):
    table = PEOPLE.assign(w=["0", "1", "0"])
    hierarchies = {"x": Hierarchy.ranges(widths=[2])}
    anonymizer = Anonymizer(hierarchies, "w", [model], recoding="variable-range")
    with pytest.raises(InputError, match=f"by its own records, and {about}.*full-domain recod"):
        anonymizer.fit(table)


@settings(max_examples=at_length(15, 30))
@given(ordered_problems(), st.sampled_from([2, 3, 4]))
def test_min_width_equals_brute_force(drawn, width):
    _, problem = drawn
    options = RangeOptions(min_width=width)
    refined = refine_jointly(problem, ["x"], Refiner(information, options))
    assert refined.value == pytest.approx(brute_force(problem, width=width), abs=1e-9)


@settings(max_examples=at_length(15, 30))
@given(ordered_problems(), st.sampled_from([2, 3, 5]))
def test_a_grid_equals_brute_force(drawn, grid):
    _, problem = drawn
    refined = refine_jointly(problem, ["x"], Refiner(information, RangeOptions(grid=grid)))
    assert refined.value == pytest.approx(brute_force(problem, grid=grid), abs=1e-9)
    for label in refined.recoding["x"].labels:
        low = getattr(label, "low", None)
        assert low is None or low % grid == 0, label


@settings(max_examples=at_length(15, 30))
@given(ordered_problems())
def test_the_heuristic_is_feasible_and_never_above_the_optimum(drawn):
    _, problem = drawn
    exact = refine_jointly(problem, ["x"], Refiner(information))
    moved = refine_jointly(problem, ["x"], Refiner(information, cutting=cut_heuristically))
    assert problem.feasible(moved.counts)
    assert moved.value <= exact.value + 1e-9
    assert not moved.proven


@given(ordered_problems(), st.integers(0, 99))
def test_the_order_of_records_does_not_matter(drawn, seed):
    table, problem = drawn
    hierarchies = {"x": Hierarchy.ranges(widths=[3]), "a": Hierarchy.suppression()}
    shuffled = table.sample(frac=1, random_state=seed)
    first, second = (
        refine_jointly(
            problem_of(rows, hierarchies, list(problem.models)),
            ["x"],
            Refiner(information),
        )
        for rows in (table, shuffled)
    )
    assert first.value == second.value
    assert first.recoding["x"].labels == second.recoding["x"].labels


ANYWHERE = RangeOptions()


def segments(values, sensitive, models, options=ANYWHERE, hierarchy=None):
    table = pd.DataFrame({"x": values, "w": sensitive})
    problem = problem_of(table, {"x": hierarchy or Hierarchy.ranges(widths=[25])}, models)
    line = Ranges.of("x", problem.taxonomies["x"], problem.counts.cells[:, 0], options)
    return Segments.of(Judge(models, information), problem.counts, line)


def best_cuts(found):
    """The blocks at which the best ranges begin."""
    path = found.best()
    return None if path is None else found.family.starts[list(path)].tolist()


def labels(found, cuts):
    line = found.family
    return [str(label) for label in line.partition(line.path(cuts)).labels]


def allowed(found, start, end):
    """Whether the range of the blocks from a start to an end may be used; none is not there."""
    place = (found.family.starts == start) & (found.family.ends == end)
    return bool(found.allowed[place].any())


def test_hand_worked_cuts():
    # 1 2 | 3 4: each pair is uniform, every single value is pure.
    found = segments([1, 2, 3, 4], list("uvuv"), [EntropyLDiversity(2)])
    assert best_cuts(found) == [0, 2]
    assert labels(found, [0, 2]) == ["(-inf, 3)", "[3, inf)"]


def test_a_single_range_is_suppression():
    found = segments([1, 2], list("uv"), [EntropyLDiversity(2)])
    assert best_cuts(found) == [0]
    assert labels(found, [0]) == ["*"]


def test_where_no_range_is_allowed_there_is_no_partition():
    found = segments([1, 1, 2], list("uuv"), [EntropyLDiversity(2)])
    assert best_cuts(found) is None


def test_ties_prefer_more_ranges():
    found = segments([1, 1, 2, 2], list("uvuv"), [KAnonymity(1)])  # nothing to gain
    assert best_cuts(found) == [0, 1]


def test_extension_of_a_range_is_not_monotone():
    found = segments([1, 2, 3], list("uvw"), [EntropyLDiversity(1.5)])
    assert not allowed(found, 0, 1)
    assert allowed(found, 0, 2)
    uneven = segments([1, 1, 2, 2, 2, 2, 2], list("uvuuuuu"), [EntropyLDiversity(1.9)])
    assert allowed(uneven, 0, 1)
    assert not allowed(uneven, 0, 2)


def test_whole_numbers_fill_a_unit_each():
    found = segments(
        list(range(80, 91)), list("uv") * 5 + ["u"], [KAnonymity(1)], RangeOptions(min_width=5)
    )
    assert best_cuts(found) == [0, 5]  # [80, 85) and 85 to 90, which spans 6
    assert allowed(found, 6, 11)  # 86 to 90 spans 5
    assert not allowed(found, 7, 11)


def test_fractions_may_be_cut_before_the_last_one():
    found = segments([0.5, 0.5, 1.5, 1.5], list("uvuv"), [KAnonymity(2)])
    assert best_cuts(found) == [0, 1]
    assert labels(found, [0, 1]) == ["(-inf, 1)", "[1, inf)"]


def test_numbers_beyond_floats_are_cut_exactly():
    values = [2**60, 2**60, 2**60 + 1, 2**60 + 1]
    found = segments(values, list("uuvv"), [KAnonymity(2)])
    assert labels(found, best_cuts(found)) == [
        f"(-inf, {2**60 + 1})",
        f"[{2**60 + 1}, inf)",
    ]


def test_ties_prefer_more_classes_then_smaller_levels():
    table = pd.DataFrame(
        {"x": [2, 2, 1, 1, 2, 1], "b": list("pqqppp"), "c": list("ssrrrr"), "w": list("uuuuvv")}
    )
    suppress = Hierarchy.suppression()
    hierarchies = {"x": Hierarchy.ranges(widths=[5]), "b": suppress, "c": suppress}
    problem = problem_of(table, hierarchies, [KAnonymity(2)])
    refined = refine_jointly(problem, ["x"], Refiner(information))
    levels = problem.taxonomies["b"].levels, problem.taxonomies["c"].levels
    assert refined.recoding["b"] is levels[0][0]
    assert refined.recoding["c"] is levels[1][1]


def test_one_range_may_stand_beside_missing_values():
    table = pd.DataFrame({"x": [1, 1, 2, 2, None, None, None, None], "w": list("uvuvstst")})
    hierarchies = {"x": Hierarchy.ranges(widths=[10])}
    problem = problem_of(table, hierarchies, [KAnonymity(3)])
    refined = refine_jointly(problem, ["x"], Refiner(information))
    assert [*map(shown_label, refined.recoding["x"].labels)] == ["(-inf, inf)", "(missing)"]
    assert refined.value == pytest.approx(1)


def test_the_last_cell_of_a_grid_is_as_wide_as_the_others():
    found = segments(
        list(range(25)), ["u", "v"] * 12 + ["u"], [KAnonymity(1)], RangeOptions(None, 10, 10)
    )
    assert best_cuts(found) == [0, 1, 2]


def test_labels_begin_on_the_grid_and_cover_what_lies_between():
    found = segments([17, 24, 31, 52], list("uvuv"), [KAnonymity(1)], RangeOptions(grid=10))
    assert labels(found, list(range(found.family.blocks))) == [
        "(-inf, 20)",
        "[20, 30)",
        "[30, 50)",
        "[50, inf)",
    ]


def test_decimals_and_negatives():
    found = segments([-1.5, -0.5, 0.25], list("uvu"), [KAnonymity(1)])
    assert labels(found, [0, 1, 2]) == [
        "(-inf, -1)",
        "[-1, 0)",
        "[0, inf)",
    ]


def test_the_cuts_of_a_level():
    found = segments([17, 24, 25, 49, 50, 90], list("uvuvuv"), [KAnonymity(1)])
    assert level_ranges(found.family, 1) == [0, 2, 4, 5]
    assert level_ranges(found.family, 2) == [0]


def missing_problem(extra):
    table = pd.DataFrame({"x": [1, 2, 3, 4, *[None] * len(extra)], "w": [*"uvuv", *extra]})
    hierarchies = {"x": Hierarchy.ranges(widths=[25])}
    return problem_of(table, hierarchies, [EntropyLDiversity(1.8)])


def test_missing_values_stay_apart_from_ranges():
    refined = refine_jointly(missing_problem("uv"), ["x"], Refiner(information))
    shown = [*map(shown_label, refined.recoding["x"].labels)]
    assert shown == ["(-inf, 3)", "[3, inf)", "(missing)"]


def test_missing_values_that_break_the_policy_suppress_everything():
    refined = refine_jointly(missing_problem("u"), ["x"], Refiner(information))
    assert refined.recoding["x"].labels == ("*",)
    assert len(refined.counts) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_ranges": 0}, "max-ranges = 0 must be a whole number of at least 1"),
        ({"max_ranges": 2.5}, "max-ranges = 2.5"),
        ({"max_ranges": True}, "max-ranges = True"),
        ({"max_ranges": "3"}, "max-ranges = '3'"),
        ({"grid": "5"}, "grid = 5 must be a number"),
        ({"min_width": 0}, "min-width = 0 must be a number above 0"),
        ({"grid": -5}, "grid = -5 must be a number above 0"),
        ({"grid": float("nan")}, "grid = nan"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        RangeOptions(**options)


def test_what_cannot_be_cut():
    with pytest.raises(InputError, match="cannot refine 'x': its values are not all numbers"):
        segments(["p", "q"], ["u", "v"], [KAnonymity(1)], hierarchy=Hierarchy.suppression())


def test_the_levels_of_others_come_back(adult):
    table = adult[["age", "sex", "marital-status"]].rename(columns={"marital-status": "w"})
    hierarchies = {"age": Hierarchy.ranges(widths=[25, 50]), "sex": Hierarchy.suppression()}
    problem = problem_of(table, hierarchies, [EntropyLDiversity(2)])
    refined = refine_jointly(problem, ["age"], Refiner(information))
    levels = [level_recoding(problem.taxonomies, ("sex",), (i,))["sex"] for i in (0, 1)]
    assert any(refined.recoding["sex"] is level for level in levels)
