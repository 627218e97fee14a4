"""What a manifest reports of channels: what was expected of them, and what came of a draw."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite

import numpy as np

from anonymizer.channels import Channel
from anonymizer.channels.serialization import described
from anonymizer.information.entropy import divergence, entropy, mutual_information
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.masking.candidate import Candidate
from anonymizer.masking.contingency import Contingency, key_of
from anonymizer.masking.preserved import Preserved


@dataclass(frozen=True)
class Disclosure:
    """What released symbols disclose about a sensitive attribute, in bits.

    Parameters
    ----------
    mean
        I(W;Y).
    largest_i1, largest_i2
        Of the symbol that discloses most: D(p(w|y) || p(w)) and H(W) - H(W|y).
    """

    mean: float
    largest_i1: float
    largest_i2: float


@dataclass(frozen=True, eq=False)
class ChannelReport:
    """One channel of a release.

    Parameters
    ----------
    attributes
        The attributes it is over, those that are kept among them where there are such.
    channel
        Of texts, as they are read back.
    expected_distortion, realised_distortion
        Expected, and of the table that was drawn.
    least_distortion
        What no channel of this alphabet whose symbols all satisfy the policy in expectation falls
        below; None where that is not known, or of another table.
    expected
        What symbols disclose about each sensitive attribute, in expectation.
    """

    attributes: tuple[str, ...]
    channel: Channel
    expected_distortion: float
    realised_distortion: float
    least_distortion: float | None
    expected: Mapping[str, Disclosure]

    def to_dict(self, withhold: bool) -> dict[str, object]:
        """The channel as a manifest has it; without its chances where they are withheld."""
        hidden = ("values", "labels", "rows") if withhold else ()
        shown = described(self.channel, self.attributes).items()
        return {
            **{key: value for key, value in shown if key not in hidden},
            "expected_distortion": self.expected_distortion,
            "realised_distortion": self.realised_distortion,
            "least_distortion": self.least_distortion,
            "expected": {name: asdict(each) for name, each in self.expected.items()},
        }


@dataclass(frozen=True, eq=False)
class RandomizationReport:
    """How the released values were drawn.

    Parameters
    ----------
    method
        ``"pram"``, ``"noise"`` or ``"bottleneck"``.
    attributes
        The drawn quasi-identifiers.
    distortion
        What distortion means for each of them.
    scale
        What that of each is divided by.
    margin
        The share of the way from the policy's limits to no information that channels kept free, so
        that a draw would hold the policy; None where nothing of the kind was tried.
    withheld
        Whether the channels are not reported.
    realised
        What the classes of the drawn table disclose about each sensitive attribute.
    preserved
        Which statistics of its numbers the release keeps; None where no numbers were drawn.
    channels
        The channels.
    """

    method: str
    attributes: tuple[str, ...]
    distortion: Mapping[str, str]
    scale: Mapping[str, float]
    margin: float | None
    withheld: bool
    realised: Mapping[str, Disclosure]
    preserved: Preserved | None
    channels: Sequence[ChannelReport]

    @property
    def epsilon(self) -> float:
        """Local differential privacy of a record's drawn values, in nats: the channels' sum."""
        return sum(each.channel.epsilon for each in self.channels)

    def to_dict(self) -> dict[str, object]:
        """The same as a manifest has it; an epsilon without limit is null."""
        return {
            **vars(self),
            "attributes": list(self.attributes),
            "epsilon": finite(self.epsilon),
            "realised": {name: asdict(each) for name, each in self.realised.items()},
            "preserved": asdict(self.preserved) if self.preserved else None,
            "channels": [each.to_dict(self.withheld) for each in self.channels],
        }


def channel_report(
    candidate: Candidate, contingency: Contingency, symbol_of: Codes
) -> ChannelReport:
    """What is reported of a channel and of the symbols that the records of a table got from it.

    The table need not be the one that the channel was found for: what is expected is expected of
    it, and the bound, which is about the other one, is left out where they differ.
    """
    fitted = candidate.part.contingency
    rows = fitted.rows_of(contingency.keys)
    matrix, distances = candidate.matrix[rows], candidate.distances[rows]
    sizes = contingency.sizes
    same = contingency.keys == fitted.keys and np.array_equal(contingency.records, fitted.records)
    return ChannelReport(
        candidate.part.names,
        Channel(candidate.matrix, tuple(fitted.keys), tuple(map(key_of, candidate.symbols))),
        float(sizes @ (matrix * distances).sum(axis=1) / sizes.sum()),
        float(distances[contingency.row_of, symbol_of].mean()),
        finite(candidate.lower_bound) if same else None,
        {name: disclosed(matrix.T @ contingency.joint(name)) for name in contingency.codes},
    )


def disclosed(joint: Floats | Ints) -> Disclosure:
    """What symbols disclose, from records by symbol and value, shape (symbols, values)."""
    some = joint[joint.sum(axis=1) > 0]
    margin = some.sum(axis=0)
    return Disclosure(
        mutual_information(some),
        float(divergence(some, margin).max()),
        float((entropy(margin) - entropy(some)).max()),
    )


def finite(number: float) -> float | None:
    """A number as JSON has it; None where it is not known, or without limit."""
    return number if isfinite(number) else None
