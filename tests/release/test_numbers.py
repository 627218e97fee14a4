"""Releases that number persons: the policy is true of all records of a person together."""

import hashlib
import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import persons as oracle
import pyarrow as pa
import pytest
from engines import EACH, KINDS
from lengths import at_length

from anonymizer import (
    AlphaKAnonymity,
    Anonymizer,
    BasicBetaLikeness,
    Boxes,
    CompositionKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    KMap,
    PolicyBrokenError,
    PolicyUnreachableError,
    TCloseness,
)
from anonymizer.cli import main
from anonymizer.counts.persons import PER_PERSON
from anonymizer.counts.schema import Schema
from anonymizer.privacy import LargestShare, PersonKAnonymity
from anonymizer.recoding.full_domain.solve import STRATEGIES
from anonymizer.release.proof import same_persons
from anonymizer.release.verification.verification import verify_release
from anonymizer.tables import engine
from anonymizer.tables.relations.frames import relation_of

AGE = Hierarchy.ranges(widths=[2, 4, 8])
POLICIES = [
    ([KAnonymity(2)], []),
    ([KAnonymity(2), LargestShare(0.25)], []),
    ([EntropyLDiversity(1.5)], [("effective", 1.5, True)]),
    ([KAnonymity(2), TCloseness(0.5, distance="equal")], [("distance", 0.5, False)]),
    ([KAnonymity(2), DistinctLDiversity(2)], [("distinct", 2, True)]),
    ([AlphaKAnonymity(0.7, 1), KAnonymity(2)], [("likeliest", 0.7, False)]),
    ([KAnonymity(2), BasicBetaLikeness(1.5)], [("gain", 1.5, False)]),
]
AGES = {"age": Hierarchy.ranges(widths=[20, 100])}


def ring() -> pd.DataFrame:
    """Four persons of two ages each, no two of the same ones."""
    return pd.DataFrame({"who": [*"aabbccdd"], "age": [20, 30, 20, 40, 30, 50, 40, 50]})


def numbered_in(table: pd.DataFrame, **options: object) -> pd.DataFrame:
    return Anonymizer(AGES, person="who", person_numbers=True, **options).fit_transform(table)


def test_persons_who_are_alone_with_their_ages_are_hidden_by_coarser_ones():
    plain = Anonymizer(AGES, privacy=[KAnonymity(2)], person="who").fit(ring())
    assert plain.release_.levels == {"age": 0}  # each age is of two persons
    found = Anonymizer(AGES, privacy=[KAnonymity(2)], person="who", person_numbers=True)
    released = found.fit_transform(ring())
    # a has two ages below 40, and d none: nobody else has.
    assert found.release_.levels == {"age": 2}
    assert [each.model for each in found.release_.privacy] == [
        PersonKAnonymity(2),
        LargestShare(0.5),
        CompositionKAnonymity(2),
    ]
    assert [*released.columns] == ["age", "who"]
    assert sorted(released["who"]) == [1, 1, 2, 2, 3, 3, 4, 4]
    assert ring()["who"].groupby(released["who"]).nunique().eq(1).all()


def test_what_the_persons_of_a_composition_have_in_common_breaks_diversity():
    """a and b were seen at 20 and at 60, both times for hiv when they were 60."""
    visits = pd.DataFrame(
        {
            "who": [*"aabbcdef"],
            "age": [20, 60, 20, 60, 20, 20, 60, 60],
            "w": ["flu", "hiv", "cold", "hiv", "flu", "cold", "flu", "cold"],
        }
    )
    asked = {"sensitive": "w", "privacy": [DistinctLDiversity(2)], "person": "who"}
    plain = Anonymizer(AGES, **asked).fit(visits)
    assert plain.release_.levels == {"age": 0}  # at 60 two of four have hiv
    found = Anonymizer(AGES, **asked, person_numbers=True).fit(visits)
    assert found.release_.levels == {"age": 2}
    fixed = Anonymizer(AGES, **asked, person_numbers=True, recoding=Fixed({"age": 0}))
    with pytest.raises(PolicyUnreachableError, match="the levels given do not satisfy"):
        fixed.fit(visits)


