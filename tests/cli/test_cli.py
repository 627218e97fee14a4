import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from forked import carried_out, start, unwarned

from anonymizer import cli
from anonymizer.cli import SUMMARIES, main
from anonymizer.release import output, publisher
from anonymizer.report import console
from anonymizer.tables.relations.embedded.stored import Stored
from anonymizer.version import __version__

# Planted in the identifier and in the sensitive column: no message may ever hold one of them.
NAME, DISEASE = SECRETS = "Nemo", "Morbus"
TABLE = "name,age,sex,disease,note\n" + "".join(
    f"{NAME}{i},{20 + i},{'fm'[i % 2]},{DISEASE}{i % 3},n{i}\n" for i in range(24)
)
STUDY = """\
[data]
path = "people.csv"
# data

[quasi-identifiers]
age = "age.csv"
sex = "suppress"

[sensitive]
attributes = ["disease"]

[identifiers]
attributes = ["name"]

[[privacy]]
model = "k-anonymity"
k = 4

[[privacy]]
model = "entropy-l-diversity"
l = 2
"""
AGES = "".join(f"{age};{age // 6 * 6}+;{age // 12 * 12}+\n" for age in range(12, 48))
FILES = {"study.toml": STUDY, "people.csv": TABLE, "age.csv": AGES}


@pytest.fixture
def study(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path / "study.toml"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def files(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


# What works


def test_a_release_by_hand(run, study, tmp_path):
    code, out, err = run("run", study, "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "Released 24 of 24 records" in out
    assert files(tmp_path / "out") == ["release.json", "released.csv"]
    released = pd.read_csv(tmp_path / "out" / "released.csv")
    assert released.columns.tolist() == ["age", "sex", "disease", "note"]
    assert {*released["note"]} == {f"n{i}" for i in range(24)}
    assert released.groupby(["age", "sex"]).size().min() >= 4


def test_json_is_the_manifest_alone(run, study, tmp_path):
    code, out, err = run("run", study, "-o", tmp_path / "out", "--json")
    assert (code, err) == (0, "")
    assert out == (tmp_path / "out" / "release.json").read_text()
    manifest = json.loads(out)
    assert manifest["table"]["file"] == "released.csv"
    assert all(verdict["satisfied"] for verdict in manifest["privacy"])


def test_the_same_study_gives_the_same_release(run, study, tmp_path):
    """To the last byte in the order of the table; else but for the order, which is drawn anew."""
    table = json.loads(run("run", study, "-o", tmp_path / "random", "--json")[1])["table"]
    study.write_text(study.read_text() + '[output]\norder = "kept"\n')
    outputs = [run("run", study, "-o", tmp_path / name, "--json")[1] for name in "ab"]
    assert outputs[0] == outputs[1]
    assert run("run", study, "-o", tmp_path / "c", "--json", "--jobs", 2)[1] == outputs[0]
    kept = json.loads(outputs[0])["table"]
    assert (table["order"], kept["order"]) == ("random", "kept")
    assert table["sha256"] != kept["sha256"]
    lines = [
        (tmp_path / name / "released.csv").read_text().splitlines() for name in ("random", "a")
    ]
    assert sorted(lines[0]) == sorted(lines[1])


def test_verify_accepts_what_run_released(run, study, tmp_path):
    run("run", study, "-o", tmp_path / "out")
    code, out, err = run("verify", tmp_path / "out" / "released.csv", "-s", study)
    assert (code, err) == (0, "")
    assert "NO" not in out
    code, out, err = run("verify", tmp_path / "out" / "released.csv", "-s", study, "--json")
    assert (code, err) == (0, "")
    assert [verdict["satisfied"] for verdict in json.loads(out)["privacy"]] == [True, True]


@pytest.mark.parametrize(("sign", "shown"), [("\\u0000", "\\x00"), ("\\u001b[31m", "\\x1b[31m")])
def test_what_a_terminal_would_carry_out_is_spelled_out_in_a_message(run, study, sign, shown):
    edit(study, "people.csv", f"peo{sign}ple.csv")
    code, out, err = run("run", study, "-o", study.parent / "out")
    assert (code, out) == (2, "")
    assert f"peo{shown}ple.csv" in err
    assert err.removesuffix("\n").isprintable()


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["run", "-h"], ["verify", "-h"]])
def test_help_and_version(run, arguments):
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert __version__ in out or "Usage" in out


def test_the_help_lists_each_command_in_one_line_by_what_it_is_for(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("--help")[1].splitlines()
    listed = lines[lines.index("Author:") : lines.index("  Examples:")]
    assert [line for line in listed if not line.startswith(" ")] == [
        *("Author:", "", "Release:", "", "Check:", "", "More:", "")
    ]
    summaries = dict(line.split(maxsplit=1) for line in listed if line.startswith(" "))
    assert summaries == SUMMARIES
    assert max(map(len, listed)) <= 80


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["chek", "t.csv"], "No such command 'chek'; did you mean 'check'?"),
        (
            ["measure"],
            "No such command 'measure'; did you mean check, risk, query-loss or quality?",
        ),
        (["tabulate"], "No such command 'tabulate'; --help lists the commands"),
        (["quality", "release"], "the file that names the original table, the roles of its col"),
        (["run", "s.toml", "-v"], "It goes before the command: anonymizer --verbose run"),
        (
            ["apply", "release", "t.csv"],
            "Missing option '--output' / '-o': where the release goes; "
            "for example, anonymizer apply january february.csv --output february\n",
        ),
        (
            ["hierarchy", "convert", "age.toml"],
            "for example, anonymizer hierarchy convert age.toml --table table.csv -o age.csv\n",
        ),
        (
            ["query-loss", "t.csv", "age>30"],
            "Got unexpected extra argument (age>30); usage: anonymizer query-loss [OPTIONS] TABLE; "
            'for example, anonymizer query-loss table.csv --query "age > 40" --group-by sex\n',
        ),
    ],
)
def test_a_slip_on_the_command_line_is_answered(capsys, arguments, hint):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert hint in capsys.readouterr().err


