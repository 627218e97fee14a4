import re
from math import floor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import InputError, Study, load_census
from anonymizer.profiling import policy
from anonymizer.profiling.policy import size_of

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "name": [f"Nemo{number}" for number in range(300)],
        "age": RNG.integers(18, 80, 300),
        "größe": RNG.normal(170, 9, 300).round(1),
        "city": RNG.choice(["Ulm", "Bonn", "Jena", "Rarity"], 300, p=[0.5, 0.3, 0.19, 0.01]),
        "diagnosis": RNG.choice(["flu", "cold", "asthma"], 300),
    }
)


def test_a_draft_runs_as_it_stands():
    study = Study.draft(PEOPLE)
    released = study.anonymizer().fit_transform(PEOPLE)
    assert "name" not in released
    assert released.groupby(["age", "größe", "city"]).size().min() >= 5
    assert study.schema.sensitive == ("diagnosis",)


def test_a_draft_counts_values_that_read_alike_as_one():
    """Six spellings of four values: half of what four allow is required, not of six."""
    spelled = np.array(["flu", "Flu", "FLU ", "cold", "asthma", "HIV"])[np.arange(300) % 6]
    table = PEOPLE.assign(diagnosis=spelled)
    study = Study.draft(table)
    (least,) = (model.l for model in study.privacy if hasattr(model, "l"))
    shares = np.array([3, 1, 1, 1]) / 6
    assert least == floor((1 + (2 ** -(shares * np.log2(shares)).sum() - 1) / 2) * 100) / 100
    assert len(study.anonymizer().fit_transform(table)) == 300


def test_what_is_written_is_the_same_study(tmp_path):
    drafted = Study.draft(PEOPLE)
    path = drafted.write(tmp_path / "study")
    PEOPLE.to_csv(tmp_path / "study" / "table.csv", index=False)
    read = Study(path)
    assert read.fingerprint == drafted.fingerprint
    assert path.read_text(encoding="utf-8") == drafted.text
    assert read.document == drafted.document


def test_long_hierarchies_get_files_of_their_own(tmp_path):
    census = load_census()
    drafted = Study.draft(census)
    path = drafted.write(tmp_path / "study")
    assert (tmp_path / "study" / "hierarchies" / "occupation.toml").exists()
    assert Study(path).hierarchies["occupation"].describe() == (
        drafted.hierarchies["occupation"].describe()
    )


def test_comments_say_why_and_never_what_few_records_have():
    text = Study.draft(PEOPLE).text
    assert "# age: whole number, 62 values; by its name it is an age" in text
    assert "name: by its name it is a person's name." in text
    assert "Nemo" not in text
    assert (PEOPLE["city"] == "Rarity").sum() < 5
    assert "Rarity" not in text
    assert "Ulm" in text


def test_a_study_is_replaced_by_force_alone_with_its_hierarchies(tmp_path):
    Study.draft(load_census()).write(tmp_path)
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(InputError, match=r"already holds a study, study.toml; --force replaces it"):
        Study.draft(PEOPLE).write(tmp_path)
    Study.draft(PEOPLE[["age", "diagnosis"]]).write(tmp_path, force=True)
    assert {path.name for path in tmp_path.iterdir()} == {"study.toml", "mine.txt"}


def test_nothing_is_half_written(tmp_path, monkeypatch):
    from anonymizer.release import output

    def fail(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output, "flush", fail)
    with pytest.raises(InputError, match=r"No space left on device; nothing was written"):
        Study.draft(load_census()).write(tmp_path / "study")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("records", "k"), [(3, 2), (100, 3), (5000, 5), (10**6, 10)])
def test_k_grows_with_the_table(records, k):
    assert size_of(records) == k


def test_thresholds_are_those_of_the_table_halfway():
    table = pd.DataFrame({"age": [20, 30, 40, 50] * 10, "illness": ["a", "b"] * 20})
    models = Study.draft(table).document.privacy
    assert models == ({"model": "k-anonymity", "k": 3}, {"model": "entropy-l-diversity", "l": 1.5})


def test_skewed_and_numeric_sensitive_attributes_get_closeness():
    table = PEOPLE[["age"]].assign(
        income=RNG.integers(1000, 9000, 300), hiv=["no"] * 285 + ["yes"] * 15
    )
    models = Study.draft(table).document.privacy
    assert [
        (model.get("attribute"), model["model"], model.get("distance")) for model in models
    ] == [
        (None, "k-anonymity", None),
        ("income", "t-closeness", "ordered"),
        ("hiv", "t-closeness", "equal"),
    ]


def test_wishes_are_kept_to():
    study = Study.draft(PEOPLE, k=7, quasi_identifiers=["city"], sensitive=[], identifiers=["age"])
    assert study.schema.quasi_identifiers == ("city",)
    assert study.schema.sensitive == ()
    assert "age" in study.schema.identifiers
    assert study.document.privacy == ({"model": "k-anonymity", "k": 7},)


