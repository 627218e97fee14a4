"""Which column has the sampling weights: by name and values, and what only looks like one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import InputError, profile
from anonymizer.profiling import weights
from anonymizer.profiling.hints import hint_of
from anonymizer.release.study import Study

PEOPLE = 200
RNG = np.random.default_rng(3)


def survey(**columns):
    """People of a survey, and further columns of them."""
    rows = {
        "age": RNG.integers(18, 90, PEOPLE),
        "sex": RNG.choice(["f", "m"], PEOPLE),
        "vote": RNG.choice(["red", "green", "blue"], PEOPLE),
    }
    return pd.DataFrame({**rows, **columns})


STRATA = RNG.choice([80.5, 120.25, 310], PEOPLE)
NUMBERS = RNG.integers(12_285, 1_484_705, PEOPLE)
BODIES = RNG.normal(75, 14, PEOPLE).round(1)
MEAN = np.r_[RNG.uniform(0.2, 1.8, PEOPLE - 1), 0]
MEAN[-1] = PEOPLE - MEAN.sum()


@pytest.mark.parametrize(
    "name",
    [
        *("fnlwgt", "WGT", "sampling_weight", "pspwght", "dweight", "PERWT", "SurveyWeight"),
        *("final_weight", "Gewichtung", "pond\u00e9ration", "design-weight", "wtssall"),
    ],
)
def test_names_of_sampling_weights(name):
    assert hint_of(name).about == "a sampling weight"
    found = profile(survey(**{name: BODIES}))
    assert found.weight == name
    assert found[name].why == (
        "by its name it is a sampling weight, and every value is a number above 0"
    )


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (STRATA, "few records have a value of their own, as in strata"),
        (NUMBERS, "its values are numbers of people"),
        (MEAN, "its mean is 1"),
        ([f"{each}" for each in STRATA], "few records have a value of their own, as in strata"),
    ],
    ids=["strata", "numbers", "mean", "texts"],
)
@pytest.mark.parametrize("name", ["weight", "wt", "w", "Gewicht", "poids"])
def test_what_is_called_a_weight_has_to_look_like_one(name, values, why):
    found = profile(survey(**{name: values}))
    assert found.weight == name
    assert found[name].why == f"it is called a weight, and {why}"


@pytest.mark.parametrize(
    "columns",
    [
        {"weight": BODIES},
        {"weight": BODIES.round()},
        {"weight": np.round(STRATA)},
        {"weight": RNG.normal(3400, 500, PEOPLE).round()},
        {"weight": STRATA, "height": RNG.normal(170, 10, PEOPLE).round()},
        {"weight": MEAN, "BMI": RNG.normal(25, 4, PEOPLE).round(1)},
        {"weight_kg": NUMBERS},
        {"strain": STRATA},
        {"fnlwgt": np.where(NUMBERS.max() > NUMBERS, NUMBERS, 0)},
        {"fnlwgt": np.where(NUMBERS.max() > NUMBERS, NUMBERS, -1)},
        {"fnlwgt": pd.Series(NUMBERS).where(NUMBERS.max() > NUMBERS)},
        {"fnlwgt": [f"stratum {each}" for each in STRATA]},
        {"weight": np.full(PEOPLE, 1.0)},
        {"hhwt": NUMBERS},
        {"household_weights": STRATA},
    ],
)
def test_what_is_no_sampling_weight(columns):
    assert profile(survey(**columns)).weight is None


def test_weights_may_be_the_same_and_those_of_households_are_left_out():
    found = profile(survey(sampling_weight=100, household_weights=STRATA))
    assert found.weight == "sampling_weight"
    assert found["household_weights"].role == "left out"


def test_weights_of_no_people_are_others():
    """Lorries have a weight of some 10,000 kilograms, too."""
    assert profile(survey(weight=NUMBERS).drop(columns=["age", "sex"])).weight is None


def test_of_several_weights_the_first_is_taken_that_has_no_other_role():
    table = survey(dweight=STRATA, pspwght=BODIES)
    assert profile(table).weight == "dweight"
    assert profile(table)["pspwght"].role == "left out"
    assert profile(table, identifiers=["dweight"]).weight == "pspwght"
    assert profile(table, quasi_identifiers=["age", "dweight"])["dweight"].role == (
        "quasi-identifier"
    )


def test_weights_that_tell_sex_and_age_are_no_key_of_persons():
    """Weights of whole numbers by cells of age and sex repeat, and tell both."""
    table = survey()
    cell = table["age"] * 2 + (table["sex"] == "f")
    found = profile(table.assign(w=20_000 + 7919 * cell))
    assert (found.weight, found.person) == ("w", ())


def test_persons_of_several_records_have_no_weight():
    visits = pd.concat([survey(fnlwgt=NUMBERS, patient=range(PEOPLE))] * 2, ignore_index=True)
    found = profile(visits)
    assert (found.person, found.weight, found["fnlwgt"].role) == (("patient",), None, "left out")
    assert profile(visits, person=[]).weight == "fnlwgt"
    assert profile(visits.drop(columns="patient"), person=["age"]).weight is None
    assert Study.draft(visits).schema.weight is None


def test_very_many_different_weights_are_not_counted(monkeypatch):
    monkeypatch.setattr(weights, "COUNTED", PEOPLE - 1)
    found = profile(survey(fnlwgt=NUMBERS))
    assert (found.weight, found["fnlwgt"].role) == (None, "left out")
    assert profile(survey(fnlwgt=STRATA)).weight == "fnlwgt"


def test_a_draft_says_what_the_weight_does_and_runs():
    table = survey(w=STRATA)
    study = Study.draft(table)
    words = " ".join(study.text.replace("\n# ", " ").split())
    assert (
        'For how many people each record stands: models with population = "weights" are about '
        "these. The release leaves the column out. If it is no such weight, delete this line and "
        "give the column a line below. w: it is called a weight, and few records have a value of "
        'their own, as in strata. weight = "w"'
    ) in words
    assert (study.schema.weight, study.schema.identifiers) == ("w", ())
    released = study.anonymizer().fit_transform(table)
    assert [*released.columns] == ["age", "sex", "vote"]


def test_without_the_line_the_column_has_no_role_and_is_refused(tmp_path):
    table = survey(w=STRATA)
    path = Study.draft(table).write(tmp_path)
    path.write_text(path.read_text().replace('weight = "w"\n', ""))
    with pytest.raises(InputError, match="columns that have no role: 'w'"):
        Study(path).anonymizer().fit(table)


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.25, 12.0]), min_size=2, max_size=9))
def test_a_weight_that_is_found_is_one_that_a_release_takes(values):
    """A study with the line runs wherever it does without it."""
    table = pd.DataFrame({"age": 20, "fnlwgt": values})
    table.loc[0, "age"] = 30
    assert (profile(table).weight == "fnlwgt") == (min(values) > 0)
