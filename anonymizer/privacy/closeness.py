"""t-closeness: the distance of a class's sensitive values from those of the table; its mean.

All distances but the divergence are earth mover's distances: the least work that turns one
distribution into the other, moving a share from one value to another costing the distance between
the two. On a line and on a tree that is a sum over cuts of what has to cross them: of runs S of the
values in a suitable order, sum_S weight_S |p(S|g) - p(S)|.

- equal: every two values lie 1 apart; S is each value, with weight 1/2 (the total variation).
- ordered: two values lie as many places apart as in their order, of m - 1 at the most; S is the
  first 1, 2, ... of them, with weight 1 / (m - 1).
- hierarchical: two values lie as far apart as the level of their first common group, of h levels.
  The path up to it and down again has twice that length, so S is every group of the levels
  0, ..., h - 1 with weight 1 / 2h. Groups are runs once the values are sorted by them.

Of sparse histograms the sums take time that grows with the pairs that occur: the share of a run
changes only where the class has a value, and whole stretches between its values are summed at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.counts.persons import of_column
from anonymizer.errors import InputError, digest_of
from anonymizer.hierarchy import Hierarchy, Taxonomy
from anonymizer.information.entropy import divergence
from anonymizer.information.matrices import is_sparse, rows_of
from anonymizer.kernels import Bound, Kind, Sums
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.privacy.base import (
    NotNegative,
    PrivacyModel,
    SensitiveModel,
    Wording,
    one_of,
    reads_sparse,
)
from anonymizer.privacy.beliefs import kept_by
from anonymizer.tables.values import is_missing, number_of, text_of

DISTANCES = {
    "kl": "bits learnt beyond the table (divergence)",
    "equal": "share of people whose value would have to change",
    "ordered": "how far values would have to move in their order",
    "hierarchical": "how far values would have to move in their hierarchy",
}
"""The distances, in words."""

APART = {
    "equal": "of the people is the least that would have to change their value for the two to be "
    "alike",
    "ordered": "of the way from one end of their order to the other is the least that values "
    "would have to move on average for the two to be alike",
    "hierarchical": "of the height of their hierarchy is the least that values would have to move "
    "on average for the two to be alike",
}
"""What the earth mover's distances are shares of."""

TRANSPORTED = {
    distance: Wording(
        "The values of “{attribute}” in a person's class differ from those of the whole table by "
        f"at most {{t:share}}: that share {apart}.",
        "The class that differs most does so by {worst:share}.",
        "Single values of “{attribute}”: A rare one may become many times likelier in a class, "
        "or be ruled out; t-closeness bounds the difference of all of them together.",
    )
    for distance, apart in APART.items()
}
"""The sentences of t-closeness by earth mover's distances."""


