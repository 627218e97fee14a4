"""The command that shows the lattice of a study."""

import json
from functools import partial

import pytest

from anonymizer.report.hierarchy import lattice_report
from anonymizer.report.printing import print_report

# One bit about the disease is in ward; years tell apart a record that has to be hidden.
TABLE = "name,year,ward,disease\n" + "".join(
    f"Nemo{i},{year},{ward},{disease}\n"
    for i, (year, ward, disease) in enumerate(
        [
            ("MCMXC", "north", "Morbus"),
            ("MCMXC", "north", "Morbus"),
            ("MCMXC", "south", "Pestis"),
            ("MCMXCI", "south", "Pestis"),
        ]
    )
)
STUDY = """\
[data]
path = "people.csv"
[quasi-identifiers]
year = "suppress"
ward = "suppress"
[sensitive]
attributes = ["disease"]
[identifiers]
attributes = ["name"]
[[privacy]]
model = "k-anonymity"
k = 2
[objective]
name = "mutual-information"
"""
SECRETS = ("Nemo", "Morbus", "Pestis", "MCMXC", "MCMXCI", "north", "south")


@pytest.fixture
def study(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


@pytest.fixture
def run(run):
    return partial(run, "lattice")


def cells(out):
    """The rows of a printed table."""
    lines = [line for line in out.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def add(study, text):
    study.write_text(study.read_text() + text)


def test_frontier_and_optimum_as_a_table(run, study, tmp_path):
    code, out, err = run(study)
    assert (code, err) == (0, "")
    assert "The lattice of year, ward has 4 nodes (bisection, 3 checked); 2 satisfy the" in out
    assert "1 of them minimal." in out
    assert "year (0-1)" in out
    assert cells(out) == [["*", "1", "0", "yes", "yes", "yes", "1.000000"]]
    assert "is no node" not in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "study.toml"]


def test_json_has_every_node(run, study):
    code, out, err = run(study, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    nodes = found.pop("nodes")
    assert found == {
        "quasi_identifiers": ["year", "ward"],
        "floors": [0, 0],
        "heights": [1, 1],
        "objective": "mutual-information",
        "strategy": "bisection",
        "proven": True,
        "counts": {"nodes": 4, "checked": 3, "feasible": 2, "minimal": 1},
        "best": [1, 0],
        "complete": True,
        "edges": [[0, 1], [0, 2], [1, 3], [2, 3]],
    }
    assert [node["levels"] for node in nodes] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert [node["feasible"] for node in nodes] == [False, False, True, True]
    assert [node["minimal"] for node in nodes] == [False, False, True, False]
    assert [node["best"] for node in nodes] == [False, False, True, False]
    assert [node["checked"] for node in nodes] == [True, True, True, False]
    assert [node["information"] for node in nodes] == [None, None, 1.0, None]


def test_a_picture_is_drawn_and_not_replaced(run, study, tmp_path):
    picture = tmp_path / "new" / "lattice.svg"
    code, out, err = run(study, "--plot", picture)
    assert (code, err) == (0, "")
    assert f"The picture is in {picture}." in out
    drawn = picture.read_text()
    assert "<!-- levels of year, ward -->" in drawn
    assert not [secret for secret in SECRETS if secret in drawn]
    code, out, err = run(study, "--plot", picture)
    assert (code, out) == (2, "")
    assert "is there already; --force replaces it" in err
    assert run(study, "--plot", picture, "--force")[0] == 0


@pytest.mark.parametrize(("plot", "message"), [("p.gif", "no format"), ("", "no format")])
def test_a_picture_that_cannot_be_drawn_is_refused_first(run, tmp_path, plot, message):
    code, out, err = run(tmp_path / "none.toml", "--plot", f"{tmp_path}/{plot}")
    assert (code, out) == (2, "")
    assert message in err


def test_another_objective_has_a_column(run, study):
    study.write_text(STUDY.replace("mutual-information", "discernibility"))
    code, out, _ = run(study)
    assert code == 0
    assert "discernibility" in out
    assert cells(out) == [["*", "1", "0", "yes", "yes", "yes", "", "8.000000"]]


def test_under_suppression_the_frontier_may_be_open(run, study):
    add(study, "[recoding]\nsuppression = 0.25\n")
    code, out, _ = run(study)
    assert code == 0
    assert "satisfy the policy" not in out
    assert "strategy = 'exhaustive' finds it" in out
    assert cells(out) == [
        ["*", "1", "0", "yes", "yes", "yes", "1.000000"],
        ["", "0", "1", "yes", "yes", "yes", "0.000000"],
    ]


def test_ranges_begin_with_a_lattice_and_end_between_its_nodes(run, study, tmp_path):
    (tmp_path / "years.toml").write_text("widths = [10]\n")
    add(study, '[recoding]\nmethod = "variable-range"\n')
    study.write_text(study.read_text().replace('year = "suppress"', 'year = "years.toml"'))
    (tmp_path / "people.csv").write_text(
        "name,year,ward,disease\n" + "n,38,north,Morbus\n" * 2 + "n,41,north,Pestis\n"
        "n,52,north,Pestis\n" + "n,75,north,Morbus\n" * 2
    )  # fmt: skip
    code, out, err = run(study)
    assert (code, err) == (0, "")
    assert "it is no node of the lattice" in out
    assert [row[:3] for row in cells(out)] == [["", "2", "0"]]
    assert json.loads(run(study, "--json")[1])["best"] is None


def test_levels_that_are_given(run, study):
    add(study, '[recoding]\nmethod = "fixed"\nlevels = {year = 1, ward = 1}\n')
    code, out, _ = run(study)
    assert code == 0
    assert "The levels were given: no other node was counted." in out
    assert cells(out) == [["*", "1", "1", "yes", "not known", "yes", "0.000000"]]


def test_a_recoding_without_a_lattice_is_refused_before_the_table_is_read(run, study, tmp_path):
    add(study, '[recoding]\nmethod = "boxes"\n')
    (tmp_path / "people.csv").unlink()
    code, out, err = run(study)
    assert (code, out) == (2, "")
    assert "recoding 'boxes' does not search over levels" in err
    assert "such as full-domain" in err
    assert err.count("\n") == 1


def test_a_policy_out_of_reach(run, study):
    add(study, '[[privacy]]\nmodel = "recursive-l-diversity"\nc = 0.01\nl = 2\n')
    code, out, err = run(study)
    assert (code, out) == (1, "")
    assert "recursive-l-diversity" in err


def test_a_study_that_is_not_there(run, tmp_path):
    code, out, err = run(tmp_path / "none.toml")
    assert (code, out) == (2, "")
    assert "none.toml" in err


def test_help_shows_an_example(run):
    code, out, _ = run("--help")
    assert code == 0
    assert "Example: anonymizer lattice study.toml --plot lattice.svg" in out


def test_a_long_frontier_is_cut_short(capsys):
    from anonymizer.recoding.lattice import Lattice

    graph = Lattice(("a", "b"), (39, 39)).graph([(i, 39 - i) for i in range(40)])
    graph.graph.update(
        quasi_identifiers=("a", "b"), floors=(0, 0), heights=(39, 39),
        objective="mutual-information",
        strategy="bisection", proven=False, nodes=1600, checked=200, feasible=820, best=(5, 34),
        complete=False,
    )  # fmt: skip
    for node in graph:
        bits = node[0] / 100
        graph.nodes[node].update(
            feasible=True, minimal=True, checked=True, best=node == (5, 34), information=bits,
            value=bits,
        )  # fmt: skip
    print_report(lattice_report(graph))
    out = capsys.readouterr().out
    rows = cells(out)
    assert len(rows) == 30
    assert rows[0][:3] == ["*", "5", "34"]
    assert rows[1][:3] == ["", "39", "0"]
    assert "10 nodes of the frontier more; --json lists all." in out
    assert "The node is not proven to be the best: another may be better." in out
