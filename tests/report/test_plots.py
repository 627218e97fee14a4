"""The command that compares, and the picture it draws."""

import json
import sys
from dataclasses import replace

import pytest

from anonymizer import report
from anonymizer.report import plots
from anonymizer.report.plots.comparison import ceilings, draw_comparison, frontier
from anonymizer.report.printing import print_report
from anonymizer.report.utility import comparison_report
from anonymizer.tables.datasets import shipped
from anonymizer.utility.comparison import Comparison, Fit, Half, SweptPoint

DEMO = shipped("data", "demo.toml")


def fit(recoding, fitted, held_out, **parameters):
    """A fit by its classes and bits on either half."""
    both = (fitted, held_out)
    halves = [Half(9, n, 1.0, 0.9, bits, bits, 0, True, 0, 0, ()) for n, bits in both]
    return Fit(recoding, parameters, "mutual-information", True, *halves, needs={})


def comparison(*fits, about=("illness",)):
    points = [fit.parameters for fit in fits]
    points = [point for place, point in enumerate(points) if point not in points[:place]]
    described = tuple(
        SweptPoint(point, 0.9 - place / 10, "boxes") for place, point in enumerate(points)
    )
    return Comparison(18, 0, about, tuple(fits[0].parameters), fits, (), described)


SWEPT = comparison(
    fit("boxes", (50, 0.5), (48, 0.4), t=0.2, k=2),
    fit("boxes", (30, 0.45), (29, 0.43), t=0.2, k=5),
    fit("ranges", (2, 0.3), (2, 0.2), t=0.1, k=2),
)


# The picture


def test_a_frontier_is_the_best_over_all_other_parameters():
    held_out = lambda fit: fit.held_out.retained  # noqa: E731
    assert frontier(SWEPT.fits, "t", held_out) == ([0.1, 0.2], [0.2, 0.43])
    assert frontier(SWEPT.fits, "k", held_out) == ([2, 5], [0.4, 0.43])
    assert ceilings(SWEPT, "t") == ([0.1, 0.2], [0.7, 0.9])
    assert ceilings(SWEPT, "k") == ([2, 5], [0.9, 0.8])


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_the_same_comparison_is_the_same_picture(tmp_path, suffix):
    alike = comparison(
        fit("boxes", (9, 0.5), (8, 0.4), t=0.2), fit("ranges", (2, 0.3), (2, 0.2), t=1)
    )
    for name in "ab":
        draw_comparison(alike, tmp_path / (name + suffix))
    first, second = ((tmp_path / (name + suffix)).read_bytes() for name in "ab")
    assert first == second
    assert first[:5] in (b"<?xml", b"\x89PNG\r", b"%PDF-")


def test_a_picture_names_what_it_shows(tmp_path):
    draw_comparison(SWEPT, tmp_path / "p.svg")
    text = (tmp_path / "p.svg").read_text()
    for label in ["equivalence classes", "t of the policy", "k of the policy", "boxes", "ranges"]:
        assert f"<!-- {label} -->" in text
    assert "<!-- information about illness (bits) -->" in text
    assert "<!-- half held out -->" in text


@pytest.mark.parametrize("about", ["$x", "病気", "a<b>&"])
def test_any_attribute_can_be_named(tmp_path, about):
    draw_comparison(
        comparison(fit("boxes", (1, 0.0), (1, 0.0)), about=(about,)), tmp_path / "p.svg"
    )
    assert (tmp_path / "p.svg").stat().st_size > 1000


# The command


def test_the_demonstration_compared(run, tmp_path):
    picture = tmp_path / "new" / "frontier.svg"
    recodings = ["--recoding", "full-domain", "--recoding", "variable-range"]
    arguments = ["compare", DEMO, *recodings, "--sweep", "t=0.4:0.5:0.1", "--json"]
    code, out, err = run(*arguments, "--plot", picture)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["records"], found["seed"], found["about"]) == (30_000, 0, ["marital-status"])
    rows = [(row["recoding"], row["parameters"]["t"], row["best"]) for row in found["fits"]]
    assert rows == [
        ("variable-range", 0.4, False),
        ("full-domain", 0.4, False),
        ("variable-range", 0.5, False),
        ("full-domain", 0.5, True),
    ]
    points = [(point["parameters"]["t"], point["best"]) for point in found["points"]]
    assert points == [(0.4, None), (0.5, "full-domain")]
    assert all(0.3 < point["ceiling"] <= point["parameters"]["t"] for point in found["points"])
    for row in found["fits"]:
        fitted, held_out = row["fitted"], row["held_out"]
        assert fitted["records"] == held_out["records"] == 15_000
        assert fitted["satisfied"]
        # Ranges that were chosen by one half, or a level by its noise, tell less on the other.
        assert 0 < held_out["miller_madow"] < held_out["retained"] < fitted["retained"]
        assert fitted["retained"] < fitted["ceiling"] <= fitted["original"]
        assert held_out["loss"] == 1 - held_out["retained"] / held_out["original"]
    assert "<!-- t of the policy -->" in picture.read_text()
    code, again, err = run(*arguments, "--plot", picture, "--jobs", 2, "--force")
    assert (code, again, err) == (0, out, "")
    other = json.loads(run("compare", DEMO, "--recoding", "full-domain", "--seed", 1, "--json")[1])
    assert [row["recoding"] for row in other["fits"]] == ["full-domain"]
    assert other["fits"][0]["fitted"] != found["fits"][3]["fitted"]


