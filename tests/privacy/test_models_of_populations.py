"""Models about a population, from the table to the files and back.

Twelve records of a population of forty; every number below is counted by hand from these two.
"""

import json
from collections import Counter

import pandas as pd
import pytest
from checker import rows_of

from anonymizer import (
    Anonymizer,
    AverageReidentificationRisk,
    DeltaPresence,
    Fixed,
    FullDomain,
    Hierarchy,
    HighestReidentificationRisk,
    InputError,
    KAnonymity,
    KMap,
    PolicyBrokenError,
    PolicyUnreachableError,
    Population,
    check,
)
from anonymizer.tables.population import people_counted

SIZES = {"101": (6, 8), "102": (4, 20), "201": (2, 6), "202": (0, 6)}
"""Records of each zip code in the table, and in the population."""
STATES = ["flu", "cold", "hiv"]
SECRETS = ("Nemo", *STATES)
ZIPS = Hierarchy.prefixes([1])
STUDY = """\
[data]
path = "table.csv"
[quasi-identifiers]
zip = "zip.toml"
[sensitive]
attributes = ["state"]
[identifiers]
attributes = ["name"]
"""


def the_table() -> pd.DataFrame:
    zips = [code for code, (some, _) in SIZES.items() for _ in range(some)]
    return pd.DataFrame(
        {
            "name": [f"Nemo{i}" for i in range(len(zips))],
            "zip": zips,
            "state": [STATES[i % 3] for i in range(len(zips))],
        }
    )


def everybody() -> pd.DataFrame:
    """In another order, with a column more, and with the records of the table among them."""
    zips = [code for code, (_, all_of) in SIZES.items() for _ in range(all_of)]
    return pd.DataFrame({"phone": range(len(zips)), "zip": zips[::-1]})


def fitted(model, **parameters) -> tuple[Counter, Anonymizer]:
    """What is released: the records of each zip code."""
    anonymizer = Anonymizer({"zip": ZIPS}, "state", [model], identifiers=["name"], **parameters)
    return Counter(anonymizer.fit_transform(the_table())["zip"]), anonymizer


RAW = {"101": 6, "102": 4, "201": 2}
COARSE = {"1**": 10, "2**": 2}
ALL = {"***": 0, "*": 12}


# What is released, and the quantity of the class that comes off worst


@pytest.mark.parametrize(
    ("model", "released", "worst"),
    [
        # P_g = 8, 20, 6 at level 0; 28, 12 at level 1; 40 at level 2
        (lambda people: KMap(6, people), RAW, 6),
        (lambda people: KMap(7, people), COARSE, 12),
        (lambda people: KMap(13, people), {"*": 12}, 40),
        # n_g / P_g = 6/8, 4/20, 2/6, 0/6; 10/28, 2/12; 12/40
        (lambda people: DeltaPresence(0, 0.75, people), RAW, 0.75),
        (lambda people: DeltaPresence(0, 0.7, people), COARSE, 10 / 28),
        (lambda people: DeltaPresence(0.01, 0.75, people), COARSE, 2 / 12),
        (lambda people: DeltaPresence(0.2, 0.35, people), {"*": 12}, 0.3),
        # sum n_g / P_g / N = (6/8 + 4/20 + 2/6) / 12; (10/28 + 2/12) / 12
        (lambda people: AverageReidentificationRisk(0.11, people), RAW, (0.95 + 1 / 3) / 12),
        (lambda people: AverageReidentificationRisk(0.1, people), COARSE, (10 / 28 + 1 / 6) / 12),
        (lambda people: HighestReidentificationRisk(1 / 6, people), RAW, 1 / 6),
        (lambda people: HighestReidentificationRisk(0.16, people), COARSE, 1 / 12),
    ],
)
def test_the_finest_level_that_a_population_allows(model, released, worst):
    found, anonymizer = fitted(model(everybody()))
    assert found == released
    assert anonymizer.release_.privacy[0].worst == pytest.approx(worst)


def test_the_worst_presence_is_the_largest_where_none_is_too_small():
    presence = DeltaPresence(0, 0.9, everybody())
    assert fitted(presence)[1].release_.privacy[0].worst == 0.75  # not the 0 of zip code 202


