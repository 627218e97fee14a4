"""The quality of releases: hand-worked, by brute force on records, and by laws."""

import json
import shutil
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from math import atan, erf, log2, pi, prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cases import Case, random_case
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import LONG, at_length
from oddities import UNPROTECTED
from oracle import SCORES, Outcome
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from strategies import nested_rows, tables

from anonymizer import (
    Anonymizer,
    Hierarchy,
    InputError,
    KAnonymity,
    Quality,
    load_census,
    measure_quality,
)
from anonymizer import utility as quality
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.errors import AnonymizerError, PolicyBrokenError
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.utility import learners, measure_file
from anonymizer.utility.deviation import (
    pil,
    variance_of_covariance,
    variance_of_mean,
    variance_of_quantile,
)
from anonymizer.utility.measures import ambiguity, log_ambiguity
from anonymizer.utility.pairing import pair
from anonymizer.utility.prediction import area_under_curve, cross_validated, dealt


@dataclass(frozen=True)
class By:
    """What recodes a table, stated by hand."""

    schema: Schema
    taxonomies: dict[str, Taxonomy]
    recoding: dict[str, Partition]
    random: bool = False
    sampled: bool = False
    in_order: bool = True

    @classmethod
    def levels(
        cls, table: pd.DataFrame, hierarchies: dict[str, Hierarchy], node: Any, **roles: Any
    ) -> "By":
        schema = Schema(tuple(hierarchies), **{"sensitive": ("w",), **roles})
        taxonomies = taxonomies_of(engine.tally(table, schema.columns), hierarchies)
        levels = zip(taxonomies.items(), node, strict=True)
        return cls(schema, taxonomies, {n: t.levels[level] for (n, t), level in levels})

    def released(self, table: pd.DataFrame, hidden: Any = ()) -> pd.DataFrame:
        columns = {}
        for name, partition in self.recoding.items():
            codes = self.taxonomies[name].encode(table[name])
            labels = [partition.labels[group] for group in partition.groups[codes]]
            columns[name] = [
                "*" if i in hidden else label if partition is self.taxonomies[name].levels[0]
                else str(label)
                for i, label in enumerate(labels)
            ]  # fmt: skip
        return table.assign(**columns)


FOUR = pd.DataFrame(
    {"age": [20, 24, 30, 38], "sex": list("fmff"), "w": list("abab"), "pay": [1, 2, 3, 6]}
)
HIERARCHIES = {"age": Hierarchy.ranges(widths=[10]), "sex": Hierarchy.suppression()}


def measured(table: pd.DataFrame, by: By, hidden: Any = (), **options: Any) -> Quality:
    options = {"targets": (), **options}
    return measure_quality(table, by.released(table, hidden), by, **options)


def normalized(quality: Quality) -> dict[str, float]:
    return {name: found.normalized for name, found in quality.measures.items() if found}


# Hand-worked


def test_four_records_by_hand():
    found = measured(FOUR, By.levels(FOUR, HIERARCHIES, (1, 1))).measures
    of_sex = 0.75 * log2(4 / 3) + 0.25 * 2
    for name, value, original, suppressed in [
        ("non-uniform-entropy", 1 + of_sex, 0, 2 + of_sex),
        ("granularity", ((4 + 4 + 8 + 8) / 18 / 4 + 1) / 2, 0, 1),
        ("generalization-intensity", 3 / 4, 0, 1),
        ("discernibility", 8, 4, 16),
        ("average-class-size", 2, 1, 4),
        ("ambiguity", 2 * 2, 1, 4 * 2),
        ("log-ambiguity", 2, 0, 3),
        ("attribute-squared-error", 40 / 184, 0, 1),
        ("record-squared-error", 40 / 184, 0, 1),
    ]:
        measure = found[name]
        assert measure.value == pytest.approx(value), name
        assert (measure.original, measure.suppressed) == pytest.approx((original, suppressed))
        assert measure.normalized == pytest.approx(1 - (value - original) / (suppressed - original))
    assert found["attribute-squared-error"].attributes["age"].value == pytest.approx(10)
    assert found["granularity"].attributes["age"].normalized == pytest.approx(2 / 3)


