"""All cuts through a taxonomy and all groupings of values, enumerated: the oracle of both."""

from collections.abc import Iterator
from itertools import chain, product

from anonymizer.hierarchy import Partition, Taxonomy


def all_cuts(taxonomy: Taxonomy) -> Iterator[Partition]:
    """Every cut: the whole, or else every cut of every part of the next level, in every way."""
    levels = [partition.groups.tolist() for partition in taxonomy.levels]

    def below(values: list[int], level: int) -> list[list[list[int]]]:
        found = [[values]]
        if level:
            groups: dict[int, list[int]] = {}
            for value in values:
                groups.setdefault(levels[level - 1][value], []).append(value)
            parts = [below(members, level - 1) for members in groups.values()]
            found += [[*chain(*choice)] for choice in product(*parts)]
        return found

    values = list(range(len(levels[0])))
    for cut in {tuple(map(tuple, cut)) for cut in below(values, taxonomy.height)}:
        yield grouped(cut, len(values))


def all_groupings(taxonomy: Taxonomy) -> Iterator[Partition]:
    """Every partition of the values."""
    values = len(taxonomy.codes)

    def spread(value: int, groups: int) -> Iterator[list[int]]:
        if value == values:
            yield []
            return
        for group in range(groups + 1):
            for rest in spread(value + 1, max(groups, group + 1)):
                yield [group, *rest]

    yield from (Partition.of(groups) for groups in spread(0, 0))


def grouped(groups: object, values: int) -> Partition:
    place = {value: i for i, members in enumerate(groups) for value in members}
    return Partition.of([place[value] for value in range(values)])
