"""Figures 6 and 7 of Bkakria et al. (2021): how long ITPR takes, by this machine's clock.

The paper's are times of a Spark cluster, and the text gives no number. Here tables of the same
columns are measured, smaller ones in the memory of one machine, next to what no way of measuring
can go without: counting the values, or reading the columns, of the same table in the same run.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np
import pandas as pd

from anonymizer.papers.row import Column, PlottedSeries, PublishedSection, Row
from anonymizer.risk.assessment import itpr

RECORDS = (10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000)
"""Of Figure 6."""
AGES, DISEASES = 120, 100
"""Values, as in the paper."""
ATTRIBUTES = (2, 4, 8, 16, 32, 64, 128)
"""Quasi-identifiers of Figure 7: up to 128 of 130 attributes."""
WIDE = 50_000
"""Records of Figure 7, where the paper has 10^7."""
TYPES = 200
"""Kinds of people, of whom all records have the same attributes."""
VALUES = 10
TIMES = 2
"""Measurements of each; the quickest counts."""

WHERE = "anonymizer.risk.itpr"
CLUSTER = "a Spark cluster of four nodes, 100 workers of one core and 1 GB"


def timings() -> list[PublishedSection]:
    """Both figures."""
    return [figure_6(), figure_7()]


def figure_6() -> PublishedSection:
    """Time against records, and the claim about the machine."""
    table = people(RECORDS[-1])
    found = {name: [seconds(of, table[:n]) for n in RECORDS] for name, of in LONG.items()}
    series = PlottedSeries(
        [Column("records", "records", RECORDS)],
        [Column(name, name, values, "s") for name, values in found.items()],
        axis="records",
        varies=True,
        what="time",
    )
    measured, counted, _ = (values[-1] for values in found.values())
    rows = [
        Row(
            "Figure 6",
            f"{len(series)} points",
            "an image",
            f"{AGES} ages, {DISEASES} diseases; in memory, by one process",
            status=MEASURED,
            series=series,
        ),
        Row(
            f"ITPR of {RECORDS[-1]:,} records",
            f"{measured:.3f} s",
            remark=f"one GROUP BY of the same table {counted:.3f} s",
            value=measured,
            varies=True,
        ),
        Row(
            "machine",
            "one process",
            CLUSTER,
            "benchmarks/results/size has clusters and tables of 10^8 records",
            status="differs: another machine, and tables that one holds in memory",
        ),
    ]
    note = "The text says nothing of how the time grows with the records, and gives no number."
    return PublishedSection("Figure 6: time against records", rows, note, "Figure 6", WHERE)


def figure_7() -> PublishedSection:
    """Time against attributes, and whether it grows linearly."""
    tables = {"kinds of people": alike(), "independent attributes": independent()}
    found = {
        f"ITPR, {name}": [seconds(partial(of_first, attributes=n), table) for n in ATTRIBUTES]
        for name, table in tables.items()
    }
    kinds = tables["kinds of people"]
    found["one scan of the columns"] = [
        seconds(partial(scan, attributes=n), kinds) for n in ATTRIBUTES
    ]
    series = PlottedSeries(
        [Column("attributes", "quasi-identifiers", ATTRIBUTES)],
        [Column(name, name, values, "s") for name, values in found.items()],
        axis="attributes",
        varies=True,
        what="time",
    )
    rows = [
        Row(
            "Figure 7",
            f"{len(series)} points",
            "an image",
            f"{WIDE:,} records of {VALUES} values for each attribute, where the paper has 10^7",
            status=MEASURED,
            series=series,
        ),
        *grows(*list(found.values())[:2]),
    ]
    note = (
        "Where no class becomes homogeneous the time is linear. Where one does, ITPR is 1 whatever "
        "is added (its term is 1, and no term is larger): reading on would be a waste."
    )
    return PublishedSection(
        "Figure 7: time against quasi-identifiers", rows, note, "Figure 7", WHERE
    )


def grows(read: Sequence[float], known: Sequence[float]) -> list[Row]:
    """Return whether the time grows linearly: where all columns are read, and ITPR is soon 1."""
    fit = linear(ATTRIBUTES, read)
    return [
        timed(
            Row.claim(
                "time over quasi-identifiers",
                fit > LINEAR,
                f"R^2 = {fit:.3f} of a straight line",
                "increases linearly",
                f"records of {TYPES} kinds of people: every column has to be read",
                why="the clock was disturbed",
            )
        ),
        timed(
            Row.claim(
                "the same, independent attributes",
                known[-1] > 2 * known[2],
                f"{known[-1] / known[2]:.1f} times as long for 128 as for 8",
                "increases linearly",
                "from some attributes on a record is alone in its class, and ITPR is 1",
                why="the other columns cannot change an ITPR of 1, and are not read",
            )
        ),
    ]


MEASURED = "measured: the text gives no number"
LINEAR = 0.9
"""R^2 from which on points are said to be on a line."""


def timed(row: Row) -> Row:
    """The row as one of this machine's clock."""
    return replace(row, varies=True)


def seconds(of: Callable[[pd.DataFrame], object], table: pd.DataFrame) -> float:
    """The quickest of a few runs."""
    found = []
    for _ in range(TIMES):
        began = perf_counter()
        of(table)
        found.append(perf_counter() - began)
    return min(found)


def linear(along: Sequence[float], values: Sequence[float]) -> float:
    """R^2 of the straight line through some points."""
    return float(np.corrcoef(along, values)[0, 1] ** 2)


def people(records: int) -> pd.DataFrame:
    """Ages and diseases, independent and uniform."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"Age": rng.integers(0, AGES, records), "Disease": rng.integers(0, DISEASES, records)}
    )


def alike() -> pd.DataFrame:
    """Records of a few kinds: no attribute makes a class smaller than a kind."""
    rng = np.random.default_rng(1)
    kinds = rng.integers(0, VALUES, (TYPES, ATTRIBUTES[-1]))
    return _wide(kinds[np.arange(WIDE) % TYPES], rng)


def independent() -> pd.DataFrame:
    """Attributes that have nothing to do with one another."""
    rng = np.random.default_rng(2)
    return _wide(rng.integers(0, VALUES, (WIDE, ATTRIBUTES[-1])), rng)


def _wide(values: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    columns = {f"q{n}": column for n, column in enumerate(values.T)}
    return pd.DataFrame({**columns, "Disease": rng.integers(0, DISEASES, len(values))})


def of_first(table: pd.DataFrame, attributes: int) -> float:
    """ITPR of the disease, the first columns being known."""
    return itpr(table, [*table.columns[:attributes]], "Disease")


def scan(table: pd.DataFrame, attributes: int) -> int:
    """Every value of the first columns read once."""
    return sum(int(table[name].to_numpy().sum()) for name in table.columns[:attributes])


LONG: dict[str, Callable[[pd.DataFrame], object]] = {
    "ITPR": lambda table: itpr(table, ["Age"], "Disease"),
    "one GROUP BY": lambda table: table.groupby(["Age", "Disease"]).size(),
    "one scan of the columns": lambda table: scan(table, 2),
}
"""What Figure 6 measures."""
