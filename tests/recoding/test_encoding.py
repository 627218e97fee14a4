"""Prefix-coded keys: key & mask tells apart exactly what the levels of the lattice do."""

from collections.abc import Iterable
from itertools import product

import numpy as np
import pandas as pd
import pytest
from cases import random_case
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from plain import NUMPY
from strategies import nested_rows, problem_of

from anonymizer import Hierarchy, KAnonymity
from anonymizer.kernels import NATIVE
from anonymizer.recoding import Problem, solve
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.nodes import WORD, Encoding

seeds = st.integers(0, 2**32 - 1)


def encoded(problem: Problem):
    return Encoding.of(problem.counts, problem.taxonomies)


def problem_with(columns: dict[str, list], rows: dict[str, list[list[str]]]) -> Problem:
    frame = pd.DataFrame({**columns, "w": "0"})
    hierarchies = {name: Hierarchy.from_rows(rows[name]) for name in columns}
    return problem_of(frame, hierarchies, [KAnonymity(1)])


def assert_groups(problem: Problem, nodes: Iterable[tuple[int, ...]]) -> None:
    """The classes by key & mask are those of the counts recoded by the levels of each node."""
    encoding, base = encoded(problem)
    names, raw = problem.counts.names, problem.counts.cells[base.members]
    for node in nodes:
        recoding = level_recoding(problem.taxonomies, names, node)
        cells = [recoding[name].groups[codes] for name, codes in zip(names, raw.T, strict=True)]
        masked = base.keys & np.array(encoding.mask(node), np.uint64)
        keys, groups = map(tuple, masked.tolist()), map(tuple, np.column_stack(cells).tolist())
        pairs = set(zip(keys, groups, strict=True))
        assert len(pairs) == len({key for key, _ in pairs}) == len({cell for _, cell in pairs})
        expected = problem.at(node)
        for kernel in (NUMPY, NATIVE):
            rolled = kernel.roll_up(base, encoding.mask(node))
            assert len(rolled) == len(expected)
            assert sorted(rolled.sizes.tolist()) == sorted(expected.sizes.tolist())


def test_bits_by_hand():
    # a: 2 groups below *, a bit; the larger of 2 values, another. b: 3 values below *, 2 bits.
    rows = {"a": [["p", "g"], ["q", "g"], ["r", "h"]], "b": [["x"], ["y"], ["z"]]}
    problem = problem_with({"a": list("pqr"), "b": list("xyz")}, rows)
    encoding, base = encoded(problem)
    assert (encoding.words, encoding.heights) == (1, (2, 1))
    masks = {node: int(encoding.mask(node)[0]) for node in product(range(3), range(2))}
    kept = {node: mask.bit_count() for node, mask in masks.items()}
    assert kept == {(0, 0): 4, (1, 0): 3, (2, 0): 2, (0, 1): 2, (1, 1): 1, (2, 1): 0}
    assert masks[0, 0] == 0b1111
    assert masks[0, 0] - masks[1, 0] < masks[1, 1]  # the finer level in the lower bit
    assert all(mask == masks[v, 0] & masks[0, w] for (v, w), mask in masks.items())
    assert sorted((base.keys[:, 0] & np.uint64(masks[2, 0])).tolist()) == [
        number * (masks[2, 0] & -masks[2, 0]) for number in range(3)
    ]


def test_values_that_do_not_occur_take_no_bits():
    rows = [[f"{i:03}", f"{i // 10}"] for i in range(1000)]
    problem = problem_with({"a": ["000", "001", "500"]}, {"a": rows})
    encoding, base = encoded(problem)
    assert sorted(base.keys[:, 0].tolist()) == [0b00, 0b01, 0b10]
    assert encoding.mask((0,)) == (0b11,)
    problem = problem_with({"a": ["500", "500"]}, {"a": rows})
    assert encoded(problem)[0].mask((0,)) == (0,)


@given(seeds)
def test_keys_group_as_levels_do(seed):
    problem = random_case(np.random.default_rng(seed), attributes=3).problem()
    assert_groups(problem, problem.lattice)


