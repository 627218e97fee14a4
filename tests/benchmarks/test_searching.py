"""What the benchmarks of the search are made of: drawn tables, turns, limits, pictures."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from measure import milliseconds, problem_of
from searching import growth, processes, ways
from searching.machine import bytes_read, group_by
from searching.pictures import Curve, apart, draw
from workloads import Workload, cup_like, cup_table

from anonymizer import Hierarchy, KAnonymity
from anonymizer.errors import InputError
from anonymizer.objectives import Discernibility

# Tables


def test_a_table_like_cup():
    workload = cup_like()
    table = workload.table
    assert workload.nodes == 9000
    assert len(table) == 63_441
    assert table["amount"].nunique() == 814
    cells = table[list(workload.names)].drop_duplicates()
    assert 45_000 < len(cells) < 55_000
    shares = table["amount"].value_counts(normalize=True)
    assert shares.iloc[0] > 50 / 814
    assert shares.iloc[-1] < 0.2 / 814


def test_the_same_table_is_drawn_again():
    pd.testing.assert_frame_equal(cup_table(500, 20), cup_table(500, 20))


def test_values_are_as_skewed_as_they_are_said_to_be():
    drawn = cup_table(20_000, 10)["amount"].value_counts(normalize=True).sort_index()
    weights = np.array([1 / 3, 1 / 4, 1 / 5, 1 / 6, 6 / 7, 1 / 8, 1 / 9, 1 / 10, 1 / 11, 6 / 12])
    np.testing.assert_allclose(drawn, weights / weights.sum(), atol=1e-4)


# Ways and turns


def test_all_ways_find_the_same():
    problem = problem_of(cup_like(300, 5, 1.5), Discernibility())
    _, found = ways.in_turns(ways.searches(problem, ways.ways()))
    assert ways.agreed(found) is not None


def test_ways_that_differ_are_refused():
    problem = problem_of(cup_like(300, 5, 1.5), Discernibility())
    found = ways.searches(problem, ways.compared())
    first = next(iter(found.values()))()
    assert first is not None
    with pytest.raises(AssertionError, match="the ways differ"):
        ways.agreed({"one": first, "two": replace(first, node=(0,) * len(first.node))})
    with pytest.raises(AssertionError, match="the ways differ"):
        ways.agreed({"one": first, "two": None})


@pytest.mark.parametrize(("enough", "times"), [(0.0, 1), (1e9, ways.MOST_TURNS + 1)])
def test_what_takes_long_has_one_turn(monkeypatch, enough, times):
    monkeypatch.setattr(ways, "ENOUGH", enough)
    calls = []
    taken, made = ways.in_turns({"work": lambda: calls.append(None)})
    assert len(calls) == times
    assert taken["work"] > 0
    assert made == {"work": None}


# Limits of the machine


def test_the_bytes_of_a_search_are_those_of_its_sources():
    table = pd.DataFrame({"a": ["x", "x", "y", "z"]})
    workload = Workload("", table, {"a": Hierarchy.suppression()}, (), (KAnonymity(2),))
    problem = problem_of(workload, Discernibility())
    base = problem.evaluator.base.nbytes
    read = bytes_read(problem)
    assert read >= 2 * base  # both nodes come from the bottom: the classes are few
    assert read % base == 0


def test_a_group_by_takes_time_with_any_threads():
    table = pd.DataFrame({'a "b"': ["x", "y", "x"], "n": [1, 2, 1]})
    taken = group_by(table, list(table))
    assert set(taken) == {"DuckDB, 1 thread", "DuckDB, all threads"}
    assert min(taken.values()) > 0


def test_a_process_that_takes_too_long_is_ended():
    assert processes.ask("goals", 0, seconds=0.01) == ([], "over 0.01 s")


@pytest.mark.parametrize(
    ("error", "ended"), [(MemoryError(), "over 6 GiB"), (InputError("too many"), "refused")]
)
def test_what_does_not_fit_is_reported(monkeypatch, capsys, error, ended):
    limits = []
    monkeypatch.setattr(processes.resource, "setrlimit", lambda *given: limits.append(given))
    with processes.within_memory():
        raise error
    assert json.loads(capsys.readouterr().out) == {"ended": ended}
    assert limits == [(processes.resource.RLIMIT_DATA, (6 * 2**30,) * 2)]


def test_a_peak_is_that_of_what_was_held():
    processes.forget_peak()
    before = processes.peak()
    np.ones(2**24).sum()
    assert processes.peak() - before > 100 * 2**20  # of 128 MiB, less what was free already


# Pages


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (0.0012345, "1.23"), (0.0999, "99.9"), (12.3456, "12,346")]
)
def test_milliseconds(seconds, text):
    assert milliseconds(seconds) == text


def test_heights_are_kept_apart_and_below_the_top():
    rooms = [0.1] * 4
    assert apart([0.1, 0.5, 0.52, 0.9], rooms) == pytest.approx([0.1, 0.5, 0.6, 0.9])
    assert apart([0.95, 0.97, 0.98, 1.0], rooms) == pytest.approx([0.7, 0.8, 0.9, 1.0])


def test_a_picture_names_its_curves(tmp_path):
    curves = [Curve("quick", "new", [(1, 0.1), (100, 1.0)]), Curve("none", "old", [])]
    draw("records", curves, tmp_path / "picture.svg")
    text = (tmp_path / "picture.svg").read_text("utf-8")
    assert "quick" in text
    assert "records (logarithmic)" in text
    assert "none</text>" not in text


def test_what_is_furthest_is_named_first():
    new = list(ways.compared())[-1]

    def point(x, seconds, read):
        limits = {"DuckDB, 1 thread": 0.5, "DuckDB, all threads": 0.5}
        return {"x": x, "search": {new: seconds}, "read": read, "group": limits}

    measured = {axis.name: [] for axis in growth.AXES}
    measured["k"] = [point(2, 1.0, 100), point(5, 2.0, 100), point(9, 1e-5, 1e-9)]
    measured["records"] = [point(3000, 5.0, None)]
    lines = list(growth._furthest(measured, 100.0))
    assert lines[-2:] == [
        "- From the bytes it reads at memory speed: 2 times at k = 5.",
        "- From one GROUP BY of DuckDB (1 thread): 10 times at records = 3,000; 4 times at k = 5.",
    ]


def test_the_power_of_growth_is_that_of_the_last_half():
    new = list(ways.compared())[-1]
    points = [{"x": x, "search": {new: seconds}} for x, seconds in [(1, 9), (2, 4), (4, 16)]]
    assert growth._power(points) == "2.00"
    assert growth._power(points[:1]) == "(too few points)"
