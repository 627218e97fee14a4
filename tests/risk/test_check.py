"""What a table satisfies as it stands, from Python and from the command line.

Eight records in two classes, with every number worked out by hand beside the definitions of
``literature``.
"""

import json
from collections import Counter
from math import inf, log2

import literature
import numpy as np
import pandas as pd
import pytest
import risky

from anonymizer import (
    AlphaKAnonymity,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    Hierarchy,
    InputError,
    KAnonymity,
    KMap,
    MeanInformation,
    PopulationUniqueness,
    TCloseness,
    check,
)

SECRETS = ("Nemo", "flu", "cold")
TABLE = """\
name,age,sex,state,pay
Nemo0,20,f,flu,1
Nemo1,20,f,flu,1
Nemo2,20,f,flu,2
Nemo3,20,f,cold,3
Nemo4,30,f,flu,3
Nemo5,30,f,cold,3
Nemo6,30,f,cold,2
Nemo7,30,f,cold,1
"""
STUDY = risky.STUDY.replace("k = 2", "k = 4")


def the_table() -> pd.DataFrame:
    return risky.frame_of(TABLE)


def test_a_table_by_hand():
    """Classes of 3 + 1 and 1 + 3 of two states; of pay 2, 1, 1 and 1, 1, 2."""
    found = check(the_table(), ["age", "sex"], ["state", "pay"])
    assert (found.records, found.classes, found.k) == (8, 2, 4)
    bits = 2 - 0.75 * log2(3)  # H(3/4, 1/4)
    assert found.sensitive["state"] == pytest.approx(
        {
            "distinct_l": 2,
            "entropy_l": 2**bits,
            "t_kl": 1 - bits,
            "t_equal": 0.25,
            "basic_beta": 0.5,
            "enhanced_beta": 0.5,  # at most ln 2
            "delta_disclosure": 1,  # 1/4 against 1/2
            "alpha": 0.75,
        }
    )
    pay = found.sensitive["pay"]  # 3/8, 2/8, 3/8 in the table, 4/8, 2/8, 2/8 in a class
    assert (pay["distinct_l"], pay["alpha"]) == (3, 0.5)
    assert pay["t_equal"] == pytest.approx(1 / 8)
    assert pay["t_ordered"] == pytest.approx((1 / 8 + 1 / 8) / 2)
    assert pay["basic_beta"] == pytest.approx(1 / 3)
    assert pay["delta_disclosure"] == pytest.approx(log2(3 / 2))
    assert found.risk == {
        "sample_uniqueness": 0,
        "prosecutor_highest": 1 / 4,
        "prosecutor_average": 1 / 4,
    }
    assert found.satisfied  # of no policy


@pytest.mark.parametrize("seed", range(20))
def test_any_table_by_the_definitions(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 60))
    table = pd.DataFrame(
        {name: rng.integers(0, rng.integers(1, 5), size) for name in ("a", "b", "w")}
    )
    groups = [Counter(group["w"].tolist()) for _, group in table.groupby(["a", "b"], observed=True)]
    whole = sum(groups, Counter())
    order = sorted(whole)
    found = check(table, ["a", "b"], "w")
    assert found.k == min(group.total() for group in groups)
    assert found.classes == len(groups)
    assert found.sensitive["w"] == pytest.approx(
        {
            "distinct_l": min(map(literature.distinct, groups)),
            "entropy_l": min(map(literature.entropy_l, groups)),
            "t_kl": max(literature.divergence(group, whole) for group in groups),
            "t_equal": max(literature.equal(group, whole) for group in groups),
            "t_ordered": max(literature.ordered(group, whole, order) for group in groups),
            "basic_beta": max(literature.basic_beta(group, whole) for group in groups),
            "enhanced_beta": max(literature.enhanced_beta(group, whole) for group in groups),
            "delta_disclosure": max(literature.delta_disclosure(group, whole) for group in groups),
            "alpha": max(map(literature.alpha, groups)),
        }
    )
    assert found.risk["prosecutor_average"] == pytest.approx(len(groups) / size)


