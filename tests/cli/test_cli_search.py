"""The search options of the command line: suppression, objectives, limits, progress, interrupts."""

import json
import os
import re
import signal
from collections import Counter
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from checker import rows_of
from forked import carried_out, start

from anonymizer.cli import main
from anonymizer.release.publish import publish
from anonymizer.release.study import Study

pty = pytest.importorskip("pty")

WARD = """\
age,zip,disease
30,a,flu
30,a,cold
30,b,flu
30,b,cold
40,a,flu
40,a,cold
40,b,flu
"""
STUDY = """\
[data]
path = "ward.csv"
[quasi-identifiers]
age = "suppress"
zip = "suppress"
[sensitive]
attributes = ["disease"]
[[privacy]]
model = "k-anonymity"
k = 2
"""
ALONE = STUDY.replace('[sensitive]\nattributes = ["disease"]\n', "")


@pytest.fixture
def run(tmp_path, capsys):
    def call(study, *arguments):
        (tmp_path / "ward.csv").write_text(WARD)
        (tmp_path / "study.toml").write_text(study)
        with pytest.raises(SystemExit) as stop:
            main(["run", str(tmp_path / "study.toml"), "-o", str(tmp_path / "out"), *arguments])
        return stop.value.code, *capsys.readouterr()

    return call


def manifest(tmp_path):
    return json.loads((tmp_path / "out.steward.json").read_text())


def test_a_class_too_small_is_removed(run, tmp_path):
    """A single record of (40, b): one of seven goes, and cannot be a class of its own."""
    code, out, _ = run(STUDY + '[recoding]\nsuppression = 0.15\n[objective]\nname = "precision"\n')
    assert code == 0
    assert "1 suppressed and left out" in out
    released = rows_of(tmp_path / "out" / "released.csv")
    assert Counter((row["age"], row["zip"]) for row in released) == {
        ("30", "a"): 2,
        ("30", "b"): 2,
        ("40", "a"): 2,
    }
    said = manifest(tmp_path)
    assert (said["suppressed"], said["suppressed_class"], said["released"]) == (1, "removed", 6)
    assert said["search"]["proven"]
    assert said["search"]["gap"] == 0
    assert (said["search"]["feasible"], said["search"]["minimal"]) == (None, None)


@pytest.mark.parametrize("fate", ["kept", "removed"])
def test_suppressed_records_hold_a_star_or_are_gone(run, tmp_path, fate):
    study = STUDY.replace("k = 2", "k = 3")
    remove = "true" if fate == "removed" else "false"
    table = (
        "age,zip,disease\n"
        + "30,a,flu\n30,a,cold\n30,a,flu\n" * 5
        + "40,b,flu\n50,c,cold\n60,d,flu\n"
    )
    (tmp_path / "w.csv").write_text(table)
    code, _, err = run(
        study.replace("ward.csv", "w.csv")
        + f"[recoding]\nsuppression = 0.2\nremove = {remove}\n[search]\nstrategy = 'exhaustive'\n"
        + "[objective]\nname = 'precision'\n"
    )
    assert (code, err) == (0, "")
    released = rows_of(tmp_path / "out" / "released.csv")
    kept = 3 if fate == "kept" else 0
    assert Counter((row["age"], row["zip"]) for row in released) == {
        ("30", "a"): 15,
        **({("*", "*"): kept} if kept else {}),
    }
    assert manifest(tmp_path)["suppressed_class"] == fate
    assert manifest(tmp_path)["suppressed"] == 3


def test_no_sensitive_attribute_is_needed_for_sizes_alone(run, tmp_path):
    code, out, _ = run(ALONE + '[objective]\nname = "loss"\nweights = {age = 2}\n')
    assert code == 0
    assert "Information" not in out
    assert "The objective, loss, comes to 0.333333." in out
    assert manifest(tmp_path)["information"] is None
    assert manifest(tmp_path)["levels"] == {"age": 0, "zip": 1}


