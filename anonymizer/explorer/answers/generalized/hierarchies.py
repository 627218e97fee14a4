"""What a hierarchy makes of a column: its groups as a tree, and the classes under each level."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import InputError
from anonymizer.explorer.answers.counted import CountedStudy
from anonymizer.explorer.answers.generalized.groups import Row
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.hierarchy import ANY, MISSING, Hierarchy, Taxonomy, shown_label
from anonymizer.hierarchy.authoring import LevelUse, check_hierarchy, records_of, rows_of
from anonymizer.hierarchy.hierarchy import kind_of
from anonymizer.hierarchy.reading import FILES, GENERAL, GROUND, Table
from anonymizer.hierarchy.rules import ListedHierarchy
from anonymizer.kernels.arrays import Codes
from anonymizer.tables import engine
from anonymizer.tables.reading import STUDY, parsed_toml, read_whole
from anonymizer.tables.values import is_missing, number_of, text_of


@dataclass(frozen=True)
class HierarchyGroup:
    """A group of a level, or a value, which is level 0; its records, and values that it has."""

    level: int
    label: str
    records: int
    values: int
    parent: int
    """The place of the group that it is in; -1 of the highest."""

    @property
    def named(self) -> bool:
        """Whether it has a name of its own: neither the group of all nor a missing value has."""
        return self.parent >= 0 and self.label not in (MISSING, ANY)


@dataclass(frozen=True)
class LevelClasses:
    """The classes, were an attribute released at a level and the others as they are now."""

    classes: int
    smallest: int


@dataclass(frozen=True, eq=False)
class Generalized:
    """A hierarchy over the values of its column.

    ``groups`` are in the order of a tree, each after the one it is in. ``lacking`` are the records
    of values that it does not cover; then there are no groups. ``values`` are the texts of those
    that occur, ``span`` the lowest and the highest of numbers.
    """

    name: str
    hierarchy: Hierarchy = field(repr=False)
    records: int
    levels: Sequence[LevelUse]
    groups: Sequence[HierarchyGroup] = field(repr=False)
    lacking: Mapping[str, int] = field(repr=False)
    values: Sequence[str] = field(repr=False)
    span: tuple[Decimal, Decimal] | None

    @property
    def height(self) -> int:
        """The highest level."""
        return self.hierarchy.height

    @property
    def kind(self) -> str:
        """What it is, in a word or two."""
        return kind_of(self.hierarchy)

    def labels_at(self, level: int) -> list[str]:
        """The labels of the groups of a level, each once."""
        return list(dict.fromkeys(each.label for each in self.groups if each.level == level))

    def shown(self, words: str, most: int, level: int = 0) -> list[int]:
        """The places of the largest groups of a level and above.

        If there are words, of those that have them in their labels, and what these are in.
        """
        text = words.strip().casefold()
        found = [
            place
            for place, each in enumerate(self.groups)
            if each.level >= level and text in each.label.casefold()
        ]
        found.sort(key=lambda place: (-self.groups[place].records, -self.groups[place].level))
        chosen: set[int] = set()
        for place in found:
            line = [each for each in self._above(place) if each not in chosen]
            if len(chosen) + len(line) > most:
                break
            chosen.update(line)
        return sorted(chosen)

    def _above(self, place: int) -> list[int]:
        line = []
        while place >= 0:
            line.append(place)
            place = self.groups[place].parent
        return line


def generalized_of(counted: CountedStudy, name: str) -> Generalized:
    """What the hierarchy of a quasi-identifier makes of its column.

    Raises InputError when the hierarchy does not fit the column in another way than lacking values.
    """
    hierarchy = counted.hierarchies[name]
    tally = engine.tally(counted.tally, [name])
    values, sizes = tally[name].tolist(), tally.sizes.tolist()
    checked = check_hierarchy(hierarchy, name, values, sizes)
    groups: Sequence[HierarchyGroup] = ()
    span = None
    if checked.complete:
        taxonomy = hierarchy.over(name, values, sizes)
        groups = _tree(taxonomy, records_of(taxonomy, values, sizes))
        places = [each for each in taxonomy.numbers or () if each is not None]
        span = (min(places), max(places)) if places else None
    texts = list(dict.fromkeys(text_of(each) for each in values if not is_missing(each)))
    return Generalized(
        name, hierarchy, checked.records, checked.levels, groups, checked.lacking, texts, span
    )


def _tree(taxonomy: Taxonomy, records: Codes) -> list[HierarchyGroup]:
    """The groups in the order of a tree, those of one group in the order of their values."""
    levels = taxonomy.levels
    firsts = [partition.representatives for partition in levels]
    order = np.lexsort(firsts)  # by the highest level first
    sizes = [np.bincount(each.groups, records).astype(np.int64) for each in levels]
    values = [np.bincount(each.groups) for each in levels]
    line = [-1] * (len(levels) + 1)  # the place of the open group of each level
    opened: list[int] = [-1] * len(levels)
    found: list[HierarchyGroup] = []
    for code in order.tolist():
        for level in range(len(levels) - 1, -1, -1):
            group = int(levels[level].groups[code])
            if opened[level] == group:
                continue
            opened[level] = group
            text = _label(levels[level].labels[group])
            size, many = int(sizes[level][group]), int(values[level][group])
            found.append(HierarchyGroup(level, text, size, many, line[level + 1]))
            line[level] = len(found) - 1
    return found


def _label(label: Hashable) -> str:
    return shown_label(None if label is None else text_of(label))


def classes_by_level(outcome: StudyOutcome, name: str) -> list[LevelClasses] | None:
    """The classes with each level of an attribute, the others recoded as now, nothing suppressed.

    None where there is no recoding of each attribute by itself.
    """
    if outcome.task is None or outcome.raw is None or outcome.plan is None:
        return None
    taxonomy = outcome.task.counted.taxonomies.get(name)
    recoding = outcome.plan.recoding
    if isinstance(recoding, Regions) or taxonomy is None:
        return None
    others = {each: partition for each, partition in recoding.items() if each != name}
    base = outcome.raw.recode(others)
    found = []
    for partition in taxonomy.levels:
        sizes = base.recode({name: partition}).sizes
        sizes = sizes[sizes > 0]
        found.append(LevelClasses(len(sizes), int(sizes.min(initial=outcome.raw.records))))
    return found


def records_of_numbers(found: Generalized) -> list[tuple[Decimal, int]]:
    """The numbers of a column with the records of each, rising; none where not all are numbers."""
    if found.hierarchy.limits.ground is not None:
        return []
    values = [each for each in found.groups if each.level == 0 and each.label != MISSING]
    numbers = [(number_of(each.label), each.records) for each in values]
    known = [(number, size) for number, size in numbers if number is not None]
    return sorted(known) if len(known) == len(numbers) else []


def level_now(outcome: StudyOutcome, name: str) -> int | None:
    """The level that an attribute is released at; None where it has none, or is not known."""
    return None if outcome.plan is None else outcome.plan.levels.get(name)


def rule_in(given: object, directory: Path) -> dict[str, Any]:
    """What a study gives for a hierarchy as a rule with its options, those of a rule file too.

    Tables of labels stay files.
    """
    if given == "suppress":
        return {"suppress": True}
    if isinstance(given, str):
        return rule_in({"file": given}, directory)
    if not isinstance(given, Mapping):
        raise InputError("this is no hierarchy; propose one, or choose another role")
    rule = dict(given)
    path = rule.get("file")
    if not isinstance(path, str) or not path.lower().endswith(".toml"):
        return rule
    inner = parsed_toml(read_whole(directory / path, STUDY, "hierarchy "))
    for key in {*FILES} & {*inner}:
        inner[key] = (Path(path).parent / inner[key]).as_posix()
    return {**inner, **{key: value for key, value in rule.items() if key != "file"}}


def limits_in(rule: Table) -> dict[str, Any]:
    """The limits of a rule: lowest and highest level, grid, and ground."""
    return {key: rule[key] for key in GENERAL if key in rule}


def with_limits(rule: Table, directory: Path) -> Any:
    """A rule with those of its limits that its levels have; a path alone is only that."""
    found = dict(rule)
    bare = {key: value for key, value in found.items() if key not in GENERAL}
    if GROUND in found:
        bare[GROUND] = found[GROUND]
    height = Hierarchy.of(bare, directory).height
    if found.get("max-level", 0) > height:
        del found["max-level"]
    if found.get("min-level", 0) > height:
        found["min-level"] = height
    Hierarchy.of(found, directory)  # raises InputError
    return found["file"] if [*found] == ["file"] else found


def rows_in(hierarchy: Hierarchy) -> list[Row] | None:
    """The rows of a table of labels; None of a rule."""
    if not isinstance(hierarchy, ListedHierarchy):
        return None
    return [*zip(hierarchy.values, *hierarchy.levels, strict=True)]


def listed_of(found: Generalized) -> list[Row]:
    """A rule as a table of the labels of the values that occur.

    Raises InputError when values are counted at a ground, or some are not covered.
    """
    if found.hierarchy.limits.ground is not None:
        raise InputError(
            f"the values of {found.name!r} are counted at a ground, and are not known one by one; "
            "leave ground out first"
        )
    if found.lacking:
        raise InputError(f"the rule does not cover every value of {found.name!r}; propose another")
    return [(row[0], *row[1:]) for row in rows_of(found.hierarchy, found.values)]
