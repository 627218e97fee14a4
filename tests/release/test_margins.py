"""k-map where of a population only margins are known, from the table to the files and back.

Bounds are counted in plain Python, value by value of the attribute that the margins have in common.
"""

import json
import pickle
from collections import Counter, defaultdict
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from checker import rows_of
from lengths import at_length

from anonymizer import (
    Anonymizer,
    AverageReidentificationRisk,
    Boxes,
    DeltaPresence,
    Fixed,
    FullDomain,
    Hierarchy,
    HighestReidentificationRisk,
    IndividualRisk,
    InputError,
    KMap,
    Margins,
    PolicyBrokenError,
    PolicyUnreachableError,
    Population,
    Pram,
    check,
)
from anonymizer.tables.population import people_counted

AGES = Hierarchy.ranges(widths=[5, 10, 20])
RULES = {"age": AGES, "sex": "suppress", "zip": Hierarchy.prefixes([3, 2])}
STRATEGIES = ["automatic", "bisection", "top-down", "incognito", "exhaustive", "branch-and-bound"]
STUDY = """\
[data]
path = "table.csv"
[quasi-identifiers]
age = { widths = [5, 10, 20] }
sex = "suppress"
zip = { prefixes = [3, 2] }
[sensitive]
attributes = "state"
[[privacy]]
model = "k-map"
k = 20
[privacy.population]
margins = [
  { path = "age_sex.csv", count = "people" },
  { path = "zip_age.csv", count = "people" },
]
"""


def everybody(people=3000) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 40, people),
            "sex": rng.choice(["f", "m"], people, p=[0.3, 0.7]),
            "zip": rng.choice(["9010", "9011", "9020", "9120", "9121"], people),
        }
    )


def the_table() -> pd.DataFrame:
    table = everybody().sample(200, random_state=1).reset_index(drop=True)
    return table.assign(state=[("flu", "cold")[row % 2] for row in range(len(table))])


def counted(*names) -> pd.DataFrame:
    return everybody().groupby([*names]).size().rename("people").reset_index()


def the_margins() -> Margins:
    tables = [counted("age", "sex"), counted("zip", "age")]
    return Margins([people_counted(each, "people") for each in tables], ["a", "z"])


def of_age(age: int, level: int) -> str:
    width = [1, 5, 10, 20][level] if level < 4 else 1000
    return "*" if level == 4 else str(age) if level == 0 else f"[{age // width * width},"


def labels(row, node) -> tuple[str, str, str]:
    age, sex, code = row
    shown = [code, code[:3], code[:2], "*"][node[2]]
    return of_age(age, node[0]), "*" if node[1] else sex, shown


@cache
def people_of_everybody() -> Counter:
    return Counter(everybody().itertuples(index=False, name=None))


@cache
def bounds(node) -> dict[tuple, int]:
    """The fewest people of each class of a node, by the ages that it admits."""
    by_sex, by_zip, all_of = Counter(), Counter(), Counter()
    for (age, sex, code), alike in people_of_everybody().items():
        _, sex, code = labels((age, sex, code), node)
        by_sex[age, sex] += alike
        by_zip[age, code] += alike
        all_of[age] += alike
    found: dict[tuple, int] = defaultdict(int)
    for age in all_of:
        for sex, code in product({s for _, s in by_sex}, {z for _, z in by_zip}):
            both = by_sex[age, sex] + by_zip[age, code] - all_of[age]
            found[of_age(age, node[0]), sex, code] += max(0, both)
    return found


def fewest(node) -> int:
    """The fewest people of a class that the table has records of, never fewer than these."""
    columns = the_table()[["age", "sex", "zip"]].itertuples(index=False)
    records = Counter(labels(row, node) for row in columns)
    known = bounds(node)
    return min(max(known[key], number) for key, number in records.items())


LATTICE = [*product(range(5), range(2), range(4))]


def fitted(k=20, recoding=None, population=None, rules=None, table=None) -> Anonymizer:
    model = KMap(k, population or the_margins())
    other = {} if recoding is None else {"recoding": recoding}
    own = the_table() if table is None else table
    return Anonymizer(rules or RULES, "state", [model], objective="loss", **other).fit(own)


