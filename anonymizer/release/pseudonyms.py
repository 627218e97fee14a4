"""Pseudonyms of persons: keyed hashes of what tells them apart.

They have two uses, and who has the pseudonyms of one use finds none of the other by them:

- In counts of several sites: all sites have one key, so that somebody who has records at two of
  them is one person in the sum of their counts. The steward who adds the counts does not get it.
- In releases that are to be joined: a person has the same pseudonym in all releases by one key.

Without the key nobody can try names until a pseudonym is theirs. A pseudonym links all records of
its person all the same.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.tables import engine
from anonymizer.tables.counts_file import as_text
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
OF_RELEASED = b"anonymizer: pseudonym of a person in releases, 1\n"
OF_RELEASING_KEY = b"anonymizer: which key joins releases, 1\n"
"""What begins that which is hashed: a hash for one purpose is none for another."""

MARK = "p:"
"""How a pseudonym begins: none is read as a number, by which different ones could be equal."""

PSEUDONYM = re.compile(f"{MARK}[0-9a-f]{{{2 * LENGTH}}}")
"""How a pseudonym reads."""


def is_pseudonym(text: str) -> bool:
    """Return whether a text reads as a pseudonym does."""
    return PSEUDONYM.fullmatch(text) is not None


@dataclass(frozen=True)
class PseudonymKey:
    """The key that makes pseudonyms of persons: a secret in a file, read when it is needed.

    Its text and its pickle have the place of the file, and never the secret.

    Parameters
    ----------
    path
        The file: 32 bytes or more that nobody can guess, as ``openssl rand -hex 32`` makes them.
    """

    path: Path

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | Path):
            raise InputError("the key of persons is named by the path of its file")
        object.__setattr__(self, "path", Path(self.path))

    def __getstate__(self) -> dict[str, object]:
        return {"path": self.path}

    @classmethod
    def read(cls, path: Path) -> PseudonymKey:
        """Return the key in a file; InputError when it cannot be read, or is no secret."""
        key = cls(path)
        key.require()
        return key

    def require(self) -> None:
        """Read the key, so that its errors come before anything is done."""
        assert self.secret

    @cached_property
    def secret(self) -> bytes:
        """The key, blanks and ends of lines around it left out.

        Raises InputError when it cannot be read, or is too short to be a secret.
        """
        secret = read_bytes(self.path, SIZE, "the key of persons ").strip()
        if len(secret) < LEAST:
            raise InputError(
                f"the key of persons {self.path} has {len(secret)} bytes, and needs {LEAST} at "
                "least that nobody can guess: `openssl rand -hex 32` makes some"
            )
        return secret

    @property
    def check(self) -> str:
        """Which key it is, as hexadecimal digits: the same for the same key, for no other use."""
        return self._hash(OF_KEY)

    @property
    def check_of_releases(self) -> str:
        """The same of the key of a release, whose manifest has it."""
        return self._hash(OF_RELEASING_KEY)

    def pseudonym(self, texts: Sequence[str | None], use: bytes = OF_PERSON) -> str:
        """Return that of the person whom some texts tell apart; ``use``: what for."""
        return MARK + self._hash(use + json.dumps(texts).encode())

    def _hash(self, content: bytes) -> str:
        return hmac.digest(self.secret, content, sha256)[:LENGTH].hex()

    def hidden(self, tally: Tally, names: Sequence[str]) -> Tally:
        """Put the pseudonym of its person in place of what tells persons apart, in all ``names``.

        Every column has that of all columns together: of one alone it would link people of one
        name, or of one birthday.
        """
        return engine.replaced(tally, dict.fromkeys(names, self.column(tally, names)))

    def column(
        self, table: engine.Table, names: Sequence[str], use: bytes = OF_PERSON
    ) -> pd.Series:
        """Return the pseudonym of the person of each row, whom the columns ``names`` tell apart.

        Columns count in the order of their names, and values by their texts: 7 and 7.0 are one
        person. Who misses a value of one column misses all.
        """
        columns = sorted(names)
        person_of, first = engine.grouped(table, columns)
        texts = ([*map(as_text, table[name].iloc[first])] for name in columns)
        keys = zip(*texts, strict=True)
        found = [None if None in key else self.pseudonym(key, use) for key in keys]
        return pd.Series(np.array(found, object)[person_of], index=table.index)


def required_key(
    check: str | None, given: PseudonymKey | None, of_study: PseudonymKey | None = None
) -> PseudonymKey | None:
    """Return the key of a release, which has some ``check``; None where it has no pseudonyms.

    Raises InputError where it is not known, is another one, or is given for nothing.
    """
    if check is None:
        if given is not None:
            raise InputError(
                f"{given.path} is given as a key of pseudonyms of persons, and the release has "
                "none; leave it out"
            )
        return None
    key = of_study if given is None else given
    if key is None:
        raise InputError(
            "persons have pseudonyms in the release, and the key that makes them is not in it; "
            "give its file with --person-key (in Python as person_key=PseudonymKey(...)), or name "
            "the study of the release, which says where it lies"
        )
    if key.check_of_releases != check:
        raise InputError(
            f"{key.path} is not the key that made the pseudonyms of the release, so that a person "
            "would have another one; give the key that it was made with"
        )
    return key
