"""What a steward states about a random recoding."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real

from anonymizer.errors import InputError, column_names, did_you_mean, is_whole, require_one_of

__all__ = ["DISTORTION", "DISTORTIONS", "METHODS", "Masking", "masking_of"]

DISTORTION = "distortion"
"""What there is as little of as can be: the objective of a masking, in manifests."""

METHODS = ("pram", "noise", "bottleneck")
LARGEST = 1e300
"""Numbers beyond are none that anybody means, and some are no floats."""

DISTORTIONS = ("squared", "absolute", "hamming", "hierarchy")


@dataclass(frozen=True)
class Masking:
    """Release values drawn at random from a channel instead of generalized ones.

    Parameters
    ----------
    method
        ``"pram"``: the channel that distorts least for the policy, every released class satisfying
        it. ``"noise"``: as much Gaussian noise on numbers, rounded to a grid, as the policy needs.
        ``"bottleneck"``: synthetic values that keep as much about the sensitive attribute as the
        policy lets them (information bottleneck).
    attributes
        The quasi-identifiers that are masked; all when left out. The others are released at their
        levels, and each combination of them is masked by itself.
    jointly
        One channel for all masked attributes together, which alone can promise something of their
        combinations; otherwise one for each, and only the drawn table is held against the policy.
    distortion
        ``"squared"``, ``"absolute"``, ``"hamming"`` or ``"hierarchy"`` (levels up to the common
        group), for all masked attributes or by attribute: squared for numbers at level 0 and
        Hamming otherwise when left out. Of several attributes each is divided by what releasing the
        same value for everybody would cost, and the sum is minimised.
    alphabet
        What may be released, by attribute: the values that occur when left out, and for a single
        attribute of numbers the means of its best ranges too.
    grid
        For ``"noise"``: the numbers released are multiples of this, by attribute; a tenth of the
        standard deviation, rounded, when left out.
    rate
        For ``"bottleneck"``: at most so many bits about the true values, I(X;X').
    invariant
        For ``"pram"``: released values are distributed as the true ones.
    epsilon
        For ``"pram"``: local differential privacy of the channel, or of all channels together, no
        symbol being more than exp(epsilon) times as likely for one value as for another. Every
        record is then drawn by itself; that a table which breaks the policy is drawn again is not
        part of the promise.
    min_records
        Every released class has so many records at least, and what class sizes the policy asks for
        in any case. When left out every symbol is expected for a quarter of the square root of the
        records.
    draws
        How many times a channel is drawn from before another with a wider margin is tried.
    withhold
        Leave the channel out of the manifest. Analysts can then not correct for it.
    seed
        For the draw; from the system's entropy when left out. Whoever knows it can undo much of
        what was drawn: it is never written anywhere.
    """

    method: str = "pram"
    attributes: Sequence[str] | None = None
    jointly: bool = True
    distortion: str | Mapping[str, str] | None = None
    alphabet: Mapping[str, Sequence[object]] | None = None
    grid: Mapping[str, float] | None = None
    rate: float | None = None
    invariant: bool = False
    epsilon: float | None = None
    min_records: int | None = None
    draws: int = 20
    withhold: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        require_one_of("masking: method", self.method, METHODS)
        self._require_fitting()
        for name in ("jointly", "invariant", "withhold"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"masking: {name} must be true or false")
        for name, above in (("rate", False), ("epsilon", True)):
            self._require_number(name, getattr(self, name), above)
        for name, least in (("min_records", 1), ("draws", 1), ("seed", 0)):
            value = getattr(self, name)
            if (name == "draws" or value is not None) and not is_whole(value, least=least):
                raise InputError(f"masking: {name} = {value!r} must be a whole number from {least}")
        for each in self._distortions():
            require_one_of("masking: distortion", each, DISTORTIONS)
        for name, width in self._by_attribute("grid", self.grid).items():
            self._require_number(f"grid of {name!r}", width, True)
        for name, symbols in self._by_attribute("alphabet", self.alphabet).items():
            if not _are_symbols(symbols):
                raise InputError(f"masking: alphabet of {name!r} must be a list of values")

    def _require_fitting(self) -> None:
        """Require that what is stated is about the method, and fits together."""
        self._require_for("pram", "invariant", self.invariant)
        self._require_for("pram", "epsilon", self.epsilon is not None)
        self._require_for("pram", "alphabet", self.alphabet is not None)
        self._require_for("noise", "grid", self.grid is not None)
        self._require_for("bottleneck", "rate", self.rate is not None)
        if self.invariant and self.alphabet is not None:
            raise InputError(
                "masking: invariant releases the values that occur; leave out alphabet"
            )

    def masked(self, names: Sequence[str]) -> tuple[str, ...]:
        """Which quasi-identifiers are masked, in their order.

        Raises
        ------
        InputError
            When what is stated is about others.
        """
        stated = names if self.attributes is None else column_names("attributes", self.attributes)
        by_attribute = (self.distortion, self.alphabet, self.grid)
        mentioned = [name for each in by_attribute if isinstance(each, Mapping) for name in each]
        for name in stated:
            if name not in names:
                hint = did_you_mean(str(name), names)
                raise InputError(f"masking: {name!r} is no quasi-identifier{hint}")
        for name in mentioned:
            if name not in stated:
                raise InputError(
                    f"masking states something about {name!r}, which is not masked"
                    + did_you_mean(str(name), list(stated))
                )
        if not stated:
            raise InputError("masking: attributes must name at least one quasi-identifier")
        return tuple(name for name in names if name in stated)

    @property
    def independent(self) -> bool:
        """Whether every record is drawn by itself: what epsilon promises, it promises of that."""
        return self.epsilon is not None

    def distortion_of(self, name: str) -> str | None:
        """The distortion that is stated for an attribute, if any is."""
        if isinstance(self.distortion, Mapping):
            return self.distortion.get(name)
        return self.distortion

    @property
    def described(self) -> dict[str, object]:
        """What was stated, but for the seed: part of a study's fingerprint."""
        stated = asdict(self)
        del stated["seed"]
        return stated

    def _distortions(self) -> list[object]:
        if isinstance(self.distortion, str):
            return [self.distortion]
        return list(self._by_attribute("distortion", self.distortion).values())

    def _by_attribute(self, parameter: str, stated: object) -> Mapping[str, object]:
        """What is stated by attribute; nothing where it is left out."""
        if stated is None:
            return {}
        if not isinstance(stated, Mapping):
            raise InputError(f"masking: {parameter} must be stated by attribute")
        return stated

    def _require_for(self, method: str, parameter: str, stated: bool) -> None:
        if stated and self.method != method:
            raise InputError(f"masking: {parameter} is for {method!r}, not {self.method!r}")

    def _require_number(self, name: str, value: object, above: bool) -> None:
        if value is None:
            return
        number = isinstance(value, Real) and not isinstance(value, bool) and _sensible(value)
        if not number or value < 0 or (above and value == 0):  # type: ignore[operator]
            reach = "above 0" if above else "of at least 0"
            raise InputError(f"masking: {name} = {value!r} must be a number {reach}")


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


def masking_of(stated: object) -> Masking | None:
    """What is stated for a masking: nothing, the name of a method, or all of it.

    Raises
    ------
    InputError
        When it is anything else.
    """
    if stated is None or isinstance(stated, Masking):
        return stated
    if isinstance(stated, str):
        return Masking(stated)
    raise InputError(
        f"masking must be one of {', '.join(METHODS)}, or a Masking, not a {type(stated).__name__}"
    )