def test_as_a_program(study, tmp_path):
    refused = subprocess.run(
        [sys.executable, "-m", "anonymizer", "run", "none.toml", "-o", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "anonymizer: there is no study file none.toml\n"
    code, out, err = carried_out("run", study, "-o", tmp_path / "out", "--json")
    assert (code, unwarned(err)) == (0, "")
    assert out == (tmp_path / "out" / "release.json").read_text()
    edit(study, "k = 4", "k = 999")
    assert carried_out("run", study, "-o", tmp_path / "none")[0] == 1
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["runs[test]", "a[/b]c", "é", "a b", "[bold]"])
def test_the_report_names_the_directory(run, study, tmp_path, name):
    code, out, err = run("run", study, "-o", tmp_path / name)
    assert (code, err) == (0, "")
    assert f"The release is in {tmp_path / name}." in out


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_release_stands_though_its_report_cannot_be_printed(study, tmp_path, form):
    with Path("/dev/full").open("w") as full, (tmp_path / "errors").open("w") as errors:
        streams = {"out": full.fileno(), "err": errors.fileno()}
        start("run", study, "-o", tmp_path / "out", *form, **streams).wait()
    said = unwarned((tmp_path / "errors").read_text())
    assert "internal error" not in said
    assert len(said.splitlines()) <= 1
    assert (tmp_path / "out" / "release.json").exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [("models >&-", 0), ("run no.toml 2>/dev/full", 2), ("run no.toml 2>&-", 2)],
)
def test_exit_codes_tell_where_nothing_can_be_printed(arguments, code):
    command = f"'{sys.executable}' -m anonymizer {arguments}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


# Releases that lie there already


