"""Releases of tables of which persons have several records: the policy is true of persons."""

import json
from copy import deepcopy
from itertools import product

import numpy as np
import pandas as pd
import persons as oracle
import pyarrow as pa
import pytest
from engines import EACH, KINDS, records_of
from lengths import at_length

from anonymizer import (
    AlphaKAnonymity,
    Anonymizer,
    AverageReidentificationRisk,
    BasicBetaLikeness,
    Boxes,
    Cut,
    DistinctLDiversity,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    HighestReidentificationRisk,
    InputError,
    KAnonymity,
    MeanInformation,
    MergedCells,
    PolicyBrokenError,
    PolicyUnreachableError,
    Pram,
    TCloseness,
    VariableRange,
)
from anonymizer.cli import main
from anonymizer.counts.persons import PER_PERSON, PERSON
from anonymizer.privacy import LargestShare, PersonKAnonymity
from anonymizer.release.apply import publish_applied
from anonymizer.release.publish import publish
from anonymizer.release.relations import CountedTable
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.utility import measure_file

AGE = Hierarchy.ranges(widths=[2, 4, 8])
SEX = Hierarchy.suppression()
POLICIES = [
    ([KAnonymity(2)], []),
    ([KAnonymity(3), LargestShare(0.5)], []),
    ([KAnonymity(2), EntropyLDiversity(1.5)], [("effective", 1.5, True)]),
    ([KAnonymity(2), TCloseness(0.5, distance="equal")], [("distance", 0.5, False)]),
    ([KAnonymity(2), DistinctLDiversity(2)], [("distinct", 2, True)]),
    ([AlphaKAnonymity(0.7, 1), KAnonymity(2)], [("likeliest", 0.7, False)]),
    ([KAnonymity(2), BasicBetaLikeness(1.5)], [("gain", 1.5, False)]),
]
RECODINGS = [
    FullDomain(),
    FullDomain(suppression=0.2),
    FullDomain(suppression=0.3, remove=True),
    VariableRange(),
    Cut(),
    Boxes(),
    MergedCells(),
    Fixed({"age": 2, "sex": 0}, suppression=0.4),
]


def table_of(rng: np.random.Generator) -> pd.DataFrame:
    """Some 30 records of 9 persons or so; where each stands in the table is a column of its own."""
    records = int(rng.integers(12, 40))
    person = rng.integers(0, int(rng.integers(3, 12)), records)
    age = rng.integers(0, 8, 12)
    return pd.DataFrame(
        {
            "who": [f"p{each}" for each in person],
            "age": (age[person] + rng.integers(0, 2, records)).astype(int),
            "sex": np.where(person % 2, "f", "m"),
            "w": rng.choice(["a", "b", "c"], records, p=[0.5, 0.3, 0.2]),
            "place": np.arange(records),
        }
    )


def released_records(raw: pd.DataFrame, released: pd.DataFrame) -> list[oracle.Record]:
    """The released records with whose they are, by their places in the raw table."""
    person = raw["who"].iloc[released["place"]].tolist()
    many = raw["who"].value_counts()
    names = [name for name in ("age", "sex", "class") if name in released.columns]
    labels = released[names].astype(str).itertuples(index=False, name=None)
    rows = zip(labels, released["w"], person, strict=True)
    return [oracle.Record(row, value, who, int(many[who])) for row, value, who in rows]


def anonymizer_of(privacy, recoding, **options) -> Anonymizer:
    return Anonymizer(
        {"age": AGE, "sex": SEX},
        sensitive="w",
        privacy=privacy,
        recoding=recoding,
        person="who",
        **options,
    )


def test_seven_visits_of_one_woman_are_no_class_of_five():
    raw = pd.DataFrame(
        {
            "who": ["w"] * 7 + [f"p{n}" for n in range(10)],
            "age": [81] * 7 + [50] * 5 + [60] * 5,
            "w": ["flu"] * 17,
        }
    )
    ages = Hierarchy.from_rows([["81", "*"], ["50", "*"], ["60", "*"]])
    by_records = Anonymizer({"age": ages}, privacy=[KAnonymity(5)]).fit(raw)
    assert by_records.release_.levels == {"age": 0}
    by_persons = Anonymizer({"age": ages}, privacy=[KAnonymity(5)], person="who", sensitive="w")
    with pytest.raises(PolicyUnreachableError, match=r"largest-share: share = 0\.2 is below 0\.41"):
        by_persons.fit(raw)
    by_persons = by_persons.set_params(privacy=[KAnonymity(5), LargestShare(0.5)]).fit(raw)
    assert by_persons.release_.levels == {"age": 1}
    assert [each.worst for each in by_persons.release_.privacy] == [11, 7 / 17]


