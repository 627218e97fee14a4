"""The attacker who knows the method: hand-worked, against one who uses the library as a black box.

And what is said where a search cannot be simulated.
"""

import json
from math import inf

import numpy as np
import pandas as pd
import pytest
from attacked import KINDS, Simulated, simulated_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from simulated import posteriors, random_table, released_by

from anonymizer import (
    KAnonymity,
)
from anonymizer.cli import main
from anonymizer.feedback.progress import ignore
from anonymizer.risk.method import listed, nothing_learnt, simulation
from anonymizer.risk.simulation import (
    Dealing,
    SimulatedSearch,
    Simulation,
    limited,
)
from anonymizer.risk.walks import Walks, squared_errors

SEVEN = pd.DataFrame(
    {"age": [1] * 3 + [2] * 4, "disease": ["HIV"] * 3 + ["flu", "cold", "flu", "asthma"]}
)
"""Apart, those aged 1 break l = 2 in the one way of 35 in which they have HIV, all three."""

STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
age = {{ widths = [2] }}
[sensitive]
attributes = ["disease"]
[recoding]
{recoding}
[objective]
name = "discernibility"
[[privacy]]
model = "k-anonymity"
k = 2
{more}
"""
TWO_VALUES = '[[privacy]]\nmodel = "distinct-l-diversity"\nl = 2'
SEARCHED = ["full-domain", "variable-range", "cut", "boxes", "merged-cells", "best"]


@pytest.fixture
def released(tmp_path, capsys):
    """Release a table by a study, and audit it: the exit code, what it learns, and the text."""

    def call(recoding='method = "full-domain"', *, people=SEVEN, more=TWO_VALUES, then=""):
        study, out = tmp_path / "study.toml", tmp_path / "out"
        people.to_csv(tmp_path / "people.csv", index=False)
        study.write_text(STUDY.format(recoding=recoding, more=more))
        assert stopped("run", str(study), "-o", str(out), "--force") == 0
        study.write_text(STUDY.format(recoding=then or recoding, more=more))
        options = [str(out), "--against", str(tmp_path / "people.csv"), "--study", str(study)]
        capsys.readouterr()
        stopped("audit", *options)
        text = " ".join(capsys.readouterr().out.split())
        code = stopped("audit", *options, "--json")
        found = json.loads(capsys.readouterr().out)
        assert "HIV" not in text
        return code, found["releases"][0]["minimality"], text

    return call


def stopped(*command: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main([*command])
    return int(stop.value.code or 0)


@pytest.mark.parametrize("method", SEARCHED)
def test_who_had_to_be_hidden_is_known_for_sure(released, method):
    """One class is released, which no one would have to be if the three had not all had HIV."""
    code, found, text = released(f'method = "{method}"')
    assert (code, found["method"], found["attacked"]) == (1, "exact", "every recoding")
    assert found["probability"] == pytest.approx(1 / 35)
    assert (found["largest_share"], found["largest_posterior"]) == (pytest.approx(3 / 7), 1.0)
    assert (found["records_raised"], found["records_breached"]) == (7, 3)
    assert found["worlds"] == found["searches"] == 11  # tables of 3 and 4 by 3, 2, 1 and 1
    assert "no other recoding was preferred, which leaves a share of 0.02857" in text
    assert "The search was run again on all 11 ways to deal them out." in text
    assert "what he can infer about 3 records is beyond it" in text


@pytest.mark.parametrize(
    "recoding",
    ['method = "fixed"\nlevels = { age = 1 }', "suppression = 0.3", "min-records = 3"],
)
def test_what_was_not_examined_before_is(released, recoding):
    people = SEVEN.assign(disease=["a", "b", "c", "a", "b", "c", "d"])
    code, found, text = released(recoding, people=people)
    assert (code, found["method"], found["records_breached"]) == (0, "exact", 0)
    assert "also against somebody who knows the study" in text


def test_sizes_alone_are_not_searched_again(released):
    code, found, text = released(more="")
    assert (code, found["method"], found["reveals"]) == (0, "exact", False)
    assert (found["worlds"], found["searches"], found["probability"]) == (0, 0, 1.0)
    assert "Minimality: that no other recoding was preferred reveals nothing." in text


FEWER = SEVEN.assign(age=[1, 2, 2, 2, 2, 2, 2])


@pytest.mark.parametrize(
    ("recoding", "people", "then", "reason"),
    [
        ("suppression = 0.3", FEWER, "", "suppressed records were left out"),
        ('method = "full-domain"', SEVEN, "max-classes = 3", "the study is not the one"),
    ],
)
def test_what_cannot_be_simulated_is_not_examined(released, recoding, people, then, reason):
    code, found, text = released(recoding, people=people, then=then)
    assert code == 3
    assert found["method"] in ("unknown", "not applicable")
    assert reason in found["reason"]
    assert "Not examined is what" in text


def test_what_was_chosen_in_rehearsals_is_not_searched_again(released):
    """Its odds are models of the policy, which a class of two diseases satisfies."""
    people = pd.DataFrame({"age": [1, 2] * 2000, "disease": [*"abcdefgh"] * 500})
    more = TWO_VALUES + '\n[search]\nagainst = "method"'
    code, found, text = released(people=people, more=more)
    assert (code, found["method"], found["records_breached"]) == (0, "bounded", 0)
    assert "its recoding was chosen in rehearsals, by counts with noise" in found["reason"]
    assert "the policy holds of all that this may tell" in text


def test_a_search_with_a_time_limit_is_not_simulated(released):
    """That the finer release broke the policy is known whatever time there was."""
    code, found, text = released(more=TWO_VALUES + "\n[search]\ntime-limit = 60")
    assert (code, found["attacked"]) == (1, "direct specializations")
    assert "its search had a time limit" in found["unsimulated"]
    assert "Of other recodings it is not known what they reveal: its search had a time" in text


def test_what_only_the_finer_ones_are_known_to_hide_is_not_examined(released):
    """That no finer release held says nothing; what a search within a time would say is open."""
    more = TWO_VALUES + "\n[search]\ntime-limit = 60"
    code, found, text = released(more=more, people=SEVEN.assign(age=1))
    assert (code, found["method"], found["records_breached"]) == (3, "exact", 0)
    assert "Not examined is what" in text


NUMBERS = {"ranges": (2, 400), "any": (1, 200), "merged": (1, 20), "best": (1, 50)}


@pytest.mark.parametrize("kind", KINDS)
def test_against_one_who_releases_all_tables(kind):
    for found in simulated_tables(kind, at_length(*NUMBERS.get(kind, (1, 200)))):
        probability, expected = posteriors(found.table, found.about, released_by(found.anonymizer))
        learnt = found.attacked()
        assert learnt.probability == pytest.approx(probability, abs=1e-9)
        assert learnt.reveals == (probability < 1 - 1e-9)
        for own, right in zip(found.beliefs(), expected, strict=True):
            assert own == pytest.approx(right, abs=1e-9)
        alone = [
            {value: sum(p for kind, p in each.items() if kind[place] == value) for value in "ijkpq"}
            for place in range(len(found.about))
            for each in expected
        ]
        if learnt.reveals and len(found.about) == 1:
            assert learnt.largest_posterior == pytest.approx(
                max(learnt.largest_share, *(max(each.values()) for each in alone)), abs=1e-9
            )


@settings(max_examples=at_length(8, 150))
@given(
    st.integers(0, 10**6),
    st.sampled_from([kind for kind in KINDS if kind not in ("merged", "best")]),
)
def test_a_search_that_sees_no_value_is_the_same_in_every_world(seed, kind):
    """So it need not be simulated: what the attack takes for granted of sizes alone."""
    found = Simulated.__new__(Simulated)
    rng = np.random.default_rng(seed)
    found.table, found.about, found.recoding = random_table(rng, 8), ["w"], KINDS[kind]
    found.table = found.table[["a", "b", "w"]]
    found.models, found.objective = [KAnonymity(int(rng.integers(1, 5)))], "discernibility"
    task = found.anonymizer().task(found.table)
    search, world = SimulatedSearch.of(found.recoding, task)
    ours = search.released(world, limited(inf))
    for _ in range(3):
        other = rng.permutation(found.table["w"])
        again = SimulatedSearch.of(
            found.recoding, found.anonymizer().task(found.table.assign(w=other))
        )
        assert again[0].released(again[1], limited(inf)) == ours


def test_walks_agree_with_all_worlds():
    """Within three standard errors, or what never happened in so many draws."""
    tried = 0
    for found in simulated_tables("ranges", at_length(4, 60), records=8):
        exact = found.attacked()
        if not exact.reveals:
            continue
        sampled = found.attacked(most=0)
        assert sampled.method in ("sampled", "unknown")
        if sampled.method == "unknown":
            assert sampled.reason
            continue
        tried += 1
        if sampled.records_breached < exact.records_breached:
            assert "within its error of what the policy allows" in sampled.reason
        deviation = (exact.probability * (1 - exact.probability) / (sampled.draws / 4)) ** 0.5
        assert sampled.probability == pytest.approx(exact.probability, abs=3 * deviation)
        dealing = Dealing.of(found.world, found.whole)
        simulated = Simulation(found.search, found.whole, inf)
        walks = Walks.of(simulated, dealing, np.random.default_rng(1), 10_000)
        means = listed(simulated, dealing, nothing_learnt(None), 10**6, ignore).means[0, 0]
        error = np.maximum(3 * np.sqrt(squared_errors(walks.means)), 3 / walks.effective)
        sizes = np.maximum(found.world.sum(axis=1), 1)[:, None]
        assert (np.abs(walks.means.mean(axis=(0, 1)) - means) <= error * sizes).all()
    assert tried >= 1


def test_a_belief_that_holds_by_less_than_its_error_is_not_known_to_hold():
    """Two records are beyond t = .35, one of them by .007, which walks do not tell from none."""
    found = Simulated("ranges", 224, 12)
    assert found.attacked().records_breached == 2
    rng = np.random.default_rng(224)
    sampled = simulation(found.search, found.world, found.whole, rng, most=0, seconds=inf)
    assert sampled.records_breached == 1
    assert "what can be inferred about 1 record is within its error of" in sampled.reason


def test_a_seed_decides_what_is_drawn():
    found = next(simulated_tables("levels", 1, records=9))
    assert found.attacked(most=0) == found.attacked(most=0)


def test_few_draws_say_nothing():
    found = next(each for each in simulated_tables("ranges", 20, 9) if each.attacked().reveals)
    learnt = found.attacked(most=0, draws=50)
    assert (learnt.method, learnt.examined) == ("unknown", False)
    assert "worlds that were drawn are too few to say anything" in learnt.reason
    assert learnt.largest_posterior is None
