"""Differentially private releases, and levels that are given.

Nothing here depends on a seed: what is drawn is drawn from the system's randomness, and each test
asserts what holds of every draw, or what fails with a probability below 1e-9 by Hoeffding's
inequality, P(|X - n beta| >= d) <= 2 exp(-2 d^2 / n).
"""

import json
import shutil
from collections import Counter
from math import exp, log, sqrt
from types import MappingProxyType

import pandas as pd
import pyarrow as pa
import pytest
from checker import rows_of

from anonymizer import (
    Anonymizer,
    DifferentialPrivacy,
    Fixed,
    Hierarchy,
    HighestReidentificationRisk,
    InputError,
    KAnonymity,
    KMap,
    MutualInformation,
    PolicyUnreachableError,
    SafePub,
    check,
)
from anonymizer.release import person_warnings
from anonymizer.report.page import report_of

PRIVATE = DifferentialPrivacy(epsilon=1.0, delta=0.01)
SMALL = PRIVATE.k - 1
"""Records that can never be released: fewer than a class has to have."""
SIZES = {("10", "f"): 3000, ("10", "m"): 2000, ("25", "f"): 1000, ("39", "m"): SMALL}
AGES = Hierarchy.ranges(widths=[10, 20])


def likely(records: int) -> tuple[float, float]:
    """Between what so many records are drawn; beyond with a probability of at most 1e-10."""
    mean, reach = records * (1 - exp(-1)), sqrt(records * log(2e10) / 2)
    return mean - reach, mean + reach


def the_table() -> pd.DataFrame:
    people = [person for person, size in SIZES.items() for _ in range(size)]
    names = [f"Nemo{i}" for i in range(len(people))]
    return pd.DataFrame(people, columns=["age", "sex"]).assign(name=names)


def private(**parameters) -> Anonymizer:
    stated = {
        "quasi_identifiers": {"age": AGES, "sex": "suppress"},
        "privacy": [PRIVATE],
        "identifiers": ["name"],
        "recoding": SafePub({"age": 0, "sex": 0}),
    }
    return Anonymizer(**stated | parameters)


# What is released


def test_k_and_beta_follow_from_epsilon_and_delta():
    """As in the README of the model: beta = 1 - 1/e, and k large enough for delta."""
    told = PRIVATE.parameters
    assert (told["epsilon"], told["delta"], told["k"]) == (1.0, 0.01, 21)
    assert told["beta"] == pytest.approx(1 - exp(-1))
    assert DifferentialPrivacy(1.0, 1e-6).k == 74


@pytest.mark.parametrize("k", [1, 500])
def test_a_sample_of_large_classes_is_released(k):
    """Class sizes within what 1e-10 allows; below k nothing ever."""
    released = private(privacy=[PRIVATE, KAnonymity(k)]).fit_transform(the_table())
    classes = Counter(zip(released["age"], released["sex"], strict=True))
    assert set(classes) == set(SIZES) - {("39", "m")}
    for person, size in classes.items():
        low, high = likely(SIZES[person])
        assert low <= size <= high
        assert size >= max(k, PRIVATE.k)


def test_records_come_in_random_order_without_their_index():
    """That thousands of two kinds fall into their old order has a chance below 1e-100."""
    table = the_table().set_index("name", drop=False)
    released = private().fit_transform(table)
    assert released.index.equals(pd.RangeIndex(len(released)))
    assert list(released.columns) == ["age", "sex"]
    place = released["age"].tolist()
    assert place != sorted(place)


def test_transform_draws_anew():
    anonymizer = private().fit(the_table())
    counts = {len(anonymizer.transform(the_table())) for _ in range(8)}
    assert len(counts) > 1  # no size has a chance above 0.02, so all 8 the same one of 0.02^7
    few = the_table().head(PRIVATE.k - 1)
    with pytest.raises(PolicyUnreachableError, match="no class of the sample has k = 21 records"):
        anonymizer.transform(few)


def test_the_manifest_tells_what_the_table_shows_and_no_more():
    anonymizer = private()
    released = anonymizer.fit_transform(the_table())
    told = anonymizer.release_.steward_manifest.to_dict()
    for secret in ("records", "dropped", "suppressed", "information"):
        assert told[secret] is None
    assert (told["released"], told["classes"]) == (len(released), 3)
    assert (told["targets"], told["other_columns"]) == ({}, [])
    search = told["search"]
    assert (search["strategy"], search["value"], search["gap"]) == ("fixed", None, None)
    assert (search["nodes"], search["checked"], search["feasible"]) == (1, 0, None)
    assert [group["label"] for group in told["recoding"]["age"]] == ["10", "25"]
    (verdict,) = told["privacy"]
    assert verdict["worst"] == released.value_counts().min()
    del told["study"]  # a checksum of what was asked for, which may have any digits
    text = json.dumps(told)
    assert "Nemo" not in text
    assert "39" not in json.dumps(told["recoding"])  # the class that was too small
    assert str(len(the_table())) not in text