def test_whether_persons_of_a_composition_have_a_value_in_any_row_is_asked_of_all_rows():
    """a, b have hiv at 20, and c, d at 60: half of each cell, and everybody in some row."""
    visits = pd.DataFrame(
        {
            "who": [*"aabbccdd"],
            "age": [20, 60] * 4,
            "w": ["hiv", "flu", "hiv", "cold", "flu", "hiv", "cold", "hiv"],
        }
    )
    asked = {"sensitive": "w", "privacy": [DistinctLDiversity(2)], "person": "who"}
    asked |= {"recoding": Fixed({"age": 0}), "person_numbers": True}
    assert Anonymizer(AGES, **asked).fit(visits).release_.privacy[0].worst == 3
    with pytest.raises(PolicyUnreachableError, match="the levels given do not satisfy"):
        Anonymizer(AGES, **asked, per_person="each").fit(visits)
    asked["person_numbers"] = False
    assert Anonymizer(AGES, **asked, per_person="each").fit(visits).release_.levels == {"age": 0}


def anonymizer_of(privacy, recoding, **options) -> Anonymizer:
    known = {"age": AGE, "sex": Hierarchy.suppression()}
    asked = {"sensitive": "w", "privacy": privacy, "recoding": recoding, "person": "who"}
    return Anonymizer(known, **asked, **options)


def levels_of(value: int, sex: str, node: tuple[int, int]) -> tuple[object, object]:
    return value // [1, 2, 4, 8, 1000][node[0]], sex if node[1] == 0 else "*"


def holds(records: list[oracle.Record], k: int, share: float, sensitive, each: bool) -> bool:
    """Whether a numbered table satisfies a policy, by the definitions alone."""
    found = oracle.worst(oracle.persons, records, True, numbers=True) >= k
    found &= oracle.worst(oracle.largest_share, records, False, numbers=True) <= share + 1e-9
    found &= oracle.fewest_alike(records) >= k
    for name, bound, at_least in sensitive:
        value = oracle.worst(getattr(oracle, name), records, at_least, each, numbers=True)
        found &= value >= bound - 1e-9 if at_least else value <= bound + 1e-9
    return found


def table_of_few(rng: np.random.Generator) -> pd.DataFrame:
    """Persons of one to three records each, of few ages: many have the same ones."""
    records = rng.integers(1, 4, int(rng.integers(6, 24)))
    person = np.repeat(np.arange(len(records)), records)
    kinds = rng.integers(0, 5, (int(rng.integers(1, 4)), 3))
    kind = rng.integers(0, len(kinds), len(records))
    place = np.arange(len(person)) - np.repeat(np.cumsum(records) - records, records)
    return pd.DataFrame(
        {
            "who": [f"p{each}" for each in person],
            "age": kinds[kind[person], place],
            "sex": np.where(kind[person] % 2, "f", "m"),
            "w": rng.choice(["a", "b", "c"], len(person), p=[0.5, 0.3, 0.2]),
        }
    )


@pytest.mark.parametrize("per_person", PER_PERSON)
def test_the_best_levels_are_those_of_enumeration(per_person):
    rng, each, solved, finer = np.random.default_rng(7), per_person == "each", 0, 0
    for _, (privacy, sensitive) in product(range(at_length(2, 600)), POLICIES):
        raw = table_of_few(rng)
        k = next((each.k for each in privacy if isinstance(each, KAnonymity)), 1)
        share = next((each.share for each in privacy if isinstance(each, LargestShare)), 1 / k)
        scores = {}
        for node in product(range(5), range(2)):
            rows = zip(raw["age"], raw["sex"], strict=True)
            records = oracle.records_of(
                [levels_of(*row, node) for row in rows], raw["w"].tolist(), raw["who"].tolist()
            )
            if holds(records, k, share, sensitive, each):
                scores[node] = sum(len(group) ** 2 for group in oracle.classes_of(records))
        options = {"objective": "discernibility", "per_person": per_person, "person_numbers": True}
        try:
            found = anonymizer_of(privacy, "full-domain", **options).fit(raw)
        except PolicyUnreachableError:
            assert not scores
            continue
        solved += 1
        finer += len({*scores.values()}) > 1
        assert found.search_.value == min(scores.values())
        nodes = [*product(range(5), range(2))]
        for node in nodes[solved % 3 :: at_length(3, 1)]:
            levels = Fixed(dict(zip(("age", "sex"), node, strict=True)))
            fixed = anonymizer_of(privacy, levels, **options)
            if node in scores:
                assert fixed.fit(raw).search_.value == scores[node]
            else:
                with pytest.raises((PolicyUnreachableError, PolicyBrokenError)):
                    fixed.fit(raw)
    assert solved > 5
    assert finer > 1


