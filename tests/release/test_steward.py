"""What a release folder has, and what its steward alone has in the file next to it."""

import errno
import json
import math
import os
import random
import shutil
import stat
from pathlib import Path

import pandas as pd
import pytest
from register import Policy, Study, as_it_was, attack, attacked
from releases import KINDS, copied, manifest_in, public_in

from anonymizer import InputError, verify_release
from anonymizer.cli import main
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import (
    ReportedInformation,
    ReportedSearch,
    public_rule,
    steward_file,
)
from anonymizer.release.output import Writer, reserved
from anonymizer.release.publish import publish
from anonymizer.release.study import Study as StudyFile
from anonymizer.release.verification.check import HALVES, RAW, leaves, treatment_of
from anonymizer.report.page import report_of

SEX = """\
[data]
path = "t.csv"
[quasi-identifiers]
sex = "suppress"
[sensitive]
attributes = ["diagnosis"]
[[privacy]]
model = "k-anonymity"
k = 5
[[privacy]]
model = "entropy-l-diversity"
l = 1.9
"""


@pytest.fixture
def carried_out(monkeypatch, capsys):
    """Carry out a command: its exit code, and what it printed and reported."""

    def command(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([*map(str, arguments)])
        said = capsys.readouterr()
        return int(stop.value.code or 0), " ".join(said.out.split()), " ".join(said.err.split())

    return command


def laid(directory: Path, study: str = SEX) -> Path:
    """Six men with flu and four women with HIV, in no order, and a study of them."""
    rows = [("F", "HIV")] * 4 + [("M", "flu")] * 6
    random.Random(1).shuffle(rows)
    pd.DataFrame(rows, columns=["sex", "diagnosis"]).to_csv(directory / "t.csv", index=False)
    (directory / "study.toml").write_text(study)
    return directory / "study.toml"


# The attacker


def test_ten_people_whose_sex_is_hidden(tmp_path):
    """I(X;W) = H(W) = 0.971 bits: sex decides. No file of the folder has it.

    Its page has H(W), which the released table shows.
    """
    out = tmp_path / "out"
    publish(StudyFile(laid(tmp_path)), out)
    register, ill = [("F",)] * 4 + [("M",)] * 6, {("F",): 4, ("M",): 0}
    before = attack(as_it_was(out, tmp_path), register, Policy(5, 1.9), ill)
    assert (before.sure, before.wrong, before.beyond) == (10, 0, 10)
    now = attack(out, register, Policy(5, 1.9), ill)
    assert (now.sure, now.beyond, now.left, now.possible) == (0, 0, 5, 5)
    uncertainty = math.log2(10) - 0.4 * 2 - 0.6 * math.log2(6)
    figure = json.loads(steward_file(out).read_text())["information"]["original"]
    assert figure == pytest.approx(uncertainty)
    contents = [path.read_text() for path in out.iterdir()]
    for rounded in (f"{uncertainty:.3f}", f"{uncertainty:.2f}", "0.0449", "0.045"):
        assert not any(rounded in content for content in contents)
    lines = report_of(out, form="markdown").decode().splitlines()
    shown = [line for line in lines if f"{uncertainty:.3f}" in line]
    assert shown == ["| diagnosis | 0 | - | 0 | 0.04495 | 0 | 0.971 |"]


def test_nobody_is_known_beyond_the_policy_by_a_folder_and_a_register(tmp_path):
    """Whereas the same attacker finds many people by the manifest as it was."""
    found = []
    for seed in range(18):
        study = Study.drawn(seed)
        if study.released:
            directory = tmp_path / str(seed)
            directory.mkdir()
            found.append(attacked(study, directory))
    assert len(found) >= 4
    assert [(now.sure, now.beyond) for now, _ in found] == [(0, 0)] * len(found)
    assert all(now.left == now.possible for now, _ in found)
    assert sum(before.sure for _, before in found) > 20
    assert sum(before.wrong for _, before in found) == 0


# What is whose


@pytest.mark.parametrize("kind", KINDS)
def test_no_field_of_a_folder_needs_the_raw_table(release, kind):
    """But for the warning that whoever knows the quasi-identifiers counts as well."""
    public = public_in(release(kind))
    reasons = {treatment_of(leaf)[1].why for leaf in leaves(public)}
    assert not reasons & {RAW, HALVES}
    codes = {each["code"] for each in public["warnings"]}
    assert not codes & {"column-gives-away", "telling-order", "spellings-alike"}
    marked = [
        name
        for part in (ReportedInformation, ReportedSearch)
        for name, field in part.model_fields.items()
        if field.json_schema_extra
    ]
    reported = [public["information"] or {}, *public["targets"].values(), public["search"]]
    assert not any(name in part for part in reported for name in marked)


@pytest.mark.parametrize("kind", KINDS)
def test_the_folder_has_what_the_steward_has_but_for_that(release, kind):
    path = release(kind)
    whole = Manifest.of_steward(path)
    assert whole is not None
    assert whole.whole
    assert whole.public.to_dict() == public_in(path)
    assert whole.public.public.to_dict() == public_in(path)
    assert Manifest.read(path / "release.json").whole is False
    assert {*public_in(path)} - {"respelled"} <= {*manifest_in(path)}


def test_that_values_are_spelled_in_several_ways_is_public_and_in_how_many_is_not(release):
    """Whoever recodes raw values by SQL has to know: the release has one spelling of each."""
    path = release("values spelled in several ways")
    assert public_in(path)["respelled"] == ["disease"]
    assert "spellings-alike" in {each["code"] for each in manifest_in(path)["warnings"]}
    assert "respelled" not in public_in(release("full-domain"))


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_has_the_folder_alone_verifies_it(release, tmp_path, kind):
    path = Path(shutil.copytree(release(kind), tmp_path / "out"))
    study = release(kind).parent / "study.toml" if KINDS[kind].population else None
    found = verify_release(path, study)
    assert found.satisfied
    (missing,) = (check for check in found.unchecked if check.field.startswith("figures of the"))
    assert missing.reason == "they are in out.steward.json, for its steward next to the release"
    checked = {check.field for check in found.checks if check.agrees}
    assert "classes" in checked
    assert "search.value" not in checked


def test_a_warning_without_its_figures_is_verified_by_the_folder_alone(tmp_path):
    """That people have several records is public, and how many people there are is not."""
    study = laid(tmp_path, f'{SEX}[identifiers]\nattributes = ["patient"]\n')
    table = pd.read_csv(tmp_path / "t.csv")
    table["patient"] = [f"p{place // 2}" for place in range(10)]
    table.to_csv(tmp_path / "t.csv", index=False)
    publish(StudyFile(study), tmp_path / "out")
    steward_file(tmp_path / "out").unlink()
    warned = {each["code"]: each for each in public_in(tmp_path / "out")["warnings"]}
    assert [warned["repeated-identifier"][name] for name in ("count", "of")] == [0, 0]
    assert verify_release(tmp_path / "out").satisfied
    assert verify_release(tmp_path / "out", study).satisfied


def test_python_has_both(tmp_path):
    release, manifest = publish(StudyFile(laid(tmp_path)), tmp_path / "out")
    assert "original" not in release.to_dict()["information"]
    assert release.manifest.information.original is None
    assert release.steward_manifest.information.original == release.information.original
    assert manifest.information.original == release.information.original
    assert release.manifest.to_dict() == release.steward_manifest.public.to_dict()


# The file


def test_the_file_is_its_owners_alone_and_goes_with_the_release(tmp_path, carried_out):
    study, out = laid(tmp_path), tmp_path / "out"
    code, said, _ = carried_out("run", study, "-o", out)
    assert (code, "Figures of the original table are in out.steward.json" in said) == (0, True)
    place = steward_file(out)
    assert (place, stat.S_IMODE(place.stat().st_mode)) == (tmp_path / "out.steward.json", 0o600)
    place.chmod(0o644)
    study.write_text(SEX.replace("k = 5", "k = 4"))
    assert carried_out("run", study, "-o", out, "--force")[0] == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert Manifest.of_steward(out).privacy[0].parameters == {"k": 4}


def test_a_file_that_is_there_is_replaced_by_force_alone_and_one_of_others_never(
    tmp_path, carried_out
):
    study, out = laid(tmp_path), tmp_path / "out"
    assert carried_out("run", study, "-o", out)[0] == 0
    shutil.rmtree(out)
    code, _, error = carried_out("run", study, "-o", out)
    assert (code, "out.steward.json is there already, the figures of a release" in error) == (
        2,
        True,
    )
    assert carried_out("run", study, "-o", out, "--force")[0] == 0
    shutil.rmtree(out)
    shutil.copy(tmp_path / "study.toml", steward_file(out))
    assert carried_out("run", study, "-o", out, "--force")[0] == 2
    assert steward_file(out).read_text() == SEX
    assert not out.exists()


def test_a_release_that_is_refused_leaves_no_file(tmp_path, carried_out):
    study = laid(tmp_path, SEX.replace("l = 1.9", "l = 2.5"))
    assert carried_out("run", study, "-o", tmp_path / "out")[0] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["study.toml", "t.csv"]


def lies(out: Path, next_to: Writer) -> None:
    """Write a release of one file, and a file next to it."""
    with reserved(out, ("sign",), next_to=".steward.json") as output:
        output.write({"sign": lambda path: path.write_text("of a")}, next_to=next_to)


def test_a_file_that_cannot_be_made_leaves_no_release(tmp_path):
    def fails(path: Path) -> None:
        assert (path.parent / "sign").read_text() == "of a"
        raise InputError("no figures")

    with pytest.raises(InputError, match="no figures"):
        lies(tmp_path / "out", fails)
    assert [*tmp_path.iterdir()] == []
    (tmp_path / "out.steward.json").mkdir()
    with pytest.raises(InputError, match=r"out\.steward\.json is a directory; choose"):
        lies(tmp_path / "out", fails)


def test_a_file_that_gets_no_name_is_reported_with_the_release_that_stands(tmp_path, monkeypatch):
    real = Path.replace

    def full(path: Path, target: Path) -> Path:
        if target.name.endswith(".steward.json"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, target)

    monkeypatch.setattr(Path, "replace", full)
    match = "the release is in .*out, but .*out.steward.json cannot be written: No space left"
    with pytest.raises(InputError, match=match):
        lies(tmp_path / "out", lambda path: path.write_text("figures"))
    assert (tmp_path / "out" / "sign").read_text() == "of a"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_nothing_can_be_written_next_to_a_mount(tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(Path, "is_mount", lambda path: path == out)
    match = "nothing can be written next to .*out, where the figures of the raw table have to go"
    with pytest.raises(InputError, match=match):
        publish(StudyFile(laid(tmp_path)), out)
    publish(StudyFile(tmp_path / "study.toml"), out / "release")
    assert sorted(path.name for path in out.iterdir()) == ["release", "release.steward.json"]


def test_the_file_of_another_release_is_refused(release, tmp_path, carried_out):
    path = copied(release("full-domain"), tmp_path)
    shutil.copy(steward_file(release("boxes")), steward_file(path))
    (check,) = verify_release(path).differences
    assert str(check) == (
        "out.steward.json: the rest of the manifest is not what out.steward.json belongs to: one "
        "of them was changed, or is of another release"
    )
    code, _, error = carried_out("report", path, "--steward")
    assert code == 2
    assert "out.steward.json belongs to another release than the release.json in" in error
    assert verify_release(path, steward=False).satisfied
    assert carried_out("report", path)[0] == 0


def test_a_changed_figure_is_noticed(release, tmp_path):
    path = copied(release("full-domain"), tmp_path)
    content = json.loads(steward_file(path).read_text())
    content["information"]["original"] += 0.01
    steward_file(path).write_text(json.dumps(content))
    fields = {check.field for check in verify_release(path).differences}
    assert "information.loss" in fields
    content["information"]["retained"] += 0.01  # not what release.json has
    steward_file(path).write_text(json.dumps(content))
    assert [check.field for check in verify_release(path).differences] == ["out.steward.json"]


def test_a_report_has_the_figures_for_its_steward_alone(release, tmp_path, carried_out):
    path = copied(release("full-domain"), tmp_path)
    outside = report_of(path, form="markdown").decode()
    inside = report_of(path, form="markdown", steward=True).decode()
    for words in ("In the original", "Ceiling: the most", "The frontier", "Lost of the original"):
        assert words not in outside
        assert words in inside
    assert "is known to its steward alone" in outside
    steward_file(path).unlink()
    code, _, error = carried_out("report", path, "--steward", "-o", tmp_path / "page.html")
    assert (code, "out.steward.json, which has the figures of the original" in error) == (2, True)
    assert not (tmp_path / "page.html").exists()


def test_a_report_for_its_steward_has_a_name_of_its_own_and_is_the_stewards_alone(
    release, tmp_path, carried_out
):
    path = copied(release("full-domain"), tmp_path)
    before = os.umask(0o022)
    try:
        for more in ([], ["--steward"]):
            assert carried_out("report", path, "--markdown", *more)[0] == 0
    finally:
        os.umask(before)
    modes = {place.name: stat.S_IMODE(place.stat().st_mode) for place in path.parent.glob("*.md")}
    assert modes == {"out-report.md": 0o644, "out.steward.md": 0o600}


def test_an_audit_names_the_figures_of_a_manifest_as_it_was(tmp_path, carried_out):
    study, out = laid(tmp_path), tmp_path / "out"
    publish(StudyFile(study), out)
    against = ("--against", tmp_path / "t.csv", "--study", study)
    code, said, _ = carried_out("audit", out, *against)
    assert "figures of the original" not in said
    old = as_it_was(out, tmp_path)
    manifest = json.loads((old / "release.json").read_text())
    del manifest["release"]
    (old / "release.json").write_text(json.dumps({**manifest, "format": 1}))
    assert verify_release(old).satisfied
    code, said, _ = carried_out("audit", old, *against)
    assert code == 1
    assert "does NOT hold against somebody who reads" in said
    assert (
        "of the original table in release.json (information.original, information.ceiling" in said
    )
    code, said, _ = carried_out("audit", old, *against, "--json")
    assert {"information.original", "search.minimal"} <= {*json.loads(said)["figures"]}
    assert json.loads(said)["satisfied"] is False


# Grounds


def test_a_ground_keeps_the_ends_of_released_ranges():
    rule = {"cuts": [["1", "2", "3.5", "5", "9"], ["5"]], "ground": ["1", "2", "3.5", "5", "9"]}
    known = public_rule(rule, {2, 9})
    assert known == {"cuts": [["2", "5", "9"], ["5"]], "ground": ["2", "5", "9"]}


GROUND = """\
[data]
path = "t.csv"
[quasi-identifiers]
income = { cuts = [[10000, 50000], [50000]], ground = { quantiles = 60 } }
[sensitive]
attributes = ["d"]
[[privacy]]
model = "k-anonymity"
k = 300
[recoding]
method = "METHOD"
"""


@pytest.mark.parametrize("method", ["variable-range", "full-domain"])
def test_quantiles_of_the_raw_table_are_not_in_the_folder(tmp_path, carried_out, method):
    rng = random.Random(3)
    rows = [(round(rng.lognormvariate(10, 0.6)), rng.choice("abc")) for _ in range(2000)]
    pd.DataFrame(rows, columns=["income", "d"]).to_csv(tmp_path / "t.csv", index=False)
    study = tmp_path / "study.toml"
    study.write_text(GROUND.replace("METHOD", method))
    out, again = tmp_path / "out", tmp_path / "again"
    publish(StudyFile(study), out)
    public, whole = public_in(out), manifest_in(out)
    assert len(whole["hierarchies"]["income"]["ground"]) > 40
    ends = {group.get(end) for group in public["recoding"]["income"] for end in ("from", "to")}
    points = {float(point) for point in public["hierarchies"]["income"]["ground"]}
    assert points == {*ends} - {None} | {10000, 50000}
    assert verify_release(out, study).satisfied
    steward_file(out).unlink()
    assert verify_release(out, study).satisfied
    assert carried_out("apply", out, tmp_path / "t.csv", "-o", again)[0] == 0
    first, second = ((each / "released.csv").read_text() for each in (out, again))
    assert sorted(second.splitlines()) == sorted(first.splitlines())  # in another random order


PRESENCE = """\
[data]
path = "t.csv"
[quasi-identifiers]
zip = "suppress"
[sensitive]
attributes = ["ill"]
[[privacy]]
model = "k-anonymity"
k = 5
[[privacy]]
model = "delta-presence"
lower = 0
upper = 0.6
population = "everybody.csv"
[recoding]
suppression = 0.05
remove = true
"""


def test_how_many_were_suppressed_would_tell_who_is_in_the_table(tmp_path):
    """Of three people who live at b, three records were suppressed: all of them are in it."""
    table = pd.DataFrame({"zip": ["a"] * 50 + ["b"] * 3 + ["c"] * 50, "ill": [*"xy"] * 51 + ["x"]})
    table.to_csv(tmp_path / "t.csv", index=False)
    everybody = pd.DataFrame({"zip": ["a"] * 100 + ["b"] * 3 + ["c"] * 100})
    everybody.to_csv(tmp_path / "everybody.csv", index=False)
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(PRESENCE)
    release, _ = publish(StudyFile(study), out)
    assert (release.records, release.suppressed, release.released) == (103, 3, 100)
    whole, public = manifest_in(out), public_in(out)
    names = ("records", "dropped", "suppressed")
    assert [whole[name] for name in names] == [103, 0, 3]
    assert [public[name] for name in names] == [None, None, None]
    assert ": 103" not in (out / "release.json").read_text()
    assert verify_release(out, study).satisfied
    page = report_of(out, study, "markdown").decode()
    assert "100 records are released. How many there were" in page
    assert "of 103" not in page
    steward_file(out).unlink()
    assert verify_release(out, study).satisfied
    changed = json.loads((out / "release.json").read_text()) | {"suppressed": 3}
    (out / "release.json").write_text(json.dumps(changed))
    assert [check.field for check in verify_release(out, study).differences] == ["suppressed"]


def test_whether_anybody_was_suppressed_would_tell_it_as_well(tmp_path):
    """Of the one person who lives at b: the folders with that record and without it are alike."""
    pd.DataFrame({"zip": [*"aabbc"] * 20 + ["x"]}).to_csv(tmp_path / "everybody.csv", index=False)
    study = tmp_path / "study.toml"
    study.write_text(PRESENCE)
    others = [*"aabbc"] * 8
    for name, zips in (("in", [*others, "x"]), ("not in", others)):
        table = pd.DataFrame({"zip": zips, "ill": [*"xy"] * 20 + ["x"] * (len(zips) - 40)})
        table.to_csv(tmp_path / "t.csv", index=False)
        publish(StudyFile(study), tmp_path / name)
        assert verify_release(tmp_path / name, study).satisfied
        steward_file(tmp_path / name).unlink()
        assert verify_release(tmp_path / name, study).satisfied
    there, absent = (public_in(tmp_path / name) for name in ("in", "not in"))
    for public in (there, absent):
        del public["table"]["sha256"]
    assert there == absent
    changed = json.loads((tmp_path / "in" / "release.json").read_text())
    for fate in ("none", "kept"):
        text = json.dumps(changed | {"suppressed_class": fate})
        (tmp_path / "in" / "release.json").write_text(text)
        found = verify_release(tmp_path / "in", study).differences
        assert [check.field for check in found] == ["suppressed_class"]


def test_who_knows_all_of_a_population_but_one_has_no_digest_to_try_guesses_by(tmp_path):
    pd.DataFrame({"zip": [*"ab"] * 10, "ill": [*"xyyx"] * 5}).to_csv(
        tmp_path / "t.csv", index=False
    )
    study = tmp_path / "study.toml"
    study.write_text(PRESENCE.replace("delta-presence", "k-map").replace("upper = 0.6\n", "")
                     .replace("lower = 0", "k = 5").replace("remove = true", ""))  # fmt: skip
    texts = []
    for last in "ab":
        everybody = pd.DataFrame({"zip": [*"ab"] * 30 + [last]})
        everybody.to_csv(tmp_path / "everybody.csv", index=False)
        publish(StudyFile(study), tmp_path / last)
        public = public_in(tmp_path / last)
        assert verify_release(tmp_path / last, study).satisfied
        del public["table"]["sha256"]
        texts.append(json.dumps(public))
    assert texts[0] == texts[1]
    assert "everybody.csv" in texts[0]