def test_a_policy_held_against_a_table():
    models = [
        KAnonymity(4),
        KAnonymity(5),
        DistinctLDiversity(3, attribute="pay"),
        TCloseness(0.2, "equal"),
        AlphaKAnonymity(0.75, 5, attribute="state"),
        MeanInformation(0.1, attribute="pay"),
    ]
    found = check(the_table(), ["age", "sex"], ["state", "pay"], models)
    verdicts = [(v.attribute, v.satisfied, v.violating) for v in found.privacy]
    assert verdicts == [
        (None, True, 0),
        (None, False, 2),
        ("pay", True, 0),
        ("state", False, 2),
        ("pay", True, 0),
        ("state", False, 2),
        ("pay", True, 0),
    ]
    assert not found.satisfied
    assert found.violating_records == [0, 8, 0, 8, 0, 8, 0]
    assert found.privacy[5].worst == inf  # fewer than 5 records
    assert found.to_dict()["privacy"][5]["worst"] is None


def test_records_in_classes_that_fail():
    """Class x has four records of two spellings of one state, y two of two, z one."""
    table = pd.DataFrame({"a": list("xxxxyyz"), "w": ["flu", "Flu"] * 2 + ["flu", "cold", "flu"]})
    found = check(table, "a", "w", [KAnonymity(3), DistinctLDiversity(2)])
    assert [each.violating for each in found.privacy] == [2, 2]
    assert found.violating_records == [3, 5]


def test_the_strictest_parameters_hold_and_stricter_ones_do_not():
    table = the_table()
    found = check(table, ["age", "sex"], "state").sensitive["state"]
    exact = [
        TCloseness(found["t_kl"], "kl"),
        TCloseness(found["t_equal"], "equal"),
        EnhancedBetaLikeness(found["enhanced_beta"]),
        DeltaDisclosure(found["delta_disclosure"]),
        AlphaKAnonymity(found["alpha"], 4),
    ]
    assert check(table, ["age", "sex"], "state", exact).satisfied
    stricter = [
        TCloseness(found["t_kl"] - 1e-6, "kl"),
        TCloseness(found["t_equal"] - 1e-6, "equal"),
        EnhancedBetaLikeness(found["enhanced_beta"] - 1e-6),
        DeltaDisclosure(found["delta_disclosure"] - 1e-6),
        AlphaKAnonymity(found["alpha"] - 1e-6, 4),
    ]
    verdicts = check(table, ["age", "sex"], "state", stricter).privacy
    assert not any(verdict.satisfied for verdict in verdicts)