def test_one_suppressed_record_by_hand():
    found = measured(FOUR, By.levels(FOUR, HIERARCHIES, (1, 0)), hidden={3})
    values = {name: measure.value for name, measure in found.measures.items()}
    of_sex = log2(4 / 3)
    assert (found.suppressed, found.left_out) == (1, 0)
    assert values == pytest.approx(
        {
            "non-uniform-entropy": (3 * 1 + 2 + of_sex) / 4,
            "granularity": ((4 + 4 + 8 + 18) / 18 / 4 + 1 / 4) / 2,
            "generalization-intensity": ((0.5 * 3 + 1) / 4 + 1 / 4) / 2,
            "discernibility": 1 + 1 + 1 + 4,
            "average-class-size": 1.0,
            "ambiguity": (2 + 2 + 2 + 8) / 4,
            "log-ambiguity": (1 + 1 + 1 + 3) / 4,
            "attribute-squared-error": (4 + 4 + 0 + 100) / 184,
            "record-squared-error": (0 + 0 + 0 + 100) / 184,
        }
    )


def test_tables_by_hand():
    found = measured(FOUR, By.levels(FOUR, HIERARCHIES, (1, 1)))
    assert {table.columns: table.total_variation for table in found.tables} == pytest.approx(
        {
            ("age",): 0,
            ("sex",): 1 / 4,
            ("w",): 0,
            ("pay",): 0,
            ("age", "sex"): 1 / 2,
            ("age", "w"): 1 / 2,
            ("age", "pay"): 1 / 2,
            ("sex", "w"): 1 / 4,
            ("sex", "pay"): 1 / 2,
            ("w", "pay"): 0,
        }
    )
    assert found.total_variation(1) == pytest.approx(1 / 16)


def test_statistics_by_hand():
    found = measured(FOUR, By.levels(FOUR, HIERARCHIES, (1, 1)))
    pils = {(s.statistic, s.columns, s.share): s for s in found.statistics}
    # 22, 22, 34, 34 instead of 20, 24, 30, 38: the same mean, a variance of 48 instead of 184 / 3.
    assert pils["mean", ("age",), None].pil == 0
    moments = (8**4 + 4**4 + 2**4 + 10**4) / 4, (184 / 4) ** 2
    error = sqrt((moments[0] - moments[1] * (4 - 3) / (4 - 1)) / 4)
    moved = pils["variance", ("age",), None]
    assert moved.standard_errors == pytest.approx((184 / 3 - 48) / error)
    assert moved.pil == pytest.approx(erf((184 / 3 - 48) / error / sqrt(2)))
    assert pils["mean", ("pay",), None].pil == 0
    assert ("covariance", ("age", "pay"), None) in pils
    assert set(found.pil) == {"mean", "variance", "quantile", "covariance"}


def test_the_mean_as_representative():
    table = pd.DataFrame({"age": [20, 20, 26], "w": list("aab")})
    by = By.levels(table, {"age": Hierarchy.ranges(widths=[10])}, (1,))
    middle = measured(table, by).statistics[0]
    assert middle.standard_errors == pytest.approx((23 - 22) / sqrt(12 / 3))
    mean = measured(table, by, representative="mean").statistics[0]
    assert mean.pil == pytest.approx(0)


# By brute force on records


def possible(case: Case, outcome: Outcome, record: int) -> list[list[object]]:
    """The values that each quasi-identifier of a record may have had."""
    hidden = record in outcome.suppressed
    return [
        chain.group(case.brute.rows[record][name], chain.height if hidden else level)
        for (name, chain), level in zip(case.brute.chains.items(), outcome.node, strict=True)
    ]


def variations(case: Case, outcome: Outcome) -> dict[tuple[str, ...], float]:
    """The total variation of every one-way and two-way table, record by record."""
    names = list(case.brute.chains)
    others = [name for name in case.frame.columns if name not in names]
    rows = case.brute.rows
    left = [i for i, labels in enumerate(outcome.labels) if labels is not None]
    found = {}
    for columns in [*((n,) for n in names + others), *combinations(names + others, 2)]:
        truth, guess = Counter(), Counter()
        for row in rows:
            truth[tuple(row[c] for c in columns)] += 1 / len(rows)
        for i in left:
            may = dict(zip(names, possible(case, outcome, i), strict=True))
            may |= {name: [rows[i][name]] for name in others}
            cells = list(product(*(may[c] for c in columns)))
            for cell in cells:
                guess[cell] += 1 / len(cells) / len(left)
        cells = {*truth, *guess}
        found[columns] = sum(abs(truth[cell] - guess[cell]) for cell in cells) / 2
    return found


