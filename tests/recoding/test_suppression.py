"""Suppression within a budget: every strategy against brute force on records, and releases."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, log2

import numpy as np
import pandas as pd
import pytest
from cases import BOUNDED, Case, EvenClasses, assert_solved, random_case
from checker import entropy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from judge import Counted, Label
from lengths import at_length
from oracle import HIDDEN, SCORES, Brute, Chain, Outcome, _information
from plain import NUMPY

from anonymizer import (
    Anonymizer,
    AnonymizerError,
    EntropyLDiversity,
    FullDomain,
    Hierarchy,
    HouseholdKAnonymity,
    InputError,
    Itpr,
    KAnonymity,
    LargestShare,
    PersonKAnonymity,
    PolicyBrokenError,
    PolicyUnreachableError,
    ReidentificationItpr,
    TCloseness,
)
from anonymizer.kernels import NATIVE
from anonymizer.privacy import (
    AverageReidentificationRisk,
    BasicBetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DifferentialPrivacy,
    EnhancedBetaLikeness,
    HighestReidentificationRisk,
    IndividualRisk,
    KMap,
    MeanInformation,
    PointwiseMaximalLeakage,
)
from anonymizer.recoding import Suppression, solve
from anonymizer.recoding.lattice import level_recoding
from anonymizer.release.information import Information

seeds = st.integers(0, 2**32 - 1)


def case_of(columns: dict[str, str], models: list, share: float, **asked: object) -> Case:
    """A table of one-letter values whose quasi-identifiers are kept or suppressed."""
    names = [name for name in columns if name not in "vw"]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    chains = {name: Chain({value: (value, "*") for value in columns[name]}) for name in names}
    asked = {"objective": "average-class-size", **asked}
    sensitive = [name for name in columns if name in "vw"]
    brute = Brute(rows, chains, sensitive, models, share=share, **asked)
    return Case(brute, dict.fromkeys(names, Hierarchy.suppression()))


def released(case: Case) -> tuple[list, Anonymizer]:
    anonymizer = case.estimator()
    table = anonymizer.fit_transform(case.frame)
    return list(table[list(case.hierarchies)].itertuples(index=False, name=None)), anonymizer


def test_small_classes_become_one_that_is_large_enough():
    case = case_of({"a": "xxxxyyz"}, [KAnonymity(3)], share=0.5)
    rows, anonymizer = released(case)
    assert rows == [("x",)] * 4 + [("*",)] * 3
    release = anonymizer.release_
    assert (release.released, release.suppressed, release.suppressed_class) == (7, 3, "kept")
    assert (release.classes, release.levels) == (2, {"a": 0})


def test_small_classes_that_stay_small_are_left_out():
    rows, anonymizer = released(case_of({"a": "xxxxyyz"}, [KAnonymity(4)], share=0.5))
    assert rows == [("x",)] * 4
    release = anonymizer.release_
    assert (release.records, release.released, release.suppressed) == (7, 4, 3)
    assert (release.suppressed_class, release.dropped, release.classes) == ("removed", 0, 1)


@pytest.mark.parametrize("remove", [False, True])
def test_suppressed_records_are_left_out_when_asked_for(remove):
    case = case_of({"a": "xxxxyyz"}, [KAnonymity(3)], share=0.5, remove=remove)
    assert released(case)[1].release_.suppressed_class == ("removed" if remove else "kept")


@pytest.mark.parametrize(("share", "level"), [(0.43, 0), (0.42, 1), (0.0, 1)])
def test_a_budget_is_not_exceeded_by_a_record(share, level):
    case = case_of({"a": "xxxxyyz"}, [KAnonymity(3)], share=share)
    assert released(case)[1].release_.levels == {"a": level}


def test_leaving_records_out_moves_the_distribution_that_others_are_measured_against():
    # Half are 1: x and y are both 0.189 bits away. Without z 5 of 12 are 1: y, at 3 of 4, is 0.33
    # bits away and goes too; x alone is no bits away from itself.
    columns = {"a": "x" * 8 + "yyyy" + "zz", "w": "00000011" + "0111" + "11"}
    models = [KAnonymity(3), TCloseness(0.2, "kl")]
    rows, anonymizer = released(case_of(columns, models, share=0.43, suppress="any"))
    assert rows == [("x",)] * 8
    assert (anonymizer.release_.suppressed, anonymizer.release_.suppressed_class) == (6, "removed")
    (warning,) = [w for w in anonymizer.release_.warnings if w.code == "suppression-tells"]
    assert (warning.count, warning.of) == (4, 6)
    under = case_of(columns, models, share=0.42, suppress="any")
    assert released(under)[1].release_.levels == {"a": 1}
    # y is large enough: that it lacks would tell of its values.
    assert released(case_of(columns, models, share=0.43))[1].release_.levels == {"a": 1}
    assert released(case_of(columns, models[:1], share=0.42))[1].release_.suppressed == 2


def test_what_is_labelled_as_suppressed_already_goes_with_what_is():
    # A hierarchy may say `*` below its top: with the suppressed ones it is one class.
    rows = [[value, "p", "*"] for value in "abcdef"] + [["y", "q", "*"], ["z", "r", "*"]]
    frame = pd.DataFrame({"a": [*"abcdefyzhhh"]})
    anonymizer = Anonymizer(
        {"a": Hierarchy.from_rows([*rows, ["h", "*", "*"]])},
        privacy=[KAnonymity(3)],
        objective="precision",
        recoding=FullDomain(suppression=0.46),
    )
    table = anonymizer.fit_transform(frame)  # 5 of 11: y, z and the three that are `*` already
    assert table["a"].tolist() == ["p"] * 6 + ["*"] * 5
    assert anonymizer.release_.levels == {"a": 1}
    assert (anonymizer.release_.suppressed, anonymizer.release_.suppressed_class) == (5, "kept")
    table = anonymizer.set_params(recoding__suppression=0.45).fit_transform(
        frame
    )  # too many: without y, z
    assert table["a"].tolist() == ["p"] * 6 + ["*"] * 3
    assert (anonymizer.release_.suppressed, anonymizer.release_.suppressed_class) == (2, "removed")


def test_an_exempt_class_need_not_satisfy_the_policy():
    case = case_of({"a": "xxxxyyz"}, [KAnonymity(4)], share=0.5, exempt=True)
    found = solve(case.problem())
    assert (found.node, found.score) == ((0,), 2)


def test_random_problems_are_of_every_model_and_every_kind_of_it():
    cases = [random_case(np.random.default_rng(seed)) for seed in range(400)]
    models = [model for case in cases for model in case.brute.models]
    # Made, not searched for; of tables with persons or households, which are drawn by themselves.
    apart = {DifferentialPrivacy, PersonKAnonymity, LargestShare, HouseholdKAnonymity}
    unbounded = {Itpr, ReidentificationItpr, IndividualRisk, EvenClasses}
    assert {type(model) for model in models} == {*BOUNDED, *unbounded} - apart
    kinds = {(type(model), model.attribute is None) for model in models if model.sensitive}
    assert len(kinds) == 2 * sum(model.sensitive for model in {*BOUNDED, *unbounded})
    closeness = [model for model in models if isinstance(model, TCloseness)]
    assert len({(model.distance, model.order is None) for model in closeness}) == 5
    assert {model.estimator for model in models if isinstance(model, EntropyLDiversity)} == {
        *("plug-in", "miller-madow", "grassberger")
    }
    risks = (AverageReidentificationRisk, HighestReidentificationRisk)
    risky = [model for model in models if isinstance(model, risks)]
    assert len({(type(model), model.population is None) for model in risky}) == 4
    targets = [name in case.brute.sensitive for case in cases for name in case.brute.targets]
    assert set(targets) == {True, False}


@settings(max_examples=at_length(25, 40))
@given(seeds)
def test_every_strategy_finds_what_brute_force_does(seed):
    case = random_case(np.random.default_rng(seed))
    for kernel in (NUMPY, NATIVE):
        assert_solved(case, kernel)


@settings(max_examples=at_length(15, 25))
@given(seeds)
def test_every_strategy_finds_what_brute_force_does_where_much_is_suppressed(seed):
    rng = np.random.default_rng(seed)
    case = random_case(rng, attributes=2, records=40, share=float(rng.choice([0.3, 0.6])))
    assert_solved(case, NUMPY)


@settings(max_examples=15)
@given(seeds)
def test_the_order_of_columns_and_records_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    case = random_case(rng)
    names = list(case.hierarchies)
    order = rng.permutation(names).tolist()
    turned = case.turned(order, rng.permutation(len(case.brute.rows)).tolist())
    straight, other = (solve(c.problem(), c.strategies[0]) for c in (case, turned))
    if straight is None:
        assert other is None
        return
    assert other.score == pytest.approx(straight.score, abs=1e-9)
    assert other.node == turned.brute.best
    if len(case.brute.tied) == 1:
        assert other.node == tuple(straight.node[names.index(name)] for name in order)


def texts(label: Sequence[object]) -> Label:
    return tuple(None if pd.isna(value) else str(value) for value in label)


def assert_policy(table: pd.DataFrame, case: Case, node: tuple[int, ...]) -> None:
    """Recount a released table as a stranger would who has the file, and the population's."""
    labels = [texts(row) for row in table[list(case.hierarchies)].itertuples(index=False)]
    people = [texts(label) for label in case.brute.crowd(node)]
    hidden = tuple(HIDDEN for _ in case.hierarchies)
    if hidden in labels:  # it stands for all whom no other class stands for
        people = [label if label in labels else hidden for label in people]
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    brute = case.brute
    counted = Counted.of(labels, rows, brute.sensitive, people, brute.tree, brute.gap)
    assert counted.broken(case.brute.models) == set()
    assert counted.allowed(case.brute.models)


