"""Releases of samples whose records stand for people: models hold of these, by sampling weights."""

import json
import pickle
from fractions import Fraction
from itertools import product
from math import floor, log

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import EACH, KINDS, records_of
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from literature import individual_risk

from anonymizer import (
    Anonymizer,
    AverageReidentificationRisk,
    DeltaPresence,
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
from anonymizer.release.apply import publish_applied
from anonymizer.release.publish import publish
from anonymizer.release.sites.counts import count_part
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.risk.audit import audit_files
from anonymizer.tables.population import WEIGHTS, people_weighed

AGE = Hierarchy.ranges(widths=[2, 4, 8])
SEX = Hierarchy.suppression()
WIDTHS = (1, 2, 4, 8, None)


def anonymizer_of(privacy, recoding="full-domain", **options) -> Anonymizer:
    wishes = {"privacy": privacy, "recoding": recoding, "weight": "people"} | options
    return Anonymizer({"age": AGE, "sex": SEX}, sensitive="w", **wishes)


def table_of(rng: np.random.Generator, records: int | None = None) -> pd.DataFrame:
    """Some 20 records of weights from 0.5 to 12, with decimals; and their places in the table."""
    records = int(rng.integers(6, 30)) if records is None else records
    return pd.DataFrame(
        {
            "age": rng.integers(0, 8, records),
            "sex": rng.choice(["f", "m"], records),
            "w": rng.choice(["a", "b", "c"], records),
            "people": rng.choice([0.5, 1, 1.3, 2.25, 5.1, 12], records),
            "place": np.arange(records),
        }
    )


def stands_for(weight: object) -> Fraction:
    """The people whom a record stands for: itself at least."""
    return max(Fraction(str(weight)), Fraction(1))


def label(record, levels) -> tuple:
    width = WIDTHS[levels[0]]
    return (None if width is None else record.age // width, None if levels[1] else record.sex)


def classes_at(raw: pd.DataFrame, levels) -> list[list]:
    found: dict[tuple, list] = {}
    for record in raw.itertuples():
        found.setdefault(label(record, levels), []).append(record)
    return list(found.values())


def exact(records) -> Fraction:
    """F_g: what the weights of some records come to."""
    return sum((stands_for(each.people) for each in records), Fraction(0))


def counted(records) -> int:
    """The same as it is counted: rounded down for each combination of raw values."""
    raw: dict[tuple, list] = {}
    for each in records:
        raw.setdefault((each.age, each.sex), []).append(each)
    return sum(floor(exact(some)) for some in raw.values())


def holds(model, classes, people) -> bool:
    """The definition of a model, ``people`` being whom the records of a class stand for."""
    if isinstance(model, KMap):
        return all(people(each) >= model.k for each in classes)
    if isinstance(model, HighestReidentificationRisk):
        return all(1 / people(each) <= model.risk + 1e-9 for each in classes)
    if isinstance(model, IndividualRisk):
        return all(
            individual_risk(len(each), people(each)) <= model.risk + 1e-9 for each in classes
        )
    average = sum(len(each) / people(each) for each in classes) / sum(map(len, classes))
    return average <= model.risk + 1e-9


MODELS = [
    *(KMap(k, population="weights") for k in (2, 7, 20, 45)),
    *(HighestReidentificationRisk(risk, population="weights") for risk in (0.5, 0.1, 0.04)),
    *(AverageReidentificationRisk(risk, population="weights") for risk in (0.6, 0.4, 0.3)),
    *(IndividualRisk(risk) for risk in (0.6, 0.2, 0.05)),
]


def test_records_stand_for_people_by_hand():
    """Of 30 to 33 four records stand for 2 + 2 + 1 + 1 people, of 60 and 61 two for 10 + 40."""
    raw = pd.DataFrame({"age": [30, 31, 32, 33, 60, 61], "people": [2.5, 2.5, 1, 0.5, 10, 40.25]})
    ages = Hierarchy.ranges(widths=[2, 10, 100])
    anonymizer = Anonymizer({"age": ages}, privacy=[KMap(6, population="weights")], weight="people")
    released = anonymizer.fit_transform(raw)
    assert released.columns.tolist() == ["age"]
    assert released["age"].value_counts().to_dict() == {"[30, 40)": 4, "[60, 70)": 2}
    assert anonymizer.release_.privacy[0].worst == 6
    stricter = anonymizer.set_params(privacy=[KMap(7, population="weights")]).fit(raw)
    assert stricter.release_.levels == {"age": 3}
    out_of_reach = anonymizer.set_params(privacy=[KMap(57, population="weights")])
    with pytest.raises(PolicyUnreachableError, match="57 exceeds the 56 records of the population"):
        out_of_reach.fit(raw)


def test_people_are_never_more_than_the_weights_say():
    sample = pd.DataFrame({"sex": ["f"] * 10 + ["m"] * 3, "w": [2.3] * 10 + [0.1, 1.9999999, 1e9]})
    found = people_weighed(sample, "w", ["sex"])
    assert found.combinations["sex"].tolist() == ["f", "m"]
    # 23 exactly, as a float it is less; 0.1 counts 1, and the seventh decimal nothing.
    assert found.sizes.tolist() == [23, 1_000_000_002]
    nearly = pd.DataFrame({"sex": ["f"] * 3, "w": ["1.3333333333333333"] * 3})
    assert people_weighed(nearly, "w", ["sex"]).sizes.tolist() == [3]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name} {model.threshold:g}")
def test_the_levels_that_satisfy_a_model_are_those_of_plain_python(model):
    rng = np.random.default_rng(5)
    for _ in range(at_length(2, 60)):
        raw = table_of(rng)
        nodes = [*product(range(len(WIDTHS)), range(2))]
        fine = [node for node in nodes if holds(model, classes_at(raw, node), counted)]
        assert all(holds(model, classes_at(raw, node), exact) for node in fine)
        anonymizer = anonymizer_of([model], FullDomain(search="exhaustive"))
        if not fine:
            with pytest.raises(PolicyUnreachableError):
                anonymizer.fit(raw)
            continue
        every = anonymizer.fit(raw)
        assert every.search_.feasible == len(fine)
        best = anonymizer_of([model]).fit(raw)
        assert (best.release_.levels["age"], best.release_.levels["sex"]) in fine
        assert best.search_.value == pytest.approx(every.search_.value)


def test_the_individual_risk_by_hand():
    """One record of 100 people: log 100 / 99. Two of 200: 1/99 - log 100 / 99^2. Three: 3 / 603."""
    raw = pd.DataFrame({"job": ["a"] + ["b"] * 2 + ["c"] * 3, "people": 100})
    roles = {"quasi_identifiers": {"job": "suppress"}, "weight": "people"}
    alone = log(100) / 99
    fine = Anonymizer(**roles, privacy=[IndividualRisk(0.0466)]).fit(raw)
    assert fine.release_.levels == {"job": 0}
    assert fine.release_.privacy[0].worst == pytest.approx(alone, rel=1e-12)
    counts = fine.task(raw).counted.counts.about(None)
    measured = IndividualRisk(1).measure(counts).tolist()
    assert measured == pytest.approx([alone, 1 / 99 - log(100) / 99**2, 3 / 603], rel=1e-12)
    stricter = Anonymizer(**roles, privacy=[IndividualRisk(0.0464)]).fit(raw)
    assert stricter.release_.levels == {"job": 1}
    with pytest.raises(PolicyUnreachableError, match=r"0\.001 is below 0\.0019"):
        Anonymizer(**roles, privacy=[IndividualRisk(0.001)]).fit(raw)  # 1 / 501


@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.floats(1, 1e5),
    st.one_of(st.just(1.0), st.floats(1, 1e5)),
)
def test_more_records_with_their_people_are_found_less(records, more, weight, other):
    """The individual risk of a class falls, whichever class it is merged with."""
    alone = individual_risk(records, records * weight)
    together = individual_risk(records + more, records * weight + more * other)
    assert together <= alone * (1 + 1e-6)  # near p = 1 the forms of one and two records cancel