@pytest.mark.parametrize("per_person", PER_PERSON)
@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_every_class_of_a_release_satisfies_the_policy_of_persons(recoding, per_person):
    rng, released_some = np.random.default_rng(38), 0
    each = per_person == "each"
    for _, (privacy, sensitive) in product(range(at_length(2, 60)), POLICIES[2 * each :]):
        raw = table_of(rng)
        anonymizer = anonymizer_of(privacy, recoding, per_person=per_person)
        try:
            released = anonymizer.fit_transform(raw)
        except (PolicyUnreachableError, PolicyBrokenError):
            continue
        released_some += 1
        records = released_records(raw, released)
        k = privacy[0].k if isinstance(privacy[0], KAnonymity) else privacy[1].k
        share = next((each.share for each in privacy if isinstance(each, LargestShare)), 1 / k)
        expected = {
            "person-k-anonymity": oracle.worst(oracle.persons, records, True),
            "largest-share": oracle.worst(oracle.largest_share, records, False),
        }
        assert expected["person-k-anonymity"] >= k
        assert expected["largest-share"] <= share + 1e-9
        found = {each.model.name: each.worst for each in anonymizer.release_.privacy}
        for name, bound, at_least in sensitive:
            value = oracle.worst(getattr(oracle, name), records, at_least, each)
            assert value >= bound - 1e-9 if at_least else value <= bound + 1e-9
            (model,) = [each for each in privacy if each.sensitive]
            assert found[model.name] == pytest.approx(value, abs=1e-9)
        assert {name: found[name] for name in expected} == pytest.approx(expected)
        assert "who" not in released.columns
    assert released_some


def visits_of_five() -> pd.DataFrame:
    """Five persons of an age with two visits each, one of them for hiv."""
    reasons = ["hiv", "flu", "hiv", "cold", "hiv", "gout", "hiv", "acne", "hiv", "mumps"]
    return pd.DataFrame({"who": [*"aabbccddee"], "age": 50, "w": reasons})


@pytest.mark.parametrize("recoding", ["full-domain", "variable-range", "cut", "boxes"])
def test_a_value_that_everybody_of_a_class_has_is_told_where_each_counts(recoding):
    own, policy = visits_of_five(), [KAnonymity(5), DistinctLDiversity(2)]
    asked = {"sensitive": "w", "privacy": policy, "person": "who", "recoding": recoding}
    plain = Anonymizer({"age": AGE}, **asked).fit(own)
    assert plain.release_.privacy[1].worst == 6  # hiv, and five others
    with pytest.raises(PolicyUnreachableError, match="satisfies all of person-k-anonymity, dist"):
        Anonymizer({"age": AGE}, **asked, per_person="each").fit(own)
    own.loc[0, "w"] = "flu"
    four = Anonymizer({"age": AGE}, **asked, per_person="each").fit(own)
    assert four.release_.privacy[1].worst == 2  # four have hiv; who asks for it sees flu, too


def test_a_share_of_persons_is_compared_with_that_of_all_persons():
    own = pd.concat([visits_of_five(), visits_of_five().assign(age=80)], ignore_index=True)
    own["who"] += own["age"].astype(str)
    own.loc[own["age"] == 80, "w"] = ["flu", *["cold", "gout", "acne"] * 3]
    options = {"sensitive": "w", "person": "who", "recoding": Fixed({"age": 0})}
    policy = [KAnonymity(5), TCloseness(0.6, distance="equal")]
    fitted = Anonymizer({"age": AGE}, privacy=policy, **options, per_person="each").fit(own)
    # All five of 50 years have hiv, half of everybody: .5. Of 10 records of a class 5 are hiv, and
    # of all 20, too: their distance is .3 to who asks of none.
    assert fitted.release_.privacy[1].worst == pytest.approx(0.5)
    share = Anonymizer({"age": AGE}, privacy=policy, **options).fit(own)
    assert share.release_.privacy[1].worst == pytest.approx(0.3)


