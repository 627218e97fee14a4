"""Texts of studies that were changed: comments, and the order of lines, stay as they were."""

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import tomlkit
from tomlkit.items import AoT, InlineTable, Item, Table

Content = Mapping[str, Any]
"""A study as TOML has it: sections, keys and values."""


def merged(text: str, content: Content) -> str:
    r"""The text with other values: what is the same in both is left as it was written.

    >>> print(merged("[search]  # why\nseed = 1\n", {"search": {"seed": 2}}), end="")
    [search]  # why
    seed = 2
    """
    document = tomlkit.parse(text)
    _fill(document, content, top=True)
    return tomlkit.dumps(document)


def _fill(table: MutableMapping[str, Any], content: Content, top: bool = False) -> None:
    for key in [key for key in table if key not in content]:
        del table[key]
    for key, value in content.items():
        there = table.get(key)
        if there is not None and same(_plain(there), value):
            continue
        if (
            isinstance(value, Mapping)
            and isinstance(there, MutableMapping)
            and _lasts(there, value)
        ):
            _fill(there, value)
        elif isinstance(there, AoT) and _lists_sections(value) and len(there) == len(value):
            for each, given in zip(there, value, strict=True):
                _fill(each, given)
        else:
            table[key] = _item(value, top)


def _lasts(there: MutableMapping[str, Any], value: Content) -> bool:
    """Whether a section is still written once it has a value: not if only its parts had lines."""
    headless = isinstance(there, Table) and there.is_super_table()
    return bool(value) or not headless


def same(one: object, other: object) -> bool:
    """Whether two values are the same for TOML, in which 1, 1.0 and true differ.

    >>> same([1, {"a": "b"}], [1, {"a": "b"}]), same([1], [True])
    (True, False)
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and repr(one) == repr(other)  # of 0.0 and -0.0, too


def _plain(item: object) -> object:
    return item.unwrap() if hasattr(item, "unwrap") else item


def _item(value: Any, top: bool) -> Item:
    """A value as it is written: sections in lines of their own, anything below them in one line."""
    if isinstance(value, Mapping):
        return _section(value) if top else _inline(value)
    if top and _lists_sections(value):
        return _sections(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        found = tomlkit.array()
        found.extend(_item(each, False) for each in value)
        return found
    written: Item = tomlkit.item(value)
    return written


def _lists_sections(value: object) -> bool:
    """Whether a value is written as sections of one name."""
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return is_list and bool(value) and all(isinstance(each, Mapping) for each in value)  # type: ignore[attr-defined]


def _section(content: Content) -> Item:
    table = tomlkit.table()
    for key, value in content.items():
        table[key] = _item(value, False)
    return table


def _sections(contents: Sequence[Content]) -> AoT:
    found = tomlkit.aot()
    for each in contents:
        found.append(_section(each))
    return found


def _inline(content: Content) -> InlineTable:
    table = tomlkit.inline_table()
    for key, value in content.items():
        table[key] = _item(value, False)
    return table
