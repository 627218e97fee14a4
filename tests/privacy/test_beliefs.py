"""Models that hold for readers who know more, as far as that changes odds."""

import re
from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import classes_of, joints, merged, some_classes

from anonymizer import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    BayesianGain,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    InputError,
    PointwiseMaximalLeakage,
    RecursiveLDiversity,
    TCloseness,
    ValueGain,
)
from anonymizer.privacy import MODELS, for_odds, holds, measures_of
from anonymizer.privacy.base import SensitiveModel
from anonymizer.privacy.beliefs import beliefs

EACH = [
    AlphaKAnonymity(0.7, 1),
    DistinctLDiversity(2),
    EntropyLDiversity(1.5),
    RecursiveLDiversity(3.0, 2),
    TCloseness(0.6, "kl"),
    TCloseness(0.35, "equal"),
    TCloseness(0.35, "ordered"),
    BasicBetaLikeness(1.5),
    EnhancedBetaLikeness(1.5),
    DeltaDisclosure(3.0),
    PointwiseMaximalLeakage(1.3),
    BayesianGain(0.3),
    ValueGain(0.4),
]

models = st.sampled_from(EACH)
some_odds = st.sampled_from([1.1, 1.25, 2.0, 10.0])


def test_each_model_that_can_is_tried():
    able = {
        kind
        for kind in MODELS.values()
        if issubclass(kind, SensitiveModel) and kind.per_class and kind.monotone is not False
    }
    assert {type(model) for model in EACH} == able


def test_what_readers_may_believe_of_a_class_of_two_values():
    # Even odds may become 1.25 to 1, of which 1.2 to .8 are the furthest: 1 / 1.25 = .8 is kept of
    # either share, and .2 is anywhere.
    assert [each.tolist() for each in beliefs(np.array([[5, 5]]), 1.25)] == [
        [[6000, 4000]],
        [[4000, 6000]],
    ]
    even = classes_of([[5, 5]])
    assert holds(AlphaKAnonymity(0.6, 2, odds=1.25), even).all()
    assert not holds(AlphaKAnonymity(0.59, 2, odds=1.25), even).any()
    assert holds(AlphaKAnonymity(0.59, 2), even).all()
    doubt = -0.6 * log2(0.6) - 0.4 * log2(0.4)
    assert measures_of(EntropyLDiversity(1, odds=1.25), even)[0] == pytest.approx(2**doubt)
    # Nobody rules a value out: two different ones stay two, and the class has no third.
    assert measures_of(DistinctLDiversity(2, odds=100), classes_of([[5, 5, 0]]))[0] == 2


def test_a_bound_without_odds_by_hand():
    """Half of a class is anybody's, such as one of the value that one in ten has: .9 away."""
    plain = TCloseness(0.5, "equal", odds=2).without_odds(classes_of([[9, 1]]))
    assert (plain.odds, plain.t) == (None, pytest.approx((0.5 - 0.5 * 0.9) / 0.5))


@given(some_classes(), models, some_odds, st.data())
def test_no_belief_of_such_odds_breaks_what_is_accepted(classes, model, odds, data):
    """Whatever somebody believes whose odds are within the bound."""
    accepted = holds(replace(model, odds=odds), classes)
    parts = 1000
    values = classes.joint.shape[1]
    changes = st.integers(parts, int(parts * odds))
    changed = data.draw(st.lists(changes, min_size=values, max_size=values))
    believed = replace(classes, joint=classes.joint * np.array(changed))
    assert holds(model, believed)[accepted].all()


@given(some_classes(), models, some_odds)
def test_it_is_implied_by_odds_and_stays_when_classes_are_merged(classes, model, odds):
    own = replace(model, odds=odds)
    accepted = holds(own, classes)
    assert holds(model, classes)[accepted].all()
    if accepted[:2].all():
        assert holds(own, merged(classes))[0]


@given(joints, models, some_odds)
def test_a_bound_without_odds_accepts_no_more(joint, model, odds):
    classes = classes_of(joint)
    own = replace(model, odds=odds)
    plain = own.without_odds(classes)
    if plain is None:
        assert type(model) in (
            AlphaKAnonymity,
            RecursiveLDiversity,
            BasicBetaLikeness,
            EnhancedBetaLikeness,
            DeltaDisclosure,
            PointwiseMaximalLeakage,
            BayesianGain,
            ValueGain,
        )
    else:
        assert plain.odds is None
        assert holds(own, classes)[holds(plain, classes)].all()


def test_what_is_counted_of_records_is_counted_of_those_that_there_are():
    three = classes_of([[2, 1]])
    assert not holds(AlphaKAnonymity(1.0, 4, odds=1.25), three).any()
    assert holds(AlphaKAnonymity(1.0, 3, odds=1.25), three).all()


def test_a_policy_for_odds_has_each_model_twice_and_no_more():
    given = EntropyLDiversity(2), AlphaKAnonymity(0.6, 5, odds=3), TCloseness(1, "kl", odds=1.1)
    policy = for_odds(given, 1.25)
    assert policy == (*given, EntropyLDiversity(2, odds=1.25), TCloseness(1, "kl", odds=1.25))
    assert for_odds(policy, 1.25) == policy
    assert for_odds(given, None) == given
    assert policy[3].parameters == {"l": 2, "estimator": "plug-in", "odds": 1.25}
    assert "odds" not in policy[0].parameters


@pytest.mark.parametrize("odds", [1, 0.5, 101, "much", True, float("nan")])
def test_odds_are_a_number_above_one(odds):
    with pytest.raises(InputError, match=r"odds = .* must be a number above 1 and at most 100"):
        EntropyLDiversity(2, odds=odds)


def test_a_model_that_merging_breaks_has_no_odds():
    message = "odds are for models of single classes that merging preserves; leave odds out"
    with pytest.raises(InputError, match=re.escape(message)):
        EntropyLDiversity(2, "grassberger", odds=1.25)
    with pytest.raises(InputError, match=re.escape(message)):
        MODELS["mean-information"](0.5, odds=1.25)