def test_a_release_is_replaced_only_by_force(run, study, tmp_path):
    run("run", study, "-o", tmp_path / "out")
    edit(study, "k = 4", "k = 5")
    before = (tmp_path / "out" / "released.csv").read_bytes()
    code, out, err = run("run", study, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert "out already holds a release, release.json; --force replaces it\n" in err
    assert err.count("\n") == 1
    assert (tmp_path / "out" / "released.csv").read_bytes() == before
    code, _, err = run("run", study, "-o", tmp_path / "out", "--force")
    assert (code, err) == (0, "")
    assert json.loads((tmp_path / "out" / "release.json").read_text())["privacy"][0][
        "parameters"
    ] == {"k": 5}


def test_a_run_that_fails_keeps_the_release_before_it(run, study, tmp_path):
    run("run", study, "-o", tmp_path / "out")
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    edit(study, "l = 2", "l = 4")
    assert run("run", study, "-o", tmp_path / "out", "--force")[0] == 1
    assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_the_release_before_may_have_had_another_format(run, study, tmp_path):
    run("run", study, "-o", tmp_path / "out")
    pd.read_csv(tmp_path / "people.csv").to_parquet(tmp_path / "people.parquet")
    edit(study, "people.csv", "people.parquet")
    assert run("run", study, "-o", tmp_path / "out", "--force")[0] == 0
    assert files(tmp_path / "out") == ["release.json", "released.parquet"]


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_the_table_itself_is_never_overwritten(run, study, tmp_path, force):
    (tmp_path / "people.csv").rename(tmp_path / "released.csv")
    edit(study, "people.csv", "released.csv")
    run("run", study, "-o", tmp_path, *force)
    assert (tmp_path / "released.csv").read_text() == TABLE


@pytest.mark.parametrize("name", ["released.csv", "released.parquet"])
def test_a_file_that_is_no_release_is_not_replaced_without_force(run, study, tmp_path, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine")
    run("run", study, "-o", tmp_path / "out")
    assert (tmp_path / "out" / name).read_text() == "mine"


# Refusals: an edit of one file, the exit code, the message

ROW = f"{NAME}3,23,m,{DISEASE}0,n3\n"
HEADER = "name,age,sex,disease,note"
REFUSALS = {
    "unknown quasi-identifier": (
        *("study.toml", 'age = "', 'aeg = "', 2),
        "the table has no column 'aeg'; did you mean 'age'?",
    ),
    "unknown sensitive": (
        *("study.toml", '["disease"]', '["diseases"]', 2),
        "no column 'diseases'; did you mean 'disease'?",
    ),
    "unknown identifier": (
        "study.toml",
        '["name"]',
        '["zzz"]',
        2,
        "the table has no column 'zzz'",
    ),
    "two roles": (
        *("study.toml", '["name"]', '["name", "age"]', 2),
        "column 'age' has more than one role; give it one",
    ),
    "sensitive twice": (
        "study.toml",
        '["disease"]',
        '["disease", "disease"]',
        2,
        "more than one role",
    ),
    "l above the bound": (
        *("study.toml", "l = 2", "l = 3.5", 1),
        "l = 3.5 is above 2^H = 3.000000, the effective number of values of 'disease'",
    ),
    "k above N": ("study.toml", "k = 4", "k = 25", 1, "k = 25 exceeds the 24 records"),
    "unknown key": ("study.toml", "# data", 'seperator = ";"', 2, "did you mean 'separator'?"),
    "no rows": ("people.csv", TABLE, HEADER + "\n", 2, "the table has no records"),
    "empty file": ("people.csv", TABLE, "", 2, "people.csv: it is empty"),
    "no header": ("people.csv", HEADER + "\n", "", 2, "no column 'age'"),
    "no header, values twice": (
        *("people.csv", TABLE, TABLE.partition("\n")[2].replace("n0", f"{DISEASE}0"), 2),
        "no column 'age'; no line of it names its 5 columns: set columns = ",
    ),
    "column twice": (
        "people.csv",
        "disease,note",
        "disease,age",
        2,
        "column 'age' stands more than",
    ),
    "missing quasi-identifier": (
        "people.csv",
        ",23,",
        ",,",
        2,
        "column 'age' misses the value of 1 of 24",
    ),
    "missing sensitive": (
        *("people.csv", ROW, f"{NAME}3,23,m,,n3\n", 2),
        "column 'disease' misses the value of 1 of 24 records",
    ),
    "ragged row": (
        "people.csv",
        ROW,
        f"{NAME}3,{DISEASE}0\n",
        2,
        "line 5 has 2 fields, the header 5",
    ),
    "long row": (
        "people.csv",
        ROW,
        ROW[:-1] + f",{DISEASE}\n",
        2,
        "line 5 has 6 fields, the header 5",
    ),
    "open quote": ("people.csv", "n3\n", '"n3\n', 2, "cannot read"),
    "open quote within": ("people.csv", f"{NAME}3,", f'"{NAME}3,', 2, "cannot read"),
    "value without hierarchy": (
        *("people.csv", ",23,", ",101,", 2),
        "column 'age' holds 1 value, in 1 record (--show-values",
    ),
    "hierarchy not nested": ("age.csv", "12;12+;12+", "12;12+;0+", 2, "level 2 is not nested"),
    "no hierarchy": ("study.toml", "age.csv", "none.csv", 2, "cannot read hierarchy"),
    "no table": ("study.toml", "people.csv", "none.csv", 2, "there is no file"),
    "table is a directory": ("study.toml", "people.csv", ".", 2, "would be among the files"),
    "long table name": ("study.toml", "people.csv", "x" * 300, 2, "x" * 300),
    "hierarchy of an impossible name": (
        "study.toml",
        "age.csv",
        r"a\u0000b",
        2,
        "cannot read hierarch",
    ),
    "separator": ("study.toml", "# data", 'separator = "é"', 2, "separator"),
}


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "message"), REFUSALS.values(), ids=REFUSALS.keys()
)
def test_refusals(run, study, tmp_path, file, old, new, code, message):
    edit(tmp_path / file, old, new)
    found, out, err = run("run", study, "-o", tmp_path / "deep" / "out")
    assert (found, out) == (code, "")
    assert err.startswith("anonymizer: ")
    assert err.count("\n") == 1 or code == 1  # then the ways out follow
    assert message in err
    assert files(tmp_path) == sorted(FILES)


