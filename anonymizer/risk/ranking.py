"""Which attributes give people away: subsets of the quasi-identifiers, ranked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.errors import column_names, require_one_of
from anonymizer.recoding import Watch, ignore
from anonymizer.risk.chain import ROUND, Chain, chains, profiled
from anonymizer.risk.measures import Measures
from anonymizer.risk.refinement import Columns, Refinement
from anonymizer.risk.subsets import Subset, column_of, measured

__all__ = ["METRICS", "Ranked", "Ranking", "rank"]

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
"""What subsets can be ranked by: the measures of which more is more risk."""


@dataclass(frozen=True)
class Ranked:
    """What an attacker learns who knows some attributes.

    Parameters
    ----------
    names
        The attributes.
    alone
        Records that no other record shares these values with.
    k
        Records of the smallest class.
    reidentification, inference
        The measures about the record itself, and by sensitive attribute.
    """

    names: Subset
    alone: int
    k: int
    reidentification: Measures
    inference: Mapping[str, Measures]

    @property
    def classes(self) -> int:
        """Combinations of values that records have."""
        return self.reidentification.classes

    @property
    def share_alone(self) -> float:
        """Records alone in their class, by records, in [0, 1]: sample uniqueness."""
        return self.alone / self.reidentification.records

    def about(self, attribute: str | None) -> Measures:
        """The measures about a sensitive attribute; with None about the record itself."""
        return self.reidentification if attribute is None else self.inference[attribute]

    def to_dict(self) -> dict[str, object]:
        """The subset as JSON has it."""
        return {
            "names": list(self.names),
            "classes": self.classes,
            "k": self.k,
            "alone": self.alone,
            "share_alone": self.share_alone,
            "reidentification": self.reidentification.to_dict(),
            "inference": {name: found.to_dict() for name, found in self.inference.items()},
        }


@dataclass(frozen=True)
class Ranking:
    """Subsets of quasi-identifiers, and what each attribute adds to the others.

    Parameters
    ----------
    records
        Records of the table.
    size
        How many attributes a subset has at most.
    subsets
        Every non-empty subset, by the mutual information of re-identification, most first.
    reidentification
        The chain rule about the record itself; None where it was not asked for.
    inference
        The same by sensitive attribute.
    """

    records: int
    size: int
    subsets: tuple[Ranked, ...]
    reidentification: Chain | None = None
    inference: Mapping[str, Chain] = field(default_factory=dict)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes."""
        return tuple(self.subsets[0].inference)

    def by(self, metric: str = METRICS[0], about: str | None = None) -> tuple[Ranked, ...]:
        """The subsets by a metric, most risk first; of equals the smallest first, then by name.

        The mutual information is how much more certain an attacker becomes on average, in bits:
        about the record itself it is H(Y), the power of Y to tell records apart. It only rises
        with every attribute, and still tells subsets apart that all have a class of one record.
        ITPR is no good order: it is 1 for all of those, and where it is not, that of a superset may
        be below that of a subset (0.75 for classes of 4 and 12 records, 0.5 for four of 4).

        Parameters
        ----------
        metric
            One of ``METRICS``.
        about
            A sensitive attribute; None for the record itself.

        Raises
        ------
        InputError
            When the metric or the attribute is unknown.
        """
        require_one_of("metric", metric, METRICS)
        if about is not None:
            require_one_of("about", about, self.sensitive)
        return _sorted(self.subsets, metric, about)

    def to_dict(self, metric: str = METRICS[0], about: str | None = None) -> dict[str, object]:
        """The ranking as JSON has it, by a metric about something."""
        chain = self.reidentification
        return {
            "records": self.records,
            "size": self.size,
            "ranked_by": {"metric": metric, "about": about},
            "subsets": [subset.to_dict() for subset in self.by(metric, about)],
            "chain_rule": {
                "reidentification": chain and chain.to_dict(),
                "inference": {name: found.to_dict() for name, found in self.inference.items()},
            },
        }


def rank(
    table: Columns,
    names: Sequence[str],
    sensitive: Sequence[str] = (),
    size: int = 2,
    watch: Watch = ignore,
    *,
    chain: bool = True,
) -> Ranking:
    """Measure every subset of some attributes up to a size, and what each adds to the others.

    Sensitive attributes are held in memory, as numbers; the others are read when they are needed.
    The ITPR of a superset may be below that of a subset; no other measure ever falls.

    Parameters
    ----------
    table
        The table.
    names
        The quasi-identifiers.
    sensitive
        Attributes that an attacker would infer.
    size
        How many attributes a subset has at most.
    watch
        Told of the progress.
    chain
        Whether what each attribute adds to the others is asked for: that takes all of them
        together, whatever the size.

    Raises
    ------
    InputError
        When the table lacks a column or has no records, a column's values cannot be told apart, or
        there are more than ``MOST_SUBSETS`` subsets.
    """
    names, sensitive = column_names("names", names), column_names("sensitive", sensitive)
    abouts = {name: _numbers(column_of(table, name)) for name in sensitive}
    found = measured(table, names, size, partial(_ranked, abouts), watch=watch)
    subsets = (replace(told, names=subset) for subset, told in found.items())
    ranking = Ranking(len(table), min(int(size), len(names)), _sorted(subsets, METRICS[0], None))
    if not chain:
        return ranking
    about = (None, *sensitive)
    alone = {name: [found[name,].about(x).mutual_information for x in about] for name in names}
    record, *inferred = chains(table, alone, [None, *abouts.values()], watch)
    return replace(
        ranking, reidentification=record, inference=dict(zip(sensitive, inferred, strict=True))
    )


def _ranked(abouts: Mapping[str, pd.Series], classes: Refinement) -> Ranked:
    """What some classes tell, whatever attributes they are of."""
    record = profiled(classes, None)
    return Ranked(
        (),
        int((classes.sizes == 1).sum()),
        int(classes.sizes.min()),
        record,
        {name: profiled(classes, column) for name, column in abouts.items()},
    )


def _sorted(subsets: Iterable[Ranked], metric: str, about: str | None) -> tuple[Ranked, ...]:
    def place(subset: Ranked) -> tuple[float, int, Subset]:
        risk = round(subset.about(about)[metric], ROUND)
        return -risk, len(subset.names), subset.names

    return tuple(sorted(subsets, key=place))


def _numbers(column: pd.Series) -> pd.Series:
    """The column with its values numbered: small, and counted quickly time and again."""
    codes, values = by_text(column)
    kinds = pd.RangeIndex(len(values))
    return pd.Series(pd.Categorical.from_codes(codes, categories=kinds), name=column.name)
