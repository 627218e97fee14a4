"""Several sensitive attributes that are one together: each combination of values is a value."""

import json
import shutil
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from checker import classes_of, divergence, least_close
from engines import EACH, KINDS, records_of
from hypothesis import given
from hypothesis import strategies as st
from tampered import mended

from anonymizer import (
    AlphaKAnonymity,
    Anonymizer,
    BasicBetaLikeness,
    Boxes,
    Cut,
    DeltaDisclosure,
    DistinctLDiversity,
    EntropyLDiversity,
    FullDomain,
    Hierarchy,
    InputError,
    MeanInformation,
    MergedCells,
    Noise,
    PolicyUnreachableError,
    RecursiveLDiversity,
    Study,
    TCloseness,
    check,
    verify_release,
)
from anonymizer.counts.counting import recount
from anonymizer.counts.persons import by_persons, counted_as, of_column
from anonymizer.counts.schema import Schema
from anonymizer.release.publish import publish

BOTH = ("w1", "w2")
KNOWN = {"age": Hierarchy.ranges(widths=[2, 4, 8]), "sex": Hierarchy.suppression()}

XOR = pd.DataFrame(
    [(str(a ^ b), str(a), str(b)) for a in (0, 1) for b in (0, 1) for _ in range(10)],
    columns=["g", "w1", "w2"],
)
"""Two fair coins, and whether they differ: either alone is in every class what it is in all."""


def answers(seed: int, records: int = 60) -> pd.DataFrame:
    """A table of two attributes that hang together, and one column of their combinations."""
    rng = np.random.default_rng(seed)
    age, first = rng.integers(0, 8, records), rng.integers(0, 3, records)
    second = np.where(rng.random(records) < 0.6, (first + age) % 2, rng.integers(0, 3, records))
    table = pd.DataFrame({"age": age, "sex": rng.choice(["f", "m"], records)})
    table["w1"], table["w2"] = [f"a{each}" for each in first], [f"b{each}" for each in second]
    return table.assign(w=table["w1"] + "/" + table["w2"])


def released(table, sensitive, privacy, **options):
    """Release a table by an objective of sizes alone, whatever is sensitive."""
    options = {"recoding": FullDomain(), "objective": "discernibility", **options}
    anonymizer = Anonymizer(KNOWN, sensitive, privacy=privacy, **options)
    return anonymizer.fit_transform(table), anonymizer


def test_two_coins_by_hand():
    """Each coin alone tells nothing, both together 1 bit of 2: in a class two of four are left."""
    alone = Anonymizer({"g": "suppress"}, BOTH, privacy=[TCloseness(0.0002, "kl")])
    assert alone.fit(XOR).release_.levels == {"g": 0}
    together = Anonymizer(
        {"g": "suppress"}, BOTH, privacy=[TCloseness(0.0002, "kl", attribute=BOTH)]
    )
    assert together.fit(XOR).release_.levels == {"g": 1}
    verdict = check(XOR, "g", BOTH, privacy=[TCloseness(0.5, "kl", attribute=BOTH)]).privacy[0]
    assert (verdict.worst, verdict.violating, verdict.classes) == (pytest.approx(1), 2, 2)
    assert verdict.to_dict()["attribute"] == ["w1", "w2"]


def test_counts_by_hand():
    table = pd.DataFrame({"q": [*"aaab"], "w1": [*"xxyx"], "w2": [*"1221"]})
    counts = recount(table, Schema(("q",), BOTH, joint=(BOTH,)))
    assert counts.sensitive == BOTH
    found = counts.about(BOTH)
    assert found.values == (("x", "1"), ("x", "2"), ("y", "2"))
    assert found.joint.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert found.margin.tolist() == [2, 1, 1]
    assert found.attribute == "w1 and w2"


def test_names_of_counts_are_of_no_other_columns():
    """No two are one, however the columns are called; messages have the columns."""
    names = [counted_as(each) for each in ("a", ("a", "b"), ("a", "b", "c"), ("a b", "c"))]
    known = [*names, *map(by_persons, names)]
    assert len({*known}) == len(known)
    assert of_column(by_persons(names[2])) == "a and b and c"
    assert of_column(("a", "b")) == "a and b"