def assert_released(table: pd.DataFrame, release, case: Case, node: tuple[int, ...]) -> None:
    """Hold a release against what brute force makes of the same node."""
    brute = case.brute
    outcome = brute.released(node)
    expected = {i: row for i, row in enumerate(outcome.labels) if row is not None}
    assert table.index.equals(pd.RangeIndex(len(expected)))
    got = table[list(case.hierarchies)].itertuples(index=False)
    assert [texts(row) for row in got] == [texts(row) for row in expected.values()]
    assert release.levels == dict(zip(case.hierarchies, node, strict=True))
    assert (release.records, release.released) == (len(brute.rows), len(expected))
    assert (release.suppressed, release.suppressed_class) == (len(outcome.suppressed), outcome.fate)
    assert release.classes == outcome.classes
    assert_policy(table, case, node)
    assert_information(release, case, outcome)


def assert_information(release, case: Case, outcome: Outcome) -> None:
    sensitive = case.brute.sensitive
    assert (release.information is None) == (not sensitive)
    assert set(release.targets) == set(case.brute.targets)
    if sensitive:
        assert_known(release.information, case.brute, outcome, sensitive)
    for name, known in release.targets.items():
        assert_known(known, case.brute, outcome, [name])


def assert_known(known: Information, brute: Brute, outcome: Outcome, about: list[str]) -> None:
    """Hold what a release says of its information against plain sums over the records."""
    raw = brute.recoded((0,) * len(brute.chains))
    labels = [None if row is None else raw[i] for i, row in enumerate(outcome.labels)]
    original = replace(outcome, labels=labels)
    released = [i for i, row in enumerate(labels) if row is not None]
    each = {name: replace(brute, targets={name: 1.0}) for name in about}
    bits = {name: _information(alone, original) for name, alone in each.items()}
    most = {
        name: min([bits[name], *(ceilings(model, name, brute, released) for model in brute.models)])
        for name in about
    }
    retained = sum(_information(alone, outcome) for alone in each.values())
    estimate = SCORES["miller-madow"]
    corrected = sum(estimate(alone, outcome) for alone in each.values())
    assert known.original == pytest.approx(sum(bits.values()), abs=1e-9)
    assert known.retained == pytest.approx(retained, abs=1e-9)
    assert known.miller_madow == pytest.approx(corrected, abs=1e-9)
    assert known.ceiling == pytest.approx(sum(max(bound, 0) for bound in most.values()), abs=1e-9)
    assert known.retained <= known.ceiling + 1e-8 * len(about)
    assert known.gap == pytest.approx(known.ceiling - retained, abs=1e-8 * len(about))
    assert known.gap >= 0