def test_a_policy_that_no_level_satisfies():
    with pytest.raises(
        PolicyUnreachableError, match="k = 41 exceeds the 40 records of the population"
    ):
        fitted(KMap(41, everybody()))
    message = r"delta-presence fails even .* suppressed \(0\.3 against 0\.2\); relax it"
    with pytest.raises(PolicyUnreachableError, match=message):
        fitted(DeltaPresence(0, 0.2, everybody()))


def test_the_population_may_be_the_table():
    assert fitted(KMap(2, the_table()))[0] == fitted(KAnonymity(2))[0] == RAW
    assert fitted(KMap(3, the_table()))[0] == fitted(KAnonymity(3))[0] == {"*": 12}
    assert fitted(DeltaPresence(1, 1, the_table()))[1].release_.privacy[0].worst == 1


def test_a_population_about_which_two_models_are():
    people = Population(everybody(), "registry")
    released, anonymizer = fitted(KMap(7, people), objective="precision")
    assert released == COARSE
    told = anonymizer.release_.to_dict()["privacy"][0]["parameters"]["population"]
    assert (told["name"], told["records"]) == ("registry", 40)
    both = [KMap(7, people), DeltaPresence(0, 0.36, people)]
    anonymizer.set_params(privacy=both).fit(the_table())
    assert [verdict.satisfied for verdict in anonymizer.release_.privacy] == [True, True]
    other = [KMap(7, people), KMap(2, everybody())]
    with pytest.raises(InputError, match="about one population, not several"):
        anonymizer.set_params(privacy=other).fit(the_table())


# Suppression: a record that is ``*`` may be anybody of whom no class stands

SUPPRESSION = {"objective": "precision", "recoding": FullDomain(suppression=0.4)}


def test_suppressed_records_are_those_of_all_whom_no_class_stands_for():
    """k = 20: 101 (8 people) and 201 (6) are suppressed; 202 has 6 more, and no record."""
    fixed = Fixed({"zip": 0}, suppression=0.7)
    found, anonymizer = fitted(KMap(20, everybody()), recoding=fixed)
    assert found == {"102": 4, "*": 8}
    release = anonymizer.release_
    assert (release.suppressed, release.suppressed_class) == (8, "kept")
    assert release.privacy[0].worst == 20  # 102; of the others there are 8 + 6 + 6


def test_one_class_suppressed_is_taken_for_people_without_a_record():
    """k = 8: 201 has 6 people, but with the 6 of 202 they are 12."""
    found, anonymizer = fitted(KMap(8, everybody()), **SUPPRESSION)
    assert found == {"101": 6, "102": 4, "*": 2}
    assert anonymizer.release_.privacy[0].worst == 8


def test_removed_records_leave_their_people_behind():
    found, anonymizer = fitted(
        KMap(8, everybody()), objective="precision", recoding=FullDomain(0.4, remove=True)
    )
    assert found == {"101": 6, "102": 4}
    assert anonymizer.release_.suppressed_class == "removed"


@pytest.mark.parametrize("search", ["automatic", "exhaustive", "branch-and-bound"])
@pytest.mark.parametrize("remove", [False, True])
def test_records_may_not_go_where_everybody_has_to_be_likely_present(search, remove):
    """x is in 3 of 6, y in 1 of 10: without its record y would be in 0 of 10."""
    table = pd.DataFrame({"a": list("xxxy"), "w": list("uvuv")})
    people = pd.DataFrame({"a": ["x"] * 6 + ["y"] * 10})
    anonymizer = Anonymizer(
        {"a": "suppress"},
        "w",
        [DeltaPresence(0.2, 0.6, people)],
        objective="precision",
        recoding=FullDomain(suppression=0.25, remove=remove, search=search),
    )
    assert anonymizer.fit_transform(table)["a"].tolist() == ["*"] * 4
    assert anonymizer.release_.privacy[0].worst == 0.25


def test_people_without_a_record_are_no_class():
    """Of 3 classes and 7 zip codes the small class goes: 2 classes and the one of ``*`` are 3."""
    more = pd.DataFrame({"zip": ["301", "302", "401"]})
    people = pd.concat([everybody(), more])
    _, anonymizer = fitted(KMap(8, people), **SUPPRESSION | {"objective": "average-class-size"})
    assert anonymizer.release_.classes == 3
    assert anonymizer.search_.value == 4


