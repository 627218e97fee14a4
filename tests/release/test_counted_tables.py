"""Tables that are counted are released as the same records held one by one.

Every recoding is held to that in ``test_recoding_laws``; here are the models, what is done with
records that miss values or are written in several ways, and what is drawn.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import LONG, at_length
from scipy.stats import chi2

from anonymizer import (
    Anonymizer,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    MergedCells,
    PolicyBrokenError,
)
from anonymizer.channels import moments_kept, probabilistic_loss
from anonymizer.counts.schema import Schema
from anonymizer.masking.drawing import FEW, dealt
from anonymizer.masking.options import Pram
from anonymizer.masking.part import Contingency
from anonymizer.privacy import (
    MODELS,
    AlphaKAnonymity,
    AverageReidentificationRisk,
    BasicBetaLikeness,
    BayesianGain,
    CompositionKAnonymity,
    DeltaDisclosure,
    DeltaPresence,
    DifferentialPrivacy,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    HighestReidentificationRisk,
    HouseholdCompositionKAnonymity,
    HouseholdKAnonymity,
    HouseholdRisk,
    IndividualRisk,
    Itpr,
    KmAnonymity,
    KMap,
    LargestShare,
    MeanInformation,
    PersonKAnonymity,
    PointwiseMaximalLeakage,
    Population,
    PopulationUniqueness,
    PrivacyModel,
    RecursiveLDiversity,
    ReidentificationItpr,
    TCloseness,
    ValueGain,
)
from anonymizer.recoding.safepub import SafePub
from anonymizer.release.fitting import fitted
from anonymizer.release.plan import Plan
from anonymizer.release.relations import CountedTable
from anonymizer.release.release import Release
from anonymizer.release.request import Unseen
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format
from anonymizer.tables.relations.embedded.files import opened
from anonymizer.tables.relations.relation import Relation


def people(records: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(records)],
            "age": 20 + 4 * rng.integers(0, 6, records),
            "town": rng.choice(["Ulm", " Ulm", "Bonn", "Kiel"], records),
            "illness": rng.choice(["flu", "cold", "none", "gout"], records, p=[0.4, 0.3, 0.2, 0.1]),
            "income": rng.choice([10, 20, 30], records),
        }
    )


EVERYBODY = pd.concat([people()[["age", "town"]], people(200, 1)[["town", "age"]]])


def estimator(models: Sequence[PrivacyModel], **options: object) -> Anonymizer:
    given = {
        "quasi_identifiers": {"age": Hierarchy.ranges(widths=[8, 16]), "town": "suppress"},
        "sensitive": ["illness"],
        "privacy": models,
        "identifiers": ["name"],
    }
    return Anonymizer(**{**given, **options})


def told(release: Release) -> dict[str, object]:
    """What a manifest reports, but for what only records have: an order, and other columns."""
    told = json.loads(json.dumps(release.steward_manifest.to_dict()))
    records = ("telling-order", "identifying-column", "gives-away")
    return told | {
        "warnings": [w for w in told["warnings"] if w["code"] not in records],
        "other_columns": None,
    }


def counted(anonymizer: Anonymizer, table: pd.DataFrame) -> tuple[Tally, Tally]:
    """A table counted, and the release of its tally."""
    tally = engine.tally(table, anonymizer.schema.columns)
    return tally, anonymizer.fit_counted(tally, anonymizer.task(tally))


def proven(plan: Plan, tally: Tally, unseen: Unseen) -> tuple[Release, Tally]:
    """The release of a tally by a plan, and its records."""
    found = plan.proven(CountedTable(tally, {}), unseen)
    return found.release, found.records


def texts_of(table: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    return table.astype(object).astype(str).itertuples(index=False, name=None)


def require_alike(anonymizer: Anonymizer, other: Anonymizer, table: pd.DataFrame) -> None:
    """Require that a table and its tally give one release."""
    released = anonymizer.fit_transform(table)
    rows = counted(other, table)[1]
    found: Counter[tuple[str, ...]] = Counter()
    for kind, size in zip(texts_of(rows.combinations), rows.sizes.tolist(), strict=True):
        found[kind] += size
    assert found == Counter(texts_of(released[[*rows.columns]]))
    assert told(other.release_) == told(anonymizer.release_)


# Models

PARENTS = Hierarchy.from_rows([["flu", "a"], ["cold", "a"], ["none", "b"], ["gout", "b"]])

POLICIES = [
    KAnonymity(12),
    PersonKAnonymity(12),
    LargestShare(0.1),
    KmAnonymity(3, 2),
    CompositionKAnonymity(2),
    HouseholdKAnonymity(3),
    HouseholdCompositionKAnonymity(2),
    HouseholdRisk(0.2),
    DistinctLDiversity(3),
    EntropyLDiversity(2.5),
    RecursiveLDiversity(3, 2),
    TCloseness(0.2, distance="hierarchical", hierarchy=PARENTS),
    AlphaKAnonymity(0.6, 5),
    BasicBetaLikeness(1),
    EnhancedBetaLikeness(1),
    DeltaDisclosure(1.5),
    PointwiseMaximalLeakage(1),
    BayesianGain(0.3),
    ValueGain(0.3),
    MeanInformation(0.05),
    Itpr(0.6),
    ReidentificationItpr(0.9),
    KMap(30, EVERYBODY),
    DeltaPresence(0, 0.8, EVERYBODY),
    AverageReidentificationRisk(0.05),
    HighestReidentificationRisk(0.05, EVERYBODY),
    IndividualRisk(0.01),
    PopulationUniqueness(0.1, 0.5, "pitman"),
]


def test_every_model_is_held_here():
    """But for differential privacy, whose releases are drawn: see below."""
    assert {type(model) for model in POLICIES} == {*MODELS.values()} - {DifferentialPrivacy}


@pytest.mark.parametrize(
    ("model", "remove"),
    [
        (model, remove)
        for place, model in enumerate(POLICIES)
        for remove in ([False, True] if LONG else [place % 2 == 0])
    ],
)
def test_models_find_the_same_of_a_tally(model, remove):
    """What becomes of suppressed records is counted before any model, here in turn."""
    given: dict[str, object] = {"recoding": FullDomain(suppression=0.1, remove=remove)}
    table = people()
    if model.of_persons:
        given["person"] = "name"
        table["name"] = [f"person {i % 90}" for i in range(len(table))]
    if model.of_households:
        given["household"] = "home"
        table["home"] = [f"home {i % 90}" for i in range(len(table))]
    if model.by_weights:
        given["weight"] = "income"
    require_alike(estimator([model], **given), estimator([model], **given), table)


# Values that are missing, or written in several ways


@pytest.mark.parametrize(
    ("recoding", "missing"),
    [
        *product(["variable-range", "boxes"], ["drop", "category"]),
        (MergedCells(max_classes=3), "category"),
    ],
)
def test_records_that_miss_values(missing, recoding):
    table = people(60)
    table.loc[::7, "town"], table.loc[3::50, "illness"] = None, None
    made = [
        estimator([KAnonymity(5), DistinctLDiversity(2)], recoding=recoding, missing=missing)
        for _ in range(2)
    ]
    require_alike(*made, table)


def test_missing_values_are_counted_by_records():
    table = people()
    table.loc[:41, "town"] = None
    anonymizer = estimator([KAnonymity(5)])
    with pytest.raises(InputError, match="'town' misses the value of 42 of 300 records"):
        counted(anonymizer, table)


def test_targets_and_values_that_are_written_in_several_ways():
    table = people()
    table["illness"] = np.where(table.index % 3 == 0, " flu ", table["illness"])
    table["income"] = np.where(table.index % 2 == 0, "20", "20.0")
    made = [
        estimator([DistinctLDiversity(2)], sensitive=["illness", "income"], objective="loss")
        for _ in range(2)
    ]
    made[0].privacy = made[1].privacy = [DistinctLDiversity(1), KAnonymity(4)]
    require_alike(*made, table)


# Other tables


def with_strangers() -> pd.DataFrame:
    """Of 300 records 10 have a town that nobody had before."""
    table = people(seed=4)
    table.loc[:9, "town"] = "Rome"
    return table


@pytest.mark.parametrize("unseen", ["any", "suppress"])
def test_a_plan_recodes_a_tally_with_other_values_as_a_table(unseen):
    towns = Hierarchy.from_rows([[town, "*"] for town in ("Ulm", "Bonn", "Kiel")])
    names = {"age": Hierarchy.ranges(widths=[8, 16]), "town": towns}
    fitted = estimator(
        [KAnonymity(4)], quasi_identifiers=names, recoding=FullDomain(suppression=0.2)
    ).fit(people())
    released, release = fitted.plan_.release(with_strangers(), unseen=unseen)
    tally = engine.tally(with_strangers(), fitted.schema.columns)
    again, rows = proven(fitted.plan_, tally, unseen)
    assert told(again) == told(release)
    assert release.unseen == {"values": 1, "records": 10, "treated": unseen}
    assert rows.sizes.sum() == len(released)


def test_records_that_no_class_covers_are_counted():
    fitted = estimator([KAnonymity(4)], recoding="boxes").fit(people())
    tally = engine.tally(with_strangers(), fitted.schema.columns)
    with pytest.raises(PolicyBrokenError, match="10 records of 300 would have to be suppressed"):
        proven(fitted.plan_, tally, "suppress")


def test_records_of_values_that_are_not_covered_are_counted():
    towns = Hierarchy.from_rows([[town, "*"] for town in ("Ulm", "Bonn", "Kiel")])
    names = {"age": "suppress", "town": towns}
    anonymizer = estimator([KAnonymity(1)], quasi_identifiers=names).fit(people())
    other = people(seed=4).assign(town="Rome")
    with pytest.raises(InputError, match="holds 1 value, in 300 records, that the recoding does"):
        proven(anonymizer.plan_, engine.tally(other, anonymizer.schema.columns), "error")


# Populations


def test_a_population_may_be_counted():
    """Its digest is of what it holds, in whatever order, counted or not."""
    tally = engine.tally(EVERYBODY, ["age", "town"])
    shuffled = EVERYBODY.sample(frac=1, random_state=1)
    digests = {Population(each).digest for each in (EVERYBODY, shuffled, tally)}
    assert len(digests) == 1
    assert digests != {Population(EVERYBODY.iloc[1:]).digest}
    one, other = estimator([KMap(30, EVERYBODY)]), estimator([KMap(30, tally)])
    require_alike(one, other, people())
    found = told(other.release_)["privacy"][0]["parameters"]["population"]
    assert (found["records"], found["name"]) == (500, "population")


# What is drawn


@settings(max_examples=at_length(15, 30))
@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8),
    share=st.floats(0, 1),
    factor=st.sampled_from([1, 3 * FEW]),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_symbol_is_dealt_to_as_many_records_as_were_drawn(sizes, share, factor, seed):
    """Of two parts: the margins of each are those that were drawn, and rows keep their records."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "a": rng.integers(0, 2, len(sizes)),
            "b": rng.integers(0, 2, len(sizes)),
            "w": rng.integers(0, 2, len(sizes)),
        }
    )
    tally = Tally(rows, factor * np.array(sizes))
    tables = [Contingency.of(tally, Schema((name,), ("w",))) for name in ("a", "b")]
    kinds = []
    for table in tables:
        row, stratum = np.nonzero(table.records)
        records = table.records[row, stratum]
        first = rng.binomial(records, share)
        both = [(row, stratum, 0 * row, first), (row, stratum, 0 * row + 1, records - first)]
        drawn = np.concatenate([np.column_stack(each) for each in both])
        kinds.append(drawn[drawn[:, 3] > 0])
    found = dealt(tables, kinds, rng)
    assert (np.bincount(found.rows, found.sizes, minlength=len(sizes)) == tally.sizes).all()
    for table, drawn, symbol_of in zip(tables, kinds, found.symbol_of, strict=True):
        again = np.zeros((*table.records.shape, 2), np.int64)
        places = table.row_of[found.rows], table.stratum_of[found.rows], symbol_of
        np.add.at(again, places, found.sizes)
        assert (again[tuple(drawn[:, :3].T)] == drawn[:, 3]).all()
        assert again.sum() == drawn[:, 3].sum()


