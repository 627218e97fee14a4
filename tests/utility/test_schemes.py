"""What recodings of a whole table keep, and what their classes tell, against other computations."""

from collections import Counter
from math import log2

import numpy as np
import pandas as pd
import pytest

from anonymizer import (
    Anonymizer,
    EntropyLDiversity,
    Fixed,
    Hierarchy,
    InputError,
    KAnonymity,
    LargestShare,
    PolicyUnreachableError,
    Pram,
    SafePub,
    TCloseness,
    VariableRange,
    compare_schemes,
    figures,
    showing_values,
)
from anonymizer.utility.figures import natural

T, L = TCloseness(0.3, distance="kl"), EntropyLDiversity(1.5)

# Half of the people have w = a. Below 10 all have, from 10 on 2 of 6 have; from 20 on nobody does.
PEOPLE = pd.DataFrame(
    {
        "age": [1, 5, 11, 12, 13, 14, 21, 22],
        "sex": list("fmfmfmfm"),
        "w": list("aaaabbbb"),
    }
)


def anonymizer(recoding="fixed", privacy=(T, L), **changes):
    given = {
        "quasi_identifiers": {"age": Hierarchy.ranges(widths=[10, 100]), "sex": "suppress"},
        "sensitive": "w",
        "privacy": list(privacy),
        "recoding": recoding,
    }
    return Anonymizer(**{**given, **changes})


def tens(age=1, sex=1, **options):
    return Fixed({"age": age, "sex": sex}, **options)


def by_records(labels, values):
    """H(W), I(X~;W), and by class I1 and I2, from records alone."""

    def entropy(some):
        return -sum(n / len(some) * log2(n / len(some)) for n in Counter(some).values())

    of_all = Counter(values)
    groups = {
        label: [w for x, w in zip(labels, values, strict=True) if x == label] for label in labels
    }
    i1 = {
        label: sum(
            n / len(some) * log2(n / len(some) / (of_all[w] / len(values)))
            for w, n in Counter(some).items()
        )
        for label, some in groups.items()
    }
    i2 = {label: entropy(values) - entropy(some) for label, some in groups.items()}
    kept = sum(len(some) / len(values) * i2[label] for label, some in groups.items())
    return entropy(values), kept, i1, i2


def test_levels_that_break_the_policy_are_shown_with_the_classes_that_do():
    found = figures(anonymizer(tens()), pd.concat([PEOPLE] * 3))
    (about,) = found.attributes
    assert found.classes == ("[0, 10)", "[10, 20)", "[20, 30)")
    # H(W) = 1; a class of one value has I1 = I2 = 1, a class of halves 0. I(X~;W) = 4/8.
    assert about.i1 == about.i2 == pytest.approx((1, 0, 1))
    assert about.failing == (True, False, True)
    assert about.i1_limits == (("t = 0.3", 0.3),)
    assert about.i2_limits == (("l = 1.5", pytest.approx(1 - log2(1.5))),)
    assert (about.original, about.retained, about.loss) == pytest.approx((1, 0.5, 0.5))
    assert about.ceiling == pytest.approx(0.3)
    assert not found.satisfied
    assert found.failing == ("t-closeness", "entropy-l-diversity")


def test_a_failure_says_by_how_much_the_worst_class_first():
    table = pd.concat([PEOPLE, PEOPLE.iloc[:2], PEOPLE.iloc[:2]])  # now 8 of 12 have w = a
    found = figures(anonymizer(tens()), table)
    named = [(each.model, each.group, each.value) for each in found.failures]
    assert named[:2] == [
        # log2 1 / (4 / 12) = 1.585, and log2 1 / (8 / 12) = 0.585
        ("t-closeness", None, pytest.approx(log2(3))),  # of two people: it has no name
        ("t-closeness", "[0, 10)", pytest.approx(log2(1.5))),
    ]
    # Measured as 2^H(W|g): one value in each of these classes.
    assert {each[2] for each in named if each[0] == "entropy-l-diversity"} == {1.0}
    assert {each.required for each in found.failures} == {"<= 0.3", ">= 1.5"}


