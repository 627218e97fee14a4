"""Who knows some records of a person: by hand, by laws, and by brute force in plain Python."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lengths import at_length

from anonymizer.risk import events
from anonymizer.risk.events import least_left

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