@pytest.mark.parametrize("factor", [1, FEW])
def test_symbols_are_dealt_as_if_records_were_shuffled(factor):
    """The records of three rows that get a symbol have the law of draws without replacement."""
    sizes, drawn = factor * np.array([2, 3, 5]), factor * 4
    tally = Tally(pd.DataFrame({"a": [0, 0, 0], "w": [0, 0, 0], "x": [0, 1, 2]}), sizes)
    table = Contingency.of(tally, Schema(("a",), ("w",)))
    kinds = np.array([[0, 0, 0, drawn], [0, 0, 1, sizes.sum() - drawn]])
    rng, times = np.random.default_rng(0), 2000
    counts = np.zeros((times, 3))
    for one in range(times):
        found = dealt([table], [kinds], rng)
        first = found.symbol_of[0] == 0
        counts[one] = np.bincount(found.rows[first], found.sizes[first], minlength=3)
    share, n = sizes / sizes.sum(), sizes.sum()
    spread = drawn * (n - drawn) / (n - 1) * (np.diag(share) - np.outer(share, share))
    off = (counts.mean(axis=0) - drawn * share)[:2] * np.sqrt(times)
    assert off @ np.linalg.solve(spread[:2, :2], off) < chi2.isf(1e-6, 2)
    assert np.cov(counts.T) == pytest.approx(spread, abs=0.15 * spread.max())