def test_another_table_of_the_same_population():
    people = everybody()
    _, anonymizer = fitted(KMap(6, people))
    some = the_table().iloc[:3]
    assert anonymizer.transform(some)["zip"].tolist() == ["101"] * 3
    many = pd.DataFrame({"name": "Nemo", "zip": ["101"] * 9, "state": "flu"})
    with pytest.raises(InputError, match="the population lacks 1 records of the table, in 1 of"):
        anonymizer.transform(many)
    _, anonymizer = fitted(DeltaPresence(0, 0.75, people))
    with pytest.raises(PolicyBrokenError, match=r"delta-presence fails in 1 of 4 classes \(worst"):
        anonymizer.transform(many.head(8))


# The same value, however it is written


@pytest.mark.parametrize(
    "write",
    [
        lambda ages: ages.astype(float),
        lambda ages: ages.astype(str),
        lambda ages: ages.astype(str) + ".0",
        lambda ages: " " + ages.astype(str) + " ",
        lambda ages: ages.astype("Int64"),
        lambda ages: ages.astype("category"),
    ],
    ids=["float", "text", "text with .0", "blanks", "nullable", "category"],
)
@pytest.mark.parametrize("level", [0, 1])
def test_numbers_and_texts_are_the_same_people(write, level):
    ages = pd.Series([20, 21, 21, 35, 35])
    table = pd.DataFrame({"age": ages[1:4], "w": list("uvu")})
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[10])},
        "w",
        [KMap(2, pd.DataFrame({"age": write(ages)}))],
        recoding=Fixed(levels={"age": level}),
    )
    released = anonymizer.fit_transform(table)
    assert [str(value) for value in released["age"]] == [
        ["21", "21", "35"],
        ["[20, 30)", "[20, 30)", "[30, 40)"],
    ][level]
    assert anonymizer.release_.privacy[0].worst == 2


@pytest.mark.parametrize(("missing", "people"), [("category", 2), ("drop", 3)])
def test_people_who_miss_a_value(missing, people):
    """A missing value is a value of its own, or its record no part of the population."""
    table = pd.DataFrame({"a": ["x", None, "x"], "w": list("uvu")})
    population = pd.DataFrame({"a": ["x", None, "x", float("nan"), "x"]})
    model = KMap(1, population)
    found = check(table, "a", "w", [model], missing=missing)
    assert found.privacy[0].worst == people
    with pytest.raises(InputError, match="the population: column 'a' misses the value of 2 of 5"):
        check(table.dropna(), "a", "w", [model])


# Studies and files


@pytest.fixture
def lay(tmp_path):
    """Write a study of a model about a population, kept beside it as CSV or Parquet."""

    def written(model, search="", data="table.csv", population="people.csv"):
        for frame, path in [(the_table(), data), (everybody(), population)]:
            if path.endswith("csv"):
                frame.to_csv(tmp_path / path, index=False)
            else:
                frame.assign(zip=frame["zip"].astype(int)).to_parquet(tmp_path / path)
        (tmp_path / "zip.toml").write_text("prefixes = [1]")
        policy = f'[[privacy]]\n{model}\npopulation = "{population}"\n'
        text = STUDY.replace("table.csv", data) + policy + search
        (tmp_path / "study.toml").write_text(text)
        return tmp_path / "study.toml"

    return written


def recounted(directory) -> list[int]:
    """The people of each released record, counted from the files with the labels by hand."""
    released = rows_of(directory / "out" / "released.csv")
    level = json.loads((directory / "out" / "release.json").read_text())["levels"]["zip"]
    people = Counter([code, code[0] + "**", "*"][level] for code in everybody()["zip"])
    classes = {row["zip"] for row in released}
    nobody = sum(count for label, count in people.items() if label not in classes)
    return sorted({people[label] or nobody for label in classes})


EXHAUSTIVE = '[recoding]\nsuppression = 0.2\n[search]\nstrategy = "exhaustive"'
HALF = "[recoding]\nsuppression = 0.5"


