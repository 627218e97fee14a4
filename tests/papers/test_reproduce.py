"""Papers computed anew: how agreement is judged, Longpré et al., Bezzi, the command, pictures."""

import json
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from papers.computed import sections_of

from anonymizer import InputError
from anonymizer.papers import bkakria2021, plots
from anonymizer.papers.bezzi2010.example import DIAGNOSIS, HEIGHTS, example, properties
from anonymizer.papers.report import flattened, reproduction_report
from anonymizer.papers.row import (
    AS_PUBLISHED,
    DIFFERS,
    IMPOSSIBLE,
    TRUNCATED,
    Column,
    PlottedSeries,
    PublishedSection,
    Row,
    agreement,
    numbers,
    read,
    trend,
    trends,
)
from anonymizer.report.printing import picture_at, print_report

EXPECTED = json.loads((Path(__file__).parents[1] / "expected" / "risk_metrics.json").read_text())
WITHIN = 5e-7
BITS = 5e-9


@pytest.fixture(scope="module")
def celebrity():
    return {row.quantity: row for section in sections_of("longpre2017") for row in section.rows}


@pytest.fixture(scope="module")
def toy():
    return {row.quantity: row for section in example() for row in section.rows}


# How agreement is judged


@pytest.mark.parametrize(
    ("value", "published", "status"),
    [
        (0.363636, "0.36", AS_PUBLISHED),
        (0.363636, "0,36", AS_PUBLISHED),
        (0.365, "0.36", AS_PUBLISHED),  # the edge may be rounded either way
        (0.365, "0.37", AS_PUBLISHED),
        (0.369, "0.36", TRUNCATED),
        (0.36, "0.37", DIFFERS),
        (0.3799, "0.36", DIFFERS),
        (-0.369, "-0.36", TRUNCATED),
        (-0.369, "-0.37", AS_PUBLISHED),
        (10.97, "11", AS_PUBLISHED),
        (0.8784, "88 %", AS_PUBLISHED),
        (0.128, "12 %", TRUNCATED),
        (0.8784, "0.88 %", DIFFERS),
        (2.0, "{A2}", ""),
        (2.0, "", ""),
    ],
)
def test_agreement(value, published, status):
    assert agreement(value, published) == status


def test_a_number_that_differs_says_why():
    row = Row.number("H", 1.25, "1,0", why="a slip")
    assert row.status == f"{DIFFERS}: a slip"
    assert Row.number("H", 1.25, "1.3", why="a slip").status == AS_PUBLISHED
    assert Row.number("H", 1.25, "2", cannot="H <= 1.3").status == f"{IMPOSSIBLE}: H <= 1.3"


def test_rows_are_where_their_section_is():
    rows = [Row("x", "1"), Row("y", "2", place="Eq. 2", where="a.b")]
    found = PublishedSection("A", rows, place="Table 1", where="c.d").rows
    assert [(row.place, row.where) for row in found] == [("Table 1", "c.d"), ("Eq. 2", "a.b")]


def test_the_first_reading_that_agrees_is_taken():
    own = read("MIL", "2,0", numbers("2,0", {"Eq. 8": 2.0, "other": 2.0}))
    assert (own.value, own.status, own.remark) == (2.0, AS_PUBLISHED, "Eq. 8")
    other = read("MIL", "2,0", numbers("2,0", {"Eq. 8": 1.0, "other": 2.0}))
    assert (other.value, other.remark) == (2.0, "other")
    assert other.status == f"{AS_PUBLISHED}, though not by Eq. 8, which gives 1.000000"
    none = read("MIL", "2,0", numbers("2,0", {"Eq. 8": 1.0, "other": 3.0}), "a slip")
    assert (none.value, none.remark) == (1.0, "Eq. 8")
    assert none.status == (f"{DIFFERS}: Eq. 8 gives 1.000000; other gives 3.000000; a slip")


