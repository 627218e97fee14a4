"""Persons of several sites under pseudonyms: keyed hashes of what tells them apart.

All sites have one key, so that somebody who has records at two of them is one person in the sum of
their counts. Without the key nobody can try names until a pseudonym is theirs, and the steward who
adds the counts does not get it. A pseudonym links all records of its person all the same.
"""

import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.tables import engine
from anonymizer.tables.counts_file import as_texts
from anonymizer.tables.engine import Tally
from anonymizer.tables.reading import Cap, read_bytes

LENGTH = 16
"""Bytes of a pseudonym: two of a billion persons have the same one with a chance of 10^-20."""

LEAST = 32
"""Bytes of a key: fewer could be tried."""

SIZE = Cap("ANONYMIZER_MAX_KEY", 2**16)
"""Bytes of the file of a key at most."""

OF_PERSON = b"anonymizer: pseudonym of a person, 1\n"
OF_KEY = b"anonymizer: which key hides persons, 1\n"
"""What begins that which is hashed: a hash for one purpose is none for another."""

MARK = "p:"
"""How a pseudonym begins: none is read as a number, by which different ones could be equal."""


@dataclass(frozen=True)
class PseudonymKey:
    """What makes pseudonyms of persons: a secret that all sites have, and nobody else."""

    secret: bytes = field(repr=False)
    path: Path

    @classmethod
    def read(cls, path: Path) -> "PseudonymKey":
        """Return the key in a file, blanks and ends of lines around it left out.

        Raises InputError when it cannot be read, or is too short to be a secret.
        """
        secret = read_bytes(path, SIZE, "the key of persons ").strip()
        if len(secret) < LEAST:
            raise InputError(
                f"the key of persons {path} has {len(secret)} bytes, and needs {LEAST} at least "
                "that nobody can guess: `openssl rand -hex 32` makes some"
            )
        return cls(secret, path)

    @property
    def check(self) -> str:
        """Which key it is, as hexadecimal digits: the same for the same key, for no other use."""
        return self._hash(OF_KEY)

    def pseudonym(self, texts: Sequence[str | None]) -> str:
        """Return that of the person whom some texts tell apart."""
        return MARK + self._hash(OF_PERSON + json.dumps(texts).encode())

    def _hash(self, content: bytes) -> str:
        return hmac.digest(self.secret, content, sha256)[:LENGTH].hex()

    def hidden(self, tally: Tally, names: Sequence[str]) -> Tally:
        """Put the pseudonym of its person in place of what tells persons apart, in all ``names``.

        Every column has that of all columns together: of one alone it would link people of one
        name, or of one birthday. Who misses a value of one misses all.
        """
        columns = sorted(names)
        texts = as_texts(engine.chosen(tally, columns))
        person_of, first = engine.grouped(texts, columns)
        rows = texts.combinations.astype(object).iloc[first]
        keys = rows.where(rows.notna(), None).itertuples(index=False, name=None)
        found = [None if None in key else self.pseudonym(key) for key in keys]
        column = pd.Series(np.array(found, object)[person_of], index=tally.index)
        return engine.replaced(tally, dict.fromkeys(names, column))
