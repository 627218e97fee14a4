"""Changes of a study: each takes its content, and gives that of the study after it.

Contents are sections, keys and values as TOML has them. What is given may be changed.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from anonymizer.release.document import PINNED

Content = dict[str, Any]
Role = Literal["quasi-identifier", "sensitive", "identifier", "person", "insensitive"]

LISTED: Mapping[str, str] = {
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "insensitive": "insensitive",
}
"""The section that lists the columns of a role."""

PERSON = "person"
"""The role, and the key of ``[data]``, of the columns that tell whose each record is."""


def roles_of(content: Content) -> dict[str, Role]:
    """The role of each column that has one, the quasi-identifiers first.

    >>> roles_of({"quasi-identifiers": {"age": "suppress"}, "sensitive": {"attributes": ["job"]}})
    {'age': 'quasi-identifier', 'job': 'sensitive'}
    """
    found: dict[str, Role] = dict.fromkeys(content["quasi-identifiers"], "quasi-identifier")
    named: tuple[Role, ...] = ("sensitive", "identifier", "person")
    for role in named:
        found |= dict.fromkeys(attributes_of(content, role), role)
    for column in _withheld(content):  # left out as identifiers are
        found.setdefault(column, "identifier")
    return found


def _withheld(content: Content) -> list[str]:
    """The columns of sampling weights and of households."""
    data = content.get("data", {})
    home = data.get("household", [])
    weight = [data["weight"]] if "weight" in data else []
    return [*weight, *([home] if isinstance(home, str) else home)]


def attributes_of(content: Content, role: str) -> list[str]:
    """The columns that a section lists, which may be written as one text."""
    section, key = ("data", PERSON) if role == PERSON else (LISTED[role], "attributes")
    given = content.get(section, {}).get(key, [])
    return [given] if isinstance(given, str) else [*given]


def with_role(content: Content, column: str, role: Role, rule: object = "suppress") -> Content:
    """Another role of a column; as a quasi-identifier it generalizes by a rule."""
    content["quasi-identifiers"].pop(column, None)
    others = [name for name in attributes_of(content, PERSON) if name != column]
    persons = [*others, column] if role == PERSON else others
    if persons != attributes_of(content, PERSON):
        data = {key: given for key, given in content["data"].items() if key != PERSON}
        content["data"] = {**data, PERSON: persons} if persons else data
    if role != "identifier" and column in _withheld(content):
        content["data"] = _without(content["data"], column)
    for each, section in LISTED.items():
        names = [name for name in attributes_of(content, each) if name != column]
        names += [column] if each == role and _lists(content, role) else []
        if names or section in content:
            content[section] = {"attributes": names}
    if role == "quasi-identifier":
        content["quasi-identifiers"][column] = rule
    return _fitting(content)


def _without(data: Mapping[str, Any], column: str) -> dict[str, Any]:
    """The section ``[data]`` in which a column is neither of weights nor of households."""
    found = {key: given for key, given in data.items() if key not in ("weight", "household")}
    if data.get("weight", column) != column:
        found["weight"] = data["weight"]
    homes = [name for name in _withheld({"data": data}) if name not in (column, data.get("weight"))]
    return {**found, "household": homes} if homes else found


def _lists(content: Content, role: Role) -> bool:
    """Whether a study lists the columns of a role: insensitive ones where columns are pinned."""
    return role != "insensitive" or content.get("data", {}).get("columns") == PINNED


def with_rule(content: Content, column: str, rule: object) -> Content:
    """Another hierarchy of a quasi-identifier."""
    content["quasi-identifiers"][column] = rule
    return content


def with_parameter(content: Content, place: int, parameter: str, value: object) -> Content:
    """Another parameter of a model of the policy, by its place."""
    content["privacy"][place][parameter] = value
    return content


def with_model(content: Content, name: str, parameters: Mapping[str, object]) -> Content:
    """One model more in the policy."""
    content["privacy"] = [*content["privacy"], {"model": name, **parameters}]
    return content


def without_model(content: Content, place: int) -> Content:
    """One model less in the policy."""
    content["privacy"] = [each for number, each in enumerate(content["privacy"]) if number != place]
    return content


def with_threshold(
    content: Content,
    place: int,
    parameter: str,
    value: object,
    attribute: str,
) -> Content:
    """Another parameter of a model about one attribute: a model about several is split first.

    >>> study = {"sensitive": {"attributes": ["a", "b"]}, "privacy": [{"model": "l", "l": 2}]}
    >>> with_threshold(study, 0, "l", 3, "b")["privacy"]
    [{'model': 'l', 'l': 2, 'attribute': 'a'}, {'model': 'l', 'l': 3, 'attribute': 'b'}]
    """
    given = content["privacy"][place]
    names = attributes_of(content, "sensitive")
    if "attribute" in given or len(names) < 2:
        content["privacy"][place] = {**given, parameter: value}
        return content
    others = [{**given, "attribute": name} for name in names if name != attribute]
    own = {**given, "attribute": attribute, parameter: value}
    content["privacy"][place : place + 1] = [*others, own]
    return content


def method_of(content: Content) -> str:
    """The method of a study's recoding.

    >>> method_of({"recoding": "boxes"}), method_of({})
    ('boxes', 'full-domain')
    """
    given = content.get("recoding", {})
    return str(given if isinstance(given, str) else given.get("method", "full-domain"))


def options_of(content: Content) -> dict[str, Any]:
    """The options of a study's recoding, without its method."""
    given = content.get("recoding", {})
    if isinstance(given, str):
        return {}
    return {key: value for key, value in given.items() if key != "method"}