def ceilings(model: object, name: str, brute: Brute, released: list[int]) -> float:
    """The most bits about an attribute that a table under a model can keep; with gaps none."""
    if brute.gap and None in {brute.rows[i][name] for i in released}:
        return inf
    if not model.sensitive or name not in brute.sensitive or model.attribute not in (None, name):
        return inf
    match model:
        case TCloseness(t, "kl"):
            return t
        case EntropyLDiversity(l, "plug-in"):
            return entropy(brute.histogram(name, released)) - log2(l)
        case BasicBetaLikeness(beta) | EnhancedBetaLikeness(beta):
            return log2(1 + beta)
        case Itpr(risk):
            return risk * entropy(brute.histogram(name, released))
        case DeltaDisclosure(bits) | MeanInformation(bits) | PointwiseMaximalLeakage(bits):
            return bits
    return inf


@settings(max_examples=at_length(15, 25))
@given(seeds)
def test_a_release_is_what_brute_force_makes_of_the_best_node(seed):
    case = random_case(np.random.default_rng(seed), exempt=False)
    anonymizer = case.estimator(search=case.strategies[0])
    if case.brute.best is None:
        with pytest.raises(AnonymizerError, match=r"out of reach|no node|exceeds|no recoding"):
            anonymizer.fit(case.frame)
        return
    table = anonymizer.fit_transform(case.frame)
    assert_released(table, anonymizer.release_, case, case.brute.best)


