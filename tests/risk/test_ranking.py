"""Which attributes give people away: subsets, their order, and the chain rule."""

import json
from math import comb, log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from risky import (
    OneAtATime,
    bits_of,
    information,
    names_of,
    sizes_of,
    subsets_of,
    tables,
)

from anonymizer.errors import InputError
from anonymizer.risk import METRICS, MOST_SUBSETS, Measures, rank, refined_by

PEOPLE = pd.DataFrame(
    {
        "sex": ["f", "f", "f", "f", "m", "m", "m", "m"],
        "age": [20, 20, 30, 30, 20, 20, 30, 40],
        "zip": ["A", "A", "A", "A", "A", "A", "A", "B"],
        "w": ["x", "y", "x", "x", "y", "y", "y", "x"],
    }
)
ABOUT = (None, "w")


def close(bits):
    return pytest.approx(bits, abs=1e-9)


def found_of(ranking):
    return {subset.names: subset for subset in ranking.subsets}


def chain_of(ranking, about):
    return ranking.reidentification if about is None else ranking.inference[about]


def test_hand_worked_subsets():
    found = found_of(rank(PEOPLE, ["sex", "age", "zip"], ["w"], size=3))
    assert set(found) == set(subsets_of(["sex", "age", "zip"], 3))
    age = found["age",]  # 4 of 20, 3 of 30, 1 of 40
    assert (age.classes, age.k, age.alone, age.share_alone) == (3, 1, 1, 0.125)
    assert age.reidentification.mutual_information == close(3 - (4 * 2 + 3 * log2(3)) / 8)
    pair = found["sex", "age"]  # 2 + 2 women, 2 + 1 + 1 men
    assert (pair.classes, pair.k, pair.alone) == (5, 1, 2)
    assert pair.reidentification.mutual_information == close(3 - 6 / 8)
    # Only the two women of 20 differ in w, of which there are 4 each.
    assert pair.inference["w"].mutual_information == close(1 - 2 / 8)
    assert found["sex", "age", "zip"].reidentification == pair.reidentification


def test_hand_worked_chain():
    ranking = rank(PEOPLE, ["sex", "age", "zip"], ["w"], size=1)
    record = ranking.reidentification
    assert record.total == close(2.25)
    age = 3 - (8 + 3 * log2(3)) / 8
    assert [(link.name, link.adds, link.total) for link in record.links] == [
        ("age", close(age), close(age)),
        ("sex", close(2.25 - age), close(2.25)),
        ("zip", 0.0, close(2.25)),  # it depends on the age
    ]
    adds = {link.name: link.adds_to_others for link in record.links}
    without_age = bits_of([4, 3, 1])  # women, men of A, the man of B
    assert adds == {
        "sex": close(2.25 - age),
        "age": close(2.25 - without_age),
        "zip": 0.0,
    }


def test_attributes_that_tell_only_together():
    table = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "w": list("xyyx")})
    chain = rank(table, ["b", "a"], ["w"]).inference["w"]
    assert [(link.name, link.alone, link.adds_to_others) for link in chain.links] == [
        ("a", 0.0, 1.0),
        ("b", 0.0, 1.0),
    ]
    assert [(link.name, link.adds, link.total) for link in chain.links] == [
        ("a", 0.0, 0.0),  # ties by name
        ("b", 1.0, 1.0),
    ]


@given(tables())
def test_every_subset_is_what_its_columns_come_to(table):
    names = names_of(table)
    ranking = rank(table, names, ["w"], size=4)
    found = found_of(ranking)
    assert len(found) == len(ranking.subsets)
    assert set(found) == set(subsets_of(names, len(names)))
    for subset, told in found.items():
        sizes = sizes_of(table, subset)
        assert (told.classes, told.k) == (len(sizes), min(sizes))
        assert told.alone == sizes.count(1)
        for about in ABOUT:
            bits = told.about(about).mutual_information
            assert bits == close(information(table, subset, about))


@given(tables())
def test_measures_are_those_of_each_subset_refined_alone(table):
    for subset in rank(table, names_of(table), ["w"], size=4, chain=False).subsets:
        classes = refined_by(table, subset.names)
        alone = [classes.reidentification().measures, classes.inference(table["w"]).measures]
        for found, expected in zip([subset.about(None), subset.about("w")], alone, strict=True):
            assert found.to_dict() == {
                name: close(value) for name, value in expected.to_dict().items()
            }


