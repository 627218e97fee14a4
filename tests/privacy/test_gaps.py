"""Missing sensitive values count as nothing: a class is judged by the values that are there."""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import EACH, KINDS, records_of
from hypothesis import example, given
from hypothesis import strategies as st

from anonymizer import (
    Anonymizer,
    BasicBetaLikeness,
    DistinctLDiversity,
    EntropyLDiversity,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    Pram,
    RecursiveLDiversity,
    TCloseness,
    check,
)
from anonymizer.counts.counts import Classes
from anonymizer.privacy import holds

MODELS = [
    DistinctLDiversity(2),
    EntropyLDiversity(1.7),
    EntropyLDiversity(1.7, estimator="grassberger"),
    EntropyLDiversity(1.7, estimator="miller-madow"),
    RecursiveLDiversity(c=2, l=2),
    TCloseness(0.3, distance="kl"),
    TCloseness(0.3, distance="equal"),
    BasicBetaLikeness(0.7),
]


def table_of(classes: dict[str, list]) -> pd.DataFrame:
    """A table that has a class for each key, of some sensitive values."""
    rows = [(key, value) for key, values in classes.items() for value in values]
    return pd.DataFrame(rows, columns=["q", "w"])


@pytest.mark.parametrize(
    ("values", "missing", "distinct"),
    [
        (["flu", "flu", None, None], "category", 2),
        (["flu", "flu", None, None], "gap", 1),
        (["flu", "cold", None, np.nan], "gap", 2),
        ([None, None], "category", 1),
        ([None, None], "gap", 0),  # nobody's value is there to be doubted
        (["None", "flu", "flu"], "gap", 2),  # an answer, though pandas reads it as missing
    ],
)
def test_values_that_are_there(values, missing, distinct):
    found = check(table_of({"a": values, "b": ["flu", "cold"]}), "q", "w", missing=missing)
    assert found.sensitive["w"]["distinct_l"] == min(distinct, 2)
    assert found.k == 2


def test_by_hand():
    """Of the values that are there 2 of 3 are flu in a, 1 of 2 in b: 3 of 5 in the table."""
    table = table_of({"a": ["flu", "flu", "cold", None], "b": ["flu", "cold", None, None]})
    found = check(table, "q", "w", [TCloseness(0.1, distance="equal")], missing="gap")
    assert found.privacy[0].worst == pytest.approx(1 / 2 - 2 / 5)
    assert found.satisfied
    entropy = -(2 / 3 * np.log2(2 / 3) + 1 / 3 * np.log2(1 / 3))
    assert found.sensitive["w"]["entropy_l"] == pytest.approx(2**entropy)


def test_an_attribute_that_everybody_misses_has_one_value():
    found = check(table_of({"a": [None, None]}), "q", "w", [DistinctLDiversity(1)], missing="gap")
    assert found.satisfied
    assert [warning.code for warning in found.warnings][:2] == ["weak-policy", "constant-sensitive"]


values = st.lists(st.sampled_from(["u", "v", "w", None]), min_size=1, max_size=6)


@given(classes=st.lists(values, min_size=1, max_size=6), model=st.sampled_from(MODELS))
@example(classes=[[None], ["u", "v"]], model=TCloseness(0.3, distance="kl"))
def test_classes_are_judged_as_if_records_without_a_value_were_not_there(classes, model):
    table = table_of({str(place): values for place, values in enumerate(classes)})
    if table["w"].isna().all():
        return
    (found,) = check(table, "q", "w", [model], missing="gap").privacy
    (known,) = check(table.dropna(), "q", "w", [model]).privacy
    blank = sum(not any(values) for values in classes)
    assert found.violating == known.violating + blank
    assert found.classes == known.classes + blank


rows = st.lists(st.integers(0, 4), min_size=4, max_size=4).filter(any)


@given(joint=st.lists(rows, min_size=2, max_size=5), model=st.sampled_from(MODELS))
@example(joint=[[0, 0, 0, 2], [2, 0, 0, 0]], model=DistinctLDiversity(1))
def test_merging_classes_keeps_what_searches_prune_by(joint, model):
    """A class that misses all values breaks every model, or it would spoil others."""
    counts = np.array(joint)
    if not counts[:, :-1].any() or not model.monotone:
        return
    merged = np.vstack([counts, counts[0] + counts[1]])
    one, other, *_, both = holds(model, Classes(merged, counts.sum(axis=0), gap=True))
    assert both or not (one and (other or model.strongly_monotone))
    assert not (one and not counts[0, :-1].any())


def people(seed: int = 0, records: int = 300) -> pd.DataFrame:
    """People of whom a third misses the disease, and some the job."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, records)
    ill = np.array(["flu", "cold", "hiv", "cough"], object)[(age // 10 + rng.integers(0, 2)) % 4]
    ill[rng.random(records) < 0.2] = "flu"
    ill[rng.random(records) < 0.35] = None
    job = np.array(["baker", "clerk", "smith", None], object)[rng.integers(0, 4, records)]
    return pd.DataFrame({"age": age, "job": job, "disease": ill})


def classes_of(released: pd.DataFrame) -> list[Counter]:
    """The diseases that are there in each class, counted in plain Python."""
    found: dict[tuple, Counter] = {}
    for *label, ill in released.astype(object).where(released.notna(), None).to_numpy().tolist():
        found.setdefault(tuple(label), Counter())[ill] += 1
    return list(found.values())


RECODINGS = [
    FullDomain(),
    FullDomain(suppression=0.1),
    FullDomain(suppression=0.1, suppress="any"),
    "cut",
    "boxes",
    "merged-cells",
    "variable-range",
]


@pytest.mark.parametrize(("recoding", "model"), [*product(RECODINGS, [None, MODELS[1], MODELS[6]])])
def test_whoever_has_a_value_is_hidden_among_those_who_have_one(recoding, model):
    """The attacker knows of somebody's class, and that there is a value."""
    models = [KAnonymity(4), DistinctLDiversity(3), *([] if model is None else [model])]
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[5, 10, 20]), "job": "suppress"},
        "disease",
        models,
        missing="gap",
        recoding=recoding,
        seed=0,
    )
    released = anonymizer.fit_transform(people())
    names = [name for name in released.columns if name != "disease"]
    for group in classes_of(released[[*names, "disease"]]):
        assert group.total() >= 4
        assert len(group.keys() - {None}) >= 3
    assert all(verdict.satisfied for verdict in anonymizer.release_.privacy)


@pytest.mark.parametrize("kind", EACH)
def test_every_engine_alike(kind):
    table = people(1, 120)
    given = {"age": Hierarchy.ranges(widths=[10, 20]), "job": "suppress"}
    models = [KAnonymity(3), EntropyLDiversity(2)]
    expected = Anonymizer(given, "disease", models, missing="gap").fit_transform(table)
    held = KINDS[kind](pa.Table.from_pandas(table, preserve_index=False))
    released = Anonymizer(given, "disease", models, missing="gap").fit_transform(held)
    assert records_of(released) == records_of(expected)


def test_a_random_recoding_refuses_gaps():
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[10, 20]), "job": "suppress"},
        "disease",
        [KAnonymity(2), DistinctLDiversity(2)],
        missing="gap",
        recoding=Pram(levels={"age": 2, "job": 1}),
    )
    with pytest.raises(InputError, match="'disease' misses values, which a random recoding cannot"):
        anonymizer.fit_transform(people())
