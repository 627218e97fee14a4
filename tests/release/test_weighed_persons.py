"""Releases of persons who have several records, and a sampling weight each."""

import json
import pickle
from itertools import product

import numpy as np
import pandas as pd
import persons
import pyarrow as pa
import pytest
from engines import EACH, KINDS, records_of
from hypothesis import given
from hypothesis import strategies as st
from lengths import at_length
from literature import individual_risk

from anonymizer import (
    Anonymizer,
    AverageReidentificationRisk,
    Boxes,
    Fixed,
    FullDomain,
    Hierarchy,
    HighestReidentificationRisk,
    IndividualRisk,
    InputError,
    KAnonymity,
    KMap,
    PolicyBrokenError,
    PolicyUnreachableError,
    check,
)
from anonymizer.cli import main
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.counts.weighed_persons import WeighedPersons
from anonymizer.release.apply import publish_applied
from anonymizer.release.verification.verification import verify_release
from anonymizer.tables import engine
from anonymizer.tables.population import people_weighed

AGE = Hierarchy.ranges(widths=[2, 4, 8])
SEX = Hierarchy.suppression()
WIDTHS = (1, 2, 4, 8, 1000)


def table_of(rng: np.random.Generator, homes: int = 12) -> pd.DataFrame:
    """Persons of one to four records, whose ages differ a little, and of weights from 0.5 to 12."""
    person = np.repeat(np.arange(homes), rng.choice([1, 1, 2, 4], homes))
    age, sex = rng.integers(0, 8, homes), rng.choice(["f", "m"], homes)
    weight = rng.choice([0.5, 1, 1.3, 2.25, 5.1, 12], homes)
    return pd.DataFrame(
        {
            "who": person,
            "age": age[person] + rng.integers(0, 3, len(person)),
            "sex": sex[person],
            "w": rng.choice(["a", "b", "c"], len(person)),
            "people": weight[person],
            "place": np.arange(len(person)),
        }
    )


def anonymizer_of(privacy, recoding="full-domain", **options) -> Anonymizer:
    wishes = {"privacy": privacy, "recoding": recoding, "person": "who", "weight": "people"}
    return Anonymizer({"age": AGE, "sex": SEX}, sensitive="w", **(wishes | options))


def records(raw: pd.DataFrame, labels) -> list[persons.Record]:
    return persons.records_of([*labels], [*raw["w"]], [*raw["who"]])


def weights(raw: pd.DataFrame) -> dict:
    return dict(zip(raw["who"], raw["people"], strict=True))


def holds(found: list[persons.Record], weight_of, model) -> bool:
    """Whether a model holds, by its definition."""
    for group in persons.classes_of(found):
        people = persons.people(group, weight_of)
        match model:
            case KMap(k):
                fine = people >= k
            case HighestReidentificationRisk(risk):
                fine = 1 / people <= risk + 1e-9
            case IndividualRisk(risk):
                fine = individual_risk(persons.persons(group, found), people) <= risk + 1e-9
        if not fine:
            return False
    return True


MODELS = [
    *(KMap(k, population="weights") for k in (2, 7, 20)),
    *(HighestReidentificationRisk(risk, population="weights") for risk in (0.3, 0.06)),
    *(IndividualRisk(risk) for risk in (0.5, 0.1)),
]

# By hand

VISITS = pd.DataFrame(
    {
        "who": list("aabbcde"),
        "age": [20, 21, 20, 30, 30, 31, 31],
        "people": [10, 10, 20.5, 20.5, 5, 7, 3],
    }
)
"""Of 20 to 29 a and b, who stand for 30.5 people, with four records; of 30 to 39 b to e, 35.5."""


def test_a_person_of_several_records_stands_for_their_people_once():
    ages = Hierarchy.ranges(widths=[10, 100])
    roles = {"quasi_identifiers": {"age": ages}, "weight": "people", "person": "who"}

    def fitted(*models):
        return Anonymizer(**roles, privacy=[*models]).fit(VISITS).release_

    tens = fitted(KMap(30, population="weights"))
    assert tens.levels == {"age": 1}
    assert tens.privacy[0].worst == 30  # by records it were 10 + 10 + 20 of the twenties
    every = fitted(KMap(31, population="weights"))
    assert every.levels == {"age": 2}
    assert every.privacy[0].worst == 45  # b is in both, and stands for 20.5 once
    with pytest.raises(PolicyUnreachableError, match="46 exceeds the 45 records of the population"):
        fitted(KMap(46, population="weights"))
    risk = fitted(IndividualRisk(0.06)).privacy[0]
    assert risk.worst == pytest.approx(individual_risk(2, 30))  # of two persons in three records


