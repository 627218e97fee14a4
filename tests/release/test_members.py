"""Releases of households whose members have several records each: persons are the members."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import persons
import pyarrow as pa
import pytest
from engines import EACH, KINDS, records_of
from lengths import at_length

from anonymizer import (
    Anonymizer,
    Boxes,
    DistinctLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    HouseholdCompositionKAnonymity,
    HouseholdKAnonymity,
    HouseholdRisk,
    InputError,
    KAnonymity,
    LargestShare,
    MergedCells,
    PersonKAnonymity,
    PolicyUnreachableError,
    VariableRange,
    check,
)
from anonymizer.cli import main
from anonymizer.release.apply import publish_applied
from anonymizer.release.verification.verification import verify_release
from anonymizer.risk.audit import audit_files

AGE = Hierarchy.ranges(widths=[2, 4, 8])
SEX = Hierarchy.suppression()
WIDTHS = (1, 2, 4, 8, 1000)


def table_of(rng: np.random.Generator, homes: int = 14, most: int = 3) -> pd.DataFrame:
    """Households of one to three persons, or ``most``, who have as many records in some years."""
    home = np.repeat(np.arange(homes), rng.choice([1, 2, 2, 3][: most + 1], homes))
    age = rng.integers(0, 8, homes)[home] + rng.integers(0, 2, len(home))
    person = np.repeat(np.arange(len(home)), rng.choice([1, 1, 2, 3][: most + 1], len(home)))
    return pd.DataFrame(
        {
            "home": home[person],
            "who": person,
            "age": age[person] + rng.integers(0, 2, len(person)),
            "sex": rng.choice(["f", "m"], len(home))[person],
            "w": rng.choice(["a", "b", "c"], len(person)),
            "place": np.arange(len(person)),
        }
    )


def table_for(privacy, rng: np.random.Generator) -> pd.DataFrame:
    """A table of which the policy may hold: of many members no two households are alike."""
    alike = any(isinstance(model, HouseholdCompositionKAnonymity) for model in privacy)
    return table_of(rng, 25, 2) if alike else table_of(rng)


def anonymizer_of(privacy, recoding="full-domain", **options) -> Anonymizer:
    wishes = {"privacy": privacy, "recoding": recoding, "household": "home", "person": "who"}
    return Anonymizer({"age": AGE, "sex": SEX}, sensitive="w", **(wishes | options))


def records(raw: pd.DataFrame, labels) -> list[persons.Record]:
    return persons.records_of([*labels], [*raw["w"]], [*raw["who"]])


def holds(found: list[persons.Record], home_of, model) -> bool:
    """Whether a model holds, by its definition."""
    groups = persons.classes_of(found)
    match model:
        case HouseholdRisk(risk):
            return persons.household_risk(found, home_of) <= Fraction(repr(float(risk)))
        case HouseholdCompositionKAnonymity(k):
            return persons.fewest_households(found, home_of) >= k
        case HouseholdKAnonymity(k):
            return all(persons.households(group, home_of) >= k for group in groups)
        case PersonKAnonymity(k):
            return all(persons.persons(group, found) >= k for group in groups)
        case LargestShare(share):
            return all(persons.largest_share(group, found) <= share + 1e-9 for group in groups)
    raise AssertionError


POLICIES = [
    [HouseholdRisk(0.7)],
    [HouseholdRisk(0.8), KAnonymity(2)],
    [HouseholdKAnonymity(3)],
    [HouseholdCompositionKAnonymity(2), LargestShare(0.6)],
]


# By hand

VISITS = pd.DataFrame(
    {
        "home": list("aaabbbccdd"),
        "who": ["a1", "a1", "a2", "b1", "b1", "b2", "c1", "c2", "d1", "d2"],
        "age": [20, 30, 30, 20, 30, 30, 20, 30, 20, 30],
        "w": list("xyxyxyxyxy"),
    }
)
"""One of a and of b was there twice, at 20 and at 30, and another one at 30; c and d have two."""


def test_the_members_of_households_are_persons():
    ages = Hierarchy.ranges(widths=[20, 100])

    def fitted(*models):
        made = Anonymizer({"age": ages}, "w", [*models], household="home", person="who")
        return made.fit(VISITS).release_

    found = fitted(HouseholdCompositionKAnonymity(2))
    assert found.levels == {"age": 0}  # a with b, and c with d
    assert [each.worst for each in found.privacy] == [2, 4, 1 / 4]
    # Of the persons of 20 each is one of 4, of 30 one of 6: a 1 - 3/4 x 5/6 x 5/6 = 23/48.
    found = fitted(HouseholdRisk(0.48))
    assert found.levels == {"age": 0}
    assert found.privacy[0].worst == pytest.approx(23 / 48)
    # All together a1 has 2 of 10 records: a 1 - 8/10 x 9/10, where a person is one of 8.
    found = fitted(HouseholdRisk(0.3))
    assert found.levels == {"age": 1}
    assert found.privacy[0].worst == pytest.approx(0.28)
    with pytest.raises(PolicyUnreachableError, match=r"risk = 0.27 is below 0.28"):
        fitted(HouseholdRisk(0.27))


def test_a_household_of_each_person_changes_no_policy_of_persons():
    raw = table_of(np.random.default_rng(2))
    policy = [KAnonymity(3), DistinctLDiversity(2)]
    made = [anonymizer_of(policy, household=names) for names in ("home", ())]
    with_homes = made[0].fit_transform(raw)
    without = made[1].fit_transform(raw.drop(columns="home"))
    pd.testing.assert_frame_equal(with_homes, without)
    assert made[0].release_.privacy == made[1].release_.privacy


def test_where_each_person_has_one_record_households_are_those_of_records():
    raw = table_of(np.random.default_rng(4), 30).drop_duplicates("who")
    for policy in POLICIES[:3]:
        several = anonymizer_of(policy).fit(raw)
        single = anonymizer_of(policy, person=(), identifiers=["who"]).fit(raw)
        assert several.release_.levels == single.release_.levels
        assert several.release_.privacy[0] == single.release_.privacy[0]


# Against plain Python

RECODINGS = [
    FullDomain(),
    FullDomain(suppression=0.3),
    FullDomain(suppression=0.4, remove=True),
    Fixed({"age": 3, "sex": 1}, suppression=0.4),
]


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_a_release_satisfies_the_policy_of_members(recoding):
    rng, released_some = np.random.default_rng(9), 0
    for _, privacy in product(range(at_length(3, 100)), POLICIES):
        raw = table_for(privacy, rng)
        anonymizer = anonymizer_of(privacy, recoding)
        try:
            released = anonymizer.fit_transform(raw)
        except PolicyUnreachableError:
            continue
        released_some += 1
        assert [*released.columns] == ["age", "sex", "w", "place"]
        labels = released[["age", "sex"]].astype(str).itertuples(index=False, name=None)
        found = records(raw.iloc[released["place"]], labels)
        home_of = dict(zip(raw["who"], raw["home"], strict=True))
        assert all(holds(found, home_of, model) for model in anonymizer.models), privacy
    assert released_some > 5


def test_the_best_levels_are_those_of_enumeration():
    rng, solved = np.random.default_rng(21), 0
    searches = ["automatic", "bisection", "top-down", "incognito", "exhaustive", "branch-and-bound"]
    for number, privacy in product(range(at_length(4, 200)), POLICIES):
        raw, best = table_for(privacy, rng), None
        recoding = FullDomain(search=searches[number % len(searches)])
        anonymizer = anonymizer_of(privacy, recoding, objective="discernibility")
        home_of = dict(zip(raw["who"], raw["home"], strict=True))
        for age, sex in product(range(5), range(2)):
            rows = zip(raw["age"] // WIDTHS[age], raw["sex"], strict=True)
            found = records(raw, [(own, "*" if sex else other) for own, other in rows])
            squares = sum(len(group) ** 2 for group in persons.classes_of(found))
            if (best is None or squares < best) and all(
                holds(found, home_of, each) for each in anonymizer.models
            ):
                best = squares
        try:
            anonymizer.fit(raw)
        except PolicyUnreachableError:
            assert best is None
            continue
        solved += 1
        assert anonymizer.search_.value == best
    assert solved > 6


@pytest.mark.parametrize("recoding", [Boxes(), VariableRange(), MergedCells()], ids=repr)
def test_households_of_each_class_are_for_every_recoding(recoding):
    raw = table_of(np.random.default_rng(1), 30)
    released = anonymizer_of([HouseholdKAnonymity(3)], recoding).fit_transform(raw)
    names = ["class"] if "class" in released else ["age", "sex"]
    rows = released[names].astype(str).apply("|".join, axis=1)
    homes = raw["home"].iloc[released["place"]].to_numpy()
    assert pd.Series(homes).groupby(rows.to_numpy()).nunique().min() >= 3


def test_whole_persons_are_suppressed_under_a_risk_of_households():
    recoding = FullDomain(suppression=0.5, suppress_persons=True)
    for seed in range(at_length(3, 50)):
        raw = table_of(np.random.default_rng(seed), 20)
        anonymizer = anonymizer_of([HouseholdRisk(0.7), KAnonymity(3)], recoding)
        released = anonymizer.fit_transform(raw)
        left = raw.iloc[released["place"]]
        assert len(left) == raw["who"].isin(left["who"]).sum()
        labels = released[["age", "sex"]].astype(str).itertuples(index=False, name=None)
        home_of = dict(zip(raw["who"], raw["home"], strict=True))
        assert holds(records(left, labels), home_of, HouseholdRisk(0.7))
    with pytest.raises(InputError, match="household-k-anonymity is not about the persons of the"):
        anonymizer_of([HouseholdKAnonymity(2)], recoding).fit(raw)


@pytest.mark.parametrize("kind", EACH)
def test_tables_of_every_kind_are_released_alike(kind):
    raw = table_of(np.random.default_rng(11), 40, 2)
    anonymizer = anonymizer_of([HouseholdRisk(0.7), HouseholdCompositionKAnonymity(2)])
    expected = anonymizer.fit_transform(raw)
    privacy = anonymizer.release_.privacy
    found = anonymizer.fit_transform(KINDS[kind](pa.Table.from_pandas(raw)))
    assert records_of(found) == records_of(expected)
    assert anonymizer.release_.privacy == privacy


def test_a_check_counts_members():
    models = [HouseholdRisk(0.5), HouseholdKAnonymity(2)]
    found = check(VISITS, "age", privacy=models, household="home", person="who")
    assert found.satisfied
    assert found.privacy[0].worst == pytest.approx(23 / 48)
    assert [each.model for each in found.privacy][1:] == [
        HouseholdKAnonymity(2),
        PersonKAnonymity(2),
        LargestShare(1 / 2),
    ]


# Files

STUDY = """\
[data]
path = "raw.csv"
household = "home"
person = "who"
[quasi-identifiers]
age = { widths = [20, 100] }
[sensitive]
attributes = "w"
[[privacy]]
model = "household-composition-k-anonymity"
k = 2
[[privacy]]
model = "household-risk"
risk = 0.5
"""


@pytest.fixture
def published(published_from):
    return published_from(VISITS, STUDY)


def test_a_policy_of_members_is_examined_with_the_original_alone(published):
    release, raw = published
    manifest = json.loads((release / "release.json").read_text())
    assert (manifest["household"], manifest["person"]) == (["home"], ["who"])
    assert all(each["worst"] is None for each in manifest["privacy"])
    assert [*pd.read_csv(release / "released.csv").columns] == ["age", "w"]
    assert not verify_release(release).satisfied
    for study in (None, raw.with_name("study.toml")):
        found = verify_release(release, study, original=raw)
        assert found.satisfied, [*map(str, found.differences)]
    other = raw.with_name("other.csv")
    VISITS.assign(home=list("aaabbbcccc")).to_csv(other, index=False)
    found = verify_release(release, original=other, steward=False)
    assert {each.model.name for each in found.verdicts if not each.satisfied} == {
        "household-composition-k-anonymity",
        "household-risk",
    }
    VISITS.assign(home=list("abbbbbccdd")).to_csv(other, index=False)
    with pytest.raises(InputError, match="must tell one household of each person, and tells"):
        verify_release(release, original=other)


def test_a_release_of_members_is_attacked_and_followed(published, tmp_path):
    release, raw = published
    (found,) = audit_files([release], [raw]).releases
    assert (found.households.households, found.households.fewest) == (4, 2)
    assert found.households.highest == pytest.approx(23 / 48)
    assert {each.model.name for each in found.households.privacy} == {
        "household-composition-k-anonymity",
        "household-risk",
        "household-k-anonymity",
    }
    assert all(each.satisfied for each in found.privacy)
    publish_applied(release, raw, tmp_path / "next")
    assert verify_release(tmp_path / "next", original=raw).satisfied


def test_commands_measure_persons_and_leave_households_to_the_audit(published, capsys):
    release, raw = published
    study = str(raw.with_name("study.toml"))

    def said(code, *arguments) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        captured = capsys.readouterr()
        assert ended.value.code == code, captured
        return " ".join(captured.out.split())

    assert "0.479167" in said(0, "check", raw, "--study", study)
    assert "Households" not in said(0, "risk", raw, "--study", study)
    found = said(3, "audit", release, "--against", raw)
    assert "4 households of the original have records in these classes, 0 of them alone" in found
    assert "which records are of one household" in said(3, "verify", release)