SEEDS = range(at_length(22, 0), 45)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_releases_measure_as_brute_force_says(seed):
    case = random_case(np.random.default_rng(seed), records=40, exempt=False)
    anonymizer = case.estimator(search="exhaustive")
    try:
        released = anonymizer.fit_transform(case.frame)
    except AnonymizerError:
        assert not case.brute.outcomes
        return
    node = tuple(anonymizer.release_.levels[name] for name in case.brute.chains)
    outcome = case.brute.outcomes[node]
    found = measure_quality(case.frame, released, anonymizer.plan_, targets=())
    records = range(len(case.brute.rows))
    gone = sum(labels is None for labels in outcome.labels)
    assert (found.suppressed, found.left_out) == (len(outcome.suppressed), gone)
    values = {name: measure.value for name, measure in found.measures.items() if measure}
    plain = replace(case.brute, weights={}, aggregate=None)

    def score(name: str) -> float:
        return -SCORES[name](plain, outcome)

    tuples = [prod(map(len, possible(case, outcome, i))) for i in records]
    assert values["non-uniform-entropy"] == pytest.approx(score("non-uniform-entropy"))
    assert values["granularity"] == pytest.approx(score("loss"))
    assert values["generalization-intensity"] == pytest.approx(score("precision"))
    assert values["discernibility"] == score("discernibility")
    assert values["average-class-size"] == pytest.approx(
        -len(records) / score("average-class-size")
    )
    assert values["ambiguity"] == pytest.approx(np.mean(tuples))
    assert values["log-ambiguity"] == pytest.approx(np.mean(np.log2(tuples)))
    distances = {table.columns: table.total_variation for table in found.tables}
    assert distances == pytest.approx(variations(case, outcome))
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_oracle_meets_all_fates():
    fates = set()
    for seed in SEEDS:
        case = random_case(np.random.default_rng(seed), records=40, exempt=False)
        fates |= {outcome.fate for outcome in case.brute.outcomes.values()}
    assert fates == {"none", "kept", "removed"}


# Laws


@st.composite
def recoded(draw: st.DrawFn) -> tuple[pd.DataFrame, dict[str, Hierarchy]]:
    table = draw(tables(2, records=40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    hierarchies = {
        name: Hierarchy.from_rows(draw(nested_rows(sorted(set(table[name])))))
        for name in table.columns[:-1]
    }
    table["x"] = rng.choice([0.1, 0.2, 0.3, 5, 7, 1e6], len(table))
    hierarchies["x"] = Hierarchy.ranges(widths=[0.2, 10])
    table["pay"] = rng.lognormal(size=len(table)).round(2)
    return table, hierarchies


@settings(max_examples=15)
@given(recoded())
def test_the_original_keeps_everything(drawn):
    table, hierarchies = drawn
    found = measured(table, By.levels(table, hierarchies, (0, 0, 0)))
    assert set(normalized(found).values()) == {1.0}
    assert {deviation.total_variation for deviation in found.tables} == {0.0}
    assert {statistic.pil for statistic in found.statistics} <= {0.0}
    mean = measured(table, By.levels(table, hierarchies, (0, 0, 0)), representative="mean")
    assert {statistic.pil for statistic in mean.statistics} <= {0.0}


@settings(max_examples=15)
@given(recoded())
def test_with_everything_suppressed_nothing_is_left(drawn):
    table, hierarchies = drawn
    tops = [hierarchy.height for hierarchy in hierarchies.values()]
    by = By.levels(table, hierarchies, tops)
    for found in (measured(table, by), measured(table, by, hidden=range(len(table)))):
        for name, measure in found.measures.items():
            nothing = measure.suppressed == measure.original
            assert measure.normalized == pytest.approx(float(nothing), abs=1e-12), name


@settings(max_examples=10)
@given(recoded(), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_measures_fall_along_generalization(drawn, place, seed):
    table, hierarchies = drawn
    heights = [hierarchy.height for hierarchy in hierarchies.values()]
    node = np.random.default_rng(seed).integers(0, np.array(heights) + 1)
    above = node.copy()
    above[place] = min(node[place] + 1, heights[place])
    fine, coarse = (
        normalized(measured(table, By.levels(table, hierarchies, levels)))
        for levels in (node, above)
    )
    assert set(fine) == set(coarse)
    for name, share in fine.items():
        assert -1e-9 <= coarse[name] <= share + 1e-9 <= 1 + 2e-9, name


def test_ranges_have_no_level_but_all_other_measures():
    census = load_census().head(3000)
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[25, 50]), "sex": Hierarchy.suppression()},
        sensitive="marital-status",
        privacy=[KAnonymity(20)],
        recoding="variable-range",
    )
    released = anonymizer.fit_transform(census)
    found = measure_quality(census, released, anonymizer.plan_, targets=())
    missing = [name for name, measure in found.measures.items() if measure is None]
    assert missing == ["generalization-intensity"]
    assert 0 < found.measures["granularity"].normalized < 1


