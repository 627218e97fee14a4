"""The minimality attack: what a known policy and algorithm reveal in addition to the release.

Wong, Fu, Wang, Pei, "Minimality attack in privacy preserving data publishing" (VLDB 2007). A search
that keeps as much as a policy allows generalizes because it has to: every finer release would have
broken the policy. Where that depends on sensitive values, it discloses something about them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import gt

import numpy as np

from anonymizer.counts.counts import Classes, Counts
from anonymizer.errors import InputError, is_whole
from anonymizer.hierarchy import Taxonomy
from anonymizer.information.matrices import largest, too_large
from anonymizer.kernels import choose
from anonymizer.kernels.arrays import Codes
from anonymizer.privacy import PrivacyModel, acceptable
from anonymizer.recoding import Problem
from anonymizer.recoding.lattice import Node
from anonymizer.release.results import Result
from anonymizer.risk.attacks.beliefs import ENOUGH, MinimalityEvidence
from anonymizer.risk.attacks.parts import BATCHES
from anonymizer.risk.attacks.specializations import Setting, classes_at, specializations

DRAWS = 10_000
"""The default number of worlds drawn."""

MOST_EVENTS = 6
"""The largest number of finer releases of uncertain verdict: the work grows with its power of 2."""

ROUNDING = 1e-9
"""The rounding error of a probability of 1."""


@dataclass(frozen=True)
class Minimality(Result):
    """What an attacker learns from knowing that no finer release satisfied the policy.

    He knows the quasi-identifiers of every record, the release, the hierarchies, the policy and
    that the search was exact. Worlds are the ways to deal the sensitive values of each class to its
    records, all equally likely; minimality, M, excludes those in which a direct specialization
    satisfies the policy. Other nodes of the lattice, which would have scored less, are not used, so
    that an optimum may reveal more than this. What is not known is None.

    The ``method`` is ``"exact"``; ``"sampled"``: estimated from draws; ``"unknown"``: M is too rare
    among the draws, or too costly, to report anything about single records; ``"not applicable"``:
    the release is not known to be minimal.

    ``probability`` is p(M), the share of all worlds that is left; -log2 of it is the information of
    M about the table as a whole, in bits. ``probability_below`` is the upper end of it at 95 %
    confidence, where draws allow no more than that. ``records_raised`` are those whose largest
    posterior exceeds the largest share of their class by more than 0.01, ``records_breached`` those
    whose beliefs, taken as the distribution of their class, break a model.

    Of sampled beliefs only those count that differ by more than five standard errors, so that more
    draws may show more. The largest is the one with the highest lower end.
    """

    method: str
    reason: str = ""  # why it is unknown or not applicable
    reveals: bool | None = None  # whether M excludes any world
    specializations: int = 0  # direct ones, of other classes
    certain: int = 0  # those among them that break the policy in every world
    probability: float | None = None
    probability_below: float | None = None
    largest_share: float | None = None  # p(w | class)
    largest_posterior: float | None = None  # p(w | record, release, M)
    standard_error: float | None = None  # of the largest posterior; 0 where it is exact
    factor: float | None = None  # the largest by which M makes a value likelier, or 1
    surprise: float | None = None  # the largest D(beliefs || class's shares) of a record, in bits
    records_raised: int | None = None
    records_breached: int | None = None
    draws: int = 0  # worlds drawn; 0 where none had to be
    accepted: int = 0  # those among them in which M holds

    @property
    def examined(self) -> bool:
        """Whether it is known what M reveals about single records."""
        return self.method in ("exact", "sampled")

    @property
    def why(self) -> str:
        """The reason without the method."""
        return self.reason.removeprefix(f"{self.method}: ")

    @classmethod
    def not_applicable(cls, reason: str) -> "Minimality":
        """The result where the release is not known to be minimal."""
        return cls("not applicable", f"not applicable: {reason}")


def minimality(
    counts: Counts,
    taxonomies: Mapping[str, Taxonomy],
    node: Node,
    models: Sequence[PrivacyModel],
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> Minimality:
    """What an attacker learns from a node being the best that satisfies a policy.

    ``counts`` are of the raw quasi-identifiers. Their sensitive values serve to make the release
    and to verify that it is minimal; the attacker does not know them. The ``node`` was found by an
    exact search for an objective that never rises under generalization, without suppression;
    ``models`` are all that it had to satisfy, with the bounds of the search. Where worlds are too
    many to enumerate ``draws`` of them are drawn, rounded up to a multiple of ``BATCHES``.

    Raises InputError when the number of draws is not positive, or the node not in the lattice.
    """
    problem = Problem(counts, taxonomies, models)
    _require_valid(problem, node, draws)
    occupied = counts.select(counts.sizes > 0)
    finer = specializations(occupied, taxonomies, node)
    if doubt := _doubt(problem, node, finer):
        return Minimality.not_applicable(doubt)
    if any(map(too_large, occupied.joint.values())):
        return Minimality("unknown", "there are too many sensitive values to weigh their worlds")
    settings = _settings(occupied, classes_at(occupied, taxonomies, node), models)
    fixed = [model for model in models if not model.sensitive]
    uncertain = [
        class_of
        for lower, class_of in finer.items()
        if acceptable(problem.at(lower), fixed).all()
        and not any(setting.always_breaks(class_of) for setting in settings)
    ]
    released = problem.at(node)
    about = [setting.attribute for setting in settings] or released.sensitive
    share = max((_largest_share(released.about(name)) for name in about), default=None)
    known = Minimality(  # if every finer release breaks the policy in every world
        "exact",
        reveals=False,
        specializations=len(finer),
        certain=len(finer) - len(uncertain),
        probability=1.0,
        largest_share=share,
        largest_posterior=share,
        standard_error=0.0,
        factor=1.0,
        surprise=0.0,
        records_raised=0,
        records_breached=0,
    )
    if not uncertain:
        return known
    if reason := _too_much(models, settings, len(uncertain)):
        return _unknown(known, reason)
    rounded = -(-draws // BATCHES) * BATCHES
    setting = replace(settings[0], kernel=choose(rounded * len(occupied)))
    return _learnt(known, setting, MinimalityEvidence.of(setting, uncertain, rounded, rng))


def _require_valid(problem: Problem, node: Node, draws: int) -> None:
    """Require a positive number of draws, and a node of the lattice."""
    if not is_whole(draws, least=1):
        raise InputError(f"draws = {draws!r} must be a whole number of at least 1")
    heights = problem.lattice.heights
    whole = all(is_whole(level, least=0) for level in node)
    if not whole or len(node) != len(heights) or any(map(gt, node, heights)):
        raise InputError(
            f"levels {list(node)} are no node of the lattice, whose highest are {list(heights)}; "
            "take those of the release's manifest"
        )


def _doubt(problem: Problem, node: Node, finer: Iterable[Node]) -> str | None:
    """Why a node is not the best one under a policy; None if no reason is known."""
    if not problem.feasible(problem.at(node)):
        return "the levels released do not satisfy the policy, so that it is not the one searched"
    if any(problem.feasible(problem.at(lower)) for lower in finer):
        return "a direct specialization satisfies the policy too: the search required more than it"
    return None


def _largest_share(classes: Classes) -> float:
    """The largest p(w|g) of any class."""
    return float((largest(classes.joint) / np.maximum(classes.sizes, 1)).max())


def _settings(counts: Counts, class_of: Codes, models: Sequence[PrivacyModel]) -> list[Setting]:
    """The setting of each attribute that the policy is about."""
    return [
        Setting.of(counts, attribute, class_of, [m for m in own if m.per_class])
        for attribute in counts.sensitive
        if (own := [m for m in models if m.sensitive and m.attribute in (None, attribute)])
    ]


def _too_much(
    models: Sequence[PrivacyModel], settings: Sequence[Setting], events: int
) -> str | None:
    """Why the attack cannot be worked out; None where it can."""
    whole = [model.name for model in models if model.sensitive and not model.per_class]
    if whole:
        return f"{whole[0]} is about all classes together, so that their worlds do not factor"
    if len(settings) > 1:
        return (
            f"the policy is about {len(settings)} sensitive attributes, and which of their values "
            "go together is not counted"
        )
    if events > MOST_EVENTS:
        return f"{events} finer releases are of uncertain verdict, more than {MOST_EVENTS}"
    return None


def _unknown(
    known: Minimality, reason: str, evidence: MinimalityEvidence | None = None
) -> Minimality:
    """The result where nothing can be reported about single records."""
    return Minimality(
        "unknown",
        reason,
        reveals=True if evidence and evidence.accepted < evidence.draws else None,
        specializations=known.specializations,
        certain=known.certain,
        probability_below=evidence.below if evidence else None,
        largest_share=known.largest_share,
        draws=evidence.draws if evidence else 0,
        accepted=evidence.accepted if evidence else 0,
    )


def _learnt(known: Minimality, setting: Setting, evidence: MinimalityEvidence) -> Minimality:
    """The result of the evidence."""
    if not evidence.enough:
        return _unknown(
            known,
            f"all finer releases break the policy in {evidence.accepted} of {evidence.draws} "
            f"worlds drawn, and fewer than {ENOUGH} say nothing of a single record",
            evidence,
        )
    probability = min(float(evidence.probability[0]), 1.0)
    excludes = probability < 1 - ROUNDING
    sampled = evidence.draws > 0
    return replace(
        known,
        method="sampled" if sampled else "exact",
        reveals=True if excludes else (None if sampled else False),
        probability=probability,
        draws=evidence.draws,
        accepted=evidence.accepted,
        **evidence.beliefs().gain(setting, float(known.largest_share or 0)),
    )
