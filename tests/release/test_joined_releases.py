"""Releases with pseudonyms of persons by a key: one person has the same one in all of them."""

import hashlib
import hmac
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import EACH, KINDS
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import (
    Anonymizer,
    DistinctLDiversity,
    InputError,
    KAnonymity,
    Plan,
    PseudonymKey,
    verify_release,
)
from anonymizer.release.pseudonyms import OF_RELEASED
from anonymizer.release.sites import count_part
from anonymizer.release.study import Study
from anonymizer.tables.relations.frames import relation_of
from tests.release.test_numbers import (
    AGES,
    STUDY,
    anonymizer_of,
    code_of,
    differing,
    laid,
    ring,
    table_of_few,
)

SECRET = "0f" * 32
KEYED = STUDY.replace('"number"', '{ pseudonym = "persons.key" }')


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "persons.key"
    path.write_text(SECRET + "\n")
    return PseudonymKey(path)


def keyed(key: PseudonymKey, **options: object) -> Anonymizer:
    asked = {"privacy": [KAnonymity(2)], "person": "who", "person_numbers": key}
    return Anonymizer(AGES, **asked | options)


def test_the_pseudonym_is_a_keyed_hash_of_the_text(key):
    released = keyed(key).fit_transform(ring())
    content = b'anonymizer: pseudonym of a person in releases, 1\n["a"]'
    digest = hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()[:32]
    assert released["who"][0] == f"p:{digest}"
    assert key.pseudonym(["a"]) != f"p:{digest}"  # in counts of sites it is another one
    assert key.check != key.check_of_releases


def test_the_release_is_that_of_numbers(key):
    """The same policy, levels and persons: only what stands for a person is another text."""
    rng = np.random.default_rng(3)
    for privacy in ([KAnonymity(2)], [KAnonymity(2), DistinctLDiversity(2)]):
        raw = table_of_few(rng)
        numbers = anonymizer_of(privacy, "full-domain", person_numbers=True)
        pseudonyms = anonymizer_of(privacy, "full-domain", person_numbers=key)
        one, other = numbers.fit_transform(raw), pseudonyms.fit_transform(raw)
        assert numbers.release_.levels == pseudonyms.release_.levels
        verdicts = ([v.to_dict() for v in each.release_.privacy] for each in (numbers, pseudonyms))
        assert next(verdicts) == next(verdicts)
        own, others = one.pop("who"), other.pop("who")
        pd.testing.assert_frame_equal(one, other)
        assert len({*own}) == len({*others}) == len({*zip(own, others, strict=True)})


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.integers(0, 2))
def test_a_person_has_one_pseudonym_however_written_and_others_have_others(key, persons, way):
    ways = [lambda who: who, lambda who: f" {who}", float]
    table = pd.DataFrame({"who": pd.Series([*map(ways[way], persons)])})
    known = pd.DataFrame({"who": range(31)})
    found, of_known = (key.column(each, ["who"], OF_RELEASED) for each in (table, known))
    assert found.tolist() == of_known[persons].tolist()
    assert of_known.nunique() == 31


@pytest.mark.parametrize("kind", EACH)
def test_releases_of_every_engine_can_be_joined(key, kind):
    raw = ring().assign(place=range(8))
    released = keyed(key).fit_transform(KINDS[kind](pa.Table.from_pandas(raw)))
    found = relation_of(released).frame(["place", "who"])
    own = raw["who"].iloc[found["place"].astype(int)]
    assert found["who"].tolist() == [key.pseudonym([who], OF_RELEASED) for who in own]


def test_several_columns_are_hashed_together_in_any_order(key):
    table = ring().assign(site=1)
    found = [
        keyed(key, person=names).fit_transform(table)
        for names in (["site", "who"], ["who", "site"])
    ]
    pd.testing.assert_frame_equal(*found)
    assert [*found[0].columns] == ["age", "person"]
    assert found[0]["person"][0] == key.pseudonym(["1", "a"], OF_RELEASED)


def test_the_next_table_has_the_same_pseudonyms(key):
    found = keyed(key).fit(ring())
    other = found.transform(pd.concat([ring().assign(who=[*"eeffgghh"]), ring()]))
    assert other["who"].tolist()[8:] == found.transform(ring())["who"].tolist()
    assert other["who"].nunique() == 8


