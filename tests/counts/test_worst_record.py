"""The worst choice of one record of each person: what ``each`` covers of it, and what not."""

from itertools import product
from math import inf

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anonymizer import (
    AlphaKAnonymity,
    Anonymizer,
    DistinctLDiversity,
    EntropyLDiversity,
    Fixed,
    InputError,
    RecursiveLDiversity,
)
from anonymizer.release.study import Study
from tests import persons as oracle

KEPT = {"age": {"widths": [100]}}

VALUES = st.lists(st.sets(st.sampled_from("abcd"), min_size=1, max_size=3), min_size=1, max_size=5)
"""The values that each person of a class has."""

HITTING = [{"a", "x"}, {"a", "y"}, {"b", "z"}, {"b", "u"}]


def records_of(held):
    """A record of each value of each person, all in one class."""
    rows = [(person, value) for person, values in enumerate(held) for value in sorted(values)]
    return oracle.records_of(
        [("*",)] * len(rows), [value for _, value in rows], [p for p, _ in rows]
    )


def by_choice(measure, held):
    """What a class comes to by each choice of one value of each person."""
    for chosen in product(*map(sorted, held)):
        group = oracle.records_of([("*",)] * len(chosen), chosen, range(len(chosen)))
        yield measure(group, group)


def figure(model, held):
    """What the library measures with ``per_person = "each"``, of the table as one class."""
    records = records_of(held)
    frame = pd.DataFrame(
        {"who": [each.person for each in records], "age": 1, "w": [each.value for each in records]}
    )
    options = {"person": "who", "per_person": "each", "recoding": Fixed({"age": 0})}
    anonymizer = Anonymizer(KEPT, sensitive="w", privacy=[model], **options)
    return next(each.worst for each in anonymizer.fit(frame).release_.privacy if each.attribute)


def ratio(group, table):
    """r_1 / (r_2 + ... + r_m)."""
    largest = oracle.likeliest(group, table)
    return inf if largest == 1 else largest / (1 - largest)


@given(VALUES)
@example(HITTING)
def test_each_is_the_worst_choice_of_a_largest_share(held):
    """No choice gives a value more persons than have it, and one choice gives it all of them."""
    records = records_of(held)
    worst = max(by_choice(oracle.likeliest, held))
    having = max(sum(value in values for values in held) for value in "abcdxyzu")
    assert worst == pytest.approx(having / len(held))
    # A reader who takes records for equally likely is another one, whom the policy holds against.
    plain = oracle.of_class(oracle.likeliest, records, records, False)
    assert max(worst, plain) == oracle.of_class(oracle.likeliest, records, records, False, True)
    plain = oracle.of_class(ratio, records, records, False)
    each = oracle.of_class(ratio, records, records, False, True)
    assert max(max(by_choice(ratio, held)), plain) == pytest.approx(each)


@pytest.mark.parametrize("held", [HITTING, [{"a", "b"}, {"a", "c"}, {"a"}, {"b", "d"}]])
def test_the_library_holds_models_of_a_largest_share_to_the_worst_choice(held):
    worst = max(by_choice(oracle.likeliest, held))
    assert figure(AlphaKAnonymity(1.0, 1), held) == pytest.approx(worst)
    assert figure(RecursiveLDiversity(100.0, 2), held) == pytest.approx(worst / (1 - worst))


@given(VALUES)
@example(HITTING)
@pytest.mark.parametrize("measure", [oracle.distinct, oracle.effective])
def test_the_worst_choice_is_never_better_than_each(measure, held):
    records = records_of(held)
    each = oracle.of_class(measure, records, records, True, True)
    assert min(by_choice(measure, held)) <= each + 1e-9


def test_the_worst_choice_may_leave_fewer_values_than_each():
    """{a, b} has a value of each of four persons: a hitting set."""
    assert min(by_choice(oracle.distinct, HITTING)) == 2
    assert figure(DistinctLDiversity(2), HITTING) == 4
    assert min(by_choice(oracle.effective, HITTING)) == pytest.approx(2)
    assert figure(EntropyLDiversity(2), HITTING) == pytest.approx(2**1.75)  # 1/2, 1/4, 1/8, 1/8


def test_merging_may_make_the_worst_choice_worse():
    """Two persons have two values, the first and the second the other way round: then both both."""
    first, second = [{"a"}, {"b"}], [{"b"}, {"a"}]
    merged = [one | other for one, other in zip(first, second, strict=True)]
    assert [max(by_choice(oracle.likeliest, held)) for held in (first, second, merged)] == [
        *(0.5, 0.5, 1)
    ]
    assert [min(by_choice(oracle.distinct, held)) for held in (first, second, merged)] == [2, 2, 1]


def test_the_worst_record_is_refused_by_its_name(tmp_path):
    study = '[data]\npath = "a.csv"\nperson = "who"\nper-person = "worst"\n'
    study += '[quasi-identifiers]\nage = "suppress"\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    (tmp_path / "study.toml").write_text(study)
    message = r'\[data\] per-person = "worst" would hold a policy against the worst choice of one'
    with pytest.raises(InputError, match=message):
        Study(tmp_path / "study.toml")
