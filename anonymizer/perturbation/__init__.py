"""Random recodings: channels p(released | true) that distort least for the privacy asked for."""

from anonymizer.perturbation.alphabets import default_alphabet
from anonymizer.perturbation.bottlenecks import (
    Bottleneck,
    bottleneck_path,
    information_bottleneck,
)
from anonymizer.perturbation.bounds import mutual_information_bound, quadratic_gaussian_bound
from anonymizer.perturbation.channel import Channel, require_stochastic
from anonymizer.perturbation.described import channels_of, described
from anonymizer.perturbation.distortions import absolute, hamming, hierarchical, squared
from anonymizer.perturbation.estimates import Estimate, Mean
from anonymizer.perturbation.estimation import estimate_margin, estimate_mean, estimate_table
from anonymizer.perturbation.gaussian import GaussianMechanism, GaussianModel, gaussian_rate
from anonymizer.perturbation.grids import gaussian_channel
from anonymizer.perturbation.guarantees import Extras, least_distortion, private_channel
from anonymizer.perturbation.likelihood import Likelihood, maximum_likelihood
from anonymizer.perturbation.loss import (
    Moments,
    ProbabilisticLoss,
    moments_kept,
    pil,
    probabilistic_loss,
)
from anonymizer.perturbation.ranges import Ranges, best_ranges
from anonymizer.perturbation.rates import rate_distortion
from anonymizer.perturbation.requirements import is_convex
from anonymizer.perturbation.result import OptimalChannel
from anonymizer.perturbation.sensitive import Sensitive
from anonymizer.perturbation.source import Source, require_room
from anonymizer.perturbation.synthesis import synthetic
from anonymizer.perturbation.tradeoff import privacy_distortion, privacy_distortion_curve

__all__ = [
    "Bottleneck",
    "Channel",
    "Estimate",
    "Extras",
    "GaussianMechanism",
    "GaussianModel",
    "Likelihood",
    "Mean",
    "Moments",
    "OptimalChannel",
    "ProbabilisticLoss",
    "Ranges",
    "Sensitive",
    "Source",
    "absolute",
    "best_ranges",
    "bottleneck_path",
    "channels_of",
    "default_alphabet",
    "described",
    "estimate_margin",
    "estimate_mean",
    "estimate_table",
    "gaussian_channel",
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
    "require_stochastic",
    "squared",
    "synthetic",
]