def test_people_by_person_in_a_table_as_it_stands():
    found = people_weighed(VISITS.assign(age=VISITS["age"] // 10), "people", ["age"], ["who"])
    assert found.sizes.tolist() == [30, 35]
    assert people_weighed(VISITS, "people", ["age"], ["who"]).sizes.tolist() == [30, 10, 25, 10]


def test_a_check_counts_the_people_of_persons():
    models = [KMap(10, population="weights"), IndividualRisk(0.5)]
    found = check(VISITS, "age", privacy=models, person="who", weight="people")
    assert [each.worst for each in found.privacy] == [10, pytest.approx(individual_risk(1, 10))]
    assert found.fewest_people == 10


# Against plain Python


@given(st.integers(0, 2**32))
def test_people_of_classes_do_not_add_up_and_never_fall(seed):
    rng = np.random.default_rng(seed)
    raw = table_of(rng)
    schema = Schema(("age", "sex"), (), person=("who",), weight="people")
    tally = engine.tally(schema.admit(raw), schema.columns)
    taxonomies = taxonomies_of(tally, {"age": AGE, "sex": SEX})
    counts = schema.counts(tally, taxonomies)
    counts = counts.by_least(WeighedPersons.of(tally, schema, taxonomies))
    before = counts
    for age, sex in [(0, 0), (1, 0), (2, 1), (4, 1)]:
        recoding = {"age": taxonomies["age"].levels[age], "sex": taxonomies["sex"].levels[sex]}
        for found in (counts.recode(recoding), before.recode(recoding)):
            rows = zip(raw["age"], raw["sex"], strict=True)
            labels = [(own // WIDTHS[age], "*" if sex else other) for own, other in rows]
            groups = persons.classes_of(records(raw.assign(w="a"), labels))
            expected = sorted(persons.people(group, weights(raw)) for group in groups)
            assert sorted(found.population.tolist()) == expected
        assert found.population.min() >= before.population.min()
        before = found
    assert before.project(()).population.tolist() == [
        persons.people(records(raw, raw["w"]), weights(raw))
    ]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name} {model.threshold:g}")
def test_the_levels_that_satisfy_a_model_are_those_of_plain_python(model):
    rng = np.random.default_rng(5)
    for _ in range(at_length(2, 60)):
        raw, fine = table_of(rng), []
        for node in product(range(5), range(2)):
            rows = zip(raw["age"] // WIDTHS[node[0]], raw["sex"], strict=True)
            found = records(raw, [(own, "*" if node[1] else other) for own, other in rows])
            fine += [node] * holds(found, weights(raw), model)
        anonymizer = anonymizer_of([model], FullDomain(search="exhaustive"))
        if not fine:
            with pytest.raises(PolicyUnreachableError):
                anonymizer.fit(raw)
            continue
        every = anonymizer.fit(raw)
        assert every.search_.feasible == len(fine)
        for search in ("automatic", "bisection", "branch-and-bound"):
            best = anonymizer_of([model], FullDomain(search=search)).fit(raw)
            assert (best.release_.levels["age"], best.release_.levels["sex"]) in fine
            if search != "bisection":
                assert best.search_.value == pytest.approx(every.search_.value)


RECODINGS = [
    FullDomain(suppression=0.3, remove=True),
    FullDomain(suppression=0.3, remove=True, suppress="any"),
    Fixed({"age": 2, "sex": 0}, suppression=0.5, remove=True),
]


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_every_class_of_a_release_satisfies_the_policy(recoding):
    rng, released_some = np.random.default_rng(9), 0
    for _, model in product(range(at_length(2, 40)), MODELS):
        raw = table_of(rng, 16)
        anonymizer = anonymizer_of([model, KAnonymity(2)], recoding)
        try:
            released = anonymizer.fit_transform(raw)
        except (PolicyBrokenError, PolicyUnreachableError):
            continue
        released_some += 1
        assert [*released.columns] == ["age", "sex", "w", "place"]
        labels = released[["age", "sex"]].astype(str).itertuples(index=False, name=None)
        assert holds(records(raw.iloc[released["place"]], labels), weights(raw), model)
    assert released_some > 3


def test_where_each_person_has_one_record_people_are_those_of_records():
    raw = table_of(np.random.default_rng(3), 40).drop_duplicates("who")
    raw["people"] = raw["people"].clip(lower=1).round()  # no decimals, which are rounded by class
    for model in MODELS:
        several = anonymizer_of([model]).fit(raw).release_
        single = anonymizer_of([model], person=(), identifiers=["who"]).fit(raw).release_
        assert several.levels == single.levels
        assert several.privacy[0].worst == single.privacy[0].worst


@pytest.mark.parametrize("kind", EACH)
def test_tables_of_every_kind_are_released_alike(kind):
    raw = table_of(np.random.default_rng(11), 40)
    anonymizer = anonymizer_of([KMap(12, population="weights"), IndividualRisk(0.2)])
    expected = anonymizer.fit_transform(raw)
    privacy = anonymizer.release_.privacy
    found = anonymizer.fit_transform(KINDS[kind](pa.Table.from_pandas(raw)))
    assert records_of(found) == records_of(expected)
    assert anonymizer.release_.privacy == privacy


def test_another_table_stands_for_people_of_its_own():
    raw = table_of(np.random.default_rng(3), 40)
    anonymizer = anonymizer_of([KMap(50, population="weights")]).fit(raw)
    for plan in (anonymizer, pickle.loads(pickle.dumps(anonymizer))):
        assert len(plan.transform(raw)) == len(raw)
        with pytest.raises(PolicyBrokenError, match="k-map fails in"):
            plan.transform(raw.assign(people=0.5))


REFUSED = [
    (
        {"recoding": FullDomain(suppression=0.2)},
        "persons of several suppressed classes stand for their people once, .* remove = true",
    ),
    (
        {"recoding": Boxes()},
        "judges every class by its own records, and k-map is about a population",
    ),
    (
        {"released_weight": "class"},
        "'people' is the weight of a person, and a sum over the records",
    ),
    ({"weight": "place"}, "'place', the sampling weight, must be that of a person in all records"),
    (
        {"privacy": [AverageReidentificationRisk(0.5, population="weights")]},
        "average-reidentification-risk counts records, and what it means of persons",
    ),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED)
def test_what_does_not_fit_weights_of_persons_is_refused(changed, message):
    anonymizer = anonymizer_of([KMap(2, population="weights")]).set_params(**changed)
    raw = table_of(np.random.default_rng(0))
    with pytest.raises(InputError, match=message) as refused:
        anonymizer.fit(raw.assign(place=raw["place"] + 1))
    assert "12" not in str(refused.value)


def test_one_weight_may_be_written_in_several_ways():
    raw = VISITS.assign(people=["10", "1e1", "20.5", " 20.50", "5", "7", "3"])
    policy = [KMap(10, population="weights")]
    found = check(raw, "age", privacy=policy, person="who", weight="people")
    assert found.privacy[0].worst == 10


# Files

STUDY = """\
[data]
path = "raw.csv"
person = "who"
weight = "people"
[quasi-identifiers]
age = { widths = [10, 100] }
[[privacy]]
model = "k-map"
k = 30
population = "weights"
[[privacy]]
model = "individual-risk"
risk = 0.1
"""


@pytest.fixture
def published(published_from):
    return published_from(VISITS, STUDY)


def test_weights_of_persons_are_examined_with_the_original_alone(published):
    release, raw = published
    manifest = json.loads((release / "release.json").read_text())
    assert (manifest["weight"], manifest["person"]) == ("people", ["who"])
    assert all(each["worst"] is None for each in manifest["privacy"])
    assert [*pd.read_csv(release / "released.csv").columns] == ["age"]
    assert not verify_release(release).satisfied
    for study in (None, raw.with_name("study.toml")):
        found = verify_release(release, study, original=raw)
        assert found.satisfied, [*map(str, found.differences)]
    other = raw.with_name("other.csv")
    VISITS.assign(people=VISITS["people"] - 1).to_csv(other, index=False)
    found = verify_release(release, original=other, steward=False)
    assert [each.model.name for each in found.verdicts if not each.satisfied] == ["k-map"]


def test_weights_of_persons_are_followed_and_audited(published, tmp_path, capsys):
    release, raw = published
    publish_applied(release, raw, tmp_path / "next")
    assert verify_release(tmp_path / "next", original=raw).satisfied
    VISITS.assign(people=1).to_csv(tmp_path / "few.csv", index=False)
    with pytest.raises(PolicyBrokenError, match="k-map fails in"):
        publish_applied(release, tmp_path / "few.csv", tmp_path / "third")

    def said(code, *arguments) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        captured = capsys.readouterr()
        assert ended.value.code == code, captured
        return " ".join(captured.out.split())

    study = raw.with_name("study.toml")
    assert "10 people" in said(1, "check", raw, "--study", study)
    said(0, "risk", raw, "--study", study)
    assert "by sampling weights" in said(3, "audit", release, "--against", raw)
    assert "weighted" not in said(0, "quality", release, "--study", study)
