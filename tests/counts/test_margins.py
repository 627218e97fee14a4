"""The fewest people of classes, where of a population only margins are known."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from math import ceil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from anonymizer import Hierarchy, InputError
from anonymizer.counts import margin_programs, margins
from anonymizer.counts.margin_programs import Totals, placed_in, proven
from anonymizer.counts.margins import (
    KnownMargin,
    LeastPeople,
    LevelGroups,
    Star,
    require_consistent,
    require_everybody_in,
    require_possible,
    stars,
)
from anonymizer.counts.schema import taxonomies_of
from anonymizer.tables.engine import Tally
from anonymizer.tables.population import CountedMargin, Margins, people_counted

NAMES = "abcd"


def margin_of(people, axes) -> KnownMargin:
    """A margin of people, who are rows of value codes."""
    count = Counter(tuple(row[axis] for axis in axes) for row in people)
    cells = np.array([*count], np.intp).reshape(len(count), len(axes))
    names = tuple(NAMES[axis] for axis in axes)
    return KnownMargin("".join(names), names, cells, np.array([*count.values()], np.int64))


def least(shape, known, groups=None) -> LeastPeople:
    """What bounds classes of some groups of the values of each attribute, raw ones by default."""
    given = groups or [range(values) for values in shape]
    own = zip(NAMES, given, strict=False)
    alike = {name: None if len({*of}) == 1 else np.array([*of]) for name, of in own}
    return LeastPeople(tuple(known), alike, margins.views_of(known))


def by_class(shape, bounds: LeastPeople) -> dict[tuple[int, ...], int]:
    """The bound of each cell."""
    cells = np.array([*product(*map(range, shape))], np.intp)
    found = bounds.of(NAMES[: len(shape)], cells)
    return dict(zip(map(tuple, cells.tolist()), found.tolist(), strict=True))


def code_at(margin, name, code) -> int:
    """What stands for a value in a margin."""
    return int(margin.alike[name].codes[code]) if name in margin.alike else code


def populations(shape, known):
    """All tables of whole numbers with some margins, cell by cell."""
    cells = [*product(*map(range, shape))]
    axes = [[NAMES.index(name) for name in margin.names] for margin in known]
    counts = [
        dict(zip(map(tuple, m.cells.tolist()), m.people.tolist(), strict=True)) for m in known
    ]

    def filled(place, found):
        if place == len(cells):
            if not any(any(left.values()) for left in counts):
                yield dict(found)
            return
        cell = cells[place]
        keys = [
            tuple(code_at(margin, NAMES[axis], cell[axis]) for axis in own)
            for margin, own in zip(known, axes, strict=True)
        ]
        pairs = [*zip(counts, keys, strict=True)]
        for number in range(min(left.get(key, 0) for left, key in pairs) + 1):
            for left, key in pairs if number else ():
                left[key] -= number
            yield from filled(place + 1, {**found, cell: number})
            for left, key in pairs if number else ():
                left[key] += number

    yield from filled(0, {})


def fewest(shape, known, groups) -> dict[tuple[int, ...], int]:
    """The fewest people that the class of each cell has in any population."""

    def class_of(cell):
        return tuple(of[code] for of, code in zip(groups, cell, strict=True))

    cells, worlds = [*product(*map(range, shape))], 0
    found: dict[tuple, int] = {}
    for people in populations(shape, known):
        worlds += 1
        sizes: Counter = Counter()
        for cell, number in people.items():
            sizes[class_of(cell)] += number
        found = {key: min(found.get(key, size), size) for key, size in sizes.items()}
    assert worlds
    return {cell: found[class_of(cell)] for cell in cells}


@st.composite
def worlds(draw, most=3):
    """A small population, some of its margins, and groups of the values of each attribute."""
    shape = draw(st.sampled_from([(2, 2), (3, 2), (2, 3), (2, 2, 2), (3, 2, 2), (2, 2, 3)]))
    people = draw(
        st.lists(st.tuples(*(st.integers(0, n - 1) for n in shape)), min_size=1, max_size=6)
    )
    sets = [axes for n in range(1, len(shape) + 1) for axes in combinations(range(len(shape)), n)]
    some = st.lists(st.sampled_from(sets), min_size=1, max_size=most, unique=True)
    known = [margin_of(people, axes) for axes in draw(some)]
    groups = [draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)) for n in shape]
    return shape, people, known, groups


@st.composite
def leveled(draw, most=3, whole=False):
    """The same with margins that know some attributes by groups of their values.

    ``whole``: classes have whole groups of these in every attribute.
    """
    shape, people, known, groups = draw(worlds(most))
    ups = [draw(st.sampled_from([(0, 0), (0, 1)] if n == 2 else GROUPED)) for n in shape]
    found = []
    for margin in known:
        coarse = [name for name in margin.names if draw(st.booleans(), label=name)]
        alike = {name: LevelGroups(1, np.array(ups[NAMES.index(name)])) for name in coarse}
        axes = [NAMES.index(name) for name in margin.names]
        rows = [
            [code_at(margin._replace(alike=alike), NAMES[a], row[a]) for a in axes]
            for row in people
        ]
        count = Counter(map(tuple, rows))
        found.append(
            KnownMargin(
                margin.name,
                margin.names,
                np.array([*count], np.intp).reshape(len(count), len(axes)),
                np.array([*count.values()], np.int64),
                alike,
            )
        )
    if whole:
        groups = [[own[code] for code in up] for own, up in zip(groups, ups, strict=True)]
    return shape, people, found, groups


GROUPED = [(0, 0, 2), (0, 1, 1), (0, 1, 0), (0, 0, 0), (0, 1, 2)]
"""Groups of three values, by the smallest of each."""


@given(leveled())
def test_no_population_with_margins_of_groups_has_fewer_people(world):
    shape, _, known, groups = world
    found, true = by_class(shape, least(shape, known, groups)), fewest(shape, known, groups)
    assert all(found[cell] <= true[cell] for cell in true)


@given(leveled(most=2, whole=True))
def test_of_classes_of_whole_groups_some_population_has_no_more(world):
    shape, _, known, groups = world
    assert by_class(shape, least(shape, known, groups)) == fewest(shape, known, groups)


@given(leveled(), st.data())
def test_a_merged_class_has_the_people_of_its_parts_where_margins_have_groups(world, data):
    check_merged(world, data)


def test_ages_of_an_age_group_are_bounded_as_whole_groups_alone():
    """Of 10 people of 20 to 29, values 0 and 1, 7 are women; 2 people are of 30, 1 of them is."""
    ages = LevelGroups(1, np.array([0, 0, 2]))
    groups = codes([0, 0], [0, 1], [2, 0], [2, 1])
    known = KnownMargin("ab", ("a", "b"), groups, np.array([7, 3, 1, 1]), {"a": ages})
    raw = by_class((3, 2), least((3, 2), [known]))
    assert {*raw.values()} == {0}
    tens = by_class((3, 2), least((3, 2), [known], [(0, 0, 2), (0, 1)]))
    assert (tens[0, 0], tens[1, 0], tens[2, 1]) == (7, 7, 1)
    odd = by_class((3, 2), least((3, 2), [known], [(0, 1, 1), (0, 1)]))  # 20 alone, 21 with 30
    assert {*odd.values()} == {0}
    every = by_class((3, 2), least((3, 2), [known], [(0, 0, 0), (0, 1)]))
    assert (every[0, 0], every[0, 1]) == (8, 4)


def test_a_margin_that_knows_values_bounds_them_next_to_one_of_groups():
    """6 of value 0 and 4 of value 1, all of one group, of whom 9 are in c = 0: 5 of 0 at least."""
    values = KnownMargin("a", ("a",), codes([0], [1]), np.array([6, 4]))
    cells = codes([0, 0], [0, 1])
    ages = {"a": LevelGroups(1, np.array([0, 0]))}
    grouped = KnownMargin("ab", ("a", "b"), cells, np.array([9, 1]), ages)
    found = by_class((2, 2), least((2, 2), [values, grouped]))
    assert found == {(0, 0): 5, (0, 1): 0, (1, 0): 3, (1, 1): 0}


def test_two_by_two_is_bounded_by_frechet():
    """Of 10 people 7 are in a = 0 and 6 in b = 0: 3 at least are in both."""
    rows, columns = (
        KnownMargin("a", ("a",), codes([0], [1]), np.array([7, 3])),
        KnownMargin("b", ("b",), codes([0], [1]), np.array([6, 4])),
    )
    bounds = by_class((2, 2), least((2, 2), [rows, columns]))
    assert bounds == {(0, 0): 3, (0, 1): 1, (1, 0): 0, (1, 1): 0}


def codes(*rows) -> np.ndarray:
    return np.array(rows, np.intp)


def test_two_by_two_by_two_is_bounded_within_the_common_attribute():
    """Of b = 0 10 people, 7 of a = 0 and 6 of c = 0; of b = 1 all 5 of a = 0, 2 of c = 0."""
    ab = KnownMargin("ab", ("a", "b"), codes([0, 0], [1, 0], [0, 1]), np.array([7, 3, 5]))
    bc = KnownMargin(
        "bc", ("b", "c"), codes([0, 0], [0, 1], [1, 0], [1, 1]), np.array([6, 4, 2, 3])
    )
    raw = by_class((2, 2, 2), least((2, 2, 2), [ab, bc]))
    assert raw[0, 0, 0] == 3
    assert raw[0, 0, 1] == 1
    assert raw[0, 1, 0] == 2
    assert raw[0, 1, 1] == 3
    assert raw[1, 0, 0] == raw[1, 1, 1] == 0
    # Without b the bounds of its values are added up: 12 of 15 and 8 of 15 would be 5, too. Those
    # of c = 1 are 1 + 3, where 12 and 7 of 15 alone would be 4.
    merged = by_class((2, 2, 2), least((2, 2, 2), [ab, bc], [(0, 1), (0, 0), (0, 1)]))
    assert merged[0, 0, 0] == 5
    assert merged[0, 0, 1] == 4


def test_what_is_known_of_each_value_is_more_than_of_all_together():
    """In b = 0 everybody is of a = 0 and c = 0, in b = 1 nobody is: 5 people, and not 0 of 10."""
    ab = KnownMargin("ab", ("a", "b"), codes([0, 0], [1, 1]), np.array([5, 5]))
    bc = KnownMargin("bc", ("b", "c"), codes([0, 0], [1, 1]), np.array([5, 5]))
    merged = by_class((2, 2, 2), least((2, 2, 2), [ab, bc], [(0, 1), (0, 0), (0, 1)]))
    assert merged[0, 0, 0] == 5
    assert merged[0, 0, 1] == 0


def test_an_attribute_of_no_margin_leaves_nobody_for_sure():
    alone = KnownMargin("a", ("a",), codes([0], [1]), np.array([7, 3]))
    assert {*by_class((2, 2), least((2, 2), [alone])).values()} == {0}
    whole = by_class((2, 2), least((2, 2), [alone], [(0, 1), (0, 0)]))
    assert whole == {(0, 0): 7, (0, 1): 7, (1, 0): 3, (1, 1): 3}
    everybody = by_class((2, 2), least((2, 2), [alone], [(0, 0), (0, 0)]))
    assert {*everybody.values()} == {10}


RING = ((0, 1), (1, 2), (0, 2))
"""The margins of three attributes, two in each."""

FOUR = [(0, 1, 0), (1, 0, 1), (2, 0, 0), (2, 1, 1)]
"""Of a = 0 one person, of b = 1 and c = 0; of a = 1 one of b = 0 and c = 1; of a = 2 two."""


def test_who_is_left_over_by_a_ring_of_margins_is_found_by_a_program(monkeypatch):
    """Each b with each c is one person's. Two of these are taken: a = 2 has both others.

    By any two margins nobody of a = 2 is for sure of b = 1 and of c = 1.
    """
    known = [margin_of(FOUR, axes) for axes in RING]
    found = by_class((3, 2, 2), least((3, 2, 2), known))
    assert found == {cell: int(cell in FOUR) for cell in found}
    assert found == fewest((3, 2, 2), known, [range(3), range(2), range(2)])
    monkeypatch.setattr(margin_programs, "MOST_CELLS", 5)  # six are too many
    closed = by_class((3, 2, 2), least((3, 2, 2), known))
    assert closed[2, 1, 1] == 0
    assert closed[0, 1, 0] == 1


def test_programs_are_left_out_for_too_many_classes(monkeypatch):
    known = [margin_of(FOUR, axes) for axes in RING]
    monkeypatch.setattr(margin_programs, "MOST_WORK", 6 * 8)
    assert by_class((3, 2, 2), least((3, 2, 2), known))[2, 1, 1] == 0  # 12 classes
    merged = [(0, 0, 2), (0, 1), (0, 1)]
    assert by_class((3, 2, 2), least((3, 2, 2), known, merged))[2, 1, 1] == 1  # 8 of them


def test_a_solver_that_fails_leaves_the_closed_form(monkeypatch):
    known = [margin_of(FOUR, axes) for axes in RING]
    monkeypatch.setattr(
        margin_programs, "multipliers", lambda rows, known, cost, lacking=False: nothing(known)
    )
    assert by_class((3, 2, 2), least((3, 2, 2), known))[2, 1, 1] == 0


def nothing(known) -> list[np.ndarray]:
    return [np.zeros(len(each.people)) for each in known]


@given(worlds(), st.data())
def test_no_multipliers_prove_more_people_than_a_population_has(world, data):
    """Whatever a solver says: floats of any size for each number of each margin."""
    shape, people, _, _ = world
    known = [margin_of(people, (axis, (axis + 1) % len(shape))) for axis in range(len(shape))]
    tables = [Totals.of(each.names, each.cells, each.people) for each in known]
    rows, cells = placed_in(tables)
    cost = np.array(data.draw(st.lists(st.integers(0, 1), min_size=cells, max_size=cells)))
    floats = st.floats(-3, 3, allow_subnormal=False)
    found = [
        np.array(data.draw(st.lists(floats, min_size=len(m.people), max_size=len(m.people))))
        for m in tables
    ]
    where = {tuple(row[place] for row in rows): int(cost[place]) for place in range(cells)}
    index = [{tuple(cell): place for place, cell in enumerate(m.cells.tolist())} for m in tables]
    axes = [[NAMES.index(name) for name in m.names] for m in tables]
    having = sum(
        where[tuple(of[tuple(row[a] for a in own)] for of, own in zip(index, axes, strict=True))]
        for row in people
    )
    assert proven(found, rows, tables, cost) <= having


def test_margins_of_which_any_two_agree_and_nobody_has_all():
    """Who has a has b, and who has b has c; but who has a has no c."""
    alike, apart = codes([0, 0], [1, 1]), codes([0, 1], [1, 0])
    ones, names = np.array([1, 1]), (("a", "b"), ("b", "c"), ("a", "c"))
    cells = (alike, alike, apart)
    known = [KnownMargin("".join(n), n, c, ones) for n, c in zip(names, cells, strict=True)]
    require_consistent(known)
    (view,) = margins.views_of(known)
    with pytest.raises(InputError, match=r"margins 'ab', 'bc', 'ac' contradict .* any two of them"):
        require_possible(view)
    (view,) = margins.views_of([margin_of(FOUR, axes) for axes in RING])
    require_possible(view)


@given(worlds())
def test_margins_of_a_population_are_possible(world):
    for view in margins.views_of(world[2]):
        require_possible(view)


@pytest.mark.parametrize("seed", range(8))
def test_margins_of_moved_people_are_possible_where_a_table_has_them(seed):
    rng = np.random.default_rng(seed)
    people = [tuple(map(int, row)) for row in rng.integers(0, 3, (9, 3))]
    known = [margin_of(people, axes) for axes in RING]
    moved = dict(zip(map(tuple, known[2].cells.tolist()), known[2].people.tolist(), strict=True))
    number = min(moved.get((0, 0), 0), moved.get((1, 1), 0))
    for cell in ((0, 0), (1, 1), (0, 1), (1, 0)):  # the sums by a and by c stay
        moved[cell] = moved.get(cell, 0) + (-number if cell[0] == cell[1] else number)
    last = known[2]._replace(
        cells=np.array([*moved], np.intp), people=np.array([*moved.values()], np.int64)
    )
    require_consistent([*known[:2], last])
    (view,) = margins.views_of([*known[:2], last])
    assert view.programs.contradictory == (not feasible([*known[:2], last]))


def feasible(known) -> bool:
    """Whether some table has the margins, by a program of all cells of 3 x 3 x 3."""
    cells, rows, totals = [*product(range(3), repeat=3)], [], []
    for margin, axes in zip(known, RING, strict=True):
        count = dict(zip(map(tuple, margin.cells.tolist()), margin.people.tolist(), strict=True))
        for key in product(range(3), repeat=2):
            rows.append([float((cell[axes[0]], cell[axes[1]]) == key) for cell in cells])
            totals.append(count.get(key, 0))
    found = linprog(np.zeros(len(cells)), A_eq=rows, b_eq=totals, bounds=(0, None))
    return found.status == 0


def test_roots_and_leaves_have_every_attribute_and_none_in_vain():
    sets = tuple(map(frozenset, ("ab", "bc", "ac")))
    assert stars(frozenset("ab"), sets) == (Star(0, ()),)
    assert stars(frozenset("abc"), sets) == (Star(0, (1,)), Star(0, (2,)), Star(1, (2,)))
    chain = tuple(map(frozenset, ("ab", "bc", "cd")))
    assert stars(frozenset("abcd"), chain) == (Star(0, (2,)), Star(1, (0, 2)))
    assert stars(frozenset("x"), chain) == ()


@given(worlds())
def test_no_population_has_fewer_people(world):
    shape, _, known, groups = world
    found, true = by_class(shape, least(shape, known, groups)), fewest(shape, known, groups)
    assert all(found[cell] <= true[cell] for cell in true)


@given(worlds(most=2))
def test_of_one_margin_or_two_some_population_has_no_more(world):
    shape, _, known, groups = world
    assert by_class(shape, least(shape, known, groups)) == fewest(shape, known, groups)


@given(worlds(), st.data())
def test_of_margins_with_the_same_attributes_in_common_some_population_has_no_more(world, data):
    """Three of them: by each other attribute, with the last one and without it."""
    shape, people, _, groups = world
    shape, people, groups = (
        (*shape, 2),
        [(*row, len(people) % 2) for row in people],
        [*groups, (0, 1)],
    )
    last = len(shape) - 1
    common = data.draw(st.booleans())
    known = [margin_of(people, (axis, last) if common else (axis,)) for axis in range(last)]
    known = known if common else [*known, margin_of(people, (last,))]
    assert by_class(shape, least(shape, known, groups)) == fewest(shape, known, groups)


@given(worlds(), st.data())
def test_a_merged_class_has_the_people_of_its_parts_and_maybe_more(world, data):
    check_merged(world, data)


def check_merged(world, data):
    """Require that no class has fewer people for sure than one that it was merged from."""
    shape, _, known, groups = world
    coarser = [
        [data.draw(st.sampled_from([0, 1]), label=str(value)) for value in range(n)] for n in shape
    ]
    merged = [[up[value] for value in own] for own, up in zip(groups, coarser, strict=True)]
    fine, coarse = least(shape, known, groups), least(shape, known, merged)
    parts: dict[tuple, dict[tuple, int]] = {}
    for cell, bound in by_class(shape, fine).items():
        whole = tuple(of[code] for of, code in zip(merged, cell, strict=True))
        part = tuple(of[code] for of, code in zip(groups, cell, strict=True))
        parts.setdefault(whole, {})[part] = bound
    for cell, bound in by_class(shape, coarse).items():
        whole = tuple(of[code] for of, code in zip(merged, cell, strict=True))
        assert bound >= max(parts[whole].values())


@given(st.data())
def test_larger_populations_are_bounded_as_by_the_linear_program_of_all_cells(data):
    """Margins of four attributes, in a chain, a ring or apart: tables of any numbers above 0."""
    shape = (3, 2, 3, 2)
    seed = data.draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    people = np.column_stack([rng.integers(0, n, 60) ** 2 % n for n in shape]).tolist()
    sets = [[(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (2, 3), (0, 3)], [(0, 1, 2), (1, 3)]]
    known = [margin_of(people, axes) for axes in data.draw(st.sampled_from(sets))]
    groups = [rng.integers(0, 2, n).tolist() for n in shape]
    found = by_class(shape, least(shape, known, groups))
    cells = [*product(*map(range, shape))]
    rows, totals = [], []
    for margin in known:
        axes = [NAMES.index(name) for name in margin.names]
        count = dict(zip(map(tuple, margin.cells.tolist()), margin.people.tolist(), strict=True))
        for key in product(*(range(shape[axis]) for axis in axes)):
            rows.append(
                [float(all(c[a] == k for a, k in zip(axes, key, strict=True))) for c in cells]
            )
            totals.append(count.get(key, 0))
    cell = tuple(data.draw(st.sampled_from(cells)))
    inside = [
        float(all(of[x] == of[y] for of, x, y in zip(groups, cell, c, strict=True))) for c in cells
    ]
    best = linprog(inside, A_eq=rows, b_eq=totals, bounds=(0, None), method="highs")
    assert best.status == 0
    assert found[cell] == ceil(best.fun - 1e-6)


def test_terms_are_added_up_in_parts(monkeypatch):
    rng = np.random.default_rng(1)
    people = [tuple(map(int, row)) for row in rng.integers(0, 3, (50, 3))]
    known = [margin_of(people, (0, 1)), margin_of(people, (1, 2))]
    bounds = least((3, 3, 3), known, [(0, 1, 2), (0, 1, 1), (0, 0, 1)])
    at_once = by_class((3, 3, 3), bounds)
    monkeypatch.setattr(margins, "AT_ONCE", 1)
    assert by_class((3, 3, 3), bounds) == at_once
    monkeypatch.setattr(margins, "MOST_CELLS", 1)  # what does not fit bounds nobody
    assert {*by_class((3, 3, 3), bounds).values()} == {0}


def test_margins_of_different_people_are_refused():
    one = KnownMargin("ages.csv", ("a", "b"), codes([0, 0], [1, 0]), np.array([7, 3]))
    require_consistent([one, KnownMargin("b.csv", ("b",), codes([0]), np.array([10]))])
    with pytest.raises(InputError, match=r"margins 'ages\.csv' and 'b\.csv' contradict .* by 'b'"):
        require_consistent([one, KnownMargin("b.csv", ("b",), codes([0]), np.array([11]))])
    with pytest.raises(InputError, match="different numbers of people in all"):
        require_consistent([one, KnownMargin("c", ("c",), codes([0]), np.array([11]))])


def test_margins_have_fewer_people_than_the_table():
    one = KnownMargin("ages.csv", ("b",), codes([0], [1]), np.array([2, 3]))
    cells = codes([0, 0], [0, 1], [1, 0])
    require_everybody_in([one], ("a", "b"), cells, np.array([1, 3, 1]))
    with pytest.raises(InputError, match=r"by 'b' the margin 'ages\.csv' has 2 people too few"):
        require_everybody_in([one], ("a", "b"), cells, np.array([2, 3, 2]))
    with pytest.raises(InputError, match=r"has 3 people too few .* 3 of them as it does not have"):
        require_everybody_in([one], ("a", "b"), codes([0, 2]), np.array([3]))


def test_counts_of_people_by_values_of_a_hierarchy():
    ages = people_counted(pd.DataFrame({"age": [21, 22, 31], "n": [4, 5, 6]}), "n")
    table = Tally(pd.DataFrame({"age": ["21", "31"]}), np.array([1, 1]))
    known = Margins([ages], ["ages.csv"]).counted(("age", "sex"))
    taxonomies = taxonomies_of(table, {"age": Hierarchy.ranges(widths=[10])}, [ages])
    raw = LeastPeople.by(known, taxonomies)
    assert raw.total == 15
    cells = np.arange(3)[:, None]
    assert raw.of(("age",), cells).tolist() == [4, 5, 6]
    tens = raw.recoded({"age": taxonomies["age"].levels[1]})
    assert tens.of(("age",), cells).tolist() == [9, 9, 6]
    every = raw.recoded({"age": taxonomies["age"].levels[2]})
    assert every.of(("age",), cells).tolist() == [15, 15, 15]
    assert every.of((), cells[:, :0]).tolist() == [15, 15, 15]
    assert replace(raw, groups={"age": None}).of(("age",), cells).tolist() == [15, 15, 15]


def test_more_people_than_can_be_counted():
    many = Tally(pd.DataFrame({"age": ["21", "31"]}), np.array([2**52, 2**52]))
    taxonomies = taxonomies_of(many, {"age": Hierarchy.suppression()})
    with pytest.raises(InputError, match=r"'ages\.csv' has 9,007,199,254,740,992 people or more"):
        LeastPeople.by([CountedMargin("ages.csv", many)], taxonomies)


def test_margins_are_tables_of_quasi_identifiers():
    with pytest.raises(InputError, match="margins must be a list of 1 to 8 tables of counts"):
        Margins([])
    with pytest.raises(InputError, match="a table must be a pandas DataFrame, not a str"):
        Margins(["ages.csv"])
    other = Margins([pd.DataFrame({"x": [1]})], ["x.csv"])
    with pytest.raises(
        InputError, match=r"margin 'x\.csv' has none of the quasi-identifiers 'age'"
    ):
        other.counted(("age",))