@settings(max_examples=at_length(10, 20))
@given(seeds)
def test_any_node_is_released_as_brute_force_does(seed):
    rng = np.random.default_rng(seed)
    case = random_case(rng, share=float(rng.choice([0.1, 0.3, 0.6])), exempt=False)
    assume(case.brute.best is not None)
    plan = case.estimator(search=case.strategies[0]).fit(case.frame).plan_
    for place in rng.permutation(len(case.brute.nodes))[:4]:
        node = case.brute.nodes[place]
        recoding = level_recoding(plan.taxonomies, tuple(case.hierarchies), node)
        other = replace(plan, fitted=replace(plan.fitted, recoding=recoding))
        if node in case.brute.outcomes:
            table, release = other.release(case.frame)
            assert_released(table, release, case, node)
        else:
            with pytest.raises(PolicyBrokenError, match="nothing was released"):
                other.release(case.frame)


@settings(max_examples=at_length(10, 20))
@given(seeds)
def test_another_table_is_suppressed_within_its_own_budget(seed):
    rng = np.random.default_rng(seed)
    case = random_case(rng, attributes=2, share=float(rng.choice([0.1, 0.3, 0.6])), exempt=False)
    brute = case.brute
    assume(brute.most and brute.best is not None)
    anonymizer = case.estimator().fit(case.frame)
    records = len(brute.rows)
    some = rng.integers(1, 2 * records)
    # More records than there are people would not be of the population.
    picked = rng.permutation(records)[:some] if brute.people else rng.integers(0, records, some)
    other = replace(case, brute=replace(brute, rows=[brute.rows[i] for i in picked]))
    if other.brute.released(brute.best) is None:
        with pytest.raises(PolicyBrokenError, match="nothing was released"):
            anonymizer.transform(other.frame)
        return
    table = anonymizer.transform(other.frame)
    assert_released(table, anonymizer.release_, other, brute.best)


@pytest.mark.parametrize("share", [-0.1, 1, 1.5, float("nan"), "0.1", True, None])
def test_a_budget_is_a_share(share):
    with pytest.raises(InputError, match="must be a share of the records"):
        Suppression(share)