RECODINGS = [
    FullDomain(suppression=0.3),
    FullDomain(suppression=0.3, remove=True),
    FullDomain(suppression=0.3, suppress="any"),
    Fixed({"age": 2, "sex": 0}, suppression=0.5),
]


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_every_class_of_a_release_satisfies_the_policy_by_exact_sums(recoding):
    rng = np.random.default_rng(9)
    released = 0
    for _, model in product(range(at_length(2, 40)), MODELS):
        raw = table_of(rng)
        anonymizer = anonymizer_of([model], recoding)
        try:
            found = anonymizer.fit_transform(raw)
        except (PolicyBrokenError, PolicyUnreachableError):
            continue
        released += 1
        assert "people" not in found.columns
        records = [*raw.itertuples()]
        classes: dict[tuple, list] = {}
        for place, *labels in found[["place", "age", "sex"]].itertuples(index=False):
            classes.setdefault(tuple(labels), []).append(records[place])
        assert holds(model, list(classes.values()), exact)
    assert released > 3


@settings(max_examples=at_length(10, 100))
@given(st.integers(0, 2**32), st.integers(2, 6), st.sampled_from([0.0, 0.3]))
def test_weights_of_one_make_k_map_k_anonymity(seed, k, suppression):
    """And change nothing else of a release; also written as texts, or as 1.0."""
    rng = np.random.default_rng(seed)
    raw = table_of(rng).assign(people=rng.choice(["1", "1.0", "1e0"]))
    recoding = FullDomain(suppression=suppression)
    outcomes = []
    for privacy in ([KMap(k, population="weights")], [KAnonymity(k)]):
        anonymizer = anonymizer_of(privacy, recoding)
        try:
            outcomes.append(anonymizer.fit_transform(raw).to_csv())
        except PolicyUnreachableError:
            outcomes.append(None)
    assert outcomes[0] == outcomes[1]


