"""Audits through files: releases that are safe each, and what they disclose together."""

import json
import shutil
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from lengths import at_length

from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.risk.audit import audit_files

# Planted in the sensitive column and the identifier: nothing printed may ever hold one of them.
DISEASE, NAME = SECRETS = "Morbus", "Nemo"
POLICY = """
[[privacy]]
model = "k-anonymity"
k = {k}

[[privacy]]
model = "distinct-l-diversity"
l = {l}
"""


def lay(
    directory,
    name,
    table,
    age="widths = [10]",
    policy=None,
    search="",
    data="",
    k=5,
    l=2,  # noqa: E741
    sensitive='["disease"]',
):
    """A table and its study: age is the quasi-identifier, and sex where the table has it."""
    home = directory / name
    home.mkdir(parents=True)
    path = home / ("people.parquet" if data == "parquet" else "people.csv")
    if data == "parquet":
        table.to_parquet(path)
        data = ""
    else:
        table.to_csv(path, index=False)
    rule = "age.toml" if "=" in age else "age.csv"
    (home / rule).write_text(age)
    sex = 'sex = "suppress"' if "sex" in table else ""
    (home / "study.toml").write_text(
        f"""[data]
path = "{path.name}"
{data}
[quasi-identifiers]
age = "{rule}"
{sex}
[sensitive]
attributes = {sensitive}
[identifiers]
attributes = {["name"] if "name" in table else []}
[recoding]
{search}
"""
        + (POLICY.format(k=k, l=l) if policy is None else policy)
    )
    return home / "study.toml", path


def fixed(level=1, sex=None):
    levels = f"age = {level}" + ("" if sex is None else f", sex = {sex}")
    return f'method = "fixed"\nlevels = {{ {levels} }}'


