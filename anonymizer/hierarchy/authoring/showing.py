"""A hierarchy as a notebook shows it: some values, and their labels at each level."""

from collections.abc import Iterable
from itertools import islice

from anonymizer.errors import AnonymizerError
from anonymizer.feedback.display import in_a_line
from anonymizer.feedback.document import Display, Table
from anonymizer.feedback.words import plural
from anonymizer.hierarchy.hierarchy import Hierarchy
from anonymizer.hierarchy.rules.calendar import CalendarHierarchy
from anonymizer.hierarchy.rules.kept import SuppressionHierarchy
from anonymizer.hierarchy.rules.masks import MaskHierarchy
from anonymizer.hierarchy.rules.order import OrderHierarchy
from anonymizer.hierarchy.rules.ranges import RangeHierarchy

MOST_VALUES = 8
"""Values of a hierarchy that are shown."""

CODE = "123456789ABCDEFGHIJK"


def kind_of(hierarchy: Hierarchy) -> str:
    """Name the kind of a hierarchy in a word or two."""
    if isinstance(hierarchy, MaskHierarchy):
        return hierarchy.name
    kinds = {
        RangeHierarchy: "ranges",
        CalendarHierarchy: "calendar",
        SuppressionHierarchy: "suppression",
        OrderHierarchy: "ordered values",
    }
    return next((name for kind, name in kinds.items() if isinstance(hierarchy, kind)), "groups")


def line_of(hierarchy: Hierarchy) -> str:
    """The hierarchy in a line; no value of it."""
    listed = len([*hierarchy.listed])
    return in_a_line(
        hierarchy, kind_of(hierarchy), _levels(hierarchy), f"{listed:,} values" if listed else ""
    )


def display_of(hierarchy: Hierarchy) -> Display:
    """Show some values, listed or made up for a rule, evenly spread, by level."""
    rows = [row for value in examples_of(hierarchy) if (row := _row(hierarchy, value))]
    listed = len([*hierarchy.listed])
    some = f"{min(MOST_VALUES, listed):,} of {listed:,} values" if listed else "Example values"
    columns = ["value", *(f"level {level}" for level in range(1, hierarchy.height + 1))]
    title = f"Hierarchy: {kind_of(hierarchy)}, {_levels(hierarchy)}"
    return Display(title, [Table(some, columns, rows)])


def _levels(hierarchy: Hierarchy) -> str:
    return f"{plural(hierarchy.height, 'level')} above the values"


def examples_of(hierarchy: Hierarchy) -> list[object]:
    """Values that show what the levels do."""
    listed = [*hierarchy.listed]
    if listed:
        return listed[:: -(-len(listed) // MOST_VALUES)]
    if isinstance(hierarchy, RangeHierarchy):
        return _numbers(hierarchy)
    if isinstance(hierarchy, CalendarHierarchy):
        return ["2024-01-15", "2024-02-29", "2024-12-31", "2025-06-30"]
    if isinstance(hierarchy, MaskHierarchy):
        return [CODE[: max(hierarchy.lengths) + 2]]
    return ["any value"]


def _numbers(hierarchy: RangeHierarchy) -> list[object]:
    if hierarchy.widths:
        return [hierarchy.origin + place * hierarchy.widths[0] for place in range(MOST_VALUES)]
    cuts = hierarchy.cuts[0]
    return [cuts[0] - 1, *islice(cuts, MOST_VALUES - 1)]


def _row(hierarchy: Hierarchy, value: object) -> list[object]:
    """A value and its labels; nothing where the hierarchy has no place for it."""
    try:
        labels: Iterable[object] = hierarchy.labels(value)
    except AnonymizerError:
        return []
    return [value, *labels]
