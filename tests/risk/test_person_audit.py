"""Audits of releases whose records are of persons who have several: through files."""

import json
from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest
from lengths import at_length

from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.release.manifest import Manifest
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.risk.audit import audit_files

SECRETS = ("Nemo",)
TABLE = pd.DataFrame(
    {
        "who": [f"Nemo{name}" for name in "aabbcddd"],
        "age": [20, 20, 20, 30, 30, 40, 40, 40],
        "w": ["flu", "flu", "cold", "flu", "flu", "flu", "cold", "cold"],
    }
)
"""Class 20 has two records of a and one of b, 30 one of b and one of c, 40 three of d."""
STUDY = """\
[data]
path = "{path}"
{data}
[quasi-identifiers]
age = {{ widths = [20] }}
{more}
[sensitive]
attributes = ["w"]
[identifiers]
attributes = ["who"]
[recoding]
{recoding}
[[privacy]]
model = "k-anonymity"
k = {k}
"""
PERSON = 'person = "who"'
REMOVED = 'method = "fixed"\nlevels = { age = 0 }\nsuppression = 0.5\nremove = true'
SHARE = '[[privacy]]\nmodel = "largest-share"\nshare = 0.7\n'


def lay(home, table=TABLE, data=PERSON, recoding=REMOVED, policy=SHARE, more="", k=2):
    """A table and its study, and a release of it."""
    home.mkdir(exist_ok=True)
    table.to_csv(home / "visits.csv", index=False)
    given = STUDY.format(path="visits.csv", data=data, recoding=recoding, more=more, k=k)
    (home / "study.toml").write_text(given + policy)
    publish(Study(home / "study.toml"), home / "out", force=True)
    return home / "out", home / "visits.csv"


def one(found):
    """The only release of an audit."""
    (release,) = found.releases
    return release


def test_an_audit_by_hand(tmp_path):
    """Nobody is with d in class 40, which was removed; of b and c in 30 the value is known."""
    release, raw = lay(tmp_path)
    found = audit_files([release], [raw])
    (of,) = found.releases
    assert (of.records, of.classes, of.people_beyond_records) == (5, 2, 0)
    verdicts = [(each.model.name, each.worst) for each in of.privacy]
    assert verdicts == [("person-k-anonymity", 2), ("largest-share", pytest.approx(2 / 3))]
    persons = of.to_dict()["persons"]
    assert persons.pop("events") == [
        {"known": 1, "fewest": 2, "share_alone": 0, "share_below_k": 0},
        # a alone has two records of class 20, and b alone one of each; of c one is all.
        {"known": 2, "fewest": 1, "share_alone": 2 / 3, "share_below_k": 2 / 3},
        {"known": 3, "fewest": 1, "share_alone": 2 / 3, "share_below_k": 2 / 3},
    ]
    assert persons == {
        "persons": 3,
        "k": 2,
        "largest_share": pytest.approx(2 / 3),
        "average": 2 / 4,
        "alone": 0,
        "composition": {"known": None, "fewest": 1, "share_alone": 1, "share_below_k": 1},
        "known_for_sure": {"w": 2},
    }
    assert found.satisfied
    assert (found.hidden, found.repeated) == ([], [])
    assert found.unexamined == ["its policy is about persons, who have several records"]


def test_a_policy_of_records_is_held_against_persons(tmp_path):
    """Three records of d are no class of two persons."""
    levels = 'method = "fixed"\nlevels = { age = 0 }'
    release, raw = lay(tmp_path, data="", recoding=levels, policy="")
    by_records = audit_files([release], [raw])
    assert by_records.holds
    assert one(by_records).persons is None
    found = audit_files([release], [raw], person=["who"])
    assert not found.holds
    of = one(found)
    assert [each.model.name for each in of.privacy] == ["person-k-anonymity", "largest-share"]
    assert (of.persons.risk.k, of.persons.risk.alone, of.persons.risk.persons) == (1, 1, 4)


