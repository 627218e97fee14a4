import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import InputError, profile
from anonymizer.profiling import dependence, roles
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.dependence import determined
from anonymizer.profiling.hints import HINTS, hint_of
from anonymizer.risk import undeclared

RNG = np.random.default_rng(0)
PATIENTS = 400
MEDICAL = pd.DataFrame(
    {
        "patient_id": range(PATIENTS),
        "Geburtsdatum": pd.Timestamp("1950-01-01")
        + pd.to_timedelta(RNG.integers(0, 9000, PATIENTS), unit="D"),
        "sex": RNG.choice(["m", "f"], PATIENTS),
        "PLZ": [f"0{number}" for number in RNG.integers(1000, 1030, PATIENTS)],
        "smoker": RNG.choice([True, False], PATIENTS),
        "bmi": RNG.normal(25, 3, PATIENTS).round(0) / 2,
        "severity": pd.Categorical(
            RNG.choice(["low", "high"], PATIENTS), categories=["low", "mid", "high"], ordered=True
        ),
        "comment": [f"came in on day {number} of the year" for number in range(PATIENTS)],
        "ward": [None] * PATIENTS,
        "diagnosis": RNG.choice(["flu", "cold", "asthma"], PATIENTS),
    }
)


def test_kinds_and_roles_of_a_hospital_table():
    found = {column.name: (column.kind, column.role) for column in profile(MEDICAL).columns}
    assert found == {
        "patient_id": ("identifier", "identifier"),
        "Geburtsdatum": ("date", "quasi-identifier"),
        "sex": ("category", "quasi-identifier"),
        "PLZ": ("code", "quasi-identifier"),
        "smoker": ("boolean", "quasi-identifier"),
        "bmi": ("decimal number", "quasi-identifier"),
        "severity": ("ordered category", "quasi-identifier"),
        "comment": ("text", "left out"),
        "ward": ("empty", "left out"),
        "diagnosis": ("category", "sensitive"),
    }


def test_figures_by_hand():
    table = pd.DataFrame({"age": [20, 20, 30, None], "illness": ["a", "a", "a", "b"]})
    age, illness = profile(table).columns
    assert (age.values, age.missing, age.most_common) == (2, 1, 0.5)
    assert age.distinction == 0.75
    assert age.separation == pytest.approx(5 / 6)
    assert (illness.role, illness.most_common) == ("sensitive", 0.75)
    found = profile(table)
    assert (found.records, found.combinations, found.share_alone) == (4, 3, 0.5)
    assert found["age"].why == "by its name it is an age, which others may know"


def test_texts_of_a_csv_file_have_the_kinds_of_their_values():
    texts = MEDICAL.drop(columns=["ward", "severity"]).astype(str)
    expected = profile(MEDICAL)
    assert {column.name: column.kind for column in profile(texts).columns} == {
        name: expected[name].kind for name in texts.columns
    }


@pytest.mark.parametrize(
    ("form", "kind"),
    [("%d.%m.%Y", "date"), ("%m/%d/%Y", "date"), ("%Y-%m-%d %H:%M", "datetime")],
)
def test_dates_in_other_forms(form, kind):
    days = pd.Timestamp("2020-01-01 10:30") + pd.to_timedelta(np.arange(0, 600, 3), unit="D")
    column = ProfiledColumn.of(pd.Series(days.strftime(form), name="seen"))
    assert column.kind == kind
    assert np.ptp(column.moments) == 597 * 86_400


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("Vorname", "a person's name"),
        ("PatientID", "a key of a person"),
        ("code_postal", "a zip or postal code"),
        ("État_civil", None),
        ("País", "a country or nationality"),
        ("fecha_nacimiento", "a date or year of birth"),
        ("education-num", "an education"),
        ("fnlwgt", "a sampling weight"),
        ("salary-class", "an income"),
        ("x17", None),
        ("chronic diseases", "a health condition"),
        ("spent", "an expense"),
        ("totexp", "an expense"),
        ("maried", "a marital status"),
        ("union", "a trade-union membership"),
        ("Wochenstunden", "working hours"),
        ("gas", None),
        ("num_historical_failed_to_pay", None),
        ("total_income", "an income"),
        ("sex.at.birth", "a sex or gender"),
        ("country_of_birth", "a country or nationality"),
        ("birth_date", "a date or year of birth"),
        ("LATITUDE", "a coordinate"),
        ("hiv2004", "a health condition"),
        ("zip3", "a zip or postal code"),
        ("cp1", None),
    ],
)
def test_names_in_several_languages(name, about):
    assert getattr(hint_of(name), "about", None) == about


def test_visits_that_are_counted_are_no_dates():
    days = [f"2024-01-{day:02d}" for day in range(1, 29)]
    assert ProfiledColumn.of(pd.Series(days, name="visits")).hint.about == "a date of an event"
    assert ProfiledColumn.of(pd.Series(range(28), name="visits")).hint is None


