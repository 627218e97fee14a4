"""Cells that list several items: each is judged by itself, whatever else is listed."""

import json
from collections import Counter
from itertools import combinations
from math import log2

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import EACH, KINDS, records_of
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import (
    AlphaKAnonymity,
    Anonymizer,
    BasicBetaLikeness,
    Boxes,
    Cut,
    DistinctLDiversity,
    EntropyLDiversity,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    KmAnonymity,
    MergedCells,
    Pram,
    TCloseness,
)
from anonymizer.advice.space import disclosure_in
from anonymizer.cli import main
from anonymizer.counts.columns import item_sets, one_list
from anonymizer.counts.counting import recount
from anonymizer.counts.persons import by_item
from anonymizer.counts.schema import Schema
from anonymizer.profiling import profile
from anonymizer.profiling.among import marks_within
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.policy import items_of
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release

KNOWN = {"age": Hierarchy.ranges(widths=[2, 4, 8]), "sex": Hierarchy.suppression()}
ITEMS = ["flu", "gout", "hiv", "tb"]

STUDY = """
[data]
path = "t.csv"
items = { w = " " }

[quasi-identifiers]
age = { widths = [2, 4, 8] }
sex = "suppress"

[sensitive]
attributes = "w"

[[privacy]]
model = "entropy-l-diversity"
l = 2
"""


def answers(seed: int, records: int = 60, mark: str = " ") -> pd.DataFrame:
    """A table in which each record lists one to three items, in any order, some of them twice."""
    rng = np.random.default_rng(seed)
    lists = [rng.choice(ITEMS, rng.integers(1, 4), p=[0.2, 0.2, 0.4, 0.2]) for _ in range(records)]
    return pd.DataFrame(
        {
            "age": rng.integers(0, 8, records),
            "sex": rng.choice(["f", "m"], records),
            "w": [mark.join(each) for each in lists],
        }
    )


def code(arguments: list[str]) -> object:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def ways(lists: list[set[str]]) -> list[Counter]:
    """Count the sets of a class, and for each item with all records that list it as one value."""
    return [
        Counter(map(frozenset, lists)),
        *(
            Counter("x" if item in each else frozenset(each) for each in lists)
            for item in {item for each in lists for item in each}
        ),
    ]


def worst(released: pd.DataFrame, names: list[str], measure) -> float:
    """The least, over classes and ways to count them, of a measure of counts."""
    return min(
        measure(way)
        for _, rows in released.groupby(names, observed=True)
        for way in ways([set(each.split()) for each in rows["w"]])
    )


def entropy(way: Counter) -> float:
    records = way.total()
    return 2 ** -sum(n / records * log2(n / records) for n in way.values())


def test_counts_by_hand():
    """Of a, hiv is in 3 of 4 lists: hiv 3, flu 1; flu is in 2 of them. Of b, hiv is in none."""
    lists = ["hiv", "hiv flu", "flu  hiv", "flu", "tb", "tb"]
    table = pd.DataFrame({"q": [*"aaaabb"], "w": lists})
    counts = recount(table, Schema(("q",), ("w",), items=(("w", " "),)))
    assert counts.values["w"] == ("flu", "flu hiv", "hiv", "tb")
    assert counts.joint["w"].tolist() == [[1, 2, 1, 0], [0, 0, 0, 2]]
    assert counts.values[by_item("w", "hiv")] == ("flu", "hiv", "tb")
    assert counts.joint[by_item("w", "hiv")].tolist() == [[1, 3, 0], [0, 0, 2]]
    assert counts.joint[by_item("w", "flu")].tolist() == [[3, 1, 0], [0, 0, 2]]
    assert [*counts.joint] == ["w", by_item("w", "flu"), by_item("w", "hiv")]
    assert counts.attributes == ("w",)


def test_gaps_come_last_in_all_ways():
    table = pd.DataFrame({"q": [*"aaa"], "w": ["b c", None, "b"]})
    counts = recount(table, Schema(("q",), ("w",), missing="gap", items=(("w", " "),)))
    assert counts.gaps == ("w", by_item("w", "b"))
    assert counts.about(by_item("w", "b")).known.joint.tolist() == [[2]]


@given(st.lists(st.sampled_from(ITEMS), min_size=1, max_size=6), st.randoms())
def test_neither_order_nor_repetition_matters(items, some):
    other = [*items, some.choice(items)]
    some.shuffle(other)
    sets = item_sets([";".join(items), "; ".join(other), None], ";")
    assert sets == [tuple(sorted({*items}))] * 2 + [None]


