"""Cuts through taxonomies and groupings against brute force over all of them."""

import json

import numpy as np
import pandas as pd
import pytest
from checker import classes_of, least_close, least_diverse, smallest
from cutting import all_cuts, all_groupings
from hypothesis import given, settings
from hypothesis import strategies as st
from intervals import all_ranges, best_of
from lengths import at_length
from releases import manifest_of
from strategies import drawn_problems, problem_of

from anonymizer import (
    Anonymizer,
    Cut,
    EntropyLDiversity,
    Hierarchy,
    InputError,
    KAnonymity,
    TCloseness,
)
from anonymizer.hierarchy import Interval, cut_of, grouping_of
from anonymizer.objectives import MutualInformation
from anonymizer.privacy import KMap
from anonymizer.recoding import RangeOptions, Refiner, Run, refine_jointly, solve
from anonymizer.recoding.partitions import joint
from anonymizer.recoding.partitions.families import Chain
from anonymizer.recoding.partitions.groups import Cuts
from anonymizer.release.manifest import Manifest

information = MutualInformation()


def cut(problem, ranged=(), run=Run(), **options):  # noqa: B008 (frozen)
    return refine_jointly(problem, ranged, Refiner(information, cuts=True, **options), run=run)


@settings(max_examples=at_length(12, 25))
@given(drawn_problems())
def test_cuts_equal_brute_force(drawn):
    _, problem = drawn
    found = cut(problem)
    value, classes = best_of(
        problem, [all_cuts(t) for t in problem.taxonomies.values()], information
    )
    assert found.proven
    assert found.value == pytest.approx(value, abs=1e-9)
    assert len(found.counts) == classes
    assert problem.feasible(problem.counts.recode(found.recoding))
    assert len(problem.counts.recode(found.recoding)) == classes


@settings(max_examples=12)
@given(drawn_problems(numbers=True), st.sampled_from([{}, {"max_ranges": 2}, {"min_width": 2}]))
def test_cuts_beside_ranges_equal_brute_force(drawn, confined):
    _, problem = drawn
    x, *others = problem.taxonomies.values()
    found = cut(problem, ["x"], options=RangeOptions(**confined))
    wanted = {"most": confined.get("max_ranges"), "width": confined.get("min_width")}
    value, _ = best_of(problem, [all_ranges(x, **wanted), *map(all_cuts, others)], information)
    assert found.proven
    assert found.value == pytest.approx(value, abs=1e-9)


@settings(max_examples=at_length(8, 12))
@given(drawn_problems(numbers=True), st.booleans())
def test_groupings_equal_brute_force(drawn, cuts):
    """x in ranges, a in groups, the others cut, or at a level."""
    _, problem = drawn
    x, a, *others = problem.taxonomies.values()
    refiner = Refiner(information, cuts=cuts, group=["a"])
    found = refine_jointly(problem, ["x"], refiner)
    left = [all_cuts(each) if cuts else each.levels for each in others]
    value, classes = best_of(problem, [all_ranges(x), all_groupings(a), *left], information)
    assert found.proven
    assert found.value == pytest.approx(value, abs=1e-9)
    assert len(found.counts) == classes


