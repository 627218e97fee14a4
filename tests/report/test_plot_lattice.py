"""The picture of a lattice: where nodes stand, and how they are distinguished."""

import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from anonymizer import Anonymizer, Hierarchy, KAnonymity
from anonymizer.recoding.lattice import Lattice
from anonymizer.report.plots.lattice import KINDS, MOST_LABELLED, draw_lattice, kind_of, places

NAMES = ("age", "sex")


def graph_of(heights=(2, 1), best=(1, 0), names=NAMES, complete=True, **statuses):
    """A lattice with nodes of each kind: ``feasible``, ``minimal`` and ``infeasible`` as listed."""
    lattice = Lattice(names, heights)
    graph = lattice.graph()
    graph.graph.update(
        quasi_identifiers=names,
        best=best,
        complete=complete,
        nodes=lattice.size,
        floors=lattice.bottom,
        heights=heights,
    )
    for node in graph:
        feasible = node in statuses.get("feasible", ()) or node in statuses.get("minimal", ())
        known = feasible or node in statuses.get("infeasible", ())
        graph.nodes[node].update(
            feasible=feasible if known else None,
            minimal=node in statuses.get("minimal", ()) if known else None,
            best=node == best,
            information=0.25 if node == best else None,
        )
    return graph


MIXED = {"minimal": [(1, 0)], "feasible": [(2, 0)], "infeasible": [(0, 0), (0, 1)]}


def comments(path):
    """The texts of a picture, as its comments have them."""
    parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))
    tree = ET.parse(path, parser)
    return [node.text.strip() for node in tree.iter() if callable(node.tag)]


def test_layers_are_sums_of_levels_and_centred():
    assert places(graph_of()) == {
        (2, 1): (0, 3),
        (2, 0): (-0.5, 2),
        (1, 1): (0.5, 2),
        (1, 0): (-0.5, 1),
        (0, 1): (0.5, 1),
        (0, 0): (0, 0),
    }


def test_what_is_known_decides_the_kind():
    graph = graph_of(**MIXED)
    assert {node: kind_of(known) for node, known in graph.nodes(data=True)} == {
        (0, 0): "infeasible",
        (0, 1): "infeasible",
        (1, 0): "minimal",
        (1, 1): "unknown",
        (2, 0): "feasible",
        (2, 1): "unknown",
    }


def test_kinds_differ_without_colour():
    """By the shape, or by being filled: no two share both."""

    def look(style):
        return style["marker"], style.get("markerfacecolor") == "white"

    assert len({look(style) for style in KINDS.values()}) == len(KINDS) == 4
    assert "*" not in {style["marker"] for style in KINDS.values()}


def test_a_picture_names_what_it_shows(tmp_path):
    draw_lattice(graph_of(**MIXED), tmp_path / "p.svg")
    texts = comments(tmp_path / "p.svg")
    for label in ["levels of age, sex", "sum of levels", "2, 1", "0.250", "best"]:
        assert label in texts
    for label in ["feasible, minimal", "feasible", "infeasible", "not known"]:
        assert label in texts


def test_the_legend_has_what_there_is(tmp_path):
    nodes = list(Lattice(NAMES, (2, 1)))
    draw_lattice(graph_of(best=None, minimal=nodes[:1], feasible=nodes[1:]), tmp_path / "p.svg")
    texts = comments(tmp_path / "p.svg")
    assert "feasible, minimal" in texts
    assert not {"infeasible", "not known", "best"} & set(texts)


def test_many_nodes_bear_no_labels(tmp_path):
    heights = (6, 6)
    assert MOST_LABELLED < 49
    graph = graph_of(heights, (3, 4), feasible=list(Lattice(NAMES, heights)))
    draw_lattice(graph, tmp_path / "p.svg")
    assert not {"3, 4", "0.250"} & set(comments(tmp_path / "p.svg"))


def test_of_a_part_it_is_said_that_it_is_one(tmp_path):
    whole = graph_of((40, 30), best=(0, 0), complete=False)
    whole.remove_nodes_from([node for node in whole if node[0] and node[1]])
    whole.graph["nodes"] = 1271
    draw_lattice(whole, tmp_path / "p.svg")
    assert "levels of age, sex; 71 of 1,271 nodes shown" in comments(tmp_path / "p.svg")


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_the_same_lattice_is_the_same_picture(tmp_path, suffix):
    for name in "ab":
        draw_lattice(graph_of(**MIXED), tmp_path / (name + suffix))
    first, second = ((tmp_path / (name + suffix)).read_bytes() for name in "ab")
    assert first == second
    assert first[:5] in (b"<?xml", b"\x89PNG\r", b"%PDF-")


@pytest.mark.parametrize("name", ["$x", "病気", "a<b>&"])
def test_any_attribute_can_be_named(tmp_path, name):
    draw_lattice(graph_of((1,), (1,), names=(name,)), tmp_path / "p.svg")
    assert (tmp_path / "p.svg").stat().st_size > 1000


def test_what_was_fitted_can_be_drawn(tmp_path):
    table = pd.DataFrame({"a": [1, 1, 2, 9], "s": list("xyxy"), "w": list("uvuv")})
    hierarchies = {"a": Hierarchy.ranges(widths=[3]), "s": Hierarchy.suppression()}
    models, about = [KAnonymity(2)], "mutual-information"
    fitted = Anonymizer(hierarchies, "w", models, objective=about).fit(table)
    draw_lattice(fitted.lattice_, tmp_path / "p.svg")
    texts = comments(tmp_path / "p.svg")
    assert "2, 0" in texts
    assert "1.000" in texts


def test_a_lattice_of_no_level_is_a_point(tmp_path):
    draw_lattice(graph_of((0,), (0,), names=("a",), minimal=[(0,)]), tmp_path / "p.svg")
    assert "best" in comments(tmp_path / "p.svg")
