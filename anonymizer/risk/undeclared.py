"""Attributes without a role that identify: what a study may have forgotten to declare."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.errors import InputError, column_names
from anonymizer.information.entropy import entropy
from anonymizer.recoding import Watch, ignore
from anonymizer.release.results import Result
from anonymizer.release.warnings.warnings import IDENTIFYING, SINGLED_OUT
from anonymizer.risk.detection import Distinguished, distinguished, require_share, share_alone
from anonymizer.risk.refinement import Columns, Refinement
from anonymizer.risk.subsets import column_of, refined

OWN_VALUE = "nearly every record has its own value (distinction {:.4f})"
MORE_ALONE = "knowing it with the quasi-identifiers leaves {:.2%} of the records alone, not {:.2%}"


@dataclass(frozen=True)
class UndeclaredAttribute(Distinguished):
    """A column without a role, how well it distinguishes records, and what it adds."""

    name: str
    share_alone_combined: float  # of records, by the quasi-identifiers and the column
    adds: float  # H(column | quasi-identifiers), in bits: what it adds to re-identification
    kind: str | None = None  # "identifier", "quasi-identifier", or None where it is neither
    reason: str = ""  # why it is, with the figures; empty where it is neither


@dataclass(frozen=True)
class Undeclared(Result):
    """The columns without a role, those that leave most records alone first."""

    share_alone: float  # of records, in their class by the quasi-identifiers
    attributes: tuple[UndeclaredAttribute, ...]  # every column that was counted
    skipped: tuple[str, ...]  # names of those that could not be, such as columns of lists

    @property
    def flagged(self) -> tuple[UndeclaredAttribute, ...]:
        """The attributes that identify."""
        return tuple(attribute for attribute in self.attributes if attribute.kind)

    def to_dict(self) -> dict[str, Any]:
        """The figures of all columns, and the names of those that identify."""
        return {**super().to_dict(), "flagged": [attribute.name for attribute in self.flagged]}


def undeclared(
    table: Columns,
    columns: Sequence[str],
    quasi_identifiers: Sequence[str],
    declared: Iterable[str] = (),
    *,
    identifying: float = IDENTIFYING,
    singled_out: float = SINGLED_OUT,
    watch: Watch = ignore,
) -> Undeclared:
    """How columns without a role identify records, alone and with the quasi-identifiers.

    An attribute is an identifier where its distinction is at least ``identifying``. It is a
    quasi-identifier where adding it to the declared ones raises the share of records alone in their
    class by at least ``singled_out``. Nearly unique numbers, such as sums and times, are flagged
    too, and rightly: whoever knows one finds the record. Missing values are values.

    Columns are read one at a time. ``columns`` are the names of all of them, ``declared`` those
    that have another role: sensitive, identifier, target. Both thresholds are shares in (0, 1].

    Raises
    ------
    InputError
        When a threshold is no such share, or the table lacks a column or has no records.
    """
    require_share("identifying", identifying)
    require_share("singled_out", singled_out)
    known = column_names("quasi_identifiers", quasi_identifiers)
    declared = column_names("declared", tuple(declared))
    classes = refined(Refinement.trivial(len(table)), table, known)
    others = [name for name in columns if name not in (*known, *declared)]
    found, skipped, before = [], [], share_alone(classes.sizes)
    for done, name in enumerate(others):
        watch("measuring columns without a role", done, len(others))
        figures = _figures(table, name, classes)
        if figures is None:
            skipped.append(name)
            continue
        kind, reason, alone = None, "", figures["share_alone_combined"]
        if figures["distinction"] >= identifying:
            kind, reason = "identifier", OWN_VALUE.format(figures["distinction"])
        elif alone - before >= singled_out:
            kind, reason = "quasi-identifier", MORE_ALONE.format(alone, before)
        found.append(UndeclaredAttribute(**figures, name=name, kind=kind, reason=reason))
    found.sort(key=lambda one: (-one.share_alone_combined, -one.distinction, one.name))
    return Undeclared(before, tuple(found), tuple(skipped))


def _figures(table: Columns, name: str, classes: Refinement) -> dict[str, float] | None:
    """The figures of a column alone and with the quasi-identifiers; None if it is not countable."""
    column = column_of(table, name)
    try:
        own = Refinement.trivial(len(table)).by(column)
    except InputError:
        return None
    # Records that are all alone by the column are so with the quasi-identifiers too.
    both = own if own.classes == len(table) else classes.by(column)
    adds = max(float(entropy(both.sizes) - entropy(classes.sizes)), 0.0)
    alone = {"share_alone_combined": share_alone(both.sizes), "adds": adds}
    return vars(distinguished(own)) | alone