def test_a_column_of_weights_changes_nothing_but_that_it_is_left_out():
    raw = table_of(np.random.default_rng(2), 25)
    with_weights = anonymizer_of([KAnonymity(3)]).fit_transform(raw)
    without = anonymizer_of([KAnonymity(3)], weight=None).fit_transform(raw.drop(columns="people"))
    pd.testing.assert_frame_equal(with_weights, without)


@pytest.mark.parametrize("kind", EACH)
def test_tables_of_every_kind_are_released_alike(kind):
    raw = table_of(np.random.default_rng(11), 40)
    anonymizer = anonymizer_of([KMap(20, population="weights"), KAnonymity(2)])
    expected = anonymizer.fit_transform(raw)
    privacy = anonymizer.release_.privacy
    assert anonymizer.release_.levels["age"] + anonymizer.release_.levels["sex"] > 0
    found = anonymizer.fit_transform(KINDS[kind](pa.Table.from_pandas(raw)))
    assert records_of(found) == records_of(expected)
    assert anonymizer.release_.privacy == privacy


def test_another_table_stands_for_its_own_people():
    raw = table_of(np.random.default_rng(3), 30).assign(people=8.0)
    anonymizer = anonymizer_of([KMap(16, population="weights")]).fit(raw)
    for plan in (anonymizer, pickle.loads(pickle.dumps(anonymizer))):
        assert len(plan.transform(raw)) == 30
        with pytest.raises(PolicyBrokenError, match="k-map fails in"):
            plan.transform(raw.assign(people=1))
        scored = plan.set_params(verify=False).transform(raw.drop(columns=["people", "w"]))
        assert len(scored) == 30
        plan.set_params(verify=True)


@pytest.mark.parametrize("unseen", ["any", "suppress"])
@pytest.mark.parametrize("k", [4, 40])
def test_records_with_values_of_no_group_stand_for_people_too(unseen, k):
    sexes = Hierarchy.from_rows([["f", "*"], ["m", "*"]])
    raw, new = (table_of(np.random.default_rng(seed), 60) for seed in (1, 2))
    new.loc[[3, 4, 9], "sex"] = "x"
    model = KMap(k, population="weights")
    anonymizer = Anonymizer(
        {"age": AGE, "sex": sexes},
        privacy=[model],
        weight="people",
        recoding=FullDomain(suppression=0.3),
        unseen=unseen,
    ).fit(raw)
    released = anonymizer.transform(new)
    assert "x" not in set(released["sex"])
    records = [*new.itertuples()]
    classes: dict[tuple, list] = {}
    for place, *labels in released[["place", "age", "sex"]].itertuples(index=False):
        classes.setdefault(tuple(labels), []).append(records[place])
    assert holds(model, list(classes.values()), exact)


