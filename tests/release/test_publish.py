import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest
from checker import classes_of, least_close, least_diverse, rows_of, smallest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import LONG, at_length
from oddities import JOBS, PERSON, STUDY, lay, people

from anonymizer.errors import AnonymizerError, InputError, PolicyBrokenError, PolicyUnreachableError
from anonymizer.release.publish import publish
from anonymizer.release.verification.verification import verify_release
from anonymizer.tables.relations.embedded.stored import Stored


def worst(rows):
    """k, l and t of a table, by nothing but counting."""
    classes = classes_of(rows, ["age", "job"], "disease")
    return smallest(classes), least_diverse(classes), least_close(classes)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The records of a release in their order."""
    directory = tmp_path_factory.mktemp("kept")
    publish(lay(directory, people(), wants(KEPT)), directory / "out")
    return rows_of(directory / "out" / "released.csv")


def test_a_release_recounted_by_hand(tmp_path):
    study = lay(tmp_path, people())
    release, manifest = publish(study, tmp_path / "out")
    rows = rows_of(tmp_path / "out" / "released.csv")
    k, l, t = worst(rows)  # noqa: E741
    assert (k >= 3, l >= 1.8 - 1e-9, t <= 0.5 + 1e-9) == (True, True, True)
    assert [verdict.worst for verdict in release.privacy] == pytest.approx([k, l, t], abs=1e-9)
    assert release.classes == len(classes_of(rows, ["age", "job"], "disease"))
    public = json.loads((tmp_path / "out" / "release.json").read_text())
    assert manifest.public.to_dict() == release.manifest.to_dict() | public == public
    steward = json.loads((tmp_path / "out.steward.json").read_text())
    assert steward == manifest.to_dict() | {"release": steward["release"]}
    found = verify_release(tmp_path / "out" / "released.csv", study)
    assert [verdict.worst for verdict in found.verdicts] == [
        verdict.worst for verdict in release.privacy
    ]


def test_other_columns_stay_as_they_are(kept):
    raw, rows = list(people()), kept
    assert list(rows[0]) == ["first", "disease", "age", "other", "job", "last"]
    for column in ["first", "other", "last"]:
        assert [row[column] for row in rows] == [row[column] for row in raw]
    assert [row["disease"] for row in rows] == [row["disease"].replace("?", "") for row in raw]


def test_a_released_value_covers_the_raw_one(kept):
    groups = dict(line.split(";") for line in JOBS.split())
    for before, after in zip(people(), kept, strict=True):
        job, age = before["job"].replace("?", ""), before["age"]
        assert after["job"] in {job, groups.get(job), "*"}
        if after["age"] not in {age, "*"}:
            low, high = after["age"].strip("[)").split(", ")
            assert int(low) <= int(age) < int(high)


def test_the_manifest_names_its_table_and_neither_file_tells_an_identifier(tmp_path):
    _, manifest = publish(lay(tmp_path, people()), tmp_path / "out")
    digest = hashlib.sha256((tmp_path / "out" / "released.csv").read_bytes()).hexdigest()
    assert (manifest.table.file, manifest.table.sha256) == ("released.csv", digest)
    for path in (tmp_path / "out").iterdir():
        assert not any(f"n{i}" in path.read_text() for i in range(120))


def test_parquet_is_released_as_parquet(tmp_path):
    raw = list(people())
    study = lay(tmp_path, raw, wants(KEPT, "people.parquet"))
    frame = pd.DataFrame(raw)
    frame["last"] = frame["last"].astype(int)
    frame.to_parquet(tmp_path / "people.parquet")
    publish(study, tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "release.json",
        "released.parquet",
    ]
    back = pd.read_parquet(tmp_path / "out" / "released.parquet")
    assert back["other"].tolist() == [row["other"] for row in raw]
    assert back["last"].tolist() == list(range(120))
    k, l, t = worst(back.fillna("").to_dict("records"))  # noqa: E741
    assert (k >= 3, l >= 1.8 - 1e-9, t <= 0.5 + 1e-9) == (True, True, True)


def test_the_separator_of_the_table_is_kept(tmp_path):
    study = lay(tmp_path, people(), STUDY.replace("missing = ", 'separator = ";"\nmissing = '))
    pd.DataFrame(people()).to_csv(tmp_path / "people.csv", sep=";", index=False)
    publish(study, tmp_path / "out")
    header = (tmp_path / "out" / "released.csv").read_text().partition("\n")[0]
    assert header == "first;disease;age;other;job;last"


@pytest.mark.parametrize("top", ["", ";any"])
def test_a_lone_missing_value_can_be_hidden(tmp_path, top):
    jobs = JOBS.replace("\n", f"{top}\n")
    rows = [{**row, "job": "?" if i == 7 else row["job"]} for i, row in enumerate(people(False))]
    publish(lay(tmp_path, rows, jobs=jobs), tmp_path / "out")
    assert worst(rows_of(tmp_path / "out" / "released.csv"))[0] >= 3


@pytest.mark.parametrize("recoding", ["full-domain", "variable-range", "cut"])
def test_a_lone_missing_number_can_be_hidden(tmp_path, recoding):
    rows = [{**row, "age": "" if i == 7 else row["age"]} for i, row in enumerate(people(False))]
    publish(lay(tmp_path, rows, STUDY + f'[recoding]\nmethod = "{recoding}"\n'), tmp_path / "out")
    assert worst(rows_of(tmp_path / "out" / "released.csv"))[0] >= 3


@pytest.mark.parametrize("recoding", ["full-domain", "variable-range", "cut"])
def test_a_column_without_a_single_value_can_be_released(tmp_path, recoding):
    rows = [{**row, "age": ""} for row in people(False)]
    publish(lay(tmp_path, rows, STUDY + f'[recoding]\nmethod = "{recoding}"\n'), tmp_path / "out")
    assert len(rows_of(tmp_path / "out" / "released.csv")) == 120


@settings(max_examples=at_length(8, 40))
@given(
    st.lists(PERSON, min_size=1, max_size=12),
    st.integers(1, 3),
    st.floats(1, 2),
    st.sampled_from(["drop", "category"]),
    st.sampled_from(["full-domain", "variable-range", "cut"]),
)
def test_what_is_released_satisfies_the_policy(tmp_path_factory, rows, k, l, missing, recoding):  # noqa: E741
    directory = tmp_path_factory.mktemp("law")
    text = STUDY.replace("k = 3", f"k = {k}").replace("l = 1.8", f"l = {l}")
    text = text.replace("t = 0.5", "t = 2").replace('"category"', f'"{missing}"')
    text += f'[recoding]\nmethod = "{recoding}"\n'
    study = lay(directory, rows, text)
    try:
        release, _ = publish(study, directory / "out")
    except AnonymizerError:
        assert not (directory / "out").exists()
        return
    released = rows_of(directory / "out" / "released.csv")
    found_k, found_l, found_t = worst(released)
    assert (found_k >= k, found_l >= l - 1e-6, found_t <= 2 + 1e-6) == (True, True, True)
    assert release.released == len(released)
    assert "name" not in released[0]


# Blanks around a value do not make another value of it; nobody who reads the table sees them.
@pytest.mark.parametrize("twin", ["flu ", " flu", "flu\t", "flu\u00a0"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_blanks_do_not_make_a_class_diverse(tmp_path, twin, suffix):
    rows = [
        {"name": f"n{i}", "age": "30", "job": "vet", "disease": ["flu", twin][i % 2]}
        for i in range(10)
    ]
    study = lay(tmp_path, rows, STUDY.replace("people.csv", f"people.{suffix}"))
    if suffix == "parquet":
        pd.DataFrame(rows).to_parquet(tmp_path / "people.parquet")
    with pytest.raises(PolicyUnreachableError, match=r"l = 1\.8 is above"):
        publish(study, tmp_path / "out")


# The released file is held against the policy as it can be read back


def torn(monkeypatch, tear):
    """Have every released file changed once it is written."""
    write = Stored.write

    def torn_write(table, path, *options):
        write(table, path, *options)
        tear(pd.read_csv(path, dtype=str, keep_default_na=False)).to_csv(path, index=False)

    monkeypatch.setattr(Stored, "write", torn_write)


def lone_class(frame):
    frame.loc[0, ["age", "job"]] = ["alone", "alone"]
    return frame


def one_disease(frame):
    return frame.assign(disease="flu")


def no_records(frame):
    return frame.iloc[:0]


def one_record_less(frame):
    return frame.iloc[:-1]


def no_column(frame):
    return frame.drop(columns="age")


TORN = [
    (lone_class, PolicyBrokenError, "k-anonymity fails in [12] of"),
    (one_disease, PolicyBrokenError, "entropy-l-diversity about 'disease' fails in"),
    (no_records, InputError, "no records"),
    (one_record_less, InputError, "file has other records than were released"),
    (no_column, InputError, "no column 'age'"),
]


@pytest.mark.parametrize(
    ("tear", "error", "message", "before"),
    [
        (*torn, before)
        for place, torn in enumerate(TORN)
        for before in ([False, True] if LONG else [place % 2 == 0])
    ],
)
def test_a_file_that_breaks_the_policy_is_not_released(
    tmp_path, monkeypatch, tear, error, message, before
):
    study = lay(tmp_path, people())
    if before:
        publish(study, tmp_path / "out")
    left = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    torn(monkeypatch, tear)
    with pytest.raises(error, match=message):
        publish(study, tmp_path / "out", force=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == left
    assert (tmp_path / "out").exists() == before


def test_a_file_that_keeps_an_identifier_is_not_released(tmp_path, monkeypatch):
    study = lay(tmp_path, people())
    torn(monkeypatch, lambda frame: frame.assign(name="n"))
    with pytest.raises(PolicyBrokenError, match="identifier 'name'"):
        publish(study, tmp_path / "out")


def test_a_disk_that_fills_up_leaves_nothing(tmp_path, monkeypatch):
    write = Stored.write

    def fill(table, path, *options):
        write(table, path, *options)
        with Path("/dev/full").open("w") as file:
            file.write("more")

    monkeypatch.setattr(Stored, "write", fill)
    with pytest.raises(InputError, match="No space left on device; nothing was written"):
        publish(lay(tmp_path, people()), tmp_path / "out")
    assert not (tmp_path / "out").exists()


OURS = {"table": {"file": "released.csv", "sha256": ""}, "versions": {"anonymizer": "1"}}


@pytest.mark.parametrize(
    "content",
    [
        "mine",
        "",
        "[]",
        "{}",
        json.dumps({"version": "2.1", "table": "released.csv"}),
        json.dumps({**OURS, "versions": {}}),
        json.dumps({**OURS, "table": {"file": "released.csv"}}),
        json.dumps({**OURS, "table": {"file": "other.csv", "sha256": ""}}),
        None,
    ],
)
def test_force_replaces_nothing_but_a_release_of_ours(tmp_path, content):
    study, out = lay(tmp_path, people()), tmp_path / "out"
    out.mkdir()
    (out / "released.csv").write_text("mine")
    if content is not None:
        (out / "release.json").write_text(content)
    before = {path.name: path.read_text() for path in out.iterdir()}
    message = r"out/release.* is no part of a release of ours, which alone --force replaces; move"
    with pytest.raises(InputError, match=message):
        publish(study, out, force=True)
    with pytest.raises(InputError, match="already holds a release"):
        publish(study, out)
    assert {path.name: path.read_text() for path in out.iterdir()} == before


def test_force_does_not_replace_a_table_next_to_a_release(tmp_path):
    study, out = lay(tmp_path, people()), tmp_path / "out"
    publish(study, out)
    (out / "released.parquet").write_text("mine")
    with pytest.raises(InputError, match=r"out/released\.parquet is no part of a release of ours"):
        publish(study, out, force=True)
    assert (out / "released.parquet").read_text() == "mine"


def test_a_directory_is_locked_while_a_run_lasts(tmp_path):
    study, said = lay(tmp_path, people()), []

    def second(doing, done, of):
        if doing == "reading the table":
            with pytest.raises(InputError, match="another run is writing to") as error:
                publish(study, tmp_path / "out")
            said.append(str(error.value))

    publish(study, tmp_path / "out", watch=second)
    assert said == [f"another run is writing to {tmp_path / 'out'}; wait until it has ended"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "release.json",
        "released.csv",
    ]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


# A quote that never closes swallows whole records, identifiers and all, into one field
@pytest.mark.parametrize("place", [3, 60, 118])
def test_a_swallowed_record_is_never_released(tmp_path, place):
    rows = [{**row, "first": "", "other": ""} for row in people()]
    study = lay(tmp_path, rows)
    text = (tmp_path / "people.csv").read_text()
    (tmp_path / "people.csv").write_text(text.replace(f",{place}\n", f',"{place}\n'))
    with pytest.raises(InputError, match="cannot read"):
        publish(study, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# The file that is written, its format and its parts


KEPT = 'order = "kept"'


def wants(output, path="people.csv"):
    return STUDY.replace("people.csv", path) + f"[output]\n{output}\n"


def texts_of(path):
    return pd.read_parquet(path).fillna("").to_dict("records")


def test_a_csv_table_is_released_as_parquet_and_the_other_way_round(kept, tmp_path):
    publish(lay(tmp_path, people(), wants(f'file = "released.parquet"\n{KEPT}')), tmp_path / "one")
    assert texts_of(tmp_path / "one" / "released.parquet") == kept
    pd.DataFrame(list(people())).to_parquet(tmp_path / "people.parquet")
    study = lay(tmp_path, people(), wants(f'file = "released.csv"\n{KEPT}', "people.parquet"))
    assert publish(study, tmp_path / "two")[1].table.file == "released.csv"
    assert rows_of(tmp_path / "two" / "released.csv") == kept


def test_a_table_in_parts_is_released_in_parts(tmp_path):
    whole = lay(tmp_path, people(), wants(f'file = "released.parquet"\n{KEPT}'))
    publish(whole, tmp_path / "whole")
    (tmp_path / "raw").mkdir()
    raw = pd.DataFrame(list(people()))
    for number in range(3):
        part = raw.iloc[number * 40 : (number + 1) * 40]
        part.to_parquet(tmp_path / "raw" / f"{number}.parquet")
    parts = wants(f'file = "released.parquet"\nparts = 11\n{KEPT}', "raw/*.parquet")
    _, manifest = publish(lay(tmp_path, people(), parts), tmp_path / "out")
    folder = tmp_path / "out" / "released.parquet"
    names = [f"part-{number:02}.parquet" for number in range(11)]
    assert sorted(path.name for path in folder.iterdir()) == names
    found = [row for name in names for row in texts_of(folder / name)]
    assert found == texts_of(tmp_path / "whole" / "released.parquet")
    digests = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]
    assert [(part.file, part.sha256) for part in manifest.table.parts] == [
        *zip(names, digests, strict=True)
    ]
    lines = "".join(f"{each}  {name}\n" for each, name in zip(digests, names, strict=True))
    assert manifest.table.sha256 == hashlib.sha256(lines.encode()).hexdigest()
    assert manifest.table_at(tmp_path / "out") == folder == manifest.table_at(folder)
    (folder / "part-11.parquet").write_bytes((folder / names[0]).read_bytes())
    with pytest.raises(InputError, match=r"was changed after it was released"):
        manifest.table_at(tmp_path / "out")


@pytest.mark.parametrize("out", ["raw", "raw/below"])
@pytest.mark.parametrize("path", ["raw", "raw/*.parquet"])
def test_a_release_is_never_among_the_files_of_its_table(tmp_path, path, out):
    if (path, out) == ("raw/*.parquet", "raw/below"):
        return
    (tmp_path / "raw").mkdir()
    pd.DataFrame(list(people())).to_parquet(tmp_path / "raw" / "0.parquet")
    study = lay(tmp_path, people(), wants("", path))
    with pytest.raises(InputError, match="would be among the files of the table"):
        publish(study, tmp_path / out)


def test_parts_are_of_parquet(tmp_path):
    study = lay(tmp_path, people(), wants("parts = 2"))
    with pytest.raises(InputError, match=r'parts is for Parquet; add file = "released\.parquet"'):
        publish(study, tmp_path / "out")
