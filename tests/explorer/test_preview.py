"""What a release would look like, by counts: held against the released file, read by pandas."""

import itertools

import numpy as np
import pandas as pd
import pytest
from explorer.conftest import in_pairs, small_study
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.explorer.answers.counted import Counter
from anonymizer.explorer.answers.outcome import StudyOutcome, outcome_of
from anonymizer.explorer.answers.preview import (
    anonymous,
    bars_of,
    changes_of,
    figures_of,
    others_of,
    sizes_of,
    unique_of,
    warnings_of,
)
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.tables.datasets import shipped


def looked_at(path) -> StudyOutcome:
    return outcome_of(Counter().counted(Study(path)))


def test_twelve_people_before_and_after(study):
    outcome = looked_at(study)
    age, city = changes_of(outcome)
    assert (age.how, len(age.before), age.after, age.hidden) == ("suppressed", 12, [("*", 12)], 12)
    assert (city.how, city.before, city.after) == ("as it is", *[[("Rome", 7), ("Oslo", 5)]] * 2)
    assert city.hidden == 0
    found = {each.name: (each.before, each.after) for each in figures_of(outcome)}
    assert found["Records"] == ("12", "12")
    assert found["Classes (records that look alike)"] == ("12", "2")
    assert found["Smallest class"] == ("1 record", "5 records")
    assert found["Records alone in their class"] == ("12", "0")
    assert found["Surest guess of diagnosis"] == ("100%", "42.86%")  # 3 of 7 in Rome
    assert others_of(["age", "city", "diagnosis", "name"], outcome) == ["name"]
    assert anonymous(city).after == [("label 1", 7), ("label 2", 5)]


def test_the_labels_are_those_of_the_released_file(tmp_path):
    path = shipped("data", "demo.toml")
    outcome = looked_at(path)
    publish(Study(path), tmp_path / "release")
    released = pd.read_csv(tmp_path / "release" / "released.csv", dtype=str)
    raw = pd.read_csv(shipped("data", "census.csv.gz"), dtype=str)
    for change in changes_of(outcome):
        assert dict(change.after) == released[change.name].value_counts().to_dict()
        assert dict(change.before) == raw[change.name].value_counts().to_dict()
        assert [n for _, n in change.after] == sorted((n for _, n in change.after), reverse=True)
    names = [change.name for change in changes_of(outcome)]
    for counts, table in ((outcome.raw, raw), (outcome.counts, released)):
        sizes = table.groupby(names).size().to_numpy()
        assert sorted(sizes_of(counts)) == sorted(sizes)


def test_where_there_is_no_recoding_there_is_nothing_to_see(tmp_path):
    outcome = looked_at(small_study(tmp_path, k=13))
    assert outcome.refusal
    assert (changes_of(outcome), figures_of(outcome), warnings_of(outcome)) == ([], [], [])
    assert bars_of(sizes_of(outcome.raw), sizes_of(outcome.counts))[0].before == 12
    nothing = StudyOutcome(refusal="there is no table")
    assert (changes_of(nothing), figures_of(nothing), others_of(["a"], nothing)) == ([], [], [])
    assert bars_of(sizes_of(None), sizes_of(None))[0].after == 0


def test_warnings_are_the_sentences_of_the_report(tmp_path):
    found = warnings_of(looked_at(small_study(tmp_path)))
    assert all(each[0].isupper() and each.endswith(".") for each in found)


def test_warnings_about_pairs_are_those_of_the_report(tmp_path):
    """In Rome 3 of 7 are guessed from the class, in Oslo 2 of 5; with the other one all 12."""
    path = in_pairs(tmp_path)
    path.write_text(path.read_text().replace('"diagnosis"', '"diagnosis", "drug"'))
    outcome = looked_at(path)
    with Study(path).opened() as table:
        found = [*warnings_of(outcome), *unique_of(table, outcome)]
    _, manifest = publish(Study(path), tmp_path / "release")
    given = [each for each in manifest.warnings if each.code != "telling-order"]
    assert found == [f"{each.message[0].upper()}{each.message[1:]}." for each in given]
    pairs = [each for each in found if "'drug'" in each or "'box'" in each]
    assert pairs == [
        "Whoever knows 'diagnosis' of somebody in a class guesses 'drug' right for 7 of 12 records "
        "more than from the class alone; make 'diagnosis' a quasi-identifier, put its values into "
        "groups, or leave one of the two out.",
        "Whoever knows 'drug' of somebody in a class guesses 'diagnosis' right for 7 of 12 records "
        "more than from the class alone; make 'drug' a quasi-identifier, put its values into "
        "groups, or leave one of the two out.",
        "12 of 12 records have values of 'shelf' and 'box' that no other record has together, and "
        "both are released as they are; list one of them among the identifiers, or make both "
        "quasi-identifiers.",
    ]


@pytest.mark.parametrize(
    ("old", "new", "number"),
    [
        ("k = 3", "k = 3", 1),
        ("k = 3", "k = 13", 0),  # no release
        ("[[privacy]]", '[identifiers]\nattributes = ["box"]\n[[privacy]]', 0),
    ],
)
def test_only_what_is_released_is_warned_of(tmp_path, old, new, number):
    path = in_pairs(tmp_path)
    path.write_text(path.read_text().replace(old, new, 1))
    with Study(path).opened() as table:
        assert len(unique_of(table, looked_at(path))) == number


@given(st.lists(st.integers(1, 5000), max_size=30), st.lists(st.integers(1, 5000), max_size=30))
def test_every_record_is_in_one_bar(before, after):
    bars = bars_of(np.array(before, np.int64), np.array(after, np.int64))
    assert sum(bar.before for bar in bars) == sum(before)
    assert sum(bar.after for bar in bars) == sum(after)
    for bar, following in itertools.pairwise(bars):
        assert following.least == bar.most + 1
    for size in before:
        assert any(bar.least <= size <= bar.most and bar.before >= size for bar in bars)


@pytest.mark.parametrize("method", ["boxes", "merged-cells"])
def test_other_recodings_have_groups_of_their_own(tmp_path, method):
    path = small_study(tmp_path)
    path.write_text(path.read_text().replace("full-domain", method))
    outcome = looked_at(path)
    changes = changes_of(outcome)
    assert [change.name for change in changes] == ["age", "city"]
    assert sum(n for _, n in changes[0].after) == outcome.release.released