def test_what_is_pickled_has_no_sum_of_weights():
    raw = table_of(np.random.default_rng(3), 30)
    anonymizer = anonymizer_of([KMap(4, population="weights")]).fit(raw)
    assert anonymizer.plan_.fitted.population is not None
    again = pickle.loads(pickle.dumps(anonymizer))
    assert again.plan_.fitted.population is None
    assert again.privacy[0].population is WEIGHTS
    assert again.privacy == anonymizer.privacy


@pytest.mark.parametrize("wrong", [None, "", 0, -2, float("inf"), float("nan"), "many", "1,5"])
@pytest.mark.parametrize("missing", ["error", "drop", "gap", "category"])
def test_a_record_without_a_weight_is_refused(wrong, missing):
    raw = table_of(np.random.default_rng(1), 12).astype({"people": object})
    raw.loc[[3, 7], "people"] = wrong
    message = (
        "^column 'people', the sampling weight, has no number above 0 in 2 of 12 records; "
        "correct it, or leave these records out$"
    )
    with pytest.raises(InputError, match=message):
        anonymizer_of([KAnonymity(2)], missing=missing).fit(raw)


MANY = (
    "column 'people', the sampling weight, comes to 8,796,093,022,208 people or more in all, which "
    "is more than can be counted"
)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"weight": None}, "no column tells how many each does; name the column of sampling"),
        ({"weight": "whom"}, "the table has no column 'whom'"),
        ({"weight": ["people"]}, "weight must name a column, not list"),
        ({"weight": "sex"}, r"'sex' has more than one role; .* quasi-identifier and the sampling"),
        (
            {"person": "place", "released_weight": "class"},
            "column 'people' is the weight of a person, and a sum over the records of a class",
        ),
        ({"recoding": "boxes"}, "k-map is about a population; choose full-domain recoding"),
    ],
)
def test_what_does_not_fit_weights_is_refused(changed, message):
    raw = table_of(np.random.default_rng(0))
    with pytest.raises(InputError, match=message):
        anonymizer_of([KMap(2, population="weights")], **changed).fit(raw)


def test_weights_of_too_many_people_are_refused():
    raw = table_of(np.random.default_rng(0)).assign(people=1e13)
    with pytest.raises(InputError, match=MANY):
        anonymizer_of([KMap(2, population="weights")]).fit(raw)


def test_models_that_weights_say_nothing_about_are_refused():
    with pytest.raises(InputError, match="sampling weights do not tell of people like whom"):
        DeltaPresence(0.1, 0.5, population="weights")
    with pytest.raises(InputError, match='everybody, or "weights", not a str'):
        KMap(5, population="weight")
    raw = table_of(np.random.default_rng(0))
    with pytest.raises(InputError, match="no column tells how many each does"):
        check(raw, ["age"], privacy=[KMap(5, population="weights")])
    with pytest.raises(InputError, match="weight must name a column, not 3"):
        check(raw, ["age"], weight=3)
    with pytest.raises(InputError, match="must be that of a person in all records, and has sever"):
        check(raw, ["age"], weight="people", person="w")


