"""Releases that hold against who knows the members of a household: its column is never released."""

import json
import pickle
from collections import Counter
from fractions import Fraction
from itertools import product

import literature
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import EACH, KINDS, records_of
from lengths import at_length

from anonymizer import (
    Anonymizer,
    Boxes,
    Cut,
    DifferentialPrivacy,
    Fixed,
    FullDomain,
    Hierarchy,
    HouseholdCompositionKAnonymity,
    HouseholdKAnonymity,
    HouseholdRisk,
    InputError,
    KAnonymity,
    KMap,
    MergedCells,
    PersonKAnonymity,
    PolicyBrokenError,
    PolicyUnreachableError,
    Pram,
    SafePub,
    VariableRange,
    check,
)
from anonymizer.cli import main
from anonymizer.release.apply import publish_applied
from anonymizer.release.publish import publish
from anonymizer.release.sites.counts import count_part
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.risk.audit import audit_files

AGE = Hierarchy.ranges(widths=[2, 4, 8])
SEX = Hierarchy.suppression()
WIDTHS = (1, 2, 4, 8, 1000)


def table_of(rng: np.random.Generator, homes: int | None = None) -> pd.DataFrame:
    """Some ten households of one to four, whose members are often of an age."""
    homes = int(rng.integers(6, 16)) if homes is None else homes
    home = np.repeat(np.arange(homes), rng.choice([1, 2, 2, 3, 4], homes))
    age = rng.integers(0, 8, homes)[home] + rng.integers(0, 2, len(home))
    return pd.DataFrame(
        {
            "home": [f"h{each}" for each in home],
            "age": age.astype(int),
            "sex": rng.choice(["f", "m"], len(home)),
            "w": rng.choice(["a", "b", "c"], len(home), p=[0.5, 0.3, 0.2]),
            "place": np.arange(len(home)),
        }
    )


def anonymizer_of(privacy, recoding="full-domain", **options) -> Anonymizer:
    wishes = {"privacy": privacy, "recoding": recoding, "household": "home"} | options
    return Anonymizer({"age": AGE, "sex": SEX}, sensitive="w", **wishes)


def by_class(labels, homes) -> list[Counter]:
    """The records of each class by household."""
    found: dict[tuple, Counter] = {}
    for label, home in zip(labels, homes, strict=True):
        found.setdefault(tuple(label), Counter())[home] += 1
    return list(found.values())


def holds(classes: list[Counter], model) -> bool:
    """Whether a model holds, by its definition."""
    match model:
        case HouseholdRisk(risk):
            return literature.household_risk(classes) <= Fraction(repr(float(risk)))
        case HouseholdCompositionKAnonymity(k):
            return literature.fewest_alike(classes) >= k
        case HouseholdKAnonymity(k):
            return all(len(group) >= k for group in classes)
        case KAnonymity(k):
            return all(group.total() >= k for group in classes)


POLICIES = [
    [HouseholdRisk(0.5)],
    [HouseholdRisk(0.75), KAnonymity(2)],
    [HouseholdKAnonymity(3)],
    [HouseholdCompositionKAnonymity(2)],
    [HouseholdRisk(0.6), HouseholdCompositionKAnonymity(2)],
]


# By hand

PAIRS = pd.DataFrame(
    {
        "home": ["a", "a", "b", "b", "c", "c", "d", "d"],
        "age": [20, 30, 20, 40, 30, 50, 40, 50],
        "w": list("xyxyxyxy"),
    }
)
"""Each age is that of two households, and each two ages that live together are of one."""