@pytest.mark.parametrize(
    ("table", "wishes", "message"),
    [
        (PEOPLE.head(1), {}, "the table has 1 record; nobody can be hidden among others in it"),
        (PEOPLE.head(4), {"k": 5}, "k = 5 is more than the 4 records of the table"),
        (
            PEOPLE.assign(patient=np.arange(300) // 3),
            {"k": 101},
            "k = 101 is more than the 100 persons of the table",
        ),
        (
            PEOPLE.assign(patient=1),
            {"person": "patient"},
            "the table has 1 person; nobody can be hidden among others in it",
        ),
    ],
)
def test_tables_of_which_no_study_can_be_drafted(table, wishes, message):
    with pytest.raises(InputError, match=message):
        Study.draft(table, **wishes)


columns = st.sampled_from(
    [
        lambda rng, n: rng.integers(0, 90, n),
        lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, rng.normal(0, 1, n)),
        lambda rng, n: rng.choice(["a", "b", None, "dd"], n),
        lambda rng, n: rng.choice([True, False], n),
        lambda rng, n: pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        lambda rng, n: [f"{code:05}" for code in rng.integers(0, 99, n)],
        lambda rng, n: pd.Categorical(rng.choice(["x", "y"], n), ["x", "y", "z"], ordered=True),
        lambda rng, n: [None] * n,
        lambda rng, n: ["constant"] * n,
        lambda rng, n: [f"text number {number}" for number in range(n)],
    ]
)
names = st.sampled_from(
    ["age", "x", "größe", "", "a b", 'q"uote', "line\nbreak", "diagnosis", "id"]
)