def test_trends():
    assert trend([1.0, 1.0 + 1e-15, 2.0]) == "rises"
    assert read("x", "increases", trends("rises", {"": [0, 2, 1]})).status == DIFFERS
    row = read("x", "increases", trends("rises", {"a": [1, 0], "b": [0, 1]}))
    assert row.computed == "rises, 0.000000 to 1.000000"
    assert Row.claim("x", False, "1", "2", why="no").status == f"{DIFFERS}: no"


def test_rows_of_all_sections_as_json():
    series = PlottedSeries(
        [Column("epsilon", "ε", (0, 1))], [Column("itpr", "ITPR", [0.5, 1.0])], "epsilon"
    )
    rows = flattened(
        [
            PublishedSection("A", [Row("x", "1", value=1.0)]),
            PublishedSection("B", [Row("y", "2 points", series=series)]),
        ]
    )
    assert [row["section"] for row in rows] == ["A", "B"]
    assert (rows[0]["value"], rows[0]["series"]) == (1.0, None)
    assert rows[1]["series"] == {"epsilon": [0, 1], "itpr": [0.5, 1.0]}


# Longpré et al.


CELEBRITY = {
    "A": "A, h < 1000",
    "B": "B, h < 1001",
    "AB": "A and B",
    "C": "C, h odd",
    "BC": "B and C",
    "equals_1000": "h = 1000",
    "trivial": "no question",
    "identity": "every house",
}
WEIGHTED = {
    "P_ab": "{a,b}, {c,d}",
    "P_first": "{a}, {b,c,d}",
    "P_alt": "{a,c}, {b,d}",
    "P_first_x_alt": "the last two",
}
FIGURES = {
    "avg": "average loss",
    "std": "standard deviation",
    "max_loss": "largest loss",
    "min_loss": "smallest loss",
}


@pytest.mark.parametrize(
    ("expected", "name"),
    [
        *((EXPECTED["longpre"]["celebrity"][key], name) for key, name in CELEBRITY.items()),
        *((EXPECTED["longpre"]["weighted"][key], name) for key, name in WEIGHTED.items()),
        (EXPECTED["longpre"]["negative_loss"], "is it a?"),
    ],
    ids=[*CELEBRITY, *WEIGHTED, "negative"],
)
def test_what_a_question_costs(celebrity, expected, name):
    for key, figure in FIGURES.items():
        assert celebrity[f"{name}: {figure}"].value == pytest.approx(expected[key], abs=BITS)


def test_the_celebrity(celebrity):
    given = EXPECTED["longpre"]["celebrity"]
    assert celebrity["S_0, 2000 houses"].value == pytest.approx(given["A"]["S0"], abs=BITS)
    assert celebrity["S_0, 2000 houses"].status == AS_PUBLISHED
    left = celebrity["A, mean uncertainty left"].value
    assert left == pytest.approx(given["A"]["Sbar"], abs=BITS)
    gap = celebrity["A + B - (A and B), average losses: Eq. 5"]
    shared = given["subadditivity"]["gap_is_mutual_information"]
    assert float(gap.computed) == pytest.approx(shared, abs=WITHIN)
    assert gap.remark == f"I(A;B), by counts {gap.computed}"
    for chance, _, loss in given["AB"]["losses"].values():
        houses = round(2000 * chance)
        words = f"{houses:,} house{'s are' if houses > 1 else ' is'} left"
        row = celebrity[f"A and B, loss where {words}"]
        assert row.value == pytest.approx(loss, abs=WITHIN)
        assert row.remark == f"probability {chance:g}"
    statuses = [row.status for row in celebrity.values() if row.published]
    bit, houses, slip = [status for status in statuses if status != AS_PUBLISHED]
    assert bit == f"{DIFFERS}: 999 houses against 1,001 make it less"
    assert houses.startswith(f"{DIFFERS}: numbers from 1 to 999 are 999 houses")
    assert slip.startswith(f"{IMPOSSIBLE}: E_j is a set")


# Bezzi's example and Table 1