@pytest.mark.parametrize("search", [each for each in STRATEGIES if each != "automatic"])
def test_every_strategy_finds_the_same(search):
    rng, solved = np.random.default_rng(10), 0
    for _, (privacy, _) in product(range(at_length(1, 100)), POLICIES):
        raw, values = table_of_few(rng), []
        for strategy in ("automatic", search):
            recoding = FullDomain(search=strategy)
            options = {"objective": "discernibility", "per_person": "each", "person_numbers": True}
            try:
                found = anonymizer_of(privacy, recoding, **options).fit(raw).search_
            except PolicyUnreachableError:
                values.append(None)
                continue
            values.append(found.value)
            assert found.proven
        assert values[0] == values[1]
        solved += values[0] is not None
    assert solved > 1


def test_whole_persons_of_rare_compositions_are_suppressed():
    """Of up to eight persons every set is tried."""
    rng, some = np.random.default_rng(9), 0
    for _ in range(at_length(6, 300)):
        raw = table_of_few(rng)
        raw = raw[raw["who"].isin([f"p{n}" for n in range(8)])].reset_index(drop=True)
        for node in product(range(5), range(2)):
            labels = [levels_of(*row, node) for row in zip(raw["age"], raw["sex"], strict=True)]
            records = oracle.records_of(labels, raw["w"].tolist(), raw["who"].tolist())
            left = oracle.stay(records, 2, 0.5, numbers=True)
            levels = dict(zip(("age", "sex"), node, strict=True))
            fixed = Fixed(levels, suppression=0.99, suppress_persons=True)
            anonymizer = anonymizer_of([KAnonymity(2)], fixed, person_numbers=True)
            if not left:
                with pytest.raises(PolicyUnreachableError):
                    anonymizer.fit(raw)
                continue
            found = anonymizer.fit_transform(raw)
            assert len(found) == sum(record.person in left for record in records)
            assert found["who"].nunique() == len(left)
            some += len(left) < raw["who"].nunique()
    assert some > 5


def test_a_person_for_each_record_changes_nothing():
    rng = np.random.default_rng(5)
    for privacy in ([KAnonymity(2)], [KAnonymity(2), DistinctLDiversity(2)]):
        raw = table_of_few(rng)
        raw["who"] = [f"p{place}" for place in range(len(raw))]
        plain = anonymizer_of(privacy, "full-domain").fit_transform(raw)
        found = anonymizer_of(privacy, "full-domain", person_numbers=True).fit_transform(raw)
        assert sorted(found.pop("who")) == [*range(1, len(raw) + 1)]
        pd.testing.assert_frame_equal(found, plain)


@pytest.mark.parametrize("kind", EACH)
def test_every_engine_numbers_persons(kind):
    options = {"privacy": [KAnonymity(2)], "person": "who", "person_numbers": True}
    raw = ring().assign(place=range(8))
    released = Anonymizer(AGES, **options).fit_transform(KINDS[kind](pa.Table.from_pandas(raw)))
    found = relation_of(released).frame(["age", "place", "who"])
    assert sorted(found["who"].astype(int)) == [1, 1, 2, 2, 3, 3, 4, 4]
    own = raw["who"].iloc[found["place"].astype(int)].tolist()
    assert len({*zip(own, found["who"], strict=True)}) == 4


def test_numbers_are_new_in_each_release_and_tell_no_order():
    many = pd.DataFrame({"who": np.arange(200), "age": 20})
    first, second = (numbered_in(many, privacy=[KAnonymity(2)])["who"] for _ in range(2))
    for one in (first, second):
        assert sorted(one) == [*range(1, 201)]
        assert [*one] != sorted(one)
    assert [*first] != [*second]


def test_several_columns_of_persons_have_one_of_numbers():
    table = ring().assign(site=1)
    options = {"privacy": [KAnonymity(2)], "person": ["site", "who"], "person_numbers": True}
    found = Anonymizer(AGES, **options).fit_transform(table)
    assert [*found.columns] == ["age", "person"]
    with pytest.raises(InputError, match="a column 'person', which is the name of the column of"):
        Anonymizer(AGES, **options).fit(table.assign(person=1))


