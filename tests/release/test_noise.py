"""Ratios whose denominator is within noise are not determined."""

import json

import numpy as np
import pandas as pd
import pytest

from anonymizer import Anonymizer, FullDomain, Hierarchy, KAnonymity
from anonymizer.feedback.words import share_of
from anonymizer.release.information import NOISE, Information, lost
from anonymizer.report.printing import print_report
from anonymizer.report.release import release_report
from anonymizer.utility.prediction import Prediction, Score


def information(**given: float) -> Information:
    known = {"original": 0.5, "retained": 0.3, "ceiling": 0.5, "shuffled": 0.2}
    known |= {"shuffled_deviation": 0.05, "retained_above_shuffled": 0.15, "miller_madow": 0.2}
    return Information(**{**known, **given})


def test_by_hand():
    assert information().loss == pytest.approx(0.4)
    assert information().loss_above_shuffled == pytest.approx(1 - 0.15 / 0.3)
    assert information(shuffled_deviation=0.0999).loss_above_shuffled is not None
    assert information(shuffled_deviation=0.1001).loss_above_shuffled is None  # 0.3 <= 3 * 0.1001
    assert information(original=0.2).loss_above_shuffled is None
    assert information(original=0.1, shuffled_deviation=0.0).loss_above_shuffled is None
    gained = [information(retained_above_shuffled=each) for each in (0.46, 0.44)]
    assert gained[0].loss_above_shuffled is None  # > 0.3 + 3 * 0.05
    assert gained[1].loss_above_shuffled == pytest.approx(-0.14 / 0.3)
    assert information(original=0.0, retained=0.0).loss is None
    assert (lost(0.0, 2.0), lost(3.0, 2.0), lost(1.0, 2.0, 2.0)) == (1.0, -0.5, None)
    assert (share_of(None), share_of(-474.37), share_of(0.125, ".1%")) == (
        "not determined",
        "-47437.00%",
        "12.5%",
    )


def fitted(table: pd.DataFrame, k: int = 2, **parameters: object) -> Anonymizer:
    hierarchies = {"a": Hierarchy.ranges(widths=[5, 50])}
    return Anonymizer(hierarchies, "w", [KAnonymity(k)], **parameters).fit(table)


def test_unique_records_show_as_much_as_any_shuffle(tmp_path, capsys):
    rng = np.random.default_rng(0)
    asked = fitted(pd.DataFrame({"a": range(200), "w": rng.integers(0, 2, 200)}))
    kept = asked.release_.information
    assert kept.original == pytest.approx(kept.shuffled)
    assert kept.shuffled_deviation == pytest.approx(0, abs=1e-12)
    assert kept.loss_above_shuffled is None
    told = json.loads(json.dumps(asked.release_.steward_manifest.to_dict()))["information"]
    assert told["loss_above_shuffled"] is None
    assert told["loss"] == kept.loss
    print_report(release_report(asked.release_, tmp_path))
    assert "not determined" in capsys.readouterr().out


def test_a_constant_has_nothing_to_lose():
    kept = fitted(pd.DataFrame({"a": [*range(8)] * 4, "w": ["x"] * 32})).release_.information
    assert (kept.loss, kept.loss_above_shuffled) == (None, None)


def test_noise_is_hardly_ever_taken_for_information():
    """Of 30 tables without any, few have a loss; where it has one, it is no absurd number."""
    rng = np.random.default_rng(1)
    found = []
    for seed in range(30):
        table = pd.DataFrame({"a": rng.integers(0, 40, 200), "w": rng.integers(0, 3, 200)})
        kept = fitted(table, recoding=FullDomain(search="bisection"), seed=seed, k=4)
        found.append(kept.release_.information)
    determined = [kept for kept in found if kept.loss_above_shuffled is not None]
    assert len(determined) <= 2
    for kept in determined:
        assert kept.original - kept.shuffled > NOISE * kept.shuffled_deviation


def test_information_is_never_taken_for_noise():
    a = np.arange(600) % 40
    kept = fitted(pd.DataFrame({"a": a, "w": a // 10}), k=4).release_.information
    assert kept.loss_above_shuffled == pytest.approx(0, abs=0.2)


@pytest.mark.parametrize(
    ("original", "records", "kept"), [(0.9, 100, 0.75), (0.55, 100, None), (0.55, 10_000, 3.0)]
)
def test_a_gain_of_classifiers(original, records, kept):
    # Standard errors: sqrt((0.09 + 0.25) / 100) = 0.058, and 0.0705, and 0.00705.
    released = 0.5 + 0.3 if original == 0.9 else 0.65
    scores = [Score(accuracy, None) for accuracy in (0.5, original, released)]
    found = Prediction("w", "some", 2, records, *scores).kept
    assert found == (None if kept is None else pytest.approx(kept))
