"""What one channel is about: attributes masked together, block by block of what is kept."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import pandas as pd

from anonymizer.channels import require_room
from anonymizer.counts.counts import Floats
from anonymizer.errors import InputError
from anonymizer.masking.attribute import Attribute
from anonymizer.masking.contingency import Codes, Crossed, key_of

__all__ = ["MOST_SYMBOLS", "Block", "Part", "Symbol"]

Symbol = tuple[Hashable, ...]

MOST_SYMBOLS = 1000
"""Combinations of values that one channel is sought for at once, in one block."""


@dataclass(frozen=True, eq=False)
class Block:
    """The records that agree on the attributes which are kept; each block is masked by itself.

    That loses nothing: a symbol of one block can stand for records of no other.

    Parameters
    ----------
    part
        Where it belongs.
    rows
        Which rows of the part's counts it is, shape (n,).
    """

    part: "Part"
    rows: Codes

    @property
    def values(self) -> list[Symbol]:
        """The combinations of values, one per row."""
        return [self.part.crossed.values[row] for row in self.rows]

    @property
    def records(self) -> np.ndarray:
        """Records by row and stratum, shape (n, strata)."""
        return np.asarray(self.part.crossed.records[self.rows])

    @property
    def sizes(self) -> np.ndarray:
        """Records by row, shape (n,)."""
        return np.asarray(self.part.crossed.sizes[self.rows])

    def joint(self, name: str) -> np.ndarray:
        """Records by row and value of a sensitive attribute, shape (n, m)."""
        return self.part.crossed.joint(name, self.records)

    def released(self, masked: Sequence[Symbol]) -> list[Symbol]:
        """Combinations of masked values beside what this block keeps."""
        return [self.part.beside_kept(self.values[0], values) for values in masked]

    def distances(
        self, symbols: Sequence[Symbol], values: Sequence[Symbol] | None = None
    ) -> Floats:
        """What each symbol costs for each value (of the block unless given), shape (n, k)."""
        values = self.values if values is None else values
        total = np.zeros((len(values), len(symbols)))
        for attribute in self.part.attributes:
            place = self.part.names.index(attribute.name)
            found = [distinct([row[place] for row in rows]) for rows in (values, symbols)]
            (left, of_row), (right, of_symbol) = found
            cost = attribute.distances(left, right) / self.part.scale[attribute.name]
            total += cost[np.ix_(of_row, of_symbol)]
        return total


@dataclass(frozen=True, eq=False)
class Part:
    """Attributes that are masked together.

    Parameters
    ----------
    crossed
        The records by the values of these attributes, and of those that are kept beside them.
    attributes
        The masked ones.
    """

    crossed: Crossed = field(repr=False)
    attributes: tuple[Attribute, ...] = field(repr=False)

    @classmethod
    def of(
        cls, table: pd.DataFrame, crossed: Crossed, names: Sequence[str], among: Sequence[Attribute]
    ) -> "Part":
        """The part of a table that some attributes are, of which some may be masked."""
        names = tuple(names)
        schema = crossed.schema
        if names != schema.names:
            crossed = Crossed.of(table, replace(schema, names=names))
        return cls(crossed, tuple(a for a in among if a.name in names))

    @property
    def forgetting(self) -> "Part":
        """The part without records: what its rows are, and what its distances are divided by."""
        part = replace(self, crossed=self.crossed.forgetting)
        part.__dict__["scale"] = self.scale  # where cached_property looks first
        return part

    @property
    def names(self) -> tuple[str, ...]:
        """All attributes of the channel."""
        return self.crossed.schema.names

    @cached_property
    def blocks(self) -> list[Block]:
        """One for each combination of values that are kept."""
        masked = {attribute.name for attribute in self.attributes}
        kept = [place for place, name in enumerate(self.names) if name not in masked]
        rows = defaultdict(list)
        for row, key in enumerate(self.crossed.keys):
            rows[tuple(key[place] for place in kept)].append(row)
        return [Block(self, np.array(some, np.intp)) for some in rows.values()]

    @cached_property
    def scale(self) -> Mapping[str, float]:
        """What the distortion of each attribute is divided by.

        Of a single one nothing; of several the least cost of one value for everybody, so that
        losing an attribute costs 1.
        """
        if len(self.attributes) == 1:
            return {self.attributes[0].name: 1.0}
        return {attribute.name: self._lost(attribute) for attribute in self.attributes}

    def _lost(self, attribute: Attribute) -> float:
        place = self.names.index(attribute.name)
        values, of_row = distinct([value[place] for value in self.crossed.values])
        sizes = np.bincount(of_row, weights=self.crossed.sizes)
        require_room(f"the distances of the values of {attribute.name!r}", (len(values),) * 2)
        least = float((sizes @ attribute.distances(values, values)).min() / sizes.sum())
        return least or 1.0

    def beside_kept(self, value: Symbol, masked: Symbol) -> Symbol:
        """A combination of masked values beside the kept ones of another combination."""
        left = iter(masked)
        chosen = {attribute.name for attribute in self.attributes}
        return tuple(
            next(left) if name in chosen else mine
            for name, mine in zip(self.names, value, strict=True)
        )

    def masked_values(self, value: Symbol) -> Symbol:
        """The masked ones of a combination of values."""
        chosen = {attribute.name for attribute in self.attributes}
        return tuple(v for name, v in zip(self.names, value, strict=True) if name in chosen)

    def crossed_symbols(self, alphabets: Mapping[str, Sequence[Hashable]]) -> list[Symbol]:
        """All combinations of symbols of each masked attribute.

        Raises
        ------
        InputError
            When there are too many.
        """
        each = [alphabets[attribute.name] for attribute in self.attributes]
        self.require_few(prod(len(symbols) for symbols in each))
        return list(product(*each))

    def require_few(self, symbols: int) -> None:
        """Require that a channel is sought for no more combinations than can be.

        Raises
        ------
        InputError
            Saying how to have fewer.
        """
        if symbols > MOST_SYMBOLS:
            named = ", ".join(attribute.name for attribute in self.attributes)
            raise InputError(
                f"masking: {named} have {symbols:,} combinations of values, beyond the "
                f"{MOST_SYMBOLS:,} that one channel is sought for; state coarser levels, mask "
                "fewer attributes, or set jointly = false"
            )


def distinct(values: Sequence[Hashable]) -> tuple[list[Hashable], np.ndarray]:
    """The distinct values, told apart by their texts, and which one each is, shape (values,)."""
    keys = [key_of((value,)) for value in values]
    first = dict(reversed(list(zip(keys, values, strict=True))))
    number = {key: place for place, key in enumerate(first)}
    return list(first.values()), np.array([number[key] for key in keys], np.intp)
