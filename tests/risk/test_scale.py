"""Refinement, whichever way it is done, and risk that looks at no more than it needs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import InputError, risk
from anonymizer.risk import Inference, Refinement, Reidentification, refined_by, refinement
from anonymizer.risk.refinement import Ordered, refinements
from anonymizer.tables import engine

BITS = 1e-9


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Columns of few and of many values, constant ones, copies, some values missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records = draw(st.integers(1, 60))
    columns: dict[str, object] = {}
    for name in "abcdef"[: draw(st.integers(1, 6))]:
        codes = rng.integers(0, rng.choice([1, 2, 3, 200]), records)
        if columns and rng.random() < 0.2:
            columns[name] = columns["a"]
            continue
        lacks = rng.random(records) < rng.choice([0, 0.2])
        kinds = np.array([f"{code:03}" for code in range(200)], object)
        texts = pd.Series(kinds[codes]).mask(lacks)
        numbers = pd.Series(codes).astype("Int64").mask(lacks)
        columns[name] = [texts, numbers, texts.astype("category"), pd.Series(codes)][
            rng.integers(4)
        ]
    return pd.DataFrame({**columns, "x": rng.integers(0, rng.choice([1, 2, 4]), records)})


def oracle(table: pd.DataFrame, names: list[str]) -> np.ndarray:
    """The classes by pandas' own group-by."""
    return table.groupby(names, dropna=False, sort=False, observed=True).ngroup().to_numpy()


def same_classes(one: np.ndarray, other: np.ndarray) -> bool:
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))


def slow_itpr(table: pd.DataFrame, names: list[str], sensitive: str | None) -> float:
    """ITPR from the whole count matrix."""
    classes = oracle(table, names)
    if sensitive is None:
        return Reidentification.of(np.bincount(classes)).measures.itpr
    return risk.measures(pd.crosstab(classes, table[sensitive].to_numpy()).to_numpy()).itpr


def patched(patch: pytest.MonkeyPatch, dense: float, packed: int) -> None:
    patch.setattr(refinement, "DENSE", dense)
    patch.setattr(refinement, "PACKED", packed)
    patch.setattr(refinement, "BLOCK", 7)


ways = (st.sampled_from([0, 1, 10**6]), st.sampled_from([1, 6, 1 << 16]))


@given(tables(), *ways)
def test_classes_are_those_of_a_group_by(table, dense, packed):
    names = [*table.columns[:-1]]
    with pytest.MonkeyPatch.context() as patch:
        patched(patch, dense, packed)
        found = refined_by(table, names)
    expected = oracle(table, names)  # numbered in order of appearance
    assert found.class_of.tolist() == expected.tolist()
    assert found.classes == len(set(expected))
    assert found.sizes.tolist() == np.bincount(expected).tolist()


@given(tables(), *ways)
def test_one_column_after_the_other(table, dense, packed):
    names = [*table.columns[:-1]]
    with pytest.MonkeyPatch.context() as patch:
        patched(patch, dense, packed)
        classes = Refinement.trivial(len(table))
        for place, name in enumerate(names):
            classes = classes.by(table[name])
            assert same_classes(classes.class_of, oracle(table, names[: place + 1]))
            assert classes.sizes.sum() == len(table)


@given(tables(), *ways, st.sampled_from([None, "x"]))
def test_what_settles_itpr_early_settles_it_rightly(table, dense, packed, sensitive):
    names = [*table.columns[:-1]]
    with pytest.MonkeyPatch.context() as patch:
        patched(patch, dense, packed)
        found = risk.itpr(table, names, sensitive)
    assert found == pytest.approx(slow_itpr(table, names, sensitive), abs=BITS)


@given(tables(), *ways)
def test_each_step_knows_its_classes(table, dense, packed):
    names = [*table.columns[:-1]]
    about = engine.numbered(table["x"])
    steps = 0
    with pytest.MonkeyPatch.context() as patch:
        patched(patch, dense, packed)
        for found in refinements(table, names):
            steps += 1
            values = pd.Series(table["x"]).groupby(found.class_of).nunique()
            assert found.classes == len(values)
            assert (np.bincount(found.class_of) == found.sizes).all()
            assert found.is_homogeneous() == bool((found.sizes == 1).any())
            if isinstance(found, Ordered) or dense:
                assert found.is_homogeneous(about) == bool((values == 1).any())
    assert steps


@given(tables(), *ways, st.sampled_from([None, "x"]))
def test_each_attribute_alone(table, dense, packed, sensitive):
    names = [*table.columns[:-1]]
    with pytest.MonkeyPatch.context() as patch:
        patched(patch, dense, packed)
        found = {one.name: one for one in risk.attribute_risks(table, names, sensitive)}
    assert list(found) == names
    for name, one in found.items():
        classes = oracle(table, [name])
        sizes = Reidentification.of(np.bincount(classes))
        assert dict(one.reidentification.measures) == pytest.approx(dict(sizes.measures))
        assert one.itpr == pytest.approx(slow_itpr(table, [name], sensitive), abs=BITS)
        if sensitive is not None:
            told = Inference.tallied(classes, table["x"].to_numpy())
            assert dict(one.inference.measures) == pytest.approx(dict(told.measures), abs=BITS)


