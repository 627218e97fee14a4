"""The naive way to search a lattice: recode the records and let pandas count them, node by node."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean
from time import perf_counter

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from workloads import Workload

from anonymizer.hierarchy import Taxonomy
from anonymizer.recoding.lattice import Lattice, Node
from anonymizer.tables import engine

__all__ = ["GroupBy", "group_by_sampled_nodes"]

SAMPLE = 24
SEED = 7


@dataclass(frozen=True)
class GroupBy:
    """How long a group-by per node takes: measured at some nodes, extrapolated to all.

    Parameters
    ----------
    nodes
        Nodes of the lattice.
    seconds
        What each of the sampled nodes took.
    """

    nodes: int
    seconds: tuple[float, ...]

    @property
    def extrapolated(self) -> float:
        """Seconds for the whole lattice: the mean of the sample times the nodes."""
        return self.nodes * mean(self.seconds)

    def __str__(self) -> str:
        if len(self.seconds) == self.nodes:
            return f"{self.extrapolated:.3g} s"
        return f"{self.extrapolated:.3g} s, extrapolated from {len(self.seconds)} nodes"


def group_by_sampled_nodes(workload: Workload, sample: int = SAMPLE, seed: int = SEED) -> GroupBy:
    """Time a group-by of the records at nodes drawn at random, without replacement.

    Values are encoded beforehand, and codes kept as narrow as they can be: what is timed is the
    recoding of every column and pandas' count of the classes by sensitive value.
    """
    columns = {name: _encoded(workload, name) for name in workload.names}
    lattice = Lattice.of({name: taxonomy for name, (_, taxonomy) in columns.items()})
    about = {name: workload.table[name] for name in workload.sensitive}
    drawn = np.random.default_rng(seed).choice(
        lattice.size, min(sample, lattice.size), replace=False
    )
    shape = [height + 1 for height in lattice.heights]
    nodes = [tuple(map(int, np.unravel_index(place, shape))) for place in drawn]
    _seconds(columns, about, nodes[0])  # a warm-up: the first count takes three times as long
    return GroupBy(lattice.size, tuple(_seconds(columns, about, node) for node in nodes))


def _seconds(
    columns: Mapping[str, tuple[NDArray[np.integer], Taxonomy]],
    about: Mapping[str, pd.Series],
    node: Node,
) -> float:
    """Wall seconds to recode the records to one node and count them."""
    start = perf_counter()
    recoded = {
        name: _narrow(taxonomy.levels[level].groups)[codes]
        for (name, (codes, taxonomy)), level in zip(columns.items(), node, strict=True)
    }
    frame = pd.DataFrame({**recoded, **about}, copy=False)
    frame.groupby(list(frame), observed=True).size()
    return perf_counter() - start


def _encoded(workload: Workload, name: str) -> tuple[NDArray[np.integer], Taxonomy]:
    """The code of every record's value, and the taxonomy that gives them."""
    column = workload.table[name]
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), list(column.cat.categories)
    else:
        codes, values = engine.distinct(column)
    taxonomy = workload.hierarchies[name].over(name, values)
    return _narrow(taxonomy.encode(values))[codes], taxonomy


def _narrow(codes: NDArray[np.intp]) -> NDArray[np.integer]:
    return codes.astype(np.min_scalar_type(-int(codes.max()) - 1))