def test_people_who_repeat_are_examined_where_they_are_named(tmp_path):
    release, raw = lay(tmp_path, data="", recoding="", policy="")
    TABLE.rename(columns={"who": "patient"}).to_csv(raw, index=False)
    assert audit_files([release], [raw]).repeated == ["patient"]
    assert audit_files([release], [raw], person=["patient"]).repeated == []


def random_table(rng):
    records = int(rng.integers(15, 40))
    person = rng.integers(0, int(rng.integers(4, 12)), records)
    ages = rng.integers(0, 60, 12)
    return pd.DataFrame(
        {
            "who": [f"Nemo{each}" for each in person],
            "age": ages[person] + rng.integers(0, 3, records),
            "sex": np.where(person % 2, "f", "m"),
            "w": rng.choice(["a", "a ", "b", "c"], records),
        }
    )


RECODINGS = [
    'method = "full-domain"',
    'method = "full-domain"\nsuppression = 0.3',
    'method = "full-domain"\nsuppression = 0.3\nremove = true',
    'method = "boxes"',
]
CLOSE = '[[privacy]]\nmodel = "t-closeness"\ndistance = "equal"\nt = 0.6\n'


def test_an_audit_finds_what_the_steward_knows(tmp_path):
    """The worst class of every model, and persons counted by pandas."""
    rng, released = np.random.default_rng(5), 0
    for recoding, missing in product(RECODINGS, range(at_length(2, 40))):
        table = random_table(rng)
        if missing:
            table.loc[[2, 5], "w" if missing == 1 else "who"] = None
        data = f'{PERSON}\nmissing = "{"drop" if missing else "error"}"'
        try:
            release, raw = lay(tmp_path, table, data, recoding, CLOSE, 'sex = "suppress"')
        except PolicyUnreachableError:
            continue
        released += 1
        found = audit_files([release], [raw])
        steward = {each.model: each.worst for each in Manifest.of_steward(release).privacy}
        worst = {each.model.name: each.worst for each in one(found).privacy}
        assert worst == pytest.approx(steward)
        assert found.satisfied
        risk = one(found).persons.risk
        assert risk.k == steward["person-k-anonymity"]
        assert risk.largest_share == pytest.approx(steward["largest-share"])
    assert released > 6


@pytest.mark.parametrize("data", ["", PERSON])
def test_a_release_in_order_by_pandas(tmp_path, data):
    """Persons of the classes that stand in the release, next to the original in its order."""
    rng = np.random.default_rng(7)
    for _ in range(at_length(2, 100)):
        table = random_table(rng)
        given = f'{STUDY}{SHARE}[output]\norder = "kept"\n'
        table.to_csv(tmp_path / "visits.csv", index=False)
        recoding = 'method = "full-domain"'
        study = given.format(
            path="visits.csv", data=data, recoding=recoding, more='sex = "suppress"', k=2
        )
        if not data:
            study = study.replace(SHARE, "")
        (tmp_path / "study.toml").write_text(study)
        try:
            publish(Study(tmp_path / "study.toml"), tmp_path / "out", force=True)
        except PolicyUnreachableError:
            continue
        shown = pd.read_csv(tmp_path / "out" / "released.csv", dtype=str)
        classes = table.assign(age=shown["age"], sex=shown["sex"]).groupby(["age", "sex"])
        risk = one(
            audit_files([tmp_path / "out"], [tmp_path / "visits.csv"], person=["who"])
        ).persons.risk
        own = [Counter(group) for _, group in classes["who"]]
        assert risk.persons == table["who"].nunique()
        assert risk.k == min(map(len, own))
        assert risk.largest_share == pytest.approx(
            max(max(each.values()) / each.total() for each in own)
        )
        fewest = {person: min(len(e) for e in own if person in e) for person in table["who"]}
        assert sorted(risk.left[0]) == sorted(fewest.values())


