"""The lattice of the explorer: that of the command line, with what its best nodes keep."""

import json
from pathlib import Path

import pytest
from explorer.conftest import small_study

from anonymizer.cli import main
from anonymizer.explorer.answers.counted import Counter
from anonymizer.explorer.answers.nodes import (
    SearchedLattice,
    broken_in,
    chosen_in,
    label_of,
    nodes_of,
    words_of,
)
from anonymizer.explorer.answers.outcome import outcome_of
from anonymizer.explorer.command import _demo_in
from anonymizer.explorer.session.contents import with_levels, with_recoding, with_suppression
from anonymizer.explorer.session.session import Session
from anonymizer.explorer.views.lattice import full_domain

counter = Counter()


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Session:
    return Session(_demo_in(tmp_path_factory.mktemp("demo")))


def nodes_at(session: Session, change=full_domain) -> tuple[SearchedLattice, str]:
    text = session.after(change)
    return nodes_of(counter.counted(session.study(text))), text


def suppressing(content):
    return with_suppression(full_domain(content), 0.02)


@pytest.mark.parametrize("change", [full_domain, suppressing])
def test_the_nodes_are_those_of_the_command_line(demo, tmp_path, capsys, change):
    nodes, text = nodes_at(demo, change)
    path = tmp_path / "levels.toml"
    path.write_text(text)
    with pytest.raises(SystemExit):
        main(["lattice", str(path), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["quasi_identifiers"] == list(nodes.names)
    by_node = {tuple(each["levels"]): each for each in found["nodes"]}
    assert {each.node for each in nodes.shown} == {*by_node}
    for each in nodes.shown:
        known = by_node[each.node]
        kind = {True: "feasible", False: "infeasible", None: "unknown"}[known["feasible"]]
        kind = "minimal" if known["minimal"] else kind
        assert each.kind == ("optimum" if known["best"] else kind)
    levels = [tuple(each["levels"]) for each in found["nodes"]]
    links = {(nodes.shown[low].node, nodes.shown[high].node) for low, high in nodes.links}
    assert links == {(levels[low], levels[high]) for low, high in found["edges"]}


def test_what_nodes_keep_is_what_the_study_comes_to_at_their_levels(demo):
    nodes, _ = nodes_at(demo)
    assert len(nodes.found) == 2
    for node, found in nodes.found.items():
        levels = dict(zip(nodes.names, node, strict=True))
        text = demo.after(lambda content, levels=levels: with_levels(content, levels))
        outcome = outcome_of(counter.counted(demo.study(text)))
        assert outcome.holds
        assert found.classes == outcome.classes
        assert found.retained == pytest.approx(outcome.information[1])
        assert chosen_in(outcome, nodes) == node
    assert chosen_in(outcome_of(counter.counted(demo.study())), nodes) is None


def test_a_node_that_breaks_the_policy_can_be_chosen(tmp_path):
    session = Session(small_study(tmp_path))
    nodes, _ = nodes_at(session)
    text = session.after(lambda content: with_levels(content, {"age": 0, "city": 0}))
    outcome = outcome_of(counter.counted(session.study(text)))
    assert not outcome.holds
    assert chosen_in(outcome, nodes) == (0, 0)
    assert nodes.kind((0, 0)) == "infeasible"
    assert broken_in(outcome) == "Classes that break the policy: k-anonymity in 12 of 12."


def test_values_that_are_drawn_are_no_node(tmp_path):
    session = Session(small_study(tmp_path))
    nodes, _ = nodes_at(session)
    text = session.after(lambda content: with_recoding(content, "pram", {}))
    outcome = outcome_of(counter.counted(session.study(text)))
    assert outcome.holds
    assert chosen_in(outcome, nodes) is None


def test_the_lattice_of_a_policy_out_of_reach_is_shown_with_the_reason(tmp_path):
    session = Session(small_study(tmp_path, k=13))
    nodes, _ = nodes_at(session)
    assert nodes.best is None
    assert nodes.found == {}
    assert "k-anonymity" in nodes.refusal
    assert {each.kind for each in nodes.shown} == {"infeasible"}
    assert len(nodes.shown) == nodes.lattice.size == 8


def test_levels_by_example(tmp_path):
    nodes, _ = nodes_at(Session(small_study(tmp_path)))
    assert nodes.example("age", 1) == "3 groups, such as [20, 30)"
    assert nodes.example("age", 1, shows_labels=False) == "3 groups"
    assert nodes.example("age", 0) == "12 values, as they are"
    assert nodes.example("city", 1).startswith("one group")
    assert (label_of((2, 0)), words_of(("a", "b"), (2, 0))) == ("2·0", "a 2, b 0")


def test_a_large_lattice_has_its_frontier_and_paths(tmp_path):
    path = Path(tmp_path) / "study.toml"
    small_study(tmp_path)
    text = path.read_text()
    columns = [f"c{number}" for number in range(9)]
    rows = (tmp_path / "people.csv").read_text().splitlines()
    people = [rows[0] + "," + ",".join(columns)]
    people += [f"{row},{','.join(str(len(row) % 2) for _ in columns)}" for row in rows[1:]]
    (tmp_path / "people.csv").write_text("\n".join(people) + "\n")
    rules = "".join(f'{name} = "suppress"\n' for name in columns)
    path.write_text(text.replace('city = "suppress"\n', f'city = "suppress"\n{rules}'))
    nodes, _ = nodes_at(Session(path))
    assert nodes.lattice.size == 4 * 2**10
    assert not nodes.complete
    assert len(nodes.shown) < 512
    assert nodes.best in {each.node for each in nodes.shown}


def test_the_way_back_keeps_what_may_be_suppressed():
    fixed = with_recoding({}, "fixed", {"levels": {"a": 1}, "suppression": 0.1})
    assert full_domain(fixed)["recoding"] == {"method": "full-domain", "suppression": 0.1}
    own = {"recoding": {"method": "full-domain", "min-records": 9}}
    assert full_domain(own) == own