def test_a_policy_that_breaks_in_the_file_is_1_and_leaves_nothing(
    run, study, tmp_path, monkeypatch
):
    def tear(table, path, form, parts):
        torn = table.frame(table.columns)
        torn.iloc[10, 0] = "alone"
        torn.to_csv(path, index=False)

    monkeypatch.setattr(Stored, "write", tear)
    code, out, err = run("run", study, "-o", tmp_path / "out")
    assert (code, out) == (1, "")
    assert err.startswith("anonymizer: nothing was released: the table breaks the policy")
    assert re.search("k-anonymity fails in [12] of", err)  # whichever record it is
    assert err.count("\n") == 1
    assert files(tmp_path) == sorted(FILES)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("people.csv", "cannot make the directory"),
        ("people.csv/out", "cannot make the directory"),
        ("x" * 300, "File name too long"),
        ("/proc/out", "cannot make the directory"),
    ],
)
def test_directories_that_cannot_be(run, study, tmp_path, output, message):
    code, out, err = run("run", study, "-o", tmp_path / output)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert files(tmp_path) == sorted(FILES)


@pytest.mark.parametrize("jobs", [0, "many"])
def test_jobs_that_cannot_be(run, study, tmp_path, jobs):
    code, out, err = run("run", study, "-o", tmp_path / "out", "--jobs", jobs)
    assert (code, out) == (2, "")
    assert "jobs" in err
    assert files(tmp_path) == sorted(FILES)


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "study.toml"],
        ["rum"],
        ["verify", "t.csv"],
        ["run", "s", "--jbos", "1"],
        ["reproduce", "x"],
    ],
)
def test_usage_errors_are_one_line(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("anonymizer: ")
    assert err.count("\n") == 1


def test_no_arguments_show_the_help(run):
    code, out, err = run()
    assert (code, out) == (2, "")
    assert "Usage: anonymizer" in err


# verify


@pytest.fixture
def released(run, study, tmp_path):
    run("run", study, "-o", tmp_path / "out")
    return tmp_path / "out" / "released.csv"


def test_verify_sees_a_record_that_was_tampered_with(run, study, released):
    lines = released.read_text().splitlines(keepends=True)
    labels = Counter(tuple(line.split(",")[:2]) for line in lines)
    place = max(range(1, len(lines)), key=lambda n: labels[tuple(lines[n].split(",")[:2])])
    lines[place] = "99," + lines[place].partition(",")[2]  # of a class that is large without it
    released.write_text("".join(lines))
    code, out, err = run("verify", released, "-s", study)
    assert (code, err) == (1, "")
    assert out.count("NO") == 2
    assert "The policy holds" not in out
    code, out, _ = run("verify", released, "-s", study, "--json")
    assert code == 1
    verdicts = {verdict["model"]: verdict for verdict in json.loads(out)["privacy"]}
    assert verdicts["k-anonymity"]["worst"] == 1
    assert verdicts["k-anonymity"]["violating_classes"] == 1
    assert verdicts["entropy-l-diversity"]["worst"] == 1
    assert not verdicts["k-anonymity"]["satisfied"]


def test_verify_sees_a_class_of_one_sensitive_value(run, study, released):
    frame = pd.read_csv(released)
    first = (frame["age"] == frame["age"][0]) & (frame["sex"] == frame["sex"][0])
    frame.loc[first, "disease"] = f"{DISEASE}0"
    frame.to_csv(released, index=False)
    code, out, _ = run("verify", released, "-s", study, "--json")
    assert code == 1
    assert [verdict["satisfied"] for verdict in json.loads(out)["privacy"]] == [True, False]


def test_the_raw_table_is_no_release(run, study, tmp_path):
    code, out, err = run("verify", tmp_path / "people.csv", "-s", study)
    assert (code, out) == (1, "")
    assert "holds the identifier 'name': no release" in err


def test_an_identifier_cannot_hide_in_a_parquet_index(run, study, released, tmp_path):
    frame = pd.read_csv(released)
    frame.index = pd.Index([f"{NAME}{i}" for i in range(24)], name="name")
    frame.to_parquet(tmp_path / "released.parquet")
    code, out, err = run("verify", tmp_path / "released.parquet", "-s", study)
    assert (code, out) == (1, "")
    assert "holds the identifier 'name'" in err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("age,", "aeg,", "columns: the manifest says 3 columns, the table lacks 'age'"),
        (",disease,", ",ill,", "columns: the manifest says 3 columns, the table lacks 'disease'"),
        ("disease,note\n", "disease,note\n,f,x,y\n", "misses 1 value"),
    ],
)
def test_verify_lists_what_a_column_lacks(run, study, released, old, new, message):
    edit(released, old, new)
    code, out, err = run("verify", released, "-s", study)
    assert (code, err) == (1, "")
    assert message in out


