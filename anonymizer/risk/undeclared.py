"""Attributes that nobody declared but that identify: what a study may have forgotten."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anonymizer.errors import InputError, column_names
from anonymizer.information.entropy import entropy
from anonymizer.recoding import Watch, ignore
from anonymizer.release.warnings.warnings import IDENTIFYING, SINGLED_OUT
from anonymizer.risk.detection import Distinguished, require_share, share_alone
from anonymizer.risk.refinement import Columns, Refinement
from anonymizer.risk.subsets import column_of, refined

__all__ = ["Undeclared", "UndeclaredAttribute", "undeclared"]


@dataclass(frozen=True)
class UndeclaredAttribute:
    """A column without a role, and what an attacker who knows it gains.

    Parameters
    ----------
    name
        The column.
    told
        How well it tells records apart alone.
    alone
        Records alone in their class, by records, for who knows it beside the quasi-identifiers.
    adds
        H(it | the quasi-identifiers), in bits: what it adds to re-identification.
    kind
        ``"identifier"``, ``"quasi-identifier"``, or None where it is neither.
    reason
        Why it is, with the figures; empty where it is neither.
    """

    name: str
    told: Distinguished
    alone: float
    adds: float
    kind: str | None
    reason: str

    def to_dict(self) -> dict[str, object]:
        """The attribute as JSON has it."""
        return {
            "name": self.name,
            "kind": self.kind,
            "reason": self.reason,
            "distinction": self.told.distinction,
            "separation": self.told.separation,
            "share_alone": self.told.alone,
            "share_alone_beside": self.alone,
            "adds": self.adds,
        }


@dataclass(frozen=True)
class Undeclared:
    """The columns without a role, those that leave most records alone first.

    Parameters
    ----------
    alone
        Records alone in their class by the quasi-identifiers, by records.
    attributes
        Every column that was counted.
    skipped
        Names of columns that could not be: of lists, say.
    """

    alone: float
    attributes: tuple[UndeclaredAttribute, ...]
    skipped: tuple[str, ...]

    @property
    def flagged(self) -> tuple[UndeclaredAttribute, ...]:
        """The attributes to be warned of."""
        return tuple(attribute for attribute in self.attributes if attribute.kind)

    def to_dict(self) -> dict[str, object]:
        """The warnings, and the figures of the other columns, as JSON has them."""
        return {
            "share_alone": self.alone,
            "flagged": [attribute.name for attribute in self.flagged],
            "attributes": [attribute.to_dict() for attribute in self.attributes],
            "skipped": list(self.skipped),
        }


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
    """What columns without a role tell about who a record is of, alone and beside the declared.

    An attribute is an identifier where its distinction is at least ``identifying``; a
    quasi-identifier where knowing it beside the declared ones leaves at least ``singled_out`` of
    the records more alone in their class. Nearly unique numbers, such as sums and times, are
    flagged too, and rightly: whoever knows one finds the record. Missing values are values.

    Columns are read one at a time.

    Parameters
    ----------
    table
        The table.
    columns
        Names of all of its columns.
    quasi_identifiers
        The declared ones.
    declared
        Columns that have another role: sensitive, identifier, target.
    identifying, singled_out
        Thresholds, shares in (0, 1].
    watch
        Told of the progress.

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
        told = _beside(table, name, classes)
        if told is None:
            skipped.append(name)
        else:
            found.append(_judged(name, told, before, identifying, singled_out))
    return Undeclared(
        before,
        tuple(sorted(found, key=lambda one: (-one.alone, -one.told.distinction, one.name))),
        tuple(skipped),
    )


def _beside(
    table: Columns, name: str, classes: Refinement
) -> tuple[Distinguished, float, float] | None:
    """How well a column tells records apart; alone beside others, and bits added; None: uncounted.

    Records that are all alone, by either, are so by both.
    """
    records, column = len(table), column_of(table, name)
    try:
        own = Refinement.trivial(records).by(column)
    except InputError:
        return None
    both = own if own.classes == records else classes
    if both.classes < records:
        both = classes.by(column)
    adds = float(entropy(both.sizes) - entropy(classes.sizes))
    return Distinguished.by(own.sizes), share_alone(both.sizes), max(adds, 0.0)


def _judged(
    name: str,
    told: tuple[Distinguished, float, float],
    before: float,
    identifying: float,
    singled_out: float,
) -> UndeclaredAttribute:
    """Whether a column identifies, and why."""
    own, alone, adds = told
    kind, reason = None, ""
    if own.distinction >= identifying:
        kind = "identifier"
        reason = f"nearly every record has its own value (distinction {own.distinction:.4f})"
    elif alone - before >= singled_out:
        kind = "quasi-identifier"
        reason = (
            f"knowing it beside the quasi-identifiers leaves {alone:.2%} of the records alone, "
            f"not {before:.2%}"
        )
    return UndeclaredAttribute(name, own, alone, adds, kind, reason)