@pytest.mark.parametrize("k", [8, 20, 200])
def test_every_search_finds_the_best_node_that_plain_python_allows(k):
    allowed = [node for node in LATTICE if fewest(node) >= k]
    found = [fitted(k, FullDomain(search=name)) for name in STRATEGIES]
    assert {str(each.release_.levels) for each in found} == {str(found[0].release_.levels)}
    node = tuple(found[0].release_.levels[name] for name in RULES)
    assert node in allowed
    assert found[0].release_.privacy[0].worst == fewest(node)
    assert found[STRATEGIES.index("exhaustive")].search_.feasible == len(allowed)
    for other in allowed:  # none that is finer in every attribute
        assert other == node or any(a > b for a, b in zip(other, node, strict=True))


def test_every_search_suppresses_the_classes_that_plain_python_finds_too_small():
    def gone(node) -> int:
        columns = the_table()[["age", "sex", "zip"]].itertuples(index=False)
        records, known = Counter(labels(row, node) for row in columns), bounds(node)
        return sum(size for key, size in records.items() if max(known[key], size) < 45)

    names = ["automatic", "exhaustive", "branch-and-bound"]
    options = {"suppression": 0.3, "remove": True}
    found = [fitted(45, FullDomain(search=name, **options)) for name in names]
    assert {str(each.release_.levels) for each in found} == {str(found[0].release_.levels)}
    node = tuple(found[0].release_.levels[name] for name in RULES)
    assert found[0].release_.released == 200 - gone(node) < 200
    assert found[1].search_.feasible == sum(gone(each) <= 60 for each in LATTICE)


def test_whoever_the_people_are_they_are_no_fewer():
    """The true population has these margins, and so has one of people moved within an age."""
    rng = np.random.default_rng(0)
    moved = everybody()
    for place in moved.groupby("age").groups.values():
        moved.loc[place, "zip"] = rng.permutation(moved.loc[place, "zip"].to_numpy())
    for node in LATTICE[::3]:
        known = bounds(node)
        for people in (everybody(), moved):
            sizes = Counter(labels(row, node) for row in people.itertuples(index=False))
            assert all(sizes[key] >= bound for key, bound in known.items())


def test_classes_that_too_few_people_have_for_sure_are_left_out():
    levels = {"age": 3, "sex": 0, "zip": 1}
    node = (3, 0, 1)
    with pytest.raises(
        PolicyUnreachableError, match="the levels given do not satisfy all of k-map"
    ):
        fitted(150, Fixed(levels))
    found = fitted(150, Fixed(levels, suppression=0.9, remove=True))
    kept = [label for label, bound in bounds(node).items() if bound >= 150]
    table = the_table()[["age", "sex", "zip"]]
    records = Counter(labels(row, node) for row in table.itertuples(index=False))
    assert 0 < sum(records[key] for key in kept) == found.release_.released < len(table)
    assert found.release_.privacy[0].worst == min(bounds(node)[key] for key in kept)
    with pytest.raises(InputError, match="give remove = true with suppression, which leaves these"):
        fitted(150, Fixed(levels, suppression=0.9))


def test_the_risk_of_who_is_looked_up_in_any_such_population():
    model = HighestReidentificationRisk(1 / 20, the_margins())
    found = Anonymizer(RULES, "state", [model], objective="loss").fit(the_table())
    assert found.release_.levels == fitted(20).release_.levels
    assert found.release_.privacy[0].worst == 1 / fitted(20).release_.privacy[0].worst


def test_a_margin_of_all_attributes_is_the_table_of_everybody():
    whole = Margins([people_counted(counted("age", "sex", "zip"), "people")])
    known = fitted(30, population=Population(everybody()))
    found = fitted(30, population=whole)
    assert found.release_.levels == known.release_.levels
    assert found.release_.privacy[0].worst == known.release_.privacy[0].worst


def test_an_attribute_of_no_margin_is_released_for_nobody():
    alone = Margins([people_counted(counted("age", "sex"), "people")])
    assert fitted(20, population=alone).release_.levels["zip"] == 3
    limited = {**RULES, "zip": Hierarchy.prefixes([3, 2]).limited(max_level=2)}
    with pytest.raises(
        PolicyUnreachableError, match="no node of the lattice satisfies all of k-map"
    ):
        fitted(200, population=alone, rules=limited)
    with pytest.raises(PolicyUnreachableError, match="exceeds the 3000 records of the population"):
        fitted(3001)