@pytest.fixture
def run(run):
    """The command line, whose errors are one line."""

    def call(*arguments):
        code, out, err = run(*arguments)
        assert err.count("\n") <= 1
        return code, out, err

    return call


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Lay out a table and release it; of the same table and study a copy."""
    made = {}

    def call(directory, name, table, **stated):
        known = (table.to_csv(), *table.dtypes, *sorted(stated.items()))
        if known not in made:
            study, path = lay(tmp_path_factory.mktemp("audit"), "home", table, **stated)
            publish(Study(study), study.parent / "out")
            made[known] = path
        home = shutil.copytree(made[known].parent, directory / name)
        return home / "out", home / made[known].name

    return call


@pytest.fixture
def audited(run):
    def call(*arguments):
        code, out, err = run("audit", *arguments, "--json")
        assert err == "", err
        return code, json.loads(out)

    return call


def shifted():
    """Ages of which four are 2 past a decade and one 7: bands from 0 and from 5 all hold five.

    Together they set the one apart.
    """
    ages = [2] * 5 + [7] + [age for d in (10, 20, 30) for age in [d + 2] * 4 + [d + 7]]
    ages += [42] * 4 + [47] * 5
    return pd.DataFrame(
        {
            "name": [f"{NAME}{i}" for i in range(len(ages))],
            "age": ages,
            "disease": [f"{DISEASE}{i % 3}" for i in range(len(ages))],
        }
    )


def brute(releases, quasi=("age", "sex"), k=5, l=2):  # noqa: E741
    """What releases that keep a column rid disclose together, by pandas alone."""
    classes, disease = {}, {}
    for number, table in enumerate(releases):
        names = [name for name in quasi if name in table]
        labels = table[names].fillna("missing").astype(str).agg("|".join, axis=1)
        classes[number] = pd.Series(labels.to_numpy(), index=table["rid"].astype(int))
        disease |= dict(zip(table["rid"].astype(int), table["disease"], strict=True))
    people = pd.DataFrame(classes).fillna("absent")
    people["disease"] = [disease[rid] for rid in people.index]
    absent = (people[list(classes)] == "absent").any(axis=1)
    return [_brute(part, list(classes), k, l) for part in (people[~absent], people[absent])]


def _brute(people, classes, k, l):  # noqa: E741
    if people.empty:
        return None
    groups = people.groupby(classes)["disease"]
    size, kinds = groups.transform("size"), groups.transform("nunique")
    return {
        "records": len(people),
        "classes": groups.ngroups,
        "singled_out": int((size == 1).sum()),
        "homogeneous_records": {"disease": int((kinds == 1).sum())},
        "failing_records": int(((size < k) | (kinds < l)).sum()),
    }


def stated(part):
    return part and {key: part[key] for key in part if key not in ("privacy", "satisfied")}


# What it is for


def test_two_safe_releases_that_together_single_out_records(released, audited, run, tmp_path):
    table = shifted().assign(rid=range(len(shifted())))
    one, path = released(tmp_path, "one", table, search=fixed())
    two, _ = released(tmp_path, "two", table, age="widths = [10]\norigin = 5", search=fixed())
    assert audited(one, "-a", path)[0] == audited(two, "-a", path)[0] == 3

    code, found = audited(one, two, "--against", path)
    assert code == 1
    assert not found["satisfied"]
    assert [each["satisfied"] for each in found["releases"]] == [True, True]
    together = found["intersection"]
    assert together["in_some"] is None
    assert together["in_all"]["singled_out"] == 4  # 7, 17, 27 and 37
    tables = [pd.read_csv(out / "released.csv") for out in (one, two)]
    assert stated(together["in_all"]) == brute(tables)[0]
    assert together["linkage"]["prosecutor"]["certain"] == 4
    assert together["inference"]["disease"]["homogeneous_records"] == 4
    assert together["query_loss"]["together"]["maximum"] == pytest.approx(np.log2(len(table)))
    average = [loss["average"] for loss in together["query_loss"]["releases"]]
    assert max(average) <= together["query_loss"]["together"]["average"] <= sum(average)

    code, text, _ = run("audit", one, two, "--against", path)
    assert code == 1
    assert "4 singled out" in text
    assert "The policy does NOT hold." in text


def test_nested_releases_are_safe(released, audited, run, tmp_path):
    table = shifted()
    one, path = released(tmp_path, "one", table, search=fixed())
    two, _ = released(tmp_path, "two", table, age="widths = [20]", search=fixed())
    code, found = audited(one, two, "-a", path)
    assert (code, found["satisfied"]) == (3, True)
    assert found["unexamined"] == ["its hierarchies are known by --study alone"]
    # The finer release is the common refinement: the coarser adds nothing.
    losses = found["intersection"]["query_loss"]
    assert losses["together"] == pytest.approx(losses["releases"][0])
    assert found["intersection"]["in_all"]["classes"] == found["releases"][0]["classes"]
    code, text, _ = run("audit", one, two / "released.csv", "-a", path)
    assert code == 3
    assert "The policy holds in every release and in their intersection against readers" in text
    assert "Not examined is what" in text


def test_three_releases_disclose_what_no_two_of_them_do(released, audited, tmp_path):
    """Each shows one bit of the age: any two leave 4 + 1 people together, all three do not."""
    numbers = [4, 1, 1, 4, 1, 4, 4, 1]  # four of those with evenly many bits set, one of the others
    ages = [age for age, people in enumerate(numbers) for _ in range(people)]
    table = pd.DataFrame({"age": ages, "disease": [f"{DISEASE}{i % 3}" for i in range(20)]})
    outs = []
    for bit in range(3):
        age = "".join(f"{age};{'odd' if age >> bit & 1 else 'even'}\n" for age in range(8))
        out, path = released(tmp_path, f"bit{bit}", table, age=age, search=fixed())
        outs.append(out)
    for pair in combinations(outs, 2):
        code, found = audited(*pair, "-a", path)
        assert (code, found["intersection"]["in_all"]["classes"]) == (3, 4)
    code, found = audited(*outs, "-a", path)
    assert (code, found["intersection"]["in_all"]["singled_out"]) == (1, 4)


def test_many_people_of_one_value_are_not_singled_out_but_known(released, audited, tmp_path):
    ages = [2] * 5 + [7] * 5 + [12] * 5 + [17] * 5
    values = [0, 1, 0, 1, 0, 2, 2, 2, 2, 2, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    table = pd.DataFrame({"age": ages, "disease": [f"{DISEASE}{v}" for v in values]})
    one, path = released(tmp_path, "one", table, search=fixed())
    two, _ = released(tmp_path, "two", table, age="cuts = [5]", search=fixed())
    code, found = audited(one, two, "-a", path)
    assert code == 1
    part = found["intersection"]["in_all"]
    assert (part["singled_out"], part["homogeneous_records"]) == (0, {"disease": 5})
    assert part["failing_records"] == 5
    # Without linking, 7-year-olds may have any of the values of both of their classes.
    assert found["intersection"]["candidates"]["disease"] == {
        "fewest": 2,
        "one": 0,
        "l": 2,
        "fewer": 0,
    }


def test_composition_leaves_a_single_value(released, audited, tmp_path):
    """Ganta et al. (2008): values {a, b} in one class and {b, c} in the other leave b."""
    ages, kinds = [1, 1, 11, 11, 21, 21], "abbcca"
    table = pd.DataFrame({"age": ages, "disease": [DISEASE + kind for kind in kinds]})
    table.loc[[1, 3, 5], "age"] += 5
    one, path = released(tmp_path, "one", table, age="cuts = [10, 20]", search=fixed(), k=2)
    two, _ = released(tmp_path, "two", table, age="cuts = [3, 13]", search=fixed(), k=1, l=1)
    code, found = audited(one, two, "-a", path)
    # Ages by class, 1 6 | 11 16 | 21 26 with ab, bc, ca and 1 | 6 11 | 16 21 26 with a, b, ca.
    left = found["intersection"]["candidates"]["disease"]
    assert (code, left) == (1, {"fewest": 1, "one": 4, "l": 2, "fewer": 4})


# People who are in some releases only


def test_overlapping_tables_by_identifier(released, audited, run, tmp_path):
    table = shifted().assign(rid=range(len(shifted())))
    old, new = table.iloc[:-5], table.iloc[5:].sample(frac=1, random_state=0)
    one, first = released(tmp_path, "one", old, search=fixed(), k=1, l=1)
    two, second = released(
        tmp_path, "two", new, age="widths = [10]\norigin = 5", search=fixed(), k=1, l=1
    )
    asked = [one, two, "-a", first, "-a", second]
    code, found = audited(*asked, "--identifier", "name")
    tables = [pd.read_csv(out / "released.csv") for out in (one, two)]
    both, some = brute(tables, k=1, l=1)
    assert code == 3
    assert stated(found["intersection"]["in_all"]) == both
    assert stated(found["intersection"]["in_some"]) == some
    assert "--identifier, the column that identifies people" in run("audit", *asked)[2]


def test_identifiers_are_the_same_however_numbers_are_written(released, audited, tmp_path):
    """A column that had gaps comes back as 7.0; were it nobody's 7, nobody would be in both."""
    table = shifted().assign(name=range(len(shifted())))
    one, first = released(tmp_path, "one", table, search=fixed())
    floats = table.assign(name=table["name"].astype(float))
    other = "widths = [10]\norigin = 5"
    two, second = released(tmp_path, "two", floats, age=other, search=fixed(), data="parquet")
    code, found = audited(one, two, "-a", first, "-a", second, "--identifier", "name")
    assert (code, found["intersection"]["records_at_least"]) == (1, len(table))


