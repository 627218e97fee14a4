"""Who knows some records of a person: by hand, by laws, and by brute force in plain Python."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lengths import at_length
from scipy.sparse import csr_array

from anonymizer import InputError
from anonymizer.privacy import events
from anonymizer.privacy.events import alike, fewest_left, least_left

Rows = list[tuple[int, int]]


def numbered(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Persons and classes, numbered without a gap."""
    columns = np.array(rows, np.intp).reshape(-1, 2).T
    person_of, class_of = (np.unique(column, return_inverse=True)[1] for column in columns)
    return person_of, class_of


def left(rows: Rows, known: int) -> list[int]:
    """For each person the fewest persons who have all classes of some of their records."""
    own: dict[int, list[int]] = {}
    for person, group in rows:
        own.setdefault(person, []).append(group)
    held = {person: Counter(groups) for person, groups in own.items()}
    return [
        min(
            sum(Counter(chosen) <= other for other in held.values())
            for chosen in combinations(own[person], min(known, len(own[person])))
        )
        for person in sorted(own)
    ]


persons_in_classes = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=24
)


def test_three_persons_by_hand():
    """Of person 0 one knows classes 0 and 1, of person 1 0 and 2, of person 2 1, 2 and 2 again."""
    found = least_left(*numbered([(0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (2, 2), (2, 2)]))
    assert [each.tolist() for each in found] == [[2, 2, 2], [1, 1, 1], [1, 1, 1]]


def test_who_has_two_records_in_a_class_is_not_who_has_one():
    """Class 0 is of three persons, two of whom have two records, and one of these has three."""
    rows = [(0, 0), (1, 0), (1, 0), (2, 0), (2, 0), (2, 0)]
    found = least_left(*numbered(rows))
    assert [each.tolist() for each in found] == [[3, 3, 3], [3, 2, 2], [3, 2, 1]]


@given(persons_in_classes)
def test_every_choice_of_records_is_tried(rows):
    found = least_left(*numbered(rows), most=4)
    assert [each.tolist() for each in found] == [left(rows, known) for known in (1, 2, 3, 4)]


@given(persons_in_classes)
def test_records_may_be_counted(rows):
    persons, classes = numbered(rows)
    pairs = Counter(zip(persons.tolist(), classes.tolist(), strict=True))
    columns = np.array([*pairs]).T
    counted = least_left(*columns, np.array([*pairs.values()]))
    for one, other in zip(counted, least_left(persons, classes), strict=True):
        assert one.tolist() == other.tolist()


@given(persons_in_classes)
def test_more_records_leave_no_more_persons(rows):
    persons, classes = numbered(rows)
    found = least_left(persons, classes)
    for fewer, more in pairwise(found):
        assert (more <= fewer).all()
        assert (more >= 1).all()
    sizes = [len({*persons[classes == each].tolist()}) for each in range(classes.max() + 1)]
    smallest = [min(sizes[each] for each in classes[persons == own]) for own in {*persons.tolist()}]
    assert found[0].tolist() == smallest


def test_one_person_more_with_the_same_records_hides_everybody():
    rng = np.random.default_rng(3)
    for _ in range(at_length(20, 500)):
        rows = [(int(each), int(group)) for each, group in rng.integers(0, 4, (12, 2))]
        twice = rows + [(person + 10, group) for person, group in rows]
        single, double = (least_left(*numbered(each)) for each in (rows, twice))
        for one, two in zip(single, double, strict=True):
            assert two.tolist() == [*(2 * one), *(2 * one)]


def test_too_many_choices_are_left_out(monkeypatch):
    """Two persons with six classes: each has 15 choices of two of them, and 20 of three."""
    rows = [(person, group) for person in range(2) for group in range(6)]
    for most, known in [(29, 1), (30, 2), (39, 2), (40, 3)]:
        monkeypatch.setattr(events, "MOST_CHOICES", most)
        assert len(least_left(*numbered(rows))) == known


def test_what_one_person_alone_has_costs_no_more(monkeypatch):
    """No choice that a person shares with nobody is made longer."""
    monkeypatch.setattr(events, "MOST_CHOICES", 0)
    rows = [(person, 10 * person + number) for person in range(3) for number in range(9)]
    assert [each.tolist() for each in least_left(*numbered(rows))] == [[1, 1, 1]] * 3


@pytest.mark.parametrize("most", [1, 2])
def test_so_many_are_looked_at(most):
    assert len(least_left([0, 0, 0], [0, 1, 2], most=most)) == most


@given(persons_in_classes)
def test_the_fewest_left_are_those_of_the_person_who_is_hidden_worst(rows):
    persons, classes = numbered(rows)
    joint = np.zeros((classes.max() + 1, persons.max() + 1), np.int64)
    np.add.at(joint, (classes, persons), 1)
    for known in (1, 2, 3, 4, 5):
        fewest = min(left(rows, known))
        assert fewest_left(joint, known) == fewest_left(csr_array(joint), known) == fewest


def random_joint(rng: np.random.Generator) -> np.ndarray:
    """Few classes of many persons, who are seldom found alone."""
    classes, persons = int(rng.integers(1, 6)), int(rng.integers(1, 40))
    return rng.poisson(rng.choice([0.5, 1, 3]), (classes, persons))


def test_the_fewest_of_larger_tables_are_those_of_every_choice():
    rng, several = np.random.default_rng(12), 0
    for _ in range(at_length(60, 2000)):
        joint = random_joint(rng)
        joint = joint[:, joint.any(axis=0)]
        if not joint.any():
            continue
        class_of, person_of = np.nonzero(joint)
        class_of = np.unique(class_of, return_inverse=True)[1]
        found = least_left(person_of, class_of, joint[joint > 0])
        for known, least in enumerate(found, 1):
            assert fewest_left(joint, known) == least.min()
            several += known > 1 and least.min() > 1
    assert several > 10


def test_classes_are_looked_at_a_few_at_a_time(monkeypatch):
    rng = np.random.default_rng(5)
    joints = [random_joint(rng) for _ in range(40)]
    expected = [fewest_left(joint, 2) for joint in joints]
    monkeypatch.setattr(events, "WORK_AT_ONCE", 3)
    assert [fewest_left(joint, 2) for joint in joints] == expected


def test_more_choices_than_can_be_tried_are_refused(monkeypatch):
    """Two persons of three classes each: both have 10 choices of three, with repetition."""
    joint = np.ones((3, 2), np.int64)
    monkeypatch.setattr(events, "MOST_TRIED", 20)
    assert fewest_left(joint, 3) == 2
    monkeypatch.setattr(events, "MOST_TRIED", 19)
    assert fewest_left(joint, 2) == 2  # pairs are counted, however many there are
    message = "km-anonymity: persons have up to 20 choices of 3 records .* a smaller m, or coarser"
    with pytest.raises(InputError, match=message):
        fewest_left(joint, 3)
    alone = np.vstack([joint, [[1, 0]]])  # nobody else is left to who knows one record
    assert fewest_left(alone, 3) == 1


def test_more_records_than_anybody_has_are_all_of_them():
    joint = np.array([[3, 3, 1], [1, 1, 2]])
    assert [fewest_left(joint, known) for known in (2, 3, 4, 10**9)] == [1, 1, 1, 1]
    assert [fewest_left(joint[:, :2], known) for known in (2, 3, 4, 10**9)] == [2, 2, 2, 2]
    assert fewest_left(np.full((1, 2), 200), 10**9) == 2


def test_nobody_is_left_of_no_record():
    assert fewest_left(np.zeros((2, 3), np.int64), 2) == 0


# Who knows all records


def test_who_has_the_same_records_by_hand():
    """Two have one record of each class; one has two of the second; and one has no record."""
    joint = np.array([[1, 1, 0, 0], [1, 1, 2, 0]])
    assert alike(joint).tolist() == alike(csr_array(joint)).tolist() == [2, 2, 1, 0]
    assert alike(np.zeros((2, 3), np.int64)).tolist() == [0, 0, 0]


@given(persons_in_classes)
def test_persons_are_alike_whose_records_are_in_the_same_classes(rows):
    persons, classes = numbered(rows)
    joint = np.zeros((classes.max() + 1, persons.max() + 1), np.int64)
    np.add.at(joint, (classes, persons), 1)
    held = [Counter(classes[persons == each].tolist()) for each in range(joint.shape[1])]
    expected = [sum(own == other for other in held) for own in held]
    assert alike(joint).tolist() == alike(csr_array(joint)).tolist() == expected
    assert alike(joint).min() <= least_left(persons, classes)[-1].min()  # who knows fewer


@given(persons_in_classes, st.lists(st.integers(0, 2), min_size=5, max_size=5), st.integers(0, 5))
def test_merging_classes_and_leaving_some_out_keep_persons_alike(rows, merged, gone):
    """What is alike stays alike; class 5 is none, so that nothing is left out."""
    persons, classes = numbered(rows)
    joint = np.zeros((5, persons.max() + 1), np.int64)
    np.add.at(joint, (classes, persons), 1)
    before = alike(joint)
    kept = np.arange(5) != gone
    coarser = np.zeros((3, joint.shape[1]), np.int64)
    np.add.at(coarser, np.array(merged)[kept], joint[kept])
    after = alike(coarser)
    assert (after[after > 0] >= before[after > 0]).all()


def test_alike_are_persons_of_large_tables_as_a_dictionary_has_them():
    rng, several = np.random.default_rng(15), 0
    for _ in range(at_length(60, 2000)):
        joint = random_joint(rng)
        many = Counter(map(tuple, joint.T.tolist()))
        expected = [many[tuple(own)] if any(own) else 0 for own in joint.T.tolist()]
        assert alike(joint).tolist() == expected
        several += max(expected) > 1
    assert several > 10