def test_a_rare_class_of_a_scheme_that_fails_has_no_name_and_stands_last():
    table = pd.concat([PEOPLE] * 3).iloc[2:]  # two people fewer below 10
    found = figures(anonymizer(tens()), table)
    assert found.classes == ("[10, 20)", "[20, 30)", None)
    assert None in [each.group for each in found.failures]
    with showing_values():
        assert figures(anonymizer(tens()), table).classes[0] == "[0, 10)"
    # What would be released has its labels in the release.
    easy = anonymizer(tens(), [TCloseness(2, distance="kl")])
    assert figures(easy, table).classes[0] == "[0, 10)"


@pytest.mark.parametrize(
    "recoding",
    [tens(1, 0), VariableRange(refine=["age"]), "full-domain", "boxes", "best"],
    ids=str,
)
def test_figures_are_those_of_the_released_table_counted_by_hand(recoding):
    rng = np.random.default_rng(3)
    age = rng.integers(0, 60, 400)
    w = np.where(rng.random(400) < age / 60, "old", rng.choice(["x", "y"], 400))
    table = pd.DataFrame({"age": age, "sex": rng.choice(["f", "m"], 400), "w": w})
    asked = anonymizer(recoding, [TCloseness(0.9, distance="kl"), KAnonymity(5)])
    released, found = asked.fit_transform(table), figures(asked, table)
    names = [each for each in ("age", "sex") if {*released[each]} != {"*"}]
    labels = released[names].astype(str).agg(", ".join, axis=1).tolist()
    uncertainty, kept, i1, i2 = by_records(labels, released["w"].tolist())
    (about,) = found.attributes
    assert about.uncertainty == pytest.approx(uncertainty)
    assert about.retained == pytest.approx(kept)
    assert set(found.classes) == set(labels)
    assert about.i1 == pytest.approx([i1[name] for name in found.classes])
    assert about.i2 == pytest.approx([i2[name] for name in found.classes])
    raw = by_records(list(zip(age.tolist(), table["sex"], strict=True)), w.tolist())
    assert about.original == pytest.approx(raw[1])


def test_suppression_is_carried_out_within_its_budget_and_else_not_at_all():
    within = figures(anonymizer(tens(suppression=0.5), [KAnonymity(3)]), PEOPLE)
    assert (within.suppressed, within.satisfied) == (4, True)
    assert within.classes == ("*", "[10, 20)")
    beyond = figures(anonymizer(tens(suppression=0.1), [KAnonymity(3)]), PEOPLE)
    assert (beyond.suppressed, len(beyond.classes), beyond.satisfied) == (0, 3, False)
    assert [(each.group, each.value) for each in beyond.failures] == [(None, None)] * 2
    with showing_values():
        beyond = figures(anonymizer(tens(suppression=0.1), [KAnonymity(3)]), PEOPLE)
    assert [each.value for each in beyond.failures] == [2, 2]


def test_a_random_recoding_is_measured_as_it_was_drawn():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(0, 4, 600), "w": rng.choice(["a", "b"], 600)})
    drawn = anonymizer(
        Pram(), [TCloseness(0.3, distance="kl")], quasi_identifiers={"age": {"widths": [2]}}
    )
    found = figures(drawn, table)
    assert found.satisfied
    assert 0 <= found.attributes[0].retained <= 0.3
    assert len(found.classes) == len(found.attributes[0].i1)


def test_schemes_side_by_side_with_the_best_and_those_that_find_nothing():
    wide = anonymizer(tens(1), quasi_identifiers={"age": {"cuts": [20]}, "sex": "suppress"})
    schemes = {
        "tens": tens(),
        "all": tens(3),
        "twenty": wide,
        "ranges": VariableRange(refine=["age"], min_records=8),
        "no": VariableRange(refine=["age"], min_records=9),
    }
    found = compare_schemes(anonymizer(), PEOPLE, schemes)
    assert [each.name for each in found.schemes] == ["tens", "all", "twenty", "ranges"]
    assert [each.satisfied for each in found.schemes] == [False, True, False, True]
    assert found.best == ("all", "ranges")  # both keep nothing
    assert found.schemes[2].classes == ("(-inf, 20)", None)
    assert [each.name for each in found.unreachable] == ["no"]
    assert repr(found) == "<SchemeComparison: 5 schemes, best all and ranges>"
    assert "tens" in found._repr_html_()
    assert "[10, 20)" not in figures(anonymizer(tens(3)), PEOPLE)._repr_html_()


