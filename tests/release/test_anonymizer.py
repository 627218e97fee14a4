import json
import pickle
from collections import Counter
from itertools import product
from math import log, log2
from pathlib import Path
from typing import get_args

import literature
import numpy as np
import pandas as pd
import pytest
from checker import classes_of, least_close, least_diverse, margin_of, mutual_information, smallest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted
from strategies import ordered_problems, policies, tables

from anonymizer import (
    Anonymizer,
    Boxes,
    Cut,
    DifferentialPrivacy,
    DistinctLDiversity,
    EntropyLDiversity,
    Fixed,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    MergedCells,
    NotFittedError,
    PolicyBrokenError,
    PolicyUnreachableError,
    PopulationUniqueness,
    SafePub,
    TCloseness,
    VariableRange,
    check,
)
from anonymizer.objectives import OBJECTIVES, ObjectiveName
from anonymizer.recoding import Frontier, cut_heuristically
from anonymizer.recoding.full_domain.frontier import exhaustive
from anonymizer.release.request import RECODINGS, RecodingName


def test_type_checkers_know_the_names():
    assert get_args(ObjectiveName) == tuple(OBJECTIVES)
    assert get_args(RecodingName) == tuple(RECODINGS)


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    size = 400
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(size)],
            "age": rng.integers(18, 80, size),
            "sex": rng.choice(["f", "m"], size),
            "income": rng.normal(30_000, 9_000, size),
            "diagnosis": rng.choice(["flu", "cold", "asthma", "none"], size),
        },
        index=rng.permutation(size) + 1000,
    )


@pytest.fixture
def anonymizer() -> Anonymizer:
    return Anonymizer(
        quasi_identifiers={"age": Hierarchy.ranges(widths=[10, 20]), "sex": "suppress"},
        sensitive="diagnosis",
        privacy=[KAnonymity(8), EntropyLDiversity(2.5), TCloseness(0.3, distance="kl")],
        identifiers=["name"],
    )


def assert_safe(table: pd.DataFrame, names, sensitive, models) -> None:
    """Hold the policy against a table by the independent checker."""
    classes = classes_of(table.astype(str).to_dict("records"), names, sensitive)
    for model in models:
        match model:
            case KAnonymity(k):
                assert smallest(classes) >= k
            case EntropyLDiversity(l):
                assert least_diverse(classes) >= l - 1e-8
            case TCloseness(t):
                assert least_close(classes) <= t + 1e-8


@pytest.mark.parametrize("recoding", ["full-domain", "variable-range", "cut"])
def test_columns_and_other_values_are_kept(people, anonymizer, recoding):
    before = people.copy()
    released = anonymizer.set_params(recoding=recoding).fit_transform(people)
    assert list(released.columns) == ["age", "sex", "income", "diagnosis"]
    others = ["income", "diagnosis"]
    pd.testing.assert_frame_equal(released[others], people[others].reset_index(drop=True))
    pd.testing.assert_frame_equal(people, before)
    assert_safe(released, ["age", "sex"], "diagnosis", anonymizer.privacy)


@pytest.mark.parametrize("identifiers", [["name"], []])
def test_changing_the_released_table_does_not_change_the_raw_one(people, anonymizer, identifiers):
    before = people.copy(deep=True)
    anonymizer.set_params(identifiers=identifiers, privacy=[KAnonymity(1)])
    released = anonymizer.fit_transform(people)
    for column in released.columns:
        released.iloc[:, released.columns.get_loc(column)] = released[column].iloc[0]
    pd.testing.assert_frame_equal(people, before)


def test_the_manifest_says_what_was_released(people, anonymizer):
    released = anonymizer.fit_transform(people)
    manifest = json.loads(json.dumps(anonymizer.release_.steward_manifest.to_dict()))
    classes = classes_of(released.astype(str).to_dict("records"), ["age", "sex"], "diagnosis")
    raw = classes_of(people.astype(str).to_dict("records"), ["age", "sex"], "diagnosis")
    information = manifest["information"]
    assert manifest["records"] == manifest["released"] == 400
    assert manifest["suppressed"] == manifest["dropped"] == 0
    assert manifest["classes"] == len(classes)
    assert information["retained"] == pytest.approx(mutual_information(classes))
    assert information["original"] == pytest.approx(mutual_information(raw))
    assert information["loss"] == pytest.approx(
        1 - mutual_information(classes) / mutual_information(raw)
    )
    assert information["retained"] <= information["ceiling"] + 1e-9
    assert information["gap"] == pytest.approx(information["ceiling"] - information["retained"])
    free = sum(len(group) - 1 for group in classes.values()) - (len(margin_of(classes)) - 1)
    corrected = information["retained"] - free / (2 * 400 * log(2))
    assert information["miller_madow"] == pytest.approx(corrected)
    assert list(information) == [
        *("original", "retained", "ceiling", "shuffled"),
        *("shuffled_deviation", "retained_above_shuffled"),
        *("miller_madow", "gap", "loss", "loss_above_shuffled"),
    ]
    assert [verdict["model"] for verdict in manifest["privacy"]] == [
        "k-anonymity",
        "entropy-l-diversity",
        "t-closeness",
    ]
    worst = [verdict["worst"] for verdict in manifest["privacy"]]
    assert worst == pytest.approx([smallest(classes), least_diverse(classes), least_close(classes)])
    assert all(verdict["satisfied"] for verdict in manifest["privacy"])
    assert manifest["privacy"][2]["parameters"] == {"t": 0.3, "distance": "kl"}
    assert manifest["search"]["nodes"] == 8
    assert list(manifest["levels"].values()) in manifest["search"]["minimal"]
    assert manifest["study"]["fingerprint"].startswith("sha256:")


