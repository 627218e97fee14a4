"""Objectives that take off what small classes pretend: by hand, laws, brute force, both kernels."""

import json
import re
from dataclasses import replace
from itertools import product
from math import inf, log, log2
from operator import le

import numpy as np
import pandas as pd
import pytest
from cases import ESTIMATES, RISING, Case, assert_solved, random_case
from forked import unwarned
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lengths import at_length
from oracle import Brute, Chain, by_chance
from plain import NUMPY

from anonymizer import Anonymizer, DistinctLDiversity, Hierarchy, InputError, KAnonymity
from anonymizer.cli import main
from anonymizer.counts.counts import Counts
from anonymizer.kernels import NATIVE, Kernel
from anonymizer.objectives import (
    AboveShuffled,
    MillerMadow,
    MutualInformation,
    Objective,
    objective_of,
)
from anonymizer.recoding import Run, Suppression, solve
from anonymizer.recoding.full_domain import solve as strategies
from anonymizer.recoding.full_domain.frontier import exhaustive
from anonymizer.recoding.partitions.families import PricedObjective
from anonymizer.release.manifest.parts import steward_file

KERNELS = (NUMPY, NATIVE)
seeds = st.integers(0, 2**32 - 1)
INFORMATION = 1 - 3 / 4 * (log2(3) - 2 / 3)
"""Bits that classes {2, 1} and {0, 1} tell of two values of two records each."""


def counted(*joint: list[int]) -> Counts:
    """Classes of the values of one sensitive attribute."""
    matrix = np.array(joint, np.int64)
    cells = np.arange(len(matrix))[:, None]
    return Counts.of(("a",), cells, matrix.sum(axis=1), {"w": matrix})


def test_miller_madow_by_hand():
    # Two classes, the first with two of two values, the second with one; of the table two.
    counts = counted([2, 1], [0, 1])
    free = (2 - 1) + (1 - 1) - (2 - 1)
    assert MillerMadow()(counts) == pytest.approx(INFORMATION - free / (8 * log(2)))
    counts = counted([1, 1], [1, 1], [1, 1])
    assert MillerMadow()(counts) == pytest.approx(-(3 - 1) / (2 * 6 * log(2)))
    # Four singletons pretend to tell all: by the estimate they tell even more than there is.
    counts = counted([1, 0], [1, 0], [0, 1], [0, 1])
    assert MillerMadow()(counts) == pytest.approx(1 + 1 / (2 * 4 * log(2)))


def test_above_shuffled_by_hand():
    # By chance, a class of three of two and two tells as much as this one does; so does one of one.
    assert AboveShuffled()(counted([2, 1], [0, 1])) == pytest.approx(0, abs=1e-12)
    assert AboveShuffled()(counted([1, 0], [1, 0], [0, 1], [0, 1])) == pytest.approx(0, abs=1e-12)
    # Two and two that agree: 1 bit, of which chance tells 1/3.
    assert AboveShuffled()(counted([2, 0], [0, 2])) == pytest.approx(1 - 1 / 3)


def test_both_are_information_where_nothing_is_told_apart():
    for objective in (MillerMadow(), AboveShuffled()):
        assert objective(counted([3, 2, 0])) == pytest.approx(0, abs=1e-12)


@given(seeds)
def test_miller_madow_is_below_the_plain_estimate_where_classes_have_as_many_values(seed):
    rng = np.random.default_rng(seed)
    counts = counted(*rng.integers(1, 9, (rng.integers(1, 6), rng.integers(1, 4))))
    assert MillerMadow()(counts) <= MutualInformation()(counts) + 1e-12


@given(seeds)
def test_above_shuffled_is_never_above_the_plain_estimate(seed):
    rng = np.random.default_rng(seed)
    joint = rng.integers(0, 9, (rng.integers(1, 6), rng.integers(1, 4)))
    joint[:, 0] += 1
    counts = counted(*joint)
    assert AboveShuffled()(counts) <= MutualInformation()(counts) + 1e-12


def test_of_shuffled_tables_nothing_is_above_shuffled():
    rng = np.random.default_rng(3)
    counts = counted([5, 1, 0], [0, 3, 1], [1, 0, 0], [2, 0, 4])
    told = [AboveShuffled()(counts.shuffled(rng)) for _ in range(4000)]
    assert abs(np.mean(told)) < 5 * np.std(told) / 4000**0.5