def test_without_numbers_there_is_no_squared_error():
    table = FOUR[["sex", "w"]]
    found = measured(table, By.levels(table, {"sex": Hierarchy.suppression()}, (0,)))
    assert found.measures["attribute-squared-error"] is None
    assert found.measures["record-squared-error"] is None
    assert not found.statistics


def test_more_tuples_than_a_number_holds():
    names = [f"q{i}" for i in range(400)]
    table = pd.DataFrame({**dict.fromkeys(names, range(8)), "w": list("abababab")})
    by = By.levels(table, dict.fromkeys(names, Hierarchy.suppression()), [1] * 400)
    pairing = pair(table, by.released(table), by)
    assert log_ambiguity(pairing).value == pytest.approx(1200)
    assert ambiguity(pairing).to_dict()["value"] is None


def test_columns_that_cannot_be_measured_are_passed_over():
    table = FOUR.assign(
        far=[1, 2, 3, 1e200], lists=[[1], [2], [1], []], gap=[1.0, None, 2.0, 4.0], text="x"
    )
    found = measured(table, By.levels(table, HIERARCHIES, (1, 0)))
    assert {s.columns for s in found.statistics if s.statistic == "mean"} == {
        *(("age",), ("pay",), ("gap",))
    }
    tabulated = {table.columns for table in found.tables if len(table.columns) == 1}
    assert tabulated == {("age",), ("sex",), ("w",), ("pay",), ("far",), ("gap",), ("text",)}
    with pytest.raises(
        InputError, match="target 'lists' holds values that cannot be distinguished"
    ):
        measured(table, By.levels(table, HIERARCHIES, (1, 0)), targets="lists")


def test_left_out_records_are_lost_to_tables_and_statistics():
    table = FOUR.assign(job=list("xxxy"))
    by = By.levels(table, {"age": Hierarchy.ranges(widths=[10]), "job": HIERARCHIES["sex"]}, (1, 0))
    found = measure_quality(table, by.released(table).head(3), by, targets=())
    assert (found.suppressed, found.left_out) == (1, 1)
    assert found.measures["discernibility"].value == 4 + 1 + 4
    distances = {table.columns: table.total_variation for table in found.tables}
    # 30 and 38 share a range that one record of three is in: half of it is taken to be of either.
    assert distances["age",] == pytest.approx(2 * (1 / 4 - 1 / 6))
    assert distances["w",] == pytest.approx(1 / 2 - 1 / 3)
    pay = next(s for s in found.statistics if s.columns == ("pay",))
    assert pay.standard_errors == pytest.approx((3 - 2) / sqrt(np.var([1, 2, 3, 6], ddof=1) / 4))


def test_a_plan_measures_what_it_made_of_another_table():
    census = load_census().head(4000)
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[25, 50]), "sex": Hierarchy.suppression()},
        sensitive="marital-status",
        privacy=[KAnonymity(2)],
    ).fit(census)
    some = census.sample(2000, random_state=1)
    found = measure_quality(some, anonymizer.transform(some), anonymizer.plan_, targets=())
    assert found.records == 2000


def test_a_single_module_needs_scikit_learn():
    room = Path(quality.__file__).parent
    needs = {path.name for path in room.glob("*.py") if "from sklearn" in path.read_text()}
    assert needs == {"learners.py"}


# Probabilistic information loss

STATISTICS = {
    "mean": (lambda x, y: x.mean(), lambda x, y: variance_of_mean(x)),
    "variance": (lambda x, y: x.var(ddof=1), lambda x, y: variance_of_covariance(x, x)),
    "covariance": (lambda x, y: np.cov(x, y)[0, 1], variance_of_covariance),
    "median": (lambda x, y: np.median(x), lambda x, y: variance_of_quantile(x, 0.5)),
    "quartile": (lambda x, y: np.quantile(x, 0.25), lambda x, y: variance_of_quantile(x, 0.25)),
}