@dataclass(frozen=True)
class TCloseness(SensitiveModel):
    """Seeing the class moves the distribution of W by at most t.

    Thresholds under different distances do not compare, so the distance is always given.
    Li, Li, Venkatasubramanian (2007); with the divergence Bezzi (2010), Eq. 7 and 8.

    Parameters
    ----------
    t
        The distance: in bits under ``"kl"``, otherwise from 0 to 1.
    distance
        ``"kl"``: the divergence I1(W, g) = D(p(w|g) || p(w)). ``"equal"``, ``"ordered"`` and
        ``"hierarchical"``: the earth mover's distance, see above.
    order
        For ``"ordered"``: all sensitive values from one end to the other. When left out they have
        to be numbers.
    hierarchy
        For ``"hierarchical"``: a hierarchy of the sensitive values.
    """

    name = "t-closeness"
    condition = "distance of p(w\\|g) from p(w) <= t"
    unit = "bits (kl), 0 to 1 (others)"
    source = "Li et al. 2007; Bezzi 2010 (kl)"
    bounded_by = "t"
    required = ("distance",)
    wording = Wording(
        "Nobody who finds a person's class learns more than {t:bits} about “{attribute}” beyond "
        "what the whole table shows of everybody.",
        "The class that gives most away gives {worst:bits}.",
        "Single values of “{attribute}”: A rare one may become many times likelier in a class, "
        "or be ruled out; t-closeness bounds the difference of all of them together.",
    )
    start = {"distance": "kl", "t": 0.5}

    t: NotNegative
    distance: Annotated[str, one_of(DISTANCES)] = ""
    order: Sequence[str] | None = None
    hierarchy: Hierarchy | str | Path | None = None

    def __post_init__(self) -> None:
        if self.distance == "":
            raise InputError(
                f"{self.name}: t says nothing without the distance that it bounds; give distance = "
                '"kl" (t in bits), "equal", "ordered" or "hierarchical" (t from 0 to 1)'
            )
        super().__post_init__()
        if isinstance(self.attribute, tuple) and self.distance not in ("kl", "equal"):
            raise InputError(
                f"{self.name}: distance {self.distance!r} is of single values, and combinations of "
                f'{of_column(self.attribute)} have no order; choose distance = "kl" or "equal"'
            )
        self._require_for("order", "ordered", self.order)
        self._require_for("hierarchy", "hierarchical", self.hierarchy)
        if self.order is not None:
            listed = isinstance(self.order, Sequence) and not isinstance(self.order, str)
            texts = tuple(text_of(value) for value in self.order) if listed else ()
            if len(set(texts)) < len(texts) or len(texts) < 2:
                raise InputError(f"{self.name}: order must list two or more values, each once")
            object.__setattr__(self, "order", texts)
        if self.distance == "hierarchical":
            if self.hierarchy is None:
                raise InputError(
                    f"{self.name}: distance 'hierarchical' needs a hierarchy of the sensitive "
                    "values; give hierarchy"
                )
            # Read once: every class is measured with it.
            hierarchy = Hierarchy.of(self.hierarchy)
            if hierarchy.ground is not None:
                raise InputError(
                    f"{self.name}: a ground is for quasi-identifiers, not for the hierarchy of "
                    "sensitive values; leave it out"
                )
            object.__setattr__(self, "hierarchy", hierarchy)

    @property
    def threshold_unit(self) -> str:
        return "bits" if self.distance == "kl" else "share"

    @property
    def void(self) -> bool:
        return self.distance != "kl" and self.t >= 1

    @classmethod
    def wording_of(cls, parameters: Mapping[str, Any]) -> Wording | None:
        """The sentences of a distance."""
        return TRANSPORTED.get(str(parameters.get("distance")), cls.wording)

    @property
    def parameters(self) -> dict[str, object]:
        """Parameters as given, a hierarchy by its digest, as it may list values of nobody."""
        given = super().parameters
        if "hierarchy" in given:
            given["hierarchy"] = digest_of(given["hierarchy"])
        return given

    def _require_for(self, parameter: str, distance: str, value: object) -> None:
        if value is not None and self.distance != distance:
            raise InputError(
                f"{self.name}: {parameter} is for distance {distance!r}, not {self.distance!r}"
            )

    @property
    def value_monotone(self) -> bool:  # type: ignore[override]
        """Whether merging values brings distributions closer: not where it shortens an order."""
        return self.distance in ("kl", "equal")

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        if self.distance == "kl":
            return divergence(classes.joint, classes.margin)
        sums = self._sums(classes)
        if is_sparse(classes.joint):
            return transported(classes.joint, classes.sizes, sums)
        ordered = np.cumsum(classes.joint[:, sums.order], axis=1)
        before = np.pad(ordered, ((0, 0), (1, 0)))
        inside = before[:, sums.ends] - before[:, sums.begins]
        shares = inside / np.maximum(classes.sizes, 1)[:, None]
        return np.asarray((np.abs(shares - sums.masses) * sums.weights).sum(axis=1))

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        if self.distance == "kl":
            prior = table.prior
            logs = np.log2(prior, out=np.zeros_like(prior), where=prior > 0)
            return (Bound(Kind.DIVERGENCE, self.limit, upper=logs),)
        return (Bound(Kind.TRANSPORT, self.limit, sums=self._sums(table)),)

    def without_odds(self, table: Classes) -> PrivacyModel | None:
        """(t - (1 - a) D) / a, D being the largest distance of a single value, or 0."""
        kept, plain = kept_by(self.odds or 1.0), replace(self, odds=None)
        alone = replace(table, joint=np.eye(len(table.margin), dtype=np.int64)[table.margin > 0])
        apart = float(plain.measure(alone).max())
        return replace(plain, t=max((self.t - (1 - kept) * apart) / kept, 0.0))

    def ceiling(self, margin: Ints) -> float:
        """t, the mean of I1 being I(X~;W) (Eq. 13); other distances bound no information."""
        return float(self.t) if self.distance == "kl" else super().ceiling(margin)

    def require_possible(self, table: Classes, attribute: str) -> None:
        """Require that the values have the order or hierarchy that the distance is about."""
        self.bounds(table)

    def _sums(self, table: Classes) -> Sums:
        """The runs of values whose shares make the distance."""
        if self.distance == "equal":
            places = np.arange(len(table.prior))
            return Sums(places, places, places + 1, table.prior, np.full(len(places), 0.5))
        if self.distance == "ordered":
            return _prefixes(table, *self._ranks(table))
        return _groups(table, self._taxonomy(table))

    def _ranks(self, table: Classes) -> tuple[list[int], int]:
        """The place of each value in the order, and how many there are: of numbers those in use."""
        about = f"{self.name}: distance 'ordered' about {table.attribute!r}"
        if self.order is not None:
            place = {text: rank for rank, text in enumerate(self.order)}
            ranks = [-1 if is_missing(v) else place.get(text_of(v), -1) for v in table.values]
            if -1 in ranks:
                lacking = f"{ranks.count(-1)} of the {len(ranks)} values"
                raise InputError(f"{about}: order lacks {lacking} of the column; add them")
            return ranks, len(place)
        numbers = [number for value in table.values if (number := number_of(value)) is not None]
        if len(numbers) < len(table.values):
            raise InputError(f"{about}: not all of its values are numbers; give their order")
        present = {number for number, n in zip(numbers, table.margin, strict=True) if n}
        spot = {number: rank for rank, number in enumerate(sorted(present))}
        return [spot.get(number, 0) for number in numbers], len(spot)

    def _taxonomy(self, table: Classes) -> Taxonomy:
        """The hierarchy over the values; kept, as every node of a search needs it."""
        known: tuple[object, Taxonomy] | None = self.__dict__.get("_known")
        if known is not None and known[0] is table.values:
            return known[1]
        try:
            taxonomy = Hierarchy.of(self.hierarchy).over(str(table.attribute), table.values)
        except InputError:  # not in its own words, which would name sensitive values
            raise InputError(
                f"{self.name}: the hierarchy of {table.attribute!r} lacks some of the "
                f"{len(table.values)} values of the column; add them to it"
            ) from None
        self.__dict__["_known"] = table.values, taxonomy
        return taxonomy

    def __getstate__(self) -> dict[str, object]:
        """The parameters; not the values that the hierarchy was last applied to."""
        return {name: value for name, value in vars(self).items() if name != "_known"}


