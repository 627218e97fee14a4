"""Random recodings: values drawn from a channel instead of generalized ones."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, Literal, Self, get_args

from anonymizer.errors import (
    InputError,
    column_names,
    did_you_mean,
    is_number,
    is_whole,
    require_one_of,
    shown,
)
from anonymizer.objectives import MutualInformation, Objective
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding.problem import Run
from anonymizer.recoding.recoding import Outcome, Recoding, RecodingPlan, Task

DISTORTION = "distortion"
"""What there is as little of as can be: the objective of a random recoding, in manifests."""

LARGEST = 1e300
SENSIBLE = (-LARGEST, LARGEST)
"""Numbers beyond are none that anybody means, and some are no floats."""

Distortion = Literal["squared", "absolute", "hamming", "hierarchy"]
DISTORTIONS: tuple[str, ...] = get_args(Distortion)


@dataclass(frozen=True)
class RandomRecoding(Recoding):
    """Values drawn at random from channels p(released | true) that satisfy the policy.

    Parameters
    ----------
    attributes
        The quasi-identifiers that are drawn; all when left out. The others are released at their
        levels, and each combination of them has a channel of its own.
    levels
        The levels that values are drawn from, 0 for those left out: the values themselves.
    jointly
        One channel for all these attributes together, which alone can promise something of their
        combinations; otherwise one for each, and only the drawn table is held against the policy.
    distortion
        ``"squared"``, ``"absolute"``, ``"hamming"`` or ``"hierarchy"`` (levels up to the common
        group), for all attributes or by attribute: squared for numbers at level 0 and Hamming
        otherwise when left out. Of several attributes each is divided by what releasing the same
        value for everybody would cost, and the sum is minimised.
    min_records
        Every released class has so many records at least, and as many as the policy needs in any
        case. When left out every symbol is expected for a quarter of the square root of the
        records.
    draws
        How many times a channel is drawn from before another with a wider margin is tried.
    withhold
        Leave the channel out of the manifest. Analysts can then not correct for it.
    seed
        For the draw; from the system's entropy when left out. Whoever knows it can undo much of
        what was drawn: it is never written anywhere.
    """

    searches: ClassVar[bool] = False
    by_attribute: ClassVar[Sequence[str]] = ("distortion",)
    """The options that may map attributes to values."""
    minimises: ClassVar[str] = DISTORTION

    attributes: Sequence[str] | None = None
    levels: Mapping[str, int] | None = None
    jointly: bool = True
    distortion: Distortion | Mapping[str, Distortion] | None = None
    min_records: int | None = None
    draws: int = 20
    withhold: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        levels = self.levels is None or isinstance(self.levels, Mapping)
        self._require(levels, "levels must map quasi-identifiers to levels")
        for option in ("jointly", "withhold"):
            truth = isinstance(getattr(self, option), bool)
            self._require(truth, f"{option} must be true or false")
        for option, least in (("min_records", 1), ("draws", 1), ("seed", 0)):
            value = getattr(self, option)
            fine = is_whole(value, least=least) or (value is None and option != "draws")
            self._require(fine, f"{option} = {shown(value)} must be a whole number from {least}")
        one = isinstance(self.distortion, str)
        for kind in [self.distortion] if one else self._of_attributes("distortion").values():
            require_one_of(f"{self.name}: distortion", kind, DISTORTIONS)

    def require_suitable(
        self, models: Sequence[PrivacyModel], objective: Objective, run: Run
    ) -> None:
        """Refuse a policy about samples, an objective and a time limit."""
        super().require_suitable(models, objective, run)
        plain = type(objective) is MutualInformation and not objective.weights
        if not plain:  # the objective that stands for none
            raise InputError(f"recoding {self.name!r} maximises nothing; leave out the objective")

    def fit(self, task: Task) -> tuple[RecodingPlan, Outcome]:
        """Find channels for a table, draw from them, and carry out the first draw that holds."""
        from anonymizer.masking.plan import fitted  # its solvers take a while to load

        return fitted(self, task)

    def drawn(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the quasi-identifiers to draw, in their order.

        Raises
        ------
        InputError
            When an option is about others.
        """
        named = names if self.attributes is None else column_names("attributes", self.attributes)
        for name in named:
            hint = did_you_mean(str(name), names)
            self._require(name in names, f"{name!r} is no quasi-identifier{hint}")
        for option in self.by_attribute:
            given = getattr(self, option)
            for name in given if isinstance(given, Mapping) else ():
                hint = did_you_mean(str(name), named)
                self._require(name in named, f"{name!r} has an option, but is not drawn{hint}")
        self._require(bool(named), "attributes must name at least one quasi-identifier")
        return tuple(name for name in names if name in named)

    @property
    def promised(self) -> float | None:
        """Local differential privacy of all channels together, in nats; None: none is promised."""
        return None

    @property
    def independent(self) -> bool:
        """Whether every record is drawn by itself: what epsilon promises, it promises of that."""
        return self.promised is not None

    def split(self, parts: int) -> Self:
        """Return the options for one of ``parts`` channels."""
        return self

    def distortion_of(self, name: str) -> Distortion | None:
        """The distortion that is requested for an attribute, if any is."""
        if isinstance(self.distortion, Mapping):
            return self.distortion.get(name)
        return self.distortion

    @property
    def described(self) -> dict[str, object]:
        """The method and its options but for the seed: part of a study's fingerprint."""
        return {key: value for key, value in super().described.items() if key != "seed"}

    def _of_attributes(self, option: str) -> Mapping[str, object]:
        """Read an option given by attribute; nothing where it is left out."""
        given = getattr(self, option)
        self._require(
            given is None or isinstance(given, Mapping), f"{option} must be given by attribute"
        )
        return given or {}

    def _require(self, fine: bool, complaint: str) -> None:
        if not fine:
            raise InputError(f"{self.name}: {complaint}")


