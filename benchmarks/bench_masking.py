"""Tables drawn at random under a policy, against ranges, on real Adult.

    python benchmarks/bench_masking.py

Needs UCI Adult (see anonymizer/tables/datasets.py). Writes benchmarks/results/masking.md.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pandas as pd
from measure import table

from anonymizer import (
    Anonymizer,
    Bottleneck,
    EntropyLDiversity,
    Hierarchy,
    Noise,
    Pram,
    Recoding,
    TCloseness,
)
from anonymizer.channels import best_ranges
from anonymizer.information.entropy import divergence, entropy, mutual_information
from anonymizer.tables.datasets import load_adult

RESULTS = Path(__file__).parent / "results" / "masking.md"
SEEDS = range(5)
W = "marital-status"
POLICY = (TCloseness(0.55, distance="kl"), EntropyLDiversity(2.7))
YEARS = {"age": list(range(17, 91))}

INTRODUCTION = f"""# Tables drawn at random, held to their policy

Made by `python benchmarks/bench_masking.py` on {os.cpu_count()} cores. UCI Adult, records with
missing values dropped (30 162), under t = 0.55 bits (kl) and l = 2.7 about marital-status, from
DataFrame to verified DataFrame. Medians over {len(SEEDS)} seeds, and in brackets the worst one;
seconds include channels, draws and verification. Every table was counted again here, apart from
the library's own verification. The distortion is of the drawn table: years squared for age, and
of several attributes the sum of what each costs as a share of losing it. I(W;Y) is counted, and so
is the largest I1 of a class (at most 0.55) and the least 2^H(W|class) (at least 2.7).
"""

CASES = (
    ("pram, ages 17 to 90", ["age"], Pram(alphabet=YEARS)),
    ("pram, ages that occur and means of ranges", ["age"], Pram()),
    ("pram, no symbol for less than 300 records", ["age"], Pram(min_records=300)),
    ("pram, released as the true ages are (5 years)", ["age5"], Pram(invariant=True)),
    ("noise", ["age"], Noise()),
    ("bottleneck", ["age"], Bottleneck()),
    ("pram, 10 years by sex", ["age10", "sex"], Pram()),
    ("pram, 10 years by sex and race", ["age10", "sex", "race"], Pram()),
)


def main() -> None:
    """Measure and write."""
    adult = load_adult().dropna()
    adult = adult.assign(age5=adult["age"] // 5 * 5, age10=adult["age"] // 10 * 10)
    lines = [INTRODUCTION]
    header = ["how", "classes", "distortion", "at least", "I(W;Y)", "largest I1", "least 2^H", "s"]
    lines += table(header, [*_ranges(adult), *_drawn(adult)])
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def _ranges(adult: pd.DataFrame) -> Iterator[list[object]]:
    """What generalizing age costs: every record as the mean of its range."""
    counts = pd.crosstab(adult["age"], adult[W])
    begin = perf_counter()
    best = best_ranges(counts.to_numpy(), counts.index.to_numpy(float), privacy=POLICY)
    taken = perf_counter() - begin
    groups = dict(zip(counts.index, best.groups, strict=True))
    halves = {age: int(age >= 50) for age in counts.index}
    for name, of_age, seconds in (("halves (A2)", halves, ""), ("best ranges", groups, taken)):
        group = adult["age"].map(of_age)
        means = adult["age"].groupby(group).transform("mean")
        distortion = ((adult["age"] - means) ** 2).mean()
        yield [name, *_told(group, adult[W], f"{distortion:.3f}", ""), _seconds(seconds)]


def _drawn(adult: pd.DataFrame) -> Iterator[list[object]]:
    for name, columns, masking in CASES:
        found = [_masked(adult[[*columns, W]], masking, seed) for seed in SEEDS]
        distortion = [release.masking.channels[0].realised_distortion for _, release, _ in found]
        least = found[0][1].masking.channels[0].least_distortion
        middle = int(np.argsort(distortion)[len(distortion) // 2])
        released = found[middle][0]
        told = f"{median(distortion):.4g} ({max(distortion):.4g})"
        bound = "" if least is None else f"{least:.6g}"
        classes = released[columns].astype(str).agg(" ".join, axis=1)
        seconds = median(taken for *_, taken in found)
        yield [name, *_told(classes, released[W], told, bound), _seconds(seconds)]


def _masked(
    adult: pd.DataFrame, recoding: Recoding, seed: int
) -> tuple[pd.DataFrame, object, float]:
    columns = [name for name in adult.columns if name != W]
    hierarchies = {
        name: Hierarchy.ranges(widths=[20]) if name.startswith("age") else Hierarchy.suppression()
        for name in columns
    }
    anonymizer = Anonymizer(hierarchies, W, POLICY, replace(recoding, seed=seed))
    begin = perf_counter()
    released = anonymizer.fit_transform(adult)
    return released, anonymizer.release_, perf_counter() - begin


def _told(classes: pd.Series, w: pd.Series, distortion: str, least: str) -> list[object]:
    """Classes counted from the drawn table, and what they tell."""
    joint = pd.crosstab(classes.to_numpy(), w.to_numpy()).to_numpy()
    i1, left = divergence(joint, joint.sum(axis=0)).max(), 2 ** entropy(joint).min()
    if i1 > POLICY[0].t or left < POLICY[1].l:
        raise SystemExit("a table breaks its policy")
    told = mutual_information(joint)
    return [len(joint), distortion, least, f"{told:.4f}", f"{i1:.4f}", f"{left:.4f}"]


def _seconds(taken: object) -> str:
    return f"{taken:.2f}" if isinstance(taken, float) else ""


if __name__ == "__main__":
    main()
