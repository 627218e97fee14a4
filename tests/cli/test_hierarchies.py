"""anonymizer hierarchy: show, check, build and convert, as a user types them."""

import json
from functools import partial
from pathlib import Path

import pytest

from anonymizer.hierarchy import Hierarchy

JOBS = "nurse;health;*\nvet;health;*\nsmith;craft;*\nmason;craft;*\nmonk;church;*\n"
RARE = "Zk3alone"


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{20 + i % 50},{i % 100 + 10000},{['nurse', 'vet', 'smith'][i % 3]}" for i in range(600)
    ]
    Path("people.csv").write_text("\n".join(["age,zip,job", *rows, f"77,99999,{RARE}"]) + "\n")
    Path("job.csv").write_text(JOBS)
    Path("zip.toml").write_text("prefixes = [4, 3]\n")
    Path("study.toml").write_text(
        '[data]\npath = "people.csv"\n[quasi-identifiers]\nage = { widths = [10, 20] }\n'
        'job = { keep = [["nurse", "vet"], ["nurse"]] }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
    )


@pytest.fixture
def run(run):
    return partial(run, "hierarchy")


def lines(out: str) -> list[str]:
    return [line.rstrip() for line in out.splitlines()]


# show


def test_the_tree_of_a_table_of_labels(run):
    code, out, _ = run("show", "job.csv")
    assert code == 0
    assert lines(out) == [
        "levels 0 to 2 over 5 values",
        "*",
        "  craft: mason, smith",
        "  church: monk",
        "  health: nurse, vet",
    ]


def test_the_tree_over_a_table_names_nothing_rare(run):
    code, out, _ = run("show", "job.csv", "--table", "people.csv")
    assert code == 2  # the rare job is in no row
    Path("job.csv").write_text(JOBS + f"{RARE};church;*\n")
    code, out, _ = run("show", "job.csv", "--table", "people.csv")
    assert code == 0
    assert lines(out) == [
        "levels 0 to 2 over 6 values in 601 records",
        "*  (601 records)",
        "  craft  (200 records): smith, 1 value of fewer than 5 records",
        "  health  (400 records): nurse, vet",
        "  ... 1 group of fewer than 5 records",
    ]
    out = run("show", "job.csv", "--table", "people.csv", "--show-values")[1]
    assert f"  church  (1 record): {RARE}, monk" in lines(out)


def test_the_tree_of_a_study_is_over_its_own_table(run):
    code, out, _ = run("show", "study.toml", "job")
    assert code == 0
    assert lines(out) == [
        "levels 0 to 3 over 4 values in 601 records",
        "*  (601 records)",
        "  nurse  (200 records)",
        "  other  (401 records)",
        "    vet  (200 records)",
        "    other  (201 records): smith, 1 value of fewer than 5 records",
    ]
    code, out, _ = run("show", "study.toml", "age", "--levels")
    assert code == 0
    assert "records of the largest" in out
    code, _, err = run("show", "study.toml", "agee")
    assert code == 2
    assert "study.toml is a study: name one of its quasi-identifiers; did you mean 'age'?" in err


def test_rules_that_need_no_table(run):
    Path("job.toml").write_text('keep = ["nurse"]\n')
    assert lines(run("show", "job.toml")[1])[1:] == ["*", "  nurse", "  other: (any other value)"]
    Path("age.toml").write_text("cuts = [[20, 40, 60], [40]]\nmax-level = 2\n")
    assert lines(run("show", "age.toml")[1]) == [
        "levels 0 to 3; max-level = 2",
        "*",
        "  (-inf, 40)",
        "    (-inf, 20)",
        "    [20, 40)",
        "  [40, inf)",
        "    [40, 60)",
        "    [60, inf)",
    ]


def test_a_rule_without_values_needs_a_table(run):
    code, _, err = run("show", "zip.toml")
    assert code == 2
    assert "zip.toml is a rule without values of its own; name some: --table t.csv --column" in err


