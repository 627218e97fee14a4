"""Hierarchies as a steward writes them: rules as tables of keys, TOML files, ARX's CSV tables.

A table of keys (a line of a study, a ``.toml`` file, a mapping in Python) has exactly one rule,
options of that rule, and limits. ``RULES`` is the registry: a rule is a function of the table, an
example for messages, and the names of its options.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError, is_number, shown, suggestion
from anonymizer.hierarchy.codes import MaskHierarchy, people_by_zip3, populous
from anonymizer.hierarchy.hierarchy import MAKERS, Hierarchy
from anonymizer.hierarchy.order import OrderHierarchy
from anonymizer.hierarchy.partition import ANY
from anonymizer.hierarchy.ranges import QuantileHierarchy, RangeHierarchy
from anonymizer.hierarchy.rules import (
    CalendarHierarchy,
    KeepHierarchy,
    ListedHierarchy,
    SuppressionHierarchy,
)
from anonymizer.tables.reading import HIERARCHY, STUDY, parsed_toml, read_whole, separator_of
from anonymizer.tables.values import number_of

Table = Mapping[str, Any]

LIMITS = ("min-level", "max-level", "grid")
"""Limits of any rule."""

GROUND = "ground"
"""What the values of any rule are counted at."""

GENERAL = (*LIMITS, GROUND)
"""Keys that go with any rule."""

ENDS = ("bottom", "top")
"""Where ranges of every level end, so that what lies beyond is one group."""

UNIT = ("unit", "decimal")
"""What stands next to each number of ranges, such as cm, and the decimal mark of these."""

EXACT = "exact"
"""That level 1 of ranges with ends has whole numbers as they are."""

FILES = ("file", "census")
"""Rules that are the path of a file."""

LISTING = ("keep", "order", *FILES)
"""Rules that list values, or are a file that does."""

NUMERIC = ("widths", "cuts", "origin", "bottom", "top", GROUND)
"""Parts of rules that are numbers."""

MOST_LEVELS = 100
"""Levels of a rule that a manifest repeats: labels of a value at all of them are soon made."""

SEPARATORS = ";,\t|"
"""The likeliest first; ARX writes semicolons."""


@dataclass(frozen=True)
class Rule:
    """Reader of one kind of hierarchy from its table.

    ``build`` gets the whole table and the directory that paths are relative to. ``example`` is what
    messages show. ``options`` are the keys that go with the rule.
    """

    build: Callable[[Table, Path], Hierarchy]
    example: str
    options: tuple[str, ...] = ()


def hierarchy_of(table: Table, directory: Path = Path()) -> Hierarchy:
    """Make the hierarchy that a table describes; paths in it start at ``directory``.

    InputError when it has no rule, or two, or something else; the message shows the right form.
    """
    rule = RULES[_only_rule(table)]
    options = {name: table[name] for name in table if name not in GENERAL}
    hierarchy = rule.build(options, directory)
    if GROUND in table:
        hierarchy = hierarchy.grounded(table[GROUND])
    given = {name.replace("-", "_"): table[name] for name in LIMITS if name in table}
    # A file may have limits of its own.
    return hierarchy.limited(**{**hierarchy.limits.given, **given}) if given else hierarchy


def _only_rule(table: Table) -> str:
    """The name of the one rule of a table; InputError where it has another number of them."""
    known = dict.fromkeys([*RULES, *(name for rule in RULES.values() for name in rule.options)])
    for name in table:
        if name not in known and name not in GENERAL:
            raise InputError(
                f"unknown key {shown(name)}{suggestion(str(name), [*known, *GENERAL])}"
            )
    given = [name for name in RULES if name in table]
    # A key may be an option of one rule, and a rule itself: widths of ordered values.
    rules = [name for name in given if not any(name in RULES[each].options for each in given)]
    if not rules:
        raise InputError(f"give exactly one rule: {', '.join(RULES)}; {_such_as('widths')}")
    if len(rules) > 1:
        raise InputError(f"{' and '.join(rules)} are two rules; leave one, {_such_as(rules[0])}")
    for name in table:
        if name not in (rules[0], *RULES[rules[0]].options, *GENERAL):
            home = next(rule for rule in RULES if name in RULES[rule].options)
            raise InputError(f"{name} goes with {home}, {_such_as(home)}")
    return rules[0]


def whole_name(name: str, given: object) -> str:
    """The name of which TOML has made a table in a table: what follows its points is no rule.

    >>> whole_name("age", {"yrs": {"widths": [5]}}), whole_name("age", {"widths": [5]})
    ('age.yrs', 'age')
    """
    if not isinstance(given, Mapping):
        return name
    known = {*RULES, *GENERAL, *(option for rule in RULES.values() for option in rule.options)}
    for key, value in given.items():
        if key not in known and (isinstance(value, Mapping) or value == "suppress"):
            return whole_name(f"{name}.{key}", value)
    return name


def _such_as(rule: str) -> str:
    return f"such as {{ {RULES[rule].example} }}"


def list_in(table: Table, name: str) -> list[Any]:
    """The list of a rule; InputError where it is none, or empty."""
    value = table[name]
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        written = f"{name} = [{shown(value)}]" if is_number(value) else RULES[name].example
        raise InputError(f"{name} must be a list, such as {written}")
    return list(value)


def _cuts(table: Table, directory: Path) -> Hierarchy:
    cuts = list_in(table, "cuts")
    lists = [isinstance(level, Sequence) and not isinstance(level, str) for level in cuts]
    if any(lists) != all(lists):
        raise InputError("cuts must be a list of numbers, or one such list per level")
    ends = {name: table[name] for name in (*ENDS, *UNIT) if name in table}
    return RangeHierarchy.exact((), cuts if any(lists) else [cuts], **ends)


def _keep(table: Table, directory: Path) -> Hierarchy:
    levels = list_in(table, "keep")
    nested = any(isinstance(each, list | tuple) for each in levels)
    return KeepHierarchy.of_values(
        levels if nested else [levels], table.get("other", "other"), table.get("missing", "own")
    )


def _suppress(table: Table, directory: Path) -> Hierarchy:
    if table["suppress"] is not True:
        raise InputError("suppress can only be true")
    return SuppressionHierarchy()


def _order(table: Table, directory: Path) -> Hierarchy:
    widths, cuts = (list_in(table, name) if name in table else [] for name in ("widths", "cuts"))
    one = bool(cuts) and not isinstance(cuts[0], list | tuple)
    return OrderHierarchy.of_values(list_in(table, "order"), widths, [cuts] if one else cuts)


def _file(table: Table, directory: Path) -> Hierarchy:
    path = table["file"]
    if not isinstance(path, str | Path) or not str(path).strip():
        raise InputError(f"file must be a path in quotes, such as {RULES['file'].example}")
    return Hierarchy.read(directory / path)


def _census(table: Table, directory: Path) -> Hierarchy:
    path = table["census"]
    if not isinstance(path, str | Path) or not str(path).strip():
        raise InputError(f"census must be a path in quotes, such as {RULES['census'].example}")
    return populous(people_by_zip3(directory / path))


def _of_list(name: str, make: Callable[..., Hierarchy], example: str, *options: str) -> Rule:
    """Return the rule that makes a hierarchy of a list and of the options that are given."""

    def build(table: Table, directory: Path) -> Hierarchy:
        given = {option: table[option] for option in options if option in table}
        return make(list_in(table, name), **given)

    return Rule(build, example, options)


RULES: dict[str, Rule] = {
    "widths": _of_list(
        "widths", Hierarchy.ranges, "widths = [5, 10]", "origin", *ENDS, EXACT, *UNIT
    ),
    "cuts": Rule(_cuts, "cuts = [18, 30, 65]", (*ENDS, *UNIT)),
    "prefixes": _of_list(
        "prefixes", Hierarchy.prefixes, "prefixes = [4, 3]", *("mask", "length", "pad", "replace")
    ),
    "suffixes": _of_list("suffixes", Hierarchy.suffixes, "suffixes = [4, 3]", "mask"),
    "redact": _of_list(
        "redact", Hierarchy.redact, 'redact = [2, 4], side = "left"', "side", "mask"
    ),
    "keep": Rule(
        _keep, 'keep = [["France", "Spain"], ["France"]], other = "other"', ("other", "missing")
    ),
    "suppress": Rule(_suppress, "suppress = true"),
    "calendar": _of_list(
        "calendar",
        Hierarchy.calendar,
        'calendar = ["month", "quarter", "year"]',
        *("zone", "format", *ENDS),
    ),
    "order": Rule(_order, 'order = ["S", "M", "L", "XL"]', ("widths", "cuts")),
    "census": Rule(_census, 'census = "zcta.csv"'),
    "file": Rule(_file, 'file = "education.csv"'),
}
"""Every rule by its name, in the order of messages."""


def rule_alone(hierarchy: Hierarchy) -> dict[str, object] | None:
    """The rule of a hierarchy as JSON has it, for :func:`of_rule`; None where it lists values.

    Numbers are texts, so that they stay exactly what they are.
    """
    if tuple(hierarchy.listed) or hierarchy.height > MOST_LEVELS:
        return None
    rule = {name: value for name, value in hierarchy.rule().items() if value != []}
    if hierarchy.ground is not None:
        rule[GROUND] = hierarchy.ground
    return {name: value for name, value in rule.items() if name != "origin" or "widths" in rule}


def of_rule(rule: Table) -> Hierarchy:
    """The hierarchy of a rule as JSON has it, which :func:`rule_alone` may give.

    InputError where it is none: a rule that lists values, or names a file, which is never read.
    """
    if listing := [name for name in LISTING if name in rule]:
        raise InputError(f"{listing[0]} is about listed values, and needs the study")
    hierarchy = hierarchy_of(
        {name: _numbers(value) if name in NUMERIC else value for name, value in rule.items()}
    )
    if hierarchy.height > MOST_LEVELS:
        raise InputError(f"a rule of more than {MOST_LEVELS} levels is not repeated")
    return hierarchy


def _numbers(given: object) -> object:
    """Numbers of a rule that are written as texts, whatever the depth of their lists."""
    if isinstance(given, list):
        return [*map(_numbers, given)]
    number = number_of(given) if isinstance(given, str) else None
    return given if number is None else number  # a unit of the calendar is none


def read_hierarchy(path: Path) -> Hierarchy:
    """Read a hierarchy file; a ``.toml`` file holds a rule, any other a table."""
    is_rule = path.suffix.lower() == ".toml"
    text = read_whole(path, STUDY if is_rule else HIERARCHY, "hierarchy ")
    if not text.strip():
        raise InputError(f"{path}: the hierarchy file is empty")
    return _rule(text, path) if is_rule else _table(text, path)


def _table(text: str, path: Path) -> Hierarchy:
    lines = [line for line in text.splitlines() if line.strip()]
    separator = separator_of(lines, SEPARATORS)
    columns = _plain_columns(text, separator)
    if columns is None:
        rows = _rows(text, separator, path)
        if not rows:
            raise InputError(f"{path}: the hierarchy file lists no values")
        begin = int(_has_header(rows[0], rows[1:], path.stem))
        return ListedHierarchy.by_rows(rows[begin:], str(path))
    ends = list(zip(columns[0], columns[-1], strict=True))
    begin = int(_has_header([column[0] for column in columns], ends[1:], path.stem))
    return ListedHierarchy.by_columns([column[begin:] for column in columns], str(path))


def _plain_columns(text: str, separator: str) -> list[list[str]] | None:
    """The columns of a CSV text as ``_rows`` has them; None where that takes more than to cut it.

    A fifth of the time, for millions of rows without quotes, gaps or blank lines.
    """
    text = text.replace("\r\n", "\n").removesuffix("\n")
    if '"' in text or "\r" in text:
        return None
    lines = text.split("\n")
    cuts = lines[0].count(separator)
    if {line.count(separator) for line in lines} != {cuts}:
        return None
    if max(map(len, lines)) > csv.field_size_limit():
        return None
    fields = list(map(str.strip, text.replace("\n", separator).split(separator)))
    columns = [fields[place :: cuts + 1] for place in range(cuts + 1)]
    return None if "" in columns[0] else columns


def _rows(text: str, separator: str, path: Path) -> list[list[str]]:
    """The rows of a CSV text, blank ones left out, blanks around fields stripped."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = [[field.strip() for field in row] for row in reader]
    except csv.Error:
        raise InputError(
            f"{path}: line {reader.line_num} is not CSV; is a quote left open?"
        ) from None
    return [row for row in rows if any(row)]