def test_the_fitted_recoding_numbers_the_persons_of_the_next_table():
    found = Anonymizer(AGES, privacy=[KAnonymity(2)], person="who", person_numbers=True)
    found.fit(ring())
    released = found.transform(pd.concat([ring(), ring().assign(who=[*"eeffgghh"])]))
    assert sorted({*released["who"]}) == [*range(1, 9)]
    with pytest.raises(PolicyBrokenError, match="composition-k-anonymity fails"):
        found.transform(pd.concat([ring(), ring().iloc[:1]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"person": ()}, "numbers of persons where a column tells whose each record is; name"),
        ({"person_numbers": "yes"}, "person_numbers = 'yes' must be True, False or a PseudonymKey"),
        ({"recoding": Boxes()}, "numbers of persons are for full-domain and fixed, not for boxes"),
        ({"recoding": FullDomain(suppression=0.1)}, "suppress whole persons, by suppress-persons"),
        ({"verify": False}, "verify = False gives rows for a model, and no number of a person"),
        (
            {"privacy": [KMap(2, population=pd.DataFrame({"age": [20, 30, 40, 50] * 3}))]},
            "k-map is about a population, of whom nobody knows in which classes each would have",
        ),
    ],
)
def test_what_numbers_do_not_go_with_is_refused(options, message):
    asked = {"privacy": [KAnonymity(2)], "person": "who", "person_numbers": True, **options}
    with pytest.raises(InputError, match=message):
        Anonymizer(AGES, **asked).fit(ring())


STUDY = """[data]
path = "visits.csv"
person = "who"
[quasi-identifiers]
age = { widths = [2, 4, 8] }
sex = "suppress"
[sensitive]
attributes = "w"
[[privacy]]
model = "k-anonymity"
k = 3
[[privacy]]
model = "distinct-l-diversity"
l = 2
[output]
person = "number"
"""


def code_of(*arguments: object) -> int:
    """The exit code of the command line."""
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    return int(end.value.code or 0)


def laid(directory: Path, text: str = STUDY) -> Path:
    """A study of 120 persons, of whom some were seen twice, at the same age."""
    rng = np.random.default_rng(8)
    person = np.repeat(np.arange(120), rng.integers(1, 3, 120))
    age, sex = 40 + person % 3, np.where(person % 2, "f", "m")
    w = rng.choice(["flu", "cold", "gout"], len(person))
    visits = pd.DataFrame({"who": [f"p{n}" for n in person], "age": age, "sex": sex, "w": w})
    visits.to_csv(directory / "visits.csv", index=False)
    (directory / "visits.toml").write_text(text)
    return directory / "visits.toml"


@pytest.mark.parametrize("file", ["released.csv", "released.parquet"])
def test_a_numbered_release_is_verified_by_the_folder_alone(tmp_path, file):
    study, out = laid(tmp_path, STUDY + f'file = "{file}"\n'), tmp_path / "out"
    assert code_of("run", study, "--output", out) == 0
    manifest = json.loads((out / "release.json").read_text())
    assert (manifest["person"], manifest["person_numbers"]) == (["who"], "who")
    assert manifest["levels"] == {"age": 0, "sex": 0}
    worst = {each["model"]: each["worst"] for each in manifest["privacy"]}
    raw = pd.read_csv(tmp_path / "visits.csv")
    records = oracle.records_of(raw[["age", "sex"]].to_numpy().tolist(), raw["w"], raw["who"])
    assert worst["composition-k-anonymity"] == oracle.fewest_alike(records)
    assert worst["distinct-l-diversity"] == oracle.worst(
        oracle.distinct, records, True, numbers=True
    )
    original = ["--original", tmp_path / "visits.csv"]
    for evidence in ([], ["--study", study], original, [*original, "--study", study]):
        assert code_of("verify", out, *evidence) == 0
    assert verify_release(out).unexamined == ()
    for command in (["check", out], ["report", out, "--output", tmp_path / "page.html"]):
        assert code_of(*command) == 0
    page = (tmp_path / "page.html").read_text()
    assert "Each person has a number in the released table, which joins their rows." in page
    assert "does not show whose" not in page


@pytest.mark.parametrize("sensitive", ['[sensitive]\nattributes = "w"\n', ""])
def test_numbers_that_are_nearly_unique_are_no_warning_to_who_verifies(tmp_path, sensitive):
    """Of persons with a record each; without a sensitive attribute other columns are counted."""
    text = STUDY.replace('[sensitive]\nattributes = "w"\n', sensitive)
    if not sensitive:
        text = text.replace('[[privacy]]\nmodel = "distinct-l-diversity"\nl = 2\n', "")
    study, out = laid(tmp_path, text), tmp_path / "out"
    pd.read_csv(tmp_path / "visits.csv").drop_duplicates("who").to_csv(
        tmp_path / "visits.csv", index=False
    )
    assert code_of("run", study, "--output", out) == 0
    assert verify_release(out, study).differences == ()


@pytest.fixture
def numbered_release(tmp_path) -> tuple[Path, pd.DataFrame]:
    out = tmp_path / "out"
    assert code_of("run", laid(tmp_path), "--output", out) == 0
    return out, pd.read_csv(out / "released.csv")