def test_persons_who_are_not_known_are_not_examined(tmp_path):
    release, raw = lay(tmp_path)
    cases = {
        "the original does not have 'who', which tells them apart": TABLE.drop(columns="who"),
        "the original lacks a sensitive attribute": TABLE.drop(columns="w"),
        "the original holds more records of its classes than the release": pd.concat(
            [TABLE, TABLE.head(1)]
        ),
    }
    for reason, table in cases.items():
        table.to_csv(tmp_path / "other.csv", index=False)
        found = audit_files([release], [tmp_path / "other.csv"])
        assert found.hidden == [reason]
        assert (found.holds, found.broken, found.satisfied) == (True, False, False)
        assert one(found).privacy == []
        assert not one(found).satisfied
        assert one(found).persons is None
        assert "not examined" in repr(found)
    assert audit_files([release], [raw]).hidden == []


def test_classes_that_overlap_are_of_nobody_unless_the_order_tells(tmp_path):
    rows = {"who": [f"Nemo{n}" for n in range(12)], "age": [n % 6 for n in range(12)]}
    table = pd.DataFrame({**rows, "sex": ["f", "m"] * 6, "w": ["a", "b", "c"] * 4})
    policy, sex = SHARE + '[output]\norder = "random"\n', 'sex = "suppress"'
    merged = 'method = "merged-cells"'
    release, raw = lay(tmp_path, table, recoding=merged, policy=policy, more=sex, k=3)
    reason = "classes overlap, and records are in random order"
    assert audit_files([release], [raw]).hidden == [reason]
    policy = policy.replace("random", "kept")
    release, raw = lay(tmp_path, table, recoding=merged, policy=policy, more=sex, k=3)
    found = audit_files([release], [raw])
    assert found.hidden == []
    shown = pd.read_csv(release / "released.csv")["class"]
    assert one(found).persons.risk.k == table["who"].groupby(shown).nunique().min() >= 3


def test_what_was_drawn_at_random_is_of_nobody(tmp_path):
    drawn = 'method = "pram"\nepsilon = 2.0'
    policy = SHARE.replace("largest-share", "t-closeness").replace("share = 0.7", "t = 2.0")
    release, raw = lay(tmp_path, data="", recoding=drawn, policy=policy + 'distance = "kl"\n', k=1)
    found = audit_files([release], [raw], person=["who"])
    assert found.hidden == ["values were drawn at random"]


def test_errors(tmp_path):
    release, raw = lay(tmp_path / "a")
    levels = 'method = "fixed"\nlevels = { age = 0 }'
    second, _ = lay(tmp_path / "b", data="", recoding=levels, policy="")  # has other records
    with pytest.raises(InputError, match="persons who have several records are audited in one"):
        audit_files([release, second], [raw])
    with pytest.raises(InputError, match="the table has no column 'hwo'; did you mean 'who'"):
        audit_files([release], [raw], person=["hwo"])


def test_the_command_line(run, tmp_path):
    release, raw = lay(tmp_path)
    code, out, err = run("audit", release, "--against", raw, "--study", tmp_path / "study.toml")
    said = " ".join(out.split())
    assert (code, err) == (3, "")  # minimality is not examined
    assert "3 people of the original have records in these classes." in said
    assert "The smallest class has 2 people: k = 2." in said
    assert "A value of w is known for sure of 2 people." in said
    assert "records for sure" not in said
    code, out, _ = run("audit", release, "--against", raw, "--json")
    found = json.loads(out)
    assert (code, found["satisfied"], found["releases"][0]["persons"]["k"]) == (3, True, 2)
    TABLE.drop(columns="who").to_csv(tmp_path / "nobody.csv", index=False)
    code, out, _ = run("audit", release, "--against", tmp_path / "nobody.csv")
    assert code == 3
    assert "Not examined is whether the whole policy holds: the original does not" in (
        " ".join(out.split())
    )
    levels = 'method = "fixed"\nlevels = { age = 0 }'
    plain, raw = lay(tmp_path / "plain", data="", recoding=levels, policy="")
    assert run("audit", plain, "--against", raw)[0] == 3
    code, out, _ = run("audit", plain, "--against", raw, "--person", "who")
    assert code == 1
    assert "The policy does NOT hold." in out
