"""The Parquet files that risk is timed on: ten million records, made with fixed seeds.

three
    An identifier, an age of 120 values and a disease of 100, all as likely.
wide
    128 attributes of ten values and a disease of ten, all as likely: as in the experiments of
    Bkakria et al. (2021), where records become unique after a few attributes.
real
    128 attributes as tables have them: of 1 to 5000 values, some frequent and many rare; a third
    coarser forms of others; numbers and texts; and every person in the table two or three times,
    in no order, with another disease each time. No combination of attributes is ever unique.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["ATTRIBUTES", "FILES", "RECORDS", "SENSITIVE", "made"]

RECORDS = 10_000_000
ATTRIBUTES = [f"a{number:03}" for number in range(128)]
SENSITIVE = "disease"
ROWS = 1 << 18
"""Records of a row group."""
PEOPLE = RECORDS * 2 // 5
MIX = np.uint64(0x9E3779B97F4A7C15)


def made(name: str, directory: Path) -> Path:
    """A file of the directory, written if it is not there."""
    path = directory / f"{name}.parquet"
    if not path.exists():
        parts = FILES[name]()
        first = next(parts)
        unfinished = path.with_suffix(".part")
        with pq.ParquetWriter(unfinished, first.schema) as writer:
            writer.write_table(first)
            for part in parts:
                writer.write_table(part)
        unfinished.rename(path)
    return path


def _three() -> Iterator[pa.Table]:
    rng = np.random.default_rng(3)
    identifiers = rng.permutation(RECORDS)
    diseases = pa.array([f"disease {number}" for number in range(100)])
    for begin in range(0, RECORDS, ROWS):
        part = identifiers[begin : begin + ROWS]
        drawn = pa.array(rng.integers(0, 100, len(part), dtype=np.int8))
        yield pa.table(
            {
                "id": part,
                "age": rng.integers(0, 120, len(part)),
                SENSITIVE: diseases.take(drawn),
            }
        )


def _wide() -> Iterator[pa.Table]:
    rng = np.random.default_rng(129)
    for begin in range(0, RECORDS, ROWS):
        shape = (len(ATTRIBUTES) + 1, min(ROWS, RECORDS - begin))
        columns = rng.integers(0, 10, shape, dtype=np.int8).astype(np.int64)
        yield pa.table(dict(zip([*ATTRIBUTES, SENSITIVE], columns, strict=True)))


def _real() -> Iterator[pa.Table]:
    rng = np.random.default_rng(128)
    values = np.geomspace(1, 5000, len(ATTRIBUTES)).astype(np.int64)
    values = rng.permutation(values)
    third = rng.integers(0, PEOPLE, RECORDS - 2 * PEOPLE)
    people = np.concatenate([np.arange(PEOPLE), np.arange(PEOPLE), third])
    visits = np.repeat([0, 1, 2], [PEOPLE, PEOPLE, len(third)])
    order = rng.permutation(RECORDS)
    for begin in range(0, RECORDS, ROWS):
        who, visit = people[order[begin : begin + ROWS]], visits[order[begin : begin + ROWS]]
        columns = {name: _trait(who, place, values) for place, name in enumerate(ATTRIBUTES)}
        illness = (_hashed(who, 999) * 40).astype(np.int64) + 40 * visit
        yield pa.table({**columns, SENSITIVE: _texts(illness)})


def _trait(who: np.ndarray, place: int, values: np.ndarray) -> pa.Array:
    """An attribute of some people: every third one is another's, coarser; every fourth a text."""
    of = place - 1 if place % 3 == 2 else place
    skewed = (_hashed(who, of) ** 3 * values[of]).astype(np.int64)
    codes = skewed // 5 if of != place else skewed
    return _texts(codes) if place % 4 == 3 else pa.array(codes)


def _hashed(who: np.ndarray, place: int) -> np.ndarray:
    """A number from 0 to below 1 for each person, as if it were random."""
    mixed = (who.astype(np.uint64) * np.uint64(1024) + np.uint64(place)) * MIX
    mixed = (mixed ^ (mixed >> np.uint64(29))) * MIX
    return (mixed >> np.uint64(11)) / 2.0**53


def _texts(codes: np.ndarray) -> pa.Array:
    return pa.array([f"value {number}" for number in range(codes.max() + 1)]).take(pa.array(codes))


FILES: dict[str, Callable[[], Iterator[pa.Table]]] = {
    "three": _three,
    "wide": _wide,
    "real": _real,
}