def test_a_table_that_is_no_csv_cannot_be_verified(run, study, released):
    edit(released, "disease,note\n", "disease,note\nx\n")
    code, out, err = run("verify", released, "-s", study)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "line 2 has 1 field, the header 4" in err


@pytest.mark.parametrize("content", ["", "age,sex,disease\n"])
def test_a_table_without_records_is_no_release(run, study, tmp_path, content):
    (tmp_path / "t.csv").write_text(content)
    code, out, err = run("verify", tmp_path / "t.csv", "-s", study)
    assert (code, out) == (2, "")
    assert "no records" in err or "is empty" in err


def test_verify_of_nothing(run, study, tmp_path):
    code, out, err = run("verify", tmp_path / "none.csv", "-s", study)
    assert (code, out, err) == (2, "", f"anonymizer: there is no file {tmp_path}/none.csv\n")


# Ends from outside


@pytest.fixture
def heard():
    """SIGHUP is heard, though whoever started the tests by nohup has switched it off."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has no such signals")
@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_request_to_end_leaves_nothing(run, study, tmp_path, monkeypatch, name):
    number = getattr(signal, name)
    before = signal.getsignal(number)

    def end(table, path, form, parts):
        path.write_text("half")
        signal.raise_signal(number)

    monkeypatch.setattr(Stored, "write", end)
    code, out, err = run("run", study, "-o", tmp_path / "out")
    assert (code, out) == (130, "")
    assert "interrupted; nothing was written" in err
    assert files(tmp_path) == sorted(FILES)
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("moment", ["the swap", "the report"])
def test_an_end_that_comes_late_says_what_stands(
    run, study, tmp_path, monkeypatch, number, force, moment
):
    if force:
        run("run", study, "-o", tmp_path / "out")
        edit(study, "k = 4", "k = 5")
    late = {"the swap": (output, "stands"), "the report": (console, "show")}
    room, name = late[moment]
    real = getattr(room, name)

    def struck(*what):
        real(*what)
        signal.raise_signal(number)

    monkeypatch.setattr(room, name, struck)
    code, _, err = run("run", study, "-o", tmp_path / "out", *force)
    assert code == 130
    assert err.strip() == f"anonymizer: interrupted; the release is in {tmp_path / 'out'}"
    assert files(tmp_path) == sorted(
        [*FILES, "out", "out.steward.json", "out/release.json", "out/released.csv"]
    )
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert manifest["privacy"][0]["parameters"] == {"k": 5 if force else 4}


@pytest.mark.parametrize(
    ("error", "message"), [(MemoryError, "out of memory; "), (RuntimeError, "internal error, ")]
)
def test_an_error_that_comes_late_says_what_stands(
    run, study, tmp_path, monkeypatch, error, message
):
    def fail(*_):
        raise error

    monkeypatch.delenv(cli.DEBUG, raising=False)
    monkeypatch.setattr(console, "show", fail)
    code, out, err = run("run", study, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert message in err
    assert f"the release is in {tmp_path / 'out'}" in err


def test_two_runs_at_once(study, tmp_path):
    with (tmp_path / "errors").open("w") as errors, Path(os.devnull).open("w") as nothing:
        streams = {"out": nothing.fileno(), "err": errors.fileno()}
        both = [start("run", study, "-o", tmp_path / "out", **streams) for _ in range(2)]
        assert sorted(each.wait() for each in both) == [0, 2]
    assert re.fullmatch(
        "anonymizer: (another run is writing to .*|.* already holds a release, .*)\n",
        unwarned((tmp_path / "errors").read_text()),
    )
    assert files(tmp_path / "out") == ["release.json", "released.csv"]


def test_a_reader_that_went_away_is_no_error(study, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    with (tmp_path / "errors").open("w") as errors:
        streams = {"out": writing, "err": errors.fileno()}
        assert start("run", study, "-o", tmp_path / "out", **streams).wait() == 0
    os.close(writing)
    assert unwarned((tmp_path / "errors").read_text()) == ""
    assert (tmp_path / "out" / "release.json").exists()


# Errors that nobody foresaw


@pytest.mark.parametrize(
    "error", [RuntimeError, KeyError, OSError, UnicodeError, RecursionError, AssertionError]
)
def test_an_internal_error_shows_no_data(run, study, tmp_path, monkeypatch, error):
    def fail(table, path, form, parts):
        table.frame(table.columns).to_csv(path)
        try:
            raise ValueError(f"{NAME} inside")
        except ValueError:
            raise error(f"{DISEASE}0 of {NAME}1") from None

    monkeypatch.delenv(cli.DEBUG, raising=False)
    monkeypatch.setattr(publisher, "prove", lambda *_: fail(*_))
    monkeypatch.setattr(Stored, "write", fail)
    code, out, err = run("run", study, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert files(tmp_path) == sorted(FILES)


def test_an_internal_error_says_where(run, study, tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError(NAME)

    monkeypatch.delenv(cli.DEBUG, raising=False)
    monkeypatch.setattr(Stored, "write", fail)
    _, _, err = run("run", study, "-o", tmp_path / "out")
    assert err.startswith("anonymizer: internal error, RuntimeError at release/publisher.py:")


def test_the_debug_switch_lets_it_through(study, tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("seen")

    monkeypatch.setenv(cli.DEBUG, "1")
    monkeypatch.setattr(Stored, "write", fail)
    with pytest.raises(RuntimeError, match="seen"):
        main(["run", str(study), "-o", str(tmp_path / "out")])


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [(KeyboardInterrupt, 130, "interrupted"), (MemoryError, 2, "out of memory")],
)
def test_an_end_that_comes_from_outside(
    run, study, tmp_path, monkeypatch, error, expected, message
):
    def stop(*_):
        raise error

    monkeypatch.setattr(Stored, "write", stop)
    code, out, err = run("run", study, "-o", tmp_path / "out")
    assert (code, out) == (expected, "")
    assert f"anonymizer: {message}; nothing was written\n" in err
    assert files(tmp_path) == sorted(FILES)


@pytest.mark.parametrize("command", ["run", "compare"])
def test_values_of_few_records_are_named_on_request(run, study, tmp_path, command):
    edit(study.parent / "people.csv", ",23,", ",CANAGE,")
    output = ("-o", tmp_path / "out") if command == "run" else ()
    code, _, err = run(command, study, *output)
    assert (code, err.count("\n")) == (2, 1)
    assert "column 'age' holds 1 value, in 1 record (--show-values (in Python, show" in err
    assert "CANAGE" not in err
    code, _, err = run(command, study, "--show-values", *output)
    assert (code, err.count("\n")) == (2, 1)
    assert "column 'age' holds 1 value, in 1 record ('CANAGE') that" in err
    assert "CANAGE" not in run(command, study, *output)[2]  # the switch is for one command


def test_measuring_names_values_on_request_too(run, study, tmp_path):
    assert run("run", study, "-o", tmp_path / "out")[0] == 0
    arguments = ("quality", tmp_path / "out" / "released.csv", "--study", study, "--no-classifiers")
    edit(study.parent / "people.csv", ",23,", ",CANAGE,")
    assert "CANAGE" not in run(*arguments)[2]
    assert (
        "column 'age' holds 1 value, in 1 record ('CANAGE') that"
        in run(*arguments, "--show-values")[2]
    )


@pytest.mark.parametrize("command", ["run", "verify", "check", "quality", "compare", "audit"])
def test_commands_that_may_name_values_have_the_switch(run, command):
    assert "--show-values" in run(command, "--help")[1]