def sample(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """A skewed variable and one that depends on it."""
    x = rng.gamma(4.0, size=size)
    return x, x + rng.gamma(2.0, size=size)


@pytest.mark.parametrize("name", STATISTICS)
def test_of_a_fresh_sample_the_loss_is_uniform(name):
    statistic, variance = STATISTICS[name]
    rng = np.random.default_rng(11)
    truth = statistic(*sample(rng, 1_000_000))
    losses = []
    for _ in range(600):
        x, y = sample(rng, 1000)
        losses.append(pil(statistic(x, y), truth, variance(x, y)))
    steps = np.arange(1, 601) / 600
    distance = np.abs(np.sort(losses) - steps + 1 / 1200).max()
    assert distance < 1.63 / sqrt(600)  # Kolmogorov and Smirnov's 1 %


def test_between_two_samples_the_variance_doubles():
    rng = np.random.default_rng(5)
    plain, doubled = [], []
    for _ in range(4000):
        x, y = rng.gamma(4.0, size=(2, 300))
        plain.append(pil(x.mean(), y.mean(), variance_of_mean(x)))
        doubled.append(pil(x.mean(), y.mean(), 2 * variance_of_mean(x)))
    assert np.mean(plain) == pytest.approx(2 / pi * atan(sqrt(2)), abs=0.015)
    assert np.mean(doubled) == pytest.approx(0.5, abs=0.015)


def test_constants_lose_nothing_and_gain_everything():
    assert pil(1.0, 1.0, 0.0) == 0
    assert pil(1.1, 1.0, 0.0) == 1
    table = pd.DataFrame({"age": [20, 24] * 5, "w": list("ab") * 5, "pay": [0.1] * 10})
    by = By.levels(table, {"age": Hierarchy.ranges(widths=[10])}, (1,))
    found = measured(table, by).statistics
    assert {s.pil for s in found if s.columns == ("pay",)} == {0.0}
    json.dumps([s.to_dict() for s in found], allow_nan=False)


# Classifiers


@pytest.fixture
def few_trees(monkeypatch):
    """A forest of 10 trees for what does not depend on how many there are."""
    small = partial(RandomForestClassifier, n_estimators=10)
    monkeypatch.setattr(learners, "RandomForestClassifier", small)


def learnable(records: int = 200, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 60, records), rng.choice(["f", "m"], records)
    likely = 0.15 + 0.6 * (age >= 40) * (sex == "f")
    ill = rng.random(records) < likely
    return pd.DataFrame({"age": age, "sex": sex, "w": np.where(ill, "ill", "well")})


def test_the_original_as_a_release_predicts_as_the_original():
    table = learnable()
    by = By.levels(table, HIERARCHIES, (0, 0))
    found = measured(table, by, targets="w", folds=3).predictions
    assert [prediction.classifier for prediction in found] == [
        "logistic regression",
        "random forest",
        "naive Bayes",
    ]
    for prediction in found:
        assert prediction.released == prediction.original
        assert prediction.majority.auc == 0.5
        assert prediction.original.accuracy > prediction.majority.accuracy
    # Gains of 0.08 by 200 records are within three standard errors of 0.044 each.
    assert [prediction.kept for prediction in found] == [1, None, None]


def test_a_release_that_says_nothing_predicts_as_the_majority(few_trees):
    table = learnable()
    by = By.levels(table, HIERARCHIES, (2, 1))
    for prediction in measured(table, by, targets="w", folds=2).predictions:
        assert prediction.released == prediction.majority
    by = By.levels(table, HIERARCHIES, (0, 0))
    hidden = measured(table, by, range(len(table)), targets="w", folds=2).predictions[0]
    assert hidden.released.accuracy == hidden.majority.accuracy


def test_a_seed_is_enough_to_get_the_same_again(few_trees):
    table = learnable(80)
    by = By.levels(table, HIERARCHIES, (1, 0))
    one, two, other = (
        measured(table, by, targets="w", folds=2, seed=seed).to_dict() for seed in (1, 1, 2)
    )
    assert one == two
    assert one["classification"] != other["classification"]


def test_classes_however_rare_are_dealt_and_predicted(few_trees):
    table = learnable(40).assign(rare=["once"] + ["twice"] * 2 + ["often"] * 37)
    table.loc[5, "sex"] = "x"
    by = By.levels(table, HIERARCHIES, (0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = measured(table, by, hidden={0}, targets=["rare"], folds=4).predictions
    for prediction in found:
        assert prediction.classes == 3
        assert 0 <= prediction.released.accuracy <= 1
        assert 0 <= prediction.released.auc <= 1


def test_more_folds_than_records(few_trees):
    table = learnable(4)
    table["w"] = list("abba")
    by = By.levels(table, HIERARCHIES, (0, 0))
    found = measured(table, by, targets="w", folds=50).predictions
    assert found[0].released.auc is None  # a fold of one record orders nothing
    with pytest.raises(InputError, match="too few records are released"):
        cross_validated(*[np.array([0, 1])] * 2, lambda *_: None, np.array([True, False]))


@given(st.integers(2, 60), st.integers(1, 5), st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_folds_are_even_within_every_class(records, classes, folds, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, records)
    fold_of = dealt(truth, folds, rng)
    assert np.ptp(np.bincount(fold_of)) <= 1
    for code in range(classes):
        assert np.ptp(np.bincount(fold_of[truth == code], minlength=min(folds, records))) <= 1


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2))
def test_the_area_under_the_curve_is_scikit_learns(pairs):
    hit, score = np.array([h for h, _ in pairs]), np.array([float(s) for _, s in pairs])
    if hit.any() and not hit.all():
        assert area_under_curve(hit, score) == pytest.approx(roc_auc_score(hit, score))


# Errors: each names columns and counts, never a value

SECRET = "Morbus"
SECRETS = (SECRET, "Nemo")


def people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [f"Nemo{i}" for i in range(12)],
            "age": range(20, 32),
            "w": [f"{SECRET}{i % 2}" for i in range(12)],
            "note": [f"n{i}" for i in range(12)],
        }
    )


