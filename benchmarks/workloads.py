"""The tables, hierarchies and policies that searches are timed on.

Most workloads are of the extract of Adult that ARX ships (arx-adult/: 30 162 records, nine
attributes and their hierarchies), or of a table made from it. Those of twelve attributes need UCI's
own file too (adult/adult.data). ANONYMIZER_DATA names the directory of both. ``cup_like`` needs no
file: its table is drawn.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer import EntropyLDiversity, Hierarchy, KAnonymity, TCloseness, load_adult
from anonymizer.privacy import PrivacyModel

__all__ = [
    "NINE",
    "Workload",
    "adult",
    "cup_like",
    "cup_table",
    "directory",
    "eight_attributes",
    "enlarged",
    "enlarged_parts",
    "four_attributes",
    "many_values",
    "nine_and_relationship",
    "nine_attributes",
    "scaled",
    "twelve_attributes",
]

NINE = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
FOUR = ("sex", "age", "race", "education")
ABOUT_OCCUPATION = tuple(name for name in NINE if name != "occupation")
ABOUT_MARITAL_STATUS = tuple(name for name in NINE if name != "marital-status")

BEYOND_ARX = {
    "relationship": Hierarchy.from_rows(
        [
            ("Husband", "Spouse"),
            ("Wife", "Spouse"),
            ("Other-relative", "Child or relative"),
            ("Own-child", "Child or relative"),
            ("Not-in-family", "On their own"),
            ("Unmarried", "On their own"),
        ]
    ),
    "capital-gain": Hierarchy.ranges(widths=[1000, 10000]),
    "hours-per-week": Hierarchy.ranges(widths=[5, 10, 20]),
}
"""The attributes of UCI's file that make twelve of nine; 3 x 4 x 5 levels."""

CUP_RECORDS = 63_441
CUP_VALUES = 814
CUP_HIERARCHIES = {
    "zip": Hierarchy.prefixes([4, 3, 2, 1]),
    "state": Hierarchy.suppression(),
    "age": Hierarchy.ranges(widths=[5, 10, 20]),
    "gender": Hierarchy.suppression(),
    "income": Hierarchy.ranges(widths=[3]),
    "gifts": Hierarchy.ranges(widths=[5, 10, 20]),
    "smallest-gift": Hierarchy.ranges(widths=[5, 10, 20]),
}
"""6 x 2 x 5 x 2 x 3 x 5 x 5 levels: a lattice of 9000 nodes."""
ZIP_CODES, STATES, MOST_GIFTS, GIFTS = 13_294, 53, 80, 70
ALIKE = 0.25

SEED = 7
CHUNK = 1_000_000
"""Records made at once: what bounds the memory of a large table beyond the table itself."""
YOUNGEST, OLDEST = 17, 90
JITTER = 3
"""Years by which an age may move, either way."""
REDRAWN = 0.03
"""The share of the other cells that are drawn anew, each from its column's distribution."""


@dataclass(frozen=True, eq=False)
class Workload:
    """A table, its hierarchies and a policy.

    Parameters
    ----------
    title
        What it is called in results.
    table
        The records. Workloads share tables: never change one.
    hierarchies
        The hierarchy of each quasi-identifier.
    sensitive
        The sensitive attributes; none where the policy is of class sizes alone.
    models
        The policy.
    suppression
        The share of records that may be left out.
    """

    title: str
    table: pd.DataFrame
    hierarchies: Mapping[str, Hierarchy]
    sensitive: tuple[str, ...]
    models: tuple[PrivacyModel, ...]
    suppression: float = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(self.hierarchies)

    @property
    def nodes(self) -> int:
        """The nodes of the lattice: combinations of one level per quasi-identifier."""
        return prod(hierarchy.height + 1 for hierarchy in self.hierarchies.values())


def adult() -> list[Workload]:
    """Every workload of the 30 162 records, smallest lattice first."""
    return [*four_attributes(), *eight_attributes(), *nine_attributes(), *twelve_attributes()]


def four_attributes() -> list[Workload]:
    """80 nodes: the policy of Bezzi (2010), and k = 5 alone, which every peer can state."""
    table = _extract()
    return [
        _workload(table, FOUR, "marital-status", [TCloseness(0.55, "kl"), EntropyLDiversity(2.7)]),
        _workload(table, FOUR, None, [KAnonymity(5)]),
    ]


def eight_attributes() -> list[Workload]:
    """4320 nodes: all attributes but the sensitive one, about occupation and marital status."""
    table = _extract()
    return [
        *(
            _workload(table, ABOUT_OCCUPATION, "occupation", [KAnonymity(5), EntropyLDiversity(l)])
            for l in (2, 3)  # noqa: E741 (the model's own letter)
        ),
        *(
            _workload(table, ABOUT_MARITAL_STATUS, "marital-status", models, share)
            for share in (0, 0.02)
            for models in (
                [KAnonymity(5), EntropyLDiversity(2)],
                [KAnonymity(5), EntropyLDiversity(2.7)],
            )
        ),
    ]