@settings(max_examples=at_length(6, 12))
@given(drawn_problems(numbers=True))
def test_the_ascent_is_feasible_and_never_above_the_optimum(drawn):
    _, problem = drawn
    best = cut(problem, ["x"], group=["a"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint, "MOST_COMBINATIONS", 0)
        climbed = cut(problem, ["x"], group=["a"])
    assert problem.feasible(climbed.counts)
    assert climbed.value <= best.value + 1e-9
    node = solve(problem)
    assert climbed.value >= node.score - 1e-9


@settings(max_examples=at_length(6, 12))
@given(drawn_problems(numbers=True))
def test_every_family_holds_the_one_before(drawn):
    _, problem = drawn
    node = solve(problem).score
    ranges = refine_jointly(problem, ["x"], Refiner(information))
    cuts = cut(problem, ["x"])
    grouped = cut(problem, ["x"], group=["a"])
    # A missing value stays apart from ranges, not from levels.
    if None not in problem.taxonomies["x"].codes:
        assert ranges.value >= node - 1e-9
    assert cuts.value >= ranges.value - 1e-9
    assert grouped.value >= cuts.value - 1e-9


@settings(max_examples=at_length(6, 12))
@given(drawn_problems(numbers=True), st.integers(0, 99))
def test_the_order_of_records_does_not_matter(drawn, seed):
    table, problem = drawn
    hierarchies = {
        name: Hierarchy.from_rows([[v, *map(str, row)] for v, row in rows_of(taxonomy)])
        for name, taxonomy in problem.taxonomies.items()
        if name != "x"
    }
    hierarchies = {"x": Hierarchy.ranges(widths=[2]), **hierarchies}
    first, second = (
        cut(problem_of(rows, hierarchies, list(problem.models)), ["x"], group=["a"])
        for rows in (table, table.sample(frac=1, random_state=seed))
    )
    assert first.value == second.value
    for name in hierarchies:
        assert first.recoding[name].labels == second.recoding[name].labels


def rows_of(taxonomy):
    """Values with their labels, as a hierarchy is stated."""
    for text, code in taxonomy.codes.items():
        if text is not None:
            yield text, [level.labels[level.groups[code]] for level in taxonomy.levels[1:]]


TREE = Hierarchy.from_rows(
    [
        ["oak", "leafy", "tree", "*"],
        ["elm", "leafy", "tree", "*"],
        ["fir", "needles", "tree", "*"],
        ["rose", "shrub", "other", "*"],
        ["moss", "moss", "other", "*"],
        ["fern", "fern", "other", "*"],
    ]
)


def one(values, sensitive, models, hierarchy=TREE):
    return problem_of(pd.DataFrame({"a": values, "w": sensitive}), {"a": hierarchy}, models)


def test_a_hand_worked_cut_at_three_depths():
    # A rose alone needs the company of moss; fir is needles, and fern does not occur.
    values = ["oak"] * 2 + ["elm"] * 2 + ["fir"] * 2 + ["rose"] + ["moss"] * 3
    found = cut(one(values, list("uuvvuvuvvv"), [KAnonymity(2)]))
    assert found.recoding["a"].labels == ("elm", "other", "fir", "oak")
    assert found.recoding["a"].levels == (0, 2, 0, 0)
    diverse = cut(one(values, list("uuvvuvuvvv"), [EntropyLDiversity(1.7)]))
    assert diverse.recoding["a"].labels == ("leafy", "other", "fir")
    assert diverse.recoding["a"].levels == (1, 2, 0)


def test_a_value_that_only_the_hierarchy_lists_is_in_the_coarsest_group_without_others():
    values = ["oak", "oak", "elm", "elm", "moss", "rose"]
    found = cut(one(values, list("uuvvuv"), [KAnonymity(2)]))
    assert found.recoding["a"].labels == ("elm", "other", "needles", "oak")
    assert found.recoding["a"].levels == (0, 2, 1, 0)


def test_missing_values_are_a_leaf_below_the_root():
    values = ["oak", "oak", "elm", "elm", None, None, "moss", "moss"]
    found = cut(one(values, list("uuvvwwww"), [KAnonymity(2)]))
    assert None in found.recoding["a"].labels
    few = cut(one(values[:5], list("uuvvw"), [KAnonymity(2)]))
    assert few.recoding["a"].labels == ("*",)


def test_a_cut_that_is_a_level_is_that_level():
    problem = one(["oak", "elm", "fir", "moss"] * 2, list("uvwxuvwx"), [KAnonymity(2)])
    assert cut(problem).recoding["a"] is problem.taxonomies["a"].levels[0]


def test_labels_of_several_levels_never_collide():
    rows = [["x", "y", "*"], ["z", "y", "*"], ["y", "q", "*"], ["p", "q", "*"]]
    taxonomy = Hierarchy.from_rows(rows).over("a", ["x", "y", "z", "p"])
    codes = taxonomy.codes
    above = int(taxonomy.levels[1].groups[codes["x"]])
    partition = cut_of(taxonomy, [(1, above), (0, codes["y"]), (0, codes["p"])])
    assert dict(zip(codes, partition.groups, strict=True)).keys() == {"p", "x", "y", "z"}
    assert partition.labels == ("p", "y (level 1)", "y")
    told = taxonomy.describe(partition, set())
    assert told[1] == {"label": "y (level 1)", "values": ["x", "z"], "level": 1, "group": "y"}
    with pytest.raises(ValueError, match="no partition"):
        cut_of(taxonomy, [(0, codes["y"])])


def test_labels_of_groups_spell_out_their_values():
    values = ["a", "b", "c, d", "{a, b}", "null", None, '"']
    taxonomy = Hierarchy.suppression().over("q", values)
    place = taxonomy.codes
    partition = grouping_of(
        taxonomy,
        [
            np.array([place["b"], place["a"]]),
            np.array([place["c, d"], place["null"], place[None]]),
        ],
    )
    labels = {text: partition.labels[partition.groups[code]] for text, code in place.items()}
    assert labels["a"] == labels["b"] == "{a, b} (grouped)"
    assert labels["{a, b}"] == "{a, b}"
    assert labels["c, d"] == labels[None] == '{"c, d", "null", null}'
    assert labels['"'] == '"'
    assert len(set(partition.labels)) == len(partition)


@settings(max_examples=at_length(6, 12))
@given(drawn_problems(numbers=True))
def test_manifests_describe_what_was_found(drawn):
    _, problem = drawn
    for group in ([], ["a"]):
        recoding = cut(problem, ["x"], group=group).recoding
        everything = {name: all_texts(partition) for name, partition in recoding.items()}
        manifest = manifest_of(
            levels={
                name: level
                for name, partition in recoding.items()
                for level, each in enumerate(problem.taxonomies[name].levels)
                if each is partition
            },
            recoding={
                name: problem.taxonomies[name].describe(partition, everything[name])
                for name, partition in recoding.items()
            },
        )
        again = manifest.recoding_over(problem.taxonomies)
        for name, partition in recoding.items():
            assert partition.groups.tolist() == again[name].groups.tolist()
            assert list(map(str, partition.labels)) == list(map(str, again[name].labels))


FITTED = ["111", "112", "121", "211"]


def test_a_manifest_is_applied_to_a_population_of_more_values():
    """Codes that share a released group are in it; beside a code released alone is no group."""
    codes = Hierarchy.prefixes([2, 1])
    fitted, wider = (codes.over("a", values) for values in (FITTED, [*FITTED, "119", "222"]))
    partition = cut_of(fitted, [(1, 0), (0, 2), (2, 1)])
    assert partition.labels == ("11*", "121", "2**")
    groups = fitted.describe(partition, all_texts(partition))
    assert groups[1] == {"label": "121", "level": 0}
    manifest = manifest_of(recoding={"a": groups})
    again = manifest.recoding_over({"a": wider})["a"]
    labels = {text: again.labels[again.groups[code]] for text, code in wider.codes.items()}
    assert labels == {
        "111": "11*",
        "112": "11*",
        "119": "11*",
        "121": "121",
        "211": "2**",
        "222": "2**",
    }
    with pytest.raises(InputError, match="does not describe a release of this study"):
        manifest.recoding_over({"a": codes.over("a", [*FITTED, "122"])})


@pytest.mark.parametrize(
    "change",
    [
        {"level": 9},
        {"label": "12*"},
        {"level": 0},
        {"group": "1**"},
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(change):
    taxonomy = Hierarchy.prefixes([2, 1]).over("a", FITTED)
    partition = cut_of(taxonomy, [(1, 0), (0, 2), (2, 1)])
    first, *others = taxonomy.describe(partition, all_texts(partition))
    manifest = manifest_of(recoding={"a": [{**first, **change}, *others]})
    with pytest.raises(InputError, match="does not describe a release of this study"):
        manifest.recoding_over({"a": taxonomy})


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KMap(2, pd.DataFrame({"a": ["x", "y"]})), "cut recoding judges every class by its own"),
        (EntropyLDiversity(2, "miller-madow"), "cut recoding prunes by what merging"),
    ],
)
def test_models_that_cuts_cannot_answer_for(model, message):
    table = pd.DataFrame({"a": ["x", "y"], "w": ["u", "v"]})
    with pytest.raises(InputError, match=message):
        Anonymizer({"a": "suppress"}, "w", [model], recoding="cut").fit(table)


