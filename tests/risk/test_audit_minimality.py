"""The minimality attack through files: the paper's example, and when it does not apply."""

import json

import pandas as pd
import pytest

from anonymizer.cli import main

# After Wong et al. (2007): two records of q1, four of q2, two of all six with HIV. Of the 15 ways
# to place these, q1 and q2 apart break l = 2 where both records of q1 have it (1), or neither (6).
PEOPLE = pd.DataFrame(
    {"q": ["q1"] * 2 + ["q2"] * 4, "disease": ["Morbus"] * 2 + ["none"] * 4},
)
STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
q = "suppress"
[sensitive]
attributes = ["disease"]
[recoding]
{search}
[[privacy]]
model = "distinct-l-diversity"
l = 2
"""


@pytest.fixture
def audited(tmp_path, capsys):
    def call(search="", *options, people=PEOPLE, against=None):
        people.to_csv(tmp_path / "people.csv", index=False)
        (tmp_path / "study.toml").write_text(STUDY.format(search=search))
        study, out = tmp_path / "study.toml", tmp_path / "out"
        with pytest.raises(SystemExit) as stop:
            main(["run", str(study), "-o", str(out), "--force"])
        assert stop.value.code == 0
        capsys.readouterr()
        original = tmp_path / "people.csv"
        if against is not None:
            original = tmp_path / "original.csv"
            against.to_csv(original, index=False)
        with pytest.raises(SystemExit) as stop:
            main(["audit", str(out), "--against", str(original), *options])
        text = capsys.readouterr().out
        unexamined = json.loads(text)["unexamined"] if "--json" in options else "Not ex" in text
        against_all = json.loads(text)["satisfied"] if "--json" in options else " NOT " not in text
        assert stop.value.code == (1 if not against_all else 3 if unexamined else 0)
        assert "Morbus" not in text
        return text

    return call


def minimality(text: str) -> dict:
    return json.loads(text)["releases"][0]["minimality"]


def test_what_the_policy_and_the_search_give_away(audited, tmp_path):
    """Of 15 worlds 7 are left: q1 has it in 1 of these, the other value in 6 of 7, not 4 of 6."""
    options = ("--study", str(tmp_path / "study.toml"))
    found = minimality(audited("", *options, "--json"))
    assert (found["method"], found["worlds"], found["reveals"]) == ("exact", 3, True)
    assert found["probability"] == pytest.approx(7 / 15)
    assert found["largest_share"] == pytest.approx(4 / 6)
    assert found["largest_posterior"] == pytest.approx(6 / 7)
    assert found["records_raised"] == 2
    text = audited("", *options)
    assert "leaves a share of 0.4667 of all ways to deal out the values" in text
    assert "largest posterior is 0.8571, not 0.6667" in text


def test_beyond_the_policy_is_not_that_it_holds(audited, tmp_path):
    """q1 and q2 apart broke l = 2, so that one of them has one value: no four are alike."""
    values = ["a", "a", "a", "b", "c", "b", "d"]
    people = pd.DataFrame({"q": ["q1"] * 3 + ["q2"] * 4, "disease": values})
    options = ("--study", str(tmp_path / "study.toml"))
    told = json.loads(audited("", *options, "--json", people=people))
    assert told["releases"][0]["minimality"]["largest_posterior"] == 1
    assert (told["holds"], told["satisfied"], told["beyond"]) == (True, False, 3)
    assert (
        "The policy holds in every release, but does NOT hold against somebody who knows the study "
        "and simulates its search: what he can infer about 3 records is beyond it."
    ) in " ".join(audited("", *options, people=people).split())


@pytest.mark.parametrize(
    ("search", "against", "reason"),
    [
        ("", pd.concat([PEOPLE, PEOPLE]), "the original holds more people than the release"),
        ("", PEOPLE[["q"]], "the original lacks a sensitive attribute"),
    ],
)
def test_where_it_says_nothing(audited, tmp_path, search, against, reason):
    options = ("--study", str(tmp_path / "study.toml"), "--json")
    found = minimality(audited(search, *options, against=against))
    assert (found["method"], found["probability"]) == ("not applicable", None)
    assert reason in found["reason"]


def test_without_the_study_the_hierarchies_are_not_known(audited):
    assert "Minimality, not applicable: its hierarchies are known by --study alone." in audited()


def test_too_many_worlds_are_drawn_by_a_seed(audited, tmp_path):
    """The search releases the same where all of some q have one disease: too rare among draws."""
    cells = [f"q{i}" for i in range(6) for _ in range(20)]
    values = [f"Morbus{i % 4}" for i in range(6) for _ in range(20)]
    many = pd.DataFrame({"q": cells, "disease": values})
    options = ("--study", str(tmp_path / "study.toml"), "--json", "--draws", "500", "--seed")
    first, again = (minimality(audited("", *options, "3", people=many)) for _ in range(2))
    assert first == again
    assert (first["method"], first["attacked"]) == ("unknown", "every recoding")
    assert "that were drawn" in first["reason"]


def test_a_seed_is_not_negative(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["audit", "out", "--against", "people.csv", "--seed", "-1"])
    assert stop.value.code == 2
    assert "'--seed': -1 is not in the range x>=0" in capsys.readouterr().err