STUDY = """\
[data]
path = "people.csv"
[quasi-identifiers]
age = "age.csv"
sex = "suppress"
[sensitive]
attributes = ["disease"]
[[privacy]]
model = "entropy-l-diversity"
l = 1.5
"""
VALUES = ("Morbus", "Pestis", "Tussis")


@pytest.fixture
def study(tmp_path):
    rows = [f"{20 + i // 5},{'fm'[i % 2]},{VALUES[i % 4 % 3]}\n" for i in range(100)]
    (tmp_path / "people.csv").write_text("age,sex,disease\n" + "".join(rows))
    (tmp_path / "age.csv").write_text("".join(f"{a};{a // 5 * 5}+\n" for a in range(20, 40)))
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def test_a_table_for_people(run, study, tmp_path):
    code, out, err = run("compare", study, "--plot", tmp_path / "p.png", "--sweep", "l=1.5:3.5:1")
    assert (code, err) == (0, "")
    assert out.count(" *") == 1  # of l = 2.5: under 1.5 no recoding holds on the other half
    assert "Under l = 1.5 no recoding holds the policy on the half held out" in out
    assert "min-records = 5 would have kept these classes from being formed" in out
    assert "The most that any recoding can" in out
    assert "full-domain, l = 3.5, cannot be fitted to the half: entropy-l-diversity: l =" in out
    assert f"The picture is in {tmp_path / 'p.png'}." in out
    assert not any(value in out for value in VALUES)
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"


def test_records_that_a_recoding_does_not_cover_are_told(capsys):
    fits = fit("boxes", (2, 0.3), (2, 0.2))
    print_report(
        comparison_report(
            comparison(replace(fits, held_out=replace(fits.held_out, uncovered=1234)))
        )
    )
    assert "yes, 1,234 uncovered" in capsys.readouterr().out


def test_where_no_recoding_fits(run, study, tmp_path):
    out_of_reach = 'model = "recursive-l-diversity"\nc = 0.01\nl = 2\n'
    study.write_text(f"{STUDY}[[privacy]]\n{out_of_reach}")
    code, out, err = run("compare", study, "--plot", tmp_path / "p.png")
    assert (code, err) == (1, "")
    assert "full-domain cannot be fitted to the half: the policy is out of reach" in out
    assert not (tmp_path / "p.png").exists()


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        ("p.gif", "no format of a picture has suffix '.gif'; known are .png, .svg, .pdf"),
        ("p", "no format of a picture has suffix ''"),
        ("p.jpng", "did you mean '.png'?"),
        ("there.png", "is there already; --force replaces it"),
        ("directory.png", "it is a directory"),
        ("there.png/p.png", "nothing can be written to"),
        ("p" * 300 + ".png", "no file can have such a name"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused_first(run, tmp_path, plot, message):
    (tmp_path / "there.png").write_text("mine")
    (tmp_path / "directory.png").mkdir()
    code, out, err = run("compare", tmp_path / "none.toml", "--plot", f"{tmp_path}/{plot}")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert (tmp_path / "there.png").read_text() == "mine"


def test_without_matplotlib(run, monkeypatch, tmp_path):
    for name in [*sys.modules, "matplotlib"]:
        if name.split(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)
    # What the room above calls plots is put back, too: it would be what is loaded here.
    monkeypatch.setattr(report, "plots", plots)
    for name in [name for name in sys.modules if name.startswith("anonymizer.report.plots")]:
        monkeypatch.delitem(sys.modules, name)
    code, out, err = run("compare", tmp_path / "none.toml", "--plot", tmp_path / "p.png")
    assert (code, out) == (2, "")
    assert err == (
        "anonymizer: a picture needs matplotlib, which is not installed: "
        "in a checkout of anonymizer, pip install '.[plots]'\n"
    )
    assert run("compare", DEMO, "--recoding", "full-domain")[0] == 0


def test_a_sweep_is_read_before_the_study(run, tmp_path):
    code, _, err = run("compare", tmp_path / "none.toml", "--sweep", "t=1")
    assert (code, "must be NAME=from:to:step" in err) == (2, True)