def informing(seed: int, name: str, **asked: object) -> Case:
    """A random problem that asks for an estimate."""
    rng = np.random.default_rng(seed)
    case = random_case(rng, **asked)
    assume(case.brute.sensitive or case.brute.targets)
    weights = {w: float(rng.choice([0, 1, 2.5])) for w in case.brute.sensitive}
    found = case.asking(name, weights={} if case.brute.targets else weights)
    assume(found.brute.sensitive or found.brute.targets)
    return found


@settings(max_examples=at_length(10, 20))
@given(seeds)
@pytest.mark.parametrize("name", ESTIMATES)
def test_the_best_node_is_what_brute_force_finds(name, seed):
    case = informing(seed, name)
    for kernel in KERNELS:
        assert_solved(case, kernel)


@settings(max_examples=at_length(8, 15))
@given(seeds)
@pytest.mark.parametrize("name", ESTIMATES)
def test_scores_are_those_of_the_records_released(name, seed):
    case = informing(seed, name, attributes=2)
    for kernel in KERNELS:
        assert_scored(case, kernel)


def assert_scored(case: Case, kernel: Kernel) -> None:
    """Require the score of each node to be that of brute force."""
    evaluator, brute = case.problem(kernel).evaluator, case.brute
    sets = evaluator.sets()
    for node, outcome in brute.outcomes.items():
        candidate = evaluator.candidate(node, sets.at(node))
        score = evaluator.objective.score(candidate)
        assert score == pytest.approx(brute.scores[node], abs=1e-9)
        assert evaluator.objective.quantity(score, len(brute.rows)) == score
        if not outcome.suppressed:
            problem = case.problem(kernel)
            assert evaluator.objective(problem.at(node)) == pytest.approx(score, abs=1e-9)


@settings(max_examples=at_length(8, 15))
@given(seeds)
@pytest.mark.parametrize("name", ESTIMATES)
def test_what_a_class_adds_does_not_depend_on_which_others_are_looked_at(name, seed):
    case = informing(seed, name, share=0.0)
    counts, objective = case.problem().counts, case.problem().objective
    some = np.random.default_rng(seed).random(len(counts)) < 0.5
    parts = objective(counts.select(some)) + objective(counts.select(~some))
    assert parts == pytest.approx(objective(counts), abs=1e-9)


ROWS = [["x", "g"], ["y", "g"], ["z", "h"]]
GROUPS = {"x": ("x", "g", "*"), "y": ("y", "g", "*"), "z": ("z", "h", "*")}


def small(name: str, a: str, w: str) -> Case:
    rows = [{"a": a, "w": w} for a, w in zip(a, w, strict=True)]
    brute = Brute(rows, {"a": Chain(GROUPS)}, ["w"], [KAnonymity(1)], name)
    return Case(brute, {"a": Hierarchy.from_rows(ROWS)})


@pytest.mark.parametrize("name", ESTIMATES)
def test_classes_that_tell_nothing_apart_are_merged(name):
    """All tell a little; x and y, which tell the same, are worth more together."""
    case = small(name, "xxxxyyyyzzzz", "001100110000")
    assert solve(case.problem()).node == (1,)
    case = replace(case, brute=replace(case.brute, objective="mutual-information"))
    assert solve(case.problem()).score == pytest.approx(solve(case.problem()).score)
    scores = case.brute.scores
    assert scores[0,] == pytest.approx(scores[1,])  # the plain estimate sees no difference


def test_classes_of_more_records_than_are_left_may_be_removed():
    """22 records of x all have 0, and are left out; 20 of y are what chance is counted for."""
    case = small("above-shuffled", "x" * 22 + "y" * 20, "0" * 22 + "01" * 10)
    models = [DistinctLDiversity(2)]
    brute = replace(case.brute, models=models, share=0.6, remove=True, suppress="any")
    found = replace(case, brute=brute).problem()
    candidate = found.evaluator.candidate((0,), found.evaluator.sets().at((0,)))
    assert candidate.records_suppressed == 22
    assert found.evaluator.objective.score(candidate) == pytest.approx(0, abs=1e-9)