def test_the_statistics_of_drawn_numbers_are_those_of_records():
    """Of a release that is dealt out, by hand: each row as often as it has records."""
    anonymizer = estimator(
        [TCloseness(0.3, "kl"), KAnonymity(3)],
        quasi_identifiers={"age": Hierarchy.ranges(widths=[8, 16])},
        sensitive="income",
        recoding=Pram(seed=3),
        identifiers=["name", "town"],
    )
    tally, released = counted(anonymizer, people().drop(columns="illness"))
    of = np.repeat(np.arange(len(released.sizes)), released.sizes)
    after = released.combinations.iloc[of]
    before = tally.combinations.loc[after.index]
    report = anonymizer.release_.masking
    moved = (after["age"].to_numpy() - before["age"].to_numpy()) ** 2
    assert report.channels[0].realised_distortion == pytest.approx(moved.mean())
    columns = [each[["age", "income"]].to_numpy(float) for each in (before, after)]
    loss, kept = probabilistic_loss(*columns, quantiles=()), moments_kept(*columns)
    assert report.preserved.columns == ("age", "income")
    assert report.preserved.variance == pytest.approx(loss.variance)
    assert report.preserved.covariance == pytest.approx(loss.covariance[0, 1])
    assert (report.preserved.mean_kept, report.preserved.covariance_kept) == (
        kept.mean,
        kept.covariance,
    )