@given(
    st.dictionaries(names, columns, min_size=1, max_size=6), st.integers(2, 90), st.integers(0, 9)
)
def test_any_table_is_drafted_and_runs(kinds, records, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({name: column(rng, records) for name, column in kinds.items()})
    study = Study.draft(table)
    released = study.anonymizer().fit_transform(table)
    assert len(released) <= records
    levels = study.anonymizer().set_params(recoding="full-domain").fit(table)
    assert all(verdict.satisfied for verdict in levels.release_.privacy)


def test_hierarchies_of_others_are_not_replaced_even_by_force(tmp_path):
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies" / "town.csv").write_text("by hand")
    with pytest.raises(InputError, match=r"hierarchies holds 'town.csv', .* choose another dir"):
        Study.draft(PEOPLE[["age", "diagnosis"]]).write(tmp_path, force=True)
    assert [path.name for path in tmp_path.rglob("*.*")] == ["town.csv"]


@pytest.mark.parametrize(("sizes", "method"), [(5, "boxes"), (2000, "full-domain")])
def test_many_sensitive_numbers_are_boxed_where_combinations_are_few(sizes, method):
    """Combinations by incomes: 10 by 2,000, and 2,000 by 2,000."""
    places = np.arange(2000)
    table = pd.DataFrame(
        {"sex": places // sizes % 2, "size": places % sizes, "income": places * 10.5}
    )
    study = Study.draft(table, quasi_identifiers=["sex", "size"], sensitive=["income"])
    assert f'\nmethod = "{method}"\n' in study.text


def test_boxes_name_no_value_that_few_people_have():
    """A code, a category and a decimal that one person has are in no label of a drafted release."""
    rng = np.random.default_rng(3)
    size = 600
    zips = [f"{each:05d}" for each in 10_000 + 7 * rng.integers(0, 40, size)]
    towns = rng.choice(["Ulm", "Bonn", "Kiel", "Jena"], size).astype(object)
    zips[0], towns[0] = "98765", "Trier"
    table = pd.DataFrame(
        {
            "zip": zips,
            "town": towns,
            "height": rng.normal(170, 10, size).round(3),
            "disease": rng.choice(["a", "b", "c"], size),
        }
    )
    study = Study.draft(table, sensitive=["disease"], quasi_identifiers=["zip", "town", "height"])
    assert '\nmethod = "boxes"\n' in study.text
    released = study.anonymizer().fit_transform(table)
    assert released["height"].nunique() > 2
    shown = " ".join(map(str, released[["zip", "town", "height"]].to_numpy().ravel()))
    own = {f"{each:g}" for each in table["height"]}
    assert not {"98765", "Trier"} & set(re.findall(r"\w+", shown))
    assert not own & set(re.findall(r"\d+[.]\d+", shown))


def visited(seed=48):
    """Encounters of 100 people, five each; the keys of persons have names that say nothing."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(100):
        known = {
            "kontaktinfo": f"kim{person}@example.org",
            "ref": f"{200 + person}-{10 + person % 80}-{4000 + 7 * person}",
            "host": f"10.1.{person}.7",
            "x7": f"0171 {5550000 + 13 * person}",
            "pseudo": f"v{person * 7}",
            "M7": 1_000_003 + 7919 * person % 99_991,
            "LATITUDE": round(52 + rng.random(), 4),
            "LONGITUDE": round(13 + rng.random(), 4),
            "age": int(rng.integers(18, 90)),
            "sex": rng.choice(["f", "m"]),
        }
        rows += [{**known, "smoker": rng.choice(["yes", "no"])} for _ in range(5)]
    return pd.DataFrame(rows)


def test_keys_of_persons_are_left_out_and_what_their_names_say_stays():
    """Cases of real tables: e-mail addresses, numbers and codes were kept as values, ages went."""
    table = visited()
    found = Study.draft(table).profile
    roles = {column.name: column.role for column in found.columns}
    left_out = {n for n, role in roles.items() if role in ("identifier", "left out", "person")}
    assert left_out == {*table.columns} - {"LATITUDE", "LONGITUDE", "age", "sex", "smoker"}
    assert found.person == ("kontaktinfo",)
    known = {"LATITUDE", "LONGITUDE", "age", "sex"}
    assert known <= {*found.of_role("quasi-identifier")}
    assert found["kontaktinfo"].why == "its values are e-mail addresses (100 of 100 looked at)"
    assert found["M7"].why == "it repeats and tells 'age', as the key of a person does"
    assert set(found.repeated) >= {"kontaktinfo", "ref", "x7", "M7"}


# Persons who have several records


def visits(seed=4, people=120, times=5):
    """Visits of some people, up to ``times`` each; what they have is more often had again."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        known = {"patient": f"P{person:03}", "age": int(rng.integers(20, 80))}
        known["sex"] = "fm"[person % 2]
        own = rng.choice(["flu", "cold", "asthma", "injury"])
        rows += [
            {**known, "diagnosis": own if rng.random() < 0.7 else "other"}
            for _ in range(int(rng.integers(1, times + 1)))
        ]
    return pd.DataFrame(rows).sample(frac=1, random_state=seed, ignore_index=True)


def persons_of(released, table, quasi_identifiers, key):
    """Fewest persons of a class, and the largest share of one: by pandas, of released records."""
    classes = (
        released[quasi_identifiers].astype(object).fillna("").astype(str).agg("|".join, axis=1)
    )
    who = table.loc[released.index, key].astype(str).agg("|".join, axis=1)
    records = pd.crosstab(classes, who)
    return int((records > 0).sum(axis=1).min()), float(
        (records.max(axis=1) / records.sum(axis=1)).max()
    )


def test_a_draft_for_persons_runs_as_it_stands():
    table = visits()
    study = Study.draft(table)
    assert study.schema.person == ("patient",)
    assert "patient" not in study.schema.identifiers
    released = study.anonymizer().fit_transform(table)
    assert list(released.columns) == ["age", "sex", "diagnosis"]
    fewest, share = persons_of(released, table, ["age", "sex"], ["patient"])
    assert study.k == 3  # 120 persons, although there are more than 200 records
    assert fewest >= 3
    assert share <= 1 / 3 + 1e-9
    assert [model["model"] for model in study.document.privacy] == [
        "k-anonymity",
        "entropy-l-diversity",
    ]


def test_a_draft_says_whose_each_record_is_and_why(tmp_path):
    table = visits()
    text = Study.draft(table).text
    words = re.sub(r"\n# ?", " ", text)
    most = table["patient"].value_counts().max()
    assert (
        f"Whose each record is: 120 persons have up to {most} records each. So the policy is "
        "about persons, and the release leaves out what tells them apart. Without this line it is "
        "about records. patient: by its name it is a key of a person, and values repeat.\n"
        'person = "patient"'
    ) in words
    assert "every class has records of at least 3 of the 120 persons" in words
    assert "[identifiers]" not in text
    path = Study.draft(table).write(tmp_path)
    assert Study(path).fingerprint == Study.draft(table).fingerprint


def test_thresholds_count_each_person_once():
    """Nine of ten people have a cold, and one has the flu a hundred times: 90 % and 10 %."""
    table = pd.DataFrame(
        {
            "patient": [f"P{n}" for n in range(10)] * 10 + ["P9"] * 90,
            "age": [20 + n for n in range(10)] * 10 + [29] * 90,
            "illness": ["cold"] * 100 + ["flu"] * 90,
        }
    )
    table.loc[table["patient"] == "P9", "illness"] = "flu"
    study = Study.draft(table, k=2)
    (least,) = (model.l for model in study.privacy if model.name == "entropy-l-diversity")
    bits = -(0.9 * np.log2(0.9) + 0.1 * np.log2(0.1))
    assert least == floor((1 + (2**bits - 1) / 2) * 100) / 100 == 1.19
    by_records = Study.draft(table, k=2, person=[])
    (least,) = (model.l for model in by_records.privacy if hasattr(model, "l"))
    assert (
        least
        == floor((1 + (2 ** -sum(p * np.log2(p) for p in (9 / 19, 10 / 19)) - 1) / 2) * 100) / 100
    )


def test_who_has_most_records_does_not_put_the_policy_out_of_reach():
    """One of eleven has half of the records: 1/3 of a class cannot be had, 0.75 is halfway to 1."""
    table = pd.DataFrame(
        {
            "patient": [f"P{n}" for n in range(10)] * 5 + ["P10"] * 50,
            "age": [20 + n for n in range(10)] * 5 + [40] * 50,
            "illness": ["cold", "flu"] * 50,
        }
    )
    study = Study.draft(table, k=3)
    assert [model.parameters for model in study.privacy[:2]] == [{"k": 3}, {"share": 0.75}]
    assert "one person has 50% of all records" in re.sub(r"\n# ?", " ", study.text)
    released = study.anonymizer().fit_transform(table)
    fewest, share = persons_of(released, table, ["age"], ["patient"])
    assert fewest >= 3
    assert share <= 0.75


@given(
    st.integers(0, 10**6),
    st.integers(2, 40),
    st.integers(1, 6),
    st.sampled_from(["patient", "id", "hhid", "x"]),
    st.sampled_from([lambda rng, n: rng.integers(0, 60, n), lambda rng, n: rng.choice(["a"], n)]),
    st.sampled_from(
        [
            lambda rng, n: rng.choice(["flu", "cold", None], n, p=[0.5, 0.3, 0.2]),
            lambda rng, n: rng.choice(["no"] * 30 + ["yes"], n),
            lambda rng, n: rng.normal(0, 9, n),
        ]
    ),
)
def test_any_table_of_persons_is_drafted_and_runs(seed, people, times, name, known, sensitive):
    """However many records each has: every class has k of them, and of nobody too many."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.geometric(1 / times, people))
    table = pd.DataFrame(
        {name: who * 7 + 100, "age": known(rng, len(who)), "disease": sensitive(rng, len(who))}
    )
    study = Study.draft(table, person=[name])
    released = study.anonymizer().fit_transform(table)
    (bound,) = (model.share for model in study.privacy if model.name == "largest-share")
    fewest, share = persons_of(released, table, [*study.schema.quasi_identifiers], [name])
    assert fewest >= study.k
    assert share <= bound + 1e-9
    assert Study.draft(table).anonymizer().fit_transform(table) is not None


@pytest.mark.parametrize("recoding", ["boxes", "full-domain"])
def test_boxes_are_proposed_where_persons_are_few(monkeypatch, recoding):
    """Combinations by persons: 120 of these."""
    table = visits()
    combinations = len(table[["age", "sex"]].drop_duplicates())
    most = combinations * 120 - (recoding == "full-domain")
    monkeypatch.setattr(policy, "MOST_OF_PERSONS", most)
    assert f'\nmethod = "{recoding}"\n' in Study.draft(table).text
    assert '\nmethod = "boxes"\n' in Study.draft(table, person=[]).text


def test_wishes_about_persons_are_kept_to():
    table = visits().assign(site=lambda t: t["patient"].str[-1])
    study = Study.draft(table, person=[])
    assert study.schema.person == ()
    assert "patient" in study.schema.identifiers
    assert study.privacy[0].name == "k-anonymity"
    study = Study.draft(table, person=["patient", "site"], k=7)
    assert study.schema.person == ("patient", "site")
    assert '\nperson = ["patient", "site"]\n' in study.text
    assert study.privacy[0].k == 7
    assert Study.draft(table, person="site").schema.person == ("site",)


def test_no_value_of_a_key_is_in_a_draft_or_its_release():
    table = visited().drop(columns=["age", "sex"])  # nothing is told then but by values
    study = Study.draft(table)
    text = "".join(study.files.values())
    shown = study.anonymizer().fit_transform(table).astype(str)
    for name in ("kontaktinfo", "ref", "x7", "host", "pseudo"):
        values = {*table[name].astype(str)}
        assert not any(f'"{value}"' in text for value in values), name
        assert not values & {*shown.to_numpy().ravel()}, name


def test_an_age_is_not_left_out_for_a_column_whose_name_says_nothing():
    """Each of 60 regions' codes tells the country: what is named stays, whatever tells it."""
    rng = np.random.default_rng(3)
    code = rng.integers(0, 12, 600)
    table = pd.DataFrame({"x": code, "country": [f"c{n // 3}" for n in code]})
    table["smoker"] = rng.choice(["yes", "no"], 600)
    found = Study.draft(table).profile
    assert found["country"].role == "quasi-identifier"