def test_the_manifest_is_that_of_another_table_with_the_same_release():
    """Whatever is told besides the release itself does not depend on the table."""

    def told(table):
        anonymizer = private(recoding=SafePub({"age": 3, "sex": 1}))
        anonymizer.fit(table)
        manifest = anonymizer.release_.to_dict()
        del manifest["released"], manifest["privacy"][0]["worst"]  # sizes that the table shows
        del manifest["query_loss"]["uncertainty"]  # the logarithm of the first
        return manifest

    other = pd.DataFrame({"name": "x", "age": ["77", None] * 900, "sex": "m"}).dropna()
    assert told(the_table()) == told(other)


@pytest.mark.parametrize("missing", ["drop", "category"])
def test_the_way_values_are_written_does_not_tell_of_records_left_out(missing):
    """A single gap makes 10 a 10.0 in pandas, and the first to come decides between them."""
    ages = [None, *[10] * 900, *[25] * 900]
    ways = [
        pd.Series(ages, dtype=float),
        pd.Series(ages, dtype="Int64"),
        pd.Series(["010.0", *map(str, ages[1:])]),
        pd.Series([None, " 10.00", *map(str, ages[2:])]),
        pd.Series(ages, dtype="category"),
    ]
    for way in ways:
        table = pd.DataFrame({"age": way, "sex": "m", "name": "Nemo"})
        anonymizer = private(missing=missing)
        released = anonymizer.fit_transform(table)
        assert set(released["age"]) == {"10", "25"}
        assert not any(isinstance(kind, pd.CategoricalDtype) for kind in released.dtypes)
        groups = anonymizer.release_.recoding["age"]
        assert groups == [{"label": age, "values": [age]} for age in ("10", "25")]


def test_a_listed_hierarchy_does_not_tell_which_values_were_left_out():
    rows = [[age, "any"] for age in ("10", "25", "39", "40")]
    for missing in (False, True):
        table = the_table()
        table.loc[len(table) - 1, "age"] = None if missing else "39"
        anonymizer = private(
            quasi_identifiers={"age": Hierarchy.from_rows(rows), "sex": "suppress"},
            missing="category",
        ).fit(table)
        groups = anonymizer.release_.recoding["age"]
        assert [group["values"] for group in groups] == [[row[0]] for row in rows]


@pytest.mark.parametrize("missing", ["drop", "category"])
def test_missing_values_are_dropped_or_a_value(missing):
    """1 000 of 2 000 miss their sex; which are drawn moves sizes by no more than 1e-10 allows."""
    table = pd.DataFrame({"name": "x", "age": "10", "sex": ["f", None] * 1000})
    released = private(missing=missing).fit_transform(table)
    gaps = int(released["sex"].isna().sum())
    low, high = likely(1000) if missing == "category" else (0, 0)
    assert low <= gaps <= high