def test_one_attribute_is_that_attribute_and_order_does_not_matter():
    assert TCloseness(1, "kl", attribute=["w"]) == TCloseness(1, "kl", attribute="w")
    assert TCloseness(1, "kl", attribute=("w2", "w1")) == TCloseness(1, "kl", attribute=[*BOTH])
    assert {EntropyLDiversity(2, attribute=BOTH), EntropyLDiversity(2, attribute=[*BOTH])} == {
        EntropyLDiversity(2, attribute=("w2", "w1"))
    }


MODELS = [
    TCloseness(0.3, "kl"),
    TCloseness(0.4, "equal"),
    EntropyLDiversity(3),
    DistinctLDiversity(4),
    RecursiveLDiversity(c=2, l=3),
    AlphaKAnonymity(alpha=0.4, k=2),
    BasicBetaLikeness(1.5),
    DeltaDisclosure(2),
    MeanInformation(0.1),
    TCloseness(1, "kl", odds=1.5),
]


def about(model, attribute):
    return type(model)(**{**vars(model), "attribute": attribute})


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name} {model.odds}")
def test_combinations_are_values_of_a_column_of_them(model):
    """Recodings, verdicts and tables are those where one column has the combinations."""
    table = answers(1)
    cuts = [Cut()] if model.per_class else []
    for recoding in (FullDomain(), FullDomain(suppression=0.1, suppress="any"), *cuts):
        options = {"recoding": recoding}
        ours, own = released(table, BOTH, [about(model, BOTH)], **options)
        theirs, other = released(table, "w", [about(model, "w")], **options)
        assert records_of(ours) == records_of(theirs)
        assert own.release_.privacy[0].worst == pytest.approx(other.release_.privacy[0].worst)
        assert own.release_.levels == other.release_.levels


@pytest.mark.parametrize("recoding", [Boxes(), MergedCells()], ids=lambda each: each.name)
def test_boxes_and_merged_cells_alike(recoding):
    model, table = EntropyLDiversity(3), answers(2)
    ours, _ = released(table, [*BOTH, "w"], [about(model, BOTH)], recoding=recoding)
    theirs, _ = released(table, [*BOTH, "w"], [about(model, "w")], recoding=recoding)
    assert records_of(ours) == records_of(theirs)


@pytest.mark.parametrize("kind", EACH)
def test_every_engine_alike(kind):
    table, model = answers(3), TCloseness(0.25, "kl", attribute=BOTH)
    expected, own = released(table, BOTH, [model])
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    found, other = released(KINDS[kind](arrow), BOTH, [model])
    assert records_of(found) == records_of(expected)
    assert other.release_.privacy[0].to_dict() == own.release_.privacy[0].to_dict()


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1.5))
def test_a_release_holds_by_definition(seed, t):
    """Counted in plain Python, by a stranger; and what it says of each alone is no more."""
    table = answers(seed, 40)
    found, own = released(table, BOTH, [TCloseness(t, "kl", attribute=BOTH)])
    rows = found.to_dict("records")
    classes = classes_of(rows, list(KNOWN), "w")
    worst = least_close(classes)
    assert worst <= t + 1e-9
    assert own.release_.privacy[0].worst == pytest.approx(worst, abs=1e-12)
    for name in BOTH:  # who knows both knows each: data processing
        assert least_close(classes_of(rows, list(KNOWN), name)) <= worst + 1e-9


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1.0))
def test_no_finer_levels_hold(seed, t):
    """Levels that keep more by the objective break the model, tried one by one."""
    table = answers(seed, 30)
    _, own = released(table, BOTH, [TCloseness(t, "kl", attribute=BOTH)])
    margin = Counter(zip(table["w1"], table["w2"], strict=True))

    def score(age: int, sex: int) -> tuple[bool, int]:
        classes: dict[tuple, Counter] = {}
        for row in table.itertuples():
            label = row.age // [1, 2, 4, 8, 100][age], row.sex if sex == 0 else "*"
            classes.setdefault(label, Counter())[row.w1, row.w2] += 1
        holds = all(divergence(each, margin) <= t + 1e-9 for each in classes.values())
        return holds, sum(each.total() ** 2 for each in classes.values())

    levels = own.release_.levels
    best = min(n for a in range(5) for s in range(2) for holds, n in [score(a, s)] if holds)
    assert score(levels["age"], levels["sex"]) == (True, best)


