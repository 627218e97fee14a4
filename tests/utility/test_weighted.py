"""Quality by sampling weights: tables count the people whom records stand for."""

import json

import numpy as np
import pandas as pd
import pytest

from anonymizer import Anonymizer, Boxes, FullDomain, Hierarchy, KAnonymity, measure_quality
from anonymizer.cli import main
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.utility import measure_file

AGE = Hierarchy.ranges(widths=[2, 4, 8])
SEX = Hierarchy.suppression()


def quality(raw: pd.DataFrame, recoding, weight: str | None = "weight"):
    roles = {"weight": weight} if weight else {"identifiers": ["weight"]}
    anonymizer = Anonymizer(
        {"age": AGE, "sex": SEX}, privacy=[KAnonymity(3)], recoding=recoding, **roles
    )
    released = anonymizer.fit_transform(raw)
    return measure_quality(raw, released, anonymizer.plan_, targets=())


def distances(tables) -> dict[tuple[str, ...], float]:
    return {each.columns: each.total_variation for each in tables}


def test_tables_count_people_by_hand():
    """Ages 0 and 1 are released as [0, 2): half of each, of whom three in four people are 0.

    Of 8 people 6 are 0 and 2 are 1; the release says 4 and 4. Of records it says what is true.
    """
    raw = pd.DataFrame({"age": [0, 0, 1, 1], "sex": "f", "weight": [3.5, 2.5, 1, 1]})
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[2])}, privacy=[KAnonymity(3)], weight="weight"
    )
    found = measure_quality(raw, anonymizer.fit_transform(raw), anonymizer.plan_, targets=())
    assert distances(found.tables)["age",] == 0
    assert distances(found.weighted)["age",] == 2 / 8
    assert found.weight == "weight"


@pytest.mark.parametrize("recoding", [FullDomain(suppression=0.2), Boxes()], ids=repr)
def test_a_record_that_stands_for_several_counts_as_often_as_if_it_were_there(recoding):
    """The same table with each record as often as its weight, which is measured by records.

    The recoding is the one that was found for the sample.
    """
    rng = np.random.default_rng(8)
    raw = pd.DataFrame(
        {
            "age": rng.integers(0, 8, 40),
            "sex": rng.choice(["f", "m"], 40),
            "job": rng.choice(["a", "b", "c"], 40),
            "weight": rng.integers(1, 6, 40),
        }
    )
    anonymizer = Anonymizer(
        {"age": AGE, "sex": SEX}, privacy=[KAnonymity(3)], recoding=recoding, weight="weight"
    )
    released = anonymizer.fit_transform(raw)
    found = measure_quality(raw, released, anonymizer.plan_, targets=())
    rows = np.repeat(np.arange(40), raw["weight"])
    if len(released) == len(raw):  # nobody was left out
        several = measure_quality(raw.iloc[rows], released.iloc[rows], anonymizer.plan_, targets=())
        assert distances(found.weighted) == pytest.approx(distances(several.tables))
    assert distances(found.weighted) != pytest.approx(distances(found.tables))


def test_weights_of_one_change_nothing():
    rng = np.random.default_rng(9)
    raw = pd.DataFrame({"age": rng.integers(0, 8, 40), "sex": "f", "weight": 1})
    for recoding in (FullDomain(suppression=0.2), Boxes()):
        found = quality(raw, recoding)
        assert distances(found.weighted) == pytest.approx(distances(found.tables))
        assert quality(raw, recoding, None).weighted == ()
        assert "weighted_tables" not in quality(raw, recoding, None).to_dict()


STUDY = """
[data]
path = "survey.csv"
weight = "weight"

[quasi-identifiers]
age = { widths = [2, 4, 8] }
sex = "suppress"

[[privacy]]
model = "k-anonymity"
k = 3
"""


def test_a_file_is_measured_by_the_weights_of_its_study(tmp_path, capsys):
    rng = np.random.default_rng(10)
    raw = pd.DataFrame(
        {
            "age": rng.integers(0, 8, 60),
            "sex": rng.choice(["f", "m"], 60),
            "weight": rng.choice([80.5, 120.25, 310], 60),
        }
    )
    raw.to_csv(tmp_path / "survey.csv", index=False)
    (tmp_path / "s.toml").write_text(STUDY)
    study = Study(tmp_path / "s.toml")
    publish(study, tmp_path / "r")
    found = measure_file(study, tmp_path / "r", targets=())
    assert distances(found.weighted) == pytest.approx(
        distances(quality(raw, FullDomain()).weighted)
    )
    told = ["quality", str(tmp_path / "r"), "--study", str(study.path), "--no-classifiers"]
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit):
            main([*told, *more])
    said, content = capsys.readouterr().out.split("{", 1)
    assert "one-way (2), weighted by weight" in said
    weighted = json.loads("{" + content)["weighted_tables"]
    assert weighted["weight"] == "weight"
    assert weighted["one-way"]["mean"] == pytest.approx(
        np.mean([d for names, d in distances(found.weighted).items() if len(names) == 1])
    )