def differing(out: Path, table: pd.DataFrame, **options: object) -> set[str]:
    """What verification finds of another table, whose checksum somebody wrote into the manifest."""
    table.to_csv(out / "released.csv", index=False)
    manifest = json.loads((out / "release.json").read_text())
    content = (out / "released.csv").read_bytes()
    manifest["table"]["sha256"] = hashlib.sha256(content).hexdigest()
    (out / "release.json").write_text(json.dumps(manifest))
    steward = out.with_name("out.steward.json")
    steward.unlink(missing_ok=True)
    found = verify_release(out, **options)
    broken = {each.model.name for each in found.verdicts if not each.satisfied}
    return {each.field for each in found.differences} | broken


def test_rows_that_are_taken_from_a_person_are_noticed_by_the_original(numbered_release):
    out, table = numbered_release
    table.loc[table["who"].duplicated(keep=False).idxmax(), "who"] = 1000
    assert "privacy of persons" in differing(out, table, original=out.parent / "visits.csv")


def test_a_person_of_a_composition_of_its_own_is_noticed(numbered_release):
    out, table = numbered_release
    table.loc[table["who"].isin(table["who"].unique()[:3]), "who"] = 1000
    assert "composition-k-anonymity" in differing(out, table)


def test_numbers_that_are_swapped_are_noticed_by_the_original(numbered_release):
    """A person of the flu twice changes a row with one of a cold twice: the cells stay."""
    out, table = numbered_release
    twice = table.groupby(["age", "sex", "w", "who"]).size().loc[lambda rows: rows == 2]
    first, other = twice.groupby(["age", "sex"]).filter(lambda group: len(group) > 1).index[:2]
    assert first[:2] == other[:2]
    assert first[2] != other[2]
    rows = [table.index[table["who"] == each[3]][0] for each in (first, other)]
    table.loc[rows, "who"] = [other[3], first[3]]
    assert "privacy of persons" in differing(out, table, original=out.parent / "visits.csv")


def test_other_numbers_of_the_same_persons_are_as_good(numbered_release):
    out, table = numbered_release
    table["who"] = table["who"].max() + 1 - table["who"]
    assert differing(out, table, original=out.parent / "visits.csv") == set()


def test_a_manifest_that_does_not_name_the_numbers_is_noticed(numbered_release):
    out, _ = numbered_release
    manifest = json.loads((out / "release.json").read_text())
    del manifest["person_numbers"]
    (out / "release.json").write_text(json.dumps(manifest))
    out.with_name("out.steward.json").unlink()
    found = verify_release(out, out.parent / "visits.toml")
    assert {"other_columns", "person_numbers"} <= {each.field for each in found.differences}


def test_the_next_table_is_numbered_anew(numbered_release):
    out, table = numbered_release
    following = out.parent / "next"
    assert code_of("apply", out, out.parent / "visits.csv", "--output", following) == 0
    assert code_of("verify", following) == 0
    found = pd.read_csv(following / "released.csv")
    assert sorted(found["who"].unique()) == sorted(table["who"].unique())


@pytest.mark.parametrize(
    "command",
    [
        ["audit", "--against", "visits.csv"],
        ["quality", "--study", "visits.toml"],
        ["export", "--sql"],
    ],
)
def test_who_looks_at_rows_by_themselves_refuses(numbered_release, command, capsys, monkeypatch):
    out, _ = numbered_release
    monkeypatch.chdir(out.parent)
    assert code_of(command[0], out, *command[1:]) == 2
    assert "looks at each row by itself, and column 'who'" in capsys.readouterr().err


def test_numbers_without_persons_are_refused_by_their_keys(tmp_path, capsys):
    study = laid(tmp_path, STUDY.replace('person = "who"\n', "", 1))
    assert code_of("run", study, "--output", tmp_path / "out") == 2
    assert "or leave the numbers out (person below [output])" in capsys.readouterr().err
    study = laid(tmp_path, STUDY.replace('"number"', '"numbers"'))
    assert code_of("run", study, "--output", tmp_path / "out") == 2
    assert '[output] person must be "number", or { pseudonym =' in capsys.readouterr().err


def test_persons_are_the_same_however_their_records_are_counted():
    """Somebody has x twice and y once: two rows of a tally, and three of a table."""
    one = pd.DataFrame({"who": [1, 1, 1], "a": ["x", "x", "y"]})
    schema = Schema(("a",), (), person=("who",))
    tally = engine.tally(one.assign(who=2), ["who", "a"])
    assert (len(tally.index), len(one)) == (2, 3)
    assert same_persons(tally, one, schema)
    assert same_persons(one, tally, schema)
    assert not same_persons(tally, one[1:], schema)