@pytest.mark.parametrize("information", ["I1", "I2", "I3", "I4"])
def test_what_a_class_tells(toy, information):
    groups = next(c for c in EXPECTED["cases"] if c["id"] == "bezzi_toy_attribute")
    for group, values in groups["expected"]["per_group"].items():
        low, high = group.strip("[").split("-")
        row = toy[f"{information}(W, [{low}, {high}))"]
        assert row.value == pytest.approx(values[information], abs=WITHIN)


def test_the_example_as_a_whole(toy):
    summary = EXPECTED["bezzi_toy_summary"]
    for quantity, value in {
        "I(X~;W)": summary["dpi"]["I_W_anon"],
        "t, the largest I1": summary["t_kl"],
        "l, of entropy": summary["l_entropy"],
        "l_max = 2^H(W)": summary["l_max"],
        "l_t = 2^(H(W) - t)": summary["l_t"],
        "k": summary["k"],
        "H(X)": summary["identity"]["H_X"],
        "I(X;X~)": summary["identity"]["MI"],
        "I2(X, [180, 190))": summary["identity"]["log2_N_over_k"],
        **{f"mean of {name}": value for name, value in summary["averages"].items()},
    }.items():
        assert toy[quantity].value == pytest.approx(value, abs=WITHIN)
    raw = summary["dpi"]["I_W_raw"]
    assert toy["I(X~;W) <= I(X;W): Eq. 4"].computed.endswith(f"<= {raw:.6f}")
    assert toy["records"].status.startswith(IMPOSSIBLE)
    assert "6, 2, 2, 2" in toy["records of each class"].remark
    above = toy["classes above the mean, by I1; by I2"]
    assert above.computed == "[190, 200); [160, 170) [170, 180) [180, 190)"
    assert above.status == AS_PUBLISHED


def test_decades_include_their_lower_end():
    assert DIAGNOSIS.sizes.tolist() == [4, 4, 2, 2]
    assert sum(160 <= height < 170 for height in HEIGHTS) == 4


def test_table_1_of_bezzi():
    rows = [row for row in properties().rows if "chain rule" not in row.quantity]
    assert [row.status for row in rows] == [AS_PUBLISHED] * 8
    found = {row.quantity: row for row in rows}
    assert found["I3, non-negative"].computed.startswith("No: at least -")
    assert found["I1, non-negative"].computed == "Yes: at least 0.000000"
    # I4 of one class of many is no more than I(X;W), and less on the mean of them.
    away = found["I4, averages to I(X;W)"]
    assert float(away.computed.split()[3]) > 0.1


# The command


@pytest.fixture
def known(monkeypatch):
    """The command prints a paper that was computed already."""
    sections = sections_of("bkakria2021")
    monkeypatch.setattr(bkakria2021, "sections", lambda: sections)


def test_a_paper_for_people(run, known):
    code, out, err = run("reproduce", "bkakria2021")
    assert (code, err) == (0, "")
    for title in ("Table 1b", "Table 4: inference", "Table 5: ITPR", "Table 7: what each metric"):
        assert f"\n{title}" in out
    assert "Figure 1: two classes of 10,000 records; 15 of 28 points, all by --json" in out
    assert "9,998" in out
    assert "differs: Eq. 8 gives 1.250000" in out
    assert "published figures and statements" in out
    lines = out.splitlines()
    assert max(map(len, lines)) <= 200


def test_a_paper_as_json(run, known):
    code, out, err = run("reproduce", "bkakria2021", "--json")
    assert (code, err) == (0, "")
    rows = json.loads(out)
    assert [row["quantity"] for row in rows if row["series"]] == [
        "Figure 1",
        "Figure 2 (a small class)",
        "Figure 2 (equal steps)",
        "Figure 3",
        "Figure 4 (two groups)",
        "Figure 4 (ten groups)",
        "Figure 5",
        "Figure 6",
        "Figure 7",
    ]
    first = next(row for row in rows if row["quantity"] == "Figure 1")
    assert first["series"]["epsilon"][-1] == 9998
    assert first["series"]["itpr"][-1] == 1.0
    assert {"section", "quantity", "computed", "published", "remark", "value", "status"} < set(
        first
    )
    code, out, _ = run("reproduce", "longpre2017", "--json")
    assert code == 0
    assert {row["section"] for row in json.loads(out)} == {
        section.title for section in sections_of("longpre2017")
    }