def test_many_records_each_of_them_twice():
    rng = np.random.default_rng(5)
    half = pd.DataFrame({name: rng.integers(0, 10, 20_000) for name in "abcdefg"})
    table = pd.concat([half, half], ignore_index=True).astype("category")
    found = refined_by(table, list("abcdefg"))
    assert same_classes(found.class_of, oracle(table, list("abcdefg")))
    assert risk.itpr(table, list("abcdefg")) == pytest.approx(
        slow_itpr(table, list("abcdefg"), None), abs=BITS
    )


class Counting:
    """A table that notes which columns were asked for."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        self.asked: list[str] = []

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, name: str) -> pd.Series:
        self.asked.append(name)
        return self.table[name]


@pytest.fixture
def thousand() -> Counting:
    rng = np.random.default_rng(1)
    columns = {f"a{number}": rng.integers(0, 10, 1000) for number in range(20)}
    return Counting(pd.DataFrame({**columns, "id": range(1000), "x": rng.integers(0, 3, 1000)}))


def test_columns_that_cannot_change_the_result_are_not_read(thousand):
    names = [f"a{number}" for number in range(20)]
    assert risk.itpr(thousand, names) == 1
    assert len(thousand.asked) <= 4
    assert refined_by(thousand, ["id", *names]).classes == 1000
    assert len(thousand.asked) <= 6


def test_a_class_of_one_value_settles_inference(thousand):
    thousand.table["y"] = np.where(thousand.table["a1"] == 3, 0, thousand.table["x"])
    assert risk.itpr(thousand, [f"a{number}" for number in range(20)], "y") == 1
    assert thousand.asked[0] == "y"
    assert len(thousand.asked) <= 5


def test_the_identifier_is_not_needed_for_reidentification(thousand):
    by_id = Inference.tallied(thousand.table["a0"].to_numpy(), thousand.table["id"].to_numpy())
    assert risk.itpr(thousand, ["a0"]) == pytest.approx(by_id.measures.itpr)
    assert thousand.asked == ["a0"]


def test_identifiers_among_the_attributes(thousand):
    found = list(risk.attribute_risks(thousand, ["id", "a0"], "x"))
    assert found[0].reidentification.itpr == found[0].itpr == 1
    assert found[0].reidentification.measures.classes == 1000
    assert thousand.asked == ["x", "id", "a0"]


@pytest.mark.parametrize("sensitive", [None, "x"])
def test_categories_that_no_record_has_are_no_classes(sensitive):
    column = pd.Categorical(["p", "p", "r", "r", "r"], categories=["p", "q", "r", "s"])
    values = pd.Categorical(list("uvuvv"), categories=["t", "u", "v"])
    table = pd.DataFrame({"a": column, "b": 1, "x": values})
    plain = table.astype({"a": str, "x": str})
    expected = slow_itpr(plain, ["a"], sensitive)
    assert 0 < expected < 1
    assert risk.itpr(table, ["a"], sensitive) == pytest.approx(expected)
    assert risk.itpr(table, ["a", "b"], sensitive) == pytest.approx(expected)
    assert refined_by(table, ["a"]).sizes.tolist() == [2, 3]


def test_values_that_read_alike_are_one_to_infer():
    table = pd.DataFrame({"a": [0, 0, 1, 1], "x": pd.Series([1, "1", "2", 1], dtype=object)})
    assert risk.itpr(table, ["a"], "x") == 1
    assert next(risk.attribute_risks(table, ["a"], "x")).inference.measures.max_posterior == 1


@pytest.mark.parametrize("sensitive", [None, "x"])
@pytest.mark.parametrize("names", [[], ["a"], ["a", "b"]])
def test_what_cannot_be_told_apart_is_no_risk(names, sensitive):
    alike = pd.DataFrame({"a": ["p"] * 3, "b": [None] * 3, "x": [1, 2, 3]})
    assert risk.itpr(alike, names, sensitive) == 0
    single = pd.DataFrame({"a": ["p"], "b": [1], "x": [1]})
    assert risk.itpr(single, names, sensitive) == 0
    constant = pd.DataFrame({"a": [1, 2, 3], "b": [1, 2, 3], "x": [1, 1, 1]})
    assert risk.itpr(constant, names, "x") == 0


@pytest.mark.parametrize("names", [[], ["a"], ["a", "x"]])
def test_no_records(names):
    with pytest.raises(InputError, match="no records: there is no risk"):
        risk.itpr(pd.DataFrame({"a": [], "x": []}), names)


def test_a_column_of_categories_is_left_as_it_is():
    codes = np.arange(40_000, dtype=np.int32) % 33_000
    column = pd.Categorical.from_codes(codes, categories=range(33_000))
    table = pd.DataFrame({"a": column, "b": np.arange(40_000) % 7})
    refined_by(table, ["a", "b"])
    assert (table["a"].array.codes == np.arange(40_000) % 33_000).all()