@dataclass(frozen=True)
class MeanInformation(SensitiveModel):
    """All classes together keep at most ``bits`` about W, on average: I(X~;W) <= bits.

    An average that protects nobody by itself: one class may disclose everything. By Eq. 13 of Bezzi
    (2010) it is necessary for t-closeness and l-diversity, never sufficient.
    """

    name = "mean-information"
    condition = "I(X~;W) <= bits: an average that protects nobody by itself"
    unit = "bits"
    source = "Bezzi 2010, Eq. 13"
    bounded_by = "bits"
    kind = Kind.INFORMATION
    absolute = True
    per_class = False
    wording = Wording(
        "On average over all people, a person's class gives away at most {bits:bits} about "
        "“{attribute}”.",
        "The average is {worst:bits}.",
        "Single classes: One may give “{attribute}” away entirely; an average protects nobody by "
        "itself.",
    )
    start = {"bits": 0.2}

    bits: NotNegative

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        """The mean of I1 over the records in bits, shape (1,).

        I(X~;W) where the classes are the whole table, and not some people held against it.
        """
        bits = classes.sizes * divergence(classes.joint, classes.margin)
        return np.array([bits.sum() / classes.sizes.sum()])

    def ceiling(self, margin: Ints) -> float:
        return float(self.bits)


def is_ordered(table: Classes) -> bool:
    """Return whether the sensitive values have a natural order: all are numbers."""
    values = table.known.values
    return bool(values) and all(number_of(value) is not None for value in values)


def _prefixes(table: Classes, ranks: Sequence[int], most: int) -> Sums:
    """Cuts between neighbours in the order, each as wide as their distance in places."""
    spots = np.array(ranks, np.int64)
    order = np.argsort(spots, kind="stable")
    ends = np.arange(1, len(order))
    widths = np.diff(spots[order]) / max(most - 1, 1)
    masses = np.cumsum(table.prior[order])[:-1]
    return Sums(order, np.zeros(len(ends), np.int64), ends, masses, widths)


