"""What others send: special files, bombs, endless lines, nested documents, formulas."""

import csv
import gzip
import json
import os
import random
import shutil
import socket
import tracemalloc
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lengths import at_length

from anonymizer import Hierarchy, KAnonymity
from anonymizer.errors import AnonymizerError, InputError
from anonymizer.hierarchy import partition
from anonymizer.hierarchy.reading import _plain_columns, _rows
from anonymizer.hierarchy.rules import ListedHierarchy
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.manifest import Manifest
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release
from anonymizer.risk.audit import audit_files
from anonymizer.tables.files import Format, GivenFormat, describe_file
from anonymizer.tables.reading import RATIO, Cap, open_regular, parsed_json, parsed_toml
from anonymizer.tables.spreadsheet import disarmed, formulas, rearmed
from anonymizer.tables.values import rank
from anonymizer.utility import measure_file
from tests.whole import read_table

STUDY = """
[data]
path = "t.csv"
[quasi-identifiers]
q = {hierarchy}
[sensitive]
attributes = ["s"]
[[privacy]]
model = "k-anonymity"
k = 2
{more}
"""
PLAIN = "q,s\n" + "".join(f"v{i % 4},{'ab'[i % 2]}\n" for i in range(16))


def lay(directory, hierarchy='"suppress"', more="", table=PLAIN):
    (directory / "t.csv").write_text(table, newline="")
    path = directory / "study.toml"
    path.write_text(STUDY.format(hierarchy=hierarchy, more=more))
    return path