def test_persons_count_combinations_as_values():
    table = answers(4).assign(who=[f"p{place // 2}" for place in range(60)])
    for options in ({"person": "who"}, {"person": "who", "per_person": "each"}):
        ours, own = released(table, BOTH, [EntropyLDiversity(2.5, attribute=BOTH)], **options)
        theirs, other = released(table, "w", [EntropyLDiversity(2.5, attribute="w")], **options)
        assert records_of(ours) == records_of(theirs)
        assert own.release_.privacy[0].worst == other.release_.privacy[0].worst


def test_missing_values_are_values_or_refused():
    table = answers(5)
    table.loc[::7, "w1"] = None
    combined = table.assign(w=table["w1"].fillna("-") + "/" + table["w2"])
    model, options = DistinctLDiversity(4), {"missing": "category"}
    ours, _ = released(combined, BOTH, [about(model, BOTH)], **options)
    theirs, _ = released(combined, "w", [about(model, "w")], **options)
    assert len(ours.columns) == len(theirs.columns)
    assert records_of(ours[["age", "sex"]]) == records_of(theirs[["age", "sex"]])
    with pytest.raises(InputError, match="what w1 and w2 then are together is not defined; choose"):
        released(table, BOTH, [about(model, BOTH)], missing="gap")


def test_spellings_that_somebody_takes_for_one_are_both_ends():
    """Flu and flu are one value to some: diversity counts them once."""
    table = pd.DataFrame({"g": [*"aaaa"], "w1": ["flu", "Flu", "flu", "Flu"], "w2": [*"xyxy"]})
    found = check(table, "g", BOTH, privacy=[DistinctLDiversity(3, attribute=BOTH)])
    assert (found.privacy[0].worst, found.satisfied) == (2, False)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: TCloseness(0.2, "ordered", attribute=BOTH),
            "combinations of w1 and w2 have no order",
        ),
        (
            lambda: TCloseness(0.2, "hierarchical", attribute=BOTH, hierarchy="w.csv"),
            "distance 'hierarchical' is of single values",
        ),
        (lambda: TCloseness(0.2, "kl", attribute=[]), "attribute must be a sensitive attribute"),
        (lambda: TCloseness(0.2, "kl", attribute=["w1", "w1"]), "each once, such as"),
        (lambda: TCloseness(0.2, "kl", attribute=["w1", 3]), "or a list of those that"),
        (lambda: TCloseness(0.2, "kl", attribute=3), "t-closeness: attribute must be"),
        (
            lambda: released(answers(1), BOTH, [EntropyLDiversity(2, attribute=("w1", "w3"))]),
            "about w1 and w3 together, and 'w3' is no sensitive attribute",
        ),
        (
            lambda: released(answers(1), BOTH, [EntropyLDiversity(2, attribute=BOTH)],
                             items={"w1": ";"}),
            "cells of 'w1' list several items, and what w1 and w2 then are",
        ),
        (
            lambda: Anonymizer(KNOWN, BOTH, privacy=[EntropyLDiversity(2, attribute=BOTH)],
                               recoding=Noise(attributes=("age",), seed=1)).fit(answers(1)),
            "a random recoding knows each sensitive attribute by itself, and a model is about w1",
        ),
        (
            lambda: released(answers(1), BOTH, [EntropyLDiversity(2, attribute=BOTH)],
                             against="method", odds=2),
            'against = "method" knows each sensitive attribute by itself',
        ),
    ],
)  # fmt: skip
def test_what_is_not_defined_is_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_out_of_reach_says_what_of():
    with pytest.raises(PolicyUnreachableError, match="'w1 and w2' in the whole table"):
        released(answers(1), BOTH, [AlphaKAnonymity(alpha=0.01, k=1, attribute=BOTH)])