@pytest.mark.parametrize(
    ("model", "search", "people"),
    [
        ('model = "k-map"\nk = 6', "", [6, 8, 20]),
        ('model = "k-map"\nk = 7', "", [12, 28]),
        (
            'model = "k-map"\nk = 8',
            '[recoding]\nsuppression = 0.2\n[search]\nstrategy = "exhaustive"',
            [8, 12, 20],
        ),
        ('model = "k-map"\nk = 8', "[recoding]\nsuppression = 0.2\nremove = true", [8, 20]),
        # 101, in 6 of 8, goes with 202, in none of 6
        (
            'model = "delta-presence"\nlower = 0\nupper = 0.5',
            "[recoding]\nsuppression = 0.5",
            [6, 14, 20],
        ),
        ('model = "average-reidentification-risk"\nrisk = 0.1', "", [12, 28]),
        ('model = "highest-reidentification-risk"\nrisk = 0.1', "", [12, 28]),
    ],
)
# That formats may differ is tried below.
@pytest.mark.parametrize(
    "population", ["people.csv", pytest.param("people.parquet", marks=pytest.mark.long)]
)
def test_run_verify_and_check_agree(run, lay, tmp_path, model, search, people, population):
    objective = '[objective]\nname = "precision"\n'
    study = lay(model, f"{search}\n{objective}", population=population)
    code, _, err = run("run", study, "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert recounted(tmp_path) == people
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    released = tmp_path / "out" / "released.csv"
    code, out, err = run("verify", released, "--study", study, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["privacy"] == manifest["privacy"]
    code, out, err = run("check", released, "--study", study, "--json")
    assert (code, err) == (0, "")
    expected = [{**verdict, "violating_records": 0} for verdict in manifest["privacy"]]
    assert json.loads(out)["privacy"] == expected
    if "k-map" in model:
        assert manifest["privacy"][0]["worst"] == people[0]


@pytest.mark.parametrize("population", ["people.csv", "people.parquet"])
@pytest.mark.parametrize("data", ["table.csv", "table.parquet"])
def test_formats_of_table_and_population_may_differ(run, lay, tmp_path, data, population):
    study = lay('model = "k-map"\nk = 7', data=data, population=population)
    assert run("run", study, "-o", tmp_path / "out")[0] == 0
    (released,) = (tmp_path / "out").glob("released.*")
    code, out, _ = run("verify", released, "-s", study, "--json")
    assert (code, json.loads(out)["privacy"][0]["worst"]) == (0, 12)


def test_the_manifest_names_a_population_by_its_path_and_counts_it(run, lay, tmp_path):
    run("run", lay('model = "k-map"\nk = 7'), "-o", tmp_path / "out")
    (verdict,) = json.loads((tmp_path / "out" / "release.json").read_text())["privacy"]
    described = verdict["parameters"]["population"]
    assert (described["name"], described["records"]) == ("people.csv", 40)


def test_verify_sees_a_class_that_too_few_people_have(run, lay, tmp_path):
    study = lay('model = "k-map"\nk = 7')
    run("run", study, "-o", tmp_path / "out")
    people = everybody()
    people[people["zip"] != "202"].to_csv(tmp_path / "people.csv", index=False)
    code, out, err = run("verify", tmp_path / "out" / "released.csv", "-s", study, "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)["privacy"][0]["worst"] == 6


def test_verify_needs_the_manifest_to_recode_the_population(run, lay, tmp_path):
    study = lay('model = "k-map"\nk = 7')
    run("run", study, "-o", tmp_path / "out")
    released, manifest = tmp_path / "out" / "released.csv", tmp_path / "out" / "release.json"
    text = manifest.read_text()
    refusals = [
        ("{", "release.json is damaged: it is no JSON text"),
        ("[]", "release.json is damaged: it is no manifest of a release"),
        ("{}", "release.json is damaged: it has no format;"),
        (text.replace('"zip": 1', '"zip": 9'), "does not describe a release of this study"),
    ]
    for content, message in refusals:
        manifest.write_text(content)
        code, out, err = run("verify", released, "-s", study)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
    manifest.write_text(text.replace('"zip"', '"zap"'))
    code, out, err = run("verify", released, "-s", study)
    assert (code, err) == (1, "")
    assert "the table lacks 'zap'" in out
    manifest.unlink()
    code, _, err = run("verify", released, "-s", study)
    assert code == 2
    assert "the manifest has to be next to the released table" in err


def test_the_raw_table_is_checked_against_people_as_they_are(run, lay, tmp_path):
    study = lay('model = "k-map"\nk = 7')
    code, out, _ = run("check", tmp_path / "table.csv", "-s", study, "--json")
    found = json.loads(out)
    assert (code, found["privacy"][0]["worst"]) == (1, 6)
    assert found["risk"] == pytest.approx(
        {
            "sample_uniqueness": 0,
            "prosecutor_highest": 1 / 2,
            "prosecutor_average": 3 / 12,
            "journalist_highest": 1 / 6,
            "journalist_average": (6 / 8 + 4 / 20 + 2 / 6) / 12,
            "marketer": (6 / 8 + 4 / 20 + 2 / 6) / 12,
        }
    )


# Populations that cannot be


def without_101(text):
    return "\n".join(line for line in text.splitlines() if not line.endswith("101"))


@pytest.mark.parametrize(
    ("tear", "message"),
    [
        (without_101, "the population lacks 6 records of the table, in 1 of its 3 combinations"),
        (lambda text: text.replace("zip", "zap"), "people.csv: the table has no column 'zip'"),
        (lambda text: "phone,zip\n", "the population: the table has no records"),
        (lambda text: "", "people.csv: it is empty"),
        (lambda text: text.replace("0,202", "0,"), "the population: column 'zip' misses the value"),
        (lambda text: text + "1,2,3\n", "people.csv: line 42 has 3 fields, the header 2"),
        (None, "there is no file"),
    ],
    ids=["lacks", "column", "no records", "empty", "missing", "ragged", "no file"],
)
def test_populations_that_cannot_be(run, lay, tmp_path, tear, message):
    study = lay('model = "k-map"\nk = 2')
    path = tmp_path / "people.csv"
    if tear is None:
        path.unlink()
    else:
        path.write_text(tear(path.read_text()))
    before = sorted(tmp_path.iterdir())
    code, out, err = run("run", study, "-o", tmp_path / "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert sorted(tmp_path.iterdir()) == before


def test_people_whom_a_hierarchy_does_not_list():
    """The table has zip codes of the list alone; it is the population's that lack."""
    listed = Hierarchy.from_rows([[code, "any"] for code in ("101", "102", "201")])
    anonymizer = Anonymizer({"zip": listed}, "state", [KMap(2, everybody())], identifiers=["name"])
    message = r"the population: column 'zip' holds 1 value, in . records? \(.*\) that its hier"
    with pytest.raises(InputError, match=message):
        anonymizer.fit(the_table())


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("3", "population = 3 must be the path of a table"),
        ('["people.csv"]', r"population = \['people.csv'\] must be the path of a table"),
        ('"none.csv"', "there is no file .*none.csv"),
        ('"."', "its columns are not those of"),  # the files of a folder are one table
    ],
)
def test_a_population_is_the_path_of_a_table(run, lay, tmp_path, stated, message):
    study = lay('model = "k-map"\nk = 2')
    study.write_text(study.read_text().replace('"people.csv"', stated))
    code, _, err = run("run", study, "-o", tmp_path / "out")
    assert (code, err.count("\n")) == (2, 1)
    assert pytest.raises(InputError, match=message).matches(InputError(err))


@pytest.mark.parametrize("people", [None, "people.csv", {"zip": ["101"]}, ["101"]])
def test_a_population_is_a_frame(people):
    with pytest.raises(InputError, match="population must be a DataFrame with the quasi-identif"):
        KMap(2, people)


def test_ranges_say_nothing_of_a_population():
    table = pd.DataFrame({"age": range(10), "w": list("uvuvuvuvuv")})
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[5])}, "w", [KMap(2, table)], recoding="variable-range"
    )
    with pytest.raises(InputError, match="k-map is about a population; choose full-dom"):
        anonymizer.fit(table)


