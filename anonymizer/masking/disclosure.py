"""What a manifest reports of channels: what was expected of them, and what came of a draw."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite

import numpy as np
import pandas as pd

from anonymizer.channels import Channel, moments_kept, probabilistic_loss
from anonymizer.channels.channel import described
from anonymizer.information.entropy import divergence, entropy, mutual_information
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.masking.drawing import Dealt
from anonymizer.masking.part import CandidateChannel, Contingency, key_of
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally

LARGEST = 1e50
"""Numbers beyond have moments that are no floats."""

FEWEST = 4
"""Records that the variance of a sample's covariance can be estimated from."""


@dataclass(frozen=True)
class SymbolDisclosure:
    """Disclosure of a sensitive attribute by released symbols, in bits.

    ``mean``: I(W;Y). ``largest_i1``, ``largest_i2``: of the symbol that discloses most,
    D(p(w|y) || p(w)) and H(W) - H(W|y).
    """

    mean: float
    largest_i1: float
    largest_i2: float


@dataclass(frozen=True)
class Preserved:
    """Probabilistic information loss of the drawn and sensitive columns of numbers, from 0 to 1.

    ``mean``, ``variance``: pil of each column. ``covariance``: the largest pil of a pair of them;
    None of one column. ``mean_kept``, ``covariance_kept``: whether the means, and the covariances,
    differ by no more than chance would have it.
    """

    columns: tuple[str, ...]
    mean: tuple[float, ...]
    variance: tuple[float, ...]
    covariance: float | None
    mean_kept: bool
    covariance_kept: bool


@dataclass(frozen=True, eq=False)
class ChannelReport:
    """One channel of a release, of texts as they are read back; ``attributes`` with those kept.

    ``realised_distortion``: of the table that was drawn. ``least_distortion``: what no channel of
    this alphabet whose symbols all satisfy the policy in expectation falls below; None where that
    is not known, or of another table. ``expected``: what symbols disclose about each sensitive
    attribute, in expectation.
    """

    attributes: tuple[str, ...]
    channel: Channel
    expected_distortion: float
    realised_distortion: float
    least_distortion: float | None
    expected: Mapping[str, SymbolDisclosure]

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


ORIGINS = {
    "pram": "from the channel that distorts least for the policy",
    "noise": "with Gaussian noise, rounded to a grid",
    "bottleneck": "from an information bottleneck",
}
"""Where values are drawn from, by method, in words that follow "drawn at random"."""


@dataclass(frozen=True, eq=False)
class RandomizationReport:
    """Method that drew the released values of ``attributes``, and its effects.

    ``distortion``: what it means for each of them; ``scale``: what that of each is divided by.
    ``margin``: the share of the way from the policy's limits to no information that channels kept
    free, so that a draw would hold the policy; None where nothing of the kind was tried.
    ``withheld``: whether the channels are not reported. ``realised``: what the classes of the drawn
    table disclose about each sensitive attribute. ``preserved``: which statistics of its numbers
    the release keeps; None where no numbers were drawn.
    """

    method: str
    attributes: tuple[str, ...]
    distortion: Mapping[str, str]
    scale: Mapping[str, float]
    margin: float | None
    withheld: bool
    realised: Mapping[str, SymbolDisclosure]
    preserved: Preserved | None
    channels: Sequence[ChannelReport]

    @property
    def origin(self) -> str:
        """Origin of the drawn values, in words."""
        return ORIGINS[self.method]

    @property
    def epsilon(self) -> float:
        """Local differential privacy of a record's drawn values, in nats: the channels' sum."""
        return sum(each.channel.epsilon for each in self.channels)

    def to_dict(self) -> dict[str, object]:
        """Return the report as a manifest has it; an epsilon without limit is null."""
        return {
            **vars(self),
            "attributes": list(self.attributes),
            "epsilon": finite(self.epsilon),
            "realised": {name: asdict(each) for name, each in self.realised.items()},
            "preserved": asdict(self.preserved) if self.preserved else None,
            "channels": [each.to_dict(self.withheld) for each in self.channels],
        }


def channel_report(
    candidate: CandidateChannel, contingency: Contingency, dealt: Dealt, place: int
) -> ChannelReport:
    """Report a channel and the symbols that the records of a table got from it.

    ``place``: of which part the symbols are.

    The table need not be the one that the channel was found for: what is expected is expected of
    it, and the bound, which is about the other one, is left out where they differ.
    """
    fitted = candidate.part.contingency
    rows = fitted.rows_of(contingency.keys)
    matrix, distances = candidate.matrix[rows], candidate.distances[rows]
    sizes = contingency.sizes
    row_of = contingency.row_of if dealt.rows is None else contingency.row_of[dealt.rows]
    same = contingency.keys == fitted.keys and np.array_equal(contingency.records, fitted.records)
    return ChannelReport(
        candidate.part.names,
        Channel(candidate.matrix, tuple(fitted.keys), tuple(map(key_of, candidate.symbols))),
        float(sizes @ (matrix * distances).sum(axis=1) / sizes.sum()),
        float(np.average(distances[row_of, dealt.symbol_of[place]], weights=dealt.sizes)),
        finite(candidate.lower_bound) if same else None,
        {name: disclosed(matrix.T @ contingency.joint(name)) for name in contingency.codes},
    )


def disclosed(joint: Floats | Ints) -> SymbolDisclosure:
    """Measure the disclosure of symbols, from records by symbol and value, (symbols, values)."""
    some = joint[joint.sum(axis=1) > 0]
    margin = some.sum(axis=0)
    return SymbolDisclosure(
        mutual_information(some),
        float(divergence(some, margin).max()),
        float((entropy(margin) - entropy(some)).max()),
    )


def preserved(
    table: engine.Table, released: engine.Table, drawn: Sequence[str], sensitive: Sequence[str]
) -> Preserved | None:
    """Compare columns of numbers before and after; None where there are none, or few records.

    ``drawn``: the attributes that were drawn as numbers.
    """
    if not drawn or engine.records(table) < FEWEST:
        return None
    columns = [*drawn, *(name for name in sensitive if _numeric(_exact(table, name)))]
    before, after = (
        np.column_stack([each[name].to_numpy(float) for name in columns])
        for each in (table, released)
    )
    sizes = engine.sizes_of(table)
    loss = probabilistic_loss(before, after, quantiles=(), sizes=sizes)
    moments = moments_kept(before, after, sizes=sizes)
    pairs = loss.covariance[np.tril_indices(len(columns), -1)].tolist()
    return Preserved(
        tuple(columns),
        tuple(loss.mean.tolist()),
        tuple(loss.variance.tolist()),
        max(pairs, default=None),
        moments.mean,
        moments.covariance,
    )


def _exact(table: engine.Table, name: str) -> pd.Series:
    """A column; of counted values, which are categories, one of each."""
    column = table[name]
    categories = isinstance(table, Tally) and isinstance(column.dtype, pd.CategoricalDtype)
    return pd.Series(engine.distinct(column)[1]).infer_objects() if categories else column


def _numeric(column: pd.Series) -> bool:
    types, kind = pd.api.types, column.dtype
    if not (types.is_integer_dtype(kind) or types.is_float_dtype(kind)) or column.isna().any():
        return False
    return bool((np.abs(column.to_numpy(float)) < LARGEST).all())


def finite(number: float) -> float | None:
    """A number as JSON has it; None where it is not known, or without limit."""
    return number if isfinite(number) else None