def test_somebody_added_between_two_releases_is_refused(released, audited, run, tmp_path):
    """The same recoding of one person more: the class that grew tells what that person has."""
    table = shifted()
    more = pd.DataFrame({"name": [f"{NAME}x"], "age": [44], "disease": [f"{DISEASE}1"]})
    one, first = released(tmp_path, "one", table, search=fixed())
    two, second = released(tmp_path, "two", pd.concat([table, more]), search=fixed())
    asked = [one, two, "-a", first, "-a", second, "--identifier", "name"]
    code, found = audited(*asked)
    assert code == 1
    assert found["intersection"]["in_all"]["satisfied"]
    assert found["intersection"]["in_some"]["singled_out"] == 1
    assert found["intersection"]["in_some"]["failing_records"] == 1
    assert "1 record in some releases only: in 1 classes; 1 singled" in run("audit", *asked)[1]


def test_nobody_in_both(released, audited, run, tmp_path):
    """Their releases may look the same, and are not."""
    table = shifted()
    other = table.assign(name=table["name"] + "'")
    one, first = released(tmp_path, "one", table, search=fixed())
    two, second = released(tmp_path, "two", other, search=fixed())
    asked = [one, two, "-a", first, "-a", second, "--identifier", "name"]
    code, found = audited(*asked)
    assert code == 3
    assert found["intersection"]["in_all"] is None
    assert found["intersection"]["in_some"]["records"] == 2 * len(table)
    assert "nobody is in all releases" in run("audit", *asked)[1]


def test_removed_records_are_absent(released, audited, tmp_path):
    """Left out of one release, kept in the other: their classes are told apart by that."""
    table = shifted().assign(rid=range(len(shifted())))
    lone = pd.DataFrame(
        {"name": [f"{NAME}y"], "age": [95], "disease": [f"{DISEASE}0"], "rid": [99]}
    )
    table = pd.concat([table, lone])
    levels = 'suppression = 0.1\nremove = true\n[search]\nstrategy = "exhaustive"\n'
    one, path = released(tmp_path, "one", table, search=levels)
    two, _ = released(tmp_path, "two", table, age="cuts = [50]", search=levels, k=1, l=1)
    tables = [pd.read_csv(out / "released.csv") for out in (one, two)]
    assert len(tables[0]) < len(tables[1])
    code, found = audited(one, two, "-a", path)
    both, some = brute(tables)
    assert code == 1
    assert stated(found["intersection"]["in_all"]) == both
    assert stated(found["intersection"]["in_some"]) == some


def test_a_value_that_no_release_of_somebody_shows_is_not_known(released, audited, tmp_path):
    """Left out of the release that shows diseases, in one that shows none."""
    table = shifted()
    lone = pd.DataFrame({"name": [f"{NAME}y"], "age": [95], "disease": [f"{DISEASE}0"]})
    table = pd.concat([table, lone])
    one, path = released(tmp_path, "one", table, search="suppression = 0.1\nremove = true", k=1)
    policy = '[[privacy]]\nmodel = "k-anonymity"\nk = 1\n'
    two, _ = released(
        tmp_path,
        "two",
        table.drop(columns="disease"),
        age="cuts = [50]",
        search=fixed() + '\n[objective]\nname = "loss"',
        policy=policy,
        sensitive="[]",
    )
    code, found = audited(one, two, "-a", path)
    some = found["intersection"]["in_some"]
    assert (code, some["records"], some["singled_out"]) == (3, 1, 1)
    assert (some["homogeneous_records"], some["failing_records"]) == ({"disease": 0}, 0)


# An original that holds more people than the releases