def fitted(**options: Any) -> tuple[pd.DataFrame, pd.DataFrame, Anonymizer]:
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[4])},
        sensitive="w",
        privacy=[KAnonymity(3)],
        identifiers=["name"],
        **options,
    )
    return people(), anonymizer.fit_transform(people()), anonymizer


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r[::-1], r"8 records of the release are not the recoding"),
        (lambda r: r.head(11), r"the release has 11 records, which is not what"),
        (lambda r: pd.concat([r, r]), r"the release has 24 records, which is not what"),
        (lambda r: r.assign(w=r["w"].to_numpy()[::-1]), r"column 'w' of the release is not that"),
        (lambda r: r.drop(columns="note"), r"the release lacks column 'note'"),
        (lambda r: r.drop(columns="w"), r"the table has no column 'w'"),
        (lambda r: r.assign(more=1), r"the release has a column 'more' that the original lacks"),
        (lambda r: r.assign(age="1"), r"12 records of the release are not the recoding"),
        (lambda r: r.head(0), r"the table has no records"),
    ],
)
def test_only_a_recoding_of_the_original_is_measured(change, message):
    original, released, anonymizer = fitted()
    with pytest.raises(InputError, match=message) as caught:
        measure_quality(original, change(released), anonymizer.plan_)
    assert SECRET not in str(caught.value)


def test_an_identifier_is_no_part_of_a_release():
    original, released, anonymizer = fitted()
    with pytest.raises(PolicyBrokenError, match="holds the identifier 'name'"):
        measure_quality(original, released.assign(name="x"), anonymizer.plan_)


def test_another_original_is_refused():
    original, released, anonymizer = fitted()
    with pytest.raises(InputError, match=r"column 'age' of the original holds 1 value that the"):
        measure_quality(original.replace({"age": {20: 99}}), released, anonymizer.plan_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"targets": "age"}, "target 'age' is a quasi-identifier"),
        ({"targets": "name"}, "target 'name' is an identifier"),
        ({"targets": "nose"}, "the table has no column 'nose'; did you mean 'note'"),
        ({"targets": 3}, "targets must name a column"),
        ({"folds": 1}, "folds = 1 must be a whole number of at least 2"),
        ({"seed": -1}, "seed = -1 must be a whole number from 0"),
        ({"seed": 2**32}, "must be a whole number from 0"),
        ({"n_jobs": 0}, "n_jobs = 0 must be a whole number but 0"),
        ({"representative": "median"}, "representative = 'median' is unknown"),
    ],
)
def test_parameters_that_cannot_be(options, message):
    original, released, anonymizer = fitted()
    with pytest.raises(InputError, match=message):
        measure_quality(original, released, anonymizer.plan_, **options)


