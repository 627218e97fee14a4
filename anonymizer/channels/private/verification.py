"""Whether a channel holds a policy, by the models' own measures: nothing of a solver is trusted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.channels.private.requirements import (
    Demand,
    demand_of_records,
    demands_of,
    require_convex,
)
from anonymizer.channels.source import Sensitive, whole
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.information.entropy import divergence, entropy
from anonymizer.kernels.arrays import Floats, Mask
from anonymizer.privacy import (
    TOLERANCE,
    AlphaKAnonymity,
    KAnonymity,
    PrivacyModel,
    attributes_of,
    models_of,
)


@dataclass(frozen=True, eq=False)
class Policy:
    """Models, each with the sensitive attributes that it has to answer for.

    ``pairs`` has every model with every attribute that it is about; p(x) has shape (n,). Every
    symbol leaves as many of the ``records`` in question as k equally likely ones.
    """

    pairs: tuple[tuple[PrivacyModel, Sensitive], ...]
    p: Floats
    k: int
    records: float

    @classmethod
    def of(
        cls, models: Sequence[PrivacyModel], sensitive: Sequence[Sensitive], records: float | None
    ) -> "Policy":
        """Bring models and attributes together; k-anonymity needs the number of records."""
        require_convex(models_of(models))
        k = max((m.k for m in models if isinstance(m, KAnonymity | AlphaKAnonymity)), default=1)
        if k > 1 and records is None:
            raise InputError(
                f"k = {k} is about records: give joint as counts, or records, how many there are"
            )
        named = {one.attribute: one for one in sensitive}
        pairs = [
            (model, named[name])
            for model in models
            if not isinstance(model, KAnonymity)
            for name in attributes_of(model, tuple(named))
            if name is not None
        ]
        return cls(tuple(pairs), sensitive[0].source.p, k, records or 1.0)

    def demands(self, tolerated: bool) -> tuple[Demand, ...]:
        """The same as conditions of a program: the exact limits, or all that the checks let pass.

        Those about the records come last.
        """
        found = demands_of(self.pairs, tolerated)
        if self.k == 1:
            return found
        return (*found, demand_of_records(self.p, self.k, self.records, tolerated))

    def accepts(self, channel: Floats) -> bool:
        """Whether every symbol that a channel q(y|x) releases, shape (n, k), holds every model."""
        return not self._broken(channel)

    def each(self, channel: Floats) -> Mask:
        """Which symbols hold every model that is about symbols one by one, shape (k,).

        Those that are never released do.
        """
        laws, mass, released = self._laws(channel)
        fine = np.ones(len(mass), bool)
        for model, sensitive in self.pairs:
            if model.per_class:
                fine &= _held(model, sensitive, laws)
        if self.k > 1:
            fine &= self._uncertain(laws)
        every = np.ones(channel.shape[1], bool)
        every[released] = fine
        return every

    def require_reachable(self) -> None:
        """Refuse a policy that not even one symbol for everybody holds: then no channel does."""
        broken = self._broken(np.ones((len(self.p), 1)))
        if broken:
            raise PolicyUnreachableError(
                f"the policy is out of reach: {broken} fails even where one symbol is released "
                "for everybody; relax it"
            )

    def _broken(self, channel: Floats) -> str:
        """The first model that a channel breaks, in words; nothing where it holds them all."""
        laws, mass, _ = self._laws(channel)
        for model, sensitive in self.pairs:
            if model.per_class:
                fine = bool(_held(model, sensitive, laws).all())
            else:  # a bound on the mean information
                classes = sensitive.classes(sensitive.source.conditional.T @ laws)
                bits = divergence(classes.joint, classes.margin) @ (mass / mass.sum())
                fine = bool(model.accepts(np.array([bits])).all())
            if not fine:
                return f"{model.name} about {sensitive.attribute!r} ({model.range})"
        if self.k > 1 and not self._uncertain(laws).all():
            return f"k = {self.k} of {self.records:g} records"
        return ""

    def _laws(self, channel: Floats) -> tuple[Floats, Floats, Mask]:
        """p(x|y) and p(y) of the symbols that are released, and which these are."""
        joint = self.p[:, None] * channel
        mass = joint.sum(axis=0)
        released = mass > 0
        return joint[:, released] / mass[released], mass[released], released

    def _uncertain(self, laws: Floats) -> Mask:
        """H(record|y) = H(X|y) + sum_x p(x|y) log n_x >= log k, from p(x|y), shape (n, k)."""
        each = entropy(whole(laws.T)) + np.log2(self.records * self.p) @ laws
        return np.asarray(each >= np.log2(self.k) - TOLERANCE)


def _held(model: PrivacyModel, sensitive: Sensitive, laws: Floats) -> Mask:
    """Which symbols hold a model, given their p(x|y), shape (n, k)."""
    classes = sensitive.classes(sensitive.source.conditional.T @ laws)
    return np.asarray(model.accepts(model.measure(classes)))
