"""The people whom the persons of a sample stand for, where persons have several records.

The sampling weight of a person says how many people they stand for, themselves among them. So F_g,
the people of a class, is the sum of the weights of the distinct persons who have records in it,
rounded down. A person of two classes counts in both, and once where these merge. So F_g does not
add up: it is counted anew for every recoding.

Monotone: a merged class has the persons of each of its parts, and no weight is below 1. It has at
least as many people more as it has persons more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from anonymizer.counts.columns import cells_of
from anonymizer.counts.counts import Partitions
from anonymizer.counts.pairs import numbered, row_keys
from anonymizer.counts.persons import Persons
from anonymizer.counts.schema import Schema
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.tables.engine import Tally
from anonymizer.tables.population import MILLION, weights_in_rows


@dataclass(frozen=True, eq=False)
class WeighedPersons:
    """The persons of each combination of values, and what they weigh.

    Of each pair of a combination and a person with records in it ``cells`` (pairs, names) are the
    value codes in the quasi-identifiers ``names``, and ``person_of`` (pairs,) says who. ``parts``
    (persons,) are the millionths of people whom each stands for. ``groups`` (values,) has the group
    of each value code of an attribute: those of one group are alike.
    """

    names: tuple[str, ...]
    cells: Codes = field(repr=False)
    person_of: Codes = field(repr=False)
    parts: Ints = field(repr=False)
    groups: Mapping[str, Codes] = field(repr=False)

    @classmethod
    def of(
        cls, tally: Tally, schema: Schema, taxonomies: Mapping[str, Taxonomy]
    ) -> "WeighedPersons":
        """Count the persons of a table, whose weight is the same in all of their records."""
        persons = Persons.of(tally, schema.person)
        parts = np.zeros(len(persons), np.int64)
        parts[persons.person_of] = weights_in_rows(tally, str(schema.weight))
        cells = cells_of(tally, taxonomies, schema.quasi_identifiers)
        keys = row_keys(np.column_stack([cells, persons.person_of]))
        first = np.unique(keys, return_index=True)[1]
        raw = {name: taxonomies[name].levels[0].representatives for name in taxonomies}
        known = cells[first], persons.person_of[first]
        return cls(schema.quasi_identifiers, *known, parts, raw)

    @property
    def total(self) -> int:
        """How many people there are in all."""
        return int(self.parts.sum()) // MILLION

    def recoded(self, partitions: Partitions) -> "WeighedPersons":
        """The same for classes of coarser values."""
        coarser = {name: each.representatives for name, each in partitions.items()}
        return replace(self, groups={**self.groups, **coarser})

    def people(self, names: tuple[str, ...], cells: Codes, sizes: Ints) -> Ints:
        """Count the people of classes, shape (classes,).

        ``cells`` (classes, names) are codes of any of their values; in other attributes all are
        alike. How many records they have, ``sizes``, does not matter.
        """
        own = [self.cells[:, self.names.index(name)] for name in names]
        pairs = np.zeros((len(self.cells), len(names)), np.intp)
        classes = np.zeros_like(cells)
        for place, name in enumerate(names):
            pairs[:, place] = self.groups[name][own[place]]
            classes[:, place] = self.groups[name][cells[:, place]]
        number, class_of, kinds = numbered(classes, pairs)
        once = np.unique(np.column_stack([class_of, self.person_of]), axis=0)
        found = np.zeros(kinds + 1, np.int64)
        np.add.at(found, once[:, 0], self.parts[once[:, 1]])
        return found[number] // MILLION