def test_targets_that_are_no_categories():
    table = learnable(60).assign(id=range(60), same="x")
    by = By.levels(table, HIERARCHIES, (1, 0))
    with pytest.raises(InputError, match="target 'id' has 60 values; a class to predict"):
        measured(table, by, targets=["w", "id"])
    with pytest.raises(InputError, match="target 'same' has the same value throughout"):
        measured(table, by, targets="same")
    by = By.levels(table, HIERARCHIES, (1, 0), sensitive=("id", "same"))
    assert measured(table, by, targets=None).predictions == []


@pytest.fixture
def no_sklearn(monkeypatch):
    for name in [*sys.modules, "sklearn"]:
        if name.split(".")[0] == "sklearn":
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "anonymizer.utility.learners", raising=False)


def test_without_scikit_learn_all_else_is_measured(no_sklearn):
    original, released, anonymizer = fitted()
    found = measure_quality(original, released, anonymizer.plan_)
    assert found.predictions is None
    assert found.to_dict()["classification"] is None
    with pytest.raises(InputError, match="not installed: pip install scikit-learn"):
        measure_quality(original, released, anonymizer.plan_, targets="w")


# Files and the command


def lay(directory, missing="category", k=4, search="", suffix="csv") -> Study:
    rng = np.random.default_rng(3)
    jobs = np.array(["nurse", "vet", "smith", "mason", "?"])
    table = pd.DataFrame(
        {
            "name": [f"Nemo{i}" for i in range(150)],
            "age": rng.integers(20, 60, 150),
            "job": rng.choice(jobs, 150, p=[0.4, 0.3, 0.2, 0.05, 0.05]),
            "disease": [f"{SECRET}{i}" for i in rng.integers(0, 3, 150)],
            "note": [["", " x", 'q"u', "1.0", "two\nlines"][i % 5] for i in range(150)],
            "pay": rng.lognormal(3, 1, 150).round(1),
        }
    )
    if suffix == "csv":
        table.to_csv(directory / "people.csv", index=False)
    else:
        table.to_parquet(directory / "people.parquet")
    (directory / "age.toml").write_text("widths = [5, 20]")
    (directory / "job.csv").write_text("nurse;health\nvet;health\nsmith;craft\nmason;craft\n")
    text = UNPROTECTED.replace("people.csv", f"people.{suffix}").replace("category", missing)
    policy = f'[[privacy]]\nmodel = "k-anonymity"\nk = {k}\n'
    (directory / "study.toml").write_text(f"{text}{policy}[recoding]\n{search}\n")
    return Study(directory / "study.toml")


SEARCHES = {
    "none": "",
    "kept": "suppression = 0.1",
    "removed": "suppression = 0.1\nremove = true",
    "ranges": 'method = "variable-range"',
    "cuts": 'method = "cut"\nrefine = []',
    "groups": 'method = "variable-range"\ngroup = ["job"]',
}

FORMS = [("category", "csv"), ("drop", "parquet")]
WRITTEN = [
    (fate, *form)
    for place, fate in enumerate(SEARCHES)
    for form in (FORMS if LONG else [FORMS[place % 2]])
]