def test_whether_records_are_removed_is_true_or_false():
    with pytest.raises(InputError, match="remove = 'yes' must be true or false"):
        Suppression(0.1, "yes")


@pytest.mark.parametrize("strategy", ["top-down", "incognito"])
def test_strategies_that_prune_too_much_are_refused(strategy):
    case = case_of({"a": "xxxxyyz"}, [KAnonymity(3)], share=0.5)
    with pytest.raises(InputError, match=f"'{strategy}' prunes by what suppression does not"):
        solve(case.problem(), strategy)
    less = replace(case, brute=replace(case.brute, share=0.1))  # of 7: none
    assert solve(less.problem(), strategy).node == (1,)


def test_a_policy_out_of_reach_names_the_budget():
    case = case_of({"a": "xxyy", "w": "0001"}, [EntropyLDiversity(2), KAnonymity(4)], share=0.3)
    with pytest.raises(PolicyUnreachableError, match=r"while at most 0\.3 of the records"):
        case.estimator().fit(case.frame)


def about_people(records: str, people: str, lower: float, share: float) -> Anonymizer:
    """Fitted to a table that holds from ``lower`` to 0.9 of the population of every class."""
    present = DeltaPresence(lower, 0.9, pd.DataFrame({"a": list(people)}))
    anonymizer = Anonymizer(
        {"a": "suppress"}, privacy=[present], recoding=FullDomain(suppression=share)
    )
    anonymizer.set_params(objective="average-class-size")
    return anonymizer.fit(pd.DataFrame({"a": list(records)}))


def test_nobody_is_left_of_people_like_those_left_out():
    # z, 1 of 1, is too sure to be in the table; left out, 0 of 1 would be too sure not to be.
    assert about_people("xxxxz", "xxxxxxxxz", 0.2, share=0.5).release_.levels == {"a": 1}
    release = about_people("xxxxz", "xxxxxxxxz", 0.0, share=0.5).release_
    assert (release.levels, release.suppressed_class) == ({"a": 0}, "removed")


def test_people_who_are_not_in_the_table_take_nothing_of_the_budget():
    # y, 1 of 1, may be any of 4 people together with u, v, w, of whom none is in the table.
    anonymizer = about_people("xxxxy", "xxxxxxxxyuvw", 0.2, share=0.2)
    release = anonymizer.release_
    assert release.levels == {"a": 0}
    assert (release.suppressed, release.suppressed_class, release.classes) == (1, "kept", 2)
    assert anonymizer.search_.value == 5 / 2  # records per class, of which u, v, w are none


def test_those_left_may_be_a_smaller_part_of_the_population_than_the_table():
    release = about_people("x" + "y" * 9, "xx" + "y" * 9, 0.0, share=0.9).release_
    assert (release.released, release.suppressed_class) == (1, "removed")


def test_people_who_are_suppressed_already_may_be_those_who_are_suppressed():
    # y is one of 4 people with the 3 of the population whose value is `*`.
    hierarchy = Hierarchy.from_rows([["x", "*"], ["y", "*"], ["*", "*"]])
    models = [KMap(4, pd.DataFrame({"a": list("xxxxy***")}))]
    anonymizer = Anonymizer({"a": hierarchy}, privacy=models, recoding=FullDomain(suppression=0.3))
    anonymizer.set_params(objective="average-class-size")
    table = anonymizer.fit_transform(pd.DataFrame({"a": list("xxxxy")}))
    assert table["a"].tolist() == ["x"] * 4 + ["*"]
    assert anonymizer.release_.suppressed_class == "kept"


@pytest.mark.parametrize(("t", "level"), [(0.22, 1), (0.25, 0)])
def test_a_number_that_was_left_out_with_its_records_lies_between_no_others(t, level):
    # Of 1, 2 and 9 neighbours lie 1/2 apart: x is 0.21 away. Without z, 1 and 2 lie 1 apart: 0.25.
    columns = {"a": "xxxxyyyyz", "w": "111212229"}
    case = case_of(columns, [KAnonymity(2), TCloseness(t, "ordered")], share=0.2)
    assert released(case)[1].release_.levels == {"a": level}