# What its guarantee does not cover


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sensitive": "sex", "quasi_identifiers": {"age": AGES}}, "column 'sex' would be releas"),
        ({"identifiers": []}, "column 'name' would be released as it is; make it a quasi-identif"),
        (
            {
                "objective": MutualInformation(target={"sex": 1}),
                "quasi_identifiers": {"age": AGES},
            },
            "column 'sex' would be released",
        ),
        ({"recoding": "full-domain"}, "needs levels that were chosen without looking at the table"),
        ({"recoding": Fixed({"age": 0, "sex": 0})}, r"choose recoding = SafePub\(levels\)"),
        ({"recoding": "safepub"}, r"recoding = 'safepub' needs levels; give SafePub\(levels="),
        ({"privacy": [KAnonymity(2)]}, "'safepub' needs the model differential-privacy"),
        ({"time_limit": 3}, "'safepub' searches nothing; leave out the time limit"),
        ({"privacy": [PRIVATE, PRIVATE]}, "differential-privacy: give it once"),
        (
            {"privacy": [HighestReidentificationRisk(0.5), PRIVATE]},
            "does not cover what highest-reidentification-risk would leave out; only k-anonymity",
        ),
        (
            {"privacy": [PRIVATE, KMap(2, pd.DataFrame({"age": ["10"], "sex": ["f"]}))]},
            "does not cover what k-map would leave out",
        ),
        ({"privacy": [DifferentialPrivacy(1e-300, 0.1)]}, "epsilon = 1e-300 is so small that no"),
        ({"privacy": [DifferentialPrivacy(25, 0.1)]}, "draw fewer records or lower epsilon"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_the_guarantee_does_not_cover_is_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        private(**parameters).fit(the_table())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon = 0 must be a number above 0"),
        ({"epsilon": -1}, "epsilon = -1 must be a number above 0"),
        ({"epsilon": float("inf")}, "epsilon = inf must be a number above 0"),
        ({"epsilon": "1"}, "epsilon = '1' must be a number above 0"),
        ({"delta": 0}, "delta = 0 must be a number above 0 and below 1"),
        ({"delta": 1}, "delta = 1 must be a number above 0 and below 1"),
        ({"delta": 1.5}, "delta = 1.5 must be a number above 0 and below 1"),
        ({"delta": True}, "delta = True must be a number"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InputError, match=message):
        DifferentialPrivacy(**{"epsilon": 1, "delta": 0.1} | parameters)


# People with several records, of whom epsilon protects one


def visits(sizes=(3,) * 800) -> pd.DataFrame:
    """So many records of each patient."""
    records = [f"P{number}" for number, size in enumerate(sizes) for _ in range(size)]
    return pd.DataFrame({"patient": records, "age": "10", "sex": "f"})


def told_of_people(table, **parameters):
    given = {"identifiers": ["patient"], "recoding": SafePub({"age": 1, "sex": 0})}
    release = private(**given | parameters).fit(table).release_
    public = [each.code for each in release.manifest.warnings]
    return [each for each in release.warnings if each.code == "repeated-identifier"], public


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_several_records_of_a_person_are_its_steward_s_alone_to_know(kind):
    """800 patients with 3 of 2 400 records: whoever guesses it finds nothing in release.json."""
    table = visits() if kind == "pandas" else pa.Table.from_pandas(visits())
    (warning,), public = told_of_people(table)
    assert warning.message == (
        "class sizes count records, not people; by column 'patient' epsilon protects a single "
        "record of people who have up to 3 (800 in all, of 2,400 records); no model promises "
        "anything about who has several: keep one record of each"
    )
    assert public == []


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((1,) * 2400, None),
        ((2, *(1,) * 2398), None),  # two who are called alike, perhaps
        ((3, *(1,) * 2397), (2398, 2400, "up to 3 (2,398 in all")),
        ((2,) * 1200, (1200, 2400, "up to 2 (1,200 in all")),
    ],
)
def test_who_has_several_records(kind, sizes, expected):
    table = visits(sizes)
    found, _ = told_of_people(table if kind == "pandas" else pa.Table.from_pandas(table))
    assert [(each.count, each.of) for each in found] == ([expected[:2]] if expected else [])
    assert not expected or expected[2] in found[0].message


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
@pytest.mark.parametrize(("missing", "people"), [("drop", []), ("category", [(1600, 2400)])])
def test_records_that_can_not_be_drawn_are_nobody_s(kind, missing, people):
    """800 patients with two records, one of them without a sex, and 800 who have no number."""
    table = visits((2,) * 800)
    table.loc[1::2, "sex"] = None
    none = pd.DataFrame({"patient": "unknown", "age": "10", "sex": ["f"] * 800})
    table = pd.concat([table, none], ignore_index=True)
    table = table if kind == "pandas" else pa.Table.from_pandas(table)
    found, _ = told_of_people(table, missing=missing)
    assert [(each.count, each.of) for each in found] == people


def test_more_people_than_memory_holds_are_counted_by_the_engine(monkeypatch):
    monkeypatch.setattr(person_warnings, "is_countable", lambda *_: False)
    (found,), public = told_of_people(pa.Table.from_pandas(visits()))
    assert "by column 'patient' how many records people have is not examined" in found.message
    assert ((found.count, found.of), public) == ((800, 2400), [])


def test_a_table_under_differential_privacy_is_checked_alike():
    models = [PRIVATE, KAnonymity(5)]
    found = check(visits(), ["age", "sex"], privacy=models).warnings
    assert [
        (each.code, each.count, each.of) for each in found if "up to 3 (800 in all" in each.message
    ] == [("repeated-identifier", 800, 2400)]


