"""Labels that spell out what they stand for, held against what a manifest lists for them."""

from collections.abc import Iterator, Sequence

from anonymizer.feedback.words import plural
from anonymizer.hierarchy.partition import MARKED, joint_label, members_of
from anonymizer.release.manifest.groups import Group
from anonymizer.release.verification.check import Facts, FieldCheck, required


def sets(facts: Facts) -> Iterator[FieldCheck]:
    """A label such as ``{nurse, vet}`` stands for just these values, or groups of a hierarchy.

    A label of a hierarchy may read alike: it is one where it has a level, or names nothing that is
    listed anywhere in its column.
    """
    for name, groups in facts.recoding.items():
        known = {*_values(groups)}
        at_level = name in facts.manifest["levels"]
        wrong = sum(not _spells(group, known) for group in groups if not at_level)
        words = f"lists other values for {plural(wrong, 'label')}"
        yield required(f"recoding.{name}.values", not wrong, "", words)


def _values(groups: Sequence[Group]) -> Iterator[str | None]:
    for group in groups:
        yield from group.values or ()
        yield from (each.label for each in group.members or ())


def _spells(group: Group, known: set[str | None]) -> bool:
    """Whether a label spells out the values or groups that are listed for it, if it spells any."""
    label = group.own and MARKED.sub("", group.own)
    if group.members is not None:
        return label == joint_label([each.label for each in group.members])
    items = None if label is None or group.level is not None else members_of(label)
    given = (group.excluded, group.masked, group.listed)
    if items is None or any(each is not None for each in given):
        return True
    if group.values is not None and known.isdisjoint(items):
        return True  # of a hierarchy
    return label == joint_label(group.values or [None])
