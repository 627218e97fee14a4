"""What a policy discloses, frontiers, obstacles and changes: by hand and by brute force."""

import json
from itertools import islice
from math import log2

import advised
import numpy as np
import pandas as pd
import pytest

from anonymizer import (
    Anonymizer,
    Boxes,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    KMap,
    MillerMadow,
    Pram,
    RecursiveLDiversity,
    TCloseness,
    VariableRange,
    advise,
    load_census,
)
from anonymizer.advice.advise import space_of
from anonymizer.advice.space import Disclosure, disclosure_of
from anonymizer.advice.sweep import (
    ThresholdPoint,
    round_series,
    round_steps,
    suggested_of,
    sweeper_of,
)
from anonymizer.counts import pairs
from anonymizer.counts.counts import Classes
from anonymizer.objectives import candidate

STUDIES = 20


def frame(sizes: dict[tuple[str, str, str], int]) -> pd.DataFrame:
    rows = [row for row, size in sizes.items() for _ in range(size)]
    return pd.DataFrame(rows, columns=["a", "b", "w"])


SMALL = frame(
    {
        ("x", "p", "flu"): 4,
        ("x", "q", "flu"): 4,
        ("y", "p", "flu"): 1,
        ("y", "p", "cold"): 3,
        ("y", "q", "cold"): 4,
    }
)
"""All of x have the flu, all but one of y a cold: 16 records, 9 to 7."""


def estimator(*models, table=SMALL, **options) -> Anonymizer:
    names = [name for name in table.columns if name not in ("w", "v")]
    sensitive = [name for name in ("w", "v") if name in table]
    given = {"sensitive": sensitive, "objective": "mutual-information", **options}
    return Anonymizer(dict.fromkeys(names, "suppress"), privacy=list(models), **given)


# What classes disclose


def test_what_classes_disclose_by_hand():
    joint = np.array([[5, 0], [4, 1], [2, 2], [0, 0]])
    classes = Classes(joint, joint.sum(axis=0), attribute="w")
    assert disclosure_of(classes) == Disclosure("w", 14, 5, 9, 1.0, 11 / 14)


def test_a_value_that_is_missing_and_counts_as_nothing_is_not_known():
    joint = np.array([[3, 0, 9], [2, 2, 1], [0, 0, 7]])
    classes = Classes(joint, joint.sum(axis=0), attribute="w", gap=True)
    assert disclosure_of(classes) == Disclosure("w", 7, 3, 3, 1.0, 5 / 7)
    nothing = joint[2:]
    classes = Classes(nothing, nothing.sum(axis=0), attribute="w", gap=True)
    assert disclosure_of(classes) == Disclosure("w", 0, 0, 0, 0.0, 0.0)


def test_the_numbers_of_homogeneous_classes_under_k_anonymity_alone():
    found = advise(estimator(KAnonymity(4)), SMALL)
    (known,) = found.disclosures
    # Classes x-p and x-q of 4 flus each, y-p of 1 and 3, y-q of 4 colds.
    assert (known.sure, known.guessed, known.records, known.worst) == (12, 12, 16, 1.0)
    assert (found.reachable, found.hidden, found.drastic, found.changes) == (True, (), (), ())


# The frontier


@pytest.mark.parametrize("suppression", [0.0, 0.2])
def test_advice_is_the_same_of_listed_values(suppression, monkeypatch):
    models = [KAnonymity(4), EntropyLDiversity(1.2)]
    asked = estimator(*models, recoding=FullDomain(suppression=suppression))
    forms = []
    for listed in (False, True):
        monkeypatch.setattr(candidate, "_worth_listing", lambda counts, listed=listed: listed)
        monkeypatch.setattr(pairs, "FEW_CELLS", 0 if listed else 10**6)
        monkeypatch.setattr(pairs, "FEW_VALUES", 0 if listed else 64)
        monkeypatch.setattr(pairs, "PAIRS_APART", 0 if listed else 8)
        forms.append(advise(asked, SMALL).to_dict())
    assert rounded(forms[0]) == rounded(forms[1])
    assert forms[0]["sweeps"]


def rounded(found: object) -> object:
    """The same with numbers to nine digits: sums of the same terms may be in another order."""
    if isinstance(found, dict):
        return {key: rounded(each) for key, each in found.items()}
    if isinstance(found, list | tuple):
        return [rounded(each) for each in found]
    return round(found, 9) if isinstance(found, float) else found