def test_what_is_kept_of_a_key_is_its_place(key):
    found = keyed(key).fit(ring())
    key.require()
    for kept in (found, found.plan_, key):
        content = pickle.dumps(kept)
        assert SECRET.encode() not in content
        assert SECRET not in repr(kept)
    again = pickle.loads(pickle.dumps(found))
    assert again.transform(ring())["who"].equals(found.transform(ring())["who"])
    assert SECRET not in json.dumps(found.release_.steward_manifest.to_dict())


def test_another_key_is_another_pseudonym_and_no_other_study(key, tmp_path):
    (tmp_path / "other.key").write_text("1f" * 32)
    other = PseudonymKey(tmp_path / "other.key")
    assert keyed(key).fingerprint == keyed(other).fingerprint
    assert keyed(key).fingerprint != keyed(True).fingerprint
    one, another = (keyed(each).fit_transform(ring())["who"] for each in (key, other))
    assert not {*one} & {*another}


@pytest.fixture
def joined_release(tmp_path) -> Path:
    study = laid(tmp_path, KEYED)
    (tmp_path / "persons.key").write_text(SECRET + "\n")
    assert code_of("run", study, "--output", tmp_path / "out") == 0
    return tmp_path / "out"


def test_a_release_with_pseudonyms_is_verified_by_the_folder_alone(joined_release, capsys):
    out = joined_release
    home, page = out.parent, out.parent / "page.html"
    files = [*out.rglob("*"), out.with_name("out.steward.json")]
    for content in (path.read_bytes() for path in files):
        assert SECRET.encode() not in content
        assert b"persons.key" not in content
    manifest = json.loads((out / "release.json").read_text())
    check = PseudonymKey(home / "persons.key").check_of_releases
    assert (manifest["person_numbers"], manifest["person_key"]) == ("who", check)
    original, key = ["--original", home / "visits.csv"], ["--person-key", home / "persons.key"]
    study = ["--study", home / "visits.toml"]
    for evidence in ([], key, original, [*original, *key], [*original, *key, *study], study):
        assert code_of("verify", out, *evidence) == 0
        said = "Not checked: person_key: only the key" in capsys.readouterr().out
        assert said == (key[1] not in evidence)
    assert verify_release(out).unexamined == ()
    assert code_of("check", out) == 0
    assert code_of("report", out, "--output", page) == 0
    text = page.read_text()
    assert "Each person has a pseudonym in the released table, which joins their rows." in text
    assert "Releases that can be joined" in text


def test_pseudonyms_that_are_exchanged_are_noticed_by_their_key(joined_release):
    """Everybody gets that of another person: without the key these are persons as good."""
    table = pd.read_csv(joined_release / "released.csv")
    persons = table["who"].unique()
    whose = dict(zip(persons, np.roll(persons, 1), strict=True))
    changed = table.assign(who=table["who"].map(whose))
    original = {"original": joined_release.parent / "visits.csv"}
    key = PseudonymKey(joined_release.parent / "persons.key")
    assert differing(joined_release, changed, **original) == set()
    found = differing(joined_release, changed, **original, person_key=key)
    assert found == {"privacy of persons"}


def test_what_is_no_pseudonym_is_noticed_by_the_folder(joined_release):
    table = pd.read_csv(joined_release / "released.csv")
    codes = pd.factorize(table["who"])[0] + 1
    assert differing(joined_release, table.assign(who=codes)) == {"person_numbers"}
    short = table["who"].str[:-1]
    assert "person_numbers" in differing(joined_release, table.assign(who=short))


def rewritten(out: Path, **fields: object) -> None:
    manifest = json.loads((out / "release.json").read_text()) | fields
    left = {name: value for name, value in manifest.items() if value is not None}
    (out / "release.json").write_text(json.dumps(left))
    out.with_name("out.steward.json").unlink(missing_ok=True)


def test_a_manifest_that_says_otherwise_is_noticed(joined_release):
    out, key = joined_release, PseudonymKey(joined_release.parent / "persons.key")
    rewritten(out, person_key="0" * 32)
    assert verify_release(out).satisfied  # only the key can tell
    found = verify_release(out, person_key=key)
    assert [str(each) for each in found.differences] == [
        "person_key: the key of persons is another one: a person has other pseudonyms by it"
    ]
    rewritten(out, person_key=None)
    found = verify_release(out, out.parent / "visits.toml")
    assert {each.field for each in found.differences} == {"person_numbers", "person_key"}
    with pytest.raises(InputError, match="and the release has none; leave out --person-key"):
        verify_release(out, person_key=key)


