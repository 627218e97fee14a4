"""Tables in parts: counted at their sites, released as counts, recoded and proven together."""

import json
import stat
import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from anonymizer import InputError, PolicyBrokenError
from anonymizer.cli import main
from anonymizer.release.files import digest_of_file
from anonymizer.release.publish import publish
from anonymizer.release.sites import (
    PartCounts,
    count_part,
    publish_counts,
    publish_part,
    verify_parts,
)
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.tables.counts_file import as_texts
from anonymizer.tables.files import release_format
from tests.whole import read_table

STUDY = """
[data]
path = "all.csv"
missing = "{missing}"
missing-values = ["?"]
[quasi-identifiers]
age = {{ widths = [5, 10, 20] }}
zip = {{ prefixes = [3, 1] }}
sex = "suppress"
[sensitive]
attributes = ["ill"]
[identifiers]
attributes = ["name"]
[[privacy]]
model = "k-anonymity"
k = 6
[[privacy]]
model = "distinct-l-diversity"
l = 2
[recoding]
{recoding}
"""
RECODINGS = (
    'method = "full-domain"',
    'method = "variable-range"',
    'method = "boxes"',
    'method = "fixed"\nlevels = { age = 2, zip = 1, sex = 0 }\nsuppression = 0.2',
)

REMOVING = 'method = "full-domain"\nsuppression = 0.1\nremove = true'


def table(records=180, seed=1):
    rng = np.random.default_rng(seed)
    ages = np.minimum(20 + rng.exponential(12, records).astype(int), 79)
    return pd.DataFrame(
        {
            "name": [f"n{number}" for number in range(records)],
            "age": ages,
            "zip": rng.choice(
                ["01234", "01277", "09111", "55123"], records, p=[0.5, 0.3, 0.1, 0.1]
            ),
            "sex": rng.choice(["F", "M"], records),
            "ill": rng.choice(["flu", "cold", "ache"], records),
            "town": rng.choice(["a", "b"], records),
        }
    )


def written(place, missing="error", recoding=RECODINGS[0], given=None):
    """A study, and its table in two parts: CSV with odd spellings, and Parquet with numbers."""
    whole = table() if given is None else given
    north, south = whole[:90].copy(), whole[90:]
    north["ill"] = " " + north["ill"] + " "
    north["age"] = [f"{age}.0" if age % 2 else f"{age}" for age in north["age"].fillna(0)]
    if missing != "error":
        north.loc[3:7, "ill"] = "?"
        whole = whole.copy()
        whole.loc[3:7, "ill"] = None
    north.to_csv(place / "north.csv", index=False)
    south.to_parquet(place / "south.parquet", index=False)
    whole.to_csv(place / "all.csv", index=False)
    (place / "study.toml").write_text(STUDY.format(missing=missing, recoding=recoding))
    return Study(place / "study.toml")


def steward(place, study, **options):
    """Both parts counted, and their sum released."""
    for part in ("north.csv", "south.parquet"):
        count_part(study, place / part, counts_at(place, part), force=True)
    files = [place / "north.counts", place / "south.counts"]
    return publish_counts(study, files, place / "release", **options)


def counts_at(place, part):
    return (place / part).with_suffix(".counts")


def sites(place, study):
    for part in ("north.csv", "south.parquet"):
        out = place / part.split(".")[0]
        publish_part(
            place / "release", place / part, counts_at(place, part), out, study=study, force=True
        )
    return [place / "north", place / "south"]


def rows_of(place, study):
    (path,) = place.glob("released.*")
    frame = read_table(path, release_format(path), study.schema.columns)
    texts = as_texts(engine.tally(frame, [*study.schema.columns, "town"])).combinations
    sizes = engine.tally(frame, [*study.schema.columns, "town"]).sizes
    rows = texts.astype(object).where(texts.notna(), None).itertuples(index=False, name=None)
    return Counter(dict(zip(rows, sizes.tolist(), strict=True)))


