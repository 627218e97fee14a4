"""Whose each record is: keys of persons by hand, by brute force, and what is none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer import InputError, profile
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.hints import hint_of, unit_of
from anonymizer.profiling.persons import belongs_to, is_time, key_of_persons, together

PEOPLE, TIMES = 60, 4
RNG = np.random.default_rng(7)


def visits(**columns):
    """Four visits of each of 60 people, in random order; ``columns``: of a person and a visit."""
    who, when = np.divmod(np.arange(PEOPLE * TIMES), TIMES)
    rows = {
        "age": 20 + who % 50,
        "sex": np.where(who % 2, "m", "f"),
        "illness": RNG.choice(["flu", "cold", "asthma"], len(who)),
    }
    found = {
        name: [of(int(n), int(t)) for n, t in zip(who, when, strict=True)]
        for name, of in columns.items()
    }
    return pd.DataFrame({**found, **rows}).sample(frac=1, random_state=3, ignore_index=True)


def key_in(table, taken=()):
    found = key_of_persons([ProfiledColumn.of(table[name]) for name in table], taken)
    return () if found is None else found.names


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("patient", lambda n, t: f"P{n:03}", "by its name it is a key of a person"),
        ("PatID", lambda n, t: 1000 + 7 * n, "by its name it is a key of a person"),
        ("id", lambda n, t: n, "by its name it is a key of records"),
        ("idcode", lambda n, t: n, "by its name it is a key of records"),
        ("ssn", lambda n, t: 7919 * n + 10**8, "by its name it is a social security or passport"),
        ("x", lambda n, t: f"kim{n}@example.org", "its values are e-mail addresses (60 of 60"),
        ("ref", lambda n, t: 7919 * n % 10_007, "it repeats and tells 'age'"),
        ("name", lambda n, t: f"Nemo{n} Nobody", "it repeats and tells 'age'"),
    ],
)
def test_signs_of_a_key(name, value, why):
    found = profile(visits(**{name: value}))
    assert found.person == (name,)
    assert found[name].why.startswith(why)
    assert (found.units, found.most_records) == (PEOPLE, TIMES)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("patient", lambda n, t: TIMES * n + t),  # one record of each
        ("patient", lambda n, t: None if (n, t) == (3, 1) else n),
        ("patient", lambda n, t: "unknown" if n == 3 else f"P{n}"),
        ("patient", lambda n, t: n % 2),  # no key, but a state
        ("hhid", lambda n, t: n // 3),
        ("school_id", lambda n, t: n // 2),
        ("schoolid", lambda n, t: n // 2),
        ("visit_id", lambda n, t: 2 * n + t // 2),
        ("encounter", lambda n, t: 2 * n + t // 2),  # although it tells an age
        ("phone", lambda n, t: f"+49 30 {123456 + n // 2}"),
        ("account_length", lambda n, t: 7 * n % 53),
        ("weight", lambda n, t: 60 + n * 0.37),  # measured, whatever it tells
        ("note", lambda n, t: [n]),
    ],
)
def test_what_is_no_key_of_persons(name, value):
    assert profile(visits(**{name: value})).person == ()


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("subject", 16, True),
        ("id", 16, True),
        ("ID", 3, True),
        ("id", 2, False),
        ("key", 16, False),
    ],
)
def test_few_persons_have_a_key_whose_name_says_so(name, values, found):
    """Sixteen people who were looked at fifteen times each: their numbers are no ages."""
    who = np.arange(240) % values
    table = pd.DataFrame({name: who + 1, "score": RNG.integers(0, 9, 240), "hour": np.arange(240)})
    assert profile(table).person == ((name,) if found else ())


def test_a_first_name_tells_a_sex_and_is_no_key():
    names = {"name": lambda n, t: f"{'KLMTR'[n // 2 % 5]}{'aeiou'[n // 10 % 5]}{'ma'[n % 2]}"}
    assert profile(visits(**names).drop(columns="age")).person == ()


def test_of_several_keys_the_surest_is_taken():
    table = visits(
        ref=lambda n, t: 7919 * n % 10_007,
        x=lambda n, t: f"kim{n}@example.org",
        id=lambda n, t: n,
        subject=lambda n, t: 500 + n,
    )
    for name in ("subject", "id", "x", "ref"):
        assert key_in(table) == (name,)
        table = table.drop(columns=name)
    assert key_in(table) == ()


def test_those_who_are_served_are_more_than_the_staff():
    table = visits(employee=lambda n, t: n % 25, customer=lambda n, t: n)
    assert key_in(table) == ("customer",)


def test_who_has_several_cases_is_one_person():
    """Each case is of one patient, so that a case is a part of a person."""
    table = visits(case=lambda n, t: 2 * n + t // 2, patient=lambda n, t: n)
    assert key_in(table) == ("patient",)
    assert key_in(table, ["patient"]) == ("case",)


def test_namesakes_do_not_make_a_coarser_key():
    """Of two keys by name the one that joins two of 60 people names the same ones."""
    table = visits(subject=lambda n, t: max(n, 2), patient=lambda n, t: n)
    assert key_in(table) == ("patient",)


def test_what_is_called_the_key_of_a_person_is_one_whatever_else_is_told():
    """Sexes at random: they may be those of children. Another key is none then."""
    table = visits(patient=lambda n, t: n)
    table["sex"] = np.random.default_rng(5).choice(["f", "m"], len(table))
    assert key_in(table) == ("patient",)
    assert key_in(table.rename(columns={"patient": "id"})) == ()


# Persons who are numbered within something


def households(waves=1, **columns):
    """Members of 100 households of three, in each of some waves."""
    home, rest = np.divmod(np.arange(300 * waves), 3 * waves)
    table = pd.DataFrame(
        {
            "hhid": 1000 + home,
            "person": 1 + rest % 3,
            "sex": np.where((home * 7 + rest % 3 * 5) % 4 < 2, "m", "f"),
            "income": RNG.integers(0, 50, len(home)),
            "wave": rest // 3,
        }
    )
    return table.rename(columns=columns)


def test_a_number_within_a_household_is_that_of_a_person_with_the_household():
    found = profile(households(waves=3))
    assert found.person == ("hhid", "person")
    assert found["person"].why == "'hhid' and 'person' tell persons apart only together"
    assert (found.units, found.most_records) == (300, 3)
    assert profile(households(waves=3).drop(columns="sex")).person == ("hhid", "person")


def test_members_who_have_one_record_each_need_no_key():
    assert profile(households()).person == ()
    assert profile(households(hhid="SERIAL", person="PERNUM")).person == ()


def test_a_number_that_begins_anew_in_each_centre():
    """What a person has all along says that a number alone is that of several."""
    table = visits(centre=lambda n, t: "AB"[n % 2], id=lambda n, t: n // 2)
    assert set(key_in(table)) == {"centre", "id"}
    assert key_in(table.drop(columns="sex")) == ("id",)  # nothing says so
    assert key_in(table, ["centre"]) == ()


# Records of different times


def panel(**columns):
    """A panel without a name that says who is in it: 50 in each of 8 years."""
    who, year = np.divmod(np.arange(400), 8)
    found = {
        "nr": 7919 * who % 10_007,
        "year": 1980 + year,
        "ethn": np.array(["a", "b", "c"])[who * 7 % 3],
        "wage": RNG.normal(9, 2, 400).round(2),
    }
    return pd.DataFrame({**found, **{name: of(who, year) for name, of in columns.items()}})


def test_one_record_of_each_year_is_that_of_somebody():
    found = profile(panel())
    assert found.person == ("nr",)
    assert found["nr"].why == (
        "it has one record of each 'year' and tells 'ethn', as the key of somebody does who was "
        "seen several times"
    )


@pytest.mark.parametrize(
    "table",
    [
        panel().drop(columns="ethn"),  # nothing is told
        panel().drop(columns="year"),
        panel(year=lambda who, year: 1980 + (who * year) % 3),  # several of a year
        panel().rename(columns={"nr": "rank"}),
        panel().rename(columns={"nr": "storeid"}),
        panel(nr=lambda who, year: who % 16),  # too few to be a key
    ],
)
def test_what_is_no_panel(table):
    assert profile(table).person == ()


@pytest.mark.parametrize(
    ("name", "values", "time"),
    [
        ("year", [1980, 1981], True),
        ("VisitDate", ["a", "b"], True),
        ("seen", ["2024-01-31", "2024-02-01"], True),
        ("birth_date", ["1970-01-31", "1970-02-01"], False),
        ("age", [20, 21], False),
        ("x", [1, 2], False),
    ],
)
def test_times_by_name_and_by_values(name, values, time):
    assert is_time(ProfiledColumn.of(pd.Series(values, name=name))) == time


def test_words_for_a_number_stand_by_themselves():
    assert unit_of("userid") == unit_of("SubjectNo") == unit_of("PATIENTID") == "person"
    assert hint_of("casino") is None
    assert unit_of("visitid") is unit_of("schoolid") is None


# Brute force and laws


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=40))
def test_values_that_belong_to_one_of_another_column(pairs):
    table = pd.DataFrame(pairs, columns=["a", "b"])
    one, other = (ProfiledColumn.of(table[name]) for name in table)
    expected = (table.groupby("a")["b"].nunique() == 1).all()  # 2 % of seven values are none
    assert belongs_to(one.codes, other.codes) == expected
    assert len(set(together([one, other]))) == len(table.drop_duplicates())


@settings(max_examples=at_length(15, 30), deadline=None)
@given(st.permutations(range(PEOPLE)), st.integers(0, 99))
def test_it_does_not_matter_what_persons_are_called_or_in_which_order_they_stand(order, seed):
    table = visits(ref=lambda n, t: 1000 + 7 * n, noise=lambda n, t: (n * 7 + t * 5) % 23)
    renamed = table.assign(ref=[1000 + 7 * order[(each - 1000) // 7] for each in table["ref"]])
    shuffled = renamed.sample(frac=1, random_state=seed, ignore_index=True)
    assert key_in(table) == key_in(renamed) == key_in(shuffled) == ("ref",)


@settings(max_examples=at_length(30, 60), deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["id", "patient", "x", "hhid", "nr", "mail"]),
    st.sampled_from(["person", "centre", "year", "sex", "age"]),
    st.integers(2, 300),
)
def test_every_record_says_whose_it_is_and_somebody_has_several(seed, one, other, records):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            one: rng.integers(0, rng.integers(2, 200), records),
            other: rng.integers(0, rng.integers(2, 9), records),
            "y": rng.choice(["a", "b", None], records),
        }
    )
    names = [*key_in(table)]
    if names:
        assert not table[names].isna().any().any()
        assert 1 < len(table[names].drop_duplicates()) < records


# What is given


def test_what_is_given_is_kept_to():
    table = visits(patient=lambda n, t: n, encounter=lambda n, t: 2 * n + t // 2)
    assert profile(table).person == ("patient",)
    assert profile(table, person=[]).person == ()
    assert profile(table, person=[])["patient"].role == "identifier"
    assert profile(table, person="encounter").person == ("encounter",)
    assert profile(table, person="encounter")["encounter"].why == "you chose it"
    assert profile(table, quasi_identifiers=["patient", "age"]).person == ()
    assert profile(table, sensitive=["patient"]).person == ()
    both = profile(table, person=["patient", "sex"])
    assert (both.person, both.units) == (("patient", "sex"), PEOPLE)


def test_a_key_that_is_named_an_identifier_tells_persons_apart_as_well():
    table = visits(patient=lambda n, t: n)
    assert profile(table, identifiers=["patient"]).person == ("patient",)
    assert profile(table, identifiers=["patient"], person="patient").person == ("patient",)
    assert profile(table, identifiers=["patient"], person=[])["patient"].role == "identifier"


@pytest.mark.parametrize(
    ("columns", "given", "message"),
    [
        ({}, {"person": "patien"}, r"the table has no column 'patien'; did you mean 'patient'\?"),
        (
            {"patient": lambda n, t: None if n < 2 else n},
            {"person": "patient"},
            "column 'patient', which tells persons apart, misses the value of 8 of 240 records; "
            "leave these records out, or give each person among them a value",
        ),
        (
            {"patient": lambda n, t: [n]},
            {"person": "patient"},
            "the values of column 'patient' cannot be told apart, as those of lists",
        ),
        ({}, {"person": "patient", "sensitive": ["patient"]}, "'patient' has more than one role"),
        ({}, {"person": 3}, "person must name a column or a list of columns, not 3"),
    ],
)
def test_keys_that_cannot_be_given(columns, given, message):
    table = visits(**{"patient": lambda n, t: n, **columns})
    with pytest.raises(InputError, match=message):
        profile(table, **given)


def test_json_says_how_many_persons_there_are():
    found = profile(visits(patient=lambda n, t: f"P{n}")).to_dict()
    assert (found["person"], found["persons"], found["most_records"]) == (["patient"], 60, 4)
    alone = profile(visits(patient=lambda n, t: f"P{n}-{t}")).to_dict()
    assert (alone["person"], alone["persons"], alone["most_records"]) == ([], None, None)


def test_a_study_needs_a_quasi_identifier_before_it_needs_a_key():
    table = visits(patient=lambda n, t: n)[["patient", "illness"]]
    roles = {each.name: each.role for each in profile(table).columns}
    assert roles == {"patient": "person", "illness": "quasi-identifier"}
    alone = profile(table[["patient"]])
    assert (alone.person, alone.of_role("quasi-identifier")) == ((), ("patient",))