def test_another_table_is_held_against_its_own_classes():
    found = fitted(20)
    other = everybody().sample(50, random_state=7).assign(state="flu")
    for each in (found, pickle.loads(pickle.dumps(found))):
        released = each.transform(other)
        assert len(released) == 50
    strange = other.assign(zip="9122")  # of which the hierarchy knows the label, and no margin
    coarse = fitted(20, Fixed({"age": 3, "sex": 1, "zip": 1}))
    with pytest.raises(InputError, match=r"margin 'z' has 50 people too few .* 50 of them as"):
        coarse.transform(strange)
    node, table, known = (3, 0, 1), the_table(), bounds((3, 0, 1))
    rows = table[["age", "sex", "zip"]].itertuples(index=False)
    enough = [known[labels(row, node)] >= 150 for row in rows]
    some = fitted(150, Fixed({"age": 3, "sex": 0, "zip": 1}), table=table[enough])
    with pytest.raises(PolicyBrokenError, match=r"recoding: k-map fails in \d of \d classes"):
        some.transform(table)


def test_what_the_raw_table_satisfies():
    names = ["age", "sex", "zip"]
    verdict = check(the_table(), names, "state", [KMap(2, the_margins())]).privacy[0]
    assert verdict.worst == fewest((0, 0, 0))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda p: DeltaPresence(0, 0.5, p), "delta-presence: margins tell the fewest people"),
        (lambda p: AverageReidentificationRisk(0.1, p), "average-reidentification-risk: margins"),
        (lambda p: IndividualRisk(0.1, p), "individual-risk: margins tell the fewest people"),
    ],
)
def test_models_that_need_to_know_how_many_people_there_are(model, message):
    with pytest.raises(InputError, match=message):
        model(the_margins())


def test_what_does_not_go_with_margins():
    with pytest.raises(InputError, match="boxes recoding judges every class by its own records"):
        Anonymizer(RULES, "state", [KMap(20, the_margins())], recoding=Boxes()).fit(the_table())
    with pytest.raises(InputError, match="a random recoding judges every class by its own"):
        Anonymizer(RULES, "state", [KMap(20, the_margins())], recoding=Pram()).fit(the_table())
    with pytest.raises(InputError, match=r"k-map: margins bound the people .* leave out person"):
        Anonymizer(RULES, "state", [KMap(20, the_margins())], person="who").fit(
            the_table().assign(who=1)
        )
    gaps = counted("age", "sex").astype({"sex": object})
    gaps.loc[0, "sex"] = None
    with pytest.raises(InputError, match="the margin '1': column 'sex' misses the value of"):
        fitted(20, population=Margins([people_counted(gaps, "people")]))
    with pytest.raises(InputError, match="the margins '1' and '2' contradict each other"):
        fitted(20, population=Margins([everybody()[["age"]], everybody(2999)[["age"]]]))
    models = [KMap(20, the_margins()), HighestReidentificationRisk(0.1, everybody())]
    with pytest.raises(InputError, match="can be about one population, not several"):
        Anonymizer(RULES, "state", models).fit(the_table())


# Margins in a ring


def in_a_ring(times=30) -> pd.DataFrame:
    """Each sex in each zip are people of one kind, and of these 40 has what others leave over."""
    kinds = [(20, "m", "9010"), (30, "f", "9011"), (40, "f", "9010"), (40, "m", "9011")]
    return pd.DataFrame(kinds * times, columns=["age", "sex", "zip"])


def ring() -> list[pd.DataFrame]:
    pairs = [["age", "sex"], ["sex", "zip"], ["zip", "age"]]
    return [in_a_ring().groupby(pair).size().rename("people").reset_index() for pair in pairs]


