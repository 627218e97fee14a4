"""Subsets of the quasi-identifiers, ranked by what they disclose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.errors import column_names, require_one_of
from anonymizer.recoding import Watch, ignore
from anonymizer.release.results import Result, as_json
from anonymizer.risk.chain import ROUND, InformationChain, chains
from anonymizer.risk.measures import Measures
from anonymizer.risk.refinement import Columnar, Refinement
from anonymizer.risk.subsets import Subset, column_of, measured

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
class Ranked(Result):
    """What an attacker learns who knows some attributes."""

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
    subsets: tuple[Ranked, ...]
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

    def by(self, metric: str = METRICS[0], about: str | None = None) -> tuple[Ranked, ...]:
        """The subsets by a metric about an attribute, most risk first; ties by size, then by name.

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
        """The ranking as JSON has it, by a metric about the record or a sensitive attribute."""
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

    Sensitive attributes are held in memory as codes, the others are read when they are needed.
    The ITPR of a superset may be below that of a subset; no other measure falls. ``chain`` requests
    the chain rule, which takes all attributes together, whatever the size.

    Raises InputError when the table lacks a column or has no records, a column's values cannot be
    compared, or there are more than ``MOST_SUBSETS`` subsets.
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


def _ranked(abouts: Mapping[str, pd.Series], classes: Refinement) -> Ranked:
    """The measures of some classes, whatever attributes they are of."""
    record = classes.measures(None)
    inference = {name: classes.measures(column) for name, column in abouts.items()}
    alone, smallest = int((classes.sizes == 1).sum()), int(classes.sizes.min())
    return Ranked((), alone, smallest, record, inference)


def _sorted(subsets: Iterable[Ranked], metric: str, about: str | None) -> tuple[Ranked, ...]:
    def place(subset: Ranked) -> tuple[float, int, Subset]:
        risk = round(subset.about(about)[metric], ROUND)
        return -risk, len(subset.names), subset.names

    return tuple(sorted(subsets, key=place))


def _numbers(column: pd.Series) -> pd.Series:
    """The column with its values numbered, which is small and counted quickly again and again."""
    codes, values = by_text(column)
    kinds = pd.RangeIndex(len(values))
    return pd.Series(pd.Categorical.from_codes(codes, categories=kinds), name=column.name)