def test_an_order_that_is_stated():
    """From flu over cold to hiv: a class of flu alone has 3 + 1 of the way to go."""
    table = pd.DataFrame({"a": list("xxyyyy"), "w": ["flu", "flu", "cold", "cold", "hiv", "hiv"]})
    assert "t_ordered" not in check(table, "a", "w").sensitive["w"]
    order = TCloseness(1, "ordered", order=["flu", "cold", "hiv"])
    found = check(table, "a", "w", [order])
    assert found.sensitive["w"]["t_ordered"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found.privacy[0].worst == found.sensitive["w"]["t_ordered"]


def test_a_value_that_a_class_lacks_is_infinitely_disclosed():
    table = pd.DataFrame({"a": list("xxyy"), "w": list("uuuv")})
    found = check(table, "a", "w")
    assert found.sensitive["w"]["delta_disclosure"] == inf
    assert found.to_dict()["sensitive"]["w"]["delta_disclosure"] is None
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["k"] == 2


def test_people_without_a_record_are_no_class():
    """They count for the models about a population and for nothing else."""
    alone = check(the_table(), "age", "state")
    people = pd.DataFrame({"age": ["20"] * 5 + ["30"] * 8 + ["40"] * 9})
    found = check(the_table(), "age", "state", [KMap(5, people)])
    assert (found.classes, found.k) == (2, 4)
    assert found.sensitive == alone.sensitive
    assert found.privacy[0].worst == 5
    assert found.risk["journalist_highest"] == 1 / 5
    assert found.risk["marketer"] == pytest.approx((4 / 5 + 4 / 8) / 8)


def test_one_record_is_a_class():
    found = check(the_table().head(1), "age", "state").to_dict()
    assert (found["k"], found["classes"], found["records"]) == (1, 1, 1)
    assert found["risk"]["sample_uniqueness"] == 1
    assert found["sensitive"]["state"]["t_kl"] == 0


def test_without_a_sensitive_attribute():
    found = check(the_table(), "age", privacy=[KAnonymity(4), PopulationUniqueness(0.1, 0.5)])
    assert found.sensitive == {}
    assert found.satisfied


@pytest.mark.parametrize(
    ("missing", "k", "records"), [("category", 1, 8), ("gap", 1, 8), ("drop", 3, 7)]
)
def test_missing_values(missing, k, records):
    table = the_table()
    table.loc[0, "age"] = None
    found = check(table, ["age", "sex"], "state", missing=missing)
    assert (found.k, found.records) == (k, records)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": [1, 2]}, "expected a pandas DataFrame, got list"),
        ({"table": pd.DataFrame({"age": [], "state": []})}, "the table has no records"),
        ({"quasi_identifiers": "agee"}, "no column 'agee'; did you mean 'age'"),
        ({"quasi_identifiers": []}, "name at least one quasi-identifier"),
        ({"quasi_identifiers": None}, "quasi_identifiers must name a column or a list"),
        ({"quasi_identifiers": ["age", "state"]}, "column 'state' has more than one role"),
        ({"sensitive": "disease"}, "the table has no column 'disease'"),
        ({"sensitive": 3}, "sensitive must name a column or a list of columns"),
        ({"missing": "skip"}, "missing = 'skip' is none of error, drop, gap, category"),
        ({"privacy": KAnonymity(2)}, "privacy must be a list of models"),
        ({"privacy": [KAnonymity]}, "privacy must be a list of models"),
        ({"privacy": None}, "privacy must be a list of models"),
        ({"privacy": [DistinctLDiversity(2, attribute="sex")]}, "'sex', which is no sensitive att"),
        ({"privacy": [DistinctLDiversity(2)], "sensitive": ()}, "is about a sensitive attribute"),
        ({"privacy": [TCloseness(1, "ordered")]}, "not all of its values are numbers; give thei"),
        (
            {"privacy": [TCloseness(1, "ordered", order=["flu", "hiv"])]},
            "order lacks 1 of the 2 values of the column; add them",
        ),
        (
            {"privacy": [TCloseness(1, "hierarchical", None, Hierarchy.from_rows([["flu", "x"]]))]},
            "the hierarchy of 'state' lacks some of the 2 values of the column; add them to it",
        ),
        ({"privacy": [KMap(2, pd.DataFrame({"a": [1]}))]}, "population: the table has no column"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_checked(arguments, message):
    stated = {"table": the_table(), "quasi_identifiers": ["age"], "sensitive": "state"}
    with pytest.raises(InputError, match=message) as error:
        check(**stated | arguments)
    assert "cold" not in str(error.value)


# The command line


@pytest.fixture
def study(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def test_json_has_what_it_promises(run, study, tmp_path):
    code, out, err = run("check", tmp_path / "table.csv", "--study", study, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["k"], found["classes"], found["records"]) == (4, 2, 8)
    known = ["distinct_l", "entropy_l", "t_kl", "t_equal", "basic_beta", "enhanced_beta"]
    known += ["delta_disclosure", "alpha"]
    assert set(found["sensitive"]["state"]) == set(known)
    assert set(found["sensitive"]["pay"]) == {*known, "t_ordered"}
    assert found["sensitive"]["state"]["distinct_l"] == 2
    assert found["privacy"] == [
        {
            "model": "k-anonymity",
            "attribute": None,
            "parameters": {"k": 4},
            "worst": 4,
            "violating_classes": 0,
            "satisfied": True,
            "violating_records": 0,
        }
    ]
    assert found["satisfied"] is True


def test_a_policy_that_does_not_hold_is_1(run, study, tmp_path):
    study.write_text(STUDY.replace("k = 4", "k = 5"))
    code, out, err = run("check", tmp_path / "table.csv", "-s", study, "--json")
    assert (code, err) == (1, "")
    (verdict,) = json.loads(out)["privacy"]
    assert (verdict["worst"], verdict["satisfied"], verdict["violating_classes"]) == (4, False, 2)
    assert verdict["violating_records"] == 8


def test_what_is_infinite_is_null(run, study, tmp_path):
    (tmp_path / "table.csv").write_text(TABLE.replace("20,f,cold", "20,f,flu"))
    study.write_text(
        STUDY + "[[privacy]]\nmodel = 'delta-disclosure'\ndelta = 9\nattribute = 'state'\n"
    )
    code, out, _ = run("check", tmp_path / "table.csv", "-s", study, "--json")
    found = json.loads(out)
    assert code == 1
    assert found["sensitive"]["state"]["delta_disclosure"] is None
    # flu has 4/4 against 5/8, 0.6 more, where -ln 5/8 = 0.47 is all that any beta grants
    assert found["sensitive"]["state"]["enhanced_beta"] is None
    assert found["sensitive"]["state"]["basic_beta"] == pytest.approx(1)  # cold: 3/4 against 3/8
    assert (found["privacy"][1]["worst"], found["privacy"][1]["satisfied"]) == (None, False)


def test_the_report_says_it_in_words(run, study, tmp_path):
    code, out, err = run("check", tmp_path / "table.csv", "-s", study)
    assert (code, err) == (0, "")
    assert "8 records in 2 equivalence classes, the smallest of 4: k = 4." in out
    assert "The strictest that holds about state" in " ".join(out.split())
    assert "highest risk, prosecutor" in out
    assert "others may know: age, sex" in out


def test_a_release_needs_no_identifier_nor_target(run, study, tmp_path):
    study.write_text(STUDY + '[objective]\ntarget = "name_of_a_column"\n')
    released = tmp_path / "released.csv"
    released.write_text("\n".join(line.partition(",")[2] for line in TABLE.splitlines()))
    assert run("check", released, "-s", study)[0] == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        ("", "table.csv: it is empty"),
        (TABLE.split()[0] + "\n", "the table has no records"),
        (TABLE.replace("age,", "aeg,"), "table.csv: the table has no column 'age'; did you mean"),
        (TABLE.replace("20,f,flu,2", ",f,flu,2"), "column 'age' misses the value of 1 of 8 rec"),
        (TABLE.replace("20,f,flu,2", "20,f,flu"), "line 4 has 4 fields, the header 5"),
    ],
)
def test_tables_that_cannot_be_checked(run, study, tmp_path, content, message):
    path = tmp_path / "table.csv"
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    code, out, err = run("check", path, "-s", study)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("anonymizer: ")
    assert message in err


# Column names alone


NAMED = ("--quasi-identifiers", "age,sex", "--sensitive", "state")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE.replace(",", ";").replace("20;f;flu;2", "20;;flu;2"))
    return path


