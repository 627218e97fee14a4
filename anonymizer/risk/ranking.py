"""Subsets of the quasi-identifiers, ranked by what they disclose, and the chain rule.

The chain rule says what attributes tell one after the other, and each in addition to all others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import Any

import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.errors import column_names, require_one_of
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.release.results import Result, as_json
from anonymizer.risk.profile import Measures
from anonymizer.risk.refinement import Columnar, Refinement, Subset, column_of, measured, refined

ROUND = 9
"""Digits of bits beyond which two sums may differ by the order of their terms alone."""


@dataclass(frozen=True)
class Link(Result):
    """A step of the greedy chain, in bits; no information is ever negative.

    ``adds_to_others`` is I(X;Y_i | all the others) = I(X; all) - I(X; all but Y_i). About a
    sensitive attribute it may be more than ``alone`` as well as less.
    """

    name: str  # the attribute Y_i that adds most to those before it
    alone: float  # I(X;Y_i)
    adds: float  # I(X;Y_i | those before it)
    total: float  # I(X; it and those before it)
    adds_to_others: float


@dataclass(frozen=True)
class InformationChain(Result):
    """I(X; Y_1 ... Y_n) = sum of I(X; Y_i | Y_1 ... Y_i-1), and the part of each attribute.

    The ``links`` are in greedy order: the attribute that tells most, the one that adds most to it,
    and so on; ties by name. Their ``adds`` sum to ``total``. In general no order tells most at
    every length.
    """

    total: float  # I(X; all the attributes), in bits: H(Y) where X is the record itself
    links: tuple[Link, ...]


def chains(
    table: Columnar,
    alone: Mapping[str, Sequence[float]],
    abouts: Sequence[pd.Series | None],
    watch: Watch = ignore,
) -> list[InformationChain]:
    """Chain some attributes about each X: the record itself (None) or a column.

    ``alone`` is I(X;Y_i) about each X, for every attribute. Leaving out each takes n log n
    refinements for all X together. The greedy order takes up to n^2 / 2 for a sensitive attribute,
    and few more than n for the record itself, where I(X;Y) = H(Y) is submodular: an attribute adds
    the less the more are known.
    """
    whole = refined(Refinement.whole(table), table, alone)
    classes = whole.classes
    totals = [whole.measures(about).mutual_information for about in abouts]
    adds: dict[str, list[float]] = {}
    for name, others in _all_but_one(table, list(alone), Refinement.whole(table)):
        # As many classes are the same classes: the attribute adds exactly nothing.
        same = others.classes == classes
        adds[name] = [
            0.0 if same else max(total - others.measures(about).mutual_information, 0.0)
            for about, total in zip(abouts, totals, strict=True)
        ]
        watch("leaving out one attribute", len(adds), len(alone))
    found = []
    for at, (about, total) in enumerate(zip(abouts, totals, strict=True)):
        first = {name: alone[name][at] for name in alone}
        order = _greedy(table, first, about, (classes, total), watch)
        links = [Link(name, first[name], *bits, adds[name][at]) for name, bits in order]
        found.append(InformationChain(total, tuple(links)))
    return found


def _all_but_one(
    table: Columnar, names: Sequence[str], classes: Refinement
) -> Iterator[tuple[str, Refinement]]:
    """Split classes by all columns but one, for each: by halves, so that none is split twice."""
    if len(names) == 1:
        yield names[0], classes
        return
    left, right = names[: len(names) // 2], names[len(names) // 2 :]
    yield from _all_but_one(table, left, refined(classes, table, right))
    yield from _all_but_one(table, right, refined(classes, table, left))


def _greedy(
    table: Columnar,
    alone: Mapping[str, float],
    about: pd.Series | None,
    end: tuple[int, float],
    watch: Watch,
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the attribute that adds most, what it adds, and the sum; the useless ones come last.

    ``end``: the number of classes by all attributes, and their information about X.
    """
    bounds = dict(alone)  # what each can add at most; those that split no class are removed
    left, classes, total = set(alone), Refinement.whole(table), 0.0
    while classes.classes < end[0] and total < end[1]:
        name, classes, adds = _next(table, classes, total, bounds, about)
        total += adds
        yield name, (adds, total)
        left.remove(name)
        watch("chaining attributes", len(alone) - len(left), len(alone))
        # About the record itself attributes are submodular; about another they may work together.
        bounds = {other: bounds[other] if about is None else inf for other in bounds}
    yield from ((name, (0.0, total)) for name in sorted(left))


def _next(
    table: Columnar,
    classes: Refinement,
    total: float,
    bounds: dict[str, float],
    about: pd.Series | None,
) -> tuple[str, Refinement, float]:
    """Return the attribute that adds most, the classes with it, and what it adds.

    At least one attribute still splits a class.
    """
    best, found, most = "", classes, -inf
    for name in sorted(bounds, key=lambda name: (-bounds[name], name)):
        if bounds[name] < most - 10**-ROUND:
            break
        split = classes.by(column_of(table, name))
        if split.classes == classes.classes:
            del bounds[name]
            continue
        bounds[name] = adds = max(split.measures(about).mutual_information - total, 0.0)
        if (-round(adds, ROUND), name) < (-round(most, ROUND), best):
            best, found, most = name, split, adds
    del bounds[best]
    return best, found, most