def test_numbered_households_are_keys_and_sizes_of_families_are_none():
    codes = pd.Series([f"H{place % 30:02d}" for place in range(60)], name="household")
    assert ProfiledColumn.of(codes).hint.about == "a key of a household"
    sizes = pd.Series([place % 7 for place in range(60)], name="family")
    assert ProfiledColumn.of(sizes).hint.about == "a household"
    children = pd.Series([f"c{place % 30:02d}" for place in range(60)], name="children")
    assert ProfiledColumn.of(children).hint.about == "a household"


def test_an_age_that_repeats_with_a_person_does_not_determine_a_sex():
    """Thirty people of different ages have ten visits each: whoever knows the age finds a sex."""
    ages, sexes = RNG.permutation(30) + 40 + 0.25, RNG.choice([*"FM"], 30)
    people = {"patient": range(30), "age": ages, "sex": sexes, "race": RNG.choice([*"abc"], 30)}
    table = pd.DataFrame({name: np.repeat([*column], 10) for name, column in people.items()})
    found = profile(table.assign(dose=RNG.integers(0, 9, 300)))
    assert found.person == ("patient",)
    assert {"age", "sex", "race"} <= {*found.of_role("quasi-identifier")}


def test_coordinates_are_quasi_identifiers_both_or_none():
    places = {"lon": RNG.uniform(13, 14, 30).repeat(4), "lat": RNG.uniform(52, 53, 30).repeat(4)}
    ages = {"age": RNG.integers(20, 60, 30).repeat(4), "sex": RNG.choice([*"FM"], 30).repeat(4)}
    other = {name: RNG.choice([*"abc"], 120) for name in ("zip", "race", "country", "job")}
    last = {"visit": RNG.choice([*"uvw"], 120), "d": RNG.choice([*"xyz"], 120)}
    table = pd.DataFrame(places | ages | other | last)
    found = profile(table.drop(columns=["country", "job"]))
    assert {"lon", "lat", "age", "sex"} <= {*found.of_role("quasi-identifier")}
    found = profile(table.assign(married=other["zip"], state=other["race"]))
    taken = {*found.of_role("quasi-identifier")}
    assert len(taken & {"lon", "lat"}) in (0, 2)
    assert found.of_role("identifier") == ()


def test_of_sensitive_columns_each_kind_comes_before_a_second_of_one():
    table = pd.DataFrame(
        {
            "chronic diseases": RNG.integers(0, 30, 200),
            "health": RNG.choice(["good", "fair", "poor"], 200),
            "income": RNG.integers(0, 90, 200),
            "age": RNG.integers(20, 60, 200),
        }
    )
    found = profile(table)
    assert found.of_role("sensitive") == ("health", "income")
    assert found["chronic diseases"].why == (
        "by its name it is a health condition; list it as sensitive to release it"
    )


def test_every_word_of_a_hint_is_found_as_it_is_written():
    for hint in HINTS:
        for word in hint.words.split():
            assert hint_of(word) is not None, word


def test_a_column_that_says_the_same_is_left_out_and_its_numbers_give_the_order():
    school = RNG.choice(["none", "basic", "middle", "high"], 200)
    table = pd.DataFrame(
        {
            "school": school,
            "grade": [["none", "basic", "middle", "high"].index(each) for each in school],
            "age": RNG.integers(20, 60, 200),
            "income": RNG.choice(["low", "high"], 200),
        }
    )
    found = profile(table)
    assert found["grade"].role == "left out"
    assert found["grade"].why == (
        "'school' determines it and the other way round, so that one of them is enough"
    )
    assert found.orders == {"school": "grade"}


@given(st.lists(st.integers(0, 4), min_size=60, max_size=80), st.integers(2, 5))
def test_whatever_is_computed_of_a_column_is_determined_by_it(values, classes):
    column = pd.Series(values, name="one")
    other = (column % classes).rename("other")
    found = {
        each.name: each.by
        for each in determined([ProfiledColumn.of(column), ProfiledColumn.of(other)])
    }
    commonest = other.value_counts().max()
    if len(values) - commonest >= 10:
        assert found["other"] == "one"
    else:
        assert "other" not in found


def test_what_risk_finds_undeclared_is_never_proposed_without_a_role():
    found = profile(MEDICAL)
    roles = {column.name: column.role for column in found.columns}
    known = [name for name, role in roles.items() if role == "quasi-identifier"]
    free = [name for name, role in roles.items() if role == "insensitive"]
    rest = [name for name in roles if name not in (*known, *free)]
    assert not undeclared(MEDICAL, list(MEDICAL.columns), known, rest).flagged


def test_of_many_columns_a_few_are_proposed():
    names = [f"q{one}{two}" for one in "bcdfgh" for two in "klmnpqrstv"]
    table = pd.DataFrame({name: RNG.integers(0, 4, 300) for name in names})
    found = profile(table.assign(age=RNG.integers(20, 60, 300)))
    chosen = found.of_role("quasi-identifier")
    assert len(chosen) == 8
    assert "age" in chosen  # a name that says so comes first