def test_bezzi_as_json(run, adult):
    code, out, err = run("reproduce", "bezzi2010", "--json")
    assert (code, err) == (0, "")
    rows = {row["quantity"]: row for row in json.loads(out)}
    assert rows["H(W)"]["value"] == pytest.approx(1.819744, abs=WITHIN)
    assert rows["l_max = 2^H(W)"]["status"] == AS_PUBLISHED
    star = next(row for name, row in rows.items() if "A1* by heuristic" in name)
    assert star["published"] == "0.34"
    assert star["status"].startswith(IMPOSSIBLE)


# Pictures


@pytest.fixture
def few():
    """Two panels and curves, of few points."""
    scheme = bkakria2021.schemes.FIGURE_1
    short = Row(
        "Figure 1", "3 points", remark="two classes", status="exact: so", series=scheme.row().series
    )
    by = PlottedSeries(
        [Column("epsilon", "ε", (0, 0, 9, 9)), Column("theta", "θ", (0, 1, 0, 1), "bits")],
        [Column("itpr", "ITPR", (0, 0.5, 0.5, 1))],
        axis="theta",
        by="epsilon",
    )
    return [
        PublishedSection("S", [Row("x", "1"), short]),
        PublishedSection("T", [Row("Figure 5", "4", series=by)]),
    ]


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_the_same_figures_are_the_same_picture(tmp_path, few, suffix):
    for name in "ab":
        plots.draw(few, tmp_path / (name + suffix))
    first, second = ((tmp_path / (name + suffix)).read_bytes() for name in "ab")
    assert first == second
    assert first[:5] in (b"<?xml", b"\x89PNG\r", b"%PDF-")


def test_a_picture_names_its_panels(tmp_path, few):
    plots.draw(few, tmp_path / "p.svg")
    text = (tmp_path / "p.svg").read_text()
    for label in (
        "Figure 1: exact",
        "two classes",
        "metric (bits)",
        "ITPR",
        "ε (records)",
        "θ (bits)",
    ):
        assert f"<!-- {label} -->" in text
    assert "<!-- ε = 9 -->" in text


def test_the_figures_drawn(run, tmp_path, known):
    picture = tmp_path / "new" / "figures.svg"
    code, out, err = run("reproduce", "bkakria2021", "--plot", picture)
    assert (code, err) == (0, "")
    assert f"The picture is in {picture}." in out
    text = picture.read_text()
    for figure in ("Figure 1: exact", "Figure 4 (two groups): fitted", "Figure 5: regenerated"):
        assert f"<!-- {figure} -->" in text
    code, out, err = run("reproduce", "bkakria2021", "--plot", picture)
    assert (code, out) == (2, "")
    assert "is there already; --force replaces it" in err
    picture.write_text("mine")
    assert run("reproduce", "bkakria2021", "--json", "--plot", picture, "--force")[0] == 0
    assert picture.read_text().count("<!-- Figure") == text.count("<!-- Figure")


def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_is_computed(
    run, tmp_path, monkeypatch
):
    monkeypatch.setattr(bkakria2021, "sections", lambda: pytest.fail("computed"))
    code, out, err = run("reproduce", "bkakria2021", "--plot", tmp_path / "p.gif")
    assert (code, out) == (2, "")
    assert "no format of a picture has suffix '.gif'" in err