def test_the_recoding_in_the_manifest_can_be_applied_again(people, anonymizer):
    anonymizer.set_params(recoding="variable-range", privacy=[KAnonymity(20)])
    released = anonymizer.fit_transform(people)
    groups = anonymizer.release_.to_dict()["recoding"]["age"]
    assert len(groups) > 2

    def label(age):
        return next(
            group["label"]
            for group in groups
            if (group["from"] is None or group["from"] <= age)
            and (group["to"] is None or age < group["to"])
        )

    assert people["age"].map(label).tolist() == released["age"].tolist()


def test_the_manifest_does_not_tell_values_that_the_release_hides():
    table = pd.DataFrame({"zip": ["12345", "67890", "11111"], "w": ["u", "v", "u"]})
    anonymizer = Anonymizer({"zip": "suppress"}, "w", [KAnonymity(3)])
    assert anonymizer.fit_transform(table)["zip"].tolist() == ["*"] * 3
    manifest = json.dumps(anonymizer.release_.to_dict())
    assert anonymizer.release_.to_dict()["recoding"]["zip"] == [{"label": "*"}]
    assert not any(code in manifest for code in table["zip"])


def test_extremes_are_not_told_by_labels(people, anonymizer):
    people.loc[1000, "age"] = 107
    anonymizer.set_params(recoding="variable-range")
    released = anonymizer.fit_transform(people)
    assert not released["age"].str.contains("107").any()
    assert "107" not in json.dumps(anonymizer.release_.to_dict()["recoding"]["age"])


@settings(max_examples=at_length(12, 25))
@given(st.data())
def test_whatever_is_released_is_safe(data):
    table = data.draw(tables(2))
    models = data.draw(policies(table))
    anonymizer = Anonymizer({"a": "suppress", "b": "suppress"}, "w", models)
    assert_safe(anonymizer.fit_transform(table), ["a", "b"], "w", models)


@settings(max_examples=at_length(12, 25))
@given(ordered_problems(), st.sampled_from(["exact", "heuristic"]))
def test_whatever_ranges_are_released_are_safe(drawn, refinement):
    table, problem = drawn
    anonymizer = Anonymizer(
        {"x": Hierarchy.ranges(widths=[3]), "a": "suppress"},
        "w",
        problem.models,
        missing="category",
        recoding=VariableRange(refinement=refinement),
    )
    assert_safe(anonymizer.fit_transform(table), ["x", "a"], "w", problem.models)


def test_another_table_is_recounted_and_refused(people, anonymizer):
    anonymizer.fit(people)
    some = people[people["age"] < 40].head(30)
    with pytest.raises(
        PolicyBrokenError, match=r"nothing was released.*k-anonymity fails in \d+ of"
    ):
        anonymizer.transform(some)
    again = anonymizer.transform(people.sample(frac=1, random_state=1))
    assert len(again) == 400
    assert_safe(again, ["age", "sex"], "diagnosis", anonymizer.privacy)


def test_the_yardstick_is_the_table_released():
    table = pd.DataFrame({"a": ["x", "y"] * 20, "w": ["u", "u", "v", "v"] * 10})
    anonymizer = Anonymizer({"a": "suppress"}, "w", [TCloseness(0.1, distance="kl")]).fit(table)
    assert anonymizer.release_.levels == {"a": 0}
    skewed = pd.DataFrame({"a": ["x"] * 10 + ["y"] * 10, "w": ["u"] * 10 + ["v"] * 10})
    with pytest.raises(PolicyBrokenError, match=r"worst 1, threshold 0\.1"):
        anonymizer.transform(skewed)
    with pytest.raises(PolicyBrokenError):  # each class alone is its own table: distance 0 ...
        anonymizer.transform(pd.concat([skewed, skewed.head(10)]))
    assert len(anonymizer.transform(skewed.head(10))) == 10  # ... and so this one passes


