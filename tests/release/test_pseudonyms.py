"""Persons of several sites: counted by pseudonyms, and as in one table that has all records."""

import hashlib
import hmac
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lengths import LONG

from anonymizer import InputError, PolicyBrokenError, PolicyUnreachableError
from anonymizer.cli import main
from anonymizer.counts.persons import PER_PERSON
from anonymizer.release.pseudonyms import PseudonymKey
from anonymizer.release.publish import publish
from anonymizer.release.sites import (
    PartCounts,
    count_part,
    publish_counts,
    publish_part,
    verify_parts,
)
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.tables import engine
from anonymizer.tables.files import release_format
from tests.whole import read_table

STUDY = """
[data]
path = "all.csv"
missing = "{missing}"
person = {person}
per-person = "{per_person}"
[quasi-identifiers]
age = {{ widths = [5, 10, 20] }}
sex = "suppress"
[sensitive]
attributes = ["ill"]
[[privacy]]
model = "{model}"
k = {k}
[[privacy]]
model = "entropy-l-diversity"
l = 1.8
[recoding]
{recoding}
"""
PARTS = ("north.csv", "south.parquet")
SECRET = "0f" * 32


def table(seed, records=160, persons=50):
    """Records of persons of whom most have some at both sites."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "who": rng.integers(0, persons, records),
            "born": "1970",
            "age": np.minimum(20 + rng.exponential(15, records).astype(int), 79),
            "sex": rng.choice(["F", "M"], records),
            "ill": rng.choice(["flu", "cold", "ache", "hiv"], records, p=[0.5, 0.3, 0.1, 0.1]),
            "town": rng.choice(["a", "b"], records),
        }
    )


def written(place, whole, **options):
    """A study, its table, and the parts of that: persons are written in other ways at each."""
    half = len(whole) // 2
    north, south = whole[:half].copy(), whole[half:]
    spelled = ("{}", " {}.0 ")
    north["who"] = [
        who if pd.isna(who) else spelled[row % 2].format(who) for row, who in enumerate(north.who)
    ]
    north.to_csv(place / PARTS[0], index=False)
    south.to_parquet(place / PARTS[1], index=False)
    whole.to_csv(place / "all.csv", index=False)
    given = {"missing": "error", "person": '"who"', "per_person": "share", "k": 4}
    given |= {"recoding": 'method = "full-domain"', "model": "k-anonymity"}
    (place / "study.toml").write_text(STUDY.format(**given | options))
    (place / "sites.key").write_text(SECRET + "\n")
    return Study(place / "study.toml")


def counts_at(place, part):
    return (place / part).with_suffix(".counts")


def counted(place, study):
    for part in PARTS:
        count_part(
            study, place / part, counts_at(place, part), force=True, person_key=place / "sites.key"
        )
    return [counts_at(place, part) for part in PARTS]


def sites(place, study):
    for part in PARTS:
        out, key = place / part.split(".")[0], place / "sites.key"
        publish_part(
            *(place / "release", place / part, counts_at(place, part), out),
            study=study,
            force=True,
            person_key=key,
        )
    return [place / part.split(".")[0] for part in PARTS]


def rows_of(place, study):
    (path,) = place.glob("released.*")
    names = [*study.published.columns, "town"]
    frame = read_table(path, release_format(path), names)
    return Counter(frame[names].astype(str).itertuples(index=False, name=None))


RECODINGS = {
    "full-domain": 'method = "full-domain"\nsuppression = 0.1',
    "removed": 'method = "full-domain"\nsuppression = 0.1\nremove = true',
    "variable-range": 'method = "variable-range"',
    "boxes": 'method = "boxes"',
    "fixed": 'method = "fixed"\nlevels = { age = 2, sex = 0 }\nsuppression = 0.3',
}


COUNTED = [
    (recoding, each)
    for place, recoding in enumerate(RECODINGS)
    for each in (PER_PERSON if LONG else [PER_PERSON[place % 2]])
]


@pytest.mark.parametrize(("recoding", "per_person"), COUNTED)
def test_persons_of_all_sites_count_as_in_one_table(tmp_path, recoding, per_person):
    """The same recoding, and the same figure of every model in the worst way of counting."""
    options = {"per_person": per_person, "recoding": RECODINGS[recoding]}
    study = written(tmp_path, table(len(recoding)), **options)
    release, manifest = publish_counts(study, counted(tmp_path, study), tmp_path / "release")
    alone, known = publish(study, tmp_path / "alone")
    assert (manifest.recoding, manifest.regions) == (known.recoding, known.regions)
    assert [each.to_dict() for each in release.privacy] == [e.to_dict() for e in alone.privacy]
    assert (release.records, release.suppressed) == (alone.records, alone.suppressed)
    assert (manifest.person, manifest.per_person) == (known.person, known.per_person)
    parts = sites(tmp_path, study)
    north, south = (rows_of(part, study) for part in parts)
    assert north + south == rows_of(tmp_path / "alone", study)


@pytest.mark.parametrize("model", ["composition-k-anonymity", "km-anonymity"])
def test_who_knows_several_records_knows_those_of_all_sites(tmp_path, model):
    """Everybody has a record in each of two classes, one of them at each site."""
    rows = [(person, age, "F", "flu" if person % 2 else "hiv") for age in (22, 42) for person in P]
    whole = pd.DataFrame(rows, columns=["who", "age", "sex", "ill"])
    study = written(tmp_path, whole, model=model, k=6, recoding="")
    if model == "km-anonymity":
        study.path.write_text(study.path.read_text().replace("k = 6", "k = 6\nm = 2"))
        study = Study(study.path)
    release, _ = publish_counts(study, counted(tmp_path, study), tmp_path / "release")
    assert release.levels == {"age": 0, "sex": 0}
    assert release.privacy[0].worst == 6


P = range(6)
"""Six persons."""


def test_a_person_at_two_sites_is_one(tmp_path):
    """Three persons with a record at each site are a class of three, of six records."""
    ages, ill = [30] * 6, ["flu", "hiv"] * 3
    whole = pd.DataFrame({"who": [1, 2, 3] * 2, "age": ages, "sex": "F", "ill": ill})
    study = written(tmp_path, whole, k=3)
    release, _ = publish_counts(study, counted(tmp_path, study), tmp_path / "release")
    assert [release.privacy[place].worst for place in (0, 2)] == [3, 1 / 3]
    study = written(tmp_path, whole, k=4)
    with pytest.raises(PolicyUnreachableError, match="k = 4 exceeds the 3 persons of the table"):
        publish_counts(study, counted(tmp_path, study), tmp_path / "other")


def test_several_columns_tell_persons_apart_together(tmp_path):
    """Number 7 of the north is another person than number 7 of the south; one hash has both."""
    whole = pd.DataFrame({"who": [1, 2, 3] * 2, "age": 30, "sex": "F", "ill": ["flu", "hiv"] * 3})
    whole["site"] = ["north"] * 3 + ["south"] * 3
    study = written(tmp_path, whole, k=6, person='["who", "site"]')
    files = counted(tmp_path, study)
    release, manifest = publish_counts(study, files, tmp_path / "release")
    assert release.privacy[0].worst == 6
    assert manifest.person == ["who", "site"]
    tally = PartCounts.read(files[0]).tally
    assert tally["who"].tolist() == tally["site"].tolist()
    assert sites(tmp_path, study)


def test_the_pseudonym_is_a_keyed_hash_of_the_text(tmp_path):
    (tmp_path / "key").write_text(f" {SECRET}\r\n")
    key = PseudonymKey.read(tmp_path / "key")
    content = b'anonymizer: pseudonym of a person, 1\n["7"]'
    digest = hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()[:32]
    assert key.pseudonym(["7"]) == f"p:{digest}"
    assert key.check != digest
    assert SECRET not in repr(key)
    tally = engine.tally(pd.DataFrame({"who": ["7", 7, " 7.0", None, "x"], "age": 1}), ["who"])
    found = key.hidden(tally, ["who"])["who"]
    assert found[:3].tolist() == [f"p:{digest}"] * 3
    assert pd.isna(found[3])
    assert found[4] not in (f"p:{digest}", "x")


TEXTS = st.lists(st.text("ab1,\"'[]\\ ", max_size=3), min_size=2, max_size=2)


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "sites.key"
    path.write_text(SECRET)
    return PseudonymKey(path)


@given(one=TEXTS, other=TEXTS)
def test_different_persons_have_different_pseudonyms(key, one, other):
    assert (key.pseudonym(one) == key.pseudonym(other)) == (one == other)


def test_the_file_says_that_it_links_records_and_has_no_name(tmp_path):
    whole = table(3).assign(who=[f"Mx-{who}" for who in table(3)["who"]])
    study = written(tmp_path, whole)
    path = counted(tmp_path, study)[1]
    content = path.read_bytes()
    assert b"PSEUDONYMS: all records of a person stand under one pseudonym here" in content
    assert b"Mx-" not in content
    assert SECRET.encode() not in content
    publish_counts(study, [*counted(tmp_path, study)], tmp_path / "release")
    pseudonym = PartCounts.read(path).tally["who"].iloc[0]
    for released in (tmp_path / "release").iterdir():
        assert pseudonym.encode() not in released.read_bytes()
        assert PartCounts.read(path).person_key.encode() not in released.read_bytes()


def test_without_a_key_or_persons_nothing_is_counted(tmp_path):
    study = written(tmp_path, table(3))
    north, out, key = tmp_path / PARTS[0], tmp_path / "out", tmp_path / "sites.key"
    with pytest.raises(InputError, match="a person at two sites would count as two; give it with"):
        count_part(study, north, out)
    key.write_text("short\n")
    with pytest.raises(InputError, match=r"sites\.key has 5 bytes, and needs 32 at least"):
        count_part(study, north, out, person_key=key)
    with pytest.raises(InputError, match=r"cannot read the key of persons .*: No such file"):
        count_part(study, north, out, person_key=tmp_path / "none")
    plain = study.path.read_text().replace('person = "who"\nper-person = "share"\n', "")
    (tmp_path / "plain.toml").write_text(plain)
    with pytest.raises(InputError, match="no column tells that; name it as person below"):
        count_part(Study(tmp_path / "plain.toml"), north, out, person_key=key)
    assert not out.exists()


def test_different_keys_are_noticed(tmp_path):
    study = written(tmp_path, table(3))
    north, south = counted(tmp_path, study)
    publish_counts(study, [north, south], tmp_path / "release")
    (tmp_path / "sites.key").write_text("1f" * 32)
    with pytest.raises(InputError, match=r"sites\.key is not the key that .*north\.counts was"):
        sites(tmp_path, study)
    count_part(study, tmp_path / PARTS[1], south, force=True, person_key=tmp_path / "sites.key")
    with pytest.raises(InputError, match=r"south\.counts and .* hide persons by different keys"):
        publish_counts(study, [north, south], tmp_path / "other")


def test_counts_with_and_without_persons_do_not_add_up(tmp_path):
    study = written(tmp_path, table(3))
    north, south = counted(tmp_path, study)
    plain = study.path.read_text().replace('person = "who"\nper-person = "share"\n', "")
    (tmp_path / "plain.toml").write_text(plain)
    other = Study(tmp_path / "plain.toml")
    with pytest.raises(InputError, match=r"its person are 'who', those of .* are none"):
        publish_counts(other, [north, south], tmp_path / "release")
    count_part(other, tmp_path / PARTS[1], south, force=True)
    with pytest.raises(InputError, match=r"its person are none, those of .* are 'who'"):
        publish_counts(study, [north, south], tmp_path / "release")


def test_a_part_whose_records_have_other_persons_is_refused(tmp_path):
    study = written(tmp_path, table(3))
    publish_counts(study, counted(tmp_path, study), tmp_path / "release")
    frame = pd.read_parquet(tmp_path / PARTS[1])
    frame["who"] = frame["who"].to_numpy()[::-1]
    frame.to_parquet(tmp_path / PARTS[1])
    with pytest.raises(InputError, match="does not have the columns and counts in"):
        sites(tmp_path, study)


def test_whole_persons_and_households_are_refused_by_name(tmp_path):
    whole = 'method = "full-domain"\nsuppression = 0.1\nsuppress-persons = true'
    study = written(tmp_path, table(3), recoding=whole)
    with pytest.raises(InputError, match=r"suppress-persons is for a table that lies in one place"):
        counted(tmp_path, study)
    text = study.path.read_text().replace(
        'person = "who"\nper-person = "share"', 'household = "who"'
    )
    study.path.write_text(text.replace("\nsuppress-persons = true", ""))
    with pytest.raises(InputError, match=r"\[data\] household is for a table that lies in one"):
        counted(tmp_path, Study(study.path))


def test_records_of_nobody_are_refused_at_their_site_or_dropped(tmp_path):
    whole = table(4).astype({"who": object})
    whole.loc[[3, 140], "who"] = None
    study = written(tmp_path, whole)
    with pytest.raises(InputError, match="tells persons apart, misses the value of 1 of 80 rec"):
        counted(tmp_path, study)
    study = written(tmp_path, whole, missing="drop")
    release, _ = publish_counts(study, counted(tmp_path, study), tmp_path / "release")
    alone, _ = publish(study, tmp_path / "alone")
    assert (release.dropped, alone.dropped) == (2, 2)
    assert [each.to_dict() for each in release.privacy] == [e.to_dict() for e in alone.privacy]
    parts = sites(tmp_path, study)
    assert sum((rows_of(part, study) for part in parts), Counter()).total() == 158


def test_persons_are_examined_where_the_counts_are_given(tmp_path):
    study = written(tmp_path, table(5))
    files = counted(tmp_path, study)
    home = tmp_path / "release"
    release, _ = publish_counts(study, files, home)
    parts = sites(tmp_path, study)
    found = verify_parts(home, parts, study)
    assert (found.satisfied, found.differences) == (False, ())
    assert [each.name for each in found.unexamined] == [
        *("person-k-anonymity", "entropy-l-diversity", "largest-share")
    ]
    found = verify_parts(home, parts, study, counts=files)
    assert found.satisfied
    assert [each.worst for each in found.verdicts] == [each.worst for each in release.privacy]
    assert verify_parts(home, [], counts=files).satisfied
    assert verify_release(home, original=tmp_path / "all.csv").satisfied
    with pytest.raises(InputError, match="made of 2 files of counts, and those that were given"):
        verify_parts(home, parts, counts=files[:1])
    with pytest.raises(InputError, match="others, or not all, each once"):
        verify_parts(home, parts, counts=[files[0], files[0]])


def test_a_release_whose_persons_are_too_few_is_found_out(tmp_path):
    """The counts of the sites show that a release does not have the persons that it promises."""
    study = written(tmp_path, table(6), k=4)
    files = counted(tmp_path, study)
    publish_counts(study, files, tmp_path / "release")
    text = (tmp_path / "release" / "release.json").read_text()
    (tmp_path / "release" / "release.json").write_text(text.replace('"k": 4', '"k": 40'))
    found = verify_parts(tmp_path / "release", [], counts=files)
    assert not found.satisfied
    assert [each.satisfied for each in found.verdicts] == [False, True, True]


def test_plain_releases_need_no_counts_to_be_verified(tmp_path):
    study = written(tmp_path, table(5))
    plain = study.path.read_text().replace('person = "who"\nper-person = "share"\n', "")
    study.path.write_text(plain)
    study = Study(study.path)
    for part in PARTS:
        count_part(study, tmp_path / part, counts_at(tmp_path, part))
    files = [counts_at(tmp_path, part) for part in PARTS]
    publish_counts(study, files, tmp_path / "release")
    with pytest.raises(InputError, match="has a policy that its released counts show"):
        verify_parts(tmp_path / "release", [], counts=files)


def test_from_the_command_line(tmp_path, capsys, monkeypatch):
    written(tmp_path, table(5))
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        shown = capsys.readouterr()
        return ended.value.code, shown.out + shown.err

    key = ["-s", "study.toml", "--person-key", "sites.key"]
    for part in PARTS:
        code, said = run("count", part, *key, "-o", counts_at(Path(), part).name)
        assert (code, "They link all records of a person by a pseudonym" in said) == (0, True)
    both = [counts_at(Path(), part).name for part in PARTS]
    assert run("run", "study.toml", "--counts", *both, "-o", "release")[0] == 0
    for part, counts in zip(PARTS, both, strict=True):
        name = part.split(".")[0]
        given = ["--counts", counts, "-s", "study.toml", "-o", name]
        code, said = run("apply", "release", part, *given)
        assert (code, "needs a key that all sites have" in said) == (2, True)
        assert run("apply", "release", part, *given, "--person-key", "sites.key")[0] == 0
    code, said = run("verify", "release", "--parts", "north", "south")
    assert (code, "all files of counts that it was made of, each with --counts" in said) == (
        3,
        True,
    )
    given = ["--counts", both[0], "--counts", both[1]]
    assert run("verify", "release", *given, "--parts", "north", "south")[0] == 0
    code, said = run("verify", "release", *given, "--original", "all.csv")
    assert (code, "--counts stand in place of the --original" in said) == (2, True)
    code, said = run("apply", "release", "all.csv", "-o", "next", "--person-key", "sites.key")
    assert (code, "a key of pseudonyms of persons, and the release has none" in said) == (2, True)


def test_released_counts_read_back_as_they_were_proven(tmp_path, monkeypatch):
    study = written(tmp_path, table(5))
    files = counted(tmp_path, study)
    monkeypatch.setattr("anonymizer.release.sites.counts.same_classes", lambda *_: False)
    with pytest.raises(PolicyBrokenError, match="the counts have other classes than were proven"):
        publish_counts(study, files, tmp_path / "release")
    assert not (tmp_path / "release").exists()