@pytest.mark.parametrize(("fate", "missing", "suffix"), WRITTEN)
def test_what_was_written_is_measured_as_what_was_in_memory(tmp_path, missing, suffix, fate):
    study = lay(tmp_path, missing, search=SEARCHES[fate], suffix=suffix)
    release, _ = publish(study, tmp_path / "out")
    found = measure_file(study, tmp_path / "out" / f"released.{suffix}", targets=())
    table = study.read()
    anonymizer = study.anonymizer()
    released = anonymizer.fit_transform(table)
    again = measure_quality(table, released, anonymizer.plan_, targets=())
    assert found.to_dict() == again.to_dict()
    assert found.dropped == release.dropped
    assert found.suppressed == release.suppressed
    assert found.left_out == (release.suppressed if fate == "removed" else 0)
    assert (found.suppressed > 0) == (fate in ("kept", "removed"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A directory with a study, its table and its release; tests change copies of it."""
    directory = tmp_path_factory.mktemp("quality")
    publish(lay(directory, search=SEARCHES["kept"]), directory / "out")
    return directory


@pytest.fixture
def released(made, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out" / "released.csv"


@pytest.fixture
def study(tmp_path):
    return tmp_path / "study.toml"


def test_the_command_prints_a_report(run, released, study):
    code, out, err = run("quality", released, "--study", study, "--folds", 2)
    assert (code, err) == (0, "")
    for text in ("granularity", "total variation", "covariance", "random forest", "suppressed"):
        assert text in out


def test_the_structure_of_the_json(few_trees, run, released, study):
    code, out, _ = run("quality", released, "-s", study, "--folds", 2, "--target", "note", "--json")
    found = json.loads(out)
    assert code == 0
    assert list(found) == [
        *("records", "dropped", "suppressed", "left_out", "representative"),
        *("random", "measures", "undefined", "tables", "information_loss", "classification"),
    ]
    for measure in found["measures"].values():
        assert list(measure)[:5] == ["value", "original", "suppressed", "normalized", "unit"]
    for ways in ("one-way", "two-way"):
        assert list(found["tables"][ways]) == ["mean", "tables"]
        assert list(found["tables"][ways]["tables"][0]) == ["columns", "total_variation"]
    assert list(found["information_loss"]["statistics"][0]) == [
        *("statistic", "columns", "share", "standard_errors", "pil")
    ]
    assert (found["classification"]["folds"], found["classification"]["seed"]) == (2, 0)
    for prediction in found["classification"]["predictions"]:
        assert list(prediction) == [
            *("target", "classifier", "classes", "records"),
            *("majority", "original", "released", "kept"),
        ]
        assert list(prediction["original"]) == ["accuracy", "auc"]
        assert prediction["target"] == "note"


def test_the_bundled_census(run, tmp_path):
    assert run("demo", "-o", tmp_path)[0] == 0
    table = tmp_path / "released.csv"
    arguments = ["--study", "data/demo.toml", "--no-classifiers"]
    code, out, _ = run("quality", table, *arguments)
    assert code == 0
    assert "30,000 records" in out
    assert "Accuracy" not in out
    found = json.loads(run("quality", table, *arguments, "--json")[1])
    manifest = json.loads((tmp_path / "release.json").read_text())
    assert found["records"] == manifest["released"]
    sizes = found["measures"]["average-class-size"]
    assert sizes["value"] == pytest.approx(30_000 / manifest["classes"])


def test_the_command_without_scikit_learn(no_sklearn, run, released, study):
    code, out, _ = run("quality", released, "-s", study)
    assert code == 0
    assert "Classifiers were left out" in out
    code, _, err = run("quality", released, "-s", study, "--target", "disease")
    assert code == 2
    assert err.count("\n") == 1
    assert "pip install scikit-learn" in err


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def relevel(path):
    manifest = json.loads(path.read_text())
    manifest["levels"]["age"] = 7
    path.write_text(json.dumps(manifest))


BREAKS = {
    "no manifest": (lambda p: (p / "release.json").unlink(), "manifest has to be next to"),
    "no JSON": (lambda p: (p / "release.json").write_text("{"), "it is no JSON text"),
    "a list": (lambda p: (p / "release.json").write_text("[]"), "it is no manifest"),
    "an empty one": (lambda p: (p / "release.json").write_text("{}"), "it has no format;"),
    "another level": (
        lambda p: relevel(p / "release.json"),
        "does not describe a release of",
    ),
    "a column renamed": (lambda p: change(p / "released.csv", "note", "nota"), "lacks column"),
    "an identifier": (lambda p: change(p / "released.csv", "note", "name"), "identifier 'name'"),
    "values changed": (
        lambda p: change(p / "released.csv", f"{SECRET}1", f"{SECRET}2"),
        "of the release and of the original are not the recoding of each other",
    ),
    "other hierarchies": (
        lambda p: (p.parent / "age.toml").write_text("widths = [7, 21]"),
        "of the release and of the original are not the recoding of each other",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_files_that_cannot_be_measured(run, released, study, name):
    breaks, message = BREAKS[name]
    breaks(released.parent)
    code, out, err = run("quality", released, "-s", study)
    assert code == (1 if name == "an identifier" else 2)
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_targets_and_no_classifiers_exclude_each_other(run, released, study):
    code, _, err = run("quality", released, "-s", study, "--target", "w", "--no-classifiers")
    assert code == 2
    assert "--target is about classifiers" in err