def test_a_sample_of_a_tally_is_one_of_its_records():
    """Of 2,000 records 1 - 1/e are drawn; the small class is left out in any case."""
    kinds = pd.DataFrame({"age": ["10", "25", "39"], "sex": ["f", "m", "m"]})
    model = DifferentialPrivacy(1.0, 0.01)
    tally = Tally(kinds, np.array([1500, 500, model.k - 1]))
    anonymizer = Anonymizer(
        {"age": Hierarchy.ranges(widths=[10]), "sex": "suppress"},
        privacy=[model],
        recoding=SafePub({"age": 0, "sex": 0}),
    )
    released = anonymizer.fit_counted(tally, anonymizer.task(tally))
    assert released.index.tolist() == [0, 1]
    for size, drawn in zip((1500, 500), released.sizes.tolist(), strict=True):
        reach = np.sqrt(size * np.log(2e10) / 2)  # Hoeffding: beyond with a chance of 1e-10
        assert abs(drawn - size * (1 - np.exp(-1))) <= reach
    assert "39" not in json.dumps(anonymizer.release_.to_dict()["recoding"])


# Tables where they lie

CSV = Format(parquet=False)


@pytest.fixture
def stored(tmp_path) -> Iterator[Callable[[pd.DataFrame], Relation]]:
    """Tables as CSV files, each read where it lies."""
    with ExitStack() as stack:

        def written(table: pd.DataFrame) -> Relation:
            path = tmp_path / f"{len([*tmp_path.iterdir()])}.csv"
            table.to_csv(path, index=False)
            return stack.enter_context(opened(path, CSV))

        yield written


