"""Searches over sparse histograms find what they find over dense ones."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from plain import NUMPY
from scipy.sparse import csr_array

from anonymizer import (
    BasicBetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctLDiversity,
    EntropyLDiversity,
    Hierarchy,
    KAnonymity,
    RecursiveLDiversity,
    TCloseness,
)
from anonymizer.counts.counts import Classes, Counts
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.errors import PolicyUnreachableError
from anonymizer.kernels import NATIVE, Kernel, frequency
from anonymizer.kernels.arrays import Floats
from anonymizer.objectives import OBJECTIVES, Objective, candidate
from anonymizer.objectives.candidate import Candidate, columns_of, histograms_of
from anonymizer.privacy.base import SensitiveModel
from anonymizer.recoding import Found, Problem, Suppression
from anonymizer.recoding.full_domain.solve import solve
from anonymizer.tables import engine

KNOWN = ("discernibility", "mutual-information", "miller-madow", "above-shuffled", "loss", "itpr")
seeds = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class LikeliestShare(SensitiveModel):
    """No value is likelier than a share in a class: a model that kernels do not know."""

    name: ClassVar[str] = "likeliest-share"
    condition: ClassVar[str] = "max_w p(w|g) <= share"
    unit: ClassVar[str] = "probability"
    source: ClassVar[str] = "an example"
    bounded_by: ClassVar[str] = "share"

    share: float

    def measure(self, classes: Classes) -> Floats:
        """The likeliest value of each class."""
        return classes.shares.max(axis=1)


@dataclass(frozen=True)
class Distinct(Objective):
    """Classes, and pairs of class and value: an objective of dense columns that kernels ignore."""

    name: ClassVar[str] = "distinct"

    def score(self, candidate: Candidate) -> float:
        """Of the classes released."""
        start, stop = candidate.layout.place("w")
        return candidate.total(
            self.name, lambda of: float((of[:, start:stop] > 0).sum() + (of[:, -1] > 0).sum())
        )

    def per_class(self, counts: Counts) -> Floats:
        """The same of each class."""
        return np.count_nonzero(counts.joint["w"], axis=1) + (counts.sizes > 0).astype(float)


PEOPLE = pd.DataFrame({"a": ["0"]})
POLICIES = (
    [KAnonymity(4)],
    [EntropyLDiversity(2.5, attribute="w")],
    [EntropyLDiversity(2, attribute="w"), DistinctLDiversity(2)],
    [RecursiveLDiversity(c=3, l=2, attribute="w"), KAnonymity(3)],
    [TCloseness(0.9, distance="kl")],
    [TCloseness(0.7, distance="equal", attribute="w"), DeltaDisclosure(6, attribute="v")],
    [BasicBetaLikeness(20)],
    [LikeliestShare(0.8)],
    [DeltaPresence(0.1, 0.9, PEOPLE), EntropyLDiversity(2, attribute="w")],
)
OBJECTIVE = [Distinct(), *(OBJECTIVES[name]() for name in KNOWN)]


def some_problem(rng: np.random.Generator, values: int, population: bool) -> Problem:
    """Three quasi-identifiers of three levels each; W of skewed values, V of two."""
    records, names = int(rng.integers(20, 250)), ("a", "b", "c")
    shares = 1 / np.arange(1, values + 1)
    table = pd.DataFrame({name: rng.integers(0, 6, records).astype(str) for name in names})
    table["w"] = rng.choice(values, records, p=shares / shares.sum()).astype(str)
    table["v"] = rng.integers(0, 2, records).astype(str)
    rows = [[str(value), f"{value // 2}-", "*"] for value in range(6)]
    schema = Schema(names, ("w", "v"))
    tally = engine.tally(table, schema.columns)
    taxonomies = taxonomies_of(tally, {name: Hierarchy.from_rows(rows) for name in names})
    counts = schema.counts(tally, taxonomies)
    if population:
        counts = replace(counts, population=counts.sizes + rng.integers(0, 5, len(counts)))
    return Problem(counts, taxonomies, [KAnonymity(2)])


def found_of(problem: Problem, kernel: Kernel, sparse: bool, strategy: str) -> Found | None:
    """What a search finds over histograms of one form, of few dense rows at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidate, "_worth_listing", lambda counts: sparse)
        patch.setattr(frequency, "BLOCK_BYTES", 50_000)
        again = replace(problem, kernel=kernel)
        assert again.evaluator.base.histograms.sparse == sparse
        try:
            return solve(again, strategy)
        except PolicyUnreachableError:
            return None


@pytest.mark.slow
@settings(max_examples=at_length(30, 120))
@given(
    seed=seeds,
    values=st.sampled_from([3, 90, 400]),
    models=st.sampled_from(POLICIES),
    objective=st.sampled_from(OBJECTIVE),
    suppression=st.sampled_from(
        [Suppression(), Suppression(0.1), Suppression(0.3), Suppression(0.2, remove=True)]
    ),
    strategy=st.sampled_from(["automatic", "exhaustive"]),
)
def test_what_is_found_depends_on_neither_form_nor_kernel(
    seed, values, models, objective, suppression, strategy
):
    population = any(isinstance(model, DeltaPresence) for model in models)
    problem = some_problem(np.random.default_rng(seed), values, population)
    problem = replace(problem, models=models, objective=objective, suppression=suppression)
    first, *others = [
        found_of(problem, kernel, sparse, strategy)
        for kernel in (NUMPY, NATIVE)
        for sparse in (False, True)
    ]
    for found in others:
        assert (found is None) == (first is None)
        if first is not None:
            for name in ("node", "proven", "checked", "feasible", "minimal"):
                assert getattr(found, name) == getattr(first, name), name
            assert found.score == pytest.approx(first.score, rel=1e-12, abs=1e-12)
            assert found.bound == pytest.approx(first.bound, rel=1e-12, abs=1e-12)


@given(seed=seeds, values=st.sampled_from([3, 90, 400]), population=st.booleans())
def test_counts_of_either_kind_make_the_same_histograms(seed, values, population):
    counts = some_problem(np.random.default_rng(seed), values, population).counts
    columns = columns_of(counts)
    listed = replace(counts, joint={name: csr_array(each) for name, each in counts.joint.items()})
    assert (columns_of(listed) == columns).all()
    of = histograms_of(listed)
    assert of.sparse
    assert (of.dense(columns.shape[1]) == columns).all()
    assert of.counts.dtype == of.numbers.dtype == columns.dtype
    mixed = replace(counts, joint={"w": listed.joint["w"], "v": counts.joint["v"]})
    assert all(np.array_equal(*pair) for pair in zip(of, histograms_of(mixed), strict=True))


@pytest.mark.parametrize(("values", "sparse"), [(3, False), (60, False), (400, True)])
def test_histograms_of_few_values_are_dense(values, sparse):
    problem = some_problem(np.random.default_rng(0), values, population=False)
    assert histograms_of(problem.counts).sparse == sparse
    full = {"w": np.ones((len(problem.counts), values), np.int64)}
    assert not histograms_of(replace(problem.counts, joint=full)).sparse
