"""What it costs that only small classes are suppressed, and what an attacker infers where any are.

    python benchmarks/bench_suppression.py

Needs the directory of data sets in ANONYMIZER_DATA (arx-adult/). Writes
benchmarks/results/suppression.md. The attacker knows the quasi-identifiers of all records, the
policy and which classes are missing. He is a Gibbs sampler over the ways to deal the values of
``*`` to the missing records: a class of at least k of them has one value, since it broke l = 2.
"""

from collections.abc import Iterator
from math import lgamma
from pathlib import Path

import numpy as np
import pandas as pd
from measure import table as markdown
from workloads import FOUR, NINE, directory

from anonymizer import Anonymizer, DistinctLDiversity, Fixed, FullDomain, KAnonymity

K, SURE, SWEEPS = 5, 0.95, 2000
NAMES = {4: FOUR, 6: (*FOUR, "native-country", "workclass"), 8: NINE}
CASES = [
    (4, "marital-status", 0.02, "mutual-information"),
    (4, "marital-status", 0.05, "mutual-information"),
    (6, "salary-class", 0.02, "mutual-information"),
    (8, "marital-status", 0.02, "mutual-information"),
    (8, "marital-status", 0.02, "loss"),
    (8, "occupation", 0.05, "mutual-information"),
]
RESULTS = Path(__file__).parent / "results" / "suppression.md"
INTRODUCTION = f"""# What only small classes being suppressed costs

Made by `python benchmarks/bench_suppression.py` with ANONYMIZER_DATA set: the Adult extract with
ARX's hierarchies, 30 162 records, k = {K}, distinct l = 2, proven optima. *Kept*: I(X~;W) in bits.
*Large*: missing records of classes of {K} and more. *Sure*: records about whose true value an
attacker is sure by {SURE:.0%} or more who knows everybody's quasi-identifiers ({SWEEPS:,} sweeps of
a Gibbs sampler, the first tenth of them left out), and how many the `*` class itself makes sure.
"""


def main() -> None:
    """Measure every case under both rules, and write the page."""
    columns = ["attributes", "W", "suppression", "objective", "suppress", "kept", "suppressed"]
    columns += ["large", "sure", "sure by the class"]
    page = [INTRODUCTION, *markdown(columns, [*rows()]), ""]
    RESULTS.write_text("\n".join(page), encoding="utf-8")


def rows() -> Iterator[list[object]]:
    """A row for every case and rule."""
    people = pd.read_csv(Path(directory(), "adult.csv"), sep=";")
    for number, sensitive, share, objective in CASES:
        names = [name for name in NAMES[number] if name != sensitive]
        files = {name: Path(directory(), f"adult_hierarchy_{name}.csv") for name in names}
        for rule in ("any", "small"):
            recoding = FullDomain(suppression=share, suppress=rule)
            models = [KAnonymity(K), DistinctLDiversity(2)]
            fitted = Anonymizer(files, sensitive, models, objective=objective, recoding=recoding)
            fitted.fit(people)
            assert fitted.search_.proven
            release = fitted.release_
            plain = Anonymizer(
                files, sensitive, [KAnonymity(1)], recoding=Fixed(levels=release.levels)
            )
            labels = plain.fit_transform(people)[names]
            found = inferred(labels, people[sensitive], release.suppressed_class)
            yield [
                *(len(names), sensitive, f"{share:.0%}", objective, rule),
                *(f"{release.information.retained:.4f}", f"{release.suppressed:,}", *found),
            ]


def inferred(labels: pd.DataFrame, values: pd.Series, fate: str) -> list[int]:
    """Records in missing large classes, those that are known surely, and by ``*`` alone."""
    classes = labels.groupby([*labels.columns], observed=True).ngroup().to_numpy()
    codes, known = pd.factorize(values)
    sizes = np.bincount(classes)
    varied = pd.Series(codes).groupby(classes).nunique().to_numpy() >= 2
    missing = (sizes < K) | ~varied
    large = np.flatnonzero(missing & (sizes >= K))
    records = np.flatnonzero(missing[classes])
    told = int(sizes[large].sum())
    if fate != "kept" or not len(records):
        return [told, 0, 0]
    hidden = np.bincount(codes[records], minlength=len(known))
    by_class = (hidden >= SURE * hidden.sum())[codes[records]]
    sure = by_class & ~np.isin(classes[records], large)
    beliefs = sampled(sizes[large], hidden)
    for belief, place in zip(beliefs, large, strict=True):
        inside = classes[records] == place
        sure |= inside & (belief >= SURE)[codes[records]]
    return [told, int(sure.sum()), int(by_class.sum())]


def sampled(sizes: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """How often each class of one value has each value, over the worlds, (classes, values).

    A world counts as often as the values left can be dealt to the records of small classes.
    """
    rng, seen = np.random.default_rng(0), np.zeros((len(sizes), len(hidden)))
    left, own = hidden.copy(), np.zeros(len(sizes), int)
    for place in np.argsort(-sizes):  # a world to begin with: the largest classes first
        own[place] = int(np.argmax(left))
        left[own[place]] -= sizes[place]
    assert (left >= 0).all()
    for sweep in range(SWEEPS):
        for place in rng.permutation(len(sizes)):
            left[own[place]] += sizes[place]
            weights = np.array(
                [
                    lgamma(n + 1) - lgamma(n - sizes[place] + 1) if n >= sizes[place] else -np.inf
                    for n in left
                ]
            )
            chances = np.exp(weights - weights.max())
            own[place] = rng.choice(len(hidden), p=chances / chances.sum())
            left[own[place]] -= sizes[place]
        if sweep >= SWEEPS // 10:
            seen[np.arange(len(sizes)), own] += 1
    return seen / max(1, seen[:1].sum())


if __name__ == "__main__":
    main()
