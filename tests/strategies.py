"""Random tables, hierarchies and policies for the laws."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anonymizer import EntropyLDiversity, Hierarchy, KAnonymity, TCloseness
from anonymizer.counts import pairs
from anonymizer.counts.counts import Classes
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding import Problem
from anonymizer.tables import engine

SENSITIVE = "w"

NUMBERS = [
    [1, 2, 3, 5, 8, 9, 10],
    [-3.75, -0.5, 0.1, 0.2, 0.3, 7],
    [2**60 + step for step in (0, 1, 2, 500, 1000)],  # beyond what a float tells apart
]

joints = arrays(
    np.int64,
    st.tuples(st.integers(2, 6), st.integers(2, 4)),
    elements=st.integers(0, 9),
).filter(lambda joint: joint.sum(axis=1).all())
"""Count matrices of 2 to 6 classes, none of them empty."""


sparse_joints = arrays(
    np.int64,
    st.tuples(st.integers(1, 6), st.integers(1, 4)),
    elements=st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 50]),
).filter(np.any)
"""Count matrices most of whose counts are 0; classes may be empty, and values nobody's."""


VALUES = ("1", "2", "3", "4")
"""What the columns of count matrices stand for: numbers, so that they have an order."""


def classes_of(joint: np.ndarray, people: np.ndarray | None = None) -> Classes:
    """Classes of a count matrix, in a population with so many others of the same values."""
    joint = np.asarray(joint)
    population = None if people is None else joint.sum(axis=1) + np.asarray(people)
    return Classes(joint, joint.sum(axis=0), VALUES[: joint.shape[1]], population, "w")


@contextmanager
def sparse_counts() -> Iterator[None]:
    """The matrices of counts are sparse matrices, however few they are."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"FEW_CELLS": -1, "FEW_VALUES": -1, "PAIRS_APART": 0}.items():
            patch.setattr(pairs, name, value)
        yield


@st.composite
def some_classes(draw: st.DrawFn) -> Classes:
    """Classes of 2 to 4 sensitive values in a population."""
    joint = draw(joints)
    others = draw(st.lists(st.integers(0, 9), min_size=len(joint), max_size=len(joint)))
    return classes_of(joint, others)


def merged(classes: Classes) -> Classes:
    """The first two classes as one."""
    first_two = np.concatenate([[0], np.arange(len(classes))[:-1]]).astype(int)

    def summed(counts: np.ndarray) -> np.ndarray:
        sums = np.zeros((len(classes) - 1, *counts.shape[1:]), np.int64)
        np.add.at(sums, first_two, counts)
        return sums

    return replace(classes, joint=summed(classes.joint), population=summed(classes.population))


@st.composite
def nested_rows(draw: st.DrawFn, values: list[str]) -> list[list[str]]:
    """Rows of a hierarchy: every level merges groups of the one before."""
    labels = [[value] for value in values]
    for level in range(1, draw(st.integers(1, 3)) + 1):
        groups = sorted({row[-1] for row in labels})
        merged = {group: f"{level}-{draw(st.integers(0, len(groups) - 1))}" for group in groups}
        labels = [[*row, merged[row[-1]]] for row in labels]
    return labels


@st.composite
def tables(draw: st.DrawFn, attributes: int, values: int = 4, records: int = 60) -> pd.DataFrame:
    """Tables of categorical quasi-identifiers a, b, ... and a sensitive attribute w."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    size = draw(st.integers(1, records))
    columns = {
        name: rng.integers(0, draw(st.integers(1, values)), size).astype(str)
        for name in "abc"[:attributes]
    }
    skew = rng.dirichlet(np.full(draw(st.integers(1, 4)), 0.7))
    return pd.DataFrame({**columns, SENSITIVE: rng.choice(len(skew), size, p=skew).astype(str)})