@given(tables())
def test_the_order_by_every_metric(table):
    ranking = rank(table, names_of(table), ["w"], size=3, chain=False)
    assert ranking.subsets == ranking.by()
    for metric in METRICS:
        for about in ABOUT:
            order = ranking.by(metric, about)
            risks = [round(subset.about(about)[metric], 9) for subset in order]
            assert risks == sorted(risks, reverse=True)
            keys = [
                (-risk, len(subset.names), subset.names)
                for risk, subset in zip(risks, order, strict=True)
            ]
            assert keys == sorted(keys)
            assert set(found_of(ranking)) == {subset.names for subset in order}


@given(tables())
def test_chains_sum_to_what_all_tell(table):
    names = names_of(table)
    ranking = rank(table, names, ["w"], size=1)
    for about in ABOUT:
        chain, whole = chain_of(ranking, about), information(table, tuple(names), about)
        assert chain.total == close(whole)
        assert sum(link.adds for link in chain.links) == close(whole)
        assert chain.links[-1].total == close(whole)
        assert sorted(link.name for link in chain.links) == sorted(names)
        assert min(link.adds for link in chain.links) >= 0


@given(tables())
def test_what_each_adds_to_all_others(table):
    names = names_of(table)
    ranking = rank(table, names, ["w"], size=1)
    for about in ABOUT:
        whole = information(table, tuple(names), about)
        parts = chain_of(ranking, about).links
        assert sorted(part.name for part in parts) == sorted(names)
        for part in parts:
            others = tuple(name for name in names if name != part.name)
            assert part.alone == close(information(table, (part.name,), about))
            assert part.adds_to_others == close(whole - information(table, others, about))
            assert part.adds_to_others >= 0


@given(tables())
def test_the_chain_takes_what_adds_most(table):
    names = names_of(table)
    ranking = rank(table, names, ["w"], size=1)
    for about in ABOUT:
        known: tuple[str, ...] = ()
        for link in chain_of(ranking, about).links:
            adds = {
                name: information(table, (*known, name), about) - information(table, known, about)
                for name in names
                if name not in known
            }
            best = max(adds.values())
            assert link.adds == close(best)
            assert link.name == min(name for name in adds if adds[name] > best - 1e-9)
            known = (*known, link.name)


def test_the_chain_looks_again_at_what_tells_nothing_alone():
    """W is b or, where c is 1, not b: b tells nothing before c is known, and most after."""
    cells = [(c, b, n < 5) for c in (0, 1) for b in (0, 0, 0, 1) for n in range(8)]
    table = pd.DataFrame(
        [{"a": (c ^ b) ^ (not right), "b": b, "c": c, "w": c ^ b} for c, b, right in cells]
    )
    chain = rank(table, ["a", "b", "c"], ["w"], size=1).inference["w"]
    assert [link.name for link in chain.links] == ["c", "b", "a"]
    assert [link.alone > 0.01 for link in chain.links] == [True, False, True]


def test_what_differs_beyond_rounding_is_no_tie():
    table = pd.DataFrame({"a": [0] * 990 + [1] * 1010, "b": [0, 1] * 1000})
    ranking = rank(table, ["a", "b"], size=1)
    assert [subset.names for subset in ranking.subsets] == [("b",), ("a",)]
    assert [link.name for link in ranking.reidentification.links] == ["b", "a"]


def test_an_attribute_that_repeats_others_adds_exactly_nothing():
    rng = np.random.default_rng(8)
    for _ in range(20):
        a, w = rng.integers(0, 9, (2, 500))
        table = pd.DataFrame({"a": a, "same": -a, "w": w})
        ranking = rank(table, ["a", "same"], ["w"], size=1)
        for chain in (ranking.reidentification, ranking.inference["w"]):
            assert [link.adds_to_others for link in chain.links] == [0, 0]