def test_large_trees_are_elided_and_drawn_whole_on_request(run):
    Path("zip.toml").write_text("prefixes = [5, 4, 3]\n")
    short = lines(run("show", "zip.toml", "-t", "people.csv")[1])
    whole = lines(run("show", "zip.toml", "-t", "people.csv", "--all")[1])
    assert len(short) <= 61 < len(whole)
    assert any(line.strip().startswith("... ") and "more group" in line for line in short)
    assert not any("more group" in line for line in whole)


# check


def test_a_hierarchy_that_covers_its_column(run):
    Path("job.csv").write_text(JOBS + f"{RARE};church;*\n")
    code, out, _ = run("check", "job.csv", "people.csv")
    assert code == 0
    assert "job.csv over column 'job': 4 values in 601 records" in out
    assert "covers every value" in out
    assert "lists 2 values that no record has" in out
    assert "level 1: one group holds 67% of the records" in out


def test_a_hierarchy_that_lacks_values(run):
    Path("job.csv").write_text("nurse;health;*\nsmith;craft;*\n")
    code, out, _ = run("check", "job.csv", "people.csv")
    assert code == 1
    assert "lacks 2 values, in 201 records ('vet'; --show-values" in out
    assert RARE not in out
    code, out, _ = run("check", "job.csv", "people.csv", "--json")
    assert (code, RARE in out) == (1, False)
    assert json.loads(out)["lacking"] == {"values": 2, "records": 201, "named": {"vet": 200}}
    assert RARE in run("check", "job.csv", "people.csv", "--show-values")[1]


def test_a_level_that_gains_nothing(run):
    code, out, _ = run("check", "study.toml", "people.csv", "--column", "age")
    assert code == 0
    Path("zip.toml").write_text("prefixes = [6, 3]\n")
    out = run("check", "zip.toml", "people.csv")[1]
    assert "level 1 gains nothing: it has the groups of level 0" in out


def test_the_column_of_a_check_has_to_be_there(run):
    code, _, err = run("check", "job.csv", "people.csv", "--column", "jobs")
    assert code == 2
    assert "the table has no column 'jobs'; did you mean 'job'?" in err


# build


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--widths", "5,10"], "{ widths = [5, 10] }"),
        (["--widths", "0.5", "--origin", "-1"], "{ widths = [0.5], origin = -1 }"),
        (["--cuts", "20,40", "--cuts", "40"], "{ cuts = [[20, 40], [40]] }"),
        (["--prefixes", "4,3"], "{ prefixes = [4, 3] }"),
        (["--suffixes", "2", "--mask", "#"], '{ suffixes = [2], mask = "#" }'),
        (["--redact", "1,2", "--side", "left"], '{ redact = [1, 2], side = "left" }'),
        (["--calendar", "month, year"], '{ calendar = ["month", "year"] }'),
        (["--order", "S,M,L", "--widths", "2"], '{ order = ["S", "M", "L"], widths = [2] }'),
        (
            ["--keep", "2,1", "-t", "people.csv", "-c", "job", "--other", "rest"],
            '{ keep = [["nurse", "smith"], ["nurse"]], other = "rest" }',
        ),
        (["--ranges", "4,2", "-t", "people.csv", "-c", "age"], "{ cuts = [[30, 45, 55], [45]] }"),
        (["--ranges", "6,3", "--equal", "-t", "people.csv", "-c", "age"], "{ widths = [10, 20] }"),
    ],
)
def test_rules_by_hand(run, arguments, line):
    code, out, err = run("build", *arguments)
    assert (code, out.strip(), err) == (0, line, "")