def _has_header(first: Sequence[str], others: Sequence[Sequence[str]], attribute: str) -> bool:
    """Tell whether the first row names columns, by its words, its top label, or its value."""
    if not others:
        return False
    known = {attribute.casefold().replace("-", ""), "value", "values", "level0"}
    if first[0].casefold().replace(" ", "").replace("-", "") in known:
        return True
    if len(first) > 1 and first[-1] != ANY and all(row[-1] == ANY for row in others):
        return True
    return number_of(first[0]) is None and all(number_of(row[0]) is not None for row in others)


def _rule(text: str, path: Path) -> Hierarchy:
    try:
        table = parsed_toml(text)
        if str(table.get("file", "")).lower().endswith(".toml"):
            raise InputError("a rule file may not refer to another one; file must be a CSV table")
        return hierarchy_of(table, path.parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except ValueError as error:
        raise InputError(f"{path}: not a TOML file: {error}") from None


def settled_as(
    hierarchies: Mapping[str, Hierarchy], rules: Mapping[str, Mapping[str, object]]
) -> dict[str, Hierarchy]:
    """Settle the hierarchies of a study that depend on a table as a release has them."""
    return {
        name: _settled_as(each, rules[name])
        if isinstance(each, QuantileHierarchy) and name in rules
        else each
        for name, each in hierarchies.items()
    }


def _settled_as(hierarchy: QuantileHierarchy, rule: Mapping[str, object]) -> Hierarchy:
    """The hierarchy over the cells of a release by its rule; itself where that is another."""
    try:
        found = of_rule(rule)
    except InputError:
        return hierarchy
    own = hierarchy.coarser.cuts
    if not isinstance(found, RangeHierarchy) or found.limits.ground is None:
        return hierarchy
    if found.cuts[-len(own) :] != own or len(found.cuts) > len(own) + 1:
        return hierarchy
    more = {*found.cuts[0]} - {*own[0]}
    if len(more) > hierarchy.quantiles:
        return hierarchy
    return replace(found, limits=hierarchy.limits, source=hierarchy.source)


MAKERS.update(
    {
        "keys": hierarchy_of,
        "file": read_hierarchy,
        "rows": ListedHierarchy.by_rows,
        "ranges": RangeHierarchy.exact,
        "prefixes": MaskHierarchy.of_prefixes,
        "mask": MaskHierarchy,
        "keep": KeepHierarchy.of_values,
        "calendar": CalendarHierarchy.of_units,
        "order": OrderHierarchy.of_values,
        "suppress": SuppressionHierarchy,
    }
)