def test_unseen_values_are_counted_not_shown(people, anonymizer):
    anonymizer.set_params(recoding="variable-range").fit(people)
    strange = people.assign(age=people["age"].astype(object).replace({20: "old", 21: "12345x"}))
    affected = int(people["age"].isin([20, 21]).sum())
    with pytest.raises(InputError, match=f"'age' holds 2 values, in {affected} records") as caught:
        anonymizer.transform(strange)
    assert "12345" not in str(caught.value)


def test_values_of_a_hierarchy_file_need_not_have_been_seen(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x;1;*\ny;1;*\nz;1;*\n")
    anonymizer = Anonymizer({"a": path}, "w", [KAnonymity(4)])
    anonymizer.fit(pd.DataFrame({"a": ["x", "y"] * 2, "w": ["u", "u", "v", "v"]}))
    other = pd.DataFrame({"a": ["z", "y", "z", "y"], "w": ["u", "u", "v", "v"]})
    assert anonymizer.transform(other)["a"].tolist() == ["1"] * 4


def test_missing_values(people, anonymizer):
    people["age"] = people["age"].astype(float)
    people.iloc[:30, people.columns.get_loc("age")] = None
    with pytest.raises(InputError, match="'age' misses the value of 30 of 400 records"):
        anonymizer.fit(people)
    dropped = anonymizer.set_params(missing="drop").fit_transform(people)
    assert len(dropped) == 370
    assert anonymizer.release_.dropped == 30
    for recoding in ("full-domain", "variable-range"):
        anonymizer.set_params(missing="category", recoding=recoding)
        kept = anonymizer.fit_transform(people)
        assert len(kept) == 400
        assert_safe(kept, ["age", "sex"], "diagnosis", anonymizer.privacy)


def test_no_index_is_released(people, anonymizer):
    """Names, dates, levels and places: whatever it is, a release numbers its records from 0."""
    expected = anonymizer.fit_transform(people.reset_index(drop=True))["age"].tolist()
    levels = pd.MultiIndex.from_arrays([["a", "b"] * 200, range(400)])
    named = pd.Index([f"ID-{n:05}" for n in range(400)], name="patient")
    for index in ([7] * 400, levels, named, pd.date_range("2020-01-01", periods=400)):
        table = people.set_axis(index)
        for released in (
            anonymizer.fit_transform(table),
            anonymizer.transform(table),
            anonymizer.plan_.apply(table),
            anonymizer.plan_.release(table)[0],
        ):
            pd.testing.assert_index_equal(released.index, pd.RangeIndex(400), exact=True)
            assert released.index.name is None
            assert released["age"].tolist() == expected
    assert table.index.equals(people.set_axis(index).index)


def test_no_gap_says_which_record_was_left_out():
    """Of ten the fourth is alone in its class, and in no release."""
    table = pd.DataFrame({"sex": [*"fff", "x", *"ffffff"], "row": range(10)})
    how = Anonymizer(
        {"sex": "suppress"},
        (),
        [KAnonymity(2)],
        recoding=FullDomain(suppression=0.1, remove=True),
    )
    released = how.fit_transform(table)
    assert released["row"].tolist() == [0, 1, 2, *range(4, 10)]
    pd.testing.assert_index_equal(released.index, pd.RangeIndex(9), exact=True)


@pytest.mark.parametrize("role", ["identifiers", "quasi_identifiers"])
def test_an_index_has_no_role(people, role):
    table = people.rename_axis("patient")
    roles = {"quasi_identifiers": {"sex": "suppress"}, "sensitive": "diagnosis"}
    given = {"patient": "suppress"} if role == "quasi_identifiers" else "patient"
    roles[role] = [given] if role == "identifiers" else given
    how = Anonymizer(**roles, privacy=[KAnonymity(2)])
    with pytest.raises(InputError, match=r"'patient' is the index of the DataFrame.*reset_index"):
        how.fit(table)
    if role == "identifiers":
        released = how.fit_transform(table.reset_index())
        assert "patient" not in released
        assert released.index.name is None


def test_missing_identifiers_and_other_columns_do_not_matter(people, anonymizer):
    people.iloc[:5, people.columns.get_loc("income")] = None
    people.iloc[:5, people.columns.get_loc("name")] = None
    assert anonymizer.fit_transform(people)["income"].isna().sum() == 5


def test_numbers_written_differently_are_one_value():
    table = pd.DataFrame({"a": [39, "39", 39.0, " 39"], "w": list("uvuv")}, dtype=object)
    released = Anonymizer({"a": "suppress"}, "w", [KAnonymity(4)]).fit_transform(table)
    assert released["a"].nunique() == 1
    assert released["a"].tolist() != ["*"] * 4


def test_dtypes_of_kept_columns_are_kept(people, anonymizer):
    people = people.assign(sex=people["sex"].astype("category"), age=people["age"].astype("int16"))
    anonymizer.set_params(privacy=[KAnonymity(1)])
    released = anonymizer.fit_transform(people)
    assert released.dtypes["age"] == "int16"
    assert released.dtypes["sex"] == "category"


def test_several_sensitive_attributes_each_hold(people, anonymizer):
    people["job"] = np.where(people["age"] > 50, "retired", "working")
    anonymizer.set_params(
        sensitive=["diagnosis", "job"], privacy=[KAnonymity(5), EntropyLDiversity(1.5)]
    )
    released = anonymizer.fit_transform(people)
    for sensitive in ("diagnosis", "job"):
        assert_safe(released, ["age", "sex"], sensitive, anonymizer.privacy)
    assert [verdict.attribute for verdict in anonymizer.release_.privacy] == [
        None,
        "diagnosis",
        "job",
    ]


def test_it_behaves_as_a_scikit_learn_estimator(people, anonymizer):
    copy = clone(anonymizer)
    assert copy is not anonymizer
    assert copy.get_params().keys() == anonymizer.get_params().keys()
    pipeline = Pipeline(
        [("adults", FunctionTransformer(lambda X: X[X["age"] >= 20])), ("release", copy)]
    )
    released = pipeline.fit_transform(people)
    assert isinstance(released, pd.DataFrame)
    assert len(released) == (people["age"] >= 20).sum()
    assert pipeline.set_params(release__privacy=[KAnonymity(100)]).fit(people) is pipeline
    assert copy.release_.privacy[0].worst >= 100
    assert not hasattr(anonymizer, "release_")
    assert repr(pipeline)


def test_scikit_learn_may_ask_what_it_asks_of_any_transformer(people, anonymizer):
    pipeline = Pipeline([("release", anonymizer)]).set_output(transform="pandas")
    released = pipeline.fit_transform(people)
    check_is_fitted(anonymizer)
    pd.testing.assert_frame_equal(pipeline.transform(people), released)
    assert pipeline.get_feature_names_out().tolist() == list(released.columns)
    assert "Anonymizer" in pipeline._repr_html_()
    with pytest.raises(InputError, match=r"transform = .polar. is unknown; did you mean .polars."):
        anonymizer.set_output(transform="polar")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        clone(anonymizer).get_feature_names_out()


def test_a_fitted_anonymizer_can_be_stored(people, anonymizer):
    released = anonymizer.set_params(recoding="variable-range").fit_transform(people)
    stored = pickle.loads(pickle.dumps(anonymizer))
    pd.testing.assert_frame_equal(stored.transform(people), released)
    assert stored.release_.to_dict() == anonymizer.release_.to_dict()


def test_what_was_fitted_does_not_change_with_the_parameters(people, anonymizer):
    released = anonymizer.fit_transform(people)
    manifest = anonymizer.release_.to_dict()
    anonymizer.set_params(privacy=[KAnonymity(1)], recoding="variable-range", identifiers=[])
    pd.testing.assert_frame_equal(anonymizer.transform(people), released)
    assert anonymizer.release_.to_dict() == manifest


def test_a_fit_that_fails_leaves_what_was_fitted(people, anonymizer):
    released = anonymizer.fit_transform(people)
    with pytest.raises(PolicyUnreachableError, match="k = 1000 exceeds"):
        anonymizer.set_params(privacy=[KAnonymity(1000)]).fit(people)
    pd.testing.assert_frame_equal(anonymizer.transform(people), released)


def test_the_manifest_does_not_tell_which_listed_values_occur():
    rows = [[str(age), "low"] for age in range(20, 26)]
    table = pd.DataFrame({"a": [20.0, 21, 23, 24], "w": list("xyxy")})
    anonymizer = Anonymizer({"a": Hierarchy.from_rows(rows)}, "w", [KAnonymity(3)]).fit(table)
    listed = [str(age) for age in range(20, 26)]
    assert anonymizer.release_.recoding["a"] == [{"label": "low", "values": listed}]


def test_the_manifest_does_not_tell_what_only_suppressed_records_had():
    """Four of ten miss a value, or are of a rare zip; they become ``*`` or go."""
    zips = ["111"] * 6 + ["222", "222", None, None]
    table = pd.DataFrame({"zip": zips, "w": list("xyxyxyxyxy")})
    rows = [["111", "1", "any"], ["222", "2", "any"], ["333", "3", "any"]]
    for hierarchy, listed in [(Hierarchy.prefixes([1]), []), (Hierarchy.from_rows(rows), rows)]:
        for level in (0, 1):
            for remove in (False, True):
                anonymizer = Anonymizer(
                    {"zip": hierarchy},
                    "w",
                    [KAnonymity(3)],
                    missing="category",
                    recoding=Fixed(levels={"zip": level}, suppression=0.4, remove=remove),
                ).fit(table)
                release = anonymizer.release_
                assert release.suppressed_class == ("removed" if remove else "kept")
                told = [group["label"] for group in release.recoding["zip"]]
                shown = ["111", "1**"][level]
                assert told == ([row[level] for row in listed] or [shown])


def test_categories_do_not_tell_of_records_left_out():
    hidden = pd.Categorical(["p", "p", "q", "q", "SECRET"])
    table = pd.DataFrame({"a": hidden, "b": hidden, "w": [*"xyxy", None]})
    anonymizer = Anonymizer({"a": "suppress"}, "w", [KAnonymity(2)], missing="drop")
    released = anonymizer.fit_transform(table)
    assert list(released["a"].cat.categories) == list(released["b"].cat.categories) == ["p", "q"]
    assert list(table["b"].cat.categories) == ["SECRET", "p", "q"]


def test_blanks_do_not_make_another_sensitive_value():
    table = pd.DataFrame({"a": ["x"] * 4, "w": ["flu", "flu ", " flu", "flu\t"]})
    with pytest.raises(PolicyUnreachableError, match="l = 2 is above"):
        Anonymizer({"a": "suppress"}, "w", [EntropyLDiversity(2)]).fit(table)
    released = Anonymizer({"a": "suppress"}, "w", [KAnonymity(2)]).fit_transform(table)
    assert set(released["w"]) == {"flu"}


def test_nothing_to_lose_has_no_loss():
    pairs = [(i, f"w{j}") for i in range(6) for j in range(2) for _ in range((i + 1) * (j + 2))]
    table = pd.DataFrame(pairs, columns=["a", "w"])
    anonymizer = Anonymizer({"a": Hierarchy.ranges(widths=[2])}, "w", [KAnonymity(8)]).fit(table)
    assert anonymizer.release_.information.original == pytest.approx(0, abs=1e-12)
    assert anonymizer.release_.information.loss is None
    assert anonymizer.release_.steward_manifest.to_dict()["information"]["loss"] is None


@pytest.mark.parametrize("name", ["self", "columns", "T", "level_0", "number of records"])
def test_columns_may_have_any_name(people, name):
    people = people.rename(columns={"sex": name, "age": "x"})
    anonymizer = Anonymizer({name: "suppress"}, "diagnosis", [KAnonymity(8)])
    assert anonymizer.fit_transform(people)[name].nunique() == 2


def test_numbers_are_no_column_names(people):
    people = people.rename(columns={"sex": 0})
    with pytest.raises(InputError, match="column names must be texts, not 0"):
        Anonymizer({0: "suppress"}, "diagnosis", [KAnonymity(8)]).fit(people)
    with pytest.raises(InputError, match="the table has no column '0'"):
        Anonymizer({"0": "suppress"}, "diagnosis", [KAnonymity(8)]).fit(people)


@pytest.mark.slow
def test_as_many_sensitive_values_as_records_are_released():
    """As an array their counts would take 3 GB."""
    table = pd.DataFrame({"id": range(20_000), "w": range(20_000)})
    anonymizer = Anonymizer({"id": "suppress"}, "w", [KAnonymity(5), EntropyLDiversity(9_000)])
    released = anonymizer.fit_transform(table)
    assert released["id"].eq("*").all()
    assert released["w"].nunique() == 20_000
    assert [verdict.worst for verdict in anonymizer.release_.privacy] == [
        20_000,
        pytest.approx(20_000),
    ]


@pytest.mark.slow
def test_too_many_sensitive_values_are_refused_before_memory_runs_out():
    table = pd.DataFrame({"id": range(20_000), "w": range(20_000)})
    ranges = Hierarchy.ranges(widths=[10, 100, 1000, 10_000])
    anonymizer = Anonymizer({"id": ranges}, "w", [KAnonymity(5)], recoding=Boxes())
    with pytest.raises(InputError, match="'w' has 20,000 distinct values, too many to look at"):
        anonymizer.fit(table)


def test_one_name_stands_for_a_list_of_one(people, anonymizer):
    several = anonymizer.fit_transform(people)
    anonymizer.set_params(identifiers="name", sensitive=["diagnosis"])
    pd.testing.assert_frame_equal(anonymizer.fit_transform(people), several)


def test_a_search_of_ones_own_proves_nothing(people, anonymizer):
    def lazy(problem, run):
        return Frontier((problem.lattice.heights,), problem.lattice.size, 1, 1)

    anonymizer.set_params(recoding=FullDomain(search=lazy)).fit(people)
    assert not anonymizer.search_.proven
    ranges = VariableRange(search=lazy)
    assert not anonymizer.set_params(recoding=ranges).fit(people).search_.proven
    assert anonymizer.search_.strategy == "lazy"


def test_parameters_are_only_stored():
    anonymizer = Anonymizer({"a": "no such file"}, "w", ["nonsense"], recoding="none")
    assert anonymizer.get_params()["privacy"] == ["nonsense"]


def test_results_are_reproducible_and_the_fingerprint_knows_the_study(people, anonymizer):
    first = anonymizer.fit(people).release_.to_dict()
    assert clone(anonymizer).set_params(n_jobs=2).fit(people).release_.to_dict() == first
    limited = clone(anonymizer).set_params(time_limit=60).fit(people).release_.to_dict()
    assert limited["study"] != first["study"]
    other = clone(anonymizer).set_params(privacy=[KAnonymity(9)]).fit(people).release_.to_dict()
    assert other["study"] != first["study"]


def test_the_order_of_records_does_not_matter(people, anonymizer):
    anonymizer.set_params(recoding="variable-range")
    straight = anonymizer.fit_transform(people)
    shuffled = clone(anonymizer).fit_transform(people.sample(frac=1, random_state=3))
    one, other = (sorted(map(repr, each.to_numpy().tolist())) for each in (straight, shuffled))
    assert one == other


BAD = [
    ({"quasi_identifiers": {"aeg": "suppress"}}, "no column 'aeg'; did you mean 'age'"),
    ({"quasi_identifiers": ["age"]}, "must map each column to its hierarchy"),
    (
        {"quasi_identifiers": {"age": 7}},
        "a hierarchy needs the name of a rule; write age = ",
    ),
    (
        {"quasi_identifiers": {"age": Path("none.csv")}},
        "cannot read hierarchy none.csv: No such file",
    ),
    ({"sensitive": "diagnosos"}, "no column 'diagnosos'; did you mean 'diagnosis'"),
    ({"identifiers": ["age"]}, "'age' has more than one role"),
    ({"privacy": []}, r"at least one model, such as \[KAnonymity"),
    ({"privacy": [KAnonymity]}, r"privacy must be a list of models, such as \[KAnonymity"),
    ({"privacy": KAnonymity(2)}, "must be a list of models"),
    ({"privacy": None}, "must be a list of models"),
    ({"sensitive": None}, "sensitive must name a column or a list of columns, not None"),
    ({"identifiers": 3}, "identifiers must name a column"),
    ({"seed": -1}, "seed = -1 must be a whole number of at least 0"),
    ({"seed": 1.5}, "seed = 1.5 must be a whole number"),
    ({"n_jobs": 0}, "n_jobs = 0 must be a whole number but 0"),
    ({"n_jobs": "2"}, "n_jobs = '2' must be"),
    ({"progress": 3}, "progress = 3 must be a function"),
    ({"recoding": print}, "recoding = .* is unknown"),
    (
        {"recoding": VariableRange(refinement="heuristic", max_ranges=3)},
        "the heuristic refinement can be confined by a grid alone",
    ),
    ({"recoding": "full domain"}, "'full domain' is unknown; did you mean 'full-domain'"),
    ({"recoding__serch": "automatic"}, "no option 'serch'; did you mean 'search'"),
    ({"recoding__suppression": 1.0}, "suppression = 1.0 must be a share of the records"),
    ({"recoding": "fixed"}, r"'fixed' needs levels; give Fixed\(levels=\.\.\.\)"),
    ({"recoding": Fixed}, r"recoding = Fixed is a class; give Fixed\(levels=\.\.\.\)"),
    ({"recoding": Cut}, r"recoding = Cut is a class; give Cut\(\)"),
    ({"recoding": Fixed({}), "time_limit": 1}, "'fixed' searches nothing; leave out the time lim"),
    ({"privacy": [DifferentialPrivacy(1, 0.1)]}, r"choose recoding = SafePub\(levels\)"),
    ({"objective": 3}, "objective must be the name of one, or an Objective"),
    ({"objective__weights": {"sex": 2}}, "weighs 'sex', which is no sensitive attribute"),
    ({"missing": "ignore"}, "missing = 'ignore' is none of error, drop, gap, category"),
    ({"recoding": VariableRange(["sexx"])}, "refine names 'sexx'.*did you mean 'sex'"),
    ({"recoding": VariableRange(["sex"])}, "cannot refine 'sex'"),
    ({"recoding": Cut(group=["sx"])}, "group names 'sx', which.*did you mean 'sex'"),
    ({"recoding": Cut(group=["age"])}, "cannot group 'age'.*it has 62 values .the most is 6"),
    ({"recoding": "variable-range", "objective": "loss"}, "loss depends on levels, which ranges"),
    ({"objective": "beauty"}, "objective 'beauty' is unknown; known are mutual-information"),
    ({"objective": "mutual information"}, "is unknown; did you mean 'mutual-information'"),
    ({"missing": "dropp"}, "missing = 'dropp' is none of .*; did you mean 'drop'"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD, ids=lambda value: str(value)[:50])
def test_bad_parameters_are_one_clear_error(people, anonymizer, parameters, message):
    with pytest.raises(InputError, match=message):
        anonymizer.set_params(**parameters).fit(people)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KAnonymity(401), "k = 401 exceeds the 400 records"),
        (EntropyLDiversity(5), r"l = 5 is above 2\^H = 3\.9\d+"),
    ],
)
def test_what_not_even_the_whole_table_reaches(people, anonymizer, model, message):
    with pytest.raises(PolicyUnreachableError, match=message):
        anonymizer.set_params(privacy=[model]).fit(people)


