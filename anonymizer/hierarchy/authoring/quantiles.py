"""Ranges that are counted between quantiles: which cut points these are, a table says."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.hierarchy.authoring.building import LEAST, cuts_of
from anonymizer.hierarchy.hierarchy import Hierarchy, LevelLabel
from anonymizer.hierarchy.partition import Taxonomy
from anonymizer.hierarchy.rules.ranges import MOST_GROUND, RangeHierarchy
from anonymizer.tables.values import number_text

KEY = "quantiles"
"""What says how many cut points there are, at most."""


@dataclass(frozen=True, repr=False)
class QuantileHierarchy(Hierarchy):
    """Ranges between cut points, above cells of about equally many records of a table.

    ``coarser`` are the ranges, whose cut points no cell contains. There are at most ``quantiles``
    others, moved to round numbers, and so few that cells have 20 records on average. Until a table
    is known level 1 is that of the values.
    """

    coarser: RangeHierarchy = field()
    quantiles: int = field()

    @classmethod
    def of_ground(cls, coarser: RangeHierarchy, ground: Mapping[str, object]) -> "Hierarchy":
        """The hierarchy above the ground ``{quantiles = 256}``; InputError where it is another."""
        most = MOST_GROUND - len(coarser.cuts[0])
        number = ground.get(KEY)
        if {*ground} != {KEY} or not is_whole(number, least=1) or number > most:  # type: ignore[operator]
            raise InputError(
                f"ground = {shown(dict(ground))} must say how many quantiles there are, up to "
                f"{most:,}, such as ground = {{ {KEY} = {min(256, most)} }}"
            )
        return cls(coarser, int(number), limits=coarser.limits)  # type: ignore[call-overload]

    @property
    def follows_table(self) -> bool:
        return True

    @property
    def ordered(self) -> bool:
        return True

    @property
    def height(self) -> int:
        return self.coarser.height + 1

    def key(self, value: object) -> Hashable:
        return self.coarser.key(value)

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        return str(key) if level == 1 else self.coarser.label_at(level - 1, key)

    def ground_at(self, level: int) -> object:
        return {KEY: self.quantiles}

    def rule(self) -> dict[str, object]:
        return self.coarser.rule()

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> InputError:
        return self.coarser.refusal(attribute, strangers)

    def settled(self, values: Iterable[object], sizes: Iterable[int]) -> Hierarchy:
        """The hierarchy over the cells that the values of a column have, and their records."""
        records: Counter[str] = Counter()
        for value, size in zip(values, sizes, strict=True):
            key = self.key(value)
            if isinstance(key, Decimal):
                records[number_text(key)] += int(size)
        numbers, own = sorted(map(Decimal, records)), self.coarser.cuts[0]
        taken = {bisect_left(numbers, cut) for cut in own}  # a cut there divides the same values
        found = _points(records, self.quantiles)
        points = {*own, *(cut for cut in found if bisect_left(numbers, cut) not in taken)}
        return replace(self.coarser.grounded(sorted(points)), limits=self.limits)

    def settled_as(self, rule: Mapping[str, object]) -> Hierarchy:
        """The hierarchy over the cells of a release by its rule; itself where that is another."""
        from anonymizer.hierarchy.inline import of_rule

        try:
            found = of_rule(rule)
        except InputError:
            return self
        own = self.coarser.cuts
        fits = isinstance(found, RangeHierarchy) and found.limits.ground is not None
        if not fits or found.cuts[-len(own) :] != own:  # type: ignore[attr-defined]
            return self
        more = {*found.cuts[0]} - {*own[0]}  # type: ignore[attr-defined]
        few = len(more) <= self.quantiles and len(found.cuts) <= len(own) + 1  # type: ignore[attr-defined]
        return replace(found, limits=self.limits, source=self.source) if few else self

    def over(
        self, attribute: str, values: Iterable[object], sizes: Iterable[int] | None = None
    ) -> Taxonomy:
        values = list(values)
        sizes = [1] * len(values) if sizes is None else list(sizes)
        return self.settled(values, sizes).over(attribute, values, sizes)


def _points(records: Mapping[str, int], quantiles: int) -> list[Decimal]:
    """Quantiles of a column at round numbers; none where too few records, or values, are there."""
    ranges = min(quantiles + 1, sum(records.values()) // LEAST)
    if ranges < 2 or len(records) < 2:
        return []
    try:
        return cuts_of(records, [ranges])["cuts"][0]  # type: ignore[index, no-any-return]
    except InputError:  # nearly all records have one value
        return []


def settled_as(
    hierarchies: Mapping[str, Hierarchy], rules: Mapping[str, Mapping[str, object]]
) -> dict[str, Hierarchy]:
    """Settle the hierarchies of a study that depend on a table as a release has them."""
    return {
        name: each.settled_as(rules[name])
        if isinstance(each, QuantileHierarchy) and name in rules
        else each
        for name, each in hierarchies.items()
    }
