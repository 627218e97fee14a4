"""Searches that somebody waits for: the best so far in time, and quick ones as they were."""

from dataclasses import replace
from time import monotonic

import pytest
from strategies import problem_of

from anonymizer import Anonymizer, Boxes, Hierarchy, KAnonymity, load_census
from anonymizer.recoding.full_domain.solve import solve
from anonymizer.recoding.generalization import ENDED
from anonymizer.recoding.policy import Suppression
from anonymizer.recoding.problem import Run, Waiting

COLUMNS = ["age", "hours-per-week", "sex", "salary-class"]
HIERARCHIES = {
    "age": Hierarchy.ranges(widths=[5, 20]),
    "hours-per-week": Hierarchy.ranges(widths=[10, 40]),
    "sex": Hierarchy.suppression(),
}
IN_TIME = ["variable-range", "cut", Boxes(refinement="heuristic"), "merged-cells"]


def fitted(recoding, seconds):
    table = load_census()[COLUMNS].head(500)
    anonymizer = Anonymizer(
        quasi_identifiers=HIERARCHIES,
        sensitive="salary-class",
        privacy=[KAnonymity(5)],
        recoding=recoding,
        progress=Waiting(seconds=seconds),
    )
    return anonymizer.fit(table)


@pytest.mark.parametrize("recoding", IN_TIME)
def test_a_search_ends_with_the_best_so_far(recoding):
    release = fitted(recoding, 1e-9).release_
    assert all(each.satisfied for each in release.privacy)
    assert not release.search.proven
    assert ENDED in release.search.caution


@pytest.mark.parametrize("recoding", ["full-domain", *IN_TIME])
def test_a_quick_search_is_as_without_somebody_who_waits(recoding):
    waited, alone = fitted(recoding, 600), fitted(recoding, 600).set_params(progress=False)
    alone.fit(load_census()[COLUMNS].head(500))
    assert waited.search_ == alone.search_
    assert ENDED not in waited.search_.caution


@pytest.mark.parametrize("share", [0, 0.02])
def test_levels_are_left_to_branch_and_bound_at_half_time(share, monkeypatch):
    table = load_census()[COLUMNS].head(500).rename(columns={"salary-class": "w"})
    problem = problem_of(table, HIERARCHIES, [KAnonymity(5)])
    problem = replace(problem, suppression=Suppression(share))
    best = solve(problem, "automatic", Run())
    monkeypatch.setattr(Run, "shared", lambda run, parts: replace(run, ends=0.0))
    found = solve(problem, "automatic", Run(ends=monotonic() + 600))
    assert found.strategy == "branch-and-bound"
    assert found.score == pytest.approx(best.score)
    assert found.bound >= best.score
