"""Persons who have several records, and values that find one: what is warned of, with figures."""

import json
import re
import shutil
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer import (
    Anonymizer,
    DistinctLDiversity,
    FullDomain,
    Hierarchy,
    KAnonymity,
    check,
    load_census,
)
from anonymizer.cli import main
from anonymizer.release import person_warnings
from anonymizer.release.fitting import fitted
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.report.page import report_of
from anonymizer.risk.audit import audit_files
from anonymizer.risk.check import check_file
from anonymizer.risk.file import Subject, assess_file
from anonymizer.tables.relations.frames import relation_of
from tests.engines import KINDS, kinds_with

REPEATED, SHARED, VALUES = "repeated-identifier", "shared-identifier", "identifying-values"


def told(warnings, code):
    return [each for each in warnings if each.code == code]


def visits(people=40, times=5):
    """Whoever comes several times is alone in a class, with all of the diagnoses."""
    rows = [
        {"patient": f"P{n}", "age": 20 + n, "sex": "fm"[n % 2], "illness": "abc"[visit % 3]}
        for n in range(people)
        for visit in range(times)
    ]
    return pd.DataFrame(rows)


def estimator(**options):
    given = {
        "quasi_identifiers": {"age": Hierarchy.ranges(widths=[10, 50]), "sex": "suppress"},
        "sensitive": "illness",
        "privacy": [KAnonymity(5), DistinctLDiversity(3)],
        "identifiers": ["patient"],
    }
    return Anonymizer(**{**given, **options})


def figures_of(table, classes, key, k):
    """Fewest people of a class, and classes of which one has more than 1/k: plain Python."""
    members = defaultdict(Counter)
    for row in table[[*classes, key]].itertuples(index=False):
        members[row[:-1]][row[-1]] += 1
    fewest = min(map(len, members.values()))
    crowded = sum(max(of.values()) * k > sum(of.values()) for of in members.values())
    return fewest, crowded, len(members)


# By hand


def test_each_class_is_one_person():
    release = estimator().fit(visits()).release_
    (public,) = told(release.manifest.warnings, REPEATED)
    assert (public.count, public.of) == (0, 0)
    assert public.message == (
        "class sizes count records, not people, and by column 'patient' some people have several; "
        "no model promises anything about them, unless the column is given as person in [data] "
        "(Python: person=), or one record of each is kept"
    )
    (found,) = told(release.warnings, REPEATED)
    assert (found.column, found.count, found.of) == ("patient", 40, 200)
    assert found.message == (
        "class sizes count records, not people; by column 'patient' the smallest class has 1 "
        "person, and in 40 of 40 classes one person has more than 1/5 of the records (40 in all, "
        "of 200 records); no model promises anything about who has several: give the column as "
        "person in [data] (Python: person=), so that the policy is about persons, or keep one "
        "record of each"
    )


def test_the_same_of_a_table_as_it_is():
    models = [KAnonymity(5)]
    (found,) = told(check(visits(), ["age", "sex"], "illness", models).warnings, REPEATED)
    assert "smallest class has 1 person, and in 40 of 40 classes" in found.message


def test_one_record_of_each_is_no_matter():
    table = visits(40, 1)
    how = estimator(privacy=[KAnonymity(5)])
    assert not told(how.fit(table).release_.warnings, REPEATED)
    assert not told(check(table, ["age", "sex"], "illness").warnings, REPEATED)


@pytest.mark.parametrize("nobody", [None, "", "unknown", "N/A"])
def test_who_has_no_number_counts_as_a_person_each(nobody):
    table = visits(40, 5)
    table.loc[table.index % 5 > 0, "patient"] = nobody
    assert not told(estimator().fit(table).release_.warnings, REPEATED)


