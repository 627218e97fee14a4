"""Prefix-coded keys: every node of the lattice is one mask, every roll-up one AND per class.

A chain of nested partitions is a trie: the group of the coarsest level, then the child it has at
the next finer one, down to the value. A value's code lines up these child numbers, the coarsest in
the high bits; a group of level v is then identified by the bits of the levels v and above, and
generalizing to v clears those below. The codes of all attributes side by side make the key.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anonymizer.counts.counts import Counts
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.kernels import FrequencySet, Words
from anonymizer.kernels.arrays import Codes
from anonymizer.objectives.candidate import histograms_of
from anonymizer.recoding.lattice import Node

WORD = 63
"""Bits of a key's word that are used."""


@dataclass(frozen=True)
class Field:
    """Where the child numbers of one level of one attribute lie: bits of one word."""

    attribute: int
    level: int
    word: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        """The field's bits, set."""
        return ((1 << self.bits) - 1) << self.shift


@dataclass(frozen=True, eq=False)
class Encoding:
    """The keys of the classes of some counts, and the mask of every node.

    Fields never straddle words and words are added as needed, so a key cannot overflow. Only the
    values that occur take part: hierarchies may list many more.

    Parameters
    ----------
    names
        The quasi-identifiers.
    heights
        The highest level of each.
    words
        Words of a key.
    fields
        Where each level's bits lie.
    """

    names: tuple[str, ...]
    heights: Node
    words: int
    fields: tuple[Field, ...]

    @classmethod
    def of(
        cls, counts: Counts, taxonomies: Mapping[str, Taxonomy]
    ) -> tuple["Encoding", FrequencySet]:
        """Encode raw counts: the encoding, and the frequency set of the bottom of the lattice."""
        chains = [taxonomies[name].levels for name in counts.names]
        children = [
            _children(levels, column) for levels, column in zip(chains, counts.cells.T, strict=True)
        ]
        fields, words = _laid_out([[int(c.max()) + 1 for c in levels] for levels in children])
        keys = np.zeros((len(counts), words), np.uint64)
        for field in fields:
            numbers = children[field.attribute][field.level] << np.uint64(field.shift)
            keys[:, field.word] |= numbers[counts.cells[:, field.attribute]]
        heights = tuple(len(levels) - 1 for levels in chains)
        encoding = cls(counts.names, heights, words, tuple(fields))
        # Classes of neighbouring keys side by side: they merge first, and lie near in memory.
        members = np.arange(len(counts), dtype=np.int32)
        return encoding, FrequencySet.of(keys, histograms_of(counts), members).in_order()

    def mask(self, node: Node) -> Words:
        """The bits that stay when generalizing to a node, one number per word."""
        return tuple(np.uint64(sum(map(list[int].__getitem__, word, node))) for word in self._masks)

    @cached_property
    def _masks(self) -> list[list[list[int]]]:
        """Per word, attribute and level the bits of the attribute that stay."""
        masks = [[[0] * (height + 1) for height in self.heights] for _ in range(self.words)]
        for field in self.fields:
            for level in range(field.level + 1):
                masks[field.word][field.attribute][level] |= field.mask
        return masks


def _children(levels: Sequence[Partition], codes: Codes) -> list[NDArray[np.uint64]]:
    """For each level the number that each value's group has among its parent's children.

    Numbered by value code among the values that occur, so that keys do not depend on row order.
    """
    values = len(levels[0].groups)
    present = np.flatnonzero(np.bincount(codes, minlength=values))
    numbers = []
    for level, partition in enumerate(levels):
        group = partition.representatives[present]
        parent = group * 0 if level + 1 == len(levels) else levels[level + 1].representatives[group]
        number = np.zeros(values, np.uint64)
        number[present] = _ranks(parent, group)
        numbers.append(number)
    return numbers


def _ranks(parents: Codes, groups: Codes) -> Codes:
    """The rank of each group among the distinct groups of its parent."""
    pairs, place = np.unique(np.stack([parents, groups], axis=1), axis=0, return_inverse=True)
    first = np.searchsorted(pairs[:, 0], pairs[:, 0])
    return (np.arange(len(pairs)) - first)[place.reshape(-1)]


def _laid_out(fans: Sequence[Sequence[int]]) -> tuple[list[Field], int]:
    """Give every level of every attribute its bits, finest lowest; the fields and the words.

    The attributes of most levels lie lowest: the bits that are cleared most often are then those
    in which neighbours of the sorted table differ, which merge without being looked up.
    """
    fields: list[Field] = []
    word = shift = 0
    for attribute in sorted(range(len(fans)), key=lambda place: -len(fans[place])):
        for level, fan in enumerate(fans[attribute]):
            bits = (fan - 1).bit_length()
            if not bits:
                continue
            if shift + bits > WORD:
                word, shift = word + 1, 0
            fields.append(Field(attribute, level, word, shift, bits))
            shift += bits
    return fields, word + 1