def test_a_model_of_the_table_counts_all_classes_for_each_value():
    """Five of 50 years with hiv and a cold each, five of 80 with colds: all hiv is of the first."""
    who, age = [*"aabbccddee", *"fghij"], [50] * 10 + [80] * 5
    own = pd.DataFrame({"who": who, "age": age, "w": ["hiv", "cold"] * 5 + ["cold"] * 5})
    options = {"sensitive": "w", "person": "who", "privacy": [MeanInformation(2)]}
    options |= {"recoding": Fixed({"age": 0}), "per_person": "each"}
    fitted = Anonymizer({"age": AGE}, **options).fit(own)
    assert fitted.release_.privacy[0].worst == pytest.approx(1)


def code_of(*arguments: object) -> int:
    """The exit code of the command line."""
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    return int(end.value.code or 0)


def test_what_a_person_counts_is_kept_with_the_release(tmp_path, capsys):
    own = table_of(np.random.default_rng(5)).drop(columns="place")
    own.to_csv(tmp_path / "own.csv", index=False)
    study = tmp_path / "own.toml"
    text = """[data]
path = "own.csv"
person = "who"
per-person = "each"
[quasi-identifiers]
age = {{ widths = [2, 4, 8] }}
sex = "suppress"
[sensitive]
attributes = "w"
[[privacy]]
model = "entropy-l-diversity"
l = {l}
"""
    study.write_text(text.format(l=1.2))
    assert code_of("run", study, "--output", tmp_path / "out") == 0
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert (manifest["person"], manifest["per_person"]) == (["who"], "each")
    original = ["--original", tmp_path / "own.csv"]
    assert code_of("verify", tmp_path / "out", *original, "--study", study) == 0
    plain = study.read_text().replace('per-person = "each"\n', "")
    (tmp_path / "plain.toml").write_text(plain)
    capsys.readouterr()
    named = ["--study", tmp_path / "plain.toml"]
    assert code_of("verify", tmp_path / "out", *original, *named) == 1
    assert "per_person" in capsys.readouterr().out
    manifest.pop("per_person")  # who takes the line out is noticed, with the study
    (tmp_path / "out" / "release.json").write_text(json.dumps(manifest))
    assert code_of("verify", tmp_path / "out", *original, "--study", study) == 1
    # Whoever measures its quality needs the column of the original alone.
    assert measure_file(Study(study), tmp_path / "out", targets=()).records == len(own)
    # `check` counts as the study says.
    found, _ = [], capsys.readouterr()
    for each in (study, tmp_path / "plain.toml"):
        code_of("check", tmp_path / "own.csv", "--study", each, "--json")
        found.append(json.loads(capsys.readouterr().out)["privacy"][0]["worst"])
    assert found[0] <= found[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"per_person": "eech"}, "per-person = 'eech' is none of share, each; did you mean 'each'"),
        ({"per_person": "worst"}, 'finding that choice takes too long; choose "each"'),
        ({"per_person": "each", "person": ()}, 'per-person = "each" is about persons who have sev'),
    ],
)
def test_what_a_person_counts_is_one_of_two(options, message):
    asked = {"sensitive": "w", "privacy": [KAnonymity(2)], "person": "who", **options}
    with pytest.raises(InputError, match=message):
        Anonymizer({"age": AGE}, **asked).fit(visits_of_five())


def levels_of(value: int, sex: str, node: tuple[int, int]) -> tuple[object, object]:
    width = [1, 2, 4, 8, 1000][node[0]]
    return value // width, sex if node[1] == 0 else "*"


@pytest.mark.parametrize("per_person", PER_PERSON)
def test_the_best_levels_are_those_of_enumeration(per_person):
    rng, solved, each = np.random.default_rng(1), 0, per_person == "each"
    for _, (privacy, sensitive) in product(range(at_length(6, 400)), POLICIES[2 * each :]):
        raw = table_of(rng)
        k = privacy[0].k if isinstance(privacy[0], KAnonymity) else privacy[1].k
        share = next((each.share for each in privacy if isinstance(each, LargestShare)), 1 / k)
        best = None
        for node in product(range(5), range(2)):
            rows = zip(raw["age"], raw["sex"], strict=True)
            records = oracle.records_of(
                [levels_of(*row, node) for row in rows], raw["w"].tolist(), raw["who"].tolist()
            )
            holds = oracle.worst(oracle.persons, records, True) >= k
            holds &= oracle.worst(oracle.largest_share, records, False) <= share + 1e-9
            for name, bound, at_least in sensitive:
                value = oracle.worst(getattr(oracle, name), records, at_least, each)
                holds &= value >= bound - 1e-9 if at_least else value <= bound + 1e-9
            squares = sum(len(group) ** 2 for group in oracle.classes_of(records))
            if holds and (best is None or squares < best):
                best = squares
        try:
            options = {"objective": "discernibility", "per_person": per_person}
            found = anonymizer_of(privacy, "full-domain", **options).fit(raw)
        except PolicyUnreachableError:
            assert best is None
            continue
        solved += 1
        assert found.search_.value == best
    assert solved > 5