def test_a_table_is_checked_as_it_stands_by_hand():
    """Of 20 two records for 2.5 + 2.5 people, of 30 one that stands for half a person: itself."""
    raw = pd.DataFrame({"age": [20, 20, 30], "people": [2.5, 2.5, 0.5]})
    found = check(raw, "age", weight="people")
    assert (found.k, found.fewest_people, found.privacy) == (1, 1, [])
    assert found.risk["journalist_highest"] == 1
    assert found.risk["marketer"] == pytest.approx((2 / 5 + 1) / 3)
    assert found.to_dict()["fewest_people"] == 1
    older = check(raw[:2], "age", weight="people", privacy=[KMap(5, population="weights")])
    assert (older.fewest_people, older.satisfied, older.privacy[0].worst) == (5, True, 5)
    assert check(raw, "age").fewest_people is None


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name} {model.threshold:g}")
def test_a_check_says_what_plain_python_does(model):
    rng = np.random.default_rng(11)
    for _ in range(at_length(3, 60)):
        raw = table_of(rng)
        classes = classes_at(raw, (0, 0))
        found = check(raw, ["age", "sex"], "w", [model], weight="people")
        assert found.satisfied == holds(model, classes, counted)
        assert found.fewest_people == min(map(counted, classes))


def test_other_people_come_before_the_weights_of_a_check():
    """A policy is about the table of everybody that it names; the weights are a figure still."""
    raw = pd.DataFrame({"age": [20, 20, 30], "people": [2.5, 2.5, 4]})
    everybody = pd.DataFrame({"age": [20] * 9 + [30] * 7})
    found = check(raw, "age", privacy=[KMap(7, population=everybody)], weight="people")
    assert (found.privacy[0].worst, found.fewest_people) == (7, 4)


def test_a_column_of_weights_may_be_listed_as_an_identifier():
    """As a study has it that was drafted before ``init`` found weights."""
    raw = table_of(np.random.default_rng(4), 30)
    privacy = [KMap(5, population="weights")]
    listed = anonymizer_of(privacy, identifiers=["people"]).fit_transform(raw)
    pd.testing.assert_frame_equal(listed, anonymizer_of(privacy).fit_transform(raw))


STUDY = """
[data]
path = "raw.csv"
weight = "people"

[quasi-identifiers]
age = { widths = [2, 4, 8] }
sex = "suppress"

[sensitive]
attributes = "w"

[[privacy]]
model = "k-map"
k = 20
population = "weights"

[[privacy]]
model = "average-reidentification-risk"
risk = 0.05
population = "weights"

[[privacy]]
model = "individual-risk"
risk = 0.07

[[privacy]]
model = "k-anonymity"
k = 2
"""
NAMES = ["k-map", "average-reidentification-risk", "individual-risk"]


