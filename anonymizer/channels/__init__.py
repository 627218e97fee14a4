"""Random recodings: channels p(released | true) of least distortion for the required privacy.

In: joint laws or counts of an attribute and a sensitive one, distortions, privacy models. Out:
channels with proven bounds, estimates from what they release, and losses. It may import
``privacy``, ``counts``, ``hierarchy``, ``information``, ``tables`` and ``kernels``. Packages
publish names; a module's names without an underscore are for the other modules. An argument that is
not what a function says of it raises ``InputError``.
"""

from anonymizer.channels.bottlenecks import (
    BottleneckChannel,
    bottleneck_path,
    information_bottleneck,
    synthetic,
    synthetic_values,
)
from anonymizer.channels.channel import Channel, OptimalChannel, channels_of, described
from anonymizer.channels.estimation import (
    Estimate,
    Mean,
    estimate_margin,
    estimate_mean,
    estimate_table,
)
from anonymizer.channels.gaussian import (
    GaussianBottleneck,
    GaussianMechanism,
    GaussianModel,
    gaussian_bottleneck,
    gaussian_correlation,
    gaussian_information,
)
from anonymizer.channels.likelihood import Likelihood, maximum_likelihood
from anonymizer.channels.loss import (
    Moments,
    ProbabilisticLoss,
    moments_kept,
    pil,
    probabilistic_loss,
)
from anonymizer.channels.private import least_distortion, private_channel
from anonymizer.channels.program import Extras, is_convex
from anonymizer.channels.ranges import CentroidRanges, best_ranges, default_alphabet
from anonymizer.channels.rates import (
    gaussian_channel,
    gaussian_rate,
    mutual_information_bound,
    quadratic_gaussian_bound,
    rate_distortion,
)
from anonymizer.channels.source import JointLaw, Sensitive, absolute, hamming, hierarchical, squared
from anonymizer.channels.tradeoff.tradeoff import (
    privacy_distortion,
    privacy_distortion_curve,
    seeing,
)
from anonymizer.channels.validation import require_room

__all__ = [
    "BottleneckChannel",
    "CentroidRanges",
    "Channel",
    "Estimate",
    "Extras",
    "GaussianBottleneck",
    "GaussianMechanism",
    "GaussianModel",
    "JointLaw",
    "Likelihood",
    "Mean",
    "Moments",
    "OptimalChannel",
    "ProbabilisticLoss",
    "Sensitive",
    "absolute",
    "best_ranges",
    "bottleneck_path",
    "channels_of",
    "default_alphabet",
    "described",
    "estimate_margin",
    "estimate_mean",
    "estimate_table",
    "gaussian_bottleneck",
    "gaussian_channel",
    "gaussian_correlation",
    "gaussian_information",
    "gaussian_rate",
    "hamming",
    "hierarchical",
    "information_bottleneck",
    "is_convex",
    "least_distortion",
    "maximum_likelihood",
    "moments_kept",
    "mutual_information_bound",
    "pil",
    "privacy_distortion",
    "privacy_distortion_curve",
    "private_channel",
    "probabilistic_loss",
    "quadratic_gaussian_bound",
    "rate_distortion",
    "require_room",
    "seeing",
    "squared",
    "synthetic",
    "synthetic_values",
]