def test_a_population_makes_a_journalist_and_proves_nothing(released, audited, run, tmp_path):
    table = shifted()
    one, _ = released(tmp_path, "one", table, search=fixed())
    two, _ = released(tmp_path, "two", table, age="widths = [20]", search=fixed())
    everybody = tmp_path / "everybody.csv"
    pd.concat([table, table.assign(age=table["age"] + 1)]).to_csv(everybody, index=False)
    code, found = audited(one, "-a", everybody)
    assert code == 3
    attack = found["releases"][0]["linkage"]
    assert found["releases"][0]["people_beyond_records"] == len(table)
    assert attack["prosecutor"]["average"] == pytest.approx(2 * attack["journalist"]["average"])
    assert attack["marketer"] == attack["journalist"]["average"]
    code, found = audited(one, two, "-a", everybody)
    assert code == 1
    together = found["intersection"]
    assert not together["membership_known"]
    assert (together["records_at_least"], together["in_all"]) == (0, None)
    assert together["records_at_most"] == len(table)
    text = run("audit", one, two, "-a", everybody)[1]
    assert "the policy cannot be proven; give each release its own table" in text


def test_people_whom_no_class_stands_for_do_no_harm(released, audited, tmp_path):
    """Ages of which no release has a class: who is in them is known all the same."""
    one, path = released(tmp_path, "one", shifted(), search=fixed())
    two, _ = released(tmp_path, "two", shifted(), age="widths = [20]", search=fixed())
    more = tmp_path / "more.csv"
    strange = pd.DataFrame({"name": ["x"], "age": ["150"], "disease": [f"{DISEASE}0"]})
    pd.concat([shifted(), strange]).to_csv(more, index=False)
    exact, found = audited(one, two, "-a", path)[1], audited(one, two, "-a", more)[1]
    assert found == exact


def test_an_original_without_the_sensitive_attribute(released, audited, run, tmp_path):
    one, path = released(tmp_path, "one", shifted(), search=fixed())
    two, _ = released(tmp_path, "two", shifted(), age="widths = [20]", search=fixed())
    known = tmp_path / "known.csv"
    shifted()[["age"]].to_csv(known, index=False)
    code, found = audited(one, "-a", known)
    inference = found["releases"][0]["inference"]["disease"]
    assert (code, inference["guessed_right"], inference["guessed"]) == (3, None, None)
    tried = audited(one, "-a", path)[1]["releases"][0]["inference"]["disease"]
    assert tried["guessed_right"] == tried["expected"] == inference["expected"]
    code, _, err = run("audit", one, two, "-a", known)
    assert code == 2
    assert "has no column 'disease'" in err


# Any recoding, any format


def test_parquet(released, audited, tmp_path):
    table = shifted().assign(rid=range(len(shifted())))
    one, path = released(tmp_path, "one", table, search=fixed(), data="parquet")
    two, _ = released(
        tmp_path, "two", table, age="widths = [10]\norigin = 5", search=fixed(), data="parquet"
    )
    code, found = audited(one, two, "-a", path)
    tables = [pd.read_parquet(out / "released.parquet") for out in (one, two)]
    assert code == 1
    assert stated(found["intersection"]["in_all"]) == brute(tables)[0]


SEARCHES = [
    "",
    "suppression = 0.2",
    "suppression = 0.2\nremove = true",
    'method = "variable-range"',
    'method = "cut"\nrefine = []',
    'method = "boxes"',
    'method = "merged-cells"\n[output]\norder = "kept"',
]
MISSING = ['missing = "error"', 'missing = "drop"', 'missing = "category"']