def test_roles_that_are_given_are_kept_to():
    found = profile(MEDICAL, sensitive=["smoker"], quasi_identifiers=["sex", "diagnosis"])
    assert found.of_role("sensitive") == ("smoker",)
    assert found.of_role("quasi-identifier") == ("sex", "diagnosis")
    assert found["PLZ"].role == "left out"


@pytest.mark.parametrize(
    ("table", "roles", "message"),
    [
        ([1], {}, "a table must be a pandas DataFrame"),
        (pd.DataFrame({"a": []}), {}, "the table has no records"),
        (pd.DataFrame({1: [1]}), {}, "column names must be texts"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "column 'a' stands more than once"),
        (
            pd.DataFrame({"age": [1]}),
            {"sensitive": ["agee"]},
            "the table has no column 'agee'; did you mean 'age'?",
        ),
        (
            pd.DataFrame({"a": [1]}),
            {"sensitive": ["a"], "identifiers": ["a"]},
            "column 'a' has more than one role",
        ),
        (
            pd.DataFrame({"a": [1]}),
            {"sensitive": ["a"]},
            "name at least one quasi-identifier: every column has another role",
        ),
    ],
)
def test_tables_that_cannot_be_profiled(table, roles, message):
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        profile(table, **roles)


def test_lists_are_left_out_and_a_constant_is_a_quasi_identifier_where_nothing_else_can_be():
    found = profile(pd.DataFrame({"tags": [[1], [2]], "one": ["x", "x"]}))
    assert found["tags"].why == "its values cannot be told apart, as those of lists"
    assert found["one"].role == "quasi-identifier"


def test_json_holds_no_value():
    text = json.dumps(profile(MEDICAL).to_dict())
    for value in ("asthma", "came in on day", "1950", "low"):
        assert value not in text


def test_a_wide_table_has_the_pairs_of_its_likeliest_columns_compared(monkeypatch):
    compared = []
    monkeypatch.setattr(roles, "determined", lambda columns, _: compared.extend(columns) or [])
    names = [f"c{one}{two}" for one in "bcdfghjkmn" for two in "bcdfghjkmnpqrtv"]
    wide = {name: RNG.integers(0, 3, 40) for name in names}
    found = profile(pd.DataFrame({**wide, "age": RNG.integers(0, 90, 40)}))
    assert len(compared) == roles.MOST_COMPARED
    assert {"age", *found.of_role("quasi-identifier")} <= {column.name for column in compared}


@pytest.mark.parametrize("records", [900, 100])
def test_a_key_is_looked_at_by_all_records_of_some_values(monkeypatch, records):
    """Of 3,000 records of 1,000 people one of thirty shows hardly anybody twice."""
    monkeypatch.setattr(dependence, "SAMPLED", records)
    monkeypatch.setattr(dependence, "COMPARED", 30)
    who = np.arange(3000) // 3
    table = pd.DataFrame({"ref": 7919 * who % 10_007, "age": 20 + who % 5, "noise": who % 7})
    table = table.sample(frac=1, random_state=1, ignore_index=True)
    ref, age, noise = (ProfiledColumn.of(table[name]) for name in table)
    assert dependence.tells(ref, age)
    assert not dependence.tells(noise, age)


DRAWN = np.random.default_rng(7)
FEWER = pd.DataFrame(
    {
        name: DRAWN.choice(values, 200)
        for name, values in {
            "age": [20, 30, 40, 50],
            "sex": ["f", "m"],
            "zip": ["01067", "01069", "10115"],
            "shift": [*"abcde"],
            "colour": ["red", "blue", "green", "grey"],
            "ill": ["flu", "cold", "hip"],
        }.items()
    }
)


def test_fewer_quasi_identifiers_never_release_what_a_name_says_people_know():
    roles = profile(FEWER, sensitive=["ill"], max_quasi_identifiers=2)
    assert roles.of_role("quasi-identifier") == ("age", "sex")
    assert roles["zip"].role == "left out"
    assert roles["zip"].why.startswith("left out after 2 other quasi-identifiers")
    assert roles.of_role("insensitive") == ("shift", "colour")
    beyond = [column.name for column in roles.columns if column.why.beyond]
    assert beyond == ["shift", "colour"]
    assert "released as it is" in roles[beyond[0]].why
    assert "insensitive" not in {
        column.role for column in profile(FEWER, sensitive=["ill"]).columns
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_quasi_identifiers": 0}, "max_quasi_identifiers = 0 must be a whole number of at"),
        (
            {"max_quasi_identifiers": 2, "quasi_identifiers": ["age"]},
            "the quasi-identifiers are chosen already, and need no number; leave max-quasi-ident",
        ),
    ],
)
def test_numbers_of_quasi_identifiers_that_say_nothing(given, message):
    with pytest.raises(InputError, match=message):
        profile(FEWER, **given)
