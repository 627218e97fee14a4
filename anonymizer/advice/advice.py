"""Advice on a policy: what it costs and protects on one table, and what to change."""

from collections.abc import Mapping
from dataclasses import dataclass

from anonymizer.advice.changes import Change, freeing_most
from anonymizer.advice.disclosure import Disclosure
from anonymizer.advice.obstacles import Obstacle
from anonymizer.advice.sweep import Sweep
from anonymizer.release.results import Result


@dataclass(frozen=True)
class Advice(Result):
    """What a policy costs and protects on one table, and what to change. Counts and names alone.

    Parameters
    ----------
    records
        Records that were counted.
    recoding, objective
        What the result is recoded by, and the objective: the study's, but plain information where
        that may rise under generalization.
    reachable
        Whether the policy can be satisfied.
    levels
        The level of each quasi-identifier in the best node of the lattice: what changes are
        measured against, whatever the recoding. Empty where there is none.
    hidden
        The quasi-identifiers of which the result says nothing, of ``varying`` ones.
    varying
        Quasi-identifiers of more than one value.
    classes, suppressed
        Its classes, and the records that it suppresses.
    original, retained
        I(X;W) and I(X~;W) about the sensitive attributes or targets, summed, in bits.
    value
        The objective, in its unit.
    disclosures
        What its classes disclose of each sensitive attribute.
    sweeps
        The frontier of t or l about each of them.
    drastic
        Why the result is drastic, in words; empty where it is not.
    obstacles
        The records that stand in the way: at the most general levels where the policy is out of
        reach; where the result is drastic, one level below it for each attribute that is hidden.
    changes
        What was searched: ways out of a policy out of reach, or what changes would free.
    improving
        Those changes that improve a drastic result, with what the study's own recoding reaches
        under them by the study's own objective: each was carried out.
    complete
        False where the time was up before everything was computed.
    """

    records: int
    recoding: str
    objective: str
    reachable: bool
    levels: Mapping[str, int]
    hidden: tuple[str, ...]
    varying: int
    classes: int
    suppressed: int
    original: float | None
    retained: float | None
    value: float | None
    disclosures: tuple[Disclosure, ...]
    sweeps: tuple[Sweep, ...]
    drastic: tuple[str, ...]
    obstacles: tuple[Obstacle, ...]
    changes: tuple[Change, ...]
    improving: tuple[Change, ...]
    complete: bool

    derived = ("most",)

    @property
    def most(self) -> tuple[Change, ...]:
        """Of at most three attributes the change that frees most, by ``Change.free``."""
        return freeing_most(self.changes)
