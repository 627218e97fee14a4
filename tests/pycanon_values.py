"""What pycanon finds in small random tables, as CSV: how ``pycanon_values.csv`` was made.

Apart from the suite, which could not run on the versions that pycanon asks for (numpy 2.0.2, pandas
2.3.3, scipy 1.15.3):

    python3 -m venv pycanon && pycanon/bin/pip install pycanon==1.3.5
    pycanon/bin/python tests/pycanon_values.py > tests/pycanon_values.csv

A table is written as a word per class, a letter per record: its sensitive value. As ``number`` the
same letters are numbers, which pycanon takes for ordered.
"""

import csv
import random
import sys
from collections.abc import Callable

COLUMNS = (
    *("table", "k", "distinct_l", "entropy_l", "recursive_c", "alpha", "t_equal", "t_ordered"),
    *("basic_beta", "enhanced_beta", "delta_disclosure"),
)
BY_HAND = (
    "a b",
    "ab ab",
    "aaab ab",
    "aaab abbb",
    "abc abc",
    "aab ab",
    "abc ab ab",
    "abcdef abcdef",
)


def tables(rng: random.Random, most: int = 60) -> list[str]:
    """Small cases chosen by hand, then random ones of at least two values."""
    found = list(BY_HAND)
    while len(found) < most:
        weights = [rng.random() ** 2 for _ in range(rng.randint(2, 6))]
        letters = "abcdef"[: len(weights)]
        sizes = [rng.randint(1, 12) for _ in range(rng.randint(1, 5))]
        words = ["".join(sorted(rng.choices(letters, weights, k=size))) for size in sizes]
        if len(set("".join(words))) > 1:
            found.append(" ".join(words))
    return found


def measured(table: str) -> list[object]:
    """All that pycanon says of a table, in the order of the columns."""
    import pandas as pd
    from pycanon import anonymity

    rows = [(i // 2, i % 2, value) for i, word in enumerate(table.split()) for value in word]
    frame = pd.DataFrame(rows, columns=["x", "y", "letter"])
    frame["number"] = [ord(letter) for letter in frame["letter"]]

    def about(measure: Callable, column: str = "letter") -> object:
        return measure(frame, ["x", "y"], [column])

    c, _ = about(anonymity.recursive_c_l_diversity)
    largest, k = about(anonymity.alpha_k_anonymity)
    found = [
        *(k, about(anonymity.l_diversity), about(anonymity.entropy_l_diversity), c, largest),
        *(about(anonymity.t_closeness), about(anonymity.t_closeness, "number")),
        *(about(anonymity.basic_beta_likeness), about(anonymity.enhanced_beta_likeness)),
        about(anonymity.delta_disclosure),
    ]
    return [repr(float(value)).removesuffix(".0") for value in found]


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for table in tables(random.Random(1)):
        writer.writerow([table, *measured(table)])