WRONG = [
    (
        FullDomain,
        {"search": "flash"},
        "search = 'flash' is unknown; known are automatic, ",
    ),
    (FullDomain, {"suppression": -1}, "suppression = -1 must be a share of the records"),
    (FullDomain, {"suppression": 0.1, "remove": "yes"}, "remove = 'yes' must be true or false"),
    (FullDomain, {"remove": True}, "give suppression above 0 with it"),
    (FullDomain, {"suppression": 0.1, "max_classes": 3}, "max-classes cannot be combined with"),
    (Fixed, {"levels": [1]}, "levels must map every quasi-identifier to a level"),
    (SafePub, {"levels": None}, "levels must map every quasi-identifier to a level"),
    (VariableRange, {"refine": []}, "refine is empty"),
    (VariableRange, {"refinement": "magic"}, "refinement = 'magic' is unknown"),
    (VariableRange, {"max_ranges": 0}, "max-ranges = 0"),
    (VariableRange, {"search": "branch-and-bound"}, "search = 'branch-and-bound' is unknown"),
    (Cut, {"refine": ["a"], "group": ["a"]}, "'a' gets ranges or groups: name it in refine or in"),
    (Boxes, {"refinement": "magic"}, "refinement = 'magic' is unknown; known are exact, heurist"),
    (Boxes, {"max_classes": 0}, "max-classes = 0 must be a whole number of at least 1"),
    (MergedCells, {"min_gain": -1}, "min-gain = -1 must be a number of at least 0"),
]