@pytest.mark.parametrize("seed", range(at_length(3, 10)))
def test_random_releases_against_brute_force(seed, tmp_path):
    """Two or three releases of overlapping random tables, of any recoding, counted by pandas."""
    rng = np.random.default_rng(seed)
    paths, outs = [], []
    number = 60
    everybody = pd.DataFrame(
        {
            "rid": range(number),
            "age": rng.integers(20, 60, number),
            "sex": rng.choice(["f", "m"], number),
            "disease": rng.choice(["a", "b", "c"], number),
        }
    ).astype(object)
    gaps = MISSING[seed % 3]
    if "error" not in gaps:
        everybody.loc[rng.random(number) < 0.05, "age"] = None
    same = seed % 2
    for place in range(2 + seed % 4 // 3):
        everybody["place"] = place
        search = SEARCHES[int(rng.integers(len(SEARCHES)))]
        table = everybody if same else everybody.sample(45, random_state=seed * 9 + place)
        age = f"widths = [5, 10, 20]\norigin = {rng.integers(5)}"
        study, path = lay(tmp_path, str(place), table, age, search=search, data=gaps, k=2)
        publish(Study(study), study.parent / "out")
        paths.append(path)
        outs.append(study.parent / "out")
    found = audit_files(
        outs, paths[:1] if same else paths, identifier=None if same else "rid"
    ).to_dict()
    tables = [pd.read_csv(out / "released.csv") for out in outs]
    both, some = brute(tables, ("age", "sex", "class"), k=2)
    assert stated(found["intersection"]["in_all"]) == both
    assert stated(found["intersection"]["in_some"]) == some
    failing = any(part and part["failing_records"] for part in (both, some))
    assert found["satisfied"] == (not failing)
    for each, table in zip(found["releases"], tables, strict=True):
        assert (each["records"], each["people_beyond_records"]) == (len(table), 0)


def test_what_counted_as_missing_is_told(released, audited, tmp_path):
    table = shifted().astype(object)
    table.loc[len(table)] = [f"{NAME}z", "?", f"{DISEASE}0"]
    data = 'missing = "drop"\nmissing-values = ["?"]'
    one, path = released(tmp_path, "one", table, search=fixed(), data=data)
    code, found = audited(one, "-a", path)
    assert (code, found["releases"][0]["people"]) == (3, len(table) - 1)


ALONE = '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
FLU, COLD = f"{DISEASE}flu", f"{DISEASE}cold"


@pytest.mark.parametrize(
    ("missing", "sure", "guessed", "highest"),
    [
        ("gap", (8, 2), (9, 10), 1.0),  # 3 and 5 with a value; 3, 1 and 5 guesses of 10 are right
        ("category", (10, 2), (16, 20), 1.0),  # 5 who miss it and 5; 3, 3, 5 and 5 of all
    ],
)
def test_who_misses_a_value_is_not_known_for_sure(
    released, audited, tmp_path, missing, sure, guessed, highest
):
    """Classes are judged by the values that are there where missing ones count as nothing."""
    values = [FLU] * 3 + [None] * 2 + [FLU, COLD] + [None] * 3 + [None] * 5 + [COLD] * 5
    table = pd.DataFrame({"age": np.repeat([2, 12, 22, 32], 5), "disease": values})
    data = f'missing = "{missing}"'
    (tmp_path / "kinds.csv").write_text(f"{FLU},ill\n{COLD},ill\n")
    one, path = released(tmp_path, "one", table, search=fixed(), data=data, policy=ALONE)
    _, found = audited(one, "-a", path, "--similarity", f"disease={tmp_path / 'kinds.csv'}")
    each = found["releases"][0]["inference"]["disease"]
    assert (each["homogeneous_records"], each["homogeneous_classes"]) == sure
    assert (each["expected"], each["records"]) == guessed
    assert (each["guessed_right"], each["guessed"]) == guessed
    assert each["max_posterior"] == highest


def test_of_values_that_nobody_has_nothing_is_known(released, audited, run, tmp_path):
    table = pd.DataFrame({"age": np.repeat([2, 12], 5), "disease": [None] * 10})
    data = 'missing = "gap"'
    one, path = released(tmp_path, "one", table, search=fixed(), data=data, policy=ALONE)
    two, _ = released(
        tmp_path, "two", table, age="widths = [30]", search=fixed(), data=data, policy=ALONE
    )
    _, found = audited(one, two, "-a", path)
    together = found["intersection"]
    assert [each["inference"] for each in (*found["releases"], together)] == [{}] * 3
    assert (together["candidates"], together["in_all"]["homogeneous_records"]) == (
        {},
        {"disease": 0},
    )
    assert "known for sure about disease" in run("audit", one, two, "-a", path)[1]


@pytest.mark.parametrize(
    ("missing", "sure", "left_with_one"),
    [
        ("gap", 2 + 3, 2 + 3),  # the two young women with flu, the three older men with a cold
        ("category", 3 + 3, 3),  # all but the women are of one value; the younger men are left None
    ],
)
def test_nor_from_several_releases(released, audited, tmp_path, missing, sure, left_with_one):
    """One release has their age and the other their sex."""
    values = [FLU, FLU, None, None, None, None, FLU, COLD, None, COLD, COLD, COLD]
    table = pd.DataFrame(
        {"age": np.repeat([2, 12], 6), "sex": np.tile(np.repeat(["f", "m"], 3), 2)}
    ).assign(disease=values)
    how = {"data": f'missing = "{missing}"', "policy": ALONE}
    one, path = released(tmp_path, "one", table, search=fixed(1, 1), **how)
    two, _ = released(tmp_path, "two", table, search=fixed(2, 0), **how)
    together = audited(one, two, "-a", path)[1]["intersection"]
    assert together["in_all"]["classes"] == 4
    assert together["in_all"]["homogeneous_records"] == {"disease": sure}
    assert together["inference"]["disease"]["homogeneous_records"] == sure
    found = together["candidates"]["disease"]
    assert (found["fewest"], found["one"]) == (1, left_with_one)


def test_merged_cells_need_the_order_of_their_table(tmp_path, run):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 80),
            "sex": rng.choice(["f", "m"], 80),
            "disease": rng.choice([f"{DISEASE}a", f"{DISEASE}b"], 80),
        }
    )
    kept = 'method = "merged-cells"\n[output]\norder = "kept"'
    study, path = lay(tmp_path, "one", table, search=kept, k=3)
    publish(Study(study), tmp_path / "out")
    assert run("audit", tmp_path / "out", "-a", path)[0] == 3
    table.sample(frac=1, random_state=1).to_csv(path, index=False)
    code, _, err = run("audit", tmp_path / "out", "-a", path)
    assert code == 2
    assert "fit several classes of merged cells" in err


# Attributes, models, studies