def nine_attributes() -> list[Workload]:
    """12 960 nodes: all attributes, k = 5, with and without suppression."""
    return [_workload(_extract(), NINE, None, [KAnonymity(5)], share) for share in (0, 0.02)]


def twelve_attributes() -> list[Workload]:
    """777 600 nodes: the nine and three more of UCI's file, k = 5 (26 626 distinct combinations).

    As prefix codes, a child's number at each level, keys take 63 bits.
    """
    table = load_adult()[[*NINE, *BEYOND_ARX]].dropna().reset_index(drop=True)
    return [_workload(table, (*NINE, *BEYOND_ARX), None, [KAnonymity(5)])]


def nine_and_relationship() -> tuple[pd.DataFrame, dict[str, Hierarchy]]:
    """The nine attributes with their hierarchies, and relationship, which is none of them."""
    table = load_adult()[[*NINE, "relationship"]].dropna().reset_index(drop=True)
    return table, {name: _arx_hierarchy(name) for name in NINE}


def scaled(records: int) -> list[Workload]:
    """The nine attributes, and eight of them about occupation, over a table of many records."""
    table = enlarged(records)
    return [
        *(_workload(table, NINE, None, [KAnonymity(5)], share) for share in (0, 0.02)),
        _workload(table, ABOUT_OCCUPATION, "occupation", [KAnonymity(5), EntropyLDiversity(2)]),
    ]


def cup_like(
    records: int = CUP_RECORDS,
    values: int = CUP_VALUES,
    l: float = 5,  # noqa: E741 (the model's own letter)
    suppression: float = 0.04,
) -> Workload:
    """A table like the donors of KDD Cup 98, drawn: 9000 nodes, and W of many skewed values."""
    title = f"{records:,} records like Cup, 7 QIs, W of {values:,} values, l = {l:g}"
    return Workload(
        f"{title}, {suppression:.0%} suppression",
        cup_table(records, values),
        CUP_HIERARCHIES,
        ("amount",),
        (EntropyLDiversity(l),),
        suppression,
    )