def test_households_are_alone_with_their_members_where_nobody_is_alone():
    ages = Hierarchy.ranges(widths=[20, 100])

    def fitted(*models):
        return Anonymizer({"age": ages}, "w", [*models], household="home").fit(PAIRS)

    one = fitted(KAnonymity(2)).release_
    assert one.levels == {"age": 0}
    several = fitted(HouseholdKAnonymity(2)).release_
    assert several.levels == {"age": 0}
    assert [(each.model, each.worst) for each in several.privacy] == [(HouseholdKAnonymity(2), 2)]
    found = fitted(HouseholdCompositionKAnonymity(2)).release_
    assert found.levels == {"age": 2}
    assert [each.worst for each in found.privacy] == [4, 4]
    risk = fitted(HouseholdRisk(0.25)).release_
    # At [20, 40) and [40, 60) of 4 records: of a 1 - 3/4 x 3/4 = 7/16, and of all 8 1 - (7/8)^2.
    assert risk.levels == {"age": 2}
    assert [(each.model, each.worst) for each in risk.privacy] == [
        (HouseholdRisk(0.25), 15 / 64),
        (KAnonymity(4), 8),
    ]
    assert fitted(HouseholdRisk(0.4375)).release_.levels == {"age": 1}
    with pytest.raises(PolicyUnreachableError, match=r"risk = 0.2 is below 0.234375, the chance"):
        fitted(HouseholdRisk(0.2))


@pytest.mark.parametrize("recoding", ["full-domain", "boxes", FullDomain(suppression=0.2)], ids=str)
def test_a_column_of_households_changes_nothing_but_that_it_is_left_out(recoding):
    raw = table_of(np.random.default_rng(2), 14)
    made = [anonymizer_of([KAnonymity(3)], recoding, household=names) for names in ("home", ())]
    with_homes = made[0].fit_transform(raw)
    without = made[1].fit_transform(raw.drop(columns="home"))
    pd.testing.assert_frame_equal(with_homes, without)
    assert made[0].release_.privacy == made[1].release_.privacy


# Against brute force

RECODINGS = [
    FullDomain(),
    FullDomain(suppression=0.2),
    FullDomain(suppression=0.4, remove=True),
    Fixed({"age": 3, "sex": 1}, suppression=0.4),
]


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_a_release_satisfies_the_policy_of_households(recoding):
    rng, released_some = np.random.default_rng(9), 0
    for _, privacy in product(range(at_length(2, 100)), POLICIES):
        raw = table_of(rng)
        anonymizer = anonymizer_of(privacy, recoding)
        try:
            released = anonymizer.fit_transform(raw)
        except PolicyUnreachableError:
            continue
        released_some += 1
        assert "home" not in released.columns
        labels = released[["age", "sex"]].astype(str).itertuples(index=False, name=None)
        classes = by_class(labels, raw["home"].iloc[released["place"]])
        assert all(holds(classes, model) for model in anonymizer.models), privacy
    assert released_some > 4


@pytest.mark.parametrize("recoding", [Boxes(), VariableRange(), MergedCells()], ids=repr)
def test_households_of_each_class_are_for_every_recoding(recoding):
    for seed in range(at_length(2, 40)):
        raw = table_of(np.random.default_rng(seed), 14)
        anonymizer = anonymizer_of([HouseholdKAnonymity(3)], recoding)
        released = anonymizer.fit_transform(raw)
        names = ["class"] if "class" in released else ["age", "sex"]
        rows = released[names].astype(str).itertuples(index=False, name=None)
        classes = by_class(rows, raw["home"].iloc[released["place"]])
        assert all(len(group) >= 3 for group in classes)


def in_rooms(rng: np.random.Generator) -> pd.DataFrame:
    """Households whose members have the same rooms, and ages of their own."""
    raw = table_of(rng, 30)
    rooms = dict(zip(range(30), rng.integers(1, 7, 30).tolist(), strict=True))
    return raw.assign(rooms=[rooms[int(home[1:])] for home in raw["home"]])


def labels_of_homes(raw: pd.DataFrame, recoding) -> list[set[str]]:
    """The released labels of rooms of each household."""
    both = {"rooms": Hierarchy.ranges(widths=[2, 4]), "age": AGE}
    made = Anonymizer(both, "w", [HouseholdKAnonymity(3)], household="home", recoding=recoding)
    released = made.fit_transform(raw)
    labels = released["rooms"].astype(str).to_numpy()
    homes = raw["home"].iloc[released["place"]].to_numpy()
    return [{*labels[homes == home]} for home in {*homes}]


