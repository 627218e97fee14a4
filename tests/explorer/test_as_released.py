"""What the explorer says of odd tables is what a release of them comes to."""

from copy import deepcopy

import pytest
from fuzz.explored import shown, shown_alike
from fuzz.readers import texts_of
from fuzz.studies import case_of, lay
from release.test_missing import CLASH, NUMBERED, clashing, numbered
from release.test_person_warnings import visits

from anonymizer import profile
from anonymizer.explorer.answers.counted import Counter
from anonymizer.explorer.answers.outcome import StudyOutcome, outcome_of
from anonymizer.explorer.answers.preview import repeated_of
from anonymizer.explorer.session.contents import roles_of, with_role
from anonymizer.release.manifest.parts import steward_file
from anonymizer.release.publish import publish
from anonymizer.release.study import Study


def looked_at(path) -> StudyOutcome:
    return outcome_of(Counter().counted(Study(path)))


@pytest.mark.parametrize("missing", ["error", "drop", "gap", "category"])
@pytest.mark.parametrize("method", ["full-domain", "best", "boxes"])
def test_a_label_that_reads_as_missing_is_refused_where_it_is_shown(tmp_path, missing, method):
    for path, refused in clashing(tmp_path, missing, method):
        found = looked_at(path)
        assert found.holds != refused
        assert not refused or CLASH in found.refusal


def test_the_number_of_a_class_that_reads_as_missing_is_refused(tmp_path):
    assert NUMBERED in looked_at(numbered(tmp_path)).refusal


def test_people_with_several_records_are_warned_of_before_anything_is_released():
    found = repeated_of(profile(visits()))
    assert [each[:58] for each in found] == [
        "Class sizes count records, not people; by column 'patient'"
    ]
    assert repeated_of(profile(visits(40, 1))) == []


def test_of_whom_the_study_knows_nobody_is_warned():
    """Whatever the profile proposes: it is the study that says whose each record is."""
    found = profile(visits().assign(hhid=lambda t: t.index // 10))
    assert found.person == ("patient",)
    (several,) = repeated_of(found, ["patient"])
    assert several.startswith("Classes count those whom person tells apart; by column 'hhid'")
    assert repeated_of(found, ["hhid"]) == []
    assert len(repeated_of(found)) == 2
    assert len(repeated_of(found, ["gone"])) == 2


def test_the_column_of_persons_is_a_role():
    content = {
        "data": {"path": "t.csv", "person": "patient"},
        "quasi-identifiers": {"age": "suppress", "sex": "suppress"},
        "identifiers": {"attributes": ["hhid"]},
    }
    assert roles_of(content)["patient"] == "person"
    same = with_role(deepcopy(content), "sex", "identifier")
    assert same["data"] == content["data"]
    both = with_role(deepcopy(content), "hhid", "person")
    assert both["data"]["person"] == ["patient", "hhid"]
    assert both["identifiers"] == {"attributes": []}
    none = with_role(deepcopy(content), "patient", "identifier")
    assert none["data"] == {"path": "t.csv"}
    assert none["identifiers"] == {"attributes": ["hhid", "patient"]}


def test_a_column_of_weights_is_left_out_as_identifiers_are():
    content = {
        "data": {"path": "t.csv", "weight": "people"},
        "quasi-identifiers": {"age": "suppress", "sex": "suppress"},
    }
    assert roles_of(content)["people"] == "identifier"
    same = with_role(deepcopy(content), "people", "identifier")
    assert same["data"] == content["data"]
    assert with_role(deepcopy(content), "sex", "sensitive")["data"] == content["data"]
    moved = with_role(deepcopy(content), "people", "sensitive")
    assert moved["data"] == {"path": "t.csv"}
    assert roles_of(moved)["people"] == "sensitive"


def test_columns_of_households_are_left_out_as_identifiers_are():
    content = {
        "data": {"path": "t.csv", "weight": "people", "household": ["street", "flat"]},
        "quasi-identifiers": {"age": "suppress", "sex": "suppress"},
    }
    assert {roles_of(content)[name] for name in ("people", "street", "flat")} == {"identifier"}
    assert with_role(deepcopy(content), "flat", "identifier")["data"] == content["data"]
    moved = with_role(deepcopy(content), "flat", "sensitive")
    assert moved["data"] == {"path": "t.csv", "weight": "people", "household": ["street"]}
    assert roles_of(moved)["flat"] == "sensitive"
    moved["data"]["household"] = "street"
    assert with_role(moved, "street", "person")["data"] == {
        "path": "t.csv",
        "weight": "people",
        "person": ["street"],
    }


def test_the_list_of_pinned_columns_is_kept():
    content = {
        "data": {"path": "t.csv", "columns": "pinned"},
        "quasi-identifiers": {"age": "suppress", "sex": "suppress"},
        "insensitive": {"attributes": ["year"]},
    }
    moved = with_role(deepcopy(content), "sex", "insensitive")
    assert moved["insensitive"] == {"attributes": ["year", "sex"]}
    assert with_role(moved, "year", "sensitive")["insensitive"] == {"attributes": ["sex"]}
    unpinned = {"data": {"path": "t.csv"}, "quasi-identifiers": {"age": "suppress", "sex": "x"}}
    assert "insensitive" not in with_role(unpinned, "sex", "insensitive")


def test_another_release_than_the_explorer_shows(tmp_path):
    study, out = lay(case_of("study:196"), tmp_path), tmp_path / "out"
    publish(Study(study), out)
    (path,) = out.glob("released.*")
    texts = texts_of(path, "\t")
    assert [*shown_alike(shown(study), steward_file(out), texts)] == []
    rows = sorted(zip(*texts.values(), strict=True))[1:]  # in whichever order they are released
    fewer = dict(zip(texts, map(list, zip(*rows, strict=True)), strict=True))
    kinds = {kind for kind, _ in shown_alike(shown(study), steward_file(out), fewer)}
    assert {"attack on None with None: records", "worst class of t-closeness"} <= kinds
