"""What becomes of a study when cut points of an attribute are moved, or the best ones are found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from anonymizer.explorer.answers.ranges.standing import Standing, held_at, rule_of
from anonymizer.explorer.session.contents import (
    Content,
    with_levels,
    with_refinement,
    with_rules,
    without_limits,
)
from anonymizer.hierarchy import Taxonomy


@dataclass(frozen=True)
class Cutting:
    """Changes of a study about the ranges of one attribute; the others are as they stand."""

    taxonomy: Taxonomy
    standing: Standing

    @property
    def attribute(self) -> str:
        """The attribute that is cut."""
        return self.taxonomy.attribute

    def at(self, content: Content, cuts: Sequence[Decimal]) -> Content:
        """The attribute released with cuts, ``*`` without any; the others at their levels."""
        given = content["quasi-identifiers"][self.attribute]
        rule, level = without_limits(given), self.taxonomy.height
        if cuts:
            rule, level = rule_of(self.taxonomy, cuts, given)
        rules = {**self.standing.rules, self.attribute: rule}
        levels = {**self.standing.levels, self.attribute: level}
        return with_levels(with_rules(content, rules), levels)

    def best(self, content: Content, held: Sequence[Decimal], others: bool) -> Content:
        """The best ranges that begin at the ``held`` cuts, among others.

        ``others``: whether the other attributes stay at their levels; else these are searched.
        """
        given = without_limits(content["quasi-identifiers"][self.attribute])
        if held:
            rule, level = rule_of(self.taxonomy, held, given)
            given = {**rule, "max-level": level}  # so that every range lies between held cuts
        rules: dict[str, object] = {self.attribute: given}
        if others:
            rules |= self._confined(content["quasi-identifiers"])
        return with_refinement(with_rules(content, rules), self.attribute)

    def _confined(self, known: Mapping[str, object]) -> dict[str, object]:
        """The other attributes, each with the level alone that it has."""
        return {
            name: held_at(self.standing.rules.get(name, known[name]), level)
            for name, level in self.standing.levels.items()
        }


def step_words(attribute: str, old: str, new: str) -> str:
    """What happened to a cut, in the words of a step; a ``?`` stands for a number not to be shown.

    >>> step_words("age", "35", "36"), step_words("age", "", "?")
    ('cut of age at 35 moved to 36', 'cut of age added')
    """
    before, after = (f" at {each}" if each != "?" else "" for each in (old, new))
    if not old:
        return f"cut of {attribute}{after} added"
    if not new:
        return f"cut of {attribute}{before} removed"
    return f"cut of {attribute}{before} moved{f' to {new}' if after else ''}"
