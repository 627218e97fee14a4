"""Advice on a drastic release: each change was carried out, and improves that release."""

import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from lengths import LONG

from anonymizer import (
    Anonymizer,
    Boxes,
    Cut,
    FullDomain,
    Hierarchy,
    KAnonymity,
    MergedCells,
    TCloseness,
    VariableRange,
    advise,
)
from anonymizer.advice.changes import Change, Parameter, _changed
from anonymizer.advice.space import lost_of
from anonymizer.report.advice import advice_lines

RISES = {"mutual-information": True, "discernibility": False, "loss": False}
"""Whether an objective is the larger the better, in the unit that is reported."""


def people(seed, records=300):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 40, records),
            "sex": rng.choice(list("fm"), records),
            "zip": rng.integers(0, 12, records),
            "ill": rng.choice(list("uvwx"), records),
        }
    )


def study(k, recoding, objective, **limits):
    """Roles, policy and recoding as the parameters of an estimator."""
    quasi = {
        "age": Hierarchy.ranges(widths=[10, 20]),
        "sex": "suppress",
        "zip": Hierarchy.ranges(widths=[4], **limits),
    }
    return {
        "quasi_identifiers": quasi,
        "sensitive": "ill",
        "privacy": [KAnonymity(k)],
        "recoding": recoding,
        "objective": objective,
    }


def reached(study, table):
    """The objective of a study whose recoding is carried out on a table."""
    return Anonymizer(**study).fit(table).search_.value


def changed(study, change):
    """The study as a reader of the advice changes it."""
    if change.kind == "relax":
        (setting,) = change.settings
        assert (setting.model, setting.parameter) == ("k-anonymity", "k")
        return {**study, "privacy": [KAnonymity(int(setting.after))]}
    if change.kind == "suppress":
        return {**study, "recoding": FullDomain(suppression=change.suppression)}
    assert change.kind == "remove"
    left = {n: each for n, each in study["quasi_identifiers"].items() if n != change.attribute}
    return {**study, "quasi_identifiers": left, "identifiers": [change.attribute]}


CASES = [
    (FullDomain(), "mutual-information"),
    (FullDomain(), "discernibility"),
    (FullDomain(), "loss"),
    (FullDomain(suppression=0.005), "discernibility"),
    (VariableRange(), "discernibility"),
    (Cut(), "mutual-information"),
    (Boxes(), "discernibility"),
    (Boxes(), "mutual-information"),
    (MergedCells(), "discernibility"),
]


POLICIES = [(0, 100), (1, 60), (2, 140)]
"""A table by its seed, and its k: at full length each for each case, else they take turns."""
EACH = [
    (*case, *policy)
    for place, case in enumerate(CASES)
    for policy in (POLICIES if LONG else [POLICIES[place % 3]])
]


@cache
def advised(recoding, objective, seed, k):
    return advise(Anonymizer(**study(k, recoding, objective)), people(seed), sweep=False)


@pytest.mark.parametrize(("recoding", "objective", "seed", "k"), EACH, ids=repr)
def test_every_change_that_is_shown_improves_the_release(recoding, objective, seed, k):
    """Carried out by an estimator of its own, and better than the release without it."""
    table, given = people(seed), study(k, recoding, objective)
    found = advised(recoding, objective, seed, k)
    released = reached(given, table)
    assert found.value == pytest.approx(released)
    for change in found.improving:
        after = reached(changed(given, change), table)
        assert after == pytest.approx(change.after)
        if objective == "loss" and change.kind == "remove":
            continue  # of the other attributes: see by hand
        assert change.before == pytest.approx(released)
        assert after > released if RISES[objective] else after < released


@pytest.mark.parametrize(("recoding", "objective"), CASES, ids=repr)
def test_no_change_of_the_policy_that_improves_it_is_kept_back(recoding, objective):
    table, given = people(0), study(100, recoding, objective)
    found = advised(recoding, objective, 0, 100)
    relaxed = {**given, "privacy": [KAnonymity(50)]}
    before, after = reached(given, table), reached(relaxed, table)
    improves = after > before if RISES[objective] else after < before
    shown = [each.text for each in found.improving]
    assert bool(found.drastic and improves) == ("k-anonymity with k = 50 (not 100)" in shown)