STUDY = """
[data]
path = "t.csv"

[quasi-identifiers]
age = { widths = [2, 4, 8] }
sex = "suppress"

[sensitive]
attributes = ["w1", "w2"]

[[privacy]]
model = "t-closeness"
distance = "kl"
t = 0.25
attribute = ["w2", "w1"]

[[privacy]]
model = "distinct-l-diversity"
l = 3
attribute = ["w1", "w2"]

[output]
verifiers = ["python", "sql", "html"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("joint")
    answers(6).drop(columns="w").to_csv(place / "t.csv", index=False)
    (place / "s.toml").write_text(STUDY, encoding="utf-8")
    publish(Study(place / "s.toml"), place / "r")
    return place


@pytest.fixture
def study(made, tmp_path):
    """A study and its release; a test changes a copy."""
    return shutil.copytree(made, tmp_path / "own")


def test_commands_on_a_release(study, run):
    """Every command reads what the manifest says, and nobody sees how counts are named."""
    release, file = study / "r", study / "s.toml"
    manifest = json.loads((release / "release.json").read_text(encoding="utf-8"))
    assert [each["attribute"] for each in manifest["privacy"]] == [["w1", "w2"]] * 2
    ways = [
        (0, "run", file, "--output", study / "other"),
        (0, "verify", release),
        (0, "verify", release, "--study", file),
        (1, "check", study / "t.csv", "--study", file),  # as it is
        (0, "check", release),
        (0, "risk", release),
        (3, "audit", release, "--against", study / "t.csv", "--study", file),  # not all examined
        (0, "advise", file),
        (0, "apply", release, study / "t.csv", "--output", study / "again"),
        (0, "export", release, "--sql"),
        (0, "report", release, "--output", study / "report.html"),
    ]
    for expected, *arguments in ways:
        code, out, err = run(*arguments)
        assert code == expected, (arguments, out, err)
        assert "\0" not in out + err
        assert "('w1'" not in out + err
        assert arguments[0] not in ("run", "verify", "check") or "w1 and w2" in out
        if arguments[0] == "export":
            assert "-- What models promise of several attributes together is not counted" in out
    page = (study / "report.html").read_text(encoding="utf-8")
    assert "w1 and w2" in page
    assert "('w1'" not in page


def test_a_study_that_requires_other_attributes_together_is_told_from_it(study, run):
    text = STUDY.replace('attribute = ["w1", "w2"]', 'attribute = "w1"')
    (study / "s.toml").write_text(text, encoding="utf-8")
    code, out, err = run("verify", study / "r", "--study", study / "s.toml")
    assert code != 0
    assert "distinct-l-diversity about 'w1', the release promises nothing of it" in out + err


def test_a_study_that_requires_them_together_later_is_not_kept(study, run):
    """The release was proven of each alone, and its manifest counts nothing together."""
    text = STUDY.replace('attribute = ["w2", "w1"]', 'attribute = "w1"')
    alone = text.replace('l = 3\nattribute = ["w1", "w2"]', "l = 2").replace("t = 0.25", "t = 5")
    (study / "alone.toml").write_text(alone.replace("k = 5", "k = 1"), encoding="utf-8")
    assert run("run", study / "alone.toml", "-o", study / "other")[0] == 0
    code, out, err = run("verify", study / "other", "--study", study / "s.toml")
    assert (code, err) == (1, "")
    assert "w1 and w2" in out


def test_a_release_that_breaks_it_is_found(study):
    """Values of one column dealt anew: each alone is what it was, both together are not."""
    path = study / "r" / "released.csv"
    table = pd.read_csv(path, dtype=str)
    for _, rows in table.groupby("sex"):
        for name in BOTH:  # in one class alike, as if one decided the other
            table.loc[rows.index, name] = sorted(rows[name])
    table.to_csv(path, index=False, lineterminator="\n")
    found = mended(study / "r")
    assert [each.satisfied for each in found.verdicts] == [False, True]
    classes = classes_of(table.assign(w=table["w1"] + table["w2"]).to_dict("records"), ["sex"], "w")
    assert found.verdicts[0].worst == pytest.approx(least_close(classes))


def test_verifiers_say_that_they_do_not_examine_it(study):
    said = subprocess.run(
        [sys.executable, "-I", "verify.py"],
        cwd=study / "r",
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout.count("the classes of the table by one attribute") == 2
    statements = (study / "r" / "verify.sql").read_text(encoding="utf-8")
    assert statements.count("than the classes of the table by one attribute") == 2
    assert "of w1 and w2" in statements


@pytest.mark.parametrize("given", [["w2", "w1"], ["w1", "w1"], ["w1"], ["w1", "age"], []])
def test_a_manifest_with_another_list_is_refused(study, given):
    place = study / "r" / "release.json"
    manifest = json.loads(place.read_text(encoding="utf-8"))
    manifest["privacy"][0]["attribute"] = given
    place.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(InputError, match=r"release\.json"):
        verify_release(study / "r")
