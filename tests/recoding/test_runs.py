"""Ranges are judged the same by arrays and by the pairs that occur."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import EntropyLDiversity, Hierarchy, KAnonymity, TCloseness
from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.objectives import OBJECTIVES
from anonymizer.recoding.partitions import groups
from anonymizer.recoding.partitions.families import GroupScores, Judge
from anonymizer.recoding.partitions.groups import BlockRuns, Ranges
from anonymizer.recoding.problem import RangeOptions
from anonymizer.tables import engine

POLICIES = (
    [KAnonymity(3)],
    [EntropyLDiversity(2.5, attribute="w"), KAnonymity(2)],
    [TCloseness(0.3, distance="ordered", attribute="w")],
    [TCloseness(0.5, distance="equal", attribute="v"), EntropyLDiversity(2, attribute="w")],
)


def some_ranges(rng: np.random.Generator, values: int) -> tuple[Counts, Ranges]:
    """Counts of ages, sexes, amounts and marks, and all ranges of the ages."""
    records = int(rng.integers(1, 200))
    table = pd.DataFrame({"age": rng.integers(20, 32, records), "sex": rng.choice(2, records)})
    table["w"], table["v"] = rng.integers(0, values, records), rng.choice(2, records)
    schema = Schema(("age", "sex"), ("w", "v"))
    tally = engine.tally(table.astype(str), schema.columns)
    hierarchies = {"age": Hierarchy.ranges(widths=[5, 10]), "sex": Hierarchy.suppression()}
    taxonomies = taxonomies_of(tally, hierarchies)
    counts = schema.counts(tally, taxonomies)
    return counts, Ranges.of("age", taxonomies["age"], counts.cells[:, 0], RangeOptions())


def judged(
    judge: Judge, counts: Counts, ranges: Ranges, *, by_pairs: bool, lot: int
) -> GroupScores:
    """What ranges come to, by pairs of so many at once or by arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BlockRuns, "quicker", by_pairs)
        patch.setattr(groups, "PAIRS_AT_ONCE", lot)
        return ranges.judged(judge, counts)


@given(
    seed=st.integers(0, 2**32 - 1),
    values=st.sampled_from([2, 50, 300]),
    models=st.sampled_from(POLICIES),
    objective=st.sampled_from(["mutual-information", "discernibility", "miller-madow"]),
    lot=st.sampled_from([1, 30, 10**6]),
)
def test_pairs_judge_as_arrays_do(seed, values, models, objective, lot):
    counts, ranges = some_ranges(np.random.default_rng(seed), values)
    judge = Judge(models, OBJECTIVES[objective]())
    found = judged(judge, counts, ranges, by_pairs=True, lot=lot)
    expected = judged(judge, counts, ranges, by_pairs=False, lot=lot)
    assert found.gains == pytest.approx(expected.gains, rel=1e-12, abs=1e-12)
    assert np.array_equal(found.classes, expected.classes)
    assert np.array_equal(found.violations, expected.violations)


def test_pairs_are_merged_where_most_counts_are_zero():
    rng = np.random.default_rng(0)
    for values, quicker in ((2, False), (5000, True)):
        counts, ranges = some_ranges(rng, values)
        width = {"w": values}
        joint = {
            name: np.zeros((len(counts), width.get(name, 2)), np.int64) + (values == 2)
            for name in counts.joint
        }
        joint["w"][:, 0] += 1
        combination, block = counts.cells[:, 1], counts.cells[:, 0]
        shape = (int(combination.max()) + 1, int(block.max()) + 1)
        ends = np.stack([ranges.starts, ranges.ends])
        found = BlockRuns.of(replace(counts, joint=joint), (combination, block), shape, ends)
        assert found.quicker == quicker
