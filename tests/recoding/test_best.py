"""The recoding that keeps most held out: by hand, against comparisons, and its errors."""

import numpy as np
import pandas as pd
import pytest

from anonymizer import (
    Anonymizer,
    Best,
    EntropyLDiversity,
    Hierarchy,
    InputError,
    KAnonymity,
    PolicyUnreachableError,
    TCloseness,
    compare,
)
from anonymizer.counts.counts import Counts
from anonymizer.hierarchy import Taxonomy
from anonymizer.recoding import Problem, Suppression
from anonymizer.recoding.apply import Evaluation
from anonymizer.recoding.best import TRIED
from anonymizer.recoding.levels import FullDomain
from anonymizer.report.printing import print_report
from anonymizer.report.release import release_report
from anonymizer.utility.comparison import needs

AGE = Hierarchy.ranges(widths=[4, 12])
POLICY = (KAnonymity(4), TCloseness(0.6, distance="kl"))


def people(records: int = 600, seed: int = 0) -> pd.DataFrame:
    """Ages below 32 are mostly ill, whatever the sex."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 56, records)
    ill = rng.random(records) < np.where(age < 31, 0.8, 0.2)
    return pd.DataFrame({"age": age, "sex": rng.choice(list("fm"), records), "ill": ill * 1})


def estimator(recoding: object = "best", **parameters: object) -> Anonymizer:
    given = {"sensitive": "ill", "privacy": POLICY, "recoding": recoding}
    return Anonymizer({"age": AGE, "sex": "suppress"}, **{**given, **parameters})


@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_a_comparison_calls_best(seed):
    asked = estimator(Best(min_records=40), seed=seed).fit(people())
    found = compare(asked, people())
    tried = {trial.recoding: trial for trial in asked.search_.tried}
    assert [*tried] == [*TRIED]
    for fit in found.fits:
        trial = tried[fit.recoding]
        assert trial.holds == fit.held_out.satisfied
        assert trial.kept == pytest.approx(fit.held_out.miller_madow, abs=1e-9)
        assert trial.classes == fit.held_out.classes
    (best,) = found.best
    (taken,) = [trial for trial in tried.values() if trial.taken]
    assert taken.kept == pytest.approx(best.held_out.miller_madow, abs=1e-9)
    assert taken.holds
    # Fitted on all records, as if it had been chosen alone.
    alone = estimator(TRIED[taken.recoding](min_records=40), seed=seed).fit(people())
    assert alone.release_.information == asked.release_.information


def test_where_none_holds_the_nearest_is_taken_and_said_so(tmp_path, capsys):
    some, models = Best(["variable-range", "cut", "boxes"]), [KAnonymity(6), TCloseness(0.2, "kl")]
    asked = estimator(some, privacy=models, seed=0).fit(people(200))
    trials = asked.search_.tried
    assert not any(trial.holds for trial in trials)
    (taken,) = [trial for trial in trials if trial.taken]
    assert [trial.records_broken for trial in trials] == [19, 19, 15]
    assert taken.records_broken == min(trial.records_broken for trial in trials if not trial.reason)
    assert all(verdict.satisfied for verdict in asked.release_.privacy)
    print_report(release_report(asked.release_, tmp_path))
    out = capsys.readouterr().out
    assert f"{taken.recoding} *" in out
    assert "No recoding that was tried holds the policy on the half held out" in out
    assert "give a larger min-records or min-gain" in out


def test_halves_that_are_too_small_leave_the_first_that_fits():
    few = people(6)
    asked = estimator(privacy=[KAnonymity(4)], objective="mutual-information").fit(few)
    assert [trial.taken for trial in asked.search_.tried] == [True, False, False, False]
    assert all("k = 4 exceeds the 3 records" in trial.reason for trial in asked.search_.tried)
    one = estimator(privacy=[KAnonymity(1)], objective="mutual-information").fit(people(1))
    assert "has no halves" in one.search_.tried[0].reason


def test_what_cannot_be_fitted_is_passed_over():
    table = people().assign(age=lambda people: "year " + people["age"].astype(str))
    listed = Hierarchy.from_rows([[f"year {age}", "*"] for age in range(20, 56)])
    asked = Anonymizer(
        {"age": listed, "sex": "suppress"}, "ill", [KAnonymity(4)], recoding="best"
    ).fit(table)
    reasons = {trial.recoding: trial.reason for trial in asked.search_.tried}
    assert "needs an ordered attribute" in reasons["variable-range"]
    assert reasons["full-domain"] == ""
    with pytest.raises(PolicyUnreachableError, match="no recoding can reach it"):
        estimator(privacy=[EntropyLDiversity(3)]).fit(people())


def test_levels_alone_are_judged_by_loss_with_what_is_suppressed():
    table, budget = people(), 0.05
    recoding = Best(["full-domain"], suppression=budget)
    asked = estimator(recoding, privacy=[KAnonymity(60)]).fit(table)
    (trial,) = asked.search_.tried
    assert (trial.measure, trial.holds, trial.taken) == ("loss", True, True)
    assert 0 < trial.kept < 1
    known = estimator(FullDomain(suppression=budget), privacy=[KAnonymity(60)]).fit(table)
    assert known.search_.value == asked.search_.value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recodings": []}, r"recodings must be a list of names, such as \['full-domain', 'boxes'"),
        ({"recodings": "boxes"}, "recodings must be a list of names"),
        ({"recodings": ["box"]}, "'box' is unknown; did you mean 'boxes'"),
        ({"recodings": ["merged-cells"]}, "'merged-cells' is unknown; known are full-domain"),
        ({"suppression": 0.1, "min_records": 5}, "cannot be combined with suppression"),
        ({"min_gain": -1}, "min.gain"),
    ],
)
def test_what_cannot_be_tried(options, message):
    with pytest.raises(InputError, match=message):
        Best(**options)


# What would have kept the policy


def problem_of(first: list[list[int]], models: list, share: float = 0.0) -> Problem:
    counts = counted(first)
    taxonomies = {"a": taxonomy(len(first))}
    return Problem(counts, taxonomies, models, suppression=Suppression(share))


def counted(joint: list[list[int]]) -> Counts:
    matrix = np.array(joint, np.int64)
    (there,) = np.nonzero(matrix.sum(axis=1))
    matrix = matrix[there]
    return Counts.of(("a",), there[:, None], matrix.sum(axis=1), {"w": matrix})


def taxonomy(values: int) -> Taxonomy:
    return Hierarchy.ranges(widths=[2]).over("a", list(range(values)))


def halves(first, second, models, share=0.0) -> tuple[Evaluation, Evaluation]:
    problem = problem_of(first, models, share)
    fitted = Evaluation.of(problem, {"a": problem.taxonomies["a"].levels[0]})
    return fitted, fitted.on(counted(second))


def test_larger_classes_than_those_that_broke_it_by_hand():
    first, other = halves([[5, 5], [8, 0], [9, 9]], [[6, 6], [2, 1], [10, 8]], [KAnonymity(4)])
    assert first.satisfied
    assert (other.broken.tolist(), other.records_broken) == ([False, True, False], 3)
    assert other.min_records_needed(first) == 9
    assert other.suppression_needed == pytest.approx(0.091)  # 3 of 33 records, left out
    assert needs(FullDomain(), first, other) == {"min_records": 9, "suppression": 0.091}
    assert needs(FullDomain(suppression=0.01), first, other) == {"suppression": 0.091}
    assert needs(FullDomain(min_records=2), first, other) == {"min_records": 9}
    assert needs(FullDomain(), first, first) == {}
    _, mended = halves([[5, 5], [8, 0], [9, 9]], [[6, 6], [2, 1], [10, 8]], [KAnonymity(4)], 0.091)
    assert mended.satisfied
    _, short = halves([[5, 5], [8, 0], [9, 9]], [[6, 6], [2, 1], [10, 8]], [KAnonymity(4)], 0.09)
    assert not short.satisfied


def test_a_class_without_records_or_with_most_of_them_cannot_be_kept_from():
    first, other = halves([[4, 4], [0, 0]], [[4, 4], [1, 0]], [KAnonymity(4)])
    assert other.min_records_needed(first) is None
    first, other = halves([[40, 40], [4, 4]], [[2, 1], [4, 4]], [KAnonymity(4)])
    assert other.min_records_needed(first) is None