@pytest.mark.parametrize("recoding", [FullDomain(), FullDomain(suppression=0.2), Boxes()], ids=repr)
def test_a_person_for_each_record_changes_nothing(recoding):
    rng = np.random.default_rng(5)
    for privacy in ([KAnonymity(2)], [KAnonymity(3), TCloseness(0.4, distance="equal")]):
        raw = table_of(rng).drop(columns="who")
        own = raw.assign(who=[f"p{place}" for place in raw["place"]])
        plain = anonymizer_of(privacy, recoding).set_params(person=())
        pd.testing.assert_frame_equal(
            anonymizer_of(privacy, recoding).fit_transform(own), plain.fit_transform(raw)
        )


@pytest.mark.parametrize("missing", ["gap", "category"])
def test_a_person_for_each_record_changes_nothing_where_values_are_missing(missing):
    rng, released = np.random.default_rng(6), 0
    for _ in range(at_length(12, 60)):
        raw = table_of(rng).drop(columns="who")
        raw.loc[rng.random(len(raw)) < 0.5, "w"] = None
        own = raw.assign(who=[f"p{place}" for place in raw["place"]])
        persons = anonymizer_of(
            [KAnonymity(2), TCloseness(0.4, distance="equal")], FullDomain(), missing=missing
        )
        plain = deepcopy(persons).set_params(person=())
        try:
            expected = plain.fit_transform(raw)
        except PolicyUnreachableError:
            with pytest.raises(PolicyUnreachableError):
                persons.fit(own)
            continue
        released += 1
        pd.testing.assert_frame_equal(persons.fit_transform(own), expected)
        assert persons.search_.value == plain.search_.value
        assert [each.worst for each in persons.release_.privacy][1] == pytest.approx(
            plain.release_.privacy[1].worst
        )
    assert released > 3


def test_an_attacker_who_knows_one_record_finds_nobody():
    """Who knows the released labels of one record of somebody names its class, and picks one."""
    rng, attacked = np.random.default_rng(7), 0
    for _ in range(at_length(40, 1000)):
        raw = table_of(rng)
        try:
            released = anonymizer_of([KAnonymity(3)], "full-domain").fit_transform(raw)
        except PolicyUnreachableError:
            continue
        attacked += 1
        for group in oracle.classes_of(released_records(raw, released)):
            whose = [record.person for record in group]
            assert len({*whose}) >= 3
            assert max(whose.count(who) / len(whose) for who in whose) <= 1 / 3 + 1e-9
    assert attacked > 10


@pytest.mark.parametrize("kind", EACH)
def test_tables_of_every_kind_are_released_alike(kind):
    raw = table_of(np.random.default_rng(11))
    anonymizer = anonymizer_of([KAnonymity(2), EntropyLDiversity(1.2)], "full-domain")
    expected = anonymizer.fit_transform(raw)
    privacy = anonymizer.release_.privacy
    found = anonymizer.fit_transform(KINDS[kind](pa.Table.from_pandas(raw)))
    assert records_of(found) == records_of(expected)
    assert anonymizer.release_.privacy == privacy


def test_several_columns_tell_persons_apart():
    raw = table_of(np.random.default_rng(3))
    parts = raw.assign(clinic=raw["who"].str[0] + "x", number=raw["who"].str[1:].astype(int))
    anonymizer = anonymizer_of([KAnonymity(2)], "full-domain")
    released = anonymizer.fit_transform(raw)
    several = anonymizer_of([KAnonymity(2)], "full-domain").set_params(person=["clinic", "number"])
    pd.testing.assert_frame_equal(several.fit_transform(parts.drop(columns="who")), released)