@pytest.mark.parametrize(("kind", "options", "message"), WRONG, ids=lambda each: str(each)[:50])
def test_options_that_cannot_be_are_refused_at_once(kind, options, message):
    with pytest.raises(InputError, match=message):
        kind(**options)


def test_options_of_a_recoding_are_parameters_of_the_estimator(people, anonymizer):
    anonymizer.set_params(recoding=VariableRange(max_ranges=2), recoding__refine=["age"])
    assert anonymizer.recoding == VariableRange(["age"], max_ranges=2)
    assert anonymizer.get_params()["recoding__max_ranges"] == 2
    assert "recoding__max_ranges" not in anonymizer.get_params(deep=False)
    assert len(anonymizer.fit(people).recoding_["age"].labels) <= 2
    anonymizer.set_params(recoding="cut", recoding__max_ranges=3)
    assert anonymizer.recoding == Cut(max_ranges=3)
    copy = clone(anonymizer)
    assert copy.get_params() == anonymizer.get_params()
    assert copy.fit(people).release_.to_dict() == anonymizer.fit(people).release_.to_dict()


def test_bad_tables_are_one_clear_error(people, anonymizer):
    with pytest.raises(InputError, match="the table has no records"):
        anonymizer.fit(people.head(0))
    with pytest.raises(InputError, match="column 'age' stands more than once"):
        anonymizer.fit(people.rename(columns={"income": "age"}))
    with pytest.raises(InputError, match="expected a pandas DataFrame, got ndarray"):
        anonymizer.fit(people.to_numpy())
    with pytest.raises(NotFittedError, match="not fitted yet"):
        anonymizer.transform(people)
    with pytest.raises(InputError, match="no parameter 'privaci'; did you mean 'privacy'"):
        anonymizer.set_params(privaci=[])
    people["age"] = people["age"].astype(str).replace("30", "thirty")
    with pytest.raises(
        InputError, match=r"'age' holds 1 value, in . records? \(.*\) where ranges need numbers"
    ):
        anonymizer.fit(people)


