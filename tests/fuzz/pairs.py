"""Pairs of spellings: what a reader takes for one value has one key.

``python -m tests.fuzz.pairs --minutes 5`` tries random ones and prints those that are told apart.
"""

import csv
import random
import sys
import tempfile
import time
from pathlib import Path

import click

from anonymizer.tables.spelling import read_keys

from .readers import CSV_READERS, ReaderError, views_of

__all__ = ["told_apart"]

Pair = tuple[str, str]

NUMBERS = "1 01 1.0 1. +1 .5 0.5 5e-1 1e0 1E+00 0x1 0b1 1_0 10 inf -inf 1e400 1e-400 0 -0 -0.0 1,0"
LARGE = "9007199254740993 9007199254740992 18446744073709551617 0.1 0.10000000000000001"
WORDS = "true True t T yes y no f NA nan NaN -nan null None N/A Infinity a A 'a' 1d [1] {1} 100%"
MOMENTS = [
    *("2020-01-01", "2020-1-1", "2020/01/01", "01.02.2020", "1/2/2020", "01-02-20", "20200101"),
    *("2020-01-01 00:00", "2020-01-01T00:00:00Z", "2020-01-01 01:00:00+01:00", "epoch"),
    *("2020-01-01 00:00:00.000", "2020-01-01T00", "10:00", "10:00:00.0", "01:00", "12:30 PM"),
]
TEXTS = [*f"{NUMBERS} {LARGE} {WORDS}".split(), *MOMENTS, "", " a", "é", "e\u0301"]
PARTS = [*"01 -+.:TZ_e'/f", "00", "\t", "\u200b", "PM", "+00"]

COLUMNS = 150
"""Pairs in one file: each is a column of two records."""


def told_apart(rng: random.Random, directory: Path) -> tuple[int, list[tuple[str, Pair]]]:
    """Try one file of pairs: how many, and those that a reader merges and the library does not."""
    pairs = [pair for pair in (_pair(rng) for _ in range(COLUMNS)) if len({*pair}) == 2]
    path = directory / "pairs.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, quoting=csv.QUOTE_ALL)
        rows.writerow(f"c{place}" for place in range(len(pairs)))
        rows.writerows(zip(*pairs, strict=True))
    found = []
    for reader, view in views_of(path, ",").items():
        if isinstance(view, ReaderError):
            continue
        for place, pair in enumerate(pairs):
            one, other = view[f"c{place}"]
            if one == other and len(set(read_keys(pair))) == 2:
                found.append((reader, pair))
    return len(pairs), found


def _pair(rng: random.Random) -> Pair:
    one = _changed(rng, rng.choice(TEXTS))
    other = _changed(rng, one if rng.random() < 0.7 else rng.choice(TEXTS))
    return one.strip(), other.strip()


def _changed(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice([0, 1, 1, 2])):
        place = rng.randrange(len(text) + 1)
        change = rng.randrange(4)
        if change == 0:
            text = text[:place] + rng.choice(PARTS) + text[place:]
        elif change == 1:
            text = text[:place] + text[place + 1 :]
        else:
            text = text.replace("-", "/") if change == 2 else text.swapcase()
    return text


@click.command()
@click.option("--minutes", type=float, default=1, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
def pairs(minutes: float, seed: int) -> None:
    """Try random pairs of spellings; exit with 1 if a reader merges what the library does not."""
    rng, end, tried, failed = random.Random(seed), time.monotonic() + 60 * minutes, 0, set()
    with tempfile.TemporaryDirectory() as directory:
        while time.monotonic() < end:
            number, found = told_apart(rng, Path(directory))
            tried += number
            failed |= {*found}
    click.echo(f"{tried:,} pairs read by {', '.join(CSV_READERS)}: {len(failed)} told apart")
    for reader, pair in sorted(failed):
        click.echo(f"{reader}: {pair!r}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    pairs()