def all_texts(partition):
    return {None if label is None else str(label) for label in partition.labels}


def test_a_flat_taxonomy_of_many_values_has_few_candidates():
    values = [f"v{i}" for i in range(1000)]
    taxonomy = Hierarchy.suppression().over("a", values)
    family = Cuts.of("a", taxonomy, np.arange(1000))
    assert len(family.starts) == 1001
    chain = family.chain(np.ones(1001, bool))
    assert isinstance(chain, Chain)
    assert len(list(chain.paths())) == 2


def test_groups_of_many_values_are_refused():
    table = pd.DataFrame({"a": list("abcdefg"), "w": list("uvuvuvu")})
    problem = problem_of(table, {"a": Hierarchy.suppression()}, [KAnonymity(1)])
    with pytest.raises(InputError, match=r"cannot group 'a' .*7 values .the most is 6.; leave"):
        cut(problem, group=["a"])


def test_adult_by_ranges_and_groups(adult):
    hierarchies = {
        "age": Hierarchy.ranges(widths=[25, 50]),
        "education-num": Hierarchy.ranges(widths=[4]),
        "sex": Hierarchy.suppression(),
        "race": Hierarchy.suppression(),
    }
    table = adult.rename(columns={"marital-status": "w"})
    models = [TCloseness(0.55, distance="kl"), EntropyLDiversity(2.7)]
    problem = problem_of(table, hierarchies, models)
    refiner = Refiner(information, group=["sex", "race"])
    found = refine_jointly(problem, ["age", "education-num"], refiner)
    assert found.proven
    assert found.value == pytest.approx(0.24516, abs=5e-6)
    races = "{Amer-Indian-Eskimo, Asian-Pac-Islander}", "{Black, Other}", "White"
    assert sorted(found.recoding["race"].labels) == sorted(races)
    ages = [label for label in found.recoding["age"].labels if isinstance(label, Interval)]
    assert len(ages) == 14
    assert problem.feasible(problem.counts.recode(found.recoding))


