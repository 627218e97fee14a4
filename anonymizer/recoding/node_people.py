"""The people of the classes of a node, where these do not add up."""

from collections.abc import Mapping
from dataclasses import dataclass

from anonymizer.counts.counts import Counts, Least
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels import FrequencySet
from anonymizer.kernels.arrays import Codes
from anonymizer.recoding.lattice import Node, level_recoding


@dataclass(frozen=True, eq=False)
class NodePeople:
    """The people of the classes of a node: the fewest by margins, or those whom persons stand for.

    ``cells`` are the value codes of each raw class, shape (classes, names).
    """

    least: Least
    taxonomies: Mapping[str, Taxonomy]
    names: tuple[str, ...]
    cells: Codes

    @classmethod
    def of(cls, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> "NodePeople | None":
        """What gives the people of nodes above some counts; None where they add up."""
        if counts.least is None:
            return None
        return cls(counts.least, taxonomies, counts.names, counts.cells)

    def put(self, node: Node, classes: FrequencySet) -> FrequencySet:
        """Return the classes of a node with these people, which do not add up; see ``Counts``."""
        least = self.least.recoded(level_recoding(self.taxonomies, self.names, node))
        counts = classes.counts.copy()
        counts[:, -2] = least.people(self.names, self.cells[classes.members], classes.sizes)
        return FrequencySet(classes.keys, counts, *classes[2:])