def test_column_names_are_enough(run, table):
    """Classes of 3, 1 and 4, the second of a record without a sex, by plain pandas."""
    code, out, _ = run("check", table, *NAMED, "--json")
    found, plain = json.loads(out), pd.read_csv(table, sep=";")
    classes = plain.groupby(["age", "sex"], dropna=False)["state"]
    shares = classes.value_counts(normalize=True)
    assert (code, found["quasi_identifiers"]) == (0, ["age", "sex"])
    assert (found["k"], found["classes"]) == (classes.size().min(), len(classes)) == (1, 3)
    about = found["sensitive"]["state"]
    assert about["distinct_l"] == classes.nunique().min()
    assert about["alpha"] == pytest.approx(shares.max())
    prior = plain["state"].value_counts(normalize=True)
    unlike = shares.unstack(fill_value=0).sub(prior).abs().sum(axis=1) / 2
    assert about["t_equal"] == pytest.approx(unlike.max())
    assert found["risk"]["prosecutor_average"] == 3 / 8
    assert json.loads(run("check", table, *NAMED, "--missing", "drop", "--json")[1])["records"] == 7


def test_what_is_required_decides_the_exit_code(run, table):
    named = ("check", table, "--quasi-identifiers", "age", "--sensitive", "state")
    holds = ("--require", "k-anonymity=4", "--require", "t-closeness=0.25,distance=equal")
    code, out, _ = run(*named, *holds)
    assert code == 0
    assert "t-closeness (t = 0.25, distance = equal)" in out
    assert run(*named, "--require", "k-anonymity=5")[0] == 1
    assert run(*named, "--require", "recursive-l-diversity=1,l=2")[0] == 1
    assert "No policy was given" in run(*named)[1]


