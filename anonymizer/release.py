"""What a release is: the proof per model, the information kept and lost, how to apply it again."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonymizer.counts import Counts
from anonymizer.errors import PolicyBrokenError
from anonymizer.lattice import Node
from anonymizer.objectives import MutualInformation
from anonymizer.privacy import TOLERANCE, PrivacyModel, Verdict, asked, verdicts
from anonymizer.schema import Schema, recount
from anonymizer.version import __version__

__all__ = [
    "Chance",
    "Information",
    "Release",
    "SearchResult",
    "ceiling",
    "chances",
    "prove",
    "verify",
    "versions",
]

SHUFFLES = 10


class Chance(NamedTuple):
    """What small classes alone tell about an attribute, in bits: dealt out at random, on average.

    Of the raw quasi-identifiers, and of the recoded ones.
    """

    raw: float
    recoded: float


@dataclass(frozen=True)
class Information:
    """What the released quasi-identifiers tell about the sensitive attributes, in bits.

    Parameters
    ----------
    original
        I(X;W) of the raw quasi-identifiers of the records released.
    retained
        I(X~;W) of the released ones.
    ceiling
        The most that any recoding which satisfies the policy can keep:
        min(I(X;W), t, H(W) - log l) (Bezzi 2010, Eq. 13).
    shuffled
        I(X;W) with W dealt out at random, the mean of 10: what small classes alone pretend.
    retained_above_shuffled
        ``retained`` less the same mean under the recoding.
    """

    original: float
    retained: float
    ceiling: float
    shuffled: float
    retained_above_shuffled: float

    @property
    def loss(self) -> float:
        """1 - retained / original; 0 where there was nothing to lose."""
        return 1 - self.retained / self.original if self.original > TOLERANCE else 0.0

    @property
    def loss_above_shuffled(self) -> float:
        """The loss with what chance alone pretends taken off on both sides.

        1 - retained_above_shuffled / (original - shuffled); 0 where nothing is above chance.
        """
        above = self.original - self.shuffled
        return 1 - self.retained_above_shuffled / above if above > TOLERANCE else 0.0

    @classmethod
    def of(
        cls,
        raw: Counts,
        released: Counts,
        models: Sequence[PrivacyModel],
        chance: Mapping[str, Chance],
        about: Sequence[str],
    ) -> "Information":
        """Measure a released table, as it was recounted, against the raw one that it recodes.

        Information ``about`` several attributes is summed.
        """
        measure = MutualInformation(targets=dict.fromkeys(about, 1.0))
        retained = measure(released)
        return cls(
            original=measure(raw),
            retained=retained,
            ceiling=ceiling(raw, models, about),
            shuffled=sum(chance[name].raw for name in about),
            retained_above_shuffled=retained - sum(chance[name].recoded for name in about),
        )

    def to_dict(self) -> dict[str, float]:
        """The measures and both losses."""
        return {
            **asdict(self),
            "loss": self.loss,
            "loss_above_shuffled": self.loss_above_shuffled,
        }


def chances(
    raw: Counts, recode: Callable[[Counts], Counts], rng: np.random.Generator
) -> dict[str, Chance]:
    """What chance alone tells about each attribute, the mean of ``SHUFFLES``.

    ``recode`` does to counts what was done to the table. One shuffled table is held at a time.
    """
    bits = {name: np.zeros(2) for name in raw.joint}
    for _ in range(SHUFFLES):
        dealt = raw.shuffled(rng)
        recoded = recode(dealt)
        for name, total in bits.items():
            measure = MutualInformation(targets={name: 1.0})
            total += measure(dealt), measure(recoded)
    return {name: Chance(*(total / SHUFFLES).tolist()) for name, total in bits.items()}


def ceiling(raw: Counts, models: Sequence[PrivacyModel], about: Sequence[str]) -> float:
    """min(I(X;W), what each model bounds), in bits, summed over some attributes."""
    total = 0.0
    for name in about:
        most = MutualInformation(targets={name: 1.0})(raw)
        bounds = [
            model.ceiling(raw.margins[name])
            for model in models
            if model.sensitive and name in asked(model, raw.sensitive)
        ]
        total += max(min(most, *bounds), 0.0) if bounds else most
    return total


@dataclass(frozen=True)
class SearchResult:
    """How the recoding was found.

    Parameters
    ----------
    strategy, objective
        What searched, and what for.
    value
        The objective of the table searched, in its own unit; None where it may not be told.
    gap
        How much better any other node can be, at the most, in the same unit; None where that is
        not known.
    nodes, checked
        Nodes of the lattice, and how many of them (or of those of fewer attributes) were counted.
    feasible, minimal
        Nodes that satisfy the policy, and those of them without a direct specialization that does;
        None where the search did not need to know.
    refinements
        How many times ranges were cut.
    proven
        Whether no other recoding of the kind searched is better.
    """

    strategy: str
    objective: str
    value: float | None
    gap: float | None
    nodes: int
    checked: int
    feasible: int | None
    minimal: tuple[Node, ...] | None
    refinements: int
    proven: bool

    def to_dict(self) -> dict[str, object]:
        """The result, nodes as lists of levels."""
        minimal = None if self.minimal is None else [list(node) for node in self.minimal]
        return {**asdict(self), "minimal": minimal}


@dataclass(frozen=True)
class Release:
    """The proof of one released table.

    Of a differentially private one nothing is told but what the released table shows: ``records``,
    ``dropped`` and ``suppressed`` are None then.

    Parameters
    ----------
    records, released
        Records of the table that was given, and of the one that is released.
    dropped
        Records left out because they miss a value.
    suppressed
        Records whose quasi-identifiers were suppressed to save the policy.
    suppressed_class
        What became of them: ``"none"`` where there are none, ``"kept"`` as a class that satisfies
        every model, or ``"removed"``.
    classes
        Equivalence classes of the released table.
    other_columns
        Columns released as they were, targets that are not sensitive among them: the policy does
        not cover who knows values of them.
    information
        What it keeps and loses; None without a sensitive attribute.
    targets
        The same about each target.
    levels
        The level of each quasi-identifier that is released at one.
    recoding
        The groups of each quasi-identifier, enough to apply them again.
    regions
        Where classes have groups of their own, the labels of each class; empty where one partition
        per quasi-identifier makes them all.
    privacy
        Every model held against the released table, recounted.
    search
        How the recoding was found.
    study
        Fingerprint of everything that was asked for.
    """

    records: int | None
    released: int
    dropped: int | None
    suppressed: int | None
    suppressed_class: str
    classes: int
    other_columns: Sequence[str]
    information: Information | None
    targets: Mapping[str, Information]
    levels: Mapping[str, int]
    recoding: Mapping[str, list[dict[str, object]]]
    regions: Sequence[Mapping[str, str | None]]
    privacy: Sequence[Verdict]
    search: SearchResult
    study: str

    def to_dict(self) -> dict[str, object]:
        """The manifest, ready for JSON."""
        return {
            "records": self.records,
            "released": self.released,
            "dropped": self.dropped,
            "suppressed": self.suppressed,
            "suppressed_class": self.suppressed_class,
            "classes": self.classes,
            "other_columns": list(self.other_columns),
            "information": self.information.to_dict() if self.information else None,
            "targets": {name: about.to_dict() for name, about in self.targets.items()},
            "levels": dict(self.levels),
            "recoding": dict(self.recoding),
            **({"regions": list(self.regions)} if self.regions else {}),
            "privacy": [verdict.to_dict() for verdict in self.privacy],
            "search": self.search.to_dict(),
            "study": {"fingerprint": self.study},
            "versions": versions(),
        }


def verify(
    table: pd.DataFrame,
    schema: Schema,
    models: Sequence[PrivacyModel],
    population: pd.DataFrame | None = None,
) -> list[Verdict]:
    """Recount a table as it stands and hold every model against it.

    Classes are the combinations of values of the quasi-identifiers that stand in the table; nothing
    is known of hierarchies, recodings or searches. Missing values are a value of their own where
    the schema says so, an error otherwise. The population that models are about is taken as it
    stands too: recoded as the table is.

    Raises
    ------
    InputError
        When the table lacks a column, is empty or has missing values that it should not have.
    """
    schema.require_released(table)
    return verdicts(recount(table, schema, population), models)


def prove(
    table: pd.DataFrame,
    schema: Schema,
    models: Sequence[PrivacyModel],
    population: pd.DataFrame | None = None,
) -> tuple[Counts, list[Verdict]]:
    """Verify a table that is about to be released, and refuse it when it breaks the policy.

    ``population``: the one that models are about, recoded as the table is.

    Returns
    -------
    What was counted, and the verdicts on it.

    Raises
    ------
    PolicyBrokenError
        With the models that fail and by how much; no value of any record.
    """
    schema.require_released(table)
    counts = recount(table, schema, population)
    found = verdicts(counts, models)
    broken = [verdict for verdict in found if not verdict.satisfied]
    if broken:
        raise PolicyBrokenError(
            "nothing was released: the table breaks the policy under this recoding: "
            + "; ".join(_failure(verdict) for verdict in broken)
        )
    return counts, found


def versions() -> dict[str, str]:
    """What computed a release."""
    return {
        "anonymizer": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pandas": pd.__version__,
    }


def _failure(verdict: Verdict) -> str:
    about = f" about {verdict.attribute!r}" if verdict.attribute else ""
    if not verdict.model.per_class:
        return (
            f"{verdict.model.name}{about} fails ({verdict.worst:.6g} against "
            f"{verdict.model.threshold:.6g})"
        )
    return (
        f"{verdict.model.name}{about} fails in {verdict.violating} of {verdict.classes} classes "
        f"(worst {verdict.worst:.6g}, threshold {verdict.model.threshold:.6g})"
    )