@pytest.mark.parametrize("recoding", RECODINGS[1:])
def test_parts_together_are_the_release_of_the_union(tmp_path, recoding):
    missing = "category" if "boxes" in recoding else "drop"
    study = written(tmp_path, missing, recoding)
    release, manifest = steward(tmp_path, study)
    alone, known = publish(study, tmp_path / "alone")
    assert manifest.recoding == known.recoding
    assert manifest.regions == known.regions
    assert [each.to_dict() for each in release.privacy] == [e.to_dict() for e in alone.privacy]
    assert (release.records, release.dropped) == (alone.records, alone.dropped)
    assert release.suppressed == alone.suppressed
    assert manifest.other_columns == known.other_columns == ["town"]
    parts = sites(tmp_path, study)
    north, south = (rows_of(part, study) for part in parts)
    assert north + south == rows_of(tmp_path / "alone", study)
    found = verify_parts(tmp_path / "release", parts, study)
    assert found.satisfied, found.differences
    assert {check.field for check in found.checks} >= {"counts", "parts"}


def test_suppression_is_that_of_the_union(tmp_path):
    """A class that is large in one part is released in the other, too, which has one record."""
    rows = [(20, "01234", "F", "flu"), (20, "01234", "F", "cold")]
    given = pd.DataFrame([(70, "55123", "M", "flu")] * 3 + rows * 44)
    given.columns = ["age", "zip", "sex", "ill"]
    study = written(tmp_path, recoding=REMOVING, given=given.assign(name="n", town="a"))
    release, _ = steward(tmp_path, study)
    assert (release.suppressed, release.suppressed_class) == (3, "removed")
    parts = sites(tmp_path, study)
    assert [sum(rows_of(part, study).values()) for part in parts] == [87, 1]
    assert "55123" not in (tmp_path / "release" / "release.json").read_text()


@pytest.mark.parametrize(
    ("method", "records", "released"),
    [
        (REMOVING, 4, 0),
        ('method = "full-domain"\nsuppression = 0.1', 10, 10),
    ],
)
def test_a_part_whose_records_were_all_suppressed(tmp_path, method, records, released):
    """Nothing of the manifest is about its values: they stand under ``*``, or are left out."""
    rows = [(20, "01234", "F", ill) for ill in ("flu", "cold", "ache")] * 50
    others = [(70 + place, "55123", "M", ("flu", "cold")[place % 2]) for place in range(records)]
    columns = ["age", "zip", "sex", "ill"]
    study = written(tmp_path, recoding=method, given=pd.DataFrame(rows, columns=columns))
    pd.DataFrame(others, columns=columns).to_parquet(tmp_path / "south.parquet", index=False)
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "north.csv", index=False)
    text = (tmp_path / "study.toml").read_text().replace('attributes = ["name"]', "attributes = []")
    (tmp_path / "study.toml").write_text(text)
    study = Study(tmp_path / "study.toml")
    release, _ = steward(tmp_path, study)
    assert release.suppressed == records
    parts = sites(tmp_path, study)
    frame = pd.read_parquet(tmp_path / "south" / "released.parquet")
    assert (len(frame), {*frame["zip"]} <= {"*"}) == (released, True)
    assert verify_parts(tmp_path / "release", parts, study).satisfied