def test_labels_that_write_one_number_twice_are_two_classes_beside_a_population(tmp_path):
    """Each of them is too small; together they would not be."""
    (tmp_path / "q.csv").write_text("a;1;*\nb;1.0;*\nc;2;*\nd;2;*\n")
    good = pd.DataFrame({"q": list("abcd") * 10, "s": list("xy") * 20})
    bad = pd.DataFrame({"q": list("aaabbb") + ["c"] * 10, "s": list("xy") * 8})
    people = pd.concat([good[["q"]]] * 2 + [bad[["q"]]] * 2)
    anonymizer = Anonymizer(
        {"q": tmp_path / "q.csv"},
        sensitive="s",
        privacy=[KAnonymity(5), KMap(5, population=people)],
        recoding=Fixed(levels={"q": 1}),
    )
    anonymizer.fit(good)
    with pytest.raises(PolicyBrokenError, match="k-anonymity fails in 2 of 3 classes"):
        anonymizer.transform(bad)


def test_suppression_leaves_the_labels_of_others_as_they_are(tmp_path):
    (tmp_path / "q.csv").write_text("a1;1;*\na2;1;*\nb1;1.0;*\nb2;1.0;*\n")
    table = pd.DataFrame({"q": ["a1", "a2"] * 10 + ["b1", "b2"] * 10, "r": "u"})
    lone = pd.DataFrame({"q": ["a1"] * 5, "r": list("vwxyz")})
    anonymizer = Anonymizer(
        {"q": tmp_path / "q.csv", "r": "suppress"},
        privacy=[KAnonymity(5)],
        objective="discernibility",
        recoding=Fixed(levels={"q": 1, "r": 0}, suppression=0.3),
    )
    released = anonymizer.fit_transform(pd.concat([table, lone], ignore_index=True))
    assert released["q"].value_counts().to_dict() == {"1": 20, "1.0": 20, "*": 5}