@settings(max_examples=at_length(8, 15))
@given(drawn_problems(numbers=True), st.booleans())
def test_whatever_is_released_is_safe(drawn, refined):
    table, problem = drawn
    names = list(problem.taxonomies)
    hierarchies = {
        name: Hierarchy.from_rows([[text, *row] for text, row in rows_of(taxonomy)])
        for name, taxonomy in problem.taxonomies.items()
        if name != "x"
    }
    anonymizer = Anonymizer(
        {"x": Hierarchy.ranges(widths=[2]), **hierarchies},
        "w",
        problem.models,
        missing="category",
        recoding=Cut(refine=None if refined else [], group=["a"]),
    )
    released = anonymizer.fit_transform(table)
    classes = classes_of(released.astype(str).to_dict("records"), names, "w")
    k, t, l = problem.models  # noqa: E741
    assert smallest(classes) >= k.k
    assert least_close(classes) <= t.t + 1e-8
    assert least_diverse(classes) >= l.l - 1e-8
    release = anonymizer.release_.steward_manifest.to_dict()
    assert release["search"]["value"] == pytest.approx(release["information"]["retained"])
    again = Manifest.parse(json.loads(json.dumps(release))).recoding_over(anonymizer.taxonomies_)
    for name, partition in anonymizer.recoding_.items():
        assert partition.groups.tolist() == again[name].groups.tolist()
    assert anonymizer.transform(table).equals(released)
