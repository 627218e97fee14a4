"""l-diversity: the effective number of sensitive values in a class."""

from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf, log2
from typing import Annotated

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.errors import MOST_RECORDS, InputError, require_number
from anonymizer.information.entropy import entropy, entropy_grassberger, entropy_miller_madow
from anonymizer.information.matrices import largest, occurring, rarer
from anonymizer.kernels import Bound, Kind
from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.privacy.base import (
    TOLERANCE,
    Positive,
    PrivacyModel,
    SensitiveModel,
    Whole,
    Wording,
    one_of,
    reads_sparse,
)
from anonymizer.privacy.beliefs import kept_by
from anonymizer.privacy.sizes import KAnonymity

ESTIMATORS = {
    "plug-in": (entropy, Kind.ENTROPY),
    "miller-madow": (entropy_miller_madow, Kind.MILLER_MADOW),
    "grassberger": (entropy_grassberger, Kind.GRASSBERGER),
}


@dataclass(frozen=True)
class DistinctLDiversity(SensitiveModel):
    """Every class holds at least l different sensitive values.

    Says nothing of how often they occur. Machanavajjhala et al. (2006).
    """

    name = "distinct-l-diversity"
    condition = "number of values w with n_gw > 0 is >= l"
    unit = "values"
    source = "Machanavajjhala et al. 2006"
    bounded_by = "l"
    kind = Kind.DISTINCT
    beyond = (
        "exceeds the {best:.0f} different values of {attribute!r} in the whole table; no recoding "
        "can reach it"
    )
    absolute = True
    strongly_monotone = True
    at_least = True
    wording = Wording(
        "The people who share a class have at least {l:count} different values of “{attribute}”.",
        "The class with the fewest has {worst:count}.",
        "How often values occur: One value of “{attribute}” may be that of nearly everybody in a "
        "class; distinct l-diversity counts different values alone.",
    )
    start = {"l": 2}

    l: Whole  # noqa: E741 (the model's own letter)

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        return occurring(classes.joint).astype(float)

    def without_odds(self, table: Classes) -> PrivacyModel | None:
        """Itself: beliefs of any odds leave every value that a class has."""
        return replace(self, odds=None)

    def lasting(self) -> tuple[PrivacyModel, ...]:
        """Itself: and l different values are of l records."""
        return (KAnonymity(self.l), self)


