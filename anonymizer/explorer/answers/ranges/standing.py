"""What the recoding of an outcome is as hierarchies and levels, from which a person goes on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.answers.ranges.axis import cuts_of
from anonymizer.hierarchy import Hierarchy, Partition, Taxonomy
from anonymizer.hierarchy.order import OrderHierarchy
from anonymizer.hierarchy.ranges import MOST_GROUND, RangeHierarchy
from anonymizer.hierarchy.reading import ENDS, UNIT
from anonymizer.recoding.levels import Fixed
from anonymizer.release.study import Study

Rule = object
"""A hierarchy as a study writes it: a table of keys, a path, or ``"suppress"``."""

MOST_CUTS = 100
"""Cut points that a hand can hold apart on a ruler."""


@dataclass(frozen=True)
class Standing:
    """The attributes other than one as they are released: levels, and rules of ranges found.

    ``words`` say what became of which where that is not just its level.
    """

    levels: Mapping[str, int]
    rules: Mapping[str, Rule] = field(default_factory=dict)
    words: tuple[str, ...] = ()


def standing_of(outcome: StudyOutcome, attribute: str) -> Standing:
    """The other attributes as an outcome releases them.

    One at a level stays there. Ranges that were found become its hierarchy, and it is released at
    them. Other groups give way to the finest level that merges them whole, so that no class gets
    smaller; so do groups that differ from class to class, to the highest level.
    """
    if outcome.task is None:
        return Standing({})
    partitions: Mapping[str, Partition] = {}
    at: Mapping[str, int] = {}
    if outcome.plan is not None:
        at = outcome.plan.levels
        partitions = {} if not isinstance(outcome.plan.recoding, Mapping) else outcome.plan.recoding
    levels: dict[str, int] = {}
    rules: dict[str, Rule] = {}
    words: list[str] = []
    for name, taxonomy in outcome.task.counted.taxonomies.items():
        if name == attribute:
            continue
        levels[name] = at.get(name, taxonomy.coarsest)
        if name in at or name not in partitions:
            continue
        cuts = cuts_of(partitions[name], taxonomy)
        if cuts and why_not(taxonomy) is None:
            rules[name], levels[name] = rule_of(taxonomy, cuts)
            words.append(f"{name} got the ranges that were found")
        else:
            levels[name] = _above(partitions[name], taxonomy)
            words.append(f"{name} went to level {levels[name]}")
    if not partitions and outcome.plan is not None:
        words.append("the others went to their highest levels")
    return Standing(levels, rules, tuple(words))


def standing_in(study: Study, attribute: str) -> Standing | None:
    """The same of a study that says the levels itself; None of one that searches them."""
    if not isinstance(study.recoding, Fixed):
        return None
    return Standing({n: level for n, level in study.recoding.levels.items() if n != attribute})


def _above(partition: Partition, taxonomy: Taxonomy) -> int:
    """The finest level that a release may use whose groups are those of a partition, merged."""
    levels = range(taxonomy.finest, taxonomy.coarsest + 1)
    return next(
        (level for level in levels if partition.split_by(taxonomy.levels[level]) is None),
        taxonomy.coarsest,
    )


def why_not(taxonomy: Taxonomy) -> str | None:
    """Why no cuts of an attribute can be written into a study; None where they can."""
    if taxonomy.numbers is None:
        return "its values are no numbers and have no order"
    if taxonomy.scale.numeric or isinstance(taxonomy.hierarchy, OrderHierarchy):
        return None
    return (
        "its values are dates. A study writes dates in units of the calendar, such as months, and "
        "has no cuts of them; change the units in Hierarchies, or let Best of all find ranges"
    )


def rule_of(
    taxonomy: Taxonomy, cuts: Sequence[Decimal], given: Rule = None
) -> tuple[dict[str, object], int]:
    """The hierarchy of some cuts, at least one, as a study writes it, and the level of the ranges.

    A grid and ends stay as ``given``, and so does what the values are counted at, as far as that is
    ranges.
    """
    rule: dict[str, object]
    if isinstance(taxonomy.hierarchy, OrderHierarchy):
        values = taxonomy.hierarchy.values
        rule = {"order": [*values], "cuts": [values[int(cut)] for cut in cuts]}
    else:
        rule = {"cuts": [*map(_written, cuts)]}
        if ground := _ground(taxonomy, cuts):
            rule = {"cuts": [rule["cuts"]], "ground": ground}
    if isinstance(given, Mapping):
        rule |= {name: given[name] for name in ("grid", *ENDS, *UNIT) if name in given}
    return rule, Hierarchy.of(rule).height - 1


def _ground(taxonomy: Taxonomy, cuts: Sequence[Decimal]) -> list[int | float]:
    """Where the cells begin that values are counted in, if they are, and cuts between them."""
    if taxonomy.limits.ground is None or not isinstance(taxonomy.hierarchy, RangeHierarchy):
        return []
    begins = cuts_of(taxonomy.levels[taxonomy.limits.ground], taxonomy) or ()
    known = sorted({*begins, *cuts})
    return [*map(_written, known)] if len(known) <= MOST_GROUND else []


def _written(number: Decimal) -> int | float:
    """A number as TOML has it, exactly: cut points are numbers that a float holds."""
    return int(number) if number == number.to_integral_value() else float(number)


def held_at(rule: Rule, level: int) -> dict[str, object]:
    """A hierarchy confined to one level."""
    table: dict[str, object]
    if isinstance(rule, Mapping):
        table = dict(rule)
    else:
        table = {"suppress": True} if rule == "suppress" else {"file": rule}
    return {**table, "min-level": level, "max-level": level}


def cuts_now(study: Study, outcome: StudyOutcome, attribute: str) -> tuple[Decimal, ...] | None:
    """The cuts that an attribute is released with; None where it has no ranges.

    A study that says them says them exactly; else they are what the outcome found.
    """
    written = cuts_in(study, attribute)
    if written is not None:
        return written
    if outcome.plan is None or outcome.task is None:
        return held_in(study, attribute)
    try:
        partition = outcome.plan.partitions[attribute]
    except (TypeError, KeyError):  # classes with groups of their own
        return None
    return cuts_of(partition, outcome.task.counted.taxonomies[attribute])


def held_in(study: Study, attribute: str) -> tuple[Decimal, ...]:
    """The cuts that every recoding of a study has: those of the highest level it may use."""
    hierarchy = study.hierarchies.get(attribute)
    if not isinstance(hierarchy, RangeHierarchy | OrderHierarchy) or not hierarchy.cuts:
        return ()
    most = hierarchy.limits.max_level
    if not most or most > len(hierarchy.cuts):
        return ()
    return tuple(map(hierarchy.cut_point, hierarchy.cuts[most - 1]))


def found_said(outcome: StudyOutcome, study: Study, attribute: str) -> str:
    """Whether the recoding that was searched for is the best one; empty where none was."""
    if isinstance(study.recoding, Fixed):
        return ""
    if outcome.unreachable and held_in(study, attribute):
        return (
            "No recoding with the cuts that are held, and levels if you hold those, satisfies the "
            "policy; further cuts cannot mend that. Move or remove a held cut, or undo."
        )
    if outcome.plan is None:
        return ""
    if outcome.plan.search.proven:
        return f"Proven: within what the study allows, no other recoding {outcome.aim}."
    return f"Not proven: there may be another recoding that {outcome.aim}."


def cuts_in(study: Study, attribute: str) -> tuple[Decimal, ...] | None:
    """The cuts of the level at which a study releases an attribute, where it says both."""
    hierarchy = study.hierarchies.get(attribute)
    if not isinstance(study.recoding, Fixed) or hierarchy is None:
        return None
    level = study.recoding.levels.get(attribute)
    if level == hierarchy.height:
        return ()
    if not isinstance(hierarchy, RangeHierarchy | OrderHierarchy) or not level:
        return None
    if level > len(hierarchy.cuts):
        return None
    return tuple(map(hierarchy.cut_point, hierarchy.cuts[level - 1]))