@given(tables())
def test_what_a_superset_never_loses(table):
    found = found_of(rank(table, names_of(table), ["w"], size=4, chain=False))
    for subset, told in found.items():
        for other, more in found.items():
            if set(subset) < set(other):
                assert more.classes >= told.classes
                assert more.alone >= told.alone
                assert more.k <= told.k
                for metric in set(METRICS) - {"itpr"}:
                    for about in ABOUT:
                        assert more.about(about)[metric] >= told.about(about)[metric] - 1e-9


def test_itpr_of_a_superset_may_be_lower():
    table = pd.DataFrame({"a": [0] * 4 + [1] * 12, "b": [n // 4 for n in range(16)]})
    found = found_of(rank(table, ["a", "b"]))
    assert found["a",].reidentification.itpr == close(0.75)
    assert found["a", "b"].reidentification.itpr == close(0.5)
    assert found["a", "b"].reidentification == found["b",].reidentification


def test_columns_are_read_one_at_a_time():
    table = OneAtATime(PEOPLE)
    assert rank(table, ["sex", "age", "zip"], ["w"], size=3) == rank(
        PEOPLE, ["sex", "age", "zip"], ["w"], size=3
    )
    assert table.read["w"] == 1


def test_what_is_known_is_not_refined():
    records = 50
    table = OneAtATime(
        pd.DataFrame(
            {
                "some": [n % 7 for n in range(records)],
                "same": ["s"] * records,
                "more": [n % 11 for n in range(records)],
                "key": list(range(records)),
            }
        )
    )
    found = rank(table, ["some", "same", "more", "key"], size=4, chain=False)
    assert len(found.subsets) == 15
    # Each alone, and the one pair that could differ from both: of it the second is read again.
    assert table.read == {"some": 1, "same": 1, "more": 2, "key": 1}


def test_a_column_that_depends_on_another_splits_nothing():
    table = pd.DataFrame({"a": [n % 9 for n in range(90)], "c": [n % 5 for n in range(90)]})
    table["b"] = table["a"] // 2
    counted = OneAtATime(table)
    found = found_of(rank(counted, ["a", "b", "c"], size=3, chain=False))
    assert found["a", "b", "c"].reidentification == found["a", "c"].reidentification
    assert counted.read == {"a": 1, "b": 2, "c": 3}


def test_missing_values_are_a_value():
    table = pd.DataFrame({"a": ["p", None, None, "q"], "b": [1.0, float("nan"), 1.0, 1.0]})
    found = found_of(rank(table, ["a", "b"]))
    assert (found["a",].classes, found["a",].alone) == (3, 2)
    assert (found["a", "b"].classes, found["a", "b"].alone) == (4, 4)


def test_a_single_record():
    ranking = rank(PEOPLE.head(1), ["sex", "age"], ["w"])
    assert [subset.names for subset in ranking.subsets] == [("age",), ("sex",), ("sex", "age")]
    assert all(subset.alone == 1 for subset in ranking.subsets)
    assert all(subset.reidentification.degenerate for subset in ranking.subsets)
    assert [link.adds for link in ranking.reidentification.links] == [0.0, 0.0]


def test_values_that_read_alike_are_one_sensitive_value():
    table = pd.DataFrame({"a": [0, 0, 1, 1], "w": [1, "1", 2, " 2"]})
    assert rank(table, ["a"], ["w"]).subsets[0].inference["w"].mutual_information == 1.0


def test_the_progress():
    seen = []
    rank(PEOPLE, ["sex", "age", "zip"], ["w"], watch=lambda *done: seen.append(done))
    assert ("measuring subsets of attributes", 6, 6) in seen
    assert ("leaving out one attribute", 3, 3) in seen
    assert ("chaining attributes", 2, 3) in seen  # the third adds nothing


def test_json_has_everything():
    ranking = rank(PEOPLE, ["sex", "age", "zip"], ["w"])
    found = json.loads(json.dumps(ranking.to_dict("itpr", "w")))
    assert list(found) == ["records", "size", "ranked_by", "subsets", "chain_rule"]
    assert found["ranked_by"] == {"metric": "itpr", "about": "w"}
    assert (found["records"], found["size"], len(found["subsets"])) == (8, 2, 6)
    best = found["subsets"][0]
    assert tuple(best["names"]) == ranking.by("itpr", "w")[0].names
    assert list(best) == [
        *("names", "alone", "k", "reidentification", "inference", "classes", "share_alone")
    ]
    assert set(best["inference"]["w"]) == set(Measures.__dataclass_fields__)
    chain = found["chain_rule"]["inference"]["w"]
    assert list(chain) == ["total", "links"]
    assert list(chain["links"][0]) == ["name", "alone", "adds", "total", "adds_to_others"]
    without = rank(PEOPLE, ["sex"], chain=False).to_dict()
    assert without["chain_rule"] == {"reidentification": None, "inference": {}}


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        ([], {}, "name at least one attribute"),
        (["age", "sex", "age"], {}, "attribute 'age' is named more than once"),
        (["age", "shoe"], {}, "the table has no column 'shoe'"),
        (["age"], {"sensitive": ["shoe"]}, "the table has no column 'shoe'"),
        (["age"], {"size": 0}, "size = 0 must be a whole number of at least 1"),
        (["age"], {"size": "2"}, "size = '2' must be a whole number"),
        (["lists"], {}, "column 'lists' holds values that cannot be told apart"),
    ],
)
def test_what_cannot_be_ranked(names, options, message):
    table = PEOPLE.assign(lists=[[n] for n in range(8)])
    with pytest.raises(InputError, match=message):
        rank(table, names, **options)


def test_a_column_that_stands_twice():
    table = pd.concat([PEOPLE, PEOPLE["age"]], axis=1)
    with pytest.raises(InputError, match="column 'age' stands more than once"):
        rank(table, ["sex", "age"])


def test_a_table_without_records():
    with pytest.raises(InputError, match="no records"):
        rank(PEOPLE.head(0), ["age"])


def test_too_many_subsets_are_refused_before_any_is_measured():
    names = [f"q{n}" for n in range(129)]
    assert comb(129, 1) + comb(129, 2) < MOST_SUBSETS < comb(129, 3)
    with pytest.raises(
        InputError,
        match=r"129 attributes have more than 100,000 subsets of up to 3; request at most size = 2",
    ):
        rank(PEOPLE, names, size=3)
    with pytest.raises(InputError, match="request fewer attributes"):
        rank(PEOPLE, [f"q{n}" for n in range(MOST_SUBSETS + 1)])


@pytest.mark.parametrize(
    ("metric", "about", "message"),
    [
        ("itprr", None, "metric = 'itprr' is unknown; did you mean 'itpr'?"),
        ("uncertainty", None, "metric = 'uncertainty' is unknown"),
        ("itpr", "ww", "about = 'ww' is unknown; did you mean 'w'?"),
    ],
)
def test_unknown_orders(metric, about, message):
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        rank(PEOPLE, ["age"], ["w"]).by(metric, about)


def test_adult_falls_in_itpr_by_an_attribute(adult):
    ranking = rank(adult, ["occupation", "sex"], ["marital-status"])
    found = found_of(ranking)
    alone, both = found["occupation",], found["occupation", "sex"]
    assert (alone.k, both.k) == (9, 8)
    assert alone.reidentification.itpr == pytest.approx(0.999110, abs=5e-7)
    assert both.reidentification.itpr == pytest.approx(0.998556, abs=5e-7)
    assert alone.inference["marital-status"].itpr == pytest.approx(0.997892, abs=5e-7)
    assert both.inference["marital-status"].itpr == pytest.approx(0.997861, abs=5e-7)
    assert ranking.by()[0].names == ("occupation", "sex")
    assert ranking.by("itpr")[0].names == ("occupation",)


def test_adult_beside_pandas(adult):
    names, about = ["age", "sex", "race", "education", "education-num"], "marital-status"
    ranking = rank(adult, names, [about], size=4)
    for subset in ranking.subsets:
        sizes = sizes_of(adult, subset.names)
        assert (subset.classes, subset.k, subset.alone) == (
            len(sizes),
            min(sizes),
            sizes.count(1),
        )
        for x in (None, about):
            assert subset.about(x).mutual_information == close(information(adult, subset.names, x))
    four = found_of(ranking)["age", "sex", "race", "education"]
    assert four.classes == 3152
    assert four.inference[about].mutual_information == pytest.approx(0.756722, abs=5e-7)
    adds = {link.name: link.adds_to_others for link in ranking.reidentification.links}
    assert adds["education"] == adds["education-num"] == 0.0  # each tells the other
