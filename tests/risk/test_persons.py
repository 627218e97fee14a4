"""Persons who have several records of a table as it stands: what check and risk say of them.

Every figure is counted once more in plain Python, record by record (``persons``).
"""

import json
from collections import Counter

import numpy as np
import pandas as pd
import persons as oracle
import pyarrow as pa
import pytest
from engines import KINDS
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import (
    AlphaKAnonymity,
    AverageReidentificationRisk,
    EntropyLDiversity,
    InputError,
    KAnonymity,
    KMap,
    TCloseness,
    check,
)
from anonymizer.privacy import LargestShare, events
from anonymizer.risk import assess
from anonymizer.risk.file import Subject, assess_file

SECRETS = ("Nemo",)
TABLE = pd.DataFrame(
    {
        "who": [f"Nemo{name}" for name in "aabbcddd"],
        "age": [20, 20, 20, 30, 30, 40, 40, 40],
        "w": ["flu", "flu", "cold", "cold", "flu", "flu", "flu", "cold"],
    }
)
"""Class 20 has two records of a and one of b, 30 one of b and one of c, 40 three of d."""


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records = draw(st.integers(1, 40))
    return pd.DataFrame(
        {
            "who": rng.integers(0, draw(st.integers(1, 12)), records),
            "age": rng.integers(0, draw(st.integers(1, 6)), records),
            "sex": rng.choice(["f", "m"], records),
            "w": rng.choice(["x", "y", "z"], records, p=[0.6, 0.3, 0.1]),
        }
    )


def records_of(table: pd.DataFrame, names: list[str]) -> list[oracle.Record]:
    rows = table[names].itertuples(index=False, name=None)
    return oracle.records_of([*rows], table["w"].tolist(), table["who"].tolist())


def risk_of(table: object) -> object:
    """The figures of a risk as JSON has them."""
    return json.loads(json.dumps(assess(table, "age", "w", person="who").to_dict()))


# check


def test_a_check_by_hand():
    """Of the four persons two thirds have flu, and one of the two in class 20, and in class 30."""
    found = check(TABLE, "age", "w", [KAnonymity(2)], person="who")
    assert (found.records, found.persons, found.classes) == (8, 4, 3)
    assert (found.k, found.k_of, found.largest_share) == (1, "persons", 1)  # class 40 is d's
    verdicts = [(each.model.name, each.worst, each.violating) for each in found.privacy]
    assert verdicts == [("person-k-anonymity", 1, 1), ("largest-share", 1, 2)]
    assert found.violating_records == [3, 6]  # 40; 20 of which two thirds are a's, and 40
    assert found.risk == {
        "sample_uniqueness": 1 / 4,  # d
        "prosecutor_highest": 1,
        "prosecutor_average": pytest.approx((2 * 1 / 2 + 2 * 1 / 2 + 1) / 5),
    }
    about = found.sensitive["w"]
    assert about["alpha"] == pytest.approx(2 / 3)
    assert about["t_equal"] == pytest.approx(2 / 3 - 1 / 2)
    by_records = check(TABLE, "age", "w", [KAnonymity(2)])
    assert (by_records.k, by_records.k_of, by_records.persons) == (2, "records", None)
    assert by_records.satisfied
    assert by_records.sensitive["w"]["t_equal"] == pytest.approx(5 / 8 - 1 / 2)


@given(tables())
def test_a_check_by_plain_python(table):
    models = [KAnonymity(2), LargestShare(0.4), TCloseness(0.2, "equal"), EntropyLDiversity(1.5)]
    found = check(table, ["age", "sex"], "w", models, person="who")
    records = records_of(table, ["age", "sex"])
    measures = [
        (oracle.persons, True, 2),
        (oracle.largest_share, False, 0.4),
        (oracle.distance, False, 0.2),
        (oracle.effective, True, 1.5),
    ]
    worst = [oracle.worst(measure, records, least) for measure, least, _ in measures]
    assert [each.worst for each in found.privacy] == pytest.approx(worst, abs=1e-9)
    assert (found.k, found.largest_share) == (worst[0], pytest.approx(worst[1]))
    about = found.sensitive["w"]
    assert (about["t_equal"], about["entropy_l"]) == pytest.approx(tuple(worst[2:]), abs=1e-9)
    assert about["alpha"] == pytest.approx(oracle.worst(oracle.likeliest, records, False))
    for (measure, least, bound), number in zip(measures, found.violating_records, strict=True):
        breaking = [
            group
            for group in oracle.classes_of(records)
            if (oracle.of_class(measure, group, records, least) < bound - 1e-9 if least else
                oracle.of_class(measure, group, records, least) > bound + 1e-9)
        ]  # fmt: skip
        assert number == sum(map(len, breaking))


@pytest.mark.parametrize("kind", ["arrow", "duckdb", "polars"])
def test_tables_of_every_kind_are_checked_and_measured_alike(kind):
    other = KINDS[kind](pa.Table.from_pandas(TABLE))
    found, expected = (
        check(table, "age", "w", [KAnonymity(2)], person="who") for table in (other, TABLE)
    )
    assert found.privacy == expected.privacy
    assert (found.k, found.persons, found.risk) == (1, 4, expected.risk)
    assert risk_of(other) == risk_of(TABLE)


