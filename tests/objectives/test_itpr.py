"""The least ITPR, and ITPR as a model: merging may raise or lower it, searches are exact."""

import json
from dataclasses import replace
from itertools import combinations
from math import log2
from pathlib import Path

import literature
import numpy as np
import pandas as pd
import pytest
from cases import Case, assert_solved
from forked import unwarned
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from oracle import Brute, Chain
from plain import NUMPY

from anonymizer import (
    Anonymizer,
    FullDomain,
    Hierarchy,
    InputError,
    Itpr,
    KAnonymity,
    LeastItpr,
    ReidentificationItpr,
    verify_release,
)
from anonymizer.cli import main
from anonymizer.counts.counts import Classes

PAIRS = [[str(value), str(value // 2)] for value in range(6)]
CHAIN = Chain({str(value): (str(value), str(value // 2)) for value in range(6)})
"""Six values, in pairs and no further: with everything suppressed ITPR is 0."""


def case_of(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    names, size = "abc"[: rng.integers(1, 4)], rng.integers(20, 120)
    skewed = {name: rng.integers(0, 6, size) * (rng.random(size) < 0.8) for name in names}
    columns = {name: column.astype(str).tolist() for name, column in skewed.items()}
    columns["w"] = rng.integers(0, 3, size).astype(str).tolist()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    share, models = [(0.0, [KAnonymity(1)]), (0.3, [KAnonymity(3)])][seed % 2]
    brute = Brute(rows, dict.fromkeys(names, CHAIN), ["w"], models, "itpr", share=share)
    hierarchy = Hierarchy.from_rows(PAIRS).limited(max_level=1)
    return Case(brute, dict.fromkeys(names, hierarchy))


@settings(max_examples=at_length(20, 40))
@given(st.integers(0, 2**32 - 1))
def test_the_best_node_is_what_brute_force_finds(seed):
    assert_solved(case_of(seed), NUMPY)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.2, 0.5, 0.8]))
def test_the_models_admit_the_best_node_and_nothing_above_the_risk(seed, risk):
    """Two sensitive attributes, and suppression for the sake of another model."""
    rows = [
        {**row, "w": "uvx"[i % 3], "v": "pq"[i * seed % 7 % 2]}
        for i, row in enumerate(case_of(seed).brute.rows)
    ]
    models = [Itpr(risk, attribute="w"), Itpr(risk, attribute="v"), KAnonymity(1 + seed % 3)]
    if seed % 2:
        models.append(ReidentificationItpr(risk))
    case = case_of(seed)
    brute = replace(case.brute, rows=rows, sensitive=["w", "v"], models=models, share=0.3)
    assert_solved(replace(case, brute=brute), NUMPY)


def test_merging_may_raise_it():
    """Classes of 4 and 4 records, and one of 8 that three others make up, by their smallest."""
    assert literature.reidentification_itpr([4, 4, 4, 4]) == 1 - 4 / 4 * 2 / 4
    assert literature.reidentification_itpr([4, 12]) == 1 - 2 / 4 * 2 / 4
    for sizes, itpr in (([4, 4, 4, 4], 0.5), ([4, 12], 0.75)):
        table = pd.DataFrame({"a": np.repeat([*"pqrs"][: len(sizes)], sizes)})
        found = Anonymizer({"a": Hierarchy.suppression()}, privacy=[ReidentificationItpr(itpr)])
        assert found.fit(table).release_.levels == {"a": 0}
        found = Anonymizer(
            {"a": Hierarchy.suppression()}, privacy=[ReidentificationItpr(itpr - 1e-6)]
        )
        assert found.fit(table).release_.levels == {"a": 1}


def test_a_model_of_it_leaves_out_no_node_below_one_that_breaks_it():
    """Level 1 breaks the model, level 0 below it does not: 12 = 4 + 4 + 4."""
    table = pd.DataFrame({"a": np.repeat([*"pqrs"], 4), "w": [*"0123"] * 4})
    rows = [["p", "p"], ["q", "x"], ["r", "x"], ["s", "x"]]
    for model in (ReidentificationItpr(0.6), Itpr(0.4)):
        for search in ("automatic", "exhaustive", "branch-and-bound"):
            anonymizer = Anonymizer(
                {"a": Hierarchy.from_rows(rows)},
                sensitive="w",
                privacy=[model],
                recoding=FullDomain(search=search),
            )
            assert anonymizer.fit(table).release_.levels == {"a": 0}
            assert anonymizer.search_.proven


def test_what_it_does_not_fall_below_is_below_all_finer_tables():
    rng = np.random.default_rng(0)
    (floor,) = Itpr(1).necessary()
    for _ in range(40):
        joint = rng.integers(0, 5, (5, 3)) + 1
        finest = literature.itpr([*map(_counted, joint)])
        for i, j in combinations(range(5), 2):
            rest = np.delete(joint, [i, j], axis=0)
            coarser = np.vstack([rest, joint[i] + joint[j]])
            from_below = floor.measure(_classes(coarser))[0]
            assert from_below <= finest + 1e-12
            assert from_below <= literature.itpr([*map(_counted, coarser)]) + 1e-12


def _counted(row):
    return literature.Counter(dict(enumerate(row.tolist())))


def _classes(joint):
    return Classes(joint, joint.sum(axis=0))


TABLE = pd.DataFrame({"age": [*range(20, 60)] * 3, "ill": ([*"uv"] * 10 + [*"uuuv"] * 5) * 3})


def fitted(**options: object) -> Anonymizer:
    ages = Hierarchy.ranges(widths=[5, 10, 20]).limited(max_level=3)
    anonymizer = Anonymizer(
        {"age": ages}, sensitive="ill", privacy=[KAnonymity(2)], objective=LeastItpr(), **options
    )
    return anonymizer.fit(TABLE)


STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
age = { widths = [5, 10, 20], max-level = 3 }
[sensitive]
attributes = ["ill"]
[[privacy]]
model = "itpr"
risk = 0.2
[objective]
name = "itpr"
"""


def test_a_release_states_its_itpr_and_verify_counts_it_again(tmp_path, capsys, monkeypatch):
    """Two classes of 60: in one half of the people have v, in the other a quarter."""
    anonymizer = fitted()
    quarter = 0.25 * log2(4) + 0.75 * log2(4 / 3)
    share = 45 / 120
    whole = -share * log2(share) - (1 - share) * log2(1 - share)
    expected = 1 - quarter / whole
    assert anonymizer.search_.value == pytest.approx(expected)
    assert anonymizer.search_.proven
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("people.csv", index=False)
    Path("study.toml").write_text(STUDY)
    with pytest.raises(SystemExit) as stop:
        main(["run", "study.toml", "-o", "out"])
    assert (stop.value.code, unwarned(capsys.readouterr().err)) == (0, "")
    manifest = json.loads(Path("out.steward.json").read_text())
    assert manifest["search"]["value"] == pytest.approx(expected)
    assert manifest["privacy"][0]["worst"] == pytest.approx(expected)
    assert verify_release("out").satisfied
    manifest["search"]["value"] = manifest["search"]["bound"] = 0.14
    Path("out.steward.json").write_text(json.dumps(manifest))
    assert not verify_release("out").satisfied


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recoding": "variable-range"}, "itpr .*choose another one, or full-domain recoding"),
        ({"recoding": "boxes"}, "itpr is not made for recodings beyond levels and ranges"),
        ({"recoding": FullDomain(search="bisection")}, "itpr may rise under generalization, so"),
    ],
)
def test_recodings_that_cannot_answer_for_it(options, message):
    with pytest.raises(InputError, match=message):
        fitted(**options)


def test_it_is_about_a_sensitive_attribute():
    anonymizer = Anonymizer({"age": "suppress"}, privacy=[KAnonymity(2)], objective="itpr")
    with pytest.raises(InputError, match="itpr is about a sensitive attribute; name one, or"):
        anonymizer.fit(TABLE[["age"]])
    anonymizer = Anonymizer(
        {"age": "suppress"},
        sensitive="ill",
        privacy=[KAnonymity(2)],
        objective=LeastItpr(weights={"age": 2}),
    )
    with pytest.raises(InputError, match="weighs 'age', which is no sensitive attribute"):
        anonymizer.fit(TABLE)


@pytest.mark.parametrize("recoding", ["variable-range", "boxes", "merged-cells"])
def test_recodings_that_refuse_the_models(recoding):
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[5])}, sensitive="ill", privacy=[Itpr(0.5)],
        recoding=recoding,
    )  # fmt: skip
    message = f"{recoding} recoding .* itpr is about the table as a whole; choose full-domain"
    with pytest.raises(InputError, match=message):
        anonymizer.fit(TABLE)