def test_searches_may_be_functions(people, anonymizer):
    named = anonymizer.set_params(recoding__search="exhaustive").fit(people).release_.to_dict()
    anonymizer.set_params(recoding__search=exhaustive)
    assert anonymizer.fit(people).release_.to_dict() == named
    anonymizer.set_params(recoding=VariableRange(refinement=cut_heuristically)).fit(people)
    assert not anonymizer.search_.proven


# Models that merging classes does not preserve

STRATEGIES = ["automatic", "exhaustive", "branch-and-bound"]


@pytest.mark.parametrize("search", STRATEGIES)
def test_a_model_that_only_fine_classes_satisfy(search):
    """Miller and Madow take 2 and 1 records for 1.159 bits, 6 and 3 for 0.998; l = 2 wants 1."""
    table = pd.DataFrame({"a": list("xxxyyyzzz"), "b": list("pqr" * 3), "w": list("uuv" * 3)})
    model = EntropyLDiversity(2, "miller-madow")
    assert literature.entropy_l(Counter("uuv"), "miller-madow") == 2
    assert literature.entropy_l(Counter("uuv" * 3), "miller-madow") < 2
    anonymizer = Anonymizer(
        {"a": "suppress", "b": "suppress"},
        "w",
        [model],
        objective="discernibility",
        recoding=FullDomain(search=search),
    ).fit(table)
    assert anonymizer.release_.levels == {"a": 0, "b": 1}
    assert anonymizer.release_.privacy[0].worst == 2
    fixed = anonymizer.set_params(recoding=Fixed({"a": 1, "b": 1}))
    with pytest.raises(PolicyUnreachableError, match="the levels given do not satisfy all of ent"):
        fixed.fit(table)
    with pytest.raises(InputError, match="incognito prunes by what merging classes preserves, and"):
        fixed.set_params(recoding=FullDomain(search="incognito")).fit(table)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("estimator", ["miller-madow", "grassberger"])