@pytest.fixture
def refused(run):
    def refused(*arguments, match):
        code, _, err = run(*arguments)
        assert code == 2
        assert err.count("\n") == 1
        assert len(err) < 1000
        assert "internal error" not in err
        assert match in err

    return refused


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A study and its release, of which each test has a copy."""
    directory = tmp_path_factory.mktemp("plain")
    publish(Study(lay(directory)), directory / "out")
    return directory


# Special files


def special(directory, kind):
    path = directory / "special"
    if kind == "device":
        return Path("/dev/zero")
    if kind == "link":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    else:
        path.mkdir()
    return path


@pytest.mark.parametrize("kind", ["device", "link", "pipe", "socket", "directory"])
def test_special_files_are_refused_wherever_a_path_is_read(tmp_path, kind, refused):
    path = special(tmp_path, kind)
    kinds = {"link": "a device", "directory": "directory"}
    match = kinds.get(kind, f"it is a {kind}, not a file")
    study = lay(tmp_path)
    refused("run", path, "-o", tmp_path / "out", match=match)
    refused("run", lay(tmp_path, f'"{path}"'), "-o", tmp_path / "out", match=match)
    refused("check", path, "-s", lay(tmp_path), match="there is no table in")
    study = lay(tmp_path, more=f'[[privacy]]\nmodel = "k-map"\nk = 2\npopulation = "{path}"')
    refused("run", study, "-o", tmp_path / "out", match="there is no table in")
    publish(Study(lay(tmp_path)), tmp_path / "out")
    refused("audit", tmp_path / "out", "-a", path, match="there is no table in")
    similar = ["--similarity", f"s={path}"]
    refused("audit", tmp_path / "out", "-a", tmp_path / "t.csv", *similar, match=match)
    (tmp_path / "out" / "release.json").unlink()
    (tmp_path / "out" / "release.json").symlink_to(path)
    refused("audit", tmp_path / "out", "-a", tmp_path / "t.csv", match=match)


def test_a_file_that_becomes_a_pipe_before_it_is_opened(tmp_path, monkeypatch):
    plain, pipe = tmp_path / "plain", special(tmp_path, "pipe")
    plain.write_text("x")
    looked = plain.stat()
    monkeypatch.setattr(os, "stat", lambda path: looked)
    with pytest.raises(OSError, match="it is a pipe, not a file"):
        open_regular(pipe)


# Sizes


@pytest.mark.parametrize("stated", ["0", "-1", "x", "1e3", ""])
def test_a_limit_that_is_none(monkeypatch, stated):
    monkeypatch.setenv("ANONYMIZER_MAX_X", stated)
    with pytest.raises(InputError, match="ANONYMIZER_MAX_X must be a whole number"):
        _ = Cap("ANONYMIZER_MAX_X", 3).value


@pytest.mark.parametrize(
    ("variable", "most"),
    [
        ("ANONYMIZER_MAX_STUDY", "10"),
        ("ANONYMIZER_MAX_HIERARCHY", "5"),
        ("ANONYMIZER_MAX_TABLE", "20"),
        ("ANONYMIZER_MAX_COLUMNS", "1"),
    ],
)
def test_limits_are_stated_and_can_be_raised(tmp_path, run, refused, monkeypatch, variable, most):
    (tmp_path / "q.csv").write_text("v0;x\nv1;x\nv2;y\nv3;y\n")
    study = lay(tmp_path, '"q.csv"')
    monkeypatch.setenv(variable, most)
    refused("run", study, "-o", tmp_path / "out", match=f"{variable} in the environment raises")
    monkeypatch.setenv(variable, "1000")
    assert run("run", study, "-o", tmp_path / "out")[0] == 0
    monkeypatch.setenv("ANONYMIZER_MAX_MANIFEST", "100")
    refused("audit", tmp_path / "out", "-a", tmp_path / "t.csv", match="ANONYMIZER_MAX_MANIFEST")


def test_parquet_has_the_limit_of_a_table(tmp_path, monkeypatch):
    pa.parquet.write_table(pa.table({"q": ["v0"] * 1000}), tmp_path / "t.parquet")
    monkeypatch.setenv("ANONYMIZER_MAX_TABLE", "500")
    with pytest.raises(InputError, match="ANONYMIZER_MAX_TABLE"):
        read_table(tmp_path / "t.parquet", Format(parquet=True))


@pytest.mark.parametrize("content", [b"\0", b"a" * 1021 + b",b\n"])
def test_a_bomb_is_refused_early_and_in_little_memory(tmp_path, content):
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb", 5) as file:
        file.write(b"q,s\n")
        for _ in range(64):
            file.write(content * (2**20 // len(content)))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"ANONYMIZER_MAX_(RATIO|LINE)"):
        read_table(path, describe_file(path, GivenFormat(",")))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 64 * 2**20


def test_what_compresses_well_and_is_small_is_read(tmp_path):
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("q,s\n" + "v,a\n" * 100_000)
    assert path.stat().st_size * RATIO.value < 400_000
    assert len(read_table(path, describe_file(path), ["q"])) == 100_000


# Lines without end


@pytest.mark.parametrize(
    "line",
    ["x" * 17_000_000, "," * 1_000_000, '"' + "x" * 17_000_000, "x" * 20_000],
    ids=["field", "commas", "quote", "name"],
)
def test_one_line_is_refused_as_such(tmp_path, refused, line):
    study = lay(tmp_path, table=line)
    refused("run", study, "-o", tmp_path / "out", match="cannot read")


def test_many_names_are_not_compared(monkeypatch, tmp_path, refused):
    table = ",".join(f"diagnosi{i}" for i in range(50_000))
    lay(tmp_path, table=table + "\n")
    monkeypatch.setattr("anonymizer.errors.get_close_matches", lambda *_, **__: 1 / 0)
    refused("run", tmp_path / "study.toml", "-o", tmp_path / "out", match="has no column 'q'")


# Large hierarchies


@pytest.fixture
def few(monkeypatch):
    """Lists of more than six values count as long."""
    monkeypatch.setattr(partition, "MOST_LISTED", 6)


def listed(directory, rows=24):
    text = "".join(f"v{i};g{i // 2};h{i // 12}\n" for i in range(rows))
    (directory / "q.csv").write_text(text)


def told(directory, search=""):
    listed(directory)
    study = Study(lay(directory, '"q.csv"', search))
    return study, publish(study, directory / "out", force=True)[1].to_dict()["recoding"]["q"]


def test_a_long_hierarchy_is_told_as_far_as_the_release_shows_it(tmp_path, few):
    _, groups = told(tmp_path)
    assert [group["label"] for group in groups] == ["v0", "v1", "v2", "v3"]
    fixed = '[recoding]\nmethod = "fixed"\nlevels = {{ q = {} }}'
    _, groups = told(tmp_path, fixed.format(1))
    assert groups == [
        {"label": "g0", "values": ["v0", "v1"]},
        {"label": "g1", "values": ["v2", "v3"]},
    ]
    _, (group,) = told(tmp_path, fixed.format(2))
    values = sorted(f"v{i}" for i in range(12))
    assert (group["label"], group["listed"]) == ("h0", 12)
    assert group["sha256"] == partition.digest_of_values(values)
    assert "values" not in group


def test_short_hierarchies_are_told_whole(tmp_path):
    _, groups = told(tmp_path, '[recoding]\nmethod = "fixed"\nlevels = { q = 2 }')
    assert [(group["label"], len(group["values"])) for group in groups] == [("h0", 12), ("h1", 12)]


def test_a_long_list_is_filled_in_from_the_study(tmp_path, few):
    study, _ = told(tmp_path, '[recoding]\nmethod = "fixed"\nlevels = { q = 2 }')
    with pytest.raises(InputError, match="name the study of the release with --study"):
        audit_files([tmp_path / "out"], [tmp_path / "t.csv"])
    found = audit_files([tmp_path / "out"], [tmp_path / "t.csv"], studies=[study])
    assert found.satisfied
    manifest = Manifest.read(tmp_path / "out" / "release.json")
    (group,) = manifest.completed(study.hierarchies).recoding["q"]
    assert sorted(group.values) == sorted(f"v{i}" for i in range(12))
    (tmp_path / "q.csv").write_text((tmp_path / "q.csv").read_text().replace("v11;", "w11;"))
    with pytest.raises(InputError, match="is about another hierarchy of column 'q'"):
        audit_files(
            [tmp_path / "out"], [tmp_path / "t.csv"], studies=[Study(tmp_path / "study.toml")]
        )


def test_a_cut_through_a_long_hierarchy_is_read_back(tmp_path, few):
    study, groups = told(tmp_path, '[recoding]\nmethod = "cut"')
    taxonomy = study.hierarchies["q"].over("q", ["v0", "v1", "v2", "v3"])
    manifest = Manifest.read(tmp_path / "out" / "release.json")
    cut = manifest.recoding_over({"q": taxonomy})["q"]
    assert {cut.labels[cut.groups[taxonomy.codes[f"v{i}"]]] for i in range(4)} <= {
        group["label"] for group in groups
    }
    assert measure_file(study, tmp_path / "out" / "released.csv", targets=())


def test_values_that_are_listed_alone_are_transformed(few):
    rows = [[f"v{i}", f"g{i // 2}", "*"] for i in range(24)]
    anonymizer = Anonymizer({"q": Hierarchy.from_rows(rows)}, privacy=[KAnonymity(2)], sensitive=())
    anonymizer.set_params(objective="loss")
    anonymizer.fit(pd.DataFrame({"q": ["v0", "v1", "v2", "v3"]}))
    assert set(anonymizer.transform(pd.DataFrame({"q": ["v22", "v23"]}))["q"]) == {"g11"}


FIELD = st.text(st.sampled_from('ab1.0 *"\r\n;'), max_size=4)


@given(st.lists(st.lists(FIELD, min_size=1, max_size=3), min_size=1, max_size=6), st.booleans())
def test_plain_columns_are_what_the_strict_reader_gives(rows, plain):
    text = "\n".join(";".join(row) for row in rows)
    text = text.replace('"', "").replace("\r", "") if plain else text
    found = _plain_columns(text, ";")
    if found is not None:
        strict = _rows(text, ";", Path("x"))
        assert found == [list(column) for column in zip(*strict, strict=True)]


@given(st.data())
def test_partitions_of_a_table_are_those_of_its_labels(data):
    number = data.draw(st.integers(1, 8))
    fine = data.draw(st.lists(st.sampled_from("ab*"), min_size=number, max_size=number))
    coarse = {"*": "*"} | {label: data.draw(st.sampled_from("x*")) for label in "ab"}
    rows = [[str(i), label, coarse[label]] for i, label in enumerate(fine)]
    rule = ListedHierarchy.by_rows(rows)
    missing = data.draw(st.booleans())
    taxonomy = rule.over("q", ["0", None] if missing else ["0"])
    keys = sorted([*map(str, range(number)), *[None] * missing], key=rank)
    assert list(taxonomy.codes) == keys
    for level, found in enumerate(taxonomy.levels[1:]):
        expected = partition.Partition.of([rule.labels_of(key)[level] for key in keys])
        assert found.labels == expected.labels
        assert found.groups.tolist() == expected.groups.tolist()


# Documents

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("more", "match"),
    [
        (f"[recoding]\ngroup = {DEEP}", "nested too deeply"),
        (f"[recoding]\ngroup = {'[' * 60}{']' * 60}", "nested too deeply"),
        (f"[search]\ntime-limit = 1{'0' * 299}", "must be a number of seconds above 0"),
        (f"[search]\ntime-limit = 1{'0' * 5000}", "beyond any limit"),
        (f"[search]\ntime-limit = 1{'0' * 400}", "more than 300 digits"),
        ("[recoding]\nmin-records = 1" + "0" * 40, ""),
        (f"[search]\n{'x' * 5000} = 1", "unknown key 'xxx"),
        (f"[masking]\nmethod = 'pram'\nalphabet = {'[' * 30}{']' * 30}", ""),
    ],
)
def test_studies_that_nobody_would_write(tmp_path, run, more, match):
    code, _, err = run("run", lay(tmp_path, more=more), "-o", tmp_path / "out")
    assert code in (1, 2)
    assert err.count("\n") == 1
    assert len(err) < 1000
    assert match in err
    assert "internal error" not in err


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("q.toml", "prefixes = [1" + "0" * 40 + "]", "must be lengths of at most 1,000"),
        ("q.toml", f"cuts = {DEEP}", "nested too deeply"),
        ("q.toml", "widths = [1" + "0" * 5000 + "]", "beyond any limit"),
        ("q.toml", "x" * 5000 + " = 1", "unknown key a text of 5000 letters"),
        ("q.csv", ";;", "the hierarchy file lists no values"),
        ("q.csv", ";;\n ; ;\n", "the hierarchy file lists no values"),
    ],
)
def test_hierarchies_that_nobody_would_write(tmp_path, refused, name, text, match):
    (tmp_path / name).write_text(text)
    refused("run", lay(tmp_path, f'"{name}"'), "-o", tmp_path / "out", match=match)


@pytest.mark.parametrize("recoding", ["merged-cells", "boxes"])
def test_classes_of_their_own_have_no_loss(tmp_path, refused, recoding):
    (tmp_path / "q.toml").write_text("widths = [10, 20]")
    table = "q,s\n" + "".join(f"{i},a\n" for i in range(40))
    more = f'[recoding]\nmethod = "{recoding}"\n[objective]\nname = "loss"'
    study = lay(tmp_path, '"q.toml"', more, table)
    match = "the objective loss is not made for recodings beyond levels"
    refused("run", study, "-o", tmp_path / "out", match=match)


@pytest.mark.parametrize(
    "text",
    ["[NaN]", "[Infinity]", "[1e999]", '{"a": 1, "a": 2}', r'["\ud800"]', DEEP, "[1" + "0" * 300],
)
def test_json_that_nobody_would_write(text):
    with pytest.raises(ValueError, match=r"."):
        parsed_json(text if text.startswith(DEEP) or text[-1] in "]}" else text + "]")


def test_json_and_toml_that_people_write():
    assert parsed_json(r'{"a": [1, 2.5, null, "\ud83d\ude00"]}') == {"a": [1, 2.5, None, "😀"]}
    assert parsed_toml("a = [[1], [2]]") == {"a": [[1], [2]]}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("columns", "missing_values"), [{}]),
        (("columns", "separator"), ";;"),
        (("columns", "missing"), "never"),
        (("table", "file"), "../t.csv"),
        (("table", "file"), "/etc/passwd"),
        (("table", "file"), ".."),
        (("table", "sha256"), "x"),
        (("suppressed_class",), "lost"),
        (("levels",), {"q": -1}),
        (("levels",), {"q": 10**40}),
        (("levels",), {"other": 1}),
        (("recoding", "q"), [{}]),
        (("recoding", "q"), [{"label": "x", "from": 1}]),
        (("recoding", "q"), [{"label": "x", "from": 2, "to": 1}]),
        (("recoding", "q"), [{"label": "x", "listed": 3}]),
        (("recoding", "q"), [{"label": "x", "level": "1"}]),
        (("regions",), [{"q": "nowhere"}]),
        (("privacy",), [{"model": ["k"]}]),
        (("search",), []),
    ],
)
def test_a_manifest_of_another_shape(plain, tmp_path, refused, place, value):
    shutil.copytree(plain, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "out" / "release.json"
    manifest = json.loads(path.read_text())
    inside = manifest
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    path.write_text(json.dumps(manifest))
    match = "is damaged: it is no manifest of a release"
    refused("audit", tmp_path / "out", "-a", tmp_path / "t.csv", match=match)


# Formulas

ARMED = ["=1+1", "+1+1", "-x", "@sum", "\t=1", "\r=1", "--"]


@pytest.mark.parametrize("text", ARMED)
def test_formulas_by_hand(text):
    table = pd.DataFrame({"a": [text, "plain", None, text]})
    assert formulas(table) == {"a": 2}
    assert list(disarmed(table)["a"][[0, 1, 3]]) == ["'" + text, "plain", "'" + text]
    assert formulas(disarmed(table)) == {}


@pytest.mark.parametrize("text", ["-5", "+5", "-0.5", "-1e3", "a=b", "", "'", "5-3", "[-5, 0)"])
def test_what_is_no_formula(text):
    table = pd.DataFrame({"a": [text]})
    assert formulas(table) == {}
    assert list(disarmed(table)["a"]) == [text]


@given(st.lists(st.text(st.sampled_from("'=+-@\t\r15.x"), max_size=5), max_size=8))
def test_disarming_loses_nothing(texts):
    table = pd.DataFrame({"a": pd.Series(texts, dtype=object)})
    safe = disarmed(table)
    assert len(set(safe["a"])) == len(set(texts))
    assert list(rearmed(safe)["a"]) == texts
    assert formulas(safe) == {}


DANGEROUS = "q,s,=note\n" + "".join(f"={i % 2},-{'ab'[i // 2 % 2]},@x\n" for i in range(16))
"""Two quasi-identifying formulas, two sensitive ones, and a name."""


def test_formulas_are_written_as_they_are_and_reported(tmp_path, run):
    study = lay(tmp_path, table=DANGEROUS)
    code, out, _ = run("run", study, "-o", tmp_path / "out")
    assert code == 0
    assert "A spreadsheet would run 49 cells of q, s, =note as formulas; csv-safe" in out
    lines = (tmp_path / "out" / "released.csv").read_text().splitlines()
    assert (lines[0], sorted(lines)) == ("q,s,=note", sorted(DANGEROUS.splitlines()))
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert manifest["spreadsheet"] == {"safe": False, "cells": {"q": 16, "s": 16, "=note": 17}}


@pytest.mark.parametrize("recoding", ["full-domain", "cut", "merged-cells"])
def test_a_safe_release_is_verified_audited_and_measured(tmp_path, run, recoding):
    (tmp_path / "q.csv").write_text("=0;=low;*\n=1;=low;*\n")
    more = f'[recoding]\nmethod = "{recoding}"\n[output]\ncsv-safe = true'
    study = lay(tmp_path, '"q.csv"', more, DANGEROUS)
    code, out, _ = run("run", study, "-o", tmp_path / "out")
    assert code == 0
    assert "spreadsheet would run" not in out
    with (tmp_path / "out" / "released.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:3] == ["q", "s", "'=note"]
    assert not any(cell[:1] in "=+-@" for row in rows for cell in row)
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert manifest["spreadsheet"]["safe"] is True
    assert {group["label"] for group in manifest["recoding"]["q"]} >= {row[0] for row in rows}
    table = tmp_path / "out" / "released.csv"
    assert verify_release(tmp_path / "out").satisfied
    assert verify_release(table, study).satisfied
    for named in ([], ["-s", study]):
        code = run("audit", tmp_path / "out", "-a", tmp_path / "t.csv", *named)[0]
        assert code == (0 if named else 3)  # minimality is known by the study alone
    if recoding != "merged-cells":
        assert run("quality", table, "-s", study, "--no-classifiers")[0] == 0


def test_a_safe_release_about_a_population(tmp_path, run):
    table = DANGEROUS.replace(",=note", ",n")
    (tmp_path / "people.csv").write_text(table)
    more = '[[privacy]]\nmodel = "k-map"\nk = 2\npopulation = "people.csv"\n'
    study = lay(tmp_path, '"suppress"', more + "[output]\ncsv-safe = true", table)
    assert run("run", study, "-o", tmp_path / "out")[0] == 0
    assert run("verify", tmp_path / "out" / "released.csv", "-s", study)[0] == 0


def test_a_column_with_a_role_keeps_its_name(tmp_path, refused):
    study = lay(tmp_path, more="[output]\ncsv-safe = true", table=PLAIN)
    study.write_text(study.read_text().replace("q = ", '"=q" = '))
    (tmp_path / "t.csv").write_text("=" + PLAIN)
    match = "a spreadsheet would run the name of column '=q'; rename it"
    refused("run", study, "-o", tmp_path / "out", match=match)


# Mutations

PIECES = [
    b"\0",
    b"\xff",
    b'"',
    b"\n",
    b"[",
    b"]",
    b"{",
    b"-1",
    b"1e999",
    b"9" * 50,
    b"'",
    b"\xef\xbb\xbf",
]


def mutated(content, rng):
    """One to three bytes or stretches changed, doubled, dropped or put in."""
    for _ in range(rng.randint(1, 3)):
        place, length = rng.randrange(len(content) + 1), rng.randint(0, 12)
        piece = rng.choice([*PIECES, content[place : place + length] * 2, b""])
        content = content[:place] + piece + content[place + rng.choice([0, 1, length]) :]
    return content


def parses(read, path, content):
    """Read what was changed: refused in one short line, or read."""
    rng = random.Random(15)
    for _ in range(at_length(100, 1000)):
        path.write_bytes(mutated(content, rng))
        try:
            read(path)
        except AnonymizerError as error:
            assert "\n" not in " ".join(str(error).split())  # noqa: PT017
            assert len(str(error)) < 1000  # noqa: PT017


def test_mutated_studies(tmp_path):
    (tmp_path / "q.csv").write_text("v0;x\n")
    more = '[search]\ntime-limit = 5\n[recoding]\nmethod = "fixed"\nlevels = {q = 1}\n'
    path = lay(tmp_path, '"q.csv"', more + '[objective]\nname = "loss"')

    def read(path):
        study = Study(path)
        study.anonymizer().run()
        _ = study.published, study.format_of(study.data_path)

    read(path)
    parses(read, path, path.read_bytes())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.toml", "widths = [5, 10]\norigin = 3\n"),
        ("q.toml", "cuts = [[1, 2, 3], [2]]\n"),
        ("q.toml", "prefixes = [4, 2]\n"),
        ("q.csv", "value;level\n1;a;*\n2;a;*\n3;b;*\n"),
        ("q.csv", '"x ",1\n"y, z",1\n'),
    ],
)
def test_mutated_hierarchies(tmp_path, name, text):
    def read(path):
        Hierarchy.read(path).over("q", ["1", None])

    parses(read, tmp_path / name, text.encode())


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_mutated_tables(tmp_path, name):
    path = tmp_path / name
    frame = pd.read_csv(lay(tmp_path).parent / "t.csv")
    if name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    content = path.read_bytes()
    parses(lambda path: read_table(path, describe_file(path), ["q"]), path, content)


def test_mutated_manifests(tmp_path):
    study = Study(lay(tmp_path, more='[recoding]\nmethod = "cut"'))
    publish(study, tmp_path / "out")
    path = tmp_path / "out" / "release.json"
    taxonomies = {"q": study.hierarchies["q"].over("q", ["v0", "v1", "v2", "v3"])}

    def read(path):
        Manifest.read(path).recoding_over(taxonomies)

    parses(read, path, path.read_bytes())


@pytest.mark.parametrize("text", ["a." * 200_000 + "a = 1", "x = {" + "b . " * 300 + "b = 1}"])
def test_keys_of_many_parts_are_refused_at_once(text):
    with pytest.raises(ValueError, match="nested too deeply"):
        parsed_toml(text)


def test_numbers_of_a_list_are_no_parts_of_a_key():
    assert len(parsed_toml(f"cuts = [{', '.join(f'{i}.5' for i in range(500))}]")["cuts"]) == 500


def test_safe_cells_and_an_order_of_what_they_were(tmp_path):
    (tmp_path / "t.csv").write_text("q,s\n" + "a,=a\na,-b\n" * 5)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "t.csv"\n[quasi-identifiers]\nq = "suppress"\n[sensitive]\n'
        'attributes = ["s"]\n[[privacy]]\nmodel = "t-closeness"\nt = 1\ndistance = "ordered"\n'
        'order = ["=a", "-b"]\n[output]\ncsv-safe = true\n'
    )
    with pytest.raises(InputError, match="csv-safe = true changes values that t-closeness lists"):
        publish(Study(tmp_path / "study.toml"), tmp_path / "out")


def test_no_directory_is_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text("")
    code, _, message = run("run", "study.toml", "-o", "")
    assert (code, "names no directory" in message) == (2, True)


def test_an_empty_text_is_no_hierarchy():
    with pytest.raises(InputError, match="not an empty text"):
        Hierarchy.of("")