def test_several_columns_tell_persons_apart():
    parts = TABLE.assign(clinic="Nemo", number=TABLE["who"].str[4:]).drop(columns="who")
    several = check(parts, "age", "w", person=["clinic", "number"])
    assert (several.persons, several.k, several.largest_share) == (4, 1, 1)


def test_a_person_for_each_record_changes_no_figure():
    own = TABLE.assign(who=range(8))
    one, other = check(own, "age", "w", person="who"), check(TABLE[["age", "w"]], "age", "w")
    assert (one.k, one.risk, one.sensitive) == (
        other.k,
        pytest.approx(dict(other.risk)),
        {"w": pytest.approx(dict(other.sensitive["w"]))},
    )
    risk, records = assess(own, "age", "w", person="who"), assess(own, "age", "w")
    assert risk.reidentification.measures.to_dict() == pytest.approx(
        records.reidentification.measures.to_dict()
    )


def test_a_population_holds_the_persons():
    """Of class 20 two persons of six, of 30 two of two, of 40 one of four."""
    people = pd.DataFrame({"age": [20] * 6 + [30] * 2 + [40] * 4})
    found = check(TABLE, "age", "w", [KMap(2, people)], person="who")
    assert found.satisfied
    assert found.risk["journalist_highest"] == 1 / 2
    assert found.risk["marketer"] == pytest.approx((2 / 6 + 2 / 2 + 1 / 4) / 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"person": "whom"}, "the table has no column 'whom'; did you mean 'who'?"),
        ({"person": "age"}, "column 'age' has more than one role"),
        ({"person": 3}, "person must name a column or a list of columns"),
        (
            {"table": TABLE.assign(who=TABLE["who"].where(TABLE["age"] < 40))},
            "column 'who', which tells persons apart, misses the value of 3 of 8 records",
        ),
        ({"privacy": [AlphaKAnonymity(0.5, 5)]}, "k = 5 counts records, of which persons have"),
        ({"privacy": [AverageReidentificationRisk(0.1)]}, "counts records, and what it means of"),
    ],
)
def test_what_cannot_be_checked_of_persons(arguments, message):
    given = {"table": TABLE, "quasi_identifiers": "age", "sensitive": "w", "person": "who"}
    with pytest.raises(InputError, match=message) as error:
        check(**given | arguments)
    assert "Nemo" not in str(error.value)
    if "privacy" not in arguments:
        with pytest.raises(InputError, match=message):
            assess(**given | arguments)


# risk


def test_a_risk_by_hand():
    """Who knows two records of a knows that both are of class 20, where b has one alone."""
    found = assess(TABLE, "age", "w", person="who").to_dict()
    persons = found["persons"]
    assert persons.pop("events") == [
        {"known": 1, "fewest": 1, "share_alone": 1 / 4, "share_below_k": None},
        {"known": 2, "fewest": 1, "share_alone": 3 / 4, "share_below_k": None},
        {"known": 3, "fewest": 1, "share_alone": 3 / 4, "share_below_k": None},
    ]
    assert persons.pop("composition") == {
        "known": None,
        "fewest": 1,
        "share_alone": 1,
        "share_below_k": None,
    }
    expected = {"persons": 4, "k": 1, "largest_share": 1, "average": 3 / 5, "alone": 1}
    assert persons == expected
    assert (found["reidentification"]["alone"], found["reidentification"]["average"]) == (1, 0.6)
    assert found["reidentification"]["max_posterior"] == 1
    assert found["inference"]["w"]["guessed"] == pytest.approx(2 / 3)
    assert (found["records"], found["inference"]["w"]["records"]) == (8, 8)
    by_class = assess(TABLE, "age", "w", person="who").by_class()
    assert by_class[["records", "persons"]].to_numpy().tolist() == [[3, 2], [2, 2], [3, 1]]
    assert by_class["posterior"].tolist() == pytest.approx([2 / 3, 1 / 2, 1])


@given(tables())
def test_a_risk_by_plain_python(table):
    found = assess(table, ["age", "sex"], "w", person="who").to_dict()
    records = records_of(table, ["age", "sex"])
    groups = [Counter(each.person for each in group) for group in oracle.classes_of(records)]
    assert found["persons"]["k"] == min(map(len, groups))
    assert found["persons"]["alone"] == len(
        {person for group in groups for person in group if len(group) == 1}
    )
    assert found["persons"]["average"] == pytest.approx(len(groups) / sum(map(len, groups)))
    assert found["persons"]["largest_share"] == pytest.approx(
        oracle.worst(oracle.largest_share, records, False)
    )
    measured = found["inference"]["w"]
    assert measured["max_posterior"] == pytest.approx(
        max(oracle.likeliest(group, records) for group in oracle.classes_of(records))
    )
    right = sum(
        max(oracle.shares(group).values()) * sum(each.weight for each in group)
        for group in oracle.classes_of(records)
    )
    assert measured["guessed"] == pytest.approx(float(right / table["who"].nunique()))