def test_models_that_are_not_monotone_by_brute_force(seed, estimator):
    """All nodes counted in plain Python; the finest by precision is what any strategy finds."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(6, 50))
    table = pd.DataFrame({name: rng.integers(0, 3, size).astype(str) for name in ("a", "b")})
    table["w"] = rng.choice(["u", "v", "x"], size, p=[0.6, 0.3, 0.1])
    least = float(rng.choice([1.5, 1.9, 2.2]))
    names = ("a", "b")

    def fine(node) -> bool:
        hidden = {name: "*" for name, level in zip(names, node, strict=True) if level}
        rows = [row | hidden for row in table.to_dict("records")]
        groups = classes_of(rows, names, "w").values()
        return all(max(literature.entropy_l(g, estimator), 1) >= least - 1e-9 for g in groups)

    nodes = [node for node in product((0, 1), repeat=2) if fine(node)]
    for search in STRATEGIES:
        anonymizer = Anonymizer(
            dict.fromkeys(names, "suppress"),
            "w",
            [EntropyLDiversity(least, estimator)],
            objective="precision",
            recoding=FullDomain(search=search),
        )
        if not nodes:
            with pytest.raises(PolicyUnreachableError):
                anonymizer.fit(table)
            continue
        levels = tuple(anonymizer.fit(table).release_.levels.values())
        assert levels in nodes
        assert sum(levels) == min(map(sum, nodes))
        assert anonymizer.search_.proven


def test_uniqueness_in_the_population_is_estimated_of_the_release():
    """Zayatz: the share of unique records that are so in the population, none where none is."""
    table = pd.DataFrame({"a": [*map(str, range(10)), *["x"] * 30], "w": list("uv") * 20})
    rare = [PopulationUniqueness(0, 0.5, "zayatz")]
    anonymizer = Anonymizer({"a": "suppress"}, "w", rare).fit(table)
    assert anonymizer.release_.levels == {"a": 1}
    assert anonymizer.release_.privacy[0].worst == 0
    assert "population" not in anonymizer.release_.to_dict()["privacy"][0]["parameters"]
    suppressed = anonymizer.set_params(recoding=Fixed({"a": 0}, suppression=0.25))
    with pytest.raises(PolicyUnreachableError):  # no class breaks a model of the whole table
        suppressed.fit(table)
    with pytest.raises(InputError, match="population-uniqueness is about the table as a who"):
        Anonymizer({"n": Hierarchy.ranges(widths=[5])}, "w", rare, recoding="variable-range").fit(
            table.assign(n=range(40))
        )


@pytest.mark.parametrize("suppression", [0, 0.5])
def test_values_that_read_alike_are_no_diversity(suppression):
    table = pd.DataFrame({"a": list("xxxxyyyy"), "w": [1, "1", 1, "1", "2", 3, "3 ", 2]})
    anonymizer = Anonymizer(
        {"a": "suppress"},
        "w",
        [DistinctLDiversity(2)],
        recoding=FullDomain(suppression=suppression, remove=bool(suppression)),
    )
    released = anonymizer.fit_transform(table)
    for _, group in released.groupby("a"):
        assert group["w"].astype(str).str.strip().nunique() >= 2
    found = check(table, "a", "w", [DistinctLDiversity(2)])
    assert (found.sensitive["w"]["distinct_l"], found.satisfied) == (1, False)


def test_a_release_says_what_it_costs_as_an_answer():
    table = pd.DataFrame({"age": [23, 27, 35, 38, 41, 46], "w": list("xyxyxy")})
    anonymizer = Anonymizer({"age": Hierarchy.ranges([20])}, "w", [KAnonymity(2)])
    released = anonymizer.fit_transform(table)
    assert sorted(released["age"].value_counts()) == [2, 4]
    loss = anonymizer.release_.to_dict()["query_loss"]
    assert loss["uncertainty"] == pytest.approx(log2(6))
    assert loss["average"] == pytest.approx(log2(3) - 2 / 3)
    assert loss["maximum"] == pytest.approx(log2(3))
    assert loss["minimum"] == pytest.approx(log2(1.5))
    assert loss["standard_deviation"] == pytest.approx(2**0.5 / 3)