def test_labels_are_in_the_order_of_their_numbers():
    labels = [("[100, 125)",), ("[25, 50)",), ("*",), ("[-5, 0)",), ("(-inf, 3)",), ("b",), ("2",)]
    ordered = [label[0] for label in sorted(labels, key=natural)]
    assert ordered == ["2", "(-inf, 3)", "*", "[-5, 0)", "[25, 50)", "[100, 125)", "b"]


def test_what_cannot_be_shown_is_refused_by_name():
    with pytest.raises(InputError, match="of a sensitive attribute, and there is none: name one"):
        figures(anonymizer(tens(), [KAnonymity(2)], sensitive=()), PEOPLE)
    with pytest.raises(InputError, match="'safepub' is differentially private"):
        figures(anonymizer(SafePub({"age": 1, "sex": 1})), PEOPLE)
    with pytest.raises(InputError, match="scheme 'x': levels: age = 9 must be a whole number"):
        compare_schemes(anonymizer(), PEOPLE, {"x": tens(9)})
    with pytest.raises(InputError, match="scheme 'x' has other roles or another policy"):
        compare_schemes(anonymizer(), PEOPLE, {"x": anonymizer(tens(), [KAnonymity(2)])})
    with pytest.raises(InputError, match="there are no schemes to compare"):
        compare_schemes(anonymizer(), PEOPLE, {})
    with pytest.raises(PolicyUnreachableError):
        figures(anonymizer("full-domain", [KAnonymity(9)]), PEOPLE)


def test_the_adult_experiment_of_bezzi(adult):
    """A1, A2 and A1* of section 4; I1 and I2 of A1* as the paper's Figure 4 must have had them."""
    names = ("sex", "race", "education")
    hierarchies = {"age": {"widths": [25, 50]}, **dict.fromkeys(names, "suppress")}
    policy = [TCloseness(0.55, distance="kl"), EntropyLDiversity(2.7)]
    asked = anonymizer(privacy=policy, quasi_identifiers=hierarchies, sensitive="marital-status")
    level = {level: Fixed({"age": level, **dict.fromkeys(names, 1)}) for level in (1, 2)}
    found = compare_schemes(
        asked,
        adult,
        {
            "A1": level[1],
            "A2": level[2],
            "heuristic": VariableRange(refine=["age"], refinement="heuristic"),
            "exact": VariableRange(refine=["age"], max_ranges=4),
        },
    )
    assert [round(each.retained, 4) for each in found.schemes] == [0.2452, 0.0920, 0.2308, 0.2308]
    failing = Counter(each.model for each in found.schemes[0].failures)
    assert failing == {"t-closeness": 2, "entropy-l-diversity": 1}
    assert found.best == ("heuristic", "exact")
    for star in found.schemes[2:]:
        (about,) = star.attributes
        assert [round(bits, 3) for bits in about.i1] == [0.246, 0.107, 0.247, 0.541]
        assert [round(bits, 3) for bits in about.i2] == [0.352, 0.111, 0.174, 0.131]


def test_classes_fail_by_their_persons():
    """Below 10 two records of one, from 10 on four of three persons, from 20 on two of two."""
    table = PEOPLE.assign(who=list("aabbcdef"))
    given = anonymizer(
        Fixed({"age": 1, "sex": 1}), [KAnonymity(2), LargestShare(0.5), T], person="who"
    )
    found = figures(given, table)
    of_persons = [verdict for verdict in found.privacy if verdict.model.of_persons]
    assert [(each.worst, each.violating) for each in of_persons] == [(1, 1), (1, 1)]
    failures = [each.model for each in found.failures if each.model != T.name]
    assert failures == ["person-k-anonymity", "largest-share"]
    (about,) = found.attributes
    assert sorted(about.failing) == [False, True, True]  # the one from 20 on by T
    # What records tell is not bounded by what persons do.
    assert (about.i1_limits, about.bounds, about.ceiling) == ((), (), about.original)