def test_values_that_find_a_person_are_those_of_the_released_table():
    """Everybody sees them there; of 2 400 records of each, one is drawn for certain."""
    mails = {"age": ["kim@example.org", "10"] * 2400, "sex": "f", "name": "x"}
    release = private(quasi_identifiers={"age": "suppress", "sex": "suppress"}).fit(
        pd.DataFrame(mails)
    )
    for warnings in (release.release_.warnings, release.release_.manifest.warnings):
        (found,) = [each for each in warnings if each.code == "identifying-values"]
        assert found.message == (
            "1 of 2 values of 'age' are e-mail addresses, which find a person by themselves; list "
            "the column among the identifiers"
        )


# As files

SECRETS = ("Nemo",)
STUDY = """\
[data]
path = "people.csv"
[quasi-identifiers]
age = "age.toml"
sex = "suppress"
[identifiers]
attributes = ["name"]
[[privacy]]
model = "differential-privacy"
epsilon = 1
delta = 0.01
[recoding]
method = "safepub"
levels = {age = 1, sex = 0}
"""


@pytest.fixture
def study(tmp_path):
    the_table().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "age.toml").write_text("widths = [10, 20]")
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def test_a_private_release_on_disk(run, study, tmp_path):
    code, out, err = run("run", study, "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "drawn at random" in out
    assert "how many there were may not be reported" in out
    assert f"{sum(SIZES.values()):,}" not in out
    released = tmp_path / "out" / "released.csv"
    classes = Counter((row["age"], row["sex"]) for row in rows_of(released))
    assert set(classes) == {("[10, 20)", "f"), ("[10, 20)", "m"), ("[20, 30)", "f")}
    for (age, sex), size in classes.items():
        low, high = likely(SIZES["25" if age == "[20, 30)" else "10", sex])
        assert low <= size <= high
    for command in ("verify", "check"):
        code, out, err = run(command, released, "-s", study, "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["privacy"][0]["worst"] == min(classes.values())
    again = tmp_path / "again"
    run("run", study, "-o", again)
    drawn = Counter((row["age"], row["sex"]) for row in rows_of(again / "released.csv"))
    assert set(drawn) == set(classes)


def test_several_records_of_a_person_on_disk(run, study, tmp_path, caplog):
    """Whoever holds the steward's file is warned; readers of the folder are not."""

    def warned(*command):
        caplog.clear()
        return run(*command)[:2], " ".join(caplog.messages)

    table = the_table()
    table["name"] = [f"Nemo{number // 4}" for number in range(len(table))]
    table.to_csv(tmp_path / "people.csv", index=False)
    said = "class sizes count records, not people; by column 'name' epsilon protects a single "
    (code, out), found = warned("run", study, "-o", tmp_path / "out", "--json")
    assert (code, said in found) == (0, True)
    assert "who have up to 4 (1,505 in all, of 6,020 records)" in found
    assert json.loads(out)["warnings"] == []
    read = shutil.copytree(tmp_path / "out", tmp_path / "read" / "out")
    assert json.loads((read / "release.json").read_text())["warnings"] == []
    for command in ("verify", "check"):
        (code, _), found = warned(command, tmp_path / "out")
        assert (code, said in found) == (0, True)
        (code, _), found = warned(command, read)
        assert (code, found) == (0, "")
    code, _, err = run("run", study, "-o", tmp_path / "strict", "--strict")
    assert (code, "strict allows none" in err) == (1, True)
    assert not (tmp_path / "strict").exists()
    page = report_of(read, form="markdown").decode()
    assert "The guarantees of several releases add up, and so do those of several records" in page
    assert "epsilon protects" not in page
    whole = report_of(tmp_path / "out", form="markdown", steward=True).decode()
    assert "epsilon protects a single record of people who have up to 4" in whole


def test_parquet_tells_no_more(run, study, tmp_path):
    """Categories keep the order in which a table's values came; the release has none."""
    table = the_table().iloc[::-1].astype({"sex": "category"})
    table["age"] = pd.to_numeric(table["age"])
    table.to_parquet(tmp_path / "people.parquet")
    study.write_text(STUDY.replace("csv", "parquet").replace("age = 1", "age = 0"))
    assert run("run", study, "-o", tmp_path / "out")[0] == 0
    released = pd.read_parquet(tmp_path / "out" / "released.parquet")
    assert set(released["age"]) == {"10", "25"}
    assert released["sex"].dtype != "category"
    assert run("verify", tmp_path / "out" / "released.parquet", "-s", study)[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("[identifiers]\n", '[sensitive]\nattributes = ["sex"]\n[identifiers]\n', 2, "more than o"),
        ('attributes = ["name"]', "attributes = []", 2, "column 'name' would be released as it is"),
        ("levels = {age = 1, sex = 0}", "", 2, "[recoding] levels is missing"),
        ('method = "safepub"', 'method = "fixed"', 2, "choose recoding = SafePub(levels)"),
        ("age = 1", "age = 4", 2, "levels: age = 4 must be a whole number from 0 to 3"),
        ("age = 1, ", "", 2, "levels lacks 'age'; give a level from 0 to 3"),
        ("age = 1", "agee = 1", 2, "names 'agee', which is no quasi-identifier; did you mean 'age"),
        ("age = 1", 'age = "1"', 2, "[recoding] levels.age must be a whole number"),
        ("epsilon = 1\n", "", 2, "differential-privacy lacks 'epsilon'; add a line epsilon = ..."),
        ("delta = 0.01", "delta = 1", 2, "delta = 1 must be a number above 0 and below 1"),
        ("delta = 0.01", "delta = 1e-300\nbeta = 1", 2, "has no parameter 'beta'"),
        (
            "delta = 0.01",
            "delta = 0.01\n[[privacy]]\nmodel = 'k-anonymity'\nk = 9999",
            1,
            "k = 9999",
        ),
        ("[recoding]", "[recoding]\nsuppression = 0.1", 2, "for method = 'full-domain' or"),
    ],
)
def test_refusals_leave_nothing(run, study, tmp_path, old, new, code, message):
    assert old in STUDY
    study.write_text(STUDY.replace(old, new))
    before = sorted(tmp_path.iterdir())
    found, out, err = run("run", study, "-o", tmp_path / "out")
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert err.startswith("anonymizer: ")
    assert message in err
    assert sorted(tmp_path.iterdir()) == before


# Levels that are given, without a sample


def fixed(levels=MappingProxyType({"age": 0, "sex": 0}), suppression=0.0, **others) -> Anonymizer:
    recoding = Fixed(levels, suppression)
    given = {"privacy": [KAnonymity(20)], "objective": "precision", "recoding": recoding}
    return private(**given | others)


def test_given_levels_are_taken():
    anonymizer = fixed(levels={"sex": 1, "age": 2}).fit(the_table())
    release = anonymizer.release_.steward_manifest.to_dict()
    assert release["levels"] == {"age": 2, "sex": 1}
    assert [group["label"] for group in release["recoding"]["age"]] == ["[0, 20)", "[20, 40)"]
    search = release["search"]
    assert (search["strategy"], search["nodes"], search["proven"]) == ("fixed", 1, True)
    assert search["value"] == pytest.approx(1 - (2 / 3 + 1) / 2)


def test_given_levels_with_suppression():
    """20 of 6 020 records are too few for k = 100."""
    anonymizer = fixed(privacy=[KAnonymity(100)], suppression=0.01)
    released = anonymizer.fit_transform(the_table())
    assert len(released) == 6000
    assert anonymizer.release_.suppressed_class == "removed"
    assert fixed(privacy=[KAnonymity(20)], suppression=0.01).fit(the_table()).release_.classes == 4


def test_given_levels_that_break_the_policy():
    with pytest.raises(PolicyUnreachableError, match="the levels given do not satisfy all of k-a"):
        fixed(privacy=[KAnonymity(21)]).fit(the_table())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"levels": None}, "levels must map every quasi-identifier to a level"),
        ({"levels": {"age": 1}}, "levels lacks 'sex'; give a level from 0 to 1"),
        ({"levels": {"age": 4, "sex": 0}}, "age = 4 must be a whole number from 0 to 3, the hei"),
        ({"levels": {"age": -1, "sex": 0}}, "age = -1 must be a whole number from 0 to 3"),
        ({"levels": {"age": 1.0, "sex": 0}}, "age = 1.0 must be a whole number"),
        ({"levels": {"age": True, "sex": 0}}, "age = True must be a whole number"),
        ({"levels": {"age": 1, "sex": 0, "name": 0}}, "names 'name', which is no quasi-identif"),
        ({"levels": [1, 0]}, "levels must map every quasi-identifier to a level"),
    ],
)
def test_levels_that_cannot_be(parameters, message):
    with pytest.raises(InputError, match=message):
        fixed(**parameters).fit(the_table())