@pytest.mark.parametrize("search", STRATEGIES)
def test_every_search_knows_whom_margins_in_a_ring_leave_over(search, monkeypatch):
    """All thirty of each kind are there for sure; by two margins nobody of 40 would be."""
    table = in_a_ring(3).assign(state=["flu", "cold"] * 6)
    known = Margins([people_counted(each, "people") for each in ring()])
    found = fitted(20, FullDomain(search=search), known, table=table)
    assert found.release_.levels == {"age": 0, "sex": 0, "zip": 0}
    assert found.release_.privacy[0].worst == 30
    monkeypatch.setattr("anonymizer.counts.margin_programs.MOST_WORK", 0)
    closed = fitted(20, FullDomain(search=search), known, table=table)
    assert closed.release_.levels != found.release_.levels


def test_margins_in_a_ring_of_files(run, tmp_path):
    in_a_ring(3).assign(state=["flu", "cold"] * 6).to_csv(tmp_path / "table.csv", index=False)
    for name, each in zip(("age_sex", "sex_zip", "zip_age"), ring(), strict=True):
        each.to_csv(tmp_path / f"{name}.csv", index=False)
    study, out = tmp_path / "study.toml", tmp_path / "out"
    third = '  { path = "sex_zip.csv", count = "people" },\n]'
    study.write_text(STUDY.replace("\n]\n", f"\n{third}\n"))
    code, _, err = run("run", study, "-o", out)
    assert (code, err) == (0, "")
    manifest = json.loads((out / "release.json").read_text())
    assert [each["worst"] for each in manifest["privacy"]] == [30]
    code, text, err = run("verify", out, "-s", study, "--json")
    assert (code, err) == (0, "")
    assert json.loads(text)["privacy"] == manifest["privacy"]
    # All thirty men of 20 are in 9010, where there are to be 29 men.
    ring()[1].assign(people=[31, 29, 29, 31]).to_csv(tmp_path / "sex_zip.csv", index=False)
    code, _, err = run("run", study, "-o", tmp_path / "other")
    assert code == 2
    words = "margins 'age_sex.csv', 'zip_age.csv', 'sex_zip.csv' contradict each other: any two"
    assert words in " ".join(err.split())


# Labels of a level


def by_groups(level, *names) -> pd.DataFrame:
    """A margin that has age groups in place of ages."""
    width = [1, 5, 10, 20][level]
    low = everybody()["age"] // width * width
    groups = [f"[{age}, {age + width})" for age in low]
    known = everybody().assign(age=groups if level else everybody()["age"])
    return known.groupby([*names]).size().rename("people").reset_index()


def by_groups_of(sex: int, place: int) -> Margins:
    tables = [by_groups(sex, "age", "sex"), by_groups(place, "zip", "age")]
    return Margins([people_counted(each, "people") for each in tables], ["a", "z"])


def bounds_at(node, sex: int, place: int) -> dict[tuple, int]:
    """The fewest people of each class, where the margins know ages at these levels.

    By each of the two levels: a margin that knows less counts without ages.
    """
    found: dict[tuple, int] = defaultdict(int)
    for level in {sex, place} & {*range(node[0] + 1)}:
        by_sex, by_zip, all_of, both = Counter(), Counter(), Counter(), max(sex, place) <= level
        for age, *other in everybody().itertuples(index=False):
            shown, own, code = labels((age, *other), node)
            unit = of_age(age, level) if both else "all"
            by_sex[unit, shown if sex <= level else "any", own] += 1
            by_zip[unit, shown if place <= level else "any", code] += 1
            all_of[unit] += 1
        owns, codes = {key[2] for key in by_sex}, {key[2] for key in by_zip}
        ages = {key[1] for key in (*by_sex, *by_zip)} - {"any"}
        for shown, own, code in product(ages, owns, codes):
            mine = [(unit, shown if sex <= level else "any", own) for unit in all_of]
            others = [(unit, shown if place <= level else "any", code) for unit in all_of]
            terms = [
                max(0, by_sex[one] + by_zip[other] - all_of[one[0]])
                for one, other in zip(mine, others, strict=True)
            ]
            found[shown, own, code] = max(found[shown, own, code], sum(terms))
    return found


