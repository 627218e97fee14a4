"""Who is found where any record of a household gives away the others: by hand, and by fractions."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import nextafter

import literature
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lengths import at_length
from scipy.sparse import csr_array

from anonymizer import (
    EntropyLDiversity,
    HouseholdCompositionKAnonymity,
    HouseholdKAnonymity,
    HouseholdRisk,
    InputError,
    KAnonymity,
    KmAnonymity,
    LargestShare,
    PersonKAnonymity,
)
from anonymizer.counts.counting import recount
from anonymizer.counts.counts import Classes
from anonymizer.counts.schema import Schema
from anonymizer.privacy import holds, over_persons, verdicts
from anonymizer.privacy.population import household


def classes_of(joint) -> Classes:
    joint = np.array(joint)
    return Classes(joint, joint.sum(axis=0))


def exact(joint) -> Fraction:
    """The chance of the household that is found most easily, in plain Python."""
    rows = [Counter({h: n for h, n in enumerate(row) if n}) for row in np.array(joint).tolist()]
    return literature.household_risk([row for row in rows if row])


joints = st.lists(
    st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=5
).filter(lambda joint: any(map(any, joint)))


def test_the_chance_that_any_member_is_found_by_hand():
    """Classes of 4 and 2: the first has 1 - 3/4 x 3/4, and the second 1 - 3/4 x 1/2."""
    classes = classes_of([[2, 1, 1], [0, 1, 1]])
    assert HouseholdRisk(0.9).measure(classes) == [1 - 3 / 8]
    assert household([1 / 4, 1 / 2], ["b", "b"]).tolist() == [1 - 3 / 8] * 2
    assert holds(HouseholdRisk(0.625), classes).all()
    assert not holds(HouseholdRisk(nextafter(0.625, 0)), classes).any()


def test_who_is_alone_in_a_class_is_found_for_sure():
    assert HouseholdRisk(0.9).measure(classes_of([[1, 0], [2, 2]])) == [1]
    assert HouseholdRisk(1).measure(classes_of([[1, 0], [2, 2]])) == [1]
    assert HouseholdRisk(0.5).measure(classes_of([[0, 0], [1, 1]])) == [0.5]  # a class of none


def test_households_of_a_class_by_hand():
    classes = classes_of([[2, 1, 0], [0, 1, 0], [1, 1, 1]])
    assert HouseholdKAnonymity(2).measure(classes).tolist() == [2, 1, 3]
    assert holds(HouseholdKAnonymity(2), classes).tolist() == [True, False, True]


def test_households_of_the_same_members_by_hand():
    """Two of a member in each class, and two of both in the first; the fifth has nobody."""
    classes = classes_of([[1, 1, 2, 2, 0], [1, 1, 0, 0, 0]])
    assert HouseholdCompositionKAnonymity(2).measure(classes) == [2]
    assert HouseholdCompositionKAnonymity(2).measure(classes_of([[1, 1, 2], [1, 1, 0]])) == [1]


@given(joints)
def test_the_chance_is_that_of_fractions(joint):
    for form in (np.asarray, csr_array):
        classes = Classes(form(np.array(joint)), np.array(joint).sum(axis=0))
        assert HouseholdRisk(1).measure(classes) == pytest.approx(float(exact(joint)), rel=1e-12)


@given(joints, st.integers(-2, 2))
def test_bounds_next_to_the_chance_are_decided_as_fractions_are(joint, steps):
    """A bound is the decimal number that was given, at the chance or a float or two next to it."""
    found = exact(joint)
    bound = float(found)
    for _ in range(abs(steps)):
        bound = nextafter(bound, 2 if steps > 0 else 0)
    model = HouseholdRisk(min(bound, 1.0))
    assert holds(model, classes_of(joint)).all() == (found <= Fraction(repr(model.risk)))


@pytest.mark.parametrize("risk", ["0.3", "0.2", "0.1", "0.7"])
def test_a_decimal_bound_is_held_where_the_chance_is_just_that(risk):
    """9/10 x 8/9 x 7/8 = 7/10, which floats may miss by a bit; the next record breaks it."""
    sizes = range(int(10 * (1 - Fraction(risk))) + 1, 11)
    table = np.zeros((len(sizes), 1 + sum(sizes)), np.int64)
    table[:, 0] = 1
    column = 1
    for place, size in enumerate(sizes):  # all others live alone
        table[place, column : column + size - 1] = 1
        column += size
    assert exact(table) == Fraction(risk)
    assert holds(HouseholdRisk(float(risk)), classes_of(table)).all()
    assert not holds(HouseholdRisk(nextafter(float(risk), 0)), classes_of(table)).any()


@given(joints, st.lists(st.integers(0, 2), min_size=5, max_size=5), st.integers(0, 5))
def test_merging_classes_and_leaving_some_out_lowers_the_chance(joint, merged, gone):
    """Class 5 is none, so that nothing is left out."""
    kept = [place for place in range(len(joint)) if place != gone and any(joint[place])]
    coarser = np.zeros((3, 4), np.int64)
    for place in kept:
        coarser[merged[place]] += joint[place]
    if coarser.any():
        assert exact(coarser) <= exact(joint)
        before, after = (HouseholdRisk(1).measure(classes_of(each))[0] for each in (joint, coarser))
        assert after <= before + 1e-12


@given(joints)
def test_models_of_classes_follow(joint):
    """What is added to a policy holds wherever the model does."""
    found, classes = exact(joint), classes_of(joint)
    occupied = classes.sizes > 0
    risk = HouseholdRisk(float(found))
    if holds(risk, classes).all():
        (records,) = risk.implied()
        assert holds(records, classes)[occupied].all()
    fewest = int(HouseholdCompositionKAnonymity(1).measure(classes)[0])
    (households,) = HouseholdCompositionKAnonymity(fewest).implied()
    assert holds(households, classes)[occupied].all()


def test_large_tables_are_measured_as_fractions_have_them():
    rng = np.random.default_rng(4)
    for _ in range(at_length(20, 500)):
        joint = rng.poisson(0.4, (int(rng.integers(1, 30)), int(rng.integers(1, 60))))
        if joint.any():
            assert HouseholdRisk(1).measure(classes_of(joint)) == pytest.approx(float(exact(joint)))


# Policies


def test_what_the_models_imply_is_added():
    added = {
        (HouseholdRisk(0.1),): [KAnonymity(10)],
        (HouseholdRisk(0.3),): [KAnonymity(4)],
        (HouseholdRisk(1),): [],
        (KAnonymity(10), HouseholdRisk(0.1)): [],
        (KAnonymity(3), HouseholdRisk(0.1)): [KAnonymity(10)],
        (HouseholdCompositionKAnonymity(5),): [HouseholdKAnonymity(5)],
        (HouseholdCompositionKAnonymity(5), HouseholdKAnonymity(7)): [],
        (HouseholdKAnonymity(3),): [],
    }
    for given_models, more in added.items():
        assert over_persons(given_models, (), ["home"]) == (*given_models, *more)


def test_records_count_as_they_do_without_households():
    """Nothing about a household changes what k is."""
    assert over_persons([KAnonymity(5)], (), ["home"]) == (KAnonymity(5),)
    with pytest.raises(InputError, match=r"^person-k-anonymity counts persons, and no column"):
        over_persons([PersonKAnonymity(5)], (), ["home"])
    with pytest.raises(InputError, match=r"^km-anonymity counts persons, and no column"):
        over_persons([KmAnonymity(5, 2)], (), ["home"])


@pytest.mark.parametrize(
    "model",
    [HouseholdRisk(0.5), HouseholdKAnonymity(2), HouseholdCompositionKAnonymity(2)],
    ids=repr,
)
def test_households_that_no_column_tells_are_not_counted(model):
    table = pd.DataFrame({"a": list("xyxy"), "home": list("1122")})
    message = f'^{model.name} counts households, and no column tells .* household = "hhid"'
    for person in ((), ("who",)):
        with pytest.raises(InputError, match=message):
            over_persons([model], person)
    with pytest.raises(InputError, match=message):
        verdicts(recount(table, Schema(("a",), ())), [model])
    found = verdicts(recount(table, Schema(("a",), (), household=("home",))), [model])
    assert [each.model for each in found] == [model]


def test_numbers_of_persons_show_more_of_households_than_is_defined():
    message = (
        "numbers of persons show which rows are of one person, and how surely somebody then finds "
        "a household by all rows of its members is not defined here; leave out household "
        r"\(column 'home'\), or the numbers"
    )
    with pytest.raises(InputError, match=message):
        Schema(("a",), (), person=("who",), household=("home",), person_numbers=True)
    with pytest.raises(InputError, match=r"'home' has more than one role; .* that of households"):
        Schema(("home",), (), household=("home",))


def test_all_records_of_a_person_are_of_one_household():
    table = pd.DataFrame({"a": list("xyxyz"), "who": list("ppqqr"), "home": [1, 1.0, 1, 2, 3]})
    message = (
        "'home' must tell one household of each person, and tells several of 1 person by 'who'; "
        "give all records of a person the same one, or leave out household"
    )
    schema = Schema(("a",), (), person=("who",), household=("home",))
    with pytest.raises(InputError, match=message):
        schema.admit(table)
    assert len(schema.admit(table.assign(home=["1", 1, " 1", 1.0, 3]))) == 5


def members_of(joint, home_of) -> Classes:
    """Classes by person, who live in numbered households."""
    return replace(classes_of(joint), values=tuple(home_of), attribute="person")


def test_members_who_have_several_records_by_hand():
    """Persons a and b live together, c and d by themselves; a has 3 of the 5 records of a class.

    Of persons a and b are found with 1 - 2/3 x 1/2, of records with 1 - 2/5 x 1/2.
    """
    classes = members_of([[3, 0, 1, 1], [0, 1, 0, 1]], [0, 0, 1, 2])
    assert HouseholdRisk(1).measure(classes) == pytest.approx([4 / 5])
    assert holds(HouseholdRisk(0.8), classes).all()
    assert not holds(HouseholdRisk(0.79), classes).any()
    even = members_of([[1, 0, 1, 1], [0, 1, 0, 1]], [0, 0, 1, 2])
    assert HouseholdRisk(1).measure(even) == pytest.approx([2 / 3])
    sure = members_of([[1, 0], [0, 2]], [0, 1])
    assert HouseholdRisk(1).measure(sure) == [1]


def test_households_are_alike_by_all_records_of_all_members():
    """Who has two classes is not two who have one each, though each class has as many persons."""
    joint = [[1, 1, 0, 1, 0], [1, 0, 1, 0, 1]]  # one person of both, and two pairs of one each
    same = HouseholdCompositionKAnonymity(2)
    assert same.measure(members_of(joint, [0, 1, 1, 2, 2])) == [1]
    pairs = [row[1:] for row in joint]
    assert same.measure(members_of(pairs, [0, 0, 1, 1])) == [2]
    assert same.measure(members_of([[1, 1, 0], [0, 0, 1]], [0, 0, 1])) == [1]


def test_models_of_households_stay_what_they_are_of_persons():
    models = [HouseholdRisk(0.25), HouseholdCompositionKAnonymity(3), KAnonymity(2)]
    found = over_persons(models, ("who",), ("home",))
    assert [*found] == [
        *models[:2],
        PersonKAnonymity(2),
        PersonKAnonymity(4),
        HouseholdKAnonymity(3),
        LargestShare(1 / 4),
    ]
    assert over_persons([HouseholdKAnonymity(5)], ("who",), ("home",))[1:] == (LargestShare(1 / 5),)


def test_a_bound_on_values_is_none_on_persons():
    """Seven values in each class make no share of a person smaller."""
    found = over_persons([KAnonymity(2), EntropyLDiversity(7)], ("who",))
    assert found == (PersonKAnonymity(2), EntropyLDiversity(7), LargestShare(1 / 2))
    alone = EntropyLDiversity(7)
    assert over_persons([alone], ("who",), numbers=True) == (alone,)


def test_every_record_has_a_household():
    table = pd.DataFrame({"a": list("xyxy"), "home": ["1", " ", None, "2"]})
    message = (
        "column 'home', which tells households apart, misses the value of 2 of 4 records; leave "
        "these records out, or give each household among them a value"
    )
    with pytest.raises(InputError, match=message):
        Schema(("a",), (), household=("home",)).admit(table)
