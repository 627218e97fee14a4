"""Figures and schemes as pictures, as text, and by the commands that show them."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from anonymizer import Anonymizer, EntropyLDiversity, Fixed, TCloseness, compare_schemes, figures
from anonymizer.cli import main
from anonymizer.report.plots.bars import ClassMeasure
from anonymizer.report.plots.comparison import draw_figures, figures_picture, schemes_picture
from anonymizer.report.plots.style import LIGHT, svg_of
from anonymizer.report.printing import print_report
from anonymizer.report.utility import schemes_report

# 6 of 18 people are ill: I1 = log2 3 where all are, log2 1.5 where nobody is.
PEOPLE = pd.DataFrame(
    {"age": [1, 11, 21] * 6, "w": ["ill", "well", "well"] * 6, "v": list("abcabb") * 3}
)
POLICY = [TCloseness(0.9, distance="kl", attribute="w"), EntropyLDiversity(1.2, attribute="w")]


def asked(recoding, sensitive="w", **changes):
    given = {"quasi_identifiers": {"age": {"widths": [10, 20]}}, "privacy": POLICY}
    return Anonymizer(**{**given, **changes}, sensitive=sensitive, recoding=recoding)


def levels(level):
    return Fixed({"age": level})


def bars_of(axes):
    """The heights of the bars of an axes, by whether they are hatched."""
    found = [(bar.get_hatch() is not None, bar.get_height()) for bar in axes.patches]
    return {
        hatched: sorted(height for marked, height in found if marked == hatched)
        for hatched in (True, False)
    }


def test_bars_above_their_line_are_hatched_and_classes_that_fail_stand_out():
    figure = figures_picture(figures(asked(levels(1)), PEOPLE), "light")
    left, right = figure.axes
    # H(W) = 0.918, so that l = 1.2 allows 0.655; each class has one value, and I2 = H(W).
    assert bars_of(right) == {
        True: pytest.approx([0.918, 0.918, 0.918, 1.585], abs=1e-3),
        False: pytest.approx([0.585, 0.585], abs=1e-3),
    }
    names = {text.get_text(): text.get_color() for text in right.get_xticklabels()}
    assert names == dict.fromkeys(["[0, 10)", "[10, 20)", "[20, 30)"], LIGHT["bad"])
    lines = sorted(line.get_ydata()[0] for line in right.lines)
    assert lines == pytest.approx([0, 0.655, 0.9], abs=1e-3)
    assert left.get_title("left") == "levels: 3 of 3 classes fail".replace("levels", "recoding")
    assert "original, I(X;W): 0.918" in figure.description
    assert "I₁ 1.585, 0.585, 0.585 against t = 0.9 (0.900)" in figure.description


def test_schemes_have_a_row_each_on_equal_scales():
    found = compare_schemes(asked("fixed"), PEOPLE, {"tens": levels(1), "all": levels(3)})
    figure = schemes_picture(found, "light")
    _, first, _, second = figure.axes
    assert first.get_ylim() == second.get_ylim()
    assert "all, about w: the policy holds" in figure.description
    text = svg_of(schemes_picture(found))
    assert "tens: 3 of 3 classes fail" in text
    assert "above its line" in text


def test_each_sensitive_attribute_has_a_row_and_its_own_bounds():
    figure = figures_picture(figures(asked(levels(2), ["w", "v"]), PEOPLE), "light")
    assert len(figure.axes) == 4
    assert "against t" in figure.description.split("about v")[0]
    assert "against" not in figure.description.split("about v")[1]


def test_many_classes_are_lines_with_all_of_their_values_in_sight():
    ages = np.repeat(np.arange(60), 6)
    table = pd.DataFrame({"age": ages, "w": np.where(np.arange(360) % 61 < 30, "ill", "well")})
    found = figures(asked(Fixed({"age": 0})), table)
    axes = figures_picture(found, "light").axes[1]
    low, high = axes.get_ylim()
    (about,) = found.attributes
    assert low < min(*about.i1, *about.i2)
    assert high > max(*about.i1, *about.i2, 0.9)
    assert [*axes.lines[0].get_ydata()] == sorted(about.i1, reverse=True)
    assert axes.get_xlabel().startswith("60 classes, most telling first")


def test_more_rows_than_a_picture_has_room_for_are_counted(monkeypatch):
    monkeypatch.setattr("anonymizer.report.plots.comparison.MOST_ROWS", 2)
    schemes = {f"s{number}": levels(3) for number in range(4)}
    figure = schemes_picture(compare_schemes(asked("fixed"), PEOPLE, schemes))
    assert (len(figure.axes), figure.get_supxlabel()) == (4, "2 more are not drawn")


def test_the_same_figures_are_the_same_picture(tmp_path):
    found = figures(asked(levels(1), privacy=[TCloseness(2, distance="kl")]), PEOPLE)
    for name in ("a.svg", "b.svg"):
        draw_figures(found, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_bar_on_its_line_is_not_above_it():
    measure = ClassMeasure("I1", np.array([0.55, 0.55 + 1e-12, 0.56]), ("t", 0.55))
    assert measure.exceeding.tolist() == [False, False, True]


# The commands

STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
age = { widths = [10, 20] }
[sensitive]
attributes = "w"
[[privacy]]
model = "t-closeness"
distance = "kl"
t = 0.9
"""


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.drop(columns="v").to_csv("people.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    for name, level in (("tens", 1), ("twenties", 2), ("all", 3)):
        text = f'[recoding]\nmethod = "fixed"\n[recoding.levels]\nage = {level}\n'
        (tmp_path / f"{name}.toml").write_text(text)

    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([*arguments])
        return stop.value.code or 0, *capsys.readouterr()

    return call


def test_a_study_is_drawn_next_to_it_and_what_fails_exits_with_1(run, tmp_path):
    code, out, err = run("figures", "study.toml")
    assert (code, err) == (0, "")
    assert "study (full-domain): 18 records in 2 classes. The policy holds." in out
    assert "policy ┃" not in out  # no column that says nothing
    assert (tmp_path / "study-figures.svg").exists()
    assert "--force replaces it" in run("figures", "study.toml")[2]
    code, out, _ = run("figures", "study.toml", "--scheme", "tens.toml", "-o", "t.png")
    assert code == 1
    assert "tens fails t-closeness <= 0.9 about w: [0, 10) has 1.585." in out
    assert re.search(r"policy ┃.*\[0, 10\) [^\n]* FAILS", out, re.DOTALL)
    assert (tmp_path / "t.png").exists()


def test_numbers_alone_draw_nothing(run, tmp_path):
    code, out, _ = run("figures", "study.toml", "--json")
    found = json.loads(out)
    assert (code, found["name"], found["satisfied"]) == (0, "study", True)
    assert found["retained"] == found["attributes"][0]["retained"]
    assert found["attributes"][0]["i1_limits"] == [{"name": "t = 0.9", "bits": 0.9}]
    assert not [*tmp_path.glob("*.svg")]


def test_schemes_are_listed_after_one_option_or_several(run, tmp_path):
    several = "compare study.toml --schemes tens.toml twenties.toml all.toml --plot p.svg"
    code, out, err = run(*several.split())
    assert (code, err) == (0, "")
    assert re.search(r"tens .* FAILS: 1 on t-closeness", out)
    assert re.search(r"twenties \* .* holds", out)
    assert "The picture is in p.svg." in out
    again = "compare study.toml --schemes tens.toml --schemes all.toml --json"
    found = json.loads(run(*again.split())[1])
    assert ([each["name"] for each in found["schemes"]], found["best"]) == (
        ["tens", "all"],
        ["all"],
    )
    assert run("compare", "study.toml", "--schemes", "tens.toml")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--schemes tens.toml ten.toml", "there is no scheme ten.toml; did you mean 'tens.toml'"),
        ("--schemes tens.toml tens.toml", "tens.toml and tens.toml are both named 'tens'"),
        ("--schemes tens.toml --plot p.jpg", "no format of a picture has suffix '.jpg'"),
        ("--schemes tens.toml --sweep t=0.1:0.2:0.1", "--sweep is for recodings fitted to a half"),
        ("--schemes tens.toml,all.toml", "all.toml; name each file by itself, with blanks"),
        ("--schemes t*.toml", "there is no scheme t*.toml; name each file by itself, with blanks"),
        ("tens.toml", "unexpected extra argument"),
    ],
)
def test_mistakes_with_schemes_exit_with_2(run, arguments, message):
    code, _, err = run("compare", "study.toml", *arguments.split())
    assert code == 2
    assert message in err