@dataclass(frozen=True)
class EntropyLDiversity(SensitiveModel):
    """Within a class W stays as uncertain as l equally likely values: H(W|g) >= log l.

    Equivalently I2(W, g) <= H(W) - log l. Measured as 2^H(W|g), the effective number of values;
    l is real. Machanavajjhala et al. (2006); Bezzi (2010), Eq. 10.

    Parameters
    ----------
    l
        The effective number of values.
    estimator
        ``"plug-in"``: the entropy of the class as it is, which is what an adversary sees.
        ``"miller-madow"`` and ``"grassberger"`` estimate that of the population the class was
        drawn from, from which small samples deviate downwards; they accept more. The number of
        values that they come to is never taken for less than one, nor for more than the different
        ones that the class holds: of a single record Grassberger's is more than a bit. Neither is
        monotone.
    """

    name = "entropy-l-diversity"
    condition = "H(W\\|g) >= log2 l"
    unit = "values"
    source = "Machanavajjhala et al. 2006; Miller 1955, Grassberger 2003"
    bounded_by = "l"
    absolute = True
    monotone_if = "plug-in only"
    # Not every class can be more diverse than the table (Eq. 15).
    beyond = (
        "is above 2^H = {best:.6f}, the effective number of values of {attribute!r} in the whole "
        "table; no recoding can reach it"
    )
    at_least = True
    wording = Wording(
        "Whoever finds a person's class stays as unsure of “{attribute}” as if there were "
        "at least {l:number} equally likely values.",
        "The class that leaves the least doubt leaves as much as {worst:number} equally "
        "likely values.",
        "Single values of “{attribute}”: One may be much likelier in a class than in the table, "
        "or ruled out; entropy l-diversity bounds the doubt about all of them together.",
    )
    start = {"l": 2.0}

    l: Annotated[float, partial(require_number, least=1)]  # noqa: E741 (the model's own letter)
    estimator: Annotated[str, one_of(ESTIMATORS)] = "plug-in"

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        """Entropy is concave in the class; its estimates are not."""
        return self.estimator == "plug-in"

    def without_odds(self, table: Classes) -> PrivacyModel | None:
        """l^(1 / a), as H(q_w) >= a H(p)."""
        return replace(self, odds=None, l=self.l ** (1 / kept_by(self.odds or 1.0)))

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        effective = np.asarray(np.exp2(ESTIMATORS[self.estimator][0](classes.joint)))
        if self.estimator == "plug-in":
            return effective
        return np.asarray(np.clip(effective, 1, occurring(classes.joint)))

    def accepts(self, values: Floats) -> Mask:
        with np.errstate(divide="ignore"):  # 0: no value at all
            return np.asarray(np.log2(values) >= self._bits)

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """At least log l bits; of an estimate at least l values too."""
        entropy = (Bound(ESTIMATORS[self.estimator][1], self._bits),)
        if self.monotone:
            return entropy
        # An estimate may be more than log2 of the values that occur: their number is bounded, too.
        return (Bound(Kind.DISTINCT, self._least), *(entropy if self._bits > 0 else ()))

    def necessary(self) -> tuple[PrivacyModel, ...]:
        if self.monotone:
            return (self,)
        return (DistinctLDiversity(self._least, attribute=self.attribute),)

    def lasting(self) -> tuple[PrivacyModel, ...]:
        """Require as many different values, however often each occurs."""
        return DistinctLDiversity(self._least, attribute=self.attribute).lasting()

    def over_persons(self) -> PrivacyModel:
        """Itself, unless it estimates: estimates are made of numbers of records."""
        if self.estimator == "plug-in":
            return self
        raise InputError(
            f"{self.name}: estimator = {self.estimator!r} corrects for numbers of records, and "
            "persons have several; leave it out"
        )

    @property
    def _bits(self) -> float:
        return log2(self.l) - TOLERANCE

    @property
    def _least(self) -> int:
        # Entropy is at most log2 of the number of values: at least l are different then.
        return max(1, ceil(min(2**self._bits, MOST_RECORDS)))

    def ceiling(self, margin: Ints) -> float:
        """H(W) - log l (Eq. 13); an estimate bounds nothing."""
        return float(entropy(margin) - log2(self.l)) if self.monotone else inf


@dataclass(frozen=True)
class RecursiveLDiversity(SensitiveModel):
    """The most frequent value of a class stays rarer than c times the rarer ones together.

    r_1 < c (r_l + ... + r_m), r_i being how often the i-th most frequent of the m values occurs.
    Measured as r_1 / (r_l + ... + r_m), infinite in a class of fewer than l values.
    Machanavajjhala et al. (2006), Definition 4.3.
    """

    name = "recursive-l-diversity"
    condition = "r_1 < c (r_l + ... + r_m), r_i the i-th largest n_gw"
    unit = "ratio"
    source = "Machanavajjhala et al. 2006"
    bounded_by = "c"
    absolute = True
    wording = Wording(
        "In every class the most frequent value of “{attribute}” has fewer than {c:number} "
        "times as many people as the rarer values from the {l:ordinal} most frequent on "
        "have together.",
        "In the class that comes nearest it has {worst:number} times as many.",
        "Rare values of “{attribute}”: One that is rare in the table may be frequent in a class; "
        "recursive l-diversity compares values within a class alone.",
    )
    allowed = "less than {c:number}"
    endless = "The worst class has fewer different values than l."
    larger_stricter = {"l": True}
    start = {"c": 3.0, "l": 2}

    c: Positive
    l: Whole  # noqa: E741 (the model's own letter)

    @property
    def void(self) -> bool:
        return self.l == 1 and self.c > 1

    @property
    def range(self) -> str:
        return f"< {self.c:g}"

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        tail = rarer(classes.joint, self.l - 1)
        ratio = np.full(len(classes), inf)
        np.divide(largest(classes.joint), tail, out=ratio, where=tail > 0)
        return ratio

    def accepts(self, values: Floats) -> Mask:
        """Ratios below c, strictly: where they tie there is no rounding to forgive."""
        return values < self.c

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        return (Bound(Kind.RECURSIVE, self.c, rank=self.l),)

    def lasting(self) -> tuple[PrivacyModel, ...]:
        """Different values enough for the rarer ones to be any."""
        return DistinctLDiversity(self.l, attribute=self.attribute).lasting()