def census() -> pd.DataFrame:
    """The same people as counts, some of them in two lines, and a zip code of nobody."""
    people = everybody()["zip"].value_counts().rename_axis("zip").reset_index(name="people")
    first = people.assign(people=people["people"] // 2)
    rest = people.assign(people=people["people"] - first["people"])
    return pd.concat([first, rest, pd.DataFrame({"zip": ["999"], "people": [0]})])


def test_people_who_are_counted_are_those_who_stand_one_by_one():
    counted = people_counted(census(), "people")
    assert counted.sizes.sum() == len(everybody())
    assert "999" not in counted["zip"].tolist()
    anonymizer = Anonymizer({"zip": Hierarchy.prefixes([1])})
    released = [
        anonymizer.set_params(privacy=[KMap(7, people)]).fit_transform(the_table())
        for people in (everybody(), Population(counted))
    ]
    pd.testing.assert_frame_equal(*released)


@pytest.mark.parametrize("path", ["census.csv", "census.parquet"])
def test_a_census_of_counts_releases_as_a_register_of_people_does(run, lay, tmp_path, path):
    study = lay('model = "k-map"\nk = 7')
    assert run("run", study, "-o", tmp_path / "one")[0] == 0
    frame = census()
    if path.endswith("csv"):
        frame.to_csv(tmp_path / path, index=False)
    else:
        frame.astype({"zip": int}).to_parquet(tmp_path / path)
    given = f'{{ path = "{path}", count = "people" }}'
    study.write_text(study.read_text().replace('"people.csv"', given))
    assert run("run", study, "-o", tmp_path / "two")[0] == 0
    one, two = (json.loads((tmp_path / n / "release.json").read_text()) for n in ("one", "two"))
    assert one["levels"] == two["levels"]
    assert one["privacy"][0]["worst"] == two["privacy"][0]["worst"]
    assert two["privacy"][0]["parameters"]["population"]["records"] == len(everybody())
    assert run("verify", tmp_path / "two", "-s", study)[0] == 0


@pytest.mark.parametrize("people", ["-1", "2.5", "many", ""])
def test_people_are_whole_numbers(people):
    with pytest.raises(InputError, match="'people' holds 1 values that are no whole numbers of"):
        people_counted(pd.DataFrame({"zip": ["101", "102"], "people": ["3", people]}), "people")