def test_leaving_an_attribute_out_is_not_advised_where_it_is_no_better():
    """Zip takes all the room: without it, by levels, others score more; the release would not."""
    table, given = people(0), study(100, Boxes(), "discernibility")
    found = advise(Anonymizer(**given), table, sweep=False, relax=False)
    assert found.drastic
    assert [each.kind for each in found.most] == ["remove"]
    (most,) = found.most
    without = reached(changed(given, most), table)
    assert without >= reached(given, table)
    assert found.improving == ()
    lines = advice_lines(found)
    assert lines[-2:-1] == ["No change that was tried would improve it."]
    assert not [line for line in lines if most.text in line]


def test_the_loss_of_the_other_attributes_by_hand():
    """Sex, known in each record, takes the room: ages and zips are lost with it, and not without.

    Each of a (two values), b (four): 4 records of each of the 8 combinations, k = 16. With a kept
    b is lost; without a, b can be two halves of 16 records: the loss of its leaves, 1 of 3.
    """
    rows = [(a, b, "u") for a in "xy" for b in range(4) for _ in range(4)]
    table = pd.DataFrame(rows, columns=["a", "b", "ill"])
    halves = Hierarchy.from_rows([[str(b), "low" if b < 2 else "high", "*"] for b in range(4)])
    given = {
        "quasi_identifiers": {"a": "suppress", "b": halves, "c": "suppress", "d": "suppress"},
        "sensitive": "ill",
        "privacy": [KAnonymity(16)],
        "recoding": FullDomain(),
        "objective": "loss",
    }
    table = table.assign(c=[n % 2 for n in range(32)], d=[n // 2 % 2 for n in range(32)])
    found = advise(Anonymizer(**given), table, sweep=False, relax=False)
    assert found.drastic == ("3 of 4 quasi-identifiers became *",)
    kept = [name for name, level in found.levels.items() if level == 0]
    (change,) = found.improving
    assert (change.kind, [change.attribute]) == ("remove", kept)
    assert change.before == pytest.approx(1)  # all others are *
    assert change.after == pytest.approx(2 / 3)  # one of the three is kept instead
    assert any(
        re.fullmatch(
            rf"  - leave {kept[0]} out: loss of the other .* 0.666667 in place of 1\.", line
        )
        for line in advice_lines(found)
    )


@pytest.mark.parametrize("objective", ["discernibility", "average-class-size", "loss"])
def test_another_objective_is_not_judged_by_information(objective):
    """All is lost of what age tells about the illness, and the study does not aim at that."""
    table = people(3).assign(ill=lambda rows: rows["age"].map(lambda age: "uvwx"[age % 4]))
    given = {
        "quasi_identifiers": {"age": Hierarchy.ranges(widths=[20])},
        "sensitive": "ill",
        "privacy": [KAnonymity(80)],
    }
    informs = advise(Anonymizer(**given, objective="mutual-information"), table, sweep=False)
    other = advise(Anonymizer(**given, objective=objective), table, sweep=False)
    assert informs.levels == other.levels == {"age": 1}
    assert re.fullmatch(r"\d+% of the information is lost, chance taken off", informs.drastic[0])
    assert other.drastic == ()


def test_never_more_than_all_of_the_information_is_lost():
    assert lost_of(1.0, 0.2, 0.4) == pytest.approx(0.5)
    assert lost_of(1.0, 0.2, -0.28) == 1.0  # less than chance would keep: it was 135 %
    assert lost_of(1.0, 0.99, 0.0) is None


def test_a_column_is_told_from_two_that_are_called_as_it_is():
    """Only the model of the column is relaxed where the advice says so."""
    both, one = ("a", "b"), "a and b"
    closeness = [TCloseness(t, "kl", attribute=of) for t, of in ((0.01, both), (0.3, one))]
    change = Change("relax", (Parameter("t-closeness", "a and b", "t", 0.3, 0.6),))
    problem = SimpleNamespace(models=closeness, under=list)
    _, models = _changed(SimpleNamespace(problem=problem), None, change)
    assert [model.t for model in models] == [0.01, 0.6]
