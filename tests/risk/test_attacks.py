"""Attacks on counts: examples by hand, laws, and brute force."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import DistinctLDiversity, Hierarchy, KAnonymity, MeanInformation, TCloseness
from anonymizer.errors import InputError
from anonymizer.risk.attacks import (
    candidates,
    failing,
    guessed_right,
    guesses,
    intersect,
    linkage,
    membership_bounds,
    similarity,
)
from tests.strategies import joints

labels = st.lists(st.integers(0, 3), min_size=1, max_size=25)


def people_of(joint):
    """The class and the value of every record of a count matrix."""
    cells = np.repeat(np.arange(joint.size), joint.ravel())
    return np.divmod(cells, joint.shape[1])


# Linkage


def test_linkage_by_hand():
    """Classes of 1, 1 and 2 records; one other person looks like the second."""
    found = linkage([1, 1, 2], [1, 2, 2])
    assert found.prosecutor.highest == 1
    assert (found.prosecutor.expected, found.prosecutor.certain) == (3, 2)
    assert found.journalist is not None
    assert (found.journalist.expected, found.journalist.certain) == (2.5, 1)
    assert found.marketer == found.journalist.average == 2.5 / 4


def test_a_population_that_is_the_table_makes_no_journalist():
    assert linkage([2, 3], [2, 3]).journalist is None
    assert linkage([2, 3]).marketer == 2 / 5


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.data())
def test_linkage_is_what_guessing_comes_to(sizes, data):
    """Everybody guesses each record that fits as often: the hits, counted pair by pair."""
    others = data.draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes)))
    people = np.add(sizes, others)
    hits = sum(1 / of for size, of in zip(sizes, people, strict=True) for _ in range(size))
    assert linkage(sizes, people).marketer == pytest.approx(hits / sum(sizes))


# Inference


def test_guesses_by_hand():
    """Classes (4, 0), (2, 2) and (0, 2): p = (0.6, 0.4)."""
    found = guesses([[4, 0], [2, 2], [0, 2]])
    assert (found.homogeneous_records, found.homogeneous_classes) == (6, 2)
    assert (found.expected, found.accuracy, found.baseline) == (8, 0.8, 0.6)
    assert found.max_gain == pytest.approx(1 / 0.4)
    assert (found.skewed_records, found.max_posterior) == (2, 1)
    assert guesses([[4, 0], [2, 2], [0, 2]], skew=5 / 3).skewed_records == 6


def test_unseen_values_and_empty_classes_change_nothing():
    assert guesses([[4, 0, 0], [0, 0, 0], [2, 0, 2]]) == guesses([[4, 0], [2, 2]])


@given(joints)
def test_the_guess_tried_on_the_table_itself_is_what_was_expected(joint):
    class_of, values = people_of(joint)
    found = guesses(joint)
    assert guessed_right(joint, class_of, values) == found.expected
    assert found.accuracy >= found.baseline - 1e-12
    nobody = np.full(len(values), -1)
    assert guessed_right(joint, nobody, values) == guessed_right(joint, class_of, nobody) == 0


@given(joints)
def test_merging_classes_tells_no_more(joint):
    fine = guesses(joint)
    coarse = guesses(np.vstack([joint[:2].sum(axis=0), joint[2:]]))
    assert coarse.expected <= fine.expected
    assert coarse.max_posterior <= fine.max_posterior
    assert coarse.max_gain <= fine.max_gain + 1e-12
    assert coarse.homogeneous_records <= fine.homogeneous_records


@given(joints)
def test_gains_are_posterior_over_prior(joint):
    prior = joint.sum(axis=0) / joint.sum()
    seen = prior > 0
    gains = (joint / joint.sum(axis=1, keepdims=True))[:, seen] / prior[seen]
    assert guesses(joint).max_gain == pytest.approx(gains.max())


def test_twice_as_likely_is_twice_as_likely_in_floating_point():
    """3 of 11 against 3 of 22, which divides to less than 2."""
    assert 3 / 11 * (22 / 3) < 2
    assert guesses([[3, 8], [0, 11]]).skewed_records == 11


# Similarity


ORGANS = Hierarchy.from_rows(
    [
        ["ulcer", "stomach", "inner"],
        ["gastritis", "stomach", "inner"],
        ["bronchitis", "lung", "inner"],
        ["eczema", "skin", "outer"],
    ]
)
ILLNESSES = ("bronchitis", "eczema", "gastritis", "ulcer")


def test_similarity_by_hand():
    """Two classes of two illnesses each: both of the stomach, both of inner organs."""
    fine, coarse = similarity([[0, 0, 1, 2], [3, 0, 0, 1]], ILLNESSES, ORGANS)
    assert (fine.level, fine.groups, fine.homogeneous_records) == (1, 2, 3)
    assert (fine.homogeneous_classes, fine.max_posterior) == (1, 1)
    assert (coarse.level, coarse.groups, coarse.homogeneous_records) == (2, 1, 7)


@given(st.data())
def test_coarser_groups_are_known_of_more_people(data):
    joint = data.draw(joints.filter(lambda joint: joint.shape[1] == 4))
    known = [guesses(joint).homogeneous_records]
    known += [level.homogeneous_records for level in similarity(joint, ILLNESSES, ORGANS)]
    assert known == sorted(known)


def test_a_hierarchy_that_lacks_values_is_counted_not_quoted():
    with pytest.raises(InputError, match="'illness' lacks 1 of its 2 values") as error:
        similarity([[1, 1]], ["ulcer", "Morbus"], ORGANS, "illness")
    assert "Morbus" not in str(error.value)


# Intersection


def test_an_intersection_by_hand():
    counts, _ = intersect(["aaabb", "xxyyy"], {"disease": ["flu", "cold", "flu", "flu", "cold"]})
    assert counts.names == ("release 1", "release 2")
    assert counts.sizes.tolist() == [2, 1, 2]
    assert counts.joint["disease"].tolist() == [[1, 1], [1, 0], [1, 1]]
    assert counts.cells.tolist() == [[0, 0], [0, 1], [1, 1]]


@given(labels, st.data())
def test_an_intersection_is_a_group_by(first, data):
    same = {"min_size": len(first), "max_size": len(first)}
    second, third, values = (data.draw(st.lists(st.integers(0, 2), **same)) for _ in range(3))
    people = pd.DataFrame({"a": first, "b": second, "c": third, "w": values})
    counts, class_of = intersect([first, second, third], {"w": values})
    groups = people.groupby(["a", "b", "c"], sort=False)
    assert counts.sizes.tolist() == groups.size().tolist()
    assert class_of.tolist() == groups.ngroup().tolist()
    table = pd.crosstab(groups.ngroup(), people["w"])
    assert counts.joint["w"].sum(axis=1).tolist() == counts.sizes.tolist()
    order = [list(counts.values["w"]).index(value) for value in table.columns]
    assert (counts.joint["w"][:, order] == table.to_numpy()).all()


def test_a_population_in_the_intersection():
    counts, class_of = intersect(["ab", "xx"], {}, ["abbc", "xxyx"])
    assert class_of.tolist() == [0, 1]
    assert (counts.sizes.tolist(), counts.population.tolist()) == ([1, 1, 0, 0], [1, 1, 1, 1])


@pytest.mark.parametrize("given", [(["aa", "b"], {}), (["aa"], {"w": "x"}), (["", ""], {})])
def test_an_intersection_needs_everybody(given):
    with pytest.raises(InputError, match="the class and the values of every person"):
        intersect(*given)


def test_models_hold_under_every_prior():
    """Two classes of (0.5, 0.5): 0 away from their own margin, 0.4 from (0.9, 0.1)."""
    counts, _ = intersect(["aabb"], {"w": "vuvu"})
    models = [KAnonymity(2), TCloseness(0.3, "equal")]
    assert not failing(counts, models)[1].any()
    verdicts, broken = failing(counts, models, [{"w": np.array([9, 1])}])
    assert broken.tolist() == [True, True]
    assert [verdict.satisfied for verdict in verdicts] == [True, False]
    assert verdicts[1].worst == pytest.approx(0.4)
    assert verdicts[1].violating == 2


def test_an_average_is_one_over_the_records_that_are_held_against_a_prior():
    """A bit of each record, whether the prior is that of four people or of eight."""
    counts, _ = intersect(["aabb"], {"w": "uuvv"})
    for people in (2, 4):
        counts = replace(counts, margins={"w": np.array([people, people])})
        verdicts, broken = failing(counts, [MeanInformation(0.9)])
        assert (verdicts[0].worst, broken.all()) == (1, True)


def test_the_worse_verdict_of_those_that_hold_is_told():
    counts, _ = intersect(["aabb"], {"w": "vuvu"})
    verdicts, _ = failing(counts, [TCloseness(0.5, "equal")], [{"w": np.array([3, 1])}])
    assert verdicts[0].worst == pytest.approx(0.25)


def test_candidates_by_hand():
    """A person in {flu, cold} and {cold, ache}; one in {flu, cold} and {flu, cold}."""
    one = np.array([[True, True, False]])
    two = np.array([[False, True, True], [True, True, False]])
    cells = np.array([[0, 0], [0, 1]])
    assert candidates(cells, [one, two]).tolist() == [1, 2]
    assert candidates(cells, [one, None]).tolist() == [2, 2]
    with pytest.raises(InputError, match="no release shows"):
        candidates(cells, [None, None])


@given(labels, st.data())
def test_linking_records_tells_at_least_as_much(first, data):
    same = {"min_size": len(first), "max_size": len(first)}
    second, values = (data.draw(st.lists(st.integers(0, 2), **same)) for _ in range(2))
    codes = [pd.factorize(np.array(of))[0] for of in (first, second)]
    supports = [pd.crosstab(of, values).to_numpy() > 0 for of in codes]
    counts, class_of = intersect(codes, {"w": values})
    cells = np.column_stack(codes)[np.unique(class_of, return_index=True)[1]]
    linked = (counts.joint["w"] > 0).sum(axis=1)
    assert (linked <= candidates(cells, supports)).all()
    assert not failing(counts, [DistinctLDiversity(1)])[1].any()


def test_bounds_of_membership_hold_for_every_membership():
    """Six people, classes 0 0 0 1 1 1 and 0 0 1 1 0 1, four and three of them in the releases."""
    classes = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 0], [1, 1]])
    counts, class_of = intersect(list(classes.T), {})
    cells = classes[np.unique(class_of, return_index=True)[1]]
    placed = [np.bincount(of) for of in classes.T]
    seen = {}
    everybody = range(len(classes))
    for first, second in product(combinations(everybody, 4), combinations(everybody, 3)):
        released = [
            np.bincount(of[list(members)], minlength=2)
            for of, members in zip(classes.T, (first, second), strict=True)
        ]
        both = sorted(set(first) & set(second))
        records = np.bincount(class_of[both], minlength=len(counts))
        least, most = membership_bounds(counts.sizes, cells, released, placed)
        assert (least <= records).all()
        assert (records <= most).all()
        key = tuple(map(tuple, released))
        seen.setdefault(key, (least, most, []))[2].append(records)
    for least, most, records in seen.values():  # and no bound could be closer, class by class
        assert (np.min(records, axis=0) == least).all()
        assert (np.max(records, axis=0) == most).all()