def test_a_study_after_its_schemes_is_named_before_them(run):
    code, _, err = run("compare", "--schemes", "tens.toml", "all.toml", "study.toml")
    assert code == 2
    assert "all.toml: section [data] is missing" in err
    assert "name the study before --schemes: anonymizer compare STUDY --schemes all.toml" in err
    assert "--schemes" not in run("compare", "tens.toml")[2]


@pytest.mark.parametrize("arguments", [["."], ["/"], ["study.toml", "--scheme", "."]])
def test_figures_of_a_directory_are_refused(run, arguments):
    code, _, err = run("figures", *arguments)
    assert code == 2
    assert f"{arguments[-1]} is a directory; name the study file in it" in err


def test_what_a_scheme_lacks_is_said_of_the_scheme(run, tmp_path):
    (tmp_path / "none.toml").write_text('[recoding]\nmethod = "fixed"\nlevels = {}\n')
    code, _, err = run("figures", "study.toml", "--scheme", "none.toml", "--json")
    assert code == 2
    assert "scheme 'none': levels lacks" in err


def test_the_loss_of_what_was_rounding_is_not_determined(capsys):
    # Independent columns: I(X;W) is 0, and 9e-16 as computed.
    rows = [(x, w) for x in range(7) for w in range(11) for _ in range(1 + w)]
    table = pd.DataFrame(rows, columns=["age", "w"])
    found = compare_schemes(asked(levels(1)), table, {"A1": levels(1)})
    print_report(schemes_report(found))
    assert "not determined" in capsys.readouterr().out