def recorded(relation: Relation) -> pd.DataFrame:
    return relation.frame(relation.columns)


@pytest.mark.slow
@pytest.mark.parametrize("recoding", [Pram(seed=1), Pram(seed=1, jointly=False, draws=50)])
def test_what_is_drawn_where_a_table_lies_is_what_was_drawn(stored, recoding):
    """The records of a file get as many symbols as were drawn, again with the same seed."""
    table = people().drop(columns="name").assign(number=range(300))
    made = [
        estimator([TCloseness(0.7, "kl"), KAnonymity(3)], identifiers=(), recoding=chosen)
        for chosen in (recoding, recoding, replace(recoding, seed=2))
    ]
    carried = [fitted(each, stored(table), CSV) for each in made]
    carried.append(carried[0].plan.recoded(stored(table), CSV))
    for each in carried:
        each.verify()
    first, again, other, _ = found = [recorded(each.table) for each in carried]
    for released in found:
        unchanged = ["illness", "income", "number"]
        pd.testing.assert_frame_equal(
            released[unchanged].astype(str), table[unchanged].astype(str), check_dtype=False
        )
    counts = carried[0].release.released, len(first)
    assert counts == (300, 300)
    assert first.equals(again)
    assert not first.equals(other)


def test_a_private_sample_comes_in_random_order(stored):
    """By another seed each time, which nobody knows; no column is released as it is."""
    table = people(3000)[["age", "town"]].sort_values("age")
    anonymizer = estimator(
        [DifferentialPrivacy(2, 0.1)],
        sensitive=(),
        identifiers=(),
        recoding=SafePub({"age": 0, "town": 1}),
    )
    carried = [fitted(anonymizer, stored(table), CSV) for _ in range(2)]
    plan = carried[0].plan
    carried.append(plan.recoded(stored(table), CSV))
    for each in carried:
        each.verify()
        ages = recorded(each.table)["age"].astype(int).tolist()
        assert 0 < len(ages) < 3000
        assert ages != sorted(ages)
    assert len({tuple(recorded(each.table)["age"]) for each in carried}) == 3
    for carry_out in (partial(fitted, anonymizer), plan.recoded):
        with pytest.raises(InputError, match="column 'w' would be released as it is"):
            carry_out(stored(table.assign(w="x")), CSV)


def test_a_column_that_numbers_classes_is_not_put_over_another(stored):
    anonymizer = estimator([KAnonymity(5)], recoding=MergedCells(max_classes=3))
    plan = fitted(anonymizer, stored(people()), CSV).plan
    with pytest.raises(InputError, match="the table has a column 'class'"):
        plan.recoded(stored(people().assign(**{"class": 1})), CSV)