@st.composite
def policies(draw: st.DrawFn, table: pd.DataFrame) -> list[PrivacyModel]:
    """Policies that the table as one class satisfies."""
    p = table[SENSITIVE].value_counts(normalize=True).to_numpy()
    most_diverse = float(2 ** -(p * np.log2(p)).sum())
    return [
        KAnonymity(draw(st.integers(1, min(6, len(table))))),
        TCloseness(draw(st.sampled_from([0.0, 0.1, 0.3, 0.6, 5.0])), distance="kl"),
        EntropyLDiversity(1 + draw(st.sampled_from([0, 0.2, 0.5, 1])) * (most_diverse - 1)),
    ]


def problem_of(
    table: pd.DataFrame, hierarchies: dict[str, Hierarchy], models: list[PrivacyModel]
) -> Problem:
    """A problem about a table, in which ``who`` tells persons apart if it is there."""
    person = ("who",) if "who" in table else ()
    schema = Schema(tuple(hierarchies), (SENSITIVE,), person=person)
    tally = engine.tally(table, schema.columns)
    taxonomies = taxonomies_of(tally, hierarchies)
    return Problem(schema.counts(tally, taxonomies), taxonomies, models)


@st.composite
def problems(draw: st.DrawFn, attributes: int = 2) -> Problem:
    """Problems over tables of random hierarchies."""
    table = draw(tables(attributes))
    hierarchies = {
        name: Hierarchy.from_rows(draw(nested_rows(sorted(set(table[name])))))
        for name in table.columns[:-1]
    }
    return problem_of(table, hierarchies, draw(policies(table)))


@st.composite
def ordered_problems(draw: st.DrawFn) -> tuple[pd.DataFrame, Problem]:
    """Problems with a number x of few values, some missing, beside one categorical attribute."""
    table = draw(tables(1, values=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    numbers = draw(st.sampled_from(NUMBERS))
    table.insert(0, "x", rng.choice(numbers, len(table)))
    if draw(st.booleans()):
        table["x"] = table["x"].mask(rng.random(len(table)) < draw(st.sampled_from([0.1, 0.5])))
    hierarchies = {
        "x": Hierarchy.ranges(widths=[3]),
        "a": Hierarchy.from_rows(draw(nested_rows(sorted(set(table["a"]))))),
    }
    return table, problem_of(table, hierarchies, draw(policies(table)))


@st.composite
def paired_problems(draw: st.DrawFn) -> tuple[pd.DataFrame, Problem]:
    """Problems with two numbers x and y of few values, some missing, beside a categorical one."""
    table = draw(tables(1, values=2, records=40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    for place, name in enumerate("xy"):
        numbers = draw(st.sampled_from(NUMBERS))[: draw(st.integers(1, 5))]
        table.insert(place, name, rng.choice(numbers, len(table)))
        if draw(st.booleans()):
            table[name] = table[name].mask(rng.random(len(table)) < draw(st.sampled_from([0.1, 1])))
    hierarchies = {
        "x": Hierarchy.ranges(widths=[3]),
        "y": Hierarchy.ranges(widths=[2, 6]),
        "a": Hierarchy.from_rows(draw(nested_rows(sorted(set(table["a"]))))),
    }
    return table, problem_of(table, hierarchies, draw(policies(table)))


@st.composite
def drawn_problems(draw: st.DrawFn, numbers: bool = False) -> tuple[pd.DataFrame, Problem]:
    """Problems of two or three categorical attributes, some values missing, perhaps a number x."""
    table = draw(tables(draw(st.integers(2, 3)), values=4, records=40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = [*table.columns[:-1]]
    hierarchies = {
        name: Hierarchy.from_rows(draw(nested_rows(sorted(set(table[name]))))) for name in names
    }
    for name in names:
        if draw(st.integers(0, 3)) == 0:
            table[name] = table[name].mask(rng.random(len(table)) < 0.3)
    if numbers:
        table.insert(0, "x", rng.integers(0, 5, len(table)))
        table["x"] = table["x"].mask(rng.random(len(table)) < draw(st.sampled_from([0, 0.3])))
        hierarchies = {"x": Hierarchy.ranges(widths=[2]), **hierarchies}
    return table, problem_of(table, hierarchies, draw(policies(table)))