@pytest.fixture
def published(tmp_path):
    """A release of a study, and its raw table."""
    table_of(np.random.default_rng(11), 40).to_csv(tmp_path / "raw.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    publish(Study(tmp_path / "study.toml"), tmp_path / "release")
    return tmp_path / "release", tmp_path / "raw.csv"


def test_manifests_tell_no_sum_of_weights(published):
    release, _ = published
    manifest = json.loads((release / "release.json").read_text())
    assert manifest["weight"] == "people"
    assert manifest["columns"]["identifiers"] == ["people"]
    assert [each["worst"] is None for each in manifest["privacy"]] == [True] * 3 + [False]
    assert manifest["privacy"][0]["parameters"] == {"k": 20, "population": "weights"}
    steward = json.loads((release.parent / "release.steward.json").read_text())
    assert steward["privacy"][0]["worst"] >= 20
    assert [*pd.read_csv(release / "released.csv").columns] == ["age", "sex", "w", "place"]


def test_a_policy_by_weights_is_examined_with_the_original_alone(published):
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
            assert [each.model.name for each in found.verdicts] == [*NAMES, "k-anonymity"]


def test_other_weights_break_a_release(published):
    release, raw = published
    light = raw.with_name("light.csv")
    pd.read_csv(raw).assign(people=1).to_csv(light, index=False)
    found = verify_release(release, original=light, steward=False)
    assert [each.satisfied for each in found.verdicts] == [False, False, False, True]
    found = verify_release(release, original=light)  # the steward's figures are others, too
    assert not found.satisfied
    pd.read_csv(raw).iloc[1:].to_csv(light, index=False)
    found = verify_release(release, original=light)
    assert [each.field for each in found.differences] == ["privacy by weights"]


def test_a_table_without_a_manifest_does_not_show_whom_records_stand_for(published):
    release, raw = published
    alone = raw.with_name("alone.csv")
    alone.write_bytes((release / "released.csv").read_bytes())
    found = verify_release(alone, raw.with_name("study.toml"))
    assert not found.satisfied
    assert [each.name for each in found.unexamined] == NAMES


def test_a_release_is_followed_by_a_table_with_weights_of_its_own(published, tmp_path):
    release, raw = published
    publish_applied(release, raw, tmp_path / "next")
    assert verify_release(tmp_path / "next", original=raw).satisfied
    pd.read_csv(raw).drop(columns="people").to_csv(tmp_path / "bare.csv", index=False)
    with pytest.raises(InputError, match="has no column 'people'"):
        publish_applied(release, tmp_path / "bare.csv", tmp_path / "third")
    pd.read_csv(raw).assign(people=1).to_csv(tmp_path / "light.csv", index=False)
    with pytest.raises(PolicyBrokenError, match="k-map fails in"):
        publish_applied(release, tmp_path / "light.csv", tmp_path / "third")


def test_commands_say_what_they_cannot_examine(published, capsys):
    release, raw = published
    study = str(raw.with_name("study.toml"))
    stands = "The released table does not show for how many people its records stand."

    def said(code, *arguments) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        assert ended.value.code == code
        return " ".join(capsys.readouterr().out.split())

    names = "Not examined: k-map >= 20, average-reidentification-risk <= 0.05, "
    names += "individual-risk <= 0.07."
    assert f"{names} {stands} Give the table" in said(3, "verify", release)
    assert "Not examined" not in said(0, "verify", release, "--original", raw)
    assert f"Not examined: {', '.join(NAMES)}. {stands}" in said(3, "check", release)
    assert "Not examined" not in said(1, "check", raw, "--study", study)
    audit = said(3, "audit", release, "--against", raw)
    assert "Not examined is whether the whole policy holds: its policy is about the people" in audit
    said(0, "report", release, "--output", raw.with_name("page.html"))
    page = " ".join(raw.with_name("page.html").read_text().split())
    assert "The policy held when the release was made: 4 conditions over all of its" in page
    assert stands in page


def test_releases_whose_records_stand_for_people_are_audited_one_by_one(published):
    release, raw = published
    with pytest.raises(InputError, match="is audited by itself"):
        audit_files([release, release], [raw])


def test_parts_are_not_counted_by_weights(published, tmp_path):
    _, raw = published
    study = Study(raw.with_name("study.toml"))
    with pytest.raises(InputError, match=r"\[data\] weight is for a table that lies in one place"):
        count_part(study, raw, tmp_path / "part.counts")


def test_a_study_needs_the_column_of_weights(published):
    _, raw = published
    study = raw.with_name("study.toml")
    study.write_text(STUDY.replace('weight = "people"\n', ""))
    message = r'add the column of sampling weights to \[data\], such as weight = "sampling_weight"'
    with pytest.raises(InputError, match=message):
        publish(Study(study), raw.with_name("other"))


def test_a_file_that_is_called_weights_is_a_population_all_the_same(published):
    _, raw = published
    table = pd.read_csv(raw)
    pd.concat([table] * 20).to_csv(raw.with_name("weights"), index=False)
    study = raw.with_name("study.toml")
    text = STUDY.replace('"individual-risk"\nrisk = 0.07', '"k-anonymity"\nk = 1')
    study.write_text(text.replace('"weights"', '"./weights"').replace('weight = "people"\n', ""))
    publish(Study(study), raw.with_name("other"))
    manifest = json.loads((raw.with_name("other") / "release.json").read_text())
    people = {"name": "./weights", "records": 800}
    assert manifest["privacy"][0]["parameters"] == {"k": 20, "population": people}


def test_a_manifest_of_another_column_of_weights_is_noticed(published):
    release, raw = published
    study = raw.with_name("study.toml")
    study.write_text(STUDY.replace('weight = "people"', 'weight = "place"'))
    found = verify_release(release, study)
    assert "weight" in {each.field for each in found.differences}
