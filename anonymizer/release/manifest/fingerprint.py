"""A keyed fingerprint of the counts of a table: whether another table has the same.

Keyed, since a plain digest would confirm guesses: who knows all records of a table but one could
try every value of that one until the digest is the same. Without the key there is nothing to try.
"""

import hmac
import json
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

from anonymizer.errors import require_columns
from anonymizer.tables import engine
from anonymizer.tables.values import plain_text


def fingerprint_of(table: engine.Table, columns: Iterable[str], key: bytes) -> str:
    """The HMAC-SHA256 of how many records have each combination of values of some columns.

    It depends neither on the order of records and columns nor on types: numbers go by their value,
    1.50 and 1.5 being one, everything else by its text. What is hashed is JSON in ASCII, a line for
    the names of the columns, sorted, and one for each combination and its number of records,
    sorted.

    Raises InputError when the table lacks a column.

    >>> table = pd.DataFrame({"a": [2, 1, 2]})
    >>> again = pd.DataFrame({"a": ["1", "2.0", "2"], "b": "x"})
    >>> fingerprint_of(table, ["a"], b"key") == fingerprint_of(again, ["a"], b"key")
    True
    """
    names = sorted({*columns})
    require_columns(table.columns, names)
    tally = engine.tally(table, names)
    texts = [[*map(plain_text, tally.combinations[name])] for name in names]
    records: Counter[tuple[str | None, ...]] = Counter()
    for row, size in zip(zip(*texts, strict=True), tally.sizes, strict=True):
        records[row] += int(size)
    lines = sorted(json.dumps([*row, size]) for row, size in records.items())
    content = "\n".join([json.dumps(names), *lines])
    return "hmac-sha256:" + hmac.new(key, content.encode(), sha256).hexdigest()
