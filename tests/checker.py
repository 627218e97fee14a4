"""An independent check of a released table: plain Python, nothing of the package.

Knows a table as a list of rows, counts it with Counter and applies the definitions as written in
the literature. What it says is what a stranger with the released file would find.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import log2
from pathlib import Path


def rows_of(path: Path, separator: str = ",") -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=separator))


def classes_of(
    rows: Iterable[dict], quasi_identifiers: Sequence[str], sensitive: str
) -> dict[tuple, Counter]:
    classes: dict[tuple, Counter] = defaultdict(Counter)
    for row in rows:
        classes[tuple(str(row[name]) for name in quasi_identifiers)][str(row[sensitive])] += 1
    return dict(classes)


def margin_of(classes: dict[tuple, Counter]) -> Counter:
    return sum(classes.values(), Counter())


def smallest(classes: dict[tuple, Counter]) -> int:
    return min(group.total() for group in classes.values())


def entropy(group: Counter) -> float:
    n = group.total()
    return -sum(c / n * log2(c / n) for c in group.values())


def least_diverse(classes: dict[tuple, Counter]) -> float:
    return min(2 ** entropy(group) for group in classes.values())


def divergence(group: Counter, margin: Counter) -> float:
    n, total = group.total(), margin.total()
    return sum(c / n * log2((c / n) / (margin[w] / total)) for w, c in group.items())


def least_close(classes: dict[tuple, Counter]) -> float:
    margin = margin_of(classes)
    return max(divergence(group, margin) for group in classes.values())


def mutual_information(classes: dict[tuple, Counter]) -> float:
    margin = margin_of(classes)
    n = margin.total()
    return sum(group.total() / n * divergence(group, margin) for group in classes.values())