@pytest.mark.parametrize("recoding", [FullDomain(), VariableRange(), Cut()], ids=repr)
def test_what_all_members_have_has_one_label_where_each_value_has_one(recoding):
    for seed in range(at_length(2, 60)):
        raw = in_rooms(np.random.default_rng(seed))
        assert {len(labels) for labels in labels_of_homes(raw, recoding)} == {1}


@pytest.mark.parametrize("recoding", [Boxes(), MergedCells()], ids=repr)
def test_members_may_have_several_labels_of_what_they_all_have(recoding):
    """As the documentation says: no promise is broken, and no recoding is refused."""
    found = [labels_of_homes(in_rooms(np.random.default_rng(seed)), recoding) for seed in range(3)]
    assert max(len(labels) for homes in found for labels in homes) > 1


def test_suppression_hides_one_member_and_not_the_other():
    raw = PAIRS.assign(age=[20, 30, 20, 30, 20, 30, 20, 80], rooms=[2, 2, 3, 3, 2, 2, 3, 3])
    both = {"rooms": "suppress", "age": "suppress"}
    fixed = Fixed({"rooms": 0, "age": 0}, suppression=0.5, remove=True)
    made = Anonymizer(both, "w", [HouseholdKAnonymity(2)], household="home", recoding=fixed)
    released = made.fit_transform(raw.assign(place=range(8)))
    assert sorted(released["place"]) == [0, 1, 2, 4, 5, 6]  # of b and d the others are alone


def levels_of(value: int, sex: str, node: tuple[int, int]) -> tuple[object, object]:
    return value // WIDTHS[node[0]], sex if node[1] == 0 else "*"


def test_the_best_levels_are_those_of_enumeration():
    rng, solved = np.random.default_rng(21), 0
    searches = ["automatic", "bisection", "top-down", "incognito", "exhaustive", "branch-and-bound"]
    for number, privacy in product(range(at_length(4, 200)), POLICIES):
        raw, best = table_of(rng), None
        for node in product(range(5), range(2)):
            rows = zip(raw["age"], raw["sex"], strict=True)
            classes = by_class([levels_of(*row, node) for row in rows], raw["home"])
            squares = sum(group.total() ** 2 for group in classes)
            if (best is None or squares < best) and all(holds(classes, each) for each in privacy):
                best = squares
        recoding = FullDomain(search=searches[number % len(searches)])
        try:
            found = anonymizer_of(privacy, recoding, objective="discernibility").fit(raw)
        except PolicyUnreachableError:
            assert best is None
            continue
        solved += 1
        assert found.search_.value == best
    assert solved > 8


def test_who_knows_all_members_of_a_household_finds_none():
    """He knows the classes of all members, and looks for the households that have just these."""
    rng, attacked, single = np.random.default_rng(13), 0, 0
    for _ in range(at_length(20, 20_000)):
        if attacked >= at_length(3, 1000) and single > 3:
            break
        raw = table_of(rng, 20)
        for privacy in ([HouseholdCompositionKAnonymity(2)], [KAnonymity(2)]):
            try:
                released = anonymizer_of(privacy, FullDomain(suppression=0.3)).fit_transform(raw)
            except PolicyUnreachableError:
                continue
            homes = raw["home"].iloc[released["place"]].to_numpy()
            labels = (released["age"].astype(str) + released["sex"].astype(str)).to_numpy()
            book = Counter(tuple(sorted(labels[homes == home])) for home in {*homes})
            if isinstance(privacy[0], KAnonymity):
                single += min(book.values()) == 1
            else:
                attacked += 1
                assert min(book.values()) >= 2
    assert attacked >= at_length(3, 1000)
    assert single > 3  # the attack finds households where nothing is promised


