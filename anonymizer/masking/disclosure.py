"""What a masked release tells of itself: what was expected of its channels, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite

import numpy as np

from anonymizer.channels import Channel
from anonymizer.channels.serialization import described
from anonymizer.information.entropy import divergence, entropy, mutual_information
from anonymizer.masking.candidate import Candidate
from anonymizer.masking.contingency import Codes, Crossed, key_of
from anonymizer.masking.preserved import Preserved

__all__ = ["Disclosed", "Masked", "MaskedPart", "disclosed"]


@dataclass(frozen=True)
class Disclosed:
    """What released symbols tell about a sensitive attribute, in bits.

    Parameters
    ----------
    mean
        I(W;Y).
    largest_i1, largest_i2
        Of the symbol that tells most: D(p(w|y) || p(w)) and H(W) - H(W|y).
    """

    mean: float
    largest_i1: float
    largest_i2: float


@dataclass(frozen=True, eq=False)
class MaskedPart:
    """One channel of a masked release.

    Parameters
    ----------
    attributes
        The attributes it is over, those that are kept among them where there are such.
    channel
        Of texts, as they are read back.
    distortion
        Expected, and what came of it.
    realised_distortion
        Of the table that was drawn.
    least_distortion
        What no channel of this alphabet whose symbols all satisfy the policy in expectation falls
        below; None where that is not known, or of another table.
    expected
        What symbols tell about each sensitive attribute, in expectation.
    """

    attributes: tuple[str, ...]
    channel: Channel
    distortion: float
    realised_distortion: float
    least_distortion: float | None
    expected: Mapping[str, Disclosed]

    def to_dict(self, withhold: bool) -> dict[str, object]:
        """The part as a manifest has it; the channel only where it is not withheld."""
        told = {} if withhold else described(self.channel, self.attributes)
        return {
            **told,
            "attributes": list(self.attributes),
            "epsilon": finite(self.channel.epsilon),
            "rank": self.channel.rank,
            "expected_distortion": self.distortion,
            "realised_distortion": self.realised_distortion,
            "least_distortion": self.least_distortion,
            "expected": {name: asdict(told) for name, told in self.expected.items()},
        }


@dataclass(frozen=True, eq=False)
class Masked:
    """How the released values were drawn.

    Parameters
    ----------
    method
        ``"pram"``, ``"noise"`` or ``"bottleneck"``.
    attributes
        The masked quasi-identifiers.
    distortions
        What distortion means for each of them.
    scale
        What that of each is divided by.
    margin
        The share of the way from the policy's limits to no information that channels kept free, so
        that a draw would hold the policy; None where nothing of the kind was tried.
    withheld
        Whether the channels are not told.
    parts
        The channels.
    realised
        What the classes of the drawn table tell about each sensitive attribute.
    preserved
        Which statistics of its numbers the release keeps; None where no numbers were masked.
    """

    method: str
    attributes: tuple[str, ...]
    distortions: Mapping[str, str]
    scale: Mapping[str, float]
    margin: float | None
    withheld: bool
    parts: Sequence[MaskedPart]
    realised: Mapping[str, Disclosed]
    preserved: Preserved | None = None

    @property
    def epsilon(self) -> float:
        """Local differential privacy of a record's masked values, in nats: the channels' sum."""
        return sum(part.channel.epsilon for part in self.parts)

    def to_dict(self) -> dict[str, object]:
        """The masking as a manifest has it; an epsilon without limit is null."""
        return {
            "method": self.method,
            "attributes": list(self.attributes),
            "distortion": dict(self.distortions),
            "scale": dict(self.scale),
            "margin": self.margin,
            "withheld": self.withheld,
            "epsilon": finite(self.epsilon),
            "realised": {name: asdict(told) for name, told in self.realised.items()},
            "preserved": asdict(self.preserved) if self.preserved else None,
            "channels": [part.to_dict(self.withheld) for part in self.parts],
        }


def told_of(candidate: Candidate, crossed: Crossed, symbol_of: Codes) -> MaskedPart:
    """What is told of a channel and of the symbols that the records of a table got from it.

    The table need not be the one that the channel was found for: what is expected is expected of
    it, and the bound, which is about the other one, is left out where they differ.
    """
    fitted = candidate.part.crossed
    channel = Channel(
        candidate.matrix,
        tuple(map(key_of, fitted.values)),
        tuple(map(key_of, candidate.symbols)),
    )
    known = {key: row for row, key in enumerate(fitted.keys)}
    rows = np.array([known[key] for key in crossed.keys], np.intp)
    matrix, distances = candidate.matrix[rows], candidate.distances[rows]
    same = crossed.keys == fitted.keys and np.array_equal(crossed.records, fitted.records)
    return MaskedPart(
        candidate.part.names,
        channel,
        float(crossed.sizes @ (matrix * distances).sum(axis=1) / crossed.sizes.sum()),
        float(distances[crossed.row_of, symbol_of].mean()),
        candidate.lower_bound if same else None,
        {name: disclosed(matrix.T @ crossed.joint(name)) for name in crossed.kinds},
    )


def disclosed(joint: np.ndarray) -> Disclosed:
    """What symbols tell, from (expected) records by symbol and value, shape (symbols, values)."""
    some = joint[joint.sum(axis=1) > 0]
    margin = some.sum(axis=0)
    return Disclosed(
        mutual_information(some),
        float(divergence(some, margin).max()),
        float((entropy(margin) - entropy(some)).max()),
    )


def realised(crossed: Crossed, by_class: np.ndarray) -> dict[str, Disclosed]:
    """What the classes of a drawn table tell about each sensitive attribute."""
    return {name: disclosed(crossed.joint(name, by_class)) for name in crossed.kinds}


def finite(number: float) -> float | None:
    """A number as JSON has it; None where it is without limit."""
    return number if isfinite(number) else None