def test_policies_that_compare_with_a_prior_hold_under_every_one(released, audited, tmp_path):
    policy = '[[privacy]]\nmodel = "t-closeness"\ndistance = "equal"\nt = 0.3\n'
    table = pd.DataFrame({"age": [1] * 10 + [11] * 10, "disease": [f"{DISEASE}a"] * 20})
    table.loc[[0, 1, 2, 3, 4, 10, 11], "disease"] = f"{DISEASE}b"
    one, path = released(tmp_path, "one", table, search=fixed(), policy=policy)
    two, _ = released(tmp_path, "two", table, age="widths = [30]", search=fixed(), policy=policy)
    code, found = audited(one, two, "-a", path)
    assert code == 3
    worst = found["intersection"]["in_all"]["privacy"][0]["worst"]
    assert worst == pytest.approx(0.5 - 0.35)


def test_models_about_a_population_need_the_study(tmp_path, run, audited):
    population = pd.concat([shifted()] * 3)
    policy = '[[privacy]]\nmodel = "k-map"\nk = 12\npopulation = "everybody.csv"\n'
    study, path = lay(tmp_path, "one", shifted(), search=fixed(), policy=policy)
    population.to_csv(tmp_path / "one" / "everybody.csv", index=False)
    other, _ = lay(tmp_path, "two", shifted(), age="widths = [20]", search=fixed())
    one, two = tmp_path / "one" / "out", tmp_path / "two" / "out"
    publish(Study(study), one)
    publish(Study(other), two)
    code, _, err = run("audit", one, "-a", path)
    assert code == 2
    assert "name the study of the release with --study" in err
    assert audited(one, "-a", path, "-s", study)[0] == 0
    code, found = audited(one, two, "-a", path, "-s", study, "-s", other)
    verdicts = found["intersection"]["in_all"]["privacy"]
    assert (code, verdicts[0]["model"]) == (0, "k-map")
    assert verdicts[0]["worst"] == 15  # three times as many people as records


def test_what_one_release_takes_for_known_another_may_not_show(released, audited, tmp_path):
    """Ages are known, says the one, and the other shows them as they are beside its classes."""
    table = shifted().assign(sex="f", rid=range(len(shifted())))
    one, path = released(tmp_path, "one", table.drop(columns="sex"), search=fixed())
    table.to_csv(path, index=False)
    study, _ = lay(tmp_path, "two", table, search=fixed(1, 0))
    text = study.read_text().replace('age = "age.toml"', "").replace("age = 1, ", "")
    study.write_text(text)
    two = study.parent / "out"
    publish(Study(study), two)
    assert audited(two, "-a", path)[0] == 3
    code, found = audited(one, two, "-a", path)
    assert code == 1
    tables = [pd.read_csv(out / "released.csv") for out in (one, two)]
    assert found["intersection"]["in_all"]["singled_out"] == 4
    assert stated(found["intersection"]["in_all"]) == brute(tables)[0]
    study.write_text(text.replace("['name']", "['name', 'age']"))
    publish(Study(study), two, force=True)
    assert audited(one, two, "-a", path)[0] == 3


def test_an_attribute_without_a_role_tells_values_too(released, audited, tmp_path):
    """Somebody whom the release about diseases left out, in one that shows them all the same."""
    table = shifted()
    lone = pd.DataFrame({"name": [f"{NAME}y"], "age": [95], "disease": [f"{DISEASE}0"]})
    table = pd.concat([table, lone])
    one, path = released(tmp_path, "one", table, search="suppression = 0.1\nremove = true", k=1)
    two, _ = released(
        tmp_path,
        "two",
        table,
        age="cuts = [50]",
        search=fixed() + '\n[objective]\nname = "loss"',
        policy='[[privacy]]\nmodel = "k-anonymity"\nk = 1\n',
        sensitive="[]",
    )
    code, found = audited(one, two, "-a", path)
    some = found["intersection"]["in_some"]
    assert (code, some["homogeneous_records"], some["failing_records"]) == (1, {"disease": 1}, 1)


MAP = '[[privacy]]\nmodel = "k-map"\nk = {k}\npopulation = "../everybody.csv"\n'