def test_without_matplotlib_figures_are_refused(monkeypatch, tmp_path):
    for name in [*sys.modules, "matplotlib"]:
        if name.split(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)
    for name in [name for name in sys.modules if name.startswith("anonymizer.report.plots")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(InputError, match=r"needs matplotlib.*'\.\[plots\]"):
        picture_at(tmp_path / "p.svg", "anonymizer.report.plots.comparison.draw_figures")


def test_printing_needs_no_matplotlib():
    code = "import sys; import anonymizer.report; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_columns_that_say_nothing_are_left_out(capsys):
    sections = [PublishedSection("Table 1", [Row("x", "1")], "A note.")]
    print_report(reproduction_report("A paper", sections))
    out = capsys.readouterr().out
    assert "A note." in out
    assert "computed" in out
    assert "remark" not in out
    assert "published" not in out.split("Of 0")[0]


@pytest.mark.parametrize(
    ("points", "shown", "said"),
    [(14, 14, "14 points"), (20, 11, "11 of 20 points, all by --json"), (1, 1, "1 point")],
)
def test_few_points_of_a_figure_and_its_last(capsys, points, shown, said):
    along = Column("n", "n", list(range(1000, 1000 + points)))
    series = PlottedSeries([along], [Column("m", "m", [0.25] * points)], "n")
    sections = [PublishedSection("Figure 1", [Row("x", "1", series=series)])]
    print_report(reproduction_report("A paper", sections))
    out = capsys.readouterr().out
    assert out.count("│ 0.250000 │") == shown
    assert f"│ {999 + points:,} │" in out
    assert said in " ".join(out.split())


def test_a_line_ends_where_its_axis_turns_back(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "save", lambda figure, path: drawn.append(figure))
    along, measure = Column("t", "t", [0, 1, 2, 1, 3]), Column("m", "m", [0.1, 0.2, 0.3, 0.4, 0.5])
    row = Row("x", "1", series=PlottedSeries([along], [measure], "t"))
    plots.draw([PublishedSection("Figure 1", [row])], tmp_path / "x.png")
    shares = drawn[0].subfigs[0].axes[0]
    assert shares.lines[0].get_xydata().tolist() == [[0, 0.1], [1, 0.2], [2, 0.3], [3, 0.5]]
    assert shares.get_ylim() == (-0.02, 1.02)


def test_an_axis_says_what_it_measures_and_a_legend_hides_no_line(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "save", lambda figure, path: drawn.append(figure))
    along = Column("n", "records", [0, 1_000_000, 2_000_000])
    measures = [Column(name, name, [1, 2, 3], "bits") for name in ("one", "two", "three")]
    row = Row("x", "1", series=PlottedSeries([along], measures, "n", what="loss"))
    plots.draw([PublishedSection("Figure 1", [row])], tmp_path / "x.png")
    (axes,) = drawn[0].subfigs[0].axes
    drawn[0].draw_without_rendering()
    assert axes.get_ylabel() == "loss (bits)"
    assert "1,000,000" in [text.get_text() for text in axes.get_xticklabels()]
    assert axes.get_legend().get_window_extent().y0 >= axes.bbox.y1


def test_a_terminal_says_what_takes_so_long(run, monkeypatch):
    said = []
    shown = contextmanager(lambda: (yield lambda *now: said.append(now)))
    monkeypatch.setattr("anonymizer.feedback.progress.progress", shown)
    assert run("reproduce", "longpre2017")[0] == 0
    assert said == [("computing longpre2017 anew", 0, None)]


def test_bars_of_a_paper_are_drawn_from_its_series(tmp_path):
    series = PlottedSeries(
        [Column("class", "class", ["[0, 25)", "[25, 50)"])],
        [Column("i1", "I1", [0.9, 0.1], "bits"), Column("i2", "I2", [0.2, 0.3], "bits")],
        "class",
        form="bars",
        limits={"i1": 0.55, "i2": 0.4},
    )
    section = PublishedSection(
        "Figure 3", [Row("Figure 3, right", "", remark="0.34", series=series)]
    )
    plots.draw([section], tmp_path / "p.svg")
    drawn = re.findall("<!-- (.*?) -->", (tmp_path / "p.svg").read_text())
    assert {"[0, 25)", "[25, 50)", "I1", "I2", "I1 ≤ 0.55", "I2 ≤ 0.4", "bits", "0.34"} <= {*drawn}
    assert {"0.900", "0.100", "0.200", "0.300", "above its line"} <= {*drawn}