def problem_asking(name: str):
    return small(name, "xxxyz", "00101").problem()


@pytest.mark.parametrize("name", ESTIMATES)
def test_they_are_searched_by_what_bounds_them_or_exhaustively(name):
    problem = problem_asking(name)
    every = solve(problem, "exhaustive")
    assert every == solve(problem, exhaustive)
    for found in (
        solve(problem),
        solve(problem, "branch-and-bound"),
        solve(problem, run=Run(time_limit=60)),
    ):
        assert found.proven
        assert found.strategy == "branch-and-bound"
        assert (found.node, found.score) == (every.node, every.score)
    message = rf"{name} may rise .* only search = 'branch-and-bound' or 'exhaustive'"
    for strategy in ("bisection", "incognito", "top-down"):
        with pytest.raises(InputError, match=message):
            solve(problem, strategy)
    with pytest.raises(InputError, match=r"all of the lattice's 3 nodes .* without a time-lim"):
        solve(problem, "exhaustive", Run(time_limit=60))


def priced(name: str) -> PricedObjective:
    """An objective that may rise, and that nothing is known to bound."""
    return PricedObjective(objective_of(name), 0.01)


def test_one_that_nothing_bounds_is_searched_exhaustively():
    problem = replace(problem_asking("mutual-information"), objective=priced("mutual-information"))
    assert solve(problem) == solve(problem, "exhaustive")
    with pytest.raises(InputError, match=r"may rise .* only search = 'exhaustive' can answer"):
        solve(problem, "branch-and-bound")


@settings(max_examples=at_length(30, 60))
@given(seeds, st.sampled_from(RISING), st.sampled_from([0, 0.1, 0.3]))
def test_a_node_and_all_above_it_are_bounded_and_all_below_it_fall_short(seed, name, share):
    problem = informing(seed, name).problem()
    problem = replace(problem, suppression=Suppression(share, bool(share) and seed % 2 == 0))
    evaluator, lattice = problem.evaluator, problem.lattice
    sets = evaluator.sets()
    bounds, short, scores = {}, {}, {}
    for node in product(*(range(height + 1) for height in lattice.heights)):
        classes = sets.at(node)
        bounds[node] = evaluator.bound(evaluator.plain(node, classes))
        short[node] = evaluator.shortfall(node, classes)
        candidate = evaluator.candidate(node, classes)
        if candidate is not None:
            scores[node] = evaluator.objective.score(candidate)
            assert scores[node] <= evaluator.objective.cap(candidate) + 1e-9
    for low, bound in bounds.items():
        above = [node for node in scores if all(map(le, low, node))]
        for high in (node for node in bounds if all(map(le, low, node))):
            between = [scores[node] for node in above if all(map(le, node, high))]
            assert max(between, default=-inf) <= bound - short[high] + 1e-9


def test_what_no_policy_holds_at_need_not_be_counted():
    problem = replace(problem_asking("miller-madow"), models=[KAnonymity(5)])
    problem = replace(problem, objective=priced("mutual-information"))
    found, every = solve(problem), solve(problem, "exhaustive")
    assert (found.strategy, every.strategy) == ("pruned", "exhaustive")
    assert (found.node, found.score) == (every.node, every.score)
    assert found.minimal == every.minimal
    suppressing = replace(problem, suppression=Suppression(0.2))
    assert solve(suppressing).strategy == "exhaustive"


@pytest.mark.parametrize("name", ESTIMATES)
def test_suppression_bisects(name):
    problem = replace(problem_asking(name), suppression=Suppression(0.2))
    found, every = solve(problem), solve(problem, "exhaustive")
    assert (found.strategy, found.node, found.score) == ("bisection", every.node, every.score)


def test_lattices_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(strategies, "MOST_NODES", 2)
    with pytest.raises(InputError, match=r"3 nodes have to be scored: .* at most 2; choose mut"):
        solve(replace(problem_asking("miller-madow"), objective=priced("miller-madow")))
    assert solve(problem_asking("miller-madow")).proven


