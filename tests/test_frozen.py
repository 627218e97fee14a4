"""What ``make frozen`` compares, and whether it would notice."""

import json

import pytest
from frozen import digests, interface, studies
from frozen.digests import NOT_HERE, differences, digest, record, recorded
from frozen.texts import plain
from fuzz.policies import POLICIES
from fuzz.studies import RECODINGS, case_of

import anonymizer
from anonymizer.objectives import OBJECTIVES
from anonymizer.recoding import STRATEGIES
from anonymizer.release.request import RECODINGS as METHODS


def of_interface(names):
    return {name: digest(interface.text(name)) for name in names}


def test_what_was_recorded_is_equal_and_what_was_changed_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(digests, "HERE", tmp_path)
    monkeypatch.setattr(digests, "MADE_WITH", tmp_path / "made_with.json")
    names = ["public names", "keys of a study", "anonymizer.check", "help of anonymizer run"]
    record("interface", of_interface(names))
    before = recorded("interface")
    assert [*before] == names
    assert [*differences(before, of_interface(names))] == []
    assert digests.other_versions() == ""
    monkeypatch.setattr(anonymizer, "check", lambda table, quasi_identifiers, k=2: None)
    monkeypatch.setattr(anonymizer, "__all__", [*anonymizer.__all__, "audit"])
    assert [*differences(before, of_interface(names))] == [
        "public names: differs",
        "anonymizer.check: differs",
    ]


def test_names_that_are_new_or_no_more():
    before, now = {"a": "1", "b": "2", "c": "3"}, {"b": "2", "c": NOT_HERE, "d": "4"}
    assert [*differences(before, now)] == ["a: is no more", "d: is new"]


def test_a_text_that_needs_what_is_not_installed_is_not_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(digests, "HERE", tmp_path)
    monkeypatch.setattr(digests, "MADE_WITH", tmp_path / "made_with.json")
    record("studies", {"a": "1", "b": NOT_HERE})
    assert recorded("studies") == {"a": "1"}


def test_fields_that_are_left_out_are_those_of_their_place_alone():
    study = {"fingerprint": "f", "sha256": "s"}
    parts = [{"file": "1", "sha256": "s"}]
    manifest = {"versions": {"numpy": "2"}, "table": {"sha256": "s", "parts": parts}}
    found = json.loads(plain({"study": study, **manifest, "release": "d", "records": 0.1}))
    assert found == {"records": 0.1, "study": study, "table": {"parts": [{"file": "1"}]}}


def test_the_studies_are_of_every_kind():
    named = {recoding: numbers.split() for recoding, numbers in studies.NUMBERS.items()}
    cases = {number: case_of(f"study:{number}") for each in named.values() for number in each}
    assert len(cases) == 200
    assert {case.recoding: None for case in cases.values()}.keys() == RECODINGS.keys()
    assert all(cases[n].recoding == recoding for recoding, each in named.items() for n in each)
    documents = [case.document for case in cases.values()]
    methods = {each["recoding"].get("method", "full-domain") for each in documents}
    assert methods == set(METHODS)
    assert {each["model"] for document in documents for each in document["privacy"]} == {*POLICIES}
    objectives = {each.get("objective", {}).get("name") for each in documents}
    assert objectives - {None} == {*OBJECTIVES}
    strategies = {each.get("search", {}).get("strategy", "automatic") for each in documents}
    assert strategies == {*STRATEGIES}
    assert {(case.recoding, case.route) for case in cases.values()} == {
        (recoding, route) for recoding in RECODINGS for route in ("csv", "parquet", "frame")
    }


@pytest.mark.parametrize("some", [studies.FOLLOWED, studies.IN_LIBRARIES])
def test_some_studies_of_every_recoding_go_on(some):
    cases = [case_of(f"study:{number}") for number in some.split()]
    assert {case.recoding for case in cases} == {*RECODINGS}
    assert all(case.route != "frame" for case in cases)