def test_everybody_of_a_population_is_placed_in_every_release(tmp_path, audited):
    """One study drops whom it cannot place, by age, and another one by sex: not the same people."""
    table = shifted().assign(sex=["f", "m"] * 15).astype(object)
    table.loc[0, "age"], table.loc[1, "sex"] = None, None
    pd.concat([table, table]).to_csv(tmp_path / "everybody.csv", index=False)
    drop, stated = 'missing = "drop"', MAP.format(k=2)
    one, path = lay(
        tmp_path, "one", table.drop(columns="sex"), search=fixed(), data=drop, policy=stated
    )
    two, _ = lay(tmp_path, "two", table, search=fixed(2, 0), data=drop, k=1, l=1)
    text = two.read_text().replace('age = "age.toml"', "").replace("age = 2, ", "")
    two.write_text(text.replace("['name']", "['name', 'age']"))
    outs = [study.parent / "out" for study in (one, two)]
    for study, out in zip((one, two), outs, strict=True):
        publish(Study(study), out)
    table.to_csv(path, index=False)
    code, found = audited(*outs, "-a", path, "-s", one, "-s", two)
    verdict = found["intersection"]["in_all"]["privacy"][0]
    assert (code, verdict["model"], verdict["satisfied"]) == (0, "k-map", True)
    both = table.dropna().assign(decade=lambda people: people["age"].astype(int) // 10)
    assert verdict["worst"] == 2 * both.groupby(["decade", "sex"]).size().min()


def test_each_release_may_be_about_a_population_of_its_own(tmp_path, audited):
    studies, outs = [], []
    for place, widths in enumerate(("widths = [10]", "widths = [20]"), 1):
        name = f"people{place}.csv"
        pd.concat([shifted()] * (place + 1)).to_csv(tmp_path / name, index=False)
        policy = MAP.format(k=8 + place).replace("everybody.csv", name)
        study, path = lay(tmp_path, str(place), shifted(), widths, policy, fixed())
        studies += ["-s", study]
        outs.append(study.parent / "out")
        publish(Study(study), outs[-1])
    code, found = audited(*outs, "-a", path, *studies)
    verdicts = found["intersection"]["in_all"]["privacy"]
    assert (code, [verdict["worst"] for verdict in verdicts]) == (0, [10, 15])


def test_similarity(released, audited, run, tmp_path):
    one, path = released(tmp_path, "one", shifted(), search=fixed())
    rows = f"{DISEASE}0;organ\n{DISEASE}1;organ\n{DISEASE}2;skin\n"
    (tmp_path / "alike.csv").write_text(rows)
    asked = ["audit", one, "-a", path, "--similarity"]
    code, found = audited(*asked[1:], f"disease={tmp_path}/alike.csv")
    level = found["releases"][0]["similarity"]["disease"]
    assert (code, [each["level"] for each in level], level[0]["groups"]) == (3, [1], 2)
    assert "Similarity: alike values as one" in run(*asked, f"disease={tmp_path}/alike.csv")[1]
    (tmp_path / "alike.csv").write_text(rows.splitlines()[0] + "\nx;y\n")
    assert "lacks 2 of its 3 values" in run(*asked, f"disease={tmp_path}/alike.csv")[2]
    assert (
        "no release has a sensitive attribute 'sex'" in run(*asked, f"sex={tmp_path}/alike.csv")[2]
    )
    assert "is not ATTRIBUTE=HIERARCHY" in run(*asked, "disease")[2]


# What is refused


@pytest.fixture
def one(released, tmp_path):
    return released(tmp_path, "one", shifted(), search=fixed())


def refused(paths, against, match, **options):
    with pytest.raises(InputError, match=match) as error:
        audit_files(paths, against, **options)
    assert "\n" not in str(error.value)
    assert DISEASE not in str(error.value)


def test_what_is_no_release(one, tmp_path):
    out, path = one
    refused([tmp_path / "none"], [path], "there is no .*release.json")
    refused([out / "other.csv"], [path], "is not the table that the release.json next to")
    (out / "released.csv").write_text((out / "released.csv").read_text() + "\n")
    refused([out], [path], "was changed after it was released")
    (out / "released.csv").unlink()
    refused([out], [path], "there is no .*released.csv, which its release.json is about")
    for content in ("{}", '{"table": 3}', "[]", "{"):
        (out / "release.json").write_text(content)
        refused([out], [path], "is damaged")


@pytest.mark.parametrize("lacking", ["recoding", "privacy", "suppressed_class", "columns"])
def test_a_manifest_that_lacks_a_part(one, lacking):
    out, path = one
    manifest = json.loads((out / "release.json").read_text())
    del manifest[lacking]
    (out / "release.json").write_text(json.dumps(manifest))
    refused([out], [path], "is damaged: it ")


def test_one_release_twice(one, tmp_path):
    out, path = one
    refused([out, out / "released.csv"], [path], "are the same release; name it once")


def test_as_many_as_fit(one):
    out, path = one
    refused([out], [path, path], "1 releases, but --against 2 times")
    refused([out, out, out], [path], "--study 2 times", studies=[None, None])
    refused([out], [path], "--identifier is for several originals", identifier="name")


def test_another_original(one, tmp_path):
    out, _ = one
    table = shifted()
    other = tmp_path / "other.csv"
    table.iloc[1:].to_csv(other, index=False)
    refused([out], [other], "1 record of the release are of nobody in it, by their quasi")
    swapped = table.assign(disease=table["disease"].iloc[::-1].to_numpy())
    swapped.to_csv(other, index=False)
    refused([out], [other], r"by quasi-identifiers and 'disease'; name the table")
    table.drop(columns="age").to_csv(other, index=False)
    refused([out], [other], "has no column 'age'")


def test_identifiers_that_tell_nobody_apart(released, tmp_path):
    table = shifted()
    one, first = released(tmp_path, "one", table, search=fixed())
    two, second = released(tmp_path, "two", table, age="widths = [20]", search=fixed())
    both = [one, two], [first, second]
    refused(*both, "does not distinguish its records", identifier="disease")
    refused(*both, "has no column 'id'", identifier="id")
    table.assign(name=table["name"].iloc[::-1].to_numpy()).to_csv(second, index=False)
    refused(*both, "the originals differ in 'disease' of .* records", identifier="name")


def test_another_study(one, tmp_path):
    out, path = one
    study, _ = lay(tmp_path, "other", shifted().assign(sex="f"))
    refused([out], [path], "is not the study of the release", studies=[Study(study)])


def test_values_that_the_policy_of_another_release_has_no_order_for(released, tmp_path):
    table = shifted()
    order = [f"{DISEASE}{i}" for i in range(3)]
    policy = f'[[privacy]]\nmodel = "t-closeness"\ndistance = "ordered"\norder = {order}\nt = 1\n'
    one, first = released(tmp_path, "one", table, search=fixed(), policy=policy)
    more = pd.DataFrame({"name": [f"{NAME}x"], "age": [44], "disease": [f"{DISEASE}3"]})
    two, second = released(tmp_path, "two", pd.concat([table, more]), search=fixed())
    match = "cannot be held against what another one shows: .* order lacks 1 of the 4 values"
    refused([one, two], [first, second], match, identifier="name")


def test_studies_in_another_order_than_their_releases(released, tmp_path):
    one, path = released(tmp_path, "one", shifted(), search=fixed())
    two, _ = released(tmp_path, "two", shifted(), age="widths = [20]", search=fixed(), k=6)
    studies = [Study(out.parent / "study.toml") for out in (one, two)]
    both = audit_files([one, two], [path], studies=studies)
    assert [release.privacy[0].model.k for release in both.releases] == [5, 6]
    refused([one, two], [path], "its policy is not that of release.json", studies=studies[::-1])


def test_a_manifest_that_states_less_than_there_is(one):
    out, path = one
    before = (out / "release.json").read_text()
    for part, content, match in [
        ("privacy", [], "has no policy that could hold"),
        ("recoding", {}, "is damaged: it is no manifest of a release"),
    ]:
        (out / "release.json").write_text(json.dumps(json.loads(before) | {part: content}))
        refused([out], [path], match)


def test_groups_that_overlap(one):
    out, path = one
    manifest = json.loads((out / "release.json").read_text())
    manifest["recoding"]["age"][0]["to"] = 99
    (out / "release.json").write_text(json.dumps(manifest))
    refused([out], [path], "groups that overlap")


def test_an_identifier_in_a_release_is_a_broken_policy(tmp_path, run):
    policy = '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
    study, path = lay(tmp_path, "one", shifted(), search=fixed(), policy=policy)
    publish(Study(study), tmp_path / "out")
    text = study.read_text().replace("['name']", "['disease']").replace('["disease"]', "[]")
    study.write_text(text)
    code, _, err = run("audit", tmp_path / "out", "-a", path, "-s", study)
    assert code == 1
    assert "the table holds the identifier 'disease'" in err


def test_progress_is_told(one):
    told = []
    out, path = one
    audit_files([out], [path], watch=lambda doing, done, of: told.append(doing))
    assert "attacking the releases" in told


def test_hierarchies_of_the_policy_are_attacked_by(tmp_path):
    rows = f"{DISEASE}0;organ\n{DISEASE}1;organ\n{DISEASE}2;skin\n"
    policy = (
        '[[privacy]]\nmodel = "t-closeness"\ndistance = "hierarchical"\nt = 1\n'
        'hierarchy = "alike.csv"\n'
    )
    study, path = lay(tmp_path, "one", shifted(), search=fixed(), policy=policy)
    (study.parent / "alike.csv").write_text(rows)
    publish(Study(study), tmp_path / "out")
    refused([tmp_path / "out"], [path], "only the digest of the hierarchy")
    found = audit_files([tmp_path / "out"], [path], studies=[Study(study)])
    assert len(found.releases[0].similarity["disease"]) == 1
    given = {"disease": Hierarchy.suppression()}
    found = audit_files([tmp_path / "out"], [path], studies=[Study(study)], hierarchies=given)
    assert found.releases[0].similarity["disease"] == ()


def test_what_one_release_hides_and_another_takes_for_known(tmp_path, run):
    """Whoever knows the disease, as the second supposes, finds people in the first by it."""
    hides, path = lay(tmp_path, "hides", shifted(), search=fixed(), k=1, l=1)
    knows, _ = lay(tmp_path, "knows", shifted(), search=fixed(), policy="", k=1)
    text = knows.read_text()
    text = text.replace("[sensitive]", 'disease = "suppress"\n[sensitive]')
    text = text.replace('attributes = ["disease"]', "attributes = []")
    text = text.replace("{ age = 1 }", "{ age = 0, disease = 0 }")
    knows.write_text(
        text + '[objective]\nname = "loss"\n[[privacy]]\nmodel = "k-anonymity"\nk = 1\n'
    )
    outs = [study.parent / "out" for study in (hides, knows)]
    for study, out in zip((hides, knows), outs, strict=True):
        publish(Study(study), out)
    code, out, err = run("audit", *outs, "--against", path)
    assert (code, out) == (2, "")
    assert "column 'disease' is sensitive in" in err
    assert "these cannot be released together" in err
