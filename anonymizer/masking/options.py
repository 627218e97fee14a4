"""Random recodings: values drawn from a channel instead of generalized ones."""

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, ClassVar

from anonymizer.errors import InputError, column_names, did_you_mean, is_whole, require_one_of
from anonymizer.objectives import Objective
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding.problem.problem import Run
from anonymizer.recoding.recoding import (
    Outcome,
    Recoding,
    RecodingPlan,
    Task,
    require_unweighted,
)

if TYPE_CHECKING:
    from anonymizer.masking.candidate import Candidate
    from anonymizer.masking.part import Part

__all__ = ["DISTORTION", "DISTORTIONS", "Bottleneck", "Noise", "Pram", "RandomRecoding"]

DISTORTION = "distortion"
"""What there is as little of as can be: the objective of a random recoding, in manifests."""

LARGEST = 1e300
"""Numbers beyond are none that anybody means, and some are no floats."""

DISTORTIONS = ("squared", "absolute", "hamming", "hierarchy")


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

    attributes: Sequence[str] | None = None
    levels: Mapping[str, int] | None = None
    jointly: bool = True
    distortion: str | Mapping[str, str] | None = None
    min_records: int | None = None
    draws: int = 20
    withhold: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        if not (self.levels is None or isinstance(self.levels, Mapping)):
            raise InputError(f"{self.name}: levels must map quasi-identifiers to levels")
        for name in ("jointly", "withhold"):
            self._require_truth(name)
        for name, least in (("min_records", 1), ("draws", 1), ("seed", 0)):
            value = getattr(self, name)
            if (name == "draws" or value is not None) and not is_whole(value, least=least):
                raise InputError(
                    f"{self.name}: {name} = {value!r} must be a whole number from {least}"
                )
        for each in self._distortions():
            require_one_of(f"{self.name}: distortion", each, DISTORTIONS)

    @abstractmethod
    def candidates(
        self, part: "Part", models: Sequence[PrivacyModel], least: float
    ) -> Iterator["Candidate"]:
        """Channels of a part of the attributes, in the order in which they are to be tried.

        Parameters
        ----------
        part
            What is drawn.
        models
            The policy.
        least
            Every symbol is expected for so many records.
        """

    def shared(self, parts: int) -> "RandomRecoding":
        """The recoding of one of several parts: what is promised of all of them is shared out."""
        return self

    def require_suitable(
        self, models: Sequence[PrivacyModel], objective: Objective, run: Run
    ) -> None:
        """Refuse a policy about samples, an objective and a time limit."""
        super().require_suitable(models, objective, run)
        require_unweighted(self.name, objective)

    def fit(self, task: Task) -> tuple[RecodingPlan, Outcome]:
        """Find channels for a table, draw from them, and carry out the first draw that holds."""
        from anonymizer.masking.plan import fitted  # its solvers take a while to load

        return fitted(self, task)

    def drawn(self, names: Sequence[str]) -> tuple[str, ...]:
        """Which quasi-identifiers are drawn, in their order.

        Raises
        ------
        InputError
            When an option is about others.
        """
        named = names if self.attributes is None else column_names("attributes", self.attributes)
        for name in named:
            if name not in names:
                hint = did_you_mean(str(name), names)
                raise InputError(f"{self.name}: {name!r} is no quasi-identifier{hint}")
        for option in self._options_by_attribute:
            for name in option if isinstance(option, Mapping) else ():
                if name not in named:
                    raise InputError(
                        f"{self.name}: {name!r} has an option, but is not drawn"
                        + did_you_mean(str(name), list(named))
                    )
        if not named:
            raise InputError(f"{self.name}: attributes must name at least one quasi-identifier")
        return tuple(name for name in names if name in named)

    @property
    def independent(self) -> bool:
        """Whether every record is drawn by itself: what epsilon promises, it promises of that."""
        return False

    def distortion_of(self, name: str) -> str | None:
        """The distortion that is requested for an attribute, if any is."""
        if isinstance(self.distortion, Mapping):
            return self.distortion.get(name)
        return self.distortion

    @property
    def described(self) -> dict[str, object]:
        """The method and its options but for the seed: part of a study's fingerprint."""
        options = super().described
        del options["seed"]
        return options

    @property
    def _options_by_attribute(self) -> list[object]:
        return [self.distortion]

    def _distortions(self) -> list[object]:
        if isinstance(self.distortion, str):
            return [self.distortion]
        return list(self._by_attribute("distortion", self.distortion).values())

    def _by_attribute(self, option: str, given: object) -> Mapping[str, object]:
        """What is given by attribute; nothing where it is left out."""
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise InputError(f"{self.name}: {option} must be given by attribute")
        return given

    def _require_truth(self, option: str) -> None:
        if not isinstance(getattr(self, option), bool):
            raise InputError(f"{self.name}: {option} must be true or false")

    def _require_number(self, option: str, value: object, *, above: bool) -> None:
        number = isinstance(value, Real) and not isinstance(value, bool) and _sensible(value)
        if not number or value < 0 or (above and value == 0):  # type: ignore[operator]
            reach = "above 0" if above else "of at least 0"
            raise InputError(f"{self.name}: {option} = {value!r} must be a number {reach}")


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

    alphabet: Mapping[str, Sequence[object]] | None = None
    invariant: bool = False
    epsilon: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_truth("invariant")
        if self.epsilon is not None:
            self._require_number("epsilon", self.epsilon, above=True)
        for name, symbols in self._by_attribute("alphabet", self.alphabet).items():
            if not _are_symbols(symbols):
                raise InputError(f"{self.name}: alphabet of {name!r} must be a list of values")
        if self.invariant and self.alphabet is not None:
            raise InputError(
                f"{self.name}: invariant releases the values that occur; leave out alphabet"
            )

    def candidates(
        self, part: "Part", models: Sequence[PrivacyModel], least: float
    ) -> Iterator["Candidate"]:
        """Channels of least distortion, with wider and wider margins."""
        from anonymizer.masking.pram import pram

        return pram(part, self, models, least)

    def shared(self, parts: int) -> "Pram":
        """Epsilon in equal shares: what attributes disclose one by one adds up."""
        return self if self.epsilon is None else replace(self, epsilon=self.epsilon / parts)

    @property
    def independent(self) -> bool:
        """Whether every record is drawn by itself: what epsilon promises, it promises of that."""
        return self.epsilon is not None

    @property
    def _options_by_attribute(self) -> list[object]:
        return [self.distortion, self.alphabet]