def test_counts_are_for_their_owner_alone_and_say_so(tmp_path):
    study = written(tmp_path)
    path = tmp_path / "north.counts"
    path.write_text("of anybody")
    path.chmod(0o644)
    with pytest.raises(InputError, match="is there already; --force replaces it"):
        count_part(study, tmp_path / "north.csv", path)
    counts = count_part(study, tmp_path / "north.csv", path, force=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"SENSITIVE: these are the counts of raw records" in path.read_bytes()
    assert (counts.records, PartCounts.read(path).records) == (90, 90)
    assert "name" not in counts.columns
    count_part(study, tmp_path / "north.csv", tmp_path / "again")
    assert PartCounts.read(path).digest != PartCounts.read(tmp_path / "again").digest


def test_released_counts_show_what_the_release_shows(tmp_path):
    study = written(tmp_path)
    release, manifest = steward(tmp_path, study)
    counts = PartCounts.read(tmp_path / "release" / "released.counts")
    assert counts.part is None
    assert counts.records == release.released
    assert counts.columns == ("age", "zip", "sex", "ill", "town")
    assert {*counts.tally.columns} == {"age", "zip", "sex", "ill"}
    assert sorted(manifest.counts) == sorted(
        PartCounts.read(tmp_path / name).digest for name in ("north.counts", "south.counts")
    )


def changed(place, old, new):
    text = (place / "study.toml").read_text()
    assert old in text
    (place / "study.toml").write_text(text.replace(old, new))
    return Study(place / "study.toml")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('sex = "suppress"', "", "counted by another study: its quasi-identifiers are 'age', 'se"),
        ('["ill"]', '["town"]', "its sensitive are 'ill', those of .* are 'town'"),
        ('missing = "error"', 'missing = "drop"', "its missing are 'error'"),
        ('["?"]', '["?", "-"]', r"its missing-values are '\?', those of"),
        ('method = "full-domain"', 'method = "merged-cells"', "labels overlap, so that a site"),
        ('method = "full-domain"', 'method = "pram"', "draws at random, which parts cannot"),
        ("[recoding]", "[output]\ncsv-safe = true\n[recoding]", "csv-safe is for tables that"),
        ("[recoding]", '[output]\nverifiers = ["html"]\n[recoding]', "verifiers is for tables"),
    ],
)
def test_another_study_is_refused(tmp_path, old, new, complaint):
    count_part(written(tmp_path), tmp_path / "north.csv", tmp_path / "north.counts")
    study = changed(tmp_path, old, new)
    with pytest.raises(InputError, match=complaint):
        publish_counts(study, [tmp_path / "north.counts"], tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_part_is_counted_once(tmp_path):
    study = written(tmp_path)
    steward(tmp_path, study)
    north, again, narrow = (tmp_path / f"{name}.counts" for name in ("north", "again", "narrow"))
    with pytest.raises(InputError, match="are the counts of one part; give each part once"):
        publish_counts(study, [north, north], tmp_path / "other")
    count_part(study, tmp_path / "north.csv", again)
    with pytest.raises(InputError, match="hold the same counts, as of one table that was counted"):
        publish_counts(study, [north, again], tmp_path / "other")
    released = tmp_path / "release" / "released.counts"
    with pytest.raises(InputError, match="is the counts of a release, not of a part"):
        publish_counts(study, [north, released], tmp_path / "other")
    table(30).drop(columns="town").to_csv(tmp_path / "narrow.csv", index=False)
    count_part(study, tmp_path / "narrow.csv", narrow)
    with pytest.raises(InputError, match="count tables of different columns \\('town' in one"):
        publish_counts(study, [north, narrow], tmp_path / "other")


def test_a_site_that_cannot_be_counted_learns_it_at_home(tmp_path):
    study = written(tmp_path)
    (tmp_path / "bad.csv").write_text("name,age,zip,sex,ill,town\nn,old,01234,F,flu,a\n")
    with pytest.raises(InputError, match="age"):
        count_part(study, tmp_path / "bad.csv", tmp_path / "bad.counts")
    (tmp_path / "bad.csv").write_text("name,age,zip,sex,ill,town\nn,30,01234,F,?,a\n")
    with pytest.raises(InputError, match="column 'ill' misses the value of 1 of 1 records"):
        count_part(study, tmp_path / "bad.csv", tmp_path / "bad.counts")
    assert not (tmp_path / "bad.counts").exists()


def test_a_part_that_was_not_counted_is_refused(tmp_path):
    study = written(tmp_path)
    steward(tmp_path, study)
    home, north = tmp_path / "release", tmp_path / "north.csv"

    def apply(part, counts):
        return publish_part(home, part, counts, tmp_path / "out", study=study)

    count_part(study, north, tmp_path / "again.counts")
    with pytest.raises(InputError, match=r"is not among the counts that .* was made of"):
        apply(north, tmp_path / "again.counts")
    with pytest.raises(InputError, match="does not have the columns and counts in"):
        apply(tmp_path / "all.csv", tmp_path / "north.counts")
    publish(study, tmp_path / "alone")
    with pytest.raises(InputError, match="was made of a table, not of counts of parts"):
        publish_part(
            tmp_path / "alone", north, tmp_path / "north.counts", tmp_path / "out", study=study
        )
    with pytest.raises(InputError, match="is a release; choose another directory for the part"):
        publish_part(home, north, tmp_path / "north.counts", home, study=study)
    assert not (tmp_path / "out").exists()


def forged(home, change):
    """Released counts changed, and the manifest made to fit their digest."""
    path = home / "released.counts"
    counts = PartCounts.read(path)
    tally = replace(counts.tally, sizes=change(counts.tally.sizes))
    replace(counts, tally=tally).write(path)
    manifest = json.loads((home / "release.json").read_text())
    manifest["table"]["sha256"] = digest_of_file(path)
    (home / "release.json").write_text(json.dumps(manifest))


def test_a_release_that_was_changed_is_not_followed(tmp_path):
    study = written(tmp_path)
    steward(tmp_path, study)

    forged(tmp_path / "release", lambda sizes: sizes + 1)
    with pytest.raises(PolicyBrokenError, match="does not hold"):
        sites(tmp_path, study)


def test_records_that_the_release_lacks_are_not_written(tmp_path, monkeypatch):
    """Even where everything that the manifest says of the released counts agrees."""
    study = written(tmp_path)
    steward(tmp_path, study)
    monkeypatch.setattr("anonymizer.release.sites.parts.require_followable", lambda *a, **k: None)
    monkeypatch.setattr("anonymizer.release.manifest.Manifest.table_at", lambda *a: None)

    forged(tmp_path / "release", np.ones_like)
    with pytest.raises(PolicyBrokenError, match="has records that the release does not have"):
        sites(tmp_path, study)


def test_parts_are_compared_with_what_was_released(tmp_path):
    study = written(tmp_path)
    steward(tmp_path, study)
    north, south = sites(tmp_path, study)
    home = tmp_path / "release"
    with pytest.raises(InputError, match="are one part; give each part once"):
        verify_parts(home, [north, north])
    found = verify_parts(home, [north])
    assert [check.field for check in found.differences] == ["counts", "parts"]
    assert not found.satisfied
    assert not found.verdicts
    with (north / "released.csv").open("a") as file:
        file.write("*,*,*,flu,a\n")
    with pytest.raises(InputError, match=r"is not what part\.json is about: it was changed since"):
        verify_parts(home, [north, south])
    steward(tmp_path, study, force=True)
    with pytest.raises(InputError, match="is a part of another release, or of this one before"):
        verify_parts(home, [north, south])
    with pytest.raises(InputError, match="give the directory that `anonymizer apply --counts`"):
        verify_parts(home, [tmp_path])


def test_from_the_command_line(tmp_path, capsys, monkeypatch):
    written(tmp_path)
    monkeypatch.chdir(tmp_path)
    changed(tmp_path, "all.csv", "nowhere.csv")  # the steward has no table

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        shown = capsys.readouterr()
        return ended.value.code, shown.out + shown.err

    for part in ("north.csv", "south.parquet"):
        counts = Path(part).with_suffix(".counts").name
        code, said = run("count", part, "-s", "study.toml", "-o", counts)
        assert (code, "as sensitive as the table" in said) == (0, True)
    both = ["--counts", "north.counts", "south.counts"]
    assert run("run", "study.toml", *both, "-o", "release")[0] == 0
    assert run("verify", "release", "-s", "study.toml")[0] == 0
    code, said = run("apply", "release", "north.csv", "--counts", "north.counts", "-o", "north")
    assert (code, "needs the study that the part was counted by" in said) == (2, True)
    for part in ("north.csv", "south.parquet"):
        name = part.split(".")[0]
        given = ["--counts", f"{name}.counts", "-s", "study.toml", "-o", name]
        assert run("apply", "release", part, *given)[0] == 0
        code, said = run("apply", "release", part, *given)
        assert (code, "already holds a part, part.json; --force replaces it" in said) == (2, True)
        code, said = run("apply", "release", part, *given, "--unseen", "any")
        assert (code, "--unseen is not for a part" in said) == (2, True)
        code, said = run("apply", "release", part, *given, "--order", "kept")
        assert (code, "--order is not for a part" in said) == (2, True)
        about = json.loads(Path(name, "part.json").read_text())
        assert about["table"]["order"] == "random"  # as the study says, or does not
    assert run("verify", "release", "--parts", "north", "south")[0] == 0
    assert run("verify", "release", "--parts", "north")[0] == 1
    code, said = run("verify", "north")
    assert (code, "is a part of a release, whose policy is about all" in said) == (2, True)
    code, said = run("check", "release")
    assert (code, "released_counts" in said or "records" in said) == (0, True)
    code, said = run("run", "study.toml", "north.counts", "-o", "other")
    assert (code, "unexpected extra argument (north.counts)" in said) == (2, True)


GROUND = "age = {{ widths = [10, 20], ground = {} }}"


def grounded(place, ground):
    study = written(place)
    text = study.path.read_text()
    study.path.write_text(text.replace("age = { widths = [5, 10, 20] }", GROUND.format(ground)))
    return Study(study.path)


def test_parts_are_counted_at_the_ground(tmp_path):
    study = grounded(tmp_path, 5)
    steward(tmp_path, study)
    counted = PartCounts.read(tmp_path / "north.counts").tally
    assert counted["age"].nunique() < pd.read_csv(tmp_path / "north.csv")["age"].nunique()
    sites(tmp_path, study)
    verify_parts(tmp_path / "release", [tmp_path / "north", tmp_path / "south"])
    _, whole = publish(study, tmp_path / "whole")
    parts = json.loads((tmp_path / "release" / "release.json").read_text())
    assert parts["recoding"] == whole.to_dict()["recoding"]


def test_parts_that_were_counted_at_another_ground_are_refused(tmp_path):
    count_part(grounded(tmp_path, 5), tmp_path / "north.csv", tmp_path / "north.counts")
    study = grounded(tmp_path, 2)
    with pytest.raises(InputError, match=r"its grounds are 'age = 5', those of .* are 'age = 2'"):
        publish_counts(study, [tmp_path / "north.counts"], tmp_path / "release")
    text = study.path.read_text().replace("widths = [10, 20]", "cuts = [[40]]")
    study.path.write_text(text.replace("ground = 2", "ground = { quantiles = 9 }"))
    with pytest.raises(InputError, match="quantiles of 'age' follow from the records"):
        count_part(Study(study.path), tmp_path / "north.csv", tmp_path / "b.counts")


def multiplied(path, times):
    """The counts of a file as of so many times as many people."""
    counts = parquet.read_table(path)
    place = counts.num_columns - 1
    larger = pa.array(counts.column(place).to_numpy() * times)
    parquet.write_table(counts.set_column(place, counts.schema.field(place), larger), path)
    return int(larger.to_numpy().sum())


SQUARES = 'method = "full-domain"\n[objective]\nname = "discernibility"'
REFUSED = {
    RECODINGS[2]: "'boxes' holds a number for each size that a class may have, and takes up to",
    SQUARES: "'discernibility' adds squares of class sizes, exactly for up to 3,037,000,499 rec",
}
"""What takes no billions, and why."""


@pytest.mark.parametrize("recoding", [*RECODINGS[:3], SQUARES])
def test_counts_of_billions_take_memory_by_combination(tmp_path, recoding):
    study = written(tmp_path, recoding=recoding)
    files = [counts_at(tmp_path, part) for part in ("north.csv", "south.parquet")]
    for part, file in zip(("north.csv", "south.parquet"), files, strict=True):
        count_part(study, tmp_path / part, file)
    records = sum(multiplied(file, 2**31) for file in files)
    if recoding not in REFUSED:  # what is compiled takes memory, and long where it is traced
        publish_counts(study, files, tmp_path / "compiled")
    tracemalloc.start()
    try:
        if recoding in REFUSED:
            with pytest.raises(InputError, match=REFUSED[recoding]):
                publish_counts(study, files, tmp_path / "release")
        else:
            release, _ = publish_counts(study, files, tmp_path / "release")
            assert release.released == records
            assert release.privacy[0].worst >= 2**31
        assert tracemalloc.get_traced_memory()[1] < 2**27
    finally:
        tracemalloc.stop()
