"""Special uniques: sets of attributes that set records apart, and what they are worth."""

import json
import os
from itertools import combinations
from math import prod
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import InputError
from anonymizer.risk import special_uniques
from anonymizer.tables.engine import Tally

PEOPLE = pd.DataFrame(
    {
        "sex": ["m", "m", "f", "f", "f", "f"],
        "age": [20, 30, 20, 30, 30, 30],
        "town": ["a", "a", "a", "a", "b", "b"],
    }
)


def test_by_hand():
    """(m, 20) and (m, 30) alone with two values; (f, 20) too, and (f, 30, a) with three."""
    found = special_uniques(PEOPLE, ["sex", "age", "town"], fraction=0.1)
    # Sets of two of three attributes are worth 1! each, that of all 0!.
    assert found.scores.tolist() == [1, 1, 1, 1, 0]
    assert found.by_size == {1: 0, 2: 3, 3: 1}
    assert found.by_attribute == {"sex": 1, "age": 1, "town": 0.25}
    assert [(each.attributes, each.records) for each in found.sets] == [
        (("sex", "age"), 3),
        (("sex", "age", "town"), 1),
    ]
    # P = 2 in a pair, and f = .1: 1 / (1 + 2 * .9 / .1 / 4) for four of equal scores.
    assert found.risks.tolist() == pytest.approx([2 / 11] * 4 + [0])
    assert (found.records, found.highest) == (4, pytest.approx(2 / 11))
    assert found.expected == pytest.approx(8 / 11)


def test_a_single_value_is_worth_most():
    table = PEOPLE.assign(town=["a", "a", "a", "a", "b", "c"])
    found = special_uniques(table, ["sex", "age", "town"])
    assert found.by_size[1] == 2
    assert found.scores.tolist() == [1, 1, 1, 1, 2, 2]  # (3 - 1)!
    assert found.risks.tolist() == [1] * 6  # no pair: all matches are right


def test_sets_up_to_a_size():
    """With M = 2 of q = 3 a set of one is worth (3 - 1) (3 - 2), one of two 3 - 2."""
    table = PEOPLE.assign(town=["a", "a", "a", "a", "b", "c"])
    found = special_uniques(table, ["sex", "age", "town"], size=2)
    assert found.scores.tolist() == [1, 1, 1, 0, 2, 2]
    assert special_uniques(table, ["sex", "age", "town"], size=1).scores.tolist() == [0] * 4 + [
        2,
        2,
    ]


def test_a_missing_value_sets_nobody_apart():
    table = PEOPLE.assign(town=["a", None, "a", "a", "b", None])
    found = special_uniques(table, ["sex", "age", "town"])
    # Who misses a town is no other one in it: (m, a) and (30, a) are alone now, as town b is.
    assert found.by_size == {1: 1, 2: 5, 3: 0}
    assert found.scores.tolist() == [2, 1, 1, 1, 2, 0]


def scores_by_hand(rows, size):
    """The score of each row: all sets of attributes in which it is alone, the smallest of them."""
    attributes = len(rows[0])
    size = min(size, attributes)

    def alone(row, chosen):
        own = [row[each] for each in chosen]
        return (
            None not in own and sum([other[each] for each in chosen] == own for other in rows) == 1
        )

    found = []
    for row in rows:
        minimal = []
        for several in range(1, size + 1):
            for chosen in combinations(range(attributes), several):
                if not any({*part} <= {*chosen} for part in minimal) and alone(row, chosen):
                    minimal.append(chosen)
        last = min(size, attributes - 1)
        found.append(
            sum(prod(attributes - i for i in range(len(each), last + 1)) for each in minimal)
        )
    return found


VALUE = st.sampled_from(["a", "b", "c", None])


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.tuples(*[VALUE] * width), min_size=1, max_size=12)
    ),
    st.integers(1, 4),
)
def test_scores_are_those_of_plain_python(rows, size):
    names = [*"wxyz"][: len(rows[0])]
    table = pd.DataFrame(rows, columns=names, dtype=object)
    found = special_uniques(table, names, size)
    expected = scores_by_hand(rows, size)
    first = dict(zip(reversed(rows), reversed(expected), strict=True))
    assert found.scores.tolist() == [*(first[row] for row in dict.fromkeys(rows))]
    counted = table.value_counts(names, dropna=False, sort=False).reset_index(name="n")
    tally = Tally(counted[names], counted["n"].to_numpy())
    assert sorted(special_uniques(tally, names, size).scores) == sorted(found.scores)
    assert (found.risks > 0).tolist() == (found.scores > 0).tolist()


EXPECTED = {"records": 157, "highest": 0.678142553743, "expected": 9.831090921275}
"""``suda2(data, missing = -999, DisFraction = 0.01)`` of sdcMicro 5.8.1, in single precision."""

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def test_the_figures_of_sdcmicro():
    path = Path(os.environ.get("ANONYMIZER_DATA", "")) / "sdcmicro" / "testdata.csv"
    if not path.is_file():
        pytest.skip("sdcMicro's testdata is not at hand")
    found = special_uniques(pd.read_csv(path), KEYS)
    assert {name: getattr(found, name) for name in EXPECTED} == pytest.approx(EXPECTED, rel=3e-7)
    assert [*np.unique(found.scores)[::-1][:4]] == [720, 144, 132, 120]


def test_risk_finds_them_in_a_file(run, tmp_path):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    command = ["risk", tmp_path / "people.csv", "--quasi-identifiers", "sex,age,town", "--suda"]
    code, out, _ = run(*command, "--fraction", "0.1", "--json")
    found = json.loads(out)["special_uniques"]
    assert (code, found["records"], found["fraction"]) == (0, 4, 0.1)
    assert found["by_size"] == {"1": 0, "2": 3, "3": 1}
    assert "scores" not in found
    out = run(*command)[1]
    assert "Special uniques (SUDA2): 4 records alone in their values of up to 3 attributes" in out
    assert run(*command, "--by", "record", "-o", tmp_path / "risks.csv")[0] == 0
    details = pd.read_csv(tmp_path / "risks.csv")
    assert details["suda"].tolist() == [1, 1, 1, 1, 0, 0]
    assert (details["dis_suda"] > 0).tolist() == [True] * 4 + [False] * 2


def test_what_cannot_be_measured_is_said(run, tmp_path):
    (tmp_path / "people.csv").write_text("who,age\na,1\na,2\nb,3\n")
    command = ["risk", tmp_path / "people.csv", "--quasi-identifiers", "age"]
    assert "--fraction is for --suda" in run(*command, "--fraction", "0.1")[2]
    weighed = run(*command, "--weight", "who", "--suda")[2]
    assert "--suda with --weight needs --fraction: records divided by the sum" in weighed
    assert "persons of one record each" in run(*command, "--person", "who", "--suda")[2]
    with pytest.raises(InputError, match=r"fraction = 1 must be the share of the population"):
        special_uniques(PEOPLE, ["sex"], fraction=1)
    wide = pd.DataFrame({f"c{each}": [1, 2] for each in range(30)})
    with pytest.raises(InputError, match="30 attributes have more than 100,000 subsets"):
        special_uniques(wide, [*wide])
