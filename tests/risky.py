"""Tables for the tests of risk by attribute, and what their subsets of columns come to."""

import weakref
from collections import Counter
from itertools import combinations
from math import log2

import pandas as pd
from hypothesis import strategies as st

NAMES = ("a", "b", "c", "d")
STUDY = """\
[data]
path = "table.csv"
[quasi-identifiers]
age = "suppress"
sex = "suppress"
[sensitive]
attributes = ["state", "pay"]
[identifiers]
attributes = ["name"]
[[privacy]]
model = "k-anonymity"
k = 2
"""
"""A study of names, ages, sexes, states and pay, in ``table.csv``."""


class OneAtATime:
    """A table that counts how often a column is read, and fails while another is still held."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table, self.read, self.held = table, Counter(), weakref.WeakSet()

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, name: str) -> pd.Series:
        assert not self.held, f"{name} is read while another column is held"
        column = Held(self.table[name].array.copy(), name=name)
        self.held.add(column)
        self.read[name] += 1
        return column


class Held(pd.Series):
    """A column that a weak set can tell from others, which it cannot by their values."""

    __hash__ = object.__hash__


def frame_of(text: str) -> pd.DataFrame:
    """A small table written as CSV, every value a text."""
    header, *rows = [line.split(",") for line in text.split()]
    return pd.DataFrame(rows, columns=header)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Up to 14 records of up to 4 columns, some copies, keys, constant or with gaps."""
    records = draw(st.integers(1, 14))
    kinds = {
        "few": st.lists(st.sampled_from(["p", "q", None]), min_size=records, max_size=records),
        "more": st.lists(st.integers(0, 6), min_size=records, max_size=records),
        "key": st.permutations(range(records)),
        "constant": st.just(["same"] * records),
    }
    columns: dict[str, list] = {}
    for name in NAMES[: draw(st.integers(1, 4))]:
        if columns and draw(st.integers(0, 4)) == 0:
            columns[name] = columns["a"]
        else:
            columns[name] = draw(kinds[draw(st.sampled_from(["few", "few", "more", *kinds]))])
    sensitive = st.lists(st.sampled_from("xyz"), min_size=records, max_size=records)
    return pd.DataFrame({**columns, "w": draw(sensitive)}).astype(object)


def names_of(table: pd.DataFrame) -> list[str]:
    """The columns of a table but the sensitive one."""
    return [name for name in table.columns if name != "w"]


def subsets_of(names: list[str], size: int) -> list[tuple[str, ...]]:
    return [subset for several in range(1, size + 1) for subset in combinations(names, several)]


def sizes_of(table: pd.DataFrame, subset: tuple[str, ...]) -> list[int]:
    """Records by combination of values."""
    if not subset:
        return [len(table)]
    return table.groupby(list(subset), dropna=False, observed=True).size().tolist()


def bits_of(counts: list[int]) -> float:
    """The entropy of counts."""
    return log2(sum(counts)) - sum(n * log2(n) for n in counts) / sum(counts)


def information(table: pd.DataFrame, subset: tuple[str, ...], about: str | None) -> float:
    """I(X; a subset) = H(X) + H(subset) - H(X, subset), X being a column or the record itself."""
    told = bits_of(sizes_of(table, subset))
    if about is None:
        return told
    both = sizes_of(table, (*subset, about))
    return bits_of(sizes_of(table, (about,))) + told - bits_of(both)