def test_weights_say_for_how_many_people_classes_stand(run, tmp_path):
    """Of 20 two records for 5 people, of 30 one for 4; a weight is no column to warn of."""
    path = tmp_path / "sample.csv"
    path.write_text("age;people\n20;2.5\n20;2.5\n30;4\n")
    named = ("check", path, "--quasi-identifiers", "age", "--weight", "people")
    code, out, err = run(*named, "--require", "k-map=4,population=weights")
    assert (code, err) == (0, "")
    assert "k = 1. By their sampling weights the records of a class stand for at least 4" in out
    assert "k-map (k = 4, population = weights)" in out
    assert run(*named, "--require", "k-map=5,population=weights")[0] == 1
    assert run(*named, "--require", "individual-risk=0.5")[0] == 0
    found = json.loads(run(*named, "--json")[1])
    assert (found["fewest_people"], found["risk"]["journalist_highest"]) == (4, 0.25)


LISTS = ["hiv", "hiv;flu", "flu; hiv", "tb;hiv", "gout", "tb", "flu;tb", "gout;flu"]


def test_items_are_checked_by_themselves(run, tmp_path):
    """Of 20 all have hiv, in three sets; of 30 two have flu, two gout and two tb."""
    table = pd.DataFrame({"age": [20] * 4 + [30] * 4, "w": LISTS})
    assert check(table, "age", "w").sensitive["w"]["distinct_l"] == 4
    found = check(table, "age", "w", [EntropyLDiversity(2)], items={"w": ";"})
    assert found.sensitive["w"]["distinct_l"] == 1
    assert found.sensitive["w"]["alpha"] == 1
    assert found.violating_records == [4]
    assert check(table[4:], "age", "w", items={"w": ";"}).sensitive["w"]["alpha"] == 0.5
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    policy = ("--sensitive", "w", "--items", "w=;", "--require", "entropy-l-diversity=2", "--json")
    for name in ("t.csv", "t.parquet"):
        code, out, _ = run("check", tmp_path / name, "--quasi-identifiers", "age", *policy)
        assert (code, json.loads(out)) == (1, found.to_dict())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--items w", "--items 'w' is not NAME=TEXT, such as conditions=;"),
        ("--items w=; --items w=,", "--items names a column twice"),
        ("--items v=;", "items names 'v', which is no sensitive attribute"),
        ("--items w=; --person age", "are counted by record, and persons or households"),
        ("--items w=; --require t-closeness=0.1,distance=ordered", "cells of 'w' list several"),
        ("--items w=; --study s.toml", "--study gives roles, policy and format"),
    ],
)
def test_items_that_cannot_be_checked(run, tmp_path, given, message):
    pd.DataFrame({"age": [20] * 8, "q": [1] * 8, "w": LISTS}).to_csv(tmp_path / "t.csv")
    named = ("--quasi-identifiers", "q", "--sensitive", "w")
    code, _, err = run("check", tmp_path / "t.csv", *named, *given.split(" "))
    assert code == 2
    assert message in " ".join(err.split())