REFUSED = [
    ({"recoding": Pram(1.0)}, "recoding 'pram' draws the values of each record by itself"),
    ({"privacy": [AlphaKAnonymity(0.5, 5)]}, "k = 5 counts records, of which persons have several"),
    (
        {"privacy": [AverageReidentificationRisk(0.1)]},
        "average-reidentification-risk counts records, and what it means of persons",
    ),
    (
        {"privacy": [EntropyLDiversity(2, estimator="grassberger")]},
        "estimator = 'grassberger' corrects for numbers of records",
    ),
    ({"person": "sex"}, "column 'sex' has more than one role"),
    ({"person": "whom"}, "the table has no column 'whom'"),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED)
def test_what_is_not_defined_of_persons_is_refused(changed, message):
    anonymizer = anonymizer_of([KAnonymity(2)], "full-domain").set_params(**changed)
    with pytest.raises(InputError, match=message):
        anonymizer.fit(table_of(np.random.default_rng(0)))


@pytest.mark.parametrize("missing", ["error", "gap", "category"])
def test_a_record_of_nobody_is_refused(missing):
    raw = table_of(np.random.default_rng(0))
    raw.loc[[1, 4], "who"] = [None, " "]
    anonymizer = anonymizer_of([KAnonymity(2)], "full-domain", missing=missing)
    with pytest.raises(InputError, match="'who', which tells persons apart, misses the value of 2"):
        anonymizer.fit(raw)
    raw.loc[4, "who"] = None
    anonymizer.set_params(missing="drop").fit(raw)
    assert anonymizer.release_.dropped == 2


def test_the_highest_risk_of_persons_is_that_of_k_of_them():
    anonymizer = anonymizer_of([HighestReidentificationRisk(0.4)], "full-domain")
    assert anonymizer.models == (PersonKAnonymity(3), LargestShare(1 / 3))


def test_manifests_tell_no_figure_of_persons():
    raw = table_of(np.random.default_rng(2))
    release = (
        anonymizer_of([KAnonymity(2), EntropyLDiversity(1.1)], "full-domain").fit(raw).release_
    )
    assert [each.worst for each in release.manifest.privacy] == [None, None, None]
    assert all(each.worst for each in release.steward_manifest.privacy)
    assert release.manifest.person == ["who"]


STUDY = """\
[data]
path = "raw.csv"
person = "who"
[quasi-identifiers]
age = { widths = [2, 4, 8] }
sex = "suppress"
[sensitive]
attributes = ["w"]
[identifiers]
attributes = ["who", "place"]
[[privacy]]
model = "k-anonymity"
k = 3
[[privacy]]
model = "t-closeness"
distance = "equal"
t = 0.6
"""