def test_a_frontier_by_hand():
    found = advise(estimator(KAnonymity(4)), SMALL)
    (sweep,) = found.sweeps
    assert (sweep.model, sweep.parameter, sweep.distance) == ("t-closeness", "t", "kl")
    first, *others = sweep.points
    entropy = entropy_of(9, 7)
    told = entropy - 4 / 16 * entropy_of(1, 3)
    assert (first.threshold, first.classes, first.kept) == (None, 4, 1.0)
    assert first.retained == first.value == pytest.approx(told)
    # D = log2(16 / 7) = 1.19 bits of y-q is the most; log2(16 / 9) = 0.83 of x under a alone;
    # 0.0116 of p under b alone.
    assert (others[0].threshold, others[0].classes) == (1.0, 2)
    assert others[0].retained == pytest.approx(entropy - 8 / 16 * entropy_of(1, 7))
    assert [each.threshold for each in others[1:4]] == [0.8, 0.6, 0.5]
    by_b = entropy - (entropy_of(5, 3) + entropy_of(4, 4)) / 2
    for each in others[1:]:
        assert each.retained == pytest.approx(by_b)
        assert each.disclosure == Disclosure("w", 16, 0, 0, 5 / 8, 9 / 16)
    assert sweep.suggested == 2  # what keeps more has classes of one value
    assert sweep.meaning.startswith(
        't-closeness with distance = "kl", t = 0.8: nobody\'s w can be guessed with a probability '
        "above 0.63 (1.00 without it); 1% of the information"
    )


def test_a_sweep_searches_for_each_threshold_once():
    calls = []
    asked = estimator(KAnonymity(4), progress=lambda *doing: calls.append(doing[0]))
    task = asked.task(SMALL)
    sweeper = sweeper_of(space_of(FullDomain(), task), "w", None, FullDomain(), 0)
    points = list(sweeper.points())
    searched = calls.count("sweeping t-closeness")
    assert list(sweeper.points()) == points
    assert sweeper.at(0.8) == points[2]
    assert calls.count("sweeping t-closeness") == searched
    assert sweeper.at(1e-6).retained < points[-1].retained
    assert calls.count("sweeping t-closeness") == searched + 1


def entropy_of(*counts: int) -> float:
    return -sum(n / sum(counts) * log2(n / sum(counts)) for n in counts)


def point(kept: float, worst: float) -> ThresholdPoint:
    return ThresholdPoint(0.5, 2, 8, kept, kept, kept, Disclosure("w", 16, 0, 0, worst, 0.5))


def test_the_suggested_point_has_the_largest_product_of_kept_and_safer():
    # Products 0, 0.9 * 0.1, 0.6 * 0.5, 0.3 * 0.9, 0.
    points = [point(1, 1), point(0.9, 0.95), point(0.6, 0.75), point(0.3, 0.55), point(0, 0.5)]
    assert suggested_of(points) == 2
    # 0.5 * 0.4 is most, but 80 % is as good as known; so 0.2 * 0.9 is suggested.
    assert suggested_of([point(1, 1), point(0.5, 0.8), point(0.2, 0.55)]) == 2
    assert suggested_of([point(1, 1), point(0.5, 0.9), point(0.2, 0.85)]) == 1
    assert suggested_of([point(1, 0.5), point(0.5, 0.5)]) is None
    assert suggested_of([point(1, 1)]) is None


@pytest.mark.parametrize("high", [0.013, 1.0, 1.7, 8.1, 250.0])
def test_thresholds_are_round_and_few(high):
    series, steps = round_series(high), round_steps(high, 2 * high)
    assert series == sorted(series, reverse=True)
    assert all(each < high for each in series)
    assert all(high < each < 2 * high for each in steps)
    assert 9 <= len(steps) <= 20
    assert len(series) == 19
    assert all(len(f"{each:g}".replace(".", "").strip("0")) <= 2 for each in series)


def test_a_class_in_which_everybody_misses_the_value_bounds_no_threshold():
    """It is farther than any t; of the others that of x is, log2 8/3: 3 of 8 have it."""
    values = ["x"] * 3 + [None] * 2 + ["y"] * 5 + [None] * 5
    table = pd.DataFrame({"q": [*"aaaaabbbbbccccc"], "w": values})
    estimator = Anonymizer({"q": "suppress"}, "w", [KAnonymity(5)], missing="gap")
    (sweep,) = advise(estimator, table, model="t-closeness").sweeps
    thresholds = [each.threshold for each in sweep.points]
    assert thresholds[0] is None
    assert max(thresholds[1:]) < log2(8 / 3)