@pytest.mark.parametrize("name", ESTIMATES)
def test_options_are_those_of_mutual_information(name):
    assert objective_of(name, {"w": 2.0}).weights == {"w": 2.0}
    assert objective_of(name, None, {"u": 2.0}).targets == {"u": 2.0}
    with pytest.raises(InputError, match="weight of 'w' must be a number of at least 0"):
        objective_of(name, {"w": -1})
    with pytest.raises(InputError, match="targets have their own weights"):
        objective_of(name, {"w": 1}, {"u": 1})
    with pytest.raises(InputError, match=f"{name} has no aggregate; only loss"):
        objective_of(name, aggregate="geometric-mean")
    with pytest.raises(InputError, match=f"{name} is about a sensitive attribute; name one"):
        Anonymizer({"a": "suppress"}, (), [KAnonymity(1)], objective=name).fit(
            pd.DataFrame({"a": list("xy")})
        )
    with pytest.raises(InputError, match="no target; only mutual-information, miller-madow, abo"):
        objective_of("precision", None, {"u": 1})


@pytest.fixture
def study(tmp_path):
    rng = np.random.default_rng(6)
    age = rng.integers(20, 60, 1000)
    ill = rng.random(1000) < np.where(age < 40, 0.2, 0.7)
    table = pd.DataFrame({"age": age, "sex": rng.choice(list("fm"), 1000), "ill": ill * 1})
    table.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "age.toml").write_text("widths = [5, 20]\n")

    def write(objective: str) -> str:
        path = tmp_path / "study.toml"
        path.write_text(
            '[data]\npath = "people.csv"\n'
            '[quasi-identifiers]\nage = "age.toml"\nsex = "suppress"\n'
            '[sensitive]\nattributes = ["ill"]\n'
            '[[privacy]]\nmodel = "k-anonymity"\nk = 1\n'
            f'[objective]\nname = "{objective}"\n'
        )
        return str(path)

    return write


def run(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(["run", *arguments])
    out, err = capsys.readouterr()
    assert (stop.value.code, unwarned(err)) == (0, "")
    return out


def test_a_study_that_asks_for_them_keeps_fewer_classes(study, tmp_path, capsys):
    told = {}
    for name in ("mutual-information", *ESTIMATES):
        run(capsys, study(name), "-o", str(tmp_path / name))
        told[name] = json.loads(steward_file(tmp_path / name).read_text())
    assert told["mutual-information"]["levels"] == {"age": 0, "sex": 0}
    for name in ESTIMATES:
        assert told[name]["levels"] == {"age": 2, "sex": 1}  # below 40, and above: as it was made
        assert told[name]["search"]["objective"] == name
        assert told[name]["search"]["proven"] is True
    known = told["miller-madow"]["information"]
    assert told["miller-madow"]["search"]["value"] == pytest.approx(known["miller_madow"])
    known = told["above-shuffled"]["information"]
    value = told["above-shuffled"]["search"]["value"]
    assert value == pytest.approx(known["retained_above_shuffled"], abs=0.02)  # a mean of 10
    assert value < known["retained"]


def test_the_report_states_the_objective(study, tmp_path, capsys):
    directory = tmp_path / "out"
    out = run(capsys, study("above-shuffled"), "-o", str(directory))
    known = json.loads(steward_file(directory).read_text())["information"]
    for line, key in {
        "released": "retained",
        "by Miller and Madow's estimate": "miller_madow",
        "above W shuffled": "retained_above_shuffled",
        "ceiling: no recoding can keep more": "ceiling",
        "gap to the ceiling": "gap",
    }.items():
        assert re.search(rf"{line}\W+{known[key]:.6f} bits", out), line
    assert "The objective, above-shuffled, comes to 0." in out


def chance_of(counts: Counts) -> float:
    spread = tuple(sorted(counts.margins["w"].tolist()))
    return sum(by_chance(size, spread) for size in counts.sizes.tolist())


def test_weights_weigh_what_is_taken_off_too():
    counts = counted([2, 1], [1, 3])
    plain = MutualInformation()(counts)
    assert AboveShuffled(weights={"w": 3.0})(counts) == pytest.approx(
        3 * (plain - chance_of(counts))
    )
    estimate: Objective = MillerMadow()
    assert MillerMadow(weights={"w": 3.0})(counts) == pytest.approx(3 * estimate(counts))
