"""The command advise, and what run says where a policy is out of reach or a result drastic."""

import json

import pytest

from anonymizer import InputError
from anonymizer.cli import advise as command

SECRET = "Morbus"
SECRETS = (SECRET,)
ROWS = [
    f"{20 + i % 12},{'fm'[i % 2]},{'abcd'[i % 4]},{SECRET}{(i % 12 < 6) + 2 * (i % 24 == 0)}"
    for i in range(96)
]
TABLE = "age,sex,zip,disease\n" + "\n".join(ROWS) + "\n"
STUDY = """\
[data]
path = "people.csv"

[quasi-identifiers]
age = "suppress"
sex = "suppress"
zip = "suppress"

[sensitive]
attributes = ["disease"]

[[privacy]]
model = "k-anonymity"
k = 4
"""
MORE = '\n[[privacy]]\nmodel = "{}"\n{}\n'


@pytest.fixture
def study(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_advise_shows_what_is_known_and_the_frontier(run, study):
    code, out, err = run("advise", study)
    assert (code, err) == (0, "")
    assert "disease: the value of 88 of 96 records is known for sure from their class" in out
    assert "t-closeness (kl) about disease, by full-domain" in out
    assert 'In the study: [[privacy]], model = "t-closeness", distance = "kl", t = ' in out


def test_advise_as_json_is_the_advice(run, study):
    code, out, _ = run("advise", study, "--json", "--model", "entropy-l-diversity")
    found = json.loads(out)
    assert code == 0
    assert found["reachable"]
    assert [sweep["parameter"] for sweep in found["sweeps"]] == ["l"]
    assert found["disclosures"][0]["sure"] == 88


def test_the_suggested_point_holds_when_it_is_put_in_the_study(run, study, tmp_path):
    found = json.loads(run("advise", study, "--json")[1])
    (sweep,) = found["sweeps"]
    point = sweep["points"][sweep["suggested"]]
    study.write_text(
        STUDY + MORE.format("t-closeness", f'distance = "kl"\nt = {point["threshold"]}')
    )
    code, out, _ = run("run", study, "-o", tmp_path / "out", "--json")
    released = json.loads(out)
    assert code == 0
    assert released["information"]["retained"] == pytest.approx(point["retained"])
    assert (tmp_path / "out" / "released.csv").exists()


def test_a_policy_out_of_reach_comes_with_obstacles_and_ways_out(run, study, tmp_path):
    study.write_text(STUDY + MORE.format("recursive-l-diversity", "c = 0.2\nl = 2"))
    before = sorted(path.name for path in tmp_path.iterdir())
    code, out, err = run("run", study, "-o", tmp_path / "out")
    first, *others = err.splitlines()
    assert (code, out) == (1, "")
    assert first.startswith("anonymizer: the policy is out of reach: recursive-l-diversity about")
    assert others[0] == (
        "recursive-l-diversity about disease: at the most general levels that may be released, "
        "96 records in 1 class stand in the way (1 against 0.2)."
    )
    assert others[1] == "Ways out, each computed by full-domain recoding:"
    assert others[2].startswith("  - recursive-l-diversity with c = 1.01 (not 0.2): ")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    code, out, err = run("advise", study)
    assert (code, err) == (1, "")
    assert out.splitlines()[1:] == others


def test_given_levels_that_do_not_satisfy_the_policy(run, study, tmp_path):
    study.write_text(
        STUDY.replace("k = 4", "k = 10")
        + '\n[recoding]\nmethod = "fixed"\nlevels = {age = 0, sex = 0, zip = 0}\n'
    )
    code, _, err = run("run", study, "-o", tmp_path / "out")
    assert code == 1
    assert "k-anonymity with k = 8 (not 10)" in err
    assert "age at level 1 or coarser" in err
    assert "leave age out" in err


def test_a_drastic_result_comes_with_what_to_change(run, study, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "BRIEFLY", 60.0)
    study.write_text(STUDY.replace("k = 4", "k = 9"))
    code, out, err = run("run", study, "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "homogeneous-classes" not in (tmp_path / "out" / "release.json").read_text()
    assert "The result is drastic: 2 of 3 quasi-identifiers became *." not in out
    study.write_text(STUDY.replace("k = 4", "k = 30"))
    code, out, _ = run("run", study, "-o", tmp_path / "out", "--force")
    assert code == 0
    assert "The result is drastic: 2 of 3 quasi-identifiers became *" in out
    assert f"`anonymizer advise {study}` computes what would improve it." in out
    assert "stand in the way" not in out
    monkeypatch.setattr(command, "in_terminal", lambda: True)
    code, out, _ = run("run", study, "-o", tmp_path / "out", "--force")
    report, advice = out.split("The release is in", 1)
    assert code == 0
    assert "computes what would improve it" in report
    assert "stand in the way" in advice


def test_nothing_is_searched_for_where_nobody_reads(run, study, tmp_path, monkeypatch):
    """The release is in place before advice is computed, for a terminal alone."""

    there = []

    def searched(*arguments, **options):
        there.append((tmp_path / "out" / "release.json").exists())
        raise InputError("enough")

    monkeypatch.setattr(command, "advise_counted", searched)
    assert run("run", study, "-o", tmp_path / "out")[0] == 0
    assert run("run", study, "-o", tmp_path / "out", "--force", "--json")[0] == 0
    assert there == []
    monkeypatch.setattr(command, "in_terminal", lambda: True)
    assert run("run", study, "-o", tmp_path / "out", "--force")[0] == 0
    assert there == [True]


def test_homogeneous_classes_come_with_a_model_and_its_parameter(run, study, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "in_terminal", lambda: True)
    monkeypatch.setattr(command, "BRIEFLY", 60.0)
    code, out, _ = run("run", study, "-o", tmp_path / "out")
    assert code == 0
    assert "homogeneous-classes" in (tmp_path / "out" / "release.json").read_text()
    assert 'Suggested: t-closeness with distance = "kl", t = ' in out
    assert "nobody's disease can be guessed with a probability above" in out


def test_json_of_a_release_is_the_manifest_alone(run, study, tmp_path):
    code, out, err = run("run", study, "-o", tmp_path / "out", "--json")
    assert (code, err) == (0, "")
    assert out == (tmp_path / "out" / "release.json").read_text()


def test_an_interrupt_ends_the_advice_and_not_the_release(run, study, tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "advise_counted", interrupted)
    monkeypatch.setattr(command, "in_terminal", lambda: True)
    code, out, _ = run("run", study, "-o", tmp_path / "out")
    assert code == 0
    assert "Suggested" not in out
    study.write_text(STUDY + MORE.format("recursive-l-diversity", "c = 0.2\nl = 2"))
    code, out, err = run("run", study, "-o", tmp_path / "other")
    assert (code, out, len(err.splitlines())) == (1, "", 1)


def test_a_drastic_result_is_said_although_time_is_up(run, study, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "in_terminal", lambda: True)
    monkeypatch.setattr(command, "BRIEFLY", 1e-9)
    study.write_text(STUDY.replace("k = 4", "k = 60"))
    code, out, _ = run("run", study, "-o", tmp_path / "out")
    assert code == 0
    assert "The result is drastic: 3 of 3 quasi-identifiers became *." in out
    assert "The time for advice was up before all was computed" in out


def test_time_that_is_up(run, study):
    code, out, _ = run("advise", study, "--time-limit", "1e-9")
    assert code == 0
    assert "The time for advice was up before all was computed" in out


def test_a_frontier_is_drawn(run, study, tmp_path):
    picture = tmp_path / "frontier.svg"
    code, out, _ = run("advise", study, "--plot", picture)
    assert code == 0
    assert f"The picture is in {picture}." in out
    assert picture.read_text().lstrip().startswith("<?xml")
    code, _, err = run("advise", study, "--plot", picture)
    assert code == 2
    assert "already" in err


def test_a_recoding_without_advice(run, study):
    study.write_text(STUDY + '\n[recoding]\nmethod = "pram"\nattributes = ["age"]\n')
    code, _, err = run("advise", study)
    assert code == 2
    assert "advice is searched for on counts, and recoding 'pram' is not" in err