def test_lists_are_written_in_one_way_and_others_stay():
    column = pd.Series(["b;a", "a", ";", None, "a; b;b", "B"], name="w")
    assert one_list(column, ";").dropna().tolist() == ["a;b", "a", ";", "a;b", "B"]
    plain = pd.Series(["a", "b", 3], name="w")
    assert one_list(plain, ";") is plain


@pytest.mark.parametrize("recoding", [FullDomain(), FullDomain(suppression=0.2), Cut(), Boxes()])
@pytest.mark.parametrize("seed", [1, 2])
def test_each_item_is_diverse_as_a_plain_recount_says(recoding, seed):
    raw = answers(seed)
    policy = [KAnonymity(2), EntropyLDiversity(1.8), DistinctLDiversity(2)]
    anonymizer = Anonymizer(KNOWN, "w", policy, recoding, items={"w": " "})
    released = anonymizer.fit_transform(raw)
    own = [verdict.worst for verdict in anonymizer.release_.privacy]
    assert own[1] == pytest.approx(worst(released, ["age", "sex"], entropy))
    assert own[2] == worst(released, ["age", "sex"], len)
    assert {len(set(each.split())) for each in released["w"]} >= {1, 2}
    assert all(" ".join(sorted({*each.split()})) == each for each in released["w"])


@pytest.mark.parametrize("kind", EACH)
def test_tables_of_each_kind_are_released_alike(kind):
    raw = answers(9)
    table = KINDS[kind](pa.Table.from_pandas(raw, preserve_index=False))
    anonymizer = Anonymizer(KNOWN, "w", [EntropyLDiversity(2)], items={"w": " "})
    assert records_of(anonymizer.fit_transform(table)) == records_of(anonymizer.fit_transform(raw))


def test_no_item_is_likelier_than_a_share_in_merged_cells():
    policy = [AlphaKAnonymity(k=2, alpha=0.8), BasicBetaLikeness(beta=2)]
    released = Anonymizer(KNOWN, "w", policy, MergedCells(), items={"w": " "}).fit_transform(
        answers(3)
    )
    for _, rows in released.groupby("class"):
        for item in ITEMS:
            assert np.mean([item in each.split() for each in rows["w"]]) <= 0.8 + 1e-9


def test_the_search_is_exact():
    """By brute force: the finest levels that a plain recount accepts, of two attributes."""
    raw = answers(4, 40)
    anonymizer = Anonymizer(
        KNOWN, "w", [EntropyLDiversity(2)], objective="loss", items={"w": " "}
    ).fit(raw)
    search = anonymizer.search_
    feasible = []
    for age in range(5):
        for sex in range(2):
            given_levels = raw.assign(
                age=0 if age == 4 else raw["age"] // [1, 2, 4, 8][min(age, 3)],
                sex="*" if sex else raw["sex"],
            )
            if worst(given_levels, ["age", "sex"], entropy) >= 2 - 1e-9:
                feasible.append((age, sex))
    least = {
        node
        for node in feasible
        if not any(a <= node[0] and b <= node[1] and (a, b) != node for a, b in feasible)
    }
    assert {*search.minimal} == least


def test_whole_lists_would_have_been_released_finer():
    """Everybody of class 0 has hiv: four different lists, and one item."""
    lists = ["hiv", "hiv flu", "tb hiv", "hiv gout", "flu", "gout", "tb", "hiv"]
    raw = pd.DataFrame({"age": [0] * 4 + [4] * 4, "w": lists})
    ages, policy = {"age": Hierarchy.ranges(widths=[4, 8])}, [DistinctLDiversity(2)]
    without = Anonymizer(ages, "w", policy).fit_transform(raw)
    by_items = Anonymizer(ages, "w", policy, items={"w": " "})
    assert without["age"].nunique() == 2
    assert by_items.fit_transform(raw)["age"].nunique() == 1
    assert not [w for w in by_items.release_.warnings if w.code == "several-answers"]