@pytest.mark.parametrize(
    ("column", "values", "unit"),
    [
        ("hhid", lambda n: n, "1 household"),
        ("whatever", lambda n: f"p{n}@example.org", "1 person"),
        ("x9", lambda n: f"+49 30 {123456 + n}", "1 person"),
        ("key", lambda n: 7919 * n % 100_003, "1 person"),
        ("x1", lambda n: f"{n * 7919 % 1000}-{n}", "1 person"),
        ("x2", lambda n: 7919 * n % 100_003, "1 person"),  # since it tells age and sex
    ],
)
@pytest.mark.parametrize("left_out", [True, False])
def test_keys_by_name_by_values_and_by_what_they_tell(column, values, unit, left_out):
    table = visits()
    table[column] = [values(n // 5) for n in range(len(table))]
    how = estimator(identifiers=["patient", column] if left_out else ["patient"])
    table["patient"] = range(len(table))  # no key: one for each record
    (found,) = told(how.fit(table).release_.warnings, REPEATED)
    assert found.column == column
    assert f"the smallest class has {unit}" in found.message


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("clinic_name", lambda n: f"clinic {n % 37}"),
        ("num_open_cc_accounts", lambda n: n % 37),
        ("first_name", lambda n: f"{'KLMTR'[n % 5]}{'aeiouyx'[n % 7]}m"),
        ("school_id", lambda n: n % 37),
        ("born", lambda n: 2026 - n // 5),
        ("months", lambda n: 12 * (20 + n // 5) + n % 7),  # a finer form of the age
        ("noise", lambda n: n % 37),
        ("empty", lambda n: None),
        ("lists", lambda n: [n]),
    ],
)
def test_what_repeats_and_is_no_key(column, values):
    table = visits()
    table[column] = [values(n) for n in range(len(table))]
    table["patient"] = range(len(table))
    for left_out in (["patient", column], ["patient"]):
        assert not told(estimator(identifiers=left_out).fit(table).release_.warnings, REPEATED)


def test_a_case_is_a_person_and_a_case_status_is_not():
    table = visits()
    table["case"] = np.arange(len(table)) % 2
    assert [w.column for w in told(estimator().fit(table).release_.warnings, REPEATED)] == [
        "patient"
    ]


def test_two_keys_of_the_same_people_are_told_of_once():
    table = visits()
    table["mrn"] = table["patient"].str[1:].astype(int) * 17
    how = estimator(identifiers=["mrn", "patient"])
    assert [w.column for w in told(how.fit(table).release_.warnings, REPEATED)] == ["mrn"]


# Where the policy is about persons


def test_no_warning_of_the_column_by_which_the_policy_counts_persons():
    release = estimator(identifiers=(), person="patient", privacy=[KAnonymity(2)]).fit(visits())
    for warnings in (release.release_.warnings, release.release_.manifest.warnings):
        assert not told(warnings, REPEATED)
        assert not told(warnings, SHARED)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("mrn", lambda n: 17 * n),  # another number of each person
        ("visit_of_whom", lambda n: 7919 * n % 100_003),
        ("x", lambda n: f"p{n}@example.org"),
        ("clinic", lambda n: n % 7),
        ("ref", lambda n: n // 2),  # it tells an age less than a person does
    ],
)
def test_no_warning_of_what_tells_no_more_than_persons(column, values):
    table = visits()
    table[column] = [values(n // 5) for n in range(len(table))]
    how = estimator(identifiers=[column], person="patient", privacy=[KAnonymity(2)])
    assert not told(how.fit(table).release_.warnings, REPEATED)
    assert not told(how.fit(table).release_.warnings, SHARED)


def test_a_household_is_several_of_the_persons():
    """Two of each of 20 live together, a woman and a man: five households in each of 8 classes."""
    table = visits().assign(hhid=lambda t: t.index // 10)
    how = estimator(identifiers=["hhid"], person="patient", privacy=[KAnonymity(5)])
    release = how.fit(table).release_
    (found,) = told(release.warnings, SHARED)
    assert not told(release.warnings, REPEATED)
    decades = table.assign(age=table["age"] // 10)
    fewest, crowded, classes = figures_of(decades, ["age", "sex"], "hhid", 5)
    assert (found.count, found.of, fewest, crowded, classes) == (20, 40, 5, 0, 8)
    assert found.message == (
        "classes count those whom person tells apart; by column 'hhid' the smallest class has 5 "
        "households, and in 0 of 8 classes one household has more than 1/5 of the records (20 in "
        "all, of 40 persons); no model promises anything about who is several of them: give the "
        "column as person in [data] (Python: person=) instead, if the policy shall be about these"
    )
    (public,) = told(release.manifest.warnings, SHARED)
    assert (public.count, public.of) == (0, 0)
    assert public.message.startswith(
        "classes count those whom person tells apart, and by column 'hhid' several of them are one "
        "person, or of one household; no model promises"
    )


def test_whom_a_key_of_visits_takes_for_several():
    """The key of persons stays a warning where another column was given for it."""
    table = visits().assign(visit=range(200))
    how = estimator(identifiers=["patient"], person="visit", privacy=[KAnonymity(5)])
    (found,) = told(how.fit(table).release_.warnings, SHARED)
    assert (found.column, found.count, found.of) == ("patient", 40, 200)
    assert "the smallest class has 1 person, and in 40 of 40 classes" in found.message


@pytest.mark.parametrize("kind", KINDS)
def test_households_of_persons_wherever_a_table_lies(kind):
    table = visits().assign(hhid=lambda t: t.index // 10)
    relation = relation_of(KINDS[kind](pa.Table.from_pandas(table)))
    how = estimator(identifiers=["hhid"], person="patient", privacy=[KAnonymity(5)])
    (found,) = told(fitted(how, relation).release.warnings, SHARED)
    assert (found.column, found.count, found.of) == ("hhid", 20, 40)


@settings(max_examples=at_length(20, 40), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 8), st.integers(0, 3)), min_size=30),
    st.integers(1, 3),
)
def test_persons_of_several_households_are_counted_by_hand(rows, k):
    """An oracle: a warning where some household has two of the persons, and no other one."""
    table = pd.DataFrame(rows, columns=["q", "who", "hhid"]).astype({"hhid": str})
    how = Anonymizer({"q": "suppress"}, (), [KAnonymity(k)], identifiers=["hhid"], person="who")
    if table["who"].nunique() < k or table["who"].value_counts().max() * k > len(table):
        return
    found = told(how.fit(table).release_.warnings, SHARED)
    persons = table.groupby("hhid")["who"].nunique()
    if len(persons) < 3 or persons.max() == 1:
        assert not found
        return
    assert [(each.count, each.of) for each in found] == [(len(persons), table["who"].nunique())]


def test_more_persons_than_memory_holds_are_not_examined_class_by_class(monkeypatch):
    monkeypatch.setattr(person_warnings, "is_countable", lambda *_: False)
    table = visits().assign(hhid=lambda t: t.index // 10, mrn=lambda t: 17 * (t.index // 5))
    relation = relation_of(pa.Table.from_pandas(table))
    how = estimator(identifiers=["mrn", "hhid"], person="patient", privacy=[KAnonymity(5)])
    (found,) = told(fitted(how, relation).release.warnings, SHARED)
    assert (found.column, found.count, found.of) == ("hhid", 20, 40)
    assert "how many households a class has is not examined" in found.message


def test_the_census_and_its_release_have_neither():
    table = load_census()
    how = Anonymizer(
        {"age": Hierarchy.ranges(widths=[5, 20]), "sex": "suppress", "race": "suppress"},
        "marital-status",
        [KAnonymity(5)],
    )
    warnings = (*how.fit(table).release_.warnings, *check(table, ["age", "sex"]).warnings)
    assert not {each.code for each in warnings} & {REPEATED, VALUES}


# Laws


@settings(max_examples=at_length(30, 60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=20, max_size=40),
    st.integers(2, 6),
)
def test_figures_are_those_of_whoever_counts_people(rows, k):
    """An oracle in plain Python; no warning where nobody has two records."""
    table = pd.DataFrame(rows, columns=["q", "patient"]).astype({"patient": str})
    table["patient"] = "P0" + table["patient"]
    found = told(check(table, "q", (), [KAnonymity(k)]).warnings, REPEATED)
    people = table["patient"].nunique()
    if people == len(table) or people < 3:  # two codes are no key of persons
        assert not found
        return
    fewest, crowded, classes = figures_of(table, ["q"], "patient", k)
    assert (found[0].count, found[0].of) == (people, len(table))
    noun = "person" if fewest == 1 else "people"
    assert f"smallest class has {fewest} {noun}, and in {crowded} of {classes} " in found[0].message


@settings(max_examples=at_length(20, 40), deadline=None)
@given(st.integers(0, 10_000))
def test_without_a_crowded_class_k_people_share_each(seed):
    """Where nobody has more than 1/k of any class, k-anonymity holds of people."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"q": rng.integers(0, 2, 60), "patient": rng.integers(0, 50, 60)})
    fewest, crowded, _ = figures_of(table, ["q"], "patient", 5)
    (found,) = told(check(table, "q", (), [KAnonymity(5)]).warnings, REPEATED)
    assert (" in 0 of " in found.message) == (crowded == 0)
    assert crowded or fewest >= 5


# Wherever a table lies


def shuffled(seed=3):
    table = visits(60, 5).sample(frac=1, random_state=seed, ignore_index=True)
    table["mail"] = [f"m{n}@example.org" if n % 9 == 0 else "none" for n in range(len(table))]
    table["ref"] = table["patient"].str[1:].astype(int) * 7919 % 100_003
    table["noise"] = np.random.default_rng(seed).integers(0, 90, len(table))
    return table


LYING = kinds_with([150, 1 << 16])
"""Of Spark the households above are enough: its queries take seconds."""


@pytest.mark.parametrize(("kind", "few"), LYING)
def test_the_same_wherever_a_table_lies(monkeypatch, kind, few):
    """``ref`` tells age and sex; figures are counted in all records, whatever is looked at."""
    monkeypatch.setattr(person_warnings, "FEW", few)
    table = shuffled()
    how = estimator(privacy=[KAnonymity(12)])
    known = how.fit(table).release_.warnings
    relation = relation_of(KINDS[kind](pa.Table.from_pandas(table)))
    found = fitted(estimator(privacy=[KAnonymity(12)]), relation).release.warnings
    assert [w.column for w in told(known, REPEATED)] == ["patient"]
    assert told(found, REPEATED) == told(known, REPEATED)
    assert (
        [w.column for w in told(found, VALUES)]
        == ["mail"]
        == [w.column for w in told(known, VALUES)]
    )
    without = table.drop(columns="patient")
    alone = relation_of(KINDS[kind](pa.Table.from_pandas(without)))
    (warning,) = told(fitted(estimator(identifiers=()), alone).release.warnings, REPEATED)
    assert warning.column == "ref"
    assert "the smallest class has 1 person" in warning.message


def test_more_people_than_memory_holds_are_not_examined_class_by_class(monkeypatch):
    monkeypatch.setattr(person_warnings, "is_countable", lambda *_: False)
    relation = relation_of(pa.Table.from_pandas(visits()))
    (found,) = told(fitted(estimator(), relation).release.warnings, REPEATED)
    assert (found.count, found.of) == (40, 200)
    assert "how many people a class has is not examined" in found.message


# Values that find a person


@pytest.mark.parametrize(
    ("column", "kind"),
    [("note", "e-mail addresses"), ("illness", "IBANs"), ("job", "URLs")],
)
def test_values_in_any_column_that_is_shown(column, kind):
    """A column without a role, a sensitive one, and a quasi-identifier that is kept."""
    values = {
        "e-mail addresses": "kim@example.org",
        "IBANs": "DE89370400440532013000",
        "URLs": "https://example.org/kim",
    }
    table = pd.DataFrame({"job": ["a", "b"] * 6, "illness": "abc" * 4, "note": "x"})
    table["illness"] = list("abc" * 4)
    table.loc[:4, column] = values[kind]
    how = Anonymizer({"job": "suppress"}, "illness", [KAnonymity(2)], identifiers=())
    (found,) = told(how.fit(table).release_.warnings, VALUES)
    assert (found.column, found.count) == (column, 1)
    assert f"values of '{column}' are {kind}, which find a person" in found.message
    assert values[kind] not in found.message
    assert told(check(table, "job", "illness").warnings, VALUES) == [found]


LONE = "values of 'city' are of one record each, which find a person by themselves; list the column"


@pytest.mark.parametrize(
    ("cities", "count", "of"),
    [
        (["Tinyville", *["Paris"] * 39], 1, 2),
        (["A", "B", *["Paris"] * 20, *["Rome"] * 18], 2, 4),
        ([True, *[False] * 39], 1, 2),
        ([None, *["Paris"] * 39], 0, 0),  # a gap is nobody's city
        (["unknown", *["Paris"] * 39], 0, 0),
        ([1970, *[1971] * 39], 0, 0),
        (["1970", *["1971"] * 39], 0, 0),
        (["2024-01-01", *["2024-01-02"] * 39], 0, 0),
        (["Rome"] * 20 + ["Paris"] * 20, 0, 0),
        ([f"village {n}" for n in range(40)], 0, 0),  # nearly-unique-column has it
        (["kim@example.org", *["none"] * 39], 0, 0),  # of which its kind is said
    ],
)
@pytest.mark.parametrize("kind", ["pandas", "arrow", "counted"])
def test_a_city_of_one_person(monkeypatch, kind, cities, count, of):
    """In a table in memory, one that lies elsewhere, and one of which some records are seen."""
    monkeypatch.setattr(person_warnings, "FEW", 20 if kind == "counted" else 1 << 16)
    table = pd.DataFrame({"q": ["a", "b"] * 20, "illness": [*"abcd"] * 10, "city": cities})
    how = Anonymizer({"q": "suppress"}, "illness", [KAnonymity(5)])
    given = table if kind == "pandas" else pa.Table.from_pandas(table)
    release = how.fit(given).release_
    for warnings in (release.warnings, release.manifest.warnings):
        found = [each for each in told(warnings, VALUES) if "of one record" in each.message]
        assert [(each.column, each.count, each.of) for each in found] == (
            [("city", count, of)] if of else []
        )
        assert all(LONE in each.message for each in found)
    lone = [each for each in check(given, "q", "illness").warnings if LONE in each.message]
    assert len(lone) == bool(of)


def test_a_value_is_alone_among_the_released_records():
    """Two people of Tinyville: the one who is suppressed leaves the other one alone there."""
    table = pd.DataFrame({"q": ["c", *["a", "b"] * 20], "w": "x", "city": "Paris"})
    table.loc[:1, "city"] = "Tinyville"
    how = Anonymizer({"q": "suppress"}, (), [KAnonymity(5)], recoding=FullDomain(suppression=0.1))
    release = how.fit(table).release_
    assert (release.suppressed, release.suppressed_class) == (1, "removed")
    (found,) = told(release.warnings, VALUES)
    assert (found.column, found.count, found.of) == ("city", 1, 2)


@pytest.mark.parametrize("kind", ["arrow", "duckdb"])
@pytest.mark.parametrize("remove", [False, True])
def test_only_values_of_released_records_are_shown(kind, remove):
    """A note that finds a person, of a record that is alone in its class: it is kept or removed."""
    table = pd.DataFrame({"job": ["a"] * 19 + ["b"], "illness": list("abcd") * 5, "note": "x"})
    table.loc[19, "note"] = "kim@example.org"
    how = Anonymizer(
        {"job": "suppress"},
        "illness",
        [KAnonymity(5 if remove else 1)],
        identifiers=(),
        recoding=FullDomain(suppression=0.1, remove=True),
    )
    relation = relation_of(KINDS[kind](pa.Table.from_pandas(table)))
    release = fitted(how, relation).release
    assert release.released == (19 if remove else 20)
    assert bool(told(release.warnings, VALUES)) == (not remove)


def test_what_is_left_out_is_not_shown():
    table = visits()
    table["patient"] = [f"m{n}@example.org" for n in range(len(table))]
    assert not told(estimator().fit(table).release_.warnings, VALUES)


# Wherever somebody looks


STUDY = """
[data]
path = "visits.csv"
[quasi-identifiers]
age = { widths = [10, 50] }
sex = "suppress"
[sensitive]
attributes = "illness"
[identifiers]
attributes = "patient"
[[privacy]]
model = "k-anonymity"
k = 5
[recoding]
method = "full-domain"
"""


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    place = tmp_path_factory.mktemp("visits")
    visits().to_csv(place / "visits.csv", index=False)
    (place / "study.toml").write_text(STUDY)
    publish(Study(place / "study.toml"), place / "release")
    return place


def test_the_report_speaks_of_records(released):
    whole = report_of(released / "release", form="markdown", steward=True).decode()
    assert "Class sizes count records, not people; by column 'patient' the smallest class" in whole
    text = report_of(released / "release", form="markdown").decode()
    assert "Class sizes count records, not people, and by column 'patient' some people" in text
    assert "Every record shares the released values of age and sex with at least 4 others" in text
    assert "It is about records, of which some people have several." in text
    assert "of people, nothing is promised" in text
    assert "The smallest class has 5 records." in text
    assert "| Highest: of the record that is easiest to find | 20%, 1 in 5 |" in text
    assert not re.search(r"Every person|\d people|that person|Each record counts as one p", text)


def test_a_report_on_one_record_each_speaks_of_people(tmp_path):
    table = visits().drop_duplicates("patient").assign(patient=range(40))
    table.to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    publish(Study(tmp_path / "study.toml"), tmp_path / "release")
    text = report_of(tmp_path / "release", form="markdown").decode()
    assert "Every person shares the released values of age and sex with at least 4" in text
    assert "Each record counts as one person" in text


@pytest.mark.parametrize("steward", [True, False])
def test_verify_repeats_what_the_manifest_reports(released, steward):
    found = verify_release(released / "release", steward=steward)
    assert found.satisfied
    (warning,) = found.warnings
    assert "(repeated-identifier): class sizes count records, not people" in str(warning)
    assert found.to_dict()["warnings"] == [str(warning)]


@pytest.mark.parametrize("steward", [True, False])
@pytest.mark.parametrize("by_study", [True, False])
def test_check_and_risk_repeat_it_of_a_release(released, tmp_path, steward, by_study):
    """As verify does: with the figures where the steward's file is there, and without elsewhere."""
    place = released / "release"
    if not steward:
        place = shutil.copytree(place, tmp_path / "release")
    study = Study(released / "study.toml")
    subject = Subject.of_study(study, place) if by_study else Subject.of_release(place)
    (known,) = verify_release(place).warnings
    assert ("40 of 40 classes" in str(known), "some people have" in str(known)) == (
        steward,
        not steward,
    )
    for found in (check_file(subject), assess_file(subject)):
        (warning,) = told(found.warnings, REPEATED)
        assert str(warning) == str(known)
        (listed,) = [each for each in found.to_dict()["warnings"] if each["code"] == REPEATED]
        assert listed == {
            "code": REPEATED,
            "column": "patient",
            "count": 40 if steward else 0,
            "of": 200 if steward else 0,
            "message": known.message,
        }


def test_check_of_a_release_is_strict_about_it(released, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["check", str(released / "release"), "--strict"])
    assert stop.value.code == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "(repeated-identifier): class sizes count records, not people; by column" in said


def test_a_steward_s_file_of_another_release_is_passed_over(released, tmp_path):
    place = shutil.copytree(released / "release", tmp_path / "release")
    text = (released / "release.steward.json").read_text()
    for release, count in ((None, 40), ("0" * 64, 0)):
        whole = json.loads(text)
        whole["release"] = release or whole["release"]
        (tmp_path / "release.steward.json").write_text(json.dumps(whole))
        (warning,) = told(check_file(Subject.of_release(place)).warnings, REPEATED)
        assert warning.count == count


def test_verify_sees_a_key_in_a_table_without_a_manifest(released, tmp_path):
    shown = STUDY.replace('[identifiers]\nattributes = "patient"\n', "")
    (tmp_path / "study.toml").write_text(shown)
    visits().to_csv(tmp_path / "visits.csv", index=False)
    found = verify_release(tmp_path / "visits.csv", tmp_path / "study.toml")
    assert found.satisfied
    said = " ".join(map(str, found.warnings))
    assert "by column 'patient' the smallest class has 1 person" in said


def test_an_audit_does_not_end_in_a_plain_yes(released, capsys):
    places = [released / name for name in ("release", "visits.csv", "study.toml")]
    found = audit_files([places[0]], [places[1]], studies=[Study(places[2])])
    assert (found.satisfied, found.repeated) == (True, ["patient"])
    assert told(found.releases[0].warnings, REPEATED)[0].count == 40
    given = ["audit", places[0], "--against", places[1], "--study", places[2]]
    with pytest.raises(SystemExit) as stop:
        main([str(each) for each in given])
    assert stop.value.code == 3
    out, err = capsys.readouterr()
    assert "WARNING (repeated-identifier): class sizes count records, not people" in err
    said = " ".join(out.split())
    assert "It is a policy about records: not examined is what is disclosed of people" in said


def test_an_audit_of_a_manifest_that_says_nothing_counts_itself(released, tmp_path):
    shutil.copytree(released / "release", tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    manifest["warnings"] = []
    (tmp_path / "release" / "release.json").write_text(json.dumps(manifest))
    found = audit_files([tmp_path / "release"], [released / "visits.csv"])
    assert found.repeated == ["patient"]


def test_risk_and_init_warn(released, capsys, tmp_path):
    study = Study(released / "study.toml")
    found = assess_file(Subject.of_study(study, released / "visits.csv"))
    assert "smallest class has 1 person" in told(found.warnings, REPEATED)[0].message
    assert found.to_dict()["warnings"][0]["code"] == REPEATED
    warned = ["init", str(released / "visits.csv"), "-o", str(tmp_path / "draft"), "--yes"]
    for more in ((), ("--person", "-")):
        with pytest.raises(SystemExit) as stop:
            main([*warned, *more, "--force"])
        assert stop.value.code == 0
        said = " ".join(capsys.readouterr().err.split())
        assert bool(said) == bool(more)
    assert (
        "WARNING (repeated-identifier): class sizes count records, not people; by column 'patient' "
        "there are fewer people than records (40 in all, of 200 records); no model promises"
    ) in said


OF_PERSONS = STUDY.replace('"visits.csv"', '"visits.csv"\nperson = "patient"').replace(
    '"patient"\n[[privacy]]', '"hhid"\n[[privacy]]'
)


@pytest.fixture(scope="module")
def of_persons(tmp_path_factory):
    """A release under a policy about persons, two of whom share a household."""
    place = tmp_path_factory.mktemp("persons")
    visits().assign(hhid=lambda t: t.index // 10).to_csv(place / "visits.csv", index=False)
    (place / "study.toml").write_text(OF_PERSONS)
    publish(Study(place / "study.toml"), place / "release")
    return place


def test_nobody_is_warned_of_the_persons_of_whom_a_policy_knows(of_persons, tmp_path, capsys):
    """By run, verify, check and risk of the release and of the raw table, audit, and the report."""
    release, study = of_persons / "release", of_persons / "study.toml"
    raw = of_persons / "visits.csv"
    for arguments in (
        ["run", study, "--output", tmp_path / "again"],
        ["verify", release],
        ["verify", release, "--study", study, "--original", raw],
        ["check", release],
        ["check", raw, "--study", study],
        ["risk", release],
        ["risk", raw, "--study", study],
        ["audit", release, "--against", raw, "--study", study],
    ):
        with pytest.raises(SystemExit):
            main([*map(str, arguments)])
        out, err = capsys.readouterr()
        said = " ".join([out, err])
        assert f"WARNING ({REPEATED})" not in said, arguments
        assert f"WARNING ({SHARED})" in said, arguments
    for steward, words in ((True, "the smallest class has 5 households"), (False, "several of")):
        text = report_of(release, form="markdown", steward=steward).decode()
        assert "lass sizes count records" not in text
        assert f"by column 'hhid' {words}" in text


def test_init_warns_of_the_households_of_persons(of_persons, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["init", str(of_persons / "visits.csv"), "-o", str(tmp_path / "draft"), "--yes"])
    assert stop.value.code == 0
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "WARNING (shared-identifier): classes count those whom person tells apart; by column "
        "'hhid' there are fewer households than persons (20 in all, of 40 persons); no model "
    ) in said
    assert REPEATED not in said