@pytest.mark.parametrize(("sex", "place"), [(1, 1), (0, 1), (2, 0), (2, 1), (0, 0)])
def test_labels_of_a_level_bound_the_classes_of_its_groups(sex, place):
    """Every node that has more than records against plain Python; ages below a level: nobody."""
    population = by_groups_of(sex, place)
    columns = [*the_table()[["age", "sex", "zip"]].itertuples(index=False)]
    for node in LATTICE[:: at_length(6, 3)]:
        records = Counter(labels(row, node) for row in columns)
        known = bounds_at(node, sex, place)
        expected = min(max(known[key], number) for key, number in records.items())
        recoding = Fixed(dict(zip(RULES, node, strict=True)))
        found = fitted(1, recoding, population).release_.privacy[0].worst
        assert found == expected, (node, found, expected)


def test_whoever_has_the_age_groups_has_no_fewer():
    """The true population, and one of people moved within an age group."""
    rng = np.random.default_rng(0)
    moved = everybody()
    for place in moved.groupby(moved["age"] // 10).groups.values():
        moved.loc[place, "zip"] = rng.permutation(moved.loc[place, "zip"].to_numpy())
        moved.loc[place, "age"] = rng.permutation(moved.loc[place, "age"].to_numpy())
    for node in LATTICE[::2]:
        known = bounds_at(node, 2, 2)
        for people in (everybody(), moved):
            sizes = Counter(labels(row, node) for row in people.itertuples(index=False))
            assert all(sizes[key] >= bound for key, bound in known.items())


def test_another_table_is_held_against_age_groups():
    found = fitted(20, population=by_groups_of(1, 2))
    assert found.release_.levels["age"] >= 1
    for each in (found, pickle.loads(pickle.dumps(found))):
        released = each.transform(everybody().sample(50, random_state=7).assign(state="flu"))
        assert len(released) == 50
    old = the_table().assign(age=95)
    with pytest.raises(InputError, match="people too few for the records of the table, 200 of th"):
        fitted(20, population=by_groups_of(1, 2), table=old)


def test_age_groups_in_files(run, study, tmp_path):
    by_groups(1, "age", "sex").to_csv(tmp_path / "age_sex.csv", index=False)
    by_groups(2, "zip", "age").to_csv(tmp_path / "zip_age.csv", index=False)
    out, released = tmp_path / "out", tmp_path / "out" / "released.csv"
    code, _, err = run("run", study, "-o", out)
    assert (code, err) == (0, "")
    manifest = json.loads((out / "release.json").read_text())
    (verdict,) = manifest["privacy"]
    assert manifest["levels"]["age"] >= 1
    code, text, err = run("verify", out, "-s", study, "--json")
    assert (code, err) == (0, "")
    assert json.loads(text)["privacy"] == [verdict]
    code, text, err = run("check", released, "-s", study, "--json")
    assert json.loads(text)["privacy"] == [{**verdict, "violating_records": 0}]
    code, text, _ = run("check", tmp_path / "table.csv", "-s", study, "--json")
    assert (code, json.loads(text)["privacy"][0]["worst"]) == (1, 1)  # of ages nobody for sure
    code, text, _ = run("audit", out, "--against", tmp_path / "table.csv", "-s", study, "--json")
    assert (code, json.loads(text)["releases"][0]["privacy"]) == (3, [verdict])
    again = tmp_path / "again"
    code, _, err = run("apply", out, tmp_path / "table.csv", "-s", study, "-o", again)
    assert (code, err) == (0, "")
    assert run("verify", again, "-s", study)[0] == 0


def test_verify_bounds_a_release_of_ages_by_age_groups_as_nobody(run, study, tmp_path):
    """A class of one age is not the people of its age group, whose value stands for them."""
    study.write_text(study.read_text().replace("k = 20", "k = 2"))
    fixed = '[recoding]\nmethod = "fixed"\nlevels = { age = 0, sex = 1, zip = 3 }\n'
    study.write_text(fixed + study.read_text())
    code, _, _ = run("run", study, "-o", tmp_path / "out")
    assert code == 0
    for name, columns in (("age_sex", ("age", "sex")), ("zip_age", ("zip", "age"))):
        by_groups(1, *columns).to_csv(tmp_path / f"{name}.csv", index=False)
    code, text, _ = run("verify", tmp_path / "out", "-s", study, "--json")
    (verdict,) = json.loads(text)["privacy"]
    fewest_records = the_table().groupby("age").size().min()
    assert verdict["worst"] == fewest_records


def test_labels_of_several_levels_are_refused(run, study, tmp_path):
    mixed = by_groups(1, "age", "sex")
    mixed["age"] = mixed["age"].replace("[20, 25)", "[20, 30)")
    mixed.to_csv(tmp_path / "age_sex.csv", index=False)
    code, _, err = run("run", study, "-o", tmp_path / "out")
    assert code == 2
    words = "'age_sex.csv': column 'age' has 3 labels of level 1 of its hierarchy, and 1 others"
    assert words in " ".join(err.split())


# Studies and files


@pytest.fixture
def study(tmp_path):
    the_table().to_csv(tmp_path / "table.csv", index=False)
    counted("age", "sex").to_csv(tmp_path / "age_sex.csv", index=False)
    counted("zip", "age").assign(year=2020).to_csv(tmp_path / "zip_age.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def test_run_verify_check_apply_audit_and_report(run, study, tmp_path):
    out = tmp_path / "out"
    code, _, err = run("run", study, "-o", out)
    assert (code, err) == (0, "")
    manifest = json.loads((out / "release.json").read_text())
    node = tuple(manifest["levels"][name] for name in RULES)
    (verdict,) = manifest["privacy"]
    assert verdict["worst"] == fewest(node) >= 20
    assert verdict["parameters"]["population"] == {
        "name": "age_sex.csv and zip_age.csv",
        "records": 3000,
        "margins": ["age_sex.csv", "zip_age.csv"],
    }
    released = out / "released.csv"
    assert len(rows_of(released)) == 200
    code, _, err = run("verify", out)
    assert code == 2
    assert "name the study of the release with --study" in err
    code, text, err = run("verify", out, "-s", study, "--json")
    assert (code, err) == (0, "")
    assert json.loads(text)["privacy"] == [verdict]
    code, text, err = run("check", released, "-s", study, "--json")
    assert (code, err) == (0, "")
    assert json.loads(text)["privacy"] == [{**verdict, "violating_records": 0}]
    code, text, _ = run("audit", out, "--against", tmp_path / "table.csv", "-s", study, "--json")
    assert code == 3
    assert json.loads(text)["releases"][0]["privacy"] == [verdict]
    again = tmp_path / "again"
    code, _, err = run("apply", out, tmp_path / "table.csv", "-s", study, "-o", again)
    assert (code, err) == (0, "")
    assert sorted(map(str, rows_of(again / "released.csv"))) == sorted(map(str, rows_of(released)))
    assert run("verify", again, "-s", study)[0] == 0
    code, _, err = run("report", out, "-s", study, "-o", tmp_path / "page.html")
    assert (code, err) == (0, "")
    page = (tmp_path / "page.html").read_text()
    assert "of at least 20 people of the population" in page
    assert f"fewest such people could be that of at least {fewest(node)}." in page


def test_verify_sees_a_class_that_too_few_people_have_for_sure(run, study, tmp_path):
    run("run", study, "-o", tmp_path / "out")
    moved = counted("zip", "age").sort_values(["age", "zip"])
    most = moved.groupby("age")["people"].sum() - 4  # all but four in the last place, by age
    moved["people"] = np.where(moved["zip"] == "9121", moved["age"].map(most), 1)
    moved.to_csv(tmp_path / "zip_age.csv", index=False)
    code, out, _ = run("verify", tmp_path / "out", "-s", study, "--json")
    assert code == 1
    (verdict,) = json.loads(out)["privacy"]
    assert not verdict["satisfied"]


@pytest.mark.parametrize(
    ("tear", "message"),
    [
        (lambda text: text.replace('"age_sex.csv"', '"no.csv"'), "there is no"),
        (lambda text: text.replace('"people"', '"persons"', 1), "'persons'"),
        (lambda text: text.replace("{ path", "{ file", 1), "must be the path of a table"),
        (
            lambda text: text.replace("k-map", "delta-presence").replace(
                "k = 20", "lower = 0\nupper = 1"
            ),
            "margins tell the fewest",
        ),
        (lambda text: text.replace("sex =", "gender ="), "gender"),
    ],
)
def test_studies_of_margins_that_cannot_be(run, study, tmp_path, tear, message):
    study.write_text(tear(study.read_text()))
    code, _, err = run("run", study, "-o", tmp_path / "out")
    assert code == 2
    assert message in err