def cup_table(records: int, values: int) -> pd.DataFrame:
    """Donors: where they live, who they are, what they gave; W is the amount that they gave in all.

    Zip codes and amounts are skewed: shares fall with the rank, and every fifth amount is popular.
    The amount follows from the number of gifts and from the smallest one, with noise. Small tables
    lack some of the rarest values. A quarter of the donors have the quasi-identifiers of somebody
    else, as in a household, so that 63 441 records are about 50 000 cells.
    """
    rng = np.random.default_rng(SEED)
    codes = np.sort(rng.choice(100_000, ZIP_CODES, replace=False))
    people = pd.DataFrame(
        {
            "place": rng.choice(ZIP_CODES, records, p=_shares(rng.lognormal(0, 1, ZIP_CODES))),
            "age": _unknown(rng.normal(61, 16, records).clip(1, 98), rng),
            "gender": rng.choice(3, records, p=[0.54, 0.41, 0.05]),
            "income": _unknown(1 + rng.binomial(6, 0.55, records), rng),
            "gifts": 1 + np.minimum(rng.geometric(0.12, records), MOST_GIFTS),
            "smallest-gift": rng.choice(GIFTS, records, p=_popular(GIFTS)),
        }
    ).astype(np.int16)
    others = rng.integers(records, size=records)
    household = np.where(rng.random(records) < ALIKE, others, np.arange(records))
    people = people.iloc[household].reset_index(drop=True)
    place = people.pop("place").to_numpy()
    given = np.log(people["gifts"]) + np.log1p(people["smallest-gift"])
    zips = pd.Categorical.from_codes(place, pd.Index([f"{code:05d}" for code in codes]))
    return people.assign(
        zip=zips,
        state=(codes[place] // 1000 % STATES).astype(np.int8),
        amount=_tied(given.to_numpy() + rng.normal(0, 0.5, records), values),
    )


def many_values(records: int, values: int, l: float) -> Workload:  # noqa: E741 (the model's letter)
    """Eight attributes like Adult's, and W of so many skewed values, tied to age, with noise."""
    table = enlarged(records).drop(columns="occupation")
    years = table["age"].cat.codes.to_numpy()
    noise = np.random.default_rng(SEED).normal(0, 20, records)
    return Workload(
        f"{records:,} records, 8 QIs, W of {values:,} values, l = {l:g}, 4% suppression",
        table.assign(code=_tied(years + noise, values)),
        {name: _arx_hierarchy(name) for name in ABOUT_OCCUPATION},
        ("code",),
        (EntropyLDiversity(l),),
        0.04,
    )


def _tied(scores: NDArray[np.float64], values: int) -> NDArray[np.int32]:
    """Values with popular shares, that rise with the scores."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = (np.arange(len(scores)) + 0.5) / len(scores)
    return np.searchsorted(np.cumsum(_popular(values))[:-1], ranks).astype(np.int32)


def _unknown(drawn: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """The same numbers, a quarter of them unknown and therefore 0."""
    return np.where(rng.random(len(drawn)) < 0.25, 0, drawn)


def _popular(values: int) -> NDArray[np.float64]:
    """Shares that fall with the rank; every fifth value is six times as frequent as its rank's."""
    ranks = np.arange(values)
    return _shares(np.where(ranks % 5 == 4, 6.0, 1.0) / (ranks + 3.0))


def _shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(weights / weights.sum())


def enlarged(records: int, like: pd.DataFrame | None = None) -> pd.DataFrame:
    """A table of many records like another's or the extract's, columns categorical (a byte a cell).

    Records are drawn with replacement; then ages move by up to three years, and 3 % of the other
    cells are drawn anew from their columns. Tables of whole millions begin alike.
    """
    source = _sources(like)
    cells = {name: np.empty(records, np.int8) for name in source}
    for number, part in enumerate(_drawn(records, source)):
        place = slice(number * CHUNK, min((number + 1) * CHUNK, records))
        for name, codes in part.items():
            cells[name][place] = codes
    return _table(cells, source)


def enlarged_parts(records: int) -> Iterator[pd.DataFrame]:
    """The records of ``enlarged``, a million at a time."""
    source = _sources(None)
    return (_table(part, source) for part in _drawn(records, source))


def _sources(like: pd.DataFrame | None) -> dict[str, pd.Categorical]:
    extract = _extract() if like is None else like
    return {name: _categorical(column) for name, column in extract.items()}


def _drawn(
    records: int, source: Mapping[str, pd.Categorical]
) -> Iterator[dict[str, NDArray[np.int8]]]:
    """The codes of each column, of a million records at a time."""
    rng = np.random.default_rng(SEED)
    many = len(next(iter(source.values())))
    for start in range(0, records, CHUNK):
        drawn = rng.integers(many, size=min(CHUNK, records - start))
        yield {
            name: (_jittered if name == "age" else _redrawn)(column.codes, drawn, rng)
            for name, column in source.items()
        }


def _table(
    cells: Mapping[str, NDArray[np.int8]], source: Mapping[str, pd.Categorical]
) -> pd.DataFrame:
    columns = {
        name: pd.Categorical.from_codes(codes, dtype=source[name].dtype)
        for name, codes in cells.items()
    }
    return pd.DataFrame(columns, copy=False)


def _jittered(
    codes: NDArray[np.int8], drawn: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int8]:
    """The drawn ages, moved; a code is an age less the youngest."""
    moves = rng.integers(-JITTER, JITTER + 1, size=len(drawn), dtype=np.int8)
    moves += codes[drawn]
    return moves.clip(0, OLDEST - YOUNGEST)


def _redrawn(
    codes: NDArray[np.int8], drawn: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int8]:
    """The drawn values, some of them replaced by those of other records."""
    cells = codes[drawn]
    anew = np.flatnonzero(rng.random(len(drawn), dtype=np.float32) < REDRAWN)
    cells[anew] = codes[rng.integers(len(codes), size=len(anew))]
    return cells


def _categorical(column: pd.Series) -> pd.Categorical:
    ages = range(YOUNGEST, OLDEST + 1)
    return pd.Categorical(column, categories=ages if column.name == "age" else None)


def _workload(
    table: pd.DataFrame,
    names: Sequence[str],
    sensitive: str | None,
    models: Sequence[PrivacyModel],
    suppression: float = 0,
) -> Workload:
    """A workload with ARX's hierarchies where it has one."""
    hierarchies = {name: BEYOND_ARX.get(name) or _arx_hierarchy(name) for name in names}
    about = () if sensitive is None else (sensitive,)
    title = _title(table, names, about, models, suppression)
    return Workload(title, table, hierarchies, about, tuple(models), suppression)


def _title(
    table: pd.DataFrame,
    names: Sequence[str],
    sensitive: Sequence[str],
    models: Sequence[PrivacyModel],
    suppression: float,
) -> str:
    """What results call a workload: records, attributes and policy."""
    numbers = {
        name: value
        for model in models
        for name, value in model.parameters.items()
        if isinstance(value, int | float)
    }
    return ", ".join(
        [
            f"{len(table):,} records",
            f"{len(names)} QIs",
            *(f"W = {attribute}" for attribute in sensitive),
            *(f"{letter} = {number:g}" for letter, number in numbers.items()),
            *([f"{suppression:.0%} suppression"] if suppression else []),
        ]
    )


@cache
def _extract() -> pd.DataFrame:
    return pd.read_csv(directory() / "adult.csv", sep=";")


@cache
def _arx_hierarchy(attribute: str) -> Hierarchy:
    return Hierarchy.read(directory() / f"adult_hierarchy_{attribute}.csv")


def directory() -> Path:
    """Where the extract and ARX's hierarchies lie."""
    if "ANONYMIZER_DATA" not in os.environ:
        raise SystemExit("ANONYMIZER_DATA must name the directory of the data sets")
    return Path(os.environ["ANONYMIZER_DATA"], "arx-adult")
