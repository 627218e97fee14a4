"""What one channel is about: attributes drawn together, block by block of what is kept."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import pandas as pd

from anonymizer.channels import require_room
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.masking.attribute import Attribute
from anonymizer.masking.contingency import Contingency, distinct

Symbol = tuple[Hashable, ...]

MOST_SYMBOLS = 1000
"""Combinations of values that one channel is sought for at once, in one block."""


@dataclass(frozen=True, eq=False)
class Block:
    """The records that agree on the attributes which are kept; each block has its own channel.

    That loses nothing: a symbol of one block can stand for records of no other. ``rows`` are those
    of the part's contingency table, shape (n,).
    """

    part: "Part"
    rows: Codes

    @property
    def values(self) -> list[Symbol]:
        """The combinations of values, one per row."""
        return [self.part.contingency.values[row] for row in self.rows]

    @property
    def records(self) -> Ints:
        """Records by row and stratum, shape (n, strata)."""
        return np.asarray(self.part.contingency.records[self.rows])

    @property
    def sizes(self) -> Ints:
        """Records by row, shape (n,)."""
        return np.asarray(self.part.contingency.sizes[self.rows])

    def joint(self, name: str) -> Ints:
        """Records by row and value of a sensitive attribute, shape (n, m)."""
        return self.part.contingency.joint(name, self.records)

    def with_kept(self, drawn: Sequence[Symbol]) -> list[Symbol]:
        """Combinations of drawn values, completed by what this block keeps."""
        names, kept = self.part.names, dict(zip(self.part.names, self.values[0], strict=True))
        chosen = [attribute.name for attribute in self.part.attributes]
        completed = (kept | dict(zip(chosen, values, strict=True)) for values in drawn)
        return [tuple(row[name] for name in names) for row in completed]

    def distances(
        self, symbols: Sequence[Symbol], values: Sequence[Symbol] | None = None
    ) -> Floats:
        """What each symbol costs for each value (of the block unless given), shape (n, k)."""
        values = self.values if values is None else values
        total = np.zeros((len(values), len(symbols)))
        for attribute in self.part.attributes:
            place = self.part.names.index(attribute.name)
            left, of_row = distinct([row[place] for row in values])
            right, of_symbol = distinct([row[place] for row in symbols])
            cost = attribute.distances(left, right) / self.part.scale[attribute.name]
            total += cost[np.ix_(of_row, of_symbol)]
        return total


@dataclass(frozen=True, eq=False)
class Part:
    """Attributes that are drawn together.

    ``contingency``: the records by the values of these, and of the attributes kept with them.
    """

    contingency: Contingency = field(repr=False)
    attributes: tuple[Attribute, ...] = field(repr=False)

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        contingency: Contingency,
        names: Sequence[str],
        among: Sequence[Attribute],
    ) -> "Part":
        """The part of a table that some attributes are, of which some may be drawn."""
        schema = contingency.schema
        if tuple(names) != schema.names:
            contingency = Contingency.of(table, replace(schema, names=tuple(names)))
        return cls(contingency, tuple(a for a in among if a.name in names))

    @property
    def forgetting(self) -> "Part":
        """The part without records: what its rows are, and what its distances are divided by."""
        part = replace(self, contingency=self.contingency.forgetting)
        part.__dict__["scale"] = self.scale  # where cached_property looks first
        return part

    @property
    def names(self) -> tuple[str, ...]:
        """All attributes of the channel."""
        return self.contingency.schema.names

    @cached_property
    def blocks(self) -> list[Block]:
        """One for each combination of values that are kept."""
        drawn = {attribute.name for attribute in self.attributes}
        kept = [place for place, name in enumerate(self.names) if name not in drawn]
        rows = defaultdict(list)
        for row, key in enumerate(self.contingency.keys):
            rows[tuple(key[place] for place in kept)].append(row)
        return [Block(self, np.array(some, np.intp)) for some in rows.values()]

    def values_of(self, name: str) -> tuple[list[Hashable], Codes]:
        """The distinct values of an attribute, and which one each row has, shape (n,)."""
        place = self.names.index(name)
        return distinct([value[place] for value in self.contingency.values])

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
        values, of_row = self.values_of(attribute.name)
        sizes = np.bincount(of_row, weights=self.contingency.sizes)
        require_room(f"the distances of the values of {attribute.name!r}", (len(values),) * 2)
        least = float((sizes @ attribute.distances(values, values)).min() / sizes.sum())
        return least or 1.0

    def combinations(self, alphabets: Mapping[str, Sequence[Hashable]]) -> list[Symbol]:
        """All combinations of symbols of each drawn attribute."""
        each = [alphabets[attribute.name] for attribute in self.attributes]
        self.require_few(prod(len(symbols) for symbols in each))
        return list(product(*each))

    def require_few(self, symbols: int | None = None) -> None:
        """Require that a channel is sought for no more combinations than can be.

        Of the values of each block unless a number of symbols is given.
        """
        if symbols is None:
            symbols = max(len(block.rows) for block in self.blocks)
        if symbols > MOST_SYMBOLS:
            named = ", ".join(attribute.name for attribute in self.attributes)
            raise InputError(
                f"random recoding: {named} have {symbols:,} combinations of values, beyond the "
                f"{MOST_SYMBOLS:,} that one channel is sought for; choose coarser levels or fewer "
                "attributes, or set jointly = false"
            )