@pytest.fixture
def published(tmp_path):
    """A release in a directory, and the table that it was made of."""
    raw = table_of(np.random.default_rng(15))
    raw.to_csv(tmp_path / "raw.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    publish(Study(tmp_path / "study.toml"), tmp_path / "release")
    return tmp_path / "release", tmp_path / "raw.csv"


def test_a_released_file_has_nobody_and_its_policy_is_examined_with_the_original(published):
    release, raw = published
    assert [*pd.read_csv(release / "released.csv").columns] == ["age", "sex", "w"]
    alone = verify_release(release)
    assert not alone.satisfied
    assert not alone.differences
    names = ["person-k-anonymity", "t-closeness", "largest-share"]
    assert [each.name for each in alone.unexamined] == names
    for study in (None, raw.with_name("study.toml")):
        for steward in (True, False):
            found = verify_release(release, study, original=raw, steward=steward)
            assert found.satisfied, [*map(str, found.differences)]
            assert [each.model.name for each in found.verdicts] == names


def test_a_table_without_a_manifest_does_not_show_that_its_policy_of_persons_holds(published):
    release, raw = published
    alone = raw.with_name("alone.csv")
    alone.write_bytes((release / "released.csv").read_bytes())
    found = verify_release(alone, raw.with_name("study.toml"))
    assert not found.satisfied
    assert not found.verdicts
    names = ["person-k-anonymity", "t-closeness", "largest-share"]
    assert [each.name for each in found.unexamined] == names


def test_a_table_whose_records_break_its_policy_breaks_it_of_persons(published):
    """Nobody sees whose its records are, and that a class of one value says it of all of them."""
    release, raw = published
    alone = raw.with_name("alone.csv")
    table = pd.read_csv(release / "released.csv", dtype=str)
    labels = table["age"] + table["sex"]
    table["w"] = np.where(labels == labels.value_counts().index[-1], "a", "b")
    table.to_csv(alone, index=False)
    found = verify_release(alone, raw.with_name("study.toml"))
    assert [(each.model.name, each.satisfied) for each in found.verdicts] == [
        ("t-closeness", False)
    ]
    assert [each.name for each in found.unexamined] == ["person-k-anonymity", "largest-share"]
    table.to_csv(release / "released.csv", index=False)
    found = verify_release(release)
    assert not found.satisfied
    assert "privacy.1.satisfied" in [each.field for each in found.differences]


def test_another_original_does_not_prove_a_release(published):
    release, raw = published
    other = raw.with_name("other.csv")
    pd.read_csv(raw).iloc[1:].to_csv(other, index=False)
    found = verify_release(release, original=other)
    assert [each.field for each in found.differences] == ["privacy of persons"]
    assert not found.satisfied
    one = pd.read_csv(raw).assign(who="one")  # whose every record is one person's
    one.to_csv(other, index=False)
    found = verify_release(release, original=other, steward=False)
    assert not found.satisfied
    assert [each.satisfied for each in found.verdicts] == [False, True, False]


def test_an_original_alone_shows_nothing_of_a_release_without_persons(tmp_path, published):
    _, raw = published
    plain = STUDY.replace('person = "who"\n', "")
    (tmp_path / "study.toml").write_text(plain)
    publish(Study(tmp_path / "study.toml"), tmp_path / "plain")
    with pytest.raises(InputError, match="--original needs the private key"):
        verify_release(tmp_path / "plain", original=raw)


def test_a_release_is_followed_by_a_table_that_says_whose_its_records_are(tmp_path, published):
    release, raw = published
    publish_applied(release, raw, tmp_path / "next")
    assert verify_release(tmp_path / "next", original=raw).satisfied
    pd.read_csv(raw).drop(columns="who").to_csv(tmp_path / "nobody.csv", index=False)
    with pytest.raises(InputError, match="has no column 'who'"):
        publish_applied(release, tmp_path / "nobody.csv", tmp_path / "third")
    pd.read_csv(raw).assign(who="one").to_csv(tmp_path / "one.csv", index=False)
    with pytest.raises(PolicyBrokenError, match="person-k-anonymity fails in"):
        publish_applied(release, tmp_path / "one.csv", tmp_path / "third")


def test_classes_that_overlap_are_not_examined_with_the_original(tmp_path):
    rows = {
        "who": [f"p{n}" for n in range(12)],
        "age": [n % 6 for n in range(12)],
        "sex": ["f", "m"] * 6,
    }
    pd.DataFrame({**rows, "w": ["a", "b", "c"] * 4, "place": range(12)}).to_csv(
        tmp_path / "raw.csv", index=False
    )
    (tmp_path / "study.toml").write_text(f'{STUDY}[recoding]\nmethod = "merged-cells"\n')
    publish(Study(tmp_path / "study.toml"), tmp_path / "release")
    found = verify_release(tmp_path / "release", original=tmp_path / "raw.csv")
    assert not found.differences
    assert not found.satisfied
    (check,) = [each for each in found.unchecked if each.field == "privacy of persons"]
    assert check.reason.startswith("its classes overlap")


def test_halves_of_a_table_keep_whose_their_records_are():
    alike = {"age": 1, "sex": "f", "w": ["a"] * 20, "who": [f"p{n}" for n in range(20)]}
    counted = anonymizer_of([KAnonymity(2)], "full-domain").task(pd.DataFrame(alike)).counted
    assert [half.joint[PERSON].tolist() for half in counted.halves(seed=1)] == [[[1] * 10]] * 2


def test_a_model_of_persons_is_refused_before_anything_is_counted(tmp_path, capsys, monkeypatch):
    """By its name, and with what mends it."""
    message = "counts persons, and no column tells whose each record is; name that column as person"
    raw = table_of(np.random.default_rng(0))
    for model in (PersonKAnonymity(2), LargestShare(0.5)):
        anonymizer = anonymizer_of([KAnonymity(2), model], "full-domain").set_params(person=())
        with pytest.raises(InputError, match=f"^{model.name} {message}"):
            anonymizer.fit(raw)
    raw.to_csv(tmp_path / "raw.csv", index=False)
    monkeypatch.setattr(CountedTable, "of", None)
    study = STUDY.replace('person = "who"\n', "").replace("k-anonymity", "person-k-anonymity")
    (tmp_path / "study.toml").write_text(study)
    for command in (["run", "--output", "out"], ["advise"], ["compare"], ["figures"]):
        with pytest.raises(SystemExit) as stop:
            main([*command, str(tmp_path / "study.toml")])
        said = capsys.readouterr().err
        assert stop.value.code == 2
        assert f"[[privacy]] person-k-anonymity {message}" in said, command


@pytest.mark.parametrize("keys", [[1, "1"], ["7", " 7 "], ["2", "2.0"], [0.0, -0.0], [3, 3.0]])
def test_a_key_that_is_written_in_two_ways_is_one_person(keys):
    raw = pd.DataFrame({"who": pd.Series(keys * 4, dtype=object), "age": 1, "sex": "f", "w": "a"})
    with pytest.raises(PolicyUnreachableError, match="k = 2 exceeds the 1 persons of the table"):
        anonymizer_of([KAnonymity(2)], "full-domain").fit(raw)


def test_a_manifest_of_other_persons_is_noticed(published):
    release, raw = published
    study = raw.with_name("study.toml")
    manifest = json.loads((release / "release.json").read_text())
    manifest["person"] = ["place"]
    (release / "release.json").write_text(json.dumps(manifest))
    found = verify_release(release, study, steward=False)
    assert "person" in [each.field for each in found.differences]
    del manifest["person"]
    (release / "release.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="person-k-anonymity"):
        verify_release(release, steward=False)


def test_no_class_is_released_of_which_most_persons_share_a_value():
    """Four of seven persons say hiv here, and are elsewhere 99 times; three have ten records here.

    Of 34 records 4 are hiv, and .04 of 3.04 persons, each record of n counting 1 / n.
    """
    rows = [(f"h{n}", 1, "hiv") for n in range(4)]
    rows += [(f"l{n}", 1, ["flu", "cold"][m % 2]) for n in range(3) for m in range(10)]
    rows += [(f"h{n}", 9, ["flu", "cold"][m % 2]) for n in range(4) for m in range(99)]
    rows += [(f"z{n}", 9, ["flu", "cold"][m]) for n in range(6) for m in range(2)]
    raw = pd.DataFrame(rows, columns=["who", "age", "w"]).assign(sex="f")
    policy = [KAnonymity(5), LargestShare(0.3), AlphaKAnonymity(0.52, 1)]
    levels = Fixed({"age": 0, "sex": 0})
    with pytest.raises(PolicyUnreachableError, match="the levels given do not satisfy all of"):
        anonymizer_of(policy, levels).fit(raw)
    (*_, likeliest) = (
        anonymizer_of([*policy[:2], AlphaKAnonymity(0.58, 1)], levels).fit(raw).release_.privacy
    )
    assert likeliest.worst == pytest.approx(4 / 7)
    for recoding, caution in (("full-domain", ""), ("boxes", "for who takes the persons")):
        found = anonymizer_of(policy, recoding, objective="discernibility").fit(raw)
        assert found.release_.classes == 1
        assert caution in found.search_.caution
        assert found.search_.proven == (not caution)


def test_a_class_of_rows_of_one_value_is_no_class_of_many():
    """Two of five persons have seven records each, all hiv: of 17 rows 14 say so."""
    rows = [(f"h{n}", 1, "hiv") for n in range(2) for _ in range(7)]
    rows += [(f"l{n}", 1, value) for n, value in enumerate(["flu", "cold", "cold"])]
    raw = pd.DataFrame(rows, columns=["who", "age", "w"]).assign(sex="f")
    policy = [KAnonymity(5), LargestShare(0.5), AlphaKAnonymity(0.6, 1)]
    levels = Fixed({"age": 0, "sex": 0})
    with pytest.raises(PolicyUnreachableError, match="alpha-k-anonymity"):
        anonymizer_of(policy, levels).fit(raw)
    likely = [*policy[:2], AlphaKAnonymity(0.83, 1)]
    (*_, share) = anonymizer_of(likely, levels).fit(raw).release_.privacy
    assert share.worst == pytest.approx(14 / 17)