@pytest.mark.parametrize("kind", EACH)
def test_tables_of_every_kind_are_released_alike(kind):
    raw = table_of(np.random.default_rng(11), 30)
    anonymizer = anonymizer_of([HouseholdRisk(0.6), HouseholdCompositionKAnonymity(2)])
    expected = anonymizer.fit_transform(raw)
    privacy = anonymizer.release_.privacy
    found = anonymizer.fit_transform(KINDS[kind](pa.Table.from_pandas(raw)))
    assert records_of(found) == records_of(expected)
    assert anonymizer.release_.privacy == privacy


def test_several_columns_tell_households_apart():
    raw = table_of(np.random.default_rng(5), 20)
    number = raw["home"].str[1:].astype(int)
    both = raw.drop(columns="home").assign(street=number // 5, flat=number % 5)
    policy = [HouseholdKAnonymity(3)]
    one = anonymizer_of(policy).fit_transform(raw)
    other = anonymizer_of(policy, household=["street", "flat"]).fit_transform(both)
    pd.testing.assert_frame_equal(one, other)


def test_weights_may_stand_next_to_households():
    """One model counts the people whom records stand for, another one households."""
    raw = table_of(np.random.default_rng(7), 30).assign(people=8.0)
    policy = [KMap(24, population="weights"), HouseholdKAnonymity(3)]
    released = anonymizer_of(policy, weight="people").fit_transform(raw)
    labels = released[["age", "sex"]].astype(str).itertuples(index=False, name=None)
    classes = by_class(labels, raw["home"].iloc[released["place"]])
    assert all(group.total() >= 3 and len(group) >= 3 for group in classes)
    assert [*released.columns] == ["age", "sex", "w", "place"]


def test_another_table_has_households_of_its_own():
    raw = table_of(np.random.default_rng(3), 30)
    anonymizer = anonymizer_of([HouseholdKAnonymity(3)]).fit(raw)
    for plan in (anonymizer, pickle.loads(pickle.dumps(anonymizer))):
        assert len(plan.transform(raw)) == len(raw)
        with pytest.raises(PolicyBrokenError, match="household-k-anonymity fails in"):
            plan.transform(raw.assign(home="same"))


def test_a_check_counts_households():
    found = check(PAIRS, "age", privacy=[HouseholdRisk(0.75)], household="home")
    assert [(each.model, each.worst) for each in found.privacy] == [
        (HouseholdRisk(0.75), 0.75),
        (KAnonymity(2), 2),
    ]
    assert found.satisfied
    assert found.k == 2


# What is refused

REFUSED = [
    ({"household": ()}, "household-risk counts households, and no column tells which records are"),
    ({"person": "place", "person_numbers": True}, "numbers of persons show which rows are of one"),
    ({"person": "whose"}, r"'home' must tell one household of each person, and tells several of 1"),
    ({"household": "age"}, "'age' has more than one role; .* quasi-identifier and that of househo"),
    ({"household": "street"}, "street"),
    ({"privacy": [PersonKAnonymity(2)]}, "person-k-anonymity counts persons, and no column"),
    (
        {"recoding": Pram(0.5), "privacy": [KAnonymity(1)]},
        "'pram' draws the values of each record by itself, and all records of a household together",
    ),
    (
        {
            "privacy": [DifferentialPrivacy(2.0, 0.01)],
            "recoding": SafePub({"age": 3, "sex": 1}),
            "sensitive": (),
        },
        "differential-privacy protects a single record, and the records of a household show more",
    ),
    ({"recoding": Boxes()}, "and household-risk is about the table as a whole; choose full-domain"),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED)
def test_what_does_not_fit_households_is_refused(changed, message):
    anonymizer = anonymizer_of([HouseholdRisk(0.9)])
    with pytest.raises(InputError, match=message):
        anonymizer.set_params(**changed).fit(table_of(np.random.default_rng(0)).assign(whose=1))


# Files

STUDY = """\
[data]
path = "raw.csv"
household = "home"
[quasi-identifiers]
age = { widths = [20, 100] }
[identifiers]
attributes = ["home"]
[sensitive]
attributes = "w"
[[privacy]]
model = "k-anonymity"
k = 2
[[privacy]]
model = "household-composition-k-anonymity"
k = 2
[[privacy]]
model = "household-risk"
risk = 0.5
"""
NAMES = ["household-composition-k-anonymity", "household-risk", "household-k-anonymity"]
TOGETHER = "The released table does not show which records are of one household."


@pytest.fixture
def published(tmp_path):
    """A release of a study, and its raw table."""
    PAIRS.to_csv(tmp_path / "raw.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    publish(Study(tmp_path / "study.toml"), tmp_path / "release")
    return tmp_path / "release", tmp_path / "raw.csv"


def test_manifests_tell_no_figure_of_households(published):
    release, _ = published
    manifest = json.loads((release / "release.json").read_text())
    assert manifest["household"] == ["home"]
    assert manifest["columns"]["identifiers"] == ["home"]
    hidden = {each["model"] for each in manifest["privacy"] if each["worst"] is None}
    assert hidden == {*NAMES}
    steward = json.loads((release.parent / "release.steward.json").read_text())
    assert [each["worst"] for each in steward["privacy"]] == [8, 4, 15 / 64, 4]
    assert [*pd.read_csv(release / "released.csv").columns] == ["age", "w"]


def test_a_policy_of_households_is_examined_with_the_original_alone(published):
    release, raw = published
    for study in (None, raw.with_name("study.toml")):
        for steward in (True, False):
            alone = verify_release(release, study, steward=steward)
            assert not alone.satisfied
            assert not alone.differences
            assert [each.name for each in alone.unexamined] == NAMES
            assert [each.model.name for each in alone.verdicts] == ["k-anonymity"]
            found = verify_release(release, study, original=raw, steward=steward)
            assert found.satisfied, [*map(str, found.differences)]
            assert {each.model.name for each in found.verdicts} == {*NAMES, "k-anonymity"}


def test_other_households_break_a_release(published):
    release, raw = published
    other = raw.with_name("other.csv")
    PAIRS.assign(home=list("aabbcddd")).to_csv(other, index=False)  # one alone, and one of three
    found = verify_release(release, original=other, steward=False)
    assert {each.model.name for each in found.verdicts if not each.satisfied} == {NAMES[0]}
    PAIRS.iloc[1:].to_csv(other, index=False)
    found = verify_release(release, original=other)
    assert [each.field for each in found.differences] == ["privacy of households"]


def test_a_table_without_a_manifest_does_not_show_its_households(published):
    release, raw = published
    alone = raw.with_name("alone.csv")
    alone.write_bytes((release / "released.csv").read_bytes())
    found = verify_release(alone, raw.with_name("study.toml"))
    assert not found.satisfied
    assert [each.name for each in found.unexamined] == NAMES


def test_a_release_is_followed_by_a_table_with_households_of_its_own(published, tmp_path):
    release, raw = published
    publish_applied(release, raw, tmp_path / "next")
    assert verify_release(tmp_path / "next", original=raw).satisfied
    PAIRS.drop(columns="home").to_csv(tmp_path / "bare.csv", index=False)
    with pytest.raises(InputError, match="has no column 'home'"):
        publish_applied(release, tmp_path / "bare.csv", tmp_path / "third")
    PAIRS.assign(home="same").to_csv(tmp_path / "same.csv", index=False)
    with pytest.raises(PolicyBrokenError, match=r"household-composition-k-anonymity fails \(1 ag"):
        publish_applied(release, tmp_path / "same.csv", tmp_path / "third")


def test_commands_say_what_they_cannot_examine(published, capsys):
    release, raw = published
    study = str(raw.with_name("study.toml"))

    def said(code, *arguments) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        captured = capsys.readouterr()
        assert ended.value.code == code, captured
        return " ".join(captured.out.split())

    names = "Not examined: household-composition-k-anonymity >= 2, household-risk <= 0.5, "
    names += "household-k-anonymity >= 2."
    assert f"{names} {TOGETHER} Give the table" in said(3, "verify", release)
    assert "Not examined" not in said(0, "verify", release, "--original", raw)
    assert f"Not examined: {', '.join(NAMES)}. {TOGETHER}" in said(3, "check", release)
    assert "Not examined" not in said(1, "check", raw, "--study", study)
    audit = said(3, "audit", release, "--against", raw)
    found = "4 households of the original have records in these classes, 0 of them alone with the "
    found += "classes of their members. Any record of one is found with a probability of up to 0.2"
    assert found in audit
    assert "Minimality, not applicable: its policy is about households" in audit
    risk = said(0, "risk", raw, "--study", study)
    assert "Households alone with the classes of their members: 4 of 4." in risk
    said(0, "report", release, "--output", raw.with_name("page.html"))
    page = " ".join(raw.with_name("page.html").read_text().split())
    assert "left with at least 2 households of exactly such members" in page
    assert "Its households are the exception" in page
    assert TOGETHER in page


def test_audits_attack_households(published, tmp_path):
    """Of another grouping of the same records both who is alone and a broken model are found."""
    release, raw = published
    (found,) = audit_files([release], [raw]).releases
    assert found.households is not None
    assert found.households.to_dict() | {"privacy": 0} == {
        "households": 4,
        "alone": 0,
        "fewest": 4,
        "highest": 15 / 64,
        "privacy": 0,
    }
    assert {each.model.name for each in found.privacy} == {*NAMES, "k-anonymity"}
    assert not found.broken
    PAIRS.assign(home=list("aabbcddd")).to_csv(tmp_path / "other.csv", index=False)
    (other,) = audit_files([release], [tmp_path / "other.csv"]).releases
    assert (other.households.alone, other.households.fewest) == (2, 1)
    assert other.broken
    bare = PAIRS.drop(columns="home")
    bare.to_csv(tmp_path / "bare.csv", index=False)
    hidden = audit_files([release], [tmp_path / "bare.csv"])
    assert not hidden.broken
    assert hidden.hidden == ["the original does not have 'home', which tells them apart"]
    with pytest.raises(InputError, match="households are audited in one release at a time"):
        audit_files([release, release], [raw])


def test_an_audit_attacks_households_of_which_no_policy_is(tmp_path, capsys):
    PAIRS.to_csv(tmp_path / "raw.csv", index=False)
    text = STUDY.replace('household = "home"\n', "").partition('[[privacy]]\nmodel = "household')[0]
    (tmp_path / "study.toml").write_text(text)
    publish(Study(tmp_path / "study.toml"), tmp_path / "release")
    arguments = ["audit", "release", "--against", "raw.csv", "--household", "home"]
    arguments[1:4:2] = [str(tmp_path / "release"), str(tmp_path / "raw.csv")]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out = " ".join(capsys.readouterr().out.split())
    assert ended.value.code != 1, out
    assert "4 households of the original have records in these classes, 4 of them alone" in out


def test_parts_are_not_counted_with_the_keys_of_households(published, tmp_path):
    _, raw = published
    study = Study(raw.with_name("study.toml"))
    with pytest.raises(InputError, match=r"\[data\] household is for a table that lies in one pl"):
        count_part(study, raw, tmp_path / "part.counts")


def test_a_manifest_of_other_households_is_noticed(published):
    release, raw = published
    study = raw.with_name("study.toml")
    study.write_text(STUDY.replace('household = "home"', 'household = ["home", "age"]'))
    with pytest.raises(InputError, match="'age' has more than one role"):
        verify_release(release, study)
    PAIRS.assign(street=1).to_csv(raw, index=False)
    study.write_text(STUDY.replace('household = "home"', 'household = ["home", "street"]'))
    found = verify_release(release, study, original=raw)
    assert "household" in {each.field.partition(".")[0] for each in found.differences}