@pytest.mark.parametrize(
    ("seed", "name"),
    [
        (3, "t-closeness"),
        (21, "entropy-l-diversity"),
        pytest.param(21, "t-closeness", marks=pytest.mark.long),
        pytest.param(3, "entropy-l-diversity", marks=pytest.mark.long),
    ],
)
def test_every_point_is_the_best_of_all_nodes(seed, name):
    """Brute force under each threshold, on records."""
    study = advised.random_study(np.random.default_rng(seed))
    policy = [KAnonymity(3)]
    brute = advised.replace(
        study.brute, models=policy, objective="mutual-information", weights={}, share=0.0
    )
    study = advised.replace(study, brute=brute, levels=None)
    (sweep,) = advise(study.anonymizer, study.frame, model=name).sweeps
    assert len(sweep.points) > 3
    for each in sweep.points:
        model = {
            "t-closeness": lambda t: TCloseness(t, distance="kl"),
            "entropy-l-diversity": EntropyLDiversity,
        }[name]
        models = policy if each.threshold is None else [*policy, model(each.threshold)]
        there = advised.replace(brute, models=models)
        node = study.best(there)
        assert each.retained == pytest.approx(there.scores[node], abs=1e-9)
        labels = pd.Series(map(str, there.recoded(node)))
        table = pd.crosstab(labels, study.frame["w"])
        assert each.classes == len(table)
        assert each.disclosure.worst == pytest.approx(
            table.div(table.sum(axis=1), axis=0).max().max()
        )
        assert each.disclosure.sure == table[(table > 0).sum(axis=1) == 1].sum().sum()


def test_the_model_of_the_study_is_swept_and_the_others_are_held():
    models = [KAnonymity(2), TCloseness(0.3, distance="equal"), EntropyLDiversity(1.1)]
    (sweep,) = advise(estimator(*models), SMALL).sweeps
    assert (sweep.model, sweep.distance) == ("t-closeness", "equal")
    assert sweep.held == ("k-anonymity (k = 2)", "entropy-l-diversity (l = 1.1) about w")
    assert sweep.not_swept == ("entropy-l-diversity (l = 1.1) about w",)
    (sweep,) = advise(estimator(*models), SMALL, model="entropy-l-diversity").sweeps
    assert sweep.parameter == "l"
    assert sweep.not_swept == ("t-closeness (t = 0.3) about w",)


def test_several_attributes_are_swept_one_after_the_other_and_estimates_are_held():
    table = SMALL.assign(v=["m", "n"] * 8)
    grassberger = EntropyLDiversity(1.1, estimator="grassberger", attribute="w")
    found = advise(estimator(KAnonymity(2), grassberger, table=table), table)
    assert [sweep.attribute for sweep in found.sweeps] == ["w", "v"]
    assert found.sweeps[0].model == "t-closeness"
    assert found.sweeps[0].not_swept == ("entropy-l-diversity (l = 1.1) about w",)
    assert all(sweep.complete for sweep in found.sweeps)


@pytest.mark.parametrize("recoding", [VariableRange(), Boxes(), FullDomain(suppression=0.1)])
def test_the_recoding_of_the_study_makes_the_result(recoding):
    table = load_census().head(400)[["age", "sex", "marital-status"]]
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[10, 30]), "sex": "suppress"},
        sensitive="marital-status",
        privacy=[KAnonymity(20)],
        recoding=recoding,
    )
    found = advise(anonymizer, table)
    released = anonymizer.fit(table).release_
    assert found.recoding == recoding.name
    assert found.retained == pytest.approx(released.information.retained)
    assert (found.classes, found.suppressed) == (released.classes, released.suppressed)
    (sweep,) = found.sweeps
    assert sweep.recoding == (
        "variable-range" if recoding.name == "variable-range" else "full-domain"
    )


# What stands in the way, and what changes free


def test_advice_on_studies_out_of_reach_or_drastic_is_what_brute_force_finds():
    found = list(islice(advised.studies(), STUDIES))
    changes = [advised.hold(study, advice) for _, study, advice in found]
    assert sum(changes) > 4 * STUDIES
    assert sum(not advice.reachable for _, _, advice in found) > STUDIES / 5
    assert sum(len(advice.most) > 0 for _, _, advice in found) > STUDIES / 5
    assert any(len(advice.most) > 1 for _, _, advice in found)


def test_the_brute_force_finds_advice_that_is_wrong():
    drastic = (each for each in advised.studies() if each[2].most)
    _, study, advice = next(drastic)
    changes = [
        advised.replace(each, free=each.free + 0.1) if each.attribute else each
        for each in advice.changes
    ]
    with pytest.raises(AssertionError):
        advised.hold(study, advised.replace(advice, changes=tuple(changes)))


def test_obstacles_and_ways_out_of_given_levels_by_hand():
    models = [KAnonymity(5), EntropyLDiversity(1.2)]
    found = advise(estimator(*models, recoding=Fixed({"a": 0, "b": 0})), SMALL)
    # Four classes of 4; x-p, x-q and y-q have one value.
    assert [(each.model, each.records, each.classes) for each in found.obstacles] == [
        ("k-anonymity", 16, 4),
        ("entropy-l-diversity", 12, 3),
    ]
    assert [each.text for each in found.changes] == [
        "k-anonymity with k = 4 (not 5) and entropy-l-diversity with l = 1 (not 1.2)",
        "a at level 1 or coarser",
        "leave a out",
    ]
    # By b alone: 5 and 3 of p, 4 and 4 of q.
    assert found.changes[1].levels == {"a": 1, "b": 0}
    assert not found.reachable
    assert found.sweeps == ()


