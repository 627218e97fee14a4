"""What a release is: the proof per model, the information kept and lost, how to apply it again."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from anonymizer.feedback.document import Display, Displayed, Points, Table, in_a_line, listing
from anonymizer.feedback.words import plural
from anonymizer.masking import Shift
from anonymizer.privacy import Verdict
from anonymizer.privacy.query_loss import QueryLoss
from anonymizer.recoding.recoding import Randomization, SearchResult
from anonymizer.release.information import Information
from anonymizer.release.results import as_json
from anonymizer.release.warnings import ReleaseWarning
from anonymizer.version import __version__

if TYPE_CHECKING:
    from anonymizer.release.manifest import Manifest

LEFT_OUT = (
    "regions",
    "masking",
    "spreadsheet",
    "hierarchies",
    "method",
    "settled",
    "unseen",
    "applies",
    "person",
    "per_person",
    "weight",
    "household",
    "items",
    "shift",
    "released_weight",
    "person_numbers",
    "person_key",
)
"""Parts that a manifest has only where there is something to report."""

VERDICTS = ("model", "about", "requires", "worst class", "classes that fail", "holds")
SHOWN = 6
"""Labels of an attribute that are shown."""


@dataclass(frozen=True)
class Spreadsheet:
    """Cells of a CSV file that a spreadsheet would run: they begin with ``= + - @`` and their like.

    ``safe``: whether an apostrophe was written before them. ``cells``: how many there are in each
    column that has any, its name among them.
    """

    safe: bool
    cells: Mapping[str, int]


@dataclass(frozen=True)
class Seeds:
    """The seeds of what was chosen at random.

    ``search``: of the shuffled baseline and of searches that start at random; None where the
    release is differentially private. ``drawing``: that of drawn values or records is ``withheld``,
    whether it was given or not, since whoever has it could draw them again; ``none`` were drawn.
    """

    search: int | None
    drawing: Literal["none", "withheld"] = "none"


@dataclass(frozen=True, repr=False)
class Release(Displayed):
    """The proof of one released table.

    Of a differentially private one nothing is reported but what the released table shows:
    ``records``, ``dropped`` and ``suppressed`` are None then.

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
    query_loss
        What the release costs the privacy of a record's owner as an answer to "in which class?".
    other_columns
        Columns released as they were, or with shifted dates, targets that are not sensitive among
        them: the policy does not cover who knows values of them.
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
    seeds
        The seed of the search, and that the one of drawn values is withheld.
    study
        Fingerprint of everything that was requested.
    masking
        How values were drawn at random, where they were.
    spreadsheet
        Which cells of the released file a spreadsheet would run, where there are any.
    warnings
        What the release is weak in although its policy holds.
    hierarchies
        The rule of each quasi-identifier that has one without listed values: it places new values.
    method
        The recoding that was requested, with its options; of one that draws its name alone.
    settled
        The quasi-identifiers whose rule has a ground that follows from the raw table.
    unseen
        How many values, and records with them, the recoding could not place, and what was done.
    applies
        The SHA-256 of the manifest whose recoding was applied; None where one was fitted.
    person
        The columns of the table that tell whose each record is: the policy is about persons.
    per_person
        What somebody with several sensitive values counts, where it is not a share of each.
    weight
        The column of the table that tells how many people each record stands for.
    household
        The columns of the table that tell which records are of people who live together.
    items
        What stands between the items that the cells of sensitive attributes list.
    shift
        How the dates of persons were moved, where they were; no offset.
    released_weight
        ``"class"`` where the column ``weight`` is released, as the mean of each class.
    person_numbers
        The column of the release that has a number for each person; None where it has none.
    person_key
        Which key made these numbers, as a hash, where they are pseudonyms; None where they are
        random.
    """

    released: int
    classes: int
    query_loss: QueryLoss
    levels: Mapping[str, int]
    recoding: Mapping[str, list[dict[str, object]]]
    regions: Sequence[Mapping[str, str | None]]
    privacy: Sequence[Verdict]
    search: SearchResult
    seeds: Seeds
    study: str
    records: int | None = None
    dropped: int | None = None
    suppressed: int | None = None
    suppressed_class: str = "removed"
    other_columns: Sequence[str] = ()
    information: Information | None = None
    targets: Mapping[str, Information] = field(default_factory=dict)
    masking: Randomization | None = None
    spreadsheet: Spreadsheet | None = None
    warnings: Sequence[ReleaseWarning] = ()
    hierarchies: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    method: Mapping[str, object] = field(default_factory=dict)
    settled: Sequence[str] = ()
    unseen: Mapping[str, object] | None = None
    applies: Mapping[str, str] | None = None
    person: Sequence[str] = ()
    weight: str | None = None
    per_person: str | None = None
    household: Sequence[str] = ()
    items: Mapping[str, str] = field(default_factory=dict)
    shift: Shift | None = None
    released_weight: str | None = None
    person_numbers: str | None = None
    person_key: str | None = None

    def __repr__(self) -> str:
        records = f"{self.released:,} records"
        return in_a_line(self, records, f"{self.classes:,} classes", self._holds)

    def display(self) -> Display:
        """Verdicts, information, recoding and warnings."""
        return Display(
            f"Release: {plural(self.released, 'record')} in {self.classes:,} classes, "
            f"{self._holds}",
            [
                Points([warning.message for warning in self.warnings], "warning"),
                *self._fates(),
                Table("Policy, recounted", VERDICTS, [_verdict(each) for each in self.privacy]),
                Table("Information (bits)", ["", "bits"], _information(self.information)),
                Table("Recoding", ["quasi-identifier", "level", "labels"], self._recoding()),
            ],
        )

    @property
    def _holds(self) -> str:
        holds = all(each.satisfied for each in self.privacy)
        return "policy holds" if holds else "policy does not hold"

    def _fates(self) -> list[str]:
        """What became of the records of the table; nothing of a differentially private release."""
        if self.records is None or self.records == self.released == self.classes:
            return []
        fates = {"dropped": self.dropped, "suppressed": self.suppressed}
        shown = "".join(f", {number:,} {fate}" for fate, number in fates.items() if number)
        return [f"{self.released:,} of {self.records:,} records are released{shown}."]

    def _recoding(self) -> list[list[object]]:
        kind = "by class" if self.regions else "ranges or groups"
        return [
            [name, self.levels.get(name, kind), _labels(groups) or "drawn at random"]
            for name, groups in self.recoding.items()
        ]

    @property
    def manifest(self) -> Manifest:
        """The release as ``release.json`` reports it: no figure of the raw table."""
        return self.steward_manifest.public

    @property
    def steward_manifest(self) -> Manifest:
        """The same with the figures of the raw table, for its steward alone."""
        from anonymizer.release.manifest import FORMAT, Manifest  # loads pydantic

        own = {each.name: as_json(getattr(self, each.name)) for each in fields(self)}
        given = {name: value for name, value in own.items() if value or name not in LEFT_OUT}
        versions = {
            "anonymizer": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "pandas": pd.__version__,
        }
        study = {"fingerprint": self.study}
        return Manifest.parse({"format": FORMAT, **given, "study": study, "versions": versions})

    def to_dict(self) -> dict[str, Any]:
        """The manifest, ready for JSON: what may be given away."""
        return self.manifest.to_dict()


def _verdict(each: Verdict) -> list[object]:
    sizes = "persons" if each.model.of_persons else "class sizes"
    sizes = "households" if each.model.of_households else sizes
    about = each.about or (sizes if each.model.per_class else "the table")
    fails = f"{each.violating:,} of {each.classes:,}"
    holds = "yes" if each.satisfied else "NO"
    return [each.model.name, about, each.model.range, float(each.worst), fails, holds]


def _information(found: Information | None) -> list[list[object]]:
    if found is None:
        return []
    loss = "" if found.loss is None else f" ({found.loss:.1%} lost)"
    return [
        ["original", f"{found.original:.4f}"],
        ["retained", f"{found.retained:.4f}{loss}"],
        ["ceiling under the policy", f"{found.ceiling:.4f}"],
    ]


def _labels(groups: Sequence[object]) -> str:
    labels = [group.get("label") if isinstance(group, dict) else group for group in groups]
    return listing(labels, len(labels), SHOWN)