def test_an_item_of_all_is_warned_of_where_no_model_bounds_it():
    raw = pd.DataFrame({"age": [0] * 5, "w": ["hiv", "hiv flu", "flu hiv", "tb hiv", "hiv gout"]})
    ages = {"age": Hierarchy.ranges(widths=[4])}
    anonymizer = Anonymizer(ages, "w", [KAnonymity(2)], items={"w": " "}).fit(raw)
    codes = {warning.code for warning in anonymizer.release_.warnings}
    assert "homogeneous-classes" in codes
    assert "several-answers" not in codes


def test_another_separator_within_items_is_warned_of_in_each_column():
    """Of 5 records 2 have a comma and 1 has a bar; "heart attack" and "pain, chronic" are items."""
    raw = pd.DataFrame(
        {
            "age": [0] * 5,
            "w": ["hiv,tb", "flu;gout", "hiv;tb", "gout|flu", "hiv,tb"],
            "v": ["heart attack;flu", "pain, chronic", "1,5", "flu", "heart failure"],
            "u": ["a/b c", "a", "b", "a b", "a"],
        }
    )
    items = {"w": ";", "v": ";", "u": " "}
    ages = {"age": Hierarchy.ranges(widths=[4])}
    fitted = Anonymizer(ages, [*items], [KAnonymity(2)], items=items).fit(raw)
    found = [each for each in fitted.release_.warnings if each.code == "several-separators"]
    assert {(each.column, each.count, each.of) for each in found} == {("w", 3, 5), ("u", 1, 5)}
    words = " ".join(each.message for each in found)
    assert '"|" and "," within items that ";" parts' in words
    assert '"/" within items that " " parts' in words
    assert not [item for item in ("hiv", "tb", "gout") if item in words]


@pytest.mark.parametrize(
    ("items", "marks"),
    [
        (["hiv;tb", "flu"], ";"),
        (["hiv,", "flu"], ","),
        (["pain, chronic", "pain, acute"], ","),
        (["1,2", "1", "2"], ","),
        (["1,2", "3"], ""),
        (["hiv tb", "hiv", "tb"], " "),
        (["hiv tb", "hiv"], ""),
        (["a + b", "A", "b"], "+"),
        (["hiv\ntb"], "\n"),
        ([",", "|", ""], ""),
    ],
)
def test_marks_that_part_several_items(items, marks):
    assert "".join(marks_within(items)) == marks


def test_lists_with_two_separators_are_lists():
    lists = ["hiv", "hiv;flu", "flu,hiv", "tb", "flu", "tb;hiv"] * 3
    raw = pd.DataFrame({"age": range(18), "w": lists})
    assert items_of(profile(raw, sensitive="w"), ProfiledColumn.of(raw["w"])) == ";"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers(5).to_csv("t.csv", index=False)
    (tmp_path / "s.toml").write_text(STUDY)
    return tmp_path


def test_a_study_is_released_verified_applied_and_audited(folder, capsys):
    _, manifest = publish(Study(folder / "s.toml"), folder / "r")
    assert manifest.items == {"w": " "}
    assert verify_release(folder / "r").satisfied
    assert verify_release(folder / "r", folder / "s.toml").satisfied
    assert code(["apply", "r", "t.csv", "-o", "r2"]) == 0
    first, second = (pd.read_csv(folder / name / "released.csv") for name in ("r", "r2"))
    assert sorted(map(tuple, first.values)) == sorted(map(tuple, second.values))
    assert code(["audit", "r", "--against", "t.csv", "--study", "s.toml"]) == 3  # not all of it
    assert "each item of lists" in capsys.readouterr().out
    assert code(["quality", "r", "--study", "s.toml", "--no-classifiers"]) == 0


def test_advice_counts_guesses_of_an_item(folder):
    """Of class a hiv is in 4 of 5 lists, no two of which are alike."""
    lists = ["hiv", "hiv flu", "tb hiv", "gout hiv", "flu", *["tb", "flu", "gout", "hiv", "flu tb"]]
    table = pd.DataFrame({"q": [*"aaaaabbbbb"], "w": lists})
    counts = recount(table, Schema(("q",), ("w",), items=(("w", " "),)))
    found = disclosure_in(counts, "w")
    assert (found.sure, found.guessed, found.worst, found.prior) == (0, 4, 0.8, 0.5)
    assert disclosure_in(recount(table, Schema(("q",), ("w",))), "w").worst == 0.2