def test_a_wide_file_is_read_column_by_column(tmp_path):
    wide = TABLE.assign(**{f"c{number}": 1 for number in range(70)})
    wide.to_parquet(tmp_path / "wide.parquet")
    names = ["age", *(f"c{number}" for number in range(70))]
    subject = Subject.of_names(tmp_path / "wide.parquet", names, ["w"], person=["who"])
    found = assess_file(subject).assessment.to_dict()
    assert json.loads(json.dumps(found)) == risk_of(TABLE)
    wide["who"] = wide["who"].where(wide["age"] < 40)
    wide.to_parquet(tmp_path / "wide.parquet")
    with pytest.raises(InputError, match="misses the value of 3 of 8 records"):
        assess_file(subject)


# The command line


STUDY = """\
[data]
path = "visits.csv"
person = "who"
[quasi-identifiers]
age = "suppress"
[sensitive]
attributes = ["w"]
[[privacy]]
model = "k-anonymity"
k = 2
[[privacy]]
model = "t-closeness"
distance = "equal"
t = 0.5
"""
NAMED = ("--quasi-identifiers", "age", "--sensitive", "w", "--person", "who")


@pytest.fixture
def visits(tmp_path):
    TABLE.to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "visits.csv"


def test_check_says_what_it_counts(run, visits):
    code, out, _ = run("check", visits, *NAMED, "--require", "k-anonymity=2")
    said = " ".join(out.split())
    assert code == 1
    assert "8 records of 4 persons in 3 equivalence classes" in said
    assert "the smallest of 1 person: k = 1 person." in said
    assert "One person has up to 100.00% of the records of a class." in said
    assert "records in them" in said
    assert "persons alone in a class" in said
    found = json.loads(run("check", visits, *NAMED, "--require", "k-anonymity=2", "--json")[1])
    assert (found["k"], found["k_of"], found["persons"], found["largest_share"]) == (
        1,
        "persons",
        4,
        1,
    )
    assert [each["violating_records"] for each in found["privacy"]] == [3, 6]
    assert found["unexamined"] == []


def test_a_study_says_whose_each_record_is(run, visits):
    code, out, _ = run("check", visits, "--study", visits.with_name("study.toml"), "--json")
    found = json.loads(out)
    assert (code, found["k"], found["persons"]) == (1, 1, 4)
    names = ["person-k-anonymity", "t-closeness", "largest-share"]
    assert [each["model"] for each in found["privacy"]] == names
    out = run("risk", visits, "--study", visits.with_name("study.toml"), "--json")[1]
    assert [each["share_below_k"] for each in json.loads(out)["persons"]["events"]] == [
        1 / 4,
        3 / 4,
        3 / 4,
    ]


def test_risk_counts_persons(run, visits):
    code, out, _ = run("risk", visits, *NAMED, "--by", "attribute")
    said = " ".join(out.split())
    assert code == 0
    assert "8 records of 4 people in 3 equivalence classes." in said
    assert "1 person has a class to themselves" in said
    assert "Subsets of attributes are ranked by what they tell of records" in said
    assert "not declared, but identifying" not in said  # who is declared
    assert "of the persons" in said


def test_too_many_choices_are_said_to_be_left_out(run, visits, monkeypatch):
    monkeypatch.setattr(events, "MOST_CHOICES", 0)
    out = run("risk", visits, *NAMED)[1]
    assert "Not examined is who knows 2 or more of them" in " ".join(out.split())


def test_a_release_does_not_show_persons(run, visits, tmp_path):
    """Its policy holds of persons, and nobody sees that in the folder."""
    study = visits.with_name("study.toml")
    assert run("run", study, "--output", tmp_path / "out")[0] == 0
    for roles in ((), ("--study", study)):
        code, out, _ = run("check", tmp_path / "out", *roles)
        said = " ".join(out.split())
        assert code == 3
        assert "Not examined: person-k-anonymity, t-closeness, largest-share." in said
        assert "No policy was given" not in said
        found = json.loads(run("check", tmp_path / "out", *roles, "--json")[1])
        assert found["unexamined"] == ["person-k-anonymity", "t-closeness", "largest-share"]
        assert (found["satisfied"], found["privacy"], found["k_of"]) == (False, [], "records")
    assert run("check", tmp_path / "out", "--require", "k-anonymity=2")[0] == 0
    assert run("check", tmp_path / "out", "--require", "k-anonymity=9")[0] == 1
    assert "does not show whose its records are" in " ".join(
        run("risk", tmp_path / "out")[1].split()
    )
    assert json.loads(run("risk", tmp_path / "out", "--json")[1])["hides_persons"]


@pytest.mark.parametrize("command", ["check", "risk"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--study", "study.toml", "--person", "who"), "--study gives roles, policy and format"),
        (("--person", "who"), "name the columns that others may know"),
        ((*NAMED[:-1], "hwo"), "the table has no column 'hwo'; did you mean 'who'?"),
        ((*NAMED[:-1], "w"), "column 'w' has more than one role"),
    ],
)
def test_mistakes(run, visits, command, given, message):
    code, _, err = run(command, visits, *given)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err