@dataclass(frozen=True)
class Noise(RandomRecoding):
    """As much Gaussian noise on numbers, rounded to a grid, as the policy needs.

    Other parameters are those of :class:`RandomRecoding`.

    Parameters
    ----------
    grid
        The numbers released are multiples of this, by attribute; a tenth of the standard deviation,
        rounded, when left out.
    """

    name: ClassVar[str] = "noise"

    grid: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, width in self._by_attribute("grid", self.grid).items():
            self._require_number(f"grid of {name!r}", width, above=True)

    def candidates(
        self, part: "Part", models: Sequence[PrivacyModel], least: float
    ) -> Iterator["Candidate"]:
        """Channels of the Gaussian rule, with more and more noise."""
        from anonymizer.masking.noise import noise

        return noise(part, self.grid or {}, least)

    @property
    def _options_by_attribute(self) -> list[object]:
        return [self.distortion, self.grid]


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
        if self.rate is not None:
            self._require_number("rate", self.rate, above=False)

    def candidates(
        self, part: "Part", models: Sequence[PrivacyModel], least: float
    ) -> Iterator["Candidate"]:
        """Channels of the bottleneck, those that keep most first."""
        from anonymizer.masking.bottleneck import bottleneck

        return bottleneck(part, self.rate, models, least)


def _are_symbols(stated: object) -> bool:
    """Whether these are values that can stand in a table: no lists, no numbers beyond all."""
    if isinstance(stated, str) or not isinstance(stated, Sequence):
        return False
    return len(stated) > 0 and all(
        isinstance(each, Hashable) and (not isinstance(each, Real) or _sensible(each))
        for each in stated
    )


def _sensible(number: Real) -> bool:
    """Whether a number is finite, and of a size that floats have."""
    return bool(-LARGEST < number < LARGEST)  # type: ignore[operator]