def test_what_was_fitted_is_published_with_its_items(tmp_path):
    raw = answers(7)
    anonymizer = Anonymizer(KNOWN, "w", [EntropyLDiversity(2)], items={"w": " "}).fit(raw)
    anonymizer.publish(raw, tmp_path / "out")
    assert verify_release(tmp_path / "out").satisfied
    assert json.loads((tmp_path / "out" / "release.json").read_text())["items"] == {"w": " "}


def test_a_manifest_without_its_items_is_noticed(folder):
    publish(Study(folder / "s.toml"), folder / "r")
    path = folder / "r" / "release.json"
    manifest = json.loads(path.read_text())
    for items in ({}, {"w": ";"}):
        path.write_text(json.dumps(manifest | {"items": items}))
        assert not verify_release(folder / "r").satisfied  # other lists, and another worst class
        assert not verify_release(folder / "r", folder / "s.toml").satisfied


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": {"age": ";"}}, "'age' is a quasi-identifier: k\\^m-anonymity of sets of items"),
        ({"items": {"sx": ";"}}, "items names 'sx', which is no sensitive attribute"),
        ({"items": {"w": ""}}, 'must be the text that stands between two of them.*w = ";"'),
        ({"items": [("w", ";")]}, "items must map sensitive attributes to the text between"),
        ({"person": "sex"}, "'w' are counted by record, and persons or households \\('sex'\\)"),
        ({"recoding": Pram()}, "items are for recodings that generalize, and pram draws"),
        ({"against": "method"}, "deals single values, and items are counted by each"),
        (
            {"privacy": [TCloseness(0.5, "ordered")]},
            "distance = 'ordered' is about single values, and cells of 'w' list several",
        ),
    ],
)
def test_what_is_refused(options, message):
    known = {"age": Hierarchy.ranges(widths=[2])} if "person" in options else KNOWN
    given_options = {"privacy": [DistinctLDiversity(2)], "items": {"w": " "}, **options}
    with pytest.raises(InputError, match=message):
        Anonymizer(known, "w", **given_options).fit(answers(6))


def test_too_many_sets_are_refused():
    raw = pd.DataFrame({"age": 1, "w": [f"a{n % 190} a{n % 191} a{n % 193}" for n in range(400)]})
    anonymizer = Anonymizer({"age": "suppress"}, "w", [DistinctLDiversity(2)], items={"w": " "})
    with pytest.raises(InputError, match="column 'w' lists 193 items in 400 different sets, too"):
        anonymizer.fit(raw)


@pytest.mark.parametrize(("k", "m"), [(2, 2), (4, 2), (2, 3)])
def test_lines_of_items_are_at_least_as_safe_as_sets_would_be(k, m):
    """By brute force: each combination of m items that somebody has, k persons have."""
    raw = answers(8)["w"].map(lambda each: sorted({*each.split()})).explode()
    table = pd.DataFrame({"person": raw.index, "item": raw.to_numpy()})
    kinds = {"flu": "virus", "hiv": "virus", "tb": "bacterium", "gout": "other"}
    items = Hierarchy.from_rows([[item, kind, "*"] for item, kind in kinds.items()])
    policy = [KmAnonymity(k, m)]
    anonymizer = Anonymizer({"item": items}, privacy=policy, person="person").fit(table)
    level = anonymizer.release_.levels["item"]
    label = [{each: each for each in kinds}, kinds, dict.fromkeys(kinds, "*")][level]
    sets = [{label[item] for item in own} for _, own in table.groupby("person")["item"]]
    for own in sets:
        for some in combinations(sorted(own), min(m, len(own))):
            assert sum({*some} <= other for other in sets) >= k


def test_sql_and_spreadsheets_would_change_items(folder, capsys):
    publish(Study(folder / "s.toml"), folder / "r")
    assert code(["export", "r", "--sql"]) == 2
    assert "cells of column 'w' list items" in capsys.readouterr().err
    table = pd.read_csv(folder / "t.csv")
    table["w"] = table["w"].str.replace("flu", "=flu")
    table.to_csv(folder / "t.csv", index=False)
    (folder / "s.toml").write_text(STUDY + "[output]\ncsv-safe = true\n")
    with pytest.raises(InputError, match="csv-safe = true changes cells of 'w', and with them an"):
        publish(Study(folder / "s.toml"), folder / "r3")


def test_sites_refuse_items(folder, capsys):
    assert code(["count", "t.csv", "--study", "s.toml", "-o", "c"]) == 2
    assert "[data] items is for a table that lies in one place" in capsys.readouterr().err