def test_numbers_are_not_said_to_be_pseudonyms(tmp_path):
    study, out = laid(tmp_path), tmp_path / "out"
    assert code_of("run", study, "--output", out) == 0
    study.write_text(KEYED)
    found = verify_release(out, study)
    assert "person_key" in {each.field for each in found.differences}
    rewritten(out, person_key="0" * 32)
    assert [each.field for each in verify_release(out).differences] == ["person_numbers"]


def test_the_next_release_needs_the_key(joined_release, capsys):
    out, home = joined_release, joined_release.parent
    table = home / "visits.csv"
    assert code_of("apply", out, table, "--output", home / "next") == 2
    said = capsys.readouterr().err
    assert "persons have pseudonyms in the release, and the key that makes them is not in" in said
    assert "give its file with --person-key" in said
    for options in (["--person-key", home / "persons.key"], ["--study", home / "visits.toml"]):
        assert code_of("apply", out, table, "--output", home / "next", "--force", *options) == 0
        assert code_of("verify", home / "next") == 0
        one, other = (pd.read_csv(each / "released.csv") for each in (out, home / "next"))
        assert sorted(one["who"]) == sorted(other["who"])
    (home / "other.key").write_text("1f" * 32)
    given = ["--person-key", home / "other.key"]
    assert code_of("apply", out, table, "--output", home / "third", *given) == 2
    said = capsys.readouterr().err
    assert "is not the key that made the pseudonyms of the release" in said
    plan = Plan.from_manifest(out, person_key=PseudonymKey(home / "persons.key"))
    assert {*plan.apply(pd.read_csv(table))["who"]} == {*one["who"]}


def test_a_release_without_pseudonyms_needs_no_key(tmp_path, capsys):
    study, out = laid(tmp_path), tmp_path / "out"
    (tmp_path / "persons.key").write_text(SECRET)
    assert code_of("run", study, "--output", out) == 0
    given = ["--person-key", tmp_path / "persons.key"]
    assert code_of("apply", out, tmp_path / "visits.csv", "-o", tmp_path / "next", *given) == 2
    assert "as a key of pseudonyms of persons, and the release has" in capsys.readouterr().err
    assert code_of("verify", out, *given, "--counts", study) == 2
    assert "--person-key is for a release of one table, not of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("person", "message"),
    [
        ('"numbers"', '[output] person must be "number", or { pseudonym = "key.file" } with the'),
        ('{ key = "a" }', '[output] person must be "number", or { pseudonym = "key.file" } with'),
        ("{ pseudonym = 7 }", '[output] person must be "number", or { pseudonym = "key.file" }'),
        ('{ pseudonym = "none.key" }', "cannot read the key of persons"),
        ('{ pseudonym = "short.key" }', "short.key has 5 bytes, and needs 32 at least that nobody"),
    ],
)
def test_what_is_no_key_is_refused(tmp_path, capsys, person, message):
    study = laid(tmp_path, STUDY.replace('"number"', person))
    (tmp_path / "short.key").write_text("short")
    assert code_of("run", study, "--output", tmp_path / "out") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_key_that_is_read_is_there(tmp_path):
    with pytest.raises(InputError, match="cannot read the key of persons"):
        PseudonymKey.read(tmp_path / "none.key")
    assert PseudonymKey(tmp_path / "none.key").path.name == "none.key"  # read once it is needed


def test_what_is_no_path_is_no_key():
    with pytest.raises(InputError, match="the key of persons is named by the path of its file"):
        PseudonymKey(b"secret")


def test_counts_of_sites_have_no_numbers(tmp_path):
    study = Study(laid(tmp_path, KEYED))
    (tmp_path / "persons.key").write_text(SECRET)
    given = tmp_path / "visits.csv", tmp_path / "counts"
    with pytest.raises(InputError, match=r"\[output\] person is for a table that lies in one"):
        count_part(study, *given, person_key=tmp_path / "persons.key")


def test_the_key_lies_next_to_the_study_and_the_report_says_what_it_does(
    tmp_path, monkeypatch, capsys
):
    study = laid(tmp_path, KEYED)
    (tmp_path / "persons.key").write_text(SECRET)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert code_of("run", study, "--output", "out") == 0
    assert "Whoever has the key finds every person whom they can name" in capsys.readouterr().out