def _groups(table: Classes, taxonomy: Taxonomy) -> Sums:
    """The groups of every level but the last, as runs of the values sorted by them."""
    codes = taxonomy.encode(table.values)
    levels = [level.representatives[codes] for level in taxonomy.levels]
    order = np.lexsort(levels)
    total = np.concatenate([[0.0], np.cumsum(table.prior[order])])
    nothing = np.zeros(0, np.int64)  # of a hierarchy of one level: a single value
    begins, ends = [nothing], [nothing]
    for level in levels[:-1]:
        starts = np.flatnonzero(np.diff(level[order], prepend=-1))
        begins.append(starts)
        ends.append(np.append(starts[1:], len(order)))
    begin, end = np.concatenate(begins), np.concatenate(ends)
    weights = np.full(len(begin), 0.5 / max(taxonomy.height, 1))
    return Sums(order, begin, end, total[end] - total[begin], weights)


def transported(joint: Any, sizes: Ints, sums: Sums) -> Floats:
    """Sum_S weight_S |p(S|g) - p(S)| over runs S of values, shape (classes,).

    ``joint`` is sparse, ``sizes`` (classes,) are its records per class. The runs all begin at the
    first value, ending ever later, or those of each level follow each other through all values.
    """
    place = np.empty(len(sums.order), np.intp)
    place[sums.order] = np.arange(len(place))
    class_of, spots = rows_of(joint), place[joint.indices]
    # By class, then by place in the order of the runs: one sort of one key.
    order = np.argsort(class_of * len(place) + spots, kind="stable")
    pairs = class_of, spots[order], np.asarray(joint.data[order])
    if not sums.begins.any():
        return _from_the_first(*pairs, sizes, sums)
    # Runs that begin at the first value begin a level: those between follow each other.
    levels = np.append(np.flatnonzero(sums.begins == 0), len(sums.begins))
    total = np.zeros(len(sizes))
    for low, high in pairwise(levels.tolist()):
        some = slice(low, high)
        runs = sums.begins[some], sums.ends[some], sums.masses[some], sums.weights[some]
        total += _of_level(*pairs, sizes, Sums(sums.order, *runs))
    return total


def _from_the_first(
    class_of: Codes, spots: Codes, records: Ints, sizes: Ints, sums: Sums
) -> Floats:
    """Add up runs from the first value: the share of each lies between the shares of two values."""
    starts = np.searchsorted(class_of, np.arange(len(sizes)))
    upto = np.cumsum(records)
    share = (upto - (upto - records)[starts[class_of]]) / sizes[class_of]
    first = np.searchsorted(sums.ends, spots, side="right")  # of the runs that hold the value
    last_of_class = np.append(class_of[1:] != class_of[:-1], True)[: len(class_of)]
    until = np.where(last_of_class, len(sums.ends), np.append(first[1:], 0)[: len(first)])
    # Masses rise along the runs: those before ``above`` have less than the share, the rest more.
    above = np.clip(np.searchsorted(sums.masses, share), first, until)
    weight = np.append(0.0, np.cumsum(sums.weights))
    mass = np.append(0.0, np.cumsum(sums.weights * sums.masses))
    moved = share * (2 * weight[above] - weight[first] - weight[until])
    moved += mass[first] + mass[until] - 2 * mass[above]
    before = np.full(len(sizes), mass[-1])  # of the runs that hold no value of the class
    some = sizes > 0
    before[some] = mass[first[starts[some]]]
    return np.asarray(before + np.bincount(class_of, moved, minlength=len(sizes)))


def _of_level(class_of: Codes, spots: Codes, records: Ints, sizes: Ints, sums: Sums) -> Floats:
    """Add up runs that follow each other: those without a record of the class together."""
    run = np.searchsorted(sums.begins, spots, side="right") - 1
    nothing = float((sums.weights * sums.masses).sum())
    if not len(run):
        return np.full(len(sizes), nothing)
    starts = np.flatnonzero(np.diff(class_of * len(sums.begins) + run, prepend=-1))
    some, run = class_of[starts], run[starts]
    shares = np.add.reduceat(records, starts) / sizes[some]
    # All runs as if the class had no record in any, and what those that it has change of that.
    apart = sums.weights[run] * (np.abs(shares - sums.masses[run]) - sums.masses[run])
    return np.asarray(nothing + np.bincount(some, apart, minlength=len(sizes)))