@settings(max_examples=15)
@given(st.data(), seeds)
def test_levels_of_random_hierarchies_some_values_of_which_occur(data, seed):
    rng = np.random.default_rng(seed)
    rows, columns = {}, {}
    for name in "abc":
        values = [f"{i:02}" for i in range(rng.integers(1, 12))]
        rows[name] = data.draw(nested_rows(values))
        columns[name] = rng.choice(values[: rng.integers(1, len(values) + 1)], 25)
    problem = problem_with(columns, rows)
    assert_groups(problem, problem.lattice)


@pytest.mark.parametrize("order", [1, -1])
def test_keys_of_many_attributes_take_several_words(order):
    rng = np.random.default_rng(0)
    names = [f"a{i:02}" for i in range(30)][::order]
    rows = {name: [[f"{i}", f"{i // 4}", f"{i // 12}"] for i in range(16)] for name in names}
    columns = {name: [str(i) for i in rng.integers(0, 16, 200)] for name in names}
    problem = problem_with(columns, rows)
    encoding, base = encoded(problem)
    assert encoding.words == base.keys.shape[1] > 2
    assert int(base.keys.max()) < 2**WORD
    drawn = [tuple(map(int, rng.integers(0, 4, len(names)))) for _ in range(40)]
    assert_groups(problem, [*drawn, problem.lattice.heights])
    assert set(encoding.mask(problem.lattice.heights)) == {0}


def skewed(depth: int) -> tuple[list[str], list[list[str]]]:
    """A hierarchy that lets one value more into a group at every level: a bit for each."""
    values = [f"{i:03}" for i in range(depth)]
    rows = [[v, *(max(v, f"{level:03}") for level in range(1, depth))] for v in values]
    return values, rows


def test_one_attribute_alone_may_take_more_bits_than_a_word():
    values, rows = skewed(80)
    problem = problem_with({"a": values, "b": ["x", "y"] * 40}, {"a": rows, "b": [["x"], ["y"]]})
    encoding, _ = encoded(problem)
    assert encoding.words == 2
    assert_groups(problem, product(range(80), range(2)))
    assert [len(problem.at((level, 1))) for level in range(80)] == [*range(80, 0, -1)]


def test_searches_agree_on_keys_of_several_words():
    values, rows = skewed(70)
    rng = np.random.default_rng(0)
    columns = {"a": rng.choice(values, 300), "b": rng.choice(["x", "y"], 300)}
    frame = pd.DataFrame({**columns, "w": rng.choice(["0", "1"], 300)})
    hierarchies = {"a": Hierarchy.from_rows(rows), "b": Hierarchy.suppression()}
    problem = problem_of(frame, hierarchies, [KAnonymity(20)])
    assert encoded(problem)[0].words == 2
    found = {solve(problem, search).node for search in ("exhaustive", "incognito", "bisection")}
    found.add(solve(problem, "branch-and-bound").node)
    feasible = [node for node in problem.lattice if problem.feasible(problem.at(node))]
    assert len(found) == 1 <= len(feasible) < problem.lattice.size


@settings(max_examples=at_length(15, 30))
@given(seeds)
def test_keys_do_not_depend_on_the_order_of_records(seed):
    rng = np.random.default_rng(seed)
    case = random_case(rng)
    turned = case.turned(list(case.hierarchies), rng.permutation(len(case.brute.rows)).tolist())
    (one, first), (other, second) = encoded(case.problem()), encoded(turned.problem())
    assert (one.fields, one.words) == (other.fields, other.words)
    assert first.keys.tolist() == second.keys.tolist()
    assert first.counts.tolist() == second.counts.tolist()


def test_fields_never_straddle_words():
    rows = [[f"{i:05}", f"{i // 128}"] for i in range(5000)]
    names = "abcdef"
    rng = np.random.default_rng(0)
    columns = {name: [f"{i:05}" for i in rng.permutation(5000)[:3000]] for name in names}
    problem = problem_with(columns, dict.fromkeys(names, rows))
    encoding, base = encoded(problem)
    taken = [0] * encoding.words
    for field in encoding.fields:
        assert field.shift + field.bits <= WORD
        assert not taken[field.word] & field.mask
        taken[field.word] |= field.mask
    assert encoding.words == 2
    assert len(np.unique(base.keys, axis=0)) == len(problem.counts)
    rng = np.random.default_rng(1)
    assert_groups(problem, [tuple(map(int, rng.integers(0, 3, len(names)))) for _ in range(5)])