def test_risk_takes_column_names(run, table, tmp_path):
    found = json.loads(run("risk", table, *NAMED, "--json")[1])
    assert (found["classes"], found["reidentification"]["alone"]) == (3, 1)
    assert list(found["inference"]) == ["state"]
    run("risk", table, *NAMED, "--by", "record", "-o", tmp_path / "risks.csv")
    assert len(pd.read_csv(tmp_path / "risks.csv")) == 8
    assert run("risk", table, *NAMED, "--by", "record", "-o", table)[0] == 2


def test_names_of_columns_with_commas(run, tmp_path):
    pd.DataFrame({"city, zip": [1, 1], "age": [2, 2]}).to_csv(tmp_path / "t.csv", index=False)
    for named in [('"city, zip",age',), ("age", "--quasi-identifiers", '"city, zip"')]:
        code, out, _ = run("check", tmp_path / "t.csv", "--quasi-identifiers", *named, "--json")
        assert (code, set(json.loads(out)["quasi_identifiers"])) == (0, {"city, zip", "age"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the columns that others may know, as in --quasi-identifiers age,sex"),
        (("--sensitive", "state"), "name the columns that others may know"),
        (("--quasi-identifiers", "aeg"), "the table has no column 'aeg'; did you mean 'age'?"),
        (("--quasi-identifiers", "age,state", "--sensitive", "state"), "more than one role"),
        ((*NAMED, "--require", "k-anonimity=3"), "unknown; did you mean 'k-anonymity'?"),
        ((*NAMED, "--require", "k-anonymity"), "k-anonymity lacks 'k'; add ,k=..."),
        ((*NAMED, "--require", "k-anonymity=x"), "k = 'x' must be a whole number"),
        ((*NAMED, "--require", "t-closeness=0.2"), "t-closeness lacks 'distance'"),
        ((*NAMED, "--require", "k-anonymity=3,m=4"), "k-anonymity has no parameter 'm'"),
        ((*NAMED, "--require", "k-anonymity=3,m"), "'m' has no value; write m=..."),
        ((*NAMED, "--require", "k-map=3,population=p.csv"), "which only a study names"),
        ((*NAMED, "--require", "k-map=3,population=weights"), "as in --weight sampling_weight"),
        ((*NAMED, "--require", "individual-risk=0.1"), "individual-risk is about the people whom"),
        ((*NAMED, "--weight", "aeg"), "the table has no column 'aeg'; did you mean 'age'?"),
        ((*NAMED, "--weight", "age"), "more than one role"),
        (("--weight", "age"), "name the columns that others may know"),
        (("-s", "study.toml", "--weight", "age"), "--study gives roles, policy and format"),
        (("--quasi-identifiers", "age", "--require", "t-closeness=1,distance=kl"), "sensitive"),
        ((*NAMED, "--missing", "error"), "column 'sex' misses the value of 1 of 8 records"),
        ((*NAMED, "--separator", ","), "the table has no column 'age'"),
        (("-s", "study.toml", *NAMED), "--study gives roles, policy and format"),
    ],
)
def test_mistakes_without_a_study(run, table, arguments, message):
    code, _, err = run("check", table, *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err


def test_a_release_has_roles_and_policy_of_its_own(run, study, tmp_path):
    assert run("run", study, "-o", tmp_path / "out")[0] == 0
    code, out, _ = run("check", tmp_path / "out", "--json")
    found = json.loads(out)
    assert (code, found["quasi_identifiers"]) == (0, ["age", "sex"])
    assert [model["model"] for model in found["privacy"]] == ["k-anonymity"]
    assert run("check", tmp_path / "out", "--require", "k-anonymity=9")[0] == 1
    with (tmp_path / "out" / "released.csv").open("a") as file:
        file.write("\n")
    assert "was changed after it was released" in run("check", tmp_path / "out")[2]