METRICS = (
    "mutual_information",
    "discrimination_rate",
    "conditional_privacy",
    "maximum_information_leakage",
    "weighted_information_leakage",
    "entropy_l_diversity_risk",
    "itpr",
    "unscaled_itpr",
    "max_posterior",
    "i1_max",
    "i2_max",
)
"""What subsets can be ranked by: the measures that grow with the risk."""


@dataclass(frozen=True)
class RankedSubset(Result):
    """The risk from an attacker who knows some attributes."""

    derived = ("classes", "share_alone")

    names: Subset
    alone: int  # records that are alone in their class
    k: int  # records of the smallest class
    reidentification: Measures  # about the record itself
    inference: Mapping[str, Measures]  # by sensitive attribute

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.reidentification.classes

    @property
    def share_alone(self) -> float:
        """The share of records alone in their class, in [0, 1]: sample uniqueness."""
        return self.alone / self.reidentification.records

    def about(self, attribute: str | None) -> Measures:
        """The measures about a sensitive attribute, or with None about the record itself."""
        return self.reidentification if attribute is None else self.inference[attribute]


@dataclass(frozen=True)
class Ranking:
    """Subsets of quasi-identifiers, and what each attribute adds to the others.

    ``subsets`` are all non-empty ones, by the mutual information of re-identification, most first.
    """

    records: int  # of the table
    size: int  # the largest number of attributes in a subset
    subsets: tuple[RankedSubset, ...]
    reidentification: InformationChain | None = (
        None  # about the record itself; None if it was not requested
    )
    inference: Mapping[str, InformationChain] = field(
        default_factory=dict
    )  # by sensitive attribute

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes."""
        return tuple(self.subsets[0].inference)

    def by(self, metric: str = METRICS[0], about: str | None = None) -> tuple[RankedSubset, ...]:
        """Sort the subsets by a metric about an attribute, most risk first; ties: smaller, by name.

        Without ``about`` it is the metric about the record itself.
        The mutual information is how much more certain an attacker becomes on average, in bits.
        It never falls when an attribute is added, and still distinguishes subsets that all have a
        class of one record. ITPR does neither, see ``Measures``, and is no good order.

        Raises InputError when the metric is none of ``METRICS``, or ``about`` no sensitive
        attribute.
        """
        require_one_of("metric", metric, METRICS)
        if about is not None:
            require_one_of("about", about, self.sensitive)
        return _sorted(self.subsets, metric, about)

    def to_dict(self, metric: str = METRICS[0], about: str | None = None) -> dict[str, Any]:
        """Return the ranking as JSON has it, by a metric about the record or an attribute."""
        chains = {"reidentification": self.reidentification, "inference": self.inference}
        return {
            "records": self.records,
            "size": self.size,
            "ranked_by": {"metric": metric, "about": about},
            "subsets": as_json(self.by(metric, about)),
            "chain_rule": as_json(chains),
        }


def rank(
    table: Columnar,
    names: Sequence[str],
    sensitive: Sequence[str] = (),
    size: int = 2,
    watch: Watch = ignore,
    *,
    chain: bool = True,
) -> Ranking:
    """Measure every subset of some attributes up to a size, and what each adds to the others.

    The ITPR of a superset may be below that of a subset; no other measure falls.

    Parameters
    ----------
    table
        A DataFrame, a tally, or a file that is read a column at a time.
    names
        The attributes, which are read when they are needed.
    sensitive
        What inference is about; these are held in memory as codes.
    size
        The largest number of attributes in a subset.
    watch
        Called with the progress.
    chain
        Also the chain rule, which takes all attributes together, whatever the size.

    Returns
    -------
    Ranking
        Subsets by the mutual information of re-identification, in bits, most first.

    Raises
    ------
    InputError
        When the table misses a column or has no records, a column's values cannot be compared,
        or there are more than ``MOST_SUBSETS`` subsets.
    """
    names, sensitive = column_names("names", names), column_names("sensitive", sensitive)
    abouts = {name: _numbers(column_of(table, name)) for name in sensitive}
    found = measured(table, names, size, partial(_ranked, abouts), watch=watch)
    subsets = (replace(ranked, names=subset) for subset, ranked in found.items())
    records = int(Refinement.whole(table).sizes.sum())
    ranking = Ranking(records, min(int(size), len(names)), _sorted(subsets, METRICS[0], None))
    if not chain:
        return ranking
    about = (None, *sensitive)
    alone = {name: [found[name,].about(x).mutual_information for x in about] for name in names}
    record, *inferred = chains(table, alone, [None, *abouts.values()], watch)
    return replace(
        ranking, reidentification=record, inference=dict(zip(sensitive, inferred, strict=True))
    )


def _ranked(abouts: Mapping[str, pd.Series], classes: Refinement) -> RankedSubset:
    record = classes.measures(None)
    inference = {name: classes.measures(column) for name, column in abouts.items()}
    alone, smallest = int((classes.sizes == 1).sum()), int(classes.sizes.min())
    return RankedSubset((), alone, smallest, record, inference)


def _sorted(
    subsets: Iterable[RankedSubset], metric: str, about: str | None
) -> tuple[RankedSubset, ...]:
    def place(subset: RankedSubset) -> tuple[float, int, Subset]:
        risk = round(subset.about(about)[metric], ROUND)
        return -risk, len(subset.names), subset.names

    return tuple(sorted(subsets, key=place))


def _numbers(column: pd.Series) -> pd.Series:
    codes, values = by_text(column)
    kinds = pd.RangeIndex(len(values))
    return pd.Series(pd.Categorical.from_codes(codes, categories=kinds), name=column.name)
