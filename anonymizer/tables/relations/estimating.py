"""How many distinct values a table has, by those that some of its records have."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonymizer.tables import engine

SAMPLE = 200_000
"""Records that are looked at."""


def distinct_of_sample(sample: pd.DataFrame, columns: Sequence[str], records: int) -> int:
    """About how many combinations of values all records have, by those of a random sample.

    sqrt(N / n) f_1 + f_2 + f_3 + ..., where f_i are the combinations that i of n records have, of N
    in all. No estimate by a sample has a smaller error in the worst case than this one, a factor
    of sqrt(N / n) (Charikar et al., 2000).

    >>> distinct_of_sample(pd.DataFrame({"a": [1, 1, 2, 2]}), ["a"], 400)
    2
    >>> distinct_of_sample(pd.DataFrame({"a": [1, 2, 3, 4]}), ["a"], 400)
    40
    """
    sizes = engine.tally(sample, columns).sizes
    alone = int((sizes == 1).sum())
    scale = np.sqrt(max(records, len(sample)) / max(len(sample), 1))
    return min(round(scale * alone) + len(sizes) - alone, records)