def with_recoding(content: Content, method: str, options: Mapping[str, object]) -> Content:
    """Another recoding; a strategy for searching the old one is left out."""
    if method != method_of(content):
        content.get("search", {}).pop("strategy", None)
    content["recoding"] = {"method": method, **options}
    return content


def with_levels(content: Content, levels: Mapping[str, int]) -> Content:
    """The quasi-identifiers released at given levels; what may be suppressed stays."""
    kept = {key: value for key, value in options_of(content).items() if key in SUPPRESSING}
    content.get("search", {}).pop("time-limit", None)
    return with_recoding(content, "fixed", {"levels": dict(levels), **kept})


def with_rules(content: Content, rules: Mapping[str, object]) -> Content:
    """Other hierarchies of some quasi-identifiers."""
    for name, rule in rules.items():
        content = with_rule(content, name, rule)
    return content


def with_refinement(content: Content, attribute: str) -> Content:
    """The best ranges of an attribute; ranges of others, and what confines ranges, stay."""
    refines = method_of(content) == "variable-range"
    options = options_of(content) if refines else {}
    named = [*_listed(options.get("refine", [])), attribute]
    if "refine" in options or not refines:
        options["refine"] = [*dict.fromkeys(named)]
    return with_recoding(content, "variable-range", options)


def without_limits(rule: object) -> object:
    """A hierarchy of which every level may be used."""
    if not isinstance(rule, Mapping):
        return rule
    return {key: value for key, value in rule.items() if key not in ("min-level", "max-level")}


def with_suppression(content: Content, share: float) -> Content:
    """Another share of the records that may be suppressed."""
    options = options_of(content)
    if share:
        options["suppression"] = share
    else:
        options = {key: value for key, value in options.items() if key not in SUPPRESSING}
    return with_recoding(content, method_of(content), options)


def with_trigger(content: Content, trigger: str) -> Content:
    """Another rule of which classes may be suppressed."""
    options = {**options_of(content), "suppress": trigger}
    return with_recoding(content, method_of(content), options)


SUPPRESSING = ("suppression", "remove", "suppress")
"""Options that say what may be suppressed."""


def _fitting(content: Content) -> Content:
    """A recoding that names no columns which are no quasi-identifiers any more."""
    known = content["quasi-identifiers"]
    options = options_of(content)
    for key in ("refine", "group"):
        if key in options:
            options[key] = [name for name in _listed(options[key]) if name in known]
    levels = options.get("levels")
    if isinstance(levels, dict) and {*levels} != {*known}:
        return with_recoding(content, "full-domain", {})  # levels of others say nothing of these
    if "recoding" in content:
        content["recoding"] = {"method": method_of(content), **options}
    return content


def _listed(given: object) -> Iterator[str]:
    yield from [given] if isinstance(given, str) else given  # type: ignore[misc]