def test_a_rule_is_written_whole_and_never_over_another_file(run):
    assert run("build", "--widths", "5", "-o", "age.toml")[0] == 0
    assert Hierarchy.read("age.toml") == Hierarchy.ranges([5])
    code, _, err = run("build", "--widths", "7", "-o", "age.toml")
    assert code == 2
    assert "age.toml is there already; --force replaces it" in err
    assert Path("age.toml").read_text() == "widths = [5]\n"
    assert run("build", "--widths", "7", "-o", "age.toml", "--force")[0] == 0
    assert Path("age.toml").read_text() == "widths = [7]\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a rule, such as --widths 5,10"),
        (["--widths", "five"], "it must be numbers, such as 5,10"),
        (["--widths", "5,12"], "level 2 is not nested"),
        (["--widths", "5", "--prefixes", "2"], "widths and prefixes are two rules; leave one"),
        (["--keep", "5"], "--keep needs the values of a table: --table t.csv --column age"),
        (["--ranges", "5", "-t", "people.csv"], "--ranges needs the values of a table"),
        (["--widths", "5", "-t", "people.csv"], "--table and --equal are for --ranges and --keep"),
        (
            ["--ranges", "4", "--keep", "3", "-t", "people.csv", "-c", "age"],
            "--ranges and --keep are two rules; leave one",
        ),
        (["--ranges", "4", "-t", "people.csv", "-c", "job"], "4 values that are no numbers"),
        (["--ranges", "2,4", "-t", "people.csv", "-c", "age"], "must be falling whole numbers"),
        (["--widths", "5", "-o", "age.csv"], "a rule is a .toml file, not age.csv"),
        (["--widths", "5", "-o", "none/" * 2], "a rule is a .toml file"),
    ],
)
def test_rules_that_cannot_be_built(run, arguments, message):
    code, out, err = run("build", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert RARE not in err


def test_what_is_kept_of_a_table_leaves_rare_values_out(run):
    out = run("build", "--keep", "20", "-t", "people.csv", "-c", "job")[1]
    assert out == '{ keep = [["nurse", "smith", "vet"]], other = "other" }\n'


# convert


def test_a_rule_becomes_a_table_and_the_rule_again(run):
    code, _, err = run("convert", "zip.toml", "-t", "people.csv", "-o", "zip.csv")
    assert code == 0
    assert "zip.csv lists 101 values of the table: it is as confidential" in err
    assert Path("zip.csv").read_text().splitlines()[0] == "10000;1000*;100**;*"
    assert run("convert", "zip.csv", "-o", "again.toml")[0] == 0
    assert Path("again.toml").read_text() == "prefixes = [4, 3]\n"


def test_ranges_of_arx_become_a_rule_of_other_labels(run):
    Path("age.csv").write_text(
        "".join(f"{i};[{i // 5 * 5}, {i // 5 * 5 + 5}[;*\n" for i in range(9))
    )
    code, _, err = run("convert", "age.csv", "-o", "age.toml")
    assert code == 0
    assert "its ranges go by other labels now, such as [0, 10)" in err
    assert Path("age.toml").read_text() == "widths = [5]\norigin = 0\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["job.csv", "-o", "job.toml"], "job.csv makes groups that no rule makes of its values"),
        (["zip.toml", "-o", "zip.csv"], "zip.toml lists no values, which a table needs: --table"),
        (["zip.toml", "-o", "other.toml"], "zip.toml is a rule already; name a .csv table"),
        (["job.csv", "-o", "job.xls"], "write a .toml rule or a .csv table, not job.xls"),
        (["job.csv", "-o", "job.csv"], "job.csv is there already; --force replaces it"),
        (
            ["zip.toml", "-t", "people.csv", "-o", "people.csv", "--force"],
            "people.csv is the table itself; choose another file",
        ),
        (
            ["zip.toml", "-t", "people.csv", "-o", "release/zip.csv"],
            "release/zip.csv would lie in the directory of a release",
        ),
    ],
)
def test_what_cannot_be_converted(run, arguments, message):
    Path("release").mkdir()
    Path("release", "release.json").write_text("{}")
    before = Path("people.csv").read_bytes()
    code, _, err = run("convert", *arguments)
    assert code == 2
    assert message in err
    assert Path("people.csv").read_bytes() == before


def test_kept_values_need_a_table_to_be_listed(run):
    Path("job.toml").write_text('keep = ["nurse"]\n')
    assert run("convert", "job.toml", "-o", "all.csv")[0] == 2
    assert run("convert", "job.toml", "-t", "people.csv", "-o", "all.csv")[0] == 0
    assert "smith;other;*" in Path("all.csv").read_text().splitlines()
    assert run("convert", "all.csv", "-o", "again.toml")[0] == 0
    assert Hierarchy.read("again.toml") == Hierarchy.keep(["nurse"])