@pytest.mark.parametrize(
    ("study", "message"),
    [
        (STUDY + "[recoding]\nsuppression = 1\n", "suppression = 1 must be a share"),
        (STUDY + "[recoding]\nsuppression = -0.1\n", "suppression = -0.1 must be a share"),
        (STUDY + "[recoding]\nsuppression = nan\n", "suppression = nan must be a share"),
        (STUDY + '[recoding]\nsuppression = "2%"\n', "[recoding] suppression must be a number"),
        (STUDY + "[recoding]\nremove = 1\n", "[recoding] remove must be true or false"),
        (STUDY + "[search]\ntime-limit = 0\n", "time-limit = 0 must be a number of seconds above"),
        (STUDY + "[search]\ntime-limit = inf\n", "time-limit = inf must be a number of seconds"),
        (STUDY + '[objective]\nname = "los"\n', "'los' is unknown; did you mean 'loss'?"),
        (
            STUDY + '[objective]\nname = "loss"\nweights = {agee = 2}\n',
            "weighs 'agee', which is no quasi-identifier; did you mean 'age'?",
        ),
        (
            STUDY + '[objective]\nname = "mutual-information"\nweights = {age = 2}\n',
            "weighs 'age', which is no sensitive attribute",
        ),
        (STUDY + '[objective]\nweights = {disease = "x"}\n', "[objective] weights.disease must be"),
        (STUDY + "[objective]\nweights = {disease = -1}\n", "'disease' must be a number of at lea"),
        (
            STUDY + '[objective]\nname = "mutual-information"\naggregate = "mean"\n',
            "mutual-information has no aggregate; only",
        ),
        (
            STUDY + '[objective]\nname = "loss"\naggregate = "mean"\n',
            "'mean' is unknown; known are",
        ),
        (STUDY + '[objective]\nname = "loss"\naggregate = 1\n', "[objective] aggregate must be a"),
        (STUDY + "[objective]\nweight = 1\n", "unknown key 'weight'; did you mean 'weights'?"),
        (
            ALONE + '[objective]\nname = "mutual-information"\n',
            "the objective mutual-information is about a sensitive attribute; name one",
        ),
        (
            ALONE.replace("k = 2", 'k = 2\n[[privacy]]\nmodel = "entropy-l-diversity"\nl = 2')
            + '[objective]\nname = "loss"\n',
            "entropy-l-diversity is about a sensitive attribute",
        ),
        (
            STUDY + '[recoding]\nsuppression = 0.5\n[search]\nstrategy = "incognito"\n',
            "'incognito' prunes by what suppression does not preserve",
        ),
        (
            STUDY + '[search]\nstrategy = "top-down"\ntime-limit = 9\n',
            "'top-down' cannot end early",
        ),
    ],
)
def test_refusals(run, tmp_path, study, message):
    code, out, err = run(study)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_time_limit_gives_the_best_so_far_and_its_gap(run, tmp_path):
    code, _, _ = run(STUDY + "[search]\ntime-limit = 60\n")
    said = manifest(tmp_path)["search"]
    assert code == 0
    assert (said["strategy"], said["proven"], said["gap"]) == ("branch-and-bound", True, 0)


# A search that takes its time


def large(directory):
    """A study of 2 million nodes whose optimum under suppression takes minutes to prove."""
    rng = np.random.default_rng(5)
    columns = {name: rng.integers(0, 64, 3000) for name in "abcdefg"}
    frame = pd.DataFrame({**columns, "w": rng.integers(0, 4, 3000)})
    frame.to_csv(directory / "large.csv", index=False)
    (directory / "rule.toml").write_text("widths = [2, 4, 8, 16, 32, 64]")
    lines = ['[data]\npath = "large.csv"\n[quasi-identifiers]']
    lines += [f'{name} = "rule.toml"' for name in columns]
    lines += ['[sensitive]\nattributes = ["w"]\n[recoding]\nsuppression = 0.2\n']
    lines += ['[[privacy]]\nmodel = "k-anonymity"\nk = 5']
    lines += ['[[privacy]]\nmodel = "entropy-l-diversity"\nl = 2.5']
    path = directory / "large.toml"
    path.write_text("\n".join(lines))
    return path


def struck(study, number):
    """The exit code of a run, and what it shows on a terminal, struck while it searches."""
    terminal, own = pty.openpty()
    out = study.parent / "out"
    program = start("run", study, "-o", out, out=own, err=own, terminal=True)
    os.close(own)
    shown, sent = b"", False
    with suppress(OSError):  # the end, on Linux
        while part := os.read(terminal, 1 << 16):
            shown += part
            # Ten nodes are the topmost one, which satisfies the policy, and those below it.
            if not sent and re.search(rb"bounding the best node: \d\d", shown):
                os.kill(program.pid, number)
                sent = True
    os.close(terminal)
    return program.wait(), shown.decode(errors="replace")


def test_an_interrupt_releases_the_best_so_far(tmp_path):
    code, shown = struck(large(tmp_path), signal.SIGINT)
    assert code == 0, shown
    assert "The search was not finished" in shown
    said = manifest(tmp_path)["search"]
    assert (said["nodes"], said["proven"]) == (8**7, False)
    assert said["gap"] > 0
    assert all(row["satisfied"] for row in manifest(tmp_path)["privacy"])


def test_a_request_to_end_is_no_interrupt(tmp_path):
    code, shown = struck(large(tmp_path), signal.SIGTERM)
    assert code == 130, shown
    assert "interrupted; nothing was written" in shown
    assert not (tmp_path / "out").exists()


def test_nothing_is_shown_where_there_is_no_terminal(tmp_path):
    study = large(tmp_path)
    study.write_text(study.read_text().replace("= 0.2", "= 0.2\n[search]\ntime-limit = 0.5"))
    code, _, err = carried_out("run", study, "-o", tmp_path / "out")
    assert (code, err) == (0, "")


def test_progress_tells_what_is_being_done(tmp_path):
    (tmp_path / "ward.csv").write_text(WARD)
    (tmp_path / "study.toml").write_text(STUDY)
    reports = []
    publish(
        Study(tmp_path / "study.toml"), tmp_path / "out", watch=lambda *what: reports.append(what)
    )
    assert [doing for doing, _, _ in reports][:2] == ["reading the table", "counting the table"]
    assert "searching the lattice" in {doing for doing, _, _ in reports}
    assert reports[-1][0] == "writing and verifying the release"