@dataclass(frozen=True)
class Pram(RandomRecoding):
    """The channel that distorts least for the policy, every released class satisfying it.

    Post-randomization. Other parameters are those of :class:`RandomRecoding`.

    Parameters
    ----------
    alphabet
        What may be released, by attribute: the values that occur when left out, and for a single
        attribute of numbers the means of its best ranges too.
    invariant
        Released values are distributed as the true ones.
    epsilon
        Local differential privacy of the channel, or of all channels together, no symbol being more
        than exp(epsilon) times as likely for one value as for another. Every record is then drawn
        by itself; that a table which breaks the policy is drawn again is not part of the promise.
    """

    name: ClassVar[str] = "pram"
    by_attribute: ClassVar[Sequence[str]] = ("distortion", "alphabet")

    alphabet: Mapping[str, Sequence[object]] | None = None
    invariant: bool = False
    epsilon: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(isinstance(self.invariant, bool), "invariant must be true or false")
        fine = self.epsilon is None or _is_positive(self.epsilon)
        self._require(fine, f"epsilon = {shown(self.epsilon)} must be a number above 0")
        for name, symbols in self._of_attributes("alphabet").items():
            self._require(_are_symbols(symbols), f"alphabet of {name!r} must be a list of values")
        self._require(
            not self.invariant or self.alphabet is None,
            "invariant releases the values that occur; leave out alphabet",
        )

    @property
    def promised(self) -> float | None:
        """Epsilon."""
        return self.epsilon

    def split(self, parts: int) -> Self:
        """Share epsilon out: what attributes disclose one by one adds up."""
        return self if self.epsilon is None else replace(self, epsilon=self.epsilon / parts)


@dataclass(frozen=True)
class Noise(RandomRecoding):
    """Gaussian noise on numbers, rounded to a grid, as much as the policy needs.

    Other parameters are those of :class:`RandomRecoding`.

    Parameters
    ----------
    grid
        The numbers released are multiples of this, by attribute; a tenth of the standard deviation,
        rounded, when left out.
    """

    name: ClassVar[str] = "noise"
    by_attribute: ClassVar[Sequence[str]] = ("distortion", "grid")

    grid: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, width in self._of_attributes("grid").items():
            complaint = f"grid of {name!r} = {shown(width)} must be a number above 0"
            self._require(_is_positive(width), complaint)


@dataclass(frozen=True)
class Bottleneck(RandomRecoding):
    """Synthetic values that keep as much about the sensitive attribute as the policy lets them.

    Information bottleneck. Other parameters are those of :class:`RandomRecoding`.

    Parameters
    ----------
    rate
        At most so many bits about the true values, I(X;X').
    """

    name: ClassVar[str] = "bottleneck"

    rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        fine = self.rate is None or is_number(self.rate, 0, LARGEST)
        self._require(fine, f"rate = {shown(self.rate)} must be a number of at least 0")


def _are_symbols(given: object) -> bool:
    """Return whether values can stand in a table: no lists, no infinite numbers."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        return False
    return all(
        isinstance(each, Hashable)
        and (isinstance(each, bool) or not isinstance(each, Real) or is_number(each, *SENSIBLE))
        for each in given
    )


def _is_positive(given: object) -> bool:
    return is_number(given, 0, LARGEST, above=True, below=True)