def test_every_model_that_is_out_of_reach_alone_gets_a_threshold_that_is_not():
    found = advise(estimator(KAnonymity(2), RecursiveLDiversity(c=1, l=2)), SMALL)
    (change,) = found.changes
    assert change.text == "recursive-l-diversity with c = 1.29 (not 1)"  # 9 / 7 = 1.2857
    assert change.reachable
    found = advise(estimator(KAnonymity(17), EntropyLDiversity(1.999)), SMALL)
    assert [each.text for each in found.changes] == [
        "k-anonymity with k = 16 (not 17) and entropy-l-diversity with l = 1.98 (not 1.999)"
    ]


def test_persons_who_have_several_records_are_counted_once():
    """Six persons, who have 16 records: one has six of them, the others two."""
    table = SMALL.assign(who=[0] * 6 + [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    how = estimator(KAnonymity(7), table=SMALL, person="who")
    found = advise(how, table)
    assert [(each.model, each.worst) for each in found.obstacles] == [
        ("person-k-anonymity", 6),
        ("largest-share", 6 / 16),
    ]
    assert [each.text for each in found.changes] == [
        "person-k-anonymity with k = 6 (not 7) and largest-share with share = 0.375 (not 0.142857)"
    ]


def test_the_least_suppression_is_a_way_out():
    table = pd.concat([SMALL, frame({("z", "p", "flu"): 1})], ignore_index=True)
    found = advise(estimator(KAnonymity(4), table=table, recoding=Fixed({"a": 0, "b": 0})), table)
    (way,) = (each for each in found.changes if each.kind == "suppress")
    assert (way.suppression, way.suppressed) == (0.0589, 1)  # 1 of 17 records
    assert [each.text for each in found.changes if each.kind == "relax"] == [
        "k-anonymity with k = 1 (not 4)"
    ]


def test_the_least_max_level_is_a_way_out():
    hierarchy = Hierarchy.from_rows([["x", "xy", "*"], ["y", "xy", "*"], ["z", "z", "*"]])
    table = pd.concat([SMALL, frame({("z", "p", "flu"): 3})], ignore_index=True)
    given = {"a": hierarchy.limited(max_level=1), "b": "suppress"}
    found = advise(estimator(KAnonymity(4), table=table).set_params(quasi_identifiers=given), table)
    assert [(each.text, each.levels) for each in found.changes] == [
        ("k-anonymity with k = 3 (not 4)", {"a": 0, "b": 0}),
        ("suppression = 0.1579", {"a": 0, "b": 0}),  # 3 of 19 records
        ("leave a out", {"b": 0}),
        ("a with max-level = 2", {"a": 2, "b": 0}),
    ]
    assert [(each.records, each.classes) for each in found.obstacles] == [(3, 1)]


def test_min_records_are_named_as_a_study_names_them():
    found = advise(estimator(KAnonymity(2), recoding=FullDomain(min_records=20)), SMALL)
    assert [each.text for each in found.changes] == ["min-records = 16 (not 20)"]
    assert [each.model for each in found.obstacles] == ["min-records"]


def test_populations_and_objectives_that_may_rise():
    table = SMALL.drop(columns="w")
    people = pd.concat([table, table])
    found = advise(
        estimator(KMap(40, population=people), table=table, sensitive=(), objective="loss"), table
    )
    assert [each.text for each in found.changes] == ["k-map with k = 32 (not 40)"]
    found = advise(estimator(KAnonymity(5), objective=MillerMadow()), SMALL)
    assert (found.objective, found.reachable) == ("mutual-information", True)


# The border


def test_time_that_is_up_leaves_what_is_known():
    found = advise(estimator(KAnonymity(5)), SMALL, time_limit=1e-9)
    assert not found.complete
    assert (found.changes, found.sweeps, found.drastic) == ((), (), ())


def test_what_has_no_advice():
    with pytest.raises(InputError, match="advice is searched for on counts, and recoding 'pram'"):
        advise(estimator(KAnonymity(2), recoding=Pram()), SMALL)
    with pytest.raises(InputError, match="model = 'l-diversity' is unknown"):
        advise(estimator(KAnonymity(2)), SMALL, model="l-diversity")
    with pytest.raises(InputError, match="not all of its values are numbers"):
        advise(estimator(TCloseness(0.2, distance="ordered")), SMALL)


def test_advice_is_json_and_shows_no_value():
    for models in ([KAnonymity(4)], [KAnonymity(9)], [RecursiveLDiversity(c=1, l=2)]):
        text = json.dumps(advise(estimator(*models), SMALL).to_dict(), allow_nan=False)
        assert "flu" not in text
        assert "cold" not in text
