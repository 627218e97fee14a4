"""Labels that spell out what they stand for, held against what a manifest lists for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anonymizer.feedback.words import plural
from anonymizer.hierarchy.cuts import MARKED, members_of, quoted
from anonymizer.release.verification.check import Facts, FieldCheck, required
from anonymizer.release.verification.labels import RawGroup


def sets(facts: Facts) -> Iterator[FieldCheck]:
    """A label such as ``{nurse, vet}`` stands for just these values, or groups of a hierarchy.

    A label of a hierarchy may read alike: it is one where it has a level, or names nothing that is
    listed anywhere in its column.
    """
    for name, groups in facts.manifest["recoding"].items():
        known = {*_values(groups)}
        at_level = name in facts.manifest["levels"]
        wrong = sum(not _spells(group, known) for group in groups if not at_level)
        words = f"lists other values for {plural(wrong, 'label')}"
        yield required(f"recoding.{name}.values", not wrong, "", words)


def own_label(group: RawGroup) -> str | None:
    """The label of a group without an apostrophe and marks that tell it apart from others."""
    label: str | None = group.get("group", group["label"])
    return None if label is None else MARKED.sub("", label)


def _values(groups: Sequence[RawGroup]) -> Iterator[str | None]:
    for group in groups:
        yield from group.get("values") or ()
        yield from (each["label"] for each in group.get("members") or ())


def _spells(group: Mapping[str, Any], known: set[str | None]) -> bool:
    """Whether a label spells out the values or groups that are listed for it, if it spells any."""
    label = own_label(group)
    if "members" in group:
        return label == _spelled([each["label"] for each in group["members"]])
    items = None if label is None or "level" in group else members_of(label)
    if items is None or {"except", "masked", "listed"} & {*group}:
        return True
    if "values" in group and known.isdisjoint(items):
        return True  # of a hierarchy
    return label == _spelled(group.get("values") or [None])


def _spelled(texts: Sequence[str | None]) -> str | None:
    """What some values, or the labels of some groups, go by together."""
    return texts[0] if len(texts) == 1 else "{" + ", ".join(map(quoted, texts)) + "}"
